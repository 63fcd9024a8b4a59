#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/compare_paths.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/output.h"
#include "term/path.h"

enum { BEFORE, AFTER };

/* People see the newer value and the growth; programs get everything. */
static const struct cli_column columns[] = {
    { "count_before", NULL, CLI_CELL_COUNT },
    { "count_after", "Count", CLI_CELL_COUNT },
    { "count_delta", "+/-", CLI_CELL_DELTA },
    { "bytes_before", NULL, CLI_CELL_BYTES },
    { "bytes_after", "Bytes", CLI_CELL_BYTES },
    { "bytes_delta", "+/-", CLI_CELL_BYTES_DELTA },
    { "growth", "Growth", CLI_CELL_GROWTH },
    { "change", "", CLI_CELL_TEXT },
    { "type", "Type", CLI_CELL_TEXT },
    { "module", NULL, CLI_CELL_TEXT },
}, retained_columns[] = {
    { "count_before", NULL, CLI_CELL_COUNT },
    { "count_after", "Count", CLI_CELL_COUNT },
    { "count_delta", "+/-", CLI_CELL_DELTA },
    { "bytes_before", NULL, CLI_CELL_BYTES },
    { "bytes_after", "Bytes", CLI_CELL_BYTES },
    { "bytes_delta", "+/-", CLI_CELL_BYTES_DELTA },
    { "growth", "Growth", CLI_CELL_GROWTH }, { "retained_before", NULL, CLI_CELL_BYTES },
    { "retained_after", "Retained >=", CLI_CELL_BYTES },
    { "retained_delta", "+/-", CLI_CELL_BYTES_DELTA },
    { "change", "", CLI_CELL_TEXT },
    { "type", "Type", CLI_CELL_TEXT }, { "module", NULL, CLI_CELL_TEXT },
};

/* Sums of the rows that are not shown, without retained sizes, which overlap. */
struct rest {
    struct gcd_diff_sum sums[2];
    size_t types;
};

/* Which retained cells a row has. */
enum retained { RETAINED_NO_COLUMNS, RETAINED_UNKNOWN, RETAINED_KNOWN };

static void put_sums(struct cli_table *t, const struct gcd_diff_sum *sums, enum retained retained)
{
    cli_compare_put_sums(t, sums);
    if (retained == RETAINED_KNOWN) {
        cli_table_count(t, sums[BEFORE].retained_bytes);
        cli_table_count(t, sums[AFTER].retained_bytes);
        cli_table_delta(t, sums[BEFORE].retained_bytes, sums[AFTER].retained_bytes);
    }
    for (int i = 0; i < 3 && retained == RETAINED_UNKNOWN; i++)
        cli_table_none(t);
}

static void put_row(struct cli_table *t, const struct gcd_diff_row *row, bool retained)
{
    put_sums(t, row->sums, retained ? RETAINED_KNOWN : RETAINED_NO_COLUMNS);
    cli_compare_put_change(t, row->sums);
    cli_table_text(t, row->name);
    if (row->module[0] != '\0')
        cli_table_text(t, row->module);
    else
        cli_table_none(t);
}

/* Adds a summary row for people, labeled WHAT. */
static void put_summary(struct cli_table *t, const struct gcd_diff_sum *sums,
                        enum retained retained, const char *what)
{
    put_sums(t, sums, retained);
    cli_table_none(t);
    cli_table_text(t, what);
    cli_table_none(t);
}

static void put_rest(struct cli_table *t, const struct rest *r, bool retained, const char *what)
{
    char text[80];
    (void)snprintf(text, sizeof text, "(%s %s)", GCD_DIGITS(r->types), what);
    if (r->types > 0)
        put_summary(t, r->sums, retained ? RETAINED_UNKNOWN : RETAINED_NO_COLUMNS, text);
}

