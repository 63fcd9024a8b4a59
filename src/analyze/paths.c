#include <gcdumpc/paths.h>

#include <string.h>

#include <gcdumpc/unstable/paths_around.h>
#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/live_edges.h"
#include "analyze/fetch_ahead.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/threads/locked_alloc.h"
#include "base/threads/parallel.h"

#define CHECK_EVERY UINT32_C(65536)

struct gcd_paths {
    struct gcd_alloc alloc;
    struct live_edges live;
    uint32_t node_count, reachable;
    uint32_t pseudo_roots; /* pseudo-roots */
    uint32_t *parent;      /* [node_count] */
    uint32_t *order;       /* [node_count] */
};

/* The search.  A node that keeps nothing alive (four of ten in a typical heap) is in the order, but
 * never enters the queue. */
struct search {
    struct gcd_paths *p;
    uint64_t *is_inner; /* one bit per node: keeps others alive */
    size_t words;
    uint32_t *queue; /* [inner] */
    /* number of inner nodes; number of those that have entered the queue */
    uint32_t inner, waiting;
    /* nodes of these types enter the queue only when it is empty; NULL = of none */
    const uint8_t *last_types;
    uint32_t *last; /* [inner] */
    uint32_t last_count;
};

/* Branch-free for leaves, because the branch would be unpredictable. */
static void reach(struct search *s, uint32_t node, uint32_t parent)
{
    struct gcd_paths *p = s->p;
    if (p->parent[node] != GCD_NODE_NONE)
        return;
    p->parent[node] = parent;
    p->order[p->reachable++] = node;
    if (s->last_types != NULL && s->last_types[gcd_graph_node_type(p->live.g, node)] != 0) {
        s->last[s->last_count] = node;
        s->last_count += bits_get(s->is_inner, node);
        return;
    }
    s->queue[s->waiting] = node;
    s->waiting += bits_get(s->is_inner, node);
}

static void find_inner(struct search *s)
{
    const struct live_edges *f = &s->p->live;
    for (uint32_t node = 0; node < s->p->node_count; node++) {
        uint64_t inner = live_edges_any(f, node);
        s->is_inner[node >> 6] |= inner << (node & 63);
        s->inner += (uint32_t)inner;
    }
}

static void reach_roots(struct search *s, enum gcd_root_group group)
{
    const struct live_edges *f = &s->p->live;
    for (size_t i = 0; i < live_edges_root_count(f); i++)
        if (live_edges_root_group(f, i) == group && live_edges_root(f, i) != GCD_NODE_NONE)
            reach(s, live_edges_root(f, i), GCD_NODE_ROOT);
}

/* Empties the queue; the first *DONE nodes have been followed before. */
static gcd_status follow_queue(struct search *s, uint32_t *done, const struct gcd_context *context,
                               struct gcd_error *err)
{
    const struct gcd_paths *p = s->p;
    for (; *done < s->waiting; ++*done) {
        uint32_t at = *done, node = s->queue[at], to;
        size_t n;
        fetch_ahead(p->live.g, s->queue, s->waiting, at, p->parent, sizeof *p->parent);
        if (at % CHECK_EVERY == 0)
            GCD_TRY(gcd_context_step(context, at, s->inner, err));
        const uint32_t *edges = live_edges_of(&p->live, node, &n);
        for (size_t i = 0; i < n; i++)
            reach(s, edges[i], node);
        for (uint64_t i = 0; (to = live_edges_value(&p->live, node, i)) != GCD_NODE_NONE; i++)
            reach(s, to, node);
    }
    return GCD_OK;
}

/* The same, and then what waits for the end: all of it at once, so that one such object is reached
 * through another one only if nothing else leads there. */
static gcd_status follow(struct search *s, uint32_t *done, const struct gcd_context *context,
                         struct gcd_error *err)
{
    GCD_TRY(follow_queue(s, done, context, err));
    while (s->last_count > 0) {
        memcpy(&s->queue[s->waiting], s->last, s->last_count * sizeof *s->last);
        s->waiting += s->last_count;
        s->last_count = 0;
        GCD_TRY(follow_queue(s, done, context, err));
    }
    return GCD_OK;
}

