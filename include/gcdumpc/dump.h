/*
 * The heap dump that a trace contains: what it consists of, whether it is complete, and its objects one after another.
 *
 *     struct gcd_dump *d;
 *     if (gcd_dump_open(input, NULL, &d, &err) == GCD_OK)
 *         printf("%" PRIu64 " objects\n", gcd_dump_summary(d)->objects);
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
#include <gcdumpc/summary.h>
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
    const char *process_name;    /* only of processes with this name, as in its summary; NULL = any.  Must outlive the dump */
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

/*
 * The summary of D: its facts, verdict, types, roots, ranges and processes (summary.h).  From gcd_dump_open or gcd_dump_close, when they
 * succeed, until gcd_dump_free; it belongs to D.
 */
GCD_API const struct gcd_summary *gcd_dump_summary(const struct gcd_dump *d);

/* Dependent handles in ascending order of the key's address, those of one key in the order of the events. */
struct gcd_dependent {
    uint64_t key, value;         /* addresses, not 0, not equal */
};
GCD_API size_t gcd_dump_dependent_count(const struct gcd_dump *d);
GCD_API const struct gcd_dependent *gcd_dump_dependent(const struct gcd_dump *d, size_t i);

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
 * GCD_E_FORMAT: these are not the objects that gcd_dump_summary counts: the input has changed since it was opened.
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
