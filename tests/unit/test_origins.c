/* Which code a type belongs to: modules with and without keys, paths, generated assemblies,
 * namespaces. */
#include <string.h>

#include <gcdumpc/unstable/origins.h>

#include "support/check.h"
#include "support/failalloc.h"

/* in parts: no file may have the path of a machine */
#define HOME \
    "/"      \
    "home"

static struct gcd_error err = GCD_ERROR_INIT;

#define FRAMEWORK "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.1/"
#define TOKEN(...)  \
    {               \
        __VA_ARGS__ \
    }
#define ECMA                                           \
    {                                                  \
        0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89 \
    }
#define ASPNET                                         \
    {                                                  \
        0xad, 0xb9, 0x79, 0x38, 0x29, 0xdd, 0xae, 0x60 \
    }
#define JSON                                           \
    {                                                  \
        0x30, 0xad, 0x4f, 0xe6, 0xb2, 0xa6, 0xae, 0xed \
    }
#define HOUSE                  \
    {                          \
        1, 2, 3, 4, 5, 6, 7, 8 \
    }

#define READ        .state = GCD_MODULE_READ
#define SIGNED(key) .state = GCD_MODULE_RECORDED, .has_public_key = true, .public_key_token = key

static struct gcd_origins *origins_of(const struct gcd_summary *s, const uint8_t *mine)
{
    struct gcd_origins *o;
    assert_int_equal(gcd_origins_new(s, &(struct gcd_origins_options){ .mine = mine }, &o, &err),
                     GCD_OK);
    return o;
}

/* A summary of one module with one type, and what that type is. */
static enum gcd_origin of_module(struct gcd_module m, const char *name, const char *command_line)
{
    struct gcd_type t = { .name = name, .raw_name = name, .module_path = m.path, .named = true };
    m.path = m.path != NULL ? m.path : "";
    m.assembly = m.assembly != NULL ? m.assembly : "";
    struct gcd_module other = { .path = "/srv/shop/Other.dll", .assembly = "Other", READ };
    const struct gcd_module modules[] = { m, other };
    struct gcd_summary s = { .types = &t,
                             .type_count = 1,
                             .modules = modules,
                             .module_count = 2,
                             .command_line = command_line,
                             .process_name = "" };
    struct gcd_origins *o = origins_of(&s, NULL);
    enum gcd_origin ret = gcd_origins_get(o, 0);
    gcd_origins_free(o);
    return ret;
}

static void the_key_of_the_module_decides(void **state)
{
    (void)state;
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/shop/Shop.dll", READ }, "Shop.Order", ""),
        GCD_ORIGIN_OWN);
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/shop/System.Private.CoreLib.dll",
                                                    SIGNED(ECMA) },
                               "X", ""),
                     GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/shop/EF.dll", SIGNED(ASPNET) }, "Shop.X", ""),
        GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/shop/Newtonsoft.Json.dll", SIGNED(JSON) }, "X",
                  ""),
        GCD_ORIGIN_LIBRARY);
    /* the names of the user's own assemblies and namespaces are the user's business */
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/Microsoft.Contoso.dll", READ },
                               "Microsoft.Contoso.Order", ""),
                     GCD_ORIGIN_OWN);
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/System.MyStuff.dll", READ },
                               "System.MyStuff", ""),
                     GCD_ORIGIN_OWN);
}

static void the_keys_of_microsoft(void **state)
{
    (void)state;
    static const struct gcd_module modules[] = {
        { SIGNED(ECMA) },
        { SIGNED(ASPNET) },
        { SIGNED(TOKEN(0xb0, 0x3f, 0x5f, 0x7f, 0x11, 0xd5, 0x0a, 0x3a)) },
        { SIGNED(TOKEN(0x31, 0xbf, 0x38, 0x56, 0xad, 0x36, 0x4e, 0x35)) },
        { SIGNED(TOKEN(0xcc, 0x7b, 0x13, 0xff, 0xcd, 0x2d, 0xdd, 0x51)) },
        { SIGNED(TOKEN(0x7c, 0xec, 0x85, 0xd7, 0xbe, 0xa7, 0x79, 0x8e)) },
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        struct gcd_module m = modules[i];
        assert_int_equal(of_module(m, "X", ""), GCD_ORIGIN_FRAMEWORK);
        for (size_t k = 0; k < 8; k++) { /* almost the key is another one's */
            m.public_key_token[k] ^= 1;
            assert_int_equal(of_module(m, "X", ""), GCD_ORIGIN_LIBRARY);
            m.public_key_token[k] ^= 1;
        }
    }
}

