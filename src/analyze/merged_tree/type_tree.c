/*
 * First the places of the tree that runs from the roots, in one pass over the objects in the order of their paths; a place has always a higher
 * number than its parent.  The tree to the roots is made of that one, place by place.  In the end places are sorted and become steps.
 */
#include <gcdumpc/type_tree.h>

#include <string.h>

#include "analyze/dominators/live_edges.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

#define CHECK_EVERY UINT32_C(65536)
#define DEPTH_MAX 256u
/* How many objects ahead. */
#define AHEAD 16u
#define DEFAULT_STEPS (UINT32_C(1) << 20)

struct gcd_type_tree {
    struct gcd_alloc alloc;
    struct gcd_type_step *steps;
    size_t count, room;
    struct gcd_type_tree_totals totals;
};

/* Steps that are being gathered, and where their children are. */
struct places {
    struct gcd_alloc alloc;
    struct gcd_type_step *items;
    size_t count, room;
    uint32_t max_depth, max_steps;
    struct gcd_idmap child[2];   /* place << 32 | type -> place; the second: held by a dependent handle */
    struct gcd_idmap root;       /* place << 32 | place of the other tree that stands for roots -> place */
};

struct maker {
    const struct gcd_graph *g;
    const struct gcd_type_tree_options *o;
    const struct gcd_paths *paths;       /* one of both */
    const struct gcd_dominators *dominators;
    struct gcd_alloc alloc;
    struct places from_root, to_root;
    struct gcd_type_tree_totals totals;
    uint32_t nodes;
    size_t words;
    uint64_t *wanted;            /* a bit a node: in options->nodes; NULL without */
    uint64_t *passed;            /* a bit a node: on the path of a wanted object */
    uint64_t *by_handle;         /* a bit a node: its path comes through a dependent handle; NULL = none does */
    uint32_t *place;             /* [nodes] of those that are passed; before, of objects that a root holds, that place */
};

static gcd_status nomem(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "merging paths");
}

static gcd_status check(const struct maker *m, uint64_t done, struct gcd_error *err)
{
    if (m->o->progress != NULL)
        m->o->progress(m->o->progress_ctx, done, 2 * (uint64_t)m->nodes);
    if (m->o->cancel != NULL && atomic_load_explicit(m->o->cancel, memory_order_relaxed))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    return GCD_OK;
}

static uint32_t parent_of(const struct maker *m, uint32_t node)
{
    return m->paths != NULL ? gcd_paths_parent(m->paths, node) : gcd_dominators_parent(m->dominators, node);
}

/* ---- which objects ---- */

static bool is_wanted(const struct maker *m, uint32_t node)
{
    if (m->o->types != NULL)
        return m->o->types[gcd_graph_node_type(m->g, node)] != 0;
    return m->wanted == NULL || bits_get(m->wanted, node);
}

/* The wanted object NODE, and all on its path up to where another one has been already. */
static void want(struct maker *m, uint32_t node)
{
    uint64_t size = gcd_graph_node_size(m->g, node);
    if (parent_of(m, node) == GCD_NODE_NONE) {
        m->totals.dead_count++;
        gcd_add_saturating(&m->totals.dead_bytes, size);
        return;
    }
    m->totals.count++;
    gcd_add_saturating(&m->totals.bytes, size);
    for (; node != GCD_NODE_ROOT && !bits_get(m->passed, node); node = parent_of(m, node))
        bits_set(m->passed, node);
}

static gcd_status find_wanted(struct maker *m, struct gcd_error *err)
{
    if (m->o->types == NULL && m->o->nodes != NULL) {
        for (size_t i = 0; i < m->o->node_count; i++)
            if (!bits_get(m->wanted, m->o->nodes[i])) {
                bits_set(m->wanted, m->o->nodes[i]);
                want(m, m->o->nodes[i]);
            }
        return GCD_OK;
    }
    for (uint32_t node = 0; node < m->nodes; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(check(m, node, err));
        if (is_wanted(m, node))
            want(m, node);
    }
    return GCD_OK;
}

