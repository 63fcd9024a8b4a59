/* The part of gcd_ipc_connections that tests use directly. */
#ifndef GCD_IPC_CONNECTIONS_H
#define GCD_IPC_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does somebody in the network namespace of PID listen at a socket with this file name, as
 * PROC/PID/net/unix says, although the file may be gone?  RET[CAP]: its path. */
bool gcd_connections_listens(const char *proc, uint32_t pid, const char *name, char *ret,
                             size_t cap);
/* gcd_ipc_connections with PROC instead of "/proc". */
uint32_t gcd_connections_read(const char *proc, uint32_t pid, const char *socket_path);

#endif
