/*
 * Dart heap snapshots that are cut, have a changed byte, or run out of memory.
 */
#include "sweep/sweep_graph.h"

#include "support/dart_sample.h"
#include "support/shop.h"
#include "support/v8_check.h"

static gcd_status decode(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                         struct gcd_graph **ret, struct gcd_error *err)
{
    return run_graph_read(&gcd_r_dart, p, n, &(struct gcd_graph_options){ .context.alloc = alloc },
                          ret, err);
}

static const char *sample(size_t i, struct tb_bytes *ret)
{
    static const char *const names[] = { "of a VM",   "shop",      "our own 2", "our own 3",
                                         "our own 4", "our own 5", "our own 6" };
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    if (i >= sizeof names / sizeof *names)
        return NULL;
    if (i == 0) {
        tb_put(ret, dart_sample, dart_sample_bytes);
        return names[i];
    }
    struct gcd_graph *g =
        i == 1 ? shop_graph(300, true)
               : graph_gen(&(struct graph_gen){ .seed = i, .max_nodes = 20, .plain_names = true });
    assert_int_equal(run_graph_write("dart", g, NULL, ret, NULL, NULL), GCD_OK);
    gcd_graph_free(g);
    return names[i];
}

/* For any input: a readable snapshot can be written and read back unchanged. */
static const char *check_graph(const struct gcd_graph *g)
{
    struct tb_bytes out;
    struct gcd_graph *again;
    const char *wrong = run_graph_check(g);
    if (wrong != NULL)
        return wrong;
    if (run_graph_write("v8", g, NULL, &out, NULL, NULL) != GCD_OK)
        return "not written as v8";
    wrong = v8_check(out.p, out.n, g);
    tb_free(&out);
    if (wrong != NULL)
        return wrong;
    if (run_graph_write("dart", g, NULL, &out, NULL, NULL) != GCD_OK)
        return "not written as dart";
    if (decode(out.p, out.n, NULL, &again, NULL) != GCD_OK) {
        wrong = "not read again";
    } else {
        wrong = graph_eq(g, again,
                         GRAPH_EQ_ADDRESSES | GRAPH_EQ_TYPE_IDS | GRAPH_EQ_MODULES |
                             GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_VERDICT);
        gcd_graph_free(again);
    }
    tb_free(&out);
    return wrong;
}

static const char *check(const struct graph_outcome *o)
{
    if (o->memory->peak_bytes >
        500000 + 100 * o->n) /* pools and pages of the index have their least sizes */
        return "too much memory for the input";
    if (o->st == GCD_OK)
        return o->whole != NULL ? graph_eq(o->whole, o->graph, GRAPH_EQ_VERDICT)
                                : check_graph(o->graph);
    if (o->st == GCD_E_TRUNCATED)
        return o->err->off == o->n ? NULL : "the error is not at the end";
    return o->whole == NULL && (o->st == GCD_E_FORMAT || o->st == GCD_E_LIMIT)
               ? NULL
               : "not an error of the file";
}

static const struct graph_sweep sweep = {
    .decode = decode,
    .sample = sample,
    .check = check,
    .masks = { 0x01, 0x02, 0x08, 0x40, 0x80, 0xff },
};

static void test_cuts(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_cuts(&sweep, decode, &t);
    tally_expect_none(&t);
}

static void test_flips(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_flips(&sweep, decode, &t);
    tally_expect_none(&t);
}

static void test_damage(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_damage(decode, "dart", 0, &t);
    assert_true(t.runs > 1000 / sweep_stride());
    tally_expect_none(&t);
}

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f,
                                 struct gcd_error *err)
{
    struct gcd_graph *g;
    struct tb_bytes dart = { NULL, 0, 0 }, v8 = { NULL, 0, 0 };
    gcd_status st = decode(p, n, &f->alloc, &g, err);
    if (st != GCD_OK)
        return st;
    st = run_graph_write("dart", g, &f->alloc, &dart, NULL, err);
    if (st == GCD_OK)
        st = run_graph_write("v8", g, &f->alloc, &v8, NULL, err);
    tb_free(&dart);
    tb_free(&v8);
    gcd_graph_free(g);
    return st;
}

static void test_allocations(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_allocations(&sweep, read_and_write, &t);
    assert_true(t.runs > 100);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Treats missing bytes as zeros. */
static gcd_status decode_padded(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                struct gcd_graph **ret, struct gcd_error *err)
{
    uint8_t *padded = calloc(1, n + 1000);
    assert_non_null(padded);
    memcpy(padded, p, n);
    gcd_status st = decode(padded, n + 1000, alloc, ret, err);
    free(padded);
    return st;
}

/* Reports every damage as an invalid argument. */
static gcd_status decode_rude(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                              struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    return st == GCD_E_FORMAT ? GCD_E_ARG : st;
}

static void test_self(void **state)
{
    (void)state;
    struct tally cut = { 0 }, flip = { 0 };
    sweep_graph_cuts(&sweep, decode_padded, &cut);
    tally_expect_some(&cut);
    sweep_graph_flips(&sweep, decode_rude, &flip);
    tally_expect_some(&flip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),   cmocka_unit_test(test_flips),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
