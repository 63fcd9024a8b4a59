/*
 * Which types a user means: --filter PATTERN, by the names that are shown.
 *
 *     Shop.*                  * is any text, ? one character; the whole name must match
 *     System.Byte[]           brackets mean themselves: they belong to arrays
 *     /^Shop\.(Order|Item)/   between slashes: a POSIX extended regular expression, anywhere in the name
 *
 * Case matters.  Names are bytes here: ? is one of them, of a letter beyond ASCII it takes two or more.  Names may have any length: pattern.h.
 */
#ifndef GCD_CLI_FILTER_H
#define GCD_CLI_FILTER_H

#include "exit.h"
#include "input/input.h"

struct cli_filter;

/* CLI_USAGE after a line on standard error: no pattern that can be understood; CLI_FAILED: out of memory.  Free with cli_filter_free. */
enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);

/* Does NAME match F?  F NULL matches everything.  CLI_INTERRUPTED (or that of a --timeout) after a message about SUBJECT: not known. */
enum cli_exit cli_filter_match(const struct cli_filter *f, const char *subject, const char *name, bool *ret);

/*
 * [types of D] 1 for those with objects whose names match F.  CLI_FAILED after a message: out of memory; no type, or no object of one;
 * CLI_INTERRUPTED.
 * free() *RET.
 */
enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret);

/* "no type matches ..." with names that are near, about SUBJECT; returns CLI_FAILED.  NAMES are those of COUNT types. */
enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject, const struct gcd_names *names, uint32_t count);

#endif
