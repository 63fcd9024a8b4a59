/* ELF files with symbols: what is in them, and every way to damage them. */
#include "support/check.h"

#include <string.h>

#include "metadata/elf_file.h"
#include "support/elf_sample.h"
#include "support/failalloc.h"

static struct gcd_error err;

static const struct elf_sample_symbol symbols[] = {
    { 0x100, "_ZTV6String" },
    { 0x200, "_ZTV14aot_Shop_Order" },
};

static gcd_status open_bytes(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                             struct gcd_input **in, struct elf_file **ret)
{
    assert_int_equal(gcd_input_from_memory(p, n, NULL, in, &err), GCD_OK);
    err = (struct gcd_error)GCD_ERROR_INIT;
    return elf_file_open(*in, 0, UINT64_MAX, alloc, ret, &err);
}

/* Reads all of it; returns the number of names that were found. */
static size_t read_all(struct elf_file *f)
{
    size_t n, found = 0;
    char name[64];
    for (uint64_t i = 0; i < elf_file_symbols(f) && i < 64; i++) {
        struct elf_entry e;
        if (elf_file_symbol(f, i, &e, &err) == GCD_OK &&
            elf_file_name(f, e.name, name, sizeof name, &n, &err) == GCD_OK && n > 0)
            found++;
    }
    return found;
}

static void test_contents(void **state)
{
    (void)state;
    struct tb_bytes b;
    struct gcd_input *in;
    struct elf_file *f;
    struct elf_entry e;
    char name[64];
    size_t n;
    elf_sample(&b, 0xab, 20, symbols, 2);
    assert_int_equal(open_bytes(b.p, b.n, NULL, &in, &f), GCD_OK);
    const uint8_t *id = elf_file_build_id(f, &n);
    assert_int_equal(n, 20);
    assert_int_equal(id[0], 0xab);
    assert_int_equal(id[19], 0xab);
    assert_int_equal(elf_file_symbols(f), 3);
    assert_int_equal(elf_file_symbol(f, 2, &e, &err), GCD_OK);
    assert_int_equal(e.rva, 0x200);
    assert_int_equal(elf_file_name(f, e.name, name, sizeof name, &n, &err), GCD_OK);
    assert_int_equal(n, 20);
    assert_string_equal(name, "_ZTV14aot_Shop_Order");
    assert_int_equal(elf_file_name(f, e.name, name, 20, &n, &err), GCD_OK);
    assert_int_equal(n, 20); /* it does not fit */
    assert_int_equal(elf_file_symbol(f, 3, &e, &err), GCD_E_FORMAT);
    assert_int_equal(elf_file_name(f, 5000, name, sizeof name, &n, &err), GCD_E_FORMAT);
    elf_file_free(f);
    gcd_input_free(in);
    tb_free(&b);
}

static void test_stripped(void **state)
{
    (void)state;
    struct tb_bytes b;
    struct gcd_input *in;
    struct elf_file *f;
    size_t n;
    elf_sample(&b, 0, 0, NULL, 0);
    assert_int_equal(open_bytes(b.p, b.n, NULL, &in, &f), GCD_OK);
    (void)elf_file_build_id(f, &n);
    assert_int_equal(n, 0);
    assert_int_equal(elf_file_symbols(f), 0);
    elf_file_free(f);
    gcd_input_free(in);
    tb_free(&b);
}

static void test_other_files(void **state)
{
    (void)state;
    struct gcd_input *in;
    struct elf_file *f;
    struct tb_bytes b;
    elf_sample(&b, 1, 20, symbols, 2);
    b.p[4] = 1; /* 32 bits */
    assert_int_equal(open_bytes(b.p, b.n, NULL, &in, &f), GCD_E_UNSUPPORTED);
    gcd_input_free(in);
    assert_int_equal(open_bytes((const uint8_t *)"MZ", 2, NULL, &in, &f), GCD_E_UNSUPPORTED);
    gcd_input_free(in);
    tb_free(&b);
}

/* Cut anywhere, any byte changed: an error with a reason, or other contents. */
static void test_damage(void **state)
{
    (void)state;
    struct tb_bytes b;
    elf_sample(&b, 0xab, 20, symbols, 2);
    for (size_t i = 0; i < b.n; i++)
        for (unsigned how = 0; how < 4; how++) {
            struct gcd_input *in;
            struct elf_file *f;
            uint8_t was = b.p[i];
            b.p[i] = (uint8_t)(how == 1 ? 0xff : how == 2 ? 0 : how == 3 ? was ^ 0x10 : was);
            gcd_status st = open_bytes(b.p, how == 0 ? i : b.n, NULL, &in, &f);
            if (st == GCD_OK) {
                (void)read_all(f);
                elf_file_free(f);
            } else {
                assert_int_equal(err.code, st);
                assert_true(err.msg[0] != '\0');
            }
            if (how == 0 && i + 64 < b.n) /* the list of sections is at the end */
                assert_int_not_equal(st, GCD_OK);
            gcd_input_free(in);
            b.p[i] = was;
        }
    tb_free(&b);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct tb_bytes b;
    elf_sample(&b, 0xab, 20, symbols, 2);
    for (unsigned at = 1; at <= 2; at++) {
        struct gcd_input *in;
        struct elf_file *f;
        struct failalloc fa;
        failalloc_init(&fa);
        fa.fail_at = at;
        assert_int_equal(open_bytes(b.p, b.n, &fa.alloc, &in, &f), GCD_E_NOMEM);
        assert_null(failalloc_complaint(&fa));
        gcd_input_free(in);
    }
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),    cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
