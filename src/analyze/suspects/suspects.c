#include "analyze/suspects/suspects.h"

#include <gcdumpc/unstable/suspect_checks.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* Names in a sentence are cut, so the text of a suspect is short for any type name. */
#define POOL_MAX (UINT64_C(64) << 20)
/*
 * More suspects than a real heap can have: each suspect that does not overlap retains the share,
 * the others are within these, and a list may count some objects twice.  Damaged sizes whose sum
 * exceeds 64 bits would make every object a suspect, each with a path of any length.
 */
#define SHARES_MAX          1000u /* of GCD_SUSPECTS_SHARE_MIN */
#define SUSPECTS_OF_A_SHARE 8u
#define SUSPECTS_BESIDE     112u
/* must fit into w->owner */
#define SUSPECTS_MAX (SUSPECTS_OF_A_SHARE * SHARES_MAX + SUSPECTS_BESIDE)

/* ---- the whole ---- */

gcd_status suspects_find_paths(struct suspects_work *w, struct gcd_error *err)
{
    if (w->paths != NULL)
        return GCD_OK;
    struct gcd_context silent = w->o->context;
    silent.progress = NULL;
    GCD_TRY(gcd_paths_new(w->g, &silent, &w->own_paths, err));
    w->paths = w->own_paths;
    return GCD_OK;
}

/* Is X below the limits?  Assemblies are memory outside of the heap: their number counts. */
static bool is_small(const struct suspects_work *w, const struct suspect *x)
{
    return x->pub.bytes < w->s->threshold && x->pub.overlaps && x->into == SUSPECTS_NONE &&
           x->pub.kind != GCD_SUSPECT_ASSEMBLIES && !w->o->by_number;
}

/* Objects of this size are in the large object heap. */
#define LARGE_BYTES 85000u

/* Is most of the large object heap in what is large by design, such as a pool of the program?  It
 * has grown in a peak, and the gaps with it. */
static bool is_after_peak(const struct gcd_suspects *s, const struct gcd_suspect *gaps)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct gcd_suspect *p = &s->items[i].pub;
        if (p->kind == GCD_SUSPECT_DESIGN && p->content_count > 0 &&
            p->content[0].type == gaps->type && p->content[0].objects > 0 &&
            p->content[0].bytes / p->content[0].objects >= LARGE_BYTES)
            gcd_add_saturating(&bytes, p->content[0].bytes);
    }
    return bytes >= gaps->shallow_bytes - gaps->shallow_bytes / 4;
}

static bool is_told(const struct suspect *x)
{
    return x->into == SUSPECTS_NONE && !x->small;
}

/* The suspect that is limited and holds nearly all bytes of the copies of strings that F counts;
 * NULL. */
static struct suspect *limited_holder(const struct suspects_work *w, const struct suspect *f)
{
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        uint64_t in = 0, all = 0;
        if (!x->pub.limited || x->into != SUSPECTS_NONE || x->pub.also_count == SUSPECTS_ALSO)
            continue;
        for (size_t k = 0; k < w->owned_count; k++) {
            uint32_t node = w->owned[k].node;
            uint64_t bytes = w->owned[k].id == f->id ? gcd_graph_node_size(w->g, node) : 0;
            gcd_add_saturating(&all, bytes);
            gcd_add_saturating(&in, w->owner[node] == i + 1 ? bytes : 0);
        }
        if (in > 0 && in >= all - all / 10)
            return x;
    }
    return NULL;
}

/* Equal strings in a cache with a limit cannot get more: they are told of it. */
static gcd_status fold_duplicates(struct suspects_work *w, struct gcd_error *err)
{
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *f = &w->s->items[i], *x;
        if (f->pub.kind != GCD_SUSPECT_DUPLICATES || f->into != SUSPECTS_NONE ||
            (x = limited_holder(w, f)) == NULL)
            continue;
        f->into = (uint32_t)(x - w->s->items);
        x->also[x->pub.also_count++] = (uint32_t)i;
        GCD_TRY(suspects_sentence(w, x, err));
    }
    return GCD_OK;
}

