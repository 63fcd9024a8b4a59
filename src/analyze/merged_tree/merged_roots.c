#include "analyze/merged_tree/merged_tree.h"

#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/static_names.h>

#include "analyze/dominators/live_edges.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

static bool is_static(const struct gcd_root *r)
{
    return gcd_root_group(r) == GCD_GROUP_STATICS;
}

/* Has it a step of its own? */
static bool is_variable(const struct gcd_root *r)
{
    return is_static(r) || gcd_root_is_named_thread(r);
}

static int compare_variables(const void *ctx, uint32_t x, uint32_t y)
{
    const struct merged_maker *m = ctx;
    const struct gcd_root *a = &gcd_graph_summary(m->g)->roots[x],
                          *b = &gcd_graph_summary(m->g)->roots[y];
    if (!is_static(a) || !is_static(b)) /* threads of the same name are one */
        return is_static(a) != is_static(b) ? is_static(b) - is_static(a)
                                            : strcmp(a->name, b->name);
    int by_label = strcmp(a->label, b->label);
    if (by_label != 0 || m->o->stacks)
        return by_label;
    bool a_known = gcd_static_is_labelled(a), b_known = gcd_static_is_labelled(b);
    if (a_known || b_known) /* the class distinguishes them; types of their values may differ, as in
                               instances of a generic class */
        return a_known - b_known;
    return (a->type > b->type) - (a->type < b->type);
}

static gcd_status name_variables(struct merged_maker *m, struct gcd_error *err)
{
    struct gcd_merged_tree *t = m->t;
    size_t n = 0, roots = gcd_graph_summary(m->g)->root_count;
    for (size_t i = 0; i < roots; i++)
        n += is_variable(&gcd_graph_summary(m->g)->roots[i]);
    t->variables = gcd_mem_new_array(&t->alloc, n, sizeof *t->variables);
    if (t->variables == NULL)
        return merged_nomem(err);
    t->variable_room = n;
    n = 0;
    for (size_t i = 0; i < roots; i++)
        if (is_variable(&gcd_graph_summary(m->g)->roots[i]))
            t->variables[n++] = (uint32_t)i;
    if (!gcd_sort_numbers(&t->alloc, t->variables, n, compare_variables, m))
        return merged_nomem(err);
    for (size_t i = 0; i < n; i++)
        if (t->variable_count == 0 ||
            compare_variables(m, t->variables[t->variable_count - 1], t->variables[i]) != 0)
            t->variables[t->variable_count++] = t->variables[i];
    return GCD_OK;
}

static uint32_t variable_label(const struct merged_maker *m, uint32_t root)
{
    const struct gcd_merged_tree *t = m->t;
    size_t low = 0, high = t->variable_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (compare_variables(m, t->variables[mid], root) <= 0)
            low = mid;
        else
            high = mid;
    }
    return merged_label(t, MERGED_FIXED) + (uint32_t)low;
}

static enum gcd_root_group group_of(const struct merged_maker *m, uint32_t root)
{
    return gcd_root_group(&gcd_graph_summary(m->g)->roots[root]);
}

/* Do earlier groups reach NODE, which a root of a late group holds?  Then its path does not begin
 * at that root. */
static bool is_reached(const struct merged_maker *m, const uint64_t *reached, uint32_t node)
{
    return m->o->paths != NULL ? gcd_paths_parent(m->o->paths, node) != GCD_NODE_ROOT
                               : bits_get(reached, node);
}

/*
 * Paths always begin at the right root, but the dominator tree has objects that several roots reach
 * at its top.  There, a root of a late GROUP does not count for objects that earlier groups reach,
 * too: nothing holds these alone.  REACHED: unused if there are paths.
 */
static gcd_status leave_to_others(struct merged_maker *m, enum gcd_root_group group,
                                  uint64_t *reached, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(m->g);
    size_t roots = s->root_count, first = 0;
    while (first < roots && (group_of(m, (uint32_t)first) != group ||
                             m->place[s->roots[first].node] != (uint32_t)first + 1))
        first++;
    if (first < roots && m->o->paths == NULL)
        GCD_TRY(gcd_reached_before(m->g, group, &m->o->context, reached, err));
    for (size_t i = first; i < roots; i++) {
        uint32_t node = s->roots[i].node;
        if (m->place[node] == (uint32_t)i + 1 && group_of(m, (uint32_t)i) == group &&
            is_reached(m, reached, node))
            m->place[node] = 0;
    }
    return GCD_OK;
}

static gcd_status leave_late_to_others(struct merged_maker *m, struct gcd_error *err)
{
    size_t words = m->o->paths == NULL ? m->words : 0;
    uint64_t *reached = gcd_mem_new_array(&m->alloc, words, sizeof *reached);
    gcd_status st = reached != NULL ? GCD_OK : merged_nomem(err);
    for (unsigned group = 0; group < GCD_GROUP_WEAK && st == GCD_OK; group++)
        if (gcd_group_is_late((enum gcd_root_group)group) &&
            (group != GCD_GROUP_LOCALS || m->o->paths != NULL)) /* else they are left out before */
            st = leave_to_others(m, (enum gcd_root_group)group, reached, err);
    gcd_mem_free(&m->alloc, reached, words * sizeof *reached);
    return st;
}

