/*
 * Growth, as all comparisons of dumps define it.
 */
#ifndef GCD_ANALYZE_GROWTH_H
#define GCD_ANALYZE_GROWTH_H

#include <stdbool.h>

#include <gcdumpc/diff.h>

/* Compares the growth from A0 to A1 with that from B0 to B1.  Negative: the first grew more.  Exact
 * for all numbers. */
static inline int growth_compare(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
    bool a_up = a1 >= a0, b_up = b1 >= b0;
    if (a_up != b_up)
        return a_up ? -1 : 1;
    uint64_t a = a_up ? a1 - a0 : a0 - a1, b = b_up ? b1 - b0 : b0 - b1;
    return a == b ? 0 : (a > b) == a_up ? -1 : 1;
}

/* The same for sums of the first dump and of dump number LAST: by bytes, then by objects. */
static inline int growth_compare_sums(const struct gcd_diff_sum *a, const struct gcd_diff_sum *b,
                                      size_t last)
{
    int c = growth_compare(a[0].bytes, a[last].bytes, b[0].bytes, b[last].bytes);
    return c != 0 ? c
                  : growth_compare(a[0].objects, a[last].objects, b[0].objects, b[last].objects);
}

#endif
