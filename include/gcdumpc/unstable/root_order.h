/*
 * The order of roots (enum gcd_root_group) where there are no paths: what do the groups before one reach?
 */
#ifndef GCDUMPC_UNSTABLE_ROOT_ORDER_H
#define GCDUMPC_UNSTABLE_ROOT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does a root of GROUP count only for what no group before it reaches?  Weak ones never count. */
static inline bool gcd_group_is_late(enum gcd_root_group group)
{
    return group >= GCD_GROUP_REFCOUNTED;
}

/*
 * Sets the bits of all nodes in REACHED[(nodes + 63) / 64] that roots of the groups before LIMIT lead to.  Before, all are 0, or it is the answer for
 * a group before LIMIT, from where it goes on.  CONTEXT may be NULL; no progress.  GCD_E_NOMEM, GCD_E_CANCELED.  Memory during the call: 4 bytes per
 * node with references, 1 bit per node.  No recursion.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_reached_before(const struct gcd_graph *g, enum gcd_root_group limit, const struct gcd_context *context,
                                                     uint64_t *reached, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
