/*
 * What is alive.  Objects that are marked and not yet visited are found by their marks, in groups
 * by address, so that memory is read in neighbourhoods, and neither depth nor order of the
 * references matters.  The walk before it notes which objects have no references: these need no
 * visit.
 *
 * Timers and registrations for cancellation are visited last: they only call back (see
 * analyze/dominators/callbacks.h).  Else the words of a stack that holds an asynchronous Main would
 * count for nothing whenever Main waits for a timer.
 */
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr.h"
#include "image/clr/clr_pending.h"

#define CANCEL_EVERY     65536u
#define REGION_BYTES_MAX (UINT64_C(8) << 32)
#define NEAR             1024u
#define AHEAD            8u  /* objects on their way from memory, and room for those of a mark */
#define TARGETS          32u /* marks that are on their way from memory: a power of two */

/* A word of a stack that nothing held when it was its turn. */
struct guess {
    uint64_t object; /* the first: gcd_sort_by_u64 */
    uint64_t root;   /* its number */
};

/* An object that something refers to. */
struct target {
    struct clr_mark *mark; /* NULL = there is none */
    uint64_t bit, address;
};

struct marking {
    struct clr *c;
    struct clr_pending pending; /* numbers of the marks with objects to visit, but for those in */
    uint64_t near[NEAR];        /* [near_count] from NEAR_FIRST on: objects in the group at hand */
    size_t near_first, near_count;
    size_t at;                       /* the mark at hand */
    const struct clr_block *block;   /* with the mark at hand, */
    const struct clr_region *region; /* and its region */
    struct target targets[TARGETS];  /* to be marked */
    size_t next_target;
    struct guess *guesses; /* [guess_count] sorted; used while SOURCE is followed */
    size_t guess_count;
    uint64_t source; /* the object of a word of a stack; 0 = others are followed */
    bool postpone;
    uint64_t *later; /* [later_count] objects that call back */
    size_t later_count, later_room;
    struct gcd_error *err;
    uint64_t steps;
};

/*
 * SOURCE leads to ADDRESS, which was marked before: if that is the object of an earlier word of a
 * stack, the word is not needed.  What it leads to does not include SOURCE, which was not marked
 * when its turn came, so no cycle loses its last root.
 */
static void drop_guess(struct marking *k, uint64_t address)
{
    size_t up_to = gcd_count_up_to(k->guesses, k->guess_count, sizeof *k->guesses, address);
    for (; up_to > 0 && k->guesses[up_to - 1].object == address; up_to--)
        k->c->roots[k->guesses[up_to - 1].root].flags |= CLR_ROOT_WEAK;
}

/* There is room for it in NEAR.  It often ends in the next line of the processor's cache. */
static inline void visit_soon(struct marking *k, uint64_t address)
{
    k->near[(k->near_first + k->near_count++) % NEAR] = address;
    image_prefetch(k->c->image, address);
    image_prefetch(k->c->image, address + 32);
}

static void mark(struct marking *k, const struct target *t)
{
    struct clr_mark *m = t->mark;
    if ((m->live & t->bit) != 0) {
        if (k->source != 0 && k->source != t->address)
            drop_guess(k, t->address);
        return;
    }
    size_t i = (size_t)(m - k->c->marks);
    m->live |= t->bit;
    if ((m->done & t->bit) != 0)
        return;
    if (k->near_count < NEAR && i / CLR_PENDING_GROUP == k->at / CLR_PENDING_GROUP) {
        m->done |= t->bit;
        visit_soon(k, t->address);
    } else {
        clr_pending_add(&k->pending, i);
    }
}

/* The mark of ADDRESS.  False: it needs none; what is not in the heap is counted. */
static inline bool find_target(struct marking *k, uint64_t address, struct target *ret)
{
    struct clr_region *r = clr_region_at(k->c, address);
    if (r == NULL || address % 8 != 0) {
        k->c->gaps.dangling++;
        return false;
    }
    if (r->generation == CLR_FROZEN) {
        if (k->source != 0 && k->source != address)
            drop_guess(k, address);
        return false;
    }
    ret->address = address;
    ret->mark = clr_mark_at(k->c, r, address, &ret->bit);
    k->c->gaps.dangling += ret->mark == NULL;
    return ret->mark != NULL;
}

static void mark_object(struct marking *k, uint64_t address)
{
    struct target t;
    if (find_target(k, address, &t))
        mark(k, &t);
}