/* Which paths lead from a key to its value, and not by a reference of the key as well.  The handles are in order of their keys. */
static void find_dependents(struct maker *m)
{
    size_t count = gcd_graph_dependent_count(m->g);
    for (size_t i = 0; i < count;) {
        uint32_t key = gcd_graph_dependent(m->g, i)->key;
        bool any = false;
        for (; i < count && gcd_graph_dependent(m->g, i)->key == key; i++) {
            uint32_t value = gcd_graph_dependent(m->g, i)->value;
            if (parent_of(m, value) == key) {
                bits_set(m->by_handle, value);
                any = true;
            }
        }
        size_t n = 0;
        const uint32_t *edges = any ? gcd_graph_node_edges(m->g, key, &n) : NULL;
        for (size_t k = 0; k < n; k++)
            if (parent_of(m, edges[k]) == key)
                m->by_handle[edges[k] >> 6] &= ~(UINT64_C(1) << (edges[k] & 63));
    }
}

/* ---- places ---- */

static void places_init(struct places *p, const struct maker *m)
{
    uint32_t depth = m->o->max_depth, steps = m->o->max_steps;
    *p = (struct places){ .alloc = m->alloc, .max_depth = depth > 0 && depth < DEPTH_MAX ? depth : DEPTH_MAX,
                          .max_steps = steps > 0 && steps < GCD_IDMAP_NONE / 2 ? steps : DEFAULT_STEPS };
    gcd_idmap_init(&p->child[0], &p->alloc);
    gcd_idmap_init(&p->child[1], &p->alloc);
    gcd_idmap_init(&p->root, &p->alloc);
}

static void places_done(struct places *p)
{
    gcd_mem_free(&p->alloc, p->items, p->room * sizeof *p->items);
    gcd_idmap_done(&p->child[0]);
    gcd_idmap_done(&p->child[1]);
    gcd_idmap_done(&p->root);
}

static gcd_status new_place(struct places *p, struct gcd_type_step s, uint32_t *ret, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&p->alloc, &p->items, &p->room, p->count + 1, sizeof *p->items, GCD_IDMAP_NONE))
        return nomem(err);
    s.depth = s.parent == GCD_STEP_NONE ? 0 : p->items[s.parent].depth + 1;
    p->items[p->count] = s;
    *ret = (uint32_t)p->count++;
    return GCD_OK;
}

