/*
 * The stream of a process is whatever the process wants it to be.  It is taken as long as it can become a dump, and not one byte longer.
 */
#include "live.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>

/* Can the bytes at hand still belong to the recording? */
static gcd_status check_before(struct live_attempt *a, struct gcd_error *err)
{
    if (!a->over)
        return GCD_OK;
    *err = (struct gcd_error){ .code = GCD_E_FORMAT, .off = GCD_OFF_NONE };
    (void)snprintf(err->msg, sizeof err->msg, "the process goes on sending after the end of the recording; that was not read");
    return err->code;
}

/*
 * The dump itself does not tell that its decoder has given up: it takes that for the end.  So a second one goes through the blocks; that costs
 * next to nothing beside the work on what is in them.
 */
static gcd_status decode(struct live_attempt *a, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct gcd_event event;
    struct gcd_error cause = GCD_ERROR_INIT;
    gcd_status st = gcd_trace_feed(a->decoder, bytes, n, &cause);
    while (st == GCD_OK)
        st = gcd_trace_next(a->decoder, &event, &cause);
    a->over = st == GCD_END;
    a->undecodable = st < 0;
    if (st >= 0)
        return GCD_OK;
    *err = cause;
    (void)snprintf(err->msg, sizeof err->msg, "the event stream cannot be decoded: %.400s", cause.msg);
    return st;
}

gcd_status live_stream_take(struct live_attempt *a, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    gcd_status st = check_before(a, err);
    if (st == GCD_OK && a->spool != NULL)        /* first: they cannot be had twice */
        st = gcd_input_append(a->spool, bytes, n, err);
    if (st == GCD_OK) {
        st = gcd_dump_feed(a->dump, bytes, n, err);
        a->whole = a->whole || st == GCD_END;
        gcd_status decoded = decode(a, bytes, n, err);
        st = decoded < 0 ? decoded : st;
    }
    a->refused = a->refused || st < 0;
    return st;
}

#endif
