/*
 * The groups of roots that reach a node are a set of eight bits, which the node passes on to the
 * nodes it keeps alive.  A node is pending while it has bits that are not yet passed on.  Bits are
 * only added, so a node is visited at most once per group.
 *
 * The first passes sweep the graph from end to end: references mostly point to neighbours, and
 * sequential memory access is several times faster than a queue.  Nodes still pending then (far
 * ends of long chains) go through a queue, which has no bad case.
 */
#include <gcdumpc/root_sets.h>

#include <gcdumpc/generations.h>

#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

struct mark {
    uint8_t has;     /* groups that reach it */
    uint8_t waiting; /* of these, not passed on yet */
};

struct sets {
    struct live_edges live;
    uint32_t nodes;
    struct mark *marks; /* [nodes] */
    uint32_t *queue;    /* [nodes], a ring; NULL during the sweeps */
    uint32_t first, count;
};

/* Sweeps alternate between forward and backward: a chain in either direction needs one of each. */
#define SWEEPS      8u
#define CHECK_EVERY UINT32_C(65536)

/* More than eight groups would need wider sets. */
_Static_assert(GCD_GROUPS <= 8, "a set of groups is a byte");

static void reach(struct sets *s, uint32_t node, uint8_t groups)
{
    struct mark *m = &s->marks[node];
    uint8_t added = (uint8_t)(groups & ~m->has);
    if (added == 0)
        return;
    m->has |= added;
    if (m->waiting == 0 && s->queue != NULL) {
        uint64_t at = (uint64_t)s->first + s->count++;
        s->queue[at >= s->nodes ? at - s->nodes : at] = node;
    }
    m->waiting |= added;
}

/* Weak roots keep nothing alive, so the bit of their group is free for pseudo-roots. */
#define PSEUDO_ROOT_BIT (1u << GCD_GROUP_WEAK)

static void start(struct sets *s, struct gcd_root_sets *ret)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->live.g);
    bool roots = s->live.pseudo_roots == NULL;
    for (size_t i = 0; i < summary->root_count; i++)
        ret->groups[gcd_root_group(&summary->roots[i])].roots++;
    for (size_t i = 0; i < live_edges_root_count(&s->live); i++) {
        uint32_t node = live_edges_root(&s->live, i);
        unsigned bit = roots ? 1u << gcd_root_group(&summary->roots[i]) : PSEUDO_ROOT_BIT;
        if (node != GCD_NODE_NONE)
            reach(s, node, (uint8_t)bit);
    }
    ret->pseudo_roots.roots = roots ? 0 : live_edges_root_count(&s->live);
}

static gcd_status check(uint64_t met, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    bool stop = met % CHECK_EVERY == 0 && gcd_is_canceled(cancel);
    return stop ? gcd_fail(err, GCD_E_CANCELED, "interrupted") : GCD_OK;
}

static void hand_on(struct sets *s, uint32_t node)
{
    uint8_t groups = s->marks[node].waiting;
    size_t n;
    const uint32_t *edges = live_edges_of(&s->live, node, &n);
    s->marks[node].waiting = 0;
    for (size_t i = 0; i < n; i++)
        reach(s, edges[i], groups);
    uint32_t to;
    for (uint64_t i = 0; (to = live_edges_value(&s->live, node, i)) != GCD_NODE_NONE; i++)
        reach(s, to, groups);
}

static gcd_status sweep(struct sets *s, bool back, const gcd_cancel_flag *cancel,
                        struct gcd_error *err)
{
    for (uint32_t i = 0; i < s->nodes; i++) {
        uint32_t node = back ? s->nodes - 1 - i : i;
        GCD_TRY(check(i, cancel, err));
        if (s->marks[node].waiting != 0)
            hand_on(s, node);
    }
    return GCD_OK;
}

