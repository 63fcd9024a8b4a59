/*
 * Collections from a scripted runtime: every way one can succeed or fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <gcdumpc/unstable/ipc_target.h>

#include "ipc/collect/ipc_drain.h"
#include "ipc/wire/ipc_sock.h"
#include "support/fake_target.h"

#define STOP_REQUEST                      \
    FAKE_MAGIC "\x1c\x00\x02\x01\x00\x00" \
               "\xef\xcd\xab\x89\x67\x45\x23\x01"

/* The same tests for both directions: we connect to the runtime, or it connects to our port over
 * TCP. */
static bool over_tcp;
static struct gcd_ipc_port *port;

static struct fake_target *begin(const struct fake_act *const *scripts, size_t n)
{
    struct gcd_ipc_tcp_place place;
    struct gcd_error err = GCD_ERROR_INIT;
    char path[80];
    if (!over_tcp)
        return fake_target_start(scripts, n);
    assert_int_equal(gcd_ipc_port_listen_tcp("127.0.0.1:0", false, &place, &port, &err), GCD_OK);
    (void)snprintf(path, sizeof path, "tcp:%s", place.address);
    return fake_target_dial(path, scripts, n);
}

static void finish(struct fake_target *t)
{
    fake_target_stop(t);
    gcd_ipc_port_free(port);
    port = NULL;
}

/* What the test does with the stream, and what it received. */
struct client {
    char seen[256]; /* the beginning of what was delivered */
    size_t n_seen;  /* all of it */
    unsigned calls;
    gcd_status bad; /* what to return at a '!'; at a '$' it is GCD_END */
    const char *bad_text;
    unsigned nap_ms;     /* before returning GCD_END */
    bool cancel_in_gc;   /* set the flag while waiting for the reply */
    bool cancel_at_hash; /* set it at a '#' in the stream */
    atomic_bool cancel;
    int steps[5];
    enum gcd_ipc_step last_step;
    uint64_t grace_ms;    /* how long the library waits for the stop's answer */
    uint64_t answer_ms;   /* and for an answer that needs no heap walk */
    uint64_t farewell_ms; /* in total, while bytes arrive */
    struct gcd_ipc_collect_options options;
    struct gcd_plan plan;
    struct gcd_ipc_collect_result result;
    struct gcd_error err;
};

static void nap(unsigned ms)
{
    struct timespec ts = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
    (void)nanosleep(&ts, NULL);
}

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct client *c = ctx;
    c->calls++;
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++, c->n_seen++)
        if (c->n_seen < sizeof c->seen - 1)
            c->seen[c->n_seen] = (char)bytes[i];
    if (c->cancel_at_hash && memchr(bytes, '#', n) != NULL)
        atomic_store(&c->cancel, true);
    if (c->bad != GCD_OK && memchr(bytes, '!', n) != NULL) {
        if (c->bad_text != NULL) {
            err->code = c->bad;
            strcpy(err->msg, c->bad_text);
        }
        return c->bad;
    }
    if (memchr(bytes, '$', n) == NULL)
        return GCD_OK;
    if (c->nap_ms != 0)
        nap(c->nap_ms);
    return GCD_END;
}

static void on_step(void *ctx, enum gcd_ipc_step step, uint64_t bytes)
{
    struct client *c = ctx;
    assert_true(step >= c->last_step); /* never back */
    assert_true(bytes >= c->n_seen);
    c->last_step = step;
    c->steps[step]++;
    if (c->cancel_in_gc && c->steps[GCD_IPC_STEP_GC] == 2)
        atomic_store(&c->cancel, true);
}

static void client_init(struct client *c)
{
    *c = (struct client){
        .grace_ms = 4000, .answer_ms = 4000, .farewell_ms = 60000, .err = GCD_ERROR_INIT
    };
    c->plan = (struct gcd_plan){ .strategy = GCD_IPC_STRATEGY_SINGLE,
                                 .command = GCD_WIRE_COLLECT_TRACING2 };
    c->options = (struct gcd_ipc_collect_options){
        .on_data = on_data, .on_step = on_step, .ctx = c, .cancel = &c->cancel
    };
}

static void aim(struct client *c, struct fake_target *t)
{
    struct gcd_ipc_runtime r;
    c->options.port = port;
    c->options.socket_path = over_tcp ? NULL : fake_target_path(t);
    if (over_tcp)
        assert_int_equal(gcd_ipc_port_wait(port, 10000, NULL, &r, &c->err), GCD_OK);
}

