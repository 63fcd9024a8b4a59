/*
 * What keeps objects alive: the roots, and for each node its references and the values of the
 * dependent handles whose key it is.
 *
 * Without any strong root (root events were not requested, or were lost) the whole graph would be
 * dead.  Objects then serve as pseudo-roots: first those that no other object refers to; then, as
 * long as objects remain unreached (cycles and what they keep alive), the first of these.
 *
 * The values of a ThreadLocal<T>, as those of a ConcurrentBag<T>, are in its list of slots and in a
 * table of each thread.  They live as long as the ThreadLocal, which empties these tables when it
 * is disposed of or dies: so it alone counts as what holds them, if it is in the heap.
 *
 * References of timers and registrations count only for what nothing else leads to: callbacks.h.
 *
 * A local variable may refer to the middle of what another one holds as a whole.  Such a root is
 * covered, and counts as little as a weak one: live_edges_cover.
 */
#ifndef GCD_ANALYZE_LIVE_EDGES_H
#define GCD_ANALYZE_LIVE_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

#include "analyze/dominators/callbacks.h"

/* Sets of nodes, one bit per node. */
static inline bool bits_get(const uint64_t *bits, uint32_t node)
{
    return (bits[node >> 6] >> (node & 63) & 1) != 0;
}

static inline void bits_set(uint64_t *bits, uint32_t node)
{
    bits[node >> 6] |= UINT64_C(1) << (node & 63);
}

static inline void bits_clear(uint64_t *bits, uint32_t node)
{
    bits[node >> 6] &= ~(UINT64_C(1) << (node & 63));
}

struct live_edges {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    uint64_t *is_key; /* one bit per node; NULL without dependent handles */
    size_t words;
    uint64_t *is_table; /* one bit per node: a thread's table of such slots; NULL = there is none */
    size_t table_words;
    const struct callbacks *callbacks; /* NULL = all references count */
    uint32_t *pseudo_roots; /* nodes; NULL when there is a strong root */
    size_t pseudo_root_count, pseudo_root_room;
    uint64_t *covered; /* one bit per root; NULL = none is */
    size_t covered_words;
};

/* False when out of memory.  Takes 1/8 byte per node if there are dependent handles, as much if
 * there are ThreadLocals, and 5 bytes per node if there is no strong root.  The first call for a
 * graph also finds its callbacks. */
bool live_edges_init(struct live_edges *f, const struct gcd_graph *g,
                     const struct gcd_alloc *alloc);
/* The same, but all references of timers and registrations count. */
bool live_edges_init_all(struct live_edges *f, const struct gcd_graph *g,
                         const struct gcd_alloc *alloc);
void live_edges_done(struct live_edges *f);

/* Are there two local variables, or more?  Else none is covered. */
bool live_edges_may_cover(const struct live_edges *f);
/*
 * Finds the covered roots: those local variables whose object another one leads to.  REACHED[(nodes
 * + 63) / 64]: what roots of early groups lead to (root_order.h).  What covers leads to all that
 * the covered ones lead to.  Follows only what is not in REACHED.  False when out of memory; takes
 * 4 bytes for each of these nodes and 1/8 byte per node meanwhile.
 */
bool live_edges_cover(struct live_edges *f, const uint64_t *reached);

/* The number of the first dependent handle whose key is NODE, or where it would be if there is
 * none. */
size_t live_edges_first_dependent(const struct live_edges *f, uint32_t node);

/* The value of dependent handle number I among those whose key is NODE; GCD_NODE_NONE after the
 * last. */
static inline uint32_t live_edges_value(const struct live_edges *f, uint32_t node, uint64_t i)
{
    if (f->is_key == NULL || !bits_get(f->is_key, node))
        return GCD_NODE_NONE;
    uint64_t d = live_edges_first_dependent(f, node) + i;
    if (d >= gcd_graph_dependent_count(f->g))
        return GCD_NODE_NONE;
    const struct gcd_graph_dependent *dependent = gcd_graph_dependent(f->g, (size_t)d);
    return dependent->key == node ? dependent->value : GCD_NODE_NONE;
}

/* The references of NODE that keep alive. */
static inline const uint32_t *live_edges_of(const struct live_edges *f, uint32_t node, size_t *n)
{
    const uint32_t *edges = gcd_graph_node_edges(f->g, node, n);
    if (f->is_table != NULL && bits_get(f->is_table, node))
        *n = 0;
    if (f->callbacks != NULL && bits_get(f->callbacks->is_one, node)) {
        edges = callbacks_edges(f->callbacks, node);
        *n = edges != NULL ? *n : 0;
    }
    return edges;
}

/* Has NODE any, or is it a key? */
static inline bool live_edges_any(const struct live_edges *f, uint32_t node)
{
    size_t n;
    (void)live_edges_of(f, node, &n);
    return n > 0 || (f->is_key != NULL && bits_get(f->is_key, node));
}

/* Object number I that NODE keeps alive, GCD_NODE_NONE after the last: first its references, then
 * the values of its dependent handles. */
static inline uint32_t live_edges_at(const struct live_edges *f, uint32_t node, uint64_t i)
{
    size_t n;
    const uint32_t *edges = live_edges_of(f, node, &n);
    return i < n ? edges[i] : live_edges_value(f, node, i - n);
}

/* Roots have the numbers of the graph; pseudo-roots are numbered separately. */
static inline size_t live_edges_root_count(const struct live_edges *f)
{
    return f->pseudo_roots != NULL ? f->pseudo_root_count : gcd_graph_summary(f->g)->root_count;
}

/* The group of root I.  All pseudo-roots are in the first group. */
static inline enum gcd_root_group live_edges_root_group(const struct live_edges *f, size_t i)
{
    return f->pseudo_roots != NULL ? GCD_GROUP_STATICS
                                   : gcd_root_group(&gcd_graph_summary(f->g)->roots[i]);
}

/* The node that root I keeps alive; GCD_NODE_NONE when the root is weak or covered. */
static inline uint32_t live_edges_root(const struct live_edges *f, size_t i)
{
    if (f->pseudo_roots != NULL)
        return f->pseudo_roots[i];
    if (f->covered != NULL && (f->covered[i / 64] >> i % 64 & 1) != 0)
        return GCD_NODE_NONE;
    const struct gcd_root *r = &gcd_graph_summary(f->g)->roots[i];
    return gcd_root_group(r) != GCD_GROUP_WEAK ? r->node : GCD_NODE_NONE;
}

#endif
