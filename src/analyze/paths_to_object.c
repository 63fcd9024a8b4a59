#include <gcdumpc/paths.h>

#include <stdatomic.h>

#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_edges.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY 0x10000u

/* One way in which the object is held. */
struct hold {
    size_t root;  /* SIZE_MAX: see gcd_object_path */
    uint32_t via; /* the node that refers to it; GCD_NODE_NONE: the root holds it */
    bool dependent;
};

struct gcd_object_paths {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_paths *p;
    uint32_t object, max;
    struct hold *holds; /* [count] */
    size_t count, room;
    uint64_t more;
    struct gcd_object_step *steps; /* of the path requested last */
    size_t step_room;
};

static gcd_status add(struct gcd_object_paths *o, struct hold h, struct gcd_error *err)
{
    if (o->count == o->max) {
        o->more++;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&o->alloc, &o->holds, &o->room, o->count + 1, sizeof *o->holds, o->max))
        return gcd_fail_nomem(err, "looking for what holds the object");
    o->holds[o->count++] = h;
    return GCD_OK;
}

static gcd_status add_roots(struct gcd_object_paths *o, bool late, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(o->g);
    for (unsigned group = 0; group < GCD_GROUP_WEAK; group++)
        for (size_t i = 0; i < s->root_count; i++)
            if (s->roots[i].node == o->object && gcd_root_group(&s->roots[i]) == group &&
                gcd_group_is_late((enum gcd_root_group)group) == late)
                GCD_TRY(add(o, (struct hold){ i, GCD_NODE_NONE, false }, err));
    return GCD_OK;
}

/* Adds the referrers in the order of their own paths, so the shortest come first.  BEHIND and KEYS:
 * cleared, one bit per node. */
static gcd_status add_referrers(struct gcd_object_paths *o, uint64_t *behind, uint64_t *keys,
                                const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    const uint32_t *order = gcd_paths_order(o->p);
    for (size_t i = 0; i < gcd_graph_dependent_count(o->g); i++)
        if (gcd_graph_dependent(o->g, i)->value == o->object)
            bits_set(keys, gcd_graph_dependent(o->g, i)->key);
    for (uint32_t i = 0; i < gcd_paths_reachable(o->p); i++) {
        uint32_t node = order[i], parent = gcd_paths_parent(o->p, node);
        if (i % CHECK_EVERY == 0 && cancel != NULL &&
            atomic_load_explicit(cancel, memory_order_relaxed))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        if (node == o->object || (parent != GCD_NODE_ROOT && bits_get(behind, parent))) {
            bits_set(behind, node); /* its own path goes through the object */
            continue;
        }
        bool by_reference = gcd_graph_refers(o->g, node, o->object);
        if (by_reference || bits_get(keys, node))
            GCD_TRY(add(o, (struct hold){ SIZE_MAX, node, !by_reference }, err));
    }
    return GCD_OK;
}

static gcd_status add_all(struct gcd_object_paths *o, uint64_t *behind, uint64_t *keys,
                          const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    size_t root = gcd_paths_root(o->p, o->object);
    bool late = root != SIZE_MAX &&
                gcd_group_is_late(gcd_root_group(&gcd_graph_summary(o->g)->roots[root]));
    if (gcd_paths_pseudo_roots(o->p) > 0 && gcd_paths_parent(o->p, o->object) == GCD_NODE_ROOT)
        GCD_TRY(add(o, (struct hold){ SIZE_MAX, GCD_NODE_NONE, false }, err));
    GCD_TRY(add_roots(o, false, err));
    if (late)
        GCD_TRY(add_roots(o, true, err));
    GCD_TRY(add_referrers(o, behind, keys, cancel, err));
    return late ? GCD_OK : add_roots(o, true, err);
}

static gcd_status find(struct gcd_object_paths *o, const gcd_cancel_flag *cancel,
                       struct gcd_error *err)
{
    size_t words = ((size_t)gcd_graph_node_count(o->g) + 63) / 64;
    uint64_t *bits = gcd_mem_new_array(&o->alloc, 2 * words, sizeof *bits);
    gcd_status st = bits != NULL ? add_all(o, bits, bits + words, cancel, err)
                                 : gcd_fail_nomem(err, "looking for what holds the object");
    gcd_mem_free(&o->alloc, bits, 2 * words * sizeof *bits);
    return st;
}

gcd_status gcd_object_paths_new(const struct gcd_graph *g, const struct gcd_paths *p,
                                const struct gcd_object_paths_options *options,
                                struct gcd_object_paths **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_object_paths *o = gcd_mem_new(&a, sizeof *o);
    if (o == NULL)
        return gcd_fail_nomem(err, "looking for what holds the object");
    *o = (struct gcd_object_paths){
        .alloc = a, .g = g, .p = p, .object = options->object, .max = options->max
    };
    gcd_status st = find(o, options->context.cancel, err);
    if (st == GCD_OK)
        *ret = o;
    else
        gcd_object_paths_free(o);
    return st;
}

void gcd_object_paths_free(struct gcd_object_paths *o)
{
    if (o == NULL)
        return;
    gcd_mem_free(&o->alloc, o->holds, o->room * sizeof *o->holds);
    gcd_mem_free(&o->alloc, o->steps, o->step_room * sizeof *o->steps);
    struct gcd_alloc a = o->alloc;
    gcd_mem_free(&a, o, sizeof *o);
}

size_t gcd_object_paths_count(const struct gcd_object_paths *o, uint64_t *ret_more)
{
    *ret_more = o->more;
    return o->count;
}

gcd_status gcd_object_paths_get(struct gcd_object_paths *o, size_t i, struct gcd_object_path *ret,
                                struct gcd_error *err)
{
    const struct hold *h = &o->holds[i];
    size_t n = 0;
    for (uint32_t node = o->object, next; node != GCD_NODE_ROOT; node = next) {
        if (!gcd_vec_reserve(&o->alloc, &o->steps, &o->step_room, n + 1, sizeof *o->steps,
                             SIZE_MAX))
            return gcd_fail_nomem(err, "following the path of an object");
        next = n > 0                     ? gcd_paths_parent(o->p, node)
               : h->via != GCD_NODE_NONE ? h->via
                                         : GCD_NODE_ROOT;
        bool dependent = n == 0 ? h->dependent
                                : next != GCD_NODE_ROOT && gcd_graph_dependent_count(o->g) > 0 &&
                                      !gcd_graph_refers(o->g, next, node);
        o->steps[n++] = (struct gcd_object_step){ node, dependent };
    }
    *ret = (struct gcd_object_path){ .root = h->via != GCD_NODE_NONE ? gcd_paths_root(o->p, h->via)
                                                                     : h->root,
                                     .steps = o->steps,
                                     .count = n };
    return GCD_OK;
}
