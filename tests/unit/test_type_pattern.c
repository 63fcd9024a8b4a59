/* Which types a pattern means: all spellings of their names, modules, suffixes for equal names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/type_names.h>

#include "output/name_variants.h"
#include "output/type_pattern.h"
#include "support/check.h"
#include "support/run.h"

static gcd_cancel_flag canceled;
static struct gcd_error err = GCD_ERROR_INIT;

/* ---- variants ---- */

static bool has_variant(const char *text, const char *wanted)
{
    struct cli_variants v;
    bool found = false;
    assert_true(cli_variants_of(text, strlen(text), &v));
    assert_in_range(v.n, 1, CLI_VARIANTS_MAX);
    assert_string_equal(v.text[0], text);
    for (size_t i = 0; i < v.n; i++)
        found = found || strcmp(v.text[i], wanted) == 0;
    cli_variants_done(&v);
    return found;
}

static void test_variants(void **state)
{
    static const char *const pairs[][2] = {
        { "Shop.Tables+Entry", "Shop.Tables.Entry" },
        { "Shop.Tables+*", "Shop.Tables.*" },
        { "Shop.Box<A,B>+Node", "Shop.Box<A, B>.Node" },
        { "A.B\\+C+D", "A.B\\+C.D" },
        { "Item[,]", "Item[,]" },
        { "string", "System.String" },
        { "object", "System.Object" },
        { "bool", "System.Boolean" },
        { "byte", "System.Byte" },
        { "sbyte", "System.SByte" },
        { "char", "System.Char" },
        { "decimal", "System.Decimal" },
        { "double", "System.Double" },
        { "float", "System.Single" },
        { "int", "System.Int32" },
        { "uint", "System.UInt32" },
        { "nint", "System.IntPtr" },
        { "nuint", "System.UIntPtr" },
        { "long", "System.Int64" },
        { "ulong", "System.UInt64" },
        { "short", "System.Int16" },
        { "ushort", "System.UInt16" },
        { "byte[]", "System.Byte[]" },
        { "int[,][]", "System.Int32[,][]" },
        { "int?[]", "System.Nullable<System.Int32>[]" },
        { "string?[]", "System.String[]" },
        { "int?", "System.Nullable<System.Int32>" },
        { "List<string>", "List<System.String>" },
        { "*.List<int>", "*.List<System.Int32>" },
        { "A.Map<string,int?[]>", "A.Map<System.String, System.Nullable<System.Int32>[]>" },
        { "A.Map<int,*>", "A.Map<System.Int32, *>" },
        { "string [mscorlib]", "System.String [mscorlib]" },
        { "N.Map`2[string,Shop.Item]", "N.Map<System.String, Shop.Item>" },
        { "N.Map`2+Entry[string,A+B][]", "N.Map<System.String, A.B>.Entry[]" },
        { "Entry[System.Int32,*][]", "Entry<System.Int32, *>[]" },
        { "*.List`1[*]", "*.List<*>" },
        { "N.Sack`1[System.Int?2]", "N.Sack<System.Int?2>" },
        { "N.Map`2", "N.Map<,>" },
        { "A.Item[,][]", "A.Item[][,]" },
        { "Entry[A[*],B]", "Entry<A[*], B>" },
        { "A\\u003cB\\u003e\\u0027\\ud83d\\ude00\\n", "A<B>'\xf0\x9f\x98\x80\n" },
        { "A\\\\+B\\\"", "A\\+B\"" },
        { "A\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac" },
        { "'=A\"\"B", "=A\"B" },
        { "Very.Long...", "Very.Long*" },
        { "A\xef\xbf\xbd"
          "B",
          "A?B" },
    };
    static const char *const none[][2] = {
        { "Shop.int", "Shop.System.Int32" },
        { "interval", "System.Int32erval" },
        { "string*", "System.String*" },
        { "int2", "System.Int322" },
        { "*[*]", "*<*>" },
        { "*[Shop]", "*<Shop>" },
        { "A[*]", "A<*>" },
        { "<>c [Shop]", "<>c<Shop>" },
        { "int?x", "System.Nullable<System.Int32>x" },
        { "A\\ud83dB", "A\xf0\x9f\x90\x80"
                       "B" },
        { "A\\u0000B", "A" },
        { "...", "*" },
        { "'", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!has_variant(pairs[i][0], pairs[i][1]))
            fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (has_variant(none[i][0], none[i][1]))
            fail_msg("%s is %s", none[i][0], none[i][1]);
}

static void test_csharp(void **state)
{
    char text[16];
    (void)state;
    assert_int_equal(gcd_name_csharp("List`1[A,B]", true, text, 10), GCD_E_LIMIT);
    assert_int_equal(gcd_name_csharp("List`1[A,B]", true, text, 11), GCD_OK);
    assert_string_equal(text, "List<A, B>");
    assert_int_equal(gcd_name_csharp("A[][,]", true, text, sizeof text), GCD_OK);
    assert_string_equal(text, "A[,][]");
    assert_int_equal(gcd_name_csharp("A[][,]", false, text, sizeof text), GCD_OK);
    assert_string_equal(text, "A[][,]");
    assert_int_equal(gcd_name_csharp("", true, text, sizeof text), GCD_OK);
    assert_string_equal(text, "");
}

/* ---- types ---- */

#define TYPE(name_, raw_, module_, number_, token_)                                                \
    {                                                                                              \
        .name = (name_), .raw_name = (raw_), .module_path = (module_), .module_number = (number_), \
        .name_token = (token_), .element_type = 0x12, .described = true, .named = true,            \
        .objects = 1                                                                               \
    }
#define SHOP "/app/Shop.dll"
#define CORE "C:\\net\\System.Private.CoreLib.dll"

static const struct gcd_module modules[] = {
    { .path = SHOP, .assembly = "Contoso.Shop" },
    { .path = CORE, .assembly = "System.Private.CoreLib" },
    { .path = "", .assembly = "Made.Up" },
};
static const struct gcd_type some[] = {
    TYPE("System.Collections.Generic.Dictionary`2+Entry[System.String,Shop.Item][]",
         "Entry[System.String,Shop.Item][]", CORE, 1, 1),
    TYPE("Shop.Orders+<>c", "<>c", SHOP, 0, 0x02000005),
    TYPE("Shop.Items+<>c", "<>c", SHOP, 0, 0x02000007),
    TYPE("<>c", "<>c", SHOP, 0, 0x02000009),
    TYPE("<>c", "<>c", SHOP, 0, 0x0200000b),
    TYPE("<>c", "<>c", "Made.Up", 2, 0x02000003),
    TYPE("System.String", "System.String", CORE, 1, 9),
    TYPE("Shop.Tables+Entry", "Entry", SHOP, 0, 0x0200000c),
    TYPE("System.Nullable`1[System.Int32][]", "System.Nullable`1[System.Int32][]", CORE, 1, 10),
    TYPE("<A b>d__0[X,Y]", "<A b>d__0[X,Y]", "", GCD_MODULE_NONE, 0),
    TYPE("Stra\xc3\x9f"
         "e;x\ny",
         "Stra\xc3\x9f"
         "e;x\ny",
         "", GCD_MODULE_NONE, 0),
    TYPE("Told.Apart [Shop 0x02000001]", "Told.Apart [Shop 0x02000001]", "", GCD_MODULE_NONE, 0),
    { .id = 0xabc,
      .name = "Type(0xabc)",
      .raw_name = "Type(0xabc)",
      .module_path = "",
      .module_number = GCD_MODULE_NONE,
      .objects = 1 },
    TYPE("Odd.\\u0041", "Odd.\\u0041", "", GCD_MODULE_NONE, 0),
};
#define SOME (sizeof some / sizeof *some)

static struct gcd_summary summary_of(const struct gcd_type *types, uint32_t count)
{
    return (struct gcd_summary){ .types = types,
                                 .type_count = count,
                                 .modules = modules,
                                 .module_count = sizeof modules / sizeof *modules };
}

/* The numbers of the types of S that TEXT means, as "1 2 3". */
static const char *chosen(const char *text, bool loose, const struct gcd_summary *s,
                          const struct gcd_names *shown, const struct gcd_names *csharp)
{
    static char out[4096];
    static uint8_t found[1 << 16];
    struct cli_type_pattern *p;
    const char *wrong = cli_type_pattern_new(text, &p);
    if (wrong != NULL)
        return wrong;
    assert_non_null(p);
    assert_true(s->type_count <= sizeof found);
    assert_int_equal(cli_type_pattern_select(p, &(struct cli_type_names){ s, shown, csharp }, loose,
                                             &canceled, found),
                     CLI_MATCH);
    cli_type_pattern_free(p);
    out[0] = '\0';
    for (uint32_t i = 0; i < s->type_count && strlen(out) < sizeof out - 16; i++)
        if (found[i])
            (void)snprintf(out + strlen(out), 16, "%s%u", out[0] != '\0' ? " " : "", i);
    return out;
}

static const char *meant(const char *text, const struct gcd_summary *s,
                         const struct gcd_names *shown, const struct gcd_names *csharp)
{
    return chosen(text, false, s, shown, csharp);
}

static void test_types(void **state)
{
    static const char *const cases[][2] = {
        { "System.Collections.Generic.Dictionary<System.String, Shop.Item>.Entry[]", "0" },
        { "Entry<System.String, Shop.Item>[]", "0" },
        { "System.Collections.Generic.Dictionary<string,Shop.Item>+Entry[]", "0" },
        { "Entry[System.String,Shop.Item][]", "0" },
        { "System.Collections.Generic.Dictionary`2+Entry[System.String,Shop.Item][]", "0" },
        { "*Dictionary`2*", "0" },
        { "/^Entry</", "0" },
        { "/Dictionary`2/", "0" },
        { "/`/", "0 8" },
        { "*]", "0 3 4 5 8 11" },
        { "<>c", "1 2 3 4 5" },
        { "Shop.*", "1 2 7" },
        { "Shop.Orders+<>c", "1" },
        { "Shop.Orders.<>c", "1" },
        { "Shop.Tables+*", "7" },
        { "Entry", "7" },
        { "Tables.Entry", "" },
        { "*.Entry", "7" },
        { "<>c [Shop]", "1 2 3 4" },
        { "<>c [Shop 0x02000005]", "1" },
        { "<>c [Shop 0x02000009]", "3" },
        { "<>c [Made.Up]", "5" },
        { "<>c [Shop.dll]", "1 2 3 4" },
        { "<>c [Contoso.*]", "1 2 3 4" },
        { "Shop.Orders+<>c [Shop]", "1" },
        { "Shop.Orders.<>c [Made.Up]", "" },
        { "* [Shop*", "3 4 11" },
        { "* [Shop]", "" },
        { "<>c[Shop0x02000009]", "3" },
        { "string", "6" },
        { "string [System.Private.CoreLib]", "6" },
        { "int?[]", "8" },
        { "System.Nullable<int>[]", "8" },
        { "<A b>d__0<X, Y>", "9" },
        { "<Ab>d__0<X,Y>", "9" },
        { "<A b>d__0[X,Y]", "9" },
        { "Stra?e;x\ny", "10" },
        { "Stra??e;x\ny", "10" },
        { "Stra\xc3\x9f"
          "e:x_y",
          "10" },
        { "Stra\\u00dfe;x\\ny", "10" },
        { "Stra...", "10" },
        { "UNKNOWN 0xabc", "12" },
        { "Type(0xabc)", "12" },
        { "Told.Apart", "11" },
        { "Told.Apart [Shop 0x02000001]", "11" },
        { "*.Apart", "11" },
        { "module(Shop)", "1 2 3 4 7" },
        { "module( Shop.dll )", "1 2 3 4 7" },
        { "module(/app/*)", "1 2 3 4 7" },
        { "module(Contoso.Shop)", "1 2 3 4 7" },
        { "module(/^Sys/)", "0 6 8" },
        { "module(System.Private.CoreLib)", "0 6 8" },
        { "module(C:\\net\\*)", "0 6 8" },
        { "module(Made.Up)", "5" },
        { "module((unknown))", "9 10 11 12 13" },
        { "Odd.\\u0041", "13" }, /* as it is, although this is also how JSON writes another name */
        { "module(shop)", "" },
        { "module(Sho)", "" },
        { "module(Shop", "module( takes a pattern for modules and a \")\"" },
        { "module()", "module( takes a pattern for modules and a \")\"" },
        { "module(", "module( takes a pattern for modules and a \")\"" },
    };
    struct gcd_summary s = summary_of(some, SOME);
    struct gcd_names *n;
    (void)state;
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(meant(cases[i][0], &s, n, n), cases[i][1]) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i][0], meant(cases[i][0], &s, n, n),
                     cases[i][1]);
    assert_string_equal(gcd_names_runtime(n, 1), "<>c");
    assert_string_equal(gcd_names_plain(n, 1), "Shop.Orders.<>c");
    assert_string_equal(gcd_names_runtime(n, 12), "UNKNOWN 0xabc");
    gcd_names_free(n);
}

