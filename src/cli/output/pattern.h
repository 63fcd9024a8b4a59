/*
 * Does a text match a pattern?  The pattern is the user's, the text may come from anywhere and be as long as it likes: the time is at most its length
 * times the size of the pattern, the memory that of the pattern.
 *
 *     glob    * is any text, ? one character (or one byte), everything else means itself; the whole text must match.  A "_" is a line
 *             feed, too, and ":" a semicolon, as some formats write them
 *     regex   a POSIX extended regular expression, anywhere in the text, with \w \W \s \S \b \B \< \> \` \' as the C library has them, but
 *             without back references, which cannot be bounded
 *
 * Otherwise bytes, not characters.  Not for several threads at the same time.
 */
#ifndef GCD_CLI_PATTERN_H
#define GCD_CLI_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/cancel.h>

struct cli_pattern;

/* NULL and *RET, which is NULL when memory ran out; or what is wrong with it, a part of a sentence.  Free with cli_pattern_free. */
const char *cli_pattern_glob(const char *text, size_t n, struct cli_pattern **ret);
const char *cli_pattern_regex(const char *text, size_t n, struct cli_pattern **ret);
void cli_pattern_free(struct cli_pattern *p);

enum cli_match { CLI_NO_MATCH, CLI_MATCH, CLI_MATCH_CANCELED, CLI_MATCH_NO_MEMORY };

/* CLI_MATCH_CANCELED when *CANCEL was set before the end of TEXT. */
enum cli_match cli_pattern_match(const struct cli_pattern *p, const char *text, const gcd_cancel_flag *cancel);

#endif
