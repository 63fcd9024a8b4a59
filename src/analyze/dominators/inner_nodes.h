/*
 * A graph without its leaves.  An object that keeps nothing alive dominates nothing, so the search
 * for dominators can skip it; strings, boxes and arrays of numbers make up four of ten objects of a
 * typical heap.  The others are the inner nodes, numbered 1, 2, ... in heap order.  Their edges
 * include those from the keys of dependent handles to the values.
 */
#ifndef GCD_ANALYZE_INNER_NODES_H
#define GCD_ANALYZE_INNER_NODES_H

#include <stdint.h>

#include <gcdumpc/status.h>

#include "analyze/dominators/live_edges.h"
#include "base/bits.h"

/* The lists of this many nodes share one 64-bit start. */
#define INNER_BLOCK_SHIFT 12u
#define INNER_BLOCK       (UINT32_C(1) << INNER_BLOCK_SHIFT)

/* Which of 32 nodes are inner nodes, and how many inner nodes come before them. */
struct inner_word {
    uint32_t bits, before;
};

/* All that a search needs about a node, with the edge it follows first, since most nodes have no
 * other: one cache miss per node. */
struct inner_node {
    uint32_t edge;   /* 0 = none */
    uint32_t number; /* the caller's, initially 0 */
    /* range of its further edges, relative to its block; the caller may advance NEXT */
    uint32_t next, end;
};

struct inner_nodes {
    struct gcd_alloc alloc;
    struct inner_word *words;
    size_t word_count;
    uint32_t count;
    struct inner_node *nodes; /* [count + 1]; node 0 means none */
    uint32_t *numbers;        /* [count + 1]; replaces NODES after inner_keep_numbers */
    size_t node_bytes;        /* size of whichever of the two exists */
    uint64_t *block;          /* first edge of each block of nodes */
    size_t block_count;
    uint32_t *edges; /* the caller may change them */
    uint64_t edge_count;
};

/* Uses up to THREADS threads.  GCD_E_NOMEM, GCD_E_LIMIT.  Call inner_done for X in any case. */
GCD_MUST_CHECK gcd_status inner_init(struct inner_nodes *x, const struct live_edges *f,
                                     unsigned threads, const struct gcd_alloc *alloc,
                                     struct gcd_error *err);
void inner_done(struct inner_nodes *x);
/* Frees the edges and reduces the nodes to their numbers.  False when out of memory. */
bool inner_keep_numbers(struct inner_nodes *x);
/* Frees all but what inner_is and inner_before need. */
void inner_drop_nodes(struct inner_nodes *x);

static inline bool inner_is(const struct inner_nodes *x, uint32_t node)
{
    return (x->words[node >> 5].bits >> (node & 31) & 1) != 0;
}

/* The number of inner nodes before NODE. */
static inline uint32_t inner_before(const struct inner_nodes *x, uint32_t node)
{
    const struct inner_word *w = &x->words[node >> 5];
    return w->before + gcd_count_bits(w->bits & ((UINT32_C(1) << (node & 31)) - 1));
}

/* The inner node of NODE; 0 for a leaf. */
static inline uint32_t inner_of(const struct inner_nodes *x, uint32_t node)
{
    return (inner_before(x, node) + 1) & (0 - (uint32_t)inner_is(x, node));
}

static inline uint64_t inner_block(const struct inner_nodes *x, uint32_t i)
{
    return x->block[i >> INNER_BLOCK_SHIFT];
}

/* The end of the further edges of inner node I.  Edges are stored in node order. */
static inline uint64_t inner_end(const struct inner_nodes *x, uint32_t i)
{
    return inner_block(x, i) + x->nodes[i].end;
}

#endif
