/*
 * The tables: their columns, plans and values.  Tables that the sqlite format also has are
 * described in write/tables.  The tables of objects and of what refers to them are large, so they
 * are read here directly from the graph.
 */
#include <string.h>

#include "base/error.h"
#include "sql/sql.h"

enum {
    PLAN_ALL,
    PLAN_ID,
    PLAN_ADDRESS,
    PLAN_PARENT,
    PLAN_TYPE_ID,
    PLAN_TYPE,
    PLAN_ALL_BY_TYPE,
    PLAN_ALL_BY_NAME,
    PLAN_FROM,
    PLAN_TO,
    PLAN_KEY,
    PLAN_VALUE,
    PLAN_OBJECT,
    PLAN_ALL_BY_TARGET,
    PLAN_ALL_BY_PARENT,
    PLAN_ALL_BY_TYPE_DOWN,
    PLAN_ALL_BY_NAME_DOWN
};

#define NOTHING \
    {           \
        -1, -1  \
    }

/* ---- numbers of rows ---- */

static double one(const struct gcd_sql *db)
{
    (void)db;
    return 1;
}

static double some(const struct gcd_sql *db)
{
    (void)db;
    return 3;
}

static double nodes(const struct gcd_sql *db)
{
    return 1 + (double)gcd_graph_node_count(db->graph);
}

static double of_a_type(const struct gcd_sql *db)
{
    return 1 + nodes(db) / (1 + (double)db->summary->types_used);
}

static double references(const struct gcd_sql *db)
{
    return 1 + (double)gcd_graph_edge_count(db->graph) / nodes(db);
}

/* ---- rows ---- */

static void whole(struct sql_cursor *c, uint64_t first, uint64_t end)
{
    c->list = NULL;
    c->at = first;
    c->end = end;
}

static void listed(struct sql_cursor *c, const uint32_t *list, uint64_t n)
{
    c->list = list;
    c->at = 0;
    c->end = n;
}

/* The single row with number V. */
static void one_row(struct sql_cursor *c, sqlite3_value *v)
{
    uint64_t row;
    if (sql_key(v, c->table->rows(c->db), &row))
        whole(c, row, row + 1);
}

/* The node with number V; false: none. */
static bool node_in(const struct sql_cursor *c, sqlite3_value *v, uint32_t *ret)
{
    uint64_t n;
    if (!sql_key(v, gcd_graph_node_count(c->db->graph), &n))
        return false;
    *ret = (uint32_t)n;
    return true;
}

/* The nodes that V dominates directly. */
static gcd_status dominated(struct sql_cursor *c, sqlite3_value *v, struct gcd_error *err)
{
    struct gcd_node_list l;
    uint32_t node;
    if (!node_in(c, v, &node))
        return GCD_OK;
    GCD_TRY(sql_need_dominators(c->db, err));
    GCD_TRY(gcd_session_dominated_by(c->db->session, c->db->call, node, &l, err));
    listed(c, l.nodes, l.count);
    return GCD_OK;
}

/* ---- tables of the sqlite format with few rows ---- */

static uint64_t rows_of_format(const struct gcd_sql *db, int table)
{
    return table_list[table]->rows(&db->tables);
}

static gcd_status cell_column(struct sql_cursor *c, int column, sqlite3_context *to,
                              struct gcd_error *err)
{
    struct table_value v;
    (void)err;
    c->cells.row = cursor_row(c);
    table_value(&c->cells, (size_t)column, &v);
    sql_put_cell(to, &v);
    return GCD_OK;
}

static gcd_status filter_rows(struct sql_cursor *c, int plan, sqlite3_value **argv,
                              struct gcd_error *err)
{
    (void)err;
    if (plan == PLAN_ID)
        one_row(c, argv[0]);
    else
        whole(c, 0, c->table->rows(c->db));
    return GCD_OK;
}

static uint64_t fact_rows(const struct gcd_sql *db)
{
    return rows_of_format(db, TABLE_OF_FACTS);
}

