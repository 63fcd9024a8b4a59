/*
 * Finding the socket of a process, in a fake /proc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ipc/process/ipc_discover.h"
#include "ipc/wire/ipc_sock.h"
#include "support/folder.h"
#include "support/meanwhile.h"

enum { KEY = 98765, MAX_LISTENERS = 8 };

/* A directory of its own for each test: tmp/ is the TMPDIR, proc/ the fake /proc. */
struct world {
    char dir[64];
    char proc[96];
    char tmp[96];
    int listeners[MAX_LISTENERS];
    size_t n_listeners;
};

static void make_dir(const char *path)
{
    if (mkdir(path, 0777) != 0)
        fail_msg("cannot make %s", path);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        return -1;
    (void)snprintf(w->dir, sizeof w->dir, "/tmp/gcd-disc-XXXXXX");
    if (mkdtemp(w->dir) == NULL)
        return -1;
    (void)chmod(w->dir, 0755); /* some tests read it as another user */
    (void)snprintf(w->proc, sizeof w->proc, "%s/proc", w->dir);
    (void)snprintf(w->tmp, sizeof w->tmp, "%s/tmp", w->dir);
    make_dir(w->proc);
    make_dir(w->tmp);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < w->n_listeners; i++)
        close(w->listeners[i]);
    (void)remove_folder(w->dir);
    free(w);
    return 0;
}

static void proc_file(const struct world *w, uint32_t pid, const char *name, const char *bytes,
                      size_t n)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%u/%s", w->proc, (unsigned)pid, name);
    write_file(path, bytes, n);
}

/* ENVIRON NULL: not readable.  NSPID: the pids of that line, or NULL for just PID. */
static void add_process_as(const struct world *w, uint32_t pid, char state, const char *nspid,
                           const char *environ_, size_t n_environ)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s/%u", w->proc, (unsigned)pid);
    make_dir(text);
    /* A name that breaks parsers that count fields from the left or stop at the first ')'. */
    int n = snprintf(text, sizeof text,
                     "%u (a) b (c 1 2) %c 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %d 20 21\n",
                     (unsigned)pid, state, KEY);
    proc_file(w, pid, "stat", text, (size_t)n);
    n = snprintf(text, sizeof text,
                 "Name:\tNSpid:\nTgid:\t%u\nPid:\t%u\nNSpid:\t%u%s%s\nNSpgid:\t9\n", (unsigned)pid,
                 (unsigned)pid, (unsigned)pid, nspid != NULL ? "\t" : "",
                 nspid != NULL ? nspid : "");
    proc_file(w, pid, "status", text, (size_t)n);
    if (environ_ != NULL)
        proc_file(w, pid, "environ", environ_, n_environ);
}

/* An ordinary process whose TMPDIR is w->tmp. */
static void add_process(const struct world *w, uint32_t pid)
{
    char env[256];
    int n = snprintf(env, sizeof env, "NOTMPDIR=/x%cTMPDIRX=/y%cTMPDIR=%s/%cTMPDIR=/later%c", 0, 0,
                     w->tmp, 0, 0);
    add_process_as(w, pid, 'S', NULL, env, (size_t)n);
}

static void make_address(const char *dir, const char *name, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    int n = snprintf(ret->sun_path, sizeof ret->sun_path, "%s/%s", dir, name);
    assert_true(n > 0 && (size_t)n < sizeof ret->sun_path);
}

static int add_socket(const char *dir, const char *name)
{
    struct sockaddr_un addr;
    make_address(dir, name, &addr);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    return fd;
}

static void add_listener(struct world *w, const char *dir, const char *name)
{
    int fd = add_socket(dir, name);
    assert_int_equal(listen(fd, 4), 0);
    assert_true(w->n_listeners < MAX_LISTENERS);
    w->listeners[w->n_listeners++] = fd;
}

static void add_stale(const char *dir, const char *name)
{
    close(add_socket(dir, name));
}

