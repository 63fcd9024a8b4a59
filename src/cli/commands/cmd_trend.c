#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/compare/trend.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/fail.h"
#include "output/output.h"
#include "term/message.h"

/* The quantities.  Programs get all; people get bytes, or counts with --sort count, and with
 * --retained also retained sizes. */
enum { COUNT, BYTES, RETAINED, METRICS };

/* Keys and titles of columns.  Each title names its quantity, because two quantities can be side by
 * side. */
static const struct metric {
    const char *key, *title;
    const char *delta, *delta_title, *slope, *slope_title, *trend, *trend_title;
} metrics[METRICS] = {
    { "count", "Count", "count_delta", "Count +/-", "count_per_hour", "Count/hour", "count_trend",
      "Count trend" },
    { "bytes", "Bytes", "bytes_delta", "Bytes +/-", "bytes_per_hour", "Bytes/hour", "bytes_trend",
      "Bytes trend" },
    { "retained", "Retained", "retained_delta", "Retained +/-", "retained_per_hour",
      "Retained/hour", "retained_trend", "Retained trend" },
};

/* The key or the title of a column. */
typedef char column_text[32];

struct trend {
    const struct cli_comparison *c;
    int metrics;         /* number of metrics */
    bool shown[METRICS]; /* shown to people */
    struct cli_column *columns;
    size_t column_count;
    column_text *keys, *titles; /* [metrics * dumps] */
    uint64_t *values;           /* [dumps] one quantity of one row */
    int64_t *unix_ms;           /* [dumps] */
    int64_t *known_ms;          /* [dumps] the same, INT64_MIN where the row is not known */
    uint64_t *known_values;     /* [dumps] the known values, packed */
    struct cli_table *table;
};

static uint64_t value_of(const struct gcd_diff_sum *s, int metric)
{
    return metric == COUNT ? s->objects : metric == BYTES ? s->bytes : s->retained_bytes;
}

static void add_column(struct trend *t, const char *key, const char *title, enum cli_cell kind)
{
    t->columns[t->column_count++] = (struct cli_column){ key, title, kind };
}

/* The key "bytes_1" gets the title "Bytes 1". */
static void add_value_column(struct trend *t, int metric, size_t dump)
{
    size_t i = (size_t)metric * t->c->side_count + dump;
    (void)snprintf(t->keys[i], sizeof t->keys[i], "%s_%zu", metrics[metric].key, dump + 1);
    (void)snprintf(t->titles[i], sizeof t->titles[i], "%s %zu", metrics[metric].title, dump + 1);
    add_column(t, t->keys[i], t->shown[metric] ? t->titles[i] : NULL,
               metric == COUNT ? CLI_CELL_COUNT : CLI_CELL_BYTES);
}

static bool prepare(struct trend *t)
{
    const struct cli_comparison *c = t->c;
    t->columns = calloc((size_t)t->metrics * (c->side_count + 3) + 2, sizeof *t->columns);
    t->keys = calloc((size_t)t->metrics * c->side_count, sizeof *t->keys);
    t->titles = calloc((size_t)t->metrics * c->side_count, sizeof *t->titles);
    t->values = calloc(c->side_count, sizeof *t->values);
    t->unix_ms = calloc(c->side_count, sizeof *t->unix_ms);
    t->known_ms = calloc(c->side_count, sizeof *t->known_ms);
    t->known_values = calloc(c->side_count, sizeof *t->known_values);
    if (t->known_ms == NULL || t->known_values == NULL || t->columns == NULL || t->keys == NULL ||
        t->titles == NULL || t->values == NULL || t->unix_ms == NULL)
        return false;
    bool hours = false;
    for (size_t i = 0; i < c->side_count; i++) {
        t->unix_ms[i] = c->sides[i].unix_ms;
        hours = hours || (t->unix_ms[i] != INT64_MIN && t->unix_ms[0] != INT64_MIN &&
                          t->unix_ms[i] != t->unix_ms[0]);
    }
    for (int m = 0; m < t->metrics; m++) {
        const struct metric *names = &metrics[m];
        enum cli_cell delta = m == COUNT ? CLI_CELL_DELTA : CLI_CELL_BYTES_DELTA;
        for (size_t i = 0; i < c->side_count; i++)
            add_value_column(t, m, i);
        add_column(t, names->delta, t->shown[m] ? names->delta_title : NULL, delta);
        add_column(t, names->slope, t->shown[m] && hours ? names->slope_title : NULL, delta);
        add_column(t, names->trend, t->shown[m] ? names->trend_title : NULL, CLI_CELL_TEXT);
    }
    add_column(t, "type", "Type", CLI_CELL_TEXT);
    add_column(t, "module", NULL, CLI_CELL_TEXT);
    t->table = cli_table_new(t->columns, t->column_count);
    return t->table != NULL;
}

