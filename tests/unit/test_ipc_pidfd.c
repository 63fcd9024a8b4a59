/*
 * Waiting for the end of a process, with pidfds and where a kernel or a container has none.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/process/ipc_pidfd.h"
#include "support/check.h"

enum { RIGHT = 0, SKIPPED = 77, WAIT_MS = 20000 };

static pid_t start_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if a test fails */
        for (;;)
            (void)pause();
    }
    assert_true(child > 0);
    return child;
}

static bool readable(const struct gcd_pidfd *p, int wait_ms)
{
    struct pollfd f = { .fd = p->fd, .events = POLLIN };
    return poll(&f, 1, wait_ms) == 1;
}

/* Polls the descriptor until the process has ended. */
static bool ends(const struct gcd_pidfd *p)
{
    for (int i = 0; i < 100 && readable(p, WAIT_MS); i++)
        if (gcd_pidfd_ended(p))
            return true;
    return false;
}

/* While it lives, as a zombie, and after its parent has reaped it.  0, or the number of the first
 * wrong answer. */
static int watch(bool clock)
{
    struct gcd_pidfd p, late;
    pid_t child = start_child();
    if (!gcd_pidfd_open(&p, (uint32_t)child) || p.fd < 0 || p.ticks != clock)
        return 1;
    if (clock ? !readable(&p, WAIT_MS) || gcd_pidfd_ended(&p) : readable(&p, 0))
        return 2;
    if (kill(child, SIGKILL) != 0 || !ends(&p))
        return 3;
    gcd_pidfd_close(&p);
    if (p.fd != -1 || waitpid(child, NULL, 0) != child)
        return 4;
    /* A process that was never seen may be hidden by /proc. */
    if (gcd_pidfd_open(&late, (uint32_t)child) != clock || late.fd != -1)
        return 5;
    gcd_pidfd_close(&late);
    return RIGHT;
}

/* Another process with the same pid, and one that has ended. */
static int number_of_another(void)
{
    struct gcd_pidfd p;
    pid_t child = start_child();
    if (!gcd_pidfd_open(&p, (uint32_t)child) || !p.ticks)
        return 1;
    p.start_jiffies--;
    if (!gcd_pidfd_ended(&p))
        return 2;
    p.start_jiffies++;
    if (gcd_pidfd_ended(&p) || kill(child, SIGKILL) != 0 || waitpid(child, NULL, 0) != child ||
        !gcd_pidfd_ended(&p))
        return 3;
    gcd_pidfd_close(&p);
    return RIGHT;
}

/* In a process of its own, where pidfd_open fails with ERROR. */
static void without_pidfd(int error, int (*look)(void))
{
    int status = 0;
    (void)fflush(NULL); /* else both processes write the buffered output */
    pid_t alone = fork();
    if (alone == 0) {
        struct sock_filter no_pidfd[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = sizeof no_pidfd / sizeof no_pidfd[0],
                                      .filter = no_pidfd };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ||
            syscall(SYS_pidfd_open, getpid(), 0) >= 0 || errno != error)
            exit(SKIPPED);
        exit(look());
    }
    assert_true(alone > 0);
    assert_int_equal(waitpid(alone, &status, 0), alone);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip(); /* no filters of system calls here (emulators) */
    assert_int_equal(WEXITSTATUS(status), RIGHT);
}

static int watch_by_clock(void)
{
    return watch(true);
}

static void test_pidfd(void **state)
{
    (void)state;
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        skip(); /* an old kernel; valgrind */
    (void)close(fd);
    assert_int_equal(watch(false), RIGHT);
}

static void test_an_old_kernel(void **state)
{
    (void)state;
    without_pidfd(ENOSYS, watch_by_clock);
    without_pidfd(ENOSYS, number_of_another);
}

static void test_a_container_that_forbids_it(void **state)
{
    (void)state;
    without_pidfd(EPERM, watch_by_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pidfd),
        cmocka_unit_test(test_an_old_kernel),
        cmocka_unit_test(test_a_container_that_forbids_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
