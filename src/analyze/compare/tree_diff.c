/*
 * First, the steps of all dumps are collected.  Then equal names get equal numbers, and so do equal
 * pairs of name and field; each step finds or adds its row by the row of its parent and its pair,
 * so a row always has a higher number than its parent.  Finally, the rows are sorted.
 */
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/tree_diff.h>

#include <string.h>

#include "analyze/compare/growth.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"

#define TEXT_BYTES_MAX (UINT64_C(4) << 30)
#define COUNT_MAX      (GCD_IDMAP_NONE - 1) /* steps of all dumps, and names */

struct step {
    uint64_t objects, bytes;
    uint32_t parent;                  /* index among all steps; later the row of the step itself */
    uint32_t name, field, short_name; /* among all names; GCD_NAME_NONE = none */
    uint8_t facts;
};

struct gcd_tree_diff {
    struct gcd_alloc alloc;
    struct gcd_textpool text;
    const char **names;
    size_t name_count, name_room;
    /* of each dump from first_step[dump] on; freed once the rows exist */
    struct step *steps;
    size_t step_count, step_room;
    size_t *first_step;
    size_t dumps, dump_room;
    struct gcd_tree_diff_row *rows; /* [row_count] */
    struct gcd_diff_sum *sums;      /* [dumps] per row, in the order before sorting */
    size_t row_count, row_room, sum_room;
    bool tried, matched;
};

static gcd_status nomem(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "comparing the paths of dumps");
}

gcd_status gcd_tree_diff_new(const struct gcd_alloc *alloc, struct gcd_tree_diff **ret,
                             struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_tree_diff *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return nomem(err);
    d->alloc = a;
    gcd_textpool_init(&d->text, &d->alloc, TEXT_BYTES_MAX);
    *ret = d;
    return GCD_OK;
}

static void free_steps(struct gcd_tree_diff *d)
{
    gcd_mem_free(&d->alloc, d->steps, d->step_room * sizeof *d->steps);
    d->steps = NULL;
    d->step_count = d->step_room = 0;
}

void gcd_tree_diff_free(struct gcd_tree_diff *d)
{
    if (d == NULL)
        return;
    struct gcd_alloc a = d->alloc;
    free_steps(d);
    gcd_mem_free(&a, d->names, d->name_room * sizeof *d->names);
    gcd_mem_free(&a, d->first_step, d->dump_room * sizeof *d->first_step);
    gcd_mem_free(&a, d->rows, d->row_room * sizeof *d->rows);
    gcd_mem_free(&a, d->sums, d->sum_room * sizeof *d->sums);
    gcd_textpool_done(&d->text);
    gcd_mem_free(&a, d, sizeof *d);
}

/* ---- adding ---- */

static gcd_status make_room(struct gcd_tree_diff *d, size_t names, size_t steps,
                            struct gcd_error *err)
{
    if (names > COUNT_MAX - d->name_count || steps > COUNT_MAX - d->step_count)
        return gcd_fail(err, GCD_E_LIMIT, "the paths of the dumps have more than 2^32 steps");
    if (!gcd_vec_reserve(&d->alloc, &d->names, &d->name_room, d->name_count + names,
                         sizeof *d->names, COUNT_MAX) ||
        !gcd_vec_reserve(&d->alloc, &d->steps, &d->step_room, d->step_count + steps,
                         sizeof *d->steps, COUNT_MAX) ||
        !gcd_vec_reserve(&d->alloc, &d->first_step, &d->dump_room, d->dumps + 1,
                         sizeof *d->first_step, SIZE_MAX))
        return nomem(err);
    return GCD_OK;
}

static bool is_name_or_none(uint32_t name, size_t count)
{
    return name == GCD_NAME_NONE || name < count;
}

/* The number among all names of NAME of the next dump. */
static uint32_t number_of(const struct gcd_tree_diff *d, uint32_t name)
{
    return name != GCD_NAME_NONE ? name + (uint32_t)d->name_count : GCD_NAME_NONE;
}

