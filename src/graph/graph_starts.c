#include "graph/graph_starts.h"

#include "base/mem.h"
#include "graph/graph_room.h"

void graph_starts_done(struct graph_starts *s, const struct gcd_alloc *a)
{
    gcd_mem_free(a, s->near, s->near_room * sizeof *s->near);
    gcd_mem_free(a, s->blocks, s->block_room * sizeof *s->blocks);
    gcd_mem_free(a, s->rows, s->row_room * sizeof *s->rows);
    *s = (struct graph_starts){ .near = NULL };
}

uint64_t graph_starts_bytes(const struct graph_starts *s)
{
    return s->near_room * sizeof *s->near + s->block_room * sizeof *s->blocks +
           s->row_room * sizeof *s->rows;
}

bool graph_starts_reserve(struct graph_starts *s, const struct gcd_alloc *a, uint64_t nodes)
{
    return graph_room_grow(a, &s->near, &s->near_room, nodes, sizeof *s->near) &&
           graph_room_grow(a, &s->blocks, &s->block_room, (nodes + STARTS_NODES - 1) / STARTS_NODES,
                           sizeof *s->blocks);
}

void graph_starts_shrink(struct graph_starts *s, const struct gcd_alloc *a, size_t nodes)
{
    graph_room_shrink(a, &s->near, &s->near_room, nodes, sizeof *s->near);
}

/* Gives the block of NODE a row, and copies the starts of its earlier nodes into it. */
static bool widen(struct graph_starts *s, const struct gcd_alloc *a, uint32_t node)
{
    if (!graph_room_grow(a, &s->rows, &s->row_room, (uint64_t)(s->row_count + 1) * STARTS_NODES,
                         sizeof *s->rows))
        return false;
    uint64_t *row = s->rows + s->row_count * STARTS_NODES;
    for (uint32_t other = node / STARTS_NODES * STARTS_NODES; other < node; other++)
        row[other % STARTS_NODES] = graph_starts_of(s, other);
    s->blocks[node >> STARTS_SHIFT] = STARTS_WIDE | s->row_count++;
    return true;
}

bool graph_starts_put(struct graph_starts *s, const struct gcd_alloc *a, uint32_t node,
                      uint64_t first)
{
    if (node % STARTS_NODES == 0)
        s->blocks[node >> STARTS_SHIFT] = first;
    if (!graph_starts_wide(s, node) && first - s->blocks[node >> STARTS_SHIFT] > UINT16_MAX &&
        !widen(s, a, node))
        return false;
    if (graph_starts_wide(s, node))
        *graph_starts_in_row(s, node) = first;
    else
        s->near[node] = (uint16_t)(first - s->blocks[node >> STARTS_SHIFT]);
    return true;
}

void graph_starts_move(struct graph_starts *s, uint32_t node, bool last, uint64_t base,
                       uint64_t first)
{
    if (graph_starts_wide(s, node)) {
        *graph_starts_in_row(s, node) = first;
        return;
    }
    s->near[node] = (uint16_t)(first - base);
    if (last || (node + 1) % STARTS_NODES == 0)
        s->blocks[node >> STARTS_SHIFT] = base;
}
