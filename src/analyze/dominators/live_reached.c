#include "analyze/dominators/live_reached.h"

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)

/* Nearly all time is spent waiting for memory: the references of this many nodes are prefetched. */
#define AHEAD 16u

struct walk {
    const struct live_edges *live;
    uint32_t nodes;
    size_t words;
    uint64_t *reached;
    uint64_t *is_inner; /* one bit per node: keeps others alive */
    /* [inner + 1] each inner node enters it once; a leaf is written at the end before it is dropped
     */
    uint32_t *queue;
    /* number of inner nodes; number of those that have entered the queue */
    uint32_t inner, waiting;
};

static bool init(struct walk *w, const struct gcd_alloc *a)
{
    w->nodes = gcd_graph_node_count(w->live->g);
    w->words = ((size_t)w->nodes + 63) / 64;
    w->is_inner = gcd_mem_new_array(a, w->words, sizeof *w->is_inner);
    if (w->is_inner == NULL)
        return false;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (live_edges_any(w->live, node)) {
            bits_set(w->is_inner, node);
            w->inner++;
        }
    }
    w->queue = gcd_mem_new_uncleared(a, (size_t)w->inner + 1, sizeof *w->queue);
    return w->queue != NULL;
}

static void done(struct walk *w, const struct gcd_alloc *a)
{
    gcd_mem_free(a, w->queue, ((size_t)w->inner + 1) * sizeof *w->queue);
    gcd_mem_free(a, w->is_inner, w->words * sizeof *w->is_inner);
}

static void reach(struct walk *w, uint32_t node)
{
    if (bits_get(w->reached, node))
        return;
    bits_set(w->reached, node);
    w->queue[w->waiting] = node;
    w->waiting += bits_get(w->is_inner, node);
}

static gcd_status follow(struct walk *w, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    for (uint32_t at = 0; at < w->waiting; at++) {
        uint32_t node = w->queue[at], to;
        size_t n;
        if (w->waiting - at > AHEAD)
            __builtin_prefetch(gcd_graph_node_edges(w->live->g, w->queue[at + AHEAD], &n));
        const uint32_t *edges = live_edges_of(w->live, node, &n);
        if (at % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        for (size_t i = 0; i < n; i++)
            reach(w, edges[i]);
        for (uint64_t i = 0; (to = live_edges_value(w->live, node, i)) != GCD_NODE_NONE; i++)
            reach(w, to);
    }
    return GCD_OK;
}

gcd_status live_reached(const struct live_edges *f, enum gcd_root_group limit,
                        const gcd_cancel_flag *cancel, uint64_t *reached, struct gcd_error *err)
{
    struct walk w = { .live = f, .reached = reached };
    gcd_status st = init(&w, &f->alloc) ? GCD_OK : gcd_fail_nomem(err, "following the roots");
    for (size_t i = 0; st == GCD_OK && i < live_edges_root_count(f); i++)
        if (live_edges_root_group(f, i) < limit && live_edges_root(f, i) != GCD_NODE_NONE)
            reach(&w, live_edges_root(f, i));
    if (st == GCD_OK)
        st = follow(&w, cancel, err);
    done(&w, &f->alloc);
    return st;
}
