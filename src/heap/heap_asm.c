#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "clr/clr_ids.h"
#include "heap/heap.h"

gcd_status heap_new(const struct gcd_dump_options *options, uint64_t process,
                    uint32_t *addr_pages_left, struct gcd_heap **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct gcd_heap *h = gcd_mem_new(&a, sizeof *h);
    if (h == NULL)
        return gcd_fail_nomem(err, "opening a dump");
    h->alloc = a;
    if (options->context.limits != NULL)
        h->limits = *options->context.limits;
    h->limits.types = gcd_limit_or(h->limits.types, UINT64_C(2) << 20);
    h->limits.roots = gcd_limit_or(h->limits.roots, UINT64_C(64) << 20);
    h->limits.text_bytes = gcd_limit_or(h->limits.text_bytes, UINT64_C(1) << 30);
    h->check_references = options->check_references;
    h->wanted = options->walk_number;
    h->wants_values = options->values;
    h->process = process;
    h->addr_pages_left = addr_pages_left;
    h->command_line = h->os = h->arch = h->runtime_version = "";
    h->last_heaps_ns = h->last_range_ns = INT64_MIN;
    gcd_textpool_init(&h->text, &h->alloc, h->limits.text_bytes);
    gcd_idmap_init(&h->type_by_id, &h->alloc);
    gcd_idmap_init(&h->module_by_id, &h->alloc);
    gcd_idmap_init(&h->assembly_by_id, &h->alloc);
    gcd_idmap_init(&h->open_by_thread, &h->alloc);
    *ret = h;
    return GCD_OK;
}

void heap_free(struct gcd_heap *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->walk_count; i++)
        heap_walk_free(h, h->walks[i]);
    gcd_mem_free(&h->alloc, h->walks, h->walk_cap * sizeof *h->walks);
    gcd_mem_free(&h->alloc, h->types, h->type_cap * sizeof *h->types);
    gcd_mem_free(&h->alloc, h->parameters, h->parameter_cap * sizeof *h->parameters);
    gcd_mem_free(&h->alloc, h->modules, h->module_cap * sizeof *h->modules);
    gcd_mem_free(&h->alloc, h->assemblies, h->assembly_cap * sizeof *h->assemblies);
    gcd_mem_free(&h->alloc, h->pause_marks, h->pause_cap * sizeof *h->pause_marks);
    gcd_idmap_done(&h->type_by_id);
    gcd_idmap_done(&h->module_by_id);
    gcd_idmap_done(&h->assembly_by_id);
    gcd_idmap_done(&h->open_by_thread);
    heap_recorded_free(h);
    heap_values_free(h);
    heap_maps_free(h);
    gcd_textpool_done(&h->text);
    struct gcd_alloc a = h->alloc;
    gcd_mem_free(&a, h, sizeof *h);
}

/* The open walk of THREAD, or NULL. */
static struct heap_walk *open_walk(const struct gcd_heap *h, uint64_t thread)
{
    uint32_t i = gcd_idmap_get(&h->open_by_thread, thread);
    return i != GCD_IDMAP_NONE && !h->walks[i]->closed ? h->walks[i] : NULL;
}

/* The walk of a bulk event with an index, and the loss before it. */
static gcd_status indexed_walk(struct gcd_heap *h, const struct gcd_event *ev, enum heap_bulk kind,
                               uint32_t index, struct heap_walk **ret, struct gcd_error *err)
{
    GCD_TRY(heap_walk_for(h, ev, kind, index, ret, err));
    struct heap_index *x = &(*ret)->index[kind];
    if (index != x->next)
        x->missing += index > x->next ? index - x->next : 1;
    x->next = index + 1;
    x->events++;
    return GCD_OK;
}

/* Is nothing of W missing so far? */
static bool nothing_missing(const struct heap_walk *w)
{
    uint64_t missing = w->gaps;
    for (size_t i = 0; i < HEAP_BULKS; i++)
        missing |= w->index[i].missing;
    return missing == 0;
}

