/*
 * The list of processes, in a fake /proc, with scripted runtimes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/process/ipc_discover.h"
#include "ipc/process/ipc_procfs.h"
#include "ipc/collect/ipc_finder.h"
#include "ipc/collect/ipc_list.h"
#include "support/fake_target.h"
#include "support/folder.h"

#define TEXT(c) "\x02\0\0\0" c "\0\0\0"
#define INFO3              \
    "\x01\0\0\0"           \
    "\x39\x30\0\0\0\0\0\0" \
    "0123456789abcdef" TEXT("c") TEXT("o") TEXT("a") TEXT("e") TEXT("v") TEXT("r")

#define ANSWER FAKE_SEND_LITERAL(FAKE_MAGIC "\x60\x00\xff\x00\x00\x00" INFO3)

/* Without a name of an assembly: it is too early. */
#define NAMELESS                                                                                   \
    FAKE_SEND_LITERAL(FAKE_MAGIC "\x5e\x00\xff\x00\x00\x00"                                        \
                                 "\x01\0\0\0\x39\x30\0\0\0\0\0\0"                                  \
                                 "0123456789abcdef" TEXT("c") TEXT("o") TEXT("a") "\x01\0\0\0"     \
                                                                                  "\0\0" TEXT("v") \
                                                                                      TEXT("r"))

/* Longer than any answer takes; tests without an answer wait this long. */
enum { ENOUGH_MS = 4000, SHORT_MS = 500 };

static const struct fake_act answer[] = {
    { .op = FAKE_RECV }, ANSWER, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
};
static const struct fake_act silent[] = { { .op = FAKE_RECV },
                                          { .op = FAKE_HOLD },
                                          { .op = FAKE_CLOSE } };
static const struct fake_act refuse[] = { { .op = FAKE_RECV },
                                          FAKE_BAD_ENCODING,
                                          { .op = FAKE_CLOSE } };
static const struct fake_act close_now[] = { { .op = FAKE_CLOSE } };

struct world {
    char dir[64];
    char proc[96];
    char tmp[96]; /* TMPDIR of the processes */
    char shared[96];
};

static void make_dir(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        return -1;
    (void)snprintf(w->dir, sizeof w->dir, "/tmp/gcd-list-XXXXXX");
    if (mkdtemp(w->dir) == NULL)
        return -1;
    (void)snprintf(w->proc, sizeof w->proc, "%s/proc", w->dir);
    (void)snprintf(w->tmp, sizeof w->tmp, "%s/tmp", w->dir);
    (void)snprintf(w->shared, sizeof w->shared, "%s/shared", w->dir);
    make_dir(w->proc);
    make_dir(w->tmp);
    make_dir(w->shared);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    (void)remove_folder(w->dir);
    free(w);
    return 0;
}

static void put(const struct world *w, const char *name, const char *bytes, size_t n)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", w->proc, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static void put_file(const struct world *w, uint32_t pid, const char *name, const char *bytes,
                     size_t n)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%u/%s", (unsigned)pid, name);
    put(w, path, bytes, n);
}

/* Started 10 s after boot. */
static void add_process(const struct world *w, uint32_t pid, const char *name, unsigned long flags)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s/%u", w->proc, (unsigned)pid);
    make_dir(text);
    int n = snprintf(text, sizeof text,
                     "%u (%s) S 1 2 3 4 5 %lu 7 8 9 10 11 12 13 14 15 16 17 18 %ld 20 21\n",
                     (unsigned)pid, name, flags, 10 * sysconf(_SC_CLK_TCK));
    put_file(w, pid, "stat", text, (size_t)n);
    n = snprintf(text, sizeof text,
                 "Name:\tx\nTgid:\t%u\nUid:\t1\t1234\t%u\t4\nVmRSS:\t   2048 kB\nNSpid:\t%u\n",
                 (unsigned)pid, (unsigned)geteuid(), (unsigned)pid);
    put_file(w, pid, "status", text, (size_t)n);
    n = snprintf(text, sizeof text, "TMPDIR=%s", w->tmp);
    put_file(w, pid, "environ", text, (size_t)n);
    static const char command_line[] = "/opt/shop\0--port\0"
                                       "80\0";
    put_file(w, pid, "cmdline", command_line, sizeof command_line);
    (void)snprintf(text, sizeof text, "%s/%u/exe", w->proc, (unsigned)pid);
    assert_int_equal(symlink("/opt/shop front (deleted)", text), 0);
}

