/*
 * Asks a process how large its managed heap is, without a garbage collection: by the counter "gc-heap-size" of its runtime.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>

#include "live/live.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

#include <math.h>
#include <string.h>

/* The first values come at once with an interval below a second, and then that often. */
#define ARGUMENTS "EventCounterIntervalSec=0.2"
#define COUNTER "gc-heap-size"
/* The counter is in megabytes, of 1,000,000 bytes; .NET Core 3 to 10. */
#define COUNTER_UNIT 1e6
#define COUNTER_MOST 1e9
#define BUFFER_MB 1u

struct asking {
    struct gcd_trace *trace;
    uint64_t bytes;              /* 0: not known yet */
};

/* The text in UTF-16LE at P[N]: true if it is WANTED with its end.  *RET: behind its end; NULL if it has none. */
static bool read_text(const uint8_t *p, size_t n, const char *wanted, const uint8_t **ret)
{
    bool same = true;
    size_t i = 0;
    for (; 2 * i + 1 < n && (p[2 * i] != 0 || p[2 * i + 1] != 0); i++)
        same = same && (wanted == NULL || (i < strlen(wanted) && p[2 * i] == (uint8_t)wanted[i] && p[2 * i + 1] == 0));
    *ret = 2 * i + 1 < n ? p + 2 * i + 2 : NULL;
    return same && (wanted == NULL || i == strlen(wanted));
}

/* An event of a counter begins with its name, its title for people and the value, an IEEE double. */
static void look_at_counter(struct asking *a, const struct gcd_event *e)
{
    const uint8_t *p = e->payload, *end = p + e->payload_bytes;
    double value;
    if (e->provider != GCD_PROVIDER_OTHER || e->payload_bytes == 0 || !read_text(p, e->payload_bytes, COUNTER, &p) || p == NULL)
        return;
    (void)read_text(p, (size_t)(end - p), NULL, &p);
    if (p == NULL || (size_t)(end - p) < sizeof value)
        return;
    uint64_t bits = 0;
    for (unsigned i = 0; i < sizeof bits; i++)
        bits |= (uint64_t)p[i] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value) && value > 0 && value < COUNTER_MOST)
        a->bytes = (uint64_t)(value * COUNTER_UNIT);
}

static gcd_status on_data(void *ctx, const uint8_t *bytes, size_t n, struct gcd_error *err)
{
    struct asking *a = ctx;
    struct gcd_event event;
    gcd_status st = gcd_trace_feed(a->trace, bytes, n, err);
    while (st == GCD_OK && (st = gcd_trace_next(a->trace, &event, err)) == GCD_OK)
        if (a->bytes == 0)
            look_at_counter(a, &event);
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
        .socket_path = socket_path, .strategy = GCD_IPC_STRATEGY_SINGLE, .provider = "System.Runtime", .arguments = ARGUMENTS,
        .keywords = UINT32_MAX, .buffer_mb = BUFFER_MB, .timeout_ms = timeout_ms, .on_data = on_data, .ctx = &a, .cancel = &cli_canceled,
    };
    gcd_status st = gcd_trace_new(NULL, &a.trace, &err);
    if (st == GCD_OK)
        st = gcd_ipc_collect(&options, &result, &err);
    gcd_trace_free(a.trace);
    return st == GCD_OK || a.bytes != 0 ? a.bytes : 0;
}

#endif
