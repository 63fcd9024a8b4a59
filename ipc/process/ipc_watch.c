/*
 * The memory of a process, read again and again, and the kernel's own reports about it:
 *
 *     cgroup version 1   cgroup.event_control: a threshold of memory.usage_in_bytes (an eventfd)
 *     cgroup version 2   memory.events: the limit was reached; memory.pressure: a PSI trigger
 *     neither            the machine's PSI trigger; the caller's timer
 */
#include "ipc/process/ipc_watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/safe_open.h"
#include "ipc/process/ipc_cgroup.h"
#include "ipc/process/ipc_mappings.h"
#include "ipc/process/ipc_memory.h"
#include "ipc/process/ipc_pidfd.h"
#include "ipc/process/ipc_procfs.h"

/* The limit can change, and the process can move to another cgroup. */
#define FIND_EVERY 32u
/* Some task waited for memory for 100 ms of 2 s.  Windows of whole 2 s are open to all users. */
#define PSI_TRIGGER "some 100000 2000000"

struct gcd_ipc_watch {
    const char *proc;
    struct gcd_alloc alloc;
    uint32_t pid;
    struct gcd_pidfd end;
    int statm;            /* of the process: it costs a hundredth of its status */
    int usage, threshold; /* version 1 */
    int events;           /* version 2 */
    int psi;
    uint64_t armed_bytes;  /* of the threshold; 0 = none */
    uint64_t armed_growth; /* for which it was set; 0 = it must be set again */
    uint64_t page_bytes, machine_bytes;
    unsigned reads;
    struct gcd_cgroup cgroup;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void disarm(struct gcd_ipc_watch *w)
{
    close_one(&w->threshold);
    close_one(&w->usage);
    w->armed_bytes = w->armed_growth = 0;
}

void gcd_ipc_watch_free(struct gcd_ipc_watch *w)
{
    if (w == NULL)
        return;
    disarm(w);
    close_one(&w->events);
    close_one(&w->psi);
    close_one(&w->statm);
    gcd_pidfd_close(&w->end);
    struct gcd_alloc alloc = w->alloc;
    gcd_mem_free(&alloc, w, sizeof *w);
}

/* A descriptor of FOLDER/NAME, or -1.  A process controls what is below its /proc/PID/root, so no
 * link is followed out of it. */
static int open_in(const char *folder, const char *name, int flags)
{
    char path[GCD_IPC_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = n > 0 && (size_t)n < sizeof path && folder[0] != '\0'
                 ? gcd_safe_open(path, flags | O_CLOEXEC | O_NONBLOCK, NULL)
                 : -1;
    return fd >= 0 ? fd : -1;
}

/* Reads FD from its beginning, which also makes it wait for the next change. */
static bool read_again(int fd, char *text, size_t cap)
{
    ssize_t n = fd >= 0 ? pread(fd, text, cap - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static void find_limit(struct gcd_ipc_watch *w)
{
    struct gcd_cgroup before = w->cgroup;
    gcd_cgroup_find(w->proc, w->pid, &w->cgroup);
    if (strcmp(before.folder, w->cgroup.folder) == 0 && w->reads > 0)
        return;
    char text[512];
    disarm(w);
    close_one(&w->events);
    if (w->cgroup.folder[0] != '\0' && w->cgroup.version == GCD_CGROUP_2)
        w->events = open_in(w->cgroup.folder, "memory.events", O_RDONLY);
    (void)read_again(w->events, text, sizeof text);
}

gcd_status gcd_watch_new(const char *proc, uint32_t pid, const struct gcd_alloc *alloc,
                         struct gcd_ipc_watch **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    char name[32];
    long page = sysconf(_SC_PAGESIZE);
    struct gcd_ipc_watch *w = gcd_mem_new(&a, sizeof *w);
    if (w == NULL)
        return gcd_fail_nomem(err, "watching a process");
    *w = (struct gcd_ipc_watch){ .proc = proc,
                                 .alloc = a,
                                 .pid = pid,
                                 .statm = -1,
                                 .usage = -1,
                                 .threshold = -1,
                                 .events = -1,
                                 .psi = -1,
                                 .end.fd = -1 };
    w->page_bytes = page > 0 ? (uint64_t)page : 4096;
    w->machine_bytes = gcd_memory_of_machine(proc, "MemTotal");
    (void)snprintf(name, sizeof name, "%" PRIu32 "/statm", pid);
    w->statm = open_in(proc, name, O_RDONLY);
    if (w->statm < 0 || !gcd_pidfd_open(&w->end, pid)) {
        gcd_ipc_watch_free(w);
        return gcd_because(err, GCD_ERROR_NO_PROCESS,
                           gcd_fail(err, GCD_E_NOT_FOUND, "there is no process %" PRIu32, pid));
    }
    find_limit(w);
    *ret = w;
    return GCD_OK;
}

gcd_status gcd_ipc_watch_new(uint32_t pid, const struct gcd_alloc *alloc,
                             struct gcd_ipc_watch **ret, struct gcd_error *err)
{
    return gcd_watch_new("/proc", pid, alloc, ret, err);
}

/* ---- values ---- */

/* "some avg10=1.23 avg60=…" in hundredths; UINT32_MAX when FOLDER/NAME has none. */
static uint32_t read_pressure(const char *folder, const char *name)
{
    char path[GCD_IPC_PATH_MAX], text[256];
    static const char key[] = "some avg10=";
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (folder[0] == '\0' || n < 0 || (size_t)n >= sizeof path ||
        gcd_procfs_small(path, text, sizeof text) != 0 || strncmp(text, key, sizeof key - 1) != 0)
        return UINT32_MAX;
    char *at = text + sizeof key - 1;
    unsigned long whole = strtoul(at, &at, 10);
    bool digits = at[0] == '.' && at[1] >= '0' && at[1] <= '9' && at[2] >= '0' && at[2] <= '9';
    if (whole > 100 || !digits)
        return UINT32_MAX;
    return (uint32_t)(whole * 100) + (uint32_t)((at[1] - '0') * 10 + (at[2] - '0'));
}

/* "SIZE RESIDENT SHARED …" in pages, see proc_pid_statm(5).  A process that ends has zeros. */
static bool read_resident(struct gcd_ipc_watch *w, uint64_t *ret)
{
    char text[128], *end;
    if (!read_again(w->statm, text, sizeof text))
        return false;
    (void)strtoull(text, &end, 10);
    uint64_t pages = strtoull(end, NULL, 10);
    if (pages == 0 || pages > UINT64_MAX / w->page_bytes)
        return false;
    *ret = pages * w->page_bytes;
    return true;
}

bool gcd_ipc_watch_read(struct gcd_ipc_watch *w, unsigned parts, struct gcd_ipc_watch_values *ret)
{
    *ret = (struct gcd_ipc_watch_values){ .left_bytes = UINT64_MAX, .pressure = UINT32_MAX };
    if (!read_resident(w, &ret->rss_bytes))
        return false;
    if (++w->reads % FIND_EVERY == 0)
        find_limit(w);
    else if ((parts & GCD_IPC_WATCH_LEFT) != 0)
        gcd_cgroup_read(&w->cgroup);
    bool limited = w->cgroup.limit_bytes != 0 &&
                   (w->machine_bytes == 0 || w->cgroup.limit_bytes < w->machine_bytes);
    ret->limit_bytes = limited ? w->cgroup.limit_bytes : w->machine_bytes;
    ret->limit = limited                 ? GCD_IPC_LIMIT_CGROUP
                 : ret->limit_bytes != 0 ? GCD_IPC_LIMIT_MACHINE
                                         : GCD_IPC_LIMIT_NONE;
    if ((parts & GCD_IPC_WATCH_LEFT) != 0) {
        uint64_t available = gcd_memory_of_machine(w->proc, "MemAvailable");
        ret->left_bytes = w->cgroup.room_bytes;
        if (available != 0 && available < ret->left_bytes)
            ret->left_bytes = available;
    }
    if ((parts & GCD_IPC_WATCH_HEAP) != 0)
        ret->heap_bytes = gcd_mappings_heap_most(w->proc, w->pid);
    if ((parts & GCD_IPC_WATCH_PRESSURE) != 0) {
        ret->pressure = read_pressure(w->cgroup.pressure, "memory.pressure");
        ret->machine_pressure = ret->pressure == UINT32_MAX;
        if (ret->machine_pressure)
            ret->pressure = read_pressure(w->proc, "pressure/memory");
    }
    return true;
}

/* ---- the kernel's reports ---- */

/* See Documentation/admin-guide/cgroup-v1/memory.rst, "Memory thresholds". */
static bool set_threshold(struct gcd_ipc_watch *w, uint64_t bytes)
{
    char line[64];
    disarm(w);
    if (w->cgroup.version != GCD_CGROUP_1 || w->cgroup.folder[0] == '\0')
        return false;
    int control = open_in(w->cgroup.folder, "cgroup.event_control", O_WRONLY);
    w->usage = open_in(w->cgroup.folder, "memory.usage_in_bytes", O_RDONLY);
    w->threshold = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int n = snprintf(line, sizeof line, "%d %d %" PRIu64, w->threshold, w->usage, bytes);
    bool done =
        control >= 0 && w->usage >= 0 && w->threshold >= 0 && write(control, line, (size_t)n) == n;
    if (control >= 0)
        (void)close(control);
    if (!done)
        disarm(w);
    else
        w->armed_bytes = bytes;
    return done;
}

/* See Documentation/accounting/psi.rst. */
static void set_psi(struct gcd_ipc_watch *w)
{
    w->psi = open_in(w->cgroup.pressure, "memory.pressure", O_RDWR);
    if (w->psi < 0)
        w->psi = open_in(w->proc, "pressure/memory", O_RDWR);
    if (w->psi >= 0 && write(w->psi, PSI_TRIGGER, sizeof PSI_TRIGGER) < 0)
        close_one(&w->psi); /* the kernel lacks it, or this user may not */
}

bool gcd_ipc_watch_arm(struct gcd_ipc_watch *w, uint64_t growth_bytes, bool pressure)
{
    if (pressure && w->psi < 0)
        set_psi(w);
    if (!pressure)
        close_one(&w->psi);
    if (w->threshold >= 0 && growth_bytes == w->armed_growth)
        return true; /* its memory is as it was */
    gcd_cgroup_read(&w->cgroup);
    uint64_t usage = w->cgroup.usage_bytes, limit = w->cgroup.limit_bytes;
    /* at the limit, the kernel drops files instead of counting more */
    if (growth_bytes == 0 || limit <= usage || growth_bytes >= limit - usage) {
        disarm(w);
        return false;
    }
    uint64_t at = usage + growth_bytes;
    if (at != w->armed_bytes && !set_threshold(w, at))
        return false;
    w->armed_growth = growth_bytes;
    return true;
}

size_t gcd_ipc_watch_descriptors(const struct gcd_ipc_watch *w,
                                 struct pollfd ret[GCD_IPC_WATCH_DESCRIPTORS])
{
    size_t n = 0;
    const struct pollfd all[] = { { .fd = w->end.fd, .events = POLLIN },
                                  { .fd = w->threshold, .events = POLLIN },
                                  { .fd = w->events, .events = POLLPRI },
                                  { .fd = w->psi, .events = POLLPRI } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].fd >= 0)
            ret[n++] = all[i];
    return n;
}

bool gcd_ipc_watch_woken(struct gcd_ipc_watch *w, const struct pollfd *items, size_t n,
                         bool *ret_ended)
{
    bool woken = false;
    *ret_ended = false;
    for (size_t i = 0; i < n; i++) {
        char text[512];
        if (items[i].revents == 0)
            continue;
        if (items[i].fd == w->end.fd) {
            *ret_ended = gcd_pidfd_ended(&w->end);
            continue;
        }
        woken = true;
        if (items[i].fd == w->threshold) {
            (void)!read(w->threshold, text, sizeof text);
            w->armed_growth = 0;
        } else if (items[i].fd == w->events && !read_again(w->events, text, sizeof text))
            close_one(&w->events); /* the cgroup is gone */
        else if (items[i].fd == w->psi && (items[i].revents & POLLPRI) == 0)
            close_one(&w->psi);
    }
    return woken;
}
