#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/unstable/folders.h>

#include "base/error.h"
#include "base/safe_open.h"

/* How often a reader of a silent pipe checks for cancel. */
#define POLL_MS 100

/* Data goes to disk in parts of this size, and this many parts stay in the page cache. */
#define BEHIND_BYTES (UINT64_C(8) << 20)
#define BEHIND_COUNT 4u

/* Space that must stay free on a disk. */
#define ROOM_SHARE 64u
#define ROOM_BYTES (UINT64_C(256) << 20)

static int open_retry(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

gcd_status gcd_file_open_read(const char *path, int *ret_fd, enum gcd_file_kind *ret_kind,
                              uint64_t *ret_base, uint64_t *ret_size, struct gcd_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    /* do not block on a pipe without a writer here, but where cancel works */
    int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                      : open_retry(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) {
        int e = errno;
        gcd_status failed = gcd_fail_os(err, e, "cannot open");
        return e == ENOENT ? gcd_because(err, GCD_ERROR_NO_FILE, failed) : failed;
    }
    struct stat st;
    if (fstat(fd, &st) != 0) {
        int e = errno;
        close(fd);
        return gcd_fail_os(err, e, "cannot inspect the file");
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return gcd_fail(err, GCD_E_ARG, "is a directory, not a recording; name a file");
    }
    off_t base = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    *ret_kind = base >= 0 ? GCD_FILE_REGULAR : GCD_FILE_STREAM;
    *ret_base = base >= 0 ? (uint64_t)base : 0;
    *ret_size = base >= 0 && st.st_size > base ? (uint64_t)(st.st_size - base)
                : base >= 0                    ? 0
                                               : UINT64_MAX;
    *ret_fd = fd;
#ifdef POSIX_FADV_SEQUENTIAL
    if (base >= 0)
        (void)posix_fadvise(fd, base, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return GCD_OK;
}

gcd_status gcd_file_open_unlinked(const char *dir, int *ret_fd, struct gcd_error *err)
{
    int fd = -1;
#ifdef O_TMPFILE
    fd = open_retry(dir, O_RDWR | O_TMPFILE | O_EXCL, 0600);
#endif
    if (fd < 0) { /* not every file system has O_TMPFILE */
        char name[PATH_MAX];
        if (snprintf(name, sizeof name, "%s/.gcdumpc-spool-XXXXXX", dir) >= (int)sizeof name)
            return gcd_fail(err, GCD_E_ARG,
                            "the name of the folder for temporary files is too long");
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0)
            return gcd_fail_os(err, errno, "cannot make a temporary file in %s", dir);
        (void)unlink(name);
    }
    *ret_fd = fd;
    return GCD_OK;
}

gcd_status gcd_file_read_at(int fd, uint64_t off, void *buf, size_t n, size_t *ret_n,
                            struct gcd_error *err)
{
    ssize_t got;
    do
        got = pread(fd, buf, n, (off_t)off);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return gcd_fail_os(err, errno, "cannot read");
    *ret_n = (size_t)got;
    return GCD_OK;
}

const uint8_t *gcd_file_map(int fd, size_t n)
{
    void *at = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    return at != MAP_FAILED ? at : NULL;
}

void gcd_file_unmap(const uint8_t *at, size_t n)
{
    (void)munmap((void *)(uintptr_t)at, n);
}

gcd_status gcd_file_read_stream(int fd, const gcd_cancel_flag *cancel, void *buf, size_t n,
                                size_t *ret_n, struct gcd_error *err)
{
    for (;;) {
        if (gcd_is_canceled(cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int ready = poll(&p, 1, POLL_MS);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t got = read(fd, buf, n);
        if (got >= 0) {
            *ret_n = (size_t)got;
            return GCD_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return gcd_fail_os(err, errno, "cannot read");
    }
}

gcd_status gcd_file_write(int fd, const gcd_cancel_flag *cancel, const void *buf, size_t n,
                          struct gcd_error *err)
{
    const char *p = buf;
    while (n > 0) {
        ssize_t put = write(fd, p, n);
        /* a signal can also shorten a write */
        bool interrupted = put < 0 ? errno == EINTR : (size_t)put < n;
        if (interrupted && gcd_is_canceled(cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        if (put < 0 && errno == EAGAIN) { /* somebody made our standard output non-blocking */
            (void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, POLL_MS);
            if (gcd_is_canceled(cancel))
                return gcd_fail(err, GCD_E_CANCELED, "interrupted");
            continue;
        }
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return gcd_fail_os(err, put == 0 ? ENOSPC : errno, "cannot write");
        p += put;
        n -= (size_t)put;
    }
    return GCD_OK;
}

gcd_status gcd_file_write_at(int fd, uint64_t off, const void *buf, size_t n, struct gcd_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)buf + done, n - done, (off_t)(off + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return gcd_fail_os(err, put == 0 ? ENOSPC : errno, "cannot write");
        done += (size_t)put;
    }
    return GCD_OK;
}

gcd_status gcd_file_keep_room(int fd, uint64_t *until, uint64_t at, size_t n, struct gcd_error *err)
{
    struct statvfs fs;
    uint64_t left, all;
    if (*until >= at + n || fstatvfs(fd, &fs) != 0 || fs.f_blocks == 0)
        return GCD_OK; /* a file system that does not report its space may have room */
    uint64_t unit = fs.f_frsize != 0 ? fs.f_frsize : fs.f_bsize;
    if (__builtin_mul_overflow((uint64_t)fs.f_bavail, unit, &left) ||
        __builtin_mul_overflow((uint64_t)fs.f_blocks, unit, &all))
        return GCD_OK;
    uint64_t kept = all / ROOM_SHARE < ROOM_BYTES ? all / ROOM_SHARE : ROOM_BYTES;
    uint64_t room = left > kept ? left - kept : 0;
    if (room >= n) {
        *until = at + (room < GCD_ROOM_KEPT ? room : n > GCD_ROOM_KEPT ? n : GCD_ROOM_KEPT);
        return GCD_OK;
    }
    gcd_status st = gcd_fail(err, GCD_E_IO,
                             "cannot write: the disk has only %" PRIu64 " MiB left, and %" PRIu64
                             " MiB must stay free",
                             left >> 20, kept >> 20);
    if (err != NULL)
        err->os_errno = ENOSPC;
    return gcd_because(err, GCD_ERROR_DISK_RESERVE, st);
}

bool gcd_file_leave(int fd, uint64_t at, uint64_t n)
{
    if (n > (uint64_t)INT64_MAX - at || posix_fallocate(fd, (off_t)at, (off_t)n) != 0)
        return false;
    return lseek(fd, (off_t)(at + n), SEEK_SET) >= 0;
}

gcd_status gcd_file_resize(int fd, uint64_t bytes, struct gcd_error *err)
{
    int r;
    do
        r = ftruncate(fd, (off_t)bytes);
    while (r != 0 && errno == EINTR);
    return r == 0 ? GCD_OK : gcd_fail_os(err, errno, "cannot write");
}

#ifdef SYNC_FILE_RANGE_WRITE
/* The kernel reports a disk error only once: if reported here, gcd_file_publish would not see it.
 */
static gcd_status sync_part(int fd, uint64_t part, unsigned how, struct gcd_error *err)
{
    if (sync_file_range(fd, (off_t)(part * BEHIND_BYTES), (off_t)BEHIND_BYTES, how) == 0)
        return GCD_OK;
    bool impossible =
        errno == EINVAL || errno == ESPIPE || errno == ENOSYS || errno == ENOTSUP || errno == EPERM;
    return impossible ? GCD_OK : gcd_fail_os(err, errno, "cannot write");
}

gcd_status gcd_file_write_behind(int fd, uint64_t at, size_t n, struct gcd_error *err)
{
    for (uint64_t part = at / BEHIND_BYTES; part < (at + n) / BEHIND_BYTES; part++) {
        GCD_TRY(sync_part(fd, part, SYNC_FILE_RANGE_WRITE, err));
        if (part < BEHIND_COUNT)
            continue;
        uint64_t old = part - BEHIND_COUNT;
        GCD_TRY(sync_part(
            fd, old,
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER, err));
        (void)posix_fadvise(fd, (off_t)(old * BEHIND_BYTES), (off_t)BEHIND_BYTES,
                            POSIX_FADV_DONTNEED);
    }
    return GCD_OK;
}
#else
gcd_status gcd_file_write_behind(int fd, uint64_t at, size_t n, struct gcd_error *err)
{
    (void)fd;
    (void)at;
    (void)n;
    (void)err;
    return GCD_OK;
}
#endif

/* Names that mean an open descriptor.  /dev/stdout must never be the target of a rename. */
static int descriptor_named(const char *path)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], len) == 0 && path[len] >= '0' && path[len] <= '9') {
            unsigned long fd = strtoul(path + len, &end, 10);
            if (*end == '\0' && fd <= INT_MAX)
                return (int)fd;
        }
    }
    return -1;
}

