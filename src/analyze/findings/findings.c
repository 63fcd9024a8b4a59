#include "analyze/findings/findings.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* The number of groups of a rule that are kept, the largest ones; smaller ones tell nothing new. */
#define LARGEST 4u
/* A suspect consists of a finding's objects if they are this near in the dominator tree. */
#define NEAR 6u

#define NOBODY UINT32_MAX
/* Labels of parts fit into 32 bits. */
#define PARTS_MAX (UINT32_MAX / 4)

static const struct finding_rule *const rules[] = {
    &finding_timers, &finding_cancellation, &finding_continuations, &finding_tasks, &finding_async,
    &finding_boxed, &finding_tracker, &finding_http, &finding_code, &finding_waits,
    &finding_interned, &finding_thread_statics, &finding_flows,
    /* after thread statics, in which they are */
    &finding_pool_shared, &finding_pool_made, &finding_pool_memory, &finding_pool_objects,
    &finding_pool_http
};
#define RULES (sizeof rules / sizeof *rules)

const struct finding_rule *findings_rule(size_t i)
{
    return i < RULES ? rules[i] : NULL;
}

struct group {
    uint32_t rule;
    struct finding_member member;
    uint64_t objects, bytes; /* shallow */
};

/* Objects of a group with the same type behind them, and what they retain. */
struct part {
    uint32_t group, who, first;
    uint64_t objects, bytes;
};

/* An object with a type behind it; PART is its number in the list of parts. */
struct unit {
    uint32_t node, part;
};

/* A group that may become a suspect. */
struct candidate {
    uint32_t group;
    uint32_t *nodes;
    size_t count, room;
    struct unit *units;
    size_t unit_count, unit_room;
    uint64_t objects, bytes; /* shallow */
    uint64_t linked;
    uint64_t retained;
    bool replaces;
};

struct search {
    struct findings f;
    struct gcd_idmap group_map, part_map;
    struct group *groups;
    struct part *parts;
    size_t group_count, group_room, part_count, part_room;
    struct candidate candidates[LARGEST * RULES];
    size_t candidate_count;
};

/* ---- counting ---- */

static gcd_status find_group(struct search *s, uint32_t rule, const struct finding_member *m,
                             uint32_t *ret, struct gcd_error *err)
{
    uint64_t id = (uint64_t)rule << 32 | m->group;
    *ret = gcd_idmap_get(&s->group_map, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    *ret = (uint32_t)s->group_count;
    if (!gcd_vec_reserve(s->f.w->alloc, &s->groups, &s->group_room, s->group_count + 1,
                         sizeof *s->groups, UINT32_MAX - 1) ||
        !gcd_idmap_put(&s->group_map, id, *ret))
        return gcd_fail_nomem(err, "looking for findings");
    s->groups[s->group_count++] =
        (struct group){ .rule = rule, .member = *m, .objects = rules[rule]->beside };
    return GCD_OK;
}

static gcd_status add_part(struct search *s, struct candidate *c, uint32_t who, uint32_t node,
                           struct gcd_error *err)
{
    uint64_t id = (uint64_t)c->group << 32 | who;
    uint32_t i = gcd_idmap_get(&s->part_map, id);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)s->part_count;
        if (!gcd_vec_reserve(s->f.w->alloc, &s->parts, &s->part_room, s->part_count + 1,
                             sizeof *s->parts, PARTS_MAX) ||
            !gcd_idmap_put(&s->part_map, id, i))
            return gcd_fail_nomem(err, "looking for findings");
        s->parts[s->part_count++] = (struct part){ .group = c->group, .who = who, .first = node };
    }
    s->parts[i].objects++;
    if (!gcd_vec_reserve(s->f.w->alloc, &c->units, &c->unit_room, c->unit_count + 1,
                         sizeof *c->units, UINT32_MAX))
        return gcd_fail_nomem(err, "looking for findings");
    c->units[c->unit_count++] = (struct unit){ node, i };
    return GCD_OK;
}

