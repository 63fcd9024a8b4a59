/*
 * Decides which description of an id is valid at a given time.
 *
 * A description is valid from its event until the next different one: whatever is loaded later is
 * described later.  Events of different threads are not ordered by time, so only their times count.
 * If there is no earlier description, the next one is used: it can follow what it describes, and
 * the runtime reports each only once, perhaps to another session before this recording.
 */
#include <string.h>

#include "heap/heap.h"

void heap_known_begin(struct heap_known *k, int64_t ns, uint64_t text_hash, enum heap_moment moment)
{
    *k = (struct heap_known){ .first_ns = ns,
                              .last_ns = ns,
                              .text_hash = text_hash,
                              .before = k->before,
                              .listed = moment == HEAP_SEEN,
                              .loaded = moment == HEAP_LOADED,
                              .unloaded = moment == HEAP_UNLOADED };
}

void heap_known_extend(struct heap_known *k, int64_t ns, enum heap_moment moment)
{
    k->listed = k->listed || moment == HEAP_SEEN;
    if (ns < k->first_ns) {
        k->first_ns = ns;
        k->loaded = moment == HEAP_LOADED;
    }
    if (ns >= k->last_ns) {
        k->last_ns = ns;
        k->unloaded = moment == HEAP_UNLOADED;
    }
}

/* How many different descriptions of one id are examined; further ones of the same kind only take
 * items. */
#define LOOK_BACK 16u

static struct heap_known *described(const struct heap_known_query *q, uint32_t i)
{
    return (struct heap_known *)(q->items + i * q->item_bytes);
}

/* Is K, another description, valid for a moment between NS and the times of SAME? */
static bool separates(const struct heap_known *k, const struct heap_known *same, int64_t ns)
{
    return ns > same->last_ns ? k->first_ns < ns && k->last_ns > same->last_ns
                              : k->first_ns < same->first_ns && k->last_ns > ns;
}

uint32_t heap_known_find(const struct heap_known_query *q, uint32_t i, int64_t ns)
{
    uint32_t same[LOOK_BACK], others[LOOK_BACK];
    size_t same_count = 0, other_count = 0;
    for (unsigned n = 0; n < LOOK_BACK && i != GCD_IDMAP_NONE; n++, i = described(q, i)->before)
        if (q->is_same(described(q, i), q->description))
            same[same_count++] = i;
        else
            others[other_count++] = i;
    for (size_t k = 0; k < same_count; k++) {
        bool apart = false;
        for (size_t n = 0; n < other_count && !apart; n++)
            apart = separates(described(q, others[n]), described(q, same[k]), ns);
        if (!apart)
            return same[k];
    }
    return GCD_IDMAP_NONE;
}

static bool is_gone(const struct heap_known *k, int64_t ns)
{
    return k->unloaded && k->last_ns < ns;
}

/* A description before NS is best, one reported as new after NS is worst. */
static unsigned rank(const struct heap_known *k, int64_t ns)
{
    return k->first_ns <= ns ? 2 : k->loaded ? 0 : 1;
}

/* The closest time to NS at which K was certainly valid. */
static int64_t nearest(const struct heap_known *k, int64_t ns)
{
    return k->last_ns <= ns ? k->last_ns : k->first_ns;
}

static bool is_better(const struct heap_known *a, const struct heap_known *b, int64_t ns)
{
    if (rank(a, ns) != rank(b, ns))
        return rank(a, ns) > rank(b, ns);
    return rank(a, ns) == 2 ? nearest(a, ns) > nearest(b, ns) : nearest(a, ns) < nearest(b, ns);
}

/* BEST is the best description for NS; is K still possible? */
static bool competes(const struct heap_known *k, const struct heap_known *best, int64_t ns,
                     bool certain)
{
    if (k->text_hash == best->text_hash && k->text_hash != 0)
        return false;        /* the same description */
    if (best->first_ns > ns) /* what is unloaded existed until then */
        return best->loaded || !best->unloaded;
    if (k->first_ns > ns)
        return !certain;
    return k->last_ns >= nearest(best, ns);
}

/* One of the tables; its items begin with struct heap_known. */
struct table {
    char *items;
    size_t item_bytes;
    int64_t ns;   /* the end of the chosen walk */
    bool certain; /* its end has arrived, and so have all descriptions before it */
};

static struct heap_known *item(const struct table *t, uint32_t i)
{
    return (struct heap_known *)(t->items + i * t->item_bytes);
}

/* The valid description among those of the id of item I; GCD_IDMAP_NONE when all have been
 * unloaded. */
static uint32_t find_best(const struct table *t, uint32_t i)
{
    uint32_t best = GCD_IDMAP_NONE;
    for (; i != GCD_IDMAP_NONE; i = item(t, i)->before)
        if (!is_gone(item(t, i), t->ns) &&
            (best == GCD_IDMAP_NONE || is_better(item(t, i), item(t, best), t->ns)))
            best = i;
    return best;
}

/* Moves the valid description to item I.  False when there is none.  *RET_REPLACED: it was replaced
 * later. */
