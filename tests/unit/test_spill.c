/*
 * The allocator of a memory budget: contents survive whatever happens to the pages, sizes add up, a full disk is an error, no file is left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gcdumpc/spill.h>

#include "io/spill_file.h"
#include "support/check.h"

/* ThreadSanitizer keeps several times of what a program looks at, so there resident memory says nothing. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define SHADOWED 1
#endif
#endif
#ifndef SHADOWED
#define SHADOWED 0
#endif

#define MIB ((size_t)1 << 20)
#define BUDGET ((uint64_t)32 * MIB)

static const char *const folders[] = { "/var/tmp", NULL };

static struct gcd_spill *budget_of(uint64_t bytes, const char *const *where)
{
    struct gcd_spill *s;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill_options o = { .budget_bytes = bytes, .folders = where };
    assert_int_equal(gcd_spill_new(&o, &s, &err), GCD_OK);
    return s;
}

/* All large blocks go to the file. */
static struct gcd_spill *spilling(void)
{
    struct gcd_spill *s = budget_of(BUDGET, folders);
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_spill_plan(s, BUDGET + 1, &err), GCD_OK);
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

static struct gcd_spill_facts facts_of(struct gcd_spill *s)
{
    struct gcd_spill_facts f;
    gcd_spill_facts(s, &f);
    return f;
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

/* Without a plan the first half is memory as usual; what fits is never spilled. */
static void test_what_is_spilled(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    void *small = resize(s, NULL, 0, 1000), *a = resize(s, NULL, 0, 15 * MIB), *b = resize(s, NULL, 0, 15 * MIB);
    assert_true(small != NULL && a != NULL && b != NULL);
    assert_int_equal(facts_of(s).in_memory_bytes, 15 * MIB);
    assert_int_equal(facts_of(s).file_bytes, 15 * MIB);
    assert_string_equal(facts_of(s).folder, "/var/tmp");
    assert_int_equal(gcd_spill_plan(s, 20 * MIB, &err), GCD_OK);
    void *c = resize(s, NULL, 0, 4 * MIB);
    assert_int_equal(facts_of(s).in_memory_bytes, 19 * MIB);
    assert_int_equal(gcd_spill_plan(s, BUDGET + 1, &err), GCD_OK);
    void *d = resize(s, NULL, 0, GCD_SPILL_BLOCK), *e = resize(s, NULL, 0, GCD_SPILL_BLOCK - 1);
    assert_int_equal(facts_of(s).file_bytes, 15 * MIB + GCD_SPILL_BLOCK);
    assert_null(resize(s, small, 1000, 0));
    (void)resize(s, a, 15 * MIB, 0);
    (void)resize(s, b, 15 * MIB, 0);
    (void)resize(s, c, 4 * MIB, 0);
    (void)resize(s, d, GCD_SPILL_BLOCK, 0);
    (void)resize(s, e, GCD_SPILL_BLOCK - 1, 0);
    assert_int_equal(facts_of(s).in_memory_bytes, 0);
    assert_int_equal(facts_of(s).file_bytes, 0);
    assert_int_equal(facts_of(s).file_bytes_most, 15 * MIB + GCD_SPILL_BLOCK);
    assert_int_equal(gcd_spill_plan(s, BUDGET, &err), GCD_OK);       /* the last that fits, to its last byte */
    a = resize(s, NULL, 0, BUDGET);
    assert_int_equal(facts_of(s).in_memory_bytes, BUDGET);
    assert_int_equal(facts_of(s).file_bytes, 0);
    (void)resize(s, a, BUDGET, 0);
    gcd_spill_free(s);
}

/* Through all sizes, with another block behind it or not, up and down again, and across the border to small blocks. */
static void test_resize(void **state)
{
    (void)state;
    static const size_t sizes[] = { 100, 70000, 65536, 1 << 20, (1 << 20) + 4, 5 << 20, 40 << 20, 3 << 20, 65540, 65535, 200000, 8 };
    struct gcd_spill *s = spilling();
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
    assert_int_equal(facts_of(s).file_bytes, 0);
    assert_int_equal(gcd_spill_status(s, NULL), GCD_OK);
    gcd_spill_free(s);
}

/* New memory is zero when it is mapped: nobody finds what another block left. */
static void test_no_left_overs(void **state)
{
    (void)state;
    struct gcd_spill *s = spilling();
    unsigned char *a = resize(s, NULL, 0, MIB);
    memset(a, 0xee, MIB);
    a = resize(s, a, MIB, MIB / 2);
    a = resize(s, a, MIB / 2, 2 * MIB);
    for (size_t i = MIB / 2; i < 2 * MIB; i++)
        assert_int_equal(a[i], 0);
    (void)resize(s, a, 2 * MIB, 0);
    gcd_spill_free(s);
}

/* What the file of the budget takes on the disk: the one that is open and has no name any more. */
static uint64_t disk_bytes(void)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct stat st;
    uint64_t bytes = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strncmp(target, "/var/tmp/", 9) == 0 && strstr(target, " (deleted)") != NULL && stat(path, &st) == 0)
            bytes += (uint64_t)st.st_blocks * 512;
    }
    (void)closedir(d);
    return bytes;
}

