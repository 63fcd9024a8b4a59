#include "analyze/dominators/domtree.h"

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

/* Reports progress.  GCD_E_CANCELED. */
static gcd_status check(const struct domtree *t, uint64_t steps, struct gcd_error *err)
{
    return gcd_context_step(t->context, steps, t->steps_total, err);
}

/* ---- depth-first search ---- */

/* Visits inner node I as a child of number PARENT; returns its number. */
static uint32_t visit(struct domtree *t, uint32_t i, uint32_t parent)
{
    uint32_t v = ++t->reached;
    t->inner.nodes[i].number = v;
    t->entries[v].inner = i;
    t->above[v] = parent;
    return v;
}

/* Prefetches what the visit of inner node I needs: the nodes its edges point to. */
static void fetch_edges(const struct inner_nodes *x, uint32_t i)
{
    const struct inner_node *n = &x->nodes[i];
    const uint32_t *edges = &x->edges[inner_block(x, i)];
    __builtin_prefetch(&x->nodes[n->edge], 1);
    for (uint32_t at = n->next; at < n->end && at - n->next < DOMTREE_AHEAD; at++)
        __builtin_prefetch(&x->nodes[edges[at]], 1);
}

/* Prefetches the edges of inner node I, which is visited later. */
static void fetch_later(const struct inner_nodes *x, uint32_t i)
{
    __builtin_prefetch(&x->edges[inner_block(x, i) + x->nodes[i].next], 1);
}

/* Visits everything reachable from inner node I.  The tree itself is the stack.  Visited nodes'
 * edges become preorder numbers. */
static gcd_status search_from(struct domtree *t, uint32_t i, struct gcd_error *err)
{
    const struct inner_nodes *x = &t->inner;
    uint32_t v = visit(t, i, 0), *edge = &x->nodes[i].edge;
    uint32_t *edges = &x->edges[inner_block(x, i)];
    fetch_edges(x, i);
    for (;;) {
        struct inner_node *n = &x->nodes[i], *to = &x->nodes[*edge];
        if (*edge != 0 && to->number == 0) {
            if (n->next < n->end)
                fetch_later(x, edges[n->next]);
            i = *edge;
            v = *edge = visit(t, i, v);
            edge = &to->edge;
            edges = &x->edges[inner_block(x, i)];
            fetch_edges(x, i);
            if (v % DOMTREE_CHECK == 0)
                GCD_TRY(check(t, v, err));
            continue;
        }
        *edge = to->number;
        while (n->next == n->end) {
            v = t->above[v];
            if (v == 0)
                return GCD_OK;
            i = t->entries[v].inner;
            n = &x->nodes[i];
            edges = &x->edges[inner_block(x, i)];
        }
        edge = &edges[n->next++];
    }
}

/* The inner node that root I keeps alive; 0 = none. */
static uint32_t inner_root(const struct domtree *t, size_t i)
{
    uint32_t node = live_edges_root(&t->live, i);
    return node != GCD_NODE_NONE ? inner_of(&t->inner, node) : 0;
}

static gcd_status search_roots(struct domtree *t, bool late, struct gcd_error *err)
{
    for (size_t i = 0; i < live_edges_root_count(&t->live); i++) {
        uint32_t inner = inner_root(t, i);
        if (inner != 0 && t->inner.nodes[inner].number == 0 && domtree_is_late(t, i) == late)
            GCD_TRY(search_from(t, inner, err));
    }
    return GCD_OK;
}

/* Whoever leads to the object of another local variable comes first, and alone. */
static bool cover_roots(struct domtree *t)
{
    size_t words = ((size_t)t->node_count + 63) / 64;
    uint64_t *reached = gcd_mem_new_array(&t->alloc, words, sizeof *reached);
    uint32_t inner = 0;
    for (uint32_t node = 0; node < t->node_count && reached != NULL; node++)
        if (inner_is(&t->inner, node) && t->inner.nodes[++inner].number != 0)
            bits_set(reached, node);
    bool ok = reached != NULL && live_edges_cover(&t->live, reached);
    gcd_mem_free(&t->alloc, reached, words * sizeof *reached);
    return ok;
}

static gcd_status search(struct domtree *t, struct gcd_error *err)
{
    GCD_TRY(search_roots(t, false, err));
    t->early = t->reached;
    if (live_edges_may_cover(&t->live) && !cover_roots(t))
        return gcd_fail_nomem(err, "finding dominators");
    return search_roots(t, true, err);
}

/* ---- loops on several threads ---- */

bool domtree_part(const struct domtree *t, uint32_t count, uint32_t part, uint32_t *ret_first,
                  uint32_t *ret_end)
{
    parts_range(count, part, parts_count(count), ret_first, ret_end);
    return !gcd_is_canceled(t->context->cancel);
}

