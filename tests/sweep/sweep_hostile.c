/*
 * Traces designed to cost more than their size: time and memory stay proportional, and within the
 * limits.
 */
#include <inttypes.h>
#include <time.h>

#include "support/failalloc.h"
#include "sweep/sweep.h"

/*
 * Limit of processor time for a trace of some MB.  Linear work takes 0.1 s, and about 2 s in a
 * build with sanitizers; quadratic work took a minute.
 */
#define SECONDS 6.0
/* In addition to memory proportional to the input: 48 MiB for the addresses of objects
 * (gcd_dump_options), and the needs of a sample. */
#define BASE_BYTES ((size_t)56 << 20)
/* An entry of a half-filled table, in the old and the new one while it grows, for a record of two
 * bytes. */
#define BYTES_PER_BYTE ((size_t)32)

struct job {
    const char *name;
    void (*build)(struct tb *t);
    enum tb_format format;
    bool check_references;
    gcd_status st;
};

/* N sequence points that list nothing. */
static void sequence_points(struct tb *t, unsigned n, uint32_t flags)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_u64(&b, 1);
    tb_u32(&b, flags);
    tb_u32(&b, 0);
    for (unsigned i = 0; i < n; i++)
        tb_block_v6(t, 4, b.p, b.n);
    tb_free(&b);
}

/* A table of labels that stays large when it is cleared, and is cleared by every sequence point. */
static void build_labels(struct tb *t)
{
    struct tb_bytes b = { NULL, 0, 0 };
    const uint32_t n = 900000;
    tb_u32(&b, 1);
    tb_u32(&b, n);
    for (uint32_t i = 0; i < n; i++)
        tb_u16(&b, 0x018a);
    tb_block_v6(t, 8, b.p, b.n);
    tb_free(&b);
    sequence_points(t, 60000, 0);
}

static void build_threads(struct tb *t)
{
    struct tb_bytes b = { NULL, 0, 0 };
    const uint32_t n = 250000;
    tb_u64(&b, 1);
    tb_u32(&b, 0);
    tb_u32(&b, n);
    for (uint32_t i = 0; i < n; i++) {
        tb_varuint(&b, i);
        tb_varuint(&b, 0);
    }
    tb_block_v6(t, 4, b.p, b.n);
    tb_free(&b);
    sequence_points(t, 60000, 1);
}

static void build_descriptions(struct tb *t)
{
    for (uint32_t k = 0; k < 8; k++) {
        struct tb_bytes b = { NULL, 0, 0 };
        tb_u16(&b, 0);
        for (uint32_t i = 0; i < 50000; i++) {
            struct tb_bytes row = { NULL, 0, 0 };
            tb_varuint(&row, k * 50000 + i);
            tb_utf8(&row, "x");
            tb_varuint(&row, 1);
            tb_utf8(&row, "");
            tb_u16(&row, 0);
            tb_u16(&row, 0);
            tb_u16(&b, (unsigned)row.n);
            tb_put(&b, row.p, row.n);
            tb_free(&row);
        }
        tb_block_v6(t, 3, b.p, b.n);
        tb_free(&b);
    }
    sequence_points(t, 60000, 2);
}

static void one_walk(struct tb *t, uint32_t number)
{
    tb_nodes(t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }));
    tb_gc_end(t, number);
}

static void build_walks(struct tb *t)
{
    for (uint32_t i = 0; i < 60000; i++) {
        tb_gc_start(t, i);
        one_walk(t, i);
    }
}

/* None of them is the wanted one. */
static void build_other_walks(struct tb *t)
{
    for (uint32_t i = 0; i < 60000; i++) {
        tb_gc_start_full(t, i, 0, 0, 0);
        one_walk(t, i);
    }
}

/* All wait for a GCStart, one after another; then the GCStart events come. */
static void build_waiting_walks(struct tb *t)
{
    t->time_ns = 1000000000;
    for (uint32_t i = 0; i < 60000; i++)
        one_walk(t, i);
    tb_flush(t);
    t->thread = 8;
    t->time_ns = 1000;
    for (uint32_t i = 0; i < 60000; i++)
        tb_gc_start(t, i);
}

