/*
 * The report, cut into its parts:
 *
 *     cmd_report.c        what is asked for, the dump, the output
 *     report_rows.c       rows of a histogram as a table: order, limits, sums
 *     report_columns.c    the columns for types, what they have in common, generations and lengths
 *     report_roots.c      the table of root groups
 *     report_prom.c       all of it for Prometheus
 *
 * The library counts (gcdumpc/histogram.h).
 */
#ifndef GCD_CLI_REPORT_H
#define GCD_CLI_REPORT_H

#include <stdio.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/filter.h"
#include "output/table.h"

#include <gcdumpc/generations.h>

struct report {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_names *names;       /* the dump's */
    struct cli_filter *filter;
    uint8_t *wanted;             /* [types] 1: has objects and matches the filter */
    const struct gcd_dominators *dominators;     /* its session's, with --retained, of types */
    uint32_t pseudo_roots;       /* objects that took the place of roots */
    const struct gcd_histogram *h;       /* of the table */
    struct cli_column columns[16];       /* of the table */
};

/* The objects of wanted types.  By generation it fails when the dump has no memory ranges.  The message has been printed then. */
enum cli_exit report_histogram(struct report *r, enum gcd_histogram_by by, const struct gcd_histogram **ret);

/* ---- rows ---- */

struct report_row {
    const char *label;
    size_t at;                   /* in the histogram, or: */
    struct gcd_histogram_row v;
};
/* Rows that sum up others: what is not shown, and all. */
#define REPORT_REST SIZE_MAX
#define REPORT_TOTAL (SIZE_MAX - 1)

/* The rows of H as --sort asks: equal ones by bytes, count, label, then as in H.  free() them; NULL when out of memory. */
struct report_row *report_rows(const struct report *r, const struct gcd_histogram *h);

/* What follows count, bytes, share and, with --retained, retained_bytes in a row.  The last column with a title is the label. */
struct report_columns {
    const char *one;             /* "type": how the sums call a row */
    const struct cli_column *items;
    size_t n;
    void (*cells)(const struct report *r, struct cli_table *t, const struct report_row *row);    /* also of rows that sum up */
};
extern const struct report_columns report_type_columns, report_module_columns, report_namespace_columns, report_kind_columns,
                                   report_generation_columns, report_length_columns;

/* The rows of r->h as a table, sorted, as many as are asked for, with sums below. */
enum cli_exit report_table(struct report *r, const struct report_columns *columns, struct cli_table **ret);
/* r->h is by root. */
enum cli_exit report_root_table(struct report *r, struct cli_table **ret);

/* What the ranges of a generation have besides objects. */
uint64_t report_free_bytes(const struct gcd_generation *g);

/* All metrics, as node_exporter's textfile collector reads them. */
enum cli_exit report_prometheus(struct report *r, FILE *to);

#endif