/* The socket of T under the name it would have for PID. */
static void add_socket(const char *dir, uint32_t pid, struct fake_target *t)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/dotnet-diagnostic-%u-%ld-socket", dir, (unsigned)pid,
                   10 * sysconf(_SC_CLK_TCK));
    assert_int_equal(link(fake_target_path(t), path), 0);
}

static struct gcd_ipc_process_list list(const struct world *w, const char *own_tmpdir,
                                        unsigned answer_ms)
{
    struct gcd_ipc_process_list l = { .items = NULL };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_ipc_list_options options = { .own_tmpdir = own_tmpdir, .answer_ms = answer_ms };
    gcd_status st = gcd_list_processes(w->proc, w->shared, &options, &l, &err);
    assert_string_equal(err.msg, "");
    assert_int_equal(st, GCD_OK);
    return l;
}

static struct fake_target *start(const struct fake_act *const *script)
{
    return fake_target_start(script, 2);
}

/* First each socket is checked for its listener. */
static const struct fake_act *const answers[] = { close_now, answer },
                                    *const is_silent[] = { close_now, silent },
                                    *const refuses[] = { close_now, refuse };

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_what_is_known(void **state)
{
    struct world *w = *state;
    put(w, "uptime", "70.50 1.00\n", 11);
    add_process(w, 300, "a) b", 0);
    add_process(w, 20, "other", 0);
    add_process(w, 21, "kthread", 0x00200000);
    static const char cgroup[] = "0::/system.slice/docker-" ID ".scope/init.scope\n";
    put_file(w, 300, "cgroup", cgroup, sizeof cgroup - 1);
    struct fake_target *t = start(answers), *kernel = start(answers);
    add_socket(w->tmp, 300, t);
    add_socket(w->tmp, 21, kernel);
    struct gcd_ipc_process_list l = list(w, NULL, ENOUGH_MS);
    assert_int_equal(l.count, 1);
    const struct gcd_ipc_process *p = &l.items[0];
    assert_int_equal(p->pid, 300);
    assert_int_equal(p->inner_pid, 300);
    assert_string_equal(p->container, ID);
    assert_int_equal(p->uid, 1234);
    assert_int_equal(p->uptime_ms, 60500);
    assert_int_equal(p->rss_bytes, 2048 * 1024);
    assert_string_equal(p->name, "a) b");
    assert_string_equal(p->exe, "shop front");
    assert_string_equal(p->command_line, "/opt/shop --port 80");
    assert_string_equal(p->entry_assembly, "e");
    assert_string_equal(p->runtime_version, "v");
    assert_string_equal(p->arch, "a");
    assert_true(p->answered);
    assert_true(fake_target_client_closed(t, 1));
    gcd_ipc_list_done(&l);
    gcd_ipc_list_done(&l);
    fake_target_stop(t);
    fake_target_stop(kernel);
}

