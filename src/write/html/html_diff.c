/*
 * The page of two dumps side by side: what has changed, and the newer dump as on the page of one
 * dump.
 */

#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/version.h>

#include "base/error.h"
#include "base/mem.h"
#include "write/html/html_compare.h"
#include "write/html/html_data.h"
#include "write/html/html_page.h"
#include "write/json_put.h"

/* Numbers of rows of types: those that have grown most, and those that have shrunk most. */
#define GROWN  ((size_t)4000)
#define SHRUNK ((size_t)1000)
#define STEPS  ((size_t)8000)
/* Maximum bytes of all names of one kind. */
#define NAMES_BYTES ((size_t)750000)
#define TEXT_BYTES  ((size_t)2000)

static const size_t limits[] = { 4000, 1000, 500, 250, 120, 60 };
#define SHORTEST (sizeof limits / sizeof *limits - 1)

static const struct html_rows type_rows = { .grown = GROWN, .shrunk = SHRUNK };

static uint64_t change(const struct gcd_diff_sum *sums)
{
    return sums[1].bytes > sums[0].bytes ? sums[1].bytes - sums[0].bytes
                                         : sums[0].bytes - sums[1].bytes;
}

static void put_sums(struct json_put *j, const struct gcd_diff_sum *sums, bool retained)
{
    for (int i = 0; i < 2; i++) {
        json_put_number(j, NULL, sums[i].objects);
        json_put_number(j, NULL, sums[i].bytes);
        if (retained)
            json_put_number(j, NULL, sums[i].retained_bytes);
    }
}

/* ---- also for several dumps ---- */

void html_put_dump(struct json_put *j, const struct gcd_page_dump *d, struct html_dump_limits most)
{
    struct gcd_verdict verdict = *d->verdict;
    json_put_open(j, NULL, '{');
    json_put_text(j, "name", d->name, most.text_bytes);
    json_put_text(j, "title", d->title, most.text_bytes);
    json_put_text(j, "program", d->program, most.text_bytes);
    json_put_number(j, "process", d->process);
    if (d->unix_ms != INT64_MIN)
        json_put_signed(j, "unix_ms", d->unix_ms);
    json_put_number(j, "objects", d->sum.objects);
    json_put_number(j, "bytes", d->sum.bytes);
    json_put_number(j, "retained", d->sum.retained_bytes);
    if (verdict.reason_count > most.reasons)
        verdict.reason_count = most.reasons;
    json_put_verdict(j, &verdict);
    json_put_close(j, '}');
}

bool html_row_is_shown(const struct html_rows *rows, size_t i, size_t n)
{
    return n <= rows->grown + rows->shrunk || i < rows->grown || i >= n - rows->shrunk;
}

size_t html_row_name_limit(const struct json_put *j, const struct gcd_diff *d,
                           const struct html_rows *rows)
{
    size_t n = gcd_diff_row_count(d);
    for (size_t k = 0; k < SHORTEST; k++) {
        size_t sum = 0;
        for (size_t i = 0; i < n && sum <= NAMES_BYTES; i++) {
            size_t bytes =
                html_row_is_shown(rows, i, n) ? json_put_measure(j, gcd_diff_row(d, i)->name) : 0;
            sum += bytes < limits[k] ? bytes : limits[k];
        }
        if (sum <= NAMES_BYTES)
            return limits[k];
    }
    return limits[SHORTEST];
}

/* ---- types ---- */

