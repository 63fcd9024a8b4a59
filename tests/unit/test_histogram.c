/* Histograms of a hand-made heap and of real ones: from the dump, from its graph, and by slow
 * addition. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/histogram.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "support/shop.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct gcd_error err = GCD_ERROR_INIT;

enum { DELEGATE = 1, FINALIZABLE = 2, COM = 4, ARRAY = 8, CLASS = 0x12 };

/* Two objects of each type, of 10 * N and 1 byte; type number 3 has none. */
static const struct gcd_type types[] = {
    { .name = "Shop.Order", .module_path = "b.dll", .element_type = CLASS, .named = true },
    { .name = "Shop.Data.Row`1[System.Int32]",
      .module_path = "b.dll",
      .element_type = CLASS,
      .flags = FINALIZABLE,
      .named = true },
    { .name = "Nested",
      .module_path = "",
      .flags = DELEGATE,
      .element_type = CLASS,
      .named = true },
    { .name = "Shop.None", .module_path = "none.dll", .named = true },
    { .name = "System.String", .module_path = "a.dll", .element_type = 0x0e, .named = true },
    { .name = "Shop.Order[]",
      .module_path = "a.dll",
      .flags = ARRAY,
      .element_type = 0x1d,
      .named = true },
    { .name = "Shop.Com",
      .module_path = "a.dll",
      .flags = COM,
      .element_type = CLASS,
      .named = true },
    { .name = "System.Int32", .module_path = "a.dll", .element_type = 0x08, .named = true },
    { .name = "Shop.File", .module_path = "a.dll", .named = true },
    { .name = "Type(0x1)", .module_path = "", .element_type = 0 },
};
static const struct shop_node nodes[] = { { 0, 10 }, { 1, 20 }, { 2, 30 }, { 4, 50 },  { 5, 60 },
                                          { 6, 70 }, { 7, 80 }, { 8, 90 }, { 9, 100 }, { 0, 1 },
                                          { 1, 1 },  { 2, 1 },  { 4, 1 },  { 5, 1 },   { 6, 1 },
                                          { 7, 1 },  { 8, 1 },  { 9, 1 } };

static struct gcd_graph *by_hand(void)
{
    static const struct gcd_root roots[] = { { .name = "it", .kind = GCD_ROOT_STATIC },
                                             { .name = "", .kind = GCD_ROOT_STACK, .node = 1 },
                                             { .name = "", .kind = GCD_ROOT_STACK, .node = 2 } };
    return shop_build(&(struct shop){ .types = types,
                                      .type_count = COUNT(types),
                                      .nodes = nodes,
                                      .node_count = COUNT(nodes),
                                      .roots = roots,
                                      .root_count = COUNT(roots),
                                      .used_bytes = 0x3100,
                                      .generation = 3 });
}

static const struct gcd_histogram *ask(struct gcd_histogram_options o)
{
    const struct gcd_histogram *h = NULL;
    assert_int_equal(gcd_histogram_new(&o, &h, &err), GCD_OK);
    return h;
}

struct expected {
    const char *label;
    uint64_t objects, bytes;
};

static void check(const struct gcd_histogram *h, const struct expected *rows, size_t n)
{
    assert_int_equal(h->row_count, n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(h->rows[i].label, rows[i].label) != 0 || h->rows[i].objects != rows[i].objects ||
            h->rows[i].bytes != rows[i].bytes)
            fail_msg("%s %llu %llu, not %s", h->rows[i].label,
                     (unsigned long long)h->rows[i].objects, (unsigned long long)h->rows[i].bytes,
                     rows[i].label);
}

static void types_share_names_and_modules(void **state)
{
    (void)state;
    static const struct expected modules[] = { { "(unknown)", 4, 132 },
                                               { "a.dll", 10, 355 },
                                               { "b.dll", 4, 32 } };
    static const struct expected spaces[] = {
        { "(none)", 4, 132 }, { "Shop", 8, 234 }, { "Shop.Data", 2, 21 }, { "System", 4, 132 }
    };
    static const struct expected kinds[] = {
        { "COM wrapper", 2, 71 }, { "array", 2, 61 },    { "boxed value", 2, 81 },
        { "class", 2, 11 },       { "delegate", 2, 31 }, { "finalizable class", 2, 21 },
        { "object", 2, 91 },      { "string", 2, 51 },   { "unknown", 2, 101 }
    };
    static const struct {
        enum gcd_histogram_by by;
        const struct expected *rows;
        size_t n;
    } cases[] = {
        { GCD_BY_MODULE, modules, COUNT(modules) },
        { GCD_BY_NAMESPACE, spaces, COUNT(spaces) },
        { GCD_BY_KIND, kinds, COUNT(kinds) },
    };
    struct gcd_graph *g = by_hand();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct gcd_histogram *h =
            ask((struct gcd_histogram_options){ .by = cases[i].by, .graph = g });
        check(h, cases[i].rows, cases[i].n);
        assert_true(h->types == 9 && h->objects == 18 && h->bytes == 519);
        gcd_histogram_free(h);
    }
    gcd_graph_free(g);
}