/* Marks it when its mark has come from memory. */
static inline void mark_soon(struct marking *k, uint64_t address)
{
    struct target *t = &k->targets[k->next_target], now = *t;
    if (!find_target(k, address, t))
        return;
    __builtin_prefetch(t->mark, 1);
    k->next_target = (k->next_target + 1) % TARGETS;
    if (now.mark != NULL)
        mark(k, &now);
}

static void mark_rest(struct marking *k)
{
    for (size_t i = 0; i < TARGETS; i++) {
        if (k->targets[i].mark != NULL)
            mark(k, &k->targets[i]);
        k->targets[i].mark = NULL;
    }
}

static gcd_status postpone(struct marking *k, uint64_t address)
{
    if (!gcd_vec_reserve(&k->c->alloc, &k->later, &k->later_room, k->later_count + 1,
                         sizeof *k->later, SIZE_MAX))
        return gcd_fail_nomem(k->err, "finding what is alive");
    k->later[k->later_count++] = address;
    return GCD_OK;
}

static gcd_status visit_object(struct marking *k, uint64_t address)
{
    struct clr_object o;
    struct clr_slots slots;
    uint64_t target, slot;
    gcd_status st = GCD_OK;
    const struct clr_region *r = clr_region_at(k->c, address);
    bool is_object = r != NULL && clr_object_at(k->c, address, &o, &st);
    if (!is_object || o.bytes > r->end - address) { /* its length may be anything */
        k->c->gaps.dangling++;
        return st == GCD_OK ? GCD_OK : gcd_fail_nomem(k->err, "finding what is alive");
    }
    if (++k->steps % CANCEL_EVERY == 0)
        GCD_TRY(gcd_check_canceled(k->c->context->cancel, k->err));
    if (k->c->types[o.type].calls_back && k->postpone)
        return postpone(k, address);
    uint64_t references = 0;
    clr_slots_begin(&slots, k->c, &o);
    for (; clr_slots_next(&slots, &target, &slot); references++)
        mark_soon(k, target);
    k->c->types[o.type].sum.edges += references;
    return GCD_OK;
}

/* Where the memory of mark number I begins. */
static uint64_t start_of(struct marking *k, size_t i)
{
    const struct clr *c = k->c;
    if (i - k->block->first >= gcd_count_bits(k->block->has)) {
        size_t n = gcd_count_up_to(c->blocks, c->block_count, sizeof *c->blocks, i);
        k->block = &c->blocks[n - 1];
    }
    while (k->region->blocks > k->block ||
           (size_t)(k->block - k->region->blocks) >= clr_blocks_of(k->region))
        k->region = k->region->blocks > k->block ? k->region - 1 : k->region + 1;
    uint64_t has = k->block->has;
    for (size_t n = i - k->block->first; n > 0; n--)
        has &= has - 1;
    return k->region->start + CLR_BLOCK_BYTES * (uint64_t)(k->block - k->region->blocks) +
           CLR_MARK_BYTES * (uint64_t)__builtin_ctzll(has);
}

/* The objects that are marked in mark number I will be visited; they come from memory meanwhile. */
static void take_marked(struct marking *k, size_t i)
{
    struct clr_mark *m = &k->c->marks[i];
    uint64_t bits = m->live & ~m->done, start = start_of(k, i);
    m->done |= bits;
    for (; bits != 0; bits &= bits - 1)
        visit_soon(k, start + 8 * (uint64_t)__builtin_ctzll(bits));
}

static gcd_status visit_all(struct marking *k)
{
    for (;;) {
        while (k->near_count < AHEAD && clr_pending_take(&k->pending, &k->at))
            take_marked(k, k->at);
        if (k->near_count == 0)
            mark_rest(k);
        if (k->near_count == 0 && clr_pending_from(&k->pending, 0) == SIZE_MAX)
            return GCD_OK;
        if (k->near_count == 0)
            continue;
        uint64_t address = k->near[k->near_first];
        k->near_first = (k->near_first + 1) % NEAR;
        k->near_count--;
        GCD_TRY(visit_object(k, address));
    }
}

static bool is_live(const struct clr *c, uint64_t address)
{
    const struct clr_region *r = clr_region_at(c, address);
    return r != NULL && clr_is_marked(c, r, address);
}

/* The value of a dependent handle lives if its key does, and may make another key live. */
static gcd_status visit_dependents(struct marking *k)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < k->c->dependent_count; i++) {
            const struct clr_dependent *d = &k->c->dependents[i];
            if (d->value == 0 || !is_live(k->c, d->key) || is_live(k->c, d->value))
                continue;
            mark_object(k, d->value);
            changed = is_live(k->c, d->value);
        }
        GCD_TRY(visit_all(k));
    }
    return GCD_OK;
}

