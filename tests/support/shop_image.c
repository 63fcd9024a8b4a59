#include "support/shop_image.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#define METHODS_MAX  256u
#define ENOUGH_BYTES ((size_t)1 << 20) /* a small image can have many long names */

/* A type nested in the type of this row; not all compilers add the arity marks. */
static void type(struct pe_image *p, const char *space, const char *name, unsigned extends,
                 uint32_t nested_in, unsigned fields)
{
    uint32_t row = pe_image_row(p, 0x02, "4ss222", nested_in != 0 ? 0x100002u : 0x100001u, name,
                                space, extends, fields, 1u);
    if (nested_in != 0)
        (void)pe_image_row(p, 0x29, "22", row, nested_in);
}

static void parameters(struct pe_image *p, unsigned row, unsigned n, const char *const *names)
{
    for (unsigned i = 0; i < n; i++)
        (void)pe_image_row(p, 0x2a, "222s", i, 0u, row << 1, names[i]);
}

/* Field signatures; test_metadata.c has the expected spelling of each. */
static void fields(struct pe_image *p)
{
    static const struct {
        unsigned flags;
        const char *name, *signature;
    } list[] = {
        /* 1: an array of entries */
        { 0x11, "s_entries",
          "06"
          "1d"
          "15"
          "11"
          "0c"
          "02"
          "0e"
          "1c" },
        { 0x01, "instance", "0608" },
        { 0x51, "Constant", "0608" },
        /* 4: of Box: its own parameter */
        { 0x11, "s_slot",
          "0613"
          "00" },
        { 0x11, "s_cells",
          "06"
          "1d"
          "14"
          "08"
          "02"
          "00"
          "00" }, /* int[][,] */
        { 0x11, "s_list",
          "06"
          "15"
          "12"
          "0d"
          "01"
          "15"
          "12"
          "14"
          "03"
          "08"
          "1d0e"
          "1c" },
        { 0x11, "s_pointer",
          "06"
          "1b"
          "00"
          "02"
          "01"
          "0e"
          "1d08" }, /* a function pointer */
        { 0x11, "s_bytes",
          "06"
          "0f"
          "05" },
        { 0x11, "t_current",
          "06"
          "12"
          "1c" },
        { 0x11, "s_vector",
          "06"
          "1f"
          "05"
          "14"
          "0e"
          "01"
          "01"
          "03"
          "01"
          "00" },
        /* 11: of the type of an event */
        { 0x01, "_other",
          "06"
          "12"
          "09" },
        { 0x01, "_number",
          "06"
          "08" },
        { 0x01, "_list",
          "06"
          "15"
          "12"
          "0d"
          "01"
          "0e" },
        { 0x01, "Changed",
          "06"
          "12"
          "09" },
        { 0x11, "Closed",
          "06"
          "12"
          "09" }, /* static */
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        (void)pe_image_row(p, 0x04, "2sb", list[i].flags, list[i].name, list[i].signature);
}

void shop_image(struct pe_image *p, bool wide)
{
    pe_image_init(p);
    if (wide) {
        pe_image_done(p);
        *p = (struct pe_image){ .codeviews = 2, .sections = 1, .wide = true, .pe32 = true };
        pe_image_begin(p);
    }
    /* references: 1 object, 2 ThreadStaticAttribute, 3 List`1, 4 a type nested in it */
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "ThreadStaticAttribute", "System");
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "List`1", "System.Collections.Generic");
    (void)pe_image_row(p, 0x01, "2ss", 3u << 2 | 3, "Enumerator", "");
    type(p, "", "<Module>", 0, 0, 1);
    type(p, "Shop", "Dictionary`2", 1 << 2 | 1, 0, 1); /* 2; coded 08 */
    type(p, "", "Entry", 1 << 2 | 1, 2, 2);
    type(p, "Shop", "Box`1", 1 << 2 | 1, 0, 4); /* 4 */
    type(p, "", "Inner`2", 1 << 2 | 1, 4, 5);   /* 5; coded 14 */
    type(p, "", "<>c__DisplayClass13_0", 5 << 2 | 0, 5, 9);
    type(p, "Shop", "Caf\xc3\xa9", 1 << 2 | 2, 0, 9); /* 7; coded 1c */
    /* 8: a parameter without a mark */
    type(p, "Shop", "Unmarked", 0, 0, 11);
    /* 9: a mark without parameters */
    type(p, "Shop", "Odd`3", 0, 0, 11);
    fields(p);
    (void)pe_image_row(p, 0x09, "22", 7u, 1u << 2 | 2);
    (void)pe_image_row(p, 0x09, "22", 7u, 4u << 2 | 1);
    (void)pe_image_row(p, 0x0a, "2sb", 2u << 3 | 1, ".ctor", "20000001");
    (void)pe_image_row(p, 0x0c, "22b", 9u << 5 | 1, 1u << 3 | 3, "01000000");
    (void)pe_image_row(p, 0x12, "22", 9u, 1u);
    (void)pe_image_row(p, 0x14, "2s2", 0u, "Closed", 1u << 2 | 1);
    (void)pe_image_row(p, 0x14, "2s2", 0u, "Changed", 1u << 2 | 1);
    (void)pe_image_row(p, 0x14, "2s2", 0u, "Elsewhere", 1u << 2 | 1); /* it has no field */
    (void)pe_image_row(p, 0x1b, "b", "15120d01121c");                 /* List<Café> */
    (void)pe_image_row(p, 0x20, "422224bss", 0x8004u, 1u, 2u, 3u, 4u, 1u,
                       "00000000000000000400000000000000", "Test", "");
    (void)pe_image_row(p, 0x23, "22224bssb", 8u, 0u, 0u, 0u, 0u, "b03f5f7f11d50a3a",
                       "System.Runtime", "", "");
    parameters(p, 2, 2, (const char *const[]){ "TKey", "TValue" });
    parameters(p, 3, 2, (const char *const[]){ "TKey", "TValue" });
    parameters(p, 4, 1, (const char *const[]){ "T" });
    parameters(p, 5, 3, (const char *const[]){ "T", "A", "B" });
    parameters(p, 6, 3, (const char *const[]){ "T", "A", "B" });
    parameters(p, 8, 1, (const char *const[]){ "U" });
    pe_image_close(p);
}

