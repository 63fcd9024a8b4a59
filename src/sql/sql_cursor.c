/* The virtual table module of all tables: translates SQLite's questions to struct sql_table. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sql/sql.h"
#include "write/tables/sqlite_schema.h"

struct virtual_table {
    sqlite3_vtab base; /* first: SQLite sees only this */
    struct sql_offer *offer;
};

static int offer_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **ret, char **ret_error)
{
    struct sql_offer *o = aux;
    const struct sql_table *t = o->table;
    char declaration[1024];
    (void)argc;
    (void)argv;
    (void)ret_error;
    (void)snprintf(declaration, sizeof declaration, "CREATE TABLE x(%s) %s",
                   t->columns != NULL ? t->columns : sqlite_schema_tables[t->table].columns,
                   t->columns != NULL ? "" : sqlite_schema_tables[t->table].options);
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* views may use it */
    int rc = sqlite3_declare_vtab(db, declaration);
    if (rc != SQLITE_OK)
        return rc;
    struct virtual_table *v = gcd_mem_new(&o->db->alloc, sizeof *v);
    if (v == NULL)
        return SQLITE_NOMEM;
    v->offer = o;
    *ret = &v->base;
    return SQLITE_OK;
}

static int offer_disconnect(sqlite3_vtab *base)
{
    struct virtual_table *v = (struct virtual_table *)base;
    gcd_mem_free(&v->offer->db->alloc, v, sizeof *v);
    return SQLITE_OK;
}

/* ---- choosing a plan ---- */

/* The rowid is the first column of a table that has one. */
static int column_of(int column)
{
    return column < 0 ? 0 : column;
}

/* The constraint that PLAN can use; -1: none. */
static int constraint_for(sqlite3_index_info *info, const struct sql_plan *plan)
{
    for (int i = 0; i < info->nConstraint; i++) {
        unsigned char op = info->aConstraint[i].op;
        bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
        if (!equal || !info->aConstraint[i].usable ||
            column_of(info->aConstraint[i].iColumn) != plan->column)
            continue;
        const char *collation = plan->text ? sqlite3_vtab_collation(info, i) : NULL;
        if (collation == NULL || sqlite3_stricmp(collation, "BINARY") == 0)
            return i;
    }
    return -1;
}

/* Do rows in ORDER satisfy the order that INFO asks for? */
static bool is_ordered(sqlite3_index_info *info, const int order[ORDER_COLUMNS], bool descending)
{
    for (int i = 0; i < info->nOrderBy; i++) {
        if (i == ORDER_COLUMNS || order[i] != column_of(info->aOrderBy[i].iColumn) ||
            (info->aOrderBy[i].desc != 0) != descending)
            return false;
    }
    return info->nOrderBy > 0;
}

static int use_plan(const struct sql_offer *o, sqlite3_index_info *info,
                    const struct sql_plan *plan, int constraint)
{
    double rows = plan->unique ? 1 : plan->rows(o->db);
    if (constraint >= 0)
        info->aConstraintUsage[constraint].argvIndex =
            1; /* SQLite checks it again: NULL, other value types */
    info->idxNum = plan->number;
    if (constraint >= 0 && info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_IS)
        info->idxNum += SQL_PLAN_IS;
    info->estimatedCost = 1 + rows;
    info->estimatedRows = (sqlite3_int64)rows;
    bool is = info->idxNum >= SQL_PLAN_IS;
    info->idxFlags = plan->unique && !is ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    info->orderByConsumed = !is && (plan->unique || is_ordered(info, plan->order, false));
    return SQLITE_OK;
}

