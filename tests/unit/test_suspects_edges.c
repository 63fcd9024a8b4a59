/* Each comparison, share and minimum of the leak suspects at its edge, on graphs that are small
 * enough to be added up by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/suspect_checks.h>

#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"
#include "support/check.h"
#include "support/pile.h"

/* The first suspect of KIND, NULL when there is none. */
static const struct gcd_suspect *first_of(struct answer a, enum gcd_suspect_kind kind)
{
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++)
        if (gcd_suspects_get(a.s, i)->kind == kind)
            return gcd_suspects_get(a.s, i);
    return NULL;
}

/* The one that the first suspect mentions in a clause. */
static const struct gcd_suspect *told_of(struct answer a, enum gcd_suspect_kind kind)
{
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0),
                             *also = s->also_count > 0 ? gcd_suspects_also(a.s, s, 0) : NULL;
    return also != NULL && also->kind == kind ? also : NULL;
}

static bool is_found(struct answer a, enum gcd_suspect_kind kind)
{
    /* also in a clause of another one */
    bool found = gcd_suspects_check(a.s, kind)->found > 0;
    forget(a);
    return found;
}

static bool is_said(const struct gcd_suspect *s, const char *text)
{
    if (s != NULL && strstr(s->sentence, text) == NULL)
        print_message("\"%s\" is not in \"%s\"\n", text, s->sentence);
    return s != NULL && strstr(s->sentence, text) != NULL;
}

/* ---- the threshold ---- */

static void shares_and_minima(void **state)
{
    (void)state;
    static const struct {
        double share;
        uint64_t min, threshold;
    } rows[] = {
        { 0.1, 1, 100 },  { 0.1, 99, 100 }, { 0.1, 100, 100 }, { 0.1, 101, 101 },
        { 0.0019, 1, 1 }, { 1, 1, 1000 },   { 0, 1, 100 },     { 0.001, 0, GCD_SUSPECTS_MIN_BYTES },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        static_root(p, node(p, "App", 1000), "s_app");
        struct answer a = ask_with(p, rows[i].share, rows[i].min);
        assert_int_equal(gcd_suspects_threshold(a.s), rows[i].threshold);
        assert_int_equal(gcd_suspects_count(a.s), rows[i].threshold <= 1000);
        forget(a);
    }
}

/* A list of many small handlers, a long queue, and a container just below the threshold. */
static void nothing_below_the_threshold(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        bool only_large = how == 1, by_number = how == 2;
        struct pile *p = pile_new();
        uint32_t top = node(p, "Top", 5000000), delegate = node(p, "Action", 64),
                 list = child(p, delegate, "System.Object[]", 16016);
        child(p, top, "Container", 45000000);
        static_root(p, top, "s_top");
        static_root(p, delegate, "s_event");
        edge(p, delegate, delegate);
        for (int i = 0; i < 2000; i++)
            child(p, child(p, list, "Action", 64), "Listener", 24);
        for (int i = 0; i < 10000; i++)
            root(p, node(p, "Waiting", 24), GCD_ROOT_FINALIZER, 0, "");
        struct gcd_error err = GCD_ERROR_INIT;
        struct answer a;
        assert_int_equal(ask_how(p,
                                 &(struct gcd_suspects_options){ .min_bytes = 50000000,
                                                                 .only_large = only_large,
                                                                 .by_number = by_number },
                                 &a, &err),
                         GCD_OK);
        assert_int_equal(gcd_suspects_count(a.s), by_number ? 3 : 1);
        assert_string_equal(type_name(a, gcd_suspects_get(a.s, 0)->type),
                            only_large ? "Top" : "Container");
        for (size_t i = 0; i < gcd_suspects_count(a.s) && only_large; i++)
            assert_true(gcd_suspects_get(a.s, i)->bytes >= gcd_suspects_threshold(a.s));
        forget(a);
    }
}

/* What to show when there are no suspects. */
static void the_largest_consumer(void **state)
{
    (void)state;
    struct gcd_suspects_options o = { .share = 0.1 };
    /* a container, objects of one type, nothing, handles and a queue: each has only half of the
     * largest type */
    for (int shape = 0; shape < 4; shape++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, "List", 24), array = child(p, list, "Order[]", 100);
        if (shape == 0)
            static_root(p, list, "s_list");
        for (int i = 0; i < 20; i++)
            child(p, array, "Order", 100);
        for (int i = 0; i < 20 && shape == 1; i++)
            root(p, array + 1 + (uint32_t)i, GCD_ROOT_HANDLE, 0, "");
        for (int i = 0; i < 4 && shape == 3; i++)
            root(p, array + 1 + (uint32_t)i, i < 2 ? GCD_ROOT_FINALIZER : GCD_ROOT_HANDLE, 0, "");
        if (shape == 2)
            static_root(p, node(p, "Nothing", 0), "s_nothing");
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_suspects *largest = NULL;
        struct answer a;
        assert_int_equal(ask_how(p, &o, &a, &err), GCD_OK);
        assert_int_equal(gcd_suspects_count(a.s), 0);
        assert_int_equal(gcd_largest_consumer(a.g, a.d, &o, a.s, &largest, &err), GCD_OK);
        assert_true((largest != NULL) == (shape < 2));
        if (largest != NULL) {
            const struct gcd_suspect *s = gcd_suspects_get(largest, 0);
            assert_string_equal(type_name(a, s->type), shape == 0 ? "Order[]" : "Order");
            assert_int_equal(s->bytes, shape == 0 ? 2100 : 2000);
            assert_int_equal(s->path_count, shape == 0 ? 2 : 1);
        }
        gcd_suspects_free(largest);
        forget(a);
    }
}

