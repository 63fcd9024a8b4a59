#include "analyze/merged_tree/merged_tree.h"

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

gcd_status merged_nomem(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "merging paths");
}

gcd_status merged_check(const struct merged_maker *m, uint64_t done, struct gcd_error *err)
{
    return gcd_context_step(&m->o->context, done, 2 * (uint64_t)m->nodes, err);
}

struct gcd_step_name gcd_merged_tree_name(const struct gcd_merged_tree *t, uint32_t label)
{
    static const enum gcd_step_kind fixed[] = { [MERGED_PSEUDO] = GCD_STEP_PSEUDO_ROOTS,
                                                [MERGED_SEVERAL] = GCD_STEP_SEVERAL_ROOTS,
                                                [MERGED_UNREACHABLE] = GCD_STEP_UNREACHABLE,
                                                [MERGED_FROZEN] = GCD_STEP_FROZEN,
                                                [MERGED_DEEPER] = GCD_STEP_DEEPER };
    struct gcd_step_name n = { .kind = GCD_STEP_TYPE, .type = label, .root = SIZE_MAX };
    if (label < t->types)
        return n;
    label -= t->types;
    n.type = GCD_STEP_NONE;
    if (label < GCD_GROUPS) {
        n.kind = GCD_STEP_GROUP;
        n.group = (enum gcd_root_group)label;
    } else if (label < MERGED_FIXED) {
        n.kind = fixed[label];
    } else {
        n.kind = GCD_STEP_VARIABLE;
        n.root = t->variables[label - MERGED_FIXED];
        n.group = gcd_root_group(&gcd_graph_summary(t->g)->roots[n.root]);
    }
    return n;
}

const char *gcd_merged_tree_field(const struct gcd_merged_tree *t, const struct gcd_merged_step *s)
{
    return s->slot != GCD_SLOT_NONE ? gcd_fields_slot_name(t->fields, s->slot) : NULL;
}

/* Which reference of PARENT leads to NODE; *RET_PARENT->n: none.  Children of one object mostly
 * come one after the other, so its references are looked up once. */
static size_t edge_to(struct merged_maker *m, uint32_t parent, uint32_t node,
                      struct merged_parent **ret_parent)
{
    struct merged_parent *p = *ret_parent = &m->parent;
    size_t i = 0;
    if (p->edges == NULL || p->node != parent) {
        p->node = parent;
        p->edges = gcd_graph_node_edges(m->g, parent, &p->n);
    }
    while (i < p->n && p->edges[i] != node)
        i++;
    return i;
}

static bool refers_to(struct merged_maker *m, uint32_t parent, uint32_t node)
{
    struct merged_parent *p;
    return edge_to(m, parent, node, &p) < p->n;
}

/* The field of PARENT, whose fields are told apart, that leads to NODE. */
static uint32_t slot_to(struct merged_maker *m, uint32_t parent, uint32_t node)
{
    struct merged_parent *p;
    size_t edge = edge_to(m, parent, node, &p);
    if (edge == p->n)
        return GCD_SLOT_NONE;
    return p->pass.next == parent + 1
               ? p->pass.slots[edge]
               : gcd_fields_certain(m->t->fields, &p->pass, parent, edge).slot;
}

/* The label of ID, which is in MAP or in none: then GCD_IDMAP_NONE, to be set. */
static struct merged_recent_label *recent(struct merged_recent *in, const struct gcd_idmap *map,
                                          uint64_t id)
{
    struct merged_recent_label *r = merged_recent_of(in, id);
    if (r->id != id + 1)
        *r = (struct merged_recent_label){ id + 1, gcd_idmap_get(map, id) };
    return r;
}

static gcd_status new_field_label(struct merged_maker *m, uint32_t type, uint32_t slot,
                                  uint32_t *ret, struct gcd_error *err)
{
    struct gcd_merged_tree *t = m->t;
    *ret = merged_first_field(t) + (uint32_t)t->field_count;
    if (*ret >= MERGED_DEPENDENT - 1)
        return gcd_fail(err, GCD_E_LIMIT, "more than 2^31 types, fields and static variables");
    if (!gcd_vec_reserve(&t->alloc, &t->with_field, &t->field_room, t->field_count + 1,
                         sizeof *t->with_field, SIZE_MAX) ||
        !gcd_idmap_put(&m->field_label, merged_id(type, slot), *ret))
        return merged_nomem(err);
    t->with_field[t->field_count++] = (struct merged_field){ type, slot };
    return GCD_OK;
}