/* The same for symbolic links to such a name.  Other links are not followed: a rename replaces
 * them. */
static int descriptor_of(const char *path)
{
    char link[PATH_MAX], target[PATH_MAX];
    struct stat st;
    if (strlen(path) >= sizeof link)
        return -1;
    memcpy(link, path, strlen(path) + 1);
    for (unsigned hops = 0; hops < 16; hops++) {
        int fd = descriptor_named(link);
        bool follow =
            fd < 0 && lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && !gcd_is_untrusted_link(&st);
        ssize_t n = follow ? readlink(link, target, sizeof target - 1) : -1;
        if (n <= 0 || target[0] != '/')
            return fd;
        memcpy(link, target, (size_t)n);
        link[n] = '\0';
    }
    return -1;
}

/*
 * Accepts only safe devices: not a pipe of another user, who would read the dump, and not a file,
 * which somebody may have put there after our check and which we would overwrite.
 */
static gcd_status check_device(int fd, struct gcd_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return gcd_fail_os(err, errno, "cannot open");
    if (S_ISREG(st.st_mode))
        return gcd_fail(err, GCD_E_IO, "was replaced by a file while it was opened");
    if (gcd_is_untrusted_link(&st))
        return gcd_fail(err, GCD_E_IO, "is a %s of another user (%lu)",
                        S_ISFIFO(st.st_mode) ? "pipe" : "device", (unsigned long)st.st_uid);
    return GCD_OK;
}