static gcd_status collect(struct client *c, struct fake_target *t)
{
    if (t != NULL)
        aim(c, t);
    memset(&c->result, 0x55, sizeof c->result); /* must be filled in any case */
    const struct gcd_session_graces graces = { .reply_ms = c->grace_ms,
                                               .stop_ms = c->grace_ms,
                                               .answer_ms = c->answer_ms,
                                               .rundown_ms = c->answer_ms,
                                               .farewell_ms = c->farewell_ms };
    return gcd_session_collect(&c->options, &c->plan, &graces, &c->result, &c->err);
}

static void expect_failure(const struct client *c, gcd_status st, gcd_status want,
                           enum gcd_error_reason reason, const char *text)
{
    if (strcmp(c->err.msg, text) != 0)
        fail_msg("message \"%s\" instead of \"%s\"", c->err.msg, text);
    assert_int_equal(st, want);
    assert_int_equal(c->err.code, want);
    assert_int_equal(c->err.reason, reason);
    assert_int_equal(c->steps[GCD_IPC_STEP_DONE], 0);
}

static void expect_request(struct fake_target *t, size_t i, const char *bytes, size_t n)
{
    const uint8_t *got;
    assert_int_equal(fake_target_request(t, i, &got), n);
    assert_memory_equal(got, bytes, n);
}
#define expect_stop_request(t) expect_request((t), 1, STOP_REQUEST, sizeof STOP_REQUEST - 1)

/* The stop connection of a correct runtime: flag 0 signals the stream, flag 1 is set when the
 * stream has ended. */
static const struct fake_act good_stop[] = { { .op = FAKE_RECV },
                                             { FAKE_SET, 0, 0, 0, 0 },
                                             { FAKE_WAIT, 1, 0, 0, 0 },
                                             FAKE_OK_SESSION,
                                             { .op = FAKE_CLOSE } };

static void test_whole(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },       { FAKE_SLEEP, 250, 0, 0, 0 },
        FAKE_OK_SESSION,           FAKE_SEND("Nettrace ... $", 14),
        { FAKE_WAIT, 0, 0, 0, 0 }, FAKE_SEND(" tail", 5),
        { FAKE_SET, 1, 0, 0, 0 },  { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "Nettrace ... $ tail");
    assert_true(c.result.session_id == FAKE_SESSION);
    assert_int_equal(c.result.stream_bytes, 19);
    assert_true(c.result.stopped);
    assert_true(c.result.stream_ended);
    assert_int_equal(c.err.code, GCD_OK);
    for (size_t i = 0; i < 5; i++)
        assert_true(c.steps[i] > 0);
    assert_true(c.steps[GCD_IPC_STEP_GC] >= 2); /* the tick reports while nothing happens */
    const uint8_t *request;
    assert_int_equal(fake_target_request(t, 0, &request), 117);
    assert_memory_equal(request,
                        FAKE_MAGIC "\x75\x00\x02\x03\x00\x00"
                                   "\x00\x04\x00\x00"
                                   "\x01\x00\x00\x00"
                                   "\x00"
                                   "\x01\x00\x00\x00"
                                   "\x01\x00\x98\x01\x00\x00\x00\x00"
                                   "\x04\x00\x00\x00",
                        45);
    expect_stop_request(t);
    assert_int_equal(fake_target_accepted(t), 2);
    finish(t);
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    static const char all[] = FAKE_OK_SESSION_BYTES "Nettrace$";
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },       FAKE_SEND_PIECES(all, sizeof all - 1, 1, 2),
        { FAKE_WAIT, 0, 0, 0, 0 }, FAKE_SEND_PIECES("tail", 4, 1, 2),
        { FAKE_SET, 1, 0, 0, 0 },  { .op = FAKE_CLOSE },
    };
    static const struct fake_act stop[] = { { .op = FAKE_RECV },
                                            { FAKE_SET, 0, 0, 0, 0 },
                                            { FAKE_WAIT, 1, 0, 0, 0 },
                                            FAKE_SEND_PIECES(FAKE_OK_SESSION_BYTES, 28, 1, 2),
                                            { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream, stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.options.on_step = NULL;
    c.options.cancel = NULL;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "Nettrace$tail");
    assert_true(c.calls >= 10);
    assert_true(c.result.stopped && c.result.stream_ended);
    finish(t);
}

/* A reply longer than expected, then everything at once: the stream begins after the length in the
 * header. */
