#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "layout/layout.h"
#include "support/failalloc.h"
#include "support/pe_image.h"

#define CLASS    0x100001u
#define VALUE    0x100109u /* sealed, sequential */
#define EXPLICIT 0x100011u
#define ABSTRACT 0x1000a1u /* an interface */

/* TypeDefOrRef of a row of definitions or references. */
#define DEF(row) ((row) << 2)
#define REF(row) ((row) << 2 | 1)

static struct gcd_error err;

/* ---- a program of two modules ---- */

enum { CORE, APP, MODULES };

struct program {
    struct pe_image image[MODULES];
    struct gcd_input *in[LAYOUT_OPEN_MAX];
    struct gcd_metadata *m[LAYOUT_OPEN_MAX];
    struct layout *l;
    unsigned gone; /* 1 << module: its file cannot be opened */
};

static gcd_status open_module(void *ctx, uint32_t module, unsigned place, struct gcd_metadata **ret,
                              struct gcd_error *e)
{
    struct program *p = ctx;
    const struct tb_bytes *b = &p->image[module].out;
    if ((p->gone >> module & 1) != 0)
        return gcd_fail(e, GCD_E_IO, "it is gone");
    assert_int_equal(gcd_input_from_memory(b->p, b->n, NULL, &p->in[place], e), GCD_OK);
    gcd_status st = gcd_metadata_open(p->in[place], 0, UINT64_MAX, NULL, &p->m[place], e);
    *ret = p->m[place];
    return st;
}

static void close_module(void *ctx, unsigned place)
{
    struct program *p = ctx;
    gcd_metadata_free(p->m[place]);
    gcd_input_free(p->in[place]);
}

static uint32_t add_type(struct pe_image *p, uint32_t flags, const char *name, uint32_t base)
{
    return pe_image_row(p, 0x02, "4ss2f2", flags, name, "System", base, p->row_count[4] + 1, 1u);
}

static void add_field(struct pe_image *p, const char *name, const char *signature)
{
    (void)pe_image_row(p, 0x04, "2sb", 1u, name, signature);
}

enum { OBJECT = 2, VALUE_TYPE, STRING, INT, DELEGATE, COMPARABLE, CORE_TYPES };

/* The types that all programs have. */
static void add_core(struct pe_image *p)
{
    (void)pe_image_row(p, 0x02, "4ss2f2", 0u, "<Module>", "", 0u, 1u, 1u);
    (void)add_type(p, CLASS, "Object", 0);
    (void)add_type(p, CLASS, "ValueType", DEF(OBJECT));
    (void)add_type(p, CLASS, "String", DEF(OBJECT));
    add_field(p, "_length", "0608");
    (void)add_type(p, VALUE, "Int32", DEF(VALUE_TYPE));
    add_field(p, "m_value", "0608");
    (void)add_type(p, CLASS, "MulticastDelegate", DEF(OBJECT));
    add_field(p, "_target", "061c");
    add_field(p, "_methodBase", "061c");
    add_field(p, "_invocationList", "061c");
    (void)add_type(p, ABSTRACT, "IComparable", 0);
    (void)pe_image_row(p, 0x09, "22", (unsigned)STRING, DEF(COMPARABLE));
}