static gcd_status describe(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    GCD_TRY(suspects_find_registered(w, err));
    for (size_t i = 0; i < s->count; i++) {
        struct suspect *x = &s->items[i];
        if (!gcd_suspect_kind_is_free(x->pub.kind) && s->heap_bytes > 0)
            x->pub.share = (double)x->pub.bytes / (double)s->heap_bytes;
        GCD_TRY(suspects_check(w, err));
        GCD_TRY(suspects_path(w, x, err));
        GCD_TRY(suspects_owner(w, x, err));
    }
    GCD_TRY(suspects_find_by_events(w, err));
    GCD_TRY(suspects_merge(w, err));
    GCD_TRY(suspects_find_settled(w, err));
    GCD_TRY(suspects_find_below(w, err));
    GCD_TRY(suspects_find_siblings(w, err));
    GCD_TRY(suspects_find_lost_keys(w, err));
    GCD_TRY(suspects_find_failed(w, err));
    GCD_TRY(suspects_find_listeners(w, err));
    GCD_TRY(suspects_find_recent(w, err));
    for (size_t i = 0; i < s->count; i++) {
        s->items[i].small = is_small(w, &s->items[i]);
        GCD_TRY(suspects_sentence(w, &s->items[i], err));
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].pub.kind == GCD_SUSPECT_FRAGMENTATION && is_after_peak(s, &s->items[i].pub))
            s->items[i].small = true;
    return fold_duplicates(w, err);
}

