/* Suspects in the words of the program: who of its own objects holds them, in which collection, how
 * long that lives, what is typical. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/origins.h>

#include "support/check.h"
#include "support/pile.h"

#define LIST     "System.Collections.Generic.List`1[Shop.Order]"
#define PROVIDER "Microsoft.Extensions.DependencyInjection.ServiceProvider"
#define LOOKUP   "Microsoft.Extensions.DependencyInjection.ServiceLookup."
#define OPTIONS  "Microsoft.Extensions.Options.OptionsMonitor`1"
#define SCOPE    LOOKUP "ServiceProviderEngineScope"

static struct gcd_error err = GCD_ERROR_INIT;

static const struct gcd_suspect *first(struct answer a)
{
    assert_true(gcd_suspects_count(a.s) > 0);
    return gcd_suspects_get(a.s, 0);
}

static void said(struct answer a, const char *sentence)
{
    assert_string_equal(first(a)->sentence, sentence);
    forget(a);
}

/* COUNT orders with a line of 100 bytes each in an array below AT. */
static void fill(struct pile *p, uint32_t at, unsigned count, const char *array)
{
    uint32_t orders = child(p, at, array, 24 + 8 * count);
    for (unsigned i = 0; i < count; i++)
        child(p, child(p, orders, "Shop.Order", 100), "System.Byte[]", 100);
}

/* ---- owners ---- */

static void the_nearest_own_object(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t app = node(p, "Shop.App", 24), cache = child(p, app, "Shop.Cache", 24),
             list = child(p, cache, LIST, 32);
    static_root(p, app, "s_app");
    fill(p, list, 20, "Shop.Order[]");
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_int_equal(s->owner_node, cache);
    assert_string_equal(type_name(a, s->owner), "Shop.Cache");
    assert_true(s->owner_alone);
    assert_int_equal(s->node, list);
    assert_string_equal(s->collection, "list");
    assert_int_equal(s->elements, 20);
    assert_string_equal(type_name(a, s->element.type), "Shop.Order");
    assert_int_equal(s->element.objects, 20);
    /* the bytes of the arrays below are theirs, and their own array is no owner */
    assert_int_equal(s->own_count, 1);
    assert_int_equal(s->own[0].objects, 20);
    assert_int_equal(s->own[0].bytes, 20 * 200);
    assert_int_equal(s->path[0].origin, GCD_ORIGIN_OWN);
    assert_int_equal(s->path[2].origin, GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(s->path[2].fold, GCD_FOLD_SHOWN);
    assert_int_equal(s->path_count, 3); /* what is inside of the collection is no step */
    said(a, "98.9 % of the heap (4.1 KiB) is held by one Cache: 20 Order in a List`1[Order]. It is "
            "held by the static variable s_app.");
}

/* Objects of a framework that wrap one of the program's own each are known by that one. */
static void one_own_object_in_each(void **state)
{
    (void)state;
    static const struct {
        unsigned carts;
        const char *said;
    } cases[] = { { 20, "Your own types in it: Cart (one in each, 1.2 KiB)." },
                  { 19, "Your own types in it: Cart (19 objects, 1.1 KiB)." },
                  { 21, "Your own types in it: Cart (21 objects, 1.2 KiB)." } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, "System.Collections.Generic.List`1[System.Circuit]", 32),
                 array = child(p, list, "System.Circuit[]", 24 + 8 * 20), last = list;
        root(p, list, GCD_ROOT_HANDLE, 0, "");
        for (unsigned i = 0; i < cases[k].carts; i++) {
            last = i < 20 ? child(p, array, "System.Circuit", 100) : last;
            child(p, last, "Shop.Cart", 60);
        }
        for (unsigned i = cases[k].carts; i < 20; i++)
            child(p, array, "System.Circuit", 100);
        struct answer a = ask(p, 0.5);
        if (strstr(first(a)->sentence, cases[k].said) == NULL)
            fail_msg("%u: %s", cases[k].carts, first(a)->sentence);
        forget(a);
    }
}

/* Nothing of the program's own holds the list. */
static void a_list_without_an_owner(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, LIST, 32);
    root(p, list, GCD_ROOT_HANDLE, 0, "");
    fill(p, list, 20, "Shop.Order[]");
    said(ask(p, 0.5),
         "A List`1[Order] with 20 Order keeps 4.1 KiB alive, 100.0 % of the heap. It is "
         "held by a strong handle.");
}

static void it_is_not_the_only_way(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t cache = node(p, "Shop.Cache", 24), list = child(p, cache, LIST, 32),
             other = node(p, "System.Object", 24);
    uint32_t far = child(p, other, "System.Object", 24);
    root(p, cache, GCD_ROOT_HANDLE, 0, "");
    root(p, other, GCD_ROOT_OTHER, 0, "");
    edge(p, far, list);
    fill(p, list, 10, "Shop.Order[]");
    struct answer a = ask(p, 0.5);
    assert_false(first(a)->owner_alone);
    said(a, "96.7 % of the heap (2.1 KiB) is reached through one Cache: 10 Order in a "
            "List`1[Order]. It is held by a strong handle.");
}

static void only_a_static_variable_is_own(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, LIST, 32);
    put_root(p, &(struct gcd_root){ .node = list,
                                    .kind = GCD_ROOT_STATIC,
                                    .name = "s_orders",
                                    .class_name = "Shop.Archive",
                                    .label = "Shop.Archive.s_orders" });
    fill(p, list, 20, "Shop.Order[]");
    struct answer a = ask(p, 0.5);
    assert_int_equal(first(a)->owner_node, GCD_NODE_NONE);
    assert_int_equal(first(a)->owner, GCD_TYPE_NONE);
    said(a, "100.0 % of the heap (4.1 KiB) is held by the static variable Shop.Archive.s_orders: "
            "20 Order in a List`1[Order].");
}

static void nothing_on_the_path_is_own(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 32), at = queue;
    put_root(p, &(struct gcd_root){ .node = queue,
                                    .kind = GCD_ROOT_STATIC,
                                    .name = "s_all",
                                    .class_name = "System.Threading.TimerQueue",
                                    .label = "System.Threading.TimerQueue.s_all" });
    for (unsigned i = 0; i < 40; i++) {
        at = child(p, at, "System.Threading.Timer", 10);
        child(p, child(p, at, "Shop.Job", 30), "System.Byte[]", 60);
    }
    struct answer a = ask(p, 0.5);
    said(a, "A list or tree of 40 Timer objects keeps 3.9 KiB alive, 99.2 % of the heap. It is "
            "held by the static variable "
            "System.Threading.TimerQueue.s_all through TimerQueue. Your own types in it: Job (40 "
            "objects, 3.5 KiB).");
}

static void what_the_caller_says_is_own(void **state)
{
    (void)state;
    for (int mine = 0; mine < 2; mine++) {
        struct pile *p = pile_new();
        uint32_t parts = node(p, "Parts.Store", 24), list = child(p, parts, LIST, 32);
        root(p, parts, GCD_ROOT_STACK, 0, "");
        fill(p, list, 20, "Shop.Order[]");
        struct gcd_summary s = { .types = p->types,
                                 .type_count = (uint32_t)p->type_count,
                                 .command_line = "",
                                 .process_name = "" };
        uint8_t types[16] = { 0 };
        for (size_t i = 0; i < p->type_count; i++) {
            p->types[i].module_number = GCD_MODULE_NONE;
            p->types[i].module_path = "";
            types[i] = strcmp(p->types[i].name, "Parts.Store") == 0;
        }
        struct gcd_origins *o;
        assert_int_equal(
            gcd_origins_new(&s, &(struct gcd_origins_options){ .mine = mine ? types : NULL }, &o,
                            &err),
            GCD_OK);
        struct answer a;
        assert_int_equal(
            ask_how(p, &(struct gcd_suspects_options){ .share = 0.5, .min_bytes = 1, .origins = o },
                    &a, &err),
            GCD_OK);
        assert_string_equal(type_name(a, first(a)->owner), "Parts.Store");
        assert_int_equal(first(a)->own_count, mine ? 0 : 1);
        forget(a);
        gcd_origins_free(o);
    }
}