static void set_mtime(const char *dir, const char *name, time_t t)
{
    char path[256];
    const struct timespec times[2] = { { .tv_sec = t }, { .tv_sec = t } };
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The uids that the process has and had. */
static void set_owner(const struct world *w, uint32_t pid, unsigned uid, unsigned saved)
{
    char text[128];
    int n = snprintf(text, sizeof text, "Name:\tx\nTgid:\t%u\nUid:\t9\t%u\t%u\t9\nNSpid:\t%u\n",
                     (unsigned)pid, uid, saved, (unsigned)pid);
    proc_file(w, pid, "status", text, (size_t)n);
}

static void set_file_owner(const char *dir, const char *name, unsigned uid)
{
    char path[256];
    if (geteuid() != 0)
        skip(); /* only root gives files away */
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(chown(path, uid, (gid_t)-1), 0);
}

static const char *name_of(uint32_t pid, const char *infix, unsigned key)
{
    static char names[4][96];
    static size_t next;
    char *name = names[next++ % 4];
    (void)snprintf(name, sizeof names[0], "dotnet-diagnostic-%s%u-%u-socket", infix, (unsigned)pid,
                   key);
    return name;
}

static void expect_found(const struct world *w, uint32_t pid, const char *own_tmpdir,
                         const char *dir, const char *name)
{
    char path[GCD_IPC_PATH_MAX] = "";
    char want[GCD_IPC_PATH_MAX];
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_discover_socket(w->proc, pid, own_tmpdir, path, &err);
    if (st != GCD_OK)
        fail_msg("%s: %s", gcd_status_name(st), err.msg);
    (void)snprintf(want, sizeof want, "%s/%s", dir, name);
    assert_string_equal(path, want);
    assert_int_equal(err.code, GCD_OK);
}

static void expect_failure(const struct world *w, uint32_t pid, const char *own_tmpdir,
                           gcd_status want, enum gcd_error_reason want_reason, const char *text)
{
    char path[GCD_IPC_PATH_MAX] = "untouched";
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_discover_socket(w->proc, pid, own_tmpdir, path, &err);
    if (strstr(err.msg, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, err.msg);
    assert_int_equal(st, want);
    assert_int_equal(err.code, want);
    assert_int_equal(err.reason, want_reason);
    assert_string_equal(path, "untouched");
}

static void test_exact_name(void **state)
{
    struct world *w = *state;
    add_process(w, 4242);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    add_listener(w, w->tmp, name_of(4242, "", KEY + 1)); /* newer, but of another process */
    add_listener(w, w->tmp, name_of(424, "", KEY));
    expect_found(w, 4242, NULL, w->tmp, name_of(4242, "", KEY));
    /* Pass NULL for unwanted results. */
    char path[GCD_IPC_PATH_MAX];
    assert_int_equal(gcd_discover_socket(w->proc, 4242, NULL, path, NULL), GCD_OK);
    assert_int_equal(gcd_discover_socket(w->proc, 1, NULL, path, NULL), GCD_E_NOT_FOUND);
}

static void test_no_process(void **state)
{
    struct world *w = *state;
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_PROCESS,
                   "there is no process 4242");
    add_process_as(w, 5, 'Z', NULL, "", 0);
    expect_failure(w, 5, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_PROCESS, "process 5 is a zombie");
    add_process_as(w, 6, 'S', NULL, "", 0);
    static const char thread[] = "Name:\tx\nTgid:\t5\nPid:\t6\n";
    proc_file(w, 6, "status", thread, sizeof thread - 1);
    expect_failure(w, 6, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_PROCESS,
                   "6 is not a process but a thread of process 5");
}

static void test_damaged_stat(void **state)
{
    struct world *w = *state;
    static const char *const stats[] = {
        "",
        "7 (a",
        "7 (a)",
        "7 (a) S 1 2 3",
        "7 (a) S 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 x",
        "7 (a) S 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 99999999999999999999"
    };
    add_process_as(w, 7, 'S', NULL, "", 0);
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
        proc_file(w, 7, "stat", stats[i], strlen(stats[i]));
        expect_failure(w, 7, NULL, GCD_E_FORMAT, GCD_ERROR_OTHER, "/7/stat: no start time in it");
    }
}

