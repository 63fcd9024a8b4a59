/*
 * Any bytes as a .gcdump: read, written, read again.
 *
 * What is a graph holds together and survives its own writer; memory is in proportion to the file; a failing allocation is the answer
 * and leaves nothing behind.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_gcdump.h"

/* Tables of types and nodes, and what the builder reserves at least. */
#define BASE_BYTES ((size_t)4 << 20)
#define BYTES_PER_BYTE ((size_t)200)

static const struct gcd_limits wide = { .types = 5000, .roots = 100000, .text_bytes = 1 << 20 };
static const struct gcd_limits narrow = { .types = 4, .roots = 3, .text_bytes = 60 };

/* Roots count what leads nowhere only in what is read from the file, types without objects move behind the others. */
#define MAY_DIFFER (GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_RANGES | \
                    GRAPH_EQ_FACTS | GRAPH_EQ_VERDICT | GRAPH_EQ_ADDRESSES)

static void check_graph(const struct gcd_graph *g)
{
    uint32_t nodes = gcd_graph_node_count(g);
    uint64_t edges = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        struct gcd_node node;
        gcd_graph_node(g, n, &node);
        edges += node.edge_count;
        if (node.type >= gcd_graph_type_count(g) || node.size_bytes > INT32_MAX)
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
    struct tb_bytes out;
    struct gcd_graph *back = NULL;
    struct gcd_write_notes notes;
    struct gcd_error err = GCD_ERROR_INIT;
    if (run_gcdump_write(g, NULL, &out, &notes, &err) != GCD_OK)
        fuzz_fail("what was read can be written", err.msg);
    if (run_gcdump_read(out.p, out.n, NULL, &back, &err) != GCD_OK)
        fuzz_fail("what was written can be read", err.msg);
    const char *differs = graph_eq(g, back, MAY_DIFFER);
    if (differs != NULL)
        fuzz_fail("a round trip changes nothing", differs);
    tb_free(&out);
    gcd_graph_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 40;
    struct gcd_graph_options o = { .alloc = &f.alloc, .limits = hash % 8 == 0 ? &narrow : &wide };
    gcd_status st = run_gcdump_read(data, size, &o, &g, &err);
    if (st != GCD_OK && (err.code != st || err.msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
    if (st == GCD_E_ARG || st == GCD_E_STATE || st > 0)
        fuzz_fail("the reader keeps the builder's rules", err.msg);
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
