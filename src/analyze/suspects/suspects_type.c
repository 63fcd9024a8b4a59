/*
 * Objects of one type that are large only together.
 *
 * The search covers the objects without a dominator other than the root.  Every other object has a
 * dominator that retains at least as much, and suspects_object.c finds that one.  An object that a
 * root holds directly is always covered.
 */
#include "analyze/suspects/suspects.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* So much of a whole that people say "nearly all". */
#define NEARLY_ALL 0.95
/* The content of a container is at most this deep below it. */
#define PLUMBING_DEEPEST 64u

/* ---- types ---- */

static int compare_top(const void *ctx, uint32_t a, uint32_t b)
{
    const struct suspects_top *top = ctx;
    if (top[a].bytes != top[b].bytes)
        return top[a].bytes < top[b].bytes ? 1 : -1;
    return top[a].objects < top[b].objects ? 1 : top[a].objects > top[b].objects ? -1 : 0;
}

static gcd_status make_consumers(struct suspects_work *w, struct gcd_error *err)
{
    struct gcd_suspects *s = w->s;
    uint32_t *order = gcd_mem_new_array(w->alloc, w->types, sizeof *order);
    if (order == NULL)
        return gcd_fail_nomem(err, "adding up the largest consumers");
    size_t n = 0;
    for (uint32_t t = 0; t < w->types; t++)
        if (w->top[t].objects > 0)
            order[n++] = t;
    bool ok = gcd_sort_numbers(w->alloc, order, n, compare_top, w->top) &&
              gcd_vec_reserve(w->alloc, &s->consumers, &s->consumer_room, n, sizeof *s->consumers,
                              SIZE_MAX);
    for (size_t i = 0; i < n && ok; i++)
        s->consumers[i] = (struct gcd_suspect_part){ .type = order[i],
                                                     .objects = w->top[order[i]].objects,
                                                     .bytes = w->top[order[i]].bytes };
    s->consumer_count = ok ? n : 0;
    gcd_mem_free(w->alloc, order, (size_t)w->types * sizeof *order);
    return ok ? GCD_OK : gcd_fail_nomem(err, "adding up the largest consumers");
}

static bool is_grouped(const struct suspects_work *w, uint32_t node)
{
    return suspects_parent(w, node) == GCD_NODE_ROOT &&
           gcd_dominators_retained(w->d, node) < w->s->threshold && !suspects_waits(w, node);
}

/* What a type is to the list of consumers; RUNTIME: to that of suspects. */
enum part { PART_ANY, PART_PLUMBING, PART_CONTAINER, PART_OBSERVED, PART_RUNTIME };

