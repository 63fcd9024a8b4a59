/*
 * Which collections have nothing young in them: the collections of the runtime have moved all of it
 * into the oldest generation, so nothing came in since the last collection but one.  An index that
 * was built once looks so, and a leak of which nobody adds any more; not locks that were all made
 * in the beginning, when calls wait for them since then.
 */
#include "analyze/suspects/suspects.h"

#include <gcdumpc/generations.h>

#include "base/error.h"

#define OLDEST    2u
#define FEWEST    10u
#define MOSTLY(n) ((n) - (n) / 4)

static bool can_settle(const struct suspect *x)
{
    return x->pub.kind == GCD_SUSPECT_OBJECT && x->collection.kind != GCD_COLLECTION_NONE &&
           x->pub.element.type != GCD_TYPE_NONE;
}

/* Frozen elements and large ones, which are in generation 2 from the beginning, tell nothing. */
static gcd_status count_ages(struct suspects_work *w, const struct gcd_generations *ages,
                             struct gcd_error *err)
{
    size_t hint = 0;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint16_t owner = w->owner[node];
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (owner == SUSPECTS_UNKNOWN || owner == SUSPECTS_NOBODY)
            continue;
        struct suspect *x = &w->s->items[owner - 1u];
        if (!can_settle(x))
            continue;
        unsigned age = gcd_generations_find(ages, gcd_graph_node_address(w->g, node), &hint);
        x->young += age < OLDEST;
        if (w->alike[suspects_type_of(w, node)] == w->alike[x->pub.element.type])
            x->old_elements += age == OLDEST;
    }
    return GCD_OK;
}

gcd_status suspects_find_settled(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    struct gcd_generations *ages;
    bool any = false;
    for (size_t i = 0; i < w->s->count; i++)
        any |= can_settle(&w->s->items[i]);
    if (!any || s->range_count == 0 || w->lacks_references ||
        gcd_graph_notes(w->g)->addresses_made_up)
        return GCD_OK;
    GCD_TRY(gcd_generations_new(s, w->alloc, &ages, err));
    gcd_status st = count_ages(w, ages, err);
    for (size_t i = 0; i < w->s->count && st == GCD_OK; i++) {
        struct suspect *x = &w->s->items[i];
        x->settled = x->young == 0 && x->old_elements >= FEWEST &&
                     x->old_elements >= MOSTLY(x->pub.element.objects);
    }
    gcd_generations_free(ages);
    return st;
}
