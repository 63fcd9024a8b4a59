/*
 * The blocks of .nettrace field by field: headers, blobs, descriptions, threads, labels, sequence points, each with values that differ and at the
 * edge of what is valid.  They are put together here, byte by byte.
 */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/trace.h>

#include "support/check.h"
#include "support/tb.h"

enum { V6_EVENTS = 2, V6_METADATA, V6_SEQUENCE_POINT, V6_STACKS, V6_THREADS, V6_REMOVED, V6_LABELS };

#define MAX_SEEN 32
/* Ticks of the last sequence point: no event before it is younger. */
#define CLOSED_AT 1000000u

static struct tb t;
static struct tb_bytes body;
static struct gcd_limits limits;

/* What a trace gave. */
static struct {
    struct gcd_event events[MAX_SEEN];
    uint8_t payloads[MAX_SEEN][8];
    char providers[MAX_SEEN][64];
    size_t count;
    gcd_status st;
    struct gcd_error err;
    struct gcd_trace_info info;
    uint64_t thread, thread_events, thread_lost;     /* of the first capture thread */
    bool closed;                                     /* the thread of the first event */
} seen;

static int setup(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    limits = (struct gcd_limits){ .threads = 0 };
    body = (struct tb_bytes){ NULL, 0, 0 };
    tb_init(&t, TB_V4, 8);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_free(&body);
    tb_done(&t);
    return 0;
}

static void format(enum tb_format f, unsigned ptr_bytes)
{
    tb_done(&t);
    tb_init(&t, f, ptr_bytes);
}

static void decode_bytes(const uint8_t *p, size_t n)
{
    struct gcd_trace *trace;
    seen.count = 0;
    seen.err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_trace_new(NULL, &limits, &trace, &seen.err), GCD_OK);
    assert_int_equal(gcd_trace_feed(trace, p, n, &seen.err), GCD_OK);
    gcd_trace_finish(trace);
    struct gcd_event ev;
    while ((seen.st = gcd_trace_next(trace, &ev, &seen.err)) == GCD_OK) {
        assert_true(seen.count < MAX_SEEN);
        memset(seen.payloads[seen.count], 0, 8);
        memcpy(seen.payloads[seen.count], ev.payload, ev.payload_bytes < 8 ? ev.payload_bytes : 8);
        strncpy(seen.providers[seen.count], ev.provider_name, 63);
        ev.provider_name = NULL;             /* not longer than the trace */
        seen.events[seen.count++] = ev;
    }
    gcd_trace_get_info(trace, &seen.info);
    seen.thread = seen.thread_events = seen.thread_lost = 0;
    (void)gcd_trace_get_thread(trace, 0, &seen.thread, &seen.thread_events, &seen.thread_lost);
    seen.closed = seen.count > 0 && gcd_trace_thread_closed(trace, seen.events[0].thread);
    gcd_trace_free(trace);
}

static void decode(void)
{
    decode_bytes(t.out.p, t.out.n);
}

/* A description of event ID, METADATA id META, in a block of its own. */
static void describe(uint32_t meta, const char *provider, uint32_t id, uint32_t version)
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

/* The same in format 6, OPTIONAL being what follows the fields. */
static void describe_v6(uint32_t meta, const char *provider, uint32_t id, const void *optional, size_t n)
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
    tb_block_v6(&t, V6_THREADS, "\x06\0\x07\x02\xd2\x09\x03\x07", 8);   /* index 7: process 1234, thread 7 */
    tb_free(&row);
    tb_free(&b);
}

static void block_header(unsigned bytes, unsigned flags)
{
    body.n = 0;
    tb_u16(&body, bytes);
    tb_u16(&body, flags);
    tb_zeros(&body, bytes > 4 ? bytes - 4 : 0);
}

static void put_block(void)
{
    if (t.format == TB_V6 || t.format == TB_V6_PLAIN)
        tb_block_v6(&t, V6_EVENTS, body.p, body.n);
    else
        tb_object(&t, "EventBlock", 2, 2, body.p, body.n);
}

/* A blob with all that a compressed header can say. */
static void full_blob(uint32_t meta, uint32_t number_delta, uint64_t capture, uint64_t ticks, const char *payload)
{
    bool v6 = t.format == TB_V6;
    tb_u8(&body, 0x80 | 0x0f);
    tb_varuint(&body, meta);
    tb_varuint(&body, number_delta);
    tb_varuint(&body, capture);
    tb_varuint(&body, 3);                /* processor */
    tb_varuint(&body, v6 ? 91 : 92);     /* thread */
    tb_varuint(&body, 93);               /* stack */
    tb_varuint(&body, ticks);
    tb_varuint(&body, strlen(payload));
    tb_put(&body, payload, strlen(payload));
}

/* As the last block: the thread CAPTURE has sent NUMBER events. */
static void close_with(uint64_t capture, uint32_t number)
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

static void expect(size_t i, uint32_t id, uint64_t thread, int64_t time_ns, const char *payload)
{
    assert_true(i < seen.count);
    assert_int_equal(seen.events[i].id, id);
    assert_true(seen.events[i].thread == thread);
    assert_true(seen.events[i].time_ns == time_ns);
    assert_int_equal(seen.events[i].payload_bytes, strlen(payload));
    assert_memory_equal(seen.payloads[i], payload, strlen(payload));
}

