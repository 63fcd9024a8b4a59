/*
 * For tests that build a .nettrace field by field: the pieces of a file, and what a trace reads
 * from it.
 */
#ifndef TEST_SUPPORT_NETTRACE_CASE_H
#define TEST_SUPPORT_NETTRACE_CASE_H

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/trace.h>

#include "support/check.h"
#include "support/tb.h"

enum {
    V6_EVENTS = 2,
    V6_METADATA,
    V6_SEQUENCE_POINT,
    V6_STACKS,
    V6_THREADS,
    V6_REMOVED,
    V6_LABELS
};

#define MAX_SEEN 32
/* Ticks of the last sequence point: no event before it is later. */
#define CLOSED_AT 1000000u

static struct tb t;
static struct tb_bytes body;
static struct gcd_limits limits;

/* The result of reading a trace. */
static struct {
    struct gcd_event events[MAX_SEEN];
    uint8_t payloads[MAX_SEEN][8];
    char providers[MAX_SEEN][64];
    size_t count;
    gcd_status st;
    struct gcd_error err;
    struct gcd_trace_info info;
    uint64_t thread, thread_events, thread_lost; /* of the first capture thread */
    bool closed;                                 /* the thread of the first event */
} seen;

static inline int setup(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    limits = (struct gcd_limits){ .threads = 0 };
    body = (struct tb_bytes){ NULL, 0, 0 };
    tb_init(&t, TB_V4, 8);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    tb_free(&body);
    tb_done(&t);
    return 0;
}

static inline void format(enum tb_format f, unsigned ptr_bytes)
{
    tb_done(&t);
    tb_init(&t, f, ptr_bytes);
}

static inline void decode_bytes(const uint8_t *p, size_t n)
{
    struct gcd_trace *trace;
    seen.count = 0;
    seen.err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_trace_new(&(struct gcd_context){ .limits = &limits }, &trace, &seen.err),
                     GCD_OK);
    assert_int_equal(gcd_trace_feed(trace, p, n, &seen.err), GCD_OK);
    gcd_trace_finish(trace);
    struct gcd_event ev;
    while ((seen.st = gcd_trace_next(trace, &ev, &seen.err)) == GCD_OK) {
        assert_true(seen.count < MAX_SEEN);
        memset(seen.payloads[seen.count], 0, 8);
        memcpy(seen.payloads[seen.count], ev.payload, ev.payload_bytes < 8 ? ev.payload_bytes : 8);
        strncpy(seen.providers[seen.count], ev.provider_name, 63);
        ev.provider_name = NULL; /* not longer than the trace */
        seen.events[seen.count++] = ev;
    }
    gcd_trace_get_info(trace, &seen.info);
    seen.thread = seen.thread_events = seen.thread_lost = 0;
    (void)gcd_trace_get_thread(trace, 0, &seen.thread, &seen.thread_events, &seen.thread_lost);
    seen.closed = seen.count > 0 && gcd_trace_thread_closed(trace, seen.events[0].thread);
    gcd_trace_free(trace);
}

static inline void decode(void)
{
    decode_bytes(t.out.p, t.out.n);
}

/* A description of event ID, METADATA id META, in a block of its own. */
static inline void describe(uint32_t meta, const char *provider, uint32_t id, uint32_t version)
{
    struct tb_bytes row = { NULL, 0, 0 }, b = { NULL, 0, 0 };
    tb_u32(&row, meta);
    tb_utf16z(&row, provider);
    tb_u32(&row, id);
    tb_utf16z(&row, "Name");
    tb_u64(&row, 0x1122334455667788);
    tb_u32(&row, version);
    tb_u32(&row, 4);
    tb_u32(&row, 0);
    tb_u16(&b, 20);
    tb_u16(&b, 1);
    tb_zeros(&b, 16);
    tb_u8(&b, 0x80);
    tb_varuint(&b, 0);
    tb_varuint(&b, row.n);
    tb_put(&b, row.p, row.n);
    tb_object(&t, "MetadataBlock", 2, 2, b.p, b.n);
    tb_free(&row);
    tb_free(&b);
}

