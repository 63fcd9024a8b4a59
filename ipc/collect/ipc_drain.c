/*
 * One collection.  Up to three event sessions, each with one connection for its stream and one for
 * its stop, share one loop:
 *
 *     flush    open ─► reply ─► stop ─► end     the runtime forgets which types it has reported
 *     record                         open ─► reply ─► bytes ─► ... bytes ─► stop ─► end
 *     trigger                                  open ─► (GC and heap walk) ─► reply ─► stop ─► end
 *
 * The strategy "single" has no trigger: the recording session forces the GC itself, and .NET 5 to
 * 10 reply and deliver only afterwards.
 *
 * The runtime serves its port with one thread.  Before it answers StopTracing it writes the rest of
 * the stream with blocking calls while holding its lock.  We must therefore keep reading until the
 * stream ends, or both sides wait forever.  This also applies after a failure; the bytes are then
 * read and discarded.  Both stops are sent at once, the recording session's first: they wait in the
 * socket's queue and are served in that order, even if this process dies.  A runtime that connects
 * to us takes one request at a time; the stops then wait here, in the same order.
 *
 * The collection is over when every stream has ended and every stop was answered, or when time is
 * up.  Only the answer to the request that forces the GC may take any time: all other waits are
 * bounded.
 */
#include "ipc/collect/ipc_drain.h"

#include <inttypes.h>

#include <uv.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "ipc/connect/ipc_conn.h"
#include "ipc/collect/ipc_ask.h"
#include "ipc/collect/ipc_info.h"
#include "ipc/wire/ipc_wire.h"

enum {
    TICK_MS = 100, /* how often cancel and time are checked, in addition to every read */
    STREAM_READ_BYTES = 256 * 1024,
    SMALL_READ_BYTES = 4096,
    /* wait for the first bytes of a session that only records; measured, .NET 8 to 10: they come at
       once */
    HEAD_MS = 2000,
    /*
     * Delay between these bytes and the trigger.  The bytes come from the thread that serves the
     * port; the thread that drains the session is still starting, and does not run once the GC has
     * suspended the process.  Measured, .NET 8 and 10: without a delay nothing was drained before
     * the end of the walk in 5 of 24 runs; with 0.3 ms or more in none of 96.
     */
    SETTLE_MS = 20,
    LADDER_STEPS = GCD_WIRE_COLLECT_TRACING6 - GCD_WIRE_COLLECT_TRACING + 1
};

/* The request for a session and its stream; REFUSED: it never had a number. */
enum leg_stream { LEG_IDLE, LEG_OPENING, LEG_OPEN, LEG_ENDED, LEG_REFUSED };
/* StopTracing; FAILED: it could not be sent, or no answer is expected any more. */
enum leg_stop { STOP_IDLE, STOP_ASKED, STOP_FAILED, STOP_DONE };

/* One event session in the runtime. */
struct leg {
    struct session *s;
    enum gcd_leg kind;
    /* one connection per command tried; the last one is in use */
    struct gcd_conn streams[LADDER_STEPS];
    size_t n_tries;
    struct gcd_conn stop;
    uint64_t id;
    enum leg_stream stream;
    enum leg_stop stopping;
};

struct session {
    const struct gcd_ipc_collect_options *o;
    const struct gcd_session_graces *graces;
    struct gcd_ipc_collect_result *ret;

    uv_loop_t loop;
    struct gcd_dial dial;
    uv_timer_t tick;
    uv_timer_t settle;              /* delay before the trigger */
    struct leg legs[GCD_LEG_COUNT]; /* by enum gcd_leg */

    enum gcd_ipc_strategy strategy;
    enum gcd_wire_command command; /* the newest command that was not refused */
    bool single_needs_6, answers_after_walk;

    enum gcd_ipc_step step;
    bool whole;   /* the caller has everything it wants */
    bool discard; /* the caller gets no more bytes */
    bool closing;

