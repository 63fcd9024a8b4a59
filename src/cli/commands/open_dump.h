/*
 * Opens the dump that the arguments name, a file or a process.
 */
#ifndef GCD_CLI_COMMANDS_OPEN_DUMP_H
#define GCD_CLI_COMMANDS_OPEN_DUMP_H

#include "args.h"
#include "exit.h"
#include "input/input.h"

/*
 * Opens the dump that ARGS name: recorded, live, or a graph in a file.  With --strict an incomplete
 * dump is a failure.  On failure the message has been printed and the result is not CLI_DONE.  Call
 * cli_close in any case.
 */
enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret);
void cli_close(struct cli_dump *d);

/* The folder in RET[CAP] for data that does not fit into memory: the folder of the output, where
 * space is needed anyway, or TMPDIR. */
void cli_spool_folder(const struct cli_args *args, char *ret, size_t cap);

/* Like cli_open, for a command that asks several questions about one graph: with names, and a
 * session by the options of ARGS. */
enum cli_exit cli_open_session(const struct cli_args *args, enum cli_need need,
                               struct cli_dump *ret);
/* Makes names and session of D, which must have a graph. */
enum cli_exit cli_make_session(const struct cli_args *args, struct cli_dump *d);

/*
 * Prepares D for questions after it has been written: merges types that were loaded several times,
 * then makes graph, names and session.  After that D cannot be written in its original form.
 */
enum cli_exit cli_ask_written(const struct cli_args *args, struct cli_dump *d);

/*
 * Ends a command that printed about D with the result E and found PSEUDO_ROOTS (dominators.h):
 * flushes the output, tells people what they must know about D, and judges it.  Returns the exit
 * status.
 */
enum cli_exit cli_finish(const struct cli_args *args, const struct cli_dump *d, enum cli_exit e,
                         uint32_t pseudo_roots);

#endif