#define BOX                                                                                   \
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System." \
    "Int32,Shop.Import+<RunAsync>d__1]"

/* The class of such an object is the framework's, whatever its own method is. */
static void a_call_is_in_no_module(void **state)
{
    (void)state;
    for (int call = 0; call < 2; call++) {
        struct pile *p = pile_new();
        uint32_t owner = node(p, call ? BOX : "Shop.Import", 64), list = child(p, owner, LIST, 32);
        root(p, owner, GCD_ROOT_STACK, 0, "");
        fill(p, list, 20, "Shop.Order[]");
        struct gcd_summary s = { .types = p->types,
                                 .type_count = (uint32_t)p->type_count,
                                 .command_line = "",
                                 .process_name = "" };
        for (size_t i = 0; i < p->type_count; i++) {
            p->types[i].module_number = GCD_MODULE_NONE;
            p->types[i].module_path = "/app/Some.dll";
            p->types[i].raw_name = p->types[i].name;
        }
        struct gcd_names *names;
        struct answer a;
        assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &names, &err), GCD_OK);
        assert_int_equal(
            ask_how(p,
                    &(struct gcd_suspects_options){ .share = 0.5, .min_bytes = 1, .names = names },
                    &a, &err),
            GCD_OK);
        assert_string_equal(first(a)->owner_module, call ? "" : "Some.dll");
        assert_non_null(strstr(first(a)->sentence, call ? "held by Import.RunAsync: 20"
                                                        : "held by one Import (Some.dll): 20"));
        gcd_names_free(names);
        forget(a);
    }
}

/* An event with 1,000 handlers, whose targets, TARGET, refer to own objects. */
static const struct gcd_suspect *handlers_in(struct answer *a, const char *target)
{
    struct pile *p = pile_new();
    uint32_t feed = node(p, "Shop.Feed", 24), event = child(p, feed, "System.Action", 64),
             list = child(p, event, "System.Object[]", 24 + 8 * 1000);
    edge(p, event, event);
    static_root(p, feed, "s_feed");
    for (int i = 0; i < 1000; i++)
        child(p, child(p, child(p, list, "System.Action", 64), target, 24), "Shop.View", 100);
    *a = ask(p, 0.5);
    assert_int_equal(first(*a)->kind, GCD_SUSPECT_HANDLERS);
    return first(*a);
}

static void whose_handlers(void **state)
{
    (void)state;
    struct answer a;
    const struct gcd_suspect *s = handlers_in(&a, "Shop.Panel");
    assert_non_null(strstr(s->sentence, "has 1,000 handlers, all methods of Panel objects. It"));
    assert_string_equal(s->advice, "Look for a += without its -= in Panel.");
    forget(a);
    s = handlers_in(&a, "Shop.Panel+<>c__DisplayClass1_0");
    assert_non_null(strstr(s->sentence, "has 1,000 handlers, all lambdas in Panel. It"));
    assert_string_equal(
        s->advice,
        "Look for a += without its -= in Panel; only a lambda kept in a variable can be removed.");
    forget(a);
    s = handlers_in(&a, "System.Options.Tracker");
    assert_non_null(strstr(s->sentence, "all methods of Tracker objects. It"));
    assert_non_null(strstr(s->sentence, " Your own types in it: View (1,000 objects, 97.7 KiB)."));
    assert_string_equal(s->advice, "Look for what subscribes and never unsubscribes: View.");
    forget(a);
}

/* Options that have changed call back until somebody disposes of what OnChange returned; the event
 * is the place if a service provider holds it. */
static void nobody_disposes_of_a_subscription(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct pile *p = pile_new();
        uint32_t provider = node(p, PROVIDER, 8),
                 monitor = child(p, provider, OPTIONS "[Shop.Flags]", 64),
                 event = child(p, monitor, "System.Action", 64),
                 list = child(p, event, "System.Object[]", 24 + 8 * 1000);
        static_root(p, provider, "s_provider");
        edge(p, event, event);
        for (int i = 0; i < 1000; i++)
            child(p,
                  child(p, child(p, list, "System.Action", 64),
                        OPTIONS "+ChangeTrackerDisposable[Shop.Flags]", 24),
                  "Shop.View", 100);
        p->types[type(p, OPTIONS "[Shop.Flags]")].events = named ? "_onChange System.Action;" : "";
        struct answer a = ask(p, 0.5);
        assert_string_equal(first(a)->place,
                            named ? "OptionsMonitor`1[Flags]._onChange" : "Action");
        assert_string_equal(first(a)->advice, "Look in View for an OnChange: nobody disposes of "
                                              "the IDisposable that it returns.");
        forget(a);
    }
}

/* The variable of a static event names it, also where the event is the framework's. */
static void a_static_event_of_the_framework(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t event = node(p, "System.Action", 64),
             list = child(p, event, "System.Object[]", 24 + 8 * 1000);
    edge(p, event, event);
    static_root(p, event, "s_changed");
    for (int k = 0; k < 1000; k++)
        child(p, child(p, list, "System.Action", 64), "Shop.View", 100);
    struct answer a = ask(p, 0.5);
    assert_string_equal(first(a)->advice, "Look for a += without its -= in View.");
    said(a, "The static variable s_changed, an Action, has 1,000 handlers, all methods of View "
            "objects. It keeps 168.0 KiB alive, "
            "100.0 % of the heap.");
}

