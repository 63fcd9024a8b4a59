/*
 * One collection.  Two connections live in one loop:
 *
 *     stream   CollectTracing2 ──► reply (after GC and walk, .NET 5 to 10) ──► bytes ──► ... ──► end
 *     stop                                              StopTracing ──► reply
 *
 * The runtime writes the rest of the stream before it answers StopTracing, with blocking calls, under its lock: reading
 * has to go on until the stream ends, or both sides wait for ever.  That holds for a collection that has failed, too;
 * its bytes are read and thrown away.
 *
 * The collection is over when the stream has ended and the stop was answered, or when time is up.
 */
#include "ipc/ipc_session.h"

#include <inttypes.h>

#include <uv.h>

#include "base/error.h"
#include "ipc/ipc_conn.h"
#include "ipc/ipc_wire.h"

enum {
    TICK_MS = 100, /* cancel and time are looked at so often, and at every read */
    STREAM_READ_BYTES = 256 * 1024,
    STOP_READ_BYTES = 4096
};

struct session {
    const struct gcd_ipc_collect_options *o;
    const struct gcd_session_graces *graces;
    struct gcd_ipc_collect_result *ret;

    uv_loop_t loop;
    uv_timer_t tick;
    struct gcd_conn stream;
    struct gcd_conn stop;

    enum gcd_ipc_step step;
    bool open;          /* the runtime gave us a session number */
    bool discard;       /* the caller gets no more bytes */
    bool stop_asked;    /* StopTracing was sent, or could not be */
    bool stop_finished; /* nothing more will come of it */
    bool stream_finished;
    bool closing;

    uint64_t last_data_ms;  /* or when the reply came */
    uint64_t timeout_at_ms; /* 0 = never */
    uint64_t give_up_at_ms; /* 0 = never; set when only the runtime's farewell is missing */

    gcd_status status; /* the first failure */
    struct gcd_error err;
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
    gcd_conn_close(&s->stream);
    gcd_conn_close(&s->stop);
    if (!uv_is_closing((uv_handle_t *)&s->tick))
        uv_close((uv_handle_t *)&s->tick, NULL);
}

/* The first failure is the one reported; what follows from it is not news. */
static void note(struct session *s, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err)
{
    if (s->status != GCD_OK)
        return;
    s->status = st;
    s->err = *err;
    s->ret->reason = reason;
}

/* ---- stopping ---- */

static void close_if_over(struct session *s)
{
    if (s->stream_finished && (!s->stop_asked || s->stop_finished))
        close_all(s);
}

static void on_stop_reply(struct gcd_conn *c, const struct gcd_wire_header *header, const uint8_t *payload, size_t n)
{
    struct session *s = c->owner;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t id = 0;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &err);
    enum gcd_ipc_reason reason = st == GCD_OK || st == GCD_E_FORMAT ? GCD_IPC_REASON_NONE : GCD_IPC_REASON_REFUSED;
    if (st == GCD_OK)
        st = gcd_wire_decode_session_id(payload, n, &id, &err);
    if (st == GCD_OK && id != s->ret->session_id)
        st = gcd_fail(&err, GCD_E_FORMAT, "the runtime stopped session 0x%" PRIx64 " instead of 0x%" PRIx64, id,
                      s->ret->session_id);
    if (st == GCD_OK) {
        s->ret->stopped = true;
    } else {
        (void)gcd_error_wrap(&err, "cannot stop the event session");
        note(s, st, reason, &err);
    }
    s->stop_finished = true;
    gcd_conn_close(c);
    /* The end of the stream was written before the answer: it is here already, or never comes. */
    s->give_up_at_ms = now_ms() + s->graces->stop_ms;
    close_if_over(s);
}

static void stop_failed(struct session *s, gcd_status st, enum gcd_ipc_reason reason, struct gcd_error *err)
{
    (void)gcd_error_wrap(err, "cannot stop the event session");
    note(s, st, reason, err);
    s->stop_finished = true;
    gcd_conn_close(&s->stop);
    /* A process that ends by itself still writes its stream to the end. */
    s->give_up_at_ms = now_ms() + s->graces->stop_ms;
    close_if_over(s);
}

static void on_stop_end(struct gcd_conn *c, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err)
{
    /* The connection is closed when it has its reply, so this is the end without one. */
    struct gcd_error e = *err;
    stop_failed(c->owner, st, reason, &e);
}

static const struct gcd_conn_ops stop_ops = { .on_reply = on_stop_reply, .on_end = on_stop_end };

