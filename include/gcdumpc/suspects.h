/*
 * Leak suspects: what holds a large part of the heap, with the reason in plain English and the path
 * to its root.
 *
 *     struct gcd_suspects *s;
 *     if (gcd_suspects_new(graph, dominators, &(struct gcd_suspects_options){ .names = names }, &s,
 *         &err) == GCD_OK)
 *         for (size_t i = 0; i < gcd_suspects_count(s); i++)
 *             puts(gcd_suspects_get(s, i)->sentence);
 *
 * A suspect keeps at least a share of the heap alive, and at least a number of bytes, so a small
 * healthy program has no suspects.  Exceptions, unless ONLY_LARGE is set: an assembly that is
 * loaded many times takes memory outside of the heap; and for an object that retains the threshold,
 * the suspect may be the container below it that retains four fifths of that.  Growth is not
 * covered here; it needs two dumps.
 */
#ifndef GCDUMPC_SUSPECTS_H
#define GCDUMPC_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/names.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The kinds.
 *
 * OBJECT      one object, the container below which the memory spreads out; a long list or tree of
 * objects of one type is one container HANDLERS    the list of handlers of an event, large or just
 * very long TYPE        objects of one type that are large only together and not held by a single
 * object FINALIZERS  objects that wait for their finalizers PINNED      free memory between pinned
 * objects, which the collector could not return (needs ranges and addresses) COLLECTIONS very many
 * collections of one type and size, mostly small or empty SPARSE      arrays and collections of 64
 * KiB and more, of one type, that are three quarters empty: BYTES counts the empty slots
 *
 * Findings: many objects of a type that has a meaning in the framework.  HELD then lists who is
 * behind them, with the number of these objects and the bytes they retain: the nearest type of the
 * program below each object, or above it.
 *
 * TIMERS        active timers
 * CANCELLATION  callbacks registered with one CancellationTokenSource
 * CONTINUATIONS what waits for one task
 * TASKS         tasks of one type that have not completed, with something that waits for them
 * ASYNC         calls of one asynchronous method that have not ended
 * BOXED         boxed values of one type
 * TRACKER       entities that one DbContext of Entity Framework tracks
 * HTTP          handlers of HTTP requests, each with its own connections
 * CODE          methods compiled at run time
 * WAITS         callbacks that the thread pool runs when a handle is signalled
 * INTERNED      the runtime's table of interned strings and literals
 * THREAD_STATICS  what thread-static variables keep alive
 * ASSEMBLIES    one assembly that is loaded many times; OBJECTS are those of its types
 * FRAGMENTATION free memory between large objects (needs ranges and addresses)
 * PINS          objects that handles pin
 * WEAK_TABLE    dependent handles (ConditionalWeakTable, DependentHandle) with the same types of
 * key and value; OBJECTS are the values
 * FLOWS         execution contexts that keep values of AsyncLocal alive
 * DUPLICATES    strings whose text another one has already, all together (needs values)
 * DESIGN        an OBJECT that is large by design: it cannot grow, or is a pool of the program
 */
enum gcd_suspect_kind {
    GCD_SUSPECT_OBJECT,
    GCD_SUSPECT_HANDLERS,
    GCD_SUSPECT_TYPE,
    GCD_SUSPECT_FINALIZERS,
    GCD_SUSPECT_PINNED,
    GCD_SUSPECT_COLLECTIONS,
    GCD_SUSPECT_SPARSE,
    GCD_SUSPECT_TIMERS,
    GCD_SUSPECT_CANCELLATION,
    GCD_SUSPECT_CONTINUATIONS,
    GCD_SUSPECT_TASKS,
    GCD_SUSPECT_ASYNC,
    GCD_SUSPECT_BOXED,
    GCD_SUSPECT_TRACKER,
    GCD_SUSPECT_HTTP,
    GCD_SUSPECT_CODE,
    GCD_SUSPECT_WAITS,
    GCD_SUSPECT_INTERNED,
    GCD_SUSPECT_THREAD_STATICS,
    GCD_SUSPECT_ASSEMBLIES,
    GCD_SUSPECT_FRAGMENTATION,
    GCD_SUSPECT_PINS,
    GCD_SUSPECT_WEAK_TABLE,
    GCD_SUSPECT_FLOWS,
    GCD_SUSPECT_POOLS, /* a note */
    GCD_SUSPECT_DUPLICATES,
    GCD_SUSPECT_DESIGN, /* a note */
    GCD_SUSPECT_KINDS
};
/* For programs ("object") and for people ("One object"); static. */
GCD_API const char *gcd_suspect_kind_name(enum gcd_suspect_kind kind);
GCD_API const char *gcd_suspect_kind_title(enum gcd_suspect_kind kind);

/* Objects of one type, with their shallow or retained bytes, depending on the list. */
struct gcd_suspect_part {
    uint32_t type;
    uint64_t objects;
    uint64_t bytes;
};

/* A step of a path: one object, or REPEATS consecutive objects of one type, NODE being the first,
 * LAST the one that refers to the next step. */
