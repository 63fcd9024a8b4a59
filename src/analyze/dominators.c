/*
 * Dominators after Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph", TOPLAS 1979), the variant with path
 * compression: O(m log n) for any shape, and next to linear for heaps.  Semi-NCA and the iterative algorithm of Cooper,
 * Harvey and Kennedy are as fast on the usual heap, but quadratic on shapes that occur (README.md has the figures).
 *
 * Everything is done in preorder numbers of a depth-first search: 0 is the made-up root, 1 ... n are the reachable nodes.  Of the edges
 * into a node only those from higher numbers need the forest; lists are kept of these alone.  What two phases never need at the
 * same time lies in one place:
 *
 *     depth-first search   label, least: position in the edges           idom: edges from higher numbers, counted
 *     lists                least: semidominator as far as it is known    idom: end of a node's list
 *     main loop            label of v < w: first of v's bucket           idom of v >= w: next of the bucket, then the result
 *
 * Nearly all of the time is waiting for memory; so what belongs to one node of the forest lies side by side, and what is needed
 * soon is fetched ahead.
 */
#include <gcdumpc/dominators.h>

#include <string.h>

#include "analyze/flow.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)
/* Nodes whose lists share one 64-bit start. */
#define BLOCK_SHIFT 12u
/* How many nodes, or list entries, ahead. */
#define AHEAD 16u

struct link {
    uint32_t ancestor;           /* in the depth-first tree, then in the forest */
    uint32_t label;              /* the node with the least semidominator among those that the way up was compressed from */
    uint32_t least;              /* its semidominator */
};

struct gcd_dominators {
    struct gcd_alloc alloc;
    uint32_t node_count, reachable;
    uint32_t stand_ins;          /* objects that stand in for roots */
    uint32_t *parent;            /* [node_count] while it is computed: preorder number, 0 = not reachable */
    uint32_t *order;             /* [node_count + 1] node by preorder number */
    uint64_t *retained;          /* [node_count] */
    uint64_t all;
};

struct work {
    struct gcd_dominators *d;
    const struct gcd_dominators_options *options;
    struct flow flow;
    uint64_t steps_total;
    uint32_t *number, *order;    /* d->parent, d->order */
    struct link *forest;         /* [node_count + 1] */
    uint32_t *idom;              /* [node_count + 1] */
    uint64_t *deferred;          /* a bit a node: its dominator is that of idom */
    size_t words;
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

static void fetch_numbers(const struct work *w, const uint32_t *edges, size_t n)
{
    for (size_t i = 0; i < n && i < AHEAD; i++)
        __builtin_prefetch(&w->number[edges[i]]);
}

/* Visit NODE below the number PARENT. */
static uint32_t visit(struct work *w, uint32_t node, uint32_t parent)
{
    uint32_t n = ++w->d->reachable;
    w->number[node] = n;
    w->order[n] = node;
    w->forest[n].ancestor = parent;
    w->idom[n] = 0;
    return n;
}

/* All that is reachable from NODE; the way back is in the tree itself. */
static gcd_status search_from(struct work *w, uint32_t node, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->flow.g, node, &n);
    uint32_t v = visit(w, node, 0);
    uint64_t at = 0;
    while (v != 0) {
        uint32_t to = at < n ? edges[at] : flow_at(&w->flow, node, at);
        at++;
        if (to == GCD_NODE_NONE) {
            v = w->forest[v].ancestor;
            node = w->order[v];
            at = (uint64_t)w->forest[v].least << 32 | w->forest[v].label;
            if (v != 0)
                edges = gcd_graph_node_edges(w->flow.g, node, &n);
            continue;
        }
        uint32_t number = w->number[to];
        if (number == 0) {
            w->forest[v].label = (uint32_t)at;
            w->forest[v].least = (uint32_t)(at >> 32);
            v = visit(w, to, v);
            node = to;
            at = 0;
            edges = gcd_graph_node_edges(w->flow.g, node, &n);
            fetch_numbers(w, edges, n);
            if (v % CHECK_EVERY == 0)
                GCD_TRY(check(w, v, err));
        } else if (number < v) {
            if (w->idom[number]++ == UINT32_MAX)
                return gcd_fail(err, GCD_E_LIMIT, "more than 2^32 references lead to one object");
            w->list_edges++;
        }
    }
    return GCD_OK;
}

