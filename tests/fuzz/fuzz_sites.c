/*
 * Any bytes as the streams of sampled allocations and collections, and as the recording of the
 * walk.
 *
 * Errors have a reason; every sample is alive, dead or lost; what is alive is an object of the
 * walk; all numbers in the result lie in its tables; memory is bounded by the input, and never
 * leaked.
 */
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/tb.h"

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/sites.h>

#define MEMORY_MAX ((size_t)24 << 20)

static void check_sites(const struct gcd_sites *s, const struct gcd_graph *g)
{
    if (s->samples != s->alive + s->dead + s->lost)
        fuzz_fail("a sample is alive, dead or lost", "the sums differ");
    for (size_t i = 0; i < s->stack_count; i++)
        if (s->stacks[i].frame >= s->frame_count ||
            (s->stacks[i].caller != GCD_SITE_NONE && s->stacks[i].caller >= i))
            fuzz_fail("a stack has a frame and an earlier caller", "it has not");
    for (size_t i = 0; i < s->total_count; i++)
        if (s->totals[i].stack != GCD_SITE_NONE && s->totals[i].stack >= s->stack_count)
            fuzz_fail("a total has a stack", "it has not");
    for (size_t i = 0; i < s->living_count; i++)
        if (s->living[i].total >= s->total_count ||
            gcd_graph_find(g, s->living[i].address) == GCD_NODE_NONE)
            fuzz_fail("what lives is an object of the walk", "it is not");
}

static gcd_status run(struct gcd_input *in, const uint8_t *data, size_t size, struct failalloc *f)
{
    struct gcd_context context = { .alloc = &f->alloc };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_site_recorder *r = NULL;
    struct gcd_dump *d = NULL;
    struct gcd_graph *g = NULL;
    struct gcd_sites *s = NULL;
    gcd_status st = gcd_site_recorder_new(&context, &r, &err);
    for (int i = 0; st == GCD_OK && i < GCD_SITE_STREAMS; i++)
        st = gcd_site_recorder_feed(r, (enum gcd_site_stream)i, data, size, &err);
    bool damaged = st == GCD_E_FORMAT || st == GCD_E_TRUNCATED;
    if (st == GCD_OK || damaged)
        st = gcd_dump_open(in, NULL, &d, &err);
    if (st == GCD_OK)
        st = gcd_graph_from_dump(d, NULL, &g, &err);
    if (st == GCD_OK && r != NULL)
        st = gcd_site_recorder_walk(r, in, gcd_dump_summary(d)->gc_number, &err);
    if (st == GCD_OK)
        st = gcd_site_recorder_finish(r, g, NULL, &s, &err);
    if (st == GCD_OK)
        check_sites(s, g);
    else if (err.msg[0] == '\0')
        fuzz_fail("an error says so", gcd_status_name(st));
    gcd_sites_free(s);
    s = NULL;
    if (d != NULL && gcd_sites_read(in, gcd_dump_summary(d), &context, &s, &err) == GCD_OK &&
        s != NULL && g != NULL)
        for (size_t i = 0; i < s->living_count; i++)
            if (s->living[i].total >= s->total_count)
                fuzz_fail("a stored sample has a total", "it has not");
    gcd_sites_free(s);
    gcd_graph_free(g);
    gcd_dump_free(d);
    gcd_site_recorder_free(r);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct failalloc f;
    struct gcd_input_options options = { .reread = true };
    if (gcd_input_from_memory(data, size, &options, &in, &err) != GCD_OK)
        return 0;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 200;
    (void)run(in, data, size, &f);
    if (f.peak_bytes > MEMORY_MAX + 400 * size)
        fuzz_fail("memory is bounded", "see peak_bytes");
    fuzz_check_memory(&f);
    gcd_input_free(in);
    return 0;
}