int suspects_compare(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_suspects *s = ctx;
    const struct gcd_suspect *x = &s->items[a].pub, *y = &s->items[b].pub;
    bool x_told = is_told(&s->items[a]), y_told = is_told(&s->items[b]);
    if (x_told != y_told)
        return x_told ? -1 : 1;
    if (gcd_suspect_kind_is_note(x->kind) != gcd_suspect_kind_is_note(y->kind))
        return gcd_suspect_kind_is_note(x->kind) ? 1 : -1;
    if (x->overlaps != y->overlaps)
        return x->overlaps ? 1 : -1;
    /* equal: in the order of discovery */
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* Keeps the objects of findings for those who add up what belongs to no suspect. */
static gcd_status keep_objects(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    for (size_t i = 0, at = 0; i < w->owned_count; i++) {
        while (at < s->count && s->items[at].id < w->owned[i].id)
            at++;
        if (at == s->count || s->items[at].id != w->owned[i].id || s->items[at].pub.overlaps)
            continue;
        if (!gcd_vec_reserve(&s->alloc, &s->objects, &s->object_room, s->object_count + 1,
                             sizeof *s->objects, UINT32_MAX))
            return gcd_fail_nomem(err, "keeping the objects of suspects");
        s->objects[s->object_count++] = w->owned[i].node;
    }
    return GCD_OK;
}

static gcd_status sort(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    s->order = gcd_mem_new_array(&s->alloc, s->count, sizeof *s->order);
    if (s->order == NULL)
        return gcd_fail_nomem(err, "sorting suspects");
    for (size_t i = 0; i < s->count; i++) {
        s->order[i] = (uint32_t)i;
        if (gcd_suspect_kind_is_note(s->items[i].pub.kind))
            s->notes++;
        else
            s->told += is_told(&s->items[i]);
    }
    return gcd_sort_numbers(&s->alloc, s->order, s->count, suspects_compare, s)
               ? GCD_OK
               : gcd_fail_nomem(err, "sorting suspects");
}

/* Each search may use the results of those before it. */
static const struct {
    gcd_status (*run)(struct suspects_work *w, struct gcd_error *err);
    bool of_suspects; /* skipped if there are no suspects */
    /* the kind, if it tells by what is not there: lost references look like empty arrays, lost
     * objects like free memory */
    enum gcd_suspect_kind by_absence;
} steps[] = {
    { suspects_containers, false, 0 },
    { suspects_finalizers, false, 0 },
    { suspects_types, false, 0 },
    { suspects_handlers, false, 0 },
    { suspects_pinned, false, GCD_SUSPECT_PINNED },
    { suspects_collections, false, GCD_SUSPECT_COLLECTIONS },
    { suspects_sparse, false, GCD_SUSPECT_SPARSE },
    { suspects_duplicates, false, 0 },
    { suspects_findings, false, 0 },
    { suspects_assemblies, false, 0 },
    { suspects_fragmentation, false, GCD_SUSPECT_FRAGMENTATION },
    { suspects_pins, false, 0 },
    { suspects_weak_tables, false, 0 },
    { suspects_content, true, 0 },
    { suspects_within, true, 0 },
    { suspects_find_paths, true, 0 },
    { suspects_find_statics, true, 0 },
    { suspects_holders, true, 0 },
    { keep_objects, true, 0 },
    { describe, true, 0 },
    { suspects_share, true, 0 },
    { sort, true, 0 },
};
#define STEP_COUNT (sizeof steps / sizeof *steps)

/* May references or objects be missing?  Reasons about anything else do not count. */
static bool lacks_references(const struct gcd_summary *s)
{
    for (size_t i = 0; i < s->verdict.reason_count; i++)
        switch (s->verdict.reasons[i].code) {
        case GCD_REASON_LOSS_UNVERIFIED:
        case GCD_REASON_ROOT_EVENTS_MISSING:
        case GCD_REASON_DEPENDENT_EVENTS_MISSING:
        case GCD_REASON_NO_GC_START:
        case GCD_REASON_TYPES_UNDESCRIBED:
        case GCD_REASON_TYPES_AMBIGUOUS:
            break;
        default:
            return true;
        }
    return false;
}

static bool is_known_by_names(enum gcd_suspect_kind kind)
{
    switch (kind) {
    case GCD_SUSPECT_OBJECT:
    case GCD_SUSPECT_TYPE:
    case GCD_SUSPECT_FINALIZERS:
    case GCD_SUSPECT_PINNED:
    case GCD_SUSPECT_ASSEMBLIES:
    case GCD_SUSPECT_FRAGMENTATION:
    case GCD_SUSPECT_PINS:
        return false;
    default:
        return true;
    }
}

/* Counts what was found, even if the search itself counts something else. */
static void end_checks(struct gcd_suspects *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct gcd_suspect *x = &s->items[i].pub;
        struct gcd_suspect_check *check = &s->checks[x->kind];
        check->found += !s->items[i].small;
        if (x->bytes > check->bytes)
            check->bytes = x->bytes;
        if (x->objects > check->objects && x->kind != GCD_SUSPECT_ASSEMBLIES)
            check->objects = x->objects;
    }
    for (unsigned i = 0; i < GCD_SUSPECT_KINDS && s->unnamed.most; i++)
        if (s->checks[i].objects == 0 && is_known_by_names((enum gcd_suspect_kind)i))
            s->checks[i].unknown = true;
}

static gcd_status run(struct suspects_work *w, struct gcd_error *err)
{
    gcd_idmap_init(&w->sites, w->alloc);
    GCD_TRY(gcd_collections_new(w->g, &w->o->context, &w->collections, err));
    gcd_collections_know(w->collections, w->o->number, w->o->numbers);
    GCD_TRY(suspects_find_origins(w, err));
    GCD_TRY(suspects_find_alike(w, err));
    w->s->checks[GCD_SUSPECT_INTERNED].unknown = w->lacks_references;
    for (size_t i = 0; i < STEP_COUNT; i++) {
        GCD_TRY(gcd_context_step(&w->o->context, i, STEP_COUNT, err));
        if (steps[i].by_absence != 0 && w->lacks_references)
            w->s->checks[steps[i].by_absence].unknown = true;
        else if (w->s->count > 0 || !steps[i].of_suspects)
            GCD_TRY(steps[i].run(w, err));
    }
    end_checks(w->s);
    gcd_context_report(&w->o->context, STEP_COUNT, STEP_COUNT);
    return GCD_OK;
}

