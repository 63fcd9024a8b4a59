/*
 * Millions of paths in one small tree: objects of the same type that are reached the same way are one step of it.
 *
 *     struct gcd_merged_tree_options o = { .paths = paths, .types = wanted };          which objects: those of some types
 *     if (gcd_merged_tree_new(g, &o, &tree, &err) == GCD_OK) {
 *         const struct gcd_merged_step *s = gcd_merged_tree_steps(tree, &n);
 *         for (size_t i = 0; i < n; i++)
 *             ... s[i].depth says how far to indent
 *     }
 *
 * A tree of paths (paths.h) shows what holds the wanted objects: at the top are the roots, or with to_root the objects themselves.  A tree of
 * dominators (dominators.h) shows what retains them; when all objects are wanted, the bytes of a step are its retained size.
 * The sums of a step are its own and those of its children.
 *
 * Objects of one type that follow each other on a path, as in a list, are one step.  In a tree of paths that is true of every type that comes
 * back further down, so the tree is as deep as there are different types on a path.
 *
 * With STACKS the tree has what profiles and flame graphs need: all objects, each below the group of its root and the name of its static
 * variable, also those that no root reaches; what lies too deep is in steps of its own.
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

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_merged_tree;

/*
 * The live objects in preorder of the tree of dominators: each directly before those that it dominates, with its type and what it retains.  What
 * looks at whole subtrees reads memory in order here, and would wait for it at nearly every object of the heap's order.
 */
struct gcd_preorder;

/*
 * G and D, its dominators, must outlive the result.  CONTEXT may be NULL; it says how many threads help.  GCD_E_NOMEM.  Takes 16 bytes for each live
 * object, and while it runs at most 4 more.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_preorder_new(const struct gcd_graph *g, const struct gcd_dominators *d, const struct gcd_context *context,
                                                   struct gcd_preorder **ret, struct gcd_error *err);
/* P may be NULL. */
GCD_API void gcd_preorder_free(struct gcd_preorder *p);

/* What gcd_retained_by_type (retained.h) says, from one look at each object: RET_BYTES[type_count] in bytes, saturating.  GCD_E_NOMEM. */
GCD_API GCD_MUST_CHECK gcd_status gcd_preorder_retained_by_type(const struct gcd_preorder *p, uint64_t *ret_bytes, struct gcd_error *err);

/* No step. */
#define GCD_STEP_NONE UINT32_MAX

enum gcd_step_kind {
    GCD_STEP_TYPE,               /* objects of one type */
    GCD_STEP_GROUP,              /* roots of one group, gcd_step_name.group */
    GCD_STEP_VARIABLE,           /* static variables with the same name and type (with stacks: with the same name) */
    GCD_STEP_PSEUDO_ROOTS,       /* objects that serve as pseudo-roots (dominators.h) */
    GCD_STEP_SEVERAL_ROOTS,      /* several roots together, none of them alone (with stacks) */
    GCD_STEP_UNREACHABLE,        /* no root (with stacks) */
    GCD_STEP_DEEPER,             /* objects of any type that lie deeper: see max_depth and max_steps (with stacks) */
};

/* What a step stands for. */
struct gcd_step_name {
    enum gcd_step_kind kind;
    uint32_t type;               /* TYPE */
    enum gcd_root_group group;   /* GROUP, VARIABLE */
    size_t root;                 /* VARIABLE: one of the roots (gcd_summary.roots); else SIZE_MAX */
};

struct gcd_merged_step {
    uint32_t parent;             /* a step before this one; GCD_STEP_NONE at the top */
    uint32_t end;                /* the steps below are those from its own number + 1 up to END, exclusive; 0 with stacks */
    uint32_t depth;              /* 0 at the top */
    uint32_t label;              /* what it stands for, as a number: gcd_merged_tree_name.  That of a type is the number of the type. */
    bool dependent;              /* its objects are held as the values of dependent handles */
    bool repeats;                /* paths come back to its type further down, by lists, trees, circles: these objects are in it, too */
    bool cut;                    /* objects that lie deeper are in it, whatever their type: see max_depth and max_steps */
    uint64_t objects;            /* different objects in it that lead to wanted ones or are such; 0 = not known (to_root, roots) */
    uint64_t own_count, own_bytes;   /* of the wanted objects those whose path ends here; bytes are shallow sizes and saturate */
    uint64_t count, bytes;       /* and with those below */
};

