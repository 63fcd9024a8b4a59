/*
 * The growth between two dumps as one page for browsers, in the style of the format html.
 */
#ifndef GCDUMPC_UNSTABLE_DIFF_PAGE_H
#define GCDUMPC_UNSTABLE_DIFF_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/diff.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/tree_diff.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the page says about a dump as a whole. */
struct gcd_diff_page_side {
    const char *name;            /* of its file, UTF-8 */
    const char *program;         /* "" = unknown */
    uint64_t process;            /* 0 = unknown */
    int64_t unix_ms;             /* when it was made; INT64_MIN = unknown */
    const struct gcd_verdict *verdict;
    struct gcd_diff_sum sum;
};

struct gcd_diff_page {
    struct gcd_diff_page_side sides[2];  /* older, newer */
    const struct gcd_diff *types;        /* matched, of two dumps */
    const struct gcd_tree_diff *paths;   /* matched, of the same two; NULL = none */
    bool retained;               /* retained sizes are known */
};

/*
 * Writes the page to S; the caller commits S.  At most 5 MB: the smallest changes become one row.  Texts need not be well-formed UTF-8.
 * GCD_E_ARG: not two dumps; errors of the sink.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_write_diff_page(const struct gcd_diff_page *page, struct gcd_sink *s, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
