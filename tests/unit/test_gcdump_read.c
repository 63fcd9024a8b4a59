/*
 * The reader of .gcdump: everything that each kind of file has ever contained, and what is refused.
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "read/gcdump_in.h"
#include "read/read.h"
#include "support/run_graph.h"
#include "support/tb_gcdump.h"

static struct gcd_graph *read_ok(const void *p, size_t n, const struct gcd_graph_options *options)
{
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (run_graph_read(&gcd_r_gcdump, p, n, options, &g, &err) != GCD_OK)
        fail_msg("%s", err.msg);
    return g;
}

static struct gcd_graph *read_sample(const char *wanted, const struct gcd_graph_options *options)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = tb_gcdump_sample(i, &b)) != NULL; i++) {
        if (strcmp(name, wanted) == 0) {
            struct gcd_graph *g = read_ok(b.p, b.n, options);
            tb_free(&b);
            return g;
        }
        tb_free(&b);
    }
    fail_msg("no sample %s", wanted);
    return NULL;
}

/* All kinds of files hold the same graph. */
static void test_samples(void **state)
{
    (void)state;
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = tb_gcdump_sample(i, &b)) != NULL; i++) {
        print_message("%s\n", name);
        assert_true(gcd_r_gcdump.probe(b.p, READ_HEAD_BYTES));
        struct gcd_graph *g = read_ok(b.p, b.n, NULL);
        const struct gcd_summary *f = gcd_graph_summary(g);
        assert_int_equal(f->objects, TB_GCDUMP_SAMPLE_OBJECTS);
        assert_int_equal(f->edges, TB_GCDUMP_SAMPLE_EDGES);
        assert_int_equal(f->bytes, 32 + 300 + 24 + UINT64_C(0x7fffffff));
        assert_int_equal(gcd_graph_summary(g)->root_count, TB_GCDUMP_SAMPLE_ROOTS);
        assert_int_equal(gcd_graph_notes(g)->edges_dangling, 1);
        assert_int_equal(gcd_graph_notes(g)->roots_dangling, 1);
        static const uint64_t addresses[] = { 0x1000, 0x1020, 0x2000, 0x3000, 0x8000000000 };
        for (uint32_t n = 0; n < 5; n++)
            assert_int_equal(gcd_graph_node_address(g, n), addresses[n]);
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, 0, &n);
        assert_true(n == 2 && edges[0] == 1 && edges[1] == 0);
        edges = gcd_graph_node_edges(g, 3, &n);
        assert_true(n == 2 && edges[0] == 4 && edges[1] == 4);
        assert_string_equal(f->trace.container, "gcdump");
        assert_true(gcd_graph_summary(g)->verdict.unverified);
        /* which is a sample */
        assert_int_equal(gcd_graph_summary(g)->verdict.complete, strcmp(name, "full") != 0);
        gcd_graph_free(g);
        tb_free(&b);
    }
}

