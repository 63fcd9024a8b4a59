/*
 * The writer of .gcdump, byte for byte.
 */
#include "support/check.h"

#include <string.h>
#include <zlib.h>

#include "graph/graph_build.h"
#include "support/folder.h"
#include "support/run_graph.h"
#include "support/tb_gcdump.h"
#include "write/gcdump_put.h"

static struct gcd_build *new_build(void)
{
    struct gcd_build *b;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    gcd_build_summary(b)->verdict.complete = true;
    gcd_build_summary(b)->trace.ptr_bytes = 8;
    return b;
}

static uint32_t add_type(struct gcd_build *b, const char *name, const char *module)
{
    uint32_t t;
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = name, .module_path = module }, &t, NULL),
        GCD_OK);
    return t;
}

static void add_edges(struct gcd_build *b, const uint32_t *targets, size_t n)
{
    assert_int_equal(gcd_build_next_node(b, NULL), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, targets, n, NULL), GCD_OK);
}

static struct gcd_graph *seal(struct gcd_build *b)
{
    struct gcd_graph *g;
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    return g;
}

/* An object of type 0 at a multiple of 0x1000. */
static void add_node(struct gcd_build *b, uint64_t size)
{
    assert_int_equal(
        gcd_build_node(b, 0x1000 * (1 + (uint64_t)gcd_build_node_count(b)), 0, size, NULL), GCD_OK);
}

/*
 * The annotated example of the format description: an array that refers to the other one and to
 * itself, and another of 300 bytes. Two things differ: the children of the root, which depend on
 * the writer, and the position of the root in the blob: ours is first.
 */
static void test_bytes(void **state)
{
    (void)state;
    struct gcd_build *b = new_build();
    uint32_t t = add_type(b, "Demo.Node[]", "/app/Demo.dll");
    gcd_build_summary(b)->process = 4711;
    gcd_build_summary(b)->trace.start_unix_ms = 1000;
    gcd_build_summary(b)->gc_start_ns = 500;
    assert_int_equal(gcd_build_text(b, "demo", 4, &gcd_build_summary(b)->process_name, NULL),
                     GCD_OK);
    assert_int_equal(gcd_build_node(b, UINT64_C(0x7f0000001000), t, 32, NULL), GCD_OK);
    assert_int_equal(gcd_build_node(b, UINT64_C(0x7f0000001020), t, 300, NULL), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    add_edges(b, TB_LIST(uint32_t, 1, 0));
    add_edges(b, TB_LIST(uint32_t, 0));
    assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .kind = GCD_ROOT_STACK }, NULL), GCD_OK);
    struct gcd_graph *g = seal(b);
    struct tb_bytes out;
    struct gcd_write_notes notes = { 0 };
    assert_int_equal(run_graph_write("gcdump", g, NULL, &out, &notes, NULL), GCD_OK);

    static const uint8_t graph[] = "\x14\0\0\0!FastSerialization.1"
                                   "\x04\x04\x01\x0a\0\0\0\x08\0\0\0\x0a\0\0\0GCHeapDump\x06"
                                   "\x04\x04\x01\x01\0\0\0\0\0\0\0\x12\0\0\0Graphs.MemoryGraph\x06"
                                   "\x4c\x01\0\0\0\0\0\0"
                                   "\0\0\0\0" /* total size 332; the root is node 0 */
                                   "\x04\0\0\0"
                                   "\x09\0\0\0UNDEFINED"
                                   "\0\0\0\0"
                                   "\xff\xff\xff\xff"
                                   "\x0b\0\0\0Demo.Node[]"
                                   "\x20\0\0\0"
                                   "\x0d\0\0\0/app/Demo.dll"
                                   "\x0c\0\0\0[.NET Roots]"
                                   "\0\0\0\0"
                                   "\xff\xff\xff\xff"
                                   "\x0c\0\0\0[local vars]"
                                   "\0\0\0\0"
                                   "\xff\xff\xff\xff"
                                   "\x04\0\0\0"
                                   "\x02\0\0\0"
                                   "\x05\0\0\0"
                                   "\x09\0\0\0"
                                   "\x0e\0\0\0"
                                   "\x11\0\0\0"
                                   "\0\0"                 /* undefined */
                                   "\x04\x01\x03"         /* root: child +3 */
                                   "\x02\x02\x01\0"       /* object 0: children +1, +0 */
                                   "\x03\x82\x2c\x01\x7f" /* object 1: 300 bytes, child -1 */
                                   "\x06\x01\x7e"         /* local variables: child -2 */
                                   "\x04\0\0\0"
                                   "\0\0\0\0\0\0\0\0"
                                   "\0\x10\0\0\0\x7f\0\0"
                                   "\x20\x10\0\0\0\x7f\0\0"
                                   "\0\0\0\0\0\0\0\0"
                                   "\x08\x01\x06"
                                   "\x01"
                                   "\0\0\x80\x3f"
                                   "\0\0\x80\x3f"
                                   "\x01\x01";
    size_t n = sizeof graph - 1;
    assert_true(out.n > n);
    assert_memory_equal(out.p, graph, n);
    size_t log_n = out.p[n] | (size_t)out.p[n + 1] << 8;
    assert_memory_equal(out.p + n + 4, "gcdumpc: complete\n", 18);
    n += 4 + log_n;

    struct tb_bytes tail = { NULL, 0, 0 };
    tb_u64(&tail, UINT64_C(621355968000000000) + 10000000 + 5); /* 1 s and 500 ns after 1970 */
    tb_put(&tail, "\xff\xff\xff\xff\x04\0\0\0demo", 12);
    tb_u32(&tail, 4711);
    tb_zeros(&tail, 20);
    tb_put(&tail, "\x0c\0\0\0\0\x01", 6);
    size_t region = n + tail.n;
    tb_put(&tail, "\x0d\x07\0\0\0gcdumpc\x06\x06", 14);
    size_t table = n + tail.n;
    tb_u32(&tail, 3);
    tb_u32(&tail, (uint32_t)region);
    tb_u32(&tail, UINT32_C(0xd5a1c3f7)); /* a checksum follows */
    tb_u32(&tail, (uint32_t)crc32(crc32(0, out.p, (uInt)n), tail.p, (uInt)tail.n));
    tb_u32(&tail, (uint32_t)table);
    tb_u32(&tail, (uint32_t)table + 16);
    assert_int_equal(out.n, n + tail.n);
    assert_memory_equal(out.p + n, tail.p, tail.n);
    assert_true(notes.objects == 2 && notes.edges == 3 && notes.roots == 1 && notes.types == 1 &&
                notes.loss_count == 0);
    tb_free(&tail);
    tb_free(&out);
    gcd_graph_free(g);
}

