/*
 * Values that gcdumpc added to the recording.  They are whole or of no use: a missing part would
 * make texts look rarer than they are.
 */
#include "heap/heap.h"

static gcd_status begin(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_values *v = &h->values;
    struct recorded_values start;
    gcd_status st = recorded_read_values(ev, &start);
    if (st != GCD_OK)
        return st;
    heap_values_free(h);
    *v = (struct heap_values){ .start = start };
    struct gcd_values_options o = { .kind = (enum gcd_values_kind)start.kind,
                                    .max_string = start.max_string };
    return h->wants_values ? values_new(&h->alloc, &h->limits, &o, &v->values, err) : GCD_OK;
}

static gcd_status take_part(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct heap_values *v = &h->values;
    uint32_t number = v->parts++;
    if (v->start.kind == GCD_VALUES_NONE || v->whole)
        return GCD_E_FORMAT;
    if (v->values == NULL) {
        bool right = values_check_part(ev->payload, ev->payload_bytes, number);
        v->parts = right ? v->parts : UINT32_MAX;
        return right ? GCD_OK : GCD_E_FORMAT;
    }
    struct gcd_error why = GCD_ERROR_INIT; /* damage is no failure */
    gcd_status st = values_read_part(v->values, ev->payload, ev->payload_bytes, number, &why);
    if (st != GCD_OK && st != GCD_E_FORMAT)
        *err = why;
    if (st != GCD_OK) {
        v->parts = UINT32_MAX; /* no end fits */
        values_free(v->values);
        v->values = NULL;
    }
    return st;
}

static gcd_status end(struct gcd_heap *h, const struct gcd_event *ev)
{
    struct heap_values *v = &h->values;
    gcd_status st = recorded_read_values_end(ev, &v->end);
    if (st != GCD_OK)
        return st;
    v->whole = v->start.kind != GCD_VALUES_NONE && v->end.parts == v->parts &&
               (v->values == NULL ||
                (v->values->object_count == v->end.objects &&
                 v->values->rows->object_count - v->values->rows->element_count == v->end.numbers));
    return v->whole ? GCD_OK : GCD_E_FORMAT;
}

gcd_status heap_values_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    return ev->id == RECORDED_VALUES        ? begin(h, ev, err)
           : ev->id == RECORDED_VALUES_PART ? take_part(h, ev, err)
                                            : end(h, ev);
}

void heap_values_free(struct gcd_heap *h)
{
    values_free(h->values.values);
    h->values.values = NULL;
}

static bool are_of_walk(const struct gcd_heap *h)
{
    const struct heap_values *v = &h->values;
    return v->whole && v->start.walk_number == h->chosen->number &&
           v->start.gc_number == h->chosen->gc_number;
}

struct gcd_values_facts heap_values_facts(const struct gcd_heap *h)
{
    const struct heap_values *v = &h->values;
    if (!are_of_walk(h))
        return (struct gcd_values_facts){ .kind = GCD_VALUES_NONE };
    return (struct gcd_values_facts){ .kind = (enum gcd_values_kind)v->start.kind,
                                      .max_string = v->start.max_string,
                                      .objects = v->end.objects,
                                      .collected = v->end.collected,
                                      .changed = v->end.changed,
                                      .unread = v->end.unread,
                                      .after_ms = v->end.after_ms,
                                      .numbers = v->end.numbers };
}

gcd_status heap_values_of(struct gcd_heap *h, const struct gcd_values **ret, struct gcd_error *err)
{
    struct heap_values *v = &h->values;
    *ret = NULL;
    if (!are_of_walk(h) || v->values == NULL)
        return GCD_OK;
    v->values->facts = heap_values_facts(h);
    *ret = v->values;
    return values_sort(v->values, err);
}
