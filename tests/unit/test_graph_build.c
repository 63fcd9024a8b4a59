/*
 * The graph builder at its limits, and the roots of a graph; tables of cases at the limit of each
 * condition.
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/writer.h>
#include <gcdumpc/unstable/graph/graph_memory.h>

#include "graph/graph_build.h"
#include "graph/graph_impl.h"

static struct gcd_error err = GCD_ERROR_INIT;

static struct gcd_build *new_build(const struct gcd_graph_options *options)
{
    struct gcd_build *b;
    uint32_t type;
    struct gcd_type t = { .name = "A", .module_path = "" };
    assert_int_equal(gcd_build_new(options, &b, &err), GCD_OK);
    assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    return b;
}

static struct gcd_graph *seal(struct gcd_build *b)
{
    struct gcd_graph *g = NULL;
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void put_nodes(struct gcd_build *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(gcd_build_node(b, 0x10000 + 8 * (uint64_t)i, 0, 8, &err), GCD_OK);
}

/* ---- threads that resolve references while the array of references moves ---- */

#define BIG_BLOCK ((size_t)64 << 10)

/* Large blocks always move; the old block stays allocated until the end, so that a late write to it
 * harms nothing else. */
static void *graveyard[4096];
static size_t graves;

static void *moving_resize(void *ctx, void *old, size_t old_bytes, size_t bytes)
{
    (void)ctx;
    if (bytes == 0) {
        free(old);
        return NULL;
    }
    if (old == NULL || old_bytes < BIG_BLOCK)
        return realloc(old, bytes);
    void *p = malloc(bytes);
    assert_non_null(p);
    memcpy(p, old, old_bytes < bytes ? old_bytes : bytes);
    (void)nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    memset(old, 0xdd, old_bytes);
    assert_true(graves < sizeof graveyard / sizeof *graveyard);
    graveyard[graves++] = old;
    return p;
}

/* Each call hands over a whole batch, and the next call has to grow the array. */
static void references_survive_a_moved_array(void **state)
{
    (void)state;
    enum { NODES = 50000, PIECE = 16384, PIECES = 60 };
    static uint64_t targets[PIECE];
    struct gcd_alloc moving = { .resize = moving_resize };
    struct gcd_build *b =
        new_build(&(struct gcd_graph_options){ .context.alloc = &moving, .context.threads = 4 });
    put_nodes(b, NODES);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (uint64_t piece = 0; piece < PIECES; piece++) {
        for (uint64_t i = 0; i < PIECE; i++)
            targets[i] = 0x10000 + 8 * ((piece * PIECE + i) * 7919 % NODES);
        assert_int_equal(gcd_build_edges(b, targets, PIECE, &err), GCD_OK);
    }
    struct gcd_graph *g = seal(b);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, 0, &n);
    assert_int_equal(n, (size_t)PIECES * PIECE);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(edges[i], i * 7919 % NODES);
    gcd_graph_free(g);
    while (graves > 0)
        free(graveyard[--graves]);
}

/* References by address, then by number: the earlier ones must be resolved. */
static void references_by_address_and_by_number(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    put_nodes(b, 10);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t address = 0x10000 + 8 * (uint64_t)i;
        assert_int_equal(gcd_build_edges(b, &address, 1, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ 9 - i }, 1, &err), GCD_OK);
    }
    struct gcd_graph *g = seal(b);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, 0, &n);
    assert_int_equal(n, 20);
    for (uint32_t i = 0; i < 10; i++)
        assert_true(edges[2 * i] == i && edges[2 * i + 1] == 9 - i);
    gcd_graph_free(g);
}

/* ---- limits ---- */

