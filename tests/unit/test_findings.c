/* Findings: each kind just below and at its threshold, its holder, and the suspects that it
 * replaces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "base/text.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/pile.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define NOTHING_IS_LARGE (UINT64_C(1) << 50)

/* The first suspect of KIND, including one that another mentions in a clause; NULL = none. */
static const struct gcd_suspect *first_of(struct answer a, enum gcd_suspect_kind kind)
{
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
        if (s->kind == kind)
            return s;
        for (size_t k = 0; k < s->also_count; k++)
            if (gcd_suspects_also(a.s, s, k)->kind == kind)
                return gcd_suspects_also(a.s, s, k);
    }
    return NULL;
}

static size_t count_of(struct answer a, enum gcd_suspect_kind kind)
{
    return gcd_suspects_check(a.s, kind)->found;
}

/* The only suspect of KIND, of N objects, for which most are NAME's. */
static void expect(struct answer a, enum gcd_suspect_kind kind, uint64_t n, const char *name,
                   const char *words)
{
    const struct gcd_suspect *s = first_of(a, kind);
    if (s == NULL || count_of(a, kind) != 1)
        fail_msg("%zu suspects of kind %s", count_of(a, kind), gcd_suspect_kind_name(kind));
    assert_int_equal(s->objects, n);
    if (name == NULL)
        assert_int_equal(s->held_count, 0);
    else
        assert_string_equal(type_name(a, s->held[0].type), name);
    if (strstr(s->sentence, words) == NULL)
        fail_msg("%s", s->sentence);
    assert_true(s->advice[0] != '\0');
}

/* ---- piles of each kind: N objects ---- */

#define TIMER    "System.Threading.TimerQueueTimer"
#define CALLBACK "System.Threading.TimerCallback"

/* A queue of N timers, each with a callback of a job of its own that takes BYTES; the queue is
 * static. */
static void put_timers(struct pile *p, uint32_t n, uint64_t bytes)
{
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), last = GCD_NODE_NONE;
    static_root(p, queue, "s_queue");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t timer = node(p, TIMER, 96);
        edge(p, timer, queue);
        edge(p, last == GCD_NODE_NONE ? queue : last, timer);
        if (last != GCD_NODE_NONE)
            edge(p, timer, last);
        child(p, child(p, timer, CALLBACK, 64), "Shop.PollJob", bytes);
        last = timer;
    }
}

static void timers(struct pile *p, uint32_t n)
{
    put_timers(p, n, 24);
}

#define SOURCE "System.Threading.CancellationTokenSource"

/* N callbacks of one source. */
static void put_callbacks(struct pile *p, uint32_t n, const char *field)
{
    uint32_t source = node(p, SOURCE, 48), list = child(p, source, SOURCE "+Registrations", 64),
             last = GCD_NODE_NONE;
    edge(p, list, source);
    static_root(p, source, field);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t callback = node(p, SOURCE "+CallbackNode", 80);
        edge(p, callback, list);
        edge(p, last == GCD_NODE_NONE ? list : last, callback);
        if (last != GCD_NODE_NONE)
            edge(p, callback, last);
        child(p, callback, "Shop.Download", 32);
        last = callback;
    }
}

static void callbacks(struct pile *p, uint32_t n)
{
    put_callbacks(p, n, "s_stop");
}

#define TASK         "System.Threading.Tasks.Task"
#define CONTINUATION "System.Threading.Tasks.ContinueWithTaskContinuation"

static void continuations(struct pile *p, uint32_t n)
{
    uint32_t task = node(p, TASK, 64), array;
    static_root(p, task, "s_loaded");
    array = child(p, child(p, task, "System.Collections.Generic.List`1[System.Object]", 32),
                  "System.Object[]", 24);
    for (uint32_t i = 0; i < n; i++)
        child(p, child(p, array, CONTINUATION, 40), "Shop.WarmUp", 24);
}

static void tasks(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Rpc", 24);
    static_root(p, all, "s_rpc");
    for (uint32_t i = 0; i < n; i++)
        child(p, child(p, child(p, all, TASK "`1[Shop.Reply]", 72), CONTINUATION, 40),
              "Shop.Caller", 24);
}

#define BOX                                                                                      \
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>.AsyncStateMachineBox<" \
    "Shop.Rpc.<CallAsync>d__2>"

static void calls(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Rpc", 24);
    static_root(p, all, "s_rpc");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t box = child(p, all, BOX, 96);
        edge(p, box, box);
    }
}

static void boxed(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Table", 24), array = child(p, all, "System.Object[]", 24);
    static_root(p, all, "s_table");
    for (uint32_t i = 0; i < n; i++)
        child(p, array, "System.Int32", 24);
}

#define EF "Microsoft.EntityFrameworkCore.ChangeTracking.Internal."

static void entities(struct pile *p, uint32_t n)
{
    uint32_t manager = node(p, EF "StateManager", 216);
    static_root(p, manager, "s_manager");
    child(p, manager, "Shop.ShopContext", 64);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t entry = child(p, manager, EF "InternalEntityEntry", 96);
        edge(p, entry, manager);
        child(p, entry, "Shop.Article", 32);
    }
}

static void handlers(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Api", 24);
    static_root(p, all, "s_api");
    for (uint32_t i = 0; i < n; i++)
        child(p, child(p, all, "System.Net.Http.HttpClient", 80),
              "System.Net.Http.SocketsHttpHandler", 48);
}

static void methods(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Rules", 24);
    static_root(p, all, "s_rules");
    for (uint32_t i = 0; i < n; i++)
        child(p, child(p, all, "System.Func`1[System.Int32]", 64),
              "System.Reflection.Emit.DynamicMethod", 128);
}

static void waits(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "System.Threading.PortableThreadPool+WaitThread", 56);
    root(p, all, GCD_ROOT_STACK, 0, "");
    for (uint32_t i = 0; i < n; i++)
        child(p, child(p, all, "System.Threading.RegisteredWaitHandle", 88), "Shop.Server", 24);
}

#define ARRAY "System.Object[]"

/* Two parts of the table of interned strings, in handles. */
static void interned(struct pile *p, uint32_t n)
{
    for (uint32_t part = 0; part < 2; part++) {
        uint32_t array = node(p, ARRAY, 8000);
        root(p, array, GCD_ROOT_HANDLE, part == 0 ? 0 : GCD_ROOT_PINNED, "");
        for (uint32_t i = 0; i < n / 2 + (part == 0 ? n % 2 : 0); i++)
            child(p, array, "System.String", 40);
    }
}

static void entries(struct pile *p, uint32_t n)
{
    uint32_t all = node(p, "Shop.Orders", 24);
    static_root(p, all, "s_orders");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t key = child(p, all, "Shop.Order", 40);
        dependent(p, key, node(p, "Shop.Thumbnail", 100));
    }
}

static void pins(struct pile *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t buffer = node(p, "System.Byte[]", 100);
        root(p, buffer, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
        root(p, buffer, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "");
    }
}

