/*
 * RPM GC log: text, one record per line, all numbers hexadecimal.
 *
 *     a 2 NAME STAMP                        start of the dump
 *     t TYPE NAME                           all used types, numbered in order of first use
 *     r OBJECT KIND FLAGS [TYPE]            static variables, then roots, then COM callable
 *                                           wrappers
 *     o OBJECT TYPE SIZE [OBJECT …]         in the order of the heap walk; values of dependent
 *                                           handles as last references
 *     t TYPE [gcdumpc …]                    checksum, see base/file_sums.h
 *     c NAME STAMP                          end of the dump
 *
 * The only public description is a vendor article ("Write your own GC Heap Viewer for the .Net
 * Compact Framework"); where it leaves a question open, README.md in this folder says what is
 * written.  Root kinds are those of the profiling interface, one higher than the kinds of the
 * GCBulkRootEdge event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>
#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/file_sums.h"
#include "base/hex.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/sink_sum.h"
#include "write/gclog_batch.h"
#include "write/write.h"

enum gclog_root {
    GCLOG_ROOT_STACK = 1,
    GCLOG_ROOT_FINALIZER,
    GCLOG_ROOT_HANDLE,
    GCLOG_ROOT_STATIC,
    GCLOG_ROOT_OTHER
};

/* Room for a letter and three numbers with their spaces: the beginning of any record. */
#define OBJECT_BYTES  (3 * (GCD_HEX_MAX + 1) + 16)
#define EDGES_AT_ONCE ((size_t)2048)

struct gclog {
    struct gcd_alloc alloc;
    const struct gcd_write_options *options;
    struct gcd_dump *dump; /* exactly one of the two is set */
    const struct gcd_graph *graph;
    const struct gcd_summary *summary;
    struct gcd_sink *out;
    struct gcd_write_notes *notes;
    uint32_t *type_id;   /* [numbers] by number; 0 = not used */
    uint32_t *type_at;   /* [numbers] number by type id - 1 */
    uint32_t type_count; /* number of ids */
    uint32_t types;      /* number of types */
    uint32_t numbers;    /* types, then classes */
    /* [class_count] classes of static variables that are no type of the dump; numbers TYPES and up
     */
    const char **classes;
    size_t class_count, class_room;
    /* hash of a name -> number; filled only if the class of a static variable is known */
    struct gcd_idmap named;
    struct gcd_idmap dependent;   /* key -> index of its first dependent handle */
    struct gclog_batches batches; /* objects of a dump */
};

/* "a 2 NAME STAMP" or "c NAME STAMP".  A name must not be empty or begin or end with spaces, or it
 * could not be read back. */
static void put_frame(struct gclog *g, const char *letter)
{
    const char *name = g->summary->process_name;
    if (name[strspn(name, " ")] == '\0')
        name = g->options->name != NULL ? g->options->name : "";
    name += strspn(name, " ");
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == ' ')
        n--;
    if (n == 0) {
        name = "unknown";
        n = strlen(name);
    }
    gcd_sink_text(g->out, letter);
    write_shown(g->out, name, n);
    char *p = gcd_sink_reserve(g->out, OBJECT_BYTES), *q = p;
    *q++ = ' ';
    int64_t ms = g->summary->gc_start_ns / 1000000;
    q = gcd_hex_put(q, ms < 0 ? 0 : (uint32_t)(uint64_t)ms);
    *q++ = '\n';
    gcd_sink_advance(g->out, (size_t)(q - p));
}

static const char *name_of(const struct gclog *g, uint32_t number)
{
    if (number >= g->types)
        return g->classes[number - g->types];
    return g->options->names != NULL ? gcd_names_get(g->options->names, number)
                                     : g->summary->types[number].name;
}

/* "" = unknown. */
static const char *class_of(const struct gclog *g, const struct gcd_root *r)
{
    return r->kind != GCD_ROOT_STATIC || g->options->names == NULL
               ? r->class_name
               : gcd_names_class(g->options->names, r);
}

