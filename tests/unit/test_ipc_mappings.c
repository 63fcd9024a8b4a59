/*
 * What of the memory of a process is the GC's: mappings in a fake /proc, and ranges as a dump names
 * them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/process/ipc_mappings.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/folder.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static char proc[FOLDER_BYTES];

static int setup(void **state)
{
    (void)state;
    return make_folder(proc);
}

static int teardown(void **state)
{
    (void)state;
    return remove_folder(proc);
}

static void put(const char *name, const char *text)
{
    fill_file(path_in_folder(proc, name), text, strlen(text));
}

static void put_process(const char *smaps)
{
    (void)mkdir(path_in_folder(proc, "42"), 0700);
    put("meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8388608 kB\nSwapTotal: 0 kB\n");
    put("42/stat", "42 (Shop) S 1 42 42 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0\n");
    put("42/status", "Name:\tShop\nUid:\t1000\t1000\t1000\t1000\nVmRSS:\t  900000 kB\nRssAnon:\t  "
                     "700000 kB\nRssFile:\t  190000 kB\n"
                     "RssShmem:\t   10000 kB\nVmSwap:\t     300 kB\n");
    put("42/smaps", smaps);
}

static struct gcd_process_memory memory_with(const struct gcd_range *ranges, size_t n,
                                             const char *problem)
{
    struct gcd_ipc_mappings *m;
    struct gcd_process_memory ret;
    assert_int_equal(gcd_mappings_read(proc, 42, NULL, &m, NULL), GCD_OK);
    gcd_ipc_mappings_memory(m, ranges, n, &ret);
    if (problem != NULL)
        assert_non_null(strstr(gcd_ipc_mappings_problem(m), problem));
    else
        assert_string_equal(gcd_ipc_mappings_problem(m), "");
    gcd_ipc_mappings_free(m);
    assert_true(ret.gc_known || ret.gc_bytes == 0);
    return ret;
}

/* In KiB what is the GC's. */
static uint64_t gc_of(const char *smaps, const struct gcd_range *ranges, size_t n)
{
    put_process(smaps);
    return memory_with(ranges, n, NULL).gc_bytes / KIB;
}

static const struct gcd_range two[] = {
    { .start = 0x10800028, .used_bytes = 0x1000, .reserved_bytes = 0x3fffd8, .generation = 0 },
    { .start = 0x10000028, .used_bytes = 0x1000, .reserved_bytes = 0x3fffd8, .generation = 2 },
};

static void figures_of_the_system(void **state)
{
    (void)state;
    put_process(
        "10000000-10400000 rw-p 00000000 00:00 0 \nSize: 4096 kB\nRss:    500 kB\nPss: 1 kB\n");
    struct gcd_process_memory m = memory_with(two, 2, NULL);
    assert_true(m.resident_bytes == 900000 * KIB && m.anonymous_bytes == 700000 * KIB &&
                m.file_bytes == 190000 * KIB);
    assert_true(m.shared_bytes == 10000 * KIB && m.swapped_bytes == 300 * KIB && m.gc_known &&
                m.gc_bytes == 500 * KIB);
    assert_true(m.unix_ms > INT64_C(1577836800000) && m.cgroup_limit_bytes == 0 &&
                m.cgroup_used_bytes == 0);
    m = memory_with(NULL, 0, NULL); /* a dump without ranges */
    assert_true(m.resident_bytes == 900000 * KIB && !m.gc_known);
}

/* The reservation of the GC bounds the heap; without one in sight, all anonymous memory does. */
static void the_largest_heap(void **state)
{
    (void)state;
    static const char own[] = "08000000-08400000 rw-p 00000000 00:00 0 \nRss:    4000 kB\n",
                      heap[] = "10000000-10400000 rw-p 00000000 00:00 0 \nRss:    500 kB\n"
                               "10400000-%s ---p 00000000 00:00 0 \nRss:    0 kB\n"
                               "%s-60400000 rw-p 00000000 00:00 0 \nRss:    70 kB\n";
    char text[600];
    int n = snprintf(text, sizeof text, "%s", own);
    (void)snprintf(text + n, sizeof text - (size_t)n, heap, "50400000", "50400000");
    put_process(text);
    assert_int_equal(gcd_mappings_heap_most(proc, 42), (570 + 300) * KIB);
    (void)snprintf(text + n, sizeof text - (size_t)n, heap, "503ff000", "503ff000");
    put_process(text); /* less than a reservation has */
    assert_int_equal(gcd_mappings_heap_most(proc, 42), (700000 + 300) * KIB);
    put("42/status", "Name:\tShop\nVmRSS:\t  900000 kB\n");
    assert_int_equal(gcd_mappings_heap_most(proc, 42), 0);
    assert_int_equal(gcd_mappings_heap_most(proc, 43), 0);
}

