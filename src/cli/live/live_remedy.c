/*
 * What else can be done where the process has no room for the events of its heap.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/process_reader.h>

#include "args.h"
#include "live/live.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <stdio.h>

const char *live_without_buffer(const struct live *l, char ret[static LIVE_REMEDY_BYTES])
{
    struct gcd_error err = GCD_ERROR_INIT;
    ret[0] = '\0';
    if (l->pid == 0)
        return ret;
    if (gcd_process_may_trace(l->pid, &err) == GCD_OK)
        (void)snprintf(ret, LIVE_REMEDY_BYTES, "; --direct reads its heap without a buffer");
    else
        (void)snprintf(ret, LIVE_REMEDY_BYTES, "; --direct would need no buffer, but: %s", err.msg);
    return ret;
}

const char *live_after_loss(const struct live *l, const struct live_attempt *a,
                            char ret[static LIVE_REMEDY_BYTES])
{
    struct gcd_ipc_memory memory = { .cgroup_limit_bytes = 0 };
    if (l->pid != 0)
        gcd_ipc_memory(l->pid, &memory);
    /* --max-buffer is the caller's own limit: what room there is decides here */
    struct gcd_ipc_budget budget = gcd_ipc_budget(&memory, 0);
    uint32_t mb = gcd_ipc_budget_after_loss(&budget, a->buffer_mb, a->result.stream_bytes,
                                            gcd_dump_summary(a->dump)->trace.lost_events);
    if (mb == 0)
        return live_without_buffer(l, ret);
    (void)snprintf(ret, LIVE_REMEDY_BYTES, "; dump it again with --buffer %" PRIu32, mb);
    return ret;
}

#endif