static void add(struct rest *to, const struct gcd_diff_row *row)
{
    to->types++;
    for (int i = BEFORE; i <= AFTER; i++) {
        to->sums[i].objects += row->sums[i].objects;
        to->sums[i].bytes += row->sums[i].bytes;
    }
}

static void fill(const struct cli_comparison *c, struct cli_table *t)
{
    struct rest more = { .types = 0 }, same = { .types = 0 };
    struct gcd_diff_sum total[2];
    char text[80];
    size_t n = gcd_diff_row_count(c->diff), shown = 0;
    for (size_t i = 0; i < n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(c->diff, c->order[i]);
        if (!cli_compare_changed(c, row)) {
            add(&same, row);
        } else if (!cli_compare_shown(c, row) ||
                   (c->args->view.top != 0 && shown == c->args->view.top)) {
            add(&more, row);
        } else {
            put_row(t, row, c->retained);
            shown++;
        }
    }
    if (c->args->view.json || c->args->view.csv)
        return;
    put_rest(t, &more, c->retained, gcd_by_number(more.types, "more type", "more types"));
    put_rest(t, &same, c->retained, "unchanged");
    for (int i = BEFORE; i <= AFTER; i++)
        total[i] = (struct gcd_diff_sum){ c->sides[i].sum.objects, c->sides[i].sum.bytes,
                                          c->sides[i].retained_bytes };
    (void)snprintf(text, sizeof text, "total, %s type%s", GCD_DIGITS(n), gcd_plural(n));
    put_summary(t, total,
                !c->retained        ? RETAINED_NO_COLUMNS
                : c->filter == NULL ? RETAINED_KNOWN
                                    : RETAINED_UNKNOWN,
                text);
}

static enum cli_exit print_types(const struct cli_comparison *c)
{
    struct cli_table *t =
        c->retained
            ? cli_table_new(retained_columns, sizeof retained_columns / sizeof *retained_columns)
            : cli_table_new(columns, sizeof columns / sizeof *columns);
    fill(c, t);
    enum cli_exit e = cli_compare_print(c, "types", t);
    cli_table_free(t);
    return e;
}

/* ---- the page ---- */

static enum cli_exit write_page(const struct cli_args *args, const struct cli_comparison *c,
                                struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_options options = { .context = cli_context_steps(args, "writing"),
                                         .name = c->newest->name };
    struct gcd_diff_page page = { .types = c->diff,
                                  .paths = c->paths,
                                  .retained = c->retained,
                                  .newer = c->newest->session,
                                  .options = &options };
    for (size_t i = BEFORE; i <= AFTER; i++)
        page.sides[i] = cli_compare_page_dump(c, i);
    return gcd_write_diff_page(&page, s, &err) == GCD_OK ? cli_page_commit(args, s)
                                                         : cli_fail(args->output.path, &err);
}

/* The page gets all rows, because its reader cannot ask again. */
static enum cli_exit diff_page(const struct cli_args *args)
{
    struct cli_args all = *args;
    struct cli_comparison c = { .args = NULL };
    struct cli_dump newest = { .input = NULL };
    struct gcd_sink *s = NULL;
    all.view.paths = all.view.retained = true;
    enum cli_exit e = cli_page_open(args, "diff", &s);
    if (e == CLI_DONE)
        e = cli_compare_open(&all, &newest, &c);
    if (e == CLI_DONE)
        e = write_page(args, &c, s);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    cli_close(&newest);
    cli_page_close(s);
    return e;
}

enum cli_exit cmd_diff(const struct cli_args *args)
{
    struct cli_comparison c = { .takes_summaries = false };
    if (args->output.path != NULL)
        return diff_page(args);
    enum cli_exit e = cli_compare_open(args, NULL, &c);
    if (e == CLI_DONE)
        e = args->view.paths ? cli_paths_print(&c) : print_types(&c);
    if (e == CLI_DONE)
        e = cli_compare_end(&c);
    cli_compare_close(&c);
    return e;
}
