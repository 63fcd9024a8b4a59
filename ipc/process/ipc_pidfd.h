/*
 * A descriptor that becomes readable when a process ends: a pidfd or, where the kernel lacks it
 * (Linux before 5.3) or a container forbids it (seccomp), a timer that triggers a look into /proc.
 */
#ifndef GCD_IPC_PIDFD_H
#define GCD_IPC_PIDFD_H

#include <stdbool.h>
#include <stdint.h>

struct gcd_pidfd {
    int fd;     /* -1: nothing reports its end */
    bool ticks; /* it is a timer */
    uint32_t pid;
    uint64_t start_jiffies; /* start of the process, for a timer */
};

/* False when the process has already ended; P is then closed. */
bool gcd_pidfd_open(struct gcd_pidfd *p, uint32_t pid);

/* After the descriptor became readable: has the process ended? */
bool gcd_pidfd_ended(const struct gcd_pidfd *p);

void gcd_pidfd_close(struct gcd_pidfd *p);

#endif
