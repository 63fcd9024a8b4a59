/* Names of types in C# spelling, and different ones for different types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/type_names.h>

#include "base/mem.h"
#include "graph/graph_build.h"
#include "names/csharp.h"
#include "support/check.h"
#include "support/graph_gen.h"
#include "support/names_memory.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* RAW in C# spelling in a static buffer. */
static const char *spell(const char *raw, bool runtime)
{
    static char out[1 << 20];
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct csharp c;
    csharp_init(&c, &a);
    assert_int_equal(csharp_name(&c, raw, runtime), GCD_OK);
    assert_true(c.n < sizeof out);
    memcpy(out, c.out, c.n);
    out[c.n] = '\0';
    csharp_done(&c);
    return out;
}

static const struct {
    const char *raw, *want;
} table[] = {
    /* what CoreCLR sends; most of them are in traces/ */
    { "System.String", "System.String" },
    { "System.Byte[]", "System.Byte[]" },
    { "System.Collections.Generic.Dictionary`2[System.String,System.Collections.Generic.List`1["
      "System.Int32]]",
      "System.Collections.Generic.Dictionary<System.String, "
      "System.Collections.Generic.List<System.Int32>>" },
    { "Entry[System.String,HeapLab.Node]", "Entry<System.String, HeapLab.Node>" },
    { "Entry[HeapLab.Book][]", "Entry<HeapLab.Book>[]" },
    { "Entry[System.Guid,System.Diagnostics.Tracing.EventSource+OverrideEventProvider][]",
      "Entry<System.Guid, System.Diagnostics.Tracing.EventSource.OverrideEventProvider>[]" },
    { "Sack`1[System.String,System.Int32]", "Sack<System.String, System.Int32>" },
    { "Sack`1[HeapLab.Desk+Drawer,HeapLab.Crate`1+Slot[System.Int32]]",
      "Sack<HeapLab.Desk.Drawer, HeapLab.Crate<System.Int32>.Slot>" },
    { "HeapLab.Box`1[HeapLab.Cabinet+Drawer+Compartment[]]",
      "HeapLab.Box<HeapLab.Cabinet.Drawer.Compartment[]>" },
    { "HeapLab.Box`1[System.Int32[,]]", "HeapLab.Box<System.Int32[,]>" },
    { "HeapLab.Box`1[System.Int32][]", "HeapLab.Box<System.Int32>[]" },
    { "HeapLab.Item[*]", "HeapLab.Item[*]" },
    { "HeapLab.Item[,,]", "HeapLab.Item[,,]" },
    { "HeapLab.Item[,][]", "HeapLab.Item[][,]" },
    { "HeapLab.Item[][,]", "HeapLab.Item[,][]" },
    { "HeapLab.Item[][]", "HeapLab.Item[][]" },
    { "HeapLab.Item[][,][,,][*]", "HeapLab.Item[*][,,][,][]" },
    { "HeapLab.Item[,][]*[,][]", "HeapLab.Item[][,]*[][,]" },
    { "HeapLab.Sample*[]", "HeapLab.Sample*[]" },
    { "HeapLab.Sample**", "HeapLab.Sample**" },
    { "System.Int32&", "System.Int32&" },
    { "FNPTR", "FNPTR" },
    { "List`1[System.Int32[,][]][][,]", "List<System.Int32[][,]>[,][]" },
    /* names made by compilers */
    { "<>c", "<>c" },
    { "<>c__DisplayClass0_0", "<>c__DisplayClass0_0" },
    { "<Main>d__0", "<Main>d__0" },
    { "<>f__AnonymousType0`2[System.Int32,System.String]",
      "<>f__AnonymousType0<System.Int32, System.String>" },
    { "<>c__5`1[System.Int32]", "<>c__5<System.Int32>" },
    { "AsyncStateMachineBox`1[System.Int32,HeapLab.Machines+<WaitFor>d__2]",
      "AsyncStateMachineBox<System.Int32, HeapLab.Machines.<WaitFor>d__2>" },
    { "HeapLab.Outer`1+<>c[System.Int32]", "HeapLab.Outer<System.Int32>.<>c" },
    { "<System-Collections-Generic-IEnumerable<T>-GetEnumerator>d__4",
      "<System-Collections-Generic-IEnumerable<T>-GetEnumerator>d__4" },
    { "<<Main>$>d__0", "<<Main>$>d__0" },
    { "<PrivateImplementationDetails>", "<PrivateImplementationDetails>" },
    { "__StaticArrayInitTypeSize=16", "__StaticArrayInitTypeSize=16" },
    { "<<Run>g__Local|0_1>d[System.Int32]", "<<Run>g__Local|0_1>d<System.Int32>" },
    { "Pipe #1 stage #2 at line 7@7", "Pipe #1 stage #2 at line 7@7" },
    { "VB$AnonymousType_0`1[System.Int32]", "VB$AnonymousType_0<System.Int32>" },
    /* arguments of nested types */
    { "Outer`1+Inner`1[A,B]", "Outer<A>.Inner<B>" },
    { "N.Outer`2+Inner+Core`1[A,B,C[]]", "N.Outer<A, B>.Inner.Core<C[]>" },
    { "Outer`1+Inner[A,B]", "Outer<A>.Inner<B>" },
    { "Outer+Inner[A]", "Outer.Inner<A>" },
    { "A`1+B[X]+C", "A`1+B[X]+C" },
    /* generic types without arguments */
    { "System.Collections.Generic.List`1", "System.Collections.Generic.List<>" },
    { "System.Collections.Generic.Dictionary`2+Entry[]",
      "System.Collections.Generic.Dictionary<,>.Entry[]" },
    { "Wide`32", "Wide<,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,>" },
    { "Wide`33", "Wide`33" },
    { "Wide`99999[A]", "Wide`99999[A]" },
    { "Wide`123456[A]", "Wide`123456<A>" },
    { "Not`0", "Not`0" },
    { "Not`x[A]", "Not`x<A>" },
    /* a backslash in front keeps it from being syntax */
    { "Ns.A\\+B", "Ns.A\\+B" },
    { "Ns.A\\,B\\[\\]`1[C\\*]", "Ns.A\\,B\\[\\]<C\\*>" },
    { "A\\\\+B", "A\\\\.B" },
    /* C# already, of this or another program */
    { "System.Collections.Generic.Dictionary<System.String, System.Int32[]>",
      "System.Collections.Generic.Dictionary<System.String, System.Int32[]>" },
    { "System.Collections.Generic.Dictionary<System.Guid,A+B>",
      "System.Collections.Generic.Dictionary<System.Guid, A.B>" },
    { "Outer<A>.Inner<B>[]", "Outer<A>.Inner<B>[]" },
    { "Outer<A>+Inner", "Outer<A>.Inner" },
    { "List<Int32[,][]>", "List<Int32[,][]>" },
    { "Int32<,>", "Int32<,>" },
    { "List`1<Int32>", "List<Int32>" },
    { "A+B", "A.B" },
    { "<>c [System.Linq]", "<>c [System.Linq]" },
    { "<>c [System.Linq 0x02000003]", "<>c [System.Linq 0x02000003]" },
    { "List<A> [Shop]", "List<A> [Shop]" },
    /* no names of types at all: never lost */
    { "[static var Shop.Store.orders]", "[static var Shop.Store.orders]" },
    { "Shop.Order[] (Bytes > 1K)", "Shop.Order[] (Bytes > 1K)" },
    { "List`1[", "List`1[" },
    { "List`1[A", "List`1[A" },
    { "List`1[A]]", "List`1[A]]" },
    { "List`2[A]", "List`2[A]" },
    { "O`2+I`2[A,B,C]", "O`2+I`2[A,B,C]" },
    { "List`1[A>", "List`1[A>" },
    { "List<A]", "List<A]" },
    { "A[]B", "A[]B" },
    { "A[B]C", "A[B]C" },
    { "A[,B]", "A[,B]" },
    { "A[B,]", "A[B,]" },
    { "A[[B, Lib],[C, Lib]]", "A[[B, Lib],[C, Lib]]" },
    { "A,B", "A,B" },
    { "A++B", "A++B" },
    { "+A", "+A" },
    { "A+", "A+" },
    { "<A", "<A" },
    { "A`1`2[X,Y]", "A`1`2[X,Y]" },
    { "HeapLab.<b>\"&'</b>", "HeapLab.<b>\"&'</b>" },
    { "\xD0\x9A.\xD0\x9A`1[\xF0\x9F\x98\x80]", "\xD0\x9A.\xD0\x9A<\xF0\x9F\x98\x80>" },
};

