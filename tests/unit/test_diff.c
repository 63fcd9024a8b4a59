/* Types of several dumps side by side, against a comparison of every type with every other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/diff.h>
#include <gcdumpc/unstable/compare/trend.h>

#include "support/check.h"
#include "support/failalloc.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct gcd_diff *diff_of(const struct gcd_diff_type *a, size_t na,
                                const struct gcd_diff_type *b, size_t nb)
{
    struct gcd_diff *d;
    assert_int_equal(gcd_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_diff_add(d, a, na, &err), GCD_OK);
    assert_int_equal(gcd_diff_add(d, b, nb, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(d, &err), GCD_OK);
    assert_int_equal(gcd_diff_dumps(d), 2);
    return d;
}

/* Checks row I: NAME in MODULE, objects and bytes before and after. */
static void row_is(const struct gcd_diff *d, size_t i, const char *name, const char *module,
                   uint64_t n0, uint64_t b0, uint64_t n1, uint64_t b1)
{
    assert_true(i < gcd_diff_row_count(d));
    const struct gcd_diff_row *r = gcd_diff_row(d, i);
    assert_string_equal(r->name, name);
    assert_string_equal(r->module, module);
    assert_int_equal(r->sums[0].objects, n0);
    assert_int_equal(r->sums[0].bytes, b0);
    assert_int_equal(r->sums[1].objects, n1);
    assert_int_equal(r->sums[1].bytes, b1);
}

static void rows_are_sorted_by_growth(void **state)
{
    (void)state;
    static const struct gcd_diff_type before[] = {
        { "Gone", "/a/Shop.dll", { 3, 30, 7 } }, { "Same", "", { 1, 10, 1 } },
        { "Shrunk", "", { 9, 900, 2 } },         { "Grown", "", { 1, 8, 3 } },
        { "Unused", "", { 0, 0, 0 } },
    };
    static const struct gcd_diff_type after[] = {
        { "Grown", "", { 5, 40, 6 } },
        { "More objects", "", { 2, 0, 0 } },
        { "Same", "", { 1, 10, 1 } },
        { "Shrunk", "", { 8, 800, 1 } },
        { "New", "C:\\x\\Shop.exe", { 1, 24, 9 } },
        { "Unused", "", { 0, 0, 0 } },
    };
    struct gcd_diff *d = diff_of(before, COUNT(before), after, COUNT(after));
    assert_int_equal(gcd_diff_row_count(d), 6);
    row_is(d, 0, "Grown", "", 1, 8, 5, 40);
    row_is(d, 1, "New", "Shop", 0, 0, 1, 24);
    row_is(d, 2, "More objects", "", 0, 0, 2, 0);
    row_is(d, 3, "Same", "", 1, 10, 1, 10);
    row_is(d, 4, "Gone", "Shop", 3, 30, 0, 0);
    row_is(d, 5, "Shrunk", "", 9, 900, 8, 800);
    assert_int_equal(gcd_diff_row(d, 0)->sums[0].retained_bytes, 3);
    assert_int_equal(gcd_diff_row(d, 0)->sums[1].retained_bytes, 6);
    gcd_diff_free(d);
}

/* Types with equal growth are sorted by name, whatever their order in the dumps. */
static void the_same_growth(void **state)
{
    (void)state;
    static const struct gcd_diff_type types[] = { { "B", "", { 1, 10, 0 } },
                                                  { "C", "", { 1, 10, 0 } },
                                                  { "A", "", { 1, 10, 0 } } };
    struct gcd_diff *d = diff_of(types, COUNT(types), types, COUNT(types));
    for (size_t i = 0; i < COUNT(types); i++)
        row_is(d, i, (const char *const[]){ "A", "B", "C" }[i], "", 1, 10, 1, 10);
    gcd_diff_free(d);
}

static void modules_matter_only_when_names_collide(void **state)
{
    (void)state;
    static const struct gcd_diff_type before[] = {
        { "Moved", "/v1/Old.dll", { 1, 1, 0 } },
        { "Twice", "/v1/A.dll", { 1, 10, 0 } },
        { "Closure", "/v1/A.dll", { 1, 100, 0 } },
        { "Closure", "/v1/A.dll", { 2, 200, 0 } },
        { "Unknown", "", { 1, 5, 0 } },
    };
    static const struct gcd_diff_type after[] = {
        { "Moved", "/v2/New.dll", { 2, 2, 0 } }, { "Twice", "/v2/B.dll", { 1, 7, 0 } },
        { "Twice", "/v2/A.dll", { 2, 20, 0 } },  { "Closure", "/v2/A.dll", { 4, 400, 0 } },
        { "Unknown", "/v2/A.dll", { 1, 5, 0 } }, { "Unknown", "/v2/B.dll", { 1, 6, 0 } },
    };
    struct gcd_diff *d = diff_of(before, COUNT(before), after, COUNT(after));
    assert_int_equal(gcd_diff_row_count(d), 5);
    row_is(d, 0, "Closure", "A", 3, 300, 4, 400);
    row_is(d, 1, "Twice [A]", "A", 1, 10, 2, 20);
    row_is(d, 2, "Twice [B]", "B", 0, 0, 1, 7);
    row_is(d, 3, "Unknown", "", 1, 5, 2, 11);
    row_is(d, 4, "Moved", "", 1, 1, 2, 2);
    gcd_diff_free(d);
}