struct gcd_suspect_step {
    uint32_t node;
    uint32_t type;
    uint64_t repeats; /* 1 = one object */
    bool dependent;   /* held by the step before through a dependent handle */
    /* REPEATS omitted objects of any types; NODE is the first of them */
    bool skipped;
    unsigned origin; /* of TYPE: enum gcd_origin (unstable/origins.h) */
    unsigned fold;   /* enum gcd_fold (unstable/origins.h): must people see it? */
    uint32_t last;   /* where nothing is SKIPPED */
};

#define GCD_SUSPECT_PARTS   5
#define GCD_SUSPECT_HOLDERS 10

/* Another way to the objects of a TYPE, besides its path: through an object of the program's own
 * types, or a static variable of its own classes. */
struct gcd_suspect_way {
    /* the program's own type nearest to the objects; GCD_TYPE_NONE = only the root */
    uint32_t owner;
    uint32_t owner_node; /* GCD_NODE_NONE = several objects of that type */
    uint32_t next;       /* what that object refers to on this way; GCD_NODE_NONE = several */
    /* of a shortest path to the owner, or the static variable; SIZE_MAX = unknown */
    size_t root;
    /* of the objects, from 0 to 1; estimated for more than GCD_SUSPECT_DRAWN objects */
    double share;
};
#define GCD_SUSPECT_WAYS  2
#define GCD_SUSPECT_DRAWN 256

struct gcd_suspect {
    enum gcd_suspect_kind kind;
    /* what, how much, where: one or two sentences in UTF-8, with the names of the options */
    const char *sentence;
    const char *advice; /* what to look at next: one sentence */
    /* it begins with this many bytes of a condition, "If it grows, "; 0 = none */
    size_t advice_condition;
    /* what one dump shows and cannot show about it: one sentence, "" = nothing; static */
    const char *evidence;
    /* DESIGN: it keeps no more than a number that it, or its owner, has; the advice says which */
    bool limited;
    /* a cache that could have a limit, and has none */
    bool unlimited;
    /* a collection that can have a limit, of which nothing is known */
    bool may_be_limited;
    /* nothing but its size speaks against it: an index, a cache or a leak */
    bool size_only;
    const char *place; /* where it is: "SessionStore._byUser" */
    const char *what;  /* what there is of it: "5,041 Session, 2.1 KiB each" */
    /* suspects of the same objects that are not in the list; the sentence has a clause for each */
    size_t also_count;

    /*
     * BYTES of OBJECT, HANDLERS, TYPE and FINALIZERS do not overlap unless OVERLAPS is set: what a
     * suspect keeps alive does not count again for a suspect around it.  Bytes saturate.
     */
    /* kept alive, without other suspects inside; PINNED, FRAGMENTATION: free bytes */
    uint64_t bytes;
    uint64_t retained_bytes; /* kept alive, with other suspects inside */
    uint64_t shallow_bytes;  /* of the suspected objects themselves */
    /* suspected objects: 1, or the number in a list, of a type, of handlers, waiting, pinned,
     * collections */
    uint64_t objects;
    /* BYTES as a share of the heap, 0 ... 1; 0 for PINNED and FRAGMENTATION: free bytes are not
     * objects */
    double share;
    bool overlaps;

    /* The object (OBJECT, HANDLERS) or a typical one (TYPE, FINALIZERS, COLLECTIONS; GCD_NODE_NONE
     * = none). */
    uint32_t node;
    uint32_t type;

    /* OBJECT that is a collection (unstable/collections.h): its kind, and the number of its
     * elements; exact when both bounds are equal */
    const char *collection; /* NULL = none, "list", "channel" ... */
    /* best estimate; UINT64_MAX = no upper bound */
    uint64_t elements, elements_at_least, elements_at_most;
    /* the most frequent type of its elements, without bytes; type GCD_TYPE_NONE = none are objects
     */
    struct gcd_suspect_part element;

    /* A shortest path from the root to that object, including it; others may exist. */
    size_t root; /* number of the root (gcd_summary.roots), SIZE_MAX = unknown */
    const struct gcd_suspect_step *path; /* the suspects' */
    size_t path_count;                   /* 0 = unknown */
    uint64_t alike; /* TYPE: number of objects held by the same object, by objects of the same type,
                       or by roots of the same group */

    /* TYPE: other ways to at least a tenth of the objects, the most frequent first.  Path and ways
     * must all let go. */
    struct gcd_suspect_way ways[GCD_SUSPECT_WAYS];
    size_t way_count;

    /* What it holds directly: types of its children in the dominator tree, with their retained
     * bytes, the largest first; at most GCD_SUSPECT_PARTS, but of HANDLERS and findings all with a
     * tenth of the bytes. */
    struct gcd_suspect_part held[GCD_SUSPECT_HOLDERS];
    size_t held_count;
    uint64_t held_objects; /* of all types */
    /* Everything it keeps alive by type, with shallow bytes, the largest first; not for PINNED and
     * COLLECTIONS. */
    struct gcd_suspect_part content[GCD_SUSPECT_PARTS];
    size_t content_count;
    uint64_t content_objects; /* of all types; their bytes are BYTES */

