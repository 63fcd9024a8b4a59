/*
 * openat2 can do half of this (RESOLVE_IN_ROOT), but older kernels lack it and many containers
 * forbid it.  A fallback would have to be just as safe, so there is only this implementation.
 */
#include "base/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_MAGIC 0x9fa0  /* PROC_SUPER_MAGIC of linux/magic.h */
#define GOES_ON    INT_MIN /* not finished: neither a descriptor nor an errno */

enum {
    MAX_LINKS = 40, /* same as the kernel */
    MAX_DEPTH = 64
}; /* folders below a process's root; all stay open, because ".." may lead elsewhere a moment later
    */

struct walk {
    /* the root or the starting folder, and the folders from there to here */
    int fds[MAX_DEPTH];
    unsigned n;          /* of fds, at least 1 */
    bool contained;      /* in the root of a process */
    bool at_root;        /* fds[0] is that root; otherwise the process's current folder */
    char root[PATH_MAX]; /* .../proc/PID/root, when contained */
    char rest[PATH_MAX]; /* the rest of the path */
    unsigned links;
    bool *untrusted; /* not NULL: do not follow links of other users */
};

bool gcd_is_untrusted_link(const struct stat *st)
{
    return st->st_uid != 0 && st->st_uid != geteuid();
}

static int open_at(int dir_fd, const char *name, int flags)
{
    int fd;
    do
        fd = openat(dir_fd, name, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* Length of the part of PATH up to "proc/PID/root" or "proc/PID/cwd", which names a folder of a
 * process; 0 when there is none. */
static size_t find_process(const char *path, bool *ret_root)
{
    for (const char *p = path; (p = strstr(p, "proc/")) != NULL; p++) {
        const char *end = p + strlen("proc/");
        size_t digits = strspn(end, "0123456789");
        if ((p > path && p[-1] != '/') || digits == 0 || end[digits] != '/')
            continue;
        end += digits + 1;
        *ret_root = strncmp(end, "root", 4) == 0;
        end += *ret_root ? 4 : strncmp(end, "cwd", 3) == 0 ? 3 : 0;
        if (end[-1] != '/' && (*end == '/' || *end == '\0'))
            return (size_t)(end - path);
    }
    return 0;
}

const char *gcd_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool gcd_is_in_process_root(const char *path)
{
    bool is_root;
    return find_process(path, &is_root) > 0;
}

static void leave(struct walk *w, unsigned n)
{
    while (w->n > n)
        (void)close(w->fds[--w->n]);
}

/* Takes ownership of FD, which may be a negated errno. */
static int enter(struct walk *w, int fd)
{
    if (fd < 0)
        return fd;
    if (!w->contained)
        leave(w, 0);
    if (w->n == MAX_DEPTH) {
        (void)close(fd);
        return -ENAMETOOLONG;
    }
    w->fds[w->n++] = fd;
    return 0;
}

static int enter_root(struct walk *w)
{
    if (w->contained && w->at_root) {
        leave(w, 1);
        return 0;
    }
    leave(w, 0);
    w->at_root = true;
    return enter(w, open_at(AT_FDCWD, w->contained ? w->root : "/", O_PATH | O_DIRECTORY));
}

static int begin(struct walk *w, const char *path)
{
    bool is_root;
    size_t n = strlen(path), head = find_process(path, &is_root);
    if (n + sizeof "root" >= sizeof w->root)
        return -ENAMETOOLONG;
    memcpy(w->rest, path + head, n - head + 1);
    w->contained = head > 0;
    if (head == 0)
        return path[0] == '/' ? enter_root(w)
                              : enter(w, open_at(AT_FDCWD, ".", O_PATH | O_DIRECTORY));
    memcpy(w->root, path, head);
    w->root[head] = '\0';
    int fd = open_at(AT_FDCWD, w->root, O_PATH | O_DIRECTORY);
    w->at_root = is_root;
    if (!is_root)
        memcpy(w->root + head - strlen("cwd"), "root", sizeof "root");
    return enter(w, fd);
}

static int go_up(struct walk *w)
{
    if (!w->contained)
        return enter(w, open_at(w->fds[0], "..", O_PATH | O_DIRECTORY));
    if (w->n == 1)
        return w->at_root ? 0 : -EXDEV;
    leave(w, w->n - 1);
    return 0;
}

/* /proc's links to open files have no real name; such a link is followed as it is.  Nobody can
 * create one there. */
static bool is_no_name(const struct walk *w, int link)
{
    struct statfs fs;
    return !w->contained && fstatfs(link, &fs) == 0 && fs.f_type == PROC_MAGIC;
}

static bool is_end(const struct walk *w)
{
    return w->rest[strspn(w->rest, "/")] == '\0';
}

/* A descriptor of the file at the end of the path, a negated errno, or GOES_ON. */
static int follow(struct walk *w, const char *name, int flags)
{
    struct stat st;
    int fd = open_at(w->fds[0], name, is_end(w) ? flags : O_PATH);
    if (fd < 0 || (is_end(w) && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)))
        return fd;
    int r = enter(w, fd);
    return r == 0 ? GOES_ON : r;
}

/* LINK is open: puts its target in front of the rest.  GOES_ON, or a negated errno. */
static int take_link(struct walk *w, int link)
{
    char target[PATH_MAX];
    if (++w->links > MAX_LINKS)
        return -ELOOP;
    ssize_t n = readlinkat(link, "", target, sizeof target);
    if (n <= 0)
        return n == 0 ? -ENOENT : -errno;
    size_t n_rest = strlen(w->rest);
    if ((size_t)n + 1 + n_rest >= sizeof w->rest)
        return -ENAMETOOLONG;
    memmove(w->rest + n + 1, w->rest, n_rest + 1);
    memcpy(w->rest, target, (size_t)n);
    w->rest[n] = '/';
    int r = target[0] == '/' ? enter_root(w) : 0;
    return r == 0 ? GOES_ON : r;
}

static int open_again(const struct walk *w, const char *name, const struct stat *seen, int flags)
{
    struct stat st;
    if (w->contained && !S_ISREG(seen->st_mode))
        return -EINVAL;
    int fd = open_at(w->fds[w->n - 1], name, flags | O_NOFOLLOW);
    if (fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino))
        return fd;
    (void)close(fd);
    return -ELOOP; /* it has been replaced */
}