static void names_are_spelt_like_in_csharp(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_string_equal(spell(table[i].raw, true), table[i].want);
}

static void names_that_are_csharp_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_string_equal(spell(table[i].want, false), table[i].want);
    assert_string_equal(spell("Int32[][,]", false), "Int32[][,]"); /* it cannot be known */
    assert_string_equal(spell("A[B[][,]]", false), "A<B[,][]>");   /* here they can */
}

static void any_text_becomes_a_name(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "A",          "b.",           "<", ">",   "[",   "]",   "[]",
        "[,]",        "[*]",          ",", ", ",  "+",   "`1",  "`2",
        "`",          "\\",           "*", "&",   " ",   "<>c", "d__0",
        "Outer`1+In", "\xE2\x82\xAC", "0", "[A]", "<A>", "<,>", "[A,B]"
    };
    uint64_t seed = 1;
    for (unsigned n = 0; n < 400000; n++) {
        char raw[256] = "", once[1024];
        for (uint64_t k = 1 + run_random(&seed) % 12; k > 0; k--)
            strcat(raw, pieces[run_random(&seed) % (sizeof pieces / sizeof *pieces)]);
        const char *s = spell(raw, run_random(&seed) % 2 == 0);
        assert_true(s[0] != '\0' && strlen(s) < sizeof once);
        assert_true(run_is_utf8(s, strlen(s)));
        strcpy(once, s);
        s = spell(once, false);
        if (strcmp(s, once) != 0)
            fail_msg("%s -> %s -> %s", raw, once, s);
    }
}

