#include "io/inflate.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/gunzip.h"

#include <gcdumpc/unstable/spool.h>

#define PIECE_BYTES ((size_t)64 * 1024)

struct inflating {
    z_stream z;
    uint8_t stored[PIECE_BYTES], plain[PIECE_BYTES];
};

/* Expands one more piece, up to PART->bytes in all; GCD_END when the data mark their end. */
static gcd_status step(struct inflating *f, struct gcd_input *spool,
                       const struct gcd_inflate_part *part, struct gcd_error *err)
{
    uint64_t left = part->bytes - f->z.total_out;
    f->z.next_out = f->plain;
    /* one byte too many is noticed */
    f->z.avail_out = left < PIECE_BYTES ? (unsigned)left + 1 : (unsigned)PIECE_BYTES;
    int z = inflate(&f->z, Z_NO_FLUSH);
    size_t made = (size_t)(f->z.next_out - f->plain);
    if (z == Z_MEM_ERROR)
        return gcd_fail_nomem(err, "reading compressed data");
    if ((z != Z_OK && z != Z_STREAM_END && z != Z_BUF_ERROR) || made > left)
        return gcd_fail_at(err, GCD_E_FORMAT, part->off, "compressed data are damaged");
    GCD_TRY(gcd_input_append(spool, f->plain, made, err));
    if (z == Z_STREAM_END)
        return f->z.total_out == part->bytes ? GCD_END
                                             : gcd_fail_at(err, GCD_E_FORMAT, part->off,
                                                           "compressed data are of another size");
    return GCD_OK;
}

static gcd_status inflate_all(struct inflating *f, struct gcd_input *in,
                              const struct gcd_inflate_part *part, struct gcd_input *spool,
                              struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (uint64_t read = 0; st == GCD_OK && read < part->stored;) {
        size_t got,
            want = part->stored - read < PIECE_BYTES ? (size_t)(part->stored - read) : PIECE_BYTES;
        GCD_TRY(gcd_input_read_at(in, part->off + read, f->stored, want, &got, err));
        if (got < want)
            return gcd_fail_at(err, GCD_E_TRUNCATED, part->off + read + got,
                               "the file ends in compressed data");
        read += got;
        f->z.next_in = f->stored;
        f->z.avail_in = (unsigned)got;
        do
            st = step(f, spool, part, err);
        while (st == GCD_OK && (f->z.avail_in > 0 || f->z.avail_out == 0));
    }
    return st == GCD_OK    ? gcd_fail_at(err, GCD_E_FORMAT, part->off, "compressed data end early")
           : st == GCD_END ? GCD_OK
                           : st;
}

gcd_status gcd_inflate_append(struct gcd_input *in, struct gcd_inflate_part part,
                              struct gcd_input *spool, const struct gcd_alloc *alloc,
                              struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct inflating *f = gcd_mem_new(&a, sizeof *f);
    if (f == NULL)
        return gcd_fail_nomem(err, "reading compressed data");
    gcd_zlib_use_alloc(&f->z, &a);
    gcd_status st = GCD_OK;
    if (inflateInit2(&f->z, -MAX_WBITS) != Z_OK)
        st = gcd_fail_nomem(err, "reading compressed data");
    if (st == GCD_OK) {
        st = inflate_all(f, in, &part, spool, err);
        (void)inflateEnd(&f->z);
    }
    gcd_mem_free(&a, f, sizeof *f);
    return st;
}
