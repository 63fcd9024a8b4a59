/*
 * Traces cut at every byte: everything before the cut is found, nothing else, and the cut is
 * reported.
 */
#include <inttypes.h>

#include "sweep/sweep.h"

/* The objects of CUT are the first ones of WHOLE, and their references the first ones of the same
 * object. */
static const char *check_prefix(const struct run *whole, const struct run *cut)
{
    if (cut->object_count > whole->object_count)
        return "more objects than in the whole trace";
    for (size_t i = 0; i < cut->object_count; i++) {
        const struct run_object *a = &whole->objects[i], *b = &cut->objects[i];
        if (a->address != b->address || a->size_bytes != b->size_bytes ||
            a->type_id != b->type_id || a->edges != b->edges)
            return "an object that is not the same as in the whole trace";
        if (b->targets > a->targets ||
            (b->targets > 0 &&
             memcmp(whole->targets + a->first_target, cut->targets + b->first_target,
                    (size_t)b->targets * sizeof *cut->targets) != 0))
            return "references that are not the same as in the whole trace";
    }
    return NULL;
}

/* CUT is the result of the first LEN bytes of the trace that gave WHOLE. */
static const char *check_cut(const struct run *whole, const struct run *cut, size_t len)
{
    const char *wrong = run_check(cut);
    if (wrong != NULL)
        return wrong;
    if (cut->st != GCD_OK) {
        if (cut->st != GCD_E_TRUNCATED)
            return "the error is not GCD_E_TRUNCATED";
        return cut->err.off == len ? NULL : "the error is not at the cut";
    }
    if (cut->verdict.complete)
        return "complete";
    if (cut->verdict.reasons[0].code != GCD_REASON_TRACE_TRUNCATED)
        return "the first reason is not trace_truncated";
    if (cut->verdict.reasons[0].amount != len || cut->facts.trace.damage_off != len)
        return "the offset is not that of the cut";
    return check_prefix(whole, cut);
}

static void try_cut(sweep_decoder decode, const char *name, const uint8_t *bytes, size_t len,
                    const struct run *whole, const struct run_options *options, struct tally *t)
{
    /* a block of its own, so that a sanitizer sees what is read behind the cut */
    uint8_t *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes, len);
    struct run cut;
    decode(copy + 1, len, options, &cut);
    const char *wrong = check_cut(whole, &cut, len);
    if (wrong != NULL)
        tally_complain(t, "%s, cut at %zu: %s; %s", name, len, wrong, cut.text);
    t->runs++;
    run_done(&cut);
    free(copy);
}

/* Every STEPth length of every sample. */
static void sweep_samples(sweep_decoder decode, size_t step, struct tally *t)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        struct run whole;
        run_trace(b.p, b.n, NULL, &whole);
        for (size_t len = 0; len < b.n; len += step * sweep_stride())
            try_cut(
                decode, s->name, b.p, len, &whole,
                &(struct run_options){ .check_references = len % 2 == 0, .no_gclog = len % 5 != 0 },
                t);
        run_done(&whole);
        tb_free(&b);
    }
}

static void test_samples_are_whole(void **state)
{
    (void)state;
    struct tb_bytes b;
    const struct tb_sample *s;
    size_t count = 0;
    for (; (s = tb_sample(count, &b)) != NULL; count++) {
        struct run r;
        run_trace(b.p, b.n, NULL, &r);
        assert_null(run_check(&r));
        assert_int_equal(r.st, GCD_OK);
        assert_int_equal(r.facts.objects, s->objects);
        assert_int_equal(r.target_count, s->edges);
        if (r.verdict.complete != s->complete)
            fail_msg("%s: %s", s->name, r.verdict.reasons[0].text);
        run_done(&r);
        tb_free(&b);
    }
    assert_true(count >= 8);
}

static void test_every_length(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(sweep_decode, 1, &t);
    tally_expect_none(&t);
}

/* The same lengths with the bytes coming in slices: then a cut block lies in the decoder's own
 * buffer. */
