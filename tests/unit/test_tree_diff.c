/* Merged paths of several dumps side by side, compared with sums by the whole path as a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "support/check.h"
#include "support/failalloc.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define TOP      GCD_STEP_NONE

static void row_is(const struct gcd_tree_diff_row *r, uint32_t parent, uint32_t end, uint32_t depth,
                   const char *name, uint64_t bytes0, uint64_t bytes1)
{
    assert_int_equal(r->parent, parent);
    assert_int_equal(r->end, end);
    assert_int_equal(r->depth, depth);
    assert_string_equal(r->name, name);
    assert_int_equal(r->sums[0].bytes, bytes0);
    assert_int_equal(r->sums[1].bytes, bytes1);
}

static void rows_are_sorted_by_growth_below_their_parents(void **state)
{
    (void)state;
    static const char *const old_names[] = { "stack", "Cache", "Item" }, *const new_names[] = {
        "Item", "List", "Cache", "stack", "Item"
    };
    static const struct gcd_tree_diff_step before[] = {
        { TOP, 0, 3, 300, GCD_NAME_NONE, 1, GCD_NAME_NONE },
        { 0, 1, 2, 200, GCD_NAME_NONE, 4, GCD_NAME_NONE },
        { 1, 2, 1, 100, GCD_NAME_NONE, 0, GCD_NAME_NONE },
        { TOP, 1, 1, 50, GCD_NAME_NONE, 7, GCD_NAME_NONE },
    };
    static const struct gcd_tree_diff_step after[] = {
        { TOP, 3, 9, 1000, GCD_NAME_NONE, 1, GCD_NAME_NONE },
        { 0, 1, 2, 150, GCD_NAME_NONE, 5, GCD_NAME_NONE },
        { 0, 2, 5, 700, GCD_NAME_NONE, 3, GCD_NAME_NONE },
        { 2, 0, 3, 300, GCD_NAME_NONE, 4, GCD_NAME_NONE },
        { 2, 4, 1, 40, GCD_NAME_NONE, 6, GCD_NAME_NONE },
    };
    struct gcd_tree_diff *d;
    size_t n;
    assert_int_equal(gcd_tree_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, old_names, COUNT(old_names), before, COUNT(before), &err),
                     GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, new_names, COUNT(new_names), after, COUNT(after), &err),
                     GCD_OK);
    assert_int_equal(gcd_tree_diff_match(d, &err), GCD_OK);
    const struct gcd_tree_diff_row *r = gcd_tree_diff_rows(d, &n);
    assert_int_equal(n, 5);
    row_is(&r[0], TOP, 4, 0, "stack", 300, 1000);
    row_is(&r[1], 0, 3, 1, "Cache", 200, 700);
    row_is(&r[2], 1, 3, 2, "Item", 100, 340);
    row_is(&r[3], 0, 4, 1, "List", 0, 150);
    row_is(&r[4], TOP, 5, 0, "Cache", 50, 0);
    assert_int_equal(r[2].sums[1].objects, 4);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(
            r[i].facts,
            ((uint8_t[]){ 1, 3, 6, 5,
                          7 })[i]); /* of the newer one that has it, nothing of the older */
    assert_int_equal(gcd_tree_diff_match(d, &err), GCD_E_STATE);
    assert_int_equal(gcd_tree_diff_add(d, NULL, 0, NULL, 0, &err), GCD_E_STATE);
    gcd_tree_diff_free(d);
    gcd_tree_diff_free(NULL);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "a" };
    static const struct gcd_tree_diff_step bad[][2] = {
        { { TOP, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE },
          { 1, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE } },
        { { 0, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE },
          { 0, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE } },
        { { TOP, 1, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE },
          { 0, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE } },
        { { TOP, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE },
          { 7, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE } },
        { { TOP, 0, 1, 1, 1, 0, GCD_NAME_NONE }, { 0, 0, 1, 1, 0, 0, GCD_NAME_NONE } },
        { { TOP, 0, 1, 1, GCD_NAME_NONE, 0, 1 }, { 0, 0, 1, 1, GCD_NAME_NONE, 0, GCD_NAME_NONE } },
    };
    struct gcd_tree_diff *d;
    size_t n;
    assert_int_equal(gcd_tree_diff_new(NULL, &d, &err), GCD_OK);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(gcd_tree_diff_add(d, names, 1, bad[i], 2, &err), GCD_E_ARG);
    assert_int_equal(gcd_tree_diff_match(d, &err), GCD_OK);
    (void)gcd_tree_diff_rows(d, &n);
    assert_int_equal(n, 0);
    gcd_tree_diff_free(d);
}

