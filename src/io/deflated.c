#include "io/deflated.h"

#include "base/error.h"
#include "io/gunzip.h"

/* Of a window of 32 KiB, larger blocks would not profit; the level takes half of the time of
 * reading memory. */
#define LEVEL 1

gcd_status gcd_deflate_block(const struct gcd_alloc *a, const uint8_t *p, size_t n, uint8_t *ret,
                             size_t *ret_n, struct gcd_error *err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)p, .avail_in = (unsigned)n };
    gcd_zlib_use_alloc(&z, a);
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return gcd_fail_nomem(err, "compressing data");
    z.next_out = ret;
    z.avail_out = (unsigned)*ret_n;
    *ret_n = deflate(&z, Z_FINISH) == Z_STREAM_END ? *ret_n - z.avail_out : 0;
    (void)deflateEnd(&z);
    return GCD_OK;
}

gcd_status gcd_inflate_block(const struct gcd_alloc *a, const uint8_t *p, size_t n, uint8_t *ret,
                             size_t ret_n, struct gcd_error *err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)p, .avail_in = (unsigned)n };
    gcd_zlib_use_alloc(&z, a);
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return gcd_fail_nomem(err, "reading compressed data");
    z.next_out = ret;
    z.avail_out = (unsigned)ret_n;
    int result = inflate(&z, Z_FINISH);
    bool whole = result == Z_STREAM_END && z.avail_out == 0;
    (void)inflateEnd(&z);
    if (result == Z_MEM_ERROR)
        return gcd_fail_nomem(err, "reading compressed data");
    return whole ? GCD_OK : gcd_fail(err, GCD_E_FORMAT, "compressed data are damaged");
}