/* ---- the way down to a container ---- */

/* Each object of SIZES holds the next one.  The number of the one that is suspected when LEAST
 * makes a suspect; UINT32_MAX: none. */
static uint32_t container(const uint64_t *sizes, size_t n, uint64_t least)
{
    static const char *const names[] = { "A", "B", "C", "D", "E", "F" };
    struct pile *p = pile_new();
    uint32_t at = node(p, names[0], sizes[0]);
    static_root(p, at, "s_first");
    for (size_t i = 1; i < n; i++)
        at = child(p, at, names[i], sizes[i]);
    struct answer a = ask_with(p, 0.001, least);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_OBJECT);
    uint32_t ret = s != NULL ? s->node : UINT32_MAX;
    forget(a);
    return ret;
}

static void how_far_down(void **state)
{
    (void)state;
    /* a child that keeps nine tenths of its parent, and four fifths of where the way began */
    assert_int_equal(container((uint64_t[]){ 100, 900 }, 2, 1000), 1);
    assert_int_equal(container((uint64_t[]){ 101, 899 }, 2, 1000), 0);
    assert_int_equal(container((uint64_t[]){ 100, 90, 10, 800 }, 4, 1000), 3);
    assert_int_equal(container((uint64_t[]){ 100, 90, 11, 799 }, 4, 1000), 2);
    assert_int_equal(container((uint64_t[]){ 100, 90, 81, 729 }, 4, 1000), 2);
    /* what is below a suspect is one of its own when it is as large as one */
    assert_int_equal(container((uint64_t[]){ 500, 500 }, 2, 500), 0);
    assert_int_equal(container((uint64_t[]){ 499, 500 }, 2, 500), 1);
    assert_int_equal(container((uint64_t[]){ 10 }, 1, 10), 0);
    assert_int_equal(container((uint64_t[]){ 9 }, 1, 10), UINT32_MAX);
}

/* The bytes of a heavy child do not count for its parent. */
static void what_is_left(void **state)
{
    (void)state;
    for (uint64_t own = 299; own <= 300; own++) {
        struct pile *p = pile_new();
        uint32_t top = node(p, "Top", own);
        static_root(p, top, "s_top");
        child(p, top, "Left", 400);
        child(p, top, "Right", 300);
        struct answer a = ask_with(p, 0.001, 300);
        assert_int_equal(gcd_suspects_count(a.s), own == 300 ? 3 : 2);
        assert_int_equal(gcd_suspects_get(a.s, 0)->bytes, 400);
        forget(a);
    }
}

/* A list: a type that refers to its own type directly, or repeats at a fixed distance, often
 * enough. */
static bool is_list(unsigned period, unsigned objects, const char *first_name)
{
    static const char *const names[] = { NULL, "B", "C", "D", "E", "F", "G", "H", "I" };
    struct pile *p = pile_new();
    uint32_t at = node(p, "Owner", 8);
    static_root(p, at, "s_list");
    for (unsigned i = 0; i < objects; i++)
        at = child(p, at, i % period == 0 ? first_name : names[i % period],
                   i + 1 < objects ? 1 : 100000); /* so all of them are heavy */
    struct answer a = ask_with(p, 0.001, 50000);
    bool ret = false;
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++)
        ret = ret || strstr(gcd_suspects_get(a.s, i)->sentence, " list or tree of") != NULL;
    forget(a);
    return ret;
}

static void what_makes_a_list(void **state)
{
    (void)state;
    assert_true(is_list(1, 2, "Node"));
    /* arrays in arrays are none, unless there are many */
    assert_false(is_list(1, 2, "Node[]"));
    assert_false(is_list(1, 15, "Node[]"));
    assert_true(is_list(1, 16, "Node[]"));
    assert_false(is_list(2, 2 * 14 + 1, "Node")); /* 15 of the type */
    assert_true(is_list(2, 2 * 15 + 1, "Node"));
    assert_true(is_list(8, 8 * 15 + 1, "Node"));
    assert_false(is_list(8, 8 * 14 + 1, "Node"));
    assert_false(is_list(9, 9 * 40 + 1, "Node"));
}

/* ---- objects of one type ---- */

