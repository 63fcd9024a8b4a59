/* Each condition of a job at its limit, and the notes about the last dump. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "job/job.h"
#include "live/target.h"
#include "support/check.h"
#include "support/folder.h"
#include "term/message.h"

#define BEGUN 1795279385 /* 2026-11-21 16:43:05 UTC */
#define PID   4711u
#define MIB   (UINT64_C(1) << 20)

/* ---- fake memory and disk ---- */

static struct gcd_ipc_memory memory;
static struct {
    uint64_t available, unit;
    const char *from;     /* the only folder that exists */
    int failure;          /* errno of statvfs for FROM, or 0 */
    char asked[PATH_MAX]; /* the last path that was asked for */
} disk;

/* the largest possible heap; 0 = not known */
static uint64_t heap_most;

uint64_t __wrap_gcd_ipc_heap_most(uint32_t pid);
uint64_t __wrap_gcd_ipc_heap_most(uint32_t pid)
{
    (void)pid;
    return heap_most;
}

void __wrap_gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret);
void __wrap_gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret)
{
    assert_int_equal(pid, PID);
    *ret = memory;
}

static bool disk_fails(const char *path)
{
    (void)snprintf(disk.asked, sizeof disk.asked, "%s", path);
    if (strcmp(path, disk.from) != 0) {
        errno = ENOENT;
        return true;
    }
    errno = disk.failure;
    return disk.failure != 0;
}

int __wrap_statvfs(const char *path, struct statvfs *ret);
int __wrap_statvfs64(const char *path, struct statvfs *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret)
{
    if (disk_fails(path))
        return -1;
    *ret = (struct statvfs){ .f_bavail = disk.available,
                             .f_bfree = disk.available + 1000,
                             .f_blocks = disk.available + 2000,
                             .f_frsize = (unsigned long)disk.unit,
                             .f_bsize = 1 };
    return 0;
}

int __wrap_statvfs64(const char *path, struct statvfs *ret)
{
    return __wrap_statvfs(path, ret);
}

/* ---- a dump that may be skipped ---- */

static char folder[64];
static struct cli_args args;
static struct job_dump d;

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-cond-XXXXXX");
    memory = (struct gcd_ipc_memory){ .room_bytes = UINT64_MAX };
    heap_most = 0;
    memset(&disk, 0, sizeof disk);
    memset(&args, 0, sizeof args);
    d = (struct job_dump){ .args = &args,
                           .pid = PID,
                           .name = "Shop",
                           .begun = BEGUN,
                           .values = {
                               .name = "Shop", .pid = PID, .host = "web1", .time = BEGUN } };
    cli_hold(true);
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    cli_template_free((struct cli_template *)d.templates[JOB_OUTPUT]);
    return remove_folder(folder);
}

static void path_in(char *ret, const char *name)
{
    assert_true(snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX);
}

static void use_template(const char *name)
{
    char text[PATH_MAX];
    struct cli_template *t;
    path_in(text, name);
    assert_int_equal(cli_template_new(text, &t), CLI_DONE);
    d.templates[JOB_OUTPUT] = t;
}

static void put(const char *name, const char *text, time_t changed)
{
    char path[PATH_MAX];
    path_in(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    assert_int_equal(chmod(path, 0600), 0);
    if (changed != 0)
        assert_int_equal(
            utimensat(AT_FDCWD, path,
                      (struct timespec[2]){ { .tv_sec = changed }, { .tv_sec = changed } }, 0),
            0);
}

#define NOTE ".Shop.gcdumpc-last"

/* Writes a note about the last dump of this process. */
static void remember(uint64_t time, uint64_t rss, uint64_t pause_ns)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "{\"pid\": 1, \"processes\": {\"%u\": {\"time\": %" PRIu64
                   ", \"rss_bytes\": %" PRIu64 ", \"heap_bytes\": 7, \"pause_ns\": %" PRIu64
                   ", \"duration_ms\": 9}}}",
                   PID, time, rss, pause_ns);
    put(NOTE, text, 0);
}

