/*
 * What only operations keep alive: first everything that the roots reach without operations is
 * marked, then what each operation adds to that. An object that several operations reach counts for
 * the first of them in the order of the dump, so the sum over all is exact.
 */
#include "analyze/async/async.h"
#include "analyze/dominators/live_edges.h"

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY UINT32_C(65536)
/* Nearly all time is spent waiting for memory: the references of this many nodes are prefetched. */
#define AHEAD 16u

struct walk {
    struct live_edges live;
    const struct async *a;
    uint64_t *reached;
    uint64_t *is_inner; /* one bit per node: keeps others alive */
    /* [inner + 1] each inner node enters it once; a leaf is written at the end before it is dropped
     */
    uint32_t *queue;
    uint32_t inner, begin, end; /* number of inner nodes; the waiting part of the queue */
    uint64_t bytes;             /* of all reached objects */
    uint32_t steps;
};

static bool init(struct walk *w)
{
    const struct async *a = w->a;
    size_t n;
    w->reached = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *w->reached);
    w->is_inner = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *w->is_inner);
    if (w->reached == NULL || w->is_inner == NULL || !live_edges_init(&w->live, a->g, &a->alloc))
        return false;
    for (uint32_t node = 0; node < a->nodes; node++) {
        (void)gcd_graph_node_edges(a->g, node, &n);
        if (n > 0 || (w->live.is_key != NULL && bits_get(w->live.is_key, node))) {
            bits_set(w->is_inner, node);
            w->inner++;
        }
    }
    w->queue = gcd_mem_new_uncleared(&a->alloc, (size_t)w->inner + 1, sizeof *w->queue);
    return w->queue != NULL;
}

static void done(struct walk *w)
{
    const struct async *a = w->a;
    gcd_mem_free(&a->alloc, w->queue, ((size_t)w->inner + 1) * sizeof *w->queue);
    gcd_mem_free(&a->alloc, w->is_inner, (a->words + 1) * sizeof *w->is_inner);
    gcd_mem_free(&a->alloc, w->reached, (a->words + 1) * sizeof *w->reached);
    live_edges_done(&w->live);
}

static void enter(struct walk *w, uint32_t node)
{
    bits_set(w->reached, node);
    w->queue[w->end] = node;
    w->end += bits_get(w->is_inner, node);
}

static void reach(struct walk *w, uint32_t node, bool counted)
{
    if (bits_get(w->reached, node) || bits_get(w->a->is_op, node))
        return;
    enter(w, node);
    if (counted)
        gcd_add_saturating(&w->bytes, gcd_graph_node_size(w->a->g, node));
}

static gcd_status follow(struct walk *w, bool counted, struct gcd_error *err)
{
    while (w->begin < w->end) {
        uint32_t node = w->queue[w->begin++], to;
        size_t n;
        if (w->end - w->begin > AHEAD)
            __builtin_prefetch(gcd_graph_node_edges(w->a->g, w->queue[w->begin + AHEAD], &n));
        const uint32_t *edges = gcd_graph_node_edges(w->a->g, node, &n);
        if (w->steps++ % CHECK_EVERY == 0)
            GCD_TRY(gcd_context_step(w->a->context, UINT64_C(2) * w->a->nodes + w->steps,
                                     UINT64_C(3) * w->a->nodes, err));
        for (size_t i = 0; i < n; i++)
            reach(w, edges[i], counted);
        for (uint64_t i = 0; (to = live_edges_value(&w->live, node, i)) != GCD_NODE_NONE; i++)
            reach(w, to, counted);
    }
    return GCD_OK;
}

static gcd_status walk(struct walk *w, uint64_t *bytes, struct gcd_error *err)
{
    const struct async *a = w->a;
    for (size_t i = 0; i < live_edges_root_count(&w->live); i++)
        if (live_edges_root(&w->live, i) != GCD_NODE_NONE)
            reach(w, live_edges_root(&w->live, i), false);
    GCD_TRY(follow(w, false, err));
    for (uint32_t op = 0; op < a->op_count; op++) {
        w->bytes = gcd_graph_node_size(a->g, a->ops[op].node);
        enter(w, a->ops[op].node);
        GCD_TRY(follow(w, true, err));
        bytes[op] = w->bytes;
    }
    return GCD_OK;
}

gcd_status async_bytes(struct async *a, struct gcd_error *err)
{
    struct walk w = { .live = { .alloc = a->alloc }, .a = a };
    a->bytes = gcd_mem_new_array(&a->alloc, a->op_count + 1, sizeof *a->bytes);
    if ((a->op_count == 0 || !a->wants_bytes) && a->bytes != NULL)
        return GCD_OK;
    gcd_status st = a->bytes != NULL && init(&w)
                        ? walk(&w, a->bytes, err)
                        : gcd_fail_nomem(err, "finding what operations keep alive");
    done(&w);
    return st;
}