/* GCD_IDMAP_NONE: the name has no number, or another name has the same hash. */
static uint32_t number_of_name(const struct gclog *g, const char *name)
{
    uint32_t number = gcd_idmap_get(&g->named, gcd_text_hash(name, strlen(name), GCD_TEXT_HASH));
    return number != GCD_IDMAP_NONE && strcmp(name_of(g, number), name) == 0 ? number
                                                                             : GCD_IDMAP_NONE;
}

static bool add_name(struct gclog *g, uint32_t number)
{
    const char *name = name_of(g, number);
    uint64_t hash = gcd_text_hash(name, strlen(name), GCD_TEXT_HASH);
    return gcd_idmap_get(&g->named, hash) != GCD_IDMAP_NONE ||
           gcd_idmap_put(&g->named, hash, number);
}

/* The class that declares a static variable, if known; otherwise what the runtime has sent: the
 * type of the object, or on Mono the class. */
static uint32_t container_of(const struct gclog *g, const struct gcd_root *r)
{
    const char *name = class_of(g, r);
    uint32_t number = name[0] != '\0' ? number_of_name(g, name) : GCD_IDMAP_NONE;
    return number != GCD_IDMAP_NONE ? number : r->type;
}

static void use_type(struct gclog *g, uint32_t number)
{
    if (g->type_id[number] != 0)
        return;
    g->type_at[g->type_count] = number;
    g->type_id[number] = ++g->type_count;
}

static void put_types(struct gclog *g)
{
    for (uint32_t id = 1; id <= g->type_count; id++) {
        char *p = gcd_sink_reserve(g->out, OBJECT_BYTES), *q = p;
        *q++ = 't';
        *q++ = ' ';
        q = gcd_hex_put(q, id);
        *q++ = ' ';
        gcd_sink_advance(g->out, (size_t)(q - p));
        const char *name = name_of(g, g->type_at[id - 1]);
        write_shown(g->out, name, strlen(name));
        gcd_sink_text(g->out, "\n");
    }
    g->notes->types = g->type_count;
}

/* A type record, because readers skip types without objects. */
static void put_sum(struct gclog *g)
{
    char line[160];
    const struct gcd_verdict *v = &g->summary->verdict;
    uint32_t sum = gcd_sink_sum(g->out);
    (void)snprintf(line, sizeof line,
                   "t %" PRIx32 " " GCLOG_SUM_NAME "%s crc32=%" PRIx32 " objects=%" PRIx64
                   " references=%" PRIx64 "]\n",
                   g->type_count + 1,
                   !v->complete    ? "incomplete"
                   : v->unverified ? "unverified"
                                   : "complete",
                   sum, g->notes->objects, g->notes->edges);
    gcd_sink_text(g->out, line);
}

static void put_root(struct gclog *g, uint64_t object, enum gclog_root kind, uint32_t flags,
                     uint32_t type_id)
{
    char *p = gcd_sink_reserve(g->out, 2 * OBJECT_BYTES), *q = p;
    *q++ = 'r';
    *q++ = ' ';
    q = gcd_hex_put(q, object);
    *q++ = ' ';
    *q++ = (char)('0' + (int)kind);
    *q++ = ' ';
    q = gcd_hex_put(q, flags);
    if (type_id != 0) {
        *q++ = ' ';
        q = gcd_hex_put(q, type_id);
    }
    *q++ = '\n';
    gcd_sink_advance(g->out, (size_t)(q - p));
    g->notes->roots++;
    g->notes->roots_dangling += g->dump != NULL && !gcd_dump_knows(g->dump, object, NULL);
}

static const enum gclog_root root_kinds[GCD_ROOT_ALL_KINDS] = {
    [GCD_ROOT_STACK] = GCLOG_ROOT_STACK,   [GCD_ROOT_FINALIZER] = GCLOG_ROOT_FINALIZER,
    [GCD_ROOT_HANDLE] = GCLOG_ROOT_HANDLE, [GCD_ROOT_OTHER] = GCLOG_ROOT_OTHER,
    [GCD_ROOT_STATIC] = GCLOG_ROOT_STATIC, [GCD_ROOT_COM] = GCLOG_ROOT_HANDLE,
};

