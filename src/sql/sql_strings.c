/* The table of strings whose text is known, where people may see it.  A row is the object with that
 * number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sql/sql.h"

enum { STRING_OBJECT, STRING_LENGTH, STRING_TEXT, STRING_MASKED, STRING_HASH };
const char sql_string_columns[] =
    "object_id INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT, masked TEXT, "
    "hash TEXT NOT NULL";

/* The values, if more than their equality may be seen; else NULL. */
static const struct gcd_values *shown_values(const struct gcd_sql *db)
{
    struct gcd_values_view view = gcd_session_values(db->session);
    return view.show != GCD_SHOW_EQUAL ? view.values : NULL;
}

uint64_t sql_string_rows(const struct gcd_sql *db)
{
    return shown_values(db) != NULL ? gcd_graph_node_count(db->graph) : 0;
}

/* The text of the row of C; GCD_TEXT_NONE: it is no string, or its text is not known. */
static uint32_t text_of(const struct sql_cursor *c)
{
    uint32_t node = (uint32_t)cursor_row(c);
    const struct gcd_type *type = &c->db->summary->types[gcd_graph_node_type(c->db->graph, node)];
    return strcmp(type->name, "System.String") == 0
               ? gcd_values_find(shown_values(c->db), gcd_graph_node_address(c->db->graph, node))
               : GCD_TEXT_NONE;
}

bool sql_string_skip(const struct sql_cursor *c)
{
    return text_of(c) == GCD_TEXT_NONE;
}

gcd_status sql_string_column(struct sql_cursor *c, int column, sqlite3_context *to,
                             struct gcd_error *err)
{
    char hash[17];
    struct gcd_text t = gcd_values_text(shown_values(c->db), text_of(c));
    struct gcd_values_view view = gcd_session_values(c->db->session);
    const char *secret = gcd_values_secret(&view, &t);
    (void)err;
    switch (column) {
    case STRING_OBJECT:
        sql_put_number(to, cursor_row(c));
        break;
    case STRING_LENGTH:
        sql_put_number(to, t.length);
        break;
    case STRING_TEXT:
        if (t.utf8 != NULL && secret == NULL)
            sqlite3_result_text(to, t.utf8, (int)t.bytes, SQLITE_TRANSIENT);
        break;
    case STRING_MASKED:
        if (secret != NULL)
            sqlite3_result_text(to, secret, -1, SQLITE_STATIC);
        break;
    default:
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, t.hash);
        sqlite3_result_text(to, hash, 16, SQLITE_TRANSIENT);
        break;
    }
    return GCD_OK;
}