/* All that roots hold of which the runtime is certain. */
static gcd_status mark_certain(struct marking *k)
{
    struct clr *c = k->c;
    for (size_t i = 0; i < c->root_count; i++)
        if ((c->roots[i].flags & CLR_ROOT_WEAK) == 0 && !c->roots[i].guess)
            mark_object(k, c->roots[i].object);
    for (size_t i = 0; i < c->static_count; i++)
        mark_object(k, c->statics[i].object);
    GCD_TRY(visit_all(k));
    return visit_dependents(k);
}

static gcd_status follow_guesses(struct marking *k)
{
    struct clr *c = k->c;
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->root_count && st == GCD_OK; i++) {
        struct clr_root *r = &c->roots[i];
        if (!r->guess || r->object == k->source) /* also on the stack of another thread */
            continue;
        if (is_live(c, r->object)) {
            r->flags |= CLR_ROOT_WEAK;
            continue;
        }
        k->source = r->object;
        mark_object(k, r->object);
        st = visit_all(k);
    }
    k->source = 0;
    return st;
}

/* What only words of stacks hold. */
static gcd_status mark_guesses(struct marking *k)
{
    struct clr *c = k->c;
    size_t room = 0;
    for (size_t i = 0; i < c->root_count; i++)
        room += c->roots[i].guess && !is_live(c, c->roots[i].object);
    k->guesses = gcd_mem_new_array(&c->alloc, room, sizeof *k->guesses);
    if (k->guesses == NULL)
        return gcd_fail_nomem(k->err, "finding what is alive");
    for (size_t i = 0; i < c->root_count; i++)
        if (c->roots[i].guess && !is_live(c, c->roots[i].object))
            k->guesses[k->guess_count++] = (struct guess){ c->roots[i].object, i };
    gcd_status st = gcd_sort_by_u64(&c->alloc, k->guesses, k->guess_count, sizeof *k->guesses)
                        ? follow_guesses(k)
                        : gcd_fail_nomem(k->err, "finding what is alive");
    gcd_mem_free(&c->alloc, k->guesses, room * sizeof *k->guesses);
    return st == GCD_OK ? visit_dependents(k) : st;
}

/*
 * A word of a stack becomes a weak root where another root holds the object anyway, be it another
 * such word.  A word left over would else be a second way to the middle of a collection or chain,
 * and nothing would hold it as a whole.
 */
static gcd_status mark_roots(struct marking *k)
{
    /* frozen objects live forever, and refer to frozen ones only */
    k->postpone = true;
    GCD_TRY(mark_certain(k));
    GCD_TRY(mark_guesses(k));
    k->postpone = false;
    for (size_t i = 0; i < k->later_count; i++) {
        GCD_TRY(visit_object(k, k->later[i]));
        GCD_TRY(visit_all(k));
    }
    return visit_dependents(k);
}

/* System.Threading.TimerQueueTimer and CancellationTokenSource+CallbackNode */
static void find_callbacks(struct clr *c)
{
    static const char source[] = "System.Threading.CancellationTokenSource";
    for (size_t i = 0; i < c->type_count; i++) {
        struct clr_type *t = &c->types[i];
        const char *name = t->raw_name != NULL ? t->raw_name : "";
        bool is_node = strcmp(name, "CallbackNode") == 0 && strcmp(t->outer, source) == 0;
        t->calls_back = is_node || strcmp(name, "System.Threading.TimerQueueTimer") == 0;
    }
}

/* ---- the walk before it ---- */

/* The root of O for this thread among those from FIRST on, or NULL. */
static struct clr_root *root_of(const struct clr *c, size_t first, uint64_t thread)
{
    for (size_t i = first; i < c->root_count; i++)
        if (c->roots[i].id == thread)
            return &c->roots[i];
    return NULL;
}

/* Words of the stacks that point at or into O become roots, one for each thread: in the outermost
 * frame that is known, which holds O longest. */
