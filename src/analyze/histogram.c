#include <gcdumpc/histogram.h>

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/lengths.h>
#include <gcdumpc/names.h>
#include <gcdumpc/retained.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/root_sets.h>

#include "analyze/histogram_groups.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"

#define NONE        UINT32_MAX
#define CHECK_EVERY UINT64_C(0x10000)
#define LABELS_MAX  UINT32_MAX

struct maker {
    struct gcd_histogram pub; /* first: gcd_histogram_free gets its address */
    struct gcd_alloc alloc;
    struct gcd_histogram_options o;
    const struct gcd_summary *summary;
    uint32_t types;
    struct gcd_histogram_row *rows;
    size_t count, room;
    struct gcd_textpool labels;
    struct gcd_generations *generations;
    uint32_t *row_of; /* [types] the row, NONE = none; by length, the type's first row */
    /* by length only, freed at the end */
    struct gcd_length_rule *rules; /* [types] */
    uint32_t *next;                /* [next_room] the next row of the same type, NONE = none */
    size_t next_room;
    uint32_t rest; /* the row of objects without a length */
};

static const struct gcd_type *type_at(const struct maker *m, uint32_t i)
{
    return &m->summary->types[i];
}

static bool is_wanted(const struct maker *m, uint32_t type)
{
    return m->o.wanted == NULL || m->o.wanted[type] != 0;
}

static bool is_counted(const struct maker *m, uint32_t type)
{
    return is_wanted(m, type) && type_at(m, type)->objects > 0;
}

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "counting objects");
}

/* RET_ROW is valid until the next call. */
static gcd_status add_row(struct maker *m, struct gcd_histogram_row row,
                          struct gcd_histogram_row **ret_row, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&m->alloc, &m->rows, &m->room, m->count + 1, sizeof *m->rows, NONE - 1))
        return no_memory(err);
    m->rows[m->count] = row;
    if (ret_row != NULL)
        *ret_row = &m->rows[m->count];
    m->count++;
    return GCD_OK;
}

static void count_in(struct gcd_histogram_row *row, uint64_t objects, uint64_t bytes)
{
    gcd_add_saturating(&row->objects, objects);
    gcd_add_saturating(&row->bytes, bytes);
}

static gcd_status keep_label(struct maker *m, const char *s, size_t n, const char **ret,
                             struct gcd_error *err)
{
    gcd_status st = gcd_textpool_add(&m->labels, s, n, ret);
    return st == GCD_OK        ? GCD_OK
           : st == GCD_E_NOMEM ? no_memory(err)
                               : gcd_fail(err, st, "the labels take more than 4 GiB");
}

/* ---- from the types ---- */

static gcd_status add_types(struct maker *m, struct gcd_error *err)
{
    for (uint32_t i = 0; i < m->types; i++) {
        const struct gcd_type *t = type_at(m, i);
        if (!is_counted(m, i))
            continue;
        m->row_of[i] = (uint32_t)m->count;
        GCD_TRY(add_row(
            m, (struct gcd_histogram_row){ .index = i, .objects = t->objects, .bytes = t->bytes },
            NULL, err));
    }
    return GCD_OK;
}

