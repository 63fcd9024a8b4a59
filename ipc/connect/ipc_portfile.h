/* The file of a listening socket: it exists exactly while the socket listens. */
#ifndef GCD_IPC_PORTFILE_H
#define GCD_IPC_PORTFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

struct gcd_portfile {
    char path[GCD_IPC_PATH_MAX];
    int dir_fd; /* its folder; -1 = not open */
    dev_t dev;
    ino_t ino;
    bool there; /* the file exists and is ours */
};

/*
 * Make the socket FD listen at F->path; F->dir_fd must be -1.  Opens its folder once, without
 * following untrusted links.  Replaces a socket of this user that nobody listens on.  GCD_E_IO: see
 * gcd_ipc_port_listen.
 */
GCD_MUST_CHECK gcd_status gcd_portfile_listen(struct gcd_portfile *f, int fd,
                                              struct gcd_error *err);
/* May be called repeatedly.  Another user's or program's file stays. */
void gcd_portfile_remove(struct gcd_portfile *f);

#endif
