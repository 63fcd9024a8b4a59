/* Other holders of the objects of a type: which ones the sentence names, and which it leaves out.
 */
#include <string.h>

#include "analyze/suspects/suspects.h"
#include "support/check.h"
#include "support/pile.h"

#define ORDER "Shop.Order"

/* A root of KIND holds TO by way of two objects of the framework, so that paths through the index
 * are shorter. */
static void far_root(struct pile *p, uint32_t to, unsigned kind, uint32_t flags)
{
    uint32_t top = node(p, "System.Lazy<System.Object>", 24);
    edge(p, child(p, top, "System.Object[]", 24), to);
    root(p, top, kind, flags, "");
}

/* N orders in the array of Shop.Index, a static variable, and in two objects of the framework, so
 * that no single object holds them. */
struct orders {
    struct pile *p;
    uint32_t index, array, other, third, first, n;
    uint32_t outside; /* the last ones are not in the array */
};

static struct orders orders_outside(uint32_t n, uint32_t outside)
{
    struct orders o = { .p = pile_new(), .n = n, .outside = outside };
    o.index = node(o.p, "Shop.Index", 24);
    o.array = child(o.p, o.index, ORDER "[]", 24);
    o.other = node(o.p, "System.Buffers", 24);
    static_root(o.p, o.index, "s_index");
    o.third = node(o.p, "System.Memory", 24);
    far_root(o.p, o.other, GCD_ROOT_HANDLE, 0);
    far_root(o.p, o.third, GCD_ROOT_HANDLE, 0);
    o.first = (uint32_t)o.p->node_count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t order = node(o.p, ORDER, 100);
        edge(o.p, o.other, order);
        edge(o.p, o.third, order);
        if (i < n - outside)
            edge(o.p, o.array, order);
    }
    return o;
}

static struct orders orders_new(uint32_t n)
{
    return orders_outside(n, 0);
}

/* Another object that refers to the first N; it has no root. */
static uint32_t refer(const struct orders *o, const char *name, uint32_t n)
{
    uint32_t by = node(o->p, name, 24);
    for (uint32_t i = 0; i < n; i++)
        edge(o->p, by, o->first + i);
    return by;
}

/* The sentence must have WANTED, or with NULL say nothing of other ways. */
static void expect(struct orders o, const char *wanted)
{
    struct answer a = ask_with(o.p, 0.5, 1);
    assert_true(gcd_suspects_count(a.s) > 0);
    const struct gcd_suspect *s = gcd_suspects_get(a.s, 0);
    const char *said = strstr(s->sentence, "also reached"), *both = strstr(s->sentence, "in both ");
    assert_int_equal(s->kind, GCD_SUSPECT_TYPE);
    assert_int_equal(s->objects, o.n);
    if (both == NULL)
        assert_non_null(strstr(s->sentence,
                               " of them are in one Order[] of one Index, among others. "
                               "It is held by the static variable s_index."));
    else if (strstr(both, "s_all") != NULL)
        assert_string_equal(s->advice, "Both must let go: look in Index and the static variable "
                                       "Shop.Index.s_all for what keeps Order objects and never "
                                       "removes them.");
    else
        assert_string_equal(s->advice, "Both must let go: look in Index and Book for what keeps "
                                       "Order objects and never removes them.");
    assert_string_equal(s->place, both == NULL                    ? "Order"
                                  : strstr(both, "s_all") != NULL ? "Index and Shop.Index.s_all"
                                                                  : "Index and Book");
    assert_int_equal(s->alike, o.n - o.outside);
    if (wanted == NULL && (said != NULL || s->way_count > 0))
        fail_msg("%s", s->sentence);
    if (wanted != NULL && strstr(s->sentence, wanted) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", wanted, s->sentence);
    forget(a);
}

static void one_object(void **state)
{
    (void)state;
    static const struct {
        uint32_t orders, referred;
        const char *wanted;
    } rows[] = {
        { 100, 100, " alive, 97.4 % of the heap: they are in both Index and Book." },
        { 100, 99, ": nearly all of them are in both Index and Book." },
        { 100, 95, ": nearly all of them are in both " },
        { 100, 94, " Most of them " },
        { 100, 50, " Most of them " },
        { 100, 49, " Some of them " },
        { 100, 10, " Some of them " },
        { 100, 9, NULL },
        { 256, 256, ": they are in both " },
        { 257, 257, ": nearly all of them are in both " },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct orders o = orders_new(rows[i].orders);
        far_root(o.p, refer(&o, "Shop.Book", rows[i].referred), GCD_ROOT_STACK, 0);
        expect(o, rows[i].wanted);
    }
}

/* Names the nearest object of the program, not the nearest of all; many of one type; a static
 * variable of an own type, if nothing else is own. */
static void the_nearest_own_object_is_named(void **state)
{
    (void)state;
    struct orders o = orders_new(100);
    uint32_t clerk = node(o.p, "Shop.Clerk", 24), book = child(o.p, clerk, "Shop.Book", 24);
    edge(o.p, book, refer(&o, "System.Collections.Generic.List<" ORDER ">", 100));
    far_root(o.p, clerk, GCD_ROOT_STACK, 0);
    expect(o, ": they are in both Index and Book.");

    o = orders_new(100);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t page = node(o.p, "Shop.Page", 24);
        edge(o.p, page, o.first + i);
        far_root(o.p, page, GCD_ROOT_STACK, 0);
    }
    expect(o, " All of them are also reached through Page objects.");

    o = orders_new(100);
    uint32_t all = node(o.p, ORDER "[]", 24), near = child(o.p, all, "System.Object[]", 24);
    edge(o.p, near, refer(&o, "System.Object[]", 100));
    static_root(o.p, all, "s_all");
    expect(o, ": they are in both Index and Shop.Index.s_all.");
}

