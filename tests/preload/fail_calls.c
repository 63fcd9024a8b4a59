/*
 * Preloaded (LD_PRELOAD), it makes calls of the program into the C library fail as GCDUMPC_FAIL
 * says:
 *
 *     read:3:5        the third read ends with errno 5 (EIO)
 *     write:2+:28     the second and all later ones with errno 28 (ENOSPC)
 *     read:short      each read gets 7 bytes at most, each write takes no more
 *     open:again      every other call ends with EINTR
 *     alloc:9:0       the ninth allocation gets nothing
 *
 * GCDUMPC_FAIL_REPORT names an existing file that gets numbers of 8 bytes: the calls of each kind
 * in the order of KINDS below, and how many of the wanted kind failed.  Calls made by the C library
 * itself (stdio) pass.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define SHORT_BYTES ((size_t)7)

enum kind {
    NONE,
    OPEN,
    READ,
    WRITE,
    SYNC,
    RENAME,
    TRUNCATE,
    MKDIR,
    CLOSE,
    STAT,
    LOCK,
    SEEK,
    MAP,
    SOCKET,
    SEND,
    RECV,
    THREAD,
    ALLOC,
    KINDS
};
static const char *const names[KINDS] = { "none",   "open",     "read",  "write",  "sync",
                                          "rename", "truncate", "mkdir", "close",  "stat",
                                          "lock",   "seek",     "map",   "socket", "send",
                                          "recv",   "thread",   "alloc" };

static enum kind wanted;
static bool shortened, again, all_behind;
static uint64_t fail_at;
static int fail_with;
static struct counts {
    atomic_ullong calls[KINDS], failed;
} unreported, *counts = &unreported;

/* Runs before main and uses no call of these kinds. */
__attribute__((constructor)) static void prepare(void)
{
    const char *how = getenv("GCDUMPC_FAIL"), *report = getenv("GCDUMPC_FAIL_REPORT");
    if (how == NULL || report == NULL)
        return;
    int fd = open(report, O_RDWR | O_CLOEXEC);
    void *shared = fd >= 0 ? mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                           : MAP_FAILED;
    if (shared == MAP_FAILED)
        abort();
    (void)close(fd);
    size_t n = strcspn(how, ":");
    enum kind k = NONE;
    for (unsigned i = NONE; i < KINDS; i++)
        if (strlen(names[i]) == n && memcmp(names[i], how, n) == 0)
            k = (enum kind)i;
    how += n + (how[n] == ':');
    shortened = strcmp(how, "short") == 0;
    again = strcmp(how, "again") == 0;
    if (!shortened && !again) {
        char *end;
        fail_at = strtoull(how, &end, 10);
        all_behind = *end == '+';
        end += all_behind;
        fail_with = *end == ':' ? atoi(end + 1) : 0;
    }
    counts = shared;
    wanted = k; /* armed */
}

/* Must this call of KIND fail?  If so, sets errno. */
static bool refused(enum kind kind)
{
    if (kind == NONE)
        return false;
    uint64_t n = atomic_fetch_add(&counts->calls[kind], 1) + 1;
    if (kind != wanted)
        return false;
    bool fail = again ? n % 2 == 1 : fail_at != 0 && (n == fail_at || (all_behind && n > fail_at));
    if (fail) {
        atomic_fetch_add(&counts->failed, 1);
        errno = again ? EINTR : kind == ALLOC ? ENOMEM : fail_with;
    }
    return fail;
}

static size_t most(enum kind kind, size_t n)
{
    return kind == wanted && shortened && n > SHORT_BYTES ? SHORT_BYTES : n;
}

/* Not for writes that wake up a thread or a loop (eventfd, a pipe of libuv): these cannot fail. */
static bool is_file(int fd)
{
    struct stat sb;
    return fstat(fd, &sb) == 0 &&
           (S_ISREG(sb.st_mode) || S_ISCHR(sb.st_mode) || S_ISSOCK(sb.st_mode));
}

/* The next definition after this one, as a pointer to a function of the same type. */
#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (next == NULL)              \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

#define PASS(kind, on_failure, type, name, parameters, arguments) \
    type name parameters;                                         \
    type name parameters                                          \
    {                                                             \
        NEXT(name);                                               \
        return refused(kind) ? (on_failure) : next arguments;     \
    }

