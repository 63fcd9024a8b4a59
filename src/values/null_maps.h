/*
 * Null maps (gcdumpc/unstable/null_maps.h): an address, a bit for each reference, and a check of
 * what the references that are not null lead to.  They are the references of a walk only if the
 * check is that of its references, too.
 */
#ifndef GCD_VALUES_NULL_MAPS_H
#define GCD_VALUES_NULL_MAPS_H

#include <gcdumpc/unstable/null_maps.h>

#include "base/cur.h"

struct null_map {
    uint64_t address; /* the first: gcd_sort_by_u64 */
    uint64_t at;      /* of its bits: bit 0 of the first byte is the first reference */
    uint32_t slots;   /* bits; set = not null */
    uint32_t check;
};

struct gcd_null_maps {
    struct gcd_alloc alloc;
    uint64_t most; /* bytes */
    struct gcd_null_maps_facts facts;
    struct null_map *maps; /* by address after null_maps_sort */
    size_t count, cap;
    uint8_t *bits; /* [bit_bytes] */
    size_t bit_bytes, bit_room;
};

static inline size_t null_map_bytes(const struct null_map *m)
{
    return (size_t)(m->slots / 8) + (m->slots % 8 != 0);
}

/* The check of references: MIX for the address of each, in their order, from 0 on. */
static inline uint64_t null_map_mix(uint64_t sum, uint64_t address)
{
    uint64_t h = (sum ^ address) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}
static inline uint32_t null_map_check(uint64_t sum)
{
    return (uint32_t)sum;
}

/* At most limits->text_bytes.  GCD_E_NOMEM. */
gcd_status null_maps_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                         struct gcd_null_maps **ret, struct gcd_error *err);
void null_maps_free(struct gcd_null_maps *m);
/* A map as LIKE says, with all bits 0; *RET: its bits, until the next call.  GCD_E_NOMEM;
 * GCD_E_LIMIT. */
gcd_status null_maps_add(struct gcd_null_maps *m, const struct null_map *like, uint8_t **ret,
                         struct gcd_error *err);
/* Takes the last map back. */
void null_maps_drop(struct gcd_null_maps *m);
/* Keeps the maps for whose numbers KEEP says so, as long as they are in the order in which they
 * came. */
void null_maps_keep(struct gcd_null_maps *m, bool (*keep)(void *ctx, size_t i), void *ctx);
/* Puts the maps in order. */
gcd_status null_maps_sort(struct gcd_null_maps *m, struct gcd_error *err);
/* That of the object at ADDRESS, NULL = none; they are sorted.  *NEXT: the number of the one that
 * is likely asked for next. */
const struct null_map *null_maps_find(const struct gcd_null_maps *m, uint64_t address,
                                      size_t *next);

/* ---- as the payloads of events ---- */

/*
 * A part is one of values_pack.c.  Its records: the address as the difference to the one before
 * (the first: to 0), the number of references, each with seven bits a byte, the check u32; then the
 * bits, which may go on in the next part.
 */
struct null_maps_writing {
    const struct gcd_null_maps *m;
    size_t next; /* map */
    size_t open; /* so many bytes of the bits of the map before it are still to come */
    uint64_t last;
    uint32_t parts;
};
/* The next payload in BUFFER[VALUES_PART_BYTES]; *RET_N 0 = no more. */
gcd_status null_maps_writing_next(struct null_maps_writing *w, uint8_t *buffer, size_t *ret_n,
                                  struct gcd_error *err);

struct null_maps_reading {
    struct gcd_null_maps *m;
    size_t open; /* as above */
    uint64_t last;
    uint32_t parts;
};
/* Adds the records of the next payload.  GCD_E_FORMAT; GCD_E_NOMEM; GCD_E_LIMIT. */
gcd_status null_maps_read_part(struct null_maps_reading *r, const uint8_t *payload, size_t n,
                               struct gcd_error *err);

#endif
