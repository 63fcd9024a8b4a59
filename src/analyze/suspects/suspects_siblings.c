/*
 * One full channel among many of the same class that are nearly empty: a reader that is too slow or
 * has ended, while the others keep up.  Nobody takes that for a cache.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"

/* So many objects of the class tell; of these at most one part in so many has a full one. */
#define FEWEST  3u
#define FULL_OF 4u
/* A channel is nearly empty if it has less than this part of the suspect's bytes. */
#define EMPTY_PART 10u

static bool has_reader(enum gcd_collection_kind kind)
{
    return kind == GCD_COLLECTION_CHANNEL || kind == GCD_COLLECTION_BLOCKING;
}

uint32_t suspects_field_of(const struct suspects_work *w, uint32_t node, uint32_t type)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (suspects_type_of(w, edges[i]) == type)
            return edges[i];
    return GCD_NODE_NONE;
}

static gcd_status count(struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    uint32_t type = suspects_type_of(w, x->collection.node);
    uint64_t all = 0, full = 0,
             least = gcd_dominators_retained(w->d, x->collection.node) / EMPTY_PART;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (suspects_type_of(w, node) != x->pub.owner || suspects_parent(w, node) == GCD_NODE_NONE)
            continue;
        uint32_t other = suspects_field_of(w, node, type);
        all += other != GCD_NODE_NONE;
        full += other != GCD_NODE_NONE && gcd_dominators_retained(w->d, other) >= least;
    }
    if (all >= FEWEST && full <= all / FULL_OF + (all < FULL_OF)) {
        x->siblings = all;
        x->full_siblings = full;
    }
    return GCD_OK;
}

gcd_status suspects_find_siblings(struct suspects_work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        if (x->pub.kind == GCD_SUSPECT_OBJECT && has_reader(x->collection.kind) &&
            x->pub.owner_node != GCD_NODE_NONE &&
            suspects_field_of(w, x->pub.owner_node, suspects_type_of(w, x->collection.node)) ==
                x->collection.node)
            GCD_TRY(count(w, x, err));
    }
    return GCD_OK;
}
