/*
 * Writes a graph to bytes and reads it back, in memory.
 */
#ifndef RUN_GRAPH_H
#define RUN_GRAPH_H

#include <gcdumpc/graph.h>
#include <gcdumpc/writer.h>

#include "read/read.h"
#include "support/tb.h"

/* OPTIONS may be NULL; its allocator is used for the input, too. */
gcd_status run_graph_read(const struct graph_reader *reader, const void *bytes, size_t n,
                          const struct gcd_graph_options *options, struct gcd_graph **ret,
                          struct gcd_error *err);
/* FORMAT: its name.  RET is freed with tb_free; its bytes are copied out of a sink made with ALLOC.
 * NOTES may be NULL. */
gcd_status run_graph_write(const char *format, const struct gcd_graph *g,
                           const struct gcd_alloc *alloc, struct tb_bytes *ret,
                           struct gcd_write_notes *notes, struct gcd_error *err);

/* NULL, or an inconsistency in a graph, whatever it was read from. */
const char *run_graph_check(const struct gcd_graph *g);

#endif
