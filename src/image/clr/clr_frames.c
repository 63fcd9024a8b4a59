/*
 * The methods of the calls on the stacks (clr_stacks.c), by their code.
 *
 * What is known of code (vm/codeman.h, vm/nibblemapmacros.h; measured on .NET 8 to 11, linux-x64):
 * a tree of tables by address, four levels of 256, leads to fragments {next, begin, end, section},
 * the lowest bit of each link being a mark.  A section of the JIT has a heap with a map of nibbles,
 * one for 32 bytes: in which dword of them, plus 1, a method begins.  A map word whose last nibble
 * is above 8 is the distance of a method from the start of the heap instead, for code that is
 * longer
 * (.NET 10 and later).  Before a method is its header, which has its MethodDesc.  A section without
 * it is of code that was compiled beforehand (clr_precompiled.c).
 *
 * A call is told by the first method from it outwards that is outside the framework, which is what
 * a reader can change; if there is none, by the first one that has a name.  Nothing is believed but
 * a method that metadata give to the class that the runtime names.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"
#include "names/framework_keys.h"

#define LEVELS        4u
#define LEVEL_BITS    8u
#define LAST_BITS     17u /* of an address that the last level leaves */
#define FRAGMENTS_MAX 64u
#define MAP_WORDS_MAX 65536u /* back from an address: 16 MiB of one method */
#define IDLE_WAIT     "System.Threading.LowLevelLifoSemaphore.Wait"
#define STUBS_MAX     15u /* headers up to this number are of stubs */

enum {
    FRAGMENT_BEGIN = 8,
    FRAGMENT_END = 16,
    FRAGMENT_SECTION = 24,
    SECTION_FLAGS = 16,
    SECTION_MODULE = 32, /* of code that was compiled beforehand */
    SECTION_HEAP = 40,
    HEAP_START = 16,
    HEAP_END = 24,
    HEAP_BASE = 32,
    HEAP_MAP = 40,
    HEADER_METHOD = 24,
    METHOD_REST = 0, /* 12 bits of its number, */
    METHOD_INDEX = 2,
    CHUNK_TABLE = 0,
    CHUNK_RANGE = 18, /* and the 12 above them */
    CHUNK_BYTES = 24
};
enum {
    PUSHES_MAX = 9,
    PUSH_RAX = 0x50, /* makes room */
    PUSH_RBX = 0x53,
    PUSH_RBP = 0x55,
    PUSH_FAR = 0x41, /* one of r12 to r15 */
    PUSH_R12 = 0x54,
    PUSH_R15 = 0x57
};
#define SECTION_JIT 2u

/* What follows the pushes of a method that keeps a frame pointer. */
#define SUB_RSP_8     UINT32_C(0xec8348) /* sub rsp, i8 */
#define SUB_RSP_32    UINT32_C(0xec8148) /* sub rsp, i32 */
#define VZEROUPPER    UINT32_C(0x77f8c5)
#define MOV_RBP_RSP   UINT32_C(0xec8b48)
#define LEA_RBP_8     UINT32_C(0x246c8d48) /* lea rbp, [rsp + i8] */
#define LEA_RBP_32    UINT32_C(0x24ac8d48) /* lea rbp, [rsp + i32] */
#define THREE_BYTES   UINT32_C(0xffffff)
#define LEA_R11       UINT32_C(0x249c8d4c) /* lea r11, [rsp + i32]: pages are touched first */
#define HIDDEN_MAX    64u                  /* calls without a frame pointer, one in another */
#define CALLS_MAX     UINT32_C(0x40000)    /* with that many, no more hidden ones are looked for */
#define NUMBER_BITS   12u
#define FRAME_MAX     UINT32_C(0x1000000)
#define GAP_BYTES     4096u
#define GAP_WORDS_MAX UINT32_C(0x400000) /* of all stacks */

/* ---- code ---- */

