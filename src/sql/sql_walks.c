/* Walks from one object, as tables that take it as their argument: SELECT ... FROM
 * reachable_from(5). */

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "sql/sql.h"

#define PATH "path_from_root" /* the name of a table */

enum walk_kind { WALK_PATH, WALK_REACHABLE };

/* The first columns of both tables; the argument is hidden. */
enum { WALK_STEP, WALK_OBJECT_ID, WALK_TYPE, WALK_SIZE_BYTES, WALK_ROOT, WALK_FIELD, WALK_START };
static const char declaration[] =
    "CREATE TABLE x(step INTEGER, object_id INTEGER, type TEXT, "
    "size_bytes INTEGER, root TEXT, field TEXT, start INTEGER HIDDEN)";

struct walk_table {
    sqlite3_vtab base; /* first: SQLite sees only this */
    struct gcd_sql *db;
    enum walk_kind kind;
};

struct walk_cursor {
    sqlite3_vtab_cursor base;
    struct gcd_sql *db;
    enum walk_kind kind;
    /* [room] the nodes of the path, or the reached nodes in the order of the search */
    uint32_t *nodes;
    size_t count, room, at;
    uint64_t *seen; /* REACHABLE: [words] bits of nodes */
    size_t words;
    size_t level_end; /* REACHABLE: nodes before it are reached in at most STEP steps */
    uint32_t step;
    char root[512]; /* PATH: as text */
};

/* ARGV[0] is the name of the table's module. */
static int walk_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **ret, char **ret_error)
{
    struct gcd_sql *sql = aux;
    (void)argc;
    (void)ret_error;
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    int rc = sqlite3_declare_vtab(db, declaration);
    struct walk_table *t = rc == SQLITE_OK ? gcd_mem_new(&sql->alloc, sizeof *t) : NULL;
    if (rc == SQLITE_OK && t == NULL)
        return SQLITE_NOMEM;
    if (t != NULL) {
        t->db = sql;
        t->kind = strcmp(argv[0], PATH) == 0 ? WALK_PATH : WALK_REACHABLE;
        *ret = &t->base;
    }
    return rc;
}

static int walk_disconnect(sqlite3_vtab *base)
{
    struct walk_table *t = (struct walk_table *)base;
    gcd_mem_free(&t->db->alloc, t, sizeof *t);
    return SQLITE_OK;
}

/* Fails without the argument, so that SQLite tries another order of joins. */
static int walk_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    bool given = false;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != WALK_START)
            continue;
        given = true;
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
        info->estimatedRows = 1000;
        return SQLITE_OK;
    }
    if (!given) {
        sqlite3_free(base->zErrMsg);
        base->zErrMsg =
            sqlite3_mprintf("an object is missing, as in reachable_from(5) or path_from_root(5)");
        return SQLITE_ERROR;
    }
    return SQLITE_CONSTRAINT;
}

static int walk_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
    const struct walk_table *t = (const struct walk_table *)base;
    struct walk_cursor *c = gcd_mem_new(&t->db->alloc, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->db = t->db;
    c->kind = t->kind;
    *ret = &c->base;
    return SQLITE_OK;
}

static void clear(struct walk_cursor *c)
{
    gcd_mem_free(&c->db->alloc, c->nodes, c->room * sizeof *c->nodes);
    gcd_mem_free(&c->db->alloc, c->seen, c->words * sizeof *c->seen);
    *c = (struct walk_cursor){ .base = c->base, .db = c->db, .kind = c->kind };
}

static int walk_close(sqlite3_vtab_cursor *base)
{
    struct walk_cursor *c = (struct walk_cursor *)base;
    const struct gcd_alloc *a = &c->db->alloc;
    clear(c);
    gcd_mem_free(a, c, sizeof *c);
    return SQLITE_OK;
}

/* ---- objects reachable from one ---- */

static gcd_status reach(struct walk_cursor *c, uint32_t node, struct gcd_error *err)
{
    uint64_t bit = UINT64_C(1) << (node % 64);
    if ((c->seen[node / 64] & bit) != 0)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->db->alloc, &c->nodes, &c->room, c->count + 1, sizeof *c->nodes,
                         UINT32_MAX))
        return gcd_fail_nomem(err, "following references");
    c->seen[node / 64] |= bit;
    c->nodes[c->count++] = node;
    return GCD_OK;
}

/* Adds the targets of NODE's references, and the values of dependent handles with the key NODE. */
static gcd_status expand(struct walk_cursor *c, uint32_t node, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->db->graph, node, &n), *rows;
    for (size_t i = 0; i < n; i++)
        GCD_TRY(reach(c, edges[i], err));
    GCD_TRY(sql_rows_of(c->db, INDEX_KEYS, node, &rows, &n, err));
    for (size_t i = 0; i < n; i++)
        GCD_TRY(reach(c, gcd_graph_dependent(c->db->graph, rows[i])->value, err));
    return GCD_OK;
}

