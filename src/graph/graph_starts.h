/*
 * Where the references of each node begin, in 16 bits relative to the first ones of its block of
 * nodes.  A block for which 16 bits are too few, because it has a large array, has 64 bits per
 * node.
 */
#ifndef GCD_GRAPH_GRAPH_STARTS_H
#define GCD_GRAPH_GRAPH_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

#define STARTS_SHIFT 10u
#define STARTS_NODES (UINT32_C(1) << STARTS_SHIFT)
/* Flag of a wide block; the other bits are the number of its row. */
#define STARTS_WIDE (UINT64_C(1) << 63)
/* All references must begin before this one. */
#define STARTS_MAX (STARTS_WIDE - 1)

/* Zeroed means empty. */
struct graph_starts {
    /* [nodes] relative to the block; without meaning in a wide block */
    uint16_t *near;
    /* first reference of each block of nodes, or STARTS_WIDE and its row */
    uint64_t *blocks;
    /* [row_count][STARTS_NODES] first references of the nodes of wide blocks */
    uint64_t *rows;
    size_t near_room, block_room, row_count, row_room;
};

void graph_starts_done(struct graph_starts *s, const struct gcd_alloc *a);
uint64_t graph_starts_bytes(const struct graph_starts *s);

/* Makes room for a total of NODES, which can then be set.  False when out of memory. */
bool graph_starts_reserve(struct graph_starts *s, const struct gcd_alloc *a, uint64_t nodes);
/* Frees what more than NODES nodes would need. */
void graph_starts_shrink(struct graph_starts *s, const struct gcd_alloc *a, size_t nodes);

/*
 * Records that the references of NODE, for which there is room, begin at FIRST, at most STARTS_MAX.
 * Nodes ascend without gaps.  False when out of memory.
 */
bool graph_starts_put(struct graph_starts *s, const struct gcd_alloc *a, uint32_t node,
                      uint64_t first);

/*
 * Moves the references of NODE to FIRST, which is not after their old start; those of its block
 * begin at BASE.  Call it for all nodes in ascending order; nodes after NODE keep their old start
 * until then.
 */
void graph_starts_move(struct graph_starts *s, uint32_t node, bool last, uint64_t base,
                       uint64_t first);

static inline bool graph_starts_wide(const struct graph_starts *s, uint32_t node)
{
    return (s->blocks[node >> STARTS_SHIFT] & STARTS_WIDE) != 0;
}

static inline uint64_t *graph_starts_in_row(const struct graph_starts *s, uint32_t node)
{
    return &s->rows[(s->blocks[node >> STARTS_SHIFT] & STARTS_MAX) * STARTS_NODES +
                    node % STARTS_NODES];
}

static inline uint64_t graph_starts_of(const struct graph_starts *s, uint32_t node)
{
    return graph_starts_wide(s, node) ? *graph_starts_in_row(s, node)
                                      : s->blocks[node >> STARTS_SHIFT] + s->near[node];
}

#endif
