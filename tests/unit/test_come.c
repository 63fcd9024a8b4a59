/* What has come between two dumps, and whether its owners fill up to a limit. */
#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "answer/answers.h"
#include "base/short_name.h"
#include "support/check.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define TOP      GCD_STEP_NONE
#define NONE     GCD_NAME_NONE

static struct gcd_error err = GCD_ERROR_INIT;

static const char *const names[] = { "statics", "Shop.Store", "Shop.Order", "Shop.Tray" };

/* Orders in a store and in a tray, by bytes. */
static void add(struct gcd_tree_diff *d, uint64_t store, uint64_t tray)
{
    const uint8_t own = GCD_FOLD_FACT_SHOWN;
    const struct gcd_tree_diff_step steps[] = {
        { TOP, 0, 1, store + tray, NONE, own, NONE },  { 0, 1, 1, store, NONE, own, NONE },
        { 1, 2, store / 100, store, NONE, own, NONE }, { 0, 3, 1, tray, NONE, own, NONE },
        { 3, 2, tray / 100, tray, NONE, own, NONE },
    };
    assert_int_equal(gcd_tree_diff_add(d, names, COUNT(names), steps, COUNT(steps), &err), GCD_OK);
}

/* Is there an answer for a store of 100,000 bytes that gets as many more, beside a tray that had
 * and has so many?  The heap has MORE orders. */
