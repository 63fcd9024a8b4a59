/*
 * Merged stacks.  An operation is processed after all that it waits for: its frame goes on top of
 * the merged stacks below it, and these go on to the operations that wait for it.  Operations that
 * are left wait for themselves through others: one of them begins a stack.
 */
#include "analyze/async/async.h"

#include <string.h>

#include <gcdumpc/generations.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"

#define CHECK_EVERY UINT32_C(65536)
#define DEPTH_MAX   256u
/* Limits the parts in all: this many per operation on average, plus a constant. */
#define STACKS_AN_OP UINT64_C(4)
#define STACKS_LEAST (UINT64_C(1) << 20)
#define PROBABLE     UINT32_C(0x80000000)
#define NONE         UINT32_MAX

/* STACKS stacks with this frame on top, which wait for an operation to be processed. */
struct part {
    uint32_t frame, next;
    uint64_t stacks, bytes;
    uint64_t old;  /* of these, stacks of old objects only */
    bool probable; /* the operation probably waits for the frame */
};

struct merge {
    struct async *a;
    struct async_frames *frames;
    struct gcd_idmap children; /* frame << 32 | label -> frame */
    uint32_t *parts_of;        /* [op_count] the first part; NONE = none */
    /* [first_waiter[op_count]] the operations that wait for each operation, by operation */
    uint32_t *waiters;
    uint32_t *first_waiter; /* [op_count + 1] */
    uint32_t *left;         /* [op_count] number of unprocessed operations it waits for */
    uint32_t *queue;        /* [op_count] */
    size_t begin, end;
    struct part *parts;
    size_t part_count, part_room;
    uint32_t free_parts;
    uint64_t made; /* number of parts created */
    struct gcd_generations *ages;
    struct gcd_async_totals *totals;
};

/* ---- frames ---- */

/* Does a thread that waits for P wait for the end of the program, as that of an asynchronous Main
 * does, and that which runs a host?  That says nothing. */
static bool is_whole_program(const struct gcd_async_frame *p)
{
    return p->kind == GCD_ASYNC_METHOD &&
           (gcd_text_ends(p->name, ".Main") ||
            strcmp(p->name, "Microsoft.Extensions.Hosting.HostingAbstractionsHostExtensions."
                            "RunAsync") == 0);
}

/* The frame for LABEL on top of PARENT (NONE: the innermost). */
static gcd_status frame(struct merge *m, uint32_t parent, uint32_t label, bool probable,
                        uint32_t *ret, struct gcd_error *err)
{
    struct async_frames *f = m->frames;
    const struct async_label *l = &m->a->labels[label];
    if (parent != NONE) {
        struct gcd_async_frame *p = &f->items[parent];
        /* methods of runtime async with one text can be different ones */
        bool same = p->name == l->name && p->kind == l->kind && p->probable == probable &&
                    p->depth > 0 && l->kind != GCD_ASYNC_RUNTIME_METHOD;
        *ret = parent;
        if (l->kind == GCD_ASYNC_THREAD && is_whole_program(p))
            return GCD_OK;
        p->repeats |= same;
        p->cut |= !same && p->depth + 1 >= DEPTH_MAX;
        if (same || p->depth + 1 >= DEPTH_MAX)
            return GCD_OK;
    }
    uint64_t key = (uint64_t)parent << 32 | label | (probable ? PROBABLE : 0);
    *ret = gcd_idmap_get(&m->children, key);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!gcd_vec_reserve(&m->a->alloc, &f->items, &f->room, f->count + 1, sizeof *f->items,
                         UINT32_MAX - 1) ||
        !gcd_idmap_put(&m->children, key, (uint32_t)f->count))
        return gcd_fail_nomem(err, "merging stacks");
    *ret = (uint32_t)f->count;
    f->items[f->count++] = (struct gcd_async_frame){
        .parent = parent,
        .depth = parent != NONE ? f->items[parent].depth + 1 : 0,
        .name = l->name,
        .type = l->type,
        .kind = l->kind,
        .probable = probable,
    };
    return GCD_OK;
}

/* ---- parts ---- */

/* Has NODE certainly survived a collection before that of the dump?  NODE may be GCD_NODE_NONE. */
static bool is_old(const struct merge *m, uint32_t node)
{
    size_t hint = 0;
    if (m->ages == NULL || node == GCD_NODE_NONE)
        return false;
    unsigned age = gcd_generations_find(m->ages, gcd_graph_node_address(m->a->g, node), &hint);
    return age >= 2 && age != GCD_GENERATION_NONE;
}

