/*
 * A socket of ours to which runtimes connect: the reverse of a diagnostic port, as a file, a table of connections and the
 * runtime chosen among them.  No libuv: everything hangs on one epoll descriptor, which a loop can wait for (ipc_dial).
 *
 * A runtime connects, says who it is and waits for one request; it connects anew when it has served that (measured, .NET 8 to 10).
 * It does not mind waiting, so the connections of those that are not wanted are just kept: closed, they would come again at once.
 */
#ifndef GCD_IPC_PORT_H
#define GCD_IPC_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* Readable when something has happened that gcd_port_serve wants to see. */
int gcd_port_fd(const struct gcd_ipc_port *port);

/*
 * Accept, read, drop what is broken, without blocking.  GCD_E_IO: the port is of no more use.  GCD_E_PEER when the chosen
 * runtime has ended; then it stays so.
 */
GCD_MUST_CHECK gcd_status gcd_port_serve(struct gcd_ipc_port *port, struct gcd_error *err);

/* The oldest waiting connection of the chosen runtime, now the caller's; -1 when there is none. */
int gcd_port_take(struct gcd_ipc_port *port);

/* For tests: how long a connection may take to say who it is; 5000 otherwise. */
void gcd_port_set_patience(struct gcd_ipc_port *port, uint64_t ms);

#endif
