/*
 * One connection carries one command: connect or accept, send the request, parse the reply, pass on
 * what follows it.
 *
 * The runtime serves its port with one thread and reads a request to the end before it does
 * anything else: an idle or half-sent connection blocks the port for everybody (measured, .NET 8 to
 * 10).  So we connect only when the request is ready, send it at once in one piece, and close the
 * connection as soon as it is done.
 *
 * Connecting and sending bypass libuv: uv_pipe_connect truncates a long path, and libuv writes with
 * write(2), so a vanished peer would end the program with SIGPIPE (measured, libuv 1.44).  Neither
 * call can block on a local socket.
 */
#ifndef GCD_IPC_CONN_H
#define GCD_IPC_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#include "ipc/connect/ipc_dial.h"
#include "ipc/wire/ipc_wire.h"

struct gcd_conn;

/* Called from the loop.  A callback may close the connection; no further callback follows. */
struct gcd_conn_ops {
    /* The reply is complete.  PAYLOAD is never NULL and valid during the call. */
    void (*on_reply)(struct gcd_conn *c, const struct gcd_wire_header *header,
                     const uint8_t *payload, size_t n);
    /* Bytes after the reply, valid during the call.  NULL discards them. */
    void (*on_data)(struct gcd_conn *c, const uint8_t *bytes, size_t n);
    /* The last call, made at most once: GCD_END when the peer closed after a complete reply,
     * otherwise the error. */
    void (*on_end)(struct gcd_conn *c, gcd_status st, const struct gcd_error *err);
};

enum gcd_conn_state {
    GCD_CONN_UNUSED,  /* zeroed, or failed to open: nothing to release */
    GCD_CONN_WAITING, /* waiting for the runtime to connect; the request is kept meanwhile */
    GCD_CONN_HEADER,  /* waiting for the header of the reply */
    GCD_CONN_PAYLOAD, /* waiting for the rest of the reply */
    GCD_CONN_STREAM,  /* the reply was delivered */
    GCD_CONN_ENDED,   /* on_end was called */
    GCD_CONN_CLOSING, /* gcd_conn_close was called */
    GCD_CONN_CLOSED   /* all released */
};

/* The caller provides the memory, zeroed before first use.  It must outlive the loop run that
 * follows gcd_conn_close. */
struct gcd_conn {
    enum gcd_conn_state state;
    void *owner;
    const struct gcd_conn_ops *ops;
    uv_loop_t *loop;
    struct gcd_dial *dial;
    struct gcd_dial_waiter waiter;
    uint8_t *request; /* [request_bytes] */
    size_t request_bytes;
    uv_pipe_t pipe;
    bool has_pipe; /* there is a handle to close */
    uint8_t *buf;  /* [buf_bytes], libuv reads into it */
    size_t buf_bytes;
    uint8_t header_bytes[GCD_WIRE_HEADER_BYTES];
    struct gcd_wire_header header;
    uint8_t *payload; /* [payload_bytes] */
    size_t payload_bytes;
    size_t n_have; /* bytes received of the header, then of the payload */
};

/* What a connection needs besides its request; LOOP, DIAL and OPS must outlive it. */
struct gcd_conn_setup {
    uv_loop_t *loop;
    struct gcd_dial *dial;
    const struct gcd_conn_ops *ops;
    void *owner;
    size_t read_bytes; /* size of the buffer for reading */
};

/*
 * Get a connection, now or when the runtime connects, send the request MSG of N bytes and start
 * reading.  On failure nothing stays open, but a handle may still be closing: always run the loop
 * to its end.
 */
GCD_MUST_CHECK gcd_status gcd_conn_open(struct gcd_conn *c, const struct gcd_conn_setup *setup,
                                        const uint8_t *msg, size_t n, struct gcd_error *err);

/* May be called repeatedly and in any state. */
void gcd_conn_close(struct gcd_conn *c);

#endif