/* Which event it is, by the fields of the object that refers to it; EVENTS can say anything. */
static void which_event(void **state)
{
    (void)state;
    static const struct {
        const char *events, *words, *advice;
    } rows[] = {
        { NULL, "An event of one Feed, an Action, has", "Look for a += without its -= in" },
        { "", "An event of one Feed, an Action, has", "Look for a += without its -= in" },
        { "Changed System.Action;", "The event Feed.Changed, an Action, has",
          "Look for a += on Feed.Changed without its -= in" },
        { "Closed System.EventHandler;Changed System.Action;",
          "The event Feed.Changed, an Action, has", "on Feed.Changed without" },
        { "Changed System.Action;Closed System.Action;",
          "An event of one Feed, Changed or Closed, an Action, has", "a += without" },
        { "A System.Action;B System.Action;C System.Action;",
          "An event of one Feed, A, B or C, an Action, has", "a += without" },
        { "A System.Action;B System.Action;C System.Action;D System.Action;",
          "Feed, A, B, C or another, an Action, has", "a += without" },
        { "Changed System.Action;?",
          "An event of one Feed, Changed or one of a base class, an Action, has", "a += without" },
        { "Closed System.EventHandler;?", "An event of one Feed, an Action, has", "a += without" },
        { "Changed System.Actio;", "An event of one Feed, an Action, has", "a += without" },
        { "Changed System.Action`1;", "An event of one Feed, an Action, has", "a += without" },
        { "Changed System.Action", "An event of one Feed, an Action, has", "a += without" },
        { ";", "An event of one Feed, an Action, has", "a += without" },
        { "Changed;X System.Action;", "An event of one Feed, an Action, has", "a += without" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t feed = node(p, "Shop.Feed", 24), event = child(p, feed, "System.Action", 64);
        uint32_t list = child(p, event, "System.Object[]", 24 + 8 * 1000);
        p->types[type(p, "Shop.Feed")].events = rows[i].events;
        edge(p, event, event);
        static_root(p, feed, "s_feed");
        for (int k = 0; k < 1000; k++)
            child(p, child(p, list, "System.Action", 64), "Shop.View", 100);
        struct answer a = ask(p, 0.5);
        if (strstr(first(a)->sentence, rows[i].words) == NULL)
            fail_msg("%s", first(a)->sentence);
        assert_non_null(strstr(first(a)->advice, rows[i].advice));
        forget(a);
    }
}

/* Keys and values that cannot be told apart: people think of values; and of own types first. */
static void what_the_elements_are(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *want;
    } cases[] = {
        { "Shop.Key", "Shop.Result", "Shop.Result" },
        { "Shop.Key", "System.Object", "Shop.Key" },
        { "System.Uri", "System.Object", "System.Object" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pile *p = pile_new();
        uint32_t cache = node(p, "Shop.Cache", 24),
                 list = child(p, cache, "System.Collections.Generic.List`1[System.Object]", 32);
        uint32_t items = child(p, list, "System.Object[]", 24 + 8 * 40);
        static_root(p, cache, "s_cache");
        for (int k = 0; k < 20; k++) {
            child(p, items, cases[i].key, 100);
            child(p, items, cases[i].value, 100);
        }
        struct answer a = ask(p, 0.5);
        assert_string_equal(type_name(a, first(a)->element.type), cases[i].want);
        assert_int_equal(first(a)->element.objects, 20);
        forget(a);
    }
}

/* If objects contain each other, each byte counts for the nearest. */
/* The names of a type, and of a list and an array of it. */
#define LISTED(type)                                                   \
    {                                                                  \
        type, "System.Collections.Generic.List`1[" type "]", type "[]" \
    }
static const char *const letters[] = LISTED("Shop.Letter"),
                         *const lazies[] = LISTED("System.Lazy`1[Shop.Cache]"),
                         *const reports[] = LISTED("Shop.Report");

/* COUNT objects of a type in a list below AT; returns the first: the others follow. */
static uint32_t fill_list(struct pile *p, uint32_t at, unsigned count, const char *const names[3])
{
    uint32_t elements = child(p, child(p, at, names[1], 32), names[2], 24 + 8 * count),
             first_one = (uint32_t)p->node_count;
    for (unsigned i = 0; i < count; i++)
        child(p, elements, names[0], 24);
    return first_one;
}

/* Nodes that hold the next nodes in lists are one tree, from its root on. */
static void a_tree_of_lists(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t words = node(p, "Shop.Words", 24), root = child(p, words, "Shop.Letter", 24);
    static_root(p, words, "s_words");
    uint32_t below = fill_list(p, root, 20, letters);
    for (unsigned i = 0; i < 20; i++)
        fill_list(p, below + i, 20, letters);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_int_equal(s->node, root);
    assert_int_equal(s->objects, 421);
    assert_int_equal(s->bytes, 421 * 24 + 21 * (32 + 24 + 8 * 20));
    assert_int_equal(s->content_objects, 421 + 2 * 21);
    assert_int_equal(s->own[0].objects, 421);
    assert_null(s->collection);
    assert_int_equal(s->owner_node, words);
    assert_string_equal(s->place, "Words");
    assert_string_equal(s->what, "421 Letter objects, 34 bytes each");
    assert_string_equal(s->advice, "If it grows, look in Words for what adds Letter objects to "
                                   "this tree and never removes them.");
    said(a, "99.8 % of the heap (14.3 KiB) is held by one Words: a list or tree of 421 Letter "
            "objects. It is held by the static variable s_words.");
}

/* The same with the next nodes in fields, or in arrays; but few of a type are no tree. */
static void a_tree_of_fields_or_arrays(void **state)
{
    (void)state;
    static const struct {
        bool arrays;
        unsigned below; /* each of the first four */
        const char *what, *sentence;
    } rows[] = {
        { false, 16, "69 Letter objects, 116 bytes each",
          "one Words: a list or tree of 69 Letter objects. It is held by the static variable "
          "s_words." },
        { true, 16, "69 Letter objects, 122 bytes each",
          "one Words: a list or tree of 69 Letter objects. It is held by the static variable "
          "s_words." },
        { false, 8, "4 Letter objects, 1,016 bytes each", NULL },
        { true, 8, "4 Letter, 1.1 KiB each", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t words = node(p, "Shop.Words", 24), root = child(p, words, "Shop.Letter", 24),
                 below = rows[i].arrays ? child(p, root, "Shop.Letter[]", 80) : root;
        static_root(p, words, "s_words");
        for (unsigned k = 0; k < 4; k++) {
            uint32_t one = child(p, below, "Shop.Letter", 24),
                     in = rows[i].arrays ? child(p, one, "Shop.Letter[]", 80) : one;
            for (unsigned m = 0; m < rows[i].below; m++)
                child(p, child(p, in, "Shop.Letter", 24), "System.Byte[]", 100);
        }
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_string_equal(s->what, rows[i].what);
        if (rows[i].sentence != NULL) {
            assert_non_null(strstr(s->sentence, rows[i].sentence));
            assert_int_equal(s->node, root);
            assert_int_equal(s->own[0].objects, s->objects);
            assert_string_equal(s->place, "Words");
        }
        forget(a);
    }
}

/* The elements are the framework's, and each has one of the program's objects, which grow. */
static void what_grows_below_wrappers(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t tenants = node(p, "Shop.Tenants", 24);
    static_root(p, tenants, "s_tenants");
    uint32_t lazy = fill_list(p, tenants, 10, lazies);
    for (unsigned i = 0; i < 10; i++)
        fill_list(p, child(p, lazy + i, "Shop.Cache", 24), 200, reports);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_string_equal(s->what, "10 Lazy`1[Cache], about 200 Report in each");
    assert_string_equal(s->advice,
                        "Look in Cache for what adds Report objects and never lets go of them.");
    assert_int_equal(s->advice_condition, 0);
    forget(a);
}

/* A value that all entries share is not what there are many of; what cannot grow needs no second
 * dump; and an advice knows its condition. */
static void what_there_are_many_of(void **state)
{
    (void)state;
    static const char list[] = "System.Collections.Generic.List`1[System.Object]";
    struct pile *p = pile_new();
    uint32_t store = node(p, "Shop.Store", 24),
             elements = child(p, child(p, store, list, 32), "System.Object[]", 24 + 8 * 40),
             shared = node(p, "Shop.Shared", 24);
    static_root(p, store, "s_store");
    for (unsigned i = 0; i < 20; i++) {
        child(p, elements, "System.Text.Json.JsonDocument", 1000);
        edge(p, elements, shared);
    }
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_string_equal(type_name(a, s->element.type), "System.Text.Json.JsonDocument");
    assert_int_equal(s->advice_condition, strlen("If it grows, "));
    assert_string_not_equal(s->evidence, "");
    forget(a);
}

/* What is large by design is a note: the only one, and no suspect. */
static const struct gcd_suspect *design(struct answer a)
{
    assert_int_equal(gcd_suspects_count(a.s), 0);
    assert_int_equal(gcd_suspects_note_count(a.s), 1);
    const struct gcd_suspect *x = gcd_suspects_note(a.s, 0);
    assert_int_equal(x->kind, GCD_SUSPECT_DESIGN);
    return x;
}

/* Twenty objects in COLLECTION, which the field of an object of OWNER refers to. */
static struct answer in_pool(const char *owner, const char *collection)
{
    struct pile *p = pile_new();
    uint32_t pool = node(p, owner, 24),
             elements = child(p, child(p, pool, collection, 32), "Shop.Order[]", 24 + 8 * 20);
    static_root(p, pool, "s_pool");
    for (unsigned i = 0; i < 20; i++)
        child(p, elements, "Shop.Order", 1000);
    return ask(p, 0.5);
}

static void pools_of_the_program(void **state)
{
    (void)state;
    static const char stack[] = "System.Collections.Generic.Stack`1[Shop.Order]";
    struct answer a = in_pool("Shop.Pool`1[Shop.Order]", stack);
    assert_non_null(strstr(design(a)->advice, "for the next peak"));
    forget(a);
    a = in_pool("Shop.OrderPool", "System.Collections.Concurrent.ConcurrentBag`1[Shop.Order]");
    (void)design(a);
    forget(a);
    a = in_pool("Shop.Pools", stack);
    assert_int_equal(first(a)->kind, GCD_SUSPECT_OBJECT);
    forget(a);
    a = in_pool("Shop.OrderPool", "System.Collections.Generic.List`1[Shop.Order]");
    (void)design(a);
    forget(a);
    a = in_pool("Shop.OrderPool",
                "System.Collections.Generic.Dictionary`2[System.Int32,Shop.Order]");
    assert_int_equal(first(a)->kind, GCD_SUSPECT_OBJECT);
    forget(a);
}

/* A variable of the program is named like one for what a pool has to hand out, or is not. */
static void pools_by_their_variables(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool pool;
    } cases[] = { { "s_pool", true },         { "Shop.Render.s_freeBuffers", true },
                  { "_idle", true },          { "Shop.Render.BufferPool", true },
                  { "s_freezing", false },    { "Shop.Render.s_orders", false },
                  { "s_availability", false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, LIST, 32);
        static_root(p, list, cases[i].name);
        p->roots[0].class_name = "Shop.Render";
        fill(p, list, 20, "Shop.Order[]");
        struct answer a = ask(p, 0.5);
        assert_int_equal(gcd_suspects_note_count(a.s), cases[i].pool);
        assert_int_equal(gcd_suspects_count(a.s), !cases[i].pool);
        forget(a);
    }
}

/* A list was not added to lately if all in it is in the oldest generation, not only elements. */
static void what_has_nothing_young_in_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        unsigned generation = i == 0 ? 1 : 2;
        bool young = i == 2; /* what the last element refers to */
        struct pile *p = pile_new();
        uint32_t app = node(p, "Shop.App", 24);
        static_root(p, app, "s_app");
        fill(p, child(p, app, LIST, 32), 20, "Shop.Order[]");
        p->used_bytes = young ? 0x1000 * p->node_count : 1 << 20;
        p->young_bytes = young ? 0x1000 : 0;
        p->generation = generation;
        struct answer a = ask(p, 0.5);
        bool old = i == 1;
        assert_int_equal(strstr(first(a)->evidence, "nothing in it has come since") != NULL, old);
        assert_string_equal(first(a)->advice,
                            old ? "If all of it is needed, nothing is wrong. If it grows, look in "
                                  "App for what adds to it and never removes."
                                : "If it grows, look in App for what adds to it and never "
                                  "removes.");
        assert_string_equal(first(a)->advice + first(a)->advice_condition,
                            "look in App for what adds to it and never removes.");
        forget(a);
    }
}

