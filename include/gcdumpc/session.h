/*
 * One loaded heap and the results computed from it so far, for programs that ask many questions
 * about one graph.
 *
 *     struct gcd_session *s;
 *     const struct gcd_dominators *d;
 *     if (gcd_session_new(graph, NULL, &s, &err) == GCD_OK &&
 *         gcd_session_dominators(s, NULL, &d, &err) == GCD_OK)
 *         printf("%" PRIu64 " bytes are alive\n", gcd_dominators_retained(d, GCD_NODE_ROOT));
 *
 * Everything is computed on first use and kept until the session ends.  A computation that fails or
 * is canceled leaves nothing behind: the next call begins again.
 *
 * Any number of threads may use one session at the same time, except for gcd_session_free.
 * Different computations run at the same time; a thread that needs what another one is computing
 * waits for it, and notices its own cancel flag meanwhile.  The session calls the allocator of its
 * options from one thread at a time; when something else uses that allocator at the same time, it
 * must be thread-safe.
 *
 * CALL, in all functions: the cancel flag, threads and progress of this call; NULL: those of the
 * session's options.  Its allocator and limits are ignored.  Progress is reported only by the
 * thread that computes.
 *
 * Results belong to the session, never change, and live as long as the session.
 */
#ifndef GCDUMPC_SESSION_H
#define GCDUMPC_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/names.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/status.h>
#include <gcdumpc/suspects.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_session;

struct gcd_session_options {
    struct gcd_context context; /* of all computations; memory and flag must outlive the session */
    const struct gcd_names *names; /* must outlive the session; NULL: made in C# spelling */
    /* [type_count] not 0: the program's own types (unstable/origins.h), copied; NULL = by modules
     * and namespaces */
    const uint8_t *mine;
    /* for suspects, as in struct gcd_suspects_options */
    double share;
    uint64_t min_bytes;
    bool only_large;
};

/* G must outlive the session.  OPTIONS may be NULL.  Makes only the names.  GCD_E_NOMEM,
 * GCD_E_LIMIT. */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_new(const struct gcd_graph *g,
                                                  const struct gcd_session_options *options,
                                                  struct gcd_session **ret, struct gcd_error *err);
/* No other thread may still use S. */
GCD_API void gcd_session_free(struct gcd_session *s);

/* The graph that it was made with. */
GCD_API const struct gcd_graph *gcd_session_graph(const struct gcd_session *s);
/* The names of its types. */
GCD_API const struct gcd_names *gcd_session_names(const struct gcd_session *s);

/* ---- results that are kept; for errors and memory see the function in brackets ---- */

/* [gcd_dominators_new] Includes the retained sizes of objects. */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_dominators(struct gcd_session *s,
                                                         const struct gcd_context *call,
                                                         const struct gcd_dominators **ret,
                                                         struct gcd_error *err);
/* [gcd_paths_new] */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_paths(struct gcd_session *s,
                                                    const struct gcd_context *call,
                                                    const struct gcd_paths **ret,
                                                    struct gcd_error *err);
/* [gcd_paths_with_dominators_new] Both; if neither has been computed, faster than one after the
 * other. */
GCD_API GCD_MUST_CHECK gcd_status
gcd_session_paths_with_dominators(struct gcd_session *s, const struct gcd_context *call,
                                  const struct gcd_dominators **ret_dominators,
                                  const struct gcd_paths **ret_paths, struct gcd_error *err);
/* [gcd_retained_by_type] (*RET)[type_count of the graph] in bytes. */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_retained_by_type(struct gcd_session *s,
                                                               const struct gcd_context *call,
                                                               const uint64_t **ret,
                                                               struct gcd_error *err);
/* [gcd_root_sets_of] */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_root_sets(struct gcd_session *s,
                                                        const struct gcd_context *call,
                                                        const struct gcd_root_sets **ret,
                                                        struct gcd_error *err);
/* [gcd_suspects_new] With the thresholds of the session; needs dominators and paths. */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_suspects(struct gcd_session *s,
                                                       const struct gcd_context *call,
                                                       const struct gcd_suspects **ret,
                                                       struct gcd_error *err);

/* ---- lists of nodes: look-ups take constant time once the lists of that kind have been built ----
 */

struct gcd_node_list {
    const uint32_t *nodes; /* [count] in ascending order */
    uint64_t count;
};

/*
 * The objects of TYPE, below type_count of the graph.  The first call walks over all nodes and
 * keeps 4 bytes per node and 8 per type.  GCD_E_NOMEM, GCD_E_CANCELED, like the next two.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_objects_of_type(struct gcd_session *s,
                                                              const struct gcd_context *call,
                                                              uint32_t type,
                                                              struct gcd_node_list *ret,
                                                              struct gcd_error *err);
/*
 * The children of NODE in the dominator tree; for GCD_NODE_ROOT, the objects that no single object
 * dominates.  Keeps 12 bytes per node besides the dominators.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_dominated_by(struct gcd_session *s,
                                                           const struct gcd_context *call,
                                                           uint32_t node, struct gcd_node_list *ret,
                                                           struct gcd_error *err);
/*
 * The objects that refer to NODE, one entry for each reference, so an object can occur several
 * times.  Roots are in the summary, dependent handles in the graph.  Keeps 4 bytes per reference
 * and 8 per node.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_session_referrers(struct gcd_session *s,
                                                        const struct gcd_context *call,
                                                        uint32_t node, struct gcd_node_list *ret,
                                                        struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
