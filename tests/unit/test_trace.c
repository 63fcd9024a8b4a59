/*
 * The public interface of the containers: detection, feeding and fetching, damage around the trace.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <gcdumpc/trace.h>
#include <gcdumpc/unstable/io/input_parts.h>

#include "support/tb.h"
#include "support/wrapped.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* A small trace of two threads; format 6 has other numbers for them than the system. */
static void make_trace(enum tb_format format, bool second_closed, struct tb_bytes *ret)
{
    struct tb t;
    tb_init(&t, format, 8);
    tb_event(&t, "Mine", 1, 0, "a", 1);
    t.thread = 8;
    tb_event(&t, "Mine", 1, 0, "b", 1);
    tb_lose(&t, 3);
    tb_event(&t, "Mine", 1, 0, "c", 1);
    if (!second_closed)
        t.thread_count = 1;
    tb_close(&t);
    *ret = t.out;
    t.out = (struct tb_bytes){ NULL, 0, 0 };
    tb_done(&t);
}

static void gzip(const struct tb_bytes *plain, struct tb_bytes *ret)
{
    z_stream z = { .next_in = plain->p, .avail_in = (uInt)plain->n };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    tb_zeros(ret, deflateBound(&z, (uLong)plain->n));
    z.next_out = ret->p;
    z.avail_out = (uInt)ret->n;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    ret->n = z.total_out;
    (void)deflateEnd(&z);
}

static gcd_status open_bytes(const void *p, size_t n, struct gcd_input **ret_in,
                             struct gcd_trace **ret)
{
    *ret = NULL;
    assert_int_equal(gcd_input_from_memory(p, n, NULL, ret_in, &err), GCD_OK);
    return gcd_trace_open(*ret_in, NULL, ret, &err);
}

/* Reads all events and all of the input after them, with the final status of both. */
static size_t read_all(struct gcd_trace *t, gcd_status *ret_trace, gcd_status *ret_input)
{
    struct gcd_event ev;
    size_t n = 0, asked = 0;
    *ret_input = GCD_OK;
    while ((*ret_trace = gcd_trace_next(t, &ev, &err)) == GCD_OK || *ret_trace == GCD_NEED_MORE) {
        n += *ret_trace == GCD_OK;
        if (*ret_trace == GCD_NEED_MORE && *ret_input == GCD_OK)
            *ret_input = gcd_trace_fetch(t, &err);
        else if (*ret_trace == GCD_NEED_MORE && asked++ > 3)
            break; /* it waits for more, but nothing follows */
    }
    while (*ret_input == GCD_OK)
        *ret_input = gcd_trace_fetch(t, &err);
    return n;
}

static void what_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        gcd_status st;
        const char *why;
    } rows[] = {
        { "PK\3\4........", 12, GCD_E_UNSUPPORTED, "ZIP" },
        { "PK\3\4", 4, GCD_E_UNSUPPORTED, "ZIP" },
        { "PK\3", 3, GCD_OK, "" },
        { "PK\3\5", 4, GCD_OK, "" },
        { "pK\3\4", 4, GCD_OK, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_input *in;
        struct gcd_trace *t;
        assert_int_equal(open_bytes(rows[i].text, rows[i].n, &in, &t), rows[i].st);
        assert_true(rows[i].st == GCD_OK || strstr(err.msg, rows[i].why) != NULL);
        gcd_trace_free(t);
        gcd_input_free(in);
    }
}

static void several_files(void **state)
{
    (void)state;
    struct tb_bytes plain, etl;
    make_trace(TB_V4, true, &plain);
    tb_etl(plain.p, plain.n, tb_etl_way(0), &etl);
    for (unsigned kind = 0; kind < 2; kind++)
        for (size_t n = 1; n <= 2; n++) {
            struct gcd_input *parts[2], *in;
            struct gcd_trace *t = NULL;
            for (size_t i = 0; i < n; i++)
                assert_int_equal(gcd_input_from_memory(kind == 0 ? plain.p : etl.p,
                                                       kind == 0 ? plain.n : etl.n, NULL, &parts[i],
                                                       &err),
                                 GCD_OK);
            assert_int_equal(gcd_input_join(parts, n, NULL, &in, &err), GCD_OK);
            assert_int_equal(gcd_trace_open(in, NULL, &t, &err),
                             kind == 0 && n == 2 ? GCD_E_UNSUPPORTED : GCD_OK);
            gcd_trace_free(t);
            gcd_input_free(in);
        }
    tb_free(&plain);
    tb_free(&etl);
}

/* A trace with an input cannot be fed; a trace that is fed cannot fetch. */
static void fed_or_fetched(void **state)
{
    (void)state;
    struct tb_bytes plain;
    struct gcd_input *in;
    struct gcd_trace *t;
    struct gcd_event ev;
    make_trace(TB_V4, true, &plain);
    assert_int_equal(open_bytes(plain.p, plain.n, &in, &t), GCD_OK);
    assert_int_equal(gcd_trace_feed(t, plain.p, plain.n, &err), GCD_E_STATE);
    assert_int_equal(gcd_trace_fetch(t, &err), GCD_OK);
    assert_int_equal(gcd_trace_next(t, &ev, &err), GCD_OK);
    assert_true(gcd_trace_position(t) == plain.n);
    gcd_trace_free(t);
    gcd_input_free(in);
    assert_int_equal(gcd_trace_new(NULL, &t, &err), GCD_OK);
    assert_int_equal(gcd_trace_fetch(t, &err), GCD_E_STATE);
    assert_int_equal(gcd_trace_feed(t, plain.p, 40, &err), GCD_OK);
    assert_int_equal(gcd_trace_next(t, &ev, &err), GCD_NEED_MORE);
    assert_true(gcd_trace_position(t) == 40);
    gcd_trace_finish(t);
    assert_int_equal(gcd_trace_next(t, &ev, &err), GCD_E_TRUNCATED);
    assert_int_equal(gcd_trace_feed(t, plain.p, 1, &err), GCD_E_STATE);
    gcd_trace_free(t);
    tb_free(&plain);
}

