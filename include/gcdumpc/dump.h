/*
 * The heap dump that a trace contains: what it consists of, whether it is complete, and its objects one after another.
 *
 *     struct gcd_dump *d;
 *     if (gcd_dump_open(input, NULL, &d, &err) == GCD_OK)
 *         printf("%" PRIu64 " objects\n", gcd_dump_facts(d)->objects);
 *
 * Opening reads the trace once and keeps what grows with types and roots, not with objects.  The objects themselves are read in a
 * second pass by a struct gcd_objects, in memory that does not depend on their number.
 */
#ifndef GCDUMPC_DUMP_H
#define GCDUMPC_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_dump;

/* Called about once per slice of input with the position in it (gcd_reader_position); for progress. */
typedef void (*gcd_progress_fn)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);

struct gcd_dump_options {
    const struct gcd_alloc *alloc;
    const struct gcd_limits *limits;
    uint64_t process;            /* take the dump of this process; 0 = the first one that has a dump */
    const char *process_name;    /* only of processes with this name, as gcd_dump_facts gives it; NULL = any.  Must outlive the dump */
    unsigned walk_number;        /* which of several heap walks with objects: 1 = first; 0 = the first one that was asked for and whole */
    bool check_references;       /* gather the addresses of the objects for gcd_dump_knows: 16 MiB at most, 48 MiB
                                    while it is not clear which of several dumps is taken */
    const gcd_cancel_flag *cancel;   /* may be NULL; polled per slice, ends with GCD_E_CANCELED */
    gcd_progress_fn progress;    /* may be NULL */
    void *progress_ctx;
};

/*
 * Read the trace IN and find the dump in it.  A trace that is cut or damaged is read as far as it goes: that is no error as
 * long as there is a dump in it, but a reason for the verdict "incomplete".
 * GCD_OK; GCD_E_NOT_FOUND: a readable trace without a heap walk; errors of the trace and of the input.
 * IN must outlive the dump and be rereadable when gcd_objects_new shall be used.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_open(struct gcd_input *in, const struct gcd_dump_options *options,
                                                struct gcd_dump **ret, struct gcd_error *err);

/*
 * The same in steps, for bytes that somebody else reads: new, feed as often as needed, close.  gcd_dump_feed returns GCD_END from
 * the moment the heap walk is whole: a live session may then be stopped, but all that still comes is to be fed, too.
 * gcd_dump_close takes in an input from which the same bytes can be read again, or NULL when no objects will be read.
 * When feeding has failed, all that can follow says the same error again.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_new(const struct gcd_dump_options *options, struct gcd_dump **ret,
                                               struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_feed(struct gcd_dump *d, const void *bytes, size_t n, struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_close(struct gcd_dump *d, struct gcd_input *in, struct gcd_error *err);
GCD_API void gcd_dump_free(struct gcd_dump *d);

/* Has the heap walk begun, that is, has an object been seen?  When the stream then falls silent, its end was lost. */
GCD_API bool gcd_dump_begun(const struct gcd_dump *d);

/* ---- the verdict ---- */