/* None of them answers before all have been asked. */
static void test_side_by_side(void **state)
{
    struct world *w = *state;
    enum { COUNT = 4 };
#define UNTIL_ALL_ARE_ASKED(i)                                                              \
    {                                                                                       \
        { .op = FAKE_RECV }, { .op = FAKE_SET, .arg = (i) }, { .op = FAKE_WAIT, .arg = 0 }, \
            { .op = FAKE_WAIT, .arg = 1 }, { .op = FAKE_WAIT, .arg = 2 },                   \
            { .op = FAKE_WAIT, .arg = 3 }, ANSWER, { .op = FAKE_HOLD },                     \
        {                                                                                   \
            .op = FAKE_CLOSE                                                                \
        }                                                                                   \
    }
    static const struct fake_act ask[COUNT][9] = { UNTIL_ALL_ARE_ASKED(0), UNTIL_ALL_ARE_ASKED(1),
                                                   UNTIL_ALL_ARE_ASKED(2), UNTIL_ALL_ARE_ASKED(3) };
    const struct fake_act *scripts[2 * COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        scripts[i] = close_now;
        scripts[COUNT + i] = ask[i];
    }
    struct fake_target *t = fake_target_start(scripts, 2 * COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        add_process(w, 100 + i, "x", 0);
        add_socket(w->tmp, 100 + i, t);
    }
    struct gcd_ipc_process_list l = list(w, NULL, ENOUGH_MS);
    assert_int_equal(l.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(l.items[i].answered);
    gcd_ipc_list_done(&l);
    fake_target_stop(t);
}

/* None is left out. */
static void test_who_does_not_answer(void **state)
{
    struct world *w = *state;
    enum { COUNT = 12 };
    struct fake_target *t[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        add_process(w, 100 + i, "x", 0);
        t[i] = start(i == 0 ? answers : i == 1 ? refuses : is_silent);
        add_socket(w->tmp, 100 + i, t[i]);
    }
    struct gcd_ipc_process_list l = list(w, NULL, SHORT_MS);
    assert_int_equal(l.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(l.items[i].pid, 100 + i);
        assert_string_equal(l.items[i].command_line, "/opt/shop --port 80");
        assert_string_equal(l.items[i].runtime_version, i == 0 ? "v" : "");
        assert_int_equal(l.items[i].answered, i == 0);
        assert_int_equal(l.items[i].reason, i == 0   ? GCD_ERROR_OTHER
                                            : i == 1 ? GCD_ERROR_REFUSED
                                                     : GCD_ERROR_TIMEOUT);
        assert_true(i < 2 || fake_target_client_closed(t[i], 1));
    }
    gcd_ipc_list_done(&l);
    for (size_t i = 0; i < COUNT; i++)
        fake_target_stop(t[i]);
}

/* After a wrong answer, of whatever kind, the process does not count as one that can be dumped. */
static void test_answers_that_are_none(void **state)
{
    struct world *w = *state;
    static const struct fake_act acts[][3] = {
        { { .op = FAKE_RECV }, { .op = FAKE_CLOSE } },
        { { .op = FAKE_RECV },
          FAKE_SEND_LITERAL("HTTP/1.1 400 Bad Request\r\n\r\n"),
          { .op = FAKE_CLOSE } },
        { { .op = FAKE_RECV },
          FAKE_SEND(FAKE_MAGIC "\x60\x00\xff\x00\x00\x00" INFO3, 40),
          { .op = FAKE_CLOSE } },
        { { .op = FAKE_RECV },
          FAKE_SEND_LITERAL(FAKE_MAGIC "\x18\x00\xff\x00\x00\x00"
                                       "\x01\x00\x00\x00"),
          { .op = FAKE_CLOSE } },
        { { .op = FAKE_RECV },
          FAKE_SEND_LITERAL(FAKE_MAGIC "\x14\x00\xff\x07\x00\x00"),
          { .op = FAKE_CLOSE } },
    };
    enum { COUNT = sizeof acts / sizeof *acts };
    const struct fake_act *scripts[COUNT][2];
    struct fake_target *t[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        scripts[i][0] = close_now;
        scripts[i][1] = acts[i];
        add_process(w, 100 + i, "x", 0);
        t[i] = start(scripts[i]);
        add_socket(w->tmp, 100 + i, t[i]);
    }
    struct gcd_ipc_process_list l = list(w, NULL, ENOUGH_MS);
    assert_int_equal(l.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_false(l.items[i].answered);
        assert_string_equal(l.items[i].runtime_version, "");
    }
    gcd_ipc_list_done(&l);
    for (size_t i = 0; i < COUNT; i++)
        fake_target_stop(t[i]);
}

/* The total timeout holds, whatever the timeout for each. */
static void test_time_of_all(void **state)
{
    struct world *w = *state;
    static const struct fake_act late[] = { { .op = FAKE_RECV },
                                            { FAKE_SLEEP, 1500, 0, 0, 0 },
                                            ANSWER,
                                            { .op = FAKE_HOLD },
                                            { .op = FAKE_CLOSE } };
    static const struct fake_act *const is_late[] = { close_now, late };
    add_process(w, 100, "x", 0);
    struct fake_target *t = start(is_late);
    add_socket(w->tmp, 100, t);
    struct gcd_ipc_process_list l = { .items = NULL };
    struct gcd_ipc_list_options options = { .answer_ms = 8000, .total_ms = 200 };
    assert_int_equal(gcd_list_processes(w->proc, w->shared, &options, &l, NULL), GCD_OK);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].reason, GCD_ERROR_TIMEOUT);
    gcd_ipc_list_done(&l);
    fake_target_stop(t);
}

/* However many are silent, only some are asked at a time: each needs a descriptor. */
static void test_some_at_a_time(void **state)
{
    struct world *w = *state;
    enum { COUNT = 40, ANSWER_MS = 100 };
    char path[256];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    (void)snprintf(to.sun_path, sizeof to.sun_path, "%.90s/silent", w->tmp);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(fd, 4 * COUNT), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        add_process(w, 100 + i, "x", 0);
        (void)snprintf(path, sizeof path, "%s/dotnet-diagnostic-%u-%ld-socket", w->tmp,
                       (unsigned)(100 + i), 10 * sysconf(_SC_CLK_TCK));
        assert_int_equal(link(to.sun_path, path), 0);
    }
    struct timespec before, after;
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    struct gcd_ipc_process_list l = list(w, NULL, ANSWER_MS);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    assert_int_equal(l.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(l.items[i].reason, GCD_ERROR_TIMEOUT);
    long ms =
        (long)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    assert_true(ms >= 2 * ANSWER_MS);
    gcd_ipc_list_done(&l);
    (void)close(fd);
}

