/*
 * Any bytes as a .gcdump: read, written, read again.
 *
 * A graph is consistent and survives its own writer; memory is in proportion to the file; a failing
 * allocation is reported and leaks nothing.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"

/* Tables of types and nodes, and the builder's minimum. */
#define BASE_BYTES     ((size_t)4 << 20)
#define BYTES_PER_BYTE ((size_t)200)

static const struct gcd_limits wide = { .types = 5000, .roots = 100000, .text_bytes = 1 << 20 };
static const struct gcd_limits narrow = { .types = 4, .roots = 3, .text_bytes = 60 };

/* Dangling roots are counted only when read from the file; types without objects move after the
 * others. */
#define MAY_DIFFER                                                                           \
    (GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_ROOT_NAMES | GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_TYPE_IDS | \
     GRAPH_EQ_RANGES | GRAPH_EQ_FACTS | GRAPH_EQ_VERDICT | GRAPH_EQ_ADDRESSES)

/* Sizes are 32-bit in the file. */
static void check_graph(const struct gcd_graph *g)
{
    const char *wrong = run_graph_check(g);
    if (wrong != NULL)
        fuzz_fail("a graph is sound", wrong);
    for (uint32_t n = 0; n < gcd_graph_node_count(g); n++)
        if (gcd_graph_node_size(g, n) > INT32_MAX)
            fuzz_fail("the size of an object fits", "it does not");
}

static void check_round_trip(const struct gcd_graph *g)
{
    struct tb_bytes out;
    struct gcd_graph *back = NULL;
    struct gcd_write_notes notes;
    struct gcd_error err = GCD_ERROR_INIT;
    struct failalloc f;
    failalloc_init(&f);
    if (run_graph_write("gcdump", g, &f.alloc, &out, &notes, &err) != GCD_OK)
        fuzz_fail("what was read can be written", err.msg);
    if (run_graph_read(&gcd_r_gcdump, out.p, out.n,
                       &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &back,
                       &err) != GCD_OK)
        fuzz_fail("what was written can be read", err.msg);
    const char *differs = graph_eq(g, back, MAY_DIFFER);
    if (differs != NULL)
        fuzz_fail("a round trip changes nothing", differs);
    tb_free(&out);
    gcd_graph_free(back);
    fuzz_check_memory(&f);
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
    struct gcd_graph_options o = { .context.alloc = &f.alloc,
                                   .context.limits = hash % 8 == 0 ? &narrow : &wide };
    gcd_status st = run_graph_read(&gcd_r_gcdump, data, size, &o, &g, &err);
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
    fuzz_check_memory(&f);
    return 0;
}