static uint64_t type_rows(const struct gcd_sql *db)
{
    return rows_of_format(db, TABLE_OF_TYPES);
}

static uint64_t root_rows(const struct gcd_sql *db)
{
    return rows_of_format(db, TABLE_OF_ROOTS);
}

static uint64_t dependent_rows(const struct gcd_sql *db)
{
    return rows_of_format(db, TABLE_OF_DEPENDENTS);
}

static uint64_t range_rows(const struct gcd_sql *db)
{
    return rows_of_format(db, TABLE_OF_RANGES);
}

/* ---- types ---- */

static gcd_status filter_types(struct sql_cursor *c, int plan, sqlite3_value **argv,
                               struct gcd_error *err)
{
    uint32_t first = 0, end = c->db->summary->type_count;
    if (plan == PLAN_TYPE)
        GCD_TRY(sql_types_called(c->db, argv[0], &first, &end, err));
    else if (plan == PLAN_ALL_BY_NAME)
        GCD_TRY(sql_need_names(c->db, err));
    else
        return filter_rows(c, plan, argv, err);
    if (first < end)
        listed(c, c->db->by_name + first, end - first);
    return GCD_OK;
}

/* ---- roots and dependent handles ---- */

static gcd_status by_node(struct sql_cursor *c, int which, sqlite3_value *v, struct gcd_error *err)
{
    uint32_t node;
    size_t n = 0;
    const uint32_t *list = NULL;
    if (node_in(c, v, &node))
        GCD_TRY(sql_rows_of(c->db, which, node, &list, &n, err));
    listed(c, list, n);
    return GCD_OK;
}

static gcd_status filter_roots(struct sql_cursor *c, int plan, sqlite3_value **argv,
                               struct gcd_error *err)
{
    return plan == PLAN_OBJECT ? by_node(c, INDEX_ROOTS, argv[0], err)
                               : filter_rows(c, plan, argv, err);
}

static gcd_status filter_dependents(struct sql_cursor *c, int plan, sqlite3_value **argv,
                                    struct gcd_error *err)
{
    if (plan == PLAN_KEY || plan == PLAN_VALUE)
        return by_node(c, plan == PLAN_KEY ? INDEX_KEYS : INDEX_VALUES, argv[0], err);
    return filter_rows(c, plan, argv, err);
}

/* ---- objects ---- */

enum {
    OBJECT_ID,
    OBJECT_TYPE_ID,
    OBJECT_SIZE_BYTES,
    OBJECT_ADDRESS,
    OBJECT_GENERATION,
    OBJECT_TYPE,
    OBJECT_RETAINED_BYTES,
    OBJECT_PARENT_ID,
    OBJECT_DEPTH,
    OBJECT_SIZE,
    OBJECT_RETAINED,
    OBJECT_DOMINATOR
};

static uint64_t object_rows(const struct gcd_sql *db)
{
    return gcd_graph_node_count(db->graph);
}

/* The objects of the next type. */
static bool more_types(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err)
{
    struct gcd_node_list l;
    if (c->next >= c->last)
        return false;
    bool down = c->plan == PLAN_ALL_BY_TYPE_DOWN || c->plan == PLAN_ALL_BY_NAME_DOWN;
    uint32_t i = down ? c->last - 1 - c->next : c->next;
    c->key =
        c->plan == PLAN_ALL_BY_TYPE || c->plan == PLAN_ALL_BY_TYPE_DOWN ? i : c->db->by_name[i];
    c->next++;
    *ret_st = gcd_session_objects_of_type(c->db->session, c->db->call, c->key, &l, err);
    if (*ret_st != GCD_OK)
        return false;
    listed(c, l.nodes, l.count);
    return true;
}

