/*
 * Reads the memory of another process.  /proc/PID/mem is bound to the memory itself, so a later
 * process with the same number is never read.  process_vm_readv, which is not, copies large pieces
 * twice as fast: what it has copied counts only if the memory is still there afterwards.
 */
#include <gcdumpc/unstable/process_reader.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#define LARGE_BYTES    ((size_t)65536)
#define CAP_SYS_PTRACE 19u /* linux/capability.h */

struct gcd_process_reader {
    struct gcd_alloc alloc;
    uint32_t pid;
    int fd; /* of /proc/PID/mem */
};

/* ---- why not ---- */

/* A small file of /proc as text in RET[CAP]; "" = it cannot be read. */
static void read_proc_file(const char *path, char *ret, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret, cap - 1) : -1;
    ret[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

/* The text behind "KEY:" in a status file; NULL = there is none. */
static const char *status_value(const char *status, const char *key)
{
    const char *at = strstr(status, key);
    return at != NULL ? at + strlen(key) : NULL;
}

static bool has_capability(const char *status)
{
    const char *set = status_value(status, "\nCapEff:");
    return set != NULL && (strtoull(set, NULL, 16) >> CAP_SYS_PTRACE & 1) != 0;
}

/* The namespace itself may be looked at only with the right that is missing; its numbers by
 * anybody.
 */
static bool same_user_namespace(uint32_t pid)
{
    char path[64], own[4096], other[4096];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/uid_map", pid);
    read_proc_file("/proc/self/uid_map", own, sizeof own);
    read_proc_file(path, other, sizeof other);
    return strcmp(own, other) == 0;
}

static gcd_status refused(struct gcd_error *err, int e, const char *why)
{
    return gcd_because(err, GCD_ERROR_PERMISSION,
                       gcd_fail_os(err, e, "its memory may not be read: %s", why));
}

/* Which right is missing: ptrace(2), "Ptrace access mode checking". */
static gcd_status explain(uint32_t pid, int e, struct gcd_error *err)
{
    char path[64], own[4096], other[4096], yama[16];
    struct stat file = { .st_uid = 0 };
    /* what is below the folder belongs to root if the process is not dumpable */
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    if (stat(path, &file) != 0 || e == ENOENT || e == ESRCH)
        return gcd_because(err, GCD_ERROR_NO_PROCESS,
                           gcd_fail(err, GCD_E_NOT_FOUND, "there is no process %" PRIu32, pid));
    if (e != EACCES && e != EPERM)
        return gcd_fail_os(err, e, "cannot open its memory");
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    read_proc_file(path, other, sizeof other);
    read_proc_file("/proc/self/status", own, sizeof own);
    read_proc_file("/proc/sys/kernel/yama/ptrace_scope", yama, sizeof yama);
    const char *user = status_value(other, "\nUid:");
    bool capable = has_capability(own);
    if (yama[0] == '3')
        return refused(err, e,
                       "Yama forbids it to everybody (kernel.yama.ptrace_scope is 3), until a "
                       "start of the machine with another setting");
    if (!same_user_namespace(pid))
        return refused(err, e,
                       "it is in another user namespace; run gcdumpc in the parent namespace, as "
                       "root, or in that of the process");
    if (user != NULL && (uid_t)strtoul(user, NULL, 10) != geteuid() && !capable)
        return refused(err, e,
                       "it belongs to another user; run gcdumpc as that user, as root, or with "
                       "the capability CAP_SYS_PTRACE");
    if (!capable && yama[0] == '1')
        return refused(err, e,
                       "Yama allows it only with the capability CAP_SYS_PTRACE: run gcdumpc as "
                       "root, give the container SYS_PTRACE, or set kernel.yama.ptrace_scope to 0");
    if (!capable && yama[0] == '2')
        return refused(err, e,
                       "Yama allows it only with the capability CAP_SYS_PTRACE "
                       "(kernel.yama.ptrace_scope is 2): run gcdumpc as root, or give the "
                       "container SYS_PTRACE");
    if (user != NULL && (uid_t)strtoul(user, NULL, 10) != file.st_uid)
        return refused(err, e,
                       "the process is not dumpable (it changed its user, its program has "
                       "capabilities or cannot be read, or it forbids it); run gcdumpc as root, "
                       "or with the capability CAP_SYS_PTRACE");
    return refused(err, e,
                   capable ? "a security module (AppArmor, SELinux) or seccomp forbids it"
                           : "the process has more capabilities than gcdumpc; run gcdumpc as "
                             "root, or give it or its container CAP_SYS_PTRACE");
}

/* ---- reading ---- */

static gcd_status open_memory(uint32_t pid, int *ret, struct gcd_error *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", pid);
    *ret = open(path, O_RDONLY | O_CLOEXEC);
    return *ret >= 0 ? GCD_OK : explain(pid, errno, err);
}

gcd_status gcd_process_may_trace(uint32_t pid, struct gcd_error *err)
{
    int fd;
    GCD_TRY(open_memory(pid, &fd, err));
    (void)close(fd);
    return GCD_OK;
}

gcd_status gcd_process_reader_new(uint32_t pid, const struct gcd_alloc *alloc,
                                  struct gcd_process_reader **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    int fd;
    GCD_TRY(open_memory(pid, &fd, err));
    struct gcd_process_reader *r = gcd_mem_new(&a, sizeof *r);
    if (r == NULL) {
        (void)close(fd);
        return gcd_fail_nomem(err, "reading a process");
    }
    *r = (struct gcd_process_reader){ .alloc = a, .pid = pid, .fd = fd };
    *ret = r;
    return GCD_OK;
}

void gcd_process_reader_free(struct gcd_process_reader *r)
{
    if (r == NULL)
        return;
    (void)close(r->fd);
    struct gcd_alloc a = r->alloc;
    gcd_mem_free(&a, r, sizeof *r);
}

static size_t read_by_file(const struct gcd_process_reader *r, uint64_t address, uint8_t *ret,
                           size_t n)
{
    size_t done = 0;
    while (done < n && address + done <= INT64_MAX) {
        ssize_t got = pread(r->fd, ret + done, n - done, (off_t)(address + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static size_t read_by_number(const struct gcd_process_reader *r, uint64_t address, uint8_t *ret,
                             size_t n)
{
    size_t done = 0;
    while (done < n && address + done <= UINTPTR_MAX) {
        struct iovec to = { ret + done, n - done };
        struct iovec from = { (void *)(uintptr_t)(address + done), n - done };
        ssize_t got = process_vm_readv((pid_t)r->pid, &to, 1, &from, 1, 0);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    uint8_t last;
    return done > 0 && read_by_file(r, address + done - 1, &last, 1) == 1 ? done : 0;
}

size_t gcd_process_read(const struct gcd_process_reader *r, uint64_t address, void *ret, size_t n)
{
    size_t done = n >= LARGE_BYTES ? read_by_number(r, address, ret, n) : 0;
    return done + read_by_file(r, address + done, (uint8_t *)ret + done, n - done);
}
