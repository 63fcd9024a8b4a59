#include "support/check.h"

#include <string.h>

#include <gcdumpc/unstable/symbols.h>

#include "support/failalloc.h"
#include "support/pdb_file.h"

static struct gcd_error err;

static gcd_status open_symbols(const struct tb_bytes *b, const struct gcd_alloc *alloc,
                               struct gcd_input **in, struct gcd_symbols **s)
{
    err = (struct gcd_error)GCD_ERROR_INIT;
    *s = NULL;
    assert_int_equal(gcd_input_from_memory(b->p, b->n, NULL, in, &err), GCD_OK);
    return gcd_symbols_open(*in, 0, UINT64_MAX, alloc, s, &err);
}

static void check_lines(struct gcd_symbols *s)
{
    static const struct {
        uint32_t row, il, line;
        const char *file; /* NULL: none is known */
    } cases[] = {
        { 1, 0, 10, "/src/Shop/Store.cs" },
        { 1, 6, 10, "/src/Shop/Store.cs" },
        { 1, 7, 12, "/src/Shop/Store.cs" },
        { 1, 19, 12, "/src/Shop/Store.cs" },
        { 1, 20, 12, "/src/Shop/Store.cs" },
        { 1, 30, 11, "/src/Shop/Store.cs" },
        { 1, 9999, 11, "/src/Shop/Store.cs" },
        { 2, 0, 0, NULL },
        { 3, 4, 100, "/src/Shop/Store.cs" },
        { 3, 5, 300, "/src/Shop/Orders.cs" },
        { 0, 0, 0, NULL },
        { 4, 0, 0, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_line line = { .file = "", .line = 0 };
        gcd_status st =
            gcd_symbols_line(s, UINT32_C(0x06000000) + cases[i].row, cases[i].il, &line, &err);
        assert_int_equal(st, cases[i].file != NULL ? GCD_OK : GCD_END);
        assert_int_equal(line.line, cases[i].line);
        assert_string_equal(line.file, cases[i].file != NULL ? cases[i].file : "");
    }
}

static void test_lines_are_those_of_the_last_sequence_point(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct tb_bytes b = { 0 };
        struct gcd_input *in;
        struct gcd_symbols *s;
        pdb_file(&b, wide != 0);
        assert_int_equal(open_symbols(&b, NULL, &in, &s), GCD_OK);
        check_lines(s);
        assert_int_equal(gcd_symbols_guid(s).bytes[15], 0xc0);
        gcd_symbols_free(s);
        gcd_input_free(in);
        tb_free(&b);
    }
}

static void test_embedded_symbols_are_expanded(void **state)
{
    (void)state;
    struct tb_bytes b = { 0 };
    struct gcd_input *in;
    struct gcd_symbols *s;
    pdb_embedded(&b);
    assert_int_equal(open_symbols(&b, NULL, &in, &s), GCD_OK);
    check_lines(s);
    gcd_symbols_free(s);
    gcd_input_free(in);
    tb_free(&b);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        gcd_status status;
    } cases[] = { { "Microsoft C/C++ MSF 7.00\r\n\032DS", GCD_E_UNSUPPORTED },
                  { "BSJB", GCD_E_FORMAT },
                  { "", GCD_E_TRUNCATED },
                  { "MZ\220 and no more", GCD_E_TRUNCATED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tb_bytes b = { 0 };
        struct gcd_input *in;
        struct gcd_symbols *s;
        tb_put(&b, cases[i].bytes, strlen(cases[i].bytes));
        assert_int_equal(open_symbols(&b, NULL, &in, &s), cases[i].status);
        assert_true(err.msg[0] != '\0');
        gcd_input_free(in);
        tb_free(&b);
    }
}

/* Every byte in turn has other values, and every prefix is a file. */
static void test_damage_gives_an_error_or_other_lines(void **state)
{
    (void)state;
    for (int embedded = 0; embedded < 2; embedded++) {
        struct tb_bytes b = { 0 }, text = { 0 };
        struct gcd_input *in;
        struct gcd_symbols *s;
        if (embedded)
            pdb_embedded(&b);
        else
            pdb_file(&b, false);
        size_t step = embedded ? 3 : 1;
        for (size_t i = 0; i < 2 * b.n; i += step) {
            struct tb_bytes bad = { 0 };
            static const uint8_t values[] = { 0x00, 0x7f, 0xff };
            for (size_t k = 0; k < (i < b.n ? 3u : 1u); k++) {
                bad.n = 0;
                tb_put(&bad, b.p, i < b.n ? b.n : i - b.n);
                if (i < b.n)
                    bad.p[i] = values[k];
                gcd_status st = open_symbols(&bad, NULL, &in, &s);
                text.n = 0;
                if (st == GCD_OK)
                    pdb_text(s, &text);
                else
                    assert_true(err.code == st && err.msg[0] != '\0');
                gcd_symbols_free(s);
                gcd_input_free(in);
            }
            tb_free(&bad);
        }
        tb_free(&text);
        tb_free(&b);
    }
}

static void test_every_allocation_can_fail(void **state)
{
    (void)state;
    struct tb_bytes b = { 0 };
    pdb_embedded(&b);
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        struct gcd_input *in;
        struct gcd_symbols *s;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = open_symbols(&b, &f.alloc, &in, &s);
        /* what is expanded goes to a file when there is no memory for it */
        assert_true(st == GCD_OK || (st == GCD_E_NOMEM && f.failed > 0));
        gcd_symbols_free(s);
        gcd_input_free(in);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_those_of_the_last_sequence_point),
        cmocka_unit_test(test_embedded_symbols_are_expanded),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_damage_gives_an_error_or_other_lines),
        cmocka_unit_test(test_every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
