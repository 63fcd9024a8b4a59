/* What findings count, rank and name: several types behind one finding, several groups of one rule,
 * and the numbers that are reported where nothing was found. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"
#include "support/pile.h"

#define NOTHING_IS_LARGE (UINT64_C(1) << 50)

#define TIMER    "System.Threading.TimerQueueTimer"
#define SOURCE   "System.Threading.CancellationTokenSource"
#define RELATED  "System.Threading.Tasks."
#define WAITS_ON "System.Threading.Tasks.ContinueWithTaskContinuation"

static const struct gcd_suspect *only(struct answer a, enum gcd_suspect_kind kind)
{
    const struct gcd_suspect *found = NULL;
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++)
        if (gcd_suspects_get(a.s, i)->kind == kind) {
            assert_null(found);
            found = gcd_suspects_get(a.s, i);
        }
    assert_non_null(found);
    return found;
}

/* ---- the types behind ---- */

/* The first ten of twelve by what they retain, whatever their order in the heap. */
static void the_types_behind_come_by_what_they_retain(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t n, size;
    } jobs[] = { { "Shop.Mail", 60, 24 },   { "Shop.Poll", 300, 24 }, { "Shop.Sync", 200, 24 },
                 { "Shop.Clean", 100, 24 }, { "Shop.Log", 400, 24 },  { "Shop.Rare", 10, 24 },
                 { "Shop.Some", 50, 24 },   { "Shop.Once", 1, 24 },   { "Shop.Big", 20, 9000 },
                 { "Shop.Few", 20, 24 },    { "Shop.Two", 2, 24 },    { "Shop.Next", 40, 24 } };
    static const size_t expected[] = { 8, 4, 1, 2, 3, 0, 6, 11, 9, 5 };
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), last = queue, all = 0;
    static_root(p, queue, "s_queue");
    for (uint32_t round = 0; round < 400; round++)
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
            if (round < jobs[i].n) {
                uint32_t timer = child(p, last, TIMER, 96);
                if (last != queue)
                    edge(p, timer, last);
                child(p, child(p, timer, "System.Threading.TimerCallback", 64), jobs[i].name,
                      jobs[i].size);
                last = timer;
                all++;
            }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = only(a, GCD_SUSPECT_TIMERS);
    assert_int_equal(s->objects, all);
    assert_int_equal(s->shallow_bytes, all * 96);
    assert_int_equal(s->held_count, GCD_SUSPECT_HOLDERS);
    assert_int_equal(s->held_objects, all);
    for (size_t i = 0; i < GCD_SUSPECT_HOLDERS; i++) {
        assert_string_equal(type_name(a, s->held[i].type), jobs[expected[i]].name);
        assert_int_equal(s->held[i].objects, jobs[expected[i]].n);
        assert_int_equal(s->held[i].bytes,
                         jobs[expected[i]].n * (96 + 64 + jobs[expected[i]].size));
    }
    forget(a);
}

/* An object that is met again takes no room in the search, which looks at few objects. */
static void the_type_behind_objects_with_many_references(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), last = queue;
    static_root(p, queue, "s_queue");
    for (int i = 0; i < 1000; i++) {
        uint32_t timer = child(p, last, TIMER, 96),
                 context = child(p, timer, "System.Context", 200),
                 list = child(p, context, "System.List", 200);
        if (last != queue)
            edge(p, timer, last);
        child(p, list, "Shop.Job", 24);
        for (int k = 0; k < 15; k++)
            edge(p, context, list);
        for (int k = 0; k < 15; k++)
            edge(p, timer, context);
        last = timer;
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = only(a, GCD_SUSPECT_TIMERS);
    assert_int_equal(s->held_count, 1);
    assert_string_equal(type_name(a, s->held[0].type), "Shop.Job");
    forget(a);
}

