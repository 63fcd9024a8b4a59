/*
 * The plan of a collection for each runtime version; what the three kinds of sessions request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ipc/collect/ipc_plan.h"

static void test_versions(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        enum gcd_ipc_strategy strategy;
        enum gcd_wire_command command;
        bool flush, needs_6, late_answer;
    } want[] = {
        { NULL, GCD_IPC_STRATEGY_SINGLE, GCD_WIRE_COLLECT_TRACING2, false, false, false },
        { "", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING2, false, false, true },
        { "7.0.20", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING2, false, false, true },
        { "8.0.31", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING2, true, false, true },
        { "9.0.20+abcdef", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING4, true, false, true },
        { "10.0.12", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING5, true, false, true },
        { "11.0.0-preview.3.1", GCD_IPC_STRATEGY_SINGLE, GCD_WIRE_COLLECT_TRACING6, true, true,
          false },
        { "12.1.0", GCD_IPC_STRATEGY_SINGLE, GCD_WIRE_COLLECT_TRACING6, true, true, false },
        /* not a version: the newest command, and the plan that suits most runtimes */
        { "main", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING6, false, false, false },
        { "10", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING6, false, false, false },
        { "99999999999999999999999.1", GCD_IPC_STRATEGY_DRAIN, GCD_WIRE_COLLECT_TRACING6, false,
          false, false },
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct gcd_ipc_collect_options o = { .strategy = GCD_IPC_STRATEGY_AUTO };
        struct gcd_plan plan = gcd_plan_make(&o, want[i].version);
        assert_int_equal(plan.strategy, want[i].strategy);
        assert_int_equal(plan.command, want[i].command);
        assert_int_equal(plan.flush, want[i].flush);
        assert_int_equal(plan.single_needs_6, want[i].needs_6);
        assert_int_equal(plan.answers_after_walk, want[i].late_answer);
        for (o.strategy = GCD_IPC_STRATEGY_SINGLE; o.strategy <= GCD_IPC_STRATEGY_DRAIN;
             o.strategy++) {
            plan = gcd_plan_make(&o, want[i].version);
            assert_int_equal(plan.strategy, o.strategy);
            assert_false(plan.single_needs_6);
        }
    }
    struct gcd_ipc_collect_options only_records = { .strategy = GCD_IPC_STRATEGY_DRAIN,
                                                    .keywords = 0x100001 };
    assert_int_equal(gcd_plan_make(&only_records, "10.0.1").strategy, GCD_IPC_STRATEGY_SINGLE);
    assert_false(gcd_plan_make(&only_records, "10.0.1").answers_after_walk); /* there is none */
    assert_string_equal(gcd_ipc_strategy_name(GCD_IPC_STRATEGY_AUTO), "auto");
    assert_string_equal(gcd_ipc_strategy_name(GCD_IPC_STRATEGY_SINGLE), "single");
    assert_string_equal(gcd_ipc_strategy_name(GCD_IPC_STRATEGY_DRAIN), "drain");
}

/* Every session before the walk leaves objects in the heap, so alone there is none where one is
 * enough. */
static void test_alone_nothing_is_opened_before_the_walk(void **state)
{
    (void)state;
    struct gcd_ipc_collect_options o = { .alone = true,
                                         .most_bytes = UINT64_C(256) << 20,
                                         .buffer_mb = 256 };
    struct gcd_plan plan = gcd_plan_make(&o, "10.0.1");
    assert_true(plan.strategy == GCD_IPC_STRATEGY_SINGLE && !plan.flush);
    plan = gcd_plan_make(&o, "8.0.1");
    assert_true(plan.strategy == GCD_IPC_STRATEGY_SINGLE && !plan.flush);
    o.buffer_mb = 255; /* it may not fit */
    plan = gcd_plan_make(&o, "10.0.1");
    assert_true(plan.strategy == GCD_IPC_STRATEGY_DRAIN && plan.flush);
    o.buffer_mb = 4095;
    o.most_bytes++; /* a large heap: draining saves more memory than the objects take */
    plan = gcd_plan_make(&o, "10.0.1");
    assert_true(plan.strategy == GCD_IPC_STRATEGY_DRAIN && plan.flush);
    o.most_bytes = 0; /* not known */
    assert_int_equal(gcd_plan_make(&o, "10.0.1").strategy, GCD_IPC_STRATEGY_DRAIN);
    o.strategy = GCD_IPC_STRATEGY_SINGLE;
    assert_false(gcd_plan_make(&o, "10.0.1").flush);
    o.alone = false; /* another client may have taken the types */
    assert_true(gcd_plan_make(&o, "10.0.1").flush);
}

