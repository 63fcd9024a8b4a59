/*
 * Dart heap snapshots: the worked example byte for byte, how roots, modules and lengths are stored,
 * files from a Dart VM, and files that cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <unistd.h>

#include <gcdumpc/read.h>
#include <gcdumpc/writer.h>

#include "base/cur.h"
#include "read/read.h"
#include "support/check.h"
#include "support/dart_sample.h"
#include "support/graph_gen.h"
#include "support/shop.h"

struct file {
    struct gcd_sink *sink;
    const uint8_t *p;
    size_t n;
    struct gcd_write_notes notes;
};

static struct file write_dart(const struct gcd_graph *g)
{
    struct file f;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_sink_new_memory(NULL, &f.sink, &err), GCD_OK);
    assert_int_equal(gcd_write_graph(gcd_format_by_name("dart"), g, f.sink, NULL, &f.notes, &err),
                     GCD_OK);
    assert_int_equal(gcd_sink_commit(f.sink, &err), GCD_OK);
    f.p = gcd_sink_memory(f.sink, &f.n);
    return f;
}

static gcd_status read_input(struct gcd_input *in, const struct gcd_graph_options *options,
                             struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_build *b;
    assert_int_equal(gcd_build_new(options, &b, err), GCD_OK);
    gcd_status st = gcd_r_dart.read(in, options, b, err);
    if (st == GCD_OK)
        return gcd_build_seal(b, ret, err);
    gcd_build_free(b);
    return st;
}

static gcd_status read_dart(const void *p, size_t n, const struct gcd_graph_options *options,
                            struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_input *in;
    *err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_input_from_memory(p, n, NULL, &in, err), GCD_OK);
    gcd_status st = read_input(in, options, ret, err);
    gcd_input_free(in);
    return st;
}

static struct gcd_graph *must_read(const void *p, size_t n)
{
    struct gcd_error err;
    struct gcd_graph *g;
    if (read_dart(p, n, NULL, &g, &err) != GCD_OK)
        fail_msg("%s", err.msg);
    return g;
}

/* The example of the format reference, plus decoys. */
static const uint8_t example[] = "dartheap\x00\x04shop\xec\x02\x80\x20\x00"
                                 "\x0d"
                                 "\x00\x04Root\x00\x00\x07gcdumpc\x00"
                                 "\x00\x12[static variables]\x00\x00\x00\x00"
                                 "\x00\x0aShop.Store\x00\x15package:Shop/Shop.dll\x00\x00"
                                 "\x00\x0cShop.Order[]\x00\x15package:Shop/Shop.dll\x00\x00"
                                 "\x00\x0aShop.Order\x00\x15package:Shop/Shop.dll\x00\x00"
                                 "\x00\x0e_OneByteString\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x0e_TwoByteString\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x05_List\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x0e_ImmutableList\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x0d_WeakProperty\x00\x09"
                                 "dart:core\x00\x02\x01\x00\x04key_\x00\x01\x01\x06value_\x00"
                                 "\x00\x0e_WeakReference\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x0aPatchClass\x00\x09"
                                 "dart:core\x00\x00"
                                 "\x00\x0e"
                                 "FinalizerEntry\x00\x0e"
                                 "dart:_internal\x00\x02\x01\x00\x07"
                                 "detach_\x00\x01\x01\x06value_\x00"
                                 "\x04\x05"
                                 "\x01\x00\x00\x01\x02"
                                 "\x02\x00\x08\x06static\x01\x03"
                                 "\x03\x18\x00\x01\x04"
                                 "\x04\x28\x07\x02\x01\x05"
                                 "\x05\xac\x02\x00\x00"
                                 "\x00"
                                 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "gcdumpcc"; /* complete; then the checksum */
#define EXAMPLE_BYTES (sizeof example - 1)

