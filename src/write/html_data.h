/*
 * What the page shows, gathered before any of it is written: its size depends on these numbers and not on the heap.
 */
#ifndef GCD_WRITE_HTML_DATA_H
#define GCD_WRITE_HTML_DATA_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/writer.h>

#include "base/locked_alloc.h"
#include "write/stacks.h"

#define HTML_TYPES 5000          /* rows of the table of types; the rest is one row */
#define HTML_TREE 12000          /* nodes of the dominator tree */
#define HTML_LARGE 100           /* single objects */
#define HTML_PATHS 24            /* types whose paths are shown */
#define HTML_PATH_NODES 400      /* nodes of each of them */
#define HTML_SUSPECTS 20
#define HTML_GENERATIONS 6       /* 0, 1, 2, large, pinned, and objects in none of the ranges */

/* A tree of frames (stacks.h), parents first.  The sums of a node hold those of what was left out below it. */
struct html_node {
    uint32_t parent;             /* number of a node, STACKS_NONE = none */
    uint32_t frame;
    uint64_t objects, bytes;     /* its own */
    uint64_t all_objects, all_bytes;     /* with all below it */
};

struct html_tree {
    struct html_node *items;
    size_t count, room;
};

struct html_large {
    uint64_t retained;
    uint32_t node;
    size_t holder, holders;      /* in the list of holders: frames from the outermost one to that of the object */
};

struct html_data {
    struct gcd_alloc alloc;      /* the user's, locked: analyses run beside each other */
    struct gcd_locked_alloc locked;
    const struct gcd_graph *g;
    const struct gcd_write_options *options;
    struct gcd_dominators *dominators;
    struct gcd_suspects *suspects;
    struct stacks names;         /* tells what a frame is */
    uint64_t *retained;          /* [types of the graph] */
    uint32_t *types;             /* [type_room] the first type_count are shown, by bytes */
    size_t type_count, type_room, types_with_objects;
    uint64_t reachable_objects, reachable_bytes;
    uint32_t pseudo_roots;       /* objects that serve as pseudo-roots, when there are none (dominators.h) */
    struct html_tree tree;
    struct html_large large[HTML_LARGE];
    size_t large_count;
    uint32_t *holders;
    size_t holder_count, holder_room;
    struct html_path {
        uint32_t type;
        struct html_tree tree;
    } paths[HTML_PATHS];
    size_t path_count;
    struct gcd_generation generations[HTML_GENERATIONS];
    uint64_t roots[GCD_GROUPS];  /* how many of each group */
};

/* All of it.  html_data_done is due in any case. */
GCD_MUST_CHECK gcd_status html_data_make(struct html_data *h, const struct gcd_graph *g, const struct gcd_write_options *options,
                                         struct gcd_error *err);
void html_data_done(struct html_data *h);

/*
 * html_tree.c: the MAX largest nodes of the tree that the stacks S are, when OWN_OBJECTS[s->count] and OWN_BYTES[] end in each of them;
 * these become the sums.
 */
GCD_MUST_CHECK gcd_status html_tree_make(struct html_tree *t, const struct stacks *s, uint64_t *own_objects, uint64_t *own_bytes,
                                         size_t max, struct gcd_error *err);
void html_tree_done(struct html_tree *t, const struct gcd_alloc *a);

/* html_paths.c: h->paths of the types in WANTED[N], from the stacks along shortest paths. */
GCD_MUST_CHECK gcd_status html_paths_make(struct html_data *h, const struct stacks *s, const uint32_t *wanted, size_t n,
                                          struct gcd_error *err);

/* html_json.c */
GCD_MUST_CHECK gcd_status html_json_write(const struct html_data *h, struct gcd_sink *s, struct gcd_error *err);

#endif
