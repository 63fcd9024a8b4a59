/* What the page knows of single types, compared with a count of all pairs of objects; with a table
 * of all pairs of types and without. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/retained.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/graph_gen.h"
#include "write/html/html_data.h"

static struct gcd_error err = GCD_ERROR_INIT;
static const struct gcd_write_options plain;

/* The expected result for one type: held by another type, then by no single object, and by nothing.
 */
struct expected {
    uint32_t types;
    struct html_pair *lists[HTML_LISTS]; /* [types + 2] */
};

static uint32_t place_of(const struct expected *e, uint32_t holder)
{
    return holder == GCD_NODE_ROOT ? e->types : holder == GCD_NODE_NONE ? e->types + 1 : holder;
}

static void count(struct expected *e, unsigned list, uint32_t other, uint64_t bytes)
{
    struct html_pair *p = &e->lists[list][place_of(e, other)];
    p->type = other;
    p->count++;
    p->bytes = p->bytes + bytes >= bytes ? p->bytes + bytes : UINT64_MAX;
}

static void count_node(const struct html_data *h, struct expected *e, uint32_t node,
                       uint32_t wanted)
{
    const struct gcd_graph *g = h->g;
    uint32_t type = gcd_graph_node_type(g, node),
             parent = gcd_dominators_parent(h->dominators, node);
    uint32_t holder = parent < GCD_NODE_ROOT ? gcd_graph_node_type(g, parent) : parent;
    uint64_t bytes = parent == GCD_NODE_NONE ? gcd_graph_node_size(g, node)
                                             : gcd_dominators_retained(h->dominators, node);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
    if (type == wanted)
        count(e, HTML_ABOVE, holder, bytes);
    if (holder == wanted && type != wanted)
        count(e, HTML_BELOW, type, bytes);
    for (size_t i = 0; i < n && type == wanted; i++)
        count(e, HTML_REFS, gcd_graph_node_type(g, edges[i]), 0);
}

static int by_size(const void *x, const void *y)
{
    const struct html_pair *a = x, *b = y;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->count != b->count ? (a->count > b->count ? -1 : 1)
                                : (a->type > b->type) - (a->type < b->type);
}

static void check_detail(const struct html_data *h, const struct html_detail *d)
{
    struct expected e = { .types = gcd_graph_summary(h->g)->type_count };
    for (unsigned i = 0; i < HTML_LISTS; i++)
        e.lists[i] = calloc(e.types + 2, sizeof *e.lists[i]);
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++)
        count_node(h, &e, node, d->type);
    for (unsigned i = 0; i < HTML_LISTS; i++) {
        size_t n = 0;
        for (uint32_t k = 0; k < e.types + 2; k++)
            if (e.lists[i][k].count > 0)
                e.lists[i][n++] = e.lists[i][k];
        qsort(e.lists[i], n, sizeof *e.lists[i], by_size);
        assert_int_equal(d->lists[i].count, n < HTML_PAIRS ? n : HTML_PAIRS);
        for (size_t k = 0; k < d->lists[i].count; k++) {
            assert_int_equal(d->lists[i].items[k].type, e.lists[i][k].type);
            assert_int_equal(d->lists[i].items[k].count, e.lists[i][k].count);
            assert_true(d->lists[i].items[k].bytes == e.lists[i][k].bytes);
        }
        free(e.lists[i]);
    }
}

/* The largest objects of the type, and no smaller one. */
static void check_objects(const struct html_data *h, const struct html_detail *d)
{
    uint64_t least = UINT64_MAX;
    size_t larger = 0, all = 0;
    for (size_t i = 0; i < d->object_count; i++) {
        assert_int_equal(gcd_graph_node_type(h->g, d->objects[i].node), d->type);
        assert_true(i == 0 || d->objects[i].retained <= d->objects[i - 1].retained);
        least = d->objects[i].retained;
    }
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++) {
        bool alive = gcd_dominators_parent(h->dominators, node) != GCD_NODE_NONE;
        if (gcd_graph_node_type(h->g, node) != d->type)
            continue;
        all++;
        larger += (alive ? gcd_dominators_retained(h->dominators, node)
                         : gcd_graph_node_size(h->g, node)) > least;
    }
    assert_int_equal(d->object_count, all < HTML_OBJECTS ? all : HTML_OBJECTS);
    assert_true(larger < HTML_OBJECTS);
}

static void check_graph(const struct gcd_graph *g)
{
    struct html_data h;
    assert_int_equal(html_data_make(&h, g, &plain, &(struct html_role){ .start = "map" }, &err),
                     GCD_OK);
    assert_true(h.detail_count > 0 || gcd_graph_node_count(g) == 0);
    for (size_t i = 0; i < h.detail_count; i++) {
        check_detail(&h, &h.details[i]);
        check_objects(&h, &h.details[i]);
    }
    html_data_done(&h);
}

static void pairs_of_few_types(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, seed % 20 == 0 ? 1500 : 60);
        check_graph(g);
        gcd_graph_free(g);
    }
}

/* 1,000 types of 2 objects each: node I refers to three others further on, whose types follow from
 * I. */
static struct gcd_graph *many_types(void)
{
    enum { TYPES = 1000, NODES = 2 * TYPES };
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i < TYPES; i++)
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .id = i + 1, .name = "T", .module_path = "" },
                           &type, &err),
            GCD_OK);
    for (uint32_t i = 0; i < NODES; i++)
        assert_int_equal(gcd_build_node(b, 0, i * 7 % TYPES, 24 + i % 5 * 8, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t to[] = { i + 1, i + 1 + i % 13, i * 2 + 1 };
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (size_t k = 0; k < sizeof to / sizeof *to; k++)
            if (to[k] < NODES)
                assert_int_equal(gcd_build_edge_nodes(b, &to[k], 1, &err), GCD_OK);
    }
    struct gcd_root r = { .node = 0, .kind = GCD_ROOT_STACK, .name = "" };
    assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void pairs_of_many_types(void **state)
{
    (void)state;
    struct gcd_graph *g = many_types();
    check_graph(g);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_few_types),
        cmocka_unit_test(pairs_of_many_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
