/* Leak suspects: planted leaks with known answers, and on random graphs what must be true of any
 * answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"
#include "support/cases.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/pile.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* Suspect number I, which must be of KIND and type NAME. */
static const struct gcd_suspect *suspect(struct answer a, size_t i, enum gcd_suspect_kind kind,
                                         const char *name)
{
    assert_true(i < gcd_suspects_count(a.s));
    const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
    assert_string_equal(gcd_suspect_kind_name(s->kind), gcd_suspect_kind_name(kind));
    assert_string_equal(type_name(a, s->type), name);
    return s;
}

/* The only one that suspect number I mentions in a clause. */
static const struct gcd_suspect *told_by(struct answer a, size_t i, enum gcd_suspect_kind kind,
                                         const char *name)
{
    const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
    assert_int_equal(s->also_count, 1);
    const struct gcd_suspect *also = gcd_suspects_also(a.s, s, 0);
    assert_string_equal(gcd_suspect_kind_name(also->kind), gcd_suspect_kind_name(kind));
    assert_string_equal(type_name(a, also->type), name);
    return also;
}

/* ---- containers ---- */

static void a_static_list_is_found_at_its_array(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, "List", 32), array = child(p, list, "Order[]", 64),
             other = node(p, "Other", 100);
    for (int i = 0; i < 5; i++)
        child(p, child(p, array, "Order", 100), "Line", 80);
    static_root(p, list, "s_orders");
    root(p, other, GCD_ROOT_STACK, 0, "");
    struct answer a = ask(p, 0.3);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Order[]");
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(s->node, array);
    assert_int_equal(s->bytes, 64 + 5 * 180);
    assert_int_equal(s->retained_bytes, s->bytes);
    assert_int_equal(s->shallow_bytes, 64);
    assert_true(s->share > 0.87 && s->share < 0.88);
    assert_int_equal(s->path_count, 2);
    assert_int_equal(s->path[0].node, list);
    assert_int_equal(s->path[1].node, array);
    assert_string_equal(gcd_graph_summary(a.g)->roots[s->root].name, "s_orders");
    assert_int_equal(s->held_count, 1);
    assert_int_equal(s->held_objects, 5);
    assert_int_equal(s->held[0].objects, 5);
    assert_int_equal(s->held[0].bytes, 900);
    assert_int_equal(s->content_count, 3);
    assert_int_equal(s->content_objects, 11);
    assert_string_equal(type_name(a, s->content[0].type), "Order");
    assert_string_equal(
        s->sentence, "88.0 % of the heap (964 bytes) is held by one List: 5 Order in an Order[]. "
                     "It is held by the static variable s_orders.");
    assert_int_equal(gcd_suspects_consumer_count(a.s), 2);
    assert_int_equal(gcd_suspects_consumer(a.s, 0)->bytes, 996);
    assert_int_equal(gcd_suspects_consumer(a.s, 1)->bytes, 100);
    forget(a);
}

static void what_comes_from_being_observed_is_counted_and_not_accused(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t source = node(p, "System.Diagnostics.Tracing.NativeRuntimeEventSource", 100),
             rows = child(p, source, "Entry[]", 5000), own = node(p, "Own", 3000);
    for (int i = 0; i < 9; i++)
        child(p, rows, "Row", 500);
    static_root(p, source, "Log");
    static_root(p, own, "s_own");
    struct answer a = ask(p, 0.01);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    (void)suspect(a, 0, GCD_SUSPECT_OBJECT, "Own");
    assert_int_equal(gcd_suspects_observed_bytes(a.s), 100 + 5000 + 9 * 500);
    struct gcd_suspects_options none = { .share = 1, .min_bytes = 100000 }, o = { .share = 0.01 };
    struct gcd_suspects *s, *largest;
    assert_int_equal(gcd_suspects_new(a.g, a.d, &none, &s, &err), GCD_OK);
    assert_int_equal(gcd_suspects_count(s), 0);
    assert_int_equal(gcd_largest_consumer(a.g, a.d, &o, s, &largest, &err), GCD_OK);
    assert_non_null(largest);
    assert_int_equal(gcd_suspects_get(largest, 0)->node, own);
    gcd_suspects_free(largest);
    gcd_suspects_free(s);
    forget(a);
}

static void a_large_object_is_its_own_suspect(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t holder = node(p, "Holder", 24);
    child(p, holder, "Byte[]", 1000);
    static_root(p, holder, "s_buffer");
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Byte[]");
    assert_string_equal(
        s->sentence,
        "97.7 % of the heap (1,000 bytes) is held by one Holder: a Byte[] of 1,000 bytes. "
        "It is held by the static variable s_buffer.");
    forget(a);
}

static void what_one_suspect_keeps_is_not_counted_with_the_one_around_it(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t host = node(p, "Host", 100), cache, array;
    static_root(p, host, "s_host");
    for (int i = 0; i < 10; i++)
        child(p, host, "Part", 40);
    cache = child(p, host, "Cache", 24);
    array = child(p, cache, "Entry[]", 76);
    for (int i = 0; i < 8; i++)
        child(p, array, "Entry", 50);
    struct answer a = ask(p, 0.3);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    const struct gcd_suspect *outer = suspect(a, 0, GCD_SUSPECT_OBJECT, "Host"),
                             *inner = suspect(a, 1, GCD_SUSPECT_OBJECT, "Entry[]");
    assert_int_equal(outer->bytes, 100 + 400 + 24);
    assert_int_equal(outer->retained_bytes, 1000);
    assert_int_equal(inner->bytes, 476);
    assert_non_null(
        strstr(outer->sentence, ", beside 476 bytes of large parts in it, which count alone"));
    assert_int_equal(outer->held_objects, 11);
    forget(a);
}

