/*
 * Files that others own: opened without waiting for anything, and read at any place.
 */
#ifndef GCDUMPC_UNSTABLE_REGULAR_FILE_H
#define GCDUMPC_UNSTABLE_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gcd_regular_file {
    uint64_t device, inode, bytes;
    int64_t modified_ns, changed_ns;     /* since 1970: of its content; of its content, name, owner or mode */
    bool deleted;                        /* it has no name any more */
};

/*
 * Opens the regular file PATH for gcd_input_read_at; gzip is not undone.  A path through "/proc/PID/root/" is resolved as the process PID would
 * resolve it, and no link leads out of its root folder.  Anything but a regular file with content is looked at but never opened, so a pipe
 * blocks nothing and a device notices nothing; the same for the files of /proc and /sys.
 * ALLOC and RET_FILE may be NULL.
 * GCD_E_IO, with GCD_ERROR_NO_FILE when there is none; GCD_E_ARG: it is something else; GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_input_open_regular(const char *path, const struct gcd_alloc *alloc, struct gcd_input **ret,
                                                         struct gcd_regular_file *ret_file, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
