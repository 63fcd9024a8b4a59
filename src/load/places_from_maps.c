/*
 * Places of references from null maps (src/values/null_maps.h): the references of an object are
 * those whose bits are set, if they are as many and their check is the same.  Otherwise the program
 * changed them between the walk and the reading.
 */
#include "base/error.h"
#include "base/mem.h"
#include "graph/graph_places.h"
#include "load/load.h"
#include "values/null_maps.h"

gcd_status gcd_dump_set_null_maps(struct gcd_dump *d, struct gcd_null_maps *m,
                                  struct gcd_error *err)
{
    if (!d->closed || d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    null_maps_free(d->own_null_maps);
    d->null_maps = d->own_null_maps = m;
    d->summary.null_maps = m->facts;
    return GCD_OK;
}

/* A line for each slot follows the first one. */
static uint32_t slots_of(const char *layout)
{
    uint32_t n = 0;
    if (layout == NULL || layout[0] == '\0' || layout[1] == '?')
        return 0;
    while ((layout = strchr(layout, '\n')) != NULL) {
        layout++;
        n++;
    }
    return n;
}

gcd_status load_maps_init(struct load_maps *m, const struct gcd_dump *d, const struct gcd_graph *g,
                          struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    *m = (struct load_maps){ .alloc = &d->alloc, .types = s->type_count };
    if (d->null_maps == NULL || d->null_maps->count == 0)
        return GCD_OK;
    m->slots = gcd_mem_new_array(m->alloc, (size_t)m->types + 1, sizeof *m->slots);
    if (m->slots == NULL)
        return gcd_fail_nomem(err, "finding the fields of references");
    for (uint32_t i = 0; i < m->types; i++)
        m->slots[i] = slots_of(s->types[i].layout);
    m->maps = d->null_maps;
    return GCD_OK;
}

void load_maps_done(struct load_maps *m)
{
    gcd_mem_free(m->alloc, m->slots, ((size_t)m->types + 1) * sizeof *m->slots);
}

/* Are the N references at EDGES those of MAP?  FIRST of them are not in the memory of the object.
 */
static bool fits(const struct gcd_graph *g, const uint32_t *edges, size_t n, size_t first,
                 const struct null_map *map)
{
    uint64_t sum = 0;
    for (size_t i = first; i < n; i++)
        sum = null_map_mix(sum, gcd_graph_node_address(g, edges[i]));
    return null_map_check(sum) == map->check;
}

gcd_status load_maps_place(struct load_maps *m, const struct gcd_graph *g, uint32_t node,
                           uint32_t *ret)
{
    uint32_t type = gcd_graph_node_type(g, node), slots = m->maps != NULL ? m->slots[type] : 0;
    size_t n, set = 0;
    if (slots == 0)
        return GCD_END;
    const struct null_map *map = null_maps_find(m->maps, gcd_graph_node_address(g, node), &m->next);
    const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
    bool object = gcd_graph_summary(g)->types[type].layout[0] == 'o';
    if (map == NULL || (object ? map->slots != slots : map->slots % slots != 0))
        return GCD_END;
    const uint8_t *bits = m->maps->bits + map->at;
    for (size_t i = 0; i < null_map_bytes(map); i++)
        set += (size_t)__builtin_popcount(bits[i]);
    if (set + 1 < n || set > n) /* one more: of a type that can be unloaded, its allocator */
        return GCD_END;
    size_t k = n - set;
    if (!fits(g, edges, n, k, map))
        return GCD_END;
    if (k > 0)
        ret[0] = PLACES_NONE;
    for (uint32_t slot = 0; slot < map->slots && k < n; slot++)
        if ((bits[slot / 8] >> slot % 8 & 1) != 0)
            ret[k++] = slot;
    return k == n ? GCD_OK : GCD_END;
}
