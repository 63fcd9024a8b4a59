/*
 * What each field retains: include/gcdumpc/unstable/field_sizes.h.
 *
 * One pass over the objects in preorder of the dominator tree.  The dominator of an object
 * dominates also whatever refers to it, so for a reference from P to T there are two cases: P is
 * the dominator of T, and the reference goes through a field of it; or P is in the subtree of a
 * sibling of T, and the fields that lead to this sibling lead to T, too.  A list of such pairs of
 * siblings passes the sets of fields on until nothing changes; a set only grows, four times at
 * most.
 */
#include <gcdumpc/unstable/field_sizes.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/preorder.h"
#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY UINT32_C(65536)
#define DOING       "adding up fields"

/* The fields that lead to an object: their numbers in order, or one of these; the larger wins. */
#define SET_NONE     GCD_SLOT_NONE
#define SET_SEVERAL  (UINT32_MAX - 5)
#define SET_UNKNOWN  (UINT32_MAX - 4)
#define SET_NO_FIELD (UINT32_MAX - 3)

struct set {
    uint32_t a, b;
};

struct pair {
    uint32_t from, to;
};

struct gcd_field_sizes {
    struct gcd_alloc alloc;
    struct gcd_field_size *rows;
    size_t count, room;
};

struct adding {
    const struct gcd_graph *g;
    const struct gcd_summary *summary;
    const struct gcd_dominators *d;
    const struct gcd_field_sizes_of *of;
    struct gcd_alloc alloc;
    struct live_edges live;
    struct gcd_preorder *order;
    uint32_t nodes, slots;
    uint32_t *depth;  /* [nodes] below the roots */
    struct set *sets; /* [nodes] */
    struct pair *pairs;
    size_t pair_count, pair_room;
    uint32_t *above; /* [nodes + 1] the objects above the current one, by depth */
    uint32_t *end;   /* [rows] where the last counted subtree of a row ends */
    size_t end_room;
    struct gcd_idmap row_of;
    struct gcd_field_pass pass;
    struct gcd_field_sizes *ret;
};

/* ---- sets ---- */

static bool is_special(uint32_t x)
{
    return x != SET_NONE && x >= SET_SEVERAL;
}

static struct set joined(struct set x, struct set y)
{
    if (y.a == SET_NONE)
        return x;
    if (x.a == SET_NONE)
        return y;
    if (is_special(x.a) || is_special(y.a)) {
        uint32_t a = is_special(x.a) ? x.a : 0, b = is_special(y.a) ? y.a : 0;
        return (struct set){ a > b ? a : b, SET_NONE };
    }
    uint32_t all[] = { y.a, y.b };
    for (size_t i = 0; i < 2; i++) {
        uint32_t v = all[i];
        if (v == SET_NONE || v == x.a || v == x.b)
            continue;
        if (x.b != SET_NONE)
            return (struct set){ SET_SEVERAL, SET_NONE };
        x = v < x.a ? (struct set){ v, x.a } : (struct set){ x.a, v };
    }
    return x;
}

static bool add_to(struct adding *w, uint32_t node, struct set more)
{
    struct set before = w->sets[node], *s = &w->sets[node];
    *s = joined(before, more);
    return s->a != before.a || s->b != before.b;
}

/* ---- which fields lead to an object ---- */

static bool is_wanted(const struct adding *w, uint32_t node)
{
    if (node == GCD_NODE_ROOT)
        return w->of->roots != NULL;
    return w->of->types != NULL && w->of->types[gcd_graph_node_type(w->g, node)] != 0;
}

static struct set set_of_field(const struct gcd_field *f)
{
    if (f->array)
        return (struct set){ SET_NO_FIELD, SET_NONE };
    return (struct set){ f->slot != GCD_SLOT_NONE ? f->slot : SET_UNKNOWN, SET_NONE };
}

/* FROM in the subtree of NODE's sibling refers to it; ABOVE: their dominator. */
static gcd_status add_pair(struct adding *w, uint32_t from, uint32_t to, uint32_t above,
                           struct gcd_error *err)
{
    uint32_t depth = above != GCD_NODE_ROOT ? w->depth[above] + 1 : 0;
    uint32_t sibling = depth < w->depth[from] ? w->above[depth] : from;
    if (sibling == to) /* from inside: the way to it is counted */
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->pairs, &w->pair_room, w->pair_count + 1, sizeof *w->pairs,
                         SIZE_MAX))
        return gcd_fail_nomem(err, DOING);
    w->pairs[w->pair_count++] = (struct pair){ sibling, to };
    return GCD_OK;
}

