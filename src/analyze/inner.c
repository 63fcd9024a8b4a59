#include "analyze/inner.h"

#include "base/error.h"
#include "base/mem.h"

static bool is_key(const struct flow *f, uint32_t node)
{
    return f->is_key != NULL && (f->is_key[node >> 6] >> (node & 63) & 1) != 0;
}

static void find_inner(struct inner *x, const struct flow *f)
{
    uint32_t n = gcd_graph_node_count(f->g);
    for (uint32_t node = 0; node < n; node++) {
        struct inner_word *w = &x->words[node >> 5];
        if (node % 32 == 0)
            *w = (struct inner_word){ .before = x->count };
        size_t edges;
        (void)gcd_graph_node_edges(f->g, node, &edges);
        uint32_t inner = edges > 0 || is_key(f, node);
        w->bits |= inner << (node & 31);
        x->count += inner;
    }
}

/* Those edges of NODE that lead to inner nodes, to TO; where they end.  Without a branch, which would be hard to foretell. */
static uint32_t *copy_node(const struct inner *x, const struct flow *f, uint32_t node, uint32_t *to)
{
    size_t count;
    const uint32_t *edges = gcd_graph_node_edges(f->g, node, &count);
    for (size_t i = 0; i < count; i++) {
        *to = inner_of(x, edges[i]);
        to += *to != 0;
    }
    uint32_t value;
    for (uint64_t i = count; (value = flow_at(f, node, i)) != GCD_NODE_NONE; i++) {
        *to = inner_of(x, value);
        to += *to != 0;
    }
    return to;
}

static gcd_status copy_edges(struct inner *x, const struct flow *f, struct gcd_error *err)
{
    uint32_t n = gcd_graph_node_count(f->g), inner = 0;
    uint32_t *to = x->edges;
    x->block[0] = 0;
    x->end[0] = 0;
    x->nodes[0] = (struct inner_node){ .edge = 0 };
    for (uint32_t node = 0; node < n; node++) {
        if (!inner_is(x, node))
            continue;
        if (++inner % INNER_BLOCK == 0)
            x->block[inner >> INNER_BLOCK_SHIFT] = (uint64_t)(to - x->edges);
        uint32_t *start = to;
        to = copy_node(x, f, node, to);
        x->nodes[inner] = (struct inner_node){ .edge = to > start ? *--to : 0 };
        uint64_t end = (uint64_t)(to - x->edges) - inner_block(x, inner);
        if (end > UINT32_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "%u neighbouring objects have more than 2^32 references", (unsigned)INNER_BLOCK);
        x->end[inner] = (uint32_t)end;
    }
    x->edge_count = (uint64_t)(to - x->edges);
    return GCD_OK;
}

gcd_status inner_init(struct inner *x, const struct flow *f, const struct gcd_alloc *alloc, struct gcd_error *err)
{
    *x = (struct inner){ .alloc = *alloc };
    x->word_count = (size_t)gcd_graph_node_count(f->g) / 32 + 1;
    x->words = gcd_mem_new_uncleared(alloc, x->word_count, sizeof *x->words);
    if (x->words == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    find_inner(x, f);
    x->block_count = ((size_t)x->count >> INNER_BLOCK_SHIFT) + 1;
    x->edge_room = (size_t)gcd_graph_edge_count(f->g) + gcd_graph_dependent_count(f->g) + 1;     /* one is written before it is dropped */
    x->nodes = gcd_mem_new_uncleared(alloc, (size_t)x->count + 1, sizeof *x->nodes);
    x->end = gcd_mem_new_uncleared(alloc, (size_t)x->count + 1, sizeof *x->end);
    x->block = gcd_mem_new_uncleared(alloc, x->block_count, sizeof *x->block);
    x->edges = gcd_mem_new_uncleared(alloc, x->edge_room, sizeof *x->edges);
    if (x->nodes == NULL || x->end == NULL || x->block == NULL || x->edges == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    return copy_edges(x, f, err);
}

void *inner_take_nodes(struct inner *x)
{
    void *nodes = x->nodes;
    gcd_mem_free(&x->alloc, x->end, ((size_t)x->count + 1) * sizeof *x->end);
    gcd_mem_free(&x->alloc, x->block, x->block_count * sizeof *x->block);
    gcd_mem_free(&x->alloc, x->edges, x->edge_room * sizeof *x->edges);
    x->nodes = NULL;
    x->end = NULL;
    x->block = NULL;
    x->edges = NULL;
    return nodes;
}

void inner_done(struct inner *x)
{
    gcd_mem_free(&x->alloc, inner_take_nodes(x), ((size_t)x->count + 1) * sizeof *x->nodes);
    gcd_mem_free(&x->alloc, x->words, x->word_count * sizeof *x->words);
}