static bool cover_roots(struct search *s)
{
    struct gcd_paths *p = s->p;
    uint64_t *reached = gcd_mem_new_array(&p->alloc, s->words, sizeof *reached);
    for (uint32_t i = 0; i < p->reachable && reached != NULL; i++)
        bits_set(reached, p->order[i]);
    bool ok = reached != NULL && live_edges_cover(&p->live, reached);
    gcd_mem_free(&p->alloc, reached, s->words * sizeof *reached);
    return ok;
}

/* Follows the order of roots: a late group begins when the groups before it have reached everything
 * they can. */
static gcd_status search(struct search *s, const struct gcd_context *context, struct gcd_error *err)
{
    uint32_t done = 0;
    for (unsigned group = 0; group < GCD_GROUP_WEAK; group++) {
        if (gcd_group_is_late((enum gcd_root_group)group))
            GCD_TRY(follow(s, &done, context, err));
        if (group == GCD_GROUP_LOCALS && live_edges_may_cover(&s->p->live) && !cover_roots(s))
            return gcd_fail_nomem(err, "finding shortest paths");
        reach_roots(s, (enum gcd_root_group)group);
    }
    GCD_TRY(follow(s, &done, context, err));
    return gcd_context_step(context, s->inner, s->inner, err);
}

static gcd_status run(struct gcd_paths *p, const uint8_t *last_types,
                      const struct gcd_context *context, struct gcd_error *err)
{
    struct search s = { .p = p,
                        .words = ((size_t)p->node_count + 63) / 64,
                        .last_types = last_types };
    p->parent = gcd_mem_new_uncleared(&p->alloc, p->node_count, sizeof *p->parent);
    p->order = gcd_mem_new_uncleared(&p->alloc, p->node_count, sizeof *p->order);
    s.is_inner = gcd_mem_new_array(&p->alloc, s.words, sizeof *s.is_inner);
    if (p->parent == NULL || p->order == NULL || s.is_inner == NULL ||
        !live_edges_init(&p->live, p->live.g, &p->alloc)) {
        gcd_mem_free(&p->alloc, s.is_inner, s.words * sizeof *s.is_inner);
        return gcd_fail_nomem(err, "finding shortest paths");
    }
    p->pseudo_roots = (uint32_t)p->live.pseudo_root_count;
    memset(p->parent, 0xff, p->node_count * sizeof *p->parent); /* GCD_NODE_NONE */
    find_inner(&s);
    size_t room = (size_t)s.inner + 1; /* a leaf is written before it is dropped */
    s.queue = gcd_mem_new_uncleared(&p->alloc, room, sizeof *s.queue);
    if (last_types != NULL)
        s.last = gcd_mem_new_uncleared(&p->alloc, room, sizeof *s.last);
    gcd_status st = s.queue != NULL && (last_types == NULL || s.last != NULL)
                        ? search(&s, context, err)
                        : gcd_fail_nomem(err, "finding shortest paths");
    gcd_mem_free(&p->alloc, s.last, room * sizeof *s.last);
    gcd_mem_free(&p->alloc, s.queue, room * sizeof *s.queue);
    gcd_mem_free(&p->alloc, s.is_inner, s.words * sizeof *s.is_inner);
    return st;
}

static gcd_status find(const struct gcd_graph *g, const uint8_t *last_types,
                       const struct gcd_context *context, struct gcd_paths **ret,
                       struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_paths *p = gcd_mem_new(&a, sizeof *p);
    if (p == NULL)
        return gcd_fail_nomem(err, "finding shortest paths");
    p->alloc = a;
    p->live.g = g;
    p->node_count = gcd_graph_node_count(g);
    gcd_status st = run(p, last_types, context, err);
    live_edges_done(&p->live);
    if (st == GCD_OK)
        *ret = p;
    else
        gcd_paths_free(p);
    return st;
}

gcd_status gcd_paths_new(const struct gcd_graph *g, const struct gcd_context *context,
                         struct gcd_paths **ret, struct gcd_error *err)
{
    return find(g, NULL, context, ret, err);
}

/* ---- paths to objects of some types ---- */