static gcd_status filter_objects(struct sql_cursor *c, int plan, sqlite3_value **argv,
                                 struct gcd_error *err)
{
    uint64_t key;
    uint32_t node;
    switch (plan) {
    case PLAN_ADDRESS:
        node = sql_key(argv[0], UINT64_MAX, &key) && key != 0 ? gcd_graph_find(c->db->graph, key)
                                                              : GCD_NODE_NONE;
        if (node != GCD_NODE_NONE)
            whole(c, node, (uint64_t)node + 1);
        return GCD_OK;
    case PLAN_PARENT:
        return dominated(c, argv[0], err);
    case PLAN_TYPE_ID:
        if (sql_key(argv[0], c->db->summary->type_count, &key)) {
            struct gcd_node_list l;
            GCD_TRY(
                gcd_session_objects_of_type(c->db->session, c->db->call, (uint32_t)key, &l, err));
            c->key = (uint32_t)key;
            listed(c, l.nodes, l.count);
        }
        return GCD_OK;
    case PLAN_TYPE:
        return sql_types_called(c->db, argv[0], &c->next, &c->last, err);
    case PLAN_ALL_BY_TYPE:
    case PLAN_ALL_BY_NAME:
    case PLAN_ALL_BY_TYPE_DOWN:
    case PLAN_ALL_BY_NAME_DOWN:
        c->last = c->db->summary->type_count;
        return plan == PLAN_ALL_BY_NAME || plan == PLAN_ALL_BY_NAME_DOWN
                   ? sql_need_names(c->db, err)
                   : GCD_OK;
    default:
        return filter_rows(c, plan, argv, err);
    }
}

static void put_generation(struct sql_cursor *c, sqlite3_context *to, uint64_t address)
{
    unsigned found = gcd_generations_find(c->db->tables.generations, address, &c->hint);
    if (found != GCD_GENERATION_NONE)
        sqlite3_result_int64(to, found);
}

/* NULL: the node is unreachable, or no single object dominates it. */
static void put_parent(sqlite3_context *to, const struct gcd_dominators *d, uint32_t node)
{
    uint32_t parent = gcd_dominators_parent(d, node);
    if (parent != GCD_NODE_NONE && parent != GCD_NODE_ROOT)
        sqlite3_result_int64(to, parent);
}

/* A column that is not set is NULL. */
static gcd_status object_computed(struct sql_cursor *c, int column, sqlite3_context *to,
                                  struct gcd_error *err)
{
    struct gcd_sql *db = c->db;
    uint32_t node = (uint32_t)cursor_row(c);
    if (column == OBJECT_DEPTH) {
        if (db->depths == NULL)
            GCD_TRY(gcd_session_depths(db->session, db->call, &db->depths, err));
        if (db->depths[node] != GCD_DEPTH_NONE)
            sqlite3_result_int64(to, db->depths[node]);
        return GCD_OK;
    }
    GCD_TRY(sql_need_dominators(db, err));
    if (column == OBJECT_PARENT_ID || column == OBJECT_DOMINATOR)
        put_parent(to, db->dominators, node);
    else if (gcd_dominators_parent(db->dominators, node) != GCD_NODE_NONE)
        sql_put_number(to, gcd_dominators_retained(db->dominators, node));
    return GCD_OK;
}

/* The type of the row: that of its piece, if it has one, which saves reading the object. */
static uint32_t type_of(const struct sql_cursor *c)
{
    return c->plan >= PLAN_TYPE_ID ? c->key
                                   : gcd_graph_node_type(c->db->graph, (uint32_t)cursor_row(c));
}

static gcd_status object_column(struct sql_cursor *c, int column, sqlite3_context *to,
                                struct gcd_error *err)
{
    const struct gcd_graph *g = c->db->graph;
    uint32_t node = (uint32_t)cursor_row(c);
    uint64_t address;
    switch (column) {
    case OBJECT_ID:
        sqlite3_result_int64(to, node);
        break;
    case OBJECT_TYPE_ID:
        sqlite3_result_int64(to, type_of(c));
        break;
    case OBJECT_TYPE:
        sql_put_text(to, gcd_names_get(c->db->names, type_of(c)));
        break;
    case OBJECT_SIZE:
    case OBJECT_SIZE_BYTES:
        sql_put_number(to, gcd_graph_node_size(g, node));
        break;
    case OBJECT_ADDRESS:
        address = gcd_graph_node_address(g, node);
        if (address != 0)
            sqlite3_result_int64(to, (sqlite3_int64)address);
        break;
    case OBJECT_GENERATION:
        put_generation(c, to, gcd_graph_node_address(g, node));
        break;
    default:
        return object_computed(c, column, to, err);
    }
    return GCD_OK;
}

