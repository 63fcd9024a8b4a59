/*
 * The allocator with a memory limit: which blocks go to files, contents survive every resize, a
 * full disk is an error, no file is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gcdumpc/unstable/spill.h>

#include "io/spill_file.h"
#include "support/check.h"

#define MIB    ((size_t)1 << 20)
#define BUDGET ((uint64_t)32 * MIB)
#define HEAD   ((size_t)64) /* the allocator's header of a large block */

static const char *const folders[] = { "/var/tmp", NULL };

static struct gcd_spill *budget_of(uint64_t bytes, const char *const *where)
{
    struct gcd_spill *s;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill_options o = { .budget_bytes = bytes, .folders = where };
    assert_int_equal(gcd_spill_new(&o, &s, &err), GCD_OK);
    return s;
}

static void *resize(const struct gcd_spill *s, void *at, size_t old_bytes, size_t new_bytes)
{
    const struct gcd_alloc *a = gcd_spill_alloc(s);
    return a->resize(a->ctx, at, old_bytes, new_bytes);
}

static void fill(uint32_t *at, size_t bytes, uint32_t salt)
{
    for (size_t i = 0; i < bytes / sizeof *at; i++)
        at[i] = (uint32_t)i * 2654435761u + salt;
}

static bool is_filled(const uint32_t *at, size_t bytes, uint32_t salt)
{
    for (size_t i = 0; i < bytes / sizeof *at; i++)
        if (at[i] != (uint32_t)i * 2654435761u + salt)
            return false;
    return true;
}

/* The line of /proc/self/maps for AT; the name of a nameless file ends in " (deleted)". */
static void mapping_of(const void *at, char line[PATH_MAX])
{
    uintptr_t from, to;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    do
        assert_non_null(fgets(line, PATH_MAX, f));
    while (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2 || (uintptr_t)at < from ||
           (uintptr_t)at >= to);
    (void)fclose(f);
}

static bool in_file(const void *at)
{
    char line[PATH_MAX];
    mapping_of(at, line);
    return strstr(line, " /var/tmp/") != NULL && strstr(line, " (deleted)") != NULL;
}

/* An allocator with its memory used up, so that all large blocks go to files, and the block that
 * uses it up. */
struct full {
    struct gcd_spill *s;
    void *block;
};

static struct full full_new(void)
{
    struct full f = { .s = budget_of(BUDGET, folders) };
    f.block = resize(f.s, NULL, 0, BUDGET - HEAD);
    assert_true(f.block != NULL && !in_file(f.block));
    return f;
}

static void full_free(struct full *f)
{
    assert_null(resize(f->s, f->block, BUDGET - HEAD, 0));
    gcd_spill_free(f->s);
}

static void test_small_budget(void **state)
{
    (void)state;
    struct gcd_spill *s = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill_options o = { .budget_bytes = GCD_SPILL_BUDGET_MIN - 1, .folders = folders };
    assert_int_equal(gcd_spill_new(&o, &s, &err), GCD_E_ARG);
    assert_non_null(strstr(err.msg, "16777216"));
    assert_null(s);
}

/* Blocks stay in memory up to the last byte of the budget; small blocks count, and freed memory is
 * available again. */
static void test_what_is_spilled(void **state)
{
    (void)state;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    void *a = resize(s, NULL, 0, 20 * MIB - HEAD), *b = resize(s, NULL, 0, 12 * MIB - HEAD),
         *c = resize(s, NULL, 0, GCD_SPILL_BLOCK);
    assert_true(a != NULL && b != NULL && c != NULL);
    assert_false(in_file(a) || in_file(b));
    assert_true(in_file(c));
    void *d = resize(s, NULL, 0, GCD_SPILL_BLOCK - 1); /* above the budget, but small */
    assert_true(d != NULL && !in_file(d));
    assert_null(resize(s, b, 12 * MIB - HEAD, 0));
    b = resize(s, NULL, 0, 12 * MIB - HEAD); /* D takes its memory */
    assert_true(in_file(b));
    assert_null(resize(s, b, 12 * MIB - HEAD, 0));
    assert_null(resize(s, d, GCD_SPILL_BLOCK - 1, 0));
    b = resize(s, NULL, 0, 12 * MIB - HEAD);
    assert_false(in_file(b));
    assert_null(resize(s, b, 12 * MIB - HEAD, 0));
    assert_null(resize(s, c, GCD_SPILL_BLOCK, 0));
    assert_null(resize(s, a, 20 * MIB - HEAD, 0));
    gcd_spill_free(s);
}