/* The slots of a ThreadLocal below HEAD, which is not there without the ThreadLocal, each also in
 * the table of one of three threads.  IN NAME, RET: the value in each slot. */
static void put_slots(struct pile *p, uint32_t head, const char *name, uint32_t ret[3])
{
#define THREAD_LOCAL "System.Threading.ThreadLocal`1"
#define ITS_SLOT     THREAD_LOCAL "+LinkedSlot[Shop.Value]"
    uint32_t last = head;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t variables = node(p, "System.Object[]", 32),
                 table = child(p, variables, THREAD_LOCAL "+LinkedSlotVolatile[Shop.Value][]", 48),
                 slot = child(p, table, ITS_SLOT, 48);
        root(p, variables, GCD_ROOT_STACK, 0, NULL);
        edge(p, slot, table);
        if (last != GCD_NODE_NONE) {
            edge(p, last, slot);
            edge(p, slot, last);
        }
        last = slot;
        ret[i] = child(p, slot, name, 24);
    }
}

/* What each thread has in a ThreadLocal belongs to the object that has this; and a ConcurrentBag
 * keeps its elements in such a one. */
static void values_of_threads(void **state)
{
    (void)state;
#define BAG "System.Collections.Concurrent.ConcurrentBag`1"
    static const char *const what[] = { "3 values of threads, 4.4 KiB each",
                                        "120 Line, 112 bytes each",
                                        "3 ThreadLocal`1+LinkedSlot[Value] objects, 4.3 KiB each" };
    for (unsigned i = 0; i < 3; i++) { /* 2: without the ThreadLocal */
        struct pile *p = pile_new();
        uint32_t value[3], parser = node(p, "Shop.Parser", 24), local = parser;
        uint32_t bag = i == 1 ? child(p, parser, BAG "[Shop.Line]", 40) : parser;
        uint32_t head = GCD_NODE_NONE;
        static_root(p, parser, "s_parser");
        if (i < 2) {
            local = child(p, bag, THREAD_LOCAL "[Shop.Value]", 40);
            head = child(p, local, ITS_SLOT, 48);
        }
        put_slots(p, head, i == 1 ? BAG "+WorkStealingQueue[Shop.Line]" : "Shop.Value", value);
        if (i == 1)
            edge(p, bag, value[0]);
        for (unsigned k = 0; k < 3; k++) {
            uint32_t at = child(p, value[k], "Shop.Line[]", 24 + 8 * 40);
            if (i == 1 && k < 2)
                edge(p, value[k], value[k + 1]);
            for (unsigned line = 0; line < 40; line++)
                child(p, at, "Shop.Line", 100);
        }
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        assert_string_equal(s->place, i < 2 ? "Parser" : "ThreadLocal`1+LinkedSlot[Value]");
        assert_string_equal(s->what, what[i]);
        if (i == 0)
            assert_string_equal(s->advice,
                                "If it grows, look in Parser for what each thread adds to its "
                                "value; if the ThreadLocal tracks all values, those of threads "
                                "that have ended stay until it is disposed of.");
        forget(a);
    }
}

/* So many values of threads that there are not: those that have ended have left theirs. */
static void values_of_threads_that_have_ended(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads < 3; threads++) {
        struct pile *p = pile_new();
        uint32_t parser = node(p, "Shop.Parser", 24),
                 at = child(p, parser, THREAD_LOCAL "[Shop.Value]", 40),
                 head = child(p, at, ITS_SLOT, 48), last = head;
        static_root(p, parser, "s_parser");
        for (unsigned i = 0; i < 12; i++) {
            uint32_t slot = child(p, last, ITS_SLOT, 48);
            child(p, slot, "Shop.Value", 1000);
            edge(p, slot, last);
            last = slot;
        }
        for (unsigned i = 0; i < 3 * threads; i++)
            static_root(p, node(p, "System.Threading.Thread", 72), "s_thread");
        struct answer a = ask(p, 0.5);
        bool ended = threads == 1;
        assert_string_equal(first(a)->what,
                            ended ? "12 values of threads, with only 3 threads left, 1.0 KiB each"
                                  : "12 values of threads, 1.0 KiB each");
        assert_int_equal(first(a)->size_only, !ended);
        if (ended)
            assert_string_equal(first(a)->advice,
                                "Most of these threads have ended: a ThreadLocal that tracks all "
                                "values keeps theirs until it is disposed of. Look in Parser for "
                                "trackAllValues, or for threads that are made again and again.");
        forget(a);
    }
}

