/*
 * Where the connections of a loop come from: made to a runtime's socket, or taken from those that a runtime has made to us.
 */
#ifndef GCD_IPC_DIAL_H
#define GCD_IPC_DIAL_H

#include <stdbool.h>

#include <uv.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* The other side: one of both is set. */
struct gcd_peer {
    const char *socket_path;
    struct gcd_ipc_port *port;
};

bool gcd_peer_is_valid(const struct gcd_peer *peer);

/* One that waits for its connection.  Memory of the caller, zeroed before its first use. */
struct gcd_dial_waiter {
    void *owner;
    /* Once, from the loop: FD is the owner's; -1: there will be none, and why. */
    void (*on_fd)(struct gcd_dial_waiter *w, int fd, gcd_status st, enum gcd_ipc_reason reason, const struct gcd_error *err);
    struct gcd_dial_waiter *next;
};

struct gcd_dial {
    struct gcd_peer peer;
    uv_poll_t poll; /* of the port */
    bool polls;     /* the handle is in use */
    struct gcd_dial_waiter *first; /* served in the order in which they came */
};

/* Zeroed is closed. */
GCD_MUST_CHECK gcd_status gcd_dial_open(struct gcd_dial *d, uv_loop_t *loop, const struct gcd_peer *peer, struct gcd_error *err);
/* Any number of times; the handle is released by the loop. */
void gcd_dial_close(struct gcd_dial *d);

/*
 * A connection.  GCD_OK with *RET_FD: here it is.  GCD_OK with -1: W is told when it comes; gcd_dial_leave ends the waiting.
 * Errors as gcd_sock_open, and GCD_E_PEER (GONE) when the runtime of the port has ended.
 */
GCD_MUST_CHECK gcd_status gcd_dial_connect(struct gcd_dial *d, struct gcd_dial_waiter *w, int *ret_fd,
                                           enum gcd_ipc_reason *ret_reason, struct gcd_error *err);
void gcd_dial_leave(struct gcd_dial *d, const struct gcd_dial_waiter *w);

#endif
