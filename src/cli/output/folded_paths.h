/*
 * Paths for people: a run of library and framework steps becomes one line, "... 8 framework steps",
 * and so does a collection with its internals (unstable/origins.h).  --full shows all steps;
 * programs get all of them, marked by "origin" and "fold".
 */
#ifndef GCD_CLI_FOLDED_PATHS_H
#define GCD_CLI_FOLDED_PATHS_H

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/session/views.h>

#include "answer/answers.h"
#include "args.h"
#include "exit.h"
#include "input/input.h"

/*
 * The types that --mine in ARGS selects: *RET[types], nonzero for each, to be freed; NULL without
 * --mine.  After a message CLI_USAGE, CLI_FAILED, or after an interrupt its exit status.
 */
enum cli_exit cli_mine_of(const struct cli_args *args, const struct cli_dump *d,
                          const struct gcd_names *names, uint8_t **ret);
/* The origin of each type, with the types of --mine as the program's own.  Same errors as
 * cli_mine_of.  Free with gcd_origins_free. */
enum cli_exit cli_origins_of(const struct cli_args *args, const struct cli_dump *d,
                             const struct gcd_names *names, struct gcd_origins **ret);

/* Are hidden steps left out?  Not with --full, and not in output for programs. */
static inline bool cli_folds(const struct cli_args *args)
{
    return !args->view.full && !args->view.json && !args->view.csv;
}

/* ---- paths to all objects of some types as lines: the heaviest paths of a merged tree ---- */

struct cli_type_paths {
    /* set by the caller */
    struct gcd_session *session;
    const struct gcd_merged_tree *tree; /* the merged paths */
    uint64_t max;                       /* paths to show */
    bool to_root;                       /* direction in which the tree was built */
    bool folds;                         /* hidden steps are left out */
    /* the answer */
    const struct gcd_merged_step *steps;
    uint32_t count;
    bool *shown;                  /* [count] */
    struct gcd_fold_step *folded; /* [count] for shown steps */
    uint32_t *depths;             /* [count] indentation of the lines of shown steps */
};

/* Fills the second half of T; CONTEXT for the session's calls may be NULL.  False: out of memory.
 * Call cli_type_paths_done in any case. */
bool cli_type_paths_choose(struct cli_type_paths *t, const struct gcd_context *context);
void cli_type_paths_done(struct cli_type_paths *t);

enum cli_path_line_kind {
    CLI_PATH_STEP,   /* one step, number STEP */
    CLI_PATH_HIDDEN, /* HIDDEN steps, LIBRARY of them from libraries, as one line */
    CLI_PATH_REST    /* HIDDEN siblings that are not shown */
};
struct cli_path_line {
    enum cli_path_line_kind kind;
    uint32_t step, depth;
    uint64_t count, bytes;
    uint64_t hidden, library;
};
/* Calls LINE for each line, in the order of the output. */
void cli_type_paths_lines(const struct cli_type_paths *t, const struct gcd_origins *origins,
                          void (*line)(void *ctx, const struct cli_path_line *l), void *ctx);

#endif
