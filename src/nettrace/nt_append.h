/*
 * Writes recordings in format 4.
 *
 * Adds events to a complete one: blocks that replace its end mark.
 *
 * A reader finds them in order: they are younger than all others, come from a thread of their own
 * with numbers from 1 on, and a sequence point after them shows that none is missing.  So they do
 * not change the loss counts.
 */
#ifndef GCD_NETTRACE_NT_APPEND_H
#define GCD_NETTRACE_NT_APPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/trace.h>

#include "base/container.h"

/* Where a recording ends, and its free ids. */
struct nt_tail {
    uint64_t end_off; /* of its end mark */
    /* where gcdumpc began to add events, and nothing but these follows; 0 = none, or others do */
    uint64_t own_off;
    uint32_t own_highest; /* the highest number of these events */
    uint32_t meta_id;     /* this one and the larger ones */
    uint64_t thread;
    uint64_t ticks; /* no event is younger */
};
/* Bit 31 is a flag, and some ids are left free. */
#define NT_META_ID_MAX UINT32_C(0x7fff0000)

/*
 * The end of T, which has been read completely.  False if nothing can be added: another format, a
 * cut or damaged trace, no free number, or no sequence point at the end (adding one would make
 * losses look verified).
 */
bool nt_tail_of(const struct gcd_trace *t, struct nt_tail *ret);

struct nt_append;

/* The largest payload: that of the events of a runtime. */
#define NT_APPEND_PAYLOAD_MAX ((size_t)65536)

/* Describes EVENTS.  TO is at offset TAIL->end_off of the recording. */
GCD_MUST_CHECK gcd_status nt_append_new(const struct gcd_alloc *alloc, const struct nt_tail *tail,
                                        const struct gcd_new_events *events, struct gcd_sink *to,
                                        struct nt_append **ret, struct gcd_error *err);
/* An event of EVENTS[I] with a payload of N <= NT_APPEND_PAYLOAD_MAX bytes. */
void nt_append_event(struct nt_append *a, size_t i, const uint8_t *payload, size_t n);
/* All events have been added; more may follow, and can be cut off there again. */
void nt_append_end(struct nt_append *a);
void nt_append_free(struct nt_append *a);
/* How many bytes the recording has without the events that are not written yet. */
uint64_t nt_append_off(const struct nt_append *a);

/* ---- a recording of its own ---- */

/* The same for a new recording of the process and the time that OF names, with events of any kind:
 * all of one thread, 8 bytes for a pointer, in the order of their times.  DESCRIBED: those that
 * readers do not know by themselves. */
GCD_MUST_CHECK gcd_status nt_write_new(const struct gcd_alloc *alloc,
                                       const struct gcd_trace_info *of,
                                       const struct gcd_new_events *described, struct gcd_sink *to,
                                       struct nt_append **ret, struct gcd_error *err);
/* GCD_E_LIMIT: more kinds of events than there is room for, or a larger payload. */
GCD_MUST_CHECK gcd_status nt_write_event(struct nt_append *a, const struct gcd_event *ev,
                                         struct gcd_error *err);
/* After the last event; instead of nt_append_end. */
void nt_write_end(struct nt_append *a);

#endif