static void test_no_socket(void **state)
{
    struct world *w = *state;
    add_process(w, 4242);
    expect_failure(
        w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
        "it is not a .NET process, or its diagnostics are off (DOTNET_EnableDiagnostics=0 or");
    /* Other kinds of files, and similar names. */
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", w->tmp, name_of(4242, "", KEY));
    write_file(path, "", 0);
    add_listener(w, w->tmp, "dotnet-diagnostic-4242--socket");
    add_listener(w, w->tmp, "dotnet-diagnostic-4242-1x-socket");
    add_listener(w, w->tmp, "dotnet-diagnostic-4242-1-socket2");
    add_listener(w, w->tmp, "dotnet-diagnostic-42424-1-socket");
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "process 4242 has no diagnostic socket in /tmp/gcd-");
}

static void test_missing_and_long_tmpdir(void **state)
{
    struct world *w = *state;
    static const char missing[] = "TMPDIR=/nonexistent/x";
    add_process_as(w, 8, 'S', NULL, missing, sizeof missing);
    expect_failure(w, 8, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "in /nonexistent/x: it is not");
    char env[160] = "TMPDIR=/";
    memset(env + strlen(env), 'd', 99);
    add_process_as(w, 9, 'S', NULL, env, sizeof env);
    expect_failure(w, 9, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "its TMPDIR has 100 bytes, too long");
}

/* glibc takes TMPDIR from a program with capabilities, but /proc still shows it. */
static void test_where_it_listens(void **state)
{
    struct world *w = *state;
    char other[128], text[256];
    const char *name = name_of(4242, "", KEY);
    add_process(w, 4242);
    (void)snprintf(text, sizeof text, "%s/4242/net", w->proc);
    make_dir(text);
    (void)snprintf(other, sizeof other, "%s/other", w->dir);
    make_dir(other);
    int n = snprintf(text, sizeof text,
                     "Num       RefCount Protocol Flags    Type St Inode Path\n"
                     "0000000000000000: 00000002 00000000 00010000 0001 01 77 %s/%s\n",
                     other, name);
    proc_file(w, 4242, "net/unix", text, (size_t)n);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET, "but the file was removed");
    add_listener(w, other, name);
    expect_found(w, 4242, NULL, other, name);
}

/* Only the socket file of a dead process with the same pid is left. */
static void test_stale(void **state)
{
    struct world *w = *state;
    add_process(w, 4242);
    add_stale(w->tmp, name_of(4242, "", 11));
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_STALE_SOCKET,
                   "-4242-11-socket is stale, nobody listens there");
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_STALE_SOCKET,
                   "its diagnostics are off (DOTNET_EnableDiagnostics=0;");
}

/* The key differs (a time namespace): the newest socket with a listener wins, if the listener is
 * the wanted process. */
static void test_newest_that_answers(void **state)
{
    struct world *w = *state;
    uint32_t pid = (uint32_t)getpid();
    add_process(w, pid);
    add_listener(w, w->tmp, name_of(pid, "", 11));
    add_listener(w, w->tmp, name_of(pid, "", 12));
    add_listener(w, w->tmp, name_of(pid, "", 13));
    add_stale(w->tmp, name_of(pid, "", 14));
    set_mtime(w->tmp, name_of(pid, "", 11), 1000);
    set_mtime(w->tmp, name_of(pid, "", 12), 3000);
    set_mtime(w->tmp, name_of(pid, "", 13), 2000);
    expect_found(w, pid, NULL, w->tmp, name_of(pid, "", 12));
}

