#include "write/stacks.h"

#include <stdint.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"

#define DEEPER "..."

struct turning {
    struct stacks *s;
    struct gcd_alloc alloc;
    struct gcd_idmap labels;   /* address of a name -> label */
    struct gcd_idmap children; /* step << 32 | label -> step */
    uint32_t names;
};

/* Equal names nearly always have equal addresses. */
static gcd_status label_of(struct turning *t, const char *name, uint32_t *ret,
                           struct gcd_error *err)
{
    struct stacks *s = t->s;
    *ret = gcd_idmap_get(&t->labels, (uint64_t)(uintptr_t)name);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!gcd_vec_reserve(&t->alloc, &s->names, &s->name_room, (size_t)t->names + 1,
                         sizeof *s->names, UINT32_MAX) ||
        !gcd_idmap_put(&t->labels, (uint64_t)(uintptr_t)name, t->names))
        return gcd_fail_nomem(err, "merging stacks");
    *ret = t->names;
    s->names[t->names++] = name;
    return GCD_OK;
}

static gcd_status step_below(struct turning *t, uint32_t parent, const char *name, uint32_t *ret,
                             struct gcd_error *err)
{
    struct stacks *s = t->s;
    uint32_t label;
    GCD_TRY(label_of(t, name, &label, err));
    uint64_t key = (uint64_t)parent << 32 | label;
    *ret = gcd_idmap_get(&t->children, key);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!gcd_vec_reserve(&t->alloc, &s->made, &s->made_room, s->count + 1, sizeof *s->made,
                         UINT32_MAX - 1) ||
        !gcd_idmap_put(&t->children, key, (uint32_t)s->count))
        return gcd_fail_nomem(err, "merging stacks");
    *ret = (uint32_t)s->count;
    s->made[s->count++] = (struct gcd_merged_step){ .parent = parent, .label = label };
    return GCD_OK;
}

/* The stack that ends with FRAME, the outermost frame first. */
static gcd_status turn(struct turning *t, const struct gcd_async_frame *frames, uint32_t frame,
                       struct gcd_error *err)
{
    const struct gcd_async_frame *last = &frames[frame];
    uint32_t step = GCD_STEP_NONE;
    if (last->depth >= STACKS_DEPTH) {
        GCD_TRY(step_below(t, step, DEEPER, &step, err));
        gcd_add_saturating(&t->s->cut, last->stacks);
    }
    for (; frame != GCD_FRAME_NONE; frame = frames[frame].parent)
        if (frames[frame].depth < STACKS_DEPTH)
            GCD_TRY(step_below(t, step, frames[frame].name, &step, err));
    gcd_add_saturating(&t->s->made[step].own_count, last->stacks);
    gcd_add_saturating(&t->s->made[step].own_bytes, last->bytes);
    return GCD_OK;
}

gcd_status stacks_of_waits(struct stacks *s, struct gcd_error *err)
{
    struct turning t = { .s = s, .alloc = gcd_alloc_or_default(s->options->context.alloc) };
    size_t n, count;
    const struct gcd_async_frame *frames = gcd_async_frames(s->async, &count);
    const uint32_t *stacks = gcd_async_stacks(s->async, &n);
    gcd_idmap_init(&t.labels, &t.alloc);
    gcd_idmap_init(&t.children, &t.alloc);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < n && st == GCD_OK; i++)
        st = turn(&t, frames, stacks[i], err);
    gcd_idmap_done(&t.labels);
    gcd_idmap_done(&t.children);
    s->steps = s->made;
    s->labels = t.names;
    return st;
}
