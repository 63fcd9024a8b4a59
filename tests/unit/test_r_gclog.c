/* Reading gclog files: the worked examples, what is tolerated and what is not, and round trips. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/read.h>
#include <gcdumpc/writer.h>

#include "support/graph_gen.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

static gcd_status read_bytes(const void *bytes, size_t n, const struct gcd_graph_options *o,
                             struct gcd_graph **ret)
{
    struct gcd_input *in;
    *ret = NULL;
    assert_int_equal(gcd_input_from_memory(bytes, n, NULL, &in, &err), GCD_OK);
    gcd_status st = gcd_graph_read(in, o, ret, &err);
    gcd_input_free(in);
    return st;
}

static struct gcd_graph *read_text(const char *text)
{
    struct gcd_graph *g;
    assert_int_equal(read_bytes(text, strlen(text), NULL, &g), GCD_OK);
    return g;
}

static void test_the_example(void **state)
{
    (void)state;
    struct gcd_graph *g = read_text("a 2 shop 1a2f\n"
                                    "t 1 Shop.Store\n"
                                    "t 2 Shop.Order[]\n"
                                    "t 3 Shop.Order\n"
                                    "r 7f0000001000 4 0 1\n"
                                    "r 7f0000001040 3 2\n"
                                    "o 7f0000001000 1 18 7f0000001018\n"
                                    "o 7f0000001018 2 28 7f0000001040\n"
                                    "o 7f0000001040 3 20\n"
                                    "c shop 1a2f\n");
    size_t n;
    assert_int_equal(gcd_graph_node_count(g), 3);
    assert_int_equal(gcd_graph_summary(g)->bytes, 96);
    assert_string_equal(gcd_graph_summary(g)->process_name, "shop");
    assert_int_equal(gcd_graph_summary(g)->gc_start_ns, INT64_C(6703) * 1000000);
    assert_string_equal(gcd_graph_summary(g)->types[gcd_graph_node_type(g, 1)].name,
                        "Shop.Order[]");
    assert_int_equal(gcd_graph_node_edges(g, 0, &n)[0], 1);
    assert_int_equal(gcd_graph_summary(g)->root_count, 2);
    assert_int_equal(gcd_graph_summary(g)->roots[0].kind, GCD_ROOT_STATIC);
    assert_int_equal(gcd_root_group(&gcd_graph_summary(g)->roots[1]), GCD_GROUP_WEAK);
    assert_true(gcd_graph_summary(g)->verdict.complete);
    assert_true(gcd_graph_summary(g)->verdict.unverified);
    gcd_graph_free(g);
}

static void test_what_is_forgiven(void **state)
{
    (void)state;
    struct gcd_graph *g = read_text("\xEF\xBB\xBF"
                                    "a 2 My Shop.exe\r\n"
                                    "r 7F0000001000 4 0 1\r\n"
                                    "\r\n"
                                    "o 7F0000001000 1 18  7F0000001018\tbeef \r\n"
                                    "o 7F0000001018 2 0028 7F0000001040\r\n"
                                    "o 7F0000001040 3 20\r\n"
                                    "t 3 Shop.Order\r\n"
                                    "t 2 Shop.Order[]\r\n"
                                    "t 1 Shop.Cache`2[System.String, Shop.Order]\r\n"
                                    "c My Shop.exe");
    assert_int_equal(gcd_graph_node_count(g), 3);
    assert_int_equal(gcd_graph_summary(g)->bytes, 96);
    assert_string_equal(gcd_graph_summary(g)->process_name, "My Shop.exe");
    assert_string_equal(gcd_graph_summary(g)->types[gcd_graph_node_type(g, 0)].name,
                        "Shop.Cache`2[System.String, Shop.Order]");
    assert_int_equal(gcd_graph_edge_count(g), 2);
    assert_int_equal(gcd_graph_notes(g)->edges_dangling, 1);
    assert_int_equal(gcd_graph_notes(g)->records_damaged, 0);
    assert_int_equal(gcd_graph_summary(g)->root_count, 1);
    assert_true(gcd_graph_summary(g)->verdict.complete);
    gcd_graph_free(g);
}

static void test_stamps(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name;
        int64_t stamp;
    } cases[] = {
        { "a 2 shop.exe 444", "shop.exe", 0x444 },
        { "a 2 cafe", "cafe", 0 },
        { "a 2 my cafe", "my", 0xcafe },
        { "a 2 my cafe 0", "my cafe", 0 },
        { "a 2 shop 123456789", "shop 123456789", 0 },
        { "a 2 ", "", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_graph *g = read_text(cases[i].line);
        assert_string_equal(gcd_graph_summary(g)->process_name, cases[i].name);
        assert_int_equal(gcd_graph_summary(g)->gc_start_ns, cases[i].stamp * 1000000);
        assert_false(gcd_graph_summary(g)->verdict.complete); /* no last record */
        assert_int_equal(gcd_graph_summary(g)->verdict.reasons[0].code, GCD_REASON_TRACE_TRUNCATED);
        gcd_graph_free(g);
    }
}