/* What a runtime makes for reflection. */
static bool is_reflection(const char *name)
{
    static const char *const names[] = {
        "System.RuntimeType",
        "System.Reflection.RuntimeMethodInfo",
        "System.Reflection.RuntimeConstructorInfo",
        "System.Reflection.RuntimeFieldInfo",
        "System.Reflection.RuntimePropertyInfo",
        "System.Reflection.RuntimeEventInfo",
        "System.Reflection.RuntimeParameterInfo",
        "System.Reflection.RuntimeAssembly",
        "System.Reflection.RuntimeModule",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/*
 * Mono keeps the objects of reflection itself, each with a root of no other kind (18,880 of the
 * 18,910 roots of a file): no part of the program can let go of them.
 */
static gcd_status find_reflection(struct suspects_work *w, uint8_t *parts, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    uint64_t *by = gcd_mem_new_array(w->alloc, 2 * (size_t)w->types + 1, sizeof *by);
    if (by == NULL)
        return gcd_fail_nomem(err, "adding up the largest consumers");
    for (size_t i = 0; i < s->root_count; i++)
        if (s->roots[i].node < w->nodes)
            by[2 * (size_t)suspects_type_of(w, s->roots[i].node) +
               (gcd_root_group(&s->roots[i]) == GCD_GROUP_OTHER)]++;
    for (uint32_t t = 0; t < w->types; t++)
        if (by[2 * (size_t)t + 1] > by[2 * (size_t)t] && is_reflection(s->types[t].name))
            parts[t] = PART_RUNTIME;
    gcd_mem_free(w->alloc, by, (2 * (size_t)w->types + 1) * sizeof *by);
    return GCD_OK;
}

static uint8_t *parts_of_types(const struct suspects_work *w)
{
    const struct gcd_type *types = gcd_graph_summary(w->g)->types;
    uint8_t *parts = gcd_mem_new_array(w->alloc, w->types, 1);
    for (uint32_t t = 0; t < w->types && parts != NULL; t++) {
        const char *name = types[t].objects > 0 ? types[t].name : NULL;
        if (name == NULL)
            continue;
        if (suspects_is_container(name))
            parts[t] = PART_CONTAINER;
        else if (suspects_is_source(w->g, t))
            parts[t] = PART_OBSERVED;
        else if (suspects_is_plumbing(name))
            parts[t] = PART_PLUMBING;
    }
    return parts;
}

/* Is NODE a container below the root, or what that keeps its content with?  Nobody asks what it
 * holds, but what each of the objects in it does. */
static bool is_passed(const struct suspects_work *w, const uint8_t *parts, uint32_t node)
{
    for (unsigned i = 0; i < PLUMBING_DEEPEST; i++) {
        uint8_t part = parts[suspects_type_of(w, node)];
        if (part != PART_CONTAINER && part != PART_PLUMBING)
            return false;
        node = suspects_parent(w, node);
        if (node >= GCD_NODE_ROOT)
            return node == GCD_NODE_ROOT && part == PART_CONTAINER;
    }
    return false;
}

/* Adds NODE to the consumers, unless another one holds it. */
static void add_to_consumers(struct suspects_work *w, const uint8_t *parts, uint32_t node)
{
    uint32_t type = suspects_type_of(w, node), up = suspects_parent(w, node);
    struct gcd_suspect_check *largest = &w->s->checks[GCD_SUSPECT_OBJECT];
    if (up > GCD_NODE_ROOT || (up < GCD_NODE_ROOT && !is_passed(w, parts, up)) ||
        parts[type] == PART_OBSERVED)
        return;
    uint64_t bytes = is_passed(w, parts, node) ? gcd_graph_node_size(w->g, node)
                                               : gcd_dominators_retained(w->d, node);
    w->top[type].objects++;
    gcd_add_saturating(&w->top[type].bytes, bytes);
    if (bytes > largest->bytes) {
        largest->objects = 1;
        largest->bytes = bytes;
    }
}

static gcd_status add_tops(struct suspects_work *w, const uint8_t *parts, struct gcd_error *err)
{
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        add_to_consumers(w, parts, node);
        if (is_grouped(w, node) && parts[suspects_type_of(w, node)] != PART_RUNTIME) {
            struct suspects_top *t = &w->top[suspects_type_of(w, node)];
            uint64_t bytes = gcd_dominators_retained(w->d, node);
            t->group_objects++;
            gcd_add_saturating(&t->group_bytes, bytes);
            gcd_add_saturating(&t->group_shallow, gcd_graph_node_size(w->g, node));
        }
    }
    return GCD_OK;
}

gcd_status suspects_types(struct suspects_work *w, struct gcd_error *err)
{
    uint8_t *parts = parts_of_types(w);
    w->top = gcd_mem_new_array(w->alloc, w->types, sizeof *w->top);
    gcd_status st = parts != NULL && w->top != NULL
                        ? find_reflection(w, parts, err)
                        : gcd_fail_nomem(err, "adding up the largest consumers");
    if (st == GCD_OK)
        st = add_tops(w, parts, err);
    gcd_mem_free(w->alloc, parts, w->types);
    GCD_TRY(st);
    for (uint32_t i = 0; i < w->types; i++) {
        const struct suspects_top *t = &w->top[i];
        struct suspect *x;
        if (t->group_objects > 1 && t->group_bytes > w->s->checks[GCD_SUSPECT_TYPE].bytes) {
            w->s->checks[GCD_SUSPECT_TYPE].objects = t->group_objects;
            w->s->checks[GCD_SUSPECT_TYPE].bytes = t->group_bytes;
        }
        if (t->group_objects < 2 || t->group_bytes < w->s->threshold)
            continue;
        GCD_TRY(suspects_add(w, GCD_SUSPECT_TYPE, GCD_NODE_NONE, i, &x, err));
        x->pub.objects = t->group_objects;
        x->pub.bytes = x->pub.retained_bytes = t->group_bytes;
        x->pub.shallow_bytes = t->group_shallow;
    }
    return make_consumers(w, err);
}

/* ---- what holds the objects of a type ---- */

/*
 * Objects of one type can be held in many ways, and the first one is rarely typical: of 5,000 links
 * of a cancellation, one may belong to the configuration.  So objects are sampled at equal
 * distances in the bytes that they retain.  The heaviest sequence of types on a path wins, and
 * among its samples the one whose holder holds most.  A small number of objects is sampled
 * completely.
 */
/* Steps of a path that are compared. */
#define STEPS_MAX 256u

struct drawing {
    struct suspects_work *w;
    struct suspects_drawn *items;
    size_t count, room;
    uint32_t *order; /* [count] */
    struct series {
        uint64_t seen, next, distance; /* bytes */
        /* objects with the typical one's holder, or its type; BY_GROUP: held by roots */
        uint64_t by_object, by_type;
        uint64_t by_group[GCD_GROUPS], bytes[GCD_GROUPS];
        uint32_t first[GCD_GROUPS];
    } * series; /* [suspects] */
};

/* The suspect of kind TYPE that NODE belongs to; UINT32_MAX = none. */
static uint32_t type_suspect(const struct suspects_work *w, uint32_t node)
{
    uint32_t i = w->owner[node];
    return i != SUSPECTS_NOBODY && w->s->items[i - 1].pub.kind == GCD_SUSPECT_TYPE &&
                   is_grouped(w, node)
               ? i - 1
               : UINT32_MAX;
}

static uint64_t path_hash(const struct suspects_work *w, uint32_t node)
{
    uint64_t hash = GCD_TEXT_HASH;
    uint32_t last = GCD_TYPE_NONE;
    for (unsigned n = 0; node < GCD_NODE_ROOT && n < STEPS_MAX;
         n++, node = gcd_paths_parent(w->paths, node)) {
        uint32_t type = suspects_type_of(w, node);
        if (type != last)
            hash = gcd_text_hash((const char *)&type, sizeof type, hash);
        last = type;
    }
    return hash;
}

/* The weight of the next object of SUSPECT, which retains BYTES; 0 = it is not sampled. */
static uint64_t weigh(const struct drawing *d, uint32_t suspect, uint64_t bytes)
{
    struct series *s = &d->series[suspect];
    if (d->w->s->items[suspect].pub.objects <= GCD_SUSPECT_DRAWN)
        return bytes > 0 ? bytes : 1;
    gcd_add_saturating(&s->seen, bytes);
    if (s->seen <= s->next)
        return 0;
    uint64_t weight = (s->seen - s->next - 1) / s->distance + 1;
    gcd_add_saturating(&s->next, gcd_sum_saturating((weight - 1) * s->distance, s->distance));
    return weight;
}

static gcd_status draw(struct drawing *d, struct gcd_error *err)
{
    struct suspects_work *w = d->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        uint32_t suspect = type_suspect(w, node);
        if (suspect == UINT32_MAX || gcd_paths_parent(w->paths, node) == GCD_NODE_NONE)
            continue;
        uint64_t weight = weigh(d, suspect, gcd_dominators_retained(w->d, node));
        if (weight == 0)
            continue;
        if (!gcd_vec_reserve(w->alloc, &d->items, &d->room, d->count + 1, sizeof *d->items,
                             UINT32_MAX - 1))
            return gcd_fail_nomem(err, "looking who holds the objects of a type");
        d->items[d->count++] = (struct suspects_drawn){ .path = path_hash(w, node),
                                                        .weight = weight,
                                                        .suspect = suspect,
                                                        .node = node,
                                                        .by = gcd_paths_parent(w->paths, node) };
    }
    return GCD_OK;
}

