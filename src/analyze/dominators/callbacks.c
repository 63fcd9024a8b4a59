#include "analyze/dominators/callbacks.h"

#include <string.h>

#include <gcdumpc/unstable/graph/graph_derived.h>
#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_edges.h"
#include "analyze/dominators/live_reached.h"
#include "base/mem.h"
#include "base/text.h"

enum kind { KIND_NONE, KIND_CALLBACK, KIND_CALL };

/* A timer or a registration; a nested type is written with "+" or with "." */
static bool is_callback(const char *name)
{
    static const char timer[] = "System.Threading.TimerQueueTimer",
                      source[] = "System.Threading.CancellationTokenSource";
    size_t n = sizeof source - 1;
    return strcmp(name, timer) == 0 || (gcd_text_begins(name, source) && name[n] != '\0' &&
                                        strcmp(name + n + 1, "CallbackNode") == 0);
}

/* The state of a call of an asynchronous method: AsyncTaskMethodBuilder`1[...]+Async...Box`1[...]
 */
static bool is_call(const char *name)
{
    return gcd_text_begins(name, "System.Runtime.CompilerServices.Async") &&
           strstr(name, "StateMachineBox") != NULL && !gcd_text_is_array(name);
}

static enum kind kind_of(const struct gcd_type *type)
{
    return type->objects == 0        ? KIND_NONE
           : is_callback(type->name) ? KIND_CALLBACK
           : is_call(type->name)     ? KIND_CALL
                                     : KIND_NONE;
}

/* Marks objects of KIND that are not reached. */
static void mark(const struct gcd_graph *g, const uint8_t *kinds, enum kind kind,
                 const uint64_t *reached, uint64_t *is_one)
{
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++)
        if (kinds[gcd_graph_node_type(g, node)] == kind && !bits_get(reached, node))
            bits_set(is_one, node);
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

/* ---- snapshots ---- */

/* So many of its objects, evenly, speak for all. */
#define SAMPLE 64u

struct work {
    struct live_edges live; /* nothing that is marked has references */
    size_t words;
    bool any;          /* snapshots */
    uint8_t *kinds;    /* [types] */
    uint64_t *reached; /* one bit per node, as the next ones */
    uint64_t *is_snapshot;
    uint64_t *once, *twice; /* an object of a sample to which as many references are found */
    uint32_t *queue;        /* [nodes] */
};

static bool is_wide(const struct gcd_graph *g, uint32_t node)
{
    size_t n;
    (void)gcd_graph_node_edges(g, node, &n);
    return n >= CALLBACKS_WIDE;
}

/* Calls VISIT for each object of a local variable, or just below it, that is wide. */
static void visit_wide(struct work *w, void (*visit)(struct work *w, uint32_t node))
{
    const struct gcd_graph *g = w->live.g;
    for (size_t i = 0; i < live_edges_root_count(&w->live); i++) {
        uint32_t node = live_edges_root(&w->live, i);
        if (live_edges_root_group(&w->live, i) != GCD_GROUP_LOCALS || node == GCD_NODE_NONE ||
            bits_get(w->reached, node))
            continue;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        bool itself = is_wide(g, node);
        if (itself)
            visit(w, node);
        for (size_t k = 0; k < n && !itself; k++)
            if (is_wide(g, edges[k]) && !bits_get(w->reached, edges[k]))
                visit(w, edges[k]);
    }
}

static void take_sample(struct work *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->live.g, node, &n);
    for (size_t i = 0; i < SAMPLE; i++)
        bits_set(w->is_snapshot, edges[n / SAMPLE * i]);
    w->any = true;
}

static bool are_most(const struct work *w, uint32_t node, const uint64_t *bits)
{
    size_t n, count = 0;
    const uint32_t *edges = gcd_graph_node_edges(w->live.g, node, &n);
    for (size_t i = 0; i < SAMPLE; i++)
        count += bits_get(bits, edges[n / SAMPLE * i]);
    return count > SAMPLE / 2;
}

static void judge_sample(struct work *w, uint32_t node)
{
    w->any = w->any || are_most(w, node, w->twice);
}

static void mark_snapshot(struct work *w, uint32_t node)
{
    bits_set(w->is_snapshot, node);
}

static void refer(struct work *w, uint32_t node)
{
    if (bits_get(w->is_snapshot, node))
        bits_set(bits_get(w->once, node) ? w->twice : w->once, node);
}

/* Can there be any?  Something else must refer to what it has: a look at the references in the
 * order of memory, which is much faster than to follow them. */
