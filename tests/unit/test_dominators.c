/* Dominators against graphs with known answers and against brute force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/dominators.h>
#include <gcdumpc/retained.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/cases.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define ROOT GCD_NODE_ROOT
#define NONE GCD_NODE_NONE

/* ---- small graphs; node I is of size 2^I ---- */

struct pair {
    uint32_t from, to;
};

struct small {
    uint32_t nodes;
    struct pair edges[16];     /* see pairs() */
    uint32_t roots[8];         /* node + 1; up to 0 */
    uint32_t locals[4];        /* the same, of local variables */
    struct pair dependents[8]; /* from key to value */
    uint32_t weak;             /* node + 1, 0 = none */
    uint32_t parents[10];
};

static struct gcd_graph *graph_of(uint32_t nodes, const struct pair *edges, size_t edge_count,
                                  const struct pair *dependents, size_t dependent_count,
                                  const struct gcd_root *roots, size_t root_count)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, &err),
        GCD_OK);
    for (uint32_t i = 0; i < nodes; i++)
        assert_int_equal(gcd_build_node(b, 0, type, UINT64_C(1) << (i % 63), &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (size_t e = 0; e < edge_count; e++)
            if (edges[e].from == i)
                assert_int_equal(gcd_build_edge_nodes(b, &edges[e].to, 1, &err), GCD_OK);
    }
    for (size_t i = 0; i < root_count; i++)
        assert_int_equal(gcd_build_root(b, &roots[i], &err), GCD_OK);
    for (size_t i = 0; i < dependent_count; i++)
        assert_int_equal(gcd_build_dependent(b, dependents[i].from, dependents[i].to, &err),
                         GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

/* { 0, 0 } ends a list, except at its start when more follows. */
static size_t pairs(const struct pair *p, size_t max)
{
    size_t n = p[0].from == 0 && p[0].to == 0 && (p[1].from != 0 || p[1].to != 0) ? 1 : 0;
    while (n < max && (p[n].from != 0 || p[n].to != 0))
        n++;
    return n;
}

static struct gcd_graph *small_graph(const struct small *s)
{
    struct gcd_root roots[12] = { { .name = "" } };
    size_t n = 0;
    for (; s->roots[n] != 0; n++)
        roots[n] = (struct gcd_root){ .node = s->roots[n] - 1, .kind = GCD_ROOT_HANDLE };
    for (size_t i = 0; s->locals[i] != 0; i++)
        roots[n++] = (struct gcd_root){ .node = s->locals[i] - 1, .kind = GCD_ROOT_STACK };
    if (s->weak != 0)
        roots[n++] = (struct gcd_root){ .node = s->weak - 1,
                                        .kind = GCD_ROOT_HANDLE,
                                        .flags = GCD_ROOT_WEAK };
    return graph_of(s->nodes, s->edges, pairs(s->edges, 16), s->dependents, pairs(s->dependents, 8),
                    roots, n);
}

static struct gcd_dominators *dominators_of(const struct gcd_graph *g)
{
    struct gcd_dominators *d;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    return d;
}

static const struct small known[] = {
    /* a diamond */
    { .nodes = 4,
      .edges = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } },
      .roots = { 1 },
      .parents = { ROOT, 0, 0, 0 } },
    /* two roots */
    { .nodes = 4,
      .edges = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 } },
      .roots = { 2, 3 },
      .parents = { NONE, ROOT, ROOT, ROOT } },
    /* a cycle through a root */
    { .nodes = 3,
      .edges = { { 0, 1 }, { 1, 2 }, { 2, 0 } },
      .roots = { 1 },
      .parents = { ROOT, 0, 1 } },
    { .nodes = 3,
      .edges = { { 0, 1 }, { 1, 2 }, { 2, 0 } },
      .roots = { 1, 3 },
      .parents = { ROOT, 0, ROOT } },
    /* without roots: pseudo-roots are objects that only themselves or weak handles refer to, and
       the first of a cycle */
    { .nodes = 3, .edges = { { 0, 1 }, { 1, 2 }, { 2, 1 } }, .parents = { ROOT, 0, 1 } },
    { .nodes = 5,
      .edges = { { 1, 1 }, { 1, 2 }, { 3, 4 }, { 4, 3 } },
      .weak = 3,
      .parents = { ROOT, ROOT, 1, ROOT, 3 } },
    { .nodes = 3, .edges = { { 0, 1 } }, .dependents = { { 0, 2 } }, .parents = { ROOT, 0, 0 } },
    { .nodes = 3, .edges = { { 2, 1 }, { 2, 2 } }, .parents = { ROOT, 2, ROOT } },
    /* an island */
    { .nodes = 4,
      .edges = { { 0, 1 }, { 2, 3 }, { 3, 2 } },
      .roots = { 1, 1 },
      .parents = { ROOT, 0, NONE, NONE } },
    /* self edges, double edges */
    { .nodes = 2,
      .edges = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 0, 1 } },
      .roots = { 1 },
      .parents = { ROOT, 0 } },
    /* weak roots keep nothing alive */
    { .nodes = 3,
      .edges = { { 0, 1 }, { 1, 2 } },
      .roots = { 2 },
      .weak = 1,
      .parents = { NONE, ROOT, 1 } },
    /* a live key holds its value */
    { .nodes = 3,
      .edges = { { 0, 1 } },
      .roots = { 1 },
      .dependents = { { 0, 2 } },
      .parents = { ROOT, 0, 0 } },
    /* a dead key keeps nothing alive */
    { .nodes = 3,
      .edges = { { 0, 1 } },
      .roots = { 1 },
      .dependents = { { 2, 1 } },
      .parents = { ROOT, 0, NONE } },
    /* a chain */
    { .nodes = 4,
      .edges = { { 0, 1 } },
      .roots = { 1 },
      .dependents = { { 1, 2 }, { 2, 3 } },
      .parents = { ROOT, 0, 1, 2 } },
    { .nodes = 3,
      .edges = { { 0, 1 }, { 0, 2 } },
      .roots = { 1 },
      .dependents = { { 1, 2 } },
      .parents = { ROOT, 0, 0 } },
    { .nodes = 4,
      .edges = { { 0, 3 } },
      .roots = { 1 },
      .dependents = { { 0, 1 }, { 0, 2 }, { 1, 3 } },
      .parents = { ROOT, 0, 0, 0 } },
    /* local variables do not count for what others reach, leaf or not, nor do those that others
       lead to */
    { .nodes = 4,
      .edges = { { 0, 1 }, { 1, 2 }, { 2, 3 } },
      .roots = { 1 },
      .locals = { 2, 4 },
      .parents = { ROOT, 0, 1, 2 } },
    { .nodes = 5,
      .edges = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 4, 1 }, { 4, 2 } },
      .roots = { 1 },
      .locals = { 5 },
      .parents = { ROOT, 0, 0, 1, ROOT } },
    { .nodes = 4,
      .edges = { { 2, 1 }, { 1, 0 }, { 2, 3 } },
      .locals = { 1, 2, 3 },
      .parents = { 1, 2, ROOT, 2 } },
    { .nodes = 3,
      .edges = { { 0, 1 }, { 1, 0 }, { 1, 2 } },
      .locals = { 1, 2, 2 },
      .parents = { ROOT, 0, 1 } },
    { .nodes = 3,
      .edges = { { 0, 2 }, { 1, 2 } },
      .locals = { 1, 2 },
      .parents = { ROOT, ROOT, ROOT } },
    /* the dominator is neither the parent nor the semidominator: 0 -> 1 -> 2 -> 3 -> 4, 0 -> 2, 1
       -> 4 */
    { .nodes = 5,
      .edges = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 0, 2 }, { 1, 4 } },
      .roots = { 1 },
      .parents = { ROOT, 0, 0, 2, 0 } },
    /* irreducible: two entries into a cycle */
    { .nodes = 4,
      .edges = { { 0, 1 }, { 0, 2 }, { 1, 2 }, { 2, 1 }, { 2, 3 } },
      .roots = { 1 },
      .parents = { ROOT, 0, 0, 2 } },
};

