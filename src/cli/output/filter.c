#include <gcdumpc/gcdumpc.h>

#include "base/text.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/filter.h"
#include "signals.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/type_names.h>

#include "output/name_variants.h"
#include "output/type_pattern.h"
#include "term/suggest.h"

/* Longer than anything people type or copy.  Matching takes time proportional to the length of the
 * expression times that of the name. */
#define REGEX_MAX   1000u
#define PATTERN_MAX 10000u
/* How many suggestions to print, and the longest name to suggest. */
#define NEAR_MAX  3u
#define NEAR_NAME 300u

struct cli_filter {
    const char *text; /* as given */
    struct cli_type_pattern *pattern;
};

enum cli_exit cli_filter_new(const char *pattern, struct cli_filter **ret)
{
    size_t n = strlen(pattern);
    bool regex = cli_pattern_is_regex(pattern, n);
    unsigned most = regex ? REGEX_MAX : PATTERN_MAX;
    *ret = NULL;
    if (n == 0 || n > most)
        return cli_error(CLI_USAGE, NULL,
                         n == 0 ? "a name pattern is empty; use for example Shop.* or /REGEX/"
                                : "a pattern for names is longer than %u characters",
                         most);
    struct cli_filter *f = calloc(1, sizeof *f);
    const char *wrong = NULL;
    if (f != NULL) {
        f->text = pattern;
        wrong = cli_type_pattern_new(pattern, &f->pattern);
    }
    if (f != NULL && f->pattern != NULL) {
        *ret = f;
        return CLI_DONE;
    }
    cli_filter_free(f);
    if (wrong == NULL)
        return cli_no_memory(NULL);
    if (!regex)
        return cli_error(CLI_USAGE, NULL, "\"%s\" is not a pattern: %s", pattern, wrong);
    return cli_error(
        CLI_USAGE, NULL,
        "\"%s\" is not a regular expression: %s; without the slashes only * and ? are special",
        pattern, wrong);
}

void cli_filter_free(struct cli_filter *f)
{
    if (f == NULL)
        return;
    cli_type_pattern_free(f->pattern);
    free(f);
}

bool cli_filter_is_plain(const struct cli_filter *f)
{
    return cli_type_pattern_is_plain(f->pattern);
}

void cli_meaning_done(struct cli_meaning *m)
{
    free(m->name);
    free(m->other);
}

enum cli_exit cli_filter_ambiguous(const struct cli_filter *f, const char *subject,
                                   const struct cli_meaning *m)
{
    return cli_error(CLI_FAILED, subject,
                     "\"%s\" can mean \"%.200s\" or \"%.200s\"; give the whole name, or for all "
                     "of them a pattern with *",
                     f->text, m->name != NULL ? m->name : f->text,
                     m->other != NULL ? m->other : f->text);
}

/* Adds NAME to what M means.  False when out of memory. */
static bool add_meaning(struct cli_meaning *m, const char *name)
{
    char **to = m->name == NULL ? &m->name : &m->other;
    if (m->other != NULL || (m->name != NULL && strcmp(m->name, name) == 0))
        return true;
    *to = strdup(name);
    return *to != NULL;
}

/* Selects the types by their names or, if M does not exclude that, by short ones. */
static enum cli_match select_types(const struct cli_filter *f, const struct cli_type_names *n,
                                   struct cli_meaning *m, uint8_t *ret)
{
    enum cli_match is = cli_type_pattern_select(f->pattern, n, false, &cli_canceled, ret);
    bool whole = memchr(ret, 1, n->summary->type_count) != NULL;
    bool loose = is == CLI_MATCH && !whole && m->of != CLI_MEANS_NAMES;
    if (is == CLI_MATCH && whole && m->of == CLI_MEANS_SHORT_NAMES)
        m->ambiguous = true; /* a dump before had only others */
    else if (is == CLI_MATCH && whole)
        m->of = CLI_MEANS_NAMES;
    if (loose)
        is = cli_type_pattern_select(f->pattern, n, true, &cli_canceled, ret);
    for (uint32_t i = 0; is == CLI_MATCH && i < n->summary->type_count; i++) {
        if (!ret[i])
            continue;
        if (loose)
            m->of = CLI_MEANS_SHORT_NAMES;
        if (n->summary->types[i].objects == 0)
            continue;
        if (cli_filter_is_plain(f) && !add_meaning(m, gcd_names_plain(n->csharp, i)))
            return CLI_MATCH_NO_MEMORY;
    }
    if (m->of == CLI_MEANS_SHORT_NAMES && m->other != NULL)
        m->ambiguous = true;
    return is;
}