static void look_for_snapshots(struct work *w)
{
    uint32_t nodes = gcd_graph_node_count(w->live.g);
    for (size_t i = 0; i < live_edges_root_count(&w->live); i++)
        if (!gcd_group_is_late(live_edges_root_group(&w->live, i)) &&
            live_edges_root(&w->live, i) != GCD_NODE_NONE)
            bits_set(w->reached, live_edges_root(&w->live, i));
    visit_wide(w, take_sample);
    for (uint32_t node = 0; node < nodes && w->any; node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->live.g, node, &n);
        for (size_t i = 0; i < n; i++)
            refer(w, edges[i]);
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(w->live.g) && w->any; i++)
        refer(w, gcd_graph_dependent(w->live.g, i)->value);
    memset(w->is_snapshot, 0, w->words * sizeof *w->is_snapshot);
    w->any = false;
    visit_wide(w, judge_sample);
    memset(w->reached, 0, w->words * sizeof *w->reached);
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

/* Is there any? */
static bool find_kinds(struct work *w, const struct gcd_summary *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->type_count; i++) {
        w->kinds[i] = (uint8_t)kind_of(&s->types[i]);
        any = any || w->kinds[i] != KIND_NONE;
    }
    return any;
}

/* Follows the roots before the end of the locals but for what is marked. */
static bool walk(struct work *w, struct callbacks *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    w->live.callbacks = c;
    if (w->any && (live_reached(&w->live, GCD_GROUP_LOCALS, NULL, w->reached, &err) != GCD_OK ||
                   !live_edges_cover(&w->live, w->reached)))
        return false;
    if (w->any)
        visit_wide(w, mark_snapshot);
    for (size_t i = 0; i < c->words; i++) {
        w->is_snapshot[i] &= ~c->is_one[i];
        c->is_one[i] |= w->is_snapshot[i];
    }
    return live_reached(&w->live, GCD_GROUP_REFCOUNTED, NULL, w->reached, &err) == GCD_OK;
}

static bool find(struct work *w, struct callbacks *c, const struct gcd_alloc *a)
{
    const struct gcd_graph *g = w->live.g;
    uint32_t nodes = gcd_graph_node_count(g);
    mark(g, w->kinds, KIND_CALLBACK, w->reached, c->is_one);
    if (!walk(w, c))
        return false;
    for (size_t i = 0; i < c->words; i++)
        c->is_one[i] &= ~w->is_snapshot[i];
    mark(g, w->kinds, KIND_CALL, w->reached, c->is_one);
    mark_near(g, w->reached, w->queue, c->is_one);
    for (uint32_t node = 0; node < nodes; node++) {
        if (bits_get(w->is_snapshot, node) && are_most(w, node, w->reached))
            bits_set(c->is_one, node);
        if (!bits_get(c->is_one, node))
            continue;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        if (!add(c, a, edges, n, w->reached, node))
            return false;
    }
    return true;
}

/* *RET stays NULL if all references count. */
static bool fill(struct work *w, struct callbacks *c, const struct gcd_alloc *a, void **ret)
{
    const struct gcd_graph *g = w->live.g;
    look_for_snapshots(w);
    if (!find_kinds(w, gcd_graph_summary(g)) && !w->any)
        return true;
    w->queue = gcd_mem_new_uncleared(a, gcd_graph_node_count(g), sizeof *w->queue);
    bool ok = w->queue != NULL && find(w, c, a);
    gcd_mem_free(a, w->queue, gcd_graph_node_count(g) * sizeof *w->queue);
    *ret = ok ? c : NULL;
    return ok;
}

static bool make(const struct gcd_graph *g, const struct gcd_alloc *a, void **ret)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    struct work w = { .live.alloc = *a, .words = ((size_t)gcd_graph_node_count(g) + 63) / 64 };
    bool rooted = false, ok;
    for (size_t i = 0; i < s->root_count && !rooted; i++)
        rooted = gcd_root_group(&s->roots[i]) <= GCD_GROUP_LOCALS;
    if (!rooted)
        return true;
    struct callbacks *c = gcd_mem_new(a, sizeof *c);
    if (c == NULL)
        return false;
    c->words = w.words;
    c->is_one = gcd_mem_new_array(a, w.words, sizeof *c->is_one);
    w.kinds = gcd_mem_new(a, s->type_count);
    w.reached = gcd_mem_new_array(a, w.words, sizeof *w.reached);
    w.is_snapshot = gcd_mem_new_array(a, w.words, sizeof *w.is_snapshot);
    w.once = gcd_mem_new_array(a, w.words, sizeof *w.once);
    w.twice = gcd_mem_new_array(a, w.words, sizeof *w.twice);
    ok = c->is_one != NULL && w.kinds != NULL && w.reached != NULL && w.is_snapshot != NULL &&
         w.once != NULL && w.twice != NULL && live_edges_init_all(&w.live, g, a) &&
         fill(&w, c, a, ret);
    live_edges_done(&w.live);
    gcd_mem_free(a, w.kinds, s->type_count);
    gcd_mem_free(a, w.reached, w.words * sizeof *w.reached);
    gcd_mem_free(a, w.is_snapshot, w.words * sizeof *w.is_snapshot);
    gcd_mem_free(a, w.once, w.words * sizeof *w.once);
    gcd_mem_free(a, w.twice, w.words * sizeof *w.twice);
    if (*ret == NULL)
        free_callbacks(a, c);
    return ok;
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