    uint64_t bytes_before_gc;
    uint64_t last_data_ms;  /* time of the last data or reply */
    uint64_t timeout_at_ms; /* 0 = never */
    /* the last progress: when, and how many bytes there were then */
    uint64_t progress_ms, progress_bytes;
    uint64_t give_up_at_ms; /* 0 = never; set while waiting for something that needs no heap walk */
    uint64_t latest_at_ms;  /* the same, regardless of incoming data; 0 = not stopping yet */

    gcd_status status; /* the first failure */
    struct gcd_error err;
};

static const char *const leg_names[GCD_LEG_COUNT] = {
    [GCD_LEG_FLUSH] = "the event session that makes the runtime report its types again",
    [GCD_LEG_RECORD] = "the event session",
    [GCD_LEG_TRIGGER] = "the event session that triggers the garbage collection",
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static void set_step(struct session *s, enum gcd_ipc_step step)
{
    s->step = step;
    if (s->o->on_step != NULL)
        s->o->on_step(s->o->ctx, step, s->ret->stream_bytes);
}

static void close_all(struct session *s)
{
    s->closing = true;
    for (size_t i = 0; i < GCD_LEG_COUNT; i++) {
        for (size_t k = 0; k < s->legs[i].n_tries; k++)
            gcd_conn_close(&s->legs[i].streams[k]);
        gcd_conn_close(&s->legs[i].stop);
    }
    gcd_dial_close(&s->dial);
    if (!uv_is_closing((uv_handle_t *)&s->tick))
        uv_close((uv_handle_t *)&s->tick, NULL);
    if (!uv_is_closing((uv_handle_t *)&s->settle))
        uv_close((uv_handle_t *)&s->settle, NULL);
}

/* Only the first failure is reported; the others are its consequences. */
static void note(struct session *s, gcd_status st, const struct gcd_error *err)
{
    if (s->status != GCD_OK)
        return;
    s->status = st;
    s->err = *err;
}

static bool has_ended(const struct leg *l)
{
    return l->stream >= LEG_ENDED;
}

static bool was_open(const struct leg *l)
{
    return l->stream == LEG_OPEN || l->stream == LEG_ENDED;
}

static bool is_opening(const struct leg *l)
{
    return l->stream == LEG_OPENING;
}

static bool is_stopping(const struct leg *l)
{
    return l->stopping == STOP_ASKED;
}

/* Is a request for a session unanswered?  The runtime serves nothing else until then. */
static bool is_pending(const struct session *s)
{
    for (size_t i = 0; i < GCD_LEG_COUNT; i++)
        if (is_opening(&s->legs[i]))
            return true;
    return false;
}

static bool is_over(const struct leg *l)
{
    return l->stream == LEG_IDLE || (has_ended(l) && l->stopping != STOP_ASKED);
}

static void open_leg(struct session *s, enum gcd_leg kind);

/* Something has ended: decide what comes next. */
static void advance(struct session *s)
{
    if (s->closing)
        return;
    for (size_t i = 0; i < GCD_LEG_COUNT; i++)
        if (!is_over(&s->legs[i]))
            return;
    if (s->status == GCD_OK && s->legs[GCD_LEG_RECORD].stream == LEG_IDLE)
        open_leg(s, GCD_LEG_RECORD);
    else
        close_all(s);
}

/* ---- stopping ---- */

/* The leg whose answer is missing: the runtime answers in order. */
static const struct leg *silent_leg(const struct session *s)
{
    for (size_t i = 0; i < GCD_LEG_COUNT; i++)
        if (is_opening(&s->legs[i]) || is_stopping(&s->legs[i]))
            return &s->legs[i];
    return NULL;
}

/* How long to wait for the answer of L, which is silent. */
static uint64_t patience_ms(const struct leg *l)
{
    const struct gcd_session_graces *g = l->s->graces;
    return l->kind == GCD_LEG_RECORD && is_stopping(l) ? g->rundown_ms : g->answer_ms;
}

/* The runtime writes the end of the stream before it answers the stop, so after the answer it is
 * either here or will never come. */
static void limit_stop_time(struct session *s)
{
    const struct leg *l = s->status == GCD_OK ? silent_leg(s) : NULL;
    uint64_t now = now_ms();
    if (s->latest_at_ms == 0)
        s->latest_at_ms = now + s->graces->farewell_ms;
    s->give_up_at_ms = now + (l != NULL ? patience_ms(l) : s->graces->stop_ms);
    if (s->give_up_at_ms > s->latest_at_ms)
        s->give_up_at_ms = s->latest_at_ms;
}

static void stop_ended(struct leg *l)
{
    if (l->stopping == STOP_ASKED)
        l->stopping = STOP_FAILED;
    gcd_conn_close(&l->stop);
    limit_stop_time(l->s);
    advance(l->s);
}

static void stop_failed(struct leg *l, gcd_status st, struct gcd_error *err)
{
    gcd_error_wrap(err, "cannot stop %s", leg_names[l->kind]);
    note(l->s, st, err);
    stop_ended(l); /* a process that ends by itself still writes its stream to the end */
}

static void on_stop_reply(struct gcd_conn *c, const struct gcd_wire_header *header,
                          const uint8_t *payload, size_t n)
{
    struct leg *l = c->owner;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t id = 0;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &err);
    if (st == GCD_OK)
        st = gcd_wire_decode_session_id(payload, n, &id, &err);
    if (st == GCD_OK && id != l->id)
        st = gcd_fail(&err, GCD_E_FORMAT,
                      "the runtime stopped session 0x%" PRIx64 " instead of 0x%" PRIx64, id, l->id);
    if (st == GCD_OK) {
        l->stopping = STOP_DONE;
        stop_ended(l);
    } else {
        stop_failed(l, st, &err);
    }
}

