/*
 * Deflate data without a header (RFC 1951) in a part of an input.
 */
#ifndef GCD_IO_INFLATE_H
#define GCD_IO_INFLATE_H

#include <gcdumpc/io.h>

struct gcd_inflate_part {
    uint64_t off, stored, bytes;
};

/*
 * Expand STORED bytes of IN from OFF on to BYTES bytes, and append these to SPOOL
 * (gcd_input_new_spool).  GCD_E_FORMAT: the data are damaged or expand to a different number of
 * bytes (never produces more than BYTES); GCD_E_TRUNCATED: IN ends early.
 */
gcd_status gcd_inflate_append(struct gcd_input *in, struct gcd_inflate_part part,
                              struct gcd_input *spool, const struct gcd_alloc *alloc,
                              struct gcd_error *err);

#endif