static gcd_status take_stack_words(struct clr *c, size_t *next, const struct clr_object *o,
                                   struct gcd_error *err)
{
    uint64_t end = o->address + o->bytes;
    size_t first = c->root_count;
    while (*next < c->stack_word_count && c->stack_words[*next].word < o->address)
        ++*next;
    for (; *next < c->stack_word_count && c->stack_words[*next].word < end; ++*next) {
        const struct clr_stack_word *w = &c->stack_words[*next];
        uint64_t thread = c->threads[w->thread].thread;
        uint32_t frame = clr_frame_of(c, w);
        struct clr_root *root = root_of(c, first, thread);
        if (root == NULL) {
            GCD_TRY(clr_add_root(c, CLR_ROOT_STACK, o->address, 0, thread, err));
            root = &c->roots[c->root_count - 1];
            root->guess = true;
            root->thread = w->thread;
            root->frame = CLR_NONE;
        }
        if (frame != CLR_NONE && (root->frame == CLR_NONE || frame > root->frame))
            root->frame = frame;
    }
    return GCD_OK;
}

/* The mark of ADDRESS, the last one of R so far. */
static inline struct clr_mark *note_mark(struct clr *c, const struct clr_region *r,
                                         uint64_t address)
{
    uint64_t place = (address - r->start) / CLR_MARK_BYTES;
    struct clr_block *b = &r->blocks[place / CLR_BLOCK_MARKS];
    uint64_t here = UINT64_C(1) << place % CLR_BLOCK_MARKS;
    if ((b->has & here) == 0) {
        c->starts[c->mark_count] = 0;
        c->marks[c->mark_count++] = (struct clr_mark){ 0 };
    }
    b->has |= here;
    return &c->marks[c->mark_count - 1];
}

/* Gives all of R marks, if most of it has some: they are found faster. */
static void fill_marks(struct clr *c, struct clr_region *r)
{
    size_t all = clr_marks_of(r), used = c->mark_count - r->first_mark;
    struct clr_mark *m = c->marks + r->first_mark;
    uint64_t *starts = c->starts + r->first_mark;
    if (used < all / 4 * 3)
        return;
    for (size_t i = all; i-- > 0;) {
        struct clr_block *b = &r->blocks[i / CLR_BLOCK_MARKS];
        uint64_t here = UINT64_C(1) << i % CLR_BLOCK_MARKS;
        bool has = (b->has & here) != 0;
        used -= has;
        m[i] = has ? m[used] : (struct clr_mark){ 0 };
        starts[i] = has ? starts[used] : 0;
        b->has |= here;
    }
    c->mark_count = r->first_mark + all;
    r->is_dense = true;
}

/* Numbers the marks of R, of which UNSEEN bytes at its end were not walked: objects in them are
 * known by references only. */
static void end_marks(struct clr *c, struct clr_region *r, uint64_t unseen)
{
    uint64_t first = r->first_mark;
    for (uint64_t at = r->end - unseen; at < r->end; at += CLR_MARK_BYTES)
        (void)note_mark(c, r, at);
    if (unseen > 0)
        (void)note_mark(c, r, r->end - 1);
    fill_marks(c, r);
    for (size_t i = 0; i < clr_blocks_of(r); i++) {
        r->blocks[i].first = first;
        first += gcd_count_bits(r->blocks[i].has);
    }
}

static gcd_status walk_region(struct clr *c, struct clr_region *r, size_t *next_word,
                              struct gcd_error *err)
{
    struct clr_scan s;
    struct clr_object o;
    uint64_t steps = 0, lost = c->walked.bytes;
    r->first_mark = c->mark_count;
    clr_scan_begin(&s, c, r, &c->walked);
    while (clr_scan_next(&s, &o)) {
        if (*next_word < c->stack_word_count &&
            c->stack_words[*next_word].word < o.address + o.bytes)
            GCD_TRY(take_stack_words(c, next_word, &o, err));
        struct gcd_type_sum *sum = &c->types[o.type].sum;
        sum->objects++;
        sum->bytes += o.bytes;
        sum->size_bits |= o.bytes;
        if (r->generation != CLR_FROZEN) {
            struct clr_mark *m = note_mark(c, r, o.address);
            uint64_t bit = UINT64_C(1) << (o.address - r->start) / 8 % 64;
            c->starts[m - c->marks] |= bit;
            m->done |= o.is_leaf ? bit : 0;
        }
        if (++steps % CANCEL_EVERY == 0)
            GCD_TRY(gcd_check_canceled(c->context->cancel, err));
    }
    end_marks(c, r, c->walked.bytes - lost);
    return s.st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "walking a heap");
}

/* A region ends where the image does. */
static void cut_region(struct clr *c, struct clr_region *r)
{
    uint64_t have = image_available(c->image, r->start) / 8 * 8;
    if (have >= r->end - r->start)
        return;
    c->gaps.lost_bytes += r->end - r->start - have;
    r->end = r->start + have;
}