static void a_long_list_is_one_suspect(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 3; period++) {
        static const char *const names[] = { "Node", "Wrapper", "Node[]" };
        struct pile *p = pile_new();
        uint32_t first = node(p, "Owner", 24), at = first;
        static_root(p, first, "s_list");
        for (uint32_t i = 0; i < 3000; i++)
            at = child(p, at, names[i % period], 40);
        struct answer a = ask(p, 0.1);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Node");
        assert_int_equal(s->node, first + 1);
        assert_int_equal(s->objects, 3000 / period);
        assert_int_equal(s->shallow_bytes, 40 * 3000 / period);
        assert_int_equal(s->bytes, 40 * 3000);
        assert_non_null(strstr(s->sentence, " is held by one Owner: a list or tree of "));
        assert_int_equal(s->held_count, 0);
        forget(a);
    }
}

static void a_tree_of_one_type_is_one_suspect(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t set = node(p, "Set", 24);
    static_root(p, set, "s_set");
    for (uint32_t i = 1; i < 1024;
         i++) /* as in a heap: the children of number i are 2i and 2i + 1 */
        node(p, "Node", 40);
    edge(p, set, set + 1);
    for (uint32_t i = 2; i < 1024; i++)
        edge(p, set + i / 2, set + i);
    struct answer a = ask(p, 0.1);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(suspect(a, 0, GCD_SUSPECT_OBJECT, "Node")->objects, 1023);
    forget(a);
}

static void collections_in_collections_are_no_list(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t outer = node(p, "Map", 80), inner, entries;
    static_root(p, outer, "s_map");
    inner = child(p, child(p, outer, "Entry[]", 40), "Map", 80);
    entries = child(p, inner, "Entry[]", 200);
    for (int i = 0; i < 20; i++)
        child(p, entries, "Item", 100);
    struct answer a = ask(p, 0.1);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(suspect(a, 0, GCD_SUSPECT_OBJECT, "Entry[]")->node, entries);
    forget(a);
}

static void the_way_down_ends_where_no_child_keeps_nearly_all(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, "List", 3), array, rest = node(p, "Rest", 899);
    /* 101 in all, then 98: nearly all of it, and less than a share */
    array = child(p, list, "Item[]", 8);
    for (int i = 0; i < 9; i++)
        child(p, array, "Item", 10);
    static_root(p, list, "s_list");
    for (int i = 0; i < 9; i++)
        static_root(p, child(p, rest, "Piece", 0), "s_piece");
    root(p, rest, GCD_ROOT_HANDLE, 0, "");
    struct answer a = ask(p, 0.1);
    assert_int_equal(suspect(a, 1, GCD_SUSPECT_OBJECT, "Item[]")->node, array);
    assert_int_equal(gcd_suspects_get(a.s, 1)->bytes, 98);
    forget(a);
}

static void a_dependent_handle_on_the_way_is_told(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t key = node(p, "Key", 24), value = node(p, "Value", 900);
    dependent(p, key, value);
    static_root(p, key, "s_key");
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Value");
    assert_int_equal(s->path_count, 2);
    assert_false(s->path[0].dependent);
    assert_true(s->path[1].dependent);
    assert_non_null(
        strstr(s->sentence, " is held by one Key and a dependent handle: a Value of 900 bytes. "));
    forget(a);
}

static void of_a_very_long_way_both_ends_are_shown(void **state)
{
    (void)state;
    /* longer than the period of a list */
    static const char *const names[] = { "A", "B", "B", "D", "E", "F", "G", "H", "I" };
    struct pile *p = pile_new();
    uint32_t at = node(p, "First", 8), first = at, big;
    static_root(p, at, "s_first");
    for (uint32_t i = 0; i < 900; i++)
        at = child(p, at, names[i % 9], 8);
    big = child(p, at, "Big", 100000);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Big");
    assert_int_equal(s->path[0].node, first);
    assert_int_equal(s->path[s->path_count - 1].node, big);
    assert_true(s->path_count < 50);
    uint64_t objects = 0, skipped = 0;
    for (size_t i = 0; i < s->path_count; i++) {
        objects += s->path[i].repeats;
        skipped += s->path[i].skipped;
        if (i > 0 && !s->path[i].skipped && !s->path[i - 1].skipped)
            assert_true(gcd_graph_refers(a.g, s->path[i - 1].last, s->path[i].node));
    }
    assert_int_equal(objects, 902);
    assert_int_equal(skipped, 1);
    forget(a);
}

/* ---- groups ---- */

static void objects_of_one_type_held_by_handles(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    for (int i = 0; i < 20; i++)
        root(p, child(p, node(p, "Other", 10), "Session", 100) - 1, GCD_ROOT_STACK, 0, "");
    for (uint32_t i = 0; i < 20; i++) {
        root(p, 2 * i + 1, GCD_ROOT_HANDLE, 0, "");
        root(p, 2 * i + 1, GCD_ROOT_HANDLE, 0, "");
    }
    struct answer a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_TYPE, "Session");
    assert_int_equal(s->objects, 20);
    assert_int_equal(s->bytes, 2000);
    assert_int_equal(s->alike, 20);
    assert_int_equal(s->path_count, 1);
    assert_string_equal(s->sentence, "20 Session objects together keep 2.0 KiB alive, 90.9 % of "
                                     "the heap; no single object holds them all. "
                                     "All of them are held directly by strong handles.");
    forget(a);
}

/* Mono holds its objects of reflection itself; one of them is in a variable, too.  A made heap: no
 * dump of Mono is in the repository. */
