/* Fast conversion of numbers to lower-case hexadecimal without leading zeros, which make up most of
 * a text dump; and of bytes, such as a build id. */
#ifndef GCD_BASE_HEX_H
#define GCD_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GCD_HEX_MAX 16

/*
 * Write V at P (room for GCD_HEX_MAX + 8 bytes) and return the end.  Converts eight digits at a
 * time: spreads the nibbles of 32 bits over the bytes of a 64-bit word, then turns all eight into
 * digits.
 */
static inline uint64_t gcd_hex_spread(uint32_t v)
{
    uint64_t x = v;
    x = (x & 0xffff) << 32 | x >> 16;
    x = (x & UINT64_C(0x000000ff000000ff)) << 16 | (x & UINT64_C(0x0000ff000000ff00)) >> 8;
    x = (x & UINT64_C(0x000f000f000f000f)) << 8 | (x & UINT64_C(0x00f000f000f000f0)) >> 4;
    /* each byte is now a nibble, the most significant one in the lowest byte */
    uint64_t is_letter = ((x + UINT64_C(0x0606060606060606)) >> 4) & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + is_letter * ('a' - '0' - 10);
}

static inline char *gcd_hex_put8(char *p, uint64_t word, unsigned skip)
{
    /* memory order is reading order on every machine */
    word >>= 8 * skip;
    for (unsigned i = 0; i < 8; i++)
        p[i] = (char)(word >> (8 * i) & 0xff);
    return p + (8 - skip);
}

static inline char *gcd_hex_put(char *p, uint64_t v)
{
    uint32_t high = (uint32_t)(v >> 32), low = (uint32_t)v;
    if (high != 0) {
        p = gcd_hex_put8(p, gcd_hex_spread(high), (unsigned)__builtin_clz(high) / 4);
        return gcd_hex_put8(p, gcd_hex_spread(low), 0);
    }
    if (low == 0) {
        *p = '0';
        return p + 1;
    }
    return gcd_hex_put8(p, gcd_hex_spread(low), (unsigned)__builtin_clz(low) / 4);
}

/* Writes N bytes at P as 2 * N digits and a final zero. */
static inline void gcd_hex_bytes(const uint8_t *p, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *ret++ = digits[p[i] >> 4];
        *ret++ = digits[p[i] & 15];
    }
    *ret = '\0';
}

#endif
