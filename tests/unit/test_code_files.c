/*
 * Precompiled code that an image leaves out, from a file made here: {headers, .text, .data}, mapped
 * by sections, and flat at another place.
 */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"
#include "support/tb.h"

#define BASE UINT64_C(0x7f1234560000)
#define FLAT UINT64_C(0x7f5555550000)

enum {
    PE = 0x80,
    OPTIONAL = PE + 24,
    DIRECTORY = OPTIONAL + 112 + 8 * 14,
    SECTIONS = OPTIONAL + 240,
    CLI = 0x500,
    HEADER = 0x600, /* of ReadyToRun */
    TABLE = 0x800,
    DATA = 0x2000,
    FILE_BYTES = 0x3000,
    TEXT = 0x10000, /* what is at OFF of the file is loaded at OFF + TEXT */
    FUNCTIONS = 3
};

static uint8_t file[FILE_BYTES], other[FILE_BYTES], memory[0x4000];
static struct clr c;
static struct image image;
static struct image_segment segment;
static struct image_mapping mappings[] = {
    { .start = BASE, .end = BASE + 0x1000, .path = "/a.dll" },
    { .start = BASE + TEXT, .end = BASE + TEXT + 0x2000, .path = "/a.dll" },
    { .start = BASE + 0x20000, .end = BASE + 0x21000, .file_off = DATA, .path = "/a.dll" },
    { .start = BASE + 0x30000, .end = BASE + 0x40000, .path = "/b.dll" },
    { .start = FLAT, .end = FLAT + FILE_BYTES, .path = "/a.dll" },
};
static const struct clr_code code = {
    .base = BASE, .table = BASE + TEXT + TABLE, .header = BASE + TEXT + HEADER, .count = FUNCTIONS
};
static struct gcd_error err = GCD_ERROR_INIT;

