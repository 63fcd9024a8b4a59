/*
 * What the roots of each group keep alive, as a set: statics together, local variables together, and so on.
 */
#ifndef GCDUMPC_ROOT_SETS_H
#define GCDUMPC_ROOT_SETS_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_root_set {
    uint64_t roots;
    uint64_t objects, bytes;     /* that they lead to; other groups may lead there, too */
    uint64_t retained_objects, retained_bytes;   /* that no other group leads to: what would go with all roots of this one */
    uint64_t claimed_objects, claimed_bytes;     /* that no group before it in the order of enum gcd_root_group leads to */
};

/*
 * All objects of the graph are those that are retained, shared and unreachable, and those that are claimed and unreachable; bytes
 * likewise.  Sums saturate.
 */
struct gcd_root_sets {
    struct gcd_root_set groups[GCD_GROUPS];      /* by enum gcd_root_group; weak roots lead to nothing */
    struct gcd_root_set pseudo_roots;               /* for roots, when there is no strong one: gcd_dominators_pseudo_roots */
    uint64_t shared_objects, shared_bytes;       /* that several groups lead to */
    uint64_t unreachable_objects, unreachable_bytes;     /* that only weak roots lead to, or none */
};

/*
 * Exact, not from a dominator tree: roots of one group often share what they hold.  ALLOC and CANCEL may be NULL.
 * GCD_E_NOMEM, GCD_E_CANCELED.  Memory while it runs: 6 bytes a node, 11 without roots.  No recursion; no node is met more often than there
 * are groups.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_root_sets_of(const struct gcd_graph *g, const struct gcd_alloc *alloc, const gcd_cancel_flag *cancel,
                                                   struct gcd_root_sets *ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
