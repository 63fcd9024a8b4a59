#include "answer/answers.h"

#include <inttypes.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define HEAD                                                                        \
    COLUMN("count", "Count", ANSWER_COUNT), COLUMN("bytes", "Bytes", ANSWER_BYTES), \
        COLUMN("share", "Share", ANSWER_SHARE),                                     \
        COLUMN("retained_bytes", "Retained >=", ANSWER_BYTES)

static const struct answer_column of_type[] = {
    HEAD,
    ANSWER_TYPE("Type"),
    DETAIL("raw_name", ANSWER_TEXT),
    DETAIL("module", ANSWER_TEXT),
    FIELD("assembly", ANSWER_TEXT),
    DETAIL("id", ANSWER_ADDRESS),
    DETAIL("edges", ANSWER_COUNT),
};
static const struct answer_column of_module[] = { HEAD, COLUMN("module", "Module", ANSWER_TEXT) },
                                  of_namespace[] = { HEAD, COLUMN("namespace", "Namespace",
                                                                  ANSWER_TEXT) },
                                  of_kind[] = { HEAD, COLUMN("kind", "Kind", ANSWER_TEXT) };
static const struct answer_column of_generation[] = {
    HEAD,
    COLUMN("used_bytes", "Used", ANSWER_BYTES),
    COLUMN("free_bytes", "Free", ANSWER_BYTES),
    COLUMN("free_share", "Free %", ANSWER_SHARE),
    COLUMN("reserved_bytes", "Reserved", ANSWER_BYTES),
    COLUMN("ranges", "Ranges", ANSWER_COUNT),
    COLUMN("generation", "Generation", ANSWER_TEXT),
};
static const struct answer_column of_length[] = {
    HEAD,
    FIELD("length_min", ANSWER_COUNT),
    FIELD("length_max", ANSWER_COUNT),
    COLUMN("length", "Length", ANSWER_TEXT),
    ANSWER_TYPE("Type"),
};
static const struct answer_column of_root[] = {
    COLUMN("roots", "Roots", ANSWER_COUNT),
    FIELD("objects", ANSWER_COUNT),
    COLUMN("bytes", "Reached", ANSWER_BYTES),
    FIELD("retained_objects", ANSWER_COUNT),
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    FIELD("claimed_objects", ANSWER_COUNT),
    COLUMN("claimed_bytes", "Claimed", ANSWER_BYTES),
    COLUMN("claimed_share", "Share", ANSWER_SHARE),
    FIELD("group", ANSWER_TEXT),
    COLUMN("name", "Kind of root", ANSWER_TEXT),
};

const struct answer_shape answer_types_shape = ANSWER_SHAPE(of_type);

/* What a row is called in sums, and the column of its label for people. */
static const struct view {
    struct answer_shape shape;
    const char *one, *label;
} views[] = {
    [GCD_BY_TYPE] = { ANSWER_SHAPE(of_type), "type", "shown" },
    [GCD_BY_MODULE] = { ANSWER_SHAPE(of_module), "module", "module" },
    [GCD_BY_NAMESPACE] = { ANSWER_SHAPE(of_namespace), "namespace", "namespace" },
    [GCD_BY_KIND] = { ANSWER_SHAPE(of_kind), "kind", "kind" },
    [GCD_BY_GENERATION] = { ANSWER_SHAPE(of_generation), "generation", "generation" },
    [GCD_BY_LENGTH] = { ANSWER_SHAPE(of_length), "length", "shown" },
    [GCD_BY_ROOT] = { ANSWER_SHAPE(of_root), "group", "name" },
};

/* ---- order ---- */

static const char *label_of(const struct answer_histogram *from,
                            const struct gcd_histogram_row *row)
{
    return row->label != NULL ? row->label : gcd_names_get(from->names, row->index);
}

