/*
 * --filter PATTERN: selects types by their names.
 *
 *     Shop.*                  * is any text, ? one character; the whole name must match
 *     System.Byte[], byte[]   brackets mean themselves: they belong to arrays
 *     /^Shop\.(Order|Item)/   between slashes: a regular expression (pattern.h), anywhere in the
 *         name
 *     module(Shop*)           the types of a module
 *
 * If nothing matches, namespaces may be missing ("Order", "List<Order>", "Poller.LoopAsync"), and
 * in a pattern without capital letters case does not matter.  type_pattern.h says what a name is,
 * pattern.h what a pattern is.  Names may have any length.
 */
#ifndef GCD_CLI_FILTER_H
#define GCD_CLI_FILTER_H

#include "exit.h"
#include "input/input.h"

struct cli_filter;

/*
 * What a pattern means in one dump or several.  If no type has such a name, it is taken for names
 * without their namespaces; once a dump has decided that, the others follow.  Begin with zeros, and
 * end with cli_meaning_done.
 */
struct cli_meaning {
    enum { CLI_UNKNOWN_MEANING, CLI_MEANS_NAMES, CLI_MEANS_SHORT_NAMES } of;
    char *name, *other; /* of a plain name: the first two different names that it matches */
    bool ambiguous;
};

/* CLI_USAGE after a message: not a valid pattern; CLI_FAILED: out of memory.  Free with
 * cli_filter_free. */
enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret);
void cli_filter_free(struct cli_filter *f);

/*
 * Sets RET[types of SUMMARY] to 1 for each type that F selects, 0 for others; F NULL selects all.
 * NAMES: as shown in the output.  With MEANING NULL, CLI_FAILED after a message if a short name
 * means several types; otherwise MEANING tells.  CLI_FAILED after a message when out of memory;
 * after an interrupt or --timeout its exit status, also after a message.
 */
enum cli_exit cli_filter_select(const struct cli_filter *f, const char *subject,
                                const struct gcd_summary *summary, const struct gcd_names *names,
                                struct cli_meaning *meaning, uint8_t *ret);
void cli_meaning_done(struct cli_meaning *m);

/* Says that the short name F means several types; returns CLI_FAILED. */
enum cli_exit cli_filter_ambiguous(const struct cli_filter *f, const char *subject,
                                   const struct cli_meaning *m);

bool cli_filter_is_plain(const struct cli_filter *f);

/*
 * Sets *RET to an array [types of D], 1 for each type that F selects and that has objects; free()
 * it.  CLI_FAILED after a message: out of memory, no type matches, or no matching type has objects.
 * CLI_INTERRUPTED.
 */
enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d,
                               const struct gcd_names *names, uint8_t **ret);

/* The same for a PATTERN; also CLI_USAGE. */
enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret);

/* Says "no type matches ..." about SUBJECT, with the nearest names of D; returns CLI_FAILED. */
enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject,
                                 const struct cli_dump *d, const struct gcd_names *names);

/* What to try when F matches nothing, part of a sentence: the nearest names of D, or the command
 * that lists all.  free() it; NULL when out of memory. */
char *cli_filter_hint(const struct cli_filter *f, const struct cli_dump *d,
                      const struct gcd_names *names);

#endif