/* Ends the stacks of PART at its frame: nothing waits for OP, or (OP_NONE) there are too many
 * stacks. */
static void end_stacks(struct merge *m, uint32_t op, const struct part *part)
{
    struct gcd_async_frame *f = &m->frames->items[part->frame];
    gcd_add_saturating(&f->stacks, part->stacks);
    gcd_add_saturating(&f->bytes, part->bytes);
    f->cut |= op == OP_NONE;
    if (op != OP_NONE)
        gcd_add_saturating(&f->old_stacks, part->old);
}

/* Gives PART to OP; stacks with the same frame are merged into one part. */
static gcd_status hand_over(struct merge *m, uint32_t op, struct part part, struct gcd_error *err)
{
    for (uint32_t i = m->parts_of[op], steps = 0; i != NONE && steps < 16;
         i = m->parts[i].next, steps++) {
        struct part *p = &m->parts[i];
        if (p->frame == part.frame && p->probable == part.probable) {
            gcd_add_saturating(&p->stacks, part.stacks);
            gcd_add_saturating(&p->old, part.old);
            gcd_add_saturating(&p->bytes, part.bytes);
            return GCD_OK;
        }
    }
    uint32_t at = m->free_parts;
    if (m->made++ >= STACKS_LEAST + STACKS_AN_OP * m->a->op_count) {
        end_stacks(m, OP_NONE, &part);
        return GCD_OK;
    }
    if (at != NONE) {
        m->free_parts = m->parts[at].next;
    } else {
        if (!gcd_vec_reserve(&m->a->alloc, &m->parts, &m->part_room, m->part_count + 1,
                             sizeof *m->parts, UINT32_MAX - 1))
            return gcd_fail_nomem(err, "merging stacks");
        at = (uint32_t)m->part_count++;
    }
    part.next = m->parts_of[op];
    m->parts[at] = part;
    m->parts_of[op] = at;
    return GCD_OK;
}

/*
 * Begins a stack: OP waits for LABEL, which is AWAITED (GCD_NODE_NONE: nothing that has an age).
 * Whoever waits again and again in a loop has an old operation, but awaits something new.
 */
static gcd_status begin_stack(struct merge *m, uint32_t op, uint32_t label, uint32_t awaited,
                              bool probable, struct gcd_error *err)
{
    struct part part = { .stacks = 1,
                         .old = awaited == GCD_NODE_NONE || is_old(m, awaited),
                         .probable = probable };
    GCD_TRY(frame(m, NONE, label, false, &part.frame, err));
    return hand_over(m, op, part, err);
}

/* ---- who waits for whom ---- */

/* Calls EACH for all operations that OP waits for. */
static gcd_status each_awaited(struct merge *m, uint32_t op,
                               gcd_status (*each)(struct merge *m, uint32_t op, uint32_t child,
                                                  struct gcd_error *err),
                               struct gcd_error *err)
{
    size_t n = 0;
    const struct async_op *o = &m->a->ops[op];
    const struct async_pair *pairs =
        o->leaf == LABEL_NONE && o->awaits == OP_NONE ? async_pairs(m->a, op, &n) : NULL;
    if (o->awaits != OP_NONE)
        return each(m, op, o->awaits, err);
    for (size_t i = 0; i < n; i++) {
        uint32_t child = async_op_of(m->a, pairs[i].child);
        if (child != OP_NONE)
            GCD_TRY(each(m, op, child, err));
    }
    return GCD_OK;
}

static gcd_status count_waiter(struct merge *m, uint32_t op, uint32_t child, struct gcd_error *err)
{
    (void)err;
    m->left[op]++;
    m->first_waiter[child]++;
    return GCD_OK;
}

static gcd_status put_waiter(struct merge *m, uint32_t op, uint32_t child, struct gcd_error *err)
{
    (void)err;
    m->waiters[--m->first_waiter[child]] = op;
    return GCD_OK;
}

