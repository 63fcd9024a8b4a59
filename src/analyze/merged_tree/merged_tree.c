#include "analyze/merged_tree/merged_tree.h"

#include "analyze/dominators/live_edges.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define DEPTH_MAX     256u
#define DEFAULT_STEPS (UINT32_C(1) << 20)
/* This many nodes are looked up together, and wait for memory together. */
#define TOGETHER 64u

struct waiting {
    uint32_t node, parent, type;
    uint64_t size;
};

struct batch {
    struct waiting items[TOGETHER];
    size_t count;
};

static uint32_t parent_of(const struct merged_maker *m, uint32_t node)
{
    return m->o->paths != NULL ? gcd_paths_parent(m->o->paths, node)
                               : gcd_dominators_parent(m->o->dominators, node);
}

/* ---- which objects ---- */

static bool is_wanted(const struct merged_maker *m, uint32_t node)
{
    if (m->o->types != NULL)
        return m->o->types[gcd_graph_node_type(m->g, node)] != 0;
    return m->wanted == NULL || bits_get(m->wanted, node);
}

/* Marks the wanted object NODE and all on its path, up to the first one already marked. */
static void want(struct merged_maker *m, uint32_t node)
{
    if (parent_of(m, node) == GCD_NODE_NONE) {
        struct gcd_merged_tree_totals *t = &m->t->totals;
        bool frozen = merged_is_frozen(m, node);
        (*(frozen ? &t->frozen_count : &t->dead_count))++;
        gcd_add_saturating(frozen ? &t->frozen_bytes : &t->dead_bytes,
                           gcd_graph_node_size(m->g, node));
        return;
    }
    for (; m->passed != NULL && node != GCD_NODE_ROOT && !bits_get(m->passed, node);
         node = parent_of(m, node))
        bits_set(m->passed, node);
}

static gcd_status find_wanted(struct merged_maker *m, struct gcd_error *err)
{
    if (m->wanted != NULL) {
        for (size_t i = 0; i < m->o->node_count; i++)
            if (!bits_get(m->wanted, m->o->nodes[i])) {
                bits_set(m->wanted, m->o->nodes[i]);
                want(m, m->o->nodes[i]);
            }
        return GCD_OK;
    }
    for (uint32_t node = 0; node < m->nodes; node++) {
        if (node % MERGED_CHECK_EVERY == 0)
            GCD_TRY(merged_check(m, node, err));
        if (is_wanted(m, node))
            want(m, node);
    }
    return GCD_OK;
}

/* Finds the values whose path comes from their key only through the handle, not through a reference
 * of the key.  Handles are sorted by key. */
static void find_dependents(struct merged_maker *m)
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

/* ---- the step of each object ---- */

/* Stores the step in RET and returns true if it is AT or, in a tree of paths, a step above AT. */
static bool returns_to(const struct merged_maker *m, uint32_t at, uint32_t type, uint32_t *ret)
{
    struct merged_step *items = m->from_root.items;
    for (; at != GCD_STEP_NONE && merged_type(m->t, items[at].label) != type; at = items[at].parent)
        if (m->o->paths == NULL || m->o->stacks)
            return false;
    if (at == GCD_STEP_NONE)
        return false;
    items[at].repeats = true;
    *ret = at;
    return true;
}

/* Does step AT stand for objects of TYPE that no dependent handle holds? */
static bool is_of(const struct merged_maker *m, uint32_t at, uint32_t type)
{
    uint32_t label = m->from_root.items[at].label;
    return (label & MERGED_DEPENDENT) == 0 && merged_type(m->t, label) == type;
}

