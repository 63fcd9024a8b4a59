/*
 * Dominators after Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph", TOPLAS 1979), the variant with path
 * compression: O(m log n) for any shape, and next to linear for heaps.  Semi-NCA and the iterative algorithm of Cooper,
 * Harvey and Kennedy are as fast on the usual heap, but quadratic on shapes that occur (README.md has the figures).
 *
 * Everything is done in preorder numbers of a depth-first search: 0 is the made-up root, 1 ... n are the reachable nodes.  Of the edges
 * into a node only those from higher numbers need the forest; lists are kept of these alone.  What two arrays never
 * need at the same time lies in one:
 *
 *     depth-first search   at + semi + label: position in the edges      idom: edges from higher numbers, counted
 *     lists                                                              idom: end of a node's list
 *     main loop            label of v < w: first of v's bucket           idom of v >= w: next of the bucket, then the result
 *     retained sizes       semi + label: sizes by node
 */
#include <gcdumpc/dominators.h>

#include <string.h>

#include "analyze/flow.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)
/* Nodes whose lists share one 64-bit start. */
#define BLOCK_SHIFT 12u

struct gcd_dominators {
    struct gcd_alloc alloc;
    uint32_t node_count, reachable;
    uint32_t *parent;            /* [node_count] while it is computed: preorder number, 0 = not reachable */
    uint32_t *order;             /* [node_count + 1] node by preorder number */
    uint64_t *retained;          /* [node_count + 1] */
    uint64_t all;
};

struct work {
    struct gcd_dominators *d;
    const struct gcd_dominators_options *options;
    struct flow flow;
    uint64_t steps_total;
    uint32_t *number, *order;    /* d->parent, d->order */
    uint32_t *ancestor;          /* in the depth-first tree, then in the forest */
    uint64_t *at;                /* d->retained */
    uint32_t *semi, *label;      /* its two halves */
    uint32_t *idom;
    uint64_t *block;             /* start of the lists of a block of nodes; a node's end is relative to it */
    size_t blocks;
    uint32_t *lists;
    uint64_t list_edges;
};

static gcd_status check(const struct work *w, uint64_t steps, struct gcd_error *err)
{
    const struct gcd_dominators_options *o = w->options;
    if (o->progress != NULL)
        o->progress(o->progress_ctx, steps, w->steps_total);
    if (o->cancel != NULL && atomic_load_explicit(o->cancel, memory_order_relaxed))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    return GCD_OK;
}

/* ---- depth-first search ---- */

/* Visit NODE below the number PARENT. */
static void visit(struct work *w, uint32_t node, uint32_t parent)
{
    uint32_t n = ++w->d->reachable;
    w->number[node] = n;
    w->order[n] = node;
    w->ancestor[n] = parent;
    w->at[n] = 0;
    w->idom[n] = 0;
}

/* All that is reachable from NODE; the way back is in the tree itself. */
static gcd_status search_from(struct work *w, uint32_t node, struct gcd_error *err)
{
    visit(w, node, 0);
    for (uint32_t v = w->d->reachable; v != 0;) {
        uint32_t to = flow_at(&w->flow, w->order[v], w->at[v]++);
        if (to == GCD_NODE_NONE) {
            v = w->ancestor[v];
        } else if (w->number[to] == 0) {
            visit(w, to, v);
            v = w->d->reachable;
            if (v % CHECK_EVERY == 0)
                GCD_TRY(check(w, v, err));
        } else if (w->number[to] < v) {
            if (w->idom[w->number[to]]++ == UINT32_MAX)
                return gcd_fail(err, GCD_E_LIMIT, "more than 2^32 references lead to one object");
            w->list_edges++;
        }
    }
    return GCD_OK;
}

static gcd_status search(struct work *w, struct gcd_error *err)
{
    w->idom[0] = 0;
    memset(w->number, 0, w->d->node_count * sizeof *w->number);
    for (size_t i = 0; i < gcd_graph_root_count(w->flow.g); i++) {
        uint32_t node = flow_root(&w->flow, i);
        if (node != GCD_NODE_NONE && w->number[node] == 0)
            GCD_TRY(search_from(w, node, err));
    }
    return GCD_OK;
}

