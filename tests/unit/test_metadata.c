#include "base/mem.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "support/failalloc.h"
#include "support/shop_image.h"

static struct gcd_error err;

/* Closes P and opens its image; returns the status. */
static gcd_status open_image(const struct pe_image *p, const struct gcd_alloc *alloc,
                             struct gcd_input **in, struct gcd_metadata **m)
{
    err = (struct gcd_error)GCD_ERROR_INIT;
    *m = NULL;
    assert_int_equal(gcd_input_from_memory(p->out.p, p->out.n, NULL, in, &err), GCD_OK);
    return gcd_metadata_open(*in, 0, UINT64_MAX, alloc, m, &err);
}

static void close_image(struct gcd_input *in, struct gcd_metadata *m)
{
    gcd_metadata_free(m);
    gcd_input_free(in);
}

/* ---- contents ---- */

static const char shop_text[] =
    "1 <Module>\n"
    "2 Shop.Dictionary<TKey, TValue> (2) : System.Object* =;\n"
    "3 Shop.Dictionary<TKey, TValue>.Entry (2) : System.Object* =;\n"
    "4 Shop.Box<T> (1) : System.Object* =;\n"
    "5 Shop.Box<T>.Inner<A, B> (3) : System.Object* =;\n"
    "6 Shop.Box<T>.Inner<A, B>.<>c__DisplayClass13_0 (3) : Shop.Box<T>.Inner<A, B>\n"
    "7 Shop.Caf\xc3\xa9 (0) : System.Collections.Generic.List<Shop.Caf\xc3\xa9>, 0 "
    "System.Collections.Generic.List<Shop.Caf\xc3\xa9>, "
    "1 System.Collections.Generic.List`1.Enumerator\n"
    "8 Shop.Unmarked<U>* =;\n"
    "9 Shop.Odd`3* =; has Changed System.ThreadStaticAttribute;"
    "_other System.ThreadStaticAttribute;\n"
    "2 s_entries 17 Shop.Dictionary<System.String, System.Object>.Entry[]\n"
    "4 s_slot 17 T\n"
    "5 s_cells 17 System.Int32[][,]\n"
    "5 s_list 17 System.Collections.Generic.List<Shop.Box<System.Int32>.Inner<System.String[], "
    "System.Object>>\n"
    "5 s_pointer 17 FNPTR\n"
    "5 s_bytes 17 System.Byte*\n"
    "7 t_current thread 17 Shop.Caf\xc3\xa9\n"
    "7 s_vector 17 System.String[*]\n"
    "9 Closed 17 System.ThreadStaticAttribute\n";

static void test_all_of_it(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct pe_image p;
        struct gcd_input *in;
        struct gcd_metadata *m;
        struct tb_bytes text = { 0 };
        shop_image(&p, wide != 0);
        assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
        assert_int_equal(metadata_text(m, &text, &err), GCD_OK);
        tb_u8(&text, 0);
        assert_string_equal((char *)text.p, shop_text);
        tb_free(&text);
        close_image(in, m);
        pe_image_done(&p);
    }
}

