/*
 * The parts of the command report:
 *
 *     cmd_report.c        the request, the dump, the output
 *     report_rows.c       rows of a histogram as a table: order, limits, sums
 *     report_columns.c    the columns for types, for what they have in common, generations and
 *                         lengths
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
#include "output/memory_notes.h"
#include "output/table.h"

#include <gcdumpc/generations.h>

struct report {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_names *names; /* the dump's */
    struct cli_unreachable unreachable;
    struct cli_filter *filter;
    uint8_t *wanted;                         /* [types] 1: has objects and matches the filter */
    const struct gcd_dominators *dominators; /* of D's session; with --retained, for types */
    uint32_t pseudo_roots;                   /* objects that took the place of roots */
    const struct gcd_histogram *h;           /* that the table shows */
    struct cli_column columns[16];           /* of the table shown */
};

/* The histogram of the wanted types.  By generation it fails when the dump has no memory ranges. On
 * failure the message has been printed. */
enum cli_exit report_histogram(struct report *r, enum gcd_histogram_by by,
                               const struct gcd_histogram **ret);

/* ---- rows ---- */

struct report_row {
    const char *label;
    size_t at; /* index in the histogram, or one of the next two */
    struct gcd_histogram_row v;
};
/* Rows that sum up others: the rest that is not shown, and the total. */
#define REPORT_REST  SIZE_MAX
#define REPORT_TOTAL (SIZE_MAX - 1)

/* The rows of H in the order of --sort; ties by bytes, count, label, then as in H.  free() them;
 * NULL when out of memory. */
struct report_row *report_rows(const struct report *r, const struct gcd_histogram *h);

/* The columns after count, bytes, share and, with --retained, retained_bytes.  The last column with
 * a title is the label. */
struct report_columns {
    const char *one; /* what the sums call a row, such as "type" */
    const struct cli_column *items;
    size_t n;
    /* also for rows that sum up */
    void (*cells)(const struct report *r, struct cli_table *t, const struct report_row *row);
};
extern const struct report_columns report_type_columns, report_module_columns,
    report_namespace_columns, report_kind_columns, report_generation_columns, report_length_columns;

/* The rows of r->h as a table, sorted, limited by --top and --min-bytes, with sums below. */
enum cli_exit report_table(struct report *r, const struct report_columns *columns,
                           struct cli_table **ret);
/* The same for r->h by root. */
enum cli_exit report_root_table(struct report *r, struct cli_table **ret);

/* The bytes in the ranges of a generation that no object uses. */
uint64_t report_free_bytes(const struct gcd_generation *g);

/* Writes all metrics, in the form that node_exporter's textfile collector reads. */
enum cli_exit report_prometheus(struct report *r, FILE *to);

#endif
