/* Not in test_support: it replaces functions of the C library for the whole program, under all
 * names that a build may use. */
#include "support/meanwhile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static meanwhile_hook hook;
static bool telling;

void meanwhile(meanwhile_hook to)
{
    hook = to;
}

static void tell(enum meanwhile_call call, const char *name, int flags)
{
    if (hook == NULL || telling)
        return;
    telling = true;
    hook(call, name, flags);
    telling = false;
}

#ifndef __O_TMPFILE /* musl's constant has an extra bit, which must not count */
#define __O_TMPFILE (O_TMPFILE & ~O_DIRECTORY)
#endif

#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (next == NULL)              \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

#define PASS(call, at, flags, name, parameters, arguments) \
    int name parameters;                                   \
    int name parameters                                    \
    {                                                      \
        NEXT(name);                                        \
        tell(call, at, flags);                             \
        return next arguments;                             \
    }

#define PASS_OPEN(name)                                                                \
    int name(int fd, const char *path, int flags, ...);                                \
    int name(int fd, const char *path, int flags, ...)                                 \
    {                                                                                  \
        NEXT(name);                                                                    \
        va_list ap;                                                                    \
        va_start(ap, flags);                                                           \
        mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                                                    \
        tell(MEANWHILE_OPEN, path, flags);                                             \
        return next(fd, path, flags, mode);                                            \
    }

PASS_OPEN(openat)
PASS(MEANWHILE_STAT, path, flags, fstatat, (int fd, const char *path, struct stat *ret, int flags),
     (fd, path, ret, flags))
PASS(MEANWHILE_RENAME, from, 0, renameat,
     (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to))
PASS(MEANWHILE_LINK, from, flags, linkat,
     (int from_fd, const char *from, int to_fd, const char *to, int flags),
     (from_fd, from, to_fd, to, flags))
PASS(MEANWHILE_UNLINK, path, flags, unlinkat, (int fd, const char *path, int flags),
     (fd, path, flags))
#ifdef __GLIBC__
PASS_OPEN(openat64)
PASS(MEANWHILE_OPEN, path, flags, __openat_2, (int fd, const char *path, int flags),
     (fd, path, flags))
PASS(MEANWHILE_OPEN, path, flags, __openat64_2, (int fd, const char *path, int flags),
     (fd, path, flags))
PASS(MEANWHILE_STAT, path, flags, fstatat64,
     (int fd, const char *path, struct stat64 *ret, int flags), (fd, path, ret, flags))
#endif
