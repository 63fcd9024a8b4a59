/*
 * The summary of a heap dump: where it comes from, whether it is complete, its types, roots and
 * memory ranges.
 *
 * A dump (gcd_dump_summary) and a graph (gcd_graph_summary) hand out the same structure, so code
 * that does not look at single objects works for both. The summary and its lists belong to the dump
 * or graph and live as long as it does; nothing in it changes.
 */
#ifndef GCDUMPC_SUMMARY_H
#define GCDUMPC_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>
#include <gcdumpc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the verdict ---- */

/* code, name in JSON.  The text of a reason says what its amount counts. */
#define GCD_REASON_LIST(X)                                                                        \
    X(GCD_REASON_TRACE_TRUNCATED, "trace_truncated") /* amount: offset of the cut */              \
    X(GCD_REASON_TRACE_DAMAGED, "trace_damaged")     /* amount: offset of the damage */           \
    X(GCD_REASON_INPUT_DAMAGED,                                                                   \
      "input_damaged") /* the gzip data around the trace, or a file of a graph, are damaged */    \
    X(GCD_REASON_MEMORY_MISSING,                                                                  \
      "memory_missing") /* a memory image lacks a part of the heap, or it is inconsistent */      \
    X(GCD_REASON_EVENTS_LOST, "events_lost")         /* amount: events dropped by the runtime */  \
    X(GCD_REASON_LOSS_UNVERIFIED, "loss_unverified") /* unknown whether events were dropped */    \
    X(GCD_REASON_BUFFERS_LOST, "buffers_lost") /* amount: missing buffers, each full of events */ \
    X(GCD_REASON_BUFFERS_DAMAGED,                                                                 \
      "buffers_damaged") /* amount: buffers whose events could not all be read */                 \
    X(GCD_REASON_BUFFERS_REPEATED,                                                                \
      "buffers_repeated") /* amount: buffers skipped because another one has their number */      \
    X(GCD_REASON_NODE_EVENTS_MISSING,                                                             \
      "node_events_missing") /* amount: holes in the index numbers */                             \
    X(GCD_REASON_EDGE_EVENTS_MISSING, "edge_events_missing")                                      \
    X(GCD_REASON_ROOT_EVENTS_MISSING, "root_events_missing")                                      \
    X(GCD_REASON_STATIC_EVENTS_MISSING,                                                           \
      "static_events_missing") /* the walk has no static variables, as no runtime since 3.1 */    \
    X(GCD_REASON_DEPENDENT_EVENTS_MISSING, "dependent_handle_events_missing")                     \
    X(GCD_REASON_EDGES_UNBALANCED, "edges_unbalanced") /* amount: |declared - received| */        \
    X(GCD_REASON_OBJECTS_LOST,                                                                    \
      "objects_lost") /* amount: objects that did not arrive; 0 = unknown */                      \
    X(GCD_REASON_EDGES_LOST,                                                                      \
      "edges_lost") /* amount: references that did not arrive; 0 = unknown */                     \
    X(GCD_REASON_EDGES_DROPPED,                                                                   \
      "edges_dropped") /* amount: references whose owner is lost or not certain */                \
    X(GCD_REASON_EVENTS_DAMAGED,                                                                  \
      "events_damaged") /* amount: heap events that could not be decoded */                       \
    X(GCD_REASON_EVENTS_UNKNOWN,                                                                  \
      "events_unknown") /* amount: events whose description is missing */                         \
    X(GCD_REASON_EVENTS_MISPLACED, "events_misplaced") /* amount: bulk events outside a complete  \
                                                          walk; 0 = the walk is out of order */   \
    X(GCD_REASON_NO_GC_START, "no_gc_start") /* the walk is not inside a blocking full GC */      \
    X(GCD_REASON_NO_GC_END, "no_gc_end")     /* the end of the walk is missing */                 \
    X(GCD_REASON_TYPES_UNDESCRIBED,                                                               \
      "types_undescribed") /* amount: types without a record; all types if none has a name */     \
    X(GCD_REASON_TYPES_AMBIGUOUS,                                                                 \
      "types_ambiguous") /* amount: types that may have the name or module of another one */

