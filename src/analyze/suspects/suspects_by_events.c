/*
 * How much of each suspect only events keep alive: what no path from the roots reaches that avoids
 * the lists of their handlers.  Monsters of a game world that hear its clock are in its list as
 * well: they live without the event, so it is not what went wrong.  All events count together,
 * because objects that hear two of them are held by each.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

struct walk {
    struct suspects_work *w;
    struct live_edges live;
    uint64_t *seen;  /* one bit per node: reached, or a list of handlers */
    uint32_t *stack; /* [nodes] */
    uint32_t depth;
};

static void reach(struct walk *s, uint32_t node)
{
    if (bits_get(s->seen, node))
        return;
    bits_set(s->seen, node);
    s->stack[s->depth++] = node;
}

static gcd_status walk(struct walk *s, struct gcd_error *err)
{
    uint32_t to, steps = 0;
    for (size_t i = 0; i < live_edges_root_count(&s->live); i++) {
        uint32_t node = live_edges_root(&s->live, i);
        if (node != GCD_NODE_NONE)
            reach(s, node);
    }
    while (s->depth > 0) {
        uint32_t node = s->stack[--s->depth];
        if (steps++ % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(s->w, err));
        for (uint64_t i = 0; (to = live_edges_at(&s->live, node, i)) != GCD_NODE_NONE; i++)
            reach(s, to);
    }
    return GCD_OK;
}

/* The walk is not to pass the list of DELEGATE. */
static void avoid(struct walk *s, uint32_t delegate)
{
    size_t count;
    uint32_t list = gcd_collections_handlers(s->w->collections, delegate, &count);
    if (list != GCD_NODE_NONE)
        bits_set(s->seen, list);
}

/* Returns whether there is an event whose objects may belong to another suspect. */
static bool avoid_all(struct walk *s)
{
    const struct suspects_work *w = s->w;
    bool any = false;
    for (size_t i = 0; i < w->s->count; i++)
        if (w->s->items[i].pub.kind == GCD_SUSPECT_HANDLERS) {
            any = any || w->s->items[i].pub.overlaps;
            avoid(s, w->s->items[i].pub.node);
        }
    for (size_t i = 0, at = 0; i < w->owned_count && any; i++) { /* an event of many objects */
        while (at < w->s->count && w->s->items[at].id < w->owned[i].id)
            at++;
        if (at < w->s->count && w->s->items[at].id == w->owned[i].id &&
            w->s->items[at].pub.kind == GCD_SUSPECT_HANDLERS)
            avoid(s, w->owned[i].node);
    }
    return any;
}

static gcd_status find(struct walk *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    if (!avoid_all(s))
        return GCD_OK;
    s->stack = gcd_mem_new_uncleared(w->alloc, w->nodes, sizeof *s->stack);
    if (!live_edges_init(&s->live, w->g, w->alloc) || s->stack == NULL)
        return gcd_fail_nomem(err, "looking at what events keep alive");
    GCD_TRY(walk(s, err));
    for (uint32_t node = 0; node < w->nodes; node++)
        if (!bits_get(s->seen, node) && w->owner[node] != SUSPECTS_UNKNOWN &&
            w->owner[node] != SUSPECTS_NOBODY)
            gcd_add_saturating(&w->s->items[w->owner[node] - 1u].by_events,
                               gcd_graph_node_size(w->g, node));
    return GCD_OK;
}

gcd_status suspects_find_by_events(struct suspects_work *w, struct gcd_error *err)
{
    struct walk s = { .w = w, .live = { .alloc = *w->alloc } };
    s.seen = gcd_mem_new_array(w->alloc, w->words, sizeof *s.seen);
    if (s.seen == NULL)
        return gcd_fail_nomem(err, "looking at what events keep alive");
    gcd_status st = find(&s, err);
    live_edges_done(&s.live);
    gcd_mem_free(w->alloc, s.stack, (size_t)w->nodes * sizeof *s.stack);
    gcd_mem_free(w->alloc, s.seen, w->words * sizeof *s.seen);
    return st;
}
