/*
 * Memory that the collector cannot return or move: free memory in the large and pinned object
 * heaps, which are not compacted, and objects that handles pin.
 */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/generations.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* ---- free memory in the large object heap ---- */

#define LARGE_OBJECTS GCD_GENERATION_LOH

struct large {
    uint64_t *of_type; /* [types] bytes */
    uint64_t *pools;   /* the objects of pools, a bit for each */
    uint64_t pooled;   /* bytes that pools keep */
};

/* The type with the most bytes in the large object heap. */
static uint32_t most_bytes(const struct suspects_work *w, const uint64_t *bytes)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < w->types; i++)
        if (bytes[i] > bytes[most])
            most = i;
    return most;
}

/* Objects of pools have what they keep this near below them. */
#define NEAR 8u
/* If so much of the large objects is a pool's, it has grown in a peak, and the gaps with it. */
#define MOSTLY(bytes) ((bytes) - (bytes) / 4)

/* Marks the objects of pools, which are notes; the list is grouped by suspect, in the order of ids.
 */
static uint64_t *find_pools(const struct suspects_work *w)
{
    uint64_t *pools = gcd_mem_new_array(w->alloc, w->words, sizeof *pools);
    size_t at = 0;
    for (size_t i = 0; i < w->owned_count && pools != NULL; i++) {
        while (at < w->s->count && w->s->items[at].id < w->owned[i].id)
            at++;
        if (at < w->s->count && w->s->items[at].id == w->owned[i].id &&
            gcd_suspect_kind_is_note(w->s->items[at].pub.kind))
            bits_set(pools, w->owned[i].node);
    }
    return pools;
}

static bool is_pooled(const struct suspects_work *w, const uint64_t *pools, uint32_t node)
{
    for (unsigned i = 0; i < NEAR && node < GCD_NODE_ROOT; i++) {
        if (bits_get(pools, node))
            return true;
        node = suspects_parent(w, node);
    }
    return false;
}

static gcd_status add_up(const struct suspects_work *w, struct gcd_generations *all,
                         struct large *l, struct gcd_error *err)
{
    size_t hint = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint64_t address = gcd_graph_node_address(w->g, node),
                 size = gcd_graph_node_size(w->g, node);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (gcd_generations_find(all, address, &hint) != LARGE_OBJECTS)
            continue;
        gcd_generations_add(all, address, size);
        gcd_add_saturating(&l->of_type[suspects_type_of(w, node)], size);
        if (is_pooled(w, l->pools, node))
            gcd_add_saturating(&l->pooled, size);
    }
    return GCD_OK;
}

static gcd_status add_free(struct suspects_work *w, const struct gcd_generation *g,
                           const struct large *l, struct gcd_error *err)
{
    struct gcd_suspect_check *check = &w->s->checks[GCD_SUSPECT_FRAGMENTATION];
    uint64_t free_bytes = g->used_bytes > g->aligned_bytes ? g->used_bytes - g->aligned_bytes : 0;
    struct suspect *x;
    check->objects = g->objects;
    check->bytes = free_bytes;
    if (free_bytes < w->s->threshold || free_bytes < g->used_bytes / FINDING_FREE_PART ||
        g->objects < FINDING_LARGE || (l->pooled > 0 && l->pooled >= MOSTLY(g->bytes)))
        return GCD_OK;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_FRAGMENTATION, GCD_NODE_NONE, most_bytes(w, l->of_type), &x,
                         err));
    x->pub.overlaps = true;
    x->pub.objects = g->objects;
    x->pub.bytes = free_bytes;
    x->pub.shallow_bytes = x->pub.retained_bytes = g->bytes;
    x->around_bytes = g->used_bytes;
    return GCD_OK;
}

