/*
 * The output common to diff and trend: the dumps, the thresholds and the cells of a row.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "output/json_out.h"
#include "output/output.h"
#include "term/message.h"
#include "term/path.h"
#include "term/term.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ---- */

bool cli_compare_changed(const struct cli_comparison *c, const struct gcd_diff_row *row)
{
    for (size_t i = 1; i < c->side_count; i++)
        if (memcmp(&row->sums[i], &row->sums[0], sizeof *row->sums) != 0)
            return true;
    return false;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

bool cli_compare_shown(const struct cli_comparison *c, const struct gcd_diff_row *row)
{
    const struct gcd_diff_sum *first = &row->sums[0], *last = &row->sums[c->side_count - 1];
    return cli_compare_changed(c, row) &&
           (difference(first->bytes, last->bytes) >= c->args->view.min_bytes ||
            difference(first->retained_bytes, last->retained_bytes) >= c->args->view.min_bytes);
}

void cli_compare_put_sums(struct cli_table *t, const struct gcd_diff_sum sums[2])
{
    cli_table_count(t, sums[0].objects);
    cli_table_count(t, sums[1].objects);
    cli_table_delta(t, sums[0].objects, sums[1].objects);
    cli_table_count(t, sums[0].bytes);
    cli_table_count(t, sums[1].bytes);
    cli_table_delta(t, sums[0].bytes, sums[1].bytes);
    cli_table_growth(t, sums[0].bytes, sums[1].bytes);
}

void cli_compare_put_change(struct cli_table *t, const struct gcd_diff_sum sums[2])
{
    if ((sums[0].objects == 0) == (sums[1].objects == 0))
        cli_table_none(t);
    else
        cli_table_text(t, sums[1].objects == 0 ? "gone" : "new");
}

/* ---- printing ---- */

/* RETAINED: the title of that column; NULL = only for programs, which always get it. */
#define DUMP_COLUMNS(retained)                                                              \
    {                                                                                       \
        { "dump", "Dump", CLI_CELL_COUNT }, { "time", "Time", CLI_CELL_TEXT },              \
            { "count", "Count", CLI_CELL_COUNT }, { "bytes", "Bytes", CLI_CELL_BYTES },     \
            { "retained", retained, CLI_CELL_BYTES }, { "types", "Types", CLI_CELL_COUNT }, \
            { "process", NULL, CLI_CELL_COUNT }, { "recording", "File", CLI_CELL_TEXT },    \
    }
static const struct cli_column dump_columns[] = DUMP_COLUMNS(NULL),
                               dump_columns_retained[] = DUMP_COLUMNS("Retained");

static void put_if(struct cli_table *t, bool known, uint64_t n)
{
    if (known)
        cli_table_count(t, n);
    else
        cli_table_none(t);
}

static struct cli_table *table_of_dumps(const struct cli_comparison *c)
{
    struct cli_table *t = cli_table_new(c->retained ? dump_columns_retained : dump_columns,
                                        sizeof dump_columns / sizeof *dump_columns);
    char when[CLI_TIME_BYTES];
    for (size_t i = 0; i < c->side_count; i++) {
        const struct cli_side *s = &c->sides[i];
        cli_table_count(t, i + 1);
        if (cli_time(s->unix_ms, when)[0] != '\0')
            cli_table_text(t, when);
        else
            cli_table_none(t);
        cli_table_count(t, s->sum.objects);
        cli_table_count(t, s->sum.bytes);
        put_if(t, c->retained, s->retained_bytes);
        cli_table_count(t, s->sum.types);
        put_if(t, s->process != 0, s->process);
        cli_table_text(t, s->subject);
    }
    return t;
}

static bool exceeded(const struct cli_comparison *c, size_t i)
{
    return cli_threshold_answer(&c->thresholds[i], c->sides[0].sum.values[i],
                                c->sides[c->side_count - 1].sum.values[i]) == CLI_EXCEEDS;
}

/* The second number only for a value that is not known exactly, because a summary lists too few
 * types. */
static void put_range(json_t *row, const char *key, const char *key_most, struct cli_range r)
{
    json_object_set_new(row, key, cli_json_number(r.least));
    if (r.most != r.least)
        json_object_set_new(row, key_most, cli_json_number(r.most));
}

static json_t *json_of_thresholds(const struct cli_comparison *c)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < c->threshold_count; i++) {
        json_t *row = json_object();
        json_object_set_new(row, "expression", cli_json_text(c->thresholds[i].text));
        put_range(row, "before", "before_at_most", c->sides[0].sum.values[i]);
        put_range(row, "after", "after_at_most", c->sides[c->side_count - 1].sum.values[i]);
        json_object_set_new(row, "exceeded", json_boolean(exceeded(c, i)));
        json_array_append_new(rows, row);
    }
    return rows;
}

