/*
 * The stacks: words that may point into the heap, and the calls whose frames they lie in.
 *
 * Here only frame pointers are followed (jit: rbp, linux-x64), which most of the runtime and of
 * what it compiles keep: a call begins at a word that leads into code if the word below it leads up
 * the stack, to the frame of the caller.  A few words may be left over from calls that have
 * returned, and calls without a frame pointer are left out: clr_frames.c finds them.
 */
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr.h"

#define STACK_MAX           (UINT64_C(1) << 30)
#define STACKS_MAX          (UINT64_C(1) << 20)
#define STACK_PAGE_BYTES    4096u
#define SIGNAL_STACK_BYTES  UINT64_C(65536)
#define STACK_WORDS_MAX     (UINT64_C(64) << 20)
#define FRAMES_MAX          (UINT64_C(1) << 18) /* of all stacks; those beyond have no method */
#define CODE_MIN            UINT64_C(65536)
#define CODE_MAX            (UINT64_C(1) << 47)
#define INSTRUCTION_POINTER 16u /* rip in struct user_regs_struct */
#define FRAME_POINTER       4u  /* rbp */
#define CHAINS_MAX          64u

struct stack {
    struct clr *c;
    uint64_t limit, base;
    size_t first; /* its first frame, of clr.frames */
};

/* The call of CODE, whose frame begins above SLOT; LINK: the frame pointer of the caller. */
static gcd_status add_frame(struct stack *s, uint64_t slot, uint64_t code, uint64_t link,
                            struct gcd_error *err)
{
    struct clr *c = s->c;
    if (c->frame_count == FRAMES_MAX || code < CODE_MIN || code >= CODE_MAX ||
        (code >= s->limit && code < s->base) || clr_region_at(c, code) != NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->alloc, &c->frames, &c->frame_cap, c->frame_count + 1,
                         sizeof *c->frames, FRAMES_MAX))
        return gcd_fail_nomem(err, "reading the stacks of a process");
    c->frames[c->frame_count++] = (struct clr_frame){
        .slot = slot, .code = code, .link = link, .thread = (uint32_t)c->thread_count - 1
    };
    return GCD_OK;
}

/* A word lies in the frame that began last, or below the first one.  AT: 0 = in a register. */
static gcd_status add_word(struct stack *s, uint64_t at, uint64_t word, struct gcd_error *err)
{
    struct clr *c = s->c;
    if (clr_region_at(c, word) == NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->alloc, &c->stack_words, &c->stack_word_cap, c->stack_word_count + 1,
                         sizeof *c->stack_words, STACK_WORDS_MAX))
        return gcd_fail_nomem(err, "reading the stacks of a process");
    c->stack_words[c->stack_word_count++] =
        (struct clr_stack_word){ .word = word,
                                 .at = at,
                                 .thread = (uint32_t)c->thread_count - 1,
                                 .frame =
                                     (uint32_t)(c->frame_count - (c->frame_count > s->first)) };
    return GCD_OK;
}

/* May WORD, at AT, be a frame pointer that a call has saved?  It leads to where another one was
 * saved, and both lie at multiples of 16, right below a return address. */
static bool leads_up(const struct stack *s, uint64_t at, uint64_t word)
{
    return word > at && word < s->base && word % 16 == 0 && at % 16 == 0;
}

static gcd_status add_words(struct stack *s, uint64_t at, uint64_t end, struct gcd_error *err)
{
    struct image *m = s->c->image;
    uint64_t below = 0;
    while (at < end) {
        uint64_t have = image_available(m, at), page = STACK_PAGE_BYTES - at % STACK_PAGE_BYTES,
                 until = page < end - at ? at + page : end;
        uint8_t first[8];
        /* Stacks lack the pages that were never used.  Of a process only reading shows that, and
         * each read that fails is a call of the system, while the process is stopped. */
        if (have < sizeof first || !image_read(m, at, first, sizeof first)) {
            at = until;
            below = 0;
            continue;
        }
        for (until = have < until - at ? at + have : until; at + 8 <= until; at += 8) {
            uint64_t word = image_u64(m, at);
            if (leads_up(s, at - 8, below))
                GCD_TRY(add_frame(s, at, word, below, err));
            GCD_TRY(add_word(s, at, word, err));
            below = word;
        }
        at = until;
    }
    return GCD_OK;
}

/* ---- calls that have returned ---- */

