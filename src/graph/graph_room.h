/* Arrays of a graph, which grow while it is built. */
#ifndef GCD_GRAPH_GRAPH_ROOM_H
#define GCD_GRAPH_GRAPH_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/*
 * Room for NEED items in the caller's typed pointer ITEMS.  Unlike gcd_vec_reserve it does not
 * clear new items: untouched memory costs nothing, and these arrays are the largest of all.  False
 * when out of memory.
 */
bool graph_room_grow(const struct gcd_alloc *a, void *items, size_t *room, uint64_t need,
                     size_t item_bytes);
/* Gives back unused memory; a failure does not matter. */
void graph_room_shrink(const struct gcd_alloc *a, void *items, size_t *room, size_t used,
                       size_t item_bytes);

#endif
