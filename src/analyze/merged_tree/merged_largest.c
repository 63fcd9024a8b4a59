#include "analyze/merged_tree/merged_tree.h"

#include <string.h>

#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* For sorting: the largest first, and of equals the one with the smaller number, so that a step stays before those below it. */
struct rank {
    uint64_t rest;               /* UINT64_MAX - bytes */
    uint32_t step;
};

struct work {
    const struct gcd_merged_tree *t;
    struct merged_part *sums;    /* [t->count] with all below */
    struct rank *ranks;          /* [t->count] */
    uint32_t *number;            /* [t->count] in the new tree, GCD_STEP_NONE = left out */
};

/* The objects of TYPE that are in step I itself. */
static struct merged_part own_of(const struct gcd_merged_tree *t, size_t i, uint32_t type)
{
    const struct gcd_merged_step *s = &t->steps[i];
    if (type == GCD_STEP_NONE || s->label == type)
        return (struct merged_part){ s->own_count, s->own_bytes };
    uint32_t part = s->label == merged_label(t, MERGED_DEEPER) ? gcd_idmap_get(&t->part, (uint64_t)i << 32 | type) : GCD_IDMAP_NONE;
    return part != GCD_IDMAP_NONE ? t->parts[part] : (struct merged_part){ 0 };
}

/* The objects of TYPE with all below. */
static void add_up_type(struct work *w, uint32_t type)
{
    for (size_t i = w->t->count; i-- > 0;) {
        uint32_t parent = w->t->steps[i].parent;
        struct merged_part own = own_of(w->t, i, type);
        w->sums[i].count += own.count;
        gcd_add_saturating(&w->sums[i].bytes, own.bytes);
        if (parent == GCD_STEP_NONE)
            continue;
        w->sums[parent].count += w->sums[i].count;
        gcd_add_saturating(&w->sums[parent].bytes, w->sums[i].bytes);
    }
}

/* Returns how many steps have objects. */
static size_t rank_all(struct work *w, uint32_t type)
{
    size_t n = 0;
    for (size_t i = 0; i < w->t->count && type == GCD_STEP_NONE; i++)
        w->sums[i] = (struct merged_part){ w->t->steps[i].count, w->t->steps[i].bytes };
    if (type != GCD_STEP_NONE)
        add_up_type(w, type);
    for (size_t i = 0; i < w->t->count; i++)
        if (w->sums[i].count > 0)
            w->ranks[n++] = (struct rank){ .rest = UINT64_MAX - w->sums[i].bytes, .step = (uint32_t)i };
    return n;
}

static gcd_status keep(struct work *w, uint32_t type, size_t max, struct gcd_merged_tree *to, struct gcd_error *err)
{
    size_t n = rank_all(w, type);
    if (!gcd_sort_by_u64(&to->alloc, w->ranks, n, sizeof *w->ranks))
        return merged_nomem(err);
    n = n < max ? n : max;
    to->steps = gcd_mem_new_array(&to->alloc, n, sizeof *to->steps);
    if (to->steps == NULL)
        return merged_nomem(err);
    to->room = n;
    memset(w->number, 0xff, w->t->count * sizeof *w->number);    /* GCD_STEP_NONE */
    for (size_t i = 0; i < n; i++)
        w->number[w->ranks[i].step] = 0;
    for (size_t i = 0; i < w->t->count; i++) {
        if (w->number[i] == GCD_STEP_NONE)
            continue;
        struct gcd_merged_step s = w->t->steps[i];
        struct merged_part own = own_of(w->t, i, type);
        s.parent = s.parent == GCD_STEP_NONE ? GCD_STEP_NONE : w->number[s.parent];
        s.own_count = own.count;
        s.own_bytes = own.bytes;
        s.count = w->sums[i].count;
        s.bytes = w->sums[i].bytes;
        w->number[i] = (uint32_t)to->count;
        to->steps[to->count++] = s;
    }
    return GCD_OK;
}

gcd_status gcd_merged_tree_largest(const struct gcd_merged_tree *t, uint32_t type, size_t max, struct gcd_merged_tree **ret,
                                   struct gcd_error *err)
{
    const struct gcd_alloc *a = &t->alloc;
    struct gcd_merged_tree *to = gcd_mem_new(a, sizeof *to);
    if (to == NULL)
        return merged_nomem(err);
    to->alloc = t->alloc;
    to->types = t->types;
    gcd_idmap_init(&to->part, &to->alloc);
    struct work w = {
        .t = t,
        .sums = gcd_mem_new_array(a, t->count, sizeof *w.sums),
        .ranks = gcd_mem_new_uncleared(a, t->count, sizeof *w.ranks),
        .number = gcd_mem_new_uncleared(a, t->count, sizeof *w.number),
    };
    gcd_status st = w.sums != NULL && w.ranks != NULL && w.number != NULL ? keep(&w, type, max, to, err) : merged_nomem(err);
    gcd_mem_free(a, w.sums, t->count * sizeof *w.sums);
    gcd_mem_free(a, w.ranks, t->count * sizeof *w.ranks);
    gcd_mem_free(a, w.number, t->count * sizeof *w.number);
    if (st == GCD_OK)
        *ret = to;
    else
        gcd_merged_tree_free(to);
    return st;
}