/* A block that grows above the budget moves to a file; one that shrinks returns its memory to the
 * budget. */
static void test_growth_above_the_budget(void **state)
{
    (void)state;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    uint32_t *a = resize(s, NULL, 0, 8 * MIB);
    fill(a, 8 * MIB, 5);
    a = resize(s, a, 8 * MIB, BUDGET - HEAD);
    assert_false(in_file(a));
    a = resize(s, a, BUDGET - HEAD, BUDGET);
    assert_true(in_file(a));
    assert_true(is_filled(a, 8 * MIB, 5));
    void *b = resize(s, NULL, 0, BUDGET - HEAD);
    assert_false(in_file(b));
    b = resize(s, b, BUDGET - HEAD, 16 * MIB - HEAD);
    void *c = resize(s, NULL, 0, 16 * MIB - HEAD);
    assert_false(in_file(b) || in_file(c));
    assert_null(resize(s, c, 16 * MIB - HEAD, 0));
    assert_null(resize(s, b, 16 * MIB - HEAD, 0));
    assert_null(resize(s, a, BUDGET, 0));
    gcd_spill_free(s);
}

/* All sizes, with or without another block after it, growing and shrinking, and across the limit to
 * small blocks. */
static void test_a_lower_budget(void **state)
{
    (void)state;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    const size_t half = BUDGET / 2;
    void *a = resize(s, NULL, 0, half - HEAD);
    gcd_spill_lower_budget(s, 1); /* at least GCD_SPILL_BUDGET_MIN, which A has */
    void *b = resize(s, NULL, 0, GCD_SPILL_BLOCK);
    assert_false(in_file(a));
    assert_true(in_file(b));
    assert_null(resize(s, b, GCD_SPILL_BLOCK, 0));
    gcd_spill_lower_budget(s, BUDGET); /* is no lower one */
    b = resize(s, NULL, 0, GCD_SPILL_BLOCK);
    assert_true(in_file(b));
    assert_null(resize(s, a, half - HEAD, 0)); /* what was given back counts again */
    a = resize(s, NULL, 0, half - HEAD);
    assert_false(in_file(a));
    assert_null(resize(s, a, half - HEAD, 0));
    assert_null(resize(s, b, GCD_SPILL_BLOCK, 0));
    gcd_spill_free(s);
}

static void test_resize(void **state)
{
    (void)state;
    static const size_t sizes[] = { 100,      70000,   65536, 1 << 20, (1 << 20) + 4, 5 << 20,
                                    40 << 20, 3 << 20, 65540, 65535,   200000,        8 };
    struct full f = full_new();
    struct gcd_spill *s = f.s;
    uint32_t *at = NULL;
    void *between[sizeof sizes / sizeof *sizes];
    size_t old = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i], keep = old < n ? old : n;
        at = resize(s, at, old, n);
        assert_non_null(at);
        assert_int_equal((uintptr_t)at % 16, 0);
        assert_true(is_filled(at, keep / 4 * 4, 7));
        fill(at, n, 7);
        between[i] = i % 2 == 0 ? resize(s, NULL, 0, 100000) : NULL;
        old = n;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (between[i] != NULL)
            (void)resize(s, between[i], 100000, 0);
    assert_null(resize(s, at, old, 0));
    assert_int_equal(gcd_spill_status(s, NULL), GCD_OK);
    full_free(&f);
}

/* A new file is zeroed: no block sees the contents of another one. */
static void test_no_left_overs(void **state)
{
    (void)state;
    struct full f = full_new();
    unsigned char *a = resize(f.s, NULL, 0, MIB);
    memset(a, 0xee, MIB);
    a = resize(f.s, a, MIB, MIB / 2);
    a = resize(f.s, a, MIB / 2, 2 * MIB);
    for (size_t i = MIB / 2; i < 2 * MIB; i++)
        assert_int_equal(a[i], 0);
    (void)resize(f.s, a, 2 * MIB, 0);
    full_free(&f);
}

