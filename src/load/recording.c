/* A copy of a recording, with names and memory added before its end mark. */
#include <gcdumpc/unstable/recording.h>

#include <string.h>

#include <gcdumpc/unstable/image.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "load/load.h"
#include "nettrace/nt_append.h"
#include "sites/stored.h"
#include "values/values.h"

_Static_assert(RECORDED_PAYLOAD_MAX <= NT_APPEND_PAYLOAD_MAX, "a payload fits into a block");

static bool has_new_names(const struct gcd_dump *d)
{
    bool whole;
    bool none = heap_recorded_batch(d->heap, &whole) == NULL;
    for (size_t i = 0; i < d->summary.module_count; i++)
        if (d->summary.modules[i].state == GCD_MODULE_READ ||
            (d->summary.modules[i].build_id != NULL && none))
            return true;
    return false;
}

static bool has_room(const struct gcd_dump *d, struct nt_tail *ret)
{
    return d->input_error.code == GCD_OK && nt_tail_of(d->trace, ret);
}

enum gcd_recording_names gcd_recording_names(const struct gcd_dump *d)
{
    struct nt_tail tail;
    if (d == NULL || d->heap == NULL || !has_new_names(d) ||
        gcd_trace_is_image(&d->summary.trace)) /* all names are among its events */
        return GCD_RECORDING_NAMES_SAME;
    return has_room(d, &tail) ? GCD_RECORDING_NAMES_NEW : GCD_RECORDING_NAMES_NO_ROOM;
}

/* ---- values ---- */

/* How events are added: behind a recording, or to one of its own. */
struct adding {
    struct nt_append *to;
    bool own;
    uint64_t begin; /* of what is added, if that is nothing but values; else 0 */
};

static gcd_status put_event(const struct adding *a, uint32_t id, const uint8_t *payload, size_t n,
                            struct gcd_error *err)
{
    struct gcd_event ev = { .provider = GCD_PROVIDER_NAMES,
                            .id = id,
                            .version = 1,
                            .payload = payload,
                            .payload_bytes = n };
    if (a->own)
        return nt_write_event(a->to, &ev, err);
    nt_append_event(a->to, id - RECORDED_START, payload, n);
    return GCD_OK;
}

static gcd_status put_parts(const struct adding *a, struct values_writing *w, uint8_t *buffer,
                            struct gcd_error *err)
{
    for (;;) {
        size_t n;
        GCD_TRY(values_writing_next(w, buffer, &n, err));
        if (n == 0)
            return GCD_OK;
        GCD_TRY(put_event(a, RECORDED_VALUES_PART, buffer, n, err));
    }
}

/* The values of D behind all other events. */
static gcd_status put_values(const struct gcd_dump *d, const struct gcd_recording_options *o,
                             const struct adding *a, uint8_t *buffer, struct gcd_error *err)
{
    const struct gcd_values_facts *f = &d->summary.values;
    bool hash = o->values == GCD_RECORDING_VALUES_HASH;
    struct values_writing w;
    if (a->begin == 0) /* it has to be whole if the values are cut off again */
        nt_append_end(a->to);
    struct recorded_values begin = { .gc_number = d->summary.gc_number,
                                     .walk_number = d->summary.walk_number,
                                     .kind = hash ? GCD_VALUES_HASHES : f->kind,
                                     .max_string = f->max_string,
                                     .off = a->begin != 0 ? a->begin : nt_append_off(a->to) };
    GCD_TRY(put_event(a, RECORDED_VALUES, buffer, recorded_put_values(buffer, &begin), err));
    GCD_TRY(values_writing_init(&w, d->values, hash ? o->key : NULL, err));
    gcd_status st = put_parts(a, &w, buffer, err);
    struct recorded_values_end end = { .parts = w.parts,
                                       .objects = f->objects,
                                       .collected = f->collected,
                                       .changed = f->changed,
                                       .unread = f->unread,
                                       .after_ms = f->after_ms,
                                       .numbers = hash ? 0 : f->numbers };
    values_writing_done(&w);
    return st == GCD_OK ? put_event(a, RECORDED_VALUES_END, buffer,
                                    recorded_put_values_end(buffer, &end), err)
                        : st;
}

