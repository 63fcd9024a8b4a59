/*
 * An SQLite database of the tables in tables.h.
 *
 * SQLite pulls the rows: each table is offered to it as a read-only virtual table and copied with
 * one INSERT ... SELECT, in the order of its key; indexes come last.  It writes to the temporary
 * file of the staged output (sqlite_disk.h).  No other process uses that file, so it needs no
 * journal, and no sync before the commit.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/staged_file.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/threads/locked_alloc.h"
#include "base/threads/parallel.h"
#include "write/tables/sqlite_disk.h"
#include "write/tables/sqlite_schema.h"
#include "write/tables/tables.h"
#include "write/write.h"

/* Virtual machine instructions between two checks of the cancel flag: a few milliseconds. */
#define STEPS_PER_LOOK 100000

struct database;

/* A table, as SQLite passes it back to the methods. */
struct offer {
    struct database *d;
    const struct table *table;
};

struct database {
    struct tables tables;
    struct offer offers[TABLES]; /* SQLite uses them until the database is closed */
    struct gcd_locked_alloc locked;
    struct gcd_alloc alloc; /* from LOCKED, because two threads allocate */
    struct gcd_write_options options;
    struct gcd_staged *staged;
    struct sqlite_disk disk;
    sqlite3 *db;
    uint64_t done, total; /* rows of tables and indexes, for progress */
    uint64_t too_large;   /* numbers above 2^63 - 1, written as 2^63 - 1 */
    struct gcd_dominators *dominators;
    gcd_status tables_status, dominators_status;
    struct gcd_error tables_err, dominators_err;
};

/* ---- our tables as SQLite tables ---- */

struct virtual_table {
    sqlite3_vtab base; /* first: SQLite sees only this */
    struct offer *offer;
};
struct virtual_cursor {
    sqlite3_vtab_cursor base;
    struct database *d;
    struct table_cursor c;
};

static int offer_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **ret, char **ret_error)
{
    (void)argc;
    (void)argv;
    (void)ret_error;
    struct offer *o = aux;
    char declaration[512];
    size_t n = (size_t)snprintf(declaration, sizeof declaration, "CREATE TABLE x(");
    for (size_t i = 0; i < o->table->column_count; i++)
        n += (size_t)snprintf(declaration + n, sizeof declaration - n, "%s%s", i == 0 ? "" : ", ",
                              o->table->columns[i]);
    (void)snprintf(declaration + n, sizeof declaration - n, ")");
    int rc = sqlite3_declare_vtab(db, declaration);
    struct virtual_table *v = rc == SQLITE_OK ? gcd_mem_new(&o->d->alloc, sizeof *v) : NULL;
    if (rc == SQLITE_OK && v == NULL)
        return SQLITE_NOMEM;
    if (v != NULL) {
        v->offer = o;
        *ret = &v->base;
    }
    return rc;
}

static int offer_disconnect(sqlite3_vtab *base)
{
    struct virtual_table *v = (struct virtual_table *)base;
    gcd_mem_free(&v->offer->d->alloc, v, sizeof *v);
    return SQLITE_OK;
}

static int offer_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = 1e6; /* always a full scan */
    return SQLITE_OK;
}

static int offer_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
    struct database *d = ((struct virtual_table *)base)->offer->d;
    struct virtual_cursor *c = gcd_mem_new(&d->alloc, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->d = d;
    *ret = &c->base;
    return SQLITE_OK;
}

static int offer_close(sqlite3_vtab_cursor *base)
{
    struct virtual_cursor *c = (struct virtual_cursor *)base;
    gcd_mem_free(&c->d->alloc, c, sizeof *c);
    return SQLITE_OK;
}

static int offer_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                        sqlite3_value **argv)
{
    (void)plan;
    (void)plan_text;
    (void)argc;
    (void)argv;
    struct virtual_cursor *c = (struct virtual_cursor *)base;
    table_start(&c->c, &c->d->tables, ((struct virtual_table *)base->pVtab)->offer->table);
    return SQLITE_OK;
}

static int offer_next(sqlite3_vtab_cursor *base)
{
    struct virtual_cursor *c = (struct virtual_cursor *)base;
    table_next(&c->c);
    /* look_at_cancel checks the cancel flag, whatever SQLite is doing */
    if (++c->d->done % WRITE_CHECK_EVERY == 0)
        gcd_context_report(&c->d->options.context, c->d->done, c->d->total);
    return SQLITE_OK;
}

static int offer_eof(sqlite3_vtab_cursor *base)
{
    return !table_more(&((struct virtual_cursor *)base)->c);
}

