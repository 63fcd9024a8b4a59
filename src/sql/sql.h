/* SQL over a session, private to this folder. */
#ifndef GCD_SQL_SQL_H
#define GCD_SQL_SQL_H

#include <sqlite3.h>

#include <gcdumpc/unstable/session/sql.h>
#include <gcdumpc/unstable/session/views.h>

#include "write/tables/tables.h"

/* Rows of a table, sorted by a column of node numbers. */
struct row_index {
    uint32_t *rows; /* [count] NULL: not sorted yet */
    size_t count;
};

enum { INDEX_ROOTS, INDEX_KEYS, INDEX_VALUES, ROW_INDEXES };

struct sql_table;

/* A table with its database, as SQLite passes it back. */
struct sql_offer {
    struct gcd_sql *db;
    const struct sql_table *table;
};

#define SQL_TABLES 14

struct gcd_sql {
    struct gcd_session *session;
    const struct gcd_graph *graph;
    const struct gcd_summary *summary;
    const struct gcd_names *names;
    struct gcd_alloc alloc;
    struct gcd_context context;     /* from the options */
    const struct gcd_context *call; /* of the running query */
    struct gcd_write_options write;
    struct tables tables; /* rows that the sqlite format also has */
    bool has_tables;
    char *name;
    sqlite3 *db;
    struct sql_offer offers[SQL_TABLES];
    struct gcd_error err; /* why one of our methods failed; code GCD_OK: none did */
    /* from the session, NULL until needed */
    const struct gcd_dominators *dominators;
    const struct gcd_paths *paths;
    const uint32_t *depths;
    const struct gcd_suspects *suspects;
    const struct gcd_site_list *sites; /* of the session */
    struct gcd_image_numbers *numbers;
    uint32_t *by_name; /* [type_count] types by name, then by number */
    struct row_index indexes[ROW_INDEXES];
};

/* ---- tables ---- */

#define ORDER_COLUMNS 2

/* A plan: one way to find rows. */
struct sql_plan {
    int number;                               /* for the table's FILTER */
    int column;                               /* must equal the first argument; -1: all rows */
    bool text;                                /* compared as text */
    bool unique;                              /* at most one row */
    double (*rows)(const struct gcd_sql *db); /* estimated number */
    int order[ORDER_COLUMNS]; /* rows come in ascending order of these columns, -1 = no more */
    bool descending;          /* in descending order instead; only for one column */
};
#define SQL_PLANS 10
/* Added to the number of a plan whose column IS the argument, which may be NULL. */
#define SQL_PLAN_IS 256

struct sql_cursor;

struct sql_table {
    const char *name;
    const char *columns; /* of its declaration; NULL: those of TABLE in the sqlite format */
    const char *options;
    int table; /* enum in tables.h; -1 = none */
    const char *about;
    /* look-ups, the best first; then other orders of all rows; ends with ROWS NULL */
    struct sql_plan plans[SQL_PLANS + 1];
    int order[ORDER_COLUMNS]; /* of plan 0 (all rows), as in a plan */
    uint64_t (*rows)(const struct gcd_sql *db);
    /* Sets the first piece of rows.  The column of the plan equals ARGV[0]. */
    gcd_status (*filter)(struct sql_cursor *c, int plan, sqlite3_value **argv,
                         struct gcd_error *err);
    /* The next piece; false: there is none.  NULL: there is only one piece. */
    bool (*more)(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err);
    /* Must the row be skipped?  NULL: none must. */
    bool (*skip)(const struct sql_cursor *c);
    gcd_status (*column)(struct sql_cursor *c, int column, sqlite3_context *to,
                         struct gcd_error *err);
};
extern const struct sql_table sql_table_list[SQL_TABLES];

/* A field of object KEY; what a row of the table of fields says. */
struct sql_field {
    bool read;
    uint32_t key;
    uint64_t at;
    struct field_row row;
};

/* Rows come in pieces: consecutive numbers, or numbers in a list. */
struct sql_cursor {
    sqlite3_vtab_cursor base; /* first: SQLite sees only this */
    struct gcd_sql *db;
    const struct sql_table *table;
    uint64_t at, end;      /* positions in the piece */
    const uint32_t *list;  /* NULL: the positions are the rows */
    const uint32_t *slots; /* of edges by their target */
    /* of the piece: from_id of edges, to_id of edges by target, or type */
    uint32_t key;
    uint32_t next, last; /* keys of further pieces */
    int plan;
    size_t hint;               /* for gcd_generations_find */
    struct table_cursor cells; /* for tables of the sqlite format */
    struct sql_field field;    /* the one that was read last */
};