static void limits_of_a_graph(void **state)
{
    (void)state;
    enum { TYPES, OBJECTS, ROOTS, DEPENDENTS, RANGES, TEXT, KINDS };
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct gcd_limits limits = { .types = 0 };
        uint64_t *limit = kind == TYPES     ? &limits.types
                          : kind == OBJECTS ? &limits.objects
                          : kind == TEXT    ? &limits.text_bytes
                                            : &limits.roots;
        *limit = kind == TEXT ? 17 : 3;
        struct gcd_build *b = new_build(&(struct gcd_graph_options){ .context.limits = &limits });
        if (kind != OBJECTS)
            put_nodes(b, 5);
        gcd_status st = GCD_OK;
        unsigned put = 0;
        for (; put < 20 && st == GCD_OK; put++) {
            uint32_t number;
            const char *text;
            struct gcd_type type = { .name = "B", .module_path = "" };
            struct gcd_root root = { .node = 1, .kind = GCD_ROOT_STACK };
            st = kind == TYPES        ? gcd_build_type(b, &type, &number, &err)
                 : kind == OBJECTS    ? gcd_build_node(b, 0x1000 + 8 * put, 0, 8, &err)
                 : kind == ROOTS      ? gcd_build_root(b, &root, &err)
                 : kind == DEPENDENTS ? gcd_build_dependent(b, 0, 1, &err)
                 : kind == RANGES     ? gcd_build_range(b, &(struct gcd_range){ .start = 8 }, &err)
                                      : gcd_build_text(b, "1234", 4, &text, &err);
        }
        assert_int_equal(st, GCD_E_LIMIT);
        /* the first type and its name were there before */
        assert_int_equal(put, kind == TYPES ? 3 : kind == TEXT ? 5 : 4);
        gcd_build_free(b);
    }
}

static void sizes_around_16_and_32_bits(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 0,
                                      1,
                                      UINT32_MAX - 1,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      (UINT64_C(1) << 32) + 1,
                                      UINT64_MAX - 1,
                                      UINT64_MAX,
                                      7,
                                      UINT32_MAX,
                                      UINT16_MAX - 1,
                                      UINT16_MAX,
                                      UINT16_MAX + 1,
                                      8,
                                      UINT16_MAX };
    const uint32_t n = sizeof sizes / sizeof *sizes;
    struct gcd_build *b = new_build(NULL);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 8 * i, 0, sizes[i], &err), GCD_OK);
    struct gcd_graph *g = seal(b);
    for (uint32_t i = 0; i < n; i++)
        assert_true(gcd_graph_node_size(g, i) == sizes[i]);
    assert_true(gcd_graph_summary(g)->bytes == UINT64_MAX &&
                gcd_graph_summary(g)->types[0].bytes == UINT64_MAX);
    gcd_graph_free(g);
}

/* The numbers of the last types need more than 16 bits.  Such a node may be the first one, or come
 * when memory for others was in use. */
static void types_around_16_bits(void **state)
{
    (void)state;
    static const uint32_t types[][5] = { { 7, UINT16_MAX - 1, UINT16_MAX, 0, 9 },
                                         { 7, UINT16_MAX, UINT16_MAX + 1, 0, 2 * UINT16_MAX + 2 },
                                         { UINT16_MAX + 1, 3, 5, UINT16_MAX + 2, 1 } };
    for (size_t k = 0; k < 2 * (sizeof types / sizeof *types); k++) {
        const uint32_t *type_of = types[k / 2];
        struct gcd_build *b = new_build(NULL);
        assert_int_equal(gcd_build_reserve(b, k % 3 == 0 ? 1000 : 0, 0, &err), GCD_OK);
        for (uint32_t type = 1, added; type <= 2 * UINT16_MAX + 2; type++)
            assert_int_equal(gcd_build_type(b, &(struct gcd_type){ .name = "T", .module_path = "" },
                                            &added, &err),
                             GCD_OK);
        for (uint32_t node = 0; node < 1000; node++) {
            struct gcd_object o = { .address = 0x1000 + 8 * node,
                                    .type = type_of[node / 200],
                                    .size_bytes = 24 };
            assert_int_equal(k % 2 == 0 ? gcd_build_node(b, o.address, o.type, 24, &err)
                                        : gcd_build_owners(b, &o, 1, &err),
                             GCD_OK);
        }
        assert_int_equal(gcd_build_node_type(b, 450), type_of[2]);
        struct gcd_graph *g = seal(b);
        for (uint32_t node = 0; node < 1000; node++)
            assert_int_equal(gcd_graph_node_type(g, node), type_of[node / 200]);
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(gcd_graph_summary(g)->types[type_of[i]].objects, 200);
        gcd_graph_free(g);
    }
}

