/* What mangled names of Native AOT say. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "names/aot_names.h"

static const struct {
    const char *mangled, *name;
} cases[] = {
    { "String", "System.String" },
    { "Bool", "System.Boolean" },
    { "UInt8", "System.Byte" },
    { "S_P_CoreLib_System_Text_StringBuilder", "System.Text.StringBuilder" },
    { "S_P_CoreLib_System_Collections_Generic_List_1<Int32>",
      "System.Collections.Generic.List`1[System.Int32]" },
    { "System_Collections_Concurrent_System_Collections_Concurrent_ConcurrentDictionary_2_Node<"
      "Int32__aot_Shop_Order>",
      "System.Collections.Concurrent.ConcurrentDictionary`2+Node[System.Int32,aot_Shop_Order]" },
    { "S_P_CoreLib_System_Func_2<System___Canon__UInt64>",
      "System.Func`2[System.__Canon,System.UInt64]" },
    { "__Array<__Array<Int32>>", "System.Int32[][]" },
    { "__MDArray<aot_Shop_Order,3>", "aot_Shop_Order[,,]" },
    { "__MDArray<Char,1>", "System.Char[*]" },
    { "S_P_CoreLib_System_Void<Pointer>", "System.Void*" },
    { "S_P_CoreLib_System_Collections_Generic_KeyValuePair_2<__Array<Char>____Array<Int32>>",
      "System.Collections.Generic.KeyValuePair`2[System.Char[],System.Int32[]]" },
    { "S_P_CoreLib_System_Collections_Generic_Dictionary_2<S_P_CoreLib_System_Func_2<Int32__"
      "Int32>__String>",
      "System.Collections.Generic.Dictionary`2[System.Func`2[System.Int32,System.Int32],"
      "System.String]" },
    /* what the compiler of C# makes */
    { "S_P_CoreLib_System_IO_Path___c", "System.IO.Path+<>c" },
    { "S_P_CoreLib_System_IO_Path___c__DisplayClass4_0", "System.IO.Path+<>c__DisplayClass4_0" },
    { "S_P_CoreLib_System_IO_Path__Enumerate_d__26", "System.IO.Path+<Enumerate>d__26" },
    { "S_P_CoreLib_System_Runtime_CompilerServices_AsyncTaskMethodBuilder_1_AsyncStateMachineBox_1<"
      "S_P_CoreLib_System_Threading_Tasks_VoidTaskResult__aot_Shop_Work__RunAsync_d__1>",
      "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1["
      "System.Threading.Tasks.VoidTaskResult,aot_Shop_Work__RunAsync_d__1]" },
    /* of other assemblies, "_" can be anything */
    { "aot_Shop_Order", "aot_Shop_Order" },
    { "aot_Shop_My_Space_Under_Score", "aot_Shop_My_Space_Under_Score" },
    { "aot_Shop_Pair_2<String__aot_Shop_Order>", "aot_Shop_Pair_2[System.String,aot_Shop_Order]" },
    { "System_Reactive_System_Reactive_Linq_Where", "System_Reactive_System_Reactive_Linq_Where" },
    { "Boxed_aot_Shop_Point", "Boxed_aot_Shop_Point" },
    { "Boxed_S_P_CoreLib_System_Guid", "System.Guid" },
    /* names of the framework with a "_" of their own */
    { "S_P_Xml_System_Xml_Schema_Datatype_List", "S_P_Xml_System_Xml_Schema_Datatype_List" },
    { "System_Net_Quic_Microsoft_Quic_QUIC_API_TABLE",
      "System_Net_Quic_Microsoft_Quic_QUIC_API_TABLE" },
    { "S_P_CoreLib_System_Enum___c__62_1<UInt8>", "S_P_CoreLib_System_Enum___c__62_1<UInt8>" },
    /* arguments that do not fit: as it is */
    { "S_P_CoreLib_System_Func_2<Int32>", "S_P_CoreLib_System_Func_2<Int32>" },
    { "S_P_CoreLib_System_Func_2<Int32__Int32__Int32>",
      "S_P_CoreLib_System_Func_2<Int32__Int32__Int32>" },
    { "S_P_CoreLib_System_Func_2<aot_A__B__Int32>", "S_P_CoreLib_System_Func_2<aot_A__B__Int32>" },
    { "aot_Shop_Crate<Int32>", "aot_Shop_Crate<Int32>" },
    { "__FnPtr_10<S_P_CoreLib_System_Void<>>", "__FnPtr_10<S_P_CoreLib_System_Void<>>" },
    { "__Array<Int32", "__Array<Int32" },
    { "Int32>", "Int32>" },
    { "<", "<" },
    { "__MDArray<Int32,33>", "__MDArray<Int32,33>" },
    { "__MDArray<Int32>", "__MDArray<Int32>" },
};

static void test_names(void **state)
{
    (void)state;
    char name[AOT_NAME_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(aot_name(cases[i].mangled, strlen(cases[i].mangled), false, NULL, name),
                         strlen(cases[i].name));
        assert_string_equal(name, cases[i].name);
    }
    (void)aot_name("Boxed_Int32", 11, true, NULL, name);
    assert_string_equal(name, "System.Int32");
}

/* Each beginning of each name, and deep ones: no bytes outside are read or written. */
static void test_cut_names(void **state)
{
    (void)state;
    static char deep[AOT_SYMBOL_MAX], name[AOT_NAME_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 0; n < strlen(cases[i].mangled); n++) {
            char *cut = malloc(n + 1);
            memcpy(cut, cases[i].mangled, n);
            assert_true(aot_name(cut, n, false, NULL, name) < sizeof name);
            free(cut);
        }
    for (size_t i = 0; i + 8 <= sizeof deep; i += 8)
        memcpy(deep + i, "__Array<", 8);
    assert_int_equal(aot_name(deep, sizeof deep, false, NULL, name), sizeof deep);
    assert_memory_equal(name, deep, sizeof deep);
}

static void test_symbols(void **state)
{
    (void)state;
    const char *m;
    size_t n;
    assert_true(aot_symbol_of_type("_ZTV14aot_Shop_Order", 20, &m, &n));
    assert_int_equal(n, 14);
    assert_memory_equal(m, "aot_Shop_Order", 14);
    assert_true(aot_symbol_of_type("__GCStaticEEType_01", 19, &m, &n));
    assert_int_equal(n, 19);
    static const char *const others[] = {
        "_ZTV13aot_Shop_Order",      "_ZTV15aot_Shop_Order", "_ZTV", "_ZTV0x",     "_ZTVabcdef",
        "_ZTV99999999999999999999x", "__writableDataString", "",     "_ZTV2a\x1b", "_ZTV3a.c",
        "__GCStaticEEType_\xff"
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(aot_symbol_of_type(others[i], strlen(others[i]), &m, &n));
}

/* The search in the table needs its order. */
static void test_assemblies_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < aot_framework_assembly_count; i++)
        assert_true(strcmp(aot_framework_assemblies[i - 1], aot_framework_assemblies[i]) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_cut_names),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_assemblies_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
