/*
 * Opening a file by a name of which others may change parts meanwhile: the way to it is gone one component after the other, from one open
 * folder to the next, so that what was looked at is what is opened.
 */
#ifndef GCD_BASE_WAY_H
#define GCD_BASE_WAY_H

#include <stdbool.h>
#include <sys/stat.h>

/* Is a link, pipe or device neither root's nor this user's?  Where everybody may write, anybody can put one under any name. */
bool gcd_way_is_planted(const struct stat *st);

/* Does PATH contain "/proc/PID/root/" or "/proc/PID/cwd/"? */
bool gcd_way_is_inside(const char *path);

/*
 * As open(2) of PATH with FLAGS, close-on-exec.  A PATH that is inside is gone as that process would: what
 * comes behind leads nowhere outside of its root folder, whatever links there say and however they change; -EXDEV when ".." leaves its
 * current folder, of which the parent is not known.  And no devices or pipes are opened there, but with O_PATH.
 * RET_PLANTED not NULL: links that another user has made (gcd_way_is_planted) are not followed anywhere on the way: *RET_PLANTED is then set,
 * and the answer is -EACCES.
 * A descriptor or a negated errno.  FLAGS must not be for making files.
 */
int gcd_way_open(const char *path, int flags, bool *ret_planted);

/*
 * Do the folder that is open as DIR_FD, and all folders that it is in, belong to root or this user, and can nobody else put another one into its
 * place?  What is found in such a folder was put there by somebody who may.  False also when that cannot be seen.
 */
bool gcd_way_is_ours(int dir_fd);

/* The last component of PATH; "" behind a slash at the end. */
const char *gcd_way_name(const char *path);

/* As gcd_way_open with O_PATH of the folder that PATH is in: what is before its gcd_way_name, or the current one. */
int gcd_way_open_parent(const char *path, bool *ret_planted);

#endif