/* Reference number I of FROM, whose dominators are in w->above; from FIELDS on they are the
 * values of dependent handles. */
static gcd_status add_reference(struct adding *w, uint32_t from, uint64_t i, size_t fields,
                                uint32_t to, struct gcd_error *err)
{
    uint32_t above = gcd_dominators_parent(w->d, to);
    if (above == GCD_NODE_NONE || !is_wanted(w, above) || dominators_is_idle(w->d, from, to))
        return GCD_OK;
    if (above != from)
        return add_pair(w, from, to, above, err);
    struct gcd_field field = GCD_FIELD_UNKNOWN;
    if (i < fields)
        field = gcd_fields_certain(w->of->fields, &w->pass, from, (size_t)i);
    (void)add_to(w, to, set_of_field(&field));
    return GCD_OK;
}

static gcd_status visit(struct adding *w, uint32_t node, struct gcd_error *err)
{
    uint32_t above = gcd_dominators_parent(w->d, node), to;
    size_t fields;
    (void)gcd_graph_node_edges(w->g, node, &fields);
    w->depth[node] = above != GCD_NODE_ROOT ? w->depth[above] + 1 : 0;
    w->above[w->depth[node]] = node;
    for (uint64_t i = 0; (to = live_edges_at(&w->live, node, i)) != GCD_NODE_NONE; i++)
        GCD_TRY(add_reference(w, node, i, fields, to, err));
    return GCD_OK;
}

static gcd_status visit_all(struct adding *w, struct gcd_error *err)
{
    for (uint32_t i = 0; i < w->order->count; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->of->context.cancel, err));
        GCD_TRY(visit(w, w->order->objects[i].node, err));
    }
    return GCD_OK;
}

/* Late roots count only for what no other root reaches (root_order.h). */
static void visit_roots(struct adding *w)
{
    for (size_t i = 0; i < w->summary->root_count && w->of->roots != NULL; i++) {
        const struct gcd_root *r = &w->summary->roots[i];
        if (r->node == GCD_NODE_NONE || gcd_group_is_late(gcd_root_group(r)))
            continue;
        uint32_t number = w->of->roots[i] != 0 ? w->slots + (uint32_t)i : SET_NO_FIELD;
        if (gcd_dominators_parent(w->d, r->node) == GCD_NODE_ROOT)
            (void)add_to(w, r->node, (struct set){ number, SET_NONE });
    }
}

/* ---- passing the sets on ---- */

struct siblings {
    uint32_t *waiting; /* [nodes] a ring: objects whose set has grown */
    uint64_t *is_waiting;
    size_t *first; /* [nodes + 1] of the pairs of each object */
    uint32_t *to;  /* [pairs] */
};

static void order_pairs(const struct adding *w, struct siblings *s)
{
    for (size_t i = 0; i < w->pair_count; i++)
        s->first[w->pairs[i].from + 1]++;
    for (uint32_t i = 0; i < w->nodes; i++)
        s->first[i + 1] += s->first[i];
    for (size_t i = w->pair_count; i-- > 0;) /* the last place becomes the first one */
        s->to[--s->first[w->pairs[i].from + 1]] = w->pairs[i].to;
    memmove(s->first, s->first + 1, w->nodes * sizeof *s->first);
    s->first[w->nodes] = w->pair_count;
}

static gcd_status pass_on(struct adding *w, struct siblings *s, struct gcd_error *err)
{
    size_t head = 0, count = 0, done = 0;
    for (uint32_t i = 0; i < w->nodes; i++)
        if (s->first[i] != s->first[i + 1] && w->sets[i].a != SET_NONE) {
            s->waiting[count++] = i;
            bits_set(s->is_waiting, i);
        }
    for (; count > 0; count--) {
        uint32_t from = s->waiting[head];
        head = (head + 1) % w->nodes;
        bits_clear(s->is_waiting, from);
        if (done++ % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->of->context.cancel, err));
        for (size_t i = s->first[from]; i < s->first[from + 1]; i++) {
            uint32_t to = s->to[i];
            if (!add_to(w, to, w->sets[from]) || bits_get(s->is_waiting, to))
                continue;
            bits_set(s->is_waiting, to);
            s->waiting[(head + count - 1) % w->nodes] = to; /* one is still counted */
            count++;
        }
    }
    return GCD_OK;
}

