/* A listening socket of TCP. */
#ifndef GCD_IPC_TCP_H
#define GCD_IPC_TCP_H

#include <stdbool.h>

#include <gcdumpc/status.h>
#include <gcdumpc/unstable/ipc_target.h>

/* Listen at ADDRESS, as gcd_ipc_port_listen_tcp.  *RET_FD, non-blocking, belongs to the caller. */
GCD_MUST_CHECK gcd_status gcd_tcp_listen(const char *address, bool any_address,
                                         struct gcd_ipc_tcp_place *ret_place, int *ret_fd,
                                         struct gcd_error *err);

/* For an accepted connection: detects within half a minute that the peer has vanished silently,
 * such as a phone without power. */
void gcd_tcp_watch(int fd);

/* Does ERRNO_ from accept mean only that this connection is broken? */
bool gcd_tcp_is_of_connection(int errno_);

#endif