gcd_status gcd_tree_diff_add(struct gcd_tree_diff *d, const char *const *names, size_t name_count,
                             const struct gcd_tree_diff_step *steps, size_t step_count,
                             struct gcd_error *err)
{
    if (d->tried)
        return gcd_fail(err, GCD_E_STATE, "the dumps are matched already");
    for (size_t i = 0; i < step_count; i++)
        if (steps[i].name >= name_count || !is_name_or_none(steps[i].field, name_count) ||
            !is_name_or_none(steps[i].short_name, name_count) ||
            (steps[i].parent != GCD_STEP_NONE && steps[i].parent >= i))
            return gcd_fail(err, GCD_E_ARG,
                            "step %zu of the paths has a wrong parent, name or field", i);
    GCD_TRY(make_room(d, name_count, step_count, err));
    for (size_t i = 0; i < name_count; i++) {
        gcd_status st =
            gcd_textpool_add(&d->text, names[i], strlen(names[i]), &d->names[d->name_count + i]);
        if (st == GCD_E_LIMIT)
            return gcd_fail(err, st, "the names on the paths take more than 4 GiB");
        if (st != GCD_OK)
            return nomem(err);
    }
    for (size_t i = 0; i < step_count; i++) {
        uint32_t parent = steps[i].parent == GCD_STEP_NONE
                              ? GCD_STEP_NONE
                              : steps[i].parent + (uint32_t)d->step_count;
        d->steps[d->step_count + i] =
            (struct step){ .objects = steps[i].objects,
                           .bytes = steps[i].bytes,
                           .parent = parent,
                           .name = number_of(d, steps[i].name),
                           .field = number_of(d, steps[i].field),
                           .short_name = number_of(d, steps[i].short_name),
                           .facts = steps[i].facts };
    }
    d->first_step[d->dumps++] = d->step_count;
    d->name_count += name_count;
    d->step_count += step_count;
    return GCD_OK;
}

/* ---- matching ---- */

static int compare_names(const void *names, uint32_t a, uint32_t b)
{
    const char *const *n = names;
    return strcmp(n[a], n[b]);
}

/* Gives each name the number of the first equal one. */
static gcd_status unite_names(struct gcd_tree_diff *d, struct gcd_error *err)
{
    uint32_t *sorted = gcd_sort_order(&d->alloc, d->name_count, compare_names, d->names);
    uint32_t *number = gcd_mem_new_array(&d->alloc, d->name_count, sizeof *number);
    bool ok = sorted != NULL && number != NULL;
    for (size_t i = 0; ok && i < d->name_count; i++) {
        bool same = i > 0 && strcmp(d->names[sorted[i - 1]], d->names[sorted[i]]) == 0;
        number[sorted[i]] = same ? number[sorted[i - 1]] : sorted[i];
    }
    for (size_t i = 0; ok && i < d->step_count; i++) {
        struct step *s = &d->steps[i];
        s->name = number[s->name];
        s->field = s->field != GCD_NAME_NONE ? number[s->field] : GCD_NAME_NONE;
        s->short_name = s->short_name != GCD_NAME_NONE ? number[s->short_name] : GCD_NAME_NONE;
    }
    gcd_mem_free(&d->alloc, sorted, d->name_count * sizeof *sorted);
    gcd_mem_free(&d->alloc, number, d->name_count * sizeof *number);
    return ok ? GCD_OK : nomem(err);
}

static gcd_status new_row(struct gcd_tree_diff *d, uint32_t parent, const struct step *s,
                          struct gcd_error *err)
{
    if (!gcd_vec_reserve(&d->alloc, &d->rows, &d->row_room, d->row_count + 1, sizeof *d->rows,
                         COUNT_MAX) ||
        !gcd_vec_reserve(&d->alloc, &d->sums, &d->sum_room, (d->row_count + 1) * d->dumps,
                         sizeof *d->sums, SIZE_MAX / sizeof *d->sums))
        return nomem(err);
    d->rows[d->row_count++] = (struct gcd_tree_diff_row){
        .parent = parent,
        .depth = parent == GCD_STEP_NONE ? 0 : d->rows[parent].depth + 1,
        .name = d->names[s->name],
        .field = s->field != GCD_NAME_NONE ? d->names[s->field] : NULL
    };
    return GCD_OK;
}

/* In how many dumps there are such steps, and in how many some of a certain kind. */
struct told {
    size_t dumps, some, last, last_some; /* LAST: 1 + the number of a dump */
};

static void count_step(struct told *of, size_t dump, bool certain_kind)
{
    of->dumps += of->last != dump + 1;
    of->last = dump + 1;
    of->some += certain_kind && of->last_some != dump + 1;
    of->last_some = certain_kind ? dump + 1 : of->last_some;
}