/* Claims that a reader may make, and those it may not. */
static void dangling_records(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    put_nodes(b, 3);
    const struct {
        struct gcd_root root;
        gcd_status st;
    } roots[] = {
        { { .node = 2, .kind = GCD_ROOT_COM }, GCD_OK },
        { { .node = 3, .kind = GCD_ROOT_STACK }, GCD_E_FORMAT },
        { { .node = 0, .kind = GCD_ROOT_COM + 1 }, GCD_E_FORMAT },
        { { .node = 0, .kind = GCD_ROOT_STATIC, .type = 0 }, GCD_OK },
        { { .node = 0, .kind = GCD_ROOT_STATIC, .type = 1 }, GCD_E_FORMAT },
        { { .node = GCD_NODE_NONE, .kind = GCD_ROOT_STACK }, GCD_OK },
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        assert_int_equal(gcd_build_root(b, &roots[i].root, &err), roots[i].st);
    const struct {
        uint32_t key, value;
        gcd_status st;
    } handles[] = {
        { 2, 2, GCD_OK },
        { 3, 0, GCD_E_FORMAT },
        { 0, 3, GCD_E_FORMAT },
        { GCD_NODE_NONE, 0, GCD_OK },
        { 0, GCD_NODE_NONE, GCD_OK },
    };
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        assert_int_equal(gcd_build_dependent(b, handles[i].key, handles[i].value, &err),
                         handles[i].st);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ 2 }, 1, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ 3 }, 1, &err), GCD_E_FORMAT);
    struct gcd_graph *g = seal(b);
    assert_true(gcd_graph_summary(g)->root_count == 2 && gcd_graph_notes(g)->roots_dangling == 1);
    assert_true(gcd_graph_dependent_count(g) == 1 && gcd_graph_notes(g)->dependents_dropped == 2);
    gcd_graph_free(g);
    struct gcd_type none = { .name = "", .module_path = "" };
    uint32_t type;
    b = new_build(NULL);
    assert_int_equal(gcd_build_type(b, &none, &type, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, 8, 1, 0, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, 16, 2, 0, &err), GCD_E_FORMAT);
    /* some have an address, some have none */
    assert_int_equal(gcd_build_node(b, 0, 0, 0, &err), GCD_E_ARG);
    gcd_build_free(b);
}

/* A caller cannot use the node that represents missing objects. */
static void references_to_the_unknown(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(&(struct gcd_graph_options){ .keep_unknown = true });
    put_nodes(b, 2);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ 2 }, 1, &err), GCD_E_FORMAT);
    assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ GCD_NODE_NONE }, 1, &err), GCD_OK);
    struct gcd_graph *g = seal(b);
    assert_true(gcd_graph_unknown(g) == 2 && gcd_graph_notes(g)->edges_dangling == 1);
    gcd_graph_free(g);
}

/* A static variable has a type of its own, every other root has its object's type.  The first name
 * of a type is kept. */
static void types_of_roots_and_their_names(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    struct gcd_type t = { .name = "?", .module_path = "" };
    uint32_t type;
    bool again = true;
    assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    assert_int_equal(gcd_build_type_name(b, type, "First", 5, &again, &err), GCD_OK);
    assert_false(again);
    assert_int_equal(gcd_build_type_name(b, type, "Second", 6, &again, &err), GCD_OK);
    assert_true(again);
    assert_int_equal(gcd_build_node(b, 0x1000, type, 24, &err), GCD_OK);
    static const unsigned kinds[] = { GCD_ROOT_STACK, GCD_ROOT_HANDLE, GCD_ROOT_COM,
                                      GCD_ROOT_STATIC };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            gcd_build_root(b, &(struct gcd_root){ .node = 0, .kind = kinds[i], .type = 0 }, &err),
            GCD_OK);
    struct gcd_graph *g = seal(b);
    assert_string_equal(gcd_graph_summary(g)->types[1].name, "First");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(gcd_graph_summary(g)->roots[i].type, kinds[i] == GCD_ROOT_STATIC ? 0 : 1);
    gcd_graph_free(g);
}

