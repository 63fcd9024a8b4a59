/*
 * The private part of include/gcdumpc/dominators.h: the dominator tree in an order of its own that
 * keeps neighbours in the tree close together.
 */
#ifndef GCD_ANALYZE_DOMINATORS_H
#define GCD_ANALYZE_DOMINATORS_H

#include <gcdumpc/dominators.h>

struct gcd_dominators {
    struct gcd_alloc alloc;
    unsigned threads; /* from the options; also used by later queries */
    uint32_t node_count, reachable;
    /* number of reachable inner nodes (inner_nodes.h); they come first in the order */
    uint32_t inner;
    uint32_t pseudo_roots; /* number of pseudo-roots (live_edges.h) */
    uint32_t *parent;      /* [node_count]; preorder numbers while the tree is built */
    uint32_t *order;       /* [node_count + 1] the reachable nodes from 1 on; 0 is the root */
    /* [node_count + 1] position in the order -> position of the parent, always smaller */
    uint32_t *above;
    /* [node_count] retained sizes in bytes: bits 0 to 31, 32 to 47 and 48 to 63; the last two are
     * NULL if the total size does not need them */
    uint32_t *retained_low;
    uint16_t *retained_high, *retained_top;
    uint64_t all; /* retained by the root, in bytes */
    /* one bit per node: only roots of late groups reach it (root_order.h); their references to
     * others do not count in the tree */
    uint64_t *late;
};

static inline bool dominators_is_late(const struct gcd_dominators *d, uint32_t node)
{
    return (d->late[node / 64] >> node % 64 & 1) != 0;
}

/* Does a reference of FROM to TO not count, because only roots of late groups reach FROM? */
static inline bool dominators_is_idle(const struct gcd_dominators *d, uint32_t from, uint32_t to)
{
    return dominators_is_late(d, from) && !dominators_is_late(d, to);
}

static inline uint64_t dominators_retained(const struct gcd_dominators *d, uint32_t node)
{
    if (d->retained_high == NULL)
        return d->retained_low[node];
    uint64_t top = d->retained_top != NULL ? d->retained_top[node] : 0;
    return d->retained_low[node] | (uint64_t)d->retained_high[node] << 32 | top << 48;
}

static inline void dominators_fetch_retained(const struct gcd_dominators *d, uint32_t node)
{
    __builtin_prefetch(&d->retained_low[node]);
    if (d->retained_high != NULL)
        __builtin_prefetch(&d->retained_high[node]);
}

#endif
