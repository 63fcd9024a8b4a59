/*
 * The threads that wait for a lock, or block in Wait or Result of a task: which lock, and who holds
 * it.  One line for each kind, method and lock, as in struct gcd_image_facts.
 *
 * What such a thread waits for lies on its stack, up to the frame of the method that asked for it.
 * A lock that another thread holds is believed, whatever the frames are: of a monitor, the header
 * of the object has the number of its entry in the table of sync blocks (vm/syncblk.h), and the
 * entry leads back to the object.  The table is found by that, in every version.  The lock in it
 * (AwareLock) tells how many wait and who holds it.  Its layout is known of .NET 10 only, where it
 * was measured; elsewhere, and of a System.Threading.Lock, only the methods are told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/clr/clr.h"

#define TEXT_BYTES   24000u
#define LABEL_BYTES  (2048u + CLR_METHOD_BYTES)
#define GLOBALS_MAX  64u /* entries behind that of the collector that may be g_pSyncTable */
#define SEARCHES_MAX 64u
/* So many objects are asked who holds their lock: to find the thread takes a pass over all. */
#define ASKED_MAX 4096u

/* The header of an object is below it (vm/syncblk.h). */
#define HAS_INDEX  UINT32_C(0x08000000)
#define HAS_HASH   UINT32_C(0x04000000)
#define INDEX_MASK UINT32_C(0x03ffffff)
#define HELD       1u
#define WAITER     0x40u /* in AwareLock; one in the bits from there on */

enum {
    ENTRY_BYTES = 16,
    ENTRY_OBJECT = 8,
    LOCK_OWNER_ID = 16 /* AwareLock of .NET 10: the number of the thread in the system */
};

struct wait {
    const char *method; /* of the program, as far as it is known; NULL = nothing is known */
    const char *kind;   /* NULL = it does not wait */
    uint32_t last;      /* frame: that of METHOD, or the outermost one */
    uint64_t lock;      /* the object; 0 = unknown */
    uint64_t at;        /* the word on the stack that leads to it */
    uint32_t owner;     /* of clr.threads; CLR_NONE = unknown */
    bool told;
};

/* ---- locks ---- */

/* The entry of OBJECT in the table of sync blocks; 0 = it has none. */
static uint64_t entry_of(struct clr *c, uint64_t object)
{
    uint32_t header = image_u32(c->image, object - 4);
    uint64_t off = ENTRY_BYTES * (uint64_t)(header & INDEX_MASK);
    if ((header & (HAS_INDEX | HAS_HASH)) != HAS_INDEX || off == 0)
        return 0;
    bool search = c->sync_table == 0 && c->sync_searches < SEARCHES_MAX;
    c->sync_searches += search;
    for (unsigned i = 1; search && i < GLOBALS_MAX && c->sync_table == 0; i++) {
        uint64_t global = image_u64(c->image, c->dac + 8 * (uint64_t)(c->dac_index + i));
        uint64_t table = global != 0 ? image_u64(c->image, global) : 0;
        if (table != 0 && image_u64(c->image, table + off + ENTRY_OBJECT) == object)
            c->sync_table = table;
    }
    uint64_t entry = c->sync_table != 0 ? c->sync_table + off : 0;
    return entry != 0 && image_u64(c->image, entry + ENTRY_OBJECT) == object ? entry : 0;
}

static uint32_t thread_with(const struct clr *c, uint64_t id)
{
    for (size_t i = 0; i < c->thread_count; i++)
        if (id != 0 && c->threads[i].id == id)
            return (uint32_t)i;
    return CLR_NONE;
}

/* Who holds the lock of OBJECT that others wait for; CLR_NONE = nobody, or unknown. */
static uint32_t owner_of(struct clr *c, uint64_t object)
{
    if (c->layout.major != 10)
        return CLR_NONE;
    uint64_t entry = entry_of(c, object), lock = entry != 0 ? image_u64(c->image, entry) : 0;
    if (lock == 0)
        return CLR_NONE;
    uint32_t state = image_u32(c->image, lock);
    if ((state & HELD) == 0 || state < WAITER)
        return CLR_NONE;
    return thread_with(c, image_u64(c->image, lock + LOCK_OWNER_ID));
}

/* ---- threads ---- */

enum { LOCK, TASK };
static const char *const kinds[] = { [LOCK] = "lock", [TASK] = "task" };

static bool is_lock(const char *name)
{
    static const char *const begins[] = { "System.Threading.Monitor.Enter",
                                          "System.Threading.Monitor.TryEnter",
                                          "System.Threading.Monitor.ReliableEnter",
                                          "System.Threading.Lock.Enter",
                                          "System.Threading.Lock.TryEnter" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (gcd_text_begins(name, begins[i]))
            return true;
    return false;
}

static bool is_task(const char *name)
{
    return gcd_text_begins(name, "System.Threading.Tasks.Task.") && strstr(name, "Wait") != NULL;
}

/* The locks that words on the stacks of those who wait lead to, of each the innermost one. */
static gcd_status find_locks(struct clr *c, struct wait *waits)
{
    uint64_t object = 0; /* words are sorted: the one before, and who holds it */
    uint32_t owner = CLR_NONE, asked = 0;
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->stack_word_count && st == GCD_OK; i++) {
        const struct clr_stack_word *s = &c->stack_words[i];
        struct wait *w = &waits[s->thread];
        struct clr_object o;
        if (w->kind != kinds[LOCK] || s->word % 8 != 0 || (w->lock != 0 && s->at >= w->at) ||
            clr_frame_of(c, s) > w->last)
            continue;
        if (s->word != object) {
            owner = CLR_NONE;
            object = s->word;
            if (asked < ASKED_MAX && clr_object_at(c, object, &o, &st) && ++asked > 0)
                owner = owner_of(c, object);
        }
        if (owner != CLR_NONE && owner != s->thread) {
            w->lock = object;
            w->at = s->at;
            w->owner = owner;
        }
    }
    return st;
}

