/*
 * Which references belong to which object when events are missing.
 *
 * The walk is two sequences, all objects and all their references, cut into events independently: an object owns the next "edge
 * count" references.  In an incomplete dump each sequence arrives as runs: events with successive numbers, holes between them.
 * A reference is CERTAIN to belong to an object when the positions of both in the sequence of all references are certain:
 *
 *     of references   a run that begins with event 0 begins at position 0.  Behind a hole: the runtime sends an event when its buffer is
 *                     full, and one last event (CoreCLR and Native AOT; measured, .NET 8 to 10), so event N begins at N times what
 *                     fits.  This is believed when every event that another one follows is full and one full event has been seen.
 *                     Otherwise only the last run can be placed, by its end.
 *     of objects      the first reference of a run that begins with event 0 is at position 0.  Behind a hole nobody knows how many
 *                     references the lost objects had.  Only the last run can be placed, by its end: the last reference of the last
 *                     object is the last of all, when it is certain where both sequences end.
 *
 *     Where a sequence ends is certain when its last event is not full, or when the holes are all that the walk's thread has lost.
 *     How many references there are in all is then the end of the references, or the sum of the counts of all objects.
 *
 * So objects before the first and behind the last hole in the objects keep all references that arrived; those between two holes
 * keep none.  What contradicts itself (sums that differ, numbers that step back) is believed up to the first hole only.
 */
#include "base/mem.h"
#include "base/ovf.h"
#include "heap/heap.h"

bool heap_runs_add(const struct gcd_alloc *a, struct heap_runs *r, const struct gcd_clr_bulk *b, uint64_t edges)
{
    uint32_t full = gcd_clr_bulk_full(b);
    r->uneven = r->uneven || (r->count > 0 && r->last_items != full) || b->count > full;
    r->full_seen = r->full_seen || b->count == full;
    r->full = full;
    bool follows = r->count > 0 && b->index == r->last_index + 1;
    bool steps_back = r->count > 0 && b->index <= r->last_index;
    if (!follows && r->count == HEAP_RUNS_MAX)
        steps_back = true;               /* more holes than anybody can use: as good as disorder */
    r->disordered = r->disordered || steps_back;
    if (r->count == 0 || (!follows && r->count < HEAP_RUNS_MAX)) {
        if (!gcd_vec_reserve(a, &r->items, &r->cap, r->count + 1, sizeof *r->items, HEAP_RUNS_MAX))
            return false;
        r->items[r->count++] = (struct heap_run){ .index = b->index, .start = HEAP_UNPLACED };
    }
    struct heap_run *run = &r->items[r->count - 1];
    run->items += b->count;              /* cannot overflow: each has its bytes in the trace */
    gcd_add_saturating(&run->edges, edges);
    r->last_index = b->index;
    r->last_items = b->count;
    return true;
}

void heap_runs_free(const struct gcd_alloc *a, struct heap_runs *r)
{
    gcd_mem_free(a, r->items, r->cap * sizeof *r->items);
    *r = (struct heap_runs){ .items = NULL };
}

static struct heap_run *last_of(const struct heap_runs *r)
{
    return r->count > 0 ? &r->items[r->count - 1] : NULL;
}

static bool from_zero(const struct heap_runs *r)
{
    return r->count > 0 && r->items[0].index == 0;
}

/* What is known of the two sequences before anything is placed. */
struct sequences {
    struct heap_runs *nodes, *edges;
    bool sized;                  /* all events but the last of a kind are full */
    bool nodes_end, edges_end;   /* the last event of the kind has arrived */
    bool total_known;
    uint64_t total;              /* all references of the walk, when known */
};

static bool ends(const struct heap_runs *r, bool sized, bool accounted)
{
    return !r->disordered && (accounted || (sized && r->count > 0 && r->last_items < r->full));
}

/* The end of the references as far as they arrived, if nothing is missing between them or SIZED. */
static uint64_t edges_reach(const struct sequences *s)
{
    const struct heap_run *last = last_of(s->edges);
    return last == NULL ? 0 : s->sized ? last->index * (uint64_t)s->edges->full + last->items : last->items;
}