static bool wanted(void)
{
    d.status = JOB_NOT_TRIED;
    d.reason[0] = '\0';
    job_conditions(&d);
    assert_true(d.status == JOB_NOT_TRIED || d.status == JOB_SKIPPED);
    assert_true((d.status == JOB_SKIPPED) == (d.reason[0] != '\0'));
    return d.status == JOB_NOT_TRIED;
}

static void skipped_because(const char *reason)
{
    assert_false(wanted());
    assert_string_equal(d.reason, reason);
}

static bool has_room(void)
{
    d.status = JOB_NOT_TRIED;
    assert_int_equal(job_room(&d), CLI_DONE);
    return d.status != JOB_SKIPPED;
}

/* ---- the process ---- */

static uint32_t a_process_that_has_gone(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_true(pid > 0 && waitpid(pid, NULL, 0) == pid);
    return (uint32_t)pid;
}

static void without_conditions(void **state)
{
    (void)state;
    assert_true(wanted());
    assert_true(has_room());
    assert_string_equal(disk.asked, "");
}

/* The first condition that fails is the reason. */
static void the_first_reason(void **state)
{
    (void)state;
    use_template("%n-%s.gclog");
    remember(BEGUN - 7, 100 * MIB, 0);
    d.rss_bytes = 100 * MIB;
    args.job.max_pause_ms = 1;
    skipped_because(
        "it would pause for about 200 ms (by its memory, 2 ms for each MiB), not at most 1 ms");
    args.job.min_interval_s = 7;
    assert_false(wanted());
    assert_non_null(strstr(d.reason, "pause for about"));
    args.job.min_interval_s = 8;
    skipped_because("the last dump is 7 s old, not 8 s");
    args.job.if_grown = 10;
    skipped_because("it has 100 MiB, after 100 MiB at the last dump; that is not 10 % more");
    args.job.if_rss_above = 101 * MIB;
    skipped_because("it has 100 MiB, not more than 101 MiB");
    args.job.if_free_memory = args.job.if_free_disk = 1 * MIB;
    memory.room_bytes = 0;
    disk.from = ".";
    assert_false(has_room());
    assert_string_equal(d.reason, "the machine has 0 MiB of memory left, not 1 MiB");
    assert_string_equal(disk.asked, "");
    memory.room_bytes = 1 * MIB;
    assert_false(has_room());
    assert_string_equal(d.reason, "its disk has 0 MiB left, not 1 MiB");
}

static void memory_above(void **state)
{
    (void)state;
    args.job.if_rss_above = 100 * MIB;
    d.rss_bytes = 100 * MIB + 1;
    assert_true(wanted());
    d.rss_bytes = 100 * MIB;
    skipped_because("it has 100 MiB, not more than 100 MiB");
    d.rss_bytes = 99 * MIB + MIB / 2 - 1; /* rounded to the nearest */
    skipped_because("it has 99 MiB, not more than 100 MiB");
    d.rss_bytes = 98 * MIB + MIB / 2;
    skipped_because("it has 99 MiB, not more than 100 MiB");
    d.rss_bytes = 0;
    assert_false(wanted());
}

static void growth(void **state)
{
    (void)state;
    static const struct {
        uint64_t before, percent, enough; /* the smallest memory that has grown this much */
    } rows[] = {
        { 1000000, 20, 1200000 },   { 1000000, 1, 1010000 },          { 1000000, 100, 2000000 },
        { 1000000, 900, 10000000 }, { 50000000000, 10, 55000000000 }, { 10000, 1000000, 100010000 },
    };
    use_template("%n-%s.gclog");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        remember(BEGUN - 10, rows[i].before, 0);
        args.job.if_grown = rows[i].percent;
        d.rss_bytes = rows[i].enough;
        assert_true(wanted());
        d.rss_bytes--;
        assert_false(wanted());
        d.rss_bytes = 0;
        assert_false(wanted());
    }
    remember(BEGUN - 10, 100 * MIB, 0);
    args.job.if_grown = 50;
    d.rss_bytes = 149 * MIB;
    skipped_because("it has 149 MiB, after 100 MiB at the last dump; that is not 50 % more");
    remember(BEGUN - 10, 0, 0); /* unknown, so it may have grown */
    assert_true(wanted());
    char path[PATH_MAX];
    path_in(path, NOTE);
    assert_int_equal(unlink(path), 0);
    assert_true(wanted());
}

