/* Bytes of an output that become known only after later ones have been written. */
#ifndef GCD_IO_SINK_HOLE_H
#define GCD_IO_SINK_HOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>

/*
 * Leaves out the next N bytes of S, which the caller must fill before the commit.  Works for files
 * that appear at their commit, without gzip.  False, with nothing done: this output is sequential,
 * or has no room for the bytes, which writing them will report.
 */
bool gcd_sink_leave(struct gcd_sink *s, uint64_t n);
/* Writes N bytes at AT, as gcd_sink_bytes counts them, where bytes were left out.  Errors as for
 * gcd_sink_write. */
void gcd_sink_fill(struct gcd_sink *s, uint64_t at, const void *bytes, size_t n);

#endif
