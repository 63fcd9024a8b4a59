#include "support/resolve_sample.h"

#include <string.h>

/* ---- assemblies ---- */

#define OBJECT \
    "06"       \
    "1c"
#define STRING \
    "06"       \
    "0e"

static void field(struct pe_image *p, const char *name, const char *signature)
{
    (void)pe_image_row(p, 0x04, "2sb", 0x11u, name, signature);
}

/* A class that extends System.Object; its fields begin at row FIELDS. */
static void class(struct pe_image *p, const char *space, const char *name, uint32_t nested_in,
                  unsigned fields)
{
    unsigned object = 1u << 2 | 1;
    uint32_t row = pe_image_row(p, 0x02, "4ss222", nested_in != 0 ? 0x100002u : 0x100001u, name,
                                space, object, fields, 1u);
    if (nested_in != 0)
        (void)pe_image_row(p, 0x29, "22", row, nested_in);
}

void sample_shop(struct pe_image *p)
{
    pe_image_init(p);
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Object", "System");
    (void)pe_image_row(p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    class(p, "Shop", "Store`1", 0, 1);
    class(p, "", "Node", 2, 2);
    class(p, "", "Deep+er", 3, 4);
    class(p, "Shop", "Item", 0, 5);
    class(p, "Shop", "Other", 0, 7);
    /* extends Item */
    (void)pe_image_row(p, 0x02, "4ss222", 0x100001u, "Special", "Shop", 5u << 2, 9u, 1u);
    /* sealed */
    (void)pe_image_row(p, 0x02, "4ss222", 0x100101u, "Shut", "Shop", 1u << 2 | 1, 9u, 1u);
    field(p, "s_all", OBJECT); /* 1: of Store`1, which is generic */
    field(p, "s_all", OBJECT); /* 2: of Node */
    field(p, "s_lock", OBJECT);
    field(p, "s_deep", STRING); /* 4: of Deep+er */
    field(p, "s_first",
          "06"
          "12"
          "14"); /* 5: of Item, an Item */
    field(p, "s_lock", OBJECT);
    field(p, "s_first",
          "06"
          "12"
          "18"); /* 7: of Other, an Other */
    field(p, "s_lock", OBJECT);
    field(p, "s_first",
          "06"
          "12"
          "20"); /* 9: of Shut, a Shut */
    (void)pe_image_row(p, 0x20, "422224bss", 0x8004u, 1u, 0u, 0u, 0u, 0u, "", "Shop", "");
    (void)pe_image_row(p, 0x2a, "222s", 0u, 0u, 2u << 1, "T");
    pe_image_close(p);
}

void sample_tools(struct pe_image *p)
{
    pe_image_init(p);
    p->codeviews = 0;
    memset(p->guids.p, 0xbb, 16);
    (void)pe_image_row(p, 0x01, "2ss", 1u << 2 | 2, "Machine", "Elsewhere");
    (void)pe_image_row(p, 0x02, "4ss222", 0u, "<Module>", "", 0u, 1u, 1u);
    class(p, "Tools", "Kit", 0, 1);
    field(p, "s_lock", OBJECT);
    field(p, "s_kit", OBJECT);
    field(p, "s_lock", OBJECT);
    pe_image_close(p);
}

/* ---- the dump ---- */

void sample_trace(const struct tb_static *statics, size_t n, enum sample_modules modules,
                  struct tb_bytes *ret)
{
    static const struct tb_type types[] = {
        { .id = 0x100,
          .module = SAMPLE_SHOP,
          .token = 0x02000003,
          .element_type = 0x12,
          .name = "Node[System.String]" },
        { .id = 0x200,
          .module = SAMPLE_SHOP,
          .token = 0x02000000,
          .flags = 8,
          .element_type = 0x1d,
          .name = "Node[System.String][]",
          .parameter = 0x100 },
        { .id = 0x300,
          .module = SAMPLE_SHOP,
          .token = 0x02000004,
          .element_type = 0x12,
          .name = "Deep+er[System.Int32]" },
        { .id = 0x400,
          .module = SAMPLE_SHOP,
          .token = 0x02000005,
          .element_type = 0x12,
          .name = "Shop.Item" },
        { .id = 0x500,
          .module = SAMPLE_KIT,
          .token = 0x02000002,
          .element_type = 0x12,
          .name = "Tools.Kit" },
        { .id = 0x600,
          .module = SAMPLE_CORE,
          .token = 0x02000009,
          .element_type = 0x0e,
          .name = "System.String" },
        { .id = 0x700,
          .module = SAMPLE_SHOP,
          .token = 0x02000007,
          .element_type = 0x12,
          .name = "Shop.Special" },
        { .id = 0x800,
          .module = SAMPLE_SHOP,
          .token = 0x02000000,
          .flags = 8,
          .element_type = 0x1d,
          .name = "Node[System.String][][]",
          .parameter = 0x200 },
        { .id = 0xb00,
          .module = SAMPLE_SHOP,
          .token = 0x02001234,
          .element_type = 0x0f,
          .name = "Node[System.String]*",
          .parameter = 0x100 },
        { .id = 0xc00,
          .module = SAMPLE_SHOP,
          .token = 0x02000000,
          .flags = 8,
          .element_type = 0x1d,
          .name = "Node[System.String]*[]",
          .parameter = 0xb00 },
        { .id = 0xe00,
          .module = SAMPLE_SHOP,
          .token = 0x02001234,
          .element_type = 0x1b,
          .name = "FNPTR" },
        { .id = 0xf00,
          .module = SAMPLE_SHOP,
          .token = 0x02000000,
          .flags = 8,
          .element_type = 0x1d,
          .name = "FNPTR[]",
          .parameter = 0xe00 },
        { .id = 0x900,
          .module = SAMPLE_CORE,
          .token = 0x0200000a,
          .element_type = 0x1c,
          .name = "System.Object" },
        { .id = 0xa00,
          .module = SAMPLE_SHOP,
          .token = 0x02000006,
          .element_type = 0x12,
          .name = "Shop.Other" },
        /* the last one is of the stream */
        { .id = 0xd00,
          .module = SAMPLE_STREAM,
          .token = 0x02000003,
          .element_type = 0x12,
          .name = "Node[System.Guid]" },
    };
    size_t n_types = sizeof types / sizeof *types - (modules == SAMPLE_AND_STREAM ? 0 : 1);
    struct tb t;
    tb_init(&t, TB_V4, 8);
    tb_types(&t, types, n_types);
    tb_gc_start(&t, 1);
    if (n > 0)
        tb_statics(&t, statics, n);
    for (size_t i = 0; i < n_types; i++)
        tb_nodes(&t, TB_LIST(struct tb_node, { types[i].id + 0x10000, 24, types[i].id, 0 }));
    tb_gc_end(&t, 1);
    if (modules != SAMPLE_NO_MODULES) {
        tb_module_symbols(&t, SAMPLE_SHOP, "/app/Shop.dll", 0xc0, 1);
        tb_module(&t, SAMPLE_KIT, "/app/Tools.dll");
        tb_module(&t, SAMPLE_CORE, "/app/Core.dll");
        if (modules == SAMPLE_AND_STREAM)
            tb_module_symbols(&t, SAMPLE_STREAM, "", 0xc0, 1);
    }
    tb_close(&t);
    *ret = t.out;
    t.out = (struct tb_bytes){ 0 };
    tb_done(&t);
}