enum gcd_reason_code {
#define GCD_REASON_ENUM(code, name) code,
    GCD_REASON_LIST(GCD_REASON_ENUM)
#undef GCD_REASON_ENUM
        GCD_REASON_COUNT
};

struct gcd_reason {
    enum gcd_reason_code code;
    const char *name; /* static */
    uint64_t amount;
    char text[200]; /* one clause for people, UTF-8 */
};

/* Complete, or incomplete with its reasons in the order of the list above. */
struct gcd_verdict {
    bool complete;
    /* the format cannot store a verdict: complete only means that nothing is known to be missing */
    bool unverified;
    size_t reason_count;
    struct gcd_reason reasons[GCD_REASON_COUNT];
};

/* ---- types, roots, ranges ---- */

/* No type, node or module.  A graph has at most 2^32 - 2 nodes. */
#define GCD_TYPE_NONE   UINT32_MAX
#define GCD_NODE_NONE   UINT32_MAX
#define GCD_MODULE_NONE UINT32_MAX

/* Number of type arguments whose element type is kept. */
#define GCD_TYPE_PARAMETERS 4

/* Flags of a type, as the runtime's record has them (BulkType, TypeFlags). */
#define GCD_TYPE_DELEGATE    UINT32_C(1)
#define GCD_TYPE_FINALIZABLE UINT32_C(2)
#define GCD_TYPE_COM         UINT32_C(4)
#define GCD_TYPE_ARRAY       UINT32_C(8)
/* Another one: it has no name, and name_token is its place in a program that was compiled
 * ahead of time (Native AOT). */
#define GCD_TYPE_NATIVE UINT32_C(16)

struct gcd_type {
    uint64_t id;      /* method table address */
    uint64_t module;  /* module id, 0 = unknown */
    const char *name; /* in the runtime's spelling, with the outer types of a nested type where they
                         are known (unstable/full_names.h); never empty: "Type(0x…)" replaces a
                         missing one */
    /* as the runtime sent it: a nested type has no outer types.  The same pointer when nothing was
     * added */
    const char *raw_name;
    const char
        *module_path; /* for a module made in memory, the name of its assembly; "" = unknown */
    uint64_t objects, bytes;
    uint64_t edges; /* references that its objects declare */
    uint32_t name_token, flags;
    uint32_t module_number; /* index in gcd_summary.modules; GCD_MODULE_NONE without a list */
    uint8_t element_type;   /* ECMA-335 element type */
    uint8_t
        parameters[GCD_TYPE_PARAMETERS]; /* element types of its first type arguments; of an array,
                                            the one of its elements; 0 = none or unknown */
    bool described;                      /* a type record was received */
    bool named;                          /* ... and had a name, or symbols had it */
    bool uneven_sizes;                   /* an object has a size that is not a multiple of 8 */
    /* events of its objects, in the formats of gcd_metadata_delegates and gcd_metadata_events
     * (unstable/metadata.h); of a class for lambdas of one method "Add <>;"; its constants that may
     * limit a number, "MaxItems #4000;"; NULL = unknown or none */
    const char *events;
    /* the references of its objects, in the format of unstable/fields.h; NULL = unknown */
    const char *layout;
};

enum gcd_root_kind {
    GCD_ROOT_STACK,     /* local variable, argument or register */
    GCD_ROOT_FINALIZER, /* finalizer queue */
    GCD_ROOT_HANDLE,    /* GC handle */
    GCD_ROOT_OTHER,     /* roots of the runtime itself, and unknown kinds */
    /* number of kinds that the GC reports; the next two come from the runtime */
    GCD_ROOT_KINDS,
    GCD_ROOT_STATIC = GCD_ROOT_KINDS, /* static variable */
    GCD_ROOT_COM,                     /* COM callable wrapper: a native reference */
    GCD_ROOT_ALL_KINDS
};

