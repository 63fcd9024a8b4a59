#include "graph/graph_index.h"

#include "base/mem.h"
#include "base/sort.h"

#define SLOT_BITS 6u             /* slots of a word */
#define PAGE_BITS (SLOT_BITS + 7u)
#define INDEX_CHUNK_PAGES 64u
#define MAX_PAGES (UINT32_C(1) << 31)

/*
 * A page is 1.5 KiB.  So many may be wasted on objects that lie alone, and beyond that there must be an object for every 64 bytes:
 * large objects are alone on their pages in any heap, and damaged data can strew them over all addresses.
 */
#define FREE_PAGES 4096u
#define OBJECTS_PER_PAGE (sizeof(struct index_page) / 64)

void graph_index_init(struct graph_index *x, const struct gcd_alloc *a, unsigned shift)
{
    *x = (struct graph_index){ .alloc = a, .shift = shift };
    gcd_idmap_init(&x->page_of, a);
}

void graph_index_done(struct graph_index *x)
{
    if (x->alloc == NULL)
        return;
    for (size_t i = 0; i < x->chunk_count; i++)
        gcd_mem_free(x->alloc, x->chunks[i], INDEX_CHUNK_PAGES * sizeof **x->chunks);
    gcd_mem_free(x->alloc, x->chunks, x->chunk_cap * sizeof *x->chunks);
    gcd_mem_free(x->alloc, x->strays, x->stray_cap * sizeof *x->strays);
    gcd_idmap_done(&x->page_of);
    *x = (struct graph_index){ .alloc = NULL };
}

static struct index_page *page_at(const struct graph_index *x, uint32_t page)
{
    return &x->chunks[page / INDEX_CHUNK_PAGES][page % INDEX_CHUNK_PAGES];
}

/* The page of a piece that has none yet; GCD_IDMAP_NONE when it is not worth one.  False when out of memory. */
static bool give_page(struct graph_index *x, uint64_t piece, uint32_t *ret)
{
    *ret = GCD_IDMAP_NONE;
    if (x->page_count >= MAX_PAGES || x->page_count >= FREE_PAGES + x->added / OBJECTS_PER_PAGE)
        return true;
    if (x->page_count % INDEX_CHUNK_PAGES == 0) {
        if (!gcd_vec_reserve(x->alloc, &x->chunks, &x->chunk_cap, x->chunk_count + 1, sizeof *x->chunks, SIZE_MAX / sizeof *x->chunks))
            return false;
        struct index_page *chunk = gcd_mem_new_array(x->alloc, INDEX_CHUNK_PAGES, sizeof *chunk);
        if (chunk == NULL)
            return false;
        x->chunks[x->chunk_count++] = chunk;
    }
    if (!gcd_idmap_put(&x->page_of, piece, x->page_count))
        return false;
    *ret = x->page_count++;
    return true;
}

static bool add_stray(struct graph_index *x, uint64_t address, uint32_t node)
{
    if (!gcd_vec_reserve(x->alloc, &x->strays, &x->stray_cap, x->stray_count + 1, sizeof *x->strays, SIZE_MAX / sizeof *x->strays))
        return false;
    x->strays[x->stray_count++] = (struct index_stray){ .address = address, .node = node };
    return true;
}

static uint64_t bits_of(const struct index_word *w)
{
    return (uint64_t)w->bits[1] << 32 | w->bits[0];
}

bool graph_index_add(struct graph_index *x, uint64_t address, uint32_t node)
{
    uint64_t slot = address >> x->shift, piece = slot >> PAGE_BITS;
    x->added++;
    if ((slot << x->shift) != address)
        return add_stray(x, address, node);
    if (x->last.piece != piece + 1) {
        uint32_t page = gcd_idmap_get(&x->page_of, piece);
        if (page == GCD_IDMAP_NONE && !give_page(x, piece, &page))
            return false;
        if (page == GCD_IDMAP_NONE)
            return add_stray(x, address, node);
        x->last = (struct graph_hint){ .piece = piece + 1, .page = page };
    }
    struct index_word *w = &page_at(x, x->last.page)->words[slot >> SLOT_BITS & (INDEX_PAGE_WORDS - 1)];
    uint64_t bits = bits_of(w), bit = UINT64_C(1) << (slot & 63);
    if ((bits & bit) != 0) {
        x->doubled++;
        return true;
    }
    if (bits == 0)
        w->first = node;
    else if (bit < bits || node != w->first + (uint32_t)__builtin_popcountll(bits))
        return add_stray(x, address, node);
    w->bits[slot >> 5 & 1] |= UINT32_C(1) << (slot & 31);
    return true;
}

/* The first of several at one address. */
static uint32_t find_stray(const struct graph_index *x, uint64_t address)
{
    size_t low = 0, high = x->stray_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (x->strays[mid].address < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->stray_count && x->strays[low].address == address ? x->strays[low].node : GCD_IDMAP_NONE;
}

/* In the bitmap only. */
static uint32_t find_bit(const struct graph_index *x, uint64_t address, struct graph_hint *hint)
{
    uint64_t slot = address >> x->shift, piece = slot >> PAGE_BITS;
    if (hint->piece != piece + 1)
        *hint = (struct graph_hint){ .piece = piece + 1, .page = gcd_idmap_get(&x->page_of, piece) };
    if (hint->page == GCD_IDMAP_NONE || (slot << x->shift) != address)
        return GCD_IDMAP_NONE;
    const struct index_word *w = &page_at(x, hint->page)->words[slot >> SLOT_BITS & (INDEX_PAGE_WORDS - 1)];
    uint64_t bits = bits_of(w), bit = UINT64_C(1) << (slot & 63);
    return (bits & bit) != 0 ? w->first + (uint32_t)__builtin_popcountll(bits & (bit - 1)) : GCD_IDMAP_NONE;
}

uint32_t graph_index_find(const struct graph_index *x, uint64_t address, struct graph_hint *hint)
{
    uint32_t node = find_bit(x, address, hint);
    return node != GCD_IDMAP_NONE || x->stray_count == 0 ? node : find_stray(x, address);
}

bool graph_index_finish(struct graph_index *x)
{
    if (!gcd_sort_by_u64(x->alloc, x->strays, x->stray_count, sizeof *x->strays))
        return false;
    struct graph_hint hint = { .piece = 0 };
    for (size_t i = 0; i < x->stray_count; i++) {
        bool again = i > 0 && x->strays[i].address == x->strays[i - 1].address;
        x->doubled += again || find_bit(x, x->strays[i].address, &hint) != GCD_IDMAP_NONE;
    }
    return true;
}

uint64_t graph_index_bytes(const struct graph_index *x)
{
    return x->chunk_count * INDEX_CHUNK_PAGES * sizeof **x->chunks + x->chunk_cap * sizeof *x->chunks +
           x->stray_cap * sizeof *x->strays + x->page_of.slot_count * sizeof *x->page_of.slots;
}
