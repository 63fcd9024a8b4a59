/* gzip (RFC 1952) on top of zlib: several members in sequence, padding after the last one, constant memory. */
#ifndef GCD_IO_GUNZIP_H
#define GCD_IO_GUNZIP_H

#include <zlib.h>

#include <gcdumpc/alloc.h>

/* Makes zlib use A. */
void gcd_zlib_use_alloc(z_stream *z, const struct gcd_alloc *a);

struct gcd_gunzip {
    z_stream z;
    bool open;
    bool between_members;   /* a member has ended, the next one has not begun */
    bool damaged;           /* permanent: further results of zlib mean nothing */
    bool done;              /* the data after the last member is not gzip: ignored */
};

gcd_status gcd_gunzip_init(struct gcd_gunzip *g, const struct gcd_alloc *a, struct gcd_error *err);
void gcd_gunzip_done(struct gcd_gunzip *g);

/*
 * Decompress from IN (N bytes, *RET_USED of them consumed) into OUT (CAP bytes, *RET_MADE produced).  AT_END: no more input will come.
 * GCD_OK; GCD_END after the last member; GCD_E_TRUNCATED; GCD_E_FORMAT.
 */
gcd_status gcd_gunzip_step(struct gcd_gunzip *g, const uint8_t *in, size_t n, bool at_end, uint8_t *out, size_t cap,
                           size_t *ret_used, size_t *ret_made, struct gcd_error *err);

#endif
