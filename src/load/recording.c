/* A copy of a recording, with names and memory added before its end mark. */
#include <gcdumpc/unstable/recording.h>

#include <string.h>

#include <gcdumpc/unstable/image.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "load/load.h"
#include "nettrace/nt_append.h"

_Static_assert(RECORDED_PAYLOAD_MAX <= NT_APPEND_PAYLOAD_MAX, "a payload fits into a block");

static bool has_new_names(const struct gcd_dump *d)
{
    for (size_t i = 0; i < d->summary.module_count; i++)
        if (d->summary.modules[i].state == GCD_MODULE_READ)
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

/* Is there anything to add to the recording of D, and room for it? */
static bool has_news(const struct gcd_dump *d, struct nt_tail *ret)
{
    return d != NULL && d->heap != NULL && (has_new_names(d) || d->memory_is_new) &&
           has_room(d, ret);
}

/* The names of S as events; BUFFER[RECORDED_PAYLOAD_MAX]. */
static void append_names(const struct gcd_summary *s, struct nt_append *a, uint8_t *buffer,
                         uint64_t *ret_names)
{
    struct recorded_start start = { .gc_number = s->gc_number, .walk_number = s->walk_number };
    struct recorded_pass count = { .summary = s }, write = { .summary = s };
    enum recorded_kind kind;
    size_t n;
    while (recorded_put_next(&count, buffer, &kind) > 0)
        start.counts[kind]++;
    nt_append_event(a, 0, buffer, recorded_put_start(buffer, &start));
    while ((n = recorded_put_next(&write, buffer, &kind)) > 0)
        nt_append_event(a, recorded_event_of(kind) - RECORDED_START, buffer, n);
    *ret_names = (uint64_t)start.counts[RECORDED_TYPES] + start.counts[RECORDED_STATICS];
}

static void append_memory(const struct gcd_summary *s, struct nt_append *a, uint8_t *buffer)
{
    struct recorded_memory r = { .gc_number = s->gc_number,
                                 .walk_number = s->walk_number,
                                 .memory = s->memory };
    nt_append_event(a, RECORDED_MEMORY - RECORDED_START, buffer, recorded_put_memory(buffer, &r));
}

static gcd_status append_all(struct gcd_dump *d, const struct nt_tail *tail, struct gcd_sink *to,
                             uint64_t *ret_names, struct gcd_error *err)
{
    struct nt_append *a = NULL;
    uint8_t *buffer = gcd_mem_new(&d->alloc, RECORDED_PAYLOAD_MAX);
    gcd_status st = buffer != NULL ? nt_append_new(&d->alloc, tail, &recorded_events, to, &a, err)
                                   : gcd_fail_nomem(err, "adding names to the recording");
    if (st == GCD_OK && d->memory_is_new)
        append_memory(&d->summary, a, buffer);
    if (st == GCD_OK && has_new_names(d))
        append_names(&d->summary, a, buffer, ret_names);
    if (st == GCD_OK)
        nt_append_end(a);
    nt_append_free(a);
    gcd_mem_free(&d->alloc, buffer, RECORDED_PAYLOAD_MAX);
    return st;
}

struct source {
    struct gcd_input *input;
    struct gcd_reader *reader;
    const uint8_t *p; /* bytes that were read and not yet written */
    size_t n;
};

/* The next N bytes.  GCD_END when there are fewer. */
static gcd_status copy(struct source *from, struct gcd_sink *to, uint64_t n,
                       const struct gcd_recording_options *o, struct gcd_error *err)
{
    for (;;) {
        size_t take = from->n < n ? from->n : (size_t)n;
        if (take > 0) { /* at first there are no bytes, and no position */
            gcd_sink_write(to, from->p, take);
            from->p += take;
        }
        from->n -= take;
        n -= take;
        GCD_TRY(gcd_sink_status(to, err));
        GCD_TRY(gcd_check_canceled(o->context.cancel, err));
        if (n == 0)
            return GCD_OK;
        GCD_TRY(gcd_reader_next(from->reader, &from->p, &from->n, err));
        gcd_context_report(&o->context, gcd_reader_position(from->reader),
                           gcd_input_size(from->input));
    }
}

/* The events of a container that is no recording: of a memory image. */
static gcd_status write_events(struct gcd_dump *d, struct gcd_input *in, struct gcd_sink *to,
                               const struct gcd_context *context, struct gcd_error *err)
{
    struct gcd_trace *t = NULL;
    struct nt_append *a = NULL;
    struct gcd_event ev;
    GCD_TRY(gcd_trace_open(in, context, &t, err));
    gcd_status st = nt_write_new(&d->alloc, &d->summary.trace, &recorded_events, to, &a, err);
    if (st == GCD_OK)
        st = gcd_trace_fetch(t, err);
    while (st == GCD_OK && (st = gcd_trace_next(t, &ev, err)) == GCD_OK) {
        st = nt_write_event(a, &ev, err);
        if (st == GCD_OK)
            st = gcd_sink_status(to, err);
        gcd_context_report(context, gcd_trace_position(t), gcd_input_size(in));
    }
    if (st == GCD_END)
        nt_write_end(a);
    /* of a heap that is not whole, the recording is cut: it ends without its end mark */
    if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT)
        nt_append_end(a);
    nt_append_free(a);
    gcd_trace_free(t);
    return st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT ? GCD_OK : st;
}

gcd_status gcd_recording_write(struct gcd_dump *d, struct gcd_input *in, struct gcd_sink *to,
                               const struct gcd_recording_options *options, uint64_t *ret_names,
                               struct gcd_error *err)
{
    static const struct gcd_recording_options defaults;
    const struct gcd_recording_options *o = options != NULL ? options : &defaults;
    struct nt_tail tail = { .end_off = 0 };
    bool add = !o->plain && has_news(d, &tail);
    struct source from = { .input = in };
    uint64_t names = 0;
    if (d != NULL && gcd_trace_is_image(&d->summary.trace)) {
        if (ret_names != NULL)
            *ret_names = 0;
        return write_events(d, in, to, &o->context, err);
    }
    GCD_TRY(gcd_reader_new(in, &from.reader, err));
    gcd_status st = add ? copy(&from, to, tail.end_off, o, err) : GCD_OK;
    if (st == GCD_END)
        st = gcd_fail(err, GCD_E_FORMAT, "the input changed while it was read");
    if (st == GCD_OK && add)
        st = append_all(d, &tail, to, &names, err);
    if (st == GCD_OK)
        st = copy(&from, to, UINT64_MAX, o, err);
    gcd_reader_free(from.reader);
    if (st != GCD_OK && st != GCD_END)
        return st;
    if (ret_names != NULL)
        *ret_names = names;
    return GCD_OK;
}
