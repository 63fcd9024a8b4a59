/*
 * Look-ups and orders of the tables: with every column, operator and kind of value, a query on a
 * table must answer as on a plain copy of it, which has no look-ups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/sql.h>

#include "support/check.h"
#include "support/graph_gen.h"

enum { TEXT_BYTES = 1 << 19, LINES = 1 << 13, VALUES = 5, COLUMNS = 40 };

static struct gcd_error err = GCD_ERROR_INIT;

struct answer {
    char text[TEXT_BYTES];
    size_t n;
    char *lines[LINES];
    size_t count;
};

static void ask(struct gcd_sql *db, const char *statement, struct answer *a)
{
    struct gcd_sql_query *q;
    gcd_status st;
    const char *at = statement;
    a->n = a->count = 0;
    if (gcd_sql_prepare(db, NULL, &at, &q, &err) != GCD_OK)
        fail_msg("%s: %s", statement, err.msg);
    while ((st = gcd_sql_step(q, &err)) == GCD_OK) {
        assert_true(a->count < LINES);
        a->lines[a->count++] = a->text + a->n;
        for (size_t i = 0; i < gcd_sql_column_count(q); i++) {
            struct gcd_sql_value v = gcd_sql_value(q, i);
            a->n += (size_t)snprintf(a->text + a->n, TEXT_BYTES - a->n, "%d %lld %.17g %s|",
                                     (int)v.kind, (long long)v.integer, v.real,
                                     v.kind == GCD_SQL_TEXT ? v.text : "");
            assert_true(a->n + 2 < TEXT_BYTES);
        }
        a->text[a->n++] = '\0';
    }
    gcd_sql_query_free(q);
    if (st != GCD_END)
        fail_msg("%s: %s", statement, err.msg);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* PATTERN with WITH in the place of each SIGN. */
static void replace(const char *pattern, char sign, const char *with, char *ret, size_t cap)
{
    size_t n = 0;
    for (; *pattern != '\0'; pattern++) {
        size_t k = *pattern == sign ? strlen(with) : 1;
        assert_true(n + k < cap);
        memcpy(ret + n, *pattern == sign ? with : pattern, k);
        n += k;
    }
    ret[n] = '\0';
}

/* All columns of the table, also those that * leaves out. */
static char columns[COLUMNS][60], all_columns[1000];
static size_t column_count;

