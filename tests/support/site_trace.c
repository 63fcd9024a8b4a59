#include "support/site_trace.h"

#include <string.h>

#define MODULE UINT64_C(0x500)

void site_sample(struct tb *t, enum site_source source, uint32_t kind, uint64_t address,
                 uint64_t size)
{
    struct tb_bytes b = { 0 };
    bool tick = source == SITE_TICKS;
    if (tick)
        tb_u32(&b, 100000);
    tb_u32(&b, kind);
    tb_u16(&b, 1);
    if (tick)
        tb_u64(&b, 100000);
    tb_u64(&b, SITE_TYPE);
    tb_utf16z(&b, "System.Byte[]");
    if (tick)
        tb_u32(&b, 0);
    tb_u64(&b, address);
    tb_u64(&b, size);
    if (!tick)
        tb_u64(&b, 8);
    tb_event(t, TB_RUNTIME, tick ? 10 : 303, tick ? 4 : 0, b.p, b.n);
    tb_free(&b);
}

void site_ranges(struct tb *t, const struct site_range *ranges, size_t n)
{
    for (int moved = 0; moved < 2; moved++) {
        struct tb_bytes b = { 0 };
        uint32_t count = 0;
        tb_u32(&b, 0);
        tb_u32(&b, 0);
        tb_u16(&b, 1);
        for (size_t i = 0; i < n; i++) {
            if ((ranges[i].to != 0) != (moved != 0))
                continue;
            tb_u64(&b, ranges[i].from);
            if (moved)
                tb_u64(&b, ranges[i].to);
            tb_u64(&b, ranges[i].bytes);
            count++;
        }
        memcpy(b.p + 4, &(uint8_t[]){ (uint8_t)count, 0, 0, 0 }, 4);
        if (count > 0)
            tb_event(t, TB_RUNTIME, moved ? 22 : 21, 0, b.p, b.n);
        tb_free(&b);
    }
}

void site_collect(struct tb *t, uint32_t number, uint32_t depth, uint32_t type,
                  const struct site_range *ranges, size_t n)
{
    tb_gc_start_full(t, number, depth, 0, type);
    tb_range(t, 0, 0x1000, 0x7000, 0x7000);
    tb_range(t, 1, 0x8000, 0x4000, 0x4000);
    tb_range(t, 2, 0xc000, 0x4000, 0x4000);
    tb_range(t, 3, 0x20000, 0x20000, 0x20000);
    site_ranges(t, ranges, n);
    struct tb_bytes b = { 0 };
    tb_u32(&b, number);
    tb_u32(&b, depth);
    tb_u16(&b, 1);
    tb_event(t, TB_RUNTIME, 2, 1, b.p, b.n);
    tb_free(&b);
}

void site_method(struct tb *t, uint64_t start, uint32_t bytes, const char *type, const char *name,
                 uint32_t token)
{
    struct tb_bytes b = { 0 };
    tb_u64(&b, start);
    tb_u64(&b, 0);
    tb_u8(&b, 0);
    tb_u16(&b, 2);
    tb_u32(&b, 0);
    tb_u32(&b, 7);
    tb_u32(&b, 0);
    tb_u32(&b, 16);
    tb_u16(&b, 1);
    tb_u64(&b, 0);
    tb_event(t, TB_RUNDOWN, 150, 1, b.p, b.n);
    b.n = 0;
    tb_u64(&b, start);
    tb_u64(&b, MODULE);
    tb_u64(&b, start);
    tb_u32(&b, bytes);
    tb_u32(&b, token);
    tb_u32(&b, 0);
    tb_utf16z(&b, type);
    tb_utf16z(&b, name);
    tb_utf16z(&b, "void ()");
    tb_u16(&b, 1);
    tb_event(t, TB_RUNDOWN, 144, 1, b.p, b.n);
    tb_free(&b);
}

void site_trace(struct tb *ret, enum site_source source)
{
    struct tb *t = ret;
    tb_init(t, TB_V4, 8);
    tb_stacks(t, TB_LIST(uint64_t, 0x100005, 0x200011, 0x100015, 0x200011), 2);
    t->stack = 2;
    site_sample(t, source, 0, 0x1000, 48);
    site_sample(t, source, 0, 0x2000, 48);
    t->stack = 3;
    site_sample(t, source, 1, 0x20000, 100000);
    t->stack = 1;
    site_collect(t, 1, 0, 0, TB_LIST(struct site_range, { 0x1000, 0x9000, 0x100 }));
    site_collect(t, 2, 1, 0, TB_LIST(struct site_range, { 0x9000, 0, 0x100 }));
    tb_types(t, TB_LIST(struct tb_type, { .id = SITE_TYPE, .name = "System.Byte[]" }));
    tb_gc_start(t, 3);
    tb_range(t, 2, 0x8000, 0x4000, 0x4000);
    tb_range(t, 3, 0x20000, 0x20000, 0x20000);
    site_ranges(t, TB_LIST(struct site_range, { 0x9000, 0, 0x100 }, { 0x20000, 0, 0x20000 }));
    tb_nodes(t, TB_LIST(struct tb_node, { 0x9000, 48, SITE_TYPE, 0 },
                        { 0x20000, 100000, SITE_TYPE, 0 }));
    tb_gc_end(t, 3);
    /* the rundown is in no order */
    site_method(t, 0x200000, 0x40, "Shop.Program", "Main", 0x06000003);
    site_method(t, 0x100000, 0x40, "Shop.Store", "Open", 0x06000001);
    tb_module_symbols(t, MODULE, "/app/Shop.dll", 0xc0, 1);
    tb_close(t);
}
