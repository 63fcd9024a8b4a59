#include "graph/graph_resolve.h"

#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"

/* A box has enough work that handing it over costs nothing beside it, and fits into the second-level cache. */
#define BOX_TARGETS ((size_t)16384)

void graph_resolver_init(struct graph_resolver *r, struct gcd_graph *g)
{
    r->g = g;
}

static void resolve(struct graph_resolver *r, const struct gcd_box *box)
{
    const uint64_t *targets = box->bytes;
    uint32_t *edges = r->g->edges + box->at;
    uint64_t dangling = 0;
    for (size_t i = 0; i < box->used; i += INDEX_BATCH)
        graph_index_find_all(&r->g->index, targets + i, box->used - i < INDEX_BATCH ? box->used - i : INDEX_BATCH, edges + i);
    for (size_t i = 0; i < box->used; i++)
        if (edges[i] == GCD_NODE_NONE) {
            edges[i] = r->g->unknown;
            dangling++;
        }
    atomic_fetch_add_explicit(&r->dangling, dangling, memory_order_relaxed);
}

static void *resolve_all(void *ctx)
{
    struct graph_resolver *r = ctx;
    struct gcd_box *box;
    while ((box = gcd_belt_take(&r->belt)) != NULL) {
        resolve(r, box);
        gcd_belt_give_back(&r->belt, box);
    }
    return NULL;
}

/* Not having threads is no failure. */
static void start_threads(struct graph_resolver *r)
{
    unsigned most = r->g->options.threads;
    if (most < 2 || !gcd_belt_init(&r->belt, &r->g->alloc, BOX_TARGETS * sizeof(uint64_t)))
        return;
    while (r->thread_count < RESOLVE_THREADS && r->thread_count + 1 < most &&
           gcd_thread_start(&r->threads[r->thread_count], 0, resolve_all, r) == 0)
        r->thread_count++;
    if (r->thread_count == 0)
        gcd_belt_done(&r->belt);
}

void graph_resolver_done(struct graph_resolver *r)
{
    if (r->thread_count > 0) {
        gcd_belt_end(&r->belt);
        for (unsigned i = 0; i < r->thread_count; i++)
            (void)pthread_join(r->threads[i], NULL);
        gcd_belt_done(&r->belt);
        r->thread_count = 0;
    }
    gcd_mem_free(&r->g->alloc, r->own.bytes, BOX_TARGETS * sizeof(uint64_t));
    r->own.bytes = NULL;
    r->box = NULL;
}

static void pass_on(struct graph_resolver *r)
{
    if (r->box == &r->own) {
        resolve(r, &r->own);
        if (r->thread_count == 0 && r->own.used == BOX_TARGETS)
            start_threads(r);            /* the first is full: more will come */
    } else {
        gcd_belt_put(&r->belt, r->box);
    }
    r->box = r->thread_count > 0 ? gcd_belt_empty(&r->belt) : &r->own;
    r->box->used = 0;
}

bool graph_resolver_add(struct graph_resolver *r, const uint64_t *targets, size_t n)
{
    if (r->box == NULL) {
        r->own.bytes = gcd_mem_new_uncleared(&r->g->alloc, BOX_TARGETS, sizeof(uint64_t));
        if (r->own.bytes == NULL)
            return false;
        r->own.used = 0;
        r->box = &r->own;
    }
    while (n > 0) {
        struct gcd_box *box = r->box;
        size_t part = n < BOX_TARGETS - box->used ? n : BOX_TARGETS - box->used;
        if (box->used == 0)
            box->at = r->g->edge_count;
        for (size_t i = 0; i < part; i++)
            ((uint64_t *)box->bytes)[box->used + i] = targets[i];
        box->used += part;
        r->g->edge_count += part;
        targets += part;
        n -= part;
        if (box->used == BOX_TARGETS)
            pass_on(r);
    }
    return true;
}

void graph_resolver_settle(struct graph_resolver *r)
{
    if (r->box != NULL && r->box->used > 0)
        pass_on(r);
    if (r->thread_count > 0)
        gcd_belt_settle(&r->belt);
}
