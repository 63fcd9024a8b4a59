/*
 * Dependent handles, of ConditionalWeakTable or the program's own (DependentHandle): through each
 * its key keeps its value alive.  The events do not say whose they are, so those with the same
 * types of key and value count together.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

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
        if (gcd_dominators_parent(w->d, d->key) == GCD_NODE_NONE)
            continue;
        uint32_t key_type = gcd_graph_node_type(w->g, d->key),
                 value_type = gcd_graph_node_type(w->g, d->value);
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
        if (gcd_dominators_parent(w->d, d->value) == d->key)
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
        if (gcd_graph_node_type(w->g, d->key) == of->key_type &&
            gcd_graph_node_type(w->g, d->value) == of->value_type)
            GCD_TRY(suspects_own(w, d->value, err));
    }
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

void suspects_tell_weak_table(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects,
                       "dependent handle (ConditionalWeakTable, DependentHandle) keeps one ",
                       "dependent handles (ConditionalWeakTable, DependentHandle) keep one ");
    suspects_put_type(s, x->pub.type);
    suspects_put(s, " alive for each ");
    suspects_put_type(s, x->owner_type);
}

void suspects_say_weak_table(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_weak_table(s, x);
    suspects_put(s, ", their key. The values");
    suspects_put_kept(s, &x->pub, true);
    suspects_put(s, ".");
    suspects_put_held_by(s, x, "One of them is");
}

void suspects_advise_weak_table(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "A value lives as long as its key: look for what keeps ");
    suspects_put_type(s, x->owner_type);
    suspects_put(s, " objects alive.");
}