/* Compressed integers compared with the test's own builder, at the ends of all ranges. */
static void test_cint(void **state)
{
    (void)state;
    struct gcd_sink *s;
    struct gcdump_out o;
    struct tb_bytes expected = { NULL, 0, 0 };
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    gcdump_out_init(&o, s);
    for (int shift = 0; shift < 32; shift++)
        for (int64_t near = -2; near <= 2; near++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int64_t v = sign * (INT64_C(1) << shift) + near;
                if (v < INT32_MIN || v > INT32_MAX)
                    continue;
                size_t before = expected.n;
                tb_gcdump_cint(&expected, (int32_t)v);
                assert_int_equal(gcdump_cint_bytes((int32_t)v), expected.n - before);
                gcdump_put_cint(&o, (int32_t)v);
            }
    assert_int_equal(gcdump_out_offset(&o), expected.n);
    gcdump_out_flush(&o);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    size_t n;
    const uint8_t *p = gcd_sink_memory(s, &n);
    assert_int_equal(n, expected.n);
    assert_memory_equal(p, expected.p, n);
    /* -1 - 2 = -3: the reference itself is right */
    assert_memory_equal(expected.p, "\x7d", 1);
    tb_free(&expected);
    gcd_sink_free(s);
}

/* Lengths count UTF-16 units, characters above U+FFFF are two surrogates, invalid UTF-8 becomes
 * U+FFFD. */
static void test_string(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xff";
    static const char expected[] = "\x06\0\0\0"
                                   "a\xc3\xa9\xe4\xb8\xad\xed\xa0\xbd\xed\xb8\x80\xef\xbf\xbd"
                                   "\0\0\0\0"
                                   "\xff\xff\xff\xff";
    struct gcd_sink *s;
    struct gcdump_out o;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    gcdump_out_init(&o, s);
    gcdump_put_string(&o, text);
    gcdump_put_string(&o, "");
    gcdump_put_string_or_null(&o, "");
    gcdump_out_flush(&o);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    size_t n;
    const uint8_t *p = gcd_sink_memory(s, &n);
    assert_int_equal(n, sizeof expected - 1);
    assert_memory_equal(p, expected, n);
    gcd_sink_free(s);
}