/* What the thread does whose innermost frame is I. */
static void look_at(const struct clr *c, uint32_t i, struct wait *w)
{
    uint32_t t = c->frames[i].thread, framework = CLR_NONE;
    for (uint32_t at = i; at < c->frame_count && c->frames[at].thread == t; at++) {
        const struct clr_frame *f = &c->frames[at];
        w->last = at;
        if (f->name == NULL)
            continue;
        if (!f->is_framework) {
            w->method = f->name;
            break;
        }
        if (w->kind == NULL)
            w->kind = is_lock(f->name) ? kinds[LOCK] : is_task(f->name) ? kinds[TASK] : NULL;
        if (framework == CLR_NONE && !is_lock(f->name) && !is_task(f->name))
            framework = at;
    }
    if (w->method == NULL && framework != CLR_NONE)
        w->method = c->frames[framework].name;
}

/* ---- lines ---- */

static void put_owner(const struct clr *c, const struct wait *waits, uint32_t owner, char *to)
{
    to[0] = '\0';
    if (owner != CLR_NONE)
        clr_thread_label(&c->threads[owner], waits[owner].method != NULL ? " in " : "",
                         waits[owner].method != NULL ? waits[owner].method : "", to, LABEL_BYTES);
    for (; *to != '\0'; to++)
        if (*to == '\t' || *to == '\n')
            *to = ' ';
}

struct lines {
    const struct clr *c;
    const struct wait *waits; /* [threads] */
    char *text;               /* [TEXT_BYTES], of which N are used */
    size_t n;
};

/* COUNT threads that wait as thread I does.  False: the line does not fit. */
static bool put_line(struct lines *l, size_t i, const char *kind, uint64_t count)
{
    const struct wait *waits = l->waits;
    const struct wait *w = &waits[i];
    char owner[LABEL_BYTES];
    put_owner(l->c, waits, w->owner, owner);
    int k = snprintf(l->text + l->n, TEXT_BYTES - l->n,
                     "%s\t%" PRIu64 "\t%s\t%" PRIx64 "\t%s\t%" PRIx64 "\n", kind, count,
                     w->method != NULL ? w->method : "", w->lock, owner,
                     w->owner != CLR_NONE ? waits[w->owner].lock : 0);
    if (k > 0 && (size_t)k < TEXT_BYTES - l->n) {
        l->n += (size_t)k;
        return true;
    }
    l->text[l->n] = '\0';
    return false;
}

static void put_lines(const struct clr *c, struct wait *waits, char text[TEXT_BYTES])
{
    struct lines l = { .c = c, .waits = waits, .text = text };
    bool fits = true;
    for (size_t i = 0; i < c->thread_count && fits; i++) {
        struct wait *w = &waits[i];
        uint64_t count = 0;
        if (w->kind == NULL || w->told)
            continue;
        for (size_t k = i; k < c->thread_count; k++) {
            struct wait *o = &waits[k];
            /* names of methods differ by frame */
            bool same = o->kind == w->kind && o->lock == w->lock && o->owner == w->owner &&
                        (o->method == w->method || (o->method != NULL && w->method != NULL &&
                                                    strcmp(o->method, w->method) == 0));
            count += same;
            o->told = o->told || same;
            if (same && clr_is_finalizer(c, &c->threads[k]))
                fits = put_line(&l, k, "finalizer", 1);
        }
        fits = fits && put_line(&l, i, w->kind, count);
    }
}

static gcd_status find(struct clr *c, struct wait *waits, char *text)
{
    for (size_t i = 0; i < c->thread_count; i++)
        waits[i].owner = CLR_NONE;
    for (size_t i = 0; i < c->frame_count; i++)
        if (i == 0 || c->frames[i].thread != c->frames[i - 1].thread)
            look_at(c, (uint32_t)i, &waits[c->frames[i].thread]);
    GCD_TRY(find_locks(c, waits));
    put_lines(c, waits, text);
    return gcd_textpool_add(&c->text, text, strlen(text), &c->blocked_text);
}

gcd_status clr_find_blocked(struct clr *c, struct gcd_error *err)
{
    struct wait *waits = gcd_mem_new_array(&c->alloc, c->thread_count + 1, sizeof *waits);
    char *text = gcd_mem_new(&c->alloc, TEXT_BYTES);
    gcd_status st = waits != NULL && text != NULL ? GCD_OK : GCD_E_NOMEM;
    if (st == GCD_OK)
        st = find(c, waits, text);
    gcd_mem_free(&c->alloc, text, TEXT_BYTES);
    gcd_mem_free(&c->alloc, waits, (c->thread_count + 1) * sizeof *waits);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot tell what threads wait for");
}
