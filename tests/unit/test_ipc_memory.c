/*
 * How much memory a process can take: limits of fake cgroups in a fake /proc; the buffer size that
 * follows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <gcdumpc/unstable/ipc_target.h>

#include "ipc/process/ipc_container.h"
#include "ipc/process/ipc_memory.h"
#include "ipc/process/ipc_procfs.h"
#include "support/folder.h"

#define MIB (UINT64_C(1) << 20)

static char dir[64], proc[128];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/gcd-memory-XXXXXX");
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

/* Writes the file NAME below the test's folder and makes its folders; "%" in TEXT is the test's
 * folder. */
static void put(const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
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

static void put_process(const char *cgroup)
{
    put("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8388608 "
                        "kB\nSwapTotal:  500000 kB\n");
    put("proc/42/stat", "42 (HeapLab) S 1 42 42 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0\n");
    put("proc/42/status", "Name:\tHeapLab\nUid:\t1000\t1000\t1000\t1000\nVmRSS:\t  512000 "
                          "kB\nVmSwap:\t     300 kB\nHugetlbPages:\t    4096 kB\n");
    put("proc/42/cgroup", cgroup);
}

static void composite_images(void **state)
{
    (void)state;
    put("proc/42/maps", "7f0000000000-7f0000001000 r--p 00000000 fe:00 7 /app/Shop.dll\n");
    assert_false(gcd_procfs_is_composite(proc, 42));
    assert_false(gcd_procfs_is_composite(proc, 43));
    put("proc/42/maps", "7f0000000000-7f0000001000 r--p 00000000 fe:00 7 /app/Shop.dll\n"
                        "7f0000002000-7f0000003000 r-xp 00000000 fe:00 8 /app/Shop.r2r.dll\n");
    assert_true(gcd_procfs_is_composite(proc, 42));
}

static void expect(uint64_t room, enum gcd_ipc_limit limit)
{
    struct gcd_ipc_memory m;
    gcd_memory_read(proc, 42, &m);
    assert_true(m.rss_bytes == UINT64_C(512000) * 1024);
    assert_true(m.away_bytes == UINT64_C(4396) * 1024 &&
                m.machine_bytes == UINT64_C(16500000) * 1024);
    assert_true(m.room_bytes == room);
    assert_int_equal(m.limit, limit);
}

static const uint64_t available = UINT64_C(8388608) * 1024;

static void only_the_limit_of_the_machine(void **state)
{
    (void)state;
    struct gcd_ipc_memory m;
    put_process("");
    expect(available, GCD_IPC_LIMIT_MACHINE);
    gcd_memory_read(proc, 0, &m);
    assert_true(m.rss_bytes == 0 && m.room_bytes == available);
    gcd_memory_read(proc, 43, &m); /* no such process */
    assert_true(m.rss_bytes == 0 && m.room_bytes == available);
    gcd_memory_read("/nonexistent", 42, &m);
    assert_true(m.rss_bytes == 0 && m.room_bytes == UINT64_MAX);
    assert_int_equal(m.limit, GCD_IPC_LIMIT_NONE);
}

static void version_2_up_to_the_root(void **state)
{
    (void)state;
    put_process("0::/a/b/c\n");
    put("proc/self/mountinfo",
        "22 1 0:20 / /proc rw - proc proc rw\n"
        "31 22 0:28 / %/cg\\040\\134v2 rw shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("cg \\v2/a/b/c/memory.max", "max\n");
    put("cg \\v2/a/b/c/memory.high", "max\n");
    put("cg \\v2/a/b/c/memory.current", "400000000\n");
    expect(available, GCD_IPC_LIMIT_MACHINE);
    put("cg \\v2/a/b/c/memory.max", "1000000000\n");
    expect(600000000, GCD_IPC_LIMIT_CGROUP);
    put("cg \\v2/a/b/c/memory.high", "900000000\n");
    expect(500000000, GCD_IPC_LIMIT_CGROUP);
    struct gcd_ipc_memory m;
    gcd_memory_read(proc, 42, &m);
    assert_true(m.cgroup_limit_bytes == 900000000 && m.cgroup_used_bytes == 400000000);
    /* the page cache can be reclaimed */
    put("cg \\v2/a/b/c/memory.stat",
        "anon 1\nfile 150000000\nactive_file 7\ninactive_file 100000000\nslab 1\n");
    expect(600000000, GCD_IPC_LIMIT_CGROUP);
    put("cg \\v2/a/b/c/memory.stat", "inactive_file 999999999999\n");
    expect(900000000, GCD_IPC_LIMIT_CGROUP);
    /* a parent slice is shared with others */
    put("cg \\v2/a/memory.max", "3000000000\n");
    put("cg \\v2/a/memory.current", "2900000000\n");
    expect(100000000, GCD_IPC_LIMIT_CGROUP);
    put("cg \\v2/a/memory.current", "3000000001\n");
    expect(0, GCD_IPC_LIMIT_CGROUP);
    /* a limit without usage does not count, nor does one that is no number */
    put("cg \\v2/a/memory.current", "much\n");
    expect(900000000, GCD_IPC_LIMIT_CGROUP);
    put("cg \\v2/a/b/c/memory.max", "-5\n");
    put("cg \\v2/a/b/c/memory.high", "99999999999999999999999\n");
    expect(available, GCD_IPC_LIMIT_MACHINE);
}

/* A folder with the name of the cgroup beside the mount must not count, and the mount's own folder
 * must. */
static void no_further_than_the_mount(void **state)
{
    (void)state;
    put_process("0::/\n");
    put("proc/self/mountinfo", "31 22 0:28 / %/cg rw - cgroup2 cgroup2 rw\n");
    put("memory.max", "1\n");
    put("memory.current", "1\n");
    put("cg/memory.max", "70000000\n");
    put("cg/memory.current", "10000000\n");
    expect(60000000, GCD_IPC_LIMIT_CGROUP);
    put("proc/42/cgroup", "0::/..\n");
    expect(available, GCD_IPC_LIMIT_MACHINE);
    put("proc/42/cgroup", "0::/x/../..\n");
    expect(available, GCD_IPC_LIMIT_MACHINE);
}

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD  "pod1b2c3d4e_0000_1111_2222_333344445555"
#define MANY "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

/* How engines call the cgroups of containers, with systemd and without. */
static void containers_of_all_engines(void **state)
{
    (void)state;
    static const struct {
        const char *cgroup, *id;
    } rows[] = {
        { "0::/docker/" ID "\n", ID },
        { "12:memory:/docker/" ID "\n0::/\n", ID },
        { "12:cpu,cpuacct:/\n11:memory:/kubepods/burstable/" POD "/" ID "\n", ID },
        { "0::/system.slice/docker-" ID ".scope\n", ID },
        { "0::/system.slice/docker-" ID ".scope/init.scope\n", ID },
        { "0::/kubepods.slice/kubepods-" POD ".slice/cri-containerd-" ID ".scope\n", ID },
        { "0::/kubepods.slice/kubepods-" POD ".slice/crio-" ID ".scope/container\n", ID },
        { "0::/system.slice/kubepods-" POD ".slice:cri-containerd:" ID "\n", ID },
        { "0::/machine.slice/libpod-" ID ".scope/container\n", ID },
        { "0::/../../cri-containerd-" ID ".scope\n", ID }, /* seen from a container beside it */
        { "0::/docker/" MANY "/docker/" ID "\n", ID },     /* a container in a container */
        { "0::/machine.slice/libpod-conmon-" ID ".scope\n", "" },
        { "0::/user.slice/user-1000.slice/session-3.scope\n", "" },
        { "0::/kubepods/besteffort/" POD "\n", "" },
        { "0::/docker/" ID "0\n", "" },
        { "0::/docker/x" ID "\n", "" },
        { "0::/docker/0123456789ABCDEF" ID "\n", "" },
        { "0::/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n", "" },
        { "0::/\n", "" },
        { "", "" },
        { "nonsense " ID "\n", "" },
    };
    char id[GCD_CONTAINER_ID_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_process(rows[i].cgroup);
        gcd_container_find(proc, 42, id);
        assert_string_equal(id, rows[i].id);
    }
    gcd_container_find(proc, 43, id); /* no such process */
    assert_string_equal(id, "");
}

static void version_1_and_both(void **state)
{
    (void)state;
    put_process("9:name=systemd:/x\n4:cpu,memory:/box/app\n3:cpuset:/\n0::/app\n");
    put("proc/self/mountinfo", "35 31 0:32 / %/v1/cpu rw - cgroup cgroup rw,cpu\n36 31 0:33 /box "
                               "%/v1/memory rw - cgroup cgroup rw,cpu,memory\n"
                               "41 31 0:38 / %/v2 rw - cgroup2 cgroup2 rw\n");
    put("v1/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
    put("v1/memory/app/memory.usage_in_bytes", "400000000\n");
    put("v1/cpu/box/app/memory.limit_in_bytes", "1\n");
    put("v1/cpu/box/app/memory.usage_in_bytes", "1\n");
    expect(available, GCD_IPC_LIMIT_MACHINE);
    put("v1/memory/app/memory.limit_in_bytes", "500000000\n");
    expect(100000000, GCD_IPC_LIMIT_CGROUP);
    put("v1/memory/app/memory.stat",
        "inactive_file 1\nhierarchical_memory_limit 5\ntotal_inactive_file 50000000\n");
    expect(150000000, GCD_IPC_LIMIT_CGROUP);
    put("v2/app/memory.max", "300000000\n");
    put("v2/app/memory.current", "280000000\n");
    expect(20000000, GCD_IPC_LIMIT_CGROUP);
}

/* The process is in another container: its cgroup is read through its own mounts. */
static void through_the_root_of_the_process(void **state)
{
    (void)state;
    put_process("0::/../other\n");
    put("proc/self/mountinfo", "31 22 0:28 / %/cg rw - cgroup2 cgroup2 rw\n");
    put("proc/42/mountinfo", "31 22 0:28 /../other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("proc/42/root/sys/fs/cgroup/memory.max", "80000000\n");
    put("proc/42/root/sys/fs/cgroup/memory.current", "30000000\n");
    put("other/memory.max", "1\n");
    put("other/memory.current", "1\n");
    expect(50000000, GCD_IPC_LIMIT_CGROUP);
}

static void odd_lines(void **state)
{
    (void)state;
    put_process("\nnonsense\n4\n4:memory\n0:x:/\n0::relative\n7:memory:\n0::/missing\n");
    put("proc/self/mountinfo", "\n - \n31 - cgroup2 cgroup2 rw\n31 22 0:28 / - cgroup2 c rw\n31 22 "
                               "0:28 / %/cg rw - cgroup\n"
                               "31 22 0:28 / %/cg rw - cgroup2\n");
    put("cg/here", "");
    expect(available, GCD_IPC_LIMIT_MACHINE);
    /* a pipe without a writer */
    char path[512];
    put("proc/42/cgroup", "0::/\n");
    (void)snprintf(path, sizeof path, "%s/cg/memory.max", dir);
    assert_int_equal(mkfifo(path, 0666), 0);
    expect(available, GCD_IPC_LIMIT_MACHINE);
}

static struct gcd_ipc_budget budget(uint64_t rss, uint64_t room, uint32_t max)
{
    struct gcd_ipc_memory m = { .rss_bytes = rss,
                                .room_bytes = room,
                                .limit = GCD_IPC_LIMIT_CGROUP };
    return gcd_ipc_budget(&m, max);
}

static void the_buffer_follows_the_memory(void **state)
{
    (void)state;
    static const struct {
        uint64_t rss, room;
        uint32_t max, buffer, max_buffer;
        enum gcd_ipc_limit limit;
    } want[] = {
        /* enough memory: twice that of the process, with a minimum */
        { 50 * MIB, UINT64_MAX, 0, 256, 4095, GCD_IPC_LIMIT_NONE },
        { 800 * MIB, UINT64_MAX, 0, 1601, 4095, GCD_IPC_LIMIT_NONE },
        { 9000 * MIB, UINT64_MAX, 0, 4095, 4095, GCD_IPC_LIMIT_NONE },
        { 800 * MIB, UINT64_MAX, 512, 512, 512, GCD_IPC_LIMIT_NONE },
        { 800 * MIB, UINT64_MAX, 9999, 1601, 4095, GCD_IPC_LIMIT_NONE },
        /* not known: of a port, whose process may be in a small container */
        { 0, UINT64_MAX, 0, 256, 4095, GCD_IPC_LIMIT_NONE },
        { UINT64_MAX, UINT64_MAX, 0, 4095, 4095, GCD_IPC_LIMIT_NONE },
        /* an eighth stays free, 8 MB at least, 256 MB at most */
        { 800 * MIB, 800 * MIB, 0, 700, 700, GCD_IPC_LIMIT_CGROUP },
        { 800 * MIB, 3000 * MIB, 0, 1601, 2744, GCD_IPC_LIMIT_CGROUP },
        { 0, 80 * MIB, 0, 70, 70, GCD_IPC_LIMIT_CGROUP },
        { 50 * MIB, 40 * MIB, 0, 32, 32, GCD_IPC_LIMIT_CGROUP },
        { 50 * MIB, 40 * MIB, 4, 4, 4, GCD_IPC_LIMIT_NONE },
        { 50 * MIB, 16 * MIB, 0, 8, 8, GCD_IPC_LIMIT_CGROUP },
        { 50 * MIB, 16 * MIB - 1, 0, 0, 0, GCD_IPC_LIMIT_CGROUP },
        { 50 * MIB, 0, 0, 0, 0, GCD_IPC_LIMIT_CGROUP },
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct gcd_ipc_budget b = budget(want[i].rss, want[i].room, want[i].max);
        assert_int_equal(b.buffer_mb, want[i].buffer);
        assert_int_equal(b.max_buffer_mb, want[i].max_buffer);
        assert_int_equal(b.limit, want[i].limit);
        assert_true(b.likely_bytes <= b.most_bytes && (b.most_bytes == 0) == (want[i].rss == 0));
    }
}

static void the_buffer_after_a_loss(void **state)
{
    (void)state;
    struct gcd_ipc_budget b = budget(50 * MIB, UINT64_MAX, 1000);
    assert_int_equal(b.buffer_mb, 256);
    /* the right size from the start */
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 4, 0, 0), 256);
    /* few lost events: double */
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 256, 300 * MIB, 3), 512);
    /* 8000 events of 64 KB, a quarter on top */
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 64, 64 * MIB, 8000), 706);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 64, 64 * MIB, UINT64_MAX), 1000);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 64, UINT64_MAX, 1), 1000);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 999, 0, 0), 1000);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 1000, 0, 9), 0);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 4095, 0, 9), 0);
    b = budget(50 * MIB, 0, 0);
    assert_int_equal(gcd_ipc_budget_after_loss(&b, 1, 0, 9), 0);
}

