#include "analyze/dominators/inner_nodes.h"

#include "analyze/dominators/parts.h"
#include "base/error.h"
#include "base/mem.h"

/* Counts of one part of the nodes; later, where what it counted begins. */
struct part {
    uint32_t inner; /* inner nodes in the part; then those before it */
    bool too_many;  /* the edges of one block exceed 32 bits */
    uint64_t edges; /* further edges; then where they start */
};

/* Spare slots after each part, for edges that are written and then dropped: the one stored with its
 * node, and one to a leaf. */
#define SPILLED 2u

struct maker {
    struct inner_nodes *x;
    const struct live_edges *f;
    uint32_t nodes, parts;
    struct part part[PARTS_MAX];
};

static void find_inner(void *ctx, uint32_t part)
{
    struct maker *m = ctx;
    struct inner_nodes *x = m->x;
    uint32_t node, end, count = 0;
    parts_range(m->nodes, part, m->parts, &node, &end);
    for (; node < end; node++) {
        struct inner_word *w = &x->words[node >> 5];
        if (node % 32 == 0)
            *w = (struct inner_word){ .before = count };
        uint32_t inner = live_edges_any(m->f, node);
        w->bits |= inner << (node & 31);
        count += inner;
    }
    m->part[part].inner = count;
}

/* Turns the counts of parts into global numbers. */
static void number_parts(struct maker *m)
{
    struct inner_nodes *x = m->x;
    for (uint32_t part = 0; part < m->parts; part++) {
        uint32_t node, end, count = m->part[part].inner;
        parts_range(m->nodes, part, m->parts, &node, &end);
        for (; node < end; node += 32)
            x->words[node >> 5].before += x->count;
        m->part[part].inner = x->count;
        x->count += count;
    }
}

/* Counts the edges of NODE to inner nodes. */
static uint64_t count_node(const struct maker *m, uint32_t node)
{
    const struct live_edges *f = m->f;
    size_t n;
    uint64_t count = 0;
    const uint32_t *edges = live_edges_of(f, node, &n);
    for (size_t i = 0; i < n; i++)
        count += inner_is(m->x, edges[i]);
    uint32_t value;
    for (uint64_t i = 0; (value = live_edges_value(f, node, i)) != GCD_NODE_NONE; i++)
        count += inner_is(m->x, value);
    return count;
}

/* Counts the further edges of a part, and finds where its blocks begin within the part. */
static void count_edges(void *ctx, uint32_t part)
{
    struct maker *m = ctx;
    struct inner_nodes *x = m->x;
    uint32_t node, end, inner = m->part[part].inner;
    uint64_t further = 0;
    parts_range(m->nodes, part, m->parts, &node, &end);
    for (; node < end; node++) {
        if (!inner_is(x, node))
            continue;
        if (++inner % INNER_BLOCK == 0)
            x->block[inner >> INNER_BLOCK_SHIFT] = further;
        uint64_t count = count_node(m, node);
        further += count - (count > 0);
    }
    m->part[part].edges = further;
}

static void place_parts(struct maker *m)
{
    struct inner_nodes *x = m->x;
    size_t block = 1;
    x->block[0] = 0;
    for (uint32_t part = 0; part < m->parts; part++) {
        uint64_t count = m->part[part].edges;
        uint32_t last = part + 1 < m->parts ? m->part[part + 1].inner : x->count;
        for (; block <= last >> INNER_BLOCK_SHIFT; block++)
            x->block[block] += x->edge_count;
        m->part[part].edges = x->edge_count;
        x->edge_count += count + SPILLED;
    }
}

/* Writes NODE's edges to inner nodes into TO; returns their end.  Branch-free, because the branch
 * would be unpredictable. */
static uint32_t *copy_node(const struct maker *m, uint32_t node, uint32_t *to)
{
    const struct live_edges *f = m->f;
    size_t n;
    const uint32_t *edges = live_edges_of(f, node, &n);
    for (size_t i = 0; i < n; i++) {
        *to = inner_of(m->x, edges[i]);
        to += *to != 0;
    }
    uint32_t value;
    for (uint64_t i = 0; (value = live_edges_value(f, node, i)) != GCD_NODE_NONE; i++) {
        *to = inner_of(m->x, value);
        to += *to != 0;
    }
    return to;
}

