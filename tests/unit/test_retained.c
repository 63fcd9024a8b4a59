/* Retained sizes of types and the largest objects, against known answers and brute force. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/retained.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/cases.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static struct gcd_dominators *dominators_of(const struct gcd_graph *g)
{
    struct gcd_dominators *d;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    return d;
}

/* ---- small graphs: node I is of size 2^I and of type TYPES[I] ---- */

struct pair {
    uint32_t from, to;
};

struct small {
    const char *types;           /* 'A' ... */
    struct pair edges[12];       /* each node one more than its number, up to { 0, 0 } */
    uint32_t roots[4];           /* node + 1 */
    uint32_t weak;               /* node + 1 */
    struct pair dependents[2];   /* node + 1 */
    uint64_t bound[3], exact[3]; /* of types A, B, C */
};

static struct gcd_graph *graph_of(const struct small *s)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type, n = (uint32_t)strlen(s->types);
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(
            gcd_build_type(b,
                           &(struct gcd_type){ .name = (const char *[]){ "A", "B", "C" }[i],
                                               .module_path = "" },
                           &type, &err),
            GCD_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(
            gcd_build_node(b, 0, (uint32_t)(s->types[i] - 'A'), UINT64_C(1) << i, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (size_t e = 0; s->edges[e].from != 0; e++)
            if (s->edges[e].from == i + 1)
                assert_int_equal(
                    gcd_build_edge_nodes(b, &(uint32_t){ s->edges[e].to - 1 }, 1, &err), GCD_OK);
    }
    for (size_t i = 0; s->roots[i] != 0; i++)
        assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .node = s->roots[i] - 1 }, &err),
                         GCD_OK);
    if (s->weak != 0)
        assert_int_equal(gcd_build_root(b,
                                        &(struct gcd_root){ .node = s->weak - 1,
                                                            .kind = GCD_ROOT_HANDLE,
                                                            .flags = GCD_ROOT_WEAK },
                                        &err),
                         GCD_OK);
    for (size_t i = 0; i < 2 && s->dependents[i].from != 0; i++)
        assert_int_equal(
            gcd_build_dependent(b, s->dependents[i].from - 1, s->dependents[i].to - 1, &err),
            GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static const struct small known[] = {
    /* a diamond: the two B hold C only together */
    { .types = "ABBC",
      .edges = { { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 } },
      .roots = { 1 },
      .bound = { 15, 6, 8 },
      .exact = { 15, 14, 8 } },
    /* a list: objects below another one of their type count once */
    { .types = "AAAB",
      .edges = { { 1, 2 }, { 2, 3 }, { 3, 4 } },
      .roots = { 1 },
      .bound = { 15, 8 },
      .exact = { 15, 8 } },
    /* A below B below A, and one A beside */
    { .types = "ABAA",
      .edges = { { 1, 2 }, { 2, 3 } },
      .roots = { 1, 4 },
      .bound = { 15, 6 },
      .exact = { 15, 6 } },
    /* a circle through the root */
    { .types = "ABC",
      .edges = { { 1, 2 }, { 2, 3 }, { 3, 1 } },
      .roots = { 1 },
      .bound = { 7, 6, 4 },
      .exact = { 7, 6, 4 } },
    /* an island, and an object that only a weak handle holds, retain nothing */
    { .types = "ABBC",
      .edges = { { 2, 3 }, { 3, 2 }, { 4, 1 } },
      .roots = { 1 },
      .weak = 4,
      .bound = { 1 },
      .exact = { 1 } },
    /* two roots into one object; references to oneself */
    { .types = "ABC",
      .edges = { { 1, 1 }, { 1, 3 }, { 2, 3 }, { 3, 3 } },
      .roots = { 1, 2 },
      .bound = { 1, 2, 4 },
      .exact = { 1, 2, 4 } },
    /* a value dies with its key; a dead key holds nothing */
    { .types = "ABCC",
      .edges = { { 1, 2 } },
      .roots = { 1 },
      .dependents = { { 2, 3 }, { 4, 1 } },
      .bound = { 7, 6, 4 },
      .exact = { 7, 6, 4 } },
};

static void known_graphs_have_known_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct gcd_graph *g = graph_of(&known[i]);
        struct gcd_dominators *d = dominators_of(g);
        uint64_t bound[3];
        assert_int_equal(gcd_retained_by_type(g, d, NULL, bound, &err), GCD_OK);
        for (uint32_t t = 0; t < 3; t++) {
            struct gcd_retained_set set;
            assert_int_equal(
                gcd_retained_set(g, (uint8_t[3]){ t == 0, t == 1, t == 2 }, NULL, &set, &err),
                GCD_OK);
            if (bound[t] != known[i].bound[t] || set.retained_bytes != known[i].exact[t])
                fail_msg("graph %zu, type %u: %llu, %llu", i, (unsigned)t,
                         (unsigned long long)bound[t], (unsigned long long)set.retained_bytes);
        }
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

/* ---- brute force ---- */

static void compare_set(const struct gcd_graph *g, const uint8_t *types, const uint8_t *alive,
                        uint64_t bound, bool single)
{
    uint32_t n = gcd_graph_node_count(g);
    uint8_t *without = malloc(n + 1), *seen = malloc(n + 1);
    struct gcd_retained_set want = { 0 }, got;
    for (uint32_t i = 0; i < n; i++)
        without[i] = types[gcd_graph_node_type(g, i)];
    graph_live(g, without, seen);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t size = gcd_graph_node_size(g, i);
        want.objects += alive[i] && without[i];
        want.bytes = add(want.bytes, alive[i] && without[i] ? size : 0);
        want.retained_objects += alive[i] && !seen[i];
        want.retained_bytes = add(want.retained_bytes, alive[i] && !seen[i] ? size : 0);
    }
    assert_int_equal(gcd_retained_set(g, types, NULL, &got, &err), GCD_OK);
    assert_memory_equal(&got, &want, sizeof got);
    assert_true(!single || (bound <= got.retained_bytes && bound >= got.bytes));
    free(without);
    free(seen);
}

