/*
 * The objects that some types retain, and the objects that dominate them, both by type.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/text/plural.h>

#include "commands/retained/retained.h"
#include "input/fail.h"
#include "term/term.h"

/* A line of a table: a type with its sums. */
struct line {
    uint64_t bytes; /* sort key */
    uint32_t type;  /* the number of types means the roots */
    const struct retained *r;
};

static uint32_t type_count(const struct retained *r)
{
    return gcd_graph_summary(r->d.graph)->type_count;
}

static const char *name_of(const struct line *l)
{
    return l->type == type_count(l->r) ? "(roots)" : gcd_names_get(l->r->names, l->type);
}

static int compare_lines(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    int by_name = strcmp(name_of(a), name_of(b));
    return by_name != 0 ? by_name : (a->type > b->type) - (a->type < b->type);
}

/* The sums of the lines that are not shown. */
struct rest {
    uint64_t types, objects, bytes;
};

static void add_rest(struct rest *to, uint64_t objects, uint64_t bytes)
{
    to->types++;
    to->objects += objects;
    to->bytes = to->bytes <= UINT64_MAX - bytes ? to->bytes + bytes : UINT64_MAX;
}

static char *rest_text(const struct rest *rest)
{
    char *text;
    return asprintf(&text, "(%s more type%s)", GCD_DIGITS(rest->types), gcd_plural(rest->types)) >=
                   0
               ? text
               : NULL;
}

/* ---- the content of what they retain ---- */

static const struct cli_column content_columns[] = {
    { "bytes", "Bytes", CLI_CELL_BYTES },     { "share", "Share", CLI_CELL_SHARE },
    { "count", "Count", CLI_CELL_COUNT },     { "type", "Type", CLI_CELL_TEXT },
    { "folded_types", NULL, CLI_CELL_COUNT },
};

static void put_content(struct cli_table *t, uint64_t bytes, uint64_t whole, uint64_t count,
                        const char *name)
{
    cli_table_count(t, bytes);
    cli_table_share(t, bytes, whole);
    cli_table_count(t, count);
    cli_table_text(t, name);
}

static void fill_content(const struct retained *r, const struct line *lines, size_t n,
                         const struct gcd_content *content, uint64_t whole, struct cli_table *t)
{
    struct rest rest = { .types = 0 };
    for (size_t i = 0; i < n; i++) {
        const struct gcd_content *c = &content[lines[i].type];
        if (i >= r->lines || c->bytes < r->args->view.min_bytes) {
            add_rest(&rest, c->objects, c->bytes);
            continue;
        }
        put_content(t, c->bytes, whole, c->objects, name_of(&lines[i]));
        cli_table_none(t);
    }
    if (rest.types == 0)
        return;
    char *text = rest_text(&rest);
    put_content(t, rest.bytes, whole, rest.objects, text);
    cli_table_count(t, rest.types);
    free(text);
}

char *cli_content_title(const struct gcd_retained_set *set)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES], d[CLI_NUMBER_BYTES], *text;
    bool sep = cli_is_terminal(stdout);
    int n = asprintf(
        &text, "%s object%s with %s bytes %s %s object%s with %s bytes, %s:",
        cli_number(set->objects, sep, a), gcd_plural(set->objects), cli_number(set->bytes, sep, b),
        gcd_by_number(set->objects, "retains", "retain"), cli_number(set->retained_objects, sep, c),
        gcd_plural(set->retained_objects), cli_number(set->retained_bytes, sep, d),
        gcd_by_number(set->objects, "itself included", "themselves included"));
    return n >= 0 ? text : NULL;
}

