/*
 * Payloads of events decoded into records: every field has a different value, both pointer sizes,
 * cut at every byte.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "clr/clr_gc.h"
#include "clr/clr_windows.h"
#include "support/tb.h"

static struct tb_bytes body;

static int setup(void **state)
{
    (void)state;
    body = (struct tb_bytes){ NULL, 0, 0 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_free(&body);
    return 0;
}

static void pointer(unsigned ptr_bytes, uint64_t v)
{
    if (ptr_bytes == 8)
        tb_u64(&body, v);
    else
        tb_u32(&body, (uint32_t)v);
}

/* The first N bytes of the body, in a block of exactly that size. */
static struct gcd_event event(uint32_t version, unsigned ptr_bytes, size_t n)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(n > 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, body.p, n);
    return (struct gcd_event){
        .version = version, .ptr_bytes = ptr_bytes, .payload = copy, .payload_bytes = n
    };
}

static uint64_t as_pointer(unsigned ptr_bytes, uint64_t v)
{
    return ptr_bytes == 8 ? v : (uint32_t)v;
}

/* ---- records of the heap walk ---- */

enum bulk { NODES, EDGES, ROOTS, DEPENDENTS, KINDS };

static void put_record(enum bulk kind, unsigned ptr_bytes, uint64_t i)
{
    pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i);
    switch (kind) {
    case NODES:
        tb_u64(&body, UINT64_C(0x2122232425262728) + i);
        tb_u64(&body, UINT64_C(0x3132333435363738) + i);
        tb_u64(&body, UINT64_C(0x4142434445464748) + i);
        break;
    case EDGES:
        tb_u32(&body, 0x51525354);
        break;
    case ROOTS:
        tb_u8(&body, 0x61 + (unsigned)i);
        tb_u32(&body, 0x71727374 + (uint32_t)i);
        pointer(ptr_bytes, UINT64_C(0x8182838485868788) + i);
        break;
    default:
        pointer(ptr_bytes, UINT64_C(0x9192939495969798) + i);
        pointer(ptr_bytes, UINT64_C(0xa1a2a3a4a5a6a7a8) + i);
    }
}

static gcd_status take(enum bulk kind, const struct gcd_event *ev, struct gcd_clr_bulk *ret)
{
    return kind == NODES   ? gcd_clr_bulk_node(ev, ret)
           : kind == EDGES ? gcd_clr_bulk_edge(ev, ret)
           : kind == ROOTS ? gcd_clr_bulk_root(ev, ret)
                           : gcd_clr_bulk_dependent(ev, ret);
}

static void check_record(enum bulk kind, const struct gcd_clr_bulk *b, unsigned ptr_bytes,
                         uint32_t i)
{
    assert_true(gcd_leptr(b->items + i * b->item_bytes, ptr_bytes) ==
                as_pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i));
    if (kind == NODES) {
        struct gcd_clr_node n = gcd_clr_node_at(b, i);
        assert_true(n.address == as_pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i) &&
                    n.size == UINT64_C(0x2122232425262728) + i);
        assert_true(n.type == UINT64_C(0x3132333435363738) + i &&
                    n.edge_count == UINT64_C(0x4142434445464748) + i);
    } else if (kind == EDGES) {
        assert_true(gcd_clr_edge_at(b, i) ==
                    as_pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i));
    } else if (kind == ROOTS) {
        struct gcd_clr_root r = gcd_clr_root_at(b, i);
        assert_true(r.object == as_pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i));
        assert_true(r.id == as_pointer(ptr_bytes, UINT64_C(0x8182838485868788) + i));
        assert_true(r.kind == 0x61 + i && r.flags == 0x71727374 + i);
    } else {
        struct gcd_clr_dependent d = gcd_clr_dependent_at(b, i);
        assert_true(d.key == as_pointer(ptr_bytes, UINT64_C(0x1112131415161718) + i));
        assert_true(d.value == as_pointer(ptr_bytes, UINT64_C(0x9192939495969798) + i));
        assert_true(d.id == as_pointer(ptr_bytes, UINT64_C(0xa1a2a3a4a5a6a7a8) + i));
    }
}