/* TIMES copies of A, B, TIMES copies of C. */
static char *sandwich(const char *a, const char *b, const char *c, size_t times)
{
    char *s = malloc((strlen(a) + strlen(c)) * times + strlen(b) + 1), *p = s;
    assert_non_null(s);
    for (size_t i = 0; i < times; i++)
        p = stpcpy(p, a);
    p = stpcpy(p, b);
    for (size_t i = 0; i < times; i++)
        p = stpcpy(p, c);
    return s;
}

static void deep_names_are_no_danger(void **state)
{
    (void)state;
    const size_t deep = 60000;
    char *raw = sandwich("A`1[", "B", "]", deep), *want = sandwich("A<", "B", ">", deep);
    assert_string_equal(spell(raw, true), want);
    free(raw);
    free(want);
    static const char *const halves[][3] = {
        { "A[", "B", "" }, { "<", "", "" }, { "A<", "", "" }, { "[", "", "]" }, { "A`2[", "B", "]" }
    };
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        raw = sandwich(halves[i][0], halves[i][1], halves[i][2], deep);
        assert_string_equal(spell(raw, true), raw);
        free(raw);
    }
    raw = sandwich("A`1+", "A`1", "[]", deep);
    want = sandwich("A<>.", "A<>", "[]", deep);
    assert_string_equal(spell(raw, true), want);
    free(raw);
    free(want);
}

/* ---- all types of a graph ---- */

static struct gcd_graph *graph_of(const struct gcd_type *types, size_t n)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t number;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &number, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static const struct gcd_type alike[] = {
    { .id = 1,
      .name = "<>c",
      .named = true,
      .module_path = "/app/Shop.dll",
      .name_token = 0x02000005 },
    { .id = 2,
      .name = "<>c",
      .named = true,
      .module_path = "C:\\lib\\System.Linq.dll",
      .name_token = 0x02000005 },
    { .id = 3,
      .name = "<>c",
      .named = true,
      .module_path = "/app/Shop.dll",
      .name_token = 0x02000007 },
    { .id = 4, .name = "List`1[A]", .named = true, .module_path = "" },
    { .id = 5, .name = "List`1[A]", .named = true, .module_path = "" },
    { .id = 6, .name = "Only", .named = true, .module_path = "/app/Shop.dll" },
    { .id = 0xabc, .name = "Type(0x2000001)", .module_path = "/app/Shop.dll" },
    { .id = 7,
      .name = "List`1[A]",
      .named = true,
      .module_path = "Dynamic",
      .name_token = 0x02000001 },
    { .id = 8,
      .name = "<>c",
      .named = true,
      .module_path = "/app/Shop.dll",
      .name_token = 0x02000007 },
    { .id = 9, .name = "A[][,]", .named = true, .module_path = "", .element_type = 0x14 },
    { .id = 10, .name = "A[][,]", .named = true, .module_path = "" },
    { .id = 0xabd, .name = "", .named = true, .module_path = "" },
    /* as if it were Shop.dll */
    { .id = 11,
      .name = "<>c",
      .named = true,
      .module_path = "/app/Shop.exe",
      .name_token = 0x02000005 },
    { .id = 12,
      .name = "<>c",
      .named = true,
      .module_path = "/app/.exe",
      .name_token = 0x02000005 },
    { .id = 13, .name = "<>c", .named = true, .module_path = "/app/Desk.exe" },
    { .id = 14, .name = "<>c", .named = true, .module_path = "/app/Desk.exes" },
    /* the name did not fit into an event */
    { .id = 15,
      .name = "Type(0x2000008)",
      .described = true,
      .module_path = "/app/Shop.dll",
      .name_token = 0x02000008 },
    /* a program compiled ahead of time */
    { .id = 0x55ddc7380858,
      .name = "ArrayType(0x374858)",
      .module_path = "",
      .flags = 0x18,
      .name_token = 0x374858 },
};