/* Flags of a root, as the runtime sends them; unknown bits are kept. */
#define GCD_ROOT_PINNED     UINT32_C(1)
#define GCD_ROOT_WEAK       UINT32_C(2) /* does not keep its object alive */
#define GCD_ROOT_INTERIOR   UINT32_C(4)
#define GCD_ROOT_REFCOUNTED UINT32_C(8)

struct gcd_root {
    uint64_t object; /* address; 0 only for the unknown node of a graph */
    /* address of the handle or the static variable; of a stack the method, in a memory image the
     * thread or the frame; 0 = unknown */
    uint64_t id;
    const char *name;       /* static variable: the field; stack: the name that the program gave the
                               thread; "" = none */
    const char *class_name; /* static variable: the type that declares it, in the runtime's
                               spelling; "" = unknown, or several are possible */
    const char *label; /* static variable, for people: "Shop.OrderCache.s_items", "Shop.A.s_items or
                          Shop.B.s_items", or the field alone; stack: the thread's number, its
                          name, what the kernel calls it if that differs, and the method of the
                          frame: "4711 \"Pump\" in Shop.Pump.Run"; "" = unknown */
    uint32_t node;     /* the object in a graph; GCD_NODE_NONE in a dump */
    uint32_t type;     /* static variable: type number of the stored object (CoreCLR) or of the
                          declaring class (Mono);     other roots: that of the object in a graph,
                          GCD_TYPE_NONE in a dump */
    uint32_t flags;    /* GCD_ROOT_PINNED ... */
    enum gcd_root_kind kind;
};

/*
 * Groups of roots for people; a viewer shows them as the children of the root.  Each root belongs
 * to exactly one group.
 *
 * Their order is the order of roots.  In all analyses and outputs it decides which root holds an
 * object that several roots reach.  Among the groups before GCD_GROUP_LOCALS the shortest path
 * wins; among equally short ones, the first group.  The groups from GCD_GROUP_LOCALS on are late:
 * each counts only for objects that no earlier group reaches.  A method that runs while the dump is
 * taken may refer to the middle of a collection, but it ends; and an object that waits for its
 * finalizer can still be in use: then whoever uses it leaks it.
 */
enum gcd_root_group {
    GCD_GROUP_STATICS, /* static variables */
    GCD_GROUP_STRONG_HANDLES,
    GCD_GROUP_PINNED_HANDLES,
    GCD_GROUP_OTHER,
    GCD_GROUP_LOCALS,     /* local variables, arguments, registers: the first late group */
    GCD_GROUP_REFCOUNTED, /* ref-counted handles and COM wrappers */
    GCD_GROUP_FINALIZER,  /* finalizer queue */
    GCD_GROUP_WEAK,       /* keeps nothing alive: no analysis of live objects follows it */
    GCD_GROUPS
};
GCD_API enum gcd_root_group gcd_root_group(const struct gcd_root *r);

/* Whether the names in a module's file are known, and if not, why. */
enum gcd_module_state {
    GCD_MODULE_NOT_READ, /* nobody looked */
    GCD_MODULE_READ,     /* its file was found, is the one that was loaded, and was read */
    GCD_MODULE_RECORDED, /* the recording holds its names */
    /* the recording does not say which file it is, or it was made in memory */
    GCD_MODULE_NO_PATH,
    GCD_MODULE_NOT_FOUND, /* no file */
    /* there is a file, but not the one that was loaded, or nothing says that it is */
    GCD_MODULE_REPLACED,
    GCD_MODULE_UNREADABLE, /* damaged, no regular file, no permission ...: see problem */
    GCD_MODULE_STATES
};

/* A loaded module, nearly always an assembly.  If it was loaded several times, in different
 * contexts, the list has an entry for each load. */