/* The child of S.parent that MAP knows by KEY, else a new one like S. */
static gcd_status child(struct places *p, struct gcd_idmap *map, uint32_t key, const struct gcd_type_step *s, uint32_t *ret,
                        struct gcd_error *err)
{
    uint64_t id = (uint64_t)s->parent << 32 | key;
    *ret = gcd_idmap_get(map, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    GCD_TRY(new_place(p, *s, ret, err));
    return gcd_idmap_put(map, id, *ret) ? GCD_OK : nomem(err);
}

/* ---- roots ---- */

static int compare_variables(const struct gcd_graph_root *a, const struct gcd_graph_root *b)
{
    int by_name = strcmp(a->name, b->name);
    return by_name != 0 ? by_name : (a->type > b->type) - (a->type < b->type);
}

/* Static variables with the same name and type are one, other roots when they are of one group. */
static int compare_roots(const void *g, uint32_t x, uint32_t y)
{
    const struct gcd_graph_root *a = gcd_graph_root(g, x), *b = gcd_graph_root(g, y);
    int ga = (int)gcd_graph_root_group(a), gb = (int)gcd_graph_root_group(b);
    if (ga != gb)
        return ga - gb;
    return ga == GCD_GROUP_STATICS ? compare_variables(a, b) : 0;
}

/* The roots that paths begin with, sorted: of each object that is passed and held by a root, the first one. */
static gcd_status gather_roots(struct maker *m, uint32_t **ret, size_t *ret_n, size_t *ret_room, struct gcd_error *err)
{
    size_t roots = gcd_graph_root_count(m->g), n = 0;
    uint64_t *seen = gcd_mem_new_array(&m->alloc, m->words, sizeof *seen);
    gcd_status st = seen != NULL ? GCD_OK : nomem(err);
    for (size_t i = 0; i < roots && st == GCD_OK; i++) {
        const struct gcd_graph_root *r = gcd_graph_root(m->g, i);
        if (gcd_graph_root_group(r) == GCD_GROUP_WEAK || !bits_get(m->passed, r->node) || bits_get(seen, r->node) ||
            parent_of(m, r->node) != GCD_NODE_ROOT)
            continue;
        bits_set(seen, r->node);
        if (i > UINT32_MAX)
            st = gcd_fail(err, GCD_E_LIMIT, "more than 2^32 roots");
        else if (!gcd_vec_reserve(&m->alloc, ret, ret_room, n + 1, sizeof **ret, SIZE_MAX))
            st = nomem(err);
        else
            (*ret)[n++] = (uint32_t)i;
    }
    gcd_mem_free(&m->alloc, seen, m->words * sizeof *seen);
    if (st == GCD_OK && !gcd_sort_numbers(&m->alloc, *ret, n, compare_roots, m->g))
        st = nomem(err);
    *ret_n = n;
    return st;
}

/* A place for each kind of root; once there are too many of them, one for each group. */
static gcd_status place_sorted_roots(struct maker *m, const uint32_t *roots, size_t n, struct gcd_error *err)
{
    uint32_t group_place[GCD_GROUPS], at = GCD_STEP_NONE;
    memset(group_place, 0xff, sizeof group_place);       /* GCD_STEP_NONE */
    for (size_t i = 0; i < n; i++) {
        const struct gcd_graph_root *r = gcd_graph_root(m->g, roots[i]);
        enum gcd_root_group group = gcd_graph_root_group(r);
        bool full = m->from_root.count >= m->from_root.max_steps / 2;
        if (full && group_place[group] != GCD_STEP_NONE) {
            at = group_place[group];
        } else if (full || i == 0 || compare_roots(m->g, roots[i - 1], roots[i]) != 0) {
            struct gcd_type_step s = { .parent = GCD_STEP_NONE, .type = GCD_STEP_NONE, .root = roots[i], .node = GCD_NODE_NONE,
                                       .whole_group = full || group != GCD_GROUP_STATICS };
            GCD_TRY(new_place(&m->from_root, s, &at, err));
            group_place[group] = full ? at : GCD_STEP_NONE;
        }
        m->place[r->node] = at;
    }
    return GCD_OK;
}

static gcd_status place_roots(struct maker *m, struct gcd_error *err)
{
    uint32_t *roots = NULL, at = GCD_STEP_NONE;
    size_t n = 0, room = 0;
    if (gcd_paths_pseudo_roots(m->paths) > 0) {
        struct gcd_type_step s = { .parent = GCD_STEP_NONE, .type = GCD_STEP_NONE, .root = SIZE_MAX, .node = GCD_NODE_NONE };
        GCD_TRY(new_place(&m->from_root, s, &at, err));
        for (uint32_t i = 0; i < gcd_paths_pseudo_roots(m->paths); i++)
            m->place[gcd_paths_order(m->paths)[i]] = at;
        return GCD_OK;
    }
    gcd_status st = gather_roots(m, &roots, &n, &room, err);
    if (st == GCD_OK)
        st = place_sorted_roots(m, roots, n, err);
    gcd_mem_free(&m->alloc, roots, room * sizeof *roots);
    return st;
}

/* ---- from the roots ---- */

/* The place of an object of TYPE that is held by one of the place AT: that or one above it when the path comes back there, else below AT. */
static gcd_status descend(struct maker *m, uint32_t at, uint32_t type, uint32_t node, uint32_t *ret, struct gcd_error *err)
{
    struct places *p = &m->from_root;
    bool by_handle = m->by_handle != NULL && bits_get(m->by_handle, node);
    struct gcd_idmap *map = &p->child[by_handle];
    *ret = gcd_idmap_get(map, (uint64_t)at << 32 | type);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    for (uint32_t up = at; m->paths != NULL && up != GCD_STEP_NONE; up = p->items[up].parent)
        if (p->items[up].type == type) {
            p->items[up].repeats = true;
            *ret = up;
            return GCD_OK;
        }
    if (at != GCD_STEP_NONE && (p->count >= p->max_steps || p->items[at].depth + 1 >= p->max_depth + (m->paths != NULL))) {
        p->items[at].cut = true;
        *ret = at;
        return GCD_OK;
    }
    struct gcd_type_step s = { .parent = at, .type = type, .node = node, .dependent = by_handle, .root = SIZE_MAX };
    return child(p, map, type, &s, ret, err);
}

static gcd_status place_node(struct maker *m, uint32_t node, struct gcd_error *err)
{
    uint32_t parent = parent_of(m, node), type = gcd_graph_node_type(m->g, node), above = GCD_STEP_NONE, at = GCD_STEP_NONE;
    if (parent != GCD_NODE_ROOT)
        above = m->place[parent];
    else if (m->paths != NULL)
        above = m->place[node];
    GCD_TRY(descend(m, above, type, node, &at, err));
    m->place[node] = at;
    struct gcd_type_step *s = &m->from_root.items[at];
    s->objects++;
    if (!is_wanted(m, node))
        return GCD_OK;
    s->own_count++;
    gcd_add_saturating(&s->own_bytes, gcd_graph_node_size(m->g, node));
    m->totals.cut_count += at == above && (s->type != type || m->paths == NULL);
    return GCD_OK;
}

/* Nearly all of the time is waiting for memory. */
static void fetch_ahead(const struct maker *m, uint32_t node)
{
    if (!bits_get(m->passed, node))
        return;
    uint32_t parent = parent_of(m, node);
    __builtin_prefetch(&m->place[node], 1);
    if (parent != GCD_NODE_ROOT)
        __builtin_prefetch(&m->place[parent]);
}

static gcd_status place_nodes(struct maker *m, struct gcd_error *err)
{
    const uint32_t *order = m->paths != NULL ? gcd_paths_order(m->paths) : gcd_dominators_order(m->dominators);
    uint32_t reachable = m->paths != NULL ? gcd_paths_reachable(m->paths) : gcd_dominators_reachable(m->dominators);
    for (uint32_t i = 0; i < reachable; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(check(m, (uint64_t)m->nodes + i, err));
        if (i + AHEAD < reachable)
            fetch_ahead(m, order[i + AHEAD]);
        if (bits_get(m->passed, order[i]))
            GCD_TRY(place_node(m, order[i], err));
    }
    return GCD_OK;
}

/* ---- to the roots ---- */

/* The way from the place X up, below the steps that are there already. */
static gcd_status ascend(struct maker *m, uint32_t x, struct gcd_error *err)
{
    struct places *from = &m->from_root, *to = &m->to_root;
    const struct gcd_type_step end = from->items[x];
    uint32_t at = GCD_STEP_NONE;
    for (; x != GCD_STEP_NONE; x = from->items[x].parent) {
        struct gcd_type_step s = from->items[x];
        bool is_root = s.type == GCD_STEP_NONE;
        s.parent = at;
        s.objects = s.own_count = s.own_bytes = 0;
        struct gcd_idmap *map = is_root ? &to->root : &to->child[s.dependent];
        uint32_t key = is_root ? x : s.type;
        if (at != GCD_STEP_NONE && to->count >= to->max_steps && gcd_idmap_get(map, (uint64_t)at << 32 | key) == GCD_IDMAP_NONE) {
            to->items[at].cut = true;
            m->totals.cut_count += end.own_count;
            break;
        }
        GCD_TRY(child(to, map, key, &s, &at, err));
        to->items[at].repeats |= s.repeats;
        to->items[at].cut |= s.cut;
    }
    to->items[at].own_count += end.own_count;
    gcd_add_saturating(&to->items[at].own_bytes, end.own_bytes);
    return GCD_OK;
}

static gcd_status turn_round(struct maker *m, struct gcd_error *err)
{
    for (uint32_t i = 0; i < m->from_root.count; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(check(m, 2 * (uint64_t)m->nodes, err));
        if (m->from_root.items[i].own_count > 0)
            GCD_TRY(ascend(m, i, err));
    }
    return GCD_OK;
}

/* ---- sorted ---- */

static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* By parent, then as they shall stand.  GCD_STEP_NONE + 1 is 0: the top comes first. */
static int compare_places(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_type_step *items = ctx, *a = &items[x], *b = &items[y];
    if (a->parent != b->parent)
        return a->parent + 1 < b->parent + 1 ? -1 : 1;
    int by_bytes = descending(a->bytes, b->bytes), by_count = descending(a->count, b->count);
    return by_bytes != 0 ? by_bytes : by_count != 0 ? by_count : (x > y) - (x < y);
}

static void add_up(struct places *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->items[i].count = p->items[i].own_count;
        p->items[i].bytes = p->items[i].own_bytes;
    }
    for (size_t i = p->count; i-- > 0;) {
        struct gcd_type_step *s = &p->items[i];
        s->end = s->count > 0 ? s->end + 1 : 0;          /* for now: steps in its subtree */
        if (s->parent == GCD_STEP_NONE)
            continue;
        p->items[s->parent].count += s->count;
        gcd_add_saturating(&p->items[s->parent].bytes, s->bytes);
        p->items[s->parent].end += s->end;
    }
}

