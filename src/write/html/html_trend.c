/*
 * The page of several dumps over time: the dumps, and a row of numbers for each type.
 */
#include <gcdumpc/version.h>
#include <gcdumpc/unstable/compare/trend.h>

#include "base/error.h"
#include "write/html/html_compare.h"
#include "write/html/html_page.h"
#include "write/json_put.h"

/* Maximum number of dumps of a page, and of numbers in all its rows. */
#define DUMPS   ((size_t)1000)
#define NUMBERS ((size_t)120000)
/* Numbers of rows: those that have grown most, and those that have shrunk most. */
#define ROWS         ((size_t)5000)
#define TEXT_BYTES   ((size_t)2000)
#define MODULE_BYTES ((size_t)120)
/* Maximum bytes of the texts of one kind about all dumps. */
#define TEXTS_BYTES ((size_t)200000)
#define REASONS     ((size_t)2000)
#define SITES       ((size_t)100)

enum { BYTES, OBJECTS, RETAINED, QUANTITIES };

struct trend {
    const struct gcd_trend_page *page;
    struct html_rows rows;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int quantities(const struct gcd_trend_page *page)
{
    return page->retained ? QUANTITIES : RETAINED;
}

static uint64_t value_of(const struct gcd_diff_sum *s, int quantity)
{
    return quantity == BYTES ? s->bytes : quantity == OBJECTS ? s->objects : s->retained_bytes;
}

/* X rounded, clamped to the integers that every JSON reader supports. */
static int64_t whole(double x)
{
    return x >= 9e15    ? INT64_C(9000000000000000)
           : x <= -9e15 ? -INT64_C(9000000000000000)
                        : (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

static bool is_known(const struct gcd_page_dump *d, const struct gcd_diff_sum *sum)
{
    return sum->objects > 0 || !d->partial;
}

/*
 * The trend (enum gcd_trend, -1 = unknown) and the growth per hour (null if the times are unknown),
 * both from known values; then all values (null if unknown).
 */
static void put_quantity(const struct trend *t, struct json_put *j, const struct gcd_diff_sum *sums,
                         int quantity)
{
    uint64_t values[DUMPS];
    int64_t unix_ms[DUMPS];
    size_t n = 0;
    double slope;
    for (size_t i = 0; i < t->page->dump_count; i++)
        if (is_known(&t->page->dumps[i], &sums[i])) {
            unix_ms[n] = t->page->dumps[i].unix_ms;
            values[n++] = value_of(&sums[i], quantity);
        }
    json_put_open(j, NULL, '[');
    json_put_signed(j, NULL,
                    n < 2 && t->page->dump_count > 1 ? -1 : (int64_t)gcd_trend_of(values, n));
    if (gcd_trend_slope(unix_ms, values, n, &slope))
        json_put_signed(j, NULL, whole(slope));
    else
        json_put_null(j);
    for (size_t i = 0; i < t->page->dump_count; i++)
        if (is_known(&t->page->dumps[i], &sums[i]))
            json_put_number(j, NULL, value_of(&sums[i], quantity));
        else
            json_put_null(j);
    json_put_close(j, ']');
}

static void put_rows(const struct trend *t, struct json_put *j)
{
    size_t n = gcd_diff_row_count(t->page->types),
           max = html_row_name_limit(j, t->page->types, &t->rows), others = 0;
    json_put_open(j, "rows", '[');
    for (size_t i = 0; i < n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(t->page->types, i);
        if (!html_row_is_shown(&t->rows, i, n)) {
            others++;
            continue;
        }
        json_put_open(j, NULL, '[');
        json_put_text(j, NULL, row->name, max);
        json_put_text(j, NULL, row->module, MODULE_BYTES);
        for (int q = 0; q < quantities(t->page); q++)
            put_quantity(t, j, row->sums, q);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
    json_put_number(j, "other_rows", others);
}

static void put_sites(const struct gcd_trend_page *page, struct json_put *j)
{
    json_put_open(j, "sites", '[');
    for (size_t i = 0; i < smaller(page->site_count, SITES); i++) {
        const struct gcd_page_site *s = &page->sites[i];
        json_put_open(j, NULL, '[');
        json_put_text(j, NULL, s->type, TEXT_BYTES);
        json_put_text(j, NULL, s->method, TEXT_BYTES);
        json_put_text(j, NULL, s->file, TEXT_BYTES);
        json_put_number(j, NULL, s->line);
        json_put_number(j, NULL, s->before);
        json_put_number(j, NULL, s->after);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
}

static void put_all(const struct trend *t, struct json_put *j)
{
    const struct gcd_trend_page *page = t->page;
    struct html_dump_limits limits = { smaller(TEXT_BYTES, TEXTS_BYTES / page->dump_count),
                                       REASONS / page->dump_count };
    json_put_open(j, NULL, '{');
    json_put_text(j, "kind", "trend", TEXT_BYTES);
    json_put_text(j, "gcdumpc", GCDUMPC_VERSION, TEXT_BYTES);
    json_put_bool(j, "retained", page->retained);
    json_put_open(j, "dumps", '[');
    for (size_t i = 0; i < page->dump_count; i++)
        html_put_dump(j, &page->dumps[i], limits);
    json_put_close(j, ']');
    put_rows(t, j);
    if (page->sites != NULL)
        put_sites(page, j);
    json_put_close(j, '}');
}

static gcd_status put_page(const struct trend *t, struct gcd_sink *s, struct gcd_error *err)
{
    struct json_put j = { .s = s, .html = true };
    GCD_TRY(html_part_write(html_page_head, html_page_head_bytes, NULL, s, err));
    html_plain_write_dumps(t->page, s);
    GCD_TRY(html_part_write(html_page_middle, html_page_middle_bytes, NULL, s, err));
    put_all(t, &j);
    GCD_TRY(html_part_write(html_page_tail, html_page_tail_bytes, NULL, s, err));
    return gcd_sink_status(s, err);
}

gcd_status gcd_write_trend_page(const struct gcd_trend_page *page, struct gcd_sink *s,
                                struct gcd_error *err)
{
    size_t n = page->dump_count;
    struct trend t = { .page = page };
    if (n == 0 || gcd_diff_dumps(page->types) != n)
        return gcd_fail(err, GCD_E_ARG, "a page of %zu dumps needs types of as many, not %zu", n,
                        gcd_diff_dumps(page->types));
    if (n > DUMPS)
        return gcd_fail(err, GCD_E_LIMIT, "a page shows at most %zu dumps, not %zu", DUMPS, n);
    size_t rows = smaller(ROWS, NUMBERS / (n * (size_t)quantities(page)));
    t.rows = (struct html_rows){ .grown = rows - rows / 5, .shrunk = rows / 5 };
    return put_page(&t, s, err);
}
