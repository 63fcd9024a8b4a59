/*
 * What else can be done where the process has no room for the events of its heap.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/process_reader.h>

#include "live/live.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <stdio.h>

const char *live_without_buffer(const struct live *l, char ret[static CLI_REMEDY_BYTES])
{
    struct gcd_error err = GCD_ERROR_INIT;
    ret[0] = '\0';
    if (l->pid == 0)
        return ret;
    if (gcd_process_may_trace(l->pid, &err) == GCD_OK)
        (void)snprintf(ret, CLI_REMEDY_BYTES, "; --direct reads its heap without a buffer");
    else
        (void)snprintf(ret, CLI_REMEDY_BYTES, "; --direct would need no buffer, but: %s", err.msg);
    return ret;
}

uint32_t live_larger_buffer(const struct live *l, const struct live_attempt *a, uint32_t max_mb,
                            struct gcd_ipc_budget *ret)
{
    struct gcd_ipc_memory memory;
    gcd_ipc_memory(l->pid, &memory);
    *ret = gcd_ipc_budget(&memory, max_mb);
    return gcd_ipc_budget_after_loss(ret, a->buffer_mb, a->result.stream_bytes,
                                     gcd_dump_summary(a->dump)->trace.lost_events);
}

const char *live_after_loss(const struct live *l, const struct live_attempt *a,
                            char ret[static CLI_REMEDY_BYTES])
{
    /* --max-buffer is the caller's own limit: what room there is decides here */
    struct gcd_ipc_budget budget;
    uint32_t mb = live_larger_buffer(l, a, 0, &budget);
    if (mb == 0)
        return live_without_buffer(l, ret);
    (void)snprintf(ret, CLI_REMEDY_BYTES, "; dump it again with --buffer %" PRIu32, mb);
    return ret;
}

#endif
