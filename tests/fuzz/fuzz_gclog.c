/*
 * Any bytes as a gclog file: read, written, read again, written again.
 *
 * The graph is consistent and survives its own writer, which writes the same bytes the second time;
 * memory is in proportion to the file; a failing allocation is reported and leaks nothing.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"

/* The builder's minimum; "t 1 a" is a type with its name and entries in two tables. */
#define BASE_BYTES     ((size_t)4 << 20)
#define BYTES_PER_BYTE ((size_t)200)

static const struct gcd_limits narrow = { .types = 4, .roots = 3, .text_bytes = 60 };

/* What gclog cannot store: only the name of a type remains, without control characters. */
#define MAY_DIFFER                                                                      \
    (GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_FACTS | \
     GRAPH_EQ_VERDICT | GRAPH_EQ_NAMES)

static void write_graph(const struct gcd_graph *g, const struct gcd_alloc *alloc,
                        struct tb_bytes *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_write_notes notes;
    if (run_graph_write("gclog", g, alloc, ret, &notes, &err) != GCD_OK)
        fuzz_fail("what was read can be written", err.msg);
    if (notes.objects != gcd_graph_node_count(g) || notes.edges != gcd_graph_edge_count(g) ||
        notes.roots != gcd_graph_summary(g)->root_count)
        fuzz_fail("what was read is written", "not all of it");
}

/* Every object of a gclog has an address. */
static void check_graph(const struct gcd_graph *g)
{
    const char *wrong = run_graph_check(g);
    if (wrong != NULL)
        fuzz_fail("a graph is sound", wrong);
    for (uint32_t n = 0; n < gcd_graph_node_count(g); n++)
        if (gcd_graph_node_address(g, n) == 0)
            fuzz_fail("an object has an address", "it has none");
}

static void check_round_trip(const struct gcd_graph *g)
{
    struct gcd_graph *back = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb_bytes once, twice;
    struct failalloc f;
    failalloc_init(&f);
    write_graph(g, &f.alloc, &once);
    if (run_graph_read(&gcd_r_gclog, once.p, once.n,
                       &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &back,
                       &err) != GCD_OK)
        fuzz_fail("what was written can be read", err.msg);
    bool whole = gcd_graph_summary(back)->verdict.complete;
    if (whole != gcd_graph_summary(g)->verdict.complete)
        fuzz_fail("a round trip keeps the verdict", whole ? "complete" : "incomplete");
    const char *differs = graph_eq(g, back, MAY_DIFFER);
    if (differs != NULL)
        fuzz_fail("a round trip changes nothing", differs);
    write_graph(back, &f.alloc, &twice);
    if (once.n != twice.n || memcmp(once.p, twice.p, once.n) != 0)
        fuzz_fail("writing again gives the same bytes", "it does not");
    tb_free(&twice);
    tb_free(&once);
    gcd_graph_free(back);
    fuzz_check_memory(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (size > 0 &&
        data[0] == 0x1f) /* gzip: left to fuzz_gzip; and the output may be larger than the input */
        return 0;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 40;
    struct gcd_graph_options o = { .context.alloc = &f.alloc,
                                   .context.limits = hash % 8 == 0 ? &narrow : NULL };
    gcd_status st = run_graph_read(&gcd_r_gclog, data, size, &o, &g, &err);
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
    fuzz_check_memory(&f);
    return 0;
}