/* The number of the rule that counts NODE; NOBODY = no rule. */
static uint32_t rule_of(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    uint32_t type = suspects_type_of(f->w, node);
    uint8_t i = f->rule[type];
    if (i == 0 || suspects_parent(f->w, node) == GCD_NODE_NONE)
        return NOBODY;
    *ret = (struct finding_member){
        .node = GCD_NODE_NONE, .type = type, .list = GCD_NODE_NONE, .objects = 1
    };
    if (!rules[i - 1]->look(f, node, ret))
        return NOBODY;
    uint32_t number = i - 1u;
    while (ret->rule != NULL &&
           rules[number] != ret->rule) /* it comes after the rule that refers to it */
        number++;
    return number;
}

static gcd_status count(struct search *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->f.w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        struct finding_member m;
        uint32_t group;
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        uint32_t rule = rule_of(&s->f, node, &m);
        if (rule == NOBODY)
            continue;
        GCD_TRY(find_group(s, rule, &m, &group, err));
        s->groups[group].objects += m.objects;
        gcd_add_saturating(&s->groups[group].bytes, gcd_graph_node_size(w->g, node));
    }
    return GCD_OK;
}

/* ---- the groups that count ---- */

static uint64_t least_of(const struct group *g)
{
    const struct finding_rule *rule = rules[g->rule];
    uint32_t few = rule->few != 0 ? rule->few : FINDING_FEW;
    return rule->replaces && rule->least > few ? few : rule->least;
}

static void keep_candidate(struct search *s, uint32_t group)
{
    struct candidate *own = s->candidates + (size_t)s->groups[group].rule * LARGEST;
    size_t i = LARGEST;
    while (i > 0 && (own[i - 1].group == UINT32_MAX ||
                     s->groups[own[i - 1].group].objects < s->groups[group].objects)) {
        i--;
        if (i + 1 < LARGEST)
            own[i + 1].group = own[i].group;
    }
    if (i < LARGEST)
        own[i].group = group;
}

static void choose(struct search *s)
{
    for (size_t i = 0; i < LARGEST * RULES; i++)
        s->candidates[i].group = UINT32_MAX;
    for (size_t i = 0; i < s->group_count; i++) {
        const struct group *g = &s->groups[i];
        struct gcd_suspect_check *check = &s->f.w->s->checks[rules[g->rule]->kind];
        if (g->objects > check->objects) {
            check->objects = g->objects;
            check->bytes = g->bytes;
        }
        if (g->objects >= least_of(g))
            keep_candidate(s, (uint32_t)i);
    }
    for (size_t i = 0; i < LARGEST * RULES; i++)
        if (s->candidates[i].group != UINT32_MAX)
            s->candidates[s->candidate_count++] = s->candidates[i];
}

static gcd_status add_who(struct search *s, struct candidate *c, uint32_t node,
                          struct gcd_error *err)
{
    const struct finding_rule *rule = rules[s->groups[c->group].rule];
    uint32_t who = rule->who != NULL ? rule->who(&s->f, node) : findings_who(&s->f, node);
    return who != GCD_TYPE_NONE ? add_part(s, c, who, node, err) : GCD_OK;
}

static gcd_status add_member(struct search *s, struct candidate *c, uint32_t node,
                             const struct finding_member *m, struct gcd_error *err)
{
    if (!gcd_vec_reserve(s->f.w->alloc, &c->nodes, &c->room, c->count + 1, sizeof *c->nodes,
                         UINT32_MAX))
        return gcd_fail_nomem(err, "looking for findings");
    c->nodes[c->count++] = node;
    const struct finding_rule *rule = rules[s->groups[c->group].rule];
    c->objects += m->objects;
    c->linked += rule->is_linked != NULL && rule->is_linked(&s->f, node);
    gcd_add_saturating(&c->bytes, gcd_graph_node_size(s->f.w->g, node));
    if (m->list == GCD_NODE_NONE)
        return add_who(s, c, node, err);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(s->f.w->g, m->list, &n);
    for (size_t i = 0; i < n; i++)
        GCD_TRY(add_who(s, c, edges[i], err));
    return GCD_OK;
}