static void types_that_look_alike_are_told_apart(void **state)
{
    (void)state;
    static const char *const want[] = {
        "<>c [Shop 0x02000005 #1]",
        "<>c [System.Linq]",
        "<>c [Shop 0x02000007 #1]",
        "List<A> [#1]",
        "List<A> [#2]",
        "Only",
        "UNKNOWN 0xabc",
        "List<A> [Dynamic]",
        "<>c [Shop 0x02000007 #2]",
        "A[,][]",
        "A[][,]",
        "UNKNOWN 0xabd",
        "<>c [Shop 0x02000005 #2]",
        "<>c [.exe]",
        "<>c [Desk]",
        "<>c [Desk.exes]",
        "UNKNOWN [Shop 0x02000008]",
        "UNKNOWN ArrayType(0x374858)",
    };
    struct gcd_graph *g = graph_of(alike, sizeof alike / sizeof *alike);
    struct gcd_names *n;
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    for (uint32_t i = 0; i < sizeof alike / sizeof *alike; i++)
        assert_string_equal(gcd_names_get(n, i), want[i]);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(gcd_names_plain(n, i), "<>c");
    assert_string_equal(gcd_names_plain(n, 3), "List<A>");
    assert_string_equal(gcd_names_plain(n, 5), "Only");
    gcd_names_free(n);
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_RAW, NULL, &n, &err), GCD_OK);
    gcd_graph_free(g);
    assert_string_equal(gcd_names_get(n, 0), "<>c");
    assert_string_equal(gcd_names_plain(n, 0), "<>c");
    assert_string_equal(gcd_names_get(n, 3), "List`1[A]");
    assert_string_equal(gcd_names_get(n, 6), "Type(0x2000001)");
    gcd_names_free(n);
}

/* Types of runtime async without metadata are told apart by the size of their objects, whatever
 * their order. */
static void layouts_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        uint64_t objects, bytes;
        const char *want;
    } layouts[] = {
        { 2, 144, "System.Runtime.CompilerServices.Continuation (72 bytes #1)" },
        { 3, 336, "System.Runtime.CompilerServices.Continuation (112 bytes)" },
        { 1, 72, "System.Runtime.CompilerServices.Continuation (72 bytes #2)" },
        { 3, 100, "System.Runtime.CompilerServices.Continuation [Core 0x020006bb]" },
        { 5, 320, "System.Runtime.CompilerServices.Continuation (64 bytes)" },
    };
    struct gcd_type types[5];
    for (size_t i = 0; i < 5; i++)
        types[i] = (struct gcd_type){ .name = "System.Runtime.CompilerServices.Continuation",
                                      .raw_name = "System.Runtime.CompilerServices.Continuation",
                                      .module_path = "/net/Core.dll",
                                      .name_token = 0x20006bb,
                                      .objects = layouts[i].objects,
                                      .bytes = layouts[i].bytes,
                                      .named = true };
    struct gcd_summary s = { .types = types, .type_count = 5 };
    struct gcd_names *n;
    assert_int_equal(gcd_names_new(&s, GCD_NAMES_CSHARP, NULL, &n, &err), GCD_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(gcd_names_get(n, i), layouts[i].want);
        assert_string_equal(gcd_names_plain(n, i), types[i].name);
    }
    gcd_names_free(n);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void random_types_get_names_of_their_own(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 4);
        struct gcd_names *n;
        const char *all[64];
        uint32_t count = gcd_graph_summary(g)->type_count;
        assert_true(count <= 64);
        assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &n, &err),
                         GCD_OK);
        for (uint32_t i = 0; i < count; i++) {
            all[i] = gcd_names_get(n, i);
            assert_true(all[i][0] != '\0' && run_is_utf8(all[i], strlen(all[i])));
        }
        qsort(all, count, sizeof *all, compare_texts);
        for (uint32_t i = 1; i < count; i++)
            if (strncmp(all[i], "UNKNOWN 0x", 10) !=
                0) /* the generator may give one id to two types */
                assert_string_not_equal(all[i - 1], all[i]);
        gcd_names_free(n);
        gcd_graph_free(g);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(alike, sizeof alike / sizeof *alike);
    check_names_memory(gcd_graph_summary(g));
    gcd_graph_free(g);
}

