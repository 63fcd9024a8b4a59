/* Searches the lines of a view. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/opening.h"
#include "output/pattern.h"

/* Bytes of a line that are searched. */
#define TEXT_BYTES     65536u
#define LINES_PER_STEP 4096u

struct finder {
    const struct browse_view *v;
    const struct gcd_context *call;
    const gcd_cancel_flag *cancel;
    struct cli_pattern *pattern;
    bool any_case;
    bool of_addresses; /* the pattern may match an address, or the number of an object */
    bool across;       /* the pattern may match a name and the text after it together */
    uint8_t *types;    /* [types] 0: not yet tried, 1: does not match, 2: matches */
    char *room;        /* [TEXT_BYTES] */
    gcd_status status;
};

static char *lower(char *s)
{
    for (char *p = s; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

static bool has_capitals(const char *s)
{
    for (; *s != '\0'; s++)
        if (isupper((unsigned char)*s))
            return true;
    return false;
}

static gcd_status compile(struct finder *f, const char *pattern, struct gcd_error *err)
{
    size_t n = strlen(pattern);
    bool regex = cli_pattern_is_regex(pattern, n);
    char *glob = NULL;
    const char *wrong;
    f->any_case = !has_capitals(pattern);
    f->of_addresses = pattern[strspn(pattern, "0123456789abcdefxABCDEFX")] == '\0';
    f->across = regex || strpbrk(pattern, "*?") != NULL || strstr(pattern, "  ") != NULL ||
                pattern[0] == ' ' || (n > 0 && pattern[n - 1] == ' ');
    if (regex) {
        wrong = cli_pattern_regex(pattern + 1, n - 2, &f->pattern);
    } else {
        if (asprintf(&glob, "*%s*", pattern) < 0)
            return browse_no_memory(err);
        wrong = cli_pattern_glob(glob, n + 2, &f->pattern);
        free(glob);
    }
    if (f->pattern != NULL)
        return GCD_OK;
    return wrong != NULL ? browse_fail(err, GCD_E_ARG, "%s: %s", pattern, wrong)
                         : browse_no_memory(err);
}

static bool matches(struct finder *f, const char *name, size_t n, const char *tail,
                    const char *more)
{
    (void)snprintf(f->room, TEXT_BYTES, "%.*s%s%s", (int)(n < TEXT_BYTES ? n : TEXT_BYTES), name,
                   tail, more != NULL ? more : "");
    enum cli_match m =
        cli_pattern_match(f->pattern, f->any_case ? lower(f->room) : f->room, f->cancel);
    if (m == CLI_MATCH_CANCELED)
        f->status = GCD_E_CANCELED;
    else if (m == CLI_MATCH_NO_MEMORY)
        f->status = GCD_E_NOMEM;
    return m == CLI_MATCH;
}

static bool type_matches(struct finder *f, uint32_t type)
{
    if (f->types[type] == 0) {
        const struct gcd_names *names = f->v->model->names;
        char step[GCD_ASYNC_STEP_BYTES];
        const char *name = gcd_names_get(names, type),
                   *shown = gcd_names_step(names, type, step); /* both names find it */
        bool found = matches(f, name, strlen(name), "", NULL) ||
                     (shown != name && matches(f, shown, strlen(shown), "", NULL));
        f->types[type] = found ? 2 : 1;
    }
    return f->types[type] == 2;
}

static bool node_matches(struct finder *f, uint32_t node)
{
    char text[CLI_NUMBER_BYTES];
    return type_matches(f, gcd_graph_node_type(f->v->model->graph, node)) ||
           (f->of_addresses &&
            matches(f, "", 0, answer_object_text(f->v->model->graph, node, text), NULL));
}

static bool line_matches(struct finder *f, uint64_t i)
{
    uint64_t in;
    struct browse_line line;
    const struct browse_section *s = browse_section_at(f->v, i, &in);
    if (in != UINT64_MAX && s->ids != NULL &&
        !f->across) /* millions of lines, most with the same names */
        return s->are_types ? type_matches(f, s->ids[in]) : node_matches(f, s->ids[in]);
    browse_line_at(f->v, i, &line);
    return line.style != STYLE_BLANK &&
           matches(f, line.name, line.name_bytes, line.tail, line.more);
}

static gcd_status find(struct finder *f, const struct browse_search *search, uint64_t *ret,
                       struct gcd_error *err)
{
    uint64_t n = browse_lines(f->v), at = search->from;
    *ret = UINT64_MAX;
    for (uint64_t i = 0; i < n && f->status == GCD_OK; i++) {
        if (search->back)
            at = at == 0 || at > n ? n - 1 : at - 1;
        else if (at >= n)
            at = 0;
        if (line_matches(f, at)) {
            *ret = at;
            return f->status;
        }
        at += !search->back;
        if (i % LINES_PER_STEP == 0 && f->status == GCD_OK)
            f->status = browse_step(f->call, i, n, err);
    }
    return f->status;
}

gcd_status browse_find(const struct browse_view *v, const struct browse_search *search,
                       const struct gcd_context *call, uint64_t *ret, struct gcd_error *err)
{
    gcd_cancel_flag never;
    atomic_init(&never, false);
    struct finder f = { .v = v,
                        .call = call,
                        .cancel = call != NULL && call->cancel != NULL ? call->cancel : &never };
    gcd_status st = compile(&f, search->pattern, err);
    if (st == GCD_OK) {
        f.types = calloc((size_t)v->model->summary->type_count + 1, 1);
        f.room = malloc(TEXT_BYTES);
        st = f.types != NULL && f.room != NULL ? find(&f, search, ret, err) : GCD_E_NOMEM;
    }
    if (st == GCD_E_NOMEM)
        (void)browse_no_memory(err);
    cli_pattern_free(f.pattern);
    free(f.types);
    free(f.room);
    return st;
}
