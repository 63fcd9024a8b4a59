/*
 * The blocks of .nettrace field by field: headers, blobs, descriptions, counts of lost events, each
 * with different values and at the limits of what is valid.  They are built here, byte by byte.
 */
#include <inttypes.h>

#include "support/nettrace_case.h"

/* ---- blocks of other names ---- */

static void objects_of_other_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t unknown;
        size_t events;
    } names[] = { { "EventBlock", 0, 1 },
                  { "StackBlock", 0, 0 },
                  { "EventBlocks", 1, 0 },
                  { "eventBlock", 1, 0 },
                  { "Event", 1, 0 } };
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
    for (size_t have = 4; have <= 24; have++) { /* a header that reaches beyond its block */
        format(TB_V4, 8);
        block_header(24, 1);
        tb_object(&t, "EventBlock", 2, 2, body.p, have);
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, have == 24 ? GCD_END : GCD_E_FORMAT);
    }
}

/* Fields missing in a header keep their value; those present are read in order. */
static void fields_of_compressed_headers(void **state)
{
    (void)state;
    describe(1, "Mine", 77, 5);
    describe(300, "Mine", 88, 6);
    block_header(20, 1);
    full_blob(1, 0, 0x1234567890, 1500, "abc");
    tb_u8(&body, 0); /* nothing but the time */
    tb_varuint(&body, 10);
    tb_put(&body, "def", 3);
    tb_u8(&body, 0x01);
    tb_varuint(&body, 300);
    tb_varuint(&body, 20);
    tb_put(&body, "ghi", 3);
    tb_u8(&body, 0x02);
    tb_varuint(&body, 4); /* four lost */
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
    tb_u8(&body, 0x40); /* the "sorted" flag does not matter */
    tb_varuint(&body, 70);
    tb_put(&body, "xyz12", 5);
    put_block();
    /* everything is reset in the next block, numbers too */
    block_header(20, 1);
    full_blob(1, 12, 0x1234567890, 2000, "new");
    put_block();
    close_with(0x1234567890, 15);
    decode();
    assert_int_equal(seen.st, GCD_END);
    static const char *const payloads[] = { "abc", "def", "ghi",   "jkl",
                                            "mno", "pqr", "stuvw", "xyz12" };
    int64_t ns = 1000;
    for (size_t i = 0; i < 8; i++) {
        ns += 10 * (int64_t)i;
        expect(i, i < 2 ? 77 : 88, 0x1234567890, ns, payloads[i]);
        assert_int_equal(seen.events[i].version, i < 2 ? 5 : 6);
    }
    expect(8, 77, 0x1234567890, 1500, "new");
    assert_int_equal(seen.count, 9);
    assert_true(seen.info.lost_events == 6 && seen.info.lost_threads == 1 &&
                seen.info.loss_verified && seen.info.irregular_steps == 0);
    assert_true(seen.thread == 0x1234567890 && seen.thread_events == 9 && seen.thread_lost == 6 &&
                seen.closed);
    assert_true(seen.info.events == 9 && seen.info.unknown_events == 0 &&
                seen.info.process == 1234);
}