/* The counts of type ID; created if there are none. */
static gcd_status find_counts(struct gcd_heap *h, struct heap_walk *w, uint64_t id,
                              struct heap_type_count **ret, struct gcd_error *err)
{
    uint32_t type = gcd_idmap_get(&h->type_by_id, id);
    if (type == GCD_IDMAP_NONE)
        GCD_TRY(heap_type_index(h, id, &type, err));
    if (type >= w->counts_cap && !gcd_vec_reserve(&h->alloc, &w->counts, &w->counts_cap,
                                                  h->type_count, sizeof *w->counts, GCD_IDMAP_NONE))
        return gcd_fail_nomem(err, "counting objects");
    struct heap_type_count *c = &w->counts[type];
    if (c->objects == 0) {
        if (!gcd_vec_reserve(&h->alloc, &w->used_types, &w->used_cap, w->used_count + 1,
                             sizeof *w->used_types, GCD_IDMAP_NONE))
            return gcd_fail_nomem(err, "counting objects");
        w->used_types[w->used_count++] = type;
        c->id = id;
    }
    h->recent_types[heap_recent_place(id)] = type;
    *ret = c;
    return GCD_OK;
}

/* Most types were counted recently, so few need a look-up. */
static inline gcd_status count_object(struct gcd_heap *h, struct heap_walk *w,
                                      const struct gcd_clr_node *n, struct gcd_error *err)
{
    uint32_t type = heap_recent_type(h, w, n->type);
    struct heap_type_count *c = type != GCD_IDMAP_NONE ? &w->counts[type] : NULL;
    if (c == NULL)
        GCD_TRY(find_counts(h, w, n->type, &c, err));
    c->objects++;
    gcd_add_saturating(&c->bytes, n->size);
    gcd_add_saturating(&c->edges, n->edge_count);
    c->size_bits |= n->size;
    return GCD_OK;
}

/* Counts the objects of all types, whose events have no records. */
static gcd_status count_sums(struct gcd_heap *h, struct heap_walk *w, uint64_t *ret_edges,
                             struct gcd_error *err)
{
    const struct gcd_type_sum *sum;
    struct heap_type_count *c;
    uint64_t type;
    for (size_t i = 0; (sum = gcd_trace_sum(h->trace, i, &type)) != NULL; i++) {
        if (sum->objects == 0)
            continue;
        GCD_TRY(find_counts(h, w, type, &c, err));
        c->objects = sum->objects;
        c->bytes = sum->bytes;
        c->edges = sum->edges;
        c->size_bits = sum->size_bits;
        gcd_add_saturating(&w->bytes, sum->bytes);
        gcd_add_saturating(ret_edges, sum->edges);
    }
    return GCD_OK;
}

static gcd_status bulk_node(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_node(ev, &b);
    if (st != GCD_OK)
        return st;
    struct heap_walk *w;
    GCD_TRY(indexed_walk(h, ev, HEAP_NODES, b.index, &w, err));
    uint64_t edges = 0, type;
    bool summed = h->trace != NULL && gcd_trace_sum(h->trace, 0, &type) != NULL;
    if (w->objects == 0 && b.count > 0) {
        heap_walk_has_objects(h, w);
        if (summed && !w->light)
            GCD_TRY(count_sums(h, w, &edges, err));
    }
    w->objects += b.count;
    if (w->light)
        return GCD_OK;
    if (h->limits.objects != 0 && w->objects > h->limits.objects)
        return gcd_because(err, GCD_ERROR_OBJECT_LIMIT,
                           gcd_fail(err, GCD_E_LIMIT, "at most %" PRIu64 " objects are allowed",
                                    h->limits.objects));
    for (uint32_t i = 0; i < b.count && !summed; i++) {
        struct gcd_clr_node n = gcd_clr_node_at(&b, i);
        gcd_add_saturating(&w->bytes, n.size);
        gcd_add_saturating(&edges, n.edge_count);
        w->nowhere += n.address == 0;
        GCD_TRY(count_object(h, w, &n, err));
        if (w->addrs != NULL && !heap_addrs_add(w->addrs, &h->alloc, n.address))
            return gcd_fail_nomem(err, "gathering addresses");
    }
    gcd_add_saturating(&w->edges_declared, edges);
    return heap_runs_add(&h->alloc, &w->runs[HEAP_RUNS_NODES], &b, edges, w->gaps,
                         nothing_missing(w))
               ? GCD_OK
               : gcd_fail_nomem(err, "counting objects");
}

static gcd_status bulk_edge(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_edge(ev, &b);
    if (st != GCD_OK)
        return st;
    struct heap_walk *w;
    GCD_TRY(indexed_walk(h, ev, HEAP_EDGES, b.index, &w, err));
    w->edges += b.count;
    if (!w->light &&
        !heap_runs_add(&h->alloc, &w->runs[HEAP_RUNS_EDGES], &b, 0, w->gaps, nothing_missing(w)))
        return gcd_fail_nomem(err, "counting references");
    return GCD_OK;
}

