#include "support/check.h"

#include <string.h>

#include "sites/follow.h"
#include "support/failalloc.h"
#include "support/site_trace.h"
#include "support/tb.h"

#include <gcdumpc/trace.h>

/* Feeds the trace T, from the event after the first N bytes on, to F. */
static gcd_status run_trace(struct follow *f, const struct tb *t, struct gcd_error *err)
{
    struct gcd_trace *trace;
    struct gcd_event ev;
    gcd_status st = gcd_trace_new(NULL, &trace, err);
    assert_int_equal(st, GCD_OK);
    gcd_trace_keep_stacks(trace);
    assert_int_equal(gcd_trace_feed(trace, t->out.p, t->out.n, err), GCD_OK);
    while (st == GCD_OK && (st = gcd_trace_next(trace, &ev, err)) == GCD_OK)
        st = follow_event(f, &ev, err);
    gcd_trace_free(trace);
    return st == GCD_NEED_MORE || st == GCD_END ? follow_flush(f, err) : st;
}

struct lab {
    struct tb t;
    struct follow f;
};

static void begin(struct lab *l)
{
    tb_init(&l->t, TB_V4, 8);
    follow_init(&l->f, NULL);
}

static void run(struct lab *l)
{
    struct gcd_error err = GCD_ERROR_INIT;
    tb_close(&l->t);
    assert_int_equal(run_trace(&l->f, &l->t, &err), GCD_OK);
}

static void done(struct lab *l)
{
    follow_done(&l->f);
    tb_done(&l->t);
}

/* What is left: ADDRESSES[N] in order, and how many are dead and lost. */
static void check(const struct lab *l, const uint64_t *addresses, size_t n, uint64_t dead,
                  uint64_t lost)
{
    assert_int_equal(l->f.sample_count, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(l->f.samples[i].address, addresses[i]);
    assert_int_equal(l->f.dead, dead);
    assert_int_equal(l->f.lost, lost);
}
#define LEFT(...) \
    (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static void test_samples_move_stay_and_die(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);  /* moves */
    site_sample(&l.t, SITE_SAMPLED, 0, 0x2000, 48);  /* stays */
    site_sample(&l.t, SITE_SAMPLED, 0, 0x3000, 48);  /* dies */
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);  /* is old: not condemned */
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90); /* large */
    site_collect(&l.t, 1, 0, 0,
                 TB_LIST(struct site_range, { 0x0ff8, 0x8ff8, 0x100 }, { 0x2000, 0, 48 }));
    run(&l);
    check(&l, LEFT(0x9000, 0x2000, 0xc000, 0x20000), 1, 0);
    done(&l);
}

static void test_a_full_collection_condemns_everything(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    site_collect(&l.t, 1, 2, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
    run(&l);
    check(&l, LEFT(0x1000), 2, 0);
    done(&l);
}

/* Memory of a dead object that is used again has ranges that end inside of it. */
static void test_the_whole_object_must_survive(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 49);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x2000, 48);
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }, { 0x2000, 0, 48 }));
    run(&l);
    check(&l, LEFT(0x2000), 1, 0);
    done(&l);
}

/* The sizes that ticks give for large and pinned objects are up to 64 bytes too large. */
static void test_ticks_of_large_objects_have_wrong_sizes(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_TICKS, 1, 0x20000, 100032);
    site_sample(&l.t, SITE_TICKS, 0, 0x1000, 56);
    site_collect(&l.t, 1, 2, 0,
                 TB_LIST(struct site_range, { 0x1000, 0, 48 }, { 0x20000, 0, 100000 }));
    run(&l);
    check(&l, LEFT(0x20000), 1, 0);
    done(&l);
}

static void test_a_background_collection_decides_about_old_and_earlier_objects_only(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48); /* young */
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48); /* old and dead */
    site_sample(&l.t, SITE_SAMPLED, 0, 0xd000, 48); /* old and alive */
    tb_gc_start_full(&l.t, 1, 2, 0, 1);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000); /* younger than the collection */
    /* a foreground collection in it: its ranges are its own */
    site_collect(&l.t, 2, 0, 2, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    site_ranges(&l.t, TB_LIST(struct site_range, { 0xd000, 0, 48 }));
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\1\0\0\0\2\0\0\0\1\0", 10);
    run(&l);
    check(&l, LEFT(0x8000, 0xd000, 0x20000), 1, 0);
    done(&l);
}

