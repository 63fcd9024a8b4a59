/*
 * Resolves the addresses of references to nodes in the background: lookups wait for memory, reading
 * does not, so on two cores both together take hardly longer than one alone.
 */
#ifndef GCD_GRAPH_GRAPH_RESOLVE_H
#define GCD_GRAPH_GRAPH_RESOLVE_H

#include <stdatomic.h>

#include "base/threads/queue.h"
#include "graph/graph_impl.h"

/* More threads would wait for the reader. */
#define RESOLVE_THREADS 3u

struct graph_resolver {
    struct gcd_graph *g; /* its index is finished, its edges have room for all references */
    struct gcd_slot own; /* used without threads */
    /* collects the next addresses; AT: the number of its first edge; NULL = none yet */
    struct gcd_slot *slot;
    struct gcd_queue queue;
    pthread_t threads[RESOLVE_THREADS];
    unsigned thread_count;
    atomic_uint_least64_t dangling; /* addresses without an object */
};

void graph_resolver_init(struct graph_resolver *r, struct gcd_graph *g);
/* Discards unresolved references. */
void graph_resolver_done(struct graph_resolver *r);

/* Adds N addresses as edges from g->edge_count on, which it advances.  False when out of memory. */
bool graph_resolver_add(struct graph_resolver *r, const uint64_t *targets, size_t n);
/* Waits for all lookups.  Until it returns, the edges must not be moved or read.  Dangling ones
 * become the unknown node or GCD_NODE_NONE. */
void graph_resolver_drain(struct graph_resolver *r);

#endif
