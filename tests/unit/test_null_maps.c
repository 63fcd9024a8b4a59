/* Null maps: how they are read beside a walk, kept in a recording, and what they say of places. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/graph/graph_places.h>
#include <gcdumpc/unstable/values_watch.h>

#include "base/error.h"
#include "base/mem.h"
#include "graph/graph_build.h"
#include "load/load.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/tb.h"
#include "values/null_maps.h"
#include "values/values.h"

#define BASE         UINT64_C(0x100000) /* of the memory of the process */
#define HOLDER       (BASE + 0x40)      /* references at 8, 16, 32 */
#define ARRAY        (BASE + 0x100)     /* of references */
#define CELLS        (BASE + 0x200)     /* of {number, number, reference, reference} */
#define PLAIN        (BASE + 0x300)     /* without references */
#define YOUNG        (BASE + 0x1000)
#define OLD          (BASE + 0x2000)
#define OLD_ARRAY    (OLD + 0x100)
#define OLD_CELLS    (OLD + 0x200)
#define TARGET       (OLD + 0x800) /* and the next ones, 32 bytes apart */
#define YOUNG_TARGET (YOUNG + 0x800)
#define LARGE        (BASE + 0x10000)
#define LARGE_N      300000u        /* more than is read at once */
#define WALK_ENDS    INT64_C(10000) /* ns since the start of the recording */
#define READ_AT      INT64_C(20000)
/* the clock at the start of a recording of support/tb.c */
static const uint64_t start_ticks = 500;

static uint8_t memory[0x10000 + 16 + 8 * LARGE_N];
static uint64_t now;

static uint64_t target(unsigned i)
{
    return TARGET + 32 * (uint64_t)i;
}

static size_t read_memory(void *ctx, uint64_t address, void *ret, size_t n)
{
    (void)ctx;
    if (address < BASE || address >= BASE + sizeof memory)
        return 0;
    size_t left = (size_t)(BASE + sizeof memory - address), got = left < n ? left : n;
    memcpy(ret, memory + (address - BASE), got);
    return got;
}

static uint64_t now_ns(void *ctx)
{
    (void)ctx;
    return now;
}

static void put_le(uint64_t address, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        memory[address - BASE + i] = (uint8_t)(v >> 8 * i);
}

static void make_memory(void)
{
    memset(memory, 0, sizeof memory);
    put_le(HOLDER, UINT32_C(0x01000000), 4);
    put_le(HOLDER + 4, 48, 4);
    put_le(HOLDER - 8, 2, 8);
    put_le(HOLDER - 16, 8, 8); /* the highest series has the lowest offset: two from 8 on */
    put_le(HOLDER - 24, 16 - UINT64_C(48), 8);
    put_le(HOLDER - 32, 32, 8);
    put_le(HOLDER - 40, 8 - UINT64_C(48), 8);
    put_le(ARRAY, UINT32_C(0x81000008), 4);
    put_le(ARRAY + 4, 24, 4);
    put_le(ARRAY - 8, 1, 8);
    put_le(ARRAY - 16, 16, 8);
    put_le(ARRAY - 24, 0 - UINT64_C(24), 8);
    put_le(CELLS, UINT32_C(0x81000020), 4);
    put_le(CELLS + 4, 24, 4);
    put_le(CELLS - 8, 0 - UINT64_C(1), 8);
    put_le(CELLS - 16, 32, 8);     /* the first reference lies behind two numbers, */
    put_le(CELLS - 24, 2, 4);      /* and another one follows, */
    put_le(CELLS - 24 + 4, 16, 4); /* then the numbers of the next */
    put_le(PLAIN + 4, 24, 4);
    put_le(YOUNG, HOLDER, 8);
    put_le(YOUNG + 16, target(0), 8);
    put_le(YOUNG + 32, target(0), 8);
    put_le(OLD, HOLDER, 8);
    put_le(OLD + 8, target(1), 8);
    put_le(OLD_ARRAY, ARRAY, 8);
    put_le(OLD_ARRAY + 8, 4, 4);
    put_le(OLD_ARRAY + 16 + 8 * 1, target(2), 8);
    put_le(OLD_ARRAY + 16 + 8 * 3, target(3), 8);
    put_le(OLD_CELLS, CELLS, 8);
    put_le(OLD_CELLS + 8, 2, 4);
    put_le(OLD_CELLS + 16 + 24, target(4), 8);
    put_le(OLD_CELLS + 16 + 32 + 16, target(5), 8);
    put_le(LARGE, ARRAY, 8);
    put_le(LARGE + 8, LARGE_N, 4);
    put_le(LARGE + 16, target(6), 8);
    put_le(LARGE + 16 + 8 * (uint64_t)(LARGE_N - 1), target(7), 8);
}