static void test_roots(void **state)
{
    (void)state;
    static const struct {
        unsigned kind;
        uint32_t flags, node;
        const char *name, *type;
    } expected[TB_GCDUMP_SAMPLE_ROOTS] = {
        { GCD_ROOT_STATIC, 0, 1, "First", "Demo.Node[]" },
        { GCD_ROOT_STATIC, 0, 2, "<A.B>k__Field", "Demo.Never" },
        { GCD_ROOT_STATIC, 0, 0, "Field", "Demo.Lost+Inner" },
        { GCD_ROOT_OTHER, 0, 2, "",
          "Demo.Stra\xc3\x9f"
          "e\xf0\x9f\x98\x80" },
        { GCD_ROOT_STACK, 0, 0, "", "Demo.Node[]" },
        { GCD_ROOT_STACK, 0, 0, "", "Demo.Node[]" },
        { GCD_ROOT_HANDLE, GCD_ROOT_PINNED, 3, "",
          "Demo.Stra\xc3\x9f"
          "e\xf0\x9f\x98\x80" },
        { GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED, 4, "", "Demo.Node[]" },
        { GCD_ROOT_COM, GCD_ROOT_REFCOUNTED, 1, "", "Demo.Node[]" },
    };
    struct gcd_graph *g = read_sample("plain", NULL);
    bool seen[TB_GCDUMP_SAMPLE_ROOTS] = { false };
    for (size_t i = 0; i < TB_GCDUMP_SAMPLE_ROOTS; i++) {
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[i];
        size_t k = 0;
        while (k < TB_GCDUMP_SAMPLE_ROOTS &&
               (seen[k] || expected[k].kind != r->kind || expected[k].flags != r->flags ||
                expected[k].node != r->node || strcmp(expected[k].name, r->name) != 0 ||
                strcmp(expected[k].type, gcd_graph_summary(g)->types[r->type].name) != 0))
            k++;
        if (k == TB_GCDUMP_SAMPLE_ROOTS)
            fail_msg("root %zu: kind %u, flags %u, node %u, %s.%s", i, r->kind, r->flags, r->node,
                     gcd_graph_summary(g)->types[r->type].name, r->name);
        seen[k] = true;
        if (i > 0) /* statics first, wrappers last */
            assert_true(r->kind != GCD_ROOT_STATIC ||
                        gcd_graph_summary(g)->roots[i - 1].kind == GCD_ROOT_STATIC);
    }
    assert_int_equal(gcd_graph_summary(g)->roots[TB_GCDUMP_SAMPLE_ROOTS - 1].kind, GCD_ROOT_COM);
    assert_string_equal(gcd_graph_summary(g)->types[0].module_path, "/app/Demo.dll");
    gcd_graph_free(g);
}

static void test_unknown_is_kept(void **state)
{
    (void)state;
    struct gcd_graph *g = read_sample("plain", &(struct gcd_graph_options){ .keep_unknown = true });
    uint32_t unknown = gcd_graph_unknown(g);
    assert_int_equal(unknown, TB_GCDUMP_SAMPLE_OBJECTS);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, 2, &n);
    assert_true(n == 1 && edges[0] == unknown);
    assert_int_equal(gcd_graph_summary(g)->root_count, TB_GCDUMP_SAMPLE_ROOTS + 1);
    gcd_graph_free(g);
}

static void test_facts(void **state)
{
    (void)state;
    struct gcd_graph *g = read_sample("full", NULL);
    const struct gcd_summary *f = gcd_graph_summary(g);
    assert_string_equal(f->process_name, "demo");
    assert_int_equal(f->process, 77);
    /* ticks 635560373200000000: 2015-01-05 06:48:40 */
    assert_int_equal(f->trace.start_unix_ms, INT64_C(1420440520000));
    assert_int_equal(f->trace.ptr_bytes, 4);
    assert_int_equal(f->trace.format_version, 10);
    assert_int_equal(f->rcws, 2);
    assert_non_null(strstr(gcd_graph_summary(g)->verdict.reasons[0].text, "sample"));
    static const struct gcd_range expected[] = {
        { 0x10000, 0x1000, 0x1000, 2 }, { 0x11000, 0x1000, 0x1000, 1 },
        { 0x12000, 0x1000, 0x1000, 0 }, { 0x20000, 0x8000, 0x8000, 3 },
        { 0x30000, 0x8000, 0x8000, 4 },
    };
    assert_int_equal(gcd_graph_summary(g)->range_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct gcd_range *r = &gcd_graph_summary(g)->ranges[i];
        assert_true(r->start == expected[i].start && r->used_bytes == expected[i].used_bytes &&
                    r->generation == expected[i].generation);
        assert_int_equal(r->reserved_bytes, expected[i].reserved_bytes);
    }
    gcd_graph_free(g);
}

static void test_deferred_types(void **state)
{
    (void)state;
    struct gcd_graph *g = read_sample("deferred", NULL);
    assert_string_equal(gcd_graph_summary(g)->types[0].name, "TypeID(0x1231)");
    assert_string_equal(gcd_graph_summary(g)->types[1].name, "TypeID(0x1232)");
    assert_int_equal(gcd_graph_notes(g)->size_classes, 1);
    assert_string_equal(gcd_graph_summary(g)->types[0].module_path, "/app/Demo.dll");
    gcd_graph_free(g);
}

