/*
 * A strict reader of .heapsnapshot files, independent of the writer: order of keys, counts,
 * grouping, targets, string numbers, JSON escapes, and the same contents as the graph.
 */
#ifndef V8_CHECK_H
#define V8_CHECK_H

#include <gcdumpc/graph.h>

/* NULL, or what is wrong (in a static buffer).  Names are those of the runtime. */
const char *v8_check(const uint8_t *file, size_t n, const struct gcd_graph *g);

#endif
