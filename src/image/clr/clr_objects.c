/*
 * Objects lie one behind the other, each with its method table at its start.  Gaps are objects of
 * a type of their own, except for the unused rest of an allocation context and for zeros.
 */
#include "base/sort.h"
#include "image/clr/clr.h"

#define ALIGNED(n)       (((n) + 7) & ~UINT64_C(7))
#define OBJECT_MIN       24u
#define SLOTS_OF_MT_MASK (~UINT64_C(7)) /* mark and pin bits of the collector */

void clr_scan_begin(struct clr_scan *s, struct clr *c, const struct clr_region *r,
                    struct clr_lost *lost)
{
    *s = (struct clr_scan){ .c = c, .region = r, .at = r->start, .lost = lost };
    s->hole = gcd_count_up_to(c->holes, c->hole_count, sizeof *c->holes, r->start);
    s->hole -= s->hole > 0; /* it may reach into the region */
}

bool clr_object_at(struct clr *c, uint64_t address, struct clr_object *ret, gcd_status *ret_st)
{
    uint64_t table = image_u64(c->image, address) & SLOTS_OF_MT_MASK;
    struct clr_known_type *known = &c->known_types[table / 8 % CLR_KNOWN_TYPES];
    if (table == 0)
        return false;
    uint32_t type = known->id == table ? known->type : clr_type_of(c, table, ret_st);
    if (type == CLR_NONE)
        return false;
    *known = (struct clr_known_type){ .id = table, .type = type };
    const struct clr_type *t = &c->types[type];
    uint64_t bytes = t->base_bytes;
    if (bytes == 0)
        return false;
    if (t->component_bytes != 0)
        bytes += (uint64_t)t->component_bytes * image_u32(c->image, address + 8);
    *ret = (struct clr_object){ .address = address, .bytes = bytes, .type = type };
    return true;
}

/* Steps over memory without objects.  False at the end of the region. */
static bool skip_hole(struct clr_scan *s)
{
    struct clr *c = s->c;
    while (s->at < s->region->end) {
        while (s->hole < c->hole_count && c->holes[s->hole].end <= s->at)
            s->hole++;
        if (s->hole < c->hole_count && c->holes[s->hole].start <= s->at) {
            s->at = c->holes[s->hole++].end;
            continue;
        }
        uint64_t word = image_u64(c->image, s->at);
        if (word != 0 && (uint32_t)word != 0)
            return true;
        s->at += 8; /* cleared, or the header word before an object */
    }
    return false;
}

bool clr_scan_next(struct clr_scan *s, struct clr_object *ret)
{
    const struct clr_region *r = s->region;
    while (s->st == GCD_OK && skip_hole(s)) {
        bool is_object = clr_object_at(s->c, s->at, ret, &s->st);
        uint64_t bytes = is_object ? ALIGNED(ret->bytes) : 0;
        if (!is_object || bytes < OBJECT_MIN || bytes > r->end - s->at) {
            s->lost->regions++;
            s->lost->bytes += r->end - s->at;
            s->at = r->end;
            return false;
        }
        s->at += bytes;
        if (!s->c->types[ret->type].is_free)
            return true;
    }
    return false;
}

/* ---- references ---- */

void clr_slots_begin(struct clr_slots *s, struct clr *c, const struct clr_object *o)
{
    const struct clr_type *t = &c->types[o->type];
    *s = (struct clr_slots){ .c = c,
                             .type = t,
                             .object = o->address,
                             .bytes = o->bytes,
                             .allocator = t->loader_allocator != 0 };
    s->at = s->end = s->run_end = o->address + t->array_offset;
}

/* The next run of slots.  False: there are no more. */
static bool next_run(struct clr_slots *s)
{
    const struct clr_type *t = s->type;
    if (!t->repeated) {
        if (s->next == t->count)
            return false;
        const struct clr_series *r = &s->c->series[t->first + s->next++];
        s->at = s->object + r->offset;
        s->run_end = s->at + (r->bytes + s->bytes);
        return true;
    }
    if (s->begun) {
        s->at = s->run_end + s->c->groups[t->first + s->next].skip_bytes;
        s->next = (s->next + 1) % t->count;
    }
    s->begun = true;
    s->run_end = s->at + 8 * (uint64_t)s->c->groups[t->first + s->next].references;
    return s->at < s->object + s->bytes - 8; /* behind them is the header of the next object */
}

bool clr_slots_next_run(struct clr_slots *s, uint64_t *ret_target, uint64_t *ret_slot)
{
    if (s->allocator) {
        s->allocator = false;
        *ret_target = s->type->loader_allocator;
        *ret_slot = 0;
        return true;
    }
    uint64_t object_end = s->object + s->bytes;
    while (s->type->references && next_run(s)) {
        s->end = s->run_end < object_end ? s->run_end : object_end;
        for (; s->at < s->end; s->at += 8) {
            *ret_target = image_u64(s->c->image, s->at);
            *ret_slot = s->at;
            s->place++;
            if (*ret_target != 0) {
                s->at += 8;
                return true;
            }
        }
    }
    return false;
}
