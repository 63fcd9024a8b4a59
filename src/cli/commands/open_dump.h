/*
 * Opens the dump that the arguments name, a file or a process.
 */
#ifndef GCD_CLI_COMMANDS_OPEN_DUMP_H
#define GCD_CLI_COMMANDS_OPEN_DUMP_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/*
 * Opens the dump that ARGS name: recorded, live, or a graph in a file.  With --strict an incomplete dump is a failure.  On failure the message
 * has been printed and the result is not CLI_DONE.  Call cli_close in any case.
 */
enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret);
void cli_close(struct cli_dump *d);

#endif
