/*
 * The socket calls libuv has no safe form of: paths of any length, and sending without SIGPIPE.
 */
#ifndef GCD_IPC_SOCK_H
#define GCD_IPC_SOCK_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/*
 * Connect a non-blocking stream socket to PATH, of at most GCD_IPC_PATH_MAX - 1 bytes; behind the root or current folder of a process
 * as gcd_safe_open.  Returns the descriptor (close-on-exec) or a negated errno.
 */
int gcd_sock_connect(const char *path);

/* The same to the very socket that is open as SOCKET_FD (O_PATH), whatever has its name by now. */
int gcd_sock_connect_to(int socket_fd);

/* Give the socket FD the NAME of a new file in the open folder DIR_FD, of which PATH is the path.  0 or a negated errno. */
int gcd_sock_bind(int fd, int dir_fd, const char *name, const char *path);

/* gcd_sock_connect with a status, a reason for programs and a message. */
GCD_MUST_CHECK gcd_status gcd_sock_open(const char *path, int *ret_fd, enum gcd_ipc_reason *ret_reason,
                                        struct gcd_error *err);

/* Send all N bytes with one call and without SIGPIPE.  0 or a negated errno; EMSGSIZE when only a part would go. */
int gcd_sock_send_whole(int fd, const uint8_t *bytes, size_t n);

/* Process that listens, or connected, at the other end; 0 when unknown, for example in a pid namespace not visible here. */
uint32_t gcd_sock_peer_pid(int fd);

#endif
