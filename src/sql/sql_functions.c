#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "sql/sql.h"

/* Objects shown at each end of a long path. */
#define ENDS_SHOWN 50u

/* NULL unless the argument is the number of a type. */
static void type_name(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    const struct gcd_sql *db = sqlite3_user_data(to);
    uint64_t type;
    (void)argc;
    if (sql_key(argv[0], db->summary->type_count, &type))
        sql_put_text(to, gcd_names_get(db->names, (uint32_t)type));
}

void sql_root_text(const struct gcd_sql *db, uint32_t node, char *ret, size_t cap)
{
    size_t root = gcd_paths_root(db->paths, node);
    if (root == SIZE_MAX) {
        (void)snprintf(ret, cap, "pseudo-root");
        return;
    }
    const struct gcd_root *r = &db->summary->roots[root];
    struct table_cursor cell = { .table = table_list[TABLE_OF_ROOTS],
                                 .tables = &db->tables,
                                 .row = root };
    struct table_value label;
    table_value(&cell, cell.table->column_count - 1, &label); /* the label */
    (void)snprintf(ret, cap, "%s%s%s", gcd_root_group_label(gcd_root_group(r))->one,
                   label.kind == TABLE_TEXT ? " " : "", label.kind == TABLE_TEXT ? label.text : "");
}

gcd_status sql_path(struct gcd_sql *db, uint32_t node, uint32_t **ret, size_t *ret_n,
                    struct gcd_error *err)
{
    size_t n = 0;
    *ret = NULL;
    *ret_n = 0;
    GCD_TRY(sql_need_paths(db, err));
    if (gcd_paths_parent(db->paths, node) == GCD_NODE_NONE)
        return GCD_OK;
    for (uint32_t at = node; at != GCD_NODE_ROOT; at = gcd_paths_parent(db->paths, at))
        n++;
    uint32_t *path = gcd_mem_new_uncleared(&db->alloc, n, sizeof *path);
    if (path == NULL)
        return gcd_fail_nomem(err, "the path to an object");
    *ret = path;
    *ret_n = n;
    for (uint32_t at = node; at != GCD_NODE_ROOT; at = gcd_paths_parent(db->paths, at))
        path[--n] = at;
    return GCD_OK;
}

static void add_type(const struct gcd_sql *db, sqlite3_str *text, uint32_t node)
{
    sqlite3_str_appendall(text, " -> ");
    sqlite3_str_appendall(text, gcd_names_get(db->names, gcd_graph_node_type(db->graph, node)));
}

const char *sql_field_text(const struct gcd_sql *db, uint32_t from, uint32_t to, char *label)
{
    struct gcd_field field = gcd_fields_between(db->tables.fields, from, to);
    const char *text = gcd_field_label(&field, label);
    return text[0] != '\0' ? text : NULL;
}

/* Adds the step to PATH[I]: its field, as in a program, or its type if the field is not certain. */
static void add_step(const struct gcd_sql *db, sqlite3_str *text, const uint32_t *path, size_t i)
{
    char label[GCD_FIELD_LABEL_BYTES];
    const char *field = i > 0 ? sql_field_text(db, path[i - 1], path[i], label) : NULL;
    if (field == NULL) {
        add_type(db, text, path[i]);
        return;
    }
    if (field[0] != '[' && field[0] != '.')
        sqlite3_str_appendall(text, ".");
    sqlite3_str_appendall(text, field);
}

/* A static variable stands for its object when a field of that follows. */
static bool is_named(const struct gcd_sql *db, const uint32_t *path, size_t n)
{
    char label[GCD_FIELD_LABEL_BYTES];
    size_t root = gcd_paths_root(db->paths, path[n - 1]);
    return n > 1 && root != SIZE_MAX && db->summary->roots[root].kind == GCD_ROOT_STATIC &&
           sql_field_text(db, path[0], path[1], label) != NULL;
}

static char *path_text(const struct gcd_sql *db, const uint32_t *path, size_t n)
{
    char root[512];
    sqlite3_str *text = sqlite3_str_new(db->db);
    sql_root_text(db, path[n - 1], root, sizeof root);
    sqlite3_str_appendall(text, root);
    for (size_t i = is_named(db, path, n); i < n; i++) {
        if (i == ENDS_SHOWN && n > 2 * ENDS_SHOWN) {
            sqlite3_str_appendf(text, " -> (%llu more objects)",
                                (unsigned long long)(n - 2 * ENDS_SHOWN));
            i = n - ENDS_SHOWN;
        }
        add_step(db, text, path, i);
    }
    return sqlite3_str_finish(text);
}

/* NULL unless the argument is a reachable object. */
static void path_from_root(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    struct gcd_sql *db = sqlite3_user_data(to);
    struct gcd_error err = GCD_ERROR_INIT;
    uint32_t *path;
    size_t n;
    uint64_t node;
    (void)argc;
    if (!sql_key(argv[0], gcd_graph_node_count(db->graph), &node))
        return;
    gcd_status st = sql_path(db, (uint32_t)node, &path, &n, &err);
    if (st != GCD_OK)
        sqlite3_result_error_code(to, sql_failed(db, st, &err));
    if (n == 0)
        return;
    char *text = path_text(db, path, n);
    gcd_mem_free(&db->alloc, path, n * sizeof *path);
    if (text != NULL)
        sqlite3_result_text(to, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(to);
}

int sql_functions_open(struct gcd_sql *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = sqlite3_create_function(db->db, "type_name", 1, flags, db, type_name, NULL, NULL);
    return rc == SQLITE_OK ? sqlite3_create_function(db->db, "path_from_root", 1, flags, db,
                                                     path_from_root, NULL, NULL)
                           : rc;
}
