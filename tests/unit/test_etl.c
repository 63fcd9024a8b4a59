/*
 * The parts of the .etl decoder: decompression, all kinds of records, times, files built by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/trace.h>

#include "etl/etl.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "support/wrapped.h"
#include "tools/nettrace2etl/etl_out.h"

/* ---- XPRESS ---- */

static void check_stream(const char *packed, size_t n, const char *plain, size_t plain_n)
{
    uint8_t out[2000];
    assert_true(plain_n <= sizeof out);
    assert_true(etl_xpress((const uint8_t *)packed, n, out, plain_n));
    assert_memory_equal(out, plain, plain_n);
    for (size_t cut = 0; cut < n; cut++)
        assert_false(etl_xpress((const uint8_t *)packed, cut, out, plain_n));
    assert_false(etl_xpress((const uint8_t *)packed, n, out, plain_n - 1));
    assert_false(etl_xpress((const uint8_t *)packed, n, out, plain_n + 1));
}

/* Streams written by hand from the specification: every encoding of a length. */
static void test_xpress_streams(void **state)
{
    (void)state;
    char ab[41] = "", a[1001], both[31] = "";
    for (int i = 0; i < 20; i++)
        strcat(ab, "ab");
    memset(a, 'a', sizeof a);
    for (int i = 0; i < 7; i++)
        strcat(both, "ab");
    for (int i = 0; i < 8; i++)
        strcat(both, "xy");
    check_stream("\xff\xff\xff\x03gcdump", 10, "gcdump", 6);
    check_stream("\xff\xff\xff\x3f"
                 "ab\x0f\x00\x0f\x0d",
                 10, ab, 40);
    check_stream("\xff\xff\xff\x27"
                 "ab\x0f\x00\x42xy\x0f\x00",
                 13, both, 30);
    check_stream("\xff\xff\xff\x7f"
                 "a\x07\x00\x0f\xff\xe4\x03",
                 11, a, 1000);
    check_stream("\xff\xff\xff\x7f"
                 "a\x07\x00\x0f\xff\x00\x00\xe4\x03\x00\x00",
                 15, a, 1000);
}

static void test_xpress_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *packed;
        size_t n;
    } bad[] = {
        /* a copy from before the start */
        { "\xff\xff\xff\x7f"
          "a\x08\x00",
          7 },
        /* a length that has a shorter encoding */
        { "\xff\xff\xff\x7f"
          "a\x07\x00\x0f\xff\x15\x00",
          11 },
        { "\xff\xff\xff\x7f"
          "a\x07\x00\x0f\xff\x00\x00\xff\xff\xff\xff",
          15 }, /* 4 GiB */
        { "\xff\xff\xff", 3 },
    };
    uint8_t out[64];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t n = 0; n <= sizeof out; n++)
            assert_false(etl_xpress((const uint8_t *)bad[i].packed, bad[i].n, out, n));
    assert_true(etl_xpress((const uint8_t *)"", 0, out, 0));
}

/* Round trip with our own compressor: texts of many lengths, near and far repeats. */
static void test_xpress_round(void **state)
{
    (void)state;
    static uint8_t plain[70000], packed[2 * sizeof plain + 8], out[sizeof plain];
    uint64_t seed = 1;
    for (size_t n = 0; n <= sizeof plain; n = n * 2 + 1)
        for (unsigned kind = 0; kind < 6; kind++) {
            for (size_t i = 0; i < n; i++) {
                uint64_t r = run_random(&seed);
                plain[i] = (uint8_t)(kind == 0   ? 0
                                     : kind == 1 ? r
                                     : kind == 2 ? r % 2
                                     : kind == 3 ? i / 300
                                     : kind == 4 ? i % 7
                                                 : i % 8000 * 7 >> 4);
            }
            size_t made = out_xpress(plain, n, packed);
            assert_true(etl_xpress(packed, made, out, n));
            assert_memory_equal(out, plain, n);
        }
}

/* ---- records ---- */

static struct gcd_cur cursor(const void *p, size_t n)
{
    return gcd_cur_make(p, n, 0);
}

