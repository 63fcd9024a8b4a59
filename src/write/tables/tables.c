#include "write/tables/tables.h"

#include <gcdumpc/names.h>
#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/static_names.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "write/write.h"

/* ---- values ---- */

static void none(struct table_value *v)
{
    *v = (struct table_value){ .kind = TABLE_NONE };
}

static void number(struct table_value *v, uint64_t n)
{
    *v = (struct table_value){ .kind = TABLE_NUMBER, .number = n };
}

/* 0 = unknown */
static void address(struct table_value *v, uint64_t a)
{
    *v = (struct table_value){ .kind = a != 0 ? TABLE_ADDRESS : TABLE_NONE, .number = a };
}

/* "" = unknown */
static void text(struct table_value *v, const char *s)
{
    *v = (struct table_value){ .kind = s[0] != '\0' ? TABLE_TEXT : TABLE_NONE, .text = s };
}

/* ---- facts ---- */

static const char *const fact_columns[] = { "key", "value" };

static uint64_t fact_rows(const struct tables *t)
{
    return t->fact_count;
}

static void fact_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct table_fact *f = &c->tables->facts[c->row];
    if (column == 0)
        text(ret, f->key);
    else
        *ret = f->value;
}

/* ---- types ---- */

enum {
    TYPE_ID,
    TYPE_NAME,
    TYPE_RAW_NAME,
    TYPE_MODULE,
    TYPE_MODULE_ID,
    TYPE_TABLE,
    TYPE_TOKEN,
    TYPE_FLAGS,
    TYPE_ELEMENT,
    TYPE_DESCRIBED,
    TYPE_OBJECTS,
    TYPE_BYTES
};
static const char *const type_columns[] = { "id",           "name",         "raw_name",   "module",
                                            "module_id",    "method_table", "name_token", "flags",
                                            "element_type", "described",    "objects",    "bytes" };

static uint64_t type_rows(const struct tables *t)
{
    return gcd_graph_summary(t->graph)->type_count;
}

static void type_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    uint32_t n = (uint32_t)c->row;
    const struct gcd_type *t = &gcd_graph_summary(c->tables->graph)->types[n];
    switch (column) {
    case TYPE_ID:
        number(ret, n);
        break;
    case TYPE_NAME:
        *ret = (struct table_value){ .kind = TABLE_TEXT,
                                     .text =
                                         write_type_name(c->tables->options, c->tables->graph, n) };
        break;
    case TYPE_RAW_NAME:
        *ret =
            (struct table_value){ .kind = t->named ? TABLE_TEXT : TABLE_NONE, .text = t->raw_name };
        break;
    case TYPE_MODULE:
        text(ret, t->module_path);
        break;
    case TYPE_MODULE_ID:
        address(ret, t->module);
        break;
    case TYPE_TABLE:
        address(ret, t->id);
        break;
    case TYPE_TOKEN:
        number(ret, t->name_token);
        break;
    case TYPE_FLAGS:
        number(ret, t->flags);
        break;
    case TYPE_ELEMENT:
        number(ret, t->element_type);
        break;
    case TYPE_DESCRIBED:
        number(ret, t->described);
        break;
    case TYPE_OBJECTS:
        number(ret, t->objects);
        break;
    default:
        number(ret, t->bytes);
        break;
    }
}

/* ---- objects ---- */

enum { OBJECT_ID, OBJECT_TYPE, OBJECT_SIZE, OBJECT_ADDRESS, OBJECT_GENERATION };
static const char *const object_columns[] = { "id", "type_id", "size_bytes", "address",
                                              "generation" };

static uint64_t object_rows(const struct tables *t)
{
    return gcd_graph_node_count(t->graph);
}

static void object_settle(struct table_cursor *c)
{
    c->node = (uint32_t)c->row;
    gcd_graph_node(c->tables->graph, c->node, &c->object);
}

static void generation(struct table_cursor *c, uint64_t a, struct table_value *ret)
{
    unsigned found = gcd_generations_find(c->tables->generations, a, &c->range);
    if (found == GCD_GENERATION_NONE)
        none(ret);
    else
        number(ret, found);
}

