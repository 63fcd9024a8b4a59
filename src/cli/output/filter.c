#include <gcdumpc/gcdumpc.h>

#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/filter.h"
#include "signals.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/pattern.h"
#include "term/suggest.h"

#define PATTERN_MAX 1000u        /* longer than any name that people type */
/* For suggestions: their number, and their largest length. */
#define NEAR_MAX 3u
#define NEAR_NAME 300u

struct cli_filter {
    const char *text;            /* as given */
    bool is_regex;
    struct cli_pattern *pattern;
};

enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret)
{
    size_t n = strlen(pattern);
    *ret = NULL;
    if (n == 0 || n > PATTERN_MAX)
        return cli_error(CLI_USAGE, NULL, n == 0 ? "a name pattern is empty; use for example Shop.* or /REGEX/" :
                         "a pattern for names is longer than %u characters", PATTERN_MAX);
    struct cli_filter *f = calloc(1, sizeof *f);
    const char *wrong = NULL;
    if (f != NULL) {
        f->text = pattern;
        f->is_regex = n > 2 && pattern[0] == '/' && pattern[n - 1] == '/';
        wrong = f->is_regex ? cli_pattern_regex(pattern + 1, n - 2, &f->pattern) : cli_pattern_glob(pattern, n, &f->pattern);
    }
    if (f != NULL && f->pattern != NULL) {
        *ret = f;
        return CLI_DONE;
    }
    if (wrong != NULL)
        cli_say(NULL, "\"%s\" is not a regular expression: %s; without the slashes only * and ? are special", pattern, wrong);
    else
        cli_say(NULL, "out of memory");
    cli_filter_free(f);
    return wrong != NULL ? CLI_USAGE : CLI_FAILED;
}

void cli_filter_free(struct cli_filter *f)
{
    if (f == NULL)
        return;
    cli_pattern_free(f->pattern);
    free(f);
}

enum cli_exit cli_filter_match(const struct cli_filter *f, const char *subject, const char *name, bool *ret)
{
    enum cli_match m = f != NULL ? cli_pattern_match(f->pattern, name, &cli_canceled) : CLI_MATCH;
    if (m == CLI_MATCH_CANCELED)
        return cli_fail(subject, &(struct gcd_error){ .code = GCD_E_CANCELED, .off = GCD_OFF_NONE });
    *ret = m == CLI_MATCH;
    return CLI_DONE;
}

/* ---- suggestions ---- */

struct suggestion {
    const char *name;
    unsigned distance;
};

/* The literal part of a pattern: without wildcards, or the longest run of plain characters of a regular expression. */
static void plain_part(const struct cli_filter *f, char ret[CLI_NEAR_LENGTH + 1])
{
    size_t longest = 0, start = 0;
    const char *s = f->text, *special = f->is_regex ? "/^$.*+?()[]{}|\\" : "*?";
    for (size_t i = 0; s[i] != '\0'; i += s[i] != '\0') {
        size_t n = strcspn(s + i, special);
        if (n > longest) {
            longest = n;
            start = i;
        }
        i += n;
    }
    (void)snprintf(ret, CLI_NEAR_LENGTH + 1, "%.*s", (int)(longest < CLI_NEAR_LENGTH ? longest : CLI_NEAR_LENGTH), s + start);
}

/* The distance of WANTED to NAME or its last part; MOST + 1: more than MOST. */
static unsigned distance(const char *wanted, const char *name, unsigned most)
{
    if (strcasestr(name, wanted) != NULL)
        return 0;
    unsigned found = most + 1;
    const char *dot = strrchr(name, '.'), *const parts[] = { name, dot != NULL ? dot + 1 : name };
    for (size_t i = 0; i < 2; i++) {
        size_t nw = strlen(wanted), n = strnlen(parts[i], CLI_NEAR_LENGTH + 1);
        if (n > CLI_NEAR_LENGTH || (n > nw ? n - nw : nw - n) > most)
            continue;
        unsigned one = cli_edit_distance(wanted, nw, parts[i], n);
        found = one < found ? one : found;
    }
    return found;
}

/* Keeps the nearest; among equals, the shortest. */
static void consider(struct suggestion *best, size_t *n, struct suggestion s)
{
    size_t at = *n;
    while (at > 0 && (s.distance < best[at - 1].distance ||
                      (s.distance == best[at - 1].distance && strlen(s.name) < strlen(best[at - 1].name))))
        at--;
    if (at == NEAR_MAX)
        return;
    *n += *n < NEAR_MAX;
    memmove(best + at + 1, best + at, (*n - at - 1) * sizeof *best);
    best[at] = s;
}

enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject, const struct gcd_names *names, uint32_t count)
{
    char wanted[CLI_NEAR_LENGTH + 1], text[NEAR_MAX * (NEAR_NAME + 8) + 16] = "";
    struct suggestion best[NEAR_MAX];
    size_t n = 0;
    plain_part(f, wanted);
    unsigned most = cli_edit_most(strlen(wanted));
    for (uint32_t i = 0; i < count && strlen(wanted) > 1; i++) {
        struct suggestion s = { gcd_names_get(names, i), most + 1 };
        if (strnlen(s.name, NEAR_NAME + 1) <= NEAR_NAME)
            s.distance = distance(wanted, s.name, most);
        if (s.distance <= most)
            consider(best, &n, s);
    }
    if (n == 0)
        (void)snprintf(text, sizeof text, "; gcdumpc report lists all types");
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s\"%s\"", i == 0 ? "; near it: " : ", ", best[i].name);
    }
    return cli_error(CLI_FAILED, subject, "no type matches \"%s\"%s", f->text, text);
}

/* ---- types ---- */

static const struct gcd_type *type_at(const struct cli_dump *d, uint32_t i)
{
    return d->graph != NULL ? &gcd_graph_summary(d->graph)->types[i] : &gcd_dump_summary(d->dump)->types[i];
}

enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret)
{
    uint32_t count = d->graph != NULL ? gcd_graph_summary(d->graph)->type_count : gcd_dump_summary(d->dump)->type_count;
    bool matched = f == NULL, used = f == NULL;
    uint8_t *types = calloc((size_t)count + 1, 1);
    enum cli_exit e = types != NULL ? CLI_DONE : CLI_FAILED;
    if (types == NULL)
        cli_say(d->subject, "out of memory");
    for (uint32_t i = 0; e == CLI_DONE && i < count; i++) {
        bool matches = false;
        e = cli_filter_match(f, d->subject, gcd_names_get(names, i), &matches);
        types[i] = matches && type_at(d, i)->objects > 0;
        matched = matched || matches;
        used = used || types[i] != 0;
    }
    if (e == CLI_DONE && !matched) {
        e = cli_filter_nothing(f, d->subject, names, count);
    } else if (e == CLI_DONE && !used) {
        cli_say(d->subject, "no type with objects matches \"%s\"; gcdumpc report lists the types with objects", f->text);
        e = CLI_FAILED;
    }
    if (e == CLI_DONE)
        *ret = types;
    else
        free(types);
    return e;
}