/* ---- blocks of other names ---- */

static void objects_of_other_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t unknown;
        size_t events;
    } names[] = { { "EventBlock", 0, 1 }, { "StackBlock", 0, 0 }, { "EventBlocks", 1, 0 }, { "eventBlock", 1, 0 }, { "Event", 1, 0 } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        format(TB_V4, 8);
        describe(1, "Mine", 77, 0);
        block_header(20, 1);
        full_blob(1, 0, 7, 500, "x");
        tb_object(&t, names[i].name, 2, 2, body.p, body.n);
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, GCD_END);
        assert_true(seen.info.unknown_blocks == names[i].unknown && seen.count == names[i].events);
    }
    format(TB_V6, 8);
    tb_block_v6(&t, V6_STACKS, "??", 2);
    tb_block_v6(&t, 9, "??", 2);
    tb_block_v6(&t, 255, "??", 2);
    tb_close(&t);
    decode();
    assert_true(seen.st == GCD_END && seen.info.unknown_blocks == 2);
}

/* ---- blocks and blobs ---- */

static void headers_of_blocks(void **state)
{
    (void)state;
    static const enum tb_format formats[] = { TB_V4, TB_V6 };
    for (size_t f = 0; f < 2; f++)
        for (unsigned bytes = 0; bytes <= 40; bytes++) {
            format(formats[f], 8);
            if (formats[f] == TB_V4)
                describe(1, "Mine", 77, 0);
            else
                describe_v6(1, "Mine", 77, NULL, 0);
            block_header(bytes, 1);
            full_blob(1, 0, 7, 1500, "xy");
            put_block();
            close_with(7, 1);
            decode();
            assert_int_equal(seen.st, bytes >= 20 ? GCD_END : GCD_E_FORMAT);
            if (bytes >= 20)
                expect(0, 77, 7, 1000, "xy");
            assert_int_equal(seen.count, bytes >= 20);
        }
    for (size_t have = 4; have <= 24; have++) {      /* a header that reaches beyond its block */
        format(TB_V4, 8);
        block_header(24, 1);
        tb_object(&t, "EventBlock", 2, 2, body.p, have);
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, have == 24 ? GCD_END : GCD_E_FORMAT);
    }
}

/* What is left out of a header is as before; what is there is read in its order. */
static void fields_of_compressed_headers(void **state)
{
    (void)state;
    describe(1, "Mine", 77, 5);
    describe(300, "Mine", 88, 6);
    block_header(20, 1);
    full_blob(1, 0, 0x1234567890, 1500, "abc");
    tb_u8(&body, 0);                                 /* nothing but the time */
    tb_varuint(&body, 10);
    tb_put(&body, "def", 3);
    tb_u8(&body, 0x01);
    tb_varuint(&body, 300);
    tb_varuint(&body, 20);
    tb_put(&body, "ghi", 3);
    tb_u8(&body, 0x02);
    tb_varuint(&body, 4);                            /* four lost */
    tb_varuint(&body, 0x1234567890);
    tb_varuint(&body, 0x7f);
    tb_varuint(&body, 30);
    tb_put(&body, "jkl", 3);
    tb_u8(&body, 0x04 | 0x08);
    tb_varuint(&body, 1000);
    tb_varuint(&body, 2000);
    tb_varuint(&body, 40);
    tb_put(&body, "mno", 3);
    tb_u8(&body, 0x10);
    tb_varuint(&body, 50);
    tb_zeros(&body, 16);
    tb_put(&body, "pqr", 3);
    tb_u8(&body, 0x20 | 0x80);
    tb_varuint(&body, 60);
    tb_zeros(&body, 16);
    tb_varuint(&body, 5);
    tb_put(&body, "stuvw", 5);
    tb_u8(&body, 0x40);                              /* "sorted" says nothing to us */
    tb_varuint(&body, 70);
    tb_put(&body, "xyz12", 5);
    put_block();
    block_header(20, 1);                             /* all begins anew in the next block: numbers, too */
    full_blob(1, 12, 0x1234567890, 2000, "new");
    put_block();
    close_with(0x1234567890, 15);
    decode();
    assert_int_equal(seen.st, GCD_END);
    static const char *const payloads[] = { "abc", "def", "ghi", "jkl", "mno", "pqr", "stuvw", "xyz12" };
    int64_t ns = 1000;
    for (size_t i = 0; i < 8; i++) {
        ns += 10 * (int64_t)i;
        expect(i, i < 2 ? 77 : 88, 0x1234567890, ns, payloads[i]);
        assert_int_equal(seen.events[i].version, i < 2 ? 5 : 6);
    }
    expect(8, 77, 0x1234567890, 1500, "new");
    assert_int_equal(seen.count, 9);
    assert_true(seen.info.lost_events == 6 && seen.info.lost_threads == 1 && seen.info.loss_verified && seen.info.irregular_steps == 0);
    assert_true(seen.thread == 0x1234567890 && seen.thread_events == 9 && seen.thread_lost == 6 && seen.closed);
    assert_true(seen.info.events == 9 && seen.info.unknown_events == 0 && seen.info.process == 1234);
}

