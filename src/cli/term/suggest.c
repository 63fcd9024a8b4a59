#include "term/suggest.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "term/path.h"

/* Most files to try, because a folder can have any number. */
#define FILES_MAX 10000u

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned cli_edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    /* Distances of the first i letters of A, and of i - 1 and i - 2, to all prefixes of B. */
    unsigned rows[3][CLI_NEAR_LENGTH + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[nb];
}

unsigned cli_edit_most(size_t n)
{
    return 1 + (unsigned)(n / 4);
}

void cli_nearest_begin(struct cli_nearest *n, const char *wanted)
{
    *n = (struct cli_nearest){ .wanted = wanted, .distance = cli_edit_most(strlen(wanted)) + 1 };
}

void cli_nearest_try(struct cli_nearest *n, const char *candidate)
{
    size_t a = strlen(n->wanted), b = strlen(candidate);
    if (a < 2 || a > CLI_NEAR_LENGTH || b > CLI_NEAR_LENGTH)
        return; /* a single letter is near everything */
    unsigned d = cli_edit_distance(n->wanted, a, candidate, b);
    if (b > a && strncasecmp(n->wanted, candidate, a) == 0)
        d = 1;
    if (d < n->distance) {
        n->distance = d;
        n->best = candidate;
    }
}

const char *cli_meant(const struct cli_nearest *n, const char *prefix, char buf[CLI_MEANT_BYTES])
{
    buf[0] = '\0';
    if (n->best != NULL)
        (void)snprintf(buf, CLI_MEANT_BYTES, " (did you mean \"%s%s\"?)", prefix, n->best);
    return buf;
}

char *cli_nearest_file(const char *path)
{
    const char *name = cli_path_name(path);
    int length = (int)(name - path);
    char *folder = length > 0 ? strndup(path, (size_t)length) : strdup("."), *best = NULL;
    DIR *d = folder != NULL ? opendir(folder) : NULL;
    struct cli_nearest n;
    cli_nearest_begin(&n, name);
    const struct dirent *e;
    for (unsigned i = 0; d != NULL && i < FILES_MAX && (e = readdir(d)) != NULL; i++) {
        unsigned before = n.distance;
        if (e->d_name[0] == '.')
            continue;
        cli_nearest_try(&n, e->d_name);
        if (n.distance == before)
            continue;
        free(best);
        if (asprintf(&best, "%.*s%s", length, path, e->d_name) < 0)
            best = NULL; /* no suggestion */
    }
    if (d != NULL)
        (void)closedir(d);
    free(folder);
    return best;
}
