/*
 * --filter PATTERN: selects types by their names.
 *
 *     Shop.*                  * is any text, ? one character; the whole name must match
 *     System.Byte[], byte[]   brackets mean themselves: they belong to arrays
 *     /^Shop\.(Order|Item)/   between slashes: a POSIX extended regular expression, anywhere in the name
 *     module(Shop*)           the types of a module
 *
 * Case matters.  type_pattern.h says what a name is, pattern.h what a pattern is.  Names may have any length.
 */
#ifndef GCD_CLI_FILTER_H
#define GCD_CLI_FILTER_H

#include "exit.h"
#include "input/input.h"

struct cli_filter;

/* CLI_USAGE after a message: not a valid pattern; CLI_FAILED: out of memory.  Free with cli_filter_free. */
enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);

/*
 * RET[types of SUMMARY]: 1 for those that F means, F NULL: all.  NAMES: as the output has them.  CLI_FAILED after a message: out of memory; after an
 * interrupt or --timeout: its exit status, after a message.
 */
enum cli_exit cli_filter_select(const struct cli_filter *f, const char *subject, const struct gcd_summary *summary, const struct gcd_names *names,
                                uint8_t *ret);

/*
 * [types of D] 1 for those with objects that F means.  CLI_FAILED after a message: out of memory; no type, or no object of one;
 * CLI_INTERRUPTED.
 * free() *RET.
 */
enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret);

/* Says "no type matches ..." about SUBJECT, with the nearest names of D; returns CLI_FAILED. */
enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject, const struct cli_dump *d, const struct gcd_names *names);

/* Says that F matches nothing in any dump, D being the last, with the nearest names of D. */
void cli_filter_say_absent(const struct cli_filter *f, const struct cli_dump *d, const struct gcd_names *names);

#endif
