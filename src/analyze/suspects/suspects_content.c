/*
 * The content of each suspect.  An object belongs to the nearest suspect above it in the dominator
 * tree, so nothing counts twice.  In the same way, an object belongs to the nearest of the
 * program's own types, which tells how much of a suspect each type accounts for.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Sums of one suspect and one type. */
struct part {
    uint32_t suspect, type;
    uint64_t objects, bytes;           /* all, shallow */
    uint64_t held_objects, held_bytes; /* directly below the suspect's object; retained */
};

#define LAST_PARTS 64u /* a power of 2 */

struct parts {
    struct suspects_work *w;
    struct gcd_idmap map; /* suspect and type -> number in items */
    struct part *items;
    size_t count, room;
    /* look-ups by the low bits of the type, because objects of few types alternate: by type, and
     * by own type */
    struct {
        uint64_t id;
        uint32_t after; /* number in items + 1; 0 = none yet */
    } last[2][LAST_PARTS];
    /* [nodes] 1 + the own type that an object belongs to; 0 = none in its suspect, or unknown so
     * far */
    uint32_t *own;
};
/* Flag in the number of a suspect: sums by own type. */
#define BY_OWN UINT32_C(0x80000000)

/* Do the objects of X count for X alone? */
static bool has_content(const struct suspect *x)
{
    return !x->pub.overlaps;
}

/* Descriptions may visit each object and reference this many times on average. */
#define DESCRIBED_MAX 8u

gcd_status suspects_describe(struct suspects_work *w, uint32_t node, struct gcd_collection *ret,
                             struct gcd_error *err)
{
    if (w->described / DESCRIBED_MAX > w->nodes + gcd_graph_edge_count(w->g))
        return GCD_END;
    gcd_status st = gcd_collection_describe(w->collections, node, ret, err);
    if (st == GCD_OK)
        w->described += ret->structure_objects + ret->references;
    return st;
}

gcd_status suspects_add_elements(struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    gcd_status st = suspects_describe(w, x->pub.node, &x->collection, err);
    if (st == GCD_END)
        return GCD_OK;
    if (st == GCD_OK && w->inside == NULL)
        w->inside = gcd_mem_new_array(w->alloc, w->words, sizeof *w->inside);
    if (st == GCD_OK && w->inside == NULL)
        return gcd_fail_nomem(err, "looking at collections");
    for (uint64_t i = 0; st == GCD_OK && i < x->collection.structure_objects; i++)
        bits_set(w->inside, gcd_collection_object(w->collections, i));
    x->pub.elements = x->collection.elements;
    x->pub.elements_at_least = x->collection.at_least;
    x->pub.elements_at_most = x->collection.at_most;
    x->pub.collection = gcd_collection_kind_name(x->collection.kind);
    return st;
}

/* Does X hold NODE, which counts for X, directly: through its object, or through the internals of
 * its collection? */
static bool is_held(const struct suspects_work *w, const struct suspect *x, uint32_t node)
{
    uint32_t up = suspects_parent(w, node);
    if (x->recursive)
        return false;
    if (x->collection.kind == GCD_COLLECTION_NONE)
        return up == x->container;
    return up < GCD_NODE_ROOT && bits_get(w->inside, up) && !bits_get(w->inside, node);
}

/* Sets the owner of the objects of suspects that do not overlap.  The list is grouped by suspect,
 * in the order of ids. */
static void mark_owned(struct suspects_work *w)
{
    size_t at = 0;
    for (size_t i = 0; i < w->owned_count; i++) {
        while (at < w->s->count && w->s->items[at].id < w->owned[i].id)
            at++;
        if (at < w->s->count && w->s->items[at].id == w->owned[i].id &&
            has_content(&w->s->items[at]))
            w->owner[w->owned[i].node] = (uint16_t)(at + 1);
    }
}

/* Marks the topmost objects of the content of each suspect. */
static gcd_status mark_first(const struct parts *p, struct gcd_error *err)
{
    struct suspects_work *w = p->w;
    uint16_t *of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *of_type), waiting = 0;
    if (of_type == NULL)
        return gcd_fail_nomem(err, "adding up suspects");
    for (size_t i = 0; i < w->s->count; i++) {
        const struct suspect *x = &w->s->items[i];
        if (x->pub.kind == GCD_SUSPECT_TYPE)
            of_type[x->pub.type] = (uint16_t)(i + 1);
        else if (x->pub.kind == GCD_SUSPECT_FINALIZERS)
            waiting = (uint16_t)(i + 1);
    }
    for (uint32_t node = 0; node < w->nodes; node++)
        if (suspects_parent(w, node) == GCD_NODE_ROOT &&
            gcd_dominators_retained(w->d, node) < w->s->threshold)
            w->owner[node] = suspects_waits(w, node) ? waiting : of_type[suspects_type_of(w, node)];
    mark_owned(w);
    for (size_t i = 0; i < w->s->count; i++)
        if (w->s->items[i].container != GCD_NODE_NONE)
            w->owner[w->s->items[i].container] = (uint16_t)(i + 1);
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint32_t type = suspects_type_of(w, node);
        if (w->owner[node] != SUSPECTS_UNKNOWN && w->is_own[type])
            p->own[node] = w->alike[type] + 1;
    }
    gcd_mem_free(w->alloc, of_type, (size_t)w->types * sizeof *of_type);
    return GCD_OK;
}