/* Room for one more record of the kinds that grow with the roots. */
static gcd_status grow(struct gcd_heap *h, void *items, size_t *cap, size_t count,
                       size_t item_bytes, struct gcd_error *err)
{
    if (count >= h->limits.roots)
        return gcd_fail(err, GCD_E_LIMIT, "more than %zu root records", count);
    if (!gcd_vec_reserve(&h->alloc, items, cap, count + 1, item_bytes, SIZE_MAX / item_bytes))
        return gcd_fail_nomem(err, "reading roots");
    return GCD_OK;
}

static gcd_status add_root(struct gcd_heap *h, struct heap_walk *w, struct gcd_root r,
                           struct gcd_error *err)
{
    GCD_TRY(grow(h, &w->roots, &w->root_cap, w->root_count, sizeof *w->roots, err));
    r.node = GCD_NODE_NONE;
    if (r.kind != GCD_ROOT_STATIC) {
        r.name = "";
        r.type = GCD_TYPE_NONE;
    }
    r.class_name = "";
    r.label = r.name;
    w->roots[w->root_count++] = r;
    return GCD_OK;
}

static gcd_status bulk_root(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_root(ev, &b);
    if (st != GCD_OK)
        return st;
    struct heap_walk *w;
    GCD_TRY(indexed_walk(h, ev, HEAP_ROOTS, b.index, &w, err));
    for (uint32_t i = 0; i < b.count; i++) {
        struct gcd_clr_root r = gcd_clr_root_at(&b, i);
        if (r.object == 0) { /* an empty stack slot or a cleared handle */
            w->null_roots++;
            continue;
        }
        enum gcd_root_kind kind =
            r.kind < GCD_ROOT_OTHER ? (enum gcd_root_kind)r.kind : GCD_ROOT_OTHER;
        w->root_counts[kind]++;
        w->weak_roots += (r.flags & GCD_ROOT_WEAK) != 0;
        w->pinned_roots += (r.flags & GCD_ROOT_PINNED) != 0;
        if (w->light)
            continue;
        struct gcd_root root = { .object = r.object, .id = r.id, .kind = kind, .flags = r.flags };
        GCD_TRY(add_root(h, w, root, err));
    }
    return GCD_OK;
}

static gcd_status bulk_dependent(struct gcd_heap *h, const struct gcd_event *ev,
                                 struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_dependent(ev, &b);
    if (st != GCD_OK)
        return st;
    struct heap_walk *w;
    GCD_TRY(indexed_walk(h, ev, HEAP_DEPENDENTS, b.index, &w, err));
    for (uint32_t i = 0; i < b.count && !w->light; i++) {
        struct gcd_clr_dependent d = gcd_clr_dependent_at(&b, i);
        if (d.key == 0 || d.value == 0 || d.key == d.value)
            continue; /* dead entry; Mono's ephemerons have the key twice */
        GCD_TRY(grow(h, &w->dependent_items, &w->dependent_cap, w->dependent_count,
                     sizeof *w->dependent_items, err));
        w->dependent_items[w->dependent_count++] =
            (struct gcd_dependent){ .key = d.key, .value = d.value };
    }
    return GCD_OK;
}

static gcd_status bulk_static(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur items;
    uint32_t count;
    struct gcd_clr_static s;
    struct heap_walk *w;
    gcd_status st = gcd_clr_bulk_static(ev, &items, &count);
    if (st != GCD_OK)
        return st;
    GCD_TRY(heap_walk_for(h, ev, HEAP_BULKS, 0, &w, err));
    w->static_events++;
    for (uint32_t i = 0; i < count && !w->light; i++) {
        if (!gcd_clr_next_static(&items, &s))
            return items.err;
        if (s.object == 0)
            continue;
        struct gcd_root root = { .object = s.object, .id = s.id, .kind = GCD_ROOT_STATIC };
        GCD_TRY(heap_type_index(h, s.type, &root.type, err));
        GCD_TRY(heap_text_utf16(h, s.name, s.name_units, &root.name, err));
        GCD_TRY(add_root(h, w, root, err));
    }
    return GCD_OK;
}

static gcd_status bulk_ccw(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    struct heap_walk *w;
    gcd_status st = gcd_clr_bulk_ccw(ev, &b);
    if (st != GCD_OK)
        return st;
    GCD_TRY(heap_walk_for(h, ev, HEAP_BULKS, 0, &w, err));
    for (uint32_t i = 0; i < b.count && !w->light; i++) {
        struct gcd_clr_ccw c = gcd_clr_ccw_at(&b, i);
        if (c.object == 0)
            continue;
        struct gcd_root root = { .object = c.object,
                                 .flags = GCD_ROOT_REFCOUNTED,
                                 .kind = GCD_ROOT_COM };
        GCD_TRY(add_root(h, w, root, err));
    }
    return GCD_OK;
}

