/*
 * Generations: how much memory each has, how full it is, and in which one an object lies.
 *
 * Needs the memory ranges, which a recording has only when they were asked for (keyword 0x400000).  In the loop over the objects of a dump
 * or graph:
 *
 *     gcd_generations_add(generations, object.address, object.size_bytes);
 */
#ifndef GCDUMPC_GENERATIONS_H
#define GCDUMPC_GENERATIONS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_generations;

/* Numbers of generations: 0, 1, 2 and these; what lies between is none that is known today, but may occur. */
#define GCD_GENERATION_LOH 3u
#define GCD_GENERATION_POH 4u
/*
 * In no range.  Since .NET 8 that is the NonGC heap: objects that are never collected, like string literals; before, the runtime calls it
 * generation 2.  In an incomplete dump it may be a range that was lost.
 */
#define GCD_GENERATION_NONE 256u
#define GCD_GENERATIONS 257u

struct gcd_generation {
    uint64_t ranges, used_bytes, reserved_bytes;     /* of the memory; 0 for GCD_GENERATION_NONE */
    uint64_t objects, bytes;     /* of the objects that were added */
    uint64_t aligned_bytes;      /* the same bytes with each object rounded up to its alignment: used_bytes without these are free */
};

/* No objects are in them yet.  ALLOC may be NULL.  The dump or graph with that summary may be freed.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_generations_new(const struct gcd_summary *summary, const struct gcd_alloc *alloc,
                                                      struct gcd_generations **ret, struct gcd_error *err);
GCD_API void gcd_generations_free(struct gcd_generations *s);

/*
 * The number of the generation that ADDRESS lies in, GCD_GENERATION_NONE when in no range.  *HINT, 0 at first, makes it fast for addresses
 * that come in the order of a heap walk.
 */
GCD_API unsigned gcd_generations_find(const struct gcd_generations *s, uint64_t address, size_t *hint);

/* Count an object. */
GCD_API void gcd_generations_add(struct gcd_generations *s, uint64_t address, uint64_t size_bytes);

/* NUMBER < GCD_GENERATIONS.  Sums saturate. */
GCD_API const struct gcd_generation *gcd_generations_get(const struct gcd_generations *s, unsigned number);

#ifdef __cplusplus
}
#endif
#endif