static gcd_status start_reaching(struct walk_cursor *c, uint32_t node, struct gcd_error *err)
{
    c->words = (size_t)gcd_graph_node_count(c->db->graph) / 64 + 1;
    c->seen = gcd_mem_new_array(&c->db->alloc, c->words, sizeof *c->seen);
    if (c->seen == NULL) {
        c->words = 0;
        return gcd_fail_nomem(err, "following references");
    }
    GCD_TRY(reach(c, node, err));
    c->level_end = 1;
    return expand(c, node, err);
}

static gcd_status start_path(struct walk_cursor *c, uint32_t node, struct gcd_error *err)
{
    GCD_TRY(sql_path(c->db, node, &c->nodes, &c->count, err));
    c->room = c->count;
    if (c->count > 0)
        sql_root_text(c->db, node, c->root, sizeof c->root);
    return GCD_OK;
}

static int walk_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                       sqlite3_value **argv)
{
    struct walk_cursor *c = (struct walk_cursor *)base;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t node;
    (void)plan;
    (void)plan_text;
    clear(c);
    if (argc < 1 || !sql_key(argv[0], gcd_graph_node_count(c->db->graph), &node))
        return SQLITE_OK;
    gcd_status st = c->kind == WALK_PATH ? start_path(c, (uint32_t)node, &err)
                                         : start_reaching(c, (uint32_t)node, &err);
    return st == GCD_OK ? SQLITE_OK : sql_failed(c->db, st, &err);
}

static int walk_next(sqlite3_vtab_cursor *base)
{
    struct walk_cursor *c = (struct walk_cursor *)base;
    c->at++;
    if (c->kind == WALK_PATH || c->at >= c->count) {
        c->step++;
        return SQLITE_OK;
    }
    if (c->at == c->level_end) {
        c->level_end = c->count;
        c->step++;
    }
    gcd_status st = expand(c, c->nodes[c->at], &c->db->err);
    return st == GCD_OK ? SQLITE_OK : sql_failed(c->db, st, &c->db->err);
}

static int walk_eof(sqlite3_vtab_cursor *base)
{
    const struct walk_cursor *c = (const struct walk_cursor *)base;
    return c->at >= c->count;
}

static int walk_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
    const struct walk_cursor *c = (const struct walk_cursor *)base;
    uint32_t node = c->nodes[c->at];
    char label[GCD_FIELD_LABEL_BYTES];
    switch (column) {
    case WALK_STEP:
        sqlite3_result_int64(to, c->step);
        break;
    case WALK_OBJECT_ID:
        sqlite3_result_int64(to, node);
        break;
    case WALK_TYPE:
        sql_put_text(to, gcd_names_get(c->db->names, gcd_graph_node_type(c->db->graph, node)));
        break;
    case WALK_SIZE_BYTES:
        sql_put_number(to, gcd_graph_node_size(c->db->graph, node));
        break;
    case WALK_ROOT:
        if (c->kind == WALK_PATH && c->at == 0)
            sqlite3_result_text(to, c->root, -1, SQLITE_TRANSIENT);
        break;
    case WALK_FIELD:
        if (c->kind == WALK_PATH && c->at > 0)
            sqlite3_result_text(to, sql_field_text(c->db, c->nodes[c->at - 1], node, label), -1,
                                SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_int64(to, c->nodes[c->kind == WALK_PATH ? c->count - 1 : 0]);
        break;
    }
    return SQLITE_OK;
}

static int walk_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((const struct walk_cursor *)base)->at;
    return SQLITE_OK;
}

/* Without xCreate, these tables exist without CREATE VIRTUAL TABLE. */
static const sqlite3_module walks = {
    .xConnect = walk_connect,
    .xBestIndex = walk_best_index,
    .xDisconnect = walk_disconnect,
    .xOpen = walk_open,
    .xClose = walk_close,
    .xFilter = walk_filter,
    .xNext = walk_next,
    .xEof = walk_eof,
    .xColumn = walk_column,
    .xRowid = walk_rowid,
};

int sql_walks_open(struct gcd_sql *db)
{
    sqlite3_stmt *both = NULL;
    int rc = sqlite3_create_module(db->db, PATH, &walks, db);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_module(db->db, "reachable_from", &walks, db);
    if (rc == SQLITE_OK) /* connects the tables now: that counts as a change, which queries may not
                            make */
        rc = sqlite3_prepare_v2(db->db, "SELECT 1 FROM " PATH "(0), reachable_from(0)", -1, &both,
                                NULL);
    (void)sqlite3_finalize(both);
    return rc;
}