static const struct row {
    enum gcd_suspect_kind kind;
    void (*put)(struct pile *p, uint32_t n);
    uint32_t least;
    const char *who, *words;
} rows[] = {
    { GCD_SUSPECT_TIMERS, timers, 1000, "Shop.PollJob",
      "1,000 timers are set, all for PollJob. They keep 179.7 KiB alive" },
    { GCD_SUSPECT_CANCELLATION, callbacks, 1000, "Shop.Download",
      "1,000 callbacks are registered with one CancellationTokenSource, all for Download. They "
      "keep 109.5 KiB alive" },
    { GCD_SUSPECT_CONTINUATIONS, continuations, 1000, "Shop.WarmUp",
      "1,000 continuations wait for one Task to complete, all of WarmUp." },
    { GCD_SUSPECT_TASKS, tasks, 1000, "Shop.Caller",
      "1,000 tasks have not completed (Task`1[Reply]), and something waits for each, all waited "
      "for by Caller." },
    { GCD_SUSPECT_ASYNC, calls, 1000, NULL,
      "1,000 calls of the asynchronous method Rpc.CallAsync wait. They keep 93.8 KiB alive" },
    { GCD_SUSPECT_TRACKER, entities, 1000, "Shop.Article",
      "One DbContext, ShopContext, tracks 1,000 entities, all Article. They keep" },
    { GCD_SUSPECT_HTTP, handlers, 100, "Shop.Api",
      "100 HTTP handlers are alive, each with connections of its own, all in Api." },
    { GCD_SUSPECT_CODE, methods, 1000, "Shop.Rules",
      "1,000 methods were compiled while the program ran and are still alive, all in Rules." },
    { GCD_SUSPECT_WAITS, waits, 1000, "Shop.Server",
      "1,000 callbacks wait for a handle in the thread pool, all for Server." },
    { GCD_SUSPECT_INTERNED, interned, 10000, NULL,
      "The runtime's table of interned strings and literals has 10,000 strings, which keep 406.2 "
      "KiB alive" },
    { GCD_SUSPECT_WEAK_TABLE, entries, 1000, NULL,
      "1,000 Thumbnail objects (97.7 KiB) are attached to Order objects by dependent handles "
      "(ConditionalWeakTable, DependentHandle) and live as long as their keys, 71.4 % of the "
      "heap." },
    { GCD_SUSPECT_PINS, pins, 1000, NULL,
      "1,000 objects are pinned by handles, all Byte[]. The handles keep 97.7 KiB alive" },
};
#define ROWS (sizeof rows / sizeof *rows)

static struct answer ask_for(const struct row *row, uint32_t n, uint64_t min_bytes)
{
    struct pile *p = pile_new();
    row->put(p, n);
    return ask_with(p, 0.001, min_bytes);
}

static void each_kind_at_its_threshold(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct answer a = ask_for(&rows[i], rows[i].least - 1, NOTHING_IS_LARGE);
        if (gcd_suspects_count(a.s) != 0)
            fail_msg("%s", gcd_suspects_get(a.s, 0)->sentence);
        forget(a);
        a = ask_for(&rows[i], rows[i].least, NOTHING_IS_LARGE);
        expect(a, rows[i].kind, rows[i].least, rows[i].who, rows[i].words);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        assert_true(gcd_suspects_get(a.s, 0)->overlaps);
        bool says_where = rows[i].kind == GCD_SUSPECT_TIMERS ||
                          rows[i].kind == GCD_SUSPECT_CANCELLATION ||
                          rows[i].kind == GCD_SUSPECT_WAITS;
        if (says_where)
            assert_non_null(strstr(gcd_suspects_get(a.s, 0)->advice, strchr(rows[i].who, '.') + 1));
        forget(a);
    }
}

/* Many small values harm nobody by their number. */
static void boxed_values_need_a_share(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        struct pile *p = pile_new();
        boxed(p, 10000);
        struct answer a = ask_with(p, 0.001, large ? 100000 : NOTHING_IS_LARGE);
        assert_int_equal(count_of(a, GCD_SUSPECT_BOXED), large);
        assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_BOXED)->objects, 10000);
        if (large)
            assert_non_null(strstr(gcd_suspects_get(a.s, 0)->sentence,
                                   "10,000 boxed Int32 values take 234.4 KiB, all in Table"));
        forget(a);
    }
}

/* ---- notes ---- */

static void pool_shared(struct pile *p)
{
    for (unsigned i = 0; i < 3; i++) {
        uint32_t thread = node(p, ARRAY, 24);
        root(p, thread, GCD_ROOT_STACK, 0, "");
        child(p,
              child(p, child(p, thread, ARRAY, 24),
                    "System.Buffers.SharedArrayPoolThreadLocalArray[]", 456),
              "System.Byte[]", 2 << 20);
    }
}

static void pool_made(struct pile *p)
{
    uint32_t pool = node(p, "System.Buffers.ConfigurableArrayPool`1[System.Byte]", 24);
    static_root(p, pool, "s_pool");
    uint32_t list =
        child(p, child(p, child(p, pool, "Bucket[System.Byte][]", 176), "Bucket[System.Byte]", 40),
              "System.Byte[][]", 184);
    for (unsigned i = 0; i < 5; i++)
        child(p, list, "System.Byte[]", 1 << 20);
}

static void pool_memory(struct pile *p)
{
    uint32_t pool = node(p, "Microsoft.AspNetCore.PinnedBlockMemoryPool", 64);
    static_root(p, pool, "s_pool");
    for (unsigned i = 0; i < 5; i++)
        child(p, child(p, pool, "Microsoft.AspNetCore.MemoryPoolBlock", 40), "System.Byte[]",
              1 << 20);
}

#define STACK "System.Collections.Concurrent.ConcurrentStack`1"

/* Deeper than a search near the pool gets. */
static void pool_http(struct pile *p)
{
    uint32_t pool = node(p, "System.Net.Http.HttpConnectionPool", 304),
             up = child(p, pool, STACK "[System.Net.Http.HttpConnection]", 24);
    static_root(p, pool, "s_pools");
    for (unsigned i = 0; i < 50; i++) {
        up = child(p, up, STACK "+Node[System.Net.Http.HttpConnection]", 32);
        uint32_t connection = child(p, up, "System.Net.Http.HttpConnection", 208);
        child(p, connection, "System.Byte[]", 100 << 10);
        if (i == 20) /* it is idle, too, and somebody keeps its last response */
            static_root(p, connection, "s_last");
    }
}

/* A pool of the program is its own business. */
static void pool_own(struct pile *p)
{
    uint32_t pool = node(p, "Shop.ConnectionPool", 304);
    static_root(p, pool, "s_pool");
    for (unsigned i = 0; i < 5; i++)
        child(p, pool, "System.Byte[]", 1 << 20);
}

static void pools_are_notes(void **state)
{
    (void)state;
    static const struct {
        void (*put)(struct pile *p);
        const char *words;
    } pools[] = {
        { pool_shared,
          "ArrayPool<Byte>.Shared keeps 6.0 MiB of returned arrays, most of them for 3 "
          "threads, 100.0 % of the heap." },
        { pool_made,
          "An ArrayPool<Byte> keeps 5 returned arrays of 1.0 MiB each, 100.0 % of the heap." },
        { pool_memory, "1 memory pool (PinnedBlockMemoryPool) keeps 5.0 MiB of free blocks after a "
                       "peak, 100.0 % of the heap." },
        { pool_http, "HttpClient keeps 50 idle connections with 4.8 MiB of buffers, 98.0 % of the "
                     "heap." },
        { pool_own, NULL },
    };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        struct pile *p = pile_new();
        pools[i].put(p);
        struct answer a = ask_with(p, 0.1, 4 << 20);
        bool note = pools[i].words != NULL;
        assert_int_equal(gcd_suspects_count(a.s), !note);
        assert_int_equal(gcd_suspects_note_count(a.s), note);
        if (note) {
            assert_string_equal(gcd_suspects_note(a.s, 0)->sentence, pools[i].words);
            assert_true(gcd_suspects_note(a.s, 0)->advice[0] != '\0');
        }
        forget(a);
    }
}