/* A bundle has one assembly after the other. */
static void test_an_image_inside_a_file(void **state)
{
    (void)state;
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m = NULL;
    struct tb_bytes file = { 0 }, text = { 0 };
    shop_image(&p, false);
    tb_zeros(&file, 4321);
    tb_put(&file, p.out.p, p.out.n);
    tb_zeros(&file, 99);
    assert_int_equal(gcd_input_from_memory(file.p, file.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_metadata_open(in, 4321, p.out.n, NULL, &m, &err), GCD_OK);
    assert_int_equal(metadata_text(m, &text, &err), GCD_OK);
    assert_int_equal(text.n, sizeof shop_text - 1);
    gcd_metadata_free(m);
    /* the last byte is of a heap */
    assert_int_equal(gcd_metadata_open(in, 4321, p.out.n - 1, NULL, &m, &err), GCD_OK);
    gcd_metadata_free(m);
    assert_int_equal(gcd_metadata_open(in, 4320, p.out.n, NULL, &m, &err), GCD_E_UNSUPPORTED);
    assert_int_equal(gcd_metadata_open(in, file.n + 1, p.out.n, NULL, &m, &err), GCD_E_TRUNCATED);
    gcd_input_free(in);
    tb_free(&file);
    tb_free(&text);
    pe_image_done(&p);
}

static void test_identity(void **state)
{
    (void)state;
    static const uint8_t token[8] = { 0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89 };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    shop_image(&p, true);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    const struct gcd_module_identity *id = gcd_metadata_identity(m);
    assert_string_equal(id->module_name, "Test.dll");
    assert_string_equal(id->assembly_name, "Test");
    assert_int_equal(id->version[0], 1);
    assert_int_equal(id->version[3], 4);
    assert_true(id->has_public_key);
    assert_memory_equal(id->public_key_token, token, 8);
    assert_int_equal(id->mvid.bytes[0], 0xaa);
    assert_int_equal(id->mvid.bytes[15], 0xaa);
    assert_int_equal(id->codeview_count, 2);
    assert_int_equal(id->codeview[1].guid.bytes[15], 0xc1);
    assert_int_equal(id->codeview[1].age, 2);
    close_image(in, m);
    pe_image_done(&p);
}

/* Keys of all lengths around a SHA-1 block; the tokens come from sha1sum. */
static void test_public_keys(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint8_t token[8];
    } keys[] = {
        { 55, { 0x5a, 0xd6, 0x21, 0x56, 0xb6, 0x99, 0x08, 0xd2 } },
        { 56, { 0x99, 0xe6, 0x1b, 0x20, 0x9f, 0xf2, 0xe8, 0xb6 } },
        { 64, { 0x4d, 0x64, 0xec, 0x25, 0x2a, 0x44, 0x5a, 0x2a } },
        { 160, { 0x4b, 0xcd, 0xa5, 0xfe, 0x2e, 0x5d, 0x77, 0x01 } },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct pe_image p;
        struct gcd_input *in;
        struct gcd_metadata *m;
        char hex[2 * 160 + 1] = "";
        for (size_t k = 0; k < keys[i].n; k++)
            (void)snprintf(hex + 2 * k, 3, "61");
        pe_image_init(&p);
        (void)pe_image_row(&p, 0x20, "422224bss", 0x8004u, 1u, 2u, 3u, 4u, 1u, hex, "Test", "");
        pe_image_close(&p);
        assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
        assert_memory_equal(gcd_metadata_identity(m)->public_key_token, keys[i].token, 8);
        close_image(in, m);
        pe_image_done(&p);
    }
}

static void test_match(void **state)
{
    (void)state;
    struct gcd_module_identity file = { .codeview_count = 2 };
    struct gcd_loaded_module loaded = { .pdb_age = 1 };
    file.codeview[0] = (struct gcd_codeview){ .guid.bytes = { 1 }, .age = 1 };
    file.codeview[1] = (struct gcd_codeview){ .guid.bytes = { 2 }, .age = 1 };
    assert_int_equal(gcd_metadata_match(&file, &loaded), GCD_MODULE_UNKNOWN);
    loaded.pdb_guid.bytes[0] = 2;
    assert_int_equal(gcd_metadata_match(&file, &loaded), GCD_MODULE_SAME);
    loaded.pdb_age = 2;
    assert_int_equal(gcd_metadata_match(&file, &loaded), GCD_MODULE_OTHER);
    loaded = (struct gcd_loaded_module){ .pdb_guid.bytes = { 2, 1 }, .pdb_age = 1 };
    assert_int_equal(gcd_metadata_match(&file, &loaded), GCD_MODULE_OTHER);
    file.codeview_count = 0;
    assert_int_equal(gcd_metadata_match(&file, &loaded), GCD_MODULE_UNKNOWN);
}

