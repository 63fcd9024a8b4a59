/* The right level: what many lead to belongs to none of them, what a local variable holds is judged
 * like all else, and objects count for what holds them directly. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"
#include "support/pile.h"

#define OBJECTS   "System.Collections.Generic.List`1[System.Object]"
#define ROWS      "System.Collections.Generic.Dictionary`2[System.Int32,System.Object[]]"
#define INJECTION "Microsoft.Extensions.DependencyInjection."
#define PROVIDER  INJECTION "ServiceProvider"
#define SCOPE     INJECTION "ServiceLookup.ServiceProviderEngineScope"
#define ENTITY    "Microsoft.EntityFrameworkCore."

static const struct gcd_suspect *first(struct answer a)
{
    assert_true(gcd_suspects_count(a.s) > 0);
    return gcd_suspects_get(a.s, 0);
}

static void ends(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    if (n < k || strcmp(text + n - k, end) != 0)
        fail_msg("%s\nends not in\n%s", text, end);
}

/* COUNT objects of TYPE in a list of OBJECTS below AT; returns the first: the others follow. */
static uint32_t fill(struct pile *p, uint32_t at, unsigned count, const char *name)
{
    uint32_t array = child(p, child(p, at, OBJECTS, 32), "System.Object[]", 24 + 8 * count),
             first_one = (uint32_t)p->node_count;
    for (unsigned i = 0; i < count; i++)
        child(p, array, name, 24);
    return first_one;
}

/* A worker has an IServiceProvider or a scope.  The root scope is known by what it and its provider
 * refer to, not by the path; before .NET 6 an engine stood for the provider. */
static void a_scope_in_a_field(void **state)
{
    (void)state;
    static const char *const makers[] = { PROVIDER,
                                          INJECTION "ServiceLookup.DynamicServiceProviderEngine",
                                          "Shop.Provider" };
    for (unsigned i = 0; i < 6; i++) {
        struct pile *p = pile_new();
        uint32_t worker = node(p, "Shop.Worker", 24), scope = child(p, worker, SCOPE, 48);
        static_root(p, worker, "s_worker");
        uint32_t maker = child(p, scope, makers[i / 2], 48);
        bool root_scope = i % 2 > 0 && i < 4;
        if (i % 2 > 0)
            edge(p, maker, scope);
        fill(p, scope, 50, "Shop.Renderer");
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_int_equal(s->owner_node == worker, !root_scope);
        assert_int_equal(s->size_only, !root_scope);
        ends(s->sentence, root_scope ? " It is kept by the root scope of the service provider, "
                                       "which lives as long as the program."
                                     : " It is held by the static variable s_worker.");
        assert_int_equal(strstr(s->advice, "Resolve Renderer from a scope") != NULL, root_scope);
        forget(a);
    }
}

/* A semaphore limits what runs at once: while other calls are under way that is healthy. */
static void calls_behind_a_semaphore(void **state)
{
    (void)state;
    static const char call[] = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+"
                               "AsyncStateMachineBox`1[System.Int32,Shop.Renderer+<Render>d__2]";
    for (unsigned i = 0; i < 4; i++) {
        bool others = (i & 1) != 0, many = (i & 2) != 0; /* so many tasks would be a suspect */
        struct pile *p = pile_new();
        uint32_t renderer = node(p, "Shop.Renderer", 24),
                 semaphore = child(p, renderer, "System.Threading.SemaphoreSlim", 48);
        static_root(p, renderer, "s_renderer");
        for (unsigned k = 0; k < (many ? 1200 : 20); k++)
            child(p, child(p, semaphore, "System.Threading.SemaphoreSlim+TaskNode", 72), call,
                  5000);
        if (others)
            static_root(p, node(p, call, 24), "s_other");
        for (size_t k = 0; k < p->type_count; k++)
            p->types[k].raw_name = p->types[k].name;
        struct gcd_summary s = { .types = p->types,
                                 .type_count = (uint32_t)p->type_count,
                                 .command_line = "",
                                 .process_name = "" };
        struct gcd_names *names;
        struct answer a;
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &names, &err), GCD_OK);
        assert_int_equal(
            ask_how(p,
                    &(struct gcd_suspects_options){ .share = 0.5, .min_bytes = 1, .names = names },
                    &a, &err),
            GCD_OK);
        assert_int_equal(first(a)->node, semaphore);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_TASKS)->found, many);
        assert_non_null(strstr(first(a)->sentence, "all calls of Renderer.Render"));
        assert_null(strstr(first(a)->sentence, "not completed"));
        assert_non_null(strstr(first(a)->evidence, "cannot tell stuck from slow"));
        assert_int_equal(first(a)->size_only, others);
        assert_string_equal(first(a)->advice,
                            others
                                ? "These calls wait for its Release, which others have to call: "
                                  "gcdumpc async shows what those do."
                                : "These calls wait for its Release, and no other call of the same "
                                  "methods is under way. Look in Renderer for a way past Release, "
                                  "such as an exception: it belongs into a finally.");
        gcd_names_free(names);
        forget(a);
    }
}