    /*
     * In terms of the program: OWNER is the nearest object on its path, itself included, whose type
     * is the program's own (unstable/origins.h) and neither an array nor a delegate.
     */
    uint32_t owner_node;      /* GCD_NODE_NONE = none */
    uint32_t owner;           /* its type; GCD_TYPE_NONE */
    const char *owner_module; /* file of the module of that type; "" = unknown */
    bool owner_alone;         /* nothing but OWNER_NODE leads to it */
    /* The program's own types in it, with their objects and bytes; bytes include what is directly
     * below each object, up to other own objects. */
    struct gcd_suspect_part own[GCD_SUSPECT_PARTS];
    size_t own_count;
};

struct gcd_suspects;
struct gcd_origins;

struct gcd_fields;
struct gcd_values;
struct gcd_suspects_options {
    struct gcd_context context;
    /* share of the heap's bytes that makes a suspect, 0.001 ... 1; 0 = 0.1 */
    double share;
    uint64_t min_bytes; /* and at least this many bytes; 0 = 4 MiB */
    /* for the sentences; NULL = the types' own.  Only used during the call */
    const struct gcd_names *names;
    const struct gcd_paths *paths; /* NULL = computed when there is a suspect */
    bool only_large;               /* no suspect has fewer BYTES than the threshold */
    bool by_number;                /* also findings with fewer, by the number of their objects */
    const struct gcd_origins
        *origins; /* which types are the program's own (unstable/origins.h); NULL = by modules and
                     namespaces.  Only used during the call */
    const struct gcd_fields *fields; /* to name fields (unstable/fields.h); NULL = none are named.
                                        Only used during the call */
    const struct gcd_values *values; /* which strings are equal (unstable/values.h); NULL = not
                                        known.  Only used during the call */
    /* The number in the field FIELD of the object at ADDRESS; false: it has none, or it is not
     * known.  NULL: no numbers are known.  Only used during the call */
    bool (*number)(void *numbers, uint64_t address, const char *field, int64_t *ret);
    /* The field of the object at ADDRESS whose name says that it limits a number of things or, if
     * OF is not "", what is in its field OF, the smallest in *RET that is at least LEAST; NULL:
     * there is none, or it is not known.  NULL: as NUMBER.  Only used during the call */
    const char *(*limit)(void *numbers, uint64_t address, const char *of, uint64_t least,
                         uint64_t *ret);
    void *numbers;
};
#define GCD_SUSPECTS_SHARE     0.1
#define GCD_SUSPECTS_SHARE_MIN 0.001
#define GCD_SUSPECTS_MIN_BYTES (UINT64_C(4) << 20)

/*
 * The suspects of G with its dominators D; both must outlive the result.  OPTIONS may be NULL.
 * GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_ARG; GCD_E_LIMIT for more suspects than shares fit into the
 * heap, which means that object sizes are wrong. Memory during the call: 8 bytes per node, 40 for
 * each object that retains more than half of a suspect's share, and 8 bytes per node for paths.  No
 * recursion.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_suspects_new(const struct gcd_graph *g,
                                                   const struct gcd_dominators *d,
                                                   const struct gcd_suspects_options *options,
                                                   struct gcd_suspects **ret,
                                                   struct gcd_error *err);
GCD_API void gcd_suspects_free(struct gcd_suspects *s);

/* In descending order of bytes, overlapping ones last. */
GCD_API size_t gcd_suspects_count(const struct gcd_suspects *s);
GCD_API const struct gcd_suspect *gcd_suspects_get(const struct gcd_suspects *s, size_t i);
/* What is large and not a fault, such as ArrayPool.Shared: not among the suspects, the largest
 * first. */
GCD_API size_t gcd_suspects_note_count(const struct gcd_suspects *s);
GCD_API const struct gcd_suspect *gcd_suspects_note(const struct gcd_suspects *s, size_t i);

/* The bytes of the heap that shares refer to, and the bytes that make a suspect. */
GCD_API uint64_t gcd_suspects_heap_bytes(const struct gcd_suspects *s);
GCD_API uint64_t gcd_suspects_threshold(const struct gcd_suspects *s);
/* At least so many bytes of them exist only because tools observe the process: the runtime's
 * descriptions of its own events.  They are no suspects. */
GCD_API uint64_t gcd_suspects_observed_bytes(const struct gcd_suspects *s);

/*
 * The largest consumers, even if there is no suspect: objects that no single object dominates, by
 * type, with the bytes they retain, the largest first.  They do not overlap, and together retain
 * the whole live heap but what exists for tools that observe the process.  What a service provider
 * or the like dominates counts as if nothing did.
 */
GCD_API size_t gcd_suspects_consumer_count(const struct gcd_suspects *s);
GCD_API const struct gcd_suspect_part *gcd_suspects_consumer(const struct gcd_suspects *s,
                                                             size_t i);

#ifdef __cplusplus
}
#endif
#endif