/* The label of TYPE with field SLOT, GCD_SLOT_NONE = without. */
static gcd_status field_label(struct merged_maker *m, uint32_t type, uint32_t slot, uint32_t *ret,
                              struct gcd_error *err)
{
    *ret = type;
    if (slot == GCD_SLOT_NONE)
        return GCD_OK;
    struct merged_recent_label *r =
        recent(&m->recent_fields, &m->field_label, merged_id(type, slot));
    if (r->label == GCD_IDMAP_NONE)
        GCD_TRY(new_field_label(m, type, slot, &r->label, err));
    *ret = r->label;
    return GCD_OK;
}

/*
 * For most pairs of types only one field can refer from the one to the other, so the objects need
 * not be looked at.  The first pair of objects must say the same, or layout and objects do not fit.
 */
static gcd_status label_by_types(struct merged_maker *m, const struct merged_child *of,
                                 uint32_t *ret, struct gcd_error *err)
{
    struct merged_recent_label *r =
        recent(&m->recent_pairs, &m->pair_label, merged_id(of->parent_type, of->type));
    *ret = r->label;
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    uint32_t slot = gcd_fields_of_types(m->t->fields, of->parent_type, of->type).slot;
    *ret = m->o->fields_by_types ? of->type : MERGED_BY_OBJECT;
    if (slot != GCD_SLOT_NONE && slot_to(m, of->parent, of->node) == slot)
        GCD_TRY(field_label(m, of->type, slot, ret, err));
    r->label = *ret;
    return gcd_idmap_put(&m->pair_label, merged_id(of->parent_type, of->type), *ret)
               ? GCD_OK
               : merged_nomem(err);
}

gcd_status merged_told_label(struct merged_maker *m, const struct merged_child *of, uint32_t *ret,
                             struct gcd_error *err)
{
    GCD_TRY(label_by_types(m, of, ret, err));
    if (*ret == MERGED_BY_OBJECT)
        return field_label(m, of->type, slot_to(m, of->parent, of->node), ret, err);
    if (m->tells[of->parent_type] == MERGED_TELLS_CHECKED && !refers_to(m, of->parent, of->node))
        *ret = of->type;
    return GCD_OK;
}

void merged_steps_init(struct merged_steps *s, const struct gcd_alloc *a)
{
    *s = (struct merged_steps){ .alloc = *a };
    gcd_idmap_init(&s->child, &s->alloc);
}

void merged_steps_done(struct merged_steps *s)
{
    gcd_mem_free(&s->alloc, s->items, s->room * sizeof *s->items);
    gcd_idmap_done(&s->child);
    merged_steps_init(s, &s->alloc);
}

uint32_t merged_find(const struct merged_steps *s, uint32_t parent, uint32_t label)
{
    return gcd_idmap_get(&s->child, (uint64_t)parent << 32 | label);
}

static gcd_status new_step(struct merged_steps *s, uint32_t parent, uint32_t label, bool is_type,
                           uint32_t *ret, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->items, &s->room, s->count + 1, sizeof *s->items,
                         GCD_IDMAP_NONE))
        return merged_nomem(err);
    unsigned types = (parent == GCD_STEP_NONE ? 0u : s->items[parent].types) + is_type;
    s->items[s->count] = (struct merged_step){
        .parent = parent, .label = label, .deeper = GCD_STEP_NONE, .types = (uint16_t)types
    };
    *ret = (uint32_t)s->count++;
    return GCD_OK;
}

gcd_status merged_child(struct merged_steps *s, uint32_t parent, uint32_t label, bool is_type,
                        uint32_t *ret, struct gcd_error *err)
{
    *ret = merged_find(s, parent, label);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    GCD_TRY(new_step(s, parent, label, is_type, ret, err));
    return gcd_idmap_put(&s->child, (uint64_t)parent << 32 | label, *ret) ? GCD_OK
                                                                          : merged_nomem(err);
}

