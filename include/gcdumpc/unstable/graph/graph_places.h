/*
 * Where a reference is in its object.
 *
 * The runtime sends the references of an object without nulls, so what is between them is unknown.
 * A memory image has all of it; recordings made from one keep it.
 */
#ifndef GCDUMPC_UNSTABLE_GRAPH_GRAPH_PLACES_H
#define GCDUMPC_UNSTABLE_GRAPH_GRAPH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

#define GCD_PLACE_NONE UINT32_MAX

/* Are the places of references known? */
bool gcd_graph_has_places(const struct gcd_graph *g);
/*
 * The place of reference EDGE of NODE: how many references of the object, null ones too, lie before
 * it in memory.  GCD_PLACE_NONE: it is unknown, or the reference is not in the object (that of a
 * type that can be unloaded to its loader allocator).  Ascends within an object.
 */
uint32_t gcd_graph_edge_place(const struct gcd_graph *g, uint32_t node, size_t edge);

#endif
