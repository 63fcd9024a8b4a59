#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)

struct walk {
    struct live_edges live;
    uint64_t *reached;
    uint32_t *stack;             /* [nodes]: each node enters it once */
    size_t depth;
};

static void reach(struct walk *w, uint32_t node)
{
    if (bits_get(w->reached, node))
        return;
    bits_set(w->reached, node);
    w->stack[w->depth++] = node;
}

static gcd_status follow(struct walk *w, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    for (uint64_t met = 0; w->depth > 0; met++) {
        uint32_t node = w->stack[--w->depth], to;
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->live.g, node, &n);
        if (met % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        for (size_t i = 0; i < n; i++)
            reach(w, edges[i]);
        for (uint64_t i = n; (to = live_edges_at(&w->live, node, i)) != GCD_NODE_NONE; i++)
            reach(w, to);
    }
    return GCD_OK;
}

gcd_status gcd_reached_before(const struct gcd_graph *g, enum gcd_root_group limit, const struct gcd_context *context, uint64_t *reached,
                              struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct walk w = { .reached = reached };
    uint32_t nodes = gcd_graph_node_count(g);
    if (nodes == 0)
        return GCD_OK;
    bool ready = live_edges_init(&w.live, g, &a);
    w.stack = ready ? gcd_mem_new_uncleared(&a, nodes, sizeof *w.stack) : NULL;
    gcd_status st = w.stack != NULL ? GCD_OK : gcd_fail_nomem(err, "following the roots");
    for (size_t i = 0; i < live_edges_root_count(&w.live) && st == GCD_OK; i++)
        if (live_edges_root_group(&w.live, i) < limit)
            reach(&w, live_edges_root(&w.live, i));
    if (st == GCD_OK)
        st = follow(&w, context->cancel, err);
    gcd_mem_free(&a, w.stack, (size_t)nodes * sizeof *w.stack);
    live_edges_done(&w.live);
    return st;
}