static void test_record_sizes(void **state)
{
    (void)state;
    static const struct {
        unsigned type;
        size_t least;
        size_t size_at, ticks_at;
    } kinds[] = {
        { 0x01, 0x20, 4, 0x10 }, { 0x02, 0x20, 4, 0x10 }, { 0x03, 0x18, 4, 0x10 },
        { 0x04, 0x18, 4, 0x10 }, { 0x10, 0x10, 4, 8 },    { 0x11, 0x10, 4, 8 },
        { 0x12, 0x50, 0, 0x10 }, { 0x13, 0x50, 0, 0x10 }, { 0x0a, 0x30, 0, 0x10 },
        { 0x14, 0x30, 0, 0x10 },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t size = 0; size <= 0x60; size++) {
            uint8_t r[0x68] = { 0 };
            struct etl_record record;
            put16(r + kinds[i].size_at, (uint32_t)size);
            r[2] = (uint8_t)kinds[i].type;
            r[3] = 0xc0;
            put64(r + kinds[i].ticks_at, 0x123456789abcdef0);
            /* exactly the bytes it needs, and one fewer */
            struct gcd_cur c = cursor(r, size < 8 ? 8 : size);
            bool ok = etl_record_next(&c, &record);
            assert_int_equal(ok, size >= kinds[i].least);
            if (!ok)
                continue;
            assert_int_equal(record.bytes, size);
            assert_int_equal(record.ticks, 0x123456789abcdef0);
            assert_int_equal(gcd_cur_left(&c), 0);
            c = cursor(r, size - 1);
            assert_false(etl_record_next(&c, &record));
            c = cursor(r, sizeof r);
            assert_true(etl_record_next(&c, &record));
            assert_int_equal(gcd_cur_left(&c), sizeof r - (size + 7) / 8 * 8);
        }
}

static void test_record_ends(void **state)
{
    (void)state;
    struct etl_record record;
    static const uint8_t ends[][8] = { { 0 }, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
    for (size_t i = 0; i < 2; i++)
        for (size_t n = 0; n <= 8; n++) {
            struct gcd_cur c = cursor(ends[i], n);
            assert_true(etl_record_next(&c, &record));
            assert_int_equal(record.bytes, 0);
            assert_int_equal(gcd_cur_left(&c), 0);
        }
    static const uint8_t unmarked[8] = { 8, 0, 0x13, 0x40 };
    struct gcd_cur c = cursor(unmarked, 8);
    assert_false(etl_record_next(&c, &record));
    static const uint8_t wpp[8] = { 8, 0, 0, 0x90 };
    c = cursor(wpp, 8);
    assert_true(etl_record_next(&c, &record));
    assert_int_equal(record.bytes, 8);
}

/* ---- files ---- */

struct file {
    struct out out;
    struct tb_bytes bytes;
    FILE *stream;
};

static void file_begin(struct file *f)
{
    f->stream = tmpfile();
    assert_non_null(f->stream);
    out_begin(&f->out, f->stream,
              &(struct out_options){ .buffer_bytes = 1024,
                                     .start_filetime = UINT64_C(133000000000000000) });
}

static void file_end(struct file *f)
{
    assert_true(out_end(&f->out));
    tb_take_file(f->stream, &f->bytes);
}

/* An event of provider GUID[0] with a payload of one byte, its tag. */
static void put_event(struct file *f, size_t cpu, uint64_t ticks, unsigned type, unsigned id,
                      unsigned tag)
{
    uint8_t r[0x51] = { 0 };
    put16(r, sizeof r);
    r[2] = (uint8_t)type;
    r[3] = 0xc0;
    put32(r + 8, 7);
    put32(r + 0xc, 1234);
    put64(r + 0x10, OUT_FIRST_TICKS + ticks);
    r[0x18] = 0xaa;
    put16(r + 0x28, id);
    r[0x2a] = 3;
    r[0x50] = (uint8_t)tag;
    out_record(&f->out, cpu, r, sizeof r);
}

static void open_file(const struct file *f, struct gcd_input **ret_in, struct gcd_trace **ret)
{
    assert_int_equal(gcd_input_from_memory(f->bytes.p, f->bytes.n, NULL, ret_in, NULL), GCD_OK);
    assert_int_equal(gcd_trace_open(*ret_in, NULL, ret, NULL), GCD_OK);
}

static gcd_status next(struct gcd_trace *t, struct gcd_event *ev, struct gcd_error *err)
{
    gcd_status st;
    while ((st = gcd_trace_next(t, ev, err)) == GCD_NEED_MORE)
        assert_int_equal(gcd_trace_fetch(t, err), GCD_OK);
    return st;
}

/* Three processors, written one after another; events are ordered by time, then by processor. */
static void test_order(void **state)
{
    (void)state;
    static const unsigned times[][4] = { { 10, 20, 20, 90 }, { 5, 20, 30, 40 }, { 1, 2, 50, 90 } };
    static const unsigned expected[] = { 20, 21, 10, 0, 1, 2, 11, 12, 13, 22, 3, 23 };
    struct file f;
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_error err = GCD_ERROR_INIT;
    file_begin(&f);
    for (unsigned cpu = 0; cpu < 3; cpu++)
        for (unsigned i = 0; i < 4; i++)
            put_event(&f, cpu, times[cpu][i], 0x13, 1, 10 * cpu + i);
    file_end(&f);
    open_file(&f, &in, &t);
    assert_int_equal(next(t, &ev, &err), GCD_OK); /* of the header */
    assert_string_equal(ev.provider_name, "Windows Kernel");
    uint64_t off = ev.off;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(next(t, &ev, &err), GCD_OK);
        assert_int_equal(ev.payload_bytes, 1);
        assert_int_equal(ev.payload[0], expected[i]);
        assert_int_equal(ev.time_ns, times[expected[i] / 10][expected[i] % 10]);
        assert_true(ev.off > off);
        off = ev.off;
    }
    assert_int_equal(next(t, &ev, &err), GCD_END);
    assert_int_equal(gcd_trace_fetch(t, &err), GCD_END);
    struct gcd_trace_info info;
    gcd_trace_get_info(t, &info);
    assert_int_equal(info.events, 13);
    assert_int_equal(info.end, GCD_TRACE_CLOSED);
    assert_true(info.loss_verified);
    assert_int_equal(info.start_unix_ms, 1655526400000);
    gcd_trace_free(t);
    gcd_input_free(in);
    tb_free(&f.bytes);
}