static gcd_status list_waiters(struct merge *m, struct gcd_error *err)
{
    uint32_t n = (uint32_t)m->a->op_count;
    uint64_t sum = 0;
    for (uint32_t op = 0; op < n; op++)
        GCD_TRY(each_awaited(m, op, count_waiter, err));
    for (uint32_t op = 0; op < n; op++) {
        sum += m->first_waiter[op];
        /* the end of its waiters; put_waiter turns it into the start */
        m->first_waiter[op] = (uint32_t)sum;
    }
    if (sum >= NONE)
        return gcd_fail(err, GCD_E_LIMIT, "cannot merge stacks: operations wait for %llu others",
                        (unsigned long long)sum);
    m->first_waiter[n] = (uint32_t)sum;
    m->waiters = gcd_mem_new_uncleared(&m->a->alloc, (size_t)sum + 1, sizeof *m->waiters);
    if (m->waiters == NULL)
        return gcd_fail_nomem(err, "merging stacks");
    for (uint32_t op = n; op-- > 0;)
        GCD_TRY(each_awaited(m, op, put_waiter, err));
    return GCD_OK;
}

/* Begins the stacks below OP: with everything it waits for that is no operation. */
static gcd_status begin_stacks(struct merge *m, uint32_t op, struct gcd_error *err)
{
    struct async *a = m->a;
    struct async_op *o = &a->ops[op];
    size_t n = 0;
    if (o->leaf != LABEL_NONE)
        return begin_stack(m, op, o->leaf, o->awaited, (o->flags & OP_PROBABLE) != 0, err);
    const struct async_pair *pairs = o->awaits == OP_NONE ? async_pairs(a, op, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        uint32_t label;
        if (async_op_of(a, pairs[i].child) != OP_NONE)
            continue;
        GCD_TRY(async_leaf(a, pairs[i].child, &label, err));
        GCD_TRY(begin_stack(m, op, label, pairs[i].child, pairs[i].probable, err));
    }
    return GCD_OK;
}

/* ---- merging ---- */

/* Does OP probably wait for CHILD? */
static bool is_probable(const struct merge *m, uint32_t op, uint32_t child)
{
    const struct async_op *o = &m->a->ops[op];
    size_t n;
    if (o->awaits != OP_NONE)
        return (o->flags & OP_PROBABLE) != 0;
    const struct async_pair *pairs = async_pairs(m->a, op, &n);
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (pairs[mid].child < m->a->ops[child].node)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && pairs[low].child == m->a->ops[child].node && pairs[low].probable;
}

/* All waiters of OP get PART, and the first one gets its bytes; without waiters the stacks end. */
static gcd_status pass_on(struct merge *m, uint32_t op, struct part part, struct gcd_error *err)
{
    bool passed = false;
    for (uint32_t i = m->first_waiter[op]; i < m->first_waiter[op + 1]; i++) {
        uint32_t waiter = m->waiters[i];
        if ((m->a->ops[waiter].flags & OP_DONE) != 0)
            continue;
        part.probable = is_probable(m, waiter, op);
        GCD_TRY(hand_over(m, waiter, part, err));
        part.bytes = 0;
        passed = true;
    }
    if (!passed)
        end_stacks(m, op, &part);
    return GCD_OK;
}

static gcd_status take(struct merge *m, uint32_t op, struct gcd_error *err)
{
    struct async *a = m->a;
    struct async_op *o = &a->ops[op];
    uint32_t label = a->label_of[gcd_graph_node_type(a->g, o->node)], next;
    uint32_t callback = o->type == TYPE_CONTINUE_WITH ? async_callback(a, o->node) : LABEL_NONE;
    uint64_t own = a->bytes[op];
    bool old = is_old(m, o->node);
    if (o->type == TYPE_RUNTIME_CALL)
        GCD_TRY(async_runtime_label(a, o->node, &label, err));
    o->flags |= OP_DONE;
    for (uint32_t i = m->parts_of[op]; i != NONE; i = next) {
        struct part part = m->parts[i];
        next = part.next;
        m->parts[i].next = m->free_parts;
        m->free_parts = i;
        part.old = old ? part.old : 0;
        gcd_add_saturating(&part.bytes, own);
        own = 0;
        if (o->type != TYPE_AS_TASK &&
            o->type != TYPE_RUNTIME_TASK) /* its frame would tell nothing */
            GCD_TRY(frame(m, part.frame, label, part.probable, &part.frame, err));
        if (callback != LABEL_NONE)
            GCD_TRY(frame(m, part.frame, callback, false, &part.frame, err));
        GCD_TRY(pass_on(m, op, part, err));
    }
    for (uint32_t i = m->first_waiter[op]; i < m->first_waiter[op + 1]; i++) {
        uint32_t waiter = m->waiters[i];
        if (m->left[waiter] > 0 && --m->left[waiter] == 0 && (a->ops[waiter].flags & OP_DONE) == 0)
            m->queue[m->end++] = waiter;
    }
    return GCD_OK;
}

