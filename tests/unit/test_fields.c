#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/io.h>
#include <gcdumpc/writer.h>

#include "graph/graph_build.h"

static struct gcd_error err;

/* ---- small heaps ---- */

enum { HOLDER, STRING, VERSION, ALLOCATOR, UNKNOWN, TYPES };

struct heap {
    struct gcd_graph *graph;
    struct gcd_fields *fields;
};

/*
 * An object of a type with LAYOUT and SIZE that refers to objects of the types TARGETS[N]: node 0.
 * A string is of key 3, a version of 3 and 4, of the last type nothing is known.  PLACES as
 * gcd_build_placed_edges wants them, or NULL.
 */
static struct heap make_heap(const char *layout, uint64_t size, const uint8_t *targets,
                             const uint32_t *places, size_t n)
{
    const struct gcd_type types[TYPES] = {
        { .name = layout[0] == 'v' ? "System.String[]" : "Holder",
          .module_path = "",
          .layout = layout },
        { .name = "System.String", .module_path = "", .layout = "o 3" },
        { .name = "System.Version", .module_path = "", .layout = "o 3,4" },
        { .name = "System.Reflection.LoaderAllocator", .module_path = "", .layout = "o 1,2\n0 m" },
        { .name = "Unknown", .module_path = "" },
    };
    struct heap h;
    struct gcd_build *b;
    uint32_t type;
    uint64_t edges[16];
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    gcd_build_summary(b)->trace.ptr_bytes = 8;
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, 0x1000, HOLDER, size, &err), GCD_OK);
    for (size_t i = 0; i < n; i++) {
        edges[i] = 0x2000 + 64 * i;
        assert_int_equal(gcd_build_node(b, edges[i], targets[i], 26, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_placed_edges(b, edges, places, n, &err), GCD_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_fields_free(h->fields);
    gcd_graph_free(h->graph);
}

/* The labels of the references, separated by "|". */
static const char *labels_of(const char *layout, uint64_t size, const uint8_t *targets,
                             const uint32_t *places, size_t n)
{
    static char text[4096];
    struct heap h = make_heap(layout, size, targets, places, n);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        char label[GCD_FIELD_LABEL_BYTES];
        struct gcd_field f = gcd_fields_get(h.fields, 0, i);
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "|" : "",
                       gcd_field_label(&f, label));
    }
    free_heap(&h);
    return text;
}

