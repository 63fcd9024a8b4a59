/*
 * Sorts many numbers by keys of 64 bits, the largest key first: a stable radix sort.
 */
#ifndef GCDUMPC_UNSTABLE_SESSION_RADIX_SORT_H
#define GCDUMPC_UNSTABLE_SESSION_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_keyed {
    uint64_t key;
    uint32_t id;
};

/* The rounds of a sort, each of which looks at all items twice. */
#define GCD_RADIX_ROUNDS 6u

/*
 * Sorts (*ITEMS)[N] by key, the largest first, equal ones in their order.  (*ROOM)[N], of any content, may have changed places with it afterwards,
 * also after an error.  CONTEXT may be NULL; progress begins with FIRST_TOTAL[0] + 1, a step for each round, of FIRST_TOTAL[1].  GCD_E_CANCELED: the
 * order is then any.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_radix_sort(struct gcd_keyed **items, struct gcd_keyed **room, size_t n, const struct gcd_context *context,
                                                 const uint64_t first_total[2], struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
