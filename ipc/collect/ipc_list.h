/* The parts of the process list that tests use directly.  The entry point is gcd_ipc_list. */
#ifndef GCD_IPC_LIST_H
#define GCD_IPC_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* gcd_ipc_list with PROC instead of "/proc" and SHARED_DIR instead of "/tmp". */
GCD_MUST_CHECK gcd_status gcd_list_processes(const char *proc, const char *shared_dir,
                                             const struct gcd_ipc_list_options *options,
                                             struct gcd_ipc_process_list *ret,
                                             struct gcd_error *err);

/* Is nothing to be learnt about the process PID?  It is then neither looked at nor asked. */
typedef bool (*gcd_list_known_fn)(void *ctx, uint32_t pid);
struct gcd_list_known {
    gcd_list_known_fn is_known;
    void *ctx;
};
/* The same for the processes that PROC shows and that are not known. */
GCD_MUST_CHECK gcd_status gcd_list_unknown(const char *proc,
                                           const struct gcd_ipc_list_options *options,
                                           const struct gcd_list_known *known,
                                           struct gcd_ipc_process_list *ret, struct gcd_error *err);

#endif