static gcd_status take_all(struct merge *m, struct gcd_error *err)
{
    while (m->begin < m->end) {
        if (m->begin % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(m->a->context->cancel, err));
        GCD_TRY(take(m, m->queue[m->begin++], err));
    }
    return GCD_OK;
}

static gcd_status merge(struct merge *m, struct gcd_error *err)
{
    GCD_TRY(list_waiters(m, err));
    for (uint32_t op = 0; op < m->a->op_count; op++) {
        GCD_TRY(begin_stacks(m, op, err));
        if (m->left[op] == 0)
            m->queue[m->end++] = op;
    }
    GCD_TRY(take_all(m, err));
    for (uint32_t op = 0; op < m->a->op_count; op++)
        if ((m->a->ops[op].flags & OP_DONE) == 0) {
            m->left[op] = 0;
            GCD_TRY(begin_stack(m, op, LABEL_CIRCLE, GCD_NODE_NONE, false, err));
            m->queue[m->end++] = op;
            GCD_TRY(take_all(m, err));
        }
    return GCD_OK;
}

static bool init(struct merge *m)
{
    const struct gcd_alloc *a = &m->a->alloc;
    size_t n = m->a->op_count + 1;
    m->parts_of = gcd_mem_new_uncleared(a, n, sizeof *m->parts_of);
    m->first_waiter = gcd_mem_new_array(a, n, sizeof *m->first_waiter);
    m->left = gcd_mem_new_array(a, n, sizeof *m->left);
    m->queue = gcd_mem_new_uncleared(a, n, sizeof *m->queue);
    if (m->parts_of == NULL || m->first_waiter == NULL || m->left == NULL || m->queue == NULL)
        return false;
    memset(m->parts_of, 0xff, n * sizeof *m->parts_of);
    return true;
}

static void done(struct merge *m)
{
    const struct gcd_alloc *a = &m->a->alloc;
    size_t n = m->a->op_count + 1;
    if (m->waiters != NULL)
        gcd_mem_free(a, m->waiters, ((size_t)m->first_waiter[n - 1] + 1) * sizeof *m->waiters);
    gcd_mem_free(a, m->parts_of, n * sizeof *m->parts_of);
    gcd_mem_free(a, m->first_waiter, n * sizeof *m->first_waiter);
    gcd_mem_free(a, m->left, n * sizeof *m->left);
    gcd_mem_free(a, m->queue, n * sizeof *m->queue);
    gcd_mem_free(a, m->parts, m->part_room * sizeof *m->parts);
    gcd_idmap_done(&m->children);
    gcd_generations_free(m->ages);
}

/* Adds up the totals.  PROBABLE: which frames are, or are on top of, a probable one. */
static void sum(const struct async_frames *f, struct gcd_async_totals *totals, uint8_t *probable)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct gcd_async_frame *x = &f->items[i];
        probable[i] = x->probable || (x->parent != GCD_FRAME_NONE && probable[x->parent] != 0);
        gcd_add_saturating(&totals->stacks, x->stacks);
        gcd_add_saturating(&totals->old_stacks, x->old_stacks);
        gcd_add_saturating(&totals->bytes, x->bytes);
        gcd_add_saturating(&totals->probable_stacks, probable[i] != 0 ? x->stacks : 0);
    }
}

gcd_status async_stacks(struct async *a, struct async_frames *ret, struct gcd_async_totals *totals,
                        struct gcd_error *err)
{
    struct merge m = { .a = a, .frames = ret, .free_parts = NONE, .totals = totals };
    const struct gcd_summary *summary = gcd_graph_summary(a->g);
    totals->ages_known = summary->range_count > 0;
    gcd_idmap_init(&m.children, &a->alloc);
    gcd_status st = init(&m) ? GCD_OK : gcd_fail_nomem(err, "merging stacks");
    if (st == GCD_OK && totals->ages_known)
        st = gcd_generations_new(summary, &a->alloc, &m.ages, err);
    if (st == GCD_OK)
        st = merge(&m, err);
    done(&m);
    uint8_t *probable = st == GCD_OK ? gcd_mem_new(&a->alloc, ret->count + 1) : NULL;
    if (st == GCD_OK && probable == NULL)
        st = gcd_fail_nomem(err, "merging stacks");
    if (st == GCD_OK)
        sum(ret, totals, probable);
    gcd_mem_free(&a->alloc, probable, ret->count + 1);
    return st;
}
