/* Text and numbers formatted directly in the memory of a sink. */
#ifndef GCDUMPC_UNSTABLE_IO_SINK_ROOM_H
#define GCDUMPC_UNSTABLE_IO_SINK_ROOM_H

#include <stddef.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

/* The largest N of gcd_sink_reserve. */
#define GCD_SINK_RESERVE_MAX ((size_t)65536)

/*
 * Returns room for N <= GCD_SINK_RESERVE_MAX bytes, never NULL; format into it, and
 * gcd_sink_advance then writes the first N of them.  For hot loops.
 */
char *gcd_sink_reserve(struct gcd_sink *s, size_t n);
void gcd_sink_advance(struct gcd_sink *s, size_t n);

#endif
