#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "sql/sql.h"

/* ---- values ---- */

void sql_put_number(sqlite3_context *to, uint64_t n)
{
    sqlite3_result_int64(to, n > INT64_MAX ? INT64_MAX : (sqlite3_int64)n);
}

void sql_put_text(sqlite3_context *to, const char *s)
{
    if (s[0] != '\0')
        sqlite3_result_text64(to, s, strlen(s), SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(to);
}

void sql_put_cell(sqlite3_context *to, const struct table_value *v)
{
    switch (v->kind) {
    case TABLE_NONE:
        sqlite3_result_null(to);
        break;
    case TABLE_TEXT:
        sqlite3_result_text64(to, v->text, strlen(v->text), SQLITE_STATIC, SQLITE_UTF8);
        break;
    case TABLE_NUMBER:
        sql_put_number(to, v->number);
        break;
    default:
        sqlite3_result_int64(to, (sqlite3_int64)v->number);
        break; /* the bits of an address matter, not the sign */
    }
}

bool sql_key(sqlite3_value *v, uint64_t limit, uint64_t *ret)
{
    sqlite3_int64 n;
    switch (sqlite3_value_numeric_type(v)) {
    case SQLITE_INTEGER:
        n = sqlite3_value_int64(v);
        break;
    case SQLITE_FLOAT: {
        double d = sqlite3_value_double(v);
        if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0))
            return false;
        n = (sqlite3_int64)d;
        if ((double)n < d || (double)n > d)
            return false;
        break;
    }
    default:
        return false;
    }
    *ret = (uint64_t)n;
    return *ret < limit;
}

/* ---- types by name ---- */

static int compare_names(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_sql *db = ctx;
    int by_name = strcmp(gcd_names_get(db->names, a), gcd_names_get(db->names, b));
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

gcd_status sql_need_names(struct gcd_sql *db, struct gcd_error *err)
{
    if (db->by_name != NULL || db->summary->type_count == 0)
        return GCD_OK;
    db->by_name = gcd_sort_order(&db->alloc, db->summary->type_count, compare_names, db);
    return db->by_name != NULL ? GCD_OK : gcd_fail_nomem(err, "sorting types by name");
}

/* Compares the name of a type with the N bytes at S, like SQLite's BINARY. */
static int compare_name(const char *name, const void *s, size_t n)
{
    size_t k = strlen(name), least = k < n ? k : n;
    int c = least > 0 ? memcmp(name, s, least) : 0;
    return c != 0 ? c : (k > n) - (k < n);
}

/* The first position whose name is not less than S[N]; AFTER: greater than S[N]. */
static uint32_t search(const struct gcd_sql *db, const void *s, size_t n, bool after)
{
    uint32_t low = 0, high = db->summary->type_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (compare_name(gcd_names_get(db->names, db->by_name[mid]), s, n) < (after ? 1 : 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

gcd_status sql_types_called(struct gcd_sql *db, sqlite3_value *v, uint32_t *ret_first,
                            uint32_t *ret_end, struct gcd_error *err)
{
    *ret_first = *ret_end = 0;
    if (sqlite3_value_type(v) == SQLITE_NULL || sqlite3_value_type(v) == SQLITE_BLOB)
        return GCD_OK;
    GCD_TRY(sql_need_names(db, err));
    const void *s = sqlite3_value_text(v);
    if (s == NULL)
        return gcd_fail_nomem(err, "looking for a type");
    size_t n = (size_t)sqlite3_value_bytes(v);
    *ret_first = search(db, s, n, false);
    *ret_end = search(db, s, n, true);
    return GCD_OK;
}

/* ---- rows by node ---- */

static uint32_t node_of(const struct gcd_sql *db, int which, uint32_t row)
{
    if (which == INDEX_ROOTS)
        return db->summary->roots[row].node;
    const struct gcd_graph_dependent *d = gcd_graph_dependent(db->graph, row);
    return which == INDEX_KEYS ? d->key : d->value;
}

struct by_node {
    const struct gcd_sql *db;
    int which;
};

static int compare_nodes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct by_node *n = ctx;
    uint32_t x = node_of(n->db, n->which, a), y = node_of(n->db, n->which, b);
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

static gcd_status make_index(struct gcd_sql *db, int which, struct gcd_error *err)
{
    size_t count =
        which == INDEX_ROOTS ? db->summary->root_count : gcd_graph_dependent_count(db->graph);
    struct by_node by = { .db = db, .which = which };
    if (db->indexes[which].rows != NULL || count == 0)
        return GCD_OK;
    if (count > UINT32_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "more than 2^32 roots or dependent handles");
    db->indexes[which].rows = gcd_sort_order(&db->alloc, count, compare_nodes, &by);
    db->indexes[which].count = count;
    return db->indexes[which].rows != NULL
               ? GCD_OK
               : gcd_fail_nomem(err, "sorting roots and dependent handles");
}

static size_t first_of(const struct gcd_sql *db, int which, uint32_t node, bool after)
{
    const struct row_index *x = &db->indexes[which];
    size_t low = 0, high = x->rows != NULL ? x->count : 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        uint32_t at = node_of(db, which, x->rows[mid]);
        if (at < node || (after && at == node))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

gcd_status sql_rows_of(struct gcd_sql *db, int which, uint32_t node, const uint32_t **ret,
                       size_t *ret_n, struct gcd_error *err)
{
    GCD_TRY(make_index(db, which, err));
    size_t first = first_of(db, which, node, false);
    *ret_n = first_of(db, which, node, true) - first;
    *ret = *ret_n > 0 ? db->indexes[which].rows + first : NULL;
    return GCD_OK;
}

/* ---- results of the session ---- */

gcd_status sql_need_dominators(struct gcd_sql *db, struct gcd_error *err)
{
    return db->dominators != NULL
               ? GCD_OK
               : gcd_session_dominators(db->session, db->call, &db->dominators, err);
}

gcd_status sql_need_paths(struct gcd_sql *db, struct gcd_error *err)
{
    return db->paths != NULL ? GCD_OK : gcd_session_paths(db->session, db->call, &db->paths, err);
}