static gcd_status pass_sets_on(struct adding *w, struct gcd_error *err)
{
    if (w->pair_count == 0)
        return GCD_OK;
    size_t nodes = w->nodes, words = (nodes + 63) / 64;
    struct siblings s = { gcd_mem_new_uncleared(&w->alloc, nodes, sizeof *s.waiting),
                          gcd_mem_new_array(&w->alloc, words, sizeof *s.is_waiting),
                          gcd_mem_new_array(&w->alloc, nodes + 2, sizeof *s.first),
                          gcd_mem_new_uncleared(&w->alloc, w->pair_count, sizeof *s.to) };
    gcd_status st = GCD_OK;
    if (s.waiting == NULL || s.is_waiting == NULL || s.first == NULL || s.to == NULL)
        st = gcd_fail_nomem(err, DOING);
    if (st == GCD_OK) {
        order_pairs(w, &s);
        st = pass_on(w, &s, err);
    }
    gcd_mem_free(&w->alloc, s.waiting, nodes * sizeof *s.waiting);
    gcd_mem_free(&w->alloc, s.is_waiting, words * sizeof *s.is_waiting);
    gcd_mem_free(&w->alloc, s.first, (nodes + 2) * sizeof *s.first);
    gcd_mem_free(&w->alloc, s.to, w->pair_count * sizeof *s.to);
    return st;
}

/* ---- rows ---- */

/* The row for what ABOVE dominates and S leads to; false: it belongs to no field. */
static bool row_of_set(const struct adding *w, uint32_t above, struct set s,
                       struct gcd_field_size *ret)
{
    struct gcd_field_size r = { .type = above != GCD_NODE_ROOT ? gcd_graph_node_type(w->g, above)
                                                               : GCD_TYPE_NONE,
                                .fields = { GCD_SLOT_NONE, GCD_SLOT_NONE } };
    uint32_t before = above != GCD_NODE_ROOT ? 0 : w->slots;
    if (s.a == SET_NO_FIELD || s.a == SET_NONE)
        return false;
    if (s.a == SET_UNKNOWN)
        r.holder = GCD_HOLDER_UNKNOWN;
    else if (s.a == SET_SEVERAL)
        r.holder = GCD_HOLDER_SEVERAL;
    else {
        r.holder = s.b == SET_NONE ? GCD_HOLDER_FIELD : GCD_HOLDER_TWO;
        r.fields[0] = s.a - before;
        if (s.b != SET_NONE)
            r.fields[1] = s.b - before;
    }
    *ret = r;
    return true;
}

/* The number of the row like MODEL, made if needed; SIZE_MAX: out of memory. */
static size_t find_row(struct adding *w, struct set s, const struct gcd_field_size *model)
{
    /* fields are numbered across all types */
    uint64_t id = is_special(s.a) ? (uint64_t)s.a << 32 | model->type : (uint64_t)s.a << 32 | s.b;
    uint32_t row = gcd_idmap_get(&w->row_of, id);
    if (row != GCD_IDMAP_NONE)
        return row;
    struct gcd_field_sizes *r = w->ret;
    if (r->count == GCD_IDMAP_NONE ||
        !gcd_vec_reserve(&w->alloc, &r->rows, &r->room, r->count + 1, sizeof *r->rows, SIZE_MAX) ||
        !gcd_vec_reserve(&w->alloc, &w->end, &w->end_room, r->count + 1, sizeof *w->end,
                         SIZE_MAX) ||
        !gcd_idmap_put(&w->row_of, id, (uint32_t)r->count))
        return SIZE_MAX;
    r->rows[r->count] = *model;
    w->end[r->count] = 0;
    return r->count++;
}

