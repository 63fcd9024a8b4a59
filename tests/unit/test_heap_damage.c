/*
 * Doubled, misplaced and cut blocks and events: what must not be called complete, and which
 * references are dropped.  sweep_damage.c tries thousands of combinations; here each kind of damage
 * is alone.
 */
#include <string.h>

#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"
#include "support/wrapped.h"

static struct tb t;
static struct run r;

static void begin(enum tb_format format)
{
    tb_init(&t, format, 8);
}

static int teardown(void **state)
{
    (void)state;
    run_done(&r);
    tb_done(&t);
    return 0;
}

static void anew(enum tb_format format)
{
    run_done(&r);
    tb_done(&t);
    begin(format);
}

static void run(void)
{
    run_trace(t.out.p, t.out.n, NULL, &r);
    const char *wrong = run_check(&r);
    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static bool because(enum gcd_reason_code code)
{
    for (size_t i = 0; i < r.verdict.reason_count; i++)
        if (r.verdict.reasons[i].code == code)
            return true;
    return false;
}

static void statics(void)
{
    tb_statics(&t, TB_LIST(struct tb_static, { 0x1000, 0x10, 0x100, "cache" }));
}

static void one_object(void)
{
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
}

/* The first block of the walk twice: its numbers start at 1 again, as for a thread with a reused
 * id, but its times step back. */
static void the_first_block_twice(void **state)
{
    (void)state;
    begin(TB_V6_PLAIN);
    tb_gc_start(&t, 1);
    tb_flush(&t);
    t.thread = 8;
    size_t from = t.out.n;
    statics();
    tb_flush(&t);
    size_t n = t.out.n - from;
    struct tb_bytes copy = { NULL, 0, 0 };
    tb_put(&copy, t.out.p + from, n);
    tb_put(&t.out, copy.p, n);
    tb_free(&copy);
    one_object();
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && because(GCD_REASON_EVENTS_MISPLACED));
    assert_true(r.facts.trace.irregular_steps > 0);
}

/* An id that is really reused: the new owner's events are later than the old one's.  The old one's
 * count must be known before it is dropped. */
static void a_reused_thread_id_stays_complete(void **state)
{
    (void)state;
    for (unsigned told = 0; told < 2; told++) {
        anew(TB_V4);
        t.thread = 8;
        tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
        tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
        if (told)
            tb_sequence_point(&t, 0);
        for (size_t i = 0; i < t.thread_count; i++)
            if (t.threads[i].id == 8)
                t.threads[i].number = 0;
        tb_gc_start(&t, 1);
        statics();
        one_object();
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_true(r.facts.statics == 1 && r.facts.trace.loss_verified);
        assert_int_equal(r.verdict.complete, told);
        assert_int_equal(because(GCD_REASON_LOSS_UNVERIFIED), !told);
    }
}

/* Format 6: the block that defines a thread index comes too late. */
static void an_index_without_a_thread(void **state)
{
    (void)state;
    begin(TB_V6);
    tb_gc_start(&t, 1);
    statics();
    one_object();
    tb_gc_end(&t, 1);
    tb_close(&t);
    for (size_t at = 20; at + 4 < t.out.n;) { /* thread blocks get an unknown kind */
        uint32_t x = (uint32_t)t.out.p[at] | (uint32_t)t.out.p[at + 1] << 8 |
                     (uint32_t)t.out.p[at + 2] << 16;
        if (t.out.p[at + 3] == 6)
            t.out.p[at + 3] = 99;
        at += 4 + x;
    }
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && because(GCD_REASON_EVENTS_MISPLACED));
}

/* Everything after a sequence point is later than everything before it. */
static void an_event_older_than_the_sequence_point(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    statics();
    one_object();
    tb_gc_end(&t, 1);
    tb_sequence_point(&t, 0);
    t.thread = 9;
    t.time_ns = 1500;
    tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
    t.time_ns = 1000000;
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && r.facts.trace.irregular_steps == 1);
}

static void a_sequence_point_older_than_an_event(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    one_object();
    tb_gc_end(&t, 1);
    tb_flush(&t);
    t.time_ns = 1500;
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && r.facts.trace.irregular_steps == 1);
}

