/*
 * The header of a .nettrace at the limits of what is valid: versions, dates, clocks, pointer sizes.
 */
#include <string.h>

#include <gcdumpc/trace.h>

#include "nettrace/nt.h"
#include "support/check.h"
#include "support/tb.h"

static struct tb t;
static struct tb_bytes body;
static struct gcd_limits limits;

/* How a trace ended. */
static struct {
    gcd_status st;
    struct gcd_error err;
    struct gcd_trace_info info;
} seen;

static int setup(void **state)
{
    (void)state;
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

static void decode(void)
{
    struct gcd_trace *trace;
    struct gcd_event ev;
    seen.err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_trace_new(&(struct gcd_context){ .limits = &limits }, &trace, &seen.err),
                     GCD_OK);
    assert_int_equal(gcd_trace_feed(trace, t.out.p, t.out.n, &seen.err), GCD_OK);
    gcd_trace_finish(trace);
    do
        seen.st = gcd_trace_next(trace, &ev, &seen.err);
    while (seen.st == GCD_OK);
    gcd_trace_get_info(trace, &seen.info);
    gcd_trace_free(trace);
}

/* ---- versions of objects ---- */

static void an_object_for_later_readers(void **state)
{
    (void)state;
    enum { MINIMUM_AT = 39 }; /* of the Trace object: magic, tags, version */
    for (unsigned minimum = 0; minimum <= 6; minimum++) {
        format(TB_V4, 8);
        t.out.p[MINIMUM_AT] = (uint8_t)minimum;
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, minimum <= 4 ? GCD_END : GCD_E_UNSUPPORTED);
        assert_true(minimum <= 4 || seen.err.off == MINIMUM_AT);
        format(TB_V4, 8);
        size_t at = t.out.n + 7;
        tb_object(&t, "EventBlock", 2, minimum, "\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, minimum <= 4 ? GCD_END : GCD_E_FORMAT);
        assert_true(minimum <= 4 || seen.err.off == at);
    }
}

/* ---- the trace's own header ---- */

/* Other files use the same serializer. */
static void files_of_other_programs(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } rows[] = {
        { "GCHeapDump", "it holds an object of type \"GCHeapDump\"" },
        { "Microsoft.Diagnostics.Tracing.Etlx.TraceLog", "is an .etlx" },
        { "TraceLog", "is an .etlx" },
        { "TraceLogs", "it holds an object of type \"TraceLogs\"" },
        { "Trac", "it holds an object of type \"Trac\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V3, 8);
        t.out.n = 24;
        tb_object(&t, rows[i].name, 2, 0, "x", 1);
        decode();
        assert_int_equal(seen.st, GCD_E_UNSUPPORTED);
        assert_true(strstr(seen.err.msg, rows[i].text) != NULL && seen.err.off == 24 + 15);
    }
}

static void versions_of_format_6(void **state)
{
    (void)state;
    for (unsigned major = 0; major < 9; major++)
        for (unsigned minor = 0; minor < 3; minor++) {
            format(TB_V6, 8);
            t.out.p[12] = (uint8_t)major;
            t.out.p[16] = (uint8_t)minor;
            tb_close(&t);
            decode();
            assert_int_equal(seen.st, major == 6 ? GCD_END : GCD_E_UNSUPPORTED);
            assert_true(major == 6 || seen.err.off == 12);
        }
}

/* Names of objects, sizes of blocks, and their end tags. */
static void frames_of_blocks(void **state)
{
    (void)state;
    char name[66];
    memset(name, 'n', sizeof name);
    name[65] = '\0';
    for (size_t n = 63; n <= 65; n++) {
        format(TB_V4, 8);
        size_t at = t.out.n + 11;
        tb_object(&t, name + 65 - n, 2, 2, "x", 1);
        tb_close(&t);
        decode();
        assert_int_equal(seen.st, n <= 64 ? GCD_END : GCD_E_FORMAT);
        assert_true(n <= 64 ? seen.info.unknown_blocks == 1 : seen.err.off == at);
    }
    format(TB_V4, 8);
    tb_object(&t, "StackBlock", 2, 2, "x", 1);
    t.out.p[t.out.n - 1] = 7;
    size_t at = t.out.n - 1;
    tb_close(&t);
    decode();
    assert_true(seen.st == GCD_E_FORMAT && seen.err.off == at);
    limits.block_bytes = 100;
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (size_t n = 99; n <= 102; n++) {
            static const uint8_t zeros[200];
            format(v6 ? TB_V6 : TB_V4, 8);
            if (v6)
                tb_block_v6(&t, 5, zeros, n);
            else
                tb_object(&t, "StackBlock", 2, 2, zeros, n);
            tb_close(&t);
            decode();
            assert_int_equal(seen.st, n <= 100 ? GCD_END : GCD_E_LIMIT);
        }
    limits.block_bytes = 0;
}