/* Does root R, in the dominator tree, hold what earlier groups reach? */
static bool is_idle(const struct merged_maker *m, const struct gcd_root *r)
{
    return m->o->stacks && m->o->dominators != NULL && m->o->paths == NULL &&
           gcd_group_is_late(gcd_root_group(r)) &&
           !gcd_dominators_is_late(m->o->dominators, r->node);
}

gcd_status merged_prepare_roots(struct merged_maker *m, struct gcd_error *err)
{
    size_t roots = gcd_graph_summary(m->g)->root_count;
    if (roots >= UINT32_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "more than 2^32 roots");
    GCD_TRY(name_variables(m, err));
    if ((uint64_t)m->t->types + MERGED_FIXED + m->t->variable_count >= MERGED_DEPENDENT)
        return gcd_fail(err, GCD_E_LIMIT, "more than 2^31 types and static variables");
    m->no_roots = true;
    /* backwards, so that the first root of the first group of a node wins */
    for (size_t i = roots; i-- > 0;) {
        const struct gcd_root *r = &gcd_graph_summary(m->g)->roots[i];
        uint32_t *place = &m->place[r->node];
        if (gcd_root_group(r) == GCD_GROUP_WEAK)
            continue;
        m->no_roots = false;
        if (is_idle(m, r))
            continue;
        if (*place == 0 || gcd_root_group(r) <= group_of(m, *place - 1))
            *place = (uint32_t)i + 1;
    }
    return m->o->stacks && m->o->dominators != NULL ? leave_late_to_others(m, err) : GCD_OK;
}

/* Stacks: a step for the group, below it one for the static variable or the named thread. */
static gcd_status begin_stack(struct merged_maker *m, const struct gcd_root *r, uint32_t root,
                              uint32_t *ret, struct gcd_error *err)
{
    struct merged_steps *s = &m->from_root;
    if (r == NULL)
        return merged_child(s, GCD_STEP_NONE,
                            merged_label(m->t, m->no_roots ? MERGED_UNREACHABLE : MERGED_SEVERAL),
                            false, ret, err);
    GCD_TRY(merged_child(s, GCD_STEP_NONE, merged_label(m->t, MERGED_GROUP + gcd_root_group(r)),
                         false, ret, err));
    if (!is_variable(r) || r->label[0] == '\0')
        return GCD_OK;
    uint32_t label = variable_label(m, root);
    if (s->count >= m->max_steps && merged_find(s, *ret, label) == GCD_IDMAP_NONE)
        return merged_deeper(m, *ret, ret, err);
    return merged_child(s, *ret, label, false, ret, err);
}

/* Paths: a step for each static variable and each named thread, and one for each other group; once
 * there are too many of them, one for all further variables of a group. */
static gcd_status begin_path(struct merged_maker *m, const struct gcd_root *r, uint32_t root,
                             uint32_t *ret, struct gcd_error *err)
{
    struct merged_steps *s = &m->from_root;
    uint32_t label =
        merged_label(m->t, r == NULL ? MERGED_PSEUDO : MERGED_GROUP + gcd_root_group(r));
    if (r != NULL && is_variable(r)) {
        uint32_t variable = variable_label(m, root);
        bool known = merged_find(s, GCD_STEP_NONE, variable) != GCD_IDMAP_NONE;
        if (known || m->variables < m->max_steps / 2)
            label = variable;
        m->variables += !known && label == variable;
    }
    return merged_child(s, GCD_STEP_NONE, label, false, ret, err);
}

gcd_status merged_begin(struct merged_maker *m, uint32_t node, uint32_t *ret, struct gcd_error *err)
{
    if (!m->o->stacks && m->o->paths == NULL) {
        *ret = GCD_STEP_NONE;
        return GCD_OK;
    }
    uint32_t place = m->placed == NULL || bits_get(m->placed, node) ? m->place[node] : 0,
             root = place - 1;
    const struct gcd_root *r = place != 0 ? &gcd_graph_summary(m->g)->roots[root] : NULL;
    return m->o->stacks ? begin_stack(m, r, root, ret, err) : begin_path(m, r, root, ret, err);
}

gcd_status merged_know_frozen(struct merged_maker *m, struct gcd_error *err)
{
    return gcd_frozen_new(gcd_graph_summary(m->g),
                          m->o->paths != NULL ? gcd_paths_pseudo_roots(m->o->paths)
                                              : gcd_dominators_pseudo_roots(m->o->dominators),
                          &m->alloc, &m->ages, err);
}

bool merged_is_frozen(struct merged_maker *m, uint32_t node)
{
    return gcd_is_frozen(m->ages, gcd_graph_node_address(m->g, node), &m->ages_hint);
}

gcd_status merged_begin_dead(struct merged_maker *m, uint32_t node, uint32_t *ret,
                             struct gcd_error *err)
{
    return merged_child(
        &m->from_root, GCD_STEP_NONE,
        merged_label(m->t, merged_is_frozen(m, node) ? MERGED_FROZEN : MERGED_UNREACHABLE), false,
        ret, err);
}
