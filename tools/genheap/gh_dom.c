#include "gh_dom.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Nodes by rank: reverse postorder of a depth-first search from node 0, which therefore has rank 0.
 */
struct dom {
    uint32_t n;                  /* reached nodes */
    uint32_t *rank;              /* [nodes], NONE: not reached */
    uint32_t *node;              /* [n], by rank */
    uint32_t *pred_first, *pred; /* [n + 1], ranks of those that refer to a rank */
    uint32_t *idom;              /* [n], rank by rank */
};

/* Only this function needs NEXT, the edge to follow next, and the stack. */
static bool search(const struct gh_graph *g, struct dom *d)
{
    uint32_t *next = malloc((size_t)g->n * sizeof *next),
             *stack = malloc((size_t)g->n * sizeof *stack);
    uint32_t *post = malloc((size_t)g->n * sizeof *post), n_post = 0, depth = 0, i;
    bool ok = next && stack && post;

    d->rank = malloc((size_t)g->n * sizeof *d->rank);
    ok = ok && d->rank;
    if (ok) {
        memset(d->rank, 0xFF, (size_t)g->n * sizeof *d->rank);
        memcpy(next, g->first, (size_t)g->n * sizeof *next);
        stack[depth++] = 0;
        d->rank[0] = 0; /* any value: seen */
        while (depth) {
            uint32_t v = stack[depth - 1];

            if (next[v] < g->first[v + 1]) {
                uint32_t t = g->to[next[v]++];

                if (d->rank[t] == NONE) {
                    d->rank[t] = 0;
                    stack[depth++] = t;
                }
            } else {
                post[n_post++] = v;
                depth--;
            }
        }
        for (i = 0; i < n_post / 2; i++) {
            uint32_t v = post[i];

            post[i] = post[n_post - 1 - i];
            post[n_post - 1 - i] = v;
        }
        for (i = 0; i < n_post; i++)
            d->rank[post[i]] = i;
    }
    free(next);
    free(stack);
    d->node = post;
    d->n = n_post;
    return ok;
}

static bool turn_edges(const struct gh_graph *g, struct dom *d)
{
    uint32_t r, e;
    size_t n_edges = 0;

    d->pred_first = calloc((size_t)d->n + 2, sizeof *d->pred_first);
    if (!d->pred_first)
        return false;
    for (r = 0; r < d->n; r++)
        for (e = g->first[d->node[r]]; e < g->first[d->node[r] + 1]; e++, n_edges++)
            d->pred_first[d->rank[g->to[e]] + 2]++;
    d->pred = malloc((n_edges + 1) * sizeof *d->pred);
    if (!d->pred)
        return false;
    for (r = 0; r < d->n; r++)
        d->pred_first[r + 2] += d->pred_first[r + 1];
    for (r = 0; r < d->n; r++) /* one index further on, so that the starts are right afterwards */
        for (e = g->first[d->node[r]]; e < g->first[d->node[r] + 1]; e++)
            d->pred[d->pred_first[d->rank[g->to[e]] + 1]++] = r;
    return true;
}

static uint32_t intersect(const uint32_t *idom, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = idom[a];
        while (b > a)
            b = idom[b];
    }
    return a;
}

static bool find_dominators(struct dom *d)
{
    bool changed = true;
    uint32_t r, k;

    d->idom = malloc((size_t)d->n * sizeof *d->idom);
    if (!d->idom)
        return false;
    memset(d->idom, 0xFF, (size_t)d->n * sizeof *d->idom);
    d->idom[0] = 0;
    while (changed) {
        changed = false;
        for (r = 1; r < d->n; r++) {
            uint32_t best = NONE;

            for (k = d->pred_first[r]; k < d->pred_first[r + 1]; k++)
                if (d->idom[d->pred[k]] != NONE)
                    best = best == NONE ? d->pred[k] : intersect(d->idom, best, d->pred[k]);
            if (d->idom[r] != best) {
                d->idom[r] = best;
                changed = true;
            }
        }
    }
    return true;
}

bool gh_dom_retained(struct gh_graph *g, uint64_t *retained, uint32_t *ret_reached)
{
    struct dom d = { 0 };
    bool ok = search(g, &d) && turn_edges(g, &d);
    uint32_t v, r;

    free(g->first);
    free(g->to);
    g->first = g->to = NULL;
    ok = ok && find_dominators(&d);
    if (ok) {
        for (v = 0; v < g->n; v++)
            if (d.rank[v] == NONE)
                retained[v] = 0;
        for (r = d.n - 1; r > 0; r--) /* a dominator has the smaller rank */
            retained[d.node[d.idom[r]]] += retained[d.node[r]];
        *ret_reached = d.n - 1;
    }
    free(d.rank);
    free(d.node);
    free(d.pred_first);
    free(d.pred);
    free(d.idom);
    return ok;
}
