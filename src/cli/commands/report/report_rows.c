#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/report/report.h"
#include "input/input.h"

bool report_add_row(struct report_rows *rows, struct report_row row)
{
    if (rows->n == rows->room) {
        size_t room = rows->room > 0 ? 2 * rows->room : 64;
        struct report_row *items = room < SIZE_MAX / sizeof *items ? realloc(rows->items, room * sizeof *items) : NULL;
        if (items == NULL) {
            free(row.owned);
            return false;
        }
        rows->items = items;
        rows->room = room;
    }
    rows->items[rows->n++] = row;
    return true;
}

void report_rows_done(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        free(rows->items[i].owned);
    free(rows->items);
    *rows = (struct report_rows){ .items = NULL };
}

/* ---- order ---- */

static int descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Ties are broken until nothing is left to chance: the same dump gives the same report. */
static int first_of(int a, int b, int c, const struct report_row *x, const struct report_row *y)
{
    return a != 0 ? a : b != 0 ? b : c != 0 ? c : x->index < y->index ? -1 : x->index > y->index;
}

static int by_bytes(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->bytes, y->bytes), descending(x->count, y->count), strcmp(x->label, y->label), x, y);
}

static int by_count(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->count, y->count), descending(x->bytes, y->bytes), strcmp(x->label, y->label), x, y);
}

static int by_name(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(strcmp(x->label, y->label), descending(x->bytes, y->bytes), descending(x->count, y->count), x, y);
}

static int by_retained(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return first_of(descending(x->retained_bytes, y->retained_bytes), descending(x->bytes, y->bytes), strcmp(x->label, y->label), x, y);
}

void report_sort_rows(struct report_rows *rows, enum cli_sort sort)
{
    static int (*const orders[])(const void *, const void *) = {
        [CLI_SORT_BYTES] = by_bytes, [CLI_SORT_COUNT] = by_count, [CLI_SORT_NAME] = by_name, [CLI_SORT_RETAINED] = by_retained,
    };
    if (rows->n > 1)
        qsort(rows->items, rows->n, sizeof *rows->items, orders[sort]);
}

/* ---- the table ---- */

static void put_row(const struct report *r, struct cli_table *t, const struct report_columns *columns, const struct report_row *row)
{
    cli_table_count(t, row->count);
    cli_table_count(t, row->bytes);
    cli_table_share(t, row->bytes, cli_summary(&r->d)->bytes);
    if (r->args->view.retained && row->index != REPORT_REST)
        cli_table_count(t, row->retained_bytes);
    else if (r->args->view.retained)
        cli_table_none(t);               /* what sets of objects keep alive does not add up */
    columns->cells(columns->ctx, t, row);
}

static void put_sums(const struct report *r, struct cli_table *t, const struct report_columns *columns, const struct report_rows *rows, size_t shown)
{
    char text[100];
    struct report_row rest = { .label = text, .count = r->count, .bytes = r->bytes, .index = REPORT_REST };
    struct report_row total = { .label = text, .count = r->count, .bytes = r->bytes, .index = REPORT_TOTAL };
    for (size_t i = 0; i < shown; i++) {
        rest.count -= rows->items[i].count;
        rest.bytes -= rows->items[i].bytes < rest.bytes ? rows->items[i].bytes : rest.bytes;     /* sums saturate */
    }
    cli_table_sums(t);
    if (shown < rows->n) {
        (void)snprintf(text, sizeof text, "(%zu more %s)", rows->n - shown, columns->plural);
        put_row(r, t, columns, &rest);
    }
    if (r->filter == NULL)
        (void)snprintf(text, sizeof text, "total, %zu %s", rows->n, columns->plural);
    else
        (void)snprintf(text, sizeof text, "total, %zu %s; %u of %llu types", rows->n, columns->plural, r->matched,
                       (unsigned long long)cli_summary(&r->d)->types_used);
    if (r->dominators != NULL)
        total.retained_bytes = gcd_dominators_retained(r->dominators, GCD_NODE_ROOT);
    put_row(r, t, columns, &total);
}

struct cli_table *report_table(struct report *r, struct report_rows *rows, const struct report_columns *columns)
{
    static const struct cli_column first[] = { { "count", "Count", CLI_CELL_COUNT }, { "bytes", "Bytes", CLI_CELL_BYTES },
                                               { "share", "Share", CLI_CELL_SHARE }, { "retained_bytes", "Retained >=", CLI_CELL_BYTES } };
    size_t n = 3 + r->args->view.retained, shown = 0;
    memcpy(r->columns, first, n * sizeof *first);
    memcpy(r->columns + n, columns->items, columns->n * sizeof *first);
    struct cli_table *t = cli_table_new(r->columns, n + columns->n);
    report_sort_rows(rows, r->args->view.sort);
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->items[i].bytes < r->args->view.min_bytes || (r->args->view.top != 0 && shown == r->args->view.top))
            continue;
        struct report_row row = rows->items[i];
        rows->items[i] = rows->items[shown];         /* the shown ones move to the front */
        rows->items[shown++] = row;
        put_row(r, t, columns, &row);
    }
    put_sums(r, t, columns, rows, shown);
    return t;
}
