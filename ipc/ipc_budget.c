/*
 * How large the event buffer may and should be.  No I/O.
 *
 * A reference of 8 bytes costs 12 bytes of events, an object 32; the smallest object has 24 bytes.  So the densest heaps (objects of two
 * references, arrays of references) make 1.8 times as many bytes of events as they have themselves, and usual ones half as many: 10
 * million objects of 32 bytes with a reference each are 561 MB of events in a process of 800 MB.
 *
 * The runtime takes memory for the buffer as events come, so what is not needed costs nothing, while every lost event
 * costs the process another pause.  Therefore all of the densest heap is allowed for, also when the buffer is being emptied.
 */
#include <gcdumpc/ipc.h>

#define MIB (UINT64_C(1) << 20)
#define BUFFER_MB_MAX UINT64_C(4095)
/* Measured with draining: less was not always enough for the 100 ms in which the runtime does not send. */
#define BUFFER_MB_LEAST UINT64_C(256)
#define BUFFER_MB_UNKNOWN UINT64_C(1024)
/* Less than this is no place for a buffer at all. */
#define BUFFER_MB_SMALLEST UINT64_C(8)
/*
 * A stream can hold two walks of the densest heap (1.8 times its memory each): a program that collects garbage itself is described more than once.
 * The rest is for small processes, which are described many times before the stop is served, and for modules and methods.
 */
#define STREAM_FACTOR UINT64_C(4)
#define STREAM_EXTRA (UINT64_C(1) << 30)
/* The payload of an event has at most 64 KiB, and almost all of the volume is in such events. */
#define EVENT_BYTES_MAX UINT64_C(65536)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t saturated(uint64_t a, uint64_t factor)
{
    return a > UINT64_MAX / factor ? UINT64_MAX : a * factor;
}

/* What is left for the process itself, which goes on allocating when the pause is over, and for us. */
static uint64_t reserve(uint64_t room_bytes)
{
    uint64_t n = room_bytes / 8;
    return n < BUFFER_MB_SMALLEST * MIB ? BUFFER_MB_SMALLEST * MIB : least(n, 256 * MIB);
}

struct gcd_ipc_budget gcd_ipc_budget(const struct gcd_ipc_memory *m, uint32_t max_buffer_mb)
{
    uint64_t wanted = BUFFER_MB_UNKNOWN, most = max_buffer_mb != 0 ? least(max_buffer_mb, BUFFER_MB_MAX) : BUFFER_MB_MAX;
    struct gcd_ipc_budget b = { .likely_bytes = m->rss_bytes / 2, .most_bytes = saturated(m->rss_bytes, 2) };
    if (m->rss_bytes != 0) {
        wanted = b.most_bytes / MIB + 1;
        wanted = wanted < BUFFER_MB_LEAST ? BUFFER_MB_LEAST : wanted;
    }
    if (m->room_bytes != UINT64_MAX) {
        uint64_t kept = reserve(m->room_bytes), bearable = m->room_bytes > kept ? (m->room_bytes - kept) / MIB : 0;
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

uint32_t gcd_ipc_budget_after_loss(const struct gcd_ipc_budget *b, uint32_t buffer_mb, uint64_t stream_bytes, uint64_t lost_events)
{
    uint64_t wanted = 2 * (uint64_t)buffer_mb;
    uint64_t lost = lost_events > UINT64_MAX / 4 / EVENT_BYTES_MAX ? UINT64_MAX / 4 : lost_events * EVENT_BYTES_MAX;
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
