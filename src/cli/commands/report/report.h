/*
 * The report, cut into its parts:
 *
 *     cmd_report.c        what is asked for, the dump, the output
 *     report_rows.c       lines with objects and bytes: order, limits, sums
 *     report_types.c      a line for each type, or for what types have in common
 *     report_objects.c    a line for each generation, or length: what only the objects themselves tell
 *     report_roots.c      a line for each group of roots
 *     report_prom.c       all of it for Prometheus
 */
#ifndef GCD_CLI_REPORT_H
#define GCD_CLI_REPORT_H

#include <stdio.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/filter.h"
#include "output/table.h"

struct report {
    const struct cli_args *args;
    struct cli_dump d;
    struct gcd_names *names;
    struct cli_filter *filter;
    uint32_t types;              /* of the dump */
    uint8_t *wanted;             /* [types] 1: has objects and matches the filter */
    uint32_t matched;            /* how many these are */
    uint64_t count, bytes;       /* their objects */
    struct gcd_dominators *dominators;   /* with --retained, of types */
    uint32_t pseudo_roots;       /* objects that took the place of roots */
    struct cli_column columns[16];       /* of the table */
};

/* "out of memory" about the dump; CLI_FAILED. */
enum cli_exit report_no_memory(const struct report *r);

/* ---- lines ---- */

struct report_row {
    const char *label;
    char *owned;                 /* the same when it is to be freed, or NULL */
    uint64_t count, bytes, retained_bytes;
    uint32_t index;              /* whatever the maker of the row wants to find again */
};
/* The index of lines that sum up others: what is not shown, and all. */
#define REPORT_REST UINT32_MAX
#define REPORT_TOTAL (UINT32_MAX - 1)

struct report_rows {
    struct report_row *items;
    size_t n, room;
};

/* False when out of memory; ROW.owned is freed then. */
bool report_add_row(struct report_rows *rows, struct report_row row);
void report_rows_done(struct report_rows *rows);
/* As --sort asks; equal lines by bytes, count, label, then by index. */
void report_sort_rows(struct report_rows *rows, enum cli_sort sort);

/* What follows count, bytes, share and, with --retained, retained_bytes in a line.  The last column with a title is the label. */
struct report_columns {
    const char *plural;          /* "types": how the sums call the lines */
    const struct cli_column *items;
    size_t n;
    void (*cells)(const void *ctx, struct cli_table *t, const struct report_row *row);   /* also of lines that sum up, but for the label */
    const void *ctx;
};
/* The lines as a table, sorted, as many as are asked for, with sums below.  NULL when out of memory. */
struct cli_table *report_table(struct report *r, struct report_rows *rows, const struct report_columns *columns);

/* ---- the views: each makes a table, and its name in JSON ---- */

struct report_view {
    const char *key;             /* "types" */
    enum cli_need need;
    enum cli_exit (*make)(struct report *r, struct cli_table **ret);
};
enum cli_exit report_by_type(struct report *r, struct cli_table **ret);
enum cli_exit report_by_module(struct report *r, struct cli_table **ret);
enum cli_exit report_by_namespace(struct report *r, struct cli_table **ret);
enum cli_exit report_by_kind(struct report *r, struct cli_table **ret);
enum cli_exit report_by_generation(struct report *r, struct cli_table **ret);
enum cli_exit report_by_length(struct report *r, struct cli_table **ret);
enum cli_exit report_by_root(struct report *r, struct cli_table **ret);

/* ---- what Prometheus shows of the same ---- */

/* The matching types as rows; the index is the type's number.  False when out of memory. */
enum cli_exit report_type_rows(struct report *r, struct report_rows *ret);
/* NULL when the dump has no memory ranges. */
enum cli_exit report_generations(struct report *r, struct gcd_generations **ret);
/* "gen0", "loh" ..., as OpenTelemetry calls them, and "nongc"; in BUF. */
#define REPORT_GENERATION_BYTES 24
const char *report_generation_name(unsigned number, char buf[REPORT_GENERATION_BYTES]);
/* What the ranges of a generation have besides objects. */
uint64_t report_free_bytes(const struct gcd_generation *g);
/* Roots by group, with what they keep alive when RET->groups shall have it (--retained). */
enum cli_exit report_root_sets(struct report *r, struct gcd_root_sets *ret);

/* All metrics, as node_exporter's textfile collector reads them. */
enum cli_exit report_prometheus(struct report *r, FILE *to);

#endif
