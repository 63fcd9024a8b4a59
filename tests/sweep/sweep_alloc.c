/*
 * Every allocation fails in turn: the status is "out of memory", and nothing is leaked.
 */
#include <unistd.h>

#include <gcdumpc/io.h>
#include <gcdumpc/writer.h>
#include <zlib.h>

#include "support/wrapped.h"
#include "sweep/sweep.h"

static gcd_status outcome(struct run *r, struct gcd_error *err)
{
    gcd_status st = r->st;
    *err = r->err;
    if (st == GCD_OK && r->objects_st < 0) {
        st = r->objects_st;
        *err = r->objects_err;
    }
    if (st == GCD_OK && r->write_st < 0) {
        st = r->write_st;
        *err = r->write_err;
    }
    run_done(r);
    return st;
}

static gcd_status job_feed(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct run r;
    run_trace(p, n,
              &(struct run_options){ .alloc = &f->alloc, .slice = 7, .check_references = true },
              &r);
    return outcome(&r, err);
}

static gcd_status job_open(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    struct run r;
    run_trace(p, n,
              &(struct run_options){ .alloc = &f->alloc, .input = true, .check_references = true },
              &r);
    return outcome(&r, err);
}

/* From a file to a compressed file.  Both lie in FOLDER, which is empty before and afterwards. */
static char folder[64];

static gcd_status convert(const char *from, const char *to, struct failalloc *f,
                          struct gcd_error *err)
{
    struct gcd_input *in = NULL;
    struct gcd_dump *d = NULL;
    struct gcd_sink *s = NULL;
    gcd_status st = gcd_input_open(
        from, &(struct gcd_input_options){ .context.alloc = &f->alloc, .reread = true }, &in, err);
    if (st == GCD_OK)
        st = gcd_dump_open(in, &(struct gcd_dump_options){ .context.alloc = &f->alloc }, &d, err);
    if (st == GCD_OK)
        st = gcd_sink_open(to, &(struct gcd_sink_options){ .context.alloc = &f->alloc }, &s, err);
    if (st == GCD_OK)
        st = gcd_write(gcd_format_by_path(to), d, s,
                       &(struct gcd_write_options){ .context.alloc = &f->alloc }, NULL, err);
    if (st == GCD_OK)
        st = gcd_sink_commit(s, err);
    gcd_sink_free(s);
    gcd_dump_free(d);
    gcd_input_free(in);
    return st;
}

static gcd_status job_convert(const uint8_t *p, size_t n, struct failalloc *f,
                              struct gcd_error *err)
{
    char from[100], to[100];
    (void)snprintf(from, sizeof from, "%s/in.nettrace.gz", folder);
    (void)snprintf(to, sizeof to, "%s/out.gclog.gz", folder);
    gzFile z = gzopen(from, "wb1");
    assert_non_null(z);
    assert_int_equal(gzwrite(z, p, (unsigned)n), (int)n);
    assert_int_equal(gzclose(z), Z_OK);
    gcd_status st = convert(from, to, f, err);
    assert_int_equal(unlink(from), 0);
    assert_int_equal(unlink(to) == 0, st == GCD_OK);
    assert_int_equal(rmdir(folder), 0); /* no temporary file either */
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/gcdumpc-sweep-XXXXXX")));
    return st;
}

static void sweep_samples(sweep_job run, struct tally *t)
{
    struct tb_bytes b;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        sweep_allocations(run, s->name, b.p, b.n, 0, t);
        sweep_allocations(run, s->name, b.p, b.n, SWEEP_FAIL_ON, t);
        tb_free(&b);
    }
}

static void test_feed(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(job_feed, &t);
    assert_true(t.runs > 1000);
    tally_expect_none(&t);
}

static void test_open(void **state)
{
    (void)state;
    struct tally t = { 0 };
    sweep_samples(job_open, &t);
    tally_expect_none(&t);
}

static void test_etl(void **state)
{
    (void)state;
    struct tally t = { 0 };
    struct tb_bytes b, etl;
    for (size_t i = 0; i < TB_ETL_WAYS; i++) {
        const struct tb_sample *s = tb_sample(i, &b);
        tb_etl(b.p, b.n, tb_etl_way(i), &etl);
        sweep_allocations(job_open, s->name, etl.p, etl.n, 0, &t);
        sweep_allocations(job_open, s->name, etl.p, etl.n, SWEEP_FAIL_ON, &t);
        tb_free(&etl);
        tb_free(&b);
    }
    tally_expect_none(&t);
}

