/*
 * How a reader builds a graph:
 *
 *     gcd_build_new, gcd_build_summary (fill in)
 *     gcd_build_type ...                        types can be added at any time before the seal
 *     gcd_build_node ...                        all objects, in order
 *     gcd_build_nodes_end                       from here on addresses can be resolved
 *     gcd_build_next_node, gcd_build_edges ...  for each object in the same order its references
 *     gcd_build_root, gcd_build_dependent, gcd_build_range ...
 *     gcd_build_seal                            always frees the builder; the graph belongs to the
 *                                               caller
 *
 * Because of the two passes over the objects, no reference is ever stored as an address of 8 bytes.
 * A reader whose references are node numbers (.gcdump, Dart) uses gcd_build_edge_nodes and may omit
 * addresses.
 */
#ifndef GCD_GRAPH_GRAPH_BUILD_H
#define GCD_GRAPH_GRAPH_BUILD_H

#include <gcdumpc/graph.h>

struct gcd_build;

/* OPTIONS may be NULL; its allocator, limits and cancel flag must outlive the graph, or the build.
 */
GCD_MUST_CHECK gcd_status gcd_build_new(const struct gcd_graph_options *options,
                                        struct gcd_build **ret, struct gcd_error *err);
/* Frees a build that was not sealed.  NULL is fine. */
void gcd_build_free(struct gcd_build *b);

/* For the reader to fill in: fields of the summary other than sums and lists (strings via
 * gcd_build_text), and the notes. */
struct gcd_summary *gcd_build_summary(struct gcd_build *b);
struct gcd_graph_notes *gcd_build_notes(struct gcd_build *b);
/* Copies N bytes of claimed UTF-8 (invalid bytes become U+FFFD), NUL-terminated; valid as long as
 * the graph. */
GCD_MUST_CHECK gcd_status gcd_build_text(struct gcd_build *b, const char *s, size_t n,
                                         const char **ret, struct gcd_error *err);

/* Reserves room for this many objects and references in one piece; 0 = unknown.  Pass only numbers
 * that the size of the input has confirmed. */
GCD_MUST_CHECK gcd_status gcd_build_reserve(struct gcd_build *b, uint64_t nodes, uint64_t edges,
                                            struct gcd_error *err);
/* All reserved memory will be used, so another thread may touch it in advance; call this at most
 * once, before the first object. */
void gcd_build_touch(struct gcd_build *b);

/* Adds a type; copies its strings.  The builder counts objects and bytes.  GCD_E_LIMIT above the
 * limit of types. */
GCD_MUST_CHECK gcd_status gcd_build_type(struct gcd_build *b, const struct gcd_type *t,
                                         uint32_t *ret, struct gcd_error *err);

/* Names a type that was added under a placeholder, once; *RET_AGAIN: it already has a name, which
 * stays. */
GCD_MUST_CHECK gcd_status gcd_build_type_name(struct gcd_build *b, uint32_t type, const char *name,
                                              size_t n, bool *ret_again, struct gcd_error *err);

/*
 * Adds the next object.  TYPE must have been added.  Address 0: if no object has an address, the
 * builder makes them up; an object without address among others with one must be dropped by the
 * reader (GCD_E_ARG).  GCD_E_LIMIT above 2^32 - 2 objects.
 */
GCD_MUST_CHECK gcd_status gcd_build_node(struct gcd_build *b, uint64_t address, uint32_t type,
                                         uint64_t size_bytes, struct gcd_error *err);
/*
 * Adds N objects (with addresses) and notes how many references each has.  It excludes
 * gcd_build_next_node: after gcd_build_nodes_end, pass the references of all objects in order to
 * gcd_build_edges; the seal checks their number (GCD_E_STATE).
 */
GCD_MUST_CHECK gcd_status gcd_build_owners(struct gcd_build *b, const struct gcd_object *objects,
                                           size_t n, struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_build_nodes_end(struct gcd_build *b, struct gcd_error *err);
uint32_t gcd_build_node_count(const struct gcd_build *b);
uint32_t gcd_build_node_type(const struct gcd_build *b, uint32_t node);

/* The following references belong to the next object; the first call means object 0. */
GCD_MUST_CHECK gcd_status gcd_build_next_node(struct gcd_build *b, struct gcd_error *err);
/* References as addresses; those without an object are counted and dropped, or redirected to the
 * unknown node. */
GCD_MUST_CHECK gcd_status gcd_build_edges(struct gcd_build *b, const uint64_t *targets, size_t n,
                                          struct gcd_error *err);
/*
 * The same with their places (unstable/graph/graph_places.h), each + 1, or one of these.  PLACES is
 * NULL if they are unknown, which holds for all references of a graph or for none.
 */
#define GCD_BUILD_FOLLOWS  UINT32_C(0) /* the one before it; the first of an object: place 0 */
#define GCD_BUILD_UNPLACED UINT32_MAX
GCD_MUST_CHECK gcd_status gcd_build_placed_edges(struct gcd_build *b, const uint64_t *targets,
                                                 const uint32_t *places, size_t n,
                                                 struct gcd_error *err);
/* References as nodes; GCD_NODE_NONE counts as dangling, another number beyond the last node is
 * GCD_E_FORMAT. */
GCD_MUST_CHECK gcd_status gcd_build_edge_nodes(struct gcd_build *b, const uint32_t *targets,
                                               size_t n, struct gcd_error *err);

/* After gcd_build_nodes_end: the object at ADDRESS or GCD_NODE_NONE. */
uint32_t gcd_build_find(const struct gcd_build *b, uint64_t address);
/* Adds a root; copies its name.  node GCD_NODE_NONE: counted as dangling. */
GCD_MUST_CHECK gcd_status gcd_build_root(struct gcd_build *b, const struct gcd_root *r,
                                         struct gcd_error *err);
/* The same for many roots: the name is not NULL and comes from gcd_build_text. */
GCD_MUST_CHECK gcd_status gcd_build_root_kept(struct gcd_build *b, const struct gcd_root *r,
                                              struct gcd_error *err);
/* If key or value is GCD_NODE_NONE, it is counted and dropped. */
GCD_MUST_CHECK gcd_status gcd_build_dependent(struct gcd_build *b, uint32_t key, uint32_t value,
                                              struct gcd_error *err);
/* Adds a module, before the types that refer to it by number; copies its strings. */
GCD_MUST_CHECK gcd_status gcd_build_module(struct gcd_build *b, const struct gcd_module *m,
                                           struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_build_range(struct gcd_build *b, const struct gcd_range *r,
                                          struct gcd_error *err);

/* Objects without a call of gcd_build_next_node have no references.  B is freed, *RET set only on
 * success. */
GCD_MUST_CHECK gcd_status gcd_build_seal(struct gcd_build *b, struct gcd_graph **ret,
                                         struct gcd_error *err);

/*
 * The places of all references of NODE, ascending, in RET[their number]; the first may be
 * PLACES_NONE.  GCD_END: they are not known; other statuses end the placing.
 */
typedef gcd_status graph_placer(void *ctx, const struct gcd_graph *g, uint32_t node, uint32_t *ret,
                                struct gcd_error *err);
/* Asks PLACE for the places of the references of each object of G, which is sealed, unless they are
 * known.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status graph_place(struct gcd_graph *g, graph_placer *place, void *ctx,
                                      struct gcd_error *err);

#endif
