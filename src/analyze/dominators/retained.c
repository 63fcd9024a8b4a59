#include <string.h>

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY UINT32_C(65536)

/* ---- the exact set ---- */

struct walk {
    struct live_edges live;
    const uint8_t *types;
    const gcd_cancel_flag *cancel;
    uint64_t *seen;
    /* [nodes] nodes to follow now, from the start; nodes held back for later, from the end */
    uint32_t *stack;
    uint32_t depth, held_back;
    uint32_t nodes, visited;
    struct gcd_retained_set set;
    struct gcd_content *content; /* [type_count]; NULL = not asked for */
};

static void reach(struct walk *w, uint32_t node)
{
    if (bits_get(w->seen, node))
        return;
    bits_set(w->seen, node);
    if (w->types[gcd_graph_node_type(w->live.g, node)] != 0)
        w->stack[w->nodes - ++w->held_back] = node;
    else
        w->stack[w->depth++] = node;
}

static gcd_status follow(struct walk *w, uint32_t node, struct gcd_error *err)
{
    uint32_t to;
    if (w->visited++ % CHECK_EVERY == 0 && gcd_is_canceled(w->cancel))
        return gcd_fail(err, GCD_E_CANCELED, "interrupted");
    for (uint64_t i = 0; (to = live_edges_at(&w->live, node, i)) != GCD_NODE_NONE; i++)
        reach(w, to);
    return GCD_OK;
}

static void add_content(struct gcd_content *to, uint64_t size)
{
    to->objects++;
    gcd_add_saturating(&to->bytes, size);
}

/* First follows everything but the objects of the types.  What these then add, themselves included,
 * is what they retain. */
static gcd_status walk_group(struct walk *w, bool late, struct gcd_error *err)
{
    for (size_t i = 0; i < live_edges_root_count(&w->live); i++) {
        uint32_t node = live_edges_root(&w->live, i);
        if (node != GCD_NODE_NONE && gcd_group_is_late(live_edges_root_group(&w->live, i)) == late)
            reach(w, node);
    }
    while (w->depth > 0)
        GCD_TRY(follow(w, w->stack[--w->depth], err));
    while (w->depth > 0 || w->held_back > 0) {
        bool own = w->depth == 0;
        uint32_t node = own ? w->stack[w->nodes - w->held_back--] : w->stack[--w->depth];
        uint64_t size = gcd_graph_node_size(w->live.g, node);
        w->set.retained_objects++;
        gcd_add_saturating(&w->set.retained_bytes, size);
        w->set.objects += own;
        gcd_add_saturating(&w->set.bytes, own ? size : 0);
        if (w->content != NULL)
            add_content(&w->content[gcd_graph_node_type(w->live.g, node)], size);
        GCD_TRY(follow(w, node, err));
    }
    return GCD_OK;
}

/* Late roots do not count for what others reach, though it be through objects of the types. */
static gcd_status walk(struct walk *w, struct gcd_error *err)
{
    GCD_TRY(walk_group(w, false, err));
    if (!live_edges_cover(&w->live, w->seen))
        return gcd_fail_nomem(err, "finding what types retain");
    return walk_group(w, true, err);
}

gcd_status gcd_retained_content(const struct gcd_graph *g, const uint8_t *types,
                                const struct gcd_context *context, struct gcd_retained_set *ret,
                                struct gcd_content *ret_content, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct walk w = { .types = types,
                      .cancel = context->cancel,
                      .nodes = gcd_graph_node_count(g),
                      .content = ret_content };
    size_t words = ((size_t)w.nodes + 63) / 64;
    if (ret_content != NULL)
        memset(ret_content, 0, (size_t)gcd_graph_summary(g)->type_count * sizeof *ret_content);
    w.seen = gcd_mem_new_array(&a, words, sizeof *w.seen);
    w.stack = gcd_mem_new_uncleared(&a, w.nodes, sizeof *w.stack);
    bool ok = live_edges_init(&w.live, g, &a) && w.seen != NULL && w.stack != NULL;
    gcd_status st = ok ? walk(&w, err) : gcd_fail_nomem(err, "finding what types retain");
    live_edges_done(&w.live);
    gcd_mem_free(&a, w.seen, words * sizeof *w.seen);
    gcd_mem_free(&a, w.stack, w.nodes * sizeof *w.stack);
    if (st == GCD_OK)
        *ret = w.set;
    return st;
}

gcd_status gcd_retained_set(const struct gcd_graph *g, const uint8_t *types,
                            const struct gcd_context *context, struct gcd_retained_set *ret,
                            struct gcd_error *err)
{
    return gcd_retained_content(g, types, context, ret, NULL, err);
}

/* ---- the largest objects ---- */

/* Does X retain less than Y?  If the sizes are equal, the later node counts as less. */
static bool less(const struct gcd_dominators *d, uint32_t x, uint32_t y)
{
    uint64_t a = dominators_retained(d, x), b = dominators_retained(d, y);
    return a != b ? a < b : x > y;
}

/* Puts NODE into the min-heap HEAP[N] at AT and sifts it down. */
static void sink(const struct gcd_dominators *d, uint32_t *heap, uint32_t n, uint32_t at,
                 uint32_t node)
{
    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < n; at = (uint32_t)child) {
        if (child + 1 < n && less(d, heap[child + 1], heap[child]))
            child++;
        if (!less(d, heap[child], node))
            break;
        heap[at] = heap[child];
    }
    heap[at] = node;
}

void gcd_retained_largest(const struct gcd_graph *g, const struct gcd_dominators *d,
                          const uint8_t *types, uint64_t min_bytes, uint32_t *ret_nodes,
                          uint32_t *n)
{
    uint32_t count = 0, room = *n;
    for (uint32_t node = 0; node < gcd_graph_node_count(g) && room > 0; node++) {
        if (d->parent[node] == GCD_NODE_NONE || dominators_retained(d, node) < min_bytes ||
            (types != NULL && types[gcd_graph_node_type(g, node)] == 0))
            continue;
        if (count < room) {
            ret_nodes[count++] = node;
            for (uint32_t i = count == room ? room / 2 : 0; i-- > 0;) /* full: make it a heap */
                sink(d, ret_nodes, room, i, ret_nodes[i]);
        } else if (less(d, ret_nodes[0], node)) {
            sink(d, ret_nodes, room, 0, node);
        }
    }
    for (uint32_t i = count < room ? count / 2 : 0; i-- > 0;)
        sink(d, ret_nodes, count, i, ret_nodes[i]);
    for (uint32_t left = count; left > 1; left--) { /* the least goes last */
        uint32_t least = ret_nodes[0], last = ret_nodes[left - 1];
        sink(d, ret_nodes, left - 1, 0, last);
        ret_nodes[left - 1] = least;
    }
    *n = count;
}