static void known_graphs_have_known_dominators(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct gcd_graph *g = small_graph(&known[i]);
        struct gcd_dominators *d = dominators_of(g);
        for (uint32_t n = 0; n < known[i].nodes; n++)
            if (gcd_dominators_parent(d, n) != known[i].parents[n])
                fail_msg("graph %zu, node %u: %u", i, (unsigned)n,
                         (unsigned)gcd_dominators_parent(d, n));
        gcd_dominators_free(d);
        gcd_graph_free(g);
    }
}

static void retained_sizes_are_sums_below(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph(&known[0]);
    struct gcd_dominators *d = dominators_of(g);
    assert_true(gcd_dominators_retained(d, 0) == 15);
    assert_true(gcd_dominators_retained(d, 1) == 2);
    assert_true(gcd_dominators_retained(d, GCD_NODE_ROOT) == 15);
    assert_int_equal(gcd_dominators_reachable(d), 4);
    gcd_dominators_free(d);
    gcd_graph_free(g);
    g = small_graph(&known[8]);
    d = dominators_of(g);
    assert_true(gcd_dominators_retained(d, 2) == 0);
    assert_true(gcd_dominators_retained(d, GCD_NODE_ROOT) == 3);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

/* A chain of three objects. */
static struct gcd_graph *chain_of(const uint64_t sizes[static 3])
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, &err),
        GCD_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(gcd_build_node(b, 0, type, sizes[i], &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t to = i + 1;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, &to, i < 2, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .node = 0 }, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

/* They are stored with as many bits as the sum of all objects needs. */
static void retained_sizes_of_all_widths(void **state)
{
    (void)state;
    for (unsigned width = 8; width <= 64; width++)
        for (uint64_t less = 0; less < 3; less++) {
            uint64_t all = (width < 64 ? UINT64_C(1) << width : 0) - less,
                     sizes[] = { 20, all / 3, all - all / 3 - 20 };
            if (width == 64 && less == 0)
                continue;
            struct gcd_graph *g = chain_of(sizes);
            struct gcd_dominators *d = dominators_of(g);
            assert_true(gcd_dominators_retained(d, 0) == all &&
                        gcd_dominators_retained(d, 1) == all - 20);
            assert_true(gcd_dominators_retained(d, 2) == sizes[2] &&
                        gcd_dominators_retained(d, GCD_NODE_ROOT) == all);
            uint64_t of_type;
            assert_int_equal(gcd_retained_by_type(g, d, NULL, &of_type, &err), GCD_OK);
            assert_true(of_type == all);
            gcd_dominators_free(d);
            gcd_graph_free(g);
        }
}

static void retained_sizes_saturate(void **state)
{
    (void)state;
    struct gcd_graph *g =
        chain_of((uint64_t[]){ UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_C(1) << 63 });
    struct gcd_dominators *d = dominators_of(g);
    assert_true(gcd_dominators_retained(d, 2) == UINT64_C(1) << 63);
    assert_true(gcd_dominators_retained(d, 1) == UINT64_MAX);
    assert_true(gcd_dominators_retained(d, 0) == UINT64_MAX);
    assert_true(gcd_dominators_retained(d, GCD_NODE_ROOT) == UINT64_MAX);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

/* ---- brute force ---- */

static bool has_strong_root(const struct gcd_graph *g)
{
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++)
        if ((gcd_graph_summary(g)->roots[i].flags & GCD_ROOT_WEAK) == 0)
            return true;
    return false;
}

/* D dominates N if and only if D is an ancestor of N in the tree. */
static void compare_with_brute_force(const struct gcd_graph *g, uint64_t seed)
{
    uint32_t n = gcd_graph_node_count(g);
    uint8_t *alive = malloc(n + 1), *seen = malloc(n + 1), *placed = calloc(n + 1, 1),
            *without = calloc(n + 1, 1);
    uint32_t *times = calloc(n + 1, sizeof *times), *depth = calloc(n + 1, sizeof *depth);
    assert_true(alive != NULL && seen != NULL && placed != NULL && without != NULL &&
                times != NULL && depth != NULL);
    struct gcd_dominators *d = dominators_of(g);
    size_t root_count;
    uint32_t *roots = graph_roots(g, &root_count);
    graph_mark(g, roots, root_count, NULL, alive);
    assert_int_equal(gcd_dominators_pseudo_roots(d), has_strong_root(g) ? 0 : root_count);
    uint32_t reachable = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        reachable += alive[i];
        uint64_t size = alive[i] ? gcd_graph_node_size(g, i) : 0;
        all = all > UINT64_MAX - size ? UINT64_MAX : all + size;
        assert_int_equal(alive[i], gcd_dominators_parent(d, i) != NONE);
    }
    assert_int_equal(gcd_dominators_reachable(d), reachable);
    assert_true(gcd_dominators_retained(d, ROOT) == all);
    const uint32_t *order = gcd_dominators_order(d);
    for (uint32_t i = 0; i < reachable; i++) { /* each once, after its parent */
        uint32_t parent = gcd_dominators_parent(d, order[i]);
        assert_true(alive[order[i]] && !placed[order[i]] && (parent == ROOT || placed[parent]));
        placed[order[i]] = 1;
        depth[order[i]] = parent == ROOT ? 0 : depth[parent] + 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t gone = 0;
        without[i] = 1;
        graph_live(g, without, seen);
        without[i] = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (!alive[k] || seen[k])
                continue;
            uint64_t size = gcd_graph_node_size(g, k);
            gone = gone > UINT64_MAX - size ? UINT64_MAX : gone + size;
            times[k] += k != i;
            uint32_t up = k;
            while (up != i && up != ROOT)
                up = gcd_dominators_parent(d, up);
            if (alive[i] && up != i)
                fail_msg("seed %llu: %u dominates %u", (unsigned long long)seed, (unsigned)i,
                         (unsigned)k);
        }
        if (gcd_dominators_retained(d, i) != (alive[i] ? gone : 0))
            fail_msg("seed %llu: retained size of %u", (unsigned long long)seed, (unsigned)i);
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(times[i], depth[i]); /* as many dominators as ancestors */
    gcd_dominators_free(d);
    free(alive);
    free(seen);
    free(placed);
    free(without);
    free(roots);
    free(times);
    free(depth);
}

