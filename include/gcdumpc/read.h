/*
 * Files that hold an object graph already: what this program and others have written.  Recognised by content, never by name.
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
 * The format of IN by its first bytes: "gclog", "gcdump", "dart"; NULL for everything else, recordings among it.  IN must be
 * rereadable or unread; its next reader begins at the start all the same.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_probe(struct gcd_input *in, const char **ret_format, struct gcd_error *err);

/*
 * The graph in IN, which must be rereadable.  OPTIONS may be NULL.  A file that ends early gives what there is of it, when that can be
 * told apart from damage; the verdict then says so.
 * GCD_E_NOT_FOUND: no format that is known here; GCD_E_UNSUPPORTED: a relative of one; GCD_E_FORMAT, GCD_E_TRUNCATED, GCD_E_LIMIT,
 * GCD_E_NOMEM, GCD_E_CANCELED; errors of the input.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_read(struct gcd_input *in, const struct gcd_graph_options *options,
                                                 struct gcd_graph **ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
