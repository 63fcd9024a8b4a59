/* Shortest paths from the roots against a second computation. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/paths.h>
#include <gcdumpc/unstable/paths_around.h>

#include "support/check.h"
#include "support/cases.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

static void random_graphs_agree_with_relaxation(void **state)
{
    (void)state;
    uint32_t distance[64], got[64], from_late = 0;
    int tier[64];
    for (uint64_t seed = 0; seed < CASES(1500); seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 40,
                                                             .plain_names = true,
                                                             .keep_unknown = seed % 3 == 0 });
        struct gcd_paths *p;
        uint32_t n = gcd_graph_node_count(g), reachable = 0;
        assert_true(n <= 64);
        size_t root_count;
        uint32_t *roots = graph_roots(g, &root_count);
        for (uint32_t i = 0; i < n; i++) {
            distance[i] = UINT32_MAX - 1;
            tier[i] = 4;
        }
        for (size_t i = 0; i < root_count; i++) {
            distance[roots[i]] = 0;
            tier[roots[i]] = graph_root_tier(g, graph_root_of(g, roots[i]));
        }
        for (uint32_t round = 0; round < 3 * n;
             round++) /* Bellman-Ford: roots of lower rank first, then the shortest path */
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t k = 0; k < n; k++)
                    if ((tier[i] < tier[k] ||
                         (tier[i] == tier[k] && distance[i] + 1 < distance[k])) &&
                        distance[i] < n && graph_leads(g, i, k)) {
                        distance[k] = distance[i] + 1;
                        tier[k] = tier[i];
                    }
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        for (uint32_t i = 0; i < n; i++)
            reachable += distance[i] < n;
        assert_int_equal(gcd_paths_reachable(p), reachable);
        assert_true(gcd_paths_pseudo_roots(p) == 0 || gcd_paths_pseudo_roots(p) == root_count);
        for (uint32_t i = 0; i < reachable; i++) {
            uint32_t node = gcd_paths_order(p)[i], parent = gcd_paths_parent(p, node);
            assert_true(parent == GCD_NODE_ROOT || graph_leads(g, parent, node));
            got[node] = parent == GCD_NODE_ROOT ? 0 : got[parent] + 1;
            assert_int_equal(got[node], distance[node]);
            uint32_t before = i > 0 ? gcd_paths_order(p)[i - 1] : node;
            assert_true(tier[node] > tier[before] ||
                        (tier[node] == tier[before] && got[node] >= got[before]));
            from_late += tier[node] > 0;
            while (parent != GCD_NODE_ROOT) {
                node = parent;
                parent = gcd_paths_parent(p, node);
            }
            assert_true(gcd_paths_root(p, gcd_paths_order(p)[i]) == graph_root_of(g, node));
        }
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(gcd_paths_parent(p, i) == GCD_NODE_NONE, distance[i] >= n);
            if (distance[i] >= n)
                assert_true(gcd_paths_root(p, i) == SIZE_MAX);
        }
        free(roots);
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
    assert_true(from_late > 100); /* else the test shows nothing */
}

/* What the roots of TIER reach without a step from an object of TYPE, if that is in the same tier.
 */
static void reach_around(const struct gcd_graph *g, const int *tiers, int tier, uint32_t type,
                         bool *ret)
{
    uint32_t n = gcd_graph_node_count(g);
    size_t root_count;
    uint32_t *roots = graph_roots(g, &root_count);
    for (size_t i = 0; i < root_count; i++)
        ret[roots[i]] |=
            tiers[roots[i]] == tier && graph_root_tier(g, graph_root_of(g, roots[i])) == tier;
    for (uint32_t round = 0; round < n; round++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n && ret[i] && gcd_graph_node_type(g, i) != type; k++)
                ret[k] = ret[k] || (tiers[i] == tier && tiers[k] == tier && graph_leads(g, i, k));
    free(roots);
}

