/*
 * Several dumps side by side: the common part of diff and trend.  One dump is open at a time; only
 * its types are kept.
 */
#ifndef GCD_CLI_COMPARE_H
#define GCD_CLI_COMPARE_H

#include <jansson.h>

#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/threshold.h"
#include "exit.h"
#include "input/input.h"

/*
 * Which names match the types of several dumps.  One dump may know the outer types of nested types
 * and the classes of static variables, another may not.  That is unknown until the last dump is
 * read, so everything is kept for both ways.
 */
enum cli_matched_by {
    CLI_BY_NAME,
    CLI_BY_RAW_NAME, /* as the runtime sends them, which all dumps know */
    CLI_MATCHED_BYS
};

/* The types of an open dump, named in one of these ways. */
struct cli_view {
    enum cli_matched_by by;
    const struct gcd_summary *summary;
    struct gcd_names *names;
    /* [types, with that of the unknown node] nonzero: passes --filter */
    uint8_t *set;
};

/* Totals of the types that pass --filter, and the values of the thresholds. */
struct cli_measured {
    uint64_t objects, bytes, types;
    struct cli_range *values; /* [threshold_count] */
};

/* What is kept of a closed dump. */
struct cli_side {
    char *subject; /* for messages */
    char *command_line,
        *name;        /* of the process; "" = unknown, like the command line in a graph file */
    uint64_t process; /* 0 = unknown */
    int64_t unix_ms;  /* when the dump was made; INT64_MIN = unknown */
    struct gcd_verdict verdict;
    /* SUM: a copy of the one that counts, without its values */
    struct cli_measured measured[CLI_MATCHED_BYS], sum;
    uint64_t retained_bytes; /* all live objects; 0 unless requested */
    /* of a summary: what its unlisted types have; 0 objects = it lists all that pass the filter */
    struct gcd_diff_sum unlisted;
    /* a summary that does not list all types: an absent type may exist */
    bool partial;
    uint64_t types_listed, types_of_dump; /* of a summary */
    bool has_modules;                     /* the dump tells whether it has full names */
    bool native;                          /* a program compiled ahead of time */
    char build[16];                       /* how the id of its build begins; "" = unknown */
    bool has_names;                       /* at least some names are full */
    json_t *sites;                        /* rows of cli_summary_sites; NULL = none */
    bool from_memory;                     /* read from a memory image, not from events */
};

/* The rows of all dumps, matched in one way. */
struct cli_matching {
    struct gcd_diff *diff;
    struct gcd_tree_diff *paths;            /* NULL unless --paths */
    bool threshold_met[CLI_THRESHOLDS_MAX]; /* its pattern matches a type of any dump */
    bool filter_met;
    struct cli_meaning meanings[CLI_THRESHOLDS_MAX], filter_meaning;
};

struct cli_comparison {
    const struct cli_args *args;
    struct cli_matching matchings[CLI_MATCHED_BYS];
    enum cli_matched_by by;      /* the matching that counts, and its parts: */
    struct gcd_diff *diff;       /* of that matching */
    struct gcd_tree_diff *paths; /* of that matching; NULL unless --paths */
    /* by name, with fields: paths if each dump knows some; NULL = a dump knows none */
    struct gcd_tree_diff *with_fields;
    struct cli_side *sides; /* [side_count], oldest first */
    size_t side_count;
    struct cli_filter *filter; /* NULL = all types */
    struct cli_threshold thresholds[CLI_THRESHOLDS_MAX];
    size_t threshold_count;
    char *hints[CLI_THRESHOLDS_MAX]; /* what is near a pattern that matches nothing, or NULL */
    bool retained;                   /* retained sizes are requested */
    uint32_t *order;                 /* [gcd_diff_row_count()] rows in the order of --sort */
    bool takes_summaries;
    bool wants_answer;          /* with NEWEST: the text begins with what has grown */
    struct answer_older *older; /* with NEWEST: what suspects of the last dump are compared with */
    struct cli_dump *newest;    /* keeps the last dump open; NULL = it is closed like the others */
};

