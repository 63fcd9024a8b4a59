/* Requests to runtimes: one command, one answer, one connection that is closed at once. */
#ifndef GCD_IPC_ASK_H
#define GCD_IPC_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <gcdumpc/cancel.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#include "ipc/connect/ipc_conn.h"
#include "ipc/connect/ipc_dial.h"
#include "ipc/wire/ipc_wire.h"

/* Settings shared by a series of requests. */
struct gcd_ask {
    const struct gcd_peer *peer;
    uint64_t timeout_ms;           /* for the whole series, counted from START_NS; 0 = no bound */
    uint64_t start_ns;             /* of uv_hrtime; 0 = when it is asked */
    uint64_t until_ns;             /* then nothing is asked any more; 0 = no bound */
    const gcd_cancel_flag *cancel; /* may be NULL */
    /* called ten times a second while waiting for an answer; may be NULL */
    void (*on_tick)(void *ctx);
    void *ctx;
};

/* Parses the payload of an OK reply.  gcd_ask returns its result. */
typedef gcd_status (*gcd_ask_fn)(void *ctx, enum gcd_wire_command command, const uint8_t *payload,
                                 size_t n, struct gcd_error *err);

/*
 * COMMAND has no payload.  ON_OK may be NULL.  GCD_E_UNSUPPORTED: the runtime does not know the
 * command; GCD_E_PEER: it refused (REFUSED), did not answer in time (TIMEOUT) or went away (GONE);
 * otherwise the errors of gcd_dial_connect, or GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_ask(const struct gcd_ask *a, enum gcd_wire_command command,
                                  gcd_ask_fn on_ok, void *ctx, struct gcd_error *err);

struct gcd_asking;

/* One of several requests. */
struct gcd_question {
    struct gcd_ask ask;
    enum gcd_wire_command command;
    gcd_ask_fn on_ok;
    void *ctx; /* of ON_OK */
    /* the result, as of gcd_ask */
    gcd_status status;
    struct gcd_error err;
    /* of ipc_ask.c */
    struct gcd_asking *of;
    struct gcd_conn conn;
    struct gcd_dial dial;
    uv_timer_t timer;
    bool open;
};

/* Asks QUESTIONS[N], at most MOST at a time, on one thread.  A failure to do so is the result of
 * each. */
void gcd_ask_all(struct gcd_question *questions, size_t n, size_t most);

#endif