static bool print_json(const struct cli_comparison *c, const struct cli_table *dumps,
                       const char *key, const struct cli_table *rows)
{
    json_t *o = json_object(), *sides = cli_table_json(dumps), *list = cli_table_json(rows);
    bool ok = sides != NULL && list != NULL;
    for (size_t i = 0; i < c->side_count; i++)
        json_object_set_new(json_array_get(sides, i), "verdict",
                            cli_json_verdict(&c->sides[i].verdict));
    json_object_set_new(o, "schema", json_integer(cli_json_schema()));
    json_object_set_new(o, "dumps", sides);
    json_object_set_new(o, "matched_by", json_string(c->by == CLI_BY_NAME ? "name" : "raw_name"));
    json_object_set_new(o, key, list);
    json_object_set_new(o, "thresholds", json_of_thresholds(c));
    if (ok)
        return cli_json_print(o, stdout) == 0;
    json_decref(o);
    return false;
}

static bool print_text(const struct cli_comparison *c, const struct cli_table *dumps,
                       const struct cli_table *rows)
{
    for (size_t i = 0; i < c->side_count; i++)
        cli_mark_incomplete(stdout, c->sides[i].subject, &c->sides[i].verdict);
    return cli_table_print(dumps, stdout) && putchar('\n') != EOF && cli_table_print(rows, stdout);
}

enum cli_exit cli_compare_print(const struct cli_comparison *c, const char *key,
                                const struct cli_table *rows)
{
    bool ok;
    struct cli_table *dumps = table_of_dumps(c);
    if (c->args->view.json)
        ok = print_json(c, dumps, key, rows);
    else if (c->args->view.csv)
        ok = cli_table_csv(rows, stdout);
    else
        ok = print_text(c, dumps, rows);
    cli_table_free(dumps);
    enum cli_exit flushed = cli_flush_stdout();
    return flushed != CLI_DONE || ok ? flushed : cli_no_memory(NULL);
}

static void say_exceeded(const struct cli_comparison *c, size_t i)
{
    struct cli_range first = c->sides[0].sum.values[i],
                     last = c->sides[c->side_count - 1].sum.values[i];
    uint64_t before = first.least, after = last.least;
    char share[40] = "";
    if (first.most != before || last.most != after) {
        cli_say(NULL, "threshold exceeded: %s: %s to %s -> %s to %s", c->thresholds[i].text,
                GCD_DIGITS(before), GCD_DIGITS(first.most), GCD_DIGITS(after),
                GCD_DIGITS(last.most));
        return;
    }
    if (before > 0)
        (void)snprintf(share, sizeof share, ", %+.2f%%",
                       100 * ((double)after - (double)before) / (double)before);
    cli_say(NULL, "threshold exceeded: %s: %s -> %s (%s%s%s)", c->thresholds[i].text,
            GCD_DIGITS(before), GCD_DIGITS(after), after < before ? "-" : "+",
            GCD_DIGITS(difference(before, after)), share);
}

enum cli_exit cli_compare_end(const struct cli_comparison *c)
{
    enum cli_exit e = CLI_DONE;
    for (size_t i = 0; i < c->side_count; i++)
        if (!c->sides[i].verdict.complete)
            e = CLI_INCOMPLETE;
    for (size_t i = 0; i < c->threshold_count; i++)
        if (exceeded(c, i)) {
            say_exceeded(c, i);
            e = CLI_EXCEEDED;
        }
    return e;
}

/* Files with the same name are shown with their path as given. */
static const char *file_name(const struct cli_comparison *c, size_t i)
{
    const char *name = cli_path_name(c->sides[i].subject);
    for (size_t k = 0; k < c->side_count; k++)
        if (k != i && strcmp(cli_path_name(c->sides[k].subject), name) == 0)
            return c->sides[i].subject;
    return name;
}

struct gcd_page_dump cli_compare_page_dump(const struct cli_comparison *c, size_t i)
{
    const struct cli_side *side = &c->sides[i];
    return (struct gcd_page_dump){
        .name = file_name(c, i),
        .title = side->name,
        .program = side->command_line,
        .process = side->process,
        .unix_ms = side->unix_ms,
        .verdict = &side->verdict,
        .partial = side->partial,
        .sum = { side->sum.objects, side->sum.bytes, side->retained_bytes },
    };
}
