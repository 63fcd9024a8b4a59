/*
 * The .etl decoder field by field: headers of records, buffers and files, with different values and
 * at the limits of what is valid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/trace.h>
#include <gcdumpc/unstable/io/input_parts.h>

#include "etl/etl.h"
#include "support/check.h"
#include "support/run.h"
#include "support/wrapped.h"
#include "tools/nettrace2etl/etl_out.h"

#define BUFFER   1024u
#define MAX_SEEN 24
/* Offsets in a buffer's header, and in the record that describes the file. */
enum { PROCESSOR_AT = 0x28, STATE_AT = 0x2c, FLAGS_AT = 0x34 };
enum {
    RECORD_AT = 0x48,
    VERSION_AT = RECORD_AT + 0x24,
    PROCESSORS_AT = RECORD_AT + 0x2c,
    MODE_AT = RECORD_AT + 0x40,
    POINTER_AT = RECORD_AT + 0x4c,
    LOST_EVENTS_AT = RECORD_AT + 0x50,
    FREQUENCY_AT = RECORD_AT + 0x120,
    START_AT = RECORD_AT + 0x128,
    CLOCK_AT = RECORD_AT + 0x130,
    LOST_BUFFERS_AT = RECORD_AT + 0x134
};

static struct out out;
static FILE *stream;
static struct tb_bytes file;

static struct {
    struct gcd_event events[MAX_SEEN];
    uint8_t payloads[MAX_SEEN][16];
    char providers[MAX_SEEN][64];
    size_t count;
    gcd_status st;
    struct gcd_error err;
    struct gcd_trace_info info;
} seen;

static int setup(void **state)
{
    (void)state;
    stream = tmpfile();
    assert_non_null(stream);
    out_begin(&out, stream,
              &(struct out_options){ .buffer_bytes = BUFFER,
                                     .start_filetime = UINT64_C(133000000000000000) });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_free(&file);
    return 0;
}

/* Ends the records; FILE gets what was written. */
static void finish(void)
{
    assert_true(out_end(&out));
    tb_take_file(stream, &file);
}

/* IN, which is freed then. */
static void decode_input(struct gcd_input *in, const struct gcd_limits *limits)
{
    struct gcd_trace *t;
    struct gcd_event ev;
    seen.count = 0;
    seen.err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_trace_open(in, &(struct gcd_context){ .limits = limits }, &t, NULL),
                     GCD_OK);
    for (;;) {
        seen.st = gcd_trace_next(t, &ev, &seen.err);
        if (seen.st == GCD_NEED_MORE) {
            assert_int_equal(gcd_trace_fetch(t, NULL), GCD_OK);
            continue;
        }
        if (seen.st != GCD_OK)
            break;
        assert_true(seen.count < MAX_SEEN);
        memset(seen.payloads[seen.count], 0, 16);
        memcpy(seen.payloads[seen.count], ev.payload,
               ev.payload_bytes < 16 ? ev.payload_bytes : 16);
        strncpy(seen.providers[seen.count], ev.provider_name, 63);
        ev.provider_name = NULL; /* not longer than the trace */
        seen.events[seen.count++] = ev;
    }
    gcd_trace_get_info(t, &seen.info);
    gcd_trace_free(t);
    gcd_input_free(in);
}

static void decode_within(const struct gcd_limits *limits)
{
    struct gcd_input *in;
    assert_int_equal(gcd_input_from_memory(file.p, file.n, NULL, &in, NULL), GCD_OK);
    decode_input(in, limits);
}

static void decode(void)
{
    decode_within(NULL);
}

