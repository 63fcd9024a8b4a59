/*
 * Any bytes as a trace, processed completely: fed at once and in slices, its objects read, written
 * as gclog.
 *
 * Both ways give the same; sums agree; a complete dump is complete; memory is bounded by the limits
 * and the input size, without leaks.  A recording with names added has the same heap.
 */
#include <string.h>

#include <gcdumpc/unstable/recording.h>

#include "clr/clr_gc.h"
#include "clr/clr_ids.h"
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/invent_names.h"
#include "support/run.h"

/* Memory of a run: a minimum, and per byte of input: a record of 28 bytes can use a page of 16 KiB
 * of the address set. */
#define BASE_BYTES     ((size_t)4 << 20)
#define BYTES_PER_BYTE ((size_t)700)

static const struct gcd_limits wide = { .block_bytes = 1 << 20,
                                        .types = 2000,
                                        .roots = 2000,
                                        .text_bytes = 1 << 20,
                                        .threads = 500,
                                        .metadata = 500 };
/* So low that traces of a few KiB reach them. */
static const struct gcd_limits narrow = {
    .block_bytes = 4000, .types = 3, .roots = 4, .text_bytes = 60, .threads = 2, .metadata = 9
};

/* Null references are counted as received, but not given; no runtime writes them. */
static uint64_t count_null_edges(const uint8_t *data, size_t size, const struct gcd_limits *limits)
{
    struct gcd_trace *t;
    struct gcd_event ev;
    uint64_t nulls = 0;
    if (gcd_trace_new(&(struct gcd_context){ .limits = limits }, &t, NULL) != GCD_OK ||
        gcd_trace_feed(t, data, size, NULL) != GCD_OK)
        abort();
    while (gcd_trace_next(t, &ev, NULL) == GCD_OK) {
        struct gcd_clr_bulk b;
        if (ev.provider == GCD_PROVIDER_RUNTIME && ev.id == GCD_EV_BULK_EDGE &&
            gcd_clr_bulk_edge(&ev, &b) == GCD_OK)
            for (uint32_t i = 0; i < b.count; i++)
                nulls += gcd_clr_edge_at(&b, i) == 0;
    }
    gcd_trace_free(t);
    return nulls;
}

static void run_checked(const uint8_t *data, size_t size, struct run_options o, bool slices,
                        struct run *r)
{
    struct failalloc f;
    failalloc_init(&f);
    o.alloc = &f.alloc;
    o.slice = slices ? RUN_RANDOM : 0;
    run_trace(data, size, &o, r);
    const char *wrong = run_check(r);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("a result holds together", wrong);
    if (f.peak_bytes > BASE_BYTES + BYTES_PER_BYTE * size)
        fuzz_fail("memory is bounded", "see peak_bytes");
    if (r->st == GCD_OK && r->verdict.complete && r->target_count != r->facts.edges_declared &&
        r->target_count + count_null_edges(data, size, o.limits) < r->facts.edges_declared)
        fuzz_fail("complete", "not all references are given");
}

/* One allocation fails: that must be the status, without a leak. */
static void run_short_of_memory(const uint8_t *data, size_t size, uint64_t hash,
                                struct run_options o)
{
    struct failalloc f;
    struct run r;
    failalloc_init(&f);
    f.fail_at = 1 + hash % 120;
    o.alloc = &f.alloc;
    run_trace(data, size, &o, &r);
    const char *wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        fuzz_fail("memory that ends", wrong);
    if (f.failed > 0 && r.st != GCD_E_NOMEM && r.objects_st != GCD_E_NOMEM &&
        r.write_st != GCD_E_NOMEM)
        fuzz_fail("memory that ends", gcd_status_name(r.st));
    run_done(&r);
}

static struct gcd_dump *open_walk(struct gcd_input *in, unsigned walk)
{
    struct gcd_dump_options options = { .walk_number = walk };
    struct gcd_dump *d = NULL;
    return gcd_dump_open(in, &options, &d, NULL) == GCD_OK ? d : NULL;
}