/* Disk space used by the file of a block. */
static uint64_t disk_bytes(const void *at)
{
    char line[PATH_MAX], path[64];
    struct stat st;
    mapping_of(at, line);
    (void)snprintf(path, sizeof path, "/proc/self/map_files/%.*s", (int)strcspn(line, " "), line);
    return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : UINT64_MAX;
}

/* The disk space is reserved when the block is made, before any write; shrinking returns the rest.
 */
static void test_room_is_reserved(void **state)
{
    (void)state;
    struct full f = full_new();
    char *a = resize(f.s, NULL, 0, 8 * MIB);
    uint64_t most = disk_bytes(a);
    if (most == UINT64_MAX) { /* needs root */
        (void)resize(f.s, a, 8 * MIB, 0);
        full_free(&f);
        skip();
    }
    assert_in_range(most, 8 * MIB, 9 * MIB);
    memset(a, 1, 8 * MIB);
    a = resize(f.s, a, 8 * MIB, 2 * MIB);
    assert_true(in_file(a));
    assert_in_range(disk_bytes(a), 2 * MIB, 3 * MIB);
    assert_true(a[0] == 1 && a[2 * MIB - 1] == 1);
    (void)resize(f.s, a, 2 * MIB, 0);
    full_free(&f);
}

/* Blocks keep no descriptor, so the descriptor limit does not apply. */
static void test_descriptors(void **state)
{
    (void)state;
    struct full f = full_new();
    int before = dup(0), after;
    assert_int_equal(close(before), 0);
    void *at[100];
    for (int i = 0; i < 100; i++)
        at[i] = resize(f.s, NULL, 0, GCD_SPILL_BLOCK);
    after = dup(0);
    assert_int_equal(close(after), 0);
    assert_int_equal(after, before);
    for (int i = 0; i < 100; i++)
        (void)resize(f.s, at[i], GCD_SPILL_BLOCK, 0);
    full_free(&f);
}

static uint64_t blocks_left = UINT64_MAX / 2;

int __wrap_fstatvfs(int fd, struct statvfs *ret);
int __wrap_fstatvfs64(int fd, struct statvfs *ret);
int __wrap_fstatvfs(int fd, struct statvfs *ret)
{
    (void)fd;
    *ret = (struct statvfs){ .f_frsize = 4096,
                             .f_bsize = 1,
                             .f_bavail = blocks_left,
                             .f_bfree = blocks_left + 9,
                             .f_blocks = blocks_left + 99 };
    return 0;
}

int __wrap_fstatvfs64(int fd, struct statvfs *ret)
{
    return __wrap_fstatvfs(fd, ret);
}

