/* The tables of strings and of the fields of objects, which exist only where values may be shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "write/tables/tables.h"
#include "write/write.h"

bool tables_has(const struct tables *t, size_t table)
{
    return (table != TABLE_OF_STRINGS && table != TABLE_OF_FIELDS) || t->shows_values;
}

gcd_status tables_open_values(struct tables *t, struct gcd_error *err)
{
    const struct gcd_values_view *view = t->options->values;
    t->shows_values = view != NULL && view->show != GCD_SHOW_EQUAL;
    if (!t->shows_values)
        return GCD_OK;
    t->field_rows = (struct field_rows){ .graph = t->graph, .view = *view };
    gcd_status st = gcd_image_numbers_new(view, NULL, &t->alloc, &t->field_rows.numbers, err);
    return st == GCD_END ? GCD_OK : st;
}

/* About as many as there are objects: which rows there are, shows when they are read. */
static uint64_t rows_of_objects(const struct tables *t)
{
    return t->shows_values ? gcd_graph_node_count(t->graph) : 0;
}

static void put_text(struct table_value *v, const char *s, size_t n)
{
    *v = (struct table_value){ .kind = s != NULL ? TABLE_BYTES : TABLE_NONE,
                               .text = s,
                               .number = n };
}

/* ---- strings ---- */

enum { STRING_OBJECT, STRING_LENGTH, STRING_TEXT, STRING_MASKED, STRING_HASH };
static const char *const string_columns[] = { "object_id", "length", "text", "masked", "hash" };

static uint32_t text_of(const struct table_cursor *c)
{
    const struct tables *t = c->tables;
    return write_has_texts(t->options, t->graph, gcd_graph_node_type(t->graph, c->node))
               ? write_text_of(t->options, t->graph, c->node)
               : GCD_TEXT_NONE;
}

/* Finds the next string with a text. */
static void string_settle(struct table_cursor *c)
{
    uint32_t n = gcd_graph_node_count(c->tables->graph);
    for (c->node += c->row != 0; c->node < n; c->node++)
        if (text_of(c) != GCD_TEXT_NONE)
            break;
    c->rows = c->node < n ? c->row + 1 : c->row;
}

static void string_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct gcd_values_view *view = c->tables->options->values;
    struct gcd_text t = gcd_values_text(view->values, text_of(c));
    const char *secret = gcd_values_secret(view, &t);
    switch (column) {
    case STRING_OBJECT:
        *ret = (struct table_value){ .kind = TABLE_NUMBER, .number = c->node };
        break;
    case STRING_LENGTH:
        *ret = (struct table_value){ .kind = TABLE_NUMBER, .number = t.length };
        break;
    case STRING_TEXT:
        put_text(ret, secret == NULL ? t.utf8 : NULL, t.bytes);
        break;
    case STRING_MASKED:
        put_text(ret, secret, secret != NULL ? strlen(secret) : 0);
        break;
    default:
        put_text(ret, c->text, (size_t)snprintf(c->text, sizeof c->text, "%016" PRIx64, t.hash));
        break;
    }
}

/* ---- fields ---- */

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
static const char *const field_columns[] = { "object_id", "field", "kind",   "integer",
                                             "real",      "text",  "masked", "target_id" };

static void field_settle(struct table_cursor *c)
{
    const struct field_rows *f = &c->tables->field_rows;
    uint32_t n = gcd_graph_node_count(c->tables->graph);
    if (c->row == 0)
        c->edge_count = field_rows_count(f, c->node);
    else
        c->slot++;
    while (c->slot >= c->edge_count && ++c->node < n) {
        c->slot = 0;
        c->edge_count = field_rows_count(f, c->node);
    }
    c->rows = c->node < n ? c->row + 1 : c->row;
    if (c->node < n)
        field_rows_read(f, c->node, (uint32_t)c->slot, &c->field);
}

static void field_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct field_row *r = &c->field;
    int64_t integer;
    size_t n;
    *ret = (struct table_value){ .kind = TABLE_NONE };
    switch (column) {
    case FIELD_OBJECT:
        *ret = (struct table_value){ .kind = TABLE_NUMBER, .number = c->node };
        break;
    case FIELD_NAME:
        if (field_row_name(r)[0] != '\0')
            *ret = (struct table_value){ .kind = TABLE_TEXT, .text = field_row_name(r) };
        break;
    case FIELD_KIND:
        *ret = (struct table_value){ .kind = TABLE_TEXT, .text = field_row_kind(r) };
        break;
    case FIELD_INTEGER:
        if (field_row_integer(r, &integer))
            *ret = (struct table_value){ .kind = TABLE_SIGNED, .number = (uint64_t)integer };
        break;
    case FIELD_REAL:
        if (field_row_real(r, &ret->real))
            ret->kind = TABLE_REAL;
        break;
    case FIELD_TEXT:
    case FIELD_MASKED: {
        const char *s =
            field_row_text(&c->tables->field_rows, r, column == FIELD_MASKED, c->text, &n);
        put_text(ret, s, n);
        break;
    }
    default:
        if (r->target != GCD_NODE_NONE)
            *ret = (struct table_value){ .kind = TABLE_NUMBER, .number = r->target };
        break;
    }
}

/* ---- list ---- */

const struct table table_of_strings = { .name = "strings",
                                        .columns = string_columns,
                                        .column_count =
                                            sizeof string_columns / sizeof *string_columns,
                                        .rows = rows_of_objects,
                                        .value = string_value,
                                        .settle = string_settle,
                                        .open = true };
const struct table table_of_fields = { .name = "fields",
                                       .columns = field_columns,
                                       .column_count = sizeof field_columns / sizeof *field_columns,
                                       .rows = rows_of_objects,
                                       .value = field_value,
                                       .settle = field_settle,
                                       .open = true };
