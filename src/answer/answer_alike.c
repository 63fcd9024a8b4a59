/*
 * Types of a diff that grow together because they are parts of one thing: what a collection has
 * inside, such as Dictionary<K, V>.Entry[], and the array of a List<T>.  People see one row.
 */
#include "answer/answer_alike.h"
#include "answer/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/text.h"

#define COLLECTIONS "System.Collections."
#define LIST        COLLECTIONS "Generic.List<"
/* A longer name is nobody's array. */
#define NAME_BYTES 1000u

struct ranked {
    double growth;
    uint32_t row;
};

void answer_alike_done(struct answer_alike *a)
{
    gcd_mem_free(&a->alloc, a->groups, a->n * sizeof *a->groups);
    gcd_mem_free(&a->alloc, a->order, a->n * sizeof *a->order);
    gcd_mem_free(&a->alloc, a->observed, a->n * sizeof *a->observed);
    *a = (struct answer_alike){ .n = 0 };
}

static uint64_t name_id(const char *name, size_t n)
{
    return gcd_text_hash(name, n, 0);
}

static uint32_t find(const struct gcd_diff *d, const struct gcd_idmap *map, const char *name,
                     size_t n)
{
    uint32_t row = gcd_idmap_get(map, name_id(name, n));
    const char *found = row != GCD_IDMAP_NONE ? gcd_diff_row(d, row)->name : "";
    return strncmp(found, name, n) == 0 && found[n] == '\0' ? row : GCD_IDMAP_NONE;
}

/* Did about as many objects of A come as of B? */
static bool grows_alike(const struct gcd_diff_row *a, const struct gcd_diff_row *b)
{
    uint64_t x = a->sums[1].objects - a->sums[0].objects,
             y = b->sums[1].objects - b->sums[0].objects;
    return a->sums[1].objects > a->sums[0].objects && b->sums[1].objects > b->sums[0].objects &&
           (x > y ? x - y : y - x) <= y / 10;
}

/* The row of the collection that ROW is a part of; GCD_IDMAP_NONE. */
static uint32_t whole_of(const struct gcd_diff *d, const struct gcd_idmap *map,
                         const struct gcd_diff_row *row)
{
    const char *name = row->name;
    size_t n = strlen(name);
    if (gcd_text_begins(name, COLLECTIONS)) {
        const char *end = strrchr(name, '>');
        return end != NULL && end[1] == '.' ? find(d, map, name, (size_t)(end + 1 - name))
                                            : GCD_IDMAP_NONE;
    }
    char list[NAME_BYTES + sizeof LIST];
    if (n < 3 || n >= NAME_BYTES || strcmp(name + n - 2, "[]") != 0)
        return GCD_IDMAP_NONE;
    memcpy(list, LIST, sizeof LIST - 1);
    memcpy(list + sizeof LIST - 1, name, n - 2);
    list[sizeof LIST - 1 + n - 2] = '>';
    uint32_t found = find(d, map, list, sizeof LIST - 1 + n - 1);
    return found != GCD_IDMAP_NONE && grows_alike(row, gcd_diff_row(d, found)) ? found
                                                                               : GCD_IDMAP_NONE;
}

static void add(struct gcd_diff_sum *to, const struct gcd_diff_sum *sum)
{
    gcd_add_saturating(&to->objects, sum->objects);
    gcd_add_saturating(&to->bytes, sum->bytes);
}

static int by_growth(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int c = (a->growth < b->growth) - (a->growth > b->growth);
    return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

/* Each row joins its collection; a collection that is a part itself has no more parts. */
static void join(struct answer_alike *a, const struct gcd_diff *d, const struct gcd_idmap *map)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct gcd_diff_row *row = gcd_diff_row(d, i);
        uint32_t whole = whole_of(d, map, row);
        a->groups[i].whole = whole != GCD_IDMAP_NONE && whole != i ? whole : i;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t whole = a->groups[i].whole;
        if (whole == i || a->groups[whole].whole != whole)
            continue;
        const struct gcd_diff_sum *sums = gcd_diff_row(d, i)->sums;
        struct answer_group *g = &a->groups[whole];
        g->parts++;
        g->part = i;
        for (int k = 0; k < 2; k++)
            add(&g->more[k], &sums[k]);
    }
}

static gcd_status sort(struct answer_alike *a, const struct gcd_diff *d, struct gcd_error *err)
{
    struct ranked *ranked = gcd_mem_new_array(&a->alloc, a->n, sizeof *ranked);
    if (ranked == NULL && a->n > 0)
        return gcd_fail_nomem(err, "comparing types");
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t whole = a->groups[i].whole;
        if (whole != i && a->groups[whole].whole == whole)
            continue;
        struct gcd_diff_sum sums[2];
        answer_alike_sums(a, d, i, sums);
        double growth = (double)sums[1].bytes - (double)sums[0].bytes,
               observed = (double)a->observed[i];
        if (growth > 0)
            growth = growth > observed ? growth - observed : 0;
        ranked[a->count++] = (struct ranked){ growth, i };
    }
    qsort(ranked, a->count, sizeof *ranked, by_growth);
    for (size_t i = 0; i < a->count; i++)
        a->order[i] = ranked[i].row;
    gcd_mem_free(&a->alloc, ranked, a->n * sizeof *ranked);
    return GCD_OK;
}

void answer_alike_sums(const struct answer_alike *a, const struct gcd_diff *d, uint32_t row,
                       struct gcd_diff_sum ret[2])
{
    for (int k = 0; k < 2; k++) {
        ret[k] = gcd_diff_row(d, row)->sums[k];
        add(&ret[k], &a->groups[row].more[k]);
    }
}

gcd_status answer_alike_find(const struct gcd_diff *d, struct gcd_session *observed,
                             struct answer_alike *ret, struct gcd_error *err)
{
    struct answer_alike *a = ret;
    struct gcd_idmap map;
    bool ok = true;
    *a = (struct answer_alike){ .alloc = gcd_alloc_or_default(NULL), .n = gcd_diff_row_count(d) };
    a->groups = gcd_mem_new_array(&a->alloc, a->n, sizeof *a->groups);
    a->order = gcd_mem_new_array(&a->alloc, a->n, sizeof *a->order);
    a->observed = gcd_mem_new_array(&a->alloc, a->n, sizeof *a->observed);
    gcd_idmap_init(&map, &a->alloc);
    for (uint32_t i = 0; i < a->n && ok; i++) {
        const char *name = gcd_diff_row(d, i)->name;
        ok = gcd_idmap_put(&map, name_id(name, strlen(name)), i);
    }
    ok = ok && (a->n == 0 || (a->groups != NULL && a->order != NULL && a->observed != NULL));
    if (ok)
        join(a, d, &map);
    gcd_idmap_done(&map);
    if (!ok)
        return gcd_fail_nomem(err, "comparing types");
    if (observed != NULL)
        GCD_TRY(answer_observed(observed, d, a->observed, err));
    for (uint32_t i = 0; i < a->n; i++) /* of a collection with its parts */
        if (a->groups[i].whole != i)
            gcd_add_saturating(&a->observed[a->groups[i].whole], a->observed[i]);
    return sort(a, d, err);
}
