/*
 * Other users' files: opened without blocking, with random access.
 */
#ifndef GCDUMPC_UNSTABLE_REGULAR_FILE_H
#define GCDUMPC_UNSTABLE_REGULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct gcd_regular_file {
    uint64_t device, inode, bytes;
    /* since 1970: last change of its content; of its content, name, owner or mode */
    int64_t modified_ns, changed_ns;
    bool deleted; /* it no longer has a name */
};

/*
 * Opens the regular file PATH for gcd_input_read_at; does not decompress gzip.  A path through
 * "/proc/PID/root/" is resolved as the process PID would resolve it, and no link leads out of its
 * root folder.  Anything but a regular file with content is only examined, never opened, so pipes
 * do not block and devices have no side effects; the same for the files of /proc and /sys. ALLOC
 * and RET_FILE may be NULL. GCD_E_IO, with GCD_ERROR_NO_FILE if it does not exist; GCD_E_ARG: not a
 * regular file; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_input_open_regular(const char *path, const struct gcd_alloc *alloc,
                                                 struct gcd_input **ret,
                                                 struct gcd_regular_file *ret_file,
                                                 struct gcd_error *err);

#endif
