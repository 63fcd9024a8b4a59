/*
 * The memory of another process, read while it runs or is stopped.  Linux only.
 */
#ifndef GCDUMPC_UNSTABLE_PROCESS_READER_H
#define GCDUMPC_UNSTABLE_PROCESS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

struct gcd_process_reader;

/*
 * Opens the memory of the process PID, which notices nothing of it; it needs the right to trace
 * that process.  If the process ends, or runs another program, nothing more can be read: never the
 * memory of its successor.  ALLOC may be NULL.  GCD_E_NOT_FOUND (NO_PROCESS); GCD_E_IO
 * (PERMISSION), with a message that says which right is missing; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_process_reader_new(uint32_t pid, const struct gcd_alloc *alloc,
                                                 struct gcd_process_reader **ret,
                                                 struct gcd_error *err);
void gcd_process_reader_free(struct gcd_process_reader *r);

/* Copies N bytes at ADDRESS.  Returns how many of them, from the first on, the process has. */
size_t gcd_process_read(const struct gcd_process_reader *r, uint64_t address, void *ret, size_t n);

/* May we read and stop the process PID?  Asks it for nothing.  The errors of
 * gcd_process_reader_new. */
GCD_MUST_CHECK gcd_status gcd_process_may_trace(uint32_t pid, struct gcd_error *err);

#endif
