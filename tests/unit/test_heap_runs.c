/*
 * Where the runs between lost events belong, computed by hand: sizes of a 64-bit runtime, 2008
 * objects and 5354 references an event.
 */
#include <string.h>

#include "base/mem.h"
#include "heap/heap.h"
#include "support/check.h"

enum { NODES_FULL = 2008, EDGES_FULL = 5354 };

static struct gcd_alloc alloc;
static struct heap_walk w;

/* Events missing so far by the numbers of the thread. */
static uint64_t gaps;

static int setup(void **state)
{
    (void)state;
    alloc = gcd_alloc_or_default(NULL);
    memset(&w, 0, sizeof w);
    gaps = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < HEAP_RUNS_KINDS; i++)
        heap_runs_free(&alloc, &w.runs[i]);
    return 0;
}

/* Counted as in heap_asm.c. */
static void event(enum heap_bulk kind, uint32_t index, uint32_t count, uint64_t edges)
{
    bool nodes = kind == HEAP_NODES;
    struct gcd_clr_bulk b = { .index = index, .count = count, .item_bytes = nodes ? 32 : 12 };
    struct heap_index *x = &w.index[kind];
    if (index != x->next)
        x->missing += index > x->next ? index - x->next : 1;
    x->next = index + 1;
    x->events++;
    if (nodes) {
        w.objects += count;
        w.edges_declared = w.edges_declared + edges < edges ? UINT64_MAX : w.edges_declared + edges;
    } else {
        w.edges += count;
    }
    assert_true(heap_runs_add(&alloc, &w.runs[nodes ? HEAP_RUNS_NODES : HEAP_RUNS_EDGES], &b, edges,
                              gaps, gaps == 0));
}

static void nodes(uint32_t index, uint32_t count, uint64_t edges)
{
    event(HEAP_NODES, index, count, edges);
}

static void edges(uint32_t index, uint32_t count)
{
    event(HEAP_EDGES, index, count, 0);
}

static uint64_t node_start(size_t run)
{
    assert_true(run < w.runs[HEAP_RUNS_NODES].count);
    return w.runs[HEAP_RUNS_NODES].items[run].start;
}

static uint64_t edge_start(size_t run)
{
    assert_true(run < w.runs[HEAP_RUNS_EDGES].count);
    return w.runs[HEAP_RUNS_EDGES].items[run].start;
}

static void expect_loss(uint64_t objects, bool objects_exact, uint64_t lost, bool edges_exact,
                        uint64_t dropped)
{
    assert_int_equal(w.loss.objects, objects);
    assert_int_equal(w.loss.objects_exact, objects_exact);
    assert_int_equal(w.loss.edges, lost);
    assert_int_equal(w.loss.edges_exact, edges_exact);
    assert_int_equal(w.loss.edges_dropped, dropped);
}

static void a_whole_walk_lacks_nothing(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 5000);
    nodes(1, 10, 364);
    edges(0, EDGES_FULL);
    edges(1, 10);
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_true(node_start(0) == 0 && edge_start(0) == 0);
    expect_loss(0, true, 0, true, 0);
}

static void behind_one_hole_objects_are_placed_by_the_end(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 5000);
    nodes(2, NODES_FULL, 1000);
    nodes(3, 10, 20);
    edges(0, EDGES_FULL);
    edges(1, 4000);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(0) == 0 && node_start(1) == EDGES_FULL + 4000 - 1020);
    expect_loss(NODES_FULL, true, 0, true, EDGES_FULL + 4000 - 6020);
}

static void between_two_holes_nothing_is_certain(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(2, NODES_FULL, 1000);
    nodes(4, 10, 20);
    edges(0, EDGES_FULL);
    edges(1, 1000);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(0) == 0 && node_start(1) == HEAP_UNPLACED &&
                node_start(2) == EDGES_FULL + 980);
    expect_loss(2 * NODES_FULL, true, 0, true, EDGES_FULL + 1000 - 3020);
}

/* Other events are missing, none of these: the runs before and after the gap are contiguous. */
static void a_gap_without_a_hole(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(1, NODES_FULL, 2500);
    edges(0, EDGES_FULL);
    gaps = 3;
    nodes(2, NODES_FULL, 1500);
    nodes(3, 10, 20);
    edges(1, 1666);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(w.runs[HEAP_RUNS_NODES].count == 2 && node_start(1) == 5500);
    assert_true(w.runs[HEAP_RUNS_EDGES].count == 2 && edge_start(1) == EDGES_FULL);
    expect_loss(0, true, 0, true, 0);
    assert_false(w.runs[HEAP_RUNS_NODES].doubtful || w.runs[HEAP_RUNS_EDGES].doubtful);
}

