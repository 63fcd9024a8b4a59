/*
 * The public face of the event containers.  There is one today; the next one (.etl) will be told apart here by its first bytes.
 */
#include <gcdumpc/trace.h>

#include "base/error.h"
#include "base/mem.h"
#include "nettrace/nt.h"

struct gcd_trace {
    struct gcd_alloc alloc;
    struct gcd_nt *nt;
};

gcd_status gcd_trace_new(const struct gcd_alloc *alloc, const struct gcd_limits *limits, struct gcd_trace **ret,
                         struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_trace *t = gcd_mem_new(&a, sizeof *t);
    if (t == NULL)
        return gcd_fail_nomem(err, "opening a trace");
    t->alloc = a;
    gcd_status st = nt_new(&a, limits, &t->nt, err);
    if (st != GCD_OK) {
        gcd_mem_free(&a, t, sizeof *t);
        return st;
    }
    *ret = t;
    return GCD_OK;
}

void gcd_trace_free(struct gcd_trace *t)
{
    if (t == NULL)
        return;
    nt_free(t->nt);
    struct gcd_alloc a = t->alloc;
    gcd_mem_free(&a, t, sizeof *t);
}

gcd_status gcd_trace_feed(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err)
{
    return nt_feed(t->nt, bytes, n, err);
}

void gcd_trace_finish(struct gcd_trace *t)
{
    nt_finish(t->nt);
}

gcd_status gcd_trace_next(struct gcd_trace *t, struct gcd_event *ret_event, struct gcd_error *err)
{
    return nt_next(t->nt, ret_event, err);
}

void gcd_trace_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    nt_get_info(t->nt, ret);
}

bool gcd_trace_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    const struct nt_seq *s = &t->nt->seq;
    bool any = false;
    for (size_t i = 0; i < s->count; i++)
        if (s->threads[i].events > 0 && s->threads[i].reported == thread) {
            if (!s->threads[i].closed)
                return false;
            any = true;
        }
    return any;
}

bool gcd_trace_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread, uint64_t *ret_events, uint64_t *ret_lost)
{
    const struct nt_seq *s = &t->nt->seq;
    if (i >= s->count)
        return false;
    *ret_thread = s->threads[i].id;
    *ret_events = s->threads[i].events;
    *ret_lost = s->threads[i].lost;
    return true;
}
