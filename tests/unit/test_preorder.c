/* The live objects in preorder of the tree of dominators, with what is known about each; the tree
 * that uses the order up. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "analyze/dominators/preorder.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"

#define NODES 1000u

static struct gcd_error err = GCD_ERROR_INIT;

/* The objects from FIRST to END and no others lie directly or further below PARENT. */
static void check_below(const struct gcd_preorder *p, uint32_t first, uint32_t end, uint32_t parent)
{
    for (uint32_t at = first; at < end; at += p->objects[at].below) {
        assert_true(p->objects[at].below >= 1 && p->objects[at].below <= end - at);
        assert_int_equal(gcd_dominators_parent(p->d, p->objects[at].node), parent);
    }
}

static void check_order(const struct gcd_graph *g, const struct gcd_dominators *d,
                        const struct gcd_preorder *p, size_t *large)
{
    bool seen[NODES] = { false };
    assert_int_equal(p->count, gcd_dominators_reachable(d));
    check_below(p, 0, p->count, GCD_NODE_ROOT);
    for (uint32_t at = 0; at < p->count; at++) {
        const struct preorder_object *o = &p->objects[at];
        assert_true(o->node < gcd_graph_node_count(g) && !seen[o->node]);
        seen[o->node] = true;
        check_below(p, at + 1, at + o->below, o->node);
        assert_int_equal(o->type, gcd_graph_node_type(g, o->node));
        assert_true(preorder_retained(p, o) == gcd_dominators_retained(d, o->node));
        *large += o->retained == PREORDER_LARGE;
    }
}

static void check_types(const struct gcd_graph *g, const struct gcd_dominators *d,
                        const struct gcd_preorder *p)
{
    size_t types = gcd_graph_summary(g)->type_count;
    uint64_t *expected = calloc(types + 1, sizeof *expected),
             *is = malloc((types + 1) * sizeof *is);
    assert_non_null(expected);
    assert_non_null(is);
    memset(is, 0xff, (types + 1) * sizeof *is);
    assert_int_equal(gcd_retained_by_type(g, d, NULL, expected, &err), GCD_OK);
    assert_int_equal(gcd_preorder_retained_by_type(p, is, &err), GCD_OK);
    for (size_t i = 0; i < types; i++)
        assert_true(is[i] == expected[i]);
    free(expected);
    free(is);
}

static void each_object_comes_before_those_that_it_dominates(void **state)
{
    (void)state;
    size_t large = 0, inner = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, seed % 3 == 0 ? NODES : 40);
        struct gcd_dominators *d;
        struct gcd_preorder *first = NULL;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        for (unsigned threads = 0; threads <= 4; threads += 2) {
            struct gcd_context context = { .threads = threads };
            struct gcd_preorder *p;
            assert_int_equal(gcd_preorder_new(g, d, threads > 0 ? &context : NULL, &p, &err),
                             GCD_OK);
            check_order(g, d, p, &large);
            check_types(g, d, p);
            for (uint32_t i = 0; i < p->count; i++)
                inner += p->objects[i].below > 1;
            if (first == NULL) {
                first = p;
                continue;
            }
            if (p->count > 0)
                assert_memory_equal(first->objects, p->objects, p->count * sizeof *p->objects);
            gcd_preorder_free(p);
        }
        gcd_preorder_free(first);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
    assert_true(large > 50 && inner > 500);
}

static void the_tree_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 300);
        struct gcd_dominators *d;
        struct gcd_merged_tree *own, *given;
        size_t n, m;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        struct gcd_merged_tree_options o = { .dominators = d, .stacks = true, .max_depth = 3 };
        assert_int_equal(gcd_merged_tree_heaviest(g, &o, &own, &err), GCD_OK);
        assert_int_equal(gcd_preorder_new(g, d, NULL, &o.preorder, &err), GCD_OK);
        assert_int_equal(gcd_merged_tree_heaviest(g, &o, &given, &err), GCD_OK);
        const struct gcd_merged_step *a = gcd_merged_tree_steps(own, &n),
                                     *b = gcd_merged_tree_steps(given, &m);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
            assert_true(a[i].parent == b[i].parent && a[i].label == b[i].label &&
                        a[i].count == b[i].count && a[i].bytes == b[i].bytes);
            assert_true(a[i].own_count == b[i].own_count && a[i].own_bytes == b[i].own_bytes);
        }
        gcd_merged_tree_free(own);
        gcd_merged_tree_free(given);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

/* Where the outermost dominator of one object begins is known without looking for any other. */
static void one_object_is_found(void **state)
{
    (void)state;
    size_t below = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 60);
        struct gcd_dominators *d;
        uint32_t n = gcd_graph_node_count(g), nodes[60], all[60], one;
        for (uint32_t i = 0; i < 60; i++)
            nodes[i] = i;
        assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
        for (uint32_t i = 0; i <= n; i++) { /* first all together */
            struct gcd_merged_tree_options o = {
                .dominators = d, .stacks = true, .find = nodes, .find_count = n, .ret_found = all
            };
            struct gcd_merged_tree *t;
            if (i > 0) {
                o.find = &nodes[i - 1];
                o.find_count = 1;
                o.ret_found = &one;
                below += gcd_dominators_parent(d, i - 1) < GCD_NODE_ROOT && all[i - 1] > 0;
            }
            assert_int_equal(gcd_merged_tree_heaviest(g, &o, &t, &err), GCD_OK);
            assert_true(i == 0 || one == all[i - 1]);
            gcd_merged_tree_free(t);
        }
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
    assert_true(below > 50);
}

/* Whatever fails, the order is given back. */
static gcd_status all_of_it(const struct gcd_graph *g, const struct gcd_dominators *d,
                            struct failalloc *f)
{
    struct gcd_merged_tree_options o = { .context.alloc = &f->alloc,
                                         .dominators = d,
                                         .stacks = true };
    struct gcd_merged_tree *t;
    uint64_t bytes[2000];
    assert_true(gcd_graph_summary(g)->type_count <= 2000);
    gcd_status st = gcd_preorder_new(g, d, &o.context, &o.preorder, &err);
    if (st != GCD_OK)
        return st;
    st = gcd_preorder_retained_by_type(o.preorder, bytes, &err);
    if (st != GCD_OK) {
        gcd_preorder_free(o.preorder);
        return st;
    }
    st = gcd_merged_tree_heaviest(g, &o, &t, &err);
    if (st == GCD_OK)
        gcd_merged_tree_free(t);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 60);
    struct gcd_dominators *d;
    gcd_status st = GCD_E_NOMEM;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    for (uint64_t at = 1; st != GCD_OK; at++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = at;
        err = (struct gcd_error)GCD_ERROR_INIT;
        st = all_of_it(g, d, &f);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_int_equal(err.code, st);
        assert_null(failalloc_complaint(&f));
    }
    gcd_preorder_free(NULL);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_object_comes_before_those_that_it_dominates),
        cmocka_unit_test(the_tree_is_the_same),
        cmocka_unit_test(one_object_is_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