static void test_worked_example(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(300, false);
    struct file f = write_dart(g);
    assert_int_equal(f.n, EXAMPLE_BYTES + 4);
    assert_memory_equal(f.p, example, EXAMPLE_BYTES);
    assert_int_equal(gcd_le32(f.p + EXAMPLE_BYTES), crc32(0, example, EXAMPLE_BYTES));
    assert_int_equal(f.notes.objects, 3);
    assert_int_equal(f.notes.edges, 2);
    assert_int_equal(f.notes.roots, 1);
    assert_int_equal(f.notes.types, 3);
    /* the range, and the name of the static variable */
    assert_int_equal(f.notes.loss_count, 2);
    assert_int_equal(f.notes.losses[0].count, 1);
    assert_int_equal(f.notes.losses[1].count, 1);
    struct gcd_graph *back = must_read(f.p, f.n);
    assert_null(graph_eq(g, back,
                         GRAPH_EQ_ADDRESSES | GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_RANGES |
                             GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES | GRAPH_EQ_FACTS));
    assert_string_equal(gcd_graph_summary(back)->types[2].module_path, "Shop.dll");
    assert_string_equal(gcd_graph_summary(back)->process_name, "shop");
    assert_int_equal(gcd_graph_summary(back)->roots[0].type, 0);
    gcd_graph_free(back);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);
}

static bool contains(const struct file *f, const char *text, size_t n)
{
    return memmem(f->p, f->n, text, n) != NULL;
}
#define CONTAINS(f, text) contains(f, text, sizeof text - 1)

/* Losses, the groups of roots and their order; weak roots alone get no group. */
static void test_roots(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "A" }),
        SHOP_NODES({ 0, 24 }, { 0, 32 }),
        SHOP_EDGES({ 0, 0 }, { 0, 1 }, { 0, 1 }),
        SHOP_ROOTS({ .kind = GCD_ROOT_STATIC, .name = "s" },
                   { .kind = GCD_ROOT_STACK, .flags = GCD_ROOT_INTERIOR },
                   { .kind = GCD_ROOT_FINALIZER }, { .kind = GCD_ROOT_HANDLE, .node = 1 },
                   { .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_PINNED },
                   { .kind = GCD_ROOT_COM, .flags = GCD_ROOT_REFCOUNTED },
                   { .kind = GCD_ROOT_OTHER }, { .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK }),
        SHOP_DEPENDENTS({ 1, 0 }, { 0, 1 }),
    });
    struct file f = write_dart(g);
    assert_true(CONTAINS(&f, "\x01\x00\x00\x07\x02\x03\x04\x05\x06\x07\x08"
                             "\x02\x00\x08\x06static\x01\x09"
                             "\x03\x00\x08\x06handle\x01\x0a"
                             "\x04\x00\x08\x06pinned\x01\x09"
                             "\x05\x00\x08\x05other\x01\x09"
                             "\x06\x00\x08\x05local\x01\x09"
                             "\x07\x00\x08\x0bref-counted\x01\x09"
                             "\x08\x00\x08\x09"
                             "finalizer\x01\x09"
                             "\x09\x18\x00\x04\x09\x0a\x0a\x0a"
                             "\x09\x20\x00\x01\x09"
                             "\x00\x00"));
    assert_int_equal(f.notes.loss_count, 4);
    assert_int_equal(f.notes.roots, 7);
    struct gcd_graph *back = must_read(f.p, f.n);
    assert_null(graph_eq(g, back,
                         GRAPH_EQ_ADDRESSES | GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_ROOT_FLAGS |
                             GRAPH_EQ_WEAK_ROOTS | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_TYPE_IDS |
                             GRAPH_EQ_FACTS | GRAPH_EQ_ROOT_ORDER));
    gcd_graph_free(back);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);
}

/* A URI must parse, and the module must come back out of it. */
static void test_modules(void **state)
{
    (void)state;
    static const char *const modules[] = { "",        "/app/My Shop.dll", "C:\\x\\a:b%2F.exe",
                                           "dynamic", "/x/\xC3\x9C.dll",  "/x/unknown.dll",
                                           "/x/.dll", "folder/" };
    static const char *const uris[] = { "package:unknown/unknown",
                                        "package:My%20Shop/My%20Shop.dll",
                                        "package:a%3Ab%252F/a%3Ab%252F.exe",
                                        "package:dynamic/dynamic",
                                        "package:%C3%9C/%C3%9C.dll",
                                        "package:unknown/unknown.dll",
                                        "package:.dll/.dll",
                                        "package:unknown/unknown" };
    static const char *const back_modules[] = {
        "", "My Shop.dll", "a:b%2F.exe", "dynamic", "\xC3\x9C.dll", "unknown.dll", ".dll", ""
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        struct gcd_graph *g = shop_build(&(struct shop){
            SHOP_TYPES({ .name = "A", .module_path = modules[i] }), SHOP_NODES({ 0, 24 }) });
        struct file f = write_dart(g);
        char class_text[200];
        int n = snprintf(class_text, sizeof class_text,
                         "\x01"
                         "A%c%c%s",
                         0, (int)strlen(uris[i]), uris[i]);
        if (!contains(&f, class_text, (size_t)n))
            fail_msg("%s is not in the file of %s", uris[i], modules[i]);
        struct gcd_graph *back = must_read(f.p, f.n);
        assert_string_equal(gcd_graph_summary(back)->types[0].module_path, back_modules[i]);
        gcd_graph_free(back);
        gcd_graph_free(g);
        gcd_sink_free(f.sink);
    }
}

