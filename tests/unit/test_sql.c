/* SQL over a session: walks, errors, memory, several threads.  tests/cli/test_sql.py compares
 * answers with those of the exported database. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/sql.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define TEXT_BYTES 16384

static void add(char *text, const char *s)
{
    size_t n = strlen(text);
    (void)snprintf(text + n, TEXT_BYTES - n, "%s", s);
}

/* The rows of all statements as text, "1|a\n"; of a longer one the beginning. */
static gcd_status ask(struct gcd_sql *db, const struct gcd_context *call, const char *statements,
                      char text[TEXT_BYTES], struct gcd_error *e)
{
    struct gcd_sql_query *q;
    gcd_status st;
    text[0] = '\0';
    while ((st = gcd_sql_prepare(db, call, &statements, &q, e)) == GCD_OK) {
        while ((st = gcd_sql_step(q, e)) == GCD_OK) {
            for (size_t i = 0; i < gcd_sql_column_count(q); i++) {
                struct gcd_sql_value v = gcd_sql_value(q, i);
                char number[40];
                (void)snprintf(number, sizeof number, "%lld", (long long)v.integer);
                add(text, i > 0 ? "|" : "");
                add(text, v.kind == GCD_SQL_INTEGER ? number
                          : v.kind == GCD_SQL_REAL  ? "real"
                                                    : v.text);
            }
            add(text, "\n");
        }
        gcd_sql_query_free(q);
        if (st != GCD_END)
            return st;
    }
    return st == GCD_END ? GCD_OK : st;
}

static void check(struct gcd_sql *db, const char *statement, const char *want)
{
    static char text[TEXT_BYTES];
    assert_int_equal(ask(db, NULL, statement, text, &err), GCD_OK);
    assert_string_equal(text, want);
}

/* 0 -> 1 -> 2, 1 -> 2 again, 0 keeps 3 alive by a dependent handle, 4 is dead. */
static struct gcd_graph *small_graph(void)
{
    return shop_build(
        &(struct shop){ SHOP_TYPES({ .id = 1,
                                     .name = "A",
                                     .raw_name = "A",
                                     .module_path = "",
                                     .named = true,
                                     .described = true },
                                   { .id = 2,
                                     .name = "B",
                                     .raw_name = "B",
                                     .module_path = "",
                                     .named = true,
                                     .described = true }),
                        SHOP_NODES({ 0, 10 }, { 1, 20 }, { 1, 30 }, { 0, 40 }, { 1, 50 }),
                        SHOP_EDGES({ 0, 1 }, { 1, 2 }, { 1, 2 }, { 4, 2 }),
                        SHOP_ROOTS({ .node = 0,
                                     .kind = GCD_ROOT_STATIC,
                                     .name = "s_all",
                                     .class_name = "",
                                     .label = "Shop.s_all",
                                     .type = 0 }),
                        SHOP_DEPENDENTS({ 0, 3 }) });
}

static struct gcd_sql *database_of(const struct gcd_graph *g, struct gcd_session **ret_session)
{
    struct gcd_sql *db;
    assert_int_equal(gcd_session_new(g, NULL, ret_session, &err), GCD_OK);
    assert_int_equal(gcd_sql_new(*ret_session, NULL, &db, &err), GCD_OK);
    return db;
}

/* Shop.s_cache -> Cache._lists -> List[] -> List -> Cache, of which no field is certain. */
static struct gcd_graph *graph_with_fields(void)
{
#define TYPE(type_id, type_name, type_layout)                                                      \
    {                                                                                              \
        .id = type_id, .name = type_name, .raw_name = type_name, .module_path = "", .named = true, \
        .described = true, .layout = type_layout                                                   \
    }
    return shop_build(&(struct shop){
        SHOP_TYPES(TYPE(1, "Cache", "o 9\n3 _lists\n4 _a\n4 _b"), TYPE(2, "List[]", "v 3,9\n4 "),
                   TYPE(3, "List", "o 4,9\n9 _owner.item")),
        SHOP_NODES({ 0, 40 }, { 1, 24 + 8 }, { 2, 24 }, { 0, 40 }, { 2, 24 }),
        SHOP_EDGES({ 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }),
        SHOP_ROOTS({ .node = 0,
                     .kind = GCD_ROOT_STATIC,
                     .name = "s_cache",
                     .class_name = "",
                     .label = "Shop.s_cache",
                     .type = 0 }) });
#undef TYPE
}

