/*
 * Stacks: a StackBlock has { first id u32, count u32 }, then for each stack { bytes u32, addresses
 * }, the leaf first.  A sequence point ends them all: the numbers begin again.
 */
#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

/* All stacks between two sequence points; a runtime writes one after 10 MB of events. */
#define STACK_BYTES_MAX ((size_t)1 << 30)
#define STACKS_MAX      ((size_t)1 << 24)

static gcd_status keep_stack(struct gcd_nt *nt, uint32_t id, const uint8_t *p, size_t n,
                             struct gcd_error *err)
{
    struct nt_stacks *s = &nt->stacks;
    if (n > STACK_BYTES_MAX - s->used || s->count >= STACKS_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "too many stacks between two sequence points");
    if (!gcd_vec_reserve(&nt->alloc, &s->bytes, &s->bytes_cap, s->used + n, 1, STACK_BYTES_MAX) ||
        !gcd_vec_reserve(&nt->alloc, &s->items, &s->cap, s->count + 1, sizeof *s->items,
                         STACKS_MAX) ||
        !gcd_idmap_put(&s->by_id, id, (uint32_t)s->count))
        return gcd_fail_nomem(err, "reading stacks");
    s->items[s->count++] = (struct nt_stack){ .off = (uint32_t)s->used, .bytes = (uint32_t)n };
    if (n > 0)
        memcpy(s->bytes + s->used, p, n);
    s->used += n;
    return GCD_OK;
}

gcd_status nt_stack_block(struct gcd_nt *nt, struct gcd_cur *c, struct gcd_error *err)
{
    if (!nt->stacks.wanted)
        return GCD_OK;
    uint32_t first = gcd_cur_u32(c), count = gcd_cur_u32(c);
    for (uint32_t i = 0; i < count && c->err == GCD_OK; i++) {
        uint32_t n = gcd_cur_u32(c);
        const uint8_t *p = gcd_cur_bytes(c, n);
        if (c->err == GCD_OK)
            GCD_TRY(keep_stack(nt, first + i, p, n, err));
    }
    return c->err != GCD_OK ? nt_cur_error(c, "a stack block", err) : GCD_OK;
}

void nt_stack_of(const struct gcd_nt *nt, uint32_t id, struct gcd_event *ret)
{
    const struct nt_stacks *s = &nt->stacks;
    uint32_t i = s->wanted ? gcd_idmap_get(&s->by_id, id) : GCD_IDMAP_NONE;
    if (i == GCD_IDMAP_NONE || s->items[i].bytes == 0)
        return;
    ret->stack = s->bytes + s->items[i].off;
    ret->stack_bytes = s->items[i].bytes;
}

void nt_stacks_forget(struct gcd_nt *nt)
{
    nt->stacks.count = nt->stacks.used = 0;
    gcd_idmap_clear(&nt->stacks.by_id);
}

void nt_stacks_done(struct gcd_nt *nt)
{
    struct nt_stacks *s = &nt->stacks;
    gcd_mem_free(&nt->alloc, s->bytes, s->bytes_cap);
    gcd_mem_free(&nt->alloc, s->items, s->cap * sizeof *s->items);
    gcd_idmap_done(&s->by_id);
}