static int compare_labels(const void *ctx, uint32_t a, uint32_t b)
{
    const struct histogram_label *x = (const struct histogram_label *)ctx + a,
                                 *y = (const struct histogram_label *)ctx + b;
    int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return order != 0 ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* Adds a row for each label.  LABELS[types]; ORDER: the types sorted by label. */
static gcd_status add_groups(struct maker *m, const struct histogram_label *labels,
                             const uint32_t *order, struct gcd_error *err)
{
    struct gcd_histogram_row *row = NULL;
    for (uint32_t i = 0; i < m->types; i++) {
        uint32_t type = order[i];
        if (!is_counted(m, type))
            continue;
        if (row == NULL || compare_labels(labels, row->index, type) != 0) {
            struct gcd_histogram_row new = { .index = type };
            GCD_TRY(keep_label(m, labels[type].s, labels[type].n, &new.label, err));
            GCD_TRY(add_row(m, new, &row, err));
        }
        count_in(row, type_at(m, type)->objects, type_at(m, type)->bytes);
        m->row_of[type] = (uint32_t)(m->count - 1);
    }
    return GCD_OK;
}

static gcd_status group_types(struct maker *m, struct gcd_error *err)
{
    struct histogram_label *labels = gcd_mem_new_array(&m->alloc, m->types, sizeof *labels);
    for (uint32_t i = 0; labels != NULL && i < m->types; i++)
        labels[i] = histogram_label_of(m->o.by, m->summary, type_at(m, i));
    uint32_t *order =
        labels != NULL ? gcd_sort_order(&m->alloc, m->types, compare_labels, labels) : NULL;
    gcd_status st = order != NULL  ? add_groups(m, labels, order, err)
                    : m->types > 0 ? no_memory(err)
                                   : GCD_OK;
    gcd_mem_free(&m->alloc, order, m->types * sizeof *order);
    gcd_mem_free(&m->alloc, labels, m->types * sizeof *labels);
    return st;
}

static gcd_status add_retained(struct maker *m, struct gcd_error *err)
{
    size_t room = m->count + 1;
    uint64_t *bytes = gcd_mem_new_array(&m->alloc, room, sizeof *bytes);
    if (bytes == NULL)
        return no_memory(err);
    struct gcd_type_classes rows = { .of_type = m->row_of, .count = (uint32_t)m->count };
    gcd_status st =
        gcd_retained_by_class(m->o.graph, m->o.dominators, &rows, &m->alloc, bytes, err);
    for (size_t i = 0; i < m->count && st == GCD_OK; i++)
        m->rows[i].retained_bytes = bytes[i];
    gcd_mem_free(&m->alloc, bytes, room * sizeof *bytes);
    return st;
}

static gcd_status from_types(struct maker *m, struct gcd_error *err)
{
    m->row_of = gcd_mem_new_array(&m->alloc, m->types, sizeof *m->row_of);
    if (m->row_of == NULL && m->types > 0)
        return no_memory(err);
    for (uint32_t i = 0; i < m->types; i++)
        m->row_of[i] = NONE;
    if (m->o.by == GCD_BY_LENGTH)
        return GCD_OK;
    GCD_TRY(m->o.by == GCD_BY_TYPE ? add_types(m, err) : group_types(m, err));
    return m->o.dominators != NULL ? add_retained(m, err) : GCD_OK;
}

/* ---- from the objects ---- */

typedef gcd_status (*object_fn)(struct maker *m, const struct gcd_object *o, struct gcd_error *err);

static gcd_status each_of_graph(struct maker *m, object_fn object, struct gcd_error *err)
{
    const struct gcd_graph *g = m->o.graph;
    for (uint32_t i = 0, n = gcd_graph_node_count(g); i < n; i++) {
        struct gcd_object o = { .address = gcd_graph_node_address(g, i),
                                .size_bytes = gcd_graph_node_size(g, i),
                                .type = gcd_graph_node_type(g, i) };
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(m->o.context.cancel, err));
        if (is_wanted(m, o.type))
            GCD_TRY(object(m, &o, err));
    }
    return GCD_OK;
}

static gcd_status each_of_dump(struct maker *m, object_fn object, struct gcd_error *err)
{
    struct gcd_objects *cursor = NULL;
    struct gcd_object o;
    gcd_status st = gcd_objects_new(m->o.dump, &cursor, err);
    for (uint64_t i = 0; st == GCD_OK && (st = gcd_objects_next(cursor, &o, err)) == GCD_OK; i++) {
        if (i % CHECK_EVERY == 0)
            gcd_context_report(&m->o.context, gcd_objects_position(cursor), m->o.progress_total);
        if (is_wanted(m, o.type))
            st = object(m, &o, err);
    }
    gcd_objects_free(cursor);
    return st == GCD_END ? GCD_OK : st;
}

