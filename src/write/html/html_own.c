/*
 * Who owns the live memory: the part that belongs to the program's own objects, outside the
 * suspects.  An object belongs to the nearest of the program's own objects that dominate it, itself
 * included.
 */
#include "write/html/html_data.h"

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define AHEAD 16u

enum { OTHER, OWN, SUSPECTED };

enum gcd_origin html_origin(const struct html_data *h, uint32_t type)
{
    return gcd_origins_get(h->origins, type);
}

bool html_is_counted(const struct gcd_suspect *s)
{
    return !s->overlaps && !gcd_suspect_kind_is_free(s->kind);
}

/* Marks suspected types in TYPES, and single suspected objects in WHOSE. */
static void mark(const struct html_data *h, uint8_t *whose, uint8_t *types)
{
    for (size_t i = 0; i < gcd_suspects_count(h->suspects); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(h->suspects, i);
        if (!html_is_counted(s))
            continue;
        if (s->kind == GCD_SUSPECT_TYPE)
            types[s->type] = 1;
        else if (s->node != GCD_NODE_NONE)
            whose[s->node] = SUSPECTED;
    }
    size_t n;
    const uint32_t *objects = gcd_suspects_objects(h->suspects, &n);
    for (size_t i = 0; i < n; i++)
        whose[objects[i]] = SUSPECTED;
}

static void add_up(struct html_data *h, uint8_t *whose, const uint8_t *types)
{
    const uint32_t *order = gcd_dominators_order(h->dominators);
    struct gcd_graph_types of = gcd_graph_types(h->g);
    for (uint32_t i = 0; i < h->reachable_objects; i++) {
        if (h->reachable_objects - i > AHEAD) { /* objects lie everywhere */
            __builtin_prefetch(&whose[order[i + AHEAD]], 1);
            __builtin_prefetch(&of.low[order[i + AHEAD]]);
        }
        uint32_t node = order[i], parent = gcd_dominators_parent(h->dominators, node),
                 type = gcd_graph_node_type(h->g, node);
        if (whose[node] != SUSPECTED && parent < GCD_NODE_ROOT)
            whose[node] = whose[parent];
        if (types[type] != 0)
            whose[node] = SUSPECTED;
        if (whose[node] == OTHER && html_origin(h, type) == GCD_ORIGIN_OWN)
            whose[node] = OWN;
        if (whose[node] == OWN)
            gcd_add_saturating(&h->own_bytes, gcd_graph_node_size(h->g, node));
    }
}

const struct gcd_suspect *html_suspect(const struct html_data *h, size_t i,
                                       const struct gcd_page_growth **ret)
{
    *ret = i < h->grown_count ? &h->grown[i] : NULL;
    return gcd_suspects_get(h->suspects, *ret != NULL ? (*ret)->suspect : i);
}

gcd_status html_own_bytes(struct html_data *h, struct gcd_error *err)
{
    size_t nodes = gcd_graph_node_count(h->g), types = gcd_graph_summary(h->g)->type_count;
    uint8_t *whose = gcd_mem_new(&h->alloc, nodes + 1),
            *suspected = gcd_mem_new(&h->alloc, types + 1);
    gcd_status st = whose != NULL && suspected != NULL
                        ? GCD_OK
                        : gcd_fail_nomem(err, "adding up the program's own objects");
    if (st == GCD_OK) {
        mark(h, whose, suspected);
        add_up(h, whose, suspected);
    }
    gcd_mem_free(&h->alloc, whose, nodes + 1);
    gcd_mem_free(&h->alloc, suspected, types + 1);
    return st;
}
