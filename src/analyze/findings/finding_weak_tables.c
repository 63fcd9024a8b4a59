/*
 * Dependent handles, of ConditionalWeakTable or the program's own (DependentHandle): through each
 * its key keeps its value alive.  The events do not say whose they are, so those with the same
 * types of key and value count together.
 */
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* The collections of this many values show how many elements one has. */
#define VALUES_SEEN 64u

struct pair {
    uint32_t key_type, value_type, value;
    uint64_t entries, shallow, bytes;
};

struct pairs {
    struct suspects_work *w;
    struct gcd_idmap map;
    struct pair *items;
    size_t count, room;
};

static gcd_status count(struct pairs *p, struct gcd_error *err)
{
    const struct suspects_work *w = p->w;
    for (size_t i = 0; i < gcd_graph_dependent_count(w->g); i++) {
        const struct gcd_graph_dependent *d = gcd_graph_dependent(w->g, i);
        if (suspects_parent(w, d->key) == GCD_NODE_NONE)
            continue;
        uint32_t key_type = suspects_type_of(w, d->key), value_type = suspects_type_of(w, d->value);
        uint64_t id = (uint64_t)key_type << 32 | value_type;
        uint32_t at = gcd_idmap_get(&p->map, id);
        if (at == GCD_IDMAP_NONE) {
            at = (uint32_t)p->count;
            if (!gcd_vec_reserve(w->alloc, &p->items, &p->room, p->count + 1, sizeof *p->items,
                                 UINT32_MAX - 1) ||
                !gcd_idmap_put(&p->map, id, at))
                return gcd_fail_nomem(err, "looking at dependent handles");
            p->items[p->count++] =
                (struct pair){ .key_type = key_type, .value_type = value_type, .value = d->value };
        }
        p->items[at].entries++;
        gcd_add_saturating(&p->items[at].shallow, gcd_graph_node_size(w->g, d->value));
        if (suspects_parent(w, d->value) == d->key)
            gcd_add_saturating(&p->items[at].bytes, gcd_dominators_retained(w->d, d->value));
    }
    return GCD_OK;
}

/* Pairs that keep a suspect's share alive come before those that are only many. */
static bool is_more(const struct suspects_work *w, const struct pair *a, const struct pair *b)
{
    bool large = a->bytes >= w->s->threshold, other = b->bytes >= w->s->threshold;
    return large || other ? a->bytes > b->bytes : a->entries > b->entries;
}

static gcd_status own_values(struct suspects_work *w, const struct pair *of, struct gcd_error *err)
{
    for (size_t i = 0; i < gcd_graph_dependent_count(w->g); i++) {
        const struct gcd_graph_dependent *d = gcd_graph_dependent(w->g, i);
        if (suspects_type_of(w, d->key) == of->key_type &&
            suspects_type_of(w, d->value) == of->value_type)
            GCD_TRY(suspects_own(w, d->value, err));
    }
    return GCD_OK;
}

/* The collection that VALUE is, or the largest that it alone has; GCD_NODE_NONE = none. */
static uint32_t collection_of(const struct suspects_work *w, uint32_t value)
{
    size_t n;
    uint32_t best = GCD_NODE_NONE;
    const uint32_t *edges = gcd_graph_node_edges(w->g, value, &n);
    if (gcd_collections_has_inside(w->collections, suspects_type_of(w, value)))
        return value;
    for (size_t i = 0; i < n; i++)
        if (gcd_collections_has_inside(w->collections, suspects_type_of(w, edges[i])) &&
            suspects_parent(w, edges[i]) == value &&
            (best == GCD_NODE_NONE ||
             gcd_dominators_retained(w->d, edges[i]) > gcd_dominators_retained(w->d, best)))
            best = edges[i];
    return best;
}

/* How many elements the collections of the first values have. */
static gcd_status count_elements(struct suspects_work *w, const struct pair *of, struct suspect *x,
                                 struct gcd_error *err)
{
    uint64_t elements = 0, seen = 0;
    x->each_type = GCD_TYPE_NONE;
    for (size_t i = 0; i < gcd_graph_dependent_count(w->g) && seen < VALUES_SEEN; i++) {
        const struct gcd_graph_dependent *d = gcd_graph_dependent(w->g, i);
        struct gcd_collection it;
        if (suspects_type_of(w, d->key) != of->key_type ||
            suspects_type_of(w, d->value) != of->value_type)
            continue;
        uint32_t node = collection_of(w, d->value);
        if (node == GCD_NODE_NONE ||
            (x->each_type != GCD_TYPE_NONE && x->each_type != suspects_type_of(w, node)))
            continue;
        GCD_TRY(gcd_collection_describe(w->collections, node, &it, err));
        x->each_type = suspects_type_of(w, node);
        gcd_add_saturating(&elements, it.elements != GCD_COUNT_UNKNOWN ? it.elements : 0);
        seen++;
    }
    x->each_elements = seen > 0 ? elements / seen : 0;
    return GCD_OK;
}