/* A restarted process begins with less memory than the one before had in the end: that does not
 * keep it from being dumped. */
static void growth_after_a_restart(void **state)
{
    (void)state;
    char text[200];
    use_template("%n-%s.gclog");
    args.job.if_grown = 10;
    d.rss_bytes = 50 * MIB;
    remember(BEGUN - 100, 100 * MIB, 0);
    d.started = BEGUN - 1000;
    assert_false(wanted());
    d.started = BEGUN - 99; /* the times are rounded */
    assert_false(wanted());
    d.started = BEGUN - 98; /* a later process of the same number */
    assert_true(wanted());
    args.job.min_interval_s = 101; /* the interval is that of the service */
    skipped_because("the last dump is 100 s old, not 101 s");
    args.job.min_interval_s = 0;
    d.started = 0; /* of another number */
    (void)snprintf(text, sizeof text,
                   "{\"pid\": %" PRIu32
                   ", \"time\": %d, \"rss_bytes\": 100000000, \"processes\": {}}",
                   a_process_that_has_gone(), BEGUN - 100);
    put(NOTE, text, 0);
    assert_true(wanted());
    args.job.min_interval_s = 101;
    skipped_because("the last dump is 100 s old, not 101 s");
}

static void interval(void **state)
{
    (void)state;
    static const struct {
        int64_t age;
        uint64_t seconds;
        bool wanted;
    } rows[] = {
        { 3600, 3600, true },
        { 3601, 3600, true },
        { 3599, 3600, false },
        { 0, 1, false },
        { 1, 1, true },
        /* a note from the future does not count */
        { -1, 3600, true },
        { -2, UINT64_MAX, true },
        { -1000000, UINT64_MAX, true },
    };
    use_template("%n-%s.gclog");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        remember((uint64_t)((int64_t)BEGUN - rows[i].age), 5, 0);
        args.job.min_interval_s = rows[i].seconds;
        assert_true(wanted() == rows[i].wanted);
    }
    remember(BEGUN - 7, 5, 0);
    args.job.min_interval_s = 8;
    skipped_because("the last dump is 7 s old, not 8 s");
    remember(0, 5, 0);
    args.job.min_interval_s = UINT32_MAX; /* only "no dump at all" is older than this */
    assert_true(wanted());
}

/* Files count as dumps, too: those newer than the note, and without a note those of any process
 * with this name. */
static void interval_of_files(void **state)
{
    (void)state;
    time_t now = time(NULL);
    use_template("%n-%p-%Y%m%d.gclog");
    d.begun = now;
    args.job.min_interval_s = 1000;
    assert_true(wanted());
    put("Shop-4711-20260101.gclog", "x", now - 2000);
    assert_true(wanted());
    put("Shop-12-20260101.gclog", "x", now - 300);
    assert_false(wanted());
    /* with a note, only this process's own files count */
    remember((uint64_t)now - 5000, 5, 0);
    assert_true(wanted());
    put("Shop-4711-20260101.gclog", "x", now - 500);
    skipped_because("the last dump is 500 s old, not 1000 s");
    remember((uint64_t)now - 400, 5, 0);
    skipped_because("the last dump is 400 s old, not 1000 s");
    put("Shop-4711-20260101.gclog", "x", now + 50000);
    skipped_because("the last dump is 400 s old, not 1000 s");
    remember((uint64_t)now - 5000, 5, 0);
    assert_true(wanted());
    args.job.min_interval_s = 0;
    put("Shop-4711-20260101.gclog", "x", now);
    assert_true(wanted());
}