/* Sizes above 2 GiB are clamped, with a note; the total is the sum of the stored sizes, as every
 * reader computes it. */
static void test_large_sizes(void **state)
{
    (void)state;
    struct gcd_build *b = new_build();
    (void)add_type(b, "A", "");
    add_node(b, UINT64_C(1) << 32);
    add_node(b, INT32_MAX);
    add_node(b, UINT64_MAX);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    struct gcd_graph *g = seal(b);
    struct tb_bytes out;
    struct gcd_write_notes notes = { 0 };
    assert_int_equal(run_graph_write("gcdump", g, NULL, &out, &notes, NULL), GCD_OK);
    assert_int_equal(notes.loss_count, 1);
    assert_int_equal(notes.losses[0].count, 2);
    static const uint8_t sum[] = { 0xfd, 0xff, 0xff, 0x7f, 1, 0, 0, 0 }; /* 3 * (2^31 - 1) */
    assert_memory_equal(out.p + 0x54, sum, 8);
    tb_free(&out);
    gcd_graph_free(g);
}

/* The value of a dependent handle is a child of its key, after the references, and not a root. */
static void test_dependents(void **state)
{
    (void)state;
    struct gcd_build *b = new_build();
    (void)add_type(b, "A", "");
    for (int i = 0; i < 3; i++)
        add_node(b, 8);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    add_edges(b, NULL, 0);
    add_edges(b, TB_LIST(uint32_t, 2));
    assert_int_equal(gcd_build_dependent(b, 1, 0, NULL), GCD_OK);
    struct gcd_graph *g = seal(b), *back;
    struct tb_bytes out;
    struct gcd_write_notes notes = { 0 };
    assert_int_equal(run_graph_write("gcdump", g, NULL, &out, &notes, NULL), GCD_OK);
    assert_int_equal(notes.edges, 2);
    assert_int_equal(notes.roots, 0);
    assert_int_equal(run_graph_read(&gcd_r_gcdump, out.p, out.n, NULL, &back, NULL), GCD_OK);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(back, 1, &n);
    assert_true(n == 2 && edges[0] == 2 && edges[1] == 0);
    assert_int_equal(gcd_graph_summary(back)->root_count, 0);
    tb_free(&out);
    gcd_graph_free(g);
    gcd_graph_free(back);
}

/* A limit one below what a graph needs gives an error that names the limit; exactly enough works.
 */
static void test_limits(void **state)
{
    (void)state;
    struct gcd_build *b = new_build();
    (void)add_type(b, "A", "");
    for (int i = 0; i < 200; i++)
        add_node(b, 100);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    struct gcd_graph *g = seal(b);
    const struct gcd_write_options options = { 0 };
    /* blob: undefined, root, 200 objects of 2 bytes; room for all made-up nodes is asked for */
    const struct gcdump_limits enough = {
        .nodes = 1 + 200 + 10, .types = 2 + 10, .blob_bytes = 2 + 2 + 400, .file_bytes = 4000
    };
    char folder[FOLDER_BYTES];
    assert_int_equal(make_folder(folder), 0);
    for (int i = 0; i < 10; i++) {
        int which = i % 5;
        struct gcdump_limits l = enough;
        l.nodes -= which == 1;
        l.types -= which == 2;
        l.blob_bytes -= which == 3;
        l.file_bytes -= which == 4 ? 3000 : 0;
        struct gcd_sink *s;
        struct gcd_write_notes notes = { 0 };
        struct gcd_error err = GCD_ERROR_INIT;
        if (i < 5)
            assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
        else
            assert_int_equal(gcd_sink_open(path_in_folder(folder, "out"), NULL, &s, NULL), GCD_OK);
        gcd_status st = gcdump_write(g, s, &options, &l, &notes, &err);
        assert_int_equal(st, which == 0 ? GCD_OK : GCD_E_LIMIT);
        if (which > 0)
            assert_non_null(strstr(err.msg, "the gcdump format is limited to "));
        gcd_sink_free(s);
    }
    assert_int_equal(folder_entries(folder), 0);
    assert_int_equal(remove_folder(folder), 0);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_cint),
        cmocka_unit_test(test_string),     cmocka_unit_test(test_large_sizes),
        cmocka_unit_test(test_dependents), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
