/*
 * Which collections have no young element: the collections of the runtime have moved all of them
 * into the oldest generation, so nothing came in since the last collection but one.  An index that
 * was built once looks so, and a leak of which nobody adds any more.
 */
#include "analyze/suspects/suspects.h"

#include <gcdumpc/generations.h>

#include "base/error.h"

/* No element is deeper below its collection, except in chains and trees. */
#define DEEPEST   64u
#define OLDEST    2u
#define FEWEST    10u
#define MOSTLY(n) ((n) - (n) / 4)

static bool is_below(const struct suspects_work *w, uint32_t node, uint32_t collection)
{
    for (unsigned i = 0; i < DEEPEST && node < GCD_NODE_ROOT; i++) {
        if (node == collection)
            return true;
        node = gcd_dominators_parent(w->d, node);
    }
    return false;
}

/* Frozen elements and large ones, which are in generation 2 from the beginning, tell nothing. */
static gcd_status look(const struct suspects_work *w, const struct gcd_generations *ages,
                       struct suspect *x, struct gcd_error *err)
{
    uint64_t old = 0;
    size_t hint = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (w->alike[gcd_graph_node_type(w->g, node)] != w->alike[x->pub.element.type] ||
            !is_below(w, node, x->collection.node))
            continue;
        unsigned age = gcd_generations_find(ages, gcd_graph_node_address(w->g, node), &hint);
        if (age < OLDEST)
            return GCD_OK;
        old += age == OLDEST;
    }
    x->settled = old >= FEWEST && old >= MOSTLY(x->pub.element.objects);
    return GCD_OK;
}

gcd_status suspects_find_settled(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    struct gcd_generations *ages;
    gcd_status st = GCD_OK;
    if (s->range_count == 0 || w->lacks_references || gcd_graph_notes(w->g)->addresses_made_up)
        return GCD_OK;
    GCD_TRY(gcd_generations_new(s, w->alloc, &ages, err));
    for (size_t i = 0; i < w->s->count && st == GCD_OK; i++) {
        struct suspect *x = &w->s->items[i];
        if (x->pub.kind == GCD_SUSPECT_OBJECT && x->collection.kind != GCD_COLLECTION_NONE &&
            x->pub.element.type != GCD_TYPE_NONE)
            st = look(w, ages, x, err);
    }
    gcd_generations_free(ages);
    return st;
}
