/* Objects that are given to the graph and its index many at a time: the same as one by one. */
#include <gcdumpc/unstable/graph/graph_memory.h>

#include "support/check.h"

#include "base/mem.h"
#include "graph/graph_build.h"
#include "graph/graph_impl.h"
#include "graph/graph_index.h"
#include "support/graph_gen.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- the index ---- */

#define SLOTS 3000u

/* Offsets of 4 bytes that mostly ascend; some twice, some lower than before, some on a page that
 * comes back. */
static void make_offsets(uint64_t *seed, uint32_t offsets[static SLOTS])
{
    uint32_t at = 1 << 20;
    for (size_t i = 0; i < SLOTS; i++) {
        uint64_t r = run_random(seed);
        if (r % 50 == 0)
            at -= (uint32_t)(r >> 8) % 4000;
        else if (r % 50 != 1)
            at += (r % 50 == 2 ? (uint32_t)(r >> 8) % 200000 : 1 + (uint32_t)(r >> 8) % 12) *
                  (r % 7 == 0 ? 1 : 2);
        offsets[i] = at;
    }
}

static void same_index(void **state)
{
    (void)state;
    static uint32_t offsets[SLOTS];
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    for (uint64_t run = 0; run < 200; run++) {
        uint64_t seed = run, base = UINT64_C(0x7f0000000000) + run % 3 * 4;
        unsigned shift = run % 2 == 0 ? 3 : 2;
        struct graph_index one, many;
        graph_index_init(&one, &a, shift);
        graph_index_init(&many, &a, shift);
        make_offsets(&seed, offsets);
        for (uint32_t i = 0; i < SLOTS; i++)
            assert_true(graph_index_add(&one, base + 4 * (uint64_t)offsets[i], i));
        for (uint32_t i = 0, n; i < SLOTS; i += n) {
            uint16_t near[500];
            uint32_t most = 1 + (uint32_t)(run_random(&seed) % 500);
            for (n = 0; n < most && i + n < SLOTS && offsets[i + n] >= offsets[i] &&
                        offsets[i + n] - offsets[i] <= UINT16_MAX;
                 n++)
                near[n] = (uint16_t)(offsets[i + n] - offsets[i]);
            assert_true(graph_index_add_run(&many, base + 4 * (uint64_t)offsets[i], near, n, i));
        }
        assert_int_equal(one.added, many.added);
        assert_int_equal(one.stray_count, many.stray_count);
        assert_int_equal(one.page_count, many.page_count);
        assert_true(graph_index_finish(&one) && graph_index_finish(&many));
        assert_int_equal(one.doubled, many.doubled);
        for (size_t i = 0; i < SLOTS; i++)
            for (uint64_t near = 0; near < 3; near++) {
                uint64_t address = base + 4 * (uint64_t)offsets[i] + 4 * near;
                assert_int_equal(graph_index_find(&one, address), graph_index_find(&many, address));
            }
        graph_index_done(&one);
        graph_index_done(&many);
    }
}

/* ---- the builder ---- */

#define OBJECTS 9000u /* more than two blocks of nodes */
#define TYPES   3u

static void make_objects(uint64_t *seed, struct gcd_object objects[static OBJECTS])
{
    uint64_t address = UINT64_C(1) << 32;
    for (size_t i = 0; i < OBJECTS; i++) {
        uint64_t r = run_random(seed);
        address += 8 * (1 + (r >> 8) % 20);
        if (r % 997 == 0)
            address += UINT64_C(20) << 32; /* too far for a run */
        if (r % 991 == 1)
            address -= UINT64_C(1) << 30;
        if (r % 983 == 2)
            address += 2; /* and no unit of 4 */
        uint64_t size = r % 499 == 0 ? (uint64_t)UINT16_MAX - 1 + r % 3 : 8 + (r >> 16) % 100;
        objects[i] = (struct gcd_object){ .address = address,
                                          .size_bytes = size,
                                          .edges = (r >> 24) % 4,
                                          .type = (uint32_t)(r >> 32) % TYPES };
    }
}