static struct part *part_of(struct parts *p, uint32_t suspect, uint32_t type)
{
    uint64_t id = (uint64_t)suspect << 32 | type;
    unsigned which = suspect >= BY_OWN, at = type & (LAST_PARTS - 1);
    if (id == p->last[which][at].id && p->last[which][at].after > 0)
        return &p->items[p->last[which][at].after - 1];
    uint32_t i = gcd_idmap_get(&p->map, id);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)p->count;
        if (!gcd_vec_reserve(p->w->alloc, &p->items, &p->room, p->count + 1, sizeof *p->items,
                             UINT32_MAX - 1) ||
            !gcd_idmap_put(&p->map, id, i))
            return NULL;
        p->items[p->count++] = (struct part){ .suspect = suspect, .type = type };
    }
    p->last[which][at].id = id;
    p->last[which][at].after = i + 1;
    return &p->items[i];
}

/*
 * Finds the owner of NODE at the nearest ancestor whose owner is known, and sets it for all nodes
 * between, so each node is visited at most twice. Own types change on the way down, so it works
 * from one object of an own type to the next.
 */
static uint16_t find_owner(const struct parts *p, uint32_t node)
{
    struct suspects_work *w = p->w;
    uint32_t top = node;
    while (top < GCD_NODE_ROOT && w->owner[top] == SUSPECTS_UNKNOWN)
        top = suspects_parent(w, top);
    uint16_t owner = top < GCD_NODE_ROOT ? w->owner[top] : SUSPECTS_NOBODY;
    for (uint32_t up = node, at = node; up != top; at = up) {
        while (at != top && (owner == SUSPECTS_NOBODY || !w->is_own[suspects_type_of(w, at)]))
            at = suspects_parent(w, at);
        uint32_t own = at != top                  ? w->alike[suspects_type_of(w, at)] + 1
                       : owner != SUSPECTS_NOBODY ? p->own[top]
                                                  : 0;
        uint32_t end = at != top ? suspects_parent(w, at) : top;
        for (; up != end; up = suspects_parent(w, up)) {
            w->owner[up] = owner;
            p->own[up] = own;
        }
    }
    return owner;
}

/* Adds NODE, of TYPE and BYTES, to the sums of the own type that it belongs to. */
static bool add_to_own(struct parts *p, uint32_t suspect, uint32_t node, uint32_t type,
                       uint64_t bytes)
{
    uint32_t own = p->own[node];
    struct part *part = own != 0 ? part_of(p, suspect | BY_OWN, own - 1) : NULL;
    if (part == NULL)
        return own == 0;
    part->objects += p->w->alike[type] == own - 1;
    gcd_add_saturating(&part->bytes, bytes);
    return true;
}

static gcd_status add_up(struct parts *p, struct gcd_error *err)
{
    struct suspects_work *w = p->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        uint16_t owner = find_owner(p, node);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (owner == SUSPECTS_NOBODY)
            continue;
        uint32_t type = suspects_type_of(w, node);
        uint64_t bytes = gcd_graph_node_size(w->g, node);
        struct part *part =
            add_to_own(p, owner - 1u, node, type, bytes) ? part_of(p, owner - 1u, type) : NULL;
        if (part == NULL)
            return gcd_fail_nomem(err, "adding up suspects");
        part->objects++;
        gcd_add_saturating(&part->bytes, bytes);
        struct suspect *x = &w->s->items[owner - 1u];
        if (is_held(w, x, node)) {
            uint64_t retained = gcd_dominators_retained(w->d, node);
            part->held_objects++;
            gcd_add_saturating(&part->held_bytes, retained);
            if (retained > x->largest_bytes) {
                x->largest_bytes = retained;
                x->largest_type = part->type;
            }
        }
    }
    return GCD_OK;
}

