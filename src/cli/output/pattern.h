/*
 * Does a text match a pattern?  The pattern comes from the user; the text may come from anywhere
 * and have any length.  The time is at most the length of the text times the size of the pattern;
 * the memory depends on the pattern alone.
 *
 *     glob    * is any text, ? one character (or one byte), everything else means itself; the whole
 *             text must match.  "_" also matches a
 *             line break, and ":" a semicolon, because some formats write them so
 *     regex   a regular expression of PCRE2, anywhere in the text, with \< \> \` \' as in the C
 *             library; in a set a backslash means itself.  Without back references, assertions and
 *             recursion, which have no bound on time
 *
 * Apart from "?", patterns match bytes, not characters.  Not for several threads at the same time.
 */
#ifndef GCD_CLI_PATTERN_H
#define GCD_CLI_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/cancel.h>

struct cli_pattern;

/*
 * Compiles TEXT.  Returns NULL and sets *RET, to NULL when memory ran out; or returns what is
 * wrong, part of a sentence.  Free with cli_pattern_free.
 */
const char *cli_pattern_glob(const char *text, size_t n, struct cli_pattern **ret);
const char *cli_pattern_regex(const char *text, size_t n, struct cli_pattern **ret);
/* Is TEXT a regular expression between slashes? */
bool cli_pattern_is_regex(const char *text, size_t n);
/* Compiles that, or else a glob. */
const char *cli_pattern_new(const char *text, size_t n, struct cli_pattern **ret);
/* The same for a glob in which every name may lack its namespace and outer types: "Order" is also
 * "Shop.Order", "List<Order>" also "Shop.List<Shop.Order>".  FOLD: the case of ASCII letters does
 * not matter. */
const char *cli_pattern_loose(const char *text, size_t n, bool fold, struct cli_pattern **ret);
void cli_pattern_free(struct cli_pattern *p);

enum cli_match { CLI_NO_MATCH, CLI_MATCH, CLI_MATCH_CANCELED, CLI_MATCH_NO_MEMORY };

/* CLI_MATCH_CANCELED when *CANCEL was set before the end of TEXT. */
enum cli_match cli_pattern_match(struct cli_pattern *p, const char *text,
                                 const gcd_cancel_flag *cancel);

#endif
