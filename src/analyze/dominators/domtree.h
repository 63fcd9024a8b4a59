/*
 * The dominator tree of a graph's inner nodes (inner_nodes.h), by Semi-NCA (Georgiadis, "Linear-time algorithms for dominators and related
 * problems", 2005): semidominators as Lengauer and Tarjan find them, with path compression; then each node's parent in the dominator
 * tree is the first above it in the tree so far that is not below its semidominator.  Jumps to ancestors further up make that
 * step, which is quadratic as it was published, O(log n): O(m log n) in all for any shape, and next to linear for heaps.
 * README.md compares.
 *
 * Everything is done in preorder numbers of a depth-first search: 0 is the made-up root, 1 ... reached are the reachable inner nodes.
 * Of the edges into a node only those from higher numbers need the forest; lists are kept of these alone.  What two phases
 * never need at the same time lies in one place, a union where it has two shapes; and
 *
 *                 above                           number (by node)                        order
 *     search ...  parent in the depth-first tree                                          inner node
 *     forest      the same                        preorder number; leaves, and what no    node
 *     tree        depth in the dominator tree     root leads to: GCD_NODE_NONE
 *
 * Nearly all of the time is waiting for memory; so what is needed soon is fetched ahead.
 */
#ifndef GCD_ANALYZE_DOMTREE_H
#define GCD_ANALYZE_DOMTREE_H

#include <gcdumpc/dominators.h>

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/inner_nodes.h"
#include "analyze/dominators/parts.h"

/* Nodes between two calls of domtree_check. */
#define DOMTREE_CHECK UINT32_C(65536)
/* How many edges, list entries or nodes ahead memory is fetched. */
#define DOMTREE_AHEAD 16u

/* Edges from higher numbers: where a node's list ends, less the start of its block; and its semidominator as far as it is known. */
struct domtree_list {
    uint32_t end;                /* at first their count */
    uint32_t semi;
};

/* Jump: an ancestor further up, so that any is reached in O(log n) steps. */
struct domtree_branch {
    uint32_t parent, jump;
};

union domtree_entry {
    struct domtree_list list;
    struct domtree_branch branch;        /* when the tree is built */
};

/* Of the forest. */
struct domtree_link {
    uint32_t ancestor;           /* in the depth-first tree; after compression the root */
    uint32_t least;              /* semidominator on the way there */
};

union domtree_cell {
    struct domtree_link link;
    _Alignas(8) uint64_t retained;       /* the user's, when the tree is built; several threads add to it, also where pointers have 32 bits */
};

struct domtree {
    struct gcd_alloc alloc;
    const struct gcd_dominators_options *options;
    uint64_t steps_total;        /* for progress: those of the tree are 3 a node */
    uint32_t node_count;
    struct live_edges live;
    struct inner_nodes inner;
    uint32_t reached;            /* inner nodes */
    uint32_t *number, *order;    /* the user's: [node_count], [node_count + 1] */
    size_t room;                 /* of the three below: inner.count + 1 */
    uint32_t *above;
    union domtree_entry *entries;
    union domtree_cell *cells;           /* when the inner nodes are done with */
    uint64_t *block;             /* start of the lists of a block of nodes */
    size_t blocks;
    uint32_t *lists;
    uint64_t list_edges;
};

/* T has allocator, options, steps_total, node_count, number and order; the rest is zero.  Whatever is returned, domtree_done is to be called. */
GCD_MUST_CHECK gcd_status domtree_build(struct domtree *t, const struct gcd_graph *g, struct gcd_error *err);
void domtree_done(struct domtree *t);
/* Gives up the tree. */
void domtree_drop_entries(struct domtree *t);

/* Progress, and GCD_E_CANCELED when it is so. */
GCD_MUST_CHECK gcd_status domtree_check(const struct domtree *t, uint64_t steps, struct gcd_error *err);

/*
 * WORK for the parts of COUNT nodes on as many threads as the options allow; then domtree_check.  A part begins with domtree_part, which is
 * false when the rest need not be done any more.
 */
GCD_MUST_CHECK gcd_status domtree_loop(const struct domtree *t, uint32_t count, gcd_part_fn work, void *ctx, uint64_t steps,
                                       struct gcd_error *err);
bool domtree_part(const struct domtree *t, uint32_t count, uint32_t part, uint32_t *ret_first, uint32_t *ret_end);

/* The first of V and its ancestors that is not above the number LIMIT. */
static inline uint32_t domtree_climb(const union domtree_entry *tree, uint32_t v, uint32_t limit)
{
    while (v > limit)
        v = tree[v].branch.jump > limit ? tree[v].branch.jump : tree[v].branch.parent;
    return v;
}

/* The nearest common ancestor.  Few turns: dominators of nodes on one path of the depth-first tree do not alternate. */
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
