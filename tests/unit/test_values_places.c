/* Places of references from the values in objects. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/graph/graph_places.h>

#include "base/cur.h"
#include "base/mem.h"
#include "graph/graph_build.h"
#include "load/load.h"
#include "support/failalloc.h"
#include "values/values.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define HOLDER UINT64_C(0x1000)
#define TABLE  UINT64_C(0x7f01)
#define TARGET UINT64_C(0x2000)
enum { TARGETS = 300 };

/* The object has LAYOUT, and references to the targets EDGES[N] (from 0 on); its fields, named by
 * the characters of NAMES, refer to the targets VALUES (from 1 on; 0 = null). */
struct object {
    const char *layout, *names;
    uint8_t values[8], edges[8], n;
};

static struct gcd_graph *make_graph(const struct object *o, const struct gcd_alloc *alloc)
{
    const struct gcd_type types[] = {
        { .id = TABLE, .name = "Holder", .module_path = "", .layout = o->layout },
        { .name = "Target", .module_path = "", .layout = "o 3" },
    };
    struct gcd_graph_options options = { .context.alloc = alloc };
    struct gcd_graph *g;
    struct gcd_build *b;
    uint32_t type;
    uint64_t edges[TARGETS];
    size_t n = o->n != 0 ? o->n : TARGETS;
    assert_int_equal(gcd_build_new(&options, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    assert_int_equal(gcd_build_node(b, HOLDER, 0, 96, &err), GCD_OK);
    for (size_t i = 0; i < TARGETS; i++)
        assert_int_equal(gcd_build_node(b, TARGET + 32 * i, 1, 24, &err), GCD_OK);
    for (size_t i = 0; i < n; i++)
        edges[i] = TARGET + 32 * (o->n != 0 ? o->edges[i] - 1u : i);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edges(b, edges, n, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static struct gcd_values *make_values(const struct object *o)
{
    struct gcd_values_options options = { .kind = GCD_VALUES_ALL };
    struct gcd_values *v;
    const struct value_column column = { .form = FORM_REFERENCE };
    uint8_t *row;
    assert_int_equal(values_new(NULL, NULL, &options, &v, &err), GCD_OK);
    assert_int_equal(value_rows_add_type(v->rows, TABLE), GCD_OK);
    for (const char *p = o->names; *p != '\0'; p++)
        assert_int_equal(value_rows_add_column(v->rows, &column, p, 1), GCD_OK);
    assert_int_equal(value_rows_add(v->rows, 0, HOLDER, &row), GCD_OK);
    for (size_t i = 0; i < strlen(o->names); i++) {
        struct gcd_put w = gcd_put_make(row + 8 * i, 8);
        gcd_put_le(&w, o->values[i] != 0 ? TARGET + UINT64_C(32) * (o->values[i] - 1u) : 0, 8);
    }
    return v;
}

/* The places of the references; "-": they are unknown. */
static const char *places(const struct object *o)
{
    static char text[64];
    struct gcd_values *v = make_values(o);
    struct gcd_graph *g = make_graph(o, NULL);
    struct gcd_dump d = { .alloc = gcd_alloc_or_default(NULL), .values = v };
    assert_int_equal(load_place_references(&d, g, NULL, &err), GCD_OK);
    (void)snprintf(text, sizeof text, "%s", gcd_graph_has_places(g) ? "" : "-");
    for (size_t i = 0; i < o->n && gcd_graph_has_places(g); i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%u",
                       (unsigned)gcd_graph_edge_place(g, 0, i));
    gcd_graph_free(g);
    values_free(v);
    return text;
}

#define PLACES(...) places(&(const struct object){ __VA_ARGS__ })

static void fields_say_where_references_are(void **state)
{
    (void)state;
    static const char three[] = "o 9\n3 a\n3 b\n3 c", two[] = "o 9\n3 a\n3 b\n3 _s.a";
    assert_string_equal(PLACES(three, "abc", { 0, 1, 2 }, { 1, 2 }, 2), "12");
    assert_string_equal(PLACES(three, "cab", { 1, 0, 2 }, { 2, 1 }, 2),
                        "12"); /* as in the source */
    assert_string_equal(PLACES(three, "abc", { 1, 0, 1 }, { 1, 1 }, 2), "02");
    assert_string_equal(PLACES("o 9\n3 <a>k__BackingField\n3 b", "ab", { 0, 1 }, { 1 }, 1), "1");
    /* the program changed them meanwhile */
    assert_string_equal(PLACES(three, "abc", { 0, 1, 3 }, { 1, 2 }, 2), "-");
    assert_string_equal(PLACES(three, "abc", { 0, 1, 0 }, { 1, 2 }, 2), "-");
    assert_string_equal(PLACES(three, "abc", { 1, 1, 2 }, { 1, 2 }, 2), "-");
    /* not all slots have a column: only what one assignment alone can be */
    assert_string_equal(PLACES(two, "ab", { 0, 1 }, { 1, 1 }, 2), "12");
    assert_string_equal(PLACES(two, "ab", { 0, 1 }, { 1 }, 1), "1");
    assert_string_equal(PLACES(two, "ab", { 0, 0 }, { 2 }, 1), "2");
    assert_string_equal(PLACES(three, "b", { 1 }, { 1, 2 }, 2), "12");
    assert_string_equal(PLACES(three, "b", { 0 }, { 1 }, 1), "-");
    assert_string_equal(PLACES(three, "b", { 1 }, { 1, 1 }, 2), "-");
    assert_string_equal(PLACES("o 9\n3 a\n3 a\n3 b", "ab", { 1, 2 }, { 1, 2 }, 2), "-");
    assert_string_equal(PLACES("o 9\n3 a\n3 a", "aa", { 1, 0 }, { 1 }, 1), "-");
    /* of arrays and types whose layout is not known, there are none */
    assert_string_equal(PLACES("v 9\n3 a", "a", { 1 }, { 1 }, 1), "-");
    assert_string_equal(PLACES("o? 9", "a", { 1 }, { 1 }, 1), "-");
    assert_string_equal(PLACES(NULL, "a", { 1 }, { 1 }, 1), "-");
    assert_string_equal(PLACES(three, "abc", { 1 }, { 0 }, 0), "-"); /* too many */
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct object o = { "o 9\n3 a\n3 b\n3 c", "abc", { 0, 1, 2 }, { 1, 2 }, 2 };
    struct gcd_values *v = make_values(&o);
    bool done = false;
    for (uint64_t i = 1; !done; i++) {
        struct failalloc fa;
        failalloc_init(&fa);
        struct gcd_graph *g = make_graph(&o, &fa.alloc);
        struct gcd_dump d = { .alloc = fa.alloc, .values = v };
        fa.fail_at = fa.calls + i;
        gcd_status st = load_place_references(&d, g, NULL, &err);
        done = st == GCD_OK;
        assert_true(done || st == GCD_E_NOMEM);
        assert_int_equal(gcd_graph_has_places(g), done);
        gcd_graph_free(g);
        assert_null(failalloc_complaint(&fa));
    }
    values_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_say_where_references_are),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
