/*
 * What has grown: the types of several dumps side by side.
 *
 *     struct gcd_diff *d;
 *     gcd_diff_new(NULL, &d, &err);
 *     gcd_diff_add(d, old_types, old_count, &err);          a column a dump; two for "before and after"
 *     gcd_diff_add(d, new_types, new_count, &err);
 *     gcd_diff_match(d, &err);
 *     for (size_t i = 0; i < gcd_diff_row_count(d); i++)
 *         printf("%s: %" PRIu64 "\n", gcd_diff_row(d, i)->name, gcd_diff_row(d, i)->sums[1].objects);
 *
 * Objects have no identity between dumps, and method tables lie elsewhere in another process: only types are compared, by their names.
 * All the types of one name are one row, unless a dump has that name in several modules: then each module has a row of its own,
 * provided that the modules of all of them are known.  A module is known by its file name, wherever it lies.
 *
 * Whatever has a name and sums can be compared like this: a caller may add namespaces, modules or roots instead of types.
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
    uint64_t retained_bytes;     /* 0 when nobody has computed it */
};

/* A type of one dump. */
struct gcd_diff_type {
    const char *name;            /* what it is matched by: gcd_names_plain */
    const char *module_path;     /* as in struct gcd_type; "" = unknown */
    struct gcd_diff_sum sum;     /* one without objects is left out */
};

struct gcd_diff_row {
    const char *name;            /* with the module, "<>c [Shop]", when another row has the same name without it */
    const char *module;          /* its file name without folder and suffix; "" = unknown, or there are several */
    const struct gcd_diff_sum *sums;     /* [gcd_diff_dumps()], of the types in it, saturating; objects 0: not in this dump */
};

/* ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_new(const struct gcd_alloc *alloc, struct gcd_diff **ret, struct gcd_error *err);
GCD_API void gcd_diff_free(struct gcd_diff *d);

/* The next dump, oldest first.  TYPES[COUNT] are copied.  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE after gcd_diff_match. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_add(struct gcd_diff *d, const struct gcd_diff_type *types, size_t count, struct gcd_error *err);

/* Make the rows of all dumps added.  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE when it has been called before. */
GCD_API GCD_MUST_CHECK gcd_status gcd_diff_match(struct gcd_diff *d, struct gcd_error *err);

/*
 * After gcd_diff_match: the rows, those first whose bytes have grown most from the first dump to the last, then by objects and name.
 * They live as long as D.
 */
GCD_API size_t gcd_diff_dumps(const struct gcd_diff *d);
GCD_API size_t gcd_diff_row_count(const struct gcd_diff *d);
GCD_API const struct gcd_diff_row *gcd_diff_row(const struct gcd_diff *d, size_t i);

/* ---- a quantity over several dumps ---- */

enum gcd_trend {
    GCD_TREND_STEADY,            /* always the same */
    GCD_TREND_GROWS,             /* never less than before, and more at last */
    GCD_TREND_SHRINKS,           /* never more than before, and less at last */
    GCD_TREND_VARIES
};

/* VALUES[N], oldest first; steady when there are fewer than two. */
GCD_API enum gcd_trend gcd_trend_of(const uint64_t *values, size_t n);

/*
 * Growth per hour, by the line that fits best (least squares).  UNIX_MS[N]: when each dump was made, INT64_MIN = not known, then its
 * value is left out.  False when fewer than two different times are known.
 */
GCD_API bool gcd_trend_slope(const int64_t *unix_ms, const uint64_t *values, size_t n, double *ret_per_hour);

#ifdef __cplusplus
}
#endif
#endif
