/*
 * Retained sizes by "A Simple, Fast Dominance Algorithm" (Cooper, Harvey, Kennedy): textbook code,
 * and not the algorithm of the program that it tests.
 */
#ifndef GH_DOM_H
#define GH_DOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Node 0 represents the roots.  The edges of node V are to[first[V]] … to[first[V + 1] - 1].  FIRST
 * has room for N + 2 elements. The function takes over both arrays and frees them.
 */
struct gh_graph {
    uint32_t n;
    uint32_t *first;
    uint32_t *to;
};

/*
 * RETAINED[V]: on entry the bytes of V itself, on return the bytes of everything that V dominates;
 * 0 for unreachable nodes. RETAINED[0] is the sum.  Counts reached nodes without node 0.  Needs at
 * most 32 bytes per node and 8 per edge beside RETAINED. false: no memory.
 */
bool gh_dom_retained(struct gh_graph *g, uint64_t *retained, uint32_t *ret_reached);

#endif
