/*
 * When a heap walk is complete, and the reasons when it is not: tables of cases at the limit of
 * each condition.
 */
#include "support/walk_case.h"

/* ---- what makes it incomplete ---- */

/* An event too short to be read counts as missing; events that are never read do not matter. */
static void events_that_are_too_short(void **state)
{
    (void)state;
    static const struct {
        uint32_t id;
        size_t least;
        bool matters;
    } rows[] = {
        { 1, 8, true },    { 2, 4, true },    { 15, 6, true },   { 16, 10, true },
        { 17, 10, true },  { 18, 10, true },  { 19, 10, true },  { 36, 6, true },
        { 38, 14, true },  { 37, 6, true },   { 152, 26, true }, { 154, 30, true },
        { 187, 25, true }, { 205, 12, true }, { 23, 25, true },  { 4000, 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned outside = 0; outside < 2; outside++) {
            static const uint8_t zeros[64];
            anew(TB_V4);
            if (outside == 0)
                tb_gc_start(&t, 1);
            else
                tb_event(&t, TB_RUNTIME, rows[i].id, 0, zeros, rows[i].least - 1);
            if (outside == 1)
                tb_gc_start(&t, 1);
            small_walk(24);
            if (outside == 0)
                tb_event(&t, TB_RUNTIME, rows[i].id, 0, zeros, rows[i].least - 1);
            tb_gc_end(&t, 1);
            tb_close(&t);
            run();
            assert_int_equal(because(GCD_REASON_EVENTS_DAMAGED), rows[i].matters);
            assert_true(r.facts.objects == 1 && (!rows[i].matters || !r.verdict.complete));
            assert_true(r.objects_st == GCD_END && r.object_count == 1 && r.write_st == GCD_OK);
        }
}

/* A record that is announced but absent, for each kind of event with records. */
static void records_that_are_not_there(void **state)
{
    (void)state;
    static const struct {
        uint32_t id;
        size_t count_at, records;
    } rows[] = {
        { 15, 0, 6 },  { 16, 4, 10 }, { 17, 4, 10 }, { 18, 4, 10 },
        { 19, 4, 10 }, { 36, 0, 6 },  { 38, 0, 14 },
    };
    /* size of the smallest record */
    static const size_t sizes[] = { 31, 21, 24, 32, 12, 44, 30 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t have = sizes[i] - 1; have <= sizes[i]; have++) {
            uint8_t payload[128] = { 0 };
            payload[rows[i].count_at] = 1;
            anew(TB_V4);
            tb_gc_start(&t, 1);
            small_walk(24);
            payload[rows[i].records] = rows[i].id == 18; /* an address */
            if (rows[i].id == 18 || rows[i].id == 19)
                payload[0] = 1; /* the next number */
            tb_event(&t, TB_RUNTIME, rows[i].id, 0, payload, rows[i].records + have);
            tb_gc_end(&t, 1);
            tb_close(&t);
            run();
            if (because(GCD_REASON_EVENTS_DAMAGED) != (have < sizes[i]))
                fail_msg("event %u with %zu of %zu bytes", rows[i].id, have, sizes[i]);
        }
}

/* Holes in the numbers of each kind, at the start and in the middle; the amount is the number of
 * events. */
static void holes_of_each_kind(void **state)
{
    (void)state;
    static const enum gcd_reason_code codes[TB_BULKS] = {
        [TB_ROOTS] = GCD_REASON_ROOT_EVENTS_MISSING,
        [TB_DEPENDENTS] = GCD_REASON_DEPENDENT_EVENTS_MISSING,
        [TB_NODES] = GCD_REASON_NODE_EVENTS_MISSING,
        [TB_EDGES] = GCD_REASON_EDGE_EVENTS_MISSING,
    };
    for (unsigned kind = 0; kind < TB_BULKS; kind++)
        for (unsigned at = 0; at < 3; at++) {
            anew(TB_V4);
            tb_gc_start(&t, 1);
            tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
            for (unsigned i = 0; i < 3; i++) {
                if (i == at)
                    t.index[kind] += 2 + i;
                tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * i, 24, 0x100, 0 }));
                tb_edges(&t, NULL, 0);
                tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
                tb_dependents(&t, TB_LIST(struct tb_dependent, { 0x1000, 0x1018 }));
            }
            tb_gc_end(&t, 1);
            tb_close(&t);
            run();
            assert_false(r.verdict.complete);
            for (unsigned other = 0; other < TB_BULKS; other++)
                assert_int_equal(because(codes[other]), other == kind);
            for (size_t i = 0; i < r.verdict.reason_count; i++)
                if (r.verdict.reasons[i].code == codes[kind])
                    assert_true(r.verdict.reasons[i].amount == 2 + at);
        }
}

/* A count is exact if all losses are in the holes, and a minimum if something else was lost, too.
 */
