/*
 * The dominator tree of all objects, heaviest steps first.  The retained sizes of objects are known
 * in advance, so the weight of a step is known before anything below it is visited.  The heaviest
 * unexpanded step is always expanded next, and steps that are too light to be shown cost nothing.
 *
 * Live objects are in preorder, each directly before those that it dominates.  Nearly all time is
 * spent waiting for memory, and in preorder an object, its children and its siblings are
 * neighbours.
 */
#include "analyze/merged_tree/merged_tree.h"

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/preorder.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Objects that are too deep are split by type if they have this part (1 in this many) of all bytes.
 */
#define SPLIT_PART 100u
/* No object, in lists of objects. */
#define NONE UINT32_MAX

/* The objects of a step that dominate others, with the sums of everything below the step. */
struct group {
    uint64_t bytes, count;
    uint32_t first; /* linked by next */
};

struct heaviest {
    struct merged_maker m;
    struct gcd_preorder *order;
    /* of ORDER; if one is in a group, NEXT is the next object of the group, NONE = it is the last
     */
    struct preorder_object *objects;
    struct group *groups; /* one per step */
    size_t group_room, group_count;
    uint32_t *queue; /* steps that can be expanded, a heap with the heaviest on top */
    size_t queue_room, queue_count;
    uint64_t visited;
};

/* ---- the queue ---- */

static bool lighter(const struct heaviest *h, uint32_t a, uint32_t b)
{
    return h->groups[a].bytes != h->groups[b].bytes ? h->groups[a].bytes < h->groups[b].bytes
                                                    : a > b;
}

static gcd_status push(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&h->m.alloc, &h->queue, &h->queue_room, h->queue_count + 1,
                         sizeof *h->queue, GCD_IDMAP_NONE))
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

/* Adds groups for new steps, so that each step has one. */
static gcd_status follow_steps(struct heaviest *h, struct gcd_error *err)
{
    size_t steps = h->m.from_root.count;
    if (!gcd_vec_reserve(&h->m.alloc, &h->groups, &h->group_room, steps, sizeof *h->groups,
                         GCD_IDMAP_NONE))
        return merged_nomem(err);
    for (; h->group_count < steps; h->group_count++)
        h->groups[h->group_count] = (struct group){ .first = NONE };
    return GCD_OK;
}

static uint64_t own_size(const struct heaviest *h, const struct preorder_object *o)
{
    return o->below == 1 ? preorder_retained(h->order, o) : gcd_graph_node_size(h->m.g, o->node);
}

/* Puts OBJECT into the list that begins with *FIRST, unless nothing is below it. */
static void list(struct heaviest *h, uint32_t *first, uint32_t object)
{
    if (h->objects[object].below == 1)
        return;
    h->objects[object].next = *first;
    *first = object;
}

/* Removes the first object from the list that begins with *FIRST. */
static uint32_t take(const struct heaviest *h, uint32_t *first)
{
    uint32_t object = *first;
    *first = h->objects[object].next;
    if (*first != NONE)
        __builtin_prefetch(&h->objects[*first]);
    return object;
}

static void count_own(struct heaviest *h, uint32_t step, uint64_t size)
{
    struct merged_step *s = &h->m.from_root.items[step];
    s->objects++;
    s->own_count++;
    gcd_add_saturating(&s->own_bytes, size);
}

/* The step of objects with LABEL below AT; *RET_ANY false: there is none, because there are far too
 * many steps. */
static gcd_status step_below(struct heaviest *h, uint32_t at, uint32_t label, uint32_t *ret,
                             bool *ret_any, struct gcd_error *err)
{
    *ret = merged_find(&h->m.from_root, at, label);
    *ret_any = *ret != GCD_IDMAP_NONE || h->m.from_root.count / 2 < h->m.max_steps;
    if (*ret != GCD_IDMAP_NONE || !*ret_any)
        return GCD_OK;
    GCD_TRY(merged_child(&h->m.from_root, at, label, true, ret, err));
    return follow_steps(h, err);
}

/* Adds SUM to the step; steps that are no types have the sums of everything below them. */
static void add_up(struct heaviest *h, uint32_t step, uint32_t at, struct merged_part sum)
{
    const struct merged_steps *s = &h->m.from_root;
    if (step != GCD_IDMAP_NONE) {
        h->groups[step].count += sum.count;
        gcd_add_saturating(&h->groups[step].bytes, sum.bytes);
    }
    for (; at != GCD_STEP_NONE && !merged_is_type(h->m.t, s->items[at].label);
         at = s->items[at].parent) {
        h->groups[at].count += sum.count;
        gcd_add_saturating(&h->groups[at].bytes, sum.bytes);
    }
}

/* Adds the live OBJECT, with all that it retains, to the step of its type, and of the field of its
 * dominator in OF, below AT. */
