/*
 * What the roots of each group keep alive as a set: statics together, thread stacks together, and
 * so on.
 */
#ifndef GCDUMPC_ROOT_SETS_H
#define GCDUMPC_ROOT_SETS_H

#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_root_set {
    uint64_t roots;
    uint64_t objects, bytes; /* reached by them, possibly also by other groups */
    /* reached by no other group: freed with all roots of this one */
    uint64_t retained_objects, retained_bytes;
    /* reached by no group before it in the order of enum gcd_root_group */
    uint64_t claimed_objects, claimed_bytes;
};

/*
 * Retained, shared, unreachable and frozen objects add up to all objects of the graph; so do
 * claimed, unreachable and frozen ones.  Bytes likewise.  Sums saturate.
 */
struct gcd_root_sets {
    /* by enum gcd_root_group; weak roots reach nothing */
    struct gcd_root_set groups[GCD_GROUPS];
    /* used without a strong root: gcd_dominators_pseudo_roots */
    struct gcd_root_set pseudo_roots;
    uint64_t shared_objects, shared_bytes; /* reached by several groups */
    /* reached only by weak roots, or by none */
    uint64_t unreachable_objects, unreachable_bytes;
    /* so, too, but code holds them: gcd_is_frozen */
    uint64_t frozen_objects, frozen_bytes;
};

/*
 * Exact, without a dominator tree, because roots of one group often share what they hold.  CONTEXT
 * may be NULL.  GCD_E_NOMEM, GCD_E_CANCELED.  Memory during the call: 6 bytes per node, 11 without
 * roots.  No recursion; visits a node at most once per group.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_root_sets_of(const struct gcd_graph *g,
                                                   const struct gcd_context *context,
                                                   struct gcd_root_sets *ret,
                                                   struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
