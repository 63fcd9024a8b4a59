/*
 * gclog files cut at every byte, with every bit changed, with every allocation failing: lines without meaning are skipped, and the
 * result is consistent.
 */
#include "sweep/sweep.h"

#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"

typedef gcd_status (*reader)(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err);

static gcd_status read_right(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    return run_graph_read(&gcd_r_gclog, p, n, &(struct gcd_graph_options){ .context.alloc = alloc }, ret, err);
}

/* File number I, NULL after the last. */
static const char *sample(size_t i, struct tb_bytes *ret)
{
    static const char odd[] = "a 2 My Shop.exe\r\nr 10 1 c\r\n\r\no 10 1 18  20\tbeef 10 \r\nO 1\no 20 9 FFFFFFFFFFFFFFFF 10 zz\n"
                              "t 1 A<B,C>\tD\rE\nt 1 again\nc My Shop.exe\na 2 next 5\nr 10 7 ff\nr 20 5 8\no 30 1";
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    if (i == 0) {
        tb_put(ret, odd, sizeof odd - 1);
        return "odd";
    }
    if (i > 3)
        return NULL;
    struct gcd_graph *g = graph_gen(&(struct graph_gen){ .seed = i, .max_nodes = 12, .plain_names = true });
    assert_int_equal(run_graph_write("gclog", g, NULL, ret, NULL, NULL), GCD_OK);
    gcd_graph_free(g);
    return "our own";
}

/* OBJECTS: the most that it can contain; 0 = any number. */
static const char *check(gcd_status st, const struct gcd_graph *g, const struct gcd_error *err, uint32_t objects)
{
    if (st != GCD_OK)                    /* a changed byte can make it look like a CLRProfiler log */
        return st == GCD_E_UNSUPPORTED && err->code == st && err->msg[0] != '\0' ? NULL : "an error that no line can be";
    if (objects > 0 && gcd_graph_node_count(g) > objects)
        return "more objects than before the cut";
    return run_graph_check(g);
}

static void try_bytes(reader read, const char *name, size_t at, const uint8_t *p, size_t n, uint32_t objects, struct tally *t)
{
    struct failalloc f;
    struct gcd_graph *g = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t *copy = malloc(n + 1);           /* a sanitizer sees reads past the end */
    assert_non_null(copy);
    memcpy(copy + 1, p, n);
    failalloc_init(&f);
    gcd_status st = read(copy + 1, n, &f.alloc, &g, &err);
    const char *wrong = check(st, g, &err, objects);
    if (st == GCD_OK)
        gcd_graph_free(g);
    if (wrong == NULL)
        wrong = failalloc_complaint(&f);
    if (wrong != NULL)
        tally_complain(t, "%s, byte %zu: %s; %s", name, at, wrong, err.msg);
    free(copy);
    t->runs++;
}

static void sweep_cuts(reader read, struct tally *t)
{
    struct tb_bytes b;
    const char *name;
    for (size_t i = 0; (name = sample(i, &b)) != NULL; i++) {
        struct gcd_graph *whole;
        assert_int_equal(read_right(b.p, b.n, NULL, &whole, NULL), GCD_OK);
        for (size_t n = 0; n < b.n; n++)
            try_bytes(read, name, n, b.p, n, gcd_graph_node_count(whole), t);
        gcd_graph_free(whole);
        tb_free(&b);
    }
}

static void sweep_flips(reader read, struct tally *t)
{
    static const uint8_t few[] = { 0x01, 0x10, 0x80 };
    struct tb_bytes b;
    const char *name;
    uint8_t change;
    for (size_t i = 0; (name = sample(i, &b)) != NULL; i++) {
        for (size_t at = 0; at < b.n; at++)
            for (size_t k = 0; (change = sweep_change(at, k, few, sizeof few)) != 0; k++) {
                b.p[at] ^= change;
                try_bytes(read, name, at, b.p, b.n, 0, t);
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
    tally_expect_none(&t);
}

static void test_flips(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_flips(read_right, &t);
    tally_expect_none(&t);
}

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct gcd_graph *g;
    struct tb_bytes out = { NULL, 0, 0 };
    gcd_status st = read_right(p, n, &f->alloc, &g, err);
    if (st != GCD_OK)
        return st;
    st = run_graph_write("gclog", g, &f->alloc, &out, NULL, err);
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
    assert_true(t.runs > 100);
    tally_expect_none(&t);
}

/* ---- readers broken on purpose ---- */

/* Reports an unknown line as damage. */
static gcd_status read_strict(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = read_right(p, n, alloc, ret, err);
    if (st != GCD_OK || gcd_graph_notes(*ret)->records_damaged == 0)
        return st;
    gcd_graph_free(*ret);
    return GCD_E_FORMAT;
}

/* Reads past the end. */
static gcd_status read_more(const uint8_t *p, size_t n, const struct gcd_alloc *alloc, struct gcd_graph **ret, struct gcd_error *err)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_put(&b, p, n);
    for (unsigned i = 0; i < 20; i++) {
        char line[40];
        tb_put(&b, line, (size_t)snprintf(line, sizeof line, "\no %x 1 18\n", 0x100000 + 64 * i));
    }
    gcd_status st = read_right(b.p, b.n, alloc, ret, err);
    tb_free(&b);
    return st;
}

static void test_self(void **state)
{
    (void)state;
    struct tally cuts = { 0 }, flips = { 0 };
    sweep_cuts(read_more, &cuts);
    tally_expect_some(&cuts);
    sweep_flips(read_strict, &flips);
    tally_expect_some(&flips);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts), cmocka_unit_test(test_flips), cmocka_unit_test(test_allocations), cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