static int compare_shown(const struct answer_histogram *from, const struct gcd_histogram_row *a,
                         const struct gcd_histogram_row *b)
{
    char x[GCD_ASYNC_STEP_BYTES], y[GCD_ASYNC_STEP_BYTES];
    return a->label != NULL || b->label != NULL ? strcmp(label_of(from, a), label_of(from, b))
                                                : strcmp(gcd_names_step(from->names, a->index, x),
                                                         gcd_names_step(from->names, b->index, y));
}

static uint64_t retained_by(const struct answer_histogram *from,
                            const struct gcd_histogram_row *row)
{
    return from->retained != NULL ? from->retained[row->index] : row->retained_bytes;
}

static int descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Breaks ties completely, so that the same dump always gives the same rows. */
static int compare_rows(const void *ctx, uint32_t ia, uint32_t ib)
{
    const struct answer_histogram *from = ctx;
    if (from->sort == ANSWER_AS_IS)
        return ia < ib ? -1 : ia > ib;
    const struct gcd_histogram_row *a = &from->h->rows[ia], *b = &from->h->rows[ib];
    int c = 0;
    if (from->sort == ANSWER_BY_COUNT)
        c = descending(a->objects, b->objects);
    else if (from->sort == ANSWER_BY_NAME && from->for_people)
        c = compare_shown(from, a, b);
    else if (from->sort == ANSWER_BY_NAME)
        c = strcmp(label_of(from, a), label_of(from, b));
    else if (from->sort == ANSWER_BY_RETAINED)
        c = descending(retained_by(from, a), retained_by(from, b));
    c = c != 0 ? c : descending(a->bytes, b->bytes);
    c = c != 0 || from->sort == ANSWER_BY_RETAINED ? c : descending(a->objects, b->objects);
    c = c != 0 ? c : strcmp(label_of(from, a), label_of(from, b));
    return c != 0 ? c : ia < ib ? -1 : ia > ib;
}

/* ---- cells ---- */

static void put_ranges(struct answer *a, const struct answer_histogram *from,
                       const struct gcd_generation *g)
{
    uint64_t unused = g->used_bytes > g->aligned_bytes ? g->used_bytes - g->aligned_bytes : 0;
    if (g->ranges == 0)
        return;
    answer_count(a, "used_bytes", g->used_bytes);
    if (!from->filtered) { /* else space of the other types is not free */
        answer_count(a, "free_bytes", unused);
        answer_share(a, "free_share", unused, g->used_bytes);
    }
    answer_count(a, "reserved_bytes", g->reserved_bytes);
    answer_count(a, "ranges", g->ranges);
}

static void put_length(struct answer *a, const struct gcd_histogram_row *row)
{
    if (row->label != NULL)
        return;
    answer_count(a, "length_min", row->length_min);
    answer_count(a, "length_max", row->length_max);
    if (row->length_min == row->length_max)
        answer_format(a, "length", "%" PRIu64, row->length_min);
    else
        answer_format(a, "length", "%" PRIu64 "-%" PRIu64, row->length_min, row->length_max);
}

static void put_sums(struct answer *a, const struct answer_histogram *from,
                     const struct gcd_histogram_row *row)
{
    answer_row(a);
    answer_count(a, "count", row->objects);
    answer_count(a, "bytes", row->bytes);
    answer_share(a, "share", row->bytes, from->summary->bytes);
}

static void put_line(struct answer *a, const struct answer_histogram *from,
                     const struct gcd_histogram_row *row)
{
    put_sums(a, from, row);
    if (from->has_retained)
        answer_count(a, "retained_bytes", retained_by(from, row));
    if (from->by == GCD_BY_GENERATION)
        put_ranges(a, from, row->generation);
    if (from->by == GCD_BY_LENGTH)
        put_length(a, row);
    if (row->label == NULL)
        answer_type(a, from->names, row->index);
    else if (from->by == GCD_BY_LENGTH)
        answer_types_note(a, "%s", row->label);
    else
        answer_text(a, views[from->by].label, row->label);
    if (from->by != GCD_BY_TYPE)
        return;
    const struct gcd_type *type = &from->summary->types[row->index];
    answer_text(a, "raw_name", type->raw_name);
    size_t n;
    const char *assembly = gcd_module_name(type->module_path, &n);
    answer_known(a, "module", type->module_path);
    if (n > 0)
        answer_format(a, "assembly", "%.*s", (int)n, assembly);
    answer_count(a, "id", type->id);
    answer_count(a, "edges", type->edges);
}

