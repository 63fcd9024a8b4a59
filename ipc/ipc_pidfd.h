/*
 * The end of a process as a descriptor that becomes readable: a pidfd, or, where the kernel has none (Linux before 5.3) or a container
 * forbids it (seccomp), a clock at whose ticks we look into /proc.
 */
#ifndef GCD_IPC_PIDFD_H
#define GCD_IPC_PIDFD_H

#include <stdbool.h>
#include <stdint.h>

struct gcd_pidfd {
    int fd;                  /* -1: nothing tells that it has ended */
    bool ticks;              /* a clock */
    uint32_t pid;
    uint64_t start_jiffies;  /* of the process, for a clock */
};

/* False when the process has ended already; P is closed then. */
bool gcd_pidfd_open(struct gcd_pidfd *p, uint32_t pid);

/* When the descriptor is readable: has the process ended? */
bool gcd_pidfd_ended(const struct gcd_pidfd *p);

void gcd_pidfd_close(struct gcd_pidfd *p);

#endif