static void test_longer_reply(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },
        FAKE_SEND_LITERAL(FAKE_MAGIC "\x20\x00\xff\x00\x00\x00"
                                     "\xef\xcd\xab\x89\x67\x45\x23\x01"
                                     "more"
                                     "Nettrace$"),
        { FAKE_WAIT, 0, 0, 0, 0 },
        { FAKE_SET, 1, 0, 0, 0 },
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "Nettrace$");
    finish(t);
}

/* More than any socket buffer holds, most of it while the stop is waiting for its answer. */
static void test_large_stream(void **state)
{
    (void)state;
    enum { LARGE = 24 * 1024 * 1024 };
    char *bytes = malloc(LARGE);
    assert_non_null(bytes);
    memset(bytes, 'x', LARGE);
    const struct fake_act stream[] = {
        { .op = FAKE_RECV },       FAKE_OK_SESSION,         FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 }, FAKE_SEND(bytes, LARGE), { FAKE_SET, 1, 0, 0, 0 },
        { .op = FAKE_CLOSE },
    };
    const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_int_equal(c.n_seen, LARGE + 1);
    assert_int_equal(c.result.stream_bytes, LARGE + 1);
    finish(t);
    free(bytes);
}

/* The stop reply before the last bytes: not the order of a real runtime, but nothing may depend on
 * it. */
static void test_reply_before_end(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },
        FAKE_OK_SESSION,
        FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 },
        /* longer than the grace in total, but not each piece */
        FAKE_SEND_PIECES("the tail", 8, 1, 80),
        { .op = FAKE_SHUT_WR },
        { .op = FAKE_HOLD },
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act stop[] = {
        { .op = FAKE_RECV }, { FAKE_SET, 0, 0, 0, 0 }, FAKE_OK_SESSION, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const scripts[] = { stream, stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.grace_ms = 400;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "$the tail");
    assert_true(c.result.stopped && c.result.stream_ended);
    assert_true(fake_target_client_closed(t, 0)); /* the peer half-closed it, so we closed it */
    finish(t);
}

/* ---- no session ---- */

struct bad_reply {
    const char *bytes;
    size_t n;
    gcd_status status;
    enum gcd_error_reason reason;
    const char *text;
};
#define BYTES(s) (s), sizeof(s) - 1

static void expect_bad_reply(const struct bad_reply *b, bool hold)
{
    struct fake_act stream[] = {
        { .op = FAKE_RECV }, FAKE_SEND(b->bytes, b->n), { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    if (!hold)
        stream[2].op = FAKE_CLOSE;
    const struct fake_act *const scripts[] = { stream };
    struct fake_target *t = begin(scripts, 1);
    struct client c;
    client_init(&c);
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, b->status, b->reason, b->text);
    assert_int_equal(c.n_seen, 0);
    assert_int_equal(c.result.session_id, 0);
    assert_false(c.result.stopped);
    assert_false(c.result.stream_ended);
    if (hold)
        assert_true(fake_target_client_closed(t, 0));
    assert_int_equal(fake_target_accepted(t), 1); /* nothing to stop */
    finish(t);
}

/* .NET 9 and 10 keep the connection open after an error; it must be closed by us, or the port stays
 * blocked. */
static void test_refused(void **state)
{
    (void)state;
    static const struct bad_reply replies[] = {
        { BYTES(FAKE_BAD_ENCODING_BYTES), GCD_E_PEER, GCD_ERROR_REFUSED,
          "cannot start the event session: the runtime refused: it could not read the request "
          "(BAD_ENCODING, 0x80131384)" },
        { BYTES(FAKE_ERROR_BYTES("\x05\x40\x00\x80")), GCD_E_PEER, GCD_ERROR_REFUSED,
          "cannot start the event session: the runtime refused: it could not start a session, "
          "perhaps because all 64 are "
          "taken (FAIL, 0x80004005)" },
        { BYTES(FAKE_MAGIC "\x14\x00\xff\xff\x00\x00"), GCD_E_FORMAT, GCD_ERROR_OTHER,
          "cannot start the event session: the runtime refused, but the error code is missing" },
        { BYTES(FAKE_MAGIC "\x14\x00\xff\x00\x00\x00"), GCD_E_FORMAT, GCD_ERROR_OTHER,
          "cannot start the event session: the answer has no session number: 0 bytes of 8" },
        { BYTES(FAKE_MAGIC "\x14\x00\x02\x01\x00\x00"), GCD_E_FORMAT, GCD_ERROR_OTHER,
          "cannot start the event session: the answer is neither OK nor an error: command 0x0201" },
        { BYTES("HTTP/1.1 400 Bad Request\r\n"), GCD_E_FORMAT, GCD_ERROR_OTHER,
          "cannot start the event session: the answer does not come from a .NET diagnostic port: "
          "wrong magic" },
        { BYTES(FAKE_MAGIC "\x0a\x00\xff\x00\x00\x00"), GCD_E_FORMAT, GCD_ERROR_OTHER,
          "cannot start the event session: the answer claims a size of 10 bytes: its header alone "
          "has 20" },
    };
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        expect_bad_reply(&replies[i], true);
        expect_bad_reply(&replies[i], false);
    }
}

