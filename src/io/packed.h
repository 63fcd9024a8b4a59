/*
 * A compressed output in memory: after the commit gcd_sink_memory returns the gzip data.
 */
#ifndef GCD_IO_PACKED_H
#define GCD_IO_PACKED_H

#include <gcdumpc/io.h>

/* As gcd_sink_new_memory.  Before the commit, gcd_sink_memory returns what is compressed so far; up
 * to 400 KiB of input may be missing. */
GCD_MUST_CHECK gcd_status gcd_sink_new_packed(const struct gcd_alloc *alloc, struct gcd_sink **ret,
                                              struct gcd_error *err);

#endif