static void reflection_of_mono(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        enum gcd_root_kind kind;
        bool listed;
    } rows[] = {
        { "System.RuntimeType", GCD_ROOT_OTHER, false },
        { "System.Reflection.RuntimeMethodInfo", GCD_ROOT_OTHER, false },
        { "System.Reflection.RuntimeFieldInfo", GCD_ROOT_OTHER, false },
        { "System.RuntimeType", GCD_ROOT_HANDLE, true },
        { "Shop.RuntimeType", GCD_ROOT_OTHER, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        for (int k = 0; k < 200; k++)
            root(p, node(p, rows[i].type, 100), rows[i].kind, 0, "");
        root(p, 0, GCD_ROOT_STACK, 0, "");
        for (int k = 0; k < 100; k++)
            root(p, node(p, "Shop.Session", 100), GCD_ROOT_HANDLE, 0, "");
        struct answer a = ask(p, 0.2);
        assert_int_equal(gcd_suspects_count(a.s), rows[i].listed ? 2 : 1);
        (void)suspect(a, rows[i].listed, GCD_SUSPECT_TYPE, "Shop.Session");
        forget(a);
    }
}

static void advice_for_each_kind_of_root(void **state)
{
    (void)state;
    static const struct {
        enum gcd_root_kind kind;
        unsigned flags;
        const char *advice;
    } rows[] = {
        { GCD_ROOT_STACK, 0,
          "Methods that are running hold them in variables: see the stacks of the threads "
          "(dotnet-stack)." },
        { GCD_ROOT_HANDLE, 0,
          "Free each GCHandle, or unregister each native callback, when its work is done: look for "
          "what makes Session objects." },
        { GCD_ROOT_HANDLE, GCD_ROOT_PINNED,
          "Free each pinned GCHandle, also after an exception, or allocate what stays pinned with "
          "GC.AllocateArray: look for what makes Session objects." },
        { GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED,
          "Native code holds them through COM: look for an interface that is never released." },
        { GCD_ROOT_OTHER, 0, "The runtime itself holds them: no variable does." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        for (int k = 0; k < 20; k++)
            root(p, node(p, "Session", 100), rows[i].kind, rows[i].flags, "");
        struct answer a = ask(p, 0.5);
        assert_string_equal(suspect(a, 0, GCD_SUSPECT_TYPE, "Session")->advice, rows[i].advice);
        forget(a);
    }
}

static void objects_of_one_type_in_two_containers(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t by_id = node(p, "Order[]", 40), by_name = node(p, "List", 40), order;
    for (int i = 0; i < 30; i++) {
        order = child(p, by_id, "Order", 100);
        if (i < 25)
            edge(p, by_name, order);
        else
            root(p, order, GCD_ROOT_HANDLE, 0, "");
    }
    static_root(p, by_id, "s_by_id");
    static_root(p, by_name, "s_by_name");
    struct answer a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_TYPE, "Order");
    assert_int_equal(s->objects, 30);
    assert_int_equal(s->alike, 25);
    assert_non_null(strstr(s->sentence, "25 of them are in one Order[]"));
    forget(a);
}

static void the_finalizer_queue(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    static_root(p, node(p, "App", 500), "s_app");
    for (int i = 0; i < 10; i++) {
        uint32_t pending = node(p, i < 7 ? "Pending" : "Closing", 24);
        child(p, pending, "Load", 76);
        root(p, pending, GCD_ROOT_FINALIZER, 0, "");
    }
    struct answer a = ask(p, 0.4);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_FINALIZERS, "Pending");
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(s->objects, 10);
    assert_int_equal(s->bytes, 1000);
    assert_int_equal(s->shallow_bytes, 240);
    assert_int_equal(s->content_objects, 20);
    assert_true(
        strncmp(
            s->sentence,
            "10 objects wait for their finalizers, mostly Pending (7), and keep 1,000 bytes alive",
            83) == 0);
    forget(a);
}

/* What is there most of need not be what keeps the bytes. */
static void the_finalizer_queue_by_bytes(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    static_root(p, node(p, "App", 500), "s_app");
    static const char *const frames[] = {
        "7 (.NET Finalizer)", "7 (.NET Finalizer) in System.GC.Run", "8 (App) in Shop.App.Main",
        "7 (.NET Finalizer) in Shop.Driver.Close", "7 (.NET Finalizer) in Shop.Image.Finalize"
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        put_root(p, &(struct gcd_root){ .node = 0,
                                        .kind = GCD_ROOT_STACK,
                                        .name = "",
                                        .class_name = "",
                                        .label = frames[i] });
    for (int i = 0; i < 10; i++) {
        uint32_t waits = node(p, i < 7 ? "Handle" : "Image", 40);
        if (i >= 7)
            child(p, waits, "Byte[]", 1000);
        root(p, waits, GCD_ROOT_FINALIZER, 0, "");
    }
    struct answer a = ask(p, 0.4);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_FINALIZERS, "Image");
    assert_int_equal(s->node, 8);
    assert_non_null(strstr(s->sentence, "10 objects wait for their finalizers, 3 of them Image "
                                        "(3.0 KiB) and 7 Handle, and keep 3.3 KiB alive"));
    assert_string_equal(s->advice, "A finalizer is slow or blocked: the finalizer thread is in "
                                   "Driver.Close.");
    forget(a);
}

/* Sessions in a static list far away, by dropped timers in the queue, and some in the queue
 * themselves: the list holds them. */
