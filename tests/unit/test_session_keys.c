/* The keys of all collections of a bundled core file, as people read them; and where a living
 * process has the values that the core file has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/session.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/values.h>

/* its struct is what a test can make of a core file */
#include "image/process_types.c"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/run.h"

#define DICTIONARY "System.Collections.Generic.Dictionary<"
#define TREE       "System.Collections.Generic.SortedSet<System.Collections.Generic.KeyValuePair<"

/* HeapLab fills them with the numbers 0 to 99; the framework fills the others. */
static const struct keys {
    const char *type;           /* of the entries */
    const char *before, *after; /* the key of number N; NULL: LISTED */
    unsigned count;
    const char *listed[8];
} all[] = {
    { DICTIONARY "HeapLab.Key, HeapLab.Book>.Entry[]", "(Id = ", ")", 100, { NULL } },
    { DICTIONARY "System.Int32, HeapLab.Book>.Entry[]", "", "", 100, { NULL } },
    { TREE "System.String, HeapLab.Book>>.Node", "\"book ", "\"", 100, { NULL } },
    { DICTIONARY "System.Char, System.String>.Entry[]",
      NULL,
      NULL,
      7,
      { "'\"'", "'\\'", "'\\u0008'", "'\\u0009'", "'\\u000a'", "'\\u000c'", "'\\u000d'" } },
    { DICTIONARY
      "System.Guid, System.Diagnostics.Tracing.EventSource.OverrideEventProvider>.Entry[]",
      NULL,
      NULL,
      1,
      { "20752bc4-c151-50f5-f27b-df92d8af5a61" } },
};
#define KINDS (sizeof all / sizeof *all)

struct core {
    uint8_t *bytes;
    struct gcd_input *in;
    struct gcd_dump *d;
    struct gcd_graph *g;
    struct gcd_session *s;
};

static void open_core(struct core *c)
{
    const struct gcd_image_options image = { .values = { .kind = GCD_VALUES_ALL,
                                                         .max_string = 100 } };
    const struct gcd_dump_options options = { .values = true };
    size_t n;
    c->bytes = run_load(GCDUMPC_SOURCE "/traces/net10-core/heap.core.gz", &n);
    assert_int_equal(gcd_input_from_memory(c->bytes, n, NULL, &c->in, NULL), GCD_OK);
    assert_int_equal(gcd_input_set_image(c->in, &image, NULL), GCD_OK);
    assert_int_equal(gcd_dump_open(c->in, &options, &c->d, NULL), GCD_OK);
    assert_int_equal(gcd_graph_from_dump(c->d, NULL, &c->g, NULL), GCD_OK);
    assert_int_equal(gcd_session_new(c->g, NULL, &c->s, NULL), GCD_OK);
}

static void close_core(struct core *c)
{
    gcd_session_free(c->s);
    gcd_graph_free(c->g);
    gcd_dump_free(c->d);
    gcd_input_free(c->in);
    free(c->bytes);
}

/* Calls SEE for the key of each reference that has one. */
static void each_key(struct core *c, void (*see)(void *ctx, const char *type, const char *key),
                     void *ctx)
{
    const struct gcd_names *names = gcd_session_names(c->s);
    for (uint32_t from = 0; from < gcd_graph_node_count(c->g); from++) {
        size_t n;
        const uint32_t *to = gcd_graph_node_edges(c->g, from, &n);
        for (size_t i = 0; i < n; i++) {
            char buf[GCD_QUOTED_BYTES];
            struct gcd_text text;
            const struct gcd_session_entry e = { GCD_NODE_NONE, from, to[i] };
            const char *key = gcd_session_key(c->s, &e, &text, buf);
            if (key != NULL)
                see(ctx, gcd_names_get(names, gcd_graph_node_type(c->g, from)), key);
        }
    }
}

struct seen {
    unsigned count[KINDS][100];
};

static void mark(void *ctx, const char *type, const char *key)
{
    struct seen *seen = ctx;
    char wanted[100];
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(type, all[k].type) != 0)
            continue;
        for (unsigned i = 0; i < all[k].count; i++) {
            if (all[k].before == NULL)
                (void)snprintf(wanted, sizeof wanted, "%s", all[k].listed[i]);
            else
                (void)snprintf(wanted, sizeof wanted, "%s%u%s", all[k].before, i, all[k].after);
            if (strcmp(key, wanted) == 0) {
                seen->count[k][i]++;
                return;
            }
        }
        fail_msg("%s: %s", type, key);
    }
}

static void each_entry_has_its_key(void **state)
{
    (void)state;
    struct core c;
    struct seen seen = { .count = { { 0 } } };
    open_core(&c);
    gcd_session_use_values(c.s,
                           &(struct gcd_values_view){ gcd_dump_values(c.d), GCD_SHOW_RAW, c.in });
    each_key(&c, mark, &seen);
    for (size_t k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < all[k].count; i++)
            assert_int_equal(seen.count[k][i], 1);
    close_core(&c);
}

static void no_key(void *ctx, const char *type, const char *key)
{
    (void)ctx;
    fail_msg("%s: %s", type, key);
}

