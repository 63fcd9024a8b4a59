/*
 * The private part of include/gcdumpc/dominators.h: the dominator tree in its own order, in which neighbours in the tree lie close together.
 */
#ifndef GCD_ANALYZE_DOMINATORS_H
#define GCD_ANALYZE_DOMINATORS_H

#include <gcdumpc/dominators.h>

struct gcd_dominators {
    struct gcd_alloc alloc;
    unsigned threads;            /* from the options; also used by later queries */
    uint32_t node_count, reachable;
    uint32_t inner;              /* reachable nodes that are not leaves (inner_nodes.h); they come first in the order */
    uint32_t pseudo_roots;       /* pseudo-roots */
    uint32_t *parent;            /* [node_count]; initially the numbers of the tree */
    uint32_t *order;             /* [node_count + 1] the reachable nodes from 1 on; 0 is the root */
    uint32_t *above;             /* [node_count + 1] position in the order -> position of the parent, which is smaller */
    uint64_t *retained;          /* [node_count] */
    uint64_t all;
};

#endif
