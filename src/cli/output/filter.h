/*
 * --filter PATTERN: selects types by their names.
 *
 *     Shop.*                  * is any text, ? one character; the whole name must match
 *     System.Byte[], byte[]   brackets mean themselves: they belong to arrays
 *     /^Shop\.(Order|Item)/   between slashes: a POSIX extended regular expression, anywhere in the
 *         name
 *     module(Shop*)           the types of a module
 *
 * Case matters.  type_pattern.h says what a name is, pattern.h what a pattern is.  Names may have
 * any length.
 */
#ifndef GCD_CLI_FILTER_H
#define GCD_CLI_FILTER_H

#include "exit.h"
#include "input/input.h"

struct cli_filter;

/* CLI_USAGE after a message: not a valid pattern; CLI_FAILED: out of memory.  Free with
 * cli_filter_free. */
enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);

/*
 * Sets RET[types of SUMMARY] to 1 for each type that F selects, 0 for others; F NULL selects all.
 * NAMES: as shown in the output.  CLI_FAILED after a message when out of memory; after an interrupt
 * or --timeout its exit status, also after a message.
 */
enum cli_exit cli_filter_select(const struct cli_filter *f, const char *subject,
                                const struct gcd_summary *summary, const struct gcd_names *names,
                                uint8_t *ret);

/*
 * Sets *RET to an array [types of D], 1 for each type that F selects and that has objects; free()
 * it.  CLI_FAILED after a message: out of memory, no type matches, or no matching type has objects.
 * CLI_INTERRUPTED.
 */
enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d,
                               const struct gcd_names *names, uint8_t **ret);

/* Says "no type matches ..." about SUBJECT, with the nearest names of D; returns CLI_FAILED. */
enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject,
                                 const struct cli_dump *d, const struct gcd_names *names);

/* Says that F matches nothing in any dump, D being the last, with the nearest names of D. */
void cli_filter_say_absent(const struct cli_filter *f, const struct cli_dump *d,
                           const struct gcd_names *names);

#endif
