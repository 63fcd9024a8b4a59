/*
 * What two holders keep alive together: include/gcdumpc/unstable/shared.h.
 *
 * One pass over the objects in the order of their paths: when it comes to an object, the holder
 * of its own path is known, because the object before it on the path came earlier.  Each object has
 * a set of holders, which is a number: there are few different sets.
 */
#include <gcdumpc/unstable/shared.h>

#include <stdbool.h>

#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/preorder.h"
#include "analyze/fetch_ahead.h"
#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

#define CHECK_EVERY UINT32_C(65536)
#define DOING       "looking at what several hold"

#define NOBODY   UINT32_MAX       /* no holder */
#define UNSEEN   (UINT32_MAX - 1) /* nothing that refers to it was visited */
#define SET_NONE 0u
#define SET_MANY UINT32_MAX /* more than GCD_SHARED_HOLDERS, or there are too many sets */
/* Real programs have some hundreds. */
#define SETS_MAX (UINT32_C(1) << 18)

/* The set BEFORE, with a holder whose number is larger than those in it. */
struct set {
    uint32_t before, holder;
    uint32_t row; /* its number among the rows + 1; 0 = none */
};

/* Objects of TYPE in a row. */
struct tally {
    uint32_t row;
    struct gcd_suspect_part part;
};

struct row {
    uint32_t set, end; /* where the last counted subtree ends */
    uint64_t objects, bytes;
};

struct gcd_shared {
    struct gcd_alloc alloc;
    struct gcd_shared_row *rows;
    size_t count, room;
};

/* What a reference asks of its target: together, because targets lie everywhere. */
struct target {
    uint32_t place; /* in the preorder */
    uint32_t via;   /* the last holder before it on its path */
    uint32_t set;
};

struct search {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const struct gcd_paths *paths;
    const struct gcd_shared_of *of;
    struct gcd_alloc alloc;
    struct live_edges live;
    const struct gcd_preorder *order;
    struct gcd_preorder *own_order;
    uint32_t nodes;
    struct gcd_graph_types types;
    struct target *targets; /* [nodes] */
    struct gcd_shared_holder *holders;
    size_t holder_count, holder_room;
    struct gcd_idmap holder_of; /* by class and field, or root */
    struct set *all;
    size_t set_count, set_room;
    struct gcd_idmap set_of; /* by set and holder */
    struct row *rows;
    size_t row_count, row_room;
    struct tally *tallies;
    size_t tally_count, tally_room;
    struct gcd_idmap tally_of; /* by row and type */
    struct gcd_field_pass pass;
};

/* ---- holders and sets ---- */

/* The number of the holder like MODEL, made if needed. */
static gcd_status find_holder(struct search *w, const struct gcd_shared_holder *model,
                              uint32_t *ret, struct gcd_error *err)
{
    uint64_t id = (uint64_t)model->type << 32 |
                  (model->type == GCD_TYPE_NONE ? (uint32_t)model->root : model->slot);
    *ret = gcd_idmap_number(&w->holder_of, id);
    if (*ret < w->holder_count)
        return GCD_OK;
    if (*ret == GCD_IDMAP_NONE || !gcd_vec_reserve(&w->alloc, &w->holders, &w->holder_room,
                                                   w->holder_count + 1, sizeof *w->holders, NOBODY))
        return gcd_fail_nomem(err, DOING);
    w->holders[w->holder_count++] = *model;
    return GCD_OK;
}

/* The set BEFORE with HOLDER, whose number is larger than those in it. */
static gcd_status extend(struct search *w, uint32_t before, uint32_t holder, uint32_t *ret,
                         struct gcd_error *err)
{
    uint64_t id = (uint64_t)before << 32 | holder;
    *ret = gcd_idmap_get(&w->set_of, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (w->set_count >= SETS_MAX) {
        *ret = SET_MANY;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&w->alloc, &w->all, &w->set_room, w->set_count + 1, sizeof *w->all,
                         SETS_MAX) ||
        !gcd_idmap_put(&w->set_of, id, (uint32_t)w->set_count))
        return gcd_fail_nomem(err, DOING);
    *ret = (uint32_t)w->set_count;
    w->all[w->set_count++] = (struct set){ .before = before, .holder = holder };
    return GCD_OK;
}

/* The holders of SET in descending order; their number. */
static size_t holders_of(const struct search *w, uint32_t set, uint32_t ret[GCD_SHARED_HOLDERS])
{
    size_t n = 0;
    for (; set != SET_NONE; set = w->all[set].before)
        ret[n++] = w->all[set].holder;
    return n;
}