/* Visits all objects in the order of the heap walk. */
static gcd_status each_object(struct maker *m, object_fn object, struct gcd_error *err)
{
    return m->o.graph != NULL ? each_of_graph(m, object, err) : each_of_dump(m, object, err);
}

/* ---- generations ---- */

static gcd_status add_to_generation(struct maker *m, const struct gcd_object *o,
                                    struct gcd_error *err)
{
    (void)err;
    gcd_generations_add(m->generations, o->address, o->size_bytes);
    return GCD_OK;
}

/* The names of OpenTelemetry, and "nongc". */
static gcd_status generation_label(struct maker *m, unsigned number, const char **ret,
                                   struct gcd_error *err)
{
    char text[24];
    *ret = number == GCD_GENERATION_LOH    ? "loh"
           : number == GCD_GENERATION_POH  ? "poh"
           : number == GCD_GENERATION_NONE ? "nongc"
                                           : NULL;
    if (*ret != NULL)
        return GCD_OK;
    int n = snprintf(text, sizeof text, "gen%u", number);
    return keep_label(m, text, (size_t)n, ret, err);
}

static gcd_status by_generation(struct maker *m, struct gcd_error *err)
{
    GCD_TRY(gcd_generations_new(m->summary, &m->alloc, &m->generations, err));
    GCD_TRY(each_object(m, add_to_generation, err));
    for (unsigned i = 0; i < GCD_GENERATIONS; i++) {
        const struct gcd_generation *g = gcd_generations_get(m->generations, i);
        struct gcd_histogram_row row = {
            .index = i, .objects = g->objects, .bytes = g->bytes, .generation = g
        };
        if (g->objects == 0 && g->ranges == 0)
            continue;
        GCD_TRY(generation_label(m, i, &row.label, err));
        GCD_TRY(add_row(m, row, NULL, err));
    }
    return GCD_OK;
}

/* ---- lengths ---- */

static unsigned power_of(uint64_t length)
{
    return length > 0 ? 64 - (unsigned)__builtin_clzll(length) : 0;
}

/* The row of TYPE for lengths with the same power of two; a type has at most 65. */
static gcd_status length_row(struct maker *m, uint32_t type, uint64_t length,
                             struct gcd_histogram_row **ret, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&m->alloc, &m->next, &m->next_room, m->count + 1, sizeof *m->next, NONE))
        return no_memory(err);
    uint32_t *link = &m->row_of[type];
    for (; *link != NONE; link = &m->next[*link]) {
        *ret = &m->rows[*link];
        if (power_of((*ret)->length_min) == power_of(length))
            return GCD_OK;
    }
    size_t at = m->count;
    GCD_TRY(add_row(
        m, (struct gcd_histogram_row){ .index = type, .length_min = length, .length_max = length },
        ret, err));
    m->next[at] = NONE;
    *link = (uint32_t)at;
    return GCD_OK;
}

static gcd_status add_to_length(struct maker *m, const struct gcd_object *o, struct gcd_error *err)
{
    uint64_t length;
    struct gcd_histogram_row *row = NULL;
    if (!gcd_length_of(&m->rules[o->type], o->size_bytes, &length)) {
        if (m->rest == NONE) {
            m->rest = (uint32_t)m->count;
            GCD_TRY(add_row(m, (struct gcd_histogram_row){ .label = "(no length)", .index = NONE },
                            NULL, err));
        }
        row = &m->rows[m->rest];
    } else {
        GCD_TRY(length_row(m, o->type, length, &row, err));
        row->length_min = length < row->length_min ? length : row->length_min;
        row->length_max = length > row->length_max ? length : row->length_max;
    }
    count_in(row, 1, o->size_bytes);
    return GCD_OK;
}

