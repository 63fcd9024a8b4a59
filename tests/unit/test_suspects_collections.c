/* Suspects that are collections: one for each, with all that is inside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "support/check.h"
#include "support/pile.h"

#define GENERIC    "System.Collections.Generic."
#define CONCURRENT "System.Collections.Concurrent."
#define CLASS      0x12

/* A ConcurrentQueue below PARENT with SEGMENTS full of orders of 100 bytes, the last of them its
 * tail, too. */
static uint32_t add_queue(struct pile *p, uint32_t parent, int segments, int each)
{
    uint32_t queue = child(p, parent, CONCURRENT "ConcurrentQueue`1[Shop.Order]", 40), at = queue;
    for (int i = 0; i < segments; i++) {
        at = child(p, at, CONCURRENT "ConcurrentQueueSegment`1[Shop.Order]", 232);
        uint32_t slots = child(p, at, "Slot[Shop.Order][]", 24 + 16 * (uint64_t)each);
        for (int k = 0; k < each; k++)
            child(p, slots, "Shop.Order", 100);
    }
    edge(p, queue, at);
    return queue;
}

static void a_channel_is_one_suspect(void **state)
{
    (void)state;
    for (int segments = 1; segments <= 30; segments += 29) {
        struct pile *p = pile_new();
        uint32_t store = node(p, "Shop.Store", 24),
                 channel = child(p, store,
                                 "System.Threading.Channels.UnboundedChannel`1[Shop.Order]", 88);
        add_queue(p, channel, segments, 32);
        static_root(p, store, "s_store");
        struct answer a = ask(p, segments == 1 ? 0.1 : 0.01);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        assert_int_equal(s->kind, GCD_SUSPECT_OBJECT);
        assert_int_equal(s->node, channel);
        assert_string_equal(s->collection, "channel");
        assert_int_equal(s->elements, segments * 32);
        assert_int_equal(s->held_count, 1);
        assert_int_equal(s->held_objects, segments * 32);
        assert_string_equal(type_name(a, s->held[0].type), "Shop.Order");
        assert_int_equal(s->path_count, 2);
        assert_int_equal(s->bytes, s->retained_bytes);
        assert_non_null(strstr(s->sentence, segments == 1 ? ": 32 Order in an Unbound"
                                                          : ": 960 Order in an Unbound"));
        forget(a);
    }
}

/* One of twelve channels is full: its reader is too slow, not the size of a cache.  If many are
 * full, or there are few, each is large like all else. */
