/*
 * Roots in words and for programs, shared by all commands.
 */
#ifndef GCD_CLI_ROOT_LABELS_H
#define GCD_CLI_ROOT_LABELS_H

#include "answer/answers.h"
#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/json_out.h"
#include "term/term.h"

/*
 * A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: a pseudo-root.
 * Names the class of a static variable when it is known (unstable/static_names.h).  free() it; NULL
 * when out of memory.
 */
char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r);
/* Says that a dump has no roots and N objects serve as pseudo-roots; nothing when N is 0. */
void cli_say_pseudo_roots(const char *subject, uint32_t n);

/* cli_filter_types of a PATTERN; also CLI_USAGE. */
enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret);

#endif