#define LIST  "System.Collections.Generic.List`1"
#define TABLE "System.Runtime.CompilerServices.ConditionalWeakTable`2"
#define BY_TABLE                                                                  \
    "are attached to Key objects by a ConditionalWeakTable`2[Key,Extra] and live" \
    " as long as their keys"
#define BY_HANDLES "by dependent handles (ConditionalWeakTable, DependentHandle) and live"

/* Puts N strings into LIST. */
static void put_texts(struct pile *p, uint32_t list, unsigned n)
{
    uint32_t array = child(p, list, "System.String[]", 24 + 8 * n);
    for (unsigned i = 0; i < n; i++)
        child(p, array, "System.String", 30);
}

/* Values that are few and large are what a dependent handle keeps alive, too. */
static void few_large_values(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 3; large++) {
        struct pile *p = pile_new();
        entries(p, 9); /* of another type, and few */
        if (large == 1)
            static_root(p, node(p, TABLE "[Shop.Key,Shop.Extra]", 32), "s_table");
        uint32_t all = node(p, "Shop.Keys", 24);
        static_root(p, all, "s_keys");
        for (unsigned i = 0; i < 10; i++) {
            uint32_t key = child(p, all, "Shop.Key", 24);
            uint32_t extra = node(p, "Shop.Extra", large > 0 ? 600 << 10 : 60 << 10);
            dependent(p, key, extra);
            if (large == 1)
                put_texts(p, child(p, extra, LIST "[System.String]", 32), 20 + 2 * i);
        }
        struct answer a = ask_with(p, 0.1, 4 << 20);
        assert_int_equal(count_of(a, GCD_SUSPECT_WEAK_TABLE), large > 0);
        assert_int_equal(gcd_suspects_count(a.s), large > 0);
        if (large > 0) {
            const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
            assert_non_null(strstr(s->sentence, large == 1 ? BY_TABLE : BY_HANDLES));
            assert_ptr_equal(strstr(s->what, "10 Extra objects, 60"), s->what);
            assert_string_equal(s->advice, large == 1
                                               ? "Each Extra has a List`1[String] with about 29 "
                                                 "elements: look for what adds to it, and for "
                                                 "what keeps Key objects alive."
                                               : "Look for what keeps Key objects alive.");
        }
        forget(a);
    }
}

/* One small value for each element of a list is what such a table is for, unless it has a
 * collection that grows. */
static void small_values(void **state)
{
    (void)state;
    for (unsigned grow = 0; grow < 2; grow++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, LIST "[Shop.Key]", 32),
                 array = child(p, list, "Shop.Key[]", 24 + 8 * 2000);
        static_root(p, list, "s_keys");
        for (unsigned i = 0; i < 2000; i++) {
            uint32_t key = child(p, array, "Shop.Key", 24), extra = node(p, "Shop.Extra", 3000);
            dependent(p, key, extra);
            put_texts(p, child(p, extra, LIST "[System.String]", 32), grow ? 12 : 2);
        }
        struct answer a = ask_with(p, 0.1, 4 << 20);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const char *advice = gcd_suspects_get(a.s, 0)->advice;
        assert_int_equal(strstr(advice, grow ? "Each Extra has" : "If it grows") != NULL, 1);
        forget(a);
    }
}

/* Four chains of thousands of links in a list: the list does not grow, the chains do. */
static void few_elements_with_many_objects(void **state)
{
    (void)state;
    for (uint32_t links = 99; links <= 100; links++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, LIST "[Shop.Chain]", 32),
                 array = child(p, list, "Shop.Chain[]", 56);
        static_root(p, list, "s_chains");
        for (unsigned i = 0; i < 4; i++) {
            uint32_t up = child(p, array, "Shop.Chain", 24);
            for (uint32_t k = 0; k < links; k++)
                up = child(p, up, "Shop.Link", 12000);
        }
        struct answer a = ask_with(p, 0.6, 4 << 20);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const char *advice = gcd_suspects_get(a.s, 0)->advice;
        if (links == 100)
            assert_string_equal(advice, "Look in Chain for what links each new Link to the one "
                                        "before and never lets go of the old ones.");
        else
            assert_non_null(strstr(advice, "and never removes."));
        forget(a);
    }
}

/* Chains that have a name in the framework get its remedy, and a property its name. */
static void chains_of_scopes(void **state)
{
    (void)state;
    static const struct {
        const char *type, *words, *field, *label, *variable;
    } chains[] = {
        { "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope", "BeginScope",
          "<Current>k__BackingField", "Shop.Job.<Current>k__BackingField",
          "the static property Shop.Job.Current." },
        { "System.Diagnostics.Activity", "never stopped", "<Current>k__BackingField",
          "Shop.Job<int>.<Current>k__BackingField", "the static property Shop.Job<int>.Current." },
        { "System.Diagnostics.Act", "links each new", "<Shop.IOf<int>.Current>k__BackingField",
          "Shop.Job.<Shop.IOf<int>.Current>k__BackingField",
          "the static property Shop.Job.Shop.IOf<int>.Current." },
        { "System.Diagnostics.Act", "links each new", "state@8",
          "<StartupCode$Harbour>.$Main.state@8 or Harbour.state@8",
          "the static variable Main.state or Harbour.state." },
    };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct pile *p = pile_new();
        uint32_t up = node(p, "Shop.Job", 24);
        static_root(p, up, chains[i].field);
        p->roots[p->root_count - 1].label = chains[i].label;
        for (unsigned k = 0; k < 100; k++)
            up = child(p, up, chains[i].type, 50000);
        struct answer a = ask_with(p, 0.1, 4 << 20);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        if (strstr(s->advice, chains[i].words) == NULL ||
            strstr(s->sentence, chains[i].variable) == NULL)
            fail_msg("%s %s", s->sentence, s->advice);
        forget(a);
    }
}

/* Nobody can change the framework's class of linked sources. */
static void linked_sources(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    put_callbacks(p, 1000, "s_stop");
    for (uint32_t i = 0; i < p->type_count; i++)
        if (strcmp(p->types[i].name, "Shop.Download") == 0)
            p->types[i].name = SOURCE "+Linked1CancellationTokenSource";
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_CANCELLATION);
    assert_non_null(s);
    assert_string_equal(s->place, "s_stop");
    if (strstr(s->sentence, "all for linked sources (CreateLinkedTokenSource).") == NULL ||
        strstr(s->advice, "longer than what is linked to it: dispose of each source that "
                          "CreateLinkedTokenSource makes from s_stop when") == NULL)
        fail_msg("%s %s", s->sentence, s->advice);
    forget(a);
}

/* What is behind a linked source makes it.  A callback that is no longer registered has none, and
 * its source keeps it for the next. */
