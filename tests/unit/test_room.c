/* Outputs and copies whose size others decide leave some room on the disk.  The test mounts a small
 * disk, which needs root. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/spool.h>
#include <gcdumpc/unstable/staged_file.h>

#include "io/file.h"
#include "support/check.h"
#include "support/folder.h"

#define MIB  ((size_t)1 << 20)
#define DISK "20m"
#define KEPT (20 * MIB / 64)

static char folder[64], bytes[MIB];
static struct gcd_error err = GCD_ERROR_INIT;

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/gcd-room-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof bytes; i++) /* gzip makes them no smaller */
        bytes[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
    err = (struct gcd_error)GCD_ERROR_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)umount(folder);
    return remove_folder(folder);
}

/* False if it cannot be mounted. */
static bool disk(void)
{
    bool there = unshare(CLONE_NEWNS) == 0 &&
                 mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                 mount("none", folder, "tmpfs", 0, "size=" DISK) == 0;
    if (!there)
        print_message("no file system can be mounted: %s\n", strerror(errno));
    return there;
}

static size_t left(void)
{
    struct statvfs fs;
    assert_int_equal(statvfs(folder, &fs), 0);
    return (size_t)(fs.f_bavail * fs.f_frsize);
}

/* If it had to keep room it failed in time; else the system refused the write. */
static void check(gcd_status st, bool keep)
{
    assert_int_equal(st, GCD_E_IO);
    assert_int_equal(err.os_errno, ENOSPC);
    assert_true((strstr(err.msg, "stay free") != NULL) == keep);
    assert_true((left() >= KEPT) == keep);
}

static const char *in_folder(const char *name)
{
    static char path[sizeof folder + 32];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void a_spool(void **state)
{
    (void)state;
    if (!disk())
        skip();
    for (int keep = 0; keep < 2; keep++)
        for (size_t memory = 1; memory < 7 * MIB; memory += 6 * MIB) {
            struct gcd_input_options options = { .spool_dir = folder,
                                                 .spool_memory_bytes = memory,
                                                 .keep_room = keep };
            struct gcd_input *in = NULL;
            gcd_status st = gcd_input_new_spool(&options, &in, &err);
            while (st == GCD_OK)
                st = gcd_input_append(in, bytes, sizeof bytes, &err);
            check(st, keep);
            assert_true(gcd_input_size(in) >= 15 * MIB);
            gcd_input_free(in);
        }
}

static void a_sink(void **state)
{
    (void)state;
    if (!disk())
        skip();
    for (int kind = 0; kind < 8; kind++) {
        bool keep = (kind & 1) != 0;
        struct gcd_sink_options options = { .keep_room = keep,
                                            .context.threads = (kind & 2) != 0 ? 2 : 1 };
        struct gcd_sink *s = NULL;
        assert_int_equal(
            gcd_sink_open(in_folder((kind & 4) != 0 ? "f.gz" : "f"), &options, &s, &err), GCD_OK);
        gcd_status st = GCD_OK;
        while (st == GCD_OK) {
            gcd_sink_write(s, bytes, sizeof bytes / 4);
            st = gcd_sink_status(s, &err);
        }
        check(st, keep);
        gcd_sink_free(s);
        assert_true(left() > 19 * MIB);
    }
}

static void a_place(void **state)
{
    (void)state;
    if (!disk())
        skip();
    for (int keep = 0; keep < 2; keep++) {
        struct gcd_staged *p = NULL;
        assert_int_equal(gcd_staged_open(in_folder("f"), GCD_STAGED_FILE, NULL, &p, &err), GCD_OK);
        if (keep)
            gcd_staged_keep_room(p);
        assert_true(gcd_staged_keeps_room(p) == (keep != 0));
        gcd_status st = GCD_OK;
        for (uint64_t off = 0; st == GCD_OK; off += sizeof bytes / 4)
            st = gcd_staged_write_at(p, off, bytes, sizeof bytes / 4, &err);
        check(st, keep);
        gcd_staged_free(p);
    }
}

/* The last byte that may be used; the first 4 MiB are not checked, and the next check comes when
 * the room found is used up. */
static void the_edge(void **state)
{
    (void)state;
    if (!disk())
        skip();
    uint64_t until = GCD_ROOM_KEPT, unkept = GCD_ROOM_UNKEPT;
    int fd = open(in_folder("f"), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    size_t room = left() - KEPT;
    assert_int_equal(gcd_file_keep_room(fd, &until, 0, room + 1, &err), GCD_E_IO);
    assert_int_equal(gcd_file_keep_room(fd, &until, 0, SIZE_MAX, NULL), GCD_E_IO);
    assert_true(until == 4 * MIB);
    assert_int_equal(gcd_file_keep_room(fd, &until, 0, room, &err), GCD_OK);
    assert_true(until == room);
    until = 4 * MIB;
    assert_int_equal(gcd_file_keep_room(fd, &until, 4 * MIB - 1, 2, &err), GCD_OK);
    assert_true(until == 8 * MIB - 1);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)(room - MIB)), 0);
    /* not checked */
    assert_int_equal(gcd_file_keep_room(fd, &until, 8 * MIB - 2, 1, &err), GCD_OK);
    assert_true(until == 8 * MIB - 1);
    assert_int_equal(gcd_file_keep_room(fd, &until, 8 * MIB - 2, 2, &err), GCD_OK);
    assert_true(until == 9 * MIB - 2);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)room), 0);
    assert_int_equal(gcd_file_keep_room(fd, &until, 9 * MIB - 3, 2, &err), GCD_E_IO);
    until = 4 * MIB;
    assert_int_equal(gcd_file_keep_room(fd, &until, 0, 4 * MIB, &err), GCD_OK);
    assert_int_equal(gcd_file_keep_room(fd, &until, 0, 4 * MIB + 1, &err), GCD_E_IO);
    assert_int_equal(gcd_file_keep_room(fd, &unkept, 0, 99 * MIB, &err), GCD_OK);
    assert_int_equal(close(fd), 0);
    /* a file system that does not report its size */
    assert_int_equal(gcd_file_keep_room(-1, &until, 0, 5 * MIB, &err), GCD_OK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = { TEST(a_spool), TEST(a_sink), TEST(a_place),
                                        TEST(the_edge) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
