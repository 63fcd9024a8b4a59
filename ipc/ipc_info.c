/*
 * Who is there: the process information commands, newest first.
 */
#include "ipc/ipc_info.h"

#include <inttypes.h>

#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "ipc/ipc_conn.h"
#include "ipc/ipc_wire.h"

enum { READ_BYTES = 64 * 1024, TICK_MS = 100 };

struct question {
    enum gcd_wire_command command;
    struct gcd_ipc_process_info info;
    struct gcd_conn conn;
    uv_loop_t loop;
    uv_timer_t timer; /* initialised even when there is no time limit */
    uv_timer_t tick;
    uint64_t timeout_ms;
    const gcd_cancel_flag *cancel; /* may be NULL */
    gcd_status status;
    enum gcd_ipc_reason reason;
    struct gcd_error err;
};

static void finish(struct question *q, gcd_status st, enum gcd_ipc_reason reason)
{
    q->status = st;
    q->reason = reason;
    gcd_conn_close(&q->conn);
    if (!uv_is_closing((uv_handle_t *)&q->timer))
        uv_close((uv_handle_t *)&q->timer, NULL);
    if (!uv_is_closing((uv_handle_t *)&q->tick))
        uv_close((uv_handle_t *)&q->tick, NULL);
}

static void on_reply(struct gcd_conn *c, const struct gcd_wire_header *header, const uint8_t *payload, size_t n)
{
    struct question *q = c->owner;
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_status st = gcd_wire_check_reply(header, payload, n, NULL, &q->err);
    if (st != GCD_OK) {
        finish(q, st, st == GCD_E_FORMAT ? GCD_IPC_REASON_NONE : GCD_IPC_REASON_REFUSED);
        return;
    }
    finish(q, gcd_wire_decode_process_info(q->command, payload, n, &alloc, &q->info, &q->err), GCD_IPC_REASON_NONE);
}

static void on_end(struct gcd_conn *c, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err)
{
    struct question *q = c->owner;
    q->err = *err;
    finish(q, st, reason);
}

static void on_timeout(uv_timer_t *timer)
{
    struct question *q = timer->data;
    /* One thread serves the port: it is silent during a heap walk, and while another client holds a connection. */
    finish(q,
           gcd_fail(&q->err, GCD_E_PEER,
                    "the runtime has not answered within %" PRIu64 " ms: it is stopped, or busy with another client",
                    q->timeout_ms),
           GCD_IPC_REASON_TIMEOUT);
}

static void on_tick(uv_timer_t *timer)
{
    struct question *q = timer->data;
    if (atomic_load(q->cancel))
        finish(q, gcd_fail(&q->err, GCD_E_CANCELED, "canceled"), GCD_IPC_REASON_NONE);
}

static const struct gcd_conn_ops ops = { .on_reply = on_reply, .on_end = on_end };

/* One command on one connection.  LEFT_MS: 0 = no bound. */
static void ask(struct question *q, const char *socket_path, uint64_t left_ms)
{
    uint8_t msg[GCD_WIRE_HEADER_BYTES];
    size_t n = 0;
    q->reason = GCD_IPC_REASON_NONE;
    q->status = gcd_wire_encode_plain(q->command, msg, sizeof msg, &n, &q->err);
    if (q->status != GCD_OK)
        return;
    int r = uv_loop_init(&q->loop);
    if (r != 0) {
        q->status = gcd_fail(&q->err, GCD_E_IO, "cannot set up an event loop: %s", uv_strerror(r));
        return;
    }
    q->timer.data = q->tick.data = q;
    (void)uv_timer_init(&q->loop, &q->timer); /* cannot fail */
    (void)uv_timer_init(&q->loop, &q->tick);
    if (left_ms != 0)
        (void)uv_timer_start(&q->timer, on_timeout, left_ms, 0);
    if (q->cancel != NULL)
        (void)uv_timer_start(&q->tick, on_tick, TICK_MS, TICK_MS);
    enum gcd_ipc_reason reason;
    gcd_status st = gcd_conn_open(&q->conn, &q->loop, socket_path, msg, n, READ_BYTES, &ops, q, &reason, &q->err);
    if (st != GCD_OK)
        finish(q, st, reason);
    (void)uv_run(&q->loop, UV_RUN_DEFAULT); /* until all handles are closed */
    (void)uv_loop_close(&q->loop);
}

gcd_status gcd_info_ask(const char *socket_path, uint64_t timeout_ms, const gcd_cancel_flag *cancel,
                        struct gcd_ipc_process_info *ret, enum gcd_ipc_reason *ret_reason, struct gcd_error *err)
{
    static const enum gcd_wire_command ladder[] = { GCD_WIRE_PROCESS_INFO3, GCD_WIRE_PROCESS_INFO2,
                                                    GCD_WIRE_PROCESS_INFO };
    struct question q = { .timeout_ms = timeout_ms, .cancel = cancel, .err = GCD_ERROR_INIT };
    if (ret_reason != NULL)
        *ret_reason = GCD_IPC_REASON_NONE;
    if (socket_path == NULL)
        return gcd_fail(err, GCD_E_ARG, "process information needs a socket");
    uint64_t start_ns = uv_hrtime();
    for (size_t i = 0; i < sizeof ladder / sizeof ladder[0]; i++) {
        uint64_t gone_ms = (uv_hrtime() - start_ns) / 1000000;
        q.command = ladder[i];
        /* Time that is up here leaves one millisecond to the last steps instead of a second place that reports it. */
        ask(&q, socket_path, timeout_ms == 0 ? 0 : gone_ms < timeout_ms ? timeout_ms - gone_ms : 1);
        if (q.status != GCD_E_UNSUPPORTED) /* every other error is final: the command is known */
            break;
    }
    if (q.status == GCD_E_UNSUPPORTED)
        (void)gcd_error_wrap(&q.err, "cannot ask the process who it is");
    if (ret_reason != NULL)
        *ret_reason = q.reason;
    if (q.status == GCD_OK)
        *ret = q.info;
    else if (err != NULL)
        *err = q.err;
    return q.status;
}

gcd_status gcd_ipc_process_info(const char *socket_path, uint64_t timeout_ms, struct gcd_ipc_process_info *ret,
                                enum gcd_ipc_reason *ret_reason, struct gcd_error *err)
{
    return gcd_info_ask(socket_path, timeout_ms, NULL, ret, ret_reason, err);
}

void gcd_ipc_process_info_done(struct gcd_ipc_process_info *info)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_wire_process_info_done(&alloc, info);
}
