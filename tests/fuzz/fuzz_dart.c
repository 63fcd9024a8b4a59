/*
 * The reader of Dart heap snapshots gets any bytes.
 *
 * Memory is bounded by the size of the input and all of it is freed; what can be read has references to objects that exist, can be
 * written as dart and v8, and the dart file says the same.
 */
#include <gcdumpc/writer.h>

#include "fuzz/fuzz.h"
#include "read/read.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/v8_check.h"

static gcd_status read_graph(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_graph_options options = { .alloc = alloc };
    struct gcd_input_options input = { .alloc = alloc };
    struct gcd_input *in;
    struct gcd_build *b;
    if (gcd_input_from_memory(p, n, &input, &in, err) != GCD_OK || gcd_build_new(&options, &b, err) != GCD_OK)
        fuzz_fail("a reader can be made", err->msg);
    gcd_status st = gcd_r_dart.read(in, &options, b, err);
    if (st == GCD_OK)
        st = gcd_build_seal(b, ret, err);
    else
        gcd_build_free(b);
    gcd_input_free(in);
    return st;
}

static struct gcd_sink *write_graph(const char *format, const struct gcd_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *s;
    if (gcd_sink_new_memory(NULL, &s, &err) != GCD_OK || gcd_write_graph(gcd_format_by_name(format), g, s, NULL, NULL, &err) != GCD_OK ||
        gcd_sink_commit(s, &err) != GCD_OK)
        fuzz_fail("a graph can be written", err.msg);
    return s;
}

static void check_graph(const struct gcd_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph *again;
    size_t n;
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
        for (size_t k = 0; k < n; k++)
            if (edges[k] >= gcd_graph_node_count(g))
                fuzz_fail("references lead to objects", "");
    }
    struct gcd_sink *s = write_graph("v8", g);
    const uint8_t *p = gcd_sink_memory(s, &n);
    const char *wrong = gcd_graph_node_count(g) < 2000 ? v8_check(p, n, g) : NULL;
    if (wrong != NULL)
        fuzz_fail("the v8 file is sound", wrong);
    gcd_sink_free(s);
    s = write_graph("dart", g);
    p = gcd_sink_memory(s, &n);
    if (read_graph(p, n, NULL, &again, &err) != GCD_OK)
        fuzz_fail("what is written can be read", err.msg);
    /* a module may be a part of a path now, a class of nobody's one of ours */
    wrong = graph_eq(g, again, GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES | GRAPH_EQ_ROOT_ORDER);
    if (wrong != NULL)
        fuzz_fail("the dart file says the same", wrong);
    gcd_graph_free(again);
    gcd_sink_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failalloc f;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph *g;
    if (size > 0 && data[0] == 0x1f)         /* gzip: fuzz_gzip's; and what comes out may be larger than what goes in */
        return 0;
    failalloc_init(&f);
    gcd_status st = read_graph(data, size, &f.alloc, &g, &err);
    if (st == GCD_OK) {
        check_graph(g);
        gcd_graph_free(g);
    } else if (st != GCD_E_TRUNCATED && st != GCD_E_FORMAT && st != GCD_E_LIMIT) {
        fuzz_fail("an input can be cut, damaged or too large", err.msg);
    } else if (err.msg[0] == '\0') {
        fuzz_fail("an error has a message", gcd_status_name(st));
    }
    if (failalloc_complaint(&f) != NULL)
        fuzz_fail("memory is given back", failalloc_complaint(&f));
    if (f.peak_bytes > 500000 + 100 * size)
        fuzz_fail("memory is bounded by the input", "");
    return 0;
}