static void plain_blob(uint32_t size, uint32_t meta, uint32_t number, uint64_t capture, uint64_t ticks, uint32_t payload_bytes,
                       const char *rest, size_t n)
{
    tb_u32(&body, size);
    tb_u32(&body, meta);
    tb_u32(&body, number);
    tb_u64(&body, 0x5555);                           /* thread */
    tb_u64(&body, capture);
    tb_u32(&body, 3);
    tb_u32(&body, 4);
    tb_u64(&body, ticks);
    if (t.format == TB_V6_PLAIN)
        tb_u32(&body, 0);
    else
        tb_zeros(&body, 32);
    tb_u32(&body, payload_bytes);
    tb_put(&body, rest, n);
}

static void fields_of_plain_headers(void **state)
{
    (void)state;
    format(TB_V4_PLAIN, 8);
    describe(1, "Mine", 77, 5);
    block_header(20, 0);
    plain_blob(76 + 3 + 1, 0x80000001, 1, 0xfedcba9876, 1500, 3, "abc\0", 4);
    plain_blob(76 + 4, 1, 3, 0xfedcba9876, 1700, 4, "defg", 4);
    plain_blob(76 + 2 + 9, 1, 4, 0xfedcba9876, 1900, 2, "hi?????????", 11);
    put_block();
    close_with(0xfedcba9876, 4);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 3);
    expect(0, 77, 0xfedcba9876, 1000, "abc");
    expect(1, 77, 0xfedcba9876, 1200, "defg");
    expect(2, 77, 0xfedcba9876, 1400, "hi");
    assert_true(seen.info.lost_events == 1 && seen.info.loss_verified);
    static const struct { uint32_t size, payload; gcd_status st; } bad[] = {
        { 76 + 4, 4, GCD_END }, { 76 + 4, 5, GCD_E_FORMAT }, { 76 + 5, 4, GCD_E_FORMAT }, { 76 + 3, 4, GCD_E_FORMAT },
        { 76 + 4, 0, GCD_END }, { 75, 0, GCD_E_FORMAT },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        format(TB_V4_PLAIN, 8);
        describe(1, "Mine", 77, 5);
        block_header(20, 0);
        plain_blob(bad[i].size, 1, 1, 7, 1500, bad[i].payload, "abcd", 4);
        put_block();
        close_with(7, 1);
        decode();
        assert_int_equal(seen.st, bad[i].st);
    }
    format(TB_V6_PLAIN, 8);
    describe_v6(1, "Mine", 77, NULL, 0);
    block_header(20, 0);
    plain_blob(48 + 3, 1, 2, 7, 1500, 3, "abc", 3);
    put_block();
    close_with(7, 2);
    decode();
    expect(0, 77, 7, 1000, "abc");
    assert_true(seen.info.lost_events == 1 && seen.info.loss_verified);
}

/* Format 3: no numbers, descriptions among the events, thread ids of 32 bits, a stack behind the payload. */
static void blob_v3(uint32_t meta, uint32_t thread, uint64_t ticks, const void *payload, size_t n, size_t behind)
{
    tb_u32(&body, (uint32_t)(52 + n + behind));
    tb_u32(&body, meta);
    tb_u32(&body, thread);
    tb_u64(&body, ticks);
    for (unsigned i = 0; i < 32; i++)
        tb_u8(&body, 0x60 + i);
    tb_u32(&body, (uint32_t)n);
    tb_put(&body, payload, n);
    for (size_t i = 0; i < behind; i++)
        tb_u8(&body, 0x77);
}

static void fields_of_format_3(void **state)
{
    (void)state;
    struct tb_bytes row = { NULL, 0, 0 };
    format(TB_V3, 4);
    tb_u32(&row, 1);
    tb_utf16z(&row, "Mine");
    tb_u32(&row, 77);
    tb_utf16z(&row, "Name");
    tb_u64(&row, 0x1122334455667788);
    tb_u32(&row, 6);
    tb_u32(&row, 4);
    tb_u32(&row, 0);
    blob_v3(0, 7, 500, row.p, row.n, 12);
    tb_free(&row);
    blob_v3(1, 0xfedcba98, 1500, "abc", 3, 1);
    blob_v3(1, 7, 1700, "", 0, 0);
    blob_v3(2, 7, 1800, "no description", 14, 2);
    blob_v3(1, 8, 1900, "de", 2, 12);
    tb_object(&t, "EventBlock", 1, 0, body.p, body.n);
    tb_close(&t);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 3 && seen.info.events == 4 && seen.info.unknown_events == 1 && seen.info.ptr_bytes == 4);
    expect(0, 77, 0xfedcba98, 1000, "abc");
    expect(1, 77, 7, 1200, "");
    expect(2, 77, 8, 1400, "de");
    assert_true(seen.events[0].version == 6 && seen.events[0].ptr_bytes == 4 && seen.events[0].process == 1234);
}

