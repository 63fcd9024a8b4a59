/* Types of assemblies by the names that Native AOT gives them. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/mem.h"
#include "names/aot_definitions.h"
#include "names/aot_names.h"
#include "support/failalloc.h"
#include "support/pe_image.h"

static struct gcd_error err;

struct type {
    const char *name, *space;
    uint32_t outer; /* number of the type that it is nested in, from 1; 0 = none */
};

/* An assembly with TYPES up to the first without a name. */
static void make(struct pe_image *p, const char *assembly, const struct type *types)
{
    pe_image_init(p);
    (void)pe_image_row(p, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", assembly, "");
    (void)pe_image_row(p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    for (uint32_t i = 0; types[i].name != NULL; i++)
        (void)pe_image_row(p, 0x02, "4ss222", types[i].outer != 0 ? 0x100002u : 0x100001u,
                           types[i].name, types[i].space, 0u, 1u, 1u);
    for (uint32_t i = 0; types[i].name != NULL; i++)
        if (types[i].outer != 0)
            (void)pe_image_row(p, 0x29, "22", i + 2, types[i].outer + 1);
    pe_image_close(p);
}

/* Adds the assembly P. */
static gcd_status add(struct aot_definitions *d, const struct pe_image *p)
{
    struct gcd_input *in;
    struct gcd_metadata *m;
    err = (struct gcd_error)GCD_ERROR_INIT;
    assert_int_equal(gcd_input_from_memory(p->out.p, p->out.n, NULL, &in, &err), GCD_OK);
    gcd_status st = gcd_metadata_open(in, 0, UINT64_MAX, NULL, &m, &err);
    assert_int_equal(st, GCD_OK);
    st = aot_definitions_add(d, m, &err);
    gcd_metadata_free(m);
    gcd_input_free(in);
    return st;
}

static void add_types(struct aot_definitions *d, const char *assembly, const struct type *types)
{
    struct pe_image p;
    make(&p, assembly, types);
    assert_int_equal(add(d, &p), GCD_OK);
    pe_image_done(&p);
}

static void expect(const struct aot_definitions *d, const char *mangled, const char *name)
{
    const char *got = aot_definition(d, mangled, strlen(mangled));
    if ((got == NULL) != (name == NULL) || (got != NULL && strcmp(got, name) != 0))
        fail_msg("%s: %s, not %s", mangled, got != NULL ? got : "unknown",
                 name != NULL ? name : "unknown");
}

static struct gcd_alloc alloc;

static struct aot_definitions empty(void)
{
    struct aot_definitions d;
    alloc = gcd_alloc_or_default(NULL);
    aot_definitions_init(&d, &alloc);
    return d;
}

static void all_kinds_of_names(void **state)
{
    (void)state;
    static const struct type types[] = {
        { "Order", "Shop", 0 },
        { "Line", "", 1 },
        { "Pair`2", "Shop", 0 },
        { "Under_Score", "Shop.My_Space", 0 },
        { "<Run>d__1", "", 1 },
        { "3D", "Shop", 0 },
        { "2nd", "", 0 },
        { "Caf\xc3\xa9", "Shop", 0 },
        { "\xf0\x9f\x98\x80", "Shop", 0 }, /* two units of UTF-16 */
        { "A+B", "Shop", 0 },              /* reflection escapes the "+" */
        { "Global", "", 0 },
        { NULL, NULL, 0 },
    };
    struct aot_definitions d = empty();
    add_types(&d, "shop.web-2", types);
    expect(&d, "shop_web_2_Shop_Order", "Shop.Order");
    expect(&d, "shop_web_2_Shop_Order_Line", "Shop.Order+Line");
    expect(&d, "shop_web_2_Shop_Pair_2", "Shop.Pair`2");
    expect(&d, "shop_web_2_Shop_My_Space_Under_Score", "Shop.My_Space.Under_Score");
    expect(&d, "shop_web_2_Shop_Order__Run_d__1", "Shop.Order+<Run>d__1");
    expect(&d, "shop_web_2_Shop_3D", "Shop.3D"); /* the digit does not begin the name */
    expect(&d, "shop_web_2__2nd", "2nd");
    expect(&d, "shop_web_2_Shop_Caf_", "Shop.Caf\xc3\xa9");
    expect(&d, "shop_web_2_Shop___", "Shop.\xf0\x9f\x98\x80");
    expect(&d, "shop_web_2_Shop_A_B", "Shop.A\\+B");
    expect(&d, "shop_web_2_Global", "Global");
    expect(&d, "shop_web_2__Module_", NULL);
    expect(&d, "shop_web_2_Shop_Nothing", NULL);
    expect(&d, "", NULL);
    expect(NULL, "shop_web_2_Shop_Order", NULL);
    assert_int_equal(d.count, 11);
    aot_definitions_done(&d);
}

/* The compiler numbers them in an order that no file tells. */
static void types_with_one_mangled_name(void **state)
{
    (void)state;
    static const struct type types[] = {
        { "Order_Line", "Shop", 0 }, { "Order", "Shop", 0 }, { "Line", "", 2 },
        { "Item_1", "Shop", 0 },     { "Item", "Shop", 0 },  { "Order_Line_1", "Shop", 0 },
        { NULL, NULL, 0 },
    };
    struct aot_definitions d = empty();
    add_types(&d, "shop", types);
    expect(&d, "shop_Shop_Order", "Shop.Order");
    expect(&d, "shop_Shop_Order_Line", NULL);
    expect(&d, "shop_Shop_Order_Line_1", NULL); /* or the second of those */
    expect(&d, "shop_Shop_Item", "Shop.Item");
    expect(&d, "shop_Shop_Item_1", "Shop.Item_1"); /* there is only one Item */
    add_types(&d, "shop", types); /* the same file a second time says nothing new */
    expect(&d, "shop_Shop_Order", "Shop.Order");
    expect(&d, "shop_Shop_Item_1", "Shop.Item_1");
    assert_int_equal(d.count, 5);
    aot_definitions_done(&d);
}

static void the_framework_is_left_to_rules(void **state)
{
    (void)state;
    static const struct type types[] = { { "String", "System", 0 }, { NULL, NULL, 0 } };
    struct aot_definitions d = empty();
    add_types(&d, "System.Private.CoreLib", types);
    add_types(&d, "System.Collections.Concurrent", types);
    add_types(&d, "Microsoft.AspNetCore", types);
    assert_int_equal(d.count, 0);
    add_types(&d, "System.Reactive", types);
    add_types(&d, "System.Private.Shop", types);
    add_types(&d, "7zip", types);
    expect(&d, "System_Reactive_System_String", "System.String");
    expect(&d, "S_P_Shop_System_String", "System.String");
    expect(&d, "_7zip_System_String", "System.String");
    aot_definitions_done(&d);
}

/* A name up to the limit is taken whole; no part of a longer one is. */
static void long_names(void **state)
{
    (void)state;
    static char spaces[2][4001], name[4001], mangled[3 * 4001 + 16], whole[3 * 4001 + 16];
    for (size_t over = 0; over < 3; over++) {
        /* shop_NNN_OOO_name: with the first, one less than the limit */
        size_t last = AOT_SYMBOL_MAX - 1 - sizeof "shop" - 4001 - 4001 + over;
        struct type types[] = { { spaces[0], "", 0 },
                                { spaces[1], "", 1 },
                                { name, "", 2 },
                                { "Short", "", 0 },
                                { NULL, NULL, 0 } };
        struct aot_definitions d = empty();
        memset(spaces[0], 'n', 4000);
        memset(spaces[1], 'o', 4000);
        memset(name, 'p', last);
        name[last] = '\0';
        (void)snprintf(mangled, sizeof mangled, "shop_%s_%s_%s", spaces[0], spaces[1], name);
        (void)snprintf(whole, sizeof whole, "%s+%s+%s", spaces[0], spaces[1], name);
        add_types(&d, "shop", types);
        expect(&d, mangled, over == 0 ? whole : NULL);
        expect(&d, "shop_Short", "Short");
        assert_int_equal(d.count, over == 0 ? 4 : 3);
        aot_definitions_done(&d);
    }
}

/* A damaged assembly: the types before the damage stay, and it is said. */
static void damage(void **state)
{
    (void)state;
    struct pe_image p;
    struct aot_definitions d = empty();
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", "shop", "");
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 0x100001u, "Order", "Shop", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 0x100002u, "Lost", "", 0u, 1u, 1u); /* in nothing */
    pe_image_close(&p);
    assert_int_not_equal(add(&d, &p), GCD_OK);
    assert_true(err.msg[0] != '\0');
    expect(&d, "shop_Shop_Order", "Shop.Order");
    pe_image_done(&p);
    aot_definitions_done(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct type types[] = {
        { "Order", "Shop", 0 }, { "Line", "", 1 }, { "Cart", "Shop", 0 }, { NULL, NULL, 0 }
    };
    struct pe_image p;
    bool failed = true;
    make(&p, "shop", types);
    for (uint64_t n = 1; failed; n++) {
        struct failalloc fa;
        struct aot_definitions d;
        failalloc_init(&fa);
        fa.fail_at = n;
        aot_definitions_init(&d, &fa.alloc);
        gcd_status st = add(&d, &p);
        failed = fa.failed > 0;
        assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
        if (!failed)
            expect(&d, "shop_Shop_Cart", "Shop.Cart");
        aot_definitions_done(&d);
        assert_null(failalloc_complaint(&fa));
    }
    pe_image_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_names),
        cmocka_unit_test(types_with_one_mangled_name),
        cmocka_unit_test(the_framework_is_left_to_rules),
        cmocka_unit_test(long_names),
        cmocka_unit_test(damage),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