static void test_cut_off(void **state)
{
    (void)state;
    static const struct bad_reply replies[] = {
        { BYTES(""), GCD_E_PEER, GCD_ERROR_GONE,
          "cannot start the event session: no answer: the process ended or closed its diagnostic "
          "port" },
        { BYTES("DOTNET_"), GCD_E_PEER, GCD_ERROR_GONE,
          "cannot start the event session: the answer is cut off after 7 bytes of its header: the "
          "process has ended" },
        { BYTES(FAKE_MAGIC "\x1c\x00\xff\x00\x00\x00"), GCD_E_PEER, GCD_ERROR_GONE,
          "cannot start the event session: the answer is cut off after 0 bytes of its payload: the "
          "process has ended" },
        { FAKE_OK_SESSION_BYTES, 27, GCD_E_PEER, GCD_ERROR_GONE,
          "cannot start the event session: the answer is cut off after 7 bytes of its payload: the "
          "process has ended" },
    };
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++)
        expect_bad_reply(&replies[i], false);
}

static const struct fake_act silent[] = { { .op = FAKE_RECV },
                                          { .op = FAKE_HOLD },
                                          { .op = FAKE_CLOSE } };
static const struct fake_act *const silent_script[] = { silent };

static void test_silent_until_timeout(void **state)
{
    (void)state;
    struct fake_target *t = begin(silent_script, 1);
    struct client c;
    client_init(&c);
    c.options.timeout_ms = 150;
    c.grace_ms = 100;
    gcd_status st = collect(&c, t);
    expect_failure(
        &c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
        "the runtime has not answered (it does so after the garbage collection) within 150 ms");
    assert_true(fake_target_client_closed(t, 0));
    assert_int_equal(fake_target_accepted(t), 1);
    finish(t);
}

static void test_silent_until_cancel(void **state)
{
    (void)state;
    struct fake_target *t = begin(silent_script, 1);
    struct client c;
    client_init(&c);
    c.cancel_in_gc = true;
    c.grace_ms = 100;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_CANCELED, GCD_ERROR_OTHER, "canceled");
    assert_true(fake_target_client_closed(t, 0));
    finish(t);
}

/* The answer arrives within the grace: then there is a session, and it is stopped. */
static void test_reply_after_cancel(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },      { FAKE_SLEEP, 400, 0, 0, 0 }, FAKE_OK_SESSION,
        FAKE_SEND("late", 4),     { FAKE_WAIT, 0, 0, 0, 0 },    FAKE_SEND("tail", 4),
        { FAKE_SET, 1, 0, 0, 0 }, { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.cancel_in_gc = true;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_CANCELED, GCD_ERROR_OTHER, "canceled");
    expect_stop_request(t);
    assert_int_equal(c.n_seen, 0);
    assert_true(c.result.stopped && c.result.stream_ended);
    finish(t);
}

static void test_canceled_before_start(void **state)
{
    (void)state;
    struct fake_target *t = begin(silent_script, 1);
    struct client c;
    client_init(&c);
    atomic_store(&c.cancel, true);
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_CANCELED, GCD_ERROR_OTHER, "canceled");
    const uint8_t *none;
    assert_int_equal(fake_target_request(t, 0, &none), 0);
    finish(t);
}

