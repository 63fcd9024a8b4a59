/*
 * English around a number: "1 object is", "at least 2 objects are".
 *
 *     "%s object%s %s left out", GCD_DIGITS(n), gcd_plural(n), gcd_by_number(n, "is", "are")
 */
#ifndef GCDUMPC_UNSTABLE_TEXT_PLURAL_H
#define GCDUMPC_UNSTABLE_TEXT_PLURAL_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static inline const char *gcd_by_number(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* The words before N, which is between LEAST and MOST: "at least ", "at most ", "about "; "" when
 * it is exact. */
static inline const char *gcd_bound(uint64_t n, uint64_t least, uint64_t most)
{
    return least == most ? "" : n == least ? "at least " : n == most ? "at most " : "about ";
}

/* N in BUF with thousands separators, "12,345". */
#define GCD_DIGITS_BYTES 32
static inline const char *gcd_digits(uint64_t n, char buf[GCD_DIGITS_BYTES])
{
    char plain[GCD_DIGITS_BYTES], *o = buf;
    int len = snprintf(plain, sizeof plain, "%" PRIu64, n);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *o++ = ',';
        *o++ = plain[i];
    }
    *o = '\0';
    return buf;
}

/* The same as a text that lasts until the end of the block. */
#define GCD_DIGITS(n) gcd_digits((n), (char[GCD_DIGITS_BYTES]){ 0 })

/* The ending of a noun: "" or "s". */
static inline const char *gcd_plural(uint64_t n)
{
    return gcd_by_number(n, "", "s");
}

#endif
