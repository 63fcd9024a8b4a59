/*
 * Dominators by Semi-NCA (Georgiadis, "Linear-time algorithms for dominators and related problems", 2005): semidominators as Lengauer
 * and Tarjan find them, with path compression; then each node's parent in the dominator tree is the first above it in the tree so far
 * that is not below its semidominator.  Jumps to ancestors further up make that step, which is quadratic as it was published,
 * O(log n): O(m log n) in all for any shape, and next to linear for heaps.  README.md compares.
 *
 * Leaves take no part in it (inner.h): a leaf's parent is the nearest common ancestor of all that refer to it.
 *
 * Everything is done in preorder numbers of a depth-first search over the inner nodes: 0 is the made-up root, 1 ... reached are the
 * reachable ones.  Of the edges into a node only those from higher numbers need the forest; lists are kept of these alone.  What
 * two phases never need at the same time lies in one place, a union where it has two shapes; and
 *
 *                        above                           number (by node)                    order
 *     search             parent in the depth-first tree                                      inner node
 *     lists ...          the same                        preorder number, NONE = no root     node
 *     tree               depth in the dominator tree     leads there
 *     leaves ...                                         of a leaf that of its parent
 *
 * Nearly all of the time is waiting for memory; so what is needed soon is fetched ahead.
 */
#include <gcdumpc/dominators.h>

#include <string.h>

#include "analyze/flow.h"
#include "analyze/inner.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)
/* How many edges, list entries or nodes ahead. */
#define AHEAD 16u
/* How many references to leaves are followed together. */
#define LEAVES 64u

/* Edges from higher numbers: where a node's list ends, less the start of its block; and its semidominator as far as it is known. */
struct list {
    uint32_t end;                /* at first their count */
    uint32_t semi;               /* in the search: its next edge, less the start of its block */
};

/* Of the dominator tree: an ancestor further up, so that any is reached in O(log n) steps. */
struct branch {
    uint32_t parent, jump;
};

/* Of the forest.  In the memory of the inner nodes, which are done with then. */
struct link {
    uint32_t ancestor;           /* in the depth-first tree; after compression the root */
    uint32_t least;              /* semidominator on the way there */
};

union entry {
    struct list list;
    struct branch branch;
};

union cell {
    struct link link;
    uint64_t retained;
};

_Static_assert(sizeof(union cell) == sizeof(struct inner_node), "cells take the place of inner nodes");

struct gcd_dominators {
    struct gcd_alloc alloc;
    uint32_t node_count, reachable;
    uint32_t stand_ins;          /* objects that stand in for roots */
    uint32_t *parent;            /* [node_count] */
    uint32_t *order;             /* [node_count + 1] from 1 on */
    uint64_t *retained;          /* [node_count] */
    uint64_t all;
};

struct work {
    struct gcd_dominators *d;
    const struct gcd_dominators_options *options;
    struct flow flow;
    struct inner inner;
    uint32_t reached;            /* inner nodes */
    uint64_t steps_total;
    uint32_t *number, *order;    /* d->parent, d->order */
    size_t room;                 /* of the three below: inner.count + 1 */
    uint32_t *above;
    union entry *entries;
    union cell *cells;
    uint64_t *block;             /* start of the lists of a block of nodes */
    size_t blocks;
    uint32_t *lists;
    uint64_t list_edges;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "finding dominators");
}

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

/* Visit inner node I below the number PARENT. */
static uint32_t visit(struct work *w, uint32_t i, uint32_t parent)
{
    uint32_t v = ++w->reached;
    w->inner.nodes[i].number = v;
    w->order[v] = i;
    w->above[v] = parent;
    return v;
}