static gcd_status spread(struct sets *s, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    for (unsigned i = 0; i < SWEEPS; i++)
        GCD_TRY(sweep(s, i % 2 != 0, cancel, err));
    s->queue = gcd_mem_new_uncleared(&s->live.alloc, s->nodes, sizeof *s->queue);
    if (s->queue == NULL && s->nodes > 0)
        return gcd_fail_nomem(err, "following the roots");
    for (uint32_t i = 0; i < s->nodes; i++)
        if (s->marks[i].waiting != 0)
            s->queue[s->count++] = i;
    for (uint64_t met = 0; s->count > 0; met++) {
        GCD_TRY(check(met, cancel, err));
        uint32_t node = s->queue[s->first];
        s->first = s->first + 1 < s->nodes ? s->first + 1 : 0;
        s->count--;
        hand_on(s, node);
    }
    return GCD_OK;
}

/* AGES: NULL = which objects are frozen is not known. */
static void count_dead(const struct gcd_graph *g, uint32_t node, const struct gcd_generations *ages,
                       size_t *hint, struct gcd_root_sets *ret)
{
    bool frozen = gcd_is_frozen(ages, gcd_graph_node_address(g, node), hint);
    (*(frozen ? &ret->frozen_objects : &ret->unreachable_objects))++;
    gcd_add_saturating(frozen ? &ret->frozen_bytes : &ret->unreachable_bytes,
                       gcd_graph_node_size(g, node));
}

static void count(const struct sets *s, const struct gcd_generations *ages,
                  struct gcd_root_sets *ret)
{
    size_t hint = 0;
    for (uint32_t node = 0; node < s->nodes; node++) {
        uint64_t bytes = gcd_graph_node_size(s->live.g, node);
        unsigned has = s->marks[node].has;
        if (has == 0) {
            count_dead(s->live.g, node, ages, &hint, ret);
        } else if ((has & (has - 1)) != 0) {
            ret->shared_objects++;
            gcd_add_saturating(&ret->shared_bytes, bytes);
        }
        bool claimed = false;
        for (unsigned i = 0; has >> i != 0; i++) {
            struct gcd_root_set *set = i == GCD_GROUP_WEAK ? &ret->pseudo_roots : &ret->groups[i];
            if ((has >> i & 1) == 0)
                continue;
            set->objects++;
            gcd_add_saturating(&set->bytes, bytes);
            if (!claimed) {
                set->claimed_objects++;
                gcd_add_saturating(&set->claimed_bytes, bytes);
                claimed = true;
            }
            if (has == 1u << i) {
                set->retained_objects++;
                gcd_add_saturating(&set->retained_bytes, bytes);
            }
        }
    }
}

static void done(struct sets *s)
{
    const struct gcd_alloc *a = &s->live.alloc;
    gcd_mem_free(a, s->queue, (size_t)s->nodes * sizeof *s->queue);
    gcd_mem_free(a, s->marks, (size_t)s->nodes * sizeof *s->marks);
    live_edges_done(&s->live);
}

gcd_status gcd_root_sets_of(const struct gcd_graph *g, const struct gcd_context *context,
                            struct gcd_root_sets *ret, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct sets s = { .nodes = gcd_graph_node_count(g) };
    struct gcd_root_sets result = { 0 };
    struct gcd_generations *ages = NULL;
    bool ready = live_edges_init(&s.live, g, &a);
    if (ready && s.nodes > 0) {
        s.marks = gcd_mem_new_array(&a, s.nodes, sizeof *s.marks);
        ready = s.marks != NULL;
    }
    gcd_status st = ready ? GCD_OK : gcd_fail_nomem(err, "following the roots");
    if (st == GCD_OK) {
        start(&s, &result);
        st = spread(&s, context->cancel, err);
    }
    if (st == GCD_OK)
        st = gcd_frozen_new(gcd_graph_summary(g), (uint32_t)(result.pseudo_roots.roots > 0), &a,
                            &ages, err);
    if (st == GCD_OK) {
        count(&s, ages, &result);
        *ret = result;
    }
    gcd_generations_free(ages);
    done(&s);
    return st;
}
