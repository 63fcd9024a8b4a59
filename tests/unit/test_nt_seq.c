/*
 * The counting of lost events, case by case.
 */
#include "base/mem.h"
#include "nettrace/nt.h"
#include "support/check.h"

static struct gcd_alloc alloc;
static struct nt_seq seq;

static int setup(void **state)
{
    (void)state;
    alloc = gcd_alloc_or_default(NULL);
    nt_seq_init(&seq, &alloc, 4);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    nt_seq_done(&seq, &alloc);
    return 0;
}

/* The time of the next event. */
static uint64_t ticks;

/* The gap before it. */
static uint32_t event(uint64_t thread, uint32_t number)
{
    uint32_t gap;
    struct nt_numbered e = {
        .thread = thread, .reported = thread, .ticks = ticks++, .number = number
    };
    assert_true(nt_seq_event(&seq, &alloc, &e, &gap));
    return gap;
}

static void point(uint64_t thread, uint32_t number)
{
    assert_true(nt_seq_point(&seq, &alloc, thread, number));
}

static void nothing_lost(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 100; n++) {
        event(7, n);
        event(8, n);
    }
    point(7, 100);
    point(8, 100);
    assert_true(seq.lost == 0 && seq.irregular == 0);
}

static void gaps_are_counted_per_thread(void **state)
{
    (void)state;
    event(7, 1);
    event(7, 5); /* 2, 3, 4 */
    event(8, 3); /* 1, 2: before its first event */
    assert_true(seq.lost == 5);
    assert_true(seq.threads[0].lost == 3 && seq.threads[1].lost == 2);
}

static void the_tail_shows_in_the_sequence_point(void **state)
{
    (void)state;
    event(7, 1);
    point(7, 584);
    point(9, 6); /* a thread whose events were all dropped */
    assert_true(seq.lost == 583 + 6);
    point(7, 584); /* reported again: counted once */
    event(7, 585);
    assert_true(seq.lost == 589);
}

static void a_sequence_point_is_a_lower_bound(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 10; n++)
        event(7, n);
    point(7, 8);
    assert_true(seq.lost == 0 && seq.irregular == 0);
}

static void a_reused_thread_id_is_no_loss(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 10; n++)
        event(7, n);
    event(7, 1);
    event(7, 2);
    point(7, 10); /* the dead owner is listed, too */
    point(7, 2);
    assert_true(seq.lost == 0 && seq.irregular == 0);
}

/* A copy of the first event has its number, too, but not a later time. */
static void a_doubled_first_event_is_no_reuse(void **state)
{
    (void)state;
    assert_int_equal(event(7, 1), 0);
    ticks--;
    assert_int_equal(event(7, 1), GCD_GAP_DISORDER);
    assert_true(seq.irregular == 1 && !seq.threads[0].has_old);
}

static void time_never_steps_back(void **state)
{
    (void)state;
    ticks = 100;
    event(7, 1);
    ticks = 99;
    assert_int_equal(event(7, 2), GCD_GAP_DISORDER);
    ticks = 100;
    assert_int_equal(event(7, 2), 0); /* the same tick is no step back */
    ticks = 5;
    event(8, 1); /* other threads have their own order */
    assert_true(seq.irregular == 1);
}

/* A loss reported by a sequence point or by a skipped event counts before the next event. */
static void gaps_are_passed_on(void **state)
{
    (void)state;
    assert_int_equal(event(7, 3), 2);
    point(7, 8);
    point(7, 10);
    assert_int_equal(event(7, 12), 8);
    assert_int_equal(event(7, 15), 2);
    nt_seq_pass_on(&seq, 2);
    assert_int_equal(event(7, 17), 3);
    nt_seq_pass_on(&seq, GCD_GAP_DISORDER);
    assert_int_equal(event(7, 18), GCD_GAP_DISORDER);
}

/* Is the end of every owner of an id known? */
static void owners_are_closed(void **state)
{
    (void)state;
    event(7, 1);
    event(7, 2);
    event(7, 1);
    point(7, 1);
    assert_true(seq.threads[0].closed && !seq.threads[0].old_closed);
    point(7, 2);
    assert_true(seq.threads[0].closed && seq.threads[0].old_closed);
    seq.points++;
    event(8, 1);
    point(8, 1);
    event(8, 1);
    assert_true(!seq.threads[1].closed && seq.threads[1].old_closed);
}

/* Both owners sent the same number: the first entry of a point belongs to the dead one, the second
 * to the living one. */
static void owners_of_equal_length_are_closed(void **state)
{
    (void)state;
    for (unsigned owner = 0; owner < 2; owner++)
        for (uint32_t n = 1; n <= 2; n++)
            event(7, n);
    point(7, 2);
    assert_true(!seq.threads[0].closed && seq.threads[0].old_closed);
    point(7, 2);
    assert_true(seq.threads[0].closed && seq.threads[0].old_closed && seq.lost == 0 &&
                seq.irregular == 0);
}

static void a_step_back_is_irregular(void **state)
{
    (void)state;
    event(7, 1);
    event(7, 2);
    point(7, 50);
    event(7, 3); /* still from the old buffer */
    assert_true(seq.lost == 48);
    assert_true(seq.irregular == 1);
}

static void numbers_wrap(void **state)
{
    (void)state;
    event(7, 1);
    seq.threads[0].last = UINT32_MAX - 1;
    seq.last_index = GCD_IDMAP_NONE;
    event(7, UINT32_MAX);
    event(7, 0);
    event(7, 1);
    event(7, 3);
    assert_true(seq.lost == 1 && seq.irregular == 0);
}

static void too_many_threads_are_told(void **state)
{
    (void)state;
    for (uint64_t t = 1; t <= 4; t++)
        event(t, 1);
    assert_false(seq.overflow);
    event(5, 1);
    assert_true(seq.overflow);
    assert_int_equal(seq.count, 4);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_lost),
        TEST(gaps_are_counted_per_thread),
        TEST(the_tail_shows_in_the_sequence_point),
        TEST(a_sequence_point_is_a_lower_bound),
        TEST(a_reused_thread_id_is_no_loss),
        TEST(a_step_back_is_irregular),
        TEST(a_doubled_first_event_is_no_reuse),
        TEST(time_never_steps_back),
        TEST(gaps_are_passed_on),
        TEST(owners_are_closed),
        TEST(owners_of_equal_length_are_closed),
        TEST(numbers_wrap),
        TEST(too_many_threads_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
