/* Null maps that gcdumpc added to the recording: whole, or of no use. */
#include "base/error.h"
#include "heap/heap.h"

void heap_maps_free(struct gcd_heap *h)
{
    null_maps_free(h->maps.reading.m);
    h->maps.reading.m = NULL;
}

static gcd_status begin(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct recorded_null_maps start;
    gcd_status st = recorded_read_null_maps(ev, &start);
    if (st != GCD_OK)
        return st;
    heap_maps_free(h);
    h->maps = (struct heap_maps){ .start = start, .begun = true };
    return null_maps_new(&h->alloc, &h->limits, &h->maps.reading.m, err);
}

static gcd_status take_part(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_maps *m = &h->maps;
    struct gcd_error why = GCD_ERROR_INIT; /* damage is no failure */
    if (m->reading.m == NULL || m->whole)
        return GCD_E_FORMAT;
    gcd_status st = null_maps_read_part(&m->reading, ev->payload, ev->payload_bytes, &why);
    if (st != GCD_OK && st != GCD_E_FORMAT)
        *err = why;
    if (st != GCD_OK)
        heap_maps_free(h);
    return st;
}

static gcd_status end(struct gcd_heap *h, const struct gcd_event *ev)
{
    struct heap_maps *m = &h->maps;
    gcd_status st = recorded_read_null_maps_end(ev, &m->end);
    if (st != GCD_OK)
        return st;
    m->whole = m->reading.m != NULL && m->reading.open == 0 && m->end.parts == m->reading.parts &&
               m->end.objects == m->reading.m->count;
    return m->whole ? GCD_OK : GCD_E_FORMAT;
}

gcd_status heap_maps_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    return ev->id == RECORDED_NULL_MAPS        ? begin(h, ev, err)
           : ev->id == RECORDED_NULL_MAPS_PART ? take_part(h, ev, err)
                                               : end(h, ev);
}

gcd_status heap_maps_of(struct gcd_heap *h, const struct gcd_null_maps **ret, struct gcd_error *err)
{
    struct heap_maps *m = &h->maps;
    const struct recorded_null_maps_end *e = &m->end;
    *ret = NULL;
    if (!m->whole || m->start.walk_number != h->chosen->number ||
        m->start.gc_number != h->chosen->gc_number)
        return GCD_OK;
    m->reading.m->facts = (struct gcd_null_maps_facts){ .known = true,
                                                        .objects = e->objects,
                                                        .collected = e->collected,
                                                        .changed = e->changed,
                                                        .unread = e->unread,
                                                        .after_ms = e->after_ms };
    GCD_TRY(null_maps_sort(m->reading.m, err));
    *ret = m->reading.m;
    return GCD_OK;
}