static void records_with_an_index(void **state)
{
    (void)state;
    static const size_t item_bytes[KINDS][2] = { { 28, 32 }, { 8, 12 }, { 13, 21 }, { 12, 24 } };
    static const uint32_t full[KINDS][2] = {
        { 2294, 2008 }, { 8032, 5354 }, { 4942, 3059 }, { 5354, 2677 }
    };
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned wide = 0; wide < 2; wide++) {
            struct gcd_clr_bulk b;
            body.n = 0;
            tb_u32(&body, 0x01020304);
            tb_u32(&body, 3);
            tb_u16(&body, 0xb1b2);
            for (uint64_t i = 0; i < 3; i++)
                put_record((enum bulk)kind, wide ? 8 : 4, i);
            for (size_t n = 0; n < body.n; n++) {
                struct gcd_event ev = event(0, wide ? 8 : 4, n);
                assert_int_equal(take((enum bulk)kind, &ev, &b), GCD_E_FORMAT);
            }
            struct gcd_event ev = event(0, wide ? 8 : 4, body.n);
            assert_int_equal(take((enum bulk)kind, &ev, &b), GCD_OK);
            assert_true(b.index == 0x01020304 && b.count == 3 &&
                        b.item_bytes == item_bytes[kind][wide] &&
                        gcd_clr_bulk_full(&b) == full[kind][wide]);
            for (uint32_t i = 0; i < 3; i++)
                check_record((enum bulk)kind, &b, wide ? 8 : 4, i);
        }
}

static void wrappers(void **state)
{
    (void)state;
    struct gcd_clr_bulk b;
    tb_u32(&body, 2);
    tb_u16(&body, 0xb1b2);
    for (uint64_t i = 0; i < 2; i++) {
        for (uint64_t k = 0; k < 4; k++)
            tb_u64(&body, UINT64_C(0x1111111111111111) * (k + 1) + i);
        tb_u32(&body, 1);
        tb_u32(&body, 2);
        tb_u32(&body, 3);
    }
    for (unsigned less = 0; less < 2; less++) {
        struct gcd_event ev = event(0, 4, body.n - less);
        assert_int_equal(gcd_clr_bulk_ccw(&ev, &b), less == 0 ? GCD_OK : GCD_E_FORMAT);
        for (uint32_t i = 0; less == 0 && i < 2; i++) {
            struct gcd_clr_ccw c = gcd_clr_ccw_at(&b, i);
            assert_true(c.id == UINT64_C(0x1111111111111111) + i &&
                        c.object == UINT64_C(0x2222222222222222) + i);
            assert_true(c.type == UINT64_C(0x3333333333333333) + i);
        }
        ev = event(0, 4, 6 + 2 * 40 - less);
        assert_int_equal(gcd_clr_bulk_rcw(&ev, &b), less == 0 ? GCD_OK : GCD_E_FORMAT);
        assert_true(b.count == 2 && b.index == 0);
    }
}

/* ---- the end of a payload ---- */

static gcd_status take_any(unsigned id, const struct gcd_event *ev, uint32_t *ret_count)
{
    struct gcd_clr_bulk b = { .count = 0 };
    struct gcd_cur items;
    if (id == 15 || id == 38)
        return id == 15 ? gcd_clr_bulk_type(ev, &items, ret_count)
                        : gcd_clr_bulk_static(ev, &items, ret_count);
    gcd_status st = id == 36   ? gcd_clr_bulk_ccw(ev, &b)
                    : id == 37 ? gcd_clr_bulk_rcw(ev, &b)
                               : take((enum bulk)id, ev, &b);
    if (st == GCD_OK)
        *ret_count = b.count;
    return st;
}

/* The payload claims COUNT records and holds two of the shortest kind; ids below KINDS have an
 * index. */
