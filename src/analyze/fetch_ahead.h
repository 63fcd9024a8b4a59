/*
 * Searches that follow references spend nearly all their time waiting for memory.  They know which
 * nodes come later, so they have three things of them fetched: the position of their references,
 * then the references, then what the search knows of the first targets.
 */
#ifndef GCD_ANALYZE_FETCH_AHEAD_H
#define GCD_ANALYZE_FETCH_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/graph/graph_memory.h>

#define FETCH_FARTHEST_AHEAD 48u
#define FETCH_FAR_AHEAD      24u
#define FETCH_AHEAD          12u
#define FETCH_TARGETS        8u

/* For the nodes behind number AT of QUEUE, which has COUNT.  STATES has STATE_BYTES for each node
 * of the graph. */
static inline void fetch_ahead(const struct gcd_graph *g, const uint32_t *queue, uint32_t count,
                               uint32_t at, const void *states, size_t state_bytes)
{
    size_t n;
    if (count - at > FETCH_FARTHEST_AHEAD)
        gcd_graph_fetch(g, queue[at + FETCH_FARTHEST_AHEAD]);
    if (count - at > FETCH_FAR_AHEAD)
        __builtin_prefetch(gcd_graph_node_edges(g, queue[at + FETCH_FAR_AHEAD], &n));
    if (count - at <= FETCH_AHEAD)
        return;
    const uint32_t *edges = gcd_graph_node_edges(g, queue[at + FETCH_AHEAD], &n);
    for (size_t i = 0; i < n && i < FETCH_TARGETS; i++)
        __builtin_prefetch((const char *)states + edges[i] * state_bytes, 1);
}

#endif
