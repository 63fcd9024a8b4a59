/*
 * Arrays and collections that are mostly empty, and large or very many: compares the number of
 * references with the length that follows from the size. Those of one type are one suspect.
 *
 * An array inside a collection counts as the collection, so that the sentence names a dictionary
 * and not its entries.
 */
#include "analyze/suspects/suspects_words.h"

#include <gcdumpc/unstable/lengths.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* From this size on, one is large; those above SUSPECTS_SMALL count if there are SUSPECTS_ALIKE of
 * a type. */
#define LARGE_BYTES (UINT64_C(64) << 10)
/* At least this many slots per used slot are sparse. */
#define PLACES_OF_ONE 4u

struct sparse_type {
    uint32_t type, worst;
    uint64_t objects, bytes, empty_bytes, used, places, nulls, worst_bytes;
    bool large; /* at least one of them is */
};

struct search {
    struct suspects_work *w;
    struct gcd_length_rule *lengths; /* [types] */
    struct gcd_idmap map;            /* type -> index in items */
    struct sparse_type *items;
    size_t count, room;
    uint32_t
        told; /* only those of this type, for the last suspect; GCD_TYPE_NONE: all are counted */
};

/* The part of BYTES that the unused PLACES take. */
static uint64_t empty_part(uint64_t bytes, uint64_t used, uint64_t places)
{
    return (uint64_t)((double)bytes * (1 - (double)used / (double)places));
}

/* The slots of an array or a collection. */
struct slots {
    uint64_t bytes, used, places, nulls;
};

static gcd_status add(struct search *s, uint32_t node, struct slots of, struct gcd_error *err)
{
    uint32_t type = suspects_type_of(s->w, node), i = gcd_idmap_get(&s->map, type);
    uint64_t bytes = of.bytes, used = of.used, places = of.places;
    if (places == 0 || used > places / PLACES_OF_ONE || bytes <= SUSPECTS_SMALL)
        return GCD_OK;
    if (s->told != GCD_TYPE_NONE) /* counted already */
        return type == s->told ? suspects_own(s->w, node, err) : GCD_OK;
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)s->count;
        if (!gcd_vec_reserve(s->w->alloc, &s->items, &s->room, s->count + 1, sizeof *s->items,
                             UINT32_MAX - 1) ||
            !gcd_idmap_put(&s->map, type, i))
            return gcd_fail_nomem(err, "looking for sparse collections");
        s->items[s->count++] = (struct sparse_type){ .type = type, .worst = node };
    }
    struct sparse_type *it = &s->items[i];
    uint64_t empty = empty_part(bytes, used, places);
    it->objects++;
    it->large = it->large || bytes >= LARGE_BYTES;
    gcd_add_saturating(&it->bytes, bytes);
    gcd_add_saturating(&it->empty_bytes, empty);
    gcd_add_saturating(&it->used, used);
    gcd_add_saturating(&it->places, places);
    gcd_add_saturating(&it->nulls, of.nulls);
    if (empty > it->worst_bytes) {
        it->worst_bytes = empty;
        it->worst = node;
    }
    return GCD_OK;
}

/* Is NODE an internal object of the collection that alone holds it?  The collection is examined
 * itself. */
static bool is_inside(const struct suspects_work *w, uint32_t node)
{
    uint32_t up = suspects_parent(w, node);
    if (up >= GCD_NODE_ROOT)
        return false;
    uint32_t outer = suspects_type_of(w, up);
    return gcd_collections_is_inside(w->collections, outer, outer, suspects_type_of(w, node));
}

static gcd_status look_at_array(struct search *s, uint32_t node, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    const struct gcd_length_rule *rule = &s->lengths[suspects_type_of(w, node)];
    uint64_t bytes = gcd_graph_node_size(w->g, node), length;
    size_t n;
    (void)gcd_graph_node_edges(w->g, node, &n);
    if (bytes <= SUSPECTS_SMALL ||
        !gcd_collections_of_references(w->collections, suspects_type_of(w, node)) ||
        !gcd_length_of(rule, bytes, &length) || is_inside(w, node))
        return GCD_OK;
    return add(s, node, (struct slots){ .bytes = bytes, .used = n, .places = length }, err);
}

/* Describes NODE only if it alone holds an object that is not small, which most collections do not.
 */
static gcd_status look_at_collection(struct search *s, uint32_t node, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    struct gcd_collection it;
    size_t n;
    bool large = false;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n && !large; i++)
        large = gcd_graph_node_size(w->g, edges[i]) > SUSPECTS_SMALL &&
                suspects_parent(w, edges[i]) == node;
    if (!large)
        return GCD_OK;
    gcd_status st = suspects_describe(s->w, node, &it, err);
    if (st != GCD_OK || it.only_capacity || it.capacity == GCD_COUNT_UNKNOWN)
        return st == GCD_END ? GCD_OK : st;
    return add(s, node,
               (struct slots){ it.structure_bytes, it.elements - it.nulls, it.capacity, it.nulls },
               err);
}

