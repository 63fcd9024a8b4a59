/*
 * The parts of the command sql:
 *
 *     cmd_sql.c       gets the statements, runs them one by one, reports errors
 *     sql_print.c     rows as a table, JSON or CSV
 *     sql_prompt.c    line by line on a terminal
 *     sql_lines.c     a line from the terminal, with editing and history if libedit is there
 */
#ifndef GCD_CLI_SQL_COMMAND_H
#define GCD_CLI_SQL_COMMAND_H

#include <stdbool.h>

#include <gcdumpc/unstable/session/sql.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"

enum sql_mode { SQL_TABLE, SQL_JSON, SQL_CSV };

struct sql_shell {
    const struct cli_args *args;
    struct cli_args input; /* the same, changed for opening the dump */
    struct cli_dump d;
    struct gcd_sql *db;
    enum sql_mode mode;
};

/* Runs all statements of TEXT.  On failure the message has been printed, after the rows of the
 * statements before. */
enum cli_exit sql_run(const struct sql_shell *s, const char *text);

/* sql_print.c: prints all rows of Q to standard output.  Also CLI_DONE when a write fails: flushing
 * the output finds that. */
enum cli_exit sql_print(const struct sql_shell *s, struct gcd_sql_query *q);

/* sql_prompt.c: is TEXT a command of the prompt, as ".schema objects"? */
bool sql_is_command(const char *text);
/* Runs it.  CLI_FAILED: there is none with that name, which has been said. */
enum cli_exit sql_command(struct sql_shell *s, const char *text);
/* Runs statements until the end of the input, or .quit. */
enum cli_exit sql_prompt(struct sql_shell *s);

/* sql_lines.c */
struct sql_lines;
/* NULL: out of memory. */
struct sql_lines *sql_lines_open(void);
void sql_lines_close(struct sql_lines *l);
/*
 * Shows PROMPT and returns the next line without its end; to be freed.  NULL: the input has ended
 * or was interrupted (then cli_canceled is set), or memory is out.
 */
char *sql_lines_next(struct sql_lines *l, const char *prompt);
/* Adds STATEMENT to the history for the arrow keys. */
void sql_lines_remember(struct sql_lines *l, const char *statement);

#endif