static void decode_sliced(const uint8_t *bytes, size_t n, const struct run_options *options,
                          struct run *ret)
{
    struct run_options o = *options;
    o.slice = RUN_RANDOM;
    o.seed = n;
    o.no_gclog = true;
    run_trace(bytes, n, &o, ret);
}

static void test_every_length_in_slices(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(decode_sliced, 1, &t);
    tally_expect_none(&t);
}

/* ---- real traces ---- */

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Where the objects of a format 4 trace begin and their bodies end; at most MAX.  As plain as the
 * format's description. */
static size_t find_boundaries(const uint8_t *p, size_t n, size_t *ret, size_t max)
{
    size_t count = 0, at = 32;
    while (at + 15 < n && p[at] == 5 && count + 2 <= max) {
        ret[count++] = at;
        size_t name = le32(p + at + 11), body = at + 16 + name;
        if (name == 5) {
            at = body + 48 + 1; /* the trace header: no size, no padding */
            continue;
        }
        size_t size = le32(p + body);
        body = (body + 4 + 3) / 4 * 4;
        ret[count++] = body;
        at = body + size + 1;
    }
    return count;
}

static void test_bundled(void **state)
{
    (void)state;
    static const struct run_options options = { .no_gclog = true };
    struct tally t = { 0 };
    const char *name;
    size_t n, boundaries[2000], boundary_total = 0;
    uint8_t *p;
    for (size_t i = 0; (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        struct run whole;
        run_trace(p, n, &options, &whole);
        assert_int_equal(whole.st, GCD_OK);
        for (size_t len = 0; len < 2048; len += sweep_stride())
            try_cut(sweep_decode, name, p, len, &whole, &options, &t);
        size_t count = find_boundaries(p, n, boundaries, sizeof boundaries / sizeof *boundaries);
        boundary_total += count;
        /* all boundaries if there are few, else a share of them */
        for (size_t k = 0; k < count; k += 1 + count / 40)
            for (size_t len = boundaries[k] - 1; len <= boundaries[k] + 1; len++)
                if (len < n && len >= 2048)
                    try_cut(sweep_decode, name, p, len, &whole, &options, &t);
        uint64_t seed = i;
        for (size_t k = 0; k < 12; k++)
            try_cut(sweep_decode, name, p, (size_t)(run_random(&seed) % n), &whole, &options, &t);
        try_cut(sweep_decode, name, p, n - 1, &whole, &options, &t);
        run_done(&whole);
        free(p);
    }
    assert_true(boundary_total > 300);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Reads past the end: what lies there are zeros. */
static void decode_padded(const uint8_t *bytes, size_t n, const struct run_options *options,
                          struct run *ret)
{
    uint8_t *copy = calloc(1, n + 8);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    run_trace(copy, n + 8, options, ret);
    free(copy);
}

/* Takes the end of the bytes for the end of the trace. */
static void decode_trusting(const uint8_t *bytes, size_t n, const struct run_options *options,
                            struct run *ret)
{
    run_trace(bytes, n, options, ret);
    ret->verdict.complete = true;
    ret->verdict.reason_count = 0;
}

/* Does not look at the last byte. */
static void decode_short(const uint8_t *bytes, size_t n, const struct run_options *options,
                         struct run *ret)
{
    run_trace(bytes, n == 0 ? 0 : n - 1, options, ret);
}

/* Gives one object twice. */
static void decode_twice(const uint8_t *bytes, size_t n, const struct run_options *options,
                         struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (ret->object_count > 1)
        ret->objects[1] = ret->objects[0];
}

/* Gives the references to the wrong object. */
static void decode_shifted(const uint8_t *bytes, size_t n, const struct run_options *options,
                           struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (ret->target_count > 1)
        ret->targets[0] = ret->targets[1];
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_decoder broken[] = { decode_padded, decode_trusting, decode_short,
                                            decode_twice, decode_shifted };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_samples(broken[i], 11, &t);
        tally_expect_some(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_whole),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_length_in_slices),
        cmocka_unit_test(test_bundled),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