static void test_arguments(void **state)
{
    (void)state;
    static const char *const args[] = { "System.String", "Shop.Item", "int[]" };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    const char *name = NULL;
    shop_image(&p, false);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    assert_int_equal(gcd_metadata_name(m, 0x02000003, args, 2, &name, &err), GCD_OK);
    assert_string_equal(name, "Shop.Dictionary<System.String, Shop.Item>.Entry");
    assert_int_equal(gcd_metadata_name(m, 0x02000006, args, 3, &name, &err), GCD_OK);
    assert_string_equal(name,
                        "Shop.Box<System.String>.Inner<Shop.Item, int[]>.<>c__DisplayClass13_0");
    assert_int_equal(gcd_metadata_name(m, 0x02000008, args, 1, &name, &err), GCD_OK);
    assert_string_equal(name, "Shop.Unmarked<System.String>");
    assert_int_equal(gcd_metadata_name(m, 0x02000009, args, 0, &name, &err), GCD_OK);
    assert_string_equal(name, "Shop.Odd`3");
    name = NULL;
    assert_int_equal(gcd_metadata_name(m, 0x02000003, args, 1, &name, &err), GCD_E_ARG);
    assert_int_equal(gcd_metadata_name(m, 0x02000003, args, 3, &name, &err), GCD_E_ARG);
    for (size_t i = 0; i < 6; i++) {
        static const uint32_t none[] = { 0,          0x02000000, 0x0200000a,
                                         0x01000005, 0x1b000002, 0x06000001 };
        struct gcd_type_definition d;
        assert_int_equal(gcd_metadata_name(m, none[i], NULL, 0, &name, &err), GCD_E_ARG);
        assert_int_equal(gcd_metadata_type(m, none[i], &d, &err), GCD_E_ARG);
    }
    assert_null(name);
    uint32_t interface;
    assert_int_equal(gcd_metadata_interface(m, 0x02000007, 2, &interface, &err), GCD_E_ARG);
    close_image(in, m);
    pe_image_done(&p);
}

/* Each of three nested types repeats the parameters of the outer one and adds one. */
static void test_three_generic_types(void **state)
{
    (void)state;
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    const char *name = NULL;
    pe_image_init(&p);
    for (unsigned row = 1; row <= 3; row++) {
        (void)pe_image_row(&p, 0x02, "4ss222", row > 1 ? 2u : 0u,
                           row == 1   ? "A`1"
                           : row == 2 ? "B`1"
                                      : "C`1",
                           "", 0u, 1u, 1u);
        if (row > 1)
            (void)pe_image_row(&p, 0x29, "22", row, row - 1);
        for (unsigned i = 0; i < row; i++)
            (void)pe_image_row(&p, 0x2a, "222s", i, 0u, row << 1,
                               i == 0   ? "T"
                               : i == 1 ? "U"
                                        : "V");
    }
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    assert_int_equal(gcd_metadata_name(m, 0x02000003, NULL, 0, &name, &err), GCD_OK);
    assert_string_equal(name, "A<T>.B<U>.C<V>");
    close_image(in, m);
    pe_image_done(&p);
}

/* Larger than the window: pages are replaced. */
static void test_a_large_image(void **state)
{
    (void)state;
    static char text[4001];
    struct pe_image p = { .codeviews = 1, .sections = 1, .wide = true };
    struct gcd_input *in;
    struct gcd_metadata *m;
    pe_image_begin(&p);
    for (int i = 0; i < 100; i++) {
        memset(text, 'a' + i % 26, sizeof text - 1);
        (void)pe_image_row(&p, 0x02, "4ss222", 0u, text, "", 0u, 1u, 1u);
    }
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (uint32_t i = 0; i < 200; i++) {
        const char *name = NULL;
        memset(text, 'a' + (int)(i % 100) % 26, sizeof text - 1);
        assert_int_equal(gcd_metadata_name(m, GCD_TOKEN_TYPE + 1 + i % 100, NULL, 0, &name, &err),
                         GCD_OK);
        assert_string_equal(name, text);
    }
    close_image(in, m);
    pe_image_done(&p);
}

