#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/bundle.h>
#include <gcdumpc/unstable/metadata.h>

#include "support/bundle_file.h"
#include "support/failalloc.h"
#include "support/shop_image.h"

static struct gcd_error err;

/* The name of the assembly in F; the first failure. */
static gcd_status assembly_of(struct gcd_input *in, struct gcd_bundle *b,
                              const struct gcd_bundle_file *f, const struct gcd_alloc *alloc)
{
    struct gcd_input *plain = NULL;
    struct gcd_metadata *m = NULL;
    gcd_status st = GCD_OK;
    if (f->stored_bytes != 0)
        st = gcd_bundle_expand(b, f, &(struct gcd_input_options){ .context.alloc = alloc }, &plain,
                               &err);
    if (st == GCD_OK)
        st = gcd_metadata_open(plain != NULL ? plain : in, plain != NULL ? 0 : f->off,
                               plain != NULL ? UINT64_MAX : f->bytes, alloc, &m, &err);
    if (st == GCD_OK)
        assert_string_equal(gcd_metadata_identity(m)->assembly_name, "Test");
    gcd_metadata_free(m);
    gcd_input_free(plain);
    return st;
}

/* Walks a bundle of N bytes and opens its assemblies; *RET_FILES counts the files up to the first
 * failure. */
static gcd_status read_all(const uint8_t *p, size_t n, const struct gcd_alloc *alloc,
                           unsigned *ret_files)
{
    struct gcd_input *in;
    struct gcd_bundle *b = NULL;
    struct gcd_bundle_file f;
    err = (struct gcd_error)GCD_ERROR_INIT;
    *ret_files = 0;
    assert_int_equal(gcd_input_from_memory(p, n, NULL, &in, &err), GCD_OK);
    gcd_status st = gcd_bundle_open(in, alloc, &b, &err);
    while (st == GCD_OK && (st = gcd_bundle_next(b, &f, &err)) == GCD_OK) {
        ++*ret_files;
        assert_int_equal(f.kind, GCD_BUNDLE_ASSEMBLY);
        st = assembly_of(in, b, &f, alloc);
    }
    gcd_bundle_free(b);
    gcd_input_free(in);
    assert_int_equal(st, st == GCD_END ? GCD_END : err.code);
    return st;
}

static void test_versions_and_offsets(void **state)
{
    (void)state;
    static const size_t hosts[] = { 0,          1000,      65536 - 48, 65536 - 40,
                                    65536 - 20, 65536 - 8, 65536,      200000 };
    struct pe_image p;
    shop_image(&p, false);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        for (unsigned version = 1; version <= 7; version++) {
            struct tb_bytes out;
            unsigned files;
            struct bundle_part parts[] = {
                { .path = "a/Test.dll", .bytes = p.out.p, .n = p.out.n },
                { .path = "b.dll", .bytes = p.out.p, .n = p.out.n, .compressed = version >= 6 }
            };
            bundle_file(&out, hosts[i], version, parts, 2);
            bool known = version >= 2 && version <= 6;
            assert_int_equal(read_all(out.p, out.n, NULL, &files),
                             known ? GCD_END : GCD_E_UNSUPPORTED);
            assert_int_equal(files, known ? 2 : 0);
            tb_free(&out);
        }
    pe_image_done(&p);
}

