/* The table of the fields of objects with their values, where people may see them.  A value is read
 * from the memory image, or from the recording, when its row is asked for: a query reads only what
 * it needs. */
#include "sql/sql.h"

enum {
    FIELD_OBJECT,
    FIELD_NAME,
    FIELD_KIND,
    FIELD_INTEGER,
    FIELD_REAL,
    FIELD_TEXT,
    FIELD_MASKED,
    FIELD_TARGET
};
const char sql_field_columns[] =
    "object_id INTEGER NOT NULL, field TEXT, kind TEXT NOT NULL, integer INTEGER, real REAL, "
    "text TEXT, masked TEXT, target_id INTEGER";

gcd_status sql_need_fields(struct gcd_sql *db, struct gcd_error *err)
{
    return gcd_session_numbers(db->session, &db->numbers, err);
}

uint64_t sql_field_rows(const struct gcd_sql *db)
{
    struct gcd_values_view view = gcd_session_values(db->session);
    bool some =
        view.memory != NULL || (view.values != NULL && gcd_values_facts(view.values)->numbers > 0);
    return some && view.show != GCD_SHOW_EQUAL ? gcd_graph_node_count(db->graph) * UINT64_C(4) : 0;
}

static struct field_rows rows_of(const struct gcd_sql *db)
{
    return (struct field_rows){ .graph = db->graph,
                                .view = gcd_session_values(db->session),
                                .numbers = db->numbers };
}

void sql_fields_of(struct sql_cursor *c, uint32_t node)
{
    struct field_rows rows = rows_of(c->db);
    c->list = NULL;
    c->key = node;
    c->at = 0;
    c->end = field_rows_count(&rows, node);
}

bool sql_more_fields(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err)
{
    if (c->next >= c->last || c->db->numbers == NULL)
        return false;
    (void)ret_st;
    (void)err;
    sql_fields_of(c, c->next++);
    return true;
}

/* What the row of C says. */
static const struct field_row *row_of(struct sql_cursor *c)
{
    struct sql_field *f = &c->field;
    if (f->read && f->key == c->key && f->at == c->at)
        return &f->row;
    struct field_rows rows = rows_of(c->db);
    *f = (struct sql_field){ .read = true, .key = c->key, .at = c->at };
    field_rows_read(&rows, c->key, (uint32_t)c->at, &f->row);
    return &f->row;
}

static void put_text(const struct sql_cursor *c, sqlite3_context *to, const struct field_row *f,
                     bool masked)
{
    struct field_rows rows = rows_of(c->db);
    char buf[GCD_NUMBER_BYTES];
    size_t n;
    const char *text = field_row_text(&rows, f, masked, buf, &n);
    if (text != NULL)
        sqlite3_result_text64(to, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

gcd_status sql_field_column(struct sql_cursor *c, int column, sqlite3_context *to,
                            struct gcd_error *err)
{
    const struct field_row *f = column != FIELD_OBJECT ? row_of(c) : NULL;
    int64_t integer;
    double real;
    (void)err;
    switch (column) {
    case FIELD_OBJECT:
        sqlite3_result_int64(to, c->key);
        break;
    case FIELD_NAME:
        sql_put_text(to, field_row_name(f));
        break;
    case FIELD_KIND:
        sqlite3_result_text(to, field_row_kind(f), -1, SQLITE_STATIC);
        break;
    case FIELD_INTEGER:
        if (field_row_integer(f, &integer))
            sqlite3_result_int64(to, integer);
        break;
    case FIELD_REAL:
        if (field_row_real(f, &real))
            sqlite3_result_double(to, real);
        break;
    case FIELD_TEXT:
    case FIELD_MASKED:
        put_text(c, to, f, column == FIELD_MASKED);
        break;
    default:
        if (f->target != GCD_NODE_NONE)
            sqlite3_result_int64(to, f->target);
        break;
    }
    return GCD_OK;
}