/* What the old holder has in the walk. */
static void put_walk(struct tb *t)
{
    tb_init(t, TB_V4, 8);
    t->time_ns = 1000;
    t->step_ns = 10;
    tb_gc_start(t, 5);
    tb_nodes(t, TB_LIST(struct tb_node, { YOUNG, 48, HOLDER, 2 }, { OLD, 48, HOLDER, 1 },
                        { OLD_ARRAY, 24 + 32, ARRAY, 2 }, { OLD_CELLS, 24 + 64, CELLS, 2 },
                        { TARGET, 24, PLAIN, 0 }, { TARGET + 32, 24, PLAIN, 0 },
                        { LARGE, 24 + 8 * (uint64_t)LARGE_N, ARRAY, 2 }));
    tb_range(t, 1, YOUNG, 0x1000, 0x1000);
    tb_range(t, 2, OLD, 0x1000, 0x1000);
    t->time_ns = WALK_ENDS;
    tb_gc_end(t, 5);
    tb_flush(t);
}

static struct gcd_dump *dump;

static gcd_status watch(struct tb *t, size_t walk_bytes, const struct gcd_alloc *alloc,
                        struct gcd_error *err)
{
    struct gcd_values_watch_options o = {
        .context = { .alloc = alloc }, .null_maps = true, .read = read_memory, .now_ns = now_ns
    };
    struct gcd_values_watch *w = NULL;
    dump = NULL;
    assert_int_equal(gcd_dump_new(NULL, &dump, NULL), GCD_OK);
    gcd_status st = gcd_values_watch_new(&o, &w, err);
    if (st == GCD_OK)
        st = gcd_values_watch_feed(w, t->out.p, walk_bytes, err);
    if (st == GCD_END) {
        now = start_ticks + READ_AT;
        st = gcd_values_watch_read(w, 1000000, err);
    }
    if (st == GCD_OK)
        st = gcd_values_watch_feed(w, t->out.p + walk_bytes, t->out.n - walk_bytes, err);
    assert_true(gcd_dump_feed(dump, t->out.p, t->out.n, NULL) >= 0);
    assert_int_equal(gcd_dump_close(dump, NULL, NULL), GCD_OK);
    if (st == GCD_END)
        st = gcd_values_watch_finish(w, dump, err);
    gcd_values_watch_free(w);
    return st;
}

/* The first bits of the map at ADDRESS; "-" = there is none. */
static const char *map_of(uint64_t address)
{
    static char text[16];
    size_t next = 0;
    const struct null_map *m = null_maps_find(dump->null_maps, address, &next);
    (void)snprintf(text, sizeof text, "%s", m == NULL ? "-" : "");
    for (uint32_t i = 0; m != NULL && i < m->slots && i < 8; i++)
        text[i] = (dump->null_maps->bits[m->at + i / 8] >> i % 8 & 1) != 0 ? '1' : '0',
        text[i + 1] = '\0';
    return text;
}

