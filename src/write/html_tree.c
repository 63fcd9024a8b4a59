#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "write/html_data.h"

/* For sorting: the largest first, and of equals the one with the smaller number, so that a caller stays before what it calls. */
struct rank {
    uint64_t rest;               /* UINT64_MAX - bytes */
    uint32_t stack;
};

/* The own sums are lost on the way up, and are the difference to those of the children in the end. */
struct sums {
    uint64_t *all_objects, *all_bytes;   /* the caller's */
    uint64_t *own_objects, *own_bytes;
    uint32_t *number;            /* in the tree, STACKS_NONE = left out */
    struct rank *ranks;
};

static size_t rank_all(const struct stacks *s, struct sums *m)
{
    size_t n = 0;
    memcpy(m->own_objects, m->all_objects, s->count * sizeof *m->own_objects);
    memcpy(m->own_bytes, m->all_bytes, s->count * sizeof *m->own_bytes);
    for (size_t i = s->count; i-- > 0;) {
        uint32_t caller = s->items[i].caller;
        if (caller == STACKS_NONE)
            continue;
        gcd_add_saturating(&m->all_objects[caller], m->all_objects[i]);
        gcd_add_saturating(&m->all_bytes[caller], m->all_bytes[i]);
    }
    for (size_t i = 0; i < s->count; i++)
        if (m->all_objects[i] > 0)
            m->ranks[n++] = (struct rank){ .rest = UINT64_MAX - m->all_bytes[i], .stack = (uint32_t)i };
    return n;
}

static gcd_status choose(struct html_tree *t, const struct stacks *s, struct sums *m, size_t max, struct gcd_error *err)
{
    size_t n = rank_all(s, m);
    if (!gcd_sort_by_u64(&s->alloc, m->ranks, n, sizeof *m->ranks))
        return gcd_fail_nomem(err, "sorting a tree");
    n = n < max ? n : max;
    t->items = gcd_mem_new_array(&s->alloc, n, sizeof *t->items);
    if (t->items == NULL && n > 0)
        return gcd_fail_nomem(err, "making a tree");
    t->room = n;
    memset(m->number, 0xff, s->count * sizeof *m->number);       /* STACKS_NONE */
    for (size_t i = 0; i < n; i++)
        m->number[m->ranks[i].stack] = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (m->number[i] == STACKS_NONE)
            continue;
        const struct stack *k = &s->items[i];
        m->number[i] = (uint32_t)t->count;
        t->items[t->count++] = (struct html_node){
            .parent = k->caller == STACKS_NONE ? STACKS_NONE : m->number[k->caller], .frame = k->frame,
            .objects = m->own_objects[i], .bytes = m->own_bytes[i], .all_objects = m->all_objects[i], .all_bytes = m->all_bytes[i],
        };
    }
    return GCD_OK;
}

gcd_status html_tree_make(struct html_tree *t, const struct stacks *s, uint64_t *own_objects, uint64_t *own_bytes, size_t max,
                          struct gcd_error *err)
{
    const struct gcd_alloc *a = &s->alloc;
    struct sums m = {
        .all_objects = own_objects, .all_bytes = own_bytes,
        .own_objects = gcd_mem_new_uncleared(a, s->count, sizeof *m.own_objects),
        .own_bytes = gcd_mem_new_uncleared(a, s->count, sizeof *m.own_bytes),
        .number = gcd_mem_new_uncleared(a, s->count, sizeof *m.number),
        .ranks = gcd_mem_new_uncleared(a, s->count, sizeof *m.ranks),
    };
    *t = (struct html_tree){ .items = NULL };
    gcd_status st = s->count == 0 ? GCD_OK
                    : m.own_objects == NULL || m.own_bytes == NULL || m.number == NULL || m.ranks == NULL ? gcd_fail_nomem(err, "making a tree")
                    : choose(t, s, &m, max, err);
    gcd_mem_free(a, m.own_objects, s->count * sizeof *m.own_objects);
    gcd_mem_free(a, m.own_bytes, s->count * sizeof *m.own_bytes);
    gcd_mem_free(a, m.number, s->count * sizeof *m.number);
    gcd_mem_free(a, m.ranks, s->count * sizeof *m.ranks);
    return st;
}

void html_tree_done(struct html_tree *t, const struct gcd_alloc *a)
{
    gcd_mem_free(a, t->items, t->room * sizeof *t->items);
    *t = (struct html_tree){ .items = NULL };
}
