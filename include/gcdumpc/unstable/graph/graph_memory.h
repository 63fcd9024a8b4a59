/* The memory of a graph: its size, and prefetching for a walk that knows its next nodes. */
#ifndef GCDUMPC_UNSTABLE_GRAPH_GRAPH_MEMORY_H
#define GCDUMPC_UNSTABLE_GRAPH_GRAPH_MEMORY_H

#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

/* The memory of the graph in bytes. */
uint64_t gcd_graph_memory(const struct gcd_graph *g);

/*
 * Prefetches what gcd_graph_node_edges reads to find the references of NODE, a node of the graph,
 * but not the references.  Has no other effect and does not wait.
 */
void gcd_graph_fetch(const struct gcd_graph *g, uint32_t node);

#endif
