/*
 * English around a number: "1 object is", "at least 2 objects are".
 *
 *     "%" PRIu64 " object%s %s left out", n, gcd_plural(n), gcd_by_number(n, "is", "are")
 */
#ifndef GCDUMPC_UNSTABLE_TEXT_PLURAL_H
#define GCDUMPC_UNSTABLE_TEXT_PLURAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* The ending of a noun: "" or "s". */
static inline const char *gcd_plural(uint64_t n)
{
    return gcd_by_number(n, "", "s");
}

#ifdef __cplusplus
}
#endif
#endif