static void pauses(void **state)
{
    (void)state;
    use_template("%n-%s.gclog");
    args.job.max_pause_ms = 200;
    d.rss_bytes = 100 * MIB; /* 2 ms for each MiB */
    assert_true(wanted());
    d.rss_bytes = 100 * MIB + MIB / 2 - 1;
    assert_true(wanted());
    d.rss_bytes = 100 * MIB + MIB / 2;
    skipped_because(
        "it would pause for about 202 ms (by its memory, 2 ms for each MiB), not at most 200 ms");
    d.rss_bytes = 10000 * MIB;
    args.job.max_pause_ms = 20000;
    assert_true(wanted());
    args.job.max_pause_ms = 200;
    remember(BEGUN - 10, 50 * MIB, 100000000); /* 100 ms for half the memory, so 200 ms now */
    d.rss_bytes = 100 * MIB;
    assert_true(wanted());
    d.rss_bytes = 101 * MIB;
    skipped_because(
        "it would pause for about 202 ms (by its memory and the last dump), not at most 200 ms");
    /* the smallest pause that is believed: 1 ms for 1 MB */
    remember(BEGUN - 10, 1000000, 1000000);
    d.rss_bytes = 200000000;
    assert_true(wanted());
    d.rss_bytes = 201000000;
    assert_false(wanted());
    d.rss_bytes = 101 * MIB; /* 106 ms by the last dump, 202 ms without */
    assert_true(wanted());
    remember(BEGUN - 10, 999999, 1000000);
    assert_false(wanted());
    remember(BEGUN - 10, 1000000, 0); /* no pause is known */
    d.rss_bytes = 101 * MIB;
    assert_false(wanted());
    assert_non_null(strstr(d.reason, "2 ms for each MiB"));
}

/* Much of its memory may be no heap. */
static void pauses_by_the_heap(void **state)
{
    (void)state;
    use_template("%n-%s.gclog");
    args.job.max_pause_ms = 200;
    d.rss_bytes = 1000 * MIB;
    heap_most = 100 * MIB;
    assert_true(wanted());
    heap_most = 101 * MIB;
    skipped_because("it would pause for about 202 ms (by its heap, 2 ms for each MiB), "
                    "not at most 200 ms");
    heap_most = 0; /* not known */
    skipped_because(
        "it would pause for about 2000 ms (by its memory, 2 ms for each MiB), not at most 200 ms");
    remember(BEGUN - 10, 500 * MIB, 150000000); /* the last dump knows better */
    skipped_because(
        "it would pause for about 300 ms (by its memory and the last dump), not at most 200 ms");
}

/* ---- the machine ---- */

static void free_memory(void **state)
{
    (void)state;
    args.job.if_free_memory = 64 * MIB;
    assert_true(has_room()); /* not known */
    memory = (struct gcd_ipc_memory){ .room_bytes = 64 * MIB, .limit = GCD_IPC_LIMIT_MACHINE };
    assert_true(has_room());
    memory.room_bytes--;
    assert_false(has_room());
    assert_string_equal(d.reason, "the machine has 64 MiB of memory left, not 64 MiB");
    memory = (struct gcd_ipc_memory){ .room_bytes = 3 * MIB, .limit = GCD_IPC_LIMIT_CGROUP };
    assert_false(has_room());
    assert_string_equal(d.reason, "its cgroup has 3 MiB of memory left, not 64 MiB");
}