enum { FULL = 2008 }; /* objects in an event of a 64-bit runtime */

static void full_event(uint64_t address, unsigned dump)
{
    static struct tb_node nodes[FULL];
    for (size_t i = 0; i < FULL; i++)
        nodes[i] = (struct tb_node){ address + 0x100 * i, 24 + dump, 0x100, 1 };
    tb_nodes(&t, nodes, FULL);
}

static void full_edges(uint64_t target)
{
    static uint64_t targets[5354];
    for (size_t i = 0; i < 5354; i++)
        targets[i] = target + 0x100 * (i % FULL);
    tb_edges(&t, targets, 5354);
}

/*
 * Two walks of one thread; the second half of the first and the first half of the next one are
 * lost, with GCEnd and GCStart.  The index numbers fit together, but the objects of one walk must
 * not get the references of the other.
 */
static void one_loss_over_the_end_of_a_walk(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    full_event(0x100000, 1);
    full_edges(0x100000);
    tb_lose(&t, 20);
    t.index[TB_NODES] = t.index[TB_EDGES] = 1;
    full_event(0x900000, 2);
    full_edges(0x900000);
    tb_gc_end(&t, 2);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_EVENTS_LOST) && because(GCD_REASON_NO_GC_START));
    assert_int_equal(r.object_count, 2 * FULL);
    for (size_t i = 0; i < r.object_count; i++) {
        assert_int_equal(r.objects[i].targets, i < FULL ? 1 : 0);
        assert_true(i >= FULL || r.targets[r.objects[i].first_target] < 0x900000);
    }
}

/* If the index jumps although no event number is missing, it and everything after it may be wrong.
 */
static void a_hole_that_is_none(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    full_event(0x100000, 1);
    full_edges(0x100000);
    t.index[TB_NODES] = 3;
    full_event(0x200000, 1);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_NODE_EVENTS_MISSING));
    assert_true(r.objects[0].targets == 1 && r.objects[FULL].targets == 0 &&
                r.objects[2 * FULL - 1].targets == 0);
}

/*
 * Objects behind a hole keep their references if the loss explains the hole and nothing else is
 * wrong: here two references for each of the last ten objects, whose position follows from the end.
 */
static void objects_behind_a_hole(void **state)
{
    (void)state;
    enum { LOST, NOTHING_LOST, MISPLACED_ELSEWHERE, FIRST_DAMAGED, TOLD_BY_ANOTHER_EVENT, KINDS };
    struct tb_node last[10];
    uint64_t few[1000];
    for (uint64_t i = 0; i < 10; i++)
        last[i] = (struct tb_node){ 0x900000 + 0x100 * i, 24, 0x100, 2 };
    for (size_t i = 0; i < 1000; i++)
        few[i] = 0x900000;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        anew(TB_V4);
        tb_gc_start(&t, 1);
        tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
        if (kind == FIRST_DAMAGED)
            tb_event(&t, TB_RUNTIME, 18, 0, "short", 5);
        else
            full_event(0x100000, 1);
        if (kind == LOST || kind == MISPLACED_ELSEWHERE || kind == TOLD_BY_ANOTHER_EVENT)
            tb_lose(&t, 1);
        if (kind == TOLD_BY_ANOTHER_EVENT)
            tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
        t.index[TB_NODES] = kind == FIRST_DAMAGED ? 1 : 2;
        if (kind == FIRST_DAMAGED || kind == TOLD_BY_ANOTHER_EVENT)
            full_event(0x300000, 1);
        tb_nodes(&t, last, 10);
        full_edges(0x100000);
        tb_edges(&t, few, 1000);
        tb_gc_end(&t, 1);
        t.thread = 20;
        tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
        if (kind == MISPLACED_ELSEWHERE)
            tb_lose(&t, (uint32_t)-2);
        tb_event(&t, "My-Own-Source", 1, 0, "x", 1);
        tb_close(&t);
        run();
        assert_true(!r.verdict.complete && because(GCD_REASON_NODE_EVENTS_MISSING));
        bool certain = kind != NOTHING_LOST && kind != MISPLACED_ELSEWHERE;
        for (size_t i = r.object_count - 10; i < r.object_count; i++)
            if (r.objects[i].targets != (certain ? 2 : 0))
                fail_msg("kind %u: %u references", kind, (unsigned)r.objects[i].targets);
    }
}