/* Types 1 to 3 and their size classes, with an object of each. */
static void test_size_classes_are_one_type(void **state)
{
    (void)state;
    static const struct tb_gcdump_type types[] = {
        { "UNDEFINED", 0, NULL },
        { "System.Byte[] (Bytes > 1K,NoPtrs,ElemSize=1)", -1, "/app/A.dll" },
        { "System.Byte[] (NoPtrs,ElemSize=1)", -1, "/app/A.dll" },
        { "System.Byte[] (Bytes > 100M)", -1, "/app/B.dll" },
        { "System.Byte[]", -1, "/app/B.dll" },
        { "A (Bytes > many)", -1, NULL },
        { "A (Bytes > K)", -1, NULL },
        { "A (Ptrs,)", -1, NULL },
        { "A(Ptrs)", -1, NULL },
        { " (Ptrs)", -1, NULL },
    };
    struct tb_gcdump_node nodes[9];
    for (uint32_t i = 0; i < 9; i++)
        nodes[i] = (struct tb_gcdump_node){ .type = 1 + i, .size = 1000, .address = 8 + 8 * i };
    struct tb_bytes b;
    tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, types, 10,
                   nodes, 9);
    struct gcd_graph *g = read_ok(b.p, b.n, NULL);
    const struct gcd_summary *f = gcd_graph_summary(g);
    static const char *const names[] = { "System.Byte[]", "System.Byte[]", "A (Bytes > many)",
                                         "A (Bytes > K)", "A (Ptrs,)",     "A(Ptrs)",
                                         " (Ptrs)" };
    assert_int_equal(f->type_count, 7);
    for (uint32_t t = 0; t < 7; t++) {
        assert_string_equal(f->types[t].name, names[t]);
        assert_int_equal(f->types[t].objects, t < 2 ? 2 : 1);
    }
    assert_int_equal(gcd_graph_notes(g)->size_classes, 3);
    gcd_graph_free(g);
    tb_free(&b);
}

/* In other programs' files only: ours spell names as C# does. */
static void test_brackets_are_the_runtimes(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name;
    } cases[] = {
        { "[]c", "<>c" },
        { "Shop.[]c__DisplayClass4_0", "Shop.<>c__DisplayClass4_0" },
        { "[Main]d__0", "<Main>d__0" },
        { "[[Main]$]g__Run", "<<Main>$>g__Run" },
        { "System.Func<[]c,A.[]c[]>[]", "System.Func<<>c,A.<>c[]>[]" },
        { "System.String<,>", "System.String[,]" },
        { "List<System.Int32<,,>>[]", "List<System.Int32[,,]>[]" },
        { "System.Int32[][]", "System.Int32[][]" },
        { "Item<*>", "Item[*]" },
        { "Item<,>[]", "Item[][,]" },
        { "A<B[]<,>>[]<*>[", "A<B[,][]>[*][][" },
        { "A<,", "A<," },
        { "[]", "[]" },
        { "[Odd", "[Odd" },
        { "A<B,C>", "A<B,C>" },
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        bool ours = i % 2 != 0;
        const struct tb_gcdump_type types[] = { { "UNDEFINED", 0, NULL },
                                                { cases[i / 2].file, 8, NULL } };
        static const struct tb_gcdump_node node = { .type = 1, .size = 8, .address = 8 };
        struct tb_bytes b;
        tb_gcdump_file(&b,
                       &(struct tb_gcdump_options){ .label_bytes = 4,
                                                    .version = 10,
                                                    .log = ours ? "gcdumpc: complete\n" : NULL },
                       types, 2, &node, 1);
        struct gcd_graph *g = read_ok(b.p, b.n, NULL);
        assert_string_equal(gcd_graph_summary(g)->types[0].name,
                            ours ? cases[i / 2].file : cases[i / 2].name);
        gcd_graph_free(g);
        tb_free(&b);
    }
}

/* ---- what is refused ---- */

static void expect(const void *p, size_t n, gcd_status expected, const char *text)
{
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = run_graph_read(&gcd_r_gcdump, p, n, NULL, &g, &err);
    if (st != expected || strstr(err.msg, text) == NULL)
        fail_msg("%s instead of %s: %s", gcd_status_name(st), gcd_status_name(expected), err.msg);
}

