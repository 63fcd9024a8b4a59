/* A reader is a row in read.c.  It builds a graph with src/graph/graph_build.h. */
#ifndef GCD_READ_READ_H
#define GCD_READ_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>

#include "graph/graph_build.h"

struct graph_reader {
    const char *name; /* of the format, as in the table of writers */
    /* Can a file with this beginning have this format?  N is smaller than READ_HEAD_BYTES only when
     * the file is. */
    bool (*probe)(const uint8_t *head, size_t n);
    /* B is new; the caller seals it. */
    gcd_status (*read)(struct gcd_input *in, const struct gcd_graph_options *options,
                       struct gcd_build *b, struct gcd_error *err);
};

#define READ_HEAD_BYTES 64

extern const struct graph_reader gcd_r_dart, gcd_r_gcdump, gcd_r_gclog;

#endif