/* Free regions lie between those of the generations; what touches the row below its first range is
 * not the GC's, nor what has a name. */
static void a_row_of_mappings(void **state)
{
    (void)state;
    assert_int_equal(
        gc_of("0fc00000-0ff00000 rw-p 00000000 00:00 0 \nRss: 7 kB\n"
              "0ff00000-10000000 rw-p 00000000 00:00 0 \nRss: 1000 kB\n" /* malloc */
              "10000000-10001000 rw-p 00000000 00:00 0 \nRss: 4 kB\n"
              "10001000-10400000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
              "10400000-10800000 rw-p 00000000 00:00 0 \nRss: 4096 kB\n" /* free since the
                                                                            collection */
              "10800000-10801000 rw-p 00000000 00:00 0 \nRss: 20 kB\n"
              "10801000-10c00000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
              "10c00000-10d00000 rw-p 00000000 00:00 0 \nRss: 300 kB\n" /* behind the last one */
              "10d00000-10e00000 r--p 00000000 08:01 99 /usr/lib/libc.so\nRss: 50 kB\n"
              "10e00000-10f00000 rw-p 00000000 00:00 0 [heap]\nRss: 60 kB\n"
              "7ff00000-7ff80000 rw-p 00000000 00:00 0 [stack]\nRss: 70 kB\n",
              two, 2),
        4 + 4096 + 20);
    /* a hole divides them: nothing says whose the middle is */
    assert_int_equal(gc_of("10000000-10001000 rw-p 00000000 00:00 0 \nRss: 4 kB\n"
                           "10400000-10800000 rw-p 00000000 00:00 0 \nRss: 4096 kB\n"
                           "10800000-10801000 rw-p 00000000 00:00 0 [anon:.NET GC]\nRss: 20 kB\n",
                           two, 2),
                     4 + 20);
}

/* The unused part of a reservation shows that memory after the last range belongs to the GC, too:
 * garbage, when the dump began. */
static void a_reservation(void **state)
{
    (void)state;
    static const char row[] = "0ff00000-10000000 rw-p 00000000 00:00 0 \nRss: 1000 kB\n"
                              "10000000-10c00000 rw-p 00000000 00:00 0 \nRss: 4000 kB\n"
                              "10c00000-%s ---p 00000000 00:00 0 \nRss: 0 kB\n"
                              "%s-20000000 rw-p 00000000 00:00 0 \nRss: 5000 kB\n"
                              "20000000-20100000 rw-p 00000000 00:00 0 [heap]\nRss: 60 kB\n";
    char text[400];
    (void)snprintf(text, sizeof text, row, "14c00000", "14c00000"); /* 64 MiB */
    assert_int_equal(gc_of(text, two, 2), 9000);
    (void)snprintf(text, sizeof text, row, "14bff000", "14bff000");
    assert_int_equal(gc_of(text, two, 2), 4000);
}

static void segments(void **state)
{
    (void)state;
    /* two of them, with consecutive ranges in the first; the sizes of ranges are nonsense in the
     * third */
    static const struct gcd_range ranges[] = {
        { .start = 0x50001000,
          .used_bytes = 0x2000,
          .reserved_bytes = 0x10000000,
          .generation = 3 },
        { .start = 0x10000028,
          .used_bytes = 0x300000,
          .reserved_bytes = 0x4000000,
          .generation = 2 },
        { .start = 0x10300000,
          .used_bytes = 0x100000,
          .reserved_bytes = 0x4000000,
          .generation = 0 },
        { .start = UINT64_MAX - 5,
          .used_bytes = UINT64_MAX,
          .reserved_bytes = UINT64_MAX,
          .generation = 0 },
    };
    assert_int_equal(gc_of("10000000-10400000 rw-p 00000000 00:00 0 \nRss: 4000 kB\n"
                           "10400000-14000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
                           "50001000-50003000 rw-p 00000000 00:00 0 \nRss: 8 kB\n",
                           ranges, 4),
                     4008);
    /* never more than the whole process has */
    put_process("10000000-10400000 rw-p 00000000 00:00 0 \nRss: 999999999 kB\n");
    assert_true(memory_with(ranges, 4, NULL).gc_bytes == 900000 * KIB);
}