/* The listener is this test, whatever pid the name has: one process, even with several sockets. */
static void test_sockets_without_a_process(void **state)
{
    struct world *w = *state;
    struct fake_target *t = start(answers), *second = start(answers);
    add_socket(w->shared, 77, t);
    add_socket(w->tmp, 78, second);
    struct gcd_ipc_process_list l = list(w, w->tmp, ENOUGH_MS);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].pid, getpid());
    assert_int_equal(l.items[0].uid, UINT32_MAX);
    assert_string_equal(l.items[0].command_line, "c"); /* from the process itself */
    assert_string_equal(l.items[0].entry_assembly, "e");
    gcd_ipc_list_done(&l);
    fake_target_stop(t);
    fake_target_stop(second);
}

/* ---- as they start ---- */

static struct gcd_ipc_process_list next(const struct world *w, struct gcd_ipc_finder *f,
                                        uint64_t now_ms)
{
    struct gcd_ipc_process_list l = { .items = NULL };
    struct gcd_ipc_list_options options = { .answer_ms = ENOUGH_MS };
    assert_int_equal(gcd_finder_next(f, w->proc, now_ms, &options, &l, NULL), GCD_OK);
    return l;
}

static void expect_next(const struct world *w, struct gcd_ipc_finder *f, uint64_t now_ms,
                        size_t count)
{
    struct gcd_ipc_process_list l = next(w, f, now_ms);
    assert_int_equal(l.count, count);
    gcd_ipc_list_done(&l);
}

/* The sockets of processes that /proc does not show are not touched: it would be at each call. */
static void test_each_is_found_once(void **state)
{
    struct world *w = *state;
    struct gcd_ipc_finder *f;
    struct fake_target *t = start(answers), *other = start(answers), *late = start(answers);
    put(w, "uptime", "70.50 1.00\n", 11);
    add_process(w, 300, "shop", 0);
    add_process(w, 20, "other", 0);
    add_socket(w->tmp, 300, t);
    add_socket(w->shared, 77, other);
    assert_int_equal(gcd_ipc_finder_new(NULL, &f, NULL), GCD_OK);
    struct gcd_ipc_process_list l = next(w, f, 1000);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].pid, 300);
    assert_string_equal(l.items[0].entry_assembly, "e");
    gcd_ipc_list_done(&l);
    expect_next(w, f, 3000, 0);
    assert_int_equal(fake_target_accepted(t), 2); /* one looks for its listener, one asks */
    assert_int_equal(fake_target_accepted(other), 0);
    add_process(w, 400, "late", 0);
    add_socket(w->tmp, 400, late);
    l = next(w, f, 5000);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].pid, 400);
    gcd_ipc_list_done(&l);
    expect_next(w, f, 100000, 0);
    /* another process with its number */
    gcd_ipc_finder_forget(f, 300);
    gcd_ipc_finder_forget(f, 301); /* never seen */
    l = next(w, f, 101000);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.items[0].pid, 300);
    gcd_ipc_list_done(&l);
    gcd_ipc_finder_free(f);
    fake_target_stop(t);
    fake_target_stop(other);
    fake_target_stop(late);
}

/* A process gets its socket after its start, or by exec: an old one is looked at once a minute. */
static void test_it_becomes_dotnet(void **state)
{
    struct world *w = *state;
    struct gcd_ipc_finder *f;
    struct fake_target *t = start(answers), *old = start(answers);
    put(w, "uptime", "12.00 1.00\n", 11); /* it started 2 s ago */
    add_process(w, 300, "shop", 0);
    assert_int_equal(gcd_ipc_finder_new(NULL, &f, NULL), GCD_OK);
    expect_next(w, f, 1000, 0);
    add_socket(w->tmp, 300, t);
    expect_next(w, f, 3000, 1);
    put(w, "uptime", "900.00 1.00\n", 12);
    add_process(w, 400, "script", 0);
    expect_next(w, f, 10000, 0);
    add_socket(w->tmp, 400, old);
    expect_next(w, f, 60000, 0);
    expect_next(w, f, 70000, 1);
    gcd_ipc_finder_free(f);
    fake_target_stop(t);
    fake_target_stop(old);
}