static void begin_with(struct program *p, bool many_fields)
{
    *p = (struct program){ .l = NULL };
    for (unsigned i = 0; i < MODULES; i++)
        pe_image_init(&p->image[i]);
    if (many_fields) {
        pe_image_done(&p->image[CORE]);
        p->image[CORE] = (struct pe_image){ .sections = 1, .wide = true, .many_fields = true };
        pe_image_begin(&p->image[CORE]);
    }
    add_core(&p->image[CORE]);
    (void)pe_image_row(&p->image[APP], 0x23, "22224bssb", 8u, 0u, 0u, 0u, 0u, "",
                       "System.Private.CoreLib", "", "");
    (void)pe_image_row(&p->image[APP], 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(&p->image[APP], 0x01, "2ss", 1u << 2 | 2, "ValueType", "System");
    (void)pe_image_row(&p->image[APP], 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
}

static void begin(struct program *p)
{
    begin_with(p, false);
}

static void end(struct program *p)
{
    static const struct layout_module modules[] = { { "System.Private.CoreLib" }, { "App" } };
    struct layout_files files = { p, open_module, close_module };
    for (unsigned i = 0; i < MODULES; i++)
        pe_image_close(&p->image[i]);
    assert_int_equal(layout_new(NULL, &files, modules, MODULES, &p->l, &err), GCD_OK);
}

static void done(struct program *p)
{
    layout_free(p->l);
    for (unsigned i = 0; i < MODULES; i++)
        pe_image_done(&p->image[i]);
}

static uint32_t named(struct program *p, uint32_t module, uint32_t row, bool value)
{
    uint32_t type;
    struct layout_name name = { module, GCD_TOKEN_TYPE | row, value, { NULL, 0 } };
    assert_int_equal(layout_named(p->l, &name, &type, &err), GCD_OK);
    assert_int_equal(layout_find_slots(p->l, type, &err), GCD_OK);
    return type;
}

/* The description of TYPE without its first line; "?" = its references are unknown. */
static const char *slots_of(struct program *p, uint32_t type)
{
    const char *text;
    assert_int_equal(layout_describe(p->l, type, &text, &err), GCD_OK);
    if (text[0] == '\0' || text[1] == '?')
        return "?";
    return strchr(text, '\n') != NULL ? strchr(text, '\n') + 1 : "";
}

/* The names of fields of a class: of its base class first, then references, then values. */
static void test_order_of_fields(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *app = &p.image[APP], *core = &p.image[CORE];
    uint32_t inner = add_type(core, VALUE, "Inner", DEF(VALUE_TYPE)); /* 8 = DEF 0x20 */
    add_field(core, "Number", "0608");
    add_field(core, "Text", "060e");
    uint32_t base = add_type(core, CLASS, "Base", DEF(OBJECT));
    add_field(core, "_pair", "061120");
    add_field(core, "_name", "060e");
    (void)pe_image_row(app, 0x01, "2ss", 1u << 2 | 2, "Base", "System");
    (void)pe_image_row(app, 0x01, "2ss", 1u << 2 | 2, "Inner", "System");
    uint32_t derived = add_type(app, CLASS, "Derived", REF(3));
    add_field(app, "_value", "061111"); /* Inner, reference 4 */
    add_field(app, "_count", "0608");
    (void)pe_image_row(app, 0x04, "2sb", 0x11u, "s_static", "061c");
    add_field(app, "_object", "061c");
    add_field(app, "_array", "061d08");
    assert_int_equal(inner, CORE_TYPES);
    end(&p);
    uint32_t b = named(&p, CORE, base, false), d = named(&p, APP, derived, false);
    uint32_t string = named(&p, CORE, STRING, false);
    assert_string_equal(slots_of(&p, b), "3 _name\n3 _pair.Text");
    assert_string_equal(slots_of(&p, d),
                        "3 _name\n3 _pair.Text\n0 _object\n4 _array\n3 _value.Text");
    const char *text;
    assert_int_equal(layout_describe(p.l, string, &text, &err), GCD_OK);
    assert_string_equal(text, "o 3");
    done(&p);
}

/* What compilers of Visual Basic and F# make of names, if an attribute says that they have made it.
 */
static void names_that_an_attribute_tells(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *app = &p.image[APP];
    uint32_t generated = pe_image_row(app, 0x01, "2ss", 1u << 2 | 2, "CompilerGeneratedAttribute",
                                      "System.Runtime.CompilerServices");
    uint32_t constructor = pe_image_row(app, 0x0a, "2sb", generated << 3 | 1, ".ctor", "200001");
    static const char *const fields[] = { "_Title",   "_Mine",      "_lower",  "ClosedEvent",
                                          "OddEvent", "PlainEvent", "_Resolve" };
    uint32_t first = app->row_count[4] + 1, type = add_type(app, CLASS, "Form", REF(1));
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        add_field(app, fields[i], "061c");
        if (i != 1 && i != 5) /* _Mine and PlainEvent are in the source */
            (void)pe_image_row(app, 0x0c, "22b", (first + i) << 5 | 1, constructor << 3 | 3,
                               "01000000");
    }
    uint32_t nested = add_type(app, CLASS | 2, "Named", REF(1));
    add_field(app, "_name", "061c");
    (void)pe_image_row(app, 0x0c, "22b", (first + 7) << 5 | 1, constructor << 3 | 3, "01000000");
    (void)pe_image_row(app, 0x29, "22", nested, type);
    (void)pe_image_row(app, 0x12, "22", type, 1u);
    (void)pe_image_row(app, 0x14, "2s2", 0u, "Closed", 0u);
    (void)pe_image_row(app, 0x14, "2s2", 0u, "OddEvent", 0u); /* C# */
    (void)pe_image_row(app, 0x14, "2s2", 0u, "Plain", 0u);
    (void)pe_image_row(app, 0x14, "2s2", 0u, "_Resolve", 0u); /* C# */
    end(&p);
    assert_string_equal(
        slots_of(&p, named(&p, APP, type, false)),
        "0 Title\n0 _Mine\n0 _lower\n0 Closed\n0 OddEvent\n0 PlainEvent\n0 _Resolve");
    assert_string_equal(slots_of(&p, named(&p, APP, nested, false)), "0 name");
    done(&p);
}

/* Types that contain themselves, or a value that nobody has, are unknown, and all others known. */
static void test_impossible_types(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *core = &p.image[CORE];
    uint32_t loop = add_type(core, CLASS, "Loop", DEF(CORE_TYPES)); /* extends itself */
    uint32_t self = add_type(core, VALUE, "Self", DEF(VALUE_TYPE));
    add_field(core, "_self", "061124"); /* itself: definition 9 */
    add_field(core, "_text", "060e");
    (void)pe_image_row(core, 0x23, "22224bssb", 8u, 0u, 0u, 0u, 0u, "", "Missing", "", "");
    (void)pe_image_row(core, 0x01, "2ss", 1u << 2 | 2, "Missing", "Missing");
    uint32_t lacks = add_type(core, CLASS, "Lacks", DEF(OBJECT));
    add_field(core, "_text", "060e");
    add_field(core, "_value", "061105");
    uint32_t refers = add_type(core, CLASS, "Refers", DEF(OBJECT));
    add_field(core, "_class", "061205");
    add_field(core, "_text", "060e");
    assert_int_equal(self, 9);
    end(&p);
    uint32_t types[] = { named(&p, CORE, loop, false), named(&p, CORE, self, true),
                         named(&p, CORE, lacks, false), named(&p, CORE, refers, false) };
    assert_string_equal(slots_of(&p, types[0]), "?");
    assert_string_equal(slots_of(&p, types[1]), "?");
    assert_string_equal(slots_of(&p, types[2]), "?");
    assert_string_equal(slots_of(&p, types[3]), "0 _class\n3 _text");
    done(&p);
}

/* 06 15 11 TYPE 01 ARGUMENT: a field of a value with one type argument. */
static void add_generic_field(struct pe_image *p, const char *name, uint32_t type,
                              const char *argument)
{
    char signature[64];
    (void)snprintf(signature, sizeof signature, "061511%02x01%s", DEF(type), argument);
    add_field(p, name, signature);
}

/* Metadata that no program has.  The work ends, and a type beside such ones is known. */
static void test_hostile_types(void **state)
{
    (void)state;
    enum { LEVELS = 20, FIELDS = 100000 };
    struct program p;
    char name[32], signature[32], argument[32];
    begin_with(&p, true);
    struct pe_image *core = &p.image[CORE];
    uint32_t a = core->row_count[2] + 1; /* each extends the other */
    (void)add_type(core, CLASS, "A", DEF(a + 1));
    (void)add_type(core, CLASS, "B", DEF(a));
    uint32_t left = a + 2; /* each contains the other */
    (void)add_type(core, VALUE, "Left", DEF(VALUE_TYPE));
    (void)snprintf(signature, sizeof signature, "0611%02x", DEF(left + 1));
    add_field(core, "_right", signature);
    (void)add_type(core, VALUE, "Right", DEF(VALUE_TYPE));
    (void)snprintf(signature, sizeof signature, "0611%02x", DEF(left));
    add_field(core, "_left", signature);
    uint32_t grows = left + 2; /* Grows<T> contains a Grows<Grows<T>> */
    (void)add_type(core, VALUE, "Grows`1", DEF(VALUE_TYPE));
    (void)pe_image_row(core, 0x2a, "222s", 0u, 0u, grows << 1, "T");
    (void)snprintf(argument, sizeof argument, "1511%02x011300", DEF(grows));
    add_generic_field(core, "_more", grows, argument);
    uint32_t holds = add_type(core, CLASS, "Holds", DEF(OBJECT));
    add_generic_field(core, "_grows", grows, "0e");
    uint32_t twice = holds + 1; /* each level has two of the one before: 2^LEVELS slots */
    (void)add_type(core, VALUE, "Twice", DEF(VALUE_TYPE));
    add_field(core, "_text", "060e");
    for (unsigned i = 1; i <= LEVELS; i++) {
        (void)snprintf(name, sizeof name, "Twice%u", i);
        (void)add_type(core, VALUE, name, DEF(VALUE_TYPE));
        uint32_t coded = DEF(twice + i - 1);
        if (coded < 0x80)
            (void)snprintf(signature, sizeof signature, "0611%02x", coded);
        else
            (void)snprintf(signature, sizeof signature, "0611%04x", 0x8000 | coded);
        add_field(core, "_one", signature);
        add_field(core, "_two", signature);
    }
    uint32_t wide = add_type(core, CLASS, "Wide", DEF(OBJECT));
    for (unsigned i = 0; i < FIELDS; i++)
        add_field(core, "_", "060e");
    uint32_t plain = add_type(core, CLASS, "Plain", DEF(OBJECT));
    add_field(core, "_text", "060e");
    end(&p);
    assert_string_equal(slots_of(&p, named(&p, CORE, a, false)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, a + 1, false)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, left, true)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, left + 1, true)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, holds, false)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, twice + LEVELS, true)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, wide, false)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, twice + 1, true)),
                        "3 _one._text\n3 _two._text");
    assert_string_equal(slots_of(&p, named(&p, CORE, plain, false)), "3 _text");
    done(&p);
}

