/* Is there room for a dump?  How much each disk must have, and the message when it has less. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "live/live.h"
#include "support/check.h"
#include "support/folder.h"
#include "term/message.h"

#define LIKELY    80 /* estimated MiB of the stream */
#define MOST      160
#define ELSEWHERE "/proc" /* another device */

static char folder[64];
static unsigned left_here, left_elsewhere;
/* what of the process can be heap, 0: not known */
static unsigned heap_mib;
/* what its cgroup has left, and the largest buffer that fits there */
static uint64_t room_bytes;
static uint32_t most_mib;
static enum gcd_ipc_limit limit;

gcd_status __wrap_gcd_ipc_lock(uint32_t pid, const char *socket_path, struct gcd_ipc_lock *ret,
                               struct gcd_error *err);
gcd_status __wrap_gcd_ipc_lock(uint32_t pid, const char *socket_path, struct gcd_ipc_lock *ret,
                               struct gcd_error *err)
{
    (void)pid;
    (void)socket_path;
    (void)ret;
    (void)err;
    return GCD_OK;
}

uint64_t __wrap_gcd_ipc_heap_most(uint32_t pid);
uint64_t __wrap_gcd_ipc_heap_most(uint32_t pid)
{
    (void)pid;
    return heap_mib * LIVE_MIB;
}

void __wrap_gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret);
void __wrap_gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret)
{
    (void)pid;
    *ret = (struct gcd_ipc_memory){ .room_bytes = room_bytes, .limit = GCD_IPC_LIMIT_CGROUP };
}

struct gcd_ipc_budget __wrap_gcd_ipc_budget(const struct gcd_ipc_memory *memory,
                                            uint32_t max_buffer_mb);
struct gcd_ipc_budget __wrap_gcd_ipc_budget(const struct gcd_ipc_memory *memory,
                                            uint32_t max_buffer_mb)
{
    (void)memory;
    (void)max_buffer_mb;
    return (struct gcd_ipc_budget){ .likely_bytes = LIKELY * LIVE_MIB,
                                    .most_bytes = MOST * LIVE_MIB,
                                    .buffer_mb = 64,
                                    .max_buffer_mb = most_mib,
                                    .limit = limit };
}

int __wrap_statvfs(const char *path, struct statvfs *ret);
int __wrap_statvfs64(const char *path, struct statvfs *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret)
{
    bool here = strncmp(path, folder, strlen(folder)) == 0;
    assert_true(here || strcmp(path, ELSEWHERE) == 0);
    *ret = (struct statvfs){ .f_bavail = (here ? left_here : left_elsewhere) * 256,
                             .f_bfree = 1000000,
                             .f_blocks = 1000000,
                             .f_frsize = 4096,
                             .f_bsize = 1 };
    return 0;
}

int __wrap_statvfs64(const char *path, struct statvfs *ret)
{
    return __wrap_statvfs(path, ret);
}

static int setup(void **state)
{
    char path[PATH_MAX];
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-flight-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    left_here = left_elsewhere = 1000;
    heap_mib = 0;
    room_bytes = UINT64_MAX;
    most_mib = 4095;
    limit = GCD_IPC_LIMIT_NONE;
    cli_hold(true);
    (void)snprintf(path, sizeof path, "%s/sub", folder);
    return mkdir(path, 0700);
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(folder);
}

/* Names in the folder of the test, or somewhere else; NULL: none. */
struct what {
    const char *output, *trace;
    bool spooled, force;
    unsigned max_mib;
    unsigned expected_mib; /* by the last dump, 0: there is none */
};

static const char *path_of(const char *name, char path[static PATH_MAX])
{
    if (name == NULL || name[0] == '/' || name[0] == '-')
        return name;
    assert_true(snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX);
    return path;
}

