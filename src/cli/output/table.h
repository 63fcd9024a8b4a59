/*
 * A table, filled row by row and printed in one of three ways: aligned text for people, a JSON
 * array of objects, CSV.
 *
 *     static const struct cli_column columns[] = {
 *         { "count", "Count", CLI_CELL_COUNT }, { "bytes", "Bytes", CLI_CELL_COUNT }, { "type",
 *             "Type", CLI_CELL_TEXT },
 *     };
 *     struct cli_table *t = cli_table_new(columns, 3);
 *     cli_table_count(t, 5);
 *     cli_table_count(t, 120);
 *     cli_table_text(t, "Shop.Order");          the third cell ends the row
 *     cli_table_print(t, stdout);
 *     cli_table_free(t);
 *
 * The table remembers that memory was exhausted, and printing fails then; so the filling functions
 * return nothing.
 */
#ifndef GCD_CLI_TABLE_H
#define GCD_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

enum cli_cell {
    CLI_CELL_COUNT,       /* with thousands separators on a terminal */
    CLI_CELL_DELTA,       /* the same with a sign, "+5" */
    CLI_CELL_BYTES,       /* "1.3 MiB" on a terminal, else all digits */
    CLI_CELL_BYTES_DELTA, /* the same with a sign */
    CLI_CELL_SHARE,       /* a share of 1: "12.34%"; a number from 0 to 1 for programs */
    CLI_CELL_GROWTH,      /* the same with a sign, "+12.34%"; empty when it was 0 before */
    /* a number that comes as text, printed as it is; cli_table_text; not for JSON */
    CLI_CELL_DIGITS,
    CLI_CELL_ADDRESS, /* hexadecimal; a string in JSON */
    CLI_CELL_TEXT,
    CLI_CELL_TREE /* a text, indented for people */
};

struct cli_column {
    const char *key;   /* in JSON and CSV; NULL = only for people */
    const char *title; /* for people; NULL = only for programs */
    enum cli_cell kind;
};

struct cli_table;

/* COLUMNS[N] must outlive the table.  NULL when out of memory; all functions take NULL. */
struct cli_table *cli_table_new(const struct cli_column *columns, size_t n);
void cli_table_free(struct cli_table *t);

/* Adds the next cell; its column must have that kind.  The last cell completes the row. */
void cli_table_count(struct cli_table *t, uint64_t n);
void cli_table_delta(struct cli_table *t, uint64_t before, uint64_t after);
void cli_table_share(struct cli_table *t, uint64_t part, uint64_t whole);
void cli_table_growth(struct cli_table *t, uint64_t before, uint64_t after);
void cli_table_address(struct cli_table *t, uint64_t address);
/* Copies TEXT, NULL = out of memory; control characters become "?" in text and CSV. */
void cli_table_text(struct cli_table *t, const char *text);
/* For CLI_CELL_TREE: a text DEPTH levels below the top. */
void cli_table_branch(struct cli_table *t, uint32_t depth, const char *text);
/* Unknown, not applicable: nothing in text and CSV, null in JSON. */
void cli_table_none(struct cli_table *t);

/* The following rows are sums: only for people, not in JSON and CSV. */
void cli_table_sums(struct cli_table *t);

/* Texts are not shortened for people. */
void cli_table_whole(struct cli_table *t);

/* All rows, including the sums. */
size_t cli_table_rows(const struct cli_table *t);

/*
 * For people.  On a terminal, rows that are too wide take several lines (wrap.h).  The middle of
 * very long names is left out (cli_shorten).  False with errno when memory was exhausted or TO
 * cannot be written.
 */
bool cli_table_print(const struct cli_table *t, FILE *to);
/* RFC 4180, with a line of keys.  Text that a spreadsheet would take for a formula gets an
 * apostrophe in front (src/write/README.md, csv). */
bool cli_table_csv(const struct cli_table *t, FILE *to);
/* Writes one CSV field. */
void cli_csv_text(const char *s, FILE *to);
/* All rows but the sums as an array of objects; NULL when memory was exhausted. */
json_t *cli_table_json(const struct cli_table *t);

#endif
