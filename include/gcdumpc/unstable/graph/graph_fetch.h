/* Memory of a graph brought into the cache before it is needed, for walks that know the nodes to come. */
#ifndef GCDUMPC_UNSTABLE_GRAPH_GRAPH_FETCH_H
#define GCDUMPC_UNSTABLE_GRAPH_GRAPH_FETCH_H

#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Prefetches what gcd_graph_node_edges reads to find the references of NODE, a node of the graph; not the references themselves.  Has no other
 * effect, and does not wait.
 */
GCD_API void gcd_graph_fetch(const struct gcd_graph *g, uint32_t node);

#ifdef __cplusplus
}
#endif
#endif