/* ---- edges into a node ---- */

/* From counts to starts. */
static gcd_status place_lists(struct work *w, struct gcd_error *err)
{
    uint64_t start = 0;
    for (uint32_t v = 0; v <= w->d->reachable; v++) {
        if (v % (1u << BLOCK_SHIFT) == 0)
            w->block[v >> BLOCK_SHIFT] = start;
        uint32_t count = w->idom[v];
        uint64_t rel = start - w->block[v >> BLOCK_SHIFT];
        if (rel + count > UINT32_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "%u neighbouring objects have more than 2^32 references", 1u << BLOCK_SHIFT);
        w->idom[v] = (uint32_t)rel;
        start += count;
    }
    return GCD_OK;
}

/* In the order of the heap: the references are then read one behind the other.  Edges from lower numbers are done with at once. */
static gcd_status fill_lists(struct work *w, struct gcd_error *err)
{
    memcpy(w->semi, w->ancestor, ((size_t)w->d->reachable + 1) * sizeof *w->semi);
    for (uint32_t node = 0; node < w->d->node_count; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(check(w, (uint64_t)w->d->node_count + node, err));
        uint32_t from = w->number[node], to;
        if (from == 0)
            continue;
        for (uint64_t i = 0; (to = flow_at(&w->flow, node, i)) != GCD_NODE_NONE; i++) {
            uint32_t v = w->number[to];
            if (from > v)
                w->lists[w->block[v >> BLOCK_SHIFT] + w->idom[v]++] = from;
            else if (from < w->semi[v] && from != v)
                w->semi[v] = from;
        }
    }
    for (size_t i = 0; i < gcd_graph_root_count(w->flow.g); i++) {
        uint32_t node = flow_root(&w->flow, i);
        if (node != GCD_NODE_NONE)
            w->semi[w->number[node]] = 0;
    }
    return GCD_OK;
}

/* ---- the forest: nodes from LINKED on are in it ---- */

/*
 * The node with the least semidominator on the way from V up to, but not including, the root of its tree.  The way is compressed: up
 * with all links turned round, down with links to the root.
 */
static uint32_t eval(struct work *w, uint32_t v, uint32_t linked)
{
    uint32_t *ancestor = w->ancestor, *label = w->label;
    const uint32_t *semi = w->semi;
    if (ancestor[v] < linked)
        return label[v];
    uint32_t below = 0, x = v;
    while (ancestor[x] >= linked) {
        uint32_t up = ancestor[x];
        ancestor[x] = below;
        below = x;
        x = up;
    }
    uint32_t root = ancestor[x], best = label[x];
    uint32_t least = semi[best];
    while (below != 0) {
        x = below;
        below = ancestor[x];
        ancestor[x] = root;
        if (semi[label[x]] > least) {
            label[x] = best;
        } else {
            best = label[x];
            least = semi[best];
        }
    }
    return best;
}

static gcd_status dominate(struct work *w, struct gcd_error *err)
{
    uint32_t *semi = w->semi, *label = w->label, *idom = w->idom;
    uint64_t end = w->list_edges;        /* of V's list: they lie one behind the other */
    memset(label, 0, ((size_t)w->d->reachable + 1) * sizeof *label);
    for (uint32_t v = w->d->reachable; v > 0; v--) {
        if (v % CHECK_EVERY == 0)
            GCD_TRY(check(w, 2 * (uint64_t)w->d->node_count + (w->d->reachable - v), err));
        uint32_t parent = w->ancestor[v], least = semi[v];
        uint64_t start = w->block[(v - 1) >> BLOCK_SHIFT] + idom[v - 1];     /* where the list before it ends */
        while (end > start) {
            uint32_t s = semi[eval(w, w->lists[--end], v + 1)];
            if (s < least)
                least = s;
        }
        semi[v] = least;
        label[v] = v;                    /* V is linked */
        if (least == parent) {
            idom[v] = parent;
        } else {
            idom[v] = label[least];
            label[least] = v;
        }
        for (uint32_t u = label[parent], next; u != 0; u = next) {
            next = idom[u];
            uint32_t best = eval(w, u, v);
            idom[u] = semi[best] < parent ? best : parent;
        }
        label[parent] = 0;
    }
    for (uint32_t v = 1; v <= w->d->reachable; v++)
        if (idom[v] != semi[v])
            idom[v] = idom[idom[v]];
    return GCD_OK;
}