/* Signatures name types by numbers of one, two and four bytes (ECMA-335 II.23.2). */
static void test_numbers_of_all_lengths(void **state)
{
    (void)state;
    static const struct {
        uint32_t row;
        const char *signature; /* the row shifted by two bits, compressed */
    } fields[] = { { 0x15, "061254" },        { 0x1f, "06127c" },    { 0x20, "06128080" },
                   { 0x140, "06128500" },     { 0xfff, "0612bffc" }, { 0x1000, "0612c0004000" },
                   { 0x1041, "0612c0004104" } };
    enum { FIELDS = sizeof fields / sizeof *fields };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    struct gcd_static_field f = { 0 };
    pe_image_init(&p);
    for (uint32_t i = 1; i <= 0x1041; i++)
        (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    for (size_t i = 0; i < FIELDS; i++)
        (void)pe_image_row(&p, 0x04, "2sb", 0x11u, "f", fields[i].signature);
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (size_t i = 0; i < FIELDS; i++) {
        assert_int_equal(gcd_metadata_next_static(m, &f, &err), GCD_OK);
        assert_int_equal(f.type_token, GCD_TOKEN_TYPE + fields[i].row);
    }
    assert_int_equal(gcd_metadata_next_static(m, &f, &err), GCD_END);
    close_image(in, m);
    pe_image_done(&p);
}

static void test_fields_and_constants_of_a_type(void **state)
{
    (void)state;
    static const struct {
        unsigned flags;
        const char *name, *signature;
    } fields[] = {
        { 0x06, "value__", "0604" }, /* 1: the number of an enum, of one byte */
        { 0x8056, "Red", "061108" }, /* 2 to 4: its values */
        { 0x8056, "Lost", "061108" }, { 0x8056, "Last", "061108" },
        { 0x16, "s_count", "0608" }, /* 5, 6: of a class */
        { 0x01, "_state", "061108" },
    };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    struct gcd_instance_field f = { 0 };
    struct gcd_literal l = { 0 };
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "Colour", "Shop", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "Order", "Shop", 0u, 5u, 1u);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        (void)pe_image_row(&p, 0x04, "2sb", fields[i].flags, fields[i].name, fields[i].signature);
    /* by their fields: of a signed and of an unsigned byte; that of "Lost" is a text */
    (void)pe_image_row(&p, 0x0b, "22b", 0x04u, 2u << 2, "ff");
    (void)pe_image_row(&p, 0x0b, "22b", 0x0eu, 3u << 2, "4100");
    (void)pe_image_row(&p, 0x0b, "22b", 0x05u, 4u << 2, "ff");
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    assert_int_equal(gcd_metadata_next_field(m, GCD_TOKEN_TYPE + 2, &f, &err), GCD_OK);
    assert_string_equal(f.name, "value__");
    assert_int_equal(f.element_type, 4);
    assert_int_equal(gcd_metadata_next_field(m, GCD_TOKEN_TYPE + 2, &f, &err), GCD_END);
    f.token = 0;
    assert_int_equal(gcd_metadata_next_field(m, GCD_TOKEN_TYPE + 3, &f, &err), GCD_OK);
    assert_string_equal(f.name, "_state");
    assert_int_equal(f.token, GCD_TOKEN_FIELD + 6);
    assert_int_equal(f.element_type, 0x11);
    assert_int_equal(f.type_token, GCD_TOKEN_TYPE + 2);
    assert_int_equal(gcd_metadata_next_field(m, GCD_TOKEN_TYPE + 4, &f, &err), GCD_E_ARG);
    assert_int_equal(gcd_metadata_next_literal(m, GCD_TOKEN_TYPE + 2, &l, &err), GCD_OK);
    assert_string_equal(l.name, "Red");
    assert_true(l.value == UINT64_MAX);
    assert_int_equal(gcd_metadata_next_literal(m, GCD_TOKEN_TYPE + 2, &l, &err), GCD_OK);
    assert_string_equal(l.name, "Last");
    assert_true(l.value == 0xff);
    assert_int_equal(gcd_metadata_next_literal(m, GCD_TOKEN_TYPE + 2, &l, &err), GCD_END);
    l.token = 0;
    assert_int_equal(gcd_metadata_next_literal(m, GCD_TOKEN_TYPE + 3, &l, &err), GCD_END);
    close_image(in, m);
    pe_image_done(&p);
}

/* Constants that may limit a number are noted, others are not. */
static void test_limits_are_noted(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned type;
        const char *value;
    } constants[] = {
        { "MaxItems", 0x08, "a00f0000" },   { "MaxRetries", 0x08, "05000000" },
        { "MaxVisited", 0x08, "30750000" }, { "BufferSize", 0x08, "00100000" },
        { "Limit", 0x08, "ffffffff" },      { "QueueCapacity", 0x0b, "0010000000000000" },
    };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_noted noted = { .alloc = &alloc };
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "Catalog", "Shop", 0u, 1u, 1u);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        (void)pe_image_row(&p, 0x04, "2sb", 0x8056u, constants[i].name, "0608");
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        (void)pe_image_row(&p, 0x0b, "22b", constants[i].type, (unsigned)(i + 1) << 2,
                           constants[i].value);
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    assert_int_equal(gcd_metadata_note(m, NULL, GCD_TOKEN_TYPE + 2, &noted, &err), GCD_OK);
    assert_string_equal(noted.text, "* =;MaxItems #4000;MaxVisited #30000;QueueCapacity #4096;");
    gcd_noted_done(&noted);
    close_image(in, m);
    pe_image_done(&p);
}