static gcd_status add(struct pairs *p, struct gcd_error *err)
{
    struct suspects_work *w = p->w;
    const struct pair *most = NULL;
    for (size_t i = 0; i < p->count; i++)
        if (most == NULL || is_more(w, &p->items[i], most))
            most = &p->items[i];
    if (most == NULL)
        return GCD_OK;
    w->s->checks[GCD_SUSPECT_WEAK_TABLE].objects = most->entries;
    w->s->checks[GCD_SUSPECT_WEAK_TABLE].bytes = most->bytes;
    bool large = most->bytes >= w->s->threshold;
    if (most->entries < (large ? FINDING_FEW : FINDING_WEAK_ENTRIES))
        return GCD_OK;
    struct suspect *x;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_WEAK_TABLE, most->value, most->value_type, &x, err));
    x->pub.overlaps = true;
    x->pub.objects = most->entries;
    x->pub.shallow_bytes = most->shallow;
    x->pub.bytes = x->pub.retained_bytes = most->bytes;
    x->owner_type = most->key_type;
    GCD_TRY(count_elements(w, most, x, err));
    return own_values(w, most, err);
}

gcd_status suspects_weak_tables(struct suspects_work *w, struct gcd_error *err)
{
    struct pairs p = { .w = w };
    gcd_idmap_init(&p.map, w->alloc);
    gcd_status st = count(&p, err);
    if (st == GCD_OK)
        st = add(&p, err);
    gcd_idmap_done(&p.map);
    gcd_mem_free(w->alloc, p.items, p.room * sizeof *p.items);
    return st;
}

/* "a ConditionalWeakTable<Key, Extra>" if the heap has one of these types. */
static void put_table(struct suspect_words *s, const struct suspect *x)
{
    static const char begin[] = "System.Runtime.CompilerServices.ConditionalWeakTable`2[";
    const struct gcd_summary *summary = gcd_graph_summary(s->w->g);
    const char *key = summary->types[x->owner_type].name, *value = summary->types[x->pub.type].name;
    size_t k = strlen(key), v = strlen(value);
    for (uint32_t i = 0; i < s->w->types; i++) {
        const char *name = summary->types[i].name;
        if (!gcd_text_begins(name, begin))
            continue;
        name += sizeof begin - 1;
        if (strncmp(name, key, k) == 0 && name[k] == ',' && strncmp(name + k + 1, value, v) == 0 &&
            strcmp(name + k + 1 + v, "]") == 0) {
            suspects_put(s, "a ");
            suspects_put_type(s, i);
            return;
        }
    }
    suspects_put(s, x->pub.objects == 1 ? "a dependent handle" : "dependent handles");
    suspects_put(s, " (ConditionalWeakTable, DependentHandle)");
}

void suspects_tell_weak_table(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_typed(s, x->pub.objects, x->pub.type);
    suspects_put(s, " (");
    suspects_put_bytes(s, x->pub.bytes);
    suspects_put(s, x->pub.objects == 1 ? ") is attached to a " : ") are attached to ");
    suspects_put_type(s, x->owner_type);
    suspects_put(s, x->pub.objects == 1 ? " by " : " objects by ");
    put_table(s, x);
    suspects_put(s, x->pub.objects == 1 ? " and lives as long as its key"
                                        : " and live as long as their keys");
}

void suspects_advise_weak_table(struct suspect_words *s, const struct suspect *x)
{
    if (x->each_type != GCD_TYPE_NONE && x->each_elements >= SUSPECTS_MANY_EACH) {
        suspects_put(s, "Each ");
        suspects_put_type(s, x->pub.type);
        if (x->each_type != x->pub.type) {
            suspects_put(s, " has ");
            suspects_put_article(s, x->each_type, true);
            suspects_put_type(s, x->each_type);
            suspects_put(s, " with about ");
        } else {
            suspects_put(s, " has about ");
        }
        suspects_put_number(s, x->each_elements);
        suspects_put(s, " elements: look for what adds to it, and for what keeps ");
    } else {
        suspects_put(s, "Look for what keeps ");
    }
    suspects_put_type(s, x->owner_type);
    suspects_put(s, " objects alive.");
}