static void test_nobody_there(void **state)
{
    (void)state;
    struct client c;
    char dir[] = "/tmp/gcd-nobody-XXXXXX";
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    char text[256];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s/socket", dir);
    client_init(&c);
    c.options.socket_path = addr.sun_path;
    gcd_status st = collect(&c, NULL);
    (void)snprintf(text, sizeof text, "cannot connect: there is no diagnostic socket %s",
                   addr.sun_path);
    expect_failure(&c, st, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET, text);

    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    close(fd);
    st = collect(&c, NULL);
    (void)snprintf(text, sizeof text, "cannot connect: nobody listens at %s, its process has ended",
                   addr.sun_path);
    expect_failure(&c, st, GCD_E_NOT_FOUND, GCD_ERROR_STALE_SOCKET, text);
    assert_int_equal(unlink(addr.sun_path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void test_arguments(void **state)
{
    (void)state;
    struct client c;
    client_init(&c);
    gcd_status st = collect(&c, NULL);
    expect_failure(&c, st, GCD_E_ARG, GCD_ERROR_OTHER,
                   "a collection needs a socket and somebody to take the events");
    c.options.socket_path = "/nonexistent";
    c.options.on_data = NULL;
    assert_int_equal(collect(&c, NULL), GCD_E_ARG);
    c.options.on_data = on_data;
    c.options.buffer_mb = 4096;
    st = collect(&c, NULL);
    expect_failure(&c, st, GCD_E_ARG, GCD_ERROR_OTHER,
                   "cannot ask for an event buffer of 4096 MB: the size must be 1 to 4095");
    c.options.buffer_mb = 0;
    c.options.level = 6;
    assert_int_equal(collect(&c, NULL), GCD_E_ARG);
    assert_int_equal(c.steps[GCD_IPC_STEP_CONNECT], 0);
    c.options.level = 0;
    assert_int_equal(gcd_ipc_collect(&c.options, &c.result, NULL), GCD_E_NOT_FOUND);
}

/* ---- a session that fails is stopped nevertheless ---- */

/* STREAM, then a good stop; C has its options.  The tail comes after the stop and must be read, but
 * not delivered. */
static gcd_status collect_and_stop(struct client *c)
{
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },       FAKE_OK_SESSION,      FAKE_SEND("Net#!", 5),
        { FAKE_WAIT, 0, 0, 0, 0 }, FAKE_SEND("tail", 4), { FAKE_SET, 1, 0, 0, 0 },
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    gcd_status st = collect(c, t);
    expect_stop_request(t);
    assert_string_equal(c->seen, "Net#!");
    assert_int_equal(c->result.stream_bytes, 9);
    assert_true(c->result.stopped && c->result.stream_ended);
    assert_int_equal(c->last_step, GCD_IPC_STEP_STOP);
    finish(t);
    return st;
}

static void test_cancel_in_stream(void **state)
{
    (void)state;
    struct client c;
    client_init(&c);
    c.cancel_at_hash = true;
    gcd_status st = collect_and_stop(&c);
    expect_failure(&c, st, GCD_E_CANCELED, GCD_ERROR_OTHER, "canceled");
}

static void test_timeout_in_stream(void **state)
{
    (void)state;
    struct client c;
    client_init(&c);
    c.options.timeout_ms = 400;
    gcd_status st = collect_and_stop(&c);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the heap walk was not over within 400 ms");
}

/* A few bytes now and then do not keep others waiting. */
static void test_too_little_in_stream(void **state)
{
    (void)state;
    struct client c;
    client_init(&c);
    c.options.stall_ms = 400;
    gcd_status st = collect_and_stop(&c);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the process sent less than 64 KiB of events within 400 ms");
}

static void test_caller_fails(void **state)
{
    (void)state;
    struct client c;
    client_init(&c);
    c.bad = GCD_E_LIMIT;
    c.bad_text = "too large a block";
    gcd_status st = collect_and_stop(&c);
    expect_failure(&c, st, GCD_E_LIMIT, GCD_ERROR_OTHER, "too large a block");
    client_init(&c);
    c.bad = GCD_E_FORMAT;
    st = collect_and_stop(&c);
    expect_failure(&c, st, GCD_E_FORMAT, GCD_ERROR_OTHER, "the data are damaged");
}

/* A failure in the tail: the stop was already sent. */
static void test_caller_fails_after_stop(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },       FAKE_OK_SESSION,          FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 }, FAKE_SEND("!", 1),        { FAKE_SLEEP, 50, 0, 0, 0 },
        FAKE_SEND("more", 4),      { FAKE_SET, 1, 0, 0, 0 }, { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.bad = GCD_E_NOMEM;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_NOMEM, GCD_ERROR_OTHER, "out of memory");
    assert_string_equal(c.seen, "$!");
    assert_true(c.result.stopped && c.result.stream_ended);
    assert_int_equal(fake_target_accepted(t), 2);
    finish(t);
}