static void the_place_of_the_file_decides(void **state)
{
    (void)state;
    assert_int_equal(of_module((struct gcd_module){ .path = FRAMEWORK "X.dll" }, "Shop.Order", ""),
                     GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(
        of_module(
            (struct gcd_module){ .path = "C:\\shared\\Microsoft.AspNetCore.App\\8.0.1\\X.dll" },
            "X", ""),
        GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/shared/Shop.App/X.dll" }, "X", ""),
        GCD_ORIGIN_OWN);
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/unshared/Microsoft.NETCore.App/X.dll" }, "X",
                  ""),
        GCD_ORIGIN_OWN);
    assert_int_equal(
        of_module((struct gcd_module){ .path = "/srv/shared/Microsoft.Orders/X.dll" }, "X", ""),
        GCD_ORIGIN_OWN);
}

/* The origin of an unsigned module compiled at PATH, in a program compiled at ENTRY. */
static enum gcd_origin of_built(const char *entry, const char *path, enum gcd_module_state known)
{
    const struct gcd_type t = { .name = "X", .raw_name = "X", .module_path = "", .named = true };
    const struct gcd_module modules[] = {
        { .path = "/srv/X.dll", .assembly = "X", .pdb_path = path, .state = known },
        { .path = "/srv/Shop.dll", .assembly = "Shop", .pdb_path = entry, READ },
    };
    struct gcd_summary s = { .types = &t,
                             .type_count = 1,
                             .modules = modules,
                             .module_count = 2,
                             .command_line = "dotnet Shop.dll",
                             .process_name = "" };
    struct gcd_origins *o = origins_of(&s, NULL);
    enum gcd_origin ret = gcd_origins_get(o, 0);
    gcd_origins_free(o);
    return ret;
}

