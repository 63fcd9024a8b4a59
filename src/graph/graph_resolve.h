/*
 * From the addresses of references to the nodes they lead to, behind the back of who reads them: looking up waits for memory, reading does
 * not, so that both together take hardly longer than one on two cores.
 */
#ifndef GCD_GRAPH_GRAPH_RESOLVE_H
#define GCD_GRAPH_GRAPH_RESOLVE_H

#include <stdatomic.h>

#include "base/queue.h"
#include "graph/graph_impl.h"

/* More threads than that would wait for the reading. */
#define RESOLVE_THREADS 3u

struct graph_resolver {
    struct gcd_graph *g;         /* its index is finished, its edges have room for all that come */
    struct gcd_slot own;          /* without threads */
    struct gcd_slot *slot;         /* which takes the next addresses; AT: the number of its first edge; NULL = none yet */
    struct gcd_queue queue;
    pthread_t threads[RESOLVE_THREADS];
    unsigned thread_count;
    atomic_uint_least64_t dangling;      /* addresses without an object */
};

void graph_resolver_init(struct graph_resolver *r, struct gcd_graph *g);
/* Whatever has not been resolved is forgotten. */
void graph_resolver_done(struct graph_resolver *r);

/* N addresses, for the edges from g->edge_count on, which is moved.  False when out of memory. */
bool graph_resolver_add(struct graph_resolver *r, const uint64_t *targets, size_t n);
/* Until this returns the edges are not to be moved or looked at.  Those that dangle lead to the unknown node, or are GCD_NODE_NONE. */
void graph_resolver_drain(struct graph_resolver *r);

#endif
