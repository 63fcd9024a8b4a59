/*
 * The merged paths (merged_tree.h) of several dumps side by side: what has grown, and what holds
 * it.
 *
 * Steps match by the names and fields on the path from the top, whatever their objects are.
 * Siblings with the same name and field share a row.  A row includes all steps below it.  Where a
 * dump knows no fields of steps that others have, too, they match by their names; where it knows
 * only the short name of a step, by that.
 */
#ifndef GCDUMPC_UNSTABLE_TREE_DIFF_H
#define GCDUMPC_UNSTABLE_TREE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/diff.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/merged_tree.h>

struct gcd_tree_diff;

#define GCD_NAME_NONE UINT32_MAX

/* A step of one dump. */
struct gcd_tree_diff_step {
    uint32_t parent;         /* the number of an earlier step; GCD_STEP_NONE at the top */
    uint32_t name;           /* the number of its name */
    uint64_t objects, bytes; /* including the steps below */
    uint32_t field;          /* the number of the field's that leads to it, or GCD_NAME_NONE */
    uint8_t facts;           /* for gcd_fold_tree (origins.h): GCD_FOLD_FACT_... */
    /* the number of what a dump calls it that knows less; GCD_NAME_NONE: NAME is that already */
    uint32_t short_name;
};

struct gcd_tree_diff_row {
    uint32_t parent; /* GCD_STEP_NONE at the top */
    /* the rows below are those from its own number + 1 up to END, exclusive */
    uint32_t end;
    uint32_t depth; /* 0 at the top */
    uint8_t facts;  /* from the newest dump that has it */
    const char *name;
    const char *field;               /* that leads to it; NULL = none, or unknown */
    const struct gcd_diff_sum *sums; /* [dumps], saturating; retained_bytes is 0 */
};

/* ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_tree_diff_new(const struct gcd_alloc *alloc,
                                            struct gcd_tree_diff **ret, struct gcd_error *err);
void gcd_tree_diff_free(struct gcd_tree_diff *d);

/*
 * Adds the steps of the next dump, oldest first; copies everything.  GCD_E_ARG: an invalid number
 * of a parent or name; GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE after gcd_tree_diff_match.  Memory: 32
 * bytes per step, and the names.
 */
GCD_MUST_CHECK gcd_status gcd_tree_diff_add(struct gcd_tree_diff *d, const char *const *names,
                                            size_t name_count,
                                            const struct gcd_tree_diff_step *steps,
                                            size_t step_count, struct gcd_error *err);

/* Makes the rows of all added dumps.  No recursion.  GCD_E_NOMEM, GCD_E_LIMIT; GCD_E_STATE on a
 * second call. */
GCD_MUST_CHECK gcd_status gcd_tree_diff_match(struct gcd_tree_diff *d, struct gcd_error *err);

/*
 * After gcd_tree_diff_match: the rows [*ret_n], each directly before those below it, siblings in
 * the order of gcd_diff_row.  Valid as long as D.
 */
const struct gcd_tree_diff_row *gcd_tree_diff_rows(const struct gcd_tree_diff *d, size_t *ret_n);

#endif
