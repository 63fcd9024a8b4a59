/*
 * Included first in a build for MemorySanitizer, for calls that it does not know: it would treat
 * memory written by the kernel as uninitialized. clang 14's does not know the names that glibc 2.33
 * has given to stat and related functions.  No version knows that mremap moves initialized memory.
 */
#ifndef MSAN_CALLS_H
#define MSAN_CALLS_H

#include <sanitizer/msan_interface.h>
#include <sys/mman.h>
#include <sys/stat.h>

static inline int msan_stat_known(int result, struct stat *st)
{
    if (result == 0)
        __msan_unpoison(st, sizeof *st);
    return result;
}

static inline void *msan_map_known(void *at, size_t bytes)
{
    if (at != MAP_FAILED)
        __msan_unpoison(at, bytes);
    return at;
}

#define stat(path, st)               msan_stat_known(stat(path, st), st)
#define lstat(path, st)              msan_stat_known(lstat(path, st), st)
#define fstat(fd, st)                msan_stat_known(fstat(fd, st), st)
#define fstatat(fd, path, st, flags) msan_stat_known(fstatat(fd, path, st, flags), st)
#define mremap(at, old_bytes, new_bytes, flags) \
    msan_map_known(mremap(at, old_bytes, new_bytes, flags), new_bytes)

#endif
