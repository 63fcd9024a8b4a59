/* What a static field can hold: "no" is certain, "yes" can mean unknown. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "resolve/resolve.h"
#include "support/pe_image.h"

enum {
    INT32 = 0x08,
    STRING = 0x0e,
    VALUE = 0x11,
    CLASS = 0x12,
    ARRAY = 0x14,
    OBJECT = 0x1c,
    VECTOR = 0x1d
};

/* Coded indexes of a base class or interface. */
#define DEFINED(row)    ((unsigned)(row) << 2)
#define REFERENCED(row) ((unsigned)(row) << 2 | 1)

enum { SYSTEM_OBJECT = 1, DISPOSABLE, DELEGATE, ELSEWHERE };
enum { BASE = 2, ITEM, NAMED, HANDLER, FOREIGN, BOX, DAMAGED, CROOKED, CHAIN };

static struct gcd_error err;

static void type(struct pe_image *p, const char *name, unsigned base)
{
    (void)pe_image_row(p, 0x02, "4ss222", 0x100001u, name, "Shop", base, 1u, 1u);
}

/* The types above, Box`1, one whose base the file does not have, and CHAIN_LENGTH types that extend
 * the next one, of which the first has INTERFACES interfaces. */
static void begin(struct pe_image *p, unsigned chain_length, unsigned interfaces)
{
    pe_image_init(p);
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "IDisposable", "System");
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "MulticastDelegate", "System");
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Machine", "Elsewhere");
    (void)pe_image_row(p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    type(p, "Base", REFERENCED(SYSTEM_OBJECT));
    type(p, "Item", DEFINED(BASE));
    type(p, "INamed", 0);
    type(p, "Handler", REFERENCED(DELEGATE));
    type(p, "Foreign", REFERENCED(ELSEWHERE));
    type(p, "Box`1", DEFINED(BASE));
    type(p, "Damaged", DEFINED(4000));
    type(p, "Crooked", DEFINED(DAMAGED));
    for (unsigned i = 0; i < chain_length; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "Chain%u", i);
        type(p, name, i + 1 < chain_length ? DEFINED(CHAIN + i + 1) : REFERENCED(SYSTEM_OBJECT));
    }
    (void)pe_image_row(p, 0x09, "22", (unsigned)ITEM, DEFINED(NAMED));
    (void)pe_image_row(p, 0x09, "22", (unsigned)ITEM, REFERENCED(DISPOSABLE));
    for (unsigned i = 0; i < interfaces; i++)
        (void)pe_image_row(p, 0x09, "22", (unsigned)CHAIN, REFERENCED(DISPOSABLE));
    (void)pe_image_row(p, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", "Shop", "");
    (void)pe_image_row(p, 0x2a, "222s", 0u, 0u, (unsigned)BOX << 1, "T");
    pe_image_close(p);
}

/* An object of type NAME, which TOKEN of the assembly defines. */
static struct resolve_stored stored(const char *name, unsigned row, unsigned chain_length,
                                    unsigned interfaces)
{
    struct resolve_stored s = { .name = name };
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct resolve r = { .alloc = &alloc };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    s.hash = gcd_text_hash(name, strlen(name), GCD_TEXT_HASH);
    begin(&p, chain_length, interfaces);
    assert_int_equal(gcd_input_from_memory(p.out.p, p.out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_metadata_open(in, 0, UINT64_MAX, NULL, &m, &err), GCD_OK);
    assert_int_equal(resolve_holds_ancestors(&r, &s, m, GCD_TOKEN_TYPE | row, &err), GCD_OK);
    gcd_metadata_free(m);
    gcd_input_free(in);
    pe_image_done(&p);
    return s;
}

static void done(struct resolve_stored *s)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    gcd_mem_free(&alloc, s->ancestors, s->ancestor_cap * sizeof *s->ancestors);
}

static bool holds(unsigned element_type, const char *name, const struct resolve_stored *s)
{
    struct gcd_static_field f = { .element_type = (uint8_t)element_type };
    return resolve_holds(&f, name, false, s);
}

static bool sealed_holds(const char *name, const struct resolve_stored *s)
{
    struct gcd_static_field f = { .element_type = CLASS };
    return resolve_holds(&f, name, true, s);
}

static void test_a_class_with_all_its_ancestors(void **state)
{
    (void)state;
    struct resolve_stored s = stored("Shop.Item", ITEM, 0, 0);
    static const char *const can[] = { "Shop.Item", "Shop.Base", "Shop.INamed", "System.Object",
                                       "System.IDisposable" };
    for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
        assert_true(holds(CLASS, can[i], &s));
        assert_int_equal(sealed_holds(can[i], &s), i == 0); /* no class extends a sealed one */
        assert_int_equal(holds(VALUE, can[i], &s), i == 0);
        assert_int_equal(holds(STRING, can[i], &s), i == 0);
    }
    static const char *const cannot[] = { "Shop.Other", "Shop.Ite", "Shop.Item2", "Item",
                                          "Shop.Handler" };
    for (size_t i = 0; i < sizeof cannot / sizeof *cannot; i++) {
        assert_false(holds(CLASS, cannot[i], &s));
        assert_false(sealed_holds(cannot[i], &s));
    }
    assert_true(holds(OBJECT, "", &s));
    assert_false(holds(INT32, "Shop.Item", &s));
    assert_false(holds(VECTOR, "Shop.Item[]", &s));
    done(&s);
}

static void test_ancestors_in_another_file_are_unknown(void **state)
{
    (void)state;
    struct resolve_stored s = stored("Shop.Foreign", FOREIGN, 0, 0);
    assert_true(holds(CLASS, "Elsewhere.Machine", &s));
    assert_true(holds(CLASS, "Shop.Other", &s)); /* Machine may extend it */
    assert_false(sealed_holds("Shop.Other", &s));
    done(&s);
}

