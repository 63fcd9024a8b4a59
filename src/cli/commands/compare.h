/*
 * Several dumps side by side: the common part of diff and trend.  One dump is open at a time; only its types are kept.
 */
#ifndef GCD_CLI_COMPARE_H
#define GCD_CLI_COMPARE_H

#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/threshold.h"
#include "exit.h"
#include "output/table.h"

/* What is kept of a closed dump. */
struct cli_side {
    char *subject;               /* for messages */
    char *program;               /* command line, else name of the process; "" = unknown */
    uint64_t process;            /* 0 = unknown */
    int64_t unix_ms;             /* when it was made; INT64_MIN = unknown */
    struct gcd_verdict verdict;
    uint64_t objects, bytes, types;      /* that pass --filter */
    uint64_t retained_bytes;     /* all live objects; 0 unless requested */
    uint64_t *values;            /* [threshold_count] the values of the thresholds */
};

struct cli_comparison {
    const struct cli_args *args;
    struct gcd_diff *diff;       /* matched */
    struct gcd_tree_diff *paths; /* matched; NULL unless --paths */
    struct cli_side *sides;      /* [side_count], oldest first */
    size_t side_count;
    struct cli_filter *filter;   /* NULL = all types */
    struct cli_threshold thresholds[CLI_THRESHOLDS_MAX];
    bool threshold_met[CLI_THRESHOLDS_MAX];      /* its pattern matches a type of any dump */
    size_t threshold_count;
    bool retained;               /* retained sizes are requested */
    bool filter_met;
    uint32_t *order;             /* [gcd_diff_row_count()] rows in the order of --sort */
};

/* Reads the dumps that ARGS name.  On failure the message has been printed.  Call cli_compare_close in any case. */
enum cli_exit cli_compare_open(const struct cli_args *args, struct cli_comparison *ret);
void cli_compare_close(struct cli_comparison *c);

/* compare_read.c: the part of cli_compare_open that reads the dumps and fills sides, diff and paths. */
enum cli_exit cli_compare_read(struct cli_comparison *c);

/* Does any dump differ in the row, in the requested quantities?  By at least --min-bytes? */
bool cli_compare_changed(const struct cli_comparison *c, const struct gcd_diff_row *row);
bool cli_compare_shown(const struct cli_comparison *c, const struct gcd_diff_row *row);

/* Cells for objects and bytes (before, after, change of each, then growth), and for "new" or "gone". */
void cli_compare_put_sums(struct cli_table *t, const struct gcd_diff_sum sums[2]);
void cli_compare_put_change(struct cli_table *t, const struct gcd_diff_sum sums[2]);

/* Prints ROWS, named KEY in JSON, with the dumps and thresholds to standard output, in the form that ARGS ask for. */
enum cli_exit cli_compare_print(const struct cli_comparison *c, const char *key, const struct cli_table *rows);

/* Says which thresholds are exceeded; returns the exit status of a printed comparison. */
enum cli_exit cli_compare_end(const struct cli_comparison *c);

#endif