static void made_linked_sources(void **state)
{
    (void)state;
    static const struct {
        uint32_t every;
        const char *words, *advice;
    } cases[] = {
        { 1, "CancellationTokenSource, by sources linked to it (CreateLinkedTokenSource), all for",
          "linked to it: Download should dispose of each source that CreateLinkedTokenSource makes "
          "from s_stop when" },
        { 3, ", 400 of them by sources linked to it (CreateLinkedTokenSource), all for Download.",
          "what registers: Download should dispose of each CancellationTokenRegistration, and of "
          "each source that CreateLinkedTokenSource makes from s_stop, when" },
    };
    for (size_t r = 0; r < 2; r++) {
        struct pile *p = pile_new();
        put_callbacks(p, 1200, "s_stop");
        uint32_t from = type(p, "Shop.Download"), free = GCD_NODE_NONE, n = 0;
        uint32_t list = 1; /* after its source */
        for (uint32_t i = 0, end = (uint32_t)p->node_count; i < end; i++)
            if (p->nodes[i].type == from && n++ % cases[r].every == 0) {
                p->nodes[i].type = type(p, SOURCE "+Linked1CancellationTokenSource");
                child(p, i, "Shop.Download", 32);
            }
        for (unsigned i = 0; i < 500; i++) {
            uint32_t next = child(p, list, SOURCE "+CallbackNode", 80);
            edge(p, next, list);
            if (free != GCD_NODE_NONE)
                edge(p, next, free);
            free = next;
        }
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_CANCELLATION);
        assert_non_null(s);
        assert_int_equal(s->objects, 1200);
        if (strstr(s->sentence, cases[r].words) == NULL ||
            strstr(s->advice, cases[r].advice) == NULL)
            fail_msg("%s %s", s->sentence, s->advice);
        forget(a);
    }
}

/* Whoever keeps a tenth of it is told, beside linked sources, too. */
static void all_that_register(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    put_callbacks(p, 1200, "s_stop");
    uint32_t from = type(p, "Shop.Download"), n = 0;
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].type == from) {
            n++;
            p->nodes[i].type = n % 3 == 0   ? type(p, "Shop.Upload")
                               : n % 3 == 1 ? type(p, SOURCE "+Linked1CancellationTokenSource")
                                            : from;
            p->nodes[i].size_bytes = n % 3 == 0 ? 200 : n % 3 == 1 ? 300 : 100;
        }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_CANCELLATION);
    assert_non_null(s);
    if (strstr(s->advice, "registers: Upload and Download should dispose of each "
                          "CancellationTokenRegistration, and of each source") == NULL)
        fail_msg("%s", s->advice);
    forget(a);
}

/* Everything is below the provider of a program, or goes on when a socket is ready, but these keep
 * nothing that somebody forgot. */
static void containers_of_all_hold_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_container;
    } tops[] = {
        { "Microsoft.Extensions.DependencyInjection.ServiceProvider", true },
        { "System.Net.Sockets.SocketAsyncContext[]", true },
        { "System.Collections.Concurrent.ConcurrentDictionary`2+Node"
          "[System.IntPtr,System.Net.Sockets.SocketAsyncEngine+SocketAsyncContextWrapper]",
          true },
        { "System.Net.Sockets.Socket[]", false },
    };
    for (unsigned i = 0; i < 2 * sizeof tops / sizeof *tops; i++) {
        unsigned large = i % 2;
        struct pile *p = pile_new();
        uint32_t all = node(p, tops[i / 2].name, 72);
        root(p, all, GCD_ROOT_STACK, 0, "");
        for (unsigned k = 0; k < 4; k++) {
            static const char *const names[] = { "Shop.A", "Shop.B", "Shop.C", "Shop.D" };
            child(p, child(p, all, names[k], 24), "System.Byte[]", 3 << 20);
        }
        if (large)
            child(p, child(p, all, "Shop.Cache", 24), "System.Byte[]", 5 << 20);
        struct answer a = ask_with(p, 0.1, 4 << 20);
        assert_int_equal(gcd_suspects_count(a.s), large + !tops[i / 2].is_container);
        if (large && tops[i / 2].is_container)
            assert_int_equal(gcd_suspects_get(a.s, 0)->bytes, 5 << 20);
        forget(a);
    }
}

/* Timers that keep values of an AsyncLocal: the advice is about these, unless they are few or
 * small.
 */
static void values_of_async_local(void **state)
{
    (void)state;
    static const struct {
        unsigned contexts;
        uint64_t bytes;
        bool found;
    } flows[] = { { 1200, 5000, true }, { 9, 700000, false }, { 1200, 100, false } };
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        struct pile *p = pile_new();
        uint32_t queue = node(p, "System.Threading.TimerQueue", 80), last = queue,
                 local = node(p, "System.Threading.AsyncLocal`1[Shop.Tenant]", 24);
        static_root(p, queue, "s_queue");
        static_root(p, local, "Current");
        p->roots[1].class_name = "Shop.Ambient";
        p->roots[1].label = "Shop.Ambient.Current";
        for (unsigned k = 0; k < 1200; k++) {
            uint32_t timer = child(p, last, TIMER, 96),
                     callback = child(p, timer, "System.Threading.TimerCallback", 64);
            if (last != queue)
                edge(p, timer, last);
            child(p, callback, "Shop.Poller", 24);
            last = timer;
            if (k >= flows[i].contexts)
                continue;
            uint32_t context = child(p, timer, "System.Threading.ExecutionContext", 40),
                     map = child(p, context,
                                 "System.Threading.AsyncLocalValueMap+OneElementAsyncLocalValueMap",
                                 32);
            edge(p, map, local);
            child(p, child(p, map, "Shop.Tenant", 24), "System.Byte[]", flows[i].bytes);
        }
        struct answer a;
        struct gcd_suspects_options how = { .min_bytes = 2 << 20 };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        const struct gcd_suspect *s = gcd_suspects_count(a.s) > 0 ? gcd_suspects_get(a.s, 0) : NULL;
        bool said =
            s != NULL && s->kind == GCD_SUSPECT_TIMERS &&
            strstr(s->sentence, "are values of the AsyncLocal in the static variable "
                                "Shop.Ambient.Current, all Tenant: the execution contexts "
                                "in which work was started (1,200) keep them.") != NULL &&
            strstr(s->advice, "SuppressFlow(), or clear the AsyncLocal in the static") != NULL;
        if (said != flows[i].found)
            fail_msg("%zu: %s %s", i, s != NULL ? s->sentence : "", s != NULL ? s->advice : "");
        forget(a);
    }
}

/* A static variable that leads to the service provider says nothing about what that holds: who uses
 * it does. */
static void a_container_wins_over_a_variable(void **state)
{
    (void)state;
    for (unsigned contained = 0; contained < 2; contained++) {
        struct pile *p = pile_new();
        uint32_t top = node(p,
                            contained ? "Microsoft.Extensions.DependencyInjection.ServiceProvider"
                                      : "System.Lazy`1[System.Object]",
                            72),
                 list = child(p, top, "System.Collections.Generic.List`1[Shop.Page]", 32),
                 items = child(p, list, "Shop.Page[]", 16 + 8 * 1024),
                 reader = child(p, top, "Shop.Reader", 24);
        root(p, top, GCD_ROOT_STATIC, 0, "App");
        p->roots[0].label = p->roots[0].class_name = "Shop.Holder";
        p->roots[0].label = "Shop.Holder.App";
        edge(p, reader, list);
        for (unsigned i = 0; i < 1000; i++)
            child(p, child(p, items, "Shop.Page", 24), "System.Byte[]", 6000);
        struct answer a = ask_with(p, 0.1, 4 << 20);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        bool variable = strstr(s->sentence, "the static variable Shop.Holder.App: 1,000") != NULL,
             reads = gcd_text_begins(s->advice, "If it grows, look in Reader for what adds to it");
        if (variable == contained || reads != contained)
            fail_msg("%s %s", s->sentence, s->advice);
        forget(a);
    }
}

