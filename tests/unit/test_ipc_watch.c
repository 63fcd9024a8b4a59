/*
 * Watching the memory of a process: fake cgroups in a fake /proc, whose process has our number,
 * because its end is watched for real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/process/ipc_watch.h"
#include "support/folder.h"

static char dir[64], proc[128];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/gcd-watch-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    (void)snprintf(proc, sizeof proc, "%s/proc", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(dir);
}

/* Writes the file NAME below the test's folder and makes its folders; in NAME and TEXT "%" is the
 * test's folder, "#" our process number. */
static void put(const char *name, const char *text)
{
    char path[512] = "", number[16];
    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    size_t n = (size_t)snprintf(path, sizeof path, "%s/", dir);
    for (; *name != '\0' && n + sizeof number < sizeof path; name++)
        if (*name == '#')
            n += (size_t)snprintf(path + n, sizeof path - n, "%s", number);
        else
            path[n++] = *name;
    path[n] = '\0';
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (; *text != '\0'; text++)
        if (*text == '%')
            (void)fputs(dir, f);
        else
            (void)putc(*text, f);
    assert_int_equal(fclose(f), 0);
}

static const char *content(const char *name)
{
    static char text[256];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    assert_int_equal(fclose(f), 0);
    return text;
}

static uint64_t pages(uint64_t n)
{
    return n * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_process(const char *cgroup)
{
    put("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8388608 kB\n");
    put("proc/#/statm", "50000 1000 300 1 0 900 0\n");
    put("proc/#/cgroup", cgroup);
}

static struct gcd_ipc_watch *watch(void)
{
    struct gcd_ipc_watch *w = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_watch_new(proc, (uint32_t)getpid(), NULL, &w, &err), GCD_OK);
    return w;
}

static struct gcd_ipc_watch_values read_all(struct gcd_ipc_watch *w)
{
    struct gcd_ipc_watch_values v;
    assert_true(gcd_ipc_watch_read(
        w, GCD_IPC_WATCH_HEAP | GCD_IPC_WATCH_LEFT | GCD_IPC_WATCH_PRESSURE, &v));
    return v;
}

static void without_a_limit_the_machine_counts(void **state)
{
    (void)state;
    put_process("0::/a\n");
    struct gcd_ipc_watch *w = watch();
    struct gcd_ipc_watch_values v = read_all(w);
    assert_true(v.rss_bytes == pages(1000) && v.limit_bytes == UINT64_C(16000000) * 1024);
    assert_int_equal(v.limit, GCD_IPC_LIMIT_MACHINE);
    assert_true(v.left_bytes == UINT64_C(8388608) * 1024 && v.heap_bytes == 0);
    assert_int_equal(v.pressure, UINT32_MAX);
    put("proc/pressure/memory", "some avg10=12.34 avg60=0.00 avg300=0.00 total=0\nfull ...\n");
    v = read_all(w);
    assert_true(v.pressure == 1234 && v.machine_pressure);
    /* its memory is read from the same file again */
    put("proc/#/statm", "50000 2000 300 1 0 900 0\n");
    assert_true(read_all(w).rss_bytes == pages(2000));
    assert_false(gcd_ipc_watch_arm(w, 1 << 20, false));
    gcd_ipc_watch_free(w);
}

/* Only what was asked for is read. */
static void parts(void **state)
{
    (void)state;
    put_process("");
    put("proc/pressure/memory", "some avg10=12.34 avg60=0.00 avg300=0.00 total=0\n");
    struct gcd_ipc_watch *w = watch();
    struct gcd_ipc_watch_values v;
    assert_true(gcd_ipc_watch_read(w, 0, &v));
    assert_true(v.left_bytes == UINT64_MAX && v.pressure == UINT32_MAX);
    assert_true(gcd_ipc_watch_read(w, GCD_IPC_WATCH_PRESSURE, &v));
    assert_true(v.left_bytes == UINT64_MAX && v.pressure == 1234);
    gcd_ipc_watch_free(w);
}