static void what_waits_and_is_in_use(void **state)
{
    (void)state;
    for (int used = 0; used < 2; used++) {
        struct pile *p = pile_new();
        uint32_t app = node(p, "App", 24), cache = child(p, app, "Cache", 24),
                 list = child(p, cache, "Session[]", 24 + 30 * 8);
        static_root(p, app, "s_app");
        for (int i = 0; i < 30; i++) {
            uint32_t timer = node(p, "Timer", 24), session = child(p, timer, "Session", 1000);
            root(p, timer, GCD_ROOT_FINALIZER, 0, "");
            if (i < 5)
                root(p, session, GCD_ROOT_FINALIZER, 0, "");
            if (used)
                edge(p, list, session);
        }
        struct answer a = ask(p, 0.5);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        if (!used) {
            assert_int_equal(suspect(a, 0, GCD_SUSPECT_FINALIZERS, "Timer")->objects, 35);
            forget(a);
            continue;
        }
        const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Session[]");
        assert_int_equal(s->path_count, 3);
        assert_non_null(strstr(s->sentence,
                               "is held by one Cache: 30 Session in a Session[]. It is "
                               "held by the static variable s_app."));
        forget(a);
    }
}

/* The path of an object begins at the first of its roots by the order, and that is what holds a
 * type. */
static void the_first_of_several_roots(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    for (int i = 0; i < 10; i++) {
        uint32_t session = node(p, "Session", 1000);
        root(p, session, GCD_ROOT_FINALIZER, 0, "");
        root(p, session, GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED, "");
        root(p, session, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
        root(p, session, GCD_ROOT_STACK, 0, "");
    }
    for (int i = 0; i < 5; i++)
        root(p, node(p, "Session", 1000), GCD_ROOT_HANDLE, 0, "");
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_TYPE, "Session");
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(gcd_root_group(&gcd_graph_summary(a.g)->roots[s->root]),
                     GCD_GROUP_PINNED_HANDLES);
    assert_non_null(strstr(s->sentence, "10 of them are held directly by pinned handles."));
    forget(a);
}

/* A thread works on a list of a store: the store holds it, be it below another local variable.  Not
 * so if the store is below the list. */
static void what_a_stack_refers_to_belongs_to_its_owner(void **state)
{
    (void)state;
    enum { BELOW_STATIC, BELOW_LIST, ON_STACK, OWNED, CASES_OF_STACKS };
    for (int i = 0; i < CASES_OF_STACKS; i++) {
        struct pile *p = pile_new();
        static const char name[] = "System.Collections.Generic.List<Order>";
        uint32_t user = node(p, i == OWNED ? "Worker" : name, 32),
                 list = i == OWNED ? child(p, user, name, 32) : user,
                 array = child(p, list, "Order[]", 64), app = node(p, "App", 24),
                 store = child(p, i == BELOW_LIST ? array : app, "Store", 24);
        for (int k = 0; k < 5; k++)
            child(p, array, "Order", 180);
        edge(p, store, user);
        root(p, user, GCD_ROOT_STACK, 0, "");
        if (i == ON_STACK)
            root(p, app, GCD_ROOT_STACK, 0, "");
        else
            static_root(p, app, "s_app");
        struct answer a = ask(p, 0.3);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        enum gcd_root_group group = gcd_root_group(&gcd_graph_summary(a.g)->roots[s->root]);
        bool is_static = i == BELOW_STATIC || i == OWNED;
        assert_int_equal(group, is_static ? GCD_GROUP_STATICS : GCD_GROUP_LOCALS);
        assert_int_equal(s->path[0].node, i == BELOW_LIST ? user : app);
        if (i != BELOW_LIST)
            assert_int_equal(s->path[1].node, store);
        assert_int_equal(s->owner_node, i == BELOW_LIST ? GCD_NODE_NONE
                                        : i == OWNED    ? user
                                                        : store);
        forget(a);
    }
}

static void one_that_waits_and_is_large_alone_is_an_object(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t pending = node(p, "Pending", 24);
    child(p, pending, "Load", 976);
    root(p, pending, GCD_ROOT_FINALIZER, 0, "");
    struct answer a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_non_null(
        strstr(suspect(a, 0, GCD_SUSPECT_OBJECT, "Load")->sentence, " is held by one Pending: "));
    forget(a);
}

/* ---- shapes ---- */

/* What holds the handlers of an event; the second one since .NET 11. */
static const char *const lists[] = { "System.Object[]", "Wrapper[]" };

/* An event of N handlers in a LIST, each of a Listener of LISTENER_BYTES; returns the publisher. */
static uint32_t make_event(struct pile *p, const char *list_type, uint32_t n,
                           uint64_t listener_bytes, bool listeners_elsewhere)
{
    uint32_t publisher = node(p, "Button", 24), delegate = child(p, publisher, "Action", 64), list,
             registry = 0;
    edge(p, delegate, delegate);
    list = child(p, delegate, list_type, 16 + 8 * n);
    if (listeners_elsewhere) {
        registry = node(p, "Registry", 24);
        static_root(p, registry, "s_registry");
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t listener = child(p, child(p, list, "Action", 64), "Listener", listener_bytes);
        if (listeners_elsewhere)
            edge(p, registry, listener);
    }
    return publisher;
}

static void the_handlers_of_an_event(void **state)
{
    (void)state;
    /* the second would be suspicious without its size, too: it is told once */
    static const uint32_t counts[] = { 50, 1500 };
    for (size_t i = 0; i < 2; i++) {
        uint32_t n = counts[i];
        struct pile *p = pile_new();
        static_root(p, make_event(p, lists[i], n, 1000, false), "s_button");
        struct answer a = ask(p, 0.5);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_HANDLERS, "Action");
        assert_false(s->overlaps);
        assert_int_equal(s->objects, n);
        assert_int_equal(s->held_objects, n);
        assert_int_equal(s->held[0].bytes, 1000 * n);
        assert_string_equal(type_name(a, s->held[0].type), "Listener");
        assert_string_equal(type_name(a, s->path[0].type), "Button");
        assert_int_equal(s->bytes, 16 + 8 * n + n * 1064);
        forget(a);
    }
}

