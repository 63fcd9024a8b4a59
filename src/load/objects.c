/*
 * The second pass: objects with their references, in memory that depends on nothing but the size of a block.
 *
 * Nodes and edges are two queues of one thread, cut into events independently: the references of one large array fill many edge
 * events before the node event arrives that owns them, and a region of strings fills many node events while one edge event is
 * not full yet.  How far one runs ahead of the other is not bounded by anything, so the queues are not held in memory: the
 * trace is read by two cursors side by side, one that stops at node events and one that stops at edge events.
 */
#include "base/error.h"
#include "base/mem.h"
#include "clr/clr_ids.h"
#include "load/load.h"

/* One of the two cursors. */
struct feed {
    struct gcd_trace *trace;     /* NULL until it is needed */
    uint32_t event_id;
    uint32_t next_index;
    bool ended, holed;           /* holed: an event is missing, what comes behind it cannot be matched */
    struct gcd_clr_bulk bulk;
    uint32_t at;                 /* next item of bulk */
};

struct gcd_objects {
    struct gcd_dump *dump;
    struct feed nodes, edges;
    uint64_t edges_left;         /* of the current object */
    uint64_t edges_unwanted;     /* of the objects before it: nobody asked for them, they are still to be skipped */
    uint64_t objects_seen, edges_seen;
    uint64_t *targets;           /* [targets_cap], null references left out */
    size_t targets_cap;
    uint64_t last_type_id;
    uint32_t last_type;          /* number; GCD_TYPE_NONE = none yet */
};

static gcd_status feed_open(struct gcd_dump *d, struct feed *f, uint32_t event_id, struct gcd_error *err)
{
    f->event_id = event_id;
    return gcd_trace_open(d->input, &d->alloc, &d->limits, &f->trace, err);
}

gcd_status gcd_objects_new(struct gcd_dump *d, struct gcd_objects **ret, struct gcd_error *err)
{
    if (d->heap == NULL || d->input == NULL)
        return gcd_fail(err, GCD_E_STATE, "the objects of this dump cannot be read a second time");
    struct gcd_objects *o = gcd_mem_new(&d->alloc, sizeof *o);
    if (o == NULL)
        return gcd_fail_nomem(err, "reading the objects");
    o->dump = d;
    o->last_type = GCD_TYPE_NONE;
    gcd_status st = feed_open(d, &o->nodes, GCD_EV_BULK_NODE, err);
    if (st != GCD_OK) {
        gcd_objects_free(o);
        return st;
    }
    *ret = o;
    return GCD_OK;
}

void gcd_objects_free(struct gcd_objects *o)
{
    if (o == NULL)
        return;
    gcd_trace_free(o->nodes.trace);
    gcd_trace_free(o->edges.trace);
    gcd_mem_free(&o->dump->alloc, o->targets, o->targets_cap * sizeof *o->targets);
    gcd_mem_free(&o->dump->alloc, o, sizeof *o);
}

/* The next event of the trace, whatever it is.  GCD_END also where the first pass met damage: it told so. */
static gcd_status next_event(struct gcd_dump *d, struct feed *f, struct gcd_event *ev, struct gcd_error *err)
{
    for (;;) {
        gcd_status st = gcd_trace_next(f->trace, ev, err);
        if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_LIMIT)
            return GCD_END;
        if (st != GCD_NEED_MORE)
            return st;
        if (d->options.cancel != NULL && atomic_load_explicit(d->options.cancel, memory_order_relaxed))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        st = gcd_trace_fetch(f->trace, err);
        if (st < 0 && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT)
            return st;
    }
}

/*
 * The next event of this feed that belongs to the chosen walk: of its thread, between its first and last bulk event.
 * GCD_END after the last.
 */
static gcd_status feed_next(struct gcd_dump *d, struct feed *f, struct gcd_error *err)
{
    const struct heap_walk *w = d->heap->chosen;
    while (!f->ended) {
        struct gcd_event ev;
        gcd_status st = next_event(d, f, &ev, err);
        if (st < 0)
            return st;
        if (st == GCD_END || ev.off > w->last_off) {
            f->ended = true;
            break;
        }
        if (ev.provider != GCD_PROVIDER_RUNTIME || ev.id != f->event_id || ev.off < w->first_off || ev.thread != w->thread ||
            ev.process != d->heap->process)
            continue;
        st = f->event_id == GCD_EV_BULK_NODE ? gcd_clr_bulk_node(&ev, &f->bulk) : gcd_clr_bulk_edge(&ev, &f->bulk);
        if (st != GCD_OK)
            continue;                /* counted as damaged by the first pass; the index shows the hole */
        if (f->bulk.index != f->next_index)
            f->holed = true;
        f->next_index = f->bulk.index + 1;
        f->at = 0;
        return GCD_OK;
    }
    return GCD_END;
}

