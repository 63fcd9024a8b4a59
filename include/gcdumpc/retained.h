/*
 * Retained sizes of types, from the dominator tree.
 */
#ifndef GCDUMPC_RETAINED_H
#define GCDUMPC_RETAINED_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the objects of each type keep alive as a set: the bytes below those of them in the dominator tree that have no object of the same
 * type above them, so nothing is counted twice.  It is a lower bound: what several objects of the type keep alive only
 * together is not in it.  RET_BYTES[gcd_graph_type_count(G)], saturating.  ALLOC may be NULL.  Memory: 8 bytes a node while it runs; no recursion.
 * GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_by_type(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                       const struct gcd_alloc *alloc, uint64_t *ret_bytes, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
