/*
 * Who holds objects, where there are no paths: the order of roots (enum gcd_root_group), with what the groups before one reach; and for all objects
 * of some types, what dominates them and what they retain.
 */
#ifndef GCDUMPC_UNSTABLE_ROOT_ORDER_H
#define GCDUMPC_UNSTABLE_ROOT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/retained.h>
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

/* ---- all objects of some types ---- */

/* Objects of one type that dominate some of the objects asked about; sums saturate. */
struct gcd_dominating_type {
    uint64_t dominators, dominator_bytes;    /* each once, with their own bytes */
    uint64_t objects, bytes;                 /* what they dominate of the objects asked about */
};

/* Of each type, not 0 = it is one of them. */
struct gcd_dominators_of {
    const uint8_t *types;                    /* [type_count of the graph] whose dominators */
    const uint8_t *skip;                     /* [type_count] types of dominators that are passed, on to what dominates them; NULL = none */
};

/*
 * The nearest dominator of each live object of OF->types, as Eclipse MAT's "immediate dominators" has it.  RET[type_count + 1], by the type of the
 * dominators; the last one is of the objects that no single object dominates, and its dominators are 0.
 * CONTEXT may be NULL.  Linear, without recursion; memory during the call: 4.2 bytes per node.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_immediate_dominators(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                           const struct gcd_dominators_of *of, const struct gcd_context *context,
                                                           struct gcd_dominating_type *ret, struct gcd_error *err);

struct gcd_content {
    uint64_t objects, bytes;                 /* saturating */
};

/*
 * gcd_retained_set (retained.h) with the retained objects by type, those of TYPES among them: RET_CONTENT[type_count of G].  The same errors and
 * memory.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_retained_content(const struct gcd_graph *g, const uint8_t *types, const struct gcd_context *context,
                                                       struct gcd_retained_set *ret, struct gcd_content *ret_content, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
