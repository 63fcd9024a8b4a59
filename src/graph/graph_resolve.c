#include "graph/graph_resolve.h"

#include "base/mem.h"
#include "base/threads/parallel.h"

/* Large enough that the handover cost is negligible, small enough for the second-level cache. */
#define SLOT_TARGETS ((size_t)16384)

void graph_resolver_init(struct graph_resolver *r, struct gcd_graph *g)
{
    r->g = g;
}

static void resolve(struct graph_resolver *r, const struct gcd_slot *slot)
{
    const uint64_t *targets = slot->bytes;
    uint32_t *edges = r->g->edges + slot->at;
    uint64_t dangling = 0;
    for (size_t i = 0; i < slot->used; i += INDEX_BATCH)
        graph_index_find_all(&r->g->index, targets + i,
                             slot->used - i < INDEX_BATCH ? slot->used - i : INDEX_BATCH,
                             edges + i);
    for (size_t i = 0; i < slot->used; i++)
        if (edges[i] == GCD_NODE_NONE) {
            edges[i] = r->g->unknown;
            dangling++;
        }
    atomic_fetch_add_explicit(&r->dangling, dangling, memory_order_relaxed);
}

static void *resolve_all(void *ctx)
{
    struct graph_resolver *r = ctx;
    struct gcd_slot *slot;
    while ((slot = gcd_queue_take(&r->queue)) != NULL) {
        resolve(r, slot);
        gcd_queue_give_back(&r->queue, slot);
    }
    return NULL;
}

/* Without threads the caller resolves. */
static void start_threads(struct graph_resolver *r)
{
    unsigned most = r->g->options.context.threads;
    if (most < 2 || !gcd_queue_init(&r->queue, &r->g->alloc, SLOT_TARGETS * sizeof(uint64_t)))
        return;
    while (r->thread_count < RESOLVE_THREADS && r->thread_count + 1 < most &&
           gcd_thread_start(&r->threads[r->thread_count], 0, resolve_all, r) == 0)
        r->thread_count++;
    if (r->thread_count == 0)
        gcd_queue_done(&r->queue);
}

void graph_resolver_done(struct graph_resolver *r)
{
    if (r->thread_count > 0) {
        gcd_queue_end(&r->queue);
        for (unsigned i = 0; i < r->thread_count; i++)
            (void)pthread_join(r->threads[i], NULL);
        gcd_queue_done(&r->queue);
        r->thread_count = 0;
    }
    gcd_mem_free(&r->g->alloc, r->own.bytes, SLOT_TARGETS * sizeof(uint64_t));
    r->own.bytes = NULL;
    r->slot = NULL;
}

static void pass_on(struct graph_resolver *r)
{
    if (r->slot == &r->own) {
        resolve(r, &r->own);
        if (r->thread_count == 0 && r->own.used == SLOT_TARGETS)
            start_threads(r); /* the first slot is full: more will follow */
    } else {
        gcd_queue_put(&r->queue, r->slot);
    }
    r->slot = r->thread_count > 0 ? gcd_queue_empty(&r->queue) : &r->own;
    r->slot->used = 0;
}

bool graph_resolver_add(struct graph_resolver *r, const uint64_t *targets, size_t n)
{
    if (r->slot == NULL) {
        r->own.bytes = gcd_mem_new_uncleared(&r->g->alloc, SLOT_TARGETS, sizeof(uint64_t));
        if (r->own.bytes == NULL)
            return false;
        r->own.used = 0;
        r->slot = &r->own;
    }
    while (n > 0) {
        struct gcd_slot *slot = r->slot;
        size_t part = n < SLOT_TARGETS - slot->used ? n : SLOT_TARGETS - slot->used;
        if (slot->used == 0)
            slot->at = r->g->edge_count;
        for (size_t i = 0; i < part; i++)
            ((uint64_t *)slot->bytes)[slot->used + i] = targets[i];
        slot->used += part;
        r->g->edge_count += part;
        targets += part;
        n -= part;
        if (slot->used == SLOT_TARGETS)
            pass_on(r);
    }
    return true;
}

void graph_resolver_drain(struct graph_resolver *r)
{
    if (r->slot != NULL && r->slot->used > 0)
        pass_on(r);
    if (r->thread_count > 0)
        gcd_queue_drain(&r->queue);
}
