/*
 * Calculates how much memory a process has, and how much more it can get: the limits of its cgroup
 * and of every enclosing cgroup, and the memory of the machine.
 */
#include "ipc/process/ipc_memory.h"

#include <gcdumpc/unstable/ipc_target.h>

#include "ipc/process/ipc_cgroup.h"
#include "ipc/process/ipc_procfs.h"

uint64_t gcd_memory_of_machine(const char *proc, const char *key)
{
    uint64_t kib = gcd_procfs_key(proc, "meminfo", key);
    return kib < UINT64_MAX / 2048 ? kib * 1024 : 0;
}

void gcd_memory_read(const char *proc, uint32_t pid, struct gcd_ipc_memory *ret)
{
    struct gcd_procfs_facts facts;
    *ret = (struct gcd_ipc_memory){ .room_bytes = UINT64_MAX };
    uint64_t available = gcd_memory_of_machine(proc, "MemAvailable");
    if (available > 0) {
        ret->room_bytes = available;
        ret->limit = GCD_IPC_LIMIT_MACHINE;
    }
    ret->machine_bytes =
        gcd_memory_of_machine(proc, "MemTotal") + gcd_memory_of_machine(proc, "SwapTotal");
    if (pid == 0)
        return;
    if (gcd_procfs_facts(proc, pid, &facts)) {
        ret->rss_bytes = facts.rss_bytes;
        ret->away_bytes = facts.away_bytes;
    }
    struct gcd_cgroup cgroup;
    gcd_cgroup_find(proc, pid, &cgroup);
    ret->cgroup_limit_bytes = cgroup.limit_bytes;
    ret->cgroup_used_bytes = cgroup.used_bytes;
    if (cgroup.room_bytes < ret->room_bytes) {
        ret->room_bytes = cgroup.room_bytes;
        ret->limit = GCD_IPC_LIMIT_CGROUP;
    }
}

void gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret)
{
    gcd_memory_read("/proc", pid, ret);
}

uint64_t gcd_ipc_resident(uint32_t pid)
{
    struct gcd_procfs_facts facts;
    return gcd_procfs_facts("/proc", pid, &facts) ? facts.rss_bytes : 0;
}

bool gcd_ipc_stopped(uint32_t pid)
{
    struct gcd_procfs_facts facts;
    return gcd_procfs_facts("/proc", pid, &facts) && facts.stopped;
}

bool gcd_ipc_server_gc(uint32_t pid)
{
    /* the runtime's name for them, .NET 5 to 10 */
    return gcd_procfs_has_thread("/proc", pid, ".NET Server GC");
}

bool gcd_ipc_is_composite(uint32_t pid)
{
    return gcd_procfs_is_composite("/proc", pid);
}
