/*
 * Ports over TCP: addresses, who may reach them, and connections that break.  What a runtime does
 * there: test_ipc_port, test_ipc_session.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gcdumpc/unstable/ipc_target.h>

#include "ipc/connect/ipc_port.h"
#include "ipc/connect/ipc_tcp.h"
#include "support/check.h"
#include "support/fake_target.h"

static gcd_status listen_at(const char *address, bool any, struct gcd_ipc_tcp_place *ret,
                            struct gcd_error *err)
{
    struct gcd_ipc_port *port = NULL;
    memset(ret, 0, sizeof *ret);
    *err = (struct gcd_error)GCD_ERROR_INIT;
    gcd_status st = gcd_ipc_port_listen_tcp(address, any, ret, &port, err);
    assert_int_equal(port != NULL, st == GCD_OK);
    gcd_ipc_port_free(port);
    return st;
}

static void test_forms(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        ":",
        ":9000",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1: 1",
        "127.0.0.1:65536",
        "127.0.0.1:000001",
        "127.0.0.1:1x",
        "127.1:9000",
        "::1:9000",
        "[::1]",
        "[::1:9000",
        "::1]:9000",
        "[]:9000",
        "[127.0.0.1]:9000",
        "[::1%lo]:9000",
        "shop.example.org:9000",
        "LOCALHOST:9000",
        "*:9000",
        "127.0.0.1,9000",
        "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001]:1",
    };
    struct gcd_ipc_tcp_place place;
    struct gcd_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(listen_at(wrong[i], true, &place, &err), GCD_E_ARG);
        assert_int_equal(err.reason, GCD_ERROR_OTHER);
        assert_non_null(strstr(err.msg, "HOST:PORT is expected"));
        assert_string_equal(place.address, "");
    }
    assert_int_equal(listen_at(NULL, true, &place, &err), GCD_E_ARG);
}

static void expect(const char *address, bool any, const char *host, const char *variable,
                   bool loopback)
{
    struct gcd_ipc_tcp_place place;
    struct gcd_error err;
    char want[GCD_IPC_TCP_BYTES * 2];
    gcd_status st = listen_at(address, any, &place, &err);
    if (st == GCD_E_IO && address[0] == '[')
        return; /* no IPv6 here */
    assert_string_equal(err.msg, "");
    assert_int_equal(st, GCD_OK);
    const char *port = strrchr(place.address, ':');
    assert_non_null(port);
    assert_string_not_equal(port, ":0"); /* the one that was chosen */
    (void)snprintf(want, sizeof want, "%s%s", host, port);
    assert_string_equal(place.address, want);
    (void)snprintf(want, sizeof want, "%s%s", variable, port);
    assert_string_equal(place.variable, want);
    assert_int_equal(place.loopback, loopback);
}

static void test_addresses(void **state)
{
    (void)state;
    expect("127.0.0.1:0", false, "127.0.0.1", "127.0.0.1", true);
    expect("127.1.2.3:0", false, "127.1.2.3", "127.1.2.3", true);
    expect("localhost:0", false, "127.0.0.1", "127.0.0.1", true);
    expect("[::1]:0", false, "[::1]", "::1", true);
    expect("[::ffff:127.0.0.1]:0", false, "[::ffff:127.0.0.1]", "::ffff:127.0.0.1", true);
    expect("0.0.0.0:0", true, "0.0.0.0", "HOST", false);
    expect("[::]:0", true, "[::]", "HOST", false);
}

static void test_others_can_reach_it(void **state)
{
    (void)state;
    static const char *const open[] = {
        "0.0.0.0:0",      "[::]:0",    "10.1.2.3:9000", "128.0.0.1:9000", "[::ffff:10.0.0.1]:9000",
        "[fe80::1]:9000", "[::2]:9000"
    };
    struct gcd_ipc_tcp_place place;
    struct gcd_error err;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        assert_int_equal(listen_at(open[i], false, &place, &err), GCD_E_ARG);
        assert_int_equal(err.reason, GCD_ERROR_PERMISSION);
        assert_non_null(strstr(err.msg, "other machines can reach"));
    }
}

static void test_cannot_listen(void **state)
{
    (void)state;
    struct gcd_ipc_tcp_place place, none;
    struct gcd_ipc_port *port = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    char want[200];
    assert_int_equal(gcd_ipc_port_listen_tcp("127.0.0.1:0", false, &place, &port, &err), GCD_OK);
    assert_int_equal(listen_at(place.address, false, &none, &err), GCD_E_IO);
    (void)snprintf(want, sizeof want, "cannot listen at %s: another program does", place.address);
    assert_string_equal(err.msg, want);
    gcd_ipc_port_free(port);
    assert_int_equal(listen_at(place.address, false, &none, &err), GCD_OK); /* free at once */
    assert_string_equal(none.address, place.address);
    /* an address for examples */
    assert_int_equal(listen_at("192.0.2.1:9000", true, &none, &err), GCD_E_IO);
    assert_string_equal(err.msg,
                        "cannot listen at 192.0.2.1:9000: this machine has no such address");
}

/* A runtime that is taken, broken, and replaced. */
struct taken {
    struct gcd_ipc_port *port;
    char path[GCD_IPC_TCP_BYTES + 4];
    int theirs, ours;
};

