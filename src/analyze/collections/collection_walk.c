/*
 * The walk through the internals of one collection.  It stops at elements, so its cost depends on
 * the size of the collection itself and not on what the elements refer to.  Nodes may form circles.
 */
#include "analyze/collections/collections.h"

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

#define CHECK_EVERY (UINT32_C(1) << 20)

gcd_status collections_tally(struct gcd_collections *c, unsigned which, uint32_t node,
                             struct gcd_error *err)
{
    uint32_t type = gcd_graph_node_type(c->g, node);
    if (c->counts[which] == NULL)
        c->counts[which] =
            gcd_mem_new_array(&c->alloc, c->summary->type_count, sizeof *c->counts[which]);
    if (c->counts[which] == NULL)
        return collections_nomem(err);
    if (c->counts[which][type] == 0) {
        if (!gcd_vec_reserve(&c->alloc, &c->counted[which], &c->counted_room[which],
                             c->counted_count[which] + 1, sizeof *c->counted[which], UINT32_MAX))
            return collections_nomem(err);
        c->counted[which][c->counted_count[which]++] = type;
    }
    c->counts[which][type]++;
    return GCD_OK;
}

gcd_status collections_add_object(struct gcd_collections *c, struct inside *in, uint32_t node,
                                  struct gcd_error *err)
{
    if (!gcd_vec_reserve(&c->alloc, &c->inside, &c->inside_room, in->objects + 1, sizeof *c->inside,
                         UINT32_MAX))
        return collections_nomem(err);
    c->inside[in->objects++] = (struct inner_object){ .node = node, .role = INNER_NONE };
    c->inside_count = in->objects;
    gcd_add_saturating(&in->bytes, gcd_graph_node_size(c->g, node));
    return GCD_OK;
}

/* Adds NODE to the internals with ROLE, only once. */
static gcd_status enter(struct gcd_collections *c, struct inside *in, uint32_t node,
                        enum inner_role role, struct gcd_error *err)
{
    uint64_t *word = &c->seen[node / 64], bit = UINT64_C(1) << node % 64;
    if ((*word & bit) != 0)
        return GCD_OK;
    GCD_TRY(collections_add_object(c, in, node, err));
    *word |= bit;
    c->inside[in->objects - 1].role = (uint8_t)role;
    return GCD_OK;
}

static uint64_t length_of(const struct gcd_collections *c, uint32_t node)
{
    uint64_t length, bytes = gcd_graph_node_size(c->g, node);
    if (bytes == 3 * c->ptr_bytes) /* header, type, length */
        return 0;
    return gcd_length_of(&c->lengths[gcd_graph_node_type(c->g, node)], bytes, &length)
               ? length
               : GCD_COUNT_UNKNOWN;
}

/* An array of elements, keys or entries. */
static gcd_status look_at_array(struct gcd_collections *c, struct inside *in,
                                const struct inner_object *it, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, it->node, &n);
    bool keys = it->role == INNER_KEYS;
    uint64_t *arrays = keys ? &in->key_arrays : &in->arrays,
             *references = keys ? &in->keys : &in->references;
    uint64_t *places = keys ? &in->key_places : &in->places;
    ++*arrays;
    *references += n;
    gcd_add_saturating(places, length_of(c, it->node)); /* unknown stays unknown */
    if (it->role == INNER_ENTRIES &&
        (in->entries == GCD_NODE_NONE ||
         gcd_graph_node_size(c->g, it->node) > gcd_graph_node_size(c->g, in->entries)))
        in->entries = it->node;
    struct gcd_graph_types types = gcd_graph_types(c->g);
    for (size_t i = 0; i < n && it->role != INNER_ENTRIES; i++) {
        collections_fetch_type(&types, edges, n, i);
        GCD_TRY(collections_tally(c, keys, edges[i], err));
    }
    return GCD_OK;
}

static bool refers_to(const uint32_t *edges, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (edges[i] == node)
            return true;
    return false;
}

/* Counts the value in ENTRY of a MemoryCache: an object that is neither its KEY nor one of the
 * cache's own objects. */
static gcd_status tally_cached(struct gcd_collections *c, uint32_t entry, uint32_t key,
                               struct gcd_error *err)
{
    static const char own[] = "Microsoft.Extensions.Caching.Memory.";
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, entry, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] != key && strncmp(c->summary->types[gcd_graph_node_type(c->g, edges[i])].name,
                                       own, sizeof own - 1) != 0)
            GCD_TRY(collections_tally(c, 0, edges[i], err));
    return GCD_OK;
}

