/*
 * Messages on standard error.
 */
#ifndef GCD_CLI_TERM_MESSAGE_H
#define GCD_CLI_TERM_MESSAGE_H

#include <stdbool.h>

#include <gcdumpc/status.h>

#include "exit.h"

/* "gcdumpc: SUBJECT: …" on standard error; SUBJECT may be NULL. */
void cli_say(const char *subject, const char *fmt, ...) GCD_PRINTF(2, 3);
/* A continuation line of the last message, for lists. */
void cli_say_more(const char *fmt, ...) GCD_PRINTF(1, 2);
/* The source of messages without a subject, such as "FILE: line 5"; NULL = the command line.  PLACE must live until the next call. */
void cli_at(const char *place);
/* The same about an error that ends a command, or one dump of a job.  Returns STATUS. */
enum cli_exit cli_error(enum cli_exit status, const char *subject, const char *fmt, ...) GCD_PRINTF(3, 4);
/* The text of the last error without its subject, "" when there was none since cli_error_clear. */
const char *cli_error_text(void);
/* That subject, "" without one. */
const char *cli_error_subject(void);
void cli_error_clear(void);
/* The last line without its subject, error or not, and whether lines are printed at all: not while they are held. */
const char *cli_last_said(void);
void cli_hold(bool hold);
/* From here on all lines go to TAKE with their subject, which may be NULL, and nothing is printed; TAKE NULL: they are printed again. */
void cli_say_to(void (*take)(void *ctx, const char *subject, const char *text), void *ctx);

#endif
