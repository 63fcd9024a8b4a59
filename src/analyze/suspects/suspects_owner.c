/*
 * Suspects in terms of the program: the origins of types, the nearest of the program's own objects
 * on a path, and the collection at its end.
 */
#include "analyze/suspects/suspects.h"

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/origins.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

bool suspects_is_delegate(const struct suspects_work *w, uint32_t type)
{
    return (gcd_graph_summary(w->g)->types[type].flags & GCD_TYPE_DELEGATE) != 0;
}

/* How many steps above an object to search for its collection; no known collection is deeper,
 * except for chains. */
#define COLLECTION_STEPS 8u

/* ---- types ---- */

gcd_status suspects_find_origins(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    w->origins = w->o->origins;
    if (w->origins == NULL) {
        GCD_TRY(gcd_origins_new(summary, &(struct gcd_origins_options){ .alloc = w->alloc },
                                &w->own_origins, err));
        w->origins = w->own_origins;
    }
    w->is_own = gcd_mem_new_array(w->alloc, w->types, sizeof *w->is_own);
    if (w->is_own == NULL)
        return gcd_fail_nomem(err, "looking for suspects");
    for (uint32_t i = 0; i < w->types; i++)
        w->is_own[i] = gcd_origins_get(w->origins, i) == GCD_ORIGIN_OWN &&
                       !suspects_is_delegate(w, i) && !gcd_text_is_array(summary->types[i].name);
    return GCD_OK;
}

/* ---- the collection ---- */

static enum gcd_collection_kind kind_of(const struct suspects_work *w, uint32_t node)
{
    return gcd_collections_kind(w->collections, suspects_type_of(w, node));
}

/* NODE if it is a collection and not ELEMENT; or the outermost collection near above that has NODE
 * as an internal object, with ELEMENT or element. */
static uint32_t collection_above(const struct suspects_work *w, uint32_t node, bool element)
{
    uint32_t path[COLLECTION_STEPS + 1],
        found = kind_of(w, node) > GCD_COLLECTION_ARRAY && !element ? node : GCD_NODE_NONE;
    size_t n = 0;
    for (uint32_t at = node; at < GCD_NODE_ROOT && n <= COLLECTION_STEPS;
         at = gcd_paths_parent(w->paths, at)) {
        size_t first = COLLECTION_STEPS - n;
        path[first] = at;
        n++;
        if (n == 1 || kind_of(w, at) <= GCD_COLLECTION_ARRAY)
            continue;
        size_t inside = gcd_collections_inside(w->collections, &path[first], n, 0);
        if (inside == n - 1 || (element && inside == n - 2 && inside > 0))
            found = at;
    }
    return found;
}

/* Does the collection refer to the same objects many times?  The heap has fewer of them. */
static bool is_shared(const struct suspects_work *w, const struct gcd_collection_part *p)
{
    return gcd_graph_summary(w->g)->types[p->type].objects < p->objects / 2;
}

/*
 * Among types of about equal frequency, prefers the program's own, then the last one: if keys and
 * values could not be distinguished, keys come first, and people think of the values.
 */
static struct gcd_suspect_part most_telling(const struct suspects_work *w,
                                            const struct gcd_collection *it)
{
    const struct gcd_collection_part *best = &it->elements_of[0];
    for (size_t i = 1; i < it->elements_of_count; i++) {
        const struct gcd_collection_part *p = &it->elements_of[i];
        if (p->objects >= it->elements_of[0].objects - it->elements_of[0].objects / 10 &&
            !is_shared(w, p) && (is_shared(w, best) || w->is_own[p->type] >= w->is_own[best->type]))
            best = p;
    }
    return (struct gcd_suspect_part){ .type = best->type, .objects = best->objects };
}

/* A suspected collection has its description already. */
static gcd_status find_collection(const struct suspects_work *w, struct suspect *x,
                                  struct gcd_error *err)
{
    struct gcd_suspect *p = &x->pub;
    bool element = p->kind == GCD_SUSPECT_TYPE, known = x->collection.kind != GCD_COLLECTION_NONE;
    uint32_t node = known ? p->node : collection_above(w, p->node, element);
    gcd_status st = known ? GCD_OK
                    : node != GCD_NODE_NONE
                        ? gcd_collection_describe(w->collections, node, &x->collection, err)
                        : GCD_END;
    if (st == GCD_END && !element && !x->recursive && p->shallow_bytes < p->bytes / 2)
        st = gcd_collection_describe(w->collections, p->node, &x->collection,
                                     err); /* an array outside of collections, a chain */
    if (st != GCD_OK)
        return st == GCD_END ? GCD_OK : st;
    const struct gcd_collection *it = &x->collection;
    if (it->elements_of_count > 0)
        p->element = most_telling(w, it);
    if (element)
        return GCD_OK;
    p->collection = gcd_collection_kind_name(it->kind);
    p->elements = it->elements < p->element.objects && !gcd_collection_is_exact(it)
                      ? p->element.objects
                      : it->elements;
    p->elements_at_least = it->at_least;
    p->elements_at_most = it->at_most;
    return GCD_OK;
}

