#include "wrap.h"

#include <string.h>

#define EVENT_HEADER 0x50u
#define ITEM_BYTES   24u

static const uint8_t *guid_of(const struct gcd_event *ev, uint8_t buf[16])
{
    static const uint8_t known[][16] = {
        [GCD_PROVIDER_RUNTIME] = { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9,
                                   0xcc, 0x2e, 0xee, 0x27, 0xe4 },
        [GCD_PROVIDER_RUNDOWN] = { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a,
                                   0xf5, 0x9a, 0xf4, 0xdf, 0x18 },
        [GCD_PROVIDER_EVENTPIPE] = { 0xa6, 0x28, 0xf5, 0x92, 0xb8, 0xf5, 0x60, 0x51, 0xa7, 0xee,
                                     0xb3, 0x3d, 0xa7, 0x73, 0x9e, 0x29 },
    };
    if (ev->provider != GCD_PROVIDER_OTHER && ev->provider < sizeof known / sizeof *known)
        return known[ev->provider];
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *s = ev->provider_name; *s != '\0'; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    memset(buf, 0x77, 16);
    put64(buf, h);
    return buf;
}

static struct wrap_thread *thread_of(struct wrap *w, size_t input, uint64_t id)
{
    for (size_t i = w->thread_count; i-- > 0;)
        if (w->threads[i].id == id && w->threads[i].input == input)
            return &w->threads[i];
    if (w->thread_count == WRAP_THREADS)
        return NULL;
    struct wrap_thread *t = &w->threads[w->thread_count++];
    *t = (struct wrap_thread){ .input = input, .id = id };
    return t;
}

/* A thread switches processors every few events, but never within one tick: the order of its events
 * would be lost. */
static size_t processor(struct wrap *w, struct wrap_thread *t, uint64_t ticks)
{
    if (++t->events % 7 == 0 && ticks > t->last_ticks)
        t->side ^= 1;
    t->last_ticks = ticks;
    return 2 * (size_t)(t - w->threads) + t->side;
}

bool wrap_event(struct wrap *w, size_t input, const struct gcd_event *ev)
{
    static uint8_t record[65536];
    uint8_t guid[16];
    bool item = w->events++ % 13 == 5;
    size_t n = EVENT_HEADER + (item ? ITEM_BYTES : 0) + ev->payload_bytes;
    struct wrap_thread *t = thread_of(w, input, ev->thread);
    if (t == NULL || n > UINT16_MAX || n > w->out.options.buffer_bytes - OUT_HEADER) {
        w->problem = t == NULL ? "too many threads" : "an event is too long";
        return false;
    }
    uint64_t ticks = OUT_FIRST_TICKS + (uint64_t)ev->time_ns;
    ticks = ticks < t->last_ticks ? t->last_ticks : ticks;
    memset(record, 0, EVENT_HEADER + ITEM_BYTES);
    put16(record, (uint32_t)n);
    put16(record + 2, ev->ptr_bytes == 4 ? 0xc012 : 0xc013);
    put16(record + 4, item);
    put32(record + 0x08, (uint32_t)ev->thread);
    put32(record + 0x0c, (uint32_t)(ev->process + input * WRAP_PROCESS_STEP));
    put64(record + 0x10, ticks);
    memcpy(record + 0x18, guid_of(ev, guid), 16);
    put16(record + 0x28, ev->id);
    record[0x2a] = (uint8_t)ev->version;
    if (item) { /* a stack of two addresses */
        put16(record + EVENT_HEADER, ITEM_BYTES);
        put16(record + EVENT_HEADER + 2, 6);
        put16(record + EVENT_HEADER + 6, 16);
    }
    if (ev->payload_bytes > 0)
        memcpy(record + n - ev->payload_bytes, ev->payload, ev->payload_bytes);
    out_record(&w->out, processor(w, t, ticks), record, n);
    return true;
}
