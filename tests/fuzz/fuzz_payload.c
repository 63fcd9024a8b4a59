/*
 * Heap events with any payload, in any order, in an otherwise valid trace; and whole blocks with
 * any content.
 *
 * Input: one byte (bit 0: 4-byte pointers; the rest: format of the trace), then any number of
 *     kind u8 | flags u8 | length u16 | payload
 * the kind choosing provider, id and version of an event.  Flags: 0x01 another thread, 0x02 a
 * sequence point before it, 0x04 an event is lost before it, 0x08 the time goes back, 0x10 the
 * length counts only to the end of the input, 0x80 it is no event but a block, the kind choosing
 * which.
 */
#include "clr/clr_gc.h"
#include "clr/clr_ids.h"
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "support/tb.h"

static const struct {
    const char *provider;
    uint32_t id, version;
} kinds[] = {
    { TB_RUNTIME, GCD_EV_GC_START, 0 },
    { TB_RUNTIME, GCD_EV_GC_START, 2 },
    { TB_RUNTIME, GCD_EV_GC_END, 1 },
    { TB_RUNTIME, GCD_EV_BULK_TYPE, 0 },
    { TB_RUNTIME, GCD_EV_BULK_ROOT_EDGE, 0 },
    { TB_RUNTIME, GCD_EV_BULK_DEPENDENT, 0 },
    { TB_RUNTIME, GCD_EV_BULK_NODE, 0 },
    { TB_RUNTIME, GCD_EV_BULK_EDGE, 0 },
    { TB_RUNTIME, GCD_EV_GENERATION_RANGE, 0 },
    { TB_RUNTIME, GCD_EV_BULK_ROOT_CCW, 0 },
    { TB_RUNTIME, GCD_EV_BULK_RCW, 0 },
    { TB_RUNTIME, GCD_EV_BULK_ROOT_STATIC_VAR, 0 },
    { TB_RUNTIME, GCD_EV_MODULE_LOAD, 1 },
    { TB_RUNTIME, GCD_EV_RUNTIME_INFO, 0 },
    { TB_RUNTIME, GCD_EV_GLOBAL_HEAP_HISTORY, 2 },
    { TB_RUNDOWN, GCD_RD_MODULE_START, 2 },
    { TB_RUNDOWN, GCD_RD_MODULE_END, 2 },
    { TB_RUNDOWN, GCD_RD_RUNTIME_INFO, 0 },
    { TB_EVENTPIPE, GCD_EP_PROCESS_INFO, 1 },
    { TB_RUNTIME, GCD_EV_HEAP_STATS, 2 },
};
#define KINDS (sizeof kinds / sizeof *kinds)

static void inside(const struct gcd_event *ev, const void *p, size_t n)
{
    const uint8_t *q = p;
    if (n > 0 &&
        (q < ev->payload || n > ev->payload_bytes || q > ev->payload + (ev->payload_bytes - n)))
        fuzz_fail("views lie in the payload", "one does not");
}

/* The decoders alone, each on every payload: all accepted views are within it. */
static void decode_all(const uint8_t *p, size_t n, unsigned ptr_bytes, uint32_t version)
{
    static gcd_status (*const bulks[])(const struct gcd_event *, struct gcd_clr_bulk *) = {
        gcd_clr_bulk_node,      gcd_clr_bulk_edge, gcd_clr_bulk_root,
        gcd_clr_bulk_dependent, gcd_clr_bulk_ccw,  gcd_clr_bulk_rcw,
    };
    struct gcd_event ev = { .provider = GCD_PROVIDER_RUNTIME,
                            .version = version,
                            .ptr_bytes = ptr_bytes,
                            .payload = p,
                            .payload_bytes = n };
    for (size_t i = 0; i < sizeof bulks / sizeof *bulks; i++) {
        struct gcd_clr_bulk b;
        if (bulks[i](&ev, &b) == GCD_OK)
            inside(&ev, b.items, b.count * b.item_bytes);
    }
    struct gcd_cur items;
    uint32_t count, read = 0;
    struct gcd_clr_static s;
    if (gcd_clr_bulk_static(&ev, &items, &count) == GCD_OK)
        for (; read < count && gcd_clr_next_static(&items, &s); read++)
            inside(&ev, s.name, 2 * s.name_units);
    struct gcd_clr_type t;
    if (gcd_clr_bulk_type(&ev, &items, &count) == GCD_OK)
        for (read = 0; read < count && gcd_clr_next_type(&items, &t); read++) {
            inside(&ev, t.name, 2 * t.name_units);
            inside(&ev, t.parameters, (size_t)t.parameter_count * 8);
        }
    if (read > n)
        fuzz_fail("records take bytes", "more records than bytes");
    struct gcd_clr_module m;
    if (gcd_clr_module(&ev, &m) == GCD_OK)
        inside(&ev, m.path, 2 * m.path_units);
    struct gcd_clr_runtime r;
    if (gcd_clr_runtime(&ev, &r) == GCD_OK && r.command_line != NULL)
        inside(&ev, r.command_line, 2 * r.command_line_units);
    struct gcd_clr_process pr;
    if (gcd_clr_process(&ev, &pr) == GCD_OK)
        for (size_t i = 0; i < 3; i++)
            if (pr.text[i] != NULL)
                inside(&ev, pr.text[i], 2 * pr.units[i]);
}

