/*
 * Which types does a pattern mean?  Unlike pattern.h, this knows how names of types are spelt.
 *
 *     Shop.*, Shop.Tables+Entry, List<string>     a glob, in any of the spellings of
 *                                                 name_variants.h
 *     <>c [Shop 0x02000005]                       with what tells equal names apart: its module, or
 *         the token, or both
 *     /^Shop\./                                   a regular expression
 *     module(Shop*)                               types of a module: its file with or without
 *         folder and suffix, or its assembly
 *
 * A glob or regular expression must match any name of a type: as shown, in C# spelling with and
 * without its module, what the runtime calls it (a nested type without its outer types), and with a
 * "`" in the pattern the raw names.  A pattern that is a raw name always means it.
 */
#ifndef GCD_CLI_TYPE_PATTERN_H
#define GCD_CLI_TYPE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>

#include "output/pattern.h"

struct cli_type_pattern;

/* Compiles TEXT, which must outlive *RET.  Returns as cli_pattern_glob does: NULL and *RET (NULL
 * when out of memory), or what is wrong with TEXT. */
const char *cli_type_pattern_new(const char *text, struct cli_type_pattern **ret);
void cli_type_pattern_free(struct cli_type_pattern *p);

bool cli_type_pattern_is_regex(const struct cli_type_pattern *p);
/* A name without wildcards, which means one type, or several that have the same name. */
bool cli_type_pattern_is_plain(const struct cli_type_pattern *p);
bool cli_type_pattern_is_module(const struct cli_type_pattern *p);

/* The types of a dump. */
struct cli_type_names {
    const struct gcd_summary *summary;
    const struct gcd_names *shown;  /* as shown in the output */
    const struct gcd_names *csharp; /* in C# spelling */
};

/*
 * Sets RET[types] to 1 for the types that P matches, 0 for others.  LOOSE: names may lack their
 * namespaces, may be the methods of async state machines as leaks and paths spell them, and a glob
 * without capital letters ignores case; only globs match then.  CLI_MATCH; CLI_MATCH_CANCELED when
 * *CANCEL was set; CLI_MATCH_NO_MEMORY.
 */
enum cli_match cli_type_pattern_select(struct cli_type_pattern *p,
                                       const struct cli_type_names *names, bool loose,
                                       const gcd_cancel_flag *cancel, uint8_t *ret);

/* The file of the module of T without its folder, or the name of its assembly; "(unknown)". */
const char *cli_module_file(const struct gcd_type *t);

#endif