struct gcd_module {
    uint64_t id;
    const char *path;     /* as the runtime sent it, "" = made in memory or unknown */
    const char *assembly; /* simple name, "" = unknown */
    /* of the CodeView record that the runtime reported; zeros = unknown */
    uint8_t pdb_guid[16];
    uint32_t pdb_age;
    /* where the compiler wrote its symbol file, as the runtime sent it; NULL = unknown */
    const char *pdb_path;
    uint32_t flags; /* of the module event */
    bool described; /* a module event was received; otherwise only types refer to it */
    /* from its file */
    enum gcd_module_state state;
    const char *problem; /* one clause for people: why its names are unknown; "" = none */
    bool has_public_key;
    uint8_t public_key_token[8];
    uint8_t mvid[16]; /* zeros = unknown */
    bool native;      /* compiled ahead of time (Native AOT): its names are in symbols */
    /* of a native one, hexadecimal: which file has its symbols; NULL = unknown */
    const char *build_id;
};

/* The memory range of a generation after the GC; 3 is the large object heap, 4 the pinned object
 * heap. */
struct gcd_range {
    uint64_t start, used_bytes, reserved_bytes;
    unsigned generation;
};

/* A process with a heap walk in the trace, in the order of the first events.  Only a trace of the
 * whole machine has several. */
struct gcd_process {
    uint64_t process; /* process id; for gcd_dump_options.process */
    const char *name; /* "" = unknown */
    unsigned dumps;   /* heap walks with objects */
    bool chosen;      /* the dump is of this process */
};

/*
 * Memory of the process as reported by its operating system right before the dump, so neither the
 * GC nor the event buffer of the dump has changed it; see unstable/process_memory.h.
 */
struct gcd_process_memory {
    int64_t unix_ms;         /* when, in milliseconds since 1970 */
    uint64_t resident_bytes; /* 0 = unknown, and so is everything else here */
    /* parts of RESIDENT_BYTES: private to the process; from files; shared memory */
    uint64_t anonymous_bytes, file_bytes, shared_bytes;
    uint64_t swapped_bytes; /* not part of RESIDENT_BYTES */
    bool gc_known;
    /* if GC_KNOWN, resident in the ranges of the GC: objects, garbage and free memory; a part of
     * ANONYMOUS_BYTES */
    uint64_t gc_bytes;
    /* of the enclosing cgroup with the least room left; 0 = none or unknown */
    uint64_t cgroup_limit_bytes, cgroup_used_bytes;
};

/* Of a heap that was read from a memory image: a core file, or a recording made from one. */
struct gcd_image_facts {
    const char *made_from; /* "core"; "" = from no image, and everything else is empty */
    const char *ended_by;  /* "signal 6 (SIGABRT), System.OutOfMemoryException"; "" = unknown */
    const char *gaps;      /* what the image does not have, a line for each */
    bool with_dead;        /* also objects that no root reaches */
    bool with_places;      /* of references: see unstable/graph/graph_places.h */
    const char *blocked;   /* threads that wait: see unstable/blocked.h */
};

/* What is recorded of the values of objects; see unstable/values.h. */
enum gcd_values_kind {
    GCD_VALUES_NONE,
    GCD_VALUES_HASHES,  /* which strings are equal, and their lengths */
    GCD_VALUES_STRINGS, /* their texts */
    GCD_VALUES_ALL      /* also numbers, dates and the like in objects */
};

struct gcd_values_facts {
    enum gcd_values_kind kind; /* GCD_VALUES_NONE: there are none, and all else is 0 */
    uint32_t max_string;       /* units of UTF-16 that are kept of a text */
    uint64_t objects;          /* strings, and arrays of numbers, with a value */
    /* strings, and of GCD_VALUES_ALL other objects with fields, without values: a later collection
     * may have moved them; something else was at their address, or they changed while they were
     * read; the time was over, or their memory or type could not be read */
    uint64_t collected, changed, unread;
    uint64_t after_ms; /* the last one was read so long after the walk; 0: of an image.  Fields are
                          as they were then */
    uint64_t numbers;  /* of GCD_VALUES_ALL: objects whose fields are kept */
};

/* What is recorded of which references were null; see unstable/null_maps.h. */
struct gcd_null_maps_facts {
    bool known;       /* false: nothing, and all else is 0 */
    uint64_t objects; /* with a map: those of which some references were null, and some were not */
    /* objects of this kind without a map: as in struct gcd_values_facts */
    uint64_t collected, changed, unread;
    uint64_t after_ms; /* the last one was read so long after the walk */
};

