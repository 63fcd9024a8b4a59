/* One leak is one suspect: what consists of the same objects is told in a clause of another one,
 * and nothing else is. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"
#include "support/pile.h"

#define NOTHING_IS_LARGE (UINT64_C(1) << 50)
#define TASK             "System.Threading.Tasks.Task`1[Shop.Reply]"
#define BOX                                                                                   \
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System." \
    "Int32,Shop.Rpc+<CallAsync>d__2]"
#define SOURCE   "System.Threading.CancellationTokenSource"
#define CALLBACK SOURCE "+CallbackNode"
#define TIMER    "System.Threading.TimerQueueTimer"

/* A call that waits, below FROM. */
static uint32_t call(struct pile *p, uint32_t from, uint64_t bytes)
{
    uint32_t box = child(p, from, BOX, 96);
    edge(p, box, box);
    child(p, box, "Shop.Client", bytes);
    return box;
}

/* N tasks of one object, each with a call that waits for it; OTHERS calls wait for something else.
 */
static struct pile *tasks_and_calls(uint32_t n, uint32_t others, uint64_t bytes)
{
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Replies", 24), array = child(p, all, "System.Object[]", 24);
    static_root(p, all, "s_replies");
    for (uint32_t i = 0; i < n; i++)
        (void)call(p, child(p, array, TASK, 72), bytes);
    for (uint32_t i = 0; i < others; i++) {
        uint32_t other = node(p, "Shop.Other", 24);
        root(p, other, GCD_ROOT_STACK, 0, "");
        (void)call(p, other, bytes);
    }
    return p;
}

static void tasks_and_the_calls_that_wait_for_them(void **state)
{
    (void)state;
    static const struct {
        uint32_t others;
        size_t suspects;
    } rows[] = { { 0, 1 }, { 110, 1 }, { 120, 2 }, { 1000, 2 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a =
            ask_with(tasks_and_calls(1000, rows[i].others, 24), 0.001, NOTHING_IS_LARGE);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        if (gcd_suspects_count(a.s) != rows[i].suspects)
            fail_msg("%zu: %s", i, s->sentence);
        assert_int_equal(s->also_count, 2 - rows[i].suspects);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_ASYNC)->found, 1);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_TASKS)->found, 1);
        if (rows[i].others == 0) {
            assert_int_equal(s->kind, GCD_SUSPECT_TASKS);
            assert_int_equal(gcd_suspects_also(a.s, s, 0)->kind, GCD_SUSPECT_ASYNC);
            assert_non_null(strstr(s->sentence, ". Also: 1,000 calls of the asynchronous method "));
            assert_non_null(strstr(s->advice, "TaskCompletionSource"));
        }
        forget(a);
    }
}

/* The holder of all of them has the sentence, and the tasks say what to look at. */
static void tasks_in_a_large_object(void **state)
{
    (void)state;
    struct answer a = ask_with(tasks_and_calls(1000, 0, 1000), 0.5, 1);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
    assert_int_equal(s->kind, GCD_SUSPECT_OBJECT);
    assert_int_equal(s->also_count, 2);
    assert_ptr_equal(strstr(s->sentence, "1,000 tasks have not completed ("), s->sentence);
    assert_non_null(strstr(s->sentence, " is held by one Replies: "));
    assert_non_null(strstr(s->sentence, " Also: 1,000 calls of the asynchronous method "));
    assert_string_equal(s->advice, gcd_suspects_also(a.s, s, 0)->advice);
    forget(a);
}

/* Boxed values are the fault of the list that has them; that they wait in a queue is that of who
 * takes them out. */
static void values_in_a_list_and_in_a_queue(void **state)
{
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Readings", 24),
                 list = child(p, all,
                              waits ? "System.Collections.Generic.Queue`1[System.Object]"
                                    : "System.Collections.Generic.List`1[System.Object]",
                              32),
                 array = child(p, list, "System.Object[]", 1024);
        static_root(p, all, "s_readings");
        for (uint32_t i = 0; i < 12000; i++)
            child(p, array, "System.Int64", 24);
        struct answer a = ask_with(p, 0.5, 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        assert_int_equal(s->kind, GCD_SUSPECT_OBJECT);
        assert_int_equal(s->also_count, 1);
        bool boxed = strstr(s->advice, "object of its own") != NULL,
             taken = strstr(s->advice, "what takes elements out of it") != NULL;
        if (boxed == (waits == 1) || taken != (waits == 1))
            fail_msg("%s / %s", s->sentence, s->advice);
        assert_true((strstr(s->sentence, " Also: 12,000 ") != NULL) == (waits == 1));
        forget(a);
    }
}