/* The dumps of a program: the first one knows no class of some variables. */
static void what_only_one_dump_knows_makes_nothing_new(void **state)
{
    (void)state;
    static const char *const names[] = { "Log", "Shop.Log", "Web.Log", "Cache", "Shop.Cache" };
    static const struct gcd_tree_diff_step before[] = {
        { TOP, 0, 2, 20, GCD_NAME_NONE, 0, GCD_NAME_NONE },
        { TOP, 4, 1, 10, GCD_NAME_NONE, 0, 3 },
    };
    static const struct gcd_tree_diff_step after[] = {
        { TOP, 1, 3, 30, GCD_NAME_NONE, 0, 0 },
        { TOP, 2, 1, 10, GCD_NAME_NONE, 0, 0 },
        { TOP, 4, 2, 15, GCD_NAME_NONE, 0, 3 },
        { TOP, 1, 5, 50, GCD_NAME_NONE, 0, GCD_NAME_NONE }, /* not short for any other */
    };
    struct gcd_tree_diff *d;
    size_t n;
    assert_int_equal(gcd_tree_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, names, COUNT(names), before, COUNT(before), &err),
                     GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, names, COUNT(names), after, COUNT(after), &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_match(d, &err), GCD_OK);
    const struct gcd_tree_diff_row *r = gcd_tree_diff_rows(d, &n);
    assert_int_equal(n, 3);
    row_is(&r[0], TOP, 1, 0, "Shop.Log", 0, 50);
    row_is(&r[1], TOP, 2, 0, "Log", 20, 40);
    row_is(&r[2], TOP, 3, 0, "Shop.Cache", 10, 15);
    gcd_tree_diff_free(d);
}

/* A chain too long for recursion. */
static void a_long_chain(void **state)
{
    (void)state;
    enum { LENGTH = 1000000 };
    static const char *const names[] = { "Node" };
    struct gcd_tree_diff_step *steps = calloc(LENGTH, sizeof *steps);
    struct gcd_tree_diff *d;
    size_t n;
    assert_non_null(steps);
    for (uint32_t i = 0; i < LENGTH; i++)
        steps[i] = (struct gcd_tree_diff_step){ i == 0 ? TOP : i - 1, 0,
                                                LENGTH - i,           24 * (LENGTH - (uint64_t)i),
                                                GCD_NAME_NONE,        0,
                                                GCD_NAME_NONE };
    assert_int_equal(gcd_tree_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, names, 1, steps, LENGTH / 2, &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_add(d, names, 1, steps, LENGTH, &err), GCD_OK);
    assert_int_equal(gcd_tree_diff_match(d, &err), GCD_OK);
    const struct gcd_tree_diff_row *r = gcd_tree_diff_rows(d, &n);
    assert_int_equal(n, LENGTH);
    row_is(&r[LENGTH - 1], LENGTH - 2, LENGTH, LENGTH - 1, "Node", 0, 24);
    gcd_tree_diff_free(d);
    free(steps);
}

/* ---- random trees ---- */

#define DUMPS 3
#define STEPS 24
#define PATH  100

static uint64_t below(uint64_t *seed, uint64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % n;
}

static const char *const letters[] = { "a", "b", "c", "b" };

struct tree {
    struct gcd_tree_diff_step step[STEPS];
    char path[STEPS][PATH];
    size_t count;
};

static void make_tree(uint64_t *seed, struct tree *t)
{
    t->count = (size_t)below(seed, STEPS + 1);
    for (size_t i = 0; i < t->count; i++) {
        uint32_t parent = i == 0 || below(seed, 4) == 0 ? TOP : (uint32_t)below(seed, i),
                 name = (uint32_t)below(seed, COUNT(letters)),
                 field = (uint32_t)below(seed, COUNT(letters) + 2);
        bool none = field >= COUNT(letters);
        t->step[i] = (struct gcd_tree_diff_step){
            parent, name,         below(seed, 3), below(seed, 1000), none ? GCD_NAME_NONE : field,
            0,      GCD_NAME_NONE
        };
    }
}

/* Do all dumps that have steps of NAME below PARENT, a name or NULL, know a field of some? */
static bool is_told(const struct tree *t, const char *parent, const char *name)
{
    for (size_t k = 0; k < DUMPS; k++) {
        bool has = false, knows = false;
        for (size_t i = 0; i < t[k].count; i++) {
            const struct gcd_tree_diff_step *s = &t[k].step[i];
            const char *above = s->parent == TOP ? "" : letters[t[k].step[s->parent].name];
            if (strcmp(above, parent) != 0 || strcmp(letters[s->name], name) != 0)
                continue;
            has = true;
            knows = knows || s->field != GCD_NAME_NONE;
        }
        if (has && !knows)
            return false;
    }
    return true;
}