/* A limit that the user gave holds for findings, too. */
static void only_large_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (unsigned large = 0; large < 2; large++) {
            struct pile *p = pile_new();
            struct answer a;
            rows[i].put(p, rows[i].least);
            struct gcd_suspects_options how = { .min_bytes = large ? 1000 : NOTHING_IS_LARGE,
                                                .only_large = true,
                                                .share = 0.001 };
            assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
            if (count_of(a, rows[i].kind) != large)
                fail_msg("%s", gcd_suspect_kind_name(rows[i].kind));
            forget(a);
        }
}

/* So do the default limits: the number of objects alone makes no suspect. */
static void a_number_is_no_suspect(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct pile *p = pile_new();
        struct answer a;
        rows[i].put(p, rows[i].least);
        struct gcd_suspects_options how = { .min_bytes = NOTHING_IS_LARGE };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        const struct gcd_suspect_check *check = gcd_suspects_check(a.s, rows[i].kind);
        assert_int_equal(gcd_suspects_count(a.s), 0);
        assert_int_equal(check->found, 0);
        assert_int_equal(check->objects, rows[i].least);
        assert_int_equal(check->least_bytes, NOTHING_IS_LARGE);
        forget(a);
    }
}

/* Dead objects do not count. */
static void dead_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct pile *p = pile_new();
        rows[i].put(p, rows[i].least);
        p->root_count = 0;
        static_root(p, node(p, "Shop.App", 24), "s_app");
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        assert_int_equal(gcd_suspects_count(a.s), 0);
        forget(a);
    }
}

/* N timers of Shop.Monitor, of which each keeps 4,000 bytes, behind MANY delays of Shop.Poller. */
static struct pile *timers_of_two(uint32_t many, uint32_t n)
{
    struct pile *p = pile_new();
    uint32_t queue = node(p, "System.Threading.TimerQueue", 80), last = queue;
    static_root(p, queue, "s_queue");
    for (uint32_t i = 0; i < many + n; i++) {
        uint32_t timer = node(p, TIMER, 96), callback = child(p, timer, CALLBACK, 64);
        edge(p, timer, queue);
        edge(p, last, timer);
        if (last != queue)
            edge(p, timer, last);
        if (i < many)
            child(p, callback, "Shop.Poller", 24);
        else
            child(p, child(p, callback, "Shop.Monitor", 24), "System.Byte[]", 4000);
        last = timer;
    }
    return p;
}

static void those_who_retain_most_come_first(void **state)
{
    (void)state;
    struct answer a = ask_with(timers_of_two(1500, 400), 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TIMERS);
    expect(a, GCD_SUSPECT_TIMERS, 1900, "Shop.Monitor",
           "1,900 timers are set, 400 of them for Monitor (1.6 MiB), 1,500 for Poller (269.5 KiB). "
           "They keep");
    assert_int_equal(s->held[0].bytes, 400 * (96 + 64 + 24 + 4000));
    assert_int_equal(s->held[1].bytes, 1500 * (96 + 64 + 24));
    assert_non_null(strstr(s->advice, ": look in Monitor and Poller."));
    forget(a);
    /* who has less than a tenth of the objects and of the bytes is not named */
    a = ask_with(timers_of_two(150, 1500), 0.001, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_TIMERS, 1650, "Shop.Monitor",
           "1,650 timers are set, 1,500 of them for Monitor. They keep");
    forget(a);
}

/* The first timer of the queue dominates it, but it is not what the first timer is for. */
static void what_several_timers_share(void **state)
{
    (void)state;
    struct pile *p = timers_of_two(1200, 0);
    uint32_t shared = node(p, "Shop.Monitor", 100000);
    child(p, shared, "System.Byte[]", 900000);
    for (uint32_t i = 0; i < 300; i++) { /* node 1 is the first timer */
        uint32_t timer = child(p, 1, TIMER, 96);
        edge(p, timer, 1);
        edge(p, child(p, timer, CALLBACK, 64), shared);
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TIMERS);
    assert_int_equal(s->objects, 1500);
    assert_string_equal(type_name(a, s->held[0].type), "Shop.Monitor");
    assert_int_equal(s->held[0].bytes, 1000000 + 300 * (96 + 64));
    forget(a);
}

/* ---- what takes part ---- */

/* Timers without neighbours are not set; tasks that have completed refer to a plain object; a box
 * that has completed not to itself. */
static void what_has_ended(void **state)
{
    (void)state;
    static const char *const names[][2] = { { TIMER, CALLBACK },
                                            { TASK, "System.Object" },
                                            { BOX, "System.Object" } };
    for (size_t i = 0; i < 3; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.App", 24);
        static_root(p, all, "s_app");
        for (int k = 0; k < 2000; k++)
            child(p, child(p, all, names[i][0], 96), names[i][1], 24);
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        assert_int_equal(gcd_suspects_count(a.s), 0);
        forget(a);
    }
}

/* Sources with few callbacks each are none, however many they are; two with enough are two. */
static void callbacks_of_several_sources(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    for (int i = 0; i < 400; i++)
        put_callbacks(p, 9, "s_few");
    put_callbacks(p, 1200, "s_one");
    put_callbacks(p, 1100, "s_two");
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    assert_int_equal(gcd_suspects_get(a.s, 0)->objects, 1200);
    assert_int_equal(gcd_suspects_get(a.s, 1)->objects, 1100);
    assert_non_null(strstr(gcd_suspects_get(a.s, 0)->sentence,
                           "The source is held by the static variable s_one."));
    forget(a);
}

/* A value type of the program's is known by its element type; a class is not boxed, whatever its
 * name is. */
static void boxed_by_element_type(void **state)
{
    (void)state;
    static const struct {
        uint8_t element_type;
        bool found;
    } is[] = { { 0x11, true },  { 0x08, true },  { 0x19, true }, { 0x12, false },
               { 0x1d, false }, { 0x0e, false }, { 0, false } };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Table", 24);
        static_root(p, all, "s_table");
        p->types[type(p, "Shop.Point")].element_type = is[i].element_type;
        for (int k = 0; k < 10000; k++)
            child(p, all, "Shop.Point", 32);
        struct answer a = ask_with(p, 0.001, 100000);
        assert_int_equal(count_of(a, GCD_SUSPECT_BOXED), is[i].found);
        forget(a);
    }
}

/* Nested types have bare names where the files of the program were not there. */
static void how_types_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool found;
    } is[] = {
        { "System.Threading.RegisteredWaitHandle", true },
        { "RegisteredWaitHandle", true },
        { "System.Threading.X+RegisteredWaitHandle", true },
        { "System.Threading.X`1+RegisteredWaitHandle[System.Int32]", true },
        { "System.Threading.X.RegisteredWaitHandle<T>", true },
        { "System.Threading.X<A<B>>.RegisteredWaitHandle", true },
        { "System.Threading.X<A", false },
        { "System.Threading.", false },
        { "Shop.RegisteredWaitHandle", false },
        { "System.Threading.RegisteredWaitHandles", false },
        { "System.Threading.RegisteredWaitHandle+X", false },
        { "System.Threading.RegisteredWaitHandle[]", false },
        { "System.Threading.List`1[RegisteredWaitHandle]", false },
        { "", false },
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.App", 24);
        static_root(p, all, "s_app");
        for (int k = 0; k < 1000; k++)
            child(p, all, is[i].name, 32);
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        if (count_of(a, GCD_SUSPECT_WAITS) != is[i].found)
            fail_msg("%s", is[i].name);
        forget(a);
    }
}