/* Walks that restart again and again, each on its own thread. */
static void build_threads_of_walks(struct tb *t)
{
    for (uint32_t i = 0; i < 40000; i++) {
        t->thread = i % 1000;
        t->index[TB_NODES] = 0;
        tb_nodes(t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 0 }));
    }
}

/* Each object in a different page of the address space, in the largest number of simultaneous
 * walks. */
static void build_scattered(struct tb *t)
{
    uint64_t address = 0x100000;
    for (uint32_t walk = 0; walk < 40; walk++) {
        for (uint32_t i = 0; i < 1100; i++, address += UINT64_C(1) << 24)
            tb_nodes(t, TB_LIST(struct tb_node, { address, 24, 0x100, 0 }));
        tb_gc_end(t, walk);
    }
}

/* The same in several processes. */
static void build_processes(struct tb *t)
{
    uint64_t address = 0x100000;
    for (uint32_t k = 0; k < 20; k++) {
        t->thread = t->process = 100 + k;
        for (uint32_t walk = 0; walk < 3; walk++) {
            for (uint32_t i = 0; i < 1100; i++, address += UINT64_C(1) << 24)
                tb_nodes(t, TB_LIST(struct tb_node, { address, 24, 0x100, 0 }));
            tb_gc_end(t, walk);
        }
    }
}

/*
 * The address sets of one process use the whole budget, then release it while another process is in
 * the middle of a walk: the objects in between must not be denied.
 */
static void build_budget(struct tb *t)
{
    uint64_t address = 0x100000;
    uint32_t number = 1;
    t->thread = t->process = 1;
    for (; number <= 4; number++) {
        for (uint32_t i = 0; i < 1100; i++, address += UINT64_C(1) << 24)
            tb_nodes(t, TB_LIST(struct tb_node, { address, 24, 0x100, 0 }));
        tb_gc_end(t, number);
    }
    t->thread = t->process = 2;
    tb_gc_start(t, 7);
    tb_nodes(t, TB_LIST(struct tb_node, { 0x70000010, 24, 0x100, 0 }));
    t->thread = t->process = 1;
    for (; number <= 7; number++) {
        t->index[TB_NODES] = 0;
        one_walk(t, number);
    }
    t->thread = t->process = 2;
    t->index[TB_NODES] = 1;
    tb_nodes(t, TB_LIST(struct tb_node, { 0x70000100, 24, 0x100, 0 }));
    tb_gc_end(t, 7);
}

/* Each object with a type of its own, again and again. */
static void build_types(struct tb *t)
{
    for (uint32_t walk = 0; walk < 20; walk++) {
        for (uint32_t i = 0; i < 5000; i++)
            tb_nodes(t,
                     TB_LIST(struct tb_node, { 0x1000, 24, 0x100 + (uint64_t)walk * 5000 + i, 0 }));
        tb_gc_end(t, walk);
    }
}

/* Ids that differ only in their highest bits: with any seed, a weak hash puts them all into one
 * chain. */
static void build_collisions(struct tb *t)
{
    static struct tb_node nodes[2048];
    for (uint32_t k = 0; k < 10 * 16; k++) {
        for (uint32_t i = 0; i < 2048; i++)
            nodes[i] =
                (struct tb_node){ 0x1000, 24, 0x100 + ((uint64_t)(k % 16 * 2048 + i) << 49), 0 };
        tb_nodes(t, nodes, 2048);
    }
    tb_gc_end(t, 1);
}

/* Long names for the same type. */
static void build_names(struct tb *t)
{
    char path[30001];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    for (uint32_t i = 0; i < 60; i++) {
        tb_module(t, 1, path);
        tb_runtime_info(t, 1, 2, 3, path);
        tb_process_info(t, path, path, path);
    }
    one_walk(t, 1);
}

