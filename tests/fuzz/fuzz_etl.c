/*
 * Any bytes as an .etl, processed completely, and its decompression alone.
 *
 * Results are consistent; reading twice gives the same; memory is bounded by the limits and the
 * input size; no leak.
 */
#include "etl/etl.h"
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/run.h"

/* 16 blocks for the buffers of processors, a compressed one, and memory for the records. */
#define BASE_BYTES     ((size_t)24 << 20)
#define BYTES_PER_BYTE ((size_t)700)
#define UNPACKED_BYTES 65536u

static const struct gcd_limits wide = {
    .block_bytes = 1 << 20, .types = 2000, .roots = 2000, .text_bytes = 1 << 20
};
/* So low that files of a few KiB reach them. */
static const struct gcd_limits narrow = {
    .block_bytes = 1000, .types = 3, .roots = 4, .text_bytes = 60
};

/* With a smaller output buffer it must fail, and never write past it. */
static void unpack(const uint8_t *data, size_t size)
{
    static uint8_t out[UNPACKED_BYTES];
    for (size_t n = UNPACKED_BYTES; n > 0; n /= 16) {
        uint8_t *exact = malloc(n);
        if (exact == NULL)
            abort();
        if (etl_xpress(data, size, exact, n) && n < UNPACKED_BYTES &&
            etl_xpress(data, size, out, n - 1))
            fuzz_fail("decompression makes one size only", "a byte less was accepted, too");
        free(exact);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct failalloc f, g;
    struct run a, b;
    failalloc_init(&f);
    failalloc_init(&g);
    struct run_options o = { .alloc = &f.alloc,
                             .input = true,
                             .limits = hash % 8 == 0 ? &narrow : &wide,
                             .check_references = (hash >> 16) % 2 == 0,
                             .no_gclog = (hash >> 17) % 2 == 0 };
    run_trace(data, size, &o, &a);
    const char *wrong = run_check(&a);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("a result holds together", wrong);
    if (f.peak_bytes > BASE_BYTES + BYTES_PER_BYTE * size)
        fuzz_fail("memory is bounded", "see peak_bytes");
    o.alloc = &g.alloc;
    if ((hash >> 20) % 8 == 0) {
        run_trace(data, size, &o, &b);
        wrong = run_diff(&a, &b);
        if (wrong != NULL)
            fuzz_fail("reading twice gives the same", wrong);
        run_done(&b);
    }
    if ((hash >> 24) % 8 == 0) { /* fails at some allocation */
        failalloc_init(&g);
        g.fail_at = 1 + (hash >> 32) % 80;
        run_trace(data, size, &o, &b);
        wrong = failalloc_complaint(&g);
        if (wrong != NULL || (g.failed > 0 && b.st != GCD_E_NOMEM && b.objects_st != GCD_E_NOMEM &&
                              b.write_st != GCD_E_NOMEM))
            fuzz_fail("memory that ends", wrong != NULL ? wrong : gcd_status_name(b.st));
        run_done(&b);
    }
    run_done(&a);
    if (size < 4096 && (hash >> 28) % 4 == 0)
        unpack(data, size);
    return 0;
}