static void together_as_large_as_a_suspect(void **state)
{
    (void)state;
    for (uint64_t least = 199; least <= 201; least++)
        for (unsigned n = 1; n <= 2; n++) {
            struct pile *p = pile_new();
            for (unsigned i = 0; i < n; i++)
                root(p, node(p, "Session", n == 1 ? 150 : 100), GCD_ROOT_HANDLE, 0, "");
            struct answer a = ask_with(p, 0.001, least);
            const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TYPE);
            assert_int_equal(s != NULL, n == 2 && least <= 200);
            assert_true(s == NULL || (s->objects == 2 && s->bytes == 200 &&
                                      s->shallow_bytes == 200 && s->retained_bytes == 200));
            forget(a);
        }
}

/* One that is large enough alone is not counted with the others, nor is one that waits for its
 * finalizer. */
static void together_without_the_large_ones(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    static const uint64_t sizes[] = { 99, 99, 100, 50 };
    for (unsigned i = 0; i < 4; i++)
        root(p, node(p, "Session", sizes[i]), i == 3 ? GCD_ROOT_FINALIZER : GCD_ROOT_HANDLE, 0, "");
    struct answer a = ask_with(p, 0.001, 100);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TYPE),
                             *one = first_of(a, GCD_SUSPECT_OBJECT);
    assert_true(s != NULL && s->objects == 2 && s->bytes == 198);
    assert_true(one != NULL && one->bytes == 100);
    assert_int_equal(gcd_suspects_count(a.s), 2);
    assert_int_equal(gcd_suspects_consumer(a.s, 0)->objects, 4);
    assert_int_equal(gcd_suspects_consumer(a.s, 0)->bytes, 348);
    forget(a);
}

struct box {
    const char *type;
    unsigned orders;
};

/* Each order is in one of BOXES, and further from the roots in an index, so that nothing holds it
 * alone. */
static struct answer boxes(const struct box *all, size_t n)
{
    struct pile *p = pile_new();
    uint32_t index = node(p, "Index", 1), outer = node(p, "Outer", 1);
    edge(p, outer, index);
    static_root(p, outer, "s_outer");
    for (size_t i = 0; i < n; i++) {
        uint32_t box = node(p, all[i].type, 1);
        static_root(p, box, "s_box");
        for (unsigned k = 0; k < all[i].orders; k++)
            edge(p, index, child(p, box, "Order", 100));
    }
    return ask_with(p, 0.5, 1);
}

static void who_holds_most(void **state)
{
    (void)state;
    static const struct {
        struct box boxes[26];
        uint64_t alike;
        const char *said;
    } rows[] = {
        { { { "Box", 100 } }, 100, " of the heap: they are in both Box and Index." },
        /* half is enough */
        { { { "Box", 50 }, { "Box", 50 } }, 50, " 50 of them are in one Box, among others." },
        { { { "Box", 50 }, { "Box", 49 }, { "Box", 1 } },
          50,
          " 50 of them are in one Box, among others." },
        { { { "Box", 60 }, { "Box", 40 } }, 60, " 60 of them are in one Box, among others." },
        { { { "Box", 49 }, { "Box", 49 }, { "Box", 2 } },
          100,
          " All of them are in Box objects, among others." },
        { { { "Box", 10 }, { "Box", 50 }, { "Box", 40 } },
          50,
          " 50 of them are in one Box, among others." },
        { { { "Box", 10 }, { "Box", 49 }, { "Box", 41 } },
          100,
          " All of them are in Box objects, among others." },
        /* as many as of a type */
        { { { "A", 10 }, { "A", 30 }, { "B", 40 }, { "C", 20 } },
          40,
          " 40 of them are in one B, among others." },
        { { { "A", 10 }, { "A", 30 }, { "B", 39 }, { "C", 21 } },
          40,
          " 40 of them are in A objects, among others." },
        { { { "A", 30 }, { "B", 31 }, { "C", 31 }, { "D", 8 } },
          31,
          " 31 of them are in one B, among others." },
        { { { "A", 30 }, { "A", 1 }, { "B", 31 }, { "C", 31 }, { "D", 7 } },
          31,
          " 31 of them are in one B, among others." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = 0;
        while (n < 26 && rows[i].boxes[n].type != NULL)
            n++;
        struct answer a = boxes(rows[i].boxes, n);
        const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TYPE);
        assert_true(s != NULL && s->objects == 100);
        if (s->alike != rows[i].alike)
            fail_msg("row %zu: %llu: %s", i, (unsigned long long)s->alike, s->sentence);
        assert_true(is_said(s, rows[i].said));
        forget(a);
    }
}

/* Roots of one group are as good as one object; weak ones hold nothing. */
static void held_by_roots(void **state)
{
    (void)state;
    for (unsigned direct = 9; direct <= 11; direct++) {
        struct pile *p = pile_new();
        uint32_t box = node(p, "Box", 1), other = node(p, "Other", 1);
        static_root(p, box, "s_box");
        static_root(p, other, "s_other");
        for (unsigned i = 0; i < 20; i++) {
            uint32_t order = node(p, "Order", 100);
            if (i < direct)
                root(p, order, GCD_ROOT_HANDLE, 0, "");
            else
                edge(p, box, order);
            if (i >= direct)
                edge(p, other, order);
            root(p, order, GCD_ROOT_HANDLE, GCD_ROOT_WEAK, "");
        }
        struct answer a = ask_with(p, 0.5, 1);
        const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_TYPE);
        assert_true(s != NULL && s->objects == 20);
        assert_int_equal(s->alike, direct >= 10 ? direct : 11);
        assert_true(is_said(s, direct == 9 ? " 11 of them are in one Box"
                                           : " of them are held directly by strong handles."));
        forget(a);
    }
}

