/*
 * Building a merged tree: labels and first steps (merged_roots.c), one pass over the objects in the
 * order of their paths (merged_tree.c) or heaviest step first (merged_heaviest.c), then the other
 * direction, sums and order (merged_steps.c).  The number of a step is always higher than that of
 * its parent.
 */
#ifndef GCD_ANALYZE_MERGED_TREE_H
#define GCD_ANALYZE_MERGED_TREE_H

#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "base/idmap.h"

/* Flag in a label: a dependent handle holds the objects. */
#define MERGED_DEPENDENT (UINT32_C(1) << 31)
/* Nodes between two calls of merged_check. */
#define MERGED_CHECK_EVERY UINT32_C(65536)

/* Labels: first the types, then these, then the names of static variables; while a tree is made,
 * then types with the field that leads to them. */
enum merged_fixed {
    MERGED_GROUP,
    MERGED_PSEUDO = GCD_GROUPS,
    MERGED_SEVERAL,
    MERGED_UNREACHABLE,
    MERGED_FROZEN,
    MERGED_DEEPER,
    MERGED_FIXED
};

struct merged_step {
    uint32_t parent;
    uint32_t label; /* with MERGED_DEPENDENT */
    /* the step for everything too deep below this one; GCD_STEP_NONE = none */
    uint32_t deeper;
    uint16_t types; /* number of types on the path to it */
    bool repeats, cut;
    uint64_t objects, own_count, own_bytes;
};

struct merged_steps {
    struct gcd_alloc alloc;
    struct merged_step *items;
    size_t count, room;
    struct gcd_idmap child; /* parent << 32 | label -> step */
};

/* Some of the objects of a step. */
struct merged_part {
    uint64_t count, bytes;
};

/* An object with the one above it, GCD_NODE_ROOT or GCD_NODE_NONE = none, and their types. */
struct merged_child {
    uint32_t parent, parent_type, node, type;
};

/* Are the fields of the objects of a type told apart?  An object holds another one by a reference,
 * or, if that has to be checked, perhaps only by a dependent handle or through others. */
enum merged_tells { MERGED_TELLS_NONE, MERGED_TELLS, MERGED_TELLS_CHECKED };

/* Labels that were found lately, to be found again without a search. */
struct merged_recent_label {
    uint64_t id; /* 1 + that in the map; 0 = none */
    uint32_t label;
};
#define MERGED_RECENT 256u
struct merged_recent {
    struct merged_recent_label of[MERGED_RECENT];
};

static inline uint64_t merged_id(uint32_t type, uint32_t other)
{
    return (uint64_t)type << 32 | other;
}

/* Where ID is in R if it is there. */
static inline struct merged_recent_label *merged_recent_of(struct merged_recent *r, uint64_t id)
{
    return &r->of[((uint32_t)(id >> 32) * 19u + (uint32_t)id) % MERGED_RECENT];
}

/* Instead of a label: the objects must be looked at. */
#define MERGED_BY_OBJECT MERGED_DEPENDENT

struct merged_parent {
    uint32_t node;
    const uint32_t *edges; /* [n]; NULL: no object yet */
    size_t n;
    struct gcd_field_pass pass;
};

/* A type and a field. */
struct merged_field {
    uint32_t type, slot;
};

struct gcd_merged_tree {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    uint32_t types;
    uint32_t *variables; /* roots, one per distinct static variable or name of a thread, in order */
    size_t variable_count, variable_room;
    const struct gcd_fields *fields; /* NULL = they are not told apart */
    struct merged_field *with_field; /* [field_count] */
    size_t field_count, field_room;
    struct gcd_merged_step *steps;
    size_t count, room;
    /* [nodes] the step of each, kept for gcd_merged_tree_largest; NULL without */
    uint32_t *place;
    uint32_t nodes;
    struct gcd_merged_tree_totals totals;
};

struct merged_maker {
    const struct gcd_graph *g;
    const struct gcd_merged_tree_options *o;
    struct gcd_alloc alloc;
    struct gcd_merged_tree *t;
    struct merged_steps from_root, to_root;
    uint32_t max_steps, max_depth;
    uint32_t variables; /* steps for static variables at the top */
    uint32_t nodes;
    size_t words;
    bool no_roots;                /* objects serve as pseudo-roots */
    struct gcd_generations *ages; /* NULL = which objects are frozen is not known */
    size_t ages_hint;
    /* one bit per node: in options->nodes; NULL without options->nodes */
    uint64_t *wanted;
    /* one bit per node: on the path of a wanted object; with stacks: parent of an object; NULL =
     * all reachable */
    uint64_t *passed;
    /* one bit per node: a dependent handle is the last step of its path; NULL = none */
    uint64_t *by_handle;
    /* one bit per node: PLACE is set, so loops skip the others; NULL = visit all */
    uint64_t *placed;
    uint8_t *tells;               /* [types] enum merged_tells; NULL = none */
    struct gcd_idmap field_label; /* type << 32 | slot -> number of the label */
    struct gcd_idmap pair_label;  /* parent's type << 32 | type -> the same, or MERGED_BY_OBJECT */
    struct merged_recent recent_fields, recent_pairs; /* of the two maps */
    struct merged_parent parent;                      /* the last one */
    /* [nodes] the step of each; earlier, 1 + the root that holds it, by the order of roots, 0 =
     * none */
    uint32_t *place;
};

