/*
 * What include/gcdumpc/dominators.h does not show: the dominator tree in its own order, where neighbours in the tree lie close together.
 */
#ifndef GCD_ANALYZE_DOMINATORS_H
#define GCD_ANALYZE_DOMINATORS_H

#include <gcdumpc/dominators.h>

struct gcd_dominators {
    struct gcd_alloc alloc;
    unsigned threads;            /* as in the options: for what is asked of it later, too */
    uint32_t node_count, reachable;
    uint32_t inner;              /* reachable nodes that are no leaves (inner_nodes.h): the first ones of the order */
    uint32_t pseudo_roots;       /* objects that serve as pseudo-roots */
    uint32_t *parent;            /* [node_count]; at first the numbers of the tree */
    uint32_t *order;             /* [node_count + 1] the reachable nodes from 1 on; 0 is the root */
    uint32_t *above;             /* [node_count + 1] by place in the order: that of the parent, which is smaller */
    uint64_t *retained;          /* [node_count] */
    uint64_t all;
};

#endif