static void free_disk(void **state)
{
    (void)state;
    args.job.if_free_disk = 16 * 4096;
    disk.from = "/data/dumps";
    disk.unit = 4096;
    disk.available = 16;
    (void)snprintf(d.paths[JOB_OUTPUT], sizeof d.paths[JOB_OUTPUT], "/data/dumps/2026/11/x.gclog");
    assert_true(has_room());
    assert_string_equal(disk.asked, "/data/dumps");
    disk.available = 15;
    assert_false(has_room());
    assert_string_equal(d.reason, "its disk has 0 MiB left, not 0 MiB");
    args.job.if_free_disk = 5 * MIB;
    disk.unit = MIB;
    disk.available = 4;
    assert_false(has_room());
    assert_string_equal(d.reason, "its disk has 4 MiB left, not 5 MiB");
    disk.available = 5;
    assert_true(has_room());
    static const char *const names[][2] = { { "/x.gclog", "/" },
                                            { "/a/x.gclog", "/" },
                                            { "x.gclog", "." },
                                            { "a/x.gclog", "." },
                                            { "a/b/x", "a" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(d.paths[JOB_OUTPUT], sizeof d.paths[JOB_OUTPUT], "%s", names[i][0]);
        disk.from = names[i][1];
        assert_true(has_room());
        assert_string_equal(disk.asked, names[i][1]);
        disk.available = 4;
        assert_false(has_room());
        disk.available = 5;
    }
    disk.failure = EIO;
    assert_int_equal(job_room(&d), CLI_FAILED);
    char said[80];
    (void)snprintf(said, sizeof said, "the free space is unknown: %s", strerror(EIO));
    assert_string_equal(cli_last_said(), said);
    disk.from = "."; /* the last folder asked for */
    assert_int_equal(job_room(&d), CLI_FAILED);
}

/* ---- notes about the last dump ---- */

static void written_and_read(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct stat st;
    struct run_state last;
    use_template("%n-%s.gclog");
    assert_false(run_state_read(&d, &last));
    assert_true(last.time == 0 && last.rss_bytes == 0 && last.pause_ns == 0);
    d.rss_bytes = 11;
    d.duration_ms = 14;
    d.facts = (struct job_facts){ .taken = true, .heap_bytes = 12, .pause_ns = 13 };
    assert_int_equal(run_state_write(&d), CLI_DONE);
    path_in(path, NOTE);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600);
    assert_true(run_state_read(&d, &last));
    assert_true(last.time == BEGUN && last.rss_bytes == 11 && last.heap_bytes == 12 &&
                last.pause_ns == 13 && last.duration_ms == 14);
    /* same name, no note of its own: 4711 has ended, so this may be its restart */
    d.pid = (uint32_t)getpid();
    bool gone = kill((pid_t)PID, 0) != 0 && errno == ESRCH;
    assert_true(run_state_read(&d, &last));
    assert_true((last.rss_bytes == 11) == gone);
    /* a note about a living process stays, one about a dead process goes */
    d.rss_bytes = 21;
    assert_int_equal(run_state_write(&d), CLI_DONE);
    d.pid = a_process_that_has_gone();
    d.rss_bytes = 31;
    assert_int_equal(run_state_write(&d), CLI_DONE);
    d.pid = (uint32_t)getpid();
    assert_true(run_state_read(&d, &last) && last.rss_bytes == 21);
    d.rss_bytes = 22;
    assert_int_equal(run_state_write(&d), CLI_DONE);
    json_t *o = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_size(json_object_get(o, "processes")), gone ? 1 : 2);
    assert_int_equal(json_integer_value(json_object_get(o, "pid")), getpid());
    json_decref(o);
    d.pid = 1; /* 4711 lives, so its dump was not ours */
    assert_true(run_state_read(&d, &last));
    assert_true(last.time == 0 && last.rss_bytes == 0);
}

static void of_one_that_has_gone(void **state)
{
    (void)state;
    char text[200];
    struct run_state last;
    struct {
        long long pid;
        bool gone;
    } rows[] = { { a_process_that_has_gone(), true }, { 0, true },         { -5, true },
                 { (long long)INT32_MAX + 1, true },  { getpid(), false }, { 1, false } };
    use_template("%n-%s.gclog");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"pid\": %lld, \"time\": 5, \"rss_bytes\": -3, \"pause_ns\": \"x\", "
                       "\"processes\": {}}",
                       rows[i].pid);
        put(NOTE, text, 0);
        errno = ESRCH; /* not one of our notes */
        assert_true(run_state_read(&d, &last));
        assert_true(last.time == (rows[i].gone ? 5 : 0) && last.rss_bytes == 0 &&
                    last.pause_ns == 0);
    }
}