static void caches_of_what_was_used_last(void **state)
{
    (void)state;
#define GENERIC "System.Collections.Generic."
    for (unsigned both = 0; both < 2; both++) {
        struct pile *p = pile_new();
        uint32_t cache = node(p, "Shop.Recent", 24),
                 list = child(p, cache, GENERIC "LinkedList`1[Shop.Order]", 40);
        uint32_t entries = both != 0 ? child(p,
                                             child(p, cache,
                                                   GENERIC "Dictionary`2[System.String," GENERIC
                                                           "LinkedListNode`1[Shop.Order]]",
                                                   80),
                                             GENERIC "Dictionary`2+Entry[]", 500)
                                     : child(p, cache, "Shop.Index[]", 500);
        static_root(p, cache, "s_recent");
        for (unsigned i = 0; i < 20; i++) {
            uint32_t one = child(p, entries, GENERIC "LinkedListNode`1[Shop.Order]", 40);
            child(p, one, "Shop.Order", 1000);
            edge(p, list, one);
        }
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = both != 0 ? design(a) : first(a);
        assert_non_null(strstr(s->sentence, both != 0 ? "20 Order in a dictionary and a linked list"
                                                      : "Order (20)"));
        assert_int_equal(strstr(s->advice, "lower its limit") != NULL, both != 0);
        forget(a);
    }
}

static void frozen_collections(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t frozen = node(p, "System.Collections.Frozen.DefaultFrozenSet`1[Shop.Order]", 32);
    static_root(p, frozen, "s_orders");
    for (unsigned i = 0; i < 20; i++)
        child(p, frozen, "Shop.Order", 1000);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = design(a);
    assert_string_equal(s->collection, "frozen");
    assert_string_equal(s->evidence, "");
    assert_int_equal(s->advice_condition, 0);
    forget(a);
}

static void whose_bytes(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t top = node(p, "System.Object", 10), array = child(p, top, "System.Object[]", 20);
    root(p, top, GCD_ROOT_STACK, 0, "");
    for (int i = 0; i < 10; i++) {
        uint32_t outer = child(p, array, "Shop.Outer", 30),
                 gap = child(p, outer, "System.Object", 7),
                 inner = child(p, gap, "Shop.Inner", 100);
        child(p, inner, "System.Byte[]", 200);
    }
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_int_equal(s->own_count, 2);
    assert_string_equal(type_name(a, s->own[0].type), "Shop.Inner");
    assert_int_equal(s->own[0].objects, 10);
    assert_int_equal(s->own[0].bytes, 3000);
    assert_int_equal(s->own[1].objects, 10);
    assert_int_equal(s->own[1].bytes, 370);
    forget(a);
}

/* An own object counts itself what is directly below it. */
static void whose_bytes_at_the_top(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t cache = node(p, "Shop.Cache", 10);
    root(p, cache, GCD_ROOT_STACK, 0, "");
    for (int i = 0; i < 20; i++)
        child(p, cache, i % 2 != 0 ? "System.Thing" : "System.Other", 100);
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = first(a);
    assert_int_equal(s->node, cache);
    assert_int_equal(s->own_count, 1);
    assert_int_equal(s->own[0].objects, 1);
    assert_int_equal(s->own[0].bytes, 10 + 20 * 100);
    forget(a);
}

/* ---- static variables without a name ---- */

/* An array with the values of NAMED static variables and of one without a name, which keeps BYTES
 * in 20 objects; a thread works on a variable. */
static uint32_t statics(struct pile *p, unsigned named, unsigned bytes, const char *array)
{
    uint32_t all = node(p, array, 1000);
    root(p, all, GCD_ROOT_STACK, 4, "");
    root(p, all, GCD_ROOT_HANDLE, 0, "");
    for (unsigned i = 0; i < named; i++)
        static_root(p, child(p, all, "System.Thing", 10), "s_thing");
    uint32_t pool = child(p, all, "System.Pool", 10);
    for (int i = 0; i < 20; i++)
        child(p, pool, "System.Buffer", bytes / 20);
    return all;
}

static void variables_without_a_name(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = statics(p, 8, 20000, "System.Object[]");
    struct answer a = ask(p, 0.5);
    assert_string_equal(type_name(a, first(a)->type), "System.Pool");
    assert_int_equal(first(a)->path[0].node, all);
    /* not the thread, although that comes first */
    assert_int_equal(gcd_graph_summary(a.g)->roots[first(a)->root].kind, GCD_ROOT_HANDLE);
    said(a, "A Pool with 20 objects, all Buffer, keeps 19.5 KiB alive, 94.9 % of the heap. It is "
            "held by a static variable without a name through "
            "Object[].");
    p = pile_new();
    statics(p, 7, 20000, "System.Object[]");
    a = ask(p, 0.5);
    assert_non_null(strstr(first(a)->sentence, "It is held by a strong handle through Object[]."));
    forget(a);
    p = pile_new();
    statics(p, 8, 20000, "System.Array[]");
    a = ask(p, 0.5);
    assert_non_null(strstr(first(a)->sentence, "It is held by a strong handle through Array[]."));
    forget(a);
}

static void arrays_of_static_variables(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    statics(p, 8, 20000, "System.Object[]");
    statics(p, 8, 10000, "System.Object[]");
    uint32_t thread = node(p, "System.Object[]", 500);
    root(p, thread, GCD_ROOT_STACK, 0, "");
    struct answer a = ask(p, 0.7);
    assert_int_equal(first(a)->kind, GCD_SUSPECT_TYPE);
    assert_int_equal(first(a)->objects, 3);
    assert_int_equal(first(a)->alike, 2);
    /* the heaviest one */
    assert_int_equal(gcd_dominators_retained(a.d, first(a)->node), 1010 + 20000);
    assert_non_null(strstr(
        first(a)->sentence,
        "no single object holds them all. 2 of them are where the runtime keeps static variables; "
        "most of it is in variables without a name, as those of generic classes."));
    assert_string_equal(first(a)->advice,
                        "Look for static fields of generic classes that hold the types in it.");
    forget(a);
    p = pile_new(); /* one array, wide */
    uint32_t all = statics(p, 8, 20, "System.Object[]");
    for (int i = 0; i < 100; i++)
        child(p, all, i % 2 == 0 ? "System.Wide" : "System.Other", 200);
    a = ask(p, 0.5);
    assert_int_equal(first(a)->node, all);
    assert_non_null(strstr(first(a)->sentence, " It is where the runtime keeps static variables;"));
    assert_string_equal(first(a)->advice,
                        "Look for static fields of generic classes that hold the types in it.");
    forget(a);
}

/* Little of it: threads keep most. */
static void few_static_variables(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    statics(p, 8, 1000, "System.Object[]");
    for (int i = 0; i < 10; i++)
        root(p, node(p, "System.Object[]", 1000), GCD_ROOT_STACK, 0, "");
    struct answer a = ask(p, 0.5);
    assert_int_equal(first(a)->kind, GCD_SUSPECT_TYPE);
    if (strstr(first(a)->sentence, "held directly by thread stacks.") == NULL)
        fail_msg("%s", first(a)->sentence);
    forget(a);
}

/* ---- lifetimes ---- */

/* The object at the end of a path of TYPES. */
static struct answer held_by(const char *const *types, size_t n)
{
    struct pile *p = pile_new();
    uint32_t at = node(p, types[0], 8);
    root(p, at, GCD_ROOT_STACK, 0, "");
    for (size_t i = 1; i < n && types[i] != NULL; i++)
        at = child(p, at, types[i], 8);
    fill(p, child(p, at, "Shop.Cache", 24), 20, "Shop.Order[]");
    return ask(p, 0.5);
}

