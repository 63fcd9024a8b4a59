/*
 * Sums of numbers that an input gave.
 */
#ifndef GCD_BASE_OVF_H
#define GCD_BASE_OVF_H

#include <stdint.h>

/* Never wraps to something small: stays at 2^64-1. */
static inline void gcd_add_saturating(uint64_t *sum, uint64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = UINT64_MAX;
}

#endif