/* A recording that ends in a block gives the events that are whole, and says where it ended. */
static void a_block_that_is_cut(void **state)
{
    (void)state;
    static const enum tb_format formats[] = { TB_V4, TB_V6 };
    for (size_t f = 0; f < 2; f++) {
        format(formats[f], 8);
        if (formats[f] == TB_V4)
            describe(1, "Mine", 77, 0);
        else
            describe_v6(1, "Mine", 77, NULL, 0);
        size_t ends[4], begin = t.out.n;
        block_header(20, 1);
        size_t header = body.n;
        for (unsigned i = 0; i < 3; i++) {
            full_blob(1, 0, 7, 500, "payload");
            ends[i] = body.n;
        }
        put_block();
        size_t start = t.out.n - body.n - (formats[f] == TB_V4 ? 1 : 0);     /* of the body */
        ends[3] = SIZE_MAX;
        for (size_t cut = begin; cut < t.out.n; cut++) {
            decode_bytes(t.out.p, cut);
            size_t whole = 0;
            while (cut >= start + header && cut - start >= ends[whole])
                whole++;
            assert_int_equal(seen.st, GCD_E_TRUNCATED);
            assert_true(seen.info.damage_off == cut && seen.info.end == GCD_TRACE_TRUNCATED);
            assert_int_equal(seen.count, whole);
        }
    }
}

/* A block that claims more bytes than the file has: what does not look like its events is none. */
static void a_block_that_lies_at_the_end(void **state)
{
    (void)state;
    for (uint32_t second = 1; second <= 2; second++) {
        format(TB_V6, 8);
        describe_v6(1, "Mine", 77, NULL, 0);
        block_header(20, 1);
        full_blob(1, 0, 7, 500, "x");
        full_blob(second == 1 ? 1 : 55, 0, 7, 500, "x");
        tb_u32(&t.out, V6_EVENTS << 24 | (uint32_t)(body.n + 500));
        tb_put(&t.out, body.p, body.n);
        decode();
        assert_true(seen.st == GCD_E_TRUNCATED && seen.info.unknown_events == 0);
        assert_true(seen.count == (second == 1 ? 2 : 1) && seen.info.events == seen.count);
    }
}

/* ---- descriptions ---- */

/* An id may be described again; what is described differently is nobody's from then on. */
static void descriptions_that_come_again(void **state)
{
    (void)state;
    static const struct { const char *provider; uint32_t id; const char *version; bool same; } rows[] = {
        { "Mine", 77, "\x09\x05", true }, { "mine", 77, "\x09\x05", false }, { TB_RUNTIME, 77, "\x09\x05", false }, { "Mine", 78, "\x09\x05", false },
        { "Mine", 77, "\x09\x06", false },
    };
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            format(v6 ? TB_V6 : TB_V4, 8);
            for (unsigned round = 0; round < 3; round++) {
                const char *provider = round == 1 ? rows[i].provider : "Mine", *version = round == 1 ? rows[i].version : "\x09\x05";
                if (v6)
                    describe_v6(1, provider, round == 1 ? rows[i].id : 77, version, 2);
                else
                    describe(1, provider, round == 1 ? rows[i].id : 77, (uint8_t)version[1]);
                block_header(20, 1);
                full_blob(1, round, 7, 1500, "x");
                put_block();
            }
            close_with(7, 3);
            decode();
            assert_true(seen.st == GCD_END && seen.info.events == 3 && seen.info.lost_events == 0);
            assert_int_equal(seen.count, rows[i].same ? 3 : 1);
            assert_int_equal(seen.info.unknown_events, rows[i].same ? 0 : 2);
            assert_int_equal(seen.info.loss_verified, rows[i].same);
            assert_true(seen.events[0].id == 77 && seen.events[0].version == 5 && seen.events[0].provider == GCD_PROVIDER_OTHER);
            assert_string_equal(seen.providers[0], "Mine");
        }
}

static void providers_by_name(void **state)
{
    (void)state;
    static const struct { const char *name; enum gcd_provider provider; } rows[] = {
        { TB_RUNTIME, GCD_PROVIDER_RUNTIME },         { TB_RUNDOWN, GCD_PROVIDER_RUNDOWN }, { TB_EVENTPIPE, GCD_PROVIDER_EVENTPIPE },
        { "Windows Kernel", GCD_PROVIDER_OTHER },     { "Microsoft-Windows-DotNETRuntim", GCD_PROVIDER_OTHER },
        { "Microsoft-Windows-DotNETruntime", GCD_PROVIDER_OTHER }, { "", GCD_PROVIDER_OTHER }, { "A", GCD_PROVIDER_OTHER },
        { "A", GCD_PROVIDER_OTHER },                  { TB_RUNTIME "X", GCD_PROVIDER_OTHER }, { TB_EVENTPIPE "-2", GCD_PROVIDER_OTHER },
    };
    const uint32_t n = sizeof rows / sizeof *rows;
    for (uint32_t i = 0; i < n; i++)
        describe(i + 1, rows[i].name, 100 + i, i);
    block_header(20, 1);
    for (uint32_t i = 0; i < n; i++)
        full_blob(i + 1, 0, 7, 500, "x");
    full_blob(n + 1, 0, 7, 500, "x");                /* that nobody described */
    put_block();
    close_with(7, n + 1);
    decode();
    assert_true(seen.st == GCD_END && seen.count == n && seen.info.unknown_events == 1 && seen.info.events == n + 1 && seen.info.lost_events == 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(seen.events[i].provider == rows[i].provider && seen.events[i].id == 100 + i && seen.events[i].version == i);
        assert_string_equal(seen.providers[i], rows[i].name);
    }
    limits.metadata = n;
    decode();
    assert_int_equal(seen.st, GCD_END);
    limits.metadata = n - 1;
    decode();
    assert_int_equal(seen.st, GCD_E_LIMIT);
}