static gcd_status look_at_node(struct gcd_collections *c, struct inside *in, uint32_t node,
                               struct gcd_error *err)
{
    size_t n, below = 0, others = 0;
    bool cache = in->known->kind == GCD_COLLECTION_CACHE;
    const uint32_t *edges = gcd_graph_node_edges(c->g, node, &n);
    uint32_t type = gcd_graph_node_type(c->g, node);
    if (in->known->nodes_know_owner && !refers_to(edges, n, in->node))
        return GCD_OK;
    for (size_t i = 0; i < n; i++) {
        if (edges[i] == in->node)
            continue;
        uint32_t to = gcd_graph_node_type(c->g, edges[i]);
        enum inner_role role = collections_role_below(c, in->type, type, INNER_NODE, to);
        below += to == type;
        if (role == INNER_NONE) {
            GCD_TRY(collections_tally(c, (cache || in->keyed) && others == 0, edges[i], err));
            others++;
        } else {
            if (cache && role == INNER_OTHER)
                GCD_TRY(tally_cached(c, edges[i], edges[0], err));
            GCD_TRY(enter(c, in, edges[i], role, err));
        }
    }
    in->nodes++;
    in->branches += below >= 2;
    in->chained += below >= 1;
    in->references += others;
    return GCD_OK;
}

static gcd_status look_into(struct gcd_collections *c, struct inside *in, uint32_t node,
                            struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        enum inner_role role = collections_role(c, in->type, gcd_graph_node_type(c->g, edges[i]));
        if (role != INNER_NONE)
            GCD_TRY(enter(c, in, edges[i], role, err));
    }
    return GCD_OK;
}

static gcd_status look_at(struct gcd_collections *c, struct inside *in, size_t i,
                          struct gcd_error *err)
{
    struct inner_object it = c->inside[i];
    switch ((enum inner_role)it.role) {
    case INNER_ITEMS:
    case INNER_KEYS:
    case INNER_ENTRIES:
        return look_at_array(c, in, &it, err);
    case INNER_BUCKETS:
        in->buckets = length_of(c, it.node);
        return GCD_OK;
    case INNER_NODE:
        return look_at_node(c, in, it.node, err);
    case INNER_HOLDER:
        return look_into(c, in, it.node, err);
    case INNER_OTHER:
    case INNER_NONE:
        break;
    }
    return GCD_OK;
}

static void forget(struct gcd_collections *c, const struct inside *in)
{
    for (size_t i = 0; i < in->objects; i++)
        c->seen[c->inside[i].node / 64] &= ~(UINT64_C(1) << c->inside[i].node % 64);
}

gcd_status collections_walk(struct gcd_collections *c, uint32_t node, struct inside *ret,
                            struct gcd_error *err)
{
    uint32_t type = gcd_graph_node_type(c->g, node);
    struct inside in = { .known =
                             c->known[type] != 0 ? &gcd_collection_types[c->known[type] - 1] : NULL,
                         .node = node,
                         .type = type,
                         .buckets = GCD_COUNT_UNKNOWN,
                         .entries = GCD_NODE_NONE };
    for (unsigned i = 0; i < 2; i++) {
        for (size_t k = 0; k < c->counted_count[i]; k++)
            c->counts[i][c->counted[i][k]] = 0;
        c->counted_count[i] = 0;
    }
    in.keyed = in.known != NULL && collections_arg(c, type, 0).nature == ARG_REFERENCE &&
               collections_arg(c, type, 1).name.n > 0;
    if (c->seen == NULL)
        c->seen = gcd_mem_new_array(&c->alloc, c->words, sizeof *c->seen);
    if (c->seen == NULL)
        return collections_nomem(err);
    gcd_status st = enter(c, &in, node, collections_own_role(c, type), err);
    for (size_t i = 0; i < in.objects && st == GCD_OK; i++) {
        if (i % CHECK_EVERY == 0)
            st = gcd_check_canceled(c->context.cancel, err);
        if (st == GCD_OK)
            st = look_at(c, &in, i, err);
    }
    forget(c, &in);
    *ret = in;
    return st;
}
