/* Lines of the program that keep more and more: sampled allocations of several dumps. */
#include <stdlib.h>
#include <string.h>

#include "commands/compare.h"
#include "summary/summary.h"

#define SITES_SHOWN 10u
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

static uint64_t bytes_of(const json_t *row)
{
    return number_of(row, "kept_bytes_per_hour"); /* 0 without a row */
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
    static const char error[] = "error_bytes_per_hour";
    double x = (double)number_of(before, error), y = (double)number_of(after, error),
           change = (double)bytes_of(after) - (double)bytes_of(before);
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
    char text[ANSWER_SITE_BYTES];
    uint64_t line = number_of(g->after, "line");
    answer_row(a);
    answer_count(a, "kept_bytes_per_hour_before", bytes_of(g->before));
    answer_count(a, "kept_bytes_per_hour", bytes_of(g->after));
    answer_delta(a, "kept_bytes_per_hour_change", bytes_of(g->before), bytes_of(g->after));
    answer_known(a, "type", text_of(g->after, "type"));
    answer_known(a, "method", text_of(g->after, "method"));
    answer_known(a, "file", text_of(g->after, "file"));
    if (line != 0)
        answer_count(a, "line", line);
    answer_site_text(&(struct gcd_site_frame){ .method = text_of(g->after, "method"),
                                               .file = text_of(g->after, "file"),
                                               .line = (uint32_t)line },
                     text_of(g->after, "type"), text);
    answer_text(a, "site", text);
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

/* The lines that keep more, most first; *N of them.  Free with free(); NULL without memory. */
static struct growth *find_growths(const struct cli_comparison *c, size_t *n)
{
    const json_t *first = side_with_sites(c, false)->sites, *last = side_with_sites(c, true)->sites;
    size_t rows =
        json_array_size(last) < CLI_SUMMARY_SITES ? json_array_size(last) : CLI_SUMMARY_SITES;
    struct growth *all = calloc(rows + 1, sizeof *all);
    *n = 0;
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < rows; i++)
        all[i] = growth_of(find_site(first, json_array_get(last, i)), json_array_get(last, i));
    qsort(all, rows, sizeof *all, compare_growth);
    while (*n < rows && all[*n].change > 0)
        (*n)++;
    return all;
}

struct answer *cli_compare_sites(const struct cli_comparison *c)
{
    size_t n;
    struct growth *all = find_growths(c, &n);
    struct answer *a = all != NULL ? answer_new(NULL, &shape) : NULL;
    for (size_t i = 0; i < n && (i < SITES_SHOWN || c->args->view.json) && a != NULL; i++)
        put_growth(a, &all[i]);
    free(all);
    return a;
}

struct gcd_page_site *cli_compare_page_sites(const struct cli_comparison *c, size_t *n)
{
    struct growth *all = find_growths(c, n);
    struct gcd_page_site *ret = all != NULL ? calloc(*n + 1, sizeof *ret) : NULL;
    for (size_t i = 0; i < *n && ret != NULL; i++) {
        const struct growth *g = &all[i];
        ret[i] = (struct gcd_page_site){ .type = text_of(g->after, "type"),
                                         .method = text_of(g->after, "method"),
                                         .file = text_of(g->after, "file"),
                                         .line = number_of(g->after, "line"),
                                         .before = bytes_of(g->before),
                                         .after = bytes_of(g->after) };
    }
    free(all);
    return ret;
}