/* An object keeps something beside 1,000 methods: they are the same when they keep four fifths of
 * it. */
static void most_of_the_bytes(void **state)
{
    (void)state;
    for (unsigned most = 0; most < 2; most++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Rules", 24), array = child(p, all, "System.Object[]", 24);
        static_root(p, all, "s_rules");
        for (uint32_t i = 0; i < 1000; i++)
            child(p, child(p, array, "System.Func`1[System.Int32]", 10),
                  "System.Reflection.Emit.DynamicMethod", 100);
        /* 100,000 bytes are four fifths of 125,000 */
        child(p, array, "System.Byte[]", most ? 14900 : 15100);
        struct answer a = ask_with(p, 0.5, 1);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_CODE)->found, 1);
        assert_int_equal(gcd_suspects_get(a.s, 0)->kind, GCD_SUSPECT_OBJECT);
        assert_int_equal(gcd_suspects_count(a.s), most ? 1 : 2);
        forget(a);
    }
}

/* N timers in a queue, each for a job; and N callbacks of one source, for the same jobs or for
 * others. */
static struct pile *timers_and_callbacks(uint32_t n, bool same)
{
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), timer = queue;
    uint32_t source = node(p, SOURCE, 48), list = child(p, source, SOURCE "+Registrations", 64),
             callback = list;
    edge(p, list, source);
    static_root(p, queue, "s_queue");
    static_root(p, source, "s_stop");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = child(p, timer, TIMER, 96), job = child(p, next, "Shop.Job", 24),
                 registered = child(p, callback, CALLBACK, 80);
        edge(p, next, queue);
        edge(p, registered, list);
        if (i > 0) {
            edge(p, next, timer);
            edge(p, registered, callback);
        }
        if (same)
            edge(p, registered, job);
        else
            child(p, registered, "Shop.Job", 24);
        timer = next;
        callback = registered;
    }
    return p;
}

/* Equal numbers of objects of one type are the same objects only when there are no others. */
static void the_same_objects(void **state)
{
    (void)state;
    for (unsigned same = 0; same < 2; same++) {
        struct answer a = ask_with(timers_and_callbacks(1200, same), 0.001, NOTHING_IS_LARGE);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_TIMERS)->found, 1);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_CANCELLATION)->found, 1);
        assert_int_equal(gcd_suspects_count(a.s), same ? 1 : 2);
        forget(a);
    }
}

/* Each timer leads, through a delegate, to a job that a list has as well: the list is what holds
 * them, and no timer is to blame. */
static void timers_of_what_a_list_holds(void **state)
{
    (void)state;
    for (unsigned listed = 0; listed < 2; listed++) {
        struct pile *p = pile_new();
        uint32_t queue = node(p, "System.Threading.TimerQueue", 80), timer = queue;
        uint32_t jobs = node(p, "Shop.Job[]", 9624);
        static_root(p, queue, "s_queue");
        static_root(p, jobs, "s_jobs");
        for (uint32_t i = 0; i < 1200; i++) {
            uint32_t next = child(p, timer, TIMER, 96);
            uint32_t job =
                child(p, child(p, next, "Shop.Jobs+<>c__DisplayClass1_0", 24), "Shop.Job", 240);
            edge(p, next, queue);
            if (i > 0)
                edge(p, next, timer);
            if (listed)
                edge(p, jobs, job);
            timer = next;
        }
        struct answer a = ask_with(p, 0.1, NOTHING_IS_LARGE);
        assert_int_equal(gcd_suspects_count(a.s), !listed);
        if (!listed)
            assert_int_equal(gcd_suspects_get(a.s, 0)->kind, GCD_SUSPECT_TIMERS);
        forget(a);
    }
}

/* Timers of linked sources, which the common source also holds: the holder is registered with each
 * of them. */
