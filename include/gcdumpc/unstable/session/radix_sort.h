/*
 * Sorts many numbers by 64-bit keys, the largest first: a stable radix sort.
 */
#ifndef GCDUMPC_UNSTABLE_SESSION_RADIX_SORT_H
#define GCDUMPC_UNSTABLE_SESSION_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/status.h>

struct gcd_keyed {
    uint64_t key;
    uint32_t id;
};

/* The rounds of a sort; each reads all items twice. */
#define GCD_RADIX_ROUNDS 6u

/*
 * Sorts (*ITEMS)[N] by key, the largest first, equal ones in their original order.  (*ROOM)[N] is
 * scratch space; the two pointers may be swapped afterwards, also after an error.  CONTEXT may be
 * NULL; progress starts at FIRST_TOTAL[0] + 1 of FIRST_TOTAL[1] and rises by 1 per round.
 * GCD_E_CANCELED: the order is then undefined.
 */
GCD_MUST_CHECK gcd_status gcd_radix_sort(struct gcd_keyed **items, struct gcd_keyed **room,
                                         size_t n, const struct gcd_context *context,
                                         const uint64_t first_total[2], struct gcd_error *err);

#endif
