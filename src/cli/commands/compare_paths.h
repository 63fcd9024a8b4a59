/*
 * diff --paths: the paths that hold the objects that grew.
 */
#ifndef GCD_CLI_COMPARE_PATHS_H
#define GCD_CLI_COMPARE_PATHS_H

#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/input.h"

/*
 * Adds the paths to all objects of D whose types are selected; each of VIEWS[CLI_MATCHED_BYS] goes
 * to its own matching.  CLI_FAILED or CLI_INTERRUPTED after a message.
 */
enum cli_exit cli_paths_add(struct cli_comparison *c, const struct cli_dump *d,
                            const struct cli_view *views);

/* compare_paths_print.c: prints the changed paths of C as cli_compare_print does; steps fold as in
 * paths. */
enum cli_exit cli_paths_print(const struct cli_comparison *c);

#endif
