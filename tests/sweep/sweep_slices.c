/*
 * The slice size in which a trace arrives changes nothing: neither events nor dump nor output.
 */
#include <inttypes.h>

#include <gcdumpc/trace.h>

#include "sweep/sweep.h"

/* ---- events ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    uint64_t s = h ^ v;
    return run_random(&s);
}

static uint64_t mix_bytes(uint64_t h, const uint8_t *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        h = mix(h, v);
    }
    for (size_t i = 0; i < n; i++)
        h = mix(h, p[i]);
    return h;
}

struct digest {
    gcd_status st;
    uint64_t events, hash;
};

static gcd_status drain(struct gcd_trace *t, struct digest *d)
{
    struct gcd_event ev;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st;
    while ((st = gcd_trace_next(t, &ev, &err)) == GCD_OK) {
        d->events++;
        d->hash = mix(mix(mix(d->hash, ev.id), ev.version), (uint64_t)ev.provider);
        d->hash = mix(mix(mix(d->hash, ev.thread), ev.process), (uint64_t)ev.time_ns);
        d->hash = mix(mix(mix(d->hash, ev.ptr_bytes), ev.off), ev.payload_bytes);
        d->hash = mix_bytes(d->hash, (const uint8_t *)ev.provider_name, strlen(ev.provider_name));
        d->hash = mix_bytes(d->hash, ev.payload, ev.payload_bytes);
    }
    return st;
}

/*
 * A digest of all events of the trace fed in slices of SLICE bytes.  Each slice is overwritten
 * after use: an event that keeps a pointer into an old slice gets another digest.
 */
static struct digest digest_events(const uint8_t *bytes, size_t n, size_t slice)
{
    struct digest d = { GCD_NEED_MORE, 0, 0 };
    struct gcd_trace *t;
    struct gcd_error err = GCD_ERROR_INIT;
    assert_int_equal(gcd_trace_new(NULL, &t, &err), GCD_OK);
    uint8_t *buffer = malloc(slice);
    assert_non_null(buffer);
    for (size_t at = 0; at < n && d.st == GCD_NEED_MORE; at += slice) {
        size_t part = n - at < slice ? n - at : slice;
        memcpy(buffer + slice - part, bytes + at, part);
        assert_int_equal(gcd_trace_feed(t, buffer + slice - part, part, &err), GCD_OK);
        d.st = drain(t, &d);
        memset(buffer, 0xdd, slice);
    }
    gcd_trace_finish(t);
    if (d.st == GCD_NEED_MORE)
        d.st = drain(t, &d);
    struct gcd_trace_info info;
    gcd_trace_get_info(t, &info);
    d.hash = mix(mix(mix(d.hash, info.bytes), info.damage_off), info.lost_events);
    free(buffer);
    gcd_trace_free(t);
    return d;
}

/* Every slice size from 1 to 64, and some larger and odd ones. */
static const size_t larger[] = { 65,   100,  127,  128,  129,   255,   256,   257,
                                 1000, 4095, 4096, 4097, 65535, 65536, 102401 };
#define SIZES (64 + sizeof larger / sizeof *larger)

/* With a stride the smallest and every sixth size: builds with sanitizers need not show again that
 * the digests are equal. */
static size_t next_size(size_t k)
{
    return k + (sweep_stride() > 1 && k >= 8 ? 6 : 1);
}

static size_t slice_at(size_t k)
{
    return k < 64 ? k + 1 : larger[k - 64];
}

static void sweep_events(const char *name, const uint8_t *p, size_t n, struct tally *t)
{
    struct digest whole = digest_events(p, n, n);
    assert_true(whole.events > 15);
    for (size_t k = 0; k < SIZES; k = next_size(k)) {
        struct digest d = digest_events(p, n, slice_at(k));
        if (d.st != whole.st || d.events != whole.events || d.hash != whole.hash)
            tally_complain(t, "%s, slices of %zu: %" PRIu64 " of %" PRIu64 " events, %s", name,
                           slice_at(k), d.events, whole.events, gcd_status_name(d.st));
        t->runs++;
    }
}

/* ---- dumps ---- */

static void try_slice(sweep_decoder decode, const char *name, const uint8_t *p, size_t n,
                      const struct run *whole, const struct run_options *options, struct tally *t)
{
    struct run r;
    decode(p, n, options, &r);
    const char *wrong = run_diff(whole, &r);
    if (wrong != NULL)
        tally_complain(t, "%s, slices of %zu, seed %" PRIu64 ": %s", name, options->slice,
                       options->seed, wrong);
    t->runs++;
    run_done(&r);
}