/* The step of an object of TYPE whose holder is in the step AT. */
static gcd_status descend(struct merged_maker *m, uint32_t at, uint32_t type, uint32_t label,
                          uint32_t *ret, struct gcd_error *err)
{
    struct merged_steps *s = &m->from_root;
    if (at != GCD_STEP_NONE &&
        (is_of(m, at, type) || s->items[at].label == merged_label(m->t, MERGED_DEEPER))) {
        s->items[at].repeats |= is_of(m, at, type);
        *ret = at;
        return GCD_OK;
    }
    *ret = merged_find(s, at, label);
    if (*ret != GCD_IDMAP_NONE || returns_to(m, at, type, ret))
        return GCD_OK;
    if (at != GCD_STEP_NONE && (s->count >= m->max_steps || s->items[at].types >= m->max_depth))
        return merged_deeper(m, at, ret, err);
    return merged_child(s, at, label, true, ret, err);
}

static gcd_status place(struct merged_maker *m, const struct waiting *x, struct gcd_error *err)
{
    uint32_t at, label;
    if (x->parent == GCD_NODE_ROOT)
        GCD_TRY(merged_begin(m, x->node, &at, err));
    else if (x->parent == GCD_NODE_NONE)
        GCD_TRY(merged_begin_dead(m, x->node, &at, err));
    else
        at = m->place[x->parent];
    struct merged_child of = { x->parent, GCD_STEP_NONE, x->node, x->type };
    if (x->parent < GCD_NODE_ROOT)
        of.parent_type = merged_type(m->t, m->from_root.items[at].label);
    GCD_TRY(merged_object_label(m, &of, &label, err));
    label |= m->by_handle != NULL && bits_get(m->by_handle, x->node) ? MERGED_DEPENDENT : 0;
    GCD_TRY(descend(m, at, x->type, label, &at, err));
    m->place[x->node] = at;
    struct merged_step *s = &m->from_root.items[at];
    s->objects++;
    if (!is_wanted(m, x->node))
        return GCD_OK;
    s->own_count++;
    gcd_add_saturating(&s->own_bytes, x->size);
    return GCD_OK;
}

static gcd_status place_batch(struct merged_maker *m, struct batch *b, struct gcd_error *err)
{
    const struct merged_steps *s = &m->from_root;
    for (size_t i = 0; i < b->count; i++) {
        struct waiting *x = &b->items[i];
        x->parent = parent_of(m, x->node);
        x->type = gcd_graph_node_type(m->g, x->node);
        x->size = gcd_graph_node_size(m->g, x->node);
        __builtin_prefetch(&m->place[x->parent < GCD_NODE_ROOT ? x->parent : x->node]);
    }
    for (size_t i = 0; i < b->count; i++) {
        const struct waiting *x = &b->items[i];
        uint32_t above = x->parent < GCD_NODE_ROOT ? m->place[x->parent] : GCD_STEP_NONE;
        if (above >=
            s->count) /* no step yet: it gets one in this batch, and is in the cache then */
            continue;
        __builtin_prefetch(&s->items[above]);
        gcd_idmap_fetch(&s->child, (uint64_t)above << 32 | x->type);
    }
    for (size_t i = 0; i < b->count; i++)
        GCD_TRY(place(m, &b->items[i], err));
    b->count = 0;
    return GCD_OK;
}

/* Adds NODE to the batch if it is WANTED; without a branch, which would be unpredictable. */
static gcd_status place_later(struct merged_maker *m, struct batch *b, uint32_t node, bool wanted,
                              struct gcd_error *err)
{
    b->items[b->count].node = node;
    b->count += wanted;
    return b->count == TOGETHER ? place_batch(m, b, err) : GCD_OK;
}

static gcd_status place_in_order(struct merged_maker *m, struct gcd_error *err)
{
    const struct gcd_paths *p = m->o->paths;
    const struct gcd_dominators *d = m->o->dominators;
    const uint32_t *order = p != NULL ? gcd_paths_order(p) : gcd_dominators_order(d);
    uint32_t reachable = p != NULL ? gcd_paths_reachable(p) : gcd_dominators_reachable(d);
    struct batch b = { .count = 0 };
    for (uint32_t i = 0; i < reachable; i++) {
        if (i % MERGED_CHECK_EVERY == 0)
            GCD_TRY(merged_check(m, m->o->stacks ? i : (uint64_t)m->nodes + i, err));
        GCD_TRY(
            place_later(m, &b, order[i], m->passed == NULL || bits_get(m->passed, order[i]), err));
    }
    return place_batch(m, &b, err);
}