static void put_version_2(void)
{
    put_process("0::/a/b\n");
    put("proc/self/mountinfo", "31 22 0:28 / %/cg rw - cgroup2 cgroup2 rw\n");
    put("cg/a/memory.max", "1000000000\n");
    put("cg/a/memory.current", "400000000\n");
    put("cg/a/memory.stat", "inactive_file 100000000\n");
    put("cg/a/memory.events", "low 0\nhigh 0\nmax 0\n");
    put("cg/a/b/memory.pressure", "some avg10=0.05 avg60=0.00 avg300=0.00 total=0\n");
}

static void version_2(void **state)
{
    (void)state;
    struct pollfd items[GCD_IPC_WATCH_DESCRIPTORS];
    put_version_2();
    struct gcd_ipc_watch *w = watch();
    struct gcd_ipc_watch_values v = read_all(w);
    assert_true(v.limit_bytes == 1000000000 && v.left_bytes == 700000000);
    assert_int_equal(v.limit, GCD_IPC_LIMIT_CGROUP);
    /* the pressure is that of its own cgroup, the limit that of the enclosing one */
    assert_true(v.pressure == 5 && !v.machine_pressure);
    /* its end, and memory.events */
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 2);
    assert_int_equal(items[1].events, POLLPRI);
    assert_false(gcd_ipc_watch_arm(w, 1 << 20, false)); /* no thresholds */
    put("cg/a/memory.current", "900000000\n");
    assert_true(read_all(w).left_bytes == 200000000);
    gcd_ipc_watch_free(w);
}

/* A limit that comes later is found. */
static void a_limit_can_change(void **state)
{
    (void)state;
    put_version_2();
    struct gcd_ipc_watch *w = watch();
    struct gcd_ipc_watch_values v = read_all(w);
    put("cg/a/b/memory.max", "500000000\n");
    put("cg/a/b/memory.current", "400000000\n");
    for (int i = 0; i < 100 && v.limit_bytes != 500000000; i++)
        v = read_all(w);
    assert_true(v.limit_bytes == 500000000 && v.left_bytes == 100000000);
    gcd_ipc_watch_free(w);
}

static void a_trigger_of_pressure(void **state)
{
    (void)state;
    struct pollfd items[GCD_IPC_WATCH_DESCRIPTORS];
    put_version_2();
    struct gcd_ipc_watch *w = watch();
    (void)gcd_ipc_watch_arm(w, 0, true);
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 3);
    assert_int_equal(strncmp(content("cg/a/b/memory.pressure"), "some 100000 2000000", 19), 0);
    (void)gcd_ipc_watch_arm(w, 0, false);
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 2);
    gcd_ipc_watch_free(w);
}

/* The kernel's file takes "EVENTFD USAGE-FD THRESHOLD". */
static void expect_threshold(unsigned long long want)
{
    int event, usage;
    unsigned long long threshold;
    assert_int_equal(
        sscanf(content("v1/app/cgroup.event_control"), "%d %d %llu", &event, &usage, &threshold),
        3);
    assert_true(threshold == want && event >= 0 && usage >= 0 && event != usage);
}

