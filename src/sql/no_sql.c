/* A build without SQLite. */
#include <gcdumpc/unstable/session/sql.h>

#include "base/error.h"

#ifndef GCDUMPC_HAVE_SQLITE
gcd_status gcd_sql_new(struct gcd_session *s, const struct gcd_sql_options *options,
                       struct gcd_sql **ret, struct gcd_error *err)
{
    (void)s;
    (void)options;
    (void)ret;
    return gcd_fail(err, GCD_E_UNSUPPORTED, "this build has no SQLite");
}

void gcd_sql_free(struct gcd_sql *db)
{
    (void)db;
}

void gcd_sql_limit_memory(uint64_t bytes)
{
    (void)bytes;
}

bool gcd_sql_table_at(size_t i, struct gcd_sql_table *ret)
{
    (void)i;
    (void)ret;
    return false;
}

gcd_status gcd_sql_prepare(struct gcd_sql *db, const struct gcd_context *call, const char **text,
                           struct gcd_sql_query **ret, struct gcd_error *err)
{
    (void)db;
    (void)call;
    (void)text;
    (void)ret;
    return gcd_fail(err, GCD_E_UNSUPPORTED, "this build has no SQLite");
}

void gcd_sql_query_free(struct gcd_sql_query *q)
{
    (void)q;
}

size_t gcd_sql_column_count(const struct gcd_sql_query *q)
{
    (void)q;
    return 0;
}

const char *gcd_sql_column_name(const struct gcd_sql_query *q, size_t column)
{
    (void)q;
    (void)column;
    return "";
}

gcd_status gcd_sql_step(struct gcd_sql_query *q, struct gcd_error *err)
{
    (void)q;
    return gcd_fail(err, GCD_E_UNSUPPORTED, "this build has no SQLite");
}

struct gcd_sql_value gcd_sql_value(const struct gcd_sql_query *q, size_t column)
{
    (void)q;
    (void)column;
    return (struct gcd_sql_value){ .kind = GCD_SQL_NULL, .text = "" };
}

gcd_status gcd_sql_check(const char *text, struct gcd_error *err)
{
    (void)text;
    return gcd_fail(err, GCD_E_UNSUPPORTED, "this build has no SQLite");
}

bool gcd_sql_is_complete(const char *text)
{
    (void)text;
    return true;
}
#endif