static int compare_drawn(const void *ctx, uint32_t a, uint32_t b)
{
    const struct suspects_drawn *x = &((const struct suspects_drawn *)ctx)[a],
                                *y = &((const struct suspects_drawn *)ctx)[b];
    if (x->suspect != y->suspect)
        return x->suspect < y->suspect ? -1 : 1;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

/* The end of the run of samples from FIRST on that have the same path, or path and holder.
 * *RET_WEIGHT: their weight in all. */
static size_t run_of(const struct drawing *d, size_t first, bool same_holder, uint64_t *ret_weight)
{
    const struct suspects_drawn *x = &d->items[d->order[first]];
    size_t end = first;
    *ret_weight = 0;
    for (; end < d->count; end++) {
        const struct suspects_drawn *y = &d->items[d->order[end]];
        if (y->suspect != x->suspect || y->path != x->path || (same_holder && y->by != x->by))
            break;
        gcd_add_saturating(ret_weight, y->weight);
    }
    return end;
}

/* A path: its weight, its heaviest holder, an object below that holder. */
struct choice {
    uint64_t weight, holder;
    uint32_t node;
};

static bool is_better(const struct choice *x, const struct choice *than)
{
    if (x->weight != than->weight)
        return x->weight > than->weight;
    return x->holder != than->holder ? x->holder > than->holder : x->node < than->node;
}

/* Chooses the typical object of each suspect: the one with the heaviest holder among those with the
 * heaviest path. */
static void choose(struct drawing *d)
{
    struct choice best = { .node = GCD_NODE_NONE };
    uint32_t suspect = UINT32_MAX;
    for (size_t i = 0, end; i < d->count; i = end) {
        struct choice c = { .node = GCD_NODE_NONE };
        uint64_t holder;
        end = run_of(d, i, false, &c.weight);
        for (size_t k = i, k_end; k < end; k = k_end) {
            uint32_t node = d->items[d->order[k]].node;
            k_end = run_of(d, k, true, &holder);
            if (holder > c.holder || (holder == c.holder && node < c.node)) {
                c.holder = holder;
                c.node = node;
            }
        }
        if (d->items[d->order[i]].suspect != suspect || is_better(&c, &best)) {
            suspect = d->items[d->order[i]].suspect;
            best = c;
            d->w->s->items[suspect].pub.node = c.node;
        }
    }
}

/* Counts the objects that roots hold directly, each for the first of its groups. */
static void count_held_by_roots(struct drawing *d)
{
    struct suspects_work *w = d->w;
    const struct gcd_summary *summary = gcd_graph_summary(w->g);
    for (unsigned group = 0; group < GCD_GROUP_WEAK; group++)
        for (size_t i = 0; i < summary->root_count; i++) {
            const struct gcd_root *r = &summary->roots[i];
            if ((unsigned)gcd_root_group(r) != group ||
                gcd_paths_parent(w->paths, r->node) != GCD_NODE_ROOT)
                continue;
            uint32_t suspect = type_suspect(w, r->node);
            if (suspect == UINT32_MAX)
                continue;
            struct series *s = &d->series[suspect];
            s->first[group] = s->by_group[group]++ == 0 ? r->node : s->first[group];
            gcd_add_saturating(&s->bytes[group], gcd_dominators_retained(w->d, r->node));
            /* so that further roots of the object do not count */
            w->owner[r->node] = SUSPECTS_NOBODY;
        }
}

static gcd_status count_alike(struct drawing *d, struct gcd_error *err)
{
    const struct suspects_work *w = d->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        uint32_t suspect = type_suspect(w, node), by = gcd_paths_parent(w->paths, node);
        if (suspect == UINT32_MAX || by >= GCD_NODE_ROOT)
            continue;
        uint32_t typical = w->s->items[suspect].pub.node,
                 typical_by =
                     typical != GCD_NODE_NONE ? gcd_paths_parent(w->paths, typical) : GCD_NODE_NONE;
        d->series[suspect].by_object += by == typical_by;
        d->series[suspect].by_type += typical_by < GCD_NODE_ROOT &&
                                      suspects_type_of(w, by) == suspects_type_of(w, typical_by);
    }
    return GCD_OK;
}

