/*
 * Dart heap snapshots that are cut, have a changed byte, or run out of memory.
 */
#include <gcdumpc/writer.h>

#include "support/dart_sample.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"
#include "support/shop.h"
#include "support/v8_check.h"
#include "sweep/sweep.h"

typedef gcd_status (*dart_decoder)(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err);

static gcd_status decode(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    *err = (struct gcd_error)GCD_ERROR_INIT;
    return run_graph_read(&gcd_r_dart, p, n, &(struct gcd_graph_options){ .context.alloc = alloc }, ret, err);
}

static gcd_status encode(const char *format, const struct gcd_graph *g, const struct gcd_alloc *alloc, struct gcd_sink **ret, struct gcd_error *err)
{
    struct gcd_write_options options = { .context.alloc = alloc };
    *ret = NULL;
    gcd_status st = gcd_sink_new_memory(alloc, ret, err);
    if (st == GCD_OK)
        st = gcd_write_graph(gcd_format_by_name(format), g, *ret, &options, NULL, err);
    return st == GCD_OK ? gcd_sink_commit(*ret, err) : st;
}

/* File number I; free() it.  NULL after the last. */
static uint8_t *sample(size_t i, size_t *ret_n)
{
    if (i > 6)
        return NULL;
    uint8_t *copy;
    if (i == 0) {
        copy = malloc(*ret_n = dart_sample_bytes);
        assert_non_null(copy);
        return memcpy(copy, dart_sample, *ret_n);
    }
    struct gcd_graph *g = i == 1 ? shop_graph(300, true) : graph_gen(&(struct graph_gen){ .seed = i, .max_nodes = 20, .plain_names = true });
    struct gcd_sink *s;
    struct gcd_error err;
    assert_int_equal(encode("dart", g, NULL, &s, &err), GCD_OK);
    const uint8_t *p = gcd_sink_memory(s, ret_n);
    copy = malloc(*ret_n);
    assert_non_null(copy);
    memcpy(copy, p, *ret_n);
    gcd_sink_free(s);
    gcd_graph_free(g);
    return copy;
}

/* For any input: a readable snapshot can be written and read back unchanged. */
static const char *check_graph(const struct gcd_graph *g)
{
    struct gcd_sink *s;
    struct gcd_error err = GCD_ERROR_INIT;
    size_t n;
    const char *wrong = run_graph_check(g);
    if (wrong != NULL)
        return wrong;
    wrong = encode("v8", g, NULL, &s, &err) != GCD_OK ? "not written as v8" : NULL;
    if (wrong == NULL) {
        const uint8_t *p = gcd_sink_memory(s, &n);
        wrong = v8_check(p, n, g);
    }
    gcd_sink_free(s);
    if (wrong != NULL)
        return wrong;
    if (encode("dart", g, NULL, &s, &err) != GCD_OK) {
        wrong = "not written as dart";
    } else {
        const uint8_t *p = gcd_sink_memory(s, &n);
        struct gcd_graph *again;
        if (decode(p, n, NULL, &again, &err) != GCD_OK)
            wrong = "not read again";
        else {
            wrong = graph_eq(g, again, GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES | GRAPH_EQ_ROOT_ORDER);
            gcd_graph_free(again);
        }
    }
    gcd_sink_free(s);
    return wrong;
}

