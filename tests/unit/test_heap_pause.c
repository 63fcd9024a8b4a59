/*
 * How long the process was suspended: files not ordered by time, missing events.
 */
#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

static struct tb t;
static struct run r;

enum { GC_THREAD = 7, WALKER = 8, OTHER = 9 };

static int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    run_done(&r);
    tb_done(&t);
    return 0;
}

static void at(uint64_t thread, int64_t time_ns)
{
    t.thread = thread;
    t.time_ns = time_ns;
}

static void suspend(uint64_t thread, int64_t time_ns)
{
    static const uint8_t payload[10] = { 1 };
    at(thread, time_ns);
    tb_event(&t, TB_RUNTIME, 9, 1, payload, sizeof payload);
}

static void restart(uint64_t thread, int64_t time_ns)
{
    static const uint8_t payload[2];
    at(thread, time_ns);
    tb_event(&t, TB_RUNTIME, 3, 1, payload, sizeof payload);
}

static void gc_start(uint64_t thread, int64_t time_ns)
{
    at(thread, time_ns);
    tb_gc_start(&t, 1);
}

static void walk(uint64_t thread, int64_t time_ns)
{
    at(thread, time_ns);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    tb_gc_end(&t, 1);
}

/* Checks the pause of the walk, the sum of all pauses, and their number. */
static void expect(uint64_t pause_ns, uint64_t pauses_ns, uint64_t pauses)
{
    struct run_options how = { .check_references = true };
    tb_end(&t);
    run_trace(t.out.p, t.out.n, &how, &r);
    const char *wrong = run_check(&r);
    if (wrong != NULL)
        fail_msg("%s", wrong);
    assert_int_equal(r.facts.objects, 1);
    assert_true(r.facts.pause_ns == pause_ns);
    assert_true(r.facts.pauses_ns == pauses_ns);
    assert_true(r.facts.pauses == pauses);
}

static void from_suspension_to_restart(void **state)
{
    (void)state;
    suspend(GC_THREAD, 1000);
    gc_start(GC_THREAD, 2000);
    walk(GC_THREAD, 3000);
    restart(GC_THREAD, 90000);
    expect(89000, 89000, 1);
}

static void further_pauses_count_in_the_sum_only(void **state)
{
    (void)state;
    suspend(GC_THREAD, 100);
    restart(GC_THREAD, 150);
    suspend(GC_THREAD, 1000);
    gc_start(GC_THREAD, 2000);
    walk(GC_THREAD, 3000);
    restart(GC_THREAD, 90000);
    suspend(OTHER, 100000);
    restart(OTHER, 100700);
    expect(89000, 50 + 89000 + 700, 3);
}

/* Server GC: the thread that suspends is not the one that walks, and its buffer comes last. */
static void the_file_need_not_be_in_order(void **state)
{
    (void)state;
    walk(WALKER, 3000);
    suspend(OTHER, 100000);
    restart(OTHER, 100700);
    restart(GC_THREAD, 90000);
    gc_start(GC_THREAD, 2000);
    suspend(GC_THREAD, 1000);
    expect(89000, 89700, 2);
}

/* A thread that the GC does not suspend requests a pause of its own and waits for it. */
static void a_wait_during_a_pause_does_not_cut_it(void **state)
{
    (void)state;
    suspend(GC_THREAD, 1000);
    gc_start(GC_THREAD, 2000);
    walk(GC_THREAD, 3000);
    suspend(OTHER, 50000);
    restart(GC_THREAD, 90000);
    restart(OTHER, 91000);
    expect(89000, 89000, 1);
}

static void a_restart_that_was_lost_is_not_waited_for(void **state)
{
    (void)state;
    suspend(GC_THREAD, 10);
    suspend(GC_THREAD, 1000);
    gc_start(GC_THREAD, 2000);
    walk(GC_THREAD, 3000);
    restart(GC_THREAD, 90000);
    expect(89000, 89000, 1);
}

static void marks_that_are_missing(void **state)
{
    (void)state;
    restart(OTHER, 50);
    gc_start(GC_THREAD, 2000);
    walk(GC_THREAD, 3000);
    restart(GC_THREAD, 90000);
    suspend(GC_THREAD, 95000);
    expect(0, 0, 0);
}

/* Mono describes the heap after the threads run again. */
static void a_walk_described_after_the_restart(void **state)
{
    (void)state;
    suspend(GC_THREAD, 1000);
    gc_start(GC_THREAD, 2000);
    restart(GC_THREAD, 9000);
    walk(GC_THREAD, 20000);
    expect(8000, 8000, 1);
}

static void many_pauses(void **state)
{
    (void)state;
    enum { N = 3000 };
    for (int64_t i = 0; i < N; i++)
        suspend(GC_THREAD, (i + 1) * 1000000);
    gc_start(WALKER, 500 * 1000000 + 5);
    walk(WALKER, 500 * 1000000 + 20);
    for (int64_t i = 0; i < N; i++)
        restart(OTHER, (N - i) * 1000000 + (N - i));
    expect(500, (uint64_t)N * (N + 1) / 2, N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(from_suspension_to_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(further_pauses_count_in_the_sum_only, setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_need_not_be_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wait_during_a_pause_does_not_cut_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_restart_that_was_lost_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_that_are_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_walk_described_after_the_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(many_pauses, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