static void test_convert(void **state)
{
    (void)state;
    struct tally t = { 0 };
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/gcdumpc-sweep-XXXXXX")));
    sweep_samples(job_convert, &t);
    assert_int_equal(rmdir(folder), 0);
    tally_expect_none(&t);
}

/* More types, roots and names than a sample has: tables that grow. */
static void test_bundled(void **state)
{
    (void)state;
    struct tally t = { 0 };
    const char *name;
    size_t n;
    uint8_t *p;
    for (size_t i = 0; (p = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL; i++) {
        if (strcmp(name, "net10-wks-ranges") == 0 || strcmp(name, "net8-wks-two-dumps") == 0)
            sweep_allocations(job_open, name, p, n, i % 2 == 0 ? SWEEP_FAIL_ON : 0, &t);
        free(p);
    }
    tally_expect_none(&t);
}

/* ---- jobs broken on purpose ---- */

/* Treats a failed allocation as an empty result. */
static gcd_status job_careless(const uint8_t *p, size_t n, struct failalloc *f,
                               struct gcd_error *err)
{
    gcd_status st = job_open(p, n, f, err);
    return f->fail_at == 20 && st == GCD_E_NOMEM ? GCD_OK : st;
}

/* Reports damage instead. */
static gcd_status job_confused(const uint8_t *p, size_t n, struct failalloc *f,
                               struct gcd_error *err)
{
    gcd_status st = job_open(p, n, f, err);
    return f->fail_at == 20 && st == GCD_E_NOMEM ? GCD_E_FORMAT : st;
}

/* Leaks a block on failure. */
static gcd_status job_leaking(const uint8_t *p, size_t n, struct failalloc *f,
                              struct gcd_error *err)
{
    gcd_status st = job_open(p, n, f, err);
    if (st == GCD_E_NOMEM && f->fail_at == 20) {
        f->fail_at = 0;
        void *block = f->alloc.resize(f->alloc.ctx, NULL, 0, 8);
        assert_non_null(block);
        bool noticed = failalloc_complaint(f) != NULL;
        (void)f->alloc.resize(f->alloc.ctx, block, 8, 0);
        assert_true(noticed && f->blocks == 0);
    }
    return st;
}

/* Passes a wrong size when it frees. */
static gcd_status job_lying(const uint8_t *p, size_t n, struct failalloc *f, struct gcd_error *err)
{
    void *block = f->alloc.resize(f->alloc.ctx, NULL, 0, 8);
    if (block == NULL) {
        err->code = GCD_E_NOMEM;
        (void)strcpy(err->msg, "out of memory");
        return GCD_E_NOMEM;
    }
    (void)f->alloc.resize(f->alloc.ctx, block, 9, 0);
    return job_open(p, n, f, err);
}

static void test_self(void **state)
{
    (void)state;
    static const sweep_job broken[] = { job_careless, job_confused, job_leaking, job_lying };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tally t = { 0 };
        sweep_samples(broken[i], &t);
        tally_expect_some(&t);
    }
    /* resizing keeps the contents, and the limit holds */
    struct failalloc f;
    failalloc_init(&f);
    f.max_bytes = 100;
    char *p = f.alloc.resize(f.alloc.ctx, NULL, 0, 10);
    assert_non_null(p);
    memcpy(p, "0123456789", 10);
    p = f.alloc.resize(f.alloc.ctx, p, 10, 100);
    assert_non_null(p);
    assert_memory_equal(p, "0123456789", 10);
    assert_null(f.alloc.resize(f.alloc.ctx, p, 100, 101));
    assert_null(f.alloc.resize(f.alloc.ctx, NULL, 0, 1));
    assert_true(f.failed == 2 && f.bytes == 100 && f.blocks == 1 && f.peak_bytes == 100);
    assert_null(f.alloc.resize(f.alloc.ctx, p, 100, 0));
    assert_null(failalloc_complaint(&f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed),    cmocka_unit_test(test_open),    cmocka_unit_test(test_etl),
        cmocka_unit_test(test_convert), cmocka_unit_test(test_bundled), cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