/* With names and modules read from files. */
static void names_as_in_the_source(void **state)
{
    (void)state;
    static const struct expected modules[] = { { "(unknown)", 1, 2 },
                                               { "/a.dll", 1, 1 },
                                               { "Memory", 1, 4 } };
    static const struct expected spaces[] = { { "Shop", 2, 3 }, { "Shop.Data", 1, 4 } };
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_MODULES({ .path = "/a.dll", .assembly = "A", .problem = "" },
                     { .path = "", .assembly = "", .problem = "" },
                     { .path = "", .assembly = "Memory", .problem = "" }),
        SHOP_TYPES(
            { .name = "Shop.Outer+Inner`1[Other.Space.X]",
              .raw_name = "Inner`1[Other.Space.X]",
              .module_path = "/a.dll",
              .named = true },
            { .name = "Shop.Orders+<>c", .raw_name = "<>c", .module_number = 1, .named = true },
            { .name = "Shop.Data.Row`1+Cell[A]",
              .raw_name = "Cell[A]",
              .module_number = 2,
              .named = true }),
        SHOP_NODES({ 0, 1 }, { 1, 2 }, { 2, 4 }),
    });
    const struct gcd_histogram *h =
        ask((struct gcd_histogram_options){ .by = GCD_BY_MODULE, .graph = g });
    check(h, modules, COUNT(modules));
    gcd_histogram_free(h);
    h = ask((struct gcd_histogram_options){ .by = GCD_BY_NAMESPACE, .graph = g });
    check(h, spaces, COUNT(spaces));
    gcd_histogram_free(h);
    gcd_graph_free(g);
}

static void types_generations_and_roots(void **state)
{
    (void)state;
    static const uint32_t with_objects[] = { 0, 1, 2, 4, 5, 6, 7, 8, 9 };
    static const struct expected generations[] = { { "loh", 3, 60 }, { "nongc", 15, 459 } };
    static const struct expected roots[] = { { "static variable", 1, 10 },
                                             { "thread stack", 2, 50 } };
    struct gcd_graph *g = by_hand();
    const struct gcd_histogram *h =
        ask((struct gcd_histogram_options){ .by = GCD_BY_TYPE, .graph = g });
    assert_int_equal(h->row_count, COUNT(with_objects));
    for (size_t i = 0; i < h->row_count; i++)
        assert_true(h->rows[i].label == NULL && h->rows[i].index == with_objects[i] &&
                    h->rows[i].bytes == 10 * (with_objects[i] + 1) + 1);
    gcd_histogram_free(h);
    h = ask((struct gcd_histogram_options){ .by = GCD_BY_GENERATION, .graph = g });
    check(h, generations, COUNT(generations));
    assert_true(h->rows[0].generation->used_bytes == 0x3100 && h->rows[1].generation->ranges == 0);
    gcd_histogram_free(h);
    h = ask((struct gcd_histogram_options){ .by = GCD_BY_ROOT, .graph = g, .root_sets = true });
    check(h, roots, COUNT(roots));
    assert_true(h->root_sets.groups[GCD_GROUP_LOCALS].roots == 2 &&
                h->rows[1].retained_bytes == 50);
    gcd_histogram_free(h);
    gcd_graph_free(g);
}

static void lengths_by_powers_of_two(void **state)
{
    (void)state;
    static const struct gcd_type known[] = { { .name = "System.String" },
                                             { .name = "System.Byte[]" },
                                             { .name = "Shop.Order" } };
    static const struct shop_node of_lengths[] = { { 0, 22 },         { 1, 31 },
                                                   { 2, 24 },         { 0, 22 + 2 * 4 },
                                                   { 0, 22 + 2 * 7 }, { 0, 22 + 2 * 8 },
                                                   { 1, 10 } };
    static const struct {
        uint32_t type;
        uint64_t objects, bytes, min, max;
    } rows[] = {
        { 0, 1, 22, 0, 0 }, { 1, 1, 31, 7, 7 }, { UINT32_MAX, 2, 34, 0, 0 },
        { 0, 2, 66, 4, 7 }, { 0, 1, 38, 8, 8 },
    };
    struct gcd_graph *g = shop_build(&(struct shop){
        .types = known, .type_count = 3, .nodes = of_lengths, .node_count = COUNT(of_lengths) });
    const struct gcd_histogram *h =
        ask((struct gcd_histogram_options){ .by = GCD_BY_LENGTH, .graph = g });
    assert_int_equal(h->row_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct gcd_histogram_row *r = &h->rows[i];
        assert_true(r->index == rows[i].type && r->objects == rows[i].objects &&
                    r->bytes == rows[i].bytes && r->length_min == rows[i].min &&
                    r->length_max == rows[i].max &&
                    (r->label != NULL) == (rows[i].type == UINT32_MAX));
    }
    gcd_histogram_free(h);
    gcd_graph_free(g);
}