static void how_long_it_lives(void **state)
{
    (void)state;
    static const struct {
        const char *types[5], *text;
    } rows[] = {
        { { "System.Object" }, " It is held by a thread stack." },
        { { PROVIDER, "System.Func`1[System.Object]" },
          " It is registered in the service provider and lives as long as the program." },
        { { PROVIDER, SCOPE, "System.Collections.Generic.List`1[System.Object]",
            "System.Object[]" },
          " It is kept by the root scope of the service provider, which lives as long as the "
          "program." },
        { { "System.Object", SCOPE },
          " It belongs to a scope of the service provider that nobody has disposed." },
        /* so far away it says nothing */
        { { PROVIDER, "System.Net.Server" }, " It is held by a thread stack." },
        { { PROVIDER, "Shop.App" }, " It is held by a thread stack." },
        { { "Microsoft.Extensions.Hosting.IHostedService[]" },
          " It is a hosted service and lives as long as the program." },
        { { "System.Threading.TimerQueueTimer", "System.Threading.Timer" },
          " It is held by a timer that is running." },
        { { "System.Threading.ExecutionContext", "System.Threading.AsyncLocalValueMap+One" },
          " It is the value of an AsyncLocal." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = held_by(rows[i].types, 5);
        const char *said = first(a)->sentence;
        size_t n = strlen(said), end = strlen(rows[i].text);
        if (n < end || strcmp(said + n - end, rows[i].text) != 0)
            fail_msg("%s", said);
        forget(a);
    }
}

/* The shown step of TYPE on the path of S; SIZE_MAX = there is none. */
static size_t shown_step(struct answer a, const struct gcd_suspect *s, const char *name)
{
    for (size_t i = 0; i < s->path_count; i++)
        if (s->path[i].fold == GCD_FOLD_SHOWN && strcmp(type_name(a, s->path[i].type), name) == 0)
            return i;
    return SIZE_MAX;
}

/* People look on the path for what the sentence says. */
static void the_path_is_the_one_that_is_told(void **state)
{
    (void)state;
    struct answer a =
        held_by((const char *const[]){ "System.A", "System.B", "System.Threading.TimerQueueTimer",
                                       "System.Threading.Timer" },
                4);
    assert_int_equal(shown_step(a, first(a), "System.Threading.TimerQueueTimer"), 2);
    forget(a);
    for (unsigned itself = 0; itself < 3; itself++) {
        struct pile *p = pile_new();
        uint32_t queue = node(p, "System.Threading.TimerQueue", 8),
                 call = child(p, queue, "System.Threading.Call", 8),
                 service = child(p, call, "Shop.Catalogue", 24), provider = node(p, PROVIDER, 8),
                 cache = itself == 0 ? service : child(p, service, "Shop.Cache", 24), at = provider;
        static_root(p, queue, "Instances");
        if (itself < 2) /* else the service is the only one that leads to its provider */
            root(p, provider, GCD_ROOT_STACK, 0, "");
        else
            edge(p, service, provider);
        for (unsigned i = 0; i < 3; i++)
            at = child(p, at, "System.Object[]", 8);
        edge(p, child(p, at, LOOKUP "ConstructorCallSite", 8), service);
        fill(p, child(p, cache, "System.Collections.Generic.List`1[Shop.Order[]]", 24), 20,
             "Shop.Order[]");
        a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        size_t shown = shown_step(a, s, PROVIDER);
        if (strstr(s->sentence, itself > 0 ? " It is held by Catalogue, which is registered in the "
                                             "service provider"
                                           : " It is registered in the service provider") == NULL)
            fail_msg("%s", s->sentence);
        assert_int_equal(shown, itself < 2 ? 0 : SIZE_MAX);
        assert_int_equal(gcd_graph_summary(a.g)->roots[s->root].kind,
                         itself < 2 ? GCD_ROOT_STACK : GCD_ROOT_STATIC);
        forget(a);
    }
}

/* The list of what the root scope is to dispose of has advice of its own; what is in the list has
 * not. */
static void kept_by_the_root_scope(void **state)
{
    (void)state;
    for (unsigned deeper = 0; deeper < 2; deeper++) {
        struct pile *p = pile_new();
        uint32_t provider = node(p, PROVIDER, 8), scope = child(p, provider, SCOPE, 8);
        uint32_t list = child(p, scope, "System.Collections.Generic.List`1[System.Object]", 24);
        root(p, provider, GCD_ROOT_STACK, 0, "");
        if (deeper)
            list = child(p, child(p, list, "System.Object[]", 48),
                         "System.Collections.Generic.List`1[Shop.Order]", 24);
        fill(p, list, 20, deeper ? "Shop.Order[]" : "System.Object[]");
        struct answer a = ask(p, 0.5);
        assert_non_null(strstr(first(a)->sentence, "root scope"));
        assert_string_equal(first(a)->advice,
                            deeper ? "If it grows, look for what adds to it and never removes."
                                   : "Resolve Order from a scope that is disposed of: the root "
                                     "scope keeps each disposable service until the program ends.");
        forget(a);
    }
}

/* ---- types ---- */

/* Arrays that handles pin: the program's own type that refers to them, too, is named, if it refers
 * to half of them. */
static void who_else_refers_to_them(void **state)
{
    (void)state;
    for (int users = 9; users <= 10; users++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Video", 24);
        static_root(p, all, "s_video");
        for (int i = 0; i < 20; i++) {
            uint32_t pixels = node(p, "System.Byte[]", 1000);
            root(p, pixels, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
            uint32_t user = child(p, all, i < users ? "Shop.VideoFrame" : "System.Thing", 24);
            edge(p, user, pixels);
            child(p, user, "System.Byte[]", 8); /* that no root holds */
        }
        struct answer a = ask(p, 0.5);
        if ((strstr(first(a)->sentence,
                    "directly by pinned handles. VideoFrame objects refer to 10 of them, too.") !=
             NULL) != (users == 10) ||
            (strstr(first(a)->sentence, "refer to") != NULL) != (users == 10))
            fail_msg("%d: %s", users, first(a)->sentence);
        forget(a);
    }
}

/* Many links of 34 bytes, and before them one of a byte that the configuration holds: the path is
 * that of the many. */
static void a_typical_object(void **state)
{
    (void)state;
    for (unsigned n = 100; n <= 3000; n += 2900) { /* few are all looked at, of many some */
        struct pile *p = pile_new();
        uint32_t odd = node(p, "System.Link", 1),
                 configuration = node(p, "System.Configuration", 8),
                 index = node(p, "System.Index", 8);
        uint32_t source = node(p, "Shop.Source", 8), array = child(p, source, "System.Node[]", 8);
        static_root(p, configuration, "s_configuration");
        static_root(p, index, "s_index");
        static_root(p, source, "s_source");
        edge(p, configuration, odd);
        edge(p, index, odd);
        for (unsigned i = 0; i < n; i++) {
            uint32_t link = child(p, array, "System.Link", 4);
            child(p, link, "Shop.Job", 30);
            edge(p, index, link);
        }
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_int_equal(s->kind, GCD_SUSPECT_TYPE);
        assert_int_equal(s->objects, n + 1);
        /* the index has all of them, but for one as near to the configuration */
        assert_int_equal(s->alike, n);
        assert_string_equal(type_name(a, s->path[0].type), "System.Index");
        assert_non_null(strstr(s->sentence, n == 100
                                                ? " Your own types in it: Job (100 objects, "
                                                : " Your own types in it: Job (3,000 objects, "));
        forget(a);
    }
}

static void the_heaviest_way(void **state)
{
    (void)state;
    for (unsigned n = 40; n <= 4000; n *= 10) {
        struct pile *p = pile_new();
        uint32_t index = node(p, "System.Index", 8),
                 far = child(p, child(p, index, "System.Object", 8), "System.Index", 8);
        uint32_t light = node(p, "Shop.Light", 8), heavy = node(p, "Shop.Heavy", 8);
        static_root(p, index, "s_index");
        static_root(p, light, "s_light");
        static_root(p, heavy, "s_heavy");
        for (unsigned i = 0; i < n; i++) {
            bool is_heavy = i % 4 == 3; /* three of four are light */
            uint32_t link = child(p, is_heavy ? heavy : light, "System.Link", 8);
            child(p, link, "System.Byte[]", is_heavy ? 400 : 40);
            edge(p, far, link);
        }
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_int_equal(s->kind, GCD_SUSPECT_TYPE);
        assert_int_equal(s->alike, n / 4);
        assert_string_equal(type_name(a, s->owner), "Shop.Heavy");
        forget(a);
    }
}

/* ---- names ---- */

/* Without namespaces and outer types, if that is enough to distinguish them. */
static void short_names(void **state)
{
    (void)state;
    static const struct {
        const char *owner, *element, *is;
    } rows[] = {
        { "Shop.Cache", "Shop.Order", "one Cache: 20 Order in an Object[]." },
        /* also where the name comes first */
        { "Shop.Cache", "Shop.Old.Cache", "one Shop.Cache: 20 Shop.Old.Cache in an Object[]." },
        { "Cache", "Shop.Cache", "one Cache: 20 Shop.Cache in an Object[]." },
        { "Shop.Cache", "System.Tuple<Shop.Order, System.Int32[]>",
          "one Cache: 20 Tuple<Order, Int32[]> in an Object[]." },
        { "Shop.Cache", "System.Tuple<Shop.Order, Shop.Old.Order>",
          "one Cache: 20 Tuple<Shop.Order, Shop.Old.Order> in an Object[]." },
        { "Shop.Cache", "System.Set<Shop.Order>.Node",
          "one Cache: 20 Set<Order>.Node in an Object[]." },
        { "Shop.Cache", "Shop.Order [Old.Shop.dll]",
          "one Cache: 20 Order [Old.Shop.dll] in an Object[]." },
        { "Shop.Cache", "Shop.<>f__It<System.Int32>",
          "one Cache: 20 Shop.<>f__It<Int32> in an Object[]." },
        { "Shop.Cache", "Shop.Cart+Item+Part", "one Cache: 20 Cart+Item+Part in an Object[]." },
        { "Shop.Cache", "Shop..", "one Cache: 20 Shop.. in an Object[]." },
        { "Shop.Cache", "Shop.Bestellung\xc3\xbc [",
          "one Cache: 20 Bestellung\xc3\xbc [ in an Object[]." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t cache = node(p, rows[i].owner, 24),
                 all = child(p, cache, "System.Object[]", 24 + 20 * 8);
        static_root(p, cache, "s_cache");
        for (int k = 0; k < 20; k++)
            child(p, all, rows[i].element, 200);
        struct answer a = ask(p, 0.5);
        if (strstr(first(a)->sentence, rows[i].is) == NULL)
            fail_msg("%s", first(a)->sentence);
        forget(a);
    }
}

/* The suspects of P, which is freed, with names in C#. */
static struct answer ask_in_csharp(struct pile *p)
{
    struct gcd_summary s = { .types = p->types,
                             .type_count = (uint32_t)p->type_count,
                             .modules = p->modules,
                             .module_count = p->module_count };
    struct gcd_names *names;
    struct answer a;
    for (size_t i = 0; i < p->type_count; i++) {
        size_t module = p->types[i].module_number;
        p->types[i].raw_name = p->types[i].name;
        p->types[i].module_path = module < p->module_count ? p->modules[module].path : "";
    }
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &names, &err), GCD_OK);
    assert_int_equal(
        ask_how(p, &(struct gcd_suspects_options){ .share = 0.5, .min_bytes = 1, .names = names },
                &a, &err),
        GCD_OK);
    gcd_names_free(names);
    return a;
}

/* With the types that they are nested in. */
static void short_nested_names(void **state)
{
    (void)state;
    static const struct {
        const char *element, *is;
    } rows[] = {
        { "System.List`1[Shop.Cart+Item]", "List<Cart.Item>" },
        { "System.Map`2[Shop.Cart+Item+Part,Shop.Cart]", "Map<Cart.Item.Part, Cart>" },
        { "Shop.Cart+Item", "Cart.Item" },
        { "Shop.Cart+Slot`1[Shop.Bin+Item[]]", "Cart.Slot<Bin.Item[]>" },
        { "System.List`1[Shop.Box`1+Slot[System.Int32]]", "List<Box<Int32>.Slot>" },
        { "System.List`1[System.Map`2[Old.Shop.Cart,Shop.Cart+Item]]",
          "List<Map<Cart, Cart.Item>>" },
        /* the second is nested in nothing */
        { "System.Map`2[Old.Cart+Item,Cart.Item]", "Map<Cart.Item, Item>" },
        { "System.List`1[Shop.Import+<>c__DisplayClass1_0]", "List<Import.<>c__DisplayClass1_0>" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t all = child(p, node(p, "Shop.Cache", 24), "System.Object[]", 24 + 20 * 8);
        static_root(p, 0, "s_cache");
        for (int k = 0; k < 20; k++)
            child(p, all, rows[i].element, 200);
        struct answer a = ask_in_csharp(p);
        char is[100];
        (void)snprintf(is, sizeof is, "one Cache: 20 %s in an Object[].", rows[i].is);
        if (strstr(first(a)->sentence, is) == NULL)
            fail_msg("%s", first(a)->sentence);
        forget(a);
    }
}

#define SCRIPTS 12u

/* SCRIPTS own types of one name, each in a module of its own: of one file when LOADED, else of
 * different ones. */
static struct answer scripts(unsigned count, bool loaded)
{
    static struct gcd_module modules[SCRIPTS];
    static char paths[SCRIPTS][16];
    struct pile *p = pile_new();
    uint32_t all = child(p, node(p, "System.Lists", 24), "System.Object[]", 24 + 8 * count);
    static_root(p, 0, "s_all");
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "Script%u.dll", loaded ? 0 : i);
        modules[i] =
            (struct gcd_module){ .id = 1 + i, .path = paths[i], .assembly = "", .problem = "" };
        uint32_t n = (uint32_t)p->type_count;
        p->types[n] = (struct gcd_type){
            .id = n + 1, .name = "State", .described = true, .named = true, .module_number = i
        };
        p->type_count++;
        edge(p, all, node_of(p, n, 100));
    }
    p->modules = modules;
    p->module_count = count;
    return ask_in_csharp(p);
}