/* A foreground collection can lie between the ranges of a background one and its end. */
static void test_a_background_collection_judges_what_was_old_at_its_ranges(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x9000, 48); /* becomes old after the ranges */
    site_sample(&l.t, SITE_SAMPLED, 0, 0xd000, 48); /* old and dead */
    tb_gc_start_full(&l.t, 1, 2, 0, 1);
    tb_range(&l.t, 1, 0x8000, 0x4000, 0x4000);
    tb_range(&l.t, 2, 0xc000, 0x4000, 0x4000);
    site_ranges(&l.t, TB_LIST(struct site_range, { 0x9000, 0, 48 }));
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000); /* younger */
    site_collect(&l.t, 2, 1, 2, TB_LIST(struct site_range, { 0x9000, 0xe000, 48 }));
    site_collect(&l.t, 3, 1, 2, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\1\0\0\0\2\0\0\0\1\0", 10);
    run(&l);
    check(&l, LEFT(0xe000, 0x20000), 1, 0);
    done(&l);
}

/* A background collection that runs has freed it, but not said so yet. */
static void test_an_old_object_is_dead_when_another_one_is_moved_to_its_memory(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xd000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xd0c0, 48);
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0xd000, 0xc0 }));
    run(&l);
    check(&l, LEFT(0xd000, 0xc000, 0xd0c0), 1, 0);
    done(&l);
}

/* Also one that is allocated after the window, which is not a sample. */
static void test_a_large_object_is_dead_when_another_one_gets_its_address(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x30000, 90000);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    run(&l);
    check(&l, LEFT(0x30000, 0x20000), 1, 0);
    done(&l);
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    run(&l);
    check(&l, LEFT(0x20000), 0, 0);
    l.f.window_closed = true;
    tb_done(&l.t);
    tb_init(&l.t, TB_V4, 8);
    l.t.time_ns = 1000000;
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    run(&l);
    check(&l, NULL, 0, 1, 0);
    assert_int_equal(l.f.all, 1);
    done(&l);
}

/* The file has the events of one thread after the other. */
static void test_events_are_followed_in_the_order_of_their_times(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    l.t.time_ns = 10000;
    l.t.thread = 8;
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    l.t.thread = 7;
    l.t.time_ns = 5000;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    l.t.time_ns = 50000;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x3000, 48); /* after the collection */
    run(&l);
    check(&l, LEFT(0x8000, 0x3000), 0, 0);
    done(&l);
}

static void test_an_epoch_ends_at_a_sequence_point(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    tb_gc_start_full(&l.t, 1, 0, 0, 0);
    tb_range(&l.t, 0, 0x1000, 0x7000, 0x7000);
    tb_sequence_point(&l.t, 0);
    site_ranges(&l.t, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\1\0\0\0\0\0\0\0\1\0", 10);
    run(&l);
    check(&l, LEFT(0x8000), 0, 0);
    done(&l);
}

/* ---- loss ---- */

static void test_events_lost_in_a_collection_lose_what_is_followed(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    l.t.thread = 8;
    tb_gc_start_full(&l.t, 1, 0, 0, 0);
    tb_range(&l.t, 0, 0x1000, 0x7000, 0x7000);
    site_ranges(&l.t, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    tb_lose(&l.t, 1);
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\1\0\0\0\0\0\0\0\1\0", 10);
    l.t.thread = 7;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x4000, 48);
    run(&l);
    check(&l, LEFT(0x4000), 0, 1);
    done(&l);
}

static void test_lost_samples_lose_nothing_else(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    l.t.thread = 8;
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    l.t.thread = 7;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x4000, 48);
    tb_lose(&l.t, 5);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x5000, 48);
    run(&l);
    check(&l, LEFT(0x8000, 0x4000, 0x5000), 0, 0);
    assert_int_equal(l.f.gaps, 5);
    done(&l);
}