static bool bind_item(const struct table *t, uint32_t i, bool *ret_replaced)
{
    struct heap_known *k = item(t, i);
    bool doubtful = false, reused = k->reused;
    uint32_t best = find_best(t, i);
    *ret_replaced = false;
    if (best == GCD_IDMAP_NONE)
        return false;
    const struct heap_known *b = item(t, best);
    for (uint32_t n = i; n != GCD_IDMAP_NONE; n = item(t, n)->before) {
        const struct heap_known *other = item(t, n);
        if (n == best || is_gone(other, t->ns))
            continue;
        doubtful = doubtful || competes(other, b, t->ns, t->certain);
        *ret_replaced =
            *ret_replaced || (other->first_ns > t->ns && other->text_hash != b->text_hash);
    }
    if (best != i)
        memcpy(k, b, t->item_bytes);
    k->copy = false;
    k->doubtful = doubtful;
    k->reused = reused;
    return true;
}

/*
 * A type of a module was replaced after the walk, so the module was unloaded, and the first
 * description of its id after the walk may be that of its successor.  Generic instances and arrays
 * are unloaded with the module of their arguments and prove nothing about their own.
 */
static void module_was_reused(struct gcd_heap *h, const struct gcd_type *t)
{
    uint32_t m = gcd_idmap_get(&h->module_by_id, t->module);
    if (m != GCD_IDMAP_NONE && t->named && strchr(t->name, '[') == NULL)
        h->modules[m].known.reused = true;
}

static void bind_types(struct gcd_heap *h, const struct table *t)
{
    bool replaced;
    for (uint32_t i = 0; i < h->type_count; i++)
        if (!h->types[i].known.copy && bind_item(t, i, &replaced) && replaced)
            module_was_reused(h, &h->types[i].type);
}

static void bind_modules(struct gcd_heap *h, const struct table *t)
{
    bool replaced;
    for (uint32_t i = 0; i < h->module_count; i++) {
        struct heap_module *m = &h->modules[i];
        if (m->known.copy)
            continue;
        bool there = bind_item(t, i, &replaced), goes = m->known.unloaded && !m->known.loaded;
        if (!there || (m->known.reused && m->known.first_ns > t->ns && !goes))
            *m = (struct heap_module){ .known = { .before = GCD_IDMAP_NONE }, .path = "" };
    }
}

static void bind_assemblies(struct gcd_heap *h, const struct table *t)
{
    bool replaced;
    for (uint32_t i = 0; i < h->assembly_count; i++)
        if (!h->assemblies[i].known.copy && !bind_item(t, i, &replaced))
            h->assemblies[i] =
                (struct heap_assembly){ .known = { .before = GCD_IDMAP_NONE }, .name = "" };
}

static bool is_listed(const struct heap_known *k)
{
    return k->listed && !k->copy;
}

/* Was an id of a module or assembly used again?  Then the halves of a pair may be of two times. */
static bool repeats_ids(const struct gcd_heap *h)
{
    for (size_t i = 0; i < h->module_count; i++)
        if (h->modules[i].known.copy)
            return true;
    for (size_t i = 0; i < h->assembly_count; i++)
        if (h->assemblies[i].known.copy)
            return true;
    return false;
}

/*
 * Modules and assemblies that a rundown lists without their other half: it lists each module
 * together with its assembly, unless it has no assemblies at all (Native AOT, filters).
 */
static uint64_t count_halves(struct gcd_heap *h)
{
    if (repeats_ids(h))
        return 0;
    uint64_t alone = 0, empty = 0, assemblies = 0;
    for (size_t i = 0; i < h->module_count; i++) {
        const struct heap_module *m = &h->modules[i];
        if (!is_listed(&m->known))
            continue;
        uint32_t a = gcd_idmap_get(&h->assembly_by_id, m->assembly);
        if (a == GCD_IDMAP_NONE)
            alone++;
        else
            h->assemblies[a].known.whole = true;
    }
    for (size_t i = 0; i < h->assembly_count; i++) {
        assemblies += is_listed(&h->assemblies[i].known);
        empty += is_listed(&h->assemblies[i].known) && !h->assemblies[i].known.whole;
    }
    /* one of them alone: a context was being unloaded meanwhile (live/test_reuse), or the other
     * half is an event that does not belong there */
    bool damaged = (alone > 0 && empty > 0) || h->rundown_strangers > 0;
    return assemblies > 0 && damaged ? alone + empty : 0;
}

void heap_bind(struct gcd_heap *h)
{
    const struct heap_walk *w = h->chosen;
    struct table t = { .ns = w->closed ? w->end_ns : w->last_ns, .certain = w->closed };
    t.items = (char *)h->types;
    t.item_bytes = sizeof *h->types;
    bind_types(h, &t);
    t.items = (char *)h->modules;
    t.item_bytes = sizeof *h->modules;
    bind_modules(h, &t);
    t.items = (char *)h->assemblies;
    t.item_bytes = sizeof *h->assemblies;
    bind_assemblies(h, &t);
    h->halves = count_halves(h);
}