/* The data of the object of one type and SIZE: NULL = none. */
static void expect_length(const struct shop *s, const char *data, size_t n)
{
    struct gcd_graph *g = shop_build(s);
    struct file f = write_dart(g);
    char object[64] = "\x01\x00\x00\x00\x02"; /* the root before it; class 2 */
    size_t at = 5;
    uint64_t size = s->nodes[0].size_bytes;
    for (; size >= 0x80; size >>= 7)
        object[at++] = (char)(size | 0x80);
    object[at++] = (char)size;
    memcpy(object + at, data, n);
    if (!contains(&f, object, at + n))
        fail_msg("%s of %u bytes has other data", s->types[0].name,
                 (unsigned)s->nodes[0].size_bytes);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);
}
#define EXPECT_LENGTH(data, ...) expect_length(&(struct shop){ __VA_ARGS__ }, data, sizeof data - 1)

static void test_lengths(void **state)
{
    (void)state;
    EXPECT_LENGTH("\x07\x00\x00", SHOP_TYPES({ .name = "System.String" }), SHOP_NODES({ 0, 22 }));
    EXPECT_LENGTH("\x07\x05\x00", SHOP_TYPES({ .name = "System.String" }),
                  SHOP_NODES({ 0, 32 }, { 0, 22 }));
    EXPECT_LENGTH("\x07\x09\x00", SHOP_TYPES({ .name = "System.String" }),
                  SHOP_NODES({ 0, 32 }, { 0, 14 }), .ptr_bytes = 4);
    EXPECT_LENGTH("\x07\x88\x27\x00", SHOP_TYPES({ .name = "System.Byte[]" }),
                  SHOP_NODES({ 0, 5024 }));
    EXPECT_LENGTH("\x07\x02\x00", SHOP_TYPES({ .name = "System.Byte[][]" }), SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x07\x04\x00", SHOP_TYPES({ .name = "System.Int32[]" }), SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x07\x07\x00", SHOP_TYPES({ .name = "System.Int32[]" }), SHOP_NODES({ 0, 40 }),
                  .ptr_bytes = 4);
    EXPECT_LENGTH("\x07\x0c\x00", SHOP_TYPES({ .name = "System.Int32[,]" }), SHOP_NODES({ 0, 88 }));
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.Int32[,]" }), SHOP_NODES({ 0, 88 }),
                  .ptr_bytes = 4);
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.Int32[*]" }), SHOP_NODES({ 0, 88 }));
    /* an enum has a known size, a structure does not, and a name without a namespace may belong to
     * another type */
    EXPECT_LENGTH("\x07\x10\x00",
                  SHOP_TYPES({ .name = "N.Color[]" }, { .name = "N.Color", .element_type = 5 }),
                  SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x00\x00",
                  SHOP_TYPES({ .name = "N.Pair[]" }, { .name = "N.Pair", .element_type = 0x11 }),
                  SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x00\x00",
                  SHOP_TYPES({ .name = "Entry[]" }, { .name = "Entry", .element_type = 0x12 }),
                  SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x00\x00",
                  SHOP_TYPES({ .name = "N.X[]" }, { .name = "N.X", .element_type = 0x12 },
                             { .name = "N.X", .element_type = 0x11 }),
                  SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x00\x00",
                  SHOP_TYPES({ .name = "N.X[]" }, { .name = "N.X", .element_type = 0x11 },
                             { .name = "N.X", .element_type = 0x12 }),
                  SHOP_NODES({ 0, 40 }));
    /* a recording says what the elements are */
    EXPECT_LENGTH("\x07\x02\x00", SHOP_TYPES({ .name = "N.IThing[]", .parameters = { 0x12 } }),
                  SHOP_NODES({ 0, 40 }));
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "Entry[]", .parameters = { 0x11 } }),
                  SHOP_NODES({ 0, 40 }));
    /* sizes that are not a multiple of an element */
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.Int32[]" }), SHOP_NODES({ 0, 41 }));
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.String" }), SHOP_NODES({ 0, 20 }));
    /* Mono rounds up */
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.String" }),
                  SHOP_NODES({ 0, 32 }, { 0, 24 }));
    EXPECT_LENGTH("\x00\x00", SHOP_TYPES({ .name = "System.Byte[]" }, { .name = "System.String" }),
                  SHOP_NODES({ 0, 40 }, { 1, 24 }));
}

