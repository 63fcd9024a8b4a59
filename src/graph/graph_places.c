/* Places of references: see graph_places.h. */
#include "graph/graph_places.h"

#include <string.h>

#include "base/mem.h"
#include "graph/graph_room.h"

#define WORDS_OF_BLOCK (PLACES_BLOCK / 64)
#define SHIFT_WIDE     (UINT16_MAX - 1)
#define SHIFT_NONE     UINT16_MAX
#define NO_SHIFT       1u

void graph_places_done(struct graph_places *p, const struct gcd_alloc *a)
{
    gcd_mem_free(a, p->gaps, p->gap_room * sizeof *p->gaps);
    gcd_mem_free(a, p->ranks, p->rank_room * sizeof *p->ranks);
    gcd_mem_free(a, p->shifts, p->shift_room * sizeof *p->shifts);
    gcd_mem_free(a, p->wide, p->wide_room * sizeof *p->wide);
    *p = (struct graph_places){ .on = false };
}

uint64_t graph_places_bytes(const struct graph_places *p)
{
    return p->gap_room * sizeof *p->gaps + p->rank_room * sizeof *p->ranks +
           p->shift_room * sizeof *p->shifts + p->wide_room * sizeof *p->wide;
}

static size_t blocks(const struct graph_places *p)
{
    return (size_t)(p->edges / PLACES_BLOCK + (p->edges % PLACES_BLOCK != 0));
}

void graph_places_shrink(struct graph_places *p, const struct gcd_alloc *a)
{
    graph_room_shrink(a, &p->gaps, &p->gap_room, blocks(p) * WORDS_OF_BLOCK, sizeof *p->gaps);
    graph_room_shrink(a, &p->ranks, &p->rank_room, blocks(p), sizeof *p->ranks);
    graph_room_shrink(a, &p->shifts, &p->shift_room, p->shift_count, sizeof *p->shifts);
    graph_room_shrink(a, &p->wide, &p->wide_room, p->wide_count, sizeof *p->wide);
}

/* Room for another block of bits. */
static bool add_block(struct graph_places *p, const struct gcd_alloc *a)
{
    size_t block = (size_t)(p->edges / PLACES_BLOCK);
    if (!graph_room_grow(a, &p->gaps, &p->gap_room, (block + 1) * WORDS_OF_BLOCK,
                         sizeof *p->gaps) ||
        !graph_room_grow(a, &p->ranks, &p->rank_room, block + 1, sizeof *p->ranks))
        return false;
    memset(p->gaps + block * WORDS_OF_BLOCK, 0, PLACES_BLOCK / 8);
    p->ranks[block] = (uint32_t)p->shift_count;
    return true;
}

static bool add_gap(struct graph_places *p, const struct gcd_alloc *a, uint64_t shift)
{
    bool none = shift == PLACES_NONE, wide = !none && shift >= SHIFT_WIDE;
    size_t gap = p->shift_count;
    if (gap == UINT32_MAX ||
        !graph_room_grow(a, &p->shifts, &p->shift_room, (uint64_t)gap + 1, sizeof *p->shifts) ||
        (wide && !graph_room_grow(a, &p->wide, &p->wide_room, (uint64_t)p->wide_count + 1,
                                  sizeof *p->wide)))
        return false;
    if (wide)
        p->wide[p->wide_count++] = (struct graph_place_shift){ (uint32_t)gap, (uint32_t)shift };
    p->shifts[p->shift_count++] = none ? SHIFT_NONE : (uint16_t)(wide ? SHIFT_WIDE : shift);
    p->gaps[p->edges / 64] |= UINT64_C(1) << p->edges % 64;
    p->next_shift = shift;
    return true;
}

/* The shift of GAP, or PLACES_NONE. */
static uint32_t shift_of(const struct graph_places *p, uint32_t gap)
{
    size_t low = 0, high = p->wide_count;
    if (p->shifts[gap] != SHIFT_WIDE)
        return p->shifts[gap] != SHIFT_NONE ? p->shifts[gap] : PLACES_NONE;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->wide[middle].gap <= gap)
            low = middle;
        else
            high = middle;
    }
    return p->wide[low].shift;
}

bool graph_places_put(struct graph_places *p, const struct gcd_alloc *a, uint64_t index,
                      uint64_t place)
{
    bool known = place + 1 >= index && place < PLACES_NONE;
    uint64_t shift = known ? place + 1 - index : PLACES_NONE;
    if (index == 0)
        p->next_shift = NO_SHIFT;
    if (p->edges % PLACES_BLOCK == 0 && !add_block(p, a))
        return false;
    if (shift != p->next_shift && !add_gap(p, a, shift))
        return false;
    p->edges++;
    return true;
}

/* The gaps before reference EDGE. */
static uint32_t gaps_before(const struct graph_places *p, uint64_t edge)
{
    uint64_t block = edge / PLACES_BLOCK, word = block * WORDS_OF_BLOCK;
    if (block == blocks(p))
        return (uint32_t)p->shift_count;
    uint32_t n = p->ranks[block];
    for (; word < edge / 64; word++)
        n += (uint32_t)__builtin_popcountll(p->gaps[word]);
    return n + (uint32_t)__builtin_popcountll(p->gaps[word] & ((UINT64_C(1) << edge % 64) - 1));
}

uint32_t graph_places_of(const struct graph_places *p, uint64_t first, uint64_t index)
{
    uint32_t gaps = gaps_before(p, first + index + 1);
    uint32_t shift = gaps > gaps_before(p, first) ? shift_of(p, gaps - 1) : NO_SHIFT;
    return shift != PLACES_NONE ? (uint32_t)index + shift - 1 : PLACES_NONE;
}
