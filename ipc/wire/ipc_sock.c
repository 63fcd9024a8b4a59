#include "ipc/wire/ipc_sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/safe_open.h"

/* connect or bind */
typedef int name_fn(int fd, const struct sockaddr *addr, socklen_t n);

/* Applies NAME to FD; returns 0 or a negated errno. */
static int name_short(name_fn *name, int fd, const char *path)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    size_t n = strlen(path);
    if (n >= sizeof addr.sun_path)
        return -ENAMETOOLONG;
    memcpy(addr.sun_path, path, n);
    int r;
    do {
        r = name(fd, (const struct sockaddr *)&addr, sizeof addr);
    } while (r != 0 && errno == EINTR);
    return r == 0 ? 0 : -errno;
}

static bool fits(const char *path)
{
    return strlen(path) < sizeof((struct sockaddr_un *)0)->sun_path;
}

/*
 * The kernel resolves /proc/self/fd/N itself, so a descriptor can replace a name: sun_path has 108
 * bytes, and others may change what a path means.
 */
int gcd_sock_bind(int fd, int dir_fd, const char *name, const char *path)
{
    char alias[sizeof((struct sockaddr_un *)0)->sun_path];
    int n = snprintf(alias, sizeof alias, "/proc/self/fd/%d/%s", dir_fd, name);
    int r = n < 0 || (size_t)n >= sizeof alias ? -ENAMETOOLONG : name_short(bind, fd, alias);
    return r == -ENOENT ? name_short(bind, fd, path) : r; /* there is no /proc */
}

/* *UNUSED: a socket that is not connected, or -1; one that did not succeed is left there. */
static int connect_by_name(const char *path, int *unused)
{
    if (*unused < 0)
        *unused = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*unused < 0)
        return -errno;
    int r = name_short(connect, *unused, path), fd = *unused;
    if (r != 0)
        return r;
    *unused = -1;
    return fd;
}

int gcd_sock_connect_to(int socket_fd)
{
    char alias[40];
    (void)snprintf(alias, sizeof alias, "/proc/self/fd/%d", socket_fd);
    int unused = -1, r = connect_by_name(alias, &unused);
    if (unused >= 0)
        (void)close(unused);
    return r;
}

int gcd_sock_connect(const char *path)
{
    int unused = -1, r = gcd_sock_connect_next(path, &unused);
    if (unused >= 0)
        (void)close(unused);
    return r;
}

int gcd_sock_connect_next(const char *path, int *unused)
{
    /* Without /proc, use the name if it fits. */
    if (fits(path) && !gcd_is_in_process_root(path))
        return connect_by_name(path, unused);
    int at = gcd_safe_open(path, O_PATH, NULL);
    if (at < 0)
        return at;
    int r = gcd_sock_connect_to(at);
    (void)close(at);
    return r;
}

gcd_status gcd_sock_open(const char *path, int *ret_fd, struct gcd_error *err)
{
    int fd = gcd_sock_connect(path);
    if (fd >= 0) {
        *ret_fd = fd;
        return GCD_OK;
    }
    switch (-fd) {
    case ENOENT:
    case ENOTDIR:
        return gcd_because(err, GCD_ERROR_NO_SOCKET,
                           gcd_fail(err, GCD_E_NOT_FOUND,
                                    "cannot connect: there is no diagnostic socket %s", path));
    case ECONNREFUSED:
        return gcd_because(err, GCD_ERROR_STALE_SOCKET,
                           gcd_fail(err, GCD_E_NOT_FOUND,
                                    "cannot connect: nobody listens at %s, its process has ended",
                                    path));
    case EACCES:
    case EPERM:
        return gcd_because(
            err, GCD_ERROR_PERMISSION,
            gcd_fail_os(err, -fd,
                        "cannot connect to %s (only the owner of the process and root may)", path));
    case EAGAIN:
        /* The queue of the listening socket is full (255 entries, dotnet/runtime
         * ds-ipc-pal-socket.c). */
        return gcd_because(err, GCD_ERROR_TIMEOUT,
                           gcd_fail(err, GCD_E_PEER,
                                    "cannot connect: too many other clients are waiting at %s",
                                    path));
    default:
        return gcd_fail_os(err, -fd, "cannot connect to %s", path);
    }
}

int gcd_sock_send_whole(int fd, const uint8_t *bytes, size_t n)
{
    ssize_t r;
    do {
        r = send(fd, bytes, n, MSG_NOSIGNAL);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return -errno;
    return (size_t)r == n ? 0 : -EMSGSIZE;
}

uint32_t gcd_sock_peer_pid(int fd)
{
    struct ucred cred;
    socklen_t n = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) != 0 || n != sizeof cred || cred.pid < 0)
        return 0;
    return (uint32_t)cred.pid;
}