/* ---- who is behind ---- */

/* An object that only the timer keeps comes before one that it shares with others, although that is
 * nearer. */
static void who_is_behind(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t lambda = node(p, "Shop.Program+<>c", 24), first = (uint32_t)p->node_count + 1;
    static_root(p, lambda, "s_lambda");
    put_timers(p, 1000, 24);
    for (size_t i = 0; i < p->edge_count;
         i++) /* the jobs are held by contexts instead, callbacks share one target */
        if (p->nodes[p->edges[i].to].type == type(p, "Shop.PollJob"))
            p->edges[i].to = lambda;
    for (uint32_t i = first; i < first + 3000; i += 3)
        child(p, child(p, i, "System.Threading.ExecutionContext", 40), "Shop.Request", 5000);
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_TIMERS, 1000, "Shop.Request", "all for Request. They keep");
    forget(a);
}

/* An object that others hold, too, has the timer: what the context of its start keeps is not what
 * the timer is for, however heavy it is. */
static void what_was_only_captured(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.Scheduler", 24), first = (uint32_t)p->node_count + 1;
    static_root(p, all, "s_all");
    put_timers(p, 1000, 24);
    for (uint32_t i = first; i < first + 3000; i += 3) {
        edge(p, all, i + 2); /* the job */
        child(p, child(p, i, "System.Threading.ExecutionContext", 40), "Shop.Request", 5000);
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_TIMERS, 1000, "Shop.PollJob",
           "1,000 timers are set, all for PollJob. They keep");
    assert_non_null(
        strstr(first_of(a, GCD_SUSPECT_TIMERS)->sentence, ", mostly by way of Request."));
    forget(a);
}

/* An object is not behind itself. */
static void who_refers_to_itself(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t task = node(p, TASK, 64), array;
    static_root(p, task, "s_loaded");
    array = child(p, child(p, task, "System.Collections.Generic.List`1[System.Object]", 32),
                  "System.Object[]", 24);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t one = child(p, array, CONTINUATION, 40);
        edge(p, one, one);
        child(p, one, "System.Net.Mail.SmtpClient", 24);
    }
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_CONTINUATIONS, 1000, "System.Net.Mail.SmtpClient", "all of SmtpClient.");
    forget(a);
}

/* For a Task.Delay, the holder is the method that awaits it. */
static void who_awaits_a_delay(void **state)
{
    (void)state;
    static const char box[] =
        "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1"
        "[System.Int32,Shop.Rpc+<CallAsync>d__2]";
    struct pile *p = pile_new();
    put_timers(p, 1000, 24);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].type == type(p, "Shop.PollJob"))
            p->nodes[i].type = type(p, "System.Threading.Tasks.Task+DelayPromise");
    for (uint32_t i = 3; i < 3001; i += 3)
        child(p, i, box, 96);
    struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_TIMERS, 1000, box, "1,000 timers are set, ");
    forget(a);
}

/* Another object than the holder keeps most bytes. */
static void what_is_heaviest(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        struct pile *p = pile_new();
        put_timers(p, 1000, 24);
        for (uint32_t i = 1; i < 3001; i += 3)
            child(p, child(p, i, "System.Threading.ExecutionContext", 40), "Shop.Request",
                  large ? 5000 : 20);
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        expect(a, GCD_SUSPECT_TIMERS, 1000, "Shop.PollJob",
               large ? "mostly by way of Request." : "% of the heap.");
        forget(a);
    }
}

/* ---- kinds of their own ---- */

/* Objects that are no strings make a table of another one; a list of arrays in a thread is where
 * its variables are. */
static void arrays_of_the_runtime(void **state)
{
    (void)state;
    for (unsigned other = 0; other < 2; other++) {
        struct pile *p = pile_new();
        interned(p, 20000);
        if (other)
            for (uint32_t i = 0; i < p->node_count; i++)
                if (p->nodes[i].type == type(p, ARRAY))
                    edge(p, i, 1); /* a string, and this array below: */
        if (other)
            p->nodes[1].type = type(p, "Shop.Text");
        struct answer a = ask_with(p, 0.001, NOTHING_IS_LARGE);
        assert_int_equal(count_of(a, GCD_SUSPECT_INTERNED), !other);
        forget(a);
    }
    for (unsigned nested = 0; nested < 2; nested++) {
        struct pile *p = pile_new();
        for (int i = 0; i < 12; i++) {
            uint32_t outer = node(p, ARRAY, 100),
                     inner = child(p, outer, nested ? ARRAY : "Shop.Frame", 100);
            root(p, outer, GCD_ROOT_STACK, 0, "");
            child(p, child(p, inner, "Shop.ParseBuffer", 24), "System.Byte[]", 5000);
        }
        struct answer a = ask_with(p, 0.1, 1);
        assert_int_equal(count_of(a, GCD_SUSPECT_THREAD_STATICS), nested);
        if (nested)
            expect(a, GCD_SUSPECT_THREAD_STATICS, 12, "Shop.ParseBuffer",
                   "The thread-static variables of 12 threads keep 61.2 KiB alive, 100.0 % of the "
                   "heap, all by way of ParseBuffer.");
        forget(a);
    }
}

#define COPIES            10
#define DYNAMIC           4 /* flag of a module */
#define FINDING_GENERATED 100

/* COUNT modules of one path, each with a type that has an object; the objects are static. */
static struct answer loaded(size_t count, bool collectible, uint32_t flags, uint64_t size,
                            uint64_t min_bytes)
{
    static char names[COPIES][24];
    struct gcd_module modules[COPIES + 2] = {
        { .id = 1, .path = "/app/Shop.dll", .assembly = "Shop", .problem = "" },
        { .id = 2, .path = "", .assembly = "", .problem = "" }
    };
    struct pile *p = pile_new();
    for (size_t i = 0; i < count; i++) {
        modules[i + 2] = (struct gcd_module){ .id = 10 + i,
                                              .path = flags != 0 ? "" : "/plug/Pricing.dll",
                                              .assembly = "Pricing",
                                              .problem = "",
                                              .flags = flags };
        (void)snprintf(names[i], sizeof names[i], "Pricing.Rules%zu", i);
        p->types[type(p, names[i])].module_number = (uint32_t)i + 2;
        uint32_t rules = node(p, names[i], size);
        static_root(p, rules, "s_rules");
        if (collectible)
            child(p, rules, "System.Reflection.LoaderAllocator", 48);
    }
    p->modules = modules;
    p->module_count = count + 2;
    return ask_with(p, 0.05, min_bytes);
}

