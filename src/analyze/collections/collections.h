/*
 * Collections, between the files of this folder: the table of known types and the inside of each (collection_types.c), names taken apart
 * (collection_names.c), the walk through the inside of one (collection_walk.c) and what follows from it (collection_count.c).
 */
#ifndef GCD_ANALYZE_COLLECTIONS_H
#define GCD_ANALYZE_COLLECTIONS_H

#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/lengths.h>

#include "base/idmap.h"

/* What an object is inside of a collection. */
enum inner_role {
    INNER_NONE,                  /* an element, or nothing to do with elements */
    INNER_OTHER,                 /* structure that leads to no element */
    INNER_HOLDER,                /* leads to the objects below */
    INNER_BUCKETS,               /* Int32[] as long as the table's ENTRIES */
    INNER_ENTRIES,               /* array of structs */
    INNER_ITEMS,                 /* array of elements, or of values */
    INNER_KEYS,                  /* array of keys */
    INNER_NODE                   /* holds one element */
};

/* How many elements follow from the inside. */
enum inner_rule {
    COUNT_NOTHING,
    COUNT_ITEMS,                 /* references in the arrays are there, and null ones may be */
    COUNT_LENGTH,                /* all of the arrays is used */
    COUNT_TABLE,                 /* entries with keys and values */
    COUNT_SET,                   /* entries with one element, of which one may be null */
    COUNT_OBJECT_PAIRS,          /* Hashtable: entries with two objects */
    COUNT_TUPLES,                /* PriorityQueue: structs, in the beginning of the array */
    COUNT_KEYS,                  /* an array of keys, of which none is null */
    COUNT_NODES,                 /* one node an element */
    COUNT_BRANCHES,              /* the same, but the end of each branch is a node without element */
    COUNT_CHAINED,               /* the same, but the last one has no element */
    COUNT_SEGMENTS,              /* ConcurrentQueue: taken elements may remain */
    COUNT_CAPACITY,              /* only the capacity is known */
    COUNT_WRAPPED                /* the elements of another collection */
};

enum inner_args { ARGS_ANY, ARGS_SAME, ARGS_PAIR };

/* A type inside of a collection; NAME without namespace for a nested one, "" = the collection's first, second, ... argument. */
struct inner_type {
    const char *name;
    uint8_t dims;                /* of so many "[]" */
    uint8_t arg;                 /* number, when NAME is "" */
    uint8_t args;                /* enum inner_args: those that it must have, compared with the collection's */
    uint8_t role;
};

#define INNER_TYPES 6
#define LAST_ARG 255
struct collection_type {
    const char *name;            /* up to its arguments; ends with "*": all frozen ones that begin so */
    uint8_t kind, rule;
    bool nodes_know_owner;       /* each node refers to the collection */
    struct inner_type inner[INNER_TYPES];
};

extern const struct collection_type gcd_collection_types[];
extern const size_t gcd_collection_type_count;

struct text {
    const char *s;
    size_t n;
};

/*
 * A type's name taken apart, in the runtime's spelling or that of C#: "A.B`1+C`1[X,Y][][]" is base A.B`1+C, simple C, args "X,Y", dims 2; so is
 * "A.B<X, Y>.C[][]", but its base is A.B<X, Y>.C.
 */
struct type_parts {
    struct text base, simple, args;      /* without the number of arguments; SIMPLE: without the outer types */
    unsigned dims;
    bool plain_dims;             /* all of them "[]" */
};
struct type_parts collection_name_parts(const char *name);
/* Argument number I of ARGS; false = there are not so many. */
bool collection_name_arg(struct text args, unsigned i, struct text *ret);
bool collection_text_is(struct text t, const char *s);
/* Is NAME, of an array's element, ARG, which has the outer types of a nested type where NAME may lack them? */
bool collection_same_type(struct text name, struct text arg);

/* What is known of a type argument. */
enum arg_nature { ARG_UNKNOWN, ARG_REFERENCE, ARG_VALUE, ARG_PLAIN /* a value without references, of known size */ };
struct arg {
    struct text name;
    enum arg_nature nature;
    unsigned bytes;              /* ARG_REFERENCE and ARG_PLAIN: in an array */
};

struct gcd_collections {
    struct gcd_alloc alloc;
    struct gcd_context context;
    const struct gcd_graph *g;
    const struct gcd_summary *summary;
    unsigned ptr_bytes;
    uint8_t *known;              /* [types] 1 + number in gcd_collection_types, 0 = none */
    uint8_t *is_array;           /* [types] */
    struct gcd_length_rule *lengths;     /* [types] */
    struct gcd_idmap element_types;      /* hash of a type's name -> element type */
    struct gcd_idmap roles;      /* type of a collection << 32 | type -> role */
    /* for one walk */
    uint64_t *seen;              /* [words] one bit per node */
    size_t words;
    struct inner_object *inside;
    size_t inside_room, inside_count;    /* the latter: of the collection described last */
    uint64_t *counts[2];         /* [types] of elements and keys */
    uint32_t *counted[2];        /* types whose counts are not 0 */
    size_t counted_room[2], counted_count[2];
};

enum inner_role collections_role(struct gcd_collections *c, uint32_t outer, uint32_t type);
/* The role of an object of TYPE that an object of type PARENT, in PARENT_ROLE, refers to; of the collection itself. */
enum inner_role collections_role_below(struct gcd_collections *c, uint32_t outer, uint32_t parent, enum inner_role parent_role, uint32_t type);
enum inner_role collections_own_role(struct gcd_collections *c, uint32_t type);
struct arg collections_arg(const struct gcd_collections *c, uint32_t type, unsigned i);

struct inner_object {
    uint32_t node;
    uint8_t role;
};

/* The inside of one collection. */
struct inside {
    const struct collection_type *known;
    uint32_t node, type;
    bool keyed;                  /* it has keys, which are objects */
    size_t objects;              /* in c->inside: [0] is the collection */
    uint64_t bytes;
    uint64_t nodes, branches, chained;   /* nodes; with two of their kind below; with one */
    uint64_t arrays, references, places; /* of INNER_ITEMS, INNER_ENTRIES; places GCD_COUNT_UNKNOWN */
    uint64_t key_arrays, keys, key_places;
    uint64_t buckets;
    uint32_t entries;            /* the largest array of entries */
};
/* Adds NODE, a wrapper, to the objects of IN. */
gcd_status collections_add_object(struct gcd_collections *c, struct inside *in, uint32_t node, struct gcd_error *err);
gcd_status collections_walk(struct gcd_collections *c, uint32_t node, struct inside *ret, struct gcd_error *err);
/* Counts one more element (0) or key (1) of NODE's type. */
gcd_status collections_tally(struct gcd_collections *c, unsigned which, uint32_t node, struct gcd_error *err);
gcd_status collections_nomem(struct gcd_error *err);

#endif