static void large_consumers_first(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n;
        uint64_t each;
    } rows[] = { { "A", 1, 60 }, { "B", 2, 30 }, { "C", 1, 61 }, { "D", 3, 20 }, { "E", 2, 30 } };
    static const char *const order[] = { "C", "D", "B", "E", "A" };
    struct pile *p = pile_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned k = 0; k < rows[i].n; k++)
            root(p, node(p, rows[i].name, rows[i].each), GCD_ROOT_HANDLE, 0, "");
    struct answer a = ask_with(p, 1, 1000);
    assert_int_equal(gcd_suspects_consumer_count(a.s), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(type_name(a, gcd_suspects_consumer(a.s, i)->type), order[i]);
    forget(a);
}

/* ---- finalizers ---- */

static void objects_that_wait(void **state)
{
    (void)state;
    for (uint64_t least = 1000; least <= 1001; least++) {
        struct pile *p = pile_new();
        static_root(p, node(p, "A", 0), "s_a"); /* which does not wait */
        for (unsigned i = 0; i < 10; i++)
            root(p, node(p, i % 2 == 0 ? "A" : "B", 100), GCD_ROOT_FINALIZER, 0, "");
        struct answer a = ask_with(p, 0.001, least);
        const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_FINALIZERS);
        assert_int_equal(s != NULL, least == 1000);
        if (s != NULL) /* of two types that are alike the first, and its first object */
            assert_true(
                s->node == 1 &&
                is_said(s, "10 objects wait for their finalizers"
                           ", mostly A (5), and keep 1,000 bytes alive, 100.0 % of the heap."));
        forget(a);
    }
    for (unsigned n = 9999; n <= 10000; n++) { /* very many, whatever they keep */
        struct pile *p = pile_new();
        for (unsigned i = 0; i < n; i++)
            root(p, node(p, "A", 1), GCD_ROOT_FINALIZER, 0, "");
        static_root(p, node(p, "B", 100000000), "s_b");
        assert_true(is_found(ask_with(p, 0.5, 1), GCD_SUSPECT_FINALIZERS) == (n == 10000));
    }
    /* one that is a suspect of its own is only counted */
    struct pile *p = pile_new();
    static const uint64_t sizes[] = { 60, 60, 100 };
    for (unsigned i = 0; i < 3; i++)
        root(p, node(p, "A", sizes[i]), GCD_ROOT_FINALIZER, 0, "");
    struct answer a = ask_with(p, 0.001, 100);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_FINALIZERS);
    assert_true(s != NULL && s->objects == 3 && s->bytes == 120 && s->retained_bytes == 220 &&
                s->shallow_bytes == 220);
    forget(a);
    p = pile_new();
    root(p, node(p, "A", 100), GCD_ROOT_FINALIZER, 0, "");
    root(p, node(p, "A", 0), GCD_ROOT_HANDLE, 0, "");
    a = ask_with(p, 0.001, 101);
    assert_int_equal(gcd_suspects_count(a.s), 0);
    forget(a);
}

/* ---- event handlers ---- */

/* How the objects differ from an event of the runtime. */
enum oddity {
    NOTHING_ODD,
    A_THIRD_REFERENCE,
    NOT_ITSELF,
    A_FOREIGN_HANDLER,
    ANOTHER_ARRAY,
    ONE_HANDLER,
    TWO_HANDLERS,
    ODDITIES
};

static struct answer event(enum oddity odd)
{
    unsigned n = odd == ONE_HANDLER ? 1 : odd == TWO_HANDLERS ? 2 : 20;
    struct pile *p = pile_new();
    uint32_t delegate = node(p, "Action", 64), list;
    static_root(p, delegate, "s_event");
    if (odd != NOT_ITSELF)
        edge(p, delegate, delegate);
    else
        child(p, delegate, "Target", 8);
    list = child(p, delegate, odd == ANOTHER_ARRAY ? "Action[]" : "System.Object[]", 176);
    if (odd == A_THIRD_REFERENCE)
        child(p, delegate, "Target", 8);
    for (unsigned i = 0; i < n; i++)
        child(p, child(p, list, odd == A_FOREIGN_HANDLER && i == n - 1 ? "Func" : "Action", 64),
              "Listener", 1000);
    return ask_with(p, 0.5, 1);
}

static void what_is_an_event(void **state)
{
    (void)state;
    for (enum oddity odd = NOTHING_ODD; odd < ODDITIES; odd++)
        assert_true(is_found(event(odd), GCD_SUSPECT_HANDLERS) ==
                    (odd == NOTHING_ODD || odd == TWO_HANDLERS));
}

