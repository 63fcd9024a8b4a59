/*
 * Any bytes as a gclog file: read, written, read again, written again.
 *
 * The graph is sound and survives its own writer, which writes the same bytes the second time; memory is in proportion to the file; a
 * failing allocation is the answer and leaves nothing behind.
 */
#include <gcdumpc/writer.h>

#include "fuzz/fuzz.h"
#include "read/read.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"

/* What the builder reserves at least; "t 1 a" is a type with its name and its places in two tables. */
#define BASE_BYTES ((size_t)4 << 20)
#define BYTES_PER_BYTE ((size_t)200)

static const struct gcd_limits narrow = { .types = 4, .roots = 3, .text_bytes = 60 };

/* What gclog cannot hold; all that is left of a type is its name, which loses control characters. */
#define MAY_DIFFER (GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | GRAPH_EQ_VERDICT | GRAPH_EQ_NAMES)

static gcd_status read_graph(const void *p, size_t n, const struct gcd_graph_options *options, struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_build *b = NULL;
    gcd_status st = gcd_input_from_memory(p, n, &(struct gcd_input_options){ .alloc = options->alloc }, &in, err);
    if (st == GCD_OK)
        st = gcd_build_new(options, &b, err);
    if (st == GCD_OK)
        st = gcd_r_gclog.read(in, options, b, err);
    if (st == GCD_OK)
        st = gcd_build_seal(b, ret, err);
    else
        gcd_build_free(b);
    gcd_input_free(in);
    return st;
}

static struct gcd_sink *write_graph(const struct gcd_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_notes notes;
    struct gcd_sink *s;
    if (gcd_sink_new_memory(NULL, &s, &err) != GCD_OK || gcd_write_graph(gcd_format_by_name("gclog"), g, s, NULL, &notes, &err) != GCD_OK ||
        gcd_sink_commit(s, &err) != GCD_OK)
        fuzz_fail("what was read can be written", err.msg);
    if (notes.objects != gcd_graph_node_count(g) || notes.edges != gcd_graph_edge_count(g) || notes.roots != gcd_graph_root_count(g))
        fuzz_fail("what was read is written", "not all of it");
    return s;
}

static void check_graph(const struct gcd_graph *g)
{
    uint32_t nodes = gcd_graph_node_count(g);
    uint64_t edges = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        struct gcd_node node;
        gcd_graph_node(g, n, &node);
        edges += node.edge_count;
        if (node.type >= gcd_graph_type_count(g) || node.address == 0)
            fuzz_fail("an object is sound", "it is not");
        for (size_t i = 0; i < node.edge_count; i++)
            if (node.edges[i] >= nodes)
                fuzz_fail("a reference leads to an object", "it does not");
    }
    if (edges != gcd_graph_edge_count(g))
        fuzz_fail("references are counted", "wrongly");
    for (size_t i = 0; i < gcd_graph_root_count(g); i++)
        if (gcd_graph_root(g, i)->node >= nodes || gcd_graph_root(g, i)->type >= gcd_graph_type_count(g))
            fuzz_fail("a root leads to an object", "it does not");
    if (!gcd_graph_verdict(g)->complete && gcd_graph_verdict(g)->reason_count == 0)
        fuzz_fail("an incomplete dump has a reason", "it has none");
}

static void check_round_trip(const struct gcd_graph *g)
{
    struct gcd_graph *back = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    size_t n, m;
    struct gcd_sink *s = write_graph(g);
    const uint8_t *p = gcd_sink_memory(s, &n);
    if (read_graph(p, n, &(struct gcd_graph_options){ .alloc = NULL }, &back, &err) != GCD_OK)
        fuzz_fail("what was written can be read", err.msg);
    if (!gcd_graph_verdict(back)->complete)
        fuzz_fail("what was written is whole", gcd_graph_verdict(back)->reasons[0].text);
    const char *differs = graph_eq(g, back, MAY_DIFFER);
    if (differs != NULL)
        fuzz_fail("a round trip changes nothing", differs);
    struct gcd_sink *t = write_graph(back);
    const uint8_t *q = gcd_sink_memory(t, &m);
    if (n != m || memcmp(p, q, n) != 0)
        fuzz_fail("writing again gives the same bytes", "it does not");
    gcd_sink_free(t);
    gcd_sink_free(s);
    gcd_graph_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (size > 0 && data[0] == 0x1f)         /* gzip: fuzz_gzip's; and what comes out may be larger than what goes in */
        return 0;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 40;
    struct gcd_graph_options o = { .alloc = &f.alloc, .limits = hash % 8 == 0 ? &narrow : NULL };
    gcd_status st = read_graph(data, size, &o, &g, &err);
    if (st != GCD_OK && (err.code != st || err.msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
    if (st != GCD_OK && st != GCD_E_UNSUPPORTED && st != GCD_E_LIMIT && st != GCD_E_NOMEM)
        fuzz_fail("lines that mean nothing are skipped", err.msg);
    if (f.peak_bytes > BASE_BYTES + BYTES_PER_BYTE * size)
        fuzz_fail("memory is bounded", "see peak_bytes");
    if (st == GCD_OK) {
        check_graph(g);
        check_round_trip(g);
        gcd_graph_free(g);
    }
    const char *wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("memory", wrong);
    return 0;
}
