/* What `info` says about names: how many are spelt as in the source, and why the others are not. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/native_symbols.h"
#include "output/names_known.h"
#include "support/check.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct gcd_module modules[] = {
    { .path = "/app/Shop.dll", .assembly = "Shop", .problem = "", .state = GCD_MODULE_READ },
    { .path = "/app/Old.dll",
      .assembly = "Old",
      .problem = "the file is not the one that was loaded",
      .state = GCD_MODULE_REPLACED },
    { .path = "", .assembly = "Made", .problem = "", .state = GCD_MODULE_NO_PATH },
    { .path = "/app/A.dll", .assembly = "", .problem = "", .state = GCD_MODULE_NOT_FOUND },
    { .path = "/app/B.dll", .assembly = "", .problem = "", .state = GCD_MODULE_NOT_FOUND },
    { .path = "/app/C.dll", .assembly = "", .problem = "", .state = GCD_MODULE_NOT_FOUND },
    { .path = "/app/D.dll", .assembly = "", .problem = "", .state = GCD_MODULE_NOT_FOUND },
    { .path = "/app/E.dll",
      .assembly = "",
      .problem = "/app/E.dll: is a directory",
      .state = GCD_MODULE_UNREADABLE },
    { .path = "", .assembly = "", .problem = "", .state = GCD_MODULE_NO_PATH },
    { .path = "/app/F.dll", .assembly = "", .problem = "", .state = GCD_MODULE_RECORDED },
    { .path = "/app/H.dll",
      .assembly = "",
      .problem = "it is damaged",
      .state = GCD_MODULE_UNREADABLE },
    { .path = "/app/G.dll", .assembly = "", .problem = "", .state = GCD_MODULE_NOT_READ },
};
static const struct gcd_type types[] = {
    { .named = true, .objects = 2, .module_number = 0 },
    { .named = true, .objects = 1, .module_number = 1 },
    { .named = true, .objects = 0, .module_number = 0 },
    { .named = true, .objects = 1, .module_number = GCD_MODULE_NONE },
    { .described = true, .objects = 1, .module_number = 9 },
    { .named = true, .objects = 1, .module_number = 9 },
    { .named = true, .objects = 1, .module_number = 11 },
};
static const struct gcd_root roots[] = {
    { .kind = GCD_ROOT_STATIC, .name = "a", .class_name = "Shop", .label = "Shop.a" },
    { .kind = GCD_ROOT_STATIC, .name = "b", .class_name = "", .label = "Shop.b or Other.b" },
    { .kind = GCD_ROOT_STATIC, .name = "c", .class_name = "", .label = "c" },
    { .kind = GCD_ROOT_STACK, .name = "", .class_name = "", .label = "" },
};
static const struct gcd_summary summary = { .types = types,
                                            .type_count = COUNT(types),
                                            .roots = roots,
                                            .root_count = COUNT(roots),
                                            .modules = modules,
                                            .module_count = COUNT(modules) };

static void counted(void **state)
{
    (void)state;
    struct cli_names_known k;
    assert_true(cli_names_known(&summary, &k));
    assert_true(k.types == 6 && k.types_known == 2 && k.types_too_long == 1 && k.statics == 3 &&
                k.statics_known == 1 && k.statics_several == 1);
    assert_true(k.modules[GCD_MODULE_NOT_FOUND] == 4 && k.modules[GCD_MODULE_READ] == 1 &&
                k.modules[GCD_MODULE_NOT_READ] == 1);
    struct gcd_summary none = summary;
    none.module_count = 0;
    assert_false(cli_names_known(&none, &k));
}

static void modules_without_a_name_come_last(void **state)
{
    (void)state;
    static const struct gcd_module none = {
        .path = "", .assembly = "", .problem = "", .state = GCD_MODULE_NO_PATH
    };
    struct gcd_module some[] = { none, none, none, none };
    const struct gcd_summary s = { .modules = some, .module_count = COUNT(some) };
    struct cli_names_known k;
    some[2].assembly = "Made";
    assert_true(cli_names_known(&s, &k));
    char *text = cli_module_problem(&s, &k, GCD_MODULE_NO_PATH);
    assert_string_equal(text, "4 modules have no file, or it is not known which: Made, "
                              "2 without a name and 1 more");
    free(text);
}

static void said(void **state)
{
    (void)state;
    static const struct {
        enum gcd_module_state state;
        const char *text;
    } rows[] = {
        { GCD_MODULE_NOT_FOUND,
          "4 modules were not found: /app/A.dll, /app/B.dll, /app/C.dll and 1 more" },
        { GCD_MODULE_REPLACED, "1 module was replaced after it was loaded: /app/Old.dll" },
        { GCD_MODULE_UNREADABLE,
          "2 modules cannot be read: /app/E.dll: is a directory, /app/H.dll (it is damaged)" },
        { GCD_MODULE_NO_PATH,
          "2 modules have no file, or it is not known which: Made, one without a name" },
    };
    struct cli_names_known k;
    assert_true(cli_names_known(&summary, &k));
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = cli_module_problem(&summary, &k, rows[i].state);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

static void for_programs(void **state)
{
    (void)state;
    json_t *o = cli_json_names(&summary), *got = json_array_get(json_object_get(o, "problems"), 0);
    assert_int_equal(json_integer_value(json_object_get(o, "types")), 6);
    assert_int_equal(json_integer_value(json_object_get(o, "types_too_long")), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "types_resolved")), 2);
    assert_int_equal(json_integer_value(json_object_get(o, "statics")), 3);
    assert_int_equal(json_integer_value(json_object_get(o, "statics_resolved")), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "statics_ambiguous")), 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(o, "modules"), "not_found")), 4);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "modules"), "recorded")),
                     1);
    assert_int_equal(json_array_size(json_object_get(o, "problems")), 9);
    assert_string_equal(json_string_value(json_object_get(got, "path")), "/app/Old.dll");
    assert_string_equal(json_string_value(json_object_get(got, "state")), "replaced");
    assert_string_equal(json_string_value(json_object_get(got, "why")),
                        "the file is not the one that was loaded");
    json_decref(o);
}

static void symbols_of_native_programs(void **state)
{
    (void)state;
    static const struct {
        struct gcd_module module;
        const char *process, *text, *wanted;
    } cases[] = {
        { { .path = "/srv/shop", .problem = "", .state = GCD_MODULE_READ },
          "x",
          "of shop",
          "--modules DIR finds them in shop.dbg, which publishing makes" },
        { { .path = "/srv/shop", .problem = "", .build_id = "ab12", .state = GCD_MODULE_READ },
          "x",
          "of shop, build id ab12",
          "--modules DIR finds them in shop.dbg, which publishing makes; build id ab12" },
        { { .path = "", .problem = "", .build_id = "ab12", .state = GCD_MODULE_RECORDED },
          "store",
          "in the recording, of store, build id ab12",
          "--modules DIR finds them in store.dbg, which publishing makes; build id ab12" },
        { { .path = "", .problem = "", .build_id = "", .state = GCD_MODULE_NOT_FOUND },
          "",
          "none: --modules DIR finds them in PROGRAM.dbg, which publishing makes",
          "--modules DIR finds them in PROGRAM.dbg, which publishing makes" },
        { { .path = "/a/b", .problem = "it is damaged", .state = GCD_MODULE_UNREADABLE },
          "",
          "none, it is damaged: --modules DIR finds them in b.dbg, which publishing makes",
          "--modules DIR finds them in b.dbg, which publishing makes" },
    };
    char buf[CLI_SYMBOLS_BYTES];
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct gcd_summary s = { .process_name = cases[i].process };
        assert_string_equal(cli_symbols_text(&s, &cases[i].module, buf), cases[i].text);
        assert_string_equal(cli_symbols_wanted(&s, &cases[i].module, buf), cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_of_native_programs),
        cmocka_unit_test(counted),
        cmocka_unit_test(modules_without_a_name_come_last),
        cmocka_unit_test(said),
        cmocka_unit_test(for_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
