/*
 * Which events form a heap walk, and which walk becomes the dump.
 *
 * One thread writes all bulk events of a walk and then the GCEnd, in file order (.NET 8, 9, 10,
 * workstation and server GC, measured).  The GCStart can come from another thread, and may then
 * follow its walk in the file although it is older.  So walks are assembled per thread, and matched
 * with GCStart events by number and time, never by position.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "heap/heap.h"

/* More dumps than any trace has. */
#define MAX_WALKS 65536u

/* Walks before a GCStart in the file that can belong to it. */
#define OVERDUE_WALKS 16u

void heap_walk_free_roots(struct gcd_heap *h, struct heap_walk *w)
{
    gcd_mem_free(&h->alloc, w->roots, w->root_cap * sizeof *w->roots);
    w->roots = NULL;
    w->root_cap = 0;
}

static void free_details(struct gcd_heap *h, struct heap_walk *w)
{
    const struct gcd_alloc *a = &h->alloc;
    gcd_mem_free(a, w->counts, w->counts_cap * sizeof *w->counts);
    gcd_mem_free(a, w->used_types, w->used_cap * sizeof *w->used_types);
    heap_walk_free_roots(h, w);
    gcd_mem_free(a, w->dependent_items, w->dependent_cap * sizeof *w->dependent_items);
    gcd_mem_free(a, w->range_items, w->range_cap * sizeof *w->range_items);
    heap_addrs_free(w->addrs, a);
    for (size_t i = 0; i < HEAP_RUNS_KINDS; i++)
        heap_runs_free(a, &w->runs[i]);
    w->counts = NULL;
    w->used_types = NULL;
    w->dependent_items = NULL;
    w->range_items = NULL;
    w->addrs = NULL;
    w->counts_cap = w->used_cap = w->dependent_cap = w->range_cap = 0;
}

static void drop_details(struct gcd_heap *h, struct heap_walk *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->detailed_count; i++)
        if (h->detailed[i] != w)
            h->detailed[kept++] = h->detailed[i];
    h->detailed_count = kept;
    free_details(h, w);
    w->light = true;
}

void heap_walk_free(struct gcd_heap *h, struct heap_walk *w)
{
    free_details(h, w);
    gcd_mem_free(&h->alloc, w, sizeof *w);
}

/*
 * Did a GC that was asked for and can walk the heap begin after AFTER_NS and not after NS?  Other
 * GCs prove nothing: Mono writes the events of a walk when the threads run again.
 */
static bool walk_could_begin(const struct gcd_heap *h, int64_t after_ns, int64_t ns)
{
    size_t kept = h->start_count < HEAP_GC_STARTS ? h->start_count : HEAP_GC_STARTS;
    for (size_t i = 0; i < kept; i++) {
        const struct heap_gc_start *s = &h->starts[i];
        if (gcd_clr_gc_is_full(&s->gc) && gcd_clr_gc_is_induced(s->gc.reason) &&
            s->time_ns > after_ns && s->time_ns <= ns)
            return true;
    }
    return false;
}

/* W becomes the dump; only the number of the others matters. */
static void choose(struct gcd_heap *h, struct heap_walk *w)
{
    h->chosen = w;
    for (size_t i = h->detailed_count; i-- > 0;)
        if (h->detailed[i] != w)
            drop_details(h, h->detailed[i]);
}

void heap_walk_has_objects(struct gcd_heap *h, struct heap_walk *w)
{
    w->number = ++h->with_objects;
    if (h->wanted == 0 || h->chosen != NULL || w->light)
        return;
    if (w->number == h->wanted)
        choose(h, w);
    else
        drop_details(h, w);
}

unsigned heap_forced_walks(const struct gcd_heap *h)
{
    unsigned n = 0;
    for (size_t i = 0; i < h->walk_count; i++)
        n += h->walks[i]->state == HEAP_WALK_CONFIRMED && h->walks[i]->objects > 0;
    return n;
}

/* The first walk with objects is used if no walk of the right GC comes. */
static bool is_fallback(const struct gcd_heap *h, const struct heap_walk *w)
{
    for (size_t i = 0; i < h->detailed_count; i++)
        if (h->detailed[i]->objects > 0)
            return h->detailed[i] == w;
    return false;
}