static const char words[] = FAKE_ADVERTISE_BYTES(FAKE_COOKIE, FAKE_PID);

static void take(struct taken *t)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_ipc_runtime r;
    t->theirs = fake_connect(t->path);
    assert_true(t->theirs >= 0);
    assert_int_equal(send(t->theirs, words, sizeof words - 1, MSG_NOSIGNAL), sizeof words - 1);
    assert_int_equal(gcd_ipc_port_wait(t->port, 60000, NULL, &r, &err), GCD_OK);
    assert_false(r.visible);
    assert_int_equal(r.pid, 12345);
    t->ours = gcd_port_take(t->port);
    for (int i = 0; i < 6000 && t->ours < 0; i++) {
        assert_int_equal(gcd_ipc_port_pause(t->port, 10, NULL, &err), GCD_OK);
        t->ours = gcd_port_take(t->port);
    }
    assert_true(t->ours >= 0);
}

static void open_port(struct taken *t)
{
    struct gcd_ipc_tcp_place place;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_ipc_port_listen_tcp("127.0.0.1:0", false, &place, &t->port, &err), GCD_OK);
    (void)snprintf(t->path, sizeof t->path, "tcp:%s", place.address);
}

/* Ends with a reset instead of an orderly end, as a phone that restarts. */
static void reset(int fd)
{
    const struct linger l = { .l_onoff = 1, .l_linger = 0 };
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l), 0);
    (void)close(fd);
}

static void test_silent_peers_are_asked(void **state)
{
    (void)state;
    struct taken t;
    int value = 0;
    socklen_t n = sizeof value;
    open_port(&t);
    take(&t);
    assert_int_equal(getsockopt(t.ours, SOL_SOCKET, SO_KEEPALIVE, &value, &n), 0);
    assert_true(value != 0);
    assert_int_equal(getsockopt(t.ours, IPPROTO_TCP, TCP_KEEPIDLE, &value, &n), 0);
    assert_true(value <= 30);
    (void)close(t.ours);
    (void)close(t.theirs);
    gcd_ipc_port_free(t.port);
}

static void test_reset(void **state)
{
    (void)state;
    struct taken t;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_ipc_process_info none;
    open_port(&t);
    /* strangers: before a word, and in the middle of one */
    for (int i = 0; i < 3; i++) {
        int fd = fake_connect(t.path);
        assert_true(fd >= 0);
        if (i > 0)
            assert_int_equal(send(fd, words, 10, MSG_NOSIGNAL), 10);
        reset(fd);
    }
    take(&t);
    (void)close(t.ours);
    (void)close(t.theirs);
    take(&t); /* it connects again */
    (void)close(t.ours);
    reset(t.theirs);
    int idle = fake_connect(t.path);
    assert_int_equal(send(idle, words, sizeof words - 1, MSG_NOSIGNAL), sizeof words - 1);
    reset(idle); /* while it is unused */
    assert_int_equal(gcd_ipc_port_process_info(t.port, 300, NULL, &none, &err), GCD_E_PEER);
    assert_true(err.reason == GCD_ERROR_TIMEOUT || err.reason == GCD_ERROR_GONE);
    gcd_ipc_port_free(t.port);
}

/* No kernel reports the end of a process on another machine; only its failure to reconnect shows
 * it. */
static void test_it_stays_away(void **state)
{
    (void)state;
    struct taken t;
    struct gcd_error err = GCD_ERROR_INIT;
    open_port(&t);
    take(&t);
    gcd_port_set_patience(t.port, 200);
    (void)close(t.ours);
    (void)close(t.theirs);
    assert_int_equal(gcd_ipc_port_pause(t.port, 60000, NULL, &err), GCD_E_PEER);
    assert_int_equal(err.reason, GCD_ERROR_GONE);
    assert_string_equal(err.msg, "the process has ended, or it cannot connect any more");
    err = (struct gcd_error)GCD_ERROR_INIT;
    int idle = fake_connect(t.path); /* an idle connection is enough */
    assert_int_equal(send(idle, words, sizeof words - 1, MSG_NOSIGNAL), sizeof words - 1);
    gcd_port_set_patience(t.port, 60000);
    assert_int_equal(gcd_ipc_port_pause(t.port, 500, NULL, &err), GCD_OK);
    gcd_port_set_patience(t.port, 100);
    assert_int_equal(gcd_ipc_port_pause(t.port, 1000, NULL, &err), GCD_OK);
    (void)close(idle);
    gcd_ipc_port_free(t.port);
}

static void test_errors_of_accept(void **state)
{
    (void)state;
    assert_true(gcd_tcp_is_of_connection(ECONNABORTED));
    assert_true(gcd_tcp_is_of_connection(EPROTO));
    assert_true(gcd_tcp_is_of_connection(ENETUNREACH));
    assert_false(gcd_tcp_is_of_connection(EBADF));
    assert_false(gcd_tcp_is_of_connection(EMFILE));
    assert_false(gcd_tcp_is_of_connection(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_others_can_reach_it),
        cmocka_unit_test(test_cannot_listen),
        cmocka_unit_test(test_silent_peers_are_asked),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_it_stays_away),
        cmocka_unit_test(test_errors_of_accept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
