#include "answer/answer_alike.h"
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/compare/trend.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"

/* Objects and bytes of a type or a path in two dumps.  People see the newer value and the growth.
 */
#define CHANGE_COLUMNS                                                                   \
    FIELD("count_before", ANSWER_COUNT), COLUMN("count_after", "Count", ANSWER_COUNT),   \
        COLUMN("count_delta", "+/-", ANSWER_DELTA), FIELD("bytes_before", ANSWER_BYTES), \
        COLUMN("bytes_after", "Bytes", ANSWER_BYTES),                                    \
        COLUMN("bytes_delta", "+/-", ANSWER_BYTES_DELTA),                                \
        COLUMN("growth", "Growth", ANSWER_GROWTH)

static const struct answer_column diff_columns[] = {
    CHANGE_COLUMNS,
    FIELD("retained_before", ANSWER_BYTES),
    COLUMN("retained_after", "Retained >=", ANSWER_BYTES),
    COLUMN("retained_delta", "+/-", ANSWER_BYTES_DELTA),
    COLUMN("change", "", ANSWER_TEXT),
    ANSWER_TYPE("Type"),
    FIELD("module", ANSWER_TEXT),
};
static const struct answer_column path_columns[] = {
    CHANGE_COLUMNS,
    COLUMN("change", "", ANSWER_TEXT),
    FIELD("depth", ANSWER_COUNT),
    COLUMN("name", "Path", ANSWER_TREE),
    FIELD("field", ANSWER_TEXT),
    FIELD("fold", ANSWER_TEXT),
};
const struct answer_shape answer_diff_shape = ANSWER_SHAPE(diff_columns),
                          answer_changed_paths_shape = ANSWER_SHAPE(path_columns);

void answer_change(struct answer *a, const struct gcd_diff_sum sums[2], bool is_sum)
{
    answer_count(a, "count_before", sums[0].objects);
    answer_count(a, "count_after", sums[1].objects);
    answer_delta(a, "count_delta", sums[0].objects, sums[1].objects);
    answer_count(a, "bytes_before", sums[0].bytes);
    answer_count(a, "bytes_after", sums[1].bytes);
    answer_delta(a, "bytes_delta", sums[0].bytes, sums[1].bytes);
    answer_growth(a, "growth", sums[0].bytes, sums[1].bytes);
    if (!is_sum && (sums[0].objects == 0) != (sums[1].objects == 0))
        answer_text(a, "change", sums[1].objects == 0 ? "gone" : "new");
}

/* ---- which rows ---- */