/* code, name in JSON.  What each amount counts is said in the reason's text. */
#define GCD_REASON_LIST(X)                                                                                             \
    X(GCD_REASON_TRACE_TRUNCATED, "trace_truncated")           /* amount: offset of the cut */                        \
    X(GCD_REASON_TRACE_DAMAGED, "trace_damaged")               /* amount: offset of the damage */                     \
    X(GCD_REASON_INPUT_DAMAGED, "input_damaged")               /* the gzip data around the trace are cut or damaged */ \
    X(GCD_REASON_EVENTS_LOST, "events_lost")                   /* amount: events dropped by the runtime */            \
    X(GCD_REASON_LOSS_UNVERIFIED, "loss_unverified")           /* nothing says whether events were dropped */         \
    X(GCD_REASON_BUFFERS_LOST, "buffers_lost")                 /* amount: buffers full of events that are not in the recording */ \
    X(GCD_REASON_BUFFERS_DAMAGED, "buffers_damaged")           /* amount: buffers whose events could not all be read */ \
    X(GCD_REASON_BUFFERS_REPEATED, "buffers_repeated")         /* amount: buffers with the number of another one, which were left out */ \
    X(GCD_REASON_NODE_EVENTS_MISSING, "node_events_missing")   /* amount: holes in the index numbers */               \
    X(GCD_REASON_EDGE_EVENTS_MISSING, "edge_events_missing")                                                          \
    X(GCD_REASON_ROOT_EVENTS_MISSING, "root_events_missing")                                                          \
    X(GCD_REASON_DEPENDENT_EVENTS_MISSING, "dependent_handle_events_missing")                                         \
    X(GCD_REASON_EDGES_UNBALANCED, "edges_unbalanced")         /* amount: |declared - received| */                    \
    X(GCD_REASON_OBJECTS_LOST, "objects_lost")                 /* amount: objects that did not arrive; 0 = it cannot be told */ \
    X(GCD_REASON_EDGES_LOST, "edges_lost")                     /* amount: references that did not arrive; 0 = it cannot be told */ \
    X(GCD_REASON_EDGES_DROPPED, "edges_dropped")               /* amount: references whose owner is lost or not certain */ \
    X(GCD_REASON_EVENTS_DAMAGED, "events_damaged")             /* amount: heap events that could not be decoded */    \
    X(GCD_REASON_EVENTS_UNKNOWN, "events_unknown")             /* amount: events whose description is missing */      \
    X(GCD_REASON_EVENTS_MISPLACED, "events_misplaced")         /* amount: bulk events outside of a whole walk; 0 = some of it are out of order */ \
    X(GCD_REASON_NO_GC_START, "no_gc_start")                   /* the walk is not inside an induced blocking full GC */ \
    X(GCD_REASON_NO_GC_END, "no_gc_end")                       /* the walk was not seen to its end */                 \
    X(GCD_REASON_TYPES_UNDESCRIBED, "types_undescribed")       /* amount: types without record; all when none has a name */ \
    X(GCD_REASON_TYPES_AMBIGUOUS, "types_ambiguous")           /* amount: types whose name or module can be that of another one */

enum gcd_reason_code {
#define GCD_REASON_ENUM(code, name) code,
    GCD_REASON_LIST(GCD_REASON_ENUM)
#undef GCD_REASON_ENUM
    GCD_REASON_COUNT
};

struct gcd_reason {
    enum gcd_reason_code code;
    const char *name;            /* static */
    uint64_t amount;
    char text[200];              /* one clause for people, UTF-8 */
};

/* complete, or incomplete with the reasons: in the order of the list above. */
struct gcd_verdict {
    bool complete;
    bool unverified;             /* of a format that has no place for a verdict: complete then means that nothing is known to miss */
    size_t reason_count;
    struct gcd_reason reasons[GCD_REASON_COUNT];
};

/* ---- what the dump consists of: from gcd_dump_open or gcd_dump_close, when they succeed, until gcd_dump_free ---- */

enum gcd_root_kind {
    GCD_ROOT_STACK,              /* local variable, argument, register */
    GCD_ROOT_FINALIZER,          /* finalizer queue */
    GCD_ROOT_HANDLE,             /* GC handle */
    GCD_ROOT_OTHER,              /* the runtime's own, and kinds that are not known */
    GCD_ROOT_KINDS
};

/* Flags of a root, as the runtime sends them; unknown bits are kept. */
#define GCD_ROOT_PINNED UINT32_C(1)
#define GCD_ROOT_WEAK UINT32_C(2)        /* does not keep its object alive */
#define GCD_ROOT_INTERIOR UINT32_C(4)
#define GCD_ROOT_REFCOUNTED UINT32_C(8)

