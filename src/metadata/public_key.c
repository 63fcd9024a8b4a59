/*
 * SHA-1 (RFC 3174), for public key tokens only: it distinguishes assemblies and has no security
 * purpose.
 */
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "metadata/meta_impl.h"

struct sha1 {
    uint32_t h[5];
    uint8_t block[64];
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void add_block(struct sha1 *s)
{
    uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *p = s->block + i * 4;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t next = rotate(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

void meta_public_key_token(struct gcd_metadata *m, struct meta_region key, uint8_t ret[8])
{
    struct sha1 s = { .h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
    size_t n = (size_t)key.n, at = 0;
    for (; n - at >= 64; at += 64) {
        memcpy(s.block, meta_view_in(&m->w, key, at, 64), 64);
        add_block(&s);
    }
    size_t rest = n - at;
    memset(s.block, 0, sizeof s.block);
    memcpy(s.block, meta_view_in(&m->w, key, at, rest), rest);
    s.block[rest] = 0x80;
    if (rest >= 56) {
        add_block(&s);
        memset(s.block, 0, sizeof s.block);
    }
    for (unsigned i = 0; i < 4; i++)
        s.block[60 + i] = (uint8_t)((uint64_t)n * 8 >> (24 - 8 * i));
    add_block(&s);
    for (unsigned i = 0; i < 8; i++)
        ret[i] = (uint8_t)(s.h[4 - i / 4] >> (8 * (i % 4)));
}
