/*
 * Scripted runtimes that connect to our port.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "ipc/connect/ipc_dial.h"
#include "ipc/connect/ipc_port.h"
#include "ipc/collect/ipc_drain.h"
#include "ipc/wire/ipc_sock.h"
#include "support/check.h"
#include "support/fake_target.h"
#include "support/meanwhile.h"

#define COOKIE    "0123456789abcdef"
#define PID       "\x39\x30\0\0\0\0\0\0"
#define ADVERTISE FAKE_SEND_LITERAL(FAKE_ADVERTISE_BYTES(COOKIE, PID))
#define OTHER     FAKE_SEND_LITERAL(FAKE_ADVERTISE_BYTES("fedcba9876543210", PID))
#define TEXT(c)   "\x02\0\0\0" c "\0\0\0"
#define OK_INFO                                                                                  \
    FAKE_SEND_LITERAL(FAKE_MAGIC "\x60\x00\xff\x00\x00\x00"                                      \
                                 "\x01\0\0\0" PID COOKIE TEXT("c") TEXT("o") TEXT("a") TEXT("e") \
                                     TEXT("v") TEXT("r"))
#define OK_RESUME                                           \
    FAKE_SEND_LITERAL(FAKE_MAGIC "\x18\x00\xff\x00\x00\x00" \
                                 "\0\0\0\0")
#define ID         "\x22\0\0\0\0\0\0\0"
#define OK_ID      FAKE_SEND_LITERAL(FAKE_MAGIC "\x1c\x00\xff\x00\x00\x00" ID)
#define STOP_BYTES FAKE_MAGIC "\x1c\x00\x02\x01\x00\x00"
#define SET(flag)                    \
    {                                \
        FAKE_SET, (flag), NULL, 0, 0 \
    }
#define WAIT(flag)                    \
    {                                 \
        FAKE_WAIT, (flag), NULL, 0, 0 \
    }

struct fixture {
    bool tcp;
    char dir[64];
    char path[96];
    struct gcd_ipc_port *port;
    struct gcd_error err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/gcd-port-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->path, sizeof f->path, "%s/port", f->dir);
    f->err = (struct gcd_error)GCD_ERROR_INIT;
    *state = f;
    return 0;
}

/* Listens from the beginning: only then the number of the port is known. */
static int set_up_tcp(void **state)
{
    struct gcd_ipc_tcp_place place;
    assert_int_equal(set_up(state), 0);
    struct fixture *f = *state;
    f->tcp = true;
    assert_int_equal(gcd_ipc_port_listen_tcp("127.0.0.1:0", false, &place, &f->port, &f->err),
                     GCD_OK);
    (void)snprintf(f->path, sizeof f->path, "tcp:%s", place.address);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    gcd_ipc_port_free(f->port);
    (void)unlink(f->path);
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

static void listen_at(struct fixture *f)
{
    if (!f->tcp)
        assert_int_equal(gcd_ipc_port_listen(f->path, &f->port, &f->err), GCD_OK);
}

static void expect_runtime(struct fixture *f)
{
    struct gcd_ipc_runtime r;
    gcd_status st = gcd_ipc_port_wait(f->port, 10000, NULL, &r, &f->err);
    assert_string_equal(f->err.msg, "");
    assert_int_equal(st, GCD_OK);
    assert_memory_equal(r.cookie, COOKIE, 16);
    assert_int_equal(r.visible, !f->tcp);
    /* from the kernel, not the 12345 of the message, where it knows */
    assert_int_equal(r.pid, f->tcp ? 12345 : getpid());
}

static void expect_info(struct fixture *f)
{
    struct gcd_ipc_process_info info;
    gcd_status st = gcd_ipc_port_process_info(f->port, 5000, NULL, &info, &f->err);
    assert_string_equal(f->err.msg, "");
    assert_int_equal(st, GCD_OK);
    assert_int_equal(info.pid, 12345);
    assert_string_equal(info.entry_assembly, "e");
    gcd_ipc_process_info_done(&info);
}

static void expect_command(struct fake_target *t, size_t i, char set, char id)
{
    const uint8_t *request;
    assert_true(fake_target_request(t, i, &request) >= 20);
    assert_memory_equal(request, FAKE_MAGIC, 14);
    assert_int_equal(request[16], set);
    assert_int_equal(request[17], id);
}

/* A runtime makes its next connection after it has served the last one. */
static const struct fake_act info_pieces[] = {
    FAKE_SEND_PIECES(FAKE_ADVERTISE_BYTES(COOKIE, PID), 34, 1, 1),
    { .op = FAKE_RECV },
    OK_INFO,
    { .op = FAKE_CLOSE },
};
static const struct fake_act info[] = {
    ADVERTISE, { .op = FAKE_RECV }, OK_INFO, { .op = FAKE_CLOSE }
};
static const struct fake_act resume[] = {
    ADVERTISE, { .op = FAKE_RECV }, OK_RESUME, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
};
static const struct fake_act idle[] = { ADVERTISE, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE } };

