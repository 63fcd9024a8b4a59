/*
 * Who holds objects, when there are no paths: the order of roots (enum gcd_root_group) and what
 * earlier groups reach; and for all objects of some types, what dominates them and what they
 * retain.
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

/* Does a root of GROUP count only for what no earlier group reaches?  Weak roots never count. */
static inline bool gcd_group_is_late(enum gcd_root_group group)
{
    return group >= GCD_GROUP_LOCALS;
}

/*
 * Sets the bits in REACHED[(nodes + 63) / 64] of all nodes that roots of the groups before LIMIT
 * reach.  On entry, all bits are 0, or REACHED is the result for an earlier group, which is then
 * extended: nothing is followed from a node whose bit is set, so one may also set those that no way
 * may lead over.  CONTEXT may be NULL; no progress.  GCD_E_NOMEM, GCD_E_CANCELED.  Memory during
 * the call: 4 bytes per node with references, 1 bit per node.  No recursion.
 */
GCD_MUST_CHECK gcd_status gcd_reached_before(const struct gcd_graph *g, enum gcd_root_group limit,
                                             const struct gcd_context *context, uint64_t *reached,
                                             struct gcd_error *err);

/* Do only roots of late groups reach NODE?  For a root of GCD_GROUP_LOCALS that is what
 * gcd_reached_before would say. */
bool gcd_dominators_is_late(const struct gcd_dominators *d, uint32_t node);

/* ---- all objects of some types ---- */

/* Objects of one type that dominate some of the given objects; sums saturate. */
struct gcd_dominating_type {
    uint64_t dominators, dominator_bytes; /* each counted once, with its own bytes */
    uint64_t objects, bytes;              /* the given objects that they dominate */
};

/* For each type, not 0 = included. */
struct gcd_dominators_of {
    /* [type_count of the graph] find the dominators of these */
    const uint8_t *types;
    /* [type_count] skip dominators of these types and take theirs; NULL = skip none */
    const uint8_t *skip;
};

/*
 * The nearest dominator of each live object of OF->types, as in Eclipse MAT's "immediate
 * dominators".  RET[type_count + 1], by the type of the dominators; the last entry is for objects
 * that no single object dominates, and has 0 dominators. CONTEXT may be NULL.  Linear, without
 * recursion; memory during the call: 4.2 bytes per node.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_immediate_dominators(
    const struct gcd_graph *g, const struct gcd_dominators *d, const struct gcd_dominators_of *of,
    const struct gcd_context *context, struct gcd_dominating_type *ret, struct gcd_error *err);

struct gcd_content {
    uint64_t objects, bytes; /* saturating */
};

/*
 * As gcd_retained_set (retained.h), also with the retained objects by type, including those of
 * TYPES: RET_CONTENT[type_count of G].  Same errors and memory.
 */
GCD_MUST_CHECK gcd_status gcd_retained_content(const struct gcd_graph *g, const uint8_t *types,
                                               const struct gcd_context *context,
                                               struct gcd_retained_set *ret,
                                               struct gcd_content *ret_content,
                                               struct gcd_error *err);

#endif