/* How many references there are in all, from either side.  Nothing is believed when the two contradict each other. */
static void find_total(struct sequences *s, uint64_t declared)
{
    bool whole_nodes = from_zero(s->nodes) && s->nodes->count == 1;
    bool whole_edges = s->edges->count == 0 || (from_zero(s->edges) && s->edges->count == 1);
    bool by_edges = s->edges_end && (s->sized || whole_edges), by_nodes = s->nodes_end && whole_nodes && declared != UINT64_MAX;
    uint64_t reach = edges_reach(s);
    s->total = by_edges ? reach : declared;
    s->total_known = by_edges || by_nodes;
    if (s->total_known && (declared > s->total || reach > s->total || (by_edges && by_nodes && declared != reach)))
        s->sized = s->nodes_end = s->edges_end = s->total_known = false;
}

static void place_edges(const struct sequences *s)
{
    struct heap_runs *r = s->edges;
    struct heap_run *last = last_of(r);
    if (from_zero(r))
        r->items[0].start = 0;
    for (size_t i = 0; i < r->count && s->sized && !r->disordered; i++)
        r->items[i].start = r->items[i].index * (uint64_t)r->full;
    uint64_t before = from_zero(r) && r->count > 1 ? r->items[0].items : 0;
    if (last != NULL && last->start == HEAP_UNPLACED && s->edges_end && s->total_known && before <= s->total &&
        last->items <= s->total - before)
        last->start = s->total - last->items;
}

static void place_nodes(const struct sequences *s)
{
    struct heap_runs *r = s->nodes;
    struct heap_run *last = last_of(r);
    if (from_zero(r))
        r->items[0].start = 0;
    uint64_t before = from_zero(r) && r->count > 1 ? r->items[0].edges : 0;
    if (last != NULL && last->start == HEAP_UNPLACED && s->nodes_end && s->total_known && before <= s->total &&
        last->edges <= s->total - before)
        last->start = s->total - last->edges;
}

/* References whose owner has arrived and is certain. */
static uint64_t count_kept(const struct heap_runs *nodes, const struct heap_runs *edges)
{
    uint64_t kept = 0;
    size_t e = 0;
    for (size_t n = 0; n < nodes->count; n++) {
        const struct heap_run *node = &nodes->items[n];
        uint64_t node_end = node->start;
        if (node->start == HEAP_UNPLACED)
            continue;
        gcd_add_saturating(&node_end, node->edges);
        while (e < edges->count) {
            const struct heap_run *edge = &edges->items[e];
            uint64_t from = edge->start, to = edge->start;
            gcd_add_saturating(&to, edge->items);
            bool beyond = edge->start != HEAP_UNPLACED && to > node_end;
            from = from > node->start ? from : node->start;
            to = to < node_end ? to : node_end;
            if (edge->start != HEAP_UNPLACED && from < to)
                kept += to - from;
            if (beyond)
                break;                   /* the rest of it may belong to the next run of objects */
            e++;
        }
    }
    return kept;
}

void heap_runs_place(struct heap_walk *w, bool accounted)
{
    struct sequences s = { .nodes = &w->runs[HEAP_RUNS_NODES], .edges = &w->runs[HEAP_RUNS_EDGES] };
    uint64_t nodes_missing = w->index[HEAP_NODES].missing, edges_missing = w->index[HEAP_EDGES].missing;
    struct heap_loss *l = &w->loss;
    s.sized = !s.nodes->uneven && !s.edges->uneven && (s.nodes->full_seen || s.edges->full_seen);
    s.nodes_end = ends(s.nodes, s.sized, accounted);
    s.edges_end = ends(s.edges, s.sized, accounted);
    find_total(&s, w->edges_declared);
    place_edges(&s);
    place_nodes(&s);
    *l = (struct heap_loss){ .objects_exact = s.nodes_end && (s.sized || nodes_missing == 0),
                             .edges_exact = s.total_known };
    l->objects = s.nodes->disordered ? 0 : s.sized ? nodes_missing * s.nodes->full : nodes_missing;
    if (l->objects == 0 && w->edges > w->edges_declared)     /* they have owners */
        l->objects = !l->objects_exact;
    uint64_t least = s.edges->disordered ? 0 : s.sized ? edges_missing * s.edges->full : edges_missing;
    if (w->edges_declared > w->edges && w->edges_declared - w->edges > least)
        least = w->edges_declared - w->edges;
    l->edges = l->edges_exact ? s.total - w->edges : least;
    l->edges_dropped = w->edges - count_kept(s.nodes, s.edges);
}