static const struct tb_gcdump_type two_types[] = { { "UNDEFINED", 0, NULL }, { "A", 8, NULL } };

static void expect_nodes(const struct tb_gcdump_node *nodes, size_t n, gcd_status expected,
                         const char *text)
{
    struct tb_bytes b;
    tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, two_types, 2,
                   nodes, n);
    if (expected == GCD_OK)
        gcd_graph_free(read_ok(b.p, b.n, NULL));
    else
        expect(b.p, b.n, expected, text);
    tb_free(&b);
}

static void test_bad_nodes(void **state)
{
    (void)state;
    expect_nodes(TB_LIST(struct tb_gcdump_node, { .type = 1, .size = -1, .address = 8 }), GCD_OK,
                 "");
    expect_nodes(TB_LIST(struct tb_gcdump_node, { .type = 2, .size = -1 }), GCD_E_FORMAT,
                 "no valid type");
    expect_nodes(TB_LIST(struct tb_gcdump_node,
                         { .type = 1, .size = -1, .child_count = 1, .children = { 1 } }),
                 GCD_E_FORMAT, "no node");
    expect_nodes(TB_LIST(struct tb_gcdump_node,
                         { .type = 1, .size = -1, .child_count = 1, .children = { UINT32_MAX } }),
                 GCD_E_FORMAT, "no node");
    expect_nodes(TB_LIST(struct tb_gcdump_node, { .undefined = true }), GCD_E_FORMAT,
                 "the root is not described");
}

/* Null stack slots and references are not references to something that is missing; two nodes of
 * that kind are damage. */
static void test_null_is_not_an_address(void **state)
{
    (void)state;
    static const struct tb_gcdump_type types[] = { { "UNDEFINED", 0, NULL },
                                                   { "[local vars]", 0, NULL },
                                                   { "A", 8, NULL } };
    struct tb_gcdump_node nodes[] = {
        { .type = 1, .size = 0, .child_count = 3, .children = { 1, 2, 3 } },
        { .type = 2, .size = 24, .address = 0x1000, .child_count = 3, .children = { 1, 2, 3 } },
        { .undefined = true },
        { .undefined = true, .address = 0x2000 },
    };
    for (uint64_t missing = 1; missing <= 2; missing++) {
        struct tb_bytes b;
        tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, types, 3,
                       nodes, 4);
        struct gcd_graph *g = read_ok(b.p, b.n, NULL);
        assert_int_equal(gcd_graph_notes(g)->edges_dangling, missing);
        assert_int_equal(gcd_graph_notes(g)->roots_dangling, missing);
        assert_int_equal(gcd_graph_summary(g)->root_count, 1);
        assert_int_equal(gcd_graph_summary(g)->edges, 1);
        gcd_graph_free(g);
        tb_free(&b);
        nodes[3].address = 0;
    }
}

/* Nodes that share one description would multiply their references without limit. */
static void test_overlapping_nodes(void **state)
{
    (void)state;
    struct tb_bytes b;
    struct tb_gcdump_node nodes[40] = { 0 };
    for (size_t i = 0; i < 40; i++)
        nodes[i] = (struct tb_gcdump_node){ .type = 1, .size = -1, .address = 8 + 8 * i };
    nodes[39].child_count = 6;
    for (size_t i = 0; i < 6; i++)
        nodes[39].children[i] = 39;
    tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, two_types, 2,
                   nodes, 40);
    gcd_graph_free(read_ok(b.p, b.n, NULL));
    /* 88 bytes of nodes: each but the last is two bytes long, the last eight */
    static const char end[] = "\x58\0\0\0\0\0";
    uint8_t *offsets = memmem(b.p, b.n, end, sizeof end - 1);
    assert_non_null(offsets);
    offsets -= 40 * 4;
    for (size_t i = 0; i < 40; i++)
        memcpy(offsets + 4 * i, offsets + 39 * 4, 4);
    expect(b.p, b.n, GCD_E_FORMAT, "nodes overlap");
    tb_free(&b);
}

