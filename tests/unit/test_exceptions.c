/* The exceptions of small heaps, of which the places of references are known or not. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/exceptions.h>

#include "graph/graph_build.h"
#include "support/failalloc.h"
#include "values/values.h"

static struct gcd_error err = GCD_ERROR_INIT;

enum { BASE, OWN, BARE, NAMED, OTHER, STRING, TRACE, TYPES };

#define EXCEPTION_FIELDS \
    "\n3 _message\n9 _innerException\n0 _stackTrace\n3 _stackTraceString\n3 _source"

static const struct gcd_type types[TYPES] = {
    { .name = "System.Exception", .module_path = "", .layout = "o 9" EXCEPTION_FIELDS },
    { .name = "Shop.Failure", .module_path = "", .layout = "o 9,10" EXCEPTION_FIELDS "\n0 Order" },
    { .name = "Shop.UnknownException", .module_path = "" },
    { .name = "Shop.SomeException", .module_path = "", .layout = "o 7\n3 _message" },
    { .name = "Shop.Order", .module_path = "", .layout = "o 8\n3 _message" },
    { .name = "System.String", .module_path = "", .layout = "o 3" },
    { .name = "System.Byte[]", .module_path = "", .layout = "v 5" },
};

enum { LOST = 0, LATE, TEXTS, A_TRACE = TEXTS, SAME_TRACE, OTHER_TRACE, NO_TRACE, FIRST };
static const char *const texts[TEXTS] = { "the order is lost", "the order is late" };

/* The objects behind texts and a stack trace; of its references the places, + 1. */
static const struct object {
    uint32_t type, references[3], places[3], n;
} objects[] = {
    { OWN, { LOST }, { 1 }, 1 },                       /* 6: never thrown */
    { OWN, { LOST, A_TRACE }, { 1, 3 }, 2 },           /* 7: thrown */
    { OWN, { LATE }, { 1 }, 1 },                       /* 8 */
    { OWN, { LOST, FIRST, A_TRACE }, { 1, 2, 3 }, 3 }, /* 9: inner exception */
    { OWN, { LATE }, { 5 }, 1 },                       /* 10: that is _source */
    { BASE, { 0 }, { 0 }, 0 },                         /* 11 */
    { BARE, { LOST }, { 1 }, 1 },                      /* 12: fields are unknown */
    { NAMED, { LOST }, { 1 }, 1 },                     /* 13: another class of such a name */
    { OTHER, { LOST }, { 1 }, 1 },                     /* 14 */
    { OWN, { LOST, LATE }, { 1, 4 }, 2 },              /* 15: a stack trace as text */
};
#define OBJECTS (sizeof objects / sizeof *objects)

struct heap {
    struct gcd_graph *graph;
    struct gcd_fields *fields;
    struct gcd_values *values;
};

static uint64_t address_of(uint32_t node)
{
    return 0x1000 + 64 * (uint64_t)node;
}