/* A record with the fields common to all kinds and N bytes of payload after HEADER bytes. */
static void put_record(size_t cpu, unsigned type, size_t header, const void *payload, size_t n,
                       uint64_t ticks)
{
    uint8_t r[BUFFER] = { 0 };
    bool by_version = type < 0x0a || type == 0x10 || type == 0x11;
    put32(r, 0xc0000000 | type << 16 | (by_version ? 0x0203 : (uint32_t)(header + n)));
    if (by_version) {
        put16(r + 4, (uint32_t)(header + n));
        put16(r + 6, 0x4567);
    } else {
        put32(r + 4, 0x89ab4566); /* bit 0 of it: there are items */
    }
    if (type == 0x10 || type == 0x11) {
        put64(r + 8, OUT_FIRST_TICKS + ticks);
    } else {
        put32(r + 8, 0x11223344);
        put32(r + 12, 0x55667788);
        put64(r + 16, OUT_FIRST_TICKS + ticks);
    }
    if (type == 0x12 || type == 0x13 || type == 0x0a || type == 0x14)
        for (unsigned i = 0; i < 16; i++)
            r[0x18 + i] = (uint8_t)(0xa0 + i);
    if (type == 0x12 || type == 0x13) {
        put16(r + 0x28, 0xbeef);
        r[0x2a] = 0x9a;
        r[0x2b] = 0x77;
    }
    if (n > 0)
        memcpy(r + header, payload, n);
    out_record(&out, cpu, r, header + n);
}

static void fields_of_all_records(void **state)
{
    (void)state;
    static const struct {
        unsigned type;
        size_t header;
        bool event;
        enum gcd_provider provider;
        uint32_t id, version;
        uint64_t thread, process;
        unsigned ptr_bytes;
    } rows[] = {
        { 0x01, 0x20, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0x11223344, 0x55667788, 4 },
        { 0x02, 0x20, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0x11223344, 0x55667788, 8 },
        { 0x03, 0x18, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0x11223344, 0x55667788, 4 },
        { 0x04, 0x18, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0x11223344, 0x55667788, 8 },
        { 0x10, 0x10, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0, 0, 4 },
        { 0x11, 0x10, true, GCD_PROVIDER_WINDOWS, 0x4567, 3, 0, 0, 8 },
        { 0x12, 0x50, true, GCD_PROVIDER_OTHER, 0xbeef, 0x9a, 0x11223344, 0x55667788, 4 },
        { 0x13, 0x50, true, GCD_PROVIDER_OTHER, 0xbeef, 0x9a, 0x11223344, 0x55667788, 8 },
        { 0x0a, 0x30, true, GCD_PROVIDER_OTHER, 0x66, 0x89ab, 0x11223344, 0x55667788, 4 },
        { 0x14, 0x30, true, GCD_PROVIDER_OTHER, 0x66, 0x89ab, 0x11223344, 0x55667788, 8 },
        { 0x0b, 0x48, false, GCD_PROVIDER_OTHER, 0, 0, 0, 0, 4 },
        { 0x15, 0x48, false, GCD_PROVIDER_OTHER, 0, 0, 0, 0, 8 },
        { 0x16, 0x50, false, GCD_PROVIDER_OTHER, 0, 0, 0, 0, 0 },
        { 0x00, 0x50, false, GCD_PROVIDER_OTHER, 0, 0, 0, 0, 0 },
    };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        put_record(0, rows[i].type == 0 ? 0x40 : rows[i].type, rows[i].header, "payload", 7,
                   100 + i);
    finish();
    decode();
    assert_int_equal(seen.st, GCD_END);
    size_t at = 1; /* after the record of the header */
    for (size_t i = 0; i < n; i++) {
        const struct gcd_event *ev = &seen.events[at];
        if (!rows[i].event)
            continue;
        assert_true(ev->provider == rows[i].provider && ev->id == rows[i].id &&
                    ev->version == rows[i].version);
        assert_true(ev->thread == rows[i].thread && ev->process == rows[i].process &&
                    ev->ptr_bytes == rows[i].ptr_bytes);
        assert_true(ev->time_ns == 100 + (int64_t)i && ev->payload_bytes == 7);
        assert_memory_equal(seen.payloads[at], "payload", 7);
        assert_string_equal(seen.providers[at], rows[i].provider == GCD_PROVIDER_WINDOWS
                                                    ? "Windows Kernel"
                                                    : "{a3a2a1a0-a5a4-a7a6-a8a9-aaabacadaeaf}");
        at++;
    }
    assert_int_equal(seen.count, at);
    assert_true(seen.info.events == at && seen.info.damaged_buffers == 0);
}

