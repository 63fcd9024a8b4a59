/* The memory of a graph: its size, and prefetching for a walk that knows its next nodes. */
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
 * Prefetches what gcd_graph_node_edges reads to find the references of NODE, a node of the graph,
 * but not the references.  Has no other effect and does not wait.
 */
GCD_API void gcd_graph_fetch(const struct gcd_graph *g, uint32_t node);

#ifdef __cplusplus
}
#endif
#endif
