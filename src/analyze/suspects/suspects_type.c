/*
 * Objects of one type that are large only together.
 *
 * The search covers the objects that only the roots together hold.  Every other object has a dominator that retains at least as much, and
 * suspects_object.c finds that one.  An object that a root holds directly is always among them.
 */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* ---- types ---- */

static int compare_top(const void *ctx, uint32_t a, uint32_t b)
{
    const struct suspects_top *top = ctx;
    if (top[a].bytes != top[b].bytes)
        return top[a].bytes < top[b].bytes ? 1 : -1;
    return top[a].objects < top[b].objects ? 1 : top[a].objects > top[b].objects ? -1 : 0;
}

static gcd_status make_consumers(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    uint32_t *order = gcd_mem_new_array(w->alloc, w->types, sizeof *order);
    if (order == NULL)
        return gcd_fail_nomem(err, "adding up the largest consumers");
    size_t n = 0;
    for (uint32_t t = 0; t < w->types; t++)
        if (w->top[t].objects > 0)
            order[n++] = t;
    bool ok = gcd_sort_numbers(w->alloc, order, n, compare_top, w->top) &&
              gcd_vec_reserve(w->alloc, &s->consumers, &s->consumer_room, n, sizeof *s->consumers, SIZE_MAX);
    for (size_t i = 0; i < n && ok; i++)
        s->consumers[i] = (struct gcd_suspect_part){ .type = order[i], .objects = w->top[order[i]].objects, .bytes = w->top[order[i]].bytes };
    s->consumer_count = ok ? n : 0;
    gcd_mem_free(w->alloc, order, (size_t)w->types * sizeof *order);
    return ok ? GCD_OK : gcd_fail_nomem(err, "adding up the largest consumers");
}

static bool is_grouped(const struct suspects_work *w, uint32_t node)
{
    return gcd_dominators_parent(w->d, node) == GCD_NODE_ROOT && gcd_dominators_retained(w->d, node) < w->s->threshold && !suspects_waits(w, node);
}

gcd_status suspects_types(struct suspects_work *w, struct gcd_error *err)
{
    w->top = gcd_mem_new_array(w->alloc, w->types, sizeof *w->top);
    if (w->top == NULL)
        return gcd_fail_nomem(err, "adding up the largest consumers");
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (gcd_dominators_parent(w->d, node) != GCD_NODE_ROOT)
            continue;
        struct suspects_top *t = &w->top[gcd_graph_node_type(w->g, node)];
        uint64_t bytes = gcd_dominators_retained(w->d, node);
        t->objects++;
        gcd_add_saturating(&t->bytes, bytes);
        if (is_grouped(w, node)) {
            t->group_objects++;
            gcd_add_saturating(&t->group_bytes, bytes);
            gcd_add_saturating(&t->group_shallow, gcd_graph_node_size(w->g, node));
        }
    }
    for (uint32_t i = 0; i < w->types; i++) {
        const struct suspects_top *t = &w->top[i];
        struct suspect *x;
        if (t->group_objects < 2 || t->group_bytes < w->s->threshold)
            continue;
        GCD_TRY(suspects_add(w, GCD_SUSPECT_TYPE, GCD_NODE_NONE, i, &x, err));
        x->pub.objects = t->group_objects;
        x->pub.bytes = x->pub.retained_bytes = t->group_bytes;
        x->pub.shallow_bytes = t->group_shallow;
    }
    return make_consumers(w, err);
}

/* ---- what holds the objects of a type ---- */

/* One holder of some objects of a suspect: the roots of a group, an object, or the objects of a type. */
struct holder {
    uint64_t objects;
    uint32_t suspect, first;     /* number of objects; one of them */
    enum suspect_holder kind;
};

struct holders {
    struct suspects_work *w;
    struct gcd_idmap map;
    struct holder *items;
    size_t count, room;
};

/* This many objects are looked up together, so that their cache misses overlap. */
#define TOGETHER 64u

struct held {
    uint32_t node, suspect, by;
};

/* KEY is the number of the group, object or type. */
static uint64_t holder_id(uint32_t suspect, enum suspect_holder kind, uint32_t key)
{
    return (uint64_t)suspect << 34 | (uint64_t)kind << 32 | key;
}

static gcd_status tally(struct holders *h, uint32_t suspect, enum suspect_holder kind, uint32_t key, uint32_t node, struct gcd_error *err)
{
    uint64_t id = holder_id(suspect, kind, key);
    uint32_t i = gcd_idmap_get(&h->map, id);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)h->count;
        if (!gcd_vec_reserve(h->w->alloc, &h->items, &h->room, h->count + 1, sizeof *h->items, UINT32_MAX - 1) || !gcd_idmap_put(&h->map, id, i))
            return gcd_fail_nomem(err, "looking who holds the objects of a type");
        h->items[h->count++] = (struct holder){ .suspect = suspect, .first = node, .kind = kind };
    }
    h->items[i].objects++;
    return GCD_OK;
}

/* The suspect of kind TYPE that NODE belongs to; UINT32_MAX = none. */
static uint32_t type_suspect(const struct suspects_work *w, uint32_t node)
{
    uint32_t i = w->owner[node];
    return i != SUSPECTS_NOBODY && w->s->items[i - 1].pub.kind == GCD_SUSPECT_TYPE && is_grouped(w, node) ? i - 1 : UINT32_MAX;
}