static gcd_status add_to(struct search *w, uint32_t node, uint32_t holder, struct gcd_error *err)
{
    uint32_t in[GCD_SHARED_HOLDERS + 1], *set = &w->targets[node].set;
    if (*set == SET_MANY)
        return GCD_OK;
    size_t n = holders_of(w, *set, in);
    for (size_t i = 0; i < n; i++)
        if (in[i] == holder)
            return GCD_OK;
    if (n == GCD_SHARED_HOLDERS) {
        *set = SET_MANY;
        return GCD_OK;
    }
    size_t at = n++;
    for (; at > 0 && in[at - 1] < holder; at--)
        in[at] = in[at - 1];
    in[at] = holder;
    uint32_t made = SET_NONE;
    while (n > 0 && made != SET_MANY)
        GCD_TRY(extend(w, made, in[--n], &made, err));
    *set = made;
    return GCD_OK;
}

/* ---- what refers to an object ---- */

/* Is FROM in the subtree of TO? */
static bool is_within(const struct search *w, const struct target *from, const struct target *to)
{
    return from->place >= to->place && from->place - to->place < w->order->objects[to->place].below;
}

/* Has only HOLDER been found, or is it the last of several? */
static bool is_last(const struct search *w, uint32_t set, uint32_t holder)
{
    return set != SET_NONE && set != SET_MANY && w->all[set].holder == holder;
}

/* HOLDER leads to TO, the object after FROM on its path or not: it is if FROM is visited first of
 * what refers to it, as paths are found. */
static gcd_status add_reference(struct search *w, uint32_t from, uint32_t to, uint32_t holder,
                                struct gcd_error *err)
{
    struct target *t = &w->targets[to];
    if (t->via == UNSEEN)
        t->via = holder;
    if (holder == NOBODY || is_last(w, t->set, holder) ||
        w->holders[holder].type == gcd_graph_type_at(&w->types, to) ||
        is_within(w, &w->targets[from], t))
        return GCD_OK;
    return add_to(w, to, holder, err);
}

static gcd_status visit(struct search *w, uint32_t node, struct gcd_error *err)
{
    uint32_t type = gcd_graph_type_at(&w->types, node), to, holder = w->targets[node].via;
    bool holds = w->of->types[type] != 0;
    size_t fields;
    (void)gcd_graph_node_edges(w->g, node, &fields);
    for (uint64_t i = 0; (to = live_edges_at(&w->live, node, i)) != GCD_NODE_NONE; i++) {
        if (dominators_is_idle(w->d, node, to))
            continue;
        struct gcd_shared_holder model = { type, GCD_SLOT_NONE, node, SIZE_MAX };
        if (holds && i < fields)
            model.slot = gcd_fields_certain(w->of->fields, &w->pass, node, (size_t)i).slot;
        if (holds)
            GCD_TRY(find_holder(w, &model, &holder, err));
        GCD_TRY(add_reference(w, node, to, holder, err));
    }
    return GCD_OK;
}

/* The holder of what a root holds is that root, if it is one. */
static gcd_status visit_roots(struct search *w, struct gcd_error *err)
{
    for (size_t i = 0; i < live_edges_root_count(&w->live); i++) {
        uint32_t node = live_edges_root(&w->live, i), holder = NOBODY;
        if (node == GCD_NODE_NONE || (gcd_group_is_late(live_edges_root_group(&w->live, i)) &&
                                      !dominators_is_late(w->d, node)))
            continue;
        if (w->live.pseudo_roots == NULL && w->of->roots[i] != 0) {
            struct gcd_shared_holder model = { GCD_TYPE_NONE, GCD_SLOT_NONE, node, i };
            GCD_TRY(find_holder(w, &model, &holder, err));
            GCD_TRY(add_to(w, node, holder, err));
        }
        struct target *t = &w->targets[node];
        if ((t->via == UNSEEN || t->via == NOBODY) &&
            gcd_paths_parent(w->paths, node) == GCD_NODE_ROOT)
            t->via = holder;
    }
    return GCD_OK;
}

/* What is known of NODE itself, and the types of its targets, which tell its fields. */
static void fetch_node(const struct search *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    __builtin_prefetch(&w->targets[node]);
    for (size_t i = 0; i < n && i < FETCH_TARGETS; i++)
        __builtin_prefetch(&w->types.low[edges[i]]);
}