static void sums_saturate(void **state)
{
    (void)state;
    static const struct gcd_diff_type types[] = { { "Big", "", { 1, UINT64_MAX, UINT64_MAX } },
                                                  { "Big", "", { UINT64_MAX, 1, 1 } } };
    struct gcd_diff *d = diff_of(types, 2, types, 1);
    row_is(d, 0, "Big", "", UINT64_MAX, UINT64_MAX, 1, UINT64_MAX);
    assert_int_equal(gcd_diff_row(d, 0)->sums[0].retained_bytes, UINT64_MAX);
    gcd_diff_free(d);
}

static void nothing_to_compare(void **state)
{
    (void)state;
    struct gcd_diff *d;
    assert_int_equal(gcd_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(d, &err), GCD_OK);
    assert_int_equal(gcd_diff_row_count(d), 0);
    assert_int_equal(gcd_diff_match(d, &err), GCD_E_STATE);
    assert_int_equal(gcd_diff_add(d, NULL, 0, &err), GCD_E_STATE);
    gcd_diff_free(d);
    gcd_diff_free(NULL);
    d = diff_of(NULL, 0, NULL, 0);
    assert_int_equal(gcd_diff_row_count(d), 0);
    gcd_diff_free(d);
}

/* ---- random tables ---- */

#define DUMPS 3
#define TYPES 12
#define NAMES 4

static uint64_t below(uint64_t *seed, uint64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % n;
}

struct tables {
    struct gcd_diff_type type[DUMPS][TYPES];
    size_t count[DUMPS];
};

static void make_tables(uint64_t seed, struct tables *t)
{
    static const char *const names[NAMES] = { "A", "B", "A [x]", "" };
    static const char *const modules[] = { "", "/x.dll", "/deep/x.dll", "y", "\\z.exe" };
    uint64_t unknown = below(&seed, 2); /* else all modules are known */
    for (size_t i = 0; i < DUMPS; i++) {
        t->count[i] = (size_t)below(&seed, TYPES + 1);
        for (size_t k = 0; k < t->count[i]; k++)
            t->type[i][k] =
                (struct gcd_diff_type){ names[below(&seed, NAMES)],
                                        modules[1 - unknown + below(&seed, 4 + unknown)],
                                        { below(&seed, 3), below(&seed, 100), below(&seed, 100) } };
    }
}

static const char *short_name(const char *module)
{
    return module[0] == '\0'                 ? ""
           : strstr(module, "x.dll") != NULL ? "x"
           : module[0] == 'y'                ? "y"
                                             : "z";
}

/* By definition: is NAME split by module, and its sum in DUMP, for one MODULE or (NULL) for all? */
static bool is_split(const struct tables *t, const char *name)
{
    bool collide = false;
    for (size_t i = 0; i < DUMPS; i++)
        for (size_t k = 0; k < t->count[i]; k++)
            for (size_t l = 0; l < t->count[i]; l++) {
                const struct gcd_diff_type *a = &t->type[i][k], *b = &t->type[i][l];
                if (strcmp(a->name, name) != 0 || strcmp(b->name, name) != 0 ||
                    a->sum.objects == 0 || b->sum.objects == 0)
                    continue;
                if (a->module_path[0] == '\0')
                    return false;
                collide =
                    collide || strcmp(short_name(a->module_path), short_name(b->module_path)) != 0;
            }
    return collide;
}

static struct gcd_diff_sum sum_of(const struct tables *t, size_t dump, const char *name,
                                  const char *module)
{
    struct gcd_diff_sum sum = { 0, 0, 0 };
    for (size_t k = 0; k < t->count[dump]; k++) {
        const struct gcd_diff_type *a = &t->type[dump][k];
        if (strcmp(a->name, name) != 0 || a->sum.objects == 0 ||
            (module != NULL && strcmp(short_name(a->module_path), module) != 0))
            continue;
        sum.objects += a->sum.objects;
        sum.bytes += a->sum.bytes;
        sum.retained_bytes += a->sum.retained_bytes;
    }
    return sum;
}

/* Checks that exactly one row is called NAME (and has MODULE when split) with the right sums.
 * Returns 1, or 0 if there must be none. */
static size_t check_row(const struct tables *t, const struct gcd_diff *d, const char *name,
                        const char *module)
{
    struct gcd_diff_sum want[DUMPS];
    uint64_t objects = 0;
    char shown[32];
    size_t found = 0;
    for (size_t i = 0; i < DUMPS; i++) {
        want[i] = sum_of(t, i, name, module);
        objects += want[i].objects;
    }
    (void)snprintf(shown, sizeof shown, module != NULL ? "%s [%s]" : "%s", name, module);
    for (size_t r = 0; r < gcd_diff_row_count(d) && objects > 0; r++)
        found += strcmp(gcd_diff_row(d, r)->name, shown) == 0 &&
                 memcmp(gcd_diff_row(d, r)->sums, want, sizeof want) == 0;
    assert_int_equal(found > 0, objects > 0);
    return found > 0;
}

