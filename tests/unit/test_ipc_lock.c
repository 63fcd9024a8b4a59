/*
 * One dump of a process at a time: who is refused, who is not, and what happens to the lock when
 * its holder dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

static char folder[64], path[128];

static int setup(void **state)
{
    (void)state;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-lock-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/socket", folder);
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = bind(fd, (struct sockaddr *)&a, sizeof a);
    (void)close(fd);
    return r;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

/* A process that runs ACT (which takes the lock) and lives until it is killed.  *RET: its answer.
 */
static pid_t other(bool (*act)(void), bool *ret)
{
    int fds[2];
    char answer = 'n';
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* even if the test fails */
        answer = act() ? 'y' : 'n';
        (void)!write(fds[1], &answer, 1);
        (void)close(fds[0]);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(fds[0], &answer, 1), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    *ret = answer == 'y';
    return pid;
}

static void end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static uint32_t locked_pid;

static bool lock_both(void)
{
    struct gcd_ipc_lock lock;
    return gcd_ipc_lock(locked_pid, path, &lock, NULL) == GCD_OK && !lock.usurped;
}

static bool lock_socket_only(void)
{
    struct gcd_ipc_lock lock;
    return gcd_ipc_lock(0, path, &lock, NULL) == GCD_OK && !lock.usurped;
}

static void expect_refused(uint32_t pid, const char *socket_path, pid_t holder)
{
    struct gcd_ipc_lock lock;
    struct gcd_error err = GCD_ERROR_INIT;
    char text[40];
    (void)snprintf(text, sizeof text, "by process %ld", (long)holder);
    assert_int_equal(gcd_ipc_lock(pid, socket_path, &lock, &err), GCD_E_STATE);
    assert_non_null(strstr(err.msg, text));
    assert_int_equal(lock.holder_pid, holder);
    gcd_ipc_unlock(&lock);
}

static void expect_free(uint32_t pid, const char *socket_path)
{
    struct gcd_ipc_lock lock;
    assert_int_equal(gcd_ipc_lock(pid, socket_path, &lock, NULL), GCD_OK);
    assert_false(lock.usurped);
    gcd_ipc_unlock(&lock);
    gcd_ipc_unlock(&lock); /* twice is fine */
}

static void the_second_is_refused_until_the_first_ends(void **state)
{
    (void)state;
    bool got;
    locked_pid = (uint32_t)getpid();
    expect_free(locked_pid, path);
    pid_t holder = other(lock_both, &got);
    assert_true(got);
    for (int i = 0; i < 3; i++) {
        expect_refused(locked_pid, path, holder);
        expect_refused(locked_pid, NULL, holder);
        expect_refused(0, path, holder);
    }
    expect_free((uint32_t)holder, NULL); /* another process */
    expect_free((uint32_t)getppid(), NULL);
    end(holder);
    expect_free(locked_pid, path);
    /* found by its socket only: the same as with its pid */
    holder = other(lock_socket_only, &got);
    assert_true(got);
    expect_refused(locked_pid, path, holder);
    expect_free(locked_pid, NULL);
    end(holder);
    expect_free(locked_pid, path);
}

static void a_stopped_holder_still_holds(void **state)
{
    (void)state;
    bool got;
    locked_pid = (uint32_t)getpid();
    pid_t holder = other(lock_both, &got);
    (void)kill(holder, SIGSTOP);
    expect_refused(locked_pid, path, holder);
    end(holder);
}

static void no_such_process(void **state)
{
    (void)state;
    struct gcd_ipc_lock lock;
    assert_int_equal(gcd_ipc_lock(4194303, NULL, &lock, NULL), GCD_E_NOT_FOUND);
    gcd_ipc_unlock(&lock);
    expect_free(0, "/nonexistent/socket");
}

static bool squat(void)
{
    return setgid(65534) == 0 && setuid(65534) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
           lock_socket_only();
}

/* A user who cannot dump the process cannot keep others from it. */
static void another_user_cannot_block(void **state)
{
    (void)state;
    bool got;
    struct gcd_ipc_lock lock;
    if (geteuid() != 0) {
        print_message("skipped: only root can be another user\n");
        skip();
    }
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t holder = other(squat, &got);
    assert_true(got);
    assert_int_equal(gcd_ipc_lock(0, path, &lock, NULL), GCD_OK);
    assert_true(lock.usurped);
    gcd_ipc_unlock(&lock);
    /* but the owner of the process can */
    assert_int_equal(chown(path, 65534, 65534), 0);
    expect_refused(0, path, holder);
    end(holder);
}

/* Binds the name and never listens, so that no process can ask for its owner. */
static bool squat_silently(void)
{
    struct stat sb;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    if (stat(path, &sb) != 0)
        return false;
    int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "gcdumpc/socket/%llu/%llu",
                     (unsigned long long)sb.st_dev, (unsigned long long)sb.st_ino);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(fd, (struct sockaddr *)&a,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0;
}

static void an_owner_that_does_not_answer_cannot_block(void **state)
{
    (void)state;
    bool got;
    struct gcd_ipc_lock lock;
    pid_t holder = other(squat_silently, &got);
    assert_true(got);
    assert_int_equal(gcd_ipc_lock(0, path, &lock, NULL), GCD_OK);
    assert_true(lock.usurped);
    gcd_ipc_unlock(&lock);
    end(holder);
}

/* Whatever the number of looks, it is one connection in the holder's queue; the end of the holder
 * is seen at once. */
static void waiting_asks_once(void **state)
{
    (void)state;
    bool got;
    struct gcd_ipc_lock lock;
    locked_pid = (uint32_t)getpid();
    pid_t holder = other(lock_both, &got);
    assert_true(got);
    assert_int_equal(gcd_ipc_lock(locked_pid, path, &lock, NULL), GCD_E_STATE);
    for (int i = 0; i < 2 * SOMAXCONN; i++)
        assert_false(gcd_ipc_lock_wait(&lock, 0));
    expect_refused(locked_pid, path, holder);
    end(holder);
    assert_true(gcd_ipc_lock_wait(&lock, 60000));
    gcd_ipc_unlock(&lock);
    expect_free(locked_pid, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_second_is_refused_until_the_first_ends, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_stopped_holder_still_holds, setup, teardown),
        cmocka_unit_test_setup_teardown(no_such_process, setup, teardown),
        cmocka_unit_test_setup_teardown(another_user_cannot_block, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_that_does_not_answer_cannot_block, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(waiting_asks_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