static gcd_status bulk_rcw(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    struct heap_walk *w;
    gcd_status st = gcd_clr_bulk_rcw(ev, &b);
    if (st != GCD_OK)
        return st;
    GCD_TRY(heap_walk_for(h, ev, HEAP_BULKS, 0, &w, err));
    w->rcws += b.count;
    return GCD_OK;
}

/*
 * A GC reports its ranges twice: the layout before it and, after the last node, the layout after
 * it.  Node addresses belong to the second (measured, .NET 8 to 10).
 */
static gcd_status generation_range(struct gcd_heap *h, const struct gcd_event *ev,
                                   struct gcd_error *err)
{
    struct gcd_clr_range r;
    gcd_status st = gcd_clr_range(ev, &r);
    if (st != GCD_OK)
        return st;
    struct heap_walk *w = open_walk(h, ev->thread);
    if (w == NULL || w->objects == 0)
        h->last_range_ns = ev->time_ns;
    if (w == NULL || w->objects == 0 || w->light)
        return GCD_OK;
    GCD_TRY(grow(h, &w->range_items, &w->range_cap, w->range_count, sizeof *w->range_items, err));
    w->range_items[w->range_count++] = (struct gcd_range){ .start = r.start,
                                                           .used_bytes = r.used_bytes,
                                                           .reserved_bytes = r.reserved_bytes,
                                                           .generation = r.generation };
    return GCD_OK;
}

static gcd_status heap_count(struct gcd_heap *h, const struct gcd_event *ev)
{
    gcd_status st = gcd_clr_heap_count(ev, &h->last_heaps);
    if (st != GCD_OK)
        return st;
    h->last_heaps_ns = ev->time_ns;
    struct heap_walk *w = h->walk_count > 0 ? h->walks[h->walk_count - 1] : NULL;
    /* with server GC it can follow its own walk in the file */
    if (w != NULL && w->have_start && ev->time_ns >= w->start.time_ns &&
        (!w->closed || ev->time_ns <= w->end_ns))
        w->heaps = h->last_heaps;
    return GCD_OK;
}

static gcd_status runtime_event(struct gcd_heap *h, const struct gcd_event *ev,
                                struct gcd_error *err)
{
    switch (ev->id) {
    case GCD_EV_GC_START: {
        struct gcd_clr_gc_start gc;
        gcd_status st = gcd_clr_gc_start(ev, &gc);
        if (st == GCD_OK)
            heap_gc_start(h, &gc, ev->time_ns);
        return st;
    }
    case GCD_EV_GC_END: {
        uint32_t number;
        gcd_status st = gcd_clr_gc_end(ev, &number);
        if (st == GCD_OK)
            heap_gc_end(h, ev, number);
        return st;
    }
    case GCD_EV_SUSPEND_EE_BEGIN:
        return heap_pause_mark(h, ev, false, err);
    case GCD_EV_RESTART_EE_END:
        return heap_pause_mark(h, ev, true, err);
    case GCD_EV_BULK_TYPE:
        return heap_bulk_type(h, ev, err);
    case GCD_EV_BULK_ROOT_EDGE:
        return bulk_root(h, ev, err);
    case GCD_EV_BULK_DEPENDENT:
        return bulk_dependent(h, ev, err);
    case GCD_EV_BULK_NODE:
        return bulk_node(h, ev, err);
    case GCD_EV_BULK_EDGE:
        return bulk_edge(h, ev, err);
    case GCD_EV_GENERATION_RANGE:
        return generation_range(h, ev, err);
    case GCD_EV_BULK_ROOT_CCW:
        return bulk_ccw(h, ev, err);
    case GCD_EV_BULK_RCW:
        return bulk_rcw(h, ev, err);
    case GCD_EV_BULK_ROOT_STATIC_VAR:
        return bulk_static(h, ev, err);
    case GCD_EV_MODULE_LOAD:
    case GCD_EV_MODULE_UNLOAD:
        return heap_module(h, ev, err);
    case GCD_EV_ASSEMBLY_LOAD:
    case GCD_EV_ASSEMBLY_UNLOAD:
        return heap_assembly(h, ev, err);
    case GCD_EV_RUNTIME_INFO:
        return heap_runtime_info(h, ev, err);
    case GCD_EV_GLOBAL_HEAP_HISTORY:
        return heap_count(h, ev);
    default:
        return GCD_OK;
    }
}