/* The objects whose paths begin at a root of GROUP. */
static gcd_status tally_roots(struct holders *h, enum gcd_root_group group, struct gcd_error *err)
{
    struct suspects_work *w = h->w;
    for (size_t i = 0; i < gcd_graph_summary(w->g)->root_count; i++) {
        const struct gcd_root *r = &gcd_graph_summary(w->g)->roots[i];
        if (gcd_root_group(r) != group || gcd_paths_parent(w->paths, r->node) != GCD_NODE_ROOT)
            continue;
        uint32_t suspect = type_suspect(w, r->node);
        if (suspect == UINT32_MAX)
            continue;
        GCD_TRY(tally(h, suspect, SUSPECT_BY_ROOTS, group, r->node, err));
        w->owner[r->node] = SUSPECTS_NOBODY;     /* so that further roots of the object do not count */
    }
    return GCD_OK;
}

static gcd_status tally_waiting(struct holders *h, const struct held *waiting, size_t n, struct gcd_error *err)
{
    for (size_t i = 0; i < n; i++)
        gcd_idmap_fetch(&h->map, holder_id(waiting[i].suspect, SUSPECT_BY_OBJECT, waiting[i].by));
    for (size_t i = 0; i < n; i++) {
        const struct held *x = &waiting[i];
        GCD_TRY(tally(h, x->suspect, SUSPECT_BY_OBJECT, x->by, x->node, err));
        GCD_TRY(tally(h, x->suspect, SUSPECT_BY_TYPE, gcd_graph_node_type(h->w->g, x->by), x->node, err));
    }
    return GCD_OK;
}

static gcd_status tally_objects(struct holders *h, struct gcd_error *err)
{
    const struct suspects_work *w = h->w;
    struct held waiting[TOGETHER];
    size_t n = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t suspect = type_suspect(w, node), by = gcd_paths_parent(w->paths, node);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (suspect == UINT32_MAX || by >= GCD_NODE_ROOT)
            continue;
        waiting[n++] = (struct held){ .node = node, .suspect = suspect, .by = by };
        if (n == TOGETHER) {
            GCD_TRY(tally_waiting(h, waiting, n, err));
            n = 0;
        }
    }
    return tally_waiting(h, waiting, n, err);
}

/* A type says less than an object: it counts only when nothing else holds half. */
static bool is_better(const struct suspect *x, const struct holder *h)
{
    bool weak = h->kind == SUSPECT_BY_TYPE, was_weak = x->holder == SUSPECT_BY_TYPE;
    if (x->pub.alike == 0 || weak == was_weak)
        return h->objects > x->pub.alike;
    return weak ? x->pub.alike < x->pub.objects / 2 && h->objects > x->pub.alike : h->objects >= x->pub.objects / 2 || h->objects >= x->pub.alike;
}

gcd_status suspects_holders(struct suspects_work *w, struct gcd_error *err)
{
    bool wanted = false;
    for (size_t i = 0; i < w->s->count; i++)
        wanted = wanted || w->s->items[i].pub.kind == GCD_SUSPECT_TYPE;
    if (!wanted)
        return GCD_OK;
    struct holders h = { .w = w };
    gcd_idmap_init(&h.map, w->alloc);
    gcd_status st = GCD_OK;
    for (unsigned group = 0; group < GCD_GROUP_WEAK && st == GCD_OK; group++)
        st = tally_roots(&h, (enum gcd_root_group)group, err);
    if (st == GCD_OK)
        st = tally_objects(&h, err);
    for (size_t i = 0; i < h.count && st == GCD_OK; i++) {
        struct suspect *x = &w->s->items[h.items[i].suspect];
        if (!is_better(x, &h.items[i]))
            continue;
        x->pub.node = h.items[i].first;
        x->pub.alike = h.items[i].objects;
        x->holder = h.items[i].kind;
    }
    gcd_idmap_done(&h.map);
    gcd_mem_free(w->alloc, h.items, h.room * sizeof *h.items);
    return st;
}

void suspects_say_type(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_typed(s, p->objects, p->type);
    suspects_put(s, " together");
    suspects_put_kept(s, p, true);
    suspects_put(s, "; no single object holds them all.");
    if (p->alike == 0 || p->path_count == 0)
        return;
    suspects_put(s, p->alike == p->objects ? " All of them" : " ");
    if (p->alike != p->objects) {
        suspects_put_number(s, p->alike);
        suspects_put(s, " of them");
    }
    suspects_put(s, p->alike == 1 ? " is" : " are");
    if (x->holder == SUSPECT_BY_ROOTS && p->root != SIZE_MAX) {
        suspects_put(s, " held directly by ");
        suspects_put_group(s, gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root]), true);
        suspects_put(s, ".");
    } else if (p->path_count > 1) {
        const struct gcd_suspect_step *by = &p->path[p->path_count - 2];
        suspects_put(s, x->holder == SUSPECT_BY_OBJECT ? " in one " : " in ");
        suspects_put_type(s, by->type);
        suspects_put(s, x->holder == SUSPECT_BY_OBJECT ? ", among others." : " objects, among others.");
    } else {
        suspects_put(s, " held in this way.");
    }
}