/* All that is reachable from inner node I; the way back is in the tree itself. */
static gcd_status search_from(struct work *w, uint32_t i, struct gcd_error *err)
{
    const struct inner *x = &w->inner;
    uint32_t v = visit(w, i, 0), to = x->nodes[i].edge;
    uint64_t at = inner_start(x, i), end = inner_end(x, i);
    for (;;) {
        if (to != 0 && x->nodes[to].number == 0) {
            w->entries[v].list.semi = (uint32_t)(at - inner_block(x, i));
            if (at < end)                    /* the one that comes behind TO */
                __builtin_prefetch(&x->edges[inner_start(x, x->edges[at])]);
            v = visit(w, to, v);
            i = to;
            to = x->nodes[i].edge;
            __builtin_prefetch(&x->nodes[to], 1);
            at = inner_start(x, i);
            end = inner_end(x, i);
            for (uint64_t next = at; next < end && next < at + AHEAD; next++)
                __builtin_prefetch(&x->nodes[x->edges[next]], 1);
            if (v % CHECK_EVERY == 0)
                GCD_TRY(check(w, v, err));
        } else if (at < end) {
            to = x->edges[at++];
        } else {
            v = w->above[v];
            if (v == 0)
                return GCD_OK;
            i = w->order[v];
            to = 0;
            at = inner_block(x, i) + w->entries[v].list.semi;
            end = inner_end(x, i);
        }
    }
}

/* The inner node that root I keeps alive, or 0. */
static uint32_t inner_root(const struct work *w, size_t i)
{
    uint32_t node = flow_root(&w->flow, i);
    return node != GCD_NODE_NONE ? inner_of(&w->inner, node) : 0;
}

static gcd_status search(struct work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < flow_root_count(&w->flow); i++) {
        uint32_t inner = inner_root(w, i);
        if (inner != 0 && w->inner.nodes[inner].number == 0)
            GCD_TRY(search_from(w, inner, err));
    }
    return GCD_OK;
}

/* ---- edges into a node ---- */

/* From now on EDGE leads to a number. */
static gcd_status count_edge(struct work *w, uint32_t from, uint32_t *edge, struct gcd_error *err)
{
    uint32_t v = w->inner.nodes[*edge].number;
    *edge = v;
    if (from <= v || v == 0)
        return GCD_OK;
    w->list_edges++;
    return w->entries[v].list.end++ < UINT32_MAX ? GCD_OK : gcd_fail(err, GCD_E_LIMIT, "more than 2^32 references lead to one object");
}

static gcd_status count_edges(struct work *w, uint32_t i, struct gcd_error *err)
{
    struct inner *x = &w->inner;
    uint32_t from = x->nodes[i].number;
    if (x->count - i > AHEAD)
        __builtin_prefetch(&x->nodes[x->nodes[i + AHEAD].edge]);
    GCD_TRY(count_edge(w, from, &x->nodes[i].edge, err));
    for (uint64_t at = inner_start(x, i), end = inner_end(x, i); at < end; at++) {
        if (x->edge_count - at > AHEAD)
            __builtin_prefetch(&x->nodes[x->edges[at + AHEAD]]);
        GCD_TRY(count_edge(w, from, &x->edges[at], err));
    }
    return GCD_OK;
}

/* By node again: numbers and order; and how many edges come from higher numbers. */
static gcd_status count_lists(struct work *w, struct gcd_error *err)
{
    uint32_t i = 0;
    for (uint32_t v = 0; v <= w->reached; v++)
        w->entries[v].list.end = 0;
    for (uint32_t node = 0; node < w->d->node_count; node++) {
        w->number[node] = GCD_NODE_NONE;
        if (!inner_is(&w->inner, node) || w->inner.nodes[++i].number == 0)
            continue;
        w->number[node] = w->inner.nodes[i].number;
        w->order[w->number[node]] = node;
        GCD_TRY(count_edges(w, i, err));
    }
    return GCD_OK;
}

/* From counts to starts. */
static gcd_status place_lists(struct work *w, struct gcd_error *err)
{
    uint64_t start = 0;
    w->above[0] = 0;
    for (uint32_t v = 0; v <= w->reached; v++) {
        if (v % INNER_BLOCK == 0)
            w->block[v >> INNER_BLOCK_SHIFT] = start;
        uint32_t count = w->entries[v].list.end;
        uint64_t rel = start - w->block[v >> INNER_BLOCK_SHIFT];
        if (rel + count > UINT32_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "%u neighbouring objects have more than 2^32 references", (unsigned)INNER_BLOCK);
        w->entries[v].list = (struct list){ .end = (uint32_t)rel, .semi = w->above[v] };
        start += count;
    }
    return GCD_OK;
}

