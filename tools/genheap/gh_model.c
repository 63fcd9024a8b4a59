#include "gh_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* each slot has one large object; 32 slots make a region */
#define LOH_SLOT    (1u << 20)
#define LOH_REGION  (32u << 20)
#define LOH_MIN     85000u
#define POH_SLOT    (64u << 10)
#define FROZEN_SLOT 64u

#define BLOCK_BYTES_MAX ((GH_REGION_BYTES - 64) / GH_REGION_BLOCKS & ~7u)

static uint64_t round_up(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

/* ---- templates
 * ------------------------------------------------------------------------------------------- */

/* State while a template is built. */
struct maker {
    struct gh_template *t;
    uint64_t rng;
    uint32_t refs_max[GH_BLOCK];
    /* free reference slots, as slot numbers in object order */
    uint32_t slots[GH_TEMPLATE_EDGES];
    uint32_t n_slots;
    uint32_t first_slot[GH_BLOCK];
    uint32_t weight_sum[GH_TYPES_MAX]; /* of the types up to this one */
    uint32_t n_types;
};

static uint64_t next(struct maker *k)
{
    return gh_mix(k->rng++);
}

static void sum_weights(struct maker *k, const struct gh_types *ty, enum gh_shape shape)
{
    uint32_t i, sum = 0;

    for (i = 0; i < ty->n; i++) {
        if (ty->t[i].shapes >> shape & 1)
            sum += shape == GH_SHAPE_MIX ? ty->t[i].weight : 1;
        k->weight_sum[i] = sum;
    }
    k->n_types = ty->n;
}

static uint32_t pick_type(const struct maker *k, uint64_t h)
{
    uint32_t lo = 0, hi = k->n_types - 1;
    uint64_t at = gh_below(h, k->weight_sum[hi]);

    while (lo < hi) { /* first type whose sum is above AT */
        uint32_t mid = (lo + hi) / 2;

        if (k->weight_sum[mid] > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Number of elements: mostly few, sometimes many; never more than FREE_BYTES allow. */
static uint64_t pick_len(const struct gh_types *ty, const struct gh_type *t, uint64_t h,
                         uint64_t free_bytes)
{
    uint64_t len, base = gh_type_size(ty, t, 0), step = gh_type_size(ty, t, 1) - base;

    if (t->kind != GH_T_STRING && t->kind != GH_T_ARRAY)
        return 0;
    switch (h % 64) {
    case 0:
        len = gh_below(h << 8, t->refs ? 400 : 4000 / step);
        break;
    case 1:
    case 2:
        len = 0;
        break;
    default:
        len = t->kind == GH_T_STRING ? 2 + gh_below(h << 8, 34)
              : t->refs              ? 4 + gh_below(h << 8, 12)
                                     : 1 + gh_below(h << 8, 100 / step + 4);
        break;
    }
    if (base + step * len > free_bytes)
        len = free_bytes > base + step ? (free_bytes - base) / step : 1;
    return len;
}

/* Types, sizes and offsets; returns false if the block became too long. */
static bool make_layout(struct maker *k, const struct gh_types *ty, enum gh_shape shape,
                        uint32_t *ret_bytes)
{
    struct gh_template *t = k->t;
    uint64_t off = 0;
    uint32_t i;

    for (i = 0; i < GH_BLOCK; i++) {
        uint64_t h = next(k), len, size;
        uint64_t left = (GH_BLOCK - i) * UINT64_C(50);
        uint64_t free_bytes = off + left < BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX - off - left : 0;
        uint32_t type = pick_type(k, h);
        const struct gh_type *d = &ty->t[type];

        len = pick_len(ty, d, gh_mix(h), free_bytes + 40);
        if (i == 0 && shape == GH_SHAPE_MIX) { /* the root of the block holds the links */
            type = gh_types_find(ty, "System.Object[]");
            d = &ty->t[type];
            len = 96;
        }
        size = gh_type_size(ty, d, len);
        t->type[i] = (uint16_t)type;
        t->size[i] = (uint32_t)size;
        t->off[i] = (uint32_t)off;
        k->refs_max[i] = (uint32_t)(d->kind == GH_T_ARRAY ? d->refs * len : d->refs);
        off += round_up(size, ty->ptr_bytes);
        if (h % 127 == 0) /* a free object of the collector */
            off += 24 + h % 21 * 8;
    }
    *ret_bytes = (uint32_t)round_up(off, 8);
    return off <= BLOCK_BYTES_MAX;
}

/* How many references of each object are not null: exactly GH_TEMPLATE_EDGES in total. */
static bool make_counts(struct maker *k)
{
    struct gh_template *t = k->t;
    uint64_t sum = 76, room = 0;
    uint32_t i;

    t->edges[0] = 76;
    for (i = 1; i < GH_BLOCK; i++) {
        uint32_t max = k->refs_max[i];

        t->edges[i] = max ? (uint32_t)gh_below(next(k), max) + (max < 8) : 0;
        sum += t->edges[i];
        room += max;
    }
    if (room < GH_TEMPLATE_EDGES)
        return false;
    while (sum != GH_TEMPLATE_EDGES) {
        i = 1 + (uint32_t)gh_below(next(k), GH_BLOCK - 1);
        if (sum < GH_TEMPLATE_EDGES && t->edges[i] < k->refs_max[i]) {
            t->edges[i]++;
            sum++;
        } else if (sum > GH_TEMPLATE_EDGES && t->edges[i] > 0) {
            t->edges[i]--;
            sum--;
        }
    }
    return true;
}

/*
 * Targets.  Every object but the first gets a parent with a smaller number, so that every prefix of
 * a block is connected (the last block of a heap is shorter); the other slots point anywhere.
 */
static bool make_targets(struct maker *k)
{
    struct gh_template *t = k->t;
    uint32_t i, s = 0, n = 0;

    for (i = 0; i < GH_BLOCK; i++) {
        k->first_slot[i] = s;
        s += t->edges[i];
    }
    for (s = 0; s < 12; s++)
        t->code[s] = (uint16_t)(s < 8 ? GH_C_LINK + s : GH_C_LARGE + s - 8);
    for (; s < t->edges[0]; s++)
        k->slots[n++] = s;
    for (i = 1; i < GH_BLOCK; i++) {
        uint64_t h = next(k);
        uint32_t at;

        if (n == 0)
            return false;
        at = (h & 7) ? n - 1 - (uint32_t)gh_below(h, n < 48 ? n : 48) : (uint32_t)gh_below(h, n);
        t->code[k->slots[at]] = (uint16_t)i;
        k->slots[at] = k->slots[--n];
        for (s = 0; s < t->edges[i]; s++)
            k->slots[n++] = k->first_slot[i] + s;
    }
    while (n) {
        uint64_t h = next(k);
        unsigned what = (unsigned)(h % 100);

        s = k->slots[--n];
        t->code[s] = what < 45   ? (uint16_t)gh_below(h, GH_BLOCK)
                     : what < 60 ? GH_C_SHARED
                     : what < 85 ? GH_C_NEAR
                                 : GH_C_FAR;
    }
    return true;
}

static bool make_templates(struct gh_model *m)
{
    struct maker *k = malloc(sizeof *k);
    uint32_t i, bytes, tries;

    m->tmpl = calloc(GH_TEMPLATES, sizeof *m->tmpl);
    if (!k || !m->tmpl) {
        free(k);
        fprintf(stderr, "genheap: no memory\n");
        return false;
    }
    m->block_bytes = 0;
    for (i = 0; i < GH_TEMPLATES; i++) {
        for (tries = 0; tries < 100; tries++) {
            memset(k, 0, sizeof *k);
            k->t = &m->tmpl[i];
            sum_weights(k, m->types, m->shape);
            k->rng = gh_hash2(m->seed, 1 + i + tries * UINT64_C(1000));
            if (make_layout(k, m->types, m->shape, &bytes) &&
                (m->shape != GH_SHAPE_MIX || (make_counts(k) && make_targets(k))))
                break;
        }
        if (tries == 100) {
            free(k);
            fprintf(stderr, "genheap: no layout found\n");
            return false;
        }
        if (bytes > m->block_bytes)
            m->block_bytes = bytes;
    }
    free(k);
    return true;
}

/* ---- the heap
 * -------------------------------------------------------------------------------------------- */

bool gh_model_init(struct gh_model *m, const struct gh_types *types, const struct gh_opts *o)
{
    memset(m, 0, sizeof *m);
    m->types = types;
    m->shape = o->shape;
    m->ptr_bytes = o->ptr_bytes;
    m->seed = gh_mix(o->seed);
    m->n_heaps = o->n_heaps;
    m->t_string = gh_types_find(types, "System.String");
    m->t_fan = gh_types_find(types, "Acme.Shapes.Item[]");
    m->t_large[0] = gh_types_find(types, "System.Byte[]");
    m->t_large[1] = gh_types_find(types, "System.Object[]");
    m->t_large[2] = gh_types_find(types, "System.Double[]");
    m->t_large[3] = gh_types_find(types, "System.String");
    m->t_pinned = gh_types_find(types, "System.Byte[]");
    return make_templates(m) && gh_model_resize(m, o->n_objects);
}

void gh_model_done(struct gh_model *m)
{
    free(m->region_base);
    free(m->tmpl);
    m->region_base = NULL;
    m->tmpl = NULL;
}

/* Regions of the heaps interleave, a few slots stay empty, and neighbours are exchanged. */
static uint64_t region_slot(const struct gh_model *m, uint64_t r)
{
    uint64_t per_heap = (m->n_regions + m->n_heaps - 1) / m->n_heaps;
    uint64_t slot = r % per_heap * m->n_heaps + r / per_heap;

    slot ^= gh_hash2(m->seed, slot / 4) & 3;
    return slot + slot / 7;
}

bool gh_model_resize(struct gh_model *m, uint64_t n)
{
    bool wide = m->ptr_bytes == 8;
    uint64_t first, end, r, i;
    uint64_t *bases;

    m->n = n;
    m->n_frozen = m->n_loh = m->n_poh = 0;
    if (m->shape == GH_SHAPE_MIX) {
        m->n_frozen = n / 20 < 160 ? n / 20 : 160;
        if (n >= 1000) {
            m->n_loh = 2 + n / 50000;
            if (!wide && m->n_loh > 300)
                m->n_loh = 300;
            m->n_poh = 1 + (n / 200000 < 15 ? n / 200000 : 15);
        }
    } else if (m->shape == GH_SHAPE_FAN) {
        m->n_loh = n > 0;
    }
    m->n_small = n - m->n_frozen - m->n_loh - m->n_poh;
    m->n_blocks = (m->n_small + GH_BLOCK - 1) / GH_BLOCK;
    m->n_regions = (m->n_blocks + GH_REGION_BLOCKS - 1) / GH_REGION_BLOCKS;

    bases = realloc(m->region_base, (size_t)(m->n_regions + 1) * sizeof *bases);
    if (!bases) {
        fprintf(stderr, "genheap: no memory\n");
        return false;
    }
    m->region_base = bases;
    first =
        wide ? UINT64_C(0x7F0C00000000) + (m->seed & 0xFF) * GH_REGION_BYTES : UINT64_C(0x04000000);
    end = first;
    for (r = 0; r < m->n_regions; r++) {
        i = first + region_slot(m, r) * GH_REGION_BYTES;
        bases[r] = i + GH_REGION_HEADER;
        if (i + GH_REGION_BYTES > end)
            end = i + GH_REGION_BYTES;
    }
    m->loh_base = round_up(end, LOH_REGION) + LOH_REGION;
    m->fan_bytes = 0;
    if (m->shape == GH_SHAPE_FAN && n) {
        m->fan_bytes = gh_type_size(m->types, &m->types->t[m->t_fan], n - 1);
        end = m->loh_base + round_up(m->fan_bytes + GH_REGION_HEADER, LOH_REGION);
    } else {
        end = m->loh_base + round_up(m->n_loh * LOH_SLOT, LOH_REGION);
    }
    m->poh_base = end + LOH_REGION;
    end = m->poh_base + LOH_REGION;
    m->frozen_base = wide ? UINT64_C(0x7FA440000000) : UINT64_C(0xF1000000);
    if (end > (wide ? UINT64_C(0x7FA000000000) : UINT64_C(0xF0000000))) {
        fprintf(stderr, "genheap: the heap does not fit the address space of the target\n");
        return false;
    }
    return true;
}

enum gh_gen gh_model_region_gen(const struct gh_model *m, uint64_t region)
{
    uint64_t per_heap = (m->n_regions + m->n_heaps - 1) / m->n_heaps;
    uint64_t k = region % per_heap, n = per_heap;

    if (region / per_heap == (m->n_regions - 1) / per_heap) /* the last heap has fewer */
        n = (m->n_regions - 1) % per_heap + 1;
    if (n >= 4)
        return k + 1 == n ? GH_GEN0 : k + 2 == n ? GH_GEN1 : GH_GEN2;
    return n >= 2 && k + 1 == n ? GH_GEN1 : GH_GEN2;
}

static bool fan_is_large(const struct gh_model *m)
{
    return m->fan_bytes >= LOH_MIN;
}

uint64_t gh_model_addr_special(const struct gh_model *m, uint64_t i)
{
    uint64_t k;

    if (i < m->n_frozen)
        return m->frozen_base + GH_REGION_HEADER + i * FROZEN_SLOT;
    k = i - m->n_frozen - m->n_small;
    if (m->shape == GH_SHAPE_FAN)
        return m->loh_base + GH_REGION_HEADER;
    if (k < m->n_loh)
        return m->loh_base + k * LOH_SLOT + GH_REGION_HEADER + (gh_hash2(m->seed, i) & 0x3F8);
    return m->poh_base + (k - m->n_loh) * POH_SLOT + GH_REGION_HEADER;
}

static void special_object(const struct gh_model *m, uint64_t i, struct gh_object *ret)
{
    uint64_t h = gh_hash2(m->seed ^ 0x51DE, i), len, base, step, bytes;
    const struct gh_type *t;

    ret->addr = gh_model_addr_special(m, i);
    ret->n_edges = 0;
    if (i < m->n_frozen) {
        ret->gen = GH_FROZEN;
        ret->type = m->t_string;
        ret->size = gh_type_size(m->types, &m->types->t[m->t_string], gh_below(h, 21));
        return;
    }
    if (m->shape == GH_SHAPE_FAN) {
        ret->gen = fan_is_large(m) ? GH_LOH : GH_GEN2;
        ret->type = m->t_fan;
        ret->size = m->fan_bytes;
        ret->n_edges = m->n - 1;
        return;
    }
    ret->gen = i - m->n_frozen - m->n_small < m->n_loh ? GH_LOH : GH_POH;
    ret->type = ret->gen == GH_LOH ? m->t_large[h & 3] : m->t_pinned;
    bytes = ret->gen == GH_LOH ? LOH_MIN + 100 + gh_below(h, 900000) : 1024 + gh_below(h, 60000);
    t = &m->types->t[ret->type];
    base = gh_type_size(m->types, t, 0);
    step = gh_type_size(m->types, t, 1) - base;
    len = (bytes - base) / step;
    ret->size = base + step * len;
    if (t->refs)
        ret->n_edges = gh_below(h << 16, 200);
}

void gh_model_object(const struct gh_model *m, uint64_t i, struct gh_object *ret)
{
    uint64_t s = i - m->n_frozen;
    const struct gh_template *t;

    if (s >= m->n_small) {
        special_object(m, i, ret);
        return;
    }
    t = gh_model_template(m, s / GH_BLOCK);
    ret->addr = gh_model_block_base(m, s / GH_BLOCK) + t->off[s % GH_BLOCK];
    ret->size = t->size[s % GH_BLOCK];
    ret->type = t->type[s % GH_BLOCK];
    ret->gen = gh_model_region_gen(m, s / GH_BLOCK / GH_REGION_BLOCKS);
    switch (m->shape) {
    case GH_SHAPE_MIX:
        ret->n_edges = t->edges[s % GH_BLOCK];
        break;
    case GH_SHAPE_TREE: /* children 2i+1, 2i+2; three of four refer to their parent */
        ret->n_edges = 0;
        if (2 * i + 1 < m->n)
            ret->n_edges = 2 * i + 2 < m->n ? 2 : 1;
        if (i > 0 && gh_below(gh_hash2(m->seed, i), 100) < 73)
            ret->n_edges++;
        break;
    case GH_SHAPE_LIST:
        ret->n_edges = i + 1 < m->n;
        break;
    case GH_SHAPE_RANDOM: { /* mean 1.73 */
        uint64_t p = gh_below(gh_hash2(m->seed, i), 100);

        ret->n_edges = p < 15 ? 0 : p < 45 ? 1 : p < 76 ? 2 : p < 91 ? 3 : 4;
        break;
    }
    case GH_SHAPE_FAN:
        ret->n_edges = 0;
        break;
    }
}

uint64_t gh_model_code_target(const struct gh_model *m, uint16_t code, uint64_t s, uint64_t slot)
{
    uint64_t h, t, block = s / GH_BLOCK;

    if (code < GH_C_NEAR) {
        if (code < GH_C_LARGE) {
            t = block * 8 + 1 + (code - GH_C_LINK);
            if (t < m->n_blocks)
                return m->n_frozen + t * GH_BLOCK;
        } else {
            t = block * 4 + (code - GH_C_LARGE);
            if (t < m->n_loh + m->n_poh)
                return m->n_frozen + m->n_small + t;
        }
        code = GH_C_NEAR; /* no such block or large object */
    }
    h = gh_hash2(m->seed, s * 128 + slot);
    switch (code) {
    case GH_C_NEAR:
        t = s + (h >> 40 & 0xFFFF);
        t = t < 0x8000 ? t : t - 0x8000;
        return m->n_frozen + (t < m->n_small ? t : gh_below(h, m->n_small));
    case GH_C_SHARED: /* a few objects have many referrers */
        t = h >> 52;
        t = t * t >> 14; /* 0 … 1023, small ones more often */
        return t < m->n ? t : gh_below(h, m->n);
    default:
        return gh_below(h, m->n);
    }
}

uint64_t gh_model_target(const struct gh_model *m, uint64_t i, uint64_t k)
{
    uint64_t h;

    switch (m->shape) {
    case GH_SHAPE_TREE:
        if (2 * i + 1 + k < m->n && k < 2)
            return 2 * i + 1 + k;
        return (i - 1) / 2;
    case GH_SHAPE_LIST:
        return i + 1;
    case GH_SHAPE_FAN:
        return k;
    case GH_SHAPE_RANDOM:
    case GH_SHAPE_MIX: /* large arrays of references */
        break;
    }
    h = gh_hash2(m->seed ^ 0xED6E, i * 256 + k);
    if (m->shape == GH_SHAPE_RANDOM && h % 5) { /* four of five stay within 1 MB or so */
        uint64_t t = i + (h >> 40 & 0x7FFF);

        t = t < 0x4000 ? t : t - 0x4000;
        if (t < m->n)
            return t;
    }
    return gh_below(h, m->n);
}

void gh_model_ranges(const struct gh_model *m, void (*fn)(void *ctx, const struct gh_range *range),
                     void *ctx)
{
    struct gh_range range = {
        .gen = GH_POH,
        .start = m->poh_base + GH_REGION_HEADER,
        .used_bytes = m->n_poh * POH_SLOT,
        .reserved_bytes = LOH_REGION - GH_REGION_HEADER,
    };
    uint64_t k;
    int gen;

    fn(ctx, &range);
    if (m->shape == GH_SHAPE_FAN && m->n) {
        range.gen = fan_is_large(m) ? GH_LOH : GH_GEN2;
        range.start = m->loh_base + GH_REGION_HEADER;
        range.used_bytes = round_up(m->fan_bytes, 8);
        range.reserved_bytes =
            round_up(m->fan_bytes + GH_REGION_HEADER, LOH_REGION) - GH_REGION_HEADER;
        fn(ctx, &range);
    } else {
        for (k = 0; k < m->n_loh; k += 32) {
            range.gen = GH_LOH;
            range.start = m->loh_base + k * LOH_SLOT + GH_REGION_HEADER;
            range.used_bytes =
                (m->n_loh - k < 32 ? m->n_loh - k : 32) * LOH_SLOT - GH_REGION_HEADER;
            fn(ctx, &range);
        }
    }
    range.reserved_bytes = GH_REGION_BYTES - GH_REGION_HEADER;
    for (gen = GH_GEN2; gen >= GH_GEN0; gen--)
        for (k = 0; k < m->n_regions; k++) {
            uint64_t blocks = m->n_blocks - k * GH_REGION_BLOCKS;

            if (gh_model_region_gen(m, k) != (enum gh_gen)gen)
                continue;
            range.gen = (enum gh_gen)gen;
            range.start = m->region_base[k];
            range.used_bytes =
                (blocks < GH_REGION_BLOCKS ? blocks : GH_REGION_BLOCKS) * m->block_bytes;
            fn(ctx, &range);
        }
}

bool gh_model_connected(const struct gh_model *m)
{
    return m->shape != GH_SHAPE_RANDOM;
}

uint64_t gh_model_main(const struct gh_model *m)
{
    return m->shape == GH_SHAPE_FAN ? m->n - 1 : m->n_frozen;
}
