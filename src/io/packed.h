/*
 * An output in memory that is compressed: after the commit gcd_sink_memory has the gzip data.
 */
#ifndef GCD_IO_PACKED_H
#define GCD_IO_PACKED_H

#include <gcdumpc/io.h>

/* As gcd_sink_new_memory.  Before the commit gcd_sink_memory has what is compressed so far, up to 400 KiB less than was written. */
GCD_MUST_CHECK gcd_status gcd_sink_new_packed(const struct gcd_alloc *alloc, struct gcd_sink **ret, struct gcd_error *err);

#endif
