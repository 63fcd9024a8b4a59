/*
 * The memory of the process beside its heap: the sentence about it, and how a recording keeps it.
 */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/recording.h>

#include "support/check.h"
#include "support/invent_names.h"
#include "support/opened.h"
#include "support/run.h"
#include "support/tb.h"
#include "support/tb_names.h"

#define MIB (UINT64_C(1) << 20)

static struct gcd_process_memory memory(uint64_t resident_mib, uint64_t anonymous_mib,
                                        uint64_t gc_mib)
{
    return (struct gcd_process_memory){ .unix_ms = 1795415132296,
                                        .resident_bytes = resident_mib * MIB,
                                        .anonymous_bytes = anonymous_mib * MIB,
                                        .file_bytes = (resident_mib - anonymous_mib) * MIB,
                                        .gc_known = true,
                                        .gc_bytes = gc_mib * MIB };
}

static void expect(struct gcd_process_memory m, bool native, const char *text)
{
    char got[GCD_MEMORY_TEXT_BYTES];
    assert_int_equal(gcd_process_memory_text(&m, got, sizeof got), strlen(text));
    assert_string_equal(got, text);
    assert_int_equal(gcd_is_native(&m), native);
}

static void sentences(void **state)
{
    (void)state;
    struct gcd_process_memory m = memory(900, 800, 120);
    char small[20];
    expect(m, true, "the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB)");
    assert_int_equal(gcd_process_memory_text(&m, small, sizeof small), sizeof small - 1);
    assert_string_equal(small, "the GC heap is 120 ");
    m.gc_known = false;
    expect(m, false, "900 MiB were resident; how much of it is the GC heap is not known");
    m.resident_bytes = 0;
    expect(m, false, "");
    expect(memory(900, 800, 449), true,
           "the GC heap is 449 MiB of 900 MiB resident: look for native memory (351 MiB)");
    /* half */
    expect(memory(900, 800, 450), false, "the GC heap is 450 MiB of 900 MiB resident");
    expect(memory(150, 120, 20), true,
           "the GC heap is 20 MiB of 150 MiB resident: look for native memory (100 MiB)");
    /* 99 MiB, with more files; then fewer, but more than anything else; then the runtime's own */
    expect(memory(250, 119, 20), false, "the GC heap is 20 MiB of 250 MiB resident");
    expect(memory(100, 58, 10), true,
           "the GC heap is 10 MiB of 100 MiB resident: look for native memory (48 MiB)");
    expect(memory(100, 57, 10), false, "the GC heap is 10 MiB of 100 MiB resident");
    /* the rest is files */
    expect(memory(900, 90, 20), false, "the GC heap is 20 MiB of 900 MiB resident");
    m = memory(900, 800, 0); /* not "0 MiB": the heap is not empty */
    m.gc_bytes = MIB - 1;
    expect(m, true,
           "the GC heap is less than 1 MiB of 900 MiB resident: look for native memory (799 MiB)");
    m.gc_bytes = MIB;
    expect(m, true, "the GC heap is 1 MiB of 900 MiB resident: look for native memory (799 MiB)");
    m = memory(300, 200, 250); /* what was read one after the other need not fit */
    assert_int_equal(gcd_native_bytes(&m), 0);
}

static void bytes_of_ranges(void **state)
{
    (void)state;
    static const struct gcd_range ranges[] = { { .used_bytes = 100 }, { .used_bytes = 50 } };
    struct gcd_summary s = { .ranges = ranges, .range_count = 2, .bytes = 120 };
    uint64_t used, unused;
    gcd_range_bytes(&s, &used, &unused);
    assert_true(used == 150 && unused == 30);
    s.bytes = 151; /* frozen objects lie elsewhere */
    gcd_range_bytes(&s, &used, &unused);
    assert_true(used == 150 && unused == 0);
}

