/*
 * The order of the events of static variables.  The runtime goes through its modules, through the types of a module and through their static fields,
 * each in the order of the tables.  So
 *
 *     the variables of a module stand together,
 *     modules come in the order in which the rundown lists them, and
 *     the tokens of the fields of a module rise.
 *
 * ClrMD on the same processes says so, too: no exception among 4,600 variables of .NET 8, 9 and 10 with workstation and server GC, dynamic assemblies
 * and assemblies that were loaded several times, unloaded, or read from a stream.
 *
 * An anchor is a variable all of whose candidates are of one module.  Anchors exclude other candidates, which makes more anchors, and so on.
 */
#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

#define ROUNDS_MAX 64u

struct place {
    uint32_t module;                     /* of all candidates, GCD_MODULE_NONE = several or none */
    uint32_t least, most;                /* their tokens */
    uint32_t before, behind;             /* the nearest anchors, RESOLVE_NONE = none */
    uint32_t bound_below, bound_above;   /* tokens that a candidate of that module must lie between: of the anchors of the module around it */
};

struct order {
    struct resolve *r;
    struct place *places;                /* [variable_count] */
    uint32_t *first, *last;              /* [module_count] anchors of each module */
};

static void find_anchors(struct order *o)
{
    const struct resolve *r = o->r;
    for (size_t m = 0; m < r->module_count; m++)
        o->first[m] = o->last[m] = RESOLVE_NONE;
    for (uint32_t v = 0; v < r->variable_count; v++) {
        struct place *p = &o->places[v];
        *p = (struct place){ .module = GCD_MODULE_NONE, .least = UINT32_MAX };
        bool several = false;
        for (uint32_t i = r->variables[v].first; i < r->variables[v].first + r->variables[v].count; i++) {
            const struct resolve_candidate *c = &r->candidates[i];
            if (c->gone)
                continue;
            several = several || (p->module != GCD_MODULE_NONE && p->module != c->module);
            p->module = c->module;
            p->least = c->token < p->least ? c->token : p->least;
            p->most = c->token > p->most ? c->token : p->most;
        }
        if (several)
            p->module = GCD_MODULE_NONE;
        if (p->module == GCD_MODULE_NONE)
            continue;
        if (o->first[p->module] == RESOLVE_NONE)
            o->first[p->module] = v;
        o->last[p->module] = v;
    }
}

/* Is module A certainly after module B in the order of the events?  Modules that no event lists have no order. */
static bool is_after(const struct order *o, uint32_t a, uint32_t b)
{
    const struct gcd_module *modules = o->r->d->modules;
    return a > b && a != GCD_MODULE_NONE && modules[a].described && modules[b].described;
}

/* The nearest anchors of each variable, and what they say about its token.  False when modules do not stand together, or in another order. */
static bool find_bounds(struct order *o)
{
    uint32_t n = (uint32_t)o->r->variable_count, near = RESOLVE_NONE, bound = 0;
    for (uint32_t v = 0; v < n; v++) {
        struct place *p = &o->places[v];
        p->before = near;
        p->bound_below = bound;
        if (p->module == GCD_MODULE_NONE)
            continue;
        bool same = near != RESOLVE_NONE && o->places[near].module == p->module;
        if (!same && (o->first[p->module] != v || (near != RESOLVE_NONE && is_after(o, o->places[near].module, p->module))))
            return false;
        bound = same && bound > p->least ? bound : p->least;
        near = v;
    }
    near = RESOLVE_NONE;
    bound = UINT32_MAX;
    for (uint32_t v = n; v-- > 0;) {
        struct place *p = &o->places[v];
        p->behind = near;
        p->bound_above = bound;
        if (p->module == GCD_MODULE_NONE)
            continue;
        bool same = near != RESOLVE_NONE && o->places[near].module == p->module;
        bound = same && bound < p->most ? bound : p->most;
        near = v;
    }
    return true;
}

static bool is_possible(const struct order *o, uint32_t v, const struct resolve_candidate *c)
{
    const struct place *p = &o->places[v];
    uint32_t first = o->first[c->module], last = o->last[c->module];
    uint32_t before = p->before != RESOLVE_NONE ? o->places[p->before].module : GCD_MODULE_NONE;
    uint32_t behind = p->behind != RESOLVE_NONE ? o->places[p->behind].module : GCD_MODULE_NONE;
    if (before != GCD_MODULE_NONE && before == behind && c->module != before)
        return false;                    /* amid another module */
    if (first != RESOLVE_NONE && v < first && behind != c->module)
        return false;                    /* another module is between this and the first of its own */
    if (last != RESOLVE_NONE && v > last && before != c->module)
        return false;
    if (is_after(o, before, c->module) || (behind != GCD_MODULE_NONE && is_after(o, c->module, behind)))
        return false;
    return (before != c->module || c->token > p->bound_below) && (behind != c->module || c->token < p->bound_above);
}

/* True when something was excluded.  A variable that loses all candidates is of a module without a file: it keeps none. */
static bool exclude(struct order *o)
{
    const struct resolve *r = o->r;
    bool changed = false;
    for (uint32_t v = 0; v < r->variable_count; v++)
        for (uint32_t i = r->variables[v].first; i < r->variables[v].first + r->variables[v].count; i++)
            if (!r->candidates[i].gone && !is_possible(o, v, &r->candidates[i]))
                changed = r->candidates[i].gone = true;
    return changed;
}

/* The events are in another order: it excludes nothing. */
static void take_back(struct resolve *r)
{
    for (size_t i = 0; i < r->candidate_count; i++)
        r->candidates[i].gone = false;
}

gcd_status resolve_order(struct resolve *r, struct gcd_error *err)
{
    struct order o = { .r = r };
    o.places = gcd_mem_new_array(r->alloc, r->variable_count, sizeof *o.places);
    o.first = gcd_mem_new_array(r->alloc, r->module_count, sizeof *o.first);
    o.last = gcd_mem_new_array(r->alloc, r->module_count, sizeof *o.last);
    bool room = o.places != NULL && o.first != NULL && o.last != NULL, more = room;
    for (unsigned i = 0; more && i < ROUNDS_MAX; i++) {
        find_anchors(&o);
        bool ordered = find_bounds(&o);
        if (!ordered)
            take_back(r);
        more = ordered && exclude(&o);
    }
    gcd_mem_free(r->alloc, o.places, r->variable_count * sizeof *o.places);
    gcd_mem_free(r->alloc, o.first, r->module_count * sizeof *o.first);
    gcd_mem_free(r->alloc, o.last, r->module_count * sizeof *o.last);
    return room ? GCD_OK : gcd_fail_nomem(err, "completing names");
}
