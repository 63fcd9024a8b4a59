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
/* Sets the source of messages without a subject, such as "FILE: line 5"; NULL = the command line.
 * PLACE must live until the next call. */
void cli_at(const char *place);
/* The same about an error that ends a command, or one dump of a job.  Returns STATUS. */
enum cli_exit cli_error(enum cli_exit status, const char *subject, const char *fmt, ...)
    GCD_PRINTF(3, 4);
/* The text of the last error without its subject, "" when there was none since cli_error_clear. */
const char *cli_error_text(void);
/* The subject of that error, "" without one. */
const char *cli_error_subject(void);
void cli_error_clear(void);
/* The last message without its subject, error or not.  cli_hold switches printing off and on; held
 * messages are not printed. */
const char *cli_last_said(void);
void cli_hold(bool hold);
/* Redirects all messages to TAKE, with their subject, which may be NULL; TAKE NULL: prints them
 * again. */
void cli_say_to(void (*take)(void *ctx, const char *subject, const char *text), void *ctx);

#endif