/* Which classes compare by reference, and which records one of their fields. */
static void test_equality_of_a_type(void **state)
{
    (void)state;
#define REF(row)  ((row) << 2 | 1)
#define MINE(row) ((row) << 2)
    static const struct {
        const char *name;
        unsigned extends, fields, methods; /* those begin here */
        const char *expected;
    } types[] = {
        { "Plain", REF(1), 1, 1, "* =;" }, /* 2 */
        { "Derived", MINE(2), 1, 2, "* =;" },
        { "WithEquals", REF(1), 1, 2, "" },
        { "Child", MINE(4), 1, 3, "" },
        { "Elsewhere", REF(2), 1, 3, "" },
        { "Explicit", REF(1), 1, 3, "" },
        { "Key", REF(1), 1, 4, "<Tags>k__BackingField =;" },
        { "OwnKey", REF(1), 3, 7, "" },
        { "ListKey", REF(1), 4, 10, "Items =;" },
        { "Names", REF(1), 6, 12, "" },
        { "NoRecord", REF(1), 7, 14, "" },
        { "<>c__DisplayClass1_0", REF(1), 8, 15, "" },
        { "Last", REF(1), 8, 15, "* =;" },
    };
    static const struct {
        unsigned flags;
        const char *name, *signature;
    } fields[] = {
        { 1, "<Name>k__BackingField", "060e" },
        { 1, "<Tags>k__BackingField", "061d0e" },
        { 1, "Tags", "061d0e" },
        { 0x11, "s_all", "061d0e" },
        { 1, "Items", "06151211010e" },
        { 1, "Name", "060e" },
        { 1, "Tags", "061d0e" },
    };
    static const struct {
        const char *name;
        bool generated;
    } methods[] = {
        { "EqualsNothing", false },
        { "Equals", false },
        { "System.IEquatable<Shop.Explicit>.Equals", false },
        { "<Clone>$", true },
        { "Equals", true },
        { "Equals", true },
        { "<Clone>$", true },
        { "Equals", true },
        { "Equals", false },
        { "<Clone>$", true },
        { "Equals", true },
        { "<Clone>$", true },
        { "Equals", true },
        { "Equals", true },
    };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    const char *text;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 2, "Entity", "Shop");
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 2, "CompilerGeneratedAttribute",
                       "System.Runtime.CompilerServices");
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 2, "List`1", "System.Collections.Generic");
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        (void)pe_image_row(&p, 0x02, "4ss222", 0x100001u, types[i].name, "Shop", types[i].extends,
                           types[i].fields, types[i].methods);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        (void)pe_image_row(&p, 0x04, "2sb", fields[i].flags, fields[i].name, fields[i].signature);
    (void)pe_image_row(&p, 0x0a, "2sb", 3u << 3 | 1, ".ctor", "200001");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        (void)pe_image_row(&p, 0x06, "422sb2", 0u, 0u, 0u, methods[i].name, "200002", 1u);
        if (methods[i].generated)
            (void)pe_image_row(&p, 0x0c, "22b", (unsigned)(i + 1) << 5, 1u << 3 | 3, "01000000");
    }
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(gcd_metadata_equality(m, GCD_TOKEN_TYPE + 2 + i, &text, &err), GCD_OK);
        if (strcmp(text, types[i].expected) != 0)
            fail_msg("%s: %s", types[i].name, text);
    }
    assert_int_equal(gcd_metadata_equality(m, GCD_TOKEN_TYPE + 99, &text, &err), GCD_E_ARG);
    close_image(in, m);
    pe_image_done(&p);
}

/* The last block has the lambda; a block and the 31 behind it are asked. */
#define BLOCKS 34u

static void test_blocks_are_limited(void **state)
{
    (void)state;
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    const char *text;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 1u, "Belt", "", 0u, 1u, 1u);
    for (unsigned i = 0; i < BLOCKS; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "<>c__DisplayClass2_%u", i);
        (void)pe_image_row(&p, 0x02, "4ss222", 3u, name, "", 0u, 1u, 1u + i);
        (void)pe_image_row(&p, 0x29, "22", i + 3, 2u);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        (void)pe_image_row(&p, 0x06, "422sb2", 0u, 0u, 0u, i + 1 < BLOCKS ? ".ctor" : "<Add>b__0",
                           "200002", 1u);
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_int_equal(gcd_metadata_lambda_method(m, GCD_TOKEN_TYPE + 3 + i, &text, &err),
                         GCD_OK);
        assert_string_equal(text, i < 2 ? "" : "Add");
    }
    close_image(in, m);
    pe_image_done(&p);
}