static bool holes_are_possible(void)
{
    struct gcd_error err = GCD_ERROR_INIT;
    int fd;
    assert_int_equal(gcd_spill_file_open(folders[0], &fd, &err), GCD_OK);
    bool can = ftruncate(fd, (off_t)MIB) == 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)MIB) == 0;
    (void)close(fd);
    return can;
}

/* What is not needed any more is given back to the disk at once: all, what is behind a smaller block, what is left behind by a move. */
static void test_the_disk_gets_it_back(void **state)
{
    (void)state;
    if (!holes_are_possible())
        skip();
    struct gcd_spill *s = spilling();
    unsigned char *a = resize(s, NULL, 0, 8 * MIB), *b;
    memset(a, 1, 8 * MIB);
    uint64_t most = disk_bytes();
    assert_in_range(most, 8 * MIB, 9 * MIB);
    a = resize(s, a, 8 * MIB, 2 * MIB);
    assert_in_range(disk_bytes(), 2 * MIB, 3 * MIB);
    assert_int_equal(facts_of(s).file_bytes, 2 * MIB);
    b = resize(s, NULL, 0, MIB);
    a = resize(s, a, 2 * MIB, 4 * MIB);                  /* b is in the way */
    assert_true(a[0] == 1 && a[2 * MIB - 1] == 1 && a[2 * MIB] == 0);
    assert_in_range(disk_bytes(), 5 * MIB, 6 * MIB);
    (void)resize(s, a, 4 * MIB, 0);
    assert_in_range(disk_bytes(), MIB, 2 * MIB);
    (void)resize(s, b, MIB, 0);
    assert_in_range(disk_bytes(), 0, MIB / 2);
    gcd_spill_free(s);
    assert_int_equal(disk_bytes(), 0);
}

static uint64_t blocks_left = UINT64_MAX / 2;

int __wrap_fstatvfs(int fd, struct statvfs *ret);
int __wrap_fstatvfs64(int fd, struct statvfs *ret);
int __wrap_fstatvfs(int fd, struct statvfs *ret)
{
    (void)fd;
    *ret = (struct statvfs){ .f_frsize = 4096, .f_bsize = 1, .f_bavail = blocks_left, .f_bfree = blocks_left + 9, .f_blocks = blocks_left + 99 };
    return 0;
}

int __wrap_fstatvfs64(int fd, struct statvfs *ret)
{
    return __wrap_fstatvfs(fd, ret);
}

/* Room on the disk and the limit for the size of files, at their edges. */
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
    assert_string_equal(err.msg, "the disk has room for 40960 bytes, 40960 are needed");
    blocks_left = UINT64_MAX / 2;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 2 * MIB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    assert_int_equal(gcd_spill_file_take(fd, MIB, MIB, &err), GCD_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 2 * MIB);
    assert_int_equal(gcd_spill_file_take(fd, MIB, MIB + 1, &err), GCD_E_IO);
    assert_int_equal(err.os_errno, EFBIG);
    assert_int_equal(gcd_spill_file_take(fd, 2 * MIB + 1, 1, &err), GCD_E_IO);
    assert_int_equal(gcd_spill_file_take(fd, 3 * MIB, SIZE_MAX, &err), GCD_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(close(fd), 0);
}

static uint64_t resident(void)
{
    unsigned long all = 0, now = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &all, &now), 2);
    (void)fclose(f);
    return (uint64_t)now * 4096;
}

