/*
 * Small blocks of deflate data without a header (RFC 1951), in memory.
 */
#ifndef GCD_IO_DEFLATED_H
#define GCD_IO_DEFLATED_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

/* Compresses N bytes to at most *RET_N, which becomes their number; 0 = they do not get so small.
 * GCD_E_NOMEM. */
gcd_status gcd_deflate_block(const struct gcd_alloc *a, const uint8_t *p, size_t n, uint8_t *ret,
                             size_t *ret_n, struct gcd_error *err);
/* Expands N bytes to exactly RET_N.  GCD_E_FORMAT, GCD_E_NOMEM. */
gcd_status gcd_inflate_block(const struct gcd_alloc *a, const uint8_t *p, size_t n, uint8_t *ret,
                             size_t ret_n, struct gcd_error *err);

#endif
