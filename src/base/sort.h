/* Sorting for the library: stable, not recursive, with one buffer of the same size, whatever the
 * input order. */
#ifndef GCD_BASE_SORT_H
#define GCD_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/* Sorts N items of ITEM_BYTES that begin with a uint64_t, ascending.  False when out of memory;
 * nothing has moved then. */
bool gcd_sort_by_u64(const struct gcd_alloc *a, void *items, size_t n, size_t item_bytes);

/* A number with a sign as a key in that order, and back. */
static inline uint64_t gcd_sort_key(int64_t n)
{
    return (uint64_t)n ^ UINT64_C(1) << 63;
}
static inline int64_t gcd_sort_number(uint64_t key)
{
    return (int64_t)(key ^ UINT64_C(1) << 63);
}

/* How many of these sorted items begin with a number of at most KEY? */
static inline size_t gcd_count_up_to(const void *items, size_t n, size_t item_bytes, uint64_t key)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (*(const uint64_t *)((const char *)items + middle * item_bytes) <= key)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/*
 * Sorts N ids with COMPARE (negative, 0, positive, as for qsort).  Each level of the sort compares
 * each item about once, so long texts with equal beginnings cost no more than that.  False when out
 * of memory.
 */
bool gcd_sort_numbers(const struct gcd_alloc *a, uint32_t *items, size_t n,
                      int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);

/* The numbers 0 .. N - 1 in sorted order; NULL when out of memory.  Free with gcd_mem_free(a,
 * items, n * sizeof *items). */
uint32_t *gcd_sort_order(const struct gcd_alloc *a, size_t n,
                         int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);

#endif
