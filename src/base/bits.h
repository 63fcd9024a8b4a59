/* Counts bits without the processor's instruction: not every x86-64 has it, so the compiler would
 * call a function. */
#ifndef GCD_BASE_BITS_H
#define GCD_BASE_BITS_H

#include <stdint.h>

static inline uint32_t gcd_count_bits(uint64_t b)
{
    b -= b >> 1 & UINT64_C(0x5555555555555555);
    b = (b & UINT64_C(0x3333333333333333)) + (b >> 2 & UINT64_C(0x3333333333333333));
    b = (b + (b >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(b * UINT64_C(0x0101010101010101) >> 56);
}

#endif
