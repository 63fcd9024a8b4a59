/*
 * How much of each suspect only events keep alive: what no path from the roots reaches that avoids
 * the lists of their handlers.  Monsters of a game world that hear its clock are in its list as
 * well: they live without the event, so it is not what went wrong.  All events count together,
 * because objects that hear two of them are held by each.
 */
#include <gcdumpc/unstable/root_order.h>

#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* The walk is not to pass the list of DELEGATE. */
static void avoid(const struct suspects_work *w, uint64_t *seen, uint32_t delegate)
{
    size_t count;
    uint32_t list = gcd_collections_handlers(w->collections, delegate, &count);
    if (list != GCD_NODE_NONE)
        bits_set(seen, list);
}

/* Returns whether there is an event whose objects may belong to another suspect. */
static bool avoid_all(const struct suspects_work *w, uint64_t *seen)
{
    bool any = false;
    for (size_t i = 0; i < w->s->count; i++)
        if (w->s->items[i].pub.kind == GCD_SUSPECT_HANDLERS) {
            any = any || w->s->items[i].pub.overlaps;
            avoid(w, seen, w->s->items[i].pub.node);
        }
    for (size_t i = 0, at = 0; i < w->owned_count && any; i++) { /* an event of many objects */
        while (at < w->s->count && w->s->items[at].id < w->owned[i].id)
            at++;
        if (at < w->s->count && w->s->items[at].id == w->owned[i].id &&
            w->s->items[at].pub.kind == GCD_SUSPECT_HANDLERS)
            avoid(w, seen, w->owned[i].node);
    }
    return any;
}

static gcd_status find(struct suspects_work *w, uint64_t *seen, struct gcd_error *err)
{
    if (!avoid_all(w, seen))
        return GCD_OK;
    GCD_TRY(gcd_reached_before(w->g, GCD_GROUP_WEAK, &w->o->context, seen, err));
    for (uint32_t node = 0; node < w->nodes; node++)
        if (!bits_get(seen, node) && w->owner[node] != SUSPECTS_UNKNOWN &&
            w->owner[node] != SUSPECTS_NOBODY)
            gcd_add_saturating(&w->s->items[w->owner[node] - 1u].by_events,
                               gcd_graph_node_size(w->g, node));
    return GCD_OK;
}

gcd_status suspects_find_by_events(struct suspects_work *w, struct gcd_error *err)
{
    /* one bit per node: reached, or a list of handlers */
    uint64_t *seen = gcd_mem_new_array(w->alloc, w->words, sizeof *seen);
    gcd_status st = seen != NULL ? find(w, seen, err)
                                 : gcd_fail_nomem(err, "looking at what events keep alive");
    gcd_mem_free(w->alloc, seen, w->words * sizeof *seen);
    return st;
}
