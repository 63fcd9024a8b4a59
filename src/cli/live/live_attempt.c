#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/spool.h>

#include "args.h"
#include "input/memory.h"
#include "live/clock.h"
#include "live/live.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <string.h>

#define SILENCE_MS 5000u
/* A busy runtime closes the connection by which we found it only a while after we did: it was taken
 * for another tool's in 1 of 30 dumps under load. */
#define ALONE_MS  200u
#define SAMPLE_MS 100u
/* after this wait, a message says what it waits for; shorter than any wait that ends by itself */
#define PATIENCE_MS 8000u
/* Without progress for so long, it is the turn of the next process.  The garbage collection of a
 * large heap takes minutes. */
#define STALL_MS 300000u

struct progress {
    const struct live *l;
    struct live_attempt *a;
    uint64_t sampled_ms;
    enum gcd_ipc_step step;
    uint64_t bytes, news_ms;       /* last state, and when it last changed */
    bool told;                     /* the silence was reported */
    uint64_t walk_events, walk_ms; /* of the heap walk, and when their number last changed */
};

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    const struct progress *p = ctx;
    return live_stream_take(p->l, p->a, bytes, n, err);
}

/*
 * Small events can be lost, too (measured, .NET 10 with a full buffer: no GCEnd came); then only
 * silence marks the end: of the walk, because a program that collects goes on sending.  The runtime
 * flushes its buffers every 100 ms.
 */
static bool on_idle(void *ctx, uint64_t silent_ms)
{
    struct progress *p = ctx;
    uint64_t events = gcd_dump_walk_events(p->a->dump);
    if (events != p->walk_events) {
        p->walk_events = events;
        p->walk_ms = live_now_ms() - silent_ms;
    }
    return events != 0 && live_now_ms() - p->walk_ms >= SILENCE_MS;
}

static void sample(struct progress *p)
{
    uint64_t now = live_now_ms();
    if (p->l->pid == 0 || now - p->sampled_ms < SAMPLE_MS)
        return;
    p->sampled_ms = now;
    uint64_t rss = gcd_ipc_resident(p->l->pid);
    if (rss > p->a->rss_peak)
        p->a->rss_peak = rss;
}

/* Once per attempt, even without a terminal, so that nobody wonders for an hour. */
static void report_silence(struct progress *p, enum gcd_ipc_step step, uint64_t bytes)
{
    uint64_t now = live_now_ms();
    if (p->news_ms == 0 || step != p->step || bytes != p->bytes) {
        p->step = step;
        p->bytes = bytes;
        p->news_ms = now;
    }
    if (p->told || p->l->args->quiet || now - p->news_ms < PATIENCE_MS)
        return;
    p->told = true;
    bool stopped = p->l->pid != 0 && gcd_ipc_stopped(p->l->pid);
    const char *what = stopped ? "it is stopped by a signal or a debugger, and must continue first"
                       : step == GCD_IPC_STEP_GC
                           ? "it answers after the garbage collection and the heap walk, which "
                             "take minutes with a large heap"
                           : "still waiting for an answer";
    cli_say(p->l->subject, "has been silent for %u s: %s (--timeout: %" PRIu64 " s)",
            PATIENCE_MS / 1000, what, cli_timeout_ms(p->l->args) / 1000);
}

static void on_step(void *ctx, enum gcd_ipc_step step, uint64_t bytes)
{
    static const char *const verbs[] = {
        [GCD_IPC_STEP_CONNECT] = "connecting",
        [GCD_IPC_STEP_GC] = "waiting for the garbage collection",
        [GCD_IPC_STEP_READ] = "receiving",
        [GCD_IPC_STEP_STOP] = "stopping",
        [GCD_IPC_STEP_DONE] = "done",
    };
    sample(ctx);
    report_silence(ctx, step, bytes);
    cli_progress((void *)(uintptr_t)verbs[step], bytes, UINT64_MAX);
}

static gcd_status prepare(const struct live *l, struct live_attempt *a)
{
    struct gcd_input_options spool = { .context = { .alloc = cli_alloc() },
                                       .reread = true,
                                       .spool_dir = l->spool_dir,
                                       .keep_room = cli_keeps_room(l->args) };
    gcd_status st = l->spool_dir != NULL ? gcd_input_new_spool(&spool, &a->spool, &a->err) : GCD_OK;
    return st == GCD_OK ? gcd_dump_new(l->options, &a->dump, &a->err) : st;
}

struct collection {
    const struct gcd_ipc_collect_options *options;
    struct live_attempt *a;
    gcd_status status;
};

static void collect_now(void *ctx)
{
    struct collection *c = ctx;
    c->status = gcd_ipc_collect(c->options, &c->a->result, &c->a->err);
}

