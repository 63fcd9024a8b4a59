/*
 * Names inside the root directory of another process.
 */
#ifndef GCD_IPC_ROOT_H
#define GCD_IPC_ROOT_H

#include <stddef.h>

/*
 * Where PATH, as a process sees it, lies for us: a name below ROOT (/proc/PID/root) in which no component behind ROOT is a
 * symbolic link; links are read here and stay inside, as chroot would have it.  START: where a relative PATH begins (/proc/PID/cwd).
 * RET[CAP] has no slash at its end.  0 or a negated errno; ELOOP; EXDEV when ".." leaves START, of which the parent is not known.
 * A process that changes its links at this very moment can win the race.
 */
int gcd_root_resolve(const char *root, const char *start, const char *path, char *ret, size_t cap);

#endif
