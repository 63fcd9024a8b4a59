/* All memory of the library comes from these functions; sizes are multiplied and added with
 * overflow checks. */
#ifndef GCD_BASE_MEM_H
#define GCD_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/* A limit of struct gcd_limits; 0 means the default. */
static inline uint64_t gcd_limit_or(uint64_t limit, uint64_t def)
{
    return limit != 0 ? limit : def;
}

/* A copy of A, or malloc and friends for NULL. */
struct gcd_alloc gcd_alloc_or_default(const struct gcd_alloc *a);
/* Is it the default allocator, which counts nothing and whose memory is in no file? */
bool gcd_alloc_is_default(const struct gcd_alloc *a);

/* Zeroed memory, NULL when out of memory. */
void *gcd_mem_new(const struct gcd_alloc *a, size_t bytes);
/* COUNT * ITEM_BYTES of zeroed memory; NULL also when the product overflows. */
void *gcd_mem_new_array(const struct gcd_alloc *a, size_t count, size_t item_bytes);
/* The same without clearing: memory that is never written costs nothing.  For arrays as large as
 * the heap. */
void *gcd_mem_new_uncleared(const struct gcd_alloc *a, size_t count, size_t item_bytes);
/* BYTES must be the size that was allocated.  PTR may be NULL. */
void gcd_mem_free(const struct gcd_alloc *a, void *ptr, size_t bytes);

/*
 * A growable array: ITEMS points to the caller's typed pointer.  Makes room for a total of NEED
 * items of ITEM_BYTES by doubling, but never above MAX items; new items are zeroed.  False when out
 * of memory or NEED > MAX; then nothing has changed.
 */
bool gcd_vec_reserve(const struct gcd_alloc *a, void *items, size_t *cap, size_t need,
                     size_t item_bytes, size_t max);

/* A NUL-terminated copy of N bytes; free with gcd_mem_free(a, s, n + 1). */
char *gcd_mem_strndup(const struct gcd_alloc *a, const char *s, size_t n);

#endif