static void keep_part(struct suspects_work *w, const struct part *part)
{
    struct gcd_suspect_part sum = { part->type, part->objects, part->bytes };
    struct suspect *x = &w->s->items[part->suspect & ~BY_OWN];
    if (part->suspect >= BY_OWN) {
        suspects_keep_most(x->pub.own, &x->pub.own_count, GCD_SUSPECT_PARTS, sum);
        return;
    }
    /* HANDLERS already know what they hold: the targets */
    bool handlers = x->pub.kind == GCD_SUSPECT_HANDLERS;
    gcd_add_saturating(&x->pub.bytes, part->bytes);
    x->pub.content_objects += part->objects;
    if (part->type == x->pub.type && x->recursive) {
        x->pub.objects = part->objects;
        x->pub.shallow_bytes = part->bytes;
    }
    suspects_keep_most(x->pub.content, &x->pub.content_count, GCD_SUSPECT_PARTS, sum);
    if (part->held_objects > 0 && !handlers) {
        x->pub.held_objects += part->held_objects;
        suspects_keep_most(
            x->pub.held, &x->pub.held_count, GCD_SUSPECT_PARTS,
            (struct gcd_suspect_part){ part->type, part->held_objects, part->held_bytes });
    }
}

/* A tree has at least so many objects for each of the first ones below its root. */
#define TREE_HAS 16u

/* The content begins with UP, of the type of most of it. */
static void begin_at(struct suspects_work *w, size_t number, uint32_t up)
{
    struct gcd_suspect *p = &w->s->items[number].pub;
    uint64_t bytes = gcd_graph_node_size(w->g, up);
    p->node = up;
    p->type = suspects_type_of(w, up);
    p->retained_bytes = gcd_dominators_retained(w->d, up);
    w->owner[up] = (uint16_t)(number + 1);
    gcd_add_saturating(&p->bytes, bytes);
    p->own[0].objects++;
    gcd_add_saturating(&p->own[0].bytes, bytes);
    p->content_objects++;
    for (size_t i = 0; i < p->content_count; i++)
        if (p->content[i].type == p->type) {
            p->content[i].objects++;
            gcd_add_saturating(&p->content[i].bytes, bytes);
        }
}

/*
 * An object that holds some of its type, in fields, in an array or in a collection, and many more
 * of them below: a tree.  It is told as one, from that object on.
 */
static void make_tree(struct suspects_work *w, size_t number)
{
    struct suspect *x = &w->s->items[number];
    struct gcd_suspect *p = &x->pub;
    bool collection = x->collection.kind != GCD_COLLECTION_NONE;
    if (p->kind != GCD_SUSPECT_OBJECT || x->recursive || p->own_count == 0 ||
        (collection ? x->collection.elements_of_count : p->held_count) == 0)
        return;
    uint32_t type = collection ? x->collection.elements_of[0].type : p->held[0].type;
    uint64_t first = collection ? x->collection.elements_of[0].objects : p->held[0].objects;
    bool itself = suspects_type_of(w, p->node) == type;
    uint32_t up = itself ? p->node : suspects_parent(w, p->node);
    if (up >= GCD_NODE_ROOT || suspects_type_of(w, up) != type ||
        (!itself && w->owner[up] != SUSPECTS_NOBODY) || w->alike[type] != p->own[0].type ||
        p->own[0].bytes < p->bytes / 2 || p->own[0].objects / TREE_HAS < first)
        return;
    x->recursive = true;
    x->collection = (struct gcd_collection){ .kind = GCD_COLLECTION_NONE };
    p->collection = NULL;
    p->held_count = 0;
    p->held_objects = 0;
    if (!itself)
        begin_at(w, number, up);
    p->objects = p->own[0].objects;
    p->shallow_bytes = gcd_graph_node_size(w->g, up) * p->objects;
}

gcd_status suspects_content(struct suspects_work *w, struct gcd_error *err)
{
    struct parts p = { .w = w };
    w->owner = gcd_mem_new_array(w->alloc, w->nodes, sizeof *w->owner);
    p.own = gcd_mem_new_array(w->alloc, w->nodes, sizeof *p.own);
    gcd_idmap_init(&p.map, w->alloc);
    gcd_status st = w->owner != NULL && p.own != NULL ? mark_first(&p, err)
                                                      : gcd_fail_nomem(err, "adding up suspects");
    if (st == GCD_OK)
        st = add_up(&p, err);
    for (size_t i = 0; i < w->s->count && st == GCD_OK; i++)
        if (has_content(&w->s->items[i]))
            w->s->items[i].pub.bytes = 0;
    for (size_t i = 0; i < p.count && st == GCD_OK; i++)
        keep_part(w, &p.items[i]);
    for (size_t i = 0; i < w->s->count && st == GCD_OK; i++)
        make_tree(w, i);
    gcd_idmap_done(&p.map);
    gcd_mem_free(w->alloc, p.items, p.room * sizeof *p.items);
    gcd_mem_free(w->alloc, p.own, (size_t)w->nodes * sizeof *p.own);
    return st;
}