/* More than one piece, stored and expanded. */
static void test_a_large_compressed_file(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    uint8_t *noise = malloc(BYTES), *back = malloc(BYTES);
    uint32_t x = 1;
    assert_non_null(noise);
    assert_non_null(back);
    for (size_t i = 0; i < BYTES; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = i < BYTES / 2 ? (uint8_t)(x >> 24) : 7;
    }
    struct bundle_part part = { .path = "a.dll", .bytes = noise, .n = BYTES, .compressed = true };
    struct tb_bytes out;
    struct gcd_input *in, *plain;
    struct gcd_bundle *b;
    struct gcd_bundle_file f;
    size_t got;
    bundle_file(&out, 100, 6, &part, 1);
    assert_int_equal(gcd_input_from_memory(out.p, out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_bundle_open(in, NULL, &b, &err), GCD_OK);
    assert_int_equal(gcd_bundle_next(b, &f, &err), GCD_OK);
    assert_true(f.stored_bytes > BYTES / 2 && f.stored_bytes < BYTES);
    assert_int_equal(gcd_bundle_expand(b, &f, NULL, &plain, &err), GCD_OK);
    assert_int_equal(gcd_input_read_at(plain, 0, back, BYTES, &got, &err), GCD_OK);
    assert_int_equal(got, BYTES);
    assert_memory_equal(back, noise, BYTES);
    gcd_input_free(plain);
    gcd_bundle_free(b);
    gcd_input_free(in);
    tb_free(&out);
    free(noise);
    free(back);
}

static void test_no_bundle(void **state)
{
    (void)state;
    struct tb_bytes out;
    unsigned files;
    bundle_file(&out, 500, 6, NULL, 0);
    assert_int_equal(read_all(out.p, out.n, NULL, &files), GCD_END);
    memset(out.p + 500, 0, 8); /* the mark of a host program that has no bundle yet */
    assert_int_equal(read_all(out.p, out.n, NULL, &files), GCD_E_UNSUPPORTED);
    out.p[500] = 1;
    out.p[507] = 0xff;
    assert_int_equal(read_all(out.p, out.n, NULL, &files), GCD_E_TRUNCATED);
    assert_int_equal(read_all(out.p, 0, NULL, &files), GCD_E_UNSUPPORTED);
    assert_int_equal(read_all(out.p, 539, NULL, &files), GCD_E_UNSUPPORTED);
    tb_free(&out);
}

static void test_sizes_that_lie(void **state)
{
    (void)state;
    struct pe_image p;
    shop_image(&p, false);
    static const struct {
        bool compressed;
        int64_t lie;
        gcd_status st;
    } cases[] = {
        { false, 1000000, GCD_E_TRUNCATED },
        { false, INT64_MAX, GCD_E_TRUNCATED },
        { false, -1600, GCD_E_TRUNCATED },
        /* smaller than the file, but larger than the rest after its offset */
        { false, 200, GCD_E_TRUNCATED },
        { true, 1, GCD_E_FORMAT },
        { true, -1, GCD_E_FORMAT },
        { true, (int64_t)256 << 20, GCD_E_LIMIT },
        { true, 100000, GCD_E_FORMAT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tb_bytes out;
        unsigned files;
        struct bundle_part part = { .path = "a.dll",
                                    .bytes = p.out.p,
                                    .n = p.out.n,
                                    .compressed = cases[i].compressed,
                                    .lie = cases[i].lie };
        bundle_file(&out, 100, 6, &part, 1);
        assert_int_equal(read_all(out.p, out.n, NULL, &files), cases[i].st);
        tb_free(&out);
    }
    pe_image_done(&p);
}

/* Every prefix ends with an error, never with fewer files. */
static void test_truncated_and_changed(void **state)
{
    (void)state;
    struct pe_image p;
    struct tb_bytes out;
    unsigned files;
    shop_image(&p, false);
    struct bundle_part parts[] = {
        { .path = "a.dll", .bytes = p.out.p, .n = p.out.n },
        { .path = "b.dll", .bytes = p.out.p, .n = p.out.n, .compressed = true }
    };
    bundle_file(&out, 64, 6, parts, 2);
    for (size_t n = 0; n < out.n; n++)
        assert_int_equal(read_all(out.p, n, NULL, &files),
                         n < 64 + 40 ? GCD_E_UNSUPPORTED : GCD_E_TRUNCATED);
    for (size_t i = 104; i < out.n; i++) {
        struct failalloc f;
        uint8_t before = out.p[i];
        failalloc_init(&f);
        out.p[i] = 0xff;
        struct gcd_input *in;
        struct gcd_bundle *b = NULL;
        struct gcd_bundle_file file;
        assert_int_equal(gcd_input_from_memory(out.p, out.n, NULL, &in, &err), GCD_OK);
        gcd_status st = gcd_bundle_open(in, &f.alloc, &b, &err);
        while (st == GCD_OK && (st = gcd_bundle_next(b, &file, &err)) == GCD_OK) {
            struct gcd_input *plain = NULL;
            (void)!gcd_bundle_expand(b, &file, NULL, &plain, &err);
            gcd_input_free(plain);
        }
        gcd_bundle_free(b);
        gcd_input_free(in);
        assert_null(failalloc_complaint(&f));
        out.p[i] = before;
    }
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = read_all(out.p, out.n, &f.alloc, &files);
        assert_null(failalloc_complaint(&f));
        /* a spool goes to a file instead */
        assert_true(f.failed == 0 ? st == GCD_END : st == GCD_E_NOMEM || st == GCD_END);
        if (f.failed == 0)
            break;
    }
    tb_free(&out);
    pe_image_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_offsets),
        cmocka_unit_test(test_a_large_compressed_file),
        cmocka_unit_test(test_no_bundle),
        cmocka_unit_test(test_sizes_that_lie),
        cmocka_unit_test(test_truncated_and_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