static gcd_status put_null_maps(const struct gcd_dump *d, const struct adding *a, uint8_t *buffer,
                                struct gcd_error *err)
{
    const struct gcd_null_maps_facts *f = &d->summary.null_maps;
    struct recorded_null_maps begin = { d->summary.gc_number, d->summary.walk_number };
    struct null_maps_writing w = { .m = d->null_maps };
    size_t n = recorded_put_null_maps(buffer, &begin);
    GCD_TRY(put_event(a, RECORDED_NULL_MAPS, buffer, n, err));
    for (;;) {
        GCD_TRY(null_maps_writing_next(&w, buffer, &n, err));
        if (n == 0)
            break;
        GCD_TRY(put_event(a, RECORDED_NULL_MAPS_PART, buffer, n, err));
    }
    struct recorded_null_maps_end end = { .parts = w.parts,
                                          .objects = f->objects,
                                          .collected = f->collected,
                                          .changed = f->changed,
                                          .unread = f->unread,
                                          .after_ms = f->after_ms };
    n = recorded_put_null_maps_end(buffer, &end);
    return put_event(a, RECORDED_NULL_MAPS_END, buffer, n, err);
}

/* What is written of the recording of D, and what comes behind it. */
struct plan {
    struct nt_tail tail;
    bool adds;                         /* names, memory, null maps, values */
    bool names, memory, sites, values; /* which of them */
    bool maps;
    bool own;         /* what gcdumpc added before, without layouts */
    uint64_t copied;  /* bytes from the beginning */
    uint64_t skipped; /* bytes behind them */
    uint64_t names_added;
    bool cut; /* nothing follows: there is no whole end */
};

static bool keeps(const struct gcd_recording_options *o)
{
    return o->values == GCD_RECORDING_VALUES_KEEP;
}

static gcd_status no_values(struct gcd_error *err)
{
    return gcd_fail(err, GCD_E_STATE, "the dump was opened without its values");
}

/* The recording has values: they go, and those of D take their place. */
static gcd_status plan_values(const struct gcd_dump *d, const struct gcd_recording_options *o,
                              bool room, struct plan *p, struct gcd_error *err)
{
    uint64_t begin = d->recorded_values.begin;
    if (d->recorded_values.events == 0 || (keeps(o) && !p->adds))
        return GCD_OK;
    if (keeps(o) && d->values == NULL && d->summary.values.kind != GCD_VALUES_NONE)
        return no_values(err);
    if (begin == 0 && keeps(o)) { /* they are somewhere: they stay, and nothing is added */
        p->adds = false;
        p->copied = UINT64_MAX;
        return GCD_OK;
    }
    if (begin == 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "its values cannot be removed: they are not the last part of it");
    p->copied = begin;
    p->skipped = room ? p->tail.end_off - begin : 0;
    p->cut = !room;
    p->values = room && d->values != NULL && o->values != GCD_RECORDING_VALUES_REMOVE;
    p->adds = p->names || p->memory || p->sites || p->maps || p->values || p->own;
    p->tail.end_off = begin;
    return GCD_OK;
}

static bool has_layouts(const struct gcd_dump *d)
{
    return d->heap->recorded.counts[RECORDED_LAYOUTS] > 0;
}

/* The recording has layouts: they go, and the other events of gcdumpc are written again. */
static void plan_own(struct plan *p)
{
    uint64_t end = p->copied == UINT64_MAX ? p->tail.end_off : p->copied;
    p->skipped += end - p->tail.own_off;
    p->copied = p->tail.end_off = p->tail.own_off;
}