/* The variables of a block that only lambdas of blocks inside it use belong to their method; the
 * classes of another type, or of another method, do not tell. */
static void test_methods_of_lambdas(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned outer, methods; /* these begin here */
        const char *expected;
    } types[] = {
        { "Belt", 0, 1, "" }, /* 2 */
        { "Rack", 0, 1, "" },
        { "<>c__DisplayClass2_0", 2, 1, "Add" },
        { "<>c__DisplayClass2_1", 2, 2, "Add" },
        { "<>c__DisplayClass2_2", 2, 4, "" },
        { "<>c__DisplayClass2_0", 3, 5, "" },
        { "<>c__DisplayClass3_0", 3, 6, "Run" },
        { "<>c__DisplayClass4_0", 3, 7, "" },
    };
    static const char *const methods[] = {
        ".ctor", ".ctor", "<Add>b__1", ".ctor", ".ctor", "<Run>g__Next|0", "<A>b__0", "<B>b__1",
    };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    const char *text;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        (void)pe_image_row(&p, 0x02, "4ss222", types[i].outer == 0 ? 1u : 3u, types[i].name, "", 0u,
                           1u, types[i].methods);
        if (types[i].outer != 0)
            (void)pe_image_row(&p, 0x29, "22", (unsigned)i + 2, types[i].outer);
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        (void)pe_image_row(&p, 0x06, "422sb2", 0u, 0u, 0u, methods[i], "200002", 1u);
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(gcd_metadata_lambda_method(m, GCD_TOKEN_TYPE + 2 + i, &text, &err),
                         GCD_OK);
        if (strcmp(text, types[i].expected) != 0)
            fail_msg("%u %s: %s", i, types[i].name, text);
    }
    close_image(in, m);
    pe_image_done(&p);
}

/* ---- bad input ---- */

/* Queries the image until something fails. */
static gcd_status all_of(struct pe_image *p)
{
    struct gcd_input *in;
    struct gcd_metadata *m;
    struct tb_bytes text = { 0 };
    pe_image_close(p);
    gcd_status st = open_image(p, NULL, &in, &m);
    if (st == GCD_OK)
        st = metadata_text(m, &text, &err);
    assert_int_equal(st, st == GCD_OK ? GCD_OK : err.code);
    tb_free(&text);
    close_image(in, m);
    pe_image_done(p);
    return st;
}

static void test_types_in_a_circle(void **state)
{
    (void)state;
    struct pe_image p;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "A", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "B", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x29, "22", 1u, 2u);
    (void)pe_image_row(&p, 0x29, "22", 2u, 1u);
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    pe_image_init(&p); /* the same by references */
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 3, "A", "");
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "B", "", 1u << 2 | 1, 1u, 1u);
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
}

static void test_nested_without_an_outer_type(void **state)
{
    (void)state;
    struct pe_image p;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "A", "", 0u, 1u, 1u);
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
}

/* The row of another type takes its place. */
static void test_nested_without_a_row(void **state)
{
    (void)state;
    struct pe_image p;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "B", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "C", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x29, "22", 3u, 1u);
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
}

/* A search would miss rows: names would be wrong without any error. */
static void test_tables_that_are_not_sorted(void **state)
{
    (void)state;
    struct pe_image p;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "B", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x02, "4ss222", 2u, "C", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x29, "22", 3u, 1u);
    (void)pe_image_row(&p, 0x29, "22", 2u, 1u);
    assert_int_equal(all_of(&p), GCD_E_UNSUPPORTED);
}

static void test_fields_in_no_order(void **state)
{
    (void)state;
    struct pe_image p;
    for (unsigned second = 1; second <= 3; second++) {
        pe_image_init(&p);
        (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 2u, 1u);
        (void)pe_image_row(&p, 0x02, "4ss222", 0u, "B", "", 0u, second == 3 ? 9u : second, 1u);
        (void)pe_image_row(&p, 0x04, "2sb", 1u, "f", "0608");
        (void)pe_image_row(&p, 0x04, "2sb", 1u, "g", "0608");
        assert_int_equal(all_of(&p), second == 2 ? GCD_OK : GCD_E_FORMAT);
    }
}

