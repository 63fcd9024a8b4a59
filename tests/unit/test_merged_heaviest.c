/* gcd_merged_tree_heaviest: the same tree as one that has all steps, as far as it goes; what is
 * heavy is in it, however wide or deep the heap is. */
#include <gcdumpc/unstable/merged_tree.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* The step with the labels of step I of FROM in the tree OF; GCD_STEP_NONE = none. */
static uint32_t same_step(const struct gcd_merged_step *from, uint32_t i,
                          const struct gcd_merged_step *of, size_t n)
{
    if (i == GCD_STEP_NONE)
        return GCD_STEP_NONE;
    uint32_t parent = same_step(from, from[i].parent, of, n);
    for (uint32_t k = 0; k < n; k++)
        if (of[k].parent == parent && of[k].label == from[i].label && of[k].slot == from[i].slot)
            return k;
    return GCD_STEP_NONE;
}

static struct gcd_merged_tree *heaviest(const struct gcd_graph *g, struct gcd_merged_tree_options o)
{
    struct gcd_merged_tree *t = NULL;
    o.stacks = true;
    assert_int_equal(gcd_merged_tree_heaviest(g, &o, &t, &err), GCD_OK);
    return t;
}

/* Step I is the one for excess static variables, or is below it. */
static bool further_variables(const struct gcd_merged_tree *t, uint32_t i)
{
    size_t n;
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    while (i != GCD_STEP_NONE && gcd_merged_tree_name(t, s[i].label).kind != GCD_STEP_DEEPER)
        i = s[i].parent;
    return i != GCD_STEP_NONE;
}

static void check_same(const struct gcd_merged_tree *all, const struct gcd_merged_tree *t,
                       bool whole)
{
    size_t n, m;
    const struct gcd_merged_step *a = gcd_merged_tree_steps(all, &n),
                                 *b = gcd_merged_tree_steps(t, &m);
    assert_true(whole ? n == m : m <= n);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t k = same_step(b, i, a, n);
        if (!whole && further_variables(t, i))
            continue;
        assert_int_not_equal(k, GCD_STEP_NONE);
        assert_int_equal(b[i].count, a[k].count);
        assert_int_equal(b[i].bytes, a[k].bytes);
        assert_int_equal(b[i].depth, a[k].depth);
        assert_true(whole ? b[i].own_count == a[k].own_count && b[i].own_bytes == a[k].own_bytes
                          : b[i].own_count <= a[k].own_count);
    }
    assert_int_equal(gcd_merged_tree_totals(t).count, gcd_merged_tree_totals(all).count);
    assert_int_equal(gcd_merged_tree_totals(t).bytes, gcd_merged_tree_totals(all).bytes);
}

/* A step that T does not split is no heavier than any that it splits. */
static void check_heaviest(const struct gcd_merged_tree *t)
{
    size_t n;
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    uint64_t lightest = UINT64_MAX, heaviest_left = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t below = 0;
        for (size_t k = i + 1; k < n; k++)
            below += s[k].parent == i ? s[k].bytes : 0;
        if (gcd_merged_tree_name(t, s[i].label).kind != GCD_STEP_TYPE)
            continue;
        if (below > 0 && s[i].bytes < lightest)
            lightest = s[i].bytes;
        if (below == 0 && s[i].bytes > s[i].own_bytes && s[i].bytes > heaviest_left)
            heaviest_left = s[i].bytes;
    }
    assert_true(heaviest_left <= lightest);
}

static void it_is_the_same_tree(void **state)
{
    (void)state;
    size_t with_field = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 80,
                                                             .plain_names = true,
                                                             .plain_sizes = seed % 4 > 0,
                                                             .fields = seed % 2 == 0 });
        uint32_t n = gcd_graph_node_count(g), nodes[80], found[80], places[80];
        struct gcd_dominators *d;
        struct gcd_fields *fields;
        struct gcd_merged_tree *all, *t;
        size_t steps;
        for (uint32_t i = 0; i < 80; i++)
            nodes[i] = i;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_fields_new(g, NULL, &fields, &err), GCD_OK);
        struct gcd_merged_tree_options o = { .dominators = d,
                                             .fields = fields,
                                             .stacks = true,
                                             .find = nodes,
                                             .find_count = n,
                                             .ret_found = places };
        assert_int_equal(gcd_merged_tree_new(g, &o, &all, &err), GCD_OK);
        o.ret_found = found;
        t = heaviest(g, o);
        check_same(all, t, true);
        const struct gcd_merged_step *a = gcd_merged_tree_steps(all, &steps),
                                     *b = gcd_merged_tree_steps(t, &steps);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t top = places[i];
            while (gcd_merged_tree_name(all, a[top].label).kind == GCD_STEP_TYPE)
                top = a[top].parent;
            assert_int_equal(same_step(b, found[i], a, steps), top);
        }
        for (size_t i = 0; i < steps; i++)
            with_field += gcd_merged_tree_field(all, &a[i]) != NULL;
        gcd_merged_tree_free(t);
        for (uint32_t max = 1; max <= 16; max += 5) {
            o.max_steps = max;
            t = heaviest(g, o);
            check_same(all, t, false);
            check_heaviest(t);
            gcd_merged_tree_free(t);
        }
        gcd_merged_tree_free(all);
        gcd_fields_free(fields);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
    assert_true(with_field > 100);
}

