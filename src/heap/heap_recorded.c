/*
 * Names and memory that gcdumpc added to the recording.  Names come in batches, each for one heap
 * walk.  An incomplete batch is ignored: half of the names would be worse than none, because a name
 * without its outer type looks like that of another type.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "heap/heap.h"

/* Events of later versions have numbers up to this one. */
#define RECORDED_ID_MAX 63u

/* A recording gets a batch each time more names are found. */
#define MAX_BATCHES 1024u

static gcd_status begin(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_recorded *r = &h->recorded;
    struct recorded_start start;
    gcd_status st = recorded_read_start(ev, &start);
    if (st != GCD_OK)
        return st;
    if (!gcd_vec_reserve(&h->alloc, &r->batches, &r->batch_cap, r->batch_count + 1,
                         sizeof *r->batches, MAX_BATCHES))
        return r->batch_count >= MAX_BATCHES ? GCD_OK
                                             : gcd_fail_nomem(err, "reading recorded names");
    struct heap_batch *b = &r->batches[r->batch_count++];
    *b = (struct heap_batch){ .start = start };
    memcpy(b->first, r->counts, sizeof b->first);
    return GCD_OK;
}

/* An item beyond the limits is dropped, which leaves its batch incomplete. */
static gcd_status add(struct gcd_heap *h, struct heap_batch *b, const struct gcd_event *ev,
                      struct gcd_error *err)
{
    struct heap_recorded *r = &h->recorded;
    enum recorded_kind kind = recorded_kind_of(ev->id);
    uint64_t most =
        kind == RECORDED_STATICS || kind == RECORDED_THREADS ? h->limits.roots : h->limits.types;
    struct recorded_item from;
    gcd_status st = recorded_read_item(ev, &from);
    if (st != GCD_OK)
        return st;
    if (b->counts[kind] >= b->start.counts[kind])
        r->damaged++; /* one of another kind: its description is damaged */
    if (r->counts[kind] >= most || b->counts[kind] >= b->start.counts[kind])
        return GCD_OK;
    if (!gcd_vec_reserve(&h->alloc, &r->items[kind], &r->caps[kind], r->counts[kind] + 1,
                         sizeof *r->items[kind], SIZE_MAX))
        return gcd_fail_nomem(err, "reading recorded names");
    struct heap_recorded_item to = { .id = from.id,
                                     .text = { "", "", "" },
                                     .has_public_key = from.has_public_key };
    for (size_t i = 0; i < sizeof to.text / sizeof *to.text; i++)
        if (from.text[i].units > 0)
            GCD_TRY(heap_text_utf16(h, from.text[i].p, from.text[i].units, &to.text[i], err));
    memcpy(to.mvid, from.mvid, sizeof to.mvid);
    memcpy(to.public_key_token, from.public_key_token, sizeof to.public_key_token);
    r->items[kind][r->counts[kind]++] = to;
    b->counts[kind]++;
    return GCD_OK;
}

static gcd_status add_memory(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_recorded *r = &h->recorded;
    struct recorded_memory m;
    gcd_status st = recorded_read_memory(ev, &m);
    if (st != GCD_OK)
        return st;
    if (!gcd_vec_reserve(&h->alloc, &r->memories, &r->memory_cap, r->memory_count + 1,
                         sizeof *r->memories, MAX_BATCHES))
        return r->memory_count >= MAX_BATCHES ? GCD_OK
                                              : gcd_fail_nomem(err, "reading recorded memory");
    r->memories[r->memory_count++] = m;
    return GCD_OK;
}

static gcd_status set_image(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_recorded *r = &h->recorded;
    struct recorded_image from;
    gcd_status st = recorded_read_image(ev, &from);
    if (st != GCD_OK)
        return st;
    struct gcd_image_facts to = { .made_from = "",
                                  .ended_by = "",
                                  .gaps = "",
                                  .blocked = "",
                                  .with_dead = (from.flags & RECORDED_WITH_DEAD) != 0,
                                  .with_places = (from.flags & RECORDED_WITH_PLACES) != 0 };
    const char **const texts[] = { &to.made_from, &to.ended_by, &to.gaps, &to.blocked };
    for (size_t i = 0; i < 4; i++)
        if (from.text[i].units > 0)
            GCD_TRY(heap_text_utf16(h, from.text[i].p, from.text[i].units, texts[i], err));
    r->image = to;
    r->image_gc = from.gc_number;
    r->image_walk = from.walk_number;
    return GCD_OK;
}

