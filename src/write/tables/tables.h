/*
 * A dump as tables: the content of csv and sqlite.  One description, so that a column means the
 * same in both.
 *
 *     struct table_cursor c;
 *     table_start(&c, t, table_list[i]);
 *     for (; table_more(&c); table_next(&c))
 *         for (size_t col = 0; col < c.table->column_count; col++)
 *             table_value(&c, col, &value);
 */
#ifndef GCD_WRITE_TABLES_H
#define GCD_WRITE_TABLES_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/writer.h>

#include "base/text.h"
#include "write/tables/field_rows.h"

enum table_value_kind {
    TABLE_NONE, /* unknown, or does not exist */
    TABLE_NUMBER,
    TABLE_SIGNED,
    TABLE_ADDRESS, /* also other 64-bit ids that mean nothing as numbers */
    TABLE_TEXT,
    TABLE_BYTES, /* a text of NUMBER bytes, which lives as long as the row */
    TABLE_REAL
};
struct table_value {
    enum table_value_kind kind;
    uint64_t number;  /* of TABLE_SIGNED in two's complement */
    const char *text; /* lives as long as the tables */
    double real;
};

/* A row of the table of facts. */
struct table_fact {
    char key[56];
    struct table_value value;
};
#define TABLE_FACTS_MAX (64 + 2 * GCD_REASON_COUNT)

struct tables {
    struct gcd_alloc alloc;
    const struct gcd_graph *graph;
    const struct gcd_write_options *options;
    const struct gcd_dominators *dominators; /* NULL: that table is empty */
    struct gcd_generations *generations;
    struct gcd_fields *fields;
    struct gcd_field_pass *pass; /* one thread looks at references */
    struct table_fact facts[TABLE_FACTS_MAX];
    size_t fact_count;
    const char **labels; /* [label_count] by root, NULL = gcd_root.label */
    size_t label_count, label_room;
    struct gcd_textpool text;
    bool shows_values;            /* there are tables of strings and fields */
    struct field_rows field_rows; /* of values that may be shown */
};

/* The graph and the dominators must outlive the tables.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status tables_init(struct tables *t, const struct gcd_graph *g,
                                      const struct gcd_dominators *dominators,
                                      const struct gcd_write_options *options,
                                      struct gcd_error *err);
void tables_done(struct tables *t);

/* tables_facts.c; called by tables_init. */
void tables_add_facts(struct tables *t);

/* tables_values.c; the first is called by tables_init.  Is there a table of this number? */
gcd_status tables_open_values(struct tables *t, struct gcd_error *err);
bool tables_has(const struct tables *t, size_t table);

struct table_cursor;
struct table {
    const char *name;
    const char *const *columns; /* [column_count] */
    size_t column_count;
    uint64_t (*rows)(const struct tables *t);
    void (*value)(struct table_cursor *c, size_t column, struct table_value *ret);
    /* NULL, or: sets the members that VALUE needs from the row number */
    void (*settle)(struct table_cursor *c);
    bool open; /* ROWS is an estimate: SETTLE sets .rows to one more than the row while there is one
                */
};

struct table_cursor {
    const struct table *table;
    const struct tables *tables;
    uint64_t row, rows;
    uint32_t node; /* row of objects, edges, dominators */
    uint64_t slot; /* of edges: number of the reference within its object */
    const uint32_t *edges;
    size_t edge_count;
    struct gcd_node object;
    size_t range; /* the range that contained the last object */
    struct field_row field;
    char text[GCD_NUMBER_BYTES]; /* of a value */
};

enum {
    TABLE_OF_FACTS,
    TABLE_OF_TYPES,
    TABLE_OF_OBJECTS,
    TABLE_OF_EDGES,
    TABLE_OF_ROOTS,
    TABLE_OF_DEPENDENTS,
    TABLE_OF_RANGES,
    TABLE_OF_STRINGS,
    TABLE_OF_FIELDS,
    TABLE_OF_DOMINATORS,
    TABLES
};
extern const struct table *const table_list[TABLES];
extern const struct table table_of_strings, table_of_fields; /* tables_values.c */

void table_start(struct table_cursor *c, const struct tables *t, const struct table *table);
static inline bool table_more(const struct table_cursor *c)
{
    return c->row < c->rows;
}
void table_next(struct table_cursor *c);
static inline void table_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    c->table->value(c, column, ret);
}

/* The field of reference SLOT of NODE, or its index in an array. */
void table_field(const struct tables *t, uint32_t node, uint64_t slot, bool element,
                 struct table_value *ret);

/* Notes what was written. */
void tables_note(const struct tables *t, struct gcd_write_notes *notes);

#endif
