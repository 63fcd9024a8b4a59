/*
 * The tree of dominators of all objects, the heaviest steps first.  What an object retains is known beforehand, so the weight of a step is known
 * before anything below it is looked at: the heaviest step that is not yet taken apart is the next one, and what nobody would see costs nothing.
 */
#include "analyze/merged_tree/merged_tree.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* What lies too deep is split by type when it has this part of all bytes. */
#define SPLIT_PART 100u

/* The objects of a step, and the sums of all below it. */
struct group {
    uint64_t bytes, count;
    uint32_t first;              /* linked by next; GCD_NODE_NONE = none */
};

struct heaviest {
    struct merged_maker m;
    uint32_t *head;              /* [nodes] the first object that each dominates directly */
    uint32_t *next;              /* [nodes] the next one with the same dominator, or in the same group */
    uint32_t *below;             /* [nodes] objects that each dominates, with itself */
    struct group *groups;        /* of each step */
    size_t group_room, group_count;
    uint32_t *queue;             /* steps that can be taken apart, a heap with the heaviest on top */
    size_t queue_room, queue_count;
    uint64_t visited;
};

/* ---- the queue ---- */

static bool lighter(const struct heaviest *h, uint32_t a, uint32_t b)
{
    return h->groups[a].bytes != h->groups[b].bytes ? h->groups[a].bytes < h->groups[b].bytes : a > b;
}

static gcd_status push(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&h->m.alloc, &h->queue, &h->queue_room, h->queue_count + 1, sizeof *h->queue, GCD_IDMAP_NONE))
        return merged_nomem(err);
    size_t i = h->queue_count++;
    for (; i > 0 && lighter(h, h->queue[(i - 1) / 2], step); i = (i - 1) / 2)
        h->queue[i] = h->queue[(i - 1) / 2];
    h->queue[i] = step;
    return GCD_OK;
}

static uint32_t pop(struct heaviest *h)
{
    uint32_t top = h->queue[0], last = h->queue[--h->queue_count];
    size_t i = 0, child;
    for (; (child = 2 * i + 1) < h->queue_count; i = child) {
        child += child + 1 < h->queue_count && lighter(h, h->queue[child], h->queue[child + 1]);
        if (!lighter(h, last, h->queue[child]))
            break;
        h->queue[i] = h->queue[child];
    }
    h->queue[i] = last;
    return top;
}

/* ---- steps and their objects ---- */

/* Each step that there is has a group. */
static gcd_status follow_steps(struct heaviest *h, struct gcd_error *err)
{
    size_t steps = h->m.from_root.count;
    if (!gcd_vec_reserve(&h->m.alloc, &h->groups, &h->group_room, steps, sizeof *h->groups, GCD_IDMAP_NONE))
        return merged_nomem(err);
    for (; h->group_count < steps; h->group_count++)
        h->groups[h->group_count] = (struct group){ .first = GCD_NODE_NONE };
    return GCD_OK;
}

static void count_own(struct heaviest *h, uint32_t step, uint32_t node)
{
    struct merged_step *s = &h->m.from_root.items[step];
    s->objects++;
    s->own_count++;
    gcd_add_saturating(&s->own_bytes, gcd_graph_node_size(h->m.g, node));
}

/* The step of objects of the type of NODE below AT; false when there is none, because there are far too many. */
static gcd_status step_below(struct heaviest *h, uint32_t at, uint32_t node, uint32_t *ret, bool *ret_any, struct gcd_error *err)
{
    uint32_t type = gcd_graph_node_type(h->m.g, node);
    *ret = merged_find(&h->m.from_root, at, type);
    *ret_any = *ret != GCD_IDMAP_NONE || h->m.from_root.count / 2 < h->m.max_steps;
    if (*ret != GCD_IDMAP_NONE || !*ret_any)
        return GCD_OK;
    GCD_TRY(merged_child(&h->m.from_root, at, type, true, ret, err));
    return follow_steps(h, err);
}

