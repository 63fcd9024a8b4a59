/*
 * Writes the nodes of a graph with several threads: each part of them is filled in memory, then the
 * parts go to the file in node order.
 */
#ifndef GCD_WRITE_NODE_PARTS_H
#define GCD_WRITE_NODE_PARTS_H

#include "write/write.h"

/* The nodes FIRST to END - 1. */
struct node_part {
    uint32_t first, end;
    /* number of the first dependent handle whose key is FIRST or later; after FILL, the writer's */
    size_t dependent;
    size_t used;        /* bytes */
    uint64_t counts[2]; /* for the writer */
    char bytes[];       /* [NODE_PART_BYTES] */
};
#define NODE_PART_BYTES ((size_t)512 * 1024)

/* The functions of a writer; the calling thread calls all but FILL. */
struct node_writer {
    void *ctx;
    /* maximum size of a node, and of each of its references and dependent handles */
    size_t node_bytes, edge_bytes;
    /* Fills the bytes and counts of a part, on any thread; neither allocates nor calls back. */
    void (*fill)(const void *ctx, struct node_part *part);
    /* Writes what FILL has filled. */
    gcd_status (*put)(void *ctx, const struct node_part *part, struct gcd_error *err);
    /* Writes FIRST to END - 1 directly: all nodes without threads, else nodes with too many
     * references for a part. */
    gcd_status (*put_nodes)(void *ctx, uint32_t first, uint32_t end, struct gcd_error *err);
};

/* Writes all nodes.  Errors: those of the functions. */
GCD_MUST_CHECK gcd_status node_parts_write(const struct gcd_graph *g,
                                           const struct node_writer *writer,
                                           const struct gcd_context *context,
                                           struct gcd_error *err);

/* Did the nodes FIRST to END - 1 reach a multiple of WRITE_CHECK_EVERY? */
static inline bool node_part_ends_step(const struct node_part *part)
{
    return part->first / WRITE_CHECK_EVERY != part->end / WRITE_CHECK_EVERY;
}

#endif