/* Who waits for two semaphores is one suspect, not one for each semaphore, too. */
static void calls_behind_two_semaphores(void **state)
{
    (void)state;
    for (unsigned semaphores = 1; semaphores < 3; semaphores++) {
        struct pile *p = pile_new();
        uint32_t bank = node(p, "Shop.Bank", 24), nodes[2];
        static_root(p, bank, "s_bank");
        for (unsigned i = 0; i < semaphores; i++)
            nodes[i] =
                child(p, child(p, bank, "Shop.Account", 24), "System.Threading.SemaphoreSlim", 48);
        for (unsigned i = 0; i < 1200; i++) {
            uint32_t waiter =
                child(p, nodes[i % semaphores], "System.Threading.SemaphoreSlim+TaskNode", 72);
            edge(p,
                 child(p, waiter,
                       "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+"
                       "AsyncStateMachineBox`1[System.Int32,Shop.Bank+<Pay>d__2]",
                       500),
                 waiter);
        }
        struct answer a = ask(p, 0.3);
        size_t queues = 0;
        for (size_t i = 0; i < gcd_suspects_count(a.s); i++)
            queues += gcd_suspects_get(a.s, i)->kind == GCD_SUSPECT_OBJECT;
        assert_int_equal(gcd_suspects_count(a.s), 1);
        assert_int_equal(queues, semaphores == 1);
        if (semaphores == 2)
            assert_int_equal(first(a)->kind, GCD_SUSPECT_TASKS);
        forget(a);
    }
}

/* A singleton that a worker reaches through the root scope, and one in a scope. */
static void singletons(void **state)
{
    (void)state;
    for (unsigned is_root = 0; is_root < 2; is_root++) {
        struct pile *p = pile_new();
        uint32_t worker = node(p, "Shop.Worker", 24), scope = child(p, worker, SCOPE, 48),
                 provider = child(p, scope, PROVIDER, 48);
        root(p, worker, GCD_ROOT_STACK, 0, "");
        if (is_root)
            edge(p, provider, scope);
        uint32_t tariffs = child(p, child(p, child(p, scope, OBJECTS, 32), "System.Object[]", 48),
                                 "Shop.Tariffs", 24);
        fill(p, tariffs, 50, "Shop.Tariff");
        struct answer a = ask(p, 0.5);
        assert_int_equal(first(a)->owner_node, tariffs);
        ends(first(a)->sentence, is_root ? " It is kept by the root scope of the service provider, "
                                           "which lives as long as the program."
                                         : " It belongs to a scope of the service provider that "
                                           "nobody has disposed.");
        forget(a);
    }
}

#define FOR_GOOD " in the service provider and lives as long as the program."

/* The nearest path comes from a timer; the service provider keeps the worker, the store, or
 * neither. */
static void what_is_registered(void **state)
{
    (void)state;
    static const char *const ends_with[] = {
        " It is held by the static variable s_timers.",
        " It is held by Worker, which is registered" FOR_GOOD, " It is registered" FOR_GOOD,
        " It is held by the static variable Shop.App.Timers."
    };
    for (unsigned i = 0; i < 4; i++) {
        struct pile *p = pile_new();
        uint32_t timers = node(p, "System.Threading.TimerQueue[]", 24),
                 worker = child(p, timers, "Shop.Worker", 24),
                 store = child(p, worker, "Shop.Store", 24);
        static_root(p, timers, "s_timers");
        if (i == 3) {
            p->roots[0].class_name = "Shop.App";
            p->roots[0].label = "Shop.App.Timers";
        }
        uint32_t at = node(p, "System.Far", 24);
        root(p, at, GCD_ROOT_STACK, 0, "");
        for (unsigned k = 0; k < 4; k++)
            at = child(p, at, "System.Far", 24);
        uint32_t site = child(p, at, INJECTION "ServiceLookup.ConstructorCallSite", 48);
        if (i > 0)
            edge(p, site, i == 1 ? worker : store);
        fill(p, store, 50, "Shop.Order");
        struct answer a = ask(p, 0.5);
        assert_int_equal(first(a)->owner_node, store);
        ends(first(a)->sentence, ends_with[i]);
        forget(a);
    }
}

