/*
 * V8 heap snapshot: the JSON for Chrome DevTools, VS Code and memlab.
 *
 *     nodes     the root "", "(GC roots)", one node for each group of roots and one for frozen
 *               objects, then the objects; 7 numbers each
 *     edges     those of node 0, of node 1, ...; 3 numbers each
 *     strings   all names, see v8_names.h
 *
 * The format has no public specification; README.md in this folder says what is written and why.
 */
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>

#include "base/dec.h"
#include "base/error.h"
#include "base/mem.h"
#include "write/node_parts.h"
#include "write/v8_names.h"

enum v8_node_type { V8_NODE_STRING = 2, V8_NODE_OBJECT = 3, V8_NODE_SYNTHETIC = 9 };
enum v8_edge_type {
    V8_EDGE_ELEMENT = 1,
    V8_EDGE_PROPERTY = 2,
    V8_EDGE_INTERNAL = 3,
    V8_EDGE_WEAK = 6
};

#define NODE_FIELDS 7u
#define EDGE_FIELDS 3u
/* A target is NODE_FIELDS times a node number and must stay below 2^32, like the total of numbers
 * in the array of edges. */
#define MAX_NODES (UINT32_MAX / NODE_FIELDS)
#define MAX_EDGES (UINT32_MAX / EDGE_FIELDS)
/* Viewers take numbers modulo 2^32. */
#define MAX_SIZE UINT64_C(0xffffffff)
/* The array of strings becomes one JavaScript string, which must be shorter than this. */
#define MAX_STRINGS_BYTES (UINT64_C(512) << 20)
/* Room for any row and its end. */
#define ROW_BYTES     ((size_t)128)
#define ROW_END_BYTES ((size_t)2)

static const char head[] =
    "{\"snapshot\":{\"meta\":{\n"
    "\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\","
    "\"detachedness\"],\n"
    "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\","
    "\"number\",\"native\",\"synthetic\","
    "\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],"
    "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],\n"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\n"
    "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\","
    "\"weak\"],\"string_or_number\",\"node\"],\n"
    "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\","
    "\"line\",\"column\"],\n"
    "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],\n"
    "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],\n"
    "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},\n"
    "\"node_count\":";

struct v8 {
    const struct gcd_graph *g;
    struct gcd_sink *out;
    const struct gcd_write_options *options;
    struct v8_names names;
    uint32_t first_object; /* its node number: after the root, "(GC roots)" and the groups */
    uint64_t nodes, edges;
    /* the part of the sink being filled */
    char *begin, *p, *end;
    uint64_t rows, rows_checked; /* rows written; rows at the last check of the sink */
    uint64_t clamped;            /* objects larger than MAX_SIZE */
    /* the first dependent handle whose key this walk has not reached */
    size_t dependent;
};

/* ---- rows ---- */

static void flush_rows(struct v8 *v)
{
    if (v->p != v->begin)
        gcd_sink_advance(v->out, (size_t)(v->p - v->begin));
    v->begin = v->p = v->end = NULL;
}

static void make_room(struct v8 *v)
{
    flush_rows(v);
    v->begin = v->p = gcd_sink_reserve(v->out, GCD_SINK_RESERVE_MAX);
    v->end = v->begin + GCD_SINK_RESERVE_MAX;
}

/* Room for one more row of the open array. */
static inline char *next_row(struct v8 *v)
{
    v->rows++;
    if ((size_t)(v->end - v->p) < ROW_BYTES)
        make_room(v);
    return v->p;
}

/* ---- rows of objects: directly, or in parts by copies of the writer ---- */

/* Indexes of the counts of a part. */
enum { PART_ROWS, PART_CLAMPED };

struct walker {
    struct v8 *v;
    struct v8 start; /* what V was before the walk: other threads copy it */
};

static struct v8 part_writer(const struct walker *k, struct node_part *part)
{
    struct v8 copy = k->start;
    copy.rows = copy.clamped = 0;
    copy.dependent = part->dependent;
    copy.begin = copy.p = part->bytes;
    copy.end = part->bytes + NODE_PART_BYTES;
    return copy;
}

static void end_part(const struct v8 *copy, struct node_part *part)
{
    part->used = (size_t)(copy->p - copy->begin);
    part->counts[PART_ROWS] = copy->rows;
    part->counts[PART_CLAMPED] = copy->clamped;
    part->dependent = copy->dependent;
}

static gcd_status check_rows(struct v8 *v, struct gcd_error *err)
{
    if (v->rows - v->rows_checked < WRITE_CHECK_EVERY)
        return GCD_OK;
    v->rows_checked = v->rows;
    return write_check(v->options, v->out, v->rows, v->nodes + v->edges, err);
}