static gcd_status plan_of(const struct gcd_dump *d, const struct gcd_recording_options *o,
                          struct plan *ret, struct gcd_error *err)
{
    *ret = (struct plan){ .copied = UINT64_MAX };
    bool room = d != NULL && d->heap != NULL && has_room(d, &ret->tail);
    if (o->sites != NULL && !room)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the recording is cut or damaged: sites cannot be added to it");
    if (d == NULL || d->heap == NULL)
        return GCD_OK;
    ret->names = room && !o->plain && has_new_names(d);
    ret->memory = room && !o->plain && d->memory_is_new;
    ret->values = room && d->own_values != NULL && o->values != GCD_RECORDING_VALUES_REMOVE;
    ret->sites = room && o->sites != NULL;
    ret->maps = room && d->own_null_maps != NULL;
    ret->own = o->no_layouts && has_layouts(d);
    bool can = room && ret->tail.own_off != 0 && ret->tail.own_highest <= RECORDED_NULL_MAPS_END;
    ret->adds = ret->names || ret->memory || ret->sites || ret->maps || ret->values || ret->own;
    if (ret->adds)
        ret->copied = ret->tail.end_off;
    GCD_TRY(plan_values(d, o, room, ret, err));
    if (!ret->own)
        return GCD_OK;
    if (!can || !ret->adds)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "the fields of its types cannot be removed: %s",
                        room ? "they are not the last part of it" : "it is cut or damaged");
    plan_own(ret);
    return GCD_OK;
}

/* The names of S as events; BUFFER[RECORDED_PAYLOAD_MAX]. */
static gcd_status put_names(const struct gcd_summary *s, const struct adding *a, uint8_t *buffer,
                            uint64_t *ret_names, struct gcd_error *err)
{
    struct recorded_start start = { .gc_number = s->gc_number, .walk_number = s->walk_number };
    struct recorded_pass count = { .summary = s }, write = { .summary = s };
    enum recorded_kind kind;
    size_t n;
    while (recorded_put_next(&count, buffer, &kind) > 0)
        start.counts[kind]++;
    GCD_TRY(put_event(a, RECORDED_START, buffer, recorded_put_start(buffer, &start), err));
    while ((n = recorded_put_next(&write, buffer, &kind)) > 0)
        GCD_TRY(put_event(a, recorded_event_of(kind), buffer, n, err));
    *ret_names = (uint64_t)start.counts[RECORDED_TYPES] + start.counts[RECORDED_STATICS];
    return GCD_OK;
}

static gcd_status put_memory(const struct gcd_summary *s, const struct adding *a, uint8_t *buffer,
                             struct gcd_error *err)
{
    struct recorded_memory r = { .gc_number = s->gc_number,
                                 .walk_number = s->walk_number,
                                 .memory = s->memory };
    return put_event(a, RECORDED_MEMORY, buffer, recorded_put_memory(buffer, &r), err);
}

static void append_sites(const struct gcd_sites *s, struct nt_append *a, uint8_t *buffer)
{
    struct stored_pass pass = { .sites = s };
    uint32_t event;
    size_t n = stored_put_start(s, buffer);
    nt_append_event(a, RECORDED_SITES - RECORDED_START, buffer, n);
    while ((n = stored_put_next(&pass, buffer, &event)) > 0)
        nt_append_event(a, event - RECORDED_START, buffer, n);
}

/* Does EV tell names?  Then the dump has them, and perhaps the fields of types, too. */
static bool is_of_names(const struct gcd_event *ev)
{
    return ev->provider == GCD_PROVIDER_NAMES &&
           (ev->id == RECORDED_START || recorded_kind_of(ev->id) != RECORDED_KINDS);
}

/* Values come packed, and names once more as the dump knows them: behind all else. */
static bool comes_later(const struct gcd_event *ev, bool names)
{
    bool of_values = ev->provider == GCD_PROVIDER_NAMES && ev->id >= RECORDED_VALUES &&
                     ev->id <= RECORDED_VALUES_END;
    return of_values || (names && is_of_names(ev));
}

/* EV of gcdumpc, but for layouts, and values, which come later. */
static gcd_status put_without_layouts(const struct adding *a, const struct gcd_event *ev,
                                      uint8_t *buffer, struct gcd_error *err)
{
    struct recorded_start start;
    if (ev->id == RECORDED_LAYOUT || comes_later(ev, false))
        return GCD_OK;
    if (ev->id != RECORDED_START || recorded_read_start(ev, &start) != GCD_OK)
        return put_event(a, ev->id, ev->payload, ev->payload_bytes, err);
    start.counts[RECORDED_LAYOUTS] = 0;
    return put_event(a, RECORDED_START, buffer, recorded_put_start(buffer, &start), err);
}

