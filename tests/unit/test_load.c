/*
 * Two readings of one input: what happens when the second one finds something else, or cannot be.
 */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "support/check.h"
#include "support/tb.h"

static struct tb t;

static int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    for (uint64_t i = 0; i < 10; i++) {
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * i, 24, 0x100, 1 }));
        tb_edges(&t, TB_LIST(uint64_t, 0x1000));
        tb_flush(&t);
    }
    tb_gc_end(&t, 1);
    tb_close(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_done(&t);
    return 0;
}

/* Reads all objects of D; what ended them. */
static gcd_status read_objects(struct gcd_dump *d, uint64_t *ret_count, struct gcd_error *err)
{
    struct gcd_objects *o;
    struct gcd_object object;
    gcd_status st = gcd_objects_new(d, &o, err);
    if (st != GCD_OK)
        return st;
    *ret_count = 0;
    while ((st = gcd_objects_next(o, &object, err)) == GCD_OK)
        ++*ret_count;
    gcd_objects_free(o);
    return st;
}

static void an_input_that_shrinks_is_no_complete_dump(void **state)
{
    (void)state;
    for (size_t cut = 200; cut < t.out.n; cut += 97) {
        uint8_t *copy = malloc(t.out.n);
        assert_non_null(copy);
        memcpy(copy, t.out.p, t.out.n);
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_input *in;
        struct gcd_dump *d;
        uint64_t count = 0;
        assert_int_equal(gcd_input_from_memory(copy, t.out.n, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_true(gcd_dump_verdict(d)->complete);
        assert_int_equal(read_objects(d, &count, &err), GCD_END);
        assert_true(count == 10);
        memset(copy + cut, 0xee, t.out.n - cut);
        gcd_status st = read_objects(d, &count, &err);
        if (st != GCD_END || count != 10) {
            assert_int_equal(st, GCD_E_FORMAT);
            assert_non_null(strstr(err.msg, "changed"));
        }
        gcd_dump_free(d);
        gcd_input_free(in);
        free(copy);
    }
}

static void without_an_input_there_are_no_objects(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump *d;
    uint64_t count = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_feed(d, t.out.p, t.out.n, &err), GCD_END);
    assert_true(gcd_dump_begun(d));
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_OK);
    assert_true(gcd_dump_facts(d)->objects == 10);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    assert_int_equal(gcd_dump_feed(d, "x", 1, &err), GCD_E_STATE);
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_E_STATE);
    gcd_dump_free(d);
}

static void a_dump_that_is_none_is_empty(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump *d;
    uint64_t count = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_feed(d, t.out.p, 150, &err), GCD_OK);
    assert_false(gcd_dump_begun(d));
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_E_TRUNCATED);
    assert_true(err.off == 150);
    assert_int_equal(gcd_dump_type_count(d), 0);
    assert_true(gcd_dump_root_count(d) == 0 && gcd_dump_static_count(d) == 0 && gcd_dump_dependent_count(d) == 0);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    gcd_dump_free(d);
}

static void a_walk_is_whole_when_its_gc_ends(void **state)
{
    (void)state;
    struct gcd_dump *d;
    size_t whole_at = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, NULL), GCD_OK);
    for (size_t i = 0; i < t.out.n; i++) {
        gcd_status st = gcd_dump_feed(d, t.out.p + i, 1, NULL);
        if (st == GCD_END && whole_at == 0)
            whole_at = i + 1;
        assert_int_equal(st, whole_at == 0 ? GCD_OK : GCD_END);
    }
    assert_true(whole_at > 0 && whole_at < t.out.n);     /* before the final sequence point */
    gcd_dump_free(d);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_input_that_shrinks_is_no_complete_dump), TEST(without_an_input_there_are_no_objects),
        TEST(a_dump_that_is_none_is_empty), TEST(a_walk_is_whole_when_its_gc_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