/* The version may stand behind anything else that a record can have. */
static void optional_parts_of_format_6(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n; uint32_t version; } rows[] = {
        { "", 0, 0 },
        { "\x09\x07", 2, 7 },
        { "\x01\x09\x09\x07", 4, 7 },
        { "\x08\x09\x09\x07", 4, 7 },
        { "\x03" "12345678" "\x09\x07", 11, 7 },
        { "\x04\x02" "ab" "\x09\x07", 6, 7 },
        { "\x05\x02" "ab" "\x09\x07", 6, 7 },
        { "\x06\x02" "ab" "\x03" "cde" "\x09\x07", 10, 7 },
        { "\x07" "1234567890123456" "\x09\x07", 19, 7 },
        { "\x02\x09\x07", 3, 0 },                    /* not known */
        { "\x09\x07\x09\x08", 4, 7 },
        { "\x04\x7f" "ab", 4, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V6, 8);
        describe_v6(1, "Mine", 77, rows[i].bytes, rows[i].n);
        block_header(20, 1);
        full_blob(1, 0, 7, 1500, "x");
        put_block();
        close_with(7, 1);
        decode();
        assert_true(seen.st == GCD_END && seen.count == 1);
        if (seen.events[0].version != rows[i].version)
            fail_msg("row %zu: version %u", i, seen.events[0].version);
    }
}

/* An event in front of any description has no number of its own (NetTraceFormat.md, "Header compression"): nothing is lost, and nothing certain. */
static void an_event_without_a_number(void **state)
{
    (void)state;
    for (uint32_t meta = 0; meta <= 1; meta++) {
        format(TB_V4, 8);
        describe(1, "Mine", 77, 0);
        block_header(20, 1);
        full_blob(1, 4, 7, 1500, "x");               /* number 5 */
        tb_u8(&body, 0x01);
        tb_varuint(&body, meta);
        tb_varuint(&body, 10);
        tb_put(&body, "y", 1);
        tb_u8(&body, 0x01);
        tb_varuint(&body, 1);
        tb_varuint(&body, 10);
        tb_put(&body, "z", 1);
        put_block();
        close_with(7, 6 + meta);
        decode();
        assert_true(seen.st == GCD_END && seen.count == 2 + meta && seen.info.lost_events == 4);
        assert_true(seen.info.unknown_events == 1 - meta && seen.info.irregular_steps == 1 - meta);
    }
}

/* ---- threads, labels, sequence points of format 6 ---- */

static void row_of(const char *bytes, size_t n)
{
    tb_u16(&body, (unsigned)n);
    tb_put(&body, bytes, n);
}

