#include "ipc/connect/ipc_conn.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "ipc/wire/ipc_sock.h"

/* The only place that frees a connection's memory; never while libuv still knows the handle. */
static void release(struct gcd_conn *c)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_mem_free(&alloc, c->buf, c->buf_bytes);
    gcd_mem_free(&alloc, c->payload, c->payload_bytes);
    gcd_mem_free(&alloc, c->request, c->request_bytes);
    c->buf = c->payload = c->request = NULL;
}

static void on_closed(uv_handle_t *handle)
{
    struct gcd_conn *c = handle->data;
    release(c);
    c->state = GCD_CONN_CLOSED;
}

void gcd_conn_close(struct gcd_conn *c)
{
    if (c->state == GCD_CONN_UNUSED || c->state == GCD_CONN_CLOSING || c->state == GCD_CONN_CLOSED)
        return;
    if (c->state == GCD_CONN_WAITING || !c->has_pipe) {
        gcd_dial_leave(c->dial, &c->waiter);
        release(c);
        c->state = GCD_CONN_CLOSED;
        return;
    }
    c->state = GCD_CONN_CLOSING;
    uv_close((uv_handle_t *)&c->pipe, on_closed);
}

static void end(struct gcd_conn *c, gcd_status st, const struct gcd_error *err)
{
    if (c->state != GCD_CONN_CLOSING) { /* already closing if reading could not be started */
        c->state = GCD_CONN_ENDED;
        if (c->has_pipe)
            (void)uv_read_stop((uv_stream_t *)&c->pipe);
    }
    c->ops->on_end(c, st, err);
}

static void on_alloc(uv_handle_t *handle, size_t suggested_bytes, uv_buf_t *buf)
{
    (void)suggested_bytes;
    struct gcd_conn *c = handle->data;
    *buf = uv_buf_init((char *)c->buf, (unsigned)c->buf_bytes);
}

/* Moves input bytes to DST until DST holds NEED bytes.  Returns true once it does. */
static bool collect(struct gcd_conn *c, uint8_t *dst, size_t need, const uint8_t **p, size_t *n)
{
    size_t take = need - c->n_have < *n ? need - c->n_have : *n;
    if (take > 0)
        memcpy(dst + c->n_have, *p, take);
    c->n_have += take;
    *p += take;
    *n -= take;
    return c->n_have == need;
}

static void header_complete(struct gcd_conn *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_wire_decode_header(c->header_bytes, &c->header, &err);
    if (st == GCD_OK) {
        /* At most 64 KiB: the size field has 16 bits. */
        struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
        c->payload_bytes = c->header.size - GCD_WIRE_HEADER_BYTES;
        c->payload = gcd_mem_new(&alloc, c->payload_bytes);
        if (c->payload == NULL)
            st = gcd_fail_nomem(&err, "reading an answer of the runtime");
    }
    if (st != GCD_OK) {
        end(c, st, &err);
        return;
    }
    c->n_have = 0;
    c->state = GCD_CONN_PAYLOAD;
}

static void feed(struct gcd_conn *c, const uint8_t *p, size_t n)
{
    if (c->state == GCD_CONN_HEADER && collect(c, c->header_bytes, GCD_WIRE_HEADER_BYTES, &p, &n))
        header_complete(c);
    if (c->state == GCD_CONN_PAYLOAD && collect(c, c->payload, c->payload_bytes, &p, &n)) {
        c->state = GCD_CONN_STREAM;
        c->ops->on_reply(c, &c->header, c->payload, c->payload_bytes);
    }
    /* The stream begins with the byte after the reply, often in the same read. */
    if (c->state == GCD_CONN_STREAM && n > 0 && c->ops->on_data != NULL)
        c->ops->on_data(c, p, n);
}