static void on_stop_end(struct gcd_conn *c, gcd_status st, const struct gcd_error *err)
{
    /* The connection is closed once it has its reply, so this is an end without one. */
    struct gcd_error e = *err;
    stop_failed(c->owner, st, &e);
}

static const struct gcd_conn_ops stop_ops = { .on_reply = on_stop_reply, .on_end = on_stop_end };

static void ask_stop(struct leg *l)
{
    struct session *s = l->s;
    uint8_t msg[GCD_WIRE_REQUEST_MAX];
    size_t n = 0;
    struct gcd_error err = GCD_ERROR_INIT;
    if (l->stream != LEG_OPEN || l->stopping != STOP_IDLE)
        return;
    l->stopping = STOP_ASKED;
    if (l->kind != GCD_LEG_FLUSH)
        set_step(s, GCD_IPC_STEP_STOP);
    gcd_status st = gcd_wire_encode_stop(l->id, msg, sizeof msg, &n, &err);
    struct gcd_conn_setup setup = { .loop = &s->loop,
                                    .dial = &s->dial,
                                    .ops = &stop_ops,
                                    .owner = l,
                                    .read_bytes = SMALL_READ_BYTES };
    if (st == GCD_OK)
        st = gcd_conn_open(&l->stop, &setup, msg, n, &err);
    if (st == GCD_OK) {
        limit_stop_time(s);
        return;
    }
    /* The port of a session that was just open is gone, so the process is gone. */
    if (err.reason == GCD_ERROR_STALE_SOCKET || err.reason == GCD_ERROR_NO_SOCKET)
        st = gcd_fail_gone(&err);
    stop_failed(l, st, &err);
}

/*
 * In this order.  Measured, .NET 8 and 9: while the trigger is open, every stop forces another GC,
 * and while the recording session is open that GC is recorded into it: twice the data, and a second
 * full pause.
 */
static void ask_stops(struct session *s)
{
    for (size_t i = 0; i < GCD_LEG_COUNT; i++)
        ask_stop(&s->legs[i]);
}

/* Wait for the trigger's answer: until then it cannot be stopped, and the runtime serves no stop.
 */
