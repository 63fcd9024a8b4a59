/* The parts of gcd_ipc_mappings_new that tests use directly. */
#ifndef GCD_IPC_MAPPINGS_H
#define GCD_IPC_MAPPINGS_H

#include <gcdumpc/unstable/ipc_target.h>

/* More than any process has; further ones are not counted, and the GC's part is then unknown. */
#define GCD_MAPPINGS_MAX ((size_t)1 << 18)

/* The same with PROC instead of "/proc". */
GCD_MUST_CHECK gcd_status gcd_mappings_read(const char *proc, uint32_t pid,
                                            const struct gcd_alloc *alloc,
                                            struct gcd_ipc_mappings **ret, struct gcd_error *err);
/* gcd_ipc_heap_most with PROC instead of "/proc". */
uint64_t gcd_mappings_heap_most(const char *proc, uint32_t pid);

#endif