static void random_tables_match_as_defined(void **state)
{
    (void)state;
    static const char *const modules[] = { "x", "y", "z" };
    static const char *const names[NAMES] = { "A", "B", "A [x]", "" };
    size_t split = 0;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct tables t;
        struct gcd_diff *d;
        size_t rows = 0;
        make_tables(seed, &t);
        assert_int_equal(gcd_diff_new(NULL, &d, &err), GCD_OK);
        for (size_t i = 0; i < DUMPS; i++)
            assert_int_equal(gcd_diff_add(d, t.type[i], t.count[i], &err), GCD_OK);
        assert_int_equal(gcd_diff_match(d, &err), GCD_OK);
        for (size_t n = 0; n < NAMES; n++) {
            if (!is_split(&t, names[n])) {
                rows += check_row(&t, d, names[n], NULL);
                continue;
            }
            split++;
            for (size_t m = 0; m < COUNT(modules); m++)
                rows += check_row(&t, d, names[n], modules[m]);
        }
        assert_int_equal(gcd_diff_row_count(d), rows);
        int64_t last = INT64_MAX;
        for (size_t r = 0; r < rows; r++) {
            int64_t grown = (int64_t)gcd_diff_row(d, r)->sums[DUMPS - 1].bytes -
                            (int64_t)gcd_diff_row(d, r)->sums[0].bytes;
            assert_true(grown <= last);
            last = grown;
        }
        gcd_diff_free(d);
    }
    assert_true(split > 1000);
}

static gcd_status compare_all(const struct tables *t, const struct gcd_alloc *alloc)
{
    struct gcd_diff *d = NULL;
    gcd_status st = gcd_diff_new(alloc, &d, &err);
    for (size_t i = 0; i < DUMPS && st == GCD_OK; i++)
        st = gcd_diff_add(d, t->type[i], t->count[i], &err);
    if (st == GCD_OK)
        st = gcd_diff_match(d, &err);
    if (d != NULL && st != GCD_OK)
        assert_int_equal(gcd_diff_row_count(d), 0);
    gcd_diff_free(d);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct tables t;
    struct failalloc f;
    make_tables(3, &t);
    for (uint64_t at = 1;; at++) {
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = compare_all(&t, &f.alloc);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
}

/* ---- trends ---- */

static void trends(void **state)
{
    (void)state;
    static const uint64_t up[] = { 1, 1, 2, 5 }, down[] = { 5, 5, 1 }, both[] = { 1, 2, 1 },
                          level[] = { 7, 7, 7 };
    assert_int_equal(gcd_trend_of(up, 4), GCD_TREND_GROWS);
    assert_int_equal(gcd_trend_of(down, 3), GCD_TREND_SHRINKS);
    assert_int_equal(gcd_trend_of(both, 3), GCD_TREND_VARIES);
    assert_int_equal(gcd_trend_of(level, 3), GCD_TREND_STEADY);
    assert_int_equal(gcd_trend_of(up, 1), GCD_TREND_STEADY);
    assert_int_equal(gcd_trend_of(NULL, 0), GCD_TREND_STEADY);
}

static void slopes(void **state)
{
    (void)state;
    static const int64_t half_hours[] = { 1700000000000, 1700001800000, 1700003600000 },
                         gap[] = { 1700000000000, INT64_MIN, 1700003600000 };
    static const int64_t once[] = { 5, 5, 5 }, unknown[] = { INT64_MIN, INT64_MIN, 5 };
    static const uint64_t line[] = { 100, 150, 200 }, bent[] = { 100, 400, 200 },
                          falling[] = { 300, 100, 200 }, huge[] = { 0, 0, UINT64_MAX };
    double s = 0;
    assert_true(gcd_trend_slope(half_hours, line, 3, &s) && s > 99.999 && s < 100.001);
    assert_true(gcd_trend_slope(half_hours, bent, 3, &s) && s > 99.999 && s < 100.001);
    assert_true(gcd_trend_slope(half_hours, falling, 3, &s) && s > -100.001 && s < -99.999);
    assert_true(gcd_trend_slope(gap, bent, 3, &s) && s > 99.999 && s < 100.001);
    assert_true(gcd_trend_slope(half_hours, huge, 3, &s) && s > 1e19);
    assert_true(gcd_trend_slope((const int64_t[]){ 1700000000000, 1700000000001 },
                                (const uint64_t[]){ 5, 6 }, 2, &s) &&
                s > 3.599e6 && s < 3.601e6);
    s = 77;
    assert_false(gcd_trend_slope(once, line, 3, &s));
    assert_false(gcd_trend_slope(unknown, line, 3, &s));
    assert_false(gcd_trend_slope(half_hours, line, 1, &s));
    assert_true(s > 76 && s < 78);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_by_growth),
        cmocka_unit_test(the_same_growth),
        cmocka_unit_test(modules_matter_only_when_names_collide),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(random_tables_match_as_defined),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(trends),
        cmocka_unit_test(slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