static void stop_if_whole(struct session *s)
{
    if (s->whole && !is_pending(s))
        ask_stops(s);
}

/* The collection has failed: leave, but stop the sessions in the runtime first. */
static void fail(struct session *s, gcd_status st, const struct gcd_error *err)
{
    if (s->status != GCD_OK || s->closing)
        return;
    note(s, st, err);
    s->discard = true;
    limit_stop_time(s);
    ask_stops(s);
    if (is_pending(s))
        s->give_up_at_ms = now_ms() + s->graces->reply_ms;
    advance(s);
}

/* ---- the streams ---- */

static void give_up(struct session *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    /* If the stream has ended, the dump is complete with or without the answer. */
    if (!has_ended(&s->legs[GCD_LEG_RECORD])) {
        const struct leg *l = silent_leg(s);
        if (s->latest_at_ms != 0 && s->give_up_at_ms == s->latest_at_ms)
            (void)gcd_fail(&err, GCD_E_PEER,
                           "the event stream did not end within %" PRIu64
                           " ms after the session was stopped",
                           s->graces->farewell_ms);
        else if (l != NULL)
            (void)gcd_fail(&err, GCD_E_PEER,
                           "cannot %s %s: no answer within %" PRIu64
                           " ms, the process is stopped, or busy with another client",
                           is_opening(l) ? "start" : "stop", leg_names[l->kind], patience_ms(l));
        else
            (void)gcd_fail(&err, GCD_E_PEER,
                           "the event stream did not end after the session was stopped");
        note(s, gcd_because(&err, GCD_ERROR_TIMEOUT, GCD_E_PEER), &err);
    }
    close_all(s);
}

/* The runtime reported the end of the walk and sends every 100 ms: if nothing has come since,
 * nothing will. */
static void look_at_silence(struct session *s)
{
    const struct leg *walks =
        &s->legs[s->strategy == GCD_IPC_STRATEGY_SINGLE ? GCD_LEG_RECORD : GCD_LEG_TRIGGER];
    struct gcd_error err = GCD_ERROR_INIT;
    if (s->answers_after_walk && was_open(walks) &&
        now_ms() - s->last_data_ms >= s->graces->answer_ms)
        fail(s,
             gcd_because(
                 &err, GCD_ERROR_TIMEOUT,
                 gcd_fail(&err, GCD_E_PEER,
                          "the runtime answered, but then sent nothing of a heap walk for %" PRIu64
                          " ms: it forced no garbage collection (Native AOT of .NET 8 and 9 never "
                          "does), or is stopped",
                          s->graces->answer_ms)),
             &err);
}

/* Has too little come for too long?  A few bytes now and then are no progress. */
static bool has_stalled(struct session *s, uint64_t now)
{
    if (s->progress_ms == 0 || s->ret->stream_bytes - s->progress_bytes >= GCD_IPC_PROGRESS_BYTES) {
        s->progress_ms = now;
        s->progress_bytes = s->ret->stream_bytes;
    }
    return s->o->stall_ms != 0 && now - s->progress_ms >= s->o->stall_ms;
}

