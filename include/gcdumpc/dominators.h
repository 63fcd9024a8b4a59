/*
 * What keeps what alive: true dominators of a graph, and retained sizes.
 *
 * Node D dominates N when every path from the roots to N leads through D; the nearest one is N's parent in the dominator tree.  The
 * retained size of N is what would go if N went: the sizes of all nodes below it and its own.  All roots together hang below
 * one made-up root.  Weak roots keep nothing alive; a dependent handle keeps its value as long as its key lives.
 */
#ifndef GCDUMPC_DOMINATORS_H
#define GCDUMPC_DOMINATORS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_dominators;

struct gcd_dominators_options {
    const struct gcd_alloc *alloc;
    const gcd_cancel_flag *cancel;   /* may be NULL; ends with GCD_E_CANCELED */
    unsigned threads;            /* 0 and 1: none but the caller's; for what is asked of the result later, too (retained.h).  The
                                    result does not depend on it */
    gcd_progress_fn progress;    /* may be NULL; steps done and steps in all, no bytes */
    void *progress_ctx;
};

/*
 * G must outlive the result.  OPTIONS may be NULL.  GCD_E_NOMEM, GCD_E_CANCELED; GCD_E_LIMIT when
 * 4096 neighbouring objects are referenced more than 2^32 times or refer to more.  Memory while it runs: at most 37 bytes a node and
 * 8 bytes an edge; 20 bytes a node are kept.  No recursion; near-linear time for any shape.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dominators_new(const struct gcd_graph *g, const struct gcd_dominators_options *options,
                                                     struct gcd_dominators **ret, struct gcd_error *err);
GCD_API void gcd_dominators_free(struct gcd_dominators *d);

/* The parent of the nodes that nothing but the roots together dominate. */
#define GCD_NODE_ROOT (GCD_NODE_NONE - 1)

/* NODE's parent: a node, GCD_NODE_ROOT, or GCD_NODE_NONE when no root leads to NODE. */
GCD_API uint32_t gcd_dominators_parent(const struct gcd_dominators *d, uint32_t node);
/* In bytes; of an unreachable node 0, of GCD_NODE_ROOT the sum of all that is alive. */
GCD_API uint64_t gcd_dominators_retained(const struct gcd_dominators *d, uint32_t node);

/*
 * 0 when the graph has a strong root.  Else everything would be dead, and so many objects serve as pseudo-roots: those that no other object
 * refers to, and one for each circle that they do not reach.  Sizes are then guesses, which people should be told.
 */
GCD_API uint32_t gcd_dominators_pseudo_roots(const struct gcd_dominators *d);

/* Reachable nodes: how many, and all of them so that each comes after its parent.  [gcd_dominators_reachable()] */
GCD_API uint32_t gcd_dominators_reachable(const struct gcd_dominators *d);
GCD_API const uint32_t *gcd_dominators_order(const struct gcd_dominators *d);

#ifdef __cplusplus
}
#endif
#endif