/*
 * Places all objects.  The order of the analysis, parents first, jumps around in the heap, and
 * nearly all time is spent waiting for memory.  So only parents, a third of a heap, are placed in
 * this order; all others follow in heap order.
 */
static gcd_status place_all(struct merged_maker *m, struct gcd_error *err)
{
    struct batch b = { .count = 0 };
    for (uint32_t node = 0; node < m->nodes; node++) {
        uint32_t parent = parent_of(m, node);
        if (parent < GCD_NODE_ROOT)
            bits_set(m->passed, parent);
    }
    GCD_TRY(place_in_order(m, err));
    for (uint32_t node = 0; node < m->nodes; node++) {
        if (node % MERGED_CHECK_EVERY == 0)
            GCD_TRY(merged_check(m, (uint64_t)m->nodes + node, err));
        GCD_TRY(place_later(m, &b, node, !bits_get(m->passed, node), err));
    }
    GCD_TRY(place_batch(m, &b, err));
    for (size_t i = 0; i < m->o->find_count; i++)
        m->o->ret_found[i] = m->place[m->o->find[i]];
    return GCD_OK;
}

/* ---- all in all ---- */

static void free_sets(struct merged_maker *m)
{
    gcd_mem_free(&m->alloc, m->wanted, m->words * sizeof *m->wanted);
    gcd_mem_free(&m->alloc, m->passed, m->words * sizeof *m->passed);
    gcd_mem_free(&m->alloc, m->by_handle, m->words * sizeof *m->by_handle);
    gcd_mem_free(&m->alloc, m->place, m->nodes * sizeof *m->place);
    m->wanted = m->passed = m->by_handle = NULL;
    m->place = NULL;
}

/* Allocates a set of nodes if it is NEEDED. */
static bool new_set(const struct merged_maker *m, bool needed, uint64_t **ret)
{
    *ret = needed ? gcd_mem_new_array(&m->alloc, m->words, sizeof **ret) : NULL;
    return !needed || *ret != NULL;
}

static gcd_status make(struct merged_maker *m, struct gcd_error *err)
{
    const struct gcd_merged_tree_options *o = m->o;
    bool some = o->types != NULL || o->nodes != NULL, merges_paths = o->paths != NULL && !o->stacks;
    m->place = gcd_mem_new_array(&m->alloc, m->nodes, sizeof *m->place);
    if (m->place == NULL || !new_set(m, o->stacks || some, &m->passed) ||
        !new_set(m, o->types == NULL && o->nodes != NULL, &m->wanted) ||
        !new_set(m, merges_paths && gcd_graph_dependent_count(m->g) > 0, &m->by_handle))
        return merged_nomem(err);
    if (m->by_handle != NULL)
        find_dependents(m);
    if (o->stacks || merges_paths)
        GCD_TRY(merged_prepare_roots(m, err));
    GCD_TRY(merged_know_frozen(m, err));
    if (o->stacks) {
        GCD_TRY(place_all(m, err));
    } else {
        GCD_TRY(find_wanted(m, err));
        GCD_TRY(place_in_order(m, err));
    }
    if (o->keep_places) {
        m->t->place = m->place;
        m->t->nodes = m->nodes;
        m->place = NULL;
    }
    free_sets(m);
    GCD_TRY(merged_publish(m, err));
    return merged_check(m, 2 * (uint64_t)m->nodes, err);
}

void merged_maker_done(struct merged_maker *m)
{
    merged_steps_done(&m->from_root);
    merged_steps_done(&m->to_root);
    gcd_idmap_done(&m->field_label);
    gcd_idmap_done(&m->pair_label);
    gcd_generations_free(m->ages);
    m->ages = NULL;
    gcd_mem_free(&m->alloc, m->tells, m->t != NULL ? m->t->types * sizeof *m->tells : 0);
    m->tells = NULL;
}

