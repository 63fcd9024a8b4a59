/*
 * The ways to write the same names: a pattern for names of types as people type it or copy it from
 * an output, and what it is in C# spelling.
 *
 *     Shop.Tables+Entry                        Shop.Tables.Entry
 *     List<int?[],string>                      List<System.Nullable<System.Int32>[], System.String>
 *     Dictionary`2[System.String,Shop.Item]    Dictionary<System.String, Shop.Item>
 *     Shop.Entry\u003c\u003e                   Shop.Entry<>          out of JSON; also of CSV, of
 *         the page, and cut: "..."
 *
 * The first one is always the text itself.
 */
#ifndef GCD_CLI_NAME_VARIANTS_H
#define GCD_CLI_NAME_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_VARIANTS_MAX 32u

struct cli_variants {
    char *text[CLI_VARIANTS_MAX];
    size_t n;
};

/* Lists the variants of the glob TEXT[N] in V.  False when out of memory.  Call cli_variants_done
 * in any case. */
bool cli_variants_of(const char *text, size_t n, struct cli_variants *v);
void cli_variants_done(struct cli_variants *v);

#endif