/* What is not known is not 0. */
static void where_the_memory_is(void **state)
{
    (void)state;
    static const struct gcd_range ranges[] = { { .used_bytes = 150 } };
    const struct gcd_process_memory memory = { .resident_bytes = 1000,
                                               .anonymous_bytes = 700,
                                               .file_bytes = 250,
                                               .shared_bytes = 50,
                                               .gc_known = true,
                                               .gc_bytes = 400 };
    static const struct {
        bool resident, ranges, dead;
        uint64_t unreachable;
        struct gcd_memory_size sizes[GCD_MEMORY_PARTS];
    } rows[] = {
        { true,
          true,
          false,
          20,
          { { true, 100 },
            { false, 20 },
            { true, 30 },
            { true, 250 },
            { true, 300 },
            { true, 250 },
            { true, 50 } } },
        { true,
          false,
          true,
          20,
          { { true, 100 },
            { true, 20 },
            { false, 0 },
            { false, 0 },
            { true, 300 },
            { true, 250 },
            { true, 50 } } },
        { false,
          false,
          false,
          UINT64_MAX,
          { { false, 120 },
            { false, 0 },
            { false, 0 },
            { false, 0 },
            { false, 0 },
            { false, 0 },
            { false, 0 } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_summary s = { .bytes = 120,
                                 .image = { .made_from = "", .with_dead = rows[i].dead } };
        struct gcd_memory_size got[GCD_MEMORY_PARTS];
        if (rows[i].resident)
            s.memory = memory;
        if (rows[i].ranges) {
            s.ranges = ranges;
            s.range_count = 1;
        }
        gcd_memory_parts(&s, rows[i].unreachable, got);
        for (unsigned k = 0; k < GCD_MEMORY_PARTS; k++) {
            assert_int_equal(got[k].known, rows[i].sizes[k].known);
            assert_int_equal(got[k].bytes, rows[i].sizes[k].bytes);
            assert_true(gcd_memory_part_title((enum gcd_memory_part)k)[0] != '\0' &&
                        gcd_memory_part_key((enum gcd_memory_part)k)[0] != '\0');
        }
    }
}

/* ---- in a recording ---- */

static bool same(const struct gcd_process_memory *a, const struct gcd_process_memory *b)
{
    return a->unix_ms == b->unix_ms && a->resident_bytes == b->resident_bytes &&
           a->anonymous_bytes == b->anonymous_bytes && a->file_bytes == b->file_bytes &&
           a->shared_bytes == b->shared_bytes && a->swapped_bytes == b->swapped_bytes &&
           a->gc_known == b->gc_known && a->gc_bytes == b->gc_bytes &&
           a->cgroup_limit_bytes == b->cgroup_limit_bytes &&
           a->cgroup_used_bytes == b->cgroup_used_bytes;
}

static void check_memory(const void *bytes, size_t n, unsigned walk,
                         const struct gcd_process_memory *wanted)
{
    struct opened o = open_walk(bytes, n, walk);
    const struct gcd_summary *s = gcd_dump_summary(o.d);
    struct gcd_graph *g;
    assert_true(same(&s->memory, wanted));
    assert_true(s->trace.end == GCD_TRACE_CLOSED && s->trace.lost_events == 0 &&
                s->trace.loss_verified);
    assert_int_equal(gcd_graph_from_dump(o.d, NULL, &g, NULL), GCD_OK);
    assert_true(same(&gcd_graph_summary(g)->memory, wanted));
    gcd_graph_free(g);
    opened_done(&o);
}

/* With and without names beside it. */
static void a_recording_keeps_it(void **state)
{
    (void)state;
    static const struct gcd_process_memory none;
    const char *name;
    size_t n, k, seen = 0;
    uint8_t *bytes;
    for (size_t i = 0; (bytes = run_bundled(GCDUMPC_SOURCE, i, &name, &n)) != NULL;
         i++, free(bytes)) {
        struct opened o = open_walk(bytes, n, 0);
        struct gcd_process_memory m = memory(900, 800, 120);
        if (!gcd_dump_summary(o.d)->trace.loss_verified ||
            gcd_dump_summary(o.d)->trace.lost_events > 0) {
            opened_done(&o);
            continue;
        }
        check_memory(bytes, n, 0, &none);
        m.swapped_bytes = 5;
        m.shared_bytes = 6;
        m.cgroup_limit_bytes = 7;
        m.cgroup_used_bytes = 8;
        m.gc_known = seen % 2 == 0;
        m.gc_bytes = m.gc_known ? m.gc_bytes : 0;
        assert_int_equal(gcd_dump_set_process_memory(o.d, &m, NULL), GCD_OK);
        uint8_t *copy = copy_of(&o, true, &k, NULL);
        assert_true(k == n && memcmp(copy, bytes, n) == 0);
        free(copy);
        for (int names = 0; names < 2; names++) {
            copy = copy_of(&o, false, &k, NULL);
            assert_true(k > n);
            check_memory(copy, k, 0, &m);
            free(copy);
            invent_names(o.d, "Outer");
        }
        seen++;
        opened_done(&o);
    }
    assert_true(seen > 3);
}

static void the_dump_must_be_closed(void **state)
{
    (void)state;
    struct gcd_dump_options options = { .walk_number = 0 };
    struct gcd_process_memory m = memory(1, 1, 1);
    struct gcd_dump *d;
    assert_int_equal(gcd_dump_new(&options, &d, NULL), GCD_OK);
    assert_int_equal(gcd_dump_set_process_memory(d, &m, NULL), GCD_E_STATE);
    gcd_dump_free(d);
}

/* What other programs might write: the last record of the walk counts, and impossible values are
 * not used. */
static void events(void **state)
{
    (void)state;
    static const struct {
        uint32_t gc, walk;
        uint64_t resident, anonymous, bytes;
        size_t missing;
        bool taken;
    } rows[] = {
        { 1, 1, 900, 800, 120, 0, true },
        { 2, 1, 900, 800, 120, 0, false },
        { 1, 2, 900, 800, 120, 0, false },
        { 1, 1, 900, 800, 120, 1, false },
        { 1, 1, 900, 901, 120, 0, false },
        { 1, 1, 900, 800, 901, 0, false },
        /* a later version has more fields */
        { 1, 1, 900, 800, UINT64_MAX, 0, true },
        { 1, 1, 900, 800, 120, SIZE_MAX, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tb t;
        tb_init(&t, TB_V4, 8);
        tb_gc_start(&t, 1);
        tb_types(&t, TB_LIST(struct tb_type, { .id = 0x300, .module = 0x7000, .name = "Node" }));
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x300, 0 }));
        tb_gc_end(&t, 1);
        tb_process_memory(&t, 1, 1, TB_LIST(uint64_t, 5, 500, 400, 0, 0, 0, 300, 0, 0), 0);
        tb_process_memory(&t, rows[i].gc, rows[i].walk,
                          TB_LIST(uint64_t, UINT64_MAX, rows[i].resident, rows[i].anonymous, 1, 2,
                                  3, rows[i].bytes, 4, 5),
                          rows[i].missing);
        tb_close(&t);
        struct opened o = open_walk(t.out.p, t.out.n, 0);
        const struct gcd_process_memory *m = &gcd_dump_summary(o.d)->memory;
        bool known = rows[i].bytes != UINT64_MAX;
        assert_int_equal(gcd_dump_summary(o.d)->verdict.complete,
                         rows[i].taken || rows[i].gc != 1 || rows[i].walk != 1);
        assert_int_equal(m->resident_bytes, rows[i].taken ? 900 : 500);
        if (rows[i].taken) {
            assert_true(m->unix_ms == 0 && m->file_bytes == 1 && m->shared_bytes == 2 &&
                        m->swapped_bytes == 3);
            assert_true(m->gc_known == known && m->gc_bytes == (known ? 120 : 0) &&
                        m->cgroup_limit_bytes == 4 && m->cgroup_used_bytes == 5);
        }
        opened_done(&o);
        tb_done(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),
        cmocka_unit_test(bytes_of_ranges),
        cmocka_unit_test(where_the_memory_is),
        cmocka_unit_test(a_recording_keeps_it),
        cmocka_unit_test(the_dump_must_be_closed),
        cmocka_unit_test(events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
