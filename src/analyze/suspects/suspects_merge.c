/*
 * One leak is one suspect.  Objects that leak are often several things at once: 3,000 tasks that do
 * not complete, the 3,000 calls that wait for them, and the dictionary that holds both.  Among
 * suspects that consist of the same objects, the first has the sentence and reports the others in
 * clauses.
 *
 * F consists of the objects of X if
 *
 *   - nine tenths of F's objects belong to X (WITHIN), and F keeps most of X's bytes alive; or
 *   - nearly all of F's objects are for objects of one type, X has about as many of that type, and
 *       these are the same: F's objects belong to X, or
 *     the type has not enough objects for both.
 */
#include "analyze/suspects/suspects.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define SEMAPHORE "System.Threading.SemaphoreSlim"

/* Types of one suspect: its own, that of its elements, those behind it, and the program's types in
 * it. */
#define PEOPLE (2 + GCD_SUSPECT_PARTS + GCD_SUSPECT_HOLDERS)

/* ---- the suspect that has the objects ---- */

/* The suspect to which nine tenths of owned[FIRST ... END) belong. */
static uint32_t most_of(const struct suspects_work *w, size_t first, size_t end)
{
    uint16_t most = SUSPECTS_UNKNOWN;
    size_t lead = 0, n = 0;
    for (size_t i = first; i < end; i++) { /* the majority, if there is one */
        uint16_t owner = w->owner[w->owned[i].node];
        if (lead == 0)
            most = owner;
        lead = owner == most ? lead + 1 : lead - 1;
    }
    for (size_t i = first; i < end; i++)
        n += w->owner[w->owned[i].node] == most;
    return most != SUSPECTS_UNKNOWN && most != SUSPECTS_NOBODY &&
                   n >= (end - first) - (end - first) / 10
               ? most - 1u
               : SUSPECTS_NONE;
}

gcd_status suspects_within(struct suspects_work *w, struct gcd_error *err)
{
    struct suspect *x = w->s->items, *end = x + w->s->count;
    for (size_t i = 0, k; i < w->owned_count; i = k) {
        uint32_t id = w->owned[i].id;
        for (k = i; k < w->owned_count && w->owned[k].id == id; k++)
            ;
        while (x < end && x->id < id)
            x++;
        if (x < end && x->id == id && x->pub.overlaps)
            x->within = most_of(w, i, k);
        GCD_TRY(suspects_check(w, err));
    }
    return GCD_OK;
}

/* ---- the same objects ---- */

static size_t people_of(const struct suspect *x, struct gcd_suspect_part ret[PEOPLE])
{
    const struct gcd_suspect *p = &x->pub;
    size_t n = 0;
    if (suspects_counts_type(p->kind) || x->recursive)
        ret[n++] = (struct gcd_suspect_part){ .type = p->type, .objects = p->objects };
    if (p->element.type != GCD_TYPE_NONE)
        ret[n++] = p->element;
    for (size_t i = 0; i < p->own_count; i++)
        ret[n++] = p->own[i];
    for (size_t i = 0; i < p->held_count && suspects_has_clause(p->kind);
         i++) /* the types behind them */
        ret[n++] = p->held[i];
    return n;
}

static bool is_near(uint64_t a, uint64_t b)
{
    uint64_t most = a > b ? a : b, least = a > b ? b : a;
    return least >= most - most / 10;
}

/* F has A objects of TYPE and X has B: are they the same? */
static bool are_same(const struct suspects_work *w, uint32_t x, const struct suspect *f, uint64_t a,
                     uint64_t b, uint32_t type)
{
    uint64_t all = gcd_graph_summary(w->g)->types[type].objects;
    /* at least four fifths must be in both */
    return is_near(a, b) && (f->within == x || a + b >= all + a - a / 5);
}

static bool is_same(const struct suspects_work *w, uint32_t x, const struct suspect *f)
{
    const struct suspect *in = &w->s->items[x];
    struct gcd_suspect_part of_f[PEOPLE], of_x[PEOPLE];
    size_t n = people_of(f, of_f), k = people_of(in, of_x);
    if (f->within == x && f->pub.bytes >= in->pub.bytes - in->pub.bytes / 5)
        return true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k && of_f[i].objects >= f->pub.objects - f->pub.objects / 10; j++)
            if (of_f[i].type == of_x[j].type &&
                are_same(w, x, f, of_f[i].objects, of_x[j].objects, of_f[i].type))
                return true;
    return false;
}

/* ---- merging ---- */

/* An event of objects that live without it is not worth a word. */
static bool is_harmless(const struct suspects_work *w, const struct suspect *x,
                        const struct suspect *f)
{
    return f->pub.kind == GCD_SUSPECT_HANDLERS && f->pub.bytes < w->s->threshold &&
           !w->o->by_number && !suspects_is_by_events(x);
}

/* Merges F into the first earlier suspect that consists of the same objects and has room for a
 * clause. */
static void merge(struct suspects_work *w, const uint32_t *order, size_t at)
{
    struct suspect *f = &w->s->items[order[at]];
    for (size_t i = 0; i < at && f->into == SUSPECTS_NONE; i++) {
        struct suspect *x = &w->s->items[order[i]];
        if (x->into != SUSPECTS_NONE || gcd_suspect_kind_is_free(x->pub.kind) ||
            x->pub.also_count == SUSPECTS_ALSO || !is_same(w, order[i], f) || is_harmless(w, x, f))
            continue;
        f->into = order[i];
        x->also[x->pub.also_count++] = order[at];
    }
}

static bool is_of(const struct suspects_work *w, const struct suspect *x,
                  enum gcd_suspect_kind kind, const char *name)
{
    return x->pub.kind == kind && x->pub.type != GCD_TYPE_NONE &&
           strcmp(gcd_graph_summary(w->g)->types[x->pub.type].name, name) == 0;
}

/* Who waits for several semaphores is one suspect: the queue of each is a part of it. */
static void merge_queues(struct suspects_work *w)
{
    struct suspect *items = w->s->items;
    uint32_t all = SUSPECTS_NONE;
    size_t queues = 0;
    for (uint32_t i = 0; i < w->s->count; i++) {
        if (is_of(w, &items[i], GCD_SUSPECT_TASKS, SEMAPHORE "+TaskNode"))
            all = i;
        queues += is_of(w, &items[i], GCD_SUSPECT_OBJECT, SEMAPHORE);
    }
    for (uint32_t i = 0; i < w->s->count && queues > 1 && all != SUSPECTS_NONE; i++)
        if (is_of(w, &items[i], GCD_SUSPECT_OBJECT, SEMAPHORE))
            items[i].into = all;
}

gcd_status suspects_merge(struct suspects_work *w, struct gcd_error *err)
{
    size_t n = w->s->count;
    uint32_t *order = gcd_mem_new_array(w->alloc, n, sizeof *order);
    if (order == NULL)
        return gcd_fail_nomem(err, "comparing suspects");
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    merge_queues(w);
    bool ok = gcd_sort_numbers(w->alloc, order, n, suspects_compare, w->s);
    for (size_t i = 0; i < n && ok; i++)
        if (w->s->items[order[i]].pub.overlaps &&
            suspects_has_clause(w->s->items[order[i]].pub.kind))
            merge(w, order, i);
    gcd_mem_free(w->alloc, order, n * sizeof *order);
    return ok ? GCD_OK : gcd_fail_nomem(err, "comparing suspects");
}