static void header_fields(void **state)
{
    (void)state;
    enum {
        TIME_AT = 53,
        FREQUENCY_AT = TIME_AT + 24,
        POINTER_AT = TIME_AT + 32,
        PROCESS_AT = POINTER_AT + 4
    };
    tb_close(&t);
    assert_memory_equal(t.out.p + POINTER_AT, "\x08\0\0\0", 4);
    memcpy(t.out.p + PROCESS_AT, "\x12\x34\x56\x78\x9a\0\0\0", 8);
    decode();
    assert_true(seen.st == GCD_END && seen.info.process == 0x78563412 &&
                seen.info.processors == 0x9a);
    assert_true(seen.info.ptr_bytes == 8 && seen.info.format_version == 4 &&
                seen.info.bytes == t.out.n && seen.info.end == GCD_TRACE_CLOSED);
    assert_string_equal(seen.info.container, "nettrace");
    for (unsigned bytes = 0; bytes < 10; bytes++) {
        t.out.p[POINTER_AT] = (uint8_t)bytes;
        decode();
        bool good = bytes == 4 || bytes == 8;
        assert_int_equal(seen.st, good ? GCD_END : GCD_E_FORMAT);
        assert_true(good ? seen.info.ptr_bytes == bytes : seen.err.off == POINTER_AT);
    }
    t.out.p[POINTER_AT] = 8;
    static const struct {
        const char *frequency;
        gcd_status st;
    } clocks[] = {
        { "\0\0\0\0\0\0\0\0", GCD_E_FORMAT },
        { "\1\0\0\0\0\0\0\0", GCD_END },
        { "\xff\xff\xff\xff\xff\xff\xff\x7f", GCD_END },
        { "\0\0\0\0\0\0\0\x80", GCD_E_FORMAT },
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        memcpy(t.out.p + FREQUENCY_AT, clocks[i].frequency, 8);
        decode();
        assert_int_equal(seen.st, clocks[i].st);
        assert_true(seen.st == GCD_END || seen.err.off == FREQUENCY_AT);
    }
    format(TB_V4, 8);
    uint8_t header[120 - 32];
    memcpy(header, t.out.p + 32, sizeof header);
    tb_put(&t.out, header, sizeof header);
    decode();
    assert_int_equal(seen.st, GCD_E_FORMAT); /* a second header */
}

static void key_values_of_format_6(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        uint64_t process;
        uint32_t processors;
    } pairs[] = {
        { "ProcessId", "4294967296", 4294967296, 0 },
        { "ProcessId", "12x34", 12, 0 },
        { "ProcessId", "/0:", 0, 0 },
        { "processId", "12", 0, 0 },
        { "HardwareThreadCount", "90", 0, 90 },
        { "HardwareThreadCounts", "90", 0, 0 },
        { "ProcessI", "9", 0, 0 },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        format(TB_V6, 8);
        t.out.n = 20;
        body.n = 0;
        static const uint8_t when[16] = { 0xe8, 7, 5, 0, 2, 0, 7, 0, 10 };
        tb_put(&body, when, 16);
        tb_u64(&body, 500);
        tb_u64(&body, 1000000000);
        tb_u32(&body, 4);
        tb_u32(&body, 2);
        tb_utf8(&body, "Other");
        tb_utf8(&body, "77");
        tb_utf8(&body, pairs[i].key);
        tb_utf8(&body, pairs[i].value);
        tb_block_v6(&t, 1, body.p, body.n);
        tb_end(&t);
        decode();
        assert_true(seen.st == GCD_END && seen.info.process == pairs[i].process &&
                    seen.info.processors == pairs[i].processors);
        assert_true(seen.info.ptr_bytes == 4 && seen.info.format_version == 6);
    }
}

