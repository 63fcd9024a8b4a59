/*
 * A set of small numbers, of which the next one is found at once however few there are: a bitmap,
 * a bitmap of its words that are not zero, and so on.  Memory depends on the largest number alone.
 */
#ifndef GCD_IMAGE_CLR_PENDING_H
#define GCD_IMAGE_CLR_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

#include "base/mem.h"

#define CLR_PENDING_LEVELS 8u
/* Numbers that are taken again from their first on: 2 MiB of a heap, as a processor's cache. */
#define CLR_PENDING_GROUP 4096u

struct clr_pending {
    uint64_t *words; /* [word_count] of all levels, the last one first: it is one word */
    size_t word_count;
    size_t first[CLR_PENDING_LEVELS]; /* of each level */
    unsigned levels;
};

/* For numbers below N.  False when out of memory; then, too, it can be done with. */
static inline bool clr_pending_init(struct clr_pending *p, size_t n, const struct gcd_alloc *a)
{
    size_t counts[CLR_PENDING_LEVELS], at = 0;
    *p = (struct clr_pending){ .levels = 0 };
    do {
        n = n / 64 + 1;
        counts[p->levels++] = n;
        p->word_count += n;
    } while (n > 1 && p->levels < CLR_PENDING_LEVELS);
    for (unsigned l = p->levels; l-- > 0; at += counts[l])
        p->first[l] = at;
    p->words = gcd_mem_new_array(a, p->word_count, sizeof *p->words);
    return p->words != NULL;
}

static inline void clr_pending_done(struct clr_pending *p, const struct gcd_alloc *a)
{
    gcd_mem_free(a, p->words, p->word_count * sizeof *p->words);
    p->words = NULL;
}

static inline void clr_pending_add(struct clr_pending *p, size_t i)
{
    for (unsigned l = 0; l < p->levels; l++, i /= 64) {
        uint64_t *word = &p->words[p->first[l] + i / 64], before = *word;
        *word |= UINT64_C(1) << i % 64;
        if (before != 0)
            break;
    }
}

/* The smallest number from I on; SIZE_MAX: there is none. */
static inline size_t clr_pending_from(const struct clr_pending *p, size_t i)
{
    unsigned l = 0;
    for (;;) {
        uint64_t word = p->words[p->first[l] + i / 64] >> i % 64;
        if (word != 0) {
            i += (size_t)__builtin_ctzll(word);
            break;
        }
        i = i / 64 + 1;
        if (++l == p->levels)
            return SIZE_MAX;
    }
    for (; l > 0; l--)
        i = i * 64 + (size_t)__builtin_ctzll(p->words[p->first[l - 1] + i]);
    return i;
}

/* Takes a number, *AT: from the group of the last one on, if there is one, else from the first on.
 * False: there are none. */
static inline bool clr_pending_take(struct clr_pending *p, size_t *at)
{
    size_t i = clr_pending_from(p, *at / CLR_PENDING_GROUP * CLR_PENDING_GROUP);
    if (i == SIZE_MAX)
        i = clr_pending_from(p, 0);
    if (i == SIZE_MAX)
        return false;
    *at = i;
    for (unsigned l = 0; l < p->levels; l++, i /= 64) {
        uint64_t *word = &p->words[p->first[l] + i / 64];
        *word &= ~(UINT64_C(1) << i % 64);
        if (*word != 0)
            break;
    }
    return true;
}

#endif
