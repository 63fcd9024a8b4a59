/*
 * Sorting for the library: stable, without recursion, with one buffer of the same size, whatever the order of the input.
 */
#ifndef GCD_BASE_SORT_H
#define GCD_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/* N items of ITEM_BYTES that begin with a uint64_t, in its ascending order.  False when out of memory; nothing has moved then. */
bool gcd_sort_by_u64(const struct gcd_alloc *a, void *items, size_t n, size_t item_bytes);

/*
 * N numbers of things in the order that COMPARE says (below 0, 0, above 0, as for qsort).  Each level of the sort compares each thing
 * about once: long texts that begin alike cost no more than that.  False when out of memory.
 */
bool gcd_sort_numbers(const struct gcd_alloc *a, uint32_t *items, size_t n, int (*compare)(const void *ctx, uint32_t a, uint32_t b),
                      const void *ctx);

/* The numbers 0 .. N - 1 in that order; NULL when out of memory.  Free with gcd_mem_free(a, items, n * sizeof *items). */
uint32_t *gcd_sort_order(const struct gcd_alloc *a, size_t n, int (*compare)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);

#endif
