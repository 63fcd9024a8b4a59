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

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static json_t *json_of(const struct cli_comparison *c, const struct answer *dumps, const char *key,
                       const struct answer *rows)
{
    json_t *o = json_object(), *sides = render_json_rows(dumps, NULL),
           *list = render_json_rows(rows, NULL);
    bool ok = sides != NULL && list != NULL;
    for (size_t i = 0; i < c->side_count; i++)
        json_object_set_new(json_array_get(sides, i), "verdict",
                            cli_json_verdict(&c->sides[i].verdict));
    json_object_set_new(o, "schema", json_integer(cli_json_schema()));
    json_object_set_new(o, "dumps", sides);
    json_object_set_new(o, "matched_by", json_string(c->by == CLI_BY_NAME ? "name" : "raw_name"));
    json_object_set_new(o, key, list);
    json_object_set_new(o, "thresholds", json_of_thresholds(c));
    if (ok && cli_compares_sites(c)) {
        struct answer *sites = cli_compare_sites(c);
        ok = json_object_set_new(o, "sites", render_json_rows(sites, NULL)) == 0;
        answer_free(sites);
    }
    if (ok)
        return o;
    json_decref(o);
    return NULL;
}

static bool print_text(const struct cli_comparison *c, struct answer *dumps,
                       const struct answer *rows)
{
    if (!c->retained)
        answer_hide(dumps, "retained_bytes");
    bool ok = render_text(dumps, stdout) && putchar('\n') != EOF && render_text(rows, stdout);
    if (!ok || !cli_compares_sites(c))
        return ok;
    struct answer *sites = cli_compare_sites(c);
    if (sites != NULL && sites->rows == 0)
        puts("\nNo line keeps more per hour than in the first dump, beyond the error of both; "
             "gcdumpc sites\nshows what each keeps all the time.");
    else
        ok = putchar('\n') != EOF && render_text(sites, stdout);
    answer_free(sites);
    return ok;
}

bool cli_compared(const struct cli_comparison *c, struct answer_compared *ret)
{
    const struct cli_view_args *view = &c->args->view;
    struct answer_side *sides = calloc(c->side_count, sizeof *sides);
    for (size_t i = 0; i < c->side_count && sides != NULL; i++) {
        const struct cli_side *s = &c->sides[i];
        sides[i] = (struct answer_side){
            .subject = s->subject,
            .process = s->process,
            .unix_ms = s->unix_ms,
            .sum = { s->sum.objects, s->sum.bytes, s->retained_bytes },
            .types = s->sum.types,
            .unlisted = s->unlisted,
            .partial = s->partial,
        };
    }
    *ret = (struct answer_compared){
        .diff = c->diff,
        .order = c->order,
        .sides = sides,
        .side_count = c->side_count,
        .retained = c->retained,
        .filtered = c->filter != NULL,
        .people = !view->json && !view->csv,
        .raw_names = view->names == CLI_NAMES_RAW,
        .sort = (enum answer_sort)view->sort,
        .page = { .most = view->top, .min_bytes = view->min_bytes },
        .observed = c->wants_answer && c->older != NULL && answer_older_unobserved(c->older)
                        ? c->newest->session
                        : NULL,
    };
    return sides != NULL;
}

/* What text begins with. */
static enum cli_exit print_head(const struct cli_comparison *c)
{
    if (c->args->view.json || c->args->view.csv)
        return CLI_DONE;
    for (size_t i = 0; i < c->side_count; i++)
        cli_mark_incomplete(stdout, c->sides[i].subject, &c->sides[i].verdict);
    return cli_growth_say(c);
}

static bool print_answer(const struct cli_comparison *c, const char *key, struct answer *dumps,
                         const struct answer *rows)
{
    if (c->args->view.json)
        return cli_json_print(json_of(c, dumps, key, rows), stdout) == 0;
    return c->args->view.csv ? render_csv(rows, stdout) : print_text(c, dumps, rows);
}

enum cli_exit cli_compare_print_rows(const struct cli_comparison *c, const char *key,
                                     struct answer *rows)
{
    struct answer_compared from = { .sides = NULL };
    struct answer *dumps = NULL;
    enum cli_exit said = rows != NULL ? print_head(c) : CLI_DONE;
    if (said != CLI_DONE) {
        answer_free(rows);
        return said;
    }
    bool ok = rows != NULL && cli_compared(c, &from) &&
              answer_dumps(&from, &dumps, NULL) == GCD_OK && print_answer(c, key, dumps, rows);
    answer_free(dumps);
    answer_free(rows);
    free((void *)from.sides);
    enum cli_exit flushed = cli_flush_stdout();
    return flushed != CLI_DONE || ok ? flushed : cli_no_memory(NULL);
}

enum cli_exit cli_compare_print(const struct cli_comparison *c, const char *key,
                                gcd_status (*make)(const struct answer_compared *from,
                                                   struct answer **ret, struct gcd_error *err))
{
    struct answer_compared from;
    struct answer *rows = NULL;
    if (cli_compared(c, &from) && make(&from, &rows, NULL) != GCD_OK) {
        answer_free(rows);
        rows = NULL;
    }
    free((void *)from.sides);
    return cli_compare_print_rows(c, key, rows);
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
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
