/*
 * Paths to the objects of some types that do not lead through other objects of these types.
 *
 * What holds the sessions of a program?  A session in a dictionary can refer to a list in which all
 * of them are, such as the callbacks of a CancellationTokenSource; by shortest paths, the
 * dictionary then holds them all.
 */
#ifndef GCDUMPC_UNSTABLE_PATHS_AROUND_H
#define GCDUMPC_UNSTABLE_PATHS_AROUND_H

#include <gcdumpc/paths.h>

/* TYPES[type_count]: not 0 = one of these types.  *RET: does a path of P, in G, lead through one of
 * their objects to another?  A bit per node during the call.  CONTEXT may be NULL.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_paths_meet(const struct gcd_paths *p, const struct gcd_graph *g,
                                         const uint8_t *types, const struct gcd_context *context,
                                         bool *ret, struct gcd_error *err);

/* As gcd_paths_new, but a path leads through an object of TYPES only to what can be reached in no
 * other way; to find them takes 4 bytes more per node with references. */
GCD_MUST_CHECK gcd_status gcd_paths_around_new(const struct gcd_graph *g, const uint8_t *types,
                                               const struct gcd_context *context,
                                               struct gcd_paths **ret, struct gcd_error *err);

#endif
