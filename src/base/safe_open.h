/*
 * Opens a file by a path that others may change at the same time.  Walks the path one component at
 * a time, from one open folder to the next, so the file that was checked is the file that is
 * opened.
 */
#ifndef GCD_BASE_SAFE_OPEN_H
#define GCD_BASE_SAFE_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

/* True for a link, pipe or device that belongs neither to root nor to this user: anybody can create
 * one in a folder writable by all. */
bool gcd_is_untrusted_link(const struct stat *st);

/* True if PATH contains "/proc/PID/root/" or "/proc/PID/cwd/": it names a file in the root of a
 * process. */
bool gcd_is_in_process_root(const char *path);

/*
 * Opens PATH with FLAGS as open(2) does, close-on-exec.  FLAGS must not create a file.  A path in
 * the root of a process is resolved as that process would resolve it: no link leads out of its root
 * folder, even if links change meanwhile.  ".." above its current folder fails with -EXDEV, because
 * the parent is unknown.  Devices and pipes are opened there with O_PATH only. RET_UNTRUSTED not
 * NULL: follows no untrusted link (gcd_is_untrusted_link); on meeting one, sets *RET_UNTRUSTED to
 * true and returns -EACCES.
 *
 * Returns a descriptor or a negated errno.
 */
int gcd_safe_open(const char *path, int flags, bool *ret_untrusted);

/*
 * True if the open folder DIR_FD and every folder above it belong to root or to this user, and
 * nobody else can replace one of them: only trusted users can have put anything there.  False also
 * if this cannot be determined.
 */
bool gcd_folder_fd_is_ours(int dir_fd);

/* The last component of PATH; "" after a trailing slash. */
const char *gcd_path_name(const char *path);
/* gcd_safe_open with O_PATH of the folder that contains PATH: whatever precedes gcd_path_name, or
 * the current folder. */
int gcd_safe_open_parent(const char *path, bool *ret_untrusted);

#endif
