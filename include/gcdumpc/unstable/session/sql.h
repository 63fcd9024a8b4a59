/*
 * SQL queries on a session: SQLite's virtual tables directly over the graph; nothing is copied.
 *
 *     struct gcd_sql *db;
 *     struct gcd_sql_query *q;
 *     const char *text = "SELECT type, count(*) FROM objects GROUP BY type; SELECT 2";
 *     if (gcd_sql_new(session, NULL, &db, &err) == GCD_OK &&
 *         gcd_sql_prepare(db, NULL, &text, &q, &err) == GCD_OK)
 *         while (gcd_sql_step(q, &err) == GCD_OK)
 *             ... gcd_sql_value(q, 0), gcd_sql_value(q, 1)
 *
 * Tables, views and columns are those of the format sqlite (tools/doc/sql.md) and some more;
 * gcd_sql_table_at lists all.  A comparison with = on the id, address, type, dominator, source or
 * target of objects and references is a look-up.  The session computes what a column needs, such as
 * dominators, when a query first reads it.
 *
 * Queries are read-only: a statement that would change or attach something is refused, as are
 * functions that do more than compute, texts of more than 1 MiB, and programs of SQLite (EXPLAIN).
 * Only one thread at a time may use a struct gcd_sql with its queries; any number of them may share
 * a session.  SQLite takes its own memory from malloc (gcd_sql_limit_memory), and uses no temporary
 * files.
 *
 * Without SQLite in the build, gcd_sql_new returns GCD_E_UNSUPPORTED.
 */
#ifndef GCDUMPC_UNSTABLE_SESSION_SQL_H
#define GCDUMPC_UNSTABLE_SESSION_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/session.h>
#include <gcdumpc/status.h>

struct gcd_sql;

struct gcd_sql_options {
    /* memory of the tables, and the context of queries without their own; must outlive the result
     */
    struct gcd_context context;
    /* of the process if the dump does not know it, for the table of facts; NULL = none */
    const char *name;
};

/* S must outlive the result.  OPTIONS may be NULL.  GCD_E_NOMEM, GCD_E_UNSUPPORTED, GCD_E_LIMIT. */
GCD_MUST_CHECK gcd_status gcd_sql_new(struct gcd_session *s, const struct gcd_sql_options *options,
                                      struct gcd_sql **ret, struct gcd_error *err);
/* All queries must have been freed. */
void gcd_sql_free(struct gcd_sql *db);

/* Limits the memory that SQLite takes in this process, for all its users; 0 = no limit.  A
 * statement that needs more fails with GCD_E_LIMIT. */
void gcd_sql_limit_memory(uint64_t bytes);

/* A table, view or function, for people. */
struct gcd_sql_table {
    const char *name;
    const char *columns; /* of a table, as in its declaration, "id INTEGER PRIMARY KEY, ...";
                            otherwise only their names */
    const char *about;   /* one sentence */
};
/* Stores number I of them, in an order for people, in *RET; strings are static.  False after the
 * last. */
bool gcd_sql_table_at(size_t i, struct gcd_sql_table *ret);

struct gcd_sql_query;

/*
 * Compiles the first statement of *TEXT, a string in UTF-8, and moves *TEXT past it.  CALL: the
 * cancel flag, threads and progress of this query (struct gcd_session); NULL: those of the options.
 * It must outlive the query. GCD_OK; GCD_END: there is no statement, only space and comments;
 * GCD_E_ARG: the statement is wrong; ERR->off is the position of the error in *TEXT, or
 * GCD_OFF_NONE; GCD_E_NOMEM, GCD_E_LIMIT.
 */
GCD_MUST_CHECK gcd_status gcd_sql_prepare(struct gcd_sql *db, const struct gcd_context *call,
                                          const char **text, struct gcd_sql_query **ret,
                                          struct gcd_error *err);
void gcd_sql_query_free(struct gcd_sql_query *q);

/* The columns of its rows; names belong to the query. */
size_t gcd_sql_column_count(const struct gcd_sql_query *q);
const char *gcd_sql_column_name(const struct gcd_sql_query *q, size_t column);

/*
 * Moves to the next row.  GCD_END: there is none.  GCD_E_CANCELED; GCD_E_ARG: an error from SQLite,
 * for example a sum that overflows; GCD_E_NOMEM, GCD_E_LIMIT, GCD_E_IO.
 */
GCD_MUST_CHECK gcd_status gcd_sql_step(struct gcd_sql_query *q, struct gcd_error *err);

enum gcd_sql_kind { GCD_SQL_NULL, GCD_SQL_INTEGER, GCD_SQL_REAL, GCD_SQL_TEXT, GCD_SQL_BLOB };
struct gcd_sql_value {
    enum gcd_sql_kind kind;
    int64_t integer;
    double real;
    /* TEXT: with a final NUL, possibly others inside, not always UTF-8; BLOB: any bytes */
    const char *text;
    size_t bytes;
};
/* A value of the current row; its text is valid until the next call on the query. */
struct gcd_sql_value gcd_sql_value(const struct gcd_sql_query *q, size_t column);

/*
 * Are all statements in TEXT valid?  Errors as of gcd_sql_prepare, with their position in TEXT.
 * Needs no session, so a mistake is found before a heap is read.
 */
GCD_MUST_CHECK gcd_status gcd_sql_check(const char *text, struct gcd_error *err);

/* Does TEXT end with a complete statement and its semicolon?  Without SQLite always true. */
bool gcd_sql_is_complete(const char *text);

#endif