/* Explicit layouts: by offset; two fields at one offset have no name. */
static void test_explicit_layout(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *core = &p.image[CORE];
    uint32_t order = add_type(core, EXPLICIT, "Order", DEF(OBJECT));
    uint32_t first = core->row_count[4] + 1;
    add_field(core, "late", "060e");
    add_field(core, "early", "061c");
    uint32_t overlap = add_type(core, EXPLICIT, "Overlap", DEF(OBJECT));
    add_field(core, "one", "060e");
    add_field(core, "other", "061c");
    const unsigned offsets[] = { 8, 0, 0, 0 };
    for (unsigned i = 0; i < 4; i++)
        (void)pe_image_row(core, 0x10, "42", offsets[i], first + i);
    end(&p);
    uint32_t types[] = { named(&p, CORE, order, false), named(&p, CORE, overlap, false) };
    assert_string_equal(slots_of(&p, types[0]), "0 early\n3 late");
    assert_string_equal(slots_of(&p, types[1]), "?");
    done(&p);
}

/* An inline array has its one field several times: a reference, or those of a value. */
static void test_inline_arrays(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *app = &p.image[APP];
    uint32_t attribute = pe_image_row(app, 0x01, "2ss", 1u << 2 | 2, "InlineArrayAttribute",
                                      "System.Runtime.CompilerServices");
    uint32_t constructor = pe_image_row(app, 0x0a, "2sb", attribute << 3 | 1, ".ctor", "20010108");
    uint32_t pair = add_type(app, VALUE, "Pair", REF(2));
    add_field(app, "Number", "0608");
    add_field(app, "Left", "060e");
    add_field(app, "Right", "061c");
    static const char *const elements[] = { "060e", "061108", "0608" };
    uint32_t arrays[3];
    assert_int_equal(DEF(pair), 8);
    for (unsigned i = 0; i < 3; i++) {
        arrays[i] = add_type(app, VALUE, i == 0 ? "Texts" : i == 1 ? "Pairs" : "Numbers", REF(2));
        add_field(app, "_element", elements[i]);
        (void)pe_image_row(app, 0x0c, "22b", arrays[i] << 5 | 3, constructor << 3 | 3,
                           "0100020000000000");
    }
    end(&p);
    assert_string_equal(slots_of(&p, named(&p, APP, arrays[0], true)), "3 [0]\n3 [1]");
    assert_string_equal(slots_of(&p, named(&p, APP, arrays[1], true)),
                        "3 [0].Left\n0 [0].Right\n3 [1].Left\n0 [1].Right");
    assert_string_equal(slots_of(&p, named(&p, APP, arrays[2], true)), "");
    done(&p);
}