/* Nothing in a graph has the address of its unknown node. */
static void put_roots(struct gclog *g)
{
    for (size_t i = 0; i < g->summary->root_count; i++) {
        const struct gcd_root *r = &g->summary->roots[i];
        if (g->graph == NULL || r->node != gcd_graph_unknown(g->graph))
            put_root(g, r->object, root_kinds[r->kind], r->flags,
                     r->kind == GCD_ROOT_STATIC ? g->type_id[container_of(g, r)] : 0);
    }
}

/* References are written even without a target, so that the file has what the process has sent. */
static void put_edges(struct gclog *g, const uint64_t *targets, size_t n)
{
    g->notes->edges += n;
    gclog_batches_edges(&g->batches, targets, n);
}

static void put_dependents(struct gclog *g, uint64_t key)
{
    uint32_t first = gcd_idmap_get(&g->dependent, key);
    if (first == GCD_IDMAP_NONE)
        return;
    size_t count = gcd_dump_dependent_count(g->dump);
    for (size_t i = first; i < count && gcd_dump_dependent(g->dump, i)->key == key; i++) {
        put_edges(g, &gcd_dump_dependent(g->dump, i)->value, 1);
        if (g->notes->dependents_dropped >
            0) /* two objects at one address, which only damaged data has */
            g->notes->dependents_dropped--;
    }
}

/* The object is ended even if its references cannot be read. */
static gcd_status put_object(struct gclog *g, struct gcd_objects *cursor,
                             const struct gcd_object *o, struct gcd_error *err)
{
    const uint64_t *targets;
    size_t n;
    uint64_t received = 0;
    gcd_status st = o->edges > 0 ? GCD_OK : GCD_END;
    gclog_batches_begin(&g->batches, o->address, g->type_id[o->type], o->size_bytes);
    while (st == GCD_OK && (st = gcd_objects_edges(cursor, &targets, &n, err)) == GCD_OK) {
        put_edges(g, targets, n);
        received += n;
    }
    g->notes->edges_missing += o->edges - received;
    if (g->dependent.used > 0)
        put_dependents(g, o->address);
    gclog_batches_end(&g->batches);
    g->notes->objects++;
    return st == GCD_END ? GCD_OK : st;
}

/* Only the batches may use the sink; its failure ends the loop. */
static gcd_status put_all(struct gclog *g, struct gcd_objects *cursor, struct gcd_error *err)
{
    struct gcd_object o;
    gcd_status st = GCD_OK;
    for (uint64_t i = 0; !g->batches.failed && (st = gcd_objects_next(cursor, &o, err)) == GCD_OK;
         i++) {
        if (o.address == 0) {
            g->notes->objects_dropped++;
            continue;
        }
        if ((st = put_object(g, cursor, &o, err)) != GCD_OK)
            break;
        if (i % WRITE_CHECK_EVERY == 0)
            if ((st = write_check(g->options, NULL, gcd_objects_position(cursor),
                                  g->options->progress_total, err)) != GCD_OK)
                break;
    }
    return st == GCD_END ? GCD_OK : st;
}

static gcd_status put_objects(struct gclog *g, struct gcd_error *err)
{
    struct gcd_objects *cursor;
    GCD_TRY(gcd_objects_new(g->dump, &cursor, err));
    gcd_status st = GCD_E_NOMEM;
    if (gclog_batches_init(&g->batches, g->dump, g->out, &g->options->context)) {
        st = put_all(g, cursor, err);
        gclog_batches_finish(&g->batches);
        g->notes->edges_dangling += g->batches.dangling;
    } else {
        (void)gcd_fail_nomem(err, "writing the objects");
    }
    gcd_objects_free(cursor);
    return st == GCD_OK ? gcd_sink_status(g->out, err) : st;
}

/* Numbers the types of objects in the order of first use. */
static void use_types_of_objects(struct gclog *g)
{
    uint32_t unknown = g->graph != NULL ? gcd_graph_unknown(g->graph) : GCD_NODE_NONE;
    for (uint32_t i = 0; i < g->types; i++)
        if (g->summary->types[i].objects > 0 &&
            (unknown == GCD_NODE_NONE || i != gcd_graph_node_type(g->graph, unknown)))
            use_type(g, i);
}

