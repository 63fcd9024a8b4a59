/*
 * Dominators and retained sizes by node: the tree of the inner nodes is domtree.h's; the parent of a leaf is the nearest common ancestor
 * of all that refer to it.
 */
#include <gcdumpc/dominators.h>

#include "analyze/domtree.h"
#include "base/error.h"
#include "base/mem.h"

/* How many references to leaves are followed together. */
#define LEAVES 64u

struct gcd_dominators {
    struct gcd_alloc alloc;
    uint32_t node_count, reachable;
    uint32_t stand_ins;          /* objects that stand in for roots */
    uint32_t *parent;            /* [node_count]; at first the numbers of the tree */
    uint32_t *order;             /* [node_count + 1] from 1 on */
    uint64_t *retained;          /* [node_count] */
    uint64_t all;
};

/* ---- leaves ---- */

/* References to leaves, which wait for memory together. */
struct leaves {
    struct leaf_edge {
        uint32_t leaf, from;
    } edges[LEAVES];
    size_t count;
};

static void place_waiting(struct domtree *t, struct leaves *l)
{
    for (size_t i = 0; i < l->count; i++)
        __builtin_prefetch(&t->number[l->edges[i].leaf], 1);
    for (size_t i = 0; i < l->count; i++) {
        uint32_t parent = t->number[l->edges[i].leaf];
        __builtin_prefetch(&t->entries[parent != GCD_NODE_NONE ? parent : 0]);
    }
    for (size_t i = 0; i < l->count; i++) {
        uint32_t *parent = &t->number[l->edges[i].leaf], from = l->edges[i].from;
        if (*parent == GCD_NODE_NONE)
            *parent = from;
        else if (*parent != 0)
            *parent = domtree_common(t->entries, *parent, from);
    }
    l->count = 0;
}

/* When TO is a leaf: without a branch, which would be as hard to foretell as the graph is. */
static void place_later(struct domtree *t, struct leaves *l, uint32_t to, uint32_t from)
{
    l->edges[l->count] = (struct leaf_edge){ .leaf = to, .from = from };
    l->count += !inner_is(&t->inner, to);
    if (l->count == LEAVES)
        place_waiting(t, l);
}

/* Of a leaf its number is then that of its parent in the dominator tree. */
static gcd_status place_leaves(struct domtree *t, struct gcd_error *err)
{
    struct leaves leaves = { .count = 0 };
    for (size_t i = 0; i < flow_root_count(&t->flow); i++) {
        uint32_t node = flow_root(&t->flow, i);
        if (node != GCD_NODE_NONE && !inner_is(&t->inner, node))
            t->number[node] = 0;
    }
    for (uint32_t node = 0; node < t->node_count; node++) {
        if (node % DOMTREE_CHECK == 0)
            GCD_TRY(domtree_check(t, 3 * (uint64_t)t->node_count + node, err));
        if (!inner_is(&t->inner, node) || t->number[node] == GCD_NODE_NONE)
            continue;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(t->flow.g, node, &n);
        for (size_t i = 0; i < n; i++)
            place_later(t, &leaves, edges[i], t->number[node]);
        uint32_t to;
        for (uint64_t i = n; (to = flow_at(&t->flow, node, i)) != GCD_NODE_NONE; i++)
            place_later(t, &leaves, to, t->number[node]);
    }
    place_waiting(t, &leaves);
    return GCD_OK;
}

/* ---- the result by node ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint32_t node_of(const struct domtree *t, uint32_t v)
{
    return v == 0 ? GCD_NODE_ROOT : t->order[v];
}

/* In the order of the heap: leaves are then ready, inner nodes have their own sizes and those of their leaves. */
static void finish_leaves(struct gcd_dominators *d, struct domtree *t)
{
    for (uint32_t v = 0; v <= t->reached; v++)
        t->cells[v].retained = 0;
    d->reachable = t->reached;
    for (uint32_t node = 0; node < d->node_count; node++) {
        uint32_t v = t->number[node];
        d->retained[node] = 0;
        if (v == GCD_NODE_NONE)
            continue;
        uint64_t size = gcd_graph_node_size(t->flow.g, node);
        t->cells[v].retained = add(t->cells[v].retained, size);
        if (inner_is(&t->inner, node))
            continue;
        d->retained[node] = size;
        d->parent[node] = node_of(t, v);
        d->order[++d->reachable] = node;
    }
}

static void finish_inner(struct gcd_dominators *d, struct domtree *t)
{
    for (uint32_t v = t->reached; v > 0; v--) {
        if (v > DOMTREE_AHEAD) {
            __builtin_prefetch(&d->retained[t->order[v - DOMTREE_AHEAD]], 1);
            __builtin_prefetch(&d->parent[t->order[v - DOMTREE_AHEAD]], 1);
        }
        uint32_t node = t->order[v], parent = t->entries[v].branch.parent;
        d->retained[node] = t->cells[v].retained;
        d->parent[node] = node_of(t, parent);
        t->cells[parent].retained = add(t->cells[parent].retained, t->cells[v].retained);
    }
    d->all = t->cells[0].retained;
}

/* ---- the whole ---- */

static gcd_status run(struct gcd_dominators *d, struct domtree *t, const struct gcd_graph *g, struct gcd_error *err)
{
    t->number = d->parent = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->parent);
    t->order = d->order = gcd_mem_new_uncleared(&d->alloc, (size_t)d->node_count + 1, sizeof *d->order);
    if (d->parent == NULL || d->order == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(domtree_build(t, g, err));
    d->stand_ins = (uint32_t)t->flow.stand_in_count;
    GCD_TRY(place_leaves(t, err));
    d->retained = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->retained);
    if (d->retained == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    finish_leaves(d, t);
    finish_inner(d, t);
    return domtree_check(t, t->steps_total, err);
}

gcd_status gcd_dominators_new(const struct gcd_graph *g, const struct gcd_dominators_options *options, struct gcd_dominators **ret,
                              struct gcd_error *err)
{
    static const struct gcd_dominators_options defaults;
    if (options == NULL)
        options = &defaults;
    struct gcd_alloc a = gcd_alloc_or_default(options->alloc);
    struct gcd_dominators *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    d->alloc = a;
    d->node_count = gcd_graph_node_count(g);
    struct domtree t = { .alloc = a, .options = options, .steps_total = 4 * (uint64_t)d->node_count, .node_count = d->node_count };
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
    gcd_mem_free(&a, d->retained, d->node_count * sizeof *d->retained);
    gcd_mem_free(&a, d, sizeof *d);
}

uint32_t gcd_dominators_parent(const struct gcd_dominators *d, uint32_t node)
{
    return d->parent[node];
}

uint64_t gcd_dominators_retained(const struct gcd_dominators *d, uint32_t node)
{
    return node == GCD_NODE_ROOT ? d->all : d->retained[node];
}

uint32_t gcd_dominators_reachable(const struct gcd_dominators *d)
{
    return d->reachable;
}

const uint32_t *gcd_dominators_order(const struct gcd_dominators *d)
{
    return d->order + 1;
}

uint32_t gcd_dominators_stand_ins(const struct gcd_dominators *d)
{
    return d->stand_ins;
}