/* A list of timers of the framework leads to a call that waits; a variable of the program says more
 * itself. */
static void what_a_call_holds(void **state)
{
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        struct pile *p = pile_new();
        uint32_t timers = node(p, "System.Threading.TimerQueue[]", 24),
                 call = child(p, timers,
                              "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System."
                              "Int32>.AsyncStateMachineBox<Shop.Program.<Main>d__0>",
                              24),
                 store = child(p, call, "Shop.Store", 24);
        static_root(p, timers, "s_timers");
        p->roots[0].class_name = own ? "Shop.App" : "System.Threading.TimerQueue";
        p->roots[0].label = own ? "Shop.App.Timers" : "System.Threading.TimerQueue.Instances";
        fill(p, store, 50, "Shop.Order");
        struct answer a = ask(p, 0.5);
        ends(first(a)->sentence, own ? " It is held by the static variable Shop.App.Timers."
                                     : " It is held by a call of Program.Main, which has "
                                       "not ended.");
        forget(a);
    }
}

static void a_database_in_memory(void **state)
{
    (void)state;
    for (unsigned in_memory = 0; in_memory < 2; in_memory++) {
        struct pile *p = pile_new();
        uint32_t shop = node(p, "Shop.ShopDb", 24),
                 parts = child(p, shop, ENTITY "Internal.DbContextDependencies", 48);
        static_root(p, shop, "s_shop");
        uint32_t table = child(p, parts,
                               in_memory ? ENTITY
                                   "InMemory.Storage.Internal.InMemoryTable`1[System.Int32]"
                                         : ENTITY "Internal.Something",
                               48),
                 rows = child(p, child(p, table, ROWS, 32), ROWS "+Entry[]", 24 + 24 * 50);
        for (unsigned i = 0; i < 50; i++)
            child(p, rows, "System.Object[]", 100);
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_int_equal(s->owner_node == shop, !in_memory);
        assert_string_equal(s->place, in_memory ? "in-memory database" : "ShopDb");
        if (in_memory)
            ends(s->sentence, " It is a table of an in-memory database of Entity Framework, which "
                              "lives as long as the program.");
        forget(a);
    }
}

/* Main never returns, and nothing tells that it is Main: what its variable holds is large, no more.
 * What waits at an await is no variable of a stack. */
