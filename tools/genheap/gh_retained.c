#include "gh_retained.h"

#include <stdlib.h>
#include <string.h>

#include "gh_dom.h"

/* Node C + 1 of the graph is object CORE[C], or object C if the core contains all objects. */
struct finder {
    const struct gh_model *m;
    const struct gh_holds *holds;
    bool all;
    uint64_t *core; /* ascending */
    uint32_t n_core;
    struct gh_graph g;
    bool counting;      /* the first of two rounds through the edges */
    uint64_t *retained; /* [n_core + 1] */
    struct gh_retained *ret;
};

/* ---- sums by formula
 * ------------------------------------------------------------------------------------- */

/* Bytes of the objects FIRST … END-1. */
static uint64_t bytes_of(const struct gh_model *m, uint64_t first, uint64_t end)
{
    uint64_t i, sum = 0;

    for (i = first; i < end; i++) {
        struct gh_object obj;

        gh_model_object(m, i, &obj);
        sum += obj.size;
    }
    return sum;
}

/* Bytes of object I of shape tree and everything below it: each level is a row of neighbours. */
static uint64_t subtree_bytes(const struct gh_model *m, uint64_t i)
{
    uint64_t first = i, last = i, sum = 0;

    while (first < m->n) {
        sum += bytes_of(m, first, last < m->n ? last + 1 : m->n);
        first = 2 * first + 1;
        last = 2 * last + 2;
    }
    return sum;
}

/* ---- the core
 * -------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Position in the core of the first object not below I. */