static size_t has_damage(const struct gcd_verdict *v)
{
    size_t i = 0;
    while (i < v->reason_count && v->reasons[i].code != GCD_REASON_EVENTS_DAMAGED)
        i++;
    return i < v->reason_count;
}

static const char *compare_named(const struct gcd_summary *a, const struct gcd_summary *b)
{
    /* new names can replace damaged ones */
    size_t healed = has_damage(&a->verdict) > has_damage(&b->verdict);
    if (a->objects != b->objects || a->edges != b->edges || a->type_count != b->type_count ||
        a->root_count != b->root_count)
        return "the heap is another one";
    if ((healed == 0 && a->verdict.complete != b->verdict.complete) ||
        a->verdict.reason_count != b->verdict.reason_count + healed ||
        a->trace.lost_events != b->trace.lost_events ||
        a->trace.irregular_steps != b->trace.irregular_steps || !b->trace.loss_verified)
        return "the verdict is another one";
    for (uint32_t i = 0; i < a->type_count; i++)
        if (strcmp(a->types[i].name, b->types[i].name) != 0 && strlen(a->types[i].name) < 4000 &&
            a->types[i].id != 0)
            return "a name is not there";
    return NULL;
}

/* Added names are there and change nothing else. */
static void run_named(const uint8_t *data, size_t size, unsigned walk)
{
    struct gcd_input *in, *copy = NULL;
    struct gcd_sink *s = NULL;
    if (gcd_input_from_memory(data, size, NULL, &in, NULL) != GCD_OK)
        abort();
    struct gcd_dump *d = open_walk(in, walk), *named = NULL;
    if (d != NULL)
        invent_names(d, "Outer");
    if (d != NULL && gcd_recording_names(d) == GCD_RECORDING_NAMES_NEW) {
        size_t n;
        if (gcd_sink_new_memory(NULL, &s, NULL) != GCD_OK ||
            gcd_recording_write(d, in, s, NULL, NULL, NULL) != GCD_OK ||
            gcd_sink_commit(s, NULL) != GCD_OK)
            fuzz_fail("names are written", "an error");
        const uint8_t *p = gcd_sink_memory(s, &n);
        if (gcd_input_from_memory(p, n, NULL, &copy, NULL) != GCD_OK)
            abort();
        named = open_walk(copy, walk);
        const char *wrong = named == NULL
                                ? "it cannot be opened"
                                : compare_named(gcd_dump_summary(d), gcd_dump_summary(named));
        if (wrong != NULL)
            fuzz_fail("names change nothing else", wrong);
    }
    gcd_dump_free(named);
    gcd_dump_free(d);
    gcd_input_free(copy);
    gcd_input_free(in);
    gcd_sink_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* each input completely once; some, chosen by their bytes, with another check that takes as
     * long again */
    uint64_t hash = fuzz_hash(data, size);
    bool slices = (hash >> 24) % 4 == 0, compare = (hash >> 28) % 4 == 0,
         short_of_memory = (hash >> 32) % 8 == 0;
    struct run_options o = { .limits = hash % 8 == 0 ? &narrow : &wide,
                             .walk_number = (hash >> 8) % 8 == 0 ? 2 : 1,
                             .seed = hash,
                             .check_references = (hash >> 16) % 2 == 0,
                             .no_gclog = (hash >> 20) % 2 == 0 };
    struct run one, other;
    run_checked(data, size, o, slices, &one);
    if (compare) {
        run_checked(data, size, o, !slices, &other);
        const char *differs = run_diff(&one, &other);
        if (differs != NULL)
            fuzz_fail("slices change nothing", differs);
        run_done(&other);
    }
    if ((hash >> 40) % 4 == 0)
        run_named(data, size, o.walk_number);
    if (short_of_memory)
        run_short_of_memory(data, size, hash >> 36, o);
    run_done(&one);
    return 0;
}