/* Scripts and loads have types of one name, which are one for people. */
static void types_of_many_assemblies(void **state)
{
    (void)state;
    struct answer a = scripts(SCRIPTS, false);
    assert_int_equal(first(a)->own_count, 1);
    assert_int_equal(first(a)->own[0].objects, SCRIPTS);
    assert_non_null(strstr(first(a)->sentence,
                           "Your own types in it: State of 12 assemblies (12 objects, 1.2 KiB)."));
    forget(a);
    a = scripts(10, false); /* this many are enough */
    assert_non_null(strstr(first(a)->sentence, "State of 10 assemblies (10 objects"));
    forget(a);
    a = scripts(9, false); /* few may be different ones */
    assert_int_equal(first(a)->own_count, GCD_SUSPECT_PARTS);
    assert_non_null(strstr(first(a)->sentence,
                           "State [Script0] (1 object, 100 bytes), State [Script1] (1 object"));
    forget(a);
    for (unsigned n = 4; n <= SCRIPTS; n += 5) { /* of one file */
        a = scripts(n, true);
        assert_int_equal(first(a)->own_count, 1);
        assert_non_null(strstr(first(a)->sentence, "Your own types in it: State ("));
        forget(a);
    }
}

/* ---- paths ---- */

struct folded {
    const char *types[9];
    const char *is; /* s shown, i inside, h hidden */
};

