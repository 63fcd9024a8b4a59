/* Generations from memory ranges, lengths from sizes: for a recording, its graph, and impossible
 * ranges. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/lengths.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "support/shop.h"
#include "support/tb.h"

static struct gcd_error err = GCD_ERROR_INIT;

static struct gcd_dump *open_dump(const void *bytes, size_t n, struct gcd_input **ret_in)
{
    struct gcd_dump *d;
    assert_int_equal(gcd_input_from_memory(bytes, n, NULL, ret_in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(*ret_in, NULL, &d, &err), GCD_OK);
    return d;
}

/* One object of one type among the given ranges; PTR_BYTES is the process's. */
static struct gcd_dump *with_ranges(const struct gcd_range *ranges, size_t n, unsigned ptr_bytes,
                                    struct tb *t, struct gcd_input **ret_in)
{
    tb_init(t, TB_V4, ptr_bytes);
    tb_types(t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_gc_start(t, 1);
    tb_nodes(t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }));
    for (size_t i = 0; i < n; i++)
        tb_range(t, ranges[i].generation, ranges[i].start, ranges[i].used_bytes,
                 ranges[i].reserved_bytes);
    tb_gc_end(t, 1);
    tb_close(t);
    return open_dump(t->out.p, t->out.n, ret_in);
}

static void ranges_are_found_in_any_order(void **state)
{
    (void)state;
    static const struct gcd_range ranges[] = {
        { 0x9000, 0x100, 0x1000, 4 }, { 0x1000, 0x40, 0x1000, 0 },
        { 0x5000, 0x80, 0x80, 2 },    { 0x3000, 0x20, 0x80, 2 },
        { 0x7000, 0, 0x80, 1 },       { UINT64_MAX - 0xf, 0x100, 0x100, 200 }
    };
    static const struct {
        uint64_t address;
        unsigned number;
    } cases[] = { { 0x1000, 0 },
                  { 0x103f, 0 },
                  { 0x1040, GCD_GENERATION_NONE },
                  { 0xfff, GCD_GENERATION_NONE },
                  { 0x90ff, 4 },
                  { 0x3010, 2 },
                  { 0x507f, 2 },
                  { 0x7000, GCD_GENERATION_NONE },
                  { UINT64_MAX, 200 },
                  { 0, GCD_GENERATION_NONE } };
    struct tb t;
    struct gcd_input *in;
    struct gcd_generations *s;
    struct gcd_dump *d = with_ranges(ranges, 6, 8, &t, &in);
    assert_int_equal(gcd_generations_new(gcd_dump_summary(d), NULL, &s, &err), GCD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t hint = 0; hint < 8; hint++) {
            size_t h = hint; /* the hint does not change the result */
            assert_int_equal(gcd_generations_find(s, cases[i].address, &h), cases[i].number);
        }
    gcd_generations_add(s, 0x3000, 22);
    gcd_generations_add(s, 0x5000, 32);
    gcd_generations_add(s, 0x2000, 25);
    gcd_generations_add(s, 0x9000, UINT64_MAX);
    gcd_generations_add(s, 0x9000, 1);
    const struct gcd_generation second = { 2, 0xa0, 0x100, 2, 54, 56 },
                                none = { 0, 0, 0, 1, 25, 32 };
    assert_memory_equal(gcd_generations_get(s, 2), &second, sizeof second);
    assert_memory_equal(gcd_generations_get(s, GCD_GENERATION_NONE), &none, sizeof none);
    assert_true(gcd_generations_get(s, 4)->bytes == UINT64_MAX &&
                gcd_generations_get(s, 4)->objects == 2);
    gcd_generations_free(s);
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_done(&t);
}

/* Which objects are frozen is known only of a complete dump with ranges and roots. */
static void frozen_objects(void **state)
{
    (void)state;
    static const struct gcd_range range = { 0x1000, 0x40, 0x1000, 0 };
    for (unsigned i = 0; i < 3; i++) {
        struct tb t;
        struct gcd_input *in;
        struct gcd_dump *d = with_ranges(&range, i != 1, 8, &t, &in);
        struct gcd_summary s = *gcd_dump_summary(d);
        struct gcd_generations *ages;
        size_t hint = 0;
        s.verdict.complete = i != 2;
        assert_int_equal(gcd_frozen_new(&s, 0, NULL, &ages, &err), GCD_OK);
        assert_int_equal(ages != NULL, i == 0);
        assert_int_equal(gcd_is_frozen(ages, 0x9000, &hint), i == 0);
        assert_false(gcd_is_frozen(ages, 0x1000, &hint));
        gcd_generations_free(ages);
        assert_int_equal(gcd_frozen_new(&s, 1, NULL, &ages, &err), GCD_OK);
        assert_null(ages);
        gcd_dump_free(d);
        gcd_input_free(in);
        tb_done(&t);
    }
}