/* Chooses the holder to name: an object tells more than its type, unless it holds less than half.
 */
static void decide(const struct drawing *d, uint32_t suspect)
{
    struct suspect *x = &d->w->s->items[suspect];
    const struct series *s = &d->series[suspect];
    if (x->pub.kind != GCD_SUSPECT_TYPE || x->pub.node == GCD_NODE_NONE)
        return;
    if (gcd_paths_parent(d->w->paths, x->pub.node) == GCD_NODE_ROOT) {
        unsigned group = 0;
        for (unsigned i = 1; i < GCD_GROUPS; i++)
            group = s->bytes[i] > s->bytes[group] ? i : group;
        x->holder = SUSPECT_BY_ROOTS;
        x->pub.alike = s->by_group[group];
        x->pub.node = s->by_group[group] > 0 ? s->first[group] : x->pub.node;
        return;
    }
    x->holder = s->by_object >= x->pub.objects / 2 || s->by_object == s->by_type ? SUSPECT_BY_OBJECT
                                                                                 : SUSPECT_BY_TYPE;
    x->pub.alike = x->holder == SUSPECT_BY_OBJECT ? s->by_object : s->by_type;
}

/* If arrays of static variables keep most of X, the heaviest of these arrays is typical. */
static void find_statics(const struct suspects_work *w, struct suspect *x)
{
    uint64_t bytes = 0, most = 0, count = 0;
    uint32_t node = GCD_NODE_NONE;
    for (size_t i = 0; i < w->static_count; i++) {
        uint32_t array = w->statics[i].node;
        uint64_t retained = gcd_dominators_retained(w->d, array);
        if (suspects_type_of(w, array) != x->pub.type || !is_grouped(w, array))
            continue;
        count++;
        gcd_add_saturating(&bytes, retained);
        node = retained > most ? array : node;
        most = retained > most ? retained : most;
    }
    if (bytes == 0 || bytes < x->pub.retained_bytes / 2)
        return;
    x->statics = count;
    x->pub.alike = count;
    x->pub.node = node;
}

