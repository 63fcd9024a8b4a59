/* Roots in words. */
#ifndef GCD_CLI_ROOT_LABELS_H
#define GCD_CLI_ROOT_LABELS_H

#include <gcdumpc/gcdumpc.h>

/*
 * A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: a pseudo-root.
 * Names the class of a static variable when it is known (unstable/static_names.h).  free() it; NULL
 * when out of memory.
 */
char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r);

#endif