static void look_at_cancel_and_time(struct session *s)
{
    const struct leg *record = &s->legs[GCD_LEG_RECORD];
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t now = now_ms();
    if (s->closing)
        return;
    if (s->give_up_at_ms != 0 && now >= s->give_up_at_ms) {
        give_up(s);
        return;
    }
    if (s->status != GCD_OK || has_ended(record))
        return;
    if (gcd_is_canceled(s->o->cancel)) {
        fail(s, gcd_fail(&err, GCD_E_CANCELED, "canceled"), &err);
    } else if (s->timeout_at_ms != 0 && now >= s->timeout_at_ms) {
        const char *what =
            is_pending(s) || !was_open(record)
                ? "the runtime has not answered (it does so after the garbage collection)"
            : record->stopping == STOP_IDLE ? "the heap walk was not over"
                                            : "the event stream had not ended";
        fail(s,
             gcd_because(
                 &err, GCD_ERROR_TIMEOUT,
                 gcd_fail(&err, GCD_E_PEER, "%s within %" PRIu64 " ms", what, s->o->timeout_ms)),
             &err);
    } else if (has_stalled(s, now)) {
        fail(s,
             gcd_because(&err, GCD_ERROR_TIMEOUT,
                         gcd_fail(&err, GCD_E_PEER,
                                  "the process sent less than %" PRIu64
                                  " KiB of events within %" PRIu64 " ms",
                                  GCD_IPC_PROGRESS_BYTES / 1024, s->o->stall_ms)),
             &err);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct session *s = timer->data;
    const struct leg *record = &s->legs[GCD_LEG_RECORD];
    look_at_cancel_and_time(s);
    if (record->stream == LEG_OPEN && record->stopping == STOP_IDLE && !is_pending(s) &&
        s->status == GCD_OK) {
        if (s->o->on_idle != NULL && s->o->on_idle(s->o->ctx, now_ms() - s->last_data_ms)) {
            s->whole = true;
            stop_if_whole(s);
        } else {
            look_at_silence(s);
        }
    }
    if (!s->closing)
        set_step(s, s->step);
}

static void on_settled(uv_timer_t *timer)
{
    struct session *s = timer->data;
    if (!s->closing && s->status == GCD_OK && !s->whole && !has_ended(&s->legs[GCD_LEG_RECORD]))
        open_leg(s, GCD_LEG_TRIGGER);
}

/* The runtime does not know the command: try the previous one on a new connection. */
static bool step_down(struct leg *l)
{
    struct session *s = l->s;
    if (l->n_tries >= LADDER_STEPS || s->status != GCD_OK ||
        !gcd_wire_older_collect(s->command, &s->command))
        return false;
    if (s->single_needs_6 && s->command < GCD_WIRE_COLLECT_TRACING6)
        s->strategy = GCD_IPC_STRATEGY_DRAIN;
    open_leg(s, l->kind);
    return true;
}

/* The process has ended; whichever connection breaks first, the message is the same. */
static gcd_status ended_early(const struct session *s, struct gcd_error *err)
{
    uint64_t bytes = s->ret->stream_bytes;
    if (s->whole)
        (void)gcd_fail(
            err, GCD_E_PEER,
            "the process ended after the heap walk, before its event sessions were over, "
            "after %s bytes of events",
            GCD_DIGITS(bytes));
    else if (is_opening(&s->legs[GCD_LEG_TRIGGER]))
        (void)gcd_fail(err, GCD_E_PEER, "the process ended during the %s, after %s bytes of events",
                       bytes > s->bytes_before_gc ? "heap walk" : "garbage collection",
                       GCD_DIGITS(bytes));
    else
        (void)gcd_fail(err, GCD_E_PEER,
                       "the event stream ended after %s bytes, before the heap walk was over: the "
                       "process has ended",
                       GCD_DIGITS(bytes));
    return gcd_because(err, GCD_ERROR_GONE, GCD_E_PEER);
}

static void not_opened(struct leg *l, gcd_status st, struct gcd_error *err)
{
    if (l->kind == GCD_LEG_TRIGGER && err->reason == GCD_ERROR_GONE)
        (void)ended_early(l->s, err);
    else
        gcd_error_wrap(err, "cannot start %s", leg_names[l->kind]);
    l->stream = LEG_REFUSED;
    fail(l->s, st, err);
    advance(l->s); /* fail does nothing if there was an earlier failure */
}

static void on_stream_reply(struct gcd_conn *c, const struct gcd_wire_header *header,
                            const uint8_t *payload, size_t n)
{
    struct leg *l = c->owner;
    struct session *s = l->s;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &err);
    if (st == GCD_OK)
        st = gcd_wire_decode_session_id(payload, n, &l->id, &err);
    if (st != GCD_OK) {
        /* Close it ourselves: measured, .NET 9 and 10 keep it open after BAD_ENCODING, which blocks
         * the port. */
        gcd_conn_close(c);
        if (st != GCD_E_UNSUPPORTED || !step_down(l))
            not_opened(l, st, &err);
        return;
    }
    l->stream = LEG_OPEN;
    s->last_data_ms = now_ms();
    if (l->kind == GCD_LEG_RECORD) {
        s->ret->session_id = l->id;
        s->ret->command = gcd_wire_command_name(s->command);
    }
    if (s->status != GCD_OK) {
        limit_stop_time(s);
        ask_stop(l);
    } else if (l->kind == GCD_LEG_FLUSH) {
        ask_stop(l);
    } else if (l->kind == GCD_LEG_RECORD && s->strategy == GCD_IPC_STRATEGY_DRAIN) {
        s->give_up_at_ms = 0;
        (void)uv_timer_start(&s->settle, on_settled, HEAD_MS, 0);
    } else if (l->kind == GCD_LEG_TRIGGER || s->strategy == GCD_IPC_STRATEGY_SINGLE) {
        set_step(s, GCD_IPC_STEP_READ);
        stop_if_whole(s);
    }
}

