/* The part of gcd_ipc_silence that tests use directly. */
#ifndef GCD_IPC_SILENCE_H
#define GCD_IPC_SILENCE_H

#include <gcdumpc/unstable/ipc_target.h>

/* gcd_ipc_silence with PROC instead of "/proc". */
bool gcd_silence_read(const char *proc, uint32_t pid, char *ret, size_t cap);

#endif
