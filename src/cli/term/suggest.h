/*
 * Suggestions: the word nearest to a misspelt one.
 *
 *     struct cli_nearest n;
 *     cli_nearest_begin(&n, "reprot");
 *     for (each command)
 *         cli_nearest_try(&n, command->name);
 *     n.best is "report"
 */
#ifndef GCD_CLI_SUGGEST_H
#define GCD_CLI_SUGGEST_H

#include <stddef.h>

/* Longer words are not compared. */
#define CLI_NEAR_LENGTH 80u

/* Letters to insert, delete, change or swap with the next one, ignoring case.  NA and NB are at
 * most CLI_NEAR_LENGTH. */
unsigned cli_edit_distance(const char *a, size_t na, const char *b, size_t nb);
/* The largest distance at which a word of N letters is still suggested. */
unsigned cli_edit_most(size_t n);

struct cli_nearest {
    const char *wanted;
    /* nearest candidate so far, the first of equals; NULL when none is near */
    const char *best;
    unsigned distance;
};

void cli_nearest_begin(struct cli_nearest *n, const char *wanted);
/* Tries CANDIDATE, which must live as long as N.  Words that begin with the wanted one are near,
 * too. */
void cli_nearest_try(struct cli_nearest *n, const char *candidate);

/* " (did you mean "PREFIX X"?)" in BUF; "" when nothing is near. */
#define CLI_MEANT_BYTES 128
const char *cli_meant(const struct cli_nearest *n, const char *prefix, char buf[CLI_MEANT_BYTES]);

/* The path of the file in PATH's folder with the nearest name; NULL when there is none.  free() it.
 */
char *cli_nearest_file(const char *path);

#endif
