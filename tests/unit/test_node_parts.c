/* Formats whose nodes are written in parts by several threads: the same bytes as by one, in memory
 * and in a file. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "graph/graph_build.h"
#include "support/folder.h"
#include "support/graph_gen.h"
#include "write/node_parts.h"

static const char *const formats[] = { "gcdump", "v8" };

static char folder[FOLDER_BYTES];

/* FILE: its name; NULL: in memory. */
static struct gcd_sink *open_sink(const char *file, unsigned threads)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s;
    if (file != NULL)
        assert_int_equal(gcd_sink_open(path_in_folder(folder, file),
                                       &(struct gcd_sink_options){ .context.threads = threads }, &s,
                                       &err),
                         GCD_OK);
    else
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    return s;
}

/* Free it with gcd_sink_free. */
static struct gcd_sink *write_with(const char *format, const struct gcd_graph *g, const char *file,
                                   unsigned threads, struct gcd_write_notes *notes)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s = open_sink(file, threads);
    const struct gcd_write_options options = { .context.threads = threads };
    gcd_status st = gcd_write_graph(gcd_format_by_name(format), g, s, &options, notes, &err);
    if (st != GCD_OK)
        fail_msg("%s: %s", format, err.msg);
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    return s;
}

/* The file NAME has the N bytes A, or these compressed. */
static void compare_file(const char *name, const uint8_t *a, size_t n)
{
    gzFile f = gzopen(path_in_folder(folder, name), "rb");
    assert_non_null(f);
    uint8_t *b = malloc(n + 1);
    assert_non_null(b);
    assert_int_equal(gzread(f, b, (unsigned)n + 1), n);
    assert_memory_equal(a, b, n);
    free(b);
    gzclose(f);
}

/* FILES: a .gcdump as a file, too, which waits for the disk. */
static void compare(const struct gcd_graph *g, bool files)
{
    static const unsigned threads[] = { 2, 3, 9, 1, 2, 2 };
    static const char *const names[] = { NULL, NULL, NULL, "out", "out", "out.gz" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct gcd_write_notes one = { 0 };
        struct gcd_sink *want = write_with(formats[i], g, NULL, 1, &one);
        size_t n, m;
        const uint8_t *a = gcd_sink_memory(want, &n);
        for (size_t k = 0; k < (files && i == 0 ? sizeof threads / sizeof *threads : 3); k++) {
            struct gcd_write_notes several = { 0 };
            struct gcd_sink *s = write_with(formats[i], g, names[k], threads[k], &several);
            const uint8_t *b = gcd_sink_memory(s, &m);
            if (names[k] == NULL) {
                assert_int_equal(n, m);
                assert_memory_equal(a, b, n);
            }
            assert_memory_equal(&one, &several, sizeof one);
            gcd_sink_free(s);
            if (names[k] != NULL)
                compare_file(names[k], a, n);
        }
        gcd_sink_free(want);
    }
}

static void random_graphs(void **state)
{
    (void)state;
    size_t dependents = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed,
            .max_nodes = seed % 60 == 0 ? 30000 : 60,
            .keep_unknown = seed % 3 == 0,
            .name_bytes = 100,
        });
        compare(g, seed % 30 == 0);
        dependents += gcd_graph_dependent_count(g);
        gcd_graph_free(g);
    }
    assert_true(dependents > 100);
}

/* ---- many parts, and nodes for which no part has room ---- */

#define NODES 40000u
/* Every LARGE_EVERY-th node has this many. */
#define LARGE_EDGES (NODE_PART_BYTES / 4)
#define LARGE_EVERY 13000u

static void add_edges(struct gcd_build *b, uint32_t node, uint32_t *targets)
{
    size_t n = node % LARGE_EVERY == 7 ? LARGE_EDGES : node % 5;
    for (size_t i = 0; i < n; i++)
        targets[i] = (uint32_t)((node * UINT64_C(2654435761) + i * 7919) % NODES);
    assert_int_equal(gcd_build_next_node(b, NULL), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, targets, n, NULL), GCD_OK);
}

static void large_nodes(void **state)
{
    (void)state;
    static uint32_t targets[LARGE_EDGES];
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t t;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "a.dll" }, &t, NULL),
        GCD_OK);
    for (uint32_t node = 0; node < NODES; node++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 8 * (uint64_t)node, t,
                                        node % 11 == 0 ? UINT64_C(1) << 33 : 8 + node % 3, NULL),
                         GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    for (uint32_t node = 0; node < NODES; node++)
        add_edges(b, node, targets);
    for (uint32_t key = 0; key < NODES; key += key % 2 == 0 ? 7 : 1000)
        for (uint32_t i = 0; i <= key % 4; i++)
            assert_int_equal(gcd_build_dependent(b, key, (key + i) % NODES, NULL), GCD_OK);
    assert_int_equal(gcd_build_root(b, &(struct gcd_root){ .kind = GCD_ROOT_STACK }, NULL), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    compare(g, true);
    gcd_graph_free(g);
}

/* ---- progress, and a cancel in the middle ---- */

#define MANY_NODES (4 * WRITE_CHECK_EVERY)

struct watch {
    atomic_bool cancel;
    pthread_t caller;
    unsigned calls, stop_at;
    uint64_t done;
};

static void progress(void *ctx, uint64_t done, uint64_t total)
{
    struct watch *w = ctx;
    assert_true(pthread_equal(pthread_self(), w->caller));
    assert_true(done >= w->done && done <= total);
    w->done = done;
    if (++w->calls == w->stop_at)
        atomic_store(&w->cancel, true);
}

/* The number of calls until the end, or until one of them cancels. */
static unsigned write_watched(const char *format, const struct gcd_graph *g, bool in_file,
                              unsigned stop_at)
{
    struct watch w = { .caller = pthread_self(), .stop_at = stop_at };
    const struct gcd_write_options options = {
        .context = { .threads = 2, .cancel = &w.cancel, .progress = progress, .progress_ctx = &w },
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s = open_sink(in_file ? "out" : NULL, 2);
    gcd_status st = gcd_write_graph(gcd_format_by_name(format), g, s, &options, NULL, &err);
    assert_int_equal(st, stop_at > 0 ? GCD_E_CANCELED : GCD_OK);
    gcd_sink_free(s);
    return w.calls;
}

static void progress_and_cancel(void **state)
{
    (void)state;
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t t;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "a.dll" }, &t, NULL),
        GCD_OK);
    for (uint32_t node = 0; node < MANY_NODES; node++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 8 * (uint64_t)node, t, 8, NULL), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    for (uint32_t node = 0; node < MANY_NODES; node++)
        assert_int_equal(gcd_build_next_node(b, NULL), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    for (size_t i = 0; i < 2 * (sizeof formats / sizeof *formats); i++) {
        const char *format = formats[i / 2];
        unsigned calls = write_watched(format, g, i % 2 != 0, 0);
        assert_true(calls >= 3);
        for (unsigned stop_at = 1; stop_at < calls; stop_at++)
            assert_int_equal(write_watched(format, g, i % 2 != 0, stop_at), stop_at);
    }
    gcd_graph_free(g);
}

static int begin(void **state)
{
    (void)state;
    return make_folder(folder);
}

static int end(void **state)
{
    (void)state;
    return remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(large_nodes),
        cmocka_unit_test(progress_and_cancel),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