/* The same in format 6; OPTIONAL follows the fields. */
static inline void describe_v6(uint32_t meta, const char *provider, uint32_t id,
                               const void *optional, size_t n)
{
    struct tb_bytes row = { NULL, 0, 0 }, b = { NULL, 0, 0 };
    tb_varuint(&row, meta);
    tb_utf8(&row, provider);
    tb_varuint(&row, id);
    tb_utf8(&row, "Name");
    tb_u16(&row, 2);
    tb_u16(&row, 3);
    tb_zeros(&row, 3);
    tb_u16(&row, 0);
    tb_u16(&row, (unsigned)n);
    tb_put(&row, optional, n);
    tb_put(&row, "more", 4);
    tb_u16(&b, 3);
    tb_put(&b, "???", 3);
    tb_u16(&b, (unsigned)row.n);
    tb_put(&b, row.p, row.n);
    tb_block_v6(&t, V6_METADATA, b.p, b.n);
    /* index 7: process 1234, thread 7 */
    tb_block_v6(&t, V6_THREADS, "\x06\0\x07\x02\xd2\x09\x03\x07", 8);
    tb_free(&row);
    tb_free(&b);
}

static inline void block_header(unsigned bytes, unsigned flags)
{
    body.n = 0;
    tb_u16(&body, bytes);
    tb_u16(&body, flags);
    tb_zeros(&body, bytes > 4 ? bytes - 4 : 0);
}

static inline void put_block(void)
{
    if (t.format == TB_V6 || t.format == TB_V6_PLAIN)
        tb_block_v6(&t, V6_EVENTS, body.p, body.n);
    else
        tb_object(&t, "EventBlock", 2, 2, body.p, body.n);
}

/* A blob whose compressed header has every field. */
static inline void full_blob(uint32_t meta, uint32_t number_delta, uint64_t capture, uint64_t ticks,
                             const char *payload)
{
    bool v6 = t.format == TB_V6;
    tb_u8(&body, 0x80 | 0x0f);
    tb_varuint(&body, meta);
    tb_varuint(&body, number_delta);
    tb_varuint(&body, capture);
    tb_varuint(&body, 3);            /* processor */
    tb_varuint(&body, v6 ? 91 : 92); /* thread */
    tb_varuint(&body, 93);           /* stack */
    tb_varuint(&body, ticks);
    tb_varuint(&body, strlen(payload));
    tb_put(&body, payload, strlen(payload));
}

/* The last block: thread CAPTURE has sent NUMBER events. */
static inline void close_with(uint64_t capture, uint32_t number)
{
    struct tb_bytes b = { NULL, 0, 0 };
    bool v6 = t.format == TB_V6 || t.format == TB_V6_PLAIN;
    tb_u64(&b, CLOSED_AT);
    if (v6)
        tb_u32(&b, 0);
    tb_u32(&b, 1);
    if (v6) {
        tb_varuint(&b, capture);
        tb_varuint(&b, number);
        tb_block_v6(&t, V6_SEQUENCE_POINT, b.p, b.n);
    } else {
        tb_u64(&b, capture);
        tb_u32(&b, number);
        tb_object(&t, "SPBlock", 2, 2, b.p, b.n);
    }
    tb_free(&b);
    tb_end(&t);
}

static inline void expect(size_t i, uint32_t id, uint64_t thread, int64_t time_ns,
                          const char *payload)
{
    assert_true(i < seen.count);
    assert_int_equal(seen.events[i].id, id);
    assert_true(seen.events[i].thread == thread);
    assert_true(seen.events[i].time_ns == time_ns);
    assert_int_equal(seen.events[i].payload_bytes, strlen(payload));
    assert_memory_equal(seen.payloads[i], payload, strlen(payload));
}

#endif
