/* Equal strings as a suspect: counts, bytes, what holds them; nothing without values. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/suspect_checks.h>

#include "graph/graph_build.h"
#include "values/values.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define COUNTRIES 1000u
#define SPANS     2000u
#define BYTES     100u

enum { LIST, COUNTRY, REGION, SPAN, STRING, TYPES };

struct heap {
    struct gcd_graph *graph;
    struct gcd_dominators *dominators;
    struct gcd_fields *fields;
    struct gcd_values *values;
};

static uint64_t address_of(uint32_t node)
{
    return 0x1000 + 64 * (uint64_t)node;
}

static void add_node(struct gcd_build *b, uint32_t node, uint32_t type, uint64_t bytes)
{
    assert_int_equal(gcd_build_node(b, address_of(node), type, bytes, &err), GCD_OK);
}

/* A list of countries and regions, each with a name; every third is a region, with the same text.
 * Most of the other names are one of ten texts, the rest are different.  Spans refer to a few of
 * these names. */
static uint32_t text_of(uint32_t i)
{
    return i % 3 == 0 ? 0 : i % 4 > 0 ? 1 + i % 10 : 100 + i;
}

static struct heap make_heap(void)
{
    static const struct gcd_type types[TYPES] = {
        { .name = "Shop.Country[]", .module_path = "", .layout = "v 9\n1 " },
        { .name = "Shop.Country", .module_path = "", .layout = "o 1\n2 Name" },
        { .name = "Shop.Region", .module_path = "", .layout = "o 1\n2 Code" },
        { .name = "Shop.Span", .module_path = "", .layout = "o 3\n2 File" },
        { .name = "System.String",
          .raw_name = "System.String",
          .module_path = "",
          .layout = "o 2" },
    };
    struct heap h = { .graph = NULL };
    struct gcd_values_options options = { .kind = GCD_VALUES_HASHES };
    struct gcd_build *b;
    uint32_t type, nodes[COUNTRIES];
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(values_new(NULL, NULL, &options, &h.values, &err), GCD_OK);
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    add_node(b, 0, LIST, 24 + 8 * COUNTRIES);
    for (uint32_t i = 0; i < COUNTRIES; i++) {
        struct values_content c = { .hash = text_of(i), .length = 26 };
        add_node(b, 1 + 2 * i, i % 3 == 0 ? REGION : COUNTRY, 24);
        add_node(b, 2 + 2 * i, STRING, BYTES);
        assert_int_equal(values_add(h.values, address_of(2 + 2 * i), 0, &c, &err), GCD_OK);
        nodes[i] = 1 + 2 * i;
    }
    for (uint32_t i = 0; i < SPANS; i++)
        add_node(b, 1 + 2 * COUNTRIES + i, SPAN, 24);
    assert_int_equal(values_sort(h.values, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, nodes, COUNTRIES, &err), GCD_OK);
    for (uint32_t i = 0; i < COUNTRIES; i++) {
        uint32_t name = 2 + 2 * i;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, &name, 1, &err), GCD_OK);
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < SPANS; i++) {
        uint32_t name = 2 + 2 * (i % 100);
        struct gcd_root span = { .object = address_of(1 + 2 * COUNTRIES + i),
                                 .name = "",
                                 .class_name = "",
                                 .label = "",
                                 .type = GCD_TYPE_NONE,
                                 .kind = GCD_ROOT_HANDLE };
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, &name, 1, &err), GCD_OK);
        assert_int_equal(gcd_build_root(b, &span, &err), GCD_OK);
    }
    struct gcd_root r = { .object = address_of(0),
                          .name = "s_all",
                          .class_name = "Shop.Countries",
                          .label = "",
                          .type = LIST,
                          .kind = GCD_ROOT_STATIC };
    assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(h.graph, NULL, &h.dominators, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_fields_free(h->fields);
    gcd_dominators_free(h->dominators);
    gcd_graph_free(h->graph);
    values_free(h->values);
}

static struct gcd_suspects *suspects_of(const struct heap *h, const struct gcd_values *values,
                                        uint64_t min_bytes)
{
    struct gcd_suspects *s;
    struct gcd_suspects_options o = { .min_bytes = min_bytes,
                                      .fields = h->fields,
                                      .values = values };
    assert_int_equal(gcd_suspects_new(h->graph, h->dominators, &o, &s, &err), GCD_OK);
    return s;
}

static const struct gcd_suspect *duplicates_of(const struct gcd_suspects *s)
{
    for (size_t i = 0; i < gcd_suspects_count(s); i++)
        if (gcd_suspects_get(s, i)->kind == GCD_SUSPECT_DUPLICATES)
            return gcd_suspects_get(s, i);
    return NULL;
}

static void test_copies_are_counted_with_what_holds_most(void **state)
{
    (void)state;
    struct heap h = make_heap();
    uint64_t counts[2 * COUNTRIES] = { 0 }, copies = 0, countries = 0;
    for (uint32_t i = 0; i < COUNTRIES; i++)
        copies += counts[text_of(i)]++ > 0;
    for (uint32_t i = 0; i < COUNTRIES; i++)
        countries += i % 3 > 0 && counts[text_of(i)] > 1;
    struct gcd_suspects *s = suspects_of(&h, h.values, 1000);
    const struct gcd_suspect *x = duplicates_of(s);
    char expected[200];
    assert_non_null(x);
    assert_int_equal(x->objects, copies);
    assert_int_equal(x->bytes, copies * BYTES);
    assert_true(x->overlaps);
    assert_int_equal(gcd_graph_node_type(h.graph, x->node), STRING);
    assert_int_equal(text_of((x->node - 2) / 2), 0);
    assert_string_equal(x->place, "Country.Name");
    (void)snprintf(expected, sizeof expected,
                   "%u of 1,000 strings are copies of others, which takes ", (unsigned)copies);
    assert_memory_equal(x->sentence, expected, strlen(expected));
    (void)snprintf(expected, sizeof expected,
                   "%u of them are in Country.Name. One text of 26 characters is there 334 times "
                   "(32.6 KiB), mostly in Region.Code.",
                   (unsigned)countries);
    assert_non_null(strstr(x->sentence, expected));
    gcd_suspects_free(s);
    free_heap(&h);
}

static void test_few_copies_are_no_suspect(void **state)
{
    (void)state;
    struct heap h = make_heap();
    struct gcd_suspects *s = suspects_of(&h, h.values, 0);
    assert_null(duplicates_of(s));
    assert_false(gcd_suspects_check(s, GCD_SUSPECT_DUPLICATES)->unknown);
    assert_true(gcd_suspects_check(s, GCD_SUSPECT_DUPLICATES)->bytes > 1000);
    gcd_suspects_free(s);
    free_heap(&h);
}

static void test_without_values_nothing_is_known(void **state)
{
    (void)state;
    struct heap h = make_heap();
    struct gcd_suspects *s = suspects_of(&h, NULL, 1000);
    assert_null(duplicates_of(s));
    assert_true(gcd_suspects_check(s, GCD_SUSPECT_DUPLICATES)->unknown);
    gcd_suspects_free(s);
    free_heap(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_are_counted_with_what_holds_most),
        cmocka_unit_test(test_few_copies_are_no_suspect),
        cmocka_unit_test(test_without_values_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
