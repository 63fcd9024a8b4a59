/*
 * Asks a process for the size of its managed heap without a garbage collection: through the counter
 * "gc-heap-size" of its runtime.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>

#include "live/counter.h"
#include "live/live.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

/* With an interval below a second the first values come at once, the next ones after the interval.
 */
#define ARGUMENTS "EventCounterIntervalSec=0.2"
#define BUFFER_MB 1u

struct asking {
    struct gcd_trace *trace;
    uint64_t bytes; /* 0: not known yet */
};

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct asking *a = ctx;
    struct gcd_event event;
    gcd_status st = gcd_trace_feed(a->trace, bytes, n, err);
    while (st == GCD_OK && (st = gcd_trace_next(a->trace, &event, err)) == GCD_OK)
        if (a->bytes == 0 && event.provider == GCD_PROVIDER_OTHER)
            a->bytes = live_counter_heap(event.payload, event.payload_bytes);
    if (st < 0)
        return st;
    return a->bytes != 0 ? GCD_END : GCD_OK;
}

uint64_t live_heap_bytes(const char *socket_path, uint64_t timeout_ms)
{
    struct asking a = { .trace = NULL };
    struct gcd_ipc_collect_result result;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_ipc_collect_options options = {
        .socket_path = socket_path,
        .strategy = GCD_IPC_STRATEGY_SINGLE,
        .provider = "System.Runtime",
        .arguments = ARGUMENTS,
        .keywords = UINT32_MAX,
        .buffer_mb = BUFFER_MB,
        .timeout_ms = timeout_ms,
        .on_data = on_data,
        .ctx = &a,
        .cancel = &cli_canceled,
    };
    gcd_status st = gcd_trace_new(NULL, &a.trace, &err);
    if (st == GCD_OK)
        st = gcd_ipc_collect(&options, &result, &err);
    gcd_trace_free(a.trace);
    return st == GCD_OK || a.bytes != 0 ? a.bytes : 0;
}

#endif