/* X rounded, clamped to the largest integer that our JSON has. */
static uint64_t whole(double x)
{
    return x < 9e18 ? (uint64_t)(x + 0.5) : (uint64_t)INT64_MAX;
}

/* A type that a summary does not list may exist in its dump. */
static bool is_known(const struct cli_side *side, const struct gcd_diff_sum *sum)
{
    return sum->objects > 0 || !side->partial;
}

/* Adds slope and trend over the dumps in which the row is known. */
static void put_course(struct trend *t, size_t known)
{
    static const char *const names[] = { "steady", "grows", "shrinks", "varies" };
    double slope;
    if (!gcd_trend_slope(t->known_ms, t->values, t->c->side_count, &slope))
        cli_table_none(t->table);
    else if (slope < 0)
        cli_table_delta(t->table, whole(-slope), 0);
    else
        cli_table_delta(t->table, 0, whole(slope));
    if (known > 1)
        cli_table_text(t->table, names[gcd_trend_of(t->known_values, known)]);
    else
        cli_table_none(t->table);
}

static void put_metric(struct trend *t, const struct gcd_diff_sum *sums, int metric)
{
    size_t n = t->c->side_count, known = 0;
    for (size_t i = 0; i < n; i++) {
        bool is = is_known(&t->c->sides[i], &sums[i]);
        t->values[i] = value_of(&sums[i], metric);
        t->known_ms[i] = is ? t->unix_ms[i] : INT64_MIN;
        if (is) {
            t->known_values[known++] = t->values[i];
            cli_table_count(t->table, t->values[i]);
        } else {
            cli_table_none(t->table);
        }
    }
    if (is_known(&t->c->sides[0], &sums[0]) && is_known(&t->c->sides[n - 1], &sums[n - 1]))
        cli_table_delta(t->table, t->values[0], t->values[n - 1]);
    else
        cli_table_none(t->table);
    put_course(t, known);
}

/* Fills the first KNOWN metrics of the row: all, or all but the last. */
static void put_row(struct trend *t, const struct gcd_diff_sum *sums, int known, const char *name,
                    const char *module)
{
    for (int m = 0; m < t->metrics; m++) {
        if (m < known)
            put_metric(t, sums, m);
        for (size_t i = 0; m >= known && i < t->c->side_count + 3; i++)
            cli_table_none(t->table);
    }
    cli_table_text(t->table, name);
    if (module[0] != '\0')
        cli_table_text(t->table, module);
    else
        cli_table_none(t->table);
}

