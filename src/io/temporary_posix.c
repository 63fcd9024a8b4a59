/* Temporary outputs, and leftovers of killed processes. */
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/unstable/folders.h>

#include "base/error.h"
#include "base/safe_open.h"

#define SUFFIX ".gcdumpc-tmp"
#define TRIES  1000u

/* ---- leftovers ---- */

void gcd_temporary_folder_name(const char *temp,
                               char ret[static NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME])
{
    (void)snprintf(ret, NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME,
                   "%.*s/" GCD_TEMPORARY_INNER_NAME, NAME_MAX, temp);
}

void gcd_file_remove_folder_at(int fd, int dir_fd, const char *temp)
{
    char inside[NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME];
    gcd_temporary_folder_name(temp, inside);
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        (void)unlinkat(fd, e->d_name, 0); /* "." and ".." stay: they are directories */
    if (d != NULL)
        closedir(d);
    else if (own >= 0)
        close(own);
    (void)unlinkat(dir_fd, inside, AT_REMOVEDIR);
    (void)unlinkat(dir_fd, temp, AT_REMOVEDIR);
}

/* ".NAME.PID-N" SUFFIX, as created by gcd_file_open_temporary. */
static bool is_ours(const char *name)
{
    static const char digits[] = "0123456789";
    size_t n = strlen(name), k = sizeof SUFFIX - 1;
    if (n <= k || name[0] != '.' || strcmp(name + n - k, SUFFIX) != 0)
        return false;
    const char *at = name + n - k;
    while (at > name && at[-1] != '.') /* before the numbers */
        at--;
    size_t pid = strspn(at, digits);
    size_t count = at[pid] == '-' ? strspn(at + pid + 1, digits) : 0;
    return at > name + 2 && pid > 0 && count > 0 && at + pid + 1 + count == name + n - k;
}

/* Is it a file of this user without another name, or a folder that only this user can enter? */
static bool may_be_ours(const struct stat *st)
{
    if (st->st_uid != geteuid())
        return false;
    return S_ISREG(st->st_mode) ? st->st_nlink == 1
                                : S_ISDIR(st->st_mode) && (st->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* Nobody writes to FD any more: a writer holds the lock as long as it lives. */
static bool is_left_over(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && may_be_ours(&st) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* The folder TEMP in DIR_FD is open as FD.  An empty one was not filled yet, or its contents have
 * been renamed. */
static void remove_folder(int fd, int dir_fd, const char *temp)
{
    int inside =
        openat(fd, GCD_TEMPORARY_INNER_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inside < 0)
        (void)unlinkat(dir_fd, temp, AT_REMOVEDIR);
    else if (is_left_over(inside))
        gcd_file_remove_folder_at(inside, dir_fd, temp);
    if (inside >= 0)
        (void)close(inside);
}

/* Removes NAME in the folder DIR_FD, which is ours.  False when it stays. */
static bool remove_left_over(int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !may_be_ours(&st))
        return false;
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        remove_folder(fd, dir_fd, name);
    else if (is_left_over(fd))
        (void)unlinkat(dir_fd, name, 0);
    (void)close(fd);
    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0;
}

uint64_t gcd_sink_sweep(int dir_fd)
{
    uint64_t removed = 0;
    /* otherwise others could have given this name to something else */
    bool ours = gcd_folder_fd_is_ours(dir_fd);
    int fd = ours ? openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
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

/* ---- create ---- */

static int open_retry(int dir_fd, const char *name, int flags, unsigned mode)
{
    int fd;
    do
        fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* -1 and errno on failure, with nothing left behind.  EEXIST also when somebody took the unfinished
 * folder for a leftover. */
static int make_folder(const struct gcd_temporary *temporary, unsigned mode)
{
    char inside[NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME];
    gcd_temporary_folder_name(temporary->temp, inside);
    if (mkdirat(temporary->dir_fd, temporary->temp, mode) != 0)
        return -1;
    int fd = mkdirat(temporary->dir_fd, inside, mode) != 0
                 ? -1
                 : open_retry(temporary->dir_fd, inside, O_RDONLY | O_DIRECTORY, mode),
        e = errno;
    if (fd < 0) {
        (void)unlinkat(temporary->dir_fd, inside, AT_REMOVEDIR);
        (void)unlinkat(temporary->dir_fd, temporary->temp, AT_REMOVEDIR);
    }
    errno = fd < 0 && e == ENOENT ? EEXIST : e;
    return fd;
}

/*
 * Somebody may have taken it for a leftover between its creation and its lock.  A file system
 * without locks has no leftovers; what cannot be checked exists.
 */
static bool keep(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* The process id separates two programs, the counter two outputs of one program; O_EXCL or mkdir
 * decides. */
gcd_status gcd_file_open_temporary(struct gcd_temporary *temporary, bool folder, unsigned mode,
                                   int *ret_fd, struct gcd_error *err)
{
    const char *what = folder ? "folder" : "file";
    temporary->folder = folder;
    /* leftovers that cannot be removed stay: no reason not to write */
    (void)gcd_sink_sweep(temporary->dir_fd);
    for (unsigned i = 0; i < TRIES; i++) {
        /* a name may have 255 bytes: shorten a long one in the temporary name */
        (void)snprintf(temporary->temp, sizeof temporary->temp, ".%.200s.%ld-%u" SUFFIX,
                       temporary->name, (long)getpid(), i);
        int fd = folder ? make_folder(temporary, mode)
                        : open_retry(temporary->dir_fd, temporary->temp, O_RDWR | O_CREAT | O_EXCL,
                                     mode),
            e = errno;
        if (fd >= 0 && keep(fd)) {
            *ret_fd = fd;
            return GCD_OK;
        }
        temporary->temp[0] = '\0';
        if (fd >= 0)
            (void)close(fd);
        else if (e != EEXIST)
            return gcd_fail_os(err, e, "cannot create a temporary %s beside it", what);
    }
    return gcd_fail(err, GCD_E_IO, "cannot create a temporary %s beside it: too many of them exist",
                    what);
}
