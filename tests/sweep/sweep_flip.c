/*
 * Every byte of small traces changed: no crash, no hang, bounded memory, and a complete result is
 * consistent.
 */
#include <inttypes.h>
#include <unistd.h>

#include "support/failalloc.h"
#include "sweep/sweep.h"

/* A few times what the unchanged samples need. */
#define MEMORY_BYTES ((size_t)4 << 20)
/* Limit for one run, which takes well below a millisecond. */
#define SECONDS 20

static const char *check_flipped(const struct run *r, struct failalloc *f)
{
    const char *wrong = run_check(r);
    if (wrong == NULL)
        wrong = failalloc_complaint(f);
    if (wrong != NULL)
        return wrong;
    if (f->peak_bytes > MEMORY_BYTES)
        return "more memory than a small trace can need";
    /* changing one byte never makes a reference null, so every reference that is counted is also
     * returned */
    if (r->st == GCD_OK && r->verdict.complete && r->target_count != r->facts.edges_declared)
        return "complete, but not all references are given";
    return NULL;
}

static void try_flip(sweep_decoder decode, const char *name, uint8_t *p, size_t n, size_t at,
                     uint8_t value, const struct run_options *options, struct tally *t)
{
    uint8_t old = p[at];
    if (value == old)
        return;
    struct failalloc f;
    struct run_options o = *options;
    struct run r;
    failalloc_init(&f);
    o.alloc = &f.alloc;
    p[at] = value;
    (void)alarm(SECONDS);
    decode(p, n, &o, &r);
    (void)alarm(0);
    const char *wrong = check_flipped(&r, &f);
    if (wrong != NULL)
        tally_complain(t, "%s, byte %zu from %02x to %02x: %s; %s", name, at, old, value, wrong,
                       r.text);
    t->runs++;
    run_done(&r);
    p[at] = old;
}

static void sweep_samples(sweep_decoder decode, size_t step, struct tally *t)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        for (size_t at = 0; at < b.n; at += step * sweep_stride()) {
            /* writing needs more memory and time than the rest, so only every eighth byte */
            struct run_options light = { .no_gclog = true }, full = { .check_references = true };
            try_flip(decode, s->name, b.p, b.n, at, b.p[at] ^ 1, at % 8 == 0 ? &full : &light, t);
            try_flip(decode, s->name, b.p, b.n, at, b.p[at] ^ 0x80, &light, t);
            try_flip(decode, s->name, b.p, b.n, at, 0, &light, t);
            try_flip(decode, s->name, b.p, b.n, at, 0xff, &light, t);
            uint8_t change;
            for (size_t k = 0; (change = sweep_change(at, k, NULL, 0)) != 0; k++)
                try_flip(decode, s->name, b.p, b.n, at, b.p[at] ^ change, &light, t);
        }
        tb_free(&b);
    }
}

static void test_every_byte(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(sweep_decode, 1, &t);
    tally_expect_none(&t);
}

/* Random bytes of real traces: there are far too many to try all. */
static void test_bundled(void **state)
{
    (void)state;
    static const struct run_options options = { .no_gclog = true };
    struct tally t = { 0 };
    const char *name;
    size_t n;
    uint8_t *p;
    for (size_t i = 0; (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        uint64_t seed = i;
        for (size_t k = 0; k < 40; k++) {
            uint64_t r = run_random(&seed);
            /* half of them where headers and small records are */
            size_t at = (size_t)(r >> 16) % (k % 2 == 0 ? n : (size_t)20000);
            struct run whole;
            uint8_t old = p[at];
            p[at] ^= (uint8_t)(1 + r % 255);
            run_trace(p, n, &options, &whole);
            const char *wrong = run_check(&whole);
            if (wrong != NULL)
                tally_complain(&t, "%s, byte %zu from %02x to %02x: %s; %.600s", name, at, old,
                               p[at], wrong, whole.text);
            p[at] = old;
            t.runs++;
            run_done(&whole);
        }
        free(p);
    }
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Sees no damage. */
static void decode_blind(const uint8_t *bytes, size_t n, const struct run_options *options,
                         struct run *ret)
{
    run_trace(bytes, n, options, ret);
    ret->verdict.complete = true;
    ret->verdict.reason_count = 0;
}

/* Does not compare the references with what the objects declare. */
static void decode_unbalanced(const uint8_t *bytes, size_t n, const struct run_options *options,
                              struct run *ret)
{
    run_trace(bytes, n, options, ret);
    struct gcd_verdict *v = &ret->verdict;
    bool others = false, unbalanced = false;
    for (size_t i = 0; i < v->reason_count; i++) {
        enum gcd_reason_code code = v->reasons[i].code;
        unbalanced |= code == GCD_REASON_EDGES_UNBALANCED;
        /* these follow from it */
        others |= code != GCD_REASON_EDGES_UNBALANCED && code != GCD_REASON_EDGES_LOST &&
                  code != GCD_REASON_EDGES_DROPPED;
    }
    if (unbalanced && !others) {
        v->complete = true;
        v->reason_count = 0;
    }
}

/* Counts objects that the cursor does not give. */
static void decode_miscounting(const uint8_t *bytes, size_t n, const struct run_options *options,
                               struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (ret->st == GCD_OK && ret->facts.dumps > 1)
        ret->facts.objects++;
}

/* Trusts a declared size. */
static void decode_greedy(const uint8_t *bytes, size_t n, const struct run_options *options,
                          struct run *ret)
{
    size_t size = bytes[0] != 'N' ? MEMORY_BYTES + 1 : 1;
    void *p = options->alloc->resize(options->alloc->ctx, NULL, 0, size);
    run_trace(bytes, n, options, ret);
    (void)options->alloc->resize(options->alloc->ctx, p, size, 0);
}

/* Leaks a block on damage. */
static void decode_leaking(const uint8_t *bytes, size_t n, const struct run_options *options,
                           struct run *ret)
{
    run_trace(bytes, n, options, ret);
    struct failalloc *f = options->alloc->ctx;
    if (ret->st == GCD_E_UNSUPPORTED)
        f->blocks++; /* a real one would be reported by a sanitizer, too */
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_decoder broken[] = { decode_blind, decode_unbalanced, decode_miscounting,
                                            decode_greedy, decode_leaking };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_samples(broken[i], 17, &t);
        tally_expect_some(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_bundled),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
