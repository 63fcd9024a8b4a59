/* The parts of gcd_ipc_memory that tests and ipc_watch use directly. */
#ifndef GCD_IPC_MEMORY_H
#define GCD_IPC_MEMORY_H

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

/* gcd_ipc_memory with PROC instead of "/proc". */
void gcd_memory_read(const char *proc, uint32_t pid, struct gcd_ipc_memory *ret);
/* The bytes of KEY in PROC/meminfo; 0 if the value is missing or invalid. */
uint64_t gcd_memory_of_machine(const char *proc, const char *key);

#endif