static struct heap make_heap_of(const struct object *items, uint32_t n, bool placed)
{
    struct heap h;
    struct gcd_values_options options = { .kind = GCD_VALUES_STRINGS };
    struct gcd_build *b;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(values_new(NULL, NULL, &options, &h.values, &err), GCD_OK);
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (uint32_t i = 0; i < FIRST + n; i++) {
        type = i < TEXTS ? STRING : i < FIRST ? TRACE : items[i - FIRST].type;
        assert_int_equal(gcd_build_node(b, address_of(i), type, 64, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < TEXTS; i++) {
        uint32_t length = (uint32_t)strlen(texts[i]);
        struct values_content c = {
            .hash = i + 1, .utf8 = texts[i], .length = length, .bytes = length
        };
        assert_int_equal(values_add(h.values, address_of(i), 0, &c, &err), GCD_OK);
    }
    assert_int_equal(values_sort(h.values, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < FIRST + n; i++) {
        const struct object *o = i < FIRST ? NULL : &items[i - FIRST];
        uint64_t targets[3];
        for (uint32_t k = 0; o != NULL && k < o->n; k++)
            targets[k] = address_of(o->references[k]);
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        if (o != NULL)
            assert_int_equal(
                gcd_build_placed_edges(b, targets, placed ? o->places : NULL, o->n, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    return h;
}

static struct heap make_heap(bool placed)
{
    return make_heap_of(objects, OBJECTS, placed);
}

static void free_heap(struct heap *h)
{
    gcd_fields_free(h->fields);
    gcd_graph_free(h->graph);
    values_free(h->values);
}

/* A line for each group: count, thrown, type, message, inner type, stack trace, node, method. */
static const char *groups(const struct heap *h, const struct gcd_exceptions_of *of)
{
    static char text[2048];
    struct gcd_exceptions *e = NULL;
    size_t used = 0;
    struct gcd_exception_totals sum = { .objects = 0 };
    assert_int_equal(gcd_exceptions_new(h->graph, of, &e, &err), GCD_OK);
    text[0] = '\0';
    for (size_t i = 0; i < gcd_exceptions_count(e); i++) {
        const struct gcd_exception *x = gcd_exceptions_at(e, i);
        const uint32_t told[2] = { x->message, x->stack_trace };
        const char *shown[2] = { "-", "-" };
        for (unsigned k = 0; k < 2; k++)
            if (told[k] != GCD_TEXT_NONE)
                shown[k] = gcd_values_text(h->values, told[k]).utf8[14] == 'o' ? "lost" : "late";
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%u %u %s %s %s %s %u%s%s\n",
                             (unsigned)x->count, (unsigned)x->thrown, types[x->type].name, shown[0],
                             x->inner_type != GCD_TYPE_NONE ? types[x->inner_type].name : "-",
                             shown[1], (unsigned)x->node, x->thrown_in != NULL ? " " : "",
                             x->thrown_in != NULL ? x->thrown_in : "");
        assert_int_equal(x->bytes, 64 * x->count);
        sum.bytes += x->bytes;
        sum.objects += x->count;
        sum.thrown += x->thrown;
    }
    struct gcd_exception_totals totals = gcd_exceptions_totals(e);
    assert_int_equal(totals.objects, sum.objects);
    assert_int_equal(totals.thrown, sum.thrown);
    assert_int_equal(totals.bytes, sum.bytes);
    gcd_exceptions_free(e);
    return text;
}

static const char *groups_of(const struct heap *h, bool values)
{
    struct gcd_exceptions_of of = { .fields = h->fields, .values = values ? h->values : NULL };
    return groups(h, &of);
}

static void test_groups_by_type_message_and_inner_exception(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    assert_string_equal(groups_of(&h, true), "3 2 Shop.Failure lost - late 7\n"
                                             "1 0 System.Exception - - - 11\n"
                                             "1 1 Shop.Failure lost Shop.Failure - 9\n"
                                             "1 0 Shop.Failure late - - 8\n"
                                             "1 0 Shop.Failure - - - 10\n"
                                             "1 0 Shop.UnknownException - - - 12\n");
    assert_string_equal(groups_of(&h, false), "5 2 Shop.Failure - - - 7\n"
                                              "1 0 System.Exception - - - 11\n"
                                              "1 1 Shop.Failure - Shop.Failure - 9\n"
                                              "1 0 Shop.UnknownException - - - 12\n");
    free_heap(&h);
}

/* By the order of references alone, only the message of object 9 is certain: what comes behind it
 * is the inner exception, or in a field that takes any object. */
static void test_only_what_is_certain(void **state)
{
    (void)state;
    struct heap h = make_heap(false);
    assert_string_equal(groups_of(&h, true), "5 0 Shop.Failure - - - 6\n"
                                             "1 0 System.Exception - - - 11\n"
                                             "1 0 Shop.Failure lost - - 9\n"
                                             "1 0 Shop.UnknownException - - - 12\n");
    free_heap(&h);
}

/* Objects of one type, message and inner exception, the first of them thrown, with these traces. */
static const struct object thrown[] = {
    { OWN, { LOST }, { 1 }, 1 },
    { OWN, { LOST, NO_TRACE }, { 1, 3 }, 2 },
    { OWN, { LOST, A_TRACE }, { 1, 3 }, 2 },
    { OWN, { LOST, OTHER_TRACE }, { 1, 3 }, 2 },
    { OWN, { LOST, SAME_TRACE }, { 1, 3 }, 2 },
    { OWN, { LATE, SAME_TRACE }, { 1, 3 }, 2 },
    { OWN, { LOST, A_TRACE }, { 1, 3 }, 2 },
};

/* [gcd_exceptions_of.thrown_in] Two of the traces are of overloads, with one name. */
static const char *thrown_in(void *asked, uint64_t address)
{
    static const char overload[] = "Shop.Pump.Run";
    ++*(unsigned *)asked;
    return address == address_of(A_TRACE)       ? "Shop.Pump.Run"
           : address == address_of(SAME_TRACE)  ? overload
           : address == address_of(OTHER_TRACE) ? "Shop.Gate.Enter"
                                                : NULL;
}

static void test_groups_by_the_method_that_threw(void **state)
{
    (void)state;
    struct heap h = make_heap_of(thrown, sizeof thrown / sizeof *thrown, true);
    unsigned asked = 0;
    struct gcd_exceptions_of of = {
        .fields = h.fields, .values = h.values, .thrown_in = thrown_in, .traces = &asked
    };
    assert_string_equal(groups(&h, &of), "3 3 Shop.Failure lost - - 8 Shop.Pump.Run\n"
                                         "2 1 Shop.Failure lost - - 7\n"
                                         "1 1 Shop.Failure lost - - 9 Shop.Gate.Enter\n"
                                         "1 1 Shop.Failure late - - 11 Shop.Pump.Run\n");
    assert_int_equal(asked, 6);
    of.values = NULL;
    assert_string_equal(groups(&h, &of), "4 4 Shop.Failure - - - 8 Shop.Pump.Run\n"
                                         "2 1 Shop.Failure - - - 7\n"
                                         "1 1 Shop.Failure - - - 9 Shop.Gate.Enter\n");
    free_heap(&h);
}

static void test_each_allocation_can_fail(void **state)
{
    (void)state;
    struct heap h = make_heap(true);
    uint64_t failed = 1;
    for (uint64_t at = 1; failed > 0; at++) {
        struct failalloc f;
        struct gcd_exceptions *e = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        struct gcd_exceptions_of of = { .context = { .alloc = &f.alloc },
                                        .fields = h.fields,
                                        .values = h.values };
        gcd_status st = gcd_exceptions_new(h.graph, &of, &e, &err);
        failed = f.failed;
        assert_int_equal(st, failed > 0 ? GCD_E_NOMEM : GCD_OK);
        gcd_exceptions_free(e);
        assert_null(failalloc_complaint(&f));
    }
    free_heap(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_by_type_message_and_inner_exception),
        cmocka_unit_test(test_only_what_is_certain),
        cmocka_unit_test(test_groups_by_the_method_that_threw),
        cmocka_unit_test(test_each_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