static const struct job jobs[] = {
    { "labels", build_labels, TB_V6, false, GCD_E_NOT_FOUND },
    { "threads", build_threads, TB_V6, false, GCD_E_NOT_FOUND },
    { "descriptions", build_descriptions, TB_V6, false, GCD_E_NOT_FOUND },
    { "walks", build_walks, TB_V4, true, GCD_OK },
    { "other walks", build_other_walks, TB_V4, true, GCD_OK },
    { "waiting walks", build_waiting_walks, TB_V4, true, GCD_OK },
    { "threads of walks", build_threads_of_walks, TB_V4, true, GCD_OK },
    { "scattered", build_scattered, TB_V4, true, GCD_OK },
    { "processes", build_processes, TB_V6, true, GCD_OK },
    { "budget", build_budget, TB_V6, true, GCD_OK },
    { "types", build_types, TB_V4, true, GCD_OK },
    { "collisions", build_collisions, TB_V4, false, GCD_OK },
    { "names", build_names, TB_V4, false, GCD_OK },
};

static void sweep_jobs(sweep_decoder decode, double seconds, struct tally *t)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct tb b;
        struct failalloc f;
        struct run r;
        tb_init(&b, jobs[i].format, 8);
        jobs[i].build(&b);
        tb_close(&b);
        failalloc_init(&f);
        clock_t start = clock();
        decode(b.out.p, b.out.n,
               &(struct run_options){ .alloc = &f.alloc,
                                      .check_references = jobs[i].check_references,
                                      .no_gclog = true },
               &r);
        double used = (double)(clock() - start) / CLOCKS_PER_SEC;
        const char *wrong = run_check(&r);
        if (wrong == NULL)
            wrong = failalloc_complaint(&f);
        if (wrong != NULL)
            tally_complain(t, "%s: %s; %.300s", jobs[i].name, wrong, r.text);
        else if (r.st != jobs[i].st && r.st != GCD_E_LIMIT)
            tally_complain(t, "%s: %.300s", jobs[i].name, r.text);
        else if (used > seconds)
            tally_complain(t, "%s: %.1f s for %zu bytes", jobs[i].name, used, b.out.n);
        else if (f.peak_bytes > BASE_BYTES + BYTES_PER_BYTE * b.out.n)
            tally_complain(t, "%s: %zu bytes of memory for %zu bytes", jobs[i].name, f.peak_bytes,
                           b.out.n);
        t->runs++;
        run_done(&r);
        tb_done(&b);
    }
}

static void test_cost(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_jobs(sweep_decode, SECONDS, &t);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Wastes time. */
static void decode_slow(const uint8_t *bytes, size_t n, const struct run_options *options,
                        struct run *ret)
{
    clock_t start = clock();
    run_trace(bytes, n, options, ret);
    while (clock() - start < CLOCKS_PER_SEC / 20)
        continue;
}

static void decode_greedy(const uint8_t *bytes, size_t n, const struct run_options *options,
                          struct run *ret)
{
    size_t size = n < 3000000 ? BASE_BYTES + BYTES_PER_BYTE * n : 1;
    void *p = options->alloc->resize(options->alloc->ctx, NULL, 0, size);
    run_trace(bytes, n, options, ret);
    if (p != NULL)
        (void)options->alloc->resize(options->alloc->ctx, p, size, 0);
}

static void decode_failing(const uint8_t *bytes, size_t n, const struct run_options *options,
                           struct run *ret)
{
    run_trace(bytes, n / 2, options, ret);
}

static void test_self(void **state)
{
    (void)state;
    static const struct {
        sweep_decoder decode;
        double seconds;
    } broken[] = { { decode_slow, 0.04 }, { decode_greedy, SECONDS }, { decode_failing, SECONDS } };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_jobs(broken[i].decode, broken[i].seconds, &t);
        tally_expect_some(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cost), cmocka_unit_test(test_self) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
