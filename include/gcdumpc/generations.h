/*
 * Generations: the memory of each, how full it is, and the generation of an object.
 *
 * Needs memory ranges, which a recording has only with keyword 0x400000.  In the loop over the
 * objects of a dump or graph:
 *
 *     gcd_generations_add(generations, object.address, object.size_bytes);
 */
#ifndef GCDUMPC_GENERATIONS_H
#define GCDUMPC_GENERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_generations;

/* Numbers of generations: 0, 1, 2 and these.  Numbers in between have no meaning today, but may
 * occur. */
#define GCD_GENERATION_LOH 3u
#define GCD_GENERATION_POH 4u
/*
 * The object is in no range.  Since .NET 8 it is then in the NonGC heap, whose objects are never
 * collected, like string literals; earlier runtimes report that heap as generation 2.  In an
 * incomplete dump its range may have been lost.
 */
#define GCD_GENERATION_NONE 256u
#define GCD_GENERATIONS     257u

struct gcd_generation {
    uint64_t ranges, used_bytes, reserved_bytes; /* memory; 0 for GCD_GENERATION_NONE */
    uint64_t objects, bytes;                     /* objects counted by gcd_generations_add */
    /* BYTES with each object rounded up to its alignment; the rest of used_bytes is free */
    uint64_t aligned_bytes;
};

/* Makes generations without objects.  ALLOC may be NULL.  The dump or graph of SUMMARY may be freed
 * afterwards.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_generations_new(const struct gcd_summary *summary,
                                                      const struct gcd_alloc *alloc,
                                                      struct gcd_generations **ret,
                                                      struct gcd_error *err);
GCD_API void gcd_generations_free(struct gcd_generations *s);

/*
 * The generation of ADDRESS; GCD_GENERATION_NONE if it is in no range.  *HINT, initially 0, makes
 * look-ups fast in the order of a heap walk.
 */
GCD_API unsigned gcd_generations_find(const struct gcd_generations *s, uint64_t address,
                                      size_t *hint);

/*
 * Frozen objects are literals and types in the program's file or in the NonGC heap, which code
 * holds: no root reaches them, but they live.  Makes generations that tell those from others that
 * no root reaches; *RET is NULL if that cannot be told, because the dump has no ranges, is
 * incomplete, or has GUESSED_ROOTS (gcd_dominators_pseudo_roots).  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_frozen_new(const struct gcd_summary *summary,
                                                 uint32_t guessed_roots,
                                                 const struct gcd_alloc *alloc,
                                                 struct gcd_generations **ret,
                                                 struct gcd_error *err);
/* Is the object at ADDRESS, which no root reaches, frozen?  S may be NULL.  HINT: as above. */
GCD_API bool gcd_is_frozen(const struct gcd_generations *s, uint64_t address, size_t *hint);

/* Counts an object. */
GCD_API void gcd_generations_add(struct gcd_generations *s, uint64_t address, uint64_t size_bytes);

/* NUMBER < GCD_GENERATIONS.  Sums saturate. */
GCD_API const struct gcd_generation *gcd_generations_get(const struct gcd_generations *s,
                                                         unsigned number);

#ifdef __cplusplus
}
#endif
#endif
