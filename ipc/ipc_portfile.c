#include "ipc/ipc_portfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "ipc/ipc_sock.h"

enum { TRIES = 3 };

/* A name in the folder of PATH that nobody else has: short, because with PATH it may have to fit where a long one does not. */
static gcd_status name_beside(const char *path, char *ret, size_t cap, struct gcd_error *err)
{
    const char *slash = strrchr(path, '/');
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int n = snprintf(ret, cap, "%.*s.gcdumpc-%ld-%lld.%ld", slash == NULL ? 0 : (int)(slash + 1 - path), path, (long)getpid(),
                     (long long)now.tv_sec, now.tv_nsec);
    return n > 0 && (size_t)n < cap ? GCD_OK : gcd_fail(err, GCD_E_ARG, "the path %.100s... is too long", path);
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
 * Something has the name.  GCD_OK: it was the file of a listener that is gone, and is removed.  A file of ours listens from its first
 * moment on, so one that does not is dead; it is taken aside first, in case somebody has replaced it since it was looked at.
 */
static gcd_status remove_stale(const char *path, struct gcd_error *err)
{
    struct stat stale, taken;
    char aside[GCD_IPC_PATH_MAX];
    if (lstat(path, &stale) != 0)
        return errno == ENOENT ? GCD_OK : gcd_fail_os(err, errno, "cannot listen at %s", path);
    if (!S_ISSOCK(stale.st_mode))
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: there is a file of that name, and it is no socket", path);
    /* Root could replace it, too; but a name that another user has taken is not ours to take over. */
    if (stale.st_uid != geteuid())
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: there is a socket of another user", path);
    int fd = gcd_sock_connect(path);
    if (fd >= 0)
        (void)close(fd);
    if (fd != -ECONNREFUSED)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", path);
    GCD_TRY(name_beside(path, aside, sizeof aside, err));
    if (rename(path, aside) != 0)
        return errno == ENOENT ? GCD_OK : gcd_fail_os(err, errno, "cannot remove the stale socket %s", path);
    bool ours = lstat(aside, &taken) == 0 && is_same(&stale, &taken);
    if (!ours)
        (void)!link(aside, path); /* back; should the name be taken again, who took it has done as we would */
    (void)unlink(aside);
    return ours ? GCD_OK : gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", path);
}

/* Listens before it gets its name: nobody ever finds a socket of ours that refuses him, or takes it for a stale one. */
gcd_status gcd_portfile_listen(struct gcd_portfile *f, int fd, struct gcd_error *err)
{
    char fresh[GCD_IPC_PATH_MAX];
    struct stat sb;
    GCD_TRY(name_beside(f->path, fresh, sizeof fresh, err));
    int r = gcd_sock_bind(fd, fresh);
    if (r != 0)
        return cannot_listen(f->path, -r, err);
    gcd_status st = listen(fd, SOMAXCONN) == 0 && lstat(fresh, &sb) == 0 ? GCD_OK : cannot_listen(f->path, errno, err);
    bool named = false;
    for (int i = 0; st == GCD_OK && !named && i < TRIES; i++) {
        named = link(fresh, f->path) == 0;
        if (!named)
            st = errno == EEXIST ? remove_stale(f->path, err) : cannot_listen(f->path, errno, err);
    }
    (void)unlink(fresh);
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
    if (f->there && lstat(f->path, &sb) == 0 && sb.st_dev == f->dev && sb.st_ino == f->ino)
        (void)unlink(f->path);
    f->there = false;
}
