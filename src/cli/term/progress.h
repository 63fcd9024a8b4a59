/*
 * Progress on a terminal.
 */
#ifndef GCD_CLI_TERM_PROGRESS_H
#define GCD_CLI_TERM_PROGRESS_H

#include <stdint.h>

/* Shows progress as a line on standard error, only on a terminal: after a second, at most six times
 * a second. */
void cli_progress(void *verb, uint64_t done_bytes, uint64_t total_bytes);
/* The same for work not counted in bytes. */
void cli_progress_steps(void *verb, uint64_t done, uint64_t total);
void cli_progress_end(void);
void cli_progress_off(void);
/* Redirects all progress to TAKE, called by any thread as often as the library reports; TAKE NULL:
 * prints it again. */
void cli_progress_to(void (*take)(void *ctx, const char *verb, uint64_t done, uint64_t total),
                     void *ctx);

#endif