static void put_types(struct json_put *j, const struct gcd_diff_page *page)
{
    size_t n = gcd_diff_row_count(page->types),
           max = html_row_name_limit(j, page->types, &type_rows), others = 0;
    struct gcd_diff_sum rest[2] = { { .objects = 0 }, { .objects = 0 } };
    json_put_open(j, "rows", '[');
    for (size_t i = 0; i < n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(page->types, i);
        if (!html_row_is_shown(&type_rows, i, n)) {
            others++;
            for (int k = 0; k < 2; k++) {
                rest[k].objects += row->sums[k].objects;
                rest[k].bytes += row->sums[k].bytes;
            }
            continue;
        }
        json_put_open(j, NULL, '[');
        json_put_text(j, NULL, row->name, max);
        put_sums(j, row->sums, page->retained);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
    json_put_open(j, "other_rows", '[');
    json_put_number(j, NULL, others);
    put_sums(j, rest, false);
    json_put_close(j, ']');
}

/* ---- paths ---- */

/* The row after row I; skips the rows below it if I has changed by less than LEAST. */
static size_t next_row(const struct gcd_tree_diff_row *rows, size_t i, uint64_t least)
{
    return change(rows[i].sums) >= least ? i + 1 : rows[i].end;
}

/* The number of rows shown then, and the bytes of their names (at most MAX each). */
static size_t count_rows(const struct json_put *j, const struct gcd_tree_diff_row *rows, size_t n,
                         uint64_t least, size_t max, size_t *ret_bytes)
{
    size_t count = 0;
    *ret_bytes = 0;
    for (size_t i = 0; i < n; i = next_row(rows, i, least)) {
        if (change(rows[i].sums) < least)
            continue;
        size_t bytes = json_put_measure(j, rows[i].name);
        *ret_bytes += bytes < max ? bytes : max;
        count++;
    }
    return count;
}

/* Groups of roots get the names that they have in the newer dump. */
static const char *top_name(const char *name)
{
    for (unsigned i = 0; i < GCD_GROUPS; i++)
        if (strcmp(name, gcd_root_group_label((enum gcd_root_group)i)->one) == 0)
            return gcd_root_group_label((enum gcd_root_group)i)->many;
    return name;
}

/* The shown rows as a tree that can be folded. */
struct steps {
    const struct gcd_tree_diff_row *rows;
    size_t row_count;
    uint64_t least; /* minimum change of a row */
    size_t max;     /* maximum bytes of a name */
    struct step {
        uint32_t row;
        int64_t own;             /* change without that of the steps below */
    } * items;                   /* [room] */
    struct gcd_fold_node *nodes; /* [room] */
    size_t count, room;
};

static void add_step(struct steps *s, uint32_t row)
{
    const struct gcd_diff_sum *sums = s->rows[row].sums;
    uint64_t changed = sums[1].bytes - sums[0].bytes;
    uint32_t up = s->count > 0 ? (uint32_t)s->count - 1 : GCD_STEP_NONE;
    while (up != GCD_STEP_NONE && s->items[up].row != s->rows[row].parent)
        up = s->nodes[up].parent;
    if (up != GCD_STEP_NONE)
        s->items[up].own = (int64_t)((uint64_t)s->items[up].own - changed);
    s->items[s->count] = (struct step){ row, (int64_t)changed };
    s->nodes[s->count++] = (struct gcd_fold_node){ .parent = up, .facts = s->rows[row].facts };
}

/* Folds the tree.  A path continues as long as a row has changed by nearly the same as the only row
 * below it. */
static void fold_steps(struct steps *s)
{
    uint64_t most = 0;
    for (size_t i = 0; i < s->row_count; i = next_row(s->rows, i, s->least))
        if (change(s->rows[i].sums) >= s->least && s->count < s->room)
            add_step(s, (uint32_t)i);
    for (size_t i = 0; i < s->row_count; i = s->rows[i].end)
        most = change(s->rows[i].sums) > most ? change(s->rows[i].sums) : most;
    for (size_t i = 0; i < s->count; i++) {
        int64_t own = s->items[i].own;
        s->nodes[i].ends = (own < 0 ? 0 - (uint64_t)own : (uint64_t)own) > most / 100;
    }
    gcd_fold_tree(s->nodes, s->count);
}

/* One row per step: depth, name, fold, objects and bytes before and after.  Omitted rows are the
 * difference from the row above. */
static void put_steps(struct json_put *j, const struct steps *s)
{
    json_put_open(j, "steps", '[');
    for (size_t i = 0; i < s->count; i++) {
        const struct gcd_tree_diff_row *row = &s->rows[s->items[i].row];
        json_put_open(j, NULL, '[');
        json_put_number(j, NULL, row->depth);
        json_put_text(j, NULL, row->depth == 0 ? top_name(row->name) : row->name, s->max);
        json_put_number(j, NULL, s->nodes[i].fold);
        put_sums(j, row->sums, false);
        json_put_close(j, ']');
    }
    json_put_close(j, ']');
    json_put_number(j, "least_step", s->least);
}

/* The calls of steps that have another name than their type, and the fields that lead to steps, by
 * the number of the step. */
static void put_calls(struct json_put *j, const struct steps *s)
{
    char buf[GCD_ASYNC_STEP_BYTES];
    json_put_open(j, "calls", '[');
    for (size_t i = 0; i < s->count; i++) {
        const char *call = gcd_async_step_name(s->rows[s->items[i].row].name, false, false, buf);
        if (call == buf)
            html_put_call(j, i, call, s->max);
    }
    json_put_close(j, ']');
    json_put_open(j, "fields", '[');
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[s->items[i].row].field != NULL)
            html_put_call(j, i, s->rows[s->items[i].row].field, s->max);
    json_put_close(j, ']');
}