static void ask_stop(struct session *s)
{
    uint8_t msg[GCD_WIRE_REQUEST_MAX];
    size_t n = 0;
    struct gcd_error err = GCD_ERROR_INIT;
    enum gcd_ipc_reason reason = GCD_IPC_REASON_NONE;
    if (s->stop_asked)
        return;
    s->stop_asked = true;
    set_step(s, GCD_IPC_STEP_STOP);
    gcd_status st = gcd_wire_encode_stop(s->ret->session_id, msg, sizeof msg, &n, &err);
    if (st == GCD_OK)
        st = gcd_conn_open(&s->stop, &s->loop, s->o->socket_path, msg, n, STOP_READ_BYTES, &stop_ops, s, &reason, &err);
    if (st == GCD_OK)
        return;
    /* The port of a session that was just open is gone: so is the process. */
    if (reason == GCD_IPC_REASON_STALE || reason == GCD_IPC_REASON_NO_SOCKET) {
        reason = GCD_IPC_REASON_GONE;
        st = gcd_fail(&err, GCD_E_PEER, "the process has ended");
    }
    stop_failed(s, st, reason, &err);
}

/* The collection has failed: leave, but not before the session is stopped in the runtime. */
static void fail(struct session *s, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err)
{
    if (s->status != GCD_OK || s->closing)
        return;
    note(s, st, reason, err);
    s->discard = true;
    if (s->stream_finished) { /* and with it the session */
        close_all(s);
    } else if (s->open) {
        s->give_up_at_ms = now_ms() + s->graces->stop_ms;
        ask_stop(s);
    } else {
        s->give_up_at_ms = now_ms() + s->graces->reply_ms;
    }
}

/* ---- the stream ---- */

static void look_at_cancel_and_time(struct session *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t now = now_ms();
    if (s->closing)
        return;
    if (s->give_up_at_ms != 0 && now >= s->give_up_at_ms) {
        if (!s->stream_finished) {
            (void)gcd_fail(&err, GCD_E_PEER, "the event stream did not end after the session was stopped");
            note(s, GCD_E_PEER, GCD_IPC_REASON_TIMEOUT, &err);
        }
        /* With the end of the stream at hand the dump is whole, answer or not. */
        close_all(s);
        return;
    }
    if (s->status != GCD_OK || s->stream_finished)
        return;
    if (s->o->cancel != NULL && atomic_load(s->o->cancel)) {
        fail(s, gcd_fail(&err, GCD_E_CANCELED, "canceled"), GCD_IPC_REASON_NONE, &err);
    } else if (s->timeout_at_ms != 0 && now >= s->timeout_at_ms) {
        const char *what = !s->open         ? "the runtime has not answered (it does so after the garbage collection)"
                           : !s->stop_asked ? "the heap walk was not over"
                                            : "the event stream had not ended";
        fail(s, gcd_fail(&err, GCD_E_PEER, "%s within %" PRIu64 " ms", what, s->o->timeout_ms), GCD_IPC_REASON_TIMEOUT,
             &err);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct session *s = timer->data;
    look_at_cancel_and_time(s);
    if (s->open && !s->stop_asked && !s->stream_finished && s->status == GCD_OK && s->o->on_idle != NULL &&
        s->o->on_idle(s->o->ctx, now_ms() - s->last_data_ms))
        ask_stop(s);
    if (!s->closing)
        set_step(s, s->step);
}

static void on_stream_reply(struct gcd_conn *c, const struct gcd_wire_header *header, const uint8_t *payload, size_t n)
{
    struct session *s = c->owner;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &err);
    enum gcd_ipc_reason reason = st == GCD_OK || st == GCD_E_FORMAT ? GCD_IPC_REASON_NONE : GCD_IPC_REASON_REFUSED;
    if (st == GCD_OK)
        st = gcd_wire_decode_session_id(payload, n, &s->ret->session_id, &err);
    if (st != GCD_OK) {
        /* Close it ourselves: measured, .NET 9 and 10 keep it open after BAD_ENCODING, and so the port blocked. */
        (void)gcd_error_wrap(&err, "cannot start the event session");
        note(s, st, reason, &err);
        close_all(s);
        return;
    }
    s->open = true;
    s->last_data_ms = now_ms();
    if (s->status == GCD_OK) {
        set_step(s, GCD_IPC_STEP_READ);
    } else {
        s->give_up_at_ms = now_ms() + s->graces->stop_ms;
        ask_stop(s);
    }
}

static void on_stream_data(struct gcd_conn *c, const uint8_t *bytes, size_t n)
{
    struct session *s = c->owner;
    s->ret->stream_bytes += n;
    s->last_data_ms = now_ms();
    if (!s->discard) {
        struct gcd_error err = GCD_ERROR_INIT;
        gcd_status st = s->o->on_data(s->o->ctx, bytes, n, &err);
        if (st < 0) {
            if (err.code != st) /* no message, or a stale one */
                (void)gcd_fail(&err, st, "%s", gcd_status_text(st));
            fail(s, st, GCD_IPC_REASON_NONE, &err);
        } else if (st == GCD_END) {
            ask_stop(s);
        }
    }
    /* While bytes of a session that works come in, it is not overdue. */
    if (s->stop_finished && s->status == GCD_OK)
        s->give_up_at_ms = now_ms() + s->graces->stop_ms;
    look_at_cancel_and_time(s);
    if (!s->closing)
        set_step(s, s->step);
}