static gcd_status search(struct work *w, struct gcd_error *err)
{
    w->order[0] = GCD_NODE_NONE;
    w->forest[0] = (struct link){ .ancestor = 0 };
    w->idom[0] = 0;
    memset(w->number, 0, w->d->node_count * sizeof *w->number);
    for (size_t i = 0; i < flow_root_count(&w->flow); i++) {
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

/* For the node AHEAD of NODE the numbers its edges lead to, for one half as far what these are used for. */
static void fetch_ahead(const struct work *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges;
    if (w->d->node_count - node > AHEAD) {
        edges = gcd_graph_node_edges(w->flow.g, node + AHEAD, &n);
        fetch_numbers(w, edges, n);
    }
    if (w->d->node_count - node > AHEAD / 2) {
        edges = gcd_graph_node_edges(w->flow.g, node + AHEAD / 2, &n);
        uint32_t from = w->number[node + AHEAD / 2];
        for (size_t i = 0; i < n && i < AHEAD; i++) {
            uint32_t v = w->number[edges[i]];
            __builtin_prefetch(from > v ? &w->idom[v] : &w->forest[v].least, 1);
        }
    }
}

/* In the order of the heap: the references are then read one behind the other.  Edges from lower numbers are done with at once. */
static gcd_status fill_lists(struct work *w, struct gcd_error *err)
{
    for (uint32_t v = 0; v <= w->d->reachable; v++) {
        w->forest[v].least = w->forest[v].ancestor;
        w->forest[v].label = 0;
    }
    for (uint32_t node = 0; node < w->d->node_count; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(check(w, (uint64_t)w->d->node_count + node, err));
        fetch_ahead(w, node);
        uint32_t from = w->number[node], to;
        if (from == 0)
            continue;
        for (uint64_t i = 0; (to = flow_at(&w->flow, node, i)) != GCD_NODE_NONE; i++) {
            uint32_t v = w->number[to];
            if (from > v)
                w->lists[w->block[v >> BLOCK_SHIFT] + w->idom[v]++] = from;
            else if (from < w->forest[v].least && from != v)
                w->forest[v].least = from;
        }
    }
    for (size_t i = 0; i < flow_root_count(&w->flow); i++) {
        uint32_t node = flow_root(&w->flow, i);
        if (node != GCD_NODE_NONE)
            w->forest[w->number[node]].least = 0;
    }
    return GCD_OK;
}

/* ---- the forest: nodes from LINKED on are in it ---- */

/*
 * V's link, whose label is then the node with the least semidominator on the way from V up to, but not including, the root of its tree.
 * The way is compressed: up with all links turned round, down with links to the root.
 */
static const struct link *eval(struct link *forest, uint32_t v, uint32_t linked)
{
    if (forest[v].ancestor < linked)
        return &forest[v];
    uint32_t below = 0, x = v;
    while (forest[x].ancestor >= linked) {
        uint32_t up = forest[x].ancestor;
        forest[x].ancestor = below;
        below = x;
        x = up;
    }
    struct link top = forest[x];         /* what is best so far, and the root */
    while (below != 0) {
        struct link *l = &forest[below];
        below = l->ancestor;
        l->ancestor = top.ancestor;
        if (l->least > top.least) {
            l->label = top.label;
            l->least = top.least;
        } else {
            top = *l;
        }
    }
    return &forest[v];
}

static gcd_status dominate(struct work *w, struct gcd_error *err)
{
    struct link *forest = w->forest;
    uint32_t *idom = w->idom;
    uint64_t end = w->list_edges;        /* of V's list: they lie one behind the other */
    for (uint32_t v = w->d->reachable; v > 0; v--) {
        if (v % CHECK_EVERY == 0)
            GCD_TRY(check(w, 2 * (uint64_t)w->d->node_count + (w->d->reachable - v), err));
        uint32_t parent = forest[v].ancestor, semi = forest[v].least;
        uint64_t start = w->block[(v - 1) >> BLOCK_SHIFT] + idom[v - 1];     /* where the list before it ends */
        while (end > start) {
            if (end > AHEAD)
                __builtin_prefetch(&forest[w->lists[end - AHEAD]], 1);
            uint32_t s = eval(forest, w->lists[--end], v + 1)->least;
            if (s < semi)
                semi = s;
        }
        forest[v].least = semi;
        forest[v].label = v;             /* V is linked */
        if (semi == parent) {
            idom[v] = parent;
        } else {
            idom[v] = forest[semi].label;
            forest[semi].label = v;
        }
        for (uint32_t u = forest[parent].label, next; u != 0; u = next) {
            next = idom[u];
            const struct link *best = eval(forest, u, v);
            bool later = best->least < parent;
            idom[u] = later ? best->label : parent;
            w->deferred[u >> 6] |= (uint64_t)later << (u & 63);
        }
        forest[parent].label = 0;
    }
    for (uint32_t v = 1; v <= w->d->reachable; v++)
        if (w->deferred[v >> 6] >> (v & 63) & 1)
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

/* What the main loop alone needs: it makes room for the retained sizes. */
static void free_forest(struct work *w)
{
    const struct gcd_alloc *a = &w->d->alloc;
    gcd_mem_free(a, w->forest, ((size_t)w->d->node_count + 1) * sizeof *w->forest);
    gcd_mem_free(a, w->lists, (size_t)w->list_edges * sizeof *w->lists);
    w->forest = NULL;
    w->lists = NULL;
}

static gcd_status run(struct work *w, struct gcd_error *err)
{
    struct gcd_dominators *d = w->d;
    size_t n = (size_t)d->node_count + 1;
    w->blocks = (n >> BLOCK_SHIFT) + 1;
    w->words = (n + 63) / 64;
    w->number = d->parent = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->parent);
    w->order = d->order = gcd_mem_new_uncleared(&d->alloc, n, sizeof *d->order);
    w->forest = gcd_mem_new_uncleared(&d->alloc, n, sizeof *w->forest);
    w->idom = gcd_mem_new_uncleared(&d->alloc, n, sizeof *w->idom);
    w->block = gcd_mem_new_uncleared(&d->alloc, w->blocks, sizeof *w->block);
    w->deferred = gcd_mem_new_array(&d->alloc, w->words, sizeof *w->deferred);
    if (d->parent == NULL || d->order == NULL || w->forest == NULL || w->idom == NULL || w->block == NULL || w->deferred == NULL ||
        !flow_init(&w->flow, w->flow.g, &d->alloc))
        return gcd_fail_nomem(err, "finding dominators");
    d->stand_ins = (uint32_t)w->flow.stand_in_count;
    GCD_TRY(search(w, err));
    w->lists = gcd_mem_new_uncleared(&d->alloc, (size_t)w->list_edges, sizeof *w->lists);
    if (w->lists == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(place_lists(w, err));
    GCD_TRY(fill_lists(w, err));
    GCD_TRY(dominate(w, err));
    free_forest(w);
    d->retained = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->retained);
    if (d->retained == NULL)
        return gcd_fail_nomem(err, "finding dominators");
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
    free_forest(&w);
    gcd_mem_free(&a, w.idom, n * sizeof *w.idom);
    gcd_mem_free(&a, w.block, w.blocks * sizeof *w.block);
    gcd_mem_free(&a, w.deferred, w.words * sizeof *w.deferred);
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
