/*
 * Event Trace Logs cut at every byte, or with one byte changed, at every byte: the result is
 * consistent, and a cut file is never complete.
 */
#include <inttypes.h>

#include "support/wrapped.h"
#include "sweep/sweep.h"

static const struct run_options from_input = { .input = true };
static const struct run_options without_gclog = { .input = true, .no_gclog = true };

/* Every STEPth byte: decoders broken on purpose need not be tried at each. */
static size_t step = 1;

static void decode(const uint8_t *bytes, size_t n, const struct run_options *options,
                   struct run *ret)
{
    run_trace(bytes, n, options, ret);
}

/* Each sample, wrapped in each way. */
static void for_each(void (*use)(sweep_decoder d, const char *name, const struct tb_bytes *etl,
                                 const struct tb_sample *s, struct tally *t),
                     sweep_decoder d, struct tally *t)
{
    struct tb_bytes b, etl;
    const struct tb_sample *s;
    for (size_t i = 0; (s = tb_sample(i, &b)) != NULL; i++) {
        const struct tb_etl_way *way = tb_etl_way(i % TB_ETL_WAYS);
        char name[200];
        (void)snprintf(name, sizeof name, "%s, %s", s->name, way->name);
        tb_etl(b.p, b.n, way, &etl);
        use(d, name, &etl, s, t);
        tb_free(&etl);
        tb_free(&b);
    }
}

static void expect_whole(sweep_decoder d, const char *name, const struct tb_bytes *etl,
                         const struct tb_sample *s, struct tally *t)
{
    struct run r;
    d(etl->p, etl->n, &from_input, &r);
    const char *wrong = run_check(&r);
    /* events that the samples omit on purpose */
    bool sound = r.verdict.complete || (r.verdict.reason_count == 1 &&
                                        r.verdict.reasons[0].code == GCD_REASON_TYPES_UNDESCRIBED);
    if (wrong != NULL || r.st != GCD_OK || r.facts.objects != s->objects ||
        r.target_count != s->edges || !sound)
        tally_complain(t, "%s: %s; %s", name, wrong != NULL ? wrong : "not the whole dump", r.text);
    t->runs++;
    run_done(&r);
}

static const char *check_cut(const struct run *r, size_t len)
{
    const char *wrong = run_check(r);
    if (wrong != NULL)
        return wrong;
    if (r->st == GCD_E_UNSUPPORTED)
        return len < 0x68 ? NULL : "not recognised";
    if (r->st == GCD_E_TRUNCATED)
        return r->err.off == len ? NULL : "the error is not at the cut";
    if (r->st != GCD_OK)
        return "the error is not GCD_E_TRUNCATED";
    if (r->verdict.complete || r->verdict.reasons[0].code != GCD_REASON_TRACE_TRUNCATED)
        return "the first reason is not trace_truncated";
    return r->verdict.reasons[0].amount == len ? NULL : "the offset is not that of the cut";
}

static void cut_everywhere(sweep_decoder d, const char *name, const struct tb_bytes *etl,
                           const struct tb_sample *s, struct tally *t)
{
    (void)s;
    for (size_t len = 0; len < etl->n; len += step * sweep_stride()) {
        /* its own block, so that a sanitizer sees reads past the cut */
        uint8_t *copy = malloc(len + 1);
        struct run r;
        assert_non_null(copy);
        memcpy(copy + 1, etl->p, len);
        d(copy + 1, len, &without_gclog, &r);
        const char *wrong = check_cut(&r, len);
        if (wrong != NULL)
            tally_complain(t, "%s, cut at %zu: %s; %s", name, len, wrong, r.text);
        t->runs++;
        run_done(&r);
        free(copy);
    }
}

static void change_everywhere(sweep_decoder d, const char *name, const struct tb_bytes *etl,
                              const struct tb_sample *s, struct tally *t)
{
    static const uint8_t changes[] = { 0x01, 0x80, 0xff };
    uint8_t change;
    (void)s;
    for (size_t at = 0; at < etl->n; at += step * sweep_stride())
        for (size_t k = 0; (change = sweep_change(at, k, &changes[at % sizeof changes], 1)) != 0;
             k++) {
            struct run r;
            etl->p[at] ^= change;
            d(etl->p, etl->n, &without_gclog, &r);
            const char *wrong = run_check(&r);
            if (wrong != NULL)
                tally_complain(t, "%s, byte %zu ^ %02x: %s; %s", name, at, change, wrong, r.text);
            etl->p[at] ^= change;
            t->runs++;
            run_done(&r);
        }
}

static void test_samples_are_whole(void **state)
{
    (void)state;
    struct tally t = { 0 };
    for_each(expect_whole, decode, &t);
    tally_expect_none(&t);
}

static void test_every_length(void **state)
{
    (void)state;
    struct tally t = { 0 };
    for_each(cut_everywhere, decode, &t);
    tally_expect_none(&t);
}

static void test_every_byte(void **state)
{
    (void)state;
    struct tally t = { 0 };
    for_each(change_everywhere, decode, &t);
    tally_expect_none(&t);
}

/* ---- decoders broken on purpose ---- */

/* Treats the end of the bytes as the end of the trace. */
static void decode_trusting(const uint8_t *bytes, size_t n, const struct run_options *options,
                            struct run *ret)
{
    run_trace(bytes, n, options, ret);
    ret->verdict.complete = true;
    ret->verdict.reason_count = 0;
}

/* Gives one reference too many. */
static void decode_more(const uint8_t *bytes, size_t n, const struct run_options *options,
                        struct run *ret)
{
    run_trace(bytes, n, options, ret);
    if (ret->object_count > 0)
        ret->objects[0].targets += 100;
}

static void test_self(void **state)
{
    (void)state;
    struct tally cut = { 0 }, changed = { 0 }, whole = { 0 };
    step = 101;
    for_each(cut_everywhere, decode_trusting, &cut);
    tally_expect_some(&cut);
    for_each(expect_whole, decode_more, &whole);
    tally_expect_some(&whole);
    for_each(change_everywhere, decode_more, &changed);
    tally_expect_some(&changed);
    step = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_whole),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_self),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
