#include <gcdumpc/diff.h>
#include <gcdumpc/unstable/compare/trend.h>

#include <string.h>

#include "analyze/compare/growth.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"

#define TEXT_BYTES_MAX (UINT64_C(4) << 30)
#define TYPES_MAX      UINT32_MAX /* of all dumps together, because they are sorted by number */

/* A type of one dump. */
struct entry {
    const char *name, *module; /* in the pool */
    struct gcd_diff_sum sum;
    size_t dump;
};

struct gcd_diff {
    struct gcd_alloc alloc;
    struct gcd_textpool text;
    struct entry *entries; /* freed once the rows exist */
    size_t entry_count, entry_room;
    size_t dumps;
    struct gcd_diff_row *rows;
    struct gcd_diff_sum *sums; /* [dumps] per row */
    size_t row_count, row_room, sum_room;
    /* [row_count] of the rows; set last, when everything else exists */
    uint32_t *order;
    bool matched;
};

static const char doing[] = "comparing the types of dumps";

static gcd_status text_error(gcd_status st, struct gcd_error *err)
{
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "the names of types take more than 4 GiB");
    return st == GCD_OK ? st : gcd_fail_nomem(err, doing);
}

gcd_status gcd_diff_new(const struct gcd_alloc *alloc, struct gcd_diff **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_diff *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, doing);
    d->alloc = a;
    gcd_textpool_init(&d->text, &d->alloc, TEXT_BYTES_MAX);
    *ret = d;
    return GCD_OK;
}

static void free_entries(struct gcd_diff *d)
{
    gcd_mem_free(&d->alloc, d->entries, d->entry_room * sizeof *d->entries);
    d->entries = NULL;
    d->entry_count = d->entry_room = 0;
}

void gcd_diff_free(struct gcd_diff *d)
{
    if (d == NULL)
        return;
    struct gcd_alloc a = d->alloc;
    free_entries(d);
    gcd_mem_free(&a, d->order, d->row_count * sizeof *d->order);
    gcd_mem_free(&a, d->rows, d->row_room * sizeof *d->rows);
    gcd_mem_free(&a, d->sums, d->sum_room * sizeof *d->sums);
    gcd_textpool_done(&d->text);
    gcd_mem_free(&a, d, sizeof *d);
}

/* ---- adding ---- */

static gcd_status add(struct gcd_diff *d, const struct gcd_diff_type *t, const char **last_module,
                      struct gcd_error *err)
{
    struct entry e = { .sum = t->sum, .dump = d->dumps };
    size_t n;
    /* the same program can be installed elsewhere */
    const char *module = gcd_module_name(t->module_path, &n);
    GCD_TRY(text_error(gcd_textpool_add(&d->text, t->name, strlen(t->name), &e.name), err));
    /* consecutive types often have the same module */
    if (*last_module == NULL || strncmp(*last_module, module, n) != 0 || (*last_module)[n] != '\0')
        GCD_TRY(text_error(gcd_textpool_add(&d->text, module, n, last_module), err));
    e.module = *last_module;
    if (!gcd_vec_reserve(&d->alloc, &d->entries, &d->entry_room, d->entry_count + 1,
                         sizeof *d->entries, TYPES_MAX))
        return d->entry_count == TYPES_MAX
                   ? gcd_fail(err, GCD_E_LIMIT, "the dumps have more than 2^32 types")
                   : gcd_fail_nomem(err, doing);
    d->entries[d->entry_count++] = e;
    return GCD_OK;
}

gcd_status gcd_diff_add(struct gcd_diff *d, const struct gcd_diff_type *types, size_t count,
                        struct gcd_error *err)
{
    const char *last_module = NULL;
    size_t before = d->entry_count;
    gcd_status st = GCD_OK;
    if (d->matched)
        return gcd_fail(err, GCD_E_STATE, "the dumps are matched already");
    for (size_t i = 0; i < count && st == GCD_OK; i++)
        if (types[i].sum.objects > 0)
            st = add(d, &types[i], &last_module, err);
    if (st == GCD_OK)
        d->dumps++;
    else
        d->entry_count = before;
    return st;
}

/* ---- matching ---- */

static int compare_entries(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_diff *d = ctx;
    int c = strcmp(d->entries[a].name, d->entries[b].name);
    return c != 0 ? c : strcmp(d->entries[a].module, d->entries[b].module);
}

/* The module that all entries of one name share; "" = none. */
static const char *common_module(const struct gcd_diff *d, const uint32_t *items, size_t n)
{
    const char *first = d->entries[items[0]].module;
    return strcmp(first, d->entries[items[n - 1]].module) == 0 ? first : "";
}

/* Adds one row for the entries ITEMS[0 .. N) of one name.  TELL: with its module. */
static gcd_status add_row(struct gcd_diff *d, const uint32_t *items, size_t n, bool tell,
                          struct gcd_error *err)
{
    struct gcd_diff_row row = { .name = d->entries[items[0]].name,
                                .module = common_module(d, items, n) };
    size_t need = (d->row_count + 1) * d->dumps;
    if (!gcd_vec_reserve(&d->alloc, &d->rows, &d->row_room, d->row_count + 1, sizeof *d->rows,
                         TYPES_MAX) ||
        !gcd_vec_reserve(&d->alloc, &d->sums, &d->sum_room, need, sizeof *d->sums,
                         SIZE_MAX / sizeof *d->sums))
        return gcd_fail_nomem(err, doing);
    if (tell) {
        size_t name_n = strlen(row.name), module_n = strlen(row.module),
               room = name_n + module_n + 4;
        char *both = gcd_mem_new(&d->alloc, room);
        if (both == NULL)
            return gcd_fail_nomem(err, doing);
        memcpy(both, row.name, name_n);
        memcpy(both + name_n, " [", 2);
        memcpy(both + name_n + 2, row.module, module_n);
        both[room - 2] = ']';
        gcd_status st = gcd_textpool_add(&d->text, both, room - 1, &row.name);
        gcd_mem_free(&d->alloc, both, room);
        GCD_TRY(text_error(st, err));
    }
    struct gcd_diff_sum *sums = d->sums + d->row_count * d->dumps;
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &d->entries[items[i]];
        gcd_add_saturating(&sums[e->dump].objects, e->sum.objects);
        gcd_add_saturating(&sums[e->dump].bytes, e->sum.bytes);
        gcd_add_saturating(&sums[e->dump].retained_bytes, e->sum.retained_bytes);
    }
    d->rows[d->row_count++] = row;
    return GCD_OK;
}