/* ---- references ---- */

enum { EDGE_FROM, EDGE_SLOT, EDGE_TO, EDGE_FIELD, EDGE_ELEMENT };

static uint64_t edge_rows(const struct gcd_sql *db)
{
    return gcd_graph_edge_count(db->graph);
}

static void edges_from(struct sql_cursor *c, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->db->graph, node, &n);
    c->key = node;
    listed(c, edges, n);
}

static gcd_status edges_to(struct sql_cursor *c, uint32_t node, struct gcd_error *err)
{
    struct gcd_node_list l;
    GCD_TRY(gcd_session_referrers(c->db->session, c->db->call, node, &l, err));
    GCD_TRY(gcd_session_referrer_slots(c->db->session, c->db->call, node, &c->slots, err));
    c->key = node;
    listed(c, l.nodes, l.count);
    return GCD_OK;
}

/* The references from or to the next object. */
static bool more_edges(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err)
{
    if (c->next >= c->last)
        return false;
    if (c->plan == PLAN_ALL_BY_TARGET)
        *ret_st = edges_to(c, c->next++, err);
    else
        edges_from(c, c->next++);
    return *ret_st == GCD_OK;
}

static gcd_status filter_edges(struct sql_cursor *c, int plan, sqlite3_value **argv,
                               struct gcd_error *err)
{
    uint32_t node;
    bool all = plan == PLAN_ALL || plan == PLAN_ALL_BY_TARGET;
    if (all)
        c->last = gcd_graph_node_count(c->db->graph);
    if (all || !node_in(c, argv[0], &node))
        return GCD_OK;
    if (plan == PLAN_TO)
        return edges_to(c, node, err);
    edges_from(c, node);
    return GCD_OK;
}

static gcd_status edge_column(struct sql_cursor *c, int column, sqlite3_context *to,
                              struct gcd_error *err)
{
    bool by_target = c->plan == PLAN_TO || c->plan == PLAN_ALL_BY_TARGET;
    uint64_t slot = by_target ? c->slots[c->at] : c->at;
    (void)err;
    if (column == EDGE_FIELD || column == EDGE_ELEMENT) {
        struct table_value v;
        table_field(&c->db->tables, by_target ? c->list[c->at] : (uint32_t)c->key, slot,
                    column == EDGE_ELEMENT, &v);
        sql_put_cell(to, &v);
    } else if (column == EDGE_SLOT) {
        sqlite3_result_int64(to, (sqlite3_int64)slot);
    } else {
        sqlite3_result_int64(to, (column == EDGE_FROM) == by_target ? c->list[c->at] : c->key);
    }
    return GCD_OK;
}

/* ---- dominators ---- */

enum { DOMINATOR_OBJECT, DOMINATOR_PARENT, DOMINATOR_RETAINED };

static bool is_dead(const struct sql_cursor *c)
{
    return gcd_dominators_parent(c->db->dominators, (uint32_t)cursor_row(c)) == GCD_NODE_NONE;
}

/* The objects that the next object dominates; before the first one, those that no single object
 * dominates. */
static bool more_dominated(struct sql_cursor *c, gcd_status *ret_st, struct gcd_error *err)
{
    struct gcd_node_list l;
    if (c->next >= c->last)
        return false;
    uint32_t parent = c->next == 0 ? GCD_NODE_ROOT : c->next - 1;
    c->next++;
    *ret_st = gcd_session_dominated_by(c->db->session, c->db->call, parent, &l, err);
    if (*ret_st == GCD_OK)
        listed(c, l.nodes, l.count);
    return *ret_st == GCD_OK;
}