/* A dangling reference is 0 in the file, and the node that represents its target is left out. */
static void test_unknown(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .name = "A" }),
        SHOP_NODES({ 0, 24 }),
        SHOP_EDGES({ 0, GCD_NODE_NONE }, { 0, 0 }),
        SHOP_ROOTS({ .kind = GCD_ROOT_STACK }, { .kind = GCD_ROOT_STACK, .node = GCD_NODE_NONE }),
        .keep_unknown = true,
    });
    struct file f = write_dart(g);
    assert_true(CONTAINS(&f, "\x05\x03"
                             "\x01\x00\x00\x01\x02"
                             "\x02\x00\x08\x05local\x02\x03\x00"
                             "\x03\x18\x00\x02\x00\x03"
                             "\x00"));
    assert_false(CONTAINS(&f, "UNKNOWN"));
    struct gcd_graph *back = must_read(f.p, f.n);
    assert_int_equal(gcd_graph_notes(back)->edges_dangling, 1);
    assert_int_equal(gcd_graph_notes(back)->roots_dangling, 1);
    gcd_graph_free(back);
    struct gcd_error err;
    assert_int_equal(
        read_dart(f.p, f.n, &(struct gcd_graph_options){ .keep_unknown = true }, &back, &err),
        GCD_OK);
    assert_null(graph_eq(g, back, GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_FACTS));
    gcd_graph_free(back);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    return slash != NULL ? slash + 1 : back != NULL ? back + 1 : path;
}

/* Types with equal names may have any number of modules: those of the objects must be the right
 * ones. */
static void expect_modules(const struct gcd_graph *g, const struct gcd_graph *back)
{
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        const struct gcd_type *a = &gcd_graph_summary(g)->types[gcd_graph_node_type(g, i)];
        const struct gcd_type *b = &gcd_graph_summary(back)->types[gcd_graph_node_type(back, i)];
        assert_string_equal(file_of(a->module_path), b->module_path);
        if (a->name[0] != '\0')
            assert_string_equal(a->name, b->name);
    }
}

static void test_random(void **state)
{
    (void)state;
    const unsigned lost = GRAPH_EQ_ADDRESSES | GRAPH_EQ_ROOT_FLAGS | GRAPH_EQ_ROOT_NAMES |
                          GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_WEAK_ROOTS | GRAPH_EQ_DEPENDENTS |
                          GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES |
                          GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | GRAPH_EQ_NAMES;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        bool keep = seed % 3 == 0;
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed, .max_nodes = seed % 10 == 0 ? 3000 : 60, .keep_unknown = keep });
        struct file f = write_dart(g);
        struct gcd_graph *back;
        struct gcd_error err;
        if (read_dart(f.p, f.n, &(struct gcd_graph_options){ .keep_unknown = keep }, &back, &err) !=
            GCD_OK)
            fail_msg("seed %u: %s", (unsigned)seed, err.msg);
        const char *wrong = graph_eq(g, back, lost);
        if (wrong != NULL)
            fail_msg("seed %u: %s", (unsigned)seed, wrong);
        expect_modules(g, back);
        /* everything that this format loses is lost by now */
        struct file again = write_dart(back);
        struct gcd_graph *third;
        if (read_dart(again.p, again.n, &(struct gcd_graph_options){ .keep_unknown = keep }, &third,
                      &err) != GCD_OK)
            fail_msg("seed %u, once more: %s", (unsigned)seed, err.msg);
        wrong = graph_eq(back, third, GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS);
        if (wrong != NULL)
            fail_msg("seed %u, once more: %s", (unsigned)seed, wrong);
        gcd_graph_free(third);
        gcd_sink_free(again.sink);
        gcd_graph_free(back);
        gcd_graph_free(g);
        gcd_sink_free(f.sink);
    }
}