/* Writes a part; the end of its last row stays in the window, for close_array. */
static gcd_status put_part(void *ctx, const struct node_part *part, struct gcd_error *err)
{
    struct v8 *v = ((struct walker *)ctx)->v;
    v->rows += part->counts[PART_ROWS];
    v->clamped += part->counts[PART_CLAMPED];
    v->dependent = part->dependent;
    if (part->used > 0) {
        flush_rows(v);
        gcd_sink_write(v->out, part->bytes, part->used - ROW_END_BYTES);
        make_room(v);
        memcpy(v->p, part->bytes + part->used - ROW_END_BYTES, ROW_END_BYTES);
        v->p += ROW_END_BYTES;
    }
    return check_rows(v, err);
}

/* Writes all objects with WRITER, whose context is set here. */
static gcd_status walk_objects(struct v8 *v, struct node_writer writer, struct gcd_error *err)
{
    v->dependent = 0;
    struct walker k = { .v = v, .start = *v };
    writer.ctx = &k;
    return node_parts_write(v->g, &writer, &v->options->context, err);
}

static void open_array(struct v8 *v, const char *key)
{
    gcd_sink_text(v->out, key);
    gcd_sink_text(v->out, "[");
}

/* Closes an array; the last row has no comma. */
static void close_array(struct v8 *v)
{
    v->p -= ROW_END_BYTES;
    flush_rows(v);
    gcd_sink_text(v->out, "],\n");
}

static inline char *put_number(char *p, uint64_t v)
{
    p = gcd_dec_put(p, v);
    *p++ = ',';
    return p;
}

/* ---- nodes ---- */

static void put_synthetic(struct v8 *v, uint32_t node, uint32_t string, uint64_t edges)
{
    char *p = next_row(v);
    p = put_number(p, V8_NODE_SYNTHETIC);
    p = put_number(p, string);
    p = put_number(p, 2 * (uint64_t)node + 1);
    p = put_number(p, 0);
    p = put_number(p, edges);
    memcpy(p, "0,0,\n", 5);
    v->p = p + 5;
}

static inline void put_object(struct v8 *v, uint32_t node, uint64_t dependents)
{
    size_t edges;
    (void)gcd_graph_node_edges(v->g, node, &edges);
    const struct v8_type_name *name = &v->names.types[gcd_graph_node_type(v->g, node)];
    uint64_t size = gcd_graph_node_size(v->g, node);
    if (size > MAX_SIZE) {
        size = MAX_SIZE;
        v->clamped++;
    }
    uint32_t text = name->texts ? v8_names_text(&v->names, node) : 0;
    char *p = next_row(v);
    if (text != 0) {
        p = put_number(put_number(p, V8_NODE_STRING), text);
    } else {
        memcpy(p, name->begin, V8_BEGIN_BYTES);
        *p = '0' + V8_NODE_OBJECT;
        p += name->begin_n;
    }
    p = put_number(p, 2 * ((uint64_t)v->first_object + node) + 1);
    p = put_number(p, size);
    p = put_number(p, edges + dependents);
    memcpy(p, "0,0,\n", 5);
    v->p = p + 5;
}

/* The number of dependent handles from *I on with the key NODE; *I moves past them. */
static size_t count_dependents(const struct gcd_graph *g, size_t *i, uint32_t node)
{
    size_t first = *i;
    while (*i < gcd_graph_dependent_count(g) && gcd_graph_dependent(g, *i)->key == node)
        ++*i;
    return *i - first;
}

static gcd_status put_objects(void *ctx, uint32_t first, uint32_t end, struct gcd_error *err)
{
    struct v8 *v = ((struct walker *)ctx)->v;
    for (uint32_t i = first; i < end; i++) {
        put_object(v, i, count_dependents(v->g, &v->dependent, i));
        GCD_TRY(check_rows(v, err));
    }
    return GCD_OK;
}

static void fill_objects(const void *ctx, struct node_part *part)
{
    struct v8 copy = part_writer(ctx, part);
    for (uint32_t i = part->first; i < part->end; i++)
        put_object(&copy, i, count_dependents(copy.g, &copy.dependent, i));
    end_part(&copy, part);
}

static gcd_status put_nodes(struct v8 *v, struct gcd_error *err)
{
    open_array(v, "\"nodes\":");
    put_synthetic(v, 0, 0, 1);
    put_synthetic(v, 1, 1, v->first_object - 2);
    uint32_t node = 2;
    for (unsigned i = 0; i < V8_GROUPS; i++)
        if (v->names.groups[i] > 0)
            put_synthetic(v, node++, v->names.group[i], v->names.groups[i]);
    GCD_TRY(walk_objects(v,
                         (struct node_writer){ .node_bytes = ROW_BYTES,
                                               .fill = fill_objects,
                                               .put = put_part,
                                               .put_nodes = put_objects },
                         err));
    close_array(v);
    return GCD_OK;
}

