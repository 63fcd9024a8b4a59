/* The cgroup that limits the memory of a process. */
#ifndef GCD_IPC_CGROUP_H
#define GCD_IPC_CGROUP_H

#include <stdint.h>

#include <gcdumpc/ipc.h>

enum gcd_cgroup_version { GCD_CGROUP_1, GCD_CGROUP_2 };

struct gcd_cgroup {
    enum gcd_cgroup_version version;  /* of FOLDER */
    char folder[GCD_IPC_PATH_MAX];    /* "" = none has a limit */
    uint64_t room_bytes;              /* how much it can still grow; UINT64_MAX without a limit */
    uint64_t limit_bytes, used_bytes; /* without files that the kernel can drop */
    uint64_t usage_bytes;             /* with them, as the kernel counts it */
    /* of the cgroup of version 2 that the process itself is in; "" = none */
    char pressure[GCD_IPC_PATH_MAX];
};

/* Finds, of the cgroup of PID and all that enclose it, the one with the least room. */
void gcd_cgroup_find(const char *proc, uint32_t pid, struct gcd_cgroup *ret);
/* Reads the figures of that cgroup again. */
void gcd_cgroup_read(struct gcd_cgroup *c);

#endif