/* Without an object of the program's own, one that others also hold is named. */
static void a_shared_object_is_behind_if_nothing_else_is(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t target = node(p, "Shop.Clock", 24), queue = node(p, "System.Threading.TimerQueue", 80),
             last = queue;
    static_root(p, target, "s_clock");
    static_root(p, queue, "s_queue");
    for (int i = 0; i < 1000; i++) {
        uint32_t timer = child(p, last, TIMER, 96),
                 callback = child(p, timer, "System.Threading.TimerCallback", 64);
        if (last != queue)
            edge(p, timer, last);
        edge(p, callback, target);
        last = timer;
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = only(a, GCD_SUSPECT_TIMERS);
    assert_string_equal(type_name(a, s->held[0].type), "Shop.Clock");
    assert_int_equal(s->held[0].objects, 1000);
    forget(a);
}

#define BOX                                                                           \
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1" \
    "[System.Int32,Shop.Rpc+<CallAsync>d__2]"

/* What waits for a task can be the box of an asynchronous method: that is who waits, not what the
 * method holds.  A list that no task refers to is no list of continuations. */
static void methods_wait_for_one_task(void **state)
{
    (void)state;
    for (unsigned has_task = 0; has_task < 2; has_task++) {
        struct pile *p = pile_new();
        uint32_t task = node(p, has_task ? RELATED "Task" : "Shop.Events", 64),
                 list = child(p, task, "System.Collections.Generic.List`1[System.Object]", 32),
                 array = child(p, list, "System.Object[]", 24);
        root(p, has_task ? task : list, GCD_ROOT_STATIC, 0, "s_loaded");
        for (int i = 0; i < 1000; i++)
            child(p, child(p, array, BOX, 96), "Shop.Argument", 24);
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_CONTINUATIONS)->found, has_task);
        if (has_task)
            assert_string_equal(type_name(a, only(a, GCD_SUSPECT_CONTINUATIONS)->held[0].type),
                                BOX);
        forget(a);
    }
}

/* A timer is set if it is in a list with others; that its callback knows one is no list. */
static void callbacks_that_refer_to_timers(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.App", 24), first = child(p, all, TIMER, 96);
    static_root(p, all, "s_app");
    for (int i = 0; i < 2000; i++) {
        uint32_t timer = child(p, all, TIMER, 96),
                 callback = child(p, timer, "System.Threading.TimerCallback", 64);
        edge(p, callback, first);
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    assert_int_equal(gcd_suspects_count(a.s), 0);
    forget(a);
}

/* ---- how much is large ---- */

/* What keeps exactly the limit that the user gave is found. */
static void a_finding_as_large_as_the_limit(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Rules", 24);
        struct answer a;
        struct gcd_error err = GCD_ERROR_INIT;
        static_root(p, all, "s_rules");
        for (int i = 0; i < 1000; i++)
            child(p, child(p, all, "System.Func`1[System.Int32]", 64),
                  "System.Reflection.Emit.DynamicMethod", 128);
        struct gcd_suspects_options how = { .min_bytes = 128000 + more,
                                            .only_large = true,
                                            .share = 0.001 };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_CODE)->found, 1 - more);
        forget(a);
    }
}

/* ---- groups of one rule ---- */

static void callbacks(struct pile *p, uint32_t n, const char *field)
{
    uint32_t source = node(p, SOURCE, 48), list = child(p, source, SOURCE "+Registrations", 64),
             last = list;
    edge(p, list, source);
    static_root(p, source, field);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t callback = child(p, last, SOURCE "+CallbackNode", 80);
        edge(p, callback, list);
        if (last != list)
            edge(p, callback, last);
        child(p, callback, "Shop.Download", 32);
        last = callback;
    }
}

static void only_the_four_largest_sources_are_told(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1200, 1000, 1500, 1100, 1400, 1300 };
    struct pile *p = pile_new();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        callbacks(p, counts[i], "s_source");
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect_check *check = gcd_suspects_check(a.s, GCD_SUSPECT_CANCELLATION);
    assert_int_equal(gcd_suspects_count(a.s), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(gcd_suspects_get(a.s, i)->objects, 1500 - 100 * i);
    assert_int_equal(check->found, 4);
    assert_int_equal(check->objects, 1500);
    forget(a);
}

/* ---- what is a task ---- */