/* What gcdumpc added to the recording IN before. */
static gcd_status put_own(struct gcd_dump *d, struct gcd_input *in, const struct adding *a,
                          uint8_t *buffer, struct gcd_error *err)
{
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_context context = { .alloc = &d->alloc, .cancel = d->options.context.cancel };
    gcd_status st = gcd_trace_open(in, &context, &t, err);
    if (st != GCD_OK)
        return st;
    while (st == GCD_OK && (st = gcd_trace_pull(t, context.cancel, &ev, err)) == GCD_OK)
        if (ev.provider == GCD_PROVIDER_NAMES)
            st = put_without_layouts(a, &ev, buffer, err);
    gcd_trace_free(t);
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status append_all(struct gcd_dump *d, struct plan *plan, struct gcd_input *in,
                             struct gcd_sink *to, const struct gcd_recording_options *o,
                             struct gcd_error *err)
{
    bool others = plan->names || plan->memory || plan->sites || plan->maps || plan->own;
    struct adding a = { .begin = others ? 0 : plan->tail.end_off };
    const struct gcd_new_events *events =
        plan->sites || plan->maps || plan->tail.own_highest >= RECORDED_SITES ? &recorded_events_all
                                                                              : &recorded_events;
    uint8_t *buffer = gcd_mem_new(&d->alloc, RECORDED_PAYLOAD_MAX);
    gcd_status st = buffer != NULL ? nt_append_new(&d->alloc, &plan->tail, events, to, &a.to, err)
                                   : gcd_fail_nomem(err, "adding names to the recording");
    if (st == GCD_OK && plan->own)
        st = put_own(d, in, &a, buffer, err);
    if (st == GCD_OK && plan->memory)
        st = put_memory(&d->summary, &a, buffer, err);
    if (st == GCD_OK && plan->names)
        st = put_names(&d->summary, &a, buffer, &plan->names_added, err);
    if (st == GCD_OK && plan->sites)
        append_sites(o->sites, a.to, buffer);
    if (st == GCD_OK && plan->maps)
        st = put_null_maps(d, &a, buffer, err);
    if (st == GCD_OK && plan->values)
        st = put_values(d, o, &a, buffer, err);
    if (st == GCD_OK)
        nt_append_end(a.to);
    nt_append_free(a.to);
    gcd_mem_free(&d->alloc, buffer, RECORDED_PAYLOAD_MAX);
    return st;
}

struct source {
    struct gcd_input *input;
    struct gcd_reader *reader;
    const uint8_t *p; /* bytes that were read and not yet written */
    size_t n;
};

/* The next N bytes; TO NULL: nobody wants them.  GCD_END when there are fewer. */
static gcd_status copy(struct source *from, struct gcd_sink *to, uint64_t n,
                       const struct gcd_recording_options *o, struct gcd_error *err)
{
    for (;;) {
        size_t take = from->n < n ? from->n : (size_t)n;
        if (take > 0 && to != NULL)
            gcd_sink_write(to, from->p, take);
        if (take > 0) /* at first there are no bytes, and no position */
            from->p += take;
        from->n -= take;
        n -= take;
        if (to != NULL)
            GCD_TRY(gcd_sink_status(to, err));
        GCD_TRY(gcd_check_canceled(o->context.cancel, err));
        if (n == 0)
            return GCD_OK;
        GCD_TRY(gcd_reader_next(from->reader, &from->p, &from->n, err));
        gcd_context_report(&o->context, gcd_reader_position(from->reader),
                           gcd_input_size(from->input));
    }
}

/* Is the recording of D, which gcdumpc made of a memory image, to lose its layouts?  Its events are
 * among those of the heap, so all are written again. */
static bool rewrites(const struct gcd_dump *d, const struct gcd_recording_options *o)
{
    return o->no_layouts && d->heap != NULL && has_layouts(d) &&
           heap_recorded_image(d->heap).made_from[0] != '\0';
}

/* The events of a memory image, or of a recording of one. */
static gcd_status write_events(struct gcd_dump *d, struct gcd_input *in, struct gcd_sink *to,
                               const struct gcd_recording_options *o, struct gcd_error *err)
{
    struct gcd_trace *t = NULL;
    struct adding a = { .own = true };
    struct gcd_event ev;
    bool names = d->heap != NULL && !o->plain;
    uint64_t added;
    uint8_t *buffer = gcd_mem_new(&d->alloc, RECORDED_PAYLOAD_MAX);
    gcd_status st = buffer != NULL ? gcd_trace_open(in, &o->context, &t, err)
                                   : gcd_fail_nomem(err, "writing a recording");
    if (st == GCD_OK)
        st = nt_write_new(&d->alloc, &d->summary.trace, &recorded_events_all, to, &a.to, err);
    while (st == GCD_OK && (st = gcd_trace_pull(t, o->context.cancel, &ev, err)) == GCD_OK) {
        st = comes_later(&ev, names) ? GCD_OK : nt_write_event(a.to, &ev, err);
        if (st == GCD_OK)
            st = gcd_sink_status(to, err);
        gcd_context_report(&o->context, gcd_trace_position(t), gcd_input_size(in));
    }
    bool cut = st == GCD_E_TRUNCATED || st == GCD_E_FORMAT;
    if (names && (st == GCD_END || cut)) {
        gcd_status put = put_names(&d->summary, &a, buffer, &added, err);
        st = put != GCD_OK ? put : st;
    }
    if (d->memory_is_new && !o->plain && (st == GCD_END || cut)) {
        gcd_status put = put_memory(&d->summary, &a, buffer, err);
        st = put != GCD_OK ? put : st;
    }
    if ((st == GCD_END || cut) && d->values != NULL && o->values != GCD_RECORDING_VALUES_REMOVE) {
        gcd_status put = put_values(d, o, &a, buffer, err);
        st = put != GCD_OK ? put : st;
    }
    if (st == GCD_END)
        nt_write_end(a.to);
    /* of a heap that is not whole, the recording is cut: it ends without its end mark */
    if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT)
        nt_append_end(a.to);
    nt_append_free(a.to);
    gcd_trace_free(t);
    gcd_mem_free(&d->alloc, buffer, RECORDED_PAYLOAD_MAX);
    return st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT ? GCD_OK : st;
}

