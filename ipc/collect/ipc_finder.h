/* The part of gcd_ipc_finder that tests use directly. */
#ifndef GCD_IPC_FINDER_H
#define GCD_IPC_FINDER_H

#include <gcdumpc/unstable/ipc_watch.h>

/* gcd_ipc_finder_next with PROC instead of "/proc". */
GCD_MUST_CHECK gcd_status gcd_finder_next(struct gcd_ipc_finder *f, const char *proc,
                                          uint64_t now_ms,
                                          const struct gcd_ipc_list_options *options,
                                          struct gcd_ipc_process_list *ret, struct gcd_error *err);

#endif