/* All sums and lists, of records whose texts are gone when the graph is asked. */
static void what_was_given_is_summed_up(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    char path[] = "/srv/Shop.dll", assembly[] = "Shop", problem[] = "gone", name[] = "s_all",
         class_name[] = "Shop.Store";
    uint32_t type;
    struct gcd_module m = { .path = path, .assembly = assembly, .problem = problem, .id = 7 };
    assert_int_equal(gcd_build_module(b, &m, &err), GCD_OK);
    m.id = 8;
    assert_int_equal(gcd_build_module(b, &m, &err), GCD_OK);
    for (uint32_t i = 0; i < 3; i++) {
        struct gcd_type t = { .name = "B", .module_path = "", .described = i == 0 };
        assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    }
    static const uint64_t sizes[] = { 24, 17, 40, 100 };
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(gcd_build_node(b, 0x10000 + 0x100 * i, i / 2 + 1, sizes[i], &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, (const uint32_t[]){ 1, 2, 3 }, i + 1, &err),
                         GCD_OK);
    }
    const struct gcd_root roots[] = {
        { .node = 1, .kind = GCD_ROOT_STATIC, .type = 3, .name = name, .class_name = class_name },
        { .node = 2, .kind = GCD_ROOT_STACK, .object = 99, .flags = GCD_ROOT_PINNED },
        { .node = 3, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK },
        { .node = 3, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK | GCD_ROOT_PINNED },
        { .node = 0, .kind = GCD_ROOT_COM, .flags = GCD_ROOT_WEAK | GCD_ROOT_PINNED },
        { .node = 0, .kind = GCD_ROOT_STATIC, .name = "<All>k__BackingField", .label = name },
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        assert_int_equal(gcd_build_root(b, &roots[i], &err), GCD_OK);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(gcd_build_range(b, &(struct gcd_range){ .start = i }, &err), GCD_OK);
    assert_int_equal(gcd_build_dependent(b, 3, 1, &err), GCD_OK);
    memset(path, 'x', sizeof path - 1);
    memset(assembly, 'x', sizeof assembly - 1);
    memset(problem, 'x', sizeof problem - 1);
    memset(name, 'x', sizeof name - 1);
    memset(class_name, 'x', sizeof class_name - 1);
    struct gcd_graph *g = seal(b);
    const struct gcd_summary *f = gcd_graph_summary(g);
    assert_true(f->objects == 4 && f->bytes == 181 && f->edges == 6 && f->type_count == 4);
    assert_true(f->types_used == 2 && f->types_undescribed == 1 && f->objects_undescribed == 2);
    assert_true(f->types[1].objects == 2 && f->types[1].bytes == 41 && f->types[1].edges == 3);
    assert_true(f->types[2].objects == 2 && f->types[2].bytes == 140 && f->types[2].edges == 3);
    assert_true(f->types[1].uneven_sizes && f->types[2].uneven_sizes && !f->types[0].uneven_sizes);
    assert_true(f->module_count == 2 && f->modules[0].id == 7 && f->modules[1].id == 8);
    assert_string_equal(f->modules[1].path, "/srv/Shop.dll");
    assert_string_equal(f->modules[1].assembly, "Shop");
    assert_string_equal(f->modules[1].problem, "gone");
    assert_true(f->range_count == 3 && f->ranges[0].start == 0 && f->ranges[2].start == 2);
    assert_true(f->dependent_handles == 1 && f->process_count == 0 && f->processes == NULL);
    assert_true(f->root_count == 6 && f->statics == 2 && f->ccws == 1);
    assert_true(f->root_counts[GCD_ROOT_STACK] == 1 && f->root_counts[GCD_ROOT_HANDLE] == 2);
    assert_true(f->weak_roots == 2 && f->pinned_roots == 2);
    assert_string_equal(f->roots[0].name, "s_all");
    assert_string_equal(f->roots[0].label, "s_all");
    assert_string_equal(f->roots[0].class_name, "Shop.Store");
    assert_true(f->roots[0].type == 3 && f->roots[1].type == 2);
    assert_string_equal(f->roots[1].name, "");
    assert_string_equal(f->roots[1].label, "");
    assert_string_equal(f->roots[1].class_name, "");
    static const uint64_t held[] = { 0x10100, 0x10200, 0x10300, 0x10300, 0x10000, 0x10000 };
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(f->roots[i].object, held[i]);
    gcd_graph_free(g);
}