static gcd_status changed(struct gcd_error *err)
{
    return gcd_fail(err, GCD_E_FORMAT, "the input changed while it was read");
}

/* Consecutive objects often have the same type. */
static gcd_status type_number(struct gcd_objects *o, uint64_t id, uint32_t *ret, struct gcd_error *err)
{
    if (o->last_type == GCD_TYPE_NONE || o->last_type_id != id) {
        const struct gcd_dump *d = o->dump;
        uint32_t i = gcd_idmap_get(&d->heap->type_by_id, id);
        if (i == GCD_IDMAP_NONE || i >= d->type_number_count || d->type_number[i] == GCD_TYPE_NONE)
            return changed(err);
        o->last_type = d->type_number[i];
        o->last_type_id = id;
    }
    *ret = o->last_type;
    return GCD_OK;
}

/* Forget the references that nobody asked for. */
static gcd_status skip_edges(struct gcd_objects *o, struct gcd_error *err)
{
    struct feed *f = &o->edges;
    while (o->edges_unwanted > 0 && !f->holed && !f->ended) {
        uint32_t there = f->bulk.count - f->at;
        uint32_t n = o->edges_unwanted < there ? (uint32_t)o->edges_unwanted : there;
        f->at += n;
        o->edges_unwanted -= n;
        o->edges_seen += n;
        if (o->edges_unwanted > 0) {
            gcd_status st = feed_next(o->dump, f, err);
            if (st < 0)
                return st;
        }
    }
    o->edges_unwanted = 0;
    return GCD_OK;
}

/* The cursor for references is opened when the first are asked for: who wants only the objects reads the trace once. */
static gcd_status reach_edges(struct gcd_objects *o, struct gcd_error *err)
{
    if (o->edges.trace == NULL)
        GCD_TRY(feed_open(o->dump, &o->edges, GCD_EV_BULK_EDGE, err));
    return o->edges_unwanted > 0 ? skip_edges(o, err) : GCD_OK;
}

/* After the last object: is this what the first pass has counted and judged? */
static gcd_status check_sums(struct gcd_objects *o, struct gcd_error *err)
{
    const struct gcd_dump_facts *f = &o->dump->facts;
    if (o->objects_seen != f->objects)
        return changed(err);
    if (o->edges.trace != NULL) {
        GCD_TRY(skip_edges(o, err));
        if (o->dump->verdict.complete && o->edges_seen != f->edges)
            return changed(err);
    }
    return GCD_END;
}

gcd_status gcd_objects_next(struct gcd_objects *o, struct gcd_object *ret, struct gcd_error *err)
{
    struct feed *f = &o->nodes;
    if (__builtin_add_overflow(o->edges_unwanted, o->edges_left, &o->edges_unwanted))
        o->edges_unwanted = UINT64_MAX;
    o->edges_left = 0;
    while (f->at >= f->bulk.count) {
        gcd_status st = feed_next(o->dump, f, err);
        if (st != GCD_OK)
            return st == GCD_END ? check_sums(o, err) : st;
    }
    struct gcd_clr_node n = gcd_clr_node_at(&f->bulk, f->at++);
    o->objects_seen++;
    ret->address = n.address;
    ret->size_bytes = n.size;
    ret->edges = n.edge_count;
    o->edges_left = f->holed ? 0 : n.edge_count;
    return type_number(o, n.type, &ret->type, err);
}

gcd_status gcd_objects_edges(struct gcd_objects *o, const uint64_t **ret_targets, size_t *ret_n, struct gcd_error *err)
{
    struct feed *f = &o->edges;
    if (o->edges_left > 0)
        GCD_TRY(reach_edges(o, err));
    while (o->edges_left > 0) {
        while (f->at >= f->bulk.count && !f->ended && !f->holed) {
            gcd_status st = feed_next(o->dump, f, err);
            if (st < 0)
                return st;
        }
        if (f->ended || f->holed)
            break;
        uint32_t there = f->bulk.count - f->at;
        uint32_t n = o->edges_left < there ? (uint32_t)o->edges_left : there;
        if (!gcd_vec_reserve(&o->dump->alloc, &o->targets, &o->targets_cap, n, sizeof *o->targets, SIZE_MAX / sizeof *o->targets))
            return gcd_fail_nomem(err, "reading references");
        size_t made = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t target = gcd_clr_edge_at(&f->bulk, f->at + i);
            o->targets[made] = target;
            made += target != 0;     /* null is never sent by a runtime, and no object */
        }
        f->at += n;
        o->edges_left -= n;
        o->edges_seen += n;
        if (made > 0) {
            *ret_targets = o->targets;
            *ret_n = made;
            return GCD_OK;
        }
    }
    return GCD_END;
}

uint64_t gcd_objects_position(const struct gcd_objects *o)
{
    return gcd_trace_position(o->nodes.trace);
}
