#include "ipc/process/ipc_pidfd.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ipc/process/ipc_procfs.h"

enum { TICK_NS = 200 * 1000 * 1000 };

static const char proc[] = "/proc";

/* True only when it is certain: the process no longer exists, or its number belongs to another one.
 */
static bool has_ended(const struct gcd_pidfd *p)
{
    uint64_t start = 0;
    gcd_status st = gcd_procfs_start(proc, p->pid, &start, NULL);
    return st == GCD_E_NOT_FOUND || (st == GCD_OK && start != p->start_jiffies);
}

/* A timer, or -1 when it would see nothing: whether a hidden process (hidepid) still exists is
 * unknown. */
static int clock_of(struct gcd_pidfd *p)
{
    static const struct itimerspec ticks = { .it_value = { .tv_nsec = TICK_NS },
                                             .it_interval = { .tv_nsec = TICK_NS } };
    if (gcd_procfs_start(proc, p->pid, &p->start_jiffies, NULL) != GCD_OK)
        return -1;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd >= 0 && timerfd_settime(fd, 0, &ticks, NULL) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool gcd_pidfd_open(struct gcd_pidfd *p, uint32_t pid)
{
    *p = (struct gcd_pidfd){ .pid = pid };
    p->fd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by default */
    if (p->fd < 0 && errno == ESRCH)
        return false;
    if (p->fd < 0) {
        p->fd = clock_of(p);
        p->ticks = p->fd >= 0;
    }
    return true;
}

bool gcd_pidfd_ended(const struct gcd_pidfd *p)
{
    uint64_t n;
    if (!p->ticks)
        return true;
    (void)!read(p->fd, &n, sizeof n); /* so that it is not readable again until the next tick */
    return has_ended(p);
}

void gcd_pidfd_close(struct gcd_pidfd *p)
{
    if (p->fd >= 0)
        (void)close(p->fd);
    p->fd = -1;
}