/* The slice sizes, and RANDOM runs with changing sizes. */
static void sweep_dump(sweep_decoder decode, const char *name, const uint8_t *p, size_t n,
                       size_t random, struct tally *t)
{
    struct run whole;
    run_trace(p, n, NULL, &whole);
    assert_int_equal(whole.st, GCD_OK);
    assert_null(run_check(&whole));
    assert_true(whole.gclog_bytes > 100);
    for (size_t k = 0; k < SIZES; k = next_size(k))
        try_slice(decode, name, p, n, &whole, &(struct run_options){ .slice = slice_at(k) }, t);
    for (size_t k = 0; k < random; k++)
        try_slice(decode, name, p, n, &whole,
                  &(struct run_options){ .slice = RUN_RANDOM, .seed = k }, t);
    run_done(&whole);
}

static void sweep_samples(sweep_decoder decode, struct tally *t)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        sweep_dump(decode, s->name, b.p, b.n, 40, t);
        tb_free(&b);
    }
}

static void test_samples(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(sweep_decode, &t);
    tally_expect_none(&t);
}

static void test_sample_events(void **state)
{
    (void)state;
    struct tally t = { 0 };
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        sweep_events(s->name, b.p, b.n, &t);
        tb_free(&b);
    }
    tally_expect_none(&t);
}

/* The events in every slice size; whole runs, in which only the first pass sees slices, in a few.
 */
static void test_bundled(void **state)
{
    (void)state;
    static const size_t few[] = { 1, 13, 64, 4097, 102401, RUN_RANDOM };
    struct tally t = { 0 };
    const char *name;
    size_t n;
    uint8_t *p;
    for (size_t i = 0; (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        sweep_events(name, p, n, &t);
        struct run whole;
        run_trace(p, n, NULL, &whole);
        assert_null(run_check(&whole));
        for (size_t k = 0; k < sizeof few / sizeof *few; k++)
            try_slice(sweep_decode, name, p, n, &whole,
                      &(struct run_options){ .slice = few[k], .seed = i }, &t);
        run_done(&whole);
        free(p);
    }
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Loses the last byte of each slice of 7, except at the end of the trace. */
static void decode_leaky(const uint8_t *bytes, size_t n, const struct run_options *options,
                         struct run *ret)
{
    uint8_t *copy = malloc(n);
    size_t m = 0;
    assert_non_null(copy);
    for (size_t i = 0; i < n; i++)
        if (options->slice != 7 || i % 7 != 6 || i == n - 1)
            copy[m++] = bytes[i];
    run_trace(copy, m, options, ret);
    free(copy);
}

/* Corrupts one byte in the middle if slices are small: the sum of two objects' sizes may stay the
 * same. */
static void decode_smudged(const uint8_t *bytes, size_t n, const struct run_options *options,
                           struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (options->slice == 3 && ret->gclog_bytes > 60)
        ret->gclog[50] ^= 1;
}

/* Drops a reference if the sizes change. */
static void decode_forgetful(const uint8_t *bytes, size_t n, const struct run_options *options,
                             struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (options->slice == RUN_RANDOM && options->seed == 39 && ret->target_count > 0)
        ret->targets[ret->target_count - 1]++;
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_decoder broken[] = { decode_leaky, decode_smudged, decode_forgetful };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_samples(broken[i], &t);
        tally_expect_some(&t);
    }
    /* the digest sees every byte of an event, and the end of the trace */
    struct tb_bytes b;
    assert_non_null(tb_sample(0, &b));
    struct digest before = digest_events(b.p, b.n, b.n);
    assert_int_equal(before.st, GCD_END);
    struct digest shorter = digest_events(b.p, b.n - 1, b.n);
    assert_true(shorter.st != before.st && shorter.hash != before.hash);
    /* a number in the last sequence point: five events were lost */
    b.p[b.n - 6] = (uint8_t)(b.p[b.n - 6] + 5);
    struct digest lost = digest_events(b.p, b.n, b.n);
    assert_true(lost.st == before.st && lost.events == before.events && lost.hash != before.hash);
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_sample_events),
        cmocka_unit_test(test_bundled),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
