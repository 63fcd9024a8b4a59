/*
 * Few elements of a collection with very many objects below them: what grows is there, not in the
 * collection.  But 60 branches with 400 accounts each and six entries in each account are large and
 * do not grow without end: so the objects count for what holds them directly.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"

/* A collection with at most so many elements does not grow without end. */
#define FEW_ELEMENTS 100u
/* An object that holds so many directly does. */
#define EACH_HAS_MANY 100u
/* So many objects, each of which holds the next one, are called a chain. */
#define CHAIN_LEAST 16u
/* In a chain, half of the others are above each object, on average, and in a balanced tree very few
 * are.  One part in so many makes a chain: most nodes of it may have branches of their own. */
#define CHAIN_PART 8u
/* So many objects are asked for what holds them, in so many steps in all: each object of a long
 * list is below those before it. */
#define ASKED     256u
#define STEPS_MAX (UINT32_C(1) << 20)
/* Types that are counted; if there are more, none is the one. */
#define TYPES_MAX 8u

/* Is TYPE a collection with elements of its own, as the lists of a Dictionary<int, List<T>>? */
static bool is_nested(const struct suspects_work *w, uint32_t type)
{
    return type != GCD_TYPE_NONE && !w->is_own[type] &&
           gcd_collections_has_inside(w->collections, type) &&
           gcd_collections_kind(w->collections, type) != GCD_COLLECTION_TEXT;
}

/* The program's type of which each element is, or has one inside, as Lazy<T> has, or the collection
 * that each is; GCD_TYPE_NONE. */
static uint32_t type_of_each(const struct suspects_work *w, const struct gcd_suspect *p)
{
    if (p->element.type == GCD_TYPE_NONE || w->is_own[p->element.type] ||
        is_nested(w, p->element.type))
        return p->element.type;
    for (size_t i = 1; i < p->own_count; i++)
        if (p->own[i].objects == p->elements)
            return p->own[i].type;
    return GCD_TYPE_NONE;
}

/* Has it few elements, each with very many objects below it? */
static bool is_few_with_many(const struct gcd_suspect *p)
{
    return p->elements <= FEW_ELEMENTS && p->own[0].objects / p->elements >= EACH_HAS_MANY;
}

/* Are most bytes in own objects below the elements, and so many of them that they may be chains? */
static bool is_deep(const struct suspects_work *w, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    uint32_t each = x->collection.kind != GCD_COLLECTION_NONE ? type_of_each(w, p) : GCD_TYPE_NONE;
    if (each == GCD_TYPE_NONE || p->own_count == 0 || p->own[0].bytes < p->bytes / 2 ||
        p->elements == 0)
        return false;
    /* of nested collections it is worth a word in any case what is in them */
    return p->own[0].objects / p->elements >= (is_nested(w, each) ? 2 : CHAIN_LEAST);
}

/* Who holds the objects of one suspect. */
struct asking {
    uint64_t every, seen;
    uint32_t steps, asked, listening; /* the method of so many is held by a delegate */
    uint32_t linked, link;            /* so many are held by one of their type, as LINK is */
    uint32_t below, depth; /* so many are below others of their type, each below its DEPTH */
    struct gcd_suspect_part types[TYPES_MAX];
    size_t count;
};

/* The own type of what holds NODE directly; GCD_TYPE_NONE = nothing in suspect NUMBER.  Adds the
 * objects of NODE's type on the way to the depth. */
static uint32_t holder_of(const struct suspects_work *w, struct asking *a, uint32_t node,
                          uint16_t number)
{
    uint32_t type = w->alike[suspects_type_of(w, node)], up = node;
    while (++a->steps < STEPS_MAX) {
        up = suspects_parent(w, up);
        if (up >= GCD_NODE_ROOT || w->owner[up] != number)
            return GCD_TYPE_NONE;
        uint32_t above = suspects_type_of(w, up);
        if (w->is_own[above] && w->alike[above] != type)
            return w->alike[above];
        a->depth += w->alike[above] == type;
    }
    return GCD_TYPE_NONE;
}

static void ask(const struct suspects_work *w, struct asking *a, uint32_t node, uint16_t number)
{
    uint32_t depth = a->depth, type = holder_of(w, a, node, number);
    size_t i = 0;
    uint32_t up = suspects_parent(w, node);
    a->asked++;
    a->below += a->depth > depth;
    a->listening += up < GCD_NODE_ROOT && suspects_is_delegate(w, suspects_type_of(w, up));
    if (up < GCD_NODE_ROOT &&
        w->alike[suspects_type_of(w, up)] == w->alike[suspects_type_of(w, node)]) {
        a->linked++;
        a->link = node;
    }
    if (a->steps >= STEPS_MAX) /* within a very long chain */
        return;
    while (i < a->count && a->types[i].type != type)
        i++;
    if (i == a->count && i < TYPES_MAX)
        a->types[a->count++] = (struct gcd_suspect_part){ .type = type };
    if (i < TYPES_MAX)
        a->types[i].objects++;
}