static gcd_status add_up(struct adding *w, struct gcd_error *err)
{
    for (uint32_t i = 0; i < w->order->count; i++) {
        const struct preorder_object *o = &w->order->objects[i];
        uint32_t above = gcd_dominators_parent(w->d, o->node);
        struct gcd_field_size model;
        if (!is_wanted(w, above) || !row_of_set(w, above, w->sets[o->node], &model))
            continue;
        size_t row = find_row(w, w->sets[o->node], &model);
        if (row == SIZE_MAX)
            return gcd_fail_nomem(err, DOING);
        w->ret->rows[row].objects++;
        if (i < w->end[row]) /* below another one of this field */
            continue;
        w->end[row] = i + o->below;
        gcd_add_saturating(&w->ret->rows[row].bytes, preorder_retained(w->order, o));
    }
    return GCD_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct gcd_field_size *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->holder != y->holder)
        return x->holder < y->holder ? -1 : 1;
    for (size_t i = 0; i < 2; i++)
        if (x->fields[i] != y->fields[i])
            return x->fields[i] < y->fields[i] ? -1 : 1;
    return 0;
}

/* ---- the whole ---- */

static gcd_status run(struct adding *w, struct gcd_error *err)
{
    if (!live_edges_init(&w->live, w->g, &w->alloc))
        return gcd_fail_nomem(err, DOING);
    w->depth = gcd_mem_new_array(&w->alloc, w->nodes, sizeof *w->depth);
    w->above = gcd_mem_new_uncleared(&w->alloc, w->nodes, sizeof *w->above);
    w->sets = gcd_mem_new_uncleared(&w->alloc, w->nodes, sizeof *w->sets);
    if (w->depth == NULL || w->above == NULL || w->sets == NULL)
        return gcd_fail_nomem(err, DOING);
    for (uint32_t i = 0; i < w->nodes; i++)
        w->sets[i] = (struct set){ SET_NONE, SET_NONE };
    GCD_TRY(gcd_preorder_new(w->g, w->d, &w->of->context, &w->order, err));
    visit_roots(w);
    GCD_TRY(visit_all(w, err));
    GCD_TRY(pass_sets_on(w, err));
    GCD_TRY(add_up(w, err));
    if (w->ret->count > 0)
        qsort(w->ret->rows, w->ret->count, sizeof *w->ret->rows, compare_rows);
    return GCD_OK;
}

gcd_status gcd_field_sizes_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                               const struct gcd_field_sizes_of *of, struct gcd_field_sizes **ret,
                               struct gcd_error *err)
{
    struct adding w = { .g = g,
                        .summary = gcd_graph_summary(g),
                        .d = d,
                        .of = of,
                        .alloc = gcd_alloc_or_default(of->context.alloc),
                        .nodes = gcd_graph_node_count(g),
                        .slots = gcd_fields_slot_count(of->fields) };
    if (w.summary->root_count >= SET_SEVERAL - w.slots)
        return gcd_fail(err, GCD_E_LIMIT, "the graph has too many fields and roots");
    w.ret = gcd_mem_new(&w.alloc, sizeof *w.ret);
    if (w.ret == NULL)
        return gcd_fail_nomem(err, DOING);
    w.ret->alloc = w.alloc;
    gcd_idmap_init(&w.row_of, &w.alloc);
    gcd_status st = run(&w, err);
    gcd_idmap_done(&w.row_of);
    live_edges_done(&w.live);
    gcd_preorder_free(w.order);
    gcd_mem_free(&w.alloc, w.depth, w.nodes * sizeof *w.depth);
    gcd_mem_free(&w.alloc, w.above, w.nodes * sizeof *w.above);
    gcd_mem_free(&w.alloc, w.sets, w.nodes * sizeof *w.sets);
    gcd_mem_free(&w.alloc, w.pairs, w.pair_room * sizeof *w.pairs);
    gcd_mem_free(&w.alloc, w.end, w.end_room * sizeof *w.end);
    if (st == GCD_OK)
        *ret = w.ret;
    else
        gcd_field_sizes_free(w.ret);
    return st;
}

void gcd_field_sizes_free(struct gcd_field_sizes *s)
{
    if (s == NULL)
        return;
    struct gcd_alloc a = s->alloc;
    gcd_mem_free(&a, s->rows, s->room * sizeof *s->rows);
    gcd_mem_free(&a, s, sizeof *s);
}

const struct gcd_field_size *gcd_field_sizes_rows(const struct gcd_field_sizes *s, size_t *ret_n)
{
    *ret_n = s->count;
    return s->rows;
}
