/* Fast conversion of numbers to decimal digits, which make up most of a JSON dump. */
#ifndef GCD_BASE_DEC_H
#define GCD_BASE_DEC_H

#include <stdint.h>

#define GCD_DEC_MAX 20
/* The room that gcd_dec_put needs: it always stores eight bytes, even when fewer count. */
#define GCD_DEC_ROOM (GCD_DEC_MAX + 8)

/*
 * The eight digits of V < 10^8, one per byte, the most significant one in the lowest byte: halves,
 * quarters and eighths of the number are divided side by side in one word (Khuong's method).
 */
static inline uint64_t gcd_dec_spread(uint32_t v)
{
    uint64_t halves = v / 10000 | (uint64_t)(v % 10000) << 32;
    /* each half / 100 */
    uint64_t hundreds = halves * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
    /* each quarter / 10 */
    uint64_t tens = quarters * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (quarters - 10 * tens) << 8;
}

/* Write the digits of WORD, starting with number SKIP; memory order is reading order on every
 * machine. */
static inline char *gcd_dec_put8(char *p, uint64_t word, unsigned skip)
{
    word = (word + UINT64_C(0x3030303030303030)) >> 8 * skip;
    for (unsigned i = 0; i < 8; i++)
        p[i] = (char)(word >> 8 * i & 0xff);
    return p + (8 - skip);
}

/* Write V < 10^8 without leading zeros at P (room for 8 bytes) and return the end. */
static inline char *gcd_dec_put_small(char *p, uint32_t v)
{
    uint64_t word = gcd_dec_spread(v);
    return gcd_dec_put8(p, word, (unsigned)__builtin_ctzll(word | UINT64_C(1) << 56) / 8);
}

/* Write V at P (room for GCD_DEC_ROOM bytes) and return the end. */
static inline char *gcd_dec_put(char *p, uint64_t v)
{
    if (v < 100000000)
        return gcd_dec_put_small(p, (uint32_t)v);
    uint64_t high = v / 100000000;
    if (high < 100000000) {
        p = gcd_dec_put_small(p, (uint32_t)high);
    } else {
        p = gcd_dec_put_small(p, (uint32_t)(high / 100000000));
        p = gcd_dec_put8(p, gcd_dec_spread((uint32_t)(high % 100000000)), 0);
    }
    return gcd_dec_put8(p, gcd_dec_spread((uint32_t)(v % 100000000)), 0);
}

#endif
