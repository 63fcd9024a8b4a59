/*
 * Which walk is the dump, what belongs to it, and its verdict: event orders found in real files,
 * and a few caused by damage.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

static struct tb t;
static struct run r;
static struct run_options how;

static int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    how = (struct run_options){ .check_references = true };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    run_done(&r);
    tb_done(&t);
    return 0;
}

static void run(void)
{
    run_trace(t.out.p, t.out.n, &how, &r);
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

/* One object of SIZE bytes that refers to itself. */
static void small_walk(uint64_t size)
{
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, size, 0x100, 1 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    tb_roots(&t, NULL, 0);
    tb_statics(&t, NULL, 0);
}

static void assert_gclog(const char *text)
{
    assert_int_equal(r.write_st, GCD_OK);
    if (r.gclog_bytes != strlen(text) || memcmp(r.gclog, text, r.gclog_bytes) != 0)
        fail_msg("%.*s", (int)r.gclog_bytes, (const char *)r.gclog);
}

/* The example of the format description: statics first, kinds one higher than in the event, sizes
 * hexadecimal. */
static void worked_example(void **state)
{
    (void)state;
    t.time_ns = INT64_C(6703) * 1000000;
    tb_gc_start(&t, 1);
    tb_statics(&t, TB_LIST(struct tb_static, { 0x7f0000001000, 0x10, 0x200, "instance" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x7f0000001000, 24, 0x200, 1 },
                         { 0x7f0000001018, 40, 0x300, 1 }, { 0x7f0000001040, 32, 0x400, 0 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x7f0000001018, 0x7f0000001040));
    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x7f0000001040, .kind = 2, .flags = 2 },
                         { .object = 0, .kind = 0 }));
    tb_types(&t,
             TB_LIST(struct tb_type, { .id = 0x200, .name = "Shop.Store" },
                     { .id = 0x300, .name = "Shop.Order[]" }, { .id = 0x400, .name = "Shop.Order" },
                     { .id = 0x500, .name = "Nobody.Uses.It" }));
    tb_gc_end(&t, 1);
    tb_process_info(&t, "/opt/shop/shop.exe --verbose", "Linux", "x64");
    tb_close(&t);
    run();
    assert_true(r.verdict.complete);
    assert_gclog(
        "a 2 shop 1a2f\n"
        "t 1 Shop.Store\nt 2 Shop.Order[]\nt 3 Shop.Order\n"
        "r 7f0000001000 4 0 1\nr 7f0000001040 3 2\n"
        "o 7f0000001000 1 18 7f0000001018\no 7f0000001018 2 28 7f0000001040\no 7f0000001040 3 20\n"
        "c shop 1a2f\n");
    assert_true(r.facts.weak_roots == 1 && r.facts.null_roots == 1);
}