static void test_damaged_lines_are_counted(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "o 8",     "o 0 1 18", "o 8 1",     "o g 1 18",     "o 11112222333344445 1 18",
        "x 1",     "o8 1 18",  "t 1",       "t g A",        "r 8 1",
        "r 8 6 0", "r g 1 0",  "c other 0", "t 2 A\nt 2 B", "o 8 1 18 zz",
        "a 3 x 0"
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "a 2 x 0\n%s\nc x 0\n", lines[i]);
        struct gcd_graph *g = read_text(text);
        /* then the real end follows without a start */
        unsigned wanted = lines[i][0] == 'c' ? 2 : 1;
        if (gcd_graph_notes(g)->records_damaged != wanted)
            fail_msg("%s: %d", lines[i], (int)gcd_graph_notes(g)->records_damaged);
        assert_int_equal(gcd_graph_notes(g)->damaged_line,
                         strncmp(lines[i], "t 2", 3) == 0 ? 3 : 2);
        assert_false(gcd_graph_summary(g)->verdict.complete);
        gcd_graph_free(g);
    }
}

static void test_invalid_files(void **state)
{
    (void)state;
    struct gcd_graph *g;
    static const char clr[] = "a 2 x 0\no 0x10 1 20 0x20\n";
    assert_int_equal(read_bytes(clr, sizeof clr - 1, NULL, &g), GCD_E_UNSUPPORTED);
    static const char *const other[] = { "", "a", "hello", "Nettrace", "a2 x", "o ", "b 2 x" };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_equal(read_bytes(other[i], strlen(other[i]), NULL, &g), GCD_E_NOT_FOUND);
}

static void test_empty_and_rootless(void **state)
{
    (void)state;
    struct gcd_graph *g = read_text("a 2 x 0\nc x 0\n");
    assert_int_equal(gcd_graph_node_count(g), 0);
    gcd_graph_free(g);
    g = read_text("a 2 x 0\nt 1 A\no 8 1 8000000000000000 8 8\nc x 0\n");
    assert_int_equal(gcd_graph_node_size(g, 0), UINT64_C(1) << 63);
    assert_int_equal(gcd_graph_edge_count(g), 2);
    gcd_graph_free(g);
}

static uint8_t *to_gclog(const struct gcd_graph *g, struct gcd_sink **s, size_t *ret_n)
{
    assert_int_equal(gcd_sink_new_memory(NULL, s, &err), GCD_OK);
    assert_int_equal(gcd_write_graph(gcd_format_by_name("gclog"), g, *s, NULL, NULL, &err), GCD_OK);
    assert_int_equal(gcd_sink_commit(*s, &err), GCD_OK);
    return (uint8_t *)(uintptr_t)gcd_sink_memory(*s, ret_n);
}

#define LOST                                                                           \
    (GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS | \
     GRAPH_EQ_MODULES | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | GRAPH_EQ_VERDICT |    \
     GRAPH_EQ_NAMES | GRAPH_EQ_ROOT_FLAGS)

static void test_there_and_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 80), *h;
        struct gcd_sink *s, *t;
        size_t n, m;
        uint8_t *bytes = to_gclog(g, &s, &n);
        assert_int_equal(read_bytes(bytes, n, NULL, &h), GCD_OK);
        const char *d = graph_eq(g, h, LOST);
        if (d != NULL)
            fail_msg("seed %u: %s", (unsigned)seed, d);
        uint8_t *again = to_gclog(h, &t, &m);
        assert_int_equal(n, m);
        assert_memory_equal(bytes, again, n);
        gcd_sink_free(s);
        gcd_sink_free(t);
        gcd_graph_free(g);
        gcd_graph_free(h);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_example),    cmocka_unit_test(test_what_is_forgiven),
        cmocka_unit_test(test_stamps),         cmocka_unit_test(test_damaged_lines_are_counted),
        cmocka_unit_test(test_invalid_files),  cmocka_unit_test(test_empty_and_rootless),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
