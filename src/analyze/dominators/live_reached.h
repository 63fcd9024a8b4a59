/* What roots lead to. */
#ifndef GCD_ANALYZE_LIVE_REACHED_H
#define GCD_ANALYZE_LIVE_REACHED_H

#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#include "analyze/dominators/live_edges.h"

/*
 * gcd_reached_before (root_order.h) along the references of F.  CANCEL may be NULL.  GCD_E_NOMEM,
 * GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status live_reached(const struct live_edges *f, enum gcd_root_group limit,
                                       const gcd_cancel_flag *cancel, uint64_t *reached,
                                       struct gcd_error *err);

#endif