static gcd_status find_typical(struct drawing *d, struct gcd_error *err)
{
    const struct gcd_alloc *a = d->w->alloc;
    GCD_TRY(draw(d, err));
    d->order = gcd_mem_new_array(a, d->count, sizeof *d->order);
    if (d->order == NULL && d->count > 0)
        return gcd_fail_nomem(err, "looking who holds the objects of a type");
    for (size_t i = 0; i < d->count; i++)
        d->order[i] = (uint32_t)i;
    if (!gcd_sort_numbers(a, d->order, d->count, compare_drawn, d->items))
        return gcd_fail_nomem(err, "looking who holds the objects of a type");
    choose(d);
    count_held_by_roots(d);
    return count_alike(d, err);
}

/* Is NODE what X is about: its object, or one of its objects that a root holds? */
static bool is_used(const struct suspects_work *w, const struct suspect *x, uint32_t node)
{
    return x->pub.kind == GCD_SUSPECT_OBJECT
               ? node == x->pub.node
               : suspects_type_of(w, node) == x->pub.type &&
                     gcd_paths_parent(w->paths, node) == GCD_NODE_ROOT;
}

gcd_status suspects_find_user(const struct suspects_work *w, struct suspect *x,
                              struct gcd_error *err)
{
    uint64_t *counts = gcd_mem_new_array(w->alloc, w->types, sizeof *counts);
    gcd_status st =
        counts != NULL ? GCD_OK : gcd_fail_nomem(err, "looking who holds the objects of a type");
    for (uint32_t node = 0; node < w->nodes && st == GCD_OK; node++) {
        size_t n;
        uint32_t type = suspects_type_of(w, node);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            st = suspects_check(w, err);
        if (!w->is_own[type] || suspects_parent(w, node) == GCD_NODE_NONE)
            continue;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        for (size_t i = 0; i < n; i++)
            counts[type] += is_used(w, x, edges[i]);
    }
    for (uint32_t i = 0; i < w->types && st == GCD_OK; i++)
        if (counts[i] > x->user_references) {
            x->user_references = counts[i];
            x->user = i;
        }
    gcd_mem_free(w->alloc, counts, w->types * sizeof *counts);
    return st;
}

