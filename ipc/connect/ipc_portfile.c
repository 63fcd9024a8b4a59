#include "ipc/connect/ipc_portfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe_open.h"
#include "ipc/wire/ipc_sock.h"

enum { TRIES = 3 };

/* A unique name in the folder; short, because it must fit where a long one does not. */
static void fresh_name(char ret[static 80])
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(ret, 80, ".gcdumpc-%ld-%lld.%ld", (long)getpid(), (long long)now.tv_sec,
                   now.tv_nsec);
}

static gcd_status cannot_listen(const char *path, int os_errno, struct gcd_error *err)
{
    if (os_errno == ENOENT || os_errno == ENOTDIR)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: there is no such folder", path);
    return gcd_fail_os(err, os_errno, "cannot listen at %s", path);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * The name is taken.  GCD_OK: it was the file of a dead listener and has been removed.  A file of
 * ours listens from its first moment, so one that does not listen is dead.  It is moved aside
 * first, in case somebody replaced it after the check.
 */
static gcd_status remove_stale(const struct gcd_portfile *f, struct gcd_error *err)
{
    struct stat stale, taken;
    const char *path = f->path, *name = gcd_path_name(path);
    char aside[80];
    if (fstatat(f->dir_fd, name, &stale, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? GCD_OK : gcd_fail_os(err, errno, "cannot listen at %s", path);
    if (!S_ISSOCK(stale.st_mode))
        return gcd_fail(err, GCD_E_IO,
                        "cannot listen at %s: a file with that name exists and is not a socket",
                        path);
    /* Root could replace it, too, but a name taken by another user is not ours. */
    if (stale.st_uid != geteuid())
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: a socket of another user exists",
                        path);
    int fd = gcd_sock_connect(path);
    if (fd >= 0)
        (void)close(fd);
    if (fd != -ECONNREFUSED)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", path);
    if (!gcd_folder_fd_is_ours(
            f->dir_fd)) /* others control the names there and could have removed our socket */
        return gcd_fail(err, GCD_E_IO,
                        "cannot listen at %s: an old socket exists in a folder of another user, "
                        "where gcdumpc removes nothing",
                        path);
    fresh_name(aside);
    if (renameat(f->dir_fd, name, f->dir_fd, aside) != 0)
        return errno == ENOENT ? GCD_OK
                               : gcd_fail_os(err, errno, "cannot remove the stale socket %s", path);
    bool ours =
        fstatat(f->dir_fd, aside, &taken, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&stale, &taken);
    if (!ours)
        (void)!linkat(f->dir_fd, aside, f->dir_fd, name,
                      0); /* put it back; if the name is taken again, its new owner did what we
                             would have done */
    (void)unlinkat(f->dir_fd, aside, 0);
    return ours ? GCD_OK
                : gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", path);
}

static gcd_status open_folder(struct gcd_portfile *f, struct gcd_error *err)
{
    bool untrusted = false;
    f->dir_fd = gcd_safe_open_parent(f->path, &untrusted);
    if (untrusted)
        return gcd_fail(err, GCD_E_IO,
                        "cannot listen at %s: a link of another user leads to its folder", f->path);
    return f->dir_fd < 0 ? cannot_listen(f->path, -f->dir_fd, err) : GCD_OK;
}

/* Listen under the name FRESH, and return its file in RET_SB. */
static gcd_status listen_beside(const struct gcd_portfile *f, int fd, const char *fresh,
                                struct stat *ret_sb, struct gcd_error *err)
{
    char path[GCD_IPC_PATH_MAX + 80];
    (void)snprintf(path, sizeof path, "%.*s%s", (int)(gcd_path_name(f->path) - f->path), f->path,
                   fresh);
    int r = gcd_sock_bind(fd, f->dir_fd, fresh, path);
    if (r != 0)
        return cannot_listen(f->path, -r, err);
    bool listens =
        listen(fd, GCD_BACKLOG) == 0 && fstatat(f->dir_fd, fresh, ret_sb, AT_SYMLINK_NOFOLLOW) == 0;
    return listens ? GCD_OK : cannot_listen(f->path, errno, err);
}

/* Listens before it gets its name, so that nobody finds a socket of ours that refuses connections
 * or looks stale. */
gcd_status gcd_portfile_listen(struct gcd_portfile *f, int fd, struct gcd_error *err)
{
    char fresh[80];
    struct stat sb;
    GCD_TRY(open_folder(f, err));
    fresh_name(fresh);
    gcd_status st = listen_beside(f, fd, fresh, &sb, err);
    bool named = false;
    for (int i = 0; st == GCD_OK && !named && i < TRIES; i++) {
        named = linkat(f->dir_fd, fresh, f->dir_fd, gcd_path_name(f->path), 0) == 0;
        if (!named)
            st = errno == EEXIST ? remove_stale(f, err) : cannot_listen(f->path, errno, err);
    }
    (void)unlinkat(f->dir_fd, fresh, 0);
    if (st == GCD_OK && !named)
        st = gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", f->path);
    if (st != GCD_OK)
        return st;
    f->dev = sb.st_dev;
    f->ino = sb.st_ino;
    f->there = true;
    return GCD_OK;
}

void gcd_portfile_remove(struct gcd_portfile *f)
{
    struct stat sb;
    const char *name = gcd_path_name(f->path);
    if (f->there && fstatat(f->dir_fd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
        sb.st_dev == f->dev && sb.st_ino == f->ino)
        (void)unlinkat(f->dir_fd, name, 0);
    if (f->dir_fd >= 0)
        (void)close(f->dir_fd);
    f->dir_fd = -1;
    f->there = false;
}