/* Numbers the class that declares R, unless it is a type of the dump or has a number. */
static bool add_class(struct gclog *g, const struct gcd_root *r)
{
    const char *name = class_of(g, r);
    if (name[0] == '\0')
        return true;
    bool first = g->named.used == 0;
    for (uint32_t i = 0; i < g->types && first; i++)
        if (!add_name(g, i))
            return false;
    if (number_of_name(g, name) != GCD_IDMAP_NONE)
        return true;
    if (!gcd_vec_reserve(&g->alloc, &g->classes, &g->class_room, g->class_count + 1,
                         sizeof *g->classes, UINT32_MAX - g->types))
        return false;
    g->classes[g->class_count++] = name;
    return add_name(g, g->types + (uint32_t)g->class_count - 1);
}

/* Numbers types in the order of first use in the file: static variables come first. */
static gcd_status number_types(struct gclog *g, struct gcd_error *err)
{
    bool room = true;
    g->types = g->summary->type_count;
    for (size_t i = 0; i < g->summary->root_count && room; i++)
        room = add_class(g, &g->summary->roots[i]);
    g->numbers = g->types + (uint32_t)g->class_count;
    if (room) {
        g->type_id = gcd_mem_new_array(&g->alloc, g->numbers, sizeof *g->type_id);
        g->type_at = gcd_mem_new_array(&g->alloc, g->numbers, sizeof *g->type_at);
    }
    if (g->type_id == NULL || g->type_at == NULL)
        return gcd_fail_nomem(err, "numbering the types");
    for (size_t i = 0; i < g->summary->root_count; i++)
        if (g->summary->roots[i].kind == GCD_ROOT_STATIC)
            use_type(g, container_of(g, &g->summary->roots[i]));
    use_types_of_objects(g);
    return GCD_OK;
}

/* Prepares the look-up of dependent handles by key. */
static gcd_status prepare_dependents(struct gclog *g, struct gcd_error *err)
{
    size_t n = gcd_dump_dependent_count(g->dump);
    if (n >= GCD_IDMAP_NONE)
        return gcd_fail(err, GCD_E_LIMIT, "%zu dependent handles are too many for this format", n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 ||
            gcd_dump_dependent(g->dump, i)->key != gcd_dump_dependent(g->dump, i - 1)->key)
            if (!gcd_idmap_put(&g->dependent, gcd_dump_dependent(g->dump, i)->key, (uint32_t)i))
                return gcd_fail_nomem(err, "sorting dependent handles");
    g->notes->dependents_dropped = n; /* until the key is reached */
    bool exact;
    (void)gcd_dump_knows(g->dump, 0, &exact);
    g->notes->dangling_is_minimum = !exact;
    return GCD_OK;
}

static void gclog_done(struct gclog *g)
{
    gcd_idmap_done(&g->dependent);
    gcd_mem_free(&g->alloc, g->type_id, g->numbers * sizeof *g->type_id);
    gcd_mem_free(&g->alloc, g->type_at, g->numbers * sizeof *g->type_at);
    gcd_mem_free(&g->alloc, g->classes, g->class_room * sizeof *g->classes);
    gcd_idmap_done(&g->named);
}

/* Notes everything that the format cannot store. */
static void note_losses(struct gclog *g)
{
    uint64_t dependents = g->dump != NULL
                              ? gcd_dump_dependent_count(g->dump) - g->notes->dependents_dropped
                              : gcd_graph_dependent_count(g->graph);
    write_note_fields(g->notes, g->summary);
    write_note_loss(g->notes, g->summary->statics, "static variable loses its name",
                    "static variables lose their names");
    write_note_loss(g->notes, dependents, "dependent handle becomes a reference of its key",
                    "dependent handles become references of their keys");
    write_note_loss(g->notes, g->summary->range_count, "memory range of a generation is not stored",
                    "memory ranges of generations are not stored");
}

