/*
 * What all writers have in common: they check progress, cancel flag and output whatever the heap
 * consists of, and write no uninitialised byte.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/writer.h>

#include "graph/graph_build.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"

/* Records between two checks, and records of one kind in a large heap. */
#define EVERY 65536u
#define LOOKS 3u
#define MANY  (LOOKS * EVERY)

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- uninitialised memory ---- */

static void *dirty_resize(void *ctx, void *old, size_t old_bytes, size_t bytes)
{
    const int *fill = ctx;
    if (bytes == 0) {
        free(old);
        return NULL;
    }
    uint8_t *p = realloc(old, bytes);
    if (p != NULL && bytes > old_bytes)
        memset(p + old_bytes, *fill, bytes - old_bytes);
    return p;
}

static void write_dirty(const struct gcd_format *f, const struct gcd_graph *g, int fill,
                        uint8_t **ret, size_t *ret_n)
{
    struct gcd_alloc dirty = { .resize = dirty_resize, .ctx = &fill };
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_new_memory(&dirty, &s, &err), GCD_OK);
    assert_int_equal(gcd_write_graph(f, g, s,
                                     &(struct gcd_write_options){ .context.alloc = &dirty,
                                                                  .context.threads = 1 },
                                     NULL, &err),
                     GCD_OK);
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    const uint8_t *bytes = gcd_sink_memory(s, ret_n);
    *ret = malloc(*ret_n + 1);
    assert_non_null(*ret);
    if (*ret_n > 0)
        memcpy(*ret, bytes, *ret_n);
    gcd_sink_free(s);
}

static void no_uninitialised_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, seed % 4 == 0 ? 2000 : 50);
        const struct gcd_format *f;
        for (size_t i = 0; (f = gcd_format_at(i)) != NULL; i++) {
            uint8_t *one, *other;
            size_t one_n, other_n;
            if (gcd_format_kind(f) == GCD_FORMAT_STAGED)
                continue;
            write_dirty(f, g, 0x00, &one, &one_n);
            write_dirty(f, g, 0xa5, &other, &other_n);
            if (one_n != other_n || memcmp(one, other, one_n) != 0)
                fail_msg("%s, seed %d", gcd_format_name(f), (int)seed);
            free(one);
            free(other);
        }
        gcd_graph_free(g);
    }
}

/* ---- notes about a file ---- */

struct counts {
    uint64_t nodes, unknown, edges, edges_unknown, dependents, dependents_unknown, roots,
        roots_unknown, weak, types, types_of_objects, static_types;
};

static struct counts count(const struct gcd_graph *g)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint32_t unknown = gcd_graph_unknown(g);
    struct counts c = { .nodes = gcd_graph_node_count(g),
                        .unknown = unknown != GCD_NODE_NONE,
                        .types = summary->type_count };
    bool *used = calloc((size_t)c.types + 1, sizeof *used),
         *held = calloc((size_t)c.types + 1, sizeof *held);
    for (uint32_t i = 0; i < c.nodes; i++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
        c.edges += n;
        for (size_t k = 0; k < n; k++)
            c.edges_unknown += edges[k] == unknown;
        if (i != unknown)
            used[gcd_graph_node_type(g, i)] = true;
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++) {
        c.dependents++;
        c.dependents_unknown += gcd_graph_dependent(g, i)->value == unknown;
    }
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        c.roots++;
        c.roots_unknown += r->node == unknown;
        c.weak += gcd_root_group(r) == GCD_GROUP_WEAK;
        held[r->type] |= r->kind == GCD_ROOT_STATIC;
    }
    for (uint32_t i = 0; i < c.types; i++) {
        c.types_of_objects += used[i];
        c.static_types += held[i] && !used[i];
    }
    free(used);
    free(held);
    return c;
}

static void notes_say_what_is_in_the_file(void **state)
{
    (void)state;
    bool seen_unknown = false;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct gcd_graph *g = graph_gen(
            &(struct graph_gen){ .seed = seed, .max_nodes = 60, .keep_unknown = seed % 2 == 0 });
        struct counts c = count(g);
        const struct {
            const char *format;
            uint64_t objects, edges, roots, types;
        } rows[] = {
            { "gclog", c.nodes - c.unknown,
              c.edges - c.edges_unknown + c.dependents - c.dependents_unknown,
              c.roots - c.roots_unknown, c.types_of_objects + c.static_types },
            { "gcdump", c.nodes - c.unknown, c.edges + c.dependents, c.roots - c.weak,
              c.types_of_objects },
            { "v8", c.nodes, c.edges + c.dependents, c.roots, c.types },
            { "dart", c.nodes - c.unknown, c.edges + c.dependents, c.roots - c.weak,
              c.types_of_objects },
            { "pprof", c.nodes, 0, c.roots, c.types_of_objects + c.unknown },
            { "collapsed", c.nodes, 0, c.roots, c.types_of_objects + c.unknown },
            { "html", c.nodes, c.edges + c.dependents, c.roots, c.types_of_objects + c.unknown },
        };
        seen_unknown |= c.edges_unknown > 0 && c.roots_unknown > 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct gcd_sink *s;
            struct gcd_write_notes notes;
            assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
            assert_int_equal(
                gcd_write_graph(gcd_format_by_name(rows[i].format), g, s, NULL, &notes, &err),
                GCD_OK);
            gcd_sink_free(s);
            if (notes.objects != rows[i].objects || notes.edges != rows[i].edges ||
                notes.roots != rows[i].roots || notes.types != rows[i].types)
                fail_msg("%s, seed %d: %d objects, %d references, %d roots, %d types",
                         rows[i].format, (int)seed, (int)notes.objects, (int)notes.edges,
                         (int)notes.roots, (int)notes.types);
        }
        gcd_graph_free(g);
    }
    assert_true(seen_unknown);
}