enum cli_exit cli_filter_select(const struct cli_filter *f, const char *subject,
                                const struct gcd_summary *summary, const struct gcd_names *names,
                                struct cli_meaning *meaning, uint8_t *ret)
{
    struct cli_meaning one = { .name = NULL };
    struct cli_type_names n = { .summary = summary, .shown = names, .csharp = names };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_names *own = NULL;
    enum cli_match m = CLI_MATCH;
    if (f == NULL) {
        memset(ret, 1, n.summary->type_count);
        return CLI_DONE;
    }
    if (gcd_names_style(names) != GCD_NAMES_CSHARP &&
        gcd_names_style(names) != GCD_NAMES_SEPARATE_LOADS) {
        if (gcd_names_new(n.summary, GCD_NAMES_SEPARATE_LOADS, cli_alloc(), &own, &err) != GCD_OK)
            return cli_fail(subject, &err);
        n.csharp = own;
    }
    m = select_types(f, &n, meaning != NULL ? meaning : &one, ret);
    gcd_names_free(own);
    enum cli_exit e = CLI_DONE;
    if (m == CLI_MATCH_CANCELED)
        e = cli_fail(subject, &(struct gcd_error){ .code = GCD_E_CANCELED, .off = GCD_OFF_NONE });
    else if (m == CLI_MATCH_NO_MEMORY)
        e = cli_no_memory(subject);
    else if (one.ambiguous)
        e = cli_filter_ambiguous(f, subject, &one);
    cli_meaning_done(&one);
    return e;
}

/* ---- suggestions ---- */

struct suggestion {
    const char *name;
    unsigned distance;
    bool framework; /* of .NET */
};

/* The longest run of TEXT without SPECIAL characters. */
static void plain_part(const char *text, const char *special, char ret[CLI_NEAR_LENGTH + 1])
{
    size_t longest = 0, start = 0;
    for (size_t i = 0; text[i] != '\0'; i += text[i] != '\0') {
        size_t n = strcspn(text + i, special);
        if (n > longest) {
            longest = n;
            start = i;
        }
        i += n;
    }
    (void)snprintf(ret, CLI_NEAR_LENGTH + 1, "%.*s",
                   (int)(longest < CLI_NEAR_LENGTH ? longest : CLI_NEAR_LENGTH), text + start);
}

/* The literal part of a pattern, in C# spelling; as written when memory is out. */
static void wanted_part(const struct cli_filter *f, char ret[CLI_NEAR_LENGTH + 1])
{
    struct cli_variants v;
    const char *paren = strchr(f->text, '(');
    if (cli_type_pattern_is_module(f->pattern) && paren != NULL) {
        plain_part(paren + 1, "*?()/", ret);
    } else if (cli_type_pattern_is_regex(f->pattern)) {
        plain_part(f->text, "/^$.*+?()[]{}|\\", ret);
    } else {
        bool ok = cli_variants_of(f->text, strlen(f->text), &v);
        plain_part(ok ? v.text[v.n - 1] : f->text, "*?", ret);
        cli_variants_done(&v);
    }
}

/* The edit distance from WANTED to NAME or to the last part of NAME; MOST + 1 = more than MOST. */
static unsigned distance(const char *wanted, const char *name, unsigned most)
{
    if (strcasestr(name, wanted) != NULL)
        return 0;
    unsigned found = most + 1;
    const char *dot = strrchr(name, '.');
    if (dot != NULL && dot > name && dot[-1] == '>')
        dot = NULL; /* nobody means the Node of some dictionary */
    const char *const parts[] = { name, dot != NULL ? dot + 1 : name };
    for (size_t i = 0; i < 2; i++) {
        size_t nw = strlen(wanted), n = strnlen(parts[i], CLI_NEAR_LENGTH + 1);
        if (n > CLI_NEAR_LENGTH || (n > nw ? n - nw : nw - n) > most)
            continue;
        unsigned one = cli_edit_distance(wanted, nw, parts[i], n);
        found = one < found ? one : found;
    }
    return found;
}

/* Is A a better suggestion: nearer, or a misspelt name of the program, or shorter? */
static bool is_better(const struct suggestion *a, const struct suggestion *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance;
    if (a->distance > 0 && a->framework != b->framework)
        return b->framework;
    return strlen(a->name) < strlen(b->name);
}

/* Keeps the best names, each once. */
static void consider(struct suggestion *best, size_t *n, struct suggestion s)
{
    size_t at = *n;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(best[i].name, s.name) == 0)
            return;
    while (at > 0 && is_better(&s, &best[at - 1]))
        at--;
    if (at == NEAR_MAX)
        return;
    *n += *n < NEAR_MAX;
    memmove(best + at + 1, best + at, (*n - at - 1) * sizeof *best);
    best[at] = s;
}

