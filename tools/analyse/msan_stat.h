/*
 * Included first in a build for MemorySanitizer: that of clang 14 does not know the names that glibc 2.33 has given to stat and its kin, and
 * takes what the kernel has written for uninitialized.
 */
#ifndef MSAN_STAT_H
#define MSAN_STAT_H

#include <sanitizer/msan_interface.h>
#include <sys/stat.h>

static inline int msan_stat_known(int result, struct stat *st)
{
    if (result == 0)
        __msan_unpoison(st, sizeof *st);
    return result;
}

#define stat(path, st) msan_stat_known(stat(path, st), st)
#define lstat(path, st) msan_stat_known(lstat(path, st), st)
#define fstat(fd, st) msan_stat_known(fstat(fd, st), st)
#define fstatat(fd, path, st, flags) msan_stat_known(fstatat(fd, path, st, flags), st)

#endif
