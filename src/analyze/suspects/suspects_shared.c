/*
 * Which bytes suspects share.  Those that overlap keep alive what others have, too: 3,000 tasks
 * that are in two dictionaries, or the calls behind these tasks.  Who lists suspects by something
 * else than their order, such as growth, must know what has been told.
 *
 * Each object belongs to at most one suspect that does not overlap (w->owner), and to any number of
 * those that do: a set.  The bytes of each combination are summed up.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Suspects in a set; more overlapping ones are in none. */
#define SETS 32u

/* Is X one of those in sets? */
static bool is_in_sets(const struct suspect *x)
{
    return x->pub.overlaps && x->into == SUSPECTS_NONE && !x->small &&
           !gcd_suspect_kind_is_free(x->pub.kind);
}

/* Sets the bits of the objects of overlapping suspects, and their SHARED.  False: there are none.
 */
static bool mark(struct suspects_work *w, uint32_t *sets)
{
    uint32_t used = 0;
    for (size_t i = 0, at = 0; i < w->owned_count; i++) {
        while (at < w->s->count && w->s->items[at].id < w->owned[i].id)
            at++;
        struct suspect *x = &w->s->items[at];
        if (at == w->s->count || x->id != w->owned[i].id || !is_in_sets(x) ||
            (x->shared == 0 && used == SETS))
            continue;
        if (x->shared == 0)
            x->shared = UINT32_C(1) << used++;
        sets[w->owned[i].node] |= x->shared;
    }
    return used > 0;
}

static gcd_status add_up(struct suspects_work *w, uint32_t *sets, struct gcd_idmap *numbers,
                         struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    const struct gcd_dominators *d = w->d;
    for (uint32_t i = 1; i <= d->reachable; i++) { /* parents come first */
        uint32_t node = d->order[i], owner = w->owner[node];
        if (d->above[i] != 0)
            sets[node] |= sets[d->order[d->above[i]]];
        if (i % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (sets[node] == 0)
            continue;
        uint32_t number = gcd_idmap_pair(numbers, sets[node], owner);
        if (number == GCD_IDMAP_NONE ||
            !gcd_vec_reserve(&s->alloc, &s->shared, &s->shared_room, (size_t)number + 1,
                             sizeof *s->shared, UINT32_MAX))
            return gcd_fail_nomem(err, "comparing suspects");
        if (number == s->shared_count)
            s->shared[s->shared_count++] = (struct suspects_shared){
                sets[node],
                owner == SUSPECTS_UNKNOWN || owner == SUSPECTS_NOBODY ? SUSPECTS_NONE : owner - 1, 0
            };
        gcd_add_saturating(&s->shared[number].bytes, gcd_graph_node_size(w->g, node));
    }
    return GCD_OK;
}

gcd_status suspects_share(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_idmap numbers;
    bool any = false;
    for (size_t i = 0; i < w->s->count && !any; i++)
        any = is_in_sets(&w->s->items[i]);
    if (!any)
        return GCD_OK;
    uint32_t *sets = gcd_mem_new_array(w->alloc, w->nodes, sizeof *sets);
    if (sets == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    gcd_idmap_init(&numbers, w->alloc);
    gcd_status st = mark(w, sets) ? add_up(w, sets, &numbers, err) : GCD_OK;
    gcd_idmap_done(&numbers);
    gcd_mem_free(w->alloc, sets, (size_t)w->nodes * sizeof *sets);
    return st;
}

uint64_t gcd_suspects_beside(const struct gcd_suspects *s, const struct gcd_suspect *suspect,
                             const struct gcd_suspect *const *told, size_t n, uint64_t *ret_all)
{
    const struct suspect *x = (const struct suspect *)suspect;
    uint64_t beside = 0;
    uint32_t sets = 0;
    *ret_all = 0;
    for (size_t i = 0; i < n; i++)
        sets |= ((const struct suspect *)told[i])->shared;
    for (size_t i = 0; i < s->shared_count; i++) {
        const struct suspects_shared *c = &s->shared[i];
        bool in_told = (c->sets & sets) != 0;
        if ((c->sets & x->shared) == 0)
            continue;
        for (size_t k = 0; k < n && c->owner != SUSPECTS_NONE && !in_told; k++)
            in_told = told[k] == &s->items[c->owner].pub;
        gcd_add_saturating(ret_all, c->bytes);
        if (!in_told)
            gcd_add_saturating(&beside, c->bytes);
    }
    return beside;
}