/* A tree without branches folds as a path, but for what a path must show. */
static void fold_as_tree(const struct gcd_origins *o, struct gcd_collections *c,
                         const struct gcd_fold_step *steps, size_t n)
{
    struct gcd_fold_node nodes[9];
    for (size_t i = 0; i < n; i++) {
        if (steps[i].keep)
            return;
        nodes[i] = (struct gcd_fold_node){ .parent = (uint32_t)i - 1, .type = steps[i].type };
    }
    gcd_fold_facts(o, c, nodes, n);
    gcd_fold_tree(nodes, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(nodes[i].fold, steps[i].fold);
}

static void paths_fold(void **state)
{
    (void)state;
    static const struct folded rows[] = {
        { { "System.A", "System.B", "Shop.Cache" }, "hhs" },
        /* a step alone takes a line in any case */
        { { "System.A", "Shop.Cache", "System.B" }, "sss" },
        { { "Shop.Cache", LIST, "Shop.Order[]" }, "ssi" },
        /* what contains the object */
        { { "Shop.Cache", LIST, "Shop.Order[]", "System.C" }, "ssis" },
        { { "Shop.Cache", LIST, "Shop.Order[]", "System.C", "System.D" }, "shhhs" },
        { { "System.A", LIST, "Shop.Order[]", "Shop.Order" }, "ssis" },
        { { "System.A", "System.B", LIST, "Shop.Order[]", "Shop.Order" }, "hhsis" },
        { { LIST, "Shop.Order[]", "System.B", "System.C", "Shop.Order", "System.D", "System.E",
            "System.F" },
          "hhhhshhs" },
        { { "Shop.Order[]", "System.B", "System.C", "Shop.Order" }, "shhs" },
        { { "System.A", "?", "System.B", "System.C" }, "ssss" },
        { { "System.A", "System.A", "?", "System.B", "System.C", "System.D" }, "hhshhs" },
        { { "System.A" }, "s" },
        { { "System.A", "System.B", LIST, "!Shop.Order[]" }, "hhss" }, /* asked for */
        { { "System.A", "System.B", "!System.C", "Shop.Order[]" }, "hhss" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        struct gcd_fold_step steps[9];
        size_t n = 0;
        static_root(p, node(p, "System.Object", 8), "s_it");
        for (; rows[i].types[n] != NULL; n++) {
            bool keep = rows[i].types[n][0] == '!';
            steps[n] = (struct gcd_fold_step){ .type = rows[i].types[n][0] == '?'
                                                           ? GCD_TYPE_NONE
                                                           : type(p, rows[i].types[n] + keep),
                                               .keep = keep };
        }
        struct answer a = ask(p, 0.5);
        struct gcd_origins *o;
        struct gcd_collections *c;
        assert_int_equal(gcd_origins_new(gcd_graph_summary(a.g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_collections_new(a.g, NULL, &c, &err), GCD_OK);
        gcd_fold_path(o, c, steps, n);
        for (size_t k = 0; k < n; k++)
            if ("sih"[steps[k].fold] != rows[i].is[k])
                fail_msg("row %zu step %zu: %c", i, k, "sih"[steps[k].fold]);
        fold_as_tree(o, c, steps, n);
        gcd_collections_free(c);
        gcd_origins_free(o);
        forget(a);
    }
}

enum {
    OWN = GCD_FOLD_FACT_SHOWN,
    LISTS = GCD_FOLD_FACT_COLLECTION,
    PART = GCD_FOLD_FACT_PART,
    ENDS = 64
};

static void trees_fold(void **state)
{
    (void)state;
    static const struct {
        uint32_t parents[8];
        uint8_t facts[8]; /* and ENDS */
        const char *is;
    } trees[] = {
        /* a step that branches ends a way; one before it is alone */
        { { UINT32_MAX, 0, 1, 1 }, { 0, 0, OWN, OWN }, "ssss" },
        { { UINT32_MAX, 0, 1, 2, 2 }, { 0, 0, 0, OWN, 0 }, "hhsss" },
        { { UINT32_MAX, 0, 1, 2 }, { 0, ENDS, 0, 0 }, "ssss" },
        { { UINT32_MAX, 0, 1, 2, 3 }, { 0, 0, 0, 0, 0 }, "hhhhs" },
        /* what the last one is an element of */
        { { UINT32_MAX, 0, 1, 2, 3 }, { 0, 0, 0, LISTS, 0 }, "hhhss" },
        { { UINT32_MAX, 0, 1, 2, 3 }, { 0, 0, LISTS, 0, 0 }, "hhhhs" },
        /* the inside branches, and so the way */
        { { UINT32_MAX, 0, 1, 2, 0, 4 }, { LISTS, PART, PART, OWN, PART, OWN }, "siisis" },
        { { UINT32_MAX, 0, 1, 1, 3 }, { LISTS, PART, ENDS | PART, PART, 0 }, "siiis" },
        { { UINT32_MAX, 0, 1, 2, 3, 4 }, { 0, LISTS, PART, PART, 0, OWN }, "hhhhhs" },
        { { UINT32_MAX, 0, 1, 2, 3, 4 }, { 0, LISTS, ENDS | PART, PART, 0, OWN }, "ssiiss" },
        { { UINT32_MAX, 0, UINT32_MAX, 2, 3 }, { OWN, 0, 0, 0, OWN }, "sshhs" },
        /* without what it is a part of */
        { { UINT32_MAX, 0, 1, 2 }, { PART, PART, 0, OWN }, "hhhs" },
    };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct gcd_fold_node nodes[8];
        size_t n = strlen(trees[i].is);
        for (size_t k = 0; k < n; k++)
            nodes[k] = (struct gcd_fold_node){ .parent = trees[i].parents[k],
                                               .ends = trees[i].facts[k] & ENDS,
                                               .facts = trees[i].facts[k] & (ENDS - 1) };
        gcd_fold_tree(nodes, n);
        for (size_t k = 0; k < n; k++)
            if ("sih"[nodes[k].fold] != trees[i].is[k])
                fail_msg("tree %zu node %zu: %c", i, k, "sih"[nodes[k].fold]);
    }
    gcd_fold_tree(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_own_object),
        cmocka_unit_test(one_own_object_in_each),
        cmocka_unit_test(a_list_without_an_owner),
        cmocka_unit_test(it_is_not_the_only_way),
        cmocka_unit_test(only_a_static_variable_is_own),
        cmocka_unit_test(nothing_on_the_path_is_own),
        cmocka_unit_test(what_the_caller_says_is_own),
        cmocka_unit_test(a_call_is_in_no_module),
        cmocka_unit_test(whose_handlers),
        cmocka_unit_test(nobody_disposes_of_a_subscription),
        cmocka_unit_test(which_event),
        cmocka_unit_test(a_static_event_of_the_framework),
        cmocka_unit_test(what_the_elements_are),
        cmocka_unit_test(a_tree_of_lists),
        cmocka_unit_test(a_tree_of_fields_or_arrays),
        cmocka_unit_test(what_grows_below_wrappers),
        cmocka_unit_test(what_there_are_many_of),
        cmocka_unit_test(pools_of_the_program),
        cmocka_unit_test(pools_by_their_variables),
        cmocka_unit_test(what_has_nothing_young_in_it),
        cmocka_unit_test(values_of_threads),
        cmocka_unit_test(values_of_threads_that_have_ended),
        cmocka_unit_test(caches_of_what_was_used_last),
        cmocka_unit_test(frozen_collections),
        cmocka_unit_test(whose_bytes),
        cmocka_unit_test(whose_bytes_at_the_top),
        cmocka_unit_test(variables_without_a_name),
        cmocka_unit_test(arrays_of_static_variables),
        cmocka_unit_test(few_static_variables),
        cmocka_unit_test(how_long_it_lives),
        cmocka_unit_test(the_path_is_the_one_that_is_told),
        cmocka_unit_test(kept_by_the_root_scope),
        cmocka_unit_test(a_typical_object),
        cmocka_unit_test(who_else_refers_to_them),
        cmocka_unit_test(the_heaviest_way),
        cmocka_unit_test(short_names),
        cmocka_unit_test(short_nested_names),
        cmocka_unit_test(types_of_many_assemblies),
        cmocka_unit_test(paths_fold),
        cmocka_unit_test(trees_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