/* A signature names a class by a row that no class can have: the field is one reference to
 * something unknown; a value is unknown. */
static void test_impossible_classes(void **state)
{
    (void)state;
    static const char *const codes[] = { "06", "07", "00", "01" }; /* a specification, nothing */
    struct program p;
    uint32_t classes[4], values[4];
    char signature[16];
    begin(&p);
    struct pe_image *core = &p.image[CORE];
    for (unsigned i = 0; i < 4; i++) {
        classes[i] = add_type(core, CLASS,
                              i == 0   ? "C0"
                              : i == 1 ? "C1"
                              : i == 2 ? "C2"
                                       : "C3",
                              DEF(OBJECT));
        (void)snprintf(signature, sizeof signature, "0612%s", codes[i]);
        add_field(core, "_text", "060e");
        add_field(core, "_class", signature);
        values[i] = add_type(core, CLASS,
                             i == 0   ? "V0"
                             : i == 1 ? "V1"
                             : i == 2 ? "V2"
                                      : "V3",
                             DEF(OBJECT));
        (void)snprintf(signature, sizeof signature, "0611%s", codes[i]);
        add_field(core, "_text", "060e");
        add_field(core, "_value", signature);
    }
    end(&p);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(slots_of(&p, named(&p, CORE, classes[i], false)), "3 _text\n0 _class");
        assert_string_equal(slots_of(&p, named(&p, CORE, values[i], false)), "?");
    }
    done(&p);
}