static gcd_status filter_dominators(struct sql_cursor *c, int plan, sqlite3_value **argv,
                                    struct gcd_error *err)
{
    GCD_TRY(sql_need_dominators(c->db, err));
    if (plan == PLAN_ALL_BY_PARENT) {
        c->last = gcd_graph_node_count(c->db->graph) + 1; /* at most 2^32 - 1 */
        return GCD_OK;
    }
    return plan == PLAN_PARENT ? dominated(c, argv[0], err) : filter_rows(c, plan, argv, err);
}

static gcd_status dominator_column(struct sql_cursor *c, int column, sqlite3_context *to,
                                   struct gcd_error *err)
{
    uint32_t node = (uint32_t)cursor_row(c);
    (void)err;
    if (column == DOMINATOR_OBJECT)
        sqlite3_result_int64(to, node);
    else if (column == DOMINATOR_PARENT)
        put_parent(to, c->db->dominators, node);
    else
        sql_put_number(to, gcd_dominators_retained(c->db->dominators, node));
    return GCD_OK;
}

/* ---- modules ---- */

enum { MODULE_ID, MODULE_MODULE_ID, MODULE_PATH, MODULE_ASSEMBLY, MODULE_NAMES, MODULE_PROBLEM };

static uint64_t module_rows(const struct gcd_sql *db)
{
    return db->summary->module_count;
}

static gcd_status module_column(struct sql_cursor *c, int column, sqlite3_context *to,
                                struct gcd_error *err)
{
    static const char *const states[GCD_MODULE_STATES] = {
        [GCD_MODULE_NOT_READ] = "not_read",     [GCD_MODULE_READ] = "read",
        [GCD_MODULE_RECORDED] = "recorded",     [GCD_MODULE_NO_PATH] = "no_path",
        [GCD_MODULE_NOT_FOUND] = "not_found",   [GCD_MODULE_REPLACED] = "replaced",
        [GCD_MODULE_UNREADABLE] = "unreadable",
    };
    const struct gcd_module *m = &c->db->summary->modules[(size_t)cursor_row(c)];
    (void)err;
    switch (column) {
    case MODULE_ID:
        sqlite3_result_int64(to, (sqlite3_int64)cursor_row(c));
        break;
    case MODULE_MODULE_ID:
        if (m->id != 0)
            sqlite3_result_int64(to, (sqlite3_int64)m->id);
        break;
    case MODULE_PATH:
        sql_put_text(to, m->path);
        break;
    case MODULE_ASSEMBLY:
        sql_put_text(to, m->assembly);
        break;
    case MODULE_NAMES:
        sql_put_text(to, states[m->state]);
        break;
    default:
        sql_put_text(to, m->problem);
        break;
    }
    return GCD_OK;
}

/* ---- suspects ---- */

enum {
    SUSPECT_ID,
    SUSPECT_KIND,
    SUSPECT_TITLE,
    SUSPECT_SENTENCE,
    SUSPECT_ADVICE,
    SUSPECT_TYPE_ID,
    SUSPECT_OBJECT_ID,
    SUSPECT_ROOT_ID,
    SUSPECT_OBJECTS,
    SUSPECT_SHALLOW,
    SUSPECT_BYTES,
    SUSPECT_RETAINED,
    SUSPECT_SHARE,
    SUSPECT_OVERLAPS,
    SUSPECT_OWNER_TYPE_ID
};

static uint64_t suspect_rows(const struct gcd_sql *db)
{
    return db->suspects != NULL ? gcd_suspects_count(db->suspects) : 0;
}

static gcd_status filter_suspects(struct sql_cursor *c, int plan, sqlite3_value **argv,
                                  struct gcd_error *err)
{
    if (c->db->suspects == NULL)
        GCD_TRY(gcd_session_suspects(c->db->session, c->db->call, &c->db->suspects, err));
    return filter_rows(c, plan, argv, err);
}

