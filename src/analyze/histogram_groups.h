/* Groups of types: by module, namespace or kind. */
#ifndef GCD_ANALYZE_HISTOGRAM_GROUPS_H
#define GCD_ANALYZE_HISTOGRAM_GROUPS_H

#include <gcdumpc/histogram.h>

/* Part of a text that lives at least as long as the type. */
struct histogram_label {
    const char *s;
    size_t n;
};

/* The label of the group of T, a type of S.  BY: module, namespace or kind. */
struct histogram_label histogram_label_of(enum gcd_histogram_by by, const struct gcd_summary *s,
                                          const struct gcd_type *t);

#endif