#define LABELS(layout, size, ...)                                   \
    labels_of(layout, size, (const uint8_t[]){ __VA_ARGS__ }, NULL, \
              sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* ---- tests ---- */

/* A field is named if the reference can be of no other; of two, both are named. */
static void test_certain_and_uncertain_fields(void **state)
{
    (void)state;
    static const char layout[] = "o 9\n3 _a\n4 _b\n3 _c";
    assert_string_equal(LABELS(layout, 40, STRING, VERSION, STRING), "_a|_b|_c");
    assert_string_equal(LABELS(layout, 40, STRING, STRING), "_a|_c");
    assert_string_equal(LABELS(layout, 40, STRING), "_a or _c");
    assert_string_equal(LABELS(layout, 40, VERSION), "");
    assert_string_equal(LABELS(layout, 40, UNKNOWN, UNKNOWN, UNKNOWN), "_a|_b|_c");
    assert_string_equal(LABELS(layout, 40, STRING, STRING, STRING), "||"); /* no solution */
    assert_string_equal(LABELS("o? 9", 40, STRING), "");
}

/* The same by the types alone: what all their objects have in common. */
static void fields_of_two_types(void **state)
{
    (void)state;
    static const struct {
        const char *layout;
        uint32_t to;
        const char *label;
    } rows[] = {
        { "o 9\n3 _a\n5 _b", STRING, "_a" },
        { "o 9\n3 _a\n5 _b\n3 _c", STRING, "_a or _c" },
        { "o 9\n3 _a\n3 _b\n3 _c", STRING, "" },
        { "o 9\n5 _a", STRING, "" },
        { "o 9\n0 _any", ALLOCATOR, "" },
        { "o? 9", STRING, "" },
        { "v 9\n3 key\n4 value", STRING, "[].key" },
        { "v 9\n0 ", STRING, "[]" },
    };
    char buf[GCD_FIELD_LABEL_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heap h = make_heap(rows[i].layout, 40, (const uint8_t[]){ STRING }, NULL, 1);
        struct gcd_field f = gcd_fields_of_types(h.fields, 0, rows[i].to);
        assert_string_equal(gcd_field_label(&f, buf), rows[i].label);
        free_heap(&h);
    }
}

/* Objects of a type that can be unloaded first refer to its loader allocator, which is no field;
 * but a field can also refer to one. */
static void test_loader_allocators(void **state)
{
    (void)state;
    assert_string_equal(LABELS("o 9\n3 _a\n3 _b", 40, ALLOCATOR, STRING, STRING), "|_a|_b");
    assert_string_equal(LABELS("o 9\n0 _any", 40, ALLOCATOR), "");
    assert_string_equal(LABELS("o 9\n0 _any\n3 _b", 40, ALLOCATOR, ALLOCATOR), "|_any");
    assert_string_equal(LABELS("v 9\n0 ", 24 + 2 * 8, ALLOCATOR, STRING, STRING), "|[0]|[1]");
    assert_string_equal(LABELS("v 9\n0 ", 24 + 2 * 8, ALLOCATOR, STRING), "|[]");
}

static void test_elements_of_arrays(void **state)
{
    (void)state;
    assert_string_equal(LABELS("v 9\n0 ", 24 + 3 * 8, STRING, VERSION, STRING), "[0]|[1]|[2]");
    assert_string_equal(LABELS("v 9\n0 ", 24 + 4 * 8, STRING, VERSION, STRING), "[]|[]|[]");
    assert_string_equal(LABELS("m 9\n0 ", 40, STRING), "[]");
    assert_string_equal(LABELS("v 9\n4 key\n5 value", 72, VERSION, VERSION), "[].key|[].key");
    assert_string_equal(LABELS("v 9\n3 key\n0 value", 72, STRING, VERSION),
                        "[].key or value|[].key or value");
}

/* Where the places of references are known, so are their fields and elements, unless the layout is
 * that of another type. */
static void fields_by_their_places(void **state)
{
    (void)state;
    enum { NONE = GCD_BUILD_UNPLACED };
    static const char object[] = "o 9\n3 _a\n3 _b\n3 _c", pairs[] = "v 9\n3 key\n3 value";
    static const struct {
        const char *layout;
        uint64_t size;
        uint8_t targets[2];
        uint32_t places[2]; /* + 1 */
        const char *labels;
    } rows[] = {
        { object, 40, { STRING, STRING }, { 0, 0 }, "_a|_b" },
        { object, 40, { STRING, STRING }, { 2, 0 }, "_b|_c" },
        { object, 40, { STRING, STRING }, { 0, 3 }, "_a|_c" },
        { object, 40, { STRING, STRING }, { 3, 4 }, "_a or _b|_b or _c" }, /* beyond the last */
        { object, 40, { ALLOCATOR, STRING }, { NONE, 2 }, "|_b" },
        { "o 9\n5 _a\n3 _b", 40, { STRING, STRING }, { 0, 0 }, "|_b" }, /* not of _a's type */
        { "v 9\n0 ", 24 + 5 * 8, { STRING, STRING }, { 2, 5 }, "[1]|[4]" },
        { "v 9\n0 ", 24 + 5 * 8, { STRING, STRING }, { 0, 17 }, "[0]|[]" }, /* beyond its bytes */
        { pairs, 24 + 3 * 16, { STRING, STRING }, { 3, 0 }, "[1].key|[1].value" },
        { pairs, 24 + 3 * 16, { STRING, STRING }, { 2, 5 }, "[0].value|[2].key" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            labels_of(rows[i].layout, rows[i].size, rows[i].targets, rows[i].places, 2),
            rows[i].labels);
}

/* A field of an element has a number, however short its name is; an element itself has none. */
static void numbers_of_elements(void **state)
{
    (void)state;
    static const uint8_t targets[2] = { STRING, STRING };
    static const uint32_t places[2] = { 2, 5 };
    struct heap h = make_heap("v 9\n3 k\n3 value", 24 + 3 * 16, targets, places, 2);
    assert_int_equal(gcd_fields_get(h.fields, 0, 0).slot, 1);
    assert_int_equal(gcd_fields_get(h.fields, 0, 1).slot, 0);
    free_heap(&h);
    h = make_heap("v 9\n0 ", 24 + 5 * 8, targets, places, 2);
    assert_int_equal(gcd_fields_get(h.fields, 0, 0).slot, GCD_SLOT_NONE);
    assert_int_equal(gcd_fields_get(h.fields, 0, 0).element, 1);
    free_heap(&h);
}

/* Objects that refer to the same types need not do so at the same places. */
static void alike_objects_with_other_places(void **state)
{
    (void)state;
    const struct gcd_type types[] = {
        { .name = "Holder", .module_path = "", .layout = "o 9\n3 _a\n3 _b\n3 _c" },
        { .name = "System.String", .module_path = "", .layout = "o 3" },
    };
    static const char *const names[] = { "_a", "_c", "_b" };
    struct gcd_field_pass pass = { .next = 0 };
    struct heap h;
    struct gcd_build *b;
    uint32_t type;
    uint64_t text = 0x2000;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 64 * i, 0, 40, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, text, 1, 26, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t place = i == 0 ? 1 : 4 - i;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_placed_edges(b, &text, &place, 1, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(gcd_fields_certain(h.fields, &pass, i, 0).name, names[i]);
    free_heap(&h);
}

/* A text that is not in the format is as good as none. */
static void test_damaged_layouts(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "",         "x 1\n3 _a", "o9\n3 _a", "o 9,\n3 _a",          "o 9,8\n",   "o 9 3 _a",
        "o 9\n3_a", "o 9\n _a",  "o 9\n4",   "o 99999999999\n3 _a", "o *x\n3 _a"
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_string_equal(LABELS(damaged[i], 40, STRING), "");
}

/* Names as in the source. */
static void test_source_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        { "_items", "_items" },
        { "<Instance>k__BackingField", "Instance" },
        { "<N.I<T>.Host>k__BackingField", "N.I<T>.Host" },
        { "<x>5__2", "x" },
        { "<>4__this", "this" },
        { "<>3__limit", "limit" },
        { "<>2__current", "current" },
        { "CS$<>8__locals1", "locals1" },
        { "<Name>i__Field", "Name" },
        { "<text>P", "text" },
        { "$VB$Local_count", "count" },
        { "$VB$ResumableLocal_text$0", "text" },
        { "$VB$Me", "Me" },
        { "$VB$NonLocal_outer", "outer" },
        { "$VB$NonLocal_$VB$Closure_2", "Closure_2" },
        { "$P_all", "all" },
        { "$Current", "Current" },
        { "$Name", "Name" },
        { "$S3", "$S3" },
        { "$A0", "$A0" },
        { "$STATIC$OnChange$20211C1245$calls", "calls" },
        { "$STATIC$OnChange$20211C1245$calls$Init", "$STATIC$OnChange$20211C1245$calls$Init" },
        { "$VB$ResumableLocal_text$0.$VB$Local_x", "text.x" },
        { "$", "$" },
        { "$$", "$$" },
        { "$STATIC$", "$STATIC$" },
        { "init@9", "init@9" },
        { "Count@", "Count" },
        { "<Outer>k__BackingField.<x>5__1.value", "Outer.x.value" },
        { "<Items>k__BackingField[3].Key", "Items[3].Key" },
        { "StateMachine.<>8__1.open", "StateMachine.open" },
        { "<>8__12.<open>5__2", "open" },
        { "<>8__1", "<>8__1" },
        { "<>8__.open", "<>8__.open" },
        { "<>8__1x.open", "<>8__1x.open" },
        { "StateMachine.<>u__1.m_task", "StateMachine.await.m_task" },
        { "<>u__12", "await" },
        { "<>t__builder.m_task", "<>t__builder.m_task" },
        { "<>", "<>" },
        { "<", "<" },
        { "@", "@" },
        { "a..b", "a..b" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char buf[64];
        size_t n = gcd_field_source_name(names[i][0], strlen(names[i][0]), buf);
        buf[n] = '\0';
        assert_string_equal(buf, names[i][1]);
    }
}

/* A V8 snapshot has the names: properties of fields, elements of arrays. */
static void test_v8_edges(void **state)
{
    (void)state;
    static const struct {
        const char *layout, *edges;
    } cases[] = {
        /* strings: "", the roots, five types; then 7 _a, 8 _b, 9 _c */
        { "o 9\n3 _a\n4 _b\n3 _c", "\"edges\":[3,1,7,\n2,7,21,\n2,9,28]" },
        { "v 9\n0 ", "\"edges\":[3,1,7,\n1,0,21,\n1,1,28]" },
    };
    for (unsigned i = 0; i < 2; i++) {
        struct heap h =
            make_heap(cases[i].layout, 40, (const uint8_t[]){ STRING, STRING }, NULL, 2);
        struct gcd_write_notes notes;
        struct gcd_sink *sink;
        size_t n;
        assert_int_equal(gcd_sink_new_memory(NULL, &sink, &err), GCD_OK);
        assert_int_equal(gcd_write_graph(gcd_format_by_name("v8"), h.graph, sink,
                                         &(struct gcd_write_options){ .name = "x" }, &notes, &err),
                         GCD_OK);
        assert_int_equal(gcd_sink_commit(sink, &err), GCD_OK);
        const char *text = (const char *)gcd_sink_memory(sink, &n);
        assert_non_null(memmem(text, n, cases[i].edges, strlen(cases[i].edges)));
        assert_int_equal(memmem(text, n, ",\"_c\"", 5) != NULL, i == 0);
        gcd_sink_free(sink);
        free_heap(&h);
    }
}

/* A .gcdump has no place for fields, and says so. */
static void a_gcdump_tells_that_it_has_no_fields(void **state)
{
    (void)state;
    static const char *const layouts[] = { "o 9\n3 _a", "o 9", "v 9\n3 " };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct heap h = make_heap(layouts[i], 40, (const uint8_t[]){ STRING }, NULL, 1);
        struct gcd_write_notes notes = { .objects = 0 };
        struct gcd_sink *sink;
        uint64_t lost = 0;
        assert_int_equal(gcd_sink_new_memory(NULL, &sink, &err), GCD_OK);
        assert_int_equal(
            gcd_write_graph(gcd_format_by_name("gcdump"), h.graph, sink, NULL, &notes, &err),
            GCD_OK);
        for (size_t k = 0; k < notes.loss_count; k++)
            if (strstr(notes.losses[k].text, "fields") != NULL)
                lost = notes.losses[k].count;
        assert_int_equal(lost, i == 0);
        gcd_sink_free(sink);
        free_heap(&h);
    }
}

/* ---- compared with all possibilities ---- */

static bool key_fits(unsigned key, uint8_t target)
{
    return key == 0 || target == UNKNOWN || (key == 3 && target != ALLOCATOR) ||
           (key == 4 && target == VERSION);
}

/* For each of N references the set of slots that it has in any assignment of them to M slots. */
static void try_all(const unsigned *keys, unsigned m, const uint8_t *targets, unsigned n,
                    unsigned ret[8])
{
    for (unsigned set = 0; set < 1u << m; set++) {
        unsigned slots[8], k = 0;
        bool fits = true;
        for (unsigned s = 0; s < m; s++)
            if ((set >> s & 1) != 0 && k < 8)
                slots[k++] = s;
        for (unsigned e = 0; e < n && k == n; e++)
            fits = fits && key_fits(keys[slots[e]], targets[e]);
        for (unsigned e = 0; e < n && k == n && fits; e++)
            ret[e] |= 1u << slots[e];
    }
}

/* The names given are exactly those that all assignments agree on. */
static void test_all_assignments(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (unsigned round = 0; round < 3000; round++) {
        char layout[200] = "o 9";
        unsigned keys[7], possible[8] = { 0 }, m, n;
        uint8_t targets[7];
        static const unsigned any[] = { 0, 3, 3, 4 };
        static const uint8_t types[] = { STRING, STRING, VERSION, UNKNOWN };
        random = random * 1664525u + 1013904223u;
        m = 1 + (random >> 24) % 7;
        n = 1 + (random >> 16) % m;
        for (unsigned i = 0; i < m; i++) {
            random = random * 1664525u + 1013904223u;
            keys[i] = any[random >> 30];
            targets[i] = types[(random >> 28) % 4];
            (void)snprintf(layout + strlen(layout), sizeof layout - strlen(layout), "\n%u f%u",
                           keys[i], i);
        }
        try_all(keys, m, targets, n, possible);
        struct heap h = make_heap(layout, 64, targets, NULL, n);
        uint32_t slots[8];
        gcd_fields_slots(h.fields, 0, slots);
        for (unsigned e = 0; e < n; e++) {
            struct gcd_field f = gcd_fields_get(h.fields, 0, e);
            assert_int_equal(slots[e], f.slot);
            unsigned count = (unsigned)__builtin_popcount(possible[e]);
            char expected[8] = "";
            (void)snprintf(expected, sizeof expected, "f%u",
                           (unsigned)__builtin_ctz(possible[e] | 256));
            assert_int_equal(f.name != NULL, count == 1 || count == 2);
            assert_int_equal(f.other != NULL, count == 2);
            if (f.name != NULL)
                assert_string_equal(f.name, expected);
        }
        free_heap(&h);
    }
}

/* Many objects, with few references and with many, in any order: the pass says of each what a look
 * at it alone says. */
static void a_pass_is_a_look_at_each(void **state)
{
    (void)state;
    enum { OBJECTS = 600, MOST = 15 };
    char layout[2][400] = { "o 9", "o 8" };
    struct gcd_type types[] = {
        { .name = "Holder", .module_path = "", .layout = layout[0] },
        { .name = "Other", .module_path = "", .layout = layout[1] },
        { .name = "System.String", .module_path = "", .layout = "o 3" },
        { .name = "System.Version", .module_path = "", .layout = "o 3,4" },
    };
    static const unsigned keys[] = { 0, 3, 3, 4 };
    struct gcd_build *b;
    struct gcd_graph *g;
    struct gcd_fields *f;
    uint32_t type, random = 7, certain = 0, uncertain = 0;
    for (unsigned k = 0; k < 2 * MOST; k++) {
        random = random * 1664525u + 1013904223u;
        char *to = layout[k % 2];
        (void)snprintf(to + strlen(to), 20, "\n%u f%u", keys[random >> 30], k);
    }
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (uint32_t i = 0; i < OBJECTS + 2; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 0x100 * (uint64_t)i,
                                        i < OBJECTS ? i % 2 : 2 + i % 2, 200, &err),
                         GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        uint32_t edges[MOST], n;
        random = random * 1664525u + 1013904223u;
        n = (random >> 24) % (MOST + 1);
        for (uint32_t k = 0; k < n; k++) {
            if (i % 5 != 0) /* every fifth is like one before, often */
                random = random * 1664525u + 1013904223u;
            edges[k] = OBJECTS + (random >> (16 + k % 8) & 1);
        }
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, edges, n, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    struct gcd_field_pass *pass = malloc(sizeof *pass);
    assert_non_null(pass);
    memset(pass, 0xa5, sizeof *pass); /* only NEXT has to begin with 0 */
    pass->next = 0;
    for (unsigned look = 0; look < 20000; look++) {
        random = random * 1664525u + 1013904223u;
        uint32_t node = (random >> 12) % OBJECTS;
        size_t n;
        (void)gcd_graph_node_edges(g, node, &n);
        for (size_t edge = 0; edge < n; edge++) {
            struct gcd_field one = gcd_fields_get(f, node, edge);
            struct gcd_field got = gcd_fields_certain(f, pass, node, edge);
            assert_int_equal(got.slot, one.slot);
            certain += got.slot != GCD_SLOT_NONE;
            uncertain += got.slot == GCD_SLOT_NONE;
        }
    }
    assert_true(certain > 5000 && uncertain > 5000);
    free(pass);
    gcd_fields_free(f);
    gcd_graph_free(g);
}

/* One pass over objects of two classes, alike and not, some looked at again. */
static void certain_fields_of_one_object_after_the_other(void **state)
{
    (void)state;
    static const struct gcd_type types[] = {
        { .name = "Holder", .module_path = "", .layout = "o 9\n3 a\n4 b\n3 c" },
        { .name = "System.String", .module_path = "", .layout = "o 3" },
        { .name = "System.Version", .module_path = "", .layout = "o 3,4" },
        { .name = "Other", .module_path = "", .layout = "o 8\n4 d\n0 e" },
    };
    static const struct {
        uint32_t type;
        uint8_t targets[3], n;
        const char *fields[3];
    } holders[] = {
        { 0, { 1, 1 }, 2, { "a", "c" } },         { 0, { 1, 1 }, 2, { "a", "c" } },
        { 0, { 1, 2 }, 2, { "a", NULL } },        { 3, { 2, 2 }, 2, { "d", "e" } },
        { 0, { 2, 2 }, 2, { NULL, NULL } },       { 0, { 1 }, 1, { NULL } },
        { 0, { 1, 1 }, 2, { "a", "c" } },         { 0, { 0 }, 0, { NULL } },
        { 0, { 2, 2, 1 }, 3, { "a", "b", "c" } },
    };
    enum { HOLDERS = sizeof holders / sizeof *holders };
    static const unsigned order[] = { 0, 1, 2, 1, 3, 4, 8, 5, 6, 7, 0, 8, 3 };
    struct gcd_build *b;
    struct gcd_graph *g;
    struct gcd_fields *f;
    struct gcd_field_pass pass = { .next = 0 };
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    gcd_build_summary(b)->trace.ptr_bytes = 8;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (unsigned i = 0; i < HOLDERS; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 64 * i, holders[i].type, 48, &err), GCD_OK);
    for (unsigned i = 1; i < 3; i++)
        assert_int_equal(gcd_build_node(b, 0x2000 + 64 * i, i, 26, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (unsigned i = 0; i < HOLDERS + 2; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        for (unsigned k = 0; i < HOLDERS && k < holders[i].n; k++)
            assert_int_equal(
                gcd_build_edges(b, (uint64_t[]){ 0x2000 + 64u * holders[i].targets[k] }, 1, &err),
                GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        for (unsigned k = holders[order[i]].n; k-- > 0;) {
            const char *field = gcd_fields_certain(f, &pass, order[i], k).name;
            assert_string_equal(field != NULL ? field : "-", holders[order[i]].fields[k] != NULL
                                                                 ? holders[order[i]].fields[k]
                                                                 : "-");
        }
    assert_string_equal(gcd_fields_only(f, 2, HOLDERS).name, "a");
    assert_null(gcd_fields_only(f, 0, HOLDERS).name); /* there are two of the same object */
    assert_null(gcd_fields_only(f, 0, HOLDERS + 1).name);
    gcd_fields_free(f);
    gcd_graph_free(g);
}

/* Behind the name of the holder's type, which ends in "[]" if it is an array. */
static void labels_behind_a_type(void **state)
{
    (void)state;
    static const struct {
        struct gcd_field field;
        const char *suffix;
    } rows[] = {
        { { .name = "_next", .element = GCD_ELEMENT_NONE }, "._next" },
        { { .name = "_a", .other = "_b", .element = GCD_ELEMENT_NONE }, "._a or _b" },
        { { .name = "", .element = GCD_ELEMENT_NONE, .array = true }, "" },
        { { .name = "key", .element = GCD_ELEMENT_NONE, .array = true }, ".key" },
        { { .name = "", .element = 17, .array = true }, "[17]" },
        { { .name = "key", .element = 17, .array = true }, "[17].key" },
        { { .name = NULL, .element = GCD_ELEMENT_NONE }, "" },
    };
    char buf[GCD_FIELD_LABEL_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(gcd_field_suffix(&rows[i].field, buf), rows[i].suffix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_behind_a_type),
        cmocka_unit_test(test_certain_and_uncertain_fields),
        cmocka_unit_test(fields_of_two_types),
        cmocka_unit_test(a_gcdump_tells_that_it_has_no_fields),
        cmocka_unit_test(test_loader_allocators),
        cmocka_unit_test(test_elements_of_arrays),
        cmocka_unit_test(fields_by_their_places),
        cmocka_unit_test(numbers_of_elements),
        cmocka_unit_test(alike_objects_with_other_places),
        cmocka_unit_test(test_damaged_layouts),
        cmocka_unit_test(test_source_names),
        cmocka_unit_test(test_v8_edges),
        cmocka_unit_test(test_all_assignments),
        cmocka_unit_test(a_pass_is_a_look_at_each),
        cmocka_unit_test(certain_fields_of_one_object_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
