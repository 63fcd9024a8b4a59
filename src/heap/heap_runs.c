/*
 * Which references belong to which object when events are missing.
 *
 * The walk has two sequences, all objects and all their references, cut into events independently:
 * an object owns the next "edge count" references.  In an incomplete dump each sequence arrives as
 * runs: events with consecutive numbers, with gaps between them.  A reference is CERTAIN to belong
 * to an object when the positions of both in the sequence of all references are certain:
 *
 *     of references   a run that begins with event 0 begins at position 0.  After a gap: the
 *         runtime sends an event when its buffer is
 *                     full, and one last event (CoreCLR and Native AOT; measured, .NET 8 to 10), so
 *                         event N begins at N times the
 *                     capacity.  This is trusted when every event followed by another one is full
 *                                and one full event has been seen.
 *                     Otherwise only the last run can be placed, by its end.
 *     of objects      the first reference of a run that begins with event 0 is at position 0.
 *                     After a gap, the number of references of
 *                     the lost objects is unknown.  Only the last run can be placed, by its end:
 *                                                   the last reference of the last
 *                     object is the last of all, when it is certain where both sequences end.
 *
 *     The end of a sequence is certain when its last event is not full, or when the gaps explain
 *         everything the walk's thread has lost.
 *     The total number of references is then the end of the references, or the sum of the counts of
 *         all objects.
 *
 * So objects before the first and after the last gap in the objects keep all references that
 * arrived; those between two gaps keep none. Contradictory data (sums that differ, numbers that
 * step back) are trusted up to the first gap of any kind only.  Sums that differ without a gap mean
 * that parts of several walks were joined, and nothing tells where: then no reference is certain.
 *
 * All this is true of one walk.  A walk whose GCStart or GCEnd is missing can consist of the
 * beginning of one and the end of another, whose index numbers fit together by chance.  In such a
 * walk, and in one with misplaced events, only the data before the first missing event of its
 * thread are certain: the runs are split there.
 */
#include "base/mem.h"
#include "base/ovf.h"
#include "heap/heap.h"

bool heap_runs_add(const struct gcd_alloc *a, struct heap_runs *r, const struct gcd_clr_bulk *b,
                   uint64_t edges, uint64_t gaps, bool sure)
{
    uint32_t full = gcd_clr_bulk_full(b);
    r->uneven = r->uneven || (r->count > 0 && r->last_items != full) || b->count > full;
    r->full_seen = r->full_seen || b->count == full;
    r->full = full;
    bool follows = r->count > 0 && b->index == r->last_index + 1;
    bool steps_back = r->count > 0 && b->index <= r->last_index;
    if (!follows && r->count == HEAP_RUNS_MAX)
        steps_back = true; /* too many gaps to be useful: treated like disorder */
    r->disordered = r->disordered || steps_back;
    /*
     * The numbers of a thread reveal a loss only at its next buffer.  The lost event did not fit
     * into the old one, so a full event, which is just as long, is in a new one.  A loss before the
     * first event may have shown before the walk.
     */
    if (r->count > 0 && !follows && !steps_back && b->count == full)
        r->doubtful = r->doubtful || gaps - r->last_gaps < b->index - (r->last_index + 1);
    r->last_gaps = gaps;
    bool goes_on = follows && sure == r->items[r->count - 1].sure;
    if (r->count == 0 || (!goes_on && r->count < HEAP_RUNS_MAX)) {
        if (!gcd_vec_reserve(a, &r->items, &r->cap, r->count + 1, sizeof *r->items, HEAP_RUNS_MAX))
            return false;
        r->items[r->count++] =
            (struct heap_run){ .index = b->index, .sure = sure, .start = HEAP_UNPLACED };
    }
    struct heap_run *run = &r->items[r->count - 1];
    run->events++;
    run->items += b->count; /* cannot overflow: the trace has bytes for each */
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

/* Nothing of this kind is missing between run I and the previous one: other events are. */
static bool joined(const struct heap_runs *r, size_t i)
{
    return i > 0 && r->items[i].index == r->items[i - 1].index + r->items[i - 1].events;
}

static bool whole(const struct heap_runs *r)
{
    size_t i = 0;
    while (i < r->count && (i == 0 ? from_zero(r) : joined(r, i)))
        i++;
    return i == r->count;
}

/* Nothing at all is missing before its last event. */
static bool is_gapless(const struct heap_runs *r)
{
    return r->count == 0 || (r->count == 1 && from_zero(r) && r->items[0].sure);
}

/* What is known about the two sequences before any run is placed. */
struct sequences {
    struct heap_runs *nodes, *edges;
    bool sized;                /* all events except the last of a kind are full */
    bool nodes_end, edges_end; /* the last event of the kind has arrived */
    bool total_known;
    uint64_t total; /* number of all references of the walk, if known */
};

static bool ends(const struct heap_runs *r, bool sized, bool accounted)
{
    return !r->disordered && (accounted || (sized && r->count > 0 && r->last_items < r->full));
}

/* The end of the references received, if nothing is missing between them or SIZED. */
static uint64_t edges_reach(const struct sequences *s)
{
    const struct heap_runs *r = s->edges;
    const struct heap_run *last = last_of(r);
    if (last == NULL)
        return 0;
    if (s->sized)
        return last->index * (uint64_t)r->full + last->items;
    uint64_t items = last->items;
    for (size_t i = r->count - 1; joined(r, i); i--)
        items += r->items[i - 1].items;
    return items;
}

/* The total number of references, from either side.  False if the two contradict each other. */
static bool find_total(struct sequences *s, uint64_t declared)
{
    bool by_edges = s->edges_end && (s->sized || whole(s->edges));
    bool by_nodes =
        s->nodes_end && s->nodes->count > 0 && whole(s->nodes) && declared != UINT64_MAX;
    uint64_t reach = edges_reach(s);
    s->total = by_edges ? reach : declared;
    s->total_known = by_edges || by_nodes;
    return !s->total_known || (declared <= s->total && reach <= s->total &&
                               (!by_edges || !by_nodes || declared == reach));
}

typedef uint64_t (*references_fn)(const struct heap_run *run);

static uint64_t references_of_nodes(const struct heap_run *run)
{
    return run->edges;
}

static uint64_t references_of_edges(const struct heap_run *run)
{
    return run->items;
}

/* Places the runs before the first gap; *RET_END is their end. */
static void place_front(struct heap_runs *r, references_fn references, uint64_t *ret_end)
{
    uint64_t at = 0;
    for (size_t i = 0; i < r->count && (i == 0 ? from_zero(r) : joined(r, i)); i++) {
        r->items[i].start = at;
        if (__builtin_add_overflow(at, references(&r->items[i]), &at))
            break;
    }
    *ret_end = at;
}

/* Places the runs after the last gap, which end at TOTAL, none before FRONT_END. */
static void place_back(struct heap_runs *r, references_fn references, uint64_t front_end,
                       uint64_t total)
{
    for (size_t i = r->count; i-- > 0 && r->items[i].start == HEAP_UNPLACED;) {
        uint64_t n = references(&r->items[i]);
        if (front_end > total || n > total - front_end)
            break;
        r->items[i].start = total -= n;
        if (!joined(r, i))
            break;
    }
}

static void place(const struct sequences *s)
{
    uint64_t nodes_front, edges_front;
    place_front(s->nodes, references_of_nodes, &nodes_front);
    place_front(s->edges, references_of_edges, &edges_front);
    for (size_t i = 0; i < s->edges->count && s->sized && !s->edges->disordered; i++)
        s->edges->items[i].start = s->edges->items[i].index * (uint64_t)s->edges->full;
    if (s->nodes_end && s->total_known)
        place_back(s->nodes, references_of_nodes, nodes_front, s->total);
    if (s->edges_end && s->total_known)
        place_back(s->edges, references_of_edges, edges_front, s->total);
}

/* Places only the runs before the first missing event of any kind. */
static void place_sure(struct heap_runs *r)
{
    if (from_zero(r) && r->items[0].sure)
        r->items[0].start = 0;
}

/* References whose owner was received and is certain. */
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
                break; /* the rest of it may belong to the next run of objects */
            e++;
        }
    }
    return kept;
}