static void losses_that_are_accounted_for(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        t.index[TB_EDGES] += 2;
        tb_lose(&t, 2 + more);
        tb_edges(&t, TB_LIST(uint64_t, 0x1000));
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_false(r.verdict.complete);
        assert_true(because(GCD_REASON_EVENTS_LOST) && because(GCD_REASON_EDGE_EVENTS_MISSING));
        assert_int_equal(r.facts.objects_lost_exact, more == 0 && r.facts.objects_lost == 0);
        assert_true(r.facts.trace.lost_events == 2 + more);
    }
}

static void references_that_do_not_add_up(void **state)
{
    (void)state;
    for (uint64_t declared = 1; declared <= 3; declared++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, declared }));
        tb_edges(&t, TB_LIST(uint64_t, 0x1000, 0x1000));
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_int_equal(r.verdict.complete, declared == 2);
        assert_int_equal(because(GCD_REASON_EDGES_UNBALANCED), declared != 2);
        assert_true(r.facts.edges == 2 && r.facts.edges_declared == declared);
        assert_int_equal(r.objects[0].targets, declared == 2 ? 2 : 0);
    }
}

/* Counts of one event whose sum overflows 64 bits must not look like "no references". */
static void references_beyond_all_sums(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, UINT64_C(1) << 63 },
                         { 0x1018, 24, 0x100, UINT64_C(1) << 63 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_EDGES_UNBALANCED) && r.facts.edges_declared == UINT64_MAX);
}

/* Numbers of one kind that repeat, step back or start too late. */
static void numbers_out_of_order(void **state)
{
    (void)state;
    static const struct {
        uint32_t numbers[3];
        bool good;
    } rows[] = {
        { { 0, 1, 2 }, true },  { { 0, 1, 1 }, false }, { { 0, 2, 1 }, false },
        { { 1, 2, 3 }, false }, { { 0, 0, 1 }, false }, { { 2, 1, 0 }, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned kind = 0; kind < TB_BULKS; kind++) {
            anew(TB_V4);
            tb_gc_start(&t, 1);
            tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
            if (kind != TB_NODES)
                tb_nodes(&t,
                         TB_LIST(struct tb_node, { 0x1000, 24, 0x100, kind == TB_EDGES ? 3 : 0 }));
            for (unsigned k = 0; k < 3; k++) {
                t.index[kind] = rows[i].numbers[k];
                if (kind == TB_NODES)
                    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * k, 24, 0x100, 0 }));
                else if (kind == TB_EDGES)
                    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
                else if (kind == TB_ROOTS)
                    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
                else
                    tb_dependents(&t, TB_LIST(struct tb_dependent, { 0x1000, 0x1018 }));
            }
            tb_gc_end(&t, 1);
            tb_close(&t);
            run();
            if (r.verdict.complete != rows[i].good)
                fail_msg("row %zu, kind %u", i, kind);
        }
}

static void limits_of_a_walk(void **state)
{
    (void)state;
    for (uint64_t limit = 2; limit <= 4; limit++)
        for (unsigned kind = 0; kind < 3; kind++) {
            struct gcd_limits limits = { .types = 0 };
            *(kind == 0 ? &limits.objects : &limits.roots) = limit;
            anew(TB_V4);
            tb_gc_start(&t, 1);
            tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
            for (unsigned i = 0; i < 3; i++) {
                tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * i, 24, 0x100, 0 }));
                if (kind == 1)
                    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
                if (kind == 2)
                    tb_dependents(&t, TB_LIST(struct tb_dependent, { 0x1000, 0x1018 }));
            }
            tb_gc_end(&t, 1);
            tb_close(&t);
            how.limits = &limits;
            run_trace(t.out.p, t.out.n, &how, &r);
            assert_int_equal(r.st, limit >= 3 ? GCD_OK : GCD_E_LIMIT);
            run_done(&r);
        }
}

/* A live session may be stopped once the GC has ended, not at the first objects. */
static void when_a_walk_is_whole(void **state)
{
    (void)state;
    struct gcd_dump *d;
    tb_gc_start_full(&t, 1, 1, 0, 0); /* not requested */
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_gc_start(&t, 2);
    small_walk(24);
    tb_flush(&t);
    size_t objects_end = t.out.n, whole = 0;
    tb_gc_end(&t, 2);
    tb_close(&t);
    assert_int_equal(gcd_dump_new(NULL, &d, NULL), GCD_OK);
    for (size_t i = 0; i < t.out.n && whole == 0; i++) {
        gcd_status st = gcd_dump_feed(d, t.out.p + i, 1, NULL);
        assert_true(st == GCD_OK || st == GCD_END);
        whole = st == GCD_END ? i + 1 : 0;
        if (i + 1 == objects_end) /* two walks: types, nodes, edges */
            assert_int_equal(gcd_dump_walk_events(d), 6);
    }
    assert_true(whole > objects_end);
    gcd_dump_free(d);
}

/* ---- texts of the reasons ---- */

