/*
 * Temporary outputs, and what is left of those whose process was killed.
 */
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/io.h>

#include "base/error.h"

#define SUFFIX ".gcdumpc-tmp"
#define TRIES 1000u

/* ---- what is left over ---- */

/* ".NAME.PID-N" SUFFIX, as gcd_file_open_temporary makes it. */
static bool is_ours(const char *name)
{
    static const char digits[] = "0123456789";
    size_t n = strlen(name), k = sizeof SUFFIX - 1;
    if (n <= k || name[0] != '.' || strcmp(name + n - k, SUFFIX) != 0)
        return false;
    const char *at = name + n - k;
    while (at > name && at[-1] != '.')   /* before the numbers */
        at--;
    size_t pid = strspn(at, digits);
    size_t count = at[pid] == '-' ? strspn(at + pid + 1, digits) : 0;
    return at > name + 2 && pid > 0 && count > 0 && at + pid + 1 + count == name + n - k;
}

/* NAME in the folder DIR_FD, when nobody writes it: its writer holds the lock as long as it lives.  False when it stays. */
static bool remove_left_over(int dir_fd, const char *name)
{
    struct stat st, now;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid() || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return false;
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &now) == 0 && now.st_dev == st.st_dev && now.st_ino == st.st_ino && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (S_ISREG(st.st_mode))
            (void)unlinkat(dir_fd, name, 0);
        else
            gcd_file_remove_folder_at(fd, dir_fd, name);
    }
    (void)close(fd);
    return fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) != 0;
}

uint64_t gcd_sink_sweep(int dir_fd)
{
    uint64_t removed = 0;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (is_ours(e->d_name))
            removed += remove_left_over(dir_fd, e->d_name);
    if (d != NULL)
        (void)closedir(d);
    else if (fd >= 0)
        (void)close(fd);
    return removed;
}

/* ---- a new one ---- */

/* A file for writing, or a folder; -1 and errno when that fails, and nothing is left of it. */
static int make_temp(const struct gcd_spot *spot, bool folder, unsigned mode)
{
    int flags = folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_EXCL, fd;
    if (folder && mkdirat(spot->dir_fd, spot->temp, mode) != 0)
        return -1;
    do
        fd = openat(spot->dir_fd, spot->temp, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && folder) {
        int e = errno;
        (void)unlinkat(spot->dir_fd, spot->temp, AT_REMOVEDIR);
        errno = e;
    }
    return fd;
}

/*
 * Between its creation and its lock somebody may have taken it for a left-over.  A file system without locks has none of those; what cannot be
 * looked at is there.
 */
static bool keep(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* The process id keeps two programs apart, the counter two outputs of one program; O_EXCL or mkdir decides. */
gcd_status gcd_file_open_temporary(struct gcd_spot *spot, bool folder, unsigned mode, int *ret_fd, struct gcd_error *err)
{
    const char *what = folder ? "folder" : "file";
    (void)gcd_sink_sweep(spot->dir_fd);          /* what cannot be removed stays: that is no reason not to write */
    for (unsigned i = 0; i < TRIES; i++) {
        /* a name may hold 255 bytes: a long one is shortened in the temporary name */
        (void)snprintf(spot->temp, sizeof spot->temp, ".%.200s.%ld-%u" SUFFIX, spot->name, (long)getpid(), i);
        int fd = make_temp(spot, folder, mode), e = errno;
        if (fd >= 0 && keep(fd)) {
            *ret_fd = fd;
            return GCD_OK;
        }
        spot->temp[0] = '\0';
        if (fd >= 0)
            (void)close(fd);
        else if (e != EEXIST)
            return gcd_fail_os(err, e, "cannot create a temporary %s beside it", what);
    }
    return gcd_fail(err, GCD_E_IO, "cannot create a temporary %s beside it: too many of them exist", what);
}
