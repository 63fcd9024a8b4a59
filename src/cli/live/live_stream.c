/*
 * Accepts bytes of the stream only while they can become a dump, because the process may send
 * anything.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/spool.h>

#include "live/live.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

#include <stdarg.h>
#include <stdio.h>

GCD_PRINTF(3, 4)
static gcd_status refuse(struct gcd_error *err, gcd_status st, const char *fmt, ...)
{
    va_list ap;
    *err = (struct gcd_error){ .code = st, .off = GCD_OFF_NONE };
    va_start(ap, fmt);
    (void)vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    return st;
}

/*
 * The most bytes that the memory of the process can explain.  Uses the largest memory seen: the
 * stream does not get shorter when the process frees memory or ends.
 */
static uint64_t explained_bytes(const struct live *l, struct live_attempt *a)
{
    if (a->most_bytes == 0)
        a->most_bytes = gcd_ipc_stream_max(&l->memory);
    if (a->result.stream_bytes > a->most_bytes && l->memory.rss_bytes != 0) {
        struct gcd_ipc_memory now;
        gcd_ipc_memory(l->pid, &now);
        now.rss_bytes = a->rss_peak > now.rss_bytes ? a->rss_peak : now.rss_bytes;
        uint64_t most = now.rss_bytes != 0 ? gcd_ipc_stream_max(&now) : 0;
        a->most_bytes = most > a->most_bytes ? most : a->most_bytes;
    }
    return a->most_bytes;
}

/* Can the current bytes, counted already, still belong to the recording? */
static gcd_status check_before(const struct live *l, struct live_attempt *a, struct gcd_error *err)
{
    uint64_t asked = l->args->live.max_bytes, most = asked != 0 ? asked : explained_bytes(l, a);
    char size[CLI_NUMBER_BYTES];
    if (gcd_dump_decoded(a->dump, NULL) == GCD_END)
        return refuse(
            err, GCD_E_FORMAT,
            "the process keeps sending after the end of the recording; the rest was not read");
    if (a->result.stream_bytes <= most)
        return GCD_OK;
    if (asked != 0)
        return refuse(err, GCD_E_LIMIT, "the process sends more than %s of events (--max-bytes)",
                      cli_size(most, size));
    return refuse(err, GCD_E_LIMIT,
                  "the process sends more than %s of events, which %s cannot explain; --max-bytes "
                  "allows more",
                  cli_size(most, size),
                  l->memory.rss_bytes != 0 ? "its memory" : "the memory of the machine");
}

/* What follows bytes that cannot be decoded is of no use. */
static gcd_status check_decoded(const struct live_attempt *a, struct gcd_error *err)
{
    struct gcd_error cause = GCD_ERROR_INIT;
    gcd_status st = gcd_dump_decoded(a->dump, &cause);
    if (st >= 0)
        return GCD_OK;
    *err = cause;
    (void)snprintf(err->msg, sizeof err->msg, "the event stream cannot be decoded: %.400s",
                   cause.msg);
    return st;
}

gcd_status live_stream_take(const struct live *l, struct live_attempt *a, const uint8_t *bytes,
                            size_t n, struct gcd_error *err)
{
    gcd_status st = a->refusal.code != GCD_OK ? a->refusal.code : check_before(l, a, err);
    if (st == GCD_OK && a->spool != NULL) /* keep them first, because they come only once */
        st = gcd_input_append(a->spool, bytes, n, err);
    if (st == GCD_OK) {
        st = gcd_dump_feed(a->dump, bytes, n, err);
        live_values_take(l, a, bytes, n);
        a->whole = a->whole || st == GCD_END;
        gcd_status decoded = check_decoded(a, err);
        st = decoded < 0 ? decoded : st;
    }
    if (st < 0 && a->refusal.code == GCD_OK) {
        a->refusal = *err;
        a->refusal.code = st;
    } else if (st < 0) {
        *err = a->refusal;
    }
    return st;
}

#endif
