/* The parts of the process list that tests use directly.  The entry point is gcd_ipc_list. */
#ifndef GCD_IPC_LIST_H
#define GCD_IPC_LIST_H

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* gcd_ipc_list with PROC instead of "/proc" and SHARED_DIR instead of "/tmp". */
GCD_MUST_CHECK gcd_status gcd_list_processes(const char *proc, const char *shared_dir,
                                             const struct gcd_ipc_list_options *options,
                                             struct gcd_ipc_process_list *ret,
                                             struct gcd_error *err);

#endif