/* ---- files of a Dart VM ---- */

static void test_vm(void **state)
{
    (void)state;
    struct gcd_graph *g = must_read(dart_sample, dart_sample_bytes);
    assert_int_equal(gcd_graph_node_count(g), 10);
    assert_int_equal(gcd_graph_summary(g)->type_count, 4);
    static const char *const names[] = { "Read-Only Pages", "Isolate", "Node", "Class 0x6" };
    static const char *const modules[] = { "", "", "package:app/src/a.dart", "core" };
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(gcd_graph_summary(g)->types[i].name, names[i]);
        assert_string_equal(gcd_graph_summary(g)->types[i].module_path, modules[i]);
    }
    assert_false(gcd_graph_summary(g)->types[3].named);
    assert_int_equal(gcd_graph_summary(g)->root_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gcd_graph_summary(g)->roots[i].node, i);
        assert_int_equal(gcd_graph_summary(g)->roots[i].kind, GCD_ROOT_OTHER);
    }
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, 2, &n);
    assert_int_equal(n, 2); /* 0 is no reference */
    assert_int_equal(edges[0], 3);
    assert_int_equal(edges[1], 2);
    assert_int_equal(gcd_graph_notes(g)->edges_dangling, 1); /* to the root */
    assert_int_equal(gcd_graph_edge_count(g), 6);
    assert_int_equal(gcd_graph_summary(g)->bytes, 0x10 + 2 * 0x18 + 6 * 8);
    assert_true(gcd_graph_summary(g)->verdict.complete);
    gcd_graph_free(g);
}

/* Objects that only look like groups of roots: their type has such a name, but they lie below
 * another object or have a size. */
static void test_not_a_group(void **state)
{
    (void)state;
    struct gcd_graph *g =
        shop_build(&(struct shop){ SHOP_TYPES({ .name = "[handles]" }),
                                   SHOP_NODES({ 0, 0 }, { 0, 0 }), SHOP_EDGES({ 0, 1 }) });
    struct file f = write_dart(g);
    struct gcd_graph *back = must_read(f.p, f.n);
    assert_int_equal(gcd_graph_node_count(back), 2);
    assert_int_equal(gcd_graph_summary(back)->root_count, 0);
    gcd_graph_free(back);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);

    static const uint8_t file[] = "dartheap\x00\x00\x08\x08\x00"
                                  "\x03"
                                  "\x00\x04Root\x00\x00\x00\x00"
                                  "\x00\x09[handles]\x00\x00\x00\x00"
                                  "\x00\x01"
                                  "A\x00\x00\x00\x00"
                                  "\x04\x05"
                                  "\x01\x00\x00\x01\x02"
                                  "\x02\x00\x00\x01\x04"
                                  "\x02\x08\x00\x00"
                                  "\x03\x00\x00\x01\x05"
                                  "\x02\x00\x00\x01\x03"
                                  "\x00";
    back = must_read(file, sizeof file - 1);
    assert_int_equal(gcd_graph_node_count(back), 3);
    assert_int_equal(gcd_graph_summary(back)->root_count, 1);
    assert_int_equal(gcd_graph_summary(back)->roots[0].node, 1);
    assert_int_equal(gcd_graph_summary(back)->roots[0].kind, GCD_ROOT_HANDLE);
    assert_int_equal(gcd_graph_edge_count(back), 2);
    gcd_graph_free(back);
}

/* Files written in 2019 end after the properties: no hash codes, nothing else. */
static void test_without_hash_codes(void **state)
{
    (void)state;
    struct gcd_graph *g = must_read(example, EXAMPLE_BYTES - 20);
    assert_int_equal(gcd_graph_node_count(g), 3);
    gcd_graph_free(g);
}

/* ---- files that cannot be read ---- */