/* The sum of all generations that have ranges. */
static struct gcd_generation all_generations(const struct gcd_histogram *h)
{
    struct gcd_generation all = { .ranges = 0 };
    for (size_t i = 0; i < h->row_count; i++) {
        const struct gcd_generation *one = h->rows[i].generation;
        if (one->ranges == 0)
            continue;
        all.ranges += one->ranges;
        all.used_bytes += one->used_bytes;
        all.reserved_bytes += one->reserved_bytes;
        all.aligned_bytes += one->aligned_bytes;
    }
    return all;
}

/* LEFT_OUT rows with the sums REST are not shown. */
static void put_totals(struct answer *a, const struct answer_histogram *from, size_t left_out,
                       const struct gcd_histogram_row *rest)
{
    const struct view *v = &views[from->by];
    const struct gcd_histogram *h = from->h;
    struct gcd_histogram_row total = { .objects = h->objects, .bytes = h->bytes };
    answer_begin_sums(a);
    if (left_out > 0) {
        put_sums(a, from, rest); /* retained sizes of sets do not add up */
        answer_format(a, v->label, "(%s more %s%s)", GCD_DIGITS(left_out), v->one,
                      gcd_plural(left_out));
    }
    put_sums(a, from, &total);
    if (from->has_retained)
        answer_count(a, "retained_bytes", from->alive_bytes);
    if (from->by == GCD_BY_GENERATION) {
        struct gcd_generation all = all_generations(h);
        put_ranges(a, from, &all);
    }
    if (from->filtered)
        answer_format(a, v->label, "total, %s %s%s; %u of %s types", GCD_DIGITS(h->row_count),
                      v->one, gcd_plural(h->row_count), h->types,
                      GCD_DIGITS(from->summary->types_used));
    else
        answer_format(a, v->label, "total, %s %s%s", GCD_DIGITS(h->row_count), v->one,
                      gcd_plural(h->row_count));
}

static void put_lines(struct answer *a, const struct answer_histogram *from, const uint32_t *order)
{
    const struct gcd_histogram *h = from->h;
    const struct answer_page *page = &from->page;
    struct gcd_histogram_row rest = { .objects = h->objects, .bytes = h->bytes };
    size_t shown = 0;
    for (size_t i = 0; i < h->row_count; i++) {
        const struct gcd_histogram_row *row = &h->rows[order[i]];
        if ((from->retained != NULL ? retained_by(from, row) : row->bytes) < page->min_bytes)
            continue;
        if (a->total++ < page->first || (page->most != 0 && shown == page->most))
            continue;
        shown++;
        rest.objects -= row->objects;
        rest.bytes -= row->bytes < rest.bytes ? row->bytes : rest.bytes; /* sums saturate */
        put_line(a, from, row);
    }
    put_totals(a, from, h->row_count - shown, &rest);
}

/* ---- roots ---- */

/* The numbers that a row has: objects that no single kind of root holds lack some. */
enum { HAS_ROOTS = 1, HAS_RETAINED = 2, HAS_CLAIMED = 4, HAS_ALL = 7 };

static void put_pair(struct answer *a, const char *objects_key, uint64_t objects,
                     const char *bytes_key, uint64_t bytes)
{
    answer_count(a, objects_key, objects);
    answer_count(a, bytes_key, bytes);
}