/* Edges from lower numbers are done with at once. */
static void fill_edge(struct work *w, uint32_t from, uint32_t v)
{
    struct list *l = &w->entries[v].list;
    if (from < l->semi)
        l->semi = from;
    else if (from > v && v != 0)
        w->lists[w->block[v >> INNER_BLOCK_SHIFT] + l->end++] = from;
}

static gcd_status fill_lists(struct work *w, struct gcd_error *err)
{
    const struct inner *x = &w->inner;
    for (uint32_t i = 1; i <= x->count; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(check(w, (uint64_t)w->d->node_count + i, err));
        if (x->nodes[i].number == 0)
            continue;
        if (x->count - i > AHEAD)
            __builtin_prefetch(&w->entries[x->nodes[i + AHEAD].edge], 1);
        fill_edge(w, x->nodes[i].number, x->nodes[i].edge);
        for (uint64_t at = inner_start(x, i), end = inner_end(x, i); at < end; at++) {
            if (x->edge_count - at > AHEAD)
                __builtin_prefetch(&w->entries[x->edges[at + AHEAD]], 1);
            fill_edge(w, x->nodes[i].number, x->edges[at]);
        }
    }
    for (size_t i = 0; i < flow_root_count(&w->flow); i++)
        w->entries[x->nodes[inner_root(w, i)].number].list.semi = 0;
    return GCD_OK;
}

/* ---- the forest: nodes from LINKED on are in it ---- */

/*
 * The least semidominator on the way from V up to, but not including, the root of its tree.  The way is compressed: up with all links
 * turned round, down with links to the root.
 */
static uint32_t least_above(union cell *cells, uint32_t v, uint32_t linked)
{
    if (cells[v].link.ancestor < linked)
        return cells[v].link.least;
    uint32_t below = 0;
    while (cells[v].link.ancestor >= linked) {
        uint32_t up = cells[v].link.ancestor;
        cells[v].link.ancestor = below;
        below = v;
        v = up;
    }
    struct link top = cells[v].link;     /* the root, and what is least so far */
    while (below != 0) {
        struct link *l = &cells[below].link;
        below = l->ancestor;
        if (l->least < top.least)
            top.least = l->least;
        *l = top;
    }
    return top.least;
}

static gcd_status find_semidominators(struct work *w, struct gcd_error *err)
{
    uint64_t end = w->list_edges;        /* of V's list: they lie one behind the other */
    for (uint32_t v = w->reached; v > 0; v--) {
        if (v % CHECK_EVERY == 0)
            GCD_TRY(check(w, 2 * (uint64_t)w->d->node_count + (w->reached - v), err));
        uint32_t semi = w->entries[v].list.semi;
        uint64_t start = w->block[(v - 1) >> INNER_BLOCK_SHIFT] + w->entries[v - 1].list.end;    /* where the list before it ends */
        while (end > start) {
            if (end > AHEAD) {
                __builtin_prefetch(&w->cells[w->lists[end - AHEAD]], 1);
                uint32_t x = w->lists[end - AHEAD / 2];
                if (x > v)
                    __builtin_prefetch(&w->cells[w->cells[x].link.ancestor], 1);
            }
            uint32_t least = least_above(w->cells, w->lists[--end], v + 1);
            if (least < semi)
                semi = least;
        }
        w->entries[v].list.semi = semi;
        w->cells[v].link = (struct link){ .ancestor = w->above[v], .least = semi };
    }
    return GCD_OK;
}

/* ---- the dominator tree ---- */

/* The first of V and its ancestors that is not above the number LIMIT. */
static uint32_t climb(const union entry *tree, uint32_t v, uint32_t limit)
{
    while (v > limit)
        v = tree[v].branch.jump > limit ? tree[v].branch.jump : tree[v].branch.parent;
    return v;
}

