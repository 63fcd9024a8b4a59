#include "graph/graph_index.h"

#include "base/bits.h"
#include "base/mem.h"
#include "base/sort.h"

#define SLOT_BITS         6u /* slots per word */
#define PAGE_BITS         (SLOT_BITS + 7u)
#define INDEX_CHUNK_PAGES 64u
#define MAX_PAGES         (UINT32_C(1) << 31)

/*
 * A page has 1.5 KiB.  This many may be wasted on isolated objects, and beyond that there must be
 * an object for every 64 bytes: large objects are alone on their pages in any heap, and damaged
 * data can scatter objects over all addresses.
 */
#define FREE_PAGES       4096u
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
    gcd_mem_free(x->alloc, x->entries, x->entry_count * sizeof *x->entries);
    gcd_idmap_done(&x->page_of);
    *x = (struct graph_index){ .alloc = NULL };
}

static struct index_page *page_at(const struct graph_index *x, uint32_t page)
{
    return &x->chunks[page / INDEX_CHUNK_PAGES][page % INDEX_CHUNK_PAGES];
}

/* A page for a new piece; GCD_IDMAP_NONE when it is not worth one.  False when out of memory. */
static bool give_page(struct graph_index *x, uint64_t piece, uint32_t *ret)
{
    *ret = GCD_IDMAP_NONE;
    if (x->page_count >= MAX_PAGES || x->page_count >= FREE_PAGES + x->added / OBJECTS_PER_PAGE)
        return true;
    if (x->page_count % INDEX_CHUNK_PAGES == 0) {
        if (!gcd_vec_reserve(x->alloc, &x->chunks, &x->chunk_cap, x->chunk_count + 1,
                             sizeof *x->chunks, SIZE_MAX / sizeof *x->chunks))
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
    if (!gcd_vec_reserve(x->alloc, &x->strays, &x->stray_cap, x->stray_count + 1, sizeof *x->strays,
                         SIZE_MAX / sizeof *x->strays))
        return false;
    x->strays[x->stray_count++] = (struct index_stray){ .address = address, .node = node };
    return true;
}

static uint64_t bits_of(const struct index_word *w)
{
    return (uint64_t)w->bits[1] << 32 | w->bits[0];
}

/* The word of SLOT on the page of the last address. */
static struct index_word *word_for(const struct graph_index *x, uint64_t slot)
{
    return &page_at(x, x->last_page)->words[slot >> SLOT_BITS & (INDEX_PAGE_WORDS - 1)];
}

bool graph_index_add(struct graph_index *x, uint64_t address, uint32_t node)
{
    uint64_t slot = address >> x->shift, piece = slot >> PAGE_BITS;
    x->added++;
    if ((slot << x->shift) != address)
        return add_stray(x, address, node);
    if (x->last_piece != piece + 1) {
        uint32_t page = gcd_idmap_get(&x->page_of, piece);
        if (page == GCD_IDMAP_NONE && !give_page(x, piece, &page))
            return false;
        if (page == GCD_IDMAP_NONE)
            return add_stray(x, address, node);
        x->last_piece = piece + 1;
        x->last_page = page;
    }
    struct index_word *w = word_for(x, slot);
    uint64_t bits = bits_of(w), bit = UINT64_C(1) << (slot & 63);
    if ((bits & bit) != 0) {
        x->doubled++;
        return true;
    }
    if (bits == 0)
        w->first = node;
    else if (bit < bits || node != w->first + gcd_count_bits(bits))
        return add_stray(x, address, node);
    w->bits[slot >> 5 & 1] |= UINT32_C(1) << (slot & 31);
    return true;
}

/* Sets bits in one word of the map while consecutive nodes fall into it; graph_index_add does the
 * rest. */
bool graph_index_add_run(struct graph_index *x, uint64_t base, const uint16_t *offsets, size_t n,
                         uint32_t first)
{
    uint64_t last = 0; /* slot of the node before, if it is in WORD */
    struct index_word *word = NULL;
    for (size_t i = 0; i < n; i++) {
        uint64_t address = base + (uint64_t)offsets[i] * 4, slot = address >> x->shift;
        if (word != NULL && slot > last && slot >> SLOT_BITS == last >> SLOT_BITS &&
            (slot << x->shift) == address) {
            word->bits[slot >> 5 & 1] |= UINT32_C(1) << (slot & 31);
            x->added++;
        } else {
            uint64_t others = x->stray_count + x->doubled;
            if (!graph_index_add(x, address, first + (uint32_t)i))
                return false;
            word = x->stray_count + x->doubled == others ? word_for(x, slot) : NULL;
        }
        last = slot;
    }
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
    return low < x->stray_count && x->strays[low].address == address ? x->strays[low].node
                                                                     : GCD_IDMAP_NONE;
}

/* The word of ADDRESS if it is in the bitmap, otherwise NULL. */
static const struct index_word *word_of(const struct graph_index *x, uint64_t address)
{
    uint64_t slot = address >> x->shift, piece = slot >> PAGE_BITS;
    const struct index_entry *entry = &x->entries[piece & (x->entry_count - 1)];
    const struct index_page *page = entry->page;
    if (page != NULL && entry->piece != piece) { /* it belongs to another piece */
        uint32_t number = gcd_idmap_get(&x->page_of, piece);
        page = number != GCD_IDMAP_NONE ? page_at(x, number) : NULL;
    }
    return page != NULL && (slot << x->shift) == address
               ? &page->words[slot >> SLOT_BITS & (INDEX_PAGE_WORDS - 1)]
               : NULL;
}

/* Searches only the bitmap. */
static uint32_t find_bit(const struct graph_index *x, const struct index_word *w, uint64_t address)
{
    if (w == NULL)
        return GCD_IDMAP_NONE;
    uint64_t bits = bits_of(w), bit = UINT64_C(1) << (address >> x->shift & 63);
    return (bits & bit) != 0 ? w->first + gcd_count_bits(bits & (bit - 1)) : GCD_IDMAP_NONE;
}

static uint32_t find(const struct graph_index *x, const struct index_word *w, uint64_t address)
{
    uint32_t node = find_bit(x, w, address);
    return node != GCD_IDMAP_NONE || x->stray_count == 0 ? node : find_stray(x, address);
}

uint32_t graph_index_find(const struct graph_index *x, uint64_t address)
{
    return find(x, word_of(x, address), address);
}

void graph_index_find_all(const struct graph_index *x, const uint64_t *addresses, size_t n,
                          uint32_t *ret)
{
    const struct index_word *words[INDEX_BATCH];
    for (size_t i = 0; i < n; i++) {
        words[i] = word_of(x, addresses[i]);
        __builtin_prefetch(words[i]);
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = find(x, words[i], addresses[i]);
}

static bool make_entries(struct graph_index *x)
{
    size_t n = 64;
    while (n < 2 * (size_t)x->page_count)
        n *= 2;
    x->entries = gcd_mem_new_array(x->alloc, n, sizeof *x->entries);
    if (x->entries == NULL)
        return false;
    x->entry_count = n;
    for (size_t i = 0; i < x->page_of.slot_count; i++) {
        const struct gcd_idmap_slot *s = &x->page_of.slots[i];
        if (s->value != GCD_IDMAP_NONE)
            x->entries[s->id & (n - 1)] =
                (struct index_entry){ .piece = s->id, .page = page_at(x, s->value) };
    }
    return true;
}

bool graph_index_finish(struct graph_index *x)
{
    if (!make_entries(x))
        return false;
    if (!gcd_sort_by_u64(x->alloc, x->strays, x->stray_count, sizeof *x->strays))
        return false;
    for (size_t i = 0; i < x->stray_count; i++) {
        bool again = i > 0 && x->strays[i].address == x->strays[i - 1].address;
        x->doubled += again || find_bit(x, word_of(x, x->strays[i].address),
                                        x->strays[i].address) != GCD_IDMAP_NONE;
    }
    return true;
}

uint64_t graph_index_bytes(const struct graph_index *x)
{
    return x->chunk_count * INDEX_CHUNK_PAGES * sizeof **x->chunks +
           x->chunk_cap * sizeof *x->chunks + x->stray_cap * sizeof *x->strays +
           x->entry_count * sizeof *x->entries + x->page_of.slot_count * sizeof *x->page_of.slots;
}