static void dependent_handles_are_references_of_their_key(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }, { 0x2000, 24, 0x100, 0 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    tb_dependents(&t, TB_LIST(struct tb_dependent, { 0x2000, 0x1000 }, { 0x1000, 0x2000 },
                              { 0x1000, 0x1000 }, { 0, 0x1000 }, { 0x1000, 0x2008 },
                              { 0x9999, 0x1000 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_gclog(
        "a 2 unknown 0\nt 1 Node\no 1000 1 18 1000 2000 2008\no 2000 1 18 1000\nc unknown 0\n");
    assert_true(r.facts.dependent_handles == 4); /* without the dead one and the duplicate */
    assert_true(r.notes.dependents_dropped == 1);
    assert_true(r.notes.edges_dangling == 1); /* 2008 */
}

static void root_kinds_and_names(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_roots(&t, TB_LIST(struct tb_root, { 0x1000, 0, 5, 1 }, { 0x1000, 1, 0, 0 },
                         { 0x1000, 2, 1, 9 }, { 0x1000, 3, 0, 0 }, { 0x1000, 77, 0x100, 0 }));
    tb_ccws(&t, TB_LIST(uint64_t, 0x1000));
    tb_rcws(&t, TB_LIST(uint64_t, 0x1000));
    tb_gc_end(&t, 1);
    tb_process_info(&t, "dotnet exec my\nodd.dll", "", "");
    tb_close(&t);
    run();
    assert_gclog("a 2 my?odd 0\nt 1 Node\nr 1000 1 5\nr 1000 2 0\nr 1000 3 1\nr 1000 5 0\nr 1000 5 "
                 "100\nr 1000 3 8\n"
                 "o 1000 1 18 1000\nc my?odd 0\n");
    assert_true(r.facts.ccws == 1 && r.facts.rcws == 1 && r.facts.pinned_roots == 2);
    assert_true(r.facts.root_counts[GCD_ROOT_OTHER] == 2);
}

static void types_without_name_or_record(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .token = 0x2000012 },
                         { .id = 0x200, .token = 0x2000013, .flags = 8 },
                         { .id = 0x300, .token = 0x2000014, .flags = 7 }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }, { 0x2000, 24, 0x200, 0 },
                         { 0x3000, 24, 0xabc, 0 }, { 0x4000, 24, 0x300, 0 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_gclog("a 2 unknown 0\nt 1 Type(0x2000012)\nt 2 ArrayType(0x2000013)\nt 3 Type(0xabc)\nt "
                 "4 Type(0x2000014)\n"
                 "o 1000 1 18\no 2000 2 18\no 3000 3 18\no 4000 4 18\nc unknown 0\n");
    assert_true(r.facts.types_undescribed == 1 && r.facts.objects_undescribed == 1);
    assert_true(because(GCD_REASON_TYPES_UNDESCRIBED) && r.verdict.reasons[0].amount == 1);
    assert_string_equal(r.verdict.reasons[0].text,
                        "1 type of 1 object has no description and no name");
}

static void two_types(const char *second)
{
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .token = 0x2000012 },
                         { .id = 0x200, .token = 0x2000013, .name = second }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }, { 0x2000, 24, 0x200, 0 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.facts.types_undescribed == 0);
}

static void no_type_has_a_name(void **state)
{
    (void)state;
    two_types(NULL);
    assert_true(because(GCD_REASON_TYPES_UNDESCRIBED) && r.verdict.reasons[0].amount == 2);
}

/* A name too long for the runtime. */
static void a_single_empty_name_is_no_loss(void **state)
{
    (void)state;
    two_types("Node");
    assert_true(r.verdict.complete);
}

/* Server GC: another thread writes GCStart, and its buffer comes after the whole walk. */
static void the_start_can_lie_behind_the_walk(void **state)
{
    (void)state;
    t.thread = 8;
    t.time_ns = 5000;
    small_walk(24);
    tb_gc_end(&t, 3);
    tb_flush(&t);
    t.thread = 9;
    t.time_ns = 4000;
    tb_gc_start(&t, 3);
    tb_heap_count(&t, 2);
    t.time_ns = 20000;
    tb_close(&t);
    run();
    assert_true(r.verdict.complete);
    assert_true(r.facts.gc_start_ns == 4000 && r.facts.gc_heaps == 2 && r.facts.gc_number == 3);
}

static void a_start_that_is_younger_is_another_one(void **state)
{
    (void)state;
    small_walk(24);
    tb_gc_end(&t, 3);
    tb_gc_start(&t, 3);
    tb_close(&t);
    run();
    assert_int_equal(r.st, GCD_OK);
    assert_true(because(GCD_REASON_NO_GC_START));
}