static gcd_status collect(const struct live *l, struct live_attempt *a, uint64_t most_bytes,
                          uint64_t timeout_ms)
{
    static const enum gcd_ipc_strategy strategies[] = {
        [CLI_STRATEGY_AUTO] = GCD_IPC_STRATEGY_AUTO,
        [CLI_STRATEGY_SINGLE] = GCD_IPC_STRATEGY_SINGLE,
        [CLI_STRATEGY_DRAIN] = GCD_IPC_STRATEGY_DRAIN,
    };
    struct progress p = { .l = l, .a = a };
    struct gcd_ipc_collect_options options = {
        .socket_path = l->port == NULL ? l->path : NULL,
        .port = l->port,
        .strategy = strategies[l->args->live.strategy],
        .keywords =
            l->args->live.movement ? GCD_IPC_KEYWORDS_HEAP_SNAPSHOT | LIVE_KEYWORD_MOVEMENT : 0,
        .ranges = !l->args->live.no_ranges,
        .buffer_mb = a->buffer_mb,
        .most_bytes = most_bytes,
        /* a listener inside the process may have the types, too: then the next attempt gets them */
        .alone = a->number == 1 && live_is_alone(l, ALONE_MS),
        .rundown = l->args->live.rundown,
        /* the finder lists what the process maps */
        .no_modules = l->pid != 0 && gcd_ipc_is_composite(l->pid),
        .timeout_ms = timeout_ms,
        .stall_ms = l->args->live.must_progress ? STALL_MS : 0,
        .on_data = on_data,
        .on_step = on_step,
        .on_idle = on_idle,
        .ctx = &p,
        .cancel = &cli_canceled,
    };
    uint64_t start = live_now_ms();
    struct collection c = { .options = &options, .a = a };
    /* then a late reader loses nothing */
    bool fits = most_bytes != 0 && most_bytes <= a->buffer_mb * LIVE_MIB;
    if (fits && l->pid != 0 && gcd_ipc_server_gc(l->pid))
        live_nicely(collect_now, &c);
    else
        collect_now(&c);
    a->duration_ms = live_now_ms() - start;
    char why[sizeof a->err.msg];
    if (c.status == GCD_E_PEER && a->err.reason == GCD_ERROR_TIMEOUT && l->pid != 0 &&
        gcd_dump_walk_events(a->dump) == 0 && gcd_ipc_silence(l->pid, why, sizeof why))
        memcpy(a->err.msg, why, sizeof why);
    a->rss_after = l->pid != 0 ? gcd_ipc_resident(l->pid) : 0;
    cli_progress_end();
    return c.status;
}

void live_attempt_run(const struct live *l, struct live_attempt *a, uint64_t most_bytes,
                      uint64_t timeout_ms)
{
    a->err = (struct gcd_error)GCD_ERROR_INIT;
    a->status = prepare(l, a);
    if (a->status == GCD_OK)
        live_values_begin(l, a);
    if (a->status == GCD_OK)
        a->status = collect(l, a, most_bytes, timeout_ms);
    bool refused = a->refusal.code != GCD_OK;
    gcd_status decoded = a->dump != NULL ? gcd_dump_decoded(a->dump, NULL) : GCD_NEED_MORE;
    if (refused && a->status != GCD_E_CANCELED) { /* the broken session is our own doing */
        a->err = a->refusal;
        a->status = a->refusal.code;
    }
    bool all = a->whole && (a->status == GCD_E_PEER || a->status == GCD_E_LIMIT);
    /* the verdict says what is missing after that */
    if (all || (refused && (decoded == GCD_END || decoded < 0))) {
        if (decoded >= 0) /* the verdict says that, too */
            cli_say(l->subject, "%s", a->err.msg);
        a->status = GCD_OK;
    }
    a->ended = a->status == GCD_OK;
    if (a->status == GCD_E_CANCELED || a->dump == NULL ||
        (!a->ended && a->result.stream_bytes == 0))
        return;
    struct gcd_error close_err = GCD_ERROR_INIT;
    gcd_status st = gcd_dump_close(a->dump, a->spool, &close_err);
    a->usable = st == GCD_OK;
    if (a->usable)
        live_values_end(a);
    if (a->ended && st != GCD_OK) {
        a->status = st;
        a->ended = !refused;
        if (decoded >= 0)
            a->err = close_err;
    }
}

void live_attempt_done(struct live_attempt *a)
{
    gcd_dump_free(a->dump);
    gcd_input_free(a->spool);
    live_values_done(a);
    *a = (struct live_attempt){ .number = 0 };
}

bool live_attempt_lost(const struct live_attempt *a)
{
    const struct gcd_verdict *v = &gcd_dump_summary(a->dump)->verdict;
    for (size_t i = 0; i < v->reason_count; i++)
        switch (v->reasons[i].code) {
        case GCD_REASON_EVENTS_LOST:
        case GCD_REASON_NODE_EVENTS_MISSING:
        case GCD_REASON_EDGE_EVENTS_MISSING:
        case GCD_REASON_ROOT_EVENTS_MISSING:
        case GCD_REASON_DEPENDENT_EVENTS_MISSING:
        case GCD_REASON_EDGES_UNBALANCED:
        case GCD_REASON_NO_GC_END:
            return true;
        default:
            break;
        }
    return false;
}

bool live_attempt_undescribed(const struct live_attempt *a)
{
    const struct gcd_summary *summary = gcd_dump_summary(a->dump);
    const struct gcd_verdict *v = &summary->verdict;
    for (size_t i = 0; i < v->reason_count; i++)
        if (v->reasons[i].code == GCD_REASON_TYPES_UNDESCRIBED)
            return summary->types_undescribed >
                   0; /* otherwise they are described, only without names */
    return false;
}

bool live_attempt_better(const struct live_attempt *a, const struct live_attempt *b)
{
    if (a->status != GCD_OK || b->status != GCD_OK)
        return a->status == GCD_OK;
    bool a_complete = gcd_dump_summary(a->dump)->verdict.complete,
         b_complete = gcd_dump_summary(b->dump)->verdict.complete;
    const struct gcd_summary *fa = gcd_dump_summary(a->dump), *fb = gcd_dump_summary(b->dump);
    if (a_complete != b_complete)
        return a_complete;
    if (fa->trace.loss_verified && fb->trace.loss_verified &&
        fa->trace.lost_events != fb->trace.lost_events)
        return fa->trace.lost_events < fb->trace.lost_events;
    return fa->objects + fa->edges > fb->objects + fb->edges;
}

#endif
