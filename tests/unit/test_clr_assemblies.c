/*
 * The modules of all assemblies, in an address space made here: globals of the runtime, a domain
 * with the list of its assemblies, and memory that looks like such a list everywhere.
 */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"
#include "support/pe_image.h"

/* The low half of an address there can be a number of places, too. */
#define BASE  UINT64_C(0x7f1200000000)
#define BYTES 0x8000u

enum {
    DAC = 0x1000,
    GLOBAL = 0x2000,
    DOMAIN = 0x3000, /* 8 KiB are searched */
    DOMAIN_WORDS = 1024,
    ASSEMBLIES = 0x6000, /* each leads to its module in two steps */
    MODULES = 0x7000,
    STEP = 0x10,
    PLACES = 5
};

static uint8_t memory[BYTES];
static uint64_t found[PLACES + 1];
static size_t found_count;
static struct gcd_error err = GCD_ERROR_INIT;

static void word(uint64_t off, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        memory[off + i] = (uint8_t)(v >> 8 * i);
}

static uint64_t module(unsigned i)
{
    return BASE + MODULES + 0x100 * (uint64_t)i;
}

static int setup(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    for (unsigned i = 0; i < 256; i++)
        word(DAC + 8 * (uint64_t)i, BASE + GLOBAL);
    word(GLOBAL, BASE + DOMAIN);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t assembly = ASSEMBLIES + 0x100 * (uint64_t)i;
        word(assembly, BASE + assembly + 0x80);
        word(assembly + 0x80 + STEP, module(i));
    }
    return 0;
}

/* The list of three assemblies at OFF. */
static void put_list(uint64_t off)
{
    word(off, 3);
    word(off + 8, 0);
    word(off + 16, PLACES);
    for (unsigned i = 0; i < PLACES; i++)
        word(off + 24 + 8 * (uint64_t)i, i < 3 ? BASE + ASSEMBLIES + 0x100 * (uint64_t)i : 0);
}

/* Lists without assemblies, at the first N places of the domain. */
static void put_others(unsigned n)
{
    for (unsigned i = 0; i < n + 2; i++)
        word(DOMAIN + 8 * (uint64_t)i, BASE + PLACES);
}

static gcd_status keep(struct clr *c, uint64_t at, struct gcd_error *ret)
{
    (void)c;
    (void)ret;
    assert_true(found_count < PLACES);
    found[found_count++] = at;
    return GCD_OK;
}

static size_t find(void)
{
    static struct clr c;
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_context context = { .cancel = NULL };
    struct gcd_input *in;
    struct image image;
    struct image_segment segment = { .start = BASE, .bytes = BYTES, .off = 0 };
    assert_int_equal(gcd_input_from_memory(memory, sizeof memory, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    image.segments = &segment;
    image.segment_count = 1;
    c = (struct clr){ .alloc = alloc, .context = &context, .image = &image, .dac = BASE + DAC };
    gcd_idmap_init(&c.module_by_id, &alloc);
    assert_true(gcd_idmap_put(&c.module_by_id, module(0), 0));
    found_count = 0;
    assert_int_equal(clr_each_assembly(&c, module(0), keep, &err), GCD_OK);
    gcd_idmap_done(&c.module_by_id);
    image.segments = NULL;
    image_done(&image);
    gcd_input_free(in);
    return found_count;
}

static void finds_all_of_the_list(void **state)
{
    (void)state;
    put_list(DOMAIN + 0x800);
    assert_int_equal(find(), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(found[i], module(i));
}

static void other_lists_do_not_hide_it(void **state)
{
    (void)state;
    put_others(100);
    put_list(DOMAIN + 0x800);
    assert_int_equal(find(), 3);
}

/* Each list costs a thousand steps, and 256 globals of a damaged image may each have a thousand. */
static void the_search_ends(void **state)
{
    (void)state;
    put_others(DOMAIN_WORDS - 100);
    put_list(DOMAIN + 8 * (DOMAIN_WORDS - 60));
    assert_int_equal(find(), 0);
}

/* ---- modules that are known by their mapping only ---- */

static struct pe_image assembly;

static gcd_status open_assembly(void *ctx, const struct gcd_module *wanted, unsigned i,
                                struct gcd_module_file *ret, struct gcd_error *own)
{
    (void)ctx;
    if (i > 0 || strcmp(wanted->path, "/app/System.Runtime.dll") != 0)
        return GCD_END;
    *ret = (struct gcd_module_file){ .bytes = UINT64_MAX, .path = "" };
    return gcd_input_from_memory(assembly.out.p, assembly.out.n, NULL, &ret->input, own);
}

static void close_assembly(void *ctx, struct gcd_module_file *file)
{
    (void)ctx;
    gcd_input_free(file->input);
}

/* The modules of an image that leaves all files out, and maps N parts of one. */
static size_t modules_of(struct image_mapping *parts, size_t n)
{
    static struct clr c;
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_context context = { .cancel = NULL };
    const struct gcd_module_files files = { .open = open_assembly, .close = close_assembly };
    struct gcd_input *in;
    struct image image;
    assert_int_equal(gcd_input_from_memory(memory, sizeof memory, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    image.mappings = parts;
    image.mapping_count = n;
    c = (struct clr){ .alloc = alloc, .context = &context, .image = &image, .files = &files };
    gcd_textpool_init(&c.text, &alloc, 1 << 20);
    gcd_idmap_init(&c.module_by_id, &alloc);
    gcd_idmap_init(&c.type_by_id, &alloc);
    assert_int_equal(clr_name_types(&c, &err), GCD_OK);
    size_t modules = c.module_count;
    gcd_mem_free(&alloc, c.modules, c.module_cap * sizeof *c.modules);
    gcd_idmap_done(&c.module_by_id);
    gcd_idmap_done(&c.type_by_id);
    gcd_textpool_done(&c.text);
    image.mappings = NULL;
    image_done(&image);
    gcd_input_free(in);
    return modules;
}

/* Precompiled assemblies have a mapping for each section, the header first or not. */
static void a_file_that_is_mapped_by_parts(void **state)
{
    (void)state;
    static const char path[] = "/app/System.Runtime.dll";
    pe_image_init(&assembly);
    (void)pe_image_row(&assembly, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "",
                       "System.Runtime", "");
    pe_image_close(&assembly);
    uint64_t pages = (assembly.out.n + 0xfff) & ~UINT64_C(0xfff);
    struct image_mapping parts[] = {
        { .start = BASE, .end = BASE + 0x200, .path = path },
        { .start = BASE + 0x10000, .end = BASE + 0x10000 + pages, .path = path },
    };
    assert_int_equal(modules_of(parts + 1, 1), 1);
    assert_int_equal(modules_of(parts, 2), 1);
    assert_int_equal(modules_of(parts, 1), 0);
    /* of another size */
    parts[1].end += 0x1000;
    assert_int_equal(modules_of(parts, 2), 0);
    pe_image_done(&assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_all_of_the_list, setup),
        cmocka_unit_test_setup(other_lists_do_not_hide_it, setup),
        cmocka_unit_test_setup(the_search_ends, setup),
        cmocka_unit_test(a_file_that_is_mapped_by_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
