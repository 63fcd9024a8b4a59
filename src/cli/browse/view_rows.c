/* The result of an SQL statement: the first rows, as many as a person would read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/sql.h>
#include <gcdumpc/unstable/text/plural.h>

#include "browse/opening.h"
#include "term/lists.h"
#include "term/term.h"

#define ROWS_SHOWN 10000u
/* Longer texts are cut at a character boundary. */
#define CELL_BYTES 4000u
/* A column is padded up to here. */
#define COLUMN_MAX 60u

struct table {
    struct browse_view *v;
    struct gcd_sql_query *query;
    size_t columns;
    char **cells; /* [count] row by row, the first with the names; NULL = empty */
    size_t count, room;
    size_t *widths; /* [columns] */
    bool *numbers;  /* [columns] */
    uint32_t *to;   /* for each row but the names */
    enum browse_goal *goals;
    size_t rows, to_room, goals_room;
    bool more;
};

/* ---- what a row is about ---- */

static bool named(const struct table *t, size_t column, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcasecmp(gcd_sql_column_name(t->query, column), *names) == 0)
            return true;
    return false;
}

/* Finds the object that a row is about, by the first column that names one, else a type.  "id" is a
 * type's if there are raw names beside it. */
static void find_goal(const struct table *t, enum browse_goal *goal, uint32_t *to)
{
    static const char *const objects[] = { "object_id", "from_id",   "to_id",  "source",   "target",
                                           "parent_id", "dominator", "key_id", "value_id", NULL };
    static const char *const types[] = { "type_id", NULL }, *const ids[] = { "id", NULL },
                             *const addresses[] = { "address", NULL };
    static const char *const of_types[] = { "raw_name", "method_table", NULL };
    static const char *const of_objects[] = { "size_bytes", "size", "retained_bytes",
                                              "retained",   "type", "generation",
                                              NULL };
    const struct browse_model *m = t->v->model;
    bool object_ids = false, type_ids = false;
    *goal = GOAL_NONE;
    for (size_t i = 0; i < t->columns; i++) {
        type_ids = type_ids || named(t, i, of_types);
        object_ids = object_ids || named(t, i, of_objects);
    }
    for (size_t i = 0; i < t->columns && *goal != GOAL_OBJECT; i++) {
        struct gcd_sql_value v = gcd_sql_value(t->query, i);
        bool id = named(t, i, ids) && (type_ids || object_ids);
        uint32_t node = GCD_NODE_NONE;
        if (v.kind != GCD_SQL_INTEGER || v.integer < 0)
            continue;
        if (named(t, i, addresses))
            node = gcd_graph_find(m->graph, (uint64_t)v.integer);
        else if ((named(t, i, objects) || (id && !type_ids)) &&
                 v.integer < gcd_graph_node_count(m->graph))
            node = (uint32_t)v.integer;
        if (node != GCD_NODE_NONE) {
            *goal = GOAL_OBJECT;
            *to = node;
        } else if ((named(t, i, types) || (id && type_ids)) && v.integer < m->summary->type_count) {
            *goal = GOAL_TYPE;
            *to = (uint32_t)v.integer;
        }
    }
}

/* ---- cells ---- */

static size_t columns_of(const struct table *t, const char *s)
{
    size_t all = 0;
    while (*s != '\0') {
        uint32_t c;
        unsigned columns;
        s += cli_screen_char(s, t->v->model->ascii, &c, &columns);
        all += columns;
    }
    return all;
}

static bool add_cell(struct table *t, size_t column, char *text)
{
    if (!cli_list_grow(&t->cells, t->count, &t->room, sizeof *t->cells)) {
        free(text);
        return false;
    }
    t->cells[t->count++] = text;
    size_t w = text != NULL ? columns_of(t, text) : 0;
    t->widths[column] = w > t->widths[column] ? w : t->widths[column];
    return true;
}

/* The text of the cell V; NULL: out of memory. */
static char *cell_text(const struct gcd_sql_value *v)
{
    char *text = NULL;
    int n = 0;
    switch (v->kind) {
    case GCD_SQL_INTEGER:
        n = asprintf(&text, "%" PRId64, v->integer);
        break;
    case GCD_SQL_REAL:
        n = asprintf(&text, "%.15g", v->real);
        break;
    case GCD_SQL_TEXT:
        return strndup(v->text, CELL_BYTES);
    case GCD_SQL_BLOB:
        n = asprintf(&text, "(%s bytes)", GCD_DIGITS(v->bytes));
        break;
    default:
        return strdup("");
    }
    return n >= 0 ? text : NULL;
}