gcd_status suspects_holders(struct suspects_work *w, struct gcd_error *err)
{
    bool wanted = false;
    struct drawing d = { .w = w };
    size_t n = w->s->count;
    d.series = gcd_mem_new_array(w->alloc, n, sizeof *d.series);
    if (d.series == NULL)
        return gcd_fail_nomem(err, "looking who holds the objects of a type");
    for (size_t i = 0; i < n; i++) {
        d.series[i].distance = w->s->items[i].pub.retained_bytes / GCD_SUSPECT_DRAWN + 1;
        wanted = wanted || w->s->items[i].pub.kind == GCD_SUSPECT_TYPE;
    }
    gcd_status st = wanted ? find_typical(&d, err) : GCD_OK;
    for (uint32_t i = 0; i < n && wanted && st == GCD_OK; i++) {
        struct suspect *x = &w->s->items[i];
        decide(&d, i);
        if (x->pub.kind == GCD_SUSPECT_TYPE && x->holder == SUSPECT_BY_ROOTS)
            find_statics(w, x);
        if (x->pub.kind == GCD_SUSPECT_TYPE && x->holder == SUSPECT_BY_ROOTS && x->pub.alike > 0 &&
            !w->is_own[x->pub.type])
            st = suspects_find_user(w, x, err);
    }
    if (wanted && st == GCD_OK)
        st = suspects_ways(w, d.items, d.count, err);
    gcd_mem_free(w->alloc, d.items, d.room * sizeof *d.items);
    gcd_mem_free(w->alloc, d.order, d.count * sizeof *d.order);
    gcd_mem_free(w->alloc, d.series, n * sizeof *d.series);
    return st;
}

/* " 25 of them are", " All of them are" */
static void put_alike(struct suspect_words *s, const struct gcd_suspect *p)
{
    suspects_put(s, p->alike == p->objects ? " All of them" : " ");
    if (p->alike != p->objects) {
        suspects_put_number(s, p->alike);
        suspects_put(s, " of them");
    }
    suspects_put(s, p->alike == 1 ? " is" : " are");
}

/* " in one List<Shop.Order> of one Shop.Archive (Shop.dll)" */
static void put_holder(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    bool one = x->holder == SUSPECT_BY_OBJECT;
    bool collection = x->collection.kind != GCD_COLLECTION_NONE;
    uint32_t type =
        collection ? suspects_type_of(s->w, x->collection.node) : p->path[p->path_count - 2].type;
    if (p->owner == type && !collection && one) {
        suspects_put(s, " in ");
        suspects_put_owner(s, p);
        return;
    }
    suspects_put(s, one ? " in one " : " in ");
    suspects_put_type(s, type);
    suspects_put(s, one ? "" : " objects");
    if (p->owner_node == GCD_NODE_NONE || p->owner == type)
        return;
    suspects_put(s, one ? " of " : ", as that of ");
    suspects_put_owner(s, p);
}

/* "the static variable Shop.Index.s_all", "one Shop.Report", "Shop.Customer objects", "a lambda in
 * Shop.Import" */
static void put_way(struct suspect_words *s, const struct gcd_suspect_way *way)
{
    if (way->owner == GCD_TYPE_NONE) {
        suspects_put_root(s, way->root);
        return;
    }
    bool method = suspects_is_lambda(s, way->owner) || suspects_is_call(s, way->owner),
         one = way->owner_node != GCD_NODE_NONE;
    suspects_put(s, one && !method ? "one " : "");
    suspects_put_who(s, way->owner);
    suspects_put(s, one || method ? "" : " objects");
}

/* Nearly all of N. */
static bool is_nearly(uint64_t part, uint64_t n)
{
    return part >= n - n / 20;
}