/* The walk of a GC that was not induced does not count, even if it comes first. */
static void other_walks_are_skipped(void **state)
{
    (void)state;
    tb_gc_start_full(&t, 1, 1, 0, 0);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_gc_start_full(&t, 2, 2, 1, 1); /* background */
    tb_gc_end(&t, 2);
    tb_gc_start(&t, 3); /* without objects */
    tb_gc_end(&t, 3);
    tb_gc_start(&t, 4);
    small_walk(32);
    tb_gc_end(&t, 4);
    tb_gc_start(&t, 5);
    small_walk(40);
    tb_gc_end(&t, 5);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete);
    assert_true(r.facts.gc_number == 4 && r.facts.bytes == 32 && r.facts.dumps == 3 &&
                r.facts.walk_number == 2);
    assert_true(r.facts.types_undescribed == 0); /* described in the first walk only */

    run_done(&r);
    how.walk_number = 3;
    run();
    assert_true(r.verdict.complete && r.facts.gc_number == 5 && r.facts.bytes == 40 &&
                r.facts.walk_number == 3);
    run_done(&r);
    how.walk_number = 1;
    run();
    assert_true(because(GCD_REASON_NO_GC_START) && r.facts.gc_number == 1 && r.facts.bytes == 24);
    run_done(&r);
    how.walk_number = 4;
    run();
    assert_int_equal(r.st, GCD_E_NOT_FOUND);
}

static void a_walk_without_its_end(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_close(&t);
    run();
    assert_false(r.verdict.complete);
    assert_int_equal(r.verdict.reason_count, 1);
    assert_true(because(GCD_REASON_NO_GC_END));
    assert_int_equal(r.object_count, 1);
}

/* The end of the first walk was lost: the numbers start again, and the second walk is not mixed
 * into the first. */
static void numbers_that_restart_are_another_walk(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    memset(t.index, 0, sizeof t.index);
    tb_gc_start(&t, 2);
    small_walk(32);
    tb_gc_end(&t, 2);
    tb_close(&t);
    run();
    assert_true(r.facts.objects == 1 && r.facts.dumps == 2);
}

/* ... and the second pass must not take objects of the next walk. */
static void both_readings_see_the_same_walk(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    memset(t.index, 0, sizeof t.index);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x5000, 32, 0x900, 0 }, { 0x6000, 32, 0x900, 0 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.facts.objects == r.object_count);
    assert_int_equal(r.objects_st, GCD_END);
}

/* A final sequence point that does not list the thread of the walk confirms nothing about it. */
static void a_count_without_the_thread_of_the_walk(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    t.thread_count = 0;
    tb_sequence_point(&t, 0);
    tb_end(&t);
    run();
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED));
}

/* The same by time: events without a GC number belong to the GC that started last. */
static void static_variables_of_the_next_walk(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_start(&t, 2);
    tb_statics(&t, TB_LIST(struct tb_static, { 0x1000, 0x10, 0x100, "next" }));
    tb_gc_end(&t, 2);
    tb_close(&t);
    run();
    assert_true(r.facts.objects == 1 && r.facts.statics == 0);
    assert_true(because(GCD_REASON_NO_GC_END));
}

/* Many walks that do not count neither displace the one that does nor use memory. */
static void one_valid_walk_after_many_others(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 100; n++) {
        tb_gc_start_full(&t, n, 1, 0, 0);
        small_walk(24);
        tb_gc_end(&t, n);
    }
    tb_gc_start(&t, 101);
    small_walk(48);
    tb_gc_end(&t, 101);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete && r.facts.gc_number == 101 && r.facts.bytes == 48 &&
                r.facts.dumps == 101);
}

static void a_name_that_comes_later_counts(void **state)
{
    (void)state;
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .token = 0x2000012 }));
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Other" }));
    tb_close(&t);
    run();
    assert_gclog("a 2 unknown 0\nt 1 Node\no 1000 1 18 1000\nc unknown 0\n");
}

