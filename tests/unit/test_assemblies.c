/* The list of assemblies of a process, in an address space made here, and how a search that finds
 * none ends. */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/io.h>

#include "base/mem.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define BASE  UINT64_C(0x7f1234560000)
#define BYTES 0x10000u

enum {
    DAC = 0x0,
    DOMAIN_PLACE = 0x800,
    DOMAIN_AT = 0x1000,
    LIST = DOMAIN_AT + 0x500,
    SECOND_BLOCK = 0x4000,
    ASSEMBLIES = 0x5000, /* 64 bytes each; their module at 16 */
    DOMAIN_ASSEMBLIES = 0x6000,
    OTHER = 0x7000,
    MODULES = 0x8000 /* 64 bytes each; their assembly at 8 */
};

static uint8_t memory[BYTES];
static struct clr c;
static struct image image;
static struct image_segment segment = { .start = BASE, .bytes = BYTES };
static uint32_t seen;
static struct gcd_error err = GCD_ERROR_INIT;

static void word(uint32_t off, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        memory[off + i] = (uint8_t)(v >> 8 * i);
}

static void assembly(uint32_t place, uint32_t number)
{
    word(place, BASE + ASSEMBLIES + 64 * number);
    word(ASSEMBLIES + 64 * number + 16, BASE + MODULES + 64 * number);
    word(MODULES + 64 * number + 8, BASE + ASSEMBLIES + 64 * number);
}

/* Five assemblies in the first block, two in the second. */
static int setup(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(&c, 0, sizeof c);
    c.layout = (struct clr_layout){ .module_assembly = 8,
                                    .assembly_module = 16,
                                    .list_of_assemblies = true };
    c.dac_index = 2;
    word(DAC + 8 * 3, BASE + DOMAIN_PLACE);
    word(DOMAIN_PLACE, BASE + DOMAIN_AT);
    word(LIST, 7);
    word(LIST + 8, BASE + SECOND_BLOCK);
    word(LIST + 16, 5);
    word(SECOND_BLOCK + 8, 16);
    for (uint32_t i = 0; i < 7; i++)
        assembly(i < 5 ? LIST + 24 + 8 * i : SECOND_BLOCK + 16 + 8 * (i - 5), i);
    seen = 0;
    return 0;
}

static gcd_status count(struct clr *of, uint64_t module, struct gcd_error *e)
{
    (void)of;
    (void)e;
    seen |= UINT32_C(1) << (module - BASE - MODULES) / 64;
    return GCD_OK;
}

static void search(void)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    static const struct gcd_context context = { .cancel = NULL };
    struct gcd_input *in;
    assert_int_equal(gcd_input_from_memory(memory, sizeof memory, NULL, &in, &err), GCD_OK);
    assert_int_equal(image_init(&image, in, &alloc, &err), GCD_OK);
    image.segments = &segment;
    image.segment_count = 1;
    c.alloc = alloc;
    c.context = &context;
    c.image = &image;
    c.dac = BASE + DAC;
    gcd_idmap_init(&c.module_by_id, &alloc);
    assert_true(gcd_idmap_put(&c.module_by_id, BASE + MODULES, 0)); /* of the core library */
    assert_int_equal(clr_each_assembly(&c, BASE + MODULES, count, &err), GCD_OK);
    gcd_idmap_done(&c.module_by_id);
    image.segments = NULL;
    image_done(&image);
    gcd_input_free(in);
}

static void finds_all_assemblies(void **state)
{
    (void)state;
    search();
    assert_int_equal(seen, 0x7f);
    assert_false(c.gaps.no_assembly_list);
    assert_int_equal(c.gaps.unread_assemblies, 0);
}

static void says_what_it_misses(void **state)
{
    (void)state;
    word(ASSEMBLIES + 64 * 2 + 16, 0); /* an assembly without a module */
    word(LIST + 8, 0);                 /* the second block */
    search();
    assert_int_equal(seen, 0x1b);
    assert_int_equal(c.gaps.unread_assemblies, 3);
    setup(state);
    word(LIST + 16, 6); /* no list of this kind */
    search();
    assert_int_equal(seen, 0);
    assert_true(c.gaps.no_assembly_list);
}

/* A list as .NET 8 to 10 have it. */
static void finds_lists_of_what_begins_with_an_assembly(void **state)
{
    (void)state;
    c.layout.list_of_assemblies = false;
    for (uint32_t i = 0; i < 7; i++) {
        uint32_t place = i < 5 ? LIST + 24 + 8 * i : SECOND_BLOCK + 16 + 8 * (i - 5);
        word(DOMAIN_ASSEMBLIES + 16 * i, BASE + ASSEMBLIES + 64 * i);
        word(place, BASE + DOMAIN_ASSEMBLIES + 16 * i);
    }
    search();
    assert_int_equal(seen, 0x7f);
}

/* What leads to the module of the core library is no list of assemblies unless that leads back. */
static void takes_no_other_list(void **state)
{
    (void)state;
    word(DOMAIN_AT + 0x100, 4000);
    word(DOMAIN_AT + 0x108, 0);
    word(DOMAIN_AT + 0x110, 5);
    word(DOMAIN_AT + 0x118, BASE + OTHER);
    word(OTHER + 16, BASE + MODULES);
    search();
    assert_int_equal(seen, 0x7f);
    assert_int_equal(c.gaps.unread_assemblies, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_all_assemblies, setup),
        cmocka_unit_test_setup(says_what_it_misses, setup),
        cmocka_unit_test_setup(finds_lists_of_what_begins_with_an_assembly, setup),
        cmocka_unit_test_setup(takes_no_other_list, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