/* The words for an event follow the language that its field tells. */
static void an_event_of_visual_basic(void **state)
{
    (void)state;
    static const struct {
        const char *events, *sentence, *advice;
    } rows[] = {
        { "Clicked Action;", "The event Button.Clicked, an Action, has 50 handlers",
          "Look for a += on Button.Clicked without its -= in Listener." },
        { "Clicked/Event Action;", "The event Button.Clicked, an Action, has 50 handlers",
          "Look for WithEvents or AddHandler on Button.Clicked without RemoveHandler in "
          "Listener." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        static_root(p, make_event(p, lists[0], 50, 1000, false), "s_button");
        p->types[type(p, "Button")].events = rows[i].events;
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_HANDLERS, "Action");
        if (strstr(s->sentence, rows[i].sentence) == NULL || strcmp(s->advice, rows[i].advice) != 0)
            fail_msg("%s %s", s->sentence, s->advice);
        forget(a);
    }
}

/* Iterators, lambdas and functions of F# have the names of the source. */
static void types_that_compilers_make(void **state)
{
    (void)state;
    static const struct {
        const char *type, *words;
    } rows[] = {
        { "Shop.Cart+<Items>d__6", ": 500 iterators of Cart.Items in a List" },
        { "Shop.Cart+<>c__DisplayClass5_0", ": 500 lambdas in Cart in a List" },
        { "Shop.Harbour+berth@14", ": 500 functions in Harbour.berth, line 14 in a List" },
        { "Shop.Cart+Items", ": 500 Cart+Items in a List" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t holder = node(p, "Shop.Holder", 24),
                 list = child(p, holder, "System.Collections.Generic.List`1[System.Object]", 32),
                 items = child(p, list, "System.Object[]", 16 + 8 * 512);
        static_root(p, holder, "s_holder");
        for (unsigned k = 0; k < 500; k++)
            child(p, child(p, items, rows[i].type, 24), "System.Byte[]", 1000);
        struct gcd_error e = GCD_ERROR_INIT;
        struct answer a = { .g = pile_graph(p) };
        struct gcd_names *names;
        assert_int_equal(gcd_names_new(gcd_graph_summary(a.g), GCD_NAMES_RUNTIME, NULL, &names, &e),
                         GCD_OK);
        assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, &e), GCD_OK);
        struct gcd_suspects_options how = { .share = 0.5, .min_bytes = 1, .names = names };
        assert_int_equal(gcd_suspects_new(a.g, a.d, &how, &a.s, &e), GCD_OK);
        const char *sentence = gcd_suspects_get(a.s, 0)->sentence;
        if (strstr(sentence, rows[i].words) == NULL)
            fail_msg("%s", sentence);
        gcd_names_free(names);
        forget(a);
    }
}

/* A hundred buttons with some handlers each: the list of buttons is not what went wrong.  Buttons
 * with two handlers each, and buttons whose handlers keep little, are as they should be. */
static void handlers_of_an_event_of_many_objects(void **state)
{
    (void)state;
    static const struct {
        uint32_t buttons, handlers;
        uint64_t bytes;
        bool found;
    } rows[] = { { 100, 10, 1000, true },
                 { 100, 9, 1000, false },
                 { 99, 10, 1000, false },
                 { 100, 10, 24, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Window", 5000 + 16 * rows[i].buttons);
        static_root(p, all, "s_window");
        for (uint32_t k = 0; k < rows[i].buttons; k++)
            edge(p, all, make_event(p, lists[0], rows[i].handlers, rows[i].bytes, false));
        struct answer a = ask_with(p, 0.5, 500000);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_HANDLERS)->found, rows[i].found);
        if (rows[i].found) {
            assert_int_equal(gcd_suspects_count(a.s), 1);
            const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
            if (strstr(s->sentence, "n event of 100 Button objects, an Action, has 1,000 handlers "
                                    "(about 10 each), all methods of Listener objects") == NULL)
                fail_msg("%s", s->sentence);
            assert_string_equal(s->advice, "Look for a += without its -= in Listener.");
        }
        forget(a);
    }
}

static void a_list_of_two_delegates_is_neither_s(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t first = make_event(p, lists[0], 1200, 24, false) + 1, list = first + 1,
             second = node(p, "Action", 64);
    edge(p, second, second);
    edge(p, second, list);
    static_root(p, first, "s_first");
    static_root(p, second, "s_second");
    struct answer a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(suspect(a, 0, GCD_SUSPECT_OBJECT, "System.Object[]")->node, list);
    forget(a);
}

static void very_many_handlers_are_suspicious_by_themselves(void **state)
{
    (void)state;
    for (uint32_t n = 999; n <= 1000; n++) {
        struct pile *p = pile_new();
        uint32_t big = node(p, "Big", 100000000);
        static_root(p, make_event(p, lists[0], n, 24, true), "s_button");
        static_root(p, big, "s_big");
        struct answer a = ask(p, 0.5);
        assert_int_equal(gcd_suspects_count(a.s), n == 1000 ? 2 : 1);
        if (n == 1000) {
            const struct gcd_suspect *s = suspect(a, 1, GCD_SUSPECT_HANDLERS, "Action");
            assert_true(s->overlaps);
            assert_int_equal(s->objects, 1000);
            assert_int_equal(s->node, 2);
            assert_int_equal(s->held[0].objects, 1000);
            assert_int_equal(s->held[0].bytes, 0);
            assert_non_null(
                strstr(s->sentence, "has 1,000 handlers, all methods of Listener objects."));
            assert_string_equal(s->advice, "Look for a += without its -= in Listener.");
        }
        forget(a);
    }
}

