/*
 * What keeps objects alive, computed slowly and without src/analyze, for comparisons.
 */
#ifndef GRAPH_ROOTS_H
#define GRAPH_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* The nodes held by strong roots, in their order, possibly repeated; without any, the pseudo-roots.
 * Without local variables that others cover.  free() it. */
uint32_t *graph_roots(const struct gcd_graph *g, size_t *ret_n);

/* A second implementation of the order of roots: the rank of strong root ROOT, and the first strong
 * root of NODE; SIZE_MAX = none. */
int graph_root_rank(const struct gcd_graph *g, size_t root);
size_t graph_root_of(const struct gcd_graph *g, uint32_t node);

/* Roots of a higher tier count only for objects that lower tiers do not reach.  ROOT SIZE_MAX: 0.
 */
int graph_root_tier(const struct gcd_graph *g, size_t root);

/* Is strong root ROOT a local variable to whose object another one leads? */
bool graph_root_is_covered(const struct gcd_graph *g, size_t root);

/* Marks in SEEN[nodes] what lives without the nodes marked in WITHOUT (NULL = none): what lower
 * tiers reach, with them, counts only if these reach it. */
void graph_live(const struct gcd_graph *g, const uint8_t *without, uint8_t *seen);

/* Is there a reference that counts (analyze/dominators/callbacks.h) or a dependent handle from FROM
 * to TO?  And one that need not count? */
bool graph_leads(const struct gcd_graph *g, uint32_t from, uint32_t to);
bool graph_refers(const struct gcd_graph *g, uint32_t from, uint32_t to);

/* Marks in SEEN[nodes] the nodes reachable from the N nodes FROM without passing those marked in
 * WITHOUT (NULL = none), which stay unmarked. */
void graph_mark(const struct gcd_graph *g, const uint32_t *from, size_t n, const uint8_t *without,
                uint8_t *seen);

#endif
