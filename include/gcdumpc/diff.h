/*
 * The types of several dumps side by side: what has grown.
 *
 *     struct gcd_diff *d;
 *     gcd_diff_new(NULL, &d, &err);
 *     // a column a dump; two for "before and after"
 *     gcd_diff_add(d, old_types, old_count, &err);
 *     gcd_diff_add(d, new_types, new_count, &err);
 *     gcd_diff_match(d, &err);
 *     for (size_t i = 0; i < gcd_diff_row_count(d); i++)
 *         printf("%s: %" PRIu64 "\n", gcd_diff_row(d, i)->name, gcd_diff_row(d,
 *             i)->sums[1].objects);
 *
 * Objects have no identity across dumps, and the addresses of method tables differ between
 * processes, so types are compared by name.  Types with the same name share a row, unless a dump
 * has the name in several modules and all modules are known: then each module has its own row.  A
 * module is identified by its file name, without the folder.
 *
 * Anything with a name and sums can be compared: callers may add namespaces, modules or roots
 * instead of types.
 */
#ifndef GCDUMPC_DIFF_H
#define GCDUMPC_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_diff;

struct gcd_diff_sum {
    uint64_t objects, bytes;
    uint64_t retained_bytes; /* 0 = not computed */
};

/* A type of one dump. */
struct gcd_diff_type {
    const char *name;        /* the name to match: gcd_names_plain */
    const char *module_path; /* as in struct gcd_type; "" = unknown */
    struct gcd_diff_sum sum; /* types without objects are skipped */
};

struct gcd_diff_row {
    const char *name;   /* with the module, "<>c [Shop]", if another row would have the same name */
    const char *module; /* its file name without folder and suffix; "" = unknown or several */
    /* [gcd_diff_dumps()] sums of its types, saturating; objects 0: not in this dump */
    const struct gcd_diff_sum *sums;
};

/* ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_new(const struct gcd_alloc *alloc, struct gcd_diff **ret,
                                               struct gcd_error *err);
GCD_API void gcd_diff_free(struct gcd_diff *d);

/* Adds the next dump, oldest first.  Copies TYPES[COUNT].  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE
 * after gcd_diff_match. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_add(struct gcd_diff *d,
                                               const struct gcd_diff_type *types, size_t count,
                                               struct gcd_error *err);

/* Makes the rows of all added dumps.  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE on a second call. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_match(struct gcd_diff *d, struct gcd_error *err);

/*
 * After gcd_diff_match: the rows, sorted by growth from the first dump to the last in bytes, then
 * in objects, then by name.  Valid as long as D.
 */
GCD_API size_t gcd_diff_dumps(const struct gcd_diff *d);
GCD_API size_t gcd_diff_row_count(const struct gcd_diff *d);
GCD_API const struct gcd_diff_row *gcd_diff_row(const struct gcd_diff *d, size_t i);

#ifdef __cplusplus
}
#endif
#endif