/* The same with several events in the first run, and without an end that could place the second. */
static void a_gap_without_a_hole_or_an_end(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(1, NODES_FULL, 2500);
    edges(0, EDGES_FULL);
    edges(1, EDGES_FULL);
    gaps = 3;
    nodes(2, NODES_FULL, 1500);
    edges(2, EDGES_FULL);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(0) == 0 && node_start(1) == 5500);
    assert_true(edge_start(0) == 0 && edge_start(1) == 2 * EDGES_FULL);
}

/* The gap shows after the hole: both runs after it are placed by the end. */
static void a_gap_behind_a_hole(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(2, NODES_FULL, 2000);
    gaps = 1;
    nodes(3, 10, 20);
    edges(0, EDGES_FULL);
    edges(1, 1000);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    const uint64_t total = EDGES_FULL + 1000;
    assert_true(w.runs[HEAP_RUNS_NODES].count == 3 && node_start(0) == 0 &&
                node_start(1) == total - 2020 && node_start(2) == total - 20);
}

/* In an incomplete walk only the events before the first missing one are certain; without event
 * numbers, nothing is. */
static void only_the_front(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    edges(0, EDGES_FULL);
    gaps = 1;
    nodes(1, 10, 20);
    edges(1, 1000);
    heap_runs_place(&w, HEAP_CERTAIN_FRONT);
    assert_true(node_start(0) == 0 && node_start(1) == HEAP_UNPLACED && edge_start(0) == 0 &&
                edge_start(1) == HEAP_UNPLACED);
    expect_loss(1, false, 0, false, EDGES_FULL + 1000 - 3000);
}

/* The head of one walk and the tail of another: no number is missing, but the sums differ. */
static void parts_of_several_walks(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(1, 10, 9000);
    edges(0, EDGES_FULL);
    edges(1, 1000);
    for (int certain = HEAP_CERTAIN_FRONT; certain <= HEAP_CERTAIN_HOLES; certain++) {
        heap_runs_place(&w, (enum heap_certain)certain);
        assert_true(node_start(0) == HEAP_UNPLACED && edge_start(0) == HEAP_UNPLACED);
        assert_int_equal(w.loss.edges_dropped, EDGES_FULL + 1000);
    }
}

static void not_even_the_front(void **state)
{
    (void)state;
    nodes(0, 10, 20);
    edges(0, 20);
    heap_runs_place(&w, HEAP_CERTAIN_NOTHING);
    assert_true(node_start(0) == HEAP_UNPLACED && edge_start(0) == HEAP_UNPLACED);
    assert_int_equal(w.loss.edges_dropped, 20);
}

static void a_front_behind_a_gap_is_none(void **state)
{
    (void)state;
    gaps = 1;
    nodes(0, 10, 20);
    edges(0, 20);
    heap_runs_place(&w, HEAP_CERTAIN_FRONT);
    assert_true(node_start(0) == HEAP_UNPLACED && edge_start(0) == HEAP_UNPLACED);
}

/* A full event after a gap is in a new buffer, whose number shows the whole gap; a short one may be
 * in the old buffer. */
static void a_hole_shows_in_the_numbers(void **state)
{
    (void)state;
    nodes(2, NODES_FULL, 1000); /* the gap may have appeared before the walk */
    assert_false(w.runs[HEAP_RUNS_NODES].doubtful);
    gaps = 2;
    nodes(5, NODES_FULL, 1000);
    assert_false(w.runs[HEAP_RUNS_NODES].doubtful);
    gaps = 3;
    nodes(8, NODES_FULL, 1000);
    assert_true(w.runs[HEAP_RUNS_NODES].doubtful);
    edges(0, EDGES_FULL);
    edges(9, 10);
    assert_false(w.runs[HEAP_RUNS_EDGES].doubtful);
}

static void references_behind_holes_are_placed_by_their_number(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 20000);
    nodes(1, 5, 2000);
    edges(1, EDGES_FULL);
    edges(4, 584);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(edge_start(0) == EDGES_FULL && edge_start(1) == 4 * EDGES_FULL);
    expect_loss(0, true, 3 * EDGES_FULL, true, 0);
}

static void without_a_last_event_the_end_is_not_known(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 5000);
    nodes(2, NODES_FULL, 1000); /* full: more may have followed */
    edges(0, EDGES_FULL);
    edges(1, 4000);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(1) == HEAP_UNPLACED);
    expect_loss(NODES_FULL, false, 0, true, EDGES_FULL + 4000 - 5000);
    /* but by the numbers of the trace nothing else is missing */
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_true(node_start(1) == EDGES_FULL + 4000 - 1000);
    expect_loss(NODES_FULL, true, 0, true, EDGES_FULL + 4000 - 6000);
}

