/* The public interface of the event containers, selected by the first bytes of the input. */
#include <gcdumpc/trace.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "etl/etl.h"
#include "nettrace/nt.h"

/* Exactly one of NT and ETL is set. */
struct gcd_trace {
    struct gcd_alloc alloc;
    struct gcd_nt *nt;
    struct gcd_etl *etl;
    struct gcd_reader *reader;       /* opened on an input; NULL: it is fed, or an .etl */
    struct gcd_error input_error;    /* for the copy from which an .etl is read */
};

static gcd_status trace_new(const struct gcd_alloc *alloc, struct gcd_trace **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_trace *t = gcd_mem_new(&a, sizeof *t);
    if (t == NULL)
        return gcd_fail_nomem(err, "opening a trace");
    t->alloc = a;
    t->input_error = (struct gcd_error)GCD_ERROR_INIT;
    *ret = t;
    return GCD_OK;
}

/* T when ST is GCD_OK; otherwise frees it. */
static gcd_status opened(struct gcd_trace *t, gcd_status st, struct gcd_trace **ret)
{
    if (st == GCD_OK)
        *ret = t;
    else
        gcd_trace_free(t);
    return st;
}

gcd_status gcd_trace_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits, struct gcd_trace **ret,
                         struct gcd_error *err)
{
    struct gcd_trace *t = NULL;
    GCD_TRY(trace_new(alloc, &t, err));
    return opened(t, nt_new(&t->alloc, limits, &t->nt, err), ret);
}

static gcd_status open_etl(struct gcd_trace *t, struct gcd_input *in, const struct gcd_limits *limits, struct gcd_error *err)
{
    gcd_status st = gcd_input_make_seekable(in, &t->input_error);
    if (st != GCD_OK && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) {
        if (err != NULL)
            *err = t->input_error;
        return st;
    }
    return etl_new(&t->alloc, limits, in, &t->etl, err);
}

static gcd_status open_any(struct gcd_trace *t, struct gcd_input *in, const struct gcd_limits *limits, struct gcd_error *err)
{
    static const char zip[4] = { 'P', 'K', 3, 4 };
    uint8_t head[ETL_HEAD_BYTES];
    size_t n;
    GCD_TRY(gcd_input_peek(in, head, sizeof head, &n, err));
    if (etl_probe(head, n))
        return open_etl(t, in, limits, err);
    if (n >= sizeof zip && memcmp(head, zip, sizeof zip) == 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "is a ZIP archive (.etl.zip, .diagsession): unpack it, and give the .etl in it");
    if (gcd_input_part_count(in) > 1)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "several files are one recording only when they are .etl");
    GCD_TRY(nt_new(&t->alloc, limits, &t->nt, err));
    return gcd_reader_new(in, &t->reader, err);
}

gcd_status gcd_trace_open(struct gcd_input *in, const struct gcd_alloc *alloc, const struct gcd_limits *limits, struct gcd_trace **ret,
                          struct gcd_error *err)
{
    struct gcd_trace *t = NULL;
    GCD_TRY(trace_new(alloc, &t, err));
    return opened(t, open_any(t, in, limits, err), ret);
}

void gcd_trace_free(struct gcd_trace *t)
{
    if (t == NULL)
        return;
    nt_free(t->nt);
    etl_free(t->etl);
    gcd_reader_free(t->reader);
    struct gcd_alloc a = t->alloc;
    gcd_mem_free(&a, t, sizeof *t);
}

gcd_status gcd_trace_feed(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err)
{
    if (t->nt == NULL || t->reader != NULL)
        return gcd_fail(err, GCD_E_STATE, "a trace that reads an input is not fed");
    return nt_feed(t->nt, bytes, n, err);
}

void gcd_trace_finish(struct gcd_trace *t)
{
    if (t->nt != NULL)
        nt_finish(t->nt);
}

static gcd_status fetch_etl(struct gcd_trace *t, struct gcd_error *err)
{
    gcd_status st = etl_fetch(t->etl, err);
    if (st != GCD_END || t->input_error.code == GCD_OK)
        return st;
    if (err != NULL)
        *err = t->input_error;
    return t->input_error.code;
}

gcd_status gcd_trace_fetch(struct gcd_trace *t, struct gcd_error *err)
{
    const uint8_t *bytes;
    size_t n;
    if (t->etl != NULL)
        return fetch_etl(t, err);
    if (t->reader == NULL)
        return gcd_fail(err, GCD_E_STATE, "a trace without an input has to be fed");
    gcd_status st = gcd_reader_next(t->reader, &bytes, &n, err);
    if (st == GCD_OK)
        return nt_feed(t->nt, bytes, n, err);
    if (st == GCD_END || st == GCD_E_TRUNCATED || st == GCD_E_FORMAT)
        nt_finish(t->nt);
    return st;
}

uint64_t gcd_trace_position(const struct gcd_trace *t)
{
    return t->etl != NULL ? t->etl->position : t->reader != NULL ? gcd_reader_position(t->reader) : t->nt->info.bytes;
}

gcd_status gcd_trace_next(struct gcd_trace *t, struct gcd_event *ret_event, struct gcd_error *err)
{
    return t->etl != NULL ? etl_next(t->etl, ret_event, err) : nt_next(t->nt, ret_event, err);
}

void gcd_trace_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    if (t->etl != NULL)
        etl_get_info(t->etl, ret);
    else
        nt_get_info(t->nt, ret);
}

bool gcd_trace_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    if (t->etl != NULL) {                /* its counts cover the whole recording */
        struct gcd_trace_info info;
        etl_get_info(t->etl, &info);
        return info.loss_verified;
    }
    const struct nt_seq *s = &t->nt->seq;
    bool any = false;
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i].events > 0 && s->threads[i].reported == thread) {
            if (!s->threads[i].closed || (s->threads[i].has_old && !s->threads[i].old_closed))
                return false;
            any = true;
        }
    return any;
}

bool gcd_trace_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread, uint64_t *ret_events, uint64_t *ret_lost)
{
    if (t->etl != NULL)
        return false;
    const struct nt_seq *s = &t->nt->seq;
    if (i >= s->count)
        return false;
    *ret_thread = s->threads[i].id;
    *ret_events = s->threads[i].events;
    *ret_lost = s->threads[i].lost;
    return true;
}