static void test_a_collection_that_is_missing_loses_what_is_followed(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_collect(&l.t, 3, 0, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
    run(&l);
    check(&l, NULL, 0, 0, 1);
    done(&l);
}

static void test_a_collection_without_ranges_loses_what_it_condemned(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
    site_collect(&l.t, 1, 1, 0, NULL, 0);
    run(&l);
    check(&l, LEFT(0xc000), 0, 1);
    done(&l);
}

static void test_damaged_ranges_lose_what_is_followed(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    tb_gc_start_full(&l.t, 1, 0, 0, 0);
    tb_event(&l.t, TB_RUNTIME, 22, 0, "\0\0\0\0\xff\xff\xff\xff\1\0", 10);
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\1\0\0\0\0\0\0\0\1\0", 10);
    run(&l);
    check(&l, NULL, 0, 0, 1);
    done(&l);
}

static void test_the_end_of_an_unknown_collection_that_began_before_is_harmless(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_ranges(&l.t, TB_LIST(struct site_range, { 0x5000, 0x6000, 48 }));
    tb_event(&l.t, TB_RUNTIME, 2, 1, "\4\0\0\0\2\0\0\0\1\0", 10);
    site_collect(&l.t, 5, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x8000, 48 }));
    run(&l);
    check(&l, LEFT(0x8000), 0, 0);
    done(&l);
}

/* A background collection began before the recording, and others lie in it: no sample is older. */
static void test_ranges_of_an_earlier_background_collection_are_harmless(void **state)
{
    (void)state;
    for (uint32_t full = 0; full < 2; full++) {
        struct lab l;
        begin(&l);
        site_collect(&l.t, 5, full * 2, 2, TB_LIST(struct site_range, { 0x5000, 0, 48 }));
        site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
        site_ranges(&l.t, TB_LIST(struct site_range, { 0xd000, 0, 48 }));
        tb_event(&l.t, TB_RUNTIME, 2, 1, "\4\0\0\0\2\0\0\0\1\0", 10);
        run(&l);
        if (full == 0)
            check(&l, LEFT(0xc000), 0, 0);
        else /* no background collection runs during a full one: a start is missing */
            check(&l, NULL, 0, 0, 1);
        done(&l);
    }
}

/* Without ranges, only what cannot move is still known. */
static void test_collections_that_were_not_followed(void **state)
{
    (void)state;
    static const struct {
        uint32_t depth;
        bool compacts;
        size_t left;
    } cases[] = { { 0, true, 3 }, { 1, true, 2 }, { 2, false, 2 }, { 2, true, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab l;
        begin(&l);
        site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
        site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
        site_sample(&l.t, SITE_SAMPLED, 0, 0x8000, 48);
        site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
        site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
        run(&l);
        follow_pass(&l.f, 2, cases[i].depth, cases[i].compacts);
        assert_int_equal(l.f.sample_count, cases[i].left);
        assert_int_equal(l.f.lost, 4 - cases[i].left);
        done(&l);
    }
}

/* The ranges of the generations come in no order after a collection, too. */
static void test_a_collection_that_was_not_followed_loses_its_generations_only(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    site_collect(&l.t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0, 48 }));
    tb_range(&l.t, 3, 0x20000, 0x20000, 0x20000);
    tb_range(&l.t, 2, 0xc000, 0x4000, 0x4000);
    tb_range(&l.t, 1, 0x8000, 0x4000, 0x4000);
    tb_range(&l.t, 0, 0x1000, 0x7000, 0x7000);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x1000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0x8000, 48);
    site_sample(&l.t, SITE_SAMPLED, 0, 0xc000, 48);
    site_sample(&l.t, SITE_SAMPLED, 1, 0x20000, 90000);
    run(&l);
    follow_pass(&l.f, 2, 1, true);
    check(&l, LEFT(0xc000, 0x20000), 0, 2);
    done(&l);
}

/* ---- estimates ---- */