/* WANT: the message, with F for the folder; NULL: none. */
static void check(struct what w, enum cli_exit exit, const char *want)
{
    char output[PATH_MAX], trace[PATH_MAX], text[1024] = "nothing";
    uint32_t buffer_mb;
    struct cli_args args = { .output.path = path_of(w.output, output),
                             .live.save_trace = path_of(w.trace, trace),
                             .live.force = w.force,
                             .live.max_bytes = w.max_mib * LIVE_MIB };
    struct live l = { .args = &args,
                      .spool_dir = w.spooled ? folder : NULL,
                      .pid = 7,
                      .path = "/tmp/socket",
                      .subject = "process 7",
                      .expected_bytes = w.expected_mib * LIVE_MIB };
    const char *at = want != NULL ? strchr(want, 'F') : NULL;
    if (want != NULL && at != NULL)
        (void)snprintf(text, sizeof text, "the dump %.*s%s%s", (int)(at - want), want, folder,
                       at + 1);
    else if (want != NULL)
        (void)snprintf(text, sizeof text, "the dump %s", want);
    cli_say(NULL, "nothing");
    assert_int_equal(live_preflight(&l, &buffer_mb), exit);
    assert_int_equal(buffer_mb, 64);
    assert_string_equal(cli_last_said(), text);
}

static void at_the_edges(void **state)
{
    (void)state;
    struct what w = { .trace = "x.nettrace" };
    left_here = MOST;
    check(w, CLI_DONE, NULL);
    left_here = MOST - 1;
    check(w, CLI_DONE, "could need up to 160 MiB in F, where 159 MiB are free");
    left_here = LIKELY;
    check(w, CLI_DONE, "could need up to 160 MiB in F, where 80 MiB are free");
    left_here = LIKELY - 1;
    check(w, CLI_FAILED,
          "needs about 80 MiB in F, where 79 MiB are free; --force continues anyway");
    w.force = true;
    check(w, CLI_DONE, "needs about 80 MiB in F, where 79 MiB are free");
}

static void compressed(void **state)
{
    (void)state;
    struct what w = { .output = "x.nettrace.gz" };
    left_here = 20;
    check(w, CLI_DONE, NULL);
    left_here = 19;
    check(w, CLI_DONE, "could need up to 20 MiB in F, where 19 MiB are free");
    left_here = 9;
    check(w, CLI_FAILED, "needs about 10 MiB in F, where 9 MiB are free; --force continues anyway");
}

/* Outputs on one disk are added up, even in different folders. */
static void disks(void **state)
{
    (void)state;
    struct what same = { .output = "x.nettrace", .trace = "sub/x.nettrace" },
                two = { .output = "x.nettrace", .trace = ELSEWHERE "/x.nettrace" };
    struct what spooled = { .output = "x.nettrace", .trace = "sub/x.nettrace", .spooled = true };
    left_here = 320;
    check(same, CLI_DONE, NULL);
    left_here = 319;
    check(same, CLI_DONE, "could need up to 320 MiB in F, where 319 MiB are free");
    check(spooled, CLI_DONE, "could need up to 480 MiB in F, where 319 MiB are free");
    left_here = 159;
    check(same, CLI_FAILED,
          "needs about 160 MiB in F, where 159 MiB are free; --force continues anyway");
    left_here = left_elsewhere = 160;
    check(two, CLI_DONE, NULL);
    left_elsewhere = 79;
    check(two, CLI_FAILED,
          "needs about 80 MiB in " ELSEWHERE ", where 79 MiB are free; --force continues anyway");
}

/* The last dump says better than the memory what is needed, but not how much it can be. */
static void by_the_last_dump(void **state)
{
    (void)state;
    struct what w = { .trace = "x.nettrace", .expected_mib = 30 };
    left_here = MOST - 1;
    check(w, CLI_DONE, "could need up to 160 MiB in F, where 159 MiB are free");
    left_here = 30;
    check(w, CLI_DONE, "could need up to 160 MiB in F, where 30 MiB are free");
    left_here = 29;
    check(w, CLI_FAILED,
          "needs about 30 MiB in F, where 29 MiB are free; --force continues anyway");
    w.expected_mib = MOST + 40;
    left_here = MOST + 39;
    check(w, CLI_FAILED,
          "needs about 200 MiB in F, where 199 MiB are free; --force continues anyway");
    struct what half = { .output = "x.nettrace.gz", .expected_mib = 20 }; /* 2.5 MiB */
    left_here = 2;
    check(half, CLI_FAILED,
          "needs about 3 MiB in F, where 2 MiB are free; --force continues anyway");
}

