/* The graph: its builder, its address index, and the way from a dump. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/writer.h>
#include <gcdumpc/unstable/graph/graph_memory.h>

#include "graph/graph_build.h"
#include "graph/graph_index.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

static uint32_t add_type(struct gcd_build *b, const char *name)
{
    uint32_t type;
    struct gcd_type t = { .name = name, .module_path = "" };
    assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    return type;
}

static struct gcd_build *new_build(bool keep_unknown)
{
    struct gcd_build *b;
    assert_int_equal(
        gcd_build_new(&(struct gcd_graph_options){ .keep_unknown = keep_unknown }, &b, &err),
        GCD_OK);
    assert_int_equal(add_type(b, "A"), 0);
    return b;
}

/* Odd addresses: two regions, the second below the first; large, misaligned and 4-aligned
 * addresses. */
static const uint64_t places[] = { 0x7f0000010000, 0x7f0000010018, 0x7f0000010020, 0x7f0000018000,
                                   0x7effff000008, 0x7effff000010, 0x7f0000010010, 0x7f0000010024,
                                   0x7f0000010029, 0x10,           UINT64_MAX - 7, 0x7f1000000000 };
#define PLACES (sizeof places / sizeof *places)

static struct gcd_graph *small_graph(bool keep_unknown)
{
    struct gcd_build *b = new_build(keep_unknown);
    struct gcd_graph *g;
    for (size_t i = 0; i < PLACES; i++)
        assert_int_equal(gcd_build_node(b, places[i], 0,
                                        i == 3   ? UINT64_C(5) << 32
                                        : i == 4 ? UINT32_MAX
                                                 : 24 + i,
                                        &err),
                         GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (size_t i = 0; i < PLACES; i++) {
        uint64_t to[3] = { places[(i + 1) % PLACES], 0x7f0000010008, places[i] };
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edges(b, to, i % 4, &err), GCD_OK);
    }
    struct gcd_root weak = { .node = 2, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK };
    struct gcd_root lost = { .node = GCD_NODE_NONE, .kind = GCD_ROOT_STATIC, .name = "lost" };
    assert_int_equal(gcd_build_root(b, &weak, &err), GCD_OK);
    assert_int_equal(gcd_build_root(b, &lost, &err), GCD_OK);
    assert_int_equal(gcd_build_dependent(b, 9, 1, &err), GCD_OK);
    assert_int_equal(gcd_build_dependent(b, 3, 2, &err), GCD_OK);
    assert_int_equal(gcd_build_dependent(b, 9, 0, &err), GCD_OK);
    assert_int_equal(gcd_build_dependent(b, GCD_NODE_NONE, 0, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void test_what_was_put_in_comes_out(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph(false);
    assert_int_equal(gcd_graph_node_count(g), PLACES);
    for (uint32_t i = 0; i < PLACES; i++) {
        struct gcd_node n;
        gcd_graph_node(g, i, &n);
        assert_int_equal(n.address, places[i]);
        assert_int_equal(gcd_graph_find(g, places[i]), i);
        assert_int_equal(n.size_bytes, i == 3 ? UINT64_C(5) << 32 : i == 4 ? UINT32_MAX : 24 + i);
        size_t wanted = i % 4 == 0 ? 0 : i % 4 == 3 ? 2 : 1; /* one of them is dangling */
        assert_int_equal(n.edge_count, wanted);
        if (wanted > 0)
            assert_int_equal(n.edges[0], (i + 1) % PLACES);
        if (wanted > 1)
            assert_int_equal(n.edges[1], i);
        for (uint32_t to = 0; to < PLACES; to++)
            assert_int_equal(gcd_graph_refers(g, i, to),
                             (to == (i + 1) % PLACES && wanted > 0) || (to == i && wanted > 1));
    }
    assert_int_equal(gcd_graph_find(g, 0x7f0000010008), GCD_NODE_NONE);
    assert_int_equal(gcd_graph_find(g, 0x7f0000010011), GCD_NODE_NONE);
    assert_int_equal(gcd_graph_find(g, 0), GCD_NODE_NONE);
    assert_int_equal(gcd_graph_notes(g)->edges_dangling, 6);
    assert_int_equal(gcd_graph_notes(g)->roots_dangling, 1);
    assert_int_equal(gcd_graph_notes(g)->dependents_dropped, 1);
    assert_int_equal(gcd_graph_summary(g)->root_count, 1);
    assert_int_equal(gcd_graph_summary(g)->roots[0].object, places[2]);
    assert_int_equal(gcd_root_group(&gcd_graph_summary(g)->roots[0]), GCD_GROUP_WEAK);
    assert_int_equal(gcd_graph_dependent_count(g), 3);
    assert_int_equal(gcd_graph_dependent(g, 0)->key, 3);
    assert_int_equal(gcd_graph_dependent(g, 1)->value, 1);
    assert_int_equal(gcd_graph_dependent(g, 2)->value, 0);
    assert_int_equal(gcd_graph_summary(g)->weak_roots, 1);
    assert_int_equal(gcd_graph_summary(g)->objects, PLACES);
    assert_int_equal(gcd_graph_node_size(g, 3), UINT64_C(5) << 32);
    gcd_graph_free(g);
}

static void test_columns_are_the_nodes(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph(true);
    uint32_t n = gcd_graph_node_count(g), types[PLACES + 1], edges[PLACES * 3];
    uint64_t addresses[PLACES + 1], sizes[PLACES + 1], starts[PLACES + 2];
    assert_int_equal(n, PLACES + 1);
    assert_true(gcd_graph_edge_count(g) <= PLACES * 3);
    gcd_graph_columns(g, &(struct gcd_graph_columns){ addresses, sizes, types, starts, edges });
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_node node;
        gcd_graph_node(g, i, &node);
        assert_int_equal(addresses[i], node.address);
        assert_int_equal(sizes[i], node.size_bytes);
        assert_int_equal(types[i], node.type);
        assert_int_equal(starts[i + 1] - starts[i], node.edge_count);
        assert_memory_equal(edges + starts[i], node.edges, node.edge_count * sizeof *edges);
    }
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[n], gcd_graph_edge_count(g));
    uint64_t alone[PLACES + 1];
    gcd_graph_columns(g, &(struct gcd_graph_columns){ .sizes_bytes = alone });
    assert_memory_equal(alone, sizes, sizeof sizes);
    gcd_graph_free(g);
}

static void test_the_unknown_node(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph(true);
    uint32_t unknown = gcd_graph_unknown(g);
    assert_int_equal(unknown, PLACES);
    assert_int_equal(gcd_graph_node_count(g), PLACES + 1);
    assert_int_equal(gcd_graph_node_address(g, unknown), 0);
    assert_int_equal(gcd_graph_node_size(g, unknown), 0);
    size_t n;
    assert_int_equal(gcd_graph_node_edges(g, 2, &n)[1], unknown);
    assert_int_equal(gcd_graph_summary(g)->roots[1].node, unknown);
    gcd_graph_free(g);

    struct gcd_build *b = new_build(true); /* nothing dangles, so the node does not exist */
    assert_int_equal(gcd_build_node(b, 8, 0, 24, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_int_equal(gcd_graph_node_count(g), 1);
    assert_int_equal(gcd_graph_summary(g)->type_count, 1);
    assert_int_equal(gcd_graph_unknown(g), GCD_NODE_NONE);
    gcd_graph_free(g);
}

/* More objects than share one base address, more references than one batch resolves, some by number
 * among those by address. */
static void test_references_keep_their_order(void **state)
{
    (void)state;
    enum { N = 9000, MOST = 7 };
    static uint32_t wanted[N * (MOST + 1)];
    /* none dangling, some, some to the unknown node */
    for (unsigned kind = 0; kind < 3; kind++) {
        struct gcd_build *b = new_build(kind == 2);
        struct gcd_graph *g;
        uint64_t seed = kind, dangling = 0;
        size_t count = 0, at = 0;
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(gcd_build_node(b, 0x10000 + 32 * (uint64_t)i, 0, 24, &err), GCD_OK);
        assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
            for (uint64_t n = run_random(&seed) % (MOST + 1); n > 0; n--) {
                uint32_t to = (uint32_t)(run_random(&seed) % N);
                bool lost = kind > 0 && run_random(&seed) % 5 == 0;
                uint64_t address = 0x10000 + 32 * (uint64_t)to + (lost ? 8 : 0);
                uint32_t number = lost ? GCD_NODE_NONE : to;
                if (run_random(&seed) % 50 == 0)
                    assert_int_equal(gcd_build_edge_nodes(b, &number, 1, &err), GCD_OK);
                else
                    assert_int_equal(gcd_build_edges(b, &address, 1, &err), GCD_OK);
                dangling += lost;
                if (!lost || kind == 2)
                    wanted[count++] = lost ? N : to;
            }
            wanted[count++] = i; /* to see where one object ends */
            assert_int_equal(gcd_build_edge_nodes(b, &i, 1, &err), GCD_OK);
        }
        assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
        assert_true(gcd_graph_notes(g)->edges_dangling == dangling &&
                    gcd_graph_edge_count(g) == count);
        for (uint32_t i = 0; i < N; i++) {
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
            assert_true(n > 0 && edges[n - 1] == i && at + n <= count);
            assert_memory_equal(edges, wanted + at, n * sizeof *edges);
            at += n;
        }
        assert_true(at == count);
        gcd_graph_free(g);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(false);
    struct gcd_graph *g;
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_int_equal(gcd_graph_node_count(g), 0);
    assert_int_equal(gcd_graph_find(g, 8), GCD_NODE_NONE);
    assert_true(gcd_graph_memory(g) > 0);
    gcd_graph_free(g);
    gcd_graph_free(NULL);
    gcd_build_free(NULL);
}

static void test_misuse_and_damage_are_refused(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(false);
    uint32_t far = 7;
    struct gcd_root root = { .node = 5, .kind = GCD_ROOT_STACK },
                    kind = { .node = 0, .kind = GCD_ROOT_ALL_KINDS };
    assert_int_equal(gcd_build_node(b, 8, 1, 24, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_E_STATE);
    assert_int_equal(gcd_build_node(b, 8, 0, 24, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, 0, 0, 24, &err), GCD_E_ARG);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_E_STATE);
    assert_int_equal(gcd_build_node(b, 16, 0, 24, &err), GCD_E_STATE);
    assert_int_equal(gcd_build_edge_nodes(b, &far, 1, &err), GCD_E_STATE);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, &far, 1, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_E_STATE);
    assert_int_equal(gcd_build_root(b, &root, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_root(b, &kind, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_dependent(b, 0, 1, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_reserve(b, UINT64_C(1) << 40, 0, &err), GCD_E_LIMIT);
    gcd_build_free(b);
}

static void test_made_up_addresses_differ(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(false);
    struct gcd_graph *g;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(gcd_build_node(b, 0, 0, i % 7 == 0 ? UINT64_MAX : i % 5, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_true(gcd_graph_notes(g)->addresses_made_up);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(gcd_graph_find(g, gcd_graph_node_address(g, i)), i);
    gcd_graph_free(g);
}

static void test_two_objects_at_one_address(void **state)
{
    (void)state;
    /* the last one without anything in between */
    static const uint64_t at[] = { 0x10000, 0x10008, 0x10000, 0x9001, 0x9001, 0x20000, 0x20000 };
    struct gcd_build *b = new_build(false);
    struct gcd_graph *g;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(gcd_build_node(b, at[i], 0, 24, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_int_equal(gcd_graph_notes(g)->objects_doubled, 3);
    assert_int_equal(gcd_graph_find(g, 0x20000), 5);
    assert_int_equal(gcd_graph_find(g, 0x10000), 0);
    assert_int_equal(gcd_graph_find(g, 0x9001), 3);
    assert_int_equal(gcd_graph_node_address(g, 2), 0x10000);
    gcd_graph_free(g);
}

/* Compared with a list: dense, sparse, descending, and so scattered that the pages run out. */
static void test_index_against_a_list(void **state)
{
    (void)state;
    enum { N = 20000 };
    static uint64_t at[N];
    for (unsigned kind = 0; kind < 4; kind++) {
        uint64_t seed = kind, address = UINT64_C(1) << 40;
        struct graph_index x;
        struct gcd_alloc a = { .resize = NULL };
        struct failalloc f;
        failalloc_init(&f);
        a = f.alloc;
        graph_index_init(&x, &a, 3);
        for (uint32_t i = 0; i < N; i++) {
            static const uint64_t steps[] = { 64, 1 << 14, 0, 1 << 24 };
            uint64_t step = 8 + 8 * (run_random(&seed) % (steps[kind] / 8 + 1));
            address = kind == 2 ? address - step : address + step;
            at[i] = address;
            assert_true(graph_index_add(&x, address, i));
        }
        assert_true(graph_index_finish(&x));
        for (uint32_t i = 0; i < N; i++) {
            uint32_t k = (uint32_t)(run_random(&seed) % N);
            assert_int_equal(graph_index_find(&x, at[k]), k);
            assert_int_equal(graph_index_find(&x, at[k] + 4), GCD_NODE_NONE);
        }
        uint64_t some[INDEX_BATCH];
        uint32_t nodes[INDEX_BATCH];
        for (uint32_t i = 0; i < INDEX_BATCH; i++)
            some[i] = at[i * (N / INDEX_BATCH)] + (i % 5 == 0 ? 4 : 0);
        graph_index_find_all(&x, some, INDEX_BATCH, nodes);
        for (uint32_t i = 0; i < INDEX_BATCH; i++)
            assert_int_equal(nodes[i], i % 5 == 0 ? GCD_NODE_NONE : i * (N / INDEX_BATCH));
        assert_true(graph_index_bytes(&x) < (uint64_t)N * 64 + 8 * (1 << 20));
        graph_index_done(&x);
        assert_null(failalloc_complaint(&f));
    }
}

static void test_index_takes_little_memory(void **state)
{
    (void)state;
    struct failalloc f;
    struct graph_index x;
    failalloc_init(&f);
    graph_index_init(&x, &f.alloc, 3);
    for (uint32_t i = 0; i < 1000000; i++)
        assert_true(graph_index_add(&x, 0x7f0000000000 + (uint64_t)i * 48, i));
    assert_true(graph_index_finish(&x));
    assert_true(graph_index_bytes(&x) < 3 * 1000000);
    graph_index_done(&x);
    assert_null(failalloc_complaint(&f));
}

static void test_every_allocation_fails_in_turn(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct failalloc f;
        uint64_t n = 0;
        do {
            failalloc_init(&f);
            f.fail_at = ++n;
            struct graph_gen o = { .seed = seed,
                                   .max_nodes = 40,
                                   .plain_names = true,
                                   .keep_unknown = true,
                                   .alloc = &f.alloc };
            struct gcd_graph *g = graph_gen(&o);
            gcd_graph_free(g);
            assert_null(failalloc_complaint(&f));
        } while (f.failed > 0);
        assert_true(n > 10);
    }
}

static void test_equal_is_not_always(void **state)
{
    (void)state;
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct gcd_graph *a = graph_gen_random(seed, 60), *b = graph_gen_random(seed, 60),
                         *c = graph_gen_random(seed + 1000, 60);
        assert_null(graph_eq(a, b, 0));
        different += graph_eq(a, c, 0) != NULL;
        gcd_graph_free(a);
        gcd_graph_free(b);
        gcd_graph_free(c);
    }
    assert_true(different > 45);
}

/* ---- from a dump ---- */

static void test_gclog_is_the_same_from_both(void **state)
{
    (void)state;
    const char *name;
    size_t n;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        struct gcd_input *in;
        struct gcd_dump *d;
        struct gcd_graph *g;
        struct gcd_sink *s, *t;
        struct gcd_write_notes a, b;
        size_t k, m;
        const struct gcd_format *f = gcd_format_by_name("gclog");
        assert_int_equal(gcd_input_from_memory(bytes, n, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_graph_from_dump(d, NULL, &g, &err), GCD_OK);
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
        assert_int_equal(gcd_sink_new_memory(NULL, &t, &err), GCD_OK);
        assert_int_equal(gcd_write(f, d, s, NULL, &a, &err), GCD_OK);
        assert_int_equal(gcd_write_graph(f, g, t, NULL, &b, &err), GCD_OK);
        assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
        assert_int_equal(gcd_sink_commit(t, &err), GCD_OK);
        const struct gcd_graph_notes *notes = gcd_graph_notes(g);
        const uint8_t *from_dump = gcd_sink_memory(s, &k), *from_graph = gcd_sink_memory(t, &m);
        if (notes->edges_dangling + notes->roots_dangling == 0) {
            assert_int_equal(k, m);
            assert_memory_equal(from_dump, from_graph, k);
        }
        assert_int_equal(a.objects, b.objects);
        assert_int_equal(a.edges, b.edges + notes->edges_dangling);
        assert_int_equal(gcd_dump_summary(d)->bytes, gcd_graph_summary(g)->bytes);
        assert_int_equal(gcd_dump_summary(d)->types_used, gcd_graph_summary(g)->types_used);
        if (notes->roots_dangling == 0)
            assert_int_equal(gcd_dump_summary(d)->statics, gcd_graph_summary(g)->statics);
        for (uint32_t type = 0; type < gcd_dump_summary(d)->type_count; type++)
            assert_int_equal(gcd_dump_summary(d)->types[type].objects,
                             gcd_graph_summary(g)->types[type].objects);
        gcd_sink_free(s);
        gcd_sink_free(t);
        gcd_dump_free(d); /* the graph no longer needs the dump */
        gcd_input_free(in);
        free(bytes);
        gcd_graph_free(g);
    }
}

static void test_dump_out_of_memory(void **state)
{
    (void)state;
    const char *name;
    size_t n;
    uint8_t *bytes = run_bundled(GCDUMPC_SOURCE, 0, &name, &n);
    struct gcd_input *in;
    struct gcd_dump *d;
    assert_int_equal(gcd_input_from_memory(bytes, n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
    for (uint64_t k = 1;; k++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = k;
        struct gcd_graph *g = NULL;
        gcd_status st = gcd_graph_from_dump(
            d, &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &g, &err);
        /* shrinking may fail silently */
        assert_int_equal(st, g == NULL ? GCD_E_NOMEM : GCD_OK);
        gcd_graph_free(g);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_dump_free(d);
    gcd_input_free(in);
    free(bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_in_comes_out),
        cmocka_unit_test(test_columns_are_the_nodes),
        cmocka_unit_test(test_the_unknown_node),
        cmocka_unit_test(test_references_keep_their_order),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_misuse_and_damage_are_refused),
        cmocka_unit_test(test_made_up_addresses_differ),
        cmocka_unit_test(test_two_objects_at_one_address),
        cmocka_unit_test(test_index_against_a_list),
        cmocka_unit_test(test_index_takes_little_memory),
        cmocka_unit_test(test_every_allocation_fails_in_turn),
        cmocka_unit_test(test_equal_is_not_always),
        cmocka_unit_test(test_gclog_is_the_same_from_both),
        cmocka_unit_test(test_dump_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
