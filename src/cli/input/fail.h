/*
 * Turns an error of the library into a message and an exit status.
 */
#ifndef GCD_CLI_INPUT_FAIL_H
#define GCD_CLI_INPUT_FAIL_H

#include <gcdumpc/status.h>

#include "exit.h"

/* Prints ERR with its place; returns the exit status for it. */
enum cli_exit cli_fail(const char *subject, const struct gcd_error *err);
/* Prints "out of memory" about SUBJECT; returns CLI_FAILED. */
enum cli_exit cli_no_memory(const char *subject);

#endif
