/*
 * The dominator tree of a graph's inner nodes (inner_nodes.h), by Semi-NCA (Georgiadis, "Linear-time algorithms for dominators and related
 * problems", 2005): semidominators as Lengauer and Tarjan find them, with path compression; then each node's parent in the dominator
 * tree is its first ancestor in the tree so far that is not below its semidominator.  As published, that step is quadratic; jumps to
 * higher ancestors make it O(log n), so the whole is O(m log n) for any shape and almost linear for heaps.  README.md compares.
 *
 * All steps use preorder numbers of a depth-first search: 0 is the artificial root, 1 ... reached are the reachable inner nodes.  Only
 * edges from higher numbers need the forest, so only these are kept in lists.  Phases share arrays (a union where the shapes differ):
 *
 *                 above                           number (by node)                        order
 *     search ...  parent in the depth-first tree
 *     forest      the same                        preorder number; leaves and             node
 *     tree        depth in the dominator tree     unreachable nodes: GCD_NODE_NONE
 *
 * Nearly all time is spent waiting for memory, so the code prefetches.
 */
#ifndef GCD_ANALYZE_DOMTREE_H
#define GCD_ANALYZE_DOMTREE_H

#include <gcdumpc/dominators.h>

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/inner_nodes.h"
#include "analyze/dominators/parts.h"

/* Nodes between two calls of domtree_check. */
#define DOMTREE_CHECK UINT32_C(65536)
/* Prefetch distance in edges, list entries or nodes. */
#define DOMTREE_AHEAD 16u

/* Edges from higher numbers: the end of a node's list, relative to its block; and its semidominator as far as known. */
struct domtree_list {
    uint32_t end;                /* initially their count */
    uint32_t semi;
};

/* Jump: a higher ancestor, so that any ancestor is reached in O(log n) steps. */
struct domtree_branch {
    uint32_t parent, jump;
};

union domtree_entry {
    uint32_t inner;              /* during the search: the inner node with this number */
    struct domtree_list list;
    struct domtree_branch branch;        /* when the tree is built */
};

/* A node of the forest. */
struct domtree_link {
    uint32_t ancestor;           /* parent in the depth-first tree; after compression the root */
    uint32_t least;              /* least semidominator on the way there */
};

union domtree_cell {
    struct domtree_link link;
    _Alignas(8) uint64_t retained;       /* for the caller once the tree is built; several threads add to it, also on 32-bit machines */
};

struct domtree {
    struct gcd_alloc alloc;
    const struct gcd_context *context;
    uint64_t steps_total;        /* for progress; the tree takes 3 a node */
    uint32_t node_count;
    struct live_edges live;
    struct inner_nodes inner;
    uint32_t reached;            /* inner nodes */
    uint32_t *number, *order;    /* the caller's: [node_count], [node_count + 1] */
    size_t room;                 /* of the three arrays below: inner.count + 1 */
    uint32_t *above;
    union domtree_entry *entries;
    union domtree_cell *cells;           /* once the inner nodes are no longer needed */
    uint64_t *block;             /* start of the lists of a block of nodes */
    size_t blocks;
    uint32_t *lists;
    uint64_t list_edges;
};

/* The caller sets allocator, options, steps_total, node_count, number and order of T, and zeroes the rest.  Call domtree_done in any case. */
GCD_MUST_CHECK gcd_status domtree_build(struct domtree *t, const struct gcd_graph *g, struct gcd_error *err);
void domtree_done(struct domtree *t);
/* Frees the tree. */
void domtree_drop_entries(struct domtree *t);

/* Reports progress; GCD_E_CANCELED. */
GCD_MUST_CHECK gcd_status domtree_check(const struct domtree *t, uint64_t steps, struct gcd_error *err);

/*
 * Runs WORK for the parts of COUNT nodes on the threads that the options allow, then domtree_check.  A part begins with domtree_part, which
 * is false when the rest is not needed any more.
 */
GCD_MUST_CHECK gcd_status domtree_loop(const struct domtree *t, uint32_t count, gcd_part_fn work, void *ctx, uint64_t steps,
                                       struct gcd_error *err);
bool domtree_part(const struct domtree *t, uint32_t count, uint32_t part, uint32_t *ret_first, uint32_t *ret_end);

/* The first of V and its ancestors whose number is at most LIMIT. */
static inline uint32_t domtree_climb(const union domtree_entry *tree, uint32_t v, uint32_t limit)
{
    while (v > limit)
        v = tree[v].branch.jump > limit ? tree[v].branch.jump : tree[v].branch.parent;
    return v;
}

/* The nearest common ancestor.  Few iterations: dominators of nodes on one path of the depth-first tree do not alternate. */
static inline uint32_t domtree_common(const union domtree_entry *tree, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = domtree_climb(tree, a, b);
        else
            b = domtree_climb(tree, b, a);
    }
    return a;
}

#endif