static void work_done(struct suspects_work *w)
{
    gcd_paths_free(w->own_paths);
    gcd_collections_free(w->collections);
    gcd_origins_free(w->own_origins);
    gcd_mem_free(w->alloc, w->is_own, w->types);
    gcd_mem_free(w->alloc, w->alike, w->types * sizeof *w->alike);
    gcd_mem_free(w->alloc, w->inside, w->words * sizeof *w->inside);
    gcd_idmap_done(&w->sites);
    gcd_mem_free(w->alloc, w->waiting, w->words * sizeof *w->waiting);
    gcd_mem_free(w->alloc, w->owner, (size_t)w->nodes * sizeof *w->owner);
    gcd_mem_free(w->alloc, w->owned, w->owned_room * sizeof *w->owned);
    gcd_mem_free(w->alloc, w->top, (size_t)w->types * sizeof *w->top);
}

/* SHARE of BYTES, but at least MIN. */
static uint64_t threshold(uint64_t bytes, double share, uint64_t min)
{
    double part = share * (double)bytes;
    /* the largest double below 2^64 */
    uint64_t t = part >= 18446744073709549568.0 ? UINT64_MAX : (uint64_t)part;
    return t > min ? t : min;
}

/* The largest possible number of suspects. */
static size_t most_suspects(uint64_t alive_bytes, uint64_t threshold_bytes)
{
    uint64_t shares = alive_bytes / threshold_bytes;
    return SUSPECTS_OF_A_SHARE * (size_t)(shares < SHARES_MAX ? shares : SHARES_MAX) +
           SUSPECTS_BESIDE;
}

static gcd_status make(const struct gcd_graph *g, const struct gcd_dominators *d,
                       const struct gcd_suspects_options *options, bool notes_designs,
                       struct gcd_suspects **ret, struct gcd_error *err)
{
    static const struct gcd_suspects_options defaults;
    if (options == NULL)
        options = &defaults;
    double share = options->share == 0 ? GCD_SUSPECTS_SHARE : options->share;
    if (!(share >= GCD_SUSPECTS_SHARE_MIN && share <= 1))
        return gcd_fail(err, GCD_E_ARG,
                        "the share that makes a suspect must be from %g to 1, not %g",
                        GCD_SUSPECTS_SHARE_MIN, share);
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_suspects *s = gcd_mem_new(&a, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "looking for suspects");
    s->alloc = a;
    gcd_textpool_init(&s->pool, &s->alloc, POOL_MAX);
    s->heap_bytes = gcd_graph_summary(g)->bytes;
    s->alive_bytes = gcd_dominators_retained(d, GCD_NODE_ROOT);
    s->threshold = threshold(s->heap_bytes, share,
                             options->min_bytes != 0 ? options->min_bytes : GCD_SUSPECTS_MIN_BYTES);
    s->unnamed = gcd_types_unnamed(gcd_graph_summary(g));
    suspects_begin_checks(s);
    struct suspects_work w = { .s = s,
                               .alloc = &s->alloc,
                               .o = options,
                               .paths = options->paths,
                               .g = g,
                               .type_of = gcd_graph_types(g),
                               .d = d,
                               .notes_designs = notes_designs,
                               .nodes = gcd_graph_node_count(g),
                               .types = gcd_graph_summary(g)->type_count };
    w.words = ((size_t)w.nodes + 63) / 64;
    w.lacks_references = s->lacks_references = lacks_references(gcd_graph_summary(g));
    w.most = most_suspects(gcd_dominators_retained(d, GCD_NODE_ROOT), s->threshold);
    suspects_find_observed(&w);
    gcd_status st = run(&w, err);
    work_done(&w);
    if (st == GCD_OK)
        *ret = s;
    else
        gcd_suspects_free(s);
    return st;
}

gcd_status gcd_suspects_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                            const struct gcd_suspects_options *options, struct gcd_suspects **ret,
                            struct gcd_error *err)
{
    return make(g, d, options, true, ret, err);
}

