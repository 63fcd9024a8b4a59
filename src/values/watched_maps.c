/*
 * The GCDesc (gc/gcdesc.h) lies before the method table, and is that of .NET 5 to 11 and Native
 * AOT.  A wrong one does no harm: the references that it finds are not those of the walk.
 */
#include "values/watched_maps.h"

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"

#define HAS_COMPONENTS  UINT32_C(0x80000000)
#define HAS_REFERENCES  UINT32_C(0x01000000)
#define COMPONENT_BYTES 0xffffu
#define RUNS_OF_TYPE    4096
#define RUNS_MAX        ((size_t)1 << 24)
#define REFERENCE       8u
#define LENGTH_AT       8u /* of an array, u32 */
#define NO_GENERATION   UINT8_MAX

void watched_maps_done(struct watched_maps *w)
{
    null_maps_free(w->maps);
    gcd_mem_free(&w->alloc, w->layouts, w->layout_cap * sizeof *w->layouts);
    gcd_mem_free(&w->alloc, w->runs, w->run_cap * sizeof *w->runs);
    gcd_mem_free(&w->alloc, w->times, w->time_cap * sizeof *w->times);
}

/* ---- types ---- */

/* The N runs before TABLE, from the lowest offset on: series lie with it in the highest place,
 * groups of an element, with N negative, after the offset where they begin. */
static bool read_runs(struct watched_maps *w, uint64_t table, int64_t n, struct watched_layout *l)
{
    uint8_t item[16];
    uint64_t count = (uint64_t)(n < 0 ? -n : n);
    for (uint64_t i = 0; i < count; i++) {
        struct watched_run *r = &w->runs[w->run_count + i];
        size_t bytes = n < 0 ? 8 : 16;
        if (w->read(w->ctx, table - 24 - bytes * i, item, bytes) != bytes)
            return false;
        *r = n < 0 ? (struct watched_run){ .at = gcd_le32(item), .more = gcd_le32(item + 4) }
                   : (struct watched_run){ .at = gcd_le64(item + 8), .more = gcd_le64(item) };
    }
    if (n < 0) {
        if (w->read(w->ctx, table - 16, item, 8) != 8)
            return false;
        l->repeated_from = gcd_le64(item);
    }
    l->first = (uint32_t)w->run_count;
    l->count = (uint32_t)count;
    return n > 0 || (l->repeated_from >= LENGTH_AT && l->component_bytes > 0);
}

gcd_status watched_maps_type(struct watched_maps *w, uint64_t table, uint64_t head, uint32_t *ret,
                             struct gcd_error *err)
{
    uint8_t bytes[8];
    uint32_t flags = (uint32_t)head;
    struct watched_layout l = { .base_bytes = (uint32_t)(head >> 32) };
    *ret = WATCHED_NO_MAPS;
    if (w->maps == NULL || (flags & HAS_REFERENCES) == 0)
        return GCD_OK;
    if ((flags & HAS_COMPONENTS) != 0)
        l.component_bytes = flags & COMPONENT_BYTES;
    if (w->read(w->ctx, table - sizeof bytes, bytes, sizeof bytes) != sizeof bytes)
        return GCD_OK;
    int64_t n = (int64_t)gcd_le64(bytes);
    if (n == 0 || n > RUNS_OF_TYPE || n < -RUNS_OF_TYPE)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->runs, &w->run_cap, w->run_count + RUNS_OF_TYPE,
                         sizeof *w->runs, RUNS_MAX) ||
        !gcd_vec_reserve(&w->alloc, &w->layouts, &w->layout_cap, w->layout_count + 1,
                         sizeof *w->layouts, RUNS_MAX))
        return gcd_fail_nomem(err, "reading types");
    if (!read_runs(w, table, n, &l))
        return GCD_OK;
    w->run_count += l.count;
    *ret = (uint32_t)w->layout_count;
    w->layouts[w->layout_count++] = l;
    return GCD_OK;
}

static uint64_t elements_of(const struct watched_layout *l, uint64_t size)
{
    return l->component_bytes > 0 && size >= l->base_bytes
               ? (size - l->base_bytes) / l->component_bytes
               : 0;
}

/* How many references an object has; 0 = its size cannot be. */
static uint64_t slots_of(const struct watched_maps *w, const struct watched_layout *l,
                         uint64_t size)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct watched_run *r = &w->runs[l->first + i];
        uint64_t n = l->repeated_from != 0 ? r->at : (r->more + size) / REFERENCE;
        if (n > UINT32_MAX)
            return 0;
        sum += n;
    }
    uint64_t elements = l->repeated_from != 0 ? elements_of(l, size) : 1;
    return sum <= UINT32_MAX && elements <= UINT32_MAX && sum * elements <= size / REFERENCE
               ? sum * elements
               : 0;
}