static gcd_status join(struct heaviest *h, uint32_t at, struct merged_child of, uint32_t object,
                       struct gcd_error *err)
{
    const struct preorder_object *o = &h->objects[object];
    uint32_t step, label;
    bool any;
    of.node = o->node;
    of.type = o->type;
    GCD_TRY(merged_object_label(&h->m, &of, &label, err));
    GCD_TRY(step_below(h, at, label, &step, &any, err));
    add_up(h, step, at, (struct merged_part){ o->below, preorder_retained(h->order, o) });
    if (!any)
        return GCD_OK;
    count_own(h, step, own_size(h, o));
    list(h, &h->groups[step].first, object);
    return GCD_OK;
}

/* Adds NODE, which is unreachable and has nothing below it. */
static gcd_status join_unreachable(struct heaviest *h, uint32_t at, uint32_t node,
                                   struct gcd_error *err)
{
    uint64_t size = gcd_graph_node_size(h->m.g, node);
    uint32_t step;
    bool any;
    GCD_TRY(step_below(h, at, gcd_graph_node_type(h->m.g, node), &step, &any, err));
    add_up(h, step, at, (struct merged_part){ 1, size });
    if (any)
        count_own(h, step, size);
    return GCD_OK;
}

static gcd_status look(struct heaviest *h, struct gcd_error *err)
{
    uint64_t n = h->visited++;
    return n % MERGED_CHECK_EVERY == 0 ? merged_check(&h->m, n, err) : GCD_OK;
}

/* The node of OBJECT, which dominates others and no longer has it; GCD_NODE_ROOT: its fields are
 * not told apart. */
static uint32_t parent_below(const struct heaviest *h, uint32_t object)
{
    return merged_tells_fields(&h->m, h->objects[object].type)
               ? gcd_dominators_parent(h->m.o->dominators, h->objects[object + 1].node)
               : GCD_NODE_ROOT;
}

/* Expands STEP: groups the objects that its objects dominate directly by type; those of its own
 * type are its objects, too. */
static gcd_status take_apart(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    uint32_t type = merged_type(h->m.t, h->m.from_root.items[step].label),
             waiting = h->groups[step].first;
    size_t steps = h->m.from_root.count;
    while (waiting != NONE) {
        uint32_t object = take(h, &waiting), end = object + h->objects[object].below,
                 parent = parent_below(h, object);
        GCD_TRY(look(h, err));
        for (uint32_t child = object + 1; child < end; child += h->objects[child].below) {
            if (h->objects[child].type != type) {
                GCD_TRY(join(h, step,
                             (struct merged_child){ .parent = parent, .parent_type = type }, child,
                             err));
                continue;
            }
            count_own(h, step, own_size(h, &h->objects[child]));
            h->m.from_root.items[step].repeats = true;
            list(h, &waiting, child);
        }
    }
    for (; steps < h->m.from_root.count; steps++)
        GCD_TRY(push(h, (uint32_t)steps, err));
    return GCD_OK;
}

/* Adds an object that is too deep to the step of its type below DEEPER. */
static gcd_status join_deeper(struct heaviest *h, uint32_t deeper, const struct preorder_object *o,
                              struct gcd_error *err)
{
    uint64_t size = own_size(h, o);
    uint32_t at;
    bool any;
    GCD_TRY(step_below(h, deeper, o->type, &at, &any, err));
    if (!any)
        return GCD_OK;
    count_own(h, at, size);
    h->groups[at].count++;
    gcd_add_saturating(&h->groups[at].bytes, size);
    return GCD_OK;
}

/* STEP is at the maximum depth: groups all objects below it by type, at any depth. */
static gcd_status split(struct heaviest *h, uint32_t step, struct gcd_error *err)
{
    uint32_t waiting = h->groups[step].first, deeper;
    const struct merged_step *own = &h->m.from_root.items[step];
    struct group rest = { .bytes = h->groups[step].bytes - own->own_bytes,
                          .count = h->groups[step].count - own->own_count };
    GCD_TRY(merged_deeper(&h->m, step, &deeper, err));
    GCD_TRY(follow_steps(h, err));
    h->groups[deeper].bytes = rest.bytes;
    h->groups[deeper].count = rest.count;
    while (waiting != NONE) {
        uint32_t object = take(h, &waiting), end = object + h->objects[object].below;
        for (uint32_t child = object + 1; child < end; child++) {
            GCD_TRY(look(h, err));
            GCD_TRY(join_deeper(h, deeper, &h->objects[child], err));
        }
    }
    return GCD_OK;
}

/* ---- all in all ---- */

/* The outermost dominator of NODE. */
static uint32_t outermost(const struct heaviest *h, uint32_t node)
{
    uint32_t parent;
    while ((parent = gcd_dominators_parent(h->m.o->dominators, node)) < GCD_NODE_ROOT)
        node = parent;
    return node;
}