/* What leads to nothing that is wanted, because the path came back to a step above, is left out. */
static gcd_status sort_steps(struct maker *m, struct places *p, struct gcd_type_tree *t, struct gcd_error *err)
{
    add_up(p);
    uint32_t *sorted = gcd_mem_new_uncleared(&m->alloc, p->count, sizeof *sorted), next = 0;
    uint32_t *cursor = gcd_mem_new_uncleared(&m->alloc, p->count, sizeof *cursor);       /* of a step that has its number: of its next child */
    size_t n = 0;
    for (size_t i = 0; sorted != NULL && i < p->count; i++) {
        if (p->items[i].count > 0)
            sorted[n++] = (uint32_t)i;
    }
    t->steps = gcd_mem_new_array(&t->alloc, n, sizeof *t->steps);
    t->room = n;
    bool ok = sorted != NULL && cursor != NULL && t->steps != NULL && gcd_sort_numbers(&m->alloc, sorted, n, compare_places, p->items);
    for (size_t i = 0; ok && i < n; i++) {
        struct gcd_type_step s = p->items[sorted[i]];
        uint32_t *place = s.parent != GCD_STEP_NONE ? &cursor[s.parent] : &next, mine = *place;
        *place += s.end;
        cursor[sorted[i]] = mine + 1;
        s.end += mine;
        if (s.parent != GCD_STEP_NONE)
            s.parent = p->items[s.parent].end;           /* where the parent has left its number */
        p->items[sorted[i]].end = mine;
        t->steps[mine] = s;
    }
    t->count = n;
    gcd_mem_free(&m->alloc, sorted, p->count * sizeof *sorted);
    gcd_mem_free(&m->alloc, cursor, p->count * sizeof *cursor);
    return ok ? GCD_OK : nomem(err);
}