static void put(struct tb_bytes *b, const char *s)
{
    tb_put(b, s, strlen(s));
}

static void put_number(struct tb_bytes *b, const char *before, unsigned n, const char *after)
{
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%u", n);
    put(b, before);
    put(b, digits);
    put(b, after);
}

static gcd_status put_name(struct gcd_metadata *m, uint32_t token, struct tb_bytes *ret,
                           struct gcd_error *err)
{
    const char *name = "";
    gcd_status st = gcd_metadata_name(m, token, NULL, 0, &name, err);
    put(ret, name);
    return st;
}

static gcd_status type_text(struct gcd_metadata *m, uint32_t token, struct tb_bytes *ret,
                            struct gcd_error *err)
{
    struct gcd_type_definition d = { 0 };
    gcd_status st = gcd_metadata_type(m, token, &d, err);
    put_number(ret, "", token & 0xffffff, " ");
    if (st == GCD_OK)
        st = put_name(m, token, ret, err);
    if (st == GCD_OK && d.base != 0) {
        put_number(ret, " (", d.parameters, ") : ");
        st = put_name(m, d.base, ret, err);
    }
    for (uint32_t i = 0; st == GCD_OK && i < d.interfaces; i++) {
        uint32_t interface = 0;
        put_number(ret, ", ", i, " ");
        st = gcd_metadata_interface(m, token, i, &interface, err);
        if (st == GCD_OK)
            st = put_name(m, interface, ret, err);
    }
    const char *events = "", *method = "";
    if (st == GCD_OK && (st = gcd_metadata_lambda_method(m, token, &method, err)) == GCD_OK)
        put(ret, method);
    if (st == GCD_OK && (st = gcd_metadata_delegates(m, token, &method, err)) == GCD_OK)
        put(ret, method);
    if (st == GCD_OK && (st = gcd_metadata_equality(m, token, &method, err)) == GCD_OK)
        put(ret, method);
    if (st == GCD_OK && (st = gcd_metadata_events(m, token, &events, err)) == GCD_OK &&
        events[0] != '\0') {
        put(ret, " has ");
        put(ret, events);
    }
    put(ret, "\n");
    return st;
}

gcd_status metadata_text(struct gcd_metadata *m, struct tb_bytes *ret, struct gcd_error *err)
{
    struct gcd_static_field f = { 0 };
    gcd_status st = GCD_OK;
    for (uint32_t i = 1; st == GCD_OK && i <= gcd_metadata_type_count(m) && ret->n < ENOUGH_BYTES;
         i++)
        st = type_text(m, GCD_TOKEN_TYPE + i, ret, err);
    while (st == GCD_OK && ret->n < ENOUGH_BYTES &&
           (st = gcd_metadata_next_static(m, &f, err)) == GCD_OK) {
        const char *declared = "";
        put_number(ret, "", f.class_token & 0xffffff, " ");
        put(ret, f.name);
        put_number(ret, f.thread_static ? " thread " : " ", f.flags, " ");
        st = gcd_metadata_field_type(m, &f, &declared, err);
        put(ret, declared);
        put(ret, "\n");
    }
    for (uint32_t row = 1; (st == GCD_OK || st == GCD_END) && row <= METHODS_MAX; row++) {
        const char *name = "";
        uint32_t type = 0;
        st = gcd_metadata_method_name(m, GCD_TOKEN_METHOD + row, &type, &name, err);
        if (st == GCD_E_ARG) /* a row that belongs to no type, or the end */
            return GCD_OK;
        if (st != GCD_OK)
            return st;
        put_number(ret, "", type & 0xffffff, " calls ");
        put(ret, name);
        put(ret, "\n");
    }
    return st == GCD_END ? GCD_OK : st;
}