/* Items between the header of an event and its payload; each says whether another one follows. */
static void items_before_the_payload(void **state)
{
    (void)state;
    static const struct {
        const char *items;
        size_t n;
        const char *payload;
    } rows[] = {
        { "\x08\0\x01\0\0\0\x02\0"
          "payload",
          15, "payload" },
        { "\x10\0\x01\0\0\0\x08\0"
          "12345678"
          "payload",
          23, "payload" },
        { "\x10\0\x01\0\x01\0\x08\0"
          "12345678"
          "\x08\0\x02\0\0\0\0\0"
          "payload",
          31, "payload" },
        { "\x08\0\x01\0\x01\0\0\0"
          "\x08\0\x01\0\x03\0\0\0"
          "\x09\0\x01\0\xfe\xff\0\0?"
          "payload",
          32, "payload" },
        /* smaller than its own header */
        { "\x08\0\x01\0\x01\0\0\0"
          "\x07\0\x01\0\0\0\0\0"
          "payload",
          23, "" },
        /* beyond the end */
        { "\x08\0\x01\0\x01\0\0\0"
          "\x18\0\x01\0\0\0\0\0"
          "payload",
          23, "" },
        { "\x0f\0\x01\0\0\0\0\0"
          "payload",
          15, "" },
    };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++) {
        uint8_t r[128] = { 0 };
        put16(r, (uint32_t)(0x50 + rows[i].n));
        r[2] = 0x13;
        r[3] = 0xc0;
        put16(r + 4, 1);
        put64(r + 0x10, OUT_FIRST_TICKS + i);
        put16(r + 0x28, (uint32_t)i);
        memcpy(r + 0x50, rows[i].items, rows[i].n);
        out_record(&out, 0, r, 0x50 + rows[i].n);
    }
    finish();
    decode();
    assert_true(seen.st == GCD_END && seen.count == n + 1);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(seen.events[i + 1].id, i);
        assert_int_equal(seen.events[i + 1].payload_bytes, strlen(rows[i].payload));
        assert_memory_equal(seen.payloads[i + 1], rows[i].payload, strlen(rows[i].payload));
    }
}

static void providers_by_guid(void **state)
{
    (void)state;
    static const struct {
        uint8_t guid[16];
        enum gcd_provider provider;
        const char *name;
    } rows[] = {
        { { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee,
            0x27, 0xe4 },
          GCD_PROVIDER_RUNTIME,
          "Microsoft-Windows-DotNETRuntime" },
        { { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4,
            0xdf, 0x18 },
          GCD_PROVIDER_RUNDOWN,
          "Microsoft-Windows-DotNETRuntimeRundown" },
        { { 0xa6, 0x28, 0xf5, 0x92, 0xb8, 0xf5, 0x60, 0x51, 0xa7, 0xee, 0xb3, 0x3d, 0xa7, 0x73,
            0x9e, 0x29 },
          GCD_PROVIDER_EVENTPIPE,
          "Microsoft-DotNETCore-EventPipe" },
        { { 0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee,
            0x27, 0xe5 },
          GCD_PROVIDER_OTHER,
          "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e5}" },
        { { 9 }, GCD_PROVIDER_OTHER, "{00000009-0000-0000-0000-000000000000}" },
        { { 5 }, GCD_PROVIDER_OTHER, "{00000005-0000-0000-0000-000000000000}" },
        { { 7 }, GCD_PROVIDER_OTHER, "{00000007-0000-0000-0000-000000000000}" },
        { { 5 }, GCD_PROVIDER_OTHER, "{00000005-0000-0000-0000-000000000000}" },
        { { 9 }, GCD_PROVIDER_OTHER, "{00000009-0000-0000-0000-000000000000}" },
    };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++) {
        uint8_t r[0x50] = { 0 };
        put32(r, 0xc0130050);
        put64(r + 0x10, OUT_FIRST_TICKS + i);
        memcpy(r + 0x18, rows[i].guid, 16);
        out_record(&out, 0, r, sizeof r);
    }
    finish();
    decode();
    assert_true(seen.st == GCD_END && seen.count == n + 1);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(seen.events[i + 1].provider, rows[i].provider);
        assert_string_equal(seen.providers[i + 1], rows[i].name);
    }
}