/* One that does not answer yet, or without a name, is asked again. */
static void test_it_answers_later(void **state)
{
    struct world *w = *state;
    struct gcd_ipc_finder *f;
    static const struct fake_act nameless[] = {
        { .op = FAKE_RECV }, NAMELESS, { .op = FAKE_HOLD }, { .op = FAKE_CLOSE }
    };
    static const struct fake_act *const later[] = { close_now, refuse,    close_now,
                                                    nameless,  close_now, answer };
    struct fake_target *t = fake_target_start(later, 6);
    put(w, "uptime", "12.00 1.00\n", 11);
    add_process(w, 300, "shop", 0);
    add_socket(w->tmp, 300, t);
    assert_int_equal(gcd_ipc_finder_new(NULL, &f, NULL), GCD_OK);
    struct gcd_ipc_process_list l = next(w, f, 1000);
    assert_int_equal(l.count, 1);
    assert_false(l.items[0].answered);
    gcd_ipc_list_done(&l);
    l = next(w, f, 3000);
    assert_int_equal(l.count, 1);
    assert_true(l.items[0].answered);
    assert_string_equal(l.items[0].entry_assembly, "");
    gcd_ipc_list_done(&l);
    l = next(w, f, 7000);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.items[0].entry_assembly, "e");
    gcd_ipc_list_done(&l);
    expect_next(w, f, 9000, 0);
    gcd_ipc_finder_free(f);
    fake_target_stop(t);
}

/* Sorted by pid, whether found in /proc or by socket. */
static void test_in_order(void **state)
{
    struct world *w = *state;
    uint32_t behind = (uint32_t)getpid() + 1;
    struct fake_target *t = start(answers), *second = start(answers);
    add_process(w, behind, "x", 0);
    add_socket(w->tmp, behind, t);
    add_socket(w->shared, 77, second);
    struct gcd_ipc_process_list l = list(w, NULL, ENOUGH_MS);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.items[0].pid, getpid());
    assert_int_equal(l.items[1].pid, behind);
    gcd_ipc_list_done(&l);
    fake_target_stop(t);
    fake_target_stop(second);
}

/* Both letters mean no answer: stopped by a signal, stopped by a debugger. */
static void test_states(void **state)
{
    struct world *w = *state;
    static const char states[] = "RSDIZXTt";
    add_process(w, 300, "x", 0);
    for (const char *s = states; *s != '\0'; s++) {
        char text[200];
        int n = snprintf(text, sizeof text,
                         "300 (T t) x) %c 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 900 20 21\n",
                         *s);
        put_file(w, 300, "stat", text, (size_t)n);
        struct gcd_procfs_facts facts;
        assert_true(gcd_procfs_facts(w->proc, 300, &facts));
        assert_int_equal(facts.stopped, *s == 'T' || *s == 't');
        assert_int_equal(facts.start_jiffies, 900);
        assert_string_equal(facts.name, "T t) x");
    }
}

static void test_nothing_and_errors(void **state)
{
    struct world *w = *state;
    struct gcd_ipc_process_list l = list(w, "/nonexistent", ENOUGH_MS);
    assert_int_equal(l.count, 0);
    gcd_ipc_list_done(&l);
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_list_processes("/nonexistent", w->shared, NULL, &l, &err), GCD_E_IO);
    assert_string_equal(err.msg,
                        "cannot list the processes in /nonexistent: No such file or directory");
    add_process(w, 5, "x", 0);
    gcd_cancel_flag flag = true;
    struct gcd_ipc_list_options options = { .cancel = &flag };
    assert_int_equal(gcd_list_processes(w->proc, w->shared, &options, &l, &err), GCD_E_CANCELED);
    assert_int_equal(gcd_discover_pid_of("dotnet-diagnostic-12-3-socket"), 12);
    assert_int_equal(gcd_discover_pid_of("dotnet-diagnostic-dsrouter-12-3-socket"), 12);
    assert_int_equal(gcd_discover_pid_of("dotnet-diagnostic-99999999999-3-socket"), 0);
    assert_int_equal(gcd_discover_pid_of("dotnet-diagnostic-12-socket"), 0);
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_each_is_found_once),
        IN_WORLD(test_it_becomes_dotnet),
        IN_WORLD(test_it_answers_later),
        IN_WORLD(test_what_is_known),
        IN_WORLD(test_side_by_side),
        IN_WORLD(test_who_does_not_answer),
        IN_WORLD(test_answers_that_are_none),
        IN_WORLD(test_time_of_all),
        IN_WORLD(test_some_at_a_time),
        IN_WORLD(test_sockets_without_a_process),
        IN_WORLD(test_in_order),
        IN_WORLD(test_states),
        IN_WORLD(test_nothing_and_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