/* A local variable (1) refers to a service (2), that to a table (3), that to N objects from 4 on,
 * and each of these to the service.  Another one (0) refers to as many, of which SHARED are the
 * same. */
static void copies_of(uint32_t n, uint32_t shared, bool copy_counts)
{
    static struct pair edges[600];
    size_t count = 0;
    edges[count++] = (struct pair){ 1, 2 };
    edges[count++] = (struct pair){ 2, 3 };
    for (uint32_t i = 0; i < n; i++) {
        edges[count++] = (struct pair){ 3, 4 + i };
        edges[count++] = (struct pair){ 4 + i, 2 };
        edges[count++] = (struct pair){ 0, 4 + i + n - shared };
    }
    struct gcd_root roots[] = { { .kind = GCD_ROOT_STACK, .node = 0 },
                                { .kind = GCD_ROOT_STACK, .node = 1 } };
    struct gcd_graph *g = graph_of(4 + 2 * n - shared, edges, count, NULL, 0, roots, 2);
    compare_with_brute_force(g, 0);
    struct gcd_dominators *d = dominators_of(g);
    assert_int_equal(gcd_dominators_parent(d, 2), copy_counts ? ROOT : 1);
    assert_int_equal(gcd_dominators_parent(d, 4 + n - 1), copy_counts ? ROOT : 3);
    assert_true(shared == n || gcd_dominators_parent(d, 4 + n) == 0);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void a_copy_of_a_collection_holds_nothing(void **state)
{
    (void)state;
    copies_of(64, 64, false);
    copies_of(63, 63, true); /* few */
    copies_of(80, 70, false);
    copies_of(80, 30, true);
}

static void random_graphs_agree_with_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES(4000); seed++) {
        struct gcd_graph *g = graph_gen(
            &(struct graph_gen){ .callbacks = seed % 12 == 0,
                                 .snapshots = seed % 24 == 1,
                                 .seed = seed,
                                 .max_nodes = seed % 10 == 0 ? 120 : 3 + (uint32_t)(seed % 40),
                                 .plain_names = true,
                                 .keep_unknown = seed % 3 == 0 });
        assert_non_null(g);
        compare_with_brute_force(g, seed);
        gcd_graph_free(g);
    }
}

