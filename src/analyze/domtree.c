#include "analyze/domtree.h"

#include "base/error.h"
#include "base/mem.h"

gcd_status domtree_check(const struct domtree *t, uint64_t steps, struct gcd_error *err)
{
    const struct gcd_dominators_options *o = t->options;
    if (o->progress != NULL)
        o->progress(o->progress_ctx, steps, t->steps_total);
    if (o->cancel != NULL && atomic_load_explicit(o->cancel, memory_order_relaxed))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    return GCD_OK;
}

/* ---- depth-first search ---- */

/* Visit inner node I below the number PARENT. */
static uint32_t visit(struct domtree *t, uint32_t i, uint32_t parent)
{
    uint32_t v = ++t->reached;
    t->inner.nodes[i].number = v;
    t->order[v] = i;
    t->above[v] = parent;
    return v;
}

/* All that is reachable from inner node I; the way back is in the tree itself. */
static gcd_status search_from(struct domtree *t, uint32_t i, struct gcd_error *err)
{
    const struct inner *x = &t->inner;
    uint32_t v = visit(t, i, 0), to = x->nodes[i].edge;
    uint64_t at = inner_start(x, i), end = inner_end(x, i);
    for (;;) {
        if (to != 0 && x->nodes[to].number == 0) {
            t->entries[v].list.semi = (uint32_t)(at - inner_block(x, i));
            if (at < end)                    /* the one that comes behind TO */
                __builtin_prefetch(&x->edges[inner_start(x, x->edges[at])]);
            v = visit(t, to, v);
            i = to;
            to = x->nodes[i].edge;
            __builtin_prefetch(&x->nodes[to], 1);
            at = inner_start(x, i);
            end = inner_end(x, i);
            for (uint64_t next = at; next < end && next < at + DOMTREE_AHEAD; next++)
                __builtin_prefetch(&x->nodes[x->edges[next]], 1);
            if (v % DOMTREE_CHECK == 0)
                GCD_TRY(domtree_check(t, v, err));
        } else if (at < end) {
            to = x->edges[at++];
        } else {
            v = t->above[v];
            if (v == 0)
                return GCD_OK;
            i = t->order[v];
            to = 0;
            at = inner_block(x, i) + t->entries[v].list.semi;
            end = inner_end(x, i);
        }
    }
}

/* The inner node that root I keeps alive, or 0. */
static uint32_t inner_root(const struct domtree *t, size_t i)
{
    uint32_t node = flow_root(&t->flow, i);
    return node != GCD_NODE_NONE ? inner_of(&t->inner, node) : 0;
}

static gcd_status search(struct domtree *t, struct gcd_error *err)
{
    for (size_t i = 0; i < flow_root_count(&t->flow); i++) {
        uint32_t inner = inner_root(t, i);
        if (inner != 0 && t->inner.nodes[inner].number == 0)
            GCD_TRY(search_from(t, inner, err));
    }
    return GCD_OK;
}

/* ---- edges into a node ---- */

/* From now on EDGE leads to a number. */
static gcd_status count_edge(struct domtree *t, uint32_t from, uint32_t *edge, struct gcd_error *err)
{
    uint32_t v = t->inner.nodes[*edge].number;
    *edge = v;
    if (from <= v || v == 0)
        return GCD_OK;
    t->list_edges++;
    return t->entries[v].list.end++ < UINT32_MAX ? GCD_OK : gcd_fail(err, GCD_E_LIMIT, "more than 2^32 references lead to one object");
}

static gcd_status count_edges(struct domtree *t, uint32_t i, struct gcd_error *err)
{
    struct inner *x = &t->inner;
    uint32_t from = x->nodes[i].number;
    if (x->count - i > DOMTREE_AHEAD)
        __builtin_prefetch(&x->nodes[x->nodes[i + DOMTREE_AHEAD].edge]);
    GCD_TRY(count_edge(t, from, &x->nodes[i].edge, err));
    for (uint64_t at = inner_start(x, i), end = inner_end(x, i); at < end; at++) {
        if (x->edge_count - at > DOMTREE_AHEAD)
            __builtin_prefetch(&x->nodes[x->edges[at + DOMTREE_AHEAD]]);
        GCD_TRY(count_edge(t, from, &x->edges[at], err));
    }
    return GCD_OK;
}