struct gcd_merged_tree_options {
    struct gcd_context context;
    const struct gcd_paths *paths;   /* one of these two; it must outlive the call only */
    const struct gcd_dominators *dominators;
    const uint8_t *types;        /* [gcd_summary.type_count] wanted are the objects of those that are not 0 */
    const uint32_t *nodes;       /* [node_count] or these objects; with both NULL all */
    size_t node_count;
    bool to_root;                /* of paths: from the objects to the roots */
    bool stacks;                 /* as for profiles, see above */
    bool keep_places;            /* with stacks: gcd_merged_tree_largest can be asked for some objects; 4 bytes a node stay */
    uint32_t max_depth;          /* types on a way; 0 = 256, which is also the most */
    uint32_t max_steps;          /* about so many at most; 0 = 1 Mi */
    struct gcd_preorder *preorder;       /* of gcd_merged_tree_heaviest: of DOMINATORS, used up and freed in any case; NULL: it makes one */
    uint32_t heaviest;           /* of gcd_merged_tree_heaviest: it ends when it has these many of the heaviest steps; 0 = as many as there may be */
    const uint32_t *find;        /* [find_count] with stacks: objects whose steps are stored in RET_FOUND[find_count] */
    size_t find_count;
    uint32_t *ret_found;
};

/*
 * G must outlive the tree.  GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_LIMIT (2^32 roots, 2^31 types and static variables).  Memory while it runs:
 * 4.4 bytes a node; 8.5 with stacks of dominators, when there are roots that are late in the order of roots (enum gcd_root_group).
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_merged_tree_new(const struct gcd_graph *g, const struct gcd_merged_tree_options *options,
                                                      struct gcd_merged_tree **ret, struct gcd_error *err);
GCD_API void gcd_merged_tree_free(struct gcd_merged_tree *t);

/*
 * The tree of dominators of all objects with stacks, in which a step is taken apart before those that retain less, until there are about max_steps:
 * what is heavy is there, however wide the heap is.  The sums of a step hold those of what is left out below it.  What is heavy but lies deeper than
 * max_depth is in a step DEEPER, and below that by type.  Of the options it takes context, dominators, preorder, heaviest, max_depth, max_steps and
 * find; ret_found has the step in which the outermost dominator of each object begins (a group or a static variable).  PATHS of the same graph, if
 * there are any, save it a walk from the roots.  The other options must be as for a tree with stacks.  The same errors.  Memory while it runs: that
 * of the preorder, 4 bytes a node, of which only those of objects that roots hold are touched, and a bit a node, two when there are late roots and
 * no paths.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_merged_tree_heaviest(const struct gcd_graph *g, const struct gcd_merged_tree_options *options,
                                                           struct gcd_merged_tree **ret, struct gcd_error *err);

/*
 * Each step directly before those below it; those with the same parent by bytes, then by count, the largest first.  With stacks in the order in
 * which they were found, each behind its parent.  [*ret_n], the tree's.
 */
GCD_API const struct gcd_merged_step *gcd_merged_tree_steps(const struct gcd_merged_tree *t, size_t *ret_n);

/* Labels are numbered from 0 on; the same for all trees of one graph with the same STACKS. */
GCD_API uint32_t gcd_merged_tree_label_count(const struct gcd_merged_tree *t);
GCD_API struct gcd_step_name gcd_merged_tree_name(const struct gcd_merged_tree *t, uint32_t label);

/*
 * Of a tree T with stacks the MAX steps with the most bytes in them and below, in the order of T: a tree of its own, whose sums hold those of
 * what is left out below a step.  OF[n]: count only these objects, each once, T having kept their places; NULL: count all.  GCD_E_NOMEM.  Takes time
 * for the steps that have such objects in them or below.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_merged_tree_largest(const struct gcd_merged_tree *t, const uint32_t *of, size_t n, size_t max,
                                                          struct gcd_merged_tree **ret, struct gcd_error *err);

struct gcd_merged_tree_totals {
    uint64_t count, bytes;       /* wanted objects that the tree holds: the sums of the steps at the top */
    uint64_t dead_count, dead_bytes;     /* wanted objects that no root leads to and that are not in the tree */
    uint64_t cut_count;          /* of COUNT those that are deeper than the step they are in */
};
/* What of the wanted objects the tree holds, and what it does not. */
GCD_API struct gcd_merged_tree_totals gcd_merged_tree_totals(const struct gcd_merged_tree *t);

#ifdef __cplusplus
}
#endif
#endif