/* A name that only the recording has, which would be another pattern; the method of a state machine
 * with and without "async"; a nested generic type as the runtime calls it. */
static void test_other_names(void **state)
{
    static const struct gcd_type types[] = {
        TYPE("Even.Odd", "Odd.\\u0042", "", GCD_MODULE_NONE, 0),
        TYPE("System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
             "System.Threading.Tasks.VoidTaskResult,Shop.Poller+<LoopAsync>d__3]",
             "AsyncStateMachineBox`1[System.Threading.Tasks.VoidTaskResult,<LoopAsync>d__3]", CORE,
             1, 11),
        TYPE("Shop.Tables+Entry`1[System.String]", "Entry`1[System.String]", SHOP, 0, 0x0200000c),
    };
    static const struct {
        const char *pattern;
        bool loose;
        const char *types;
    } cases[] = {
        { "Odd.\\u0042", false, "0" },
        { "Odd.B", false, "" },
        { "async Poller.LoopAsync", true, "1" },
        { "Poller.LoopAsync", true, "1" },
        { "Poller.LoopAsync", false, "" },
        { "oopAsync", true, "" },
        { "/^Entry`1/", false, "2" },
    };
    struct gcd_summary s = summary_of(types, sizeof types / sizeof *types);
    struct gcd_names *n;
    (void)state;
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(chosen(cases[i].pattern, cases[i].loose, &s, n, n), cases[i].types);
    gcd_names_free(n);
}