static void test_a_generic_class_has_fixed_arguments(void **state)
{
    (void)state;
    struct resolve_stored s = stored("Shop.Box<System.String>", BOX, 0, 0);
    assert_true(holds(CLASS, "Shop.Box<System.String>", &s));
    assert_false(holds(CLASS, "Shop.Box<System.Int32>", &s));
    assert_false(holds(CLASS, "Shop.Box<System.String, System.String>", &s));
    assert_false(holds(CLASS, "Shop.Box", &s));
    assert_true(holds(CLASS, "Shop.Base", &s));
    /* a class that extends Box can have other arguments than its base */
    s.name = "Shop.Derived<System.String>";
    s.hash = gcd_text_hash(s.name, strlen(s.name), GCD_TEXT_HASH);
    assert_true(holds(CLASS, "Shop.Box<System.Int32>", &s));
    assert_true(holds(CLASS, "Shop.Box<A<B, C>>", &s)); /* one argument, which has two */
    assert_false(holds(CLASS, "Shop.Box<A<B>, C>", &s));
    assert_false(holds(CLASS, "Shop.Box<A>.Inner", &s));
    assert_false(holds(CLASS, "Shop.<Box>", &s)); /* of the compiler, without arguments */
    done(&s);
}

static void test_the_arguments_of_a_delegate_vary(void **state)
{
    (void)state;
    struct resolve_stored s = stored("Shop.Handler", HANDLER, 0, 0);
    assert_true(s.delegate);
    assert_true(holds(CLASS, "Shop.Handler", &s));
    assert_true(sealed_holds("Shop.Handler", &s));
    assert_true(holds(CLASS, "System.MulticastDelegate", &s));
    assert_true(sealed_holds("System.Delegate", &s)); /* its base, in another file */
    s.name = "Shop.Handler<System.String>";
    assert_true(sealed_holds("Shop.Handler", &s));
    done(&s);
}

static void test_arrays(void **state)
{
    (void)state;
    struct resolve_stored s = { .name = "Shop.Item[]", .array = true, .all_ancestors = true };
    s.hash = gcd_text_hash(s.name, strlen(s.name), GCD_TEXT_HASH);
    static const char *const can[] = { "Shop.Item[]", "System.Array", "System.ICloneable",
                                       "System.Collections.Generic.IList<Shop.Item>" };
    for (size_t i = 0; i < sizeof can / sizeof *can; i++)
        assert_true(holds(CLASS, can[i], &s));
    assert_false(holds(CLASS, "Shop.Item", &s));
    assert_false(holds(CLASS, "System.Object2", &s));
    assert_true(holds(VECTOR, "Shop.Item[]", &s));
    assert_true(holds(VECTOR, "Shop.Base[]", &s)); /* arrays of classes vary */
    assert_true(holds(ARRAY, "Shop.Item[,]", &s));
    s.holds_values = true;
    assert_false(holds(VECTOR, "Shop.Base[]", &s));
    assert_true(holds(VECTOR, "Shop.Item[]", &s));
    assert_false(holds(ARRAY, "Shop.Item[,]", &s));
}

static void test_a_name_without_outer_types_can_be_any(void **state)
{
    (void)state;
    struct resolve_stored s = { .name = "Node", .bare = true, .all_ancestors = true };
    assert_true(holds(CLASS, "Shop.Store.Node", &s));
    assert_true(holds(VALUE, "Shop.Store.Node", &s));
    assert_true(holds(VECTOR, "Shop.Store.Node[]", &s));
    assert_true(sealed_holds("Shop.Store.Node", &s));
    assert_false(holds(STRING, "System.String", &s));
    assert_false(holds(INT32, "System.Int32", &s));
}

/* What is too much to note is unknown, and never "no". */
static void test_long_chains_and_many_interfaces(void **state)
{
    (void)state;
    static const struct {
        unsigned chain, interfaces;
        bool known;
    } cases[] = { { 1, 0, true },    { 32, 0, true },  { 33, 0, false }, { 60, 0, false },
                  { 1, 510, false }, { 1, 509, true }, { 1, 600, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct resolve_stored s = stored("Shop.Chain0", CHAIN, cases[i].chain, cases[i].interfaces);
        assert_int_equal(s.all_ancestors, cases[i].known);
        assert_int_equal(holds(CLASS, "Shop.Other", &s), !cases[i].known);
        assert_true(holds(CLASS, "Shop.Chain0", &s));
        assert_true(holds(CLASS, "System.Object", &s));
        done(&s);
    }
}

/* What the file says of the other ancestors stays. */
static void test_a_damaged_base_is_unknown(void **state)
{
    (void)state;
    static const char *const names[] = { "Shop.Damaged", "Shop.Crooked" };
    for (unsigned i = 0; i < 2; i++) {
        struct resolve_stored s = stored(names[i], DAMAGED + i, 0, 0);
        assert_false(s.all_ancestors);
        assert_int_equal(s.ancestor_count, i + 1);
        assert_true(holds(CLASS, "Shop.Damaged", &s));
        assert_true(holds(CLASS, "Shop.Other", &s));
        assert_false(holds(STRING, "System.String", &s));
        done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_class_with_all_its_ancestors),
        cmocka_unit_test(test_ancestors_in_another_file_are_unknown),
        cmocka_unit_test(test_a_generic_class_has_fixed_arguments),
        cmocka_unit_test(test_the_arguments_of_a_delegate_vary),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_a_name_without_outer_types_can_be_any),
        cmocka_unit_test(test_a_damaged_base_is_unknown),
        cmocka_unit_test(test_long_chains_and_many_interfaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
