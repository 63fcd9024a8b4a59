#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/graph_gen.h"

static char text[512];

static const char *differ(const char *fmt, ...) GCD_PRINTF(1, 2);
static const char *differ(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

static const char *eq_type(const struct gcd_type *a, const struct gcd_type *b, unsigned may)
{
    if ((may & GRAPH_EQ_NAMES) == 0 && strcmp(a->name, b->name) != 0)
        return differ("type %.100s, %.100s", a->name, b->name);
    if ((may & GRAPH_EQ_MODULES) == 0 && strcmp(a->module_path, b->module_path) != 0)
        return differ("type %.100s of module %.100s, %.100s", a->name, a->module_path,
                      b->module_path);
    if ((may & GRAPH_EQ_TYPE_IDS) == 0 &&
        (a->id != b->id || a->name_token != b->name_token || a->flags != b->flags ||
         a->element_type != b->element_type || a->described != b->described ||
         a->named != b->named))
        return differ("ids or flags of type %.100s", a->name);
    return NULL;
}

static const char *eq_types(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may)
{
    const struct gcd_summary *summary = gcd_graph_summary(b);
    uint32_t n = gcd_graph_summary(a)->type_count;
    if ((may & GRAPH_EQ_UNUSED_TYPES) != 0)
        return NULL;
    if (n != summary->type_count)
        return differ("%" PRIu32 " types, %" PRIu32, n, summary->type_count);
    for (uint32_t i = 0; i < n; i++) {
        const struct gcd_type *s = &gcd_graph_summary(a)->types[i], *t = &summary->types[i];
        const char *d = eq_type(s, t, may);
        if (d != NULL)
            return d;
        if (s->objects != t->objects)
            return differ("%" PRIu64 " objects of type %" PRIu32 ", %" PRIu64, s->objects, i,
                          t->objects);
    }
    return NULL;
}

/* The references of NODE and, if they may be mixed, its dependents. */
static size_t targets_of(const struct gcd_graph *g, uint32_t node, bool with_dependents, size_t *at,
                         uint32_t *out, size_t cap)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
    for (size_t i = 0; i < n && i < cap; i++)
        out[i] = edges[i];
    for (; with_dependents && *at < gcd_graph_dependent_count(g) &&
           gcd_graph_dependent(g, *at)->key == node;
         ++*at, n++)
        if (n < cap)
            out[n] = gcd_graph_dependent(g, *at)->value;
    return n;
}

static const char *eq_nodes(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may)
{
    enum { CAP = 65536 };
    static uint32_t from_a[CAP], from_b[CAP];
    bool mixed = (may & GRAPH_EQ_DEPENDENTS) != 0;
    size_t at_a = 0, at_b = 0;
    uint32_t count = gcd_graph_node_count(a);
    if (count != gcd_graph_node_count(b))
        return differ("%" PRIu32 " nodes, %" PRIu32, count, gcd_graph_node_count(b));
    for (uint32_t i = 0; i < count; i++) {
        struct gcd_node s, t;
        gcd_graph_node(a, i, &s);
        gcd_graph_node(b, i, &t);
        if ((may & GRAPH_EQ_ADDRESSES) == 0 && s.address != t.address)
            return differ("node %" PRIu32 " at 0x%" PRIx64 ", 0x%" PRIx64, i, s.address, t.address);
        bool big = (may & GRAPH_EQ_BIG_SIZES) != 0 && s.size_bytes >= INT32_MAX;
        if (s.size_bytes != t.size_bytes && !big)
            return differ("node %" PRIu32 " of %" PRIu64 " bytes, %" PRIu64, i, s.size_bytes,
                          t.size_bytes);
        const struct gcd_type *s_type = &gcd_graph_summary(a)->types[s.type],
                              *t_type = &gcd_graph_summary(b)->types[t.type];
        const char *d =
            (may & GRAPH_EQ_UNUSED_TYPES) != 0 ? eq_type(s_type, t_type, may)
            : s.type != t.type
                ? differ("node %" PRIu32 " of type %" PRIu32 ", %" PRIu32, i, s.type, t.type)
                : NULL;
        if (d != NULL)
            return d;
        size_t n = targets_of(a, i, mixed, &at_a, from_a, CAP),
               m = targets_of(b, i, mixed, &at_b, from_b, CAP);
        if (n != m)
            return differ("node %" PRIu32 " has %zu references, %zu", i, n, m);
        for (size_t k = 0; k < n && k < CAP; k++)
            if (from_a[k] != from_b[k])
                return differ("node %" PRIu32 " reference %zu leads to %" PRIu32 ", %" PRIu32, i, k,
                              from_a[k], from_b[k]);
    }
    return NULL;
}