/* NAME in the current folder is not a folder.  Returns as follow. */
static int look(struct walk *w, const char *name, int flags)
{
    struct stat st;
    int fd = open_at(w->fds[w->n - 1], name, O_PATH | O_NOFOLLOW), r;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) != 0) {
        r = -errno;
    } else if (S_ISLNK(st.st_mode)) {
        bool untrusted = w->untrusted != NULL && gcd_is_untrusted_link(&st);
        if (untrusted)
            *w->untrusted = true;
        r = untrusted ? -EACCES : is_no_name(w, fd) ? follow(w, name, flags) : take_link(w, fd);
    } else if (!is_end(w) || (flags & O_DIRECTORY) != 0) {
        r = -ENOTDIR;
    } else if ((flags & O_PATH) != 0) {
        return fd;
    } else {
        r = open_again(w, name, &st, flags);
    }
    (void)close(fd);
    return r;
}

/* A descriptor, or a negated errno. */
static int go(struct walk *w, int flags)
{
    for (;;) {
        char name[NAME_MAX + 1];
        size_t slashes = strspn(w->rest, "/"), n = strcspn(w->rest + slashes, "/");
        if (n == 0)
            return open_at(w->fds[w->n - 1], ".", flags);
        if (n >= sizeof name)
            return -ENAMETOOLONG;
        memcpy(name, w->rest + slashes, n);
        name[n] = '\0';
        memmove(w->rest, w->rest + slashes + n, strlen(w->rest + slashes + n) + 1);
        int r = 0;
        if (strcmp(name, "..") == 0) {
            r = go_up(w);
        } else if (strcmp(name, ".") != 0) {
            /* O_DIRECTORY: it may have to be automounted first */
            int fd = open_at(w->fds[w->n - 1], name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
            if (fd == -ENOTDIR) {
                fd = look(w, name, flags);
                if (fd != GOES_ON)
                    return fd;
            } else {
                r = enter(w, fd);
            }
        }
        if (r != 0)
            return r;
    }
}

int gcd_safe_open(const char *path, int flags, bool *ret_untrusted)
{
    struct walk w = { .untrusted = ret_untrusted };
    if (path[0] == '\0')
        return -ENOENT;
    if (ret_untrusted == NULL && !gcd_is_in_process_root(path))
        return open_at(AT_FDCWD, path, flags);
    int r = begin(&w, path);
    if (r == 0)
        r = go(&w, flags);
    leave(&w, 0);
    return r;
}

int gcd_safe_open_parent(const char *path, bool *ret_untrusted)
{
    char folder[PATH_MAX] = ".";
    size_t n = (size_t)(gcd_path_name(path) - path);
    if (n >= sizeof folder)
        return -ENAMETOOLONG;
    if (n > 0) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    return gcd_safe_open(folder, O_PATH | O_DIRECTORY, ret_untrusted);
}

/* The owner of a folder can rename its contents; in a folder writable by all, everybody can, unless
 * it is sticky. */
static bool can_be_moved_in(const struct stat *folder)
{
    return gcd_is_untrusted_link(folder) ||
           ((folder->st_mode & S_IWOTH) != 0 && (folder->st_mode & S_ISVTX) == 0);
}

bool gcd_folder_fd_is_ours(int dir_fd)
{
    struct stat here, above;
    int fd = open_at(dir_fd, ".", O_PATH | O_DIRECTORY);
    bool ours = fd >= 0 && fstat(fd, &here) == 0 && !gcd_is_untrusted_link(&here), top = false;
    for (unsigned depth = 0; ours && !top && depth < PATH_MAX; depth++) {
        int up = open_at(fd, "..", O_PATH | O_DIRECTORY);
        (void)close(fd);
        fd = up;
        ours = fd >= 0 && fstat(fd, &above) == 0;
        top = ours && above.st_dev == here.st_dev && above.st_ino == here.st_ino;
        ours = ours && (top || !can_be_moved_in(&above));
        here = above;
    }
    if (fd >= 0)
        (void)close(fd);
    return ours && top;
}
