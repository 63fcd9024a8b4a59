/* The data of a graph.  Written by graph_build.c, read by graph.c; all other code uses the
 * accessors. */
#ifndef GCD_GRAPH_GRAPH_IMPL_H
#define GCD_GRAPH_GRAPH_IMPL_H

#include <pthread.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/graph/graph_derived.h>

#include "base/text.h"
#include "graph/graph_index.h"
#include "graph/graph_places.h"
#include "graph/graph_starts.h"

/* Nodes per block, as a power of two; a block knows the run of its first node. */
#define GRAPH_BLOCK_SHIFT 12u

/* From here to the next run, addresses ascend and are close together; the address of a node is base
 * + 4 * offset. */
struct graph_run {
    uint64_t base;
    uint32_t first_node;
};

/* A size that needs more than 16 bits: this many bytes or more. */
#define GRAPH_BIG UINT16_MAX

struct graph_big {
    uint64_t size_bytes;
    uint32_t node;
};

/* See graph_derived.h. */
struct graph_derived_item {
    pthread_mutex_t lock;
    bool made;
    void *item;
    gcd_graph_derived_free *done;
};

struct gcd_graph {
    struct gcd_alloc alloc;
    struct graph_derived_item *derived;
    struct gcd_limits limits;
    struct gcd_graph_options options;
    struct gcd_textpool text;
    struct gcd_summary summary; /* its lists from the seal on */
    struct gcd_graph_notes notes;

    /* [node_count]; reserved space after that is never touched */
    uint16_t *type_low;    /* the low bits of the type's number, */
    uint16_t *type_high;   /* the upper bits; NULL as long as they are 0 for all nodes */
    uint16_t *node_size;   /* GRAPH_BIG: see bigs */
    uint16_t *node_offset; /* NULL without nodes */
    struct graph_starts starts;
    size_t type_room, high_room, size_room, offset_room;
    uint32_t node_count;
    uint32_t unknown;       /* node, or GCD_NODE_NONE */
    struct graph_big *bigs; /* ascending by node */
    size_t big_count, big_room;
    struct graph_run *runs;
    size_t run_count, run_room;
    uint32_t *block_runs; /* the run of the first node of each block of nodes */
    size_t block_runs_room;
    struct graph_index index;

    uint32_t *edges; /* [edge_count] */
    size_t edge_count, edge_room;
    struct graph_places places;

    struct gcd_type *types;
    size_t type_count, types_room;
    struct gcd_root *roots;
    size_t root_count, root_room;
    struct gcd_graph_dependent *dependents;
    size_t dependent_count, dependent_room;
    struct gcd_module *modules;
    size_t module_count, module_room;
    struct gcd_range *ranges;
    size_t range_count, range_room;
};

static inline uint32_t graph_type(const struct gcd_graph *g, uint32_t node)
{
    return g->type_low[node] | (g->type_high != NULL ? (uint32_t)g->type_high[node] << 16 : 0);
}

#endif
