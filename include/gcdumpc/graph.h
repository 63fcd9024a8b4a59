/*
 * The object graph of a heap dump in memory: what a writer or an analysis looks at when it has to go back and forth.
 *
 *     struct gcd_graph *g;
 *     if (gcd_graph_from_dump(dump, NULL, &g, &err) == GCD_OK)
 *         for (uint32_t n = 0; n < gcd_graph_node_count(g); n++) {
 *             struct gcd_node node;
 *             gcd_graph_node(g, n, &node);
 *             ...
 *         }
 *
 * A node is an object, numbered 0, 1, 2 ... in the order of the heap walk.  An edge is a reference, named by the node it leads to.
 * A graph is sealed when the caller gets it: nothing changes any more, so it may be read by several threads at the same time.
 *
 * Memory: 16 bytes an object (20 with its address index at its densest) and 4 bytes an edge, besides types, roots and names; estimate.h tells
 * it for a dump.
 */
#ifndef GCDUMPC_GRAPH_H
#define GCDUMPC_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_graph;

struct gcd_graph_options {
    const struct gcd_alloc *alloc;
    const struct gcd_limits *limits;
    bool keep_unknown;           /* references and roots that lead to no object: lead them to one made-up node, the last
                                    one, of size 0; else they are dropped.  Counted in any case */
    const gcd_cancel_flag *cancel;   /* may be NULL; ends with GCD_E_CANCELED */
    unsigned threads;            /* 0 and 1: none but the caller's.  The result does not depend on it */
    gcd_progress_fn progress;    /* may be NULL */
    void *progress_ctx;
    uint64_t progress_total;     /* handed to PROGRESS */
};

/*
 * The graph of D, which must be rereadable (gcd_objects_new) and may be freed afterwards.  OPTIONS may be NULL.
 * GCD_E_LIMIT: more than 2^32 - 2 objects; GCD_E_NOMEM; errors of gcd_objects_next.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_from_dump(struct gcd_dump *d, const struct gcd_graph_options *options,
                                                      struct gcd_graph **ret, struct gcd_error *err);
GCD_API void gcd_graph_free(struct gcd_graph *g);

/* Everything returned below belongs to the graph and lives as long as it does. */

/* As of the dump, with objects, bytes, edges, types and roots counted anew.  Sums of types are those of the graph. */
GCD_API const struct gcd_summary *gcd_graph_summary(const struct gcd_graph *g);

/* What did not fit into the graph.  All zero for a sound dump. */
struct gcd_graph_notes {
    uint64_t edges_missing;      /* references that objects declare and nobody received or could be matched */
    uint64_t edges_dangling;     /* to addresses where no object is */
    uint64_t roots_dangling;     /* statics and COM wrappers among them */
    uint64_t dependents_dropped; /* dependent handles whose key or value is no object */
    uint64_t objects_dropped;    /* with address 0 */
    uint64_t objects_doubled;    /* at the address of another one: kept, but no reference finds them */
    uint64_t records_damaged;    /* lines of a text that were not understood and are left out; the first is line damaged_line */
    uint64_t damaged_line;
    bool addresses_made_up;      /* the input has none: objects are laid out one behind the other */
};
GCD_API const struct gcd_graph_notes *gcd_graph_notes(const struct gcd_graph *g);

/* ---- nodes: numbers 0 .. count - 1.  A node number that is out of range is the caller's mistake and not checked. ---- */

struct gcd_node {
    uint64_t address;            /* not 0, except of the unknown node; 0 also when the graph has no addresses any more */
    uint64_t size_bytes;         /* exact, as the runtime tells it: not rounded up to the alignment */
    const uint32_t *edges;       /* [edge_count] nodes in the order of the events; one can occur several times */
    size_t edge_count;
    uint32_t type;
};

/* How many, the made-up one included; one of them, with references that belong to the graph. */
GCD_API uint32_t gcd_graph_node_count(const struct gcd_graph *g);
GCD_API void gcd_graph_node(const struct gcd_graph *g, uint32_t node, struct gcd_node *ret);
/* The same one by one, for loops that need nothing else. */
GCD_API uint32_t gcd_graph_node_type(const struct gcd_graph *g, uint32_t node);
GCD_API uint64_t gcd_graph_node_size(const struct gcd_graph *g, uint32_t node);
GCD_API uint64_t gcd_graph_node_address(const struct gcd_graph *g, uint32_t node);
GCD_API const uint32_t *gcd_graph_node_edges(const struct gcd_graph *g, uint32_t node, size_t *ret_n);
/* Is one of FROM's references to TO?  Looks at all of them. */
GCD_API bool gcd_graph_refers(const struct gcd_graph *g, uint32_t from, uint32_t to);

/*
 * All nodes at once, for programs that compute with arrays.  The arrays are the caller's; NULL = not wanted.  The edges of node N are
 * edges[edge_starts[N]] up to, not including, edges[edge_starts[N + 1]].
 */
struct gcd_graph_columns {
    uint64_t *addresses;         /* [node_count] as gcd_graph_node_address */
    uint64_t *sizes_bytes;       /* [node_count] */
    uint32_t *types;             /* [node_count] */
    uint64_t *edge_starts;       /* [node_count + 1], the last one = edge_count */
    uint32_t *edges;             /* [gcd_graph_edge_count] nodes */
};
GCD_API void gcd_graph_columns(const struct gcd_graph *g, const struct gcd_graph_columns *to);

/* References of all objects; dependent handles are not among them. */
GCD_API uint64_t gcd_graph_edge_count(const struct gcd_graph *g);

/* The object at ADDRESS, GCD_NODE_NONE when there is none or the graph has no addresses any more. */
GCD_API uint32_t gcd_graph_find(const struct gcd_graph *g, uint64_t address);

/* The node that stands for what is unknown, GCD_NODE_NONE when there is none; see keep_unknown. */
GCD_API uint32_t gcd_graph_unknown(const struct gcd_graph *g);

/* Give up addresses and their index, 4 to 8 bytes an object: for a long analysis that does not show any. */
GCD_API void gcd_graph_drop_addresses(struct gcd_graph *g);

/* Bytes that the graph takes, all in all. */
GCD_API uint64_t gcd_graph_memory(const struct gcd_graph *g);

/* ---- dependent handles; roots are in the summary ---- */

/* Dependent handles: as long as KEY lives, VALUE does.  In ascending order of key, those of one key in the order of the events. */
struct gcd_graph_dependent {
    uint32_t key, value;         /* nodes */
};
GCD_API size_t gcd_graph_dependent_count(const struct gcd_graph *g);
GCD_API const struct gcd_graph_dependent *gcd_graph_dependent(const struct gcd_graph *g, size_t i);

#ifdef __cplusplus
}
#endif
#endif