static void test_event_fields(void **state)
{
    (void)state;
    struct file f;
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    file_begin(&f);
    put_event(&f, 0, 1, 0x12, 500, 0);
    put_event(&f, 0, 2, 0x13, 65535, 0);
    file_end(&f);
    open_file(&f, &in, &t);
    assert_int_equal(next(t, &ev, NULL), GCD_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(next(t, &ev, NULL), GCD_OK);
        assert_int_equal(ev.provider, GCD_PROVIDER_OTHER);
        assert_string_equal(ev.provider_name, "{000000aa-0000-0000-0000-000000000000}");
        assert_int_equal(ev.id, i == 0 ? 500 : 65535);
        assert_int_equal(ev.version, 3);
        assert_int_equal(ev.process, 1234);
        assert_int_equal(ev.thread, 7);
        assert_int_equal(ev.ptr_bytes, i == 0 ? 4 : 8);
    }
    gcd_trace_free(t);
    gcd_input_free(in);
    tb_free(&f.bytes);
}

/* A trace with an input cannot be fed, one without an input cannot fetch. */
static void test_two_ways(void **state)
{
    (void)state;
    struct file f;
    struct gcd_input *in;
    struct gcd_trace *t;
    file_begin(&f);
    file_end(&f);
    open_file(&f, &in, &t);
    assert_int_equal(gcd_trace_feed(t, "x", 1, NULL), GCD_E_STATE);
    gcd_trace_free(t);
    gcd_input_free(in);
    tb_free(&f.bytes);
    assert_int_equal(gcd_trace_new(NULL, &t, NULL), GCD_OK);
    assert_int_equal(gcd_trace_fetch(t, NULL), GCD_E_STATE);
    gcd_trace_free(t);
}

/* ---- buffers that claim to hold a lot ---- */