/* One provider for each GUID, whatever the order and repetition. */
static void more_providers_than_there_can_be(void **state)
{
    (void)state;
    enum { MOST = 16384 };
    uint8_t r[0x50] = { 0 };
    put32(r, 0xc0130050);
    for (unsigned i = 0; i < 2 * MOST + 1; i++) {
        put64(r + 0x10, OUT_FIRST_TICKS + i);
        /* a coprime step: each GUID twice, then a new one */
        put32(r + 0x18, i < 2 * MOST ? 1 + i * 7919 % MOST : 0);
        out_record(&out, 0, r, sizeof r);
    }
    finish();
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st;
    unsigned count = 0;
    assert_int_equal(gcd_input_from_memory(file.p, file.n, NULL, &in, NULL), GCD_OK);
    assert_int_equal(gcd_trace_open(in, NULL, &t, NULL), GCD_OK);
    while ((st = gcd_trace_next(t, &ev, &err)) == GCD_OK || st == GCD_NEED_MORE)
        if (st == GCD_OK)
            count++;
        else
            assert_int_equal(gcd_trace_fetch(t, NULL), GCD_OK);
    assert_int_equal(st, GCD_E_LIMIT);
    assert_string_equal(err.msg, "events of more than 16384 providers");
    assert_int_equal(count, 1 + 2 * MOST); /* with that of the header */
    gcd_trace_free(t);
    gcd_input_free(in);
}

/* ---- which processor a buffer belongs to ---- */

/*
 * Two buffers; the first one filled has the newer record.  If both belong to one processor they are
 * ordered by number, otherwise by time.
 */
static bool one_processor(unsigned flags, unsigned first, unsigned second)
{
    uint8_t *a = file.p + BUFFER, *b = a + BUFFER;
    put16(a + FLAGS_AT, flags);
    put16(b + FLAGS_AT, flags);
    put16(a + PROCESSOR_AT, first);
    put16(b + PROCESSOR_AT, second);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 3);
    assert_true(seen.payloads[1][0] + seen.payloads[2][0] == 'a' + 'b');
    return seen.payloads[1][0] == 'b';
}

static void processors_of_buffers(void **state)
{
    (void)state;
    put_record(0, 0x13, 0x50, "b", 1, 200);
    put_record(1, 0x13, 0x50, "a", 1, 100);
    finish();
    assert_int_equal(file.n, 3 * BUFFER);
    assert_true(one_processor(0x20, 5, 5));
    assert_false(one_processor(0x20, 5, 6));
    assert_false(one_processor(0x20, 5, 0x105)); /* 11 bits */
    assert_false(one_processor(0x20, 5, 0x405));
    assert_true(one_processor(0x20, 5, 0x805));
    assert_true(one_processor(0x20, 0x7ff, 0xffff));
    /* Windows 7: 8 bits, then the alignment */
    assert_true(one_processor(0, 0x0105, 0x0805));
    assert_false(one_processor(0, 0x0185, 0x0805));
    assert_false(one_processor(0, 0x0106, 0x0105));
}

/* Many processors with overlapping times: the older event first, of equal times the smaller
 * processor; each processor keeps its order. */