static void object_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    switch (column) {
    case OBJECT_ID:
        number(ret, c->node);
        break;
    case OBJECT_TYPE:
        number(ret, c->object.type);
        break;
    case OBJECT_SIZE:
        number(ret, c->object.size_bytes);
        break;
    case OBJECT_ADDRESS:
        address(ret, c->object.address);
        break;
    default:
        generation(c, c->object.address, ret);
        break;
    }
}

/* ---- edges ---- */

enum { EDGE_FROM, EDGE_SLOT, EDGE_TO, EDGE_FIELD, EDGE_ELEMENT };
static const char *const edge_columns[] = { "from_id", "slot", "to_id", "field", "element" };

static uint64_t edge_rows(const struct tables *t)
{
    return gcd_graph_edge_count(t->graph);
}

void table_field(const struct tables *t, uint32_t node, uint64_t slot, bool element,
                 struct table_value *ret)
{
    struct gcd_field field = gcd_fields_certain(t->fields, t->pass, node, (size_t)slot);
    if (!element)
        text(ret, field.name != NULL && field.other == NULL ? field.name : "");
    else if (field.element != GCD_ELEMENT_NONE)
        number(ret, field.element);
    else
        none(ret);
}

static void edge_settle(struct table_cursor *c)
{
    if (c->row == 0)
        c->edges = gcd_graph_node_edges(c->tables->graph, c->node, &c->edge_count);
    else
        c->slot++;
    while (c->slot >= c->edge_count) {
        c->slot = 0;
        c->edges = gcd_graph_node_edges(c->tables->graph, ++c->node, &c->edge_count);
    }
}

static void edge_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    switch (column) {
    case EDGE_FROM:
        number(ret, c->node);
        break;
    case EDGE_SLOT:
        number(ret, c->slot);
        break;
    case EDGE_TO:
        number(ret, c->edges[c->slot]);
        break;
    default:
        table_field(c->tables, c->node, c->slot, column == EDGE_ELEMENT, ret);
        break;
    }
}

/* ---- roots ---- */

enum {
    ROOT_ID,
    ROOT_KIND,
    ROOT_GROUP,
    ROOT_FLAGS,
    ROOT_NAME,
    ROOT_ADDRESS,
    ROOT_OBJECT,
    ROOT_TYPE,
    ROOT_CLASS,
    ROOT_LABEL
};
static const char *const root_columns[] = {
    "id", "kind", "root_group", "flags", "name", "address", "object_id", "type_id", "class", "label"
};
static const char *const root_kinds[GCD_ROOT_ALL_KINDS] = {
    [GCD_ROOT_STACK] = "stack", [GCD_ROOT_FINALIZER] = "finalizer", [GCD_ROOT_HANDLE] = "handle",
    [GCD_ROOT_OTHER] = "other", [GCD_ROOT_STATIC] = "static",       [GCD_ROOT_COM] = "com",
};

static uint64_t root_rows(const struct tables *t)
{
    return gcd_graph_summary(t->graph)->root_count;
}

static void root_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct tables *t = c->tables;
    const struct gcd_root *r = &gcd_graph_summary(t->graph)->roots[(size_t)c->row];
    switch (column) {
    case ROOT_ID:
        number(ret, c->row);
        break;
    case ROOT_KIND:
        text(ret, root_kinds[r->kind]);
        break;
    case ROOT_GROUP:
        text(ret, gcd_root_group_label(gcd_root_group(r))->key);
        break;
    case ROOT_FLAGS:
        number(ret, r->flags);
        break;
    case ROOT_NAME:
        text(ret, r->name);
        break;
    case ROOT_ADDRESS:
        address(ret, r->id);
        break;
    case ROOT_OBJECT:
        number(ret, r->node);
        break;
    case ROOT_TYPE:
        number(ret, r->type);
        break;
    case ROOT_CLASS:
        text(ret, gcd_static_words(t->graph, t->options->names, r).class_name);
        break;
    default:
        text(ret, c->row < t->label_count && t->labels[c->row] != NULL      ? t->labels[c->row]
                  : r->kind == GCD_ROOT_STATIC || r->kind == GCD_ROOT_STACK ? r->label
                                                                            : "");
        break;
    }
}

