/*
 * Graphs for leak suspects, built object by object, and the suspects found in them.
 *
 *     struct pile *p = pile_new();
 *     uint32_t list = node(p, "List", 32), array = child(p, list, "Order[]", 64);
 *     static_root(p, list, "s_orders");
 *     struct answer a = ask(p, 0.3);
 *     ...
 *     forget(a);
 */
#ifndef PILE_H
#define PILE_H

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/suspects.h>

#include "support/check.h"
#include "support/pile_report.h"
#include "support/shop.h"

struct pile {
    struct gcd_type types[64];
    size_t type_count;
    struct shop_node *nodes;
    size_t node_count;
    struct shop_edge *edges, *dependents;
    size_t edge_count, dependent_count;
    struct gcd_root *roots;
    size_t root_count;
    /* of a range around the objects, which are 0x1000 bytes apart; 0 = none */
    uint64_t used_bytes, young_bytes; /* behind it, in generation 0 */
    const struct gcd_module *modules;
    size_t module_count;
    const struct gcd_reason *incomplete;
    unsigned generation, ptr_bytes; /* of the range; 0 = 8 */
};

/* Few at first: with sanitizers each byte of a block costs time, and thousands of piles are small.
 */
#define PILE_FIRST 1024u

static inline struct pile *pile_new(void)
{
    struct pile *p = calloc(1, sizeof *p);
    p->nodes = calloc(PILE_FIRST, sizeof *p->nodes);
    p->edges = calloc(PILE_FIRST, sizeof *p->edges);
    p->roots = calloc(PILE_FIRST, sizeof *p->roots);
    p->dependents = calloc(PILE_FIRST, sizeof *p->dependents);
    return p;
}

/* ITEMS, an array of pile_new with COUNT items of BYTES, with room for one more. */
static inline void *pile_room(void *items, size_t count, size_t bytes)
{
    bool full = count >= PILE_FIRST && (count & (count - 1)) == 0;
    void *more = full ? realloc(items, 2 * count * bytes) : items;
    assert_non_null(more);
    return more;
}

static inline uint32_t type(struct pile *p, const char *name)
{
    for (size_t i = 0; i < p->type_count; i++)
        if (strcmp(p->types[i].name, name) == 0)
            return (uint32_t)i;
    assert_true(p->type_count < 64);
    p->types[p->type_count] = (struct gcd_type){ .id = p->type_count + 1,
                                                 .name = name,
                                                 .described = true,
                                                 .named = true,
                                                 .module_number = GCD_MODULE_NONE };
    return (uint32_t)p->type_count++;
}

static inline uint32_t node_of(struct pile *p, uint32_t type_number, uint64_t size)
{
    p->nodes = pile_room(p->nodes, p->node_count, sizeof *p->nodes);
    p->nodes[p->node_count] = (struct shop_node){ type_number, size };
    return (uint32_t)p->node_count++;
}

static inline uint32_t node(struct pile *p, const char *name, uint64_t size)
{
    return node_of(p, type(p, name), size);
}

static inline void edge(struct pile *p, uint32_t from, uint32_t to)
{
    p->edges = pile_room(p->edges, p->edge_count, sizeof *p->edges);
    p->edges[p->edge_count++] = (struct shop_edge){ from, to };
}

static inline void dependent(struct pile *p, uint32_t key, uint32_t value)
{
    p->dependents = pile_room(p->dependents, p->dependent_count, sizeof *p->dependents);
    p->dependents[p->dependent_count++] = (struct shop_edge){ key, value };
}

/* A new object that FROM refers to. */
static inline uint32_t child(struct pile *p, uint32_t from, const char *name, uint64_t size)
{
    uint32_t to = node(p, name, size);
    edge(p, from, to);
    return to;
}

static inline void put_root(struct pile *p, const struct gcd_root *r)
{
    p->roots = pile_room(p->roots, p->root_count, sizeof *p->roots);
    p->roots[p->root_count++] = *r;
}

static inline void root(struct pile *p, uint32_t to, unsigned kind, uint32_t flags,
                        const char *name)
{
    put_root(p, &(struct gcd_root){ .node = to, .kind = kind, .flags = flags, .name = name });
}

static inline void static_root(struct pile *p, uint32_t to, const char *name)
{
    root(p, to, GCD_ROOT_STATIC, 0, name);
}

static inline int by_from(const void *a, const void *b)
{
    const struct shop_edge *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

struct answer {
    struct gcd_graph *g;
    struct gcd_dominators *d;
    struct gcd_suspects *s;
};

/* The graph of P, which is freed. */
static inline struct gcd_graph *pile_graph(struct pile *p)
{
    qsort(p->edges, p->edge_count, sizeof *p->edges, by_from);
    struct gcd_graph *g = shop_build(&(struct shop){ .types = p->types,
                                                     .type_count = p->type_count,
                                                     .nodes = p->nodes,
                                                     .node_count = p->node_count,
                                                     .edges = p->edges,
                                                     .edge_count = p->edge_count,
                                                     .roots = p->roots,
                                                     .root_count = p->root_count,
                                                     .dependents = p->dependents,
                                                     .dependent_count = p->dependent_count,
                                                     .used_bytes = p->used_bytes,
                                                     .generation = p->generation,
                                                     .young_bytes = p->young_bytes,
                                                     .ptr_bytes = p->ptr_bytes,
                                                     .modules = p->modules,
                                                     .module_count = p->module_count,
                                                     .incomplete = p->incomplete });
    free(p->nodes);
    free(p->edges);
    free(p->dependents);
    free(p->roots);
    free(p);
    return g;
}

/* The suspects of P, which is freed.  Without suspects if it fails. */
static inline gcd_status ask_how(struct pile *p, const struct gcd_suspects_options *how,
                                 struct answer *ret, struct gcd_error *err)
{
    struct answer a = { 0 };
    a.g = pile_graph(p);
    assert_int_equal(gcd_dominators_new(a.g, NULL, &a.d, err), GCD_OK);
    gcd_status st = gcd_suspects_new(a.g, a.d, how, &a.s, err);
    *ret = a;
    return st;
}

/* SHARE of the heap, at least MIN_BYTES. */
static inline gcd_status try_to_ask(struct pile *p, double share, uint64_t min_bytes,
                                    struct answer *ret, struct gcd_error *err)
{
    return ask_how(
        p,
        &(struct gcd_suspects_options){ .by_number = true, .share = share, .min_bytes = min_bytes },
        ret, err);
}

static inline struct answer ask_with(struct pile *p, double share, uint64_t min_bytes)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer a;
    assert_int_equal(try_to_ask(p, share, min_bytes, &a, &err), GCD_OK);
    return a;
}

/* With a minimum of 1 byte. */
static inline struct answer ask(struct pile *p, double share)
{
    return ask_with(p, share, 1);
}

static inline void forget(struct answer a)
{
    pile_report(a.g, a.d, a.s);
    gcd_suspects_free(a.s);
    gcd_dominators_free(a.d);
    gcd_graph_free(a.g);
}

static inline const char *type_name(struct answer a, uint32_t type_number)
{
    return gcd_graph_summary(a.g)->types[type_number].name;
}

#endif
