/*
 * A recorded or live trace as a sequence of events.
 *
 * The decoder opens nothing and reads nothing: it is fed with bytes in slices of any size, and gives events until it needs
 * more.  A file loop and a socket callback use it alike:
 *
 *     while (there are bytes) {
 *         gcd_trace_feed(t, bytes, n, &err);
 *         while ((st = gcd_trace_next(t, &ev, &err)) == GCD_OK)
 *             use(&ev);
 *         if (st != GCD_NEED_MORE)
 *             break;
 *     }
 *     gcd_trace_finish(t);    then gcd_trace_next until it does not return GCD_OK
 *
 * A trace that is opened on an input fetches its bytes itself: gcd_trace_fetch instead of gcd_trace_feed and gcd_trace_finish.  Only so .etl
 * can be read, whose events lie in no order.
 */
#ifndef GCDUMPC_TRACE_H
#define GCDUMPC_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/event.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_trace;

/* ALLOC and LIMITS may be NULL. */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                                                struct gcd_trace **ret, struct gcd_error *err);
GCD_API void gcd_trace_free(struct gcd_trace *t);

/*
 * The trace in IN, of any container, told apart by the content.  IN must outlive it.  Of an .etl IN is made seekable (gcd_input_make_seekable).
 * Errors of the input; GCD_E_UNSUPPORTED for an archive around a trace.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_open(struct gcd_input *in, const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                                                 struct gcd_trace **ret, struct gcd_error *err);

/*
 * Get the next bytes of the input: when gcd_trace_next has returned GCD_NEED_MORE, and at the end until this does not return GCD_OK, so that
 * damage behind the trace is seen.  GCD_END after the last; GCD_E_TRUNCATED, GCD_E_FORMAT when the gzip data around the trace are damaged: then
 * gcd_trace_next still gives what came before.  Errors of reading.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_fetch(struct gcd_trace *t, struct gcd_error *err);

/* How far it is in its input, in the unit of gcd_input_size: for progress. */
GCD_API uint64_t gcd_trace_position(const struct gcd_trace *t);

/*
 * The next N bytes.  They are not copied: they must stay valid until gcd_trace_next has returned something else than GCD_OK.
 * GCD_E_STATE when bytes of the slice before have not been used up yet.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_feed(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err);

/* No more bytes will come. */
GCD_API void gcd_trace_finish(struct gcd_trace *t);

/*
 * Next event.  Events of one thread come in the order in which they were recorded; between threads there is no order
 * except that all events before a sequence point are older than all after it.
 * GCD_OK; GCD_NEED_MORE; GCD_END after the end mark; GCD_E_TRUNCATED when the bytes end before it; GCD_E_FORMAT when the
 * bytes cannot be what they claim to be, GCD_E_UNSUPPORTED for another kind of file, GCD_E_LIMIT, GCD_E_NOMEM.  An error is
 * permanent; what was given before it stands.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_next(struct gcd_trace *t, struct gcd_event *ret_event, struct gcd_error *err);

/* How the trace ended, as far as it has been read. */
enum gcd_trace_end {
    GCD_TRACE_OPEN,          /* not at the end yet */
    GCD_TRACE_CLOSED,        /* with its end mark */
    GCD_TRACE_TRUNCATED,
    GCD_TRACE_CORRUPT
};

struct gcd_trace_info {
    const char *container;       /* "nettrace", "etl", or "" before the first bytes were recognised */
    unsigned format_version;     /* nettrace: 3, 4, 6; etl: the major version of its header */
    unsigned ptr_bytes;          /* 4 or 8, in an .etl of the system that wrote it; 0 before the header has been read, like all below */
    uint64_t process;            /* process id as the target sees itself, 0 = several or unknown */
    uint32_t processors;
    int64_t start_unix_ms;       /* wall clock of the start of the trace: ms since 1970, UTC; INT64_MIN = unknown */
    enum gcd_trace_end end;
    uint64_t bytes;              /* uncompressed bytes read */
    uint64_t damage_off;         /* where it was cut or damaged, else GCD_OFF_NONE */
    uint64_t trailing_bytes;     /* after the end mark; ignored */
    uint64_t events;
    uint64_t unknown_events;     /* without a description: not given out */
    uint64_t unknown_blocks;
    /* Loss.  lost_events is exact when loss_verified, else a lower bound. */
    uint64_t lost_events;
    uint64_t lost_threads;       /* number of threads that lost some */
    uint64_t irregular_steps;    /* places where a number, a time or a description contradicts what came before it: blocks are doubled,
                                    missing or in the wrong place */
    bool loss_verified;          /* a sequence point closes the trace and nothing is irregular; see gcd_trace_thread_closed */
    bool numbers_events;         /* gcd_event.gap means something */
    bool has_sequence_numbers;   /* or other counts of what was dropped; false for format 3: drops cannot be seen */
    uint64_t lost_buffers;       /* etl: with many events each; those that the writer had no room for, and those whose number is missing */
    uint64_t damaged_buffers;    /* etl: what could be read of them was given out; also those whose time is not that of their place */
    uint64_t repeated_buffers;   /* etl: left out, with the number of another one; all of one number if they differ */
};

/* Valid at any time.  CONTAINER is a static string. */
GCD_API void gcd_trace_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret);

/*
 * Has a sequence point told the number of the last event of THREAD (gcd_event.thread) after all its events?  Only then is a loss at its
 * end counted.  A sequence point need not list all threads: those that have ended are left out.
 */
GCD_API bool gcd_trace_thread_closed(const struct gcd_trace *t, uint64_t thread);

/* Lost events of capture thread number I (0 .. count-1, in the order in which they appeared).  False when I is too large. */
GCD_API bool gcd_trace_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread, uint64_t *ret_events,
                                  uint64_t *ret_lost);

#ifdef __cplusplus
}
#endif
#endif