/* By node again: numbers and order; and how many edges come from higher numbers. */
static gcd_status count_lists(struct domtree *t, struct gcd_error *err)
{
    uint32_t i = 0;
    for (uint32_t v = 0; v <= t->reached; v++)
        t->entries[v].list.end = 0;
    for (uint32_t node = 0; node < t->node_count; node++) {
        if (node % DOMTREE_CHECK == 0)
            GCD_TRY(domtree_check(t, t->node_count, err));
        t->number[node] = GCD_NODE_NONE;
        if (!inner_is(&t->inner, node) || t->inner.nodes[++i].number == 0)
            continue;
        t->number[node] = t->inner.nodes[i].number;
        t->order[t->number[node]] = node;
        GCD_TRY(count_edges(t, i, err));
    }
    return GCD_OK;
}

/* From counts to starts. */
static gcd_status place_lists(struct domtree *t, struct gcd_error *err)
{
    uint64_t start = 0;
    t->above[0] = 0;
    for (uint32_t v = 0; v <= t->reached; v++) {
        if (v % INNER_BLOCK == 0)
            t->block[v >> INNER_BLOCK_SHIFT] = start;
        uint32_t count = t->entries[v].list.end;
        uint64_t rel = start - t->block[v >> INNER_BLOCK_SHIFT];
        if (rel + count > UINT32_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "%u neighbouring objects have more than 2^32 references", (unsigned)INNER_BLOCK);
        t->entries[v].list = (struct domtree_list){ .end = (uint32_t)rel, .semi = t->above[v] };
        start += count;
    }
    return GCD_OK;
}

/* Edges from lower numbers are done with at once. */
static void fill_edge(struct domtree *t, uint32_t from, uint32_t v)
{
    struct domtree_list *l = &t->entries[v].list;
    if (from < l->semi)
        l->semi = from;
    else if (from > v && v != 0)
        t->lists[t->block[v >> INNER_BLOCK_SHIFT] + l->end++] = from;
}

static gcd_status fill_lists(struct domtree *t, struct gcd_error *err)
{
    const struct inner *x = &t->inner;
    for (uint32_t i = 1; i <= x->count; i++) {
        if (i % DOMTREE_CHECK == 0)
            GCD_TRY(domtree_check(t, (uint64_t)t->node_count + i, err));
        if (x->nodes[i].number == 0)
            continue;
        if (x->count - i > DOMTREE_AHEAD)
            __builtin_prefetch(&t->entries[x->nodes[i + DOMTREE_AHEAD].edge], 1);
        fill_edge(t, x->nodes[i].number, x->nodes[i].edge);
        for (uint64_t at = inner_start(x, i), end = inner_end(x, i); at < end; at++) {
            if (x->edge_count - at > DOMTREE_AHEAD)
                __builtin_prefetch(&t->entries[x->edges[at + DOMTREE_AHEAD]], 1);
            fill_edge(t, x->nodes[i].number, x->edges[at]);
        }
    }
    for (size_t i = 0; i < flow_root_count(&t->flow); i++)
        t->entries[x->nodes[inner_root(t, i)].number].list.semi = 0;
    return GCD_OK;
}

/* ---- the forest: nodes from LINKED on are in it ---- */

/*
 * The least semidominator on the way from V up to, but not including, the root of its tree.  The way is compressed: up with all links
 * turned round, down with links to the root.
 */
static uint32_t least_above(union domtree_cell *cells, uint32_t v, uint32_t linked)
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
    struct domtree_link top = cells[v].link;     /* the root, and what is least so far */
    while (below != 0) {
        struct domtree_link *l = &cells[below].link;
        below = l->ancestor;
        if (l->least < top.least)
            top.least = l->least;
        *l = top;
    }
    return top.least;
}

