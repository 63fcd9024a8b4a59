#include "support/shop.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/graph_build.h"

static void must(gcd_status st, const struct gcd_error *err)
{
    if (st == GCD_OK)
        return;
    (void)fprintf(stderr, "shop: %s\n", err->msg);
    abort();
}

struct gcd_graph *shop_build(const struct shop *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_graph_options options = { .keep_unknown = s->keep_unknown };
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t number;
    must(gcd_build_new(&options, &b, &err), &err);
    struct gcd_summary *f = gcd_build_summary(b);
    f->trace.ptr_bytes = s->ptr_bytes != 0 ? s->ptr_bytes : 8;
    must(gcd_build_text(b, "shop", 4, &f->process_name, &err), &err);
    f->verdict.complete = s->incomplete == NULL;
    if (s->incomplete != NULL)
        f->verdict.reasons[f->verdict.reason_count++] = *s->incomplete;
    for (size_t i = 0; i < s->module_count; i++)
        must(gcd_build_module(b, &s->modules[i], &err), &err);
    for (size_t i = 0; i < s->type_count; i++) {
        struct gcd_type t = s->types[i];
        if (t.module_path == NULL)
            t.module_path = "";
        must(gcd_build_type(b, &t, &number, &err), &err);
    }
    for (size_t i = 0; i < s->node_count; i++)
        must(gcd_build_node(b, 0x7f0000001000 + 0x1000 * i, s->nodes[i].type,
                            s->nodes[i].size_bytes, &err),
             &err);
    must(gcd_build_nodes_end(b, &err), &err);
    for (size_t i = 0, at = 0; i < s->node_count; i++)
        for (must(gcd_build_next_node(b, &err), &err); at < s->edge_count && s->edges[at].from == i;
             at++)
            must(gcd_build_edge_nodes(b, &s->edges[at].to, 1, &err), &err);
    for (size_t i = 0; i < s->root_count; i++)
        must(gcd_build_root(b, &s->roots[i], &err), &err);
    for (size_t i = 0; i < s->dependent_count; i++)
        must(gcd_build_dependent(b, s->dependents[i].from, s->dependents[i].to, &err), &err);
    if (s->used_bytes > 0)
        must(gcd_build_range(b,
                             &(struct gcd_range){ .start = 0x7f0000000000,
                                                  .used_bytes = s->used_bytes,
                                                  .generation = s->generation },
                             &err),
             &err);
    if (s->young_bytes > 0)
        must(gcd_build_range(b,
                             &(struct gcd_range){ .start = 0x7f0000000000 + s->used_bytes,
                                                  .used_bytes = s->young_bytes },
                             &err),
             &err);
    must(gcd_build_seal(b, &g, &err), &err);
    return g;
}

struct gcd_graph *shop_graph(uint64_t order_bytes, bool weak)
{
    return shop_build(&(struct shop){
        SHOP_TYPES({ .name = "Shop.Store", .module_path = "/app/Shop.dll", .element_type = 0x12 },
                   { .name = "Shop.Order[]", .module_path = "/app/Shop.dll", .element_type = 0x1d },
                   { .name = "Shop.Order", .module_path = "/app/Shop.dll", .element_type = 0x12 }),
        SHOP_NODES({ 0, 24 }, { 1, 40 }, { 2, order_bytes }),
        SHOP_EDGES({ 0, 1 }, { 1, 2 }),
        .roots =
            (const struct gcd_root[]){
                { .name = "current", .kind = GCD_ROOT_STATIC },
                { .node = 2, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK } },
        .root_count = weak ? 2 : 1,
        .used_bytes = 4096,
    });
}