/* Places matter only for objects that roots hold or the caller looks for; the memory of all others
 * is never touched. */
static void mark_placed(struct heaviest *h, uint32_t node)
{
    bits_set(h->m.placed, node);
    h->m.place[node] = 0;
}

static void mark_all_placed(struct heaviest *h)
{
    const struct gcd_summary *s = gcd_graph_summary(h->m.g);
    for (size_t i = 0; i < s->root_count; i++)
        mark_placed(h, s->roots[i].node);
    for (size_t i = 0; i < h->m.o->find_count; i++)
        mark_placed(h, outermost(h, h->m.o->find[i]));
}

static void found(struct heaviest *h, uint32_t node, uint32_t step)
{
    if (bits_get(h->m.placed, node))
        h->m.place[node] = step;
}

/* Objects that no single object dominates go into steps at the top. */
static gcd_status begin_live(struct heaviest *h, struct gcd_error *err)
{
    struct merged_maker *m = &h->m;
    uint32_t step, checked = 0;
    for (uint32_t at = 0; at < h->order->count; at += h->objects[at].below) {
        uint32_t node = h->objects[at].node;
        if (at >= checked) {
            GCD_TRY(merged_check(m, at, err));
            checked = at + MERGED_CHECK_EVERY;
        }
        GCD_TRY(merged_begin(m, node, &step, err));
        GCD_TRY(follow_steps(h, err));
        GCD_TRY(join(h, step, (struct merged_child){ .parent = GCD_NODE_ROOT }, at, err));
        found(h, node, step);
    }
    return GCD_OK;
}

static gcd_status begin_unreachable(struct heaviest *h, struct gcd_error *err)
{
    struct merged_maker *m = &h->m;
    uint32_t at;
    for (uint32_t node = 0, left = m->nodes - h->order->count; left > 0; node++) {
        if (gcd_dominators_parent(m->o->dominators, node) != GCD_NODE_NONE)
            continue;
        GCD_TRY(merged_begin_dead(m, node, &at, err));
        GCD_TRY(follow_steps(h, err));
        GCD_TRY(join_unreachable(h, at, node, err));
        found(h, node, at);
        left--;
    }
    return GCD_OK;
}

static void find_beginnings(struct heaviest *h)
{
    const struct merged_maker *m = &h->m;
    for (size_t i = 0; i < m->o->find_count; i++)
        m->o->ret_found[i] = m->place[outermost(h, m->o->find[i])];
}

/* Expands steps, heaviest first. */
static gcd_status take_all_apart(struct heaviest *h, struct gcd_error *err)
{
    const struct merged_steps *s = &h->m.from_root;
    uint64_t all = gcd_graph_summary(h->m.g)->bytes, wanted = h->m.o->heaviest;
    for (uint32_t step = 0; step < s->count; step++)
        if (merged_is_type(h->m.t, s->items[step].label))
            GCD_TRY(push(h, step, err));
    for (uint64_t n = 0;
         h->queue_count > 0 && s->count < h->m.max_steps && (wanted == 0 || n < wanted); n++) {
        uint32_t step = pop(h);
        if (h->groups[step].count == s->items[step].own_count)
            continue;
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
    if (h->order == NULL)
        GCD_TRY(gcd_preorder_new(m->g, m->o->dominators, &m->o->context, &h->order, err));
    h->objects = h->order->objects;
    m->place = gcd_mem_new_uncleared(&m->alloc, m->nodes, sizeof *m->place);
    m->placed = gcd_mem_new_array(&m->alloc, m->words, sizeof *m->placed);
    if (m->place == NULL || m->placed == NULL)
        return merged_nomem(err);
    mark_all_placed(h);
    GCD_TRY(merged_prepare_roots(m, err));
    GCD_TRY(merged_know_frozen(m, err));
    GCD_TRY(begin_live(h, err));
    GCD_TRY(begin_unreachable(h, err));
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
    merged_maker_done(&h->m);
    gcd_mem_free(a, h->m.place, h->m.nodes * sizeof *h->m.place);
    gcd_mem_free(a, h->m.placed, h->m.words * sizeof *h->m.placed);
    gcd_preorder_free(h->order);
    gcd_mem_free(a, h->groups, h->group_room * sizeof *h->groups);
    gcd_mem_free(a, h->queue, h->queue_room * sizeof *h->queue);
}

gcd_status gcd_merged_tree_heaviest(const struct gcd_graph *g,
                                    const struct gcd_merged_tree_options *options,
                                    struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct heaviest h = { .order = options->preorder };
    gcd_status st = merged_maker_init(&h.m, g, options, err);
    if (st == GCD_OK)
        st = make(&h, err);
    done(&h);
    if (st == GCD_OK)
        *ret = h.m.t;
    else
        gcd_merged_tree_free(h.m.t);
    return st;
}