static void expect_reason(enum gcd_reason_code code, uint64_t amount, const char *text)
{
    run();
    assert_false(r.verdict.complete);
    for (size_t i = 0; i < r.verdict.reason_count; i++)
        if (r.verdict.reasons[i].code == code) {
            assert_string_equal(r.verdict.reasons[i].text, text);
            assert_true(r.verdict.reasons[i].amount == amount);
            return;
        }
    fail_msg("no reason: %s", text);
}

/* A walk, and events of other threads, some of them lost. */
static void walk_with_losses(uint32_t first, uint32_t second, bool closed)
{
    anew(TB_V4);
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    for (unsigned i = 0; i < 2; i++) {
        t.thread = 20 + i;
        tb_event(&t, "Mine", 1, 0, "x", 1);
        tb_lose(&t, i == 0 ? first : second);
        tb_event(&t, "Mine", 1, 0, "x", 1);
    }
    if (closed)
        tb_close(&t);
    else
        tb_end(&t);
}

static void texts_about_lost_events(void **state)
{
    (void)state;
    walk_with_losses(1, 0, true);
    expect_reason(GCD_REASON_EVENTS_LOST, 1, "1 event of 1 thread were lost in the target");
    walk_with_losses(2, 3, true);
    expect_reason(GCD_REASON_EVENTS_LOST, 5, "5 events of 2 threads were lost in the target");
    walk_with_losses(2, 0, false);
    expect_reason(GCD_REASON_EVENTS_LOST, 2,
                  "at least 2 events of 1 thread were lost in the target");
    assert_false(because(GCD_REASON_LOSS_UNVERIFIED));
    walk_with_losses(0, 0, false);
    expect_reason(GCD_REASON_LOSS_UNVERIFIED, 0,
                  "the final count of events is missing, so lost events cannot be ruled out");
    walk_with_losses(0, (uint32_t)-2, true);
    expect_reason(
        GCD_REASON_LOSS_UNVERIFIED, 1,
        "the recording contradicts itself in 1 place, so lost events cannot be ruled out");
    anew(TB_V3);
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_close(&t);
    expect_reason(GCD_REASON_LOSS_UNVERIFIED, 0,
                  "this format has no sequence numbers, so lost events cannot be detected");
}

static void texts_about_what_was_not_read(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        for (unsigned i = 0; i < n; i++)
            tb_event(&t, TB_RUNTIME, 36, 0, "", 0);
        tb_gc_end(&t, 1);
        for (unsigned i = 0; i < n; i++)
            tb_event_by_meta(&t, 99, "x", 1);
        tb_close(&t);
        expect_reason(GCD_REASON_EVENTS_DAMAGED, n,
                      n == 1 ? "1 heap event could not be decoded"
                             : "2 heap events could not be decoded");
        expect_reason(GCD_REASON_EVENTS_UNKNOWN, n,
                      n == 1 ? "1 event has no description" : "2 events have no description");
        anew(TB_V4);
        tb_gc_start(&t, 1);
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }, { 0x1018, 24, 0x100, 0 },
                             { 0x1030, 24, 0x100 + n - 1, 0 }));
        tb_gc_end(&t, 1);
        tb_close(&t);
        expect_reason(GCD_REASON_TYPES_UNDESCRIBED, n,
                      n == 1 ? "1 type of 3 objects has no description and no name"
                             : "2 types of 3 objects have no description and no name");
    }
    anew(TB_V4);
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_close(&t);
    t.out.n--;
    char text[80];
    (void)snprintf(text, sizeof text, "the recording ends early, at byte %zu", t.out.n);
    expect_reason(GCD_REASON_TRACE_TRUNCATED, t.out.n, text);
}

static void names_and_modules_have_limits(void **state)
{
    (void)state;
    static const struct gcd_limits text = { .text_bytes = 40 }, types = { .types = 2 };
    for (unsigned kind = 0; kind < 4; kind++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        small_walk(24);
        tb_gc_end(&t, 1);
        for (uint64_t i = 0; i < 2 + kind % 2; i++)
            tb_module(&t, 0x500 + i, kind < 2 ? "0123456789.dll" : "m");
        tb_close(&t);
        how.limits = kind < 2 ? &text : &types;
        run_trace(t.out.p, t.out.n, &how, &r);
        assert_int_equal(r.st, kind % 2 == 0 ? GCD_OK : GCD_E_LIMIT);
        assert_true(kind % 2 == 0 ||
                    strstr(r.err.msg, kind == 1 ? "names in the trace" : "2 modules") != NULL);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(references_beyond_all_sums),    TEST(events_that_are_too_short),
        TEST(records_that_are_not_there),    TEST(holes_of_each_kind),
        TEST(losses_that_are_accounted_for), TEST(references_that_do_not_add_up),
        TEST(numbers_out_of_order),          TEST(limits_of_a_walk),
        TEST(when_a_walk_is_whole),          TEST(texts_about_lost_events),
        TEST(texts_about_what_was_not_read), TEST(names_and_modules_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