static inline uint64_t cursor_row(const struct sql_cursor *c)
{
    return c->list != NULL ? c->list[c->at] : c->at;
}

/* sql_cursor.c: the module of all tables. */
extern const sqlite3_module sql_table_module;

/* sql_rows.c: values and keys. */
void sql_put_number(sqlite3_context *to, uint64_t n);  /* at most 2^63 - 1 */
void sql_put_text(sqlite3_context *to, const char *s); /* NULL for "" */
void sql_put_cell(sqlite3_context *to, const struct table_value *v);
/* The integer below LIMIT that equals V in SQL; false: none. */
bool sql_key(sqlite3_value *v, uint64_t limit, uint64_t *ret);
/* The types named V: positions [*RET_FIRST, *RET_END) of db->by_name. */
GCD_MUST_CHECK gcd_status sql_types_called(struct gcd_sql *db, sqlite3_value *v,
                                           uint32_t *ret_first, uint32_t *ret_end,
                                           struct gcd_error *err);
/* Creates db->by_name if needed. */
GCD_MUST_CHECK gcd_status sql_need_names(struct gcd_sql *db, struct gcd_error *err);
/* A list of the rows whose node is NODE, by index WHICH. */
GCD_MUST_CHECK gcd_status sql_rows_of(struct gcd_sql *db, int which, uint32_t node,
                                      const uint32_t **ret, size_t *ret_n, struct gcd_error *err);
GCD_MUST_CHECK gcd_status sql_need_dominators(struct gcd_sql *db, struct gcd_error *err);
GCD_MUST_CHECK gcd_status sql_need_paths(struct gcd_sql *db, struct gcd_error *err);

/* sql_sites.c: the tables sites and samples, empty for a recording without samples. */
extern const char sql_site_columns[], sql_sample_columns[];
GCD_MUST_CHECK gcd_status sql_need_sites(struct gcd_sql *db, struct gcd_error *err);
uint64_t sql_site_rows(const struct gcd_sql *db);
uint64_t sql_sample_rows(const struct gcd_sql *db);
gcd_status sql_site_column(struct sql_cursor *c, int column, sqlite3_context *to,
                           struct gcd_error *err);
gcd_status sql_sample_column(struct sql_cursor *c, int column, sqlite3_context *to,
                             struct gcd_error *err);

/* sql_strings.c: the table strings, empty unless texts are known and may be seen. */
extern const char sql_string_columns[];
uint64_t sql_string_rows(const struct gcd_sql *db);
bool sql_string_skip(const struct sql_cursor *c);
gcd_status sql_string_column(struct sql_cursor *c, int column, sqlite3_context *to,
                             struct gcd_error *err);

/* sql_fields.c: the table fields, empty without a memory image whose values may be seen. */
extern const char sql_field_columns[];
GCD_MUST_CHECK gcd_status sql_need_fields(struct gcd_sql *db, struct gcd_error *err);
uint64_t sql_field_rows(const struct gcd_sql *db); /* an estimate */
/* The next piece are the fields of NODE; of the next object. */
void sql_fields_of(struct sql_cursor *c, uint32_t node);
bool sql_more_fields(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err);
gcd_status sql_field_column(struct sql_cursor *c, int column, sqlite3_context *to,
                            struct gcd_error *err);

/* sql_walks.c: path_from_root(object) and reachable_from(object) as tables. */
int sql_walks_open(struct gcd_sql *db);
/* sql_functions.c: type_name(type), path_from_root(object) as text. */
int sql_functions_open(struct gcd_sql *db);
/* sql_text.c: functions of texts that would be slow. */
int sql_text_open(struct gcd_sql *db);
/* The objects on the path to NODE from the root down, NODE last: [*RET_N], free it with
 * gcd_mem_free; none if NODE is unreachable. */
GCD_MUST_CHECK gcd_status sql_path(struct gcd_sql *db, uint32_t node, uint32_t **ret, size_t *ret_n,
                                   struct gcd_error *err);
/* The field through which FROM refers to TO, in LABEL[GCD_FIELD_LABEL_BYTES]; NULL = unknown. */
const char *sql_field_text(const struct gcd_sql *db, uint32_t from, uint32_t to, char *label);
/* The root of NODE's path as text in RET[CAP], NUL-terminated; cut if it does not fit. */
void sql_root_text(const struct gcd_sql *db, uint32_t node, char *ret, size_t cap);

/* sql.c: keeps *ERR for the caller of the query, and returns an SQLite code. */
int sql_failed(struct gcd_sql *db, gcd_status st, const struct gcd_error *err);

#endif
