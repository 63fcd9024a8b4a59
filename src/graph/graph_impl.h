/* The data of a graph.  Written by graph_build.c, read by graph.c; all other code uses the accessors. */
#ifndef GCD_GRAPH_GRAPH_IMPL_H
#define GCD_GRAPH_GRAPH_IMPL_H

#include <gcdumpc/graph.h>

#include "base/text.h"
#include "graph/graph_index.h"

/* Nodes that share the 64-bit base of their first edges. */
#define GRAPH_BLOCK_SHIFT 12u

/* Addresses ascend from here to the next run; the address of a node is base + 4 * offset. */
struct graph_run {
    uint64_t base;
    uint32_t first_node;
};

/* A size that needs more than 32 bits. */
struct graph_big {
    uint64_t size_bytes;
    uint32_t node;
};

struct gcd_graph {
    struct gcd_alloc alloc;
    struct gcd_limits limits;
    struct gcd_graph_options options;
    struct gcd_textpool text;
    struct gcd_summary summary;          /* its lists from the seal on */
    struct gcd_graph_notes notes;

    /* [node_count]; reserved space after that is never touched */
    uint32_t *node_type;
    uint32_t *node_size;         /* UINT32_MAX: see bigs */
    uint32_t *node_offset;       /* NULL without addresses */
    uint32_t *node_edges;        /* first edge, relative to its block */
    size_t type_room, size_room, offset_room, edges_room;
    uint32_t node_count;
    uint32_t unknown;            /* node, or GCD_NODE_NONE */
    uint64_t *block_edges;       /* first edge of each block of nodes */
    size_t block_room;
    struct graph_big *bigs;      /* ascending by node */
    size_t big_count, big_room;
    struct graph_run *runs;
    size_t run_count, run_room;
    struct graph_index index;

    uint32_t *edges;             /* [edge_count] */
    size_t edge_count, edge_room;

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

#endif