static void what_a_local_variable_holds(void **state)
{
    (void)state;
    static const struct {
        const char *type, *label, *advice;
    } rows[] = {
        { "Shop.Shell", "",
          "If it grows, look in Shell for why it still keeps View objects. The method that holds "
          "it "
          "in a local variable frees it when it returns: see which with dotnet-stack report." },
        { "Shop.Shell", "12 (shop) in Shop.Program.Main",
          "If it grows, look in Shell for why it still keeps View objects. The method that holds "
          "it "
          "in a local variable frees it when it returns." },
        { "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>."
          "AsyncStateMachineBox<Shop.Program.<Main>d__0>",
          "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t shell = node(p, rows[i].type, 24);
        put_root(p, &(struct gcd_root){ .node = shell,
                                        .kind = GCD_ROOT_STACK,
                                        .name = "",
                                        .class_name = "",
                                        .label = rows[i].label });
        for (unsigned k = 0; k < 50; k++)
            child(p, shell, "Shop.View", 100);
        struct answer a = ask(p, 0.5);
        const struct gcd_suspect *s = first(a);
        assert_true(s->size_only);
        if (rows[i].advice != NULL)
            assert_string_equal(s->advice, rows[i].advice);
        assert_int_equal(strstr(s->advice, "local variable") != NULL, rows[i].advice != NULL);
        assert_null(strstr(s->place, "Box")); /* the call, not what a compiler makes of it */
        assert_null(strstr(s->sentence, "Box"));
        forget(a);
    }
}

/* Ten branches with accounts, and entries in these.  Many entries in each branch are no
 * accumulation if they are in many accounts. */
static void what_few_elements_have_below(void **state)
{
    (void)state;
    static const struct {
        unsigned accounts, entries;
        const char *what, *advice;
    } rows[] = {
        { 40, 6, "400 Account in 10 Branch, about 6 Entry in each",
          "If it grows, look in Bank for what adds to it and never removes." },
        { 2, 120, "20 Account in 10 Branch, about 120 Entry in each",
          "Look in Account for what adds Entry objects and never lets go of them." },
        { 2, 99, "20 Account in 10 Branch, about 99 Entry in each",
          "If it grows, look in Bank for what adds to it and never removes." },
        /* one in each is the branch's own */
        { 1, 120, "10 Branch, about 120 Entry in each",
          "Look in Branch for what adds Entry objects and never lets go of them." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t bank = node(p, "Shop.Bank", 24);
        static_root(p, bank, "s_bank");
        uint32_t branch = fill(p, bank, 10, "Shop.Branch");
        for (unsigned k = 0; k < 10; k++) {
            uint32_t account = fill(p, branch + k, rows[i].accounts, "Shop.Account");
            for (unsigned m = 0; m < rows[i].accounts; m++) {
                uint32_t entry = fill(p, account + m, rows[i].entries, "Shop.Entry");
                for (unsigned e = 0; e < rows[i].entries; e++)
                    child(p, entry + e, "System.String", 60);
            }
        }
        struct answer a = ask(p, 0.5);
        assert_string_equal(first(a)->what, rows[i].what);
        assert_string_equal(first(a)->advice, rows[i].advice);
        forget(a);
    }
}

/* Elements that lead to chains of their own type, or of another one, or to trees, which are as
 * large as what they describe. */
static void what_elements_lead_to(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        unsigned elements, each, children;
        bool lists; /* between each and its children */
        const char *what, *advice;
    } rows[] = {
#define NEVER_REMOVES "If it grows, look in Book for what adds to it and never removes."
#define LINKS_EACH                                                                              \
    "Look in Policy for what links each new Policy to the one before and never lets go of the " \
    "old ones."
        { "Shop.Policy", 4, 200, 1, false, "4 Policy, a chain of about 200 Policy in each",
          LINKS_EACH },
        { "Shop.Policy", 150, 120, 1, false, "150 Policy, a chain of about 120 Policy in each",
          LINKS_EACH },
        { "Shop.Policy", 10, 99, 1, false, "10 Policy, a chain of about 99 Policy in each",
          NEVER_REMOVES },
        { "Shop.Policy", 100, 15, 1, false, "100 Policy, 1.5 KiB each", NEVER_REMOVES },
        { "Shop.Policy", 10, 120, 1, true, "10 Policy, 13.8 KiB each", NEVER_REMOVES },
        { "Shop.Policy", 10, 500, 2, false, "10 Policy, a tree of about 500 Policy in each",
          NEVER_REMOVES },
        { "Shop.Policy", 10, 120, 5, false, "10 Policy, a tree of about 120 Policy in each",
          NEVER_REMOVES },
        { "Shop.Client", 250, 81, 1, false, "250 Client, a chain of about 80 Policy in each",
          NEVER_REMOVES },
        { "Shop.Client", 10, 201, 1, false, "10 Client, a chain of about 200 Policy in each",
          "Look in Client for what links each new Policy to the one before and never lets go of "
          "the old ones." },
        { "Shop.Client", 250, 81, 2, false, "250 Client, 7.9 KiB each", NEVER_REMOVES },
        { "Shop.Client", 10, 501, 2, false, "10 Client, about 500 Policy in each", NEVER_REMOVES },
        { "Shop.Client", 10, 501, 5, true, "10 Client, about 500 Policy in each", NEVER_REMOVES },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t book = node(p, "Shop.Book", 24), made[501] = { 0 };
        static_root(p, book, "s_book");
        uint32_t first_one = fill(p, book, rows[i].elements, rows[i].type);
        for (unsigned k = 0; k < rows[i].elements; k++) {
            made[0] = first_one + k;
            child(p, made[0], "System.Byte[]", 76);
            for (unsigned m = 1; m < rows[i].each; m++) {
                /* below another one, each has as many children; the element itself has one */
                bool other = strcmp(rows[i].type, "Shop.Policy") != 0;
                uint32_t above = made[m < 2 || !other ? (m - 1) / rows[i].children
                                                      : 1 + (m - 2) / rows[i].children];
                if (rows[i].lists)
                    above = child(p, child(p, above, OBJECTS, 8), "System.Object[]", 10);
                made[m] = child(p, above, "Shop.Policy", 24);
                child(p, made[m], "System.Byte[]", 76);
            }
        }
        struct answer a = ask(p, 0.5);
        assert_string_equal(first(a)->what, rows[i].what);
        assert_string_equal(first(a)->advice, rows[i].advice);
        assert_int_equal(first(a)->size_only, strcmp(rows[i].advice, NEVER_REMOVES) == 0);
        forget(a);
    }
}

/* A dictionary of lists: few long ones, or many short ones, of which the keys are too many. */
static void a_dictionary_of_lists(void **state)
{
    (void)state;
#define LIST "System.Collections.Generic.List`1[Shop.Entry]"
#define MAP  "System.Collections.Generic.Dictionary`2[System.Int32," LIST "]"
    static const struct {
        unsigned lists, each;
        const char *in_each, *advice;
    } cases[] = { { 4, 300, "about 300 Entry in each",
                    "to these collections and never removes "
                    "them." },
                  { 200, 3, "about 3 Entry in each", "what adds keys to it and never removes." } };
    for (size_t i = 0; i < 2; i++) {
        struct pile *p = pile_new();
        uint32_t trail = node(p, "Shop.Trail", 24), map = child(p, trail, MAP, 80),
                 entries = child(p, map, MAP "+Entry[System.Int32," LIST "][]", 24);
        static_root(p, trail, "s_trail");
        for (unsigned list = 0; list < cases[i].lists; list++) {
            uint32_t array = child(p, child(p, entries, LIST, 32), "Shop.Entry[]", 24);
            for (unsigned k = 0; k < cases[i].each; k++)
                child(p, array, "Shop.Entry", 100);
        }
        struct answer a = ask(p, 0.5);
        assert_non_null(strstr(first(a)->what, cases[i].in_each));
        assert_true(strncmp(first(a)->advice, "If it grows, look in Trail", 26) == 0);
        ends(first(a)->advice, cases[i].advice);
        forget(a);
    }
}

/* A cache of what was used last: the dictionary finds all nodes of the list, or no longer. */
static void a_cache_that_forgets_in_one_place(void **state)
{
    (void)state;
#define NODE   "System.Collections.Generic.LinkedListNode`1[Shop.Label]"
#define BY_KEY "System.Collections.Generic.Dictionary`2[System.Int32," NODE "]"
    static const unsigned numbers[] = { 100, 187, 188, 200 };
    for (unsigned number = 0; number < 4; number++) {
        unsigned found = numbers[number];
        struct pile *p = pile_new();
        uint32_t cache = node(p, "Shop.Cache", 32), map = child(p, cache, BY_KEY, 80),
                 entries = child(p, map, BY_KEY "+Entry[System.Int32," NODE "][]", 24),
                 list = child(p, cache, "System.Collections.Generic.LinkedList`1[Shop.Label]", 40),
                 last = GCD_NODE_NONE;
        static_root(p, cache, "s_cache");
        for (unsigned i = 0; i < 200; i++) {
            uint32_t one = child(p, last == GCD_NODE_NONE ? list : last, NODE, 48);
            edge(p, one, list);
            if (last != GCD_NODE_NONE)
                edge(p, one, last);
            child(p, one, "Shop.Label", 1000);
            if (i >= 200 - found)
                edge(p, entries, one);
            last = one;
        }
        struct answer a = ask(p, 0.5);
        bool lost = found < 188; /* a few may come or go while the dump is taken */
        assert_int_equal(gcd_suspects_count(a.s), lost);
        assert_int_equal(gcd_suspects_note_count(a.s), !lost);
        ends((lost ? first(a) : gcd_suspects_note(a.s, 0))->sentence,
             "one Cache: 200 Label in a dictionary and a linked list. It is held by the static "
             "variable s_cache.");
        if (!lost) {
            forget(a);
            continue;
        }
        char advice[200];
        (void)snprintf(advice, sizeof advice,
                       "Its linked list has 200 nodes, but its dictionary only %u of them. Look in "
                       "Cache for what removes from the dictionary and not from the list.",
                       found);
        assert_string_equal(first(a)->advice, advice);
        assert_string_equal(first(a)->evidence, "That is certain, whether it grows or not.");
        forget(a);
    }
}

/* Observers subscribe themselves; what a subject has one of is not what holds them. */
static void what_subscribes(void **state)
{
    (void)state;
#define HANDLER "System.Action`1[Shop.Message]"
#define SUBJECT "System.Reactive.Subjects.Subject`1[Shop.Message]"
#define ROOMS   "System.Collections.Generic.Dictionary`2[System.String," SUBJECT "]"
    struct pile *p = pile_new();
    uint32_t ticker = node(p, "Shop.Ticker", 24),
             all = child(p, ticker, "System.IObserver`1[Shop.Quote][]", 824);
    static_root(p, ticker, "s_ticker");
    for (unsigned i = 0; i < 100; i++)
        child(p, all, "Shop.View", 100);
    struct answer a = ask(p, 0.5);
    assert_string_equal(first(a)->advice, "If it grows, look in View for a subscription to Ticker "
                                          "that it never disposes of.");
    forget(a);
    for (unsigned own = 0; own < 2; own++) { /* an observer that is made of a delegate */
        p = pile_new();
        ticker = node(p, "Shop.Ticker", 24);
        all = child(p, ticker, "System.IObserver`1[Shop.Quote][]", 824);
        static_root(p, ticker, "s_ticker");
        for (unsigned i = 0; i < 100; i++) {
            uint32_t filter = child(p, all, "Shop.Filter", 32);
            child(p, child(p, filter, HANDLER, 64), "Shop.View", 100);
            if (own)
                child(p, filter, "Shop.Rule", 24);
        }
        p->types[type(p, HANDLER)].flags = GCD_TYPE_DELEGATE;
        a = ask(p, 0.5);
        assert_string_equal(first(a)->advice,
                            own ? "If it grows, look in Filter for a subscription to Ticker that "
                                  "it never disposes of."
                                : "If it grows, look in View for a subscription to Ticker that it "
                                  "never disposes of.");
        forget(a);
    }
    for (unsigned listen = 0; listen < 2; listen++) {
        p = pile_new();
        uint32_t hub = node(p, "Shop.Hub", 24), map = child(p, hub, ROOMS, 80),
                 entries = child(p, map, ROOMS "+Entry[System.String," SUBJECT "][]", 24);
        static_root(p, hub, "s_hub");
        for (unsigned i = 0; i < 4; i++) {
            uint32_t room = child(p, entries, SUBJECT, 32),
                     array = child(p, room, "System.Object[]", 24);
            child(p, room, "Shop.Message", 24);
            for (unsigned k = 0; k < 150; k++)
                child(p, listen ? child(p, array, HANDLER, 64) : array, "Shop.View", 100);
        }
        p->types[type(p, HANDLER)].flags = GCD_TYPE_DELEGATE;
        a = ask(p, 0.5);
        assert_string_equal(first(a)->advice,
                            listen ? "Look in View for what adds a method of each of its objects "
                                     "to Hub and never removes it."
                                   : "Look in Hub for what adds View objects and never lets go of "
                                     "them.");
        forget(a);
    }
}

/* The table of a class that is derived from Dictionary is called by that. */
static void a_derived_dictionary(void **state)
{
    (void)state;
    struct pile *p = pile_new();
#define TABLE "System.Collections.Generic.Dictionary<System.String, Shop.Group>.Entry[]"
    uint32_t hub = node(p, "Shop.Hub", 24),
             entries = child(p, child(p, hub, "System.Reactive.Grouping", 80), TABLE, 24);
    static_root(p, hub, "s_hub");
    for (unsigned i = 0; i < 100; i++)
        child(p, entries, "Shop.Group", 100);
    struct answer a = ask(p, 0.5);
    ends(first(a)->sentence, ": a Dictionary<String, Group>. It is held by the static variable "
                             "s_hub.");
    assert_string_equal(first(a)->advice,
                        "If it grows, look in Hub for what adds to it and never removes.");
    forget(a);
}

/* What is said first of P, which is freed and has no suspect; valid until the next call. */
static const char *headline(struct pile *p)
{
    static char said[GCD_HEADLINE_BYTES];
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_suspects_options how = { .share = 1, .min_bytes = 1 << 20 };
    struct gcd_names *names;
    struct gcd_origins *origins;
    struct gcd_suspects *largest;
    struct answer a;
    assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
    assert_int_equal(gcd_names_new(gcd_graph_summary(a.g), GCD_NAMES_CSHARP, NULL, &names, &err),
                     GCD_OK);
    assert_int_equal(gcd_origins_new(gcd_graph_summary(a.g), NULL, &origins, &err), GCD_OK);
    assert_int_equal(gcd_largest_consumer(a.g, a.d, &how, a.s, &largest, &err), GCD_OK);
    gcd_suspects_headline(a.g, names, origins, a.s, largest, said);
    gcd_suspects_free(largest);
    gcd_origins_free(origins);
    gcd_names_free(names);
    forget(a);
    return said;
}

/* Where a tenth is missing, or cannot be reached, a suspect may be among it. */
static void what_is_missing_allows_no_statement(void **state)
{
    (void)state;
    static const struct {
        unsigned lost, bytes;
        const char *begin;
    } rows[] = {
        { 0, 0, "Nothing in what has arrived looks like a leak." },
        { 0, 900, "Nothing in what has arrived looks like a leak." },
        { 0, 1100,
          "No statement is possible: of 10.9 % of the heap (1.1 KiB) what holds it is "
          "missing, because the dump is incomplete." },
        { 2, 0, "Nothing in what has arrived looks like a leak." },
        { 3, 0, "No statement is possible: 3 objects are lost; 22 have arrived." },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        struct gcd_reason reason = { GCD_REASON_OBJECTS_LOST, "objects_lost", rows[i].lost, "" };
        static_root(p, node(p, "Shop.Index", 9000), "s_index");
        for (unsigned k = 0; k < 20; k++)
            root(p, node(p, "Shop.Book", 0), GCD_ROOT_STACK, 0, "");
        node(p, "Shop.Note", rows[i].bytes);
        p->incomplete = &reason;
        const char *said = headline(p);
        if (strncmp(said, rows[i].begin, strlen(rows[i].begin)) != 0)
            fail_msg("%u: %s", i, said);
    }
}

/* What is said first of a healthy heap: the largest, if the program's own code has it.  A static
 * variable belongs to the class that declares it, whatever it refers to. */
static void the_largest_in_a_headline(void **state)
{
    (void)state;
    static const struct {
        const char *class_name;
        unsigned own_bytes;
        const char *begin;
    } rows[] = {
        { "Shop.Gateway", 500, " Largest: Shop.Gateway.Cache " },
        { "System.Gateway", 500, " Largest: Limiter " },
        { "Shop.Gateway", 5000, " Largest: Limiter " },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t cache = node(p, OBJECTS, 32), array = child(p, cache, "System.Object[]", 424);
        for (unsigned k = 0; k < 50; k++)
            child(p, array, "System.String", 24);
        static_root(p, cache, "Cache");
        p->roots[0].class_name = rows[i].class_name;
        p->roots[0].label = i == 1 ? "System.Gateway.Cache" : "Shop.Gateway.Cache";
        root(p, node(p, "Shop.Limiter", rows[i].own_bytes), GCD_ROOT_STACK, 0, "");
        const char *said = headline(p);
        if (strstr(said, rows[i].begin) == NULL)
            fail_msg("%u: %s", i, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_in_a_headline),
        cmocka_unit_test(what_is_missing_allows_no_statement),
        cmocka_unit_test(a_scope_in_a_field),
        cmocka_unit_test(calls_behind_a_semaphore),
        cmocka_unit_test(calls_behind_two_semaphores),
        cmocka_unit_test(singletons),
        cmocka_unit_test(what_is_registered),
        cmocka_unit_test(what_a_call_holds),
        cmocka_unit_test(a_database_in_memory),
        cmocka_unit_test(what_a_local_variable_holds),
        cmocka_unit_test(what_few_elements_have_below),
        cmocka_unit_test(what_elements_lead_to),
        cmocka_unit_test(a_dictionary_of_lists),
        cmocka_unit_test(a_cache_that_forgets_in_one_place),
        cmocka_unit_test(what_subscribes),
        cmocka_unit_test(a_derived_dictionary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