static gcd_status look_at(struct search *s, uint32_t node, struct gcd_error *err)
{
    struct suspects_work *w = s->w;
    enum gcd_collection_kind kind = gcd_collections_kind(w->collections, suspects_type_of(w, node));
    if (kind == GCD_COLLECTION_NONE || suspects_parent(w, node) == GCD_NODE_NONE)
        return GCD_OK;
    return kind == GCD_COLLECTION_ARRAY ? look_at_array(s, node, err)
                                        : look_at_collection(s, node, err);
}

static gcd_status look_at_all(struct search *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (s->told == GCD_TYPE_NONE || suspects_type_of(w, node) == s->told)
            GCD_TRY(look_at(s, node, err));
    }
    return GCD_OK;
}

static gcd_status make_suspects(struct search *s, struct gcd_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct sparse_type *it = &s->items[i];
        struct gcd_suspect_check *check = &s->w->s->checks[GCD_SUSPECT_SPARSE];
        struct suspect *x;
        if (!it->large && it->objects < SUSPECTS_ALIKE)
            continue;
        if (it->empty_bytes > check->bytes) {
            check->objects = it->objects;
            check->bytes = it->empty_bytes;
        }
        if (it->empty_bytes < s->w->s->threshold)
            continue;
        GCD_TRY(suspects_add(s->w, GCD_SUSPECT_SPARSE, it->worst, it->type, &x, err));
        x->pub.overlaps = true;
        x->pub.objects = it->objects;
        x->pub.bytes = it->empty_bytes;
        x->pub.shallow_bytes = x->pub.retained_bytes = it->bytes;
        x->references = it->used;
        x->places = it->places;
        x->nulls = it->nulls;
        s->told = it->type;
        GCD_TRY(look_at_all(s, err));
    }
    return GCD_OK;
}

gcd_status suspects_sparse(struct suspects_work *w, struct gcd_error *err)
{
    struct search s = { .w = w, .told = GCD_TYPE_NONE };
    gcd_idmap_init(&s.map, w->alloc);
    s.lengths = gcd_mem_new_array(w->alloc, w->types, sizeof *s.lengths);
    gcd_status st = s.lengths == NULL
                        ? gcd_fail_nomem(err, "looking for sparse collections")
                        : gcd_length_rules(gcd_graph_summary(w->g), w->alloc, s.lengths, err);
    if (st == GCD_OK)
        st = look_at_all(&s, err);
    if (st == GCD_OK)
        st = make_suspects(&s, err);
    gcd_idmap_done(&s.map);
    gcd_mem_free(w->alloc, s.lengths, w->types * sizeof *s.lengths);
    gcd_mem_free(w->alloc, s.items, s.room * sizeof *s.items);
    return st;
}

/* Rounded down, so that 100 % means completely empty. */
void suspects_put_empty(struct suspect_words *s, const struct suspect *x)
{
    double percent = 100 * (1 - (double)x->references / (double)x->places);
    suspects_put(s, "%.1f %% empty", x->references > 0 && percent > 99.9 ? 99.9 : percent);
}

void suspects_tell_sparse(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->objects == 1) {
        suspects_put_article(s, p->type, false);
        suspects_put_type(s, p->type);
        suspects_put(s, " is ");
    } else {
        suspects_put_typed(s, p->objects, p->type);
        suspects_put(s, " are ");
    }
    suspects_put_empty(s, x);
    suspects_put(s, p->objects == 1 ? ": it has " : ": together they have ");
    suspects_put_number(s, x->references);
    suspects_put(s, " of ");
    suspects_put_count(s, x->places, "place", "places");
    suspects_put(s, " in use");
}

void suspects_say_sparse(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_tell_sparse(s, x);
    suspects_put(s, ", and ");
    suspects_put_bytes(s, p->bytes);
    suspects_put(s, " hold nothing, ");
    suspects_put_share(s, p->share);
    suspects_put(s, ".");
    suspects_put_held_by(s, x, p->objects == 1 ? "It is" : "The emptiest one is");
}

void suspects_advise_sparse(struct suspect_words *s, const struct suspect *x)
{
    if (gcd_collections_kind(s->w->collections, x->pub.type) == GCD_COLLECTION_ARRAY)
        suspects_put(
            s, "Make the arrays as long as they are used, or keep what is there in a dictionary.");
    else if (x->nulls >= (x->places - x->references) / 2)
        suspects_put(s, "Most of what is empty are elements that are null: keep what is there in a "
                        "dictionary.");
    else
        suspects_put(
            s, "Create %s without that capacity, or call TrimExcess after removing many elements.",
            x->pub.objects == 1 ? "it" : "them");
}