struct gcd_dump_facts {
    /* the recording */
    struct gcd_trace_info trace;
    uint64_t process;            /* process id, 0 = unknown */
    const char *process_name;    /* "" = unknown, like the next four */
    const char *command_line;
    const char *os, *arch;
    const char *runtime_version;
    /* the GC */
    unsigned dumps;              /* heap walks with objects in the trace, this one included */
    unsigned walk_number;        /* which one this is; 1 = first */
    unsigned processes_ignored;  /* other processes with a heap walk, at least */
    uint32_t gc_number, gc_depth, gc_reason, gc_type;  /* as in GCStart; 0 when it was not seen */
    bool gc_start_seen, gc_end_seen;
    uint32_t gc_heaps;           /* more than 1: server GC; 0 = not told */
    int64_t gc_start_ns, gc_end_ns;      /* since the start of the trace; the first and last heap event when not seen */
    uint64_t pause_ns;           /* how long the process stood still for this GC and its heap walk; 0 = not seen */
    uint64_t pauses, pauses_ns;  /* how often and how long it did so while it was recorded, this one included; for whatever reason */
    /* the heap */
    uint64_t objects, bytes;     /* sum of the exact object sizes, without the gaps between objects; saturates at 2^64-1 */
    uint64_t edges;              /* references received */
    uint64_t edges_declared;     /* references that the objects should have; equal in a complete dump */
    /* what is missing; of a dump that is complete 0, exactly.  All 0 and not exact for formats that do not tell */
    uint64_t objects_lost, edges_lost;   /* that never arrived: exactly so many, or at least */
    bool objects_lost_exact, edges_lost_exact;
    uint64_t edges_dropped;      /* that arrived, but belong to lost objects or not certainly to one; gcd_objects_edges leaves them out */
    uint64_t roots[GCD_ROOT_KINDS];      /* strong and weak, without null roots */
    uint64_t weak_roots, pinned_roots;   /* of these, with that flag */
    uint64_t null_roots;
    uint64_t statics, dependent_handles, ccws, rcws, ranges;
    uint64_t types;              /* with at least one object */
    uint64_t types_undescribed;  /* of these, without a type record */
    uint64_t objects_undescribed;
};
/* What is known of D, and whether that is all; they belong to D. */
GCD_API const struct gcd_dump_facts *gcd_dump_facts(const struct gcd_dump *d);
GCD_API const struct gcd_verdict *gcd_dump_verdict(const struct gcd_dump *d);

/* A process whose heap was walked in the trace, in the order of the first events; several only in traces of a whole machine. */
struct gcd_dump_process {
    uint64_t process;            /* process id; for gcd_dump_options.process */
    const char *name;            /* "" = unknown */
    unsigned dumps;              /* heap walks with objects */
    bool chosen;                 /* it is the one of this dump */
};
/* Without those that gcd_dump_options.process left out. */
GCD_API size_t gcd_dump_process_count(const struct gcd_dump *d);
GCD_API const struct gcd_dump_process *gcd_dump_process(const struct gcd_dump *d, size_t i);

/* A type, in the order of first use by an object of the walk, types used by statics only at the end. */
struct gcd_type {
    uint64_t id;                 /* method table address */
    uint64_t module;             /* module id, 0 = unknown */
    const char *name;            /* as the runtime spells it; never empty: "Type(0x…)" stands in for a missing one */
    const char *module_path;     /* of a module made in memory its assembly's name; "" = unknown */
    uint64_t objects, bytes;
    uint64_t edges;              /* references that its objects should have */
    uint32_t name_token, flags;
    uint8_t element_type;        /* ECMA-335 element type */
    bool described;              /* a type record was received */
    bool named;                  /* ... and had a name */
};
/* Number of types; their indices are 0 .. count-1 and are the type numbers of objects and static roots. */
GCD_API uint32_t gcd_dump_type_count(const struct gcd_dump *d);
GCD_API const struct gcd_type *gcd_dump_type(const struct gcd_dump *d, uint32_t i);