/* The same without an answer to the stop: that failed first, so it is reported. */
static void test_caller_fails_after_another_failure(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },
        FAKE_OK_SESSION,
        FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 },
        { FAKE_SLEEP, 100, 0, 0, 0 },
        FAKE_SEND("!", 1),
        { FAKE_SLEEP, 50, 0, 0, 0 },
        FAKE_SEND("more", 4),
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act stop[] = { { .op = FAKE_RECV },
                                            { FAKE_SET, 0, 0, 0, 0 },
                                            { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream, stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.bad = GCD_E_LIMIT;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "cannot stop the event session: no answer: the process ended or closed its "
                   "diagnostic port");
    assert_string_equal(c.seen, "$!");
    finish(t);
}

static void test_end_before_stop(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV }, FAKE_OK_SESSION, FAKE_SEND("Nettrace", 8), { .op = FAKE_CLOSE }
    };
    static const struct fake_act vanishing[] = { { .op = FAKE_RECV },
                                                 FAKE_OK_SESSION,
                                                 FAKE_SEND("Nettrace", 8),
                                                 { .op = FAKE_VANISH },
                                                 { .op = FAKE_CLOSE } };
    for (int i = 0; i < 2; i++) {
        const struct fake_act *const scripts[] = { i == 0 ? stream : vanishing };
        struct fake_target *t = begin(scripts, 1);
        struct client c;
        client_init(&c);
        gcd_status st = collect(&c, t);
        expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                       "the event stream ended after 8 bytes, before the heap walk was over: the "
                       "process has ended");
        assert_string_equal(c.seen, "Nettrace");
        assert_false(c.result.stopped);
        assert_false(c.result.stream_ended);
        finish(t);
    }
}

/* ---- a stop that fails ---- */

/* The process ends while the caller is busy: nothing to stop.  Bytes in the pipe are delivered. */
static void test_gone_before_stop(void **state)
{
    (void)state;
    static const struct fake_act stream[] = { { .op = FAKE_RECV },  FAKE_OK_SESSION,
                                              FAKE_SEND("$", 1),    { FAKE_SLEEP, 100, 0, 0, 0 },
                                              FAKE_SEND("tail", 4), { .op = FAKE_VANISH },
                                              { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream };
    struct fake_target *t = begin(scripts, 1);
    struct client c;
    client_init(&c);
    c.nap_ms = 500;
    c.grace_ms = over_tcp ? 300 : c.grace_ms;
    gcd_status st = collect(&c, t);
    if (over_tcp) /* it may still connect for the stop, but that is not needed: the stream has ended
                   */
        assert_int_equal(st, GCD_OK);
    else
        expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                       "cannot stop the event session: the process has ended");
    assert_string_equal(c.seen, "$tail");
    assert_false(c.result.stopped);
    assert_true(c.result.stream_ended);
    finish(t);
}

/* STREAM after the flag 0 of the stop script STOP. */
static gcd_status collect_stop(struct client *c, const struct fake_act *stop, enum fake_op then,
                               uint64_t grace_ms)
{
    const struct fake_act stream[] = { { .op = FAKE_RECV },  FAKE_OK_SESSION,
                                       FAKE_SEND("$", 1),    { FAKE_WAIT, 0, 0, 0, 0 },
                                       FAKE_SEND("tail", 4), { .op = then },
                                       { .op = FAKE_CLOSE } };
    const struct fake_act *const scripts[] = { stream, stop };
    struct fake_target *t = begin(scripts, 2);
    client_init(c);
    c->grace_ms = grace_ms;
    gcd_status st = collect(c, t);
    assert_string_equal(c->seen, "$tail");
    finish(t);
    return st;
}

