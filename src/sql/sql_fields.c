/* The table of the fields of objects with their values, where people may see them.  A value is read
 * from the memory image, or from the recording, when its row is asked for: a query reads only what
 * it needs. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/image_numbers.h>

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

void sql_fields_of(struct sql_cursor *c, uint32_t node)
{
    uint64_t address = gcd_graph_node_address(c->db->graph, node);
    struct gcd_number boxed;
    c->list = NULL;
    c->key = node;
    c->at = 0;
    c->end = c->db->numbers != NULL ? gcd_image_field_count(c->db->numbers, address) : 0;
    if (c->end > 1 && gcd_image_boxed(c->db->numbers, address, &boxed) == GCD_OK)
        c->end = 1; /* the value as a whole */
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
static const struct sql_field *row_of(struct sql_cursor *c)
{
    struct sql_field *f = &c->field;
    const struct gcd_graph *g = c->db->graph;
    uint64_t address = gcd_graph_node_address(g, c->key);
    if (f->read && f->key == c->key && f->at == c->at)
        return f;
    *f = (struct sql_field){
        .read = true, .key = c->key, .at = c->at, .target = GCD_NODE_NONE, .text = GCD_TEXT_NONE
    };
    f->of.known = gcd_image_boxed(c->db->numbers, address, &f->of.number) == GCD_OK;
    if (f->of.known)
        return f;
    f->of = gcd_image_field(c->db->numbers, address, (uint32_t)c->at);
    if (!f->of.known || f->of.number.kind != GCD_NUMBER_REFERENCE || f->of.number.bits == 0)
        return f;
    f->target = gcd_graph_find(g, f->of.number.bits);
    if (f->target == GCD_NODE_NONE)
        return f;
    struct gcd_number boxed;
    const struct gcd_values *values = gcd_session_values(c->db->session).values;
    const char *type = c->db->summary->types[gcd_graph_node_type(g, f->target)].raw_name;
    if (values != NULL && strcmp(type, "System.String") == 0)
        f->text = gcd_values_find(values, f->of.number.bits);
    else if (gcd_image_boxed(c->db->numbers, f->of.number.bits, &boxed) == GCD_OK)
        f->of.number = boxed;
    return f;
}

static const char *kind_of(const struct sql_field *f)
{
    return !f->of.known               ? "unknown"
           : f->text != GCD_TEXT_NONE ? "string"
                                      : gcd_number_kind_name(&f->of.number);
}

/* The number as SQL has it: of dates and times their ticks or days. */
static void put_integer(sqlite3_context *to, const struct gcd_number *x)
{
    switch (x->kind) {
    case GCD_NUMBER_UNSIGNED:
        if (x->bits <= INT64_MAX)
            sqlite3_result_int64(to, (sqlite3_int64)x->bits);
        break;
    case GCD_NUMBER_DATE_TIME:
    case GCD_NUMBER_DATE_TIME_OFFSET: /* without the kind */
        sqlite3_result_int64(to, (sqlite3_int64)(x->bits & UINT64_C(0x3fffffffffffffff)));
        break;
    case GCD_NUMBER_BOOL:
    case GCD_NUMBER_CHAR:
    case GCD_NUMBER_SIGNED:
    case GCD_NUMBER_TIME_SPAN:
    case GCD_NUMBER_DATE:
    case GCD_NUMBER_TIME:
        sqlite3_result_int64(to, (sqlite3_int64)x->bits);
        break;
    default:
        break;
    }
}

static void put_real(sqlite3_context *to, const struct gcd_number *x)
{
    double d;
    char buf[GCD_NUMBER_BYTES];
    if (x->kind == GCD_NUMBER_REAL) {
        memcpy(&d, &x->bits, sizeof d);
        sqlite3_result_double(to, d);
    } else if (x->kind == GCD_NUMBER_UNSIGNED && x->bits > INT64_MAX) {
        sqlite3_result_double(to, (double)x->bits);
    } else if (x->kind >= GCD_NUMBER_DECIMAL && x->kind < GCD_NUMBER_NULL) { /* the nearest one */
        sqlite3_result_double(to, strtod(gcd_number_text(x, buf), NULL));
    }
}

static void put_text(const struct sql_cursor *c, sqlite3_context *to, const struct sql_field *f,
                     bool masked)
{
    struct gcd_values_view view = gcd_session_values(c->db->session);
    char buf[GCD_NUMBER_BYTES];
    if (f->text != GCD_TEXT_NONE) {
        struct gcd_text t = gcd_values_text(view.values, f->text);
        const char *secret = gcd_values_secret(&view, &t);
        if (masked && secret != NULL)
            sqlite3_result_text(to, secret, -1, SQLITE_STATIC);
        else if (!masked && secret == NULL && t.utf8 != NULL)
            sqlite3_result_text(to, t.utf8, (int)t.bytes, SQLITE_TRANSIENT);
    } else if (!masked && f->of.known && f->of.number.kind < GCD_NUMBER_NULL) {
        sqlite3_result_text(to, gcd_number_text(&f->of.number, buf), -1, SQLITE_TRANSIENT);
    }
}

gcd_status sql_field_column(struct sql_cursor *c, int column, sqlite3_context *to,
                            struct gcd_error *err)
{
    const struct sql_field *f = column != FIELD_OBJECT ? row_of(c) : NULL;
    (void)err;
    switch (column) {
    case FIELD_OBJECT:
        sqlite3_result_int64(to, c->key);
        break;
    case FIELD_NAME:
        sql_put_text(to, f->of.name != NULL ? f->of.name : "");
        break;
    case FIELD_KIND:
        sqlite3_result_text(to, kind_of(f), -1, SQLITE_STATIC);
        break;
    case FIELD_INTEGER:
        if (f->of.known)
            put_integer(to, &f->of.number);
        break;
    case FIELD_REAL:
        if (f->of.known)
            put_real(to, &f->of.number);
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