void heap_runs_place(struct heap_walk *w, enum heap_certain certain)
{
    struct sequences s = { .nodes = &w->runs[HEAP_RUNS_NODES], .edges = &w->runs[HEAP_RUNS_EDGES] };
    uint64_t nodes_missing = w->index[HEAP_NODES].missing,
             edges_missing = w->index[HEAP_EDGES].missing;
    struct heap_loss *l = &w->loss;
    bool fits = true;
    if (certain != HEAP_CERTAIN_NOTHING) {
        s.sized =
            !s.nodes->uneven && !s.edges->uneven && (s.nodes->full_seen || s.edges->full_seen);
        s.nodes_end = ends(s.nodes, s.sized, certain == HEAP_CERTAIN_HOLES);
        s.edges_end = ends(s.edges, s.sized, certain == HEAP_CERTAIN_HOLES);
        fits = find_total(&s, w->edges_declared);
    }
    if (fits && certain >= HEAP_CERTAIN_ALL) {
        place(&s);
    } else {
        s.sized = s.nodes_end = s.edges_end = s.total_known = false;
        bool front = certain == HEAP_CERTAIN_DOUBTFUL
                         ? w->edges == w->edges_declared
                         : fits || !is_gapless(s.nodes) || !is_gapless(s.edges);
        if (front && certain != HEAP_CERTAIN_NOTHING) {
            place_sure(s.nodes);
            place_sure(s.edges);
        }
    }
    *l = (struct heap_loss){ .objects_exact = s.nodes_end && (s.sized || nodes_missing == 0),
                             .edges_exact = s.total_known };
    l->objects = s.nodes->disordered ? 0 : s.sized ? nodes_missing * s.nodes->full : nodes_missing;
    if (l->objects == 0 && w->edges > w->edges_declared) /* they have owners */
        l->objects = !l->objects_exact;
    uint64_t least = s.edges->disordered ? 0
                     : s.sized           ? edges_missing * s.edges->full
                                         : edges_missing;
    if (w->edges_declared > w->edges && w->edges_declared - w->edges > least)
        least = w->edges_declared - w->edges;
    l->edges = l->edges_exact ? s.total - w->edges : least;
    l->edges_dropped = w->edges - count_kept(s.nodes, s.edges);
}