/* The summary rows for people. */
static bool put_summary(struct trend *t, struct gcd_diff_sum *rest, size_t rest_count, size_t rows)
{
    const struct cli_comparison *c = t->c;
    char text[100];
    bool unlisted = false;
    for (size_t i = 0; i < c->side_count; i++) {
        const struct gcd_diff_sum *more = &c->sides[i].unlisted;
        rest[i].objects += more->objects;
        rest[i].bytes += more->bytes;
        unlisted = unlisted || more->objects > 0;
    }
    struct gcd_diff_sum *total = calloc(c->side_count, sizeof *total);
    for (size_t i = 0; total != NULL && i < c->side_count; i++)
        total[i] = (struct gcd_diff_sum){ c->sides[i].sum.objects, c->sides[i].sum.bytes,
                                          c->sides[i].retained_bytes };
    if (total == NULL)
        return false;
    (void)snprintf(text, sizeof text, "(%s more type%s%s)", GCD_DIGITS(rest_count),
                   gcd_plural(rest_count), unlisted ? ", and unlisted ones" : "");
    if (rest_count > 0 || unlisted)
        put_row(t, rest, RETAINED, text, "");
    (void)snprintf(text, sizeof text, unlisted ? "total" : "total, %zu type%s", rows,
                   gcd_plural(rows));
    put_row(t, total, c->filter == NULL ? t->metrics : RETAINED, text, "");
    free(total);
    return true;
}

static bool fill(struct trend *t)
{
    const struct cli_comparison *c = t->c;
    size_t n = gcd_diff_row_count(c->diff), shown = 0, hidden = 0;
    struct gcd_diff_sum *rest = calloc(c->side_count, sizeof *rest);
    for (size_t i = 0; rest != NULL && i < n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(c->diff, c->order[i]);
        if (cli_compare_shown(c, row) && (c->args->view.top == 0 || shown < c->args->view.top)) {
            put_row(t, row->sums, t->metrics, row->name, row->module);
            shown++;
            continue;
        }
        hidden++;
        for (size_t k = 0; k < c->side_count; k++) {
            rest[k].objects += row->sums[k].objects;
            rest[k].bytes += row->sums[k].bytes;
        }
    }
    bool ok = rest != NULL &&
              (c->args->view.json || c->args->view.csv || put_summary(t, rest, hidden, n));
    free(rest);
    return ok;
}

/* ---- the page ---- */

static enum cli_exit write_page(const struct cli_args *args, const struct cli_comparison *c,
                                struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_page_dump *dumps = calloc(c->side_count, sizeof *dumps);
    if (dumps == NULL)
        return cli_no_memory(args->output.path);
    for (size_t i = 0; i < c->side_count; i++)
        dumps[i] = cli_compare_page_dump(c, i);
    struct gcd_trend_page page = {
        .dumps = dumps, .dump_count = c->side_count, .types = c->diff, .retained = c->retained
    };
    gcd_status st = gcd_write_trend_page(&page, s, &err);
    free(dumps);
    return st == GCD_OK ? cli_page_commit(args, s) : cli_fail(args->output.path, &err);
}

/* The page has retained sizes, because its reader cannot ask for them. */
static enum cli_exit trend_page(const struct cli_args *args)
{
    struct cli_args all = *args;
    struct cli_comparison c = { .takes_summaries = true };
    struct gcd_sink *s = NULL;
    all.view.retained = true;
    enum cli_exit e = cli_page_open(args, "trend", &s);
    if (e == CLI_DONE)
        e = cli_compare_open(&all, NULL, &c);
    if (e == CLI_DONE)
        e = write_page(args, &c, s);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    cli_page_close(s);
    return e;
}

enum cli_exit cmd_trend(const struct cli_args *args)
{
    struct cli_comparison c = { .takes_summaries = true };
    if (args->output.path != NULL)
        return trend_page(args);
    enum cli_exit e = cli_compare_open(args, NULL, &c);
    struct trend t = { .c = &c, .metrics = c.retained ? METRICS : RETAINED };
    t.shown[args->view.sort == CLI_SORT_COUNT ? COUNT : BYTES] = true;
    t.shown[RETAINED] = c.retained;
    if (e == CLI_DONE && !(prepare(&t) && fill(&t))) {
        e = cli_no_memory(NULL);
    }
    if (e == CLI_DONE)
        e = cli_compare_print(&c, "types", t.table);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_table_free(t.table);
    free(t.columns);
    free(t.keys);
    free(t.titles);
    free(t.values);
    free(t.unix_ms);
    free(t.known_ms);
    free(t.known_values);
    cli_compare_close(&c);
    return e;
}
