#include "support/tb_names.h"

static void put_event(struct tb *t, uint32_t id, struct tb_bytes *b, size_t n)
{
    tb_event(t, TB_NAMES, id, 1, b->p, n);
    tb_free(b);
}

void tb_names(struct tb *t, uint32_t gc, uint32_t walk, uint32_t modules, uint32_t types,
              uint32_t statics)
{
    struct tb_bytes b = { .n = 0 };
    const uint32_t fields[] = { gc, walk, modules, types, statics };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        tb_u32(&b, fields[i]);
    put_event(t, 1, &b, b.n);
}

void tb_named_module(struct tb *t, uint64_t id, const char *assembly, const char *token)
{
    struct tb_bytes b = { .n = 0 };
    tb_u64(&b, id);
    for (unsigned i = 0; i < 16; i++)
        tb_u8(&b, i);
    tb_utf16z(&b, assembly);
    tb_utf16z(&b, token);
    tb_utf16z(&b, "/srv/Lib.dll");
    put_event(t, 2, &b, b.n);
}

void tb_named_type(struct tb *t, uint64_t id, const char *outer, size_t missing)
{
    struct tb_bytes b = { .n = 0 };
    tb_u64(&b, id);
    tb_utf16z(&b, outer);
    put_event(t, 3, &b, b.n - missing);
}

void tb_named_static(struct tb *t, uint64_t address, const char *field, const char *class_name,
                     const char *label)
{
    struct tb_bytes b = { .n = 0 };
    tb_u64(&b, address);
    tb_utf16z(&b, field);
    tb_utf16z(&b, class_name);
    tb_utf16z(&b, label);
    put_event(t, 4, &b, b.n);
}

void tb_process_memory(struct tb *t, uint32_t gc, uint32_t walk, const uint64_t *values, size_t n,
                       size_t missing)
{
    struct tb_bytes b = { .n = 0 };
    tb_u32(&b, gc);
    tb_u32(&b, walk);
    for (size_t i = 0; i < n; i++)
        tb_u64(&b, values[i]);
    if (missing == SIZE_MAX)
        tb_u64(&b, 1);
    put_event(t, 5, &b, missing == SIZE_MAX ? b.n : b.n - missing);
}