static void the_order_of_many_processors(void **state)
{
    (void)state;
    enum { CPUS = 21, EACH = 40 };
    static struct {
        uint64_t time;
        unsigned cpu, number;
    } rows[CPUS * EACH];
    uint64_t seed = 4;
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        uint64_t time = 100;
        for (unsigned i = 0; i < EACH; i++) {
            uint8_t payload[2] = { (uint8_t)cpu, (uint8_t)i };
            time += run_random(&seed) % 4;
            rows[cpu * EACH + i].time = time;
            put_record(cpu, 0x13, 0x50, payload, 2, time);
        }
    }
    finish();
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    gcd_status st;
    uint64_t last_time = 0;
    unsigned last_cpu = 0, next[CPUS] = { 0 }, count = 0;
    assert_int_equal(gcd_input_from_memory(file.p, file.n, NULL, &in, NULL), GCD_OK);
    assert_int_equal(gcd_trace_open(in, NULL, &t, NULL), GCD_OK);
    while ((st = gcd_trace_next(t, &ev, NULL)) == GCD_OK || st == GCD_NEED_MORE) {
        if (st == GCD_NEED_MORE) {
            assert_int_equal(gcd_trace_fetch(t, NULL), GCD_OK);
            continue;
        }
        if (ev.payload_bytes != 2) /* of the file's header */
            continue;
        unsigned cpu = ev.payload[0];
        assert_int_equal(ev.payload[1], next[cpu]++);
        uint64_t time = rows[cpu * EACH + ev.payload[1]].time;
        assert_true((uint64_t)ev.time_ns == time);
        assert_true(time > last_time || (time == last_time && cpu >= last_cpu));
        last_time = time;
        last_cpu = cpu;
        count++;
    }
    assert_true(st == GCD_END && count == CPUS * EACH);
    gcd_trace_free(t);
    gcd_input_free(in);
}

/* ---- the header of the file ---- */

static void fields_of_the_file(void **state)
{
    (void)state;
    put_record(0, 0x13, 0x50, "x", 1, 3000000000);
    finish();
    file.p[VERSION_AT] = 0x2b;
    put32(file.p + PROCESSORS_AT, 0x01020304);
    put32(file.p + LOST_EVENTS_AT, 7);
    put32(file.p + LOST_BUFFERS_AT, 9);
    put64(file.p + START_AT, UINT64_C(116444736000000000) + 12345); /* 1970, and 1.2345 ms */
    decode();
    assert_true(seen.st == GCD_END && seen.info.format_version == 0x2b &&
                seen.info.processors == 0x01020304 && seen.info.ptr_bytes == 8);
    assert_true(seen.info.lost_events == 7 && seen.info.lost_buffers == 9 &&
                seen.info.start_unix_ms == 1 && seen.info.bytes == file.n);
    assert_true(seen.info.has_sequence_numbers && seen.info.lost_threads == 0 &&
                seen.info.damage_off == GCD_OFF_NONE);
    assert_string_equal(seen.info.container, "etl");
    assert_true(seen.events[1].time_ns == INT64_C(3000000000));
    for (unsigned bytes = 0; bytes < 10; bytes++) {
        put32(file.p + POINTER_AT, bytes);
        decode();
        assert_int_equal(seen.st, bytes == 4 || bytes == 8 ? GCD_END : GCD_E_FORMAT);
        assert_true(seen.st != GCD_END || seen.info.ptr_bytes == bytes);
    }
}