static void put_two(unsigned id, uint32_t count)
{
    static const size_t head[] = { [15] = 2, [36] = 2, [37] = 2, [38] = 10 },
                        record[] = { [15] = 31, [36] = 44, [37] = 40, [38] = 30 };
    body.n = 0;
    if (id < KINDS)
        tb_u32(&body, 7);
    tb_u32(&body, count);
    tb_zeros(&body, id < KINDS ? 2 : head[id]);
    for (uint64_t i = 0; i < 2; i++)
        if (id < KINDS)
            put_record((enum bulk)id, 8, i);
        else
            tb_zeros(&body, record[id]);
}

/* Version 0 ends after its records; a later version may append anything. */
static void nothing_stands_behind_version_0(void **state)
{
    (void)state;
    static const unsigned ids[] = { NODES, EDGES, ROOTS, DEPENDENTS, 15, 36, 37, 38 };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (uint32_t version = 0; version < 3; version++)
            for (uint32_t count = 0; count < 3; count++)
                for (size_t more = 0; more < 10; more += 3) {
                    uint32_t got = 99;
                    put_two(ids[i], count);
                    tb_zeros(&body, more);
                    struct gcd_event ev = event(version, 8, body.n);
                    bool ends = count == 2 && more == 0;
                    assert_int_equal(take_any(ids[i], &ev, &got),
                                     ends || version > 0 ? GCD_OK : GCD_E_FORMAT);
                    assert_int_equal(got, ends || version > 0 ? count : 99);
                }
}

/* ---- the GC itself ---- */

static void starts_ends_and_ranges(void **state)
{
    (void)state;
    struct gcd_clr_gc_start s = { .number = 99 };
    for (uint32_t i = 1; i <= 6; i++)
        tb_u32(&body, 10 * i);
    for (size_t n = 0; n <= body.n; n++) {
        struct gcd_event ev = event(0, 8, n);
        assert_int_equal(gcd_clr_gc_start(&ev, &s), n >= 8 ? GCD_OK : GCD_E_FORMAT);
        if (n < 8)
            assert_true(s.number == 99);
        else if (n < 16) /* version 0, by its size */
            assert_true(s.number == 10 && s.depth == 0 && s.reason == 20 && s.type == 0);
        else
            assert_true(s.number == 10 && s.depth == 20 && s.reason == 30 && s.type == 40);
        uint32_t number = 99, heaps = 99;
        assert_int_equal(gcd_clr_gc_end(&ev, &number), n >= 4 ? GCD_OK : GCD_E_FORMAT);
        assert_int_equal(number, n >= 4 ? 10 : 99);
        assert_int_equal(gcd_clr_heap_count(&ev, &heaps), n >= 12 ? GCD_OK : GCD_E_FORMAT);
        assert_int_equal(heaps, n >= 12 ? 30 : 99);
    }
    for (unsigned ptr_bytes = 4; ptr_bytes <= 8; ptr_bytes += 4) {
        struct gcd_clr_range r;
        body.n = 0;
        tb_u8(&body, 0xfe);
        pointer(ptr_bytes, UINT64_C(0x1112131415161718));
        tb_u64(&body, UINT64_C(0x2122232425262728));
        tb_u64(&body, UINT64_C(0x3132333435363738));
        for (unsigned less = 0; less < 2; less++) {
            struct gcd_event ev = event(0, ptr_bytes, body.n - less);
            assert_int_equal(gcd_clr_range(&ev, &r), less == 0 ? GCD_OK : GCD_E_FORMAT);
            assert_true(r.generation == 0xfe &&
                        r.start == as_pointer(ptr_bytes, UINT64_C(0x1112131415161718)));
            assert_true(r.used_bytes == UINT64_C(0x2122232425262728) &&
                        r.reserved_bytes == UINT64_C(0x3132333435363738));
        }
    }
}

/* ---- records of varying size, names ---- */

static bool is_text(const uint8_t *p, size_t units, const char *text)
{
    bool same = units == strlen(text);
    for (size_t i = 0; same && i < units; i++)
        same = p[2 * i] == (uint8_t)text[i] && p[2 * i + 1] == 0;
    return same;
}

