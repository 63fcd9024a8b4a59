/* Values read beside a walk: which are certain, by the collections that came meanwhile. */
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/values_watch.h>

#include "base/error.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/tb.h"
#include "values/value_source.h"
#include "values/values.h"

#define BASE        UINT64_C(0x100000) /* of the memory of the process */
#define STRING_TYPE (BASE + 0x40)
#define ARRAY_TYPE  (BASE + 0x80)
#define ORDER_TYPE  (BASE + 0xc0)
#define PLAIN_TYPE  (BASE + 0x100) /* has no values */
#define LOST_TYPE   (BASE + 0x140) /* unknown ones */
#define YOUNG       (BASE + 0x1000)
#define OLD         (BASE + 0x2000)
#define FROZEN      (BASE + 0x3000)
#define WALK_ENDS   INT64_C(10000) /* ns since the start of the recording */
#define READ_AT     INT64_C(20000)
#define BUDGET_NS   UINT64_C(1000000)

/* An order: its number, a reference, a wide value, and a nullable number. */
#define ORDER_NUMBER    8u
#define ORDER_REFERENCE 16u
#define ORDER_WIDE      24u
#define ORDER_FLAG      40u
#define ORDER_NULLABLE  44u
#define ORDER_BYTES     56u
#define YOUNG_ORDER     (YOUNG + 0x100)
#define OLD_ORDER       (OLD + 0x100)
#define FROZEN_ORDER    (FROZEN + 0x100)

static uint8_t memory[0x4000];
static void (*between)(void); /* before the old order is read once more; NULL: nothing happens */
static unsigned readings;     /* of the old order */
static uint64_t types_take_ns;
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
    if (address == OLD_ORDER && ++readings == 2 && between != NULL)
        between();
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

static void put_order(uint64_t address, uint64_t number, uint64_t reference)
{
    put_le(address, ORDER_TYPE, 8);
    put_le(address + ORDER_NUMBER, number, 8);
    put_le(address + ORDER_REFERENCE, reference, 8);
    put_le(address + ORDER_WIDE, number, 8);
    put_le(address + ORDER_WIDE + 8, ~number, 8);
    put_le(address + ORDER_FLAG, 1, 1);
    put_le(address + ORDER_NULLABLE, number, 4);
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
    between = NULL;
    readings = 0;
    types_take_ns = 0;
    put_order(YOUNG_ORDER, 1, OLD);
    put_order(OLD_ORDER, 2, OLD);
    put_order(FROZEN_ORDER, 3, FROZEN);
}

/* ---- types of objects ---- */

static const struct value_cell order_cells[] = {
    { .offset = ORDER_NUMBER },
    { .offset = ORDER_REFERENCE },
    { .offset = ORDER_WIDE, .wide = true },
    { .offset = ORDER_NULLABLE, .flag = ORDER_FLAG, .wide = true }
};
struct orders {
    struct gcd_value_source source; /* the first */
    struct value_rows *rows;
};

static gcd_status begin_orders(struct gcd_value_source *s, struct value_rows *rows,
                               const uint64_t *tables, size_t n, struct gcd_error *err)
{
    (void)tables, (void)err;
    assert_int_equal(n, 3);
    ((struct orders *)s)->rows = rows;
    now += types_take_ns;
    return GCD_OK;
}

static gcd_status shape_of(struct gcd_value_source *s, uint64_t table, bool of_keys,
                           struct value_shape *ret, struct gcd_error *err)
{
    static const struct value_column columns[] = {
        { .form = FORM_NUMBER, .element = 10 },
        { .form = FORM_REFERENCE },
        { .form = FORM_GUID },
        { .form = FORM_NUMBER, .element = 8, .flags = VALUE_NULLABLE },
    };
    struct value_rows *rows = ((struct orders *)s)->rows;
    assert_false(of_keys);
    *ret = (struct value_shape){ .type = VALUE_NO_TYPE,
                                 .bytes = VALUE_HEAD_BYTES,
                                 .unknown = table == LOST_TYPE };
    if (table != ORDER_TYPE)
        return GCD_OK;
    assert_int_equal(rows->type_count, 0); /* asked for once */
    now += types_take_ns;
    gcd_status st = value_rows_add_type(rows, table);
    for (size_t i = 0; st == GCD_OK && i < 4; i++)
        st = value_rows_add_column(rows, &columns[i], "x", 1);
    ret->type = 0;
    ret->bytes = ORDER_NULLABLE + 4;
    ret->wide = true;
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "no memory");
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