static void only_wanted_types(void **state)
{
    (void)state;
    static const uint8_t wanted[COUNT(types)] = { [0] = 1, [3] = 1, [9] = 1 };
    static const struct expected modules[] = { { "(unknown)", 2, 101 }, { "b.dll", 2, 11 } };
    static const struct expected generations[] = { { "loh", 1, 10 }, { "nongc", 3, 102 } };
    struct gcd_graph *g = by_hand();
    const struct gcd_histogram *h =
        ask((struct gcd_histogram_options){ .by = GCD_BY_MODULE, .graph = g, .wanted = wanted });
    check(h, modules, COUNT(modules));
    assert_true(h->types == 2 && h->objects == 4 && h->bytes == 112);
    gcd_histogram_free(h);
    h = ask(
        (struct gcd_histogram_options){ .by = GCD_BY_GENERATION, .graph = g, .wanted = wanted });
    check(h, generations, COUNT(generations));
    gcd_histogram_free(h);
    gcd_graph_free(g);
}

static void interrupted(void **state)
{
    (void)state;
    gcd_cancel_flag cancel;
    const struct gcd_histogram *h = NULL;
    atomic_init(&cancel, true);
    struct gcd_graph *g = by_hand();
    struct gcd_histogram_options o = { .by = GCD_BY_LENGTH, .graph = g, .context.cancel = &cancel };
    assert_int_equal(gcd_histogram_new(&o, &h, &err), GCD_E_CANCELED);
    assert_null(h);
    gcd_graph_free(g);
}

static void out_of_memory(void **state)
{
    (void)state;
    struct gcd_graph *g = by_hand();
    for (enum gcd_histogram_by by = GCD_BY_TYPE; by <= GCD_BY_ROOT; by++)
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            const struct gcd_histogram *h = NULL;
            failalloc_init(&f);
            f.fail_at = at;
            struct gcd_histogram_options o = {
                .by = by, .graph = g, .root_sets = true, .context.alloc = &f.alloc
            };
            gcd_status st = gcd_histogram_new(&o, &h, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            gcd_histogram_free(h);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
    gcd_graph_free(g);
}

static void same_rows(const struct gcd_histogram *a, const struct gcd_histogram *b)
{
    uint64_t objects = 0;
    assert_true(a->row_count == b->row_count && a->types == b->types && a->objects == b->objects &&
                a->bytes == b->bytes);
    for (size_t i = 0; i < a->row_count; i++) {
        const struct gcd_histogram_row *x = &a->rows[i], *y = &b->rows[i];
        assert_true(x->index == y->index && x->objects == y->objects && x->bytes == y->bytes &&
                    x->length_min == y->length_min && x->length_max == y->length_max &&
                    (x->label == NULL) == (y->label == NULL));
        assert_true(x->label == NULL || strcmp(x->label, y->label) == 0);
        objects += x->objects;
    }
    assert_true(objects == a->objects);
}

/* From the recording or from its graph: every object is counted exactly once. */
static void real_heaps(void **state)
{
    (void)state;
    const char *name;
    size_t n;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        struct gcd_input *in;
        struct gcd_dump *d;
        struct gcd_graph *g;
        assert_int_equal(gcd_input_from_memory(bytes, n, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_graph_from_dump(d, NULL, &g, &err), GCD_OK);
        for (enum gcd_histogram_by by = GCD_BY_TYPE; by < GCD_BY_ROOT; by++) {
            const struct gcd_histogram *a =
                ask((struct gcd_histogram_options){ .by = by, .dump = d });
            const struct gcd_histogram *b =
                ask((struct gcd_histogram_options){ .by = by, .graph = g });
            same_rows(a, b);
            assert_int_equal(a->objects, gcd_graph_node_count(g));
            gcd_histogram_free(a);
            gcd_histogram_free(b);
        }
        gcd_graph_free(g);
        gcd_dump_free(d);
        gcd_input_free(in);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_share_names_and_modules),
        cmocka_unit_test(types_generations_and_roots),
        cmocka_unit_test(lengths_by_powers_of_two),
        cmocka_unit_test(names_as_in_the_source),
        cmocka_unit_test(only_wanted_types),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(real_heaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
