#include "live/live_sites.h"

#include "live/target.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "input/fail.h"
#include "input/memory.h"
#include "live/clock.h"
#include "live/live.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

#define KEYWORD_GC       UINT64_C(0x1)
#define KEYWORD_SAMPLING UINT64_C(0x80000000000) /* AllocationSampling */
#define FIRST_RANDOM     10u                     /* .NET version with random samples */
#define FIRST_SUPPORTED  8u
#define BUFFER_MB        256u
#define ANSWER_MS        10000u
#define STOP_MS          60000u
#define LOOK_MS          100
/* So long it is watched whether a background collection runs, and so long its end is awaited. */
#define LOOK_FOR_BACKGROUND_MS 1000u
#define BACKGROUND_MS          30000u
/* The runtime's walk for the ranges, per object: alone, and on a busy machine (measured). */
#define WALK_NS_LEAST 13u
#define WALK_NS_MOST  60u
/* A typical object, with its header. */
#define OBJECT_BYTES 80u

/* A session in a thread of its own. */
struct session {
    struct live_sites *s;
    enum gcd_site_stream stream;
    struct gcd_ipc_collect_options options;
    pthread_t thread;
    bool started, joined;
    atomic_bool end, ended;
    _Atomic uint64_t bytes;
    gcd_status status;
    struct gcd_error err;
};

struct live_sites {
    const struct cli_args *args;
    struct cli_dump target;
    char path[GCD_IPC_PATH_MAX];
    struct live_lock lock;
    struct gcd_site_recorder *recorder;
    struct session sessions[GCD_SITE_STREAMS];
    uint64_t start_ms;
    gcd_cancel_flag abort; /* stops the sessions */
    unsigned interrupts;
    bool too_long; /* a pause was, and that has been said */
    char verb[96];
};

/* ---- sessions ---- */

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct session *session = ctx;
    atomic_fetch_add(&session->bytes, n);
    gcd_status st = gcd_site_recorder_feed(session->s->recorder, session->stream, bytes, n, err);
    return st == GCD_OK && atomic_load(&session->end) ? GCD_END : st;
}

static bool on_idle(void *ctx, uint64_t silent_ms)
{
    (void)silent_ms;
    return atomic_load(&((struct session *)ctx)->end);
}

static void *run_session(void *ctx)
{
    struct session *session = ctx;
    struct gcd_ipc_collect_result result;
    session->err = (struct gcd_error)GCD_ERROR_INIT;
    session->status = gcd_ipc_collect(&session->options, &result, &session->err);
    atomic_store(&session->ended, true);
    return NULL;
}

static enum cli_exit interrupted(const struct live_sites *s)
{
    cli_progress_end();
    if (cli_timed_out)
        return cli_error(CLI_FAILED, s->target.subject,
                         "the time is up (--timeout); nothing was written");
    return cli_error(CLI_INTERRUPTED, s->target.subject, "interrupted; nothing was written");
}

static enum cli_exit start_session(struct live_sites *s, enum gcd_site_stream stream,
                                   uint64_t keywords, uint32_t level, uint32_t buffer_mb)
{
    struct session *session = &s->sessions[stream];
    bool stacks = stream == GCD_SITE_ALLOCATIONS;
    session->s = s;
    session->stream = stream;
    session->options = (struct gcd_ipc_collect_options){
        .socket_path = s->path,
        .keywords = keywords,
        .level = level,
        .buffer_mb = buffer_mb,
        .stacks = stacks,
        .rundown = stacks,
        .on_data = on_data,
        .on_idle = on_idle,
        .ctx = session,
        .cancel = &s->abort,
    };
    if (cli_thread_start(&session->thread, run_session, session) != 0)
        return cli_no_memory(s->target.subject);
    session->started = true;
    uint64_t start = live_now_ms();
    while (atomic_load(&session->bytes) == 0 && !atomic_load(&session->ended)) {
        if (live_now_ms() - start > ANSWER_MS)
            return cli_error(CLI_FAILED, s->target.subject,
                             "does not answer: it is stopped, or busy with another client");
        if (cli_canceled)
            return interrupted(s);
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS / 10 * 1000000L }, NULL);
    }
    return atomic_load(&session->bytes) > 0 ? CLI_DONE : cli_fail(s->target.subject, &session->err);
}

static void join_session(struct session *session)
{
    if (session->started && !session->joined)
        (void)pthread_join(session->thread, NULL);
    session->joined = true;
}

/* ---- waiting ---- */

