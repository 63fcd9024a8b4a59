/*
 * What signals do: they cancel; a second one removes temporary files and ends the program.
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
/* It was set because --timeout has passed. */
extern gcd_cancel_flag cli_timed_out;
/* Sets both in so many seconds; 0: never. */
void cli_deadline(uint64_t seconds);
/* The temporary files, and folders of files, that a second signal removes before it ends the program; NULL = none. */
enum cli_slot { CLI_SLOT_OUTPUT, CLI_SLOT_TRACE, CLI_SLOT_SUMMARY, CLI_SLOT_PORT, CLI_SLOTS };
void cli_temporary(enum cli_slot slot, const char *path);
/* A second signal calls it before it ends the program: a terminal is as it was before.  Must be safe in a signal handler; NULL = none. */
void cli_before_end(void (*restore)(void));
/* One will be made, and until the next call of cli_temporary a second signal waits. */
void cli_temporary_comes(void);

/* pthread_create for a thread without signals, which are for the caller.  0 or an errno. */
int cli_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx);

/* The reader of standard output has ended before us; the program then ends as others do, without a word. */
extern bool cli_reader_gone;
void cli_end_by_sigpipe(void);

#endif