static void test_other_files(void **state)
{
    (void)state;
    struct tb_bytes b;
    static const struct {
        uint32_t version;
        gcd_status st;
    } versions[] = {
        { 3, GCD_E_UNSUPPORTED },
        { 8, GCD_E_UNSUPPORTED },
        { 11, GCD_OK },
    };
    const struct tb_gcdump_node node = { .type = 1, .size = -1, .address = 8 };
    for (size_t i = 0; i < 3; i++) {
        tb_gcdump_file(
            &b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = versions[i].version },
            two_types, 2, &node, 1);
        if (versions[i].st == GCD_OK)
            gcd_graph_free(read_ok(b.p, b.n, NULL));
        else
            expect(b.p, b.n, versions[i].st, "version");
        tb_free(&b);
    }
    struct tb t;
    tb_init(&t, TB_V3, 8);
    tb_close(&t);
    assert_false(gcd_r_gcdump.probe(t.out.p, t.out.n));
    expect(t.out.p, t.out.n, GCD_E_UNSUPPORTED, "not a .gcdump");
    tb_done(&t);
    expect("", 0, GCD_E_UNSUPPORTED, "not a .gcdump");
}

static void expect_incomplete(const struct tb_bytes *b, const char *reason)
{
    struct gcd_graph *g = read_ok(b->p, b->n, NULL);
    const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
    if (v->complete || strstr(v->reasons[0].text, reason) == NULL)
        fail_msg("not \"%s\": %s", reason, v->complete ? "complete" : v->reasons[0].text);
    gcd_graph_free(g);
}

/* The trailer may be missing as long as nothing refers to it; the dump is then incomplete. */
static void test_cut(void **state)
{
    (void)state;
    struct tb_bytes b;
    (void)tb_gcdump_sample(0, &b);
    expect_incomplete(&(struct tb_bytes){ b.p, b.n - 4, 0 }, "ends early");
    expect_incomplete(&(struct tb_bytes){ b.p, b.n - 17, 0 }, "ends early");
    expect(b.p, b.n - 18, GCD_E_TRUNCATED, "ends early");
    expect(b.p, 400, GCD_E_TRUNCATED, "ends early");
    tb_free(&b);
    (void)tb_gcdump_sample(2, &b);
    expect(b.p, b.n - 4, GCD_E_TRUNCATED, "the table at its end is missing");
    tb_free(&b);
}

/* Other programs' files have no checksum: whatever they say twice is compared. */
static void test_contradictions_make_a_dump_incomplete(void **state)
{
    (void)state;
    static const struct {
        const char *reason;
        size_t at, n;      /* these bytes after FOUND are changed */
        const char *found; /* 8 bytes or more */
        const char *to;
    } cases[] = {
        { "the sum", 0, 1, "\x20\0\0\0\x0d\0\0\0", "\x21" },
        { "gaps", 1, 1, "\x02\x02\x01\0\x03\x82\x2c\x01", "\x01" },
        { "impossible characters", 3, 1, "Demo.Never", "\0" },
        { "impossible characters", 3, 1, "Demo.Never", "\x1f" },
        { "impossible characters", 9, 1, "Demo.Stra", "\x80" },
        { "address of another", 0, 1, "\x20\x10\0\0\0\0\0\0", "\0" },
        { "1 object of the file", 0, 2, "\x20\x10\0\0\0\0\0\0", "\0\0" },
        { "its root is an object", 0, 1, "\x07\0\0\0\x0f\0\0\0", "\x01" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tb_bytes b;
        (void)tb_gcdump_sample(0, &b);
        uint8_t *p = memmem(b.p, b.n, cases[i].found, 8);
        if (p == NULL)
            fail_msg("case %zu", i);
        memcpy(p + cases[i].at, cases[i].to, cases[i].n);
        expect_incomplete(&b, cases[i].reason);
        tb_free(&b);
    }
}

/* A small file can give one long name to any number of roots: it is read, and kept, once. */
static void test_a_long_static_name(void **state)
{
    (void)state;
    enum { NAME = 1 << 20, HOLDERS = 6, EACH = 6 };
    char *name = malloc(NAME + 64);
    assert_non_null(name);
    (void)snprintf(name, 64, "[static var A.");
    size_t n = strlen(name);
    memset(name + n, 'f', NAME);
    memcpy(name + n + NAME, "]", 2);
    const struct tb_gcdump_type types[] = {
        { "UNDEFINED", 0, NULL }, { "[.NET Roots]", 0, NULL }, { name, 0, NULL }, { "A", 8, NULL }
    };
    struct tb_gcdump_node nodes[1 + HOLDERS + EACH] = { { .type = 1, .child_count = HOLDERS } };
    for (uint32_t i = 0; i < HOLDERS; i++) {
        nodes[0].children[i] = 1 + i;
        nodes[1 + i] = (struct tb_gcdump_node){ .type = 2, .child_count = EACH };
        for (uint32_t k = 0; k < EACH; k++)
            nodes[1 + i].children[k] = 1 + HOLDERS + k;
    }
    for (uint32_t k = 0; k < EACH; k++)
        nodes[1 + HOLDERS + k] =
            (struct tb_gcdump_node){ .type = 3, .size = 8, .address = 0x1000 + 8 * k };
    struct tb_bytes file;
    tb_gcdump_file(&file,
                   &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10, .is_64bit = true },
                   types, 4, nodes, sizeof nodes / sizeof *nodes);
    struct gcd_limits limits = { .text_bytes = 2 * NAME };
    struct gcd_graph *g =
        read_ok(file.p, file.n, &(struct gcd_graph_options){ .context.limits = &limits });
    assert_int_equal(gcd_graph_summary(g)->root_count, HOLDERS * EACH);
    for (size_t i = 0; i < HOLDERS * EACH; i++) {
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[i];
        assert_true(r->kind == GCD_ROOT_STATIC && strlen(r->name) == NAME);
        assert_string_equal(gcd_graph_summary(g)->types[r->type].name, "A");
    }
    gcd_graph_free(g);
    tb_free(&file);
    free(name);
}

