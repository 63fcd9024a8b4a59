#include "io/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "io/file.h"

/* statfs tells file systems by these; linux/magic.h has them. */
#define IN_MEMORY_TMPFS 0x01021994
#define IN_MEMORY_RAMFS 0x858458f6

/* UFFD_FEATURE_WP_ASYNC, which older headers lack. */
#define WATCH_ASYNC (UINT64_C(1) << 15)

size_t gcd_spill_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

gcd_status gcd_spill_file_open(const char *folder, int *ret_fd, struct gcd_error *err)
{
    struct statfs fs;
    if (statfs(folder, &fs) == 0 && ((unsigned long)fs.f_type == IN_MEMORY_TMPFS || (unsigned long)fs.f_type == IN_MEMORY_RAMFS))
        return gcd_fail(err, GCD_E_IO, "the folder %s is in memory itself", folder);
    return gcd_file_open_unlinked(folder, ret_fd, err);
}

gcd_status gcd_spill_file_room(int fd, uint64_t bytes, struct gcd_error *err)
{
    struct statvfs room;
    if (fstatvfs(fd, &room) != 0 || room.f_frsize == 0 || bytes / room.f_frsize < room.f_bavail)
        return GCD_OK;
    return gcd_fail(err, GCD_E_IO, "the disk has room for %" PRIu64 " bytes, %" PRIu64 " are needed",
                    (uint64_t)room.f_bavail * room.f_frsize, bytes);
}

gcd_status gcd_spill_file_take(int fd, uint64_t off, size_t n, struct gcd_error *err)
{
    /* The system would not only refuse what is above the limit for files, but send SIGXFSZ, which ends a program. */
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && (off > most.rlim_cur || n > most.rlim_cur - off))
        return gcd_fail_os(err, EFBIG, "cannot take room for %zu bytes in the temporary file", n);
    int e;
    do
        e = posix_fallocate(fd, (off_t)off, (off_t)n);
    while (e == EINTR);
    return e == 0 ? GCD_OK : gcd_fail_os(err, e, "cannot take room for %zu bytes in the temporary file", n);
}

void gcd_spill_file_give_back(int fd, uint64_t off, size_t n)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)n);    /* else it is given back at the end */
#endif
}

void *gcd_spill_map(int fd, uint64_t off, size_t n, struct gcd_error *err)
{
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, fd >= 0 ? (off_t)off : 0);
    if (at == MAP_FAILED) {
        (void)gcd_fail_os(err, errno, "cannot map %zu bytes into memory", n);
        return NULL;
    }
    /* One byte that is looked at shall not make megabytes around it resident: no huge pages, and pages are read from the disk singly. */
    if (fd >= 0) {
        (void)madvise(at, n, MADV_NOHUGEPAGE);
        (void)madvise(at, n, MADV_RANDOM);
    }
    return at;
}

void *gcd_spill_remap(void *at, size_t old_bytes, size_t new_bytes, struct gcd_error *err)
{
    void *to = mremap(at, old_bytes, new_bytes, MREMAP_MAYMOVE);
    if (to != MAP_FAILED)
        return to;
    (void)gcd_fail_os(err, errno, "cannot map %zu bytes into memory", new_bytes);
    return NULL;
}

/*
 * Where writes are watched by userfaultfd, Linux does not map around a page fault.  Asynchronous watching (since 6.7) does nothing else, is of
 * no cost here, and is allowed to everybody for faults of user mode; containers often forbid it.
 */
int gcd_spill_single_open(void)
{
#if defined(SYS_userfaultfd) && defined(UFFD_USER_MODE_ONLY)
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = { .api = UFFD_API, .features = WATCH_ASYNC };
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
#else
    return -1;
#endif
}

void gcd_spill_single(int fd, void *at, size_t n)
{
#if defined(SYS_userfaultfd) && defined(UFFD_USER_MODE_ONLY)
    struct uffdio_register r = { .range = { .start = (uintptr_t)at, .len = n }, .mode = UFFDIO_REGISTER_MODE_WP };
    if (fd >= 0)
        (void)ioctl(fd, UFFDIO_REGISTER, &r);        /* else it stays as it was */
#else
    (void)fd, (void)at, (void)n;
#endif
}

void gcd_spill_unmap(void *at, size_t n)
{
    (void)munmap(at, n);
}

void gcd_spill_drop(void *at, size_t n)
{
    (void)madvise(at, n, MADV_DONTNEED);     /* of a shared mapping: the file keeps what was written */
}

/* What the kernel calls struct sched_attr: not every libc has it. */
struct schedule {
    uint32_t bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

void gcd_spill_run_promptly(void)
{
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#ifdef SYS_sched_setattr
    /* Since Linux 6.12 a thread that asks for short slices goes before others when it wakes up.  Older ones ignore it. */
    struct schedule s = { .bytes = sizeof s };
    if (syscall(SYS_sched_getattr, 0, &s, sizeof s, 0) == 0) {
        s.slice_ns = 100000;
        (void)syscall(SYS_sched_setattr, 0, &s, 0);
    }
#endif
}

int gcd_spill_resident_open(void)
{
    return open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

uint64_t gcd_spill_resident(int fd)
{
    char text[128];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    char *at;
    (void)strtoull(text, &at, 10);           /* the size of the address space */
    return strtoull(at, NULL, 10) * gcd_spill_page_bytes();
}
