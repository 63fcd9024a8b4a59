#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

static void nt_free(struct gcd_trace *t)
{
    struct gcd_nt *nt = (struct gcd_nt *)t;
    gcd_reader_free(nt->reader);
    gcd_textpool_done(&nt->names);
    gcd_idmap_done(&nt->meta_by_id);
    gcd_idmap_done(&nt->meta_by_event);
    gcd_idmap_done(&nt->thread_by_index);
    gcd_idmap_done(&nt->label_version);
    nt_seq_done(&nt->seq, &nt->alloc);
    nt_stacks_done(nt);
    gcd_mem_free(&nt->alloc, nt->metas, nt->meta_cap * sizeof *nt->metas);
    gcd_mem_free(&nt->alloc, nt->thread_names, nt->thread_name_cap * sizeof *nt->thread_names);
    gcd_mem_free(&nt->alloc, nt->text_buffer, nt->text_cap);
    gcd_mem_free(&nt->alloc, nt->carry, nt->carry_cap);
    struct gcd_alloc a = nt->alloc;
    gcd_mem_free(&a, nt, sizeof *nt);
}

static gcd_status nt_open(const struct gcd_context *context, struct gcd_input *in,
                          struct gcd_trace **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_nt *nt = gcd_mem_new(&a, sizeof *nt);
    if (nt == NULL)
        return gcd_fail_nomem(err, "opening a trace");
    nt->alloc = a;
    if (context->limits != NULL)
        nt->limits = *context->limits;
    nt->limits.block_bytes = gcd_limit_or(nt->limits.block_bytes, UINT64_C(16) << 20);
    nt->limits.text_bytes = gcd_limit_or(nt->limits.text_bytes, UINT64_C(1) << 30);
    nt->limits.threads = gcd_limit_or(nt->limits.threads, UINT64_C(256) << 10);
    nt->limits.metadata = gcd_limit_or(nt->limits.metadata, UINT64_C(1) << 20);
    nt->carry_want = 1;
    nt->info = (struct gcd_trace_info){ .container = "",
                                        .start_unix_ms = INT64_MIN,
                                        .damage_off = GCD_OFF_NONE };
    nt->final_error = (struct gcd_error)GCD_ERROR_INIT;
    gcd_textpool_init(&nt->names, &nt->alloc, nt->limits.text_bytes);
    gcd_idmap_init(&nt->meta_by_id, &nt->alloc);
    gcd_idmap_init(&nt->meta_by_event, &nt->alloc);
    gcd_idmap_init(&nt->thread_by_index, &nt->alloc);
    gcd_idmap_init(&nt->label_version, &nt->alloc);
    gcd_idmap_init(&nt->stacks.by_id, &nt->alloc);
    nt_seq_init(&nt->seq, &nt->alloc, nt->limits.threads);
    gcd_status st = in != NULL ? gcd_reader_new(in, &nt->reader, err) : GCD_OK;
    if (st == GCD_OK)
        *ret = &nt->trace;
    else
        nt_free(&nt->trace);
    return st;
}

static gcd_status nt_feed(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err)
{
    struct gcd_nt *nt = (struct gcd_nt *)t;
    if (nt->finished || nt->slice_bytes > 0)
        return gcd_fail(err, GCD_E_STATE, "trace data fed at the wrong time");
    nt->slice = bytes;
    nt->slice_bytes = n;
    nt->info.bytes += n;
    return GCD_OK;
}

static void nt_finish(struct gcd_trace *t)
{
    ((struct gcd_nt *)t)->finished = true;
}

static gcd_status nt_fetch(struct gcd_trace *t, struct gcd_error *err)
{
    const uint8_t *bytes;
    size_t n;
    gcd_status st = gcd_reader_next(((struct gcd_nt *)t)->reader, &bytes, &n, err);
    if (st == GCD_OK)
        return nt_feed(t, bytes, n, err);
    if (st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT)
        nt_finish(t);
    return st;
}

static uint64_t nt_position(const struct gcd_trace *t)
{
    const struct gcd_nt *nt = (const struct gcd_nt *)t;
    return nt->reader != NULL ? gcd_reader_position(nt->reader) : nt->info.bytes;
}

/* The trace ends here: remember the status, so that later calls return it again. */
static gcd_status stop(struct gcd_nt *nt, gcd_status st, const struct gcd_error *e)
{
    nt->final = st;
    nt->final_error = *e;
    nt->in_block = false;
    if (st == GCD_E_TRUNCATED)
        nt->info.end = GCD_TRACE_TRUNCATED;
    else if (st != GCD_END)
        nt->info.end = GCD_TRACE_CORRUPT;
    if (st != GCD_END)
        nt->info.damage_off = e->off;
    return st;
}