static void plain_blob(uint32_t size, uint32_t meta, uint32_t number, uint64_t capture,
                       uint64_t ticks, uint32_t payload_bytes, const char *rest, size_t n)
{
    tb_u32(&body, size);
    tb_u32(&body, meta);
    tb_u32(&body, number);
    tb_u64(&body, 0x5555); /* thread */
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
    static const struct {
        uint32_t size, payload;
        gcd_status st;
    } bad[] = {
        { 76 + 4, 4, GCD_END },      { 76 + 4, 5, GCD_E_FORMAT }, { 76 + 5, 4, GCD_E_FORMAT },
        { 76 + 3, 4, GCD_E_FORMAT }, { 76 + 4, 0, GCD_END },      { 75, 0, GCD_E_FORMAT },
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

/* Format 3: no numbers, descriptions among the events, thread ids of 32 bits, a stack after the
 * payload. */
static void blob_v3(uint32_t meta, uint32_t thread, uint64_t ticks, const void *payload, size_t n,
                    size_t behind)
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
    assert_true(seen.st == GCD_END && seen.count == 3 && seen.info.events == 4 &&
                seen.info.unknown_events == 1 && seen.info.ptr_bytes == 4);
    expect(0, 77, 0xfedcba98, 1000, "abc");
    expect(1, 77, 7, 1200, "");
    expect(2, 77, 8, 1400, "de");
    assert_true(seen.events[0].version == 6 && seen.events[0].ptr_bytes == 4 &&
                seen.events[0].process == 1234);
}

/* A recording cut inside a block gives its complete events and the place of the cut. */
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
        size_t start = t.out.n - body.n - (formats[f] == TB_V4 ? 1 : 0); /* of the body */
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

/* A block that claims more bytes than the file has: bytes that do not look like events are not
 * decoded. */
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

/* An id may be described again; with a different description its later events are unknown. */
static void descriptions_that_come_again(void **state)
{
    (void)state;
    static const struct {
        const char *provider;
        uint32_t id;
        const char *version;
        bool same;
    } rows[] = {
        { "Mine", 77, "\x09\x05", true },      { "mine", 77, "\x09\x05", false },
        { TB_RUNTIME, 77, "\x09\x05", false }, { "Mine", 78, "\x09\x05", false },
        { "Mine", 77, "\x09\x06", false },
    };
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            format(v6 ? TB_V6 : TB_V4, 8);
            for (unsigned round = 0; round < 3; round++) {
                const char *provider = round == 1 ? rows[i].provider : "Mine",
                           *version = round == 1 ? rows[i].version : "\x09\x05";
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
            assert_true(seen.events[0].id == 77 && seen.events[0].version == 5 &&
                        seen.events[0].provider == GCD_PROVIDER_OTHER);
            assert_string_equal(seen.providers[0], "Mine");
        }
}

static void providers_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum gcd_provider provider;
    } rows[] = {
        { TB_RUNTIME, GCD_PROVIDER_RUNTIME },
        { TB_RUNDOWN, GCD_PROVIDER_RUNDOWN },
        { TB_EVENTPIPE, GCD_PROVIDER_EVENTPIPE },
        { "Windows Kernel", GCD_PROVIDER_OTHER },
        { "Microsoft-Windows-DotNETRuntimePrivate", GCD_PROVIDER_OTHER },
        { "Microsoft-Windows-DNS-Client", GCD_PROVIDER_OTHER },
        { "", GCD_PROVIDER_OTHER },
        { "A", GCD_PROVIDER_OTHER },
        { "A", GCD_PROVIDER_OTHER },
        { TB_RUNTIME "X", GCD_PROVIDER_OTHER },
        { TB_EVENTPIPE "-2", GCD_PROVIDER_OTHER },
    };
    const uint32_t n = sizeof rows / sizeof *rows;
    for (uint32_t i = 0; i < n; i++)
        describe(i + 1, rows[i].name, 100 + i, i);
    block_header(20, 1);
    for (uint32_t i = 0; i < n; i++)
        full_blob(i + 1, 0, 7, 500, "x");
    full_blob(n + 1, 0, 7, 500, "x"); /* without a description */
    put_block();
    close_with(7, n + 1);
    decode();
    assert_true(seen.st == GCD_END && seen.count == n && seen.info.unknown_events == 1 &&
                seen.info.events == n + 1 && seen.info.lost_events == 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(seen.events[i].provider == rows[i].provider && seen.events[i].id == 100 + i &&
                    seen.events[i].version == i);
        assert_string_equal(seen.providers[i], rows[i].name);
    }
    limits.metadata = n;
    decode();
    assert_int_equal(seen.st, GCD_END);
    limits.metadata = n - 1;
    decode();
    assert_int_equal(seen.st, GCD_E_LIMIT);
}