static void an_assembly_loaded_many_times(void **state)
{
    (void)state;
    struct answer a = loaded(COPIES - 1, true, 0, 100, NOTHING_IS_LARGE);
    assert_int_equal(gcd_suspects_count(a.s), 0);
    forget(a);
    a = loaded(COPIES, true, 0, 100, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_ASSEMBLIES, 10, NULL,
           "The assembly Pricing is loaded 10 times, in collectible contexts that something still "
           "uses. "
           "The 10 objects of its types keep 1.4 KiB alive, 100.0 % of the heap. One Rules0 is "
           "held by");
    assert_non_null(strstr(first_of(a, GCD_SUSPECT_ASSEMBLIES)->advice, "look at the path"));
    forget(a);
    a = loaded(COPIES, false, 0, 100, NOTHING_IS_LARGE);
    expect(a, GCD_SUSPECT_ASSEMBLIES, 10, NULL,
           "The assembly Pricing is loaded 10 times. The 10 objects");
    assert_non_null(strstr(first_of(a, GCD_SUSPECT_ASSEMBLIES)->advice, "Load it once"));
    forget(a);
}

/* Modules of assemblies that are made at run time; there are no objects of their types. */
static void assemblies_without_an_object(void **state)
{
    (void)state;
    static const struct {
        size_t copies;
        uint32_t flags;
        const char *sentence;
    } cases[] = {
        { FINDING_GENERATED - 1, DYNAMIC, NULL },
        { FINDING_GENERATED, DYNAMIC,
          "100 assemblies Generated, generated at run time, are loaded, which are never unloaded. "
          "The code and metadata of each are outside of the heap." },
        { COPIES, 0,
          "The assembly Generated is loaded 10 times. The code and metadata of each are outside of "
          "the heap." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_module modules[FINDING_GENERATED];
        struct pile *p = pile_new();
        static_root(p, node(p, "Shop.App", 24), "s_app");
        for (size_t k = 0; k < cases[i].copies; k++)
            modules[k] = (struct gcd_module){ .id = 1 + k,
                                              .path = "",
                                              .assembly = "Generated",
                                              .problem = "",
                                              .flags = cases[i].flags };
        p->modules = modules;
        p->module_count = cases[i].copies;
        struct answer a;
        struct gcd_suspects_options how = { .min_bytes = NOTHING_IS_LARGE };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        assert_int_equal(gcd_suspects_count(a.s), cases[i].sentence != NULL);
        if (cases[i].sentence != NULL) {
            const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
            assert_string_equal(s->sentence, cases[i].sentence);
            assert_true(s->kind == GCD_SUSPECT_ASSEMBLIES && s->type == GCD_TYPE_NONE);
            assert_true((strstr(s->advice, "XmlSerializer") != NULL) == (cases[i].flags != 0));
        }
        forget(a);
    }
}

/* Contexts of different assemblies; those of copies are told of with these. */
static void many_collectible_contexts(void **state)
{
    (void)state;
    static const struct {
        int contexts;
        size_t copies;
        bool is;
    } cases[] = {
        { 100, 0, true },
        { 99, 0, false },
        { 99, COPIES, false },
        { 100, COPIES, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_module modules[COPIES + 1] = {
            { .id = 1, .path = "/app/Shop.dll", .assembly = "Shop", .problem = "" }
        };
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Scripts", 24);
        static_root(p, all, "s_scripts");
        for (int k = 0; k < cases[i].contexts + (int)cases[i].copies; k++)
            child(p, child(p, all, "Shop.Script", 24), "System.Reflection.LoaderAllocator", 48);
        for (size_t k = 1; k <= cases[i].copies; k++)
            modules[k] = (struct gcd_module){
                .id = 1 + k, .path = "/plug/Pricing.dll", .assembly = "Pricing", .problem = ""
            };
        p->modules = modules;
        p->module_count = cases[i].copies + 1;
        struct answer a = ask_with(p, 0.05, NOTHING_IS_LARGE);
        assert_int_equal(count_of(a, GCD_SUSPECT_ASSEMBLIES), (cases[i].copies > 0) + cases[i].is);
        if (cases[i].is && cases[i].copies == 0)
            expect(a, GCD_SUSPECT_ASSEMBLIES, 100, NULL,
                   "100 collectible contexts are alive, each with assemblies of its own that "
                   "cannot be "
                   "unloaded. One LoaderAllocator is held by the static variable s_scripts by way "
                   "of Script.");
        forget(a);
    }
}

/* Free memory: at least the threshold, and a quarter of the large object heap. */
static void free_memory_between_large_objects(void **state)
{
    (void)state;
    const uint64_t used = 0x20000;
    static const struct {
        unsigned generation;
        uint64_t live, min_bytes;
        bool found;
        unsigned others; /* objects besides the two */
    } is[] = {
        { 3, 0x18000, 0x8000, true, 18 },  { 3, 0x18000, 0x8000, false, 17 },
        { 3, 0x18000, 0x8000, true, 18 },  { 3, 0x18008, 0x8000, false, 18 },
        { 3, 0x18008, 0x7ff8, false, 18 }, { 3, 0x17ff8, 0x8000, true, 18 },
        { 3, 0x18000, 0x8001, false, 18 }, { 2, 0x10000, 1, false, 18 },
        { 4, 0x10000, 1, false, 18 },
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Shop.Documents[]", is[i].live - 100);
        static_root(p, all, "s_documents");
        child(p, all, "System.Byte[]", 97); /* takes 104 */
        for (unsigned k = 0; k < is[i].others; k++)
            child(p, all, "System.Byte[]", 24);
        p->nodes[all].size_bytes = is[i].live - 104 - 24 * is[i].others;
        p->used_bytes = used;
        p->generation = is[i].generation;
        struct answer a = ask_with(p, 0.001, is[i].min_bytes);
        if ((count_of(a, GCD_SUSPECT_FRAGMENTATION) == 1) != is[i].found)
            fail_msg("row %zu", i);
        const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_FRAGMENTATION);
        assert_true(s == NULL || (s->bytes == used - is[i].live && s->share == 0 && s->overlaps &&
                                  s->path_count == 0));
        assert_true(i != 0 || strcmp(s->sentence, "32.0 KiB of 128.0 KiB in the large object heap "
                                                  "are free, between 20 objects, by size mostly "
                                                  "Documents[]: this heap is not compacted.") == 0);
        forget(a);
    }
}

/* ---- what was looked for ---- */

static void numbers_below_the_threshold(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (uint32_t n = rows[i].least - 1; n <= rows[i].least; n++) {
            struct answer a = ask_for(&rows[i], n, NOTHING_IS_LARGE);
            const struct gcd_suspect_check *check = gcd_suspects_check(a.s, rows[i].kind);
            assert_int_equal(check->found, n == rows[i].least);
            assert_int_equal(check->objects, n);
            assert_int_equal(check->least_objects, rows[i].least);
            assert_false(check->unknown);
            assert_true(check->bytes > 0 && check->what[0] != '\0');
            for (unsigned k = 0; k < GCD_SUSPECT_KINDS; k++)
                assert_true(k == rows[i].kind || gcd_suspects_check(a.s, k)->found == 0);
            forget(a);
        }
    struct answer a = ask_for(&rows[0], 2, NOTHING_IS_LARGE);
    assert_true(gcd_suspects_check(a.s, GCD_SUSPECT_FRAGMENTATION)->unknown &&
                gcd_suspects_check(a.s, GCD_SUSPECT_ASSEMBLIES)->unknown);
    assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_OBJECT)->least_bytes, NOTHING_IS_LARGE);
    forget(a);
}

/* ---- in place of others ---- */

