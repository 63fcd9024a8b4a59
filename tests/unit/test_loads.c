/* Assemblies loaded several times: which types are the same, their names, and what merging them
 * does to a dump. */
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/loads.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/tb.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- which are the same ---- */

static const struct gcd_module modules[] = {
    { .path = "/app/Shop.dll", .assembly = "Shop", .pdb_guid = { 1 }, .pdb_age = 1 },
    { .path = "/app/Shop.dll", .assembly = "Shop", .pdb_guid = { 1 }, .pdb_age = 1 },
    { .path = "/app/Shop.dll", .assembly = "Shop", .pdb_guid = { 2 }, .pdb_age = 1 },
    { .path = "/app/Shop.dll", .assembly = "Shop", .pdb_guid = { 1 }, .pdb_age = 2 },
    { .path = "/old/Shop.dll", .assembly = "Shop", .pdb_guid = { 1 }, .pdb_age = 1 },
    { .path = "", .assembly = "" },
    { .path = "", .assembly = "" },
    { .path = "", .assembly = "Made.Up" },
    { .path = "", .assembly = "Made.Up" },
};

#define TYPE(number_, module_, token_, name_)                                                     \
    {                                                                                             \
        .id = (number_), .name = (name_), .raw_name = (name_),                                    \
        .module_path =                                                                            \
            modules[module_].path[0] != '\0' ? modules[module_].path : modules[module_].assembly, \
        .module_number = (module_), .name_token = (token_), .element_type = 0x12,                 \
        .described = true, .named = true                                                          \
    }

static void test_same_types(void **state)
{
    const struct gcd_type types[] = {
        TYPE(0, 1, 5, "Shop.Order"),    TYPE(1, 0, 5, "Shop.Order"),
        TYPE(2, 2, 5, "Shop.Order"),    TYPE(3, 3, 5, "Shop.Order"),
        TYPE(4, 4, 5, "Shop.Order"),    TYPE(5, 0, 6, "Shop.Order"),
        TYPE(6, 0, 5, "Shop.Item"),     TYPE(7, 5, 5, "Shop.Order"),
        TYPE(8, 6, 5, "Shop.Order"),    TYPE(9, 7, 5, "Shop.Order"),
        TYPE(10, 8, 5, "Shop.Order"),   TYPE(11, 1, 5, "Shop.Order"),
        TYPE(12, 0, 0, "Shop.Order[]"), TYPE(13, 1, 0, "Shop.Order[]"),
    };
    enum { TYPES = sizeof types / sizeof *types };
    static const uint32_t wanted[TYPES] = { 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0, 12, 12 };
    static const char *const one[TYPES] = {
        "Shop.Order [Shop 0x00000005 #1]",
        "Shop.Order [Shop 0x00000005 #1]",
        "Shop.Order [Shop 0x00000005 #2]",
        "Shop.Order [Shop 0x00000005 #3]",
        "Shop.Order [Shop 0x00000005 #4]",
        "Shop.Order [Shop 0x00000006]",
        "Shop.Item",
        "Shop.Order [0x00000005 #1]",
        "Shop.Order [0x00000005 #2]",
        "Shop.Order [Made.Up]",
        "Shop.Order [Made.Up]",
        "Shop.Order [Shop 0x00000005 #1]",
        "Shop.Order[]",
        "Shop.Order[]",
    };
    static const char *const several[TYPES] = {
        "Shop.Order [Shop 0x00000005 #1]",
        "Shop.Order [Shop 0x00000005 #2]",
        "Shop.Order [Shop 0x00000005 #3]",
        "Shop.Order [Shop 0x00000005 #4]",
        "Shop.Order [Shop 0x00000005 #5]",
        "Shop.Order [Shop 0x00000006]",
        "Shop.Item",
        "Shop.Order [0x00000005 #1]",
        "Shop.Order [0x00000005 #2]",
        "Shop.Order [Made.Up 0x00000005 #1]",
        "Shop.Order [Made.Up 0x00000005 #2]",
        "Shop.Order [Shop 0x00000005 #6]",
        "Shop.Order[] [Shop #1]",
        "Shop.Order[] [Shop #2]",
    };
    struct gcd_summary s = { .types = types,
                             .type_count = TYPES,
                             .modules = modules,
                             .module_count = sizeof modules / sizeof *modules };
    uint32_t first[TYPES];
    bool some;
    (void)state;
    assert_int_equal(gcd_same_types(&s, NULL, first, &some, &err), GCD_OK);
    assert_true(some);
    for (size_t i = 0; i < TYPES; i++)
        assert_int_equal(first[i], wanted[i]);
    for (enum gcd_name_style style = GCD_NAMES_CSHARP; style <= GCD_NAMES_SEPARATE_LOADS; style++) {
        struct gcd_names *n;
        assert_int_equal(gcd_names_new(&s, style, NULL, &n, &err), GCD_OK);
        for (uint32_t i = 0;
             i < TYPES && (style == GCD_NAMES_CSHARP || style == GCD_NAMES_SEPARATE_LOADS); i++) {
            assert_string_equal(gcd_names_get(n, i),
                                style == GCD_NAMES_CSHARP ? one[i] : several[i]);
            assert_string_equal(gcd_names_plain(n, i), types[i].name);
        }
        gcd_names_free(n);
    }
    s.module_count = 0; /* of a graph in a file */
    assert_int_equal(gcd_same_types(&s, NULL, first, &some, &err), GCD_OK);
    assert_false(some);
    for (uint32_t i = 0; i < TYPES; i++)
        assert_int_equal(first[i], i);
}