static void tasks_by_the_names_of_their_types(void **state)
{
    (void)state;
    static const struct {
        const char *task, *waits;
        bool found;
    } is[] = {
        { RELATED "Task", WAITS_ON, true },
        { RELATED "Task+WhenAllPromise", WAITS_ON, true },
        { RELATED "ContinuationResultTaskFromResultTask`2[A,B]", WAITS_ON, true },
        { "System.Threading.SemaphoreSlim+TaskNode", WAITS_ON, true },
        { RELATED "TaskNode2", WAITS_ON, false },
        { "System.Threading.Task", WAITS_ON, false },
        { "Shop.Task", WAITS_ON, false },
        { RELATED "Task", RELATED "Task+SetOnInvokeMres", true },
        { RELATED "Task", "System.Threading.ContinueWithTaskContinuation", false },
        { RELATED "Task", "System.Action", false },
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Rpc", 24);
        static_root(p, all, "s_rpc");
        for (int k = 0; k < 1000; k++)
            child(p, child(p, child(p, all, is[i].task, 72), is[i].waits, 40), "Shop.Caller", 24);
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        if (gcd_suspects_check(a.s, GCD_SUSPECT_TASKS)->found != is[i].found)
            fail_msg("%s, %s", is[i].task, is[i].waits);
        forget(a);
    }
}

/* ECMA-335 II.23.1.16: numbers, native integers, value types. */
static void every_element_type_is_boxed_or_not(void **state)
{
    (void)state;
    for (unsigned e = 1; e < 0x20; e++) {
        bool is_value = (e >= 0x02 && e <= 0x0d) || e == 0x11 || e == 0x18 || e == 0x19;
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Table", 24);
        static_root(p, all, "s_table");
        p->types[type(p, "Shop.Point")].element_type = (uint8_t)e;
        for (int k = 0; k < 10000; k++)
            child(p, all, "Shop.Point", 32);
        struct answer a = ask_with(p, 0.001, 100000);
        if (gcd_suspects_check(a.s, GCD_SUSPECT_BOXED)->found != is_value)
            fail_msg("element type %u", e);
        forget(a);
    }
}

/* ---- assemblies ---- */

/* Ten assemblies with ten copies each and one with eleven: eight are told, and the most copies are
 * known.  Of the objects of one, an object in a collectible context leads to what holds it. */
static void many_assemblies_with_copies(void **state)
{
    (void)state;
    enum { ASSEMBLIES = 10, COPIES = 10, MODULES = ASSEMBLIES * COPIES + 1 };
    static char paths[ASSEMBLIES][24];
    static struct gcd_module modules[MODULES];
    for (size_t i = 0; i < ASSEMBLIES; i++)
        (void)snprintf(paths[i], sizeof paths[i], "/plug/Part%zu.dll", i);
    for (size_t i = 0; i < MODULES; i++)
        modules[i] = (struct gcd_module){
            .id = i + 1, .path = paths[i % ASSEMBLIES], .assembly = "", .problem = ""
        };
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Parts", 24);
    static_root(p, all, "s_parts");
    p->types[type(p, "Part.Rule")].module_number = 0;
    p->types[type(p, "Part.Collectible")].module_number = ASSEMBLIES;
    for (int i = 0; i < 3; i++)
        child(p, all, "Part.Rule", 32);
    for (int i = 0; i < 6; i++)
        child(p, child(p, all, "Part.Collectible", 32), "System.Reflection.LoaderAllocator", 48);
    p->modules = modules;
    p->module_count = MODULES;
    struct answer a = ask_with(p, 0.05, NOTHING_IS_LARGE);
    const struct gcd_suspect_check *check = gcd_suspects_check(a.s, GCD_SUSPECT_ASSEMBLIES);
    assert_int_equal(check->objects, COPIES + 1);
    assert_int_equal(check->found, 8);
    const struct gcd_suspect *with_objects = NULL;
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
        const struct gcd_suspect *of = s->objects == 9 ? s : NULL;
        for (size_t k = 0; k < s->also_count; k++)
            if (gcd_suspects_also(a.s, s, k)->objects == 9)
                of = gcd_suspects_also(a.s, s, k);
        with_objects = of != NULL ? of : with_objects;
    }
    assert_non_null(with_objects);
    assert_string_equal(type_name(a, with_objects->type), "Part.Collectible");
    forget(a);
}

/* ---- pinned ---- */

/* The type with the most pinned objects is named with its number; what another object also keeps
 * alive is not kept by the handles. */