/* Events of the rundown provider have the same ids but other layouts. */
static void modules_and_assemblies(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .module = 0xa0, .name = "A" },
                         { .id = 0x200, .module = 0xb0, .name = "B" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }, { 0x2000, 24, 0x200, 0 }));
    tb_gc_end(&t, 1);
    tb_module(&t, 0xa0, "/app/a.dll");
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u64(&b, 0xb0); /* a module without a path, of assembly 0xbb */
    tb_u64(&b, 0xbb);
    tb_u64(&b, 0);
    tb_utf16z(&b, "");
    tb_utf16z(&b, "");
    tb_u16(&b, 0);
    tb_event(&t, TB_RUNDOWN, 154, 2, b.p, b.n);
    b.n = 0;
    tb_u64(&b, 0xbb);
    tb_u64(&b, 1);
    tb_u64(&b, 0);
    tb_u32(&b, 2);
    tb_utf16z(&b, "Made.In.Memory, Version=1.0.0.0");
    tb_u16(&b, 0);
    tb_event(&t, TB_RUNDOWN, 156, 1, b.p, b.n);
    tb_free(&b);
    tb_close(&t);
    run();
    assert_non_null(strstr(r.text, "/app/a.dll"));
    assert_non_null(strstr(r.text, "Made.In.Memory"));
    assert_null(strstr(r.text, "Version="));
}

/* Events of a rundown that lists three modules, without those whose bit is in MISSING. */
enum { DOMAIN_MODULE, MODULE, ASSEMBLY, HALVES };

static void rundown_without(unsigned missing, bool stranger)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_event(&t, TB_RUNDOWN, 148, 1, "\0", 2);
    for (uint64_t i = 0; i < 3; i++)
        for (unsigned half = 0; half < HALVES; half++) {
            b.n = 0;
            tb_u64(&b, (half == ASSEMBLY ? 0xb0 : 0xa0) + i);
            tb_u64(&b, half == ASSEMBLY ? 1 : 0xb0 + i);
            tb_u64(&b, 0);
            if (half != MODULE)
                tb_u32(&b, 0);
            if (half == DOMAIN_MODULE)
                tb_u32(&b, 0);
            tb_utf16z(&b, "name");
            if (half != ASSEMBLY)
                tb_utf16z(&b, "");
            tb_u16(&b, 0);
            if (i != 1 || (missing >> half & 1) == 0)
                tb_event(&t, TB_RUNDOWN, 152 + 2 * half, half == MODULE ? 2 : 1, b.p, b.n);
            else if (stranger)
                tb_event(&t, "Shop", 3, 0, b.p, b.n);
        }
    tb_event(&t, TB_RUNDOWN, 146, 1, "\0", 2);
    tb_event(&t, "Shop", 3, 0, "x", 1); /* afterwards it means nothing */
    tb_free(&b);
    tb_close(&t);
    run();
}

static void a_rundown_lists_every_half(void **state)
{
    (void)state;
    for (unsigned missing = 0; missing < 1u << HALVES; missing++)
        for (unsigned stranger = 0; stranger < 2; stranger++) {
            rundown_without(missing, stranger);
            bool module = (missing >> MODULE & 1) != 0, assembly = (missing >> ASSEMBLY & 1) != 0;
            /* a half alone may have been unloaded just then */
            assert_int_equal(because(GCD_REASON_EVENTS_UNKNOWN), stranger && module != assembly);
            run_done(&r);
            tb_done(&t);
            tb_init(&t, TB_V4, 8);
        }
}

static void holes_are_found_by_kind(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    t.index[TB_NODES] += 2;
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x2000, 24, 0x100, 1 }));
    t.index[TB_EDGES] += 1;
    tb_edges(&t, TB_LIST(uint64_t, 0x1000));
    t.index[TB_ROOTS] = 3;
    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x1000, .kind = 2 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_NODE_EVENTS_MISSING) &&
                because(GCD_REASON_EDGE_EVENTS_MISSING) && because(GCD_REASON_ROOT_EVENTS_MISSING));
    assert_false(because(GCD_REASON_EDGES_UNBALANCED));
    assert_true(r.verdict.reasons[0].amount == 2);
    assert_int_equal(r.object_count, 2);
    /* the owner of the last reference is unknown */
    assert_true(r.objects[0].targets == 1 && r.objects[1].targets == 0);
    assert_true(r.notes.edges_missing == 1);
}

