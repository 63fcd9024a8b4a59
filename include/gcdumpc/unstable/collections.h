/*
 * Collections as people know them: which objects are lists, dictionaries, channels ..., how many
 * elements they have, and which other objects are only their internals.
 *
 *     gcd_collections_new(graph, NULL, &c, &err);
 *     if (gcd_collections_kind(c, gcd_graph_node_type(graph, node)) != GCD_COLLECTION_NONE)
 *         st = gcd_collection_describe(c, node, &it, &err);
 *
 * Events do not contain fields, so neither the count of a list nor null references are known.  The
 * nodes of a dictionary and the references of an array can be counted, and lengths follow from
 * sizes where the element size is known (unstable/lengths.h).  So the number of elements is a
 * range, often a single number.
 */
#ifndef GCDUMPC_UNSTABLE_COLLECTIONS_H
#define GCDUMPC_UNSTABLE_COLLECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

/* The kinds, with their names for programs. */
#define GCD_COLLECTION_LIST_OF_KINDS(X)                              \
    X(GCD_COLLECTION_NONE, "none")                                   \
    X(GCD_COLLECTION_ARRAY, "array")                                 \
    X(GCD_COLLECTION_LIST, "list")                                   \
    X(GCD_COLLECTION_DICTIONARY, "dictionary")                       \
    X(GCD_COLLECTION_SET, "set")                                     \
    X(GCD_COLLECTION_QUEUE, "queue")                                 \
    X(GCD_COLLECTION_STACK, "stack")                                 \
    X(GCD_COLLECTION_PRIORITY_QUEUE, "priority_queue")               \
    X(GCD_COLLECTION_LINKED_LIST, "linked_list")                     \
    X(GCD_COLLECTION_SORTED_DICTIONARY, "sorted_dictionary")         \
    X(GCD_COLLECTION_SORTED_SET, "sorted_set")                       \
    X(GCD_COLLECTION_SORTED_LIST, "sorted_list")                     \
    X(GCD_COLLECTION_CONCURRENT_DICTIONARY, "concurrent_dictionary") \
    X(GCD_COLLECTION_CONCURRENT_QUEUE, "concurrent_queue")           \
    X(GCD_COLLECTION_CONCURRENT_STACK, "concurrent_stack")           \
    X(GCD_COLLECTION_CONCURRENT_BAG, "concurrent_bag")               \
    X(GCD_COLLECTION_BLOCKING, "blocking_collection")                \
    X(GCD_COLLECTION_CHANNEL, "channel")                             \
    X(GCD_COLLECTION_IMMUTABLE, "immutable")                         \
    X(GCD_COLLECTION_FROZEN, "frozen")                               \
    X(GCD_COLLECTION_WRAPPER, "wrapper")                             \
    X(GCD_COLLECTION_CACHE, "cache")                                 \
    X(GCD_COLLECTION_WEAK_TABLE, "weak_table")                       \
    X(GCD_COLLECTION_TEXT, "text")                                   \
    X(GCD_COLLECTION_HANDLERS, "handlers")

enum gcd_collection_kind {
#define GCD_COLLECTION_ENUM(kind, name) kind,
    GCD_COLLECTION_LIST_OF_KINDS(GCD_COLLECTION_ENUM)
#undef GCD_COLLECTION_ENUM
        GCD_COLLECTION_KINDS
};
/* For programs ("concurrent_dictionary"); static. */
const char *gcd_collection_kind_name(enum gcd_collection_kind kind);

struct gcd_collections;

/*
 * Finds the types of collections in G, which must outlive the result.  CONTEXT may be NULL.  Takes
 * 10 bytes per type and, once collections are described, 1 bit per node and 12 bytes per internal
 * object of the largest.  GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_collections_new(const struct gcd_graph *g,
                                              const struct gcd_context *context,
                                              struct gcd_collections **ret, struct gcd_error *err);
void gcd_collections_free(struct gcd_collections *c);
/* As gcd_suspects_options.number, which tells counts from now on; NULL = no numbers are known. */
void gcd_collections_know(struct gcd_collections *c,
                          bool (*number)(void *numbers, uint64_t address, const char *field,
                                         int64_t *ret),
                          void *numbers);