/* The dump of step I; *DUMP is that of the step before. */
static size_t dump_of(const struct gcd_tree_diff *d, size_t i, size_t *dump)
{
    while (*dump + 1 < d->dumps && d->first_step[*dump + 1] <= i)
        ++*dump;
    return *dump;
}

/* Shortens names where only some dumps have the short one alone: the others know more. */
static gcd_status unite_long_names(struct gcd_tree_diff *d, struct gcd_error *err)
{
    struct told *told = gcd_mem_new_array(&d->alloc, d->name_count, sizeof *told);
    if (told == NULL && d->name_count > 0)
        return nomem(err);
    for (size_t i = 0, dump = 0; i < d->step_count; i++) {
        const struct step *s = &d->steps[i];
        bool is_short = s->short_name == GCD_NAME_NONE;
        count_step(&told[is_short ? s->name : s->short_name], dump_of(d, i, &dump), is_short);
    }
    for (size_t i = 0; i < d->step_count; i++) {
        struct step *s = &d->steps[i];
        const struct told *of = s->short_name != GCD_NAME_NONE ? &told[s->short_name] : NULL;
        if (of != NULL && of->some > 0 && of->some < of->dumps)
            s->name = s->short_name;
    }
    gcd_mem_free(&d->alloc, told, d->name_count * sizeof *told);
    return GCD_OK;
}

/* The kind of S's place: its name below that of its parent. */
static uint64_t place_of(const struct gcd_tree_diff *d, const struct step *s)
{
    uint32_t parent = s->parent != GCD_STEP_NONE ? d->steps[s->parent].name : GCD_NAME_NONE;
    return (uint64_t)parent << 32 | s->name;
}

static gcd_status count_told(const struct gcd_tree_diff *d, struct gcd_idmap *places,
                             struct told *told, struct gcd_error *err)
{
    uint32_t count = 0;
    for (size_t i = 0, dump = 0; i < d->step_count; i++) {
        const struct step *s = &d->steps[i];
        uint64_t id = place_of(d, s);
        uint32_t at = gcd_idmap_get(places, id);
        if (at == GCD_IDMAP_NONE && !gcd_idmap_put(places, id, at = count++))
            return nomem(err);
        count_step(&told[at], dump_of(d, i, &dump), s->field != GCD_NAME_NONE);
    }
    return GCD_OK;
}

/* Drops fields that not all dumps know which have such steps, so that the same steps match. */
static gcd_status unite_fields(struct gcd_tree_diff *d, struct gcd_error *err)
{
    struct gcd_idmap places;
    struct told *told = gcd_mem_new_array(&d->alloc, d->step_count, sizeof *told);
    gcd_idmap_init(&places, &d->alloc);
    gcd_status st = told != NULL ? count_told(d, &places, told, err) : nomem(err);
    for (size_t i = 0; i < d->step_count && st == GCD_OK; i++) {
        const struct told *of = &told[gcd_idmap_get(&places, place_of(d, &d->steps[i]))];
        if (of->some < of->dumps)
            d->steps[i].field = GCD_NAME_NONE;
    }
    gcd_idmap_done(&places);
    gcd_mem_free(&d->alloc, told, d->step_count * sizeof *told);
    return st;
}

/* What has a number of its own: steps with the same name and field, and rows. */
struct numbers {
    struct gcd_idmap pairs, rows;
    uint32_t pair_count;
};

/* The number of S's pair of name and field. */
static gcd_status number_pair(struct numbers *of, const struct step *s, uint32_t *ret,
                              struct gcd_error *err)
{
    uint64_t id = (uint64_t)s->field << 32 | s->name;
    *ret = gcd_idmap_get(&of->pairs, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    *ret = of->pair_count++;
    return gcd_idmap_put(&of->pairs, id, *ret) ? GCD_OK : nomem(err);
}

static gcd_status place_steps(struct gcd_tree_diff *d, struct numbers *of, struct gcd_error *err)
{
    size_t dump = 0;
    uint32_t pair;
    for (size_t i = 0; i < d->step_count; i++) {
        struct step *s = &d->steps[i];
        uint32_t parent = s->parent == GCD_STEP_NONE ? GCD_STEP_NONE : d->steps[s->parent].parent;
        GCD_TRY(number_pair(of, s, &pair, err));
        uint64_t id = (uint64_t)parent << 32 | pair;
        uint32_t row = gcd_idmap_get(&of->rows, id);
        if (row == GCD_IDMAP_NONE) {
            row = (uint32_t)d->row_count;
            GCD_TRY(new_row(d, parent, s, err));
            if (!gcd_idmap_put(&of->rows, id, row))
                return nomem(err);
        }
        s->parent = row;
        d->rows[row].facts = s->facts;
        struct gcd_diff_sum *sum = &d->sums[row * d->dumps + dump_of(d, i, &dump)];
        gcd_add_saturating(&sum->objects, s->objects);
        gcd_add_saturating(&sum->bytes, s->bytes);
    }
    return GCD_OK;
}

/* ---- sorting ---- */

/* By parent, then by growth.  GCD_STEP_NONE + 1 is 0, so the top comes first. */
static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_tree_diff *d = ctx;
    const struct gcd_tree_diff_row *a = &d->rows[x], *b = &d->rows[y];
    if (a->parent != b->parent)
        return a->parent + 1 < b->parent + 1 ? -1 : 1;
    int c = growth_compare_sums(a->sums, b->sums, d->dumps - 1);
    if (c == 0)
        c = strcmp(a->name, b->name);
    return c != 0 ? c : strcmp(a->field != NULL ? a->field : "", b->field != NULL ? b->field : "");
}

