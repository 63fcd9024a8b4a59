/*
 * Who merely calls back does not own.  A timer that is set, and a registration with a
 * CancellationToken, are in lists of the runtime: each refers to its neighbours, and to what it
 * calls.  A service with 1,000 periodic timers would belong to the list of timers, and the objects
 * of an asynchronous Main to whichever timer it waits for at the moment.  So a reference of such an
 * object counts only if nothing else leads to what it refers to: no path from a root, local
 * variables included, without a timer or registration on it.
 *
 * The same goes for the delegates, closures and other objects near below it that only such objects
 * lead to, and for the asynchronous calls that wait for it, also through others: what another call
 * or a field holds does not belong to a call that a timer will resume.
 *
 * And for a snapshot: an array of many objects that only a local variable refers to, or a list that
 * it does, while most of these objects (64 of them speak for all) are reached without it.  A method
 * that looks at a copy of a collection ends, and a word may be left over on a stack.
 *
 * What is alive stays so: a path that ends in an object which only they lead to has a last
 * reference to such objects, and that one counts.
 */
#ifndef GCD_ANALYZE_CALLBACKS_H
#define GCD_ANALYZE_CALLBACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* What is near below a timer or registration: so many references from it. */
#define CALLBACKS_NEAR 3u

/* So many references make a snapshot. */
#define CALLBACKS_WIDE 64u

struct callbacks {
    /* one bit per node: those, what is near below them only, and snapshots */
    uint64_t *is_one;
    size_t words;
    uint32_t *nodes; /* [count] ascending: those with a reference that counts */
    size_t *first;   /* [count + 1] in edges, of each of these */
    uint32_t *edges; /* what counts, in its place; the object itself in the place of the others */
    size_t count, room, first_room, edge_count, edge_room;
};

/* Those of G, which owns them; NULL = all references count.  False when out of memory.  Once for a
 * graph, time and memory of a walk: 4 bytes for each node with references, and 1/4 for each. */
bool callbacks_of(const struct gcd_graph *g, const struct callbacks **ret);

/* The N references of NODE, of which bits are set in is_one, that count: NULL = none. */
const uint32_t *callbacks_edges(const struct callbacks *c, uint32_t node);

#endif
