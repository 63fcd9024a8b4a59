/*
 * Containers: the places in the dominator tree where the memory spreads out.
 *
 * An object is heavy if it retains a suspect's share.  Heavy objects form the top of the dominator
 * tree.  The rest of a heavy object is what it retains without its heavy children.  If the rest is
 * a suspect's share, the memory spreads out here, over small children or in the object itself.
 * Rests do not overlap.  From the last heavy object of a branch, the search continues downwards
 * while one child keeps nearly everything.
 *
 * A list or tree of objects of one type would become many suspects.  So if an object keeps another
 * one of its type, or the type recurs on the way down with the same types between (a node, its
 * array of children, the next node), the objects from the first one on count as one container.
 *
 * The internals of a collection, such as tables, nodes and segments (unstable/collections.h),
 * belong to the collection, which is one container with its elements below it.  Objects and
 * collections can alternate in such a list.
 *
 * Heavy elements of one type in one collection, as the dictionaries in a dictionary, would become
 * many suspects, too: if they are nearly all of it, the collection with them is the container.
 *
 * Objects that retain at least half of a suspect's share get a record, each after its parent.
 * Objects of a known list need none: a list of millions has as many records as a list of twenty.
 */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"
#include "base/mem.h"

#define NONE UINT32_MAX
/* The maximum distance of objects of one type in a list, and how often the type must occur: nested
 * collections are not a list. */
#define PERIOD  8u
#define REPEATS 16u
/* So many heavy elements of one type stay in their collection, if at most so small a part of it is
 * not in elements of this type or in small ones. */
#define FEWEST_ALIKE 3u
/* With a lower limit than usual, two are enough: parts of one matter. */
#define FEWEST_OF_LOW 2u
#define OTHERS_PART  5u

struct heavy {
    uint32_t node, parent; /* PARENT and the members below are records; NONE = none */
    uint32_t same;         /* the nearest ancestor of the same type, NONE if none is near */
    uint32_t repeats;      /* number of objects of the type up to here */
    uint32_t head;         /* the first object of its list; itself if it is the first */
    uint32_t last;         /* of a head: a record further down where the list continues */
    uint32_t largest;      /* the child that retains most */
    bool collection;       /* its internals have no records */
    bool inside;           /* it counts for the collection above it */
    uint32_t alike;        /* a heavy child, whose type most heavy children have */
    uint32_t alike_count;  /* of its type */
    uint64_t alike_bytes;
    uint64_t rest; /* without heavy children; modulo 2^64 during the summation */
};

struct tree {
    struct suspects_work *w;
    struct heavy *items;
    size_t count, room;
    /* one bit per node: RECORD is set; few are, so most of the next array is never touched */
    uint64_t *recorded;
    uint32_t *record;  /* [nodes] the record that a node has or belongs to */
    uint32_t *waiting; /* nodes whose parents need a record first */
    size_t waiting_room;
    uint64_t floor;
};

static uint64_t retained(const struct tree *t, uint32_t i)
{
    return gcd_dominators_retained(t->w->d, t->items[i].node);
}

static uint32_t type_of(const struct tree *t, uint32_t i)
{
    return suspects_type_of(t->w, t->items[i].node);
}

static bool is_list(const struct tree *t, uint32_t i)
{
    return t->items[i].head != NONE;
}

/* Is NODE an internal object of the collection of record I?  UP, its parent in the dominator tree,
 * is the collection or an internal object of it. */
static bool is_inside(const struct tree *t, uint32_t i, uint32_t up, uint32_t node)
{
    const struct suspects_work *w = t->w;
    return t->items[i].collection &&
           gcd_collections_is_inside(w->collections, type_of(t, i), suspects_type_of(w, up),
                                     suspects_type_of(w, node));
}

/*
 * Does the type of NODE, below UP, occur in the known part of HEAD's list, between two objects of
 * the head's type?  Or is it an internal object of a collection there?
 */
