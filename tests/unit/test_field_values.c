/* Objects of small heaps by the value of a field, with and without the places of references. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/field_values.h>
#include <gcdumpc/unstable/session/views.h>

#include "answer/answers.h"
#include "graph/graph_build.h"
#include "support/failalloc.h"
#include "values/values.h"

static struct gcd_error err = GCD_ERROR_INIT;

enum { ORDER, SPECIAL, OTHER, STRING, BYTES, TYPES };

static const struct gcd_type types[TYPES] = {
    { .id = ORDER + 1,
      .name = "Shop.Order",
      .module_path = "",
      .layout = "o 8\n3 Tenant\n3 Note\n0 Payload" },
    /* hides the note of its base class */
    { .id = SPECIAL + 1,
      .name = "Shop.Special",
      .module_path = "",
      .layout = "o 8,9\n3 Tenant\n3 Note\n0 Payload\n3 Note" },
    { .id = OTHER + 1, .name = "Shop.Other", .module_path = "", .layout = "o 7\n3 Name" },
    { .name = "System.String", .module_path = "", .layout = "o 3" },
    { .name = "System.Byte[]", .module_path = "", .layout = "v 5" },
};

/* Strings with equal texts are one value. */
enum { A1, A2, B1, DATA, UNREAD, FIRST };
static const char *const texts[FIRST] = { "tenant-a", "tenant-a", "tenant-b", NULL, NULL };

static const struct object {
    uint32_t type, references[4], places[4], n;
} objects[] = {
    { ORDER, { A1 }, { 1 }, 1 },                 /* 5: by the order alone, it may be the note */
    { ORDER, { A2, B1 }, { 1, 2 }, 2 },          /* 6 */
    { ORDER, { B1, A1, DATA }, { 1, 2, 3 }, 3 }, /* 7 */
    { ORDER, { DATA }, { 3 }, 1 },               /* 8: of no tenant */
    { ORDER, { UNREAD, A1 }, { 1, 2 }, 2 },      /* 9: that text was not read */
    { SPECIAL, { A1, A1, DATA, B1 }, { 1, 2, 3, 4 }, 4 }, /* 10 */
    { OTHER, { A1 }, { 1 }, 1 },                          /* 11 */
    { ORDER, { A1, A1, 5 }, { 1, 2, 3 }, 3 },             /* 12: keeps 5 alive */
    { ORDER, { A1, A1 }, { 1, 2 }, 2 },                   /* 13: nothing refers to it */
};
#define OBJECTS (sizeof objects / sizeof *objects)
#define DEAD    13u

struct heap {
    struct gcd_graph *graph;
    struct gcd_dominators *dominators;
    struct gcd_fields *fields;
    struct gcd_values *values;
};

static uint64_t address_of(uint32_t node)
{
    return 0x1000 + 64 * (uint64_t)node;
}

