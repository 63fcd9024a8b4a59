/*
 * Dominators and retained sizes by node.  domtree.h builds the tree of the inner nodes; the parent
 * of a leaf is the nearest common ancestor of all objects that refer to it.
 */
#include <gcdumpc/dominators.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/domtree.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* References to leaves in a batch. */
#define LEAVES 64u

/* ---- leaves ---- */

/* References to leaves, followed in batches so that their cache misses overlap. */
struct leaves {
    struct leaf_edge {
        uint32_t leaf, from;
    } edges[LEAVES];
    size_t count;
};

/* Threads may add referrers in any order: their nearest common ancestor is the same.  Those that
 * only roots of late groups reach come last, and do not count for a leaf that has others. */
static void place_leaf(struct domtree *t, uint32_t leaf, uint32_t from)
{
    uint32_t old = __atomic_load_n(&t->number[leaf], __ATOMIC_RELAXED), parent;
    if (from > t->early) {
        if (old != GCD_NODE_NONE && old <= t->early)
            return;
        (void)__atomic_fetch_or(&t->late[leaf / 64], UINT64_C(1) << leaf % 64, __ATOMIC_RELAXED);
    }
    do
        parent = old == GCD_NODE_NONE ? from : old == 0 ? 0 : domtree_common(t->entries, old, from);
    while (parent != old && !__atomic_compare_exchange_n(&t->number[leaf], &old, parent, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void place_waiting(struct domtree *t, struct leaves *l)
{
    for (size_t i = 0; i < l->count; i++)
        __builtin_prefetch(&t->number[l->edges[i].leaf], 1);
    for (size_t i = 0; i < l->count; i++) {
        uint32_t parent = __atomic_load_n(&t->number[l->edges[i].leaf], __ATOMIC_RELAXED);
        __builtin_prefetch(&t->entries[parent != GCD_NODE_NONE ? parent : 0]);
    }
    for (size_t i = 0; i < l->count; i++)
        place_leaf(t, l->edges[i].leaf, l->edges[i].from);
    l->count = 0;
}

/* Queues TO if it is a leaf.  Branch-free, because the branch would be unpredictable. */
static void place_later(struct domtree *t, struct leaves *l, uint32_t to, uint32_t from)
{
    l->edges[l->count] = (struct leaf_edge){ .leaf = to, .from = from };
    l->count += !inner_is(&t->inner, to);
    if (l->count == LEAVES)
        place_waiting(t, l);
}

struct placing {
    struct domtree *t;
    bool late;
};

static void place_part(void *ctx, uint32_t part)
{
    const struct placing *p = ctx;
    struct domtree *t = p->t;
    struct leaves leaves = { .count = 0 };
    uint32_t node, end;
    if (!domtree_part(t, t->node_count, part, &node, &end))
        return;
    for (; node < end; node++) {
        if (!inner_is(&t->inner, node) || t->number[node] == GCD_NODE_NONE ||
            (t->number[node] > t->early) != p->late)
            continue;
        size_t n;
        const uint32_t *edges = live_edges_of(&t->live, node, &n);
        for (size_t i = 0; i < n; i++)
            place_later(t, &leaves, edges[i], t->number[node]);
        uint32_t to;
        for (uint64_t i = 0; (to = live_edges_value(&t->live, node, i)) != GCD_NODE_NONE; i++)
            place_later(t, &leaves, to, t->number[node]);
    }
    place_waiting(t, &leaves);
}

static gcd_status place_leaves_of(struct domtree *t, bool late, struct gcd_error *err)
{
    struct placing p = { t, late };
    for (size_t i = 0; i < live_edges_root_count(&t->live); i++) {
        uint32_t node = live_edges_root(&t->live, i);
        if (node != GCD_NODE_NONE && !inner_is(&t->inner, node) && domtree_is_late(t, i) == late &&
            t->number[node] == GCD_NODE_NONE) {
            t->number[node] = 0;
            t->late[node / 64] |= (uint64_t)late << node % 64;
        }
    }
    if (late && t->early == t->reached)
        return GCD_OK;
    return domtree_loop(t, t->node_count, place_part, &p, 3 * (uint64_t)t->node_count, err);
}

/* Gives each leaf the number of its parent in the dominator tree. */
static gcd_status place_leaves(struct domtree *t, struct gcd_error *err)
{
    GCD_TRY(place_leaves_of(t, false, err));
    return place_leaves_of(t, true, err);
}

/* ---- the result by node ---- */

struct finish {
    struct gcd_dominators *d;
    struct domtree *t;
    /* reachable leaves of each part; then the position of its first leaf in the order */
    uint32_t leaves[PARTS_MAX];
};

/* Counts the reachable leaves of a part, and starts the retained size of each inner node with its
 * own size. */
static void count_part(void *ctx, uint32_t part)
{
    struct finish *f = ctx;
    struct domtree *t = f->t;
    uint32_t node, end;
    if (!domtree_part(t, t->node_count, part, &node, &end))
        return;
    for (; node < end; node++) {
        uint32_t v = t->number[node];
        if (v == GCD_NODE_NONE)
            continue;
        if (inner_is(&t->inner, node))
            t->cells[v].retained = gcd_graph_node_size(t->live.g, node);
        else
            f->leaves[part]++;
    }
}

/* Threads may add in any order: the saturating sum is the same. */
static void add_leaf(union domtree_cell *cell, uint64_t size)
{
    uint64_t old = __atomic_load_n(&cell->retained, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&cell->retained, &old, gcd_sum_saturating(old, size), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void put_retained(struct gcd_dominators *d, uint32_t node, uint64_t bytes)
{
    d->retained_low[node] = (uint32_t)bytes;
    if (d->retained_high != NULL)
        d->retained_high[node] = (uint16_t)(bytes >> 32);
    if (d->retained_top != NULL)
        d->retained_top[node] = (uint16_t)(bytes >> 48);
}

/* Completes the leaves of a part in heap order and adds their sizes to their parents. */
static void finish_leaves(void *ctx, uint32_t part)
{
    struct finish *f = ctx;
    struct gcd_dominators *d = f->d;
    struct domtree *t = f->t;
    uint32_t node, end, next = f->leaves[part];
    if (!domtree_part(t, t->node_count, part, &node, &end))
        return;
    for (; node < end; node++) {
        uint32_t v = t->number[node], later = end - node > DOMTREE_AHEAD
                                                  ? t->number[node + DOMTREE_AHEAD]
                                                  : GCD_NODE_NONE;
        if (later != GCD_NODE_NONE) {
            __builtin_prefetch(&t->cells[later].retained, 1);
            __builtin_prefetch(&t->order[later]);
        }
        if (v == GCD_NODE_NONE)
            put_retained(d, node, 0);
        if (v == GCD_NODE_NONE || inner_is(&t->inner, node))
            continue;
        uint64_t size = gcd_graph_node_size(t->live.g, node);
        add_leaf(&t->cells[v], size);
        put_retained(d, node, size);
        d->parent[node] = t->order[v];
        d->above[next] = v;
        d->order[next++] = node;
    }
}

static void sum_up(struct gcd_dominators *d, struct domtree *t)
{
    for (uint32_t v = t->reached; v > 0; v--) {
        uint64_t *parent = &t->cells[d->above[v]].retained;
        gcd_add_saturating(parent, t->cells[v].retained);
    }
    d->all = t->cells[0].retained;
}

static void finish_inner(void *ctx, uint32_t part)
{
    struct finish *f = ctx;
    struct gcd_dominators *d = f->d;
    const struct domtree *t = f->t;
    uint32_t v, end;
    if (!domtree_part(t, t->reached, part, &v, &end))
        return;
    for (v++, end++; v < end; v++) {
        if (end - v > DOMTREE_AHEAD) {
            dominators_fetch_retained(d, t->order[v + DOMTREE_AHEAD]);
            __builtin_prefetch(&d->parent[t->order[v + DOMTREE_AHEAD]], 1);
        }
        uint32_t node = t->order[v];
        put_retained(d, node, t->cells[v].retained);
        d->parent[node] = t->order[d->above[v]];
    }
}

/* Keeps the tree's parents and frees the rest. */
static gcd_status keep_tree(struct gcd_dominators *d, struct domtree *t, struct gcd_error *err)
{
    d->above = gcd_mem_new_uncleared(&d->alloc, (size_t)d->node_count + 1, sizeof *d->above);
    if (d->above == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    for (uint32_t v = 0; v <= t->reached; v++)
        d->above[v] = t->entries[v].branch.parent;
    domtree_drop_entries(t);
    return GCD_OK;
}

static gcd_status finish(struct gcd_dominators *d, struct domtree *t, struct gcd_error *err)
{
    struct finish f = { .d = d, .t = t };
    uint64_t steps = 3 * (uint64_t)t->node_count;
    t->cells[0].retained = 0;
    GCD_TRY(domtree_loop(t, t->node_count, count_part, &f, steps, err));
    d->inner = d->reachable = t->reached;
    for (uint32_t part = 0; part < PARTS_MAX; part++) {
        uint32_t count = f.leaves[part];
        f.leaves[part] = d->reachable + 1;
        d->reachable += count;
    }
    d->order[0] = GCD_NODE_ROOT;
    GCD_TRY(domtree_loop(t, t->node_count, finish_leaves, &f, steps, err));
    sum_up(d, t);
    return domtree_loop(t, t->reached, finish_inner, &f, t->steps_total, err);
}

/* ---- the whole ---- */

/* No object retains more than ALL, the size of all objects, so bits that ALL does not use need no
 * array. */
static bool make_retained(struct gcd_dominators *d, uint64_t all)
{
    uint16_t **const more[] = { &d->retained_high, &d->retained_top };
    d->retained_low = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->retained_low);
    bool room = d->retained_low != NULL;
    for (unsigned i = 0; i < sizeof more / sizeof *more && all >> (32 + 16 * i) != 0 && room; i++) {
        *more[i] = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof **more[i]);
        room = *more[i] != NULL;
    }
    return room;
}

static gcd_status run(struct gcd_dominators *d, struct domtree *t, const struct gcd_graph *g,
                      struct gcd_error *err)
{
    t->number = d->parent = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->parent);
    t->order = d->order =
        gcd_mem_new_uncleared(&d->alloc, (size_t)d->node_count + 1, sizeof *d->order);
    t->late = d->late =
        gcd_mem_new_array(&d->alloc, ((size_t)d->node_count + 63) / 64, sizeof *d->late);
    if (d->parent == NULL || d->order == NULL || d->late == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(domtree_build(t, g, err));
    d->pseudo_roots = (uint32_t)t->live.pseudo_root_count;
    GCD_TRY(place_leaves(t, err));
    GCD_TRY(keep_tree(d, t, err));
    if (!make_retained(d, gcd_graph_summary(g)->bytes))
        return gcd_fail_nomem(err, "finding dominators");
    return finish(d, t, err);
}

gcd_status gcd_dominators_new(const struct gcd_graph *g, const struct gcd_context *context,
                              struct gcd_dominators **ret, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_dominators *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    d->alloc = a;
    d->threads = context->threads;
    d->node_count = gcd_graph_node_count(g);
    struct domtree t = { .alloc = a,
                         .context = context,
                         .steps_total = 4 * (uint64_t)d->node_count,
                         .node_count = d->node_count };
    gcd_status st = run(d, &t, g, err);
    domtree_done(&t);
    if (st == GCD_OK)
        *ret = d;
    else
        gcd_dominators_free(d);
    return st;
}

void gcd_dominators_free(struct gcd_dominators *d)
{
    if (d == NULL)
        return;
    struct gcd_alloc a = d->alloc;
    size_t n = (size_t)d->node_count + 1;
    gcd_mem_free(&a, d->parent, d->node_count * sizeof *d->parent);
    gcd_mem_free(&a, d->order, n * sizeof *d->order);
    gcd_mem_free(&a, d->above, n * sizeof *d->above);
    gcd_mem_free(&a, d->late, ((size_t)d->node_count + 63) / 64 * sizeof *d->late);
    gcd_mem_free(&a, d->retained_low, d->node_count * sizeof *d->retained_low);
    gcd_mem_free(&a, d->retained_high, d->node_count * sizeof *d->retained_high);
    gcd_mem_free(&a, d->retained_top, d->node_count * sizeof *d->retained_top);
    gcd_mem_free(&a, d, sizeof *d);
}

uint32_t gcd_dominators_parent(const struct gcd_dominators *d, uint32_t node)
{
    return d->parent[node];
}

uint64_t gcd_dominators_retained(const struct gcd_dominators *d, uint32_t node)
{
    return node == GCD_NODE_ROOT ? d->all : dominators_retained(d, node);
}

bool gcd_dominators_is_late(const struct gcd_dominators *d, uint32_t node)
{
    return dominators_is_late(d, node);
}

uint32_t gcd_dominators_reachable(const struct gcd_dominators *d)
{
    return d->reachable;
}

const uint32_t *gcd_dominators_order(const struct gcd_dominators *d)
{
    return d->order + 1;
}

uint32_t gcd_dominators_pseudo_roots(const struct gcd_dominators *d)
{
    return d->pseudo_roots;
}