static gcd_status visit_all(struct search *w, struct gcd_error *err)
{
    const uint32_t *order = gcd_paths_order(w->paths);
    uint32_t n = gcd_paths_reachable(w->paths);
    GCD_TRY(visit_roots(w, err));
    for (uint32_t i = 0; i < n; i++) {
        fetch_ahead(w->g, order, n, i, w->targets, sizeof *w->targets);
        if (n - i > FETCH_AHEAD)
            fetch_node(w, order[i + FETCH_AHEAD]);
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->of->context.cancel, err));
        GCD_TRY(visit(w, order[i], err));
    }
    return GCD_OK;
}

/* ---- rows ---- */

static gcd_status count_type(struct search *w, uint32_t row, uint32_t type, uint64_t bytes,
                             struct gcd_error *err)
{
    uint32_t at = gcd_idmap_pair(&w->tally_of, row, type);
    if (at == GCD_IDMAP_NONE ||
        (at == w->tally_count &&
         !gcd_vec_reserve(&w->alloc, &w->tallies, &w->tally_room, w->tally_count + 1,
                          sizeof *w->tallies, GCD_IDMAP_NONE)))
        return gcd_fail_nomem(err, DOING);
    if (at == w->tally_count)
        w->tallies[w->tally_count++] = (struct tally){ .row = row, .part.type = type };
    w->tallies[at].part.objects++;
    gcd_add_saturating(&w->tallies[at].part.bytes, bytes);
    return GCD_OK;
}

/* Object number I of the preorder, held by SET. */
static gcd_status count(struct search *w, uint32_t i, uint32_t set, struct gcd_error *err)
{
    const struct preorder_object *o = &w->order->objects[i];
    uint64_t bytes = preorder_retained(w->order, o);
    if (w->all[set].row == 0) {
        if (!gcd_vec_reserve(&w->alloc, &w->rows, &w->row_room, w->row_count + 1, sizeof *w->rows,
                             SETS_MAX))
            return gcd_fail_nomem(err, DOING);
        w->rows[w->row_count++] = (struct row){ .set = set };
        w->all[set].row = (uint32_t)w->row_count;
    }
    struct row *r = &w->rows[w->all[set].row - 1];
    if (i < r->end) /* below another one of this row */
        return GCD_OK;
    r->end = i + o->below;
    r->objects++;
    gcd_add_saturating(&r->bytes, bytes);
    return count_type(w, w->all[set].row - 1, o->type, bytes, err);
}

static gcd_status add_up(struct search *w, struct gcd_error *err)
{
    uint32_t in[GCD_SHARED_HOLDERS];
    const struct preorder_object *objects = w->order->objects;
    for (uint32_t i = 0; i < w->order->count; i++) {
        if (w->order->count - i > FETCH_FAR_AHEAD)
            __builtin_prefetch(&w->targets[objects[i + FETCH_FAR_AHEAD].node]);
        uint32_t set = w->targets[objects[i].node].set;
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->of->context.cancel, err));
        if (set != SET_NONE && set != SET_MANY && holders_of(w, set, in) > 1)
            GCD_TRY(count(w, i, set, err));
    }
    return GCD_OK;
}

static int by_bytes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct row *x = &((const struct search *)ctx)->rows[a],
                     *y = &((const struct search *)ctx)->rows[b];
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : 0;
}

/* Keeps PART if it is among the largest of R. */
static void keep_part(struct gcd_shared_row *r, struct gcd_suspect_part part)
{
    size_t at = r->part_count < GCD_SHARED_PARTS ? r->part_count++ : GCD_SHARED_PARTS;
    for (; at > 0 && r->parts[at - 1].bytes < part.bytes; at--)
        if (at < GCD_SHARED_PARTS)
            r->parts[at] = r->parts[at - 1];
    if (at < GCD_SHARED_PARTS)
        r->parts[at] = part;
}

static void keep_rows(struct search *w, const uint32_t *order, struct gcd_shared *ret)
{
    for (size_t i = 0; i < ret->room; i++) {
        const struct row *from = &w->rows[order[i]];
        uint32_t in[GCD_SHARED_HOLDERS];
        if (from->bytes < w->of->min_bytes)
            break;
        struct gcd_shared_row *r = &ret->rows[ret->count++];
        r->objects = from->objects;
        r->bytes = from->bytes;
        r->holder_count = holders_of(w, from->set, in);
        for (size_t k = 0; k < r->holder_count; k++) /* the first found is the nearest to a root */
            r->holders[k] = w->holders[in[r->holder_count - 1 - k]];
        w->all[from->set].row = (uint32_t)ret->count;
    }
    for (size_t i = ret->count; i < w->row_count; i++)
        w->all[w->rows[order[i]].set].row = 0;
    for (size_t i = 0; i < w->tally_count; i++) {
        uint32_t row = w->all[w->rows[w->tallies[i].row].set].row;
        if (row > 0)
            keep_part(&ret->rows[row - 1], w->tallies[i].part);
    }
}

