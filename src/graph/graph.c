/* Reading a graph: the accessors of gcdumpc/graph.h. */
#include "graph/graph_impl.h"

#include <string.h>

#include <gcdumpc/unstable/graph/graph_memory.h>
#include <gcdumpc/unstable/graph/graph_places.h>
#include <gcdumpc/unstable/graph/graph_types.h>

#include "base/mem.h"

static void drop(const struct gcd_graph *g, void *items, size_t room, size_t item_bytes)
{
    gcd_mem_free(&g->alloc, items, room * item_bytes);
}

bool gcd_graph_derived(const struct gcd_graph *g, gcd_graph_derive *make,
                       gcd_graph_derived_free *done, const void **ret)
{
    struct graph_derived_item *d = g->derived;
    (void)pthread_mutex_lock(&d->lock);
    d->made = d->made || make(g, &g->alloc, &d->item);
    d->done = done;
    bool ok = d->made;
    *ret = d->item;
    (void)pthread_mutex_unlock(&d->lock);
    return ok;
}

static void derived_free(struct gcd_graph *g)
{
    if (g->derived == NULL)
        return;
    if (g->derived->item != NULL)
        g->derived->done(&g->alloc, g->derived->item);
    (void)pthread_mutex_destroy(&g->derived->lock);
    gcd_mem_free(&g->alloc, g->derived, sizeof *g->derived);
}

void gcd_graph_free(struct gcd_graph *g)
{
    if (g == NULL)
        return;
    derived_free(g);
    drop(g, g->node_offset, g->offset_room, sizeof *g->node_offset);
    drop(g, g->runs, g->run_room, sizeof *g->runs);
    drop(g, g->block_runs, g->block_runs_room, sizeof *g->block_runs);
    graph_index_done(&g->index);
    drop(g, g->type_low, g->type_room, sizeof *g->type_low);
    drop(g, g->type_high, g->high_room, sizeof *g->type_high);
    drop(g, g->node_size, g->size_room, sizeof *g->node_size);
    graph_starts_done(&g->starts, &g->alloc);
    graph_places_done(&g->places, &g->alloc);
    drop(g, g->bigs, g->big_room, sizeof *g->bigs);
    drop(g, g->edges, g->edge_room, sizeof *g->edges);
    drop(g, g->types, g->types_room, sizeof *g->types);
    drop(g, g->roots, g->root_room, sizeof *g->roots);
    drop(g, g->dependents, g->dependent_room, sizeof *g->dependents);
    drop(g, g->modules, g->module_room, sizeof *g->modules);
    drop(g, g->ranges, g->range_room, sizeof *g->ranges);
    gcd_textpool_done(&g->text);
    struct gcd_alloc a = g->alloc;
    gcd_mem_free(&a, g, sizeof *g);
}

uint64_t gcd_graph_memory(const struct gcd_graph *g)
{
    return sizeof *g + g->text.bytes + graph_index_bytes(&g->index) +
           graph_starts_bytes(&g->starts) + graph_places_bytes(&g->places) +
           (g->type_room + g->high_room + g->size_room + g->offset_room) * sizeof(uint16_t) +
           (g->edge_room + g->block_runs_room) * sizeof(uint32_t) + g->big_room * sizeof *g->bigs +
           g->run_room * sizeof *g->runs + g->types_room * sizeof *g->types +
           g->root_room * sizeof *g->roots + g->dependent_room * sizeof *g->dependents +
           g->module_room * sizeof *g->modules + g->range_room * sizeof *g->ranges;
}

const struct gcd_summary *gcd_graph_summary(const struct gcd_graph *g)
{
    return &g->summary;
}

const struct gcd_graph_notes *gcd_graph_notes(const struct gcd_graph *g)
{
    return &g->notes;
}

/* ---- nodes ---- */

uint32_t gcd_graph_node_count(const struct gcd_graph *g)
{
    return g->node_count;
}

uint32_t gcd_graph_node_type(const struct gcd_graph *g, uint32_t node)
{
    return graph_type(g, node);
}

struct gcd_graph_types gcd_graph_types(const struct gcd_graph *g)
{
    return (struct gcd_graph_types){ g->type_low, g->type_high };
}

