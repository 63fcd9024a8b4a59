#include <gcdumpc/generations.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

struct gcd_generations {
    struct gcd_alloc alloc;
    struct gcd_range *ranges; /* [count] by start */
    size_t count, room;
    size_t hint; /* the range that contained the last object */
    unsigned align_bytes;
    struct gcd_generation items[GCD_GENERATIONS];
};

static bool in_range(const struct gcd_range *r, uint64_t address)
{
    return address >= r->start && address - r->start < r->used_bytes;
}

static void add_range(struct gcd_generations *s, const struct gcd_range *r)
{
    struct gcd_generation *g =
        &s->items[r->generation < GCD_GENERATION_NONE ? r->generation : GCD_GENERATION_NONE];
    s->ranges[s->count++] = *r;
    g->ranges++;
    gcd_add_saturating(&g->used_bytes, r->used_bytes);
    gcd_add_saturating(&g->reserved_bytes, r->reserved_bytes);
}

gcd_status gcd_generations_new(const struct gcd_summary *summary, const struct gcd_alloc *alloc,
                               struct gcd_generations **ret, struct gcd_error *err)
{
    size_t n = summary->range_count;
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_generations *s = gcd_mem_new(&a, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "sorting the memory ranges");
    s->alloc = a;
    s->align_bytes = summary->trace.ptr_bytes == 4 ? 4 : 8;
    s->room = n > 0 ? n : 1;
    s->ranges = gcd_mem_new_array(&s->alloc, s->room, sizeof *s->ranges);
    for (size_t i = 0; s->ranges != NULL && i < n; i++)
        add_range(s, &summary->ranges[i]);
    if (s->ranges == NULL ||
        (n > 0 && !gcd_sort_by_u64(&s->alloc, s->ranges, n, sizeof *s->ranges))) {
        gcd_generations_free(s);
        return gcd_fail_nomem(err, "sorting the memory ranges");
    }
    *ret = s;
    return GCD_OK;
}

void gcd_generations_free(struct gcd_generations *s)
{
    if (s == NULL)
        return;
    gcd_mem_free(&s->alloc, s->ranges, s->room * sizeof *s->ranges);
    gcd_mem_free(&s->alloc, s, sizeof *s);
}

/* Objects come in the order of the heap walk, so the range is almost always that of the previous
 * object. */
unsigned gcd_generations_find(const struct gcd_generations *s, uint64_t address, size_t *hint)
{
    if (address == 0 || s->count == 0)
        return GCD_GENERATION_NONE;
    if (*hint >= s->count || !in_range(&s->ranges[*hint], address)) {
        size_t n = gcd_count_up_to(s->ranges, s->count, sizeof *s->ranges, address);
        if (n == 0 || !in_range(&s->ranges[n - 1], address))
            return GCD_GENERATION_NONE;
        *hint = n - 1;
    }
    unsigned number = s->ranges[*hint].generation;
    return number < GCD_GENERATION_NONE ? number : GCD_GENERATION_NONE;
}

void gcd_generations_add(struct gcd_generations *s, uint64_t address, uint64_t size_bytes)
{
    struct gcd_generation *g = &s->items[gcd_generations_find(s, address, &s->hint)];
    uint64_t aligned =
        gcd_sum_saturating(size_bytes, s->align_bytes - 1) & ~(uint64_t)(s->align_bytes - 1);
    g->objects++;
    gcd_add_saturating(&g->bytes, size_bytes);
    gcd_add_saturating(&g->aligned_bytes, aligned);
}

const struct gcd_generation *gcd_generations_get(const struct gcd_generations *s, unsigned number)
{
    return &s->items[number];
}

gcd_status gcd_frozen_new(const struct gcd_summary *summary, uint32_t guessed_roots,
                          const struct gcd_alloc *alloc, struct gcd_generations **ret,
                          struct gcd_error *err)
{
    *ret = NULL;
    if (summary->range_count == 0 || !summary->verdict.complete || guessed_roots > 0)
        return GCD_OK;
    return gcd_generations_new(summary, alloc, ret, err);
}

bool gcd_is_frozen(const struct gcd_generations *s, uint64_t address, size_t *hint)
{
    return s != NULL && gcd_generations_find(s, address, hint) == GCD_GENERATION_NONE;
}