static struct gcd_build *new_build(const struct gcd_graph_options *options, uint64_t nodes,
                                   uint64_t edges)
{
    struct gcd_build *b;
    uint32_t type;
    assert_int_equal(gcd_build_new(options, &b, &err), GCD_OK);
    assert_int_equal(gcd_build_reserve(b, nodes, edges, &err), GCD_OK);
    for (size_t i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b,
                                        &(struct gcd_type){ .name = &"ABC"[i], .module_path = "" },
                                        &type, &err),
                         GCD_OK);
    return b;
}

static void put_targets(struct gcd_build *b, size_t node, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(
            gcd_build_edge_nodes(b, &(uint32_t){ (uint32_t)((node * 31 + i) % OBJECTS) }, 1, &err),
            GCD_OK);
}

static struct gcd_graph *one_by_one(const struct gcd_object *objects)
{
    struct gcd_graph *g;
    struct gcd_build *b = new_build(NULL, 0, 0);
    for (size_t i = 0; i < OBJECTS; i++)
        assert_int_equal(
            gcd_build_node(b, objects[i].address, objects[i].type, objects[i].size_bytes, &err),
            GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (size_t i = 0; i < OBJECTS; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        put_targets(b, i, objects[i].edges);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

/* RESERVED: so many objects are announced. */
static struct gcd_graph *in_blocks(const struct gcd_object *objects, uint64_t *seed,
                                   uint64_t reserved)
{
    struct gcd_graph *g;
    struct gcd_build *b = new_build(NULL, reserved, reserved);
    for (size_t i = 0, n; i < OBJECTS; i += n) {
        n = 1 + run_random(seed) % 600;
        n = n < OBJECTS - i ? n : OBJECTS - i;
        assert_int_equal(gcd_build_owners(b, objects + i, n, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (size_t i = 0; i < OBJECTS; i++)
        put_targets(b, i, objects[i].edges);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void same_graph(void **state)
{
    (void)state;
    static struct gcd_object objects[OBJECTS];
    static const uint64_t reserved[] = { 0, 100, OBJECTS, 2 * OBJECTS };
    for (uint64_t run = 0; run < 12; run++) {
        uint64_t seed = run;
        make_objects(&seed, objects);
        struct gcd_graph *one = one_by_one(objects),
                         *many = in_blocks(objects, &seed, reserved[run % 4]);
        assert_true(one->run_count > 10 && one->big_count > 5);
        assert_int_equal(one->run_count, many->run_count);
        for (uint32_t n = 0; n < OBJECTS; n++) {
            assert_int_equal(gcd_graph_node_address(many, n), objects[n].address);
            assert_int_equal(gcd_graph_node_size(many, n), objects[n].size_bytes);
        }
        const char *differs = graph_eq(one, many, 0);
        if (differs != NULL)
            fail_msg("run %u: %s", (unsigned)run, differs);
        gcd_graph_free(one);
        gcd_graph_free(many);
    }
}

/* The limit is reached, or a type does not exist, in the middle of a block. */
static void refusals(void **state)
{
    (void)state;
    static struct gcd_object objects[OBJECTS];
    static const size_t ats[] = { 0, 1, 255, 256, 4095, 4096, OBJECTS - 1 };
    uint64_t seed = 1;
    make_objects(&seed, objects);
    for (size_t k = 0; k < 2 * (sizeof ats / sizeof *ats); k++) {
        size_t at = ats[k / 2];
        const struct gcd_limits limits = { .objects = k % 2 == 0 ? at : 0 };
        uint32_t good = objects[at].type;
        struct gcd_build *b =
            new_build(&(struct gcd_graph_options){ .context.limits = &limits }, OBJECTS, OBJECTS);
        objects[at].type = k % 2 == 0 ? good : TYPES;
        /* 0 is no limit */
        gcd_status want = k % 2 != 0 ? GCD_E_FORMAT : at == 0 ? GCD_OK : GCD_E_LIMIT;
        assert_int_equal(gcd_build_owners(b, objects, OBJECTS, &err), want);
        assert_int_equal(gcd_build_node_count(b), want == GCD_OK ? OBJECTS : at);
        objects[at].type = good;
        gcd_build_free(b);
    }
}

/* Every reader announces the number of references; it is checked when they have arrived, and no sum
 * of them overflows. */
static void too_many_references(void **state)
{
    (void)state;
    static const uint64_t wrong[] = { UINT64_C(1) << 63, UINT64_MAX };
    struct gcd_object objects[] = { { .address = 8, .edges = UINT32_MAX }, { .address = 16 } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gcd_graph *g;
        struct gcd_build *b = new_build(NULL, 2, 0);
        objects[1].edges = wrong[i];
        assert_int_equal(gcd_build_owners(b, objects, 2, &err), GCD_E_FORMAT);
        gcd_build_free(b);
        b = new_build(NULL, 2, 0);
        objects[1].edges = wrong[i] / 2 - UINT32_MAX;
        assert_int_equal(gcd_build_owners(b, objects, 2, &err), GCD_OK);
        assert_int_equal(gcd_build_seal(b, &g, &err), GCD_E_STATE);
    }
}

/* ---- large arrays ---- */

/* Objects with more references than 16 bits can count: within a block of nodes, at its end, at its
 * beginning, alone and with others. */
static void make_arrays(struct gcd_object objects[static OBJECTS])
{
    static const struct {
        uint32_t node, edges;
    } arrays[] = { { 100, UINT16_MAX - 200 },
                   { 1300, UINT16_MAX },
                   { 1301, 1 },
                   { 3071, 70000 },
                   { 4096, 70000 },
                   { 4097, 70000 },
                   { 5120, UINT16_MAX + 1 },
                   { 7168, UINT16_MAX },
                   { 8998, UINT16_MAX + 1 },
                   { 8999, 2 } };
    uint64_t seed = 5;
    make_objects(&seed, objects);
    for (size_t i = 0; i < OBJECTS; i++)
        objects[i].edges = i < 1024 ? i % 2 : i % 3;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        objects[arrays[i].node].edges = arrays[i].edges;
}

/* Every reference says whose it is and which one; with HOLES, each fifth one is dangling. */
static void put_marked(struct gcd_build *b, uint64_t n, uint64_t *at, bool holes)
{
    static uint32_t targets[70000];
    for (uint64_t i = 0; i < n; i++, ++*at)
        targets[i] = holes && *at % 5 == 0 ? GCD_NODE_NONE : (uint32_t)(*at % OBJECTS);
    assert_int_equal(gcd_build_edge_nodes(b, targets, (size_t)n, &err), GCD_OK);
}

static void check_marked(const struct gcd_graph *g, const struct gcd_object *objects, bool holes)
{
    uint64_t at = 0;
    for (uint32_t node = 0; node < OBJECTS; node++) {
        size_t n, seen = 0;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        for (uint64_t i = 0; i < objects[node].edges; i++, at++)
            if (!holes || at % 5 != 0)
                assert_true(seen < n && edges[seen++] == at % OBJECTS);
        assert_int_equal(seen, n);
    }
}

static struct gcd_graph *graph_of_arrays(const struct gcd_object *objects, bool owners, bool holes)
{
    struct gcd_graph *g;
    uint64_t at = 0;
    struct gcd_build *b = new_build(NULL, owners ? OBJECTS : 0, 0);
    if (owners)
        assert_int_equal(gcd_build_owners(b, objects, OBJECTS, &err), GCD_OK);
    for (size_t i = 0; i < OBJECTS && !owners; i++)
        assert_int_equal(
            gcd_build_node(b, objects[i].address, objects[i].type, objects[i].size_bytes, &err),
            GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (size_t i = 0; i < OBJECTS; i++) {
        if (!owners)
            assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        put_marked(b, objects[i].edges, &at, holes);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void large_arrays(void **state)
{
    (void)state;
    static struct gcd_object objects[OBJECTS];
    make_arrays(objects);
    for (unsigned i = 0; i < 4; i++) {
        struct gcd_graph *g = graph_of_arrays(objects, (i & 1) != 0, (i & 2) != 0);
        assert_int_equal(g->starts.row_count, 6);
        assert_true(gcd_graph_memory(g) > 6 * (uint64_t)STARTS_NODES * sizeof(uint64_t));
        check_marked(g, objects, (i & 2) != 0);
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_index), cmocka_unit_test(same_graph),
                                        cmocka_unit_test(refusals),
                                        cmocka_unit_test(too_many_references),
                                        cmocka_unit_test(large_arrays) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
