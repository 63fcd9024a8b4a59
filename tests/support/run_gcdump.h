/*
 * A graph to the bytes of a .gcdump and back, in memory.
 */
#ifndef RUN_GCDUMP_H
#define RUN_GCDUMP_H

#include <gcdumpc/graph.h>
#include <gcdumpc/writer.h>

#include "support/tb.h"

/* OPTIONS may be NULL; the allocator of its own is used for the input, too. */
gcd_status run_gcdump_read(const void *bytes, size_t n, const struct gcd_graph_options *options, struct gcd_graph **ret,
                           struct gcd_error *err);
/* RET is freed with tb_free; its bytes are copied out of a sink made with ALLOC. */
gcd_status run_gcdump_write(const struct gcd_graph *g, const struct gcd_alloc *alloc, struct tb_bytes *ret, struct gcd_write_notes *notes,
                            struct gcd_error *err);

#endif
