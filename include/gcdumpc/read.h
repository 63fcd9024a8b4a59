/*
 * Files that already hold an object graph, written by this program or others.  Recognised by
 * content, never by name.
 */
#ifndef GCDUMPC_READ_H
#define GCDUMPC_READ_H

#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The format of IN by its first bytes: "gclog", "gcdump", "dart"; NULL for everything else,
 * including recordings.  IN must be rereadable or unread; its next reader still begins at the
 * start.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_probe(struct gcd_input *in, const char **ret_format,
                                                  struct gcd_error *err);

/*
 * Reads the graph in IN, which must be rereadable.  OPTIONS may be NULL.  If a file ends early and
 * is otherwise sound, the graph holds the part before the end, and the verdict says so.
 * GCD_E_NOT_FOUND: not a known format; GCD_E_UNSUPPORTED: a variant that cannot be read;
 * GCD_E_FORMAT, GCD_E_TRUNCATED, GCD_E_LIMIT, GCD_E_NOMEM, GCD_E_CANCELED; errors of the input.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_read(struct gcd_input *in,
                                                 const struct gcd_graph_options *options,
                                                 struct gcd_graph **ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
