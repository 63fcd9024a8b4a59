/*
 * Signatures of types in metadata: element types and numbers (ECMA-335 II.23.1.16 and II.23.2).
 * The runtime uses the same element types in its events and structures.
 */
#ifndef GCD_BASE_SIGNATURE_H
#define GCD_BASE_SIGNATURE_H

#include "base/cur.h"

enum element_type {
    ELEMENT_STRING = 0x0e,
    ELEMENT_PTR = 0x0f,
    ELEMENT_BYREF = 0x10,
    ELEMENT_VALUETYPE = 0x11,
    ELEMENT_CLASS = 0x12,
    ELEMENT_VAR = 0x13,
    ELEMENT_ARRAY = 0x14,
    ELEMENT_GENERICINST = 0x15,
    ELEMENT_INTPTR = 0x18,
    ELEMENT_UINTPTR = 0x19,
    ELEMENT_FNPTR = 0x1b,
    ELEMENT_OBJECT = 0x1c,
    ELEMENT_SZARRAY = 0x1d,
    ELEMENT_MVAR = 0x1e,
    ELEMENT_CMOD_REQD = 0x1f,
    ELEMENT_CMOD_OPT = 0x20,
    ELEMENT_SENTINEL = 0x41,
    ELEMENT_PINNED = 0x45
};

/* Are instances referred to, rather than stored in their place? */
static inline bool gcd_element_is_reference(uint32_t element)
{
    return element == ELEMENT_STRING || element == ELEMENT_CLASS || element == ELEMENT_ARRAY ||
           element == ELEMENT_OBJECT || element == ELEMENT_SZARRAY;
}

/* A compressed number: one, two or four bytes. */
static inline uint32_t gcd_cur_compressed(struct gcd_cur *c)
{
    uint32_t b = gcd_cur_u8(c);
    if (b < 0x80)
        return b;
    if (b < 0xc0)
        return (b & 0x3f) << 8 | gcd_cur_u8(c);
    uint32_t b1 = gcd_cur_u8(c), b2 = gcd_cur_u8(c);
    return (b & 0x1f) << 24 | b1 << 16 | b2 << 8 | gcd_cur_u8(c);
}

#endif