/* A limited tree has the heaviest steps of the whole tree, and paths of the same graph change
 * nothing. */
static void a_limited_tree_has_the_heaviest_steps(void **state)
{
    (void)state;
    size_t shorter = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed, .max_nodes = 80, .plain_names = true, .plain_sizes = true });
        struct gcd_dominators *d;
        struct gcd_paths *p;
        size_t n, m;
        assert_int_equal(gcd_paths_with_dominators_new(g, NULL, &d, &p, &err), GCD_OK);
        struct gcd_merged_tree *all =
            heaviest(g, (struct gcd_merged_tree_options){ .dominators = d });
        const struct gcd_merged_step *a = gcd_merged_tree_steps(all, &n), *b;
        for (uint32_t wanted = 0; wanted < 12; wanted++) {
            struct gcd_merged_tree *t =
                heaviest(g, (struct gcd_merged_tree_options){
                                .dominators = d, .paths = p, .heaviest = wanted });
            b = gcd_merged_tree_steps(t, &m);
            check_same(all, t, wanted == 0);
            shorter += m < n;
            /* a missing step has WANTED heavier ones */
            for (uint32_t i = 0; i < n; i++) {
                size_t heavier = 0;
                for (size_t k = 0; k < m; k++)
                    heavier += gcd_merged_tree_name(t, b[k].label).kind == GCD_STEP_TYPE &&
                               b[k].bytes >= a[i].bytes;
                assert_true(heavier >= wanted || same_step(a, i, b, m) != GCD_STEP_NONE);
            }
            gcd_merged_tree_free(t);
        }
        gcd_merged_tree_free(all);
        gcd_paths_free(p);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
    assert_true(shorter > 100);
}

/* LEVELS objects of different types, each holding the next, and 10 more that the last one holds;
 * all of 100 bytes. */
static struct gcd_graph *chain_of(uint32_t levels)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i <= levels; i++)
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .id = i + 1, .name = "T", .module_path = "" },
                           &type, &err),
            GCD_OK);
    for (uint32_t i = 0; i < levels + 10; i++)
        assert_int_equal(gcd_build_node(b, 0, i < levels ? i : levels, 100, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < levels + 10; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (uint32_t k = i + 1; i < levels && k < (i + 1 < levels ? i + 2 : levels + 10); k++)
            assert_int_equal(gcd_build_edge_nodes(b, &k, 1, &err), GCD_OK);
    }
    struct gcd_root r = { .node = 0, .kind = GCD_ROOT_STACK, .name = "" };
    assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void what_lies_too_deep_is_there_by_type(void **state)
{
    (void)state;
    struct gcd_graph *g = chain_of(20);
    struct gcd_dominators *d;
    size_t n, types = 0;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    struct gcd_merged_tree *t =
        heaviest(g, (struct gcd_merged_tree_options){ .dominators = d, .max_depth = 5 });
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    uint32_t deeper = 0;
    while (deeper < n && gcd_merged_tree_name(t, s[deeper].label).kind != GCD_STEP_DEEPER)
        deeper++;
    assert_true(deeper < n && s[deeper].depth == 6 && s[deeper].count == 25 &&
                s[deeper].bytes == 2500 && s[deeper].own_count == 0);
    for (size_t i = 0; i < n; i++)
        if (s[i].parent == deeper) {
            types++;
            assert_int_equal(s[i].count, s[i].label == 20 ? 10 : 1);
            assert_int_equal(s[i].bytes, 100 * s[i].count);
            assert_int_equal(s[i].own_bytes, s[i].bytes);
        }
    assert_int_equal(types, 16);
    gcd_merged_tree_free(t);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen(
        &(struct graph_gen){ .seed = 3, .max_nodes = 60, .plain_names = true, .fields = true });
    struct gcd_dominators *d;
    struct gcd_fields *fields;
    gcd_cancel_flag stop = true;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(g, NULL, &fields, &err), GCD_OK);
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_merged_tree *t = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        struct gcd_merged_tree_options o = { .context.alloc = &f.alloc,
                                             .dominators = d,
                                             .fields = fields,
                                             .stacks = true,
                                             .max_depth = 2 };
        gcd_status st = gcd_merged_tree_heaviest(g, &o, &t, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_int_equal(t != NULL, st == GCD_OK);
        gcd_merged_tree_free(t);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    struct gcd_merged_tree *none = NULL;
    struct gcd_merged_tree_options o = { .context.cancel = &stop, .dominators = d, .stacks = true };
    assert_int_equal(gcd_merged_tree_heaviest(g, &o, &none, &err), GCD_E_CANCELED);
    assert_null(none);
    gcd_fields_free(fields);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_same_tree),
        cmocka_unit_test(a_limited_tree_has_the_heaviest_steps),
        cmocka_unit_test(what_lies_too_deep_is_there_by_type),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