/* Places each row after its parent and after the subtrees of earlier siblings. */
static gcd_status sort_rows(struct gcd_tree_diff *d, struct gcd_error *err)
{
    size_t n = d->row_count;
    uint32_t *sorted = gcd_sort_order(&d->alloc, n, compare_rows, d), next = 0;
    /* rows in the subtree; later the position of its next child */
    uint32_t *size = gcd_mem_new_array(&d->alloc, n, sizeof *size);
    uint32_t *place = gcd_mem_new_array(&d->alloc, n, sizeof *place);
    struct gcd_tree_diff_row *rows = gcd_mem_new_array(&d->alloc, n, sizeof *rows);
    bool ok = sorted != NULL && size != NULL && place != NULL && rows != NULL;
    for (size_t i = n; ok && i-- > 0;) {
        size[i]++;
        if (d->rows[i].parent != GCD_STEP_NONE)
            size[d->rows[i].parent] += size[i];
    }
    for (size_t i = 0; ok && i < n; i++) {
        struct gcd_tree_diff_row row = d->rows[sorted[i]];
        uint32_t *at = row.parent == GCD_STEP_NONE ? &next : &size[row.parent], mine = *at;
        *at += size[sorted[i]];
        row.end = mine + size[sorted[i]];
        row.parent = row.parent == GCD_STEP_NONE ? GCD_STEP_NONE : place[row.parent];
        rows[mine] = row;
        place[sorted[i]] = mine;
        size[sorted[i]] = mine + 1;
    }
    gcd_mem_free(&d->alloc, sorted, n * sizeof *sorted);
    gcd_mem_free(&d->alloc, size, n * sizeof *size);
    gcd_mem_free(&d->alloc, place, n * sizeof *place);
    gcd_mem_free(&d->alloc, ok ? d->rows : rows, (ok ? d->row_room : n) * sizeof *rows);
    if (!ok)
        return nomem(err);
    d->rows = rows;
    d->row_room = n;
    return GCD_OK;
}

gcd_status gcd_tree_diff_match(struct gcd_tree_diff *d, struct gcd_error *err)
{
    struct numbers numbers = { .pair_count = 0 };
    if (d->tried)
        return gcd_fail(err, GCD_E_STATE, "the dumps are matched already");
    d->tried = true;
    gcd_idmap_init(&numbers.pairs, &d->alloc);
    gcd_idmap_init(&numbers.rows, &d->alloc);
    gcd_status st = unite_names(d, err);
    if (st == GCD_OK)
        st = unite_long_names(d, err);
    if (st == GCD_OK)
        st = unite_fields(d, err);
    if (st == GCD_OK)
        st = place_steps(d, &numbers, err);
    gcd_idmap_done(&numbers.pairs);
    gcd_idmap_done(&numbers.rows);
    free_steps(d);
    if (st != GCD_OK)
        return st;
    for (size_t i = 0; i < d->row_count; i++) /* SUMS does not move any more */
        d->rows[i].sums = d->sums + i * d->dumps;
    GCD_TRY(sort_rows(d, err));
    d->matched = true;
    return GCD_OK;
}

const struct gcd_tree_diff_row *gcd_tree_diff_rows(const struct gcd_tree_diff *d, size_t *ret_n)
{
    *ret_n = d->matched ? d->row_count : 0;
    return d->rows;
}