/* Nothing is known about it, and no pointer is NULL. */
static void an_undescribed_graph(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    const char *text = NULL;
    assert_int_equal(gcd_build_text(b, "", 0, &text, &err), GCD_OK);
    assert_string_equal(text, "");
    struct gcd_graph *g = seal(b);
    const struct gcd_summary *f = gcd_graph_summary(g);
    const char *const texts[] = { f->process_name, f->command_line,    f->os,
                                  f->arch,         f->runtime_version, f->trace.container };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(texts[i], "");
    assert_true(f->trace.start_unix_ms == INT64_MIN && f->objects == 0 &&
                gcd_graph_unknown(g) == GCD_NODE_NONE);
    assert_string_equal(gcd_graph_summary(g)->types[0].name, "A");
    gcd_graph_free(g);
}

/* Addresses are stored as offsets from the first one of a run; a run ends when an address is lower,
 * odd or too far away. */
static void runs_of_addresses(void **state)
{
    (void)state;
    static const uint64_t far = UINT64_C(0x3fffc); /* 4 * UINT16_MAX */
    static const uint64_t places[] = { 0x1000, 0x1004, 0x1000 + far, 0x1004 + far,
                                       0x2000, 0x2002, 0x2006,       0x1ffe };
    struct gcd_build *b = new_build(NULL);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(gcd_build_node(b, places[i], 0, 8, &err), GCD_OK);
    struct gcd_graph *g = seal(b);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(gcd_graph_node_address(g, i) == places[i] && gcd_graph_find(g, places[i]) == i);
    assert_int_equal(g->run_count, 5);
    gcd_graph_free(g);
    b = new_build(NULL);
    put_nodes(b, 100000);
    g = seal(b);
    assert_int_equal(g->run_count, 4);
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(gcd_graph_node_address(g, i) == 0x10000 + 8 * (uint64_t)i);
    assert_true(gcd_graph_memory(g) < 100000 * 18);
    gcd_graph_free(g);
    /* a 32-bit process, multiples of 4: the bitmap of the index has all of them, too */
    b = new_build(NULL);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(gcd_build_node(b, 0x10000 + 12 * (uint64_t)i, 0, 12, &err), GCD_OK);
    g = seal(b);
    assert_int_equal(g->index.stray_count, 0);
    gcd_graph_free(g);
}

/* ---- roots ---- */

static enum gcd_root_group expected_group(unsigned kind, uint32_t flags)
{
    if (flags & 2)
        return GCD_GROUP_WEAK;
    switch (kind) {
    case GCD_ROOT_STATIC:
        return GCD_GROUP_STATICS;
    case GCD_ROOT_STACK:
        return GCD_GROUP_LOCALS;
    case GCD_ROOT_COM:
        return GCD_GROUP_REFCOUNTED;
    case GCD_ROOT_FINALIZER:
        return flags & 8 ? GCD_GROUP_REFCOUNTED : GCD_GROUP_FINALIZER;
    case GCD_ROOT_HANDLE:
        return flags & 8   ? GCD_GROUP_REFCOUNTED
               : flags & 1 ? GCD_GROUP_PINNED_HANDLES
                           : GCD_GROUP_STRONG_HANDLES;
    default:
        return flags & 8 ? GCD_GROUP_REFCOUNTED : GCD_GROUP_OTHER;
    }
}

