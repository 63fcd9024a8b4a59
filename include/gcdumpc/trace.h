/*
 * A recorded or live trace as a sequence of events.
 *
 * The decoder neither opens nor reads anything: the caller feeds bytes in slices of any size, and
 * gets events until the decoder needs more.  A file loop and a socket callback use it the same way:
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
 * A trace opened on an input fetches its bytes itself: gcd_trace_fetch replaces gcd_trace_feed and
 * gcd_trace_finish.  An .etl can only be read this way, because its events are not in order.
 */
#ifndef GCDUMPC_TRACE_H
#define GCDUMPC_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/event.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_trace;

/* Makes a trace that the caller feeds.  Uses memory and limits of CONTEXT, which may be NULL. */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_new(const struct gcd_context *context,
                                                struct gcd_trace **ret, struct gcd_error *err);
GCD_API void gcd_trace_free(struct gcd_trace *t);

/*
 * Opens the trace in IN, and recognises its container by the content.  IN must outlive it, and
 * becomes seekable for an .etl (gcd_input_make_seekable).  Errors of the input; GCD_E_UNSUPPORTED
 * for an archive around a trace.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_open(struct gcd_input *in,
                                                 const struct gcd_context *context,
                                                 struct gcd_trace **ret, struct gcd_error *err);

/*
 * Fetches the next bytes of the input.  Call it when gcd_trace_next returns GCD_NEED_MORE, and at
 * the end until it no longer returns GCD_OK, so that damage after the trace is found.  GCD_END
 * after the last byte; GCD_E_TRUNCATED, GCD_E_FORMAT: the gzip data around the trace are damaged,
 * and gcd_trace_next still gives the events before the damage.  Errors of reading.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_fetch(struct gcd_trace *t, struct gcd_error *err);

/* The position in the input, in the unit of gcd_input_size, for progress. */
GCD_API uint64_t gcd_trace_position(const struct gcd_trace *t);

/*
 * Feeds the next N bytes without copying: they must stay valid until gcd_trace_next returns
 * anything but GCD_OK.  GCD_E_STATE while bytes of the previous slice are unused.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_feed(struct gcd_trace *t, const void *bytes, size_t n,
                                                 struct gcd_error *err);

/* Events get their stacks, if the container has any; call it before the first event. */
GCD_API void gcd_trace_keep_stacks(struct gcd_trace *t);

/* No more bytes will come. */
GCD_API void gcd_trace_finish(struct gcd_trace *t);

/*
 * The next event.  Events of one thread come in the order of recording.  Between threads only one
 * order holds: all events before a sequence point are older than all after it. GCD_OK;
 * GCD_NEED_MORE; GCD_END after the end mark; GCD_E_TRUNCATED when the bytes end before it;
 * GCD_E_FORMAT when the bytes cannot be what they claim to be, GCD_E_UNSUPPORTED for another kind
 * of file, GCD_E_LIMIT, GCD_E_NOMEM.  An error is permanent; the events before it are valid.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_trace_next(struct gcd_trace *t, struct gcd_event *ret_event,
                                                 struct gcd_error *err);

/* How the part read so far ended. */
enum gcd_trace_end {
    GCD_TRACE_OPEN,   /* it has not ended yet */
    GCD_TRACE_CLOSED, /* with its end mark */
    GCD_TRACE_TRUNCATED,
    GCD_TRACE_CORRUPT
};

struct gcd_trace_info {
    const char *container;   /* "nettrace", "etl", or "" before the first bytes are recognised */
    unsigned format_version; /* nettrace: 3, 4, 6; etl: the major version of its header */
    /* 4 or 8; for an .etl, of the system that wrote it.  0 before the header, like all below */
    unsigned ptr_bytes;
    uint64_t process; /* process id as the target sees it, 0 = several or unknown */
    uint32_t processors;
    /* wall clock of the start of the trace: ms since 1970, UTC; INT64_MIN = unknown */
    int64_t start_unix_ms;
    /* the same on the clock of its events, and the speed of that clock; 0 = unknown */
    uint64_t start_ticks, ticks_per_second;
    enum gcd_trace_end end;
    uint64_t bytes;          /* uncompressed bytes read */
    uint64_t damage_off;     /* position of the cut or damage, else GCD_OFF_NONE */
    uint64_t trailing_bytes; /* after the end mark; ignored */
    uint64_t events;
    uint64_t unknown_events; /* events without a description, which are skipped */
    uint64_t unknown_blocks;
    /* Loss.  lost_events is exact when loss_verified, else a lower bound. */
    uint64_t lost_events;
    uint64_t lost_threads;    /* threads that lost events */
    uint64_t irregular_steps; /* places where a number, time or description contradicts earlier
                                 ones: blocks are repeated, missing or misplaced */
    /* a sequence point closes the trace and nothing is irregular; see gcd_trace_thread_closed */
    bool loss_verified;
    bool numbers_events; /* gcd_event.gap is meaningful */
    /* or other counts of drops; false for format 3, which cannot show drops */
    bool has_sequence_numbers;
    /* etl: buffers, with many events each, that the writer dropped or whose number is missing */
    uint64_t lost_buffers;
    /* etl: buffers read only in part; also those whose time contradicts their place */
    uint64_t damaged_buffers;
    /* etl: buffers skipped because another one has their number; all of that number if they differ
     */
    uint64_t repeated_buffers;
};

/* Valid at any time.  CONTAINER is a static string. */
GCD_API void gcd_trace_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret);

/*
 * Did a sequence point give the number of the last event of THREAD (gcd_event.thread) after all its
 * events?  Only then is a loss at its end counted. Sequence points omit threads that have ended.
 */
GCD_API bool gcd_trace_thread_closed(const struct gcd_trace *t, uint64_t thread);

/* Lost events of capture thread number I (0 .. count-1, in order of appearance).  False when I is
 * too large. */
GCD_API bool gcd_trace_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread,
                                  uint64_t *ret_events, uint64_t *ret_lost);

#ifdef __cplusplus
}
#endif
#endif
