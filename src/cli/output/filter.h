/*
 * --filter PATTERN: selects types by the names that are shown.
 *
 *     Shop.*                  * is any text, ? one character; the whole name must match
 *     System.Byte[]           brackets mean themselves: they belong to arrays
 *     /^Shop\.(Order|Item)/   between slashes: a POSIX extended regular expression, anywhere in the name
 *
 * Case matters.  Patterns work on bytes: ? is one byte, so a letter beyond ASCII takes two or more.  Names may have any length: pattern.h.
 */
#ifndef GCD_CLI_FILTER_H
#define GCD_CLI_FILTER_H

#include "exit.h"
#include "input/input.h"

struct cli_filter;

/* CLI_USAGE after a message: not a valid pattern; CLI_FAILED: out of memory.  Free with cli_filter_free. */
enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);

/* Does NAME match F?  F NULL matches everything.  After an interrupt or --timeout: its exit status, after a message about SUBJECT. */
enum cli_exit cli_filter_match(const struct cli_filter *f, const char *subject, const char *name, bool *ret);

/*
 * [types of D] 1 for those with objects whose names match F.  CLI_FAILED after a message: out of memory; no type, or no object of one;
 * CLI_INTERRUPTED.
 * free() *RET.
 */
enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret);

/* Says "no type matches ..." about SUBJECT, with the nearest of the COUNT type names NAMES; returns CLI_FAILED. */
enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject, const struct gcd_names *names, uint32_t count);

#endif
