/*
 * A reader is a row, too: from a file that holds a graph already to a graph under construction.
 */
#ifndef GCD_READ_READ_H
#define GCD_READ_READ_H

#include <stdbool.h>

#include <gcdumpc/io.h>

#include "graph/graph_build.h"

/* Bytes of the beginning of a file with which every PROBE can say yes or no. */
#define READ_PROBE_BYTES 64

struct graph_reader {
    const char *name;
    /* Is this its format?  By content, not by name; N may be less than READ_PROBE_BYTES when the file is. */
    bool (*probe)(const uint8_t *head, size_t n);
    /* All of IN into B, which is the caller's in any case.  OPTIONS are those B was made with; NULL = defaults. */
    gcd_status (*read)(struct gcd_input *in, const struct gcd_graph_options *options, struct gcd_build *b, struct gcd_error *err);
};

extern const struct graph_reader gcd_r_dart;

#endif