/* Collects the objects of each candidate and the types behind them. */
static gcd_status gather(struct search *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->f.w;
    s->f.all = true;
    for (uint32_t node = 0; node < w->nodes; node++) {
        struct finding_member m;
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        uint32_t rule = rule_of(&s->f, node, &m);
        if (rule == NOBODY)
            continue;
        uint32_t group = gcd_idmap_get(&s->group_map, (uint64_t)rule << 32 | m.group);
        struct candidate *c = s->candidates, *end = c + s->candidate_count;
        while (c < end && c->group != group)
            c++;
        if (c == end)
            continue;
        GCD_TRY(add_member(s, c, node, &m, err));
    }
    return GCD_OK;
}

/* ---- what they retain ---- */

#define UNKNOWN 0u
#define OUTSIDE 1u
#define INSIDE  2u
#define MEMBER  3u

/* Does an object of the candidate dominate NODE?  Remembers the answer for all nodes on the way, so
 * each is visited once. */
static bool is_inside(const struct gcd_dominators *d, uint8_t *state, uint32_t node)
{
    uint32_t start = gcd_dominators_parent(d, node), top = start;
    while (top < GCD_NODE_ROOT && state[top] == UNKNOWN)
        top = gcd_dominators_parent(d, top);
    uint8_t answer = top < GCD_NODE_ROOT && state[top] != OUTSIDE ? INSIDE : OUTSIDE;
    for (uint32_t up = start; up != top; up = gcd_dominators_parent(d, up))
        state[up] = answer;
    return answer == INSIDE;
}

/* Adds up the retained sizes of the topmost objects; memory that only several together keep alive
 * is missing. */
static gcd_status measure(struct search *s, struct candidate *c, struct gcd_error *err)
{
    const struct suspects_work *w = s->f.w;
    uint8_t *state = gcd_mem_new_array(w->alloc, w->nodes, sizeof *state);
    if (state == NULL)
        return gcd_fail_nomem(err, "looking for findings");
    uint32_t owner = s->groups[c->group].member.node;
    for (size_t i = 0; i < c->count; i++)
        state[c->nodes[i]] = MEMBER;
    if (owner != GCD_NODE_NONE && state[owner] != MEMBER) {
        state[owner] = MEMBER;
        if (!is_inside(w->d, state, owner))
            c->retained = gcd_dominators_retained(w->d, owner);
    }
    for (size_t i = 0; i < c->count; i++)
        if (!is_inside(w->d, state, c->nodes[i]))
            gcd_add_saturating(&c->retained, gcd_dominators_retained(w->d, c->nodes[i]));
    gcd_mem_free(w->alloc, state, (size_t)w->nodes * sizeof *state);
    return suspects_check(w, err);
}

/* ---- what each type behind them retains ---- */

/* LABEL of a node: UNKNOWN, OUTSIDE of all, or of a part.  OF_MEMBER: no object of the part's type
 * is above. */
#define LABEL(part, of_member) (2 + 2 * (part) + (of_member))

/*
 * The label of NODE, whose parent in the dominator tree has the label ABOVE.  The memory of an
 * object of the group belongs to the type behind it, but what the first object of a type behind
 * others of the group keeps belongs to that type: the first timer of a queue dominates what only
 * several timers keep alive.
 */
static uint32_t label_below(const struct search *s, uint32_t group, uint32_t above, uint32_t node)
{
    uint32_t type = suspects_type_of(s->f.w, node), part;
    if (above < LABEL(0, 0) || above % 2 == 0 || (s->f.traits[type] & FINDING_OWN) == 0)
        return above;
    part = gcd_idmap_get(&s->part_map, (uint64_t)group << 32 | type);
    return part != GCD_IDMAP_NONE ? LABEL(part, 0u) : above;
}

