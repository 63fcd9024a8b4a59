/*
 * Maps addresses to nodes, in about one bit per 8 bytes of heap.
 *
 * Nodes are numbered in the order of the heap walk, which ascends within each region.  So the
 * addresses form a bitmap, and the node of an address is that of the first object in its word of 64
 * slots plus the number of bits before it: one access to a page table and one to a cache line.
 * Addresses that do not fit (out of order, interleaved regions, objects so sparse that a page of
 * the map would be wasted) are in a sorted list; an intact dump has almost none of them.
 */
#ifndef GCD_GRAPH_GRAPH_INDEX_H
#define GCD_GRAPH_GRAPH_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"

/* A word covers 64 slots, a page 128 words: 64 KiB of heap. */
#define INDEX_PAGE_WORDS 128u
#define INDEX_BATCH      64u

struct index_word {
    uint32_t bits[2];
    uint32_t first; /* node of the lowest bit */
};

struct index_page {
    struct index_word words[INDEX_PAGE_WORDS];
};

struct index_stray {
    uint64_t address;
    uint32_t node;
};

/* A page, found by the low bits of its piece of the heap: neighbours do not collide, as they would
 * in a hash table. */
struct index_entry {
    uint64_t piece;
    const struct index_page *page; /* NULL = nothing here */
};

struct graph_index {
    const struct gcd_alloc *alloc;
    unsigned shift;             /* a slot is 1 << shift bytes */
    struct gcd_idmap page_of;   /* address >> (shift + 13) -> number of its page */
    struct index_page **chunks; /* INDEX_CHUNK_PAGES pages each, so that growing moves nothing */
    size_t chunk_count, chunk_cap;
    uint32_t page_count;
    uint64_t added;             /* addresses added; limits the number of pages */
    struct index_stray *strays; /* sorted when the index is finished */
    size_t stray_count, stray_cap;
    uint64_t doubled;    /* duplicate addresses */
    uint64_t last_piece; /* + 1, of the last address added */
    uint32_t last_page;
    struct index_entry *entries; /* set when the index is finished */
    size_t entry_count;          /* a power of two */
};

/* Slots have 8 bytes, or 4 to distinguish the objects of a 32-bit process. */
void graph_index_init(struct graph_index *x, const struct gcd_alloc *a, unsigned shift);
void graph_index_done(struct graph_index *x);

/* NODE must be higher than all before.  False when out of memory. */
bool graph_index_add(struct graph_index *x, uint64_t address, uint32_t node);
/* The same for nodes FIRST ... FIRST + N - 1 at BASE + 4 * OFFSETS[i]. */
bool graph_index_add_run(struct graph_index *x, uint64_t base, const uint16_t *offsets, size_t n,
                         uint32_t first);
/* Call after the last node.  False when out of memory. */
bool graph_index_finish(struct graph_index *x);

/* The node at ADDRESS or UINT32_MAX. */
uint32_t graph_index_find(const struct graph_index *x, uint64_t address);
/* The same for up to INDEX_BATCH addresses at once, so that memory accesses overlap. */
void graph_index_find_all(const struct graph_index *x, const uint64_t *addresses, size_t n,
                          uint32_t *ret);

uint64_t graph_index_bytes(const struct graph_index *x);

#endif