/* ---- many records of one kind ---- */

enum way { MANY_OBJECTS, MANY_REFERENCES, MANY_ROOTS, MANY_TYPES, WAYS };
static const char *const way_names[WAYS] = { "objects", "references", "roots", "types" };

static struct gcd_graph *large_graph(enum way way)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type, nodes = way == MANY_OBJECTS || way == MANY_TYPES ? MANY : 10;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i < (way == MANY_TYPES ? MANY : 1); i++) {
        char name[16] = "Type";
        for (uint32_t k = 0; k < 8; k++)
            name[4 + k] = (char)('a' + (i >> (4 * k) & 15));
        struct gcd_type t = { .name = name, .module_path = "", .named = true, .described = true };
        assert_int_equal(gcd_build_type(b, &t, &type, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < nodes; i++)
        assert_int_equal(
            gcd_build_node(b, 0x1000 + 8 * (uint64_t)i, way == MANY_TYPES ? i : 0, 24, &err),
            GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (uint32_t i = 0; i < (way == MANY_REFERENCES ? MANY : 0); i++)
        assert_int_equal(gcd_build_edge_nodes(b, &(uint32_t){ i % 10 }, 1, &err), GCD_OK);
    for (uint32_t i = 0; i < (way == MANY_ROOTS ? MANY : 1); i++)
        assert_int_equal(
            gcd_build_root(b, &(struct gcd_root){ .kind = GCD_ROOT_STACK, .node = i % 10 }, &err),
            GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

struct looks {
    uint64_t calls, stop_at, bytes;
    gcd_cancel_flag cancel;
    double last;
};

static void look(void *ctx, uint64_t done, uint64_t total)
{
    struct looks *l = ctx;
    double now = total > 0 ? (double)done / (double)total : 0;
    assert_true(now >= l->last && now <= 1);
    l->last = now;
    if (++l->calls == l->stop_at)
        l->cancel = true;
}

static gcd_status write_large(const struct gcd_format *f, const struct gcd_graph *g,
                              struct looks *l, const struct gcd_alloc *of_sink)
{
    struct gcd_sink *s;
    l->cancel = false;
    l->last = 0;
    l->calls = 0;
    struct gcd_write_options o = { .context.cancel = &l->cancel,
                                   .context.progress = look,
                                   .context.progress_ctx = l,
                                   .context.threads = 1 };
    assert_int_equal(gcd_sink_new_memory(of_sink, &s, &err), GCD_OK);
    gcd_status st = gcd_write_graph(f, g, s, &o, NULL, &err);
    l->bytes = gcd_sink_bytes(s);
    gcd_sink_free(s);
    return st;
}

/* The minimum number of checks for so many records of a kind; writers that need an analysis check
 * there, too. */
static const struct {
    const char *format;
    unsigned looks[WAYS];
} least[] = {
    { "gclog", { LOOKS, 1, 1, LOOKS } },
    { "gcdump", { 4 * LOOKS + 1, 5, 5, 4 * LOOKS + 1 } },
    { "v8", { LOOKS, 2, LOOKS, 2 * LOOKS } },
    { "dart", { 17, 33, 5, 19 } },
    { "pprof", { 11, 9, 9, 11 } },
    { "collapsed", { 11, 9, 9, 59 } },
    { "html", { 15, 13, 13, 15 } },
};

static void each_kind_of_record_is_counted(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct gcd_graph *g = large_graph((enum way)way);
        for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
            const struct gcd_format *f = gcd_format_by_name(least[i].format);
            struct looks l = { .stop_at = 0 };
            struct failalloc small;
            assert_int_equal(write_large(f, g, &l, NULL), GCD_OK);
            if (l.calls < least[i].looks[way])
                fail_msg("%s looks up %d times while it writes many %s", least[i].format,
                         (int)l.calls, way_names[way]);
            uint64_t half = l.calls / 2 + 1, bytes = l.bytes;
            for (l.stop_at = 1; l.stop_at <= half; l.stop_at += half > 1 ? half - 1 : 1) {
                assert_int_equal(write_large(f, g, &l, NULL), GCD_E_CANCELED);
                assert_true(l.calls == l.stop_at);
            }
            l.stop_at = 0;
            failalloc_init(&small);
            small.max_bytes = (size_t)1 << 20;
            /* memory of the output */
            gcd_status st = write_large(f, g, &l, &small.alloc);
            if (st != GCD_E_NOMEM)
                assert_true(st == GCD_OK && bytes <= 4 * small.max_bytes);
            else
                assert_true(bytes >= small.max_bytes / 4);
            assert_null(failalloc_complaint(&small));
        }
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_uninitialised_bytes),
        cmocka_unit_test(notes_say_what_is_in_the_file),
        cmocka_unit_test(each_kind_of_record_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