/* ---- the owner ---- */

bool suspects_dominates(const struct suspects_work *w, uint32_t up, uint32_t node)
{
    while (node < GCD_NODE_ROOT && node != up)
        node = suspects_parent(w, node);
    return node == up;
}

static gcd_status find_owner(const struct suspects_work *w, struct suspect *x,
                             struct gcd_error *err)
{
    struct gcd_suspect *p = &x->pub;
    bool collection = x->collection.kind != GCD_COLLECTION_NONE;
    uint32_t steps = 0, at = collection ? x->collection.node : p->node;
    bool itself = x->recursive || p->kind != GCD_SUSPECT_OBJECT ||
                  (p->shallow_bytes >= p->bytes / 2 && !collection);
    if (itself) /* it is the held object, not its holder */
        at = gcd_paths_parent(w->paths, p->node);
    for (uint32_t last = GCD_TYPE_NONE; at < GCD_NODE_ROOT && !w->is_own[suspects_type_of(w, at)];
         at = gcd_paths_parent(w->paths, at)) {
        /* one look at a long list */
        if (suspects_type_of(w, at) != last && suspects_is_passage(w, at))
            return GCD_OK;
        last = suspects_type_of(w, at);
        if (++steps % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
    }
    if (at >= GCD_NODE_ROOT)
        return GCD_OK;
    p->owner_node = at;
    p->owner = suspects_type_of(w, at);
    p->owner_alone = !w->lacks_references && suspects_dominates(w, at, p->node);
    const char *path = gcd_graph_summary(w->g)->types[p->owner].module_path, *slash = path,
               *machine;
    size_t n;
    if (gcd_async_machine(w->o->names != NULL ? gcd_names_get(w->o->names, p->owner)
                                              : gcd_graph_summary(w->g)->types[p->owner].name,
                          &machine, &n))
        return GCD_OK; /* the box around a state machine is the framework's */
    for (; *path != '\0'; path++)
        if (*path == '/' || *path == '\\')
            slash = path + 1;
    p->owner_module = slash;
    return GCD_OK;
}

/* ---- the path ---- */

/* Can the sentence of a suspect of KIND say how long it lives? */
static bool says_lifetime(enum gcd_suspect_kind kind)
{
    return kind == GCD_SUSPECT_OBJECT || kind == GCD_SUSPECT_TYPE || kind == GCD_SUSPECT_HANDLERS;
}

static gcd_status fold(const struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    struct gcd_fold_step *steps = gcd_mem_new_array(w->alloc, x->pub.path_count, sizeof *steps);
    bool says = says_lifetime(x->pub.kind);
    if (steps == NULL)
        return gcd_fail_nomem(err, "describing the path to a suspect");
    for (size_t i = 0; i < x->pub.path_count; i++)
        steps[i] =
            (struct gcd_fold_step){ .type = x->path[i].skipped ? GCD_TYPE_NONE : x->path[i].type,
                                    .keep = says && suspects_names_step(w, x, i) };
    gcd_fold_path(w->origins, w->collections, steps, x->pub.path_count);
    for (size_t i = 0; i < x->pub.path_count; i++) {
        x->path[i].fold = steps[i].fold;
        x->path[i].origin = gcd_origins_get(w->origins, x->path[i].type);
    }
    gcd_mem_free(w->alloc, steps, x->pub.path_count * sizeof *steps);
    return GCD_OK;
}

static bool is_contained(const struct suspects_work *w, const struct suspect *x)
{
    for (size_t i = 0; i + 1 < x->pub.path_count; i++)
        if (!x->path[i].skipped && suspects_is_passage(w, x->path[i].node))
            return x->pub.owner_node == GCD_NODE_NONE;
    return false;
}

gcd_status suspects_owner(const struct suspects_work *w, struct suspect *x, struct gcd_error *err)
{
    if (x->pub.path_count == 0)
        return GCD_OK;
    if (x->pub.kind == GCD_SUSPECT_OBJECT || x->pub.kind == GCD_SUSPECT_TYPE)
        GCD_TRY(find_collection(w, x, err));
    GCD_TRY(find_owner(w, x, err));
    if (says_lifetime(x->pub.kind))
        GCD_TRY(suspects_lead_through_site(w, x, err));
    x->contained = is_contained(w, x);
    if (x->contained && x->pub.kind == GCD_SUSPECT_OBJECT)
        GCD_TRY(suspects_find_user(w, x, err));
    return fold(w, x, err);
}
