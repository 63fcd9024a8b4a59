#include "ipc/process/ipc_program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cur.h"
#include "base/mem.h"
#include "ipc/process/ipc_discover.h"

/* The parts of ELF that are read: its header, and those of sections. */
#define HEADER_BYTES  64u
#define SECTION_BYTES 64u
#define SECTIONS_MAX  128u
#define TYPE_DYNSYM   11u
#define NAMES_MAX     ((size_t)1 << 20)

/* N bytes at OFF of FD, all of them? */
static bool read_at(int fd, uint64_t off, void *ret, size_t n)
{
    return off <= INT64_MAX - n && pread(fd, ret, n, (off_t)off) == (ssize_t)n;
}

/* Where the names of dynamic symbols are. */
static bool find_names(int fd, uint64_t *ret_off, uint64_t *ret_bytes)
{
    uint8_t header[HEADER_BYTES], sections[SECTIONS_MAX * SECTION_BYTES];
    if (!read_at(fd, 0, header, sizeof header) || memcmp(header, "\177ELF\2\1", 6) != 0)
        return false;
    size_t each = gcd_le16(header + 58), count = gcd_le16(header + 60);
    if (each != SECTION_BYTES || count > SECTIONS_MAX ||
        !read_at(fd, gcd_le64(header + 40), sections, count * each))
        return false;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *s = sections + i * SECTION_BYTES;
        size_t names = gcd_le32(s + 40);
        if (gcd_le32(s + 4) != TYPE_DYNSYM || names >= count)
            continue;
        *ret_off = gcd_le64(sections + names * SECTION_BYTES + 24);
        *ret_bytes = gcd_le64(sections + names * SECTION_BYTES + 32);
        return true;
    }
    return false;
}

/* Is NAME among the texts in P[N], each of which ends with a NUL? */
static bool has_text(const char *p, size_t n, const char *name)
{
    size_t length = strlen(name) + 1; /* with its NUL */
    for (const char *at = p, *end = p + n; at != NULL && (size_t)(end - at) >= length;) {
        if (memcmp(at, name, length) == 0)
            return true;
        at = memchr(at, '\0', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

bool gcd_program_exports(const char *proc, uint32_t pid, const char *name)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    char path[GCD_IPC_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/exe", proc, pid);
    int fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    struct stat st;
    uint64_t off, bytes;
    bool found = false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && find_names(fd, &off, &bytes) &&
        bytes <= NAMES_MAX) {
        char *names = gcd_mem_new(&alloc, (size_t)bytes + 1);
        found = names != NULL && read_at(fd, off, names, (size_t)bytes) &&
                has_text(names, (size_t)bytes, name);
        gcd_mem_free(&alloc, names, (size_t)bytes + 1);
    }
    (void)close(fd);
    return found;
}