PASS(READ, -1, ssize_t, read, (int fd, void *p, size_t n), (fd, p, most(READ, n)))
PASS(READ, -1, ssize_t, pread, (int fd, void *p, size_t n, off_t off), (fd, p, most(READ, n), off))
PASS(READ, -1, ssize_t, pread64, (int fd, void *p, size_t n, off64_t off),
     (fd, p, most(READ, n), off))
PASS(is_file(fd) ? WRITE : NONE, -1, ssize_t, write, (int fd, const void *p, size_t n),
     (fd, p, most(WRITE, n)))
PASS(WRITE, -1, ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t off),
     (fd, p, most(WRITE, n), off))
PASS(SYNC, -1, int, fsync, (int fd), (fd))
PASS(SYNC, -1, int, fdatasync, (int fd), (fd))
PASS(SYNC, -1, int, sync_file_range, (int fd, off64_t off, off64_t n, unsigned flags),
     (fd, off, n, flags))
PASS(RENAME, -1, int, rename, (const char *from, const char *to), (from, to))
PASS(RENAME, -1, int, renameat, (int from_fd, const char *from, int to_fd, const char *to),
     (from_fd, from, to_fd, to))
PASS(RENAME, -1, int, link, (const char *from, const char *to), (from, to))
PASS(RENAME, -1, int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
     (from_fd, from, to_fd, to, flags))
PASS(TRUNCATE, -1, int, ftruncate, (int fd, off_t n), (fd, n))
PASS(TRUNCATE, -1, int, ftruncate64, (int fd, off64_t n), (fd, n))
PASS(MKDIR, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
PASS(MKDIR, -1, int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
PASS(STAT, -1, int, stat64, (const char *path, struct stat64 *ret), (path, ret))
PASS(STAT, -1, int, lstat64, (const char *path, struct stat64 *ret), (path, ret))
PASS(STAT, -1, int, fstat64, (int fd, struct stat64 *ret), (fd, ret))
PASS(STAT, -1, int, fstatat64, (int fd, const char *path, struct stat64 *ret, int flags),
     (fd, path, ret, flags))
PASS(SOCKET, -1, int, socket, (int family, int type, int protocol), (family, type, protocol))
PASS(SOCKET, -1, int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))
PASS(SEND, -1, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
PASS(RECV, -1, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, most(RECV, n), flags))
PASS(LOCK, -1, int, flock, (int fd, int how), (fd, how))
PASS(SEEK, -1, off64_t, lseek64, (int fd, off64_t off, int from), (fd, off, from))
PASS(MAP, MAP_FAILED, void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off),
     (at, n, prot, flags, fd, off))
PASS(MAP, MAP_FAILED, void *, mmap64,
     (void *at, size_t n, int prot, int flags, int fd, off64_t off), (at, n, prot, flags, fd, off))

/* Returns its error instead of setting errno. */
int pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    NEXT(pthread_create);
    return refused(THREAD) ? errno : next(ret, attributes, run, arg);
}

/* The descriptor is closed even if close fails. */
int close(int fd)
{
    NEXT(close);
    int r = next(fd);
    return refused(CLOSE) ? -1 : r;
}

/* MODE exists only with some flags; on this ABI it can always be passed on. */
#define PASS_OPEN(name, parameters, arguments, last)                            \
    int name parameters;                                                        \
    int name parameters                                                         \
    {                                                                           \
        NEXT(name);                                                             \
        va_list ap;                                                             \
        va_start(ap, last);                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                                             \
        return refused(OPEN) ? -1 : next arguments;                             \
    }
PASS_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
PASS_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
PASS_OPEN(openat64, (int fd, const char *path, int flags, ...), (fd, path, flags, mode), flags)
PASS(OPEN, -1, int, mkostemp64, (char *name, int flags), (name, flags))

/* Bound directly: a look-up would allocate. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t n);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    return refused(ALLOC) ? NULL : __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
    return refused(ALLOC) ? NULL : __libc_calloc(count, n);
}

void *realloc(void *p, size_t n)
{
    return refused(ALLOC) ? NULL : __libc_realloc(p, n);
}
