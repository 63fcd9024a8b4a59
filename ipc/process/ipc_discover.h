/* The parts of the socket search that tests use directly.  The entry point is gcd_ipc_find_socket.
 */
#ifndef GCD_IPC_DISCOVER_H
#define GCD_IPC_DISCOVER_H

#include <stdbool.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* gcd_ipc_find_socket with PROC instead of "/proc". */
GCD_MUST_CHECK gcd_status gcd_discover_socket(const char *proc, uint32_t pid,
                                              const char *own_tmpdir, char *ret_path,
                                              struct gcd_error *err);

/* For lists: also reports whether this process has a socket that the caller may not use. */
GCD_MUST_CHECK gcd_status gcd_discover_listed(const char *proc, uint32_t pid,
                                              const char *own_tmpdir, char *ret_path,
                                              bool *ret_foreign, struct gcd_error *err);

/* The PID in a name dotnet-diagnostic-[dsrouter-]PID-DIGITS-socket; 0 when NAME is not one. */
uint32_t gcd_discover_pid_of(const char *name);

#endif
