/*
 * The order of the events of static variables.  The runtime goes through its modules, through the
 * types of a module and through their static fields, each in the order of the tables.  So
 *
 *     the variables of a module are adjacent,
 *     modules come in the order in which the rundown lists them, and
 *     the tokens of the fields of a module rise.
 *
 * ClrMD on the same processes confirms it: no exception among 9,000 variables of .NET 8, 9 and 10
 * with workstation and server GC, dynamic assemblies and assemblies that were loaded several times,
 * unloaded, or read from a stream.
 *
 * So module and token together, the key of a field, rise from one variable to the next.  Variables
 * of modules without a file have no true candidate, so the best explanation of all is the longest
 * rising sequence of candidates, at most one for each variable; a candidate that is in no such
 * sequence is excluded.  There can be many such sequences: a candidate is judged by the length of
 * the longest sequence up to it and from it on.
 */
#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

struct order {
    struct resolve *r;
    /* events list all modules that have candidates: their numbers give the order */
    bool listed;
    /* there are modules without a file whose position is unknown */
    bool unlisted;
    /* [module_count] position of each module among the events, RESOLVE_NONE = unknown */
    uint32_t *rank;
    /* [module_count + 1] listed modules without a file before each number */
    uint32_t *unread;
    /* [candidate_count] length of the longest sequence that ends or begins there */
    uint32_t *up_to, *from;
    /* [variable_count] by length, the least key at which such a sequence ends */
    uint64_t *ends;
    /* [variable_count + 1] by length: the variable at this place of the best sequences */
    uint32_t *holder;
    uint32_t longest;
};

#define HOLDER_SEVERAL (UINT32_MAX - 1)

static uint64_t key_of(const struct order *o, const struct resolve_candidate *c)
{
    return (uint64_t)o->rank[c->module] << 32 | c->token;
}

/* The only module of the candidates of variable V, GCD_MODULE_NONE = several or none. */
static uint32_t only_module(const struct resolve *r, uint32_t v)
{
    uint32_t module = GCD_MODULE_NONE;
    for (uint32_t i = r->variables[v].first; i < r->variables[v].first + r->variables[v].count;
         i++) {
        if (module != GCD_MODULE_NONE && module != r->candidates[i].module)
            return GCD_MODULE_NONE;
        module = r->candidates[i].module;
    }
    return module;
}

/* Where no event lists the modules, a module's position is that of a variable that can be of no
 * other module. */
static void rank_modules(struct order *o)
{
    const struct resolve *r = o->r;
    o->listed = true;
    for (uint32_t m = 0; m < r->module_count; m++)
        o->listed =
            o->listed && (r->d->modules[m].described || r->d->modules[m].state != GCD_MODULE_READ);
    for (uint32_t m = 0; m < r->module_count; m++) {
        bool unread = r->d->modules[m].state != GCD_MODULE_READ;
        o->rank[m] = o->listed ? m : RESOLVE_NONE;
        o->unread[m + 1] = o->unread[m] + (unread && o->listed && r->d->modules[m].described);
        o->unlisted = o->unlisted || (unread && (!o->listed || !r->d->modules[m].described));
    }
    for (uint32_t v = 0; v < r->variable_count; v++) {
        uint32_t m = only_module(r, v);
        if (m != GCD_MODULE_NONE && o->rank[m] == RESOLVE_NONE)
            o->rank[m] = v;
    }
}