static inline uint32_t merged_label(const struct gcd_merged_tree *t, enum merged_fixed fixed)
{
    return t->types + (uint32_t)fixed;
}

/* The label of the first type with a field. */
static inline uint32_t merged_first_field(const struct gcd_merged_tree *t)
{
    return merged_label(t, MERGED_FIXED) + (uint32_t)t->variable_count;
}

/* The type that LABEL stands for, alone or with a field; another number if it stands for none. */
static inline uint32_t merged_type(const struct gcd_merged_tree *t, uint32_t label)
{
    label &= ~MERGED_DEPENDENT;
    uint32_t first = merged_first_field(t);
    return label < first ? label : t->with_field[label - first].type;
}

/* The field of LABEL; GCD_SLOT_NONE: it has none. */
static inline uint32_t merged_slot(const struct gcd_merged_tree *t, uint32_t label)
{
    label &= ~MERGED_DEPENDENT;
    uint32_t first = merged_first_field(t);
    return label < first ? GCD_SLOT_NONE : t->with_field[label - first].slot;
}

static inline bool merged_is_type(const struct gcd_merged_tree *t, uint32_t label)
{
    return merged_type(t, label) < t->types;
}

/* Are the fields of objects of TYPE told apart?  TYPE may be no type. */
static inline bool merged_tells_fields(const struct merged_maker *m, uint32_t type)
{
    return m->tells != NULL && type < m->t->types && m->tells[type] != MERGED_TELLS_NONE;
}

/* Initializes everything but the sets of objects; always call merged_maker_done.  m->t stays the
 * caller's. */
gcd_status merged_maker_init(struct merged_maker *m, const struct gcd_graph *g,
                             const struct gcd_merged_tree_options *options, struct gcd_error *err);
void merged_maker_done(struct merged_maker *m);
gcd_status merged_nomem(struct gcd_error *err);
/* Progress and cancel.  DONE counts two steps per node. */
gcd_status merged_check(const struct merged_maker *m, uint64_t done, struct gcd_error *err);

/* merged_roots.c: stores the roots of objects in m->place, and the names of static variables. */
gcd_status merged_prepare_roots(struct merged_maker *m, struct gcd_error *err);
/* The step above NODE, which has no object above it: its root; GCD_STEP_NONE: the top. */
gcd_status merged_begin(struct merged_maker *m, uint32_t node, uint32_t *ret,
                        struct gcd_error *err);
/* Before any of the next two: which objects are frozen. */
gcd_status merged_know_frozen(struct merged_maker *m, struct gcd_error *err);
/* Is NODE, which no root reaches, frozen? */
bool merged_is_frozen(struct merged_maker *m, uint32_t node);
/* Stacks: the step above NODE, which no root reaches. */
gcd_status merged_begin_dead(struct merged_maker *m, uint32_t node, uint32_t *ret,
                             struct gcd_error *err);

/* merged_steps.c */
/* As merged_object_label, for an object whose parent's fields are told apart. */
gcd_status merged_told_label(struct merged_maker *m, const struct merged_child *of, uint32_t *ret,
                             struct gcd_error *err);

/* The label of an object: with the field that leads to it, if fields are told apart and it is
 * certain.  Inline: called once per object of a heap. */
static inline gcd_status merged_object_label(struct merged_maker *m, const struct merged_child *of,
                                             uint32_t *ret, struct gcd_error *err)
{
    *ret = of->type;
    if (of->parent >= GCD_NODE_ROOT || of->type == of->parent_type ||
        !merged_tells_fields(m, of->parent_type))
        return GCD_OK;
    uint64_t id = merged_id(of->parent_type, of->type);
    const struct merged_recent_label *r = merged_recent_of(&m->recent_pairs, id);
    if (r->id != id + 1 || r->label == MERGED_BY_OBJECT ||
        m->tells[of->parent_type] != MERGED_TELLS)
        return merged_told_label(m, of, ret, err);
    *ret = r->label;
    return GCD_OK;
}

void merged_steps_init(struct merged_steps *s, const struct gcd_alloc *a);
void merged_steps_done(struct merged_steps *s);
/* The child of PARENT with LABEL, created if needed. */
gcd_status merged_child(struct merged_steps *s, uint32_t parent, uint32_t label, bool is_type,
                        uint32_t *ret, struct gcd_error *err);
uint32_t merged_find(const struct merged_steps *s, uint32_t parent, uint32_t label);
/* The step for everything too deep below PARENT. */
gcd_status merged_deeper(struct merged_maker *m, uint32_t parent, uint32_t *ret,
                         struct gcd_error *err);
/* Creates m->t->steps, sorted or in the order of discovery. */
gcd_status merged_publish(struct merged_maker *m, struct gcd_error *err);
/* The same in the order of discovery, with their own sums only. */
gcd_status merged_publish_as_found(struct merged_maker *m, struct gcd_error *err);

#endif