/* Labels NODE and the nodes above it, so each is visited once.  On the way up, the label of a node
 * is the node below it. */
static uint32_t label_of(const struct search *s, uint32_t group, uint32_t *labels, uint32_t node)
{
    const struct gcd_dominators *d = s->f.w->d;
    uint32_t below = GCD_NODE_NONE, up = node;
    while (up < GCD_NODE_ROOT && labels[up] == UNKNOWN) {
        labels[up] = below;
        below = up;
        up = gcd_dominators_parent(d, up);
    }
    uint32_t label = up < GCD_NODE_ROOT ? labels[up] : OUTSIDE;
    while (below != GCD_NODE_NONE) {
        uint32_t next = labels[below];
        label = label_below(s, group, label, below);
        labels[below] = label;
        below = next;
    }
    return label;
}

/* Adds up what the parts of C retain. */
static gcd_status share_out(struct search *s, const struct candidate *c, struct gcd_error *err)
{
    const struct suspects_work *w = s->f.w;
    uint32_t *labels =
        c->unit_count > 0 ? gcd_mem_new_array(w->alloc, w->nodes, sizeof *labels) : NULL;
    gcd_status st = GCD_OK;
    if (labels == NULL)
        return c->unit_count > 0 ? gcd_fail_nomem(err, "looking for findings") : GCD_OK;
    for (size_t i = 0; i < c->count; i++)
        labels[c->nodes[i]] = OUTSIDE;
    for (size_t i = 0; i < c->unit_count; i++)
        labels[c->units[i].node] = LABEL(c->units[i].part, 1u);
    for (uint32_t node = 0; node < w->nodes && st == GCD_OK; node++) {
        uint32_t label = label_of(s, c->group, labels, node);
        if (label >= LABEL(0, 0))
            gcd_add_saturating(&s->parts[label / 2 - 1].bytes, gcd_graph_node_size(w->g, node));
        if (node % SUSPECTS_CHECK_EVERY == 0)
            st = suspects_check(w, err);
    }
    gcd_mem_free(w->alloc, labels, (size_t)w->nodes * sizeof *labels);
    return st;
}

/* ---- replacing other suspects ---- */

static bool is_framework(const struct findings *f, uint32_t node)
{
    return (f->traits[suspects_type_of(f->w, node)] & FINDING_OWN) == 0;
}

/* Is NODE an object of rule RULE, the OWNER of the group, or a part of these that is not the
 * program's? */
static bool belongs(const struct findings *f, uint32_t node, uint32_t rule, uint32_t owner)
{
    for (unsigned n = 0; n < NEAR && node < GCD_NODE_ROOT && is_framework(f, node);
         n++, node = suspects_parent(f->w, node))
        if (node == owner || f->rule[suspects_type_of(f->w, node)] == rule + 1)
            return true;
    return false;
}

/* Does NODE, which is not the program's, retain little more than RETAINED, with BELOW near below
 * it? */
static bool is_around(const struct findings *f, uint32_t node, uint32_t below, uint64_t retained)
{
    const struct gcd_dominators *d = f->w->d;
    uint64_t bytes = gcd_dominators_retained(d, node);
    if (!is_framework(f, node) || bytes - bytes / 5 > retained)
        return false;
    for (unsigned n = 0; n < NEAR && below < GCD_NODE_ROOT;
         n++, below = gcd_dominators_parent(d, below))
        if (below == node)
            return true;
    return false;
}

/* Is TYPE, which is not the program's, that of NODE or of an object near above it? */
static bool is_above(const struct findings *f, uint32_t type, uint32_t node)
{
    for (unsigned n = 0; n < NEAR && node < GCD_NODE_ROOT; n++, node = suspects_parent(f->w, node))
        if (suspects_type_of(f->w, node) == type)
            return is_framework(f, node);
    return false;
}