static void several(void **state)
{
    (void)state;
    struct orders o = orders_new(100);
    far_root(o.p, refer(&o, "Shop.Desk", 60), GCD_ROOT_STACK, 0);
    far_root(o.p, refer(&o, "Shop.Shelf", 20), GCD_ROOT_STACK, 0);
    far_root(o.p, refer(&o, "Shop.Book", 100), GCD_ROOT_STACK, 0);
    expect(o, " in both Index and Book. Most of them are also reached through one Desk.");

    o = orders_new(100);
    far_root(o.p, refer(&o, "Shop.Desk", 30), GCD_ROOT_STACK, 0);
    far_root(o.p, refer(&o, "Shop.Book", 20), GCD_ROOT_STACK, 0);
    expect(o, " Some of them are also reached through one Desk and one Book.");
}

/* Two ways of one type are one: each object counts once. */
static void counted_once(void **state)
{
    (void)state;
    struct orders o = orders_new(100);
    far_root(o.p, refer(&o, "Shop.Book", 30), GCD_ROOT_STACK, 0);
    far_root(o.p, refer(&o, "Shop.Book", 40), GCD_ROOT_STACK, 0);
    expect(o, " Some of them are also reached through Book objects.");
}

static void what_is_no_other_way(void **state)
{
    (void)state;
    struct orders o = orders_new(100); /* parts that refer back */
    for (uint32_t i = 0; i < 100; i++)
        edge(o.p, child(o.p, o.first + i, "Shop.Line", 24), o.first + i);
    expect(o, NULL);

    o = orders_new(100); /* what the index itself holds */
    edge(o.p, o.array, refer(&o, "Shop.Book", 100));
    expect(o, NULL);

    o = orders_new(100); /* another index */
    far_root(o.p, refer(&o, "Shop.Index", 40), GCD_ROOT_STACK, 0);
    expect(o, NULL);

    /* the holder of another object of the type, which is held, too */
    o = orders_outside(100, 5);
    for (uint32_t i = 0; i < 50; i++)
        edge(o.p, o.first + 95 + i % 5, o.first + i);
    expect(o, NULL);

    o = orders_new(100); /* what waits for its finalizer */
    far_root(o.p, refer(&o, "Shop.Book", 100), GCD_ROOT_FINALIZER, 0);
    expect(o, NULL);

    o = orders_new(100); /* what nothing holds */
    far_root(o.p, refer(&o, "Shop.Book", 100), GCD_ROOT_HANDLE, GCD_ROOT_WEAK);
    expect(o, NULL);
}

/* The first 32 references to an object are looked at. */
static void many_references(void **state)
{
    (void)state;
    /* besides those of the array and of the framework's */
    for (unsigned before = 28; before <= 30; before++) {
        struct orders o = orders_new(20);
        for (unsigned i = 0; i < before; i++)
            edge(o.p, o.other, refer(&o, "System.Text.Rune", 20));
        far_root(o.p, refer(&o, "Shop.Book", 20), GCD_ROOT_STACK, 0);
        expect(o, before < 29 ? ": they are in both Index and Book." : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_object),
        cmocka_unit_test(the_nearest_own_object_is_named),
        cmocka_unit_test(several),
        cmocka_unit_test(counted_once),
        cmocka_unit_test(what_is_no_other_way),
        cmocka_unit_test(many_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
