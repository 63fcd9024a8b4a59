/* The memory of a graph: how much it is, and brought into the cache before a walk that knows the nodes to come needs it. */
#ifndef GCDUMPC_UNSTABLE_GRAPH_GRAPH_MEMORY_H
#define GCDUMPC_UNSTABLE_GRAPH_GRAPH_MEMORY_H

#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory of the graph in bytes. */
GCD_API uint64_t gcd_graph_memory(const struct gcd_graph *g);

/*
 * Prefetches what gcd_graph_node_edges reads to find the references of NODE, a node of the graph; not the references themselves.  Has no other
 * effect, and does not wait.
 */
GCD_API void gcd_graph_fetch(const struct gcd_graph *g, uint32_t node);

#ifdef __cplusplus
}
#endif
#endif