static void pinned_objects_of_two_types(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t holder = node(p, "Shop.Pool", 24);
    static_root(p, holder, "s_pool");
    for (int i = 0; i < 1100; i++) {
        bool is_text = i % 11 < 4;
        uint32_t buffer = node(p, is_text ? "System.Char[]" : "System.Byte[]", 100);
        root(p, buffer, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
        if (is_text)
            child(p, buffer, "Shop.Tail", 50);
    }
    uint32_t below = node(p, "System.Byte[]", 100), above = child(p, holder, "Shop.Top", 100);
    root(p, above, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
    edge(p, above, below);
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = only(a, GCD_SUSPECT_PINS);
    assert_int_equal(s->objects, 1101);
    assert_int_equal(s->shallow_bytes, 1101 * 100);
    assert_int_equal(s->bytes, 1100 * 100 + 400 * 50 + 200);
    assert_string_equal(type_name(a, s->type), "System.Byte[]");
    assert_non_null(
        strstr(s->sentence, "1,101 objects are pinned by handles, mostly Byte[] (700)."));
    forget(a);
}

/* ---- free memory ---- */

static void free_memory_is_counted_where_it_is_little(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Small[]", 0x100);
    static_root(p, all, "s_documents");
    for (int i = 0; i < 24; i++)
        child(p, all, "Shop.Page[]", 0x200);
    child(p, all, "Shop.Sheet[]", 0x2fff); /* takes 0x3000: less than all the pages */
    p->used_bytes = 0x20000;
    p->generation = 3;
    struct answer a = ask_with(p, 0.001, 1);
    const struct gcd_suspect_check *check = gcd_suspects_check(a.s, GCD_SUSPECT_FRAGMENTATION);
    assert_int_equal(check->found, 1);
    assert_int_equal(check->objects, 26);
    assert_int_equal(check->bytes, 0x20000 - 0x6100);
    const struct gcd_suspect *s = only(a, GCD_SUSPECT_FRAGMENTATION);
    assert_string_equal(type_name(a, s->type), "Shop.Page[]");
    assert_int_equal(s->shallow_bytes, 0x60ff);
    forget(a);
}

/* What a pool keeps was allocated in a peak, and so were the gaps between; with a quarter of other
 * objects they are the program's. */
static void free_memory_between_what_a_pool_keeps(void **state)
{
    (void)state;
    for (int others = 7; others <= 9; others++) {
        struct pile *p = pile_new();
        uint32_t pool = node(p, "System.Buffers.ConfigurableArrayPool`1[System.Byte]", 0x40);
        static_root(p, pool, "s_pool");
        for (int i = 0; i < 24; i++)
            child(p, pool, "System.Byte[]", 0x200);
        for (int i = 0; i < others; i++)
            static_root(p, node(p, "Shop.Page[]", 0x200), "s_page");
        p->used_bytes = 0x40000;
        p->generation = 3;
        struct answer a = ask_with(p, 0.001, 1);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_FRAGMENTATION)->found, others == 9);
        forget(a);
    }
}

/* So was what a pool of the program keeps, if that is large objects. */
static void free_memory_between_what_an_own_pool_keeps(void **state)
{
    (void)state;
    for (uint64_t large = 0; large < 2; large++) {
        struct pile *p = pile_new();
        uint32_t pool = node(p, "Shop.BufferPool", 24),
                 list = child(p, pool, "System.Collections.Generic.List`1[System.Byte[]]", 32),
                 items = child(p, list, "System.Byte[][]", 24 + 8 * 40);
        static_root(p, pool, "s_pool");
        for (int i = 0; i < 40; i++)
            child(p, items, "System.Byte[]", large ? 85000 : 84999);
        p->used_bytes = 0x1000000;
        p->generation = 3;
        struct answer a = ask_with(p, 0.1, 1);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_FRAGMENTATION)->found, !large);
        assert_int_equal(gcd_suspects_count(a.s), !large);
        forget(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_types_behind_come_by_what_they_retain),
        cmocka_unit_test(the_type_behind_objects_with_many_references),
        cmocka_unit_test(a_shared_object_is_behind_if_nothing_else_is),
        cmocka_unit_test(methods_wait_for_one_task),
        cmocka_unit_test(callbacks_that_refer_to_timers),
        cmocka_unit_test(a_finding_as_large_as_the_limit),
        cmocka_unit_test(only_the_four_largest_sources_are_told),
        cmocka_unit_test(tasks_by_the_names_of_their_types),
        cmocka_unit_test(every_element_type_is_boxed_or_not),
        cmocka_unit_test(many_assemblies_with_copies),
        cmocka_unit_test(pinned_objects_of_two_types),
        cmocka_unit_test(free_memory_is_counted_where_it_is_little),
        cmocka_unit_test(free_memory_between_what_a_pool_keeps),
        cmocka_unit_test(free_memory_between_what_an_own_pool_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