/* ---- edges ---- */

/* Writes an edge to node TO of the file. */
static void put_edge(struct v8 *v, enum v8_edge_type type, uint32_t name, uint32_t to)
{
    char *p = next_row(v);
    p = put_number(p, type);
    p = put_number(p, name);
    p = put_number(p, (uint64_t)to * NODE_FIELDS);
    *p++ = '\n';
    v->p = p;
}

static gcd_status put_group(struct v8 *v, enum gcd_root_group group, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(v->g);
    uint32_t number = 0;
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        if (gcd_root_group(r) != group)
            continue;
        uint32_t to = v->first_object + r->node;
        if (group == GCD_GROUP_STATICS)
            put_edge(v, V8_EDGE_PROPERTY, v->names.first_static + number, to);
        else if (group == GCD_GROUP_WEAK)
            put_edge(v, V8_EDGE_WEAK, v->names.first_weak + number, to);
        else
            put_edge(v, V8_EDGE_ELEMENT, number, to);
        number++;
        GCD_TRY(check_rows(v, err));
    }
    return GCD_OK;
}

static gcd_status put_frozen(struct v8 *v, struct gcd_error *err)
{
    uint32_t number = 0;
    for (uint32_t node = 0; node < gcd_graph_node_count(v->g); node++) {
        if (!frozen_nodes_has(&v->names.frozen, node))
            continue;
        put_edge(v, V8_EDGE_ELEMENT, number++, v->first_object + node);
        GCD_TRY(check_rows(v, err));
    }
    return GCD_OK;
}

/* The reference is one of an element or a field that is known; false: it is not. */
static inline bool put_field(struct v8 *v, struct gcd_field f, uint32_t target)
{
    bool element = f.element != GCD_ELEMENT_NONE && f.element <= INT32_MAX;
    if (!element && f.slot == GCD_SLOT_NONE)
        return false;
    put_edge(v, element ? V8_EDGE_ELEMENT : V8_EDGE_PROPERTY,
             element ? (uint32_t)f.element : v->names.first_field + f.slot,
             v->first_object + target);
    return true;
}

/* N references of NODE from number FIRST on. */
static inline void put_references(struct v8 *v, struct gcd_field_pass *pass, uint32_t node,
                                  size_t first, size_t n)
{
    size_t all;
    const uint32_t *targets = gcd_graph_node_edges(v->g, node, &all) + first;
    for (size_t i = 0; i < n; i++) {
        if (v->names.fields != NULL &&
            put_field(v, gcd_fields_certain(v->names.fields, pass, node, first + i), targets[i]))
            continue;
        const struct v8_type_name *name = &v->names.types[gcd_graph_node_type(v->g, targets[i])];
        char *p = next_row(v);
        memcpy(p, name->begin, V8_BEGIN_BYTES);
        *p = '0' + V8_EDGE_PROPERTY;
        p = put_number(p + name->begin_n, ((uint64_t)v->first_object + targets[i]) * NODE_FIELDS);
        *p++ = '\n';
        v->p = p;
    }
}

static void put_dependents(struct v8 *v, uint32_t node)
{
    for (size_t n = count_dependents(v->g, &v->dependent, node); n > 0; n--)
        put_edge(v, V8_EDGE_INTERNAL, v->names.dependent,
                 v->first_object + gcd_graph_dependent(v->g, v->dependent - n)->value);
}

static gcd_status put_edges_of(void *ctx, uint32_t first, uint32_t end, struct gcd_error *err)
{
    struct v8 *v = ((struct walker *)ctx)->v;
    struct gcd_field_pass pass;
    pass.next = 0;
    for (uint32_t i = first; i < end; i++) {
        size_t n;
        (void)gcd_graph_node_edges(v->g, i, &n);
        for (size_t part, at = 0; at < n; at += part) {
            part = n - at < WRITE_CHECK_EVERY ? n - at : WRITE_CHECK_EVERY;
            put_references(v, &pass, i, at, part);
            GCD_TRY(check_rows(v, err));
        }
        put_dependents(v, i);
    }
    return GCD_OK;
}

static void fill_edges(const void *ctx, struct node_part *part)
{
    struct v8 copy = part_writer(ctx, part);
    struct gcd_field_pass pass;
    pass.next = 0;
    for (uint32_t i = part->first; i < part->end; i++) {
        size_t n;
        (void)gcd_graph_node_edges(copy.g, i, &n);
        put_references(&copy, &pass, i, 0, n);
        put_dependents(&copy, i);
    }
    end_part(&copy, part);
}