static void threads_of_format_6(void **state)
{
    (void)state;
    format(TB_V6, 8);
    describe_v6(1, "Mine", 77, NULL, 0);
    body.n = 0;
    row_of("\x05\x01\x02" "ab" "\x02\x90\x01\x03\x91\x01", 11);          /* name, process 144, thread 145 */
    row_of("\x06\x04\x01" "k" "\x02" "vv" "\x03\x07", 9);                /* key and value, thread 7 */
    row_of("\x07\x02\x08\x09\x03\x0a", 6);                               /* an unknown part ends it */
    row_of("\x08", 1);
    tb_block_v6(&t, V6_THREADS, body.p, body.n);
    block_header(20, 1);
    for (uint64_t i = 5; i <= 8; i++)
        full_blob(1, i == 5 ? 0 : (uint32_t)-1, i, 500, "x");
    put_block();
    close_with(5, 1);
    decode();
    static const struct { uint64_t process, thread; } expected[] = { { 144, 145 }, { 1234, 7 }, { 8, 7 }, { 1234, 8 } };
    assert_true(seen.st == GCD_END && seen.count == 4 && seen.info.lost_events == 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(seen.events[i].process == expected[i].process && seen.events[i].thread == expected[i].thread);
}

static void as_many_threads_as_allowed(void **state)
{
    (void)state;
    for (uint64_t limit = 2; limit <= 4; limit++) {
        format(TB_V6, 8);
        describe_v6(1, "Mine", 77, NULL, 0);         /* thread 7 */
        body.n = 0;
        row_of("\x08", 1);
        row_of("\x09", 1);
        row_of("\x08", 1);
        tb_block_v6(&t, V6_THREADS, body.p, body.n);
        tb_end(&t);
        limits.threads = limit;
        decode();
        assert_int_equal(seen.st, limit >= 3 ? GCD_END : GCD_E_LIMIT);
    }
}

static void labels_of_format_6(void **state)
{
    (void)state;
    format(TB_V6, 8);
    describe_v6(1, "Mine", 77, "\x09\x02", 2);
    body.n = 0;
    tb_u32(&body, 40);
    tb_u32(&body, 6);
    tb_put(&body, "\x8a\x65", 2);                                        /* 40: version 101 */
    for (unsigned kind = 1; kind <= 3; kind++) {
        tb_u8(&body, kind);
        tb_zeros(&body, 16);
    }
    tb_put(&body, "\x04" "12345678" "\x8a\x66", 11);                     /* 41: version 102 behind much else */
    tb_put(&body, "\x05\x01" "k" "\x02" "vv" "\x8a\x67", 8);             /* 42 */
    tb_put(&body, "\x06\x01" "k" "\x90\x01\x8a\x68", 7);                 /* 43 */
    tb_put(&body, "\x07\x01\x08" "12345678" "\x89\x05", 13);             /* 44: none */
    tb_put(&body, "\x0a\x6a\x89\x01", 4);                                /* 45: version 106, then a level */
    tb_put(&body, "\x8a\x6d", 2);                                        /* behind the last list */
    tb_block_v6(&t, V6_LABELS, body.p, body.n);
    body.n = 0;
    tb_u32(&body, 50);
    tb_u32(&body, 2);
    tb_put(&body, "\x0a\x6b\x8b\x6b\x8a\x6c", 6);                        /* what is not known ends the block, and its list is none */
    tb_block_v6(&t, V6_LABELS, body.p, body.n);
    static const uint32_t lists[] = { 39, 40, 41, 42, 43, 44, 45, 46, 50, 51, 0 }, versions[] = { 2, 101, 102, 103, 104, 2, 106, 2, 2, 2, 2 };
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < 11; i++) {
            block_header(20, 1);
            tb_u8(&body, 0x80 | 0x10 | 0x03);
            tb_varuint(&body, 1);
            tb_varuint(&body, 11 * round + (uint32_t)i);
            tb_varuint(&body, 7);
            tb_varuint(&body, 0);
            tb_varuint(&body, 500 + 200 * round);
            tb_varuint(&body, lists[i]);
            tb_varuint(&body, 1);
            tb_put(&body, "x", 1);
            put_block();
        }
        if (round == 0) {                                                /* a sequence point ends the lists */
            body.n = 0;
            tb_u64(&body, 600);
            tb_u32(&body, 0);
            tb_u32(&body, 0);
            tb_block_v6(&t, V6_SEQUENCE_POINT, body.p, body.n);
        }
    }
    close_with(7, 22);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 22 && seen.info.lost_events == 0);
    for (size_t i = 0; i < 22; i++)
        assert_int_equal(seen.events[i].version, i < 11 ? versions[i] : 2);
    limits.metadata = 6;
    decode();
    assert_int_equal(seen.st, GCD_END);
    limits.metadata = 5;
    decode();
    assert_int_equal(seen.st, GCD_E_LIMIT);
}

/* An event of LIST by the thread with index THREAD, number NUMBER. */
static void blob_of_list(uint32_t number, uint64_t thread, uint64_t ticks, uint32_t list)
{
    block_header(20, 1);
    tb_u8(&body, 0x80 | 0x10 | 0x03);
    tb_varuint(&body, 1);
    tb_varuint(&body, number - 1);
    tb_varuint(&body, thread);
    tb_varuint(&body, 0);
    tb_varuint(&body, ticks);
    tb_varuint(&body, list);
    tb_varuint(&body, 1);
    tb_put(&body, "x", 1);
    put_block();
}

/* A label list or a thread of which nothing is known: then the block that tells it is lost or misplaced.  Other providers than the runtime do not matter. */
static void events_of_the_runtime_that_lack_something(void **state)
{
    (void)state;
    static const struct { uint32_t list; uint64_t thread; size_t lists; bool doubtful; } rows[] = {
        { 0, 7, 0, false }, { 40, 7, 0, false }, { 41, 7, 0, false }, { 42, 7, 0, true }, { 39, 7, 0, true }, { 0, 8, 0, true }, { 40, 8, 0, true },
        { 41, 7, 1, false },             /* more lists than are remembered, those without a version left out */
    };
    for (unsigned other = 0; other < 2; other++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            format(TB_V6, 8);
            describe_v6(1, other ? "Mine" : TB_RUNTIME, 77, "\x09\x02", 2);
            body.n = 0;
            tb_u32(&body, 40);
            tb_u32(&body, 2);
            tb_put(&body, "\x8a\x65" "\x89\x05", 4);                     /* 40: version 101, 41: none */
            tb_block_v6(&t, V6_LABELS, body.p, body.n);
            blob_of_list(1, rows[i].thread, 1500, rows[i].list);
            close_with(rows[i].thread, 1);
            limits.metadata = rows[i].lists;
            decode();
            assert_true(seen.st == GCD_END && seen.count == 1);
            bool doubtful = rows[i].doubtful && !other;
            if (seen.info.irregular_steps != doubtful || seen.info.loss_verified == doubtful || (seen.events[0].gap == GCD_GAP_DISORDER) != doubtful)
                fail_msg("row %zu", i);
        }
}

