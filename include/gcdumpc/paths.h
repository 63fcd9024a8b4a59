/*
 * Shortest paths from the roots: why is an object still alive?
 *
 * A breadth-first search from all roots except weak ones; a dependent handle is an edge from its
 * key to its value.  Among paths of the same length the one from the first root group (enum
 * gcd_root_group) is used, then the one from the first root, then the first reference.  A path from
 * a late group, however short, is used only for what no earlier group reaches.  The same graph
 * always gives the same paths.
 */
#ifndef GCDUMPC_PATHS_H
#define GCDUMPC_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_paths;

/*
 * G must outlive the result.  CONTEXT may be NULL.  GCD_E_NOMEM, GCD_E_CANCELED.  Memory during the
 * call: 8 bytes per node, and 4 per node with references; the result keeps 8 bytes per node.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_paths_new(const struct gcd_graph *g,
                                                const struct gcd_context *context,
                                                struct gcd_paths **ret, struct gcd_error *err);
GCD_API void gcd_paths_free(struct gcd_paths *p);

/*
 * Dominators and paths, in parallel if CONTEXT allows two threads: the search for dominators leaves
 * the second thread idle half of the time. Progress is that of the dominators; only one thread at a
 * time calls the allocator.  On failure neither *RET is set; errors as for gcd_dominators_new.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_paths_with_dominators_new(
    const struct gcd_graph *g, const struct gcd_context *context,
    struct gcd_dominators **ret_dominators, struct gcd_paths **ret_paths, struct gcd_error *err);

/* The node before NODE on its path, GCD_NODE_ROOT when a root holds NODE itself, GCD_NODE_NONE when
 * NODE is unreachable. */
GCD_API uint32_t gcd_paths_parent(const struct gcd_paths *p, uint32_t node);
/* The number of the root of NODE's path (gcd_summary.roots), SIZE_MAX = none.  Slow: walks the path
 * and searches the roots. */
GCD_API size_t gcd_paths_root(const struct gcd_paths *p, uint32_t node);

/* As gcd_dominators_pseudo_roots.  gcd_paths_root has no number for pseudo-roots. */
GCD_API uint32_t gcd_paths_pseudo_roots(const struct gcd_paths *p);

/* The number of reachable nodes; all of them by path length, late groups at the end, each after its
 * parent: [gcd_paths_reachable()] */
GCD_API uint32_t gcd_paths_reachable(const struct gcd_paths *p);
GCD_API const uint32_t *gcd_paths_order(const struct gcd_paths *p);

/* ---- everything that holds one object ---- */

/*
 * One path for each root that holds the object, in the order of roots, then one for each node that
 * refers to it, in the order of gcd_paths_order.  Late roots come last if earlier ones reach the
 * object.  No path visits the object twice.
 */
struct gcd_object_paths;

struct gcd_object_paths_options {
    struct gcd_context context;
    uint32_t object; /* a node */
    uint32_t max;    /* paths to keep; others are only counted */
};

/* G and its paths P must outlive the result.  GCD_E_NOMEM, GCD_E_CANCELED.  Memory during the call:
 * 2 bits per node. */
GCD_API GCD_MUST_CHECK gcd_status
gcd_object_paths_new(const struct gcd_graph *g, const struct gcd_paths *p,
                     const struct gcd_object_paths_options *options, struct gcd_object_paths **ret,
                     struct gcd_error *err);
GCD_API void gcd_object_paths_free(struct gcd_object_paths *o);

/* The number of kept paths; *RET_MORE: the number of others. */
GCD_API size_t gcd_object_paths_count(const struct gcd_object_paths *o, uint64_t *ret_more);

struct gcd_object_step {
    uint32_t node;
    bool dependent; /* a dependent handle keeps it alive, not a reference */
};
struct gcd_object_path {
    size_t root; /* SIZE_MAX: a pseudo-root */
    /* [count] from the object to the node that the root holds; valid until the next call */
    const struct gcd_object_step *steps;
    size_t count;
};
/* Path number I, less than the count.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_object_paths_get(struct gcd_object_paths *o, size_t i,
                                                       struct gcd_object_path *ret,
                                                       struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
