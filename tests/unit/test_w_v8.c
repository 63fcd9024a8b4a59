/*
 * V8 heap snapshots: the worked example byte for byte, and graphs that a viewer would misread.
 */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/writer.h>

#include "base/dec.h"
#include "support/check.h"
#include "support/graph_gen.h"
#include "support/run.h"
#include "support/shop.h"
#include "support/v8_check.h"

/* The bytes written; free with gcd_sink_free. */
static const uint8_t *write_v8(const struct gcd_graph *g, const struct gcd_write_options *options,
                               struct gcd_write_notes *notes, struct gcd_sink **ret_sink,
                               size_t *ret_n)
{
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_sink_new_memory(NULL, ret_sink, &err), GCD_OK);
    assert_int_equal(gcd_write_graph(gcd_format_by_name("v8"), g, *ret_sink, options, notes, &err),
                     GCD_OK);
    assert_int_equal(gcd_sink_commit(*ret_sink, &err), GCD_OK);
    return gcd_sink_memory(*ret_sink, ret_n);
}

/* Writes, checks against the graph, looks for TEXT (may be NULL). */
static struct gcd_write_notes expect(const struct gcd_graph *g, const char *text)
{
    struct gcd_write_notes notes;
    struct gcd_sink *s;
    size_t n;
    const uint8_t *p = write_v8(g, NULL, &notes, &s, &n);
    const char *wrong = v8_check(p, n, g);
    if (wrong != NULL)
        fail_msg("%s\n%.*s", wrong, (int)n, (const char *)p);
    if (text != NULL && memmem(p, n, text, strlen(text)) == NULL)
        fail_msg("%s is not in\n%.*s", text, (int)n, (const char *)p);
    gcd_sink_free(s);
    return notes;
}

static void test_worked_example(void **state)
{
    (void)state;
    static const char want[] =
        "{\"snapshot\":{\"meta\":{\n"
        "\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\","
        "\"detachedness\"],\n"
        "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\","
        "\"regexp\",\"number\",\"native\",\"synthetic\","
        "\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object "
        "shape\"],\"string\",\"number\",\"number\",\"number\","
        "\"number\",\"number\"],\n"
        "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\n"
        "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\","
        "\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],\n"
        "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\","
        "\"line\",\"column\"],\n"
        "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],\n"
        "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],\n"
        "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},\n"
        "\"node_count\":7,\"edge_count\":7,\"trace_function_count\":0},\n"
        "\"nodes\":[9,0,1,0,1,0,0,\n9,1,3,0,2,0,0,\n9,2,5,0,1,0,0,\n9,3,7,0,1,0,0,\n3,6,9,24,1,0,0,"
        "\n3,7,11,40,1,0,0,\n3,8,13,32,0,0,0],\n"
        "\"edges\":[3,1,7,\n3,2,14,\n3,3,21,\n2,4,28,\n6,5,42,\n2,7,35,\n2,8,42],\n"
        "\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n"
        "\"strings\":[\"\",\"(GC roots)\",\"[static variables]\",\"[weak "
        "handles]\",\"Shop.Store.current\",\"0\",\"Shop.Store\","
        "\"Shop.Order[]\",\"Shop.Order\"]}\n";
    struct gcd_graph *g = shop_graph(32, true);
    struct gcd_write_notes notes;
    struct gcd_sink *s;
    size_t n;
    const uint8_t *p = write_v8(g, NULL, &notes, &s, &n);
    assert_int_equal(n, sizeof want - 1);
    assert_memory_equal(p, want, n);
    assert_int_equal(notes.objects, 3);
    assert_int_equal(notes.edges, 2);
    assert_int_equal(notes.roots, 2);
    assert_int_equal(notes.types, 3);
    assert_int_equal(notes.loss_count, 2); /* the range, the addresses */
    assert_int_equal(notes.losses[0].count, 1);
    assert_int_equal(notes.losses[1].count, 3);
    gcd_sink_free(s);
    (void)expect(g, NULL);
    gcd_graph_free(g);
}

static void test_empty(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){ .types = NULL });
    (void)expect(g, "\"node_count\":2,\"edge_count\":1,");
    gcd_graph_free(g);
}

static void test_sizes(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "A" }),
        SHOP_NODES({ 0, UINT32_MAX - 1 }, { 0, UINT32_MAX }, { 0, UINT64_C(1) << 32 },
                   { 0, UINT64_MAX }),
    });
    struct gcd_write_notes notes = expect(g, ",4294967294,");
    assert_int_equal(notes.loss_count, 2); /* the addresses, the sizes */
    assert_int_equal(notes.losses[1].count, 2);
    gcd_graph_free(g);
}

/* One graph of objects of these types. */
static struct gcd_graph *of_types(const struct gcd_type *types, size_t n)
{
    static const struct shop_node nodes[] = { { 0, 24 }, { 1, 24 }, { 2, 24 }, { 3, 24 },
                                              { 4, 24 }, { 5, 24 }, { 6, 24 }, { 7, 24 } };
    assert_true(n <= sizeof nodes / sizeof *nodes);
    return shop_build(
        &(struct shop){ .types = types, .type_count = n, .nodes = nodes, .node_count = n });
}

/* DevTools cuts names of HTML elements at the first space. */
static void test_markup(void **state)
{
    (void)state;
    struct gcd_graph *g = of_types(
        SHOP_LIST(struct gcd_type, { .name = "<>f__Anonymous`2[[A, B],[C, D]]" }, { .name = "<>c" },
                  { .name = "Detached <x y> z" }, { .name = "Detached x <y z>" },
                  { .name = "<>c", .module_path = "/a/B C.dll" }));
    (void)expect(g, "\"<>f__Anonymous`2[[A,B],[C,D]]\",\"<>c\",\"Detached <xy>z\",\"Detached x <y "
                    "z>\",\"<>c[BC]\"]");
    gcd_graph_free(g);
}

