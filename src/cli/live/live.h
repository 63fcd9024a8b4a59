/*
 * A living process as an input:
 *
 *     live_lock.c      two dumps of one process exclude each other
 *     preflight.c      checks before the process is disturbed
 *     live_attempt.c   one collection
 *     nicely.c         with a lower priority
 *     live_stream.c    which of its bytes are accepted
 *     live_values.c    texts of its strings
 *     live_summary.c   one line about what it cost
 *     live.c           attempts until one is complete
 *     live_direct.c    by its memory instead
 */
#ifndef GCD_CLI_LIVE_H
#define GCD_CLI_LIVE_H

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "live/live_lock.h"

#ifdef GCDUMPC_HAVE_IPC

#define LIVE_MIB (UINT64_C(1) << 20)

#define LIVE_KEYWORD_MOVEMENT UINT64_C(0x400000) /* GCHeapSurvivalAndMovement */
/*
 * Expected pause per MiB of the process's memory when no earlier dump is known: 10 million objects
 * in 600 MB paused for 1.0 to 1.1 s on 2 cores (.NET 8 to 10, tests/bench).
 */
#define LIVE_PAUSE_US_PER_MIB 2000u
/* Measured with objects of 40 bytes: 6 to 10 ms with workstation GC, up to 20 with server GC. */
#define LIVE_PAUSE_MOST_US_PER_MIB 20000u

struct gcd_process_reader;
struct gcd_value_source;
struct gcd_values_watch;

struct live {
    const struct cli_args *args;
    const struct gcd_dump_options *options;
    /* NULL: the stream is not kept, because the objects will not be read */
    const char *spool_dir;
    const char *subject;
    uint32_t pid;                      /* 0 = not known */
    char path[GCD_IPC_PATH_MAX];       /* of its socket, without a port */
    struct gcd_ipc_port *port;         /* for --listen; NULL = none */
    struct live_lock lock;             /* not used when the caller holds one already */
    struct gcd_ipc_memory memory;      /* before the first attempt */
    struct gcd_ipc_mappings *mappings; /* likewise; NULL = not known */
    struct gcd_ipc_budget budget;
    uint64_t heap_most_bytes; /* gcd_ipc_heap_most; 0 = not known, or not needed */
    uint64_t expected_bytes;  /* of events, estimated from the last dump; 0 = not known */
    uint64_t start_ms;        /* when the first attempt began */
};

/* preflight.c */
/*
 * Takes the lock (unless the caller holds it), checks memory and disk space.  On failure the
 * message has been printed.  RET_BUFFER_MB: for the first attempt.
 */
enum cli_exit live_preflight(struct live *l, uint32_t *ret_buffer_mb);

/* Could BUFFER_MB take more memory than the process can get?  Needs l->budget. */
bool live_buffer_is_too_large(const struct live *l, uint32_t buffer_mb);

/* live_remedy.c: what helps a process that has no room for a larger buffer, as the end of a
 * sentence in RET: "; --direct …"; "" = unknown. */
struct live_attempt;
const char *live_without_buffer(const struct live *l, char ret[static CLI_REMEDY_BYTES]);
/* The buffer in MiB that could keep what A lost: MAX_MB (0 = no limit) and what the process can
 * spare now bound it, as RET says; 0 = none. */
uint32_t live_larger_buffer(const struct live *l, const struct live_attempt *a, uint32_t max_mb,
                            struct gcd_ipc_budget *ret);
/* The same after A lost events; also a larger buffer, if there is room for one. */
const char *live_after_loss(const struct live *l, const struct live_attempt *a,
                            char ret[static CLI_REMEDY_BYTES]);

/* The space that a dump is expected to need. */
struct live_place {
    char folder[4096];
    uint64_t likely, most; /* bytes written there */
    uint64_t left;         /* UINT64_MAX = unknown */
};
/* spool, scratch, output, trace; those on one file system count as one */
#define LIVE_PLACES 4
struct live_forecast {
    uint64_t stream_likely, stream_most; /* bytes of events; 0 = unknown */
    uint64_t output_bytes;               /* 0: no output, or unknown */
    uint32_t buffer_mb;                  /* 0: there is no room for one */
    struct live_place places[LIVE_PLACES];
    size_t place_count;
};
/*
 * Fills RET, l->memory, l->budget and l->heap_most_bytes.  Prints nothing, changes nothing, asks
 * the process for nothing.
 */
