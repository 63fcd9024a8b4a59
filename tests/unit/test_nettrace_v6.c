/*
 * Threads, labels and sequence points of .nettrace format 6, field by field and at the limits of
 * what is valid.
 */
#include "support/nettrace_case.h"

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
    /* name, process 144, thread 145 */
    row_of("\x05\x01\x02"
           "ab"
           "\x02\x90\x01\x03\x91\x01",
           11);
    /* key and value, thread 7 */
    row_of("\x06\x04\x01"
           "k"
           "\x02"
           "vv"
           "\x03\x07",
           9);
    /* an unknown part ends it */
    row_of("\x07\x02\x08\x09\x03\x0a", 6);
    row_of("\x08", 1);
    tb_block_v6(&t, V6_THREADS, body.p, body.n);
    block_header(20, 1);
    for (uint64_t i = 5; i <= 8; i++)
        full_blob(1, i == 5 ? 0 : (uint32_t)-1, i, 500, "x");
    put_block();
    close_with(5, 1);
    decode();
    static const struct {
        uint64_t process, thread;
    } expected[] = { { 144, 145 }, { 1234, 7 }, { 8, 7 }, { 1234, 8 } };
    assert_true(seen.st == GCD_END && seen.count == 4 && seen.info.lost_events == 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(seen.events[i].process == expected[i].process &&
                    seen.events[i].thread == expected[i].thread);
}