static void on_record_data(struct session *s, const uint8_t *bytes, size_t n)
{
    bool first = s->ret->stream_bytes == 0;
    s->ret->stream_bytes += n;
    s->last_data_ms = now_ms();
    if (s->discard)
        return;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = s->o->on_data(s->o->ctx, bytes, n, &err);
    if (st < 0) {
        if (err.code != st) /* no message, or a stale one */
            (void)gcd_fail(&err, st, "%s", gcd_status_text(st));
        s->discard = true; /* even after another failure */
        fail(s, st, &err);
        return;
    }
    if (st == GCD_END) {
        s->whole = true;
        stop_if_whole(s);
    }
    if (first && s->strategy == GCD_IPC_STRATEGY_DRAIN) {
        uv_update_time(&s->loop);
        (void)uv_timer_start(&s->settle, on_settled, SETTLE_MS, 0);
    }
    if (s->legs[GCD_LEG_TRIGGER].stream != LEG_IDLE && s->step == GCD_IPC_STEP_GC)
        set_step(s, GCD_IPC_STEP_READ);
}

static void on_stream_data(struct gcd_conn *c, const uint8_t *bytes, size_t n)
{
    struct leg *l = c->owner;
    struct session *s = l->s;
    if (l->kind == GCD_LEG_RECORD) /* the other two carry no data */
        on_record_data(s, bytes, n);
    /* A recording session that sends is not overdue; bytes of the others prove nothing. */
    if (l->kind == GCD_LEG_RECORD && s->give_up_at_ms != 0 && s->status == GCD_OK)
        limit_stop_time(s);
    look_at_cancel_and_time(s);
    if (!s->closing)
        set_step(s, s->step);
}

static void on_stream_end(struct gcd_conn *c, gcd_status st, const struct gcd_error *err)
{
    struct leg *l = c->owner;
    struct session *s = l->s;
    struct gcd_error e = *err;
    gcd_conn_close(c); /* a session that is still open notices this at its next write */
    if (l->stream != LEG_OPEN) {
        not_opened(l, st, &e);
        return;
    }
    l->stream = LEG_ENDED;
    if (l->kind == GCD_LEG_TRIGGER) {
        /* It is done. */
    } else if (st != GCD_END) {
        gcd_error_wrap(&e, "cannot read the event stream to its end");
        note(s, st, &e);
    } else if (l->stopping == STOP_IDLE) {
        st = ended_early(s, &e);
        note(s, st, &e);
    } else if (l->kind == GCD_LEG_RECORD) {
        s->ret->stream_ended = true;
    }
    /* After that only a confirmation can be missing. */
    uint64_t latest = now_ms() + s->graces->stop_ms;
    if (s->give_up_at_ms == 0 || (s->give_up_at_ms > latest && l->kind == GCD_LEG_RECORD))
        s->give_up_at_ms = latest;
    if (s->status != GCD_OK)
        ask_stops(s);
    advance(s);
}

