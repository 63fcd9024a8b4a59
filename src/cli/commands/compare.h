/*
 * Several dumps side by side: the common part of diff and trend.  One dump is open at a time; only its types are kept.
 */
#ifndef GCD_CLI_COMPARE_H
#define GCD_CLI_COMPARE_H

#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/threshold.h"
#include "exit.h"
#include "input/input.h"
#include "output/table.h"

/*
 * By which names the types of several dumps are matched.  One dump may know the outer types of nested types and the classes of static variables,
 * another one not.  That is unknown until the last dump is read, so everything is kept for both.
 */
enum cli_matched_by {
    CLI_BY_NAME,
    CLI_BY_RAW_NAME,             /* as the runtime sends them: what all dumps know */
    CLI_MATCHED_BYS
};

/* The types of an open dump by the names in question. */
struct cli_view {
    enum cli_matched_by by;
    const struct gcd_summary *summary;
    struct gcd_names *names;
    uint8_t *set;                /* [types, also that of the unknown node] those that pass --filter */
};

/* Types that pass --filter, and the values of the thresholds. */
struct cli_measured {
    uint64_t objects, bytes, types;
    uint64_t *values;            /* [threshold_count] */
};

/* What is kept of a closed dump. */
struct cli_side {
    char *subject;               /* for messages */
    char *command_line, *name;   /* of the process; "" = unknown, as the command line in the file of a graph */
    uint64_t process;            /* 0 = unknown */
    int64_t unix_ms;             /* when it was made; INT64_MIN = unknown */
    struct gcd_verdict verdict;
    struct cli_measured measured[CLI_MATCHED_BYS], sum;  /* SUM: the one that counts; no copy of its values */
    uint64_t retained_bytes;     /* all live objects; 0 unless requested */
    struct gcd_diff_sum unlisted;        /* of a summary: the types that it does not list; 0 objects: it lists all that a filter passes */
    bool partial;                /* a summary that does not list all types: what is not there may exist */
    bool has_modules;            /* it tells whether it has full names */
    bool has_names;              /* it has full names, or some */
};

/* What all dumps together have, matched in one way. */
struct cli_matching {
    struct gcd_diff *diff;
    struct gcd_tree_diff *paths; /* NULL unless --paths */
    bool threshold_met[CLI_THRESHOLDS_MAX];      /* its pattern matches a type of any dump */
    bool filter_met;
};

struct cli_comparison {
    const struct cli_args *args;
    struct cli_matching matchings[CLI_MATCHED_BYS];
    enum cli_matched_by by;      /* the one that counts, and its parts: */
    struct gcd_diff *diff;       /* matched */
    struct gcd_tree_diff *paths; /* matched; NULL unless --paths */
    struct cli_side *sides;      /* [side_count], oldest first */
    size_t side_count;
    struct cli_filter *filter;   /* NULL = all types */
    struct cli_threshold thresholds[CLI_THRESHOLDS_MAX];
    size_t threshold_count;
    bool retained;               /* retained sizes are requested */
    uint32_t *order;             /* [gcd_diff_row_count()] rows in the order of --sort */
    bool takes_summaries;
    struct cli_dump *newest;     /* the last dump stays open here; NULL = it is closed like the others */
};

/*
 * Reads the dumps that ARGS name; RET->takes_summaries is set before, the rest is not read.  NEWEST NULL, or empty: the last dump, which the caller
 * closes in any case.  On failure the message has been printed.  Call cli_compare_close in any case.
 */
enum cli_exit cli_compare_open(const struct cli_args *args, struct cli_dump *newest, struct cli_comparison *ret);
/* The same for DUMPS[N], oldest first, that are open with names and a session, and stay open.  Paths are not compared. */
enum cli_exit cli_compare_dumps(const struct cli_args *args, const struct cli_dump *const dumps[], size_t n, struct cli_comparison *ret);
void cli_compare_close(struct cli_comparison *c);

/* compare_read.c: the part of cli_compare_open that reads the dumps and fills sides and matchings. */
enum cli_exit cli_compare_read(struct cli_comparison *c);
/* The next dump, which is open, and stays so; LAST: suggestions come from it. */
enum cli_exit cli_compare_add(struct cli_comparison *c, const struct cli_dump *d, const char *label, bool last);

/* compare_match.c: the part that decides how dumps are matched, and matches them. */
enum cli_exit cli_compare_match(struct cli_comparison *c);

/* Does any dump differ in the row, in the requested quantities?  By at least --min-bytes? */
bool cli_compare_changed(const struct cli_comparison *c, const struct gcd_diff_row *row);
bool cli_compare_shown(const struct cli_comparison *c, const struct gcd_diff_row *row);

/* Cells for objects and bytes (before, after, change of each, then growth), and for "new" or "gone". */
void cli_compare_put_sums(struct cli_table *t, const struct gcd_diff_sum sums[2]);
void cli_compare_put_change(struct cli_table *t, const struct gcd_diff_sum sums[2]);

/* Prints ROWS, named KEY in JSON, with the dumps and thresholds to standard output, in the form that ARGS ask for. */
enum cli_exit cli_compare_print(const struct cli_comparison *c, const char *key, const struct cli_table *rows);

/* What a page says about dump number I, from 0 on. */
struct gcd_page_dump cli_compare_page_dump(const struct cli_comparison *c, size_t i);

/* Says which thresholds are exceeded; returns the exit status of a printed comparison. */
enum cli_exit cli_compare_end(const struct cli_comparison *c);

#endif