static bool has_changed(const struct answer_compared *from, const struct gcd_diff_sum *sums)
{
    for (size_t i = 1; i < from->side_count; i++)
        if (memcmp(&sums[i], &sums[0], sizeof *sums) != 0)
            return true;
    return false;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* By at least MIN_BYTES? */
static bool has_grown(const struct answer_compared *from, const struct gcd_diff_sum *sums)
{
    const struct gcd_diff_sum *first = &sums[0], *last = &sums[from->side_count - 1];
    return has_changed(from, sums) &&
           (difference(first->bytes, last->bytes) >= from->page.min_bytes ||
            difference(first->retained_bytes, last->retained_bytes) >= from->page.min_bytes);
}

/* Is the row with SUMS, the next one that has grown, on the page? */
static bool is_shown(struct answer *a, const struct answer_compared *from,
                     const struct gcd_diff_sum *sums)
{
    const struct answer_page *page = &from->page;
    if (!has_grown(from, sums))
        return false;
    uint64_t number = a->total++;
    return number >= page->first && (page->most == 0 || number - page->first < page->most);
}

/* ---- two dumps ---- */

static void put_retained(struct answer *a, const struct gcd_diff_sum sums[2])
{
    answer_count(a, "retained_before", sums[0].retained_bytes);
    answer_count(a, "retained_after", sums[1].retained_bytes);
    answer_delta(a, "retained_delta", sums[0].retained_bytes, sums[1].retained_bytes);
}

/* Sums of rows that are not shown, without retained sizes, which overlap. */
struct rest {
    struct gcd_diff_sum sums[2];
    size_t types;
};

static void add_rest(struct rest *to, const struct gcd_diff_sum sums[2], size_t types)
{
    to->types += types;
    for (int i = 0; i < 2; i++) {
        to->sums[i].objects += sums[i].objects;
        to->sums[i].bytes += sums[i].bytes;
    }
}

static void put_rest(struct answer *a, const struct rest *r, const char *what)
{
    if (r->types == 0)
        return;
    answer_row(a);
    answer_change(a, r->sums, true);
    answer_types_note(a, "(%s %s)", GCD_DIGITS(r->types), what);
}

/* Is the state machine NAME that of an asynchronous method?  Then it has a box, where nothing of
 * the box alone is in either dump. */
static bool is_in_box(const struct gcd_diff *d, const char *name)
{
    for (size_t i = 0; i < gcd_diff_row_count(d); i++) {
        const char *machine;
        size_t n;
        if (gcd_async_machine(gcd_diff_row(d, i)->name, &machine, &n) && strlen(name) == n &&
            memcmp(machine, name, n) == 0)
            return true;
    }
    return false;
}

/* What people call the type NAME, as gcd_names_step does. */
static const char *shown_name(const struct answer_compared *from, const char *name,
                              char buf[GCD_ASYNC_STEP_BYTES])
{
    if (!from->people || from->raw_names)
        return name;
    bool async = gcd_made_of(name) == GCD_MADE_OF_STATE && is_in_box(from->diff, name);
    return gcd_async_step_name(name, true, async, buf);
}

/* The name of ROW, for people with its parts: "Dictionary<K, V> with its Entry[]". */
static void put_type(struct answer *a, const struct answer_compared *from,
                     const struct gcd_diff_row *row, const struct answer_group *g)
{
    char step[GCD_ASYNC_STEP_BYTES];
    const char *shown = shown_name(from, row->name, step);
    size_t n = strlen(row->name);
    answer_text(a, "type", row->name);
    if (g == NULL || g->parts == 0) {
        answer_text(a, "shown", shown);
        return;
    }
    const char *part = gcd_diff_row(from->diff, g->part)->name;
    bool nested = strncmp(part, row->name, n) == 0 && part[n] == '.';
    if (g->parts > 1)
        answer_format(a, "shown", "%s with %s types inside", shown, GCD_DIGITS(g->parts));
    else
        answer_format(a, "shown", "%s with its %s", shown, nested ? part + n + 1 : "array");
}

/* One row; ALIKE: with its parts, NULL = each type has a row. */
static void put_change(struct answer *a, const struct answer_compared *from, uint32_t i,
                       const struct answer_alike *alike, struct rest rests[2])
{
    const struct gcd_diff_row *row = gcd_diff_row(from->diff, i);
    const struct answer_group *g = alike != NULL ? &alike->groups[i] : NULL;
    struct gcd_diff_sum sums[2] = { row->sums[0], row->sums[1] };
    if (g != NULL)
        answer_alike_sums(alike, from->diff, i, sums);
    if (!is_shown(a, from, sums)) {
        add_rest(&rests[has_changed(from, sums) ? 0 : 1], sums, g != NULL ? 1 + g->parts : 1);
        return;
    }
    answer_row(a);
    answer_change(a, sums, false);
    if (from->retained)
        put_retained(a, row->sums);
    put_type(a, from, row, g);
    answer_known(a, "module", row->module);
}

/* People see what grows together in one row, where the order is by bytes. */
static bool folds(const struct answer_compared *from)
{
    return from->people && !from->filtered && !from->retained && from->sort == ANSWER_BY_BYTES;
}

gcd_status answer_diff(const struct answer_compared *from, struct answer **ret,
                       struct gcd_error *err)
{
    struct rest rests[2] = { { .types = 0 } };
    struct answer_alike alike = { .n = 0 };
    size_t n = gcd_diff_row_count(from->diff);
    struct answer *a = *ret = answer_new(NULL, &answer_diff_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "comparing types");
    if (!from->retained) {
        answer_hide(a, "retained_before");
        answer_hide(a, "retained_after");
        answer_hide(a, "retained_delta");
    }
    gcd_status st =
        folds(from) ? answer_alike_find(from->diff, from->observed, &alike, err) : GCD_OK;
    a->first = from->page.first;
    for (size_t i = 0; i < (folds(from) ? alike.count : n) && st == GCD_OK; i++)
        put_change(a, from, folds(from) ? alike.order[i] : from->order[i],
                   folds(from) ? &alike : NULL, rests);
    answer_alike_done(&alike);
    struct gcd_diff_sum total[2] = { from->sides[0].sum, from->sides[1].sum };
    answer_begin_sums(a);
    put_rest(a, &rests[0], gcd_by_number(rests[0].types, "more type", "more types"));
    put_rest(a, &rests[1], "unchanged");
    answer_row(a);
    answer_change(a, total, true);
    if (from->retained && !from->filtered)
        put_retained(a, total);
    answer_types_note(a, "total, %s type%s", GCD_DIGITS(n), gcd_plural(n));
    return st;
}

/* ---- many dumps ---- */

/* The quantities.  Programs get all; people get bytes, or counts with --sort count, and with
 * --retained also retained sizes. */
enum { COUNT, BYTES, RETAINED, METRICS };
static const char *const metric_keys[METRICS] = { "count", "bytes", "retained" },
                         *const metric_titles[METRICS] = { "Count", "Bytes", "Retained" };

/* Values of one quantity of one row. */
struct course {
    uint64_t *values;       /* [sides] */
    int64_t *known_ms;      /* [sides] time of the dump; INT64_MIN where the row is not known */
    uint64_t *known_values; /* [sides] the known values, packed */
    size_t side_count;
    struct gcd_diff_sum *rest, *total; /* [sides] */
    size_t bytes;                      /* of all arrays together, which begin at REST */
};

static int metrics_of(const struct answer_compared *from)
{
    return from->retained ? METRICS : RETAINED;
}

static bool has_hours(const struct answer_compared *from)
{
    int64_t first = from->sides[0].unix_ms;
    for (size_t i = 1; i < from->side_count; i++)
        if (first != INT64_MIN && from->sides[i].unix_ms != INT64_MIN &&
            from->sides[i].unix_ms != first)
            return true;
    return false;
}

static void add_column(struct answer *a, size_t *n, const char *key, const char *title,
                       enum answer_kind kind)
{
    a->own_columns[(*n)++] = (struct answer_column)COLUMN(key, title, kind);
}

/* The columns of METRIC: "bytes_1", "Bytes 1", and so on, then the change, per hour, and the trend.
 * Each title names its quantity, because two quantities can be side by side. */
static void add_metric(struct answer *a, const struct answer_compared *from, int metric, size_t *n)
{
    const char *key = metric_keys[metric], *title = metric_titles[metric];
    bool shown = metric == RETAINED || (metric == COUNT) == (from->sort == ANSWER_BY_COUNT);
    enum answer_kind kind = metric == COUNT ? ANSWER_COUNT : ANSWER_BYTES,
                     delta = metric == COUNT ? ANSWER_DELTA : ANSWER_BYTES_DELTA;
    for (size_t i = 1; i <= from->side_count; i++)
        add_column(a, n, answer_keep(a, "%s_%zu", key, i),
                   shown ? answer_keep(a, "%s %zu", title, i) : NULL, kind);
    add_column(a, n, answer_keep(a, "%s_delta", key),
               shown ? answer_keep(a, "%s +/-", title) : NULL, delta);
    add_column(a, n, answer_keep(a, "%s_per_hour", key),
               shown && has_hours(from) ? answer_keep(a, "%s/hour", title) : NULL, delta);
    add_column(a, n, answer_keep(a, "%s_trend", key),
               shown ? answer_keep(a, "%s trend", title) : NULL, ANSWER_TEXT);
}

static uint64_t value_of(const struct gcd_diff_sum *s, int metric)
{
    return metric == COUNT ? s->objects : metric == BYTES ? s->bytes : s->retained_bytes;
}

/* A type that a summary does not list may exist in its dump. */
static bool is_known(const struct answer_side *side, const struct gcd_diff_sum *sum)
{
    return sum->objects > 0 || !side->partial;
}

/* X rounded, clamped to the largest integer that our JSON has. */
static uint64_t whole(double x)
{
    return x < 9e18 ? (uint64_t)(x + 0.5) : (uint64_t)INT64_MAX;
}

/* Fills the cells of METRIC, whose columns begin at AT. */
static void put_metric(struct answer *a, const struct answer_compared *from, struct course *c,
                       const struct gcd_diff_sum *sums, int metric)
{
    static const char *const names[] = { "steady", "grows", "shrinks", "varies" };
    const struct answer_column *column = &a->shape.columns[(size_t)metric * (from->side_count + 3)];
    size_t n = from->side_count, known = 0;
    double slope;
    for (size_t i = 0; i < n; i++, column++) {
        bool is = is_known(&from->sides[i], &sums[i]);
        c->values[i] = value_of(&sums[i], metric);
        c->known_ms[i] = is ? from->sides[i].unix_ms : INT64_MIN;
        if (!is)
            continue;
        c->known_values[known++] = c->values[i];
        answer_count(a, column->key, c->values[i]);
    }
    if (is_known(&from->sides[0], &sums[0]) && is_known(&from->sides[n - 1], &sums[n - 1]))
        answer_delta(a, column->key, c->values[0], c->values[n - 1]);
    column++;
    /* over the dumps in which the row is known */
    if (gcd_trend_slope(c->known_ms, c->values, n, &slope))
        answer_delta(a, column->key, slope < 0 ? whole(-slope) : 0, slope < 0 ? 0 : whole(slope));
    column++;
    if (known > 1)
        answer_text(a, column->key, names[gcd_trend_of(c->known_values, known)]);
}

/* The first METRICS quantities of a row. */
static void put_course(struct answer *a, const struct answer_compared *from, struct course *c,
                       const struct gcd_diff_sum *sums, int metrics)
{
    answer_row(a);
    for (int m = 0; m < metrics; m++)
        put_metric(a, from, c, sums, m);
}

static void put_trend_sums(struct answer *a, const struct answer_compared *from, struct course *c,
                           size_t hidden, size_t rows)
{
    bool unlisted = false;
    for (size_t i = 0; i < from->side_count; i++) {
        const struct gcd_diff_sum *more = &from->sides[i].unlisted;
        c->rest[i].objects += more->objects;
        c->rest[i].bytes += more->bytes;
        c->total[i] = from->sides[i].sum;
        unlisted = unlisted || more->objects > 0;
    }
    answer_begin_sums(a);
    if (hidden > 0 || unlisted) {
        put_course(a, from, c, c->rest, RETAINED);
        answer_types_note(a, "(%s more type%s%s)", GCD_DIGITS(hidden), gcd_plural(hidden),
                      unlisted ? ", and unlisted ones" : "");
    }
    put_course(a, from, c, c->total, from->filtered ? RETAINED : metrics_of(from));
    if (unlisted)
        answer_types_note(a, "total");
    else
        answer_types_note(a, "total, %s type%s", GCD_DIGITS(rows), gcd_plural(rows));
}

static void put_trend(struct answer *a, const struct answer_compared *from, struct course *c)
{
    size_t n = gcd_diff_row_count(from->diff), hidden = 0;
    a->first = from->page.first;
    for (size_t i = 0; i < n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(from->diff, from->order[i]);
        if (is_shown(a, from, row->sums)) {
            put_course(a, from, c, row->sums, metrics_of(from));
            put_type(a, from, row, NULL);
            answer_known(a, "module", row->module);
            continue;
        }
        hidden++;
        for (size_t k = 0; k < from->side_count; k++) {
            c->rest[k].objects += row->sums[k].objects;
            c->rest[k].bytes += row->sums[k].bytes;
        }
    }
    put_trend_sums(a, from, c, hidden, n);
}

gcd_status answer_trend(const struct answer_compared *from, struct answer **ret,
                        struct gcd_error *err)
{
    size_t sides = from->side_count, n = 0;
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct answer *a = *ret = answer_new_columns(NULL, (size_t)metrics_of(from) * (sides + 3) + 3);
    struct course c = { .bytes = sides * (2 * sizeof *c.rest + 3 * sizeof *c.values) };
    c.rest = gcd_mem_new(&alloc, c.bytes);
    if (a == NULL || c.rest == NULL) {
        gcd_mem_free(&alloc, c.rest, c.bytes);
        return gcd_fail_nomem(err, "comparing types");
    }
    c.total = c.rest + sides;
    c.values = (uint64_t *)(c.total + sides);
    c.known_values = c.values + sides;
    c.known_ms = (int64_t *)(c.known_values + sides);
    for (int m = 0; m < metrics_of(from); m++)
        add_metric(a, from, m, &n);
    add_column(a, &n, "type", NULL, ANSWER_TEXT);
    a->own_columns[n++] = (struct answer_column)PEOPLE("shown", "Type", ANSWER_TEXT);
    add_column(a, &n, "module", NULL, ANSWER_TEXT);
    put_trend(a, from, &c);
    gcd_mem_free(&alloc, c.rest, c.bytes);
    return GCD_OK;
}

/* ---- the dumps ---- */

static const struct answer_column dump_columns[] = {
    COLUMN("dump", "Dump", ANSWER_COUNT),
    COLUMN("time", "Time", ANSWER_TIME),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    COLUMN("types", "Types", ANSWER_COUNT),
    FIELD("process", ANSWER_COUNT),
    COLUMN("recording", "File", ANSWER_TEXT),
};
static const struct answer_shape dumps_shape = ANSWER_SHAPE(dump_columns);

gcd_status answer_dumps(const struct answer_compared *from, struct answer **ret,
                        struct gcd_error *err)
{
    struct answer *a = *ret = answer_new(NULL, &dumps_shape);
    for (size_t i = 0; i < from->side_count; i++) {
        const struct answer_side *s = &from->sides[i];
        answer_row(a);
        answer_count(a, "dump", i + 1);
        answer_time(a, "time", s->unix_ms);
        answer_count(a, "count", s->sum.objects);
        answer_count(a, "bytes", s->sum.bytes);
        if (from->retained)
            answer_count(a, "retained_bytes", s->sum.retained_bytes);
        answer_count(a, "types", s->types);
        if (s->process != 0)
            answer_count(a, "process", s->process);
        answer_text(a, "recording", s->subject);
    }
    return a != NULL ? GCD_OK : gcd_fail_nomem(err, "listing dumps");
}
