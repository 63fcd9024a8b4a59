/*
 * Calculates how large the event buffer should be and how large it may be.  No I/O.
 *
 * A reference of 8 bytes costs 12 bytes of events, an object 32; the smallest object has 24 bytes.
 * The densest heaps (objects with two references, arrays of references) therefore produce 1.8 bytes
 * of events per byte of heap.  Typical heaps produce about half of that: 10 million objects of 32
 * bytes with one reference each are 561 MB of events in a process of 800 MB.
 *
 * The runtime allocates the buffer as events arrive, so unused space costs nothing, while every
 * lost event costs the process another pause. The buffer is therefore sized for the densest heap,
 * even when it is drained during the walk.
 */
#include <gcdumpc/unstable/ipc_target.h>

#define MIB           (UINT64_C(1) << 20)
#define BUFFER_MB_MAX UINT64_C(4095)
/* Measured with draining: a smaller buffer did not always cover the 100 ms in which the runtime
 * sends nothing. */
#define BUFFER_MB_LEAST UINT64_C(256)
/* For a process of unknown memory: as little as for the smallest one, because the whole container
 * may have no more. */
#define BUFFER_MB_UNKNOWN BUFFER_MB_LEAST
/* Below this size a buffer is useless. */
#define BUFFER_MB_SMALLEST UINT64_C(8)
/*
 * A stream can hold two walks of the densest heap (1.8 times its memory each), because a program
 * that collects garbage itself is walked more than once.  The rest covers modules, methods, and
 * small processes, which are walked many times before the runtime handles the stop.
 */
#define STREAM_FACTOR UINT64_C(4)
#define STREAM_EXTRA  (UINT64_C(1) << 30)
/* An event payload has at most 64 KiB, and almost all of the volume is in events of that size. */
#define EVENT_BYTES_MAX UINT64_C(65536)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t saturated(uint64_t a, uint64_t factor)
{
    return a > UINT64_MAX / factor ? UINT64_MAX : a * factor;
}

/* Memory left for the process itself, which continues to allocate after the pause, and for us. */
static uint64_t reserve(uint64_t room_bytes)
{
    uint64_t n = room_bytes / 8;
    return n < BUFFER_MB_SMALLEST * MIB ? BUFFER_MB_SMALLEST * MIB : least(n, 256 * MIB);
}

struct gcd_ipc_budget gcd_ipc_budget(const struct gcd_ipc_memory *m, uint32_t max_buffer_mb)
{
    uint64_t wanted = BUFFER_MB_UNKNOWN,
             most = max_buffer_mb != 0 ? least(max_buffer_mb, BUFFER_MB_MAX) : BUFFER_MB_MAX;
    struct gcd_ipc_budget b = { .likely_bytes = m->rss_bytes / 2,
                                .most_bytes = saturated(m->rss_bytes, 2) };
    if (m->rss_bytes != 0) {
        wanted = b.most_bytes / MIB + 1;
        wanted = wanted < BUFFER_MB_LEAST ? BUFFER_MB_LEAST : wanted;
    }
    if (m->room_bytes != UINT64_MAX) {
        uint64_t kept = reserve(m->room_bytes),
                 bearable = m->room_bytes > kept ? (m->room_bytes - kept) / MIB : 0;
        if (bearable < BUFFER_MB_SMALLEST)
            bearable = 0;
        if (bearable < most) {
            most = bearable;
            b.limit = m->limit;
        }
    }
    b.max_buffer_mb = (uint32_t)most;
    b.buffer_mb = (uint32_t)least(wanted, most);
    return b;
}

uint32_t gcd_ipc_budget_after_loss(const struct gcd_ipc_budget *b, uint32_t buffer_mb,
                                   uint64_t stream_bytes, uint64_t lost_events)
{
    uint64_t wanted = 2 * (uint64_t)buffer_mb;
    uint64_t lost = lost_events > UINT64_MAX / 4 / EVENT_BYTES_MAX ? UINT64_MAX / 4
                                                                   : lost_events * EVENT_BYTES_MAX;
    uint64_t whole = (least(stream_bytes, UINT64_MAX / 4) + lost) / MIB;
    whole += whole / 4 + 1;
    wanted = wanted < whole ? whole : wanted;
    wanted = wanted < b->buffer_mb ? b->buffer_mb : wanted;
    wanted = least(wanted, b->max_buffer_mb);
    return wanted > buffer_mb ? (uint32_t)wanted : 0;
}

uint64_t gcd_ipc_stream_max(const struct gcd_ipc_memory *m)
{
    uint64_t memory = m->machine_bytes;
    if (m->rss_bytes != 0 && __builtin_add_overflow(m->rss_bytes, m->away_bytes, &memory))
        memory = UINT64_MAX;
    uint64_t most = saturated(memory, STREAM_FACTOR);
    return memory == 0 || most > UINT64_MAX - STREAM_EXTRA ? UINT64_MAX : most + STREAM_EXTRA;
}