static void ended_early(struct gcd_conn *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (c->state == GCD_CONN_HEADER && c->n_have == 0)
        (void)gcd_fail(&err, GCD_E_PEER,
                       "no answer: the process ended or closed its diagnostic port");
    else
        (void)gcd_fail(&err, GCD_E_PEER,
                       "the answer is cut off after %zu bytes of its %s: the process has ended",
                       c->n_have, c->state == GCD_CONN_HEADER ? "header" : "payload");
    end(c, gcd_because(&err, GCD_ERROR_GONE, GCD_E_PEER), &err);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct gcd_conn *c = stream->data;
    if (n >= 0) {
        if (n > 0)
            feed(c, (const uint8_t *)buf->base, (size_t)n);
        return;
    }
    struct gcd_error err = GCD_ERROR_INIT;
    if (n != UV_EOF && n != UV_ECONNRESET && n != UV_EPIPE)
        end(c,
            gcd_fail(&err, GCD_E_IO, "cannot read from the diagnostic socket: %s",
                     uv_strerror((int)n)),
            &err);
    else if (c->state != GCD_CONN_STREAM)
        ended_early(c);
    else if (n == UV_EOF)
        end(c, GCD_END, &err);
    else
        end(c,
            gcd_because(&err, GCD_ERROR_GONE,
                        gcd_fail(&err, GCD_E_PEER, "the connection broke: the process has ended")),
            &err);
}

/* A failed open only has to close the descriptor; everything after uv_pipe_open belongs to the
 * handle. */
static gcd_status start_reading(struct gcd_conn *c, int fd, struct gcd_error *err)
{
    int r = uv_pipe_init(c->loop, &c->pipe, 0);
    if (r != 0) {
        (void)close(fd);
        return gcd_fail(err, GCD_E_IO, "cannot set up a connection: %s", uv_strerror(r));
    }
    c->pipe.data = c;
    c->has_pipe = true;
    c->state = GCD_CONN_HEADER;
    r = uv_pipe_open(&c->pipe, fd);
    if (r != 0)
        (void)close(fd);
    else
        r = uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
    if (r != 0) {
        gcd_conn_close(c);
        return gcd_fail(err, GCD_E_IO, "cannot read from the diagnostic socket: %s",
                        uv_strerror(r));
    }
    return GCD_OK;
}

/* Takes ownership of FD.  On failure the state says what is left to release. */
static gcd_status start(struct gcd_conn *c, int fd, struct gcd_error *err)
{
    int r = gcd_sock_send_whole(fd, c->request, c->request_bytes);
    if (r == 0)
        return start_reading(c, fd, err);
    (void)close(fd);
    if (r != -EPIPE && r != -ECONNRESET)
        return gcd_fail_os(err, -r, "cannot send a request to the runtime");
    return gcd_because(
        err, GCD_ERROR_GONE,
        gcd_fail(err, GCD_E_PEER,
                 "cannot send a request: the process ended or closed its diagnostic port"));
}

static void on_fd(struct gcd_dial_waiter *w, int fd, gcd_status st, const struct gcd_error *err)
{
    struct gcd_conn *c = w->owner;
    struct gcd_error e = *err;
    c->state = GCD_CONN_UNUSED;
    if (st == GCD_OK)
        st = start(c, fd, &e);
    if (st != GCD_OK)
        end(c, st, &e);
}

gcd_status gcd_conn_open(struct gcd_conn *c, const struct gcd_conn_setup *setup, const uint8_t *msg,
                         size_t n, struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    *c = (struct gcd_conn){ .owner = setup->owner,
                            .ops = setup->ops,
                            .loop = setup->loop,
                            .dial = setup->dial,
                            .buf_bytes = setup->read_bytes,
                            .request_bytes = n };
    c->waiter = (struct gcd_dial_waiter){ .owner = c, .on_fd = on_fd };
    /* Allocate before connecting: once connected, the request has to go out immediately. */
    c->buf = gcd_mem_new(&alloc, c->buf_bytes);
    c->request = gcd_mem_new(&alloc, n);
    if (c->buf == NULL || c->request == NULL) {
        release(c);
        return gcd_fail_nomem(err, "connecting to the runtime");
    }
    memcpy(c->request, msg, n);
    int fd = -1;
    gcd_status st = gcd_dial_connect(c->dial, &c->waiter, &fd, err);
    if (st == GCD_OK && fd < 0)
        c->state = GCD_CONN_WAITING;
    else if (st == GCD_OK)
        st = start(c, fd, err);
    if (st != GCD_OK && c->state == GCD_CONN_UNUSED) /* otherwise on_closed releases it */
        release(c);
    return st;
}
