/*
 * The object graph of a heap dump in memory, for writers and analyses that need random access.
 *
 *     struct gcd_graph *g;
 *     if (gcd_graph_from_dump(dump, NULL, &g, &err) == GCD_OK)
 *         for (uint32_t n = 0; n < gcd_graph_node_count(g); n++) {
 *             struct gcd_node node;
 *             gcd_graph_node(g, n, &node);
 *             ...
 *         }
 *
 * A node is an object, numbered 0, 1, 2 ... in the order of the heap walk.  An edge is a reference,
 * given as the number of its target node. The caller gets a sealed graph that never changes, so
 * several threads may read it at the same time.
 *
 * Memory: 8 bytes per object (12 with the address index; at most 24 more with addresses far apart
 * and more than 65,536 types) and 4 bytes per edge (5 of a memory image), plus types, roots and
 * names; unstable/estimate.h computes it for a dump.
 */
#ifndef GCDUMPC_GRAPH_H
#define GCDUMPC_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_graph;

struct gcd_graph_options {
    struct gcd_context context;
    bool keep_unknown; /* references and roots without an object point to one artificial node of
                          size 0, the last node; otherwise they are dropped.  The notes count them
                          either way */
    uint64_t progress_total; /* passed to PROGRESS */
};

/*
 * Builds the graph of D, which must be rereadable (gcd_objects_new) and may be freed afterwards.
 * OPTIONS may be NULL. GCD_E_LIMIT: more than 2^32 - 2 objects; GCD_E_NOMEM; errors of
 * gcd_objects_next.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_graph_from_dump(struct gcd_dump *d,
                                                      const struct gcd_graph_options *options,
                                                      struct gcd_graph **ret,
                                                      struct gcd_error *err);
GCD_API void gcd_graph_free(struct gcd_graph *g);

/* Everything returned below belongs to the graph and lives as long as it does. */

/* The summary of the dump, with objects, bytes, edges, types and roots counted again for the graph.
 */
GCD_API const struct gcd_summary *gcd_graph_summary(const struct gcd_graph *g);

/* What could not become part of the graph.  All zero for a sound dump. */
struct gcd_graph_notes {
    uint64_t edges_missing;      /* declared references that were not received or not matched */
    uint64_t edges_dangling;     /* references to addresses without an object */
    uint64_t roots_dangling;     /* roots without an object, including statics and COM wrappers */
    uint64_t dependents_dropped; /* dependent handles whose key or value is not an object */
    uint64_t objects_dropped;    /* objects with address 0 */
    /* objects at the address of another object: kept, but no reference resolves to them */
    uint64_t objects_doubled;
    /* lines of a text file that could not be parsed; damaged_line is the first */
    uint64_t records_damaged;
    uint64_t damaged_line;
    /* types of a .gcdump that were joined with others, because only the size of their objects, a
     * part of the name, tells them apart */
    uint64_t size_classes;
    bool addresses_made_up; /* the input has no addresses: objects get consecutive ones */
};
GCD_API const struct gcd_graph_notes *gcd_graph_notes(const struct gcd_graph *g);

/* ---- nodes: numbers 0 .. count - 1.  Numbers are not checked; the caller must keep them in range.
 * ---- */

struct gcd_node {
    uint64_t address; /* 0 only for the unknown node */
    /* exact, as the runtime reports it, not rounded up to the alignment */
    uint64_t size_bytes;
    /* [edge_count] target nodes in the order of the events; a node may occur several times */
    const uint32_t *edges;
    size_t edge_count;
    uint32_t type;
};

/* The number of nodes, including the artificial one.  gcd_graph_node fills *RET; its edges belong
 * to the graph. */
GCD_API uint32_t gcd_graph_node_count(const struct gcd_graph *g);
GCD_API void gcd_graph_node(const struct gcd_graph *g, uint32_t node, struct gcd_node *ret);
/* Single fields, for loops that need nothing else. */
GCD_API uint32_t gcd_graph_node_type(const struct gcd_graph *g, uint32_t node);
GCD_API uint64_t gcd_graph_node_size(const struct gcd_graph *g, uint32_t node);
GCD_API uint64_t gcd_graph_node_address(const struct gcd_graph *g, uint32_t node);
GCD_API const uint32_t *gcd_graph_node_edges(const struct gcd_graph *g, uint32_t node,
                                             size_t *ret_n);
/* Does FROM refer to TO?  Searches all its references. */
GCD_API bool gcd_graph_refers(const struct gcd_graph *g, uint32_t from, uint32_t to);

/*
 * All nodes at once, for programs that compute with arrays.  The caller provides the arrays; NULL =
 * not wanted.  The edges of node N are edges[edge_starts[N]] up to, but not including,
 * edges[edge_starts[N + 1]].
 */
struct gcd_graph_columns {
    uint64_t *addresses;   /* [node_count] as gcd_graph_node_address */
    uint64_t *sizes_bytes; /* [node_count] */
    uint32_t *types;       /* [node_count] */
    uint64_t *edge_starts; /* [node_count + 1], the last one = edge_count */
    uint32_t *edges;       /* [gcd_graph_edge_count] nodes */
};
GCD_API void gcd_graph_columns(const struct gcd_graph *g, const struct gcd_graph_columns *to);

/* References of all objects, without dependent handles. */
GCD_API uint64_t gcd_graph_edge_count(const struct gcd_graph *g);

/* The object at ADDRESS, or GCD_NODE_NONE. */
GCD_API uint32_t gcd_graph_find(const struct gcd_graph *g, uint64_t address);

/* The artificial node for unknown objects, GCD_NODE_NONE = none; see keep_unknown. */
GCD_API uint32_t gcd_graph_unknown(const struct gcd_graph *g);

/* ---- dependent handles; roots are in the summary ---- */

/* Dependent handles: KEY keeps VALUE alive.  Sorted by key; handles with the same key in the order
 * of the events. */
struct gcd_graph_dependent {
    uint32_t key, value; /* nodes */
};
GCD_API size_t gcd_graph_dependent_count(const struct gcd_graph *g);
GCD_API const struct gcd_graph_dependent *gcd_graph_dependent(const struct gcd_graph *g, size_t i);

#ifdef __cplusplus
}
#endif
#endif