static gcd_status with_signature(const char *hex)
{
    struct pe_image p;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x01, "2ss", 1u << 2 | 2, "List`1", "");
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x04, "2sb", 0x11u, "f", hex);
    return all_of(&p);
}

/* ECMA-335 II.23.1.16; a parameter that its class does not have has a number. */
static void test_types_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *signature, *type;
    } fields[] = {
        { "0601", "System.Void" },
        { "0602", "System.Boolean" },
        { "0603", "System.Char" },
        { "0604", "System.SByte" },
        { "0605", "System.Byte" },
        { "0606", "System.Int16" },
        { "0607", "System.UInt16" },
        { "0608", "System.Int32" },
        { "0609", "System.UInt32" },
        { "060a", "System.Int64" },
        { "060b", "System.UInt64" },
        { "060c", "System.Single" },
        { "060d", "System.Double" },
        { "060e", "System.String" },
        { "0616", "System.TypedReference" },
        { "0618", "System.IntPtr" },
        { "0619", "System.UIntPtr" },
        { "061c", "System.Object" },
        { "061305", "!5" },
        { "061e01", "!!1" },
        { "060f08", "System.Int32*" },
    };
    enum { FIELDS = sizeof fields / sizeof *fields };
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    struct gcd_static_field f = { 0 };
    const char *type = NULL;
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    for (size_t i = 0; i < FIELDS; i++)
        (void)pe_image_row(&p, 0x04, "2sb", 0x11u, "f", fields[i].signature);
    pe_image_close(&p);
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_OK);
    for (size_t i = 0; i < FIELDS; i++) {
        assert_int_equal(gcd_metadata_next_static(m, &f, &err), GCD_OK);
        assert_int_equal(gcd_metadata_field_type(m, &f, &type, &err), GCD_OK);
        assert_string_equal(type, fields[i].type);
    }
    close_image(in, m);
    pe_image_done(&p);
}

static void test_signatures(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "06",
                                       "0708",
                                       "0600",
                                       "0623",
                                       "061d",
                                       "0612",
                                       "061200",
                                       "061208",
                                       "0612ff",
                                       "06120f",
                                       "06150e0501",
                                       "06151205",
                                       "0615120500",
                                       "061512050208",
                                       "061512057f08",
                                       "0614080000",
                                       "061408210000",
                                       "06140801ff",
                                       "0614080105",
                                       "061b00ff",
                                       "061b",
                                       "061b0001",
                                       "0615",
                                       "061bdfffffff",
                                       "0613",
                                       "06ffff",
                                       "06151205021b0001010e" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(with_signature(bad[i]), GCD_E_FORMAT);
    struct pe_image p; /* the heap ends in the last one */
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "A", "", 0u, 1u, 1u);
    (void)pe_image_row(&p, 0x04, "2sb", 0x11u, "f", "0608");
    p.blobs.n--;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    assert_int_equal(with_signature("06151205010e"), GCD_OK);
    char deep[2 * 200 + 5] = "06";
    for (int n = 0; n < 40; n++) {
        (void)strcat(deep, "15120501");
        char whole[sizeof deep + 2];
        (void)snprintf(whole, sizeof whole, "%s08", deep);
        assert_int_equal(with_signature(whole), n < 32 ? GCD_OK : GCD_E_LIMIT);
    }
}

static void test_long_names(void **state)
{
    (void)state;
    static char name[4200];
    for (size_t n = 4095; n <= 4097; n++) {
        struct pe_image p;
        memset(name, 'x', n);
        name[n] = '\0';
        pe_image_init(&p);
        (void)pe_image_row(&p, 0x02, "4ss222", 0u, name, "", 0u, 1u, 1u);
        assert_int_equal(all_of(&p), n <= 4096 ? GCD_OK : GCD_E_LIMIT);
    }
    struct pe_image p; /* the heap ends before the name does */
    pe_image_init(&p);
    (void)pe_image_row(&p, 0x02, "4ss222", 0u, "cut", "", 0u, 1u, 1u);
    p.strings.n--;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
}