bool suspects_is_in_both(const struct suspects_work *w, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    return p->kind == GCD_SUSPECT_TYPE && x->holder == SUSPECT_BY_OBJECT && p->objects > 1 &&
           is_nearly(p->alike, p->objects) && p->way_count > 0 && p->ways[0].share >= NEARLY_ALL &&
           (p->owner_node != GCD_NODE_NONE || suspects_in_own_static(w, p)) &&
           (p->ways[0].owner_node != GCD_NODE_NONE ||
            (p->ways[0].owner == GCD_TYPE_NONE && suspects_is_own_static(w, p->ways[0].root)));
}

/* "Complaints.Open and SortingHall.Unsorted" */
void suspects_put_both(struct suspect_words *s, const struct gcd_suspect *p)
{
    if (p->owner_node != GCD_NODE_NONE)
        suspects_put_owner_place(s, p);
    else
        suspects_put_root_place(s, p->root);
    suspects_put(s, " and ");
    if (p->ways[0].owner_node != GCD_NODE_NONE)
        suspects_put_way_place(s, &p->ways[0]);
    else
        suspects_put_root_place(s, p->ways[0].root);
}

/* " Most of them are also reached through ..., some through ....": the ways from FIRST on. */
static void put_ways(struct suspect_words *s, const struct gcd_suspect *p, size_t first)
{
    static const struct {
        double share;
        const char *first, *next;
    } parts[] = { { 1, "All", "all" },
                  { NEARLY_ALL, "Nearly all", "nearly all" },
                  { 0.5, "Most", "most" },
                  { 0, "Some", "some" } };
    size_t last = SIZE_MAX;
    for (size_t i = first; i < p->way_count; i++) {
        size_t part = p->objects > GCD_SUSPECT_DRAWN; /* an estimate does not say "all" */
        while (p->ways[i].share < parts[part].share)
            part++;
        if (i == first)
            suspects_put(s, " %s of them are also reached through ", parts[part].first);
        else if (part == last)
            suspects_put(s, " and ");
        else
            suspects_put(s, ", %s through ", parts[part].next);
        put_way(s, &p->ways[i]);
        last = part;
    }
    suspects_put(s, p->way_count > first ? "." : "");
}

/* ": nearly all are in both Complaints.Open and SortingHall.Unsorted." */
static void say_both(struct suspect_words *s, const struct gcd_suspect *p)
{
    bool all = p->alike == p->objects && p->ways[0].share >= 1 && p->objects <= GCD_SUSPECT_DRAWN;
    suspects_put(s, all ? ": they are in both " : ": nearly all of them are in both ");
    suspects_put_both(s, p);
    suspects_put(s, ".");
    put_ways(s, p, 1);
}

/* " Shop.VideoFrame objects refer to 1,500 of them, too." */
static void put_user(struct suspect_words *s, const struct suspect *x)
{
    if (x->user_references == 0 || x->user_references < x->pub.alike / 2)
        return;
    suspects_put(s, " ");
    suspects_put_type(s, x->user);
    suspects_put(s, " objects refer to ");
    suspects_put_number(s, x->user_references);
    suspects_put(s, " of them, too.");
}

void suspects_say_type(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_typed(s, p->objects, p->type);
    suspects_put(s, " together");
    suspects_put_kept(s, p, true);
    bool both = suspects_is_in_both(s->w, x);
    if (both)
        say_both(s, p);
    else
        suspects_put(s, "; no single object holds them all.");
    if (!both && p->alike > 0 && p->path_count > 0) {
        put_alike(s, p);
        if (x->statics > 0) {
            suspects_put_statics(s);
        } else if (x->holder == SUSPECT_BY_ROOTS && p->root != SIZE_MAX) {
            suspects_put(s, " held directly by ");
            suspects_put_group(s, gcd_root_group(&gcd_graph_summary(s->w->g)->roots[p->root]),
                               true);
            suspects_put(s, ".");
            put_user(s, x);
        } else if (p->path_count > 1) {
            put_holder(s, x);
            suspects_put(s, ", among others.");
            if (p->root != SIZE_MAX && x->holder == SUSPECT_BY_OBJECT)
                suspects_put_lifetime(s, x, "It");
            put_ways(s, p, 0);
        } else {
            suspects_put(s, " held in this way.");
        }
    }
    if (!s->w->is_own[p->type])
        suspects_put_own(s, p);
}