#define HEADER_SAYS 0x68u /* offset of the buffer size in the file header */

/* A compressed buffer with about 50 bytes after its header, which expands to CLAIM bytes including
 * the header; its first record is real. */
static void put_claim(struct tb_bytes *b, uint32_t claim, unsigned number, unsigned cpu)
{
    uint8_t head[ETL_BUFFER_HEADER] = { 0 }, record[0x18] = { 0 };
    put32(head, sizeof head + 4 + sizeof record + 2 + 2 + 2 + 4);
    put64(head + 0x18, number);
    put16(head + 0x28, cpu);
    put32(head + 0x30, claim);
    put16(head + 0x34, ETL_HAS_PROCESSOR | ETL_COMPRESSED);
    put16(record + 4, sizeof record);
    record[2] = 3;
    record[3] = 0xc0;
    put64(record + 0x10, OUT_FIRST_TICKS + number);
    tb_put(b, head, sizeof head);
    tb_u32(b, 0xff); /* 24 bytes, then a copy of the last one to the end */
    tb_put(b, record, sizeof record);
    tb_put(b, "\x07\x00\x0f\xff\x00\x00", 6);
    tb_u32(b, claim - ETL_BUFFER_HEADER - (uint32_t)sizeof record - 3);
}

/* The result for N such buffers of N processors in a file whose header declares buffers of ROOM
 * bytes. */
static gcd_status read_claims(uint32_t room, uint32_t claim, unsigned n, struct failalloc *alloc,
                              struct gcd_trace_info *ret_info)
{
    const struct gcd_limits limits = { .block_bytes = 1 << 20 };
    struct file f;
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb_bytes b = { 0 };
    gcd_status st;
    file_begin(&f);
    file_end(&f);
    tb_put(&b, f.bytes.p, f.bytes.n);
    put32(b.p + HEADER_SAYS, room);
    for (unsigned i = 0; i < n; i++)
        put_claim(&b, claim, i + 1, i);
    failalloc_init(alloc);
    assert_int_equal(
        gcd_input_from_memory(
            b.p, b.n, &(struct gcd_input_options){ .context.alloc = &alloc->alloc }, &in, NULL),
        GCD_OK);
    assert_int_equal(
        gcd_trace_open(in, &(struct gcd_context){ .alloc = &alloc->alloc, .limits = &limits }, &t,
                       NULL),
        GCD_OK);
    while ((st = next(t, &ev, &err)) == GCD_OK)
        continue;
    gcd_trace_get_info(t, ret_info);
    gcd_trace_free(t);
    gcd_input_free(in);
    tb_free(&b);
    tb_free(&f.bytes);
    assert_null(failalloc_complaint(alloc));
    return st;
}

/* A buffer is at most as large as the file header declares; if it declares nothing, the maximum
 * block size is the limit. */