static void on_stream_end(struct gcd_conn *c, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err)
{
    struct session *s = c->owner;
    struct gcd_error e = *err;
    s->stream_finished = true;
    gcd_conn_close(c); /* a session that should still be open notices it at its next write */
    if (!s->open) {
        (void)gcd_error_wrap(&e, "cannot start the event session");
        note(s, st, reason, &e);
    } else if (st != GCD_END) {
        (void)gcd_error_wrap(&e, "cannot read the event stream to its end");
        note(s, st, reason, &e);
    } else if (!s->stop_asked) {
        st = gcd_fail(&e, GCD_E_PEER,
                      "the event stream ended after %" PRIu64
                      " bytes, before the heap walk was over: the process has ended",
                      s->ret->stream_bytes);
        note(s, st, GCD_IPC_REASON_GONE, &e);
    } else {
        s->ret->stream_ended = true;
    }
    uint64_t latest = now_ms() + s->graces->stop_ms;
    if (s->give_up_at_ms == 0 || s->give_up_at_ms > latest)
        s->give_up_at_ms = latest;
    close_if_over(s);
}

static const struct gcd_conn_ops stream_ops = {
    .on_reply = on_stream_reply,
    .on_data = on_stream_data,
    .on_end = on_stream_end,
};

/* ---- start to end ---- */

static gcd_status encode(const struct gcd_ipc_collect_options *o, uint8_t *buf, size_t cap, size_t *ret_n,
                         struct gcd_error *err)
{
    if (o->socket_path == NULL || o->on_data == NULL)
        return gcd_fail(err, GCD_E_ARG, "a collection needs a socket and somebody to take the events");
    const struct gcd_wire_provider provider = {
        .keywords = o->keywords != 0 ? o->keywords : GCD_IPC_KEYWORDS_HEAP_SNAPSHOT,
        .level = o->level != 0 ? o->level : 4,
        .name = GCD_WIRE_RUNTIME_PROVIDER,
    };
    const struct gcd_wire_collect collect = {
        .buffer_mb = o->buffer_mb != 0 ? o->buffer_mb : 1024,
        .format = GCD_WIRE_FORMAT_NETTRACE,
        .rundown = o->rundown,
        .providers = &provider,
        .n_providers = 1,
    };
    return gcd_wire_encode_collect(GCD_WIRE_COLLECT_TRACING2, &collect, buf, cap, ret_n, err);
}

static void run(struct session *s, const uint8_t *msg, size_t n)
{
    enum gcd_ipc_reason reason = GCD_IPC_REASON_NONE;
    struct gcd_error err = GCD_ERROR_INIT;
    s->tick.data = s;
    (void)uv_timer_init(&s->loop, &s->tick);                   /* cannot fail */
    (void)uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS); /* only without a callback */
    if (s->o->timeout_ms != 0)
        s->timeout_at_ms = now_ms() + s->o->timeout_ms;
    set_step(s, GCD_IPC_STEP_CONNECT);
    gcd_status st = gcd_conn_open(&s->stream, &s->loop, s->o->socket_path, msg, n, STREAM_READ_BYTES, &stream_ops, s,
                                  &reason, &err);
    if (st == GCD_OK) {
        set_step(s, GCD_IPC_STEP_GC);
    } else {
        note(s, st, reason, &err);
        close_all(s);
    }
    (void)uv_run(&s->loop, UV_RUN_DEFAULT); /* until every handle is closed */
}

gcd_status gcd_session_collect(const struct gcd_ipc_collect_options *options, const struct gcd_session_graces *graces,
                               struct gcd_ipc_collect_result *ret, struct gcd_error *err)
{
    *ret = (struct gcd_ipc_collect_result){ 0 };
    struct session s = { .o = options, .graces = graces, .ret = ret, .err = GCD_ERROR_INIT };
    uint8_t msg[GCD_WIRE_REQUEST_MAX];
    size_t n = 0;
    GCD_TRY(encode(options, msg, sizeof msg, &n, err));
    if (options->cancel != NULL && atomic_load(options->cancel))
        return gcd_fail(err, GCD_E_CANCELED, "canceled");
    int r = uv_loop_init(&s.loop);
    if (r != 0)
        return gcd_fail(err, GCD_E_IO, "cannot set up an event loop: %s", uv_strerror(r));
    run(&s, msg, n);
    (void)uv_loop_close(&s.loop);
    if (s.status != GCD_OK) {
        if (err != NULL)
            *err = s.err;
        return s.status;
    }
    set_step(&s, GCD_IPC_STEP_DONE);
    return GCD_OK;
}

gcd_status gcd_ipc_collect(const struct gcd_ipc_collect_options *options, struct gcd_ipc_collect_result *ret,
                           struct gcd_error *err)
{
    static const struct gcd_session_graces graces = { .reply_ms = 2000, .stop_ms = 5000 };
    return gcd_session_collect(options, &graces, ret, err);
}
