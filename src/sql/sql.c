#include "sql/sql.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "sql/sql_list.h"
#include "write/tables/sqlite_schema.h"

/* Virtual machine instructions between two checks of the cancel flag. */
#define STEPS_PER_LOOK 200

/*
 * Limits on the memory and the time of what happens between two checks: the time of a function
 * grows with the length of its texts, and a program without loops is not checked at all.
 */
static const struct {
    int what, most;
} limits[] = {
    { SQLITE_LIMIT_LENGTH, 1 << 20 },   { SQLITE_LIMIT_SQL_LENGTH, 128 << 10 },
    { SQLITE_LIMIT_ATTACHED, 0 },       { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 }, { SQLITE_LIMIT_VDBE_OP, 25000 },
    { SQLITE_LIMIT_EXPR_DEPTH, 500 },   { SQLITE_LIMIT_COLUMN, 500 },
};

struct gcd_sql_query {
    struct gcd_sql *db;
    const struct gcd_context *call;
    sqlite3_stmt *statement;
};

/* ---- memory ---- */

void gcd_sql_limit_memory(uint64_t bytes)
{
    sqlite3_int64 n = bytes > INT64_MAX ? INT64_MAX : (sqlite3_int64)bytes;
#if SQLITE_VERSION_NUMBER >= 3031000
    (void)sqlite3_hard_heap_limit64(n);
#else
    (void)sqlite3_soft_heap_limit64(n);
#endif
}

/* Of gcd_sql_limit_memory; 0 = none. */
static uint64_t memory_limit(void)
{
#if SQLITE_VERSION_NUMBER >= 3031000
    return (uint64_t)sqlite3_hard_heap_limit64(-1);
#else
    return 0;
#endif
}

/* ---- errors ---- */

static gcd_status only_reads(struct gcd_error *err)
{
    return gcd_fail(
        err, GCD_E_ARG,
        "a query only reads: SELECT, WITH, VALUES, EXPLAIN QUERY PLAN and PRAGMA table_info");
}

int sql_failed(struct gcd_sql *db, gcd_status st, const struct gcd_error *err)
{
    if (err != &db->err)
        db->err = *err;
    db->err.code = st;
    return st == GCD_E_NOMEM      ? SQLITE_NOMEM
           : st == GCD_E_CANCELED ? SQLITE_INTERRUPT
                                  : SQLITE_ERROR;
}

/* The error of a statement: ours, if one of our methods failed, else SQLite's. */
static gcd_status complain(struct gcd_sql *db, int rc, struct gcd_error *err)
{
    gcd_status st;
    if (db->err.code != GCD_OK) {
        if (err != NULL)
            *err = db->err;
        st = db->err.code;
        db->err = (struct gcd_error)GCD_ERROR_INIT;
        return st;
    }
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        if (memory_limit() != 0)
            return gcd_fail(err, GCD_E_LIMIT,
                            "the statement needs more than the %llu MiB of memory that SQL has; "
                            "select, sort or group fewer rows",
                            (unsigned long long)(memory_limit() >> 20));
        return gcd_fail_nomem(err, "answering a query");
    case SQLITE_INTERRUPT:
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    case SQLITE_AUTH:
        return only_reads(err);
    case SQLITE_TOOBIG:
        return gcd_fail(err, GCD_E_LIMIT, "%s", sqlite3_errmsg(db->db));
    default:
        return gcd_fail(err, GCD_E_ARG, "%s", sqlite3_errmsg(db->db));
    }
}

/* ---- the database ---- */

static int look_at_cancel(void *ctx)
{
    const struct gcd_sql *db = ctx;
    return gcd_is_canceled(db->call->cancel);
}

/*
 * Functions that only compute, in a time that grows with the length of one argument.  Others may
 * give addresses of this process (fts3_tokenizer) or compare everything with everything
 * (json_patch).
 */
static const char functions[] =
    " abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char changes coalesce concat "
    "concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime "
    "degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif if instr "
    "json "
    "json_array json_array_length json_extract -> ->> json_group_array json_group_object "
    "json_insert json_object json_quote json_remove json_replace json_set json_type json_valid "
    "julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max "
    "median min mod nth_value ntile nullif octet_length path_from_root percent_rank percentile "
    "percentile_cont percentile_disc pi pow power printf quote radians random randomblob rank "
    "replace round row_number rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg "
    "substr substring sum tan tanh time timediff total trim trunc type_name typeof unicode "
    "unixepoch unlikely upper zeroblob ";

/* Is NAME, in any case, in WORDS, which spaces separate and surround? */
static bool is_word(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = words; s[1] != '\0'; s = strchr(s + 1, ' '))
        if (sqlite3_strnicmp(s + 1, name, (int)n) == 0 && s[1 + n] == ' ')
            return true;
    return false;
}