static void test_larger_than_a_buffer(void **state)
{
    (void)state;
    static const struct {
        uint32_t room, claim;
        unsigned damaged;
    } cases[] = {
        { 4096, 4096, 0 },
        { 4096, 4097, 3 },
        { 4096, 1 << 20, 3 },
        { 0, 4097, 0 },
        { 0, (1 << 20) + ETL_BUFFER_HEADER + 1, 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failalloc alloc;
        struct gcd_trace_info info;
        assert_int_equal(read_claims(cases[i].room, cases[i].claim, 3, &alloc, &info), GCD_END);
        assert_int_equal(info.damaged_buffers, cases[i].damaged);
        assert_int_equal(info.end, GCD_TRACE_CLOSED);
    }
}

/* A small file never expands to much, at once or in sequence; buffers of a usual size may hold
 * anything. */
static void test_too_much_compression(void **state)
{
    (void)state;
    struct failalloc alloc;
    struct gcd_trace_info info;
    assert_int_equal(read_claims(1 << 20, 1 << 20, 1, &alloc, &info), GCD_END);
    assert_int_equal(read_claims(1 << 20, 1 << 20, 8, &alloc, &info), GCD_E_LIMIT);
    assert_int_equal(info.end, GCD_TRACE_CORRUPT);
    assert_in_range(alloc.peak_bytes, 1 << 20, 3 << 20);
    assert_int_equal(read_claims(65536, 65536, 200, &alloc, &info), GCD_END);
    assert_int_equal(info.damaged_buffers, 0);
}

/* ---- buffers that are misplaced, missing or doubled ---- */

#define AT_SEQUENCE         0x18u
#define AT_PROCESSOR        0x28u
#define AT_MODE             (OUT_HEADER + 0x20u + 0x20u)
#define AT_WRITTEN          (OUT_HEADER + 0x20u + 0x24u)
#define MODE_CIRCULAR       2u
#define MODE_SHARED_BUFFERS 0x10000000u

/* Picks buffers of a file, in any order, repeated or not; the first is the header's. */
struct deck {
    uint8_t buffers[32][1024];
    size_t count;
};

/* Three processors take turns, so that their buffers overlap in time: 4 buffers of 10 events each.
 * Tags are 0, 1, 2 … in the order of time. */
static void deal(struct deck *d)
{
    struct file f;
    file_begin(&f);
    for (unsigned i = 0; i < 120; i++)
        put_event(&f, i % 3, 10 * (i + 1), 0x13, 1, i);
    file_end(&f);
    assert_int_equal(f.bytes.n % 1024, 0);
    d->count = f.bytes.n / 1024;
    assert_int_equal(d->count, 13);
    memcpy(d->buffers, f.bytes.p, f.bytes.n);
    tb_free(&f.bytes);
}

static void remove_at(struct deck *d, size_t at)
{
    d->count--;
    memmove(d->buffers[at], d->buffers[at + 1], (d->count - at) * sizeof *d->buffers);
}

/* A copy of FROM before AT. */
static void copy_to(struct deck *d, size_t from, size_t at)
{
    uint8_t copy[1024];
    memcpy(copy, d->buffers[from], sizeof copy);
    memmove(d->buffers[at + 1], d->buffers[at], (d->count++ - at) * sizeof *d->buffers);
    memcpy(d->buffers[at], copy, sizeof copy);
}

static void swap_bytes(struct deck *d, size_t a, size_t b, size_t at, size_t n)
{
    uint8_t copy[1024];
    memcpy(copy, d->buffers[a] + at, n);
    memcpy(d->buffers[a] + at, d->buffers[b] + at, n);
    memcpy(d->buffers[b] + at, copy, n);
}

/* The result: the tags in order, and what the trace reports about itself. */
struct outcome {
    uint8_t tags[400];
    size_t count;
    gcd_status st;
    struct gcd_trace_info info;
};

static void play(const struct deck *d, struct outcome *ret)
{
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    *ret = (struct outcome){ .count = 0 };
    assert_int_equal(
        gcd_input_from_memory(d->buffers, d->count * sizeof *d->buffers, NULL, &in, NULL), GCD_OK);
    assert_int_equal(gcd_trace_open(in, NULL, &t, NULL), GCD_OK);
    while ((ret->st = next(t, &ev, NULL)) == GCD_OK)
        if (ev.provider == GCD_PROVIDER_OTHER) {
            assert_true(ret->count < sizeof ret->tags);
            ret->tags[ret->count++] = ev.payload[0];
        }
    gcd_trace_get_info(t, &ret->info);
    assert_int_equal(gcd_trace_position(t), d->count * sizeof *d->buffers);
    gcd_trace_free(t);
    gcd_input_free(in);
}

static bool is_whole(const struct outcome *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->tags[i] != i)
            return false;
    return o->count == 120;
}

/* The trace reports no problem. */
static bool is_trusted(const struct outcome *o)
{
    const struct gcd_trace_info *i = &o->info;
    return o->st == GCD_END && i->loss_verified && i->lost_buffers == 0 &&
           i->damaged_buffers == 0 && i->repeated_buffers == 0;
}

static bool has_no_tag_twice(const struct outcome *o)
{
    bool seen[256] = { false };
    for (size_t i = 0; i < o->count; i++) {
        if (seen[o->tags[i]])
            return false;
        seen[o->tags[i]] = true;
    }
    return true;
}

