/*
 * Millions of paths merged into one small tree: objects of the same type on the same path of types
 * share one step.
 *
 *     struct gcd_merged_tree_options o = { .paths = paths, .types = wanted };          only the
 *         objects of some types
 *     if (gcd_merged_tree_new(g, &o, &tree, &err) == GCD_OK) {
 *         const struct gcd_merged_step *s = gcd_merged_tree_steps(tree, &n);
 *         for (size_t i = 0; i < n; i++)
 *             ... s[i].depth says how far to indent
 *     }
 *
 * A tree of paths (paths.h) shows what holds the wanted objects: at the top are the roots, or with
 * to_root the objects themselves.  A tree of dominators (dominators.h) shows what retains them;
 * when all objects are wanted, the bytes of a step are its retained size. The sums of a step are
 * its own and those of its children.
 *
 * Objects of one type that follow each other on a path, as in a list, are one step.  In a tree of
 * paths this also holds for a type that recurs further down, so the tree is only as deep as a path
 * has different types.
 *
 * With FIELDS, what different fields of an object lead to is in different steps, also if it has one
 * type: the answer to "which of my two caches".  With to_root, the objects that hold a step in
 * different fields are in different steps.
 *
 * With STACKS the tree has what profiles and flame graphs need: all objects, even those that no
 * root reaches, each below the group of its root and the name of its static variable; objects that
 * are too deep get steps of their own.
 */
#ifndef GCDUMPC_UNSTABLE_MERGED_TREE_H
#define GCDUMPC_UNSTABLE_MERGED_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/fields.h>

struct gcd_merged_tree;

/*
 * The live objects in preorder of the dominator tree: each directly before those that it dominates,
 * with its type and retained size.  Here, code that visits whole subtrees reads memory
 * sequentially; in heap order, nearly every object would be a cache miss.
 */
struct gcd_preorder;

/*
 * G and D, its dominators, must outlive the result.  CONTEXT may be NULL; only its threads are
 * used.  GCD_E_NOMEM.  Takes 16 bytes per live object, and at most 4 more during the call.
 */
GCD_MUST_CHECK gcd_status gcd_preorder_new(const struct gcd_graph *g,
                                           const struct gcd_dominators *d,
                                           const struct gcd_context *context,
                                           struct gcd_preorder **ret, struct gcd_error *err);
/* P may be NULL. */
void gcd_preorder_free(struct gcd_preorder *p);

/* As gcd_retained_by_type (retained.h), in one pass over the objects: RET_BYTES[type_count] in
 * bytes, saturating.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_preorder_retained_by_type(const struct gcd_preorder *p,
                                                        uint64_t *ret_bytes, struct gcd_error *err);

/* No step. */
#define GCD_STEP_NONE UINT32_MAX

enum gcd_step_kind {
    GCD_STEP_TYPE,  /* objects of one type */
    GCD_STEP_GROUP, /* roots of one group, gcd_step_name.group */
    /* static variables with the same name and type (with stacks: with the same name), or the stacks
     * of threads with the same name */
    GCD_STEP_VARIABLE,
    GCD_STEP_PSEUDO_ROOTS,  /* objects that serve as pseudo-roots (dominators.h) */
    GCD_STEP_SEVERAL_ROOTS, /* several roots together, no single one (with stacks) */
    GCD_STEP_UNREACHABLE,   /* no root reaches it (with stacks) */
    GCD_STEP_FROZEN,        /* nor is it dead: gcd_is_frozen (with stacks) */
    /* objects of any type that lie deeper: see max_depth and max_steps (with stacks) */
    GCD_STEP_DEEPER,
};

/* What a step stands for. */
struct gcd_step_name {
    enum gcd_step_kind kind;
    uint32_t type;             /* TYPE */
    enum gcd_root_group group; /* GROUP, VARIABLE */
    size_t root;               /* VARIABLE: one of the roots (gcd_summary.roots); else SIZE_MAX */
};

struct gcd_merged_step {
    uint32_t parent; /* an earlier step; GCD_STEP_NONE at the top */
    /* the steps below are those from its own number + 1 up to END, exclusive; 0 with stacks */
    uint32_t end;
    uint32_t depth; /* 0 at the top */
    uint32_t label; /* number of what it stands for: gcd_merged_tree_name; of a type, its number */
    /* of a type in a tree with FIELDS: the field of the step above that leads to it; with to_root
     * its own that leads to the step above.  GCD_SLOT_NONE = not certain, or not told */
    uint32_t slot;
    bool dependent; /* its objects are held as the values of dependent handles */
    /* its type recurs further down (lists, trees, cycles); those objects are included */
    bool repeats;
    /* includes deeper objects of any type: see max_depth and max_steps */
    bool cut;
    /* different objects in it that are wanted or lead to wanted ones; 0 = unknown (to_root, roots)
     */
    uint64_t objects;
    /* wanted objects whose path ends here; bytes are shallow sizes and saturate */
    uint64_t own_count, own_bytes;
    uint64_t count, bytes; /* the same including all steps below */
};

