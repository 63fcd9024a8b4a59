/*
 * Millions of paths in one small tree: objects of the same type that are reached the same way are one step of it.
 *
 *     struct gcd_type_tree_options o = { .types = wanted };          which objects: those of some types
 *     if (gcd_type_tree_of_paths(g, paths, &o, &tree, &err) == GCD_OK) {
 *         const struct gcd_type_step *s = gcd_type_tree_steps(tree, &n);
 *         for (size_t i = 0; i < n; i++)
 *             ... s[i].depth says how far to indent
 *     }
 *
 * Of paths (paths.h) the tree shows what holds the wanted objects: at the top the roots, or with to_root the objects themselves.  Of
 * dominators (dominators.h) it shows what retains them; when all objects are wanted, the bytes of a step are its retained size.
 * In both, what is wanted at a step and below it is what is wanted at the step itself and the sum of its children.
 */
#ifndef GCDUMPC_TYPE_TREE_H
#define GCDUMPC_TYPE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_type_tree;

/* No step; not a type. */
#define GCD_STEP_NONE UINT32_MAX

struct gcd_type_step {
    uint32_t parent;             /* GCD_STEP_NONE at the top */
    uint32_t end;                /* the steps below are those from its own number + 1 up to END, exclusive */
    uint32_t depth;              /* 0 at the top */
    uint32_t type;               /* of its objects; GCD_STEP_NONE: it stands for roots */
    size_t root;                 /* then one of the roots (gcd_graph_root), SIZE_MAX: objects that serve as pseudo-roots (dominators.h) */
    bool whole_group;            /* and it is any root of that root's group, not only those with the same name and type */
    uint32_t node;               /* one of its objects, with the shortest path; GCD_NODE_NONE of roots */
    bool dependent;              /* its objects are held as the values of dependent handles */
    bool repeats;                /* paths come back to its type further down, by lists, trees, circles: these objects are in it, too */
    bool cut;                    /* objects that lie deeper are in it, whatever their type: see max_depth and max_steps */
    uint64_t objects;            /* different objects in it that lead to wanted ones or are such; 0 = not known (to_root, roots) */
    uint64_t own_count, own_bytes;   /* of the wanted objects those whose path ends here; bytes are shallow sizes and saturate */
    uint64_t count, bytes;       /* and with those below */
};

struct gcd_type_tree_options {
    const struct gcd_alloc *alloc;
    const gcd_cancel_flag *cancel;   /* may be NULL; ends with GCD_E_CANCELED */
    gcd_progress_fn progress;    /* may be NULL; steps done and steps in all, no bytes */
    void *progress_ctx;
    const uint8_t *types;        /* [gcd_graph_type_count()] wanted are the objects of those that are not 0 */
    const uint32_t *nodes;       /* [node_count] or these objects; with both NULL all */
    size_t node_count;
    bool to_root;                /* of paths: from the objects to the roots */
    uint32_t max_depth;          /* types on a way; 0 = 256, which is also the most */
    uint32_t max_steps;          /* about so many at most; 0 = 1 Mi */
};

/*
 * G and P must outlive the call only.  A path that comes back to a type merges with itself there, so that the tree is as deep as there are
 * different types on a path.  GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_LIMIT (2^32 roots).  Memory while it runs: 4.4 bytes a node.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_type_tree_of_paths(const struct gcd_graph *g, const struct gcd_paths *p,
                                                         const struct gcd_type_tree_options *options, struct gcd_type_tree **ret,
                                                         struct gcd_error *err);
/* The same for the dominator tree: no steps for roots, because several may hold an object; no merging of types that come back. */
GCD_API GCD_MUST_CHECK gcd_status gcd_type_tree_of_dominators(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                              const struct gcd_type_tree_options *options, struct gcd_type_tree **ret,
                                                              struct gcd_error *err);
GCD_API void gcd_type_tree_free(struct gcd_type_tree *t);

/* Each step directly before those below it; those with the same parent by bytes, then by count, the largest first.  [*ret_n], the tree's. */
GCD_API const struct gcd_type_step *gcd_type_tree_steps(const struct gcd_type_tree *t, size_t *ret_n);

struct gcd_type_tree_totals {
    uint64_t count, bytes;       /* wanted objects that the tree holds: the sums of the steps at the top */
    uint64_t dead_count, dead_bytes;     /* wanted objects that no root leads to */
    uint64_t cut_count;          /* of COUNT those that are deeper than the step they are in */
};
/* What of the wanted objects the tree holds, and what it does not. */
GCD_API struct gcd_type_tree_totals gcd_type_tree_totals(const struct gcd_type_tree *t);

#ifdef __cplusplus
}
#endif
#endif
