/*
 * Sums of numbers that an input gave.
 */
#ifndef GCD_BASE_OVF_H
#define GCD_BASE_OVF_H

#include <stdint.h>

/* These never wrap to something small: they stay at 2^64-1, so the order of several does not matter. */
static inline uint64_t gcd_sum_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void gcd_add_saturating(uint64_t *sum, uint64_t n)
{
    *sum = gcd_sum_saturating(*sum, n);
}

#endif
