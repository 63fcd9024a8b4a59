/* Bytes of an output that are known only when later ones have been written. */
#ifndef GCD_IO_SINK_HOLE_H
#define GCD_IO_SINK_HOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>

/*
 * Leaves out the next N bytes of S, which the caller fills before the commit.  False, with nothing done: this output takes bytes only one after
 * another, or has no room for them, which writing them will report.  Works for files that appear when they are committed, without gzip.
 */
bool gcd_sink_leave(struct gcd_sink *s, uint64_t n);
/* Writes N bytes at AT, as gcd_sink_bytes counts them, where bytes were left out.  Errors as for gcd_sink_write. */
void gcd_sink_fill(struct gcd_sink *s, uint64_t at, const void *bytes, size_t n);

#endif