/* A file that can no longer be opened: what is in it is unknown, all else is not. */
static void test_a_file_that_is_gone(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *app = &p.image[APP];
    uint32_t own = add_type(app, CLASS, "Own", REF(1));
    add_field(app, "_text", "060e");
    uint32_t plain = add_type(&p.image[CORE], CLASS, "Plain", DEF(OBJECT));
    add_field(&p.image[CORE], "_text", "060e");
    end(&p);
    p.gone = 1u << APP;
    assert_string_equal(slots_of(&p, named(&p, APP, own, false)), "?");
    assert_string_equal(slots_of(&p, named(&p, CORE, plain, false)), "3 _text");
    done(&p);
    begin(&p);
    own = add_type(&p.image[APP], CLASS, "Own", REF(1));
    add_field(&p.image[APP], "_text", "060e");
    p.gone = 1u << CORE;
    end(&p);
    assert_string_equal(slots_of(&p, named(&p, APP, own, false)), "?");
    done(&p);
}

/* A delegate's method and list have keys of their own. */
static void test_delegates(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    uint32_t action = add_type(&p.image[CORE], CLASS, "Action", DEF(DELEGATE));
    end(&p);
    uint32_t type = named(&p, CORE, action, false);
    assert_string_equal(slots_of(&p, type), "0 _target\n1 _methodBase\n2 _invocationList");
    done(&p);
}