/* The nearest common ancestor.  Few turns: dominators of nodes on one path of the depth-first tree do not alternate. */
static uint32_t common(const union entry *tree, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = climb(tree, a, b);
        else
            b = climb(tree, b, a);
    }
    return a;
}

/* Two jumps of the same length become one of a child (Myers, "An applicative random-access stack", 1983). */
static void grow_tree(struct work *w)
{
    union entry *tree = w->entries;
    uint32_t *depth = w->above;
    tree[0].branch = (struct branch){ .parent = 0 };
    depth[0] = 0;
    for (uint32_t v = 1; v <= w->reached; v++) {
        uint32_t parent = climb(tree, w->above[v], tree[v].list.semi);
        uint32_t near = tree[parent].branch.jump, far = tree[near].branch.jump;
        bool same = depth[parent] - depth[near] == depth[near] - depth[far];
        tree[v].branch = (struct branch){ .parent = parent, .jump = same ? far : parent };
        depth[v] = depth[parent] + 1;
    }
}

/* ---- leaves ---- */

/* References to leaves, which wait for memory together. */
struct leaves {
    struct leaf_edge {
        uint32_t leaf, from;
    } edges[LEAVES];
    size_t count;
};

static void place_waiting(struct work *w, struct leaves *l)
{
    for (size_t i = 0; i < l->count; i++)
        __builtin_prefetch(&w->number[l->edges[i].leaf], 1);
    for (size_t i = 0; i < l->count; i++) {
        uint32_t parent = w->number[l->edges[i].leaf];
        __builtin_prefetch(&w->entries[parent != GCD_NODE_NONE ? parent : 0]);
    }
    for (size_t i = 0; i < l->count; i++) {
        uint32_t *parent = &w->number[l->edges[i].leaf], from = l->edges[i].from;
        if (*parent == GCD_NODE_NONE)
            *parent = from;
        else if (*parent != 0)
            *parent = common(w->entries, *parent, from);
    }
    l->count = 0;
}

/* When TO is a leaf: without a branch, which would be as hard to foretell as the graph is. */
static void place_later(struct work *w, struct leaves *l, uint32_t to, uint32_t from)
{
    l->edges[l->count] = (struct leaf_edge){ .leaf = to, .from = from };
    l->count += !inner_is(&w->inner, to);
    if (l->count == LEAVES)
        place_waiting(w, l);
}

static gcd_status place_leaves(struct work *w, struct gcd_error *err)
{
    struct leaves leaves = { .count = 0 };
    for (size_t i = 0; i < flow_root_count(&w->flow); i++) {
        uint32_t node = flow_root(&w->flow, i);
        if (node != GCD_NODE_NONE && !inner_is(&w->inner, node))
            w->number[node] = 0;
    }
    for (uint32_t node = 0; node < w->d->node_count; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(check(w, 3 * (uint64_t)w->d->node_count + node, err));
        if (!inner_is(&w->inner, node) || w->number[node] == GCD_NODE_NONE)
            continue;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->flow.g, node, &n);
        for (size_t i = 0; i < n; i++)
            place_later(w, &leaves, edges[i], w->number[node]);
        uint32_t to;
        for (uint64_t i = n; (to = flow_at(&w->flow, node, i)) != GCD_NODE_NONE; i++)
            place_later(w, &leaves, to, w->number[node]);
    }
    place_waiting(w, &leaves);
    return GCD_OK;
}

/* ---- the result by node ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint32_t node_of(const struct work *w, uint32_t v)
{
    return v == 0 ? GCD_NODE_ROOT : w->order[v];
}

/* In the order of the heap: leaves are then ready, inner nodes have their own sizes and those of their leaves. */
static void finish_leaves(struct work *w)
{
    struct gcd_dominators *d = w->d;
    for (uint32_t v = 0; v <= w->reached; v++)
        w->cells[v].retained = 0;
    d->reachable = w->reached;
    for (uint32_t node = 0; node < d->node_count; node++) {
        uint32_t v = w->number[node];
        d->retained[node] = 0;
        if (v == GCD_NODE_NONE)
            continue;
        uint64_t size = gcd_graph_node_size(w->flow.g, node);
        w->cells[v].retained = add(w->cells[v].retained, size);
        if (inner_is(&w->inner, node))
            continue;
        d->retained[node] = size;
        d->parent[node] = node_of(w, v);
        d->order[++d->reachable] = node;
    }
}