static bool has_come_of(uint64_t more, uint64_t tray_before, uint64_t tray_now)
{
    struct gcd_tree_diff *paths;
    struct gcd_diff *types;
    struct answer_come come;
    const uint64_t heap[2] = { 1000000, 1100000 };
    assert_int_equal(gcd_tree_diff_new(NULL, &paths, &err), GCD_OK);
    add(paths, 100000, tray_before);
    add(paths, 200000, tray_now);
    assert_int_equal(gcd_tree_diff_match(paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_new(NULL, &types, &err), GCD_OK);
    for (uint64_t i = 0; i < 2; i++) {
        const struct gcd_diff_type all[] = { { "Shop.Store", "", { 1, 24, 0 } },
                                             { "Shop.Tray", "", { 1, 24, 0 } },
                                             { "Shop.Order", "", { 5000 + i * more, 500000, 0 } } };
        assert_int_equal(gcd_diff_add(types, all, COUNT(all), &err), GCD_OK);
    }
    assert_int_equal(gcd_diff_match(types, &err), GCD_OK);
    bool found = answer_come_find(paths, types, heap, &come);
    if (found) {
        assert_string_equal(come.owner, "Shop.Store");
        assert_string_equal(come.element, "Shop.Order");
        assert_int_equal(come.bytes, 100000);
        assert_int_equal(come.objects[0], 1000); /* not those of the tray, nor of the heap */
        assert_int_equal(come.objects[1], 2000);
        assert_int_equal(come.owner_bytes, 0); /* there is one store */
    }
    gcd_diff_free(types);
    gcd_tree_diff_free(paths);
    return found;
}

static bool has_come(uint64_t tray_before, uint64_t tray_now)
{
    return has_come_of(1, tray_before, tray_now);
}

/* What a path has lost another one has not got from elsewhere. */
static void moved_objects_have_not_come(void **state)
{
    (void)state;
    assert_true(has_come(100000, 100000));
    assert_false(has_come_of(0, 100000, 100000));
    assert_true(has_come(100000, 60000));
    assert_false(has_come(100000, 50000));
    assert_false(has_come(100000, 0));
}

/* Is there an answer for a list of NAME that gets so many bytes of own objects? */
static bool is_told(const char *name, uint64_t bytes)
{
    const char *const list[] = { "statics", name, "Shop.Order" };
    const uint64_t heap[2] = { 1000000, 1000000 + bytes };
    struct gcd_tree_diff *paths;
    struct gcd_diff *types;
    struct answer_come come;
    assert_int_equal(gcd_tree_diff_new(NULL, &paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_new(NULL, &types, &err), GCD_OK);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t all = 10000 + i * bytes;
        const struct gcd_tree_diff_step steps[] = {
            { TOP, 0, 1, all, NONE, 1, NONE },
            { 0, 1, 1, all, NONE, GCD_FOLD_FACT_SHOWN, NONE },
            { 1, 2, all / 100, all, NONE, GCD_FOLD_FACT_SHOWN, NONE },
        };
        const struct gcd_diff_type type = { "Shop.Order", "", { all / 100, all, 0 } };
        assert_int_equal(gcd_tree_diff_add(paths, list, COUNT(list), steps, COUNT(steps), &err),
                         GCD_OK);
        assert_int_equal(gcd_diff_add(types, &type, 1, &err), GCD_OK);
    }
    assert_int_equal(gcd_tree_diff_match(paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(types, &err), GCD_OK);
    bool found = answer_come_find(paths, types, heap, &come);
    gcd_diff_free(types);
    gcd_tree_diff_free(paths);
    return found;
}

/* The bytes told of a store of which a list has grown by 100,000, by ORDERS of it in orders. */
static uint64_t told_bytes(uint64_t orders)
{
    static const char *const list[] = { "statics", "Shop.Store", "List", "[]", "Shop.Order" };
    const uint64_t heap[2] = { 1000000, 1200000 };
    struct gcd_tree_diff *paths;
    struct gcd_diff *types;
    struct answer_come come;
    assert_int_equal(gcd_tree_diff_new(NULL, &paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_new(NULL, &types, &err), GCD_OK);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t all = 100 + i * 100000, in = 100 + i * orders;
        const struct gcd_tree_diff_step steps[] = {
            { TOP, 0, 1, all, NONE, 1, NONE },
            { 0, 1, 1, all, NONE, GCD_FOLD_FACT_SHOWN, NONE },
            { 1, 2, 1, all, NONE, 0, NONE },
            { 2, 3, 1, all, NONE, 0, NONE },
            { 3, 4, in / 100, in, NONE, GCD_FOLD_FACT_SHOWN, NONE },
        };
        const struct gcd_diff_type type = { "Shop.Order", "", { in / 100, in, 0 } };
        assert_int_equal(gcd_tree_diff_add(paths, list, COUNT(list), steps, COUNT(steps), &err),
                         GCD_OK);
        assert_int_equal(gcd_diff_add(types, &type, 1, &err), GCD_OK);
    }
    assert_int_equal(gcd_tree_diff_match(paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(types, &err), GCD_OK);
    assert_true(answer_come_find(paths, types, heap, &come));
    gcd_diff_free(types);
    gcd_tree_diff_free(paths);
    return come.bytes;
}

/* The tables of a collection are a part of it; what is mostly something else is not. */
static void tables_count(void **state)
{
    (void)state;
    assert_int_equal(told_bytes(100000), 100000);
    assert_int_equal(told_bytes(75000), 100000);
    assert_int_equal(told_bytes(74999), 74999);
}

static const char *shortened(const char *name, const char *raw, size_t cap)
{
    static char ret[100];
    memset(ret, 'x', sizeof ret);
    return gcd_short_name(name, raw, ret, cap);
}

/* Outer types stay, namespaces do not. */
static void short_names(void **state)
{
    (void)state;
    static const char list[] = "System.Collections.Generic.List<Shop.Cart.Line[]>",
                      raw[] = "System.Collections.Generic.List`1[Shop.Cart+Line[]]";
    assert_string_equal(shortened(list, raw, 100), "List<Cart.Line[]>");
    assert_string_equal(shortened(list, "System.Collections.Generic.List`1[Shop.Cart.Line[]]", 100),
                        "List<Line[]>");
    assert_string_equal(shortened(list, raw, 7), "List<C");
    assert_string_equal(shortened("Order", "Order", 100), "Order");
    assert_string_equal(shortened("", "", 100), "");
}

/* The runtime describes its events when the first session opens: between two dumps of a program
 * that had none. */
static void what_observes_has_not_come(void **state)
{
    (void)state;
    assert_true(is_told("Shop.Store", 100000));
    assert_true(is_told("static variable Shop.Store.s_all", 100000));
    assert_true(is_told("System.Diagnostics.Tracing.RuntimeEventSources", 100000));
    assert_false(is_told("System.Diagnostics.Tracing.RuntimeEventSource", 100000));
    assert_false(
        is_told("static variable System.Diagnostics.Tracing.NativeRuntimeEventSource.Log", 100000));
    assert_false(is_told("Shop.Store", 65535)); /* as little as of a suspect */
    assert_true(is_told("Shop.Store", 65536));
}

/* Is there an answer for so many hits of a page in its lists A, and so many in B; the counts it
 * tells for A? */
static struct answer_come in_fields(const uint64_t a[2], const uint64_t b[2])
{
    const char *const all[] = { "statics", "Shop.Page", "Shop.List", "Shop.Hit", "a", "b" };
    const uint64_t heap[2] = { 1000000, 2000000 };
    const uint8_t own = GCD_FOLD_FACT_SHOWN;
    struct gcd_tree_diff *paths;
    struct gcd_diff *types;
    struct answer_come come;
    assert_int_equal(gcd_tree_diff_new(NULL, &paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_new(NULL, &types, &err), GCD_OK);
    for (int i = 0; i < 2; i++) {
        const uint64_t n = a[i] + b[i];
        const struct gcd_tree_diff_step steps[] = {
            { TOP, 0, n + 3, n * 100, NONE, own, NONE },
            { 0, 1, n + 3, n * 100, NONE, own, NONE },
            { 1, 2, a[i] + 1, a[i] * 100, 4, 0, NONE },
            { 2, 3, a[i], a[i] * 100, NONE, own, NONE },
            { 1, 2, b[i] + 1, b[i] * 100, 5, 0, NONE },
            { 4, 3, b[i], b[i] * 100, NONE, own, NONE },
        };
        const struct gcd_diff_type type[] = { { "Shop.Hit", "", { n + 9000, n * 100, 0 } },
                                              { "Shop.Page", "", { 1, 24, 0 } } };
        assert_int_equal(gcd_tree_diff_add(paths, all, COUNT(all), steps, COUNT(steps), &err),
                         GCD_OK);
        assert_int_equal(gcd_diff_add(types, type, COUNT(type), &err), GCD_OK);
    }
    assert_int_equal(gcd_tree_diff_match(paths, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(types, &err), GCD_OK);
    assert_true(answer_come_find(paths, types, heap, &come));
    gcd_diff_free(types);
    gcd_tree_diff_free(paths);
    return come;
}

/* A few of the elements that a list holds, too, are on paths through that. */
static void elements_are_of_the_field(void **state)
{
    (void)state;
    struct answer_come come =
        in_fields((const uint64_t[]){ 997, 4996 }, (const uint64_t[]){ 3, 4 });
    assert_int_equal(come.objects[0], 1000);
    assert_int_equal(come.objects[1], 5000);
    come = in_fields((const uint64_t[]){ 1000, 5000 }, (const uint64_t[]){ 700, 700 });
    assert_int_equal(come.objects[0], 1000);
    assert_int_equal(come.objects[1], 5000);
}

static struct answer_fills filled(struct gcd_owner_fill counts)
{
    return (struct answer_fills){ .count = 1, .fills = { { "Shop.Page", "Shop.Hit", counts } } };
}

static struct answer_limit limit_of(struct gcd_owner_fill was, struct gcd_owner_fill is)
{
    static struct answer_fills before, now;
    const struct answer_come come = { .owner = "Shop.Page", .element = "Shop.Hit" };
    before = filled(was);
    now = filled(is);
    return answer_fills_limit(&before, &now, &come, NULL);
}

#define OWNERS(n, elements_, most_, full_, nearly_)                               \
    (struct gcd_owner_fill)                                                       \
    {                                                                             \
        .owners = (n), .elements = (elements_), .most = (most_), .full = (full_), \
        .nearly = (nearly_)                                                       \
    }

static void owners_fill_up(void **state)
{
    (void)state;
    struct gcd_owner_fill was = OWNERS(1000, 4000, 8, 10, 10);
    struct answer_limit l = limit_of(was, OWNERS(1000, 7000, 8, 700, 800));
    assert_non_null(l.fill);
    assert_false(l.trimmed);
    assert_null(limit_of(was, OWNERS(1000, 7000, 9, 700, 800)).fill);
    assert_null(limit_of(was, OWNERS(1000, 7000, 8, 100, 100)).fill);
    assert_null(limit_of(was, OWNERS(2000, 8000, 8, 700, 800)).fill);
}

static void owners_are_cut_back(void **state)
{
    (void)state;
    struct gcd_owner_fill was = OWNERS(400, 16400, 98, 2, 120), is = OWNERS(400, 36000, 99, 3, 400);
    struct answer_limit l = limit_of(was, is);
    assert_non_null(l.fill);
    assert_true(l.trimmed);
    assert_int_equal(l.most_before, 98);
    assert_null(limit_of(is, OWNERS(400, 39600, 109, 3, 400)).fill);  /* the fullest grow, too */
    assert_null(limit_of(OWNERS(400, 16400, 98, 2, 40), is).fill);    /* few had so many */
    assert_null(limit_of(was, OWNERS(400, 36000, 99, 3, 90)).fill);   /* few have so many */
    assert_null(limit_of(was, OWNERS(400, 36000, 120, 3, 400)).fill); /* more than an eighth */
    assert_non_null(limit_of(was, OWNERS(400, 36000, 112, 3, 400)).fill);
    assert_null(limit_of(OWNERS(400, 1200, 5, 2, 120), OWNERS(400, 1600, 5, 9, 400)).fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved_objects_have_not_come),
        cmocka_unit_test(elements_are_of_the_field),
        cmocka_unit_test(what_observes_has_not_come),
        cmocka_unit_test(tables_count),
        cmocka_unit_test(owners_fill_up),
        cmocka_unit_test(short_names),
        cmocka_unit_test(owners_are_cut_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