/* ---- dependent handles ---- */

enum { DEPENDENT_ID, DEPENDENT_KEY, DEPENDENT_VALUE };
static const char *const dependent_columns[] = { "id", "key_id", "value_id" };

static uint64_t dependent_rows(const struct tables *t)
{
    return gcd_graph_dependent_count(t->graph);
}

static void dependent_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct gcd_graph_dependent *d = gcd_graph_dependent(c->tables->graph, (size_t)c->row);
    number(ret, column == DEPENDENT_ID ? c->row : column == DEPENDENT_KEY ? d->key : d->value);
}

/* ---- ranges ---- */

enum { RANGE_ID, RANGE_GENERATION, RANGE_START, RANGE_USED, RANGE_RESERVED };
static const char *const range_columns[] = { "id", "generation", "start", "used_bytes",
                                             "reserved_bytes" };

static uint64_t range_rows(const struct tables *t)
{
    return gcd_graph_summary(t->graph)->range_count;
}

static void range_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    const struct gcd_range *r = &gcd_graph_summary(c->tables->graph)->ranges[(size_t)c->row];
    switch (column) {
    case RANGE_ID:
        number(ret, c->row);
        break;
    case RANGE_GENERATION:
        number(ret, r->generation);
        break;
    case RANGE_START:
        address(ret, r->start);
        break;
    case RANGE_USED:
        number(ret, r->used_bytes);
        break;
    default:
        number(ret, r->reserved_bytes);
        break;
    }
}

/* ---- dominators ---- */

enum { DOMINATOR_OBJECT, DOMINATOR_PARENT, DOMINATOR_RETAINED };
static const char *const dominator_columns[] = { "object_id", "parent_id", "retained_bytes" };

static uint64_t dominator_rows(const struct tables *t)
{
    return t->dominators != NULL ? gcd_dominators_reachable(t->dominators) : 0;
}

/* Finds the next node of a root. */
static void dominator_settle(struct table_cursor *c)
{
    c->node += c->row != 0;
    while (gcd_dominators_parent(c->tables->dominators, c->node) == GCD_NODE_NONE)
        c->node++;
}

static void dominator_value(struct table_cursor *c, size_t column, struct table_value *ret)
{
    uint32_t parent = gcd_dominators_parent(c->tables->dominators, c->node);
    if (column == DOMINATOR_OBJECT)
        number(ret, c->node);
    else if (column == DOMINATOR_RETAINED)
        number(ret, gcd_dominators_retained(c->tables->dominators, c->node));
    else if (parent == GCD_NODE_ROOT)
        none(ret);
    else
        number(ret, parent);
}

/* ---- list ---- */

#define TABLE(name_, x)                    \
    .name = name_, .columns = x##_columns, \
    .column_count = sizeof x##_columns / sizeof *x##_columns, .rows = x##_rows, .value = x##_value
static const struct table plain_tables[] = {
    [TABLE_OF_FACTS] = { TABLE("facts", fact) },
    [TABLE_OF_TYPES] = { TABLE("types", type) },
    [TABLE_OF_OBJECTS] = { TABLE("objects", object), .settle = object_settle },
    [TABLE_OF_EDGES] = { TABLE("edges", edge), .settle = edge_settle },
    [TABLE_OF_ROOTS] = { TABLE("roots", root) },
    [TABLE_OF_DEPENDENTS] = { TABLE("dependent_handles", dependent) },
    [TABLE_OF_RANGES] = { TABLE("ranges", range) },
};
static const struct table dominators_table = { TABLE("dominators", dominator),
                                               .settle = dominator_settle };
const struct table *const table_list[TABLES] = {
    [TABLE_OF_FACTS] = &plain_tables[TABLE_OF_FACTS],
    [TABLE_OF_TYPES] = &plain_tables[TABLE_OF_TYPES],
    [TABLE_OF_OBJECTS] = &plain_tables[TABLE_OF_OBJECTS],
    [TABLE_OF_EDGES] = &plain_tables[TABLE_OF_EDGES],
    [TABLE_OF_ROOTS] = &plain_tables[TABLE_OF_ROOTS],
    [TABLE_OF_DEPENDENTS] = &plain_tables[TABLE_OF_DEPENDENTS],
    [TABLE_OF_RANGES] = &plain_tables[TABLE_OF_RANGES],
    [TABLE_OF_STRINGS] = &table_of_strings,
    [TABLE_OF_FIELDS] = &table_of_fields,
    [TABLE_OF_DOMINATORS] = &dominators_table,
};