static void static_variables_and_types(void **state)
{
    (void)state;
    struct gcd_cur items;
    uint32_t count = 0;
    struct gcd_clr_static s;
    struct gcd_clr_type t;
    tb_u32(&body, 2);
    tb_u64(&body, 0xd0d0); /* domain, runtime */
    tb_u16(&body, 0xb1b2);
    for (uint64_t i = 0; i < 2; i++) {
        for (uint64_t k = 1; k <= 3; k++)
            tb_u64(&body, k * UINT64_C(0x1111111111111111) + i);
        tb_u32(&body, 0x71727374 + (uint32_t)i);
        tb_utf16z(&body, i == 0 ? "first" : "");
    }
    struct gcd_event ev = event(0, 4, body.n);
    assert_int_equal(gcd_clr_bulk_static(&ev, &items, &count), GCD_OK);
    assert_int_equal(count, 2);
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(gcd_clr_next_static(&items, &s));
        assert_true(s.id == UINT64_C(0x1111111111111111) + i &&
                    s.object == UINT64_C(0x2222222222222222) + i);
        assert_true(s.type == UINT64_C(0x3333333333333333) + i && s.flags == 0x71727374 + i &&
                    is_text(s.name, s.name_units, i == 0 ? "first" : ""));
    }
    assert_false(gcd_clr_next_static(&items, &s));
    body.n = 0;
    tb_u32(&body, 2);
    tb_u16(&body, 0xb1b2);
    for (uint64_t i = 0; i < 2; i++) {
        tb_u64(&body, UINT64_C(0x1111111111111111) + i);
        tb_u64(&body, UINT64_C(0x2222222222222222) + i);
        tb_u32(&body, 0x31323334 + (uint32_t)i);
        tb_u32(&body, 0x41424344 + (uint32_t)i);
        tb_u8(&body, 0x51 + (unsigned)i);
        tb_utf16z(&body, i == 0 ? "Type" : "");
        tb_u32(&body, 2 - (uint32_t)i);
        for (uint64_t k = i; k < 2; k++)
            tb_u64(&body, UINT64_C(0x6162636465666768) + k);
    }
    for (unsigned less = 0; less < 2; less++) {
        ev = event(0, 4, body.n - less);
        assert_int_equal(gcd_clr_bulk_type(&ev, &items, &count), GCD_OK);
        assert_int_equal(count, 2);
        for (uint32_t i = 0; i < 2 - less; i++) {
            assert_true(gcd_clr_next_type(&items, &t));
            assert_true(t.id == UINT64_C(0x1111111111111111) + i &&
                        t.module == UINT64_C(0x2222222222222222) + i);
            assert_true(t.name_token == 0x31323334 + i && t.flags == 0x41424344 + i &&
                        t.element_type == 0x51 + i);
            assert_true(is_text(t.name, t.name_units, i == 0 ? "Type" : "") &&
                        t.parameter_count == 2 - i);
            for (uint32_t k = i; k < 2; k++)
                assert_true(gcd_le64(t.parameters + 8 * (k - i)) ==
                            UINT64_C(0x6162636465666768) + k);
        }
        assert_false(gcd_clr_next_type(&items, &t));
    }
}