gcd_status domtree_loop(const struct domtree *t, uint32_t count, gcd_part_fn work, void *ctx,
                        uint64_t steps, struct gcd_error *err)
{
    gcd_parallel(t->context->threads, parts_count(count), work, ctx);
    return check(t, steps, err);
}

/* ---- edges into a node ---- */

struct lists {
    struct domtree *t;
    uint64_t edges[PARTS_MAX]; /* number of edges from higher numbers, by part */
    bool too_many[PARTS_MAX];  /* one node has 2^32 of them */
};

/* Where the further edges of inner node I begin: where its predecessor's end.  The search has
 * advanced NEXT. */
static uint64_t edges_start(const struct inner_nodes *x, uint32_t i)
{
    return inner_block(x, i) + (i % INNER_BLOCK == 0 ? 0 : x->nodes[i - 1].end);
}

/* each_edge calls it for each edge of the reached inner nodes of a part.  FROM and V are numbers; V
 * is 0 if there is no edge. */
typedef void (*edge_fn)(struct lists *l, uint32_t part, uint32_t from, uint32_t v);

static inline void each_edge(struct lists *l, uint32_t part, edge_fn edge)
{
    struct domtree *t = l->t;
    const struct inner_nodes *x = &t->inner;
    uint32_t i, end;
    if (!domtree_part(t, x->count, part, &i, &end) || i == end)
        return;
    uint64_t at = edges_start(x, i + 1), last = inner_end(x, end);
    for (i++; i <= end; i++) {
        uint32_t from = x->nodes[i].number;
        uint64_t stop = inner_end(x, i);
        if (from == 0) {
            at = stop;
            continue;
        }
        if (end - i > DOMTREE_AHEAD)
            __builtin_prefetch(&t->entries[x->nodes[i + DOMTREE_AHEAD].edge], 1);
        edge(l, part, from, x->nodes[i].edge);
        for (; at < stop; at++) {
            if (last - at > DOMTREE_AHEAD)
                __builtin_prefetch(&t->entries[x->edges[at + DOMTREE_AHEAD]], 1);
            edge(l, part, from, x->edges[at]);
        }
    }
}

/* Is FROM reached only by roots of late groups, and V not? */
static inline bool is_idle(const struct domtree *t, uint32_t from, uint32_t v)
{
    return v <= t->early && from > t->early;
}

static void count_edge(struct lists *l, uint32_t part, uint32_t from, uint32_t v)
{
    if (from <= v || v == 0 || is_idle(l->t, from, v))
        return;
    l->edges[part]++;
    l->too_many[part] |=
        __atomic_fetch_add(&l->t->entries[v].list.end, 1, __ATOMIC_RELAXED) == UINT32_MAX;
}

static void count_part(void *ctx, uint32_t part)
{
    each_edge(ctx, part, count_edge);
}

/* Counts the edges from higher numbers. */
static gcd_status count_lists(struct lists *l, struct gcd_error *err)
{
    struct domtree *t = l->t;
    memset(t->entries, 0, ((size_t)t->reached + 1) * sizeof *t->entries);
    GCD_TRY(domtree_loop(t, t->inner.count, count_part, l, t->node_count, err));
    for (uint32_t part = 0; part < PARTS_MAX; part++) {
        t->list_edges += l->edges[part];
        if (l->too_many[part])
            return gcd_fail(err, GCD_E_LIMIT, "more than 2^32 references lead to one object");
    }
    return GCD_OK;
}

/* Turns counts into starts.  A node's first known semidominator is its parent. */
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
            return gcd_fail(err, GCD_E_LIMIT,
                            "%u neighbouring objects have more than 2^32 references",
                            (unsigned)INNER_BLOCK);
        t->entries[v].list = (struct domtree_list){ .end = (uint32_t)rel, .semi = t->above[v] };
        start += count;
    }
    return GCD_OK;
}

/* An edge from a lower number updates the semidominator at once.  The order within a list depends
 * on the threads and does not matter. */