/* The section of code with ADDRESS; 0 = it is no code. */
static uint64_t section_of(struct clr *c, uint64_t address)
{
    /* the first entry: ExecutionManager::g_codeRangeMap */
    uint64_t at = image_u64(c->image, image_u64(c->image, c->dac));
    for (unsigned level = LEVELS; level-- > 0 && at != 0;) {
        uint64_t i = address >> (LAST_BITS + LEVEL_BITS * level) & 0xff;
        at = image_u64(c->image, at + 8 * i) & ~UINT64_C(1);
    }
    for (unsigned i = 0; i < FRAGMENTS_MAX && at != 0; i++) {
        if (address >= image_u64(c->image, at + FRAGMENT_BEGIN) &&
            address < image_u64(c->image, at + FRAGMENT_END))
            return image_u64(c->image, at + FRAGMENT_SECTION);
        at = image_u64(c->image, at) & ~UINT64_C(1);
    }
    return 0;
}

/* Of the methods that begin in the 256 bytes of map word I, the last one up to nibble N; 0 = none.
 * LAST: the dword of nibble N, plus 1, that may be the beginning. */
static uint64_t begin_in(uint64_t base, uint64_t i, uint32_t word, unsigned n, unsigned last)
{
    if ((word & 15) > 8)
        return base + (word & ~UINT32_C(15)) + 4 * (uint64_t)((word & 15) - 9);
    for (unsigned nibble = n + 1; nibble-- > 0; last = 8) {
        unsigned dword = word >> (28 - 4 * nibble) & 15;
        if (dword != 0 && dword <= last)
            return base + 256 * i + 32 * (uint64_t)nibble + 4 * (uint64_t)(dword - 1);
    }
    return 0;
}

/* Where the method with CODE begins; 0 = unknown. */
static uint64_t method_begin(struct clr *c, uint64_t heap, uint64_t code)
{
    uint64_t base = image_u64(c->image, heap + HEAP_BASE);
    uint64_t map = image_u64(c->image, heap + HEAP_MAP);
    if (code < image_u64(c->image, heap + HEAP_START) ||
        code >= image_u64(c->image, heap + HEAP_END) || code < base)
        return 0;
    uint64_t off = code - base, i = off / 256, begin = 0;
    unsigned n = off / 32 % 8, last = (unsigned)(off % 32 / 4) + 1;
    for (unsigned steps = 0; steps < MAP_WORDS_MAX && begin == 0; steps++) {
        begin = begin_in(base, i, image_u32(c->image, map + 4 * i), n, last);
        if (i-- == 0)
            break;
        n = 7;
        last = 8;
    }
    return begin <= code ? begin : 0;
}

void clr_read_prolog(struct clr *c, uint64_t begin, struct clr_frame *f)
{
    bool saves_pointer = (image_u16(c->image, begin) & 0xff) == PUSH_RBP;
    uint32_t pushes = 0, room = 0;
    uint8_t saved = 0;
    for (; pushes < PUSHES_MAX; pushes++) {
        unsigned two = image_u16(c->image, begin), byte = two & 0xff, next = two >> 8;
        bool far = byte == PUSH_FAR && next >= PUSH_R12 && next <= PUSH_R15;
        if (!far && byte != PUSH_RBX && byte != PUSH_RAX && (byte != PUSH_RBP || pushes > 0))
            break;
        saved = (uint8_t)(saved + (far || byte == PUSH_RBX));
        begin += far ? 2 : 1;
    }
    if (pushes > 0)
        f->saved = saved;
    uint32_t code = image_u32(c->image, begin) & THREE_BYTES;
    if (code == SUB_RSP_8)
        room = image_u32(c->image, begin) >> 24;
    else if (code == SUB_RSP_32)
        room = image_u32(c->image, begin + 3);
    begin += code == SUB_RSP_8 ? 4u : code == SUB_RSP_32 ? 7u : 0u;
    begin += (image_u32(c->image, begin) & THREE_BYTES) == VZEROUPPER ? 3u : 0u;
    code = image_u32(c->image, begin);
    f->keeps_pointer = saves_pointer && (code == LEA_RBP_8 || code == LEA_RBP_32 ||
                                         (code & THREE_BYTES) == MOV_RBP_RSP);
    /* where it calls, rsp is a multiple of 16 */
    bool is_whole = (8 * pushes + room) % 16 == 8 && room < FRAME_MAX &&
                    (image_u16(c->image, begin) & 0xff) != PUSH_RBP && code != LEA_R11;
    if (!saves_pointer && is_whole)
        f->bytes = 8 * pushes + room;
}