static void paths_name_fields(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_with_fields();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    check(db, "SELECT path_from_root(0); SELECT path_from_root(1); SELECT path_from_root(4)",
          "static variable Shop.s_cache -> Cache\nstatic variable Shop.s_cache._lists\n"
          "static variable Shop.s_cache._lists[]._owner.item._a or _b\n");
    check(db, "SELECT step, type, field FROM path_from_root(4)",
          "0|Cache|\n1|List[]|_lists\n2|List|[]\n3|Cache|_owner.item\n4|List|_a or _b\n");
    check(db, "SELECT count(field) FROM reachable_from(0)", "0\n");
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

static void known_answers(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    check(db, "SELECT id, type, size, retained, dominator, depth FROM objects",
          "0|A|10|100||0\n1|B|20|50|0|1\n2|B|30|30|1|2\n3|A|40|40|0|1\n4|B|50|||\n");
    check(db, "SELECT * FROM refs WHERE target = 2", "1|2|0\n1|2|1\n4|2|0\n");
    check(db, "SELECT * FROM refs WHERE source = 1", "1|2|0\n1|2|1\n");
    check(db, "SELECT target, count(*) FROM refs GROUP BY target", "1|1\n2|3\n");
    check(db, "SELECT id FROM objects WHERE type = 'B'; SELECT id FROM objects WHERE dominator = 0",
          "1\n2\n4\n1\n3\n");
    check(db, "SELECT id, type, type_id FROM objects WHERE dominator = 0 ORDER BY id",
          "1|B|1\n3|A|0\n");
    check(db, "SELECT parent_id, object_id FROM dominators ORDER BY parent_id, object_id",
          "|0\n0|1\n0|3\n1|2\n");
    check(db, "SELECT step, object_id, type FROM reachable_from(0)",
          "0|0|A\n1|1|B\n1|3|A\n2|2|B\n");
    check(db,
          "SELECT step, object_id FROM reachable_from(4); SELECT count(*) FROM reachable_from(5); "
          "SELECT count(*) FROM reachable_from(NULL)",
          "0|4\n1|2\n0\n0\n");
    check(db, "SELECT step, object_id, root FROM path_from_root(2)",
          "0|0|static variable Shop.s_all\n1|1|\n2|2|\n");
    check(db, "SELECT path_from_root(3), path_from_root(4), path_from_root(9), path_from_root('x')",
          "static variable Shop.s_all -> A -> A|||\n");
    check(db, "SELECT type_name(1), type_name(2), type_name(-1), type_name('0')", "B|||A\n");
    check(db,
          "SELECT o.id, group_concat(r.object_id) FROM objects o JOIN reachable_from(o.id) r GROUP "
          "BY o.id",
          "0|0,1,3,2\n1|1,2\n2|2\n3|3\n4|4,2\n");
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* The program of a statement has addresses of this process; its plan has none. */
static void programs_are_not_shown(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    assert_int_not_equal(ask(db, NULL, "EXPLAIN SELECT id FROM objects", text, &err), GCD_OK);
    assert_string_equal(text, "");
    assert_int_equal(ask(db, NULL, "EXPLAIN QUERY PLAN SELECT id FROM objects", text, &err),
                     GCD_OK);
    assert_string_not_equal(text, "");
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

static void values_have_their_kinds(void **state)
{
    (void)state;
    static const struct gcd_sql_value wanted[] = {
        { .kind = GCD_SQL_INTEGER, .integer = -5, .text = "" },
        { .kind = GCD_SQL_REAL, .real = 1.5, .text = "" },
        { .kind = GCD_SQL_TEXT, .text = "a", .bytes = 1 },
        { .kind = GCD_SQL_BLOB, .text = "bc", .bytes = 2 },
        { .kind = GCD_SQL_BLOB, .text = "" },
        { .kind = GCD_SQL_NULL, .text = "" },
    };
    const char *statement = "SELECT -5, 1.5, 'a', x'6263', x'', NULL";
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    struct gcd_sql_query *q;
    assert_int_equal(gcd_sql_prepare(db, NULL, &statement, &q, &err), GCD_OK);
    assert_int_equal(gcd_sql_step(q, &err), GCD_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct gcd_sql_value v = gcd_sql_value(q, i);
        assert_int_equal(v.kind, wanted[i].kind);
        assert_int_equal(v.integer, wanted[i].integer);
        assert_true(v.real == wanted[i].real);
        assert_int_equal(v.bytes, wanted[i].bytes);
        assert_memory_equal(v.text, wanted[i].text, v.bytes);
    }
    gcd_sql_query_free(q);
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* A list of objects, the last one at the end of a path of 500. */
static void long_paths_show_their_ends(void **state)
{
    (void)state;
    enum { NODES = 500 };
    static struct shop_node nodes[NODES];
    static struct shop_edge edges[NODES - 1];
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct shop_node){ 0, 8 };
    for (uint32_t i = 0; i + 1 < NODES; i++)
        edges[i] = (struct shop_edge){ i, i + 1 };
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1, .name = "N", .raw_name = "N", .module_path = "", .named = true }),
        .nodes = nodes, .node_count = NODES, .edges = edges, .edge_count = NODES - 1,
        SHOP_ROOTS(
            { .node = 0, .kind = GCD_ROOT_STACK, .name = "", .class_name = "", .label = "" }) });
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    static char text[TEXT_BYTES];
    assert_int_equal(
        ask(db, NULL, "SELECT path_from_root(99); SELECT path_from_root(499)", text, &err), GCD_OK);
    const char *second = strchr(text, '\n') + 1, *left_out = strstr(text, "(400 more objects)");
    assert_true(left_out > second); /* that of 100 objects is complete */
    size_t shown = 0;
    for (const char *at = second; (at = strstr(at, "-> N")) != NULL; at++)
        shown++;
    assert_int_equal(shown, 100);
    check(db,
          "SELECT count(*), max(step) FROM path_from_root(499); SELECT depth FROM objects WHERE id "
          "= 499",
          "500|499\n499\n");
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