struct gcd_root {
    uint64_t object;             /* address, not 0 */
    uint64_t id;                 /* handle address, method, as the kind may be; 0 possible */
    enum gcd_root_kind kind;
    uint32_t flags;
};
/* In the order of the events, without null roots; they belong to D.  I is below the count. */
GCD_API size_t gcd_dump_root_count(const struct gcd_dump *d);
GCD_API const struct gcd_root *gcd_dump_root(const struct gcd_dump *d, size_t i);

struct gcd_static {
    uint64_t object;             /* address, not 0 */
    uint64_t slot;               /* address of the variable */
    uint32_t type;               /* type number of the stored object (CoreCLR) or of the declaring class (Mono) */
    const char *name;            /* of the field */
};
/* In the order of the events; they belong to D.  I is below the count. */
GCD_API size_t gcd_dump_static_count(const struct gcd_dump *d);
GCD_API const struct gcd_static *gcd_dump_static(const struct gcd_dump *d, size_t i);

/* COM callable wrappers: native references that keep an object alive. */
GCD_API size_t gcd_dump_ccw_count(const struct gcd_dump *d);
GCD_API uint64_t gcd_dump_ccw(const struct gcd_dump *d, size_t i);

/* Dependent handles in ascending order of the key's address, those of one key in the order of the events. */
struct gcd_dependent {
    uint64_t key, value;         /* addresses, not 0, not equal */
};
GCD_API size_t gcd_dump_dependent_count(const struct gcd_dump *d);
GCD_API const struct gcd_dependent *gcd_dump_dependent(const struct gcd_dump *d, size_t i);

/* Memory ranges of the generations after the GC; 3 is the large object heap, 4 the pinned object heap. */
struct gcd_range {
    uint64_t start, used_bytes, reserved_bytes;
    unsigned generation;
};
GCD_API size_t gcd_dump_range_count(const struct gcd_dump *d);
GCD_API const struct gcd_range *gcd_dump_range(const struct gcd_dump *d, size_t i);

/*
 * Is there an object at ADDRESS?  False is certain.  True is certain, too, as long as *RET_EXACT (may be NULL); a heap of more than
 * 1 GiB is mapped onto itself to bound the memory, then true means "probably".  Without check_references it is always true,
 * and never exact.
 */
GCD_API bool gcd_dump_knows(const struct gcd_dump *d, uint64_t address, bool *ret_exact);
/* Of how many of N addresses gcd_dump_knows would be false: several times as fast for a hundred at once. */
GCD_API uint64_t gcd_dump_count_unknown(const struct gcd_dump *d, const uint64_t *addresses, size_t n);

/* ---- the objects ---- */

struct gcd_objects;

struct gcd_object {
    uint64_t address, size_bytes;
    uint64_t edges;              /* references that it should have; see gcd_objects_edges for those that are there */
    uint32_t type;               /* type number */
};

/*
 * A cursor before the first object, in the order of the heap walk.  Several may exist at the same time.
 * GCD_E_STATE without an input that can be read again.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_new(struct gcd_dump *d, struct gcd_objects **ret, struct gcd_error *err);
GCD_API void gcd_objects_free(struct gcd_objects *o);

/*
 * The next object, GCD_END after the last.  The references of the object before may be left unread.
 * GCD_E_FORMAT: these are not the objects that gcd_dump_facts counts: the input has changed since it was opened.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_next(struct gcd_objects *o, struct gcd_object *ret, struct gcd_error *err);

/*
 * The next references of the current object: addresses of the referenced objects in the order of the events, null left out, as a view
 * valid until the next call on O.  GCD_END after the last.  An incomplete dump may have fewer than object.edges: those that were lost,
 * or of which it is not certain whose they are, are left out; no object ever gets those of another one.  Dependent handles are
 * not among them.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_edges(struct gcd_objects *o, const uint64_t **ret_targets, size_t *ret_n,
                                                    struct gcd_error *err);

/* How far the cursor is in its input; for progress, like gcd_reader_position. */
GCD_API uint64_t gcd_objects_position(const struct gcd_objects *o);

#ifdef __cplusplus
}
#endif
#endif
