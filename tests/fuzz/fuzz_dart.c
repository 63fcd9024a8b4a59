/*
 * Any bytes as a Dart heap snapshot.
 *
 * Memory is bounded by the input size and nothing is leaked; a readable snapshot has no dangling
 * reference and can be written as dart and v8, and the dart file has the same contents.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"
#include "support/v8_check.h"

static void write_graph(const char *format, const struct gcd_graph *g,
                        const struct gcd_alloc *alloc, struct tb_bytes *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (run_graph_write(format, g, alloc, ret, NULL, &err) != GCD_OK)
        fuzz_fail("a graph can be written", err.msg);
}

static void check_graph(const struct gcd_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph *again;
    struct tb_bytes out;
    const char *wrong = run_graph_check(g);
    struct failalloc f;
    failalloc_init(&f);
    if (wrong != NULL)
        fuzz_fail("a graph is sound", wrong);
    write_graph("v8", g, &f.alloc, &out);
    wrong = gcd_graph_node_count(g) < 2000 ? v8_check(out.p, out.n, g) : NULL;
    if (wrong != NULL)
        fuzz_fail("the v8 file is sound", wrong);
    tb_free(&out);
    write_graph("dart", g, &f.alloc, &out);
    if (run_graph_read(&gcd_r_dart, out.p, out.n,
                       &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &again,
                       &err) != GCD_OK)
        fuzz_fail("what is written can be read", err.msg);
    /* a module may have become part of a path, a foreign class one of ours */
    wrong = graph_eq(
        g, again, GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES | GRAPH_EQ_ROOT_ORDER);
    if (wrong != NULL)
        fuzz_fail("the dart file says the same", wrong);
    gcd_graph_free(again);
    tb_free(&out);
    fuzz_check_memory(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph *g;
    if (size > 0 &&
        data[0] == 0x1f) /* gzip: left to fuzz_gzip; and the output may be larger than the input */
        return 0;
    failalloc_init(&f);
    gcd_status st =
        run_graph_read(&gcd_r_dart, data, size,
                       &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &g, &err);
    if (st == GCD_OK) {
        check_graph(g);
        gcd_graph_free(g);
    } else if (st != GCD_E_TRUNCATED && st != GCD_E_FORMAT && st != GCD_E_LIMIT) {
        fuzz_fail("an input can be cut, damaged or too large", err.msg);
    } else if (err.msg[0] == '\0') {
        fuzz_fail("an error has a message", gcd_status_name(st));
    }
    fuzz_check_memory(&f);
    if (f.peak_bytes > 500000 + 100 * size)
        fuzz_fail("memory is bounded by the input", "");
    return 0;
}