static void a_node_with_children_of_its_type_is_no_event(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t top = node(p, "Node", 24), list = child(p, top, "System.Object[]", 9000);
    child(p, top, "Name", 24);
    for (int i = 0; i < 1200; i++)
        child(p, list, "Node", 24);
    static_root(p, top, "s_top");
    struct answer a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    suspect(a, 0, GCD_SUSPECT_OBJECT, "System.Object[]");
    forget(a);
}

static void many_collections_of_one_size(void **state)
{
    (void)state;
    for (uint32_t n = 9999; n <= 10000; n++) {
        static const char list_name[] = "System.Collections.Generic.List`1[Shop.Line]";
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Order[]", 80000);
        static_root(p, all, "s_all");
        for (uint32_t i = 0; i < n; i++) {
            uint32_t array = child(p, child(p, all, list_name, 32), "Shop.Line[]", 56);
            if (i % 2 == 0)
                child(p, array, "Shop.Line", 24);
        }
        struct answer a = ask(p, 0.2);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *all_of = suspect(a, 0, GCD_SUSPECT_OBJECT, "Shop.Order[]");
        assert_int_equal(all_of->also_count, n == 10000);
        if (n == 10000) {
            const struct gcd_suspect *s = told_by(a, 0, GCD_SUSPECT_COLLECTIONS, list_name);
            assert_non_null(
                strstr(all_of->sentence, "10,000 List`1[Line] objects of the same size, "));
            assert_string_equal(all_of->advice, s->advice);
            assert_true(s->overlaps);
            assert_int_equal(s->objects, 10000);
            assert_int_equal(s->bytes, 880000);
            assert_int_equal(s->shallow_bytes, 320000);
            assert_non_null(
                strstr(s->sentence,
                       " of the same size, 88 bytes each with their arrays, take 859.4 KiB,"));
            assert_non_null(strstr(s->sentence, "refer to 5,000 objects in all"));
        }
        forget(a);
    }
}

static void an_array_that_several_collections_share_is_none_of_theirs(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Order[]", 80000), empty = node(p, "Shop.Line[]", 24);
    static_root(p, all, "s_all");
    for (uint32_t i = 0; i < 10000; i++)
        edge(p, child(p, all, "System.Collections.Generic.Stack`1[Shop.Line]", 32), empty);
    struct answer a = ask(p, 0.2);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(
        told_by(a, 0, GCD_SUSPECT_COLLECTIONS, "System.Collections.Generic.Stack`1[Shop.Line]")
            ->bytes,
        320000);
    forget(a);
}

static void many_arrays_without_elements(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Order[]", 160000);
    static_root(p, all, "s_all");
    for (uint32_t i = 0; i < 20000; i++)
        child(p, all, i % 2 == 0 ? "System.Int32[]" : "System.Byte[]", i % 2 == 0 ? 24 : 25);
    struct answer a = ask(p, 0.1);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    const struct gcd_suspect *s = suspect(a, 1, GCD_SUSPECT_COLLECTIONS, "System.Int32[]");
    assert_int_equal(s->objects, 10000);
    assert_non_null(
        strstr(s->sentence, "10,000 Int32[] objects without any element take 234.4 KiB"));
    forget(a);
}

static void free_memory_around_pinned_objects(void **state)
{
    (void)state;
    for (uint32_t pinned = 9; pinned <= 10; pinned++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "App", 50);
        static_root(p, all, "s_app");
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t buffer = child(p, all, "Buffer", 33);
            if (i < pinned)
                root(p, buffer, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
        }
        /* around all objects, which lie 0x1000 bytes apart */
        p->used_bytes = 0x20000;
        struct answer a = ask(p, 0.5);
        size_t n = gcd_suspects_count(a.s);
        assert_int_equal(gcd_suspects_get(a.s, n - 1)->kind == GCD_SUSPECT_PINNED, pinned == 10);
        if (pinned == 10) {
            const struct gcd_suspect *s = suspect(a, n - 1, GCD_SUSPECT_PINNED, "Buffer");
            assert_true(s->overlaps);
            assert_int_equal(s->objects, 10);
            assert_int_equal(s->bytes, 0x20000 - 56 - 20 * 40);
            assert_non_null(
                strstr(s->sentence,
                       "127.2 KiB of 128.0 KiB are free around 10 pinned objects, all Buffer:"));
        }
        forget(a);
    }
}

/* ---- in general ---- */

static void a_small_heap_has_no_suspects(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(24, false);
    struct gcd_dominators *d;
    struct gcd_suspects *s;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_suspects_new(g, d, NULL, &s, &err), GCD_OK);
    assert_int_equal(gcd_suspects_count(s), 0);
    assert_int_equal(gcd_suspects_threshold(s), GCD_SUSPECTS_MIN_BYTES);
    assert_int_equal(gcd_suspects_heap_bytes(s), 88);
    assert_int_equal(gcd_suspects_consumer_count(s), 1);
    assert_int_equal(gcd_suspects_consumer(s, 0)->bytes, 88);
    gcd_suspects_free(s);
    static const double bad[] = { 0.0009, 1.01, -1, 1e300, -0.1 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            gcd_suspects_new(g, d, &(struct gcd_suspects_options){ .share = bad[i] }, &s, &err),
            GCD_E_ARG);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void without_roots_nobody_knows_what_holds_it(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    child(p, node(p, "Holder", 24), "Big", 1000);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = suspect(a, 0, GCD_SUSPECT_OBJECT, "Big");
    assert_int_equal(s->path_count, 2);
    assert_true(s->root == SIZE_MAX);
    assert_non_null(strstr(s->sentence, "What holds it is not known: the dump has no roots."));
    forget(a);
}