/* Opens PATH with FLAGS and checks it.  *RET_NUMBER: the errno, 0 if the check failed. */
static gcd_status open_checked(const char *path, int flags, int *ret_fd, int *ret_number,
                               struct gcd_error *err)
{
    bool untrusted;
    int fd = gcd_safe_open(path, flags, &untrusted);
    *ret_number = fd < 0 ? -fd : 0;
    if (fd < 0)
        return gcd_fail_os(err, -fd, "cannot open");
    gcd_status st = check_device(fd, err);
    if (st == GCD_OK)
        *ret_fd = fd;
    else
        (void)close(fd);
    return st;
}

/*
 * Opening a pipe for writing waits until somebody opens it for reading, so retry without blocking.
 * Before each try, checks who owns what has the name now: nobody waits for another user.
 */
static gcd_status open_device(const char *path, const struct gcd_sink_options *options, int *ret_fd,
                              struct gcd_error *err)
{
    const gcd_cancel_flag *cancel = options->context.cancel;
    for (uint64_t waited_ms = 0;; waited_ms += POLL_MS) {
        int number, seen;
        struct stat about;
        GCD_TRY(open_checked(path, O_PATH, &seen, &number, err));
        bool is_pipe = fstat(seen, &about) == 0 && S_ISFIFO(about.st_mode);
        (void)close(seen);
        gcd_status st = open_checked(path, O_WRONLY | O_NONBLOCK | O_NOCTTY, ret_fd, &number, err);
        if (st == GCD_OK) {
            int flags = fcntl(*ret_fd, F_GETFL);
            (void)fcntl(*ret_fd, F_SETFL, flags & ~O_NONBLOCK);
        }
        if (number != ENXIO || !is_pipe) /* sockets never open */
            return st;
        if (gcd_is_canceled(cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        if (options->wait_ms != 0 && waited_ms >= options->wait_ms)
            return gcd_fail(err, GCD_E_IO, "nobody has opened it for reading within %" PRIu64 " ms",
                            options->wait_ms);
        (void)poll(NULL, 0, POLL_MS);
    }
}

/* Length of the folder part of PATH. */
static int folder_len(const char *path)
{
    return (int)(gcd_path_name(path) - path);
}

static gcd_status astray(const char *path, int len, struct gcd_error *err)
{
    gcd_status st =
        gcd_fail(err, GCD_E_IO, "a link of another user leads to the folder \"%.*s\"", len, path);
    if (err != NULL)
        err->os_errno = ENOTDIR;
    return st;
}

/* FD is a folder, named by the first LEN bytes of PATH, or a negated errno. */
static gcd_status opened(int fd, const char *path, int len, bool untrusted, int *ret_fd,
                         struct gcd_error *err)
{
    if (untrusted)
        return astray(path, len, err);
    if (fd < 0)
        return gcd_fail_os(err, -fd, "cannot open the folder \"%.*s\"", len, path);
    *ret_fd = fd;
    return GCD_OK;
}

bool gcd_folder_is_ours(int dir_fd)
{
    return gcd_folder_fd_is_ours(dir_fd);
}

gcd_status gcd_folder_open(const char *path, int *ret_fd, struct gcd_error *err)
{
    bool untrusted = false;
    int fd = gcd_safe_open(path, O_PATH | O_DIRECTORY, &untrusted);
    return opened(fd, path, (int)strnlen(path, PATH_MAX), untrusted, ret_fd, err);
}

gcd_status gcd_folder_open_parent(const char *path, int *ret_fd, struct gcd_error *err)
{
    bool untrusted = false;
    int fd = gcd_safe_open_parent(path, &untrusted);
    return opened(fd, path, folder_len(path), untrusted, ret_fd, err);
}

gcd_status gcd_path_open(const char *path, int *ret_fd, struct gcd_error *err)
{
    bool untrusted = false;
    int fd = gcd_safe_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &untrusted);
    if (untrusted) {
        gcd_status st = gcd_fail(err, GCD_E_IO, "cannot open: a link of another user leads to it");
        if (err != NULL)
            err->os_errno = ENOTDIR;
        return st;
    }
    if (fd < 0)
        return gcd_fail_os(err, -fd, "cannot open");
    *ret_fd = fd;
    return GCD_OK;
}

/* Opens the folder of PATH, and returns the name in it. */
static gcd_status open_folder(const char *path, bool folder, struct gcd_temporary *ret,
                              struct gcd_error *err)
{
    const char *name = gcd_path_name(path);
    bool untrusted = false;
    if (strlen(name) > NAME_MAX)
        return gcd_fail_os(err, ENAMETOOLONG, "cannot create it");
    int fd = gcd_safe_open_parent(path, &untrusted);
    if (untrusted)
        return astray(path, folder_len(path), err);
    if (fd == -ENOENT)
        return gcd_because(err, GCD_ERROR_NO_FOLDER,
                           gcd_fail_os(err, -fd, "cannot create a %s in the folder \"%.*s\"",
                                       folder ? "folder" : "file", folder_len(path), path));
    if (fd < 0)
        return gcd_fail_os(err, -fd, "cannot create a temporary %s beside it",
                           folder ? "folder" : "file");
    *ret = (struct gcd_temporary){ .dir_fd = fd };
    memcpy(ret->name, name, strlen(name));
    return GCD_OK;
}

/* Like stat, but does not follow an untrusted link: a rename would replace it. */
static bool look_at(const struct gcd_temporary *temporary, const char *path, struct stat *ret)
{
    bool untrusted = false;
    if (fstatat(temporary->dir_fd, temporary->name, ret, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (!S_ISLNK(ret->st_mode) || gcd_is_untrusted_link(ret))
        return true;
    int fd = gcd_safe_open(path, O_PATH, &untrusted);
    bool there = fd >= 0 ? fstat(fd, ret) == 0 : untrusted;
    if (fd >= 0)
        (void)close(fd);
    return there;
}

static gcd_status open_beside(const char *path, const struct gcd_sink_options *options, int *ret_fd,
                              struct gcd_temporary *temporary, struct gcd_error *err)
{
    struct stat st;
    bool there = look_at(temporary, path, &st);
    if (there && S_ISDIR(st.st_mode))
        return gcd_fail(err, GCD_E_ARG, "is a directory, a file name is needed");
    if (!there || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) || options->file_only)
        return gcd_file_open_temporary(temporary, false, options->for_all ? 0644 : 0600, ret_fd,
                                       err);
    gcd_temporary_remove(temporary, -1);
    return open_device(path, options, ret_fd, err);
}

gcd_status gcd_file_open_write(const char *path, const struct gcd_sink_options *options,
                               int *ret_fd, struct gcd_temporary *ret_temporary,
                               struct gcd_error *err)
{
    *ret_temporary = GCD_TEMPORARY_NONE;
    int open_fd = descriptor_of(path);
    if (open_fd >= 0) {
        *ret_fd = fcntl(open_fd, F_DUPFD_CLOEXEC, 3);
        return *ret_fd >= 0 ? GCD_OK : gcd_fail_os(err, errno, "cannot open");
    }
    if (path[0] == '\0')
        return gcd_fail(err, GCD_E_ARG, "the name of the output is empty");
    if (path[strlen(path) - 1] == '/')
        return gcd_fail(err, GCD_E_ARG, "is a directory, a file name is needed");
    GCD_TRY(open_folder(path, false, ret_temporary, err));
    gcd_status st = open_beside(path, options, ret_fd, ret_temporary, err);
    if (st != GCD_OK)
        gcd_temporary_remove(ret_temporary, -1);
    return st;
}

/* Is the folder non-empty?  If it cannot be read, the rename decides. */
static bool holds_something(const struct gcd_temporary *temporary)
{
    bool something = false;
    int fd =
        openat(temporary->dir_fd, temporary->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; d != NULL && !something && (e = readdir(d)) != NULL;)
        something = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d != NULL)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return something;
}

static gcd_status open_new(const char *path, bool folder, int *ret_fd,
                           struct gcd_temporary *temporary, struct gcd_error *err)
{
    struct stat st;
    /* a file may replace a link, as in gcd_file_open_write */
    bool there = folder ? fstatat(temporary->dir_fd, temporary->name, &st, AT_SYMLINK_NOFOLLOW) == 0
                        : look_at(temporary, path, &st);
    if (there && folder && !S_ISDIR(st.st_mode))
        return gcd_fail(err, GCD_E_IO, "exists and is not a folder");
    if (there && folder && holds_something(temporary))
        return gcd_fail(err, GCD_E_IO, "is a folder that is not empty; name a new one");
    if (there && !folder && S_ISDIR(st.st_mode))
        return gcd_fail(err, GCD_E_ARG, "is a directory, a file name is needed");
    if (there && !folder && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return gcd_fail(err, GCD_E_ARG, "is not a regular file, which this format needs");
    return gcd_file_open_temporary(temporary, folder, folder ? 0700 : 0600, ret_fd, err);
}

gcd_status gcd_file_open_staged(const char *path, bool folder, int *ret_fd,
                                struct gcd_temporary *ret_temporary, struct gcd_error *err)
{
    *ret_temporary = GCD_TEMPORARY_NONE;
    const char *name = gcd_path_name(path);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return gcd_fail(err, GCD_E_ARG, "names no %s of its own", folder ? "folder" : "file");
    GCD_TRY(open_folder(path, folder, ret_temporary, err));
    gcd_status st = open_new(path, folder, ret_fd, ret_temporary, err);
    if (st != GCD_OK)
        gcd_temporary_remove(ret_temporary, -1);
    return st;
}

void gcd_temporary_path(const struct gcd_temporary *temporary, const char *path, char *ret,
                        size_t cap)
{
    ret[0] = '\0';
    if (temporary->temp[0] == '\0')
        return;
    const char *inside = temporary->folder ? "/" GCD_TEMPORARY_INNER_NAME : "";
    /* The folder may have been renamed; without /proc, use its old name. */
    int n = snprintf(ret, cap, "/proc/self/fd/%d/%s%s", temporary->dir_fd, temporary->temp, inside);
    if (n < 0 || (size_t)n >= cap || access(ret, F_OK) != 0)
        n = snprintf(ret, cap, "%.*s%s%s", folder_len(path), path, temporary->temp, inside);
    if (n < 0 || (size_t)n >= cap)
        ret[0] = '\0';
}

void gcd_temporary_remove(struct gcd_temporary *temporary, int fd)
{
    if (temporary->temp[0] != '\0' && temporary->folder)
        gcd_file_remove_folder_at(fd, temporary->dir_fd, temporary->temp);
    else if (temporary->temp[0] != '\0')
        (void)unlinkat(temporary->dir_fd, temporary->temp, 0);
    if (temporary->dir_fd >= 0)
        (void)close(temporary->dir_fd);
    *temporary = GCD_TEMPORARY_NONE;
}

gcd_status gcd_file_sync(int fd, struct gcd_error *err)
{
    int r;
    do
        r = fsync(fd);
    while (r != 0 && errno == EINTR);
    if (r != 0 && errno != EINVAL && errno != ENOTSUP)
        return gcd_fail_os(err, errno, "cannot write");
    return GCD_OK;
}

uint64_t gcd_file_bytes(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

gcd_status gcd_file_publish(int fd, struct gcd_temporary *temporary, struct gcd_error *err)
{
    char inside[NAME_MAX + 1 + sizeof GCD_TEMPORARY_INNER_NAME];
    gcd_temporary_folder_name(temporary->temp, inside);
    GCD_TRY(gcd_file_sync(fd, err));
    if (renameat(temporary->dir_fd, temporary->folder ? inside : temporary->temp, temporary->dir_fd,
                 temporary->name) != 0) {
        int e = errno;
        if (e == ENOTEMPTY || e == EEXIST)
            return gcd_fail(err, GCD_E_IO, "is a folder that is not empty; name a new one");
        return gcd_fail_os(err, e, "cannot give the output its name");
    }
    if (temporary->folder)
        (void)unlinkat(temporary->dir_fd, temporary->temp, AT_REMOVEDIR);
    temporary->temp[0] = '\0';
    /* The output exists; a folder that cannot be synced (some network file systems) does not make
     * it a failure. */
    int dir = openat(temporary->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        (void)fsync(dir);
        close(dir);
    }
    gcd_temporary_remove(temporary, fd);
    return GCD_OK;
}

gcd_status gcd_file_close(int fd, struct gcd_error *err)
{
    if (close(fd) != 0 && errno != EINTR)
        return gcd_fail_os(err, errno, "cannot write");
    return GCD_OK;
}

bool gcd_file_same(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
