/* The part of gcd_ipc_connections that tests use directly. */
#ifndef GCD_IPC_CONNECTIONS_H
#define GCD_IPC_CONNECTIONS_H

#include <stdint.h>

/* gcd_ipc_connections with PROC instead of "/proc". */
uint32_t gcd_connections_read(const char *proc, uint32_t pid, const char *socket_path);

#endif