static bool belongs(const struct tree *t, uint32_t head, uint32_t up, uint32_t node)
{
    uint32_t type = suspects_type_of(t->w, node), first = type_of(t, head), i = t->items[head].last;
    if (type == first || is_inside(t, head, up, node))
        return true;
    for (uint32_t n = 0; i != head && n < PERIOD; n++) {
        i = t->items[i].parent;
        if (type_of(t, i) == first)
            break;
        if (type_of(t, i) == type || is_inside(t, i, up, node))
            return true;
    }
    return false;
}

/* Joins the records from LAST up to the first one of its type into one list, or into the list found
 * on the way. */
static void make_list(struct tree *t, uint32_t last)
{
    uint32_t first = last, top = last;
    while (t->items[first].same != NONE)
        first = t->items[first].same;
    while (top != first && !is_list(t, top))
        top = t->items[top].parent;
    uint32_t head = is_list(t, top) ? t->items[top].head : top;
    t->items[top].head = head;
    for (uint32_t i = last; i != top; i = t->items[i].parent)
        t->items[i].head = head;
    t->items[head].last = last;
}

/* Are two objects enough for a list?  Not for nested arrays and collections, unless a collection
 * type is its own node. */
static bool is_self_typed(const struct tree *t, const struct heavy *h)
{
    return h->same == h->parent &&
           gcd_collections_kind(t->w->collections, suspects_type_of(t->w, h->node)) ==
               GCD_COLLECTION_NONE;
}

static void set_record(struct tree *t, uint32_t node, uint32_t number)
{
    bits_set(t->recorded, node);
    t->record[node] = number;
}

static gcd_status add_record(struct tree *t, uint32_t node, uint32_t parent, struct gcd_error *err)
{
    if (!gcd_vec_reserve(t->w->alloc, &t->items, &t->room, t->count + 1, sizeof *t->items,
                         NONE - 1))
        return gcd_fail_nomem(err, "looking for containers");
    uint32_t number = (uint32_t)t->count++, type = suspects_type_of(t->w, node);
    struct heavy *h = &t->items[number];
    *h = (struct heavy){ .node = node,
                         .parent = parent,
                         .same = NONE,
                         .repeats = 1,
                         .head = NONE,
                         .last = NONE,
                         .largest = NONE,
                         .alike = NONE,
                         .rest = gcd_dominators_retained(t->w->d, node),
                         .collection = gcd_collections_has_inside(t->w->collections, type) };
    set_record(t, node, number);
    if (parent == NONE)
        return GCD_OK;
    struct heavy *p = &t->items[parent];
    if (h->rest >= t->w->s->threshold)
        p->rest -= h->rest;
    if (p->largest == NONE || retained(t, p->largest) < h->rest)
        p->largest = number;
    for (uint32_t i = parent, n = 0; i != NONE && n < PERIOD && !is_list(t, i);
         i = t->items[i].parent, n++)
        if (type_of(t, i) == type) {
            h->same = i;
            h->repeats = t->items[i].repeats + 1;
            break;
        }
    if (h->repeats >= REPEATS || (h->same != NONE && is_self_typed(t, h)))
        make_list(t, number);
    return GCD_OK;
}

/* Adds the record of NODE, whose parent has one. */
static gcd_status make_record(struct tree *t, uint32_t node, struct gcd_error *err)
{
    uint32_t up = suspects_parent(t->w, node), parent = up == GCD_NODE_ROOT ? NONE : t->record[up];
    if (parent != NONE && is_list(t, parent) && belongs(t, t->items[parent].head, up, node)) {
        set_record(t, node, t->items[parent].head);
        return GCD_OK;
    }
    if (parent != NONE && is_inside(t, parent, up, node)) {
        set_record(t, node, parent);
        return GCD_OK;
    }
    return add_record(t, node, parent, err);
}

