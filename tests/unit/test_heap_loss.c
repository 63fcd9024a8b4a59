/*
 * The verdict, rule by rule: a flawless dump, and one thing wrong with it.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "heap/heap.h"
#include "support/check.h"

static struct gcd_alloc alloc;
static struct gcd_heap h;
static struct heap_walk w;
static struct heap_type type;
static struct heap_type_count counts;
static uint32_t used;
static struct gcd_trace_info trace;
static bool thread_closed;
static const char *input_damage;

/* Nothing is wrong. */
static void anew(void)
{
    h.damaged_outside = h.outside = h.misdescribed = h.halves = 0;
    type = (struct heap_type){ .type = { .described = true, .named = true } };
    counts = (struct heap_type_count){ .objects = 3 };
    used = 0;
    w = (struct heap_walk){ .closed = true,
                            .have_start = true,
                            .whole = true,
                            .state = HEAP_WALK_CONFIRMED,
                            .counts = &counts,
                            .used_types = &used,
                            .used_count = 1,
                            .edges = 5,
                            .edges_declared = 5,
                            .index[HEAP_ROOTS] = { .next = 1, .events = 1 },
                            .static_events = 1,
                            .range_ns = INT64_MIN,
                            .loss = { .objects_exact = true, .edges_exact = true } };
    trace = (struct gcd_trace_info){ .end = GCD_TRACE_CLOSED,
                                     .damage_off = GCD_OFF_NONE,
                                     .loss_verified = true,
                                     .has_sequence_numbers = true,
                                     .numbers_events = true };
    thread_closed = true;
    input_damage = NULL;
}

static int setup(void **state)
{
    (void)state;
    alloc = gcd_alloc_or_default(NULL);
    h = (struct gcd_heap){ .types = &type, .type_count = 1, .chosen = &w };
    gcd_idmap_init(&h.module_by_id, &alloc);
    gcd_idmap_init(&h.assembly_by_id, &alloc);
    anew();
    return 0;
}

/* Checks that the verdict has exactly these reasons, separated by "; "; then resets everything. */
static void expect(const char *reasons)
{
    struct gcd_verdict v;
    char texts[2048] = "";
    heap_verdict(&h, &trace, thread_closed, "an odd byte", input_damage, &v);
    for (size_t i = 0; i < v.reason_count; i++) {
        size_t n = strlen(texts);
        (void)snprintf(texts + n, sizeof texts - n, "%s%s", i > 0 ? "; " : "", v.reasons[i].text);
    }
    assert_string_equal(texts, reasons);
    assert_int_equal(v.complete, reasons[0] == '\0');
    anew();
}

static void a_dump_that_lacks_nothing(void **state)
{
    (void)state;
    expect("");
}

/* Every process has roots and, but with Native AOT and .NET Core 3, static variables. */
static void roots_that_are_always_there(void **state)
{
    (void)state;
    w.index[HEAP_ROOTS].events = 0;
    expect("no roots but static variables were recorded");
    w.index[HEAP_ROOTS].events = 0;
    w.static_events = 0;
    type.type.id = 0x102;
    expect("no roots were recorded");
    w.static_events = 0;
    expect("no static variables were recorded");
    w.static_events = 0;
    type.type.id = 0x102;
    expect("");
    w.static_events = 0;
    trace.numbers_events = false;
    expect("");
    w.static_events = 0;
    type.type.named = false;
    expect("no type has a name");
}

static void what_events_are(void **state)
{
    (void)state;
    w.strangers = 1;
    expect("1 event does not belong in the heap walk, or has a wrong description");
    w.strangers = 2;
    expect("2 events do not belong in the heap walk, or have a wrong description");
    w.strangers = 2;
    trace.numbers_events = false; /* in an .etl, a thread writes events of the kernel, too */
    expect("");
    h.misdescribed = 2;
    expect("2 events have no valid description");
    h.halves = 1;
    expect("1 event has no valid description");
    w.range_ns = w.start.time_ns;
    expect("1 event has no valid description");
    w.range_ns = w.start.time_ns - 1;
    expect("");
}

static void how_the_recording_ends(void **state)
{
    (void)state;
    trace.damage_off = 99;
    trace.end = GCD_TRACE_TRUNCATED;
    expect("the recording ends early, at byte 99");
    trace.damage_off = 99;
    trace.end = GCD_TRACE_CORRUPT;
    expect("the recording is damaged at byte 99: an odd byte");
    trace.damage_off = 99;
    trace.end = GCD_TRACE_OPEN;
    expect("the recording is damaged at byte 99: an odd byte");
    input_damage = "the gzip data end early";
    expect("the gzip data end early");
}

static void whether_events_are_lost(void **state)
{
    (void)state;
    trace.lost_events = 1;
    expect("1 event were lost during the recording");
    trace.lost_events = 2;
    trace.lost_threads = 1;
    expect("2 events of 1 thread were lost in the target");
    trace.lost_events = 2;
    trace.lost_threads = 2;
    trace.loss_verified = false;
    expect("at least 2 events of 2 threads were lost in the target");
    trace.loss_verified = trace.has_sequence_numbers = false;
    trace.irregular_steps = 1;
    expect("this format has no sequence numbers, so lost events cannot be detected");
    trace.loss_verified = false;
    trace.irregular_steps = 1;
    expect("the recording contradicts itself in 1 place, so lost events cannot be ruled out");
    trace.loss_verified = false;
    trace.irregular_steps = 2;
    expect("the recording contradicts itself in 2 places, so lost events cannot be ruled out");
    trace.loss_verified = false;
    expect("the final count of events is missing, so lost events cannot be ruled out");
    thread_closed = false;
    expect("the final count of events leaves out the thread that walked the heap");
    thread_closed = false;
    trace.lost_events = trace.lost_threads = 1; /* worse, so it is reported alone */
    expect("1 event of 1 thread were lost in the target");
}