/* PUT writes the objects. */
static gcd_status write_log(struct gclog *g, gcd_status (*put)(struct gclog *, struct gcd_error *),
                            struct gcd_error *err)
{
    g->alloc = gcd_alloc_or_default(g->options->context.alloc);
    gcd_idmap_init(&g->dependent, &g->alloc);
    gcd_idmap_init(&g->named, &g->alloc);
    gcd_sink_sum_begin(g->out);
    gcd_status st = number_types(g, err);
    if (st == GCD_OK && g->dump != NULL)
        st = prepare_dependents(g, err);
    if (st == GCD_OK) {
        put_frame(g, "a 2 ");
        put_types(g);
        put_roots(g);
        st = put(g, err);
        note_losses(g);
    }
    if (st == GCD_OK) {
        put_sum(g);
        put_frame(g, "c ");
        st = gcd_sink_status(g->out, err);
    }
    gclog_done(g);
    return st;
}

static gcd_status gclog_write(struct gcd_dump *d, struct gcd_sink *s,
                              const struct gcd_write_options *options,
                              struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct gclog g = {
        .options = options, .dump = d, .summary = gcd_dump_summary(d), .out = s, .notes = notes
    };
    return write_log(&g, put_objects, err);
}

/* ---- the same for a graph; the node of unknown objects has no address, so no reference has its
 * address ---- */

static void begin_object(struct gclog *g, uint64_t address, uint32_t type, uint64_t size_bytes)
{
    char *p = gcd_sink_reserve(g->out, OBJECT_BYTES), *q = p;
    *q++ = 'o';
    *q++ = ' ';
    q = gcd_hex_put(q, address);
    *q++ = ' ';
    q = gcd_hex_put(q, g->type_id[type]);
    *q++ = ' ';
    q = gcd_hex_put(q, size_bytes);
    gcd_sink_advance(g->out, (size_t)(q - p));
}

static void end_object(struct gclog *g)
{
    *gcd_sink_reserve(g->out, 1) = '\n';
    gcd_sink_advance(g->out, 1);
    g->notes->objects++;
}

static void put_node_edges(struct gclog *g, const uint32_t *edges, size_t n)
{
    uint32_t unknown = gcd_graph_unknown(g->graph);
    while (n > 0) {
        size_t part = n < EDGES_AT_ONCE ? n : EDGES_AT_ONCE;
        char *p = gcd_sink_reserve(g->out, part * (GCD_HEX_MAX + 1)), *q = p;
        for (size_t i = 0; i < part; i++) {
            if (edges[i] == unknown)
                continue;
            *q++ = ' ';
            q = gcd_hex_put(q, gcd_graph_node_address(g->graph, edges[i]));
            g->notes->edges++;
        }
        gcd_sink_advance(g->out, (size_t)(q - p));
        edges += part;
        n -= part;
    }
}

static gcd_status put_nodes(struct gclog *g, struct gcd_error *err)
{
    size_t dependent = 0, dependents = gcd_graph_dependent_count(g->graph);
    uint32_t count = gcd_graph_node_count(g->graph);
    for (uint32_t i = 0; i < count; i++) {
        struct gcd_node node;
        if (i == gcd_graph_unknown(g->graph))
            continue;
        gcd_graph_node(g->graph, i, &node);
        begin_object(g, node.address, node.type, node.size_bytes);
        put_node_edges(g, node.edges, node.edge_count);
        for (; dependent < dependents && gcd_graph_dependent(g->graph, dependent)->key == i;
             dependent++)
            put_node_edges(g, &gcd_graph_dependent(g->graph, dependent)->value, 1);
        end_object(g);
        if (i % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(g->options, g->out, i, count, err));
    }
    return gcd_sink_status(g->out, err);
}

static gcd_status gclog_write_graph(const struct gcd_graph *graph, struct gcd_sink *s,
                                    const struct gcd_write_options *options,
                                    struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct gclog g = { .options = options,
                       .graph = graph,
                       .summary = gcd_graph_summary(graph),
                       .out = s,
                       .notes = notes };
    return write_log(&g, put_nodes, err);
}

const struct gcd_format gcd_w_gclog = {
    .name = "gclog",
    .suffix = ".gclog",
    .about = "RPM GC log (text)",
    .size_percent = 90,
    .text = true,
    .names = GCD_NAMES_RUNTIME,
    .write = gclog_write,
    .write_graph = gclog_write_graph,
};