/* No state of one dump is left for the next one, which may have the same address in memory. */
static void test_another_dump(void **state)
{
    static const struct gcd_module others[] = { { .path = SHOP, .assembly = "Other" } };
    struct gcd_summary s = {
        .types = some + 1, .type_count = 1, .modules = modules, .module_count = 1
    };
    struct cli_type_pattern *p;
    struct gcd_names *n;
    uint8_t found;
    (void)state;
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    assert_null(cli_type_pattern_new("module(Contoso.Shop)", &p));
    assert_int_equal(
        cli_type_pattern_select(p, &(struct cli_type_names){ &s, n, n }, false, &canceled, &found),
        CLI_MATCH);
    assert_int_equal(found, 1);
    s.modules = others;
    assert_int_equal(
        cli_type_pattern_select(p, &(struct cli_type_names){ &s, n, n }, false, &canceled, &found),
        CLI_MATCH);
    assert_int_equal(found, 0);
    cli_type_pattern_free(p);
    gcd_names_free(n);
}

/* With raw names shown, C# names keep their meaning, and the shown names match, too. */
static void test_raw_names(void **state)
{
    struct gcd_summary s = summary_of(some, SOME);
    struct gcd_names *raw, *csharp;
    (void)state;
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_RAW, NULL, &raw, &err), GCD_OK);
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &csharp, &err), GCD_OK);
    assert_int_equal(gcd_names_style(raw), GCD_NAMES_RAW);
    assert_string_equal(meant("Shop.Tables.Entry", &s, raw, csharp), "7");
    assert_string_equal(meant("/^System.*\\]$/", &s, raw, csharp), "0 8");
    assert_string_equal(meant("Shop.*s+*", &s, raw, csharp), "1 2 7");
    assert_string_equal(meant("/String,Shop/", &s, raw, csharp), "0");
    assert_string_equal(meant("/String,Shop/", &s, csharp, csharp), "");
    gcd_names_free(raw);
    gcd_names_free(csharp);
}

