/* Which references of objects are null, read beside a walk. */
#ifndef GCD_VALUES_WATCHED_MAPS_H
#define GCD_VALUES_WATCHED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values/null_maps.h"

/* Where the objects with one method table have references: the GCDesc before it. */
struct watched_layout {
    uint32_t first, count; /* runs */
    uint32_t base_bytes, component_bytes;
    uint64_t repeated_from; /* 0; or the runs are of each element of an array, from here on */
};
struct watched_run {
    uint64_t at, more; /* the offset, and bytes less the size of the object; repeated: references,
                          and bytes behind them */
};

struct watched_maps {
    struct gcd_alloc alloc;
    struct gcd_null_maps *maps; /* NULL: nothing is read */
    /* copies N bytes at ADDRESS of the process; returns how many it has */
    size_t (*read)(void *ctx, uint64_t address, void *ret, size_t n);
    void *ctx;
    /* the generation of the object at ADDRESS */
    uint8_t (*generation)(void *ctx, uint64_t address);
    void *generation_ctx;
    struct watched_layout *layouts;
    struct watched_run *runs;
    size_t layout_count, layout_cap, run_count, run_cap;
    struct watched_map_time {
        uint32_t batch;
        uint8_t generation; /* the youngest of those that its references lead to */
    } * times;              /* [maps->count] */
    size_t time_cap;
    uint64_t listed;  /* objects of the walk that want a map, */
    uint64_t changed; /* were no longer there, or had other references */
};

void watched_maps_done(struct watched_maps *w);
/* The type with the method table TABLE, whose flags and size are HEAD; *RET: its number,
 * WATCHED_NO_MAPS if its objects have no references, or nobody wants maps.  GCD_E_NOMEM. */
#define WATCHED_NO_MAPS UINT32_MAX
gcd_status watched_maps_type(struct watched_maps *w, uint64_t table, uint64_t head, uint32_t *ret,
                             struct gcd_error *err);
/* Has an object of type NUMBER, of SIZE bytes, more places for references than EDGES of the walk,
 * so that some are null, or is it an array of structs? */
bool watched_maps_wants(const struct watched_maps *w, uint32_t number, uint64_t size,
                        uint64_t edges);

struct watched_map_object {
    uint64_t address, size, table;
    uint32_t number, edges;
};
/* Up to the end of its last reference; 0 = it cannot be. */
uint64_t watched_map_end(const struct watched_maps *w, const struct watched_map_object *o);

/* The map of an object, of whose memory one piece after the other comes. */
struct watched_map_taking {
    struct watched_maps *w;
    const struct watched_map_object *o;
    const struct watched_layout *layout;
    uint8_t *bits;
    uint64_t sum;                   /* null_map_mix */
    uint64_t at, left, element;     /* of the run at hand: offset, references; number */
    uint32_t slot, slots, set, run; /* numbers */
    uint8_t generation;
    bool wrong; /* it is not the object of the walk */
};
gcd_status watched_map_begin(struct watched_maps *w, const struct watched_map_object *o,
                             struct watched_map_taking *t, struct gcd_error *err);
/* P[N] is at offset FROM of the object, the first time 0, a multiple of 8. */
void watched_map_take(struct watched_map_taking *t, const uint8_t *p, uint64_t from, size_t n);
/* It was read in BATCH. */
gcd_status watched_map_end_taking(struct watched_map_taking *t, uint32_t batch,
                                  struct gcd_error *err);

#endif
