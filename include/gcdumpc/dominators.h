/*
 * True dominators of a graph, and retained sizes.
 *
 * Node D dominates N when every path from the roots to N goes through D; the nearest dominator is
 * N's parent in the dominator tree.  The retained size of N is what would be freed with N: its own
 * size and the sizes of all nodes below it.  One artificial root stands for all roots together.
 * Weak roots keep nothing alive; a dependent handle keeps its value alive while its key lives.
 *
 * What roots of early groups reach (enum gcd_root_group) is dominated and retained as if there were
 * no others: a local variable that refers to the middle of a collection, too, splits nothing.
 */
#ifndef GCDUMPC_DOMINATORS_H
#define GCDUMPC_DOMINATORS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_dominators;

/*
 * G must outlive the result.  CONTEXT may be NULL; later queries (retained.h) use its threads, too.
 * GCD_E_NOMEM, GCD_E_CANCELED; GCD_E_LIMIT when 4096 neighbouring objects have more than 2^32
 * references to or from them.  Memory during the call: at most 29 bytes per node and 8 per edge;
 * the result keeps 16 to 20 bytes per node.  No recursion; near-linear time for any shape.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dominators_new(const struct gcd_graph *g,
                                                     const struct gcd_context *context,
                                                     struct gcd_dominators **ret,
                                                     struct gcd_error *err);
GCD_API void gcd_dominators_free(struct gcd_dominators *d);

/* The parent of nodes that no single object dominates. */
#define GCD_NODE_ROOT (GCD_NODE_NONE - 1)

/* The parent of NODE: a node, GCD_NODE_ROOT, or GCD_NODE_NONE when NODE is unreachable. */
GCD_API uint32_t gcd_dominators_parent(const struct gcd_dominators *d, uint32_t node);
/* In bytes; 0 for an unreachable node; for GCD_NODE_ROOT, the sum of all live objects. */
GCD_API uint64_t gcd_dominators_retained(const struct gcd_dominators *d, uint32_t node);

/*
 * The number of pseudo-roots; 0 when the graph has a strong root.  Without one everything would be
 * dead, so objects that no other object refers to, and one of each unreached cycle, serve as
 * pseudo-roots.  Retained sizes are then only guesses; tell the user.
 */
GCD_API uint32_t gcd_dominators_pseudo_roots(const struct gcd_dominators *d);

/* The number of reachable nodes; all of them, each after its parent: [gcd_dominators_reachable()].
 */
GCD_API uint32_t gcd_dominators_reachable(const struct gcd_dominators *d);
GCD_API const uint32_t *gcd_dominators_order(const struct gcd_dominators *d);

#ifdef __cplusplus
}
#endif
#endif