gcd_status gcd_largest_consumer(const struct gcd_graph *g, const struct gcd_dominators *d,
                                const struct gcd_suspects_options *options,
                                const struct gcd_suspects *none, struct gcd_suspects **ret,
                                struct gcd_error *err)
{
    struct gcd_suspects_options o = *options;
    struct gcd_suspects *s = NULL;
    *ret = NULL;
    size_t first = 0;
    while (first < none->consumer_count && suspects_is_source(g, none->consumers[first].type))
        first++;
    if (first == none->consumer_count || none->consumers[first].bytes == 0)
        return GCD_OK;
    o.share = GCD_SUSPECTS_SHARE_MIN;
    o.min_bytes = none->consumers[first].bytes - none->consumers[first].bytes / 5;
    o.only_large = false;
    GCD_TRY(make(g, d, &o, false, &s, err));
    if (s->told > 0 && !gcd_suspects_get(s, 0)->overlaps) {
        struct gcd_suspect *x = &s->items[s->order[0]].pub;
        x->advice = ""; /* to be large is no fault */
        x->advice_condition = 0;
        *ret = s;
    } else {
        gcd_suspects_free(s);
    }
    return GCD_OK;
}

void gcd_suspects_free(struct gcd_suspects *s)
{
    if (s == NULL)
        return;
    struct gcd_alloc a = s->alloc;
    for (size_t i = 0; i < s->count; i++)
        gcd_mem_free(&a, s->items[i].path, s->items[i].path_room * sizeof *s->items[i].path);
    gcd_mem_free(&a, s->items, s->room * sizeof *s->items);
    gcd_mem_free(&a, s->order, s->count * sizeof *s->order);
    gcd_mem_free(&a, s->objects, s->object_room * sizeof *s->objects);
    gcd_mem_free(&a, s->shared, s->shared_room * sizeof *s->shared);
    gcd_mem_free(&a, s->consumers, s->consumer_room * sizeof *s->consumers);
    gcd_textpool_done(&s->pool);
    gcd_mem_free(&a, s, sizeof *s);
}

size_t gcd_suspects_count(const struct gcd_suspects *s)
{
    return s->told;
}

const struct gcd_suspect *gcd_suspects_get(const struct gcd_suspects *s, size_t i)
{
    return &s->items[s->order[i]].pub;
}

const struct gcd_unnamed *gcd_suspects_unnamed(const struct gcd_suspects *s)
{
    return &s->unnamed;
}

bool gcd_suspects_lack_references(const struct gcd_suspects *s)
{
    return s->lacks_references;
}

size_t gcd_suspects_note_count(const struct gcd_suspects *s)
{
    return s->notes;
}

const struct gcd_suspect *gcd_suspects_note(const struct gcd_suspects *s, size_t i)
{
    return gcd_suspects_get(s, s->told + i);
}

const struct gcd_suspect *gcd_suspects_also(const struct gcd_suspects *s,
                                            const struct gcd_suspect *x, size_t i)
{
    return &s->items[((const struct suspect *)x)->also[i]].pub;
}

const struct gcd_suspect_check *gcd_suspects_check(const struct gcd_suspects *s,
                                                   enum gcd_suspect_kind kind)
{
    return &s->checks[kind];
}

uint64_t gcd_suspects_heap_bytes(const struct gcd_suspects *s)
{
    return s->heap_bytes;
}

uint64_t gcd_suspects_observed_bytes(const struct gcd_suspects *s)
{
    return s->observed_bytes < s->heap_bytes ? s->observed_bytes : s->heap_bytes;
}

const uint32_t *gcd_suspects_objects(const struct gcd_suspects *s, size_t *ret_n)
{
    *ret_n = s->object_count;
    return s->objects;
}

uint64_t gcd_suspects_threshold(const struct gcd_suspects *s)
{
    return s->threshold;
}

size_t gcd_suspects_consumer_count(const struct gcd_suspects *s)
{
    return s->consumer_count;
}

const struct gcd_suspect_part *gcd_suspects_consumer(const struct gcd_suspects *s, size_t i)
{
    return &s->consumers[i];
}