/* A static method has no object: its delegate is its own target, or has none. */
static void handlers_that_are_static_methods(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t delegate = node(p, "Action", 64), list, shared = node(p, "Shared", 500);
    static_root(p, delegate, "s_event");
    static_root(p, shared, "s_shared");
    edge(p, delegate, delegate);
    list = child(p, delegate, "System.Object[]", 176);
    for (unsigned i = 0; i < 20; i++) {
        uint32_t handler = child(p, list, "Action", 64);
        if (i < 5)
            child(p, handler, "Listener", 1000);
        else if (i < 8)
            edge(p, handler, shared); /* which is held elsewhere, too */
        else if (i < 19)
            edge(p, handler, handler);
    }
    struct answer a = ask_with(p, 0.5, 1);
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_HANDLERS);
    assert_true(s != NULL && s->objects == 20);
    assert_int_equal(s->held_objects, 8);
    assert_int_equal(s->held_count, 2);
    assert_string_equal(type_name(a, s->held[0].type), "Listener");
    assert_true(s->held[0].objects == 5 && s->held[0].bytes == 5000);
    assert_true(s->held[1].objects == 3 && s->held[1].bytes == 0);
    assert_int_equal(s->shallow_bytes, 64 + 176 + 20 * 64);
    assert_true(is_said(s, "The static variable s_event, an Action, has 20 handlers, among "
                           "them methods of Listener objects (5, 4.9 KiB), methods of Shared "
                           "objects (3). "));
    forget(a);
}

/* Sixteen events are told of by their length alone: the longest. */
static void the_longest_lists(void **state)
{
    (void)state;
    /* than a thousand */
    static const unsigned more[] = { 3, 0, 16, 1, 9, 9, 2, 8, 4, 5, 11, 12, 13, 14, 15, 10, 7 };
    struct pile *p = pile_new();
    static_root(p, node(p, "Big", 1000000000), "s_big");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        uint32_t delegate = node(p, "Action", 64), list;
        static_root(p, delegate, "s_event");
        edge(p, delegate, delegate);
        list = child(p, delegate, "System.Object[]", 16);
        for (unsigned k = 0; k < 1000 + more[i]; k++)
            child(p, list, "Action", 64);
    }
    struct answer a = ask_with(p, 0.5, 1);
    unsigned found = 0, shortest = UINT32_MAX;
    for (size_t i = 0; i < gcd_suspects_count(a.s); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(a.s, i);
        if (s->kind != GCD_SUSPECT_HANDLERS)
            continue;
        found++;
        shortest = s->objects < shortest ? (unsigned)s->objects : shortest;
    }
    assert_int_equal(found, 16);
    assert_int_equal(shortest, 1001);
    forget(a);
}

/* ---- collections ---- */

#define LIST_NAME "System.Collections.Generic.List`1[Line]"

static struct pile *collections(unsigned n, const char *name, uint64_t size, const uint64_t *arrays,
                                size_t array_count)
{
    struct pile *p = pile_new();
    uint32_t all = node(p, "Order[]", 8);
    static_root(p, all, "s_all");
    for (unsigned i = 0; i < n; i++) {
        uint32_t one = child(p, all, name, size);
        for (size_t k = 0; k < array_count; k++)
            child(p, one, "Line[]", arrays[k]);
    }
    return p;
}

/* Many lists with four places each: only those that are mostly empty waste something. */
static void full_collections_of_one_size(void **state)
{
    (void)state;
    for (unsigned lines = 2; lines <= 3; lines++) {
        struct pile *p = pile_new();
        uint32_t all = node(p, "Order[]", 8);
        static_root(p, all, "s_all");
        for (unsigned i = 0; i < 10000; i++) {
            uint32_t array = child(p, child(p, all, LIST_NAME, 32), "Line[]", 24 + 4 * 8);
            for (unsigned k = 0; k < lines; k++)
                child(p, array, "Line", 24);
        }
        assert_int_equal(is_found(ask(p, 0.2), GCD_SUSPECT_COLLECTIONS), lines == 2);
    }
}

static void collections_of_one_size(void **state)
{
    (void)state;
    struct answer a;
    assert_true(is_found(ask(collections(10000, LIST_NAME, 32, (uint64_t[]){ 480 }, 1), 0.5),
                         GCD_SUSPECT_COLLECTIONS));
    assert_false(is_found(ask(collections(10000, LIST_NAME, 32, (uint64_t[]){ 481 }, 1), 0.5),
                          GCD_SUSPECT_COLLECTIONS));
    assert_true(
        is_found(ask(collections(10000, LIST_NAME, 512, NULL, 0), 0.5), GCD_SUSPECT_COLLECTIONS));
    assert_false(
        is_found(ask(collections(10000, LIST_NAME, 513, NULL, 0), 0.5), GCD_SUSPECT_COLLECTIONS));
    assert_false(
        is_found(ask(collections(9999, LIST_NAME, 32, NULL, 0), 0.5), GCD_SUSPECT_COLLECTIONS));
    a = ask_with(collections(10000, LIST_NAME, 32, (uint64_t[]){ 100, 68 }, 2), 0.001, 2000000);
    const struct gcd_suspect *s = told_of(a, GCD_SUSPECT_COLLECTIONS);
    assert_true(s != NULL && s->bytes == 2000000 && s->shallow_bytes == 320000 &&
                s->retained_bytes == s->bytes);
    forget(a);
    assert_false(is_found(
        ask_with(collections(10000, LIST_NAME, 32, (uint64_t[]){ 100, 68 }, 2), 0.001, 2000001),
        GCD_SUSPECT_COLLECTIONS));
}

