/* Socket calls for which libuv has no safe form: paths of any length, and sending without SIGPIPE.
 */
#ifndef GCD_IPC_SOCK_H
#define GCD_IPC_SOCK_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

/* Connections that wait to be taken: Linux's own limit unless an administrator changes it.  musl's
 * SOMAXCONN is 128, soon filled by strangers. */
#define GCD_BACKLOG 4096

/*
 * Connect a non-blocking stream socket to PATH, of at most GCD_IPC_PATH_MAX - 1 bytes.  A path
 * through the root or current folder of a process is opened as by gcd_safe_open.  Returns the
 * descriptor (close-on-exec) or a negated errno.
 */
int gcd_sock_connect(const char *path);
/* The same for one path after the other: a socket that was not used up is kept in *UNUSED, which
 * begins as -1 and is closed by the caller. */
int gcd_sock_connect_next(const char *path, int *unused);

/* The same for exactly the socket that is open as SOCKET_FD (O_PATH), whatever its name now refers
 * to. */
int gcd_sock_connect_to(int socket_fd);

/* Bind the socket FD to the new file NAME in the open folder DIR_FD; PATH is the full path.  0 or a
 * negated errno. */
int gcd_sock_bind(int fd, int dir_fd, const char *name, const char *path);

/* gcd_sock_connect with a status, a reason and a message. */
GCD_MUST_CHECK gcd_status gcd_sock_open(const char *path, int *ret_fd, struct gcd_error *err);

/* Send all N bytes with one call and without SIGPIPE.  0 or a negated errno; EMSGSIZE when only a
 * part could be sent. */
int gcd_sock_send_whole(int fd, const uint8_t *bytes, size_t n);

/* The process that listens or connected at the other end; 0 when unknown, for example in a pid
 * namespace not visible here. */
uint32_t gcd_sock_peer_pid(int fd);

#endif
