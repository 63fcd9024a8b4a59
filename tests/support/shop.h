/*
 * The heap of the worked examples in the format references: a Shop.Store of 24 bytes held by the
 * static variable "current", its Shop.Order[] of 40 bytes, one Shop.Order.
 */
#ifndef SHOP_H
#define SHOP_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

/* ORDER_BYTES: of the Shop.Order; WEAK: it has a weak handle, too. */
struct gcd_graph *shop_graph(uint64_t order_bytes, bool weak);

/* A compact description of a graph: types and nodes, then edges as pairs, roots.  Aborts if the
 * builder refuses something. */
struct shop_node {
    uint32_t type;
    uint64_t size_bytes;
};
struct shop_edge {
    uint32_t from, to; /* in ascending order of FROM; GCD_NODE_NONE dangles */
};
struct shop {
    const struct gcd_type *types;
    size_t type_count;
    const struct shop_node *nodes;
    size_t node_count;
    const struct shop_edge *edges;
    size_t edge_count;
    const struct gcd_root *roots;
    size_t root_count;
    const struct shop_edge *dependents;
    size_t dependent_count;
    const struct gcd_module *modules;
    size_t module_count;
    const struct gcd_reason *incomplete; /* NULL = the dump is complete */
    uint64_t used_bytes;                 /* of a memory range; 0 = none */
    unsigned generation;                 /* of that */
    uint64_t young_bytes;                /* of a range of generation 0 behind it; 0 = none */
    unsigned ptr_bytes;                  /* 0 = 8 */
    bool keep_unknown;
};
struct gcd_graph *shop_build(const struct shop *s);

#define SHOP_LIST(type, ...) \
    (const type[]){ __VA_ARGS__ }, sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)
#define SHOP_FIELDS(list, count, type, ...) \
    .list = (const type[]){ __VA_ARGS__ },  \
    .count = sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)
#define SHOP_TYPES(...)      SHOP_FIELDS(types, type_count, struct gcd_type, __VA_ARGS__)
#define SHOP_NODES(...)      SHOP_FIELDS(nodes, node_count, struct shop_node, __VA_ARGS__)
#define SHOP_EDGES(...)      SHOP_FIELDS(edges, edge_count, struct shop_edge, __VA_ARGS__)
#define SHOP_ROOTS(...)      SHOP_FIELDS(roots, root_count, struct gcd_root, __VA_ARGS__)
#define SHOP_DEPENDENTS(...) SHOP_FIELDS(dependents, dependent_count, struct shop_edge, __VA_ARGS__)
#define SHOP_MODULES(...)    SHOP_FIELDS(modules, module_count, struct gcd_module, __VA_ARGS__)

#endif
