/*
 * Writes dumps to files.  Formats are rows of one table, found by their name or by the name of the
 * output.
 */
#ifndef GCDUMPC_WRITER_H
#define GCDUMPC_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/names.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_format;
struct gcd_origins;
struct gcd_sites;
struct gcd_values_view;

/* Format number I of the table, NULL after the last. */
GCD_API const struct gcd_format *gcd_format_at(size_t i);
GCD_API const struct gcd_format *gcd_format_by_name(const char *name);
/* By the suffix of a path.  Ignores a slash after a folder, and ".gz" after the suffix of a stream.
 * NULL = none. */
GCD_API const struct gcd_format *gcd_format_by_path(const char *path);

GCD_API const char *gcd_format_name(const struct gcd_format *f); /* for --format */
/* with its dot; the usual one of several */
GCD_API const char *gcd_format_suffix(const struct gcd_format *f);
GCD_API const char *gcd_format_about(const struct gcd_format *f); /* a short description */
GCD_API bool gcd_format_is_text(const struct gcd_format *f);

/* The source and target of a format. */
enum gcd_format_kind {
    GCD_FORMAT_STREAM, /* from a dump with gcd_write, in memory that does not depend on the number
                          of objects; from a graph as well, with the same bytes */
    GCD_FORMAT_GRAPH,  /* from a graph with gcd_write_graph */
    /* from a graph to a folder or database file: unstable/staged_file.h */
    GCD_FORMAT_STAGED
};
GCD_API enum gcd_format_kind gcd_format_kind(const struct gcd_format *f);
/* The style of names that readers of the format expect. */
GCD_API enum gcd_name_style gcd_format_names(const struct gcd_format *f);

/* How flame graphs and profiles stack objects. */
enum gcd_stack_by {
    GCD_STACK_BY_DOMINATORS, /* along the dominator tree: what keeps it alive */
    GCD_STACK_BY_PATHS,      /* along the shortest path from a root */
    /* no objects, but asynchronous operations: from the outermost method to what it waits for
       (unstable/async.h) */
    GCD_STACK_BY_WAITS
};

struct gcd_write_options {
    struct gcd_context context;
    /* of the dumped program, if the dump does not know it; NULL = none */
    const char *name;
    const struct gcd_names *names; /* names of its types; NULL = GCD_NAMES_RUNTIME */
    enum gcd_stack_by stack_by;
    uint64_t progress_total; /* passed to PROGRESS */
    /* which types are the program's own (unstable/origins.h), for the page; NULL = by modules and
     * namespaces */
    const struct gcd_origins *origins;
    const struct gcd_sites *sites; /* of the dump (unstable/sites.h), for the page; NULL = none */
    /* texts and numbers that may be written (unstable/values.h), by the formats that have a place
     * for them: v8, dart, and html (keys, and limits whatever may be shown); NULL = none */
    const struct gcd_values_view *values;
};

/* Something that the format cannot store. */
struct gcd_write_loss {
    const char
        *text; /* static; the clause after the number: "objects are larger than 4 GiB and ..." */
    uint64_t count;
};
#define GCD_WRITE_LOSSES 8

/* What the writer noticed in the data, for warnings.  All zero for a sound dump. */
struct gcd_write_notes {
    uint64_t objects, edges, roots, types; /* records written; dependent handles count as edges */
    uint64_t edges_missing; /* declared references that were not received or not matched */
    /* references to addresses without an object; written nevertheless */
    uint64_t edges_dangling;
    /* there may be more: the heap is too large for an exact count */
    bool dangling_is_minimum;
    uint64_t roots_dangling;
    uint64_t dependents_dropped; /* dependent handles whose key is not an object */
    uint64_t objects_dropped;    /* objects with address 0 */
    struct gcd_write_loss losses[GCD_WRITE_LOSSES];
    size_t loss_count;
};

/*
 * Writes D to S in format F; the caller commits S.  D must be rereadable (gcd_objects_new). OPTIONS
 * and RET_NOTES may be NULL. Memory does not depend on the number of objects.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_write(const struct gcd_format *f, struct gcd_dump *d,
                                            struct gcd_sink *s,
                                            const struct gcd_write_options *options,
                                            struct gcd_write_notes *ret_notes,
                                            struct gcd_error *err);

/*
 * Writes G to S in format F (of kind STREAM or GRAPH, else GCD_E_ARG); the caller commits S.
 * RET_NOTES counts what the writer met, not what was lost when the graph was built
 * (gcd_graph_notes).
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_write_graph(const struct gcd_format *f,
                                                  const struct gcd_graph *g, struct gcd_sink *s,
                                                  const struct gcd_write_options *options,
                                                  struct gcd_write_notes *ret_notes,
                                                  struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