/* In an array of structs without nulls, nothing else says where an element ends. */
bool watched_maps_wants(const struct watched_maps *w, uint32_t number, uint64_t size,
                        uint64_t edges)
{
    if (number == WATCHED_NO_MAPS || edges == 0)
        return false;
    const struct watched_layout *l = &w->layouts[number];
    uint64_t slots = slots_of(w, l, size);
    return slots <= UINT32_MAX && (edges < slots || (edges == slots && l->repeated_from != 0));
}

uint64_t watched_map_end(const struct watched_maps *w, const struct watched_map_object *o)
{
    const struct watched_layout *l = &w->layouts[o->number];
    const struct watched_run *last = &w->runs[l->first + l->count - 1];
    return l->repeated_from != 0
               ? l->repeated_from + elements_of(l, o->size) * l->component_bytes - last->more
               : last->at + last->more + o->size;
}

/* ---- objects ---- */

gcd_status watched_map_begin(struct watched_maps *w, const struct watched_map_object *o,
                             struct watched_map_taking *t, struct gcd_error *err)
{
    const struct watched_layout *l = &w->layouts[o->number];
    *t = (struct watched_map_taking){ .w = w,
                                      .o = o,
                                      .layout = l,
                                      .slots = (uint32_t)slots_of(w, l, o->size),
                                      .at = l->repeated_from,
                                      .generation = NO_GENERATION };
    struct null_map map = { .address = o->address, .slots = t->slots };
    return null_maps_add(w->maps, &map, &t->bits, err);
}

/* Goes to the next run with references; false: there is none, or it is not in the object. */
static bool next_run(struct watched_map_taking *t)
{
    const struct watched_layout *l = t->layout;
    bool repeated = l->repeated_from != 0;
    while (t->left == 0) {
        if (repeated && t->run > 0)
            t->at += t->w->runs[l->first + t->run - 1].more;
        if (repeated && t->run == l->count) {
            t->run = 0;
            if (++t->element == elements_of(l, t->o->size))
                return false;
        }
        if (t->run == l->count || t->slot == t->slots)
            return false;
        const struct watched_run *r = &t->w->runs[l->first + t->run++];
        t->at = repeated ? t->at : r->at;
        t->left = repeated ? r->at : (r->more + t->o->size) / REFERENCE;
    }
    return t->at % REFERENCE == 0 && t->at >= REFERENCE && t->at < t->o->size &&
           t->left <= (t->o->size - t->at) / REFERENCE && t->left <= t->slots - t->slot;
}

static void take_slot(struct watched_map_taking *t, uint64_t to)
{
    if (to != 0) {
        uint8_t g = t->w->generation(t->w->generation_ctx, to);
        t->bits[t->slot / 8] |= (uint8_t)(1u << t->slot % 8);
        t->sum = null_map_mix(t->sum, to);
        t->set++;
        t->generation = g < t->generation ? g : t->generation;
    }
    t->slot++;
    t->at += REFERENCE;
    t->left--;
}

/* Is the object at P still of its type and its length? */
static bool is_object(const struct watched_map_taking *t, const uint8_t *p, size_t n)
{
    const struct watched_layout *l = t->layout;
    if (n < 2 * REFERENCE)
        return false;
    /* a collection marks objects in the lowest bits */
    return (gcd_le64(p) & ~UINT64_C(7)) == t->o->table &&
           (l->component_bytes == 0 || gcd_le32(p + LENGTH_AT) == elements_of(l, t->o->size));
}

void watched_map_take(struct watched_map_taking *t, const uint8_t *p, uint64_t from, size_t n)
{
    if (from == 0)
        t->wrong = !is_object(t, p, n);
    while (!t->wrong && t->slot < t->slots) {
        if (!next_run(t)) {
            t->wrong = true;
            return;
        }
        if (t->at < from || t->at - from >= n)
            return;
        take_slot(t, gcd_le64(p + (t->at - from)));
    }
}

gcd_status watched_map_end_taking(struct watched_map_taking *t, uint32_t batch,
                                  struct gcd_error *err)
{
    struct watched_maps *w = t->w;
    /* of a type that can be unloaded, the first reference is none of the object's memory */
    bool same =
        !t->wrong && t->slot == t->slots && (t->set == t->o->edges || t->set + 1 == t->o->edges);
    if (same && !gcd_vec_reserve(&w->alloc, &w->times, &w->time_cap, w->maps->count,
                                 sizeof *w->times, SIZE_MAX))
        return gcd_fail_nomem(err, "reading which references are null");
    if (same) {
        w->maps->maps[w->maps->count - 1].check = null_map_check(t->sum);
        w->times[w->maps->count - 1] = (struct watched_map_time){ batch, t->generation };
        return GCD_OK;
    }
    w->changed++;
    null_maps_drop(w->maps);
    return GCD_OK;
}