static void clocks(void **state)
{
    (void)state;
    static const struct {
        unsigned clock;
        uint64_t frequency;
        gcd_status st;
        int64_t ns;
    } rows[] = {
        { 1, 1000000000, GCD_END, 20 },
        { 1, 10000000, GCD_END, 2000 },
        { 1, 1, GCD_END, INT64_C(20000000000) },
        { 1, 0, GCD_E_FORMAT, 0 },
        { 1, UINT64_C(18446744073), GCD_END, 1 },
        { 1, UINT64_C(18446744074), GCD_E_FORMAT, 0 },
        { 2, 0, GCD_END, 2000 },
        { 2, 1000, GCD_END, 2000 },
        { 3, 1000, GCD_E_UNSUPPORTED, 0 },
        { 4, 1000, GCD_END, 20000000 },
    };
    put_record(0, 0x13, 0x50, "x", 1, 20);
    finish();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put32(file.p + CLOCK_AT, rows[i].clock);
        put64(file.p + FREQUENCY_AT, rows[i].frequency);
        decode();
        assert_int_equal(seen.st, rows[i].st);
        if (rows[i].st == GCD_END)
            assert_true(seen.events[1].time_ns == rows[i].ns);
    }
}

static void ways_of_compression(void **state)
{
    (void)state;
    put_record(0, 0x13, 0x50, "x", 1, 20);
    finish();
    for (unsigned way = 0; way < 6; way++)
        for (unsigned compressed = 0; compressed < 2; compressed++) {
            put32(file.p + MODE_AT, compressed ? 0x04000001 : 1);
            put16(file.p + STATE_AT, way);
            decode();
            bool unknown = compressed && (way == 2 || way == 4);
            assert_int_equal(seen.st, unknown ? GCD_E_UNSUPPORTED : GCD_END);
            assert_true(!unknown || strstr(seen.err.msg, way == 2 ? "LZNT1" : "Huffman") != NULL);
        }
}

static void times(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX / 4;
    const struct {
        uint64_t frequency, first, ticks;
        int64_t ns;
    } rows[] = {
        { 1000000000, 1000, 1001, 1 },
        { 1000000000, 1000, 999, -1 },
        { 10000000, 5, 10000006, INT64_C(1000000100) },
        { 3, 0, 4, INT64_C(1333333333) },
        { 3, 4, 0, INT64_C(-1333333333) },
        { 1, 0, UINT64_MAX, most },
        { 1, UINT64_MAX, 0, -most },
        { 1, 0, UINT64_C(2305843009), INT64_C(2305843009000000000) },
        { 1, 0, UINT64_C(2305843010), most },
        { 1000000000, 0, (uint64_t)INT64_MAX / 4, most },
        { 1000000000, 0, (uint64_t)INT64_MAX / 4 - 1, most - 1 },
        { UINT64_C(18446744073), 0, UINT64_C(18446744072), INT64_C(999999999) },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_etl e = { .frequency = rows[i].frequency, .first_ticks = rows[i].first };
        int64_t ns = etl_time_ns(&e, rows[i].ticks);
        if (ns != rows[i].ns)
            fail_msg("row %zu: %lld", i, (long long)ns);
    }
    finish();
}

/* A file must begin with a header buffer that contains a header record. */
static void first_bytes(void **state)
{
    (void)state;
    finish();
    assert_true(etl_probe(file.p, ETL_HEAD_BYTES));
    assert_true(etl_probe(file.p, 0x68));
    assert_false(etl_probe(file.p, 0x67));
    static const struct {
        size_t at;
        uint8_t byte;
        bool good;
    } changes[] = {
        { 0x36, 5, false },   { 0x37, 1, false },   { 0x4b, 0xc1, false }, { 0x4a, 1, true },
        { 0x4a, 3, false },   { 0x4a, 0, false },   { 0x4e, 1, false },    { 0x4f, 1, false },
        { 0x48, 0xff, true }, { 0x34, 0xff, true },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t head[ETL_HEAD_BYTES];
        memcpy(head, file.p, sizeof head);
        head[changes[i].at] = changes[i].byte;
        assert_int_equal(etl_probe(head, sizeof head), changes[i].good);
    }
    uint8_t head[ETL_HEAD_BYTES];
    memcpy(head, file.p, sizeof head);
    for (uint32_t size = 0x60; size < 0x70; size++) {
        put32(head, size);
        assert_int_equal(etl_probe(head, sizeof head), size >= 0x68);
    }
}

/* ---- recordings in several files ---- */