/* After a collection of DEPTH at NS (0: none) and with WORD (0: none) at AT. */
static void read_after(int64_t ns, uint32_t depth, uint64_t at, uint64_t word)
{
    static const uint8_t reason[] = { 1, 0, 0, 0, 9, 0, 0, 0, 0, 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb t;
    make_memory();
    put_walk(&t);
    size_t walk = t.out.n;
    if (at != 0)
        put_le(at, word, 8);
    if (ns != 0) {
        t.time_ns = ns;
        tb_event(&t, TB_RUNTIME, 9, 1, reason, sizeof reason);
        tb_gc_start_full(&t, 6, depth, 0, 0);
    }
    t.time_ns = 90000;
    tb_close(&t);
    assert_int_equal(watch(&t, walk, NULL, &err), GCD_OK);
    tb_done(&t);
}

static void expect_facts(uint64_t objects, uint64_t collected, uint64_t changed)
{
    const struct gcd_null_maps_facts *f = &gcd_dump_summary(dump)->null_maps;
    assert_true(f->known);
    assert_int_equal(f->objects, objects);
    assert_int_equal(f->collected, collected);
    assert_int_equal(f->changed, changed);
    assert_int_equal(f->unread, 0);
    assert_int_equal(gcd_dump_summary(dump)->values.kind, GCD_VALUES_NONE);
    assert_null(gcd_dump_values(dump));
}

static void bits_say_which_references_are_null(void **state)
{
    (void)state;
    read_after(0, 0, 0, 0);
    expect_facts(5, 0, 0);
    assert_string_equal(map_of(YOUNG), "011");
    assert_string_equal(map_of(OLD), "100");
    assert_string_equal(map_of(OLD_ARRAY), "0101");
    assert_string_equal(map_of(OLD_CELLS), "0110");
    assert_string_equal(map_of(TARGET), "-");
    assert_string_equal(map_of(LARGE), "10000000");
    size_t next = 0;
    const struct null_map *m = null_maps_find(dump->null_maps, LARGE, &next);
    assert_int_equal(m->slots, LARGE_N);
    assert_int_equal(m->check, null_map_check(null_map_mix(null_map_mix(0, target(6)), target(7))));
    assert_int_equal(dump->null_maps->bits[m->at + (LARGE_N - 1) / 8], 1u << (LARGE_N - 1) % 8);
    gcd_dump_free(dump);
}

static void a_collection_drops_what_it_may_have_moved(void **state)
{
    (void)state;
    read_after(READ_AT - 100, 0, 0, 0);
    expect_facts(5, 0, 0);
    gcd_dump_free(dump);
    read_after(READ_AT - 100, 1, 0, 0);
    expect_facts(4, 1, 0);
    assert_string_equal(map_of(YOUNG), "-");
    gcd_dump_free(dump);
    read_after(READ_AT - 100, 2, 0, 0);
    expect_facts(0, 5, 0); /* the large one is frozen, but what it refers to is not */
    gcd_dump_free(dump);
    read_after(READ_AT + 100, 2, 0, 0);
    expect_facts(5, 0, 0);
    gcd_dump_free(dump);
}

/* An old object whose reference leads to a young one may lead to where that was moved. */
static void what_references_lead_to_counts_too(void **state)
{
    (void)state;
    read_after(READ_AT - 100, 1, OLD + 8, YOUNG_TARGET);
    expect_facts(3, 2, 0);
    assert_string_equal(map_of(OLD), "-");
    gcd_dump_free(dump);
}

static void what_is_no_longer_the_object_has_no_map(void **state)
{
    (void)state;
    static const struct {
        uint64_t at, word;
        const char *young, *array;
    } cases[] = { { YOUNG, PLAIN, "-", "0101" },
                  { YOUNG + 8, TARGET, "-", "0101" },
                  { OLD_ARRAY + 8, 3, "011", "-" },
                  { OLD_ARRAY + 16, TARGET, "011", "-" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_after(0, 0, cases[i].at, cases[i].word);
        expect_facts(4, 0, 1);
        assert_string_equal(map_of(YOUNG), cases[i].young);
        assert_string_equal(map_of(OLD_ARRAY), cases[i].array);
        gcd_dump_free(dump);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct tb t;
    make_memory();
    put_walk(&t);
    size_t walk = t.out.n;
    tb_close(&t);
    for (uint64_t i = 1;; i++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = i;
        gcd_status st = watch(&t, walk, &f.alloc, NULL);
        assert_true(st == GCD_OK || st == GCD_E_NOMEM);
        gcd_dump_free(dump);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    tb_done(&t);
}

/* ---- parts ---- */

static struct gcd_null_maps *read_back(const struct gcd_null_maps *m, size_t damaged_part,
                                       gcd_status *ret)
{
    uint8_t buffer[VALUES_PART_BYTES];
    struct null_maps_writing w = { .m = m };
    struct null_maps_reading r = { .parts = 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    size_t n;
    assert_int_equal(null_maps_new(NULL, NULL, &r.m, &err), GCD_OK);
    *ret = GCD_OK;
    for (size_t part = 0; *ret == GCD_OK; part++) {
        assert_int_equal(null_maps_writing_next(&w, buffer, &n, &err), GCD_OK);
        if (n == 0)
            break;
        buffer[n - 1] ^= part == damaged_part;
        *ret = null_maps_read_part(&r, buffer, n, &err);
    }
    assert_true(*ret != GCD_OK || r.open == 0);
    return r.m;
}

static void parts_have_all_maps(void **state)
{
    (void)state;
    struct gcd_null_maps *m;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st;
    uint32_t seed = 1;
    assert_int_equal(null_maps_new(NULL, NULL, &m, &err), GCD_OK);
    for (uint32_t i = 0; i < 5000; i++) { /* in no order; one is larger than a part */
        struct null_map map = { .address = (i * 7919u % 5000u) * 64u,
                                .slots = i == 77 ? 1000000 : 1 + i % 70,
                                .check = i };
        uint8_t *bits;
        assert_int_equal(null_maps_add(m, &map, &bits, &err), GCD_OK);
        for (size_t k = 0; k < null_map_bytes(&map); k++)
            bits[k] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    }
    struct gcd_null_maps *same = read_back(m, SIZE_MAX, &st);
    assert_int_equal(st, GCD_OK);
    assert_int_equal(same->count, m->count);
    assert_int_equal(same->bit_bytes, m->bit_bytes);
    assert_memory_equal(same->bits, m->bits, m->bit_bytes);
    assert_memory_equal(same->maps, m->maps, m->count * sizeof *m->maps);
    assert_int_equal(null_maps_sort(same, &err), GCD_OK);
    size_t next = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        const struct null_map *found = null_maps_find(same, i * 64u, &next);
        assert_true(found != NULL && found->address == i * 64u);
        assert_null(null_maps_find(same, i * 64u + 8, &next));
    }
    null_maps_free(same);
    struct gcd_null_maps *bad = read_back(m, 3, &st);
    assert_int_equal(st, GCD_E_FORMAT);
    null_maps_free(bad);
    null_maps_free(m);
}

/* ---- places ---- */

/* The places of the references to the targets EDGES (from 1 on), when bits BITS of SLOTS were set,
 * of references to the targets READ; "-": unknown. */
static const char *places(const char *layout, uint32_t slots, unsigned bits, const char *read,
                          const char *edges)
{
    static char text[32];
    const struct gcd_type types[] = {
        { .id = HOLDER, .name = "Holder", .module_path = "", .layout = layout },
        { .id = PLAIN, .name = "Target", .module_path = "", .layout = "o 3" },
    };
    struct gcd_graph_options options = { .context.alloc = NULL };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump d = { .alloc = gcd_alloc_or_default(NULL) };
    struct gcd_null_maps *m;
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    uint64_t to[8], sum = 0;
    size_t n = strlen(edges);
    assert_int_equal(gcd_build_new(&options, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, OLD, 0, 96, &err), GCD_OK);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(gcd_build_node(b, target(i), 1, 24, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (size_t i = 0; i < n; i++)
        to[i] = target((unsigned)(edges[i] - '0'));
    assert_int_equal(gcd_build_edges(b, to, n, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    for (const char *p = read; *p != '\0'; p++)
        sum = null_map_mix(sum, target((unsigned)(*p - '0')));
    struct null_map map = { .address = OLD, .slots = slots, .check = null_map_check(sum) };
    uint8_t *to_bits;
    assert_int_equal(null_maps_new(NULL, NULL, &m, &err), GCD_OK);
    assert_int_equal(null_maps_add(m, &map, &to_bits, &err), GCD_OK);
    to_bits[0] = (uint8_t)bits;
    d.null_maps = m;
    assert_int_equal(load_place_references(&d, g, NULL, &err), GCD_OK);
    (void)snprintf(text, sizeof text, "%s", gcd_graph_has_places(g) ? "" : "-");
    for (size_t i = 0; i < n && gcd_graph_has_places(g); i++) {
        uint32_t place = gcd_graph_edge_place(g, 0, i);
        text[i] = place == GCD_PLACE_NONE ? '?' : (char)('0' + place);
        text[i + 1] = '\0';
    }
    gcd_graph_free(g);
    null_maps_free(m);
    return text;
}

static void maps_say_where_references_are(void **state)
{
    (void)state;
    static const char three[] = "o 9\n3 a\n3 b\n3 c", element[] = "v 9\n3 ",
                      cell[] = "v 9\n3 a\n3 b";
    assert_string_equal(places(three, 3, 5, "12", "12"), "02");
    assert_string_equal(places(three, 3, 6, "11", "11"), "12");
    assert_string_equal(places(element, 6, 0x24, "12", "12"), "25");
    assert_string_equal(places(cell, 6, 0x24, "12", "12"), "25");
    /* of a type that can be unloaded */
    assert_string_equal(places(three, 3, 6, "12", "712"), "?12");
    /* the program changed them meanwhile */
    assert_string_equal(places(three, 3, 5, "13", "12"), "-");
    assert_string_equal(places(three, 3, 5, "21", "12"), "-");
    assert_string_equal(places(three, 3, 1, "1", "123"), "-");
    assert_string_equal(places(three, 3, 7, "121", "12"), "-");
    /* the map does not fit the layout, which may be unknown */
    assert_string_equal(places(three, 4, 5, "12", "12"), "-");
    assert_string_equal(places(cell, 5, 5, "12", "12"), "-");
    assert_string_equal(places("o? 9", 3, 5, "12", "12"), "-");
    assert_string_equal(places(NULL, 3, 5, "12", "12"), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_say_which_references_are_null),
        cmocka_unit_test(a_collection_drops_what_it_may_have_moved),
        cmocka_unit_test(what_references_lead_to_counts_too),
        cmocka_unit_test(what_is_no_longer_the_object_has_no_map),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(parts_have_all_maps),
        cmocka_unit_test(maps_say_where_references_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