static void fill_edge(struct lists *l, uint32_t part, uint32_t from, uint32_t v)
{
    (void)part;
    struct domtree *t = l->t;
    struct domtree_list *list = &t->entries[v].list;
    if (from > v) {
        if (v != 0 && !is_idle(t, from, v))
            t->lists[t->block[v >> INNER_BLOCK_SHIFT] +
                     __atomic_fetch_add(&list->end, 1, __ATOMIC_RELAXED)] = from;
        return;
    }
    uint32_t semi = __atomic_load_n(&list->semi, __ATOMIC_RELAXED);
    while (from < semi && !__atomic_compare_exchange_n(&list->semi, &semi, from, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void fill_part(void *ctx, uint32_t part)
{
    each_edge(ctx, part, fill_edge);
}

static gcd_status make_lists(struct domtree *t, struct gcd_error *err)
{
    struct lists l = { .t = t };
    GCD_TRY(count_lists(&l, err));
    t->lists = gcd_mem_new_uncleared(&t->alloc, (size_t)t->list_edges, sizeof *t->lists);
    if (t->lists == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    GCD_TRY(place_lists(t, err));
    GCD_TRY(domtree_loop(t, t->inner.count, fill_part, &l, 2 * (uint64_t)t->node_count, err));
    for (size_t i = 0; i < live_edges_root_count(&t->live); i++) {
        uint32_t v = t->inner.nodes[inner_root(t, i)].number;
        if (v > t->early || !domtree_is_late(t, i))
            t->entries[v].list.semi = 0;
    }
    return GCD_OK;
}

/* Fills number and order, which are by graph node. */
static void number_nodes(void *ctx, uint32_t part)
{
    struct domtree *t = ctx;
    uint32_t node, end;
    if (!domtree_part(t, t->node_count, part, &node, &end) || node == end)
        return;
    for (uint32_t i = inner_before(&t->inner, node); node < end; node++) {
        uint32_t v = inner_is(&t->inner, node) ? t->inner.numbers[++i] : 0;
        t->number[node] = v != 0 ? v : GCD_NODE_NONE;
        if (v > t->early)
            bits_set(t->late, node);
        if (v != 0)
            t->order[v] = node;
    }
}

/* ---- the forest: nodes from LINKED on ---- */

/*
 * The least semidominator on the path from V up to, but not including, the root of its tree.
 * Compresses the path: on the way up it reverses the links, on the way down it points them to the
 * root.
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
    struct domtree_link top = cells[v].link; /* the root, and the least so far */
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
    uint64_t end = t->list_edges; /* end of V's list; lists are contiguous */
    for (uint32_t v = t->reached; v > 0; v--) {
        if (v % DOMTREE_CHECK == 0)
            GCD_TRY(check(t, 2 * (uint64_t)t->node_count + (t->reached - v), err));
        uint32_t semi = t->entries[v].list.semi;
        /* the end of the list before it */
        uint64_t start = t->block[(v - 1) >> INNER_BLOCK_SHIFT] + t->entries[v - 1].list.end;
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

/* If the parent's jump and the next one have the same length, the child's jump spans both (Myers,
 * "An applicative random-access stack", 1983). */
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
    if (!live_edges_init(&t->live, g, a))
        return no_memory(err);
    GCD_TRY(inner_init(&t->inner, &t->live, t->context->threads, a, err));
    t->room = (size_t)t->inner.count + 1;
    t->blocks = (t->room >> INNER_BLOCK_SHIFT) + 1;
    t->above = gcd_mem_new_uncleared(a, t->room, sizeof *t->above);
    t->entries = gcd_mem_new_uncleared(a, t->room, sizeof *t->entries);
    t->block = gcd_mem_new_uncleared(a, t->blocks, sizeof *t->block);
    if (t->above == NULL || t->entries == NULL || t->block == NULL)
        return no_memory(err);
    GCD_TRY(search(t, err));
    GCD_TRY(make_lists(t, err));
    if (!inner_keep_numbers(&t->inner))
        return no_memory(err);
    GCD_TRY(domtree_loop(t, t->node_count, number_nodes, t, 2 * (uint64_t)t->node_count, err));
    inner_drop_nodes(&t->inner);
    t->cells = gcd_mem_new_uncleared(a, t->room, sizeof *t->cells);
    if (t->cells == NULL)
        return no_memory(err);
    GCD_TRY(find_semidominators(t, err));
    free_lists(t);
    grow_tree(t);
    gcd_mem_free(a, t->above, t->room * sizeof *t->above);
    t->above = NULL;
    return GCD_OK;
}

void domtree_drop_entries(struct domtree *t)
{
    gcd_mem_free(&t->alloc, t->entries, t->room * sizeof *t->entries);
    t->entries = NULL;
}

void domtree_done(struct domtree *t)
{
    const struct gcd_alloc *a = &t->alloc;
    free_lists(t);
    domtree_drop_entries(t);
    gcd_mem_free(a, t->above, t->room * sizeof *t->above);
    gcd_mem_free(a, t->cells, t->room * sizeof *t->cells);
    gcd_mem_free(a, t->block, t->blocks * sizeof *t->block);
    inner_done(&t->inner);
    live_edges_done(&t->live);
}