/* Names say nothing about the heap: the rest of the dump is read in any case. */
gcd_status heap_recorded_event(struct gcd_heap *h, const struct gcd_event *ev,
                               struct gcd_error *err)
{
    struct heap_recorded *r = &h->recorded;
    gcd_status st = GCD_OK;
    if (ev->id == RECORDED_START)
        st = begin(h, ev, err);
    else if (ev->id == RECORDED_MEMORY)
        st = add_memory(h, ev, err);
    else if (ev->id == RECORDED_IMAGE)
        st = set_image(h, ev, err);
    else if (ev->id >= RECORDED_VALUES && ev->id <= RECORDED_VALUES_END)
        st = heap_values_event(h, ev, err);
    else if (ev->id >= RECORDED_NULL_MAPS && ev->id <= RECORDED_NULL_MAPS_END)
        st = heap_maps_event(h, ev, err);
    else if (recorded_kind_of(ev->id) != RECORDED_KINDS && r->batch_count > 0)
        st = add(h, &r->batches[r->batch_count - 1], ev, err);
    else if (ev->id < RECORDED_MEMORY || ev->id > RECORDED_ID_MAX)
        st = GCD_E_FORMAT;
    r->damaged += st == GCD_E_FORMAT;
    return st == GCD_E_FORMAT ? GCD_OK : st;
}

void heap_recorded_free(struct gcd_heap *h)
{
    struct heap_recorded *r = &h->recorded;
    gcd_mem_free(&h->alloc, r->batches, r->batch_cap * sizeof *r->batches);
    gcd_mem_free(&h->alloc, r->memories, r->memory_cap * sizeof *r->memories);
    for (size_t i = 0; i < RECORDED_KINDS; i++)
        gcd_mem_free(&h->alloc, r->items[i], r->caps[i] * sizeof *r->items[i]);
}

static bool is_whole(const struct heap_batch *b)
{
    bool all = true;
    /* without a layout the fields of a type are only unknown, and so is a thread */
    for (size_t i = 0; i < RECORDED_LAYOUTS; i++)
        all = all && b->counts[i] == b->start.counts[i];
    return all;
}

/* The last complete batch: each contains the names of those before it. */
const struct heap_batch *heap_recorded_batch(const struct gcd_heap *h, bool *ret_whole)
{
    const struct heap_recorded *r = &h->recorded;
    const struct heap_batch *best = NULL;
    for (size_t i = 0; i < r->batch_count; i++) {
        const struct heap_batch *b = &r->batches[i];
        bool same =
            b->start.walk_number == h->chosen->number && b->start.gc_number == h->chosen->gc_number;
        if (same && (best == NULL || is_whole(b) || !is_whole(best)))
            best = b;
    }
    *ret_whole = best != NULL && is_whole(best);
    return best;
}

uint64_t heap_recorded_damaged(const struct gcd_heap *h)
{
    bool whole;
    return h->recorded.damaged + (h->maps.begun && !h->maps.whole) +
           (h->values.start.kind != GCD_VALUES_NONE && !h->values.whole) +
           (heap_recorded_batch(h, &whole) != NULL && !whole);
}

const struct gcd_process_memory *heap_recorded_memory(const struct gcd_heap *h)
{
    const struct heap_recorded *r = &h->recorded;
    for (size_t i = r->memory_count; i-- > 0;)
        if (r->memories[i].walk_number == h->chosen->number &&
            r->memories[i].gc_number == h->chosen->gc_number)
            return &r->memories[i].memory;
    return NULL;
}

struct gcd_image_facts heap_recorded_image(const struct gcd_heap *h)
{
    const struct heap_recorded *r = &h->recorded;
    if (r->image.made_from != NULL && r->image_walk == h->chosen->number &&
        r->image_gc == h->chosen->gc_number)
        return r->image;
    return (struct gcd_image_facts){ .made_from = "", .ended_by = "", .gaps = "", .blocked = "" };
}