/* NODE, with all that it retains, in the step of its type below AT.  Steps that are no types have the sums of what is below them. */
static gcd_status join(struct heaviest *h, uint32_t at, uint32_t node, struct gcd_error *err)
{
    const struct merged_steps *s = &h->m.from_root;
    bool alive = gcd_dominators_parent(h->m.o->dominators, node) != GCD_NODE_NONE, any;
    uint64_t bytes = alive ? gcd_dominators_retained(h->m.o->dominators, node) : gcd_graph_node_size(h->m.g, node);
    uint32_t step;
    GCD_TRY(step_below(h, at, node, &step, &any, err));
    if (any) {
        h->next[node] = h->groups[step].first;
        h->groups[step].first = node;
        h->groups[step].count += h->below[node];
        gcd_add_saturating(&h->groups[step].bytes, bytes);
        count_own(h, step, node);
    }
    for (; at != GCD_STEP_NONE && s->items[at].label >= h->m.t->types; at = s->items[at].parent) {
        h->groups[at].count += h->below[node];
        gcd_add_saturating(&h->groups[at].bytes, bytes);
    }
    return GCD_OK;
}

static gcd_status look(struct heaviest *h, struct gcd_error *err)
{
    uint64_t n = h->visited++;
    return n % MERGED_CHECK_EVERY == 0 ? merged_check(&h->m, n, err) : GCD_OK;
}

/* Takes STEP apart: what its objects dominate directly, by type; those of its own type are its objects, too. */
static gcd_status take_apart(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    uint32_t type = h->m.from_root.items[step].label, waiting = h->groups[step].first, next;
    size_t steps = h->m.from_root.count;
    while (waiting != GCD_NODE_NONE) {
        uint32_t node = waiting;
        waiting = h->next[node];
        GCD_TRY(look(h, err));
        for (uint32_t child = h->head[node]; child != GCD_NODE_NONE; child = next) {
            next = h->next[child];
            if (gcd_graph_node_type(h->m.g, child) != type) {
                GCD_TRY(join(h, step, child, err));
                continue;
            }
            count_own(h, step, child);
            h->m.from_root.items[step].repeats = true;
            h->next[child] = waiting;
            waiting = child;
        }
    }
    for (; steps < h->m.from_root.count; steps++)
        if (h->groups[steps].count > h->m.from_root.items[steps].own_count)
            GCD_TRY(push(h, (uint32_t)steps, err));
    return GCD_OK;
}

/* STEP lies as deep as a step may: all below it by type, wherever it is. */
static gcd_status split(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    uint32_t waiting = h->groups[step].first, deeper, at, next;
    bool any;
    const struct merged_step *own = &h->m.from_root.items[step];
    struct group rest = { .bytes = h->groups[step].bytes - own->own_bytes, .count = h->groups[step].count - own->own_count };
    GCD_TRY(merged_deeper(&h->m, step, &deeper, err));
    GCD_TRY(follow_steps(h, err));
    h->groups[deeper].bytes = rest.bytes;
    h->groups[deeper].count = rest.count;
    while (waiting != GCD_NODE_NONE) {
        uint32_t node = waiting;
        waiting = h->next[node];
        GCD_TRY(look(h, err));
        for (uint32_t child = h->head[node]; child != GCD_NODE_NONE; child = next) {
            next = h->next[child];
            h->next[child] = waiting;
            waiting = child;
            GCD_TRY(step_below(h, deeper, child, &at, &any, err));
            if (!any)
                continue;
            count_own(h, at, child);
            h->groups[at].count++;
            gcd_add_saturating(&h->groups[at].bytes, gcd_graph_node_size(h->m.g, child));
        }
    }
    return GCD_OK;
}

/* ---- all in all ---- */

/* Every object is one of those that its dominator holds, or begins in a step at the top. */
static gcd_status begin(struct heaviest *h, struct gcd_error *err)
{
    struct merged_maker *m = &h->m;
    const struct gcd_dominators *d = m->o->dominators;
    const uint32_t *order = gcd_dominators_order(d);
    uint32_t at;
    for (uint32_t node = 0; node < m->nodes; node++) {
        h->head[node] = h->next[node] = GCD_NODE_NONE;
        h->below[node] = 1;
    }
    for (uint32_t i = gcd_dominators_reachable(d); i-- > 0;) {
        uint32_t parent = gcd_dominators_parent(d, order[i]);
        if (parent < GCD_NODE_ROOT)
            h->below[parent] += h->below[order[i]];
    }
    for (uint32_t node = 0; node < m->nodes; node++) {
        uint32_t parent = gcd_dominators_parent(d, node);
        if (node % MERGED_CHECK_EVERY == 0)
            GCD_TRY(merged_check(m, node, err));
        if (parent < GCD_NODE_ROOT) {
            h->next[node] = h->head[parent];
            h->head[parent] = node;
            continue;
        }
        if (parent == GCD_NODE_ROOT)
            GCD_TRY(merged_begin(m, node, &at, err));
        else
            GCD_TRY(merged_child(&m->from_root, GCD_STEP_NONE, merged_label(m->t, MERGED_UNREACHABLE), false, &at, err));
        GCD_TRY(follow_steps(h, err));
        GCD_TRY(join(h, at, node, err));
        m->place[node] = at;
    }
    return GCD_OK;
}

