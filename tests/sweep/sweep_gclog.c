/*
 * gclog files cut at every byte, with every bit changed, with every allocation failing: lines
 * without meaning are skipped, and the result is consistent.
 */
#include "sweep/sweep_graph.h"

static gcd_status decode(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                         struct gcd_graph **ret, struct gcd_error *err)
{
    return run_graph_read(&gcd_r_gclog, p, n, &(struct gcd_graph_options){ .context.alloc = alloc },
                          ret, err);
}

static const char *sample(size_t i, struct tb_bytes *ret)
{
    static const char odd[] =
        "a 2 My Shop.exe\r\nr 10 1 c\r\n\r\no 10 1 18  20\tbeef 10 \r\nO 1\no 20 9 "
        "FFFFFFFFFFFFFFFF 10 zz\n"
        "t 1 A<B,C>\tD\rE\nt 1 again\nc My Shop.exe\na 2 next 5\nr 10 7 ff\nr 20 5 8\no 30 1";
    *ret = (struct tb_bytes){ NULL, 0, 0 };
    if (i == 0) {
        tb_put(ret, odd, sizeof odd - 1);
        return "odd";
    }
    if (i > 3)
        return NULL;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = i, .max_nodes = 12, .plain_names = true });
    assert_int_equal(run_graph_write("gclog", g, NULL, ret, NULL, NULL), GCD_OK);
    gcd_graph_free(g);
    return "our own";
}

static const char *check(const struct graph_outcome *o)
{
    if (o->st != GCD_OK) /* a changed byte can make it look like a CLRProfiler log */
        return o->st == GCD_E_UNSUPPORTED && o->err->code == o->st && o->err->msg[0] != '\0'
                   ? NULL
                   : "an error that no line can be";
    if (o->whole != NULL && gcd_graph_node_count(o->graph) > gcd_graph_node_count(o->whole))
        return "more objects than before the cut";
    return run_graph_check(o->graph);
}

static const struct graph_sweep sweep = { .decode = decode,
                                          .sample = sample,
                                          .check = check,
                                          .masks = { 0x01, 0x10, 0x80 },
                                          .may_be_gzip = true };

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

/* Damage of the checksum alone changes nothing else: its line is then a type without objects. */
static void test_damage(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_damage(decode, "gclog", GRAPH_EQ_VERDICT | GRAPH_EQ_UNUSED_TYPES, &t);
    assert_true(t.runs > 1000 / sweep_stride());
    tally_expect_none(&t);
}

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f,
                                 struct gcd_error *err)
{
    struct gcd_graph *g;
    struct tb_bytes out = { NULL, 0, 0 };
    gcd_status st = decode(p, n, &f->alloc, &g, err);
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
    sweep_graph_allocations(&sweep, read_and_write, &t);
    assert_true(t.runs > 100);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Reports an unknown line as damage. */
static gcd_status decode_strict(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    if (st != GCD_OK || gcd_graph_notes(*ret)->records_damaged == 0)
        return st;
    gcd_graph_free(*ret);
    return GCD_E_FORMAT;
}

/* Reads past the end. */
static gcd_status decode_more(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                              struct gcd_graph **ret, struct gcd_error *err)
{
    struct tb_bytes b = { NULL, 0, 0 };
    tb_put(&b, p, n);
    for (unsigned i = 0; i < 20; i++) {
        char line[40];
        tb_put(&b, line, (size_t)snprintf(line, sizeof line, "\no %x 1 18\n", 0x100000 + 64 * i));
    }
    gcd_status st = decode(b.p, b.n, alloc, ret, err);
    tb_free(&b);
    return st;
}

static void test_self(void **state)
{
    (void)state;
    struct tally cuts = { 0 }, flips = { 0 };
    sweep_graph_cuts(&sweep, decode_more, &cuts);
    tally_expect_some(&cuts);
    sweep_graph_flips(&sweep, decode_strict, &flips);
    tally_expect_some(&flips);
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
