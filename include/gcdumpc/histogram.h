/*
 * A histogram: how many objects and bytes there are by type, by what types have in common, by generation, by length, or by root.
 *
 *     struct gcd_histogram_options options = { .by = GCD_BY_MODULE, .dump = dump };
 *     if (gcd_histogram_new(&options, &h, &err) == GCD_OK)
 *         for (size_t i = 0; i < h->row_count; i++)
 *             printf("%s %" PRIu64 "\n", h->rows[i].label, h->rows[i].bytes);
 *
 * A dump is read object by object, and only for generations and lengths: the memory does not depend on the number of objects.
 */
#ifndef GCDUMPC_HISTOGRAM_H
#define GCDUMPC_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gcd_histogram_by {
    GCD_BY_TYPE,
    GCD_BY_MODULE,               /* "(unknown)" without one */
    GCD_BY_NAMESPACE,            /* "(none)" without one */
    GCD_BY_KIND,                 /* string, array, delegate, COM wrapper, boxed value, finalizable class, class; object, unknown */
    GCD_BY_GENERATION,           /* "gen0", "loh", "poh", "nongc"; all "nongc" when the dump has no memory ranges */
    GCD_BY_LENGTH,               /* a type of string or array and a power of two of its length; "(no length)" for all others */
    GCD_BY_ROOT                  /* groups of roots */
};

struct gcd_histogram_options {
    enum gcd_histogram_by by;
    struct gcd_dump *dump;       /* one of both.  Rereadable for generations and lengths */
    const struct gcd_graph *graph;
    const uint8_t *wanted;       /* [types] 0 leaves out the objects of a type; NULL = none.  No meaning by root */
    const struct gcd_dominators *dominators;     /* of GRAPH: fill retained_bytes of rows of types; NULL = do not */
    bool root_sets;              /* by root: also what roots keep alive; needs GRAPH */
    const struct gcd_alloc *alloc;   /* may be NULL, and so may the next three */
    const gcd_cancel_flag *cancel;
    gcd_progress_fn progress;    /* while a dump is read */
    void *progress_ctx;
    uint64_t progress_total;     /* handed to PROGRESS */
};

/* Sums saturate. */
struct gcd_histogram_row {
    const char *label;           /* NULL: that of a type */
    uint32_t index;              /* by type and length: the type; by generation: its number; by root: the group; else the first type in it */
    uint64_t objects, bytes;     /* by root: that the group leads to, with root_sets; other groups may lead there, too */
    uint64_t retained_bytes;     /* a lower bound, with dominators; by root exact, with root_sets */
    uint64_t length_min, length_max;             /* by length; label NULL */
    const struct gcd_generation *generation;     /* by generation; else NULL */
};

/* Only types that have objects, generations with objects or ranges, groups with roots. */
struct gcd_histogram {
    const struct gcd_histogram_row *rows;        /* [row_count] by type in their order, else by label; lengths as they occur */
    size_t row_count;
    uint32_t types;              /* wanted types that have objects, */
    uint64_t objects, bytes;     /* and their objects */
    struct gcd_root_sets root_sets;      /* by root; without root_sets only the numbers of roots.  Of a dump those of no object count, too */
};

/*
 * Free with gcd_histogram_free, before the dump or graph.  GCD_E_NOMEM, GCD_E_CANCELED, errors of gcd_objects_next.  GCD_E_LIMIT: labels of
 * more than 4 GiB.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_histogram_new(const struct gcd_histogram_options *options, const struct gcd_histogram **ret,
                                                    struct gcd_error *err);
GCD_API void gcd_histogram_free(const struct gcd_histogram *h);

#ifdef __cplusplus
}
#endif
#endif