/* Sockets made within one second, ordered by nanoseconds. */
static void test_newest_of_one_second(void **state)
{
    struct world *w = *state;
    uint32_t pid = (uint32_t)getpid();
    static const long ns[] = { 5, 7, 6 };
    add_process(w, pid);
    for (unsigned i = 0; i < 3; i++) {
        char path[256];
        const struct timespec times[2] = { { .tv_sec = 1000, .tv_nsec = ns[i] },
                                           { .tv_sec = 1000, .tv_nsec = ns[i] } };
        add_listener(w, w->tmp, name_of(pid, "", 11 + i));
        (void)snprintf(path, sizeof path, "%s/%s", w->tmp, name_of(pid, "", 11 + i));
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    expect_found(w, pid, NULL, w->tmp, name_of(pid, "", 12));
}

/* A socket with a full queue does not answer, but it is alive and no left-over. */
static void test_queue_that_is_full(void **state)
{
    struct world *w = *state;
    struct sockaddr_un addr;
    int fds[8], n = 0, fd = add_socket(w->tmp, name_of(4242, "", 11)), r = 0;
    add_process(w, 4242);
    assert_int_equal(listen(fd, 0), 0);
    make_address(w->tmp, name_of(4242, "", 11), &addr);
    while (r == 0 && n < 8) {
        fds[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(fds[n] >= 0);
        r = connect(fds[n++], (const struct sockaddr *)&addr, sizeof addr);
    }
    assert_true(r != 0 && errno == EAGAIN);
    expect_found(w, 4242, NULL, w->tmp, name_of(4242, "", 11));
    while (n > 0)
        close(fds[--n]);
    close(fd);
}

/* Another process took the exact name; the wanted process has another socket. */
static void test_taken_name_and_another(void **state)
{
    struct world *w = *state;
    uint32_t pid = (uint32_t)getpid();
    add_process(w, pid);
    set_owner(w, pid, 1, 1);
    add_listener(w, w->tmp, name_of(pid, "", KEY));
    add_listener(w, w->tmp, name_of(pid, "", KEY + 1));
    set_file_owner(w->tmp, name_of(pid, "", KEY), 2);
    set_file_owner(w->tmp, name_of(pid, "", KEY + 1), 1);
    set_mtime(w->tmp, name_of(pid, "", KEY), 1000);
    set_mtime(w->tmp, name_of(pid, "", KEY + 1), 2000);
    expect_found(w, pid, NULL, w->tmp, name_of(pid, "", KEY + 1));
}

/* A directory shared with another container: the pid matches, but another process listens. */
static void test_socket_of_another_process(void **state)
{
    struct world *w = *state;
    char text[64];
    add_process(w, 4242);
    add_process(w, (uint32_t)getpid());
    add_listener(w, w->tmp, name_of(4242, "", 11));
    (void)snprintf(text, sizeof text, "-4242-11-socket belongs to process %d", (int)getpid());
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET, text);
}

/* Anybody can listen under the exact name of a process, and root would accept a forged dump. */
static void test_forged_name(void **state)
{
    struct world *w = *state;
    char text[80];
    uint32_t self = (uint32_t)getpid();
    add_process(w, 4242);
    add_process(w, self);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    (void)snprintf(text, sizeof text, "-4242-%d-socket belongs to process %u", KEY, (unsigned)self);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET, text);
    bool foreign = true;
    char path[GCD_IPC_PATH_MAX];
    struct gcd_procfs_target target;
    struct gcd_discover_once once = { .alloc = gcd_alloc_or_default(NULL) };
    once.listeners.alloc = once.alloc;
    assert_int_equal(gcd_procfs_read(w->proc, 4242, &target, NULL), GCD_OK);
    assert_int_equal(gcd_discover_listed(w->proc, &target, NULL, &once, path, &foreign),
                     GCD_E_NOT_FOUND);
    assert_false(foreign);
    gcd_discover_done(&once);
    /* A dsrouter's socket is newer: the one of the process is found nevertheless. */
    add_listener(w, w->tmp, name_of(self, "", KEY));
    add_stale(w->tmp, name_of(self, "dsrouter-", KEY));
    set_owner(w, self, 1, 1);
    set_file_owner(w->tmp, name_of(self, "", KEY), 1);
    set_file_owner(w->tmp, name_of(self, "dsrouter-", KEY), 2);
    set_mtime(w->tmp, name_of(self, "", KEY), 1000);
    set_mtime(w->tmp, name_of(self, "dsrouter-", KEY), 2000);
    expect_found(w, self, NULL, w->tmp, name_of(self, "", KEY));
}

