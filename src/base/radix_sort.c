#include <gcdumpc/unstable/session/radix_sort.h>

#include <stdbool.h>

#include "base/context.h"
#include "base/error.h"

#define DIGIT_BITS 11u /* GCD_RADIX_ROUNDS of them are 64 bits */
#define DIGITS     (1u << DIGIT_BITS)

/* Sorts by one digit.  False: all items have the same digit. */
static bool sort_digit(const struct gcd_keyed *from, struct gcd_keyed *to, size_t n, unsigned shift)
{
    size_t starts[DIGITS] = { 0 }, at = 0;
    for (size_t i = 0; i < n; i++)
        starts[from[i].key >> shift & (DIGITS - 1)]++;
    if (n == 0 || starts[from[0].key >> shift & (DIGITS - 1)] == n)
        return false;
    for (unsigned d = DIGITS; d-- > 0;) {
        size_t here = starts[d];
        starts[d] = at;
        at += here;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

gcd_status gcd_radix_sort(struct gcd_keyed **items, struct gcd_keyed **room, size_t n,
                          const struct gcd_context *context, const uint64_t first_total[2],
                          struct gcd_error *err)
{
    static const struct gcd_context none;
    for (unsigned p = 0; p < GCD_RADIX_ROUNDS; p++) {
        if (sort_digit(*items, *room, n, p * DIGIT_BITS)) {
            struct gcd_keyed *sorted = *room;
            *room = *items;
            *items = sorted;
        }
        GCD_TRY(gcd_context_step(context != NULL ? context : &none, first_total[0] + p + 1,
                                 first_total[1], err));
    }
    return GCD_OK;
}