/* An index stands for one thread until it has ended. */
static void an_index_for_two_threads(void **state)
{
    (void)state;
    static const struct { const char *again; bool ended, doubtful; } rows[] = {
        { "\x07\x02\xd2\x09\x03\x07", false, false }, { "\x07\x02\xd2\x09\x03\x08", false, true }, { "\x07\x02\xd3\x09\x03\x07", false, true },
        { "\x07\x02\xd2\x09\x03\x08", true, false },  { "\x07\x02\xd3\x09\x03\x07", true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V6, 8);
        describe_v6(1, TB_RUNTIME, 77, NULL, 0);     /* thread 7 of process 1234 */
        blob_of_list(1, 7, 1500, 0);
        if (rows[i].ended)
            tb_block_v6(&t, V6_REMOVED, "\x07\x01", 2);
        body.n = 0;
        row_of(rows[i].again, 6);
        tb_block_v6(&t, V6_THREADS, body.p, body.n);
        blob_of_list(rows[i].ended ? 1 : 2, 7, 1600, 0);
        close_with(7, rows[i].ended ? 1 : 2);
        decode();
        assert_true(seen.st == GCD_END && seen.count == 2 && seen.info.lost_events == 0);
        assert_true(seen.events[1].thread == (uint8_t)rows[i].again[5]);
        if (seen.info.irregular_steps != rows[i].doubtful)
            fail_msg("row %zu", i);
    }
}

/* Flag 1 forgets the threads and their numbers, flag 2 the descriptions. */
static void sequence_points_that_forget(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags < 4; flags++) {
        format(TB_V6, 8);
        describe_v6(1, "Mine", 77, NULL, 0);
        body.n = 0;
        row_of("\x08\x02\x09\x03\x0a", 5);
        tb_block_v6(&t, V6_THREADS, body.p, body.n);
        block_header(20, 1);
        full_blob(1, 0, 8, 500, "x");
        full_blob(1, 0, 8, 500, "x");
        put_block();
        body.n = 0;
        tb_u64(&body, 2000);
        tb_u32(&body, flags);
        tb_u32(&body, 1);
        tb_varuint(&body, 8);
        tb_varuint(&body, 2);
        tb_block_v6(&t, V6_SEQUENCE_POINT, body.p, body.n);
        block_header(20, 1);
        full_blob(1, 2, 8, 3000, "x");
        put_block();
        close_with(8, 3);
        decode();
        assert_int_equal(seen.st, GCD_END);
        assert_int_equal(seen.info.unknown_events, flags >> 1);
        /* numbers of a new owner of the index begin with 1 */
        assert_true(seen.info.irregular_steps == 0 && seen.info.lost_events == 2 * (flags & 1));
        assert_true(seen.events[0].thread == 10 && seen.events[0].process == 9);
        if (flags == 0)
            assert_int_equal(seen.count, 3);
        for (size_t i = 2; i < seen.count; i++)
            assert_true((seen.events[i].thread == 10) == (flags == 0) && (seen.events[i].process == 9) == (flags == 0));
    }
}

static void ended_threads_of_format_6(void **state)
{
    (void)state;
    format(TB_V6, 8);
    describe_v6(1, "Mine", 77, NULL, 0);
    block_header(20, 1);
    full_blob(1, 0, 7, 500, "x");
    put_block();
    body.n = 0;
    tb_varuint(&body, 7);
    tb_varuint(&body, 4);                            /* three more were lost at its end */
    tb_varuint(&body, 8);
    tb_varuint(&body, 2);                            /* all of this one */
    tb_block_v6(&t, V6_REMOVED, body.p, body.n);
    block_header(20, 1);
    full_blob(1, 2, 7, 900, "x");                    /* the next owner of the index, whose first two were lost */
    put_block();
    close_with(7, 3);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 2);
    assert_true(seen.info.lost_events == 7 && seen.info.lost_threads == 2 && seen.info.irregular_steps == 0 && seen.info.loss_verified);
}