void live_forecast(struct live *l, struct live_forecast *ret);

/* live_attempt.c */
struct live_attempt {
    unsigned number; /* 1 = first */
    uint32_t buffer_mb;
    struct gcd_input *spool;
    struct gcd_dump *dump;
    bool usable; /* the dump is closed and has a heap walk */
    bool whole;  /* the walk reached its end */
    /* limit of the stream, derived from the memory seen so far; 0 = not known yet */
    uint64_t most_bytes;
    struct gcd_error refusal; /* why bytes were refused, which closed the session; or GCD_OK */
    bool ended;               /* the stream was received to its end */
    uint64_t duration_ms, rss_peak, rss_after; /* bytes; 0 = unknown */
    struct gcd_ipc_collect_result result;
    /* why it ended; also GCD_OK when the walk is whole and only the end after it is missing */
    gcd_status status;
    struct gcd_error err;
    struct gcd_process_reader *memory;
    struct gcd_value_source *types; /* for --values all */
    struct gcd_values_watch *watch; /* NULL: no values are read */
    bool values_read;
    bool refused;        /* they may not be read */
    char no_values[300]; /* why some or all are missing; "" = no reason is known */
};
/* live_values.c: the values of the process, read when its walk is over; DUMP gets them when it is
 * closed. */
void live_values_begin(const struct live *l, struct live_attempt *a);
void live_values_take(const struct live *l, struct live_attempt *a, const uint8_t *bytes, size_t n);
void live_values_end(struct live_attempt *a);
void live_values_done(struct live_attempt *a);
/* Collects with A->number and A->buffer_mb, and closes the dump.  MOST_BYTES and TIMEOUT_MS as for
 * gcd_ipc_collect. */
void live_attempt_run(const struct live *l, struct live_attempt *a, uint64_t most_bytes,
                      uint64_t timeout_ms);
void live_attempt_done(struct live_attempt *a);
/* Takes the next N bytes of the stream.  GCD_END: the walk is whole; an error: no more bytes are
 * wanted, close the session. */
gcd_status live_stream_take(const struct live *l, struct live_attempt *a, const uint8_t *bytes,
                            size_t n, struct gcd_error *err);
/* Were events lost that a larger buffer would have kept? */
bool live_attempt_lost(const struct live_attempt *a);
/*
 * Are types missing that the runtime may have described to another listener?  There are other
 * causes: when that listener goes, .NET 8 and 9 walk the heap once more (measured).
 */
bool live_attempt_undescribed(const struct live_attempt *a);
/* Is A better than B?  An attempt that broke off is never better. */
bool live_attempt_better(const struct live_attempt *a, const struct live_attempt *b);

/* live.c: is nobody else connected to the process?  Waits for it for up to WAIT_MS; false also when
 * that is not known. */
bool live_is_alone(const struct live *l, unsigned wait_ms);

/* live.c: adds the memory of the process, which was read before it was disturbed. */
void live_keep_memory(const struct live *l, struct gcd_dump *d);

struct gcd_direct_result;
/* live_direct.c: what such a dump would cost; stops nothing. */
gcd_status live_estimate_directly(const struct live *l, struct gcd_direct_result *ret,
                                  struct gcd_error *err);
/* Opens a dump of the memory of the process l->pid into RET. */
gcd_status live_take_directly(struct live *l, struct cli_dump *ret, struct gcd_error *err);
/* Reports that it failed, and how else the process can be dumped.  CLI_FAILED. */
enum cli_exit live_fail_directly(const struct live *l, gcd_status st, const struct gcd_error *err);

/* nicely.c */
typedef void (*live_work_fn)(void *ctx);
/*
 * Calls FN in a thread with lower priority and waits for it, so that the suspended process gets the
 * processors first: the server GC keeps all processors busy during the walk, and the walk waits for
 * whoever reads (measured in tests/bench; no gain with the workstation GC).  No effect where the
 * scheduler has both processes in different groups.
 */
void live_nicely(live_work_fn fn, void *ctx);

/* live_summary.c */
void live_say_attempt(const struct live *l, const struct live_attempt *a);
void live_say_summary(const struct live *l, const struct live_attempt *a);
/* The same for a direct dump D, which took DURATION_MS. */
void live_say_direct(const struct live *l, const struct gcd_dump *d,
                     const struct gcd_direct_result *r, uint64_t duration_ms);

#endif
#endif
