#include "ipc/connect/ipc_dial.h"

#include "base/error.h"
#include "ipc/connect/ipc_port.h"
#include "ipc/wire/ipc_sock.h"

bool gcd_peer_is_valid(const struct gcd_peer *peer)
{
    return (peer->socket_path == NULL) != (peer->port == NULL);
}

static void on_poll(uv_poll_t *poll, int status, int events);

static struct gcd_dial_waiter *pop(struct gcd_dial *d)
{
    struct gcd_dial_waiter *w = d->first;
    d->first = w->next;
    w->next = NULL;
    return w;
}

/* Watch the port only while somebody waits: the descriptor stays ready until somebody reads it. */
static void watch(struct gcd_dial *d)
{
    if (!d->polls)
        return;
    if (d->first == NULL)
        (void)uv_poll_stop(&d->poll);
    else
        (void)uv_poll_start(&d->poll, UV_READABLE, on_poll); /* fails only for other events */
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct gcd_dial *d = poll->data;
    struct gcd_error err = GCD_ERROR_INIT;
    (void)events;
    gcd_status st = gcd_port_serve(d->peer.port, &err);
    if (st == GCD_OK && status < 0)
        st = gcd_fail(&err, GCD_E_IO, "cannot wait for the runtime: %s", uv_strerror(status));
    /* The callback may close D, leave, or queue again. */
    while (d->polls && d->first != NULL) {
        int fd = st == GCD_OK ? gcd_port_take(d->peer.port) : -1;
        if (st == GCD_OK && fd < 0)
            break;
        struct gcd_dial_waiter *w = pop(d);
        w->on_fd(w, fd, st, &err);
    }
    watch(d);
}

gcd_status gcd_dial_open(struct gcd_dial *d, uv_loop_t *loop, const struct gcd_peer *peer,
                         struct gcd_error *err)
{
    *d = (struct gcd_dial){ .peer = *peer };
    if (peer->port == NULL)
        return GCD_OK;
    int r = uv_poll_init(loop, &d->poll, gcd_port_fd(peer->port));
    if (r != 0)
        return gcd_fail(err, GCD_E_IO, "cannot wait for the runtime: %s", uv_strerror(r));
    d->poll.data = d;
    d->polls = true;
    return GCD_OK;
}

void gcd_dial_close(struct gcd_dial *d)
{
    if (d->polls)
        uv_close((uv_handle_t *)&d->poll, NULL);
    d->polls = false;
}

gcd_status gcd_dial_connect(struct gcd_dial *d, struct gcd_dial_waiter *w, int *ret_fd,
                            struct gcd_error *err)
{
    if (d->peer.port == NULL)
        return gcd_sock_open(d->peer.socket_path, ret_fd, err);
    *ret_fd = -1;
    /* Others are queued first: taking a connection here would take theirs without telling them. */
    if (d->first == NULL) {
        GCD_TRY(gcd_port_serve(d->peer.port, err));
        *ret_fd = gcd_port_take(d->peer.port);
    }
    if (*ret_fd >= 0)
        return GCD_OK;
    struct gcd_dial_waiter **last = &d->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = w;
    w->next = NULL;
    watch(d);
    return GCD_OK;
}

void gcd_dial_leave(struct gcd_dial *d, const struct gcd_dial_waiter *w)
{
    for (struct gcd_dial_waiter **p = &d->first; *p != NULL; p = &(*p)->next)
        if (*p == w) {
            *p = w->next;
            break;
        }
    watch(d);
}