void clr_method_of(struct clr *c, uint64_t desc, struct clr_frame *ret)
{
    uint32_t index = image_u16(c->image, desc + METHOD_INDEX) & 0xff;
    uint64_t chunk = desc - CHUNK_BYTES - 8 * (uint64_t)index;
    uint32_t mask = (UINT32_C(1) << NUMBER_BITS) - 1;
    ret->method = (image_u16(c->image, chunk + CHUNK_RANGE) & mask) << NUMBER_BITS |
                  (image_u16(c->image, desc + METHOD_REST) & mask);
    clr_definition_of(c, image_u64(c->image, chunk + CHUNK_TABLE), &ret->module, &ret->type);
}

/* Finds the method of F and its class, compiled by the JIT, in SECTION. */
static void find_jitted(struct clr *c, uint64_t section, struct clr_frame *f)
{
    uint64_t begin = method_begin(c, image_u64(c->image, section + SECTION_HEAP), f->code - 1);
    uint64_t header = begin != 0 ? image_u64(c->image, begin - 8) : 0;
    uint64_t method = header > STUBS_MAX ? image_u64(c->image, header + HEADER_METHOD) : 0;
    if (method == 0)
        return;
    clr_read_prolog(c, begin, f);
    clr_method_of(c, method, f);
}

/* Is F a call of compiled code?  Finds its method then. */
static bool is_compiled(struct clr *c, struct clr_frame *f)
{
    uint64_t section = section_of(c, f->code - 1);
    f->bytes = CLR_NONE;
    if (section == 0)
        return false;
    if ((image_u32(c->image, section + SECTION_FLAGS) & SECTION_JIT) != 0)
        find_jitted(c, section, f);
    else if (image_u64(c->image, section + SECTION_MODULE) != 0)
        clr_find_precompiled(c, section, f);
    else
        return false;
    return true;
}

/* The call in which F, without a frame pointer, was called: its return address is behind its frame.
 */
static bool find_hidden(struct clr *c, const struct clr_frame *f, struct clr_frame *ret)
{
    uint64_t slot = f->slot + 8 + f->bytes;
    if (f->keeps_pointer || f->bytes == CLR_NONE || f->slot % 16 != 8 || slot + 8 > f->link)
        return false;
    *ret = (struct clr_frame){ .slot = slot,
                               .code = image_u64(c->image, slot),
                               .link = f->link,
                               .next = f->next,
                               .thread = f->thread,
                               .is_hidden = true };
    return is_compiled(c, ret);
}

/* A method of which nothing is known, not even the unwind data, may have no frame pointer.  But a
 * hidden call has a return address between F and its frame pointer.  (A call of native code keeps
 * its own there, too: InlinedCallFrame.) */
static bool hides_none(struct clr *c, const struct clr_frame *f)
{
    if (f->link < f->slot || f->link - f->slot > GAP_BYTES)
        return false;
    for (uint64_t at = f->slot + 8; at < f->link; at += 8) {
        uint64_t word = image_u64(c->image, at);
        if (c->gap_words++ >= GAP_WORDS_MAX ||
            (word != 0 && word != f->code && section_of(c, word - 1) != 0))
            return false;
    }
    return true;
}

struct kept {
    struct clr_frame *frames; /* [count] */
    size_t count, cap;
};

/* Adds F, and the calls around it that frame pointers leave out, as long as there are not too many
 * of all stacks. */