static void test_stop_goes_wrong(void **state)
{
    (void)state;
    static const struct fake_act refusing[] = { { .op = FAKE_RECV },
                                                { FAKE_SET, 0, 0, 0, 0 },
                                                FAKE_BAD_ENCODING,
                                                { .op = FAKE_HOLD },
                                                { .op = FAKE_CLOSE } };
    static const struct fake_act mistaken[] = {
        { .op = FAKE_RECV },
        { FAKE_SET, 0, 0, 0, 0 },
        FAKE_SEND_LITERAL(FAKE_MAGIC "\x1c\x00\xff\x00\x00\x00"
                                     "\x01\0\0\0\0\0\0\0"),
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act mute[] = { { .op = FAKE_RECV },
                                            { FAKE_SET, 0, 0, 0, 0 },
                                            { .op = FAKE_CLOSE } };
    static const struct fake_act quiet[] = {
        { .op = FAKE_RECV }, { FAKE_SET, 0, 0, 0, 0 }, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    static const struct fake_act brief[] = { { .op = FAKE_RECV },
                                             { FAKE_SET, 0, 0, 0, 0 },
                                             { FAKE_SLEEP, 100, 0, 0, 0 },
                                             FAKE_OK_SESSION,
                                             { .op = FAKE_CLOSE } };
    struct client c;
    gcd_status st = collect_stop(&c, refusing, FAKE_CLOSE, 4000);
    expect_failure(
        &c, st, GCD_E_PEER, GCD_ERROR_REFUSED,
        "cannot stop the event session: the runtime refused: it could not read the request "
        "(BAD_ENCODING, 0x80131384)");
    assert_true(c.result.stream_ended && !c.result.stopped);
    st = collect_stop(&c, mistaken, FAKE_CLOSE, 4000);
    expect_failure(&c, st, GCD_E_FORMAT, GCD_ERROR_OTHER,
                   "cannot stop the event session: the runtime stopped session 0x1 instead of "
                   "0x123456789abcdef");
    st = collect_stop(&c, mute, FAKE_CLOSE, 4000);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "cannot stop the event session: no answer: the process ended or closed its "
                   "diagnostic port");
    assert_true(c.result.stream_ended && !c.result.stopped);
    /* The stop cannot be delivered, and the stream goes on. */
    st = collect_stop(&c, mute, FAKE_HOLD, 200);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_GONE,
                   "cannot stop the event session: no answer: the process ended or closed its "
                   "diagnostic port");
    assert_true(!c.result.stream_ended && !c.result.stopped);
    /* A complete stream is a complete dump, even if the runtime is slow to confirm the stop. */
    st = collect_stop(&c, quiet, FAKE_CLOSE, 200);
    assert_int_equal(st, GCD_OK);
    assert_true(c.result.stream_ended && !c.result.stopped);
    st = collect_stop(&c, brief, FAKE_HOLD, 200);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the event stream did not end after the session was stopped");
    assert_true(!c.result.stream_ended && c.result.stopped);
}

static void test_timeout_in_stop(void **state)
{
    (void)state;
    static const struct fake_act stream[] = { { .op = FAKE_RECV },
                                              FAKE_OK_SESSION,
                                              FAKE_SEND("$", 1),
                                              { .op = FAKE_HOLD },
                                              { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream, silent };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.options.timeout_ms = 400;
    c.grace_ms = 100;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the event stream had not ended within 400 ms");
    assert_true(fake_target_client_closed(t, 0));
    assert_true(fake_target_client_closed(t, 1));
    finish(t);
}

/* A runtime that is stopped, or whose thread for the port hangs. */
static void test_stop_is_not_answered(void **state)
{
    (void)state;
    static const struct fake_act stream[] = { { .op = FAKE_RECV },
                                              FAKE_OK_SESSION,
                                              FAKE_SEND("$", 1),
                                              { .op = FAKE_HOLD },
                                              { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream, silent };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.answer_ms = 300;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "cannot stop the event session: no answer within 300 ms, the process is "
                   "stopped, or busy with another client");
    assert_true(!c.result.stream_ended && !c.result.stopped);
    finish(t);
}

/* It does not answer, but it sends: that is not silence. */
static void test_stop_is_answered_late(void **state)
{
    (void)state;
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },
        FAKE_OK_SESSION,
        FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 },
        FAKE_SEND_PIECES("a long tail", 11, 1, 100),
        { FAKE_SET, 1, 0, 0, 0 },
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.answer_ms = 600;
    c.grace_ms = 10;
    assert_int_equal(collect(&c, t), GCD_OK);
    assert_string_equal(c.seen, "$a long tail");
    finish(t);
}

/* It goes on sending, whether the stop is answered or not: for a limited time only. */
static void test_goes_on_after_the_stop(void **state)
{
    (void)state;
    static char drip[] =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    static const struct fake_act stream[] = {
        { .op = FAKE_RECV },
        FAKE_OK_SESSION,
        FAKE_SEND("$", 1),
        { FAKE_WAIT, 0, 0, 0, 0 },
        FAKE_SEND_PIECES(drip, sizeof drip - 1, 1, 100),
        { FAKE_SET, 1, 0, 0, 0 },
        { .op = FAKE_CLOSE },
    };
    static const struct fake_act answered[] = {
        { .op = FAKE_RECV }, { FAKE_SET, 0, 0, 0, 0 }, FAKE_OK_SESSION, { .op = FAKE_CLOSE }
    };
    for (int i = 0; i < 2; i++) {
        const struct fake_act *const scripts[] = { stream, i == 0 ? good_stop : answered };
        struct fake_target *t = begin(scripts, 2);
        struct client c;
        client_init(&c);
        c.answer_ms = c.grace_ms = 1000;
        c.farewell_ms = 1500;
        gcd_status st = collect(&c, t);
        expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                       "the event stream did not end within 1500 ms after the session was stopped");
        assert_true(c.n_seen > 1 && !c.result.stream_ended);
        finish(t);
    }
}