/* A name that is nearly the runtime's, and an event that is described twice. */
static void descriptions_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t first, second; /* ids of events */
        uint64_t irregular;
    } rows[] = {
        { TB_RUNTIME, 16, 17, 0 },
        { TB_RUNTIME, 16, 16, 1 },
        { TB_RUNDOWN, 16, 16, 1 },
        { "Shop-Events", 16, 16, 0 },
        { "Microsoft-Windows-DotNETRuntim", 16, 17, 2 },
        { "Microsoft-Windows-DotNETruntime", 16, 17, 2 },
        { "Microsoft-Windows-DotNETRunt\u00e9me", 16, 17, 2 },
        { "Iicrosoft-Windows-DotNETRuntime", 16, 17, 2 },
        { TB_RUNTIME "\x01&", 16, 17, 2 },
        { TB_RUNTIME "Stress", 16, 17, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V4, 8);
        describe(1, rows[i].name, rows[i].first, 0);
        describe(2, rows[i].name, rows[i].second, 0);
        block_header(20, 1);
        full_blob(1, 0, 7, 500, "x");
        full_blob(2, 0, 7, 500, "x");
        put_block();
        close_with(7, 2);
        decode();
        bool damaged = rows[i].irregular == 2;
        if (seen.st != GCD_END || seen.info.irregular_steps != rows[i].irregular ||
            seen.info.unknown_events != (damaged ? 2 : 0))
            fail_msg("row %zu: %" PRIu64 " irregular, %" PRIu64 " unknown", i,
                     seen.info.irregular_steps, seen.info.unknown_events);
    }
}

/* The version may follow any other optional field of a record. */
static void optional_parts_of_format_6(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        uint32_t version;
    } rows[] = {
        { "", 0, 0 },
        { "\x09\x07", 2, 7 },
        { "\x01\x09\x09\x07", 4, 7 },
        { "\x08\x09\x09\x07", 4, 7 },
        { "\x03"
          "12345678"
          "\x09\x07",
          11, 7 },
        { "\x04\x02"
          "ab"
          "\x09\x07",
          6, 7 },
        { "\x05\x02"
          "ab"
          "\x09\x07",
          6, 7 },
        { "\x06\x02"
          "ab"
          "\x03"
          "cde"
          "\x09\x07",
          10, 7 },
        { "\x07"
          "1234567890123456"
          "\x09\x07",
          19, 7 },
        { "\x02\x09\x07", 3, 0 }, /* not known */
        { "\x09\x07\x09\x08", 4, 7 },
        { "\x04\x7f"
          "ab",
          4, 0 },
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

/* An event in front of any description has no sequence number (NetTraceFormat.md, "Header
 * compression"): nothing is lost, and nothing is certain. */
static void an_event_without_a_number(void **state)
{
    (void)state;
    for (uint32_t meta = 0; meta <= 1; meta++) {
        format(TB_V4, 8);
        describe(1, "Mine", 77, 0);
        block_header(20, 1);
        full_blob(1, 4, 7, 1500, "x"); /* number 5 */
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

/* ---- is the count of lost events final? ---- */

/* Two threads, but only LIMIT are tracked. */
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
    assert_true(seen.st == GCD_END && !seen.info.loss_verified && !seen.info.has_sequence_numbers &&
                seen.info.format_version == 3);
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
        assert_true(count <= 2 ||
                    strstr(seen.err.msg, "a sequence point of 3 threads in 24 bytes") != NULL);
        assert_true(count > 2 || seen.info.lost_events == (count == 0 ? 0 : count == 1 ? 5 : 11));
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(objects_of_other_names),       TEST(headers_of_blocks),
        TEST(fields_of_compressed_headers), TEST(fields_of_plain_headers),
        TEST(fields_of_format_3),           TEST(a_block_that_is_cut),
        TEST(descriptions_that_come_again), TEST(providers_by_name),
        TEST(descriptions_that_cannot_be),  TEST(optional_parts_of_format_6),
        TEST(a_block_that_lies_at_the_end), TEST(threads_beyond_the_limit),
        TEST(what_makes_a_count_final),     TEST(sequence_points_that_lie),
        TEST(an_event_without_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
