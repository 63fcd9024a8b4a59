/* Compiles statements against a graph without objects, because only the names of tables, columns
 * and functions matter. */
#include <gcdumpc/unstable/session/sql.h>

#include "graph/graph_build.h"

static gcd_status compile(struct gcd_sql *db, const char *text, struct gcd_error *err)
{
    struct gcd_sql_query *q;
    const char *at = text;
    for (;;) {
        const char *begin = at;
        gcd_status st = gcd_sql_prepare(db, NULL, &at, &q, err);
        if (st == GCD_END)
            return GCD_OK;
        if (st != GCD_OK) {
            if (err != NULL && err->off != GCD_OFF_NONE)
                err->off += (uint64_t)(begin - text);
            return st;
        }
        gcd_sql_query_free(q);
    }
}

static gcd_status empty_graph(struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_build *b;
    gcd_status st = gcd_build_new(NULL, &b, err);
    if (st != GCD_OK)
        return st;
    st = gcd_build_nodes_end(b, err);
    if (st == GCD_OK)
        return gcd_build_seal(b, ret, err);
    gcd_build_free(b);
    return st;
}

gcd_status gcd_sql_check(const char *text, struct gcd_error *err)
{
    struct gcd_graph *g = NULL;
    struct gcd_session *s = NULL;
    struct gcd_sql *db = NULL;
    gcd_status st = empty_graph(&g, err);
    if (st == GCD_OK)
        st = gcd_session_new(g, NULL, &s, err);
    if (st == GCD_OK)
        st = gcd_sql_new(s, NULL, &db, err);
    if (st == GCD_OK)
        st = compile(db, text, err);
    gcd_sql_free(db);
    gcd_session_free(s);
    gcd_graph_free(g);
    return st;
}
