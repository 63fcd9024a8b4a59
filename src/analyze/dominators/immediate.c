/* The immediate dominators of the objects of given types: gcdumpc/unstable/root_order.h. */
#include <string.h>

#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY UINT32_C(65536)

struct immediate {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const uint8_t *types, *skip;
    /* [nodes] the nearest dominator that is not skipped, or GCD_NODE_ROOT */
    uint32_t *above;
    uint64_t *seen; /* dominators already counted */
    struct gcd_dominating_type *ret;
};

/* Dominators come before the nodes they dominate, so above[parent] is already set. */
static uint32_t find_above(const struct immediate *m, uint32_t node)
{
    uint32_t parent = gcd_dominators_parent(m->d, node);
    bool skipped = parent != GCD_NODE_ROOT && m->skip != NULL &&
                   m->skip[gcd_graph_node_type(m->g, parent)] != 0;
    return skipped ? m->above[parent] : parent;
}

static void count(struct immediate *m, uint32_t node, uint32_t dominator)
{
    uint32_t none = gcd_graph_summary(m->g)->type_count;
    struct gcd_dominating_type *to =
        &m->ret[dominator != GCD_NODE_ROOT ? gcd_graph_node_type(m->g, dominator) : none];
    to->objects++;
    gcd_add_saturating(&to->bytes, gcd_graph_node_size(m->g, node));
    if (dominator == GCD_NODE_ROOT || bits_get(m->seen, dominator))
        return;
    bits_set(m->seen, dominator);
    to->dominators++;
    gcd_add_saturating(&to->dominator_bytes, gcd_graph_node_size(m->g, dominator));
}

static gcd_status run(struct immediate *m, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    const uint32_t *order = gcd_dominators_order(m->d);
    uint32_t n = gcd_dominators_reachable(m->d);
    for (uint32_t i = 0; i < n; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        uint32_t above = m->above[order[i]] = find_above(m, order[i]);
        if (m->types[gcd_graph_node_type(m->g, order[i])] != 0)
            count(m, order[i], above);
    }
    return GCD_OK;
}

gcd_status gcd_immediate_dominators(const struct gcd_graph *g, const struct gcd_dominators *d,
                                    const struct gcd_dominators_of *of,
                                    const struct gcd_context *context,
                                    struct gcd_dominating_type *ret, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct immediate m = { .g = g, .d = d, .types = of->types, .skip = of->skip, .ret = ret };
    size_t nodes = gcd_graph_node_count(g), words = (nodes + 63) / 64;
    memset(ret, 0, ((size_t)gcd_graph_summary(g)->type_count + 1) * sizeof *ret);
    m.above = gcd_mem_new_uncleared(&a, nodes, sizeof *m.above);
    m.seen = gcd_mem_new_array(&a, words, sizeof *m.seen);
    bool room = m.above != NULL && m.seen != NULL;
    gcd_status st =
        room ? run(&m, context->cancel, err) : gcd_fail_nomem(err, "finding immediate dominators");
    gcd_mem_free(&a, m.above, nodes * sizeof *m.above);
    gcd_mem_free(&a, m.seen, words * sizeof *m.seen);
    return st;
}