/* Any content is read to its end; then nothing is known, and the reason is reported. */
static void hostile_text(void **state)
{
    (void)state;
    static const struct {
        const char *smaps, *problem;
    } rows[] = {
        { "", "it is empty" },
        { "\n\n\nRss: 5 kB\n", "it is empty" },
        { "Rss: 99 kB\n10000000-10400000 rw-p 00000000 00:00 1 \nRss: 5 kB\n", "it is empty" },
        { "10000000-10400000 rw-p 00000000 00:00 0 \n0f000000-10000001 rw-p 00000000 00:00 0 \n",
          "its lines are not in order" },
        { "10400000-10000000 rw-p 00000000 00:00 0 \nRss: 5 kB\n", "it is empty" },
        { "10000000-ffffffffffffffffff rw-p 00000000 00:00 0 \nRss: 5 kB\n", "it is empty" },
        { "00000000010000000-10400000 rw-p 00000000 00:00 0 \nRss: 5 kB\n", "it is empty" },
        { "10000000 10400000 rw-p 00000000 00:00 0 \nRss: 5 kB\n", "it is empty" },
        { "10000000-10400000 rw-p 00000000 00:00", "it is empty" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_process(rows[i].smaps);
        struct gcd_process_memory m = memory_with(two, 2, rows[i].problem);
        assert_true(m.resident_bytes == 900000 * KIB && !m.gc_known);
    }
    /* a path that looks like lines, and one longer than the room for a line */
    char text[3000], path[2000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    (void)snprintf(text, sizeof text,
                   "0f000000-0f001000 r--p 00000000 08:01 7 /%s/10000000-10400000 rw-p 00000000 "
                   "00:00 0 \nRss: 5 kB\n"
                   "10000000-10400000 rw-p 00000000 00:00 0 \nRss: what kB\nRss: 7 kB\n",
                   path);
    assert_int_equal(gc_of(text, two, 2), 7);
}

static void what_cannot_be_read(void **state)
{
    (void)state;
    struct gcd_ipc_mappings *m;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_mappings_read(proc, 43, NULL, &m, &err), GCD_E_NOT_FOUND);
    assert_string_equal(err.msg, "the memory of process 43 is not visible");
    put_process("");
    assert_int_equal(unlink(path_in_folder(proc, "42/smaps")), 0);
    assert_false(memory_with(two, 2, "smaps: No such file or directory").gc_known);
    assert_int_equal(mkdir(path_in_folder(proc, "42/smaps"), 0700), 0);
    assert_false(memory_with(two, 2, "smaps: Is a directory").gc_known);
    assert_int_equal(rmdir(path_in_folder(proc, "42/smaps")), 0);
}

static void too_many_mappings(void **state)
{
    (void)state;
    put_process("");
    FILE *f = fopen(path_in_folder(proc, "42/smaps"), "w");
    assert_non_null(f);
    for (uint64_t i = 0; i <= GCD_MAPPINGS_MAX; i++)
        fprintf(f, "%" PRIx64 "-%" PRIx64 " rw-p 00000000 00:00 0 \nRss: 4 kB\n",
                0x10000000 + i * 4096, 0x10001000 + i * 4096);
    assert_int_equal(fclose(f), 0);
    assert_false(memory_with(two, 2, "it has too many lines").gc_known);
}

static void every_allocation(void **state)
{
    (void)state;
    struct failalloc f = { .failed = 1 };
    put_process("10000000-10001000 rw-p 00000000 00:00 0 \nRss: 4 kB\n10001000-10002000 r--p "
                "00000000 00:00 0 \nRss: 4 kB\n");
    for (uint64_t at = 1; f.failed > 0; at++) {
        struct gcd_ipc_mappings *m = NULL;
        struct gcd_process_memory got;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_mappings_read(proc, 42, &f.alloc, &m, NULL);
        if (st == GCD_OK) {
            gcd_ipc_mappings_memory(m, two, 2, &got);
            assert_int_equal(got.gc_known, f.failed == 0);
        } else {
            assert_int_equal(st, GCD_E_NOMEM);
        }
        gcd_ipc_mappings_free(m);
        assert_null(failalloc_complaint(&f));
    }
}

/* The memory of this very process. */
static void a_living_process(void **state)
{
    (void)state;
    struct gcd_ipc_mappings *m;
    struct gcd_process_memory got;
    assert_int_equal(gcd_ipc_mappings_new((uint32_t)getpid(), NULL, &m, NULL), GCD_OK);
    gcd_ipc_mappings_memory(m, NULL, 0, &got);
    assert_string_equal(gcd_ipc_mappings_problem(m), "");
    assert_true(got.resident_bytes > 0 && got.anonymous_bytes > 0 && got.file_bytes > 0);
    assert_true(got.anonymous_bytes + got.file_bytes + got.shared_bytes == got.resident_bytes);
    gcd_ipc_mappings_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_the_system),
        cmocka_unit_test(a_row_of_mappings),
        cmocka_unit_test(the_largest_heap),
        cmocka_unit_test(a_reservation),
        cmocka_unit_test(segments),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(too_many_mappings),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(a_living_process),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