gcd_status suspects_fragmentation(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    struct gcd_generations *all;
    uint64_t used = 0;
    w->s->checks[GCD_SUSPECT_FRAGMENTATION].unknown =
        s->range_count == 0 || gcd_graph_notes(w->g)->addresses_made_up;
    for (size_t i = 0; i < s->range_count; i++)
        if (s->ranges[i].generation == LARGE_OBJECTS)
            gcd_add_saturating(&used, s->ranges[i].used_bytes);
    if (used < w->s->threshold || w->s->checks[GCD_SUSPECT_FRAGMENTATION].unknown)
        return GCD_OK;
    GCD_TRY(gcd_generations_new(s, w->alloc, &all, err));
    struct large l = { .of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *l.of_type),
                       .pools = find_pools(w) };
    gcd_status st = l.of_type != NULL && l.pools != NULL
                        ? add_up(w, all, &l, err)
                        : gcd_fail_nomem(err, "looking at the large object heap");
    if (st == GCD_OK)
        st = add_free(w, gcd_generations_get(all, LARGE_OBJECTS), &l, err);
    gcd_mem_free(w->alloc, l.of_type, w->types * sizeof *l.of_type);
    gcd_mem_free(w->alloc, l.pools, w->words * sizeof *l.pools);
    gcd_generations_free(all);
    return st;
}

void suspects_say_fragmentation(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_bytes(s, x->pub.bytes);
    suspects_put(s, " of ");
    suspects_put_bytes(s, x->around_bytes);
    suspects_put(s, " in the large object heap are free, between ");
    suspects_put_count(s, x->pub.objects, "object", "objects");
    suspects_put(s, ", by size mostly ");
    suspects_put_type(s, x->pub.type);
    suspects_put(s, ": this heap is not compacted.");
}

/* ---- pinned by handles ---- */

static gcd_status add_pins(struct suspects_work *w, const uint64_t *pinned, uint64_t *of_type,
                           struct gcd_error *err)
{
    struct gcd_suspect sum = { .node = GCD_NODE_NONE };
    struct gcd_suspect_check *check = &w->s->checks[GCD_SUSPECT_PINS];
    uint64_t most = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t type = suspects_type_of(w, node);
        if (!bits_get(pinned, node))
            continue;
        sum.objects++;
        gcd_add_saturating(&sum.shallow_bytes, gcd_graph_node_size(w->g, node));
        if (suspects_parent(w, node) == GCD_NODE_ROOT)
            gcd_add_saturating(&sum.bytes, gcd_dominators_retained(w->d, node));
        if (++of_type[type] > most) {
            most = of_type[type];
            sum.type = type;
            sum.node = node;
        }
    }
    check->objects = sum.objects;
    check->bytes = sum.bytes;
    if (sum.objects < FINDING_PINS)
        return GCD_OK;
    struct suspect *x;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_PINS, sum.node, sum.type, &x, err));
    x->pub.overlaps = true;
    x->pub.objects = sum.objects;
    x->pub.shallow_bytes = sum.shallow_bytes;
    x->pub.bytes = x->pub.retained_bytes = sum.bytes;
    x->type_objects = most;
    for (uint32_t node = 0; node < w->nodes; node++)
        if (bits_get(pinned, node))
            GCD_TRY(suspects_own(w, node, err));
    return GCD_OK;
}

gcd_status suspects_pins(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    size_t words = ((size_t)w->nodes + 63) / 64, n = 0;
    for (size_t i = 0; i < s->root_count; i++)
        n += gcd_root_group(&s->roots[i]) == GCD_GROUP_PINNED_HANDLES;
    if (n == 0)
        return GCD_OK;
    uint64_t *pinned = gcd_mem_new_array(w->alloc, words, sizeof *pinned),
             *of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *of_type);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < s->root_count && pinned != NULL; i++)
        if (gcd_root_group(&s->roots[i]) == GCD_GROUP_PINNED_HANDLES)
            bits_set(pinned, s->roots[i].node);
    if (pinned == NULL || of_type == NULL)
        st = gcd_fail_nomem(err, "looking at pinned objects");
    if (st == GCD_OK)
        st = add_pins(w, pinned, of_type, err);
    gcd_mem_free(w->alloc, pinned, words * sizeof *pinned);
    gcd_mem_free(w->alloc, of_type, w->types * sizeof *of_type);
    return st;
}

void suspects_tell_pins(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "object is pinned by a handle",
                       "objects are pinned by handles");
    suspects_put(s, x->pub.objects == x->type_objects ? ", all " : ", mostly ");
    suspects_put_type(s, x->pub.type);
    if (x->pub.objects != x->type_objects) {
        suspects_put(s, " (");
        suspects_put_number(s, x->type_objects);
        suspects_put(s, ")");
    }
}
