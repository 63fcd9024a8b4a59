/* The part of gcd_ipc_connections that tests use directly. */
#ifndef GCD_IPC_CONNECTIONS_H
#define GCD_IPC_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/* Who listens at sockets of diagnostics in the network namespaces that were asked for, each read
 * once.  Zero it and set ALLOC. */
struct gcd_listeners {
    struct gcd_alloc alloc;
    struct gcd_listeners_there *items; /* [count], a network namespace each */
    size_t count, room;
};
void gcd_listeners_done(struct gcd_listeners *l);

/* Does somebody in the network namespace of PID listen at a socket of diagnostics with this file
 * name, as PROC/PID/net/unix says, although the file may be gone?  RET[CAP]: its path.  False when
 * that is unknown, too. */
bool gcd_listeners_have(struct gcd_listeners *l, const char *proc, uint32_t pid, const char *name,
                        char *ret, size_t cap);
/* Is there one whose name has INNER_PID, or is that unknown? */
bool gcd_listeners_may_have(struct gcd_listeners *l, const char *proc, uint32_t pid,
                            uint32_t inner_pid);
/* gcd_ipc_connections with PROC instead of "/proc". */
uint32_t gcd_connections_read(const char *proc, uint32_t pid, const char *socket_path);

#endif
