/* The checksum that some of our formats carry: the CRC-32 of gzip. */
#ifndef GCD_IO_SINK_SUM_H
#define GCD_IO_SINK_SUM_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>

/* Continues SUM, at first 0, with N bytes. */
uint32_t gcd_sum(uint32_t sum, const void *bytes, size_t n);

/* Sums the bytes that are written to S from now on. */
void gcd_sink_sum_begin(struct gcd_sink *s);
/* The sum so far.  Bytes that were left out must have been filled, in order.  Meaningless once S
 * has failed. */
uint32_t gcd_sink_sum(struct gcd_sink *s);

#endif