static bool is_below(const struct gcd_dominators *d, uint32_t low, uint32_t high)
{
    while (low != high && low < GCD_NODE_ROOT)
        low = gcd_dominators_parent(d, low);
    return low == high;
}

static void check_path(const struct gcd_graph *g, const struct gcd_dominators *d,
                       const struct gcd_suspect *s)
{
    if (s->path_count == 0)
        return;
    assert_int_equal(s->path[s->path_count - 1].node, s->node);
    if (gcd_dominators_pseudo_roots(d) == 0)
        assert_int_equal(gcd_graph_summary(g)->roots[s->root].node, s->path[0].node);
    for (size_t i = 1; i < s->path_count; i++)
        if (s->path[i - 1].repeats == 1 && !s->path[i - 1].skipped)
            assert_true(graph_leads(g, s->path[i - 1].node, s->path[i].node));
}

/* The bytes below a suspect that is one object, without those below another such suspect. */
static uint64_t own_bytes(const struct gcd_graph *g, const struct gcd_dominators *d,
                          const struct gcd_suspects *s, const struct gcd_suspect *of)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        bool own = gcd_dominators_parent(d, i) != GCD_NODE_NONE && is_below(d, i, of->node);
        for (size_t k = 0; k < gcd_suspects_count(s); k++) {
            const struct gcd_suspect *x = gcd_suspects_get(s, k);
            if (x != of && x->kind == GCD_SUSPECT_OBJECT && is_below(d, x->node, of->node) &&
                is_below(d, i, x->node))
                own = false;
        }
        bytes += own ? gcd_graph_node_size(g, i) : 0;
    }
    return bytes;
}

static void random_graphs(void **state)
{
    (void)state;
    static const double shares[] = { 0.5, 0.2, 0.1, 0.03, 0.001 };
    size_t kinds[GCD_SUSPECT_KINDS] = { 0 };
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed, .max_nodes = 60, .plain_sizes = true, .keep_unknown = seed % 3 == 0 });
        struct gcd_dominators *d;
        struct gcd_suspects *s;
        struct gcd_suspects_options o = { .share = shares[seed % 5], .min_bytes = 1 };
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_suspects_new(g, d, &o, &s, &err), GCD_OK);
        uint64_t sum = 0, consumed = 0, least = gcd_suspects_threshold(s);
        for (size_t i = 0; i < gcd_suspects_count(s); i++) {
            const struct gcd_suspect *x = gcd_suspects_get(s, i);
            const struct gcd_suspect *before = i > 0 ? gcd_suspects_get(s, i - 1) : NULL;
            assert_true(before == NULL || before->overlaps < x->overlaps ||
                        (before->overlaps == x->overlaps && before->bytes >= x->bytes));
            assert_true(strlen(x->sentence) > 20);
            check_path(g, d, x);
            sum += x->overlaps ? 0 : x->bytes;
            kinds[x->kind]++;
            if (x->kind == GCD_SUSPECT_OBJECT) {
                assert_int_equal(x->bytes, own_bytes(g, d, s, x));
                assert_true(x->bytes >= least - least / 5 - 1 ||
                            strstr(x->sentence, ": a list or tree of ") != NULL);
                assert_int_equal(x->retained_bytes, gcd_dominators_retained(d, x->node));
            }
        }
        assert_true(sum <= gcd_dominators_retained(d, GCD_NODE_ROOT));
        /* no large object is silently left out */
        for (uint32_t n = 0; n < gcd_graph_node_count(g); n++) {
            bool told = gcd_dominators_retained(d, n) < least;
            for (size_t i = 0; i < gcd_suspects_count(s) && !told; i++) {
                const struct gcd_suspect *x = gcd_suspects_get(s, i);
                told = x->kind == GCD_SUSPECT_OBJECT &&
                       (is_below(d, x->node, n) || is_below(d, n, x->node));
            }
            assert_true(told);
        }
        for (size_t i = 0; i < gcd_suspects_consumer_count(s); i++)
            consumed += gcd_suspects_consumer(s, i)->bytes;
        assert_int_equal(consumed, gcd_dominators_retained(d, GCD_NODE_ROOT));
        gcd_suspects_free(s);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
    assert_true(kinds[GCD_SUSPECT_OBJECT] > 1000 && kinds[GCD_SUSPECT_TYPE] > 200 &&
                kinds[GCD_SUSPECT_FINALIZERS] > 0);
}

/* How the question for suspects ends, of N objects of SIZE in one array. */
static gcd_status ask_for_many(uint32_t n, uint64_t size, double share, size_t *ret_count)
{
    struct pile *p = pile_new();
    struct answer a;
    uint32_t all = node(p, "Shop.Order[]", 24);
    static_root(p, all, "s_orders");
    for (uint32_t i = 0; i < n; i++)
        child(p, all, "Shop.Order", size);
    gcd_status st = try_to_ask(p, share, 1, &a, &err);
    *ret_count = st == GCD_OK ? gcd_suspects_count(a.s) : 0;
    forget(a);
    return st;
}

/* A heap has at most as many suspects as shares of the threshold; more than that have impossible
 * sizes, and are not described one by one. */