/* Four times the memory and 1 GiB. */
static void what_the_memory_explains(void **state)
{
    (void)state;
    static const struct {
        struct gcd_ipc_memory m;
        uint64_t most;
    } want[] = {
        { { .rss_bytes = 50 * MIB, .machine_bytes = 9999 * MIB }, 1224 * MIB },
        { { .rss_bytes = 50 * MIB, .away_bytes = 1000 * MIB, .machine_bytes = 9999 * MIB },
          5224 * MIB },
        { { .rss_bytes = 1, .away_bytes = 1 }, 1024 * MIB + 8 },
        { { .machine_bytes = 1000 * MIB }, 5024 * MIB },
        { { .rss_bytes = 0 }, UINT64_MAX },
        { { .rss_bytes = UINT64_MAX, .away_bytes = UINT64_MAX }, UINT64_MAX },
        { { .rss_bytes = (UINT64_MAX - 1024 * MIB) / 4 }, UINT64_MAX - 3 },
        { { .rss_bytes = (UINT64_MAX - 1024 * MIB) / 4 + 1 }, UINT64_MAX },
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_true(gcd_ipc_stream_max(&want[i].m) == want[i].most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(composite_images, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_limit_of_the_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(version_2_up_to_the_root, setup, teardown),
        cmocka_unit_test_setup_teardown(no_further_than_the_mount, setup, teardown),
        cmocka_unit_test_setup_teardown(containers_of_all_engines, setup, teardown),
        cmocka_unit_test_setup_teardown(version_1_and_both, setup, teardown),
        cmocka_unit_test_setup_teardown(through_the_root_of_the_process, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_lines, setup, teardown),
        cmocka_unit_test(the_buffer_follows_the_memory),
        cmocka_unit_test(the_buffer_after_a_loss),
        cmocka_unit_test(what_the_memory_explains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