/* A process of user 1 that was user 3 before: its sockets belong to either user, or to root. */
static void test_owner_of_the_file(void **state)
{
    struct world *w = *state;
    uint32_t pid = (uint32_t)getpid();
    static const unsigned good[] = { 1, 3, 0 };
    add_process(w, pid);
    set_owner(w, pid, 1, 3);
    for (unsigned key = KEY; key < KEY + 2; key++) { /* its own start time, and another */
        add_listener(w, w->tmp, name_of(pid, "", key));
        for (size_t i = 0; i < 3; i++) {
            set_file_owner(w->tmp, name_of(pid, "", key), good[i]);
            expect_found(w, pid, NULL, w->tmp, name_of(pid, "", key));
        }
        set_file_owner(w->tmp, name_of(pid, "", key), 2);
        expect_failure(w, pid, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                       "-socket belongs to user 2");
        char path[256];
        (void)snprintf(path, sizeof path, "%s/%s", w->tmp, name_of(pid, "", key));
        assert_int_equal(unlink(path), 0);
    }
}

static void test_dsrouter(void **state)
{
    struct world *w = *state;
    add_process(w, 4242);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    add_listener(w, w->tmp, name_of(4242, "dsrouter-", KEY));
    set_mtime(w->tmp, name_of(4242, "", KEY), 1000);
    set_mtime(w->tmp, name_of(4242, "dsrouter-", KEY), 2000);
    expect_found(w, 4242, NULL, w->tmp, name_of(4242, "dsrouter-", KEY));
    set_mtime(w->tmp, name_of(4242, "", KEY), 3000);
    expect_found(w, 4242, NULL, w->tmp, name_of(4242, "", KEY));
}

static void test_environment_not_readable(void **state)
{
    struct world *w = *state;
    char own[128];
    add_process_as(w, 4242, 'S', NULL, NULL, 0);
    (void)snprintf(own, sizeof own, "%s//", w->tmp);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    expect_found(w, 4242, own, w->tmp, name_of(4242, "", KEY));
    expect_failure(w, 4242, "/nonexistent", GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "in /nonexistent and /tmp: it is not a .NET process, its diagnostics are off, "
                   "or it has another TMPDIR");
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "no diagnostic socket in /tmp: ");
    /* If the environment is readable, our own TMPDIR does not matter. */
    add_process_as(w, 4243, 'S', NULL, "A=b", 4);
    add_listener(w, w->tmp, name_of(4243, "", KEY));
    expect_failure(w, 4243, own, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "no diagnostic socket in /tmp: ");
}

/* TMPDIR in the second chunk of the file, across the chunk border, and without its NUL. */
static void test_long_environment(void **state)
{
    struct world *w = *state;
    enum { CAP = 3 * 4096 };
    char *env = malloc(CAP);
    assert_non_null(env);
    add_process_as(w, 4242, 'S', NULL, "", 0);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    size_t n_tail = strlen(w->tmp) + 7;
    for (size_t pad = 4096 - n_tail - 2; pad < 4096 + 2; pad++) {
        memset(env, 'x', pad);
        env[pad] = '\0';
        int n = snprintf(env + pad + 1, CAP - pad - 1, "TMPDIR=%s", w->tmp);
        proc_file(w, 4242, "environ", env, pad + 1 + (size_t)n);
        expect_found(w, 4242, NULL, w->tmp, name_of(4242, "", KEY));
    }
    free(env);
}

static const char *make_root(const struct world *w, uint32_t pid, char *ret, size_t cap)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%u/root", w->proc, (unsigned)pid);
    make_dir(path);
    (void)snprintf(ret, cap, "%s/%u/root/mytmp", w->proc, (unsigned)pid);
    make_dir(ret);
    return ret;
}

static const char mytmp[] = "TMPDIR=/mytmp";

static void test_other_pid_namespace(void **state)
{
    struct world *w = *state;
    char dir[256];
    add_process_as(w, 4242, 'S', "17\t3", mytmp, sizeof mytmp);
    make_root(w, 4242, dir, sizeof dir);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "process 4242 has no diagnostic socket in /mytmp");
    add_listener(w, dir, name_of(4242, "", KEY));
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "process 4242 has no diagnostic socket in /mytmp");
    add_listener(w, dir, name_of(3, "", KEY));
    expect_found(w, 4242, NULL, dir, name_of(3, "", KEY));
}

/* The same pid namespace, but another /tmp: a unit with PrivateTmp, or containers that share their
 * processes. */
