/*
 * An error of the library as a message and an exit status.
 */
#ifndef GCD_CLI_INPUT_FAIL_H
#define GCD_CLI_INPUT_FAIL_H

#include <gcdumpc/status.h>

#include "exit.h"

/* An error with its place; returns the exit status for it. */
enum cli_exit cli_fail(const char *subject, const struct gcd_error *err);
/* "out of memory" about SUBJECT; CLI_FAILED. */
enum cli_exit cli_no_memory(const char *subject);

#endif