static gcd_status make_blocks(struct clr *c, struct gcd_error *err)
{
    uint64_t all = 0;
    size_t blocks = 0, marks = 0;
    for (size_t i = 0; i < c->region_count; i++) {
        struct clr_region *r = &c->regions[i];
        all += r->end - r->start;
        cut_region(c, r);
        if (r->end - r->start > REGION_BYTES_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "a region of the heap has more than 32 GiB");
        blocks += clr_blocks_of(r);
        marks += clr_marks_of(r);
    }
    /* a dump without heap has at most the pages that stacks and registers point at */
    if (all > 0 && c->gaps.lost_bytes > all - all / 16 && c->image->cut_off == GCD_OFF_NONE)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "this dump has no heap (it is of type 1, mini, or 3, triage): take one of "
                        "type 2 (heap) or 4 (full)");
    c->blocks = gcd_mem_new_array(&c->alloc, blocks, sizeof *c->blocks);
    c->block_count = blocks;
    /* room for all: what stays unused takes no memory */
    c->marks = gcd_mem_new_uncleared(&c->alloc, marks, sizeof *c->marks);
    c->starts = gcd_mem_new_uncleared(&c->alloc, marks, sizeof *c->starts);
    c->mark_cap = marks;
    for (size_t i = 0; i < c->type_count; i++)
        c->types[i].sum = (struct gcd_type_sum){ 0 };
    if (c->blocks == NULL || c->marks == NULL || c->starts == NULL)
        return gcd_fail_nomem(err, "finding what is alive");
    for (size_t i = 0, at = 0; i < c->region_count; at += clr_blocks_of(&c->regions[i]), i++)
        c->regions[i].blocks = c->blocks + at;
    return GCD_OK;
}

gcd_status clr_walk(struct clr *c, struct gcd_error *err)
{
    size_t next_word = 0;
    GCD_TRY(clr_find_methods(c, err));
    GCD_TRY(make_blocks(c, err));
    image_expect(c->image, IMAGE_ASCENDING);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->region_count && st == GCD_OK; i++)
        st = walk_region(c, &c->regions[i], &next_word, err);
    image_expect(c->image, IMAGE_ANYWHERE);
    return st;
}

gcd_status clr_check_dead(struct clr *c, struct gcd_error *err)
{
    struct clr_lost lost = { 0 };
    uint64_t target, slot, steps = 0;
    struct clr_slots slots;
    struct clr_object o;
    struct clr_scan s;
    for (size_t i = 0; i < c->region_count; i++) {
        clr_scan_begin(&s, c, &c->regions[i], &lost);
        while (clr_scan_next(&s, &o)) {
            if (++steps % CANCEL_EVERY == 0)
                GCD_TRY(gcd_check_canceled(c->context->cancel, err));
            if (clr_is_marked(c, &c->regions[i], o.address))
                continue;
            clr_slots_begin(&slots, c, &o);
            while (clr_slots_next(&slots, &target, &slot))
                c->gaps.dangling += target % 8 != 0 || clr_region_at(c, target) == NULL;
        }
        if (s.st != GCD_OK)
            return gcd_fail_nomem(err, "walking a heap");
    }
    return GCD_OK;
}

/* A collection clears what holds dead objects weakly, so a walk after it does not report it. */
static void drop_dead(struct clr *c)
{
    size_t roots = 0, dependents = 0;
    for (size_t i = 0; i < c->root_count; i++)
        if (is_live(c, c->roots[i].object))
            c->roots[roots++] = c->roots[i];
    for (size_t i = 0; i < c->dependent_count; i++)
        if (is_live(c, c->dependents[i].key))
            c->dependents[dependents++] = c->dependents[i];
    c->root_count = roots;
    c->dependent_count = dependents;
}

gcd_status clr_mark(struct clr *c, struct gcd_error *err)
{
    struct marking k = { .c = c, .err = err, .region = c->regions, .block = c->blocks };
    find_callbacks(c);
    gcd_status st = clr_pending_init(&k.pending, c->mark_count, &c->alloc)
                        ? mark_roots(&k)
                        : gcd_fail_nomem(err, "finding what is alive");
    clr_pending_done(&k.pending, &c->alloc);
    gcd_mem_free(&c->alloc, k.later, k.later_room * sizeof *k.later);
    if (st == GCD_OK && !c->with_dead)
        drop_dead(c);
    return st;
}
