/*
 * What an analysis finds out about a graph and others need, too, is kept with the graph: it is
 * found once, by the first that asks, in any thread.
 */
#ifndef GCDUMPC_UNSTABLE_GRAPH_DERIVED_H
#define GCDUMPC_UNSTABLE_GRAPH_DERIVED_H

#include <stdbool.h>

#include <gcdumpc/graph.h>

/* Makes *RET from G with memory of A, or NULL if there is nothing to keep.  False when out of
 * memory. */
typedef bool gcd_graph_derive(const struct gcd_graph *g, const struct gcd_alloc *a, void **ret);
typedef void gcd_graph_derived_free(const struct gcd_alloc *a, void *item);

/* What MAKE made of G with the allocator of G, now or before: there is one kind of it.  Lives as
 * long as G, which frees it with DONE.  False when out of memory: the next one to ask tries
 * again. */
bool gcd_graph_derived(const struct gcd_graph *g, gcd_graph_derive *make,
                       gcd_graph_derived_free *done, const void **ret);

#endif