static void events_of_other_sizes_are_placed_by_the_end_alone(void **state)
{
    (void)state;
    nodes(0, 10, 100);
    nodes(1, 10, 100);
    edges(0, 50);
    edges(2, 60);
    edges(4, 40);
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_true(edge_start(0) == 0 && edge_start(1) == HEAP_UNPLACED && edge_start(2) == 160);
    expect_loss(0, true, 50, true, 60);
}

/* One event in between is not full: the capacity of a lost one is unknown, although another event
 * is full. */
static void a_short_event_between_others(void **state)
{
    (void)state;
    nodes(1, 10, 100);
    edges(0, EDGES_FULL - 1);
    edges(2, EDGES_FULL);
    edges(4, 40);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(edge_start(0) == 0 && edge_start(1) == HEAP_UNPLACED &&
                edge_start(2) == HEAP_UNPLACED);
    expect_loss(1, false, 2, false, EDGES_FULL - 1 + EDGES_FULL + 40);
}

/* The numbers of the thread show how many events are lost, but not how many objects they had. */
static void lost_events_of_unknown_size(void **state)
{
    (void)state;
    nodes(0, 10, 100);
    nodes(2, 10, 100);
    edges(0, 200);
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_true(node_start(0) == 0 && node_start(1) == 100);
    expect_loss(1, false, 0, true, 0);
}

static void a_short_event_alone_proves_nothing(void **state)
{
    (void)state;
    nodes(1, 10, 100); /* in another runtime it may be full */
    edges(0, 100);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(0) == HEAP_UNPLACED);
    expect_loss(1, false, 0, false, 100);
}

static void numbers_that_step_back_end_the_trust(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(1, 5, 3000);
    edges(0, EDGES_FULL);
    edges(2, EDGES_FULL);
    edges(1, 646);
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_true(edge_start(0) == 0 && edge_start(1) == HEAP_UNPLACED &&
                edge_start(2) == HEAP_UNPLACED);
    assert_int_equal(w.loss.edges_dropped, EDGES_FULL + 646);
}

static void sums_that_contradict_end_the_trust(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 3000);
    nodes(1, 5, 3000); /* 6000 in all, but the references reach to 10809 */
    edges(0, EDGES_FULL);
    edges(2, 101);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(0) == 0 && edge_start(0) == 0 && edge_start(1) == HEAP_UNPLACED);
    expect_loss(0, false, 545, false, 101);
}

static void absurd_counts_do_not_wrap(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, UINT64_MAX - 5);
    nodes(2, NODES_FULL, UINT64_MAX);
    nodes(3, 1, 10);
    edges(0, EDGES_FULL);
    edges(1, 7);
    heap_runs_place(&w, HEAP_CERTAIN_ALL);
    assert_true(node_start(1) == HEAP_UNPLACED);
    assert_int_equal(w.loss.edges_dropped, 0); /* the first objects claim them all */
    assert_false(w.loss.edges_exact);
}

static void too_many_holes_are_one_run_without_a_place(void **state)
{
    (void)state;
    nodes(0, NODES_FULL, 6);
    edges(0, EDGES_FULL);
    for (uint32_t i = 0; i < HEAP_RUNS_MAX + 5; i++)
        edges(2 + 2 * i, EDGES_FULL);
    heap_runs_place(&w, HEAP_CERTAIN_HOLES);
    assert_int_equal(w.runs[HEAP_RUNS_EDGES].count, HEAP_RUNS_MAX);
    assert_true(edge_start(0) == 0 && edge_start(1) == HEAP_UNPLACED &&
                edge_start(HEAP_RUNS_MAX - 1) == HEAP_UNPLACED);
    assert_int_equal(w.loss.edges_dropped, w.edges - 6);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_walk_lacks_nothing),
        TEST(behind_one_hole_objects_are_placed_by_the_end),
        TEST(between_two_holes_nothing_is_certain),
        TEST(references_behind_holes_are_placed_by_their_number),
        TEST(without_a_last_event_the_end_is_not_known),
        TEST(events_of_other_sizes_are_placed_by_the_end_alone),
        TEST(a_short_event_alone_proves_nothing),
        TEST(numbers_that_step_back_end_the_trust),
        TEST(sums_that_contradict_end_the_trust),
        TEST(absurd_counts_do_not_wrap),
        TEST(too_many_holes_are_one_run_without_a_place),
        TEST(a_gap_without_a_hole),
        TEST(a_gap_behind_a_hole),
        TEST(only_the_front),
        TEST(parts_of_several_walks),
        TEST(not_even_the_front),
        TEST(a_front_behind_a_gap_is_none),
        TEST(a_hole_shows_in_the_numbers),
        TEST(a_gap_without_a_hole_or_an_end),
        TEST(a_short_event_between_others),
        TEST(lost_events_of_unknown_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
