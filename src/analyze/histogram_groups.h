/*
 * What types have in common: their module, namespace or kind.
 */
#ifndef GCD_ANALYZE_HISTOGRAM_GROUPS_H
#define GCD_ANALYZE_HISTOGRAM_GROUPS_H

#include <gcdumpc/histogram.h>

/* A part of a text that lives as long as the type or longer. */
struct histogram_label {
    const char *s;
    size_t n;
};

/* T is a type of S.  BY: module, namespace or kind. */
struct histogram_label histogram_label_of(enum gcd_histogram_by by, const struct gcd_summary *s, const struct gcd_type *t);

#endif