/* Blocks of format 6 that end in the middle of a field, or with a row longer than they are. */
static void blocks_that_end_early(void **state)
{
    (void)state;
    static const struct { uint32_t kind; const char *bytes; size_t n; } rows[] = {
        { V6_METADATA, "\0\0\x10\0\x01", 5 },  { V6_METADATA, "\x08\0\0", 3 },      { V6_THREADS, "\x09\0\x07\x02", 4 }, { V6_THREADS, "\x09", 1 },
        { V6_REMOVED, "\x07", 1 },            { V6_REMOVED, "\x07\x01\x88", 3 },   { V6_LABELS, "\x01\0\0\0\x01\0\0\0", 8 },
        { V6_LABELS, "\x01\0\0\0\x01\0\0\0\x8a", 9 }, { V6_LABELS, "\x01\0\0\0\x01\0\0\0\x01" "123", 12 }, { V6_LABELS, "\x01\0\0", 3 },
        { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0", 15 }, { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0\0\x07", 17 },
        { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0\0\x87\x88", 18 }, { V6_EVENTS, "\x14\0\x01", 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V6, 8);
        tb_block_v6(&t, rows[i].kind, rows[i].bytes, rows[i].n);
        tb_end(&t);
        decode();
        if (seen.st != GCD_E_FORMAT)
            fail_msg("row %zu: %d", i, (int)seen.st);
        assert_true(seen.info.end == GCD_TRACE_CORRUPT && seen.info.damage_off != GCD_OFF_NONE);
    }
}

/* ---- is the count of lost events final? ---- */

/* Two threads, of which only LIMIT are followed. */
static void threads_beyond_the_limit(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit <= 3; limit++) {
        format(TB_V4, 8);
        describe(1, "Mine", 77, 0);
        block_header(20, 1);
        full_blob(1, 0, 7, 500, "x");
        full_blob(1, (uint32_t)-1, 8, 500, "x");
        put_block();
        close_with(7, 1);
        limits.threads = limit;
        decode();
        assert_true(seen.st == GCD_END && seen.count == 2 && seen.info.lost_events == 0);
        assert_int_equal(seen.info.loss_verified, limit >= 2);
    }
}

static void what_makes_a_count_final(void **state)
{
    (void)state;
    enum { PLAIN, NO_POINT, EVENT_BEHIND, STEP_BACK, NO_END, TRAILING, KINDS };
    for (unsigned kind = 0; kind < KINDS; kind++) {
        format(TB_V4, 8);
        describe(1, "Mine", 77, 0);
        block_header(20, 1);
        full_blob(1, 0, 7, 500, "x");
        full_blob(1, 0, 7, 500, "x");
        if (kind == STEP_BACK) {
            full_blob(1, 0, 7, 500, "x");
            full_blob(1, (uint32_t)-2, 7, 500, "x");
        }
        put_block();
        if (kind == NO_POINT)
            tb_end(&t);
        else
            close_with(7, kind == STEP_BACK ? 3 : 2);
        if (kind == EVENT_BEHIND) {
            t.out.n--;
            block_header(20, 1);
            full_blob(1, 2, 7, CLOSED_AT, "x");
            put_block();
            tb_end(&t);
        }
        if (kind == NO_END)
            t.out.n--;
        if (kind == TRAILING)
            tb_put(&t.out, "behind", 6);
        decode();
        assert_int_equal(seen.st, kind == NO_END ? GCD_E_TRUNCATED : GCD_END);
        assert_int_equal(seen.info.end, kind == NO_END ? GCD_TRACE_TRUNCATED : GCD_TRACE_CLOSED);
        assert_int_equal(seen.info.loss_verified, kind == PLAIN || kind == TRAILING);
        assert_int_equal(seen.closed, kind != NO_POINT && kind != EVENT_BEHIND);
        assert_int_equal(seen.info.irregular_steps, kind == STEP_BACK);
        assert_int_equal(seen.info.trailing_bytes, kind == TRAILING ? 6 : 0);
        assert_true(seen.info.damage_off == (kind == NO_END ? t.out.n : GCD_OFF_NONE));
        assert_true(seen.info.has_sequence_numbers);
    }
    format(TB_V3, 8);
    tb_close(&t);
    decode();
    assert_true(seen.st == GCD_END && !seen.info.loss_verified && !seen.info.has_sequence_numbers && seen.info.format_version == 3);
}

static void sequence_points_that_lie(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 3; count++) {
        format(TB_V4, 8);
        body.n = 0;
        tb_u64(&body, 0);
        tb_u32(&body, count);
        for (uint32_t i = 0; i < 2; i++) {
            tb_u64(&body, i + 1);
            tb_u32(&body, i + 5);
        }
        tb_object(&t, "SPBlock", 2, 2, body.p, body.n);
        tb_end(&t);
        decode();
        assert_int_equal(seen.st, count <= 2 ? GCD_END : GCD_E_FORMAT);
        assert_true(count <= 2 || strstr(seen.err.msg, "a sequence point of 3 threads in 24 bytes") != NULL);
        assert_true(count > 2 || seen.info.lost_events == (count == 0 ? 0 : count == 1 ? 5 : 11));
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(objects_of_other_names), TEST(headers_of_blocks), TEST(fields_of_compressed_headers), TEST(fields_of_plain_headers),
        TEST(fields_of_format_3), TEST(a_block_that_is_cut), TEST(descriptions_that_come_again), TEST(providers_by_name),
        TEST(optional_parts_of_format_6), TEST(threads_of_format_6), TEST(as_many_threads_as_allowed),
        TEST(a_block_that_lies_at_the_end), TEST(labels_of_format_6), TEST(sequence_points_that_forget),
        TEST(ended_threads_of_format_6), TEST(blocks_that_end_early), TEST(threads_beyond_the_limit), TEST(what_makes_a_count_final),
        TEST(sequence_points_that_lie), TEST(an_event_without_a_number), TEST(events_of_the_runtime_that_lack_something),
        TEST(an_index_for_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
