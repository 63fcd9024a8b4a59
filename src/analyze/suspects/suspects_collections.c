/*
 * Very many collections of one type and size.  The size includes the arrays that only the
 * collection holds; an array without elements counts as a collection.
 */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/signature.h"

enum shape_kind { NO_SHAPE, ARRAY, COLLECTION };

struct shape {
    uint32_t type, bytes, first; /* the type, the size of each, the first object */
    uint64_t objects, references;
    uint64_t places; /* in their arrays of references */
    bool has_values; /* arrays of values: how many are in use is unknown */
};

struct shapes {
    struct suspects_work *w;
    uint8_t *kinds;       /* [types] enum shape_kind */
    uint32_t empty_array; /* size of an array without elements */
    struct gcd_idmap map; /* type and size -> index in items */
    struct shape *items;
    size_t count, room;
};

static enum shape_kind kind_of(const struct suspects_work *w, uint32_t type)
{
    enum gcd_collection_kind kind = gcd_collections_kind(w->collections, type);
    return kind == GCD_COLLECTION_ARRAY  ? ARRAY
           : kind != GCD_COLLECTION_NONE ? COLLECTION
                                         : NO_SHAPE;
}

/* Is TYPE an array of values, for certain? */
static bool is_of_values(const struct suspects_work *w, uint32_t type)
{
    uint32_t element = gcd_graph_summary(w->g)->types[type].parameters[0];
    return element != 0 && !gcd_element_is_reference(element);
}

/* The size of NODE with its arrays, whose references and places it counts in RET. */
static uint64_t measure(const struct shapes *s, uint32_t node, struct shape *ret)
{
    const struct suspects_work *w = s->w;
    uint32_t ptr_bytes = s->empty_array / 3;
    uint64_t bytes = gcd_graph_node_size(w->g, node);
    size_t n, inner;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    for (size_t i = 0; i < n && bytes <= SUSPECTS_SMALL; i++) {
        if (s->kinds[suspects_type_of(w, edges[i])] != ARRAY ||
            suspects_parent(w, edges[i]) != node)
            continue;
        uint64_t array = gcd_graph_node_size(w->g, edges[i]);
        gcd_add_saturating(&bytes, array);
        (void)gcd_graph_node_edges(w->g, edges[i], &inner);
        ret->references += inner;
        ret->places += array > s->empty_array ? (array - s->empty_array) / ptr_bytes : 0;
        ret->has_values = ret->has_values || (array > s->empty_array &&
                                              is_of_values(w, suspects_type_of(w, edges[i])));
    }
    return bytes;
}

static gcd_status add(struct shapes *s, uint32_t node, uint32_t bytes, const struct shape *one,
                      struct gcd_error *err)
{
    uint32_t type = suspects_type_of(s->w, node);
    uint64_t id = (uint64_t)type << 32 | bytes;
    uint32_t i = gcd_idmap_get(&s->map, id);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)s->count;
        if (!gcd_vec_reserve(s->w->alloc, &s->items, &s->room, s->count + 1, sizeof *s->items,
                             UINT32_MAX - 1) ||
            !gcd_idmap_put(&s->map, id, i))
            return gcd_fail_nomem(err, "looking at collections");
        s->items[s->count++] = (struct shape){ .type = type, .bytes = bytes, .first = node };
    }
    s->items[i].objects++;
    s->items[i].references += one->references;
    s->items[i].places += one->places;
    s->items[i].has_values = s->items[i].has_values || one->has_values;
    return GCD_OK;
}

static gcd_status gather(struct shapes *s, struct gcd_error *err)
{
    struct suspects_work *w = s->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint8_t kind = s->kinds[suspects_type_of(w, node)];
        struct shape one = { .references = 0 };
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (kind == NO_SHAPE || suspects_parent(w, node) == GCD_NODE_NONE)
            continue;
        uint64_t bytes =
            kind == COLLECTION ? measure(s, node, &one) : gcd_graph_node_size(w->g, node);
        if (bytes <= (kind == COLLECTION ? SUSPECTS_SMALL : s->empty_array))
            GCD_TRY(add(s, node, (uint32_t)bytes, &one, err));
    }
    return GCD_OK;
}

/* Is most of the room of the collections unused, as far as that is known? */
static bool is_wasteful(const struct shape *shape)
{
    return !shape->has_values && shape->references <= shape->places / 2;
}

static gcd_status make_suspects(struct shapes *s, struct gcd_error *err)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct shape *shape = &s->items[i];
        uint64_t bytes = shape->objects * shape->bytes; /* at most 2^32 times 512 */
        struct gcd_suspect_check *check = &s->w->s->checks[GCD_SUSPECT_COLLECTIONS];
        struct suspect *x;
        if (shape->objects > check->objects) {
            check->objects = shape->objects;
            check->bytes = bytes;
        }
        if (shape->objects < SUSPECTS_ALIKE || bytes < s->w->s->threshold || !is_wasteful(shape))
            continue;
        GCD_TRY(suspects_add(s->w, GCD_SUSPECT_COLLECTIONS, shape->first, shape->type, &x, err));
        x->pub.overlaps = true;
        x->pub.objects = shape->objects;
        x->pub.bytes = x->pub.retained_bytes = bytes;
        x->pub.shallow_bytes = shape->objects * gcd_graph_node_size(s->w->g, shape->first);
        x->references = shape->references;
        x->each_bytes = shape->bytes;
        x->is_array = s->kinds[shape->type] == ARRAY;
    }
    return GCD_OK;
}

gcd_status suspects_collections(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    unsigned ptr_bytes = summary->trace.ptr_bytes;
    /* header, type, length */
    struct shapes s = { .w = w, .empty_array = 3 * (ptr_bytes != 0 ? ptr_bytes : 8) };
    gcd_idmap_init(&s.map, w->alloc);
    s.kinds = gcd_mem_new_array(w->alloc, w->types, sizeof *s.kinds);
    gcd_status st = s.kinds != NULL ? GCD_OK : gcd_fail_nomem(err, "looking at collections");
    for (uint32_t i = 0; i < w->types && st == GCD_OK; i++)
        s.kinds[i] = (uint8_t)kind_of(w, i);
    if (st == GCD_OK)
        st = gather(&s, err);
    if (st == GCD_OK)
        st = make_suspects(&s, err);
    gcd_idmap_done(&s.map);
    gcd_mem_free(w->alloc, s.kinds, w->types * sizeof *s.kinds);
    gcd_mem_free(w->alloc, s.items, s.room * sizeof *s.items);
    return st;
}

void suspects_tell_collections(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_typed(s, p->objects, p->type);
    suspects_put(s, x->is_array ? " without any element take " : " of the same size, ");
    if (!x->is_array) {
        suspects_put_bytes(s, x->each_bytes);
        suspects_put(s, " each with their arrays, take ");
    }
    suspects_put_bytes(s, p->bytes);
    suspects_put(s, ", ");
    suspects_put_share(s, p->share);
    if (!x->is_array) {
        suspects_put(s, "; their arrays refer to ");
        suspects_put_count(s, x->references, "object", "objects");
        suspects_put(s, " in all");
    }
}

void suspects_advise_collections(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(
        s, x->is_array
               ? "Use Array.Empty, which is shared, instead of new arrays without elements"
               : "Create each when the first element comes, and with the capacity that it needs");
    suspects_put_look_in(s, &x->pub);
}
