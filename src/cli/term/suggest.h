/*
 * What somebody may have meant: of several words that which is nearest to a misspelt one.
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

/* Letters to insert, take away, change or swap with the next one, case aside.  NA and NB are CLI_NEAR_LENGTH at most. */
unsigned cli_edit_distance(const char *a, size_t na, const char *b, size_t nb);
/* How many of these a word of N letters may be away and still be meant. */
unsigned cli_edit_most(size_t n);

struct cli_nearest {
    const char *wanted;
    const char *best;            /* of those that were tried, NULL when none is near; the first of equals */
    unsigned distance;
};

void cli_nearest_begin(struct cli_nearest *n, const char *wanted);
/* CANDIDATE must live as long as N.  What begins with the wanted word is near, too. */
void cli_nearest_try(struct cli_nearest *n, const char *candidate);

/* " (did you mean "X"?)" in BUF, behind PREFIX X; "" when nothing is near. */
#define CLI_MEANT_BYTES 128
const char *cli_meant(const struct cli_nearest *n, const char *prefix, char buf[CLI_MEANT_BYTES]);

/* The file in the folder of PATH whose name is nearest to it, with that folder; NULL when there is none.  free() it. */
char *cli_nearest_file(const char *path);

#endif