static int by_node(const void *x, const void *y)
{
    const struct gcd_root *a = *(const struct gcd_root *const *)x,
                          *b = *(const struct gcd_root *const *)y;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    enum gcd_root_group g = gcd_root_group(a), h = gcd_root_group(b);
    if (g != h)
        return g < h ? -1 : 1;
    int names = strcmp(a->name, b->name);
    return names != 0 ? names : a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* The roots that count, in an order that does not depend on the file. */
static const struct gcd_root **roots_of(const struct gcd_graph *g, unsigned may, size_t *ret_n)
{
    const struct gcd_summary *summary = gcd_graph_summary(g);
    size_t n = 0;
    const struct gcd_root **roots = calloc(summary->root_count + 1, sizeof *roots);
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        if ((may & GRAPH_EQ_WEAK_ROOTS) == 0 || gcd_root_group(r) != GCD_GROUP_WEAK)
            roots[n++] = r;
    }
    if ((may & GRAPH_EQ_ROOT_ORDER) != 0)
        qsort(roots, n, sizeof *roots, by_node);
    *ret_n = n;
    return roots;
}

static const char *eq_roots(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may)
{
    size_t n, m;
    const char *d = NULL;
    const struct gcd_root **s = roots_of(a, may, &n), **t = roots_of(b, may, &m);
    if (n != m)
        d = differ("%zu roots, %zu", n, m);
    for (size_t i = 0; i < n && d == NULL; i++) {
        if (s[i]->node != t[i]->node)
            d = differ("root %zu leads to %" PRIu32 ", %" PRIu32, i, s[i]->node, t[i]->node);
        else if ((may & GRAPH_EQ_ROOT_KINDS) == 0 && gcd_root_group(s[i]) != gcd_root_group(t[i]))
            d = differ("root %zu of group %d, %d", i, gcd_root_group(s[i]), gcd_root_group(t[i]));
        else if ((may & GRAPH_EQ_ROOT_FLAGS) == 0 &&
                 (s[i]->flags != t[i]->flags || s[i]->kind != t[i]->kind))
            d = differ("root %zu of kind %u, flags %" PRIx32 "; %u, %" PRIx32, i, s[i]->kind,
                       s[i]->flags, t[i]->kind, t[i]->flags);
        else if ((may & GRAPH_EQ_ROOT_NAMES) == 0 &&
                 (strcmp(s[i]->name, t[i]->name) != 0 || s[i]->id != t[i]->id ||
                  s[i]->type != t[i]->type))
            d = differ("root %zu is called %.100s, %.100s, or differs in type or id", i, s[i]->name,
                       t[i]->name);
    }
    free(s);
    free(t);
    return d;
}

static const char *eq_rest(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may)
{
    const struct gcd_summary *summary = gcd_graph_summary(a);
    const struct gcd_summary *f = summary, *g = gcd_graph_summary(b);
    if ((may & GRAPH_EQ_DEPENDENTS) == 0) {
        if (gcd_graph_dependent_count(a) != gcd_graph_dependent_count(b))
            return differ("%zu dependent handles, %zu", gcd_graph_dependent_count(a),
                          gcd_graph_dependent_count(b));
        for (size_t i = 0; i < gcd_graph_dependent_count(a); i++)
            if (gcd_graph_dependent(a, i)->key != gcd_graph_dependent(b, i)->key ||
                gcd_graph_dependent(a, i)->value != gcd_graph_dependent(b, i)->value)
                return differ("dependent handle %zu", i);
    }
    if ((may & GRAPH_EQ_RANGES) == 0) {
        if (summary->range_count != gcd_graph_summary(b)->range_count)
            return differ("%zu ranges, %zu", summary->range_count,
                          gcd_graph_summary(b)->range_count);
        for (size_t i = 0; i < summary->range_count; i++) {
            const struct gcd_range *r = &summary->ranges[i], *s = &gcd_graph_summary(b)->ranges[i];
            if (r->start != s->start || r->used_bytes != s->used_bytes ||
                r->reserved_bytes != s->reserved_bytes || r->generation != s->generation)
                return differ("range %zu", i);
        }
    }
    if ((may & GRAPH_EQ_FACTS) == 0 &&
        (f->process != g->process || strcmp(f->process_name, g->process_name) != 0 ||
         strcmp(f->runtime_version, g->runtime_version) != 0 ||
         f->trace.start_unix_ms != g->trace.start_unix_ms))
        return differ("facts of process %" PRIu64 " %.100s, %" PRIu64 " %.100s", f->process,
                      f->process_name, g->process, g->process_name);
    if ((may & GRAPH_EQ_VERDICT) == 0 &&
        summary->verdict.complete != gcd_graph_summary(b)->verdict.complete)
        return differ("the verdict");
    return NULL;
}

const char *graph_eq(const struct gcd_graph *a, const struct gcd_graph *b, unsigned may_differ)
{
    const char *d = eq_types(a, b, may_differ);
    if (d == NULL)
        d = eq_nodes(a, b, may_differ);
    if (d == NULL)
        d = eq_roots(a, b, may_differ);
    return d != NULL ? d : eq_rest(a, b, may_differ);
}