/* A path leads through another object of the type only if there is no other way. */
static void around_objects_of_a_type(void **state)
{
    (void)state;
    uint32_t met = 0, through_count = 0;
    for (uint64_t seed = 0; seed < CASES(1500); seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 40,
                                                             .plain_names = true });
        uint32_t n = gcd_graph_node_count(g), types = gcd_graph_summary(g)->type_count;
        if (n == 0) {
            gcd_graph_free(g);
            continue;
        }
        struct gcd_paths *p, *around;
        uint32_t type = gcd_graph_node_type(g, (uint32_t)(seed % n));
        uint8_t *wanted = calloc(types + 1, 1);
        wanted[type] = 1;
        int tiers[64];
        bool clean[64] = { false }, meet, again = false, through[64];
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        assert_int_equal(gcd_paths_around_new(g, wanted, NULL, &around, &err), GCD_OK);
        assert_int_equal(gcd_paths_reachable(p), gcd_paths_reachable(around));
        for (uint32_t i = 0; i < n; i++) {
            size_t root = gcd_paths_root(p, i);
            tiers[i] = gcd_paths_parent(p, i) == GCD_NODE_NONE ? 9
                       : root == SIZE_MAX                      ? 0
                                                               : graph_root_tier(g, root);
        }
        for (int tier = 0; tier < 4; tier++)
            reach_around(g, tiers, tier, type, clean);
        assert_int_equal(gcd_paths_meet(p, g, wanted, NULL, &meet, &err), GCD_OK);
        for (uint32_t i = 0; i < gcd_paths_reachable(around); i++) {
            uint32_t node = gcd_paths_order(around)[i], parent = gcd_paths_parent(around, node);
            assert_true(parent == GCD_NODE_ROOT || graph_leads(g, parent, node));
            through[node] = parent != GCD_NODE_ROOT &&
                            (through[parent] || gcd_graph_node_type(g, parent) == type);
            assert_int_equal(through[node], !clean[node]);
            through_count += through[node];
        }
        for (uint32_t i = 0; i < gcd_paths_reachable(p); i++) {
            uint32_t node = gcd_paths_order(p)[i], parent = gcd_paths_parent(p, node);
            through[node] = parent != GCD_NODE_ROOT &&
                            (through[parent] || gcd_graph_node_type(g, parent) == type);
            again = again || (through[node] && gcd_graph_node_type(g, node) == type);
        }
        assert_int_equal(meet, again);
        met += meet;
        free(wanted);
        gcd_paths_free(around);
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
    assert_true(met > 100 && through_count > 100);
}

/* A distant static variable, a queue that holds the object, and handles. */
static void late_roots_count_last(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1, .name = "Node" }),
        SHOP_NODES({ 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 }),
        SHOP_EDGES({ 0, 1 }, { 1, 2 }, { 2, 3 }, { 4, 3 }, { 4, 5 }),
        SHOP_ROOTS({ .node = 0, .kind = GCD_ROOT_STATIC, .name = "far" },
                   { .node = 2, .kind = GCD_ROOT_FINALIZER }, { .node = 3, .kind = GCD_ROOT_COM },
                   { .node = 4, .kind = GCD_ROOT_FINALIZER },
                   { .node = 4, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_REFCOUNTED },
                   { .node = 5, .kind = GCD_ROOT_FINALIZER },
                   { .node = 0, .kind = GCD_ROOT_STACK }) });
    static const uint32_t parents[] = { GCD_NODE_ROOT, 0, 1, 2, GCD_NODE_ROOT, 4 };
    static const size_t roots[] = { 0, 0, 0, 0, 4, 4 };
    struct gcd_paths *p;
    struct gcd_object_paths *all;
    struct gcd_object_path path;
    uint64_t more;
    assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(gcd_paths_parent(p, i), parents[i]);
        assert_int_equal(gcd_paths_root(p, i), roots[i]);
    }
    assert_int_equal(
        gcd_object_paths_new(g, p, &(struct gcd_object_paths_options){ .object = 4, .max = 9 },
                             &all, &err),
        GCD_OK);
    assert_int_equal(gcd_object_paths_count(all, &more), 2);
    /* the handle first, which comes later in the dump */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(gcd_object_paths_get(all, i, &path, &err), GCD_OK);
        assert_int_equal(path.root, i == 0 ? 4 : 3);
    }
    gcd_object_paths_free(all);
    gcd_paths_free(p);
    gcd_graph_free(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 3, .max_nodes = 40, .plain_names = true });
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_paths *p = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_paths_new(g, &(struct gcd_context){ .alloc = &f.alloc }, &p, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_int_equal(p != NULL, st == GCD_OK);
        gcd_paths_free(p);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_graph_free(g);
}

