/* The memory of another process, and why it may not be read. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gcdumpc/unstable/process_reader.h>

#include "support/check.h"

#define NOBODY      65534
#define SMALL_BYTES ((size_t)4096)
#define LARGE_BYTES ((size_t)1 << 20)

/* Two pages of a target, and nothing behind them. */
static uint8_t *shared;

/* A process that waits; PREPARE is called in it first.  *RET_END: closing it ends the process. */
static pid_t start_target(void (*prepare)(void), int *ret_end)
{
    int ends[2], ready[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(ends[1]);
        if (prepare != NULL)
            prepare();
        _exit(write(ready[1], "", 1) != 1 || read(ends[0], &byte, 1) != 0);
    }
    (void)close(ends[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    *ret_end = ends[1];
    return pid;
}

static void end_target(pid_t pid, int end)
{
    (void)close(end);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void read_what_is_there(void **state)
{
    (void)state;
    struct gcd_process_reader *r;
    struct gcd_error err = GCD_ERROR_INIT;
    static uint8_t got[LARGE_BYTES + SMALL_BYTES];
    int end;
    shared = mmap(NULL, LARGE_BYTES + SMALL_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        shared[i] = (uint8_t)(i * 7 + i / 4096);
    assert_int_equal(munmap(shared + LARGE_BYTES, SMALL_BYTES), 0);
    pid_t pid = start_target(NULL, &end);
    assert_int_equal(gcd_process_reader_new((uint32_t)pid, NULL, &r, &err), GCD_OK);
    uint64_t at = (uint64_t)(uintptr_t)shared;
    assert_int_equal(gcd_process_read(r, at + 3, got, 100), 100);
    assert_memory_equal(got, shared + 3, 100);
    memset(got, 0, sizeof got);
    assert_int_equal(gcd_process_read(r, at, got, sizeof got), LARGE_BYTES);
    assert_memory_equal(got, shared, LARGE_BYTES);
    assert_int_equal(gcd_process_read(r, at + LARGE_BYTES - 8, got, 100), 8);
    assert_int_equal(gcd_process_read(r, 8, got, 100), 0);
    assert_int_equal(gcd_process_read(r, UINT64_MAX - 7, got, 100), 0);
    end_target(pid, end);
    assert_int_equal(gcd_process_read(r, at, got, 100), 0);
    assert_int_equal(gcd_process_read(r, at, got, LARGE_BYTES), 0);
    gcd_process_reader_free(r);
    assert_int_equal(munmap(shared, LARGE_BYTES), 0);
}

static void name_the_missing_process(void **state)
{
    (void)state;
    struct gcd_process_reader *r;
    struct gcd_error err = GCD_ERROR_INIT;
    int end;
    pid_t pid = start_target(NULL, &end);
    end_target(pid, end);
    assert_int_equal(gcd_process_reader_new((uint32_t)pid, NULL, &r, &err), GCD_E_NOT_FOUND);
    assert_int_equal(err.reason, GCD_ERROR_NO_PROCESS);
}

static void become_nobody(void)
{
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        _exit(1);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void become_undumpable(void)
{
    become_nobody();
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void enter_namespace(void)
{
    become_nobody();
    if (unshare(CLONE_NEWUSER) != 0)
        _exit(77);
}

/* A kernel with Yama, to whoever asks; what it would forbid is forbidden by the target. */
static void enter_yama(char scope)
{
    static const char folder[] = "/proc/sys/kernel/yama", file[] = "ptrace_scope";
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc/sys/kernel", "tmpfs", 0, NULL) != 0 || mkdir(folder, 0755) != 0 ||
        chdir(folder) != 0)
        _exit(77);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, &scope, 1) != 1 || close(fd) != 0)
        _exit(77);
    become_nobody();
}

static void enter_yama_1(void)
{
    enter_yama('1');
}

static void enter_yama_2(void)
{
    enter_yama('2');
}

static void enter_yama_3(void)
{
    enter_yama('3');
}

/* A process prepared by VIEWER is refused one prepared by TARGET, with a message that has WHY. */
static void refuses(void (*target)(void), void (*viewer)(void), const char *why)
{
    int end, status;
    if (geteuid() != 0)
        skip();
    pid_t pid = start_target(target, &end);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct gcd_error err = GCD_ERROR_INIT;
        viewer();
        gcd_status st = gcd_process_may_trace((uint32_t)pid, &err);
        if (st == GCD_OK || err.reason != GCD_ERROR_PERMISSION || strstr(err.msg, why) == NULL)
            (void)!write(STDERR_FILENO, err.msg, strlen(err.msg));
        _exit(st != GCD_E_IO || err.reason != GCD_ERROR_PERMISSION || strstr(err.msg, why) == NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    end_target(pid, end);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void say_that_it_belongs_to_another_user(void **state)
{
    (void)state;
    refuses(NULL, become_nobody, "it belongs to another user");
}

static void say_that_it_is_not_dumpable(void **state)
{
    (void)state;
    refuses(become_undumpable, become_nobody, "not dumpable");
}

static void say_that_it_is_in_another_user_namespace(void **state)
{
    (void)state;
    refuses(become_nobody, enter_namespace, "another user namespace");
}

static void say_what_yama_forbids(void **state)
{
    (void)state;
    refuses(become_undumpable, enter_yama_1, "set kernel.yama.ptrace_scope to 0");
    refuses(become_undumpable, enter_yama_2, "kernel.yama.ptrace_scope is 2");
    refuses(become_undumpable, enter_yama_3, "to everybody (kernel.yama.ptrace_scope is 3)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_what_is_there),
        cmocka_unit_test(name_the_missing_process),
        cmocka_unit_test(say_that_it_belongs_to_another_user),
        cmocka_unit_test(say_that_it_is_not_dumpable),
        cmocka_unit_test(say_that_it_is_in_another_user_namespace),
        cmocka_unit_test(say_what_yama_forbids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