static void what_was_compiled_elsewhere_is_a_library(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *path;
        enum gcd_origin origin;
    } cases[] = {
        { "/src/Shop/obj/Shop.pdb", "/src/Core/obj/X.pdb", GCD_ORIGIN_OWN },
        { "/src/Shop/obj/Shop.pdb", "/_/src/X/obj/X.pdb", GCD_ORIGIN_LIBRARY },
        { "/src/Shop/obj/Shop.pdb", "X.pdb", GCD_ORIGIN_LIBRARY },
        { "/src/Shop/obj/Shop.pdb", "", GCD_ORIGIN_LIBRARY },
        { "/src/Shop/obj/Shop.pdb", "/srd/X.pdb", GCD_ORIGIN_LIBRARY },
        { "/src/Shop/obj/Shop.pdb", "/sr/X.pdb", GCD_ORIGIN_LIBRARY },
        { "/src/Shop/obj/Shop.pdb", NULL, GCD_ORIGIN_OWN },
        { HOME "/ann/shop/Shop.pdb", HOME "/ann/lib/X.pdb", GCD_ORIGIN_OWN },
        { HOME "/ann/shop/Shop.pdb", HOME "/runner/work/X.pdb", GCD_ORIGIN_LIBRARY },
        { "C:\\Users\\ann\\shop\\Shop.pdb", "C:\\Users\\ann\\lib\\X.pdb", GCD_ORIGIN_OWN },
        { "C:\\Users\\ann\\shop\\Shop.pdb", "C:\\Users\\bob\\X.pdb", GCD_ORIGIN_LIBRARY },
        { "C:\\work\\shop\\Shop.pdb", "D:\\work\\shop\\X.pdb", GCD_ORIGIN_LIBRARY },
        { "C:\\work\\shop\\Shop.pdb", "C:\\work\\x\\X.pdb", GCD_ORIGIN_OWN },
        /* nothing is known of the program */
        { "/_/src/Shop/obj/Shop.pdb", HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
        { "Shop.pdb", HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
        { "C:Shop.pdb", HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
        { "/Shop.pdb", HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
        { "", HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
        { NULL, HOME "/ann/X.pdb", GCD_ORIGIN_OWN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(of_built(cases[i].entry, cases[i].path, GCD_MODULE_READ), cases[i].origin);
        assert_int_equal(of_built(cases[i].entry, cases[i].path, GCD_MODULE_NOT_FOUND),
                         cases[i].origin);
    }
}

static void a_file_that_was_not_read_is_known_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/System.Text.Json.dll" }, "X", ""),
                     GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/Shop.dll" }, "System.X", ""),
                     GCD_ORIGIN_OWN);
    assert_int_equal(of_module((struct gcd_module){ .path = "/srv/Microsoft.Contoso.dll" }, "X",
                               "dotnet /srv/Microsoft.Contoso.dll"),
                     GCD_ORIGIN_OWN);
}

static void assemblies_made_in_memory(void **state)
{
    (void)state;
    assert_int_equal(of_module((struct gcd_module){ .assembly = "DynamicProxyGenAssembly2" },
                               "Castle.Proxies.OrderProxy", ""),
                     GCD_ORIGIN_LIBRARY);
    assert_int_equal(of_module((struct gcd_module){ .assembly = "Microsoft.GeneratedCode" },
                               "XmlSerializer1", ""),
                     GCD_ORIGIN_LIBRARY);
    assert_int_equal(
        of_module((struct gcd_module){ .assembly = "System.Linq.Expressions" }, "Closure", ""),
        GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(of_module((struct gcd_module){ .assembly = "Script7" }, "ScriptState", ""),
                     GCD_ORIGIN_OWN);
}

/* Assemblies with the key of the entry assembly are the program's, too; the entry assembly always
 * is. */
static void the_entry_assembly(void **state)
{
    (void)state;
    static const struct gcd_type types[] = {
        { .name = "A", .named = true, .module_number = 0 },
        { .name = "B", .named = true, .module_number = 1 },
        { .name = "C", .named = true, .module_number = 2 },
    };
    static const struct gcd_module modules[] = {
        { .path = "/srv/Parts.dll", .assembly = "Parts", SIGNED(HOUSE) },
        { .path = "/srv/Shop.dll", .assembly = "Shop", SIGNED(HOUSE) },
        { .path = "/srv/Json.dll", .assembly = "Json", SIGNED(JSON) },
    };
    static const struct {
        const char *command_line, *process;
        enum gcd_origin a, c;
    } cases[] = {
        { "/srv/Shop /srv/Shop.dll --load /srv/Json.dll", "", GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
        { "dotnet exec \"/srv/Shop.dll\"", "", GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
        { "\"/srv/Shop\" Json", "", GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
        { "dotnet exec /srv/Json.dll", "", GCD_ORIGIN_LIBRARY, GCD_ORIGIN_OWN },
        { "", "Shop", GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
        /* not known: nothing else can be the program */
        { "dotnet /srv/Workshop.dll", "", GCD_ORIGIN_OWN, GCD_ORIGIN_OWN },
        { "host Shop", "", GCD_ORIGIN_OWN, GCD_ORIGIN_OWN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcd_summary s = { .types = types,
                                 .type_count = 3,
                                 .modules = modules,
                                 .module_count = 3,
                                 .command_line = cases[i].command_line,
                                 .process_name = cases[i].process };
        struct gcd_origins *o = origins_of(&s, NULL);
        assert_int_equal(gcd_origins_get(o, 0), cases[i].a);
        assert_int_equal(gcd_origins_get(o, 2), cases[i].c);
        gcd_origins_free(o);
    }
}

/* ---- without modules ---- */

#define BARE(text)                                                                       \
    {                                                                                    \
        .name = text, .module_path = "", .module_number = GCD_MODULE_NONE, .named = true \
    }

static const struct {
    struct gcd_type type;
    enum gcd_origin is, is_with_mine;
} named[] = {
    { BARE("System.String"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("Microsoft.Extensions.Hosting.Host"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("Interop+Sys"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("Systematic.Order"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("Shop.Order"), GCD_ORIGIN_OWN, GCD_ORIGIN_OWN },
    { BARE("Shop.Order[]"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("System.Collections.Generic.List`1[Shop.Order]"), GCD_ORIGIN_FRAMEWORK,
      GCD_ORIGIN_FRAMEWORK },
    { BARE("Shop.Box`1[System.Int32]"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    /* a program without namespaces */
    { BARE("Order"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("Order[]"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("Order[,]"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("Entry<System.String>[]"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    /* of a dictionary */
    { BARE("Entry[System.String,Shop.Order]"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("<>c__DisplayClass1_0"), GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("Shop.Orders+<>c__DisplayClass1_0"), GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System."
           "Int32,Shop.Orders+<Load>d__3]"),
      GCD_ORIGIN_OWN, GCD_ORIGIN_LIBRARY },
    { BARE("AsyncStateMachineBox`1[System.Int32[,],Shop.Orders+<Load>d__3]"), GCD_ORIGIN_OWN,
      GCD_ORIGIN_LIBRARY },
    { BARE("AsyncStateMachineBox`1[System.Int32,System.IO.Stream+<Read>d__3]"),
      GCD_ORIGIN_FRAMEWORK, GCD_ORIGIN_FRAMEWORK },
    { BARE("AsyncStateMachineBox`1[Shop.Order,System.IO.Stream+<Read>d__3]"), GCD_ORIGIN_FRAMEWORK,
      GCD_ORIGIN_FRAMEWORK },
};
#define NAMED (sizeof named / sizeof *named)

static struct gcd_summary by_name(struct gcd_type types[NAMED])
{
    for (size_t i = 0; i < NAMED; i++)
        types[i] = named[i].type;
    return (struct gcd_summary){
        .types = types, .type_count = NAMED, .command_line = "", .process_name = ""
    };
}

static void without_modules_the_namespace_decides(void **state)
{
    (void)state;
    struct gcd_type types[NAMED];
    struct gcd_summary s = by_name(types);
    struct gcd_origins *o = origins_of(&s, NULL);
    for (uint32_t i = 0; i < NAMED; i++)
        if (gcd_origins_get(o, i) != named[i].is)
            fail_msg("%s: %s", named[i].type.name, gcd_origin_name(gcd_origins_get(o, i)));
    gcd_origins_free(o);
}

/* A recording that ends early has types, but not the names of their modules. */
static void modules_without_names_say_nothing(void **state)
{
    (void)state;
    struct gcd_type types[NAMED];
    struct gcd_summary s = by_name(types);
    s.modules = &(struct gcd_module){ .path = "", .assembly = "" };
    s.module_count = 1;
    for (uint32_t i = 0; i < NAMED; i++)
        types[i].module_number = 0;
    struct gcd_origins *o = origins_of(&s, NULL);
    for (uint32_t i = 0; i < NAMED; i++)
        if (gcd_origins_get(o, i) != named[i].is)
            fail_msg("%s: %s", named[i].type.name, gcd_origin_name(gcd_origins_get(o, i)));
    gcd_origins_free(o);
}

static void what_the_user_says_counts(void **state)
{
    (void)state;
    struct gcd_type types[NAMED];
    struct gcd_summary s = by_name(types);
    uint8_t mine[NAMED] = { 0 };
    for (uint32_t i = 0; i < NAMED; i++)
        mine[i] = strcmp(named[i].type.name, "Shop.Order") == 0;
    struct gcd_origins *o = origins_of(&s, mine);
    for (uint32_t i = 0; i < NAMED; i++)
        if (gcd_origins_get(o, i) != named[i].is_with_mine)
            fail_msg("%s: %s", named[i].type.name, gcd_origin_name(gcd_origins_get(o, i)));
    gcd_origins_free(o);
    mine[0] = 1; /* also what is the framework's */
    o = origins_of(&s, mine);
    assert_int_equal(gcd_origins_get(o, 0), GCD_ORIGIN_OWN);
    gcd_origins_free(o);
}

/* Classes of static variables have no objects. */
static void classes_without_objects(void **state)
{
    (void)state;
    static const struct gcd_type types[] = {
        { .name = "Shop.Order", .named = true, .module_number = 0 },
        { .name = "Microsoft.Extensions.Hosting.ShopHost", .named = true, .module_number = 0 },
        { .name = "Microsoft.Extensions.Hosting.Host", .named = true, .module_number = 1 },
        { .name = "Newtonsoft.Json.Linq.JObject", .named = true, .module_number = 2 },
        { .name = "System.Box`1+Slot[Shop.Order]", .named = true, .module_number = 0 },
        { .name = "System.String", .named = true, .module_number = 1 },
        { .name = "Lib.Core.A", .named = true, .module_number = 0 },
        { .name = "Lib.Core.B", .named = true, .module_number = 2 },
        { .name = "Lib.C", .named = true, .module_number = 2 },
    };
    static const struct gcd_module modules[] = {
        { .path = "/srv/Shop.dll", .assembly = "Shop", READ },
        { .path = FRAMEWORK "Host.dll", .assembly = "Host" },
        { .path = "/srv/Json.dll", .assembly = "Json", SIGNED(JSON) },
    };
    struct gcd_summary s = { .types = types,
                             .type_count = 9,
                             .modules = modules,
                             .module_count = 3,
                             .command_line = "",
                             .process_name = "" };
    struct gcd_origins *o = origins_of(&s, NULL);
    assert_int_equal(gcd_origins_of_name(o, "Shop.Orders"), GCD_ORIGIN_OWN);
    assert_int_equal(gcd_origins_of_name(o, "Shop.Parts.Inner+<>c"), GCD_ORIGIN_OWN);
    assert_int_equal(gcd_origins_of_name(o, "Newtonsoft.Json.Linq.JToken"), GCD_ORIGIN_LIBRARY);
    assert_int_equal(gcd_origins_of_name(o, "System.Threading.TimerQueue"), GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(gcd_origins_of_name(o, "System.Box`1[System.Int32]"), GCD_ORIGIN_OWN);
    assert_int_equal(gcd_origins_of_name(o, "Microsoft.Extensions.Hosting.ShopHost+Cache"),
                     GCD_ORIGIN_OWN);
    /* two live there */
    assert_int_equal(gcd_origins_of_name(o, "Microsoft.Extensions.Hosting.Unknown"),
                     GCD_ORIGIN_FRAMEWORK);
    assert_int_equal(gcd_origins_of_name(o, "Lib.Core.Unknown"), GCD_ORIGIN_OWN);
    assert_int_equal(gcd_origins_of_name(o, "Lib.Unknown"), GCD_ORIGIN_LIBRARY);
    assert_int_equal(gcd_origins_of_name(o, "Program"), GCD_ORIGIN_OWN);
    gcd_origins_free(o);
}

/* They take no time, and decide nothing. */
static void names_and_command_lines_of_any_length(void **state)
{
    (void)state;
    static char name[100001], line[20001];
    memset(name, '.', sizeof name - 1);
    memcpy(name, "Lib", 3);
    memset(line, ' ', sizeof line - 1);
    memcpy(line + sizeof line - 9, "Lib.dll", 7);
    struct gcd_type t = { .name = "Lib.A", .named = true, .module_number = 0 };
    struct gcd_module m = { .path = "/srv/Lib.dll", .assembly = "Lib", SIGNED(JSON) },
                      own = { .path = "/srv/Shop.dll", .assembly = "Shop", READ };
    const struct gcd_module modules[] = { m, own };
    struct gcd_summary s = { .types = &t,
                             .type_count = 1,
                             .modules = modules,
                             .module_count = 2,
                             .command_line = line,
                             .process_name = "" };
    struct gcd_origins *o = origins_of(&s, NULL);
    assert_int_equal(gcd_origins_get(o, 0), GCD_ORIGIN_LIBRARY);
    for (int i = 0; i < 20; i++)
        assert_int_equal(gcd_origins_of_name(o, name), GCD_ORIGIN_OWN);
    gcd_origins_free(o);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_type types[NAMED];
    struct gcd_summary s = by_name(types);
    s.modules = &(struct gcd_module){ .path = "/srv/Shop.dll", .assembly = "Shop" };
    s.module_count = 1;
    struct gcd_origins *o = NULL;
    for (uint64_t n = 1;; n++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st =
            gcd_origins_new(&s, &(struct gcd_origins_options){ .alloc = &f.alloc }, &o, &err);
        if (st == GCD_OK)
            gcd_origins_free(o);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_of_the_module_decides),
        cmocka_unit_test(the_keys_of_microsoft),
        cmocka_unit_test(the_place_of_the_file_decides),
        cmocka_unit_test(what_was_compiled_elsewhere_is_a_library),
        cmocka_unit_test(a_file_that_was_not_read_is_known_by_its_name),
        cmocka_unit_test(assemblies_made_in_memory),
        cmocka_unit_test(the_entry_assembly),
        cmocka_unit_test(without_modules_the_namespace_decides),
        cmocka_unit_test(modules_without_names_say_nothing),
        cmocka_unit_test(what_the_user_says_counts),
        cmocka_unit_test(classes_without_objects),
        cmocka_unit_test(names_and_command_lines_of_any_length),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
