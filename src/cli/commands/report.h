/*
 * The parts of the command report: cmd_report.c is the request, the dump and the output,
 * report_prom.c the output for Prometheus.
 */
#ifndef GCD_CLI_REPORT_H
#define GCD_CLI_REPORT_H

#include <stdio.h>

#include "answer/answers.h"
#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/filter.h"
#include "output/memory_notes.h"

struct report {
    const struct cli_args *args;
    struct cli_dump d;
    struct cli_unreachable unreachable;
    struct cli_filter *filter;
    uint8_t *wanted;                         /* [types] 1: has objects and matches the filter */
    const struct gcd_dominators *dominators; /* of D's session; with --retained, for types */
    uint32_t pseudo_roots;                   /* objects that took the place of roots */
    const struct gcd_histogram *h;           /* that the answer shows */
};

/* The histogram of the wanted types.  By generation it fails when the dump has no memory ranges. On
 * failure the message has been printed. */
enum cli_exit report_histogram(struct report *r, enum gcd_histogram_by by,
                               const struct gcd_histogram **ret);
/* Which rows of H. */
struct report_rows {
    enum gcd_histogram_by by;
    enum answer_sort sort;
    struct answer_page page;
    bool for_people;
};
enum cli_exit report_answer(const struct report *r, const struct gcd_histogram *h,
                            const struct report_rows *rows, struct answer **ret);

/* Writes all metrics, in the form that node_exporter's textfile collector reads. */
enum cli_exit report_prometheus(struct report *r, FILE *to);

#endif