/* ---- all in all ---- */

static gcd_status make(struct maker *m, struct gcd_type_tree *t, struct gcd_error *err)
{
    m->place = gcd_mem_new_uncleared(&m->alloc, m->nodes, sizeof *m->place);
    m->passed = gcd_mem_new_array(&m->alloc, m->words, sizeof *m->passed);
    if (m->place == NULL || m->passed == NULL)
        return nomem(err);
    if (m->o->nodes != NULL && (m->wanted = gcd_mem_new_array(&m->alloc, m->words, sizeof *m->wanted)) == NULL)
        return nomem(err);
    GCD_TRY(find_wanted(m, err));
    if (m->paths != NULL) {
        if (gcd_graph_dependent_count(m->g) > 0) {
            m->by_handle = gcd_mem_new_array(&m->alloc, m->words, sizeof *m->by_handle);
            if (m->by_handle == NULL)
                return nomem(err);
            find_dependents(m);
        }
        GCD_TRY(place_roots(m, err));
    }
    GCD_TRY(place_nodes(m, err));
    bool turned = m->paths != NULL && m->o->to_root;
    if (turned)
        GCD_TRY(turn_round(m, err));
    GCD_TRY(sort_steps(m, turned ? &m->to_root : &m->from_root, t, err));
    t->totals = m->totals;
    return check(m, 2 * (uint64_t)m->nodes, err);
}

