/* The parts of gcd_ipc_memory that tests use directly. */
#ifndef GCD_IPC_MEMORY_H
#define GCD_IPC_MEMORY_H

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

/* gcd_ipc_memory with PROC instead of "/proc". */
void gcd_memory_read(const char *proc, uint32_t pid, struct gcd_ipc_memory *ret);

#endif