/* Takes them from DECLARATION, "id INTEGER PRIMARY KEY, type TEXT HIDDEN". */
static void read_columns(const char *declaration)
{
    column_count = 0;
    all_columns[0] = '\0';
    for (const char *at = declaration; *at != '\0' && strncmp(at, "PRIMARY", 7) != 0;) {
        assert_true(column_count < COLUMNS);
        (void)snprintf(columns[column_count], sizeof *columns, "%.*s", (int)strcspn(at, " ,"), at);
        size_t n = strlen(all_columns);
        (void)snprintf(all_columns + n, sizeof all_columns - n, "%s%s", n > 0 ? ", " : "",
                       columns[column_count++]);
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
    assert_true(column_count > 0);
}

/* QUERY has "@" in the place of TABLE. */
static void check(struct gcd_sql *db, const char *table, const char *query, bool ordered)
{
    static struct answer direct, copied;
    char statement[4000], select[2000];
    replace(query, '@', table, select, sizeof select);
    ask(db, select, &direct);
    replace(query, '@', "copy", select, sizeof select);
    (void)snprintf(statement, sizeof statement, "WITH copy AS MATERIALIZED (SELECT %s FROM %s) %s",
                   all_columns, table, select);
    ask(db, statement, &copied);
    if (!ordered) {
        qsort(direct.lines, direct.count, sizeof *direct.lines, compare_lines);
        qsort(copied.lines, copied.count, sizeof *copied.lines, compare_lines);
    }
    if (direct.count != copied.count)
        fail_msg("%s: %zu rows, not %zu", statement, direct.count, copied.count);
    for (size_t i = 0; i < direct.count; i++)
        if (strcmp(direct.lines[i], copied.lines[i]) != 0)
            fail_msg("%s: %s, not %s", statement, direct.lines[i], copied.lines[i]);
}

static void put_literal(const struct gcd_sql_value *v, char *ret, size_t cap)
{
    if (v->kind == GCD_SQL_TEXT) {
        size_t n = 0;
        ret[n++] = '\'';
        for (const char *s = v->text; *s != '\0' && n + 3 < cap; s++) {
            ret[n++] = *s;
            if (*s == '\'')
                ret[n++] = '\'';
        }
        ret[n++] = '\'';
        ret[n] = '\0';
    } else if (v->kind == GCD_SQL_INTEGER) {
        (void)snprintf(ret, cap, "%lld", (long long)v->integer);
    } else {
        (void)snprintf(ret, cap, "%s", "NULL");
    }
}

/* Some values of COLUMN. */
static size_t values_of(struct gcd_sql *db, const char *table, const char *column,
                        char ret[VALUES][300])
{
    char statement[200];
    const char *at = statement;
    struct gcd_sql_query *q;
    size_t n = 0;
    (void)snprintf(statement, sizeof statement, "SELECT DISTINCT %s FROM %s WHERE %s IS NOT NULL",
                   column, table, column);
    assert_int_equal(gcd_sql_prepare(db, NULL, &at, &q, &err), GCD_OK);
    while (n < VALUES && gcd_sql_step(q, &err) == GCD_OK) {
        struct gcd_sql_value v = gcd_sql_value(q, 0);
        if (v.kind != GCD_SQL_TEXT || strlen(v.text) < 100)
            put_literal(&v, ret[n++], sizeof *ret);
    }
    gcd_sql_query_free(q);
    return n;
}

static void check_column(struct gcd_sql *db, const char *table, const char *column)
{
    static const char *const odd[] = { "NULL",
                                       "-1",
                                       "0",
                                       "1",
                                       "0.5",
                                       "1.0",
                                       "'0'",
                                       "'1 '",
                                       "'abc'",
                                       "X'30'",
                                       "9223372036854775807",
                                       "(-9223372036854775807 - 1)",
                                       "''",
                                       "1e300" };
    static const char *const forms[] = { "# = $",           "# IS $",
                                         "# < $",           "# >= $",
                                         "# IN (1, $)",     "# = upper($) COLLATE NOCASE",
                                         "# IS (SELECT $)", "1 IN (SELECT 1) AND # = $" };
    char own[VALUES][300], query[1600], part[200], where[400];
    size_t n = values_of(db, table, column, own);
    for (size_t v = 0; v < n + sizeof odd / sizeof *odd; v++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            const char *value = v < n ? own[v] : odd[v - n];
            if (strpbrk(value, "@#$") != NULL)
                continue;
            replace(forms[f], '#', column, part, sizeof part);
            replace(part, '$', value, where, sizeof where);
            (void)snprintf(query, sizeof query, "SELECT %s FROM @ WHERE %s", all_columns, where);
            check(db, table, query, false);
        }
    for (size_t v = 0; v < n && v < 2; v++)
        for (size_t k = 0; k < column_count; k++) {
            (void)snprintf(query, sizeof query, "SELECT %s FROM @ WHERE %s = %s ORDER BY %s DESC",
                           columns[k], column, own[v], columns[k]);
            if (strpbrk(own[v], "@#$") == NULL)
                check(db, table, query, true);
        }
    replace("SELECT o.id, b.# FROM objects o JOIN @ b ON b.# = o.id WHERE o.id < 9", '#', column,
            query, sizeof query);
    check(db, table, query, false);
    replace("SELECT t.id, b.# FROM @ b JOIN types t ON b.# = t.name", '#', column, query,
            sizeof query);
    check(db, table, query, false);
}

static void check_orders(struct gcd_sql *db, const char *table)
{
    char query[400];
    for (size_t a = 0; a < column_count; a++)
        for (size_t b = a > 0 ? a - 1 : 0; b < column_count && b < a + 3; b++)
            for (unsigned down = 0; down < 4; down++) {
                (void)snprintf(query, sizeof query, "SELECT %s, %s FROM @ ORDER BY %s %s, %s %s",
                               columns[a], columns[b], columns[a], down & 1 ? "DESC" : "",
                               columns[b], down & 2 ? "DESC" : "");
                check(db, table, query, true);
            }
}

static void check_table(struct gcd_sql *db, const struct gcd_sql_table *t)
{
    read_columns(t->columns);
    for (size_t i = 0; i < column_count; i++)
        check_column(db, t->name, columns[i]);
    check_orders(db, t->name);
}

static void test_a_query_answers_as_on_a_copy(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 30);
        struct gcd_session *s;
        struct gcd_sql *db;
        struct gcd_sql_table t;
        assert_int_equal(gcd_session_new(g, NULL, &s, &err), GCD_OK);
        assert_int_equal(gcd_sql_new(s, NULL, &db, &err), GCD_OK);
        size_t tables = 0;
        for (size_t i = 0; gcd_sql_table_at(i, &t); i++)
            if (strchr(t.name, '(') == NULL && strncmp(t.about, "view", 4) != 0) {
                check_table(db, &t);
                tables++;
            }
        assert_true(tables > 8);
        gcd_sql_free(db);
        gcd_session_free(s);
        gcd_graph_free(g);
    }
}

/* Whatever writes, opens another file or changes the connection is refused before it runs. */
static void test_only_queries_are_allowed(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "CREATE VIRTUAL TABLE x USING fts5(a)",
        "DROP TABLE objects",
        "DROP VIEW v_roots",
        "DELETE FROM objects",
        "INSERT INTO types VALUES (1)",
        "UPDATE objects SET size_bytes = 0",
        "ATTACH '/tmp/x' AS x",
        "VACUUM INTO '/tmp/x'",
        "BEGIN",
        "PRAGMA writable_schema = 1",
        "PRAGMA temp_store_directory = '/tmp'",
        "SELECT load_extension('x')",
        "ANALYZE",
    };
    struct gcd_graph *g = graph_gen_random(1, 30);
    struct gcd_session *s;
    struct gcd_sql *db;
    struct gcd_sql_query *q;
    assert_int_equal(gcd_session_new(g, NULL, &s, &err), GCD_OK);
    assert_int_equal(gcd_sql_new(s, NULL, &db, &err), GCD_OK);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *at = refused[i];
        err.code = GCD_OK;
        gcd_status st = gcd_sql_prepare(db, NULL, &at, &q, &err);
        if (st == GCD_OK) {
            st = gcd_sql_step(q, &err);
            gcd_sql_query_free(q);
        }
        if (st != GCD_E_ARG || err.code != GCD_E_ARG)
            fail_msg("%s", refused[i]);
    }
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_query_answers_as_on_a_copy),
        cmocka_unit_test(test_only_queries_are_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
