/*
 * The dominator tree of a graph's inner nodes (inner_nodes.h), by Semi-NCA (Georgiadis,
 * "Linear-time algorithms for dominators and related problems", 2005).  It finds semidominators as
 * Lengauer and Tarjan do, with path compression.  A node's parent in the dominator tree is then its
 * first ancestor in the tree so far that is not below its semidominator.  As published, that step
 * is quadratic; jumps to higher ancestors make it O(log n) per node.  The total is O(m log n) for
 * any shape and almost linear for heaps.  README.md compares algorithms.
 *
 * All steps use preorder numbers of a depth-first search: 0 is the artificial root, 1 ... reached
 * are the reachable inner nodes, first those that roots of early groups reach (root_order.h).
 * References from the others to these do not count.  Only edges from higher numbers need the
 * forest, so the lists hold no others.  Phases share arrays (a union where the shapes differ):
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
#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/inner_nodes.h"
#include "analyze/dominators/parts.h"

/* Nodes between two reports of progress. */
#define DOMTREE_CHECK UINT32_C(65536)
/* Prefetch distance in edges, list entries or nodes. */
#define DOMTREE_AHEAD 16u

/* A node's list of edges from higher numbers, and its semidominator as far as known. */
struct domtree_list {
    /* end of the list, relative to its block; at first the number of edges */
    uint32_t end;
    uint32_t semi;
};

/* The jump points to a higher ancestor; jumps reach any ancestor in O(log n) steps. */
struct domtree_branch {
    uint32_t parent, jump;
};

union domtree_entry {
    uint32_t inner; /* during the search: the inner node with this number */
    struct domtree_list list;
    struct domtree_branch branch; /* once the tree is built */
};

/* A node of the forest. */
struct domtree_link {
    /* parent in the depth-first tree; after compression, the root of the forest's tree */
    uint32_t ancestor;
    uint32_t least; /* least semidominator on the path to it */
};

union domtree_cell {
    struct domtree_link link;
    /* the caller's, once the tree is built; threads add to it atomically, on 32-bit machines too */
    _Alignas(8) uint64_t retained;
};

struct domtree {
    struct gcd_alloc alloc;
    const struct gcd_context *context;
    uint64_t steps_total; /* for progress; building the tree takes 3 per node */
    uint32_t node_count;
    struct live_edges live;
    struct inner_nodes inner;
    uint32_t reached;         /* number of inner nodes reached */
    uint32_t early;           /* those that roots of early groups reach: numbers 1 ... early */
    uint32_t *number, *order; /* the caller's: [node_count], [node_count + 1] */
    uint64_t *late;           /* the caller's: one bit per node, for leaves and number_nodes */
    size_t room;              /* length of the three arrays below: inner.count + 1 */
    uint32_t *above;
    union domtree_entry *entries;
    union domtree_cell *cells; /* allocated once the inner nodes are freed */
    uint64_t *block;           /* where the lists of each block of nodes start */
    size_t blocks;
    uint32_t *lists;
    uint64_t list_edges;
};

/* The caller sets allocator, options, steps_total, node_count, number and order of T, and zeroes
 * the rest.  Call domtree_done in any case. */
GCD_MUST_CHECK gcd_status domtree_build(struct domtree *t, const struct gcd_graph *g,
                                        struct gcd_error *err);
void domtree_done(struct domtree *t);
/* Frees the tree (entries). */
void domtree_drop_entries(struct domtree *t);

/*
 * Runs WORK for each part of COUNT nodes on the threads that the options allow, then reports
 * progress.  WORK must begin with domtree_part, which returns the nodes of the part, or false
 * if the job was canceled.
 */
GCD_MUST_CHECK gcd_status domtree_loop(const struct domtree *t, uint32_t count, gcd_part_fn work,
                                       void *ctx, uint64_t steps, struct gcd_error *err);
bool domtree_part(const struct domtree *t, uint32_t count, uint32_t part, uint32_t *ret_first,
                  uint32_t *ret_end);

/* Does root I count only for what no root of an early group reaches? */
static inline bool domtree_is_late(const struct domtree *t, size_t i)
{
    return gcd_group_is_late(live_edges_root_group(&t->live, i));
}

/* The first of V and its ancestors whose number is at most LIMIT. */
static inline uint32_t domtree_climb(const union domtree_entry *tree, uint32_t v, uint32_t limit)
{
    while (v > limit)
        v = tree[v].branch.jump > limit ? tree[v].branch.jump : tree[v].branch.parent;
    return v;
}

/* The nearest common ancestor.  Few iterations: dominators of nodes on one path of the depth-first
 * tree do not alternate. */
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