static void decide(struct gcd_heap *h, struct heap_walk *w, const struct heap_gc_start *s)
{
    w->start = *s;
    w->have_start = true;
    w->gc_number = s->gc.number;
    w->state = gcd_clr_gc_is_full(&s->gc) ? HEAP_WALK_CONFIRMED : HEAP_WALK_OTHER;
    if (h->last_heaps_ns >= s->time_ns && (!w->closed || h->last_heaps_ns <= w->end_ns))
        w->heaps = h->last_heaps;
    if (h->chosen != NULL || h->wanted != 0 || w->light)
        return;
    if (w->state == HEAP_WALK_CONFIRMED && w->closed && w->objects > 0)
        choose(h, w);
    else if (w->state == HEAP_WALK_OTHER && w->closed && !is_fallback(h, w))
        drop_details(h, w);
}

/* The latest GCStart at or before NS, of GC NUMBER if NUMBERED. */
static const struct heap_gc_start *find_start(const struct gcd_heap *h, int64_t ns, bool numbered,
                                              uint32_t number)
{
    const struct heap_gc_start *best = NULL;
    size_t kept = h->start_count < HEAP_GC_STARTS ? h->start_count : HEAP_GC_STARTS;
    for (size_t i = 0; i < kept; i++) {
        const struct heap_gc_start *s = &h->starts[i];
        if (s->time_ns <= ns && (!numbered || s->gc.number == number) &&
            (best == NULL || s->time_ns > best->time_ns))
            best = s;
    }
    return best;
}

void heap_gc_start(struct gcd_heap *h, const struct gcd_clr_gc_start *gc, int64_t time_ns)
{
    struct heap_gc_start *s = &h->starts[h->start_count++ % HEAP_GC_STARTS];
    *s = (struct heap_gc_start){ .gc = *gc, .time_ns = time_ns };
    /* its walk can precede it in the file, but not by far */
    for (size_t i = h->walk_count; i-- > 0 && h->walk_count - i <= OVERDUE_WALKS;) {
        struct heap_walk *w = h->walks[i];
        if (w->closed && w->state == HEAP_WALK_UNDECIDED && w->gc_number == gc->number &&
            time_ns <= w->first_ns) {
            decide(h, w, s);
            break;
        }
    }
}

void heap_gc_end(struct gcd_heap *h, const struct gcd_event *ev, uint32_t number)
{
    uint32_t i = gcd_idmap_get(&h->open_by_thread, ev->thread);
    if (i == GCD_IDMAP_NONE || h->walks[i]->closed)
        return;
    struct heap_walk *w = h->walks[i];
    w->closed = true;
    w->gc_number = number;
    w->end_ns = ev->time_ns;
    const struct heap_gc_start *s = find_start(h, w->first_ns, true, number);
    if (s != NULL)
        decide(h, w, s);
    if (w->objects > 0 && w->state != HEAP_WALK_OTHER)
        h->whole = true;
}

/*
 * Makes room for one more walk with details, if possible: drops a walk that is over and not
 * confirmed, except the first with objects.  Its GCStart would have come by now.
 */
static bool make_room(struct gcd_heap *h)
{
    for (size_t i = 0; i < h->detailed_count && h->detailed_count == HEAP_DETAILED; i++) {
        struct heap_walk *w = h->detailed[i];
        if (w->closed && w->state != HEAP_WALK_CONFIRMED && !is_fallback(h, w))
            drop_details(h, w);
    }
    return h->detailed_count < HEAP_DETAILED;
}

