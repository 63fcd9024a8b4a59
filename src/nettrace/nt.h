/*
 * The .nettrace decoder, shared by its files:
 *
 *     nt_frame.c   bytes -> whole blocks     (everything that differs between the framings of
 *                                            format 3, 4 and 6)
 *     nt_blob.c    event blocks -> events    (event headers: compressed, uncompressed, format 3 and
 *         6)
 *     nt_meta.c    metadata records -> names of events; threads and labels of format 6
 *     nt_stack.c   stacks, for readers that want them
 *     nt_seq.c     sequence numbers -> how many events were lost
 *     nt_decode.c  input, leftover bytes, the main loop
 *     nt_append.c  adds events to a complete recording
 *
 * Specification: microsoft/perfview, src/TraceEvent/EventPipe/NetPerfFormat.md (3),
 * NetTraceFormat_v5.md (4 and 5), NetTraceFormat.md (6). Where runtimes deviate from it, the code
 * follows the runtimes and says so.
 */
#ifndef GCD_NETTRACE_NT_H
#define GCD_NETTRACE_NT_H

#include <gcdumpc/trace.h>

#include "base/container.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/text.h"

enum nt_kind {
    NT_TRACE,
    NT_EVENTS,
    NT_METADATA,
    NT_STACKS,
    NT_SEQUENCE_POINT,
    NT_THREADS, /* format 6 from here */
    NT_REMOVE_THREADS,
    NT_LABELS,
    NT_UNKNOWN,
    NT_END
};

/* One block of any format.  Format 3 and 4 call it an object. */
struct nt_frame {
    enum nt_kind kind;
    const uint8_t *body; /* NULL until the start of the body has arrived */
    size_t body_bytes;   /* announced */
    uint64_t body_off;
    size_t total_bytes; /* including framing: the distance to the next block */
};

/* The identity of an event, from a metadata record. */
struct nt_meta {
    enum gcd_provider provider;
    const char *provider_name;
    uint32_t event_id, version;
    uint64_t keywords; /* 0 = none or not known */
    /* its description is damaged, or there are two that differ, from blocks of another recording or
     * another part of this one: unknown which is true */
    bool contradicted;
};

/* State of the compressed event header; "previous value" in the specification.  Zero at the start
 * of every block. */
struct nt_header {
    uint32_t meta_id, sequence;
    uint64_t capture_thread;
    uint32_t payload_bytes;
    uint64_t ticks;
    uint32_t stack;      /* 0 = none */
    uint32_t label_list; /* format 6 */
    bool has_sequence;   /* format 3 has none */
};

/* Sequence numbers of one capture thread. */
struct nt_thread {
    uint64_t id;
    uint64_t events, lost;
    uint64_t reported; /* the thread of its events as given in gcd_event */
    uint64_t ticks;    /* of its last event */
    /* last number; last number of the previous owner of a reused thread id */
    uint32_t last, old;
    uint32_t old_point; /* the sequence point that listed the previous owner */
    /* the part of the current gap already reported, by sequence points and other events */
    uint32_t told;
    bool seen, has_old;
    bool closed;     /* a sequence point gave its number after its last event */
    bool old_closed; /* true of all previous owners */
};

struct nt_seq {
    struct nt_thread *threads;
    size_t count, cap, max;
    struct gcd_idmap by_id; /* id -> index in threads */
    uint64_t lost, irregular;
    /* of the last sequence point; of the latest event so far */
    uint64_t point_ticks, latest_ticks;
    uint32_t points;  /* sequence points so far */
    bool overflow;    /* more threads than max: some are not followed */
    uint64_t last_id; /* events come in runs of one thread */
    uint32_t last_index;
};

/* In label_version: the label list exists and has no version. */
#define NT_NO_VERSION UINT32_C(256)

/* Format 6: the thread behind a thread index. */
struct nt_thread_name {
    uint64_t process, os_thread;
    bool ended; /* another thread may get its index */
};

struct nt_stack {
    uint32_t off, bytes; /* in nt_stacks.bytes */
};
struct nt_stacks {
    bool wanted; /* else blocks of stacks are skipped */
    uint8_t *bytes;
    size_t used, bytes_cap;
    struct nt_stack *items;
    size_t count, cap;
    struct gcd_idmap by_id;
};

struct gcd_nt {
    struct gcd_trace trace; /* must be the first member */
    struct gcd_alloc alloc;
    struct gcd_limits limits;  /* with defaults filled in */
    struct gcd_reader *reader; /* NULL: it is fed */
    unsigned format;           /* 0 before the first bytes are known */

    /* input: blocks are either complete in the caller's slice, or collected in carry */
    const uint8_t *slice;
    size_t slice_bytes;
    uint8_t *carry;
    size_t carry_bytes, carry_cap, carry_want;
    /* offset in the trace: of slice[0], or of carry[0] when carry_bytes > 0 */
    uint64_t off;
    bool finished;
    gcd_status final; /* not GCD_OK: no more events will come */
    struct gcd_error final_error;

