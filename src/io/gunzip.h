/* gzip (RFC 1952) on top of zlib: several members in sequence, padding after the last one, constant
 * memory. */
#ifndef GCD_IO_GUNZIP_H
#define GCD_IO_GUNZIP_H

#include <zlib.h>

#include <gcdumpc/alloc.h>

/* For libraries that free memory without its size, which A needs. */
void *gcd_sized_alloc(const struct gcd_alloc *a, size_t n);
void gcd_sized_free(const struct gcd_alloc *a, void *address);

/* Makes zlib use A. */
void gcd_zlib_use_alloc(z_stream *z, const struct gcd_alloc *a);

struct gcd_gunzip {
    z_stream z;
    bool open;
    bool between_members; /* a member has ended, the next one has not begun */
    bool damaged;         /* permanent: further results of zlib mean nothing */
    bool text_lines;      /* then: it looks as if a transfer as text has done it */
    bool done;            /* the data after the last member is not gzip: ignored */
};

gcd_status gcd_gunzip_init(struct gcd_gunzip *g, const struct gcd_alloc *a, struct gcd_error *err);
void gcd_gunzip_done(struct gcd_gunzip *g);

/* Input and output of a step of decompression. */
struct gcd_gunzip_io {
    const uint8_t *in;
    size_t in_bytes;
    bool at_end; /* no more input will come */
    uint8_t *out;
    size_t out_bytes;
    size_t used, made; /* results: how many bytes were consumed and produced */
};

/* Decompresses a part.  GCD_OK; GCD_END after the last member; GCD_E_TRUNCATED; GCD_E_FORMAT. */
gcd_status gcd_gunzip_step(struct gcd_gunzip *g, struct gcd_gunzip_io *io, struct gcd_error *err);

#endif