/*
 * The kind of the objects of TYPE, by its name.  GCD_COLLECTION_NONE for all others and for
 * delegates: only their shape shows whether they have several handlers, so only
 * gcd_collection_describe finds these.
 */
enum gcd_collection_kind gcd_collections_kind(const struct gcd_collections *c, uint32_t type);

/* Is TYPE an array of references? */
bool gcd_collections_of_references(const struct gcd_collections *c, uint32_t type);

/* Are the objects of TYPE collections that consist of several objects? */
static inline bool gcd_collections_has_inside(const struct gcd_collections *c, uint32_t type)
{
    enum gcd_collection_kind kind = gcd_collections_kind(c, type);
    return kind != GCD_COLLECTION_NONE && kind != GCD_COLLECTION_ARRAY;
}

/*
 * Can an object of type INNER be an internal part of a collection of type OUTER: its array, nodes,
 * tables, segments?  PARENT is the type of the object that refers to it, another part or the
 * collection itself.  In a path, all objects that directly follow a collection belong to it as long
 * as the answer is yes.
 */
bool gcd_collections_is_inside(struct gcd_collections *c, uint32_t outer, uint32_t parent,
                               uint32_t inner);

/*
 * PATH[N] are objects from the root on, each referring to the next.  The number of objects directly
 * after PATH[I] that are its internals; 0 if it is no collection, or if an element or something
 * else follows.
 */
size_t gcd_collections_inside(struct gcd_collections *c, const uint32_t *path, size_t n, size_t i);

/*
 * The array of the handlers of NODE, a delegate with several, and their number; GCD_NODE_NONE if
 * NODE is none.  In CoreCLR such a delegate is its own target and holds an Object[] of delegates of
 * its own type; since .NET 11 it is a Wrapper[] (of System.Delegate).  Events do not contain base
 * types, so it is recognised by this shape.
 */
uint32_t gcd_collections_handlers(const struct gcd_collections *c, uint32_t node,
                                  size_t *ret_count);
/* Can an array with this name, as in struct gcd_summary, be one of handlers? */
bool gcd_collections_can_hold_handlers(const char *array_name);

/* Unknown length, or unknown bound of the number of elements. */
#define GCD_COUNT_UNKNOWN    UINT64_MAX
#define GCD_COLLECTION_PARTS 3

/* Elements of one type; only those that are objects. */
struct gcd_collection_part {
    uint32_t type;
    uint64_t objects;
};

struct gcd_collection {
    enum gcd_collection_kind kind;
    uint32_t node;
    /* best estimate: exact if AT_LEAST = AT_MOST; may equal one of them */
    uint64_t elements;
    uint64_t at_least; /* lower bound; 0 = unknown */
    uint64_t at_most;  /* upper bound, or GCD_COUNT_UNKNOWN */
    /* number of elements that fit into its arrays without growing; GCD_COUNT_UNKNOWN.  Collections
     * of nodes have none */
    uint64_t capacity;
    /* of these elements, which are references, so many are null as far as is known */
    uint64_t nulls;
    /* elements are values, which no event counts: ELEMENTS is the capacity */
    bool only_capacity;
    /* references to elements, keys and values; nulls and values that are not objects do not count
     */
    uint64_t references;
    /* the most frequent types of elements or values, and of keys where they can be distinguished */
    struct gcd_collection_part elements_of[GCD_COLLECTION_PARTS], keys_of[GCD_COLLECTION_PARTS];
    size_t elements_of_count, keys_of_count;
    /* the collection itself with all its internal objects, without elements */
    uint64_t structure_objects, structure_bytes;
};

static inline bool gcd_collection_is_exact(const struct gcd_collection *it)
{
    return it->at_least == it->at_most;
}

/*
 * Describes the collection NODE; time is linear in its internal objects and their references.  Do
 * not use one C from several threads at once. GCD_OK; GCD_END: not a collection, or its internals
 * do not look like one; GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_collection_describe(struct gcd_collections *c, uint32_t node,
                                                  struct gcd_collection *ret,
                                                  struct gcd_error *err);
/* Object number I < structure_objects of the collection described last. */
uint32_t gcd_collection_object(const struct gcd_collections *c, uint64_t i);

#endif