/* Follows the link of each frame of a stack to that of its caller. */
static void link_frames(struct clr *c, size_t first)
{
    for (size_t i = c->frame_count; i-- > first;) {
        struct clr_frame *f = &c->frames[i];
        size_t low = i + 1, high = c->frame_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (c->frames[middle].slot < f->link + 8)
                low = middle + 1;
            else
                high = middle;
        }
        bool is_there = low < c->frame_count && c->frames[low].slot == f->link + 8;
        f->next = is_there ? (uint32_t)low : CLR_NONE;
        f->chain = 1 + (is_there ? c->frames[low].chain : 0);
    }
}

/* From frame I on, the first one of the longest chain. */
static size_t find_chain(const struct clr *c, size_t i)
{
    size_t best = i;
    for (; i < c->frame_count; i++)
        if (c->frames[i].chain > c->frames[best].chain)
            best = i;
    return best;
}

/* What lies between a frame and that of its caller is no call, but left over from one: buffers are
 * not cleared.  The first frame is certain, if its frame pointer leads to another one.  Some native
 * code has no frame pointers: a chain ends there, and the next one begins. */
static void drop_returned(struct clr *c, size_t first)
{
    link_frames(c, first);
    size_t i = first;
    for (unsigned n = 0; n < CHAINS_MAX && i < c->frame_count; n++) {
        bool is_certain = n == 0 && c->frames[i].next != CLR_NONE;
        for (i = is_certain ? i : find_chain(c, i); c->frames[i].next != CLR_NONE;) {
            uint32_t next = c->frames[i].next;
            while (++i < next)
                c->frames[i].code = 0;
        }
        i++;
    }
}

static gcd_status add_thread(struct clr *c, uint64_t thread, const struct image_thread *from,
                             struct gcd_error *err)
{
    if (!gcd_vec_reserve(&c->alloc, &c->threads, &c->thread_cap, c->thread_count + 1,
                         sizeof *c->threads, STACKS_MAX))
        return gcd_fail_nomem(err, "reading the stacks of a process");
    struct clr_thread *t = &c->threads[c->thread_count++];
    *t = (struct clr_thread){ .thread = thread,
                              .object = clr_thread_object(c, thread),
                              .id = from->id };
    memcpy(t->kernel_name, from->name, sizeof t->kernel_name);
    return GCD_OK;
}

/* All words between stack pointer and stack base. */
static gcd_status read_stack(struct clr *c, uint64_t thread, struct gcd_error *err)
{
    uint32_t id = image_u32(c->image, thread + c->layout.thread_os_id);
    const struct image_thread *t = NULL;
    for (size_t i = 0; i < c->image->thread_count && t == NULL; i++)
        if (c->image->threads[i].id == id)
            t = &c->image->threads[i];
    if (t == NULL)
        return GCD_OK; /* it has ended, or has not begun */
    struct stack s = { .c = c,
                       .base = image_u64(c->image, thread + c->layout.thread_stack_base),
                       .limit = image_u64(c->image, thread + c->layout.thread_stack_base + 8),
                       .first = c->frame_count };
    uint64_t at = t->stack_pointer / 8 * 8;
    if (s.base <= s.limit || s.base - s.limit > STACK_MAX) {
        c->gaps.unread_threads++;
        return GCD_OK;
    }
    GCD_TRY(add_thread(c, thread, t, err));
    /* like a return address it is behind an instruction of its method */
    GCD_TRY(
        add_frame(&s, at, t->registers[INSTRUCTION_POINTER] + 1, t->registers[FRAME_POINTER], err));
    for (size_t i = 0; i < IMAGE_REGISTERS; i++)
        GCD_TRY(add_word(&s, 0, t->registers[i], err));
    if (at < s.limit || at >= s.base) { /* in a signal handler, which has a stack of its own */
        GCD_TRY(add_words(&s, at, at + SIGNAL_STACK_BYTES, err));
        at = s.limit;
    }
    GCD_TRY(add_words(&s, at, s.base, err));
    drop_returned(c, s.first);
    return gcd_check_canceled(c->context->cancel, err);
}

gcd_status clr_read_stacks(struct clr *c, struct gcd_error *err)
{
    GCD_TRY(clr_each_thread(c, read_stack, err));
    return gcd_sort_by_u64(&c->alloc, c->stack_words, c->stack_word_count, sizeof *c->stack_words)
               ? GCD_OK
               : gcd_fail_nomem(err, "reading the stacks of a process");
}