static void put_root_set(struct answer *a, const struct answer_histogram *from,
                         const struct gcd_root_set *s, unsigned has, const char *name)
{
    answer_row(a);
    if (has & HAS_ROOTS) {
        answer_count(a, "roots", s->roots);
        put_pair(a, "objects", s->objects, "bytes", s->bytes);
    }
    if (has & HAS_RETAINED)
        put_pair(a, "retained_objects", s->retained_objects, "retained_bytes", s->retained_bytes);
    if (has & HAS_CLAIMED) {
        put_pair(a, "claimed_objects", s->claimed_objects, "claimed_bytes", s->claimed_bytes);
        answer_share(a, "claimed_share", s->claimed_bytes, from->summary->bytes);
    }
    answer_text(a, "name", name);
}

static void put_root_sets(struct answer *a, const struct answer_histogram *from)
{
    static const char *const only_retained[] = { "objects",          "bytes",
                                                 "retained_objects", "retained_bytes",
                                                 "claimed_objects",  "claimed_bytes",
                                                 "claimed_share" };
    const struct gcd_root_sets *s = &from->h->root_sets;
    uint64_t objects = from->summary->objects, bytes = from->summary->bytes;
    struct gcd_root_set several = { .retained_objects = s->shared_objects,
                                    .retained_bytes = s->shared_bytes };
    struct gcd_root_set none = { .retained_objects = s->unreachable_objects,
                                 .retained_bytes = s->unreachable_bytes,
                                 .claimed_objects = s->unreachable_objects,
                                 .claimed_bytes = s->unreachable_bytes };
    struct gcd_root_set frozen = { .retained_objects = s->frozen_objects,
                                   .retained_bytes = s->frozen_bytes,
                                   .claimed_objects = s->frozen_objects,
                                   .claimed_bytes = s->frozen_bytes };
    struct gcd_root_set total = {
        s->pseudo_roots.roots, objects, bytes, objects, bytes, objects, bytes
    };
    for (size_t i = 0; i < sizeof only_retained / sizeof *only_retained && !from->has_retained; i++)
        answer_hide(a, only_retained[i]);
    for (unsigned i = 0; i < GCD_GROUPS; i++) {
        total.roots += s->groups[i].roots;
        const struct gcd_root_label *label = gcd_root_group_label((enum gcd_root_group)i);
        if (s->groups[i].roots == 0)
            continue;
        put_root_set(a, from, &s->groups[i], HAS_ALL, label->one);
        answer_text(a, "group", label->key);
    }
    if (s->pseudo_roots.roots > 0) {
        put_root_set(a, from, &s->pseudo_roots, HAS_ALL, ANSWER_NO_ROOT);
        answer_text(a, "group", answer_root_key(NULL));
    }
    if (s->shared_objects > 0) {
        put_root_set(a, from, &several, HAS_RETAINED, "(several kinds together)");
        answer_text(a, "group", "several");
    }
    if (s->unreachable_objects > 0) {
        put_root_set(a, from, &none, HAS_RETAINED | HAS_CLAIMED, "(no root)");
        answer_text(a, "group", "none");
    }
    if (s->frozen_objects > 0) {
        put_root_set(a, from, &frozen, HAS_RETAINED | HAS_CLAIMED, ANSWER_FROZEN);
        answer_text(a, "group", "frozen");
    }
    a->total = a->rows;
    answer_begin_sums(a);
    put_root_set(a, from, &total, HAS_ALL, "total");
}

gcd_status answer_of_histogram(const struct answer_histogram *from, struct answer **ret,
                               struct gcd_error *err)
{
    size_t n = from->h->row_count;
    struct answer *a = *ret = answer_new(NULL, &views[from->by].shape);
    if (a != NULL && from->by == GCD_BY_ROOT) {
        put_root_sets(a, from);
        return GCD_OK;
    }
    uint32_t *order = a != NULL ? gcd_sort_order(&a->alloc, n, compare_rows, from) : NULL;
    if (order == NULL)
        return gcd_fail_nomem(err, "sorting types");
    if (!from->has_retained)
        answer_hide(a, "retained_bytes");
    a->first = from->page.first;
    put_lines(a, from, order);
    gcd_mem_free(&a->alloc, order, n * sizeof *order);
    return GCD_OK;
}