static gcd_status begin(struct gcd_heap *h, const struct gcd_event *ev, struct heap_walk **ret,
                        struct gcd_error *err)
{
    if (h->walk_count >= MAX_WALKS && h->chosen != NULL) {
        h->overflow.light = true;
        *ret = &h->overflow;
        return GCD_OK;
    }
    if (h->walk_count >= MAX_WALKS)
        return gcd_fail_at(err, GCD_E_LIMIT, ev->off, "more than %u heap walks in one trace",
                           MAX_WALKS);
    struct heap_walk *w = gcd_mem_new(&h->alloc, sizeof *w);
    if (w == NULL ||
        !gcd_vec_reserve(&h->alloc, &h->walks, &h->walk_cap, h->walk_count + 1, sizeof *h->walks,
                         MAX_WALKS) ||
        !gcd_idmap_put(&h->open_by_thread, ev->thread, (uint32_t)h->walk_count)) {
        gcd_mem_free(&h->alloc, w, sizeof *w);
        return gcd_fail_nomem(err, "starting a heap walk");
    }
    w->thread = ev->thread;
    w->first_ns = ev->time_ns;
    w->first_off = ev->off;
    w->range_ns = h->last_range_ns;
    struct heap_strangers *before = heap_strangers_of(h, ev->thread);
    w->strangers = before->thread == ev->thread ? before->count : 0;
    before->count = 0;
    w->light = h->chosen != NULL || !make_room(h);
    h->walks[h->walk_count++] = w;
    if (!w->light)
        h->detailed[h->detailed_count++] = w;
    if (h->check_references && !w->light) {
        w->addrs = heap_addrs_new(&h->alloc, ev->ptr_bytes, h->addr_pages_left);
        if (w->addrs == NULL)
            return gcd_fail_nomem(err, "starting a heap walk");
    }
    *ret = w;
    return GCD_OK;
}

gcd_status heap_walk_for(struct gcd_heap *h, const struct gcd_event *ev, enum heap_bulk kind,
                         uint32_t index, struct heap_walk **ret, struct gcd_error *err)
{
    uint32_t i = gcd_idmap_get(&h->open_by_thread, ev->thread);
    struct heap_walk *w = i != GCD_IDMAP_NONE ? h->walks[i] : NULL;
    /* numbers that restart also mean a new walk, because the GCEnd was lost; unless the event is
     * only duplicated or misplaced */
    bool again = w != NULL && kind < HEAP_BULKS && index == 0 && w->index[kind].events > 0 &&
                 ev->gap != GCD_GAP_DISORDER;
    bool next_gc = w == NULL || w->closed || walk_could_begin(h, w->last_ns, ev->time_ns);
    if (again || next_gc)
        GCD_TRY(begin(h, ev, &w, err));
    if (again && !next_gc) { /* two walks have the same GC: impossible for both */
        w->disorder = true;
        w->gaps++;
    }
    w->events++;
    w->last_ns = ev->time_ns;
    w->last_off = ev->off;
    *ret = w;
    return GCD_OK;
}

/* The final choice of the walk that becomes the dump. */
static void choose_finally(struct gcd_heap *h)
{
    for (size_t i = 0; i < h->walk_count; i++) {
        struct heap_walk *w = h->walks[i];
        const struct heap_gc_start *s = NULL;
        if (w->state == HEAP_WALK_UNDECIDED && !w->light)
            s = find_start(h, w->first_ns, w->closed, w->gc_number);
        if (s != NULL)
            decide(h, w, s);
    }
    if (h->chosen != NULL || h->wanted != 0)
        return;
    /* First walks inside the right GC without an end, then any: an incomplete dump that says so is
     * better than none. */
    for (size_t i = 0; i < h->detailed_count && h->chosen == NULL; i++)
        if (h->detailed[i]->state == HEAP_WALK_CONFIRMED && h->detailed[i]->objects > 0)
            h->chosen = h->detailed[i];
    for (size_t i = 0; i < h->detailed_count && h->chosen == NULL; i++)
        if (h->detailed[i]->objects > 0)
            h->chosen = h->detailed[i];
}

/* Does W have its own GC, from start to end, and all its events in order? */
static bool is_whole(const struct gcd_heap *h, const struct heap_walk *w)
{
    return w->closed && w->have_start && !w->disorder &&
           !walk_could_begin(h, w->start.time_ns, w->end_ns);
}

/*
 * A bulk event outside every complete walk can be a part of the chosen one that damage has
 * separated: static variables and COM handles have no numbers that would reveal their loss.
 */
void heap_finish(struct gcd_heap *h)
{
    choose_finally(h);
    h->outside = h->overflow.events;
    for (size_t i = 0; i < h->walk_count; i++) {
        struct heap_walk *w = h->walks[i];
        w->whole = is_whole(h, w);
        if (w != h->chosen && !w->whole)
            h->outside += w->events;
    }
}
