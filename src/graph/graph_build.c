/* Building a graph: see graph_build.h. */
#include "graph/graph_build.h"

#include <inttypes.h>
#include <string.h>

#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "graph/graph_impl.h"
#include "graph/graph_resolve.h"
#include "graph/graph_room.h"
#include "graph/graph_touch.h"

#define MAX_NODES   (GCD_NODE_NONE - 1)
#define BLOCK_NODES (UINT32_C(1) << GRAPH_BLOCK_SHIFT)
/* Nodes between two checks of the cancel flag. */
#define CHECK_EVERY UINT32_C(65536)
/* Less memory is not worth a thread. */
#define TOUCH_NODES UINT32_C(500000)
/* Made-up addresses: where they begin, and the space for a very large object. */
#define MADE_UP_START UINT64_C(0x10000)
#define MADE_UP_MAX   (UINT64_C(1) << 20)
#define DEFAULT_TYPES (UINT64_C(2) << 20)
#define DEFAULT_ROOTS (UINT64_C(64) << 20)
#define DEFAULT_TEXT  (UINT64_C(1) << 30)

/* A dependent handle that can be sorted by its key. */
struct keyed {
    uint64_t key;
    uint32_t value;
};

struct gcd_build {
    struct gcd_graph *g;   /* NULL once it is sealed */
    uint64_t low_bits;     /* of all addresses, by OR */
    uint64_t next_address; /* made up, for the next object */
    bool nodes_ended;
    uint32_t next_node;  /* the object whose references come next */
    uint32_t placed;     /* the object to which the last place belongs, */
    uint64_t next_place; /* and that of the reference that follows it */
    uint64_t owned;      /* references announced to gcd_build_owners; */
    bool owners;         /* it was called */
    struct graph_resolver resolver;
    struct graph_touch touch;
    struct keyed *keyed;
    size_t keyed_count, keyed_room;
    /* of the previous type: most types share it with their neighbour */
    const char *last_module;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "building the object graph");
}

/* Room for NEED items in the caller's typed pointer ITEMS. */
static bool grow(struct gcd_graph *g, void *items, size_t *room, uint64_t need, size_t item_bytes)
{
    return graph_room_grow(&g->alloc, items, room, need, item_bytes);
}

/* Gives back unused memory; a failure does not matter. */
static void shrink(struct gcd_graph *g, void *items, size_t *room, size_t used, size_t item_bytes)
{
    graph_room_shrink(&g->alloc, items, room, used, item_bytes);
}

gcd_status gcd_build_new(const struct gcd_graph_options *options, struct gcd_build **ret,
                         struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    if (options == NULL)
        options = &defaults;
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_build *b = gcd_mem_new(&a, sizeof *b);
    struct gcd_graph *g = gcd_mem_new(&a, sizeof *g);
    struct graph_derived_item *derived = gcd_mem_new(&a, sizeof *derived);
    if (b == NULL || g == NULL || derived == NULL) {
        gcd_mem_free(&a, b, sizeof *b);
        gcd_mem_free(&a, g, sizeof *g);
        gcd_mem_free(&a, derived, sizeof *derived);
        return no_memory(err);
    }
    (void)pthread_mutex_init(&derived->lock, NULL); /* the default kind: cannot fail */
    g->derived = derived;
    g->alloc = a;
    if (options->context.limits != NULL)
        g->limits = *options->context.limits;
    g->options = *options;
    g->unknown = GCD_NODE_NONE;
    gcd_textpool_init(&g->text, &g->alloc, gcd_limit_or(g->limits.text_bytes, DEFAULT_TEXT));
    g->summary.process_name = g->summary.command_line = g->summary.os = g->summary.arch =
        g->summary.runtime_version = g->summary.image.made_from = g->summary.image.ended_by =
            g->summary.image.gaps = g->summary.image.blocked = "";
    g->summary.trace.container = "";
    g->summary.trace.start_unix_ms = INT64_MIN;
    b->g = g;
    graph_resolver_init(&b->resolver, g);
    b->next_address = MADE_UP_START;
    *ret = b;
    return GCD_OK;
}

void gcd_build_free(struct gcd_build *b)
{
    if (b == NULL)
        return;
    struct gcd_alloc a = b->g->alloc;
    graph_resolver_done(&b->resolver);
    graph_touch_end(&b->touch);
    gcd_mem_free(&a, b->keyed, b->keyed_room * sizeof *b->keyed);
    gcd_graph_free(b->g);
    gcd_mem_free(&a, b, sizeof *b);
}