void table_start(struct table_cursor *c, const struct tables *t, const struct table *table)
{
    *c = (struct table_cursor){ .table = table, .tables = t, .rows = table->rows(t) };
    if (c->rows > 0 && table->settle != NULL)
        table->settle(c);
}

void table_next(struct table_cursor *c)
{
    c->row++;
    if ((c->table->open || c->row < c->rows) && c->table->settle != NULL)
        c->table->settle(c);
}

/* Joins labels that consist of several texts: those of Mono. */
static gcd_status join_labels(struct tables *t, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(t->graph);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < summary->root_count && st == GCD_OK; i++) {
        const struct gcd_static_words w =
            gcd_static_words(t->graph, t->options->names, &summary->roots[i]);
        char *joined;
        size_t n[3] = { strlen(w.label[0]), strlen(w.label[1]), strlen(w.label[2]) },
               all = n[0] + n[1] + n[2];
        if (n[1] == 0)
            continue;
        size_t before = t->label_count;
        if (!gcd_vec_reserve(&t->alloc, &t->labels, &t->label_room, i + 1, sizeof *t->labels,
                             SIZE_MAX) ||
            (joined = gcd_mem_new(&t->alloc, all)) == NULL)
            return gcd_fail_nomem(err, "joining classes and fields");
        memset(t->labels + before, 0, (i - before) * sizeof *t->labels);
        memcpy(joined, w.label[0], n[0]);
        memcpy(joined + n[0], w.label[1], n[1]);
        memcpy(joined + n[0] + n[1], w.label[2], n[2]);
        st = gcd_textpool_add(&t->text, joined, all, &t->labels[i]);
        gcd_mem_free(&t->alloc, joined, all);
        t->label_count = st == GCD_OK ? i + 1 : before;
    }
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, st, "the labels of static variables take more than 4 GiB");
    return st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "joining classes and fields");
}

gcd_status tables_init(struct tables *t, const struct gcd_graph *g,
                       const struct gcd_dominators *dominators,
                       const struct gcd_write_options *options, struct gcd_error *err)
{
    *t = (struct tables){ .alloc = gcd_alloc_or_default(options->context.alloc),
                          .graph = g,
                          .options = options,
                          .dominators = dominators };
    gcd_textpool_init(&t->text, &t->alloc, UINT32_MAX);
    gcd_status st = gcd_generations_new(gcd_graph_summary(g), &t->alloc, &t->generations, err);
    if (st == GCD_OK)
        st = gcd_fields_new(g, &t->alloc, &t->fields, err);
    if (st == GCD_OK && (t->pass = gcd_mem_new(&t->alloc, sizeof *t->pass)) == NULL)
        st = gcd_fail_nomem(err, "looking at references");
    if (st == GCD_OK)
        st = tables_open_values(t, err);
    if (st == GCD_OK)
        st = join_labels(t, err);
    if (st == GCD_OK)
        tables_add_facts(t);
    else
        tables_done(t);
    return st;
}

void tables_done(struct tables *t)
{
    gcd_generations_free(t->generations);
    t->generations = NULL;
    gcd_mem_free(&t->alloc, t->pass, sizeof *t->pass);
    t->pass = NULL;
    gcd_fields_free(t->fields);
    t->fields = NULL;
    gcd_image_numbers_free(t->field_rows.numbers);
    t->field_rows.numbers = NULL;
    gcd_mem_free(&t->alloc, t->labels, t->label_room * sizeof *t->labels);
    t->labels = NULL;
    t->label_count = t->label_room = 0;
    gcd_textpool_done(&t->text);
}

void tables_note(const struct tables *t, struct gcd_write_notes *notes)
{
    notes->objects = object_rows(t);
    notes->edges = edge_rows(t) + dependent_rows(t);
    notes->roots = root_rows(t);
    notes->types = type_rows(t);
}