static void test_headers_that_lie(void **state)
{
    (void)state;
    struct pe_image p;
    pe_image_init(&p);
    p.extra_rows = 0x10000;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    pe_image_init(&p);
    p.extra_rows = 0xfffff000;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    pe_image_init(&p);
    p.sections = 97;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    pe_image_init(&p);
    p.sections = 0;
    assert_int_equal(all_of(&p), GCD_E_FORMAT);
    pe_image_init(&p);
    p.codeviews = 9;
    assert_int_equal(all_of(&p), GCD_E_LIMIT);
    pe_image_init(&p);
    p.codeviews = 65;
    assert_int_equal(all_of(&p), GCD_E_LIMIT);
    static const unsigned edited[] = { 0x03, 0x05, 0x07, 0x13, 0x16 }; /* edit and continue */
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        pe_image_init(&p);
        (void)pe_image_row(&p, edited[i], "2", 1u);
        assert_int_equal(all_of(&p), GCD_E_UNSUPPORTED);
    }
}

/* The metadata is one byte longer than its section. */
static void test_beyond_the_section(void **state)
{
    (void)state;
    struct pe_image p;
    struct gcd_input *in;
    struct gcd_metadata *m;
    shop_image(&p, false);
    p.out.p[0x200 + 12]++;
    assert_int_equal(open_image(&p, NULL, &in, &m), GCD_E_FORMAT);
    close_image(in, m);
    pe_image_done(&p);
}

/* Every prefix is refused or gives the same as the whole image. */
static void test_truncated(void **state)
{
    (void)state;
    struct pe_image p;
    shop_image(&p, false);
    size_t whole = p.out.n;
    for (p.out.n = 0; p.out.n < whole; p.out.n++) {
        struct gcd_input *in;
        struct gcd_metadata *m;
        struct tb_bytes text = { 0 };
        gcd_status st = open_image(&p, NULL, &in, &m);
        if (st == GCD_OK)
            st = metadata_text(m, &text, &err);
        if (p.out.n >= 64)
            assert_true(st == GCD_E_TRUNCATED || p.out.n >= whole - 40);
        if (st == GCD_OK)
            assert_memory_equal(text.p, shop_text, sizeof shop_text - 1);
        tb_free(&text);
        close_image(in, m);
    }
    pe_image_done(&p);
}

/* Nothing is leaked, and memory use does not depend on numbers in the image. */
static void test_changed_bytes(void **state)
{
    (void)state;
    struct pe_image p;
    shop_image(&p, true);
    for (size_t i = 0; i < p.out.n; i++)
        for (int change = 0; change < 4; change++) {
            static const uint8_t to[] = { 0x00, 0x7f, 0xff };
            struct gcd_input *in;
            struct gcd_metadata *m;
            struct tb_bytes text = { 0 };
            struct failalloc f;
            uint8_t before = p.out.p[i];
            failalloc_init(&f);
            p.out.p[i] = change < 3 ? to[change] : (uint8_t)(before + 1);
            gcd_status st = open_image(&p, &f.alloc, &in, &m);
            if (st == GCD_OK)
                st = metadata_text(m, &text, &err);
            assert_int_equal(st, st == GCD_OK ? GCD_OK : err.code);
            assert_true(f.peak_bytes < 600 * 1024);
            tb_free(&text);
            close_image(in, m);
            assert_null(failalloc_complaint(&f));
            p.out.p[i] = before;
        }
    pe_image_done(&p);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct pe_image p;
    struct failalloc f;
    shop_image(&p, false);
    for (uint64_t n = 1;; n++) {
        struct gcd_input *in;
        struct gcd_metadata *m;
        struct tb_bytes text = { 0 };
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = open_image(&p, &f.alloc, &in, &m);
        if (st == GCD_OK)
            st = metadata_text(m, &text, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        tb_free(&text);
        close_image(in, m);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    pe_image_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_it),
        cmocka_unit_test(test_fields_and_constants_of_a_type),
        cmocka_unit_test(test_limits_are_noted),
        cmocka_unit_test(test_equality_of_a_type),
        cmocka_unit_test(test_blocks_are_limited),
        cmocka_unit_test(test_methods_of_lambdas),
        cmocka_unit_test(test_an_image_inside_a_file),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_public_keys),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_three_generic_types),
        cmocka_unit_test(test_a_large_image),
        cmocka_unit_test(test_numbers_of_all_lengths),
        cmocka_unit_test(test_types_in_a_circle),
        cmocka_unit_test(test_nested_without_a_row),
        cmocka_unit_test(test_beyond_the_section),
        cmocka_unit_test(test_nested_without_an_outer_type),
        cmocka_unit_test(test_tables_that_are_not_sorted),
        cmocka_unit_test(test_fields_in_no_order),
        cmocka_unit_test(test_types_of_fields),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