/* ---- the summary ---- */

/* Why a GC began, those that were asked for (gc_reason, gc.h of the runtime); there are others. */
enum gcd_gc_reason {
    GCD_GC_REASON_INDUCED = 1,
    GCD_GC_REASON_INDUCED_NOT_FORCED = 7,
    GCD_GC_REASON_INDUCED_COMPACTING = 10,
    GCD_GC_REASON_INDUCED_AGGRESSIVE = 17
};

struct gcd_summary {
    /* the lists come first, so that bindings to other languages need to declare nothing else; type
     * numbers are indices */
    /* [type_count] in the order of first use by an object of the walk; types used only by statics
     * at the end */
    const struct gcd_type *types;
    const struct gcd_root
        *roots; /* [root_count] static variables, roots of the GC, COM callable wrappers, each in
                   the order of the events, without null roots */
    const struct gcd_range *ranges; /* [range_count] in the order of the events */
    /* [process_count] of a recording, without those that gcd_dump_options.process left out */
    const struct gcd_process *processes;
    /* [module_count] those that events describe, in their order, then those that only types refer
     * to */
    const struct gcd_module *modules;
    uint32_t type_count;
    size_t root_count, range_count, process_count, module_count;
    /* the recording */
    struct gcd_trace_info trace;
    uint64_t process;         /* process id, 0 = unknown */
    const char *process_name; /* "" = unknown, like the next four */
    const char *command_line;
    const char *os, *arch;
    const char *runtime_version;
    /* the GC */
    unsigned dumps;             /* heap walks with objects in the trace, this one included */
    unsigned dumps_forced;      /* of these, known to be in blocking full GCs */
    unsigned walk_number;       /* the number of this one; 1 = first */
    unsigned processes_ignored; /* other processes with a heap walk; a lower bound */
    /* as in GCStart (enum gcd_gc_reason); 0 = not seen */
    uint32_t gc_number, gc_depth, gc_reason, gc_type;
    bool gc_start_seen, gc_end_seen;
    uint32_t gc_heaps; /* more than 1: server GC; 0 = unknown */
    /* since the start of the trace; of the first and last heap event if not seen */
    int64_t gc_start_ns, gc_end_ns;
    /* pause of the process for this GC and its heap walk; 0 = not seen */
    uint64_t pause_ns;
    /* number and length of all pauses in the recording, including this one, for any reason */
    uint64_t pauses, pauses_ns;
    /* the heap */
    /* sum of the exact object sizes, without the gaps between objects; saturates at 2^64-1 */
    uint64_t objects, bytes;
    uint64_t edges;          /* references received */
    uint64_t edges_declared; /* references that the objects declare; equal in a complete dump */
    /* missing objects; 0 and exact in a complete dump.  0 and not exact for formats that cannot
     * tell */
    /* references that never arrived: exact, or a lower bound */
    uint64_t objects_lost, edges_lost;
    bool objects_lost_exact, edges_lost_exact;
    /* references of lost or uncertain objects; gcd_objects_edges leaves them out */
    uint64_t edges_dropped;
    uint64_t root_counts[GCD_ROOT_KINDS]; /* strong and weak, without null roots */
    uint64_t weak_roots, pinned_roots;    /* of these, with that flag */
    uint64_t null_roots;
    uint64_t statics, dependent_handles, ccws, rcws;
    uint64_t types_used;        /* types with at least one object */
    uint64_t types_undescribed; /* of these, without a type record */
    uint64_t objects_undescribed;
    struct gcd_verdict verdict;
    struct gcd_process_memory memory; /* of a living process, or recorded by gcdumpc */
    struct gcd_image_facts image;
    struct gcd_values_facts values;
    struct gcd_null_maps_facts null_maps;
    bool has_sites; /* the recording has sampled allocations (unstable/sites.h) */
};

#ifdef __cplusplus
}
#endif
#endif