static void test_info_and_resume(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act *const scripts[] = { info_pieces, resume, info, idle };
    /* it retries until there is a listener */
    struct fake_target *t = fake_target_connect(f->path, scripts, 4);
    listen_at(f);
    expect_runtime(f);
    expect_info(f);
    assert_int_equal(gcd_ipc_port_resume(f->port, 5000, NULL, &f->err), GCD_OK);
    assert_true(fake_target_client_closed(t, 1));
    expect_info(f);
    expect_runtime(f); /* again the same */
    assert_int_equal(gcd_ipc_port_pause(f->port, 20, NULL, &f->err), GCD_OK);
    assert_int_equal(gcd_ipc_port_others(f->port), 0);
    expect_command(t, 0, 0x04, 0x08);
    expect_command(t, 1, 0x04, 0x01);
    expect_command(t, 2, 0x04, 0x08);
    gcd_ipc_port_free(f->port);
    f->port = NULL;
    assert_true(access(f->path, F_OK) != 0);
    fake_target_stop(t);
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act bad[] = {
        ADVERTISE, { .op = FAKE_RECV }, FAKE_BAD_ENCODING, { .op = FAKE_CLOSE }
    };
    static const struct fake_act mute[] = {
        ADVERTISE, { .op = FAKE_RECV }, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const scripts[] = { bad, mute };
    listen_at(f);
    struct fake_target *t = fake_target_connect(f->path, scripts, 2);
    expect_runtime(f);
    assert_int_equal(gcd_ipc_port_resume(f->port, 5000, NULL, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_REFUSED);
    assert_int_equal(gcd_ipc_port_resume(f->port, 50, NULL, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_TIMEOUT);
    struct gcd_ipc_process_info none; /* and one that never connects again */
    fake_target_stop(t);
    assert_int_equal(gcd_ipc_port_process_info(f->port, 50, NULL, &none, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_TIMEOUT);
}

/* ---- collections ---- */

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    char *seen = ctx;
    (void)err;
    strncat(seen, (const char *)bytes, n);
    return memchr(bytes, '$', n) != NULL ? GCD_END : GCD_OK;
}

static void expect_collect(struct fixture *f, enum gcd_ipc_strategy strategy)
{
    char seen[64] = "";
    static const struct gcd_session_graces graces = {
        .reply_ms = 4000,
        .stop_ms = 4000,
        .answer_ms = 4000,
        .rundown_ms = 4000,
        .farewell_ms = 60000,
    };
    struct gcd_plan plan = { .strategy = strategy, .command = GCD_WIRE_COLLECT_TRACING2 };
    struct gcd_ipc_collect_options o = {
        .port = f->port, .on_data = on_data, .ctx = seen, .timeout_ms = 10000
    };
    struct gcd_ipc_collect_result result;
    gcd_status st = gcd_session_collect(&o, &plan, &graces, &result, &f->err);
    assert_string_equal(f->err.msg, "");
    assert_int_equal(st, GCD_OK);
    assert_string_equal(seen, "Nettrace$ tail");
    assert_true(result.stopped);
    assert_true(result.stream_ended);
}

#define RECORD(first, last)                                                                 \
    {                                                                                       \
        ADVERTISE, { .op = FAKE_RECV }, FAKE_OK_SESSION, { .op = FAKE_NEXT },               \
            FAKE_SEND_LITERAL("Nettrace"), WAIT(first), FAKE_SEND_LITERAL("$"), WAIT(last), \
            FAKE_SEND_LITERAL(" tail"), SET((last) + 1),                                    \
        {                                                                                   \
            .op = FAKE_CLOSE                                                                \
        }                                                                                   \
    }
#define STOP_RECORD(last)                                                             \
    {                                                                                 \
        ADVERTISE, { .op = FAKE_RECV }, SET(last), WAIT((last) + 1), FAKE_OK_SESSION, \
        {                                                                             \
            .op = FAKE_CLOSE                                                          \
        }                                                                             \
    }

static void test_several_collections(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act record1[] = RECORD(31, 1), stop1[] = STOP_RECORD(1),
                                 record2[] = RECORD(31, 3), stop2[] = STOP_RECORD(3);
    static const struct fake_act first[] = {
        SET(31), ADVERTISE, { .op = FAKE_RECV }, OK_INFO, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const scripts[] = { first, record1, stop1, record2, stop2, info };
    listen_at(f);
    struct fake_target *t = fake_target_connect(f->path, scripts, 6);
    expect_runtime(f);
    expect_info(f);
    expect_collect(f, GCD_IPC_STRATEGY_SINGLE);
    expect_collect(f, GCD_IPC_STRATEGY_SINGLE);
    expect_info(f);
    for (size_t i = 1; i < 5; i += 2) {
        expect_command(t, i, 0x02, 0x03);
        expect_command(t, i + 1, 0x02, 0x01);
    }
    fake_target_stop(t);
}

/* Both stops are requested at once, and each waits for its own connection, in the right order. */
static void test_stops_in_order(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act record[] = RECORD(0, 1), stop_record[] = STOP_RECORD(1);
    /* The connection for the first stop arrives before the stop is requested. */
    static const struct fake_act trigger[] = { ADVERTISE,
                                               { .op = FAKE_RECV },
                                               { .op = FAKE_NEXT },
                                               { FAKE_SLEEP, 100, NULL, 0, 0 },
                                               OK_ID,
                                               SET(0),
                                               WAIT(4),
                                               { .op = FAKE_CLOSE } };
    static const struct fake_act stop_trigger[] = {
        ADVERTISE, { .op = FAKE_RECV }, SET(4), OK_ID, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const scripts[] = { record, trigger, stop_record, stop_trigger };
    listen_at(f);
    struct fake_target *t = fake_target_connect(f->path, scripts, 4);
    expect_runtime(f);
    expect_collect(f, GCD_IPC_STRATEGY_DRAIN);
    const uint8_t *request;
    assert_int_equal(fake_target_request(t, 2, &request), 28);
    assert_memory_equal(request, STOP_BYTES "\xef\xcd\xab\x89\x67\x45\x23\x01", 28);
    assert_int_equal(fake_target_request(t, 3, &request), 28);
    assert_memory_equal(request, STOP_BYTES ID, 28);
    fake_target_stop(t);
}

/* ---- who else may connect ---- */

static void test_strangers(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act bad_magic[] = { FAKE_SEND_LITERAL("ADVR_V2\0" COOKIE PID "\0\0"),
                                                 { .op = FAKE_HOLD },
                                                 { .op = FAKE_CLOSE } };
    static const struct fake_act cut[] = { FAKE_SEND("ADVR_V1\0" COOKIE PID "\0", 33),
                                           { .op = FAKE_CLOSE } };
    static const struct fake_act silent[] = { { .op = FAKE_HOLD }, { .op = FAKE_CLOSE } };
    static const struct fake_act probe[] = { { .op = FAKE_CLOSE } };
    static const struct fake_act *const scripts[] = { bad_magic, cut, silent, probe, idle };
    struct gcd_ipc_runtime r;
    listen_at(f);
    gcd_port_set_patience(f->port, 100);
    struct fake_target *t = fake_target_connect(f->path, scripts, 4);
    for (int i = 0; i < 20 && strstr(f->err.msg, "only 3") == NULL; i++) { /* a slow machine */
        f->err = (struct gcd_error)GCD_ERROR_INIT;
        assert_int_equal(gcd_ipc_port_wait(f->port, 1000, NULL, &r, &f->err), GCD_E_PEER);
    }
    assert_string_equal(
        f->err.msg,
        "no runtime has connected within 1000 ms, only 3 others that do not speak its protocol");
    assert_int_equal(f->err.reason, GCD_ERROR_TIMEOUT);
    assert_true(fake_target_client_closed(t, 0));
    assert_true(fake_target_client_closed(t, 2));
    fake_target_stop(t);
    struct fake_target *good = fake_target_connect(f->path, scripts + 4, 1);
    f->err = (struct gcd_error)GCD_ERROR_INIT;
    expect_runtime(f);
    fake_target_stop(good);
}

static void test_two_runtimes(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act other[] = {
        OTHER, SET(0), { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const scripts[] = { info, info };
    static const struct fake_act *const others[] = { other };
    listen_at(f);
    struct fake_target *t = fake_target_connect(f->path, scripts, 2);
    expect_runtime(f);
    struct fake_target *o = fake_target_connect(f->path, others, 1);
    for (int i = 0; i < 500 && gcd_ipc_port_others(f->port) == 0; i++)
        assert_int_equal(gcd_ipc_port_pause(f->port, 10, NULL, &f->err), GCD_OK);
    assert_int_equal(gcd_ipc_port_others(f->port), 1);
    expect_info(f);
    expect_info(f);
    assert_int_equal(gcd_ipc_port_others(f->port), 1); /* it was not cut off */
    const uint8_t *request;
    assert_int_equal(fake_target_request(o, 0, &request), 0);
    gcd_ipc_port_free(f->port);
    f->port = NULL;
    assert_true(fake_target_client_closed(o, 0));
    fake_target_stop(o);
    fake_target_stop(t);
}

static void test_flood(void **state)
{
    struct fixture *f = *state;
    enum { FLOOD = 300 };
    static const struct fake_act *const scripts[] = { info };
    static int fds[FLOOD];
    listen_at(f);
    for (int i = 0; i < FLOOD; i++)
        assert_true((fds[i] = fake_connect(f->path)) >= 0);
    struct fake_target *t = fake_target_connect(f->path, scripts, 1);
    expect_runtime(f);
    expect_info(f);
    unsigned open = 0;
    for (int i = 0; i < FLOOD; i++) {
        char c;
        open += recv(fds[i], &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
        (void)close(fds[i]);
    }
    assert_true(open > 0);
    assert_true(open <= 64);
    fake_target_stop(t);
}

/* A connection that has sent WORDS[n]. */
static int guest(struct fixture *f, const char *words, size_t n)
{
    int fd = fake_connect(f->path);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, words, n, MSG_NOSIGNAL), n);
    return fd;
}

static const char our_words[] = FAKE_ADVERTISE_BYTES(COOKIE, PID),
                  other_words[] = FAKE_ADVERTISE_BYTES("fedcba9876543210", PID);
enum { WORDS = sizeof our_words - 1 };

static void serve(struct fixture *f)
{
    for (int i = 0; i < 50; i++)
        assert_int_equal(gcd_port_serve(f->port, &f->err), GCD_OK);
}

static bool is_cut(int fd)
{
    char c;
    return recv(fd, &c, 1, MSG_DONTWAIT) >= 0;
}

/* Who is dropped when there is no room: silent connections first, then those that have advertised,
 * the wanted runtime last. */
static void test_flood_behind_the_runtime(void **state)
{
    struct fixture *f = *state;
    enum { FLOOD = 100, ROOM = 64 };
    int fds[FLOOD];
    listen_at(f);
    int wanted = guest(f, our_words, WORDS);
    expect_runtime(f);
    int other = guest(f, other_words, WORDS);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = fake_connect(f->path);
        serve(f);
        assert_int_equal(gcd_ipc_port_others(f->port), 1);
    }
    for (int i = 0; i < FLOOD; i++) /* who came first goes first */
        assert_int_equal(is_cut(fds[i]), i < FLOOD - (ROOM - 2));
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = guest(f, other_words, WORDS);
        serve(f);
    }
    assert_int_equal(gcd_ipc_port_others(f->port), ROOM - 1);
    assert_true(is_cut(other));
    assert_false(is_cut(wanted));
    int fd = gcd_port_take(f->port);
    assert_true(fd >= 0);
    (void)close(fd);
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    (void)close(other);
    (void)close(wanted);
}

/* Connections of one runtime are used in the order of their arrival, whatever slot they are in. */
static void test_the_oldest_is_taken_first(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 3 };
    int fds[COUNT];
    char c;
    listen_at(f);
    int before = fake_connect(f->path);
    serve(f);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = guest(f, our_words, WORDS);
        serve(f);
        if (i == 0)
            (void)close(before); /* the second one gets this slot */
    }
    for (int i = 0; i < COUNT; i++) {
        int fd = gcd_port_take(f->port);
        assert_true(fd >= 0);
        assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(k >= i && recv(fds[k], &c, 1, MSG_DONTWAIT) == 1, k == i);
        (void)close(fd);
        (void)close(fds[i]);
    }
    assert_int_equal(gcd_port_take(f->port), -1);
}

/* A connection that sent more than its advertisement is kept until it closes, and the early bytes
 * are there for its user. */
static void test_early_bytes(void **state)
{
    struct fixture *f = *state;
    char back[8];
    listen_at(f);
    int wanted = guest(f, FAKE_ADVERTISE_BYTES(COOKIE, PID) "early", WORDS + 5);
    int other = guest(f, FAKE_ADVERTISE_BYTES("fedcba9876543210", PID) "early", WORDS + 5);
    serve(f);
    assert_int_equal(gcd_ipc_port_others(f->port), 1);
    int fd = gcd_port_take(f->port);
    assert_true(fd >= 0);
    assert_int_equal(recv(fd, back, sizeof back, MSG_DONTWAIT), 5);
    assert_memory_equal(back, "early", 5);
    (void)close(fd);
    (void)close(wanted);
    assert_int_equal(shutdown(other, SHUT_WR), 0);
    serve(f);
    assert_int_equal(gcd_ipc_port_others(f->port), 0);
    (void)close(other);
}

struct caller {
    struct gcd_dial_waiter waiter;
    int fd;
};

static void on_fd(struct gcd_dial_waiter *w, int fd, gcd_status st, const struct gcd_error *err)
{
    (void)err;
    assert_int_equal(st, GCD_OK);
    ((struct caller *)w)->fd = fd;
}

/* The port is served only while a caller waits: otherwise it does not keep the loop alive. */
static void test_nobody_waits(void **state)
{
    struct fixture *f = *state;
    struct gcd_dial d;
    struct caller a = { .waiter.on_fd = on_fd, .fd = -1 }, b = a;
    uv_loop_t loop;
    int fd;
    listen_at(f);
    assert_int_equal(uv_loop_init(&loop), 0);
    struct gcd_peer peer = { .port = f->port };
    assert_int_equal(gcd_dial_open(&d, &loop, &peer, &f->err), GCD_OK);
    assert_int_equal(uv_run(&loop, UV_RUN_NOWAIT), 0);
    assert_int_equal(gcd_dial_connect(&d, &a.waiter, &fd, &f->err), GCD_OK);
    assert_int_equal(gcd_dial_connect(&d, &b.waiter, &fd, &f->err), GCD_OK);
    assert_int_equal(fd, -1);
    assert_true(uv_run(&loop, UV_RUN_NOWAIT) != 0);
    gcd_dial_leave(&d, &a.waiter);
    assert_true(uv_run(&loop, UV_RUN_NOWAIT) != 0);
    gcd_dial_leave(&d, &b.waiter);
    assert_int_equal(uv_run(&loop, UV_RUN_NOWAIT), 0);
    assert_int_equal(gcd_dial_connect(&d, &a.waiter, &fd, &f->err), GCD_OK);
    int runtime = guest(f, our_words, WORDS);
    for (int i = 0; i < 1000 && a.fd < 0; i++)
        (void)uv_run(&loop, UV_RUN_ONCE);
    assert_true(a.fd >= 0);
    assert_int_equal(uv_run(&loop, UV_RUN_NOWAIT), 0);
    gcd_dial_close(&d);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    (void)close(a.fd);
    (void)close(runtime);
}

static void test_process_ends(void **state)
{
    struct fixture *f = *state;
    struct gcd_ipc_runtime r;
    struct gcd_ipc_process_info none;
    listen_at(f);
    pid_t child = fork();
    if (child == 0) {
        int fd = fake_connect(f->path);
        char c;
        (void)!send(fd, FAKE_ADVERTISE_BYTES(COOKIE, PID), 34, MSG_NOSIGNAL);
        (void)!recv(fd, &c, 1, 0); /* the request; then it dies */
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(gcd_ipc_port_wait(f->port, 10000, NULL, &r, &f->err), GCD_OK);
    assert_int_equal(r.pid, child);
    assert_int_equal(gcd_ipc_port_process_info(f->port, 0, NULL, &none, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_GONE);
    assert_int_equal(waitpid(child, NULL, 0), child);
    /* A caller that waits without a timeout for the next connection gets an error. */
    assert_int_equal(gcd_ipc_port_process_info(f->port, 0, NULL, &none, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_GONE);
    assert_string_equal(f->err.msg, "the process has ended");
    assert_int_equal(gcd_ipc_port_pause(f->port, 60000, NULL, &f->err), GCD_E_PEER);
    assert_int_equal(f->err.reason, GCD_ERROR_GONE);
}

static void test_cancel(void **state)
{
    struct fixture *f = *state;
    static const struct fake_act *const scripts[] = { info };
    gcd_cancel_flag cancel = true;
    struct gcd_ipc_runtime r;
    struct gcd_ipc_process_info none;
    listen_at(f);
    assert_int_equal(gcd_ipc_port_wait(f->port, 0, &cancel, &r, &f->err), GCD_E_CANCELED);
    atomic_store(&cancel, false);
    struct fake_target *t = fake_target_connect(f->path, scripts, 1);
    assert_int_equal(gcd_ipc_port_wait(f->port, 0, &cancel, &r, &f->err), GCD_OK);
    f->err = (struct gcd_error)GCD_ERROR_INIT;
    expect_info(f);
    atomic_store(&cancel, true);
    assert_int_equal(gcd_ipc_port_process_info(f->port, 0, &cancel, &none, &f->err),
                     GCD_E_CANCELED);
    assert_int_equal(gcd_ipc_port_pause(f->port, 60000, &cancel, &f->err), GCD_E_CANCELED);
    assert_int_equal(gcd_ipc_port_resume(NULL, 0, NULL, &f->err), GCD_E_ARG);
    fake_target_stop(t);
}

/* ---- the socket file ---- */

static void expect_refused(struct fixture *f, const char *path, const char *text)
{
    char want[400];
    struct gcd_ipc_port *none = NULL;
    assert_int_equal(gcd_ipc_port_listen(path, &none, &f->err), GCD_E_IO);
    (void)snprintf(want, sizeof want, "cannot listen at %s: %s", path, text);
    assert_string_equal(f->err.msg, want);
    assert_null(none);
}

static void test_file(void **state)
{
    struct fixture *f = *state;
    struct stat sb;
    mode_t old = umask(0);
    listen_at(f);
    (void)umask(old);
    assert_int_equal(stat(f->path, &sb), 0);
    assert_true(S_ISSOCK(sb.st_mode));
    assert_int_equal(sb.st_mode & 07777, 0600);
    expect_refused(f, f->path, "another program does");
    /* Another program's file is left alone. */
    assert_int_equal(unlink(f->path), 0);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    (void)fclose(file);
    gcd_ipc_port_free(f->port);
    f->port = NULL;
    assert_int_equal(stat(f->path, &sb), 0);
    expect_refused(f, f->path, "a file with that name exists and is not a socket");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(symlink("/dev/null", f->path), 0);
    expect_refused(f, f->path, "a file with that name exists and is not a socket");
    assert_int_equal(unlink(f->path), 0);
    expect_refused(f, "/nonexistent/port", "there is no such folder");
    gcd_ipc_port_free(NULL);
    assert_int_equal(gcd_ipc_port_listen("", &f->port, &f->err), GCD_E_ARG);
    assert_int_equal(gcd_ipc_port_listen(NULL, &f->port, &f->err), GCD_E_ARG);
}

static void test_stale_file(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
    static const struct fake_act *const scripts[] = { idle };
    listen_at(f);
    struct fake_target *t = fake_target_connect(f->path, scripts, 1);
    expect_runtime(f);
    fake_target_stop(t);
}

static char stale_path[96], new_path[96];

/* Another process has seen the stale socket, too, and is quicker. */
static void replace_the_stale(enum meanwhile_call call, const char *name, int flags)
{
    (void)flags;
    if (call == MEANWHILE_RENAME && strcmp(name, "port") == 0 && access(new_path, F_OK) == 0)
        assert_int_equal(rename(new_path, stale_path), 0);
}

/* A file that was moved aside, and is not the one that was checked, gets its name back. */
static void test_stale_file_is_replaced_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct gcd_ipc_port *quicker = NULL;
    (void)snprintf(stale_path, sizeof stale_path, "%s", f->path);
    (void)snprintf(new_path, sizeof new_path, "%s/new", f->dir);
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
    assert_int_equal(gcd_ipc_port_listen(new_path, &quicker, &f->err), GCD_OK);
    meanwhile(replace_the_stale);
    expect_refused(f, f->path, "another program does");
    meanwhile(NULL);
    assert_int_equal(access(new_path, F_OK), -1);
    fd = fake_connect(f->path);
    assert_true(fd >= 0);
    (void)close(fd);
    gcd_ipc_port_free(quicker);
}

/* Another user's stale socket is not taken over, not even by root. */
static void test_stale_file_of_another_user(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct stat sb;
    if (geteuid() != 0)
        skip(); /* only root gives files away */
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
    assert_int_equal(chown(f->path, 65534, (gid_t)-1), 0);
    expect_refused(f, f->path, "a socket of another user exists");
    assert_int_equal(stat(f->path, &sb), 0);
    assert_int_equal(sb.st_uid, 65534);
}

/* Nor our own, in a folder of another user. */
static void test_stale_file_in_a_folder_of_another_user(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct stat sb;
    if (geteuid() != 0)
        skip(); /* only root gives folders away */
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
    assert_int_equal(chown(f->dir, 65534, (gid_t)-1), 0);
    expect_refused(
        f, f->path,
        "an old socket exists in a folder of another user, where gcdumpc removes nothing");
    assert_int_equal(stat(f->path, &sb), 0);
    assert_int_equal(chown(f->dir, 0, (gid_t)-1), 0);
    listen_at(f);
}

/* The socket was renamed after bind: /proc/net/unix shows the bound name.  Nothing else is left
 * (tear_down). */
static void test_listens_before_it_is_found(void **state)
{
    struct fixture *f = *state;
    char line[512], first[32];
    unsigned ours = 0;
    (void)snprintf(first, sizeof first, "/.gcdumpc-%ld-", (long)getpid());
    listen_at(f);
    FILE *sockets = fopen("/proc/net/unix", "r");
    assert_non_null(sockets);
    while (fgets(line, sizeof line, sockets) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = strchr(line, '/');
        ours += path != NULL && strstr(path, first) != NULL;
        assert_true(path == NULL || strcmp(path, f->path) != 0);
    }
    (void)fclose(sockets);
    assert_int_equal(ours, 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", f->path);
    assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
}

/* Out of descriptors for a new connection: nothing ends, and it is accepted when one is free again.
 */
static void test_no_descriptors(void **state)
{
    struct fixture *f = *state;
    static const char words[] = FAKE_ADVERTISE_BYTES(COOKIE, PID);
    struct rlimit all, none;
    struct rusage before, after;
    const char *preload = getenv("LD_PRELOAD");
    if (preload != NULL && strstr(preload, "vgpreload") != NULL)
        skip(); /* valgrind accepts the connection, then closes it */
    listen_at(f);
    int fd = fake_connect(f->path);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, words, sizeof words - 1, MSG_NOSIGNAL), sizeof words - 1);
    int next = dup(fd);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none = all;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    (void)getrusage(RUSAGE_THREAD, &before);
    gcd_status st = gcd_ipc_port_pause(f->port, 350, NULL, &f->err);
    (void)getrusage(RUSAGE_THREAD, &after);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_string_equal(f->err.msg, "");
    assert_int_equal(st, GCD_OK);
    assert_true(after.ru_nvcsw - before.ru_nvcsw >= 3); /* it has slept, so the loop was not busy */
    expect_runtime(f);
    (void)close(fd);
}

static void test_long_path(void **state)
{
    struct fixture *f = *state;
    char dir[256], path[300];
    struct gcd_ipc_port *port = NULL;
    (void)snprintf(dir, sizeof dir, "%s/%0100d", f->dir, 7);
    (void)snprintf(path, sizeof path, "%s/port", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(gcd_ipc_port_listen(path, &port, &f->err), GCD_OK);
    assert_int_equal(access(path, F_OK), 0);
    expect_refused(f, path, "another program does");
    gcd_ipc_port_free(port);
    assert_true(access(path, F_OK) != 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Names of all lengths around the 108 bytes of an address. */
static void test_paths_of_all_lengths(void **state)
{
    struct fixture *f = *state;
    char path[200];
    for (size_t n = 104; n < 112; n++) {
        int used = snprintf(path, sizeof path, "%s/", f->dir);
        memset(path + used, 'x', sizeof path - (size_t)used);
        path[n] = '\0';
        struct gcd_ipc_port *port = NULL;
        assert_int_equal(gcd_ipc_port_listen(path, &port, &f->err), GCD_OK);
        int fd = gcd_sock_connect(path);
        assert_true(fd >= 0);
        (void)close(fd);
        gcd_ipc_port_free(port);
        assert_int_equal(gcd_sock_connect(path), -ENOENT);
    }
}

/* All or nothing: part of a request is worse than none.  A closed connection raises no signal. */
static void test_whole_requests(void **state)
{
    (void)state;
    static const uint8_t large[4 << 20];
    int fds[2];
    void (*old)(int) = signal(SIGPIPE, SIG_DFL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    assert_int_equal(gcd_sock_send_whole(fds[0], large, 100), 0);
    assert_int_equal(gcd_sock_send_whole(fds[0], large, sizeof large), -EMSGSIZE);
    assert_int_equal(gcd_sock_send_whole(fds[0], large, sizeof large), -EAGAIN);
    (void)close(fds[1]);
    assert_int_equal(gcd_sock_send_whole(fds[0], large, 1), -EPIPE);
    (void)close(fds[0]);
    (void)signal(SIGPIPE, old);
}

/* Its folder is renamed and a link takes the old name: in the end only our file is removed, nothing
 * elsewhere. */
static void test_the_folder_is_renamed(void **state)
{
    struct fixture *f = *state;
    char dir[96], moved[96], other[96], path[128], inside[128], victim[128];
    struct gcd_ipc_port *port = NULL;
    (void)snprintf(dir, sizeof dir, "%s/d", f->dir);
    (void)snprintf(moved, sizeof moved, "%s/moved", f->dir);
    (void)snprintf(other, sizeof other, "%s/other", f->dir);
    (void)snprintf(path, sizeof path, "%s/port", dir);
    (void)snprintf(inside, sizeof inside, "%s/port", moved);
    (void)snprintf(victim, sizeof victim, "%s/port", other);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(gcd_ipc_port_listen(path, &port, &f->err), GCD_OK);
    assert_int_equal(link(path, victim), 0); /* even the same file */
    assert_int_equal(rename(dir, moved), 0);
    assert_int_equal(symlink("other", dir), 0);
    gcd_ipc_port_free(port);
    assert_true(access(inside, F_OK) != 0);
    assert_int_equal(unlink(victim), 0);
    /* our own link to the folder is followed, another user's is not */
    assert_int_equal(gcd_ipc_port_listen(path, &port, &f->err), GCD_OK);
    assert_int_equal(access(victim, F_OK), 0);
    gcd_ipc_port_free(port);
    assert_true(access(victim, F_OK) != 0);
    if (geteuid() == 0) {
        assert_int_equal(lchown(dir, 65534, 65534), 0);
        expect_refused(f, path, "a link of another user leads to its folder");
    }
    assert_int_equal(unlink(dir), 0);
    assert_int_equal(rmdir(moved), 0);
    assert_int_equal(rmdir(other), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
#define OVER_TCP(t)                                    \
    {                                                  \
#t " over TCP", t, set_up_tcp, tear_down, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_info_and_resume),
        TEST(test_refused),
        TEST(test_several_collections),
        TEST(test_stops_in_order),
        TEST(test_strangers),
        TEST(test_two_runtimes),
        TEST(test_flood),
        TEST(test_process_ends),
        TEST(test_cancel),
        TEST(test_file),
        TEST(test_stale_file),
        TEST(test_long_path),
        TEST(test_the_folder_is_renamed),
        TEST(test_stale_file_of_another_user),
        TEST(test_stale_file_in_a_folder_of_another_user),
        TEST(test_listens_before_it_is_found),
        TEST(test_no_descriptors),
        TEST(test_flood_behind_the_runtime),
        TEST(test_the_oldest_is_taken_first),
        TEST(test_early_bytes),
        TEST(test_nobody_waits),
        TEST(test_paths_of_all_lengths),
        TEST(test_whole_requests),
        TEST(test_stale_file_is_replaced_meanwhile),
        OVER_TCP(test_info_and_resume),
        OVER_TCP(test_refused),
        OVER_TCP(test_several_collections),
        OVER_TCP(test_stops_in_order),
        OVER_TCP(test_strangers),
        OVER_TCP(test_two_runtimes),
        OVER_TCP(test_flood),
        OVER_TCP(test_cancel),
        OVER_TCP(test_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
