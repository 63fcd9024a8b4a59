/*
 * The largest consumer of a heap without suspects, described like one: what it holds, and the path from its root.
 */
#ifndef GCDUMPC_UNSTABLE_LARGEST_CONSUMER_H
#define GCDUMPC_UNSTABLE_LARGEST_CONSUMER_H

#include <gcdumpc/suspects.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * NONE: the answer of gcd_suspects_new to the same questions, which has no suspects.  *RET: suspects of which the first is the largest consumer,
 * or NULL when there is none, as in an empty heap.  Thresholds in OPTIONS do not count.  Fails like gcd_suspects_new.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_largest_consumer(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                       const struct gcd_suspects_options *options, const struct gcd_suspects *none,
                                                       struct gcd_suspects **ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
