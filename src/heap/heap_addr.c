/*
 * The set of object addresses, in at most 16 MiB.
 *
 * One bit per pointer-sized unit of heap, in pages of 16 KiB that cover 1 MiB each (half of that in
 * a 32-bit process).  As long as pages are available, every piece of heap has its own page and the
 * answer is exact.  After that, further pieces share pages: an address without an object can then
 * find the bit of another object, so "no" is still certain and "yes" only probable.  The addresses
 * of a heap walk ascend within each region, so the page of the previous address is nearly always
 * the right one.
 */
#include "base/mem.h"
#include "heap/heap.h"

#define PAGE_BITS_SHIFT 17
#define PAGE_WORDS      ((size_t)1 << (PAGE_BITS_SHIFT - 6))
#define MAX_PAGES       1024u
/* Addresses looked up together. */
#define TOGETHER 64u
/* Pieces that can be distinguished; no heap has more MiB, but damaged data can scatter objects over
 * all addresses. */
#define MAX_PIECES ((size_t)1 << 18)

struct heap_addrs {
    unsigned align_shift;       /* objects are at multiples of 1 << align_shift */
    struct gcd_idmap page_of;   /* number of the piece -> page */
    uint64_t *pages[MAX_PAGES]; /* [PAGE_WORDS] */
    uint32_t page_count;
    uint32_t *pages_left; /* shared by all sets of a budget */
    bool shared;          /* no longer exact */
    bool blind; /* objects left no bit because pages ran out: the answer can no longer be "no" */
    uint64_t last_piece; /* + 1; 0 = none */
    uint32_t last_page;
};

struct heap_addrs *heap_addrs_new(const struct gcd_alloc *a, unsigned ptr_bytes,
                                  uint32_t *pages_left)
{
    struct heap_addrs *s = gcd_mem_new(a, sizeof *s);
    if (s == NULL)
        return NULL;
    s->pages_left = pages_left;
    s->align_shift = ptr_bytes == 4 ? 2 : 3;
    gcd_idmap_init(&s->page_of, a);
    return s;
}

void heap_addrs_free(struct heap_addrs *s, const struct gcd_alloc *a)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->page_count; i++)
        gcd_mem_free(a, s->pages[i], PAGE_WORDS * sizeof **s->pages);
    *s->pages_left += s->page_count;
    gcd_idmap_done(&s->page_of);
    gcd_mem_free(a, s, sizeof *s);
}

/* A page for a new piece, GCD_IDMAP_NONE when there is none.  False when out of memory. */
static bool give_page(struct heap_addrs *s, const struct gcd_alloc *a, uint64_t piece,
                      uint32_t *ret)
{
    *ret = GCD_IDMAP_NONE;
    if (s->page_count<MAX_PAGES && * s->pages_left> 0) {
        uint64_t *words = gcd_mem_new_array(a, PAGE_WORDS, sizeof *words);
        if (words == NULL)
            return false;
        --*s->pages_left;
        *ret = s->page_count;
        s->pages[s->page_count++] = words;
    } else {
        s->shared = true;
        if (s->page_count == 0 || s->page_of.used >= MAX_PIECES) {
            s->blind = true;
            return true;
        }
        *ret = (uint32_t)(piece % s->page_count);
    }
    return gcd_idmap_put(&s->page_of, piece, *ret);
}

/* No runtime places objects like this, but an input may claim it. */
static bool misaligned(const struct heap_addrs *s, uint64_t address)
{
    return (address & ((UINT64_C(1) << s->align_shift) - 1)) != 0;
}

bool heap_addrs_add(struct heap_addrs *s, const struct gcd_alloc *a, uint64_t address)
{
    uint64_t slot = address >> s->align_shift, piece = slot >> PAGE_BITS_SHIFT;
    if (s->last_piece != piece + 1) {
        uint32_t page = gcd_idmap_get(&s->page_of, piece);
        if (page == GCD_IDMAP_NONE && !give_page(s, a, piece, &page))
            return false;
        if (page == GCD_IDMAP_NONE)
            return true;
        s->last_piece = piece + 1;
        s->last_page = page;
    }
    size_t bit = (size_t)slot & (PAGE_WORDS * 64 - 1);
    if (misaligned(s, address))
        s->shared = true;
    s->pages[s->last_page][bit / 64] |= UINT64_C(1) << (bit % 64);
    return true;
}

bool heap_addrs_has(const struct heap_addrs *s, uint64_t address)
{
    uint64_t slot = address >> s->align_shift, piece = slot >> PAGE_BITS_SHIFT;
    uint32_t page = s->last_page;
    if (s->last_piece != piece + 1) {
        page = gcd_idmap_get(&s->page_of, piece);
        if (page == GCD_IDMAP_NONE)
            return s->blind;
    }
    if (misaligned(s, address) && !s->shared)
        return false;
    size_t bit = (size_t)slot & (PAGE_WORDS * 64 - 1);
    return (s->pages[page][bit / 64] >> (bit % 64) & 1) != 0 || s->blind;
}

uint64_t heap_addrs_missing(const struct heap_addrs *s, const uint64_t *addresses, size_t n)
{
    uint64_t missing = 0;
    for (size_t done = 0; done < n; done += TOGETHER) {
        const uint64_t *words[TOGETHER], *some = addresses + done;
        size_t count = n - done < TOGETHER ? n - done : TOGETHER;
        for (size_t i = 0; i < count; i++) {
            uint64_t slot = some[i] >> s->align_shift;
            uint32_t page = gcd_idmap_get(&s->page_of, slot >> PAGE_BITS_SHIFT);
            bool nowhere = page == GCD_IDMAP_NONE || (misaligned(s, some[i]) && !s->shared);
            words[i] = nowhere ? NULL : &s->pages[page][(slot & (PAGE_WORDS * 64 - 1)) / 64];
            __builtin_prefetch(words[i]);
        }
        for (size_t i = 0; i < count; i++)
            missing += words[i] == NULL || (*words[i] >> (some[i] >> s->align_shift & 63) & 1) == 0;
    }
    return s->blind ? 0 : missing;
}

bool heap_addrs_exact(const struct heap_addrs *s)
{
    return !s->shared;
}
