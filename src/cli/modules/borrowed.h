/*
 * Names that a dump of a native program lacks, from the others that it is compared with.
 */
#ifndef GCD_CLI_MODULES_BORROWED_H
#define GCD_CLI_MODULES_BORROWED_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Has D types of a native program, all without names? */
bool cli_lacks_names(const struct cli_dump *d);
/* Completes the names of D by the dumps that ARGS compare it with, if one is of the same build.  D
 * as for cli_read_modules.  A dump that cannot be read is no failure.  On failure the message has
 * been printed. */
enum cli_exit cli_borrow_names(const struct cli_args *args, const struct cli_dump *d);
/* The same by the program that PROCESS runs. */
enum cli_exit cli_borrow_from_process(const struct cli_args *args, const struct cli_dump *d,
                                      const struct cli_dump *process);
void cli_say_borrowed(const char *subject, const char *from);

/* Does OTHER have names that D lacks, and may both be of one build?  Then opening D anew with OTHER
 * among the others may name its types. */
bool cli_may_borrow(const struct cli_dump *d, const struct cli_dump *other);

#endif
