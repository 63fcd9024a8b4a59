/*
 * The parts of the search for a socket that tests look at.  The entrance is gcd_ipc_find_socket.
 */
#ifndef GCD_IPC_DISCOVER_H
#define GCD_IPC_DISCOVER_H

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* gcd_ipc_find_socket with PROC for "/proc". */
GCD_MUST_CHECK gcd_status gcd_discover_socket(const char *proc, uint32_t pid, const char *own_tmpdir, char *ret_path,
                                              enum gcd_ipc_reason *ret_reason, struct gcd_error *err);

#endif
