/*
 * Retained sizes of types, and the objects that retain most.
 */
#ifndef GCDUMPC_RETAINED_H
#define GCDUMPC_RETAINED_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the objects of each type keep alive as a set: the bytes below those of them in the dominator tree that have no object of the same
 * type above them, so nothing is counted twice.  It is a lower bound: what several objects of the type keep alive only
 * together is not in it.  RET_BYTES[type_count of G], saturating.  ALLOC may be NULL.  Memory: at most 12 bytes a node while
 * it runs; no recursion.  On as many threads as D was made with.  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_by_type(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                       const struct gcd_alloc *alloc, uint64_t *ret_bytes, struct gcd_error *err);

/*
 * The same for types that belong together, such as those of a module: CLASS_OF_TYPE[type_count of G] is the number of each type's
 * class, below CLASSES, or GCD_CLASS_NONE.  NULL: each type is a class.  RET_BYTES[CLASSES].
 */
#define GCD_CLASS_NONE UINT32_MAX
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_by_class(const struct gcd_graph *g, const struct gcd_dominators *d, const uint32_t *class_of_type,
                                                        uint32_t classes, const struct gcd_alloc *alloc, uint64_t *ret_bytes, struct gcd_error *err);

/*
 * What all objects of some types together keep alive, exactly: what no root reaches any more when nothing leads through them, they
 * themselves included.  One walk through the graph for each call, in place of a dominator tree.
 */
struct gcd_retained_set {
    uint64_t objects, bytes;     /* of the types, and alive */
    uint64_t retained_objects, retained_bytes;   /* with those; bytes saturate */
};
/* TYPES[type_count of G]: not 0 = one of them.  ALLOC and CANCEL may be NULL.  Memory: 4.3 bytes a node.  GCD_E_NOMEM, GCD_E_CANCELED. */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_set(const struct gcd_graph *g, const uint8_t *types, const struct gcd_alloc *alloc,
                                                   const gcd_cancel_flag *cancel, struct gcd_retained_set *ret, struct gcd_error *err);

/*
 * The objects that retain most: those of TYPES (as above; NULL = of all) with at least MIN_BYTES, the largest first, those of the same size
 * by number.  Takes at most *N and says how many it were.  RET_NODES[*N].
 */
GCD_API void gcd_retained_largest(const struct gcd_graph *g, const struct gcd_dominators *d, const uint8_t *types, uint64_t min_bytes,
                                  uint32_t *ret_nodes, uint32_t *n);

#ifdef __cplusplus
}
#endif
#endif