static void alignment_is_that_of_the_process(void **state)
{
    (void)state;
    static const struct gcd_range range = { 0x1000, 0x100, 0x100, 1 };
    struct tb t;
    struct gcd_input *in;
    struct gcd_generations *s;
    struct gcd_dump *d = with_ranges(&range, 1, 4, &t, &in);
    assert_int_equal(gcd_generations_new(gcd_dump_summary(d), NULL, &s, &err), GCD_OK);
    gcd_generations_add(s, 0x1000, 14);
    assert_int_equal(gcd_generations_get(s, 1)->aligned_bytes, 16);
    gcd_generations_add(s, 0x1010, 12);
    assert_int_equal(gcd_generations_get(s, 1)->aligned_bytes, 28);
    gcd_generations_free(s);
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_done(&t);
}

static void out_of_memory(void **state)
{
    (void)state;
    static const struct gcd_range ranges[] = { { 0x3000, 0x20, 0x80, 2 },
                                               { 0x1000, 0x100, 0x100, 1 } };
    struct tb t;
    struct gcd_input *in;
    struct gcd_dump *d = with_ranges(ranges, 2, 8, &t, &in);
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_generations *s = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_generations_new(gcd_dump_summary(d), &f.alloc, &s, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        gcd_generations_free(s);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_dump_free(d);
    gcd_input_free(in);
    tb_done(&t);
}

/* traces/README.md: 16,994 objects in generation 2, 36 in 1, 5 in the LOH, 3 in the POH, 608 in
 * none. */
static void a_real_heap(void **state)
{
    (void)state;
    const char *name;
    size_t n, seen = 0;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        struct gcd_input *in;
        struct gcd_dump *d = open_dump(bytes, n, &in);
        struct gcd_graph *g;
        struct gcd_generations *s;
        assert_int_equal(gcd_graph_from_dump(d, NULL, &g, &err), GCD_OK);
        uint32_t types = gcd_graph_summary(g)->type_count;
        struct gcd_length_rule *of_dump = calloc(types, sizeof *of_dump),
                               *of_graph = calloc(types, sizeof *of_graph);
        assert_int_equal(types, gcd_dump_summary(d)->type_count);
        assert_int_equal(gcd_length_rules(gcd_dump_summary(d), NULL, of_dump, &err), GCD_OK);
        assert_int_equal(gcd_length_rules(gcd_graph_summary(g), NULL, of_graph, &err), GCD_OK);
        for (uint32_t t = 0; t < types; t++) {
            assert_int_equal(of_dump[t].header_bytes, of_graph[t].header_bytes);
            assert_int_equal(of_dump[t].element_bytes, of_graph[t].element_bytes);
        }
        assert_int_equal(gcd_generations_new(gcd_graph_summary(g), NULL, &s, &err), GCD_OK);
        for (uint32_t k = 0; k < gcd_graph_node_count(g); k++) {
            uint64_t length = 0, size = gcd_graph_node_size(g, k);
            gcd_generations_add(s, gcd_graph_node_address(g, k), size);
            if (strcmp(gcd_graph_summary(g)->types[gcd_graph_node_type(g, k)].name,
                       "System.String") == 0) {
                assert_true(gcd_length_of(&of_dump[gcd_graph_node_type(g, k)], size, &length));
                assert_true(22 + 2 * length == size);
                seen++;
            }
        }
        if (strcmp(name, "net10-wks-ranges") == 0) {
            static const uint64_t objects[] = { 0, 36, 16994, 5, 3 };
            for (unsigned k = 0; k < 5; k++) {
                const struct gcd_generation *one = gcd_generations_get(s, k);
                assert_int_equal(one->objects, objects[k]);
                assert_true(one->bytes <= one->aligned_bytes &&
                            one->aligned_bytes <= one->used_bytes &&
                            one->used_bytes <= one->reserved_bytes);
            }
            assert_int_equal(gcd_generations_get(s, GCD_GENERATION_NONE)->objects, 608);
        } else {
            assert_true(gcd_generations_get(s, GCD_GENERATION_NONE)->objects ==
                        gcd_graph_node_count(g));
        }
        free(of_dump);
        free(of_graph);
        gcd_generations_free(s);
        gcd_graph_free(g);
        gcd_dump_free(d);
        gcd_input_free(in);
        free(bytes);
    }
    assert_true(seen > 1000);
}