static void nothing_is_shown_unasked(void **state)
{
    (void)state;
    struct core c;
    open_core(&c);
    gcd_session_use_values(c.s,
                           &(struct gcd_values_view){ gcd_dump_values(c.d), GCD_SHOW_EQUAL, c.in });
    each_key(&c, no_key, NULL);
    close_core(&c);
}

/* ---- where a living process has the same values (image/process_types.c) ---- */

/* The bytes of column number COLUMN of an object at ADDRESS are those that its ROW has. */
static void expect_cell(struct image *m, uint64_t address, const struct value_cell *cell,
                        const struct value_column *column, const uint8_t *row)
{
    uint8_t bytes[16] = { 0 }, flag = 0;
    uint32_t flags = (column->flags & VALUE_NULLABLE) != 0, n = column->bytes - flags;
    if (column->bytes == 0) /* another value type */
        return;
    assert_int_equal(cell->flag != 0, flags);
    if (flags != 0) {
        assert_true(image_read(m, address + cell->flag, &flag, 1));
        assert_int_equal(flag != 0, row[column->at]);
    }
    assert_true(image_read(m, address + cell->offset, bytes, n));
    if (flags == 0 || flag != 0)
        assert_memory_equal(bytes, row + column->at + flags, n);
}

/* Is it a machine word, which is written at once? */
static bool is_word(const struct value_cell *cell, const struct value_column *column,
                    uint32_t stride)
{
    return column->bytes == 0 || ((column->flags & VALUE_NULLABLE) == 0 && column->bytes <= 8 &&
                                  cell->offset % column->bytes == 0 && stride % column->bytes == 0);
}

/* Nothing is read of a type that may be unloaded, nor of one that is none. */
static void expect_unknown(struct process_types *p, uint64_t table)
{
    struct value_shape shape;
    gcd_status st = GCD_OK;
    struct clr_type *type = &p->heap->clr.types[clr_type_of(&p->heap->clr, table, &st)];
    for (unsigned i = 0; i < 3; i++) {
        type->collectible = i == 1;
        assert_int_equal(p->source.shape(&p->source, i == 2 ? 8 : table, false, &shape, NULL),
                         GCD_OK);
        assert_int_equal(shape.unknown, i > 0);
        assert_int_equal(shape.type == VALUE_NO_TYPE, i > 0);
    }
    type->collectible = false;
}

/* SHAPE, of a type whose objects are kept in ROWS as LIKE, has room for its cells and no more. */
static void expect_shape(const struct value_shape *shape, const struct value_rows *rows,
                         const struct value_type *like, const struct value_cell *cells)
{
    uint32_t bytes = VALUE_HEAD_BYTES;
    bool wide = false;
    assert_int_equal(shape->stride, like->stride);
    for (uint32_t i = 0; i < like->count; i++) {
        const struct value_column *column = &rows->columns[like->first + i];
        uint32_t end = cells[i].offset + column->bytes - ((column->flags & VALUE_NULLABLE) != 0);
        assert_int_equal(cells[i].wide, !is_word(&cells[i], column, like->stride));
        wide = wide || cells[i].wide;
        bytes = column->bytes > 0 && end > bytes ? end : bytes;
    }
    assert_int_equal(shape->wide, wide);
    assert_int_equal(shape->bytes, bytes);
}

struct compared {
    size_t objects, elements, words, wide, bytes, nothing, unknown;
};

/* The shape of TABLE, and the object at ADDRESS with it, or its elements. */
static void compare_object(struct process_types *p, struct image_columns *kept, uint64_t table,
                           uint64_t address, struct compared *n)
{
    struct image *m = &p->heap->image;
    struct value_shape shape;
    assert_int_equal(p->source.shape(&p->source, table, false, &shape, NULL), GCD_OK);
    size_t before = kept->rows->object_count;
    assert_int_equal(image_columns_add(kept, table, address), GCD_OK);
    if (shape.type == VALUE_NO_TYPE) {
        assert_true(shape.bytes == VALUE_HEAD_BYTES && shape.keys == 0 && !shape.wide);
        /* an image never changes: there what is known of a type is kept */
        assert_true(shape.unknown || kept->rows->object_count == before);
        shape.unknown ? n->unknown++ : n->nothing++;
        return;
    }
    const struct value_cell *cells = &p->source.cells[p->columns.rows->types[shape.type].first];
    for (size_t i = before; i < kept->rows->object_count; i++) {
        const struct value_object *o = &kept->rows->objects[i];
        const struct value_type *like = &kept->rows->types[o->type];
        uint64_t at =
            shape.stride > 0 ? address + VALUE_ELEMENTS_AT + (i - before) * shape.stride : address;
        if (o->address != at) /* a key of a collection */
            break;
        assert_true(i - before < shape.most || shape.stride == 0);
        expect_shape(&shape, kept->rows, like, cells);
        for (uint32_t k = 0; k < like->count; k++) {
            expect_cell(m, at, &cells[k], &kept->rows->columns[like->first + k],
                        value_rows_of(kept->rows, o));
            cells[k].wide ? n->wide++ : n->words++;
            n->bytes += kept->rows->columns[like->first + k].bytes;
        }
        shape.stride > 0 ? n->elements++ : n->objects++;
    }
    /* an array of keys may be of numbers, too: then it has elements */
    assert_int_equal(p->source.shape(&p->source, table, true, &shape, NULL), GCD_OK);
    assert_true(shape.type == VALUE_NO_TYPE || shape.stride > 0);
}

