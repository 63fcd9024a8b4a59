/*
 * Decompression of a buffer: [MS-XCA] 2.4, "Plain LZ77".  A flag word describes 32 items, most
 * significant bit first: a byte, or a copy of earlier output.
 */
#include <string.h>

#include "etl/etl.h"

#define SHORTEST_COPY 3u
#define LENGTH_BITS   7u /* of the length in a copy's own two bytes */
#define NIBBLE_FULL   15u
#define BYTE_FULL     255u
#define LONG_COPY     64u /* copies of fewer bytes are faster one by one */

struct source {
    struct gcd_cur in;
    const uint8_t *half; /* a byte whose upper half holds the next length; NULL = none */
};

/*
 * The length of a copy beyond the 3 bits in its own bytes: half a byte, a byte, 16 or 32 bits, each
 * used when the previous one is at its maximum.
 */
static size_t long_length(struct source *s)
{
    size_t n;
    if (s->half != NULL) {
        n = *s->half >> 4;
        s->half = NULL;
    } else {
        s->half = gcd_cur_bytes(&s->in, 1);
        n = s->half != NULL ? *s->half & NIBBLE_FULL : 0;
    }
    if (n < NIBBLE_FULL)
        return n + LENGTH_BITS;
    n = gcd_cur_u8(&s->in);
    if (n < BYTE_FULL)
        return n + NIBBLE_FULL + LENGTH_BITS;
    n = gcd_cur_u16(&s->in);
    if (n == 0)
        n = gcd_cur_u32(&s->in);
    if (n < NIBBLE_FULL + LENGTH_BITS) /* a shorter form exists; no compressor writes this */
        gcd_cur_fail(&s->in, GCD_E_FORMAT);
    return n;
}

/* Writes N bytes at TO, repeating the DISTANCE bytes before it: it copies its own output. */
static void repeat(uint8_t *to, size_t distance, size_t n)
{
    const uint8_t *from = to - distance;
    if (n < LONG_COPY) {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
        return;
    }
    /* each round doubles the available bytes */
    for (size_t part; n > 0; n -= part, to += part, distance += part) {
        part = distance < n ? distance : n;
        memcpy(to, to - distance, part);
    }
}

bool etl_xpress(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
    struct source s = { .in = gcd_cur_make(in, in_bytes, 0) };
    size_t made = 0;
    uint32_t flags = 0;
    unsigned flags_left = 0;
    while (s.in.err == GCD_OK && gcd_cur_left(&s.in) > 0) {
        if (flags_left == 0) {
            flags = gcd_cur_u32(&s.in);
            flags_left = 32;
            continue;
        }
        if ((flags >> --flags_left & 1) == 0) {
            if (made == out_bytes)
                return false;
            out[made++] = gcd_cur_u8(&s.in);
            continue;
        }
        uint32_t copy = gcd_cur_u16(&s.in);
        size_t distance = (copy >> 3) + 1, n = copy & LENGTH_BITS;
        if (n == LENGTH_BITS)
            n = long_length(&s);
        if (s.in.err != GCD_OK || distance > made || out_bytes - made < SHORTEST_COPY ||
            n > out_bytes - made - SHORTEST_COPY)
            return false;
        n += SHORTEST_COPY;
        if (distance >= n)
            memcpy(out + made, out + made - distance, n);
        else
            repeat(out + made, distance, n);
        made += n;
    }
    return s.in.err == GCD_OK && made == out_bytes;
}
