/*
 * The invented heap: address, type, size and number of references for every object index, and the
 * target of every reference, all by formula.  Memory does not grow with the number of objects,
 * except for 8 bytes per region of 65,536 objects.
 *
 * Index order = walk order: [0, n_frozen) frozen strings, then n_small objects in blocks of
 * GH_BLOCK, then n_loh + n_poh large and pinned ones.  Every block is a copy of one of GH_TEMPLATES
 * templates, chosen by hash; 16 blocks make a region.
 */
#ifndef GH_MODEL_H
#define GH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gh_bytes.h"
#include "gh_opts.h"
#include "gh_types.h"

#define GH_BLOCK          4096u
#define GH_TEMPLATES      16u
#define GH_TEMPLATE_EDGES 7086u /* 1.73 per object */
#define GH_REGION_BLOCKS  16u
#define GH_REGION_BYTES   (4u << 20)
#define GH_REGION_HEADER  40u

enum gh_gen { GH_GEN0, GH_GEN1, GH_GEN2, GH_LOH, GH_POH, GH_FROZEN, GH_GENS };

/* What a reference slot of a template points at; a smaller value is an object of the same block. */
enum gh_code {
    GH_C_LINK = 0x8000,  /* + 0 … 7: first object of a later block */
    GH_C_LARGE = 0x8010, /* + 0 … 3: a large object */
    GH_C_NEAR = 0x8020,
    GH_C_FAR,
    GH_C_SHARED
};

struct gh_template {
    uint32_t off[GH_BLOCK];  /* from the start of the block, bytes */
    uint32_t size[GH_BLOCK]; /* as reported, not rounded */
    uint32_t edges[GH_BLOCK];
    uint16_t type[GH_BLOCK];
    uint16_t code[GH_TEMPLATE_EDGES]; /* in object order */
};

struct gh_object {
    uint64_t addr, size;
    uint32_t type;
    uint64_t n_edges;
    enum gh_gen gen;
};

struct gh_model {
    const struct gh_types *types;
    enum gh_shape shape;
    unsigned ptr_bytes;
    uint64_t seed;
    uint32_t n_heaps;
    uint64_t n, n_frozen, n_small, n_loh, n_poh; /* set by gh_model_resize */
    uint64_t n_blocks, n_regions;
    uint32_t block_bytes; /* same step for all blocks */
    uint64_t frozen_base, loh_base, poh_base;
    uint64_t fan_bytes;    /* size of the array of shape fan */
    uint64_t *region_base; /* [n_regions] */
    uint16_t t_string, t_fan, t_large[4], t_pinned;
    struct gh_template *tmpl; /* [GH_TEMPLATES] */
};

/* false: no memory, or the heap does not fit the address space (complaint printed). */
bool gh_model_init(struct gh_model *m, const struct gh_types *types, const struct gh_opts *o);
bool gh_model_resize(struct gh_model *m, uint64_t n_objects);
void gh_model_done(struct gh_model *m);

static inline const struct gh_template *gh_model_template(const struct gh_model *m, uint64_t block)
{
    return &m->tmpl[gh_mix(m->seed ^ block) & (GH_TEMPLATES - 1)];
}

static inline uint64_t gh_model_block_base(const struct gh_model *m, uint64_t block)
{
    return m->region_base[block / GH_REGION_BLOCKS] + block % GH_REGION_BLOCKS * m->block_bytes;
}

uint64_t gh_model_addr_special(const struct gh_model *m, uint64_t i);

/* Address of object I < n. */
static inline uint64_t gh_model_addr(const struct gh_model *m, uint64_t i)
{
    uint64_t s = i - m->n_frozen; /* wraps around for frozen objects */

    if (s >= m->n_small)
        return gh_model_addr_special(m, i);
    return gh_model_block_base(m, s / GH_BLOCK) +
           gh_model_template(m, s / GH_BLOCK)->off[s % GH_BLOCK];
}

/* What a code below GH_BLOCK points at in a block of N objects; the last block of a heap is
 * shorter. */
static inline uint32_t gh_model_in_block(uint32_t code, uint32_t n)
{
    return code < n ? code : code % n;
}

/* Index of the target of a GH_C_ code: slot SLOT of small object S (an index without the frozen
 * objects). */
uint64_t gh_model_code_target(const struct gh_model *m, uint16_t code, uint64_t s, uint64_t slot);

/* Index of the target of reference K of object I without a template: other shapes, and large
 * objects. */
uint64_t gh_model_target(const struct gh_model *m, uint64_t i, uint64_t k);

void gh_model_object(const struct gh_model *m, uint64_t i, struct gh_object *ret);
enum gh_gen gh_model_region_gen(const struct gh_model *m, uint64_t region);

/* The layout of the heap as GCGenerationRange reports it, generations 4, 3, 2, 1, 0. */
struct gh_range {
    enum gh_gen gen;
    uint64_t start, used_bytes, reserved_bytes;
};
void gh_model_ranges(const struct gh_model *m, void (*fn)(void *ctx, const struct gh_range *range),
                     void *ctx);

/* True when everything is reachable from object gh_model_main() and the frozen objects. */
bool gh_model_connected(const struct gh_model *m);
uint64_t gh_model_main(const struct gh_model *m);

#endif