static int offer_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
    struct virtual_cursor *c = (struct virtual_cursor *)base;
    struct table_value v;
    table_value(&c->c, (size_t)column, &v);
    switch (v.kind) {
    case TABLE_NONE:
        sqlite3_result_null(to);
        break;
    case TABLE_TEXT:
        sqlite3_result_text64(to, v.text, strlen(v.text), SQLITE_STATIC, SQLITE_UTF8);
        break;
    case TABLE_BYTES:
        sqlite3_result_text64(to, v.text, v.number, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case TABLE_REAL:
        sqlite3_result_double(to, v.real);
        break;
    case TABLE_NUMBER:
        c->d->too_large += v.number > INT64_MAX;
        sqlite3_result_int64(to, v.number > INT64_MAX ? INT64_MAX : (sqlite3_int64)v.number);
        break;
    default:
        sqlite3_result_int64(to, (sqlite3_int64)v.number);
        break; /* the bits of an address matter, not the sign */
    }
    return SQLITE_OK;
}

static int offer_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((struct virtual_cursor *)base)->c.row;
    return SQLITE_OK;
}

/* Without xCreate, the table exists without CREATE VIRTUAL TABLE and leaves nothing in the file. */
static const sqlite3_module offer_module = {
    .xConnect = offer_connect,
    .xBestIndex = offer_best_index,
    .xDisconnect = offer_disconnect,
    .xOpen = offer_open,
    .xClose = offer_close,
    .xFilter = offer_filter,
    .xNext = offer_next,
    .xEof = offer_eof,
    .xColumn = offer_column,
    .xRowid = offer_rowid,
};

/* ---- the database ---- */

static int look_at_cancel(void *ctx)
{
    return gcd_is_canceled(((const struct gcd_write_options *)ctx)->context.cancel);
}

static gcd_status failed(struct database *d, int rc, const char *doing, struct gcd_error *err)
{
    if (rc == SQLITE_NOMEM)
        return gcd_fail_nomem(err, doing);
    if (rc == SQLITE_INTERRUPT && gcd_is_canceled(d->options.context.cancel))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    /* SQLite reports only that the output cannot be written */
    if (d->disk.err.code != GCD_OK) {
        if (err != NULL)
            *err = d->disk.err;
        return d->disk.err.code;
    }
    if (rc == SQLITE_FULL)
        return gcd_fail(
            err, GCD_E_IO,
            "cannot write: no space left in SQLite's folder for temporary files (SQLITE_TMPDIR)");
    int os = d->db != NULL ? sqlite3_system_errno(d->db) : 0;
    const char *what = d->db != NULL ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc);
    if (os != 0)
        return gcd_fail_os(err, os, "%s: SQLite says \"%s\"", doing, what);
    return gcd_fail(err, GCD_E_IO, "%s: SQLite says \"%s\"", doing, what);
}

static gcd_status run(struct database *d, const char *sql, const char *doing, struct gcd_error *err)
{
    int rc = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? GCD_OK : failed(d, rc, doing, err);
}

/*
 * The defaults of the installed library may differ from those of the project, so everything
 * relevant is set.  Rows come in the order of their keys, and indexes are sorted in pieces of the
 * size of the cache: a larger one only makes the sorting miss the processor's caches (measured).
 */
static const char settings[] =
    "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA auto_vacuum = 0;"
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA cache_size = -2000; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF;"
    "PRAGMA user_version = 1; BEGIN;";

static gcd_status make_table(struct database *d, const struct sqlite_table *t,
                             struct gcd_error *err)
{
    char sql[1024];
    (void)snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)%s%s;", t->name, t->columns,
                   t->options[0] != '\0' ? " " : "", t->options);
    return run(d, sql, "making the tables", err);
}

static gcd_status copy_table(struct database *d, struct offer *offer, struct gcd_error *err)
{
    const struct table *table = offer->table;
    char module[64], sql[160];
    (void)snprintf(module, sizeof module, "gcdumpc_%s", table->name);
    (void)snprintf(sql, sizeof sql, "INSERT INTO main.%s SELECT * FROM %s;", table->name, module);
    int rc = sqlite3_create_module(d->db, module, &offer_module, offer);
    return rc == SQLITE_OK ? run(d, sql, table->name, err) : failed(d, rc, table->name, err);
}

static gcd_status make_index(struct database *d, const struct sqlite_index *x,
                             struct gcd_error *err)
{
    char sql[160];
    (void)snprintf(sql, sizeof sql, "CREATE INDEX %s ON %s(%s);", x->name,
                   sqlite_schema_tables[x->table].name, x->column);
    return run(d, sql, "making the indexes", err);
}

static uint64_t row_count(const struct database *d, int table)
{
    return table_list[table]->rows(&d->tables);
}