/* The answer means that the walk is over, but no event arrives. */
static void test_nothing_after_the_walk(void **state)
{
    (void)state;
    static const struct fake_act stream[] = { { .op = FAKE_RECV },      FAKE_OK_SESSION,
                                              FAKE_SEND("Nettrace", 8), { FAKE_WAIT, 0, 0, 0, 0 },
                                              { FAKE_SET, 1, 0, 0, 0 }, { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { stream, good_stop };
    struct fake_target *t = begin(scripts, 2);
    struct client c;
    client_init(&c);
    c.plan.answers_after_walk = true;
    c.answer_ms = 300;
    gcd_status st = collect(&c, t);
    expect_failure(&c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
                   "the runtime answered, but then sent nothing of a heap walk for 300 ms: it "
                   "forced no garbage collection "
                   "(Native AOT of .NET 8 and 9 never does), or is stopped");
    expect_stop_request(t);
    assert_true(c.result.stopped);
    finish(t);
}

/* gcd_ipc_collect: its first request is a step that progress shows, too. */
static void test_first_request(void **state)
{
    (void)state;
    struct fake_target *t = begin(silent_script, 1);
    struct client c;
    client_init(&c);
    aim(&c, t);
    c.options.timeout_ms = 500;
    gcd_status st = gcd_ipc_collect(&c.options, &c.result, &c.err);
    expect_failure(
        &c, st, GCD_E_PEER, GCD_ERROR_TIMEOUT,
        "the runtime has not answered within 500 ms: it is stopped, or busy with another client");
    assert_true(c.steps[GCD_IPC_STEP_CONNECT] >= 2);
    finish(t);
}

/* A peer that is gone must not end this process. */
static void test_no_sigpipe(void **state)
{
    (void)state;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    assert_int_equal(gcd_sock_send_whole(fd[0], (const uint8_t *)"abc", 3), 0);
    uint8_t *large = calloc(1, 1 << 24);
    assert_non_null(large);
    assert_int_equal(gcd_sock_send_whole(fd[0], large, 1 << 24), -EMSGSIZE);
    free(large);
    close(fd[1]);
    assert_int_equal(gcd_sock_send_whole(fd[0], (const uint8_t *)"abc", 3), -EPIPE);
    close(fd[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_longer_reply),
        cmocka_unit_test(test_large_stream),
        cmocka_unit_test(test_reply_before_end),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_silent_until_timeout),
        cmocka_unit_test(test_silent_until_cancel),
        cmocka_unit_test(test_reply_after_cancel),
        cmocka_unit_test(test_canceled_before_start),
        cmocka_unit_test(test_cancel_in_stream),
        cmocka_unit_test(test_timeout_in_stream),
        cmocka_unit_test(test_too_little_in_stream),
        cmocka_unit_test(test_caller_fails),
        cmocka_unit_test(test_caller_fails_after_stop),
        cmocka_unit_test(test_caller_fails_after_another_failure),
        cmocka_unit_test(test_end_before_stop),
        cmocka_unit_test(test_gone_before_stop),
        cmocka_unit_test(test_stop_goes_wrong),
        cmocka_unit_test(test_timeout_in_stop),
        cmocka_unit_test(test_stop_is_not_answered),
        cmocka_unit_test(test_stop_is_answered_late),
        cmocka_unit_test(test_goes_on_after_the_stop),
        cmocka_unit_test(test_nothing_after_the_walk),
        cmocka_unit_test(test_first_request),
    };
    const struct CMUnitTest without_runtime[] = {
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_no_sigpipe),
    };
    int failed = cmocka_run_group_tests_name("to the socket of the runtime", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("without a runtime", without_runtime, NULL, NULL);
    over_tcp = true;
    return failed + cmocka_run_group_tests_name("from the runtime, over TCP", tests, NULL, NULL);
}
