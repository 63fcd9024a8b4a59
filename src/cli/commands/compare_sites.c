/* Lines of the program that keep more and more: sampled allocations of several dumps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/compare.h"
#include "summary/summary.h"

#define SITES_SHOWN 10u
#define TEXT_BYTES  1200u
/* A growth within so many standard errors can be chance. */
#define SURE_ERRORS 3.0

static const struct answer_column columns[] = {
    COLUMN("kept_bytes_per_hour_before", "First, per hour", ANSWER_BYTES),
    COLUMN("kept_bytes_per_hour", "Last, per hour", ANSWER_BYTES),
    COLUMN("kept_bytes_per_hour_change", "Change", ANSWER_BYTES_DELTA),
    FIELD("type", ANSWER_TEXT),
    FIELD("method", ANSWER_TEXT),
    FIELD("file", ANSWER_TEXT),
    FIELD("line", ANSWER_COUNT),
    PEOPLE("site", "Line that keeps more", ANSWER_TEXT),
};
static const struct answer_shape shape = ANSWER_SHAPE(columns);

struct growth {
    const json_t *before, *after; /* rows; BEFORE NULL: it was not there */
    double change;
};

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *row, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(row, key));
    return n > 0 ? (uint64_t)n : 0;
}

static bool same_site(const json_t *a, const json_t *b)
{
    return number_of(a, "line") == number_of(b, "line") &&
           strcmp(text_of(a, "method"), text_of(b, "method")) == 0 &&
           strcmp(text_of(a, "type"), text_of(b, "type")) == 0 &&
           strcmp(text_of(a, "file"), text_of(b, "file")) == 0;
}

static const json_t *find_site(const json_t *rows, const json_t *row)
{
    for (size_t i = 0; i < json_array_size(rows) && i < CLI_SUMMARY_SITES; i++)
        if (same_site(json_array_get(rows, i), row))
            return json_array_get(rows, i);
    return NULL;
}

static struct growth growth_of(const json_t *before, const json_t *after)
{
    static const char key[] = "kept_bytes_per_hour", error[] = "error_bytes_per_hour";
    double x = before != NULL ? (double)number_of(before, error) : 0,
           y = (double)number_of(after, error),
           change = (double)number_of(after, key) -
                    (before != NULL ? (double)number_of(before, key) : 0);
    bool sure = change > SURE_ERRORS * gcd_site_error(x * x + y * y);
    return (struct growth){ .before = before, .after = after, .change = sure ? change : 0 };
}

static int compare_growth(const void *a, const void *b)
{
    double x = ((const struct growth *)a)->change, y = ((const struct growth *)b)->change;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void put_growth(struct answer *a, const struct growth *g)
{
    char text[TEXT_BYTES];
    const char *file = strrchr(text_of(g->after, "file"), '/');
    uint64_t line = number_of(g->after, "line"),
             before = g->before != NULL ? number_of(g->before, "kept_bytes_per_hour") : 0;
    answer_row(a);
    answer_count(a, "kept_bytes_per_hour_before", before);
    answer_count(a, "kept_bytes_per_hour", number_of(g->after, "kept_bytes_per_hour"));
    answer_delta(a, "kept_bytes_per_hour_change", before,
                 number_of(g->after, "kept_bytes_per_hour"));
    answer_known(a, "type", text_of(g->after, "type"));
    answer_known(a, "method", text_of(g->after, "method"));
    answer_known(a, "file", text_of(g->after, "file"));
    if (line != 0)
        answer_count(a, "line", line);
    (void)snprintf(text, sizeof text, "%.255s:%u %.600s (%.250s)",
                   file != NULL ? file + 1 : text_of(g->after, "file"), (unsigned)line,
                   text_of(g->after, "method"), text_of(g->after, "type"));
    answer_text(a, "site", line != 0 ? text : text_of(g->after, "method"));
}

/* The first or the last side with sites. */
static const struct cli_side *side_with_sites(const struct cli_comparison *c, bool last)
{
    const struct cli_side *found = NULL;
    for (size_t i = 0; i < c->side_count && (last || found == NULL); i++)
        found = c->sides[i].sites != NULL ? &c->sides[i] : found;
    return found;
}

bool cli_compares_sites(const struct cli_comparison *c)
{
    return side_with_sites(c, false) != side_with_sites(c, true);
}

struct answer *cli_compare_sites(const struct cli_comparison *c)
{
    const json_t *first = side_with_sites(c, false)->sites, *last = side_with_sites(c, true)->sites;
    size_t n = json_array_size(last) < CLI_SUMMARY_SITES ? json_array_size(last)
                                                         : CLI_SUMMARY_SITES,
           most = c->args->view.json ? n : SITES_SHOWN;
    struct growth *all = calloc(n + 1, sizeof *all);
    struct answer *a = all != NULL ? answer_new(NULL, &shape) : NULL;
    for (size_t i = 0; i < n && a != NULL; i++)
        all[i] = growth_of(find_site(first, json_array_get(last, i)), json_array_get(last, i));
    if (a != NULL)
        qsort(all, n, sizeof *all, compare_growth);
    for (size_t i = 0; i < n && i < most && a != NULL && all[i].change > 0; i++)
        put_growth(a, &all[i]);
    free(all);
    return a;
}