struct gcd_merged_tree_options {
    struct gcd_context context;
    const struct gcd_paths *paths; /* one of these two; it need only outlive the call */
    const struct gcd_dominators *dominators;
    /* [gcd_summary.type_count] not 0 = the objects of this type are wanted */
    const uint8_t *types;
    const uint32_t *nodes; /* [node_count] or these objects are wanted; both NULL = all */
    size_t node_count;
    const struct gcd_fields *fields; /* tell fields apart; they must outlive the tree */
    const uint8_t *field_types;      /* [type_count] not 0 = those of this class; NULL = of all */
    /* only fields that the types of holder and object tell: takes less time than a look at each */
    bool fields_by_types;
    bool to_root; /* paths: from the objects to the roots */
    bool stacks;  /* for profiles, see above */
    /* with stacks: allows gcd_merged_tree_largest for some objects; keeps 4 bytes per node */
    bool keep_places;
    uint32_t max_depth; /* types on a path; 0 = 256, the maximum */
    uint32_t max_steps; /* approximate maximum; 0 = 1 Mi */
    /* for gcd_merged_tree_heaviest: that of DOMINATORS; consumed and always freed; NULL = it makes
     * one */
    struct gcd_preorder *preorder;
    /* for gcd_merged_tree_heaviest: stop after this many of the heaviest steps; 0 = no limit but
     * max_steps */
    uint32_t heaviest;
    /* [find_count] with stacks: objects whose steps are stored in RET_FOUND[find_count] */
    const uint32_t *find;
    size_t find_count;
    uint32_t *ret_found;
};

/*
 * G must outlive the tree.  GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_LIMIT (2^32 roots, 2^31 types and
 * static variables).  Memory during the call: 4.4 bytes per node; 8.5 for stacks of dominators if
 * there are roots of late groups (enum gcd_root_group).
 */
GCD_MUST_CHECK gcd_status gcd_merged_tree_new(const struct gcd_graph *g,
                                              const struct gcd_merged_tree_options *options,
                                              struct gcd_merged_tree **ret, struct gcd_error *err);
void gcd_merged_tree_free(struct gcd_merged_tree *t);

/*
 * The dominator tree of all objects with stacks, expanded from the heaviest step on until it has
 * about max_steps, so it contains what is heavy however wide the heap is.  The sums of a step
 * include what is left out below it.  Heavy objects deeper than max_depth are in a step DEEPER, and
 * below that by type.  Uses the options context, dominators, preorder, heaviest, max_depth,
 * max_steps and find; ret_found has the step in which the outermost dominator of each object begins
 * (a group or a static variable).  PATHS of the same graph, if given, save a walk from the roots.
 * Set the other options as for a tree with stacks.  Same errors.  Memory during the call: the
 * preorder; 4 bytes per node, of which only those of objects held by roots are touched; and 1 bit
 * per node, 2 if there are late roots and no paths.
 */
GCD_MUST_CHECK gcd_status gcd_merged_tree_heaviest(const struct gcd_graph *g,
                                                   const struct gcd_merged_tree_options *options,
                                                   struct gcd_merged_tree **ret,
                                                   struct gcd_error *err);

/*
 * Each step directly before those below it; siblings by bytes, then by count, the largest first.
 * With stacks, in the order of discovery, each after its parent.  [*ret_n], owned by the tree.
 */
const struct gcd_merged_step *gcd_merged_tree_steps(const struct gcd_merged_tree *t, size_t *ret_n);

/* Labels are numbered from 0; all trees of one graph with the same STACKS have the same numbers. */
uint32_t gcd_merged_tree_label_count(const struct gcd_merged_tree *t);
struct gcd_step_name gcd_merged_tree_name(const struct gcd_merged_tree *t, uint32_t label);
/* The name of the field of step S of T; NULL = none.  As long as the fields. */
const char *gcd_merged_tree_field(const struct gcd_merged_tree *t, const struct gcd_merged_step *s);

/*
 * Makes a new tree of the MAX steps of T (with stacks) that have the most bytes including those
 * below, in the order of T.  The sums of a step include what is left out below it.  OF[n]: count
 * only these objects, each once; T must have been made with keep_places.  NULL: count all.
 * GCD_E_NOMEM. Time grows with the number of steps that have such objects in them or below.
 */
GCD_MUST_CHECK gcd_status gcd_merged_tree_largest(const struct gcd_merged_tree *t,
                                                  const uint32_t *of, size_t n, size_t max,
                                                  struct gcd_merged_tree **ret,
                                                  struct gcd_error *err);

struct gcd_merged_tree_totals {
    uint64_t count, bytes; /* wanted objects in the tree: the sums of the steps at the top */
    /* wanted objects that no root reaches and that are not in the tree */
    uint64_t dead_count, dead_bytes;
    /* wanted objects that only code holds (gcd_is_frozen), not in the tree either */
    uint64_t frozen_count, frozen_bytes;
    uint64_t cut_count; /* part of COUNT: objects that are deeper than their step */
};
/* How many of the wanted objects are in the tree, and how many are not. */
struct gcd_merged_tree_totals gcd_merged_tree_totals(const struct gcd_merged_tree *t);

#endif
