#include "io/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "io/file.h"

/* statfs reports file systems by these numbers; linux/magic.h has them. */
#define IN_MEMORY_TMPFS 0x01021994
#define IN_MEMORY_RAMFS 0x858458f6

size_t gcd_spill_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

gcd_status gcd_spill_file_open(const char *folder, int *ret_fd, struct gcd_error *err)
{
    struct statfs fs;
    if (statfs(folder, &fs) == 0 && ((unsigned long)fs.f_type == IN_MEMORY_TMPFS ||
                                     (unsigned long)fs.f_type == IN_MEMORY_RAMFS))
        return gcd_fail(err, GCD_E_IO, "the folder %s is in memory itself", folder);
    return gcd_file_open_unlinked(folder, ret_fd, err);
}

gcd_status gcd_spill_file_room(int fd, uint64_t bytes, struct gcd_error *err)
{
    struct statvfs room;
    if (fstatvfs(fd, &room) != 0 || room.f_frsize == 0 || bytes / room.f_frsize < room.f_bavail)
        return GCD_OK;
    return gcd_fail(err, GCD_E_IO, "the disk has room for %s bytes, %s are needed",
                    GCD_DIGITS((uint64_t)room.f_bavail * room.f_frsize), GCD_DIGITS(bytes));
}

gcd_status gcd_spill_file_reserve(int fd, size_t n, struct gcd_error *err)
{
    /* Above the limit for file sizes, the kernel not only refuses but also sends SIGXFSZ, which
     * ends the program. */
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && n > most.rlim_cur)
        return gcd_fail_os(err, EFBIG, "cannot reserve %s bytes for a temporary file",
                           GCD_DIGITS(n));
    int e;
    do
        e = posix_fallocate(fd, 0, (off_t)n);
    while (e == EINTR);
    return e == 0
               ? GCD_OK
               : gcd_fail_os(err, e, "cannot reserve %s bytes for a temporary file", GCD_DIGITS(n));
}

void *gcd_spill_map(int fd, size_t n, struct gcd_error *err)
{
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE,
                    fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (at == MAP_FAILED) {
        (void)gcd_fail_os(err, errno, "cannot map %s bytes into memory", GCD_DIGITS(n));
        return NULL;
    }
    /* Graphs are read in random order: with read-ahead one page that comes back from the disk would
     * evict megabytes of others. */
    if (fd >= 0)
        (void)madvise(at, n, MADV_RANDOM);
    return at;
}

void *gcd_spill_remap(void *at, bool in_file, size_t old_bytes, size_t new_bytes,
                      struct gcd_error *err)
{
#ifdef MADV_REMOVE
    if (in_file &&
        new_bytes < old_bytes) /* frees the disk space; on failure, it is freed with the file */
        (void)madvise((char *)at + new_bytes, old_bytes - new_bytes, MADV_REMOVE);
#else
    (void)in_file;
#endif
    void *to = mremap(at, old_bytes, new_bytes, MREMAP_MAYMOVE);
    if (to != MAP_FAILED)
        return to;
    (void)gcd_fail_os(err, errno, "cannot map %s bytes into memory", GCD_DIGITS(new_bytes));
    return NULL;
}

void gcd_spill_unmap(void *at, size_t n)
{
    (void)munmap(at, n);
}
