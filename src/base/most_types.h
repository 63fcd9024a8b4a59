/* The types with most objects, of those that a search finds one by one. */
#ifndef GCD_BASE_MOST_TYPES_H
#define GCD_BASE_MOST_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/summary.h>

/* Adds TYPE of S to RET, [*N], in which the most numerous come first, at most MOST of them. */
static inline void most_types_add(const struct gcd_summary *s, uint32_t type, uint32_t *ret,
                                  size_t most, size_t *n)
{
    size_t at = *n < most ? (*n)++ : most;
    for (; at > 0 && s->types[ret[at - 1]].objects < s->types[type].objects; at--)
        if (at < most)
            ret[at] = ret[at - 1];
    if (at < most)
        ret[at] = type;
}

#endif
