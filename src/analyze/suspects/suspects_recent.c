/*
 * Caches that drop what was used least lately: an object of the program with a dictionary and a
 * linked list of the same nodes.  If the dictionary finds fewer nodes than the list has, they are
 * removed from one of the two only.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/text.h"

/* While somebody adds or removes, one part in so many of the list is in it alone; and so many tell.
 */
#define ALONE_OF 16u
#define FEWEST   100u

static bool is_dictionary(enum gcd_collection_kind kind)
{
    return kind == GCD_COLLECTION_DICTIONARY || kind == GCD_COLLECTION_CONCURRENT_DICTIONARY;
}

/* The nodes of the list in the dictionary NODE. */
static gcd_status count_found(struct suspects_work *w, struct suspect *x, uint32_t node,
                              struct gcd_error *err)
{
    struct gcd_collection it;
    gcd_status st = suspects_describe(w, node, &it, err);
    if (st != GCD_OK)
        return st == GCD_END ? GCD_OK : st;
    for (size_t i = 0; i < it.elements_of_count; i++)
        if (it.elements_of[i].type == x->pub.held[0].type)
            x->found_nodes = it.elements_of[i].objects;
    uint64_t all = x->pub.held[0].objects;
    if (all >= FEWEST && x->found_nodes > 0 && x->found_nodes < all - all / ALONE_OF)
        x->recent = SUSPECT_RECENT_LOST;
    return GCD_OK;
}

static gcd_status find_one(struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, x->pub.node, &n);
    uint32_t dictionary = GCD_NODE_NONE;
    bool list = false;
    for (size_t i = 0; i < n; i++) {
        enum gcd_collection_kind kind =
            gcd_collections_kind(w->collections, suspects_type_of(w, edges[i]));
        if (is_dictionary(kind))
            dictionary = edges[i];
        list = list || kind == GCD_COLLECTION_LINKED_LIST;
    }
    if (dictionary == GCD_NODE_NONE || !list)
        return GCD_OK;
    x->recent = SUSPECT_RECENT;
    return w->lacks_references ? GCD_OK : count_found(w, x, dictionary, err);
}

gcd_status suspects_find_recent(struct suspects_work *w, struct gcd_error *err)
{
    static const char node[] = "System.Collections.Generic.LinkedListNode`1[";
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        const struct gcd_suspect *p = &x->pub;
        if (p->kind == GCD_SUSPECT_OBJECT && x->collection.kind == GCD_COLLECTION_NONE &&
            p->held_count > 0 && w->is_own[p->type] &&
            gcd_text_begins(types[p->held[0].type].name, node))
            GCD_TRY(find_one(w, x, err));
    }
    return GCD_OK;
}