/* No more is taken than --max-bytes allows. */
static void limited(void **state)
{
    (void)state;
    struct what w = { .trace = "x.nettrace", .max_mib = 100 };
    left_here = 100;
    check(w, CLI_DONE, NULL);
    left_here = 99;
    check(w, CLI_DONE, "could need up to 100 MiB in F, where 99 MiB are free");
    w.max_mib = 40;
    left_here = 39;
    check(w, CLI_FAILED,
          "needs about 40 MiB in F, where 39 MiB are free; --force continues anyway");
}

/* Only a part of the memory can be heap: 2 MiB and once or twice that. */
static void a_small_heap(void **state)
{
    (void)state;
    struct what w = { .trace = "x.nettrace" };
    heap_mib = 20;
    left_here = 42;
    check(w, CLI_DONE, NULL);
    left_here = 41;
    check(w, CLI_DONE, "could need up to 42 MiB in F, where 41 MiB are free");
    left_here = 21;
    check(w, CLI_FAILED,
          "needs about 22 MiB in F, where 21 MiB are free; --force continues anyway");
    heap_mib = 100; /* never more than its memory */
    left_here = LIKELY;
    check(w, CLI_DONE, "could need up to 160 MiB in F, where 80 MiB are free");
}

/* WANT: the message; NULL: none. */
static void check_buffer(uint32_t buffer_mb, bool force, enum cli_exit exit, const char *want)
{
    uint32_t got = 0;
    struct cli_args args = { .live.buffer_mb = buffer_mb, .live.force = force };
    struct live l = { .args = &args, .pid = 7, .path = "/tmp/socket", .subject = "process 7" };
    cli_say(NULL, "nothing");
    assert_int_equal(live_preflight(&l, &got), exit);
    assert_string_equal(cli_last_said(), want != NULL ? want : "nothing");
    assert_int_equal(got, buffer_mb);
}

/* A buffer that the process has no room for could get it killed; what it cannot fill takes none. */
static void a_buffer_that_does_not_fit(void **state)
{
    (void)state;
    room_bytes = 43 * LIVE_MIB;
    limit = GCD_IPC_LIMIT_CGROUP;
    most_mib = 35;
    check_buffer(35, false, CLI_DONE, NULL);
    check_buffer(36, false, CLI_FAILED,
                 "a buffer of 36 MiB is more than its cgroup can give: 43 MiB are left, and the "
                 "kernel could kill the process; without --buffer it gets 64 MiB; --force "
                 "continues anyway");
    check_buffer(36, true, CLI_DONE,
                 "a buffer of 36 MiB is more than its cgroup can give: 43 MiB are left");
    most_mib = MOST + 1;
    check_buffer(4095, false, CLI_DONE, NULL);
    most_mib = MOST;
    check_buffer(4095, true, CLI_DONE,
                 "a buffer of 4095 MiB is more than its cgroup can give: 43 MiB are left");
    limit = GCD_IPC_LIMIT_NONE; /* only --max-buffer says less */
    check_buffer(4095, false, CLI_DONE, NULL);
}

static void what_takes_no_room(void **state)
{
    (void)state;
    char path[PATH_MAX];
    left_here = 0;
    assert_int_equal(mkfifo(path_of("pipe", path), 0600), 0);
    check((struct what){ .output = "-", .trace = "pipe" }, CLI_DONE, NULL);
    /* opening it gives the better message */
    check((struct what){ .output = "no-such-folder/x.gclog" }, CLI_DONE, NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = { TEST(at_the_edges),
                                        TEST(compressed),
                                        TEST(disks),
                                        TEST(by_the_last_dump),
                                        TEST(limited),
                                        TEST(a_small_heap),
                                        TEST(a_buffer_that_does_not_fit),
                                        TEST(what_takes_no_room) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