/* One root, sparse and dense, few and many back edges: shapes that the general generator rarely
 * produces. */
static void flow_graphs_agree_with_brute_force(void **state)
{
    (void)state;
    uint64_t s = 7;
    for (uint64_t seed = 0; seed < CASES(4000); seed++) {
        static struct pair edges[400], dependents[8];
        uint32_t n = 2 + (uint32_t)(run_random(&s) % 40);
        size_t edge_count = n - 1 + (size_t)(run_random(&s) % (3 * n)),
               dependent_count = (size_t)(run_random(&s) % 8);
        bool local = run_random(&s) % 2 == 0;
        for (size_t i = 0; i < edge_count; i++) {
            uint32_t a = (uint32_t)(run_random(&s) % n), b = (uint32_t)(run_random(&s) % n);
            if (local)
                b = (a + n - 3 + b % 8) % n;
            edges[i] = i + 1 < n
                           ? (struct pair){ (uint32_t)(run_random(&s) % (i + 1)), (uint32_t)i + 1 }
                           : (struct pair){ a, b };
        }
        for (size_t i = 0; i < dependent_count; i++)
            dependents[i] =
                (struct pair){ (uint32_t)(run_random(&s) % n), (uint32_t)(run_random(&s) % n) };
        struct gcd_graph *g = graph_of(n, edges, edge_count, dependents, dependent_count,
                                       &(struct gcd_root){ .node = 0 }, 1);
        compare_with_brute_force(g, seed);
        gcd_graph_free(g);
    }
}