/* ---- beside dominators ---- */

static void they_are_the_same_beside_dominators(void **state)
{
    (void)state;
    static const unsigned threads[] = { 0, 2, 8 };
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 2000,
                                                             .plain_names = true });
        struct gcd_paths *alone, *p;
        struct gcd_dominators *dominators, *d;
        assert_int_equal(gcd_paths_new(g, NULL, &alone, &err), GCD_OK);
        assert_int_equal(gcd_dominators_new(g, NULL, &dominators, &err), GCD_OK);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            struct gcd_context o = { .threads = threads[i] };
            assert_int_equal(gcd_paths_with_dominators_new(g, &o, &d, &p, &err), GCD_OK);
            assert_int_equal(gcd_paths_reachable(alone), gcd_paths_reachable(p));
            assert_memory_equal(gcd_paths_order(alone), gcd_paths_order(p),
                                gcd_paths_reachable(p) * sizeof(uint32_t));
            for (uint32_t n = 0; n < gcd_graph_node_count(g); n++) {
                assert_int_equal(gcd_paths_parent(alone, n), gcd_paths_parent(p, n));
                assert_int_equal(gcd_dominators_parent(dominators, n), gcd_dominators_parent(d, n));
            }
            gcd_paths_free(p);
            gcd_dominators_free(d);
        }
        gcd_paths_free(alone);
        gcd_dominators_free(dominators);
        gcd_graph_free(g);
    }
}

static void every_allocation_may_fail_beside_dominators(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 3, .max_nodes = 40, .plain_names = true });
    for (unsigned threads = 1; threads <= 2; threads++)
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            struct gcd_paths *p = NULL;
            struct gcd_dominators *d = NULL;
            failalloc_init(&f);
            f.fail_at = at;
            struct gcd_context o = { .alloc = &f.alloc, .threads = threads };
            gcd_status st = gcd_paths_with_dominators_new(g, &o, &d, &p, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            assert_int_equal(err.code, st == GCD_OK ? err.code : GCD_E_NOMEM);
            assert_true((p != NULL) == (st == GCD_OK) && (d != NULL) == (st == GCD_OK));
            gcd_paths_free(p);
            gcd_dominators_free(d);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
    gcd_graph_free(g);
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 40);
    gcd_cancel_flag stop = true;
    struct gcd_paths *p = NULL;
    assert_int_equal(gcd_paths_new(g, &(struct gcd_context){ .cancel = &stop }, &p, &err),
                     GCD_E_CANCELED);
    assert_null(p);
    struct gcd_dominators *d = NULL;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct gcd_context o = { .cancel = &stop, .threads = threads };
        assert_int_equal(gcd_paths_with_dominators_new(g, &o, &d, &p, &err), GCD_E_CANCELED);
        assert_true(p == NULL && d == NULL);
    }
    gcd_graph_free(g);
}

/* ---- all that holds one object ---- */

static bool is_behind(const struct gcd_paths *p, uint32_t node, uint32_t object)
{
    while (node != GCD_NODE_ROOT && node != object)
        node = gcd_paths_parent(p, node);
    return node == object;
}

static size_t count_holds(const struct gcd_graph *g, const struct gcd_paths *p, uint32_t object)
{
    size_t n = gcd_paths_pseudo_roots(p) > 0 && gcd_paths_parent(p, object) == GCD_NODE_ROOT;
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++)
        n += gcd_graph_summary(g)->roots[i].node == object &&
             (gcd_graph_summary(g)->roots[i].flags & GCD_ROOT_WEAK) == 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++)
        n += gcd_paths_parent(p, i) != GCD_NODE_NONE && graph_refers(g, i, object) &&
             !is_behind(p, i, object);
    return n;
}

