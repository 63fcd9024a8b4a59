#include "ipc/collect/ipc_ask.h"

#include <inttypes.h>

#include <uv.h>

#include "base/error.h"
#include "ipc/connect/ipc_conn.h"

enum { READ_BYTES = 64 * 1024, TICK_MS = 100 };

struct question {
    const struct gcd_ask *a;
    enum gcd_wire_command command;
    gcd_ask_fn on_ok;
    void *ctx;
    struct gcd_conn conn;
    struct gcd_dial dial;
    uv_loop_t loop;
    uv_timer_t timer; /* initialized even without a time limit */
    uv_timer_t tick;
    gcd_status status;
    struct gcd_error err;
};

static void finish(struct question *q, gcd_status st)
{
    q->status = st;
    gcd_conn_close(&q->conn);
    gcd_dial_close(&q->dial);
    if (!uv_is_closing((uv_handle_t *)&q->timer))
        uv_close((uv_handle_t *)&q->timer, NULL);
    if (!uv_is_closing((uv_handle_t *)&q->tick))
        uv_close((uv_handle_t *)&q->tick, NULL);
}

static void on_reply(struct gcd_conn *c, const struct gcd_wire_header *header,
                     const uint8_t *payload, size_t n)
{
    struct question *q = c->owner;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &q->err);
    if (st != GCD_OK)
        finish(q, st);
    else
        finish(q, q->on_ok != NULL ? q->on_ok(q->ctx, q->command, payload, n, &q->err) : GCD_OK);
}

static void on_end(struct gcd_conn *c, gcd_status st, const struct gcd_error *err)
{
    struct question *q = c->owner;
    q->err = *err;
    finish(q, st);
}

static void on_timeout(uv_timer_t *timer)
{
    struct question *q = timer->data;
    /* One thread serves the port: it does not answer during a heap walk, or while another client
     * holds a connection. */
    finish(q, gcd_because(&q->err, GCD_ERROR_TIMEOUT,
                          gcd_fail(&q->err, GCD_E_PEER,
                                   "the runtime has not answered within %" PRIu64
                                   " ms: it is stopped, or busy with another client",
                                   q->a->timeout_ms)));
}

static void on_tick(uv_timer_t *timer)
{
    struct question *q = timer->data;
    if (q->a->on_tick != NULL)
        q->a->on_tick(q->a->ctx);
    if (gcd_is_canceled(q->a->cancel))
        finish(q, gcd_fail(&q->err, GCD_E_CANCELED, "canceled"));
}

static const struct gcd_conn_ops ops = { .on_reply = on_reply, .on_end = on_end };

static void run(struct question *q, const uint8_t *msg, size_t n)
{
    const struct gcd_ask *a = q->a;
    uint64_t gone_ms = (uv_hrtime() - a->start_ns) / 1000000;
    q->timer.data = q->tick.data = q;
    (void)uv_timer_init(&q->loop, &q->timer); /* cannot fail */
    (void)uv_timer_init(&q->loop, &q->tick);
    /* If the time is already up, allow one more millisecond so that a single place reports the
     * timeout. */
    if (a->timeout_ms != 0)
        (void)uv_timer_start(&q->timer, on_timeout,
                             gone_ms < a->timeout_ms ? a->timeout_ms - gone_ms : 1, 0);
    if (a->cancel != NULL || a->on_tick != NULL)
        (void)uv_timer_start(&q->tick, on_tick, TICK_MS, TICK_MS);
    gcd_status st = gcd_dial_open(&q->dial, &q->loop, a->peer, &q->err);
    struct gcd_conn_setup setup = {
        .loop = &q->loop, .dial = &q->dial, .ops = &ops, .owner = q, .read_bytes = READ_BYTES
    };
    if (st == GCD_OK)
        st = gcd_conn_open(&q->conn, &setup, msg, n, &q->err);
    if (st != GCD_OK)
        finish(q, st);
    (void)uv_run(&q->loop, UV_RUN_DEFAULT); /* until all handles are closed */
}

gcd_status gcd_ask(const struct gcd_ask *a, enum gcd_wire_command command, gcd_ask_fn on_ok,
                   void *ctx, struct gcd_error *err)
{
    struct question q = {
        .a = a, .command = command, .on_ok = on_ok, .ctx = ctx, .err = GCD_ERROR_INIT
    };
    uint8_t msg[GCD_WIRE_HEADER_BYTES];
    size_t n = 0;
    GCD_TRY(gcd_wire_encode_plain(command, msg, sizeof msg, &n, err));
    int r = uv_loop_init(&q.loop);
    if (r != 0)
        return gcd_fail(err, GCD_E_IO, "cannot set up an event loop: %s", uv_strerror(r));
    run(&q, msg, n);
    (void)uv_loop_close(&q.loop);
    if (q.status != GCD_OK && err != NULL)
        *err = q.err;
    return q.status;
}