static bool is_our_table(const char *name)
{
    struct gcd_sql_table t;
    if (is_word(" sqlite_master sqlite_schema ", name))
        return true;
    for (size_t i = 0; gcd_sql_table_at(i, &t); i++) {
        size_t n = strcspn(t.name, "(");
        if (strlen(name) == n && sqlite3_strnicmp(name, t.name, (int)n) == 0)
            return true;
    }
    return false;
}

/* Allows a statement only to read. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
                     const char *inside)
{
    static const char *const readable[] = { "table_info",      "table_xinfo",   "table_list",
                                            "function_list",   "module_list",   "pragma_list",
                                            "compile_options", "database_list", "collation_list" };
    (void)ctx;
    (void)database;
    (void)inside;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        /* without a column: also a common table expression; it can only be counted */
        return (b != NULL && b[0] == '\0') || (a != NULL && is_our_table(a)) ? SQLITE_OK
                                                                             : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return b != NULL && is_word(functions, b) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
            if (a != NULL && sqlite3_stricmp(a, readable[i]) == 0)
                return SQLITE_OK;
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static gcd_status run(struct gcd_sql *db, const char *sql, struct gcd_error *err)
{
    int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? GCD_OK : complain(db, rc, err);
}

static gcd_status make_tables(struct gcd_sql *db, struct gcd_error *err)
{
    char name[64], sql[160];
    int rc = SQLITE_OK;
    for (size_t i = 0; i < SQL_TABLES && rc == SQLITE_OK; i++) {
        db->offers[i] = (struct sql_offer){ .db = db, .table = &sql_table_list[i] };
        (void)snprintf(name, sizeof name, "gcdumpc_%s", sql_table_list[i].name);
        (void)snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE %s USING %s;", sql_table_list[i].name,
                       name);
        rc = sqlite3_create_module(db->db, name, &sql_table_module, &db->offers[i]);
        if (rc == SQLITE_OK)
            rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK)
        rc = sql_walks_open(db);
    if (rc == SQLITE_OK)
        rc = sql_functions_open(db);
    if (rc == SQLITE_OK)
        rc = sql_text_open(db);
    return rc == SQLITE_OK ? GCD_OK : complain(db, rc, err);
}

static gcd_status open_database(struct gcd_sql *db, struct gcd_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(":memory:", &db->db, flags, NULL);
    if (rc != SQLITE_OK)
        return db->db != NULL ? complain(db, rc, err) : gcd_fail_nomem(err, "opening a database");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)sqlite3_limit(db->db, limits[i].what, limits[i].most);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_progress_handler(db->db, STEPS_PER_LOOK, look_at_cancel, db);
    GCD_TRY(run(db, "PRAGMA temp_store = MEMORY;", err));
    GCD_TRY(make_tables(db, err));
    GCD_TRY(run(db, sqlite_schema_views, err));
    GCD_TRY(run(db, sql_list_views, err));
    rc = sqlite3_set_authorizer(db->db, authorize, db);
    return rc == SQLITE_OK ? GCD_OK : complain(db, rc, err);
}

static gcd_status fill(struct gcd_sql *db, const struct gcd_sql_options *options,
                       struct gcd_error *err)
{
    if (options->name != NULL) {
        db->name = gcd_mem_strndup(&db->alloc, options->name, strlen(options->name));
        if (db->name == NULL)
            return gcd_fail_nomem(err, "opening a database");
    }
    db->write =
        (struct gcd_write_options){ .context = db->context, .name = db->name, .names = db->names };
    GCD_TRY(tables_init(&db->tables, db->graph, NULL, &db->write, err));
    db->has_tables = true;
    return open_database(db, err);
}

gcd_status gcd_sql_new(struct gcd_session *s, const struct gcd_sql_options *options,
                       struct gcd_sql **ret, struct gcd_error *err)
{
    static const struct gcd_sql_options defaults;
    options = options != NULL ? options : &defaults;
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_sql *db = gcd_mem_new(&a, sizeof *db);
    if (db == NULL)
        return gcd_fail_nomem(err, "opening a database");
    db->session = s;
    db->graph = gcd_session_graph(s);
    db->summary = gcd_graph_summary(db->graph);
    db->names = gcd_session_names(s);
    db->alloc = a;
    db->context = options->context;
    db->call = &db->context;
    db->err = (struct gcd_error)GCD_ERROR_INIT;
    gcd_status st = fill(db, options, err);
    if (st == GCD_OK)
        *ret = db;
    else
        gcd_sql_free(db);
    return st;
}