/* Does X consist of the pool C?  A stack of connections is as deep as it has connections. */
static bool is_pooled(const struct findings *f, const struct candidate *c, const struct suspect *x)
{
    if (x->pub.bytes - x->pub.bytes / 5 > c->retained)
        return false;
    return x->pub.kind == GCD_SUSPECT_THREAD_STATICS ||
           (x->pub.kind == GCD_SUSPECT_OBJECT && is_framework(f, x->pub.node) &&
            suspects_dominates(f->w, x->pub.node, c->nodes[0]));
}

static bool is_replaced(const struct search *s, const struct candidate *c, const struct suspect *x)
{
    const struct group *g = &s->groups[c->group];
    if (gcd_suspect_kind_is_note(rules[g->rule]->kind) && is_pooled(&s->f, c, x))
        return true;
    if (x->pub.kind == GCD_SUSPECT_TYPE)
        return c->retained >= x->pub.bytes / 2 && is_above(&s->f, x->pub.type, c->nodes[0]);
    if (x->pub.kind != GCD_SUSPECT_OBJECT)
        return false;
    return belongs(&s->f, x->pub.node, g->rule, g->member.node) ||
           is_around(&s->f, x->pub.node,
                     g->member.node != GCD_NODE_NONE ? g->member.node : c->nodes[0], c->retained);
}

/* Removes the suspects that C replaces.  C->replaces: there were any. */
static void replace(struct search *s, struct candidate *c)
{
    struct gcd_suspects *all = s->f.w->s;
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        if (is_replaced(s, c, &all->items[i]))
            c->replaces = true;
        else
            all->items[n++] = all->items[i];
    all->count = n;
}

static gcd_status own_nodes(struct suspects_work *w, const struct candidate *c, uint32_t owner,
                            struct gcd_error *err)
{
    if (owner != GCD_NODE_NONE)
        GCD_TRY(suspects_own(w, owner, err));
    for (size_t i = 0; i < c->count; i++)
        GCD_TRY(suspects_own(w, c->nodes[i], err));
    return GCD_OK;
}

/* ---- the result ---- */

/* Stores the types behind the objects, those that retain most first. */
static void keep_who(struct search *s, const struct candidate *c, struct suspect *x)
{
    const struct part *first = NULL;
    for (size_t i = 0; i < s->part_count; i++) {
        const struct part *p = &s->parts[i];
        if (p->group != c->group)
            continue;
        suspects_keep_most(x->pub.held, &x->pub.held_count, GCD_SUSPECT_HOLDERS,
                           (struct gcd_suspect_part){ p->who, p->objects, p->bytes });
        first = x->pub.held[0].type == p->who ? p : first;
        x->pub.held_objects += p->objects;
        gcd_add_saturating(&x->held_bytes, p->bytes);
    }
    if (first != NULL && x->pub.node == GCD_NODE_NONE)
        x->pub.node = first->first;
}