static void name_paths(struct tree *t)
{
    for (size_t k = 0; k < DUMPS; k++)
        for (size_t i = 0; i < t[k].count; i++) {
            const struct gcd_tree_diff_step *s = &t[k].step[i];
            const char *above = s->parent == TOP ? "" : letters[t[k].step[s->parent].name],
                       *name = letters[s->name];
            bool field = s->field != GCD_NAME_NONE && is_told(t, above, name);
            (void)snprintf(t[k].path[i], PATH, "%.70s/%.10s:%.10s",
                           s->parent == TOP ? "" : t[k].path[s->parent],
                           field ? letters[s->field] : "", name);
        }
}

static gcd_status compare_all(const struct tree *t, const struct gcd_alloc *alloc,
                              struct gcd_tree_diff **ret)
{
    gcd_status st = gcd_tree_diff_new(alloc, ret, &err);
    for (size_t i = 0; i < DUMPS && st == GCD_OK; i++)
        st = gcd_tree_diff_add(*ret, letters, COUNT(letters), t[i].step, t[i].count, &err);
    return st == GCD_OK ? gcd_tree_diff_match(*ret, &err) : st;
}

static int64_t grown(const struct gcd_tree_diff_row *r)
{
    return (int64_t)r->sums[DUMPS - 1].bytes - (int64_t)r->sums[0].bytes;
}

static void random_trees_match_by_their_paths(void **state)
{
    (void)state;
    size_t merged = 0;
    for (uint64_t run = 0; run < 3000; run++) {
        uint64_t seed = run;
        struct tree t[DUMPS];
        struct gcd_tree_diff *d = NULL;
        size_t n, steps = 0, found = 0;
        for (size_t i = 0; i < DUMPS; i++)
            make_tree(&seed, &t[i]);
        name_paths(t);
        assert_int_equal(compare_all(t, NULL, &d), GCD_OK);
        const struct gcd_tree_diff_row *r = gcd_tree_diff_rows(d, &n);
        char path[DUMPS * STEPS][PATH];
        for (size_t i = 0; i < n; i++) {
            assert_true(r[i].parent == TOP
                            ? r[i].depth == 0
                            : r[i].parent < i && r[i].depth == r[r[i].parent].depth + 1);
            assert_true(r[i].end > i && r[i].end <= (r[i].parent == TOP ? n : r[r[i].parent].end));
            (void)snprintf(path[i], PATH, "%.70s/%.10s:%.10s",
                           r[i].parent == TOP ? "" : path[r[i].parent],
                           r[i].field != NULL ? r[i].field : "", r[i].name);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(path[i], path[k]);
            for (size_t k = 0; k < DUMPS; k++) {
                struct gcd_diff_sum want = { 0, 0, 0 };
                for (size_t s = 0; s < t[k].count; s++)
                    if (strcmp(t[k].path[s], path[i]) == 0) {
                        want.objects += t[k].step[s].objects;
                        want.bytes += t[k].step[s].bytes;
                        found++;
                    }
                assert_memory_equal(&want, &r[i].sums[k], sizeof want);
            }
            uint32_t next = r[i].end;
            if (next < n && r[next].parent == r[i].parent)
                assert_true(grown(&r[i]) >= grown(&r[next]));
        }
        for (size_t i = 0; i < DUMPS; i++)
            steps += t[i].count;
        assert_int_equal(found, steps);
        merged += n < steps;
        gcd_tree_diff_free(d);
    }
    assert_true(merged > 2000);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t seed = 11;
    struct tree t[DUMPS];
    struct failalloc f;
    for (size_t i = 0; i < DUMPS; i++)
        make_tree(&seed, &t[i]);
    for (uint64_t at = 1;; at++) {
        struct gcd_tree_diff *d = NULL;
        size_t n = 0;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = compare_all(t, &f.alloc, &d);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        if (d != NULL)
            (void)gcd_tree_diff_rows(d, &n);
        assert_int_equal(n > 0, st == GCD_OK);
        gcd_tree_diff_free(d);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_by_growth_below_their_parents),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(what_only_one_dump_knows_makes_nothing_new),
        cmocka_unit_test(a_long_chain),
        cmocka_unit_test(random_trees_match_by_their_paths),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