/* Objects of one type in copies of one assembly, and interned strings. */
static void others_that_are_replaced(void **state)
{
    (void)state;
    struct answer a = loaded(COPIES, true, 0, 1000, 1);
    assert_int_equal(gcd_suspects_count(a.s), 11); /* each object is large enough alone */
    assert_true(first_of(a, GCD_SUSPECT_ASSEMBLIES)->overlaps);
    forget(a);
    struct pile *p = pile_new();
    interned(p, 100);
    a = ask_with(p, 0.7, 1);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(gcd_suspects_get(a.s, 0)->kind, GCD_SUSPECT_INTERNED);
    assert_false(gcd_suspects_get(a.s, 0)->overlaps);
    assert_int_equal(gcd_suspects_get(a.s, 0)->bytes, 16000 + 100 * 40);
    forget(a);
}

static void a_large_finding_replaces_its_objects(void **state)
{
    (void)state;
    static const enum gcd_suspect_kind kinds[] = { GCD_SUSPECT_TIMERS, GCD_SUSPECT_CANCELLATION,
                                                   GCD_SUSPECT_CONTINUATIONS, GCD_SUSPECT_TRACKER,
                                                   GCD_SUSPECT_WAITS };
    for (size_t i = 0; i < ROWS; i++) {
        bool replaces = false;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            replaces = replaces || kinds[k] == rows[i].kind;
        for (uint32_t n = 9; n <= 10 && replaces; n++) {
            struct pile *p = pile_new();
            rows[i].put(p, n);
            struct answer a = ask_with(p, 0.6, 1);
            assert_int_equal(gcd_suspects_count(a.s), 1);
            assert_int_equal(gcd_suspects_get(a.s, 0)->kind == rows[i].kind, n == 10);
            if (n == 10) {
                assert_false(gcd_suspects_get(a.s, 0)->overlaps);
                assert_int_equal(gcd_suspects_get(a.s, 0)->bytes,
                                 gcd_suspects_get(a.s, 0)->retained_bytes);
                assert_true(gcd_suspects_get(a.s, 0)->content_count > 1);
            }
            forget(a);
        }
    }
}

/* An object of the program below a timer that keeps much is a suspect of its own, and does not
 * count for the timers. */
static void large_objects_below_timers_remain(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    put_timers(p, 100, 24);
    uint32_t cache = child(p, 30, "Shop.Cache", 24);
    for (int i = 0; i < 100; i++)
        child(p, cache, "Shop.Page", 1000);
    struct answer a = ask_with(p, 0.1, 1);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    assert_int_equal(first_of(a, GCD_SUSPECT_OBJECT)->bytes, 100024);
    assert_int_equal(first_of(a, GCD_SUSPECT_TIMERS)->bytes, 100 * (96 + 64 + 24));
    forget(a);
}

/* ---- odd input ---- */

/* Lists that are rings, lists of lists, objects that refer to themselves, and names of any length.
 */
static void odd_shapes(void **state)
{
    (void)state;
    static const char *const names[] = { TIMER,
                                         CALLBACK,
                                         SOURCE,
                                         SOURCE "+Registrations",
                                         SOURCE "+CallbackNode",
                                         TASK,
                                         CONTINUATION,
                                         BOX,
                                         "System.Collections.Generic.List`1[System.Object]",
                                         "System.Object[]",
                                         EF "StateManager",
                                         EF "InternalEntityEntry",
                                         "Shop.<>c",
                                         "AsyncStateMachineBox<",
                                         "System.Reflection.Emit.DynamicMethod",
                                         "" };
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct pile *p = pile_new();
        uint64_t random = seed;
        for (int i = 0; i < 3000; i++)
            (void)node(p,
                       names[(random = random * 6364136223846793005u + 1442695040888963407u) >> 60],
                       seed % 7 == 0 ? UINT64_MAX / 3 : 24);
        for (int i = 0; i < 12000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            edge(p, (uint32_t)(random >> 33) % 3000,
                 (uint32_t)(random >> 11) % (seed % 3 == 0 ? 20 : 3000));
        }
        static_root(p, 0, "s_root");
        struct answer a;
        gcd_status st = try_to_ask(p, 0.01, 1, &a, &err);
        assert_true(st == GCD_OK || st == GCD_E_LIMIT);
        uint64_t bytes = 0;
        for (size_t i = 0; st == GCD_OK && i < gcd_suspects_count(a.s); i++) {
            const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
            assert_true(strlen(s->sentence) < 4095 && strlen(s->advice) < 4095);
            bytes += s->overlaps ? 0 : s->bytes;
        }
        assert_true(seed % 7 == 0 || bytes <= 24 * 3000);
        forget(a);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    put_timers(p, 20, 24);
    put_callbacks(p, 20, "s_stop");
    continuations(p, 1000);
    struct answer a = ask_with(p, 0.01, 1);
    assert_true(count_of(a, GCD_SUSPECT_TIMERS) == 1 &&
                count_of(a, GCD_SUSPECT_CANCELLATION) == 1 &&
                count_of(a, GCD_SUSPECT_CONTINUATIONS) == 1);
    uint64_t refused = 0;
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_suspects *s = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        struct gcd_suspects_options how = { .context.alloc = &f.alloc,
                                            .share = 0.01,
                                            .min_bytes = 1 };
        gcd_status st = gcd_suspects_new(a.g, a.d, &how, &s, &err);
        /* a cache can do without */
        assert_true(st == GCD_OK || (st == GCD_E_NOMEM && f.failed > 0));
        refused += st == GCD_E_NOMEM;
        gcd_suspects_free(s);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    assert_true(refused > 40);
    forget(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_at_its_threshold),
        cmocka_unit_test(values_of_async_local),
        cmocka_unit_test(a_container_wins_over_a_variable),
        cmocka_unit_test(only_large_ones),
        cmocka_unit_test(a_number_is_no_suspect),
        cmocka_unit_test(dead_objects),
        cmocka_unit_test(what_has_ended),
        cmocka_unit_test(those_who_retain_most_come_first),
        cmocka_unit_test(what_several_timers_share),
        cmocka_unit_test(callbacks_of_several_sources),
        cmocka_unit_test(boxed_by_element_type),
        cmocka_unit_test(boxed_values_need_a_share),
        cmocka_unit_test(pools_are_notes),
        cmocka_unit_test(few_large_values),
        cmocka_unit_test(small_values),
        cmocka_unit_test(few_elements_with_many_objects),
        cmocka_unit_test(chains_of_scopes),
        cmocka_unit_test(linked_sources),
        cmocka_unit_test(made_linked_sources),
        cmocka_unit_test(all_that_register),
        cmocka_unit_test(containers_of_all_hold_nothing),
        cmocka_unit_test(how_types_are_named),
        cmocka_unit_test(who_is_behind),
        cmocka_unit_test(what_is_heaviest),
        cmocka_unit_test(what_was_only_captured),
        cmocka_unit_test(who_refers_to_itself),
        cmocka_unit_test(who_awaits_a_delay),
        cmocka_unit_test(a_large_finding_replaces_its_objects),
        cmocka_unit_test(large_objects_below_timers_remain),
        cmocka_unit_test(arrays_of_the_runtime),
        cmocka_unit_test(an_assembly_loaded_many_times),
        cmocka_unit_test(assemblies_without_an_object),
        cmocka_unit_test(many_collectible_contexts),
        cmocka_unit_test(free_memory_between_large_objects),
        cmocka_unit_test(numbers_below_the_threshold),
        cmocka_unit_test(others_that_are_replaced),
        cmocka_unit_test(odd_shapes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
