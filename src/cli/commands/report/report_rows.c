#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/report/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "term/message.h"
#include "term/progress.h"

enum cli_exit report_histogram(struct report *r, enum gcd_histogram_by by,
                               const struct gcd_histogram **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    bool of_types =
        by == GCD_BY_TYPE || by == GCD_BY_MODULE || by == GCD_BY_NAMESPACE || by == GCD_BY_KIND;
    struct gcd_histogram_options options = {
        .context = cli_context(r->args, "reading"),
        .by = by,
        .dump = r->d.dump,
        .graph = r->d.graph,
        .wanted = r->wanted,
        .dominators = of_types ? r->dominators : NULL,
        .root_sets = r->args->view.retained,
        .progress_total = r->d.input != NULL ? gcd_input_size(r->d.input) : 0,
    };
    if (by == GCD_BY_GENERATION && cli_summary(&r->d)->range_count == 0)
        return cli_error(CLI_FAILED, r->d.subject,
                         "it has no memory ranges, so generations are unknown; a recording with "
                         "the keyword 0x400000 has them");
    gcd_status st = gcd_histogram_new(&options, ret, &err);
    if (st != GCD_OK)
        return cli_fail(r->d.subject, &err);
    cli_progress_end();
    if (by == GCD_BY_ROOT && options.root_sets)
        r->pseudo_roots = (uint32_t)(*ret)->root_sets.pseudo_roots.roots;
    return CLI_DONE;
}

/* ---- order ---- */

static int descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Breaks ties completely, so that the same dump always gives the same report. */
static int first_of(int a, int b, int c, const struct report_row *x, const struct report_row *y)
{
    return a != 0 ? a : b != 0 ? b : c != 0 ? c : x->at < y->at ? -1 : x->at > y->at;
}

static int by_bytes(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->v.bytes, y->v.bytes), descending(x->v.objects, y->v.objects),
                    strcmp(x->label, y->label), x, y);
}

static int by_count(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->v.objects, y->v.objects), descending(x->v.bytes, y->v.bytes),
                    strcmp(x->label, y->label), x, y);
}

static int by_name(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(strcmp(x->label, y->label), descending(x->v.bytes, y->v.bytes),
                    descending(x->v.objects, y->v.objects), x, y);
}

static int by_retained(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->v.retained_bytes, y->v.retained_bytes),
                    descending(x->v.bytes, y->v.bytes), strcmp(x->label, y->label), x, y);
}

struct report_row *report_rows(const struct report *r, const struct gcd_histogram *h)
{
    static int (*const orders[])(const void *, const void *) = {
        [CLI_SORT_BYTES] = by_bytes,
        [CLI_SORT_COUNT] = by_count,
        [CLI_SORT_NAME] = by_name,
        [CLI_SORT_RETAINED] = by_retained,
    };
    struct report_row *rows = calloc(h->row_count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < h->row_count; i++) {
        const struct gcd_histogram_row *v = &h->rows[i];
        rows[i] =
            (struct report_row){ .label = v->label != NULL ? v->label
                                                           : gcd_names_get(r->names, v->index),
                                 .at = i,
                                 .v = *v };
    }
    if (rows != NULL && h->row_count > 1)
        qsort(rows, h->row_count, sizeof *rows, orders[r->args->view.sort]);
    return rows;
}

/* ---- the table ---- */

static void put_row(const struct report *r, struct cli_table *t,
                    const struct report_columns *columns, const struct report_row *row)
{
    cli_table_count(t, row->v.objects);
    cli_table_count(t, row->v.bytes);
    cli_table_share(t, row->v.bytes, cli_summary(&r->d)->bytes);
    if (r->args->view.retained && row->at != REPORT_REST)
        cli_table_count(t, row->v.retained_bytes);
    else if (r->args->view.retained)
        cli_table_none(t); /* retained sizes of sets do not add up */
    columns->cells(r, t, row);
}

/* REST: the sums of the rows that are not shown. */
static void put_sums(const struct report *r, struct cli_table *t,
                     const struct report_columns *columns, const struct report_row *rest,
                     size_t shown)
{
    char text[100];
    const struct gcd_histogram *h = r->h;
    struct report_row total = { .label = text,
                                .at = REPORT_TOTAL,
                                .v = { .objects = h->objects, .bytes = h->bytes } };
    cli_table_sums(t);
    if (shown < h->row_count) {
        struct report_row row = *rest;
        (void)snprintf(text, sizeof text, "(%s more %s%s)", GCD_DIGITS(h->row_count - shown),
                       columns->one, gcd_plural(h->row_count - shown));
        row.label = text;
        put_row(r, t, columns, &row);
    }
    if (r->filter == NULL)
        (void)snprintf(text, sizeof text, "total, %s %s%s", GCD_DIGITS(h->row_count), columns->one,
                       gcd_plural(h->row_count));
    else
        (void)snprintf(text, sizeof text, "total, %s %s%s; %u of %s types",
                       GCD_DIGITS(h->row_count), columns->one, gcd_plural(h->row_count), h->types,
                       GCD_DIGITS(cli_summary(&r->d)->types_used));
    if (r->dominators != NULL)
        total.v.retained_bytes = gcd_dominators_retained(r->dominators, GCD_NODE_ROOT);
    put_row(r, t, columns, &total);
}

enum cli_exit report_table(struct report *r, const struct report_columns *columns,
                           struct cli_table **ret)
{
    static const struct cli_column first[] = { { "count", "Count", CLI_CELL_COUNT },
                                               { "bytes", "Bytes", CLI_CELL_BYTES },
                                               { "share", "Share", CLI_CELL_SHARE },
                                               { "retained_bytes",
                                                 "Retained >=", CLI_CELL_BYTES } };
    size_t n = 3 + r->args->view.retained, shown = 0;
    struct report_row rest = { .at = REPORT_REST,
                               .v = { .objects = r->h->objects, .bytes = r->h->bytes } },
                      *rows = report_rows(r, r->h);
    if (rows == NULL)
        return cli_no_memory(r->d.subject);
    memcpy(r->columns, first, n * sizeof *first);
    memcpy(r->columns + n, columns->items, columns->n * sizeof *first);
    *ret = cli_table_new(r->columns, n + columns->n);
    for (size_t i = 0; i < r->h->row_count; i++) {
        const struct gcd_histogram_row *v = &rows[i].v;
        if (v->bytes < r->args->view.min_bytes ||
            (r->args->view.top != 0 && shown == r->args->view.top))
            continue;
        shown++;
        rest.v.objects -= v->objects;
        rest.v.bytes -= v->bytes < rest.v.bytes ? v->bytes : rest.v.bytes; /* sums saturate */
        put_row(r, *ret, columns, &rows[i]);
    }
    put_sums(r, *ret, columns, &rest, shown);
    free(rows);
    return CLI_DONE;
}