static void compare_bound(const struct gcd_graph *g, const struct gcd_dominators *d, uint32_t type,
                          uint64_t got)
{
    uint64_t want = 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        uint32_t up = gcd_dominators_parent(d, i);
        if (gcd_graph_node_type(g, i) != type || up == GCD_NODE_NONE)
            continue;
        while (up != GCD_NODE_ROOT && gcd_graph_node_type(g, up) != type)
            up = gcd_dominators_parent(d, up);
        if (up == GCD_NODE_ROOT)
            want = add(want, gcd_dominators_retained(d, i));
    }
    assert_true(got == want);
}

static void random_graphs_agree_with_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES(800); seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 3 + (uint32_t)(seed % 50),
                                                             .plain_names = true,
                                                             .keep_unknown = seed % 3 == 0 });
        uint32_t types = gcd_graph_summary(g)->type_count;
        uint64_t *bound = calloc(types + 1, sizeof *bound), s = seed;
        uint8_t *set = calloc(types + 1, 1), *alive = malloc(gcd_graph_node_count(g) + 1);
        size_t root_count;
        uint32_t *roots = graph_roots(g, &root_count);
        struct gcd_dominators *d = dominators_of(g);
        graph_mark(g, roots, root_count, NULL, alive);
        assert_int_equal(gcd_retained_by_type(g, d, NULL, bound, &err), GCD_OK);
        for (uint32_t t = 0; t < types; t++) {
            compare_bound(g, d, t, bound[t]);
            set[t] = 1;
            compare_set(g, set, alive, bound[t], true);
            set[t] = 0;
        }
        for (uint32_t t = 0; t < types; t++)
            set[t] = run_random(&s) % 2 == 0;
        compare_set(g, set, alive, 0, false);
        free(bound);
        free(set);
        free(alive);
        free(roots);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

/* Types in pairs, except the last one. */
static void add_up_classes(const struct gcd_graph *g, unsigned threads, uint64_t *ret_types,
                           uint64_t *ret_classes)
{
    uint32_t types = gcd_graph_summary(g)->type_count, *class = calloc(types + 1, sizeof *class);
    struct gcd_dominators *d;
    assert_int_equal(gcd_dominators_new(g, &(struct gcd_context){ .threads = threads }, &d, &err),
                     GCD_OK);
    for (uint32_t t = 0; t < types; t++)
        class[t] = t + 1 < types ? t / 2 : GCD_CLASS_NONE;
    assert_int_equal(gcd_retained_by_type(g, d, NULL, ret_types, &err), GCD_OK);
    struct gcd_type_classes classes = { .of_type = class, .count = types };
    assert_int_equal(gcd_retained_by_class(g, d, &classes, NULL, ret_classes, &err), GCD_OK);
    for (uint32_t t = 0; t < types && gcd_graph_node_count(g) < 500; t++)
        compare_bound(g, d, t, ret_types[t]);
    gcd_dominators_free(d);
    free(class);
}