struct gcd_summary *gcd_build_summary(struct gcd_build *b)
{
    return &b->g->summary;
}

struct gcd_graph_notes *gcd_build_notes(struct gcd_build *b)
{
    return &b->g->notes;
}

gcd_status gcd_build_text(struct gcd_build *b, const char *s, size_t n, const char **ret,
                          struct gcd_error *err)
{
    if (n == 0) {
        *ret = "";
        return GCD_OK;
    }
    gcd_status st = gcd_textpool_add_utf8(&b->g->text, (const uint8_t *)s, n, ret);
    if (st == GCD_E_LIMIT)
        return gcd_fail(err, GCD_E_LIMIT, "the names need more memory than allowed");
    return st == GCD_OK ? GCD_OK : no_memory(err);
}

/* ---- types ---- */

gcd_status gcd_build_type(struct gcd_build *b, const struct gcd_type *t, uint32_t *ret,
                          struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (g->type_count >= gcd_limit_or(g->limits.types, DEFAULT_TYPES))
        return gcd_fail(err, GCD_E_LIMIT, "there are more than %zu types", g->type_count);
    if (!grow(g, &g->types, &g->types_room, g->type_count + 1, sizeof *g->types))
        return no_memory(err);
    struct gcd_type *to = &g->types[g->type_count];
    *to = *t;
    to->objects = to->bytes = to->edges = 0;
    to->uneven_sizes = false;
    if (to->module_number >= g->module_count)
        to->module_number = GCD_MODULE_NONE;
    GCD_TRY(gcd_build_text(b, t->name, strlen(t->name), &to->name, err));
    to->raw_name = to->name;
    if (t->raw_name != NULL && t->raw_name != t->name)
        GCD_TRY(gcd_build_text(b, t->raw_name, strlen(t->raw_name), &to->raw_name, err));
    if (t->events != NULL)
        GCD_TRY(gcd_build_text(b, t->events, strlen(t->events), &to->events, err));
    if (t->layout != NULL)
        GCD_TRY(gcd_build_text(b, t->layout, strlen(t->layout), &to->layout, err));
    if (b->last_module == NULL || strcmp(b->last_module, t->module_path) != 0)
        GCD_TRY(gcd_build_text(b, t->module_path, strlen(t->module_path), &b->last_module, err));
    to->module_path = b->last_module;
    *ret = (uint32_t)g->type_count++;
    return GCD_OK;
}

gcd_status gcd_build_type_name(struct gcd_build *b, uint32_t type, const char *name, size_t n,
                               bool *ret_again, struct gcd_error *err)
{
    struct gcd_type *t = &b->g->types[type];
    *ret_again = t->described;
    if (t->described)
        return GCD_OK;
    t->described = t->named = true;
    GCD_TRY(gcd_build_text(b, name, n, &t->name, err));
    t->raw_name = t->name;
    return GCD_OK;
}

/* ---- nodes ---- */

gcd_status gcd_build_reserve(struct gcd_build *b, uint64_t nodes, uint64_t edges,
                             struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (nodes > MAX_NODES)
        return gcd_fail(err, GCD_E_LIMIT, "a graph holds at most %u objects", (unsigned)MAX_NODES);
    if (nodes > 0)
        nodes += g->options.keep_unknown;
    if (!grow(g, &g->type_low, &g->type_room, nodes, sizeof *g->type_low) ||
        !grow(g, &g->node_size, &g->size_room, nodes, sizeof *g->node_size) ||
        !grow(g, &g->node_offset, &g->offset_room, nodes, sizeof *g->node_offset) ||
        !graph_starts_reserve(&g->starts, &g->alloc, nodes) ||
        !grow(g, &g->edges, &g->edge_room, edges, sizeof *g->edges))
        return no_memory(err);
    return GCD_OK;
}

/* The arrays for nodes are filled together, then the references. */
void gcd_build_touch(struct gcd_build *b)
{
    const struct gcd_graph *g = b->g;
    if (g->type_room < TOUCH_NODES || !gcd_alloc_is_default(&g->alloc))
        return;
    b->touch = (struct graph_touch){
        .arrays = {
            { g->type_low, g->type_room * sizeof *g->type_low },
            { g->node_size, g->size_room * sizeof *g->node_size },
            { g->starts.near, g->starts.near_room * sizeof *g->starts.near },
            { g->node_offset, g->offset_room * sizeof *g->node_offset },
            { g->edges, g->edge_room * sizeof *g->edges },
        },
        .together = TOUCH_ARRAYS - 1,
    };
    graph_touch_begin(&b->touch, g->options.context.threads);
}