static gcd_status add_row(struct table *t, struct gcd_error *err)
{
    if (!cli_list_grow(&t->to, t->rows, &t->to_room, sizeof *t->to) ||
        !cli_list_grow(&t->goals, t->rows, &t->goals_room, sizeof *t->goals))
        return browse_no_memory(err);
    for (size_t i = 0; i < t->columns; i++) {
        struct gcd_sql_value v = gcd_sql_value(t->query, i);
        char *text = cell_text(&v);
        t->numbers[i] = t->numbers[i] && (v.kind == GCD_SQL_INTEGER || v.kind == GCD_SQL_REAL ||
                                          v.kind == GCD_SQL_NULL);
        if (text == NULL || !add_cell(t, i, text))
            return browse_no_memory(err);
    }
    t->to[t->rows] = 0;
    find_goal(t, &t->goals[t->rows], &t->to[t->rows]);
    t->rows++;
    return GCD_OK;
}

/* Row I of the cells as one text; NULL: out of memory. */
static char *row_text(const struct table *t, size_t i)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (size_t c = 0; f != NULL && c < t->columns; c++) {
        const char *cell = t->cells[i * t->columns + c];
        size_t width = t->widths[c] < COLUMN_MAX ? t->widths[c] : COLUMN_MAX,
               used = columns_of(t, cell);
        int pad = used < width ? (int)(width - used) : 0;
        bool last = c + 1 == t->columns;
        fprintf(f, "%*s%s%*s%s", t->numbers[c] ? pad : 0, "", cell, t->numbers[c] || last ? 0 : pad,
                "", last ? "" : "  ");
    }
    if (f != NULL && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- the result ---- */

static gcd_status read_rows(struct table *t, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    t->widths = calloc(t->columns + 1, sizeof *t->widths);
    t->numbers = calloc(t->columns + 1, sizeof *t->numbers);
    if (t->widths == NULL || t->numbers == NULL)
        return browse_no_memory(err);
    for (size_t i = 0; i < t->columns; i++) {
        t->numbers[i] = true;
        char *name = strdup(gcd_sql_column_name(t->query, i));
        if (name == NULL || !add_cell(t, i, name))
            return browse_no_memory(err);
    }
    while ((st = gcd_sql_step(t->query, err)) == GCD_OK && t->rows < ROWS_SHOWN)
        if ((st = add_row(t, err)) != GCD_OK)
            return st;
    t->more = st == GCD_OK;
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status show(struct table *t, struct gcd_error *err)
{
    struct browse_section *s = browse_add_made_section(t->v);
    t->v->heading = row_text(t, 0);
    if (t->v->heading == NULL)
        return browse_no_memory(err);
    s->what = t->v->heading;
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < t->rows && st == GCD_OK; i++)
        st = browse_add_made(
            t->v,
            (struct browse_made){ .text = row_text(t, i + 1), .goal = t->goals[i], .to = t->to[i] },
            err);
    if (st == GCD_OK && t->rows == 0)
        st = browse_add_made(t->v, (struct browse_made){ .text = strdup("(no rows)") }, err);
    if (st == GCD_OK && t->more)
        st = browse_add_made(
            t->v, (struct browse_made){ .text = strdup("(and more rows: gcdumpc sql shows all)") },
            err);
    return st;
}

static gcd_status ask(struct table *t, struct gcd_sql *db, const struct gcd_context *call,
                      struct gcd_error *err)
{
    const char *text = t->v->question, *rest;
    struct gcd_sql_query *other = NULL;
    gcd_status st = gcd_sql_prepare(db, call, &text, &t->query, err);
    if (st == GCD_END)
        return browse_fail(err, GCD_E_ARG, "there is no statement");
    if (st != GCD_OK)
        return st;
    rest = text;
    st = gcd_sql_prepare(db, call, &rest, &other, err);
    gcd_sql_query_free(other);
    if (st != GCD_END)
        return browse_fail(err, GCD_E_ARG, "one statement at a time");
    t->columns = gcd_sql_column_count(t->query);
    st = read_rows(t, err);
    return st == GCD_OK ? show(t, err) : st;
}

gcd_status browse_open_rows(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    struct gcd_sql_options options = { .context = call != NULL
                                                      ? *call
                                                      : (struct gcd_context){ .threads = 1 },
                                       .name = v->model->dump->name };
    struct gcd_sql *db = NULL;
    struct table t = { .v = v };
    v->title = strdup(v->question);
    gcd_status st = v->title != NULL ? gcd_sql_new(v->model->session, &options, &db, err)
                                     : browse_no_memory(err);
    if (st == GCD_OK)
        st = ask(&t, db, call, err);
    gcd_sql_query_free(t.query);
    gcd_sql_free(db);
    for (size_t i = 0; i < t.count; i++)
        free(t.cells[i]);
    free(t.cells);
    free(t.widths);
    free(t.numbers);
    free(t.to);
    free(t.goals);
    return st;
}
