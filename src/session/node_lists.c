#include "session/node_lists.h"

#include <string.h>

#include <gcdumpc/unstable/session/radix_sort.h>

#include "base/context.h"
#include "base/mem.h"

/* Nodes between two checks of the cancel flag. */
#define NODES_PER_STEP (UINT32_C(1) << 16)

struct maker {
    const struct node_lists_question *q;
    const struct gcd_context *context;
    struct node_lists *lists;
    uint32_t nodes;
};

/* The keys of NODE, [*RET_N].  ONE: room for one key. */
static const uint32_t *keys_of(const struct maker *m, uint32_t node, uint32_t *one, size_t *ret_n)
{
    *ret_n = 1;
    if (m->q->key == KEY_TARGETS)
        return gcd_graph_node_edges(m->q->graph, node, ret_n);
    if (m->q->key == KEY_TYPE) {
        *one = gcd_graph_node_type(m->q->graph, node);
        return one;
    }
    uint32_t parent = gcd_dominators_parent(m->q->dominators, node);
    *ret_n = parent != GCD_NODE_NONE;
    *one = parent == GCD_NODE_ROOT ? m->nodes : parent;
    return one;
}

static gcd_status step(const struct maker *m, uint32_t node, unsigned pass, struct gcd_error *err)
{
    if (node % NODES_PER_STEP != 0)
        return GCD_OK;
    return gcd_context_step(m->context, (uint64_t)pass * m->nodes + node, UINT64_C(2) * m->nodes,
                            err);
}

static gcd_status count(const struct maker *m, struct gcd_error *err)
{
    uint64_t *starts = m->lists->starts;
    size_t n;
    for (uint32_t node = 0, one; node < m->nodes; node++) {
        GCD_TRY(step(m, node, 0, err));
        const uint32_t *keys = keys_of(m, node, &one, &n);
        if (m->q->slots && n > UINT32_MAX)
            return gcd_fail(err, GCD_E_LIMIT, "an object has more than 2^32 references");
        for (size_t i = 0; i < n; i++)
            starts[keys[i]]++;
    }
    for (uint64_t k = 0, sum = 0; k <= m->lists->keys; k++) {
        uint64_t here = starts[k];
        starts[k] = sum;
        sum += here;
    }
    m->lists->count = starts[m->lists->keys];
    return GCD_OK;
}

/* Each start moves to the end of its list, which is the start of the next one. */
static gcd_status fill(const struct maker *m, struct gcd_error *err)
{
    uint64_t *starts = m->lists->starts;
    uint32_t *items = m->lists->items;
    size_t n;
    for (uint32_t node = 0, one; node < m->nodes; node++) {
        GCD_TRY(step(m, node, 1, err));
        const uint32_t *keys = keys_of(m, node, &one, &n);
        for (size_t i = 0; i < n; i++)
            items[starts[keys[i]]++] = m->q->slots ? (uint32_t)i : node;
    }
    for (uint64_t k = m->lists->keys; k > 0; k--)
        starts[k] = starts[k - 1];
    starts[0] = 0;
    return GCD_OK;
}

gcd_status node_lists_init(struct node_lists *l, const struct node_lists_question *q,
                           const struct gcd_context *context, struct gcd_error *err)
{
    struct maker m = {
        .q = q, .context = context, .lists = l, .nodes = gcd_graph_node_count(q->graph)
    };
    *l = (struct node_lists){ .keys = q->key == KEY_TYPE ? gcd_graph_summary(q->graph)->type_count
                                                         : (uint64_t)m.nodes + 1 };
    gcd_status st = GCD_E_NOMEM;
    if (l->keys + 1 <= SIZE_MAX)
        l->starts = gcd_mem_new_array(context->alloc, (size_t)l->keys + 1, sizeof *l->starts);
    if (l->starts != NULL)
        st = count(&m, err);
    if (st == GCD_OK && l->count > 0) {
        l->items = l->count <= SIZE_MAX
                       ? gcd_mem_new_uncleared(context->alloc, (size_t)l->count, sizeof *l->items)
                       : NULL;
        st = l->items != NULL ? fill(&m, err) : GCD_E_NOMEM;
    }
    if (st == GCD_E_NOMEM)
        (void)gcd_fail_nomem(err, "listing objects");
    if (st == GCD_OK)
        gcd_context_report(context, UINT64_C(2) * m.nodes, UINT64_C(2) * m.nodes);
    else
        node_lists_done(l, context->alloc);
    return st;
}

void node_lists_done(struct node_lists *l, const struct gcd_alloc *alloc)
{
    if (l->starts != NULL)
        gcd_mem_free(alloc, l->starts, ((size_t)l->keys + 1) * sizeof *l->starts);
    gcd_mem_free(alloc, l->items, (size_t)l->count * sizeof *l->items);
    *l = (struct node_lists){ .starts = NULL };
}

/* ---- largest first ---- */

/* Distributes the sorted items to their lists.  AT[keys] begins as a copy of the starts, because
 * other threads read those meanwhile. */
static void hand_out(const struct node_lists *l, const struct gcd_dominators *d,
                     const struct gcd_keyed *items, uint64_t *at, uint32_t *ret)
{
    for (size_t i = 0; i < l->count; i++) {
        uint32_t parent = gcd_dominators_parent(d, items[i].id);
        ret[at[parent == GCD_NODE_ROOT ? l->keys - 1 : parent]++] = items[i].id;
    }
}

/* Both ITEMS have room for all items, AT for all keys. */
static gcd_status reorder(const struct node_lists *l, const struct gcd_dominators *d,
                          const struct gcd_context *context, struct gcd_keyed *items[2],
                          uint32_t *ret, struct gcd_error *err)
{
    size_t n = (size_t)l->count, keys = (size_t)l->keys;
    for (size_t i = 0; i < n; i++)
        items[0][i] = (struct gcd_keyed){ gcd_dominators_retained(d, l->items[i]), l->items[i] };
    GCD_TRY(gcd_radix_sort(&items[0], &items[1], n, context,
                           (const uint64_t[]){ 0, GCD_RADIX_ROUNDS + 1 }, err));
    uint64_t *at = gcd_mem_new_uncleared(context->alloc, keys, sizeof *at);
    if (at == NULL)
        return gcd_fail_nomem(err, "sorting objects");
    memcpy(at, l->starts, keys * sizeof *at);
    hand_out(l, d, items[0], at, ret);
    gcd_mem_free(context->alloc, at, keys * sizeof *at);
    return GCD_OK;
}

gcd_status node_lists_largest_first(const struct node_lists *l, const struct gcd_dominators *d,
                                    const struct gcd_context *context, uint32_t **ret,
                                    struct gcd_error *err)
{
    size_t n = (size_t)l->count;
    struct gcd_keyed *items[2];
    *ret = NULL;
    if (n == 0)
        return GCD_OK;
    *ret = gcd_mem_new_uncleared(context->alloc, n, sizeof **ret);
    for (size_t i = 0; i < 2; i++)
        items[i] = gcd_mem_new_uncleared(context->alloc, n, sizeof *items[i]);
    gcd_status st = GCD_OK;
    if (*ret == NULL || items[0] == NULL || items[1] == NULL)
        st = gcd_fail_nomem(err, "sorting objects");
    if (st == GCD_OK)
        st = reorder(l, d, context, items, *ret, err);
    for (size_t i = 0; i < 2; i++)
        gcd_mem_free(context->alloc, items[i], n * sizeof *items[i]);
    if (st != GCD_OK) {
        gcd_mem_free(context->alloc, *ret, n * sizeof **ret);
        *ret = NULL;
    }
    return st;
}
