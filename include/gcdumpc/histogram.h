/*
 * A histogram: objects and bytes by type, module, namespace, kind, generation, length or root.
 *
 *     struct gcd_histogram_options options = { .by = GCD_BY_MODULE, .dump = dump };
 *     if (gcd_histogram_new(&options, &h, &err) == GCD_OK)
 *         for (size_t i = 0; i < h->row_count; i++)
 *             printf("%s %" PRIu64 "\n", h->rows[i].label, h->rows[i].bytes);
 *
 * Only generations and lengths read the objects of a dump, one by one; the memory does not depend
 * on their number.
 */
#ifndef GCDUMPC_HISTOGRAM_H
#define GCDUMPC_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
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
    GCD_BY_MODULE,    /* its path, or the name of its assembly; "(unknown)" without either */
    GCD_BY_NAMESPACE, /* "(none)" without one */
    /* string, array, delegate, COM wrapper, boxed value, finalizable class, class; object, unknown
     */
    GCD_BY_KIND,
    GCD_BY_GENERATION, /* "gen0", "loh", "poh", "nongc"; all "nongc" when the dump has no memory
                          ranges */
    GCD_BY_LENGTH, /* a type of string or array and a power of two of its length; "(no length)" for
                      all others */
    GCD_BY_ROOT    /* groups of roots */
};

struct gcd_histogram_options {
    struct gcd_context context;
    enum gcd_histogram_by by;
    /* either this or GRAPH; must be rereadable for generations and lengths */
    struct gcd_dump *dump;
    const struct gcd_graph *graph;
    /* [types] 0 = skip the objects of this type; NULL = take all.  Ignored by root */
    const uint8_t *wanted;
    /* of GRAPH: fills retained_bytes of rows of types; NULL = none */
    const struct gcd_dominators *dominators;
    bool root_sets;          /* by root: also compute what roots keep alive; needs GRAPH */
    uint64_t progress_total; /* passed to PROGRESS */
};

/* Sums saturate. */
struct gcd_histogram_row {
    const char *label; /* NULL: the row is a type */
    /* by type and length: the type; by generation: its number; by root: the group; else the first
     * type in it */
    uint32_t index;
    /* by root, with root_sets: reached by the group, possibly also by others */
    uint64_t objects, bytes;
    /* with dominators, a lower bound; by root, with root_sets, exact */
    uint64_t retained_bytes;
    uint64_t length_min, length_max;         /* by length; label NULL */
    const struct gcd_generation *generation; /* by generation; else NULL */
};

/* Has rows only for types with objects, generations with objects or ranges, and groups with roots.
 */
struct gcd_histogram {
    /* [row_count] by type in their order, else by label; lengths as they occur */
    const struct gcd_histogram_row *rows;
    size_t row_count;
    uint32_t types;          /* wanted types with objects */
    uint64_t objects, bytes; /* of these */
    /* by root; without root_sets only the numbers of roots.  For a dump, including roots without an
     * object */
    struct gcd_root_sets root_sets;
};

/*
 * Free with gcd_histogram_free, before the dump or graph.  GCD_E_NOMEM, GCD_E_CANCELED, errors of
 * gcd_objects_next.  GCD_E_LIMIT: more than 4 GiB of labels.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_histogram_new(const struct gcd_histogram_options *options,
                                                    const struct gcd_histogram **ret,
                                                    struct gcd_error *err);
GCD_API void gcd_histogram_free(const struct gcd_histogram *h);

#ifdef __cplusplus
}
#endif
#endif
