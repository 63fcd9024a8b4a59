/*
 * Allows one dump of a process at a time.  Two would pause it twice and need two buffers in its
 * memory, and the runtime reports each type to only one of them.
 *
 * The lock is an abstract unix socket.  Its name is free again as soon as its listener dies,
 * however it dies, and SO_PEERCRED tells others who listens.  Anybody can take any name, so a
 * holder counts only if it could dump the process, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "base/error.h"
#include "base/safe_open.h"
#include "ipc/process/ipc_procfs.h"

/* For a few moments nobody answers: between bind and listen, and between the death of a holder and
 * our next try. */
#define TRIES  20
#define TRY_MS 5

static socklen_t address_of(const char *name, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    /* our names fit; the leading NUL makes the name abstract, and the length ends it */
    size_t n = strlen(name);
    memcpy(ret->sun_path + 1, name, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

/* 0 when the name is now ours, otherwise a negated errno. */
static int take(const char *name, int *ret_fd)
{
    struct sockaddr_un address;
    socklen_t n = address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, SOMAXCONN) != 0) {
        int e = errno;
        (void)close(fd);
        return -e;
    }
    *ret_fd = fd;
    return 0;
}

/* 0 and a connection that the kernel ends together with the holder's socket, or a negated errno
 * when nobody answers. */
static int ask_holder(const char *name, struct ucred *ret, int *ret_fd)
{
    struct sockaddr_un address;
    socklen_t n = address_of(name, &address), n_cred = sizeof *ret;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&address, n) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &n_cred) != 0) {
        int e = errno;
        (void)close(fd);
        return -e;
    }
    *ret_fd = fd;
    return 0;
}

/* RET says what prevents us from taking the name. */
static gcd_status lock_name(const char *name, const char *what, uid_t owner,
                            struct gcd_ipc_lock *ret, int *ret_fd, struct gcd_error *err)
{
    struct ucred holder = { .pid = 0 };
    int fd = -1, connection = -1, r = 0, asked = -ECONNREFUSED;
    for (int i = 0; i < TRIES && asked == -ECONNREFUSED; i++) {
        if (i > 0)
            (void)poll(NULL, 0, TRY_MS);
        r = take(name, &fd);
        if (r == 0) {
            *ret_fd = fd + 1;
            return GCD_OK;
        }
        if (r != -EADDRINUSE)
            return gcd_fail_os(err, -r, "cannot prevent a second dump");
        asked = ask_holder(name, &holder, &connection);
    }
    /* a holder that cannot be asked (full queue, no listener) is not this program */
    if (asked != 0 || (holder.uid != geteuid() && holder.uid != 0 && holder.uid != owner)) {
        if (connection >= 0)
            (void)close(connection);
        ret->usurped = true;
        return GCD_OK;
    }
    ret->fds[2] = connection + 1;
    ret->holder_pid = holder.pid > 0 ? (uint32_t)holder.pid : 0;
    if (holder.pid > 0)
        return gcd_fail(err, GCD_E_STATE, "another dump %s is under way, by process %ld", what,
                        (long)holder.pid);
    return gcd_fail(err, GCD_E_STATE,
                    "another dump %s is under way, by a process that is not visible here", what);
}

/* The process's pid namespace and its number there, so that every view agrees, and its start time,
 * because numbers are reused. */
static gcd_status lock_process(uint32_t pid, struct gcd_ipc_lock *ret, struct gcd_error *err)
{
    struct gcd_procfs_target target;
    struct gcd_procfs_facts facts;
    struct stat sb;
    char name[100], path[64];
    GCD_TRY(gcd_procfs_read("/proc", pid, &target, err));
    uid_t owner = gcd_procfs_facts("/proc", pid, &facts) ? facts.uid : (uid_t)-1;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/pid", pid);
    uint64_t ns = stat(path, &sb) == 0 ? (uint64_t)sb.st_ino : 0;
    (void)snprintf(name, sizeof name, "gcdumpc/process/%" PRIu64 "/%" PRIu32 "/%" PRIu64, ns,
                   target.inner_pid, target.start_jiffies);
    return lock_name(name, "of it", owner, ret, &ret->fds[0], err);
}

static gcd_status lock_socket(const char *path, struct gcd_ipc_lock *ret, struct gcd_error *err)
{
    struct stat sb;
    char name[100];
    int fd = gcd_safe_open(path, O_PATH, NULL);
    bool known = fd >= 0 && fstat(fd, &sb) == 0;
    if (fd >= 0)
        (void)close(fd);
    if (!known) /* the attempt to connect will report why */
        return GCD_OK;
    (void)snprintf(name, sizeof name, "gcdumpc/socket/%" PRIu64 "/%" PRIu64, (uint64_t)sb.st_dev,
                   (uint64_t)sb.st_ino);
    return lock_name(name, "of it", sb.st_uid, ret, &ret->fds[1], err);
}

gcd_status gcd_ipc_lock(uint32_t pid, const char *socket_path, struct gcd_ipc_lock *ret,
                        struct gcd_error *err)
{
    *ret = (struct gcd_ipc_lock){ .holder_pid = 0 };
    if (pid != 0)
        GCD_TRY(lock_process(pid, ret, err));
    return socket_path != NULL ? lock_socket(socket_path, ret, err) : GCD_OK;
}

gcd_status gcd_ipc_lock_machine(struct gcd_ipc_lock *ret, struct gcd_error *err)
{
    *ret = (struct gcd_ipc_lock){ .holder_pid = 0 };
    return lock_name("gcdumpc/machine", "on this machine", geteuid(), ret, &ret->fds[0], err);
}

bool gcd_ipc_lock_wait(const struct gcd_ipc_lock *lock, int ms)
{
    /* no events requested: reports only its end */
    struct pollfd connection = { .fd = lock->fds[2] - 1 };
    return poll(&connection, 1, ms) > 0;
}

void gcd_ipc_unlock(struct gcd_ipc_lock *lock)
{
    for (size_t i = 0; i < sizeof lock->fds / sizeof *lock->fds; i++) {
        if (lock->fds[i] != 0)
            (void)close(lock->fds[i] - 1);
        lock->fds[i] = 0;
    }
}
