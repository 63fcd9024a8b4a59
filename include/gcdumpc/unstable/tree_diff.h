/*
 * What has grown, and what holds it: the merged paths (merged_tree.h) of several dumps side by side.
 *
 * Steps are compared by the names on the way from the top: the objects behind them can be others.  Steps of one parent that have the same name
 * are one row.  In each row are all steps below it, too.
 */
#ifndef GCDUMPC_UNSTABLE_TREE_DIFF_H
#define GCDUMPC_UNSTABLE_TREE_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/diff.h>
#include <gcdumpc/status.h>
#include <gcdumpc/merged_tree.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_tree_diff;

/* A step of one dump. */
struct gcd_tree_diff_step {
    uint32_t parent;             /* the number of a step before it; GCD_STEP_NONE at the top */
    uint32_t name;               /* the number of its name */
    uint64_t objects, bytes;     /* with those of the steps below */
};

struct gcd_tree_diff_row {
    uint32_t parent;             /* GCD_STEP_NONE at the top */
    uint32_t end;                /* the rows below are those from its own number + 1 up to END, exclusive */
    uint32_t depth;              /* 0 at the top */
    const char *name;
    const struct gcd_diff_sum *sums;     /* [dumps], saturating; retained_bytes is 0 */
};

/* ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_tree_diff_new(const struct gcd_alloc *alloc, struct gcd_tree_diff **ret, struct gcd_error *err);
GCD_API void gcd_tree_diff_free(struct gcd_tree_diff *d);

/*
 * The steps of the next dump, oldest first; all is copied.  GCD_E_ARG: a parent or name with a number that it cannot have; GCD_E_NOMEM,
 * GCD_E_LIMIT; GCD_E_STATE after gcd_tree_diff_match.  Memory: 24 bytes a step, and the names.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_tree_diff_add(struct gcd_tree_diff *d, const char *const *names, size_t name_count,
                                                    const struct gcd_tree_diff_step *steps, size_t step_count, struct gcd_error *err);

/* Make the rows of all dumps added.  No recursion.  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE when it has been called before. */
GCD_API GCD_MUST_CHECK gcd_status gcd_tree_diff_match(struct gcd_tree_diff *d, struct gcd_error *err);

/*
 * After gcd_tree_diff_match: each row directly before those below it; those with the same parent in the order of gcd_diff_row.  [*ret_n]
 * They live as long as D.
 */
GCD_API const struct gcd_tree_diff_row *gcd_tree_diff_rows(const struct gcd_tree_diff *d, size_t *ret_n);

#ifdef __cplusplus
}
#endif
#endif