static void the_number_of_threads_does_not_matter(void **state)
{
    (void)state;
    static const unsigned threads[] = { 2, 8 };
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct gcd_graph *g =
            graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                           .snapshots = seed % 4 == 1,
                                           .seed = seed,
                                           .max_nodes = seed % 2 == 0 ? 5000 : 400,
                                           .plain_names = true });
        uint64_t bytes[2][2][64];
        size_t used = gcd_graph_summary(g)->type_count * sizeof ***bytes;
        assert_in_range(gcd_graph_summary(g)->type_count, 0, 64);
        add_up_classes(g, 1, bytes[0][0], bytes[0][1]);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            add_up_classes(g, threads[i], bytes[1][0], bytes[1][1]);
            assert_memory_equal(bytes[0][0], bytes[1][0], used);
            assert_memory_equal(bytes[0][1], bytes[1][1], used);
        }
        gcd_graph_free(g);
    }
}

static const struct gcd_dominators *order_by;

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t rx = gcd_dominators_retained(order_by, x), ry = gcd_dominators_retained(order_by, y);
    return rx != ry ? (rx < ry ? 1 : -1) : (x > y) - (x < y);
}

static void the_largest_objects_are_the_largest(void **state)
{
    (void)state;
    uint64_t s = 5;
    for (uint64_t seed = 0; seed < CASES(1500); seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 60,
                                                             .plain_names = true,
                                                             .plain_sizes = true });
        uint32_t n = gcd_graph_node_count(g), count = 0,
                 room = (uint32_t)(run_random(&s) % (n + 3)), got_count = room;
        uint32_t *want = malloc((n + 3) * sizeof *want), *got = malloc((n + 3) * sizeof *got);
        uint8_t *types = calloc(gcd_graph_summary(g)->type_count + 1, 1);
        struct gcd_dominators *d = dominators_of(g);
        bool all = run_random(&s) % 2 == 0;
        uint64_t min = run_random(&s) % 3 == 0 ? run_random(&s) % 1000 : 0;
        for (uint32_t t = 0; t < gcd_graph_summary(g)->type_count; t++)
            types[t] = run_random(&s) % 3 > 0;
        for (uint32_t i = 0; i < n; i++)
            if (gcd_dominators_parent(d, i) != GCD_NODE_NONE &&
                (all || types[gcd_graph_node_type(g, i)]) && gcd_dominators_retained(d, i) >= min)
                want[count++] = i;
        order_by = d;
        qsort(want, count, sizeof *want, compare_nodes);
        gcd_retained_largest(g, d, all ? NULL : types, min, got, &got_count);
        assert_int_equal(got_count, count < room ? count : room);
        assert_memory_equal(got, want, got_count * sizeof *got);
        free(want);
        free(got);
        free(types);
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

/* ---- what may go wrong ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(&known[6]);
    struct gcd_dominators *d = dominators_of(g);
    for (int which = 0; which < 2; which++)
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            uint64_t bound[3];
            struct gcd_retained_set set = { .objects = 99 };
            failalloc_init(&f);
            f.fail_at = at;
            gcd_status st =
                which == 0
                    ? gcd_retained_by_type(g, d, &f.alloc, bound, &err)
                    : gcd_retained_set(g, (uint8_t[3]){ 1 },
                                       &(struct gcd_context){ .alloc = &f.alloc }, &set, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            assert_true(which == 0 || (set.objects == 99) == (st != GCD_OK));
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(&known[0]);
    gcd_cancel_flag stop = true;
    struct gcd_retained_set set;
    assert_int_equal(gcd_retained_set(g, (uint8_t[3]){ 1 },
                                      &(struct gcd_context){ .cancel = &stop }, &set, &err),
                     GCD_E_CANCELED);
    gcd_graph_free(g);
}

static void an_empty_heap_retains_nothing(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(&(struct small){ .types = "" });
    struct gcd_dominators *d = dominators_of(g);
    uint64_t bound[3] = { 1, 1, 1 };
    uint32_t n = 4, nodes[4];
    struct gcd_retained_set set;
    assert_int_equal(gcd_retained_by_type(g, d, NULL, bound, &err), GCD_OK);
    assert_true(bound[0] == 0 && bound[2] == 0);
    assert_int_equal(gcd_retained_set(g, (uint8_t[3]){ 1, 1, 1 }, NULL, &set, &err), GCD_OK);
    assert_true(set.retained_objects == 0 && set.retained_bytes == 0);
    gcd_retained_largest(g, d, NULL, 0, nodes, &n);
    assert_int_equal(n, 0);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_graphs_have_known_sizes),
        cmocka_unit_test(random_graphs_agree_with_brute_force),
        cmocka_unit_test(the_number_of_threads_does_not_matter),
        cmocka_unit_test(the_largest_objects_are_the_largest),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_canceled),
        cmocka_unit_test(an_empty_heap_retains_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
