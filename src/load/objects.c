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

/* How many references each object has, a few bytes of 7 bits each; the first has 6 and says whether the object has an address. */
struct counts {
    bool kept;                   /* wanted at all */
    uint8_t *bytes;
    size_t size, cap, at;
};

struct gcd_objects {
    struct gcd_dump *dump;
    struct counts counts;
    uint64_t objects_whole;      /* those before the first hole: only of these it is certain who owns which references */
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

static void feed_close(struct feed *f)
{
    gcd_trace_free(f->trace);
    f->trace = NULL;
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
    feed_close(&o->nodes);
    feed_close(&o->edges);
    gcd_mem_free(&o->dump->alloc, o->counts.bytes, o->counts.cap);
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
static gcd_status check_edge_sum(struct gcd_objects *o, struct gcd_error *err)
{
    if (o->edges.trace != NULL) {
        GCD_TRY(skip_edges(o, err));
        if (o->dump->verdict.complete && o->edges_seen != o->dump->facts.edges)
            return changed(err);
    }
    return GCD_END;
}

/* What nobody has asked for is still to be skipped. */
static void leave_object(struct gcd_objects *o)
{
    if (__builtin_add_overflow(o->edges_unwanted, o->edges_left, &o->edges_unwanted))
        o->edges_unwanted = UINT64_MAX;
    o->edges_left = 0;
}

/* ---- objects a second time, for their references only ---- */

#define COUNT_BYTES 10u          /* at most */
#define COUNT_MORE 0x80u         /* another byte follows */

gcd_status gcd_objects_keep_counts(struct gcd_objects *o, struct gcd_error *err)
{
    uint64_t objects = o->dump->facts.objects;       /* the first pass has counted them; a few have more than 63 references */
    o->counts.kept = true;
    o->counts.cap = (size_t)(objects + objects / 16 + COUNT_BYTES);
    o->counts.bytes = gcd_mem_new_uncleared(&o->dump->alloc, o->counts.cap, 1);
    return o->counts.bytes != NULL ? GCD_OK : gcd_fail_nomem(err, "reading the objects");
}

static gcd_status keep_count(struct gcd_objects *o, const struct gcd_object *object, struct gcd_error *err)
{
    struct counts *c = &o->counts;
    if (!gcd_vec_reserve(&o->dump->alloc, &c->bytes, &c->cap, c->size + COUNT_BYTES, 1, SIZE_MAX))
        return gcd_fail_nomem(err, "reading the objects");
    uint64_t left = object->edges >> 6;
    c->bytes[c->size++] = (uint8_t)((object->address != 0) | (object->edges & 63) << 1 | (left != 0 ? COUNT_MORE : 0));
    for (; left != 0; left >>= 7)
        c->bytes[c->size++] = (uint8_t)((left & 127) | (left > 127 ? COUNT_MORE : 0));
    return GCD_OK;
}

gcd_status gcd_objects_next(struct gcd_objects *o, struct gcd_object *ret, struct gcd_error *err)
{
    struct feed *f = &o->nodes;
    leave_object(o);
    while (f->at >= f->bulk.count) {
        gcd_status st = feed_next(o->dump, f, err);
        if (st == GCD_END)
            return o->objects_seen == o->dump->facts.objects ? check_edge_sum(o, err) : changed(err);
        if (st != GCD_OK)
            return st;
    }
    struct gcd_clr_node n = gcd_clr_node_at(&f->bulk, f->at++);
    o->objects_seen++;
    o->objects_whole += !f->holed;
    ret->address = n.address;
    ret->size_bytes = n.size;
    ret->edges = n.edge_count;
    o->edges_left = f->holed ? 0 : n.edge_count;
    if (o->counts.kept)
        GCD_TRY(keep_count(o, ret, err));
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

void gcd_objects_again(struct gcd_objects *o)
{
    feed_close(&o->nodes);
    o->objects_seen = 0;
    o->edges_left = o->edges_unwanted = 0;
}

gcd_status gcd_objects_next_again(struct gcd_objects *o, bool *ret_has_address, uint64_t *ret_edges, struct gcd_error *err)
{
    struct counts *c = &o->counts;
    leave_object(o);
    if (c->at == c->size)
        return check_edge_sum(o, err);
    uint8_t byte = c->bytes[c->at++];
    uint64_t edges = byte >> 1 & 63;
    *ret_has_address = (byte & 1) != 0;
    for (unsigned shift = 6; (byte & COUNT_MORE) != 0; shift += 7) {
        byte = c->bytes[c->at++];
        edges |= (uint64_t)(byte & 127) << shift;
    }
    *ret_edges = edges;
    o->edges_left = o->objects_seen++ < o->objects_whole ? edges : 0;
    return GCD_OK;
}

uint64_t gcd_objects_position(const struct gcd_objects *o)
{
    const struct gcd_trace *t = o->nodes.trace != NULL ? o->nodes.trace : o->edges.trace;
    return t != NULL ? gcd_trace_position(t) : 0;
}