static uint64_t big_size(const struct gcd_graph *g, uint32_t node)
{
    size_t low = 0, high = g->big_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (g->bigs[mid].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return g->bigs[low].size_bytes;
}

uint64_t gcd_graph_node_size(const struct gcd_graph *g, uint32_t node)
{
    return g->node_size[node] != GRAPH_BIG ? g->node_size[node] : big_size(g, node);
}

uint64_t gcd_graph_node_address(const struct gcd_graph *g, uint32_t node)
{
    if (node == g->unknown)
        return 0;
    uint32_t block = node >> GRAPH_BLOCK_SHIFT;
    bool last = block == (g->node_count - 1) >> GRAPH_BLOCK_SHIFT;
    size_t low = g->block_runs[block],
           high = last ? g->run_count : (size_t)g->block_runs[block + 1] + 1;
    /* the last run that begins at NODE or before it */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (g->runs[mid].first_node <= node)
            low = mid;
        else
            high = mid;
    }
    return g->runs[low].base + (uint64_t)g->node_offset[node] * 4;
}

static uint64_t first_edge(const struct gcd_graph *g, uint32_t node)
{
    return node < g->node_count ? graph_starts_of(&g->starts, node) : g->edge_count;
}

const uint32_t *gcd_graph_node_edges(const struct gcd_graph *g, uint32_t node, size_t *ret_n)
{
    uint64_t first = first_edge(g, node);
    *ret_n = (size_t)(first_edge(g, node + 1) - first);
    return g->edges + first;
}

void gcd_graph_fetch(const struct gcd_graph *g, uint32_t node)
{
    __builtin_prefetch(&g->starts.near[node]);
}

bool gcd_graph_has_places(const struct gcd_graph *g)
{
    return g->places.on;
}

uint32_t gcd_graph_edge_place(const struct gcd_graph *g, uint32_t node, size_t edge)
{
    return g->places.on ? graph_places_of(&g->places, first_edge(g, node), edge) : GCD_PLACE_NONE;
}

bool gcd_graph_refers(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, from, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] == to)
            return true;
    return false;
}

void gcd_graph_node(const struct gcd_graph *g, uint32_t node, struct gcd_node *ret)
{
    ret->address = gcd_graph_node_address(g, node);
    ret->size_bytes = gcd_graph_node_size(g, node);
    ret->edges = gcd_graph_node_edges(g, node, &ret->edge_count);
    ret->type = graph_type(g, node);
}

void gcd_graph_columns(const struct gcd_graph *g, const struct gcd_graph_columns *to)
{
    uint32_t n = gcd_graph_node_count(g);
    for (uint32_t node = 0; node < n; node++) {
        if (to->addresses != NULL)
            to->addresses[node] = gcd_graph_node_address(g, node);
        if (to->sizes_bytes != NULL)
            to->sizes_bytes[node] = gcd_graph_node_size(g, node);
        if (to->types != NULL)
            to->types[node] = graph_type(g, node);
        if (to->edge_starts != NULL)
            to->edge_starts[node] = first_edge(g, node);
    }
    if (to->edge_starts != NULL)
        to->edge_starts[n] = g->edge_count;
    if (to->edges != NULL && g->edge_count > 0)
        memcpy(to->edges, g->edges, (size_t)g->edge_count * sizeof *g->edges);
}

uint64_t gcd_graph_edge_count(const struct gcd_graph *g)
{
    return g->edge_count;
}

uint32_t gcd_graph_find(const struct gcd_graph *g, uint64_t address)
{
    return g->node_offset != NULL ? graph_index_find(&g->index, address) : GCD_NODE_NONE;
}

uint32_t gcd_graph_unknown(const struct gcd_graph *g)
{
    return g->unknown;
}

/* ---- roots and handles ---- */

enum gcd_root_group gcd_root_group(const struct gcd_root *r)
{
    if ((r->flags & GCD_ROOT_WEAK) != 0)
        return GCD_GROUP_WEAK;
    if (r->kind == GCD_ROOT_STATIC)
        return GCD_GROUP_STATICS;
    if (r->kind == GCD_ROOT_STACK)
        return GCD_GROUP_LOCALS;
    if (r->kind == GCD_ROOT_COM || (r->flags & GCD_ROOT_REFCOUNTED) != 0)
        return GCD_GROUP_REFCOUNTED;
    if (r->kind == GCD_ROOT_FINALIZER)
        return GCD_GROUP_FINALIZER;
    if (r->kind == GCD_ROOT_HANDLE)
        return (r->flags & GCD_ROOT_PINNED) != 0 ? GCD_GROUP_PINNED_HANDLES
                                                 : GCD_GROUP_STRONG_HANDLES;
    return GCD_GROUP_OTHER;
}

size_t gcd_graph_dependent_count(const struct gcd_graph *g)
{
    return g->dependent_count;
}

const struct gcd_graph_dependent *gcd_graph_dependent(const struct gcd_graph *g, size_t i)
{
    return &g->dependents[i];
}