/* One session if everything fits into the buffer, but only where a second one costs GCs, and only
 * if the caller leaves the choice. */
static void test_what_fits_needs_no_draining(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        uint64_t most_bytes;
        uint32_t buffer_mb;
        enum gcd_ipc_strategy strategy;
    } want[] = {
        { "8.0.1", UINT64_C(256) << 20, 256, GCD_IPC_STRATEGY_SINGLE },
        { "8.0.1", (UINT64_C(256) << 20) + 1, 256, GCD_IPC_STRATEGY_DRAIN },
        { "9.0.1", 1, 1, GCD_IPC_STRATEGY_SINGLE },
        { "9.0.1", 0, 4095, GCD_IPC_STRATEGY_DRAIN },
        { "", 1000, 1, GCD_IPC_STRATEGY_SINGLE },
        { "9.0.1", UINT64_C(1) << 30, 0, GCD_IPC_STRATEGY_SINGLE },
        { "10.0.1", 1000, 256, GCD_IPC_STRATEGY_DRAIN },
        { "main", 1000, 256, GCD_IPC_STRATEGY_DRAIN },
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct gcd_ipc_collect_options o = { .most_bytes = want[i].most_bytes,
                                             .buffer_mb = want[i].buffer_mb };
        assert_int_equal(gcd_plan_make(&o, want[i].version).strategy, want[i].strategy);
        o.strategy = GCD_IPC_STRATEGY_DRAIN;
        assert_int_equal(gcd_plan_make(&o, want[i].version).strategy, GCD_IPC_STRATEGY_DRAIN);
    }
}

/* Offsets in a CollectTracing5 request with the runtime's provider: see test_ipc_wire. */
enum {
    OFF_BUFFER = 24,
    OFF_RUNDOWN = 32,
    OFF_STACKS = 40,
    OFF_KEYWORDS = 45,
    OFF_LEVEL = 53,
    OFF_FILTER = 129
};

static uint64_t number(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    while (n-- > 0)
        v = v << 8 | p[n];
    return v;
}

static void expect_request(const struct gcd_ipc_collect_options *o, enum gcd_ipc_strategy strategy,
                           enum gcd_leg leg, uint64_t keywords, uint32_t buffer_mb,
                           uint64_t rundown, int only, uint32_t n_ids)
{
    struct gcd_plan_request r;
    assert_int_equal(gcd_plan_encode(o, strategy, leg, GCD_WIRE_COLLECT_TRACING5, &r, NULL),
                     GCD_OK);
    assert_int_equal(number(r.bytes + OFF_BUFFER, 4), buffer_mb);
    assert_int_equal(number(r.bytes + OFF_RUNDOWN, 8), rundown);
    assert_int_equal(r.bytes[OFF_STACKS], 0);
    assert_int_equal(number(r.bytes + OFF_KEYWORDS, 8), keywords);
    assert_int_equal(number(r.bytes + OFF_LEVEL, 4), 4);
    assert_int_equal(r.bytes[OFF_FILTER], only);
    assert_int_equal(number(r.bytes + OFF_FILTER + 1, 4), n_ids);
    assert_int_equal(r.n, OFF_FILTER + 5 + 4 * n_ids);
}