static void version_1_has_thresholds(void **state)
{
    (void)state;
    struct pollfd items[GCD_IPC_WATCH_DESCRIPTORS];
    bool ended;
    put_process("4:memory:/app\n");
    put("proc/self/mountinfo", "36 31 0:33 / %/v1 rw - cgroup cgroup rw,memory\n");
    put("v1/app/memory.limit_in_bytes", "500000000\n");
    put("v1/app/memory.usage_in_bytes", "400000000\n");
    struct gcd_ipc_watch *w = watch();
    assert_false(gcd_ipc_watch_arm(w, 1000, false)); /* there is no control file */
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 1);
    put("v1/app/cgroup.event_control", "");
    assert_true(gcd_ipc_watch_arm(w, 50000000, false));
    expect_threshold(450000000);
    /* the same again is not written again */
    put("v1/app/cgroup.event_control", "none\n");
    assert_true(gcd_ipc_watch_arm(w, 50000000, false));
    put("v1/app/memory.usage_in_bytes", "410000000\n");
    assert_true(gcd_ipc_watch_arm(w, 50000000, false));
    assert_string_equal(content("v1/app/cgroup.event_control"), "none\n");
    put("v1/app/memory.usage_in_bytes", "420000000\n");
    put("v1/app/cgroup.event_control", "");
    assert_true(gcd_ipc_watch_arm(w, 40000000, false));
    expect_threshold(460000000);
    /* what the kernel does is not simulated: the descriptor as such wakes */
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 2);
    items[1].revents = POLLIN;
    assert_true(gcd_ipc_watch_woken(w, items, 2, &ended));
    assert_false(ended);
    items[1].revents = 0;
    assert_false(gcd_ipc_watch_woken(w, items, 2, &ended));
    /* now the same growth needs another threshold */
    put("v1/app/memory.usage_in_bytes", "430000000\n");
    assert_true(gcd_ipc_watch_arm(w, 40000000, false));
    expect_threshold(470000000);
    put("v1/app/memory.usage_in_bytes", "420000000\n");
    /* at the limit the kernel drops files, so the threshold would never be crossed */
    assert_false(gcd_ipc_watch_arm(w, 80000000, false));
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 1);
    assert_true(gcd_ipc_watch_arm(w, 79999999, false));
    assert_false(gcd_ipc_watch_arm(w, 0, false));
    assert_int_equal(gcd_ipc_watch_descriptors(w, items), 1);
    gcd_ipc_watch_free(w);
}

static void nonsense_is_unknown(void **state)
{
    (void)state;
    static const char *const texts[] = { "",
                                         "some\n",
                                         "full avg10=1.00\n",
                                         "some avg10=101.00 \n",
                                         "some avg10=1\n",
                                         "some avg10=-1.00\n",
                                         "some avg10=1.x0\n" };
    put_process("");
    struct gcd_ipc_watch *w = watch();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("proc/pressure/memory", texts[i]);
        assert_int_equal(read_all(w).pressure, UINT32_MAX);
    }
    struct gcd_ipc_watch_values v;
    static const char *const none[] = { "0 0 0\n", "x", "", "5 99999999999999999999 1\n" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        put("proc/#/statm", none[i]);
        assert_false(gcd_ipc_watch_read(w, 0, &v));
    }
    gcd_ipc_watch_free(w);
    assert_int_equal(gcd_watch_new(proc, 1, NULL, &w, NULL), GCD_E_NOT_FOUND); /* not in PROC */
}

static void the_end_of_a_process(void **state)
{
    (void)state;
    struct pollfd items[GCD_IPC_WATCH_DESCRIPTORS];
    struct gcd_ipc_watch *w = NULL;
    bool ended = false;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        (void)close(ends[1]);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(gcd_ipc_watch_new((uint32_t)child, NULL, &w, NULL), GCD_OK);
    size_t n = gcd_ipc_watch_descriptors(w, items);
    assert_true(n >= 1 && poll(items, 1, 0) == 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    for (int i = 0; i < 100 && !ended; i++) {
        (void)poll(items, (nfds_t)n, 100);
        (void)gcd_ipc_watch_woken(w, items, n, &ended);
    }
    assert_true(ended);
    assert_int_equal(waitpid(child, NULL, 0), child);
    struct gcd_ipc_watch_values v;
    assert_false(gcd_ipc_watch_read(w, 0, &v));
    gcd_ipc_watch_free(w);
    assert_int_equal(gcd_ipc_watch_new((uint32_t)child, NULL, &w, NULL), GCD_E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_limit_the_machine_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(parts, setup, teardown),
        cmocka_unit_test_setup_teardown(version_2, setup, teardown),
        cmocka_unit_test_setup_teardown(a_limit_can_change, setup, teardown),
        cmocka_unit_test_setup_teardown(a_trigger_of_pressure, setup, teardown),
        cmocka_unit_test_setup_teardown(version_1_has_thresholds, setup, teardown),
        cmocka_unit_test_setup_teardown(nonsense_is_unknown, setup, teardown),
        cmocka_unit_test(the_end_of_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
