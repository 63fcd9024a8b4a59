/*
 * The memory of the heap: each generation has a list of segments (regions).  The list of generation
 * 2 also has the frozen ones.  With segments (libclrgc.so), generations 0 to 2 share one, so each
 * address counts once.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr.h"
#include "image/clr/clr_dac.h"

#define SEGMENTS_MAX (UINT64_C(16) << 20)
#define HEAPS_MAX    1024u
#define BUCKETS_MAX  65536u

/* One heap: of a workstation the only one. */
struct heap {
    uint64_t generations, ephemeral, allocated;
};

static gcd_status add_region(struct clr *c, const struct heap *h, uint64_t segment, unsigned g,
                             struct gcd_error *err)
{
    uint64_t start = image_u64(c->image, segment + SEGMENT_MEMORY);
    uint64_t end = image_u64(c->image, segment + SEGMENT_ALLOCATED);
    uint64_t reserved = image_u64(c->image, segment + SEGMENT_RESERVED);
    bool frozen = (image_u64(c->image, segment + SEGMENT_FLAGS) & 1) != 0;
    if (segment == h->ephemeral && h->allocated > start)
        end = h->allocated;
    if (start == 0 || start % 8 != 0 || end < start || end - start > UINT64_C(1) << 46) {
        c->gaps.broken_regions++;
        return GCD_OK;
    }
    end = start + (end - start) / 8 * 8;
    if (!gcd_vec_reserve(&c->alloc, &c->regions, &c->region_cap, c->region_count + 1,
                         sizeof *c->regions, SEGMENTS_MAX))
        return gcd_fail_nomem(err, "listing the memory of a heap");
    c->regions[c->region_count++] =
        (struct clr_region){ .start = start,
                             .end = end,
                             .reserved_end = reserved > end ? reserved : end,
                             .generation = (uint8_t)(frozen ? CLR_FROZEN : g) };
    return GCD_OK;
}

static gcd_status add_heap(struct clr *c, const struct heap *h, struct gcd_error *err)
{
    uint64_t bytes = image_u64(c->image, c->gc + GC_GENERATION_BYTES);
    for (unsigned g = 0; g < GC_GENERATIONS; g++) {
        uint64_t generation = h->generations + g * bytes;
        uint64_t segment = image_u64(c->image, generation + GENERATION_START_SEGMENT), steps = 0;
        for (; segment != 0 && steps < SEGMENTS_MAX; steps++) {
            GCD_TRY(add_region(c, h, segment, g, err));
            segment = image_u64(c->image, segment + SEGMENT_NEXT);
        }
    }
    return GCD_OK;
}

static gcd_status add_server_heaps(struct clr *c, struct gcd_error *err)
{
    struct image *m = c->image;
    uint64_t offsets = image_u64(m, c->gc + GC_HEAP_FIELDS);
    uint64_t heaps = image_u64(m, image_u64(m, c->gc + GC_HEAPS));
    for (uint32_t i = 0; i < c->heaps; i++) {
        uint64_t heap = image_u64(m, heaps + 8 * (uint64_t)i);
        uint32_t table = image_u32(m, offsets + 4 * GC_HEAP_GENERATION_TABLE);
        uint32_t ephemeral = image_u32(m, offsets + 4 * GC_HEAP_EPHEMERAL);
        uint32_t allocated = image_u32(m, offsets + 4 * GC_HEAP_ALLOCATED);
        GCD_TRY(add_heap(c,
                         &(struct heap){ .generations = heap + table,
                                         .ephemeral = image_u64(m, heap + ephemeral),
                                         .allocated = image_u64(m, heap + allocated) },
                         err));
    }
    return GCD_OK;
}

/* By address; of the same memory the first one counts, and what overlaps is cut. */
static gcd_status order_regions(struct clr *c, struct gcd_error *err)
{
    if (!gcd_sort_by_u64(&c->alloc, c->regions, c->region_count, sizeof *c->regions))
        return gcd_fail_nomem(err, "listing the memory of a heap");
    size_t kept = 0;
    for (size_t i = 0; i < c->region_count; i++) {
        struct clr_region *last = kept > 0 ? &c->regions[kept - 1] : NULL;
        if (last != NULL && c->regions[i].start == last->start) {
            last->end = c->regions[i].end > last->end ? c->regions[i].end : last->end;
            continue;
        }
        if (last != NULL && c->regions[i].start < last->end) {
            c->gaps.broken_regions++;
            continue;
        }
        c->regions[kept++] = c->regions[i];
    }
    c->region_count = kept;
    return GCD_OK;
}