uint32_t gcd_build_node_count(const struct gcd_build *b)
{
    return b->g->node_count;
}

uint32_t gcd_build_node_type(const struct gcd_build *b, uint32_t node)
{
    return graph_type(b->g, node);
}

/* Stores a node's address relative to a base. */
static gcd_status put_address(struct gcd_graph *g, uint32_t node, uint64_t address,
                              struct gcd_error *err)
{
    const struct graph_run *last = g->run_count > 0 ? &g->runs[g->run_count - 1] : NULL;
    uint64_t off = last != NULL ? address - last->base : 0;
    if (last == NULL || address < last->base || off % 4 != 0 || off / 4 > UINT16_MAX) {
        if (!grow(g, &g->runs, &g->run_room, g->run_count + 1, sizeof *g->runs))
            return no_memory(err);
        g->runs[g->run_count++] = (struct graph_run){ .base = address, .first_node = node };
        off = 0;
    }
    if (node % BLOCK_NODES == 0) {
        if (!grow(g, &g->block_runs, &g->block_runs_room, (uint64_t)node / BLOCK_NODES + 1,
                  sizeof *g->block_runs))
            return no_memory(err);
        g->block_runs[node / BLOCK_NODES] = (uint32_t)(g->run_count - 1);
    }
    g->node_offset[node] = (uint16_t)(off / 4);
    return GCD_OK;
}

/* Stores a node's type; false when out of memory. */
static bool put_type(struct gcd_graph *g, uint32_t node, uint32_t type)
{
    uint64_t need = (uint64_t)node + 1;
    bool first = type > UINT16_MAX && g->type_high == NULL;
    if (!grow(g, &g->type_low, &g->type_room, need, sizeof *g->type_low) ||
        ((first || g->type_high != NULL) &&
         !grow(g, &g->type_high, &g->high_room, g->type_room, sizeof *g->type_high)))
        return false;
    if (first)
        memset(g->type_high, 0, node * sizeof *g->type_high);
    g->type_low[node] = (uint16_t)type;
    if (g->type_high != NULL)
        g->type_high[node] = (uint16_t)(type >> 16);
    return true;
}

static gcd_status add_node(struct gcd_graph *g, uint64_t address, uint32_t type,
                           uint64_t size_bytes, struct gcd_error *err)
{
    uint32_t node = g->node_count;
    uint64_t need = (uint64_t)node + 1;
    if (node >= MAX_NODES)
        return gcd_fail(err, GCD_E_LIMIT, "a graph holds at most %u objects", (unsigned)MAX_NODES);
    if (g->limits.objects != 0 && node >= g->limits.objects)
        return gcd_because(err, GCD_ERROR_OBJECT_LIMIT,
                           gcd_fail(err, GCD_E_LIMIT, "at most %" PRIu64 " objects are allowed",
                                    g->limits.objects));
    if (!put_type(g, node, type) ||
        !grow(g, &g->node_size, &g->size_room, need, sizeof *g->node_size) ||
        !grow(g, &g->node_offset, &g->offset_room, need, sizeof *g->node_offset))
        return no_memory(err);
    g->node_size[node] = size_bytes < GRAPH_BIG ? (uint16_t)size_bytes : GRAPH_BIG;
    if (size_bytes >= GRAPH_BIG) {
        if (!grow(g, &g->bigs, &g->big_room, g->big_count + 1, sizeof *g->bigs))
            return no_memory(err);
        g->bigs[g->big_count++] = (struct graph_big){ .size_bytes = size_bytes, .node = node };
    }
    GCD_TRY(put_address(g, node, address, err));
    g->node_count++;
    return GCD_OK;
}

gcd_status gcd_build_node(struct gcd_build *b, uint64_t address, uint32_t type, uint64_t size_bytes,
                          struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (b->nodes_ended)
        return gcd_fail(err, GCD_E_STATE, "all objects of the graph have been given");
    if (type >= g->type_count)
        return gcd_fail(err, GCD_E_FORMAT, "an object has type %u of %zu", (unsigned)type,
                        g->type_count);
    if (g->node_count == 0)
        g->notes.addresses_made_up = address == 0;
    if ((address == 0) != g->notes.addresses_made_up)
        return gcd_fail(err, GCD_E_ARG, "some objects have an address and some have none");
    if (address == 0) {
        address = b->next_address;
        uint64_t room = size_bytes > MADE_UP_MAX ? MADE_UP_MAX : (size_bytes + 7) / 8 * 8;
        b->next_address += room > 0 ? room : 8;
    }
    b->low_bits |= address;
    return add_node(g, address, type, size_bytes, err);
}

