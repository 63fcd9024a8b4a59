#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "etl/etl.h"

static void etl_free(struct gcd_trace *t)
{
    struct gcd_etl *e = (struct gcd_etl *)t;
    etl_streams_free(e);
    gcd_textpool_done(&e->names);
    gcd_mem_free(&e->alloc, e->providers, e->provider_cap * sizeof *e->providers);
    gcd_mem_free(&e->alloc, e->buffers, e->buffer_cap * sizeof *e->buffers);
    struct gcd_alloc a = e->alloc;
    gcd_mem_free(&a, e, sizeof *e);
}

static gcd_status etl_open(const struct gcd_context *context, struct gcd_input *in,
                           struct gcd_trace **ret, struct gcd_error *err)
{
    struct gcd_error input_error = GCD_ERROR_INIT;
    gcd_status st = gcd_input_make_seekable(in, &input_error);
    if (st != GCD_OK && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) {
        if (err != NULL)
            *err = input_error;
        return st;
    }
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_etl *e = gcd_mem_new(&a, sizeof *e);
    if (e == NULL)
        return gcd_fail_nomem(err, "opening a trace");
    e->alloc = a;
    if (context->limits != NULL)
        e->limits = *context->limits;
    e->limits.block_bytes = gcd_limit_or(e->limits.block_bytes, UINT64_C(16) << 20);
    e->limits.text_bytes = gcd_limit_or(e->limits.text_bytes, UINT64_C(1) << 30);
    e->in = in;
    e->input_error = input_error;
    e->info = (struct gcd_trace_info){ .container = "etl",
                                       .start_unix_ms = INT64_MIN,
                                       .damage_off = GCD_OFF_NONE };
    e->final_error = (struct gcd_error)GCD_ERROR_INIT;
    gcd_textpool_init(&e->names, &e->alloc, e->limits.text_bytes);
    *ret = &e->trace;
    return GCD_OK;
}

/* The trace ends here; later calls return the same. */
static gcd_status stop(struct gcd_etl *e, gcd_status st, const struct gcd_error *why)
{
    e->phase = ETL_DONE;
    e->final = st;
    e->final_error = *why;
    if (st == GCD_END)
        e->info.end = GCD_TRACE_CLOSED;
    else if (st == GCD_E_TRUNCATED)
        e->info.end = GCD_TRACE_TRUNCATED;
    else
        e->info.end = GCD_TRACE_CORRUPT;
    if (st != GCD_END && e->info.damage_off == GCD_OFF_NONE)
        e->info.damage_off = why->off;
    return st;
}

/* All records were returned: how did the trace end? */
static gcd_status finish(struct gcd_etl *e, struct gcd_error *err)
{
    uint64_t off = e->info.damage_off;
    if (e->info.end == GCD_TRACE_CORRUPT)
        return stop(
            e,
            gcd_fail_at(
                err, GCD_E_FORMAT, off,
                "a buffer is smaller than its header: the sizes of the buffers are damaged"),
            err);
    if (off != GCD_OFF_NONE)
        return stop(e,
                    gcd_fail_at(err, GCD_E_TRUNCATED, off,
                                "the recording ends early: the file was cut, or not closed"),
                    err);
    return stop(e, GCD_END, &(struct gcd_error)GCD_ERROR_INIT);
}

static gcd_status etl_fetch(struct gcd_trace *t, struct gcd_error *err)
{
    struct gcd_etl *e = (struct gcd_etl *)t;
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = GCD_OK;
    if (e->phase == ETL_DONE || (e->phase == ETL_MERGING && e->queue_count == 0)) {
        if (e->input_error.code == GCD_OK)
            return GCD_END;
        if (err != NULL)
            *err = e->input_error;
        return e->input_error.code;
    }
    if (e->phase == ETL_INDEXING)
        st = etl_index(e, &own);
    else if (e->phase == ETL_FILLING || etl_oldest(e) == NULL)
        st = etl_fill(e, &own);
    if (st < 0)
        (void)stop(e, st, &own);
    if (st == GCD_E_IO || st == GCD_E_NOMEM) {
        if (err != NULL)
            *err = own;
        return st;
    }
    return GCD_OK; /* etl_next reports problems with the content */
}

static gcd_status etl_next(struct gcd_trace *t, struct gcd_event *ret, struct gcd_error *err)
{
    struct gcd_etl *e = (struct gcd_etl *)t;
    struct gcd_error own = GCD_ERROR_INIT;
    if (err == NULL)
        err = &own;
    for (;;) {
        if (e->phase == ETL_DONE) {
            if (e->final < 0)
                *err = e->final_error;
            return e->final;
        }
        if (e->phase != ETL_MERGING)
            return GCD_NEED_MORE;
        if (e->given)
            etl_advance(e);
        e->given = false;
        if (e->queue_count == 0)
            return finish(e, err);
        const struct etl_record *r = etl_oldest(e);
        if (r == NULL)
            return GCD_NEED_MORE;
        bool is_event;
        gcd_status st = etl_record_event(e, r, ret, &is_event, err);
        if (st != GCD_OK)
            return stop(e, st, err);
        e->given = true;
        e->given_bytes += r->bytes;
        if (is_event) {
            e->info.events++;
            return GCD_OK;
        }
    }
}

static uint64_t etl_position(const struct gcd_trace *t)
{
    return ((const struct gcd_etl *)t)->position;
}

static void etl_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    const struct gcd_etl *e = (const struct gcd_etl *)t;
    *ret = e->info;
    ret->has_sequence_numbers = true;
    gcd_add_saturating(&ret->lost_buffers, e->missing);
    ret->loss_verified = e->info.end == GCD_TRACE_CLOSED && !e->unclosed && e->suspicious == 0;
}

/* Its counts cover the whole recording. */
static bool etl_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    (void)thread;
    struct gcd_trace_info info;
    etl_get_info(t, &info);
    return info.loss_verified;
}

const struct gcd_container etl_container = {
    .probe = etl_probe,
    .joins_files = true,
    .open = etl_open,
    .free = etl_free,
    .fetch = etl_fetch,
    .next = etl_next,
    .position = etl_position,
    .get_info = etl_get_info,
    .thread_closed = etl_thread_closed,
};
