/*
 * Progress on a terminal.
 */
#ifndef GCD_CLI_TERM_PROGRESS_H
#define GCD_CLI_TERM_PROGRESS_H

#include <stdint.h>

/* A line on standard error, only on a terminal; starts after a second, at most six times a second. */
void cli_progress(void *verb, uint64_t done_bytes, uint64_t total_bytes);
/* The same for work not counted in bytes. */
void cli_progress_steps(void *verb, uint64_t done, uint64_t total);
void cli_progress_end(void);
void cli_progress_off(void);
/*
 * From here on all progress goes to TAKE, by any thread and as often as the library reports it, and nothing is printed; TAKE NULL: it is printed
 * again.
 */
void cli_progress_to(void (*take)(void *ctx, const char *verb, uint64_t done, uint64_t total), void *ctx);

#endif