static struct heap make_heap(bool placed)
{
    struct heap h;
    struct gcd_values_options options = { .kind = GCD_VALUES_STRINGS };
    struct gcd_build *b;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(values_new(NULL, NULL, &options, &h.values, &err), GCD_OK);
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (uint32_t i = 0; i < FIRST + OBJECTS; i++) {
        type = i == DATA ? BYTES : i < FIRST ? STRING : objects[i - FIRST].type;
        assert_int_equal(gcd_build_node(b, address_of(i), type, 64, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < UNREAD; i++) {
        uint32_t n = texts[i] != NULL ? (uint32_t)strlen(texts[i]) : 8;
        struct values_content c = {
            .hash = i < B1 ? 1 : i, .utf8 = texts[i], .length = n, .bytes = texts[i] != NULL ? n : 0
        };
        assert_int_equal(values_add(h.values, address_of(i), 0, &c, &err), GCD_OK);
    }
    assert_int_equal(values_sort(h.values, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < FIRST + OBJECTS; i++) {
        const struct object *o = i < FIRST ? NULL : &objects[i - FIRST];
        uint64_t targets[4];
        for (uint32_t k = 0; o != NULL && k < o->n; k++)
            targets[k] = address_of(o->references[k]);
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        if (o != NULL)
            assert_int_equal(
                gcd_build_placed_edges(b, targets, placed ? o->places : NULL, o->n, &err), GCD_OK);
    }
    for (uint32_t i = FIRST + 1; i < DEAD; i++) {
        struct gcd_root r = { .kind = GCD_ROOT_HANDLE, .node = i, .name = "" };
        assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(h.graph, NULL, &h.dominators, &err), GCD_OK);
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_dominators_free(h->dominators);
    gcd_fields_free(h->fields);
    gcd_graph_free(h->graph);
    values_free(h->values);
}

static gcd_status ask(const struct heap *h, const char *field, uint32_t type, bool values,
                      const struct gcd_alloc *alloc, struct gcd_field_values **ret)
{
    uint8_t wanted[TYPES] = { 0 };
    for (uint32_t t = 0; t < TYPES; t++)
        wanted[t] = type == TYPES || t == type;
    struct gcd_field_values_of of = { .context = { .alloc = alloc },
                                      .fields = h->fields,
                                      .values = values ? h->values : NULL,
                                      .types = wanted,
                                      .field = field };
    struct gcd_values_view view = { .values = h->values };
    *ret = NULL;
    gcd_status st = gcd_image_numbers_new(&view, field, alloc, &of.numbers, &err);
    if (st >= 0)
        st = gcd_field_values_new(h->graph, h->dominators, &of, ret, &err);
    gcd_image_numbers_free(of.numbers);
    return st;
}

/* ---- the same as an answer ---- */

static uint64_t number(const struct answer *a, size_t row, const char *key)
{
    const struct answer_cell *c = answer_find(a, row, key);
    assert_true(c != NULL && c->known);
    return c->number;
}

static const char *text_of(const struct answer *a, size_t row, const char *key)
{
    const struct answer_cell *c = answer_find(a, row, key);
    return c != NULL && c->known ? c->text : "";
}

static void expect_row(const struct heap *h, const struct gcd_names *names, const struct answer *a,
                       size_t row, const struct gcd_field_value *v)
{
    static const char *const shown[] = {
        [GCD_FIELD_NULL] = "(null)",
        [GCD_FIELD_STRUCT] = "(struct)",
        [GCD_FIELD_UNTOLD] = "(unknown)",
    };
    double whole = (double)gcd_dominators_retained(h->dominators, GCD_NODE_ROOT);
    assert_int_equal(number(a, row, "count"), v->count);
    assert_int_equal(number(a, row, "bytes"), v->bytes);
    assert_int_equal(number(a, row, "retained_bytes"), v->retained_bytes);
    assert_int_equal(number(a, row, "node"), v->node);
    assert_int_equal(number(a, row, "address"), address_of(v->node));
    assert_true(answer_find(a, row, "share")->share == (double)v->retained_bytes / whole);
    if (v->kind == GCD_FIELD_TEXT) {
        struct gcd_text t = gcd_values_text(h->values, v->value);
        assert_int_equal(strlen(text_of(a, row, "text")), t.bytes);
        assert_memory_equal(text_of(a, row, "text"), t.utf8, t.bytes);
    } else if (v->kind == GCD_FIELD_TYPE)
        assert_string_equal(text_of(a, row, "type"), gcd_names_get(names, v->value));
    else if (v->kind != GCD_FIELD_NUMBER)
        assert_string_equal(text_of(a, row, "shown"), shown[v->kind]);
}

/* The rows of PAGE, and what is left out of it in one more. */
static void expect_page(const struct heap *h, const struct gcd_names *names, const struct answer *a,
                        const struct answer_page *page, const struct gcd_field_values *v)
{
    size_t n = gcd_field_values_count(v), row = 0, at = page->first < n ? page->first : n;
    uint64_t counted = 0, bytes = 0, left_out = 0, without = gcd_field_values_without(v);
    char note[40];
    assert_int_equal(a->total, n);
    assert_int_equal(a->first, page->first);
    for (bool more = true; at < n; at++) {
        const struct gcd_field_value *x = gcd_field_values_at(v, at);
        more =
            more && (page->most == 0 || row < page->most) && x->retained_bytes >= page->min_bytes;
        if (more)
            expect_row(h, names, a, row++, x);
        counted += more ? 0 : x->count;
        bytes += more ? 0 : x->bytes;
        left_out += !more;
    }
    assert_int_equal(answer_plain_rows(a), row);
    if (left_out > 0 && !page->no_rest) {
        assert_int_equal(number(a, row, "count"), counted);
        assert_int_equal(number(a, row, "bytes"), bytes);
        (void)snprintf(note, sizeof note, left_out == 1 ? "(%u more value)" : "(%u more values)",
                       (unsigned)left_out);
        assert_string_equal(text_of(a, row++, "shown"), note);
    }
    if (without > 0 && !page->no_rest) {
        assert_int_equal(number(a, row, "count"), without);
        assert_string_equal(text_of(a, row++, "shown"), "(without such a field)");
    }
    assert_int_equal(a->rows, row);
}

static void expect_answer(const struct heap *h, const char *field, uint32_t type,
                          const struct gcd_field_values *v)
{
    static const struct answer_page pages[] = { { .most = 0 },
                                                { .most = 1 },
                                                { .first = 1, .most = 2 },
                                                { .first = 9 },
                                                { .most = 1, .no_rest = true },
                                                { .min_bytes = 192 },
                                                { .min_bytes = 193 } };
    uint8_t wanted[TYPES] = { 0 };
    struct answer_of_heap of = { .types = wanted };
    struct gcd_values_view view = { .values = h->values, .show = GCD_SHOW_RAW };
    for (uint32_t t = 0; t < TYPES; t++)
        wanted[t] = type == TYPES || t == type;
    assert_int_equal(gcd_session_new(h->graph, NULL, &of.session, &err), GCD_OK);
    gcd_session_use_values(of.session, &view);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct answer *a;
        of.page = pages[i];
        assert_int_equal(answer_field_values(&of, field, &a, &err), GCD_OK);
        expect_page(h, gcd_session_names(of.session), a, &pages[i], v);
        answer_free(a);
    }
    gcd_session_free(of.session);
}

/* A line for each value: count, bytes, retained bytes, the value, node. */
static const char *values_of(const struct heap *h, const char *field, uint32_t type, bool values)
{
    static char text[2048];
    size_t used = 0;
    struct gcd_field_values *v;
    assert_int_equal(ask(h, field, type, values, NULL, &v), GCD_OK);
    if (values)
        expect_answer(h, field, type, v);
    text[0] = '\0';
    for (size_t i = 0; i < gcd_field_values_count(v); i++) {
        const struct gcd_field_value *x = gcd_field_values_at(v, i);
        char number[GCD_NUMBER_BYTES];
        struct gcd_text t = { .utf8 = x->kind == GCD_FIELD_TYPE     ? types[x->value].name
                                      : x->kind == GCD_FIELD_NULL   ? "null"
                                      : x->kind == GCD_FIELD_STRUCT ? "{}"
                                      : x->kind == GCD_FIELD_NUMBER
                                          ? gcd_number_text(&x->number, number)
                                          : "?" };
        t.bytes = (uint32_t)strlen(t.utf8);
        if (x->kind == GCD_FIELD_TEXT)
            t = gcd_values_text(h->values, x->value);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%u %u %u %.*s %u\n",
                             (unsigned)x->count, (unsigned)x->bytes, (unsigned)x->retained_bytes,
                             (int)t.bytes, t.utf8, (unsigned)x->node);
    }
    if (gcd_field_values_without(v) > 0)
        (void)snprintf(text + used, sizeof text - used, "%u without\n",
                       (unsigned)gcd_field_values_without(v));
    gcd_field_values_free(v);
    return text;
}

/* Orders 5, 6 and 12 are of tenant-a, and 5 is below 12.  The text of 9 is not known. */
static void test_equal_texts_are_one_value(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    assert_string_equal(values_of(&h, "Tenant", ORDER, true), "3 192 256 tenant-a 6\n"
                                                              "1 64 128 System.String 9\n"
                                                              "1 64 64 tenant-b 7\n"
                                                              "1 64 64 null 8\n");
    assert_string_equal(values_of(&h, "Tenant", ORDER, false), "5 320 448 System.String 6\n"
                                                               "1 64 64 null 8\n");
    assert_string_equal(values_of(&h, "Payload", TYPES, true), "3 192 320 null 6\n"
                                                               "3 192 192 System.Byte[] 7\n"
                                                               "1 64 128 Shop.Order 12\n"
                                                               "6 without\n");
    free_heap(&h);
}

static void test_a_field_hides_that_of_its_base_class(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    assert_string_equal(values_of(&h, "Note", SPECIAL, true), "1 64 64 tenant-b 10\n");
    free_heap(&h);
}

/* One string may be the tenant or the note. */
static void test_only_what_is_certain(void **state)
{
    (void)state;
    struct heap h = make_heap(false);
    assert_string_equal(values_of(&h, "Name", OTHER, true), "1 64 64 tenant-a 11\n");
    assert_non_null(strstr(values_of(&h, "Tenant", ORDER, true), " ? "));
    /* that of 8 can only be the payload */
    assert_non_null(strstr(values_of(&h, "Tenant", ORDER, true), "1 64 64 null 8\n"));
    free_heap(&h);
}

static void add_type(struct value_rows *r, uint32_t type, const char *const *names,
                     const struct value_column *columns, size_t n)
{
    assert_int_equal(value_rows_add_type(r, types[type].id), GCD_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(value_rows_add_column(r, &columns[i], names[i], strlen(names[i])), GCD_OK);
}

/* Rows that not all orders have: with a number, a struct, and a number that hides a reference. */
static void add_rows(struct heap *h)
{
    static const struct value_column columns[] = { { .form = FORM_NUMBER, .element = 5 },
                                                   { .form = FORM_OTHER },
                                                   { .form = FORM_REFERENCE } };
    static const char *const of_order[] = { "Count", "Total", "Tenant" }, *const of_special[] = {
        "Note", "Total", "Tenant"
    };
    uint8_t *row;
    add_type(h->values->rows, ORDER, of_order, columns, 3);
    for (uint32_t node = 6; node < 9; node++) {
        assert_int_equal(value_rows_add(h->values->rows, 0, address_of(node), &row), GCD_OK);
        memset(row, 0, 9);
        row[0] = node == 8;
    }
    add_type(h->values->rows, SPECIAL, of_special, columns, 3);
    assert_int_equal(value_rows_add(h->values->rows, 1, address_of(10), &row), GCD_OK);
    memset(row, 0, 9);
    row[0] = 77;
    assert_int_equal(value_rows_sort(h->values->rows), GCD_OK);
}

static void test_what_was_read_of_objects(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    add_rows(&h);
    assert_string_equal(values_of(&h, "Count", TYPES, true), "3 192 256 ? 9\n"
                                                             "2 128 192 0 6\n"
                                                             "1 64 64 1 8\n"
                                                             "7 without\n");
    assert_string_equal(values_of(&h, "Total", TYPES, true), "7 448 576 {} 6\n6 without\n");
    assert_string_equal(values_of(&h, "Note", SPECIAL, true), "1 64 64 77 10\n");
    assert_string_equal(values_of(&h, "Payload", ORDER, true), "3 192 320 null 6\n"
                                                               "2 128 128 System.Byte[] 7\n"
                                                               "1 64 128 Shop.Order 12\n");
    free_heap(&h);
}

static void test_an_unknown_field_is_answered_with_those_there_are(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    struct gcd_field_values *v;
    assert_int_equal(ask(&h, "State", TYPES, true, NULL, &v), GCD_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, "no field \"State\" refers to an object"));
    assert_non_null(strstr(err.msg, ": Tenant, Note, Payload, Name"));
    assert_int_equal(ask(&h, "Tenant", BYTES, true, NULL, &v), GCD_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, "no fields of these types are known"));
    free_heap(&h);
}

static void test_each_allocation_can_fail(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    uint64_t failed = 1;
    for (uint64_t at = 1; failed > 0; at++) {
        struct failalloc f;
        struct gcd_field_values *v;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = ask(&h, "Tenant", ORDER, true, &f.alloc, &v);
        failed = f.failed;
        assert_int_equal(st, failed > 0 ? GCD_E_NOMEM : GCD_OK);
        gcd_field_values_free(v);
        assert_null(failalloc_complaint(&f));
    }
    free_heap(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_are_one_value),
        cmocka_unit_test(test_a_field_hides_that_of_its_base_class),
        cmocka_unit_test(test_only_what_is_certain),
        cmocka_unit_test(test_what_was_read_of_objects),
        cmocka_unit_test(test_an_unknown_field_is_answered_with_those_there_are),
        cmocka_unit_test(test_each_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