static void groups_and_counts_of_roots(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    put_nodes(b, 2);
    for (unsigned kind = 0; kind < GCD_ROOT_ALL_KINDS; kind++)
        for (uint32_t flags = 0; flags < 32; flags++) {
            struct gcd_root r = {
                .node = flags & 1, .kind = kind, .flags = flags, .id = 100 * kind + flags
            };
            assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
        }
    struct gcd_graph *g = seal(b);
    size_t i = 0;
    for (unsigned kind = 0; kind < GCD_ROOT_ALL_KINDS; kind++)
        for (uint32_t flags = 0; flags < 32; flags++, i++) {
            const struct gcd_root *r = &gcd_graph_summary(g)->roots[i];
            assert_true(r->kind == kind && r->flags == flags && r->id == 100 * kind + flags &&
                        r->node == (flags & 1));
            assert_int_equal(gcd_root_group(r), expected_group(kind, flags));
        }
    const struct gcd_summary *f = gcd_graph_summary(g);
    for (unsigned kind = 0; kind < GCD_ROOT_KINDS; kind++)
        assert_int_equal(f->root_counts[kind], 32);
    assert_true(f->statics == 32 && f->ccws == 32 && f->weak_roots == 16 * GCD_ROOT_KINDS &&
                f->pinned_roots == 16 * GCD_ROOT_KINDS);
    gcd_graph_free(g);
}

/* Values of one key keep their order. */
static void dependent_handles_are_sorted(void **state)
{
    (void)state;
    struct gcd_build *b = new_build(NULL);
    put_nodes(b, 100);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(gcd_build_dependent(b, i * 37 % 10 * 10, i / 10, &err), GCD_OK);
    struct gcd_graph *g = seal(b);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(gcd_graph_dependent(g, i)->key == i / 100 * 10 &&
                    gcd_graph_dependent(g, i)->value == i % 100);
    assert_int_equal(gcd_graph_summary(g)->dependent_handles, 1000);
    gcd_graph_free(g);
}

/* Dangling references are removed, also at the end of a block of 4096 objects. */
static void holes_at_the_ends_of_blocks(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 4095, 4096, 4097, 8192, 8193 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (uint32_t every = 1; every <= 3; every++) {
            struct gcd_build *b = new_build(NULL);
            uint64_t dangling = 0;
            put_nodes(b, counts[c]);
            assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
            for (uint32_t i = 0; i < counts[c]; i++) {
                assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
                for (uint32_t k = 0; k < i % 4; k++) {
                    uint64_t to =
                        (i + k) % every == 0 ? 0x10000 + 8 * (uint64_t)((i + k) % counts[c]) : 4;
                    dangling += to == 4;
                    assert_int_equal(gcd_build_edges(b, &to, 1, &err), GCD_OK);
                }
            }
            struct gcd_graph *g = seal(b);
            for (uint32_t i = 0; i < counts[c]; i++) {
                size_t n, at = 0;
                const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
                for (uint32_t k = 0; k < i % 4; k++)
                    if ((i + k) % every == 0) {
                        assert_true(at < n);
                        assert_int_equal(edges[at++], (i + k) % counts[c]);
                    }
                assert_int_equal(n, at);
            }
            assert_true(gcd_graph_notes(g)->edges_dangling == dangling);
            gcd_graph_free(g);
        }
}

/* ---- more than a format can hold ---- */

