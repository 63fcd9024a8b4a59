/*
 * A hash table from 64-bit ids (method tables, threads, modules) to small numbers, safe for ids of
 * an untrusted input: every bit of the id and of the table's own seed affects every bit of the
 * slot, so nobody can prepare collisions without knowing the seed.  It grows only with its
 * contents, and clearing it costs no more than filling it.
 */
#ifndef GCD_BASE_IDMAP_H
#define GCD_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

#define GCD_IDMAP_NONE UINT32_MAX

struct gcd_idmap_slot {
    uint64_t id;
    uint32_t value; /* GCD_IDMAP_NONE = empty slot */
};

struct gcd_idmap {
    const struct gcd_alloc *alloc;
    struct gcd_idmap_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t used;
    uint64_t seed;
};

void gcd_idmap_init(struct gcd_idmap *m, const struct gcd_alloc *a);
void gcd_idmap_done(struct gcd_idmap *m);
void gcd_idmap_clear(struct gcd_idmap *m);

/* Insert or replace; VALUE must not be GCD_IDMAP_NONE.  False when out of memory. */
bool gcd_idmap_put(struct gcd_idmap *m, uint64_t id, uint32_t value);

static inline size_t gcd_idmap_home(const struct gcd_idmap *m, uint64_t id)
{
    uint64_t h = id ^ m->seed; /* the finalizer of MurmurHash3 */
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (size_t)(h ^ h >> 33) & (m->slot_count - 1);
}

/* The value of ID or GCD_IDMAP_NONE.  Inline: called once per object of a heap. */
static inline uint32_t gcd_idmap_get(const struct gcd_idmap *m, uint64_t id)
{
    if (m->slot_count == 0)
        return GCD_IDMAP_NONE;
    size_t i = gcd_idmap_home(m, id);
    while (m->slots[i].value != GCD_IDMAP_NONE) {
        if (m->slots[i].id == id)
            return m->slots[i].value;
        i = (i + 1) & (m->slot_count - 1);
    }
    return GCD_IDMAP_NONE;
}

/* The number of ID in M, from 0 in the order of the first calls; GCD_IDMAP_NONE: out of memory. */
uint32_t gcd_idmap_number(struct gcd_idmap *m, uint64_t id);
/* The same for the pair A, B; also GCD_IDMAP_NONE if A is, so that calls can be chained. */
static inline uint32_t gcd_idmap_pair(struct gcd_idmap *m, uint32_t a, uint32_t b)
{
    return a != GCD_IDMAP_NONE ? gcd_idmap_number(m, (uint64_t)a << 32 | b) : GCD_IDMAP_NONE;
}

/* Prefetches the slot that gcd_idmap_get will read first. */
static inline void gcd_idmap_fetch(const struct gcd_idmap *m, uint64_t id)
{
    if (m->slot_count != 0)
        __builtin_prefetch(&m->slots[gcd_idmap_home(m, id)]);
}

#endif