static void test_requests(void **state)
{
    (void)state;
    enum { WANTED = 18 };
    struct gcd_ipc_collect_options o = { .buffer_mb = 300 };
    expect_request(&o, GCD_IPC_STRATEGY_SINGLE, GCD_LEG_RECORD, 0x1980001, 300, 8, 1, WANTED);
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD, 0x1180001, 300, 8, 1, WANTED);
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_TRIGGER, 0x800000, 1, 0, 1, 0);
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_FLUSH, 1, 1, 0, 1, 0);
    o = (struct gcd_ipc_collect_options){ .ranges = true };
    expect_request(&o, GCD_IPC_STRATEGY_SINGLE, GCD_LEG_RECORD, 0x1d80001, 1024, 8, 1, WANTED);
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD, 0x1580001, 1024, 8, 1, WANTED);
    o = (struct gcd_ipc_collect_options){ .no_modules = true };
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD, 0x1180001, 1024, 0, 1, WANTED);
    o.rundown = true; /* who asks for them gets them */
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD, 0x1180001, 1024, 8, 1, WANTED);
    o = (struct gcd_ipc_collect_options){ .keywords = 0x800001 };
    expect_request(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD, 1, 1024, 8, 0, 0);
}

/* Its reader can be stopped or killed, so the runtime must never wait for it. */
static void test_the_runtime_does_not_wait_for_its_reader(void **state)
{
    (void)state;
    struct gcd_ipc_collect_options o = { .buffer_mb = 16 };
    for (int leg = 0; leg < GCD_LEG_COUNT; leg++)
        for (int how = GCD_IPC_STRATEGY_SINGLE; how <= GCD_IPC_STRATEGY_DRAIN; how++) {
            struct gcd_plan_request r;
            assert_int_equal(gcd_plan_encode(&o, (enum gcd_ipc_strategy)how, (enum gcd_leg)leg,
                                             GCD_WIRE_COLLECT_TRACING6, &r, NULL),
                             GCD_OK);
            assert_int_equal(number(r.bytes + r.n - 4, 4), 0); /* sessionBufferMode: drop */
        }
}

/* The requested events, one by one: the runtime would not complain about one that is missing. */
static void test_wanted_events(void **state)
{
    (void)state;
    static const uint32_t ids[] = { 1,  2,  3,  4,  9,  15,  16,  17,  18,
                                    19, 23, 36, 37, 38, 152, 154, 187, 205 };
    struct gcd_ipc_collect_options o = { .level = 5 };
    struct gcd_plan_request r;
    assert_int_equal(gcd_plan_encode(&o, GCD_IPC_STRATEGY_SINGLE, GCD_LEG_RECORD,
                                     GCD_WIRE_COLLECT_TRACING5, &r, NULL),
                     GCD_OK);
    assert_int_equal(number(r.bytes + OFF_LEVEL, 4), 5);
    assert_int_equal(number(r.bytes + OFF_FILTER + 1, 4), sizeof ids / sizeof *ids);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_int_equal(number(r.bytes + OFF_FILTER + 5 + 4 * i, 4), ids[i]);
}

/* The full rundown only where there is nothing better, and only on request. */
static void test_rundown_of_old_runtimes(void **state)
{
    (void)state;
    for (int rundown = 0; rundown <= 1; rundown++) {
        const struct gcd_ipc_collect_options o = { .rundown = rundown != 0 };
        struct gcd_plan_request r;
        assert_int_equal(gcd_plan_encode(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_RECORD,
                                         GCD_WIRE_COLLECT_TRACING2, &r, NULL),
                         GCD_OK);
        assert_int_equal(r.n, 117);
        assert_int_equal(r.bytes[28], rundown);
        assert_int_equal(gcd_plan_encode(&o, GCD_IPC_STRATEGY_DRAIN, GCD_LEG_TRIGGER,
                                         GCD_WIRE_COLLECT_TRACING2, &r, NULL),
                         GCD_OK);
        assert_int_equal(r.bytes[28], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_what_fits_needs_no_draining),
        cmocka_unit_test(test_alone_nothing_is_opened_before_the_walk),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_the_runtime_does_not_wait_for_its_reader),
        cmocka_unit_test(test_wanted_events),
        cmocka_unit_test(test_rundown_of_old_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
