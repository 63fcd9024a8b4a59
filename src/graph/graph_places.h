/*
 * The places of references: how many references of its object, null ones too, lie before each in
 * memory.  Most follow the one before without a gap, so only gaps are kept: a bit for each
 * reference, and 2 bytes for each that comes after a gap.
 */
#ifndef GCD_GRAPH_GRAPH_PLACES_H
#define GCD_GRAPH_GRAPH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

struct graph_places {
    bool on;         /* they are known */
    uint64_t *gaps;  /* bit E: reference E does not follow the one before it */
    uint32_t *ranks; /* for each block of PLACES_BLOCK bits: gaps before it */
    /* [shift_count] for each gap: place + 1 - number among the references of its object, one of
     * which may have no place; or that it is in WIDE; or that there is no place */
    uint16_t *shifts;
    struct graph_place_shift {
        uint32_t gap, shift;
    } * wide; /* ascending by gap */
    size_t gap_room, rank_room, shift_room, shift_count, wide_room, wide_count;
    uint64_t edges;      /* so many have been put */
    uint64_t next_shift; /* of a reference without a gap */
};
#define PLACES_BLOCK 512u
#define PLACES_NONE  UINT32_MAX

void graph_places_done(struct graph_places *p, const struct gcd_alloc *a);
uint64_t graph_places_bytes(const struct graph_places *p);
void graph_places_shrink(struct graph_places *p, const struct gcd_alloc *a);

/*
 * The next reference, number INDEX of its object, is at PLACE;
 * PLACES_NONE = none.  False when out of memory.
 */
bool graph_places_put(struct graph_places *p, const struct gcd_alloc *a, uint64_t index,
                      uint64_t place);
/* The place of the reference INDEX of an object whose references begin at FIRST; PLACES_NONE. */
uint32_t graph_places_of(const struct graph_places *p, uint64_t first, uint64_t index);

#endif