/* Opens the database and writes all tables but dominators, while another thread finds those. */
static gcd_status write_tables(struct database *d, struct gcd_error *err)
{
    int rc = sqlite_disk_open(&d->disk, d->staged, &d->db);
    if (rc != SQLITE_OK)
        return failed(d, rc, "opening the database", err);
    sqlite3_progress_handler(d->db, STEPS_PER_LOOK, look_at_cancel, &d->options);
    GCD_TRY(run(d, settings, "setting up the database", err));
    if (d->options.context.threads > 1)
        GCD_TRY(run(d, "PRAGMA threads = 1;", "setting up the database", err));
    for (int i = 0; i < TABLES; i++) {
        if (!tables_has(&d->tables, (size_t)i))
            continue;
        GCD_TRY(make_table(d, &sqlite_schema_tables[i], err));
        d->offers[i] = (struct offer){ .d = d, .table = table_list[i] };
        if (i != TABLE_OF_DOMINATORS)
            GCD_TRY(copy_table(d, &d->offers[i], err));
    }
    return GCD_OK;
}

static gcd_status write_rest(struct database *d, struct gcd_error *err)
{
    GCD_TRY(copy_table(d, &d->offers[TABLE_OF_DOMINATORS], err));
    for (int i = 0; i < INDEXES; i++) { /* sorting once is cheaper than keeping the order */
        if (!tables_has(&d->tables, (size_t)sqlite_schema_indexes[i].table))
            continue;
        GCD_TRY(make_index(d, &sqlite_schema_indexes[i], err));
        d->done += row_count(d, sqlite_schema_indexes[i].table);
        GCD_TRY(write_check(&d->options, NULL, d->done, d->total, err));
    }
    GCD_TRY(run(d, sqlite_schema_views, "making the views", err));
    return run(d, "COMMIT;", "finishing the database", err);
}

static void write_tables_beside(void *ctx)
{
    struct database *d = ctx;
    d->tables_status = write_tables(d, &d->tables_err);
}

static void find_dominators(void *ctx)
{
    struct database *d = ctx;
    struct gcd_context c = d->options.context;
    c.progress = NULL; /* only the progress of the rows is reported */
    c.threads = c.threads > 1 ? c.threads - 1 : 1;
    d->dominators_status =
        gcd_dominators_new(d->tables.graph, &c, &d->dominators, &d->dominators_err);
}

/* Dominators that are still unknown have at most one row for each object. */
static uint64_t count_rows(const struct database *d)
{
    uint64_t sum = 0;
    for (int i = 0; i < TABLES; i++)
        sum += row_count(d, i == TABLE_OF_DOMINATORS ? TABLE_OF_OBJECTS : i);
    for (int i = 0; i < INDEXES; i++) {
        int table = sqlite_schema_indexes[i].table;
        sum += row_count(d, table == TABLE_OF_DOMINATORS ? TABLE_OF_OBJECTS : table);
    }
    return sum;
}

static gcd_status write_database(struct database *d, struct gcd_error *err)
{
    d->total = count_rows(d);
    gcd_parallel_invoke(d->options.context.threads, write_tables_beside, find_dominators, d);
    gcd_status st = d->tables_status != GCD_OK ? d->tables_status : d->dominators_status;
    if (st != GCD_OK && err != NULL)
        *err = d->tables_status != GCD_OK ? d->tables_err : d->dominators_err;
    d->tables.dominators = d->dominators;
    if (st == GCD_OK)
        st = write_rest(d, err);
    int rc = sqlite3_close(d->db); /* NULL is fine */
    if (st == GCD_OK && rc != SQLITE_OK)
        st = gcd_fail(err, GCD_E_IO, "finishing the database: SQLite says \"%s\"",
                      sqlite3_errstr(rc));
    return st;
}

static gcd_status sqlite_write(const struct gcd_graph *g, struct gcd_staged *p,
                               const struct gcd_write_options *options,
                               struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct database *d = gcd_mem_new(&a, sizeof *d);
    if (d == NULL)
        return gcd_fail_nomem(err, "writing a database");
    d->staged = p;
    d->alloc = gcd_locked_alloc_init(&d->locked, &a);
    d->options = *options;
    d->options.context.alloc = &d->alloc;
    gcd_status st = tables_init(&d->tables, g, NULL, &d->options, err);
    if (st == GCD_OK) {
        st = write_database(d, err);
        tables_note(&d->tables, notes);
        write_note_loss(notes, d->too_large,
                        "number is larger than 2^63-1 and is written as 2^63-1",
                        "numbers are larger than 2^63-1 and are written as 2^63-1");
        tables_done(&d->tables);
        gcd_dominators_free(d->dominators);
    }
    gcd_locked_alloc_done(&d->locked);
    gcd_mem_free(&a, d, sizeof *d);
    return st;
}

/* A leftover journal of another database with this name: the next program that opens ours would
 * play it back. */
static const char *const journals[] = { "-journal", "-wal", NULL };

const struct gcd_format gcd_w_sqlite = { .name = "sqlite",
                                         .suffix = ".sqlite",
                                         .suffix2 = ".db",
                                         .names = GCD_NAMES_CSHARP,
                                         .values = true,
                                         .about =
                                             "SQLite database with views for the usual questions",
                                         .write_place = sqlite_write,
                                         .needs = GCD_FOR_RETAINED,
                                         .size_percent = 260,
                                         .journals = journals };