/* A number, or NULL for NONE. */
static void put_or_null(sqlite3_context *to, uint64_t n, uint64_t none)
{
    if (n != none)
        sql_put_number(to, n);
}

static gcd_status suspect_column(struct sql_cursor *c, int column, sqlite3_context *to,
                                 struct gcd_error *err)
{
    const struct gcd_suspect *s = gcd_suspects_get(c->db->suspects, (size_t)cursor_row(c));
    (void)err;
    switch (column) {
    case SUSPECT_ID:
        sqlite3_result_int64(to, (sqlite3_int64)cursor_row(c));
        break;
    case SUSPECT_KIND:
        sql_put_text(to, gcd_suspect_kind_name(s->kind));
        break;
    case SUSPECT_TITLE:
        sql_put_text(to, gcd_suspect_kind_title(s->kind));
        break;
    case SUSPECT_SENTENCE:
        sql_put_text(to, s->sentence);
        break;
    case SUSPECT_ADVICE:
        sql_put_text(to, s->advice);
        break;
    case SUSPECT_TYPE_ID:
        put_or_null(to, s->type, GCD_TYPE_NONE);
        break;
    case SUSPECT_OBJECT_ID:
        put_or_null(to, s->node, GCD_NODE_NONE);
        break;
    case SUSPECT_ROOT_ID:
        put_or_null(to, s->root, SIZE_MAX);
        break;
    case SUSPECT_OBJECTS:
        sql_put_number(to, s->objects);
        break;
    case SUSPECT_SHALLOW:
        sql_put_number(to, s->shallow_bytes);
        break;
    case SUSPECT_BYTES:
        sql_put_number(to, s->bytes);
        break;
    case SUSPECT_RETAINED:
        sql_put_number(to, s->retained_bytes);
        break;
    case SUSPECT_SHARE:
        sqlite3_result_double(to, s->share);
        break;
    case SUSPECT_OVERLAPS:
        sqlite3_result_int(to, s->overlaps);
        break;
    default:
        put_or_null(to, s->owner, GCD_TYPE_NONE);
        break;
    }
    return GCD_OK;
}

/* ---- sites ---- */

static gcd_status filter_sites(struct sql_cursor *c, int plan, sqlite3_value **argv,
                               struct gcd_error *err)
{
    GCD_TRY(sql_need_sites(c->db, err));
    return filter_rows(c, plan, argv, err);
}

/* ---- fields ---- */

static double fields(const struct gcd_sql *db)
{
    (void)db;
    return 8;
}

static gcd_status filter_fields(struct sql_cursor *c, int plan, sqlite3_value **argv,
                                struct gcd_error *err)
{
    uint32_t node;
    GCD_TRY(sql_need_fields(c->db, err));
    if (plan != PLAN_OBJECT)
        c->last = gcd_graph_node_count(c->db->graph);
    else if (node_in(c, argv[0], &node))
        sql_fields_of(c, node);
    return GCD_OK;
}

/* ---- list ---- */

#define BY_ID                                                                         \
    {                                                                                 \
        .number = PLAN_ID, .column = 0, .unique = true, .rows = one, .order = NOTHING \
    }
#define BY(plan, column_, rows_, ...)                                          \
    {                                                                          \
        .number = plan, .column = column_, .rows = rows_, .order = __VA_ARGS__ \
    }