static void test_limits(void **state)
{
    (void)state;
    struct tb_bytes b;
    (void)tb_gcdump_sample(1, &b);
    static const struct gcd_limits limits[] = { { .types = 2 },
                                                { .roots = 2 },
                                                { .text_bytes = 10 } };
    for (size_t i = 0; i < 3; i++) {
        struct gcd_graph *g = NULL;
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(run_graph_read(&gcd_r_gcdump, b.p, b.n,
                                        &(struct gcd_graph_options){ .context.limits = &limits[i] },
                                        &g, &err),
                         GCD_E_LIMIT);
    }
    tb_free(&b);
}

/* Gives no memory and records the smallest block that was requested. */
static void *refuse(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    (void)ptr;
    (void)old_bytes;
    size_t *least = ctx;
    *least = new_bytes < *least ? new_bytes : *least;
    return NULL;
}

/* Five bytes for each unit overflow a 32-bit size_t: the name gets no memory, and never a block
 * that is too small. */
static void test_a_name_of_gigabytes(void **state)
{
    (void)state;
    const uint32_t units[] = { UINT32_C(0x33333333), UINT32_C(0x33333334), INT32_MAX };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t least = SIZE_MAX;
        struct gcdump_in f = { .alloc = { .resize = refuse, .ctx = &least },
                               .text_limit = UINT64_MAX };
        struct gcdump_string name = { .bytes = units[i], .units = units[i] };
        struct gcd_error err = GCD_ERROR_INIT;
        assert_int_equal(gcdump_text(&f, &name, &f.text, &f.text_room, &err), GCD_E_NOMEM);
        /* no request, or one that is large enough */
        assert_true(least == SIZE_MAX || least / 5 >= units[i]);
    }
}

/* ---- a real file, compared with PerfView's view of it ---- */