static void run_one(dart_decoder d, const uint8_t *p, size_t n, const struct gcd_graph *whole, size_t cut, size_t at, struct tally *t)
{
    /* its own block, so that a sanitizer sees reads past the end */
    uint8_t *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy + 1, p, n);
    struct failalloc f;
    struct gcd_error err;
    struct gcd_graph *g;
    failalloc_init(&f);
    gcd_status st = d(copy + 1, n, &f.alloc, &g, &err);
    const char *wrong = NULL;
    if (st == GCD_OK) {
        wrong = cut != SIZE_MAX ? graph_eq(whole, g, 0) : check_graph(g);
        gcd_graph_free(g);
    } else if (st != GCD_E_TRUNCATED && (cut != SIZE_MAX || (st != GCD_E_FORMAT && st != GCD_E_LIMIT))) {
        wrong = err.msg;
    } else if (st == GCD_E_TRUNCATED && err.off != n) {
        wrong = "the error is not at the end";
    }
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    char memory[80];
    if (wrong == NULL && f.peak_bytes > 500000 + 100 * n) {      /* pools and pages of the index have their least sizes */
        (void)snprintf(memory, sizeof memory, "%zu bytes of memory for %zu of input", f.peak_bytes, n);
        wrong = memory;
    }
    if (wrong != NULL)
        tally_complain(t, "%s %zu: %s", cut != SIZE_MAX ? "cut at" : "changed at", at, wrong);
    t->runs++;
    free(copy);
}

static void sweep_truncate(dart_decoder d, struct tally *t)
{
    uint8_t *p;
    size_t n;
    for (size_t i = 0; (p = sample(i, &n)) != NULL; i++) {
        struct gcd_graph *whole;
        struct gcd_error err;
        assert_int_equal(decode(p, n, NULL, &whole, &err), GCD_OK);
        for (size_t at = 0; at < n; at += sweep_stride())
            run_one(d, p, at, whole, at, at, t);
        gcd_graph_free(whole);
        free(p);
    }
}

static void sweep_flip(dart_decoder d, struct tally *t)
{
    static const uint8_t masks[] = { 0x01, 0x02, 0x08, 0x40, 0x80, 0xff };
    uint8_t *p, change;
    size_t n;
    for (size_t i = 0; (p = sample(i, &n)) != NULL; i++) {
        for (size_t at = 0; at < n; at += sweep_stride())
            for (size_t k = 0; (change = sweep_change(at, k, masks, sizeof masks)) != 0; k++) {
                p[at] ^= change;
                if (at > 0 || p[0] != 0x1f)
                    run_one(d, p, n, NULL, SIZE_MAX, at, t);
                p[at] ^= change;
            }
        free(p);
    }
}

static void test_truncate(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_truncate(decode, &t);
    tally_expect_none(&t);
}

static void test_flip(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_flip(decode, &t);
    tally_expect_none(&t);
}

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct gcd_graph *g;
    struct gcd_sink *dart = NULL, *v8 = NULL;
    gcd_status st = decode(p, n, &f->alloc, &g, err);
    if (st != GCD_OK)
        return st;
    st = encode("dart", g, &f->alloc, &dart, err);
    if (st == GCD_OK)
        st = encode("v8", g, &f->alloc, &v8, err);
    gcd_sink_free(dart);
    gcd_sink_free(v8);
    gcd_graph_free(g);
    return st;
}

static void test_alloc(void **state)
{
    (void)state;
    struct tally t = { 0 };
    uint8_t *p;
    size_t n;
    for (size_t i = 0; (p = sample(i, &n)) != NULL; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "file %zu", i);
        sweep_allocations(read_and_write, name, p, n, SWEEP_CAN_DO_WITHOUT, &t);
        free(p);
    }
    assert_true(t.runs > 100);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Treats missing bytes as zeros. */
static gcd_status decode_padded(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    uint8_t *padded = calloc(1, n + 1000);
    assert_non_null(padded);
    memcpy(padded, p, n);
    gcd_status st = decode(padded, n + 1000, alloc, ret, err);
    free(padded);
    return st;
}

/* Reports every damage as an invalid argument. */
static gcd_status decode_rude(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    return st == GCD_E_FORMAT ? GCD_E_ARG : st;
}

static void test_self(void **state)
{
    (void)state;
    struct tally cut = { 0 }, flip = { 0 };
    sweep_truncate(decode_padded, &cut);
    tally_expect_some(&cut);
    sweep_flip(decode_rude, &flip);
    tally_expect_some(&flip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncate), cmocka_unit_test(test_flip), cmocka_unit_test(test_alloc), cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