static bool keep(struct clr *c, struct kept *k, struct clr_frame f)
{
    bool more = true;
    for (unsigned i = 0; i < HIDDEN_MAX && more; i++) {
        if (!gcd_vec_reserve(&c->alloc, &k->frames, &k->cap, k->count + 1, sizeof f, SIZE_MAX))
            return false;
        struct clr_frame *now = &k->frames[k->count++];
        *now = f;
        now->keeps_pointer = f.keeps_pointer || (f.bytes == CLR_NONE && hides_none(c, &f));
        more = k->count < CALLS_MAX && find_hidden(c, now, &f);
        now->is_linked = more;
    }
    return true;
}

/* Keeps the calls of compiled code; RET_PLACES: where they are then.  The others are those of
 * native code, and words that look like one: what lies in them belongs to the call inside them, or
 * to the innermost one. */
static gcd_status keep_compiled(struct clr *c, struct kept *k, uint32_t *ret_places,
                                struct gcd_error *err)
{
    bool is_linked = true; /* from the one kept last on */
    for (size_t i = 0; i < c->frame_count; i++) {
        struct clr_frame f = c->frames[i], *last = k->count > 0 ? &k->frames[k->count - 1] : NULL;
        if (i % 1024 == 0)
            GCD_TRY(gcd_check_canceled(c->context->cancel, err));
        if (f.code != 0 && is_compiled(c, &f)) {
            if (last != NULL)
                last->is_linked = is_linked && last->thread == f.thread;
            is_linked = true;
            if (!keep(c, k, f))
                return gcd_fail_nomem(err, "reading stacks");
            last = &k->frames[k->count - 1];
        }
        is_linked = is_linked && (f.code == 0 || f.next != CLR_NONE);
        ret_places[i] = (uint32_t)(k->count - (last != NULL && last->thread == f.thread));
    }
    return c->code_st == GCD_OK ? GCD_OK : gcd_fail(err, c->code_st, "cannot read code");
}

static void take(struct clr *c, struct kept *k)
{
    gcd_mem_free(&c->alloc, c->frames, c->frame_cap * sizeof *c->frames);
    c->frames = k->frames;
    c->frame_count = k->count;
    c->frame_cap = k->cap;
}

gcd_status clr_find_methods(struct clr *c, struct gcd_error *err)
{
    size_t count = c->frame_count;
    struct kept k = { .count = 0 };
    uint32_t *places = gcd_mem_new_uncleared(&c->alloc, count + 1, sizeof *places);
    gcd_status st =
        places != NULL ? keep_compiled(c, &k, places, err) : gcd_fail_nomem(err, "reading stacks");
    take(c, &k);
    for (size_t i = 0; i < c->stack_word_count && st == GCD_OK; i++) {
        struct clr_stack_word *w = &c->stack_words[i];
        w->frame = w->frame < count ? places[w->frame] : (uint32_t)c->frame_count;
    }
    gcd_mem_free(&c->alloc, places, (count + 1) * sizeof *places);
    return st;
}

/* What the code called by a method has lies below its frame.  That frame ends at its frame pointer,
 * or at its return address; the owner of a word above it is unknown.  What a method saves first is
 * its caller's. */
uint32_t clr_frame_of(const struct clr *c, const struct clr_stack_word *w)
{
    uint32_t i = w->frame;
    if (i >= c->frame_count || c->frames[i].thread != w->thread)
        return CLR_NONE;
    while (c->frames[i].is_hidden && w->at < c->frames[i].slot)
        i--;
    const struct clr_frame *f = &c->frames[i];
    bool has_hidden = f->is_linked && f[1].is_hidden;
    uint64_t end = f->keeps_pointer ? f->link : has_hidden ? f[1].slot : 0;
    if (w->at < f->slot)
        return i;
    if (w->at >= end)
        return CLR_NONE;
    if (end - w->at > 8 * (uint64_t)f->saved)
        return i;
    return has_hidden || (f->is_linked && f[1].slot == f->link + 8) ? i + 1 : CLR_NONE;
}

/* ---- names ---- */