static void statements_are_taken_one_by_one(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    struct gcd_sql_query *q;
    const char *text = " ;; SELECT 1; /* none */ SELECT nope", *begin = text;
    assert_int_equal(gcd_sql_prepare(db, NULL, &text, &q, &err), GCD_OK);
    assert_string_equal(text, " /* none */ SELECT nope");
    assert_int_equal(gcd_sql_column_count(q), 1);
    assert_string_equal(gcd_sql_column_name(q, 0), "1");
    gcd_sql_query_free(q);
    const char *second = text;
    assert_int_equal(gcd_sql_prepare(db, NULL, &text, &q, &err), GCD_E_ARG);
    assert_int_equal(err.off, strlen(" /* none */ SELECT "));
    assert_ptr_equal(text, second);
    text = " ;; SELECT nope";
    assert_int_equal(gcd_sql_prepare(db, NULL, &text, &q, &err), GCD_E_ARG);
    assert_int_equal(err.off, strlen(" ;; SELECT "));
    text = " ; -- nothing";
    assert_int_equal(gcd_sql_prepare(db, NULL, &text, &q, &err), GCD_END);
    assert_int_equal(gcd_sql_check(begin, &err), GCD_E_ARG);
    assert_int_equal(err.off, strlen(" ;; SELECT 1; /* none */ SELECT "));
    assert_int_equal(gcd_sql_check("SELECT * FROM suspects, modules, facts, v_roots", &err),
                     GCD_OK);
    assert_true(gcd_sql_is_complete("SELECT 1;") && !gcd_sql_is_complete("SELECT ';"));
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

static void what_there_is_can_be_asked(void **state)
{
    (void)state;
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    struct gcd_sql_table t;
    static char text[TEXT_BYTES];
    char statement[256];
    size_t n = 0;
    for (; gcd_sql_table_at(n, &t); n++) {
        (void)snprintf(statement, sizeof statement,
                       strchr(t.name, '(') == NULL ? "SELECT * FROM %s" : "SELECT '%s'", t.name);
        assert_int_equal(ask(db, NULL, statement, text, &err), GCD_OK);
        assert_true(t.about[0] != '\0');
    }
    assert_true(n > 20);
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* ---- what may go wrong ---- */

static const char everything[] =
    "SELECT * FROM objects WHERE type = 'A'; SELECT * FROM refs WHERE target = 1; SELECT count(*) "
    "FROM objects GROUP BY type;"
    "SELECT * FROM objects WHERE dominator = 0; SELECT * FROM v_who_references WHERE object_id = "
    "2; SELECT * FROM reachable_from(0);"
    "SELECT path_from_root(1); SELECT * FROM path_from_root(1); SELECT * FROM suspects; SELECT "
    "max(depth) FROM objects";

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    struct gcd_graph *g = small_graph();
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_session *s = NULL;
        struct gcd_sql *db = NULL;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = gcd_session_new(
            g, &(struct gcd_session_options){ .context.alloc = &f.alloc }, &s, &err);
        if (st == GCD_OK)
            st = gcd_sql_new(s,
                             &(struct gcd_sql_options){ .context.alloc = &f.alloc, .name = "shop" },
                             &db, &err);
        if (st == GCD_OK)
            st = ask(db, NULL, everything, text, &err);
        bool failed = f.failed > 0;
        assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
        gcd_sql_free(db);
        gcd_session_free(s);
        assert_null(failalloc_complaint(&f));
        if (!failed)
            break;
    }
    gcd_graph_free(g);
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    static char text[TEXT_BYTES];
    struct gcd_graph *g = small_graph();
    struct gcd_session *s;
    struct gcd_sql *db = database_of(g, &s);
    gcd_cancel_flag stop = true;
    struct gcd_context call = { .cancel = &stop };
    static const char endless[] =
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a";
    assert_int_equal(ask(db, &call, endless, text, &err), GCD_E_CANCELED);
    assert_int_equal(ask(db, &call, "SELECT retained FROM objects", text, &err), GCD_E_CANCELED);
    stop = false;
    assert_int_equal(ask(db, &call, "SELECT retained FROM objects WHERE id = 0", text, &err),
                     GCD_OK);
    assert_string_equal(text, "100\n");
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* ---- several threads over one session ---- */

struct asker {
    struct gcd_session *s;
    pthread_t thread;
    gcd_status st;
    char text[TEXT_BYTES];
};

static void *ask_everything(void *ctx)
{
    struct asker *a = ctx;
    struct gcd_error e = GCD_ERROR_INIT;
    struct gcd_sql *db;
    a->st = gcd_sql_new(a->s, NULL, &db, &e);
    if (a->st == GCD_OK) {
        a->st = ask(db, NULL, everything, a->text, &e);
        gcd_sql_free(db);
    }
    return NULL;
}

static void four_threads_get_the_same(void **state)
{
    (void)state;
    static struct asker askers[4];
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct gcd_graph *g =
            graph_gen(&(struct graph_gen){ .seed = seed, .max_nodes = 300, .plain_names = true });
        struct gcd_session *s;
        assert_int_equal(gcd_session_new(g, NULL, &s, &err), GCD_OK);
        for (unsigned i = 0; i < 4; i++) {
            askers[i].s = s;
            assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_everything, &askers[i]),
                             0);
        }
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(askers[i].st, GCD_OK);
            assert_string_equal(askers[i].text, askers[0].text);
        }
        gcd_session_free(s);
        gcd_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(paths_name_fields),
        cmocka_unit_test(programs_are_not_shown),
        cmocka_unit_test(values_have_their_kinds),
        cmocka_unit_test(long_paths_show_their_ends),
        cmocka_unit_test(statements_are_taken_one_by_one),
        cmocka_unit_test(what_there_is_can_be_asked),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_canceled),
        cmocka_unit_test(four_threads_get_the_same),
    };
    if (gcd_sql_check("", NULL) == GCD_E_UNSUPPORTED) {
        puts("skipped: built without SQLite");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
