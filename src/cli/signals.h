/*
 * Signals cancel the work; a second one removes temporary files and ends the program, and so does
 * the loss of a mapped file (SIGBUS).
 */
#ifndef GCD_CLI_SIGNALS_H
#define GCD_CLI_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/cancel.h>

void cli_set_signals(void);
/* Set by SIGINT, SIGTERM and SIGHUP. */
extern gcd_cancel_flag cli_canceled;
/* Also set when --timeout has passed, unless a signal came first. */
extern gcd_cancel_flag cli_timed_out;
/* The first signal; 0 = none came. */
int cli_signal(void);
/* Sets both after SECONDS; 0 = never. */
void cli_deadline(uint64_t seconds);
/* Resets both: what was canceled is over, and something else begins. */
void cli_clear_cancel(void);
/* The temporary files, and folders of files, that a second signal removes before it ends the
 * program; NULL = none. */
enum cli_slot { CLI_SLOT_OUTPUT, CLI_SLOT_TRACE, CLI_SLOT_SUMMARY, CLI_SLOT_PORT, CLI_SLOTS };
void cli_temporary(enum cli_slot slot, const char *path);
/* Called by a second signal before it ends the program, to restore the terminal.  Must be safe in a
 * signal handler; NULL = none. */
void cli_before_end(void (*restore)(void));
/* Defers a second signal until the next call of cli_temporary, because a temporary file is about to
 * be made. */
void cli_temporary_comes(void);

/* pthread_create for a thread that gets no signals; the caller's threads get them.  0 or an errno.
 */
int cli_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx);

/* The reader of standard output has exited; then the program ends silently, as others do. */
extern bool cli_reader_gone;
void cli_end_by_sigpipe(void);

#endif