static void find_beginnings(struct heaviest *h)
{
    const struct merged_maker *m = &h->m;
    for (size_t i = 0; i < m->o->find_count; i++) {
        uint32_t node = m->o->find[i], parent;
        while ((parent = gcd_dominators_parent(m->o->dominators, node)) < GCD_NODE_ROOT)
            node = parent;
        m->o->ret_found[i] = m->place[node];
    }
}

static gcd_status take_all_apart(struct heaviest *h, struct gcd_error *err)
{
    const struct merged_steps *s = &h->m.from_root;
    uint64_t all = gcd_graph_summary(h->m.g)->bytes;
    for (uint32_t step = 0; step < s->count; step++)
        if (s->items[step].label < h->m.t->types && h->groups[step].count > s->items[step].own_count)
            GCD_TRY(push(h, step, err));
    while (h->queue_count > 0 && s->count < h->m.max_steps) {
        uint32_t step = pop(h);
        if (s->items[step].types < h->m.max_depth)
            GCD_TRY(take_apart(h, step, err));
        else if (h->groups[step].bytes - s->items[step].own_bytes >= all / SPLIT_PART)
            GCD_TRY(split(h, step, err));
    }
    return GCD_OK;
}

static gcd_status make(struct heaviest *h, struct gcd_error *err)
{
    struct merged_maker *m = &h->m;
    m->place = gcd_mem_new_array(&m->alloc, m->nodes, sizeof *m->place);
    if (m->place == NULL)
        return merged_nomem(err);
    GCD_TRY(merged_prepare_roots(m, err));
    h->head = gcd_mem_new_uncleared(&m->alloc, m->nodes, sizeof *h->head);
    h->next = gcd_mem_new_uncleared(&m->alloc, m->nodes, sizeof *h->next);
    h->below = gcd_mem_new_uncleared(&m->alloc, m->nodes, sizeof *h->below);
    if (h->head == NULL || h->next == NULL || h->below == NULL)
        return merged_nomem(err);
    GCD_TRY(begin(h, err));
    find_beginnings(h);
    GCD_TRY(take_all_apart(h, err));
    GCD_TRY(merged_publish_as_found(m, err));
    for (size_t i = 0; i < m->t->count; i++) {
        m->t->steps[i].count = h->groups[i].count;
        m->t->steps[i].bytes = h->groups[i].bytes;
        if (m->t->steps[i].parent != GCD_STEP_NONE)
            continue;
        m->t->totals.count += h->groups[i].count;
        gcd_add_saturating(&m->t->totals.bytes, h->groups[i].bytes);
    }
    return merged_check(m, 2 * (uint64_t)m->nodes, err);
}

static void done(struct heaviest *h)
{
    const struct gcd_alloc *a = &h->m.alloc;
    merged_steps_done(&h->m.from_root);
    gcd_mem_free(a, h->m.place, h->m.nodes * sizeof *h->m.place);
    gcd_mem_free(a, h->head, h->m.nodes * sizeof *h->head);
    gcd_mem_free(a, h->next, h->m.nodes * sizeof *h->next);
    gcd_mem_free(a, h->below, h->m.nodes * sizeof *h->below);
    gcd_mem_free(a, h->groups, h->group_room * sizeof *h->groups);
    gcd_mem_free(a, h->queue, h->queue_room * sizeof *h->queue);
}

gcd_status gcd_merged_tree_heaviest(const struct gcd_graph *g, const struct gcd_merged_tree_options *options, struct gcd_merged_tree **ret,
                                    struct gcd_error *err)
{
    struct heaviest h = { .m = { .o = options } };
    GCD_TRY(merged_maker_init(&h.m, g, options, err));
    gcd_status st = make(&h, err);
    done(&h);
    if (st == GCD_OK)
        *ret = h.m.t;
    else
        gcd_merged_tree_free(h.m.t);
    return st;
}