static void as_many_threads_as_allowed(void **state)
{
    (void)state;
    for (uint64_t limit = 2; limit <= 4; limit++) {
        format(TB_V6, 8);
        describe_v6(1, "Mine", 77, NULL, 0); /* thread 7 */
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
    tb_put(&body, "\x8a\x65", 2); /* 40: version 101 */
    for (unsigned kind = 1; kind <= 3; kind++) {
        tb_u8(&body, kind);
        tb_zeros(&body, 16);
    }
    /* 41: version 102 after much else */
    tb_put(&body,
           "\x04"
           "12345678"
           "\x8a\x66",
           11);
    tb_put(&body,
           "\x05\x01"
           "k"
           "\x02"
           "vv"
           "\x8a\x67",
           8); /* 42 */
    tb_put(&body,
           "\x06\x01"
           "k"
           "\x90\x01\x8a\x68",
           7); /* 43 */
    tb_put(&body,
           "\x07\x01\x08"
           "12345678"
           "\x89\x05",
           13); /* 44: none */
    /* 45: version 106, then a level */
    tb_put(&body, "\x0a\x6a\x89\x01", 4);
    tb_put(&body, "\x8a\x6d", 2); /* after the last list */
    tb_block_v6(&t, V6_LABELS, body.p, body.n);
    body.n = 0;
    tb_u32(&body, 50);
    tb_u32(&body, 2);
    /* an unknown part ends the block, and its list is dropped */
    tb_put(&body, "\x0a\x6b\x8b\x6b\x8a\x6c", 6);
    tb_block_v6(&t, V6_LABELS, body.p, body.n);
    static const uint32_t lists[] = { 39, 40, 41, 42, 43, 44, 45, 46, 50, 51, 0 },
                          versions[] = { 2, 101, 102, 103, 104, 2, 106, 2, 2, 2, 2 };
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
        /* a sequence point ends the lists */
        if (round == 0) {
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

/* An event with label list LIST, thread index THREAD and sequence number NUMBER. */
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

/* An event with an unknown label list or thread: the block that defines it is lost or misplaced.
 * Other providers do not matter. */
static void events_of_the_runtime_that_lack_something(void **state)
{
    (void)state;
    static const struct {
        uint32_t list;
        uint64_t thread;
        size_t lists;
        bool doubtful;
    } rows[] = {
        { 0, 7, 0, false },
        { 40, 7, 0, false },
        { 41, 7, 0, false },
        { 42, 7, 0, true },
        { 39, 7, 0, true },
        { 0, 8, 0, true },
        { 40, 8, 0, true },
        /* more lists than are remembered, not counting those without a version */
        { 41, 7, 1, false },
    };
    for (unsigned other = 0; other < 2; other++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            format(TB_V6, 8);
            describe_v6(1, other ? "Mine" : TB_RUNTIME, 77, "\x09\x02", 2);
            body.n = 0;
            tb_u32(&body, 40);
            tb_u32(&body, 2);
            /* 40: version 101, 41: none */
            tb_put(&body,
                   "\x8a\x65"
                   "\x89\x05",
                   4);
            tb_block_v6(&t, V6_LABELS, body.p, body.n);
            blob_of_list(1, rows[i].thread, 1500, rows[i].list);
            close_with(rows[i].thread, 1);
            limits.metadata = rows[i].lists;
            decode();
            assert_true(seen.st == GCD_END && seen.count == 1);
            bool doubtful = rows[i].doubtful && !other;
            if (seen.info.irregular_steps != doubtful || seen.info.loss_verified == doubtful ||
                (seen.events[0].gap == GCD_GAP_DISORDER) != doubtful)
                fail_msg("row %zu", i);
        }
}

/* An index means one thread until that thread has ended. */
static void an_index_for_two_threads(void **state)
{
    (void)state;
    static const struct {
        const char *again;
        bool ended, doubtful;
    } rows[] = {
        { "\x07\x02\xd2\x09\x03\x07", false, false }, { "\x07\x02\xd2\x09\x03\x08", false, true },
        { "\x07\x02\xd3\x09\x03\x07", false, true },  { "\x07\x02\xd2\x09\x03\x08", true, false },
        { "\x07\x02\xd3\x09\x03\x07", true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format(TB_V6, 8);
        describe_v6(1, TB_RUNTIME, 77, NULL, 0); /* thread 7 of process 1234 */
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
        /* the numbers of the new owner start at 1 */
        assert_true(seen.info.irregular_steps == 0 && seen.info.lost_events == 2 * (flags & 1));
        assert_true(seen.events[0].thread == 10 && seen.events[0].process == 9);
        if (flags == 0)
            assert_int_equal(seen.count, 3);
        for (size_t i = 2; i < seen.count; i++)
            assert_true((seen.events[i].thread == 10) == (flags == 0) &&
                        (seen.events[i].process == 9) == (flags == 0));
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
    tb_varuint(&body, 4); /* three more were lost at its end */
    tb_varuint(&body, 8);
    tb_varuint(&body, 2); /* all of this one */
    tb_block_v6(&t, V6_REMOVED, body.p, body.n);
    block_header(20, 1);
    /* the next owner of the index, whose first two were lost */
    full_blob(1, 2, 7, 900, "x");
    put_block();
    close_with(7, 3);
    decode();
    assert_true(seen.st == GCD_END && seen.count == 2);
    assert_true(seen.info.lost_events == 7 && seen.info.lost_threads == 2 &&
                seen.info.irregular_steps == 0 && seen.info.loss_verified);
}

/* Blocks of format 6 that end inside a field, or with a row longer than the block. */
static void blocks_that_end_early(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind;
        const char *bytes;
        size_t n;
    } rows[] = {
        { V6_METADATA, "\0\0\x10\0\x01", 5 },
        { V6_METADATA, "\x08\0\0", 3 },
        { V6_THREADS, "\x09\0\x07\x02", 4 },
        { V6_THREADS, "\x09", 1 },
        { V6_REMOVED, "\x07", 1 },
        { V6_REMOVED, "\x07\x01\x88", 3 },
        { V6_LABELS, "\x01\0\0\0\x01\0\0\0", 8 },
        { V6_LABELS, "\x01\0\0\0\x01\0\0\0\x8a", 9 },
        { V6_LABELS,
          "\x01\0\0\0\x01\0\0\0\x01"
          "123",
          12 },
        { V6_LABELS, "\x01\0\0", 3 },
        { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0", 15 },
        { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0\0\x07", 17 },
        { V6_SEQUENCE_POINT, "12345678\0\0\0\0\x01\0\0\0\x87\x88", 18 },
        { V6_EVENTS, "\x14\0\x01", 3 },
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(threads_of_format_6),
        TEST(as_many_threads_as_allowed),
        TEST(labels_of_format_6),
        TEST(sequence_points_that_forget),
        TEST(ended_threads_of_format_6),
        TEST(blocks_that_end_early),
        TEST(events_of_the_runtime_that_lack_something),
        TEST(an_index_for_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