static gcd_status put_paths(struct json_put *j, const struct gcd_diff_page *page,
                            struct gcd_error *err)
{
    struct gcd_alloc alloc =
        gcd_alloc_or_default(page->options != NULL ? page->options->context.alloc : NULL);
    struct steps s = { .least = 1 };
    size_t bytes, k = 0;
    if (page->paths != NULL)
        s.rows = gcd_tree_diff_rows(page->paths, &s.row_count);
    while ((s.room = count_rows(j, s.rows, s.row_count, s.least, limits[0], &bytes)) > STEPS &&
           s.least <= UINT64_MAX / 2)
        s.least *= 2;
    while (k < SHORTEST && bytes > NAMES_BYTES)
        (void)count_rows(j, s.rows, s.row_count, s.least, limits[++k], &bytes);
    s.max = limits[k];
    s.items = gcd_mem_new_array(&alloc, s.room, sizeof *s.items);
    s.nodes = gcd_mem_new_array(&alloc, s.room, sizeof *s.nodes);
    bool ok = s.items != NULL && s.nodes != NULL;
    if (ok) {
        fold_steps(&s);
        put_steps(j, &s);
        put_calls(j, &s);
    }
    gcd_mem_free(&alloc, s.items, s.room * sizeof *s.items);
    gcd_mem_free(&alloc, s.nodes, s.room * sizeof *s.nodes);
    return ok ? GCD_OK : gcd_fail_nomem(err, "folding the paths of two dumps");
}

static gcd_status put_all(struct json_put *j, const struct gcd_diff_page *page,
                          const struct html_data *newer, struct gcd_error *err)
{
    size_t others;
    json_put_open(j, NULL, '{');
    json_put_text(j, "kind", "diff", TEXT_BYTES);
    json_put_text(j, "gcdumpc", GCDUMPC_VERSION, TEXT_BYTES);
    json_put_bool(j, "retained", page->retained);
    json_put_bool(j, "has_steps", page->paths != NULL);
    json_put_open(j, "sides", '[');
    for (int i = 0; i < 2; i++)
        html_put_dump(j, &page->sides[i],
                      (struct html_dump_limits){ TEXT_BYTES, GCD_REASON_COUNT });
    json_put_close(j, ']');
    put_types(j, page);
    GCD_TRY(put_paths(j, page, err));
    if (newer != NULL && newer->said.sentence != NULL) {
        json_put_open(j, "said", '[');
        json_put_text(j, NULL, newer->said.sentence, TEXT_BYTES);
        for (int i = 0; i < 2 && newer->said.advice != NULL; i++)
            json_put_text(j, NULL, i == 0 ? newer->said.advice : newer->said.evidence, TEXT_BYTES);
        json_put_close(j, ']');
    }
    if (newer != NULL)
        GCD_TRY(html_json_put(newer, j, "newer", &others, err));
    json_put_close(j, '}');
    return GCD_OK;
}

/* NEWER may be NULL. */
static gcd_status put_page(const struct gcd_diff_page *page, const struct html_data *newer,
                           struct gcd_sink *s, struct gcd_error *err)
{
    struct json_put j = { .s = s, .html = true };
    GCD_TRY(html_part_write(html_page_head, html_page_head_bytes, NULL, s, err));
    html_plain_write_sides(page, newer, s);
    GCD_TRY(html_part_write(html_page_middle, html_page_middle_bytes, NULL, s, err));
    GCD_TRY(put_all(&j, page, newer, err));
    GCD_TRY(html_part_write(html_page_tail, html_page_tail_bytes, NULL, s, err));
    return gcd_sink_status(s, err);
}

gcd_status gcd_write_diff_page(const struct gcd_diff_page *page, struct gcd_sink *s,
                               struct gcd_error *err)
{
    const struct html_role part = { .part = true, .start = "map", .session = page->newer };
    struct html_data newer;
    if (gcd_diff_dumps(page->types) != 2)
        return gcd_fail(err, GCD_E_ARG, "a page compares two dumps, not %zu",
                        gcd_diff_dumps(page->types));
    if (page->newer == NULL)
        return put_page(page, NULL, s, err);
    struct gcd_write_options options = html_options_of(page->newer, page->options);
    gcd_status st = html_data_make(&newer, gcd_session_graph(page->newer), &options, &part, err);
    if (st == GCD_OK && page->grown != NULL)
        st = page->grown(page->grown_ctx, newer.suspects, &newer.grown, &newer.grown_count,
                         &newer.said, err);
    if (st == GCD_OK)
        st = put_page(page, &newer, s, err);
    html_data_done(&newer);
    return st;
}