static gcd_status make_rows(struct search *w, struct gcd_shared *ret, struct gcd_error *err)
{
    uint32_t *order = gcd_sort_order(&w->alloc, w->row_count, by_bytes, w);
    ret->room = w->row_count < w->of->max ? w->row_count : w->of->max;
    ret->rows = gcd_mem_new_array(&w->alloc, ret->room, sizeof *ret->rows);
    if (ret->rows == NULL)
        ret->room = 0;
    gcd_status st = order == NULL || (ret->rows == NULL && w->row_count > 0)
                        ? gcd_fail_nomem(err, DOING)
                        : GCD_OK;
    if (st == GCD_OK)
        keep_rows(w, order, ret);
    gcd_mem_free(&w->alloc, order, w->row_count * sizeof *order);
    return st;
}

/* ---- the whole ---- */

static gcd_status run(struct search *w, struct gcd_shared *ret, struct gcd_error *err)
{
    if (!live_edges_init(&w->live, w->g, &w->alloc))
        return gcd_fail_nomem(err, DOING);
    w->targets = gcd_mem_new_uncleared(&w->alloc, w->nodes, sizeof *w->targets);
    w->all = gcd_mem_new_array(&w->alloc, 1, sizeof *w->all); /* SET_NONE */
    w->set_count = w->set_room = w->all != NULL;
    if (w->targets == NULL || w->all == NULL)
        return gcd_fail_nomem(err, DOING);
    for (uint32_t node = 0; node < w->nodes; node++)
        w->targets[node] = (struct target){ .place = 0, .via = UNSEEN, .set = SET_NONE };
    if (w->order == NULL) {
        GCD_TRY(gcd_preorder_new(w->g, w->d, &w->of->context, &w->own_order, err));
        w->order = w->own_order;
    }
    for (uint32_t i = 0; i < w->order->count; i++)
        w->targets[w->order->objects[i].node].place = i;
    GCD_TRY(visit_all(w, err));
    GCD_TRY(add_up(w, err));
    return make_rows(w, ret, err);
}

static void done(struct search *w)
{
    gcd_idmap_done(&w->holder_of);
    gcd_idmap_done(&w->set_of);
    gcd_idmap_done(&w->tally_of);
    live_edges_done(&w->live);
    gcd_preorder_free(w->own_order);
    gcd_mem_free(&w->alloc, w->targets, w->nodes * sizeof *w->targets);
    gcd_mem_free(&w->alloc, w->holders, w->holder_room * sizeof *w->holders);
    gcd_mem_free(&w->alloc, w->all, w->set_room * sizeof *w->all);
    gcd_mem_free(&w->alloc, w->rows, w->row_room * sizeof *w->rows);
    gcd_mem_free(&w->alloc, w->tallies, w->tally_room * sizeof *w->tallies);
}

gcd_status gcd_shared_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                          const struct gcd_paths *p, const struct gcd_shared_of *of,
                          struct gcd_shared **ret, struct gcd_error *err)
{
    struct search w = { .g = g,
                        .d = d,
                        .paths = p,
                        .of = of,
                        .order = of->preorder,
                        .alloc = gcd_alloc_or_default(of->context.alloc),
                        .nodes = gcd_graph_node_count(g),
                        .types = gcd_graph_types(g) };
    struct gcd_shared *s = gcd_mem_new(&w.alloc, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, DOING);
    s->alloc = w.alloc;
    gcd_idmap_init(&w.holder_of, &w.alloc);
    gcd_idmap_init(&w.set_of, &w.alloc);
    gcd_idmap_init(&w.tally_of, &w.alloc);
    gcd_status st = run(&w, s, err);
    done(&w);
    if (st == GCD_OK)
        *ret = s;
    else
        gcd_shared_free(s);
    return st;
}

void gcd_shared_free(struct gcd_shared *s)
{
    if (s == NULL)
        return;
    struct gcd_alloc a = s->alloc;
    gcd_mem_free(&a, s->rows, s->room * sizeof *s->rows);
    gcd_mem_free(&a, s, sizeof *s);
}

const struct gcd_shared_row *gcd_shared_rows(const struct gcd_shared *s, size_t *ret_n)
{
    *ret_n = s->count;
    return s->rows;
}