/* Does one dump have this name in two modules, and are the modules of all entries known?  LAST:
 * [dumps], scratch. */
static bool split_by_module(const struct gcd_diff *d, const uint32_t *items, size_t n,
                            const char **last)
{
    bool collide = false;
    if (d->entries[items[0]].module[0] == '\0') /* "" sorts first */
        return false;
    for (size_t i = 0; i < n; i++)
        last[d->entries[items[i]].dump] = NULL;
    for (size_t i = 0; i < n && !collide; i++) {
        const struct entry *e = &d->entries[items[i]];
        collide = last[e->dump] != NULL && strcmp(last[e->dump], e->module) != 0;
        last[e->dump] = e->module;
    }
    return collide;
}

static gcd_status make_rows(struct gcd_diff *d, const uint32_t *items, const char **last,
                            struct gcd_error *err)
{
    for (size_t i = 0, end; i < d->entry_count; i = end) {
        for (end = i + 1; end < d->entry_count &&
                          strcmp(d->entries[items[i]].name, d->entries[items[end]].name) == 0;)
            end++;
        bool split = split_by_module(d, items + i, end - i, last);
        for (size_t j = i, stop; j < end; j = stop) {
            for (stop = j + 1;
                 stop < end && (!split || compare_entries(d, items[j], items[stop]) == 0);)
                stop++;
            GCD_TRY(add_row(d, items + j, stop - j, split, err));
        }
    }
    for (size_t i = 0; i < d->row_count; i++) /* SUMS does not move any more */
        d->rows[i].sums = d->sums + i * d->dumps;
    return GCD_OK;
}

static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_diff *d = ctx;
    const struct gcd_diff_row *a = &d->rows[x], *b = &d->rows[y];
    int c = growth_compare_sums(a->sums, b->sums, d->dumps - 1);
    return c != 0 ? c : strcmp(a->name, b->name);
}

gcd_status gcd_diff_match(struct gcd_diff *d, struct gcd_error *err)
{
    if (d->matched)
        return gcd_fail(err, GCD_E_STATE, "the dumps are matched already");
    d->matched = true;
    size_t n = d->entry_count;
    uint32_t *items = gcd_sort_order(&d->alloc, n, compare_entries, d);
    const char **last = gcd_mem_new_array(&d->alloc, d->dumps, sizeof *last);
    gcd_status st =
        items != NULL && last != NULL ? make_rows(d, items, last, err) : gcd_fail_nomem(err, doing);
    gcd_mem_free(&d->alloc, items, n * sizeof *items);
    gcd_mem_free(&d->alloc, last, d->dumps * sizeof *last);
    free_entries(d);
    if (st != GCD_OK)
        return st;
    d->order = gcd_sort_order(&d->alloc, d->row_count, compare_rows, d);
    return d->order != NULL ? GCD_OK : gcd_fail_nomem(err, doing);
}

size_t gcd_diff_dumps(const struct gcd_diff *d)
{
    return d->dumps;
}

size_t gcd_diff_row_count(const struct gcd_diff *d)
{
    return d->order != NULL ? d->row_count : 0;
}

const struct gcd_diff_row *gcd_diff_row(const struct gcd_diff *d, size_t i)
{
    return &d->rows[d->order[i]];
}

/* ---- trends ---- */

enum gcd_trend gcd_trend_of(const uint64_t *values, size_t n)
{
    bool up = false, down = false;
    for (size_t i = 1; i < n; i++) {
        up = up || values[i] > values[i - 1];
        down = down || values[i] < values[i - 1];
    }
    return up && down ? GCD_TREND_VARIES
           : up       ? GCD_TREND_GROWS
           : down     ? GCD_TREND_SHRINKS
                      : GCD_TREND_STEADY;
}

bool gcd_trend_slope(const int64_t *unix_ms, const uint64_t *values, size_t n, double *ret_per_hour)
{
    double t_mean = 0, v_mean = 0, known = 0, tt = 0, tv = 0;
    for (size_t i = 0; i < n; i++)
        if (unix_ms[i] != INT64_MIN) {
            known++;
            t_mean += (double)unix_ms[i];
            v_mean += (double)values[i];
        }
    if (known < 2)
        return false;
    t_mean /= known;
    v_mean /= known;
    for (size_t i = 0; i < n; i++)
        if (unix_ms[i] != INT64_MIN) {
            double t = (double)unix_ms[i] - t_mean;
            tt += t * t;
            tv += t * ((double)values[i] - v_mean);
        }
    if (tt < 0.25) /* times are whole milliseconds: a smaller value is rounding */
        return false;
    *ret_per_hour = tv / tt * 3600000;
    return true;
}
