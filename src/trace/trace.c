/*
 * The public interface of the event containers, which are recognised here by their first bytes.
 */
#include <gcdumpc/trace.h>
#include <gcdumpc/unstable/io/input_parts.h>

#include <string.h>

#include "base/container.h"
#include "base/context.h"
#include "base/error.h"
#include "etl/etl.h"
#include "image/core_container.h"
#include "nettrace/nt.h"

/* Bytes that a probe gets. */
#define HEAD_BYTES ETL_HEAD_BYTES

/* A new container is a row here; the last one has no probe. */
static const struct gcd_container *const containers[] = { &core_container, &etl_container,
                                                          &nt_container };

static gcd_status open_as(const struct gcd_container *c, struct gcd_input *in,
                          const struct gcd_context *context, struct gcd_trace **ret,
                          struct gcd_error *err)
{
    GCD_TRY(c->open(gcd_context_or_default(context), in, ret, err));
    (*ret)->container = c;
    (*ret)->fed = in == NULL;
    return GCD_OK;
}

/* What runtimes send is nettrace. */
gcd_status gcd_trace_new(const struct gcd_context *context, struct gcd_trace **ret,
                         struct gcd_error *err)
{
    return open_as(&nt_container, NULL, context, ret, err);
}

gcd_status gcd_trace_open(struct gcd_input *in, const struct gcd_context *context,
                          struct gcd_trace **ret, struct gcd_error *err)
{
    static const char zip[4] = { 'P', 'K', 3, 4 };
    uint8_t head[HEAD_BYTES];
    size_t n, i = 0;
    GCD_TRY(gcd_input_peek(in, head, sizeof head, &n, err));
    if (n >= sizeof zip && memcmp(head, zip, sizeof zip) == 0)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "is a ZIP archive (.nettrace.zip, .etl.zip, .diagsession): unpack it, and "
                        "give the recording in it");
    while (containers[i]->probe != NULL && !containers[i]->probe(head, n))
        i++;
    if (gcd_input_part_count(in) > 1 && !containers[i]->joins_files)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "only .etl recordings can have several files");
    return open_as(containers[i], in, context, ret, err);
}

void gcd_trace_free(struct gcd_trace *t)
{
    if (t != NULL)
        t->container->free(t);
}

gcd_status gcd_trace_feed(struct gcd_trace *t, const void *bytes, size_t n, struct gcd_error *err)
{
    if (!t->fed)
        return gcd_fail(err, GCD_E_STATE, "a trace that reads an input is not fed");
    return t->container->feed(t, bytes, n, err);
}

void gcd_trace_finish(struct gcd_trace *t)
{
    if (t->container->finish != NULL)
        t->container->finish(t);
}

gcd_status gcd_trace_fetch(struct gcd_trace *t, struct gcd_error *err)
{
    if (t->fed)
        return gcd_fail(err, GCD_E_STATE, "a trace without an input has to be fed");
    return t->container->fetch(t, err);
}

uint64_t gcd_trace_position(const struct gcd_trace *t)
{
    return t->container->position(t);
}

gcd_status gcd_trace_next(struct gcd_trace *t, struct gcd_event *ret_event, struct gcd_error *err)
{
    return t->container->next(t, ret_event, err);
}

gcd_status gcd_trace_pull(struct gcd_trace *t, const gcd_cancel_flag *cancel, struct gcd_event *ret,
                          struct gcd_error *err)
{
    gcd_status st;
    while ((st = gcd_trace_next(t, ret, err)) == GCD_NEED_MORE) {
        GCD_TRY(gcd_check_canceled(cancel, err));
        st = gcd_trace_fetch(t, err);
        /* damage around the trace: the events before it still come, then its end */
        if (st < 0 && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT)
            return st;
    }
    return st;
}

void gcd_trace_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    t->container->get_info(t, ret);
}

bool gcd_trace_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    return t->container->thread_closed(t, thread);
}

void gcd_trace_keep_stacks(struct gcd_trace *t)
{
    if (t->container->keep_stacks != NULL)
        t->container->keep_stacks(t);
}

void gcd_trace_skip_records(struct gcd_trace *t, bool nodes, bool edges)
{
    if (t->container->skip_records != NULL)
        t->container->skip_records(t, nodes, edges);
}

void gcd_trace_want_sums(struct gcd_trace *t)
{
    if (t->container->sum != NULL)
        t->container->skip_records(t, true, true);
}

const struct gcd_type_sum *gcd_trace_sum(const struct gcd_trace *t, size_t i, uint64_t *ret_type)
{
    return t->container->sum != NULL ? t->container->sum(t, i, ret_type) : NULL;
}

bool gcd_trace_get_thread(const struct gcd_trace *t, size_t i, uint64_t *ret_thread,
                          uint64_t *ret_events, uint64_t *ret_lost)
{
    return t->container->get_thread != NULL &&
           t->container->get_thread(t, i, ret_thread, ret_events, ret_lost);
}
