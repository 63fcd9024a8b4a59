/*
 * Collections, private to this folder: the table of known types and their internals
 * (collection_types.c), parsing of names (collection_names.c), the walk through the internals of
 * one collection (collection_walk.c) and what follows from it (collection_count.c).
 */
#ifndef GCD_ANALYZE_COLLECTIONS_H
#define GCD_ANALYZE_COLLECTIONS_H

#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/lengths.h>

#include "base/idmap.h"

/* The role of an object inside a collection. */
enum inner_role {
    INNER_NONE,    /* an element, or nothing to do with elements */
    INNER_OTHER,   /* internal, without elements below */
    INNER_HOLDER,  /* internal, refers to objects with the roles below */
    INNER_BUCKETS, /* Int32[] as long as the table's ENTRIES */
    INNER_ENTRIES, /* array of structs */
    INNER_ITEMS,   /* array of elements, or of values */
    INNER_KEYS,    /* array of keys */
    INNER_NODE     /* holds one element */
};

/* How to find the number of elements from the internals. */
enum inner_rule {
    COUNT_NOTHING,
    COUNT_ITEMS,        /* at least the references in the arrays; elements can be null */
    COUNT_LENGTH,       /* the length of the arrays: all of it is used */
    COUNT_TABLE,        /* entries with keys and values */
    COUNT_SET,          /* entries with one element; one element can be null */
    COUNT_OBJECT_PAIRS, /* Hashtable: entries with two objects */
    COUNT_TUPLES,       /* PriorityQueue: structs at the beginning of the array */
    COUNT_KEYS,         /* an array of keys, none of them null */
    COUNT_NODES,        /* one node per element */
    COUNT_BRANCHES,     /* the same, but each branch ends with a node without element */
    COUNT_CHAINED,      /* the same, but the last node has no element */
    COUNT_SEGMENTS,     /* ConcurrentQueue: dequeued elements may remain */
    COUNT_CAPACITY,     /* only the capacity is known */
    COUNT_WRAPPED       /* the elements of another collection */
};

enum inner_args { ARGS_ANY, ARGS_SAME, ARGS_PAIR };

/* The type of an internal object; NAME has no namespace if it is nested; "" = the collection's
 * first, second, ... argument. */
struct inner_type {
    const char *name;
    uint8_t dims; /* number of "[]" */
    uint8_t arg;  /* number of the argument, if NAME is "" */
    uint8_t args; /* enum inner_args: its arguments compared with the collection's */
    uint8_t role;
};

#define INNER_TYPES 6
#define LAST_ARG    255
struct collection_type {
    const char
        *name; /* up to its arguments; "*" at the end: all frozen collections with this prefix */
    uint8_t kind, rule;
    bool nodes_know_owner; /* each node refers to the collection */
    struct inner_type inner[INNER_TYPES];
};

extern const struct collection_type gcd_collection_types[];
extern const size_t gcd_collection_type_count;

struct text {
    const char *s;
    size_t n;
};

/*
 * The parts of a type name in the runtime's spelling or C#'s: "A.B`1+C`1[X,Y][][]" has base
 * A.B`1+C, simple C, args "X,Y", dims 2; so does "A.B<X, Y>.C[][]", but its base is A.B<X, Y>.C.
 */
struct type_parts {
    /* without the number of arguments; SIMPLE: without the outer types */
    struct text base, simple, args;
    unsigned dims;
    bool plain_dims; /* all of them "[]" */
};
struct type_parts collection_name_parts(const char *name);
/* Argument number I of ARGS; false = there are fewer. */
bool collection_name_arg(struct text args, unsigned i, struct text *ret);
bool collection_text_is(struct text t, const char *s);
/* Is NAME, the type of an array's elements, the same type as ARG?  NAME may lack the outer types of
 * a nested type. */
bool collection_same_type(struct text name, struct text arg);

/* What is known about a type argument. */
enum arg_nature {
    ARG_UNKNOWN,
    ARG_REFERENCE,
    ARG_VALUE,
    ARG_PLAIN /* a value without references, of known size */
};
struct arg {
    struct text name;
    enum arg_nature nature;
    unsigned bytes; /* ARG_REFERENCE and ARG_PLAIN: size in an array */
};

struct gcd_collections {
    struct gcd_alloc alloc;
    struct gcd_context context;
    const struct gcd_graph *g;
    const struct gcd_summary *summary;
    unsigned ptr_bytes;
    bool (*number)(void *numbers, uint64_t address, const char *field, int64_t *ret);
    void *numbers;
    uint8_t *known;                  /* [types] 1 + number in gcd_collection_types, 0 = none */
    uint8_t *is_array;               /* [types] */
    struct gcd_length_rule *lengths; /* [types] */
    struct gcd_idmap element_types;  /* hash of a type's name -> element type */
    struct gcd_idmap roles;          /* type of a collection << 32 | type -> role */
    /* for one walk */
    uint64_t *seen; /* [words] one bit per node */
    size_t words;
    struct inner_object *inside;
    size_t inside_room, inside_count; /* INSIDE_COUNT: of the collection described last */
    uint64_t *counts[2];              /* [types] numbers of elements and keys */
    uint32_t *counted[2];             /* types with non-zero counts */
    size_t counted_room[2], counted_count[2];
};

/* Waiting for the types of elements, which lie everywhere, took a fifth of all suspects' time at 10
 * million of them: fetches that of one that comes after EDGES[I]. */
static inline void collections_fetch_type(const struct gcd_graph_types *types,
                                          const uint32_t *edges, size_t n, size_t i)
{
    if (n - i > 16)
        __builtin_prefetch(&types->low[edges[i + 16]]);
}

enum inner_role collections_role(struct gcd_collections *c, uint32_t outer, uint32_t type);
/* The role of an object of TYPE that an object of type PARENT with PARENT_ROLE refers to.  The next
 * one: the role of the collection itself. */
enum inner_role collections_role_below(struct gcd_collections *c, uint32_t outer, uint32_t parent,
                                       enum inner_role parent_role, uint32_t type);
enum inner_role collections_own_role(struct gcd_collections *c, uint32_t type);
struct arg collections_arg(const struct gcd_collections *c, uint32_t type, unsigned i);

struct inner_object {
    uint32_t node;
    uint8_t role;
};

/* The internals of one collection. */
struct inside {
    const struct collection_type *known;
    uint32_t node, type;
    bool keyed;     /* it has keys, which are objects */
    size_t objects; /* number in c->inside; [0] is the collection */
    uint64_t bytes;
    uint64_t nodes, branches, chained; /* nodes; those with two nodes below; those with one */
    /* of INNER_ITEMS, INNER_ENTRIES; places can be GCD_COUNT_UNKNOWN */
    uint64_t arrays, references, places;
    uint64_t key_arrays, keys, key_places;
    uint64_t buckets;
    uint32_t entries; /* the largest array of entries */
};
/* Adds NODE, a wrapper, to the objects of IN. */
gcd_status collections_add_object(struct gcd_collections *c, struct inside *in, uint32_t node,
                                  struct gcd_error *err);
gcd_status collections_walk(struct gcd_collections *c, uint32_t node, struct inside *ret,
                            struct gcd_error *err);
/* Counts one more element (0) or key (1) of NODE's type. */
gcd_status collections_tally(struct gcd_collections *c, unsigned which, uint32_t node,
                             struct gcd_error *err);
gcd_status collections_nomem(struct gcd_error *err);

#endif