static void finish_inner(struct work *w)
{
    struct gcd_dominators *d = w->d;
    for (uint32_t v = w->reached; v > 0; v--) {
        if (v > AHEAD) {
            __builtin_prefetch(&d->retained[w->order[v - AHEAD]], 1);
            __builtin_prefetch(&d->parent[w->order[v - AHEAD]], 1);
        }
        uint32_t node = w->order[v], parent = w->entries[v].branch.parent;
        d->retained[node] = w->cells[v].retained;
        d->parent[node] = node_of(w, parent);
        w->cells[parent].retained = add(w->cells[parent].retained, w->cells[v].retained);
    }
    d->all = w->cells[0].retained;
}

/* ---- the whole ---- */

static void free_lists(struct work *w)
{
    gcd_mem_free(&w->d->alloc, w->lists, (size_t)w->list_edges * sizeof *w->lists);
    w->lists = NULL;
}

static gcd_status build_tree(struct work *w, struct gcd_error *err)
{
    const struct gcd_alloc *a = &w->d->alloc;
    GCD_TRY(inner_init(&w->inner, &w->flow, a, err));
    w->room = (size_t)w->inner.count + 1;
    w->blocks = (w->room >> INNER_BLOCK_SHIFT) + 1;
    w->above = gcd_mem_new_uncleared(a, w->room, sizeof *w->above);
    w->entries = gcd_mem_new_uncleared(a, w->room, sizeof *w->entries);
    w->block = gcd_mem_new_uncleared(a, w->blocks, sizeof *w->block);
    if (w->above == NULL || w->entries == NULL || w->block == NULL)
        return no_memory(err);
    GCD_TRY(search(w, err));
    GCD_TRY(count_lists(w, err));
    w->lists = gcd_mem_new_uncleared(a, (size_t)w->list_edges, sizeof *w->lists);
    if (w->lists == NULL)
        return no_memory(err);
    GCD_TRY(place_lists(w, err));
    GCD_TRY(fill_lists(w, err));
    w->cells = inner_take_nodes(&w->inner);
    GCD_TRY(find_semidominators(w, err));
    free_lists(w);
    grow_tree(w);
    gcd_mem_free(a, w->above, w->room * sizeof *w->above);
    w->above = NULL;
    return GCD_OK;
}

static gcd_status run(struct work *w, struct gcd_error *err)
{
    struct gcd_dominators *d = w->d;
    w->number = d->parent = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->parent);
    w->order = d->order = gcd_mem_new_uncleared(&d->alloc, (size_t)d->node_count + 1, sizeof *d->order);
    if (d->parent == NULL || d->order == NULL || !flow_init(&w->flow, w->flow.g, &d->alloc))
        return no_memory(err);
    d->stand_ins = (uint32_t)w->flow.stand_in_count;
    GCD_TRY(build_tree(w, err));
    GCD_TRY(place_leaves(w, err));
    d->retained = gcd_mem_new_uncleared(&d->alloc, d->node_count, sizeof *d->retained);
    if (d->retained == NULL)
        return no_memory(err);
    finish_leaves(w);
    finish_inner(w);
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
        return no_memory(err);
    w.d->alloc = a;
    w.d->node_count = gcd_graph_node_count(g);
    w.steps_total = 4 * (uint64_t)w.d->node_count;
    gcd_status st = run(&w, err);
    free_lists(&w);
    gcd_mem_free(&a, w.above, w.room * sizeof *w.above);
    gcd_mem_free(&a, w.entries, w.room * sizeof *w.entries);
    gcd_mem_free(&a, w.cells, w.room * sizeof *w.cells);
    gcd_mem_free(&a, w.block, w.blocks * sizeof *w.block);
    inner_done(&w.inner);
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
