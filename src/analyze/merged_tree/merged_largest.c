#include "analyze/merged_tree/merged_tree.h"

#include <string.h>

#include "analyze/dominators/live_edges.h"
#include "base/mem.h"
#include "base/ovf.h"

/* This many objects wait for memory together. */
#define AHEAD 16u

struct work {
    const struct gcd_merged_tree *t;
    size_t words;
    uint64_t *has;            /* one bit per step: wanted objects are in it or below */
    struct merged_part *own;  /* [t->count] valid for steps in HAS */
    struct merged_part *sums; /* [t->count] with everything below; valid for steps in HAS */
    /* [max] steps with the most bytes, a heap with the smallest on top */
    uint32_t *kept;
    size_t kept_count, max;
    /* [t->count] in the new tree, for steps in HAS; GCD_STEP_NONE = left out */
    uint32_t *number;
};

/* ---- sums ---- */

/* Puts STEP into HAS, with sums of 0, unless it is there. */
static void touch(struct work *w, uint32_t step)
{
    if (bits_get(w->has, step))
        return;
    bits_set(w->has, step);
    w->own[step] = w->sums[step] = (struct merged_part){ 0 };
}

static void add_part(struct merged_part *to, struct merged_part x)
{
    to->count += x.count;
    gcd_add_saturating(&to->bytes, x.bytes);
}

static void copy_all(struct work *w)
{
    for (uint32_t i = 0; i < w->t->count; i++) {
        const struct gcd_merged_step *s = &w->t->steps[i];
        w->own[i] = (struct merged_part){ s->own_count, s->own_bytes };
        w->sums[i] = (struct merged_part){ s->count, s->bytes };
        if (s->count > 0)
            bits_set(w->has, i);
    }
}

/* The last step in HAS with a number below *I; false: there is none. */
static bool previous(const struct work *w, size_t *i)
{
    size_t word = *i >> 6;
    uint64_t bits = (*i & 63) != 0 ? w->has[word] & ((UINT64_C(1) << (*i & 63)) - 1) : 0;
    while (bits == 0 && word > 0)
        bits = w->has[--word];
    if (bits != 0)
        *i = word * 64 + 63 - (size_t)__builtin_clzll(bits);
    return bits != 0;
}

/* Adds the objects OF[n], then each step to its parent, last steps first: a child has a higher
 * number. */
static void add_up(struct work *w, const uint32_t *of, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t step = w->t->place[of[i]];
        if (n - i > AHEAD)
            __builtin_prefetch(&w->t->place[of[i + AHEAD]]);
        touch(w, step);
        add_part(&w->own[step], (struct merged_part){ 1, gcd_graph_node_size(w->t->g, of[i]) });
    }
    for (size_t i = w->t->count; previous(w, &i);) {
        uint32_t parent = w->t->steps[i].parent;
        add_part(&w->sums[i], w->own[i]);
        if (parent == GCD_STEP_NONE)
            continue;
        touch(w, parent);
        add_part(&w->sums[parent], w->sums[i]);
    }
}

/* ---- the largest ---- */

/* Among equals, the higher number is less, so that a step stays longer than those below it. */
static bool is_less(const struct work *w, uint32_t a, uint32_t b)
{
    return w->sums[a].bytes != w->sums[b].bytes ? w->sums[a].bytes < w->sums[b].bytes : a > b;
}

/* Puts STEP into the heap at AT, or below where it belongs. */
static void sink(struct work *w, size_t at, uint32_t step)
{
    for (size_t child; (child = 2 * at + 1) < w->kept_count; at = child) {
        child += child + 1 < w->kept_count && is_less(w, w->kept[child + 1], w->kept[child]);
        if (!is_less(w, w->kept[child], step))
            break;
        w->kept[at] = w->kept[child];
    }
    w->kept[at] = step;
}

static void offer(struct work *w, uint32_t step)
{
    if (w->kept_count < w->max) {
        w->kept[w->kept_count++] = step;
        for (size_t i = w->kept_count == w->max ? w->max / 2 : 0;
             i-- > 0;) /* full: from now on a heap */
            sink(w, i, w->kept[i]);
    } else if (w->max > 0 && is_less(w, w->kept[0], step)) {
        sink(w, 0, step);
    }
}

static gcd_status publish(struct work *w, struct gcd_merged_tree *to, struct gcd_error *err)
{
    to->steps = gcd_mem_new_array(&to->alloc, w->kept_count, sizeof *to->steps);
    if (to->steps == NULL)
        return merged_nomem(err);
    to->room = to->count = w->kept_count;
    uint32_t next = (uint32_t)w->kept_count;
    for (size_t i = w->t->count; previous(w, &i);)
        if (w->number[i] != GCD_STEP_NONE)
            w->number[i] = --next;
    for (size_t i = w->t->count; previous(w, &i);) {
        if (w->number[i] == GCD_STEP_NONE)
            continue;
        struct gcd_merged_step *s = &to->steps[w->number[i]];
        *s = w->t->steps[i];
        s->parent = s->parent == GCD_STEP_NONE ? GCD_STEP_NONE : w->number[s->parent];
        s->own_count = w->own[i].count;
        s->own_bytes = w->own[i].bytes;
        s->count = w->sums[i].count;
        s->bytes = w->sums[i].bytes;
    }
    return GCD_OK;
}

static gcd_status keep(struct work *w, const uint32_t *of, size_t n, struct gcd_merged_tree *to,
                       struct gcd_error *err)
{
    if (of != NULL)
        add_up(w, of, n);
    else
        copy_all(w);
    for (size_t i = w->t->count; previous(w, &i);) {
        offer(w, (uint32_t)i);
        w->number[i] = GCD_STEP_NONE;
    }
    for (size_t i = 0; i < w->kept_count; i++)
        w->number[w->kept[i]] = 0;
    return publish(w, to, err);
}

gcd_status gcd_merged_tree_largest(const struct gcd_merged_tree *t, const uint32_t *of, size_t n,
                                   size_t max, struct gcd_merged_tree **ret, struct gcd_error *err)
{
    const struct gcd_alloc *a = &t->alloc;
    struct gcd_merged_tree *to = gcd_mem_new(a, sizeof *to);
    if (to == NULL)
        return merged_nomem(err);
    to->alloc = t->alloc;
    to->types = t->types;
    to->fields = t->fields;
    struct work w = { .t = t, .words = t->count / 64 + 1, .max = max < t->count ? max : t->count };
    w.has = gcd_mem_new_array(a, w.words, sizeof *w.has);
    w.own = gcd_mem_new_uncleared(a, t->count, sizeof *w.own);
    w.sums = gcd_mem_new_uncleared(a, t->count, sizeof *w.sums);
    w.kept = gcd_mem_new_uncleared(a, w.max, sizeof *w.kept);
    w.number = gcd_mem_new_uncleared(a, t->count, sizeof *w.number);
    bool room =
        w.has != NULL && w.own != NULL && w.sums != NULL && w.kept != NULL && w.number != NULL;
    gcd_status st = room ? keep(&w, of, n, to, err) : merged_nomem(err);
    gcd_mem_free(a, w.has, w.words * sizeof *w.has);
    gcd_mem_free(a, w.own, t->count * sizeof *w.own);
    gcd_mem_free(a, w.sums, t->count * sizeof *w.sums);
    gcd_mem_free(a, w.kept, w.max * sizeof *w.kept);
    gcd_mem_free(a, w.number, t->count * sizeof *w.number);
    if (st == GCD_OK)
        *ret = to;
    else
        gcd_merged_tree_free(to);
    return st;
}