/* A first interrupt ends the wait, as *RET_EARLY; a second one the command. */
static bool is_interrupted(struct live_sites *s, bool *ret_early)
{
    if (!cli_canceled)
        return false;
    s->interrupts++;
    if (s->interrupts > 1 || cli_timed_out) {
        atomic_store(&s->abort, true);
        return true;
    }
    cli_clear_cancel();
    *ret_early = true;
    return false;
}

static void look(struct live_sites *s, const char *what, uint64_t spent_ms, uint64_t all_ms)
{
    struct gcd_site_progress p = gcd_site_recorder_progress(s->recorder);
    char n[CLI_NUMBER_BYTES];
    if (all_ms != UINT64_MAX)
        (void)snprintf(s->verb, sizeof s->verb, "%s %" PRIu64 " of %" PRIu64 " s, %s samples", what,
                       spent_ms / 1000, all_ms / 1000, cli_number(p.samples, true, n));
    else
        (void)snprintf(s->verb, sizeof s->verb, "%s, %s samples", what,
                       cli_number(p.samples, true, n));
    cli_progress_steps(s->verb, spent_ms, all_ms);
    (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
}

/* A session ended although nobody asked it to. */
static enum cli_exit session_lost(struct live_sites *s, struct session *session)
{
    join_session(session);
    cli_progress_end();
    return session->status != GCD_OK
               ? cli_fail(s->target.subject, &session->err)
               : cli_error(CLI_FAILED, s->target.subject,
                           "ended before its heap was walked; nothing was written");
}

static bool has_ended(const struct live_sites *s, enum gcd_site_stream stream)
{
    return atomic_load(&s->sessions[stream].ended);
}

/* Did a background collection pause the process for too long? */
static bool pauses_too_long(struct live_sites *s)
{
    uint64_t most = s->args->sites.max_pause_ms;
    uint64_t longest = gcd_site_recorder_progress(s->recorder).longest_pause_ns / 1000000;
    if (most == 0 || longest <= most)
        return false;
    if (s->too_long)
        return true;
    s->too_long = true;
    cli_progress_end();
    cli_say(s->target.subject,
            "a background collection paused it for %" PRIu64
            " ms: its objects are not followed any longer (--max-pause %" PRIu64 ")",
            longest, most);
    return true;
}

/* The objects are followed through the next background collection, which pauses the process.  After
 * the end of one that runs, it is the furthest away. */
static enum cli_exit wait_for_background(struct live_sites *s)
{
    uint64_t start = live_now_ms(), spent = 0;
    bool early = false, runs = false, said = false;
    while (!early && !has_ended(s, GCD_SITE_COLLECTIONS) &&
           spent < (runs ? BACKGROUND_MS : LOOK_FOR_BACKGROUND_MS)) {
        bool ran = runs;
        runs = gcd_site_recorder_progress(s->recorder).background_runs;
        if (ran && !runs)
            break;
        if (runs && !said && !s->args->quiet) {
            cli_progress_end();
            cli_say(s->target.subject,
                    "a background collection is running: sampling begins at its end");
            said = true;
        }
        look(s, runs ? "waiting for a collection" : "looking at collections", spent,
             runs ? BACKGROUND_MS : LOOK_FOR_BACKGROUND_MS);
        spent = live_now_ms() - start;
        if (is_interrupted(s, &early))
            return interrupted(s);
    }
    if (runs && spent >= BACKGROUND_MS && !s->args->quiet) {
        cli_progress_end();
        cli_say(s->target.subject, "it has not ended after %u s: sampling begins now",
                BACKGROUND_MS / 1000);
    }
    return CLI_DONE;
}

/* The window: samples are taken. */
static enum cli_exit sample(struct live_sites *s, bool *ret_early)
{
    uint64_t window_ms = s->args->sites.window_s * 1000, start = live_now_ms(), spent = 0;
    struct session *session = &s->sessions[GCD_SITE_ALLOCATIONS];
    while (spent < window_ms && !*ret_early) {
        if (has_ended(s, GCD_SITE_ALLOCATIONS))
            return session_lost(s, session);
        look(s, "sampling", spent, window_ms);
        spent = live_now_ms() - start;
        if (is_interrupted(s, ret_early))
            return interrupted(s);
        if (pauses_too_long(s))
            *ret_early = true;
    }
    gcd_site_recorder_close_window(s->recorder);
    if (*ret_early && !s->args->quiet) {
        cli_progress_end();
        cli_say(s->target.subject, "sampled for %.1f s instead of %" PRIu64 " s",
                (double)spent / 1000, s->args->sites.window_s);
    }
    return CLI_DONE;
}

/* Ends the session of the allocations, which sends its rundown. */
static enum cli_exit end_allocations(struct live_sites *s)
{
    struct session *session = &s->sessions[GCD_SITE_ALLOCATIONS];
    uint64_t start = live_now_ms();
    atomic_store(&session->end, true);
    while (!atomic_load(&session->ended) && live_now_ms() - start < STOP_MS) {
        bool ignored = false;
        look(s, "receiving methods", 0, UINT64_MAX);
        if (is_interrupted(s, &ignored))
            return interrupted(s);
    }
    if (!atomic_load(&session->ended))
        atomic_store(&s->abort, true);
    join_session(session);
    cli_progress_end();
    return session->status == GCD_OK ? CLI_DONE : cli_fail(s->target.subject, &session->err);
}

/* Objects are followed until the walk: of an object that was not, whose memory holds another one of
 * its type and size, nobody can tell that it died. */
static bool follows_enough(struct live_sites *s)
{
    return s->args->sites.no_movement || pauses_too_long(s);
}

/* Lets short-lived objects die. */
static enum cli_exit settle(struct live_sites *s, bool early)
{
    uint64_t settle_ms = s->args->sites.settle_s * 1000, start = live_now_ms(), spent = 0;
    struct session *session = &s->sessions[GCD_SITE_ALLOCATIONS];
    while (spent < settle_ms && !early) {
        if (has_ended(s, GCD_SITE_COLLECTIONS))
            return session_lost(s, &s->sessions[GCD_SITE_COLLECTIONS]);
        if (follows_enough(s))
            atomic_store(&session->end, true);
        look(s, atomic_load(&session->end) ? "settling" : "following", spent, settle_ms);
        spent = live_now_ms() - start;
        if (is_interrupted(s, &early))
            return interrupted(s);
    }
    if (early && spent < settle_ms && !s->args->quiet) {
        cli_progress_end();
        cli_say(s->target.subject,
                "waited %.1f s instead of %" PRIu64 " s for short-lived objects to die",
                (double)spent / 1000, s->args->sites.settle_s);
    }
    if (atomic_load(&session->end) || follows_enough(s))
        return end_allocations(s);
    gcd_site_recorder_hold(s->recorder); /* they are followed until the walk */
    cli_progress_end();
    return CLI_DONE;
}

/* ---- before ---- */

/* The buffer, in MiB; 0 after a message. */
static uint32_t buffer_of(struct live_sites *s)
{
    struct gcd_ipc_memory memory;
    gcd_ipc_memory(s->target.pid, &memory);
    struct gcd_ipc_budget budget = gcd_ipc_budget(&memory, 0);
    if (budget.max_buffer_mb == 0 && !s->args->live.force) {
        (void)cli_error(CLI_FAILED, s->target.subject,
                        "%s has only %" PRIu64
                        " MiB left, which is too little for an event buffer; --force continues "
                        "anyway",
                        memory.limit == GCD_IPC_LIMIT_CGROUP ? "the cgroup of the process"
                                                             : "the machine",
                        memory.room_bytes >> 20);
        return 0;
    }
    uint64_t objects = memory.rss_bytes / OBJECT_BYTES;
    if (!s->args->quiet && !s->args->sites.no_movement && memory.rss_bytes != 0)
        cli_say(s->target.subject,
                "sampling for %" PRIu64 " s; until the heap is walked, each background collection "
                "pauses the process up to about %" PRIu64 " to %" PRIu64 " ms longer%s",
                s->args->sites.window_s, objects * WALK_NS_LEAST / 1000000 + 1,
                objects * WALK_NS_MOST / 1000000 + 1,
                s->args->sites.max_pause_ms == 0 ? " (--max-pause ends that)" : "");
    return budget.max_buffer_mb == 0          ? 16
           : budget.max_buffer_mb < BUFFER_MB ? budget.max_buffer_mb
                                              : BUFFER_MB;
}

/* The keywords and the level of the allocations for this runtime. */
static enum cli_exit choose_events(const struct live_sites *s, uint64_t *ret_keywords,
                                   uint32_t *ret_level)
{
    struct gcd_ipc_process_info info;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_ipc_process_info(s->path, ANSWER_MS, &info, &err);
    if (st != GCD_OK && st != GCD_E_UNSUPPORTED)
        return cli_fail(s->target.subject, &err);
    unsigned long major = st == GCD_OK ? strtoul(info.runtime_version, NULL, 10) : 0;
    if (st == GCD_OK)
        gcd_ipc_process_info_done(&info);
    if (major < FIRST_SUPPORTED)
        return cli_error(CLI_FAILED, s->target.subject,
                         "its runtime is older than .NET %u, which sites needs", FIRST_SUPPORTED);
    *ret_keywords = KEYWORD_GC | (s->args->sites.no_movement ? 0 : LIVE_KEYWORD_MOVEMENT) |
                    (major >= FIRST_RANDOM ? KEYWORD_SAMPLING : 0);
    *ret_level = major >= FIRST_RANDOM ? 4 : 5;
    return CLI_DONE;
}

static enum cli_exit run_phases(struct live_sites *s)
{
    uint64_t keywords = 0;
    uint32_t level = 0, buffer_mb = 0;
    bool early = false;
    enum cli_exit e = choose_events(s, &keywords, &level);
    if (e == CLI_DONE && (buffer_mb = buffer_of(s)) == 0)
        e = CLI_FAILED;
    if (e == CLI_DONE)
        e = start_session(s, GCD_SITE_COLLECTIONS, KEYWORD_GC, 4, 16);
    if (e == CLI_DONE && !s->args->sites.no_movement)
        e = wait_for_background(s);
    if (e == CLI_DONE)
        e = start_session(s, GCD_SITE_ALLOCATIONS, keywords, level, buffer_mb);
    if (e == CLI_DONE)
        e = sample(s, &early);
    return e == CLI_DONE ? settle(s, early && s->interrupts > 0) : e;
}

enum cli_exit live_sites_begin(const struct cli_args *args, struct live_sites **ret)
{
    struct live_sites *s = *ret = calloc(1, sizeof *s);
    struct gcd_error err = GCD_ERROR_INIT;
    if (s == NULL)
        return cli_no_memory(NULL);
    s->args = args;
    struct gcd_context context = { .alloc = cli_limited_alloc() };
    enum cli_exit e = cli_find_target(args, &s->target, s->path);
    if (e == CLI_DONE && s->target.pid == 0)
        e = cli_error(CLI_FAILED, s->target.subject,
                      "the process is not visible from here; sites needs --pid or --name");
    if (e == CLI_DONE && args->live.lock == NULL)
        e = live_lock_take(args, s->target.subject, s->target.pid, s->path, &s->lock);
    if (e == CLI_DONE && gcd_site_recorder_new(&context, &s->recorder, &err) != GCD_OK)
        e = cli_fail(s->target.subject, &err);
    if (e == CLI_DONE && args->sites.no_movement)
        gcd_site_recorder_no_movement(s->recorder);
    s->start_ms = live_now_ms();
    cli_deadline(args->live.timeout_s);
    if (e == CLI_DONE)
        e = run_phases(s);
    if (e != CLI_DONE)
        atomic_store(&s->abort, true);
    return e;
}

const struct live_lock *live_sites_lock(const struct live_sites *s)
{
    return s->args->live.lock != NULL ? s->args->live.lock : &s->lock;
}

uint64_t live_sites_pid(const struct live_sites *s)
{
    return s->target.pid;
}

uint64_t live_sites_timeout_s(const struct live_sites *s)
{
    uint64_t all = s->args->live.timeout_s, spent = (live_now_ms() - s->start_ms) / 1000;
    return all == 0 ? 0 : spent < all ? all - spent : 1;
}

enum cli_exit live_sites_end(struct live_sites *s)
{
    struct session *session = &s->sessions[GCD_SITE_COLLECTIONS];
    enum cli_exit e = s->sessions[GCD_SITE_ALLOCATIONS].joined ? CLI_DONE : end_allocations(s);
    atomic_store(&session->end, true);
    join_session(session);
    if (e == CLI_DONE && session->status != GCD_OK)
        e = cli_fail(s->target.subject, &session->err);
    return e;
}

struct gcd_site_recorder *live_sites_recorder(struct live_sites *s)
{
    return s->recorder;
}

void live_sites_free(struct live_sites *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < GCD_SITE_STREAMS; i++) {
        if (s->sessions[i].started && !s->sessions[i].joined)
            atomic_store(&s->abort, true);
        join_session(&s->sessions[i]);
    }
    gcd_site_recorder_free(s->recorder);
    live_lock_release(&s->lock);
    free(s);
}

#else

enum cli_exit live_sites_begin(const struct cli_args *args, struct live_sites **ret)
{
    *ret = NULL;
    return cli_no_ipc(args->target.name);
}

const struct live_lock *live_sites_lock(const struct live_sites *s)
{
    (void)s;
    return NULL;
}

uint64_t live_sites_pid(const struct live_sites *s)
{
    (void)s;
    return 0;
}

uint64_t live_sites_timeout_s(const struct live_sites *s)
{
    (void)s;
    return 0;
}

enum cli_exit live_sites_end(struct live_sites *s)
{
    (void)s;
    return CLI_FAILED;
}

struct gcd_site_recorder *live_sites_recorder(struct live_sites *s)
{
    (void)s;
    return NULL;
}

void live_sites_free(struct live_sites *s)
{
    (void)s;
}

#endif
