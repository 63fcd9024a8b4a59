/*
 * sql: runs one statement on an open heap.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/sql.h>

#include "mcp/mcp_call.h"
#include "output/json_out.h"
#include "term/term.h"

#define DEFAULT_SECONDS 60
/* Rows after the page are counted up to this many. */
#define COUNTED_MAX 100000u

static json_t *blob(struct mcp_call *c, const struct gcd_sql_value *v)
{
    size_t n = v->bytes < c->text_max / 2 ? v->bytes : c->text_max / 2;
    char *text = malloc(2 * n + 32), *at = text;
    if (text == NULL)
        return NULL;
    at += sprintf(at, "X'");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%02x", (unsigned char)v->text[i]);
    (void)sprintf(at, n < v->bytes ? "...'" : "'");
    c->shortened += n < v->bytes;
    json_t *j = json_string(text);
    free(text);
    return j;
}

/* With all that follows a NUL. */
static json_t *text(struct mcp_call *c, const struct gcd_sql_value *v)
{
    json_t *j = v->bytes <= c->text_max ? json_stringn(v->text, v->bytes) : NULL;
    if (j != NULL)
        return j;
    char *copy = cli_text_copy(v->text, v->bytes);
    j = copy != NULL ? mcp_name(c, copy) : NULL;
    free(copy);
    return j;
}

static json_t *cell(struct mcp_call *c, const struct gcd_sql_query *q, size_t column)
{
    struct gcd_sql_value v = gcd_sql_value(q, column);
    switch (v.kind) {
    case GCD_SQL_INTEGER:
        return json_integer(v.integer);
    case GCD_SQL_REAL:
        return isfinite(v.real) ? json_real(v.real) : json_null();
    case GCD_SQL_TEXT:
        return text(c, &v);
    case GCD_SQL_BLOB:
        return blob(c, &v);
    case GCD_SQL_NULL:
        break;
    }
    return json_null();
}

static json_t *row_of(struct mcp_call *c, const struct gcd_sql_query *q)
{
    json_t *row = json_array();
    for (size_t i = 0; i < gcd_sql_column_count(q); i++)
        (void)json_array_append_new(row, cell(c, q, i));
    return row;
}

static enum mcp_outcome fail(struct mcp_call *c, const struct gcd_error *err)
{
    if (err->code == GCD_E_CANCELED)
        return mcp_fail(c,
                        "not answered within %" PRIi64 " s; ask for less, or give more \"seconds\"",
                        mcp_number(c, "seconds", DEFAULT_SECONDS));
    if (err->code == GCD_E_UNSUPPORTED)
        return mcp_fail(
            c,
            "this build of gcdumpc has no SQLite, so there is no sql; the other tools need none");
    return mcp_fail_by(c, err);
}

/* Adds the page's rows.  Each page runs the statement again and skips the rows before. */
static enum mcp_outcome list_rows(struct mcp_call *c, struct gcd_sql_query *q)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t n = 0;
    gcd_status st = GCD_OK;
    json_t *columns = json_array();
    for (size_t i = 0; i < gcd_sql_column_count(q); i++)
        (void)json_array_append_new(columns, mcp_name(c, gcd_sql_column_name(q, i)));
    mcp_put(c->out, "columns", columns);
    mcp_page_total(c, MCP_TOTAL_UNKNOWN);
    while ((n <= c->page.next || n - c->page.next < COUNTED_MAX) &&
           (st = gcd_sql_step(q, &err)) == GCD_OK)
        if (n++ == c->page.next && mcp_page_wants(c))
            mcp_page_add(c, row_of(c, q));
    if (st < 0)
        return fail(c, &err);
    if (st == GCD_END)
        mcp_page_found_end(c, n);
    mcp_page_end(c, "rows");
    return MCP_DONE;
}

/* Lists the names of all tables, views and functions in RET[CAP], as many as fit. */
static void list_tables(char *ret, size_t cap)
{
    struct gcd_sql_table t;
    ret[0] = '\0';
    for (size_t i = 0, n = 0; n < cap && gcd_sql_table_at(i, &t); i++)
        n += (size_t)snprintf(ret + n, cap - n, "%s%s", i > 0 ? ", " : "", t.name);
}

/* Fails with ERR and its place in TEXT, and what may have been meant. */
static enum mcp_outcome wrong(struct mcp_call *c, const char *text, const struct gcd_error *err)
{
    char tables[1024];
    size_t n = strlen(text);
    if (err->code != GCD_E_ARG || err->off == GCD_OFF_NONE || err->off > n)
        return fail(c, err);
    int rest = n - err->off < 60 ? (int)(n - err->off) : 60;
    list_tables(tables, sizeof tables);
    return mcp_fail(
        c,
        "%s, at byte %" PRIu64
        ": %.*s; there are %s; PRAGMA table_xinfo(objects) shows the columns of a table",
        err->msg, err->off + 1, rest, text + err->off, tables);
}

static enum mcp_outcome run_statement(struct mcp_call *c, struct gcd_sql *db, const char *text)
{
    struct gcd_context call = mcp_context(c, "answering");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sql_query *q, *second;
    const char *rest = text;
    gcd_status st = gcd_sql_prepare(db, &call, &rest, &q, &err);
    if (st == GCD_END)
        return mcp_fail(c, "there is no statement in \"statement\"");
    if (st != GCD_OK)
        return wrong(c, text, &err);
    st = gcd_sql_prepare(db, &call, &rest, &second, &err);
    if (st == GCD_OK)
        gcd_sql_query_free(second);
    enum mcp_outcome e = st == GCD_END
                             ? list_rows(c, q)
                             : mcp_fail(c, "one statement a call; send the second one by itself");
    gcd_sql_query_free(q);
    return e;
}

static enum mcp_outcome run_sql(struct mcp_call *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sql_options options = { .context = mcp_context(c, NULL), .name = c->heap->d.name };
    struct gcd_sql *db;
    if (gcd_sql_new(c->heap->d.session, &options, &db, &err) != GCD_OK)
        return fail(c, &err);
    mcp_set_limit(c->server, (uint64_t)mcp_number(c, "seconds", DEFAULT_SECONDS));
    enum mcp_outcome e = run_statement(c, db, mcp_text(c, "statement"));
    mcp_set_limit(c->server, 0);
    gcd_sql_free(db);
    return e;
}

static const struct mcp_arg sql_args[] = {
    { "statement", MCP_TEXT, true, 0, 0, NULL,
      "one statement that reads, such as SELECT type, count(*) FROM objects GROUP BY type ORDER BY "
      "2 DESC" },
    { "seconds", MCP_NUMBER, false, 1, 3600, NULL, "give up after so many seconds (60)" },
    { .name = NULL },
};

const struct mcp_tool mcp_sql = {
    "sql",
    "Ask in SQL",
    "A statement in SQLite's language, only reading.  Tables: objects(id, type, size, retained, "
    "dominator, address, "
    "generation, depth), refs(source, target, ordinal), types(id, name, module, objects, bytes), "
    "roots, statics, modules, ranges, facts, "
    "suspects; functions type_name(id), path_from_root(id), reachable_from(id).  Equality on id, "
    "type, source, target, dominator is a "
    "look-up.",
    sql_args,
    "columns[] rows:a",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_sql,
    { NULL }
};