static gcd_status choose_told(struct merged_maker *m, struct gcd_error *err)
{
    const uint8_t *types = m->o->field_types;
    m->tells = gcd_mem_new_array(&m->alloc, m->t->types, sizeof *m->tells);
    if (m->tells == NULL)
        return merged_nomem(err);
    for (uint32_t i = 0; i < m->t->types; i++)
        if ((types == NULL || types[i] != 0) && gcd_fields_has_fields(m->t->fields, i))
            m->tells[i] = m->o->dominators != NULL ? MERGED_TELLS_CHECKED : MERGED_TELLS;
    for (size_t i = 0; i < gcd_graph_dependent_count(m->g); i++) {
        uint32_t type = gcd_graph_node_type(m->g, gcd_graph_dependent(m->g, i)->key);
        if (m->tells[type] == MERGED_TELLS)
            m->tells[type] = MERGED_TELLS_CHECKED;
    }
    return GCD_OK;
}

gcd_status merged_maker_init(struct merged_maker *m, const struct gcd_graph *g,
                             const struct gcd_merged_tree_options *options, struct gcd_error *err)
{
    uint32_t depth = options->max_depth, steps = options->max_steps;
    *m = (struct merged_maker){ .g = g,
                                .o = options,
                                .alloc = gcd_alloc_or_default(options->context.alloc),
                                .nodes = gcd_graph_node_count(g) };
    m->words = ((size_t)m->nodes + 63) / 64;
    m->max_depth = depth > 0 && depth < DEPTH_MAX ? depth : DEPTH_MAX;
    m->max_steps = steps > 0 && steps < GCD_IDMAP_NONE / 2 ? steps : DEFAULT_STEPS;
    gcd_idmap_init(&m->field_label, &m->alloc);
    gcd_idmap_init(&m->pair_label, &m->alloc);
    merged_steps_init(&m->from_root, &m->alloc);
    merged_steps_init(&m->to_root, &m->alloc);
    m->t = gcd_mem_new(&m->alloc, sizeof *m->t);
    if (m->t == NULL)
        return merged_nomem(err);
    m->t->alloc = m->alloc;
    m->t->g = g;
    m->t->types = gcd_graph_summary(g)->type_count;
    m->t->fields = options->fields;
    return options->fields != NULL ? choose_told(m, err) : GCD_OK;
}

gcd_status gcd_merged_tree_new(const struct gcd_graph *g,
                               const struct gcd_merged_tree_options *options,
                               struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct merged_maker m;
    gcd_status st = merged_maker_init(&m, g, options, err);
    if (st == GCD_OK)
        st = make(&m, err);
    merged_maker_done(&m);
    free_sets(&m);
    if (st == GCD_OK)
        *ret = m.t;
    else
        gcd_merged_tree_free(m.t);
    return st;
}

void gcd_merged_tree_free(struct gcd_merged_tree *t)
{
    if (t == NULL)
        return;
    struct gcd_alloc a = t->alloc;
    gcd_mem_free(&a, t->variables, t->variable_room * sizeof *t->variables);
    gcd_mem_free(&a, t->with_field, t->field_room * sizeof *t->with_field);
    gcd_mem_free(&a, t->steps, t->room * sizeof *t->steps);
    gcd_mem_free(&a, t->place, t->nodes * sizeof *t->place);
    gcd_mem_free(&a, t, sizeof *t);
}

const struct gcd_merged_step *gcd_merged_tree_steps(const struct gcd_merged_tree *t, size_t *ret_n)
{
    *ret_n = t->count;
    return t->steps;
}

uint32_t gcd_merged_tree_label_count(const struct gcd_merged_tree *t)
{
    return merged_first_field(t);
}

struct gcd_merged_tree_totals gcd_merged_tree_totals(const struct gcd_merged_tree *t)
{
    return t->totals;
}
