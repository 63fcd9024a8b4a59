/*
 * What keeps what alive, node by node: its references, and the values of the dependent handles whose key it is.
 */
#ifndef GCD_ANALYZE_FLOW_H
#define GCD_ANALYZE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

struct flow {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    uint64_t *is_key;            /* a bit a node; NULL without dependent handles */
    size_t words;
};

/* False when out of memory.  An eighth of a byte a node, when there are dependent handles. */
bool flow_init(struct flow *f, const struct gcd_graph *g, const struct gcd_alloc *alloc);
void flow_done(struct flow *f);

/* The number of the first dependent handle of the key NODE. */
size_t flow_first_dependent(const struct flow *f, uint32_t node);

/* Where number I of what NODE keeps alive leads, GCD_NODE_NONE behind the last: first its references, then its dependents. */
static inline uint32_t flow_at(const struct flow *f, uint32_t node, uint64_t i)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->g, node, &n);
    if (i < n)
        return edges[i];
    if (f->is_key == NULL || (f->is_key[node >> 6] >> (node & 63) & 1) == 0)
        return GCD_NODE_NONE;
    uint64_t d = flow_first_dependent(f, node) + (i - n);
    if (d >= gcd_graph_dependent_count(f->g))
        return GCD_NODE_NONE;
    const struct gcd_graph_dependent *dependent = gcd_graph_dependent(f->g, (size_t)d);
    return dependent->key == node ? dependent->value : GCD_NODE_NONE;
}

/* The node of root I when it keeps that alive, else GCD_NODE_NONE. */
static inline uint32_t flow_root(const struct flow *f, size_t i)
{
    const struct gcd_graph_root *r = gcd_graph_root(f->g, i);
    return gcd_graph_root_group(r) != GCD_GROUP_WEAK ? r->node : GCD_NODE_NONE;
}

#endif