static void test_other_root_only(void **state)
{
    struct world *w = *state;
    char dir[256];
    add_process_as(w, 4242, 'S', NULL, mytmp, sizeof mytmp);
    make_root(w, 4242, dir, sizeof dir);
    add_listener(w, dir, name_of(4242, "", KEY));
    expect_found(w, 4242, NULL, dir, name_of(4242, "", KEY));
}

static void test_relative_tmpdir(void **state)
{
    struct world *w = *state;
    static const char env[] = "TMPDIR=sub";
    char dir[256];
    add_process_as(w, 4242, 'S', NULL, env, sizeof env);
    (void)snprintf(dir, sizeof dir, "%s/4242/cwd", w->proc);
    make_dir(dir);
    (void)snprintf(dir, sizeof dir, "%s/4242/cwd/sub", w->proc);
    make_dir(dir);
    add_listener(w, dir, name_of(4242, "", KEY));
    expect_found(w, 4242, NULL, dir, name_of(4242, "", KEY));
}

static void make_link(const struct world *w, const char *target, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/4242/root/%s", w->proc, name);
    assert_int_equal(symlink(target, path), 0);
}

static int connect_to(const char *dir, const char *name)
{
    char path[GCD_IPC_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = gcd_sock_connect(path);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* Links in a container are resolved inside its root and never leave it. */
static void test_links_stay_inside(void **state)
{
    struct world *w = *state;
    static const char env[] = "TMPDIR=/a/link/";
    char dir[256], outside[128], linked[128];
    (void)snprintf(linked, sizeof linked, "%s/4242/root/a/link", w->proc);
    add_process_as(w, 4242, 'S', "3", env, sizeof env);
    make_root(w, 4242, dir, sizeof dir);
    (void)snprintf(outside, sizeof outside, "%s/4242/root/a", w->proc);
    make_dir(outside);
    /* Absolute, with too many "..": stops at the root of the process. */
    make_link(w, "/../../b", "a/link");
    make_link(w, "../.././../mytmp/.", "b");
    add_listener(w, dir, name_of(3, "", KEY));
    expect_found(w, 4242, NULL, linked, name_of(3, "", KEY));
    assert_int_equal(connect_to(linked, name_of(3, "", KEY)), 0);

    /* A path into our own directory stops at the process's root, even if the directory was found
     * before. */
    (void)snprintf(outside, sizeof outside, "%s/4242/root/b", w->proc);
    assert_int_equal(unlink(outside), 0);
    make_link(w, w->tmp, "b");
    add_listener(w, w->tmp, name_of(3, "", KEY));
    assert_int_equal(connect_to(w->tmp, name_of(3, "", KEY)), 0);
    assert_int_equal(connect_to(linked, name_of(3, "", KEY)), -ENOENT);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "no diagnostic socket in /a/link/");
    assert_int_equal(unlink(outside), 0);
    make_link(w, "b", "b");
    expect_failure(w, 4242, NULL, GCD_E_IO, GCD_ERROR_OTHER,
                   "cannot look for the diagnostic socket of process 4242");
}

/* The connection goes to the socket that was checked, whatever has its name by then. */
static void test_replaced_after_the_check(void **state)
{
    struct world *w = *state;
    char path[256];
    (void)snprintf(path, sizeof path, "%s/a", w->tmp);
    add_listener(w, w->tmp, "a");
    int seen = open(path, O_PATH | O_CLOEXEC);
    assert_true(seen >= 0);
    assert_int_equal(unlink(path), 0);
    add_stale(w->tmp, "a");
    assert_int_equal(gcd_sock_connect(path), -ECONNREFUSED);
    int fd = gcd_sock_connect_to(seen);
    assert_true(fd >= 0);
    close(fd);
    close(seen);
}

/* The runtime makes a socket, never a link to one. */
static void test_link_instead_of_a_socket(void **state)
{
    struct world *w = *state;
    char target[256], name[256];
    add_process(w, 4242);
    add_listener(w, w->tmp, "other");
    (void)snprintf(target, sizeof target, "%s/other", w->tmp);
    (void)snprintf(name, sizeof name, "%s/%s", w->tmp, name_of(4242, "", KEY));
    assert_int_equal(symlink(target, name), 0);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "process 4242 has no diagnostic socket");
}