static gcd_status write_plan(struct gcd_dump *d, struct plan *plan, struct source *from,
                             struct gcd_sink *to, const struct gcd_recording_options *o,
                             struct gcd_error *err)
{
    gcd_status st = copy(from, to, plan->copied, o, err);
    if (plan->copied == UINT64_MAX)
        return st == GCD_END ? GCD_OK : st;
    if (st == GCD_OK && plan->adds)
        st = append_all(d, plan, from->input, to, o, err);
    if (st == GCD_OK)
        st = copy(from, NULL, plan->skipped, o, err);
    if (st == GCD_END)
        return gcd_fail(err, GCD_E_FORMAT, "the input changed while it was read");
    if (st == GCD_OK && !plan->cut)
        st = copy(from, to, UINT64_MAX, o, err);
    return st == GCD_END ? GCD_OK : st;
}

gcd_status gcd_recording_write(struct gcd_dump *d, struct gcd_input *in, struct gcd_sink *to,
                               const struct gcd_recording_options *options, uint64_t *ret_names,
                               struct gcd_error *err)
{
    static const struct gcd_recording_options defaults;
    const struct gcd_recording_options *o = options != NULL ? options : &defaults;
    struct source from = { .input = in };
    struct plan plan;
    if (ret_names != NULL)
        *ret_names = 0;
    if (d != NULL && rewrites(d, o) && d->recorded_values.events > 0 && d->values == NULL &&
        o->values != GCD_RECORDING_VALUES_REMOVE)
        return no_values(err);
    if (d != NULL && (gcd_trace_is_image(&d->summary.trace) || rewrites(d, o)))
        return write_events(d, in, to, o, err);
    GCD_TRY(plan_of(d, o, &plan, err));
    GCD_TRY(gcd_reader_new(in, &from.reader, err));
    gcd_status st = write_plan(d, &plan, &from, to, o, err);
    gcd_reader_free(from.reader);
    if (st == GCD_OK && ret_names != NULL)
        *ret_names = plan.names_added;
    return st;
}