static void the_number_of_threads_does_not_matter(void **state)
{
    (void)state;
    static const unsigned threads[] = { 2, 8 };
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 12 == 0,
                                                             .snapshots = seed % 24 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 5000,
                                                             .plain_names = true });
        struct gcd_dominators *one = dominators_of(g);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            struct gcd_dominators *many;
            assert_int_equal(
                gcd_dominators_new(g, &(struct gcd_context){ .threads = threads[i] }, &many, &err),
                GCD_OK);
            assert_int_equal(gcd_dominators_reachable(one), gcd_dominators_reachable(many));
            assert_memory_equal(gcd_dominators_order(one), gcd_dominators_order(many),
                                gcd_dominators_reachable(one) * sizeof(uint32_t));
            assert_true(gcd_dominators_retained(one, ROOT) == gcd_dominators_retained(many, ROOT));
            for (uint32_t n = 0; n < gcd_graph_node_count(g); n++) {
                assert_int_equal(gcd_dominators_parent(one, n), gcd_dominators_parent(many, n));
                assert_true(gcd_dominators_retained(one, n) == gcd_dominators_retained(many, n));
            }
            gcd_dominators_free(many);
        }
        gcd_dominators_free(one);
        gcd_graph_free(g);
    }
}

/* ---- shapes that break recursive or quadratic code ---- */

/*
 * A list of N nodes, each with a reference back to the first, then a fan of N nodes that both the
 * last and the first node refer to: a walk up the list for each of them would take N * N steps.
 */