/* Works in heap order, which is much faster than an order with parents first. */
static gcd_status make_records(struct tree *t, struct gcd_error *err)
{
    const struct gcd_dominators *d = t->w->d;
    for (uint32_t node = 0; node < t->w->nodes; node++) {
        size_t n = 0;
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(t->w, err));
        if (gcd_dominators_retained(d, node) < t->floor ||
            gcd_dominators_parent(d, node) == GCD_NODE_NONE)
            continue;
        for (uint32_t up = node; up != GCD_NODE_ROOT && !bits_get(t->recorded, up);
             up = gcd_dominators_parent(d, up)) {
            if (!gcd_vec_reserve(t->w->alloc, &t->waiting, &t->waiting_room, n + 1,
                                 sizeof *t->waiting, NONE - 1))
                return gcd_fail_nomem(err, "looking for containers");
            t->waiting[n++] = up;
        }
        while (n > 0)
            GCD_TRY(make_record(t, t->waiting[--n], err));
    }
    return GCD_OK;
}

/* The container at the end of the branch below record I.  Objects below I retain less than the
 * threshold. */
static uint32_t descend(const struct tree *t, uint32_t i)
{
    uint64_t start = retained(t, i);
    while (!t->w->o->only_large && !is_list(t, i) && t->items[i].largest != NONE) {
        uint64_t next = retained(t, t->items[i].largest);
        if (next < retained(t, i) - retained(t, i) / 10 || next < start - start / 5)
            break;
        i = t->items[i].largest;
    }
    return i;
}

static bool is_heavy(const struct tree *t, uint32_t i)
{
    return retained(t, i) >= t->w->s->threshold;
}

/* The type of most heavy children of each record, by majority vote, and how many have it. */
static void count_alike(struct tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct heavy *p = t->items[i].parent == NONE ? NULL : &t->items[t->items[i].parent];
        if (p == NULL || !is_heavy(t, i))
            continue;
        if (p->alike_count == 0)
            p->alike = i;
        p->alike_count += type_of(t, p->alike) == type_of(t, i) ? 1u : UINT32_MAX;
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->items[i].alike_count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct heavy *p = t->items[i].parent == NONE ? NULL : &t->items[t->items[i].parent];
        if (p == NULL || !is_heavy(t, i) || type_of(t, p->alike) != type_of(t, i))
            continue;
        p->alike_count++;
        p->alike_bytes += retained(t, i);
    }
}

/* Heavy elements of one type, which are nearly all of a collection, count for it with all that is
 * below them. */
static void join_alike(struct tree *t)
{
    double share = t->w->o->share;
    uint32_t fewest = share > 0 && share < GCD_SUSPECTS_SHARE ? FEWEST_OF_LOW : FEWEST_ALIKE;
    count_alike(t);
    for (uint32_t i = 0; i < t->count; i++) {
        struct heavy *h = &t->items[i];
        if (h->parent == NONE)
            continue;
        struct heavy *p = &t->items[h->parent];
        uint64_t all = retained(t, h->parent), heavy = all - p->rest;
        h->inside =
            p->inside || (p->collection && !is_list(t, h->parent) && is_heavy(t, i) &&
                          p->alike_count >= fewest && type_of(t, i) == type_of(t, p->alike) &&
                          heavy - p->alike_bytes <= all / OTHERS_PART);
    }
    for (uint32_t i = (uint32_t)t->count; i-- > 0;)
        if (t->items[i].inside) {
            t->items[t->items[i].parent].rest += t->items[i].rest;
            t->items[i].rest = 0;
        }
}