gcd_status merged_deeper(struct merged_maker *m, uint32_t parent, uint32_t *ret,
                         struct gcd_error *err)
{
    struct merged_steps *s = &m->from_root;
    *ret = s->items[parent].deeper;
    if (*ret != GCD_STEP_NONE)
        return GCD_OK;
    GCD_TRY(new_step(s, parent, merged_label(m->t, MERGED_DEEPER), false, ret, err));
    s->items[parent].deeper = *ret;
    return GCD_OK;
}

/* Without stacks, objects that are too deep count in the step above them. */
static void count_deeper(struct merged_maker *m)
{
    struct merged_steps *s = &m->from_root;
    for (size_t i = 0; i < s->count; i++) {
        struct merged_step *step = &s->items[i];
        if (step->label != merged_label(m->t, MERGED_DEEPER))
            continue;
        m->t->totals.cut_count += step->own_count;
        if (m->o->stacks)
            continue;
        struct merged_step *above = &s->items[step->parent];
        above->cut = true;
        above->objects += step->objects;
        above->own_count += step->own_count;
        gcd_add_saturating(&above->own_bytes, step->own_bytes);
        step->own_count = step->own_bytes = 0;
    }
}

/* ---- to the roots ---- */

/* Adds the path from step X up, below the existing steps. */
static gcd_status ascend(struct merged_maker *m, uint32_t x, struct gcd_error *err)
{
    struct merged_steps *from = &m->from_root, *to = &m->to_root;
    const struct merged_step end = from->items[x];
    uint32_t at = GCD_STEP_NONE, slot = GCD_SLOT_NONE;
    for (; x != GCD_STEP_NONE; x = from->items[x].parent) {
        const struct merged_step *s = &from->items[x];
        uint32_t label = s->label;
        if (merged_is_type(m->t, label)) { /* the field belongs to the step above it, the holder */
            GCD_TRY(field_label(m, merged_type(m->t, label), slot, &label, err));
            label |= s->label & MERGED_DEPENDENT;
            slot = merged_slot(m->t, s->label);
        }
        if (at != GCD_STEP_NONE && to->count >= m->max_steps &&
            merged_find(to, at, label) == GCD_IDMAP_NONE) {
            to->items[at].cut = true;
            m->t->totals.cut_count += end.own_count;
            break;
        }
        GCD_TRY(merged_child(to, at, label, true, &at, err));
        to->items[at].repeats |= s->repeats;
        to->items[at].cut |= s->cut;
    }
    to->items[at].own_count += end.own_count;
    gcd_add_saturating(&to->items[at].own_bytes, end.own_bytes);
    return GCD_OK;
}

static gcd_status turn_round(struct merged_maker *m, struct gcd_error *err)
{
    for (uint32_t i = 0; i < m->from_root.count; i++) {
        if (i % MERGED_CHECK_EVERY == 0)
            GCD_TRY(merged_check(m, 2 * (uint64_t)m->nodes, err));
        if (m->from_root.items[i].own_count > 0)
            GCD_TRY(ascend(m, i, err));
    }
    merged_steps_done(&m->from_root);
    return GCD_OK;
}

/* ---- public steps ---- */

static gcd_status make_public(struct merged_maker *m, struct merged_steps *from,
                              struct gcd_error *err)
{
    struct gcd_merged_tree *t = m->t;
    gcd_idmap_done(&from->child);
    gcd_idmap_init(&from->child, &from->alloc);
    t->steps = gcd_mem_new_uncleared(&t->alloc, from->count, sizeof *t->steps);
    if (t->steps == NULL)
        return merged_nomem(err);
    t->room = t->count = from->count;
    for (size_t i = 0; i < t->count; i++) {
        const struct merged_step *s = &from->items[i];
        uint32_t label = s->label & ~MERGED_DEPENDENT;
        bool objects = from == &m->from_root && merged_is_type(t, label);
        t->steps[i] = (struct gcd_merged_step){
            .parent = s->parent,
            .depth = s->parent == GCD_STEP_NONE ? 0 : t->steps[s->parent].depth + 1,
            .label = merged_type(t, label),
            .slot = merged_slot(t, label),
            .dependent = label != s->label,
            .repeats = s->repeats,
            .cut = s->cut,
            .objects = objects ? s->objects : 0,
            .own_count = s->own_count,
            .own_bytes = s->own_bytes,
            .count = s->own_count,
            .bytes = s->own_bytes,
        };
    }
    merged_steps_done(from);
    return GCD_OK;
}

