/* The places of references in a graph: random objects, compared with plain lists. */
#include "support/check.h"

#include <stdlib.h>

#include <gcdumpc/unstable/graph/graph_places.h>

#include "graph/graph_build.h"
#include "graph/graph_places.h"

#define NODES     300u
#define EDGES_MAX 4000u
#define NOWHERE   UINT64_C(0x8) /* an address without an object */

static struct gcd_error err;
static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

/* A heap as it is put in, and as it should come out. */
struct heap {
    uint64_t targets[EDGES_MAX];
    uint32_t put[EDGES_MAX]; /* as gcd_clr_edge_place */
    uint32_t expect[EDGES_MAX];
    size_t first[NODES + 1]; /* the references of each object */
};

/* Few objects have gaps, as in real heaps; some have a gap that needs more than 16 bits. */
static void invent(struct heap *h)
{
    size_t n = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t follows = 0, edges = below(node % 50 == 0 ? 200 : 8), gaps = below(3);
        h->first[node] = n;
        for (uint32_t i = 0; i < edges && n < EDGES_MAX; i++, n++) {
            bool unplaced = i == 0 && below(20) == 0;
            uint32_t gap = gaps > 0 && below(3) == 0 ? 1 + below(below(50) == 0 ? 100000 : 5) : 0,
                     place = follows + gap;
            h->targets[n] = below(15) == 0 ? NOWHERE : 0x10000 + 24 * (uint64_t)below(NODES);
            h->expect[n] = unplaced ? GCD_PLACE_NONE : place;
            bool told = i > 0 && h->put[n - 1] == GCD_BUILD_UNPLACED;
            h->put[n] = unplaced                    ? GCD_BUILD_UNPLACED
                        : place == follows && !told ? GCD_BUILD_FOLLOWS
                                                    : place + 1;
            follows = unplaced ? 0 : place + 1;
        }
    }
    h->first[NODES] = n;
}

static struct gcd_graph *build(const struct heap *h, bool owners, bool keep_unknown)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(
        gcd_build_new(&(struct gcd_graph_options){ .keep_unknown = keep_unknown }, &b, &err),
        GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, &err),
        GCD_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        struct gcd_object o = { .address = 0x10000 + 24 * (uint64_t)i,
                                .size_bytes = 24,
                                .edges = h->first[i + 1] - h->first[i] };
        assert_int_equal(owners ? gcd_build_owners(b, &o, 1, &err)
                                : gcd_build_node(b, o.address, 0, o.size_bytes, &err),
                         GCD_OK);
    }
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    size_t all = h->first[NODES];
    for (size_t at = 0, n; owners && at < all; at += n) { /* as events cut them */
        n = 1 + below(700);
        n = n < all - at ? n : all - at;
        assert_int_equal(gcd_build_placed_edges(b, h->targets + at, h->put + at, n, &err), GCD_OK);
    }
    for (uint32_t i = 0; !owners && i < NODES; i++) {
        size_t first = h->first[i], n = h->first[i + 1] - first, half = n / 2;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_placed_edges(b, h->targets + first, h->put + first, half, &err),
                         GCD_OK);
        assert_int_equal(gcd_build_placed_edges(b, h->targets + first + half, h->put + first + half,
                                                n - half, &err),
                         GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void test_places_come_out_as_they_were_put_in(void **state)
{
    static struct heap h;
    unsigned seen = 0, wide = 0, none = 0;
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        seed = round;
        invent(&h);
        bool keep_unknown = round % 2 == 1;
        struct gcd_graph *g = build(&h, round % 4 < 2, keep_unknown);
        assert_true(gcd_graph_has_places(g));
        for (uint32_t node = 0; node < NODES; node++) {
            size_t kept = 0;
            for (size_t i = h.first[node]; i < h.first[node + 1]; i++) {
                if (h.targets[i] == NOWHERE && !keep_unknown)
                    continue; /* was dropped */
                assert_int_equal(gcd_graph_edge_place(g, node, kept++), h.expect[i]);
                seen++;
                none += h.expect[i] == GCD_PLACE_NONE;
                wide += h.expect[i] != GCD_PLACE_NONE && h.expect[i] > UINT16_MAX;
            }
        }
        gcd_graph_free(g);
    }
    assert_true(seen > 20000 && wide > 100 && none > 100);
}

/* References without places leave a graph without places, not with wrong ones. */
static void test_places_of_all_or_of_none(void **state)
{
    (void)state;
    for (unsigned both = 0; both < 2; both++) {
        struct gcd_build *b;
        struct gcd_graph *g;
        uint32_t type, place = 4;
        uint64_t to = 0x10000;
        assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, &err),
            GCD_OK);
        assert_int_equal(gcd_build_node(b, to, 0, 24, &err), GCD_OK);
        assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_placed_edges(b, &to, &place, 1, &err), GCD_OK);
        assert_int_equal(gcd_build_placed_edges(b, &to, both ? &place : NULL, 1, &err), GCD_OK);
        assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
        assert_int_equal(gcd_graph_has_places(g), both);
        assert_int_equal(gcd_graph_edge_place(g, 0, 0), both ? 3 : GCD_PLACE_NONE);
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_come_out_as_they_were_put_in),
        cmocka_unit_test(test_places_of_all_or_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