static uint32_t core_from(const struct finder *f, uint64_t i)
{
    uint32_t lo = 0, hi = f->n_core;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (f->core[mid] < i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool in_core(const struct finder *f, uint64_t i, uint32_t *ret_at)
{
    *ret_at = f->all ? (uint32_t)i : core_from(f, i);
    return f->all || (*ret_at < f->n_core && f->core[*ret_at] == i);
}

/* The node of an object of the core. */
static uint32_t node_of(const struct finder *f, uint64_t i)
{
    return (f->all ? (uint32_t)i : core_from(f, i)) + 1;
}

/* A referenced object adds its path from the root of the tree, or the object before it in the list.
 */
static uint32_t with_way(const struct gh_model *m, uint64_t i, uint64_t *to)
{
    uint32_t n = 0;

    to[n++] = i;
    if (m->shape == GH_SHAPE_LIST && i)
        to[n++] = i - 1;
    while (m->shape == GH_SHAPE_TREE && i) {
        i = (i - 1) / 2;
        to[n++] = i;
    }
    return n;
}

static bool find_core(struct finder *f)
{
    const struct gh_holds *h = f->holds;
    uint64_t way[64];
    uint64_t mentioned = (uint64_t)h->n_roots + 2 * (uint64_t)h->n_pairs + 2, k, n = 0, kept = 0;

    if (f->all) {
        f->n_core = (uint32_t)f->m->n;
        return true;
    }
    f->core = malloc((size_t)mentioned * (with_way(f->m, f->m->n - 1, way) + 1) * sizeof *f->core);
    if (!f->core)
        return false;
    for (k = 0; k < h->n_roots; k++)
        n += with_way(f->m, h->roots[k], f->core + n);
    for (k = 0; k < h->n_pairs; k++) {
        n += with_way(f->m, h->pairs[k].key, f->core + n);
        n += with_way(f->m, h->pairs[k].value, f->core + n);
    }
    n += with_way(f->m, gh_model_main(f->m), f->core + n);
    if (f->m->shape == GH_SHAPE_LIST)
        f->core[n++] = f->m->n - 1;
    qsort(f->core, (size_t)n, sizeof *f->core, by_value);
    for (k = 0; k < n; k++)
        if (k == 0 || f->core[k] != f->core[kept - 1])
            f->core[kept++] = f->core[k];
    f->n_core = (uint32_t)kept;
    return kept < UINT32_MAX - 2;
}

/* ---- edges
 * -----------------------------------------------------------------------------------------------
 */

static void edge(struct finder *f, uint32_t from, uint32_t to)
{
    if (f->counting)
        f->g.first[from + 2]++;
    else
        f->g.to[f->g.first[from + 1]++] = to;
}

/* The same as gh_walk.c writes. */
static void edges_of_all(struct finder *f)
{
    const struct gh_model *m = f->m;
    uint64_t i, k;

    for (i = 0; i < m->n; i++) {
        uint64_t s = i - m->n_frozen;
        struct gh_object obj;

        if (m->shape == GH_SHAPE_MIX && s < m->n_small && s % GH_BLOCK == 0) {
            const struct gh_template *t = gh_model_template(m, s / GH_BLOCK);
            uint32_t n = m->n_small - s < GH_BLOCK ? (uint32_t)(m->n_small - s) : GH_BLOCK, j;
            const uint16_t *code = t->code;

            for (j = 0; j < n; j++)
                for (k = 0; k < t->edges[j]; k++, code++) {
                    uint64_t to = *code < GH_BLOCK ? i + gh_model_in_block(*code, n)
                                                   : gh_model_code_target(m, *code, s + j, k);

                    edge(f, (uint32_t)(i + j) + 1, (uint32_t)to + 1);
                }
            i += n - 1;
            continue;
        }
        gh_model_object(m, i, &obj);
        for (k = 0; k < obj.n_edges; k++)
            edge(f, (uint32_t)i + 1, (uint32_t)gh_model_target(m, i, k) + 1);
    }
}

static void edges_of_core(struct finder *f)
{
    const struct gh_model *m = f->m;
    uint32_t c, to;

    for (c = 0; c < f->n_core; c++) {
        uint64_t i = f->core[c], k;
        struct gh_object obj;

        switch (m->shape) {
        case GH_SHAPE_LIST: /* also through the objects between the two */
            if (c + 1 < f->n_core)
                edge(f, c + 1, c + 2);
            break;
        case GH_SHAPE_FAN:
            if (i != m->n - 1)
                edge(f, f->n_core, c + 1); /* the array is the last object */
            break;
        default:
            gh_model_object(m, i, &obj);
            for (k = 0; k < obj.n_edges; k++)
                if (in_core(f, gh_model_target(m, i, k), &to))
                    edge(f, c + 1, to + 1);
            break;
        }
    }
}

static void all_edges(struct finder *f)
{
    const struct gh_holds *h = f->holds;
    size_t k;

    for (k = 0; k < h->n_roots; k++)
        edge(f, 0, node_of(f, h->roots[k]));
    for (k = 0; k < h->n_pairs; k++) /* the value lives as long as the key */
        edge(f, node_of(f, h->pairs[k].key), node_of(f, h->pairs[k].value));
    if (f->all)
        edges_of_all(f);
    else
        edges_of_core(f);
}

static bool make_graph(struct finder *f)
{
    uint32_t v;

    f->g.n = f->n_core + 1;
    f->g.first = calloc((size_t)f->g.n + 2, sizeof *f->g.first);
    if (!f->g.first)
        return false;
    f->counting = true;
    all_edges(f);
    for (v = 0; v < f->g.n; v++)
        f->g.first[v + 2] += f->g.first[v + 1];
    f->g.to = malloc(((size_t)f->g.first[f->g.n + 1] + 1) * sizeof *f->g.to);
    if (!f->g.to)
        return false;
    f->counting = false;
    all_edges(f);
    return true;
}

/* Own bytes of an object of the core, and of everything below it outside the core. */
static uint64_t weight(const struct finder *f, uint32_t c)
{
    const struct gh_model *m = f->m;
    uint64_t i = f->all ? c : f->core[c], own = bytes_of(m, i, i + 1), k;
    uint32_t at;

    if (f->all)
        return own;
    switch (m->shape) {
    case GH_SHAPE_LIST:
        return c + 1 < f->n_core ? bytes_of(m, i, f->core[c + 1]) : own;
    case GH_SHAPE_TREE:
        for (k = 2 * i + 1; k <= 2 * i + 2 && k < m->n; k++)
            if (!in_core(f, k, &at))
                own += subtree_bytes(m, k);
        return own;
    default:
        if (i != m->n - 1)
            return own;
        /* the array of shape fan: everything except the rest of the core */
        own = bytes_of(m, 0, m->n);
        for (at = 0; at + 1 < f->n_core; at++)
            own -= bytes_of(m, f->core[at], f->core[at] + 1);
        return own;
    }
}

/* ---- the largest
 * ----------------------------------------------------------------------------------------- */

static void offer(struct finder *f, uint64_t object, uint64_t bytes)
{
    struct gh_retained *r = f->ret;
    uint32_t k = r->n_top;

    while (k && (r->top[k - 1].bytes < bytes ||
                 (r->top[k - 1].bytes == bytes && r->top[k - 1].object > object)))
        k--;
    if (k == GH_RETAINED_TOP)
        return;
    if (r->n_top < GH_RETAINED_TOP)
        r->n_top++;
    memmove(&r->top[k + 1], &r->top[k], (r->n_top - 1 - k) * sizeof r->top[0]);
    r->top[k] = (struct gh_retainer){ object, bytes };
}

/* The objects outside of the core whose immediate dominator is OBJECT, which retains BYTES. */
static void offer_below(struct finder *f, uint64_t object, uint64_t bytes)
{
    const struct gh_model *m = f->m;
    uint64_t k;
    uint32_t at;

    switch (m->shape) {
    case GH_SHAPE_LIST:
        if (object + 1 == m->n || in_core(f, object + 1, &at))
            break;
        /* AT: the next object of the core.  No other path reaches it; otherwise the object before
         * it would be in the core, too. */
        if (in_core(f, object, &at))
            offer(f, object + 1, bytes_of(m, object + 1, f->core[at + 1]) + f->retained[at + 2]);
        else
            offer(f, object + 1, bytes - bytes_of(m, object, object + 1));
        break;
    case GH_SHAPE_TREE:
        for (k = 2 * object + 1; k <= 2 * object + 2 && k < m->n; k++)
            if (!in_core(f, k, &at))
                offer(f, k, subtree_bytes(m, k));
        break;
    case GH_SHAPE_FAN:
        for (k = at = 0; object == m->n - 1 && k < object; k++)
            if (f->core[at] == k)
                at++;
            else
                offer(f, k, bytes_of(m, k, k + 1));
        break;
    default:
        break;
    }
}

/* An object retains less than its dominator, so an object below one of the largest comes after it
 * in the list. */
static void find_largest(struct finder *f)
{
    struct gh_retained *r = f->ret;
    uint32_t c, k;

    for (c = 0; c < f->n_core; c++)
        if (f->retained[c + 1])
            offer(f, f->all ? c : f->core[c], f->retained[c + 1]);
    for (k = 0; k < r->n_top; k++)
        offer_below(f, r->top[k].object, r->top[k].bytes);
}

bool gh_retained_find(const struct gh_model *m, const struct gh_holds *holds,
                      struct gh_retained *ret)
{
    struct finder f = { .m = m, .holds = holds, .ret = ret };
    uint32_t c, reached = 0;
    bool ok;

    memset(ret, 0, sizeof *ret);
    f.all = m->shape == GH_SHAPE_MIX || m->shape == GH_SHAPE_RANDOM;
    if (holds->n_roots == 0 || (f.all && m->n > GH_RETAINED_MAX))
        return true;
    ok = find_core(&f) && make_graph(&f);
    if (ok) {
        f.retained = calloc((size_t)f.n_core + 1, sizeof *f.retained);
        for (c = 0; f.retained && c < f.n_core; c++)
            f.retained[c + 1] = weight(&f, c);
        ok = f.retained && gh_dom_retained(&f.g, f.retained, &reached);
    }
    if (ok) {
        ret->known = true;
        /* a root holds the main object, which reaches all others */
        ret->alive_objects = f.all ? reached : m->n;
        ret->alive_bytes = f.retained[0];
        find_largest(&f);
    }
    free(f.core);
    free(f.g.first);
    free(f.g.to);
    free(f.retained);
    return ok;
}