enum cli_exit cli_content_table(const struct retained *r, struct cli_table **ret,
                                struct gcd_retained_set *ret_set)
{
    struct gcd_context context = cli_context(r->args, NULL);
    struct gcd_error err = GCD_ERROR_INIT;
    uint32_t count = type_count(r);
    size_t n = 0;
    struct gcd_content *content = calloc((size_t)count + 1, sizeof *content);
    struct line *lines = calloc((size_t)count + 1, sizeof *lines);
    enum cli_exit e = content != NULL && lines != NULL ? CLI_DONE : cli_no_memory(r->d.subject);
    if (e == CLI_DONE &&
        gcd_retained_content(r->d.graph, r->types, &context, ret_set, content, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    if (e == CLI_DONE) {
        for (uint32_t t = 0; t < count; t++)
            if (content[t].objects > 0)
                lines[n++] = (struct line){ content[t].bytes, t, r };
        qsort(lines, n, sizeof *lines, compare_lines);
        *ret = cli_table_new(content_columns, sizeof content_columns / sizeof *content_columns);
        fill_content(r, lines, n, content, ret_set->retained_bytes, *ret);
    }
    free(content);
    free(lines);
    return e;
}

/* ---- immediate dominators ---- */

static const struct cli_column dominator_columns[] = {
    { "bytes", "Bytes", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },
    { "count", "Count", CLI_CELL_COUNT },
    { "dominators", "Dominators", CLI_CELL_COUNT },
    { "dominator_bytes", "Their bytes", CLI_CELL_BYTES },
    { "type", "Dominated by", CLI_CELL_TEXT },
    { "folded_types", NULL, CLI_CELL_COUNT },
};

static void put_dominators(struct cli_table *t, const struct gcd_dominating_type *d, uint64_t whole,
                           bool roots, const char *name)
{
    cli_table_count(t, d->bytes);
    cli_table_share(t, d->bytes, whole);
    cli_table_count(t, d->objects);
    if (roots) {
        cli_table_none(t);
        cli_table_none(t);
    } else {
        cli_table_count(t, d->dominators);
        cli_table_count(t, d->dominator_bytes);
    }
    cli_table_text(t, name);
}

static void fill_dominators(const struct retained *r, const struct line *lines, size_t n,
                            const struct gcd_dominating_type *of, uint64_t whole,
                            struct cli_table *t)
{
    struct rest rest = { .types = 0 };
    struct gcd_dominating_type all = { .objects = 0 };
    for (size_t i = 0; i < n; i++) {
        const struct gcd_dominating_type *d = &of[lines[i].type];
        bool roots = lines[i].type == type_count(r); /* the roots always get a line */
        if (!roots && (i >= r->lines || d->bytes < r->args->view.min_bytes)) {
            add_rest(&rest, d->objects, d->bytes);
            all.dominators += d->dominators;
            all.dominator_bytes += d->dominator_bytes;
            continue;
        }
        put_dominators(t, d, whole, roots, name_of(&lines[i]));
        cli_table_none(t);
    }
    if (rest.types == 0)
        return;
    char *text = rest_text(&rest);
    all.objects = rest.objects;
    all.bytes = rest.bytes;
    put_dominators(t, &all, whole, false, text);
    cli_table_count(t, rest.types);
    free(text);
}

enum cli_exit cli_dominator_table(const struct retained *r, struct cli_table **ret)
{
    struct gcd_context context = cli_context(r->args, NULL);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dominators_of which = { .types = r->types, .skip = r->skip };
    uint32_t count = type_count(r);
    uint64_t whole = 0;
    size_t n = 0;
    struct gcd_dominating_type *of = calloc((size_t)count + 1, sizeof *of);
    struct line *lines = calloc((size_t)count + 1, sizeof *lines);
    enum cli_exit e = of != NULL && lines != NULL ? CLI_DONE : cli_no_memory(r->d.subject);
    if (e == CLI_DONE &&
        gcd_immediate_dominators(r->d.graph, r->dominators, &which, &context, of, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    if (e == CLI_DONE) {
        for (uint32_t t = 0; t <= count; t++)
            if (of[t].objects > 0) {
                lines[n++] = (struct line){ of[t].bytes, t, r };
                whole = whole <= UINT64_MAX - of[t].bytes ? whole + of[t].bytes : UINT64_MAX;
            }
        qsort(lines, n, sizeof *lines, compare_lines);
        *ret =
            cli_table_new(dominator_columns, sizeof dominator_columns / sizeof *dominator_columns);
        fill_dominators(r, lines, n, of, whole, *ret);
    }
    free(of);
    free(lines);
    return e;
}