static void dead_collections_do_not_count(void **state)
{
    (void)state;
    for (unsigned dead = 0; dead < 2; dead++) {
        struct pile *p = collections(9999, LIST_NAME, 32, NULL, 0);
        uint32_t one = node(p, LIST_NAME, 32);
        if (dead == 0)
            static_root(p, one, "s_one");
        assert_true(is_found(ask(p, 0.5), GCD_SUSPECT_COLLECTIONS) == (dead == 0));
    }
}

static void what_is_a_collection(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is;
    } rows[] = {
        { "System.Collections.Generic.List`1[X]", true },
        { "System.Collections.Generic.Dictionary`2[X,Y]", true },
        { "System.Collections.Generic.HashSet`1[X]", true },
        { "System.Collections.Generic.Queue`1[X]", true },
        { "System.Collections.Generic.Stack`1[X]", true },
        { "System.Collections.Generic.SortedDictionary`2[X,Y]", true },
        { "System.Collections.Generic.SortedList`2[X,Y]", true },
        { "System.Collections.Generic.SortedSet`1[X]", true },
        { "System.Collections.Generic.LinkedList`1[X]", true },
        { "System.Collections.Concurrent.ConcurrentDictionary`2[X,Y]", true },
        { "System.Collections.Concurrent.ConcurrentQueue`1[X]", true },
        { "System.Collections.Concurrent.ConcurrentStack`1[X]", true },
        { "System.Collections.Concurrent.ConcurrentBag`1[X]", true },
        { "System.Collections.ObjectModel.Collection`1[X]", true },
        { "System.Collections.ObjectModel.ObservableCollection`1[X]", true },
        { "System.Collections.ArrayList", true },
        { "System.Collections.Hashtable", true },
        { "System.Collections.Generic.List<X>", true },
        { "System.Collections.Generic.List[X]", true },
        { "System.Collections.Generic.Lis`1[X]", false },
        { "System.Collections.Generic.LinkedListNode`1[X]", false },
        { "List`1[X]", false },
        { "System.Collections.Generic.List+Enumerator`1[X]", false },
        { "System.Collection.Generic.List`1[X]", false },
        { "My.System.Collections.Generic.List`1[X]", false },
        { "System.Collections.Specialized.List`1[X]", false },
        { "System.Collections.Generic.Dictionary`2+KeyCollection[X,Y]", false },
        { "System.Collections.Generic.List`1+Enumerator", false },
        { "System.Collections.Generic.Dictionary<X, Y>.KeyCollection", false },
        { "System.Collections.Generic.List<A.B<X>>", true },
        { "System.Collections.Generic.Dictionary<X, Y>.View<Z>", false },
        { "System.Collections.Generic.List`1", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_found(ask(collections(10000, rows[i].name, 32, NULL, 0), 0.5),
                     GCD_SUSPECT_COLLECTIONS) != rows[i].is)
            fail_msg("%s", rows[i].name);
}