static gcd_status find_semidominators(struct domtree *t, struct gcd_error *err)
{
    uint64_t end = t->list_edges;        /* of V's list: they lie one behind the other */
    for (uint32_t v = t->reached; v > 0; v--) {
        if (v % DOMTREE_CHECK == 0)
            GCD_TRY(domtree_check(t, 2 * (uint64_t)t->node_count + (t->reached - v), err));
        uint32_t semi = t->entries[v].list.semi;
        uint64_t start = t->block[(v - 1) >> INNER_BLOCK_SHIFT] + t->entries[v - 1].list.end;    /* where the list before it ends */
        while (end > start) {
            if (end > DOMTREE_AHEAD) {
                __builtin_prefetch(&t->cells[t->lists[end - DOMTREE_AHEAD]], 1);
                uint32_t x = t->lists[end - DOMTREE_AHEAD / 2];
                if (x > v)
                    __builtin_prefetch(&t->cells[t->cells[x].link.ancestor], 1);
            }
            uint32_t least = least_above(t->cells, t->lists[--end], v + 1);
            if (least < semi)
                semi = least;
        }
        t->entries[v].list.semi = semi;
        t->cells[v].link = (struct domtree_link){ .ancestor = t->above[v], .least = semi };
    }
    return GCD_OK;
}

/* ---- the dominator tree ---- */

/* Two jumps of the same length become one of a child (Myers, "An applicative random-access stack", 1983). */
static void grow_tree(struct domtree *t)
{
    union domtree_entry *tree = t->entries;
    uint32_t *depth = t->above;
    tree[0].branch = (struct domtree_branch){ .parent = 0 };
    depth[0] = 0;
    for (uint32_t v = 1; v <= t->reached; v++) {
        uint32_t parent = domtree_climb(tree, t->above[v], tree[v].list.semi);
        uint32_t near = tree[parent].branch.jump, far = tree[near].branch.jump;
        bool same = depth[parent] - depth[near] == depth[near] - depth[far];
        tree[v].branch = (struct domtree_branch){ .parent = parent, .jump = same ? far : parent };
        depth[v] = depth[parent] + 1;
    }
}

/* ---- the whole ---- */

static void free_lists(struct domtree *t)
{
    gcd_mem_free(&t->alloc, t->lists, (size_t)t->list_edges * sizeof *t->lists);
    t->lists = NULL;
}

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "finding dominators");
}

gcd_status domtree_build(struct domtree *t, const struct gcd_graph *g, struct gcd_error *err)
{
    const struct gcd_alloc *a = &t->alloc;
    if (!flow_init(&t->flow, g, a))
        return no_memory(err);
    GCD_TRY(inner_init(&t->inner, &t->flow, a, err));
    t->room = (size_t)t->inner.count + 1;
    t->blocks = (t->room >> INNER_BLOCK_SHIFT) + 1;
    t->above = gcd_mem_new_uncleared(a, t->room, sizeof *t->above);
    t->entries = gcd_mem_new_uncleared(a, t->room, sizeof *t->entries);
    t->block = gcd_mem_new_uncleared(a, t->blocks, sizeof *t->block);
    if (t->above == NULL || t->entries == NULL || t->block == NULL)
        return no_memory(err);
    GCD_TRY(search(t, err));
    GCD_TRY(count_lists(t, err));
    t->lists = gcd_mem_new_uncleared(a, (size_t)t->list_edges, sizeof *t->lists);
    if (t->lists == NULL)
        return no_memory(err);
    GCD_TRY(place_lists(t, err));
    GCD_TRY(fill_lists(t, err));
    t->cells = inner_take_nodes(&t->inner);
    GCD_TRY(find_semidominators(t, err));
    free_lists(t);
    grow_tree(t);
    gcd_mem_free(a, t->above, t->room * sizeof *t->above);
    t->above = NULL;
    return GCD_OK;
}

void domtree_done(struct domtree *t)
{
    const struct gcd_alloc *a = &t->alloc;
    free_lists(t);
    gcd_mem_free(a, t->above, t->room * sizeof *t->above);
    gcd_mem_free(a, t->entries, t->room * sizeof *t->entries);
    gcd_mem_free(a, t->cells, t->room * sizeof *t->cells);
    gcd_mem_free(a, t->block, t->blocks * sizeof *t->block);
    inner_done(&t->inner);
    flow_done(&t->flow);
}