/* A graph that claims this size; a real one does not fit into a test. */
static gcd_status write_pretended(const char *format, uint32_t nodes, size_t edges)
{
    struct gcd_graph *g = seal(new_build(NULL));
    struct gcd_sink *s;
    uint32_t own_nodes = g->node_count;
    size_t own_edges = g->edge_count;
    g->node_count = nodes;
    g->edge_count = edges;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    gcd_status st = gcd_write_graph(gcd_format_by_name(format), g, s, NULL, NULL, &err);
    gcd_sink_free(s);
    g->node_count = own_nodes;
    g->edge_count = own_edges;
    gcd_graph_free(g);
    return st;
}

/* Numbers of .heapsnapshot files are below 2^32, and there are 7 for a node and 3 for an edge; the
 * roots are nodes 0 and 1, and edge 0. */
static void more_than_a_heapsnapshot_can_hold(void **state)
{
    (void)state;
    const size_t most_edges = UINT32_MAX / 3;
    assert_int_equal(write_pretended("v8", 0, most_edges - 1), GCD_OK);
    assert_int_equal(write_pretended("v8", 0, most_edges), GCD_E_LIMIT);
    assert_non_null(strstr(err.msg, "1431655765 edges"));
    assert_int_equal(write_pretended("v8", UINT32_MAX / 7 - 1, 0), GCD_E_LIMIT);
    assert_non_null(strstr(err.msg, "613566756 nodes"));
}

/* Objects with the number of their references, which follow in one sequence, as many as claimed. */
static void references_of_all_objects_at_once(void **state)
{
    (void)state;
    static const uint64_t counts[][3] = {
        { 2, 0, 1 }, { 2, 0, 2 }, { 2, 0, 0 }, { UINT64_MAX, 1, 1 }, { UINT64_C(1) << 32, 0, 0 }
    };
    static const gcd_status expected[] = { GCD_OK, GCD_E_STATE, GCD_E_STATE, GCD_E_FORMAT,
                                           GCD_E_STATE };
    static const uint64_t targets[] = { 0x1008, 0x1010, 0x1000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct gcd_build *b = new_build(&(struct gcd_graph_options){ .keep_unknown = true });
        struct gcd_object objects[3];
        for (uint64_t k = 0; k < 3; k++)
            objects[k] = (struct gcd_object){ .address = 0x1000 + 8 * k,
                                              .size_bytes = 8,
                                              .edges = counts[i][k] };
        gcd_status st = gcd_build_owners(b, objects, 1, &err);
        if (st == GCD_OK)
            st = gcd_build_owners(b, objects + 1, 2, &err);
        if (st != GCD_OK) {
            assert_int_equal(st, expected[i]);
            gcd_build_free(b);
            continue;
        }
        assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edges(b, targets, 3, &err), GCD_OK);
        struct gcd_graph *g = NULL;
        assert_int_equal(gcd_build_seal(b, &g, &err), expected[i]);
        if (g == NULL)
            continue;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, 0, &n);
        assert_true(n == 2 && edges[0] == 1 && edges[1] == 2);
        (void)gcd_graph_node_edges(g, 1, &n);
        assert_int_equal(n, 0);
        edges = gcd_graph_node_edges(g, 2, &n);
        assert_true(n == 1 && edges[0] == 0);
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_survive_a_moved_array),
        cmocka_unit_test(references_by_address_and_by_number),
        cmocka_unit_test(limits_of_a_graph),
        cmocka_unit_test(sizes_around_16_and_32_bits),
        cmocka_unit_test(types_around_16_bits),
        cmocka_unit_test(dangling_records),
        cmocka_unit_test(what_was_given_is_summed_up),
        cmocka_unit_test(an_undescribed_graph),
        cmocka_unit_test(references_to_the_unknown),
        cmocka_unit_test(types_of_roots_and_their_names),
        cmocka_unit_test(runs_of_addresses),
        cmocka_unit_test(groups_and_counts_of_roots),
        cmocka_unit_test(dependent_handles_are_sorted),
        cmocka_unit_test(holes_at_the_ends_of_blocks),
        cmocka_unit_test(more_than_a_heapsnapshot_can_hold),
        cmocka_unit_test(references_of_all_objects_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