void gcd_sql_free(struct gcd_sql *db)
{
    if (db == NULL)
        return;
    struct gcd_alloc a = db->alloc;
    (void)sqlite3_close(db->db); /* NULL is fine */
    for (int i = 0; i < ROW_INDEXES; i++)
        gcd_mem_free(&a, db->indexes[i].rows, db->indexes[i].count * sizeof *db->indexes[i].rows);
    gcd_mem_free(&a, db->by_name, db->summary->type_count * sizeof *db->by_name);
    if (db->has_tables)
        tables_done(&db->tables);
    if (db->name != NULL)
        gcd_mem_free(&a, db->name, strlen(db->name) + 1);
    gcd_mem_free(&a, db, sizeof *db);
}

/* ---- queries ---- */

/* Adds the position of SQLite's complaint in the text, which has BEFORE bytes before the statement.
 */
static void place(struct gcd_sql *db, uint64_t before, struct gcd_error *err)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    int at = sqlite3_error_offset(db->db);
    if (err != NULL && at >= 0)
        err->off = before + (uint64_t)at;
#else
    (void)db;
    (void)before;
    (void)err;
#endif
}

gcd_status gcd_sql_prepare(struct gcd_sql *db, const struct gcd_context *call, const char **text,
                           struct gcd_sql_query **ret, struct gcd_error *err)
{
    sqlite3_stmt *statement = NULL;
    const char *at = *text;
    db->call = call != NULL ? call : &db->context;
    db->err = (struct gcd_error)GCD_ERROR_INIT;
    while (statement == NULL && *at != '\0') { /* past empty statements */
        const char *begin = at;
        int rc = sqlite3_prepare_v2(db->db, begin, -1, &statement, &at);
        if (rc != SQLITE_OK) {
            gcd_status st = complain(db, rc, err);
            place(db, (uint64_t)(begin - *text), err);
            return st;
        }
    }
    *text = at;
    if (statement == NULL)
        return GCD_END;
    if (sqlite3_stmt_isexplain(statement) == 1) { /* its program has addresses of this process */
        (void)sqlite3_finalize(statement);
        return only_reads(err);
    }
    struct gcd_sql_query *q = gcd_mem_new(&db->alloc, sizeof *q);
    if (q == NULL) {
        (void)sqlite3_finalize(statement);
        return gcd_fail_nomem(err, "compiling a query");
    }
    *q = (struct gcd_sql_query){ .db = db, .call = db->call, .statement = statement };
    *ret = q;
    return GCD_OK;
}

void gcd_sql_query_free(struct gcd_sql_query *q)
{
    if (q == NULL)
        return;
    (void)sqlite3_finalize(q->statement);
    gcd_mem_free(&q->db->alloc, q, sizeof *q);
}

size_t gcd_sql_column_count(const struct gcd_sql_query *q)
{
    return (size_t)sqlite3_column_count(q->statement);
}

const char *gcd_sql_column_name(const struct gcd_sql_query *q, size_t column)
{
    const char *name = sqlite3_column_name(q->statement, (int)column);
    return name != NULL ? name : "";
}

gcd_status gcd_sql_step(struct gcd_sql_query *q, struct gcd_error *err)
{
    q->db->call = q->call;
    q->db->err = (struct gcd_error)GCD_ERROR_INIT;
    int rc = sqlite3_step(q->statement);
    return rc == SQLITE_ROW ? GCD_OK : rc == SQLITE_DONE ? GCD_END : complain(q->db, rc, err);
}

struct gcd_sql_value gcd_sql_value(const struct gcd_sql_query *q, size_t column)
{
    sqlite3_stmt *s = q->statement;
    int i = (int)column;
    struct gcd_sql_value v = { .kind = GCD_SQL_NULL, .text = "" };
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        v.kind = GCD_SQL_INTEGER;
        v.integer = sqlite3_column_int64(s, i);
        break;
    case SQLITE_FLOAT:
        v.kind = GCD_SQL_REAL;
        v.real = sqlite3_column_double(s, i);
        break;
    case SQLITE_TEXT:
        v.kind = GCD_SQL_TEXT;
        v.text = (const char *)sqlite3_column_text(s, i);
        v.bytes = (size_t)sqlite3_column_bytes(s, i);
        break;
    case SQLITE_BLOB:
        v.kind = GCD_SQL_BLOB;
        v.text = sqlite3_column_blob(s, i);
        v.bytes = (size_t)sqlite3_column_bytes(s, i);
        break;
    default:
        break;
    }
    if (v.text == NULL) { /* an empty blob, or no memory */
        v.text = "";
        v.bytes = 0;
    }
    return v;
}

bool gcd_sql_is_complete(const char *text)
{
    return sqlite3_complete(text) != 0;
}