static gcd_status put_edges(struct v8 *v, struct gcd_error *err)
{
    open_array(v, "\"edges\":");
    put_edge(v, V8_EDGE_INTERNAL, 1, 1);
    uint32_t node = 2;
    for (unsigned i = 0; i < V8_GROUPS; i++)
        if (v->names.groups[i] > 0)
            put_edge(v, V8_EDGE_INTERNAL, v->names.group[i], node++);
    for (unsigned i = 0; i < V8_GROUPS; i++)
        if (v->names.groups[i] > 0)
            GCD_TRY(i == V8_FROZEN ? put_frozen(v, err)
                                   : put_group(v, (enum gcd_root_group)i, err));
    GCD_TRY(walk_objects(v,
                         (struct node_writer){ .edge_bytes = ROW_BYTES,
                                               .fill = fill_edges,
                                               .put = put_part,
                                               .put_nodes = put_edges_of },
                         err));
    close_array(v);
    return GCD_OK;
}

/* ---- the file ---- */

static void put_head(struct v8 *v)
{
    char text[2 * GCD_DEC_ROOM + 64], *p = text;
    gcd_sink_text(v->out, head);
    p = put_number(p, v->nodes);
    memcpy(p, "\"edge_count\":", 13);
    p = put_number(p + 13, v->edges);
    gcd_sink_write(v->out, text, (size_t)(p - text));
    gcd_sink_text(v->out, "\"trace_function_count\":0},\n");
}

static gcd_status count_records(struct v8 *v, struct gcd_error *err)
{
    uint64_t groups = 0;
    for (unsigned i = 0; i < V8_GROUPS; i++)
        groups += v->names.groups[i] > 0;
    v->first_object = (uint32_t)(2 + groups);
    v->nodes = v->first_object + (uint64_t)gcd_graph_node_count(v->g);
    v->edges = 1 + groups + gcd_graph_summary(v->g)->root_count + gcd_graph_edge_count(v->g) +
               gcd_graph_dependent_count(v->g) + v->names.frozen.count;
    if (v->nodes > MAX_NODES)
        return gcd_fail(err, GCD_E_LIMIT, "a .heapsnapshot holds at most %u nodes",
                        (unsigned)MAX_NODES);
    if (v->edges > MAX_EDGES)
        return gcd_fail(err, GCD_E_LIMIT, "a .heapsnapshot holds at most %u edges",
                        (unsigned)MAX_EDGES);
    return GCD_OK;
}

static gcd_status put_file(struct v8 *v, struct gcd_write_notes *notes, struct gcd_error *err)
{
    GCD_TRY(count_records(v, err));
    put_head(v);
    GCD_TRY(put_nodes(v, err));
    GCD_TRY(put_edges(v, err));
    gcd_sink_text(v->out, "\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],"
                          "\n\"locations\":[],\n\"strings\":");
    uint64_t before = gcd_sink_bytes(v->out);
    GCD_TRY(v8_names_write(&v->names, v->out, err));
    uint64_t strings = gcd_sink_bytes(v->out) - before;
    gcd_sink_text(v->out, "}\n");
    notes->objects = gcd_graph_node_count(v->g);
    notes->edges = gcd_graph_edge_count(v->g) + gcd_graph_dependent_count(v->g);
    notes->roots = gcd_graph_summary(v->g)->root_count;
    notes->types = v->names.type_count;
    write_note_root_losses(notes, v->g, true);
    write_note_loss(notes, notes->objects, "object loses its address",
                    "objects lose their addresses");
    write_note_loss(notes, v->clamped, "object is larger than 4 GiB and has that size in the file",
                    "objects are larger than 4 GiB and have that size in the file");
    write_note_loss(notes, strings >= MAX_STRINGS_BYTES ? strings : 0,
                    "bytes of names and texts are more than DevTools can load",
                    "bytes of names and texts are more than DevTools can load");
    return gcd_sink_status(v->out, err);
}

static gcd_status v8_write(const struct gcd_graph *g, struct gcd_sink *s,
                           const struct gcd_write_options *options, struct gcd_write_notes *notes,
                           struct gcd_error *err)
{
    struct v8 v = { .g = g, .out = s, .options = options };
    struct gcd_alloc alloc = gcd_alloc_or_default(options->context.alloc);
    gcd_status st = v8_names_init(&v.names, &alloc, g, options, err);
    if (st == GCD_OK)
        st = put_file(&v, notes, err);
    v8_names_done(&v.names);
    return st;
}

const struct gcd_format gcd_w_v8 = {
    .name = "v8",
    .suffix = ".heapsnapshot",
    .about = "V8 heap snapshot (JSON)",
    .size_percent = 100,
    .text = true,
    .names = GCD_NAMES_CSHARP,
    .values = true,
    .write_graph = v8_write,
};