static void linked_sources(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), timer = queue;
    static_root(p, queue, "s_queue");
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t linked = node(p, SOURCE "+Linked1CancellationTokenSource", 72),
                 list = child(p, linked, SOURCE "+Registrations", 64);
        uint32_t holder = node(p, "System.Threading.CancellationTokenRegistration", 24),
                 next = child(p, timer, TIMER, 96);
        /* so that no timer holds its source alone; for timers, that finalizers do does not count */
        root(p, holder, GCD_ROOT_FINALIZER, 0, "");
        edge(p, holder, linked);
        edge(p, list, linked);
        edge(p, next, linked);
        edge(p, next, queue);
        if (i > 0)
            edge(p, next, timer);
        child(p, child(p, child(p, list, CALLBACK, 80), "System.Action", 64), "Shop.ExportJob", 24);
        timer = next;
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
    assert_int_equal(s->kind, GCD_SUSPECT_TIMERS);
    assert_string_equal(type_name(a, s->held[0].type), "Shop.ExportJob");
    assert_non_null(strstr(s->sentence, "1,000 timers are set, all for ExportJob."));
    forget(a);
}

/* What of the listeners a world holds besides its event. */
enum hold { IN_ITS_EVENT, IN_TWO_EVENTS, IN_ITS_LIST, EVENT_BESIDE_MUCH };

/* A world with 1,000 handlers of 1,000 monsters, each of which knows the world. */
static struct pile *world(enum hold hold)
{
    struct pile *p = pile_new();
    uint32_t world = node(p, "Shop.World", 24), lists[2];
    static_root(p, world, "s_world");
    child(p, world, "System.Byte[]", hold == EVENT_BESIDE_MUCH ? 4000000 : 400);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t delegate = child(p, world, "System.Action", 64);
        edge(p, delegate, delegate);
        lists[i] = child(p, delegate, "System.Object[]", 8016);
    }
    uint32_t items =
        child(p, child(p, world, "System.Collections.Generic.List`1[Shop.Monster]", 32),
              "Shop.Monster[]", 8016);
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t monster = child(p, child(p, lists[0], "System.Action", 64), "Shop.Monster", 1000);
        edge(p, monster, world);
        if (hold == IN_TWO_EVENTS || hold == EVENT_BESIDE_MUCH)
            edge(p, child(p, lists[1], "System.Action", 64), monster);
        if (hold == IN_ITS_LIST)
            edge(p, items, monster);
    }
    return p;
}

/* An event is accused of what only events keep alive. */
static void an_event_of_objects_that_live_without_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * (EVENT_BESIDE_MUCH + 1); i++) {
        enum hold hold = (enum hold)(i / 2);
        struct gcd_error e = GCD_ERROR_INIT;
        struct answer a;
        struct gcd_suspects_options how = { .by_number = i % 2 != 0,
                                            .share = 0.5,
                                            .min_bytes = 200000 };
        assert_int_equal(ask_how(world(hold), &how, &a, &e), GCD_OK);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        bool accused = hold == IN_ITS_EVENT || hold == IN_TWO_EVENTS,
             told = strncmp(s->advice, "Look for a +=", 13) == 0;
        if (told != accused ||
            (!how.by_number &&
             (gcd_suspects_count(a.s) != 1 || (!accused && strstr(s->sentence, "event") != NULL))))
            fail_msg("%u: %s %s", i, s->sentence, s->advice);
        forget(a);
    }
}

/* Free memory has no holder, and is never a part of another suspect or mentioned by one. */
static void free_memory(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS; i++)
        assert_int_equal(gcd_suspect_kind_is_free((enum gcd_suspect_kind)i),
                         i == GCD_SUSPECT_PINNED || i == GCD_SUSPECT_FRAGMENTATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_and_the_calls_that_wait_for_them),
        cmocka_unit_test(tasks_in_a_large_object),
        cmocka_unit_test(values_in_a_list_and_in_a_queue),
        cmocka_unit_test(most_of_the_bytes),
        cmocka_unit_test(the_same_objects),
        cmocka_unit_test(timers_of_what_a_list_holds),
        cmocka_unit_test(linked_sources),
        cmocka_unit_test(an_event_of_objects_that_live_without_it),
        cmocka_unit_test(free_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
