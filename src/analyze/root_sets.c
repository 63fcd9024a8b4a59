/*
 * Which groups of roots lead to a node is a set of eight bits, and what a node has it hands on.  A node waits in the queue while it has
 * bits that it has not handed on, once at a time: bits are only ever added, so it is met as often as there are groups at most,
 * and mostly once, because the roots of all groups start together.
 */
#include <gcdumpc/root_sets.h>

#include "analyze/flow.h"
#include "base/error.h"
#include "base/mem.h"

struct sets {
    struct flow flow;
    uint32_t nodes;
    uint8_t *has;                /* [nodes] groups that lead there */
    uint8_t *waiting;            /* [nodes] of these, not handed on yet; not 0 = in the queue */
    uint32_t *queue;             /* [nodes], a ring */
    uint32_t first, count;
};

/* More bits than a byte has would need wider sets. */
_Static_assert(GCD_GROUPS <= 8, "a set of groups is a byte");

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void reach(struct sets *s, uint32_t node, uint8_t groups)
{
    uint8_t added = (uint8_t)(groups & ~s->has[node]);
    if (added == 0)
        return;
    s->has[node] |= added;
    if (s->waiting[node] == 0) {
        uint64_t at = (uint64_t)s->first + s->count++;
        s->queue[at >= s->nodes ? at - s->nodes : at] = node;
    }
    s->waiting[node] |= added;
}

static void start(struct sets *s, struct gcd_root_sets *ret)
{
    for (size_t i = 0; i < gcd_graph_root_count(s->flow.g); i++) {
        enum gcd_root_group group = gcd_graph_root_group(gcd_graph_root(s->flow.g, i));
        uint32_t node = flow_root(&s->flow, i);
        ret->groups[group].roots++;
        if (node != GCD_NODE_NONE)
            reach(s, node, (uint8_t)(1u << group));
    }
}

static gcd_status spread(struct sets *s, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    for (uint64_t met = 0; s->count > 0; met++) {
        if ((met & 0xffff) == 0 && cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        uint32_t node = s->queue[s->first], to;
        uint8_t groups = s->waiting[node];
        s->first = s->first + 1 < s->nodes ? s->first + 1 : 0;
        s->count--;
        s->waiting[node] = 0;
        for (uint64_t i = 0; (to = flow_at(&s->flow, node, i)) != GCD_NODE_NONE; i++)
            reach(s, to, groups);
    }
    return GCD_OK;
}

static void count(const struct sets *s, struct gcd_root_sets *ret)
{
    for (uint32_t node = 0; node < s->nodes; node++) {
        uint64_t bytes = gcd_graph_node_size(s->flow.g, node);
        unsigned has = s->has[node];
        if (has == 0) {
            ret->unreachable_objects++;
            ret->unreachable_bytes = sum(ret->unreachable_bytes, bytes);
        } else if ((has & (has - 1)) != 0) {
            ret->shared_objects++;
            ret->shared_bytes = sum(ret->shared_bytes, bytes);
        }
        for (unsigned i = 0; has >> i != 0; i++) {
            struct gcd_root_set *set = &ret->groups[i];
            if ((has >> i & 1) == 0)
                continue;
            set->objects++;
            set->bytes = sum(set->bytes, bytes);
            if (has == 1u << i) {
                set->retained_objects++;
                set->retained_bytes = sum(set->retained_bytes, bytes);
            }
        }
    }
}

static void done(struct sets *s)
{
    const struct gcd_alloc *a = &s->flow.alloc;
    gcd_mem_free(a, s->queue, (size_t)s->nodes * sizeof *s->queue);
    gcd_mem_free(a, s->waiting, s->nodes);
    gcd_mem_free(a, s->has, s->nodes);
    flow_done(&s->flow);
}

gcd_status gcd_root_sets_of(const struct gcd_graph *g, const struct gcd_alloc *alloc, const gcd_cancel_flag *cancel,
                            struct gcd_root_sets *ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct sets s = { .nodes = gcd_graph_node_count(g) };
    struct gcd_root_sets result = { 0 };
    bool ready = flow_init(&s.flow, g, &a);
    if (ready && s.nodes > 0) {
        s.has = gcd_mem_new_array(&a, s.nodes, 1);
        s.waiting = gcd_mem_new_array(&a, s.nodes, 1);
        s.queue = gcd_mem_new_uncleared(&a, s.nodes, sizeof *s.queue);
        ready = s.has != NULL && s.waiting != NULL && s.queue != NULL;
    }
    gcd_status st = ready ? GCD_OK : gcd_fail_nomem(err, "following the roots");
    if (st == GCD_OK) {
        start(&s, &result);
        st = spread(&s, cancel, err);
    }
    if (st == GCD_OK) {
        count(&s, &result);
        *ret = result;
    }
    done(&s);
    return st;
}