/* Header, type and length: what an array without elements has. */
static void arrays_without_elements(void **state)
{
    (void)state;
    static const struct {
        unsigned ptr_bytes;
        uint64_t size;
        const char *name;
        bool empty;
    } rows[] = {
        { 8, 24, "X[]", true },  { 8, 25, "X[]", false }, { 4, 12, "X[]", true },
        { 4, 13, "X[]", false }, { 8, 24, "X[,]", true }, { 8, 24, "X[*]", false },
        { 8, 24, "X]", false },  { 8, 24, "[]", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = collections(10000, rows[i].name, rows[i].size, NULL, 0);
        p->ptr_bytes = rows[i].ptr_bytes;
        assert_true(is_found(ask(p, 0.5), GCD_SUSPECT_COLLECTIONS) == rows[i].empty);
    }
}

/* ---- pinned objects ---- */

struct pinning {
    /* App has this many; each of the ten others 33, which take 40 */
    uint64_t app_bytes, min_bytes;
    unsigned pinned, doubled, generation, ptr_bytes;
    uint32_t flags;
};

static struct answer pinned(struct pinning how)
{
    struct pile *p = pile_new();
    uint32_t all = node(p, "App", how.app_bytes);
    static_root(p, all, "s_app");
    for (unsigned i = 0; i < 10; i++) {
        uint32_t buffer = child(p, all, "Buffer", 33);
        for (unsigned k = 0; k <= how.doubled && i < how.pinned; k++)
            root(p, buffer, GCD_ROOT_HANDLE, how.flags, "");
    }
    p->used_bytes = 0x20000;
    p->generation = how.generation;
    p->ptr_bytes = how.ptr_bytes;
    return ask_with(p, 0.001, how.min_bytes);
}

static void memory_around_pinned_objects(void **state)
{
    (void)state;
    /* with the buffers three quarters are used */
    const uint64_t quarter = 0x20000 - 0x20000 / 4 - 400;
    const struct {
        struct pinning how;
        bool found;
    } rows[] = {
        { { quarter, 1, 10, 0, 0, 8, GCD_ROOT_PINNED }, true },
        { { quarter + 8, 1, 10, 0, 0, 8, GCD_ROOT_PINNED }, false },
        { { quarter - 7, 1, 10, 0, 0, 8, GCD_ROOT_PINNED }, true },
        { { quarter + 1, 1, 10, 0, 0, 8, GCD_ROOT_PINNED }, false },
        { { quarter, 0x8000, 10, 0, 0, 8, GCD_ROOT_PINNED }, true },
        { { quarter, 0x8001, 10, 0, 0, 8, GCD_ROOT_PINNED }, false },
        { { quarter, 1, 9, 0, 0, 8, GCD_ROOT_PINNED }, false },
        { { quarter, 1, 9, 1, 0, 8, GCD_ROOT_PINNED }, false },
        { { quarter, 1, 10, 0, 2, 8, GCD_ROOT_PINNED }, true },
        { { quarter, 1, 10, 0, 3, 8, GCD_ROOT_PINNED }, false },
        { { quarter, 1, 10, 0, 0, 8, 0 }, false },
        /* 33 take 36 */
        { { quarter + 40, 1, 10, 0, 0, 4, GCD_ROOT_PINNED }, true },
        { { quarter + 44, 1, 10, 0, 0, 4, GCD_ROOT_PINNED }, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_found(pinned(rows[i].how), GCD_SUSPECT_PINNED) != rows[i].found)
            fail_msg("row %zu", i);
    struct answer a = pinned((struct pinning){ 1000, 1, 10, 1, 0, 8, GCD_ROOT_PINNED });
    const struct gcd_suspect *s = first_of(a, GCD_SUSPECT_PINNED);
    assert_true(s != NULL && s->objects == 10 && s->shallow_bytes == 330 &&
                s->retained_bytes == 330 && s->bytes == 0x20000 - 1400);
    forget(a);
}

/* ---- sentences ---- */

static const struct gcd_suspect *only(struct answer a)
{
    assert_int_equal(gcd_suspects_count(a.s), 1);
    return gcd_suspects_get(a.s, 0);
}

static void said_of_one(uint64_t size, const char *name, const char *text)
{
    struct pile *p = pile_new();
    static_root(p, node(p, name, size), "s_it");
    struct answer a = ask(p, 0.5);
    if (strstr(only(a)->sentence, text) == NULL)
        fail_msg("%s", only(a)->sentence);
    forget(a);
}

static void sizes_and_articles(void **state)
{
    (void)state;
    said_of_one(1, "Byte[]", "the static variable s_it: a Byte[] of 1 byte.");
    said_of_one(999, "Array", "the static variable s_it: an Array of 999 bytes.");
    said_of_one(1000, "Ear", "the static variable s_it: an Ear of 1,000 bytes.");
    said_of_one(1023, "Item", "the static variable s_it: an Item of 1,023 bytes.");
    said_of_one(1024, "Order", "the static variable s_it: an Order of 1.0 KiB.");
    /* never 1024.0 of a unit */
    said_of_one(1048524, "array", "the static variable s_it: an array of 1023.9 KiB.");
    said_of_one(1048525, "ear", "the static variable s_it: an ear of 1.0 MiB.");
    said_of_one(1073689395, "item", "the static variable s_it: an item of 1023.9 MiB.");
    said_of_one(1073689396, "order", "the static variable s_it: an order of 1.0 GiB.");
    said_of_one(UINT64_C(1) << 40, "User", "the static variable s_it: a User of 1.0 TiB.");
    said_of_one(UINT64_C(1) << 60, "Shop", "the static variable s_it: a Shop of 1.0 EiB.");
    said_of_one(UINT64_MAX, "zip", "the static variable s_it: a zip of 16.0 EiB.");
}

static void how_names_begin(void **state)
{
    (void)state;
    static const char *const an[] = { "UnboundedChannel<Int32>",
                                      "Uninterrupted",
                                      "UNKNOWN 0x7f",
                                      "Update",
                                      "Ultimate",
                                      "Umbrella",
                                      "HttpClient",
                                      "HTTPHandler",
                                      "HtmlPage",
                                      "XmlReader",
                                      "XElement",
                                      "IShop",
                                      "SslStream",
                                      "RpcReply" };
    static const char *const a[] = { "User",     "UInt32[]",       "Uri",      "UniqueKey",
                                     "Unit",     "Usage",          "European", "OneTime",
                                     "OnceOnly", "HashSet<Int32>", "Xamarin",  "StringBuilder",
                                     "Socket",   "MemoryCache",    "Node",     "List<Order>",
                                     "Float",    "_Part",          "" };
    for (size_t i = 0; i < sizeof an / sizeof *an; i++)
        if (!suspects_is_an(an[i]))
            fail_msg("an %s", an[i]);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (suspects_is_an(a[i]))
            fail_msg("a %s", a[i]);
}

/* Mostly itself from a half on. */
static void what_is_most_of_it(void **state)
{
    (void)state;
    static const struct {
        uint64_t own, held;
        const char *text;
    } rows[] = {
        { 100, 101,
          "100.0 % of the heap (201 bytes) is held by the static variable s_it: a Shop of 100 "
          "bytes." },
        { 99, 101,
          "100.0 % of the heap (200 bytes) is held by one Shop: 10 objects, mostly Part (9)." },
        { 99, 185,
          "100.0 % of the heap (284 bytes) is held by one Shop: 10 objects, the largest part in "
          "one "
          "Other." },
        { 99, 1000,
          "100.0 % of the heap (1.1 KiB) is held by one Shop: 10 objects, most of it in one "
          "Other." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t shop = node(p, "Shop", rows[i].own);
        static_root(p, shop, "s_it");
        child(p, shop, "Other", rows[i].held - 90);
        for (int k = 0; k < 9; k++)
            child(p, shop, "Part", 10);
        struct answer a = ask(p, 1);
        assert_true(is_said(only(a), rows[i].text));
        forget(a);
    }
}

static void who_holds_it(void **state)
{
    (void)state;
    static const struct {
        unsigned kind;
        uint32_t flags;
        const char *name, *text;
    } rows[] = {
        { GCD_ROOT_STATIC, 0, "s_it", "held by the static variable s_it: a Shop of 100 bytes." },
        { GCD_ROOT_STATIC, 0, "", "held by a static variable." },
        { GCD_ROOT_STACK, 0, "", "held by a thread stack." },
        { GCD_ROOT_FINALIZER, 0, "", "held by the finalizer queue." },
        { GCD_ROOT_HANDLE, 0, "", "held by a strong handle." },
        { GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "", "held by a pinned handle." },
        { GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED, "", "held by a ref-counted handle." },
        { GCD_ROOT_OTHER, 0, "", "held by another root." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        root(p, node(p, "Shop", 100), rows[i].kind, rows[i].flags, rows[i].name);
        struct answer a = ask(p, 1);
        assert_true(is_said(gcd_suspects_get(a.s, 0), rows[i].text));
        forget(a);
    }
}

/* The nearest framework object on the path that is neither an array nor a collection of the
 * library; else the one just above. */
static void by_way_of(void **state)
{
    (void)state;
    static const struct {
        const char *way[4], *text;
    } rows[] = {
        { { "System.App" }, "through App." },
        { { "System.App", "System.Cache" }, "by way of Cache." },
        { { "System.App", "System.Cache", "System.Item[]" }, "by way of Cache." },
        { { "System.App", "System.Cache", "System.Collections.Generic.List`1[System.Item]",
            "System.Item[]" },
          "by way of Cache." },
        { { "System.Collections.Hashtable", "System.Item[]" }, "by way of Item[]." },
        { { "System.Item[]" }, "through Item[]." },
        { { "System.App", "System.CollectionsX" }, "by way of CollectionsX." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t at = node(p, rows[i].way[0], 1);
        root(p, at, GCD_ROOT_STACK, 0, "");
        for (size_t k = 1; k < 4 && rows[i].way[k] != NULL; k++)
            at = child(p, at, rows[i].way[k], 1);
        child(p, at, "Blob", 1000);
        struct answer a = ask(p, 0.5);
        assert_true(is_said(only(a), rows[i].text));
        forget(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_below_the_threshold),
        cmocka_unit_test(the_largest_consumer),
        cmocka_unit_test(shares_and_minima),
        cmocka_unit_test(how_far_down),
        cmocka_unit_test(what_is_left),
        cmocka_unit_test(what_makes_a_list),
        cmocka_unit_test(together_as_large_as_a_suspect),
        cmocka_unit_test(together_without_the_large_ones),
        cmocka_unit_test(who_holds_most),
        cmocka_unit_test(held_by_roots),
        cmocka_unit_test(large_consumers_first),
        cmocka_unit_test(objects_that_wait),
        cmocka_unit_test(what_is_an_event),
        cmocka_unit_test(handlers_that_are_static_methods),
        cmocka_unit_test(the_longest_lists),
        cmocka_unit_test(full_collections_of_one_size),
        cmocka_unit_test(collections_of_one_size),
        cmocka_unit_test(dead_collections_do_not_count),
        cmocka_unit_test(what_is_a_collection),
        cmocka_unit_test(arrays_without_elements),
        cmocka_unit_test(memory_around_pinned_objects),
        cmocka_unit_test(sizes_and_articles),
        cmocka_unit_test(how_names_begin),
        cmocka_unit_test(what_is_most_of_it),
        cmocka_unit_test(who_holds_it),
        cmocka_unit_test(by_way_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