static gcd_status tree_new(struct maker *m, struct gcd_type_tree **ret, struct gcd_error *err)
{
    static const struct gcd_type_tree_options defaults;
    m->o = m->o != NULL ? m->o : &defaults;
    m->alloc = gcd_alloc_or_default(m->o->alloc);
    m->nodes = gcd_graph_node_count(m->g);
    m->words = ((size_t)m->nodes + 63) / 64;
    struct gcd_type_tree *t = gcd_mem_new(&m->alloc, sizeof *t);
    if (t == NULL)
        return nomem(err);
    t->alloc = m->alloc;
    places_init(&m->from_root, m);
    places_init(&m->to_root, m);
    gcd_status st = make(m, t, err);
    places_done(&m->from_root);
    places_done(&m->to_root);
    gcd_mem_free(&m->alloc, m->wanted, m->words * sizeof *m->wanted);
    gcd_mem_free(&m->alloc, m->passed, m->words * sizeof *m->passed);
    gcd_mem_free(&m->alloc, m->by_handle, m->words * sizeof *m->by_handle);
    gcd_mem_free(&m->alloc, m->place, m->nodes * sizeof *m->place);
    if (st == GCD_OK)
        *ret = t;
    else
        gcd_type_tree_free(t);
    return st;
}

gcd_status gcd_type_tree_of_paths(const struct gcd_graph *g, const struct gcd_paths *p, const struct gcd_type_tree_options *options,
                                  struct gcd_type_tree **ret, struct gcd_error *err)
{
    return tree_new(&(struct maker){ .g = g, .paths = p, .o = options }, ret, err);
}

gcd_status gcd_type_tree_of_dominators(const struct gcd_graph *g, const struct gcd_dominators *d,
                                       const struct gcd_type_tree_options *options, struct gcd_type_tree **ret, struct gcd_error *err)
{
    return tree_new(&(struct maker){ .g = g, .dominators = d, .o = options }, ret, err);
}

void gcd_type_tree_free(struct gcd_type_tree *t)
{
    if (t == NULL)
        return;
    struct gcd_alloc a = t->alloc;
    gcd_mem_free(&a, t->steps, t->room * sizeof *t->steps);
    gcd_mem_free(&a, t, sizeof *t);
}

const struct gcd_type_step *gcd_type_tree_steps(const struct gcd_type_tree *t, size_t *ret_n)
{
    *ret_n = t->count;
    return t->steps;
}

struct gcd_type_tree_totals gcd_type_tree_totals(const struct gcd_type_tree *t)
{
    return t->totals;
}