static void expect_failure(const void *p, size_t n, gcd_status st, uint64_t off, const char *text)
{
    struct gcd_error err;
    struct gcd_graph *g;
    assert_int_equal(read_dart(p, n, NULL, &g, &err), st);
    if (strstr(err.msg, text) == NULL)
        fail_msg("%s is not in %s", text, err.msg);
    assert_int_equal(err.off, off);
}

/* The example with the byte at AT replaced. */
static void expect_changed(size_t at, unsigned byte, gcd_status st, uint64_t off, const char *text)
{
    uint8_t p[EXAMPLE_BYTES];
    memcpy(p, example, EXAMPLE_BYTES);
    p[at] = (uint8_t)byte;
    expect_failure(p, EXAMPLE_BYTES, st, off, text);
}

static void test_bad(void **state)
{
    (void)state;
    const size_t tail = 8 + 20 + 1, order = EXAMPLE_BYTES - tail - 5, array = order - 6,
                 store = array - 5, group = store - 12, root = group - 5, counts = root - 2;
    expect_changed(3, 'T', GCD_E_FORMAT, 3, "not a Dart heap snapshot");
    expect_changed(counts, 3, GCD_E_FORMAT, array + 4, "more than the announced 3 references");
    expect_changed(counts + 1, 4, GCD_E_FORMAT, array + 5, "object 5 of 4");
    expect_changed(counts + 1, 6, GCD_E_FORMAT, order + 5, "class 0 of 13");
    expect_changed(order, 14, GCD_E_FORMAT, order, "class 14 of 13");
    expect_changed(array + 2, 9, GCD_E_FORMAT, array + 2, "unknown kind 9");
    expect_changed(store + 4, 6, GCD_E_FORMAT, store + 4, "object 6 of 5");
    expect_failure("dartheap\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 19, GCD_E_FORMAT, 9,
                   "more than 64 bits");
    expect_failure("dartheap\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01xyz", 22, GCD_E_LIMIT,
                   GCD_OFF_NONE, "longer than allowed");
    expect_failure("dartheap\x00\xff\xff\xff\x7fxyz", 16, GCD_E_TRUNCATED, 16, "end early");
    expect_failure("", 0, GCD_E_TRUNCATED, 0, "end early");
    expect_failure(
        "dartheap\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 26,
        GCD_E_LIMIT, GCD_OFF_NONE, "too many for a graph");
    for (size_t n = 0; n < EXAMPLE_BYTES - 8 - 20; n++)
        expect_failure(example, n, GCD_E_TRUNCATED, n, "end early");
}

static void test_limits(void **state)
{
    (void)state;
    struct gcd_graph *g;
    struct gcd_error err;
    struct gcd_limits types = { .types = 12 }, text = { .text_bytes = 100 };
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &types }, &g, &err),
                     GCD_E_LIMIT);
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &text }, &g, &err),
                     GCD_E_LIMIT);
    text.text_bytes = 3; /* "shop" */
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &text }, &g, &err),
                     GCD_E_LIMIT);
    assert_string_equal(err.msg, "a name of 4 bytes is longer than allowed");
    text.text_bytes = 7; /* but not "[static variables]" */
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &text }, &g, &err),
                     GCD_E_LIMIT);
    assert_string_equal(err.msg, "a name of 18 bytes is longer than allowed");
    types.types = 13;
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &types }, &g, &err),
                     GCD_OK);
    gcd_graph_free(g);
    /* 0 where size_t has 32 bits */
    struct gcd_limits none = { .types = UINT64_C(1) << 32, .text_bytes = UINT64_C(1) << 32 };
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.limits = &none }, &g, &err),
                     GCD_OK);
    gcd_graph_free(g);
    gcd_cancel_flag cancel;
    atomic_init(&cancel, true);
    assert_int_equal(read_dart(example, EXAMPLE_BYTES,
                               &(struct gcd_graph_options){ .context.cancel = &cancel }, &g, &err),
                     GCD_E_CANCELED);
}

/* The file changes between the two passes. */
struct writer {
    uint8_t *at;
    const char *bytes;
    size_t n;
};

#define PROGRESS_TOTAL (UINT64_C(1) << 40)

static void write_before_the_second_reading(void *ctx, uint64_t done, uint64_t total)
{
    const struct writer *w = ctx;
    if (done >= total / 2)
        memcpy(w->at, w->bytes, w->n);
}