static void test_the_chance_of_a_sample(void **state)
{
    (void)state;
    static const struct {
        uint64_t size;
        double chance; /* 1 - exp(-size / 102400) */
    } cases[] = { { 24, 2.3434754e-4 },
                  { 2024, 0.019571566 },
                  { 102400, 0.63212056 },
                  { 1024000, 0.9999546 },
                  { UINT64_C(1) << 40, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double p = follow_chance(cases[i].size), ratio = p / cases[i].chance;
        assert_true(ratio > 0.99999 && ratio < 1.00001);
    }
}

static void test_samples_of_one_stack_and_type_are_one_total(void **state)
{
    (void)state;
    struct lab l;
    begin(&l);
    tb_stacks(&l.t, TB_LIST(uint64_t, 0x100, 0x200, 0x300, 0x200), 2);
    for (uint32_t i = 0; i < 6; i++) {
        l.t.stack = 2 + i % 2;
        site_sample(&l.t, SITE_SAMPLED, 0, 0x1000 + i * 0x100, 48);
    }
    l.t.stack = 1;
    tb_sequence_point(&l.t, 0); /* numbers of stacks begin again */
    tb_stacks(&l.t, TB_LIST(uint64_t, 0x300, 0x200), 2);
    l.t.stack = 2;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x4000, 48);
    l.t.stack = 1;
    site_sample(&l.t, SITE_SAMPLED, 0, 0x5000, 48); /* the empty stack */
    run(&l);
    assert_int_equal(l.f.stack_count, 2);
    assert_int_equal(l.f.total_count, 3);
    assert_int_equal(l.f.totals[0].samples, 3);
    assert_int_equal(l.f.totals[1].samples, 4);
    assert_int_equal(l.f.totals[2].stack, GCD_SITE_NONE);
    assert_int_equal(l.f.addresses[l.f.stacks[1].off], 0x300);
    assert_string_equal(l.f.totals[0].type, "System.Byte[]");
    double objects = l.f.totals[0].objects * 48 / l.f.totals[0].bytes;
    assert_true(objects > 0.999 && objects < 1.001);
    done(&l);
}

/* No payload was kept yet, so there is no memory in which one could be. */
static void test_an_event_without_a_payload_comes_first(void **state)
{
    (void)state;
    static const uint16_t ids[] = { 1, 2, 10, 21, 22, 23, 303 };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct lab l;
        begin(&l);
        tb_event(&l.t, TB_RUNTIME, ids[i], 0, "", 0);
        run(&l);
        check(&l, NULL, 0, 0, 0);
        done(&l);
    }
}

static void test_every_allocation_can_fail(void **state)
{
    (void)state;
    struct tb t;
    site_trace(&t, SITE_SAMPLED);
    for (uint64_t n = 1;; n++) {
        struct failalloc a;
        struct follow f;
        struct gcd_error err = GCD_ERROR_INIT;
        failalloc_init(&a);
        a.fail_at = n;
        follow_init(&f, &a.alloc);
        gcd_status st = run_trace(&f, &t, &err);
        assert_int_equal(st, a.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        follow_done(&f);
        assert_null(failalloc_complaint(&a));
        if (a.failed == 0)
            break;
    }
    tb_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_move_stay_and_die),
        cmocka_unit_test(test_a_full_collection_condemns_everything),
        cmocka_unit_test(test_the_whole_object_must_survive),
        cmocka_unit_test(test_ticks_of_large_objects_have_wrong_sizes),
        cmocka_unit_test(test_a_background_collection_decides_about_old_and_earlier_objects_only),
        cmocka_unit_test(test_a_background_collection_judges_what_was_old_at_its_ranges),
        cmocka_unit_test(test_an_old_object_is_dead_when_another_one_is_moved_to_its_memory),
        cmocka_unit_test(test_a_large_object_is_dead_when_another_one_gets_its_address),
        cmocka_unit_test(test_events_are_followed_in_the_order_of_their_times),
        cmocka_unit_test(test_an_epoch_ends_at_a_sequence_point),
        cmocka_unit_test(test_events_lost_in_a_collection_lose_what_is_followed),
        cmocka_unit_test(test_lost_samples_lose_nothing_else),
        cmocka_unit_test(test_a_collection_that_is_missing_loses_what_is_followed),
        cmocka_unit_test(test_a_collection_without_ranges_loses_what_it_condemned),
        cmocka_unit_test(test_damaged_ranges_lose_what_is_followed),
        cmocka_unit_test(test_the_end_of_an_unknown_collection_that_began_before_is_harmless),
        cmocka_unit_test(test_ranges_of_an_earlier_background_collection_are_harmless),
        cmocka_unit_test(test_collections_that_were_not_followed),
        cmocka_unit_test(test_a_collection_that_was_not_followed_loses_its_generations_only),
        cmocka_unit_test(test_the_chance_of_a_sample),
        cmocka_unit_test(test_samples_of_one_stack_and_type_are_one_total),
        cmocka_unit_test(test_an_event_without_a_payload_comes_first),
        cmocka_unit_test(test_every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