static char swapped[256], target[256];

/* Another user's link replaces the socket that was just checked. */
static void put_a_link(enum meanwhile_call call, const char *name, int flags)
{
    if (call != MEANWHILE_OPEN || strstr(swapped, name) == NULL ||
        strstr(name, "dotnet-diagnostic-") == NULL)
        return;
    (void)flags;
    meanwhile(NULL);
    assert_int_equal(unlink(swapped), 0);
    assert_int_equal(symlink(target, swapped), 0);
    assert_int_equal(lchown(swapped, 2, 2), 0);
}

/* The owner of the link matters, not that of its target: else another user could choose the socket
 * that root talks to. */
static void test_link_after_the_look(void **state)
{
    struct world *w = *state;
    if (geteuid() != 0)
        skip(); /* only root can make links of another user */
    add_process(w, 4242);
    set_owner(w, 4242, 0, 0);
    add_listener(w, w->tmp, "other");
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    (void)snprintf(target, sizeof target, "%s/other", w->tmp);
    (void)snprintf(swapped, sizeof swapped, "%s/%s", w->tmp, name_of(4242, "", KEY));
    expect_found(w, 4242, NULL, w->tmp, name_of(4242, "", KEY));
    meanwhile(put_a_link);
    expect_failure(w, 4242, NULL, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                   "process 4242 has no diagnostic socket");
}

