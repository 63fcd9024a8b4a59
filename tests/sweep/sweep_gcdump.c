/*
 * .gcdump files cut at every byte, with every byte changed, with every allocation failing: a clean error or a consistent graph.
 */
#include "sweep/sweep.h"

#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"
#include "support/tb_gcdump.h"

/* A reader that can be broken on purpose. */
typedef gcd_status (*reader)(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err);

static gcd_status read_right(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err)
{
    return run_graph_read(&gcd_r_gcdump, bytes, n, o, ret, err);
}

/* After the files of tb_gcdump.c, one written by us with everything that a graph can hold. */
static const char *sample(size_t i, struct tb_bytes *ret)
{
    const char *name = tb_gcdump_sample(i, ret);
    struct tb_bytes none;
    if (name != NULL || (i > 0 && tb_gcdump_sample(i - 1, &none) == NULL))
        return name;
    tb_free(&none);
    struct gcd_graph *g = graph_gen(&(struct graph_gen){ .seed = 5, .max_nodes = 12, .plain_names = true });
    struct gcd_write_notes notes;
    assert_int_equal(run_graph_write("gcdump", g, NULL, ret, &notes, NULL), GCD_OK);
    gcd_graph_free(g);
    return "our own";
}

/* NULL, or the defect of the result. */
static const char *check(gcd_status st, const struct gcd_graph *g, const struct gcd_error *err)
{
    if (st != GCD_OK)
        return st > 0 || err->code != st || err->msg[0] == '\0' ? "the error does not say what it is" :
               st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_UNSUPPORTED || st == GCD_E_LIMIT ? NULL : "not an error of the file";
    return run_graph_check(g);
}

/* WHOLE: the graph in the file, NULL if it may have changed. */
static void try_bytes(reader read, const char *name, size_t at, const uint8_t *p, size_t n, const struct gcd_graph *whole, struct tally *t)
{
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    failalloc_init(&f);
    f.max_bytes = (size_t)8 << 20;
    gcd_status st = read(p, n, &(struct gcd_graph_options){ .context.alloc = &f.alloc }, &g, &err);
    const char *wrong = check(st, g, &err);
    if (wrong == NULL && st == GCD_OK && whole != NULL)
        wrong = graph_eq(whole, g, 0);
    if (wrong != NULL)
        tally_complain(t, "%s, byte %zu: %s; %s", name, at, wrong, err.msg);
    if (st == GCD_OK)
        gcd_graph_free(g);
    wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        tally_complain(t, "%s, byte %zu: %s", name, at, wrong);
    t->runs++;
}

/* In its own block, so that a sanitizer sees reads past the end. */
static void sweep_cuts(reader read, struct tally *t)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = sample(i, &b)) != NULL; i++) {
        struct gcd_graph *whole;
        assert_int_equal(run_graph_read(&gcd_r_gcdump, b.p, b.n, NULL, &whole, NULL), GCD_OK);
        for (size_t n = 0; n < b.n; n += sweep_stride()) {
            uint8_t *cut = malloc(n + (n == 0));
            assert_non_null(cut);
            memcpy(cut, b.p, n);
            try_bytes(read, name, n, cut, n, whole, t);
            free(cut);
        }
        gcd_graph_free(whole);
        tb_free(&b);
    }
}

static void sweep_flips(reader read, struct tally *t)
{
    static const uint8_t masks[] = { 0x01, 0x02, 0x40, 0x80, 0xff };
    uint8_t change;
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = sample(i, &b)) != NULL; i++) {
        for (size_t at = 0; at < b.n; at += sweep_stride())
            for (size_t k = 0; (change = sweep_change(at, k, masks, sizeof masks)) != 0; k++) {
                b.p[at] ^= change;
                try_bytes(read, name, at, b.p, b.n, NULL, t);
                b.p[at] ^= change;
            }
        tb_free(&b);
    }
}

static void test_cuts(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_cuts(read_right, &t);
    assert_true(t.runs > 8000 / sweep_stride());
    tally_expect_none(&t);
}

static void test_flips(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_flips(read_right, &t);
    tally_expect_none(&t);
}

/* ---- allocations ---- */

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct gcd_graph *g;
    struct tb_bytes out = { NULL, 0, 0 };
    struct gcd_write_notes notes;
    gcd_status st = run_graph_read(&gcd_r_gcdump, p, n, &(struct gcd_graph_options){ .context.alloc = &f->alloc }, &g, err);
    if (st != GCD_OK)
        return st;
    st = run_graph_write("gcdump", g, &f->alloc, &out, &notes, err);
    gcd_graph_free(g);
    tb_free(&out);
    return st;
}

static void test_allocations(void **state)
{
    (void)state;
    struct tally t = { 0 };
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = sample(i, &b)) != NULL; i++) {
        sweep_allocations(read_and_write, name, b.p, b.n, SWEEP_CAN_DO_WITHOUT, &t);
        tb_free(&b);
    }
    assert_true(t.runs > 300);
    tally_expect_none(&t);
}

/* ---- readers broken on purpose ---- */

/* Reports damage as a read error. */
static gcd_status read_confused(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = read_right(bytes, n, o, ret, err);
    return st == GCD_E_FORMAT || st == GCD_E_TRUNCATED ? (err->code = GCD_E_IO) : st;
}

/* Leaves the message empty. */
static gcd_status read_silent(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = read_right(bytes, n, o, ret, err);
    err->msg[0] = '\0';
    return st;
}

/* Leaks a block. */
static gcd_status read_leaking(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err)
{
    struct failalloc *f = o->context.alloc->ctx;
    gcd_status st = read_right(bytes, n, o, ret, err);
    if (st != GCD_OK)
        (void)snprintf(f->wrong, sizeof f->wrong, "blocks left");
    return st;
}

/* A graph, but not the one in the file. */
static gcd_status read_other(const void *bytes, size_t n, const struct gcd_graph_options *o, struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = read_right(bytes, n, o, ret, err);
    if (st != GCD_OK)
        return st;
    gcd_graph_free(*ret);
    *ret = graph_gen(&(struct graph_gen){ .seed = 1, .max_nodes = 100, .alloc = o->context.alloc });
    return GCD_OK;
}

static void test_self(void **state)
{
    (void)state;
    static const reader broken[] = { read_confused, read_silent, read_leaking, read_other };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally cuts = { 0 }, flips = { 0 };
        sweep_cuts(broken[i], &cuts);
        tally_expect_some(&cuts);
        sweep_flips(broken[i], &flips);
        if (broken[i] != read_other)     /* a changed byte may change the graph */
            tally_expect_some(&flips);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts), cmocka_unit_test(test_flips), cmocka_unit_test(test_allocations), cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