/* ---- the result by node ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void finish(struct work *w)
{
    struct gcd_dominators *d = w->d;
    for (uint32_t node = 0; node < d->node_count; node++) {
        uint32_t v = d->parent[node];
        d->retained[node] = v != 0 ? gcd_graph_node_size(w->flow.g, node) : 0;
        d->parent[node] = v == 0 ? GCD_NODE_NONE : w->idom[v] == 0 ? GCD_NODE_ROOT : d->order[w->idom[v]];
    }
    for (uint32_t v = d->reachable; v > 0; v--) {
        uint32_t node = d->order[v];
        uint64_t *to = d->parent[node] == GCD_NODE_ROOT ? &d->all : &d->retained[d->parent[node]];
        *to = add(*to, d->retained[node]);
    }
}

static gcd_status run(struct work *w, struct gcd_error *err)
{
    struct gcd_dominators *d = w->d;
    size_t n = (size_t)d->node_count + 1;
    w->number = d->parent = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->parent);
    w->order = d->order = gcd_mem_new_uncleared(&d->alloc, n, sizeof *d->order);
    w->at = d->retained = gcd_mem_new_uncleared(&d->alloc, n, sizeof *d->retained);
    w->ancestor = gcd_mem_new_uncleared(&d->alloc, n, sizeof *w->ancestor);
    w->idom = gcd_mem_new_uncleared(&d->alloc, n, sizeof *w->idom);
    w->blocks = (n >> BLOCK_SHIFT) + 1;
    w->block = gcd_mem_new_uncleared(&d->alloc, w->blocks, sizeof *w->block);
    if (d->parent == NULL || d->order == NULL || d->retained == NULL || w->ancestor == NULL || w->idom == NULL || w->block == NULL ||
        !flow_init(&w->flow, w->flow.g, &d->alloc))
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(search(w, err));
    w->semi = (uint32_t *)(void *)d->retained;
    w->label = w->semi + n;
    w->lists = gcd_mem_new_uncleared(&d->alloc, (size_t)w->list_edges, sizeof *w->lists);
    if (w->lists == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(place_lists(w, err));
    GCD_TRY(fill_lists(w, err));
    GCD_TRY(dominate(w, err));
    finish(w);
    return check(w, w->steps_total, err);
}

gcd_status gcd_dominators_new(const struct gcd_graph *g, const struct gcd_dominators_options *options, struct gcd_dominators **ret,
                              struct gcd_error *err)
{
    static const struct gcd_dominators_options defaults;
    struct work w = { .options = options != NULL ? options : &defaults, .flow.g = g };
    struct gcd_alloc a = gcd_alloc_or_default(w.options->alloc);
    w.d = gcd_mem_new(&a, sizeof *w.d);
    if (w.d == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    w.d->alloc = a;
    w.d->node_count = gcd_graph_node_count(g);
    w.steps_total = 3 * (uint64_t)w.d->node_count;
    gcd_status st = run(&w, err);
    size_t n = (size_t)w.d->node_count + 1;
    gcd_mem_free(&a, w.ancestor, n * sizeof *w.ancestor);
    gcd_mem_free(&a, w.idom, n * sizeof *w.idom);
    gcd_mem_free(&a, w.block, w.blocks * sizeof *w.block);
    gcd_mem_free(&a, w.lists, (size_t)w.list_edges * sizeof *w.lists);
    flow_done(&w.flow);
    if (st == GCD_OK)
        *ret = w.d;
    else
        gcd_dominators_free(w.d);
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
    gcd_mem_free(&a, d->retained, n * sizeof *d->retained);
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
