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

/* Where ARGS keep what does not fit into memory: beside the output, where room is needed anyway, or where TMPDIR says.  In RET[CAP]. */
void cli_spool_folder(const struct cli_args *args, char *ret, size_t cap);

/* The same for a command that asks one graph several questions: with names, and a session on graph and names by the options of ARGS. */
enum cli_exit cli_open_session(const struct cli_args *args, enum cli_need need, struct cli_dump *ret);
/* Names and session of a D that was opened with a graph. */
enum cli_exit cli_make_session(const struct cli_args *args, struct cli_dump *d);

/*
 * Questions about a D that has been written: types of several loads become one, then D gets its graph, names and session.  After that nothing can be
 * written of it as it came.
 */
enum cli_exit cli_ask_written(const struct cli_args *args, struct cli_dump *d);

/*
 * The end of a command that printed about D with the result E, guessing with PSEUDO_ROOTS (dominators.h): flushes the output, says what people have
 * to know about D, judges.  Returns the exit status.
 */
enum cli_exit cli_finish(const struct cli_args *args, const struct cli_dump *d, enum cli_exit e, uint32_t pseudo_roots);

#endif