static void modules_and_runtimes(void **state)
{
    (void)state;
    struct gcd_clr_module m;
    struct gcd_clr_assembly a;
    struct gcd_clr_runtime r;
    struct gcd_clr_process p;
    for (uint64_t k = 1; k <= 3; k++)
        tb_u64(&body, k * UINT64_C(0x1111111111111111));
    tb_utf16z(&body, "path");
    struct gcd_event ev = event(0, 4, body.n);
    assert_int_equal(gcd_clr_module(&ev, &m), GCD_OK);
    assert_true(m.id == UINT64_C(0x1111111111111111) &&
                m.assembly == UINT64_C(0x2222222222222222) &&
                is_text(m.path, m.path_units, "path") && m.pdb_path_units == 0);
    size_t old = body.n;
    tb_utf16z(&body, "native");
    tb_u16(&body, 0);
    for (uint8_t k = 1; k <= 16; k++)
        tb_u8(&body, k);
    tb_u32(&body, 17);
    size_t age = body.n;
    tb_utf16z(&body, "/src/X.pdb");
    for (size_t n = old; n <= body.n; n++) {
        ev = event(2, 4, n);
        assert_int_equal(gcd_clr_module(&ev, &m), GCD_OK);
        assert_int_equal(m.pdb_age, n >= age ? 17 : 0);
        assert_int_equal(m.pdb_guid[15], n >= age ? 16 : 0);
        assert_int_equal(m.pdb_path_units, n == body.n ? 10 : 0);
    }
    assert_true(is_text(m.pdb_path, m.pdb_path_units, "/src/X.pdb"));
    body.n = old;
    body.n -= 10;
    tb_u32(&body, 7);
    tb_utf16z(&body, "name");
    ev = event(0, 4, body.n);
    assert_int_equal(gcd_clr_assembly(&ev, &a), GCD_OK);
    assert_true(a.id == UINT64_C(0x1111111111111111) && is_text(a.name, a.name_units, "name"));
    body.n = 0;
    for (unsigned i = 0; i < 10; i++)
        tb_u16(&body, 0x101 * (i + 1));
    tb_u32(&body, 0x12345678);
    tb_u8(&body, 9);
    size_t fixed = body.n;
    tb_utf16z(&body, "line");
    for (size_t n = 0; n <= body.n; n++) {
        ev = event(0, 4, n);
        assert_int_equal(gcd_clr_runtime(&ev, &r), n >= fixed ? GCD_OK : GCD_E_FORMAT);
        if (n < fixed)
            continue;
        assert_true(r.sku == 0x202 && r.version[0] == 0x303 && r.version[1] == 0x404 &&
                    r.version[2] == 0x505 && r.version[3] == 0x606);
        assert_true(n == body.n ? is_text(r.command_line, r.command_line_units, "line")
                                : r.command_line == NULL);
    }
    static const char *const texts[] = { "line", "os", "machine" };
    size_t ends[3];
    body.n = 0;
    for (size_t i = 0; i < 3; i++) {
        tb_utf16z(&body, texts[i]);
        ends[i] = body.n;
    }
    for (size_t n = 0; n <= body.n; n++) {
        ev = event(0, 4, n);
        assert_int_equal(gcd_clr_process(&ev, &p), n >= ends[0] ? GCD_OK : GCD_E_FORMAT);
        for (size_t i = 0; i < 3; i++)
            assert_true(n >= ends[i] ? is_text(p.text[i], p.units[i], texts[i])
                                     : p.text[i] == NULL);
    }
}

/* ---- processes of Windows ---- */

static void put_process(uint32_t version, unsigned ptr_bytes, unsigned authorities, bool user)
{
    body.n = 0;
    pointer(ptr_bytes, UINT64_C(0xc1c2c3c4c5c6c7c8));
    tb_u32(&body, 0x12345678); /* process, parent, session, exit status */
    tb_u32(&body, 0xd1);
    tb_u32(&body, 0xd2);
    tb_u32(&body, 0xd3);
    pointer(ptr_bytes, UINT64_C(0xe1e2e3e4e5e6e7e8));
    if (version >= 4)
        tb_u32(&body, 0xd4);
    if (user) {
        pointer(ptr_bytes, UINT64_C(0xf1f2f3f4f5f6f7f8));
        pointer(ptr_bytes, 0);
        tb_u8(&body, 1);
        tb_u8(&body, authorities);
        tb_zeros(&body, 6 + 4 * (size_t)authorities);
    } else {
        tb_u32(&body, 0);
    }
    tb_put(&body, "shop.exe", 9);
    tb_utf16z(&body, "shop --x");
}