static gcd_status rundown_event(struct gcd_heap *h, const struct gcd_event *ev,
                                struct gcd_error *err)
{
    switch (ev->id) {
    case GCD_RD_MODULE_START:
    case GCD_RD_MODULE_END:
        return heap_module(h, ev, err);
    case GCD_RD_ASSEMBLY_START:
    case GCD_RD_ASSEMBLY_END:
        return heap_assembly(h, ev, err);
    case GCD_RD_RUNTIME_INFO:
        return heap_runtime_info(h, ev, err);
    default:
        return GCD_OK;
    }
}

void heap_gap(struct gcd_heap *h, const struct gcd_event *ev)
{
    struct heap_walk *w = open_walk(h, ev->thread);
    if (w == NULL)
        return;
    w->gaps += ev->gap;
    w->disorder = w->disorder || ev->gap == GCD_GAP_DISORDER;
}

/* A thread that writes a rundown writes nothing else meanwhile, except by chance. */
static void look_at_rundown(struct gcd_heap *h, const struct gcd_event *ev)
{
    bool of_rundown = ev->provider == GCD_PROVIDER_RUNDOWN;
    if (of_rundown && (ev->id == GCD_RD_START_BEGIN || ev->id == GCD_RD_END_BEGIN)) {
        h->in_rundown = true;
        h->rundown_thread = ev->thread;
    } else if (h->in_rundown && ev->thread == h->rundown_thread) {
        h->in_rundown =
            !of_rundown || (ev->id != GCD_RD_START_COMPLETE && ev->id != GCD_RD_END_COMPLETE);
        h->rundown_strangers += !of_rundown;
    }
}

/*
 * The thread that walks the heap writes nothing but bulk events from the first to the last one of a
 * walk, and only events of the GC up to GCEnd (measured, .NET 8 to 11, Native AOT, with all
 * keywords and other providers).  So another event there was a bulk event whose description or id
 * is damaged.
 */
void heap_stranger(struct gcd_heap *h, const struct gcd_event *ev)
{
    look_at_rundown(h, ev);
    struct heap_walk *w = open_walk(h, ev->thread);
    struct heap_strangers *s = heap_strangers_of(h, ev->thread);
    if (strcmp(ev->provider_name, "Microsoft-Windows-DotNETRuntimePrivate") == 0)
        return; /* a collection can write them, too */
    if (w != NULL) {
        w->strangers++;
        return;
    }
    if (s->thread != ev->thread)
        *s = (struct heap_strangers){ .thread = ev->thread };
    s->count++;
}

/* Takes note of what EV says about the events before it. */
static void count_strangers(struct gcd_heap *h, const struct gcd_event *ev)
{
    if (ev->provider != GCD_PROVIDER_RUNTIME) {
        heap_stranger(h, ev);
        return;
    }
    look_at_rundown(h, ev);
    struct heap_walk *w = open_walk(h, ev->thread);
    if (gcd_clr_is_bulk(ev)) {
        if (w != NULL) {
            w->strangers += w->others;
            w->others = 0;
        }
    } else if (w != NULL) {
        w->others++;
    } else {
        heap_strangers_of(h, ev->thread)->count = 0;
    }
}

gcd_status heap_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    h->ptr_bytes = ev->ptr_bytes;
    if (ev->gap > 0)
        heap_gap(h, ev);
    count_strangers(h, ev);
    if (!gcd_clr_description_fits(ev))
        h->misdescribed++;
    else if (ev->provider == GCD_PROVIDER_RUNTIME)
        st = runtime_event(h, ev, err);
    else if (ev->provider == GCD_PROVIDER_RUNDOWN)
        st = rundown_event(h, ev, err);
    else if (ev->provider == GCD_PROVIDER_EVENTPIPE && ev->id == GCD_EP_PROCESS_INFO)
        st = heap_process_info(h, ev, err);
    else if (ev->provider == GCD_PROVIDER_NAMES)
        st = heap_recorded_event(h, ev, err);
    if (st != GCD_E_FORMAT)
        return st;
    /* a payload that is too short: acceptable damage if it is reported */
    struct heap_walk *w = open_walk(h, ev->thread);
    if (w != NULL)
        w->damaged++;
    else
        h->damaged_outside++;
    return GCD_OK;
}