/* ---- a dump ---- */

static struct tb t;

/* Two loads of Shop.dll with orders, one of Tools.dll; the second order is the value of a static
 * variable. */
static struct gcd_dump *dump(const struct gcd_alloc *alloc, struct gcd_input **in)
{
    tb_init(&t, TB_V4, 8);
    tb_types(
        &t,
        TB_LIST(
            struct tb_type,
            { .id = 0x100, .module = 0xa0, .token = 2, .element_type = 0x12, .name = "Shop.Order" },
            { .id = 0x200, .module = 0xb0, .token = 2, .element_type = 0x12, .name = "Shop.Order" },
            { .id = 0x300,
              .module = 0xc0,
              .token = 2,
              .element_type = 0x12,
              .name = "Shop.Order" }));
    tb_gc_start(&t, 1);
    tb_statics(&t, TB_LIST(struct tb_static, { 0x1018, 0x10, 0x200, "last" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }, { 0x1018, 25, 0x200, 0 },
                         { 0x1040, 40, 0x200, 1 }, { 0x1080, 24, 0x300, 0 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x1018, 0x1080));
    tb_gc_end(&t, 1);
    tb_module_symbols(&t, 0xa0, "/app/Shop.dll", 0xc0, 1);
    tb_module_symbols(&t, 0xb0, "/app/Shop.dll", 0xc0, 1);
    tb_module_symbols(&t, 0xc0, "/app/Tools.dll", 0xc0, 1);
    tb_close(&t);
    struct gcd_dump_options options = { .context.alloc = alloc };
    struct gcd_dump *d = NULL;
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, in, &err), GCD_OK);
    if (gcd_dump_open(*in, &options, &d, &err) != GCD_OK)
        assert_int_equal(err.code, GCD_E_NOMEM);
    return d;
}

static void done(struct gcd_dump *d, struct gcd_input *in)
{
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_done(&t);
}

static void check_types(const struct gcd_summary *s)
{
    assert_int_equal(s->type_count, 3);
    assert_true(s->types[0].objects == 3 && s->types[0].bytes == 89 && s->types[0].edges == 2 &&
                s->types[0].uneven_sizes);
    assert_true(s->types[1].objects == 0 && s->types[1].bytes == 0 && s->types[1].edges == 0 &&
                !s->types[1].uneven_sizes);
    assert_true(s->types[2].objects == 1 && s->types[2].bytes == 24);
    assert_int_equal(s->types_used, 2);
    assert_int_equal(s->objects, 4);
    assert_int_equal(s->roots[0].type, 0);
}

static void test_merged(void **state)
{
    struct gcd_input *in;
    struct gcd_objects *cursor;
    struct gcd_object o;
    struct gcd_graph *g;
    static const uint32_t types[] = { 0, 0, 0, 2 };
    (void)state;
    struct gcd_dump *d = dump(NULL, &in);
    assert_int_equal(gcd_dump_summary(d)->types_used, 3);
    assert_int_equal(gcd_dump_merge_loads(d, &err), GCD_OK);
    check_types(gcd_dump_summary(d));
    assert_int_equal(gcd_dump_merge_loads(d, &err), GCD_OK); /* a second time changes nothing */
    check_types(gcd_dump_summary(d));
    assert_int_equal(gcd_objects_new(d, &cursor, &err), GCD_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(gcd_objects_next(cursor, &o, &err), GCD_OK);
        assert_int_equal(o.type, types[i]);
    }
    gcd_objects_free(cursor);
    assert_int_equal(gcd_graph_from_dump(d, NULL, &g, &err), GCD_OK);
    check_types(gcd_graph_summary(g));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(gcd_graph_node_type(g, i), types[i]);
    gcd_graph_free(g);
    done(d, in);
}

static void test_not_closed(void **state)
{
    struct gcd_dump *d;
    (void)state;
    assert_int_equal(gcd_dump_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_merge_loads(d, &err), GCD_E_STATE);
    gcd_dump_free(d);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (uint64_t k = 1;; k++) {
        struct failalloc f;
        struct gcd_input *in;
        failalloc_init(&f);
        f.fail_at = k;
        struct gcd_dump *d = dump(&f.alloc, &in);
        gcd_status st = d != NULL ? gcd_dump_merge_loads(d, &err) : GCD_E_NOMEM;
        if (st == GCD_OK)
            check_types(gcd_dump_summary(d));
        else
            assert_int_equal(st, GCD_E_NOMEM);
        done(d, in);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_types),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_not_closed),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