static void copy_edges(void *ctx, uint32_t part)
{
    struct maker *m = ctx;
    struct inner_nodes *x = m->x;
    uint32_t node, end, inner = m->part[part].inner;
    uint32_t *to = x->edges + m->part[part].edges;
    parts_range(m->nodes, part, m->parts, &node, &end);
    for (; node < end; node++) {
        if (!inner_is(x, node))
            continue;
        uint64_t block = inner_block(x, ++inner);
        uint32_t *start = to;
        to = copy_node(m, node, to);
        uint32_t last = to > start ? *--to : 0;
        uint64_t stop = (uint64_t)(to - x->edges) - block;
        m->part[part].too_many |= stop > UINT32_MAX;
        x->nodes[inner] =
            (struct inner_node){ .edge = last,
                                 .next = (uint32_t)((uint64_t)(start - x->edges) - block),
                                 .end = (uint32_t)stop };
    }
    for (unsigned i = 0; i < SPILLED; i++)
        to[i] = 0;
}

gcd_status inner_init(struct inner_nodes *x, const struct live_edges *f, unsigned threads,
                      const struct gcd_alloc *alloc, struct gcd_error *err)
{
    struct maker m = { .x = x, .f = f, .nodes = gcd_graph_node_count(f->g) };
    m.parts = parts_count(m.nodes);
    *x = (struct inner_nodes){ .alloc = *alloc };
    x->word_count = (size_t)m.nodes / 32 + 1;
    x->words = gcd_mem_new_uncleared(alloc, x->word_count, sizeof *x->words);
    if (x->words == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    gcd_parallel(threads, m.parts, find_inner, &m);
    number_parts(&m);
    x->block_count = ((size_t)x->count >> INNER_BLOCK_SHIFT) + 1;
    x->nodes = gcd_mem_new_uncleared(alloc, (size_t)x->count + 1, sizeof *x->nodes);
    x->node_bytes = x->nodes != NULL ? ((size_t)x->count + 1) * sizeof *x->nodes : 0;
    x->block = gcd_mem_new_uncleared(alloc, x->block_count, sizeof *x->block);
    if (x->nodes == NULL || x->block == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    x->nodes[0] = (struct inner_node){ .edge = 0 };
    gcd_parallel(threads, m.parts, count_edges, &m);
    place_parts(&m);
    x->edges = gcd_mem_new_uncleared(alloc, (size_t)x->edge_count, sizeof *x->edges);
    if (x->edges == NULL)
        return gcd_fail_nomem(err, "finding dominators");
    gcd_parallel(threads, m.parts, copy_edges, &m);
    for (uint32_t part = 0; part < m.parts; part++)
        if (m.part[part].too_many)
            return gcd_fail(err, GCD_E_LIMIT,
                            "%u neighbouring objects have more than 2^32 references",
                            (unsigned)INNER_BLOCK);
    return GCD_OK;
}

static void drop_edges(struct inner_nodes *x)
{
    gcd_mem_free(&x->alloc, x->block, x->block_count * sizeof *x->block);
    gcd_mem_free(&x->alloc, x->edges, (size_t)x->edge_count * sizeof *x->edges);
    x->block = NULL;
    x->edges = NULL;
}

/* In place: no number lies beyond the node it comes from. */
bool inner_keep_numbers(struct inner_nodes *x)
{
    drop_edges(x);
    uint32_t *numbers = (uint32_t *)(void *)x->nodes;
    size_t bytes = ((size_t)x->count + 1) * sizeof *numbers;
    for (size_t i = 0; i <= x->count; i++)
        numbers[i] = x->nodes[i].number;
    numbers = x->alloc.resize(x->alloc.ctx, numbers, x->node_bytes, bytes);
    if (numbers == NULL)
        return false;
    x->nodes = NULL;
    x->numbers = numbers;
    x->node_bytes = bytes;
    return true;
}

void inner_drop_nodes(struct inner_nodes *x)
{
    gcd_mem_free(&x->alloc, x->nodes != NULL ? (void *)x->nodes : x->numbers, x->node_bytes);
    x->nodes = NULL;
    x->numbers = NULL;
    x->node_bytes = 0;
}

void inner_done(struct inner_nodes *x)
{
    drop_edges(x);
    inner_drop_nodes(x);
    gcd_mem_free(&x->alloc, x->words, x->word_count * sizeof *x->words);
    x->words = NULL;
}
