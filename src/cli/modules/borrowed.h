/*
 * Names that a dump of a native program lacks, from the others that it is compared with.
 */
#ifndef GCD_CLI_MODULES_BORROWED_H
#define GCD_CLI_MODULES_BORROWED_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Completes the names of D by the dumps that ARGS compare it with, if one is of the same build.  D
 * as for cli_read_modules.  A dump that cannot be read is no failure.  On failure the message has
 * been printed. */
enum cli_exit cli_borrow_names(const struct cli_args *args, const struct cli_dump *d);

#endif