/* An .etl has no event numbers: the front of a walk without its end is certain only if nothing is
 * lost. */
static void the_front_of_a_walk_in_an_etl(void **state)
{
    (void)state;
    /* of lost events, of lost buffers */
    static const size_t counters[] = { 0, 0x48 + 0x50, 0x48 + 0x134 };
    struct tb_bytes etl;
    begin(TB_V3);
    tb_gc_start(&t, 1);
    one_object();
    tb_close(&t);
    for (size_t i = 0; i < 3; i++) {
        run_done(&r);
        tb_etl(t.out.p, t.out.n, tb_etl_way(0), &etl);
        if (i > 0)
            etl.p[counters[i]] = 1;
        run_trace(etl.p, etl.n, &(struct run_options){ .input = true }, &r);
        tb_free(&etl);
        assert_true(r.st == GCD_OK && r.object_count == 1 && !r.facts.gc_end_seen);
        assert_int_equal(r.objects[0].targets, i == 0);
        assert_int_equal(because(GCD_REASON_EVENTS_LOST), i == 1);
        assert_int_equal(because(GCD_REASON_BUFFERS_LOST), i == 2);
    }
}

/* Blocks of another thread between those of the walk: neither pass takes its objects. */
static void another_thread_in_between(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    one_object();
    tb_flush(&t);
    t.thread = 9;
    t.index[TB_NODES] = t.index[TB_EDGES] = 0;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x2000, 24, 0x100, 1 }, { 0x3000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x2000, 0x3000));
    tb_flush(&t);
    t.thread = 7;
    t.index[TB_NODES] = t.index[TB_EDGES] = 1;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x4000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x4000));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_EVENTS_MISPLACED) && r.objects_st == GCD_END &&
                r.object_count == 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(r.objects[i].targets == 1 &&
                    r.targets[r.objects[i].first_target] == r.objects[i].address);
}

/* A walk without its end beside the chosen one: its events may have been torn off the chosen one.
 */
static void events_outside_of_the_walk(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    one_object();
    tb_gc_end(&t, 1);
    statics();
    tb_close(&t);
    run();
    assert_true(r.verdict.reason_count == 1 && because(GCD_REASON_EVENTS_MISPLACED));
    assert_true(r.verdict.reasons[0].amount == 1 && r.facts.statics == 0);
}

/* Server GC with short intervals: the GCStart events of several walks come after all of them. */
static void starts_behind_several_walks(void **state)
{
    (void)state;
    begin(TB_V4);
    t.thread = 8;
    for (uint32_t n = 1; n <= 3; n++) {
        t.time_ns = 10000 * n + 500;
        one_object();
        tb_gc_end(&t, n);
    }
    tb_flush(&t);
    t.thread = 9;
    for (uint32_t n = 1; n <= 3; n++) {
        t.time_ns = 10000 * n;
        tb_gc_start(&t, n);
    }
    t.time_ns = 90000;
    tb_close(&t);
    run();
    assert_true(r.verdict.complete && r.facts.dumps == 3 && r.facts.gc_number == 1);
}

/* An event of the walk is doubled: everything after it is uncertain, and the walk is incomplete
 * although it has its start and its end. */
static void a_doubled_event_in_a_walk(void **state)
{
    (void)state;
    begin(TB_V6_PLAIN);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_flush(&t);
    size_t from = t.out.n;
    full_event(0x100000, 1);
    tb_flush(&t);
    size_t n = t.out.n - from;
    struct tb_bytes copy = { NULL, 0, 0 };
    tb_put(&copy, t.out.p + from, n);
    tb_put(&t.out, copy.p, n);
    tb_free(&copy);
    tb_edges(&t, TB_LIST(uint64_t, 0x100000, 0x100100));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && because(GCD_REASON_EVENTS_MISPLACED));
    for (size_t i = 0; i < r.object_count; i++)
        assert_int_equal(r.objects[i].targets, 0); /* the references come after it */
}

/* The index numbers start again within one GC: if two walks claim the GC, neither can be trusted.
 */