/* The type of the program that NODE, the owner of a group, refers to, such as its DbContext. */
static uint32_t owner_type(const struct findings *f, uint32_t node)
{
    size_t n = 0;
    const uint32_t *edges = node != GCD_NODE_NONE ? gcd_graph_node_edges(f->w->g, node, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (findings_has(f, edges[i], FINDING_OWN))
            return suspects_type_of(f->w, edges[i]);
    return GCD_TYPE_NONE;
}

/* Sets the type that keeps most of the bytes, if it is not the one behind: for example a request in
 * a timer's context. */
static void find_heaviest(const struct search *s, const struct candidate *c, struct suspect *x)
{
    uint64_t bytes;
    uint32_t type = findings_heaviest(&s->f, x->pub.node, &bytes);
    if (type != GCD_TYPE_NONE && x->pub.held_count > 0 && type != x->pub.held[0].type &&
        bytes >= c->retained / c->objects / 2)
        x->heaviest_type = type;
}

static gcd_status add(struct search *s, struct candidate *c, struct gcd_error *err)
{
    struct suspects_work *w = s->f.w;
    const struct group *g = &s->groups[c->group];
    const struct finding_rule *rule = rules[g->rule];
    bool large = c->retained >= w->s->threshold;
    struct suspect *x;
    if (!large && (rule->only_large || c->objects < rule->least))
        return GCD_OK;
    if (large && rule->replaces)
        replace(s, c);
    if (c->objects < rule->least && !c->replaces)
        return GCD_OK;
    GCD_TRY(share_out(s, c, err));
    GCD_TRY(suspects_add(w, rule->kind, g->member.node, g->member.type, &x, err));
    x->pub.overlaps = !c->replaces;
    x->pub.objects = c->objects;
    x->linked = c->linked;
    x->pub.shallow_bytes = c->bytes;
    x->pub.bytes = x->pub.retained_bytes = c->retained;
    x->owner_type = owner_type(&s->f, g->member.node);
    keep_who(s, c, x);
    if (x->pub.node == GCD_NODE_NONE)
        x->pub.node = c->nodes[0];
    if (g->member.node == GCD_NODE_NONE && rule->who == NULL)
        find_heaviest(s, c, x);
    return own_nodes(w, c, g->member.node, err);
}

static gcd_status run(struct search *s, struct gcd_error *err)
{
    GCD_TRY(findings_classify(&s->f, err));
    if (!callbacks_of(s->f.w->g, &s->f.callbacks))
        return gcd_fail_nomem(err, "looking for findings");
    GCD_TRY(count(s, err));
    choose(s);
    if (s->candidate_count == 0)
        return GCD_OK;
    GCD_TRY(gather(s, err));
    for (size_t i = 0; i < s->candidate_count; i++) {
        GCD_TRY(measure(s, &s->candidates[i], err));
        GCD_TRY(add(s, &s->candidates[i], err));
    }
    return GCD_OK;
}

gcd_status suspects_findings(struct suspects_work *w, struct gcd_error *err)
{
    struct search *s = gcd_mem_new(w->alloc, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "looking for findings");
    s->f = (struct findings){ .w = w, .types = gcd_graph_summary(w->g)->types };
    gcd_idmap_init(&s->group_map, w->alloc);
    gcd_idmap_init(&s->part_map, w->alloc);
    gcd_idmap_init(&s->f.roots, w->alloc);
    s->f.rule = gcd_mem_new_array(w->alloc, w->types, sizeof *s->f.rule);
    s->f.traits = gcd_mem_new_array(w->alloc, w->types, sizeof *s->f.traits);
    gcd_status st = s->f.rule != NULL && s->f.traits != NULL
                        ? run(s, err)
                        : gcd_fail_nomem(err, "looking for findings");
    gcd_idmap_done(&s->group_map);
    gcd_idmap_done(&s->part_map);
    gcd_idmap_done(&s->f.roots);
    for (size_t i = 0; i < LARGEST * RULES; i++) {
        struct candidate *c = &s->candidates[i];
        gcd_mem_free(w->alloc, c->nodes, c->room * sizeof *c->nodes);
        gcd_mem_free(w->alloc, c->units, c->unit_room * sizeof *c->units);
    }
    gcd_mem_free(w->alloc, s->groups, s->group_room * sizeof *s->groups);
    gcd_mem_free(w->alloc, s->parts, s->part_room * sizeof *s->parts);
    gcd_mem_free(w->alloc, s->f.rule, w->types * sizeof *s->f.rule);
    gcd_mem_free(w->alloc, s->f.traits, w->types * sizeof *s->f.traits);
    gcd_mem_free(w->alloc, s, sizeof *s);
    return st;
}