/* ---- bundled recordings ---- */

/* The types with the same name as number I, in spelling HOW. */
static const char *name_of(const struct gcd_summary *s, const struct gcd_names *n, uint32_t i,
                           int how)
{
    return how == 0   ? gcd_names_get(n, i)
           : how == 1 ? gcd_names_plain(n, i)
           : how == 2 ? gcd_names_runtime(n, i)
                      : s->types[i].raw_name;
}

/* Each name in each spelling means exactly the types of that name; one with a "*", as in Item[*],
 * may mean more. */
static void check_names(const struct gcd_summary *s, const struct gcd_names *n, const char *which)
{
    for (uint32_t i = 0; i < s->type_count; i++)
        for (int how = 0; how < 4; how++) {
            char wanted[4096] = "";
            const char *name = name_of(s, n, i, how);
            for (uint32_t k = 0; k < s->type_count && strlen(wanted) < sizeof wanted - 16; k++)
                if (strcmp(name_of(s, n, k, how), name) == 0)
                    (void)snprintf(wanted + strlen(wanted), 16, "%s%u",
                                   wanted[0] != '\0' ? " " : "", k);
            const char *found = meant(name, s, n, n);
            if (strpbrk(name, "*?") != NULL ? strstr(found, wanted) == NULL
                                            : strcmp(found, wanted) != 0)
                fail_msg("%s: %s (%d): %s, not %s", which, name, how, found, wanted);
        }
}

static void test_bundled(void **state)
{
    const char *which;
    size_t bytes, i = 0;
    (void)state;
    for (uint8_t *data; (data = run_bundled(GCDUMPC_SOURCE, i, &which, &bytes)) != NULL; i++) {
        struct gcd_input *in;
        struct gcd_dump *d;
        struct gcd_names *n;
        assert_int_equal(gcd_input_from_memory(data, bytes, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_names_new(gcd_dump_summary(d), GCD_NAMES_CSHARP, NULL, &n, &err),
                         GCD_OK);
        check_names(gcd_dump_summary(d), n, which);
        gcd_names_free(n);
        gcd_dump_free(d);
        gcd_input_free(in);
        free(data);
    }
    assert_in_range(i, 8, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),     cmocka_unit_test(test_csharp),
        cmocka_unit_test(test_types),        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_another_dump), cmocka_unit_test(test_raw_names),
        cmocka_unit_test(test_bundled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