static void test_same_names(void **state)
{
    (void)state;
    struct gcd_graph *g =
        of_types(SHOP_LIST(struct gcd_type, { .name = "A", .module_path = "/app/One.dll" },
                           { .name = "A", .module_path = "/app/Two.dll" },
                           { .name = "A", .module_path = "/elsewhere/One.dll" },
                           { .name = "A", .module_path = "C:\\app\\Two.dll" }, { .name = "A" },
                           { .name = "A", .module_path = "/app/Three.exe" }));
    (void)expect(g, "\"strings\":[\"\",\"(GC roots)\",\"A\",\"A [Two]\",\"A [Three]\"]");
    gcd_graph_free(g);
}

/* "A" of module B and the type "A [B]" look the same, in either order. */
static void test_same_labels(void **state)
{
    (void)state;
    struct gcd_graph *g = of_types(SHOP_LIST(
        struct gcd_type, { .name = "A [B]" }, { .name = "A", .module_path = "/One.dll" },
        { .name = "A", .module_path = "/B.dll" }, { .name = "C", .module_path = "/One.dll" },
        { .name = "C", .module_path = "/B.dll" }, { .name = "C [B]" }, { .name = "C [B] " }));
    (void)expect(g, "\"strings\":[\"\",\"(GC roots)\",\"A [B]\",\"A\",\"C\",\"C [B]\",\"C [B] \"]");
    gcd_graph_free(g);
}

static void test_escapes(void **state)
{
    (void)state;
    static char longest[65536];
    memset(longest, 'x', sizeof longest - 1);
    for (size_t i = 0; i + 1 < sizeof longest; i += 3)
        longest[i] = i % 2 == 0 ? '\x01' : '"';
    struct gcd_graph *g =
        of_types(SHOP_LIST(struct gcd_type, { .name = "q\"b\\n\nt\tz\x1f\x7f" },
                           { .name = "\xEF\xBF\xBD\xF0\x9F\x98\x80" }, { .name = longest }));
    (void)expect(g, "\"q\\\"b\\\\n\\u000at\\u0009z\\u001f\\u007f\","
                    "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\",\"\\u0001xx\\\"xx\\u0001");
    gcd_graph_free(g);
}

static void test_roots(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "A" }),
        SHOP_NODES({ 0, 24 }, { 0, 32 }),
        SHOP_EDGES({ 0, 0 }),
        SHOP_ROOTS({ .kind = GCD_ROOT_STATIC, .name = "s" },
                   { .kind = GCD_ROOT_STATIC, .name = "" }, { .kind = GCD_ROOT_STACK },
                   { .kind = GCD_ROOT_STACK, .node = 1 }, { .kind = GCD_ROOT_FINALIZER },
                   { .kind = GCD_ROOT_HANDLE },
                   { .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_PINNED }, { .kind = GCD_ROOT_COM },
                   { .kind = GCD_ROOT_OTHER }, { .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK },
                   { .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK, .node = 1 }),
        SHOP_DEPENDENTS({ 0, 1 }, { 0, 0 }, { 1, 0 }),
    });
    (void)expect(g, "\"[weak handles]\",\"A.s\",\"A\",\"0\",\"1\",\"dependent handle\",\"A\"]");
    gcd_graph_free(g);
}

/* Dangling references and roots have a node. */
static void test_unknown(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "A" }),
        SHOP_NODES({ 0, 24 }),
        SHOP_EDGES({ 0, GCD_NODE_NONE }),
        .keep_unknown = true,
    });
    assert_int_equal(gcd_graph_node_count(g), 2);
    (void)expect(g, "\"UNKNOWN\"");
    gcd_graph_free(g);
}

static void test_cancel(void **state)
{
    (void)state;
    gcd_cancel_flag cancel;
    atomic_init(&cancel, true);
    enum { NODES = 70000 };
    static struct shop_node nodes[NODES];
    struct gcd_graph *g = shop_build(
        &(struct shop){ SHOP_TYPES({ .name = "A" }), .nodes = nodes, .node_count = NODES });
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    struct gcd_write_options options = { .context.cancel = &cancel };
    assert_int_equal(gcd_write_graph(gcd_format_by_name("v8"), g, s, &options, NULL, NULL),
                     GCD_E_CANCELED);
    gcd_sink_free(s);
    gcd_graph_free(g);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed, .max_nodes = seed % 10 == 0 ? 1500 : 40, .keep_unknown = seed % 3 == 0 });
        (void)expect(g, NULL);
        gcd_graph_free(g);
    }
}

static void test_decimal(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t v = i < 100000 ? i : run_random(&random) >> i % 64;
        char want[32], got[GCD_DEC_ROOM + 1];
        (void)snprintf(want, sizeof want, "%llu", (unsigned long long)v);
        *gcd_dec_put(got, v) = '\0';
        assert_string_equal(got, want);
    }
    for (uint64_t v = 1; v <= UINT64_MAX / 10; v *= 10)
        for (uint64_t d = 0; d < 2; d++) {
            char want[32], got[GCD_DEC_ROOM + 1];
            (void)snprintf(want, sizeof want, "%llu", (unsigned long long)(v - d));
            *gcd_dec_put(got, v - d) = '\0';
            assert_string_equal(got, want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_markup),
        cmocka_unit_test(test_same_names),     cmocka_unit_test(test_same_labels),
        cmocka_unit_test(test_escapes),        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_unknown),        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_decimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
