/* Modules that are known by their mapping only. */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"
#include "support/pe_image.h"

#define BASE  UINT64_C(0x7f1200000000)
#define BYTES 0x8000u

static uint8_t memory[BYTES];
static struct gcd_error err = GCD_ERROR_INIT;

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
        cmocka_unit_test(a_file_that_is_mapped_by_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
