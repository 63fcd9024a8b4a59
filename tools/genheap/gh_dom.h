/*
 * Retained sizes by "A Simple, Fast Dominance Algorithm" (Cooper, Harvey, Kennedy): textbook code, and another algorithm
 * than the one of the program whose answers it judges.
 */
#ifndef GH_DOM_H
#define GH_DOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Node 0 stands for the roots.  The edges of node V are to[first[V]] … to[first[V + 1] - 1].  FIRST has room for N + 2 elements;
 * both arrays are taken over and freed.
 */
struct gh_graph {
    uint32_t n;
    uint32_t *first;
    uint32_t *to;
};

/*
 * RETAINED[V]: own bytes of V when called, those of all that V dominates afterwards, 0 for nodes that cannot be reached.
 * RETAINED[0] is the sum.  Counts reached nodes without node 0.  At most 32 bytes a node and 8 an edge beside RETAINED.
 * false: no memory.
 */
bool gh_dom_retained(struct gh_graph *g, uint64_t *retained, uint32_t *ret_reached);

#endif