/* The first N bytes of FILE, then all of SECOND. */
static void decode_both(size_t n, const struct tb_bytes *second)
{
    struct gcd_input *parts[2], *in;
    assert_int_equal(gcd_input_from_memory(file.p, n, NULL, &parts[0], NULL), GCD_OK);
    assert_int_equal(gcd_input_from_memory(second->p, second->n, NULL, &parts[1], NULL), GCD_OK);
    assert_int_equal(gcd_input_join(parts, 2, NULL, &in, NULL), GCD_OK);
    decode_input(in, NULL);
}

static void copy_file(struct tb_bytes *ret)
{
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    tb_put(ret, file.p, file.n);
}

/* The first file describes all of them; losses are added up. */
static void the_header_of_the_first_file_counts(void **state)
{
    (void)state;
    struct tb_bytes second;
    put_record(0, 0x13, 0x50, "x", 1, 20);
    finish();
    copy_file(&second);
    put64(second.p + RECORD_AT + 0x10, OUT_FIRST_TICKS + 5);
    second.p[VERSION_AT] = 0x77;
    put32(second.p + PROCESSORS_AT, 0x05060708);
    put32(second.p + POINTER_AT, 4);
    put64(second.p + START_AT, UINT64_C(116444736000000000) + 770000);
    put32(file.p + PROCESSORS_AT, 0x01020304);
    put64(file.p + START_AT, UINT64_C(116444736000000000) + 30000);
    file.p[VERSION_AT] = 5;
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *p = i == 0 ? file.p : second.p;
        put32(p + LOST_EVENTS_AT, 7 + i);
        put32(p + LOST_BUFFERS_AT, 9 + i);
    }
    decode_both(file.n, &second);
    assert_true(seen.st == GCD_END && seen.count == 4 && seen.info.bytes == 2 * file.n);
    assert_true(seen.info.format_version == 5 && seen.info.processors == 0x01020304 &&
                seen.info.ptr_bytes == 8);
    assert_true(seen.info.start_unix_ms == 3 && seen.info.lost_events == 15 &&
                seen.info.lost_buffers == 19);
    assert_true(seen.events[0].time_ns == 0 && seen.events[3].time_ns == 20);
    tb_free(&second);
}

static void files_with_different_clocks(void **state)
{
    (void)state;
    static const struct {
        unsigned clock;
        uint64_t frequency;
        bool same;
    } rows[] = {
        { 1, 10000000, true }, { 1, 10000001, false }, { 1, 9999999, false },
        { 1, 0, false },       { 2, 77, true },        { 4, 10000000, true },
    };
    struct tb_bytes second;
    put_record(0, 0x13, 0x50, "x", 1, 20);
    finish();
    copy_file(&second);
    put64(file.p + FREQUENCY_AT, 10000000);
    put32(file.p + CLOCK_AT, 1);
    put32(second.p + PROCESSORS_AT, 7); /* not the same file */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put32(second.p + CLOCK_AT, rows[i].clock);
        put64(second.p + FREQUENCY_AT, rows[i].frequency);
        decode_both(file.n, &second);
        assert_int_equal(seen.st, rows[i].same ? GCD_END : GCD_E_UNSUPPORTED);
        if (!rows[i].same)
            assert_string_equal(seen.err.msg, "file 2 has a different clock than the first one: "
                                              "they do not belong to one recording");
    }
    tb_free(&second);
}

