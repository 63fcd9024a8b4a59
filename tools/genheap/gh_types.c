#include "gh_types.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "gh_bytes.h"

#define MIX         (1u << GH_SHAPE_MIX)
#define DELEGATE    1u
#define FINALIZABLE 2u

/* Types with fixed names; a rule adds the program's own classes and generic types over them. */
static const struct {
    const char *name;
    const char *params[2];
    uint16_t weight, data_bytes, refs;
    uint8_t module, element, kind, flags, rank, shapes;
} given[] = {
    { "System.Object", { 0 }, 40, 0, 0, 0, 0x1C, GH_T_FIXED, 0, 0, MIX },
    { "System.String", { 0 }, 2300, 2, 0, 0, 0x0E, GH_T_STRING, 0, 0, MIX | 1u << GH_SHAPE_FAN },
    { "System.Boolean", { 0 }, 8, 1, 0, 0, 0x02, GH_T_FIXED, 0, 0, MIX },
    { "System.Char", { 0 }, 3, 2, 0, 0, 0x03, GH_T_FIXED, 0, 0, MIX },
    { "System.Byte", { 0 }, 2, 1, 0, 0, 0x05, GH_T_FIXED, 0, 0, MIX },
    { "System.Int16", { 0 }, 2, 2, 0, 0, 0x06, GH_T_FIXED, 0, 0, MIX },
    { "System.Int32", { 0 }, 120, 4, 0, 0, 0x08, GH_T_FIXED, 0, 0, MIX },
    { "System.UInt32", { 0 }, 5, 4, 0, 0, 0x09, GH_T_FIXED, 0, 0, MIX },
    { "System.Int64", { 0 }, 60, 8, 0, 0, 0x0A, GH_T_FIXED, 0, 0, MIX },
    { "System.Double", { 0 }, 60, 8, 0, 0, 0x0D, GH_T_FIXED, 0, 0, MIX },
    { "System.Decimal", { 0 }, 20, 16, 0, 0, 0x11, GH_T_FIXED, 0, 0, MIX },
    { "System.Guid", { 0 }, 30, 16, 0, 0, 0x11, GH_T_FIXED, 0, 0, MIX },
    { "System.DateTime", { 0 }, 40, 8, 0, 0, 0x11, GH_T_FIXED, 0, 0, MIX },
    { "System.DayOfWeek", { 0 }, 4, 4, 0, 0, 0x08, GH_T_FIXED, 0, 0, MIX },
    { "System.RuntimeType", { 0 }, 25, 8, 2, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.RuntimeType+RuntimeTypeCache", { 0 }, 10, 24, 9, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.WeakReference", { 0 }, 12, 8, 0, 0, 0x12, GH_T_FIXED, FINALIZABLE, 0, MIX },
    { "System.Version", { 0 }, 10, 16, 0, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Uri", { 0 }, 14, 16, 4, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Action", { 0 }, 90, 16, 2, 0, 0x12, GH_T_FIXED, DELEGATE, 0, MIX },
    { "System.EventHandler", { 0 }, 40, 16, 2, 0, 0x12, GH_T_FIXED, DELEGATE, 0, MIX },
    { "System.Exception", { 0 }, 3, 40, 9, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Text.StringBuilder", { 0 }, 30, 12, 2, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Threading.Thread", { 0 }, 4, 28, 5, 0, 0x12, GH_T_FIXED, FINALIZABLE, 0, MIX },
    { "System.Threading.CancellationTokenSource",
      { 0 },
      25,
      16,
      3,
      0,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Threading.Tasks.Task", { 0 }, 60, 16, 5, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Threading.ExecutionContext", { 0 }, 20, 8, 3, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.IO.MemoryStream", { 0 }, 20, 32, 2, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.IO.FileStream", { 0 }, 4, 16, 4, 0, 0x12, GH_T_FIXED, FINALIZABLE, 0, MIX },
    { "Microsoft.Win32.SafeHandles.SafeFileHandle",
      { 0 },
      6,
      24,
      1,
      0,
      0x12,
      GH_T_FIXED,
      FINALIZABLE,
      0,
      MIX },
    { "System.Globalization.CultureInfo", { 0 }, 3, 16, 12, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Reflection.RuntimeMethodInfo", { 0 }, 30, 24, 6, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Bucket", { 0 }, 0, 16, 2, 0, 0x11, GH_T_VALUE, 0, 0, MIX },
    { "Bucket[]", { "Bucket" }, 12, 24, 2, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Object[]", { "System.Object" }, 170, 0, 1, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.String[]", { "System.String" }, 130, 0, 1, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Byte[]", { "System.Byte" }, 260, 1, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Byte[][]", { "System.Byte[]" }, 12, 0, 1, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Char[]", { "System.Char" }, 120, 2, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Int32[]", { "System.Int32" }, 210, 4, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Int64[]", { "System.Int64" }, 20, 8, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Double[]", { "System.Double" }, 40, 8, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Guid[]", { "System.Guid" }, 5, 16, 0, 0, 0x1D, GH_T_ARRAY, 0, 0, MIX },
    { "System.Int32[,]", { "System.Int32" }, 6, 4, 0, 0, 0x14, GH_T_ARRAY, 0, 2, MIX },
    { "System.Double[,,]", { "System.Double" }, 3, 8, 0, 0, 0x14, GH_T_ARRAY, 0, 3, MIX },
    { "System.Object[,]", { "System.Object" }, 3, 0, 1, 0, 0x14, GH_T_ARRAY, 0, 2, MIX },
    { "System.__Canon", { 0 }, 0, 0, 0, 0, 0x12, GH_T_VALUE, 0, 0, MIX },
    { "System.Collections.Hashtable", { 0 }, 8, 24, 3, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "System.Collections.Generic.List`1[System.String]",
      { "System.String" },
      60,
      8,
      1,
      0,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Collections.Generic.List`1[System.Int32]",
      { "System.Int32" },
      25,
      8,
      1,
      0,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Collections.Generic.Dictionary`2[System.String,System.String]",
      { "System.String", "System.String" },
      25,
      24,
      6,
      0,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Collections.Generic.Dictionary`2[System.Int32,System.Collections.Generic.List`1["
      "System.String]]",
      { "System.Int32", "System.Collections.Generic.List`1[System.String]" },
      12,
      24,
      6,
      0,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "Entry[System.String,System.String]",
      { "System.String", "System.String" },
      0,
      8,
      2,
      0,
      0x11,
      GH_T_VALUE,
      0,
      0,
      MIX },
    { "Entry[System.String,System.String][]",
      { "Entry[System.String,System.String]" },
      25,
      24,
      2,
      0,
      0x1D,
      GH_T_ARRAY,
      0,
      0,
      MIX },
    { "System.Collections.Generic.HashSet`1[System.String]",
      { "System.String" },
      8,
      16,
      3,
      1,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Collections.Generic.LinkedListNode`1[System.String]",
      { "System.String" },
      40,
      0,
      4,
      1,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Collections.Concurrent.ConcurrentDictionary`2[System.Guid,System.Object]",
      { "System.Guid", "System.Object" },
      4,
      16,
      3,
      1,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "System.Linq.Lookup`2[System.String,System.Int32]",
      { "System.String", "System.Int32" },
      4,
      8,
      3,
      2,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "<>c", { 0 }, 6, 0, 0, 0, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "<>c", { 0 }, 4, 0, 0, 3, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "<>c", { 0 }, 4, 0, 0, 4, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Enumerator", { 0 }, 10, 16, 2, 1, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Enumerator", { 0 }, 6, 24, 1, 2, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Inner`1[System.String,System.Int32]",
      { "System.String", "System.Int32" },
      4,
      8,
      1,
      4,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "Acme.Shared.Gr\xC3\xB6\xC3\x9F"
      "e",
      { 0 },
      10,
      8,
      1,
      4,
      0x12,
      GH_T_FIXED,
      0,
      0,
      MIX },
    { "Acme.Shared.\xE6\xB3\xA8\xE6\x96\x87", { 0 }, 8, 8, 2, 4, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Acme.Shared.\xF0\x9D\x94\xB8lpha", { 0 }, 4, 8, 1, 4, 0x12, GH_T_FIXED, 0, 0, MIX },
    { "Acme.Shapes.TreeNode", { 0 }, 0, 8, 3, 4, 0x12, GH_T_FIXED, 0, 0, 1u << GH_SHAPE_TREE },
    { "Acme.Shapes.NamedTreeNode",
      { 0 },
      0,
      24,
      3,
      4,
      0x12,
      GH_T_FIXED,
      0,
      0,
      1u << GH_SHAPE_TREE },
    { "Acme.Shapes.ListNode`1[System.Int32]",
      { "System.Int32" },
      0,
      8,
      1,
      4,
      0x12,
      GH_T_FIXED,
      0,
      0,
      1u << GH_SHAPE_LIST },
    { "Acme.Shapes.FatListNode", { 0 }, 0, 40, 1, 4, 0x12, GH_T_FIXED, 0, 0, 1u << GH_SHAPE_LIST },
    { "Acme.Shapes.Item", { 0 }, 0, 8, 0, 4, 0x12, GH_T_FIXED, 0, 0, 1u << GH_SHAPE_FAN },
    { "Acme.Shapes.Item[]", { "Acme.Shapes.Item" }, 0, 0, 1, 4, 0x1D, GH_T_ARRAY, 0, 0, 0 },
    { "Acme.Shapes.Vertex", { 0 }, 0, 8, 4, 4, 0x12, GH_T_FIXED, 0, 0, 1u << GH_SHAPE_RANDOM },
    { "Acme.Shapes.WideVertex", { 0 }, 0, 16, 4, 4, 0x12, GH_T_FIXED, 0, 0, 1u << GH_SHAPE_RANDOM },
};

static const char *const namespaces[] = {
    "Acme.Orders",   "Acme.Orders.Events", "Acme.Billing",   "Acme.Billing.Tax",
    "Acme.Stock",    "Acme.Shipping",      "Acme.Customers", "Acme.Host.Caching",
    "Acme.Host.Web", "Acme.Shared.Text",
};
static const char *const nouns[] = {
    "Order", "OrderLine", "Customer", "Invoice", "Address", "Product",
    "Price", "Session",   "Message",  "Policy",  "Request", "Handler",
};
#define N_NAMESPACES (sizeof namespaces / sizeof namespaces[0])
#define N_NOUNS      (sizeof nouns / sizeof nouns[0])

static const char *keep_name(struct gh_types *ty, const char *s)
{
    size_t len = strlen(s) + 1;
    char *to = ty->names + ty->names_used;

    assert(len <= sizeof ty->names - ty->names_used);
    memcpy(to, s, len);
    ty->names_used += (uint32_t)len;
    return to;
}

static struct gh_type *add(struct gh_types *ty, const char *name)
{
    struct gh_type *t = &ty->t[ty->n];

    assert(ty->n < GH_TYPES_MAX);
    memset(t, 0, sizeof *t);
    t->name = name;
    t->token = 0x02000002u + ty->n;
    t->element = 0x12;
    t->params[0] = t->params[1] = GH_NO_TYPE;
    ty->n++;
    return t;
}

static void param(struct gh_types *ty, struct gh_type *t, const char *name)
{
    uint16_t p = gh_types_find(ty, name);

    assert(p != GH_NO_TYPE);
    t->params[t->n_params++] = p;
}

/* A type over the class ARG, named BEFORE ARG AFTER; FIRST is an argument that precedes it, or
 * NULL. */
static struct gh_type *add_over(struct gh_types *ty, const char *before, const char *first,
                                const char *arg, const char *after)
{
    char buf[256];
    struct gh_type *t;

    snprintf(buf, sizeof buf, "%s%s%s", before, arg, after);
    t = add(ty, keep_name(ty, buf));
    t->kind = GH_T_FIXED;
    t->shapes = MIX;
    t->module = 0;
    if (first)
        param(ty, t, first);
    param(ty, t, arg);
    return t;
}

static void as_array(struct gh_type *t, unsigned element_bytes, unsigned refs)
{
    t->kind = GH_T_ARRAY;
    t->element = 0x1D;
    t->flags = 8;
    t->token = 0x02000000;
    t->data_bytes = (uint16_t)element_bytes;
    t->refs = (uint16_t)refs;
}

static void add_program_types(struct gh_types *ty)
{
    char buf[128];
    uint32_t rank = 1;
    size_t i, k;

    for (k = 0; k < N_NOUNS; k++)
        for (i = 0; i < N_NAMESPACES; i++, rank++) {
            uint64_t h = gh_mix(0xC1A55 + rank);
            const char *name;
            struct gh_type *t;

            snprintf(buf, sizeof buf, "%s.%s", namespaces[i], nouns[k]);
            name = keep_name(ty, buf);
            t = add(ty, name);
            t->kind = GH_T_FIXED;
            t->shapes = MIX;
            t->module = (uint8_t)(i < 6 ? 3 : i < 7 ? 4 : 5);
            t->refs = (uint16_t)(1 + h % 6);
            t->data_bytes = (uint16_t)((h >> 8) % 5 * 8);
            t->flags = rank % 29 == 0 ? FINALIZABLE : 0;
            t->weight = 4 + 900 / (rank + 4);
            if (rank % 4 == 1) {
                t = add_over(ty, "System.Collections.Generic.List`1[", NULL, name, "]");
                t->refs = 1;
                t->data_bytes = 8;
                t->weight = 4 + 200 / (rank + 4);
                t = add_over(ty, "", NULL, name, "[]");
                as_array(t, 0, 1);
                t->module = 3;
                t->weight = 6 + 240 / (rank + 4);
            }
            if (rank % 8 == 2) {
                struct gh_type *e;

                t = add_over(ty, "System.Collections.Generic.Dictionary`2[System.String,",
                             "System.String", name, "]");
                t->refs = 6;
                t->data_bytes = 24;
                t->weight = 3;
                e = add_over(ty, "Entry[System.String,", "System.String", name, "]");
                e->kind = GH_T_VALUE;
                e->element = 0x11;
                e = add_over(ty, "", NULL, e->name, "[]");
                as_array(e, 24, 2);
                e->weight = 5;
            }
            if (rank % 8 == 3) {
                t = add_over(ty, "System.Threading.Tasks.Task`1[", NULL, name, "]");
                t->refs = 6;
                t->data_bytes = 16;
                t->weight = 6;
                t = add_over(ty, "System.Func`2[System.Int32,", "System.Int32", name, "]");
                t->refs = 2;
                t->data_bytes = 16;
                t->flags = DELEGATE;
                t->weight = 10;
            }
            if (rank % 16 == 5) {
                snprintf(buf, sizeof buf, "<>c__DisplayClass%u_0", (unsigned)rank / 16);
                t = add(ty, keep_name(ty, buf));
                t->kind = GH_T_FIXED;
                t->shapes = MIX;
                t->module = 3;
                t->refs = 2;
                t->weight = 25;
                snprintf(buf, sizeof buf, "<LoadAsync>d__%u", (unsigned)rank / 16);
                t = add(ty, keep_name(ty, buf));
                t->kind = GH_T_FIXED;
                t->shapes = MIX;
                t->module = 5;
                t->refs = 5;
                t->data_bytes = 16;
                t->weight = 8;
            }
        }
}

uint16_t gh_types_find(const struct gh_types *ty, const char *name)
{
    uint32_t i;

    for (i = 0; i < ty->n; i++)
        if (strcmp(ty->t[i].name, name) == 0)
            return (uint16_t)i;
    return GH_NO_TYPE;
}

void gh_types_init(struct gh_types *ty, unsigned ptr_bytes)
{
    static const char *const assemblies[GH_MODULES] = {
        "System.Private.CoreLib",
        "System.Collections",
        "System.Linq",
        "Acme.Orders",
        "Acme.Shared",
        "Acme.Host",
    };
    static const char *const paths[GH_MODULES] = {
        "/app/runtime/System.Private.CoreLib.dll",
        "/app/runtime/System.Collections.dll",
        "/app/runtime/System.Linq.dll",
        "/app/Acme.Orders.dll",
        "/app/Acme.Shared.dll",
        "/app/Acme.Host.dll",
    };
    uint64_t loader = ptr_bytes == 8 ? UINT64_C(0x7FC1A0000000) : UINT64_C(0xF4000000);
    uint64_t step = ptr_bytes == 8 ? UINT64_C(0x2C10000) : UINT64_C(0x210000);
    uint32_t i, k;

    memset(ty, 0, sizeof *ty);
    ty->ptr_bytes = ptr_bytes;
    for (i = 0; i < sizeof given / sizeof given[0]; i++) {
        struct gh_type *t = add(ty, given[i].name);

        t->weight = given[i].weight;
        t->data_bytes = given[i].data_bytes;
        t->refs = given[i].refs;
        t->module = given[i].module;
        t->element = given[i].element;
        t->kind = given[i].kind;
        t->shapes = given[i].shapes;
        t->flags = given[i].flags;
        for (k = 0; k < 2 && given[i].params[k]; k++)
            param(ty, t, given[i].params[k]);
        if (t->kind == GH_T_ARRAY) {
            t->flags = 8 | (uint32_t)given[i].rank << 8;
            t->token = 0x02000000;
        }
    }
    add_program_types(ty);

    for (i = 0; i < GH_MODULES; i++) {
        ty->modules[i].path = paths[i];
        ty->modules[i].assembly = assemblies[i];
        ty->modules[i].id = loader + i * step + 0x1000;
        ty->modules[i].assembly_id = loader + i * step + 0x800;
    }
    for (i = 0; i < ty->n; i++)
        ty->t[i].id = loader + ty->t[i].module * step + 0x4000 + (uint64_t)i * 0xE8;
}

uint64_t gh_type_size(const struct gh_types *ty, const struct gh_type *t, uint64_t len)
{
    uint64_t p = ty->ptr_bytes, size;

    switch (t->kind) {
    case GH_T_STRING:
        return (p == 8 ? 22 : 14) + 2 * len;
    case GH_T_ARRAY: {
        uint64_t element = t->data_bytes ? t->data_bytes : p;
        uint64_t rank = t->flags >> 8;

        if (t->refs && t->data_bytes) /* structs with references shrink with the pointer */
            element -= t->refs * (8 - p);
        return (p == 8 ? 24 : 12) + 8 * rank + element * len;
    }
    default:
        size = 2 * p + t->refs * p + (t->data_bytes + p - 1) / p * p;
        return size < 3 * p ? 3 * p : size;
    }
}