/* Sets where the references of the last object begin: those before it own OWNED. */
static gcd_status begin_edges(struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    bool room = graph_starts_reserve(&g->starts, &g->alloc, g->node_count);
    return room && graph_starts_put(&g->starts, &g->alloc, g->node_count - 1, b->owned)
               ? GCD_OK
               : no_memory(err);
}

static gcd_status add_owner(struct gcd_build *b, const struct gcd_object *o, struct gcd_error *err)
{
    if (b->owned > STARTS_MAX || o->edges > STARTS_MAX - b->owned)
        return gcd_fail(err, GCD_E_FORMAT, "the objects have more than 2^63 references");
    GCD_TRY(gcd_build_node(b, o->address, o->type, o->size_bytes, err));
    GCD_TRY(begin_edges(b, err));
    b->owned += o->edges;
    return GCD_OK;
}

/* How many of N more objects fit into the arrays and the last block of nodes without reaching a
 * limit. */
static size_t room_for(const struct gcd_build *b, size_t n)
{
    const struct gcd_graph *g = b->g;
    size_t node = g->node_count, in_block = STARTS_NODES - node % STARTS_NODES;
    const size_t rooms[] = {
        g->type_room,        g->size_room, g->offset_room,
        g->starts.near_room, MAX_NODES,    gcd_size_of(gcd_limit_or(g->limits.objects, MAX_NODES)),
    };
    if (in_block == STARTS_NODES || g->run_count == 0 || b->nodes_ended ||
        g->notes.addresses_made_up || g->type_high != NULL)
        return 0;
    n = n < in_block ? n : in_block;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        size_t left = rooms[i] > node ? rooms[i] - node : 0;
        n = n < left ? n : left;
    }
    return n;
}

/*
 * Adds objects as add_owner does, until one needs more than storing; returns their number.  In a
 * wide block it stops at the first: REL wraps around.
 */
static size_t add_plain_owners(struct gcd_build *b, const struct gcd_object *objects, size_t n)
{
    struct gcd_graph *g = b->g;
    size_t i = 0, room = room_for(b, n);
    if (room == 0)
        return 0;
    uint64_t base = g->runs[g->run_count - 1].base, low_bits = 0,
             rel = b->owned - g->starts.blocks[g->node_count / STARTS_NODES];
    uint16_t *type = g->type_low + g->node_count, *size = g->node_size + g->node_count,
             *offset = g->node_offset + g->node_count;
    uint16_t *near = g->starts.near + g->node_count;
    uint64_t first_rel = rel;
    for (; i < room; i++) {
        const struct gcd_object *o = &objects[i];
        uint64_t off = o->address - base;
        bool far = o->address < base || off % 4 != 0 || off / 4 > UINT16_MAX,
             wide = o->type > UINT16_MAX || o->size_bytes >= GRAPH_BIG;
        if (far || wide || o->type >= g->type_count || rel > UINT16_MAX || o->edges > UINT32_MAX)
            break;
        low_bits |= o->address;
        type[i] = (uint16_t)o->type;
        size[i] = (uint16_t)o->size_bytes;
        offset[i] = (uint16_t)(off / 4);
        near[i] = (uint16_t)rel;
        rel += o->edges;
    }
    b->low_bits |= low_bits;
    b->owned += rel - first_rel;
    g->node_count += (uint32_t)i;
    return i;
}

gcd_status gcd_build_owners(struct gcd_build *b, const struct gcd_object *objects, size_t n,
                            struct gcd_error *err)
{
    b->owners = true;
    for (size_t i = 0; i < n; i++) {
        i += add_plain_owners(b, objects + i, n - i);
        if (i < n)
            GCD_TRY(add_owner(b, &objects[i], err));
    }
    b->next_node = b->g->node_count;
    return GCD_OK;
}