/* Drops the first N bytes of the input: of the carried block, or of the slice. */
static void consume(struct gcd_nt *nt, bool from_carry, size_t n)
{
    if (from_carry) {
        nt->carry_bytes = 0;
        nt->carry_want = 1;
    } else {
        nt->slice += n;
        nt->slice_bytes -= n;
    }
    nt->off += n;
}

/* Extends the carried bytes to the wanted size.  GCD_NEED_MORE when the slice is too short. */
static gcd_status top_up(struct gcd_nt *nt, struct gcd_error *err)
{
    size_t missing = nt->carry_want - nt->carry_bytes;
    size_t take = missing < nt->slice_bytes ? missing : nt->slice_bytes;
    if (take > 0) {
        /* allocate for the bytes received, not for the size announced */
        if (!gcd_vec_reserve(&nt->alloc, &nt->carry, &nt->carry_cap, nt->carry_bytes + take, 1,
                             SIZE_MAX / 4))
            return gcd_fail_nomem(err, "reading a block");
        memcpy(nt->carry + nt->carry_bytes, nt->slice, take);
        nt->carry_bytes += take;
        nt->slice += take;
        nt->slice_bytes -= take;
    }
    return take == missing ? GCD_OK : GCD_NEED_MORE;
}

/* Handles a whole block without events; only begins an event or metadata block. */
static gcd_status take_frame(struct gcd_nt *nt, const struct nt_frame *f, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(f->body, f->body_bytes, f->body_off);
    switch (f->kind) {
    case NT_TRACE:
        if (nt->have_trace)
            return gcd_fail_at(err, GCD_E_FORMAT, f->body_off, "a second trace header");
        return nt_read_trace(nt, &c, err);
    case NT_EVENTS:
    case NT_METADATA:
        return nt_block_begin(nt, f, f->body_bytes, false, err);
    case NT_SEQUENCE_POINT:
        return nt_sequence_point(nt, &c, err);
    case NT_THREADS:
        return nt_threads_v6(nt, &c, err);
    case NT_REMOVE_THREADS:
        return nt_remove_threads_v6(nt, &c, err);
    case NT_LABELS:
        return nt_labels_v6(nt, &c, err);
    case NT_STACKS:
        return nt_stack_block(nt, &c, err);
    case NT_END:
        return GCD_OK;
    case NT_UNKNOWN:
        nt->info.unknown_blocks++;
        return GCD_OK;
    }
    return GCD_OK;
}

/* The input ended before the end mark.  N bytes at P are left; complete events of a truncated event
 * block are still good. */
static gcd_status cut_off(struct gcd_nt *nt, const uint8_t *p, size_t n, struct gcd_error *err)
{
    if (nt->format == 0 && nt->off + n == 0)
        return stop(nt, gcd_fail_at(err, GCD_E_TRUNCATED, 0, "the input is empty"), err);
    struct nt_frame f;
    size_t want;
    if (nt->format != 0 && nt->have_trace && n > 0 && !nt->block_cut &&
        nt_frame_next(nt, p, n, &f, &want, NULL) == GCD_NEED_MORE && f.body != NULL &&
        (f.kind == NT_EVENTS || f.kind == NT_METADATA)) {
        size_t have = n - (size_t)(f.body - p);
        if (have > f.body_bytes)
            have = f.body_bytes;
        if (nt_block_begin(nt, &f, have, true, NULL) == GCD_OK)
            return GCD_OK;
    }
    gcd_fail_at(err, GCD_E_TRUNCATED, nt->off + n, "%s",
                nt->format == 0 ? "the file ends within its header"
                                : "the recording ends early: the process ended, the connection "
                                  "broke or the file was cut");
    return stop(nt, GCD_E_TRUNCATED, err);
}