/*
 * Reads the dumps that ARGS name.  Set RET->takes_summaries and wants_answer before; the rest of
 * RET is output. NEWEST: NULL, or empty and gets the last dump, which the caller closes in any
 * case.  On failure the message has been printed.  Call cli_compare_close in any case.
 */
enum cli_exit cli_compare_open(const struct cli_args *args, struct cli_dump *newest,
                               struct cli_comparison *ret);
/* The same for the open DUMPS[N], oldest first, with names and a session; they stay open.  Does not
 * compare paths. */
enum cli_exit cli_compare_dumps(const struct cli_args *args, const struct cli_dump *const dumps[],
                                size_t n, struct cli_comparison *ret);
void cli_compare_close(struct cli_comparison *c);

/* Warns of dumps of two programs or processes, and if B is older than A. */
void cli_compare_warn(const struct cli_side *a, const struct cli_side *b);
/* compare_read.c: fills what tells which dump RET is, LABEL: its name in tables, NULL = as in
 * messages; free with cli_side_done.  False: out of memory. */
bool cli_side_of(const struct cli_dump *d, const char *label, struct cli_side *ret);
void cli_side_done(struct cli_side *s);

/* compare_read.c: the part of cli_compare_open that reads the dumps and fills sides and matchings.
 */
enum cli_exit cli_compare_read(struct cli_comparison *c);
/* Adds the next dump, which stays open.  LABEL: its name in tables, NULL = as in messages.  LAST:
 * take suggestions from it. */
enum cli_exit cli_compare_add(struct cli_comparison *c, const struct cli_dump *d, const char *label,
                              bool last);

/* compare_sites.c: lines that keep more in the last dump with sampled allocations than in the first
 * one, by more than the error of both; NULL: out of memory, or no two dumps have them. */
struct answer *cli_compare_sites(const struct cli_comparison *c);
/* The same for a page; *N of them, whose texts C keeps.  Free with free(); NULL without memory. */
struct gcd_page_site *cli_compare_page_sites(const struct cli_comparison *c, size_t *n);
/* Do two dumps have sites? */
bool cli_compares_sites(const struct cli_comparison *c);

/* compare_match.c: the part that decides how dumps are matched, and matches them. */
enum cli_exit cli_compare_match(struct cli_comparison *c);

/* The rows that --min-bytes and --top select, and the dumps, for an answer; free() RET->sides.
 * False: out of memory. */
bool cli_compared(const struct cli_comparison *c, struct answer_compared *ret);
/* Prints the answer that MAKE makes, named KEY in JSON, with the dumps and thresholds. */
enum cli_exit cli_compare_print(const struct cli_comparison *c, const char *key,
                                gcd_status (*make)(const struct answer_compared *from,
                                                   struct answer **ret, struct gcd_error *err));
/* The same for ROWS, which may be NULL: out of memory.  Frees them. */
enum cli_exit cli_compare_print_rows(const struct cli_comparison *c, const char *key,
                                     struct answer *rows);

/* What a page shows about dump number I, from 0 on. */
struct gcd_page_dump cli_compare_page_dump(const struct cli_comparison *c, size_t i);

/* Reports which thresholds are exceeded; returns the exit status of a printed comparison. */
enum cli_exit cli_compare_end(const struct cli_comparison *c);

/* compare_programs.c: are they dumps of one program, as far as they tell? */
bool cli_is_same_program(const struct cli_side *a, const struct cli_side *b);

/* compare_growth.c: prints what has grown as leaks says it of the same dumps, "SessionStore: 1,000
 * -> 3,000 UserSession, +3.9 MiB, 51 % of the growth"; nothing unless that is wanted and known. */
enum cli_exit cli_growth_say(const struct cli_comparison *c);

#endif