static void no_more_suspects_than_shares(void **state)
{
    (void)state;
    size_t n;
    assert_int_equal(ask_for_many(9, 1000000, 0.1, &n), GCD_OK);
    assert_int_equal(n, 9);
    assert_int_equal(ask_for_many(999, 1000000, 0.001, &n), GCD_OK);
    assert_int_equal(n, 999);
    assert_int_equal(ask_for_many(60, UINT64_MAX / 2, 0.1, &n), GCD_OK);
    assert_int_equal(n, 60);
    assert_int_equal(ask_for_many(200, UINT64_MAX / 2, 0.1, &n), GCD_E_LIMIT);
    assert_non_null(strstr(err.msg, "the sizes of the objects cannot be true"));
    assert_int_equal(ask_for_many(9000, UINT64_MAX / 2, 0.001, &n), GCD_E_LIMIT);
}

/* Names of any length, sizes up to 2^64 - 1. */
static void odd_graphs_do_no_harm(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES(600); seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 60);
        struct gcd_dominators *d;
        struct gcd_suspects *s;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        assert_int_equal(
            gcd_suspects_new(g, d, &(struct gcd_suspects_options){ .share = 0.01, .min_bytes = 1 },
                             &s, &err),
            GCD_OK);
        for (size_t i = 0; i < gcd_suspects_count(s); i++)
            assert_true(strlen(gcd_suspects_get(s, i)->sentence) < 4095);
        gcd_suspects_free(s);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t seed = 0;
    /* a graph with suspects of several kinds */
    for (size_t kinds = 0; kinds < 3; seed++) {
        struct gcd_graph *g =
            graph_gen(&(struct graph_gen){ .seed = seed, .max_nodes = 40, .plain_sizes = true });
        struct gcd_dominators *d;
        struct gcd_suspects *s;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        assert_int_equal(
            gcd_suspects_new(g, d, &(struct gcd_suspects_options){ .share = 0.05, .min_bytes = 1 },
                             &s, &err),
            GCD_OK);
        bool seen[GCD_SUSPECT_KINDS] = { false };
        kinds = 0;
        for (size_t i = 0; i < gcd_suspects_count(s); i++) {
            kinds += !seen[gcd_suspects_get(s, i)->kind];
            seen[gcd_suspects_get(s, i)->kind] = true;
        }
        gcd_suspects_free(s);
        for (uint64_t at = 1; kinds == 3; at++) {
            struct failalloc f;
            failalloc_init(&f);
            f.fail_at = at;
            s = NULL;
            struct gcd_suspects_options o = { .context.alloc = &f.alloc,
                                              .share = 0.05,
                                              .min_bytes = 1 };
            gcd_status st = gcd_suspects_new(g, d, &o, &s, &err);
            if (st != GCD_OK || f.failed == 0) /* a memo may be left out */
                assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            assert_int_equal(s != NULL, st == GCD_OK);
            gcd_suspects_free(s);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(24, false);
    struct gcd_dominators *d;
    struct gcd_suspects *s = NULL;
    gcd_cancel_flag stop = true;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(
        gcd_suspects_new(g, d, &(struct gcd_suspects_options){ .context.cancel = &stop }, &s, &err),
        GCD_E_CANCELED);
    assert_null(s);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_list_is_found_at_its_array),
        cmocka_unit_test(a_large_object_is_its_own_suspect),
        cmocka_unit_test(what_comes_from_being_observed_is_counted_and_not_accused),
        cmocka_unit_test(what_one_suspect_keeps_is_not_counted_with_the_one_around_it),
        cmocka_unit_test(a_long_list_is_one_suspect),
        cmocka_unit_test(a_tree_of_one_type_is_one_suspect),
        cmocka_unit_test(collections_in_collections_are_no_list),
        cmocka_unit_test(the_way_down_ends_where_no_child_keeps_nearly_all),
        cmocka_unit_test(a_dependent_handle_on_the_way_is_told),
        cmocka_unit_test(of_a_very_long_way_both_ends_are_shown),
        cmocka_unit_test(objects_of_one_type_held_by_handles),
        cmocka_unit_test(advice_for_each_kind_of_root),
        cmocka_unit_test(reflection_of_mono),
        cmocka_unit_test(objects_of_one_type_in_two_containers),
        cmocka_unit_test(the_finalizer_queue),
        cmocka_unit_test(the_finalizer_queue_by_bytes),
        cmocka_unit_test(what_waits_and_is_in_use),
        cmocka_unit_test(the_first_of_several_roots),
        cmocka_unit_test(what_a_stack_refers_to_belongs_to_its_owner),
        cmocka_unit_test(one_that_waits_and_is_large_alone_is_an_object),
        cmocka_unit_test(the_handlers_of_an_event),
        cmocka_unit_test(an_event_of_visual_basic),
        cmocka_unit_test(types_that_compilers_make),
        cmocka_unit_test(handlers_of_an_event_of_many_objects),
        cmocka_unit_test(a_list_of_two_delegates_is_neither_s),
        cmocka_unit_test(very_many_handlers_are_suspicious_by_themselves),
        cmocka_unit_test(a_node_with_children_of_its_type_is_no_event),
        cmocka_unit_test(many_collections_of_one_size),
        cmocka_unit_test(an_array_that_several_collections_share_is_none_of_theirs),
        cmocka_unit_test(many_arrays_without_elements),
        cmocka_unit_test(free_memory_around_pinned_objects),
        cmocka_unit_test(a_small_heap_has_no_suspects),
        cmocka_unit_test(without_roots_nobody_knows_what_holds_it),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(no_more_suspects_than_shares),
        cmocka_unit_test(odd_graphs_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