/* The names in the bundled recordings: what a person would see.  With NAMES_PRINT=1 they are
 * printed for that. */
static void names_in_recordings_are_spelt_out(void **state)
{
    (void)state;
    bool print = getenv("NAMES_PRINT") != NULL;
    const char *folder;
    size_t bytes, total = 0, generic = 0;
    for (size_t i = 0;; i++) {
        uint8_t *p = run_bundled(GCDUMPC_SOURCE, i, &folder, &bytes);
        if (p == NULL)
            break;
        struct gcd_input *in;
        struct gcd_dump *d;
        struct gcd_names *n;
        assert_int_equal(gcd_input_from_memory(p, bytes, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_int_equal(gcd_names_new(gcd_dump_summary(d), GCD_NAMES_CSHARP, NULL, &n, &err),
                         GCD_OK);
        for (uint32_t t = 0; t < gcd_dump_summary(d)->type_count; t++) {
            const struct gcd_type *type = &gcd_dump_summary(d)->types[t];
            const char *raw = type->name, *name = gcd_names_get(n, t);
            if (print)
                printf("%s: %s -> %s\n", folder, raw, name);
            total++;
            assert_int_equal(strncmp(name, "UNKNOWN 0x", 10) == 0, !type->named || raw[0] == '\0');
            if (strchr(raw, '`') != NULL) {
                generic++;
                assert_null(strchr(name, '`'));
                assert_non_null(strchr(name, '<'));
            }
            assert_null(strchr(name, '+'));
        }
        gcd_names_free(n);
        gcd_dump_free(d);
        gcd_input_free(in);
        free(p);
    }
    assert_true(total > 500 && generic > 100);
}

/* Words that stand for a name in graph files are none, and types without objects do not count. */
static void missing_names_are_counted(void **state)
{
    (void)state;
    struct gcd_type types[] = {
        { .name = "System.String", .named = true, .objects = 3 },
        { .name = "Shop.Order", .named = true, .objects = 1 },
        { .name = "UNKNOWNS", .named = true, .objects = 1 },
        { .name = "Type(0x200008a)", .objects = 1 },
        { .name = "Type(0x200008b)", .objects = 0 },
        { .name = "UNKNOWN Type(0x3a9c70) of build 9856d1e4", .named = true, .objects = 1 },
        { .name = "ArrayType(0x2000000)", .named = true, .objects = 1 },
        { .name = "TypeID(0x7f0010)", .named = true, .objects = 1 },
    };
    struct gcd_summary s = { .types = types, .type_count = 3 };
    struct gcd_unnamed u = gcd_types_unnamed(&s);
    assert_true(u.types == 0 && u.all == 3 && !u.most);
    assert_string_equal(u.text, "");
    s.type_count = 5;
    u = gcd_types_unnamed(&s);
    assert_true(u.types == 1 && u.all == 4 && !u.most);
    assert_string_equal(u.text, "1 of 4 types has no name");
    s.type_count = 7;
    assert_false(gcd_types_unnamed(&s).most); /* half of them */
    s.type_count = 8;
    u = gcd_types_unnamed(&s);
    assert_true(u.types == 4 && u.all == 7 && u.most);
    assert_string_equal(u.text, "4 of 7 types have no name");
    s.types = &types[3];
    s.type_count = 5;
    u = gcd_types_unnamed(&s);
    assert_true(u.types == 4 && u.all == 4 && u.most);
    assert_string_equal(u.text, "no type has a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_spelt_like_in_csharp),
        cmocka_unit_test(names_that_are_csharp_stay),
        cmocka_unit_test(any_text_becomes_a_name),
        cmocka_unit_test(deep_names_are_no_danger),
        cmocka_unit_test(types_that_look_alike_are_told_apart),
        cmocka_unit_test(random_types_get_names_of_their_own),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(names_in_recordings_are_spelt_out),
        cmocka_unit_test(missing_names_are_counted),
        cmocka_unit_test(layouts_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
