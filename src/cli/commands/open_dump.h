/*
 * Opening the dump that the arguments name, a file or a process.
 */
#ifndef GCD_CLI_COMMANDS_OPEN_DUMP_H
#define GCD_CLI_COMMANDS_OPEN_DUMP_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/*
 * The dump that ARGS name, recorded, live or a graph in a file; an incomplete one is none with --strict.  On failure the message
 * has been printed and the exit status is not CLI_DONE.  Release with cli_close in any case.
 */
enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret);
void cli_close(struct cli_dump *d);

#endif