/* Free disk space and RLIMIT_FSIZE, at their limits. */
static void test_the_room_of_a_file(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct rlimit before, now;
    struct stat st;
    int fd;
    assert_int_equal(gcd_spill_file_open(folders[0], &fd, &err), GCD_OK);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true((st.st_mode & 07777) == 0600 && st.st_nlink == 0);
    blocks_left = 10;
    assert_int_equal(gcd_spill_file_room(fd, 40959, &err), GCD_OK);
    assert_int_equal(gcd_spill_file_room(fd, 40960, &err), GCD_E_IO);
    assert_string_equal(err.msg, "the disk has room for 40,960 bytes, 40,960 are needed");
    blocks_left = UINT64_MAX / 2;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 2 * MIB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    assert_int_equal(gcd_spill_file_reserve(fd, 2 * MIB, &err), GCD_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 2 * MIB);
    assert_true((uint64_t)st.st_blocks * 512 >= 2 * MIB);
    assert_int_equal(gcd_spill_file_reserve(fd, 2 * MIB + 1, &err), GCD_E_IO);
    assert_int_equal(err.os_errno, EFBIG);
    assert_int_equal(gcd_spill_file_reserve(fd, SIZE_MAX, &err), GCD_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(close(fd), 0);
}

static void *work(void *ctx)
{
    struct gcd_spill *s = ctx;
    for (uint32_t i = 0; i < 60; i++) {
        size_t n = (1 + i % 7) * 100000, m = n * (1 + i % 3) / 2;
        uint32_t *at = resize(s, NULL, 0, n);
        if (at == NULL)
            return s;
        fill(at, n, i);
        at = resize(s, at, n, m);
        if (at == NULL || !is_filled(at, (n < m ? n : m) / 4 * 4, i))
            return s;
        (void)resize(s, at, m, 0);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct full f = full_new();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, f.s), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = f.s;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    full_free(&f);
}

/* On a full disk the block stays unchanged, the reason is reported, and there is no signal. */
static void test_full(void **state)
{
    (void)state;
    struct rlimit before, now;
    struct gcd_error err = GCD_ERROR_INIT;
    struct full f = full_new();
    struct gcd_spill *s = f.s;
    uint32_t *at = resize(s, NULL, 0, MIB);
    assert_non_null(at);
    fill(at, MIB, 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 2 * MIB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    void *bigger = resize(s, at, MIB, 4 * MIB), *another = resize(s, NULL, 0, 2 * MIB);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_null(bigger);
    assert_null(another);
    assert_int_equal(gcd_spill_status(s, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "temporary file"));
    assert_true(is_filled(at, MIB, 3));
    (void)resize(s, at, MIB, 0);
    full_free(&f);
}

static void test_check(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    const char *folder = "";
    assert_int_equal(gcd_spill_check(s, BUDGET, &folder, &err), GCD_OK);
    assert_null(folder);
    assert_int_equal(gcd_spill_check(s, BUDGET + 1, &folder, &err), GCD_OK);
    assert_string_equal(folder, "/var/tmp");
    blocks_left = 10; /* only blocks above the budget go to files */
    assert_int_equal(gcd_spill_check(s, BUDGET + 40959, &folder, &err), GCD_OK);
    assert_int_equal(gcd_spill_check(s, BUDGET + 40960, &folder, &err), GCD_E_IO);
    assert_null(folder);
    assert_string_equal(err.msg, "the disk has room for 40,960 bytes, 40,960 are needed");
    blocks_left = UINT64_MAX / 2;
    gcd_spill_free(s);
}

/* A missing folder, then one in memory, then a usable one; without the last there is an error. */
static void test_folders(void **state)
{
    (void)state;
    static const char *const good[] = { "/nonexistent", "/dev/shm", "/var/tmp", NULL };
    static const char *const bad[] = { "/nonexistent", "/dev/shm", NULL };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = budget_of(BUDGET, good);
    const char *folder;
    assert_int_equal(gcd_spill_check(s, BUDGET + 1, &folder, &err), GCD_OK);
    assert_string_equal(folder, "/var/tmp");
    void *at = resize(s, NULL, 0, BUDGET);
    assert_true(in_file(at));
    (void)resize(s, at, BUDGET, 0);
    assert_int_equal(gcd_spill_status(s, NULL), GCD_OK);
    gcd_spill_free(s);
    s = budget_of(BUDGET, bad);
    assert_int_equal(gcd_spill_check(s, BUDGET + 1, &folder, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "/dev/shm"));
    assert_null(resize(s, NULL, 0, BUDGET));
    assert_int_equal(gcd_spill_status(s, NULL), GCD_E_IO);
    gcd_spill_free(s);
}

/* Impossible sizes, for new blocks and for resizing. */
static void test_huge_sizes(void **state)
{
    (void)state;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    uint32_t *at = resize(s, NULL, 0, MIB);
    fill(at, MIB, 1);
    assert_null(resize(s, NULL, 0, SIZE_MAX));
    assert_int_equal(gcd_spill_status(s, NULL), GCD_E_NOMEM);
    assert_null(resize(s, at, MIB, SIZE_MAX));
    assert_null(resize(s, at, MIB, SIZE_MAX - 4096));
    if (sizeof(size_t) > 4) /* half of 32 bits there may be */
        assert_null(resize(s, NULL, 0, SIZE_MAX / 2));
    assert_true(is_filled(at, MIB, 1));
    (void)resize(s, at, MIB, 0);
    at = resize(s, NULL, 0, BUDGET - HEAD); /* nothing is counted for them */
    assert_false(in_file(at));
    (void)resize(s, at, BUDGET - HEAD, 0);
    gcd_spill_free(s);
}

int main(void)
{
    (void)signal(SIGXFSZ, SIG_DFL); /* a test started by Python inherits SIGXFSZ ignored */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_budget),
        cmocka_unit_test(test_what_is_spilled),
        cmocka_unit_test(test_growth_above_the_budget),
        cmocka_unit_test(test_a_lower_budget),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_no_left_overs),
        cmocka_unit_test(test_room_is_reserved),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_the_room_of_a_file),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_huge_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