static void lost_events_and_unbalanced_references(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_lose(&t, 4);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 3 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1000, 0x1000));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_EVENTS_LOST) && because(GCD_REASON_EDGES_UNBALANCED));
    assert_true(r.facts.trace.lost_events == 4);
    assert_int_equal(r.objects[0].targets, 2); /* it gets those that arrived */
}

static void without_a_final_sequence_point_nothing_is_certain(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_end(&t);
    run();
    assert_int_equal(r.verdict.reason_count, 1);
    assert_true(because(GCD_REASON_LOSS_UNVERIFIED));
}

/* References of one object in many events, and many objects without any: the distance between the
 * two does not matter. */
static void references_and_objects_far_apart(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    uint64_t expected = 0;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t targets[100];
        for (unsigned k = 0; k < 100; k++)
            targets[k] = 0x1000 + 24 * (uint64_t)((i * 100 + k) % 5000);
        tb_edges(&t, targets, 100);
        expected += 100;
    }
    for (unsigned i = 0; i < 5000; i++) {
        struct tb_node n = { 0x1000 + 24 * (uint64_t)i, 24, 0x100,
                             i == 2500   ? 29999
                             : i == 4999 ? 1
                                         : 0 };
        tb_nodes(&t, &n, 1);
    }
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete && r.facts.edges == expected);
    assert_int_equal(r.objects[2500].targets, 29999);
    for (size_t i = 0; i < 29999; i++)
        assert_true(r.targets[r.objects[2500].first_target + i] == 0x1000 + 24 * (i % 5000));
    assert_true(r.targets[r.objects[4999].first_target] == 0x1000 + 24 * (29999 % 5000));
}

static void sizes_of_sixty_four_bits(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Huge" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, UINT64_C(1) << 63, 0x100, 0 },
                         { 0x2000, UINT64_C(1) << 63, 0x100, 0 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.facts.bytes == UINT64_MAX); /* and not 0 */
    assert_gclog("a 2 unknown 0\nt 1 Huge\no 1000 1 8000000000000000\no 2000 1 8000000000000000\nc "
                 "unknown 0\n");
}

static void ranges_after_the_first_object_only(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_range(&t, 0, 0x1000, 10, 100);
    small_walk(24);
    tb_range(&t, 4, 0x5000, 10, 100);
    tb_range(&t, 0, 0x1000, 24, 100);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.facts.range_count == 2);
}

static void payloads_of_later_versions_are_longer(void **state)
{
    (void)state;
    uint8_t start[40] = { 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
    tb_event(&t, TB_RUNTIME, 1, 9, start, sizeof start);
    small_walk(24);
    uint8_t end[30] = { 1 };
    tb_event(&t, TB_RUNTIME, 2, 9, end, sizeof end);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete);
}

static void a_start_of_version_0_has_only_a_reason(void **state)
{
    (void)state;
    const uint8_t start[8] = { 7, 0, 0, 0, 1, 0, 0, 0 }, end[6] = { 7, 0, 0, 0, 2, 0 };
    tb_event(&t, TB_RUNTIME, 1, 0, start, sizeof start);
    small_walk(24);
    tb_event(&t, TB_RUNTIME, 2, 0, end, sizeof end);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete && r.facts.gc_number == 7);
}

static void payloads_that_are_too_short_are_told(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    const uint8_t lying[] = { 1, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 1, 2, 3 };
    tb_event(&t, TB_RUNTIME, 18, 0, lying, sizeof lying);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(because(GCD_REASON_EVENTS_DAMAGED));
    assert_true(r.facts.objects == 1);
}

/* One record more than the payload declares: damage in version 0, possibly something new in a later
 * one. */
static void long_payloads_of_version_0_are_damage(void **state)
{
    (void)state;
    for (uint32_t version = 0; version < 2; version++) {
        if (version > 0) {
            teardown(state);
            setup(state);
        }
        tb_gc_start(&t, 1);
        small_walk(24);
        const uint8_t none_and_one[22] = { 1 };
        tb_event(&t, TB_RUNTIME, 19, version, none_and_one, sizeof none_and_one);
        tb_gc_end(&t, 1);
        tb_close(&t);
        run();
        assert_int_equal(because(GCD_REASON_EVENTS_DAMAGED), version == 0);
        assert_int_equal(r.verdict.complete, version > 0);
        assert_true(r.facts.objects == 1 && r.facts.edges == 1);
    }
}