/* Three times the budget, looked at again and again in a wild order: nothing is lost, and it is not all resident in the end. */
static void test_budget(void **state)
{
    (void)state;
    enum { BLOCKS = 12 };
    struct gcd_spill *s = spilling();
    uint32_t *blocks[BLOCKS], at = 1;
    uint64_t before = resident();
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = resize(s, NULL, 0, 8 * MIB);
        assert_non_null(blocks[i]);
        fill(blocks[i], 8 * MIB, i);
    }
    for (uint32_t i = 0; i < 200000; i++) {
        at = at * 1664525u + 1013904223u;
        uint32_t b = at >> 8, word = (at >> 4) % (8 * MIB / 4);
        assert_int_equal(blocks[b % BLOCKS][word], word * 2654435761u + b % BLOCKS);
    }
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_true(is_filled(blocks[i], 8 * MIB, i));
    struct timespec moment = { .tv_nsec = 10000000 };
    for (int i = 0; i < 1000 && resident() > BUDGET && resident() > before + BUDGET / 2; i++)
        (void)nanosleep(&moment, NULL);
    if (before < BUDGET / 2)                 /* sanitizers alone may take more */
        assert_true(resident() <= BUDGET);
    else
        assert_true(SHADOWED || resident() < before + (uint64_t)BLOCKS * 8 * MIB);
    for (uint32_t i = 0; i < BLOCKS; i++)
        (void)resize(s, blocks[i], 8 * MIB, 0);
    gcd_spill_free(s);
}

/* Given back when the caller says so, and by nobody else. */
static void test_relieve(void **state)
{
    (void)state;
    struct gcd_spill *s;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill_options o = { .budget_bytes = BUDGET, .folders = folders, .relieved_by_caller = true };
    assert_int_equal(gcd_spill_new(&o, &s, &err), GCD_OK);
    gcd_spill_relieve(s);                    /* there is nothing yet */
    assert_int_equal(gcd_spill_plan(s, BUDGET + 1, &err), GCD_OK);
    uint32_t *at = resize(s, NULL, 0, 24 * MIB);
    assert_non_null(at);
    uint64_t before = resident();
    fill(at, 24 * MIB, 9);
    struct timespec moment = { .tv_nsec = 50000000 };
    (void)nanosleep(&moment, NULL);
    uint64_t filled = resident();
    assert_true(filled >= before + 23 * MIB);
    errno = EDOM;
    gcd_spill_relieve(s);
    assert_int_equal(errno, EDOM);
    assert_true(resident() + 8 * MIB <= filled);
    assert_true(is_filled(at, 24 * MIB, 9));
    (void)resize(s, at, 24 * MIB, 0);
    gcd_spill_free(s);
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
    struct gcd_spill *s = spilling();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, s), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = s;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(facts_of(s).file_bytes, 0);
    gcd_spill_free(s);
}

/* As on a full disk: the block stays as it was, the reason is told, and no signal comes. */
static void test_full(void **state)
{
    (void)state;
    struct rlimit before, now;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = spilling();
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
    assert_int_equal(facts_of(s).file_bytes, MIB);
    (void)resize(s, at, MIB, 0);
    gcd_spill_free(s);
}

static void test_no_room(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = budget_of(BUDGET, folders);
    blocks_left = 1000;
    assert_int_equal(gcd_spill_plan(s, UINT64_MAX / 2, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "are needed"));
    blocks_left = UINT64_MAX / 2;
    gcd_spill_free(s);
}

/* A folder that is missing, then one in memory, then one that is fit; without the last there is an error. */
static void test_folders(void **state)
{
    (void)state;
    static const char *const good[] = { "/nonexistent", "/dev/shm", "/var/tmp", NULL };
    static const char *const bad[] = { "/nonexistent", "/dev/shm", NULL };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_spill *s = budget_of(BUDGET, good);
    assert_int_equal(gcd_spill_plan(s, BUDGET + 1, &err), GCD_OK);
    assert_string_equal(facts_of(s).folder, "/var/tmp");
    gcd_spill_free(s);
    s = budget_of(BUDGET, bad);
    assert_int_equal(gcd_spill_plan(s, BUDGET + 1, &err), GCD_E_IO);
    assert_non_null(strstr(err.msg, "/dev/shm"));
    assert_null(resize(s, NULL, 0, MIB));
    assert_int_equal(gcd_spill_status(s, NULL), GCD_E_IO);
    gcd_spill_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_budget), cmocka_unit_test(test_what_is_spilled), cmocka_unit_test(test_resize),
        cmocka_unit_test(test_no_left_overs), cmocka_unit_test(test_budget), cmocka_unit_test(test_relieve),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_full),
        cmocka_unit_test(test_the_disk_gets_it_back), cmocka_unit_test(test_the_room_of_a_file),
        cmocka_unit_test(test_no_room), cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
