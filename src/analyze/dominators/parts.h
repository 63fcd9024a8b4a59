/*
 * Loops over the nodes of a graph on several threads (base/threads/parallel.h).  The parts do not
 * depend on the number of threads, so neither do sums by part.
 */
#ifndef GCD_ANALYZE_PARTS_H
#define GCD_ANALYZE_PARTS_H

#include "base/threads/parallel.h"

#define PARTS_MAX 256u
/* The nodes in one word of a bit set, so no two parts share a word. */
#define PARTS_GRAIN 64u

static inline uint32_t parts_count(uint32_t nodes)
{
    return nodes / PARTS_GRAIN < PARTS_MAX ? nodes / PARTS_GRAIN + 1 : PARTS_MAX;
}

static inline void parts_range(uint32_t nodes, uint32_t part, uint32_t parts, uint32_t *ret_first,
                               uint32_t *ret_end)
{
    gcd_part_range(nodes, PARTS_GRAIN, part, parts, ret_first, ret_end);
}

#endif