/* The same with orders, and objects of which nothing is read. */
static void put_walk_of_orders(struct tb *t)
{
    tb_init(t, TB_V4, 8);
    t->time_ns = 1000;
    t->step_ns = 10;
    tb_gc_start(t, 5);
    tb_nodes(t,
             TB_LIST(struct tb_node, { YOUNG, 22 + 10, STRING_TYPE, 0 },
                     { YOUNG_ORDER, ORDER_BYTES, ORDER_TYPE, 0 }, { OLD, 22 + 6, STRING_TYPE, 0 },
                     { OLD + 80, 24, PLAIN_TYPE, 0 }, { OLD_ORDER, ORDER_BYTES, ORDER_TYPE, 0 },
                     { OLD_ORDER + 80, 24, LOST_TYPE, 0 }, { FROZEN, 22 + 14, STRING_TYPE, 0 },
                     { FROZEN_ORDER, ORDER_BYTES, ORDER_TYPE, 0 }));
    tb_range(t, 2, OLD, 0x200, 0x1000); /* they come in any order */
    tb_range(t, 1, YOUNG, 0x200, 0x1000);
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
static gcd_status watch_types(struct tb *t, size_t walk_bytes, enum gcd_values_kind kind,
                              struct gcd_value_source *source, const struct gcd_alloc *alloc,
                              struct gcd_error *err)
{
    struct gcd_values_watch_options o = { .context = { .alloc = alloc },
                                          .values = { .kind = kind },
                                          .source = source,
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
        st = gcd_values_watch_read(w, BUDGET_NS, err);
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

static gcd_status watch_kind(struct tb *t, size_t walk_bytes, enum gcd_values_kind kind,
                             const struct gcd_alloc *alloc, struct gcd_error *err)
{
    struct orders orders = { .source = {
                                 .begin = begin_orders, .shape = shape_of, .cells = order_cells } };
    return watch_types(t, walk_bytes, kind, &orders.source, alloc, err);
}

static gcd_status watch(struct tb *t, size_t walk_bytes, const struct gcd_alloc *alloc,
                        struct gcd_error *err)
{
    return watch_kind(t, walk_bytes, GCD_VALUES_STRINGS, alloc, err);
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

/* ---- values in objects ---- */

/* Is there the row of order NUMBER at ADDRESS, with that reference? */
static bool has_order(uint64_t address, uint64_t number, uint64_t reference)
{
    uint32_t type;
    const struct gcd_values *v = gcd_dump_values(dump);
    const uint8_t *row = value_rows_find(v->rows, address, &type);
    if (row == NULL)
        return false;
    assert_int_equal(gcd_le64(row), number);
    assert_int_equal(gcd_le64(row + 8), reference);
    assert_true(gcd_le64(row + 16) == number && gcd_le64(row + 24) == ~number);
    assert_true(row[32] == 1 && gcd_le32(row + 33) == number);
    return true;
}

/* Which orders are kept after collection C (NULL: none); WORD is changed first. */
struct order_case {
    const char *kept;
    struct collection c;
    uint64_t at, word;
    size_t bytes;
};

static void expect_orders(const struct order_case *x, uint64_t changed)
{
    struct tb t;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t reference = x->at == OLD_ORDER + ORDER_REFERENCE ? x->word : OLD;
    put_walk_of_orders(&t);
    size_t walk = t.out.n;
    if (x->bytes > 0)
        put_le(x->at, x->word, x->bytes);
    if (x->c.ns != 0)
        put_collection(&t, &x->c);
    t.time_ns = 90000;
    tb_close(&t);
    assert_int_equal(watch_kind(&t, walk, GCD_VALUES_ALL, NULL, &err), GCD_OK);
    bool young = strchr(x->kept, 'y') != NULL, old = strchr(x->kept, 'o') != NULL;
    assert_int_equal(has_order(YOUNG_ORDER, 1, OLD), young);
    assert_int_equal(has_order(OLD_ORDER, 2, reference), old);
    assert_true(has_order(FROZEN_ORDER, 3, FROZEN) && has(FROZEN, "literal"));
    const struct gcd_values_facts *f = &gcd_dump_summary(dump)->values;
    assert_int_equal(f->kind, GCD_VALUES_ALL);
    assert_int_equal(f->numbers, 1u + young + old);
    assert_int_equal(f->changed, changed);
    assert_int_equal(f->unread, 1); /* that of the unknown type */
    assert_int_equal(f->objects + f->numbers + f->collected + changed, 6);
    gcd_dump_free(dump);
    tb_done(&t);
}

static void values_are_kept_up_to_a_collection_of_their_generation(void **state)
{
    static const struct order_case cases[] = {
        { .kept = "yo" },
        { .kept = "yo", .c = { READ_AT - 100, .depth = 0 } },
        { .kept = "o", .c = { READ_AT - 100, .depth = 1 } },
        { .kept = "", .c = { READ_AT - 100, .depth = 2 } },
        { .kept = "yo", .c = { READ_AT + 100, .depth = 2 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_memory();
        expect_orders(&cases[i], 0);
    }
}

/* The old object is where it was; what it refers to may be elsewhere, and something else there. */
static void a_reference_counts_like_the_object_that_it_leads_to(void **state)
{
    const struct order_case cases[] = {
        { .kept = "o",
          .c = { READ_AT - 100, .depth = 1 },
          .at = OLD_ORDER + ORDER_REFERENCE,
          .word = FROZEN,
          .bytes = 8 },
        { .kept = "",
          .c = { READ_AT - 100, .depth = 1 },
          .at = OLD_ORDER + ORDER_REFERENCE,
          .word = YOUNG,
          .bytes = 8 },
        { .kept = "yo",
          .c = { READ_AT - 100, .depth = 0 },
          .at = OLD_ORDER + ORDER_REFERENCE,
          .word = YOUNG,
          .bytes = 8 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_memory();
        expect_orders(&cases[i], 0);
    }
}

static void what_is_no_longer_the_object_has_no_values(void **state)
{
    (void)state;
    make_memory();
    expect_orders(&(struct order_case){ "y", .at = OLD_ORDER, .word = PLAIN_TYPE, .bytes = 8 }, 1);
    make_memory(); /* no nullable has such a flag */
    expect_orders(&(struct order_case){ "y", .at = OLD_ORDER + ORDER_FLAG, .word = 2, .bytes = 1 },
                  1);
}

static void change_half(void)
{
    put_le(OLD_ORDER + ORDER_WIDE + 8, 77, 8);
}

static void change_flag(void)
{
    put_le(OLD_ORDER + ORDER_FLAG, 0, 1);
}

static void change_number(void)
{
    put_le(OLD_ORDER + ORDER_NUMBER, 77, 8);
}

static void what_changes_while_it_is_read_is_left_out(void **state)
{
    (void)state;
    make_memory();
    between = change_half;
    expect_orders(&(struct order_case){ .kept = "y" }, 1);
    make_memory();
    between = change_flag;
    expect_orders(&(struct order_case){ .kept = "y" }, 1);
    make_memory(); /* a machine word is the one or the other */
    between = change_number;
    expect_orders(&(struct order_case){ .kept = "yo" }, 0);
}

/* Types that take longer than all the time for reading, and a collection meanwhile. */
static void texts_do_not_wait_for_types(void **state)
{
    (void)state;
    struct tb t;
    struct gcd_error err = GCD_ERROR_INIT;
    make_memory();
    types_take_ns = 2 * BUDGET_NS;
    expect_orders(&(struct order_case){ .kept = "yo" }, 0);
    make_memory();
    types_take_ns = 2 * BUDGET_NS;
    put_walk_of_orders(&t);
    size_t walk = t.out.n;
    put_collection(&t, &(struct collection){ READ_AT + 100, .depth = 2 });
    tb_close(&t);
    assert_int_equal(watch_kind(&t, walk, GCD_VALUES_ALL, NULL, &err), GCD_OK);
    assert_true(has(YOUNG, "young") && has(OLD, "old") && has(FROZEN, "literal"));
    assert_int_equal(gcd_dump_summary(dump)->values.numbers, 1);
    gcd_dump_free(dump);
    tb_done(&t);
}

static void without_types_there_are_only_texts(void **state)
{
    (void)state;
    struct gcd_values_watch_options o = { .values = { .kind = GCD_VALUES_ALL },
                                          .read = read_memory,
                                          .now_ns = now_ns };
    struct gcd_values_watch *w = NULL;
    assert_int_equal(gcd_values_watch_new(&o, &w, NULL), GCD_E_ARG);
}

static void every_allocation_for_objects_may_fail(void **state)
{
    (void)state;
    struct tb t;
    make_memory();
    put_walk_of_orders(&t);
    size_t walk = t.out.n;
    tb_close(&t);
    for (uint64_t i = 1;; i++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = i;
        gcd_status st = watch_kind(&t, walk, GCD_VALUES_ALL, &f.alloc, NULL);
        assert_true(st == GCD_OK || st == GCD_E_NOMEM);
        gcd_dump_free(dump);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    tb_done(&t);
}

/* ---- keys ---- */

#define MAP_TYPE  (BASE + 0x180) /* refers to its keys */
#define INTS_TYPE (BASE + 0x1c0)
#define MAP       (OLD + 0x40)
#define KEYS      (OLD + 0x80)
#define OTHERS    (OLD + 0xc0) /* numbers that are no keys */

static struct value_rows *rows_of_maps;

static gcd_status begin_maps(struct gcd_value_source *s, struct value_rows *rows,
                             const uint64_t *tables, size_t n, struct gcd_error *err)
{
    (void)s, (void)tables, (void)err;
    assert_int_equal(n, 1);
    rows_of_maps = rows;
    return GCD_OK;
}

static const struct value_cell map_cells[] = { { .offset = 8 }, { .offset = 0 } };

static gcd_status shape_of_map(uint64_t table, struct value_shape *ret)
{
    static const struct value_column column = { .form = FORM_REFERENCE };
    assert_int_equal(table, MAP_TYPE);
    *ret = (struct value_shape){ .type = 0, .bytes = 16, .keys = 8 };
    gcd_status st = value_rows_add_type(rows_of_maps, table);
    return st == GCD_OK ? value_rows_add_column(rows_of_maps, &column, "keys", 4) : st;
}

static gcd_status shape_of_keys(uint64_t table, struct value_shape *ret)
{
    static const struct value_column column = { .form = FORM_NUMBER, .element = 8 };
    assert_int_equal(table, INTS_TYPE);
    *ret = (struct value_shape){ .type = 1, .bytes = VALUE_HEAD_BYTES, .stride = 4 };
    gcd_status st = value_rows_add_type(rows_of_maps, table);
    if (st == GCD_OK)
        st = value_rows_set_stride(rows_of_maps, 4);
    return st == GCD_OK ? value_rows_add_column(rows_of_maps, &column, "", 0) : st;
}

static gcd_status shape_in_maps(struct gcd_value_source *s, uint64_t table, bool of_keys,
                                struct value_shape *ret, struct gcd_error *err)
{
    (void)s, (void)err;
    return of_keys ? shape_of_keys(table, ret) : shape_of_map(table, ret);
}

static void put_ints(uint64_t address, uint64_t count)
{
    put_le(address, INTS_TYPE, 8);
    put_le(address + 8, count, 8);
    for (uint64_t i = 0; i < 4; i++)
        put_le(address + 16 + 4 * i, 4711 + i, 4);
}

/* How many of the keys are known after collection C. */
static uint64_t known_keys(const struct collection *c)
{
    struct gcd_value_source source = { .begin = begin_maps,
                                       .shape = shape_in_maps,
                                       .cells = map_cells };
    struct gcd_error err = GCD_ERROR_INIT;
    struct tb t;
    uint32_t type;
    tb_init(&t, TB_V4, 8);
    t.time_ns = 1000;
    t.step_ns = 10;
    tb_gc_start(&t, 5);
    tb_nodes(&t, TB_LIST(struct tb_node, { MAP, 24, MAP_TYPE, 0 }, { KEYS, 40, INTS_TYPE, 0 },
                         { OTHERS, 40, INTS_TYPE, 0 }));
    tb_range(&t, 2, OLD, 0x200, 0x1000);
    t.time_ns = WALK_ENDS;
    tb_gc_end(&t, 5);
    tb_flush(&t);
    size_t walk = t.out.n;
    put_collection(&t, c);
    t.time_ns = 90000;
    tb_close(&t);
    assert_int_equal(watch_types(&t, walk, GCD_VALUES_ALL, &source, NULL, &err), GCD_OK);
    const struct value_rows *rows = gcd_dump_values(dump)->rows;
    uint64_t n = value_rows_elements(rows, KEYS, &type);
    for (uint64_t i = 0; i < n && i < 4; i++)
        assert_int_equal(gcd_le32(value_rows_find(rows, KEYS + 16 + 4 * i, &type)), 4711 + i);
    assert_int_equal(value_rows_elements(rows, OTHERS, &type), 0);
    const struct gcd_values_facts *f = &gcd_dump_summary(dump)->values;
    assert_int_equal(f->numbers + f->collected, 1);
    assert_int_equal(f->changed + f->unread, 0);
    gcd_dump_free(dump);
    tb_done(&t);
    return n;
}

/* An array of numbers is read only if a collection has its keys in it, and only by the length that
 * the process says. */
static void numbers_that_are_keys_are_read(void **state)
{
    static const struct collection young = { READ_AT + 40000, 1, false, false },
                                   old = { READ_AT - 1000, 2, false, false };
    (void)state;
    make_memory();
    put_le(MAP_TYPE, 0, 4);
    put_le(INTS_TYPE, UINT32_C(0x80080004), 4);
    put_le(INTS_TYPE + 4, 24, 4);
    put_le(MAP, MAP_TYPE, 8);
    put_ints(KEYS, 4);
    put_ints(OTHERS, 4);
    put_le(MAP + 8, KEYS, 8);
    assert_int_equal(known_keys(&young), 4);
    assert_int_equal(known_keys(&old), 0);
    put_ints(KEYS, UINT32_MAX); /* up to where memory ends */
    assert_true(known_keys(&young) < sizeof memory);
    put_le(MAP + 8, BASE + sizeof memory, 8); /* to nothing, */
    assert_int_equal(known_keys(&young), 0);
    put_le(MAP + 8, OTHERS - 8, 8); /* to no object, */
    assert_int_equal(known_keys(&young), 0);
    put_le(MAP + 8, 0, 8); /* nowhere */
    assert_int_equal(known_keys(&young), 0);
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
        cmocka_unit_test(values_are_kept_up_to_a_collection_of_their_generation),
        cmocka_unit_test(a_reference_counts_like_the_object_that_it_leads_to),
        cmocka_unit_test(what_is_no_longer_the_object_has_no_values),
        cmocka_unit_test(what_changes_while_it_is_read_is_left_out),
        cmocka_unit_test(texts_do_not_wait_for_types),
        cmocka_unit_test(without_types_there_are_only_texts),
        cmocka_unit_test(every_allocation_for_objects_may_fail),
        cmocka_unit_test(numbers_that_are_keys_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