static void chain_with_shortcuts(bool leaves, bool list_first)
{
    const uint32_t n = 300000;
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, &err),
        GCD_OK);
    for (uint32_t i = 0; i < 2 * n; i++)
        assert_int_equal(gcd_build_node(b, 0, type, 1, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t next = i + 1, first = 0;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        if (i + 1 < n && (i > 0 || list_first))
            assert_int_equal(gcd_build_edge_nodes(b, &next, 1, &err), GCD_OK);
        if (i > 0 && i < n)
            assert_int_equal(gcd_build_edge_nodes(b, &first, 1, &err), GCD_OK);
        if (i == 0 || i + 1 == n)
            for (uint32_t to = n; to < 2 * n; to++)
                assert_int_equal(gcd_build_edge_nodes(b, &to, 1, &err), GCD_OK);
        if (i == 0 && !list_first)
            assert_int_equal(gcd_build_edge_nodes(b, &next, 1, &err), GCD_OK);
        if (i >= n && !leaves)
            assert_int_equal(gcd_build_edge_nodes(b, &i, 1, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .node = 0 }, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    struct gcd_dominators *d = dominators_of(g);
    for (uint32_t i = 1; i < 2 * n; i++)
        assert_true(gcd_dominators_parent(d, i) == (i < n ? i - 1 : 0));
    assert_true(gcd_dominators_retained(d, 0) == 2 * (uint64_t)n &&
                gcd_dominators_retained(d, 1) == n - 1);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void long_chains_with_shortcuts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        chain_with_shortcuts((i & 1) != 0, (i & 2) != 0);
}

static void every_allocation_may_fail_of(const struct small *small)
{
    struct gcd_graph *g = small_graph(small);
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_dominators *d = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_dominators_new(g, &(struct gcd_context){ .alloc = &f.alloc }, &d, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_int_equal(d != NULL, st == GCD_OK);
        gcd_dominators_free(d);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_graph_free(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    every_allocation_may_fail_of(&known[15]);
    every_allocation_may_fail_of(&known[5]); /* without roots */
}

struct calls {
    uint64_t last, total;
    unsigned count;
    gcd_cancel_flag stop;
    unsigned stop_at;
};

static void progress(void *ctx, uint64_t done, uint64_t total)
{
    struct calls *c = ctx;
    assert_true(done >= c->last && done <= total);
    c->last = done;
    c->total = total;
    if (++c->count == c->stop_at)
        atomic_store(&c->stop, true);
}

static void it_reports_progress_and_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 3, .max_nodes = 100, .plain_names = true });
    struct calls c = { .count = 0 };
    struct gcd_context o = { .progress = progress, .progress_ctx = &c, .cancel = &c.stop };
    struct gcd_dominators *d = NULL;
    assert_int_equal(gcd_dominators_new(g, &o, &d, &err), GCD_OK);
    assert_true(c.count > 0 && c.last == c.total && c.total > 0);
    gcd_dominators_free(d);
    unsigned calls = c.count;
    for (unsigned at = 1; at <= calls; at++) {
        c = (struct calls){ .stop_at = at };
        d = NULL;
        assert_int_equal(gcd_dominators_new(g, &o, &d, &err), GCD_E_CANCELED);
        assert_null(d);
    }
    gcd_graph_free(g);
}

static void an_empty_heap_has_none(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(0, NULL, 0, NULL, 0, NULL, 0);
    struct gcd_dominators *d = dominators_of(g);
    assert_int_equal(gcd_dominators_reachable(d), 0);
    assert_true(gcd_dominators_retained(d, GCD_NODE_ROOT) == 0);
    gcd_dominators_free(d);
    gcd_dominators_free(NULL);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_graphs_have_known_dominators),
        cmocka_unit_test(retained_sizes_are_sums_below),
        cmocka_unit_test(retained_sizes_of_all_widths),
        cmocka_unit_test(retained_sizes_saturate),
        cmocka_unit_test(a_copy_of_a_collection_holds_nothing),
        cmocka_unit_test(random_graphs_agree_with_brute_force),
        cmocka_unit_test(flow_graphs_agree_with_brute_force),
        cmocka_unit_test(the_number_of_threads_does_not_matter),
        cmocka_unit_test(long_chains_with_shortcuts),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_reports_progress_and_can_be_canceled),
        cmocka_unit_test(an_empty_heap_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