gcd_status gcd_paths_meet(const struct gcd_paths *p, const struct gcd_graph *g,
                          const uint8_t *types, const struct gcd_context *context, bool *ret,
                          struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    const struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    size_t words = ((size_t)p->node_count + 63) / 64;
    uint64_t *through = gcd_mem_new_array(&a, words, sizeof *through); /* one of them, or below */
    if (through == NULL)
        return gcd_fail_nomem(err, "finding shortest paths");
    *ret = false;
    for (uint32_t i = 0; i < p->reachable && !*ret; i++) {
        uint32_t node = p->order[i], parent = p->parent[node];
        bool wanted = types[gcd_graph_node_type(g, node)] != 0,
             below = parent < GCD_NODE_ROOT && bits_get(through, parent) != 0;
        *ret = wanted && below;
        through[node >> 6] |= (uint64_t)(wanted || below) << (node & 63);
    }
    gcd_mem_free(&a, through, words * sizeof *through);
    return GCD_OK;
}

gcd_status gcd_paths_around_new(const struct gcd_graph *g, const uint8_t *types,
                                const struct gcd_context *context, struct gcd_paths **ret,
                                struct gcd_error *err)
{
    return find(g, types, context, ret, err);
}

/* ---- in parallel with dominators ---- */

struct both {
    const struct gcd_graph *g;
    struct gcd_context context;
    struct gcd_dominators *dominators;
    struct gcd_paths *paths;
    gcd_status here, beside;
    struct gcd_error *err, beside_err; /* ERR may be NULL */
};

static void find_dominators(void *ctx)
{
    struct both *b = ctx;
    b->here = gcd_dominators_new(b->g, &b->context, &b->dominators, b->err);
}

static void find_paths(void *ctx)
{
    struct both *b = ctx;
    struct gcd_context c = b->context;
    c.progress = NULL;
    if (c.threads > 1 || b->here == GCD_OK)
        b->beside = gcd_paths_new(b->g, &c, &b->paths, &b->beside_err);
}

gcd_status gcd_paths_with_dominators_new(const struct gcd_graph *g,
                                         const struct gcd_context *context,
                                         struct gcd_dominators **ret_dominators,
                                         struct gcd_paths **ret_paths, struct gcd_error *err)
{
    struct both b = { .g = g,
                      .context = *gcd_context_or_default(context),
                      .err = err,
                      .beside_err = GCD_ERROR_INIT };
    struct gcd_locked_alloc locked;
    struct gcd_alloc user = gcd_alloc_or_default(b.context.alloc),
                     a = gcd_locked_alloc_init(&locked, &user);
    b.context.alloc = &a;
    gcd_parallel_invoke(b.context.threads, find_dominators, find_paths, &b);
    if (b.dominators != NULL) /* end of the lock */
        b.dominators->alloc = user;
    if (b.paths != NULL)
        b.paths->alloc = user;
    gcd_locked_alloc_done(&locked);
    if (b.here == GCD_OK && b.beside == GCD_OK) {
        *ret_dominators = b.dominators;
        *ret_paths = b.paths;
        return GCD_OK;
    }
    if (b.here == GCD_OK && err != NULL)
        *err = b.beside_err;
    gcd_dominators_free(b.dominators);
    gcd_paths_free(b.paths);
    return b.here != GCD_OK ? b.here : b.beside;
}

/* ---- the result ---- */

void gcd_paths_free(struct gcd_paths *p)
{
    if (p == NULL)
        return;
    struct gcd_alloc a = p->alloc;
    gcd_mem_free(&a, p->parent, p->node_count * sizeof *p->parent);
    gcd_mem_free(&a, p->order, p->node_count * sizeof *p->order);
    gcd_mem_free(&a, p, sizeof *p);
}

uint32_t gcd_paths_parent(const struct gcd_paths *p, uint32_t node)
{
    return p->parent[node];
}

size_t gcd_paths_root(const struct gcd_paths *p, uint32_t node)
{
    while (p->parent[node] < GCD_NODE_ROOT)
        node = p->parent[node];
    size_t n = p->parent[node] == GCD_NODE_ROOT ? gcd_graph_summary(p->live.g)->root_count : 0,
           best = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (live_edges_root(&p->live, i) == node &&
            (best == SIZE_MAX ||
             live_edges_root_group(&p->live, i) < live_edges_root_group(&p->live, best)))
            best = i;
    return best;
}

uint32_t gcd_paths_reachable(const struct gcd_paths *p)
{
    return p->reachable;
}

const uint32_t *gcd_paths_order(const struct gcd_paths *p)
{
    return p->order;
}

uint32_t gcd_paths_pseudo_roots(const struct gcd_paths *p)
{
    return p->pseudo_roots;
}
