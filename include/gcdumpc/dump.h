/*
 * The heap dump in a trace: its summary, its verdict, and its objects one after another.
 *
 *     struct gcd_dump *d;
 *     if (gcd_dump_open(input, NULL, &d, &err) == GCD_OK)
 *         printf("%" PRIu64 " objects\n", gcd_dump_summary(d)->objects);
 *
 * Opening reads the trace once and keeps types and roots, not objects.  A struct gcd_objects reads
 * the objects in a second pass, in memory that does not depend on their number.
 */
#ifndef GCDUMPC_DUMP_H
#define GCDUMPC_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>
#include <gcdumpc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_dump;

struct gcd_dump_options {
    struct gcd_context context;
    /* take the dump of this process; 0 = the first process with a dump */
    uint64_t process;
    /* only processes with this name, as in the summary; NULL = any.  Must outlive the dump */
    const char *process_name;
    /* which heap walk with objects: 1 = first; 0 = the first one that was requested and is complete
     */
    unsigned walk_number;
    bool no_layouts;       /* do not keep the layouts of types in the recording */
    bool values;           /* keep the values of objects (unstable/values.h) */
    bool check_references; /* collect object addresses for gcd_dump_knows: at most 16 MiB, 48 MiB
                              while several dumps are still candidates */
};

/*
 * Reads the trace IN and finds the dump in it.  A cut or damaged trace is read as far as possible;
 * if it contains a dump, this is not an error but a reason for the verdict "incomplete". GCD_OK;
 * GCD_E_NOT_FOUND: a readable trace without a heap walk; errors of the trace and of the input. IN
 * must outlive the dump, and be rereadable if gcd_objects_new will be used.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_open(struct gcd_input *in,
                                                const struct gcd_dump_options *options,
                                                struct gcd_dump **ret, struct gcd_error *err);

/*
 * The same in steps, for bytes that the caller reads: new, feed as often as needed, close.
 * gcd_dump_feed returns GCD_END once the heap walk is complete: the caller may then stop a live
 * session, but must feed the remaining bytes, too. gcd_dump_close takes an input with the same
 * bytes for rereading, or NULL if no objects will be read. After a failed feed all further calls
 * return the same error.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_new(const struct gcd_dump_options *options,
                                               struct gcd_dump **ret, struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_feed(struct gcd_dump *d, const void *bytes, size_t n,
                                                struct gcd_error *err);
GCD_API GCD_MUST_CHECK gcd_status gcd_dump_close(struct gcd_dump *d, struct gcd_input *in,
                                                 struct gcd_error *err);
GCD_API void gcd_dump_free(struct gcd_dump *d);

/* How far the bytes fed so far can be decoded.  GCD_NEED_MORE: to their end; GCD_END: the trace has
 * ended, and nothing behind it is read; else why nothing more can be decoded, which ends the dump.
 */
GCD_API gcd_status gcd_dump_decoded(const struct gcd_dump *d, struct gcd_error *err);

/* The events of heap walks so far; 0 before the first object.  If a walk has begun and no more
 * come, its end was lost. */
GCD_API uint64_t gcd_dump_walk_events(const struct gcd_dump *d);

/*
 * The summary of D: its facts, verdict, types, roots, ranges and processes (summary.h).  Valid
 * after a successful gcd_dump_open or gcd_dump_close until gcd_dump_free; it belongs to D.
 */
GCD_API const struct gcd_summary *gcd_dump_summary(const struct gcd_dump *d);

/* Dependent handles, sorted by the address of the key; handles with the same key in the order of
 * the events. */
struct gcd_dependent {
    uint64_t key, value; /* addresses, not 0, not equal */
};
GCD_API size_t gcd_dump_dependent_count(const struct gcd_dump *d);
GCD_API const struct gcd_dependent *gcd_dump_dependent(const struct gcd_dump *d, size_t i);

/*
 * Is there an object at ADDRESS?  False is certain.  True is certain if *RET_EXACT (may be NULL) is
 * set; for heaps above 1 GiB addresses are folded to bound the memory, and true means "probably".
 * Without check_references the result is always true and never exact.
 */
GCD_API bool gcd_dump_knows(const struct gcd_dump *d, uint64_t address, bool *ret_exact);
/* Counts those of the N addresses for which gcd_dump_knows is false; a call for a hundred is
 * several times faster than a hundred calls. */
GCD_API uint64_t gcd_dump_count_unknown(const struct gcd_dump *d, const uint64_t *addresses,
                                        size_t n);

/* ---- the objects ---- */

struct gcd_objects;

struct gcd_object {
    uint64_t address, size_bytes;
    /* references it declares; gcd_objects_edges returns those received */
    uint64_t edges;
    uint32_t type; /* type number */
};

/*
 * Makes a cursor before the first object.  Objects come in the order of the heap walk.  Several
 * cursors may exist at the same time.  GCD_E_STATE: the input is not rereadable.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_new(struct gcd_dump *d, struct gcd_objects **ret,
                                                  struct gcd_error *err);
GCD_API void gcd_objects_free(struct gcd_objects *o);

/*
 * The next object, GCD_END after the last.  The references of the previous object may stay unread.
 * GCD_E_FORMAT: the objects differ from those that gcd_dump_summary counts, so the input has
 * changed since it was opened.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_next(struct gcd_objects *o, struct gcd_object *ret,
                                                   struct gcd_error *err);

/*
 * The next references of the current object: addresses of the referenced objects in the order of
 * the events, without nulls; valid until the next call on O.  GCD_END after the last.  An
 * incomplete dump may have fewer than object.edges, because lost references and those with an
 * uncertain owner are left out.  An object never gets another object's references.  Dependent
 * handles are not included.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_objects_edges(struct gcd_objects *o,
                                                    const uint64_t **ret_targets, size_t *ret_n,
                                                    struct gcd_error *err);

/* The position of the cursor in its input, like gcd_reader_position, for progress. */
GCD_API uint64_t gcd_objects_position(const struct gcd_objects *o);

#ifdef __cplusplus
}
#endif
#endif