static void two_walks_of_one_gc(void **state)
{
    (void)state;
    begin(TB_V4);
    tb_gc_start(&t, 1);
    one_object();
    t.index[TB_NODES] = t.index[TB_EDGES] = 0;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x2000, 24, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x2000));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(!r.verdict.complete && because(GCD_REASON_EVENTS_MISPLACED));
    assert_true(r.object_count == 1 &&
                (r.objects[0].address != 0x2000 || r.objects[0].targets == 0));
}

/* Format 3 has no event numbers: a walk that was cut keeps its front, one whose GCStart does not
 * fit keeps nothing. */
static void a_walk_without_numbers(void **state)
{
    (void)state;
    for (unsigned fits = 0; fits < 2; fits++) {
        anew(TB_V3);
        tb_gc_start(&t, 1);
        one_object();
        if (!fits)
            tb_gc_end(&t, 2);
        tb_close(&t);
        run();
        assert_true(r.object_count == 1 && r.objects[0].targets == fits);
    }
}

static void cut(uint32_t id, size_t bytes)
{
    anew(TB_V4);
    tb_gc_start(&t, 1);
    one_object();
    tb_event(&t, TB_RUNTIME, id, 0, "0123456789abcdef0123456789abcdef", bytes);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
}

/* A cut is noticed in every event of the runtime that is read. */
static void events_that_are_cut(void **state)
{
    (void)state;
    static const struct {
        uint32_t id;
        size_t bytes;
    } rows[] = { { 23, 24 }, { 37, 5 }, { 36, 5 }, { 152, 15 }, { 154, 8 }, { 205, 11 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cut(rows[i].id, rows[i].bytes);
        if (!because(GCD_REASON_EVENTS_DAMAGED))
            fail_msg("event %u of %zu bytes is not missed", (unsigned)rows[i].id, rows[i].bytes);
    }
}

/* Two descriptions of one event id: blocks come from another recording, and the meaning of the
 * events is unknown. */
static void contradicting_descriptions(void **state)
{
    (void)state;
    begin(TB_V4_PLAIN);
    tb_gc_start(&t, 1);
    statics();
    tb_flush(&t);
    for (size_t i = 0; i < t.meta_count; i++)
        if (t.meta[i].event_id == 38) {
            /* the same number for another event */
            struct tb_bytes record = { NULL, 0, 0 };
            tb_u32(&record, (uint32_t)i + 1);
            tb_utf16z(&record, TB_RUNTIME);
            tb_u32(&record, 18);
            tb_utf16z(&record, "");
            tb_u64(&record, 0);
            tb_u32(&record, 0);
            tb_u32(&record, 4);
            struct tb_bytes block = { NULL, 0, 0 };
            tb_u16(&block, 20);
            tb_u16(&block, 0);
            tb_zeros(&block, 16);
            tb_u32(&block, (uint32_t)(76 + record.n));
            tb_zeros(&block, 72);
            tb_u32(&block, (uint32_t)record.n);
            tb_put(&block, record.p, record.n);
            tb_object(&t, "MetadataBlock", 2, 2, block.p, block.n);
            tb_free(&record);
            tb_free(&block);
        }
    statics();
    one_object();
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED) && because(GCD_REASON_EVENTS_UNKNOWN));
    assert_true(r.facts.objects == 1 && r.facts.statics == 1);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_block_twice),
        TEST(a_reused_thread_id_stays_complete),
        TEST(an_index_without_a_thread),
        TEST(an_event_older_than_the_sequence_point),
        TEST(a_sequence_point_older_than_an_event),
        TEST(one_loss_over_the_end_of_a_walk),
        TEST(a_hole_that_is_none),
        TEST(events_outside_of_the_walk),
        TEST(events_that_are_cut),
        TEST(starts_behind_several_walks),
        TEST(a_doubled_event_in_a_walk),
        TEST(two_walks_of_one_gc),
        TEST(a_walk_without_numbers),
        TEST(contradicting_descriptions),
        TEST(objects_behind_a_hole),
        TEST(the_front_of_a_walk_in_an_etl),
        TEST(another_thread_in_between),
    };
    return cmocka_run_group_tests_name("heap_damage", tests, NULL, NULL);
}