static const struct gcd_conn_ops stream_ops = {
    .on_reply = on_stream_reply,
    .on_data = on_stream_data,
    .on_end = on_stream_end,
};

/* ---- run ---- */

static void open_leg(struct session *s, enum gcd_leg kind)
{
    struct leg *l = &s->legs[kind];
    struct gcd_plan_request request;
    struct gcd_error err = GCD_ERROR_INIT;
    bool walks = kind == GCD_LEG_TRIGGER ||
                 (kind == GCD_LEG_RECORD && s->strategy == GCD_IPC_STRATEGY_SINGLE);
    l->stream = LEG_OPENING;
    s->give_up_at_ms = walks ? 0 : now_ms() + s->graces->answer_ms;
    s->latest_at_ms = 0;
    s->ret->strategy = s->strategy;
    gcd_status st = gcd_plan_encode(s->o, s->strategy, kind, s->command, &request, &err);
    if (st == GCD_OK) {
        struct gcd_conn_setup setup = { .loop = &s->loop,
                                        .dial = &s->dial,
                                        .ops = &stream_ops,
                                        .owner = l,
                                        .read_bytes = kind == GCD_LEG_RECORD ? STREAM_READ_BYTES
                                                                             : SMALL_READ_BYTES };
        st = gcd_conn_open(&l->streams[l->n_tries++], &setup, request.bytes, request.n, &err);
    }
    if (st != GCD_OK) {
        l->stream = LEG_REFUSED;
        fail(s, st, &err);
        return;
    }
    s->bytes_before_gc = s->ret->stream_bytes;
    if (walks)
        set_step(s, GCD_IPC_STEP_GC);
}

static struct gcd_peer peer_of(const struct gcd_ipc_collect_options *o)
{
    return (struct gcd_peer){ .socket_path = o->socket_path, .port = o->port };
}

static void run(struct session *s, const struct gcd_plan *plan)
{
    s->tick.data = s->settle.data = s;
    (void)uv_timer_init(&s->loop, &s->tick);                   /* cannot fail */
    (void)uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS); /* fails only without a callback */
    (void)uv_timer_init(&s->loop, &s->settle);
    if (s->o->timeout_ms != 0)
        s->timeout_at_ms =
            now_ms() + (s->o->timeout_ms > plan->spent_ms ? s->o->timeout_ms - plan->spent_ms : 0);
    set_step(s, GCD_IPC_STEP_CONNECT);
    struct gcd_peer peer = peer_of(s->o);
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_dial_open(&s->dial, &s->loop, &peer, &err);
    if (st == GCD_OK)
        open_leg(s, plan->flush ? GCD_LEG_FLUSH : GCD_LEG_RECORD);
    else
        fail(s, st, &err);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT); /* until every handle is closed */
}

/* Checks everything that can be refused on our side before the runtime is contacted. */
static gcd_status check(const struct gcd_ipc_collect_options *o, struct gcd_error *err)
{
    struct gcd_plan_request request;
    struct gcd_peer peer = peer_of(o);
    if (!gcd_peer_is_valid(&peer) || o->on_data == NULL)
        return gcd_fail(err, GCD_E_ARG,
                        "a collection needs a socket and somebody to take the events");
    if (o->strategy > GCD_IPC_STRATEGY_DRAIN)
        return gcd_fail(err, GCD_E_ARG, "there is no strategy %u", (unsigned)o->strategy);
    GCD_TRY(gcd_plan_encode(o, GCD_IPC_STRATEGY_SINGLE, GCD_LEG_RECORD, GCD_WIRE_COLLECT_TRACING6,
                            &request, err));
    if (gcd_is_canceled(o->cancel))
        return gcd_fail(err, GCD_E_CANCELED, "canceled");
    return GCD_OK;
}

