/* A listening socket of TCP. */
#ifndef GCD_IPC_TCP_H
#define GCD_IPC_TCP_H

#include <stdbool.h>

#include <gcdumpc/status.h>
#include <gcdumpc/unstable/ipc_target.h>

/* Listen at ADDRESS, as gcd_ipc_port_listen_tcp.  *RET_FD, non-blocking, belongs to the caller. */
GCD_MUST_CHECK gcd_status gcd_tcp_listen(const char *address, bool any_address, struct gcd_ipc_tcp_place *ret_place, int *ret_fd,
                                         struct gcd_error *err);

/* A peer that has vanished without a word, such as a phone without power, is noticed within half a minute.  For an accepted connection. */
void gcd_tcp_watch(int fd);

/* Does ERRNO_ of accept only say that this connection is broken? */
bool gcd_tcp_is_of_connection(int errno_);

#endif