/* Types of what HEAP has, with memory of ALLOC. */
static struct process_types *types_of(struct heap_image *heap, const struct gcd_alloc *alloc)
{
    struct process_types *p = gcd_mem_new(alloc, sizeof *p);
    assert_non_null(p);
    p->source = (struct gcd_value_source){ .begin = begin, .shape = find_shape };
    p->alloc = *alloc;
    p->heap = heap;
    return p;
}

/* But for the heap, which is the input's. */
static void forget_types(struct process_types *p)
{
    p->heap = NULL;
    gcd_value_source_free(&p->source);
}

/* Each allocation fails once, that of the types themselves aside.  A type whose metadata no memory
 * is left for is not known. */
static void types_need_memory(struct heap_image *heap, uint64_t table)
{
    bool failed = true;
    for (uint64_t at = 2; failed; at++) {
        struct failalloc f;
        struct value_rows rows;
        struct value_shape shape;
        failalloc_init(&f);
        f.fail_at = at;
        struct process_types *p = types_of(heap, &f.alloc);
        value_rows_init(&rows, &p->alloc, UINT64_MAX);
        gcd_status st = p->source.begin(&p->source, &rows, &table, 1, NULL);
        if (st == GCD_OK)
            st = p->source.shape(&p->source, table, false, &shape, NULL);
        assert_true(st == GCD_OK || (st == GCD_E_NOMEM && f.failed > 0));
        assert_true(at > 2 || st == GCD_E_NOMEM);
        failed = f.failed > 0;
        value_rows_done(&rows);
        forget_types(p);
        assert_null(failalloc_complaint(&f));
    }
}

static void a_living_process_has_the_same_values(void **state)
{
    (void)state;
    struct core c;
    struct gcd_image_numbers *numbers;
    struct value_rows rows, kept_rows;
    struct image_columns kept;
    struct compared n = { 0 };
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    open_core(&c);
    const struct gcd_values_view view = { .memory = c.in };
    assert_int_equal(gcd_image_numbers_new(&view, NULL, NULL, &numbers, NULL), GCD_OK);
    struct process_types *p = types_of(numbers->image, &alloc);
    uint32_t count = gcd_graph_node_count(c.g);
    uint64_t *tables = malloc((count + 1) * sizeof *tables);
    for (uint32_t i = 0; i < count; i++)
        tables[i] = image_u64(&p->heap->image, gcd_graph_node_address(c.g, i)) & ~UINT64_C(7);
    value_rows_init(&rows, &alloc, UINT64_MAX);
    value_rows_init(&kept_rows, &alloc, UINT64_MAX);
    image_columns_init(&kept, numbers, &kept_rows);
    assert_int_equal(p->source.begin(&p->source, &rows, tables, count, NULL), GCD_OK);
    for (uint32_t i = 0; i < count; i++)
        compare_object(p, &kept, tables[i], gcd_graph_node_address(c.g, i), &n);
    expect_unknown(p, kept_rows.types[0].id);
    types_need_memory(p->heap, kept_rows.types[0].id);
    /* of the file that is in traces: what is not seen is not compared */
    assert_int_equal(n.objects, 12376);
    assert_int_equal(n.elements, 693);
    assert_int_equal(n.words, 21687);
    assert_int_equal(n.wide, 19);
    assert_int_equal(n.bytes, 119294);
    assert_int_equal(n.nothing, 776);
    assert_int_equal(n.unknown, 7);
    image_columns_done(&kept);
    value_rows_done(&rows);
    value_rows_done(&kept_rows);
    forget_types(p);
    gcd_image_numbers_free(numbers);
    free(tables);
    close_core(&c);
}

/* A process without a runtime; nothing is left of what was opened. */
static void other_processes_have_no_types(void **state)
{
    (void)state;
    gcd_status st = GCD_E_NOMEM;
    gcd_cancel_flag stop = true;
    struct gcd_value_source *s = NULL;
    assert_int_equal(gcd_value_source_new((uint32_t)getpid(),
                                          &(struct gcd_context){ .cancel = &stop }, &s, NULL),
                     GCD_E_CANCELED);
    for (uint64_t at = 1; st == GCD_E_NOMEM; at++) {
        struct failalloc f;
        failalloc_init(&f);
        f.fail_at = at;
        st = gcd_value_source_new((uint32_t)getpid(), &(struct gcd_context){ .alloc = &f.alloc },
                                  &s, NULL);
        assert_null(failalloc_complaint(&f));
    }
    assert_int_equal(st, GCD_E_UNSUPPORTED);
    assert_null(s);
    gcd_value_source_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_has_its_key),
        cmocka_unit_test(nothing_is_shown_unasked),
        cmocka_unit_test(a_living_process_has_the_same_values),
        cmocka_unit_test(other_processes_have_no_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
