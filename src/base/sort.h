/*
 * Sorting for the library: stable, without recursion, with one buffer of the same size, whatever the order of the input.
 */
#ifndef GCD_BASE_SORT_H
#define GCD_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/alloc.h>

/* N items of ITEM_BYTES that begin with a uint64_t, in its ascending order.  False when out of memory; nothing has moved then. */
bool gcd_sort_by_u64(const struct gcd_alloc *a, void *items, size_t n, size_t item_bytes);

#endif