const struct sql_table sql_table_list[SQL_TABLES] = {
    { .name = "objects",
      .table = -1,
      .order = { 0, -1 },
      .rows = object_rows,
      .filter = filter_objects,
      .more = more_types,
      .column = object_column,
      .columns = "id INTEGER PRIMARY KEY, type_id INTEGER NOT NULL, size_bytes INTEGER NOT NULL, "
                 "address INTEGER, generation INTEGER, type TEXT,"
                 " retained_bytes INTEGER, parent_id INTEGER, depth INTEGER, size INTEGER HIDDEN, "
                 "retained INTEGER HIDDEN,"
                 " dominator INTEGER HIDDEN",
      .about = "all objects; retained_bytes, parent_id (the dominator) and depth are NULL for what "
               "no root leads to; size, retained and dominator"
               " are other names of size_bytes, retained_bytes and parent_id",
      .plans = { BY_ID,
                 { .number = PLAN_ADDRESS,
                   .column = OBJECT_ADDRESS,
                   .unique = true,
                   .rows = one,
                   .order = NOTHING },
                 BY(PLAN_PARENT, OBJECT_PARENT_ID, some, { OBJECT_ID, -1 }),
                 BY(PLAN_PARENT, OBJECT_DOMINATOR, some, { OBJECT_ID, -1 }),
                 BY(PLAN_TYPE_ID, OBJECT_TYPE_ID, of_a_type, { OBJECT_ID, -1 }),
                 { .number = PLAN_TYPE,
                   .column = OBJECT_TYPE,
                   .text = true,
                   .rows = of_a_type,
                   .order = NOTHING },
                 { .number = PLAN_ALL_BY_TYPE,
                   .column = -1,
                   .rows = nodes,
                   .order = { OBJECT_TYPE_ID, OBJECT_ID } },
                 { .number = PLAN_ALL_BY_NAME,
                   .column = -1,
                   .rows = nodes,
                   .order = { OBJECT_TYPE, -1 } },
                 /* SQLite also asks for these for "GROUP BY type ORDER BY count(*) DESC" */
                 { .number = PLAN_ALL_BY_TYPE_DOWN,
                   .column = -1,
                   .rows = nodes,
                   .order = { OBJECT_TYPE_ID, -1 },
                   .descending = true },
                 { .number = PLAN_ALL_BY_NAME_DOWN,
                   .column = -1,
                   .rows = nodes,
                   .order = { OBJECT_TYPE, -1 },
                   .descending = true } } },
    { .name = "types",
      .table = TABLE_OF_TYPES,
      .order = { 0, -1 },
      .rows = type_rows,
      .filter = filter_types,
      .column = cell_column,
      .about = "types, with the sums of their objects",
      .plans = { BY_ID,
                 { .number = PLAN_TYPE, .column = 1, .text = true, .rows = one, .order = NOTHING },
                 { .number = PLAN_ALL_BY_NAME,
                   .column = -1,
                   .rows = nodes,
                   .order = { 1, -1 } } } },
    { .name = "edges",
      .table = TABLE_OF_EDGES,
      .order = { EDGE_FROM, EDGE_SLOT },
      .rows = edge_rows,
      .filter = filter_edges,
      .more = more_edges,
      .column = edge_column,
      .about = "references: object from_id has to_id as its reference number slot",
      .plans = { BY(PLAN_FROM, EDGE_FROM, references, { EDGE_SLOT, -1 }),
                 BY(PLAN_TO, EDGE_TO, references, { EDGE_FROM, EDGE_SLOT }),
                 { .number = PLAN_ALL_BY_TARGET,
                   .column = -1,
                   .rows = nodes,
                   .order = { EDGE_TO, EDGE_FROM } } } },
    { .name = "dominators",
      .table = TABLE_OF_DOMINATORS,
      .order = { 0, -1 },
      .rows = object_rows,
      .filter = filter_dominators,
      .more = more_dominated,
      .skip = is_dead,
      .column = dominator_column,
      .about = "live objects with their dominator, NULL when no single object dominates them, and "
               "retained bytes",
      .plans = { BY_ID,
                 BY(PLAN_PARENT, DOMINATOR_PARENT, some, { DOMINATOR_OBJECT, -1 }),
                 { .number = PLAN_ALL_BY_PARENT,
                   .column = -1,
                   .rows = nodes,
                   .order = { DOMINATOR_PARENT, DOMINATOR_OBJECT } } } },
    { .name = "roots",
      .table = TABLE_OF_ROOTS,
      .order = { 0, -1 },
      .rows = root_rows,
      .filter = filter_roots,
      .column = cell_column,
      .about = "roots of all kinds",
      .plans = { BY_ID, BY(PLAN_OBJECT, 6, one, { 0, -1 }) } },
    { .name = "dependent_handles",
      .table = TABLE_OF_DEPENDENTS,
      .order = { 0, -1 },
      .rows = dependent_rows,
      .filter = filter_dependents,
      .column = cell_column,
      .about = "the key keeps the value alive",
      .plans = { BY_ID, BY(PLAN_KEY, 1, one, { 0, -1 }), BY(PLAN_VALUE, 2, one, { 0, -1 }) } },
    { .name = "modules",
      .table = -1,
      .order = { 0, -1 },
      .rows = module_rows,
      .filter = filter_rows,
      .column = module_column,
      .columns = "id INTEGER PRIMARY KEY, module_id INTEGER, path TEXT, assembly TEXT, names TEXT "
                 "NOT NULL, problem TEXT",
      .about = "loaded modules, and whether their files gave names",
      .plans = { BY_ID } },
    { .name = "ranges",
      .table = TABLE_OF_RANGES,
      .order = { 0, -1 },
      .rows = range_rows,
      .filter = filter_rows,
      .column = cell_column,
      .about = "memory ranges of the generations; 3 is the large object heap, 4 the pinned one",
      .plans = { BY_ID } },
    { .name = "suspects",
      .table = -1,
      .order = { 0, -1 },
      .rows = suspect_rows,
      .filter = filter_suspects,
      .column = suspect_column,
      .columns = "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, sentence TEXT "
                 "NOT NULL, advice TEXT, type_id INTEGER,"
                 " object_id INTEGER, root_id INTEGER, objects INTEGER NOT NULL, shallow_bytes "
                 "INTEGER NOT NULL, bytes INTEGER NOT NULL,"
                 " retained_bytes INTEGER NOT NULL, share REAL NOT NULL, overlaps INTEGER NOT "
                 "NULL, owner_type_id INTEGER",
      .about = "what gcdumpc leaks finds",
      .plans = { BY_ID } },
    { .name = "sites",
      .table = -1,
      .order = { 0, -1 },
      .rows = sql_site_rows,
      .filter = filter_sites,
      .column = sql_site_column,
      .columns = sql_site_columns,
      .about = "lines that allocated sampled objects; objects and bytes are what is alive of them, "
               "estimated (gcdumpc sites)",
      .plans = { BY_ID } },
    { .name = "samples",
      .table = -1,
      .order = { 0, -1 },
      .rows = sql_sample_rows,
      .filter = filter_sites,
      .column = sql_sample_column,
      .columns = sql_sample_columns,
      .about = "sampled objects that are alive, with the stack of their allocation",
      .plans = { BY_ID } },
    { .name = "strings",
      .table = -1,
      .order = { 0, -1 },
      .rows = sql_string_rows,
      .filter = filter_rows,
      .skip = sql_string_skip,
      .column = sql_string_column,
      .columns = sql_string_columns,
      .about = "strings with a known text (--show-values); text is NULL where it is masked",
      .plans = { BY_ID } },
    { .name = "fields",
      .table = -1,
      .order = { 0, -1 },
      .rows = sql_field_rows,
      .filter = filter_fields,
      .more = sql_more_fields,
      .column = sql_field_column,
      .columns = sql_field_columns,
      .about = "fields of objects with their values, from memory (--show-values, core file or "
               "--direct); text is NULL where it is masked, field for a boxed value",
      .plans = { BY(PLAN_OBJECT, 0, fields, { 0, -1 }) } },
    { .name = "facts",
      .table = TABLE_OF_FACTS,
      .order = NOTHING,
      .rows = fact_rows,
      .filter = filter_rows,
      .column = cell_column,
      .about = "what is known of the dump as a whole" },
};