gcd_status clr_name_method(const struct clr_frame *f, struct gcd_metadata *m,
                           char ret[CLR_METHOD_BYTES])
{
    struct gcd_error own = GCD_ERROR_INIT;
    char method[CLR_METHOD_BYTES];
    const char *text;
    uint32_t type;
    gcd_status st = gcd_metadata_method_name(m, GCD_TOKEN_METHOD | f->method, &type, &text, &own);
    ret[0] = '\0';
    if (st == GCD_OK && type != (GCD_TOKEN_TYPE | f->type))
        return GCD_OK;
    if (st == GCD_OK) {
        (void)snprintf(method, sizeof method, "%s", text);
        st = gcd_metadata_name(m, type, NULL, 0, &text, &own);
    }
    /* the box of a call is an instance, which tells whose it is; this is only its definition */
    if (st == GCD_OK && gcd_made_of(text) != GCD_MADE_OF_CALL)
        gcd_call_name(text, method, ret, CLR_METHOD_BYTES);
    return st == GCD_E_NOMEM ? st : GCD_OK;
}

static gcd_status name_frame(struct clr *c, struct clr_frame *f, struct gcd_metadata *m,
                             struct gcd_error *err)
{
    char name[CLR_METHOD_BYTES];
    gcd_status st = clr_name_method(f, m, name);
    if (st == GCD_OK && name[0] != '\0')
        st = gcd_textpool_add(&c->text, name, strlen(name), &f->name);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the names of methods");
}

bool clr_is_framework(const struct clr_module *module)
{
    return module->has_token && gcd_is_framework_key(module->token);
}

gcd_status clr_name_methods(struct clr *c, const struct clr_module *module, struct gcd_metadata *m,
                            struct gcd_error *err)
{
    bool is_framework = clr_is_framework(module);
    for (size_t i = 0; i < c->frame_count; i++) {
        struct clr_frame *f = &c->frames[i];
        if (f->module != module->id || f->module == 0)
            continue;
        f->is_framework = is_framework;
        GCD_TRY(name_frame(c, f, m, err));
    }
    return GCD_OK;
}

/* ---- roots ---- */

/* Each frame becomes the first one from it outwards that has a name, rather one outside the
 * framework; without one, it leads to nothing.  Not beyond a method whose caller is not known. */
static void look_outwards(struct clr *c)
{
    for (size_t i = c->frame_count; i-- > 0;) {
        struct clr_frame *f = &c->frames[i];
        bool has_outer = f->is_linked && (f->keeps_pointer || f[1].is_hidden);
        uint32_t outer = has_outer ? f[1].named : CLR_NONE;
        bool is_last = outer == CLR_NONE || c->frames[outer].is_framework;
        f->named = f->name != NULL && (is_last || !f->is_framework) ? (uint32_t)i : outer;
    }
}

/* A thread of the pool that waits for work runs nothing: all words of its stack are left over. */
static void drop_idle(struct clr *c)
{
    for (size_t i = 0; i < c->frame_count; i++) {
        const struct clr_frame *f = &c->frames[i];
        if (f->name != NULL && f->is_framework && gcd_text_begins(f->name, IDLE_WAIT))
            c->threads[f->thread].idle = true;
    }
    for (size_t i = 0; i < c->root_count; i++)
        if (c->roots[i].guess && c->threads[c->roots[i].thread].idle) {
            c->roots[i].flags |= CLR_ROOT_WEAK;
            c->roots[i].guess = false;
        }
}

void clr_tell_frames(struct clr *c)
{
    drop_idle(c);
    look_outwards(c);
    for (size_t i = 0; i < c->root_count; i++) {
        struct clr_root *r = &c->roots[i];
        const struct clr_frame *f = r->frame < c->frame_count ? &c->frames[r->frame] : NULL;
        if (f == NULL || c->threads[f->thread].thread != r->id || f->named == CLR_NONE)
            continue;
        struct clr_frame *named = &c->frames[f->named];
        named->holds = true;
        r->id = named->slot;
    }
    size_t n = 0;
    for (size_t i = 0; i < c->frame_count; i++)
        if (c->frames[i].holds)
            c->frames[n++] = c->frames[i];
    c->frame_count = n;
}