/* Rates type or module NAME, also called OTHER, by its distance from WANTED. */
static struct suggestion suggestion_of(const char *wanted, const char *name, const char *other,
                                       unsigned most)
{
    struct suggestion s = { .name = name,
                            .distance = most + 1,
                            .framework = strncmp(name, "System.", 7) == 0 ||
                                         strncmp(name, "Microsoft.", 10) == 0 };
    if (strnlen(name, NEAR_NAME + 1) <= NEAR_NAME)
        s.distance = distance(wanted, name, most);
    if (other != name && strnlen(name, NEAR_NAME + 1) <= NEAR_NAME &&
        strnlen(other, NEAR_NAME + 1) <= NEAR_NAME) {
        unsigned d = distance(wanted, other, most);
        s.distance = d < s.distance ? d : s.distance;
    }
    return s;
}

#define NEAR_BYTES (NEAR_MAX * (NEAR_NAME + 8) + 80)

/* What to try when F matches nothing: the nearest names of D, or the command that lists all. */
static void hint(const struct cli_filter *f, const struct cli_dump *d,
                 const struct gcd_names *names, char text[NEAR_BYTES])
{
    char wanted[CLI_NEAR_LENGTH + 1];
    struct suggestion best[NEAR_MAX];
    const struct gcd_summary *summary = cli_type_summary(d);
    bool modules = cli_type_pattern_is_module(f->pattern);
    size_t n = 0;
    text[0] = '\0';
    wanted_part(f, wanted);
    unsigned most = cli_edit_most(strlen(wanted));
    for (uint32_t i = 0; i < summary->type_count && strlen(wanted) > 1; i++) {
        const char *name = modules ? cli_module_file(&summary->types[i]) : gcd_names_get(names, i);
        char stem[NEAR_NAME + 1];
        if (modules)
            (void)snprintf(stem, sizeof stem, "%.*s",
                           (int)(strlen(name) <= NEAR_NAME ? gcd_module_stem(name) : 0), name);
        struct suggestion s =
            suggestion_of(wanted, name, modules ? stem : gcd_names_runtime(names, i), most);
        if (s.distance <= most)
            consider(best, &n, s);
    }
    if (n == 0)
        (void)snprintf(text, NEAR_BYTES, "; gcdumpc report%s lists all %s",
                       modules ? " --by module" : "", modules ? "modules" : "types");
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, NEAR_BYTES - used, "%s\"%s\"", i == 0 ? "; near it: " : ", ",
                       best[i].name);
    }
}

enum cli_exit cli_filter_nothing(const struct cli_filter *f, const char *subject,
                                 const struct cli_dump *d, const struct gcd_names *names)
{
    char text[NEAR_BYTES];
    hint(f, d, names, text);
    return cli_error(CLI_FAILED, subject, "no type matches \"%s\"%s%s", f->text, text,
                     cli_summary(d)->verdict.complete ? "" : "; the dump is incomplete");
}

char *cli_filter_hint(const struct cli_filter *f, const struct cli_dump *d,
                      const struct gcd_names *names)
{
    char text[NEAR_BYTES];
    hint(f, d, names, text);
    return strdup(text);
}

/* ---- types ---- */

enum cli_exit cli_filter_types(const struct cli_filter *f, const struct cli_dump *d,
                               const struct gcd_names *names, uint8_t **ret)
{
    const struct gcd_summary *summary = cli_type_summary(d);
    bool matched = f == NULL, used = f == NULL;
    uint8_t *types = calloc((size_t)summary->type_count + 1, 1);
    enum cli_exit e = types != NULL ? cli_filter_select(f, d->subject, summary, names, NULL, types)
                                    : cli_no_memory(d->subject);
    for (uint32_t i = 0; e == CLI_DONE && i < summary->type_count; i++) {
        matched = matched || types[i] != 0;
        types[i] = types[i] != 0 && summary->types[i].objects > 0;
        used = used || types[i] != 0;
    }
    if (e == CLI_DONE && !matched)
        e = cli_filter_nothing(f, d->subject, d, names);
    else if (e == CLI_DONE && !used)
        e = cli_error(
            CLI_FAILED, d->subject,
            "no type with objects matches \"%s\"%s; gcdumpc report lists the types with objects",
            f->text, cli_summary(d)->verdict.complete ? "" : " in this incomplete dump");
    if (e == CLI_DONE)
        *ret = types;
    else
        free(types);
    return e;
}

enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret)
{
    struct cli_filter *filter;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    if (e == CLI_DONE)
        e = cli_filter_types(filter, d, names, ret);
    cli_filter_free(filter);
    return e;
}