static void buffers_and_numbers(void **state)
{
    (void)state;
    static const char *const kinds[HEAP_BULKS] = {
        [HEAP_ROOTS] = "roots",
        [HEAP_DEPENDENTS] = "dependent handles",
        [HEAP_NODES] = "objects",
        [HEAP_EDGES] = "references",
    };
    for (unsigned n = 1; n <= 2; n++) {
        char text[120];
        trace.lost_buffers = n;
        expect(n == 1 ? "1 buffer of events is missing" : "2 buffers of events are missing");
        trace.damaged_buffers = n;
        expect(n == 1 ? "1 buffer of events is damaged" : "2 buffers of events are damaged");
        trace.repeated_buffers = n;
        expect(n == 1 ? "1 buffer of events with the number of another one is left out"
                      : "2 buffers of events with the number of another one are left out");
        for (size_t k = 0; k < HEAP_BULKS; k++) {
            w.index[k].missing = n;
            (void)snprintf(text, sizeof text,
                           "%u event%s with %s %s missing (gaps in their numbering)", n,
                           n == 1 ? "" : "s", kinds[k], n == 1 ? "is" : "are");
            expect(text);
        }
        trace.unknown_events = n;
        expect(n == 1 ? "1 event has no description" : "2 events have no description");
        h.outside = n;
        w.disorder = n == 2; /* reported once */
        expect(n == 1 ? "1 heap event lies outside a complete heap walk"
                      : "2 heap events lie outside a complete heap walk");
        w.damaged = n - 1;
        h.damaged_outside = 1;
        expect(n == 1 ? "1 heap event could not be decoded" : "2 heap events could not be decoded");
        w.damaged = n;
        expect(n == 1 ? "1 heap event could not be decoded" : "2 heap events could not be decoded");
    }
    w.disorder = true;
    expect("events of the heap walk are not in order");
}

static void what_the_walk_lacks(void **state)
{
    (void)state;
    w.edges_declared = 6;
    expect("the objects have 6 references, 5 were received");
    w.edges_declared = 4;
    expect("the objects have 4 references, 5 were received");
    w.edges_declared = UINT64_C(71776119061297095); /* of objects that have room for a few */
    w.loss.edges = w.edges_declared - 5;
    expect("the objects claim more references than fit into them, so a part of the recording is "
           "damaged; 5 were received; it is unknown how many references are lost");
    w.objects = 1;
    w.bytes = 80024;
    w.edges_declared = 10005; /* they fit */
    w.loss.edges = 10000;
    expect("the objects have 10,005 references, 5 were received; 10,000 references are lost");
    w.loss.objects = 1;
    w.loss.edges = 2;
    expect("1 object is lost; 2 references are lost");
    w.loss = (struct heap_loss){ .objects = 2, .edges = 1 };
    expect("at least 2 objects are lost; at least 1 reference is lost");
    w.loss.edges_dropped = 1;
    expect("1 reference is left out, because the owner is lost or uncertain");
    w.loss.edges_dropped = 2;
    expect("2 references are left out, because the owner is lost or uncertain");
    w.state = HEAP_WALK_OTHER;
    expect("the heap walk does not belong to a blocking GC of generation 2");
    w.state = HEAP_WALK_UNDECIDED;
    w.have_start = false;
    expect("the start of the GC that walked the heap was not recorded");
    w.closed = false;
    expect("the end of the heap walk was not recorded");
}

/* Inexact numbers matter only if something is known to be lost, whatever it is. */
static void how_many_cannot_be_told(void **state)
{
    (void)state;
    static const char *const reasons[] = {
        "",
        "1 event were lost during the recording",
        "1 buffer of events is missing",
        "1 buffer of events is damaged",
        "1 buffer of events with the number of another one is left out",
        "the recording ends early, at byte 9",
        "1 event with objects is missing (gaps in their numbering)",
        "1 event with references is missing (gaps in their numbering)",
    };
    for (size_t row = 0; row < sizeof reasons / sizeof *reasons; row++) {
        char text[300];
        w.loss.objects_exact = w.loss.edges_exact = false;
        trace.lost_events = row == 1;
        trace.lost_buffers = row == 2;
        trace.damaged_buffers = row == 3;
        trace.repeated_buffers = row == 4;
        trace.end = row == 5 ? GCD_TRACE_TRUNCATED : GCD_TRACE_CLOSED;
        trace.damage_off = 9;
        w.index[HEAP_NODES].missing = row == 6;
        w.index[HEAP_EDGES].missing = row == 7;
        (void)snprintf(text, sizeof text,
                       "%s; it is unknown how many objects are lost; it is unknown how many "
                       "references are lost",
                       reasons[row]);
        expect(row == 0 ? "" : text);
    }
    w.loss.objects_exact = w.loss.edges_exact = false;
    w.damaged = 1;
    expect("it is unknown how many objects are lost; it is unknown how many references are lost; 1 "
           "heap event could not be decoded");
}

static void what_is_known_of_types(void **state)
{
    (void)state;
    type.type.described = type.type.named = false;
    expect("1 type of 3 objects has no description and no name");
    type.type.named = false;
    expect("no type has a name");
    type.known.doubtful = true;
    expect("1 type may have the name or module of another one that had the same id");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_dump_that_lacks_nothing), TEST(roots_that_are_always_there),
        TEST(what_events_are),           TEST(how_the_recording_ends),
        TEST(whether_events_are_lost),   TEST(buffers_and_numbers),
        TEST(what_the_walk_lacks),       TEST(how_many_cannot_be_told),
        TEST(what_is_known_of_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