/* Each buffer a second time, at every position. */
static void test_doubled_buffer(void **state)
{
    (void)state;
    for (size_t from = 1; from < 13; from++)
        for (size_t at = 1; at <= 13; at++) {
            struct deck d;
            struct outcome o;
            deal(&d);
            copy_to(&d, from, at);
            play(&d, &o);
            assert_int_equal(o.st, GCD_END);
            assert_int_equal(o.info.repeated_buffers, 1);
            assert_int_equal(o.info.lost_buffers, 0);
            assert_int_equal(o.info.damaged_buffers, 0);
            assert_true(is_whole(&o));
        }
}

/* Each buffer replaced by each other one: the number of buffers is right. */
static void test_a_double_hides_no_loss(void **state)
{
    (void)state;
    for (size_t from = 1; from < 13; from++)
        for (size_t to = 1; to < 13; to++) {
            struct deck d;
            struct outcome o;
            deal(&d);
            memcpy(d.buffers[to], d.buffers[from], sizeof d.buffers[to]);
            play(&d, &o);
            assert_int_equal(o.info.repeated_buffers, from != to);
            assert_int_equal(o.info.lost_buffers, from != to);
            assert_int_equal(o.count, from != to ? 110 : 120);
            assert_true(has_no_tag_twice(&o));
        }
}

/* The position in the file does not matter. */
static void test_swapped_places(void **state)
{
    (void)state;
    for (size_t a = 1; a < 13; a++)
        for (size_t b = 1; b < 13; b++) {
            struct deck d;
            struct outcome o;
            deal(&d);
            swap_bytes(&d, a, b, 0, 1024);
            play(&d, &o);
            assert_true(is_trusted(&o) && is_whole(&o));
        }
}

/* Buffers with the number or the processor of another one: the events stay in order, or the trace
 * reports it. */
static void test_swapped_identities(void **state)
{
    (void)state;
    unsigned noticed = 0;
    for (size_t a = 1; a < 13; a++)
        for (size_t b = 1; b < a; b++)
            for (unsigned what = 0; what < 3; what++) {
                struct deck d;
                struct outcome o;
                deal(&d);
                if (what != 1)
                    swap_bytes(&d, a, b, AT_SEQUENCE, 8);
                if (what != 0)
                    swap_bytes(&d, a, b, AT_PROCESSOR, 2);
                play(&d, &o);
                assert_true(is_whole(&o) || !is_trusted(&o));
                assert_true(has_no_tag_twice(&o) && o.count == 120);
                noticed += !is_trusted(&o);
            }
    assert_true(noticed > 12);
}

/* A copy with a number of its own, and a header that counts it. */
static void test_copy_with_a_new_number(void **state)
{
    (void)state;
    for (size_t from = 1; from < 13; from++) {
        struct deck d;
        struct outcome o;
        deal(&d);
        copy_to(&d, from, 13);
        put64(d.buffers[13] + AT_SEQUENCE, 13);
        put32(d.buffers[0] + AT_WRITTEN, 14);
        play(&d, &o);
        assert_int_equal(o.info.damaged_buffers, 1);
        put32(d.buffers[0] + AT_MODE, MODE_SHARED_BUFFERS);
        play(&d, &o);
        assert_int_equal(o.info.damaged_buffers, 0);
    }
}

static void test_lost_buffers(void **state)
{
    (void)state;
    for (size_t at = 1; at < 13; at++) {
        struct deck d;
        struct outcome o;
        deal(&d);
        remove_at(&d, at);
        play(&d, &o); /* the file is shorter than its header says */
        assert_int_equal(o.st, GCD_E_TRUNCATED);
        assert_int_equal(o.info.lost_buffers, at < 12);
        put32(d.buffers[0] + AT_WRITTEN, 12);
        play(&d, &o);
        assert_int_equal(o.info.lost_buffers, at < 12);
        copy_to(&d, 1, 12); /* the right length */
        put32(d.buffers[0] + AT_WRITTEN, 13);
        play(&d, &o);
        assert_int_equal(o.st, GCD_END);
        assert_int_equal(o.info.lost_buffers, 1);
        assert_int_equal(o.info.repeated_buffers, 1);
        assert_true(has_no_tag_twice(&o));
    }
}

