/* Supplies the connections of a loop: made to a runtime's socket, or accepted from a runtime that
 * connected to us. */
#ifndef GCD_IPC_DIAL_H
#define GCD_IPC_DIAL_H

#include <stdbool.h>

#include <uv.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* The other side: exactly one of the two is set. */
struct gcd_peer {
    const char *socket_path;
    struct gcd_ipc_port *port;
};

bool gcd_peer_is_valid(const struct gcd_peer *peer);

/* A waiter for one connection.  The caller provides the memory, zeroed before first use. */
struct gcd_dial_waiter {
    void *owner;
    /* Called once, from the loop.  FD now belongs to the waiter; -1: no connection will come. */
    void (*on_fd)(struct gcd_dial_waiter *w, int fd, gcd_status st, const struct gcd_error *err);
    struct gcd_dial_waiter *next;
};

struct gcd_dial {
    struct gcd_peer peer;
    uv_poll_t poll;                /* of the port */
    bool polls;                    /* the handle is in use */
    struct gcd_dial_waiter *first; /* served in order of arrival */
};

/* A zeroed struct counts as closed. */
GCD_MUST_CHECK gcd_status gcd_dial_open(struct gcd_dial *d, uv_loop_t *loop,
                                        const struct gcd_peer *peer, struct gcd_error *err);
/* May be called repeatedly; the loop releases the handle. */
void gcd_dial_close(struct gcd_dial *d);

/*
 * Get a connection.  GCD_OK with *RET_FD: it is ready.  GCD_OK with -1: W is told when it arrives;
 * gcd_dial_leave stops waiting.  Errors as gcd_sock_open, and GCD_E_PEER (GONE) when the runtime of
 * the port has ended.
 */
GCD_MUST_CHECK gcd_status gcd_dial_connect(struct gcd_dial *d, struct gcd_dial_waiter *w,
                                           int *ret_fd, struct gcd_error *err);
void gcd_dial_leave(struct gcd_dial *d, const struct gcd_dial_waiter *w);

#endif
