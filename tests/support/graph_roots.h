/*
 * What keeps what alive, the slow way and apart from src/analyze: for tests that compare with it.
 */
#ifndef GRAPH_ROOTS_H
#define GRAPH_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* The nodes that strong roots hold, in their order, some several times; without any the objects that serve as pseudo-roots.  free() it. */
uint32_t *graph_roots(const struct gcd_graph *g, size_t *ret_n);

/* The order of roots, said once more: the rank of strong root ROOT, and of the strong roots of NODE the first in that order; SIZE_MAX = none. */
int graph_root_rank(const struct gcd_graph *g, size_t root);
size_t graph_root_of(const struct gcd_graph *g, uint32_t node);

/* Roots of a higher tier lead only to what those of lower ones do not reach.  ROOT SIZE_MAX: 0. */
int graph_root_tier(const struct gcd_graph *g, size_t root);

/* Does a reference, or a dependent handle, lead from FROM to TO? */
bool graph_leads(const struct gcd_graph *g, uint32_t from, uint32_t to);

/* Marks in SEEN[nodes] what is reached from the N nodes FROM without those marked in WITHOUT (NULL = none), which count as not reached. */
void graph_mark(const struct gcd_graph *g, const uint32_t *from, size_t n, const uint8_t *without, uint8_t *seen);

#endif
