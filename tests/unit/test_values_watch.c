/* Texts read beside a walk: which are certain, by the collections that came meanwhile. */
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/values_watch.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/tb.h"

#define BASE        UINT64_C(0x100000) /* of the memory of the process */
#define STRING_TYPE (BASE + 0x40)
#define ARRAY_TYPE  (BASE + 0x80)
#define YOUNG       (BASE + 0x1000)
#define OLD         (BASE + 0x2000)
#define FROZEN      (BASE + 0x3000)
#define WALK_ENDS   INT64_C(10000) /* ns since the start of the recording */
#define READ_AT     INT64_C(20000)

static uint8_t memory[0x4000];
static uint64_t hole; /* from here on the process has nothing; 0 = none */
/* the clock at the start of a recording of support/tb.c */
static const uint64_t start_ticks = 500;
static uint64_t now;

static size_t read_memory(void *ctx, uint64_t address, void *ret, size_t n)
{
    (void)ctx;
    uint64_t end = hole != 0 ? hole : BASE + sizeof memory;
    if (address < BASE || address >= end)
        return 0;
    size_t got = end - address < n ? (size_t)(end - address) : n;
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

static void put_string(uint64_t address, const char *text)
{
    put_le(address, STRING_TYPE, 8);
    put_le(address + 8, strlen(text), 4);
    for (size_t i = 0; text[i] != '\0'; i++)
        put_le(address + 12 + 2 * i, (uint8_t)text[i], 2);
}

static void make_memory(void)
{
    memset(memory, 0, sizeof memory);
    hole = 0;
    put_le(STRING_TYPE, UINT32_C(0x80000002), 4);
    put_le(STRING_TYPE + 4, 22, 4);
    put_le(ARRAY_TYPE, UINT32_C(0x80080002), 4);
    put_le(ARRAY_TYPE + 4, 24, 4);
    put_string(YOUNG, "young");
    put_string(YOUNG + 40, "too");
    put_string(OLD, "old");
    put_string(FROZEN, "literal");
}

/* The walk of these objects, after one in a collection that the dump did not ask for. */
static void put_walk(struct tb *t, bool ranges)
{
    tb_init(t, TB_V4, 8);
    t->time_ns = 1000;
    t->step_ns = 10;
    tb_types(t, TB_LIST(struct tb_type, { .id = STRING_TYPE, .name = "System.String" },
                        { .id = ARRAY_TYPE, .name = "System.Char[]" }));
    tb_gc_start_full(t, 4, 1, 1, 0);
    tb_nodes(t, TB_LIST(struct tb_node, { OLD, 22 + 6, STRING_TYPE, 0 }));
    tb_gc_end(t, 4);
    tb_gc_start(t, 5);
    tb_nodes(t, TB_LIST(struct tb_node, { YOUNG, 22 + 10, STRING_TYPE, 0 },
                        { YOUNG + 40, 22 + 6, STRING_TYPE, 0 }, { OLD, 22 + 6, STRING_TYPE, 0 },
                        { OLD + 40, 24 + 6, ARRAY_TYPE, 0 }, { FROZEN, 22 + 14, STRING_TYPE, 0 }));
    if (ranges) {
        tb_range(t, 1, YOUNG, 0x100, 0x1000);
        tb_range(t, 2, OLD, 0x100, 0x1000);
    }
    t->time_ns = WALK_ENDS;
    tb_gc_end(t, 5);
    tb_flush(t);
}

/* A collection after the walk: its suspension at NS, unless it is missing, and its start. */
struct collection {
    int64_t ns;
    uint32_t depth;
    bool no_pause, no_start;
};

static void put_collection(struct tb *t, const struct collection *c)
{
    static const uint8_t reason[] = { 1, 0, 0, 0, 9, 0, 0, 0, 0, 0 };
    t->time_ns = c->ns;
    if (!c->no_pause)
        tb_event(t, TB_RUNTIME, 9, 1, reason, sizeof reason);
    if (!c->no_start)
        tb_gc_start_full(t, 6, c->depth, 0, 0);
}

static struct gcd_dump *dump;

/* Feeds the recording T as it comes from a process; memory is read when the walk is over. */
static gcd_status watch(struct tb *t, size_t walk_bytes, const struct gcd_alloc *alloc,
                        struct gcd_error *err)
{
    struct gcd_values_watch_options o = { .context = { .alloc = alloc },
                                          .values = { .kind = GCD_VALUES_STRINGS },
                                          .read = read_memory,
                                          .now_ns = now_ns };
    struct gcd_dump_options dump_options = { .values = true };
    struct gcd_values_watch *w = NULL;
    dump = NULL;
    assert_int_equal(gcd_dump_new(&dump_options, &dump, NULL), GCD_OK);
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

static bool has(uint64_t address, const char *text)
{
    const struct gcd_values *v = gcd_dump_values(dump);
    uint32_t i = gcd_values_find(v, address);
    if (i == GCD_TEXT_NONE)
        return false;
    struct gcd_text t = gcd_values_text(v, i);
    assert_int_equal(t.bytes, strlen(text));
    assert_memory_equal(t.utf8, text, t.bytes);
    return true;
}

/* Which texts are kept after collection C (NULL: none): "yof" are young, old and frozen ones. */
static void expect(const char *kept, const struct collection *c, bool ranges)
{
    struct tb t;
    struct gcd_error err = GCD_ERROR_INIT;
    make_memory();
    put_walk(&t, ranges);
    size_t walk = t.out.n;
    if (c != NULL)
        put_collection(&t, c);
    t.time_ns = 90000;
    tb_close(&t);
    assert_int_equal(watch(&t, walk, NULL, &err), GCD_OK);
    bool young = strchr(kept, 'y') != NULL, old = strchr(kept, 'o') != NULL,
         frozen = strchr(kept, 'f') != NULL;
    assert_int_equal(has(YOUNG, "young"), young);
    assert_int_equal(has(YOUNG + 40, "too"), young);
    assert_int_equal(has(OLD, "old"), old);
    assert_int_equal(has(FROZEN, "literal"), frozen);
    const struct gcd_values_facts *f = &gcd_dump_summary(dump)->values;
    assert_int_equal(f->objects, 2u * young + old + frozen);
    assert_int_equal(f->collected, 4 - f->objects);
    assert_int_equal(f->changed + f->unread, 0);
    gcd_dump_free(dump);
    tb_done(&t);
}

static void texts_are_kept_up_to_a_collection_of_their_generation(void **state)
{
    (void)state;
    expect("yof", NULL, true);
    expect("yof", &(struct collection){ READ_AT - 100, .depth = 0 }, true);
    expect("of", &(struct collection){ READ_AT - 100, .depth = 1 }, true);
    expect("f", &(struct collection){ READ_AT - 100, .depth = 2 }, true);
}

static void a_collection_after_the_reading_changes_nothing(void **state)
{
    (void)state;
    expect("yof", &(struct collection){ READ_AT + 100, .depth = 2 }, true);
    expect("yof", &(struct collection){ READ_AT + 100, .no_start = true }, true);
}

/* It begins with its suspension, which may have been before the reading; or at an unknown time. */
static void what_is_missing_of_a_collection_counts_against_the_texts(void **state)
{
    (void)state;
    expect("of", &(struct collection){ READ_AT + 100, .depth = 1, .no_pause = true }, true);
    expect("f", &(struct collection){ READ_AT - 100, .no_start = true }, true);
}

static void without_ranges_every_collection_counts(void **state)
{
    (void)state;
    expect("yof", NULL, false);
    expect("", &(struct collection){ READ_AT - 100, .depth = 0 }, false);
}

static void what_is_no_longer_a_string_is_no_value(void **state)
{
    (void)state;
    struct tb t;
    make_memory();
    put_walk(&t, true);
    size_t walk = t.out.n;
    tb_close(&t);
    put_le(OLD + 8, 2, 4); /* another length */
    hole = FROZEN + 16;    /* in the middle of its text */
    assert_int_equal(watch(&t, walk, NULL, NULL), GCD_OK);
    const struct gcd_values_facts *f = &gcd_dump_summary(dump)->values;
    assert_true(f->objects == 2 && f->changed == 1 && f->unread == 1 && f->collected == 0);
    assert_true(has(YOUNG, "young") && has(YOUNG + 40, "too"));
    gcd_dump_free(dump);
    tb_done(&t);
}

static void after_a_loss_nothing_is_certain(void **state)
{
    (void)state;
    struct tb t;
    struct gcd_error err = GCD_ERROR_INIT;
    make_memory();
    put_walk(&t, true);
    size_t walk = t.out.n;
    tb_lose(&t, 1);
    tb_close(&t);
    assert_int_equal(watch(&t, walk, NULL, &err), GCD_E_UNSUPPORTED);
    assert_string_equal(err.msg, "events were lost, or may have been");
    assert_null(gcd_dump_values(dump));
    gcd_dump_free(dump);
    tb_done(&t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct tb t;
    make_memory();
    put_walk(&t, true);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_kept_up_to_a_collection_of_their_generation),
        cmocka_unit_test(a_collection_after_the_reading_changes_nothing),
        cmocka_unit_test(what_is_missing_of_a_collection_counts_against_the_texts),
        cmocka_unit_test(without_ranges_every_collection_counts),
        cmocka_unit_test(what_is_no_longer_a_string_is_no_value),
        cmocka_unit_test(after_a_loss_nothing_is_certain),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