static gcd_status by_length(struct maker *m, struct gcd_error *err)
{
    GCD_TRY(from_types(m, err));
    m->rest = NONE;
    m->rules = gcd_mem_new_array(&m->alloc, m->types, sizeof *m->rules);
    if (m->rules == NULL && m->types > 0)
        return no_memory(err);
    GCD_TRY(gcd_length_rules(m->summary, &m->alloc, m->rules, err));
    return each_object(m, add_to_length, err);
}

/* ---- roots ---- */

static gcd_status by_root(struct maker *m, struct gcd_error *err)
{
    struct gcd_root_sets *sets = &m->pub.root_sets;
    if (m->o.root_sets)
        GCD_TRY(gcd_root_sets_of(m->o.graph, &m->o.context, sets, err));
    else
        for (size_t i = 0; i < m->summary->root_count; i++)
            sets->groups[gcd_root_group(&m->summary->roots[i])].roots++;
    for (unsigned i = 0; i < GCD_GROUPS; i++) {
        const struct gcd_root_set *s = &sets->groups[i];
        struct gcd_histogram_row row = { .label = gcd_root_group_label((enum gcd_root_group)i)->one,
                                         .index = i,
                                         .objects = s->objects,
                                         .bytes = s->bytes,
                                         .retained_bytes = s->retained_bytes };
        if (s->roots > 0)
            GCD_TRY(add_row(m, row, NULL, err));
    }
    return GCD_OK;
}

/* ---- all of it ---- */

static void count_types(struct maker *m)
{
    for (uint32_t i = 0; i < m->types; i++) {
        const struct gcd_type *t = type_at(m, i);
        if (!is_counted(m, i))
            continue;
        m->pub.types++;
        gcd_add_saturating(&m->pub.objects, t->objects);
        gcd_add_saturating(&m->pub.bytes, t->bytes);
    }
}

static gcd_status make(struct maker *m, struct gcd_error *err)
{
    switch (m->o.by) {
    case GCD_BY_GENERATION:
        return by_generation(m, err);
    case GCD_BY_LENGTH:
        return by_length(m, err);
    case GCD_BY_ROOT:
        return by_root(m, err);
    default:
        return from_types(m, err);
    }
}

static void free_arrays(struct maker *m)
{
    gcd_mem_free(&m->alloc, m->row_of, m->types * sizeof *m->row_of);
    gcd_mem_free(&m->alloc, m->rules, m->types * sizeof *m->rules);
    gcd_mem_free(&m->alloc, m->next, m->next_room * sizeof *m->next);
    m->row_of = NULL;
    m->rules = NULL;
    m->next = NULL;
}

gcd_status gcd_histogram_new(const struct gcd_histogram_options *options,
                             const struct gcd_histogram **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct maker *m = gcd_mem_new(&a, sizeof *m);
    if (m == NULL)
        return no_memory(err);
    m->alloc = a;
    m->o = *options;
    m->summary = m->o.graph != NULL ? gcd_graph_summary(m->o.graph) : gcd_dump_summary(m->o.dump);
    m->types = m->summary->type_count;
    gcd_textpool_init(&m->labels, &m->alloc, LABELS_MAX);
    count_types(m);
    gcd_status st = make(m, err);
    free_arrays(m);
    if (st != GCD_OK) {
        gcd_histogram_free(&m->pub);
        return st;
    }
    m->pub.rows = m->rows;
    m->pub.row_count = m->count;
    *ret = &m->pub;
    return GCD_OK;
}

void gcd_histogram_free(const struct gcd_histogram *h)
{
    struct maker *m = (struct maker *)(uintptr_t)h;
    if (m == NULL)
        return;
    free_arrays(m);
    gcd_generations_free(m->generations);
    gcd_textpool_done(&m->labels);
    gcd_mem_free(&m->alloc, m->rows, m->room * sizeof *m->rows);
    struct gcd_alloc a = m->alloc;
    gcd_mem_free(&a, m, sizeof *m);
}
