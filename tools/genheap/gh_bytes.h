/*
 * Little-endian stores, varuints and the hash that makes all "random" choices.
 * Only for the files of genheap: the generator shares no code with the decoder it tests.
 */
#ifndef GH_BYTES_H
#define GH_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint8_t *gh_put_u8(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)v;
    return p + 1;
}

static inline uint8_t *gh_put_u16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    return p + 2;
}

static inline uint8_t *gh_put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    return p + 4;
}

static inline uint8_t *gh_put_u64(uint8_t *p, uint64_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
    p[4] = (uint8_t)(v >> 32);
    p[5] = (uint8_t)(v >> 40);
    p[6] = (uint8_t)(v >> 48);
    p[7] = (uint8_t)(v >> 56);
    return p + 8;
}

/* A pointer of the described process: 4 or 8 bytes. */
static inline uint8_t *gh_put_ptr(uint8_t *p, uint64_t v, unsigned ptr_bytes)
{
    return ptr_bytes == 8 ? gh_put_u64(p, v) : gh_put_u32(p, (uint32_t)v);
}

static inline uint8_t *gh_put_varuint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

/* UTF-8 to UTF-16LE with terminator; at most 2 bytes out per byte in, plus 2.  S must be valid
 * UTF-8. */
static inline uint8_t *gh_put_utf16z(uint8_t *p, const char *s)
{
    const unsigned char *u = (const unsigned char *)s;

    while (*u) {
        uint32_t c = *u++;
        unsigned more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;

        if (more)
            c &= 0x3Fu >> more;
        while (more-- && *u)
            c = c << 6 | (*u++ & 0x3Fu);
        if (c >= 0x10000) {
            c -= 0x10000;
            p = gh_put_u16(p, 0xD800 | (unsigned)(c >> 10));
            c = 0xDC00 | (c & 0x3FF);
        }
        p = gh_put_u16(p, (unsigned)c);
    }
    return gh_put_u16(p, 0);
}

/* Final mix of splitmix64: a good 64-bit hash of its argument, and a bijection. */
static inline uint64_t gh_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline uint64_t gh_hash2(uint64_t seed, uint64_t a)
{
    return gh_mix(seed ^ a * UINT64_C(0xD6E8FEB86659FD93));
}

/* 0 … N-1 from the upper half of H; N <= 2^32. */
static inline uint64_t gh_below(uint64_t h, uint64_t n)
{
    return (h >> 32) * n >> 32;
}

#endif