/* Most regions are of one size, so that a part of the address space rarely has several. */
static gcd_status make_buckets(struct clr *c, struct gcd_error *err)
{
    uint64_t first = c->regions[0].start, bytes = c->regions[c->region_count - 1].start - first;
    while (bytes >> c->bucket_shift >= BUCKETS_MAX)
        c->bucket_shift++;
    c->bucket_count = (size_t)(bytes >> c->bucket_shift) + 1;
    c->buckets = gcd_mem_new_array(&c->alloc, c->bucket_count, sizeof *c->buckets);
    if (c->buckets == NULL)
        return gcd_fail_nomem(err, "listing the memory of a heap");
    for (size_t i = 0; i < c->bucket_count; i++)
        c->buckets[i] = (uint32_t)gcd_count_up_to(c->regions, c->region_count, sizeof *c->regions,
                                                  first + ((uint64_t)i << c->bucket_shift) +
                                                      ((UINT64_C(1) << c->bucket_shift) - 1));
    return GCD_OK;
}

/* All pieces of small regions; of large heaps some, and the rest is searched for. */
static void make_pieces(struct clr *c)
{
    memset(c->pieces, 0, sizeof c->pieces);
    for (size_t i = 0; i < c->region_count; i++) {
        const struct clr_region *r = &c->regions[i];
        uint64_t first = r->start >> CLR_PIECE_SHIFT, last = r->end >> CLR_PIECE_SHIFT;
        for (uint64_t k = 0; k <= last - first && k < CLR_PIECES; k++)
            c->pieces[(first + k) % CLR_PIECES] = (uint32_t)i;
    }
}

void clr_forget_regions(struct clr *c)
{
    gcd_mem_free(&c->alloc, c->marks, c->mark_cap * sizeof *c->marks);
    gcd_mem_free(&c->alloc, c->starts, c->mark_cap * sizeof *c->starts);
    gcd_mem_free(&c->alloc, c->blocks, c->block_count * sizeof *c->blocks);
    gcd_mem_free(&c->alloc, c->regions, c->region_cap * sizeof *c->regions);
    gcd_mem_free(&c->alloc, c->buckets, c->bucket_count * sizeof *c->buckets);
    c->marks = NULL;
    c->starts = NULL;
    c->blocks = NULL;
    c->regions = NULL;
    c->buckets = NULL;
    c->region_count = c->region_cap = c->bucket_count = c->block_count = 0;
    c->mark_count = c->mark_cap = 0;
    c->bucket_shift = 0;
    c->gaps.broken_regions = 0;
}

gcd_status clr_find_regions(struct clr *c, struct gcd_error *err)
{
    struct image *m = c->image;
    uint32_t heaps = image_u32(m, image_u64(m, c->gc + GC_HEAP_COUNT));
    c->server = heaps > 0;
    c->heaps = heaps <= HEAPS_MAX ? heaps : HEAPS_MAX;
    if (c->server)
        GCD_TRY(add_server_heaps(c, err));
    else
        GCD_TRY(add_heap(
            c,
            &(struct heap){ .generations = image_u64(m, c->gc + GC_GENERATION_TABLE),
                            .ephemeral = image_u64(m, image_u64(m, c->gc + GC_EPHEMERAL_SEGMENT)),
                            .allocated = image_u64(m, image_u64(m, c->gc + GC_ALLOCATED)) },
            err));
    if (c->region_count == 0)
        return gcd_fail(
            err, GCD_E_UNSUPPORTED,
            m->reader != NULL
                ? "its heap cannot be found"
                : "this dump has no heap (it is of type 1, mini, or 3, triage): take one of "
                  "type 2 (heap) or 4 (full)");
    GCD_TRY(order_regions(c, err));
    make_pieces(c);
    return make_buckets(c, err);
}

struct clr_region *clr_far_region_at(const struct clr *c, uint64_t address)
{
    uint64_t first = c->regions[0].start, bucket = (address - first) >> c->bucket_shift;
    if (address < first)
        return NULL;
    bucket = bucket < c->bucket_count ? bucket : c->bucket_count - 1;
    size_t before = bucket > 0 ? c->buckets[bucket - 1] : 0, until = c->buckets[bucket];
    size_t n =
        before + gcd_count_up_to(c->regions + before, until - before, sizeof *c->regions, address);
    return address < c->regions[n - 1].end ? &c->regions[n - 1] : NULL;
}
