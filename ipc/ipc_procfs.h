/*
 * What /proc tells about a process that may have a diagnostic socket.
 */
#ifndef GCD_IPC_PROCFS_H
#define GCD_IPC_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

struct gcd_procfs_target {
    uint32_t pid;                  /* as the caller sees it */
    uint32_t inner_pid;            /* as the process sees itself; stands in the name of its socket */
    bool nested;                   /* the process is in a pid namespace below the caller's */
    uint64_t start_jiffies;        /* the key in the name of the socket */
    bool env_known;                /* its environment could be read */
    char tmpdir[GCD_IPC_PATH_MAX]; /* its TMPDIR; empty when unset, or !env_known */
};

/*
 * Read PROC/PID/{stat,status,environ}.  GCD_E_NOT_FOUND when there is no such process, it has ended, or PID is a
 * thread; GCD_E_IO; GCD_E_FORMAT.  An environment that cannot be read is not an error.
 */
GCD_MUST_CHECK gcd_status gcd_procfs_read(const char *proc, uint32_t pid, struct gcd_procfs_target *ret,
                                          enum gcd_ipc_reason *ret_reason, struct gcd_error *err);

#endif