static void one_full_channel(void **state)
{
    (void)state;
    static const struct {
        unsigned all, full;
        bool bounded, found;
    } rows[] = { { 12, 1, false, true },
                 { 12, 3, true, true },
                 { 12, 4, false, false },
                 { 3, 1, false, true },
                 { 2, 1, false, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t desk = node(p, "Shop.Desk", 24);
        static_root(p, desk, "s_desk");
        for (unsigned k = 0; k < rows[i].all; k++) {
            uint32_t client = child(p, desk, "Shop.Client", 24);
            uint32_t channel =
                child(p, client,
                      rows[i].bounded ? "System.Threading.Channels.BoundedChannel`1[Shop.Order]"
                                      : "System.Threading.Channels.UnboundedChannel`1[Shop.Order]",
                      88);
            if (rows[i].bounded) { /* a deque */
                uint32_t items = child(p,
                                       child(p, channel,
                                             "System.Collections.Generic.Deque`1["
                                             "Shop.Order]",
                                             32),
                                       "Shop.Order[]", k < rows[i].full ? 24 + 8 * 500 : 56);
                for (unsigned m = 0; m < (k < rows[i].full ? 400 : 4); m++)
                    child(p, items, "Shop.Order", 100);
            } else {
                add_queue(p, channel, 1, k < rows[i].full ? 400 : 4);
            }
        }
        struct answer a = ask(p, 0.1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        char said[100];
        snprintf(said, sizeof said,
                 " Only %u of %u Client objects %s full; the others are nearly "
                 "empty.",
                 rows[i].full, rows[i].all, rows[i].full == 1 ? "is" : "are");
        if ((strstr(s->sentence, said) != NULL) != rows[i].found)
            fail_msg("%zu: %s", i, s->sentence);
        assert_int_equal(s->size_only, !rows[i].found);
        assert_int_equal(strstr(s->advice, "CreateBounded") != NULL,
                         rows[i].found && !rows[i].bounded);
        forget(a);
    }
}

/* What waits for threads of the pool, of which some block. */
static void work_items_of_the_thread_pool(void **state)
{
    (void)state;
    for (unsigned blocked = 3; blocked <= 4; blocked++) {
        struct pile *p = pile_new();
        uint32_t pool = node(p, "System.Threading.ThreadPoolWorkQueue", 24);
        static_root(p, pool, "s_workQueue");
        uint32_t queue = add_queue(p, pool, 30, 32), locals = node(p, "Shop.Locals", 24);
        static_root(p, locals, "s_locals"); /* so do the pool's threads */
        edge(p, child(p, locals, "Shop.Local", 24), queue);
        for (unsigned i = 0; i < blocked; i++)
            child(p, pool, "System.Threading.Tasks.Task+SetOnInvokeMres", 48);
        struct answer a = ask(p, 0.1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        bool told = strcmp(s->advice, "These are work items that wait for a thread of the thread "
                                      "pool. Threads block in Wait or Result, and gcdumpc async "
                                      "shows for what: await it instead.") == 0;
        if (told != (blocked == 4) || s->size_only == told)
            fail_msg("%u: %s", blocked, s->advice);
        forget(a);
    }
}

/* The loop that reads a channel, a task in a field, has failed or not. */
static void a_channel_whose_reader_has_failed(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "System.Threading.Tasks.Task",
        "System.Threading.Tasks.Task+ContingentProperties",
        "System.Threading.Tasks.TaskExceptionHolder",
        "System.Collections.Generic.List`1[System.Runtime.ExceptionServices.ExceptionDispatchInfo]",
        "System.Runtime.ExceptionServices.ExceptionDispatchInfo[]",
        "System.Runtime.ExceptionServices.ExceptionDispatchInfo",
        "Shop.OrderException",
    };
    enum { FAILED, KNOWS_IT_BY_ITS_OWNER, RUNS, KNOWS_ANOTHER };
    for (unsigned i = FAILED; i <= KNOWS_ANOTHER; i++) {
        struct pile *p = pile_new();
        uint32_t store = node(p, "Shop.Store", 24), writer = node(p, "Shop.Writer", 24),
                 other = child(p, store, "Shop.Other", 24), at = writer,
                 channel = child(p, store,
                                 "System.Threading.Channels.UnboundedChannel`1[Shop.Order]", 88);
        add_queue(p, channel, 30, 32);
        static_root(p, store, "s_store");
        static_root(p, writer, "s_writer");
        edge(p, writer, i == KNOWS_ANOTHER ? other : i == FAILED ? channel : store);
        for (size_t k = 0; k < (i == RUNS ? 2 : sizeof steps / sizeof *steps); k++)
            at = child(p, at, steps[k], 40);
        struct answer a = ask(p, 0.1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        bool failed = i == FAILED || i == KNOWS_IT_BY_ITS_OWNER;
        if ((strcmp(s->advice, "Look in Writer for what takes elements out of it: a task of it has "
                               "failed with an OrderException (gcdumpc exceptions), so it may have "
                               "ended.") == 0) != failed ||
            s->size_only == failed)
            fail_msg("%u: %s", i, s->advice);
        forget(a);
    }
}

#define CACHING  "Microsoft.Extensions.Caching.Memory."
#define CACHED   CONCURRENT "ConcurrentDictionary`2"
#define OF_CACHE "[System.String," CACHING "CacheEntry]"

/* What the test's image has: limit and size, -1 = no limit. */
static bool number_of(void *numbers, uint64_t address, const char *field, int64_t *ret)
{
    const int64_t *limit = numbers;
    (void)address;
    if (limit[0] == INT64_MIN)
        return false;
    *ret = limit[strcmp(field, "_cacheSize") == 0];
    if (strcmp(field, "_absoluteExpirationTicks") == 0) {
        *ret = limit[2];
        return true;
    }
    return strcmp(field, "_sizeLimit") == 0 || strcmp(field, "_cacheSize") == 0;
}

static void a_cache_with_a_limit_is_a_note(void **state)
{
    (void)state;
    static const struct {
        int64_t numbers[3];
        bool image, note;
        const char *said;
    } cases[] = {
        { { 0 },
          false,
          false,
          "within its limit, which a process (leaks --direct), a core file, or a " },
        { { INT64_MIN },
          true,
          false,
          "A cache may be full and within its limit, which a process " },
        { { -1, 40, -1 }, true, false, "It has no SizeLimit. If it grows, look" },
        { { -1, 40, 639316916887991595 },
          true,
          false,
          "It has no SizeLimit, but its entries expire. If it grows, let them expire sooner, or "
          "give "
          "it a size limit (SizeLimit)." },
        { { 5000, 4711 },
          true,
          true,
          "Its SizeLimit is 5,000, and 4,711 are used: it keeps no more" },
        { { 5000, -1 }, true, true, "Its SizeLimit is 5,000: it keeps no more" },
        { { 0, 0 }, true, true, "Its SizeLimit is 0, and 0 are used: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pile *p = pile_new();
        uint32_t cache = node(p, CACHING "MemoryCache", 64),
                 inside = child(p, cache, CACHING "MemoryCache+CoherentState", 40),
                 table = child(p, inside, CACHED OF_CACHE, 40),
                 nodes = child(p, child(p, table, CACHED "+Tables" OF_CACHE, 40),
                               CACHED "+VolatileNode" OF_CACHE "[]", 24 + 8 * 67);
        child(p, cache, CACHING "MemoryDistributedCacheOptions", 72);
        for (int k = 0; k < 60; k++) {
            uint32_t it = child(p, nodes, CACHED "+Node" OF_CACHE, 48);
            uint32_t entry = child(p, it, CACHING "CacheEntry", 96);
            child(p, entry, "Shop.Page", 2000);
            edge(p, entry, cache);
        }
        static_root(p, cache, "s_pages");
        struct answer a;
        int64_t numbers[3];
        struct gcd_error err = GCD_ERROR_INIT;
        memcpy(numbers, cases[i].numbers, sizeof numbers);
        const struct gcd_suspects_options how = { .share = 0.3,
                                                  .min_bytes = 1,
                                                  .number = cases[i].image ? number_of : NULL,
                                                  .numbers = numbers };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        assert_int_equal(gcd_suspects_count(a.s), !cases[i].note);
        assert_int_equal(gcd_suspects_note_count(a.s), cases[i].note);
        const char *advice =
            (cases[i].note ? gcd_suspects_note(a.s, 0) : gcd_suspects_get(a.s, 0))->advice;
        if (strstr(advice, cases[i].said) == NULL)
            fail_msg("%s", advice);
        forget(a);
    }
}

/* [gcd_suspects_options.limit] All objects of the test have the same. */
static const char *limit_at(void *numbers, uint64_t address, const char *of, uint64_t least,
                            uint64_t *ret)
{
    const uint64_t *limit = numbers;
    *ret = limit[0];
    return of[0] == '\0' && limit[0] >= least && address != 0 ? "_capacity" : NULL;
}

/* 60 pages in a list of a store, whose field allows so many: is it a note? */
static bool is_limited_by(uint64_t limit, const char *owner)
{
    struct pile *p = pile_new();
    uint32_t store = node(p, owner, 64), list = child(p, store, GENERIC "List`1[Shop.Page]", 32),
             array = child(p, list, "Shop.Page[]", 24 + 8 * 64);
    for (int k = 0; k < 60; k++)
        child(p, array, "Shop.Page", 2000);
    static_root(p, store, "s_store");
    struct answer a;
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_suspects_options how = {
        .share = 0.3, .min_bytes = 1, .limit = limit_at, .numbers = &limit
    };
    assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
    size_t notes = gcd_suspects_note_count(a.s);
    assert_int_equal(notes + gcd_suspects_count(a.s), 1);
    if (notes > 0) {
        assert_true(gcd_suspects_note(a.s, 0)->limited);
        assert_non_null(strstr(gcd_suspects_note(a.s, 0)->advice, " (_capacity of Store): it "));
    }
    forget(a);
    return notes > 0;
}

static void what_is_full_by_its_own_field_is_a_note(void **state)
{
    (void)state;
    assert_true(is_limited_by(60, "Shop.Store"));
    assert_true(is_limited_by(80, "Shop.Store"));
    assert_false(is_limited_by(59, "Shop.Store")); /* that limits something else */
    assert_false(is_limited_by(81, "Shop.Store")); /* it may be another number */
    assert_false(is_limited_by(60, "System.Store"));
}

/* 60 pages in a list of a store, whose class has CONSTANTS: are they a note that says SAID. */
static bool is_limited_by_constant(const char *constants, const char *said)
{
    struct pile *p = pile_new();
    uint32_t store = node(p, "Shop.Store", 64),
             list = child(p, store, GENERIC "List`1[Shop.Page]", 32),
             array = child(p, list, "Shop.Page[]", 24 + 8 * 64);
    for (int k = 0; k < 60; k++)
        child(p, array, "Shop.Page", 2000);
    p->types[type(p, "Shop.Store")].layout = "o 10\n11 _pages";
    p->types[type(p, "Shop.Store")].events = constants;
    static_root(p, store, "s_store");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer a = { .g = pile_graph(p) };
    struct gcd_fields *fields;
    assert_int_equal(gcd_fields_new(a.g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, &err), GCD_OK);
    const struct gcd_suspects_options how = { .share = 0.3, .min_bytes = 1, .fields = fields };
    assert_int_equal(gcd_suspects_new(a.g, a.d, &how, &a.s, &err), GCD_OK);
    size_t notes = gcd_suspects_note_count(a.s);
    assert_int_equal(notes + gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = notes > 0 ? gcd_suspects_note(a.s, 0) : gcd_suspects_get(a.s, 0);
    assert_true(s->limited == (notes > 0));
    assert_true(s->may_be_limited == (notes == 0));
    if (strstr(s->advice, said) == NULL)
        fail_msg("%s: %s", constants, s->advice);
    gcd_fields_free(fields);
    forget(a);
    return notes > 0;
}

/* [gcd_suspects_options.number] The number of elements, if there is one. */
static bool size_at(void *numbers, uint64_t address, const char *field, int64_t *ret)
{
    const int64_t *size = numbers;
    *ret = size[0];
    return address != 0 && size[0] >= 0 && strcmp(field, "_size") == 0;
}

/* A list with room for 640 pages has 60, and many nulls if its size says so. */
static void a_size_tells_nulls_from_room(void **state)
{
    (void)state;
    static const struct {
        int64_t size;
        uint64_t least, most;
        const char *advice;
    } cases[] = {
        { -1, 60, 640, "or call TrimExcess" },       { 60, 60, 60, "or call TrimExcess" },
        { 600, 600, 600, "elements that are null" }, { 59, 60, 640, "or call TrimExcess" },
        { 641, 60, 640, "or call TrimExcess" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pile *p = pile_new();
        uint32_t store = node(p, "Shop.Store", 64),
                 list = child(p, store, GENERIC "List`1[Shop.Page]", 32),
                 array = child(p, list, "Shop.Page[]", 24 + 8 * 64000);
        for (int k = 0; k < 6000; k++)
            child(p, array, "Shop.Page", 20);
        p->types[type(p, "Shop.Page[]")].parameters[0] = CLASS;
        static_root(p, store, "s_store");
        struct answer a;
        struct gcd_error err = GCD_ERROR_INIT;
        int64_t size = cases[i].size < 0 ? -1 : cases[i].size * 100;
        const struct gcd_suspects_options how = {
            .share = 0.3, .min_bytes = 1, .number = size_at, .numbers = &size
        };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        const struct gcd_suspect *sparse = NULL;
        for (size_t k = 0; k < gcd_suspects_count(a.s); k++) {
            const struct gcd_suspect *s = gcd_suspects_get(a.s, k);
            if (s->kind == GCD_SUSPECT_SPARSE)
                sparse = s;
            else if (s->elements_at_least != cases[i].least * 100 ||
                     s->elements_at_most != cases[i].most * 100 ||
                     strncmp(s->what, "6,000 Page", 10) != 0)
                fail_msg("%zu: %s, %u to %u", i, s->what, (unsigned)s->elements_at_least,
                         (unsigned)s->elements_at_most);
        }
        assert_non_null(sparse);
        if (strstr(sparse->advice, cases[i].advice) == NULL)
            fail_msg("%zu: %s", i, sparse->advice);
        forget(a);
    }
}

#define RX "System.Reactive."

/* 60 subscriptions to a Subject<T> of the store, each by an object of DASHBOARD; "" = by lambdas
 * of the store. */
static void see_subscriptions(const char *dashboard, const char *said)
{
    struct pile *p = pile_new();
    uint32_t store = node(p, "Shop.Store", 64),
             subject = child(p, store, RX "Subjects.Subject`1[System.Int64]", 32),
             array = child(p, subject, RX "Subjects.Subject`1+SubjectDisposable[System.Int64][]",
                           24 + 8 * 60);
    for (int k = 0; k < 60; k++) {
        uint32_t one = child(p, array, RX "Subjects.Subject`1+SubjectDisposable[System.Int64]", 32),
                 where =
                     child(p, one, RX "Linq.ObservableImpl.Where`1+Predicate+_[System.Int64]", 48),
                 predicate = child(p, where, "System.Func`2[System.Int64,System.Boolean]", 64),
                 observer = child(p, where, RX "AnonymousObserver`1[System.Int64]", 48),
                 action = child(p, observer, "System.Action`1[System.Int64]", 64);
        edge(p, one, subject);
        child(p, predicate, "Shop.Store+<>c", 24);
        if (dashboard[0] != '\0')
            child(p, action, dashboard, 4000);
        else
            child(p, action, "Shop.Store+<>c__DisplayClass1_0", 4000);
    }
    p->types[type(p, "System.Func`2[System.Int64,System.Boolean]")].flags = GCD_TYPE_DELEGATE;
    p->types[type(p, "System.Action`1[System.Int64]")].flags = GCD_TYPE_DELEGATE;
    static_root(p, store, "s_store");
    struct answer a = ask(p, 0.3);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const char *advice = gcd_suspects_get(a.s, 0)->advice;
    if (strcmp(advice, said) != 0)
        fail_msg("%s", advice);
    forget(a);
}

static void subscriptions_of_rx_have_a_subscriber(void **state)
{
    (void)state;
    see_subscriptions("Shop.Dashboard",
                      "If it grows, look in Dashboard for a subscription to Store that it never "
                      "disposes of.");
    see_subscriptions("",
                      "If it grows, look in Store for subscriptions that are never disposed of.");
}

static void what_a_constant_limits_is_a_note(void **state)
{
    (void)state;
    static const char none[] = "If it grows, look in Store for what adds to it";
    assert_true(is_limited_by_constant("* =;MaxItems #60;", "is 60 (MaxItems of Store): it "));
    assert_true(is_limited_by_constant("MaxItems #70;MaxKeys #62;", " 62 (MaxKeys of Store)"));
    assert_false(is_limited_by_constant("MaxItems #81;", none)); /* it may be another number */
    assert_false(is_limited_by_constant("MaxItems #59;", none));
    assert_false(is_limited_by_constant("MaxAge #60;", none));
    assert_false(is_limited_by_constant("MaxItems System.Action;", none));
    /* which is named after the field */
    assert_true(is_limited_by_constant("MaxPages #900;", "is 900 (MaxPages of Store)"));
    assert_true(is_limited_by_constant("Max_Page_Count #60;PagesLimit #500;", " 500 (PagesLimit"));
    assert_false(is_limited_by_constant("MaxPages #59;", none));
    assert_false(is_limited_by_constant("MaxPages #1000;", none));
    assert_false(is_limited_by_constant("MaxPagesAge #100;", none));
    assert_false(is_limited_by_constant("?", none));
}

/* [gcd_suspects_options.limit] NUMBERS: two fields, the smaller number first. */
struct two_limits {
    const char *field[2];
    uint64_t number[2];
};

static const char *one_of_two(void *numbers, uint64_t address, const char *of, uint64_t at_least,
                              uint64_t *ret)
{
    const struct two_limits *limits = numbers;
    for (int i = 0; i < 2 && address != 0 && of[0] == '\0'; i++)
        if (limits->field[i] != NULL && limits->number[i] >= at_least) {
            *ret = limits->number[i];
            return limits->field[i];
        }
    return NULL;
}

/* 60 pages in a list that its owner keeps to fewer, or would, if the limit were of the list. */
static void what_is_far_above_its_own_limit_is_a_suspect(void **state)
{
    (void)state;
    enum { ONE = 1, TWO, ARRAY };
    static const struct {
        struct two_limits limits;
        int collections;
        unsigned told;
    } cases[] = {
        { { { "_capacity" }, { 30 } }, ONE, 30 },
        { { { "_capacity" }, { 31 } }, ONE, 0 }, /* cut back now and then */
        { { { "_capacity" }, { 15 } }, ONE, 0 },
        { { { "m_limit" }, { 16 } }, ONE, 16 },
        { { { "_maxMessages" }, { 30 } }, ONE, 0 }, /* of each */
        { { { "_maxSize" }, { 30 } }, ONE, 0 },     /* of bytes */
        { { { "_pageLimit" }, { 30 } }, ONE, 0 },
        { { { "_maxMessages", "Capacity" }, { 20, 30 } }, ONE, 30 },
        { { { "_limit", "_maxEntries" }, { 20, 30 } }, ONE, 30 },
        { { { "_limit", "_maxEntries" }, { 20, 100 } }, ONE, 0 }, /* within one of them */
        { { { "_capacity" }, { 30 } }, TWO, 0 },                  /* it may be of the other */
        { { { "_capacity" }, { 30 } }, ARRAY, 0 },                /* which has a length */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pile *p = pile_new();
        struct two_limits limits = cases[i].limits;
        uint32_t store = node(p, "Shop.Store", 64),
                 list = cases[i].collections == ARRAY
                            ? store
                            : child(p, store, GENERIC "List`1[Shop.Page]", 32),
                 array = child(p, list, "Shop.Page[]", 24 + 8 * 64);
        for (int k = 0; k < 60; k++)
            child(p, array, "Shop.Page", 2000);
        if (cases[i].collections == TWO)
            child(p, store, GENERIC "HashSet`1[Shop.Page]", 32);
        static_root(p, store, "s_store");
        struct answer a;
        struct gcd_error err = GCD_ERROR_INIT;
        const struct gcd_suspects_options how = {
            .share = 0.3, .min_bytes = 1, .limit = one_of_two, .numbers = &limits
        };
        assert_int_equal(ask_how(p, &how, &a, &err), GCD_OK);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        char text[160] = "";
        if (cases[i].told > 0)
            (void)snprintf(text, sizeof text,
                           "Its limit is %u (%s of Store), but it holds 60. Look in Store for what "
                           "should remove the others.",
                           cases[i].told, limits.field[limits.field[1] != NULL]);
        if (cases[i].told > 0 ? strcmp(s->advice, text) != 0 : strstr(s->advice, "limit") != NULL)
            fail_msg("%zu: %s", i, s->advice);
        assert_int_equal(s->size_only, cases[i].told == 0);
        assert_int_equal(strcmp(s->evidence, "That is certain, whether it grows or not.") == 0,
                         cases[i].told > 0);
        forget(a);
    }
}

/* 200 keys of a dictionary.  Does its advice say that none is found again? */
struct keyed {
    const char *equality; /* gcd_type.events of the keys */
    const char *comparer;
    bool owned;        /* each value refers to its key */
    bool shared_tags;  /* the keys have one array */
    const char *found; /* in the advice; NULL = nothing of that */
};

static void see_keys(const struct keyed *k)
{
#define OF_KEYS "[Shop.Key,Shop.Page]"
    struct pile *p = pile_new();
    uint32_t store = node(p, "Shop.Store", 24),
             table = child(p, store, GENERIC "Dictionary`2" OF_KEYS, 80),
             entries = child(p, table, GENERIC "Dictionary`2+Entry" OF_KEYS "[]", 24 + 24 * 200),
             tags = node(p, "System.String[]", 40);
    if (k->comparer != NULL)
        child(p, table, k->comparer, 24);
    for (int i = 0; i < 200; i++) {
        uint32_t key = child(p, entries, "Shop.Key", 24),
                 page = child(p, entries, "Shop.Page", 1000);
        edge(p, key, k->shared_tags ? tags : node(p, "System.String[]", 40));
        if (k->owned)
            edge(p, page, key);
    }
    static const char *const layouts[][2] = {
        { "Shop.Store", "o 10\n11 _pages" },
        { GENERIC "Dictionary`2" OF_KEYS, "o 11\n12 _entries\n13 _comparer" },
        { GENERIC "Dictionary`2+Entry" OF_KEYS "[]", "v 12\n14 key\n15 value" },
        { "Shop.Key", "o 14\n16 Tags" },
        { "Shop.Page", "o 15\n14 _key" },
        { "System.String[]", "v 16\n0 " },
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        p->types[type(p, layouts[i][0])].layout = layouts[i][1];
    if (k->comparer != NULL)
        p->types[type(p, k->comparer)].layout = "o 13";
    p->types[type(p, "Shop.Key")].events = k->equality;
    static_root(p, store, "s_store");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer a = { .g = pile_graph(p) };
    struct gcd_fields *fields;
    assert_int_equal(gcd_fields_new(a.g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, &err), GCD_OK);
    const struct gcd_suspects_options how = { .share = 0.3, .min_bytes = 1, .fields = fields };
    assert_int_equal(gcd_suspects_new(a.g, a.d, &how, &a.s, &err), GCD_OK);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
    bool lost = strstr(s->advice, "No lookup finds its keys again") != NULL;
    if (lost != (k->found != NULL) || (lost && strstr(s->advice, k->found) == NULL))
        fail_msg("%s", s->advice);
    assert_int_equal(s->size_only, !lost);
    assert_int_equal(strstr(s->evidence, "certain") != NULL, lost);
    gcd_fields_free(fields);
    forget(a);
}

/* 200 lambdas with two variables of LARGE and SMALL bytes each, or all of them with one. */
static void see_captured(uint64_t large, uint64_t small, bool owner, const char *said)
{
    struct pile *p = pile_new();
    uint32_t belt = node(p, "Shop.Belt", 24),
             own = child(p, belt, "Shop.Belt+<>c__DisplayClass1_0", 24),
             list = child(p, owner ? own : belt, GENERIC "List`1[System.Action]", 32),
             items = child(p, list, "System.Action[]", 24 + 8 * 200);
    for (int i = 0; i < 200; i++) {
        uint32_t variables =
            child(p, child(p, items, "System.Action", 64), "Shop.Belt+<>c__DisplayClass2_0", 32);
        child(p, variables, "System.Byte[]", large);
        child(p, variables, "System.String", small);
    }
    static const char *const layouts[][2] = {
        { "Shop.Belt", "o 10\n11 _own\n12 _checks" },
        { "Shop.Belt+<>c__DisplayClass1_0", "o 11\n12 pending" },
        { GENERIC "List`1[System.Action]", "o 12\n13 _items" },
        { "System.Action[]", "v 13\n0 " },
        { "System.Action", "o 14\n15 _target" },
        { "Shop.Belt+<>c__DisplayClass2_0", "o 15\n16 image\n17 label" },
        { "System.Byte[]", "o 16" },
        { "System.String", "o 17" },
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        p->types[type(p, layouts[i][0])].layout = layouts[i][1];
    static_root(p, belt, "s_belt");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer a = { .g = pile_graph(p) };
    struct gcd_fields *fields;
    assert_int_equal(gcd_fields_new(a.g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, &err), GCD_OK);
    const struct gcd_suspects_options how = { .share = 0.3, .min_bytes = 1, .fields = fields };
    assert_int_equal(gcd_suspects_new(a.g, a.d, &how, &a.s, &err), GCD_OK);
    const char *sentence = gcd_suspects_get(a.s, 0)->sentence;
    if (said == NULL ? strstr(sentence, "variable") != strstr(sentence, "variable s_belt")
                     : strstr(sentence, said) == NULL)
        fail_msg("%s", sentence);
    if (owner)
        assert_string_equal(gcd_suspects_get(a.s, 0)->place, "Belt.pending");
    gcd_fields_free(fields);
    forget(a);
}

/* What an agent of F# has not received, and what its Scan has passed over. */
static void messages_wait_for_an_agent(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { GENERIC "Queue`1[Shop.Message]", "look in Tug for the MailboxProcessor in it: these "
                                           "messages wait for its agent, which has "
                                           "ended, is too slow, or waits itself." },
        { GENERIC "List`1[Shop.Message]",
          "look in Tug for the MailboxProcessor in it: its Scan keeps these messages until one of "
          "them matches." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t tug = node(p, "Shop.Tug", 24),
                 mailbox = child(p, tug, "Microsoft.FSharp.Control.Mailbox`1[Shop.Message]", 72),
                 all = child(p, mailbox, rows[i][0], 32),
                 items = child(p, all, "Shop.Message[]", 24 + 8 * 200);
        static_root(p, tug, "s_tug");
        for (int k = 0; k < 200; k++)
            child(p, items, "Shop.Message", 100);
        struct answer a = ask(p, 0.5);
        if (strstr(gcd_suspects_get(a.s, 0)->advice, rows[i][1]) == NULL)
            fail_msg("%s", gcd_suspects_get(a.s, 0)->advice);
        forget(a);
    }
}

static void what_lambdas_have_captured(void **state)
{
    (void)state;
    see_captured(4000, 40, false,
                 " Most of that is in the variable image (Byte[]) of Belt, which lives as long as "
                 "any lambda that uses a variable of the same block.");
    see_captured(40, 4000, false, " in the variable label (String) of Belt, which");
    see_captured(40, 40, false, NULL);
    see_captured(
        4000, 40, true,
        "variable s_belt. Your own types in it: a lambda in Belt (one in each, 795.3 KiB). The "
        "variable lives as long as any lambda that uses one of the same block.");
}

/* The same for keys of TYPE, none of the program's own, in a dictionary or a SET. */
static void see_content_keys(const char *name, bool set, const char *found)
{
    char all[200], entries_of[200];
    struct pile *p = pile_new();
    (void)snprintf(all, sizeof all,
                   set ? GENERIC "HashSet`1[%s]" : GENERIC "Dictionary`2[%s,Shop.Page]", name);
    (void)snprintf(
        entries_of, sizeof entries_of,
        set ? GENERIC "HashSet`1+Entry[%s][]" : GENERIC "Dictionary`2+Entry[%s,Shop.Page][]", name);
    uint32_t store = node(p, "Shop.Store", 24), table = child(p, store, all, 80),
             entries = child(p, table, entries_of, 24 + 24 * 200);
    for (int i = 0; i < 200; i++) {
        child(p, entries, name, set ? 1000 : 24);
        if (!set)
            child(p, entries, "Shop.Page", 1000);
    }
    p->types[type(p, "Shop.Store")].layout = "o 10\n11 _pages";
    p->types[type(p, all)].layout = "o 11\n12 _entries\n13 _comparer";
    p->types[type(p, entries_of)].layout = set ? "v 12\n14 Value" : "v 12\n14 key\n15 value";
    p->types[type(p, name)].layout = "o 14";
    p->types[type(p, name)].events = strncmp(name, "Shop.", 5) == 0 ? "* =;" : NULL;
    if (!set)
        p->types[type(p, "Shop.Page")].layout = "o 15";
    static_root(p, store, "s_store");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer a = { .g = pile_graph(p) };
    struct gcd_fields *fields;
    assert_int_equal(gcd_fields_new(a.g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, &err), GCD_OK);
    const struct gcd_suspects_options how = { .share = 0.3, .min_bytes = 1, .fields = fields };
    assert_int_equal(gcd_suspects_new(a.g, a.d, &how, &a.s, &err), GCD_OK);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const char *advice = gcd_suspects_get(a.s, 0)->advice;
    if (found == NULL ? strstr(advice, "No lookup") != NULL : strstr(advice, found) == NULL)
        fail_msg("%s: %s", name, advice);
    gcd_fields_free(fields);
    forget(a);
}

/* What people take for its content, but the framework compares by reference; tasks are not meant,
 * nor objects of the program in a set, which may be there to be enumerated. */
static void contents_that_nobody_finds_again(void **state)
{
    (void)state;
    see_content_keys("System.Linq.Expressions.LogicalBinaryExpression", false,
                     "No lookup finds its keys again: nothing else refers to them, and an "
                     "expression tree compares by reference, so a new one is never found. Look in "
                     "Store for what makes them: keep each ");
    see_content_keys("System.Text.StringBuilder", false, "and StringBuilder compares by reference");
    see_content_keys("System.Byte[]", true,
                     "finds its elements again: nothing else refers to them, and an array ");
    see_content_keys("System.Byte[]", true, " or give the set an IEqualityComparer.");
    see_content_keys("System.Threading.Tasks.Task", false, NULL);
    see_content_keys("System.String", false, NULL);
    see_content_keys("Shop.Guest", true, NULL);
}

/* Keys by identity are healthy where others have them, or the dictionary another equality. */
static void keys_that_nobody_finds_again(void **state)
{
    (void)state;
    static const char plain[] = GENERIC "ObjectEqualityComparer`1[Shop.Key]";
    static const struct keyed rows[] = {
        { .equality = "* =;", .found = ", and Key has no Equals. Give it Equals and " },
        { .equality = "* =;Changed System.EventHandler;", .found = ", and Key has no Equals. " },
        { .equality = "* =;", .comparer = plain, .found = ", and Key has no Equals. " },
        { .equality = "<Tags>k__BackingField =;",
          .found = ", and Key, a record, compares Tags by reference. Write its Equals and " },
        { .equality = "Tags =;", .shared_tags = true },
        { .equality = "Other =;" },
        { .equality = "* =;", .owned = true },
        { .equality = "* =;", .comparer = "Shop.ByName" },
        { .equality = "Changed System.EventHandler;" },
        { .equality = NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        see_keys(&rows[i]);
}

static void an_element_that_keeps_nearly_all_is_the_suspect(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t d = node(p, CONCURRENT "ConcurrentDictionary`2[System.String,System.Int32[]]", 40);
    uint32_t buckets = child(p, child(p, d, "Tables[System.String,System.Int32[]]", 48),
                             "VolatileNode[System.String,System.Int32[]][]", 280);
    uint32_t first = child(p, buckets, "Node[System.String,System.Int32[]]", 48);
    uint32_t value = child(p, first, "System.Int32[]", 100000);
    static_root(p, d, "s_buffers");
    struct answer a = ask(p, 0.3);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(gcd_suspects_get(a.s, 0)->node, value);
    assert_null(gcd_suspects_get(a.s, 0)->collection);
    forget(a);
}

static void what_is_large_in_a_collection_is_a_suspect_of_its_own(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, GENERIC "List`1[Shop.Order]", 32),
             items = child(p, list, "Shop.Order[]", 824), large = 0;
    for (int i = 0; i < 50; i++)
        child(p, items, "Shop.Order", 100);
    large = child(p, items, "Shop.Order", 100);
    child(p, large, "System.Byte[]", 9000);
    static_root(p, list, "s_orders");
    struct answer a = ask(p, 0.3);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    const struct gcd_suspect *outer = gcd_suspects_get(a.s, 1);
    assert_int_equal(outer->node, list);
    assert_string_equal(outer->collection, "list");
    assert_int_equal(outer->bytes, 32 + 824 + 5100);
    /* with the large one, which is a suspect itself */
    assert_int_equal(outer->held_objects, 51);
    forget(a);
}

/* Lists in a list, COUNT of them heavy, and heavy things of another type. */
static struct answer ask_lists(unsigned count, unsigned others)
{
    struct pile *p = pile_new();
    uint32_t list = node(p, GENERIC "List`1[System.Object]", 32),
             items = child(p, list, "System.Object[]", 64);
    for (unsigned i = 0; i < count; i++) {
        uint32_t room = child(p, child(p, items, GENERIC "List`1[Shop.Guest]", 32), "Shop.Guest[]",
                              24 + 8 * 20);
        for (unsigned k = 0; k < 20; k++)
            child(p, room, "Shop.Guest", 100);
    }
    for (unsigned i = 0; i < others; i++)
        child(p, items, "Shop.Ledger", 2500);
    static_root(p, list, "s_rooms");
    return ask(p, 0.1);
}

/* What grows is all of them, not each. */
static void heavy_elements_of_one_type_are_one_suspect(void **state)
{
    (void)state;
    struct answer a = ask_lists(5, 0);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    assert_int_equal(gcd_suspects_get(a.s, 0)->node, 0);
    assert_int_equal(gcd_suspects_get(a.s, 0)->bytes, gcd_suspects_heap_bytes(a.s));
    assert_int_equal(gcd_suspects_get(a.s, 0)->own[0].objects, 100);
    forget(a);
    a = ask_lists(2, 0); /* too few */
    assert_int_equal(gcd_suspects_count(a.s), 2);
    forget(a);
    a = ask_lists(4, 2); /* too much else */
    assert_int_equal(gcd_suspects_count(a.s), 6);
    forget(a);
}

static void the_table_of_a_frozen_dictionary_belongs_to_it(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t d = node(p, "System.Collections.Frozen.DefaultFrozenSet`1[Shop.Order]", 48),
             items = child(p, d, "Shop.Order[]", 824),
             table = child(p, d, "System.Collections.Frozen.FrozenHashTable", 40);
    child(p, table, "System.Collections.Frozen.FrozenHashTable+Bucket[]", 4000);
    for (int i = 0; i < 100; i++)
        child(p, items, "Shop.Order", 100);
    static_root(p, d, "s_orders");
    struct answer a = ask(p, 0.1);
    const struct gcd_suspect *s = gcd_suspects_note(a.s, 0);
    assert_int_equal(gcd_suspects_count(a.s), 0);
    assert_int_equal(s->bytes, gcd_suspects_heap_bytes(a.s));
    assert_null(strstr(s->sentence, "count alone"));
    forget(a);
}

/* What is missing is not what adds them. */
static void references_without_targets(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t theme = node(p, "Shop.Theme", 24),
             list = child(p, theme, GENERIC "List`1[System.WeakReference`1[Shop.View]]", 32),
             items = child(p, list, "System.WeakReference`1[Shop.View][]", 824);
    for (int i = 0; i < 100; i++)
        child(p, items, "System.WeakReference`1[Shop.View]", 24);
    static_root(p, theme, "s_theme");
    struct answer a = ask(p, 0.3);
    assert_non_null(
        strstr(gcd_suspects_get(a.s, 0)->advice,
               "look in Theme for what removes each WeakReference whose target is gone"));
    forget(a);
}

/* What the framework wants of those who keep its objects. */
static void what_elements_want_is_said(void **state)
{
    static const struct {
        const char *type, *words;
    } rows[] = {
        { "System.Text.Json.JsonDocument", "dispose of each, and keep a JsonElement.Clone()" },
        { "Microsoft.AspNetCore.Http.DefaultHttpContext", "An HttpContext is for its request" },
        { "System.Text.Json.JsonDocuments", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int roots = 0; roots < 2; roots++) { /* in one list, or each in a variable */
            struct pile *p = pile_new();
            uint32_t items = node(p, "System.Object[]", 824);
            for (int k = 0; k < 100; k++) {
                uint32_t o =
                    roots == 0 ? child(p, items, rows[i].type, 72) : node(p, rows[i].type, 72);
                child(p, o, "System.Byte[]", 1000);
                if (roots == 1)
                    static_root(p, o, "s_one");
            }
            static_root(p, items, "s_items");
            struct answer a = ask(p, 0.3);
            const char *advice = gcd_suspects_get(a.s, 0)->advice;
            assert_int_equal(strstr(advice, rows[i].words != NULL ? rows[i].words : "dispose of") !=
                                 NULL,
                             rows[i].words != NULL);
            forget(a);
        }
}

/* A node, its list of children, their array, the next node ...: the collections are links of the
 * chain. */
static void a_tree_by_way_of_collections_is_one_suspect(void **state)
{
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        struct pile *p = pile_new();
        uint32_t owner = node(p, "Shop.Owner", 24), at = owner, first = 0;
        static_root(p, owner, "s_tree");
        for (int i = 0; i < 3000; i++) {
            uint32_t next = child(p, at, "Shop.Node", 40);
            first = first == 0 ? next : first;
            if (turns == 0) {
                at = child(p, child(p, next, GENERIC "List`1[Shop.Node]", 32), "Shop.Node[]", 56);
            } else {
                uint32_t tables = child(
                    p,
                    child(p, next, CONCURRENT "ConcurrentDictionary`2[System.Int32,Shop.Node]", 40),
                    "Tables[System.Int32,Shop.Node]", 48);
                at = child(p, child(p, tables, "VolatileNode[System.Int32,Shop.Node][]", 56),
                           "Node[System.Int32,Shop.Node]", 48);
            }
        }
        struct answer a = ask(p, 0.1);
        assert_int_equal(gcd_suspects_count(a.s), 1);
        const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
        assert_int_equal(s->node, first);
        assert_int_equal(s->objects, 3000);
        assert_null(s->collection);
        assert_non_null(strstr(s->sentence, "a list or tree of 3,000 Node objects."));
        forget(a);
    }
}

/* Lists in lists are no chain, however deep, until they are as deep as no program makes them. */
static void two_lists_are_no_chain(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t outer = node(p, GENERIC "List`1[System.Object]", 32),
             items = child(p, outer, "System.Object[]", 124);
    static_root(p, outer, "s_lists");
    for (int i = 0; i < 2; i++) {
        uint32_t inner =
            child(p, child(p, items, GENERIC "List`1[System.Object]", 32), "System.Object[]", 824);
        for (int k = 0; k < 100; k++)
            child(p, inner, "Shop.Order", 100);
    }
    struct answer a = ask(p, 0.3);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(gcd_suspects_get(a.s, i)->collection, "list");
        assert_int_equal(gcd_suspects_get(a.s, i)->elements, 100);
    }
    forget(a);
}

static void lists_in_lists_end(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t owner = node(p, "Shop.Owner", 24), at = owner;
    static_root(p, owner, "s_lists");
    for (int i = 0; i < 20000; i++)
        at = child(p, child(p, at, GENERIC "List`1[System.Object]", 32), "System.Object[]", 56);
    struct answer a = ask(p, 0.01);
    assert_int_equal(gcd_suspects_count(a.s), 1);
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
    assert_int_equal(s->objects, 20000);
    assert_int_equal(gcd_suspects_also(a.s, s, 0)->kind, GCD_SUSPECT_COLLECTIONS);
    forget(a);
}

/*
 * Ten thousand bags, each with its own array, share a chain of fifty thousand queues: five hundred
 * million steps for who follows all.  The bags that come first are described, and the search ends
 * in time.
 */
static void collections_that_share_their_inside(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t owner = node(p, "Shop.Owner", 24),
             chain = child(p, owner, "WorkStealingQueue[Shop.Order]", 64), at = chain;
    static_root(p, owner, "s_bags");
    for (int i = 1; i < 50000; i++)
        at = child(p, at, "WorkStealingQueue[Shop.Order]", 64);
    for (int i = 0; i < 10000; i++) {
        uint32_t bag = child(p, owner, CONCURRENT "ConcurrentBag`1[Shop.Order]", 40);
        child(p, bag, "Shop.Order[]", 24 + 8 * 8192);
        edge(p, bag, chain);
    }
    p->types[type(p, "Shop.Order[]")].parameters[0] = CLASS;
    p->types[type(p, CONCURRENT "ConcurrentBag`1[Shop.Order]")].parameters[0] = CLASS;
    struct answer a = ask(p, 0.001);
    const struct gcd_suspect *s = NULL;
    for (size_t i = 0; i < gcd_suspects_count(a.s) && s == NULL; i++)
        s = gcd_suspects_get(a.s, i)->kind == GCD_SUSPECT_SPARSE ? gcd_suspects_get(a.s, i) : NULL;
    assert_non_null(s);
    assert_in_range(s->objects, 10, 100);
    forget(a);
}

/* ---- sparse ones ---- */

/* COUNT arrays of LENGTH orders below a holder each, USED of them there. */
static struct pile *sparse(const char *array, int count, uint64_t length, int used)
{
    struct pile *p = pile_new();
    uint32_t all = node(p, "Shop.All", 24), order = node(p, "Shop.Order", 24);
    static_root(p, all, "s_all");
    static_root(p, order, "s_order");
    for (int i = 0; i < count; i++) {
        uint32_t one = child(p, child(p, all, "Shop.Part", 24), array, 24 + 8 * length);
        for (int k = 0; k < used; k++)
            edge(p, one, order);
    }
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    return p;
}

static const struct gcd_suspect *sparse_of(struct answer a)
{
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
        if (s->kind == GCD_SUSPECT_SPARSE)
            return s;
        if (s->also_count > 0 && gcd_suspects_also(a.s, s, 0)->kind ==
                                     GCD_SUSPECT_SPARSE) /* in a clause of what holds it */
            return gcd_suspects_also(a.s, s, 0);
    }
    return NULL;
}

static void arrays_of_64_kib_that_are_three_quarters_empty(void **state)
{
    (void)state;
    static const struct {
        const char *array;
        uint64_t length;
        int used;
        bool is;
    } rows[] = {
        { "Shop.Order[]", 8189, 2047, true }, /* 64 KiB with the header */
        { "Shop.Order[]", 8188, 2047, false }, { "Shop.Order[]", 8192, 2048, true },
        { "Shop.Order[]", 8192, 2049, false }, { "System.Int64[]", 8192, 0, false }, /* numbers */
        { "Shop.Thing[]", 8192, 10, false },                                         /* of what? */
        { "Shop.Order[][]", 8192, 10, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = ask(sparse(rows[i].array, 3, rows[i].length, rows[i].used), 0.5);
        const struct gcd_suspect *s = sparse_of(a);
        if ((s != NULL) != rows[i].is)
            fail_msg("%s %u", rows[i].array, (unsigned)i);
        if (s != NULL) {
            assert_int_equal(s->objects, 3);
            assert_true(s->overlaps);
            assert_int_equal(s->path_count, 3);
        }
        forget(a);
    }
}

/* Smaller ones count where there are very many, and where they are not small. */
static void very_many_sparse_arrays(void **state)
{
    (void)state;
    static const struct {
        int count;
        uint64_t length;
        bool is;
    } rows[] = { { 10000, 62, true },
                 { 9999, 62, false },
                 { 10000, 61, false } }; /* 520 bytes each, or 512 */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = ask(sparse("Shop.Order[]", rows[i].count, rows[i].length, 1), 0.5);
        const struct gcd_suspect *s = sparse_of(a);
        if ((s != NULL) != rows[i].is)
            fail_msg("row %zu", i);
        assert_true(s == NULL || s->objects == 10000);
        forget(a);
    }
}

static void what_is_said_of_sparse_arrays(void **state)
{
    (void)state;
    struct answer a = ask(sparse("Shop.Order[]", 2, 9997, 5), 0.5);
    const struct gcd_suspect *s = sparse_of(a);
    assert_non_null(s);
    assert_int_equal(s->shallow_bytes, 2 * 80000);
    assert_int_equal(s->bytes, 2 * 79959); /* 80,000 * (1 - 5 / 9,997) */
    assert_string_equal(s->sentence, "2 Order[] objects are 99.9 % empty: together they have 10 of "
                                     "19,994 places in use, and 156.2 KiB hold "
                                     "nothing, 99.9 % of the heap. The emptiest one is held by the "
                                     "static variable s_all by way of Part.");
    forget(a);
    assert_null(sparse_of(a = ask_with(sparse("Shop.Order[]", 2, 9997, 5), 0.5, 170000)));
    forget(a);
}

/* Lost references make arrays look empty; lost roots or names do not. */
static void nothing_is_concluded_from_what_is_lost(void **state)
{
    (void)state;
    static const enum gcd_suspect_kind kinds[] = { GCD_SUSPECT_SPARSE, GCD_SUSPECT_COLLECTIONS,
                                                   GCD_SUSPECT_INTERNED };
    static const enum gcd_reason_code harmless[] = {
        GCD_REASON_LOSS_UNVERIFIED,          GCD_REASON_ROOT_EVENTS_MISSING,
        GCD_REASON_DEPENDENT_EVENTS_MISSING, GCD_REASON_NO_GC_START,
        GCD_REASON_TYPES_UNDESCRIBED,        GCD_REASON_TYPES_AMBIGUOUS
    };
    for (int code = 0; code < GCD_REASON_COUNT; code++) {
        const struct gcd_reason reason = { .code = (enum gcd_reason_code)code };
        struct pile *p = sparse("Shop.Order[]", 2, 9997, 5);
        bool lost = true;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            lost = lost && code != (int)harmless[i];
        p->incomplete = &reason;
        struct answer a = ask(p, 0.5);
        if ((sparse_of(a) == NULL) != lost)
            fail_msg("reason %d", code);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            assert_int_equal(gcd_suspects_check(a.s, kinds[i])->unknown, lost);
        forget(a);
    }
}

static void a_sparse_array_counts_as_its_collection(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t d = node(p, GENERIC "Dictionary`2[System.Int32,Shop.Order]", 80),
             table = child(p, d, "System.Int32[]", 24 + 4 * 20000);
    uint32_t entries = child(p, d, "Entry[System.Int32,Shop.Order][]", 24 + 24 * 20000);
    for (int i = 0; i < 100; i++)
        child(p, entries, "Shop.Order", 24);
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    static_root(p, d, "s_orders");
    (void)table;
    struct answer a = ask(p, 0.5);
    const struct gcd_suspect *s = sparse_of(a);
    assert_non_null(s);
    assert_int_equal(s->node, d);
    assert_int_equal(s->objects, 1);
    assert_int_equal(s->shallow_bytes, 80 + 24 + 80000 + 24 + 480000);
    assert_non_null(
        strstr(s->sentence, " is 99.5 % empty: it has 100 of 20,000 places in use, and "));
    assert_non_null(strstr(s->advice, "TrimExcess"));
    forget(a);
    /* once, and not again as the array */
    p = pile_new();
    uint32_t list = node(p, GENERIC "List`1[Shop.Order]", 32),
             order = child(p, child(p, list, "Shop.Order[]", 24 + 8 * 20000), "Shop.Order", 24);
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    static_root(p, list, "s_orders");
    (void)order;
    a = ask(p, 0.5);
    assert_int_equal(gcd_suspects_check(a.s, GCD_SUSPECT_SPARSE)->found, 1);
    assert_int_equal(sparse_of(a)->node, list);
    forget(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_full_channel),
        cmocka_unit_test(a_channel_whose_reader_has_failed),
        cmocka_unit_test(work_items_of_the_thread_pool),
        cmocka_unit_test(a_channel_is_one_suspect),
        cmocka_unit_test(a_cache_with_a_limit_is_a_note),
        cmocka_unit_test(keys_that_nobody_finds_again),
        cmocka_unit_test(messages_wait_for_an_agent),
        cmocka_unit_test(what_lambdas_have_captured),
        cmocka_unit_test(contents_that_nobody_finds_again),
        cmocka_unit_test(what_is_full_by_its_own_field_is_a_note),
        cmocka_unit_test(what_a_constant_limits_is_a_note),
        cmocka_unit_test(a_size_tells_nulls_from_room),
        cmocka_unit_test(subscriptions_of_rx_have_a_subscriber),
        cmocka_unit_test(what_is_far_above_its_own_limit_is_a_suspect),
        cmocka_unit_test(an_element_that_keeps_nearly_all_is_the_suspect),
        cmocka_unit_test(what_is_large_in_a_collection_is_a_suspect_of_its_own),
        cmocka_unit_test(heavy_elements_of_one_type_are_one_suspect),
        cmocka_unit_test(the_table_of_a_frozen_dictionary_belongs_to_it),
        cmocka_unit_test(references_without_targets),
        cmocka_unit_test(what_elements_want_is_said),
        cmocka_unit_test(a_tree_by_way_of_collections_is_one_suspect),
        cmocka_unit_test(two_lists_are_no_chain),
        cmocka_unit_test(lists_in_lists_end),
        cmocka_unit_test(collections_that_share_their_inside),
        cmocka_unit_test(arrays_of_64_kib_that_are_three_quarters_empty),
        cmocka_unit_test(very_many_sparse_arrays),
        cmocka_unit_test(what_is_said_of_sparse_arrays),
        cmocka_unit_test(nothing_is_concluded_from_what_is_lost),
        cmocka_unit_test(a_sparse_array_counts_as_its_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
