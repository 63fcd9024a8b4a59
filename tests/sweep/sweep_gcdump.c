/*
 * .gcdump files cut at every byte, with every byte changed, with every allocation failing: a clean
 * error or a consistent graph.
 */
#include "sweep/sweep_graph.h"

#include "support/tb_gcdump.h"

static gcd_status decode(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                         struct gcd_graph **ret, struct gcd_error *err)
{
    return run_graph_read(&gcd_r_gcdump, p, n,
                          &(struct gcd_graph_options){ .context.alloc = alloc }, ret, err);
}

/* After the files of tb_gcdump.c, one written by us with everything that a graph can hold. */
static const char *sample(size_t i, struct tb_bytes *ret)
{
    const char *name = tb_gcdump_sample(i, ret);
    struct tb_bytes none;
    if (name != NULL || (i > 0 && tb_gcdump_sample(i - 1, &none) == NULL))
        return name;
    tb_free(&none);
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 5, .max_nodes = 12, .plain_names = true });
    struct gcd_write_notes notes;
    assert_int_equal(run_graph_write("gcdump", g, NULL, ret, &notes, NULL), GCD_OK);
    gcd_graph_free(g);
    return "our own";
}

static const char *check(const struct graph_outcome *o)
{
    if (o->st > 0 || (o->st != GCD_OK && (o->err->code != o->st || o->err->msg[0] == '\0')))
        return "the error does not say what it is";
    bool of_the_file = o->st == GCD_E_TRUNCATED || o->st == GCD_E_FORMAT ||
                       o->st == GCD_E_UNSUPPORTED || o->st == GCD_E_LIMIT;
    if (o->st != GCD_OK)
        return of_the_file ? NULL : "not an error of the file";
    const char *wrong = run_graph_check(o->graph);
    if (wrong != NULL || o->whole == NULL)
        return wrong;
    return gcd_graph_summary(o->graph)->verdict.complete
               ? "a file that was cut is complete"
               : graph_eq(o->whole, o->graph, GRAPH_EQ_VERDICT);
}

static const struct graph_sweep sweep = {
    .decode = decode,
    .sample = sample,
    .check = check,
    .masks = { 0x01, 0x02, 0x40, 0x80, 0xff },
    .may_be_gzip = true,
};

static void test_cuts(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_graph_cuts(&sweep, decode, &t);
    assert_true(t.runs > 8000 / sweep_stride());
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
    sweep_graph_damage(decode, "gcdump", 0, &t);
    assert_true(t.runs > 5000 / sweep_stride());
    tally_expect_none(&t);
}

static gcd_status read_and_write(const uint8_t *p, size_t n, struct failalloc *f,
                                 struct gcd_error *err)
{
    struct gcd_graph *g;
    struct tb_bytes out = { NULL, 0, 0 };
    struct gcd_write_notes notes;
    gcd_status st = decode(p, n, &f->alloc, &g, err);
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
    sweep_graph_allocations(&sweep, read_and_write, &t);
    assert_true(t.runs > 300);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Reports damage as a read error. */
static gcd_status decode_confused(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                  struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    return st == GCD_E_FORMAT || st == GCD_E_TRUNCATED ? (err->code = GCD_E_IO) : st;
}

/* Leaves the message empty. */
static gcd_status decode_silent(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    err->msg[0] = '\0';
    return st;
}

/* Leaks a block. */
static gcd_status decode_leaking(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                 struct gcd_graph **ret, struct gcd_error *err)
{
    struct failalloc *f = alloc->ctx;
    gcd_status st = decode(p, n, alloc, ret, err);
    if (st != GCD_OK)
        (void)snprintf(f->wrong, sizeof f->wrong, "blocks left");
    return st;
}

/* Believes every file. */
static gcd_status decode_trusting(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                                  struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    if (st == GCD_OK)
        ((struct gcd_summary *)gcd_graph_summary(*ret))->verdict.complete = true;
    return st;
}

/* A graph, but not the one in the file. */
static gcd_status decode_other(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                               struct gcd_graph **ret, struct gcd_error *err)
{
    gcd_status st = decode(p, n, alloc, ret, err);
    if (st != GCD_OK)
        return st;
    gcd_graph_free(*ret);
    *ret = graph_gen(&(struct graph_gen){ .seed = 1, .max_nodes = 100, .alloc = alloc });
    return GCD_OK;
}

static void test_self(void **state)
{
    (void)state;
    static const graph_decoder broken[] = { decode_confused, decode_silent, decode_leaking,
                                            decode_other };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally cuts = { 0 }, flips = { 0 };
        sweep_graph_cuts(&sweep, broken[i], &cuts);
        tally_expect_some(&cuts);
        sweep_graph_flips(&sweep, broken[i], &flips);
        if (broken[i] != decode_other) /* a changed byte may change the graph */
            tally_expect_some(&flips);
    }
    struct tally damage = { 0 };
    sweep_graph_damage(decode_trusting, "gcdump", 0, &damage);
    tally_expect_some(&damage);
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
