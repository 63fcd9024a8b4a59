#include "ipc/collect/ipc_ask.h"

#include <inttypes.h>

#include "base/error.h"

/* Answers have some hundred bytes. */
enum { READ_BYTES = 4096, TICK_MS = 100 };

struct gcd_asking {
    uv_loop_t loop;
    uv_timer_t tick;
    struct gcd_question *items; /* [n] */
    size_t n, most, next, open;
    bool starts; /* starting questions: one that fails at once does not start the next */
};

static void start_some(struct gcd_asking *s);

static void finish(struct gcd_question *q, gcd_status st)
{
    q->status = st;
    gcd_conn_close(&q->conn);
    gcd_dial_close(&q->dial);
    uv_close((uv_handle_t *)&q->timer, NULL);
    q->open = false;
    q->of->open--;
    start_some(q->of);
}

static void on_reply(struct gcd_conn *c, const struct gcd_wire_header *header,
                     const uint8_t *payload, size_t n)
{
    struct gcd_question *q = c->owner;
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &q->err);
    if (st == GCD_OK && q->on_ok != NULL)
        st = q->on_ok(q->ctx, q->command, payload, n, &q->err);
    finish(q, st);
}

static void on_end(struct gcd_conn *c, gcd_status st, const struct gcd_error *err)
{
    struct gcd_question *q = c->owner;
    q->err = *err;
    finish(q, st);
}

static gcd_status late(struct gcd_question *q)
{
    /* One thread serves the port: it does not answer during a heap walk, or while another client
     * holds a connection. */
    return gcd_because(&q->err, GCD_ERROR_TIMEOUT,
                       gcd_fail(&q->err, GCD_E_PEER,
                                "the runtime has not answered within %" PRIu64
                                " ms: it is stopped, or busy with another client",
                                q->ask.timeout_ms));
}

static void on_timeout(uv_timer_t *timer)
{
    struct gcd_question *q = timer->data;
    finish(q, late(q));
}

static const struct gcd_conn_ops ops = { .on_reply = on_reply, .on_end = on_end };

/* The time that Q has from now on, in milliseconds. */
static uint64_t time_for(const struct gcd_ask *a, uint64_t now_ns)
{
    uint64_t gone_ms = a->start_ns != 0 ? (now_ns - a->start_ns) / 1000000 : 0;
    uint64_t own_ms = gone_ms < a->timeout_ms ? a->timeout_ms - gone_ms : 0;
    uint64_t all_ms = now_ns < a->until_ns ? (a->until_ns - now_ns) / 1000000 : 0;
    return a->until_ns != 0 && all_ms < own_ms ? all_ms : own_ms;
}

static void start(struct gcd_asking *s, struct gcd_question *q)
{
    const struct gcd_ask *a = &q->ask;
    uint8_t msg[GCD_WIRE_HEADER_BYTES];
    size_t n = 0;
    uint64_t now_ns = uv_hrtime(), ms = time_for(a, now_ns);
    q->of = s;
    if (a->until_ns != 0 && now_ns >= a->until_ns) {
        q->status = late(q);
        return;
    }
    q->open = true;
    s->open++;
    q->timer.data = q;
    (void)uv_timer_init(&s->loop, &q->timer); /* cannot fail */
    uv_update_time(&s->loop);
    /* If the time is already up, allow one more millisecond so that a single place reports the
     * timeout. */
    if (a->timeout_ms != 0)
        (void)uv_timer_start(&q->timer, on_timeout, ms > 0 ? ms : 1, 0);
    struct gcd_conn_setup setup = {
        .loop = &s->loop, .dial = &q->dial, .ops = &ops, .owner = q, .read_bytes = READ_BYTES
    };
    gcd_status st = gcd_wire_encode_plain(q->command, msg, sizeof msg, &n, &q->err);
    if (st == GCD_OK)
        st = gcd_dial_open(&q->dial, &s->loop, a->peer, &q->err);
    if (st == GCD_OK)
        st = gcd_conn_open(&q->conn, &setup, msg, n, &q->err);
    if (st != GCD_OK)
        finish(q, st);
}

/* The loop ends when nothing is open. */
static void start_some(struct gcd_asking *s)
{
    if (s->starts)
        return;
    s->starts = true;
    while (s->next < s->n && s->open < s->most)
        start(s, &s->items[s->next++]);
    s->starts = false;
    if (s->open == 0 && !uv_is_closing((uv_handle_t *)&s->tick))
        uv_close((uv_handle_t *)&s->tick, NULL);
}

static void on_tick(uv_timer_t *timer)
{
    struct gcd_asking *s = timer->data;
    for (size_t i = 0; i < s->next; i++) {
        struct gcd_question *q = &s->items[i];
        if (q->open && q->ask.on_tick != NULL)
            q->ask.on_tick(q->ask.ctx);
        if (q->open && gcd_is_canceled(q->ask.cancel))
            finish(q, gcd_fail(&q->err, GCD_E_CANCELED, "canceled"));
    }
}

static bool ticks(const struct gcd_question *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].ask.cancel != NULL || items[i].ask.on_tick != NULL)
            return true;
    return false;
}

void gcd_ask_all(struct gcd_question *questions, size_t n, size_t most)
{
    struct gcd_asking s = { .items = questions, .n = n, .most = most };
    int r = uv_loop_init(&s.loop);
    for (size_t i = 0; i < n; i++) {
        questions[i].open = false;
        questions[i].err = (struct gcd_error)GCD_ERROR_INIT;
        if (r != 0)
            questions[i].status = gcd_fail(&questions[i].err, GCD_E_IO,
                                           "cannot set up an event loop: %s", uv_strerror(r));
    }
    if (r != 0)
        return;
    s.tick.data = &s;
    (void)uv_timer_init(&s.loop, &s.tick); /* cannot fail */
    if (ticks(questions, n))
        (void)uv_timer_start(&s.tick, on_tick, TICK_MS, TICK_MS);
    start_some(&s);
    (void)uv_run(&s.loop, UV_RUN_DEFAULT); /* until all handles are closed */
    (void)uv_loop_close(&s.loop);
}

gcd_status gcd_ask(const struct gcd_ask *a, enum gcd_wire_command command, gcd_ask_fn on_ok,
                   void *ctx, struct gcd_error *err)
{
    struct gcd_question q = { .ask = *a, .command = command, .on_ok = on_ok, .ctx = ctx };
    gcd_ask_all(&q, 1, 1);
    if (q.status != GCD_OK && err != NULL)
        *err = q.err;
    return q.status;
}