gcd_status gcd_session_collect(const struct gcd_ipc_collect_options *options,
                               const struct gcd_plan *plan, const struct gcd_session_graces *graces,
                               struct gcd_ipc_collect_result *ret, struct gcd_error *err)
{
    *ret = (struct gcd_ipc_collect_result){ 0 };
    struct session s = {
        .o = options,
        .graces = graces,
        .ret = ret,
        .strategy = plan->strategy,
        .command = plan->command,
        .single_needs_6 = plan->single_needs_6,
        .answers_after_walk = plan->answers_after_walk,
        .err = GCD_ERROR_INIT,
    };
    for (size_t i = 0; i < GCD_LEG_COUNT; i++) {
        s.legs[i].s = &s;
        s.legs[i].kind = (enum gcd_leg)i;
    }
    GCD_TRY(check(options, err));
    int r = uv_loop_init(&s.loop);
    if (r != 0)
        return gcd_fail(err, GCD_E_IO, "cannot set up an event loop: %s", uv_strerror(r));
    run(&s, plan);
    (void)uv_loop_close(&s.loop);
    ret->stopped = was_open(&s.legs[GCD_LEG_RECORD]);
    for (size_t i = 0; i < GCD_LEG_COUNT; i++)
        ret->stopped = ret->stopped && (!was_open(&s.legs[i]) || s.legs[i].stopping == STOP_DONE);
    if (s.status != GCD_OK) {
        if (err != NULL)
            *err = s.err;
        return s.status;
    }
    set_step(&s, GCD_IPC_STEP_DONE);
    return GCD_OK;
}

const char *gcd_ipc_strategy_name(enum gcd_ipc_strategy strategy)
{
    return strategy == GCD_IPC_STRATEGY_SINGLE  ? "single"
           : strategy == GCD_IPC_STRATEGY_DRAIN ? "drain"
                                                : "auto";
}

static void on_question_tick(void *ctx)
{
    const struct gcd_ipc_collect_options *o = ctx;
    if (o->on_step != NULL)
        o->on_step(o->ctx, GCD_IPC_STEP_CONNECT, 0);
}

gcd_status gcd_ipc_collect(const struct gcd_ipc_collect_options *options,
                           struct gcd_ipc_collect_result *ret, struct gcd_error *err)
{
    static const struct gcd_session_graces graces = {
        .reply_ms = 2000,
        .stop_ms = 5000,
        .answer_ms = 10000,
        .rundown_ms = 120000,
        .farewell_ms = 600000,
    };
    struct gcd_ipc_process_info info = { 0 };
    struct gcd_error info_err = GCD_ERROR_INIT;
    *ret = (struct gcd_ipc_collect_result){ 0 };
    GCD_TRY(check(options, err));
    struct gcd_peer peer = peer_of(options);
    struct gcd_ask question = { .peer = &peer,
                                .timeout_ms = graces.answer_ms,
                                .start_ns = uv_hrtime(),
                                .cancel = options->cancel,
                                .on_tick = on_question_tick,
                                .ctx = (void *)(uintptr_t)options };
    if (options->timeout_ms != 0 && options->timeout_ms < question.timeout_ms)
        question.timeout_ms = options->timeout_ms;
    on_question_tick(question.ctx);
    gcd_status st = gcd_info_ask(&question, &info, &info_err);
    if (st != GCD_OK && st != GCD_E_UNSUPPORTED) {
        if (err != NULL)
            *err = info_err;
        return st;
    }
    struct gcd_plan plan = gcd_plan_make(options, st == GCD_OK ? info.runtime_version : NULL);
    gcd_ipc_process_info_done(&info);
    plan.spent_ms = (uv_hrtime() - question.start_ns) / 1000000;
    bool core3 = st == GCD_E_UNSUPPORTED;
    st = gcd_session_collect(options, &plan, &graces, ret, err);
    ret->core3 = core3;
    return st;
}
