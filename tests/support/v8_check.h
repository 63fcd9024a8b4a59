/*
 * A strict reader of .heapsnapshot files, written apart from the writer: keys in their order, counts, grouping, targets, string numbers,
 * JSON escapes, and that all of it says what the graph says.
 */
#ifndef V8_CHECK_H
#define V8_CHECK_H

#include <gcdumpc/graph.h>

/* NULL, or what is wrong (in a static buffer).  Names are those of the runtime. */
const char *v8_check(const uint8_t *file, size_t n, const struct gcd_graph *g);

#endif
