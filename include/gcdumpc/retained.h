/*
 * Retained sizes of types, and the objects that retain the most.
 */
#ifndef GCDUMPC_RETAINED_H
#define GCDUMPC_RETAINED_H

#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The bytes that the objects of each type keep alive as a set: the retained sizes of those objects
 * that have no object of the same type above them in the dominator tree, so nothing counts twice.
 * This is a lower bound: it omits what several objects of the type keep alive only together.
 * RET_BYTES[type_count of G], saturating.  ALLOC may be NULL.  Memory during the call: at most 12
 * bytes per node; no recursion.  Uses the threads that D was made with.  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_by_type(const struct gcd_graph *g,
                                                       const struct gcd_dominators *d,
                                                       const struct gcd_alloc *alloc,
                                                       uint64_t *ret_bytes, struct gcd_error *err);

#define GCD_CLASS_NONE UINT32_MAX

struct gcd_type_classes {
    /* [type_count of the graph] below COUNT, or GCD_CLASS_NONE; NULL: each type is a class */
    const uint32_t *of_type;
    uint32_t count;
};
/* The same for classes of types, such as the types of a module.  RET_BYTES[CLASSES->count]. */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_by_class(const struct gcd_graph *g,
                                                        const struct gcd_dominators *d,
                                                        const struct gcd_type_classes *classes,
                                                        const struct gcd_alloc *alloc,
                                                        uint64_t *ret_bytes, struct gcd_error *err);

/*
 * Exactly what all objects of some types keep alive together: everything that no root reaches
 * without going through them, including the objects themselves.  Takes one walk through the graph
 * per call; needs no dominator tree.
 */
struct gcd_retained_set {
    uint64_t objects, bytes;                   /* live objects of the types */
    uint64_t retained_objects, retained_bytes; /* including those; bytes saturate */
};
/* TYPES[type_count of G]: not 0 = wanted.  CONTEXT may be NULL.  Memory: 4.3 bytes per node.
 * GCD_E_NOMEM, GCD_E_CANCELED. */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_set(const struct gcd_graph *g, const uint8_t *types,
                                                   const struct gcd_context *context,
                                                   struct gcd_retained_set *ret,
                                                   struct gcd_error *err);

/*
 * The objects of TYPES (as above; NULL = all) that retain at least MIN_BYTES, the largest first,
 * equal ones by number.  On entry, *N is the capacity of RET_NODES; on return, the number of nodes.
 */
GCD_API void gcd_retained_largest(const struct gcd_graph *g, const struct gcd_dominators *d,
                                  const uint8_t *types, uint64_t min_bytes, uint32_t *ret_nodes,
                                  uint32_t *n);

#ifdef __cplusplus
}
#endif
#endif
