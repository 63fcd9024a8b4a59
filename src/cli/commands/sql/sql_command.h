/*
 * The command sql, cut into its parts:
 *
 *     cmd_sql.c       where statements come from, one after the other, what is wrong with one
 *     sql_print.c     rows as a table, JSON or CSV
 *     sql_prompt.c    line by line on a terminal
 *     sql_lines.c     a line from the terminal, with editing and history where there is libedit
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
    struct cli_args input;       /* the same for opening the dump */
    struct cli_dump d;
    struct gcd_sql *db;
    enum sql_mode mode;
};

/* Runs all statements of TEXT.  The message has been printed when it fails; the statements before have printed their rows. */
enum cli_exit sql_run(const struct sql_shell *s, const char *text);
/* Says what is wrong with TEXT, with the line and a caret below the place. */
enum cli_exit sql_wrong(const char *subject, const char *text, const struct gcd_error *err);

/* sql_print.c: all rows of Q to standard output.  CLI_DONE also when they cannot be written: that is found when the output is flushed. */
enum cli_exit sql_print(const struct sql_shell *s, struct gcd_sql_query *q);

/* sql_prompt.c: until the end of the input, or .quit. */
enum cli_exit sql_prompt(struct sql_shell *s);

/* sql_lines.c */
struct sql_lines;
/* NULL: no memory. */
struct sql_lines *sql_lines_open(void);
void sql_lines_close(struct sql_lines *l);
/*
 * The next line without its end, behind PROMPT; to be freed.  NULL: the input has ended, or was interrupted, which cli_canceled tells; or there is
 * no memory.
 */
char *sql_lines_next(struct sql_lines *l, const char *prompt);
/* What the arrow keys bring back. */
void sql_lines_remember(struct sql_lines *l, const char *statement);

#endif
