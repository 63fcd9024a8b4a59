/* The types of all nodes, for loops in which a call for each node would cost more than its type. */
#ifndef GCDUMPC_UNSTABLE_GRAPH_GRAPH_TYPES_H
#define GCDUMPC_UNSTABLE_GRAPH_GRAPH_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* Belongs to the graph; read with gcd_graph_type_at alone. */
struct gcd_graph_types {
    const uint16_t *low;  /* [node_count] the low bits of the type's number, */
    const uint16_t *high; /* the upper bits; NULL = they are 0 for all nodes */
};

struct gcd_graph_types gcd_graph_types(const struct gcd_graph *g);

/* gcd_graph_node_type */
static inline uint32_t gcd_graph_type_at(const struct gcd_graph_types *t, uint32_t node)
{
    return t->low[node] | (t->high != NULL ? (uint32_t)t->high[node] << 16 : 0);
}

/* The first references of NODE, as many as an object has that is no collection: at most 64. */
static inline const uint32_t *gcd_graph_few_edges(const struct gcd_graph *g, uint32_t node,
                                                  size_t *ret_count)
{
    const uint32_t *edges = gcd_graph_node_edges(g, node, ret_count);
    *ret_count = *ret_count < 64 ? *ret_count : 64;
    return edges;
}

#endif
