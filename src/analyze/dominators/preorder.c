/*
 * Live objects in preorder.  The order of the dominators gives the positions: inner nodes come
 * first, each before its children, then the leaves in heap order.  So data about leaves is read
 * sequentially; data about inner nodes is scattered, and several threads read it.
 */
#include "analyze/dominators/preorder.h"

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/parts.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* This many objects are looked up together, so that their cache misses overlap. */
#define TOGETHER 64u
/* Prefetch distance, in leaves. */
#define AHEAD 16u
/* The type of an object not yet looked up, whose NODE is its position in the order of the
 * dominators. */
#define LATER UINT32_MAX

struct making {
    struct gcd_preorder *p;
    const struct gcd_dominators *d;
    /* [inner + 1] by position in the order of the dominators: size of the subtree; then where its
     * next child goes */
    uint32_t *cursor;
    uint32_t parts;
};

static uint32_t in_32_bits(uint64_t retained)
{
    return retained < PREORDER_LARGE ? (uint32_t)retained : PREORDER_LARGE;
}

static struct preorder_object about(const struct making *m, uint32_t node, uint32_t below)
{
    return (struct preorder_object){ .below = below,
                                     .type = gcd_graph_node_type(m->p->g, node),
                                     .retained = in_32_bits(dominators_retained(m->d, node)),
                                     .node = node };
}

static void count_below(struct making *m)
{
    const struct gcd_dominators *d = m->d;
    for (uint32_t v = 0; v <= d->inner; v++)
        m->cursor[v] = 1;
    for (uint32_t v = d->reachable; v > d->inner; v--)
        m->cursor[d->above[v]]++;
    for (uint32_t v = d->inner; v > 0; v--)
        m->cursor[d->above[v]] += m->cursor[v];
}

static void place_inner(struct making *m)
{
    const struct gcd_dominators *d = m->d;
    m->cursor[0] = 0;
    for (uint32_t v = 1; v <= d->inner; v++) {
        uint32_t *cursor = &m->cursor[d->above[v]], below = m->cursor[v], at = *cursor;
        *cursor += below;
        m->cursor[v] = at + 1;
        m->p->objects[at] = (struct preorder_object){ .below = below, .type = LATER, .node = v };
    }
}

static void place_leaves(struct making *m)
{
    const struct gcd_dominators *d = m->d;
    for (uint32_t v = d->inner + 1; v <= d->reachable; v++) {
        if (d->reachable - v >= AHEAD)
            __builtin_prefetch(&m->cursor[d->above[v + AHEAD]], 1);
        m->p->objects[m->cursor[d->above[v]]++] = about(m, d->order[v], 1);
    }
}

/* Fills in the inner nodes of a part. */
static void look_up_part(void *ctx, uint32_t part)
{
    const struct making *m = ctx;
    struct preorder_object *objects = m->p->objects;
    uint32_t at, end, waiting[TOGETHER], nodes[TOGETHER], n = 0;
    parts_range(m->p->count, part, m->parts, &at, &end);
    while (at < end) {
        for (n = 0; at < end && n < TOGETHER; at++) {
            waiting[n] = at;
            n += objects[at].type == LATER;
        }
        for (uint32_t i = 0; i < n; i++) {
            nodes[i] = m->d->order[objects[waiting[i]].node];
            dominators_fetch_retained(m->d, nodes[i]);
        }
        for (uint32_t i = 0; i < n; i++)
            objects[waiting[i]] = about(m, nodes[i], objects[waiting[i]].below);
    }
}

static void make(struct making *m, unsigned threads)
{
    count_below(m);
    place_inner(m);
    place_leaves(m);
    m->parts = parts_count(m->p->count);
    gcd_parallel(threads, m->parts, look_up_part, m);
}

gcd_status gcd_preorder_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                            const struct gcd_context *context, struct gcd_preorder **ret,
                            struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_preorder *p = gcd_mem_new(&a, sizeof *p);
    if (p == NULL)
        return gcd_fail_nomem(err, "ordering objects by what dominates them");
    size_t cursors = (size_t)d->inner + 1;
    *p = (struct gcd_preorder){ .alloc = a, .g = g, .d = d, .count = d->reachable };
    struct making m = { .p = p,
                        .d = d,
                        .cursor = gcd_mem_new_uncleared(&a, cursors, sizeof *m.cursor) };
    p->objects = gcd_mem_new_uncleared(&a, p->count, sizeof *p->objects);
    bool room = m.cursor != NULL && p->objects != NULL;
    if (room)
        make(&m, context->threads);
    gcd_mem_free(&a, m.cursor, cursors * sizeof *m.cursor);
    if (room) {
        *ret = p;
        return GCD_OK;
    }
    gcd_preorder_free(p);
    return gcd_fail_nomem(err, "ordering objects by what dominates them");
}

void gcd_preorder_free(struct gcd_preorder *p)
{
    if (p == NULL)
        return;
    struct gcd_alloc a = p->alloc;
    gcd_mem_free(&a, p->objects, p->count * sizeof *p->objects);
    gcd_mem_free(&a, p, sizeof *p);
}

/* A subtree is a range: an object is below another of its type if it comes before the end of that
 * one's range. */
gcd_status gcd_preorder_retained_by_type(const struct gcd_preorder *p, uint64_t *ret_bytes,
                                         struct gcd_error *err)
{
    uint32_t types = gcd_graph_summary(p->g)->type_count,
             *end = gcd_mem_new_array(&p->alloc, types, sizeof *end);
    if (end == NULL)
        return gcd_fail_nomem(err, "adding up retained sizes");
    for (uint32_t i = 0; i < types; i++)
        ret_bytes[i] = 0;
    for (uint32_t at = 0; at < p->count; at++) {
        const struct preorder_object *o = &p->objects[at];
        if (at < end[o->type])
            continue;
        end[o->type] = at + o->below;
        gcd_add_saturating(&ret_bytes[o->type], preorder_retained(p, o));
    }
    gcd_mem_free(&p->alloc, end, types * sizeof *end);
    return GCD_OK;
}