/* The text between quotes or tags, with XML entities decoded. */
static void xml_text(const char *p, const char *end, char *out, size_t size)
{
    static const struct {
        const char *entity;
        char c;
    } entities[] = {
        { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' },
    };
    size_t n = 0;
    while (p < end && n + 1 < size) {
        char c = *p;
        size_t len = 1;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (strncmp(p, entities[i].entity, strlen(entities[i].entity)) == 0) {
                c = entities[i].c;
                len = strlen(entities[i].entity);
            }
        out[n++] = c;
        p += len;
    }
    out[n] = '\0';
}

static bool attribute(const char *line, const char *name, char *out, size_t size)
{
    char key[40];
    (void)snprintf(key, sizeof key, " %s=\"", name);
    const char *p = strstr(line, key);
    if (p == NULL)
        return false;
    p += strlen(key);
    const char *end = strchr(p, '"');
    assert_non_null(end);
    xml_text(p, end, out, size);
    return true;
}

static unsigned long long number(const char *line, const char *name)
{
    char text[100];
    assert_true(attribute(line, name, text, sizeof text));
    return strtoull(text, NULL, 0);
}

/* Node 0 is "[JS Roots]", the others are objects, so all numbers are one less here. */
static void test_perfview(void **state)
{
    (void)state;
    char path[4096];
    const char *shared = getenv("GCDUMPC_SHARED_TRACES");
    (void)snprintf(path, sizeof path, "%s/gcdump/test1.gcdump",
                   shared != NULL ? shared : GCDUMPC_SOURCE "/../shared/traces");
    struct gcd_input *in;
    if (gcd_input_open(path, NULL, &in, NULL) != GCD_OK) {
        print_message(
            "skipped: no recordings of others; GCDUMPC_SHARED_TRACES names their folder\n");
        skip();
    }
    struct gcd_build *b;
    struct gcd_graph *g;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    assert_int_equal(gcd_r_gcdump.read(in, NULL, b, NULL), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    gcd_input_free(in);
    (void)strcpy(strrchr(path, '/'), "/test1_baseline.gcdump.xml.gz");
    gzFile z = gzopen(path, "rb");
    assert_non_null(z);
    static char line[1 << 16];
    char text[4096];
    uint32_t nodes = 0, types = 0;
    uint64_t bytes = 0;
    while (gzgets(z, line, sizeof line) != NULL) {
        if (strncmp(line, "  <NodeType ", 12) == 0) {
            assert_true(attribute(line, "Name", text, sizeof text));
            unsigned long long index = number(line, "Index");
            if (index > 0 && index < gcd_graph_summary(g)->type_count + 1)
                assert_string_equal(gcd_graph_summary(g)->types[(uint32_t)index - 1].name, text);
            types++;
        }
        if (strncmp(line, "  <Node ", 8) != 0 || number(line, "Index") == 0)
            continue;
        struct gcd_node n;
        gcd_graph_node(g, nodes++, &n);
        assert_int_equal(n.address, number(line, "Address"));
        assert_int_equal(n.size_bytes, number(line, "Size"));
        assert_int_equal(n.type + 1, number(line, "TypeIndex"));
        assert_int_equal(n.edge_count, number(line, "NumChildren"));
        bytes += n.size_bytes;
        char *p = line;
        if (n.edge_count > 0)
            assert_non_null(gzgets(z, line, sizeof line));
        for (size_t i = 0; i < n.edge_count;) {
            char *end;
            unsigned long child = strtoul(p, &end, 10);
            if (end == p) {
                assert_non_null(gzgets(z, line, sizeof line));
                p = line;
                continue;
            }
            assert_int_equal(n.edges[i++] + 1, child);
            p = end;
        }
    }
    assert_int_equal(gzclose(z), Z_OK);
    assert_int_equal(nodes, 6481);
    assert_int_equal(types, 1994);
    assert_int_equal(gcd_graph_node_count(g), 6481);
    assert_int_equal(gcd_graph_summary(g)->bytes, 1009270);
    assert_int_equal(bytes, 1009270);
    assert_int_equal(gcd_graph_summary(g)->type_count, 1992);
    assert_int_equal(gcd_graph_summary(g)->root_count, 2);
    assert_int_equal(gcd_graph_summary(g)->roots[0].kind, GCD_ROOT_OTHER);
    assert_string_equal(gcd_graph_summary(g)->process_name, "Idle");
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_unknown_is_kept),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_deferred_types),
        cmocka_unit_test(test_contradictions_make_a_dump_incomplete),
        cmocka_unit_test(test_size_classes_are_one_type),
        cmocka_unit_test(test_brackets_are_the_runtimes),
        cmocka_unit_test(test_bad_nodes),
        cmocka_unit_test(test_overlapping_nodes),
        cmocka_unit_test(test_null_is_not_an_address),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_a_long_static_name),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_a_name_of_gigabytes),
        cmocka_unit_test(test_perfview),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