static void put(uint8_t *at, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static void put_section(unsigned i, uint32_t rva, uint32_t bytes, uint32_t off, uint32_t flags)
{
    uint8_t *at = file + SECTIONS + 40 * i;
    put(at + 12, rva, 4);
    put(at + 16, bytes, 4);
    put(at + 20, off, 4);
    put(at + 36, flags, 4);
}

static int setup(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    for (unsigned i = 0; i < FILE_BYTES; i++)
        file[i] = (uint8_t)(i * 7 + i / 256);
    memcpy(file, "MZ", 2);
    put(file + 0x3c, PE, 4);
    memcpy(file + PE, "PE\0\0", 4);
    put(file + PE + 6, 2, 2);
    put(file + PE + 20, 240, 2);
    put(file + OPTIONAL, 0x20b, 2);
    put(file + DIRECTORY, TEXT + CLI, 4);
    put_section(0, TEXT + 0x400, DATA - 0x400, 0x400, 0x60000020);
    put_section(1, 0x20000, FILE_BYTES - DATA, DATA, 0xc0000040);
    put(file + CLI + 64, TEXT + HEADER, 4);
    memcpy(file + HEADER, "RTR", 4);
    put(file + HEADER + 12, 2, 4);
    put(file + HEADER + 16, 101, 4);
    put(file + HEADER + 28, 102, 4);
    put(file + HEADER + 32, TEXT + TABLE, 4);
    put(file + HEADER + 36, 12 * FUNCTIONS, 4);
    return 0;
}

/* ---- files ---- */

struct files {
    const uint8_t *bytes[3];
    size_t size;
    unsigned opened, open;
    gcd_status st; /* of the first one */
};

static gcd_status open_file(void *ctx, const struct gcd_module *module, unsigned n,
                            struct gcd_module_file *ret, struct gcd_error *ret_err)
{
    struct files *f = ctx;
    assert_string_equal(module->path, "/a.dll");
    f->opened++;
    if (f->st != GCD_OK && n == 0)
        return f->st;
    if (n >= 3 || f->bytes[n] == NULL)
        return GCD_END;
    *ret = (struct gcd_module_file){ .bytes = UINT64_MAX, .path = "" };
    f->open++;
    return gcd_input_from_memory(f->bytes[n], f->size, NULL, &ret->input, ret_err);
}

static void close_file(void *ctx, struct gcd_module_file *f)
{
    ((struct files *)ctx)->open--;
    gcd_input_free(f->input);
}

/* How much the image has from ADDRESS on after CODE was needed, and it has N bytes of MEMORY at AT.
 * Without CODE, after a method was sought in the section that is described there. */
static uint64_t has_after(struct files *f, const struct clr_code *needed, uint64_t at, size_t n,
                          uint64_t address)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_module_files files = { .ctx = f, .open = open_file, .close = close_file };
    struct gcd_input *in;
    if (f->size == 0)
        f->size = FILE_BYTES;
    c = (struct clr){ .alloc = alloc, .image = &image, .files = &files };
    c.layout = (struct clr_layout){ .module_precompiled = 8, .precompiled_map = 112 };
    assert_int_equal(gcd_input_from_memory(memory, sizeof memory, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    segment = (struct image_segment){ .start = at, .bytes = n };
    image.segments = &segment;
    image.segment_count = 1;
    image.mappings = mappings;
    image.mapping_count = sizeof mappings / sizeof *mappings;
    for (size_t i = 0; i < image.mapping_count; i++)
        mappings[i].tried = false;
    for (unsigned i = 0; i < 3; i++) {
        struct clr_frame frame = { .code = BASE + TEXT + 0x901 + i };
        if (needed != NULL)
            clr_need_code(&c, BASE + TEXT + 0x900 + i, needed);
        else
            clr_find_precompiled(&c, at, &frame);
    }
    uint64_t has = image_available(&image, address);
    uint8_t got[16];
    if (has >= sizeof got && f->bytes[0] == file) {
        assert_true(image_read(&image, address, got, sizeof got));
        assert_memory_equal(got, file + address % 0x10000, sizeof got);
    }
    image.segments = NULL;
    image.mappings = NULL;
    clr_code_files_close(&c);
    image_done(&image);
    gcd_input_free(in);
    assert_int_equal(f->open, 0);
    return has;
}

static uint64_t text_after(struct files *f, const struct clr_code *needed)
{
    return has_after(f, needed, 0x1000, 16, BASE + TEXT + 0x700);
}

static void the_file_has_what_is_left_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t address, has;
    } rows[] = {
        { BASE, 0x1000 },      { BASE + TEXT + 0x700, DATA - 0x700 },
        { BASE + 0x20000, 0 }, /* it can be written to */
        { BASE + 0x30000, 0 }, /* another file */
        { FLAT, DATA },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct files f = { .bytes = { file } };
        assert_int_equal(has_after(&f, &code, 0x1000, 16, rows[i].address), rows[i].has);
        assert_int_equal(f.opened, 1); /* once */
        assert_null(c.missing_code);
    }
}

/* Without the header in the image, the table of functions tells. */
static void another_table_is_another_build(void **state)
{
    static const uint32_t damage[] = {
        HEADER, HEADER + 28, HEADER + 32, HEADER + 36, PE, HEADER + 12, SECTIONS + 12, 0,
    };
    struct clr_code different = code;
    struct files f = { .bytes = { file } };
    different.count++;
    assert_int_equal(text_after(&f, &different), 0);
    assert_string_equal(c.missing_code, "/a.dll");
    different = code;
    different.table += 4;
    assert_int_equal(text_after(&f, &different), 0);
    different = code;
    different.header -= 4;
    assert_int_equal(text_after(&f, &different), 0);
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        (void)setup(state);
        file[damage[i]] ^= damage[i] == HEADER + 12 ? 2 : 0x50;
        assert_int_equal(text_after(&f, &code), 0);
    }
}

