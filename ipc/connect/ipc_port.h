/*
 * Our own socket, to which runtimes connect (a reverse diagnostic port): its file, its connections
 * and the chosen runtime.  No libuv: one epoll descriptor covers everything, and a loop can wait
 * for it (ipc_dial).
 *
 * A runtime connects, identifies itself and waits for one request; after serving it, it connects
 * again (measured, .NET 8 to 10).  Waiting does not harm it, so unwanted connections are simply
 * kept: if closed, they would come back at once.
 */
#ifndef GCD_IPC_PORT_H
#define GCD_IPC_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* Readable when gcd_port_serve has something to do. */
int gcd_port_fd(const struct gcd_ipc_port *port);

/*
 * Accept, read and drop broken connections without blocking.  GCD_E_IO: the port is unusable.
 * GCD_E_PEER: the chosen runtime has ended; this is permanent.
 */
GCD_MUST_CHECK gcd_status gcd_port_serve(struct gcd_ipc_port *port, struct gcd_error *err);

/* The oldest waiting connection of the chosen runtime, now owned by the caller; -1 when there is
 * none. */
int gcd_port_take(struct gcd_ipc_port *port);

/* For tests: how long a connection may take to identify itself; 5000 by default. */
void gcd_port_set_patience(struct gcd_ipc_port *port, uint64_t ms);

#endif
