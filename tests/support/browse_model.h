/*
 * A model for the browser, of a graph in memory; what its session computes is there.
 */
#ifndef BROWSE_MODEL_H
#define BROWSE_MODEL_H

#include "browse/model.h"
#include "support/check.h"
#include "support/shop.h"

struct opened {
    struct gcd_graph *g;
    struct gcd_session *s;
    struct cli_dump dump;
    struct browse_model m;
};

static inline void open_model(struct opened *o, struct gcd_graph *g)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *o = (struct opened){ .g = g };
    assert_int_equal(gcd_session_new(g, NULL, &o->s, &err), GCD_OK);
    o->dump = (struct cli_dump){ .graph = g, .session = o->s, .subject = "x.nettrace" };
    o->m = (struct browse_model){ .dump = &o->dump,
                                  .graph = g,
                                  .summary = gcd_graph_summary(g),
                                  .session = o->s,
                                  .names = gcd_session_names(o->s) };
}

static inline void close_model(struct opened *o)
{
    gcd_session_free(o->s);
    gcd_graph_free(o->g);
}

/* A root holds 0, which holds 1 to 9 of rising sizes; 8 and 9 refer to each other's neighbours. */
static inline struct gcd_graph *fan(void)
{
    struct shop_node nodes[10] = { { 0, 24 } };
    struct shop_edge edges[11];
    for (uint32_t i = 1; i < 10; i++) {
        nodes[i] = (struct shop_node){ 1 + i % 2, 100 * i };
        edges[i - 1] = (struct shop_edge){ 0, i };
    }
    edges[9] = (struct shop_edge){ 8, 9 };
    edges[10] = (struct shop_edge){ 9, 8 };
    struct gcd_type types[] = { { .id = 1, .name = "Shop.App", .named = true },
                                { .id = 2, .name = "Shop.Odd", .named = true },
                                { .id = 3, .name = "Shop.Even", .named = true } };
    struct gcd_root roots[] = {
        { .object = 0, .kind = GCD_ROOT_STATIC, .name = "s_app", .node = 0 }
    };
    return shop_build(&(struct shop){ .types = types,
                                      .type_count = 3,
                                      .nodes = nodes,
                                      .node_count = 10,
                                      .edges = edges,
                                      .edge_count = 11,
                                      .roots = roots,
                                      .root_count = 1 });
}

#endif