/* Until the steps are sorted, END is the number of steps in the subtree. */
static void add_up(struct gcd_merged_tree *t)
{
    for (size_t i = t->count; i-- > 0;) {
        struct gcd_merged_step *s = &t->steps[i],
                               *above = s->parent != GCD_STEP_NONE ? &t->steps[s->parent] : NULL;
        s->end = s->count > 0 ? s->end + 1 : 0;
        if (above != NULL) {
            above->end += s->end;
            above->count += s->count;
            gcd_add_saturating(&above->bytes, s->bytes);
        } else {
            t->totals.count += s->count;
            gcd_add_saturating(&t->totals.bytes, s->bytes);
        }
    }
}

/* ---- sorted ---- */

static int descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

/* By parent, then in the final order of siblings.  GCD_STEP_NONE + 1 is 0: the top comes first. */
static int compare_steps(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_merged_tree *t = ctx;
    const struct gcd_merged_step *a = &t->steps[x], *b = &t->steps[y];
    if (a->parent != b->parent)
        return a->parent + 1 < b->parent + 1 ? -1 : 1;
    int by_bytes = descending(a->bytes, b->bytes), by_count = descending(a->count, b->count);
    if (by_bytes != 0 || by_count != 0)
        return by_bytes != 0 ? by_bytes : by_count;
    if (a->depth == 0 && !merged_is_type(t, a->label) && !merged_is_type(t, b->label)) {
        int ga = (int)gcd_merged_tree_name(t, a->label).group,
            gb = (int)gcd_merged_tree_name(t, b->label).group;
        return ga != gb ? ga - gb : (a->label > b->label) - (a->label < b->label);
    }
    return (x > y) - (x < y);
}

/* Leaves out steps without wanted objects, whose path came back to a step above. */
static gcd_status sort_steps(struct gcd_merged_tree *t, struct gcd_error *err)
{
    uint32_t *sorted = gcd_mem_new_uncleared(&t->alloc, t->count, sizeof *sorted), next = 0;
    /* of a numbered step: the number of its next child */
    uint32_t *cursor = gcd_mem_new_uncleared(&t->alloc, t->count, sizeof *cursor);
    size_t n = 0;
    for (size_t i = 0; sorted != NULL && i < t->count; i++) {
        if (t->steps[i].count > 0)
            sorted[n++] = (uint32_t)i;
    }
    struct gcd_merged_step *steps = gcd_mem_new_uncleared(&t->alloc, n, sizeof *steps);
    bool ok = sorted != NULL && cursor != NULL && steps != NULL &&
              gcd_sort_numbers(&t->alloc, sorted, n, compare_steps, t);
    for (size_t i = 0; ok && i < n; i++) {
        struct gcd_merged_step s = t->steps[sorted[i]];
        uint32_t *place = s.parent != GCD_STEP_NONE ? &cursor[s.parent] : &next, mine = *place;
        *place += s.end;
        cursor[sorted[i]] = mine + 1;
        s.end += mine;
        if (s.parent != GCD_STEP_NONE)
            s.parent = t->steps[s.parent].end; /* the parent has stored its number there */
        t->steps[sorted[i]].end = mine;
        steps[mine] = s;
    }
    gcd_mem_free(&t->alloc, sorted, t->count * sizeof *sorted);
    gcd_mem_free(&t->alloc, cursor, t->count * sizeof *cursor);
    gcd_mem_free(&t->alloc, ok ? t->steps : steps, (ok ? t->room : n) * sizeof *steps);
    if (!ok)
        return merged_nomem(err);
    t->steps = steps;
    t->room = t->count = n;
    return GCD_OK;
}

gcd_status merged_publish_as_found(struct merged_maker *m, struct gcd_error *err)
{
    count_deeper(m);
    return make_public(m, &m->from_root, err);
}

gcd_status merged_publish(struct merged_maker *m, struct gcd_error *err)
{
    bool turned = m->o->paths != NULL && m->o->to_root;
    count_deeper(m);
    if (turned)
        GCD_TRY(turn_round(m, err));
    GCD_TRY(make_public(m, turned ? &m->to_root : &m->from_root, err));
    add_up(m->t);
    if (!m->o->stacks)
        return sort_steps(m->t, err);
    for (size_t i = 0; i < m->t->count; i++)
        m->t->steps[i].end = 0;
    return GCD_OK;
}