/* Runs CHECK as a user who owns nothing; only if the test runs as root. */
static void as_nobody(const struct world *w, void (*check)(const struct world *))
{
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(99);
        check(w);
        _exit(0); /* not reached after a failed assertion */
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Without cmocka, whose state in the child is a copy. */
static void check_failure(const struct world *w, uint32_t pid, gcd_status want,
                          enum gcd_error_reason want_reason, const char *text, int exit_code)
{
    char path[GCD_IPC_PATH_MAX];
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_discover_socket(w->proc, pid, NULL, path, &err);
    if (st != want || err.reason != want_reason || strstr(err.msg, text) == NULL) {
        fprintf(stderr, "%s, reason %d: %s\n", gcd_status_name(st), (int)err.reason, err.msg);
        _exit(exit_code);
    }
}

static void check_permission(const struct world *w)
{
    check_failure(w, 4242, GCD_E_IO, GCD_ERROR_PERMISSION,
                  "the diagnostic socket of process 4242 belongs to user 0; only that user and "
                  "root may use it",
                  1);
    check_failure(w, 4243, GCD_E_IO, GCD_ERROR_PERMISSION,
                  "the diagnostic socket of process 4243 belongs to user 0", 2);
    check_failure(w, 4244, GCD_E_IO, GCD_ERROR_PERMISSION,
                  "cannot look for the diagnostic socket of process 4244 in", 3);
    check_failure(w, 4245, GCD_E_NOT_FOUND, GCD_ERROR_NO_SOCKET,
                  "process 4245 has no diagnostic socket in /mytmp", 4);
}

static void test_permission(void **state)
{
    struct world *w = *state;
    char path[256];
    add_process(w, 4242);
    add_listener(w, w->tmp, name_of(4242, "", KEY));
    (void)snprintf(path, sizeof path, "%s/%s", w->tmp, name_of(4242, "", KEY));
    assert_int_equal(chmod(path, 0600), 0);
    add_process(w, 4243); /* found by search, not by its exact name */
    add_listener(w, w->tmp, name_of(4243, "", 1));
    (void)snprintf(path, sizeof path, "%s/%s", w->tmp, name_of(4243, "", 1));
    assert_int_equal(chmod(path, 0600), 0);
    char dir[256]; /* another user's container: not accessible */
    add_process_as(w, 4244, 'S', "1", mytmp, sizeof mytmp);
    make_root(w, 4244, dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/4244/root", w->proc);
    assert_int_equal(chmod(path, 0700), 0);
    /* In our pid namespace, its root directory is only tried second. */
    add_process_as(w, 4245, 'S', NULL, mytmp, sizeof mytmp);
    make_root(w, 4245, dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/4245/root", w->proc);
    assert_int_equal(chmod(path, 0700), 0);
    as_nobody(w, check_permission);
}

/* A socket whose path is longer than sun_path is found and can be connected to. */
static void test_long_path(void **state)
{
    struct world *w = *state;
    char dir[300], env[320], link[128];
    (void)snprintf(dir, sizeof dir, "%s/%0100d", w->dir, 1);
    make_dir(dir);
    (void)snprintf(link, sizeof link, "%s/l", w->dir); /* the way a socket gets there */
    assert_int_equal(symlink(dir, link), 0);
    add_listener(w, link, name_of(4242, "", KEY));
    int n = snprintf(env, sizeof env, "TMPDIR=%s", dir);
    add_process_as(w, 4242, 'S', NULL, env, (size_t)n + 1);
    expect_found(w, 4242, NULL, dir, name_of(4242, "", KEY));

    char path[GCD_IPC_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name_of(4242, "", KEY));
    assert_true(strlen(path) > sizeof((struct sockaddr_un *)0)->sun_path);
    int fd = gcd_sock_connect(path);
    assert_true(fd >= 0);
    assert_int_equal(gcd_sock_peer_pid(fd), getpid());
    close(fd);

    struct gcd_error err = GCD_ERROR_INIT;
    strcat(path, "x");
    assert_int_equal(gcd_sock_open(path, &fd, &err), GCD_E_NOT_FOUND);
    assert_int_equal(err.reason, GCD_ERROR_NO_SOCKET);
    /* its last component does not fit into sun_path either */
    (void)snprintf(path, sizeof path, "%s/%0120d", dir, 1);
    assert_int_equal(gcd_sock_open(path, &fd, &err), GCD_E_NOT_FOUND);
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(gcd_sock_open(path, &fd, &err), GCD_E_IO);
}

/* With the real /proc: this test is not a .NET process. */
static void test_this_process(void **state)
{
    (void)state;
    char path[GCD_IPC_PATH_MAX];
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_ipc_find_socket((uint32_t)getpid(), NULL, path, &err), GCD_E_NOT_FOUND);
    /* a killed .NET process with the same pid may have left its socket */
    assert_true(err.reason == GCD_ERROR_NO_SOCKET || err.reason == GCD_ERROR_STALE_SOCKET);
    assert_int_equal(gcd_ipc_find_socket(0, NULL, path, &err), GCD_E_NOT_FOUND);
    assert_int_equal(err.reason, GCD_ERROR_NO_PROCESS);
    assert_string_equal(err.msg, "there is no process 0");
    assert_int_equal(gcd_ipc_find_socket(UINT32_MAX, NULL, path, &err), GCD_E_NOT_FOUND);
    assert_int_equal(err.reason, GCD_ERROR_NO_PROCESS);
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_exact_name),
        IN_WORLD(test_no_process),
        IN_WORLD(test_damaged_stat),
        IN_WORLD(test_no_socket),
        IN_WORLD(test_missing_and_long_tmpdir),
        IN_WORLD(test_where_it_listens),
        IN_WORLD(test_stale),
        IN_WORLD(test_newest_that_answers),
        IN_WORLD(test_newest_of_one_second),
        IN_WORLD(test_queue_that_is_full),
        IN_WORLD(test_taken_name_and_another),
        IN_WORLD(test_socket_of_another_process),
        IN_WORLD(test_forged_name),
        IN_WORLD(test_owner_of_the_file),
        IN_WORLD(test_dsrouter),
        IN_WORLD(test_environment_not_readable),
        IN_WORLD(test_long_environment),
        IN_WORLD(test_other_pid_namespace),
        IN_WORLD(test_other_root_only),
        IN_WORLD(test_relative_tmpdir),
        IN_WORLD(test_links_stay_inside),
        IN_WORLD(test_replaced_after_the_check),
        IN_WORLD(test_link_instead_of_a_socket),
        IN_WORLD(test_link_after_the_look),
        IN_WORLD(test_permission),
        IN_WORLD(test_long_path),
        cmocka_unit_test(test_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