static gcd_status find_one(struct suspects_work *w, uint16_t number, struct gcd_error *err)
{
    struct suspect *x = &w->s->items[number - 1u];
    struct asking a = { .every = x->pub.own[0].objects / ASKED + 1 };
    for (uint32_t node = 0; node < w->nodes && a.steps < STEPS_MAX; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (w->owner[node] == number && w->alike[suspects_type_of(w, node)] == x->pub.own[0].type &&
            a.seen++ % a.every == 0)
            ask(w, &a, node, number);
    }
    for (size_t i = 0; i < a.count; i++)
        if (a.types[i].objects > a.asked / 2)
            x->below = a.types[i].type;
    x->below_listens = a.listening > a.asked / 2;
    x->below_link = a.linked > a.asked / 2 ? a.link : GCD_NODE_NONE;
    x->below_depth = a.below > a.asked / 2 ? a.depth / a.asked : 0;
    return GCD_OK;
}

gcd_status suspects_find_below(struct suspects_work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < w->s->count; i++) {
        w->s->items[i].below = GCD_TYPE_NONE;
        w->s->items[i].below_listens = false;
        w->s->items[i].below_link = GCD_NODE_NONE;
        w->s->items[i].below_depth = 0;
        if (w->s->items[i].pub.kind == GCD_SUSPECT_OBJECT && is_deep(w, &w->s->items[i]))
            GCD_TRY(find_one(w, (uint16_t)(i + 1), err));
    }
    return GCD_OK;
}

bool suspects_look_below(const struct suspects_work *w, const struct suspect *x,
                         struct suspects_below *ret)
{
    const struct gcd_suspect *p = &x->pub;
    if (!is_deep(w, x))
        return false;
    *ret = (struct suspects_below){ .owner = type_of_each(w, p),
                                    .link = x->below_link,
                                    .each = (p->own[0].objects + p->elements / 2) / p->elements };
    bool chain = x->below_link != GCD_NODE_NONE && x->below_depth >= ret->each / CHAIN_PART;
    if (p->own[0].type == w->alike[ret->owner] ||
        (!is_nested(w, ret->owner) && !is_few_with_many(p))) {
        ret->chains = chain;
        ret->trees = x->below_depth > 0 && x->below_depth < ret->each / CHAIN_PART &&
                     p->own[0].type == w->alike[ret->owner];
        ret->grows = chain && p->own[0].objects / p->elements >= EACH_HAS_MANY;
        return chain || ret->trees;
    }
    if (is_nested(w, ret->owner)) {
        ret->collections = true;
        ret->grows = p->elements <= FEW_ELEMENTS && ret->each >= EACH_HAS_MANY;
        return true;
    }
    for (size_t i = 1; i < p->own_count && x->below != w->alike[ret->owner]; i++)
        if (p->own[i].type == x->below && p->own[i].objects > p->elements) {
            ret->owner = x->below;
            ret->owners = p->own[i].objects;
            ret->each = (p->own[0].objects + ret->owners / 2) / ret->owners;
            break;
        }
    ret->listens = x->below_listens;
    /* what each element has one of need not hold the others */
    if (ret->owner != p->element.type && x->below != w->alike[ret->owner])
        ret->owner = p->element.type;
    ret->chains = chain;
    /* a tree is what its owner consists of */
    ret->grows = ret->each >= EACH_HAS_MANY && (chain || x->below_depth == 0);
    return ret->each > 0;
}

bool suspects_has_many_keys(const struct suspects_work *w, const struct suspect *x)
{
    struct suspects_below below;
    enum gcd_collection_kind kind = x->collection.kind;
    bool keys = kind == GCD_COLLECTION_DICTIONARY || kind == GCD_COLLECTION_CONCURRENT_DICTIONARY ||
                kind == GCD_COLLECTION_SORTED_DICTIONARY || kind == GCD_COLLECTION_SORTED_LIST;
    return keys && suspects_look_below(w, x, &below) && below.collections &&
           x->pub.elements > FEW_ELEMENTS && below.each < EACH_HAS_MANY;
}