    /* the block being decoded */
    bool in_block, block_is_meta, block_cut, block_compressed;
    struct gcd_cur block;
    size_t block_total; /* bytes to drop after it */
    bool block_in_carry;
    struct nt_header header;

    struct gcd_trace_info info;
    int64_t sync_ticks;
    uint64_t frequency;
    bool have_trace;          /* the Trace object has been read */
    bool sequence_point_last; /* no event since the last sequence point */

    struct gcd_textpool names;
    struct nt_meta *metas;
    size_t meta_count, meta_cap;
    struct gcd_idmap meta_by_id;
    struct gcd_idmap meta_by_event; /* of the known providers: provider, id and version -> 1 */
    uint32_t highest_meta;          /* of all ids */
    /* of gcdumpc: the first block that describes its events, 0 = none; the highest number of an
     * event; and do other events follow? */
    uint64_t own_off;
    uint32_t own_highest;
    bool own_mixed;
    const char *last_provider; /* most records repeat the previous provider */
    char *text_buffer;         /* scratch for names */
    size_t text_cap;
    struct nt_seq seq;
    struct nt_stacks stacks;

    struct nt_thread_name *thread_names; /* format 6 */
    size_t thread_name_count, thread_name_cap;
    struct gcd_idmap thread_by_index;
    bool label_overflow; /* more lists than can be stored */
    /* label list -> the event version it prescribes, or NT_NO_VERSION */
    struct gcd_idmap label_version;
};

/* nt_frame.c */
/*
 * The next block at the start of P[0..N), which is at nt->off.  GCD_OK; GCD_NEED_MORE: call again
 * with *RET_WANT bytes (more than N); RET is then filled as far as known; or an error.
 */
gcd_status nt_frame_next(struct gcd_nt *nt, const uint8_t *p, size_t n, struct nt_frame *ret,
                         size_t *ret_want, struct gcd_error *err);
/* The body of the Trace block. */
gcd_status nt_read_trace(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
/* The file header: GCD_OK with *RET_BYTES to drop and nt->format set; GCD_NEED_MORE with *RET_WANT.
 */
gcd_status nt_file_header(struct gcd_nt *nt, const uint8_t *p, size_t n, size_t *ret_bytes,
                          size_t *ret_want, struct gcd_error *err);

/* nt_blob.c */
/* Reads the header of an event or metadata block and starts the block. */
gcd_status nt_block_begin(struct gcd_nt *nt, const struct nt_frame *f, size_t body_bytes, bool cut,
                          struct gcd_error *err);
/* The next event of the current block; stores metadata records on the way.  GCD_END at the end of
 * the block. */
gcd_status nt_block_next(struct gcd_nt *nt, struct gcd_event *ret, struct gcd_error *err);

/* nt_meta.c */
gcd_status nt_meta_record(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
gcd_status nt_meta_block_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
gcd_status nt_threads_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
gcd_status nt_remove_threads_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
gcd_status nt_labels_v6(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);

/* nt_stack.c */
gcd_status nt_stack_block(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);
/* Sets the stack of event RET. */
void nt_stack_of(const struct gcd_nt *nt, uint32_t id, struct gcd_event *ret);
void nt_stacks_forget(struct gcd_nt *nt);
void nt_stacks_done(struct gcd_nt *nt);

/* nt_seq.c */
void nt_seq_init(struct nt_seq *s, const struct gcd_alloc *a, uint64_t max_threads);
void nt_seq_done(struct nt_seq *s, const struct gcd_alloc *a);
struct nt_numbered {
    uint64_t thread;
    uint64_t reported; /* what gcd_event calls the thread */
    uint64_t ticks;
    uint32_t number;
};
/* Counts the event E; *RET_GAP as in struct gcd_event.  False when out of memory. */
bool nt_seq_event(struct nt_seq *s, const struct gcd_alloc *a, const struct nt_numbered *e,
                  uint32_t *ret_gap);
/* The event is not returned to the caller: its GAP moves to the next event of its thread. */
void nt_seq_pass_on(struct nt_seq *s, uint32_t gap);
/* A sequence point gives NUMBER for THREAD.  False when out of memory. */
bool nt_seq_point(struct nt_seq *s, const struct gcd_alloc *a, uint64_t thread, uint32_t number);
/* Has a sequence point given the number of the last event whose gcd_event.thread is THREAD? */
bool nt_seq_closed(const struct nt_seq *s, uint64_t thread);
void nt_seq_forget_thread(struct nt_seq *s, uint64_t thread);
/* The body of a sequence point block, format 4 or 6. */
gcd_status nt_sequence_point(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err);

/* nt_decode.c */
extern const struct gcd_container nt_container;

/* nt_blob.c: ticks of the target's clock to ns since the start of the trace. */
int64_t nt_time_ns(const struct gcd_nt *nt, uint64_t ticks);

/* A cursor's failure as an error; WHAT names the record that was being read. */
static inline gcd_status nt_cur_error(const struct gcd_cur *c, const char *what,
                                      struct gcd_error *err)
{
    return gcd_fail_at(err, c->err, c->err_off, "%s is damaged: a field reaches beyond its end",
                       what);
}

#endif