static int offer_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_offer *o = ((struct virtual_table *)base)->offer;
    const struct sql_table *t = o->table;
    const struct sql_plan *plan;
    for (plan = t->plans; plan->rows != NULL; plan++) {
        int constraint = plan->column >= 0 ? constraint_for(info, plan) : -1;
        if (constraint >= 0)
            return use_plan(o, info, plan, constraint);
    }
    double all = 10 + (double)t->rows(o->db);
    info->estimatedCost = 2 * all;
    info->estimatedRows = (sqlite3_int64)all;
    info->orderByConsumed = is_ordered(info, t->order, false);
    for (plan = t->plans; plan->rows != NULL && !info->orderByConsumed; plan++)
        if (plan->column < 0 && is_ordered(info, plan->order, plan->descending)) {
            info->idxNum = plan->number;
            info->estimatedCost = 3 * all; /* its rows are scattered in memory */
            info->orderByConsumed = 1;
        }
    return SQLITE_OK;
}

/* ---- rows ---- */

static int offer_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
    const struct sql_offer *o = ((struct virtual_table *)base)->offer;
    struct sql_cursor *c = gcd_mem_new(&o->db->alloc, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->db = o->db;
    c->table = o->table;
    *ret = &c->base;
    return SQLITE_OK;
}

static int offer_close(sqlite3_vtab_cursor *base)
{
    struct sql_cursor *c = (struct sql_cursor *)base;
    gcd_mem_free(&c->db->alloc, c, sizeof *c);
    return SQLITE_OK;
}

/* Moves on to the next row that is not skipped, through all pieces. */
static int settle(struct sql_cursor *c)
{
    gcd_status st = GCD_OK;
    for (;;) {
        while (c->at < c->end && c->table->skip != NULL && c->table->skip(c))
            c->at++;
        if (c->at < c->end)
            return SQLITE_OK;
        if (c->table->more == NULL || !c->table->more(c, &st, &c->db->err))
            return st == GCD_OK ? SQLITE_OK : sql_failed(c->db, st, &c->db->err);
    }
}

static int offer_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                        sqlite3_value **argv)
{
    struct sql_cursor *c = (struct sql_cursor *)base;
    (void)plan_text;
    (void)argc;
    if (plan >= SQL_PLAN_IS) /* no look-up finds the rows of IS NULL */
        plan = sqlite3_value_type(argv[0]) == SQLITE_NULL ? 0 : plan - SQL_PLAN_IS;
    *c = (struct sql_cursor){ .base = c->base, .db = c->db, .table = c->table, .plan = plan };
    if (c->table->table >= 0)
        c->cells =
            (struct table_cursor){ .table = table_list[c->table->table], .tables = &c->db->tables };
    gcd_status st = c->table->filter(c, plan, argv, &c->db->err);
    return st == GCD_OK ? settle(c) : sql_failed(c->db, st, &c->db->err);
}

static int offer_next(sqlite3_vtab_cursor *base)
{
    struct sql_cursor *c = (struct sql_cursor *)base;
    c->at++;
    return c->at < c->end && c->table->skip == NULL ? SQLITE_OK : settle(c);
}

static int offer_eof(sqlite3_vtab_cursor *base)
{
    const struct sql_cursor *c = (const struct sql_cursor *)base;
    return c->at >= c->end;
}

static int offer_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
    struct sql_cursor *c = (struct sql_cursor *)base;
    /* called per cell: a local error would take as long as the rest */
    gcd_status st = c->table->column(c, column, to, &c->db->err);
    if (st == GCD_OK)
        return SQLITE_OK;
    int rc = sql_failed(c->db, st, &c->db->err);
    sqlite3_result_error_code(to, rc);
    return rc;
}

static int offer_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)cursor_row((const struct sql_cursor *)base);
    return SQLITE_OK;
}

const sqlite3_module sql_table_module = {
    .xCreate = offer_connect,
    .xConnect = offer_connect,
    .xBestIndex = offer_best_index,
    .xDisconnect = offer_disconnect,
    .xDestroy = offer_disconnect,
    .xOpen = offer_open,
    .xClose = offer_close,
    .xFilter = offer_filter,
    .xNext = offer_next,
    .xEof = offer_eof,
    .xColumn = offer_column,
    .xRowid = offer_rowid,
};
