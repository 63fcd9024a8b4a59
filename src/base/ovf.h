/* Sums and products of numbers from the input. */
#ifndef GCD_BASE_OVF_H
#define GCD_BASE_OVF_H

#include <stddef.h>
#include <stdint.h>

/* These never wrap: they saturate at 2^64-1, so several can be combined in any order. */
static inline uint64_t gcd_sum_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void gcd_add_saturating(uint64_t *sum, uint64_t n)
{
    *sum = gcd_sum_saturating(*sum, n);
}

/*
 * The same for memory sizes, where size_t may have 32 bits: they saturate at SIZE_MAX, which no
 * allocator grants and gcd_vec_reserve refuses.  An excessive size thus ends as "out of memory" and
 * never as a block that is too small.
 */
static inline size_t gcd_size_sum(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t gcd_size_product(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* A limit given by the user, as a memory size. */
static inline size_t gcd_size_of(uint64_t n)
{
    return n < SIZE_MAX ? (size_t)n : SIZE_MAX;
}

#endif