/* One buffer has a wrong number: that leaves a hole, and a duplicate or a number that the header
 * does not know. */
static void test_changed_number(void **state)
{
    (void)state;
    static const uint64_t numbers[] = { 0, 3, 12, 13, 40, UINT64_C(1) << 63, UINT64_MAX };
    for (size_t at = 0; at < 13; at++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct deck d;
            struct outcome o;
            deal(&d);
            put64(d.buffers[at] + AT_SEQUENCE, numbers[i]);
            play(&d, &o);
            assert_int_equal(is_trusted(&o), numbers[i] == at);
            assert_true(has_no_tag_twice(&o));
        }
}

/* Different buffers with the same number, at different positions: none of them is used. */
static void test_one_number_of_different_buffers(void **state)
{
    (void)state;
    for (size_t at = 1; at < 13; at++)
        for (size_t to = 1; to < 13; to++) {
            struct deck d;
            struct outcome o;
            if (at == to)
                continue;
            deal(&d);
            put64(d.buffers[at] + AT_SEQUENCE, to);
            play(&d, &o);
            assert_int_equal(o.info.repeated_buffers, 2);
            assert_int_equal(o.info.lost_buffers, 2);
            assert_int_equal(o.count, 100);
        }
}

/* The header counts fewer buffers than there are. */
static void test_more_buffers_than_counted(void **state)
{
    (void)state;
    struct deck d;
    struct outcome o;
    deal(&d);
    put32(d.buffers[0] + AT_WRITTEN, 12);
    play(&d, &o);
    assert_true(o.st == GCD_END && !o.info.loss_verified && is_whole(&o));
}

/* A circular file keeps its header and the newest buffers. */
static void test_circular_numbers(void **state)
{
    (void)state;
    for (size_t forgotten = 0; forgotten < 12; forgotten++) {
        struct deck d;
        struct outcome o;
        deal(&d);
        put32(d.buffers[0] + AT_MODE, MODE_CIRCULAR);
        for (size_t i = 0; i < forgotten; i++)
            remove_at(&d, 1);
        play(&d, &o);
        assert_true(is_trusted(&o) && o.count == 120 - 10 * forgotten);
        size_t left = d.count - 1;
        remove_at(&d, d.count - 1); /* a circular file never drops the newest */
        play(&d, &o);
        assert_int_equal(o.info.lost_buffers, left > 1 ? 1 : 12);
        if (left == 1)
            continue;
        copy_to(&d, 1, d.count);
        play(&d, &o);
        assert_true(o.info.lost_buffers == 1 && o.info.repeated_buffers == 1);
    }
}

/* A merged file can have records that are older than the one that describes it. */
static void test_older_than_the_header(void **state)
{
    (void)state;
    struct deck d;
    struct outcome o;
    deal(&d);
    put64(d.buffers[0] + OUT_HEADER + 0x10, OUT_FIRST_TICKS + 100000);
    play(&d, &o);
    assert_true(is_trusted(&o) && is_whole(&o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xpress_streams),
        cmocka_unit_test(test_xpress_refuses),
        cmocka_unit_test(test_xpress_round),
        cmocka_unit_test(test_record_sizes),
        cmocka_unit_test(test_record_ends),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_event_fields),
        cmocka_unit_test(test_two_ways),
        cmocka_unit_test(test_larger_than_a_buffer),
        cmocka_unit_test(test_too_much_compression),
        cmocka_unit_test(test_doubled_buffer),
        cmocka_unit_test(test_a_double_hides_no_loss),
        cmocka_unit_test(test_swapped_places),
        cmocka_unit_test(test_swapped_identities),
        cmocka_unit_test(test_copy_with_a_new_number),
        cmocka_unit_test(test_lost_buffers),
        cmocka_unit_test(test_changed_number),
        cmocka_unit_test(test_one_number_of_different_buffers),
        cmocka_unit_test(test_more_buffers_than_counted),
        cmocka_unit_test(test_circular_numbers),
        cmocka_unit_test(test_older_than_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
