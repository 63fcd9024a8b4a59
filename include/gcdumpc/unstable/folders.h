/*
 * Folders and paths opened without following untrusted links; leftovers of killed processes.
 */
#ifndef GCDUMPC_UNSTABLE_FOLDERS_H
#define GCDUMPC_UNSTABLE_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

/*
 * Opens the folder PATH for openat and the like (O_PATH).  Does not follow links that neither root
 * nor this user owns: GCD_E_IO, with ENOTDIR as os_errno.  The caller closes *RET_FD.
 */
GCD_MUST_CHECK gcd_status gcd_folder_open(const char *path, int *ret_fd, struct gcd_error *err);

/* The same for the parent folder of PATH: the part before its last slash, or the current folder. */
GCD_MUST_CHECK gcd_status gcd_folder_open_parent(const char *path, int *ret_fd,
                                                 struct gcd_error *err);

/* Opens the file PATH for reading in the same way, without waiting for the writer of a pipe. */
GCD_MUST_CHECK gcd_status gcd_path_open(const char *path, int *ret_fd, struct gcd_error *err);

/*
 * Do the open folder DIR_FD and all its parents belong to root or this user, and can nobody else
 * replace one of them?  In any other folder remove nothing by name, because others control what has
 * the name.
 */
bool gcd_folder_is_ours(int dir_fd);

/*
 * Removes from the open folder DIR_FD the temporary outputs of killed processes of this user, as
 * gcd_sink_open and gcd_staged_open do in their folders.  Removes nothing unless
 * gcd_folder_is_ours, and only files that cannot be anything else.  Returns how many were removed;
 * a failed removal is ignored.
 */
uint64_t gcd_sink_sweep(int dir_fd);

/*
 * The name of the temporary file, valid as long as the sink; "" without one.  For a signal handler
 * that must leave nothing behind.
 */
const char *gcd_sink_temporary(const struct gcd_sink *s);

#endif