/* Every step is an edge of the graph, the root holds the last node, and the object occurs once. */
static void check_path(const struct gcd_graph *g, const struct gcd_paths *p, uint32_t object,
                       const struct gcd_object_path *path)
{
    assert_true(path->count > 0 && path->steps[0].node == object);
    for (size_t k = 0; k + 1 < path->count; k++) {
        uint32_t node = path->steps[k].node, by = path->steps[k + 1].node;
        assert_true(by != object && graph_refers(g, by, node));
        assert_true(path->steps[k].dependent == !gcd_graph_refers(g, by, node));
    }
    uint32_t last = path->steps[path->count - 1].node;
    assert_false(path->steps[path->count - 1].dependent);
    if (path->root != SIZE_MAX)
        assert_true(gcd_graph_summary(g)->roots[path->root].node == last &&
                    (gcd_graph_summary(g)->roots[path->root].flags & GCD_ROOT_WEAK) == 0);
    else
        assert_true(gcd_paths_pseudo_roots(p) > 0 && gcd_paths_parent(p, last) == GCD_NODE_ROOT);
}

static void paths_to_one_object(void **state)
{
    (void)state;
    size_t late = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 30,
                                                             .plain_names = true });
        struct gcd_paths *p;
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        for (uint32_t object = 0; object < gcd_graph_node_count(g); object++)
            for (uint32_t max = 0; max < 100; max += 33) {
                struct gcd_object_paths_options o = { .object = object, .max = max };
                struct gcd_object_paths *all;
                struct gcd_object_path path;
                uint64_t more;
                size_t before = 0, holds = count_holds(g, p, object);
                int before_rank = 0, before_part = 0;
                assert_int_equal(gcd_object_paths_new(g, p, &o, &all, &err), GCD_OK);
                size_t n = gcd_object_paths_count(all, &more);
                assert_true(n == (holds < max ? holds : max) && n + more == holds);
                for (size_t i = 0; i < n; i++) {
                    assert_int_equal(gcd_object_paths_get(all, i, &path, &err), GCD_OK);
                    check_path(g, p, object, &path);
                    /* roots that hold it directly, by rank; then by tier, within a tier by length;
                     * then late roots, if others reach it */
                    bool direct = path.count == 1 && path.root != SIZE_MAX;
                    int rank = path.count > 1 ? graph_root_tier(g, path.root)
                               : direct       ? graph_root_rank(g, path.root)
                                              : 0,
                        part = path.count > 1 ? 1
                               : direct && graph_root_tier(g, path.root) > 0 &&
                                       graph_root_tier(g, gcd_paths_root(p, object)) == 0
                                   ? 2
                                   : 0;
                    assert_true(
                        part > before_part ||
                        (part == before_part &&
                         (rank > before_rank || (rank == before_rank && path.count >= before))));
                    late += part == 2;
                    before_part = part;
                    before_rank = rank;
                    before = path.count;
                }
                gcd_object_paths_free(all);
            }
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
    assert_true(late > 100);
}

static void paths_to_one_object_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 40);
    struct gcd_paths *p;
    gcd_cancel_flag stop = true;
    struct gcd_object_paths *all = NULL;
    struct gcd_object_path path;
    assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
    uint32_t object = gcd_paths_order(p)[gcd_paths_reachable(p) - 1];
    struct gcd_object_paths_options o = { .object = object, .max = 10, .context.cancel = &stop };
    assert_int_equal(gcd_object_paths_new(g, p, &o, &all, &err), GCD_E_CANCELED);
    assert_null(all);
    o.context.cancel = NULL;
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = at;
        o.context.alloc = &f.alloc;
        all = NULL;
        gcd_status st = gcd_object_paths_new(g, p, &o, &all, &err);
        if (st == GCD_OK)
            st = gcd_object_paths_get(all, 0, &path, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        gcd_object_paths_free(all);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_paths_free(p);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_agree_with_relaxation),
        cmocka_unit_test(around_objects_of_a_type),
        cmocka_unit_test(late_roots_count_last),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(they_are_the_same_beside_dominators),
        cmocka_unit_test(every_allocation_may_fail_beside_dominators),
        cmocka_unit_test(it_can_be_canceled),
        cmocka_unit_test(paths_to_one_object),
        cmocka_unit_test(paths_to_one_object_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