static void notes_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "{", "[]", "7", "{} x" };
    char path[PATH_MAX], other[PATH_MAX];
    struct run_state last;
    int before = dup(0);
    assert_int_equal(close(before), 0);
    use_template("%n-%s.gclog");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(NOTE, bad[i], 0);
        assert_false(run_state_read(&d, &last));
    }
    put(NOTE, "{}", 0);
    assert_true(run_state_read(&d, &last));
    path_in(path, NOTE);
    path_in(other, "elsewhere");
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("elsewhere", path), 0); /* not followed */
    assert_false(run_state_read(&d, &last));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* not waited for */
    assert_false(run_state_read(&d, &last));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(other, path), 0);
    assert_true(run_state_read(&d, &last));
    if (geteuid() == 0) { /* owned by another user */
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_false(run_state_read(&d, &last));
    }
    int after = dup(0);
    assert_int_equal(close(after), 0);
    assert_int_equal(before, after); /* nothing is left open */
}

/* A note with very many processes stays small enough to be read again. */
static void notes_of_many(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct run_state last;
    use_template("%n-%s.gclog");
    path_in(path, NOTE);
    json_t *o = json_object(), *all = json_object();
    for (unsigned i = 0; i < 320; i++) { /* every entry of one living process */
        char key[40];
        (void)snprintf(key, sizeof key, "%ld x%u", (long)getpid(), i);
        json_object_set_new(all, key, json_pack("{s:i}", "time", 5));
    }
    json_object_set_new(o, "processes", all);
    assert_int_equal(json_dump_file(o, path, 0), 0);
    json_decref(o);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(run_state_write(&d), CLI_DONE);
    o = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_size(json_object_get(o, "processes")), 301);
    json_decref(o);
    assert_true(run_state_read(&d, &last) && last.time == BEGUN);
}

/* Machines that write into one folder do not take the process of another machine for a restart of
 * theirs. */
static void notes_of_machines(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct run_state last;
    use_template("%h/%n-%s.gclog");
    assert_int_equal(run_state_write(&d), CLI_DONE);
    path_in(path, ".Shop@web1.gcdumpc-last");
    assert_int_equal(access(path, F_OK), 0);
    assert_true(run_state_read(&d, &last) && last.time == BEGUN);
    d.values.host = "web2";
    assert_false(run_state_read(&d, &last));
}

/* Without a template there is no note; all folders made from fields share one. */
static void where_notes_are(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct run_state last;
    assert_int_equal(run_state_write(&d), CLI_DONE);
    assert_false(run_state_read(&d, &last));
    use_template("%Y/%n/%p.gclog");
    d.values.name = "../Shop";
    assert_int_equal(run_state_write(&d), CLI_DONE);
    path_in(path, ".%2E.%2FShop.gcdumpc-last");
    assert_int_equal(access(path, F_OK), 0);
    assert_true(run_state_read(&d, &last) && last.time == BEGUN);
}

/* Several processes of one name are dumped at the same time, by several jobs: none forgets what
 * another one wrote. */
static void written_by_two(void **state)
{
    (void)state;
    char path[PATH_MAX];
    int status = 0;
    use_template("%n-%s.gclog");
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(fd); /* or the lock would be its own, too */
        d.pid = (uint32_t)getpid();
        _exit(run_state_write(&d) == CLI_DONE ? 0 : 1);
    }
    for (int i = 0; i < 10; i++) { /* it waits, however long it has been there */
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
        (void)usleep(20000);
    }
    char text[200];
    (void)snprintf(text, sizeof text, "{\"pid\": 1, \"processes\": {\"%d\": {\"time\": 5}}}",
                   (int)getpid());
    put(NOTE, text, 0);
    (void)close(fd);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    path_in(path, NOTE);
    json_t *o = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_size(json_object_get(o, "processes")), 2);
    json_decref(o);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(without_conditions),
        TEST(the_first_reason),
        TEST(memory_above),
        TEST(growth),
        TEST(growth_after_a_restart),
        TEST(interval),
        TEST(interval_of_files),
        TEST(pauses),
        TEST(pauses_by_the_heap),
        TEST(free_memory),
        TEST(free_disk),
        TEST(written_and_read),
        TEST(written_by_two),
        TEST(of_one_that_has_gone),
        TEST(notes_that_are_none),
        TEST(notes_of_many),
        TEST(notes_of_machines),
        TEST(where_notes_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