/* ---- how objects are laid out ---- */

static void headers_of_strings_and_arrays(void **state)
{
    (void)state;
    /* pointers of 4 bytes, of 8 */
    static const struct {
        const char *name;
        struct gcd_length_rule rule[2];
    } rows[] = {
        { "System.String", { { 14, 2 }, { 22, 2 } } },
        { "System.Int32[]", { { 12, 4 }, { 24, 4 } } },
        { "System.Object[]", { { 12, 4 }, { 24, 8 } } },
        { "System.Byte[][]", { { 12, 4 }, { 24, 8 } } },
        { "System.Int16[,]", { { 0, 0 }, { 40, 2 } } },
        { "System.Double[,,]", { { 0, 0 }, { 48, 8 } } },
        { "System.Int32", { { 0, 0 }, { 0, 0 } } },
        { "Shop.Unknown[]", { { 12, 0 }, { 24, 0 } } },
    };
    enum { TYPES = sizeof rows / sizeof *rows };
    struct gcd_type types[TYPES];
    for (size_t i = 0; i < TYPES; i++)
        types[i] = (struct gcd_type){ .name = rows[i].name };
    for (unsigned wide = 0; wide < 2; wide++) {
        struct gcd_length_rule rules[TYPES];
        struct gcd_graph *g = shop_build(
            &(struct shop){ .types = types, .type_count = TYPES, .ptr_bytes = wide ? 8 : 4 });
        assert_int_equal(gcd_length_rules(gcd_graph_summary(g), NULL, rules, &err), GCD_OK);
        for (size_t i = 0; i < TYPES; i++)
            if (rules[i].header_bytes != rows[i].rule[wide].header_bytes ||
                rules[i].element_bytes != rows[i].rule[wide].element_bytes)
                fail_msg("%s: %u, %u", rows[i].name, rules[i].header_bytes, rules[i].element_bytes);
        gcd_graph_free(g);
    }
}

/* Types of several modules can share a name: the element type of an array is ambiguous unless all
 * have the same size. */
static void elements_of_several_types(void **state)
{
    (void)state;
    enum { CLASS = 0x12, VALUE = 0x11, BYTE = 0x05, INT = 0x08, UINT = 0x09 };
    static const struct {
        uint8_t element_types[3];
        unsigned bytes;
    } rows[] = {
        { { CLASS, CLASS, CLASS }, 8 }, { { BYTE, BYTE, INT }, 0 }, { { BYTE, INT, INT }, 0 },
        { { INT, UINT, INT }, 4 },      { { VALUE, INT, INT }, 0 }, { { INT, INT, VALUE }, 0 },
        { { CLASS, INT, INT }, 0 },     { { INT, INT, INT }, 4 },   { { BYTE, BYTE, CLASS }, 0 },
        { { VALUE, VALUE, VALUE }, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_type types[4] = { { .name = "Shop.Kind[]" } };
        for (size_t k = 0; k < 3; k++)
            types[1 + k] = (struct gcd_type){ .id = k,
                                              .name = "Shop.Kind",
                                              .element_type = rows[i].element_types[k] };
        struct gcd_length_rule rules[4];
        struct gcd_graph *g = shop_build(&(struct shop){ .types = types, .type_count = 4 });
        assert_int_equal(gcd_length_rules(gcd_graph_summary(g), NULL, rules, &err), GCD_OK);
        if (rules[0].element_bytes != rows[i].bytes)
            fail_msg("row %zu: %u", i, rules[0].element_bytes);
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_found_in_any_order),
        cmocka_unit_test(frozen_objects),
        cmocka_unit_test(alignment_is_that_of_the_process),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(a_real_heap),
        cmocka_unit_test(headers_of_strings_and_arrays),
        cmocka_unit_test(elements_of_several_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