/* When the trace was started, in years with and without February 29. */
static void start_of_the_trace(void **state)
{
    (void)state;
    static const struct {
        uint16_t year, month, day, hour, minute, second, ms;
        int64_t unix_ms;
    } times[] = {
        { 1970, 1, 1, 0, 0, 0, 0, 0 },
        { 1970, 1, 1, 23, 59, 58, 987, INT64_C(86398987) },
        { 1969, 12, 31, 23, 59, 59, 999, -1 },
        { 2000, 2, 29, 1, 2, 3, 4, INT64_C(951786123004) },
        { 2000, 3, 1, 0, 0, 0, 0, INT64_C(951868800000) },
        { 2100, 2, 28, 0, 0, 0, 0, INT64_C(4107456000000) },
        { 2100, 3, 1, 0, 0, 0, 0, INT64_C(4107542400000) },
        { 1601, 1, 1, 0, 0, 0, 0, INT64_MIN }, /* of recordings without a time */
        { 1601, 1, 1, 0, 0, 0, 1, INT64_C(-11644473599999) },
        { 2023, 12, 31, 0, 0, 0, 0, INT64_C(1703980800000) },
        { 2024, 0, 1, 0, 0, 0, 0, INT64_MIN },
        { 2024, 13, 1, 0, 0, 0, 0, INT64_MIN },
        { 2024, 1, 0, 0, 0, 0, 0, INT64_MIN },
        { 2024, 1, 32, 0, 0, 0, 0, INT64_MIN },
        { 2024, 1, 31, 0, 0, 0, 0, INT64_C(1706659200000) },
        { 0, 1, 1, 0, 0, 0, 0, INT64_C(-62167219200000) },
        { 0, 12, 31, 0, 0, 0, 0, INT64_C(-62135683200000) },
    };
    tb_close(&t);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct tb_bytes b = { NULL, 0, 0 };
        tb_u16(&b, times[i].year);
        tb_u16(&b, times[i].month);
        tb_u16(&b, 6); /* day of the week: ignored */
        tb_u16(&b, times[i].day);
        tb_u16(&b, times[i].hour);
        tb_u16(&b, times[i].minute);
        tb_u16(&b, times[i].second);
        tb_u16(&b, times[i].ms);
        memcpy(t.out.p + 53, b.p, 16);
        tb_free(&b);
        decode();
        if (seen.info.start_unix_ms != times[i].unix_ms)
            fail_msg("row %zu: %lld", i, (long long)seen.info.start_unix_ms);
    }
}

/* Ticks of any clock, converted to ns since the start. */
static void times_of_events(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX / 4;
    const struct {
        uint64_t frequency;
        int64_t sync;
        uint64_t ticks;
        int64_t ns;
    } rows[] = {
        { 1000000000, 500, 1500, 1000 },
        { 1000000000, 500, 499, -1 },
        { 10000000, 7, 10000008, INT64_C(1000000100) },
        { 3, 0, 4, INT64_C(1333333333) },
        { 3, 0, (uint64_t)-4, INT64_C(-1333333333) },
        { 1, 0, INT64_MAX, most },
        { 1, INT64_MAX, 0, -most },
        { 1, 0, 2305843009, INT64_C(2305843009000000000) },
        { 1, 0, 2305843010, most },
        { 1000000000, 0, (uint64_t)INT64_MAX, most },
        { 1000000000, 0, (uint64_t)INT64_MIN, -most },
        { INT64_MAX, 0, INT64_MAX, INT64_C(1000000000) },
        { UINT64_C(9223372036), 0, UINT64_C(9223372036), INT64_C(1000000000) },
        { UINT64_C(9223372037) * 2, 0, UINT64_C(9223372037), INT64_C(500000000) },
        { UINT64_C(9223372036), 0, UINT64_C(9223372035), INT64_C(999999999) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_nt nt = { .frequency = rows[i].frequency, .sync_ticks = rows[i].sync };
        int64_t ns = nt_time_ns(&nt, rows[i].ticks);
        if (ns != rows[i].ns)
            fail_msg("row %zu: %lld", i, (long long)ns);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_object_for_later_readers),
        TEST(files_of_other_programs),
        TEST(versions_of_format_6),
        TEST(frames_of_blocks),
        TEST(header_fields),
        TEST(key_values_of_format_6),
        TEST(start_of_the_trace),
        TEST(times_of_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