static void raw_block(struct tb *t, unsigned kind, const void *p, size_t n)
{
    static const char *const names[] = { "EventBlock", "MetadataBlock", "StackBlock", "SPBlock",
                                         "FutureBlock" };
    tb_flush(t);
    if (t->format == TB_V6 || t->format == TB_V6_PLAIN)
        tb_block_v6(t, kind % 12, p, n);
    else
        tb_object(t, names[kind % 5], 2, 2, p, n);
}

/* False if the input adds its own blocks to the trace: it may be invalid then. */
static bool build(struct tb *t, const uint8_t *data, size_t size)
{
    bool sound = true;
    static const enum tb_format formats[] = { TB_V4, TB_V4_PLAIN, TB_V3, TB_V6, TB_V6_PLAIN };
    tb_init(t, formats[(size > 0 ? data[0] >> 1 : 0) % 5], size > 0 && data[0] & 1 ? 4 : 8);
    t->block_bytes = 2000;
    for (size_t at = 1, events = 0; size - at >= 4 && at < size && events < 400; events++) {
        size_t kind = data[at] % KINDS, n = (size_t)data[at + 2] | (size_t)data[at + 3] << 8;
        unsigned flags = data[at + 1];
        at += 4;
        if (n > size - at) {
            if ((flags & 0x10) == 0)
                return sound;
            n = size - at;
        }
        if (flags & 0x80) {
            raw_block(t, data[at - 4], data + at, n);
            sound = false;
            at += n;
            continue;
        }
        if (flags & 0x02)
            tb_sequence_point(t, flags >> 5 & 3); /* bits 5 and 6: what is forgotten */
        t->thread = flags & 0x01 ? 8 : 7;
        if (flags & 0x04)
            tb_lose(t, 1);
        if (flags & 0x08)
            t->time_ns -= 5000;
        uint8_t *payload = malloc(n == 0 ? 1 : n);
        if (payload == NULL)
            abort();
        memcpy(payload, data + at, n);
        decode_all(payload, n, t->ptr_bytes, kinds[kind].version);
        tb_event(t, kinds[kind].provider, kinds[kind].id, kinds[kind].version, payload, n);
        free(payload);
        at += n;
    }
    return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb t;
    struct failalloc f;
    struct run r;
    if (size == 0)
        return 0;
    bool sound = build(&t, data, size);
    tb_close(&t);
    failalloc_init(&f);
    run_trace(t.out.p, t.out.n,
              &(struct run_options){
                  .alloc = &f.alloc, .check_references = size % 2 == 0, .no_gclog = size % 3 == 0 },
              &r);
    const char *wrong = run_check(&r);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("a result holds together", wrong);
    /* whatever is in its events */
    if (sound && r.st != GCD_OK && r.st != GCD_E_NOT_FOUND)
        fuzz_fail("a payload is no reason to give up", r.err.msg);
    if (sound && r.st == GCD_OK && r.facts.trace.end != GCD_TRACE_CLOSED)
        fuzz_fail("the trace is closed", "it does not say so");
    run_done(&r);
    tb_done(&t);
    return 0;
}