static gcd_status make_index(struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    graph_index_init(&g->index, &g->alloc, b->low_bits % 8 == 0 ? 3 : 2);
    size_t run = 0;
    for (uint32_t node = 0, end; node < g->node_count; node = end) {
        if (run + 1 < g->run_count && g->runs[run + 1].first_node == node)
            run++;
        uint32_t run_end = run + 1 < g->run_count ? g->runs[run + 1].first_node : g->node_count;
        end = run_end - node < CHECK_EVERY ? run_end : node + CHECK_EVERY;
        if (!graph_index_add_run(&g->index, g->runs[run].base, g->node_offset + node, end - node,
                                 node))
            return no_memory(err);
        if (gcd_is_canceled(g->options.context.cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    }
    if (!graph_index_finish(&g->index))
        return no_memory(err);
    g->notes.objects_doubled = g->index.doubled;
    return GCD_OK;
}

gcd_status gcd_build_nodes_end(struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (b->nodes_ended)
        return gcd_fail(err, GCD_E_STATE, "all objects of the graph have been given");
    GCD_TRY(make_index(b, err));
    b->nodes_ended = true;
    if (g->options.keep_unknown) {
        static const struct gcd_type unknown = { .name = "UNKNOWN", .module_path = "" };
        uint32_t type, node = g->node_count;
        GCD_TRY(gcd_build_type(b, &unknown, &type, err));
        /* An address without effect: it starts no run and is not in the index. */
        uint64_t address = g->run_count > 0 ? g->runs[g->run_count - 1].base : MADE_UP_START;
        GCD_TRY(add_node(g, address, type, 0, err));
        g->unknown = node;
    }
    return graph_starts_reserve(&g->starts, &g->alloc, g->node_count) ? GCD_OK : no_memory(err);
}

uint32_t gcd_build_find(const struct gcd_build *b, uint64_t address)
{
    return gcd_graph_find(b->g, address);
}

/* ---- references ---- */

gcd_status gcd_build_next_node(struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    uint32_t node = b->next_node;
    if (!b->nodes_ended || node >= g->node_count)
        return gcd_fail(err, GCD_E_STATE, "references of more objects than there are");
    if (node % CHECK_EVERY == 0 && gcd_is_canceled(g->options.context.cancel))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    if (!graph_starts_put(&g->starts, &g->alloc, node, g->edge_count))
        return no_memory(err);
    b->next_node = node + 1;
    return GCD_OK;
}

/* Room for N more references, if they have an owner. */
static gcd_status more_edges(struct gcd_build *b, size_t n, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (b->next_node == 0)
        return gcd_fail(err, GCD_E_STATE, "references before the first object");
    if (n > g->edge_room - g->edge_count)
        graph_resolver_drain(&b->resolver);
    return grow(g, &g->edges, &g->edge_room, (uint64_t)g->edge_count + n, sizeof *g->edges)
               ? GCD_OK
               : no_memory(err);
}

gcd_status gcd_build_edges(struct gcd_build *b, const uint64_t *targets, size_t n,
                           struct gcd_error *err)
{
    GCD_TRY(more_edges(b, n, err));
    return graph_resolver_add(&b->resolver, targets, n) ? GCD_OK : no_memory(err);
}

/* Where the references of NODE that have come end. */
static uint64_t end_of_edges(const struct gcd_build *b, uint32_t node)
{
    bool last = node + 1 >= b->next_node;
    return last ? b->g->edge_count : graph_starts_of(&b->g->starts, node + 1);
}

/* Keeps the places of the last N references. */
static bool put_places(struct gcd_build *b, const uint32_t *places, size_t n)
{
    struct gcd_graph *g = b->g;
    uint64_t first = 0, end = 0; /* of the references of the object */
    g->places.on = true;
    for (size_t i = 0; i < n; i++) {
        uint64_t edge = g->places.edges;
        if (edge >= end) {
            while (edge >= (end = end_of_edges(b, b->placed)))
                b->placed++;
            first = graph_starts_of(&g->starts, b->placed);
        }
        bool unplaced = places[i] == GCD_BUILD_UNPLACED;
        uint64_t follows = edge == first ? 0 : b->next_place,
                 place = places[i] == GCD_BUILD_FOLLOWS ? follows : places[i] - UINT64_C(1);
        b->next_place = unplaced ? PLACES_NONE : place + 1;
        if (!graph_places_put(&g->places, &g->alloc, edge - first, unplaced ? PLACES_NONE : place))
            return false;
    }
    return true;
}

gcd_status gcd_build_placed_edges(struct gcd_build *b, const uint64_t *targets,
                                  const uint32_t *places, size_t n, struct gcd_error *err)
{
    GCD_TRY(gcd_build_edges(b, targets, n, err));
    return places == NULL || put_places(b, places, n) ? GCD_OK : no_memory(err);
}

gcd_status gcd_build_edge_nodes(struct gcd_build *b, const uint32_t *targets, size_t n,
                                struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    GCD_TRY(more_edges(b, n, err));
    graph_resolver_drain(&b->resolver);
    for (size_t i = 0; i < n; i++) {
        uint32_t to = targets[i];
        if (to != GCD_NODE_NONE && (to >= g->node_count || to == g->unknown))
            return gcd_fail(err, GCD_E_FORMAT, "a reference leads to object %u of %u", (unsigned)to,
                            (unsigned)g->node_count);
        g->notes.edges_dangling += to == GCD_NODE_NONE;
        g->edges[g->edge_count++] = to != GCD_NODE_NONE ? to : g->unknown;
    }
    return GCD_OK;
}

/* ---- roots and handles ---- */

/* Room for another record; each kind has its own limit. */
static gcd_status one_more(struct gcd_graph *g, void *items, size_t *room, size_t count,
                           size_t item_bytes, struct gcd_error *err)
{
    if (count >= gcd_limit_or(g->limits.roots, DEFAULT_ROOTS))
        return gcd_fail(err, GCD_E_LIMIT, "there are more than %zu roots, handles or ranges",
                        count);
    return grow(g, items, room, (uint64_t)count + 1, item_bytes) ? GCD_OK : no_memory(err);
}

gcd_status gcd_build_root_kept(struct gcd_build *b, const struct gcd_root *r, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    struct gcd_root root = *r;
    if (root.node == GCD_NODE_NONE) {
        g->notes.roots_dangling++;
        root.node = g->unknown;
        if (root.node == GCD_NODE_NONE)
            return GCD_OK;
    }
    bool is_static = root.kind == GCD_ROOT_STATIC;
    if (root.node >= g->node_count || (is_static && root.type >= g->type_count) ||
        (unsigned)root.kind >= GCD_ROOT_ALL_KINDS)
        return gcd_fail(err, GCD_E_FORMAT, "a root of kind %u leads to object %u of %u",
                        (unsigned)root.kind, (unsigned)root.node, (unsigned)g->node_count);
    if (!is_static)
        root.type = graph_type(g, root.node);
    root.object = gcd_graph_node_address(g, root.node);
    if (root.class_name == NULL)
        root.class_name = "";
    if (root.label == NULL)
        root.label = root.name;
    GCD_TRY(one_more(g, &g->roots, &g->root_room, g->root_count, sizeof *g->roots, err));
    g->roots[g->root_count++] = root;
    return GCD_OK;
}

/* Sets ROOT's label, as it is in the source. */
static gcd_status build_label(struct gcd_build *b, const char *label, struct gcd_root *root,
                              struct gcd_error *err)
{
    size_t n = strlen(label);
    root->label = root->name;
    if (n == 0)
        return GCD_OK;
    char *text = gcd_mem_new_array(&b->g->alloc, n + 1, 1);
    if (text == NULL)
        return gcd_fail_nomem(err, "keeping the names of static variables");
    size_t used = gcd_static_source_label(label, n, text);
    text[used] = '\0';
    gcd_status st =
        strcmp(text, root->name) != 0 ? gcd_build_text(b, text, used, &root->label, err) : GCD_OK;
    gcd_mem_free(&b->g->alloc, text, n + 1);
    return st;
}

gcd_status gcd_build_root(struct gcd_build *b, const struct gcd_root *r, struct gcd_error *err)
{
    struct gcd_root root = *r;
    const char *name = r->name != NULL ? r->name : "";
    GCD_TRY(gcd_build_text(b, name, strlen(name), &root.name, err));
    root.class_name = "";
    if (r->class_name != NULL && r->class_name[0] != '\0')
        GCD_TRY(gcd_build_text(b, r->class_name, strlen(r->class_name), &root.class_name, err));
    const char *label = r->label != NULL ? r->label : name;
    if (root.kind == GCD_ROOT_STATIC)
        GCD_TRY(build_label(b, label, &root, err));
    else
        GCD_TRY(gcd_build_text(b, label, strlen(label), &root.label, err));
    return gcd_build_root_kept(b, &root, err);
}

gcd_status gcd_build_dependent(struct gcd_build *b, uint32_t key, uint32_t value,
                               struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (key == GCD_NODE_NONE || value == GCD_NODE_NONE) {
        g->notes.dependents_dropped++;
        return GCD_OK;
    }
    if (key >= g->node_count || value >= g->node_count)
        return gcd_fail(err, GCD_E_FORMAT, "a dependent handle leads from object %u to %u of %u",
                        (unsigned)key, (unsigned)value, (unsigned)g->node_count);
    GCD_TRY(one_more(g, &b->keyed, &b->keyed_room, b->keyed_count, sizeof *b->keyed, err));
    b->keyed[b->keyed_count++] = (struct keyed){ .key = key, .value = value };
    return GCD_OK;
}

gcd_status gcd_build_module(struct gcd_build *b, const struct gcd_module *m, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    struct gcd_module copy = *m;
    const char **const texts[] = { &copy.path, &copy.assembly, &copy.problem };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        GCD_TRY(gcd_build_text(b, *texts[i], strlen(*texts[i]), texts[i], err));
    GCD_TRY(one_more(g, &g->modules, &g->module_room, g->module_count, sizeof *g->modules, err));
    g->modules[g->module_count++] = copy;
    return GCD_OK;
}

gcd_status gcd_build_range(struct gcd_build *b, const struct gcd_range *r, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    GCD_TRY(one_more(g, &g->ranges, &g->range_room, g->range_count, sizeof *g->ranges, err));
    g->ranges[g->range_count++] = *r;
    return GCD_OK;
}

/* ---- the seal ---- */

static gcd_status sort_dependents(struct gcd_build *b, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    if (!gcd_sort_by_u64(&g->alloc, b->keyed, b->keyed_count, sizeof *b->keyed) ||
        !grow(g, &g->dependents, &g->dependent_room, b->keyed_count, sizeof *g->dependents))
        return no_memory(err);
    for (size_t i = 0; i < b->keyed_count; i++)
        g->dependents[i] = (struct gcd_graph_dependent){ .key = (uint32_t)b->keyed[i].key,
                                                         .value = b->keyed[i].value };
    g->dependent_count = b->keyed_count;
    return GCD_OK;
}

/* Removes dangling references from the edges. */
static bool close_holes(struct gcd_graph *g)
{
    struct graph_places places = { .on = g->places.on };
    bool room = true;
    uint64_t kept = 0, at = 0, base = 0; /* BASE: the new start of the block of nodes */
    for (uint32_t node = 0; node < g->node_count; node++) {
        bool last = node + 1 == g->node_count;
        uint64_t end = last ? g->edge_count : graph_starts_of(&g->starts, node + 1);
        if (node % STARTS_NODES == 0)
            base = kept;
        graph_starts_move(&g->starts, node, last, base, kept);
        uint64_t first = at, first_kept = kept;
        for (; at < end; at++) {
            if (g->edges[at] == GCD_NODE_NONE)
                continue;
            room = room &&
                   (!places.on || graph_places_put(&places, &g->alloc, kept - first_kept,
                                                   graph_places_of(&g->places, first, at - first)));
            g->edges[kept++] = g->edges[at];
        }
    }
    g->edge_count = (size_t)kept;
    graph_places_done(&g->places, &g->alloc);
    g->places = places;
    return room;
}

/* The unknown node is only needed if something refers to it. */
static void forget_unknown(struct gcd_graph *g)
{
    if (g->unknown == GCD_NODE_NONE || g->notes.edges_dangling + g->notes.roots_dangling > 0)
        return;
    if (graph_type(g, g->unknown) == g->type_count - 1)
        g->type_count--;
    g->node_count--;
    g->unknown = GCD_NODE_NONE;
}

/* Calculates the sums and sets the lists, ignoring the reader's values. */
static void summarize(struct gcd_graph *g)
{
    struct gcd_summary *f = &g->summary;
    f->objects = f->bytes = f->types_used = f->types_undescribed = f->objects_undescribed = 0;
    for (uint32_t node = 0; node < g->node_count; node++) {
        struct gcd_type *t = &g->types[graph_type(g, node)];
        uint64_t size = gcd_graph_node_size(g, node);
        size_t edges;
        (void)gcd_graph_node_edges(g, node, &edges);
        t->objects++;
        t->edges += edges;
        t->uneven_sizes |= size % 8 != 0;
        gcd_add_saturating(&t->bytes, size);
        gcd_add_saturating(&f->bytes, size);
    }
    f->objects = g->node_count;
    f->edges = g->edge_count;
    for (size_t i = 0; i < g->type_count; i++) {
        const struct gcd_type *t = &g->types[i];
        f->types_used += t->objects > 0;
        f->types_undescribed += t->objects > 0 && !t->described;
        f->objects_undescribed += t->described ? 0 : t->objects;
    }
    memset(f->root_counts, 0, sizeof f->root_counts);
    f->weak_roots = f->pinned_roots = f->statics = f->ccws = 0;
    for (size_t i = 0; i < g->root_count; i++) {
        const struct gcd_root *r = &g->roots[i];
        if (r->kind == GCD_ROOT_STATIC)
            f->statics++;
        else if (r->kind == GCD_ROOT_COM)
            f->ccws++;
        else
            f->root_counts[r->kind]++;
        f->weak_roots += r->kind < GCD_ROOT_KINDS && (r->flags & GCD_ROOT_WEAK) != 0;
        f->pinned_roots += r->kind < GCD_ROOT_KINDS && (r->flags & GCD_ROOT_PINNED) != 0;
    }
    f->dependent_handles = g->dependent_count;
    f->types = g->types;
    f->type_count = (uint32_t)g->type_count;
    f->roots = g->roots;
    f->root_count = g->root_count;
    f->ranges = g->ranges;
    f->range_count = g->range_count;
    f->modules = g->modules;
    f->module_count = g->module_count;
    f->processes = NULL;
    f->process_count = 0;
}

/* Puts the places of the references of all nodes, and whether any are known. */
static gcd_status place_nodes(struct gcd_graph *g, graph_placer *place, void *ctx,
                              struct graph_places *to, struct gcd_error *err)
{
    uint32_t *places = NULL;
    size_t room = 0;
    gcd_status st = GCD_OK;
    for (uint32_t node = 0; node < g->node_count && st >= 0; node++) {
        size_t n;
        (void)gcd_graph_node_edges(g, node, &n);
        if (!gcd_vec_reserve(&g->alloc, &places, &room, n + 1, sizeof *places, SIZE_MAX))
            st = no_memory(err);
        else
            st = n > 0 ? place(ctx, g, node, places, err) : GCD_END;
        to->on |= st == GCD_OK;
        for (size_t i = 0; i < n && st >= 0; i++)
            if (!graph_places_put(to, &g->alloc, i, st == GCD_OK ? places[i] : PLACES_NONE))
                st = no_memory(err);
    }
    gcd_mem_free(&g->alloc, places, room * sizeof *places);
    return st < 0 ? st : GCD_OK;
}

gcd_status graph_place(struct gcd_graph *g, graph_placer *place, void *ctx, struct gcd_error *err)
{
    struct graph_places to = { .on = false };
    if (g->places.on)
        return GCD_OK;
    gcd_status st = place_nodes(g, place, ctx, &to, err);
    if (st != GCD_OK || !to.on) {
        graph_places_done(&to, &g->alloc);
        return st;
    }
    graph_places_shrink(&to, &g->alloc);
    g->places = to;
    return GCD_OK;
}

gcd_status gcd_build_seal(struct gcd_build *b, struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_graph *g = b->g;
    gcd_status st = b->nodes_ended ? GCD_OK : gcd_build_nodes_end(b, err);
    if (st == GCD_OK && b->owners && b->owned != g->edge_count)
        st =
            gcd_fail(err, GCD_E_STATE, "the objects have %" PRIu64 " references, but there are %zu",
                     b->owned, g->edge_count);
    while (st == GCD_OK && b->next_node < g->node_count)
        st = gcd_build_next_node(b, err);
    if (st == GCD_OK)
        st = sort_dependents(b, err);
    if (st == GCD_OK && !grow(g, &g->edges, &g->edge_room, 1,
                              sizeof *g->edges)) /* so that the pointer is never NULL */
        st = no_memory(err);
    if (st != GCD_OK) {
        gcd_build_free(b);
        return st;
    }
    graph_resolver_drain(&b->resolver);
    graph_resolver_done(&b->resolver);
    graph_touch_end(&b->touch);
    g->notes.edges_dangling += atomic_load(&b->resolver.dangling);
    if (g->places.on && g->places.edges != g->edge_count)
        graph_places_done(&g->places, &g->alloc);
    if (g->notes.edges_dangling > 0 && g->unknown == GCD_NODE_NONE && !close_holes(g)) {
        gcd_build_free(b);
        return no_memory(err);
    }
    forget_unknown(g);
    shrink(g, &g->type_low, &g->type_room, g->node_count, sizeof *g->type_low);
    if (g->type_high != NULL)
        shrink(g, &g->type_high, &g->high_room, g->node_count, sizeof *g->type_high);
    shrink(g, &g->node_size, &g->size_room, g->node_count, sizeof *g->node_size);
    shrink(g, &g->node_offset, &g->offset_room, g->node_count, sizeof *g->node_offset);
    graph_starts_shrink(&g->starts, &g->alloc, g->node_count);
    shrink(g, &g->edges, &g->edge_room, g->edge_count, sizeof *g->edges);
    graph_places_shrink(&g->places, &g->alloc);
    summarize(g);
    g->options.context.cancel = NULL; /* belongs to the caller, and is no longer needed */
    b->g = NULL;
    struct gcd_alloc a = g->alloc;
    gcd_mem_free(&a, b->keyed, b->keyed_room * sizeof *b->keyed);
    gcd_mem_free(&a, b, sizeof *b);
    *ret = g;
    return GCD_OK;
}