static gcd_status make_suspects(struct tree *t, struct gcd_error *err)
{
    join_alike(t);
    for (uint32_t i = 0; i < t->count; i++) {
        struct heavy *h = &t->items[i];
        if (is_list(t, i) && h->head != i) {
            t->items[h->head].rest += h->rest;
            h->rest = 0;
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t all = retained(t, i), rest = t->items[i].rest < all ? t->items[i].rest : all;
        if (rest < t->w->s->threshold)
            continue;
        uint32_t at = rest == all ? descend(t, i) : i, node = t->items[at].node;
        struct suspect *x;
        if (suspects_is_observed(t->w, node) ||
            suspects_is_container(gcd_graph_summary(t->w->g)->types[type_of(t, at)].name))
            continue;
        GCD_TRY(
            suspects_add(t->w, GCD_SUSPECT_OBJECT, node, suspects_type_of(t->w, node), &x, err));
        x->recursive = is_list(t, at);
        if (t->items[at].collection && !x->recursive)
            GCD_TRY(suspects_add_elements(t->w, x, err));
        x->pub.retained_bytes = retained(t, at);
        x->pub.bytes = at == i ? rest : retained(t, at);
        x->pub.shallow_bytes = gcd_graph_node_size(t->w->g, node);
        x->pub.objects = 1;
    }
    return GCD_OK;
}

gcd_status suspects_containers(struct suspects_work *w, struct gcd_error *err)
{
    if (gcd_dominators_retained(w->d, GCD_NODE_ROOT) < w->s->threshold)
        return GCD_OK;
    struct tree t = { .w = w, .floor = w->s->threshold / 2 };
    t.record = gcd_mem_new_uncleared(w->alloc, w->nodes, sizeof *t.record);
    t.recorded = gcd_mem_new_array(w->alloc, w->words, sizeof *t.recorded);
    gcd_status st = t.record != NULL && t.recorded != NULL
                        ? make_records(&t, err)
                        : gcd_fail_nomem(err, "looking for containers");
    if (st == GCD_OK)
        st = make_suspects(&t, err);
    gcd_mem_free(w->alloc, t.record, (size_t)w->nodes * sizeof *t.record);
    gcd_mem_free(w->alloc, t.recorded, w->words * sizeof *t.recorded);
    gcd_mem_free(w->alloc, t.items, t.room * sizeof *t.items);
    gcd_mem_free(w->alloc, t.waiting, t.waiting_room * sizeof *t.waiting);
    return st;
}

/* ---- the sentence ---- */

/* "96.0 % of the heap (9.3 MiB) is held by one Shop.SessionStore (Shop.dll)" */
static void put_owner(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_share(s, p->share);
    suspects_put(s, " (");
    suspects_put_bytes(s, p->bytes);
    suspects_put_nested(s, p);
    suspects_put(s, ") is %s ",
                 p->owner_node == GCD_NODE_NONE || p->owner_alone ? "held by" : "reached through");
    if (p->owner_node != GCD_NODE_NONE)
        suspects_put_owner(s, p);
    else
        suspects_put_root(s, p->root);
    if (p->path[p->path_count - 1].dependent)
        suspects_put(s, " and a dependent handle");
}

/* What X is: a list, a large object, a collection, an object that holds others.  SMALL: within a
 * sentence.  True: it ends with an aside. */
static bool put_what(struct suspect_words *s, const struct suspect *x, bool small)
{
    const struct gcd_suspect *p = &x->pub;
    bool aside = false, collection = x->collection.kind != GCD_COLLECTION_NONE;
    uint64_t own = collection && x->collection.node == p->node ? x->collection.structure_bytes
                                                               : p->shallow_bytes;
    bool large = own >= p->bytes / 2;
    struct suspects_below below;
    if (x->recursive && p->objects > 1 && !collection) {
        if (suspects_put_scopes(s, p->objects, p->type, true) > 0)
            return true;
        suspects_put(s, small ? "a list or tree of " : "A list or tree of ");
        suspects_put_typed(s, p->objects, p->type);
    } else if (collection) {
        aside = suspects_put_collection(s, x, small) && !large;
        if (suspects_look_below(s->w, x, &below)) {
            if (below.owners > 0) {
                suspects_put(s, ", in them ");
                suspects_put_number(s, below.owners);
                suspects_put(s, " ");
                suspects_put_type(s, below.owner);
            }
            if (below.each > 1) {
                suspects_put(s, below.chains  ? ", each with a chain of about "
                                : below.trees ? ", each with a tree of about "
                                              : ", each with about ");
                suspects_put_number(s, below.each);
                suspects_put(s, " ");
                suspects_put_type(s, p->own[0].type);
            }
            if (below.chains)
                suspects_put_link(s, " through the field ", below.link);
            aside = true;
        }
        if (large) {
            suspects_put(s, ", which takes ");
            suspects_put_bytes(s, own);
            suspects_put(s, small ? " itself" : " itself and");
        }
    } else if (small && x->recent != SUSPECT_NOT_RECENT) {
        suspects_put_recent(s, p);
        suspects_put(s, " in a dictionary and a linked list");
    } else if (small && !large && p->owner_node == p->node && p->held_count > 0) {
        aside = suspects_put_parts(s, p);
    } else {
        suspects_put_article(s, p->type, small);
        suspects_put_type(s, p->type);
        if (large) {
            suspects_put(s, " of ");
            suspects_put_bytes(s, p->shallow_bytes);
        } else if (p->held_count > 0) {
            suspects_put(s, " with ");
            aside = suspects_put_parts(s, p);
        }
    }
    return aside;
}

/* Has the sentence already named the own type that most of it belongs to, with about the right
 * number of objects? */
static bool names_own(const struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool collection = x->collection.kind != GCD_COLLECTION_NONE,
         recent = x->recent != SUSPECT_NOT_RECENT;
    uint32_t type = recent ? suspects_part_type(s, p) : collection ? p->element.type : p->type;
    if (type == GCD_TYPE_NONE || !s->w->is_own[type] || p->own_count == 0)
        return p->own_count == 0;
    uint64_t named = recent ? p->held[0].objects : collection ? p->element.objects : p->objects;
    return p->own[0].type == s->w->alike[type] && p->own[0].objects / 2 <= named;
}

static void put_kept(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    if (p->shallow_bytes == p->bytes && x->collection.kind == GCD_COLLECTION_NONE &&
        !x->recursive) {
        suspects_put_article(s, p->type, false);
        suspects_put_type(s, p->type);
        suspects_put(s, " is ");
        suspects_put_bytes(s, p->bytes);
        suspects_put(s, " large, ");
        suspects_put_share(s, p->share);
    } else {
        suspects_put(s, put_what(s, x, false) ? "," : "");
        suspects_put_kept(s, p, false);
    }
    suspects_put(s, ".");
}

/* " Only 1 of 12 Shop.Subscription objects is full; the others are nearly empty." */
static void put_siblings(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, " Only ");
    suspects_put_number(s, x->full_siblings);
    suspects_put(s, " of ");
    suspects_put_typed(s, x->siblings, x->pub.owner);
    suspects_put(s, x->full_siblings == 1 ? " is full; the others are nearly empty."
                                          : " are full; the others are nearly empty.");
}

void suspects_say_object(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool owned = p->owner_node != GCD_NODE_NONE || suspects_in_own_static(s->w, p);
    if (p->path_count > 0 && owned) {
        put_owner(s, x);
        suspects_put(s, ": ");
        put_what(s, x, true);
        suspects_put(s, ".");
        if (p->root == SIZE_MAX)
            suspects_put_held_by(s, x, "It is");
        else if (p->owner_node != GCD_NODE_NONE)
            suspects_put_lifetime(s, x, suspects_is_call(s, p->owner) ? "The call" : "It");
    } else if (suspects_statics_root(s->w, p->node) != SIZE_MAX) {
        put_kept(s, x);
        suspects_put(s, " It is");
        suspects_put_statics(s);
    } else {
        put_kept(s, x);
        if (p->path_count > 0 && p->root != SIZE_MAX && suspects_has_marker(s, x))
            suspects_put_lifetime(s, x, "It");
        else
            suspects_put_held_by(s, x, "It is");
    }
    if (x->siblings > 0)
        put_siblings(s, x);
    if (!names_own(s, x))
        suspects_put_own(s, p);
}
