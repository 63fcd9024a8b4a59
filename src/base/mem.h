/*
 * All memory of the library goes through these; sizes are multiplied and added with a check.
 */
#ifndef GCD_BASE_MEM_H
#define GCD_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/* A limit of struct gcd_limits: 0 stands for the default. */
static inline uint64_t gcd_limit_or(uint64_t limit, uint64_t def)
{
    return limit != 0 ? limit : def;
}

/* A copy of A, or malloc and friends for NULL. */
struct gcd_alloc gcd_alloc_or_default(const struct gcd_alloc *a);

/* Zeroed memory, NULL when out of memory. */
void *gcd_mem_new(const struct gcd_alloc *a, size_t bytes);
/* COUNT * ITEM_BYTES of zeroed memory; NULL also when the product overflows. */
void *gcd_mem_new_array(const struct gcd_alloc *a, size_t count, size_t item_bytes);
/* The same with any content: what is never written to costs no memory.  For arrays of the size of a heap. */
void *gcd_mem_new_uncleared(const struct gcd_alloc *a, size_t count, size_t item_bytes);
/* BYTES must be what was asked for.  PTR may be NULL. */
void gcd_mem_free(const struct gcd_alloc *a, void *ptr, size_t bytes);

/*
 * A growable array: ITEMS points to the caller's typed pointer.  Makes room for NEED items of ITEM_BYTES in all, doubling
 * but never above MAX items; new items are zeroed.  False when out of memory or NEED > MAX; then nothing has changed.
 */
bool gcd_vec_reserve(const struct gcd_alloc *a, void *items, size_t *cap, size_t need, size_t item_bytes, size_t max);

/* A NUL-terminated copy of N bytes; free with gcd_mem_free(a, s, n + 1). */
char *gcd_mem_strndup(const struct gcd_alloc *a, const char *s, size_t n);

#endif
