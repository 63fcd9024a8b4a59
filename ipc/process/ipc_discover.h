/* The parts of the socket search that tests use directly.  The entry point is gcd_ipc_find_socket.
 */
#ifndef GCD_IPC_DISCOVER_H
#define GCD_IPC_DISCOVER_H

#include <stdbool.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#include "ipc/process/ipc_connections.h"
#include "ipc/process/ipc_procfs.h"

/* gcd_ipc_find_socket with PROC instead of "/proc". */
GCD_MUST_CHECK gcd_status gcd_discover_socket(const char *proc, uint32_t pid,
                                              const char *own_tmpdir, char *ret_path,
                                              struct gcd_error *err);

/* What searches for many processes read once: folders and who listens.  Zero it and set both
 * ALLOC. */
struct gcd_discover_once {
    struct gcd_alloc alloc;
    struct gcd_discover_folder *folders; /* [count] */
    size_t count, room;
    struct gcd_listeners listeners;
};
void gcd_discover_done(struct gcd_discover_once *o);

/* For lists: the socket of TARGET.  Also reports whether this process has one that the caller may
 * not use. */
GCD_MUST_CHECK gcd_status gcd_discover_listed(const char *proc,
                                              const struct gcd_procfs_target *target,
                                              const char *own_tmpdir,
                                              struct gcd_discover_once *once, char *ret_path,
                                              bool *ret_foreign);

/* The PID in a name dotnet-diagnostic-[dsrouter-]PID-DIGITS-socket; 0 when NAME is not one. */
uint32_t gcd_discover_pid_of(const char *name);

#endif