static void test_input_that_changes(void **state)
{
    (void)state;
    const size_t order = EXAMPLE_BYTES - 8 - 20 - 1 - 5, array = order - 6, store = array - 5,
                 group = store - 12, root = group - 5, counts = root - 2;
    const struct {
        size_t at, n;
        const char *bytes, *why;
    } rows[] = {
        /* as it is */
        { array, 6, "\x04\x28\x07\x02\x01\x05", NULL },
        /* one reference fewer */
        { array, 6, "\x04\xa8\x00\x07\x02\x00", "the input has changed since" },
        { counts, 1, "\x05", "the input has changed since" },
        { counts + 1, 1, "\x04", "the input has changed since" },
        /* no longer a group of roots */
        { group, 1, "\x03", "the input has changed since" },
        { order, 5, "\x05\x02\x00\x01\x01", "more than the announced 4 references" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t p[EXAMPLE_BYTES];
        struct writer w = { .at = p + rows[i].at, .bytes = rows[i].bytes, .n = rows[i].n };
        struct gcd_graph_options o = { .context = { .progress = write_before_the_second_reading,
                                                    .progress_ctx = &w },
                                       .progress_total = PROGRESS_TOTAL };
        struct gcd_graph *g = NULL;
        struct gcd_error err;
        memcpy(p, example, EXAMPLE_BYTES);
        assert_int_equal(read_dart(p, EXAMPLE_BYTES, &o, &g, &err),
                         rows[i].why == NULL ? GCD_OK : GCD_E_FORMAT);
        if (rows[i].why != NULL && strstr(err.msg, rows[i].why) == NULL)
            fail_msg("row %zu: %s", i, err.msg);
        if (rows[i].why == NULL)
            gcd_graph_free(g);
    }
}

static void test_probe(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct gcd_graph *g;
    assert_int_equal(gcd_input_from_memory(example, EXAMPLE_BYTES, NULL, &in, NULL), GCD_OK);
    assert_int_equal(gcd_graph_read(in, NULL, &g, NULL), GCD_OK);
    assert_string_equal(gcd_graph_summary(g)->trace.container, "dart");
    gcd_graph_free(g);
    gcd_input_free(in);
    assert_true(gcd_r_dart.probe(example, 8));
    assert_false(gcd_r_dart.probe(example, 7));
    assert_false(gcd_r_dart.probe((const uint8_t *)"Nettrace", 8));
}

/* Numbers and names that cross slice boundaries, and a pipe that is read twice. */
static void test_pipe(void **state)
{
    (void)state;
    char path[] = "/tmp/test-dart-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 2, .max_nodes = 300000, .plain_sizes = true });
    assert_true(gcd_graph_node_count(g) > 50000);
    struct file f = write_dart(g);
    assert_true(f.n > 600000);
    assert_int_equal(write(fd, f.p, f.n), f.n);
    assert_int_equal(close(fd), 0);
    char command[64];
    (void)snprintf(command, sizeof command, "dd if=%s bs=777 status=none", path);
    FILE *dd = popen(command, "r");
    assert_non_null(dd);
    int saved = dup(STDIN_FILENO);
    assert_true(dup2(fileno(dd), STDIN_FILENO) >= 0);
    struct gcd_input *in;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_input_open("-", &(struct gcd_input_options){ .reread = true }, &in, &err),
                     GCD_OK);
    struct gcd_graph *back;
    if (read_input(in, NULL, &back, &err) != GCD_OK)
        fail_msg("%s", err.msg);
    assert_null(graph_eq(g, back, ~(unsigned)GRAPH_EQ_ROOT_KINDS));
    assert_int_equal(gcd_graph_edge_count(back),
                     gcd_graph_edge_count(g) + gcd_graph_dependent_count(g));
    gcd_graph_free(back);
    gcd_input_free(in);
    assert_true(dup2(saved, STDIN_FILENO) >= 0);
    (void)close(saved);
    assert_int_equal(pclose(dd), 0);
    (void)unlink(path);
    gcd_graph_free(g);
    gcd_sink_free(f.sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_vm),
        cmocka_unit_test(test_not_a_group),
        cmocka_unit_test(test_without_hash_codes),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_input_that_changes),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