/* What can be in which field: base classes, interfaces, arrays of both. */
static void test_kinds(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *core = &p.image[CORE];
    uint32_t box = add_type(core, CLASS, "Box", DEF(OBJECT));
    add_field(core, "String", "060e");          /* 3 */
    add_field(core, "Comparable", "06121c");    /* 4 */
    add_field(core, "Strings", "061d0e");       /* 5 */
    add_field(core, "Comparables", "061d121c"); /* 6 */
    add_field(core, "Objects", "061d1c");       /* 7 */
    add_field(core, "Numbers", "061d08");       /* 8 */
    add_field(core, "Box", "061220");           /* 9: itself, definition 8 */
    end(&p);
    uint32_t types[5] = { named(&p, CORE, STRING, false), named(&p, CORE, box, false) };
    uint32_t plain;
    assert_int_equal(layout_array(p.l, types[0], 0, &types[2], &err), GCD_OK);
    assert_int_equal(layout_plain(p.l, 9, &plain, &err), GCD_OK); /* uint */
    assert_int_equal(layout_array(p.l, plain, 0, &types[3], &err), GCD_OK);
    assert_int_equal(layout_array(p.l, types[0], 2, &types[4], &err), GCD_OK);
    static const char *const expected[] = { "o 3,4", "o 9\n", "v 5,6,7\n0 ", "v 8", "m \n0 " };
    for (unsigned i = 0; i < 5; i++) {
        const char *text;
        assert_int_equal(layout_describe(p.l, types[i], &text, &err), GCD_OK);
        assert_int_equal(strncmp(text, expected[i], strlen(expected[i])), 0);
    }
    done(&p);
}

/* The layout of class ROW of the program's first module, described. */
static gcd_status lay_out(struct program *p, const struct gcd_alloc *a, uint32_t row)
{
    static const struct layout_module modules[] = { { "System.Private.CoreLib" }, { "App" } };
    struct layout_files files = { p, open_module, close_module };
    struct layout_name name = { CORE, GCD_TOKEN_TYPE | row, false, { NULL, 0 } };
    uint32_t type;
    const char *text;
    p->l = NULL;
    gcd_status st = layout_new(a, &files, modules, MODULES, &p->l, &err);
    if (st == GCD_OK)
        st = layout_named(p->l, &name, &type, &err);
    if (st == GCD_OK)
        st = layout_find_slots(p->l, type, &err);
    if (st == GCD_OK)
        st = layout_describe(p->l, type, &text, &err);
    if (st == GCD_OK)
        assert_string_equal(strchr(text, '\n') + 1,
                            row == CORE_TYPES ? "3 _text" : "0 early\n3 late");
    layout_free(p->l);
    return st;
}

/* Without memory, no layout is wrong: there is an error. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    struct pe_image *core = &p.image[CORE];
    (void)add_type(core, CLASS, "Plain", DEF(OBJECT));
    add_field(core, "_text", "060e");
    uint32_t explicit = add_type(core, EXPLICIT, "Order", DEF(OBJECT));
    uint32_t first = core->row_count[4] + 1;
    add_field(core, "late", "060e");
    add_field(core, "early", "061c");
    (void)pe_image_row(core, 0x10, "42", 8u, first);
    (void)pe_image_row(core, 0x10, "42", 0u, first + 1);
    for (unsigned i = 0; i < MODULES; i++)
        pe_image_close(&p.image[i]);
    for (uint32_t row = CORE_TYPES; row <= explicit; row++) {
        struct failalloc f;
        failalloc_init(&f);
        for (f.fail_at = 1;; f.fail_at++) {
            f.calls = f.failed = 0;
            gcd_status st = lay_out(&p, &f.alloc, row);
            assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
        assert_true(f.fail_at > 8);
    }
    p.l = NULL;
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_fields),
        cmocka_unit_test(test_impossible_types),
        cmocka_unit_test(test_hostile_types),
        cmocka_unit_test(test_explicit_layout),
        cmocka_unit_test(test_inline_arrays),
        cmocka_unit_test(test_impossible_classes),
        cmocka_unit_test(test_a_file_that_is_gone),
        cmocka_unit_test(test_delegates),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(names_that_an_attribute_tells),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
