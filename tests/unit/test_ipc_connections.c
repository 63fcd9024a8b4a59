/*
 * Connections at a diagnostic socket: a fake list of sockets, and a real one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ipc/process/ipc_connections.h"
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

static char dir[64], path[128];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/gcd-connections-XXXXXX");
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static void fake_lists(void **state)
{
    (void)state;
    static const char text[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
                               "000000001c7ba778: 00000002 00000000 00010000 0001 01 918685 "
                               "/tmp/dotnet-diagnostic-42-7-socket\n"
                               "000000001c7ba779: 00000003 00000000 00000000 0001 03 918686 "
                               "/tmp/dotnet-diagnostic-42-7-socket\n"
                               "000000001c7ba77a: 00000003 00000000 00000000 0001 03 918687 /a "
                               "b/dotnet-diagnostic-42-7-socket\n"
                               "000000001c7ba77b: 00000003 00000000 00000000 0001 03 918688 "
                               "/tmp/dotnet-diagnostic-42-77-socket\n"
                               "000000001c7ba77c: 00000003 00000000 00000000 0001 03 918689 "
                               "/tmp/xdotnet-diagnostic-42-7-socket\n"
                               "000000001c7ba77d: 00000003 00000000 00000000 0001 03 918690\n"
                               "000000001c7ba77e: 00000003 00000000 00000000 0001 03 918691 "
                               "@dotnet-diagnostic-42-7-socket\n"
                               "garbage /dotnet-diagnostic-42-7-socket\n"
                               "000000001c7ba77f: 00000003 00000000 00000000 0001 03 918692 "
                               "/tmp/dotnet-diagnostic-42-7-socket";
    char name[128];
    const char *const folders[] = { "42", "42/net" };
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "%s/%s", dir, folders[i]);
        assert_int_equal(mkdir(name, 0700), 0);
    }
    (void)snprintf(path, sizeof path, "%s/42/net/unix", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    assert_int_equal(
        gcd_connections_read(dir, 42, "/proc/42/root/tmp/dotnet-diagnostic-42-7-socket"), 3);
    assert_int_equal(gcd_connections_read(dir, 42, "dotnet-diagnostic-42-7-socket"), 3);
    assert_int_equal(gcd_connections_read(dir, 42, "/tmp/dotnet-diagnostic-43-7-socket"), 0);
    assert_int_equal(gcd_connections_read(dir, 43, "/tmp/dotnet-diagnostic-42-7-socket"),
                     GCD_IPC_UNKNOWN);
    char found[64];
    struct gcd_listeners l = { .alloc = gcd_alloc_or_default(NULL) };
    assert_true(
        gcd_listeners_have(&l, dir, 42, "dotnet-diagnostic-42-7-socket", found, sizeof found));
    assert_string_equal(found, "/tmp/dotnet-diagnostic-42-7-socket");
    assert_false(gcd_listeners_have(&l, dir, 42, "dotnet-diagnostic-42-77-socket", found,
                                    sizeof found)); /* only connections */
    assert_false(
        gcd_listeners_have(&l, dir, 43, "dotnet-diagnostic-42-7-socket", found, sizeof found));
    assert_true(gcd_listeners_may_have(&l, dir, 42, 42));
    assert_false(gcd_listeners_may_have(&l, dir, 42, 7));
    assert_true(gcd_listeners_may_have(&l, dir, 43, 7)); /* unknown */
    /* it is read once */
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_true(
        gcd_listeners_have(&l, dir, 42, "dotnet-diagnostic-42-7-socket", found, sizeof found));
    gcd_listeners_done(&l);
    assert_false(
        gcd_listeners_have(&l, dir, 42, "dotnet-diagnostic-42-7-socket", found, sizeof found));
    gcd_listeners_done(&l);
    assert_int_equal(remove(path), 0);
    for (size_t i = 2; i-- > 0;) {
        (void)snprintf(name, sizeof name, "%s/%s", dir, folders[i]);
        assert_int_equal(rmdir(name), 0);
    }
}

static void a_real_socket(void **state)
{
    (void)state;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s/socket%d", dir, (int)getpid());
    uint32_t pid = (uint32_t)getpid();
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
        client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(gcd_ipc_connections(pid, a.sun_path), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof a), 0);
    int accepted = accept(listener, NULL, NULL);
    assert_true(accepted >= 0);
    assert_int_equal(gcd_ipc_connections(pid, a.sun_path), 1);
    assert_int_equal(close(client), 0);
    /* the process has not closed its end */
    assert_int_equal(gcd_ipc_connections(pid, a.sun_path), 1);
    assert_int_equal(close(accepted), 0);
    assert_int_equal(gcd_ipc_connections(pid, a.sun_path), 0);
    assert_int_equal(close(listener), 0);
    assert_int_equal(unlink(a.sun_path), 0);
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fake_lists),
                                        cmocka_unit_test(a_real_socket) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