static void processes_of_windows(void **state)
{
    (void)state;
    for (uint32_t version = 1; version <= 5; version++)
        for (unsigned ptr_bytes = 4; ptr_bytes <= 8; ptr_bytes += 4)
            for (unsigned user = 0; user < 4; user++) {
                struct gcd_windows_process p;
                put_process(version, ptr_bytes, user, user > 0);
                struct gcd_event ev = event(version, ptr_bytes, body.n);
                gcd_status st = gcd_windows_process(&ev, &p);
                assert_int_equal(st, version >= 3 ? GCD_OK : GCD_E_FORMAT);
                if (st != GCD_OK)
                    continue;
                assert_true(p.process == 0x12345678 && p.image_bytes == 8 &&
                            p.command_line_units == 8);
                assert_memory_equal(p.image, "shop.exe", 8);
                assert_memory_equal(p.command_line, "s\0h\0o\0p\0 \0-\0-\0x\0", 16);
                /* not the command line, which may be cut */
                size_t shortest = body.n - 18;
                for (size_t n = 0; n < shortest; n++) {
                    ev = event(version, ptr_bytes, n);
                    assert_int_equal(gcd_windows_process(&ev, &p), GCD_E_FORMAT);
                }
            }
}

/* ---- what payloads say of descriptions ---- */

/* An event of a rundown has the fields of a version that it had by now, and nothing else. */
static void rundown_payloads_have_their_fields(void **state)
{
    (void)state;
    static const struct {
        uint32_t id, version, versions;
        size_t before, behind; /* bytes before the first text, and behind the last */
        unsigned texts;
    } rows[] = {
        { 141, 0, 3, 36, 0, 0 }, { 142, 1, 3, 38, 0, 0 }, { 142, 2, 3, 46, 0, 0 },
        { 143, 0, 3, 36, 0, 3 }, { 144, 1, 3, 36, 2, 3 }, { 144, 2, 3, 36, 10, 3 },
        { 145, 1, 2, 2, 0, 0 },  { 146, 1, 2, 2, 0, 0 },  { 147, 1, 2, 2, 0, 0 },
        { 148, 1, 2, 2, 0, 0 },  { 151, 0, 2, 32, 0, 2 }, { 152, 1, 2, 32, 2, 2 },
        { 153, 0, 3, 24, 0, 2 }, { 154, 1, 3, 24, 2, 2 }, { 155, 0, 2, 20, 0, 1 },
        { 156, 1, 2, 28, 2, 1 }, { 157, 0, 2, 12, 0, 1 }, { 158, 1, 2, 12, 6, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        body.n = 0;
        for (size_t k = 0; k < rows[i].before; k++)
            tb_u8(&body, 0xee);
        for (unsigned k = 0; k < rows[i].texts; k++)
            tb_utf16z(&body, "name");
        for (size_t k = 0; k < rows[i].behind; k++)
            tb_u8(&body, 0xee);
        size_t n = body.n;
        tb_u8(&body, 0xee);
        struct gcd_event ev = event(rows[i].version, 8, n);
        ev.provider = GCD_PROVIDER_RUNDOWN;
        ev.id = rows[i].id;
        assert_true(gcd_clr_description_fits(&ev));
        ev.version = rows[i].versions - 1; /* the tool that wrote it does not know the version */
        assert_true(gcd_clr_description_fits(&ev));
        for (int more = -1; more <= 1; more += 2) {
            ev = event(rows[i].version, 8, more < 0 ? n - 1 : n + 1);
            ev.provider = GCD_PROVIDER_RUNDOWN;
            ev.id = rows[i].id;
            assert_false(gcd_clr_description_fits(&ev));
            ev.version = rows[i].versions - 1;
            assert_false(gcd_clr_description_fits(&ev));
            ev.version++; /* an unknown one */
            assert_true(gcd_clr_description_fits(&ev));
            ev.version--;
            ev.id = 999;
            assert_true(gcd_clr_description_fits(&ev));
            ev.id = rows[i].id;
            ev.provider = GCD_PROVIDER_RUNTIME;
            assert_true(gcd_clr_description_fits(&ev));
        }
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(records_with_an_index),
        TEST(wrappers),
        TEST(nothing_stands_behind_version_0),
        TEST(starts_ends_and_ranges),
        TEST(static_variables_and_types),
        TEST(modules_and_runtimes),
        TEST(processes_of_windows),
        TEST(rundown_payloads_have_their_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