static void ids_of_other_providers_mean_nothing(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    small_walk(24);
    t.thread = 9;
    tb_event(&t, "My-Own-Source", 18, 0, "x", 1);
    tb_event(&t, TB_RUNDOWN, 18, 0, "x", 1);
    t.thread = 7;
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.verdict.complete);
}

static void a_trace_without_a_dump_says_what_is_needed(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_int_equal(r.st, GCD_E_NOT_FOUND);
    assert_non_null(strstr(r.err.msg, "0x1980001"));
    assert_non_null(strstr(r.err.msg, "Microsoft-Windows-DotNETRuntime"));
}

/* Format 6 can hold several processes: their ids must be kept apart. */
static void one_process_of_several(void **state)
{
    (void)state;
    tb_done(&t);
    tb_init(&t, TB_V6, 8);
    t.process = 100;
    t.thread = 1;
    tb_gc_start(&t, 1);
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_flush(&t);
    t.process = 200;
    t.thread = 2;
    tb_gc_start(&t, 1);
    small_walk(64);
    tb_gc_end(&t, 1);
    tb_close(&t);
    run();
    assert_true(r.facts.process == 100 && r.facts.bytes == 24 && r.facts.processes_ignored == 1);
    run_done(&r);
    how.process = 200;
    run();
    assert_true(r.facts.process == 200 && r.facts.bytes == 64 && r.facts.processes_ignored == 1);
}

static void limits_are_kept(void **state)
{
    (void)state;
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 1, .name = "A" }, { .id = 2, .name = "B" }));
    small_walk(24);
    tb_gc_end(&t, 1);
    tb_close(&t);
    const struct gcd_limits two_types = { .types = 2 }, small_blocks = { .block_bytes = 64 };
    how.limits = &two_types;
    run_trace(t.out.p, t.out.n, &how, &r);
    assert_int_equal(r.st, GCD_E_LIMIT);
    run_done(&r);
    how.limits = &small_blocks;
    run_trace(t.out.p, t.out.n, &how, &r);
    assert_int_equal(r.st, GCD_E_LIMIT);
    assert_non_null(strstr(r.err.msg, "64"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(worked_example),
        TEST(dependent_handles_are_references_of_their_key),
        TEST(root_kinds_and_names),
        TEST(types_without_name_or_record),
        TEST(no_type_has_a_name),
        TEST(a_single_empty_name_is_no_loss),
        TEST(the_start_can_lie_behind_the_walk),
        TEST(a_start_that_is_younger_is_another_one),
        TEST(other_walks_are_skipped),
        TEST(a_walk_without_its_end),
        TEST(numbers_that_restart_are_another_walk),
        TEST(both_readings_see_the_same_walk),
        TEST(a_count_without_the_thread_of_the_walk),
        TEST(static_variables_of_the_next_walk),
        TEST(one_valid_walk_after_many_others),
        TEST(a_name_that_comes_later_counts),
        TEST(modules_and_assemblies),
        TEST(a_rundown_lists_every_half),
        TEST(holes_are_found_by_kind),
        TEST(lost_events_and_unbalanced_references),
        TEST(without_a_final_sequence_point_nothing_is_certain),
        TEST(references_and_objects_far_apart),
        TEST(sizes_of_sixty_four_bits),
        TEST(ranges_after_the_first_object_only),
        TEST(payloads_of_later_versions_are_longer),
        TEST(a_start_of_version_0_has_only_a_reason),
        TEST(payloads_that_are_too_short_are_told),
        TEST(long_payloads_of_version_0_are_damage),
        TEST(ids_of_other_providers_mean_nothing),
        TEST(a_trace_without_a_dump_says_what_is_needed),
        TEST(one_process_of_several),
        TEST(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
