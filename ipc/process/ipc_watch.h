/* The part of gcd_ipc_watch that tests use directly. */
#ifndef GCD_IPC_PROCESS_WATCH_H
#define GCD_IPC_PROCESS_WATCH_H

#include <gcdumpc/unstable/ipc_watch.h>

/* gcd_ipc_watch_new with PROC instead of "/proc"; PROC must outlive the result. */
GCD_MUST_CHECK gcd_status gcd_watch_new(const char *proc, uint32_t pid,
                                        const struct gcd_alloc *alloc, struct gcd_ipc_watch **ret,
                                        struct gcd_error *err);

#endif