/* The number of sequences, by length, that end below KEY. */
static uint32_t below(const struct order *o, uint64_t key)
{
    uint32_t low = 0, high = o->longest;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->ends[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds variable V to the sequences, and sets LENGTHS of its candidates, whose keys are changed by
 * FLIP.  No sequence contains two candidates of V. */
static void lengthen(struct order *o, uint32_t v, uint32_t *lengths, uint64_t flip)
{
    const struct resolve *r = o->r;
    uint32_t end = r->variables[v].first + r->variables[v].count;
    for (uint32_t c = r->variables[v].first; c < end; c++)
        if (o->rank[r->candidates[c].module] != RESOLVE_NONE)
            lengths[c] = below(o, key_of(o, &r->candidates[c]) ^ flip) + 1;
    for (uint32_t c = r->variables[v].first; c < end; c++) {
        uint32_t n = lengths[c];
        uint64_t key = key_of(o, &r->candidates[c]) ^ flip;
        if (n == 0 || (n <= o->longest && o->ends[n - 1] <= key))
            continue;
        o->ends[n - 1] = key;
        o->longest = n > o->longest ? n : o->longest;
    }
}

static void find_lengths(struct order *o)
{
    uint32_t n = (uint32_t)o->r->variable_count;
    for (uint32_t v = n; v-- > 0;)
        lengthen(o, v, o->from, UINT64_MAX); /* from the end, what rises falls */
    o->longest = 0;
    for (uint32_t v = 0; v < n; v++)
        lengthen(o, v, o->up_to, 0);
}

static bool is_best(const struct order *o, uint32_t c)
{
    return o->up_to[c] + o->from[c] == o->longest + 1;
}

static void exclude(struct order *o)
{
    struct resolve *r = o->r;
    for (uint32_t v = 0; v < r->variable_count; v++)
        for (uint32_t c = r->variables[v].first; c < r->variables[v].first + r->variables[v].count;
             c++) {
            if (o->rank[r->candidates[c].module] == RESOLVE_NONE)
                continue;
            r->candidates[c].gone = !is_best(o, c);
            uint32_t *holder = &o->holder[o->up_to[c]];
            if (!r->candidates[c].gone)
                *holder = *holder == RESOLVE_NONE || *holder == v ? v : HOLDER_SEVERAL;
        }
}

/* Is V in each of the best sequences?  If not, something else can explain it. */
static bool is_held(const struct order *o, uint32_t v)
{
    const struct resolve *r = o->r;
    bool held = false;
    for (uint32_t c = r->variables[v].first; c < r->variables[v].first + r->variables[v].count;
         c++) {
        if (r->candidates[c].gone)
            continue;
        if (o->rank[r->candidates[c].module] == RESOLVE_NONE || o->holder[o->up_to[c]] != v)
            return false;
        held = true;
    }
    return held;
}

/*
 * Where a module without a file may have its variables: between the certain ones before and after
 * it.  Marks the variables that it can also explain.
 */
static void mark_open(struct order *o)
{
    struct resolve *r = o->r;
    uint32_t n = (uint32_t)r->variable_count, near = RESOLVE_NONE;
    for (uint32_t v = 0; v < n; v++) {
        r->variables[v].open = !is_held(o, v);
        r->variables[v].before = near;
        near = r->variables[v].open ? near : v;
    }
    near = RESOLVE_NONE;
    for (uint32_t v = n; v-- > 0;) {
        r->variables[v].behind = near;
        near = r->variables[v].open ? near : v;
    }
}

static uint32_t rank_of(const struct order *o, uint32_t v, bool last)
{
    uint32_t rank = RESOLVE_NONE;
    const struct resolve_variable *self = &o->r->variables[v];
    for (uint32_t c = self->first; c < self->first + self->count; c++) {
        uint32_t here = o->rank[o->r->candidates[c].module];
        if (!o->r->candidates[c].gone &&
            (rank == RESOLVE_NONE || (last ? here > rank : here < rank)))
            rank = here;
    }
    return rank;
}

/* Can a module without a file be at the position of variable V? */
static bool can_be_unread(const struct order *o, uint32_t v)
{
    const struct resolve *r = o->r;
    const struct resolve_variable *self = &r->variables[v];
    uint32_t least = self->before != RESOLVE_NONE ? rank_of(o, self->before, false) : 0;
    uint32_t most = self->behind != RESOLVE_NONE ? rank_of(o, self->behind, true) : UINT32_MAX;
    if (o->unlisted && least != most)
        return true;
    uint32_t end = most < r->module_count ? most + 1 : (uint32_t)r->module_count;
    return o->listed && least < end && o->unread[end] > o->unread[least];
}

gcd_status resolve_order(struct resolve *r, struct gcd_error *err)
{
    struct order o = { .r = r };
    o.rank = gcd_mem_new_array(r->alloc, r->module_count, sizeof *o.rank);
    o.unread = gcd_mem_new_array(r->alloc, r->module_count + 1, sizeof *o.unread);
    o.up_to = gcd_mem_new_array(r->alloc, r->candidate_count, sizeof *o.up_to);
    o.from = gcd_mem_new_array(r->alloc, r->candidate_count, sizeof *o.from);
    o.ends = gcd_mem_new_array(r->alloc, r->variable_count, sizeof *o.ends);
    o.holder = gcd_mem_new_array(r->alloc, r->variable_count + 1, sizeof *o.holder);
    bool room = o.rank != NULL && o.unread != NULL && o.up_to != NULL && o.from != NULL &&
                o.ends != NULL && o.holder != NULL;
    if (room) {
        for (size_t i = 0; i <= r->variable_count; i++)
            o.holder[i] = RESOLVE_NONE;
        rank_modules(&o);
        find_lengths(&o);
        exclude(&o);
        mark_open(&o);
        for (uint32_t v = 0; v < r->variable_count; v++)
            r->variables[v].open = r->variables[v].open || can_be_unread(&o, v);
    }
    gcd_mem_free(r->alloc, o.rank, r->module_count * sizeof *o.rank);
    gcd_mem_free(r->alloc, o.unread, (r->module_count + 1) * sizeof *o.unread);
    gcd_mem_free(r->alloc, o.up_to, r->candidate_count * sizeof *o.up_to);
    gcd_mem_free(r->alloc, o.from, r->candidate_count * sizeof *o.from);
    gcd_mem_free(r->alloc, o.ends, r->variable_count * sizeof *o.ends);
    gcd_mem_free(r->alloc, o.holder, (r->variable_count + 1) * sizeof *o.holder);
    return room ? GCD_OK : gcd_fail_nomem(err, "completing names");
}