/* Where the image has something, the file must have the same; with the header that is enough. */
static void what_is_there_must_be_the_same(void **state)
{
    (void)state;
    static const struct clr_code unknown = { .base = BASE };
    struct files f = { .bytes = { file } };
    const uint64_t at = BASE + TEXT + 0x700;
    memcpy(memory, file, 0x1000);
    assert_int_equal(has_after(&f, &unknown, BASE, 0x1000, at), DATA - 0x700);
    assert_int_equal(has_after(&f, &unknown, FLAT, 0x800, at), DATA - 0x700);
    assert_int_equal(has_after(&f, &unknown, BASE + TEXT + 0x1000, 0x100, at), 0);
    memory[0xfff]++;
    assert_int_equal(has_after(&f, &unknown, BASE, 0x1000, at), 0);
    assert_int_equal(has_after(&f, &code, BASE, 0x1000, at), 0);
    assert_int_equal(has_after(&f, &code, BASE, 0x1, at), DATA - 0x700);
    memcpy(memory, file + 0x1000, 0x1000);
    assert_int_equal(has_after(&f, &code, BASE + TEXT + 0x1000, 0x1000, at), DATA - 0x700);
    memory[0x17]++;
    assert_int_equal(has_after(&f, &code, BASE + TEXT + 0x1000, 0x1000, at), 0);
    assert_int_equal(has_after(&f, &code, BASE + 0x20000, 0x1000, at), DATA - 0x700);
}

static void the_right_candidate_is_found(void **state)
{
    (void)state;
    memcpy(other, file, sizeof other);
    other[HEADER + 36] = 12;
    struct files f = { .bytes = { other, file } };
    assert_int_equal(text_after(&f, &code), DATA - 0x700);
    assert_int_equal(f.opened, 2);
    f = (struct files){ .bytes = { other, other, other } };
    assert_int_equal(text_after(&f, &code), 0);
    assert_int_equal(f.opened, 4);
    f = (struct files){ .bytes = { file, file }, .st = GCD_E_IO };
    assert_int_equal(text_after(&f, &code), DATA - 0x700);
    f = (struct files){ .bytes = { file }, .st = GCD_E_NOMEM };
    assert_int_equal(text_after(&f, &code), 0);
    assert_int_equal(c.code_st, GCD_E_NOMEM);
    assert_int_equal(f.opened, 1);
}

/* The assemblies of a composite image have headers of their own, elsewhere: the table of functions
 * is that of the whole image. */
static void a_composite_image_is_known_by_its_own_header(void **state)
{
    (void)state;
    const uint64_t at = 0x1000, module = at + 0x100, info = at + 0x200, whole = at + 0x300;
    struct files f = { .bytes = { file } };
    put(memory, BASE, 8);
    put(memory + 32, module, 8);
    put(memory + 0x108, info, 8);
    put(memory + 0x200, module, 8);
    put(memory + 0x210, FLAT - 0x1000, 8);
    put(memory + 0x228, whole, 8);
    put(memory + 0x250, code.table, 8);
    put(memory + 0x258, FUNCTIONS, 4);
    put(memory + 0x310, code.header, 8);
    assert_int_equal(has_after(&f, NULL, at, sizeof memory, BASE + TEXT + 0x700), DATA - 0x700);
    assert_false(c.gaps.unread_code);
}

/* An image that has everything needs no file. */
static void whole_images_need_none(void **state)
{
    (void)state;
    struct files f = { .bytes = { file } };
    memcpy(memory, file, 0x2000);
    assert_int_equal(has_after(&f, &code, BASE + TEXT, 0x2000, BASE), 0);
    assert_int_equal(f.opened, 0);
}

/* Files that end anywhere, or have anything in their headers, do no harm. */
static void damaged_files_are_refused(void **state)
{
    for (size_t n = 1; n < FILE_BYTES; n += n < 0xa00 ? 1 : 97) {
        struct files f = { .bytes = { file }, .size = n };
        uint64_t has = text_after(&f, &code);
        assert_true(n >= HEADER + 40 ? has <= n - 0x700 || n < 0x700 : has == 0);
    }
    for (uint32_t at = 0; at < HEADER + 64; at++)
        for (unsigned bit = 0; bit < 8; bit += 7) {
            struct files f = { .bytes = { file } };
            (void)setup(state);
            file[at] ^= (uint8_t)(1u << bit);
            assert_true(text_after(&f, &code) <= FILE_BYTES);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_file_has_what_is_left_out, setup),
        cmocka_unit_test_setup(another_table_is_another_build, setup),
        cmocka_unit_test_setup(what_is_there_must_be_the_same, setup),
        cmocka_unit_test_setup(the_right_candidate_is_found, setup),
        cmocka_unit_test_setup(a_composite_image_is_known_by_its_own_header, setup),
        cmocka_unit_test_setup(whole_images_need_none, setup),
        cmocka_unit_test_setup(damaged_files_are_refused, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