/* The next file does not make up for a cut end. */
static void a_file_that_ends_before_the_next(void **state)
{
    (void)state;
    struct tb_bytes second;
    put_record(0, 0x13, 0x50, "x", 1, 20);
    finish();
    copy_file(&second);
    put32(second.p + PROCESSORS_AT, 7);
    for (size_t n = 0x68; n < LOST_BUFFERS_AT + 4; n += 4) {
        decode_both(n, &second);
        assert_true(seen.st == GCD_E_TRUNCATED && seen.err.off == n);
        assert_string_equal(seen.err.msg, "the file ends within its header");
    }
    /* exactly this much is unused space, less is the start of a header */
    tb_zeros(&file, 2 * RECORD_AT);
    for (size_t rest = 0; rest < 2 * RECORD_AT; rest += 4) {
        decode_both(second.n + rest, &second);
        assert_true(seen.count == 4);
        assert_int_equal(seen.st, rest == 0 || rest >= RECORD_AT ? GCD_END : GCD_E_TRUNCATED);
        assert_true(seen.info.trailing_bytes == (rest >= RECORD_AT ? rest : 0));
    }
    tb_free(&second);
}

/* ---- limits, and inputs that shrink ---- */

/* One buffer is kept for each processor: 16 blocks are enough for all of them. */
static void buffers_of_many_processors(void **state)
{
    (void)state;
    static const uint8_t payload[800];
    for (unsigned cpu = 0; cpu < 20; cpu++)
        put_record(cpu, 0x13, 0x50, payload, sizeof payload, 20 + cpu);
    finish();
    static const struct {
        uint64_t block;
        gcd_status st;
    } rows[] = { { 0, GCD_END }, { 4 * BUFFER, GCD_END }, { BUFFER, GCD_E_LIMIT } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        decode_within(&(struct gcd_limits){ .block_bytes = rows[i].block });
        assert_int_equal(seen.st, rows[i].st);
        assert_true(seen.st == GCD_END ||
                    strstr(seen.err.msg,
                           "the buffers of 21 processors take more than 16384 bytes") != NULL);
    }
}

/* Buffers that exist when the file is indexed and are gone when it is their turn: none gets the
 * records of another one. */
static void a_file_that_becomes_shorter(void **state)
{
    (void)state;
    char path[] = "/tmp/test-etl-XXXXXX";
    int fd = mkstemp(path);
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_trace_info info;
    gcd_status st;
    unsigned count = 0;
    static const uint8_t payload[700];
    for (unsigned i = 0; i < 4; i++)
        put_record(0, 0x13, 0x50, payload, sizeof payload, 20 + i);
    finish();
    assert_int_equal(file.n, 5 * BUFFER);
    assert_true(fd >= 0 && write(fd, file.p, file.n) == (ssize_t)file.n);
    assert_int_equal(gcd_input_open(path, NULL, &in, NULL), GCD_OK);
    assert_int_equal(gcd_trace_open(in, NULL, &t, NULL), GCD_OK);
    assert_int_equal(gcd_trace_fetch(t, NULL), GCD_OK);
    /* all headers have been read */
    assert_int_equal(gcd_trace_next(t, &ev, NULL), GCD_NEED_MORE);
    assert_int_equal(ftruncate(fd, 3 * BUFFER + RECORD_AT + 20), 0);
    while ((st = gcd_trace_next(t, &ev, NULL)) == GCD_OK || st == GCD_NEED_MORE)
        if (st == GCD_OK)
            count++;
        else
            assert_int_equal(gcd_trace_fetch(t, NULL), GCD_OK);
    gcd_trace_get_info(t, &info);
    assert_int_equal(count, 3);
    assert_int_equal(info.damaged_buffers, 2);
    gcd_trace_free(t);
    gcd_input_free(in);
    (void)close(fd);
    (void)unlink(path);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(fields_of_all_records),
        TEST(items_before_the_payload),
        TEST(providers_by_guid),
        TEST(more_providers_than_there_can_be),
        TEST(processors_of_buffers),
        TEST(the_order_of_many_processors),
        TEST(fields_of_the_file),
        TEST(clocks),
        TEST(ways_of_compression),
        TEST(times),
        TEST(first_bytes),
        TEST(the_header_of_the_first_file_counts),
        TEST(files_with_different_clocks),
        TEST(a_file_that_ends_before_the_next),
        TEST(buffers_of_many_processors),
        TEST(a_file_that_becomes_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
