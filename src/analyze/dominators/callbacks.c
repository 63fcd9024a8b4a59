#include "analyze/dominators/callbacks.h"

#include <string.h>

#include <gcdumpc/unstable/graph/graph_derived.h>

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/live_reached.h"
#include "base/mem.h"
#include "base/text.h"

/* A timer or a registration; a nested type is written with "+" or with "." */
static bool is_callback(const struct gcd_type *type)
{
    static const char timer[] = "System.Threading.TimerQueueTimer",
                      source[] = "System.Threading.CancellationTokenSource";
    size_t n = sizeof source - 1;
    return type->objects > 0 && (strcmp(type->name, timer) == 0 ||
                                 (gcd_text_begins(type->name, source) && type->name[n] != '\0' &&
                                  strcmp(type->name + n + 1, "CallbackNode") == 0));
}

/* What is not reached, and near below what is marked, is marked, too.  QUEUE[nodes]. */
static void mark_near(const struct gcd_graph *g, const uint64_t *reached, uint32_t *queue,
                      uint64_t *is_one)
{
    uint32_t nodes = gcd_graph_node_count(g), from = 0, count = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (bits_get(is_one, node))
            queue[count++] = node;
    for (unsigned step = 0; step < CALLBACKS_NEAR; step++) {
        uint32_t to = count;
        for (; from < to; from++) {
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, queue[from], &n);
            for (size_t i = 0; i < n; i++)
                if (!bits_get(reached, edges[i]) && !bits_get(is_one, edges[i])) {
                    bits_set(is_one, edges[i]);
                    queue[count++] = edges[i];
                }
        }
    }
}

/* ---- the references that count ---- */

static bool add(struct callbacks *c, const struct gcd_alloc *a, const uint32_t *edges, size_t n,
                const uint64_t *reached, uint32_t node)
{
    bool counts = false;
    for (size_t i = 0; i < n && !counts; i++)
        counts = !bits_get(reached, edges[i]);
    if (!counts)
        return true;
    if (!gcd_vec_reserve(a, &c->nodes, &c->room, c->count + 1, sizeof *c->nodes, SIZE_MAX) ||
        !gcd_vec_reserve(a, &c->first, &c->first_room, c->count + 2, sizeof *c->first, SIZE_MAX) ||
        !gcd_vec_reserve(a, &c->edges, &c->edge_room, c->edge_count + n, sizeof *c->edges,
                         SIZE_MAX))
        return false;
    c->first[c->count] = c->edge_count;
    c->nodes[c->count++] = node;
    for (size_t i = 0; i < n; i++)
        c->edges[c->edge_count++] = bits_get(reached, edges[i]) ? node : edges[i];
    c->first[c->count] = c->edge_count;
    return true;
}

static void free_callbacks(const struct gcd_alloc *a, void *item)
{
    struct callbacks *c = item;
    gcd_mem_free(a, c->is_one, c->words * sizeof *c->is_one);
    gcd_mem_free(a, c->nodes, c->room * sizeof *c->nodes);
    gcd_mem_free(a, c->first, c->first_room * sizeof *c->first);
    gcd_mem_free(a, c->edges, c->edge_room * sizeof *c->edges);
    gcd_mem_free(a, c, sizeof *c);
}

/* IS_TYPE[type_count]: what to mark */
static void mark(struct callbacks *c, const struct gcd_graph *g, uint8_t *is_type)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    uint32_t nodes = gcd_graph_node_count(g);
    for (uint32_t i = 0; i < s->type_count; i++)
        is_type[i] = is_callback(&s->types[i]);
    for (uint32_t node = 0; node < nodes; node++)
        if (is_type[gcd_graph_node_type(g, node)] != 0)
            bits_set(c->is_one, node);
}

static bool fill(struct callbacks *c, const struct gcd_graph *g, const struct gcd_alloc *a)
{
    uint32_t nodes = gcd_graph_node_count(g), types = gcd_graph_summary(g)->type_count;
    struct live_edges live = { .alloc = *a };
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t *is_type = gcd_mem_new(a, types);
    uint64_t *reached = gcd_mem_new_array(a, c->words, sizeof *reached);
    uint32_t *queue = gcd_mem_new_uncleared(a, nodes, sizeof *queue);
    bool ok =
        is_type != NULL && reached != NULL && queue != NULL && live_edges_init_all(&live, g, a);
    if (ok)
        mark(c, g, is_type);
    ok = ok && live_reached(&live, GCD_GROUP_REFCOUNTED, c->is_one, NULL, reached, &err) == GCD_OK;
    if (ok)
        mark_near(g, reached, queue, c->is_one);
    for (uint32_t node = 0; node < nodes && ok; node++)
        if (bits_get(c->is_one, node)) {
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
            ok = add(c, a, edges, n, reached, node);
        }
    live_edges_done(&live);
    gcd_mem_free(a, is_type, types);
    gcd_mem_free(a, reached, c->words * sizeof *reached);
    gcd_mem_free(a, queue, nodes * sizeof *queue);
    return ok;
}

static bool make(const struct gcd_graph *g, const struct gcd_alloc *a, void **ret)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    bool any = false, rooted = false;
    for (uint32_t i = 0; i < s->type_count && !any; i++)
        any = is_callback(&s->types[i]);
    for (size_t i = 0; i < s->root_count && !rooted; i++)
        rooted = gcd_root_group(&s->roots[i]) <= GCD_GROUP_LOCALS;
    if (!any || !rooted)
        return true;
    struct callbacks *c = gcd_mem_new(a, sizeof *c);
    if (c == NULL)
        return false;
    c->words = ((size_t)gcd_graph_node_count(g) + 63) / 64;
    c->is_one = gcd_mem_new_array(a, c->words, sizeof *c->is_one);
    if (c->is_one == NULL || !fill(c, g, a)) {
        free_callbacks(a, c);
        return false;
    }
    *ret = c;
    return true;
}

bool callbacks_of(const struct gcd_graph *g, const struct callbacks **ret)
{
    const void *item = NULL;
    bool ok = gcd_graph_derived(g, make, free_callbacks, &item);
    *ret = item;
    return ok;
}

const uint32_t *callbacks_edges(const struct callbacks *c, uint32_t node)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->nodes[mid] < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->count && c->nodes[low] == node ? c->edges + c->first[low] : NULL;
}