/* Gzip data that ends early or is wrong: the bytes before it are delivered, then both report it. */
static void damage_around_a_trace(void **state)
{
    (void)state;
    for (unsigned container = 0; container < 2; container++)
        for (unsigned damage = 0; damage < 3; damage++) {
            struct tb_bytes plain, etl, packed;
            struct gcd_input *in;
            struct gcd_trace *t;
            gcd_status trace, input;
            make_trace(TB_V4, true, &plain);
            tb_etl(plain.p, plain.n, tb_etl_way(0), &etl);
            gzip(container == 0 ? &plain : &etl, &packed);
            if (damage == 1)
                packed.n = packed.n * 3 / 4;
            if (damage == 2)
                packed.p[packed.n - 6] ^= 1; /* the sum of the content */
            assert_int_equal(open_bytes(packed.p, packed.n, &in, &t), GCD_OK);
            size_t events = read_all(t, &trace, &input);
            assert_true(events >= 3 || damage == 1);
            assert_int_equal(input, damage == 0   ? GCD_END
                                    : damage == 1 ? GCD_E_TRUNCATED
                                                  : GCD_E_FORMAT);
            if (container == 0)
                assert_int_equal(trace, damage == 1 ? GCD_E_TRUNCATED : GCD_END);
            gcd_trace_free(t);
            gcd_input_free(in);
            tb_free(&plain);
            tb_free(&etl);
            tb_free(&packed);
        }
}

/* A thread is found by the number in its events, whatever the container calls it. */
static void threads_that_are_closed(void **state)
{
    (void)state;
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (unsigned second = 0; second < 2; second++) {
            struct tb_bytes plain;
            struct gcd_input *in;
            struct gcd_trace *t;
            gcd_status trace, input;
            uint64_t first = v6 ? 5007 : 7, thread, events, lost;
            make_trace(v6 ? TB_V6 : TB_V4, second == 1, &plain);
            assert_int_equal(open_bytes(plain.p, plain.n, &in, &t), GCD_OK);
            assert_int_equal(read_all(t, &trace, &input), 3);
            assert_true(trace == GCD_END && input == GCD_END);
            assert_true(gcd_trace_thread_closed(t, first));
            assert_int_equal(gcd_trace_thread_closed(t, first + 1), second == 1);
            assert_false(gcd_trace_thread_closed(t, first + 2));
            assert_false(v6 && gcd_trace_thread_closed(t, 7));
            assert_true(gcd_trace_get_thread(t, 0, &thread, &events, &lost) && thread == 7 &&
                        events == 1 && lost == 0);
            assert_true(gcd_trace_get_thread(t, 1, &thread, &events, &lost) && thread == 8 &&
                        events == 2 && lost == 3);
            assert_false(gcd_trace_get_thread(t, 2, &thread, &events, &lost));
            gcd_trace_free(t);
            gcd_input_free(in);
            tb_free(&plain);
        }
}

/* A thread that only a sequence point names has no events. */
static void threads_without_events(void **state)
{
    (void)state;
    struct tb t;
    struct gcd_input *in;
    struct gcd_trace *trace;
    gcd_status st, input;
    tb_init(&t, TB_V4, 8);
    tb_event(&t, "Mine", 1, 0, "a", 1);
    t.thread = 0;
    tb_lose(&t, 1);
    tb_close(&t);
    assert_int_equal(open_bytes(t.out.p, t.out.n, &in, &trace), GCD_OK);
    assert_int_equal(read_all(trace, &st, &input), 1);
    assert_true(gcd_trace_thread_closed(trace, 7));
    assert_false(gcd_trace_thread_closed(trace, 0));
    gcd_trace_free(trace);
    gcd_input_free(in);
    tb_done(&t);
}

/* An .etl counts losses for the whole recording, not for each thread. */
static void threads_of_an_etl(void **state)
{
    (void)state;
    struct tb_bytes plain, etl;
    struct gcd_input *in;
    struct gcd_trace *t;
    gcd_status trace, input;
    uint64_t thread, events, lost;
    make_trace(TB_V4, true, &plain);
    for (unsigned unclosed = 0; unclosed < 2; unclosed++) {
        tb_etl(plain.p, plain.n, tb_etl_way(0), &etl);
        if (unclosed)
            memset(etl.p + 0x48 + 0x44, 0, 4); /* buffers written */
        assert_int_equal(open_bytes(etl.p, etl.n, &in, &t), GCD_OK);
        assert_false(gcd_trace_thread_closed(t, 7));
        assert_true(read_all(t, &trace, &input) >= 3);
        assert_true(trace == GCD_END && input == GCD_END);
        assert_int_equal(gcd_trace_thread_closed(t, 7), !unclosed);
        assert_false(gcd_trace_get_thread(t, 0, &thread, &events, &lost));
        gcd_trace_free(t);
        gcd_input_free(in);
        tb_free(&etl);
    }
    tb_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(several_files),
        cmocka_unit_test(fed_or_fetched),
        cmocka_unit_test(damage_around_a_trace),
        cmocka_unit_test(threads_that_are_closed),
        cmocka_unit_test(threads_without_events),
        cmocka_unit_test(threads_of_an_etl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