/* One step of framing.  GCD_OK when something was consumed, otherwise the result of nt_next. */
static gcd_status step(struct gcd_nt *nt, struct gcd_error *err)
{
    bool from_carry = nt->carry_bytes > 0;
    if (from_carry && !nt->block_cut) {
        gcd_status st = top_up(nt, err);
        if (st < 0)
            return st;
        if (st == GCD_NEED_MORE && !nt->finished)
            return st;
    }
    const uint8_t *p = from_carry ? nt->carry : nt->slice;
    size_t n = from_carry ? nt->carry_bytes : nt->slice_bytes;
    size_t want = 1;
    gcd_status st = GCD_NEED_MORE;
    struct nt_frame f = { .kind = NT_UNKNOWN };
    if (n > 0 && nt->format == 0) {
        st = nt_file_header(nt, p, n, &f.total_bytes, &want, err);
        if (st == GCD_OK)
            nt->info.container = "nettrace";
    } else if (n > 0) {
        st = nt_frame_next(nt, p, n, &f, &want, err);
        if (st == GCD_OK)
            st = take_frame(nt, &f, err);
    }
    if (st == GCD_OK && f.kind == NT_END) {
        consume(nt, from_carry, f.total_bytes);
        nt->info.end = GCD_TRACE_CLOSED;
        return stop(nt, GCD_END, &(struct gcd_error)GCD_ERROR_INIT);
    }
    if (st == GCD_OK && nt->in_block) {
        nt->block_total = f.total_bytes;
        nt->block_in_carry = from_carry;
        return GCD_OK;
    }
    if (st == GCD_OK) {
        consume(nt, from_carry, f.total_bytes);
        return GCD_OK;
    }
    if (st != GCD_NEED_MORE)
        return st;
    if (nt->finished && nt->slice_bytes == (from_carry ? 0 : n))
        return cut_off(nt, p, n, err);
    nt->carry_want = want;
    if (from_carry)
        return GCD_OK; /* the slice may hold more of it */
    return n == 0 ? GCD_NEED_MORE : top_up(nt, err);
}

static gcd_status nt_next(struct gcd_trace *t, struct gcd_event *ret, struct gcd_error *err)
{
    struct gcd_nt *nt = (struct gcd_nt *)t;
    struct gcd_error own = GCD_ERROR_INIT;
    if (err == NULL)
        err = &own;
    for (;;) {
        if (nt->final != GCD_OK) {
            if (nt->final == GCD_END) {
                nt->info.trailing_bytes += nt->slice_bytes;
            } else {
                *err = nt->final_error;
            }
            nt->slice_bytes = 0;
            return nt->final;
        }
        gcd_status st;
        if (nt->in_block) {
            st = nt_block_next(nt, ret, err);
            if (st == GCD_OK)
                return st;
            if (st == GCD_END) {
                nt->in_block = false;
                if (nt->block_cut) {
                    const uint8_t *p = nt->carry_bytes > 0 ? nt->carry : nt->slice;
                    st = cut_off(nt, p, nt->carry_bytes > 0 ? nt->carry_bytes : nt->slice_bytes,
                                 err);
                } else {
                    consume(nt, nt->block_in_carry, nt->block_total);
                    continue;
                }
            }
        } else {
            st = step(nt, err);
        }
        if (st == GCD_NEED_MORE)
            return st;
        if (st < 0 && nt->final == GCD_OK)
            (void)stop(nt, st, err);
    }
}

static void nt_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    const struct gcd_nt *nt = (const struct gcd_nt *)t;
    *ret = nt->info;
    ret->format_version = nt->format;
    ret->has_sequence_numbers = ret->numbers_events = nt->format != 3;
    ret->lost_events = nt->seq.lost;
    ret->irregular_steps = nt->seq.irregular;
    ret->lost_threads = 0;
    for (size_t i = 0; i < nt->seq.count; i++)
        ret->lost_threads += nt->seq.threads[i].lost > 0;
    ret->loss_verified = nt->info.end == GCD_TRACE_CLOSED && nt->format != 3 &&
                         nt->sequence_point_last && nt->seq.irregular == 0 && !nt->seq.overflow;
}

static bool nt_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    return nt_seq_closed(&((const struct gcd_nt *)t)->seq, thread);
}

static bool nt_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread,
                          uint64_t *ret_events, uint64_t *ret_lost)
{
    const struct nt_seq *s = &((const struct gcd_nt *)t)->seq;
    if (i >= s->count)
        return false;
    *ret_thread = s->threads[i].id;
    *ret_events = s->threads[i].events;
    *ret_lost = s->threads[i].lost;
    return true;
}

static void nt_keep_stacks(struct gcd_trace *t)
{
    ((struct gcd_nt *)t)->stacks.wanted = true;
}

const struct gcd_container nt_container = {
    .open = nt_open,
    .free = nt_free,
    .feed = nt_feed,
    .finish = nt_finish,
    .fetch = nt_fetch,
    .next = nt_next,
    .position = nt_position,
    .get_info = nt_get_info,
    .thread_closed = nt_thread_closed,
    .get_thread = nt_get_thread,
    .keep_stacks = nt_keep_stacks,
};
