/*
 * A regular file, and nothing else: first a descriptor that only allows examination (O_PATH), then
 * the same file again through /proc/self/fd.  So what was checked is what is opened, even if its
 * name changes meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe_open.h"
#include "io/file.h"

/* statfs reports file systems by these numbers; linux/magic.h has them. */
#define MAGIC_PROC  0x9fa0
#define MAGIC_SYSFS 0x62656572

static gcd_status cannot_open(int number, struct gcd_error *err)
{
    gcd_status st = gcd_fail_os(err, number, "cannot open");
    return number == ENOENT || number == ENOTDIR ? gcd_because(err, GCD_ERROR_NO_FILE, st) : st;
}

/* Reading the kernel's own files can wait or change something. */
static bool is_kernel_file(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_type == MAGIC_PROC || fs.f_type == MAGIC_SYSFS);
}

static gcd_status check(int fd, struct stat *ret, struct gcd_error *err)
{
    if (fstat(fd, ret) != 0)
        return gcd_fail_os(err, errno, "cannot inspect the file");
    if (!S_ISREG(ret->st_mode))
        return gcd_fail(err, GCD_E_ARG, "is a %s, not a file",
                        S_ISDIR(ret->st_mode)    ? "folder"
                        : S_ISFIFO(ret->st_mode) ? "pipe"
                        : S_ISSOCK(ret->st_mode) ? "socket"
                                                 : "device");
    if (is_kernel_file(fd))
        return gcd_fail(err, GCD_E_ARG, "is a file of the kernel");
    if (ret->st_size <= 0)
        return gcd_fail(err, GCD_E_ARG, "is empty");
    return GCD_OK;
}

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

gcd_status gcd_file_open_regular(const char *path, int *ret_fd, struct gcd_regular_file *ret,
                                 struct gcd_error *err)
{
    char same[sizeof "/proc/self/fd/" + 12];
    struct stat st;
    int seen = gcd_safe_open(path, O_PATH, NULL);
    if (seen < 0)
        return cannot_open(-seen, err);
    gcd_status status = check(seen, &st, err);
    if (status == GCD_OK) {
        (void)snprintf(same, sizeof same, "/proc/self/fd/%d", seen);
        do
            *ret_fd = open(same, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        while (*ret_fd < 0 && errno == EINTR);
        if (*ret_fd < 0)
            status = gcd_fail_os(err, errno, "cannot open");
    }
    (void)close(seen);
    if (status == GCD_OK)
        *ret = (struct gcd_regular_file){ .device = st.st_dev,
                                          .inode = st.st_ino,
                                          .bytes = (uint64_t)st.st_size,
                                          .modified_ns = nanoseconds(st.st_mtim),
                                          .changed_ns = nanoseconds(st.st_ctim),
                                          .deleted = st.st_nlink == 0 };
    return status;
}
