/*
 * The second pass: objects with their references, in memory that depends only on the size of a
 * block.
 *
 * Nodes and edges are two queues of one thread, cut into events independently: the references of
 * one large array fill many edge events before the node event of their owner arrives, and a region
 * of strings fills many node events before one edge event is full.  Nothing bounds how far one runs
 * ahead of the other, so the queues are not held in memory: two cursors read the trace side by
 * side, one stops at node events and the other at edge events.
 *
 * Both count positions in the sequence of all references.  When events are missing, the first pass
 * has determined which runs of objects and of references have a certain position
 * (heap/heap_runs.c).  Where both have one, they are paired; anything in a gap or without a certain
 * position is skipped.
 */
#include "base/container.h"
#include "base/error.h"
#include "base/mem.h"
#include "clr/clr_ids.h"
#include "load/load.h"

/* A position in the runs of one kind; the runs partition all records. */
struct place {
    /* the run of the next item, unless LEFT is 0: then the one after it */
    const struct heap_run *run, *end;
    uint64_t left; /* remaining items of the run */
    /* position in the sequence of all references; for an object, that of its first reference */
    uint64_t at;
    bool certain;
};

/* One of the two cursors. */
struct feed {
    struct gcd_trace *trace; /* NULL until needed */
    uint32_t event_id;
    bool ended;
    struct gcd_clr_bulk bulk;
    uint32_t at;         /* next item of bulk */
    uint64_t items;      /* of this and all earlier events */
    struct place place;  /* of references: after bulk */
    uint64_t bulk_start; /* of references: the position of bulk's first one, if certain */
    bool bulk_certain;
};

/* The number of references of each object, in a few bytes of 7 bits each; the first has 6 and a
 * flag for whether the object has an address. */
struct counts {
    bool kept; /* requested */
    uint8_t *bytes;
    size_t size, cap, at;
};

struct gcd_objects {
    struct gcd_dump *dump;
    struct counts counts;
    struct feed nodes, edges;
    struct place next; /* of the next object */
    /* positions of the current object's references not yet handed out */
    uint64_t edges_at, edges_end;
    uint64_t objects_seen;
    uint64_t *targets; /* [targets_cap], without null references */
    size_t targets_cap;
    uint32_t *places; /* [places_cap] of TARGETS; NULL = unknown */
    size_t places_cap;
    uint64_t last_type_id;
    uint32_t last_type; /* type number; GCD_TYPE_NONE = none yet */
};

static struct place place_begin(const struct gcd_dump *d, size_t kind)
{
    const struct heap_runs *r = &d->heap->chosen->runs[kind];
    return (struct place){ .run = r->items, .end = r->items != NULL ? r->items + r->count : NULL };
}

/* Moves to the next run if this one is over. */
static inline void place_enter(struct place *p)
{
    while (p->left == 0 && p->run != p->end) {
        p->left = p->run->items;
        p->at = p->run->start;
        p->certain = p->run->start != HEAP_UNPLACED;
        p->run++;
    }
}

/* Moves past ITEMS with EDGES in total.  False if there are no such items: the first pass did not
 * see them. */
static inline bool place_leave(struct place *p, uint64_t items, uint64_t edges)
{
    if (p->left < items)
        return false;
    p->left -= items;
    if (__builtin_add_overflow(p->at, edges, &p->at))
        p->certain = false;
    return true;
}

static gcd_status feed_open(struct gcd_dump *d, struct feed *f, uint32_t event_id,
                            struct gcd_error *err)
{
    f->event_id = event_id;
    if (event_id == GCD_EV_BULK_EDGE)
        f->place = place_begin(d, HEAP_RUNS_EDGES);
    GCD_TRY(gcd_trace_open(d->input, &d->options.context, &f->trace, err));
    gcd_trace_skip_records(f->trace, event_id != GCD_EV_BULK_NODE, event_id != GCD_EV_BULK_EDGE);
    return GCD_OK;
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
    o->next = place_begin(d, HEAP_RUNS_NODES);
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
    gcd_mem_free(&o->dump->alloc, o->places, o->places_cap * sizeof *o->places);
    gcd_mem_free(&o->dump->alloc, o, sizeof *o);
}

/* The next event of the trace, of any kind.  GCD_END also at damage that the first pass reported.
 */
static gcd_status next_event(struct gcd_dump *d, struct feed *f, struct gcd_event *ev,
                             struct gcd_error *err)
{
    gcd_status st = gcd_trace_pull(f->trace, d->options.context.cancel, ev, err);
    return st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_LIMIT ? GCD_END : st;
}

/* The next event of this feed in the chosen walk: of its thread, between its first and last bulk
 * event.  GCD_END after the last. */
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
        if (ev.provider != GCD_PROVIDER_RUNTIME || ev.id != f->event_id || ev.off < w->first_off ||
            ev.thread != w->thread || ev.process != d->heap->process ||
            !gcd_clr_description_fits(&ev))
            continue;
        st = f->event_id == GCD_EV_BULK_NODE ? gcd_clr_bulk_node(&ev, &f->bulk)
                                             : gcd_clr_bulk_edge(&ev, &f->bulk);
        if (st != GCD_OK)
            continue; /* the first pass counted it as damaged; the index shows the gap */
        f->at = 0;
        f->items += f->bulk.count;
        return GCD_OK;
    }
    return GCD_END;
}

static gcd_status changed(struct gcd_error *err)
{
    return gcd_fail(err, GCD_E_FORMAT, "the input changed while it was read");
}

/* The next event with references, and their position. */
static gcd_status next_edges(struct gcd_objects *o, struct gcd_error *err)
{
    struct feed *f = &o->edges;
    f->bulk_certain = false;
    gcd_status st = feed_next(o->dump, f, err);
    if (st != GCD_OK || f->bulk.count == 0)
        return st;
    place_enter(&f->place);
    f->bulk_start = f->place.at;
    f->bulk_certain = f->place.certain;
    return place_leave(&f->place, f->bulk.count, f->bulk.count) ? GCD_OK : changed(err);
}

/* Consecutive objects often have the same type. */
static gcd_status type_number(struct gcd_objects *o, uint64_t id, uint32_t *ret,
                              struct gcd_error *err)
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

/* After the last object: does the result match the counts of the first pass?  The cursor for
 * references may not have been read to its end. */
static gcd_status check_edge_sum(struct gcd_objects *o, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    while (o->edges.trace != NULL && st == GCD_OK)
        st = next_edges(o, err);
    if (st < 0)
        return st;
    return o->edges.trace == NULL || o->edges.items == o->dump->summary.edges ? GCD_END
                                                                              : changed(err);
}

/* Makes the next object, which has COUNT references, current.  False if the first pass did not see
 * it. */
static inline bool enter_object(struct gcd_objects *o, uint64_t count)
{
    place_enter(&o->next);
    o->edges_at = o->edges_end = o->next.at;
    if (!place_leave(&o->next, 1, count))
        return false;
    if (o->next.certain)
        o->edges_end = o->next.at;
    o->objects_seen++;
    return true;
}

/* ---- objects again, for their references only ---- */

#define COUNT_BYTES 10u   /* at most */
#define COUNT_MORE  0x80u /* another byte follows */

gcd_status gcd_objects_keep_for_replay(struct gcd_objects *o, struct gcd_error *err)
{
    /* counted by the first pass; a few have more than 63 references */
    uint64_t objects = o->dump->summary.objects;
    o->counts.kept = true;
    o->counts.cap = (size_t)(objects + objects / 16 + COUNT_BYTES);
    o->counts.bytes = gcd_mem_new_uncleared(&o->dump->alloc, o->counts.cap, 1);
    return o->counts.bytes != NULL ? GCD_OK : gcd_fail_nomem(err, "reading the objects");
}

static gcd_status keep_count(struct gcd_objects *o, const struct gcd_object *object,
                             struct gcd_error *err)
{
    struct counts *c = &o->counts;
    if (!gcd_vec_reserve(&o->dump->alloc, &c->bytes, &c->cap, c->size + COUNT_BYTES, 1, SIZE_MAX))
        return gcd_fail_nomem(err, "reading the objects");
    uint64_t left = object->edges >> 6;
    c->bytes[c->size++] = (uint8_t)((object->address != 0) | (object->edges & 63) << 1 |
                                    (left != 0 ? COUNT_MORE : 0));
    for (; left != 0; left >>= 7)
        c->bytes[c->size++] = (uint8_t)((left & 127) | (left > 127 ? COUNT_MORE : 0));
    return GCD_OK;
}

gcd_status gcd_objects_next(struct gcd_objects *o, struct gcd_object *ret, struct gcd_error *err)
{
    struct feed *f = &o->nodes;
    while (f->at >= f->bulk.count) {
        gcd_status st = feed_next(o->dump, f, err);
        if (st == GCD_END)
            return o->objects_seen == o->dump->summary.objects ? check_edge_sum(o, err)
                                                               : changed(err);
        if (st != GCD_OK)
            return st;
    }
    struct gcd_clr_node n = gcd_clr_node_at(&f->bulk, f->at++);
    if (!enter_object(o, n.edge_count))
        return changed(err);
    ret->address = n.address;
    ret->size_bytes = n.size;
    ret->edges = n.edge_count;
    if (o->counts.kept)
        GCD_TRY(keep_count(o, ret, err));
    return type_number(o, n.type, &ret->type, err);
}

/*
 * The next received references of the current object, N of them from number *RET_FIRST of the
 * event; N is 0 when there are none.  Opens the cursor for references on first use: callers that
 * want only objects read the trace once.
 */
static gcd_status reach_edges(struct gcd_objects *o, uint32_t *ret_first, uint32_t *ret_n,
                              struct gcd_error *err)
{
    struct feed *f = &o->edges;
    *ret_n = 0;
    if (f->trace == NULL)
        GCD_TRY(feed_open(o->dump, f, GCD_EV_BULK_EDGE, err));
    while (!f->bulk_certain || f->bulk_start > o->edges_at ||
           f->bulk.count <= o->edges_at - f->bulk_start) {
        if (f->bulk_certain && f->bulk_start > o->edges_at) { /* references before it are lost */
            o->edges_at = f->bulk_start < o->edges_end ? f->bulk_start : o->edges_end;
            if (o->edges_at == o->edges_end)
                return GCD_OK;
            continue;
        }
        gcd_status st = next_edges(o, err);
        if (st < 0)
            return st;
        if (st == GCD_END) {
            o->edges_at = o->edges_end;
            return GCD_OK;
        }
    }
    uint64_t first = o->edges_at - f->bulk_start, wanted = o->edges_end - o->edges_at;
    uint64_t there = f->bulk.count - first;
    *ret_first = (uint32_t)first;
    *ret_n = (uint32_t)(wanted < there ? wanted : there);
    o->edges_at += *ret_n;
    return GCD_OK;
}

gcd_status gcd_objects_edges(struct gcd_objects *o, const uint64_t **ret_targets, size_t *ret_n,
                             struct gcd_error *err)
{
    while (o->edges_at < o->edges_end) {
        uint32_t first, n;
        GCD_TRY(reach_edges(o, &first, &n, err));
        if (n > o->targets_cap &&
            !gcd_vec_reserve(&o->dump->alloc, &o->targets, &o->targets_cap, n, sizeof *o->targets,
                             SIZE_MAX / sizeof *o->targets))
            return gcd_fail_nomem(err, "reading references");
        size_t made = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t target = gcd_clr_edge_at(&o->edges.bulk, first + i);
            o->targets[made] = target;
            made += target != 0; /* runtimes never send null, and it is not an object */
        }
        if (made > 0) {
            *ret_targets = o->targets;
            *ret_n = made;
            return GCD_OK;
        }
    }
    return GCD_END;
}

void gcd_objects_replay(struct gcd_objects *o)
{
    feed_close(&o->nodes);
    o->next = place_begin(o->dump, HEAP_RUNS_NODES);
    o->objects_seen = 0;
    o->edges_at = o->edges_end = 0;
}

gcd_status gcd_objects_replay_next(struct gcd_objects *o, bool *ret_has_address,
                                   uint64_t *ret_edges, struct gcd_error *err)
{
    struct counts *c = &o->counts;
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
    return enter_object(o, edges) ? GCD_OK : changed(err);
}

/* ---- dumps of which nothing is missing ---- */

bool gcd_objects_whole(const struct gcd_objects *o)
{
    const struct heap_runs *runs = o->dump->heap->chosen->runs;
    const struct heap_runs *nodes = &runs[HEAP_RUNS_NODES], *edges = &runs[HEAP_RUNS_EDGES];
    uint64_t all = o->dump->summary.edges;
    return nodes->count == 1 && nodes->items->start == 0 &&
           nodes->items->items == o->dump->summary.objects && nodes->items->edges == all &&
           (all == 0 ||
            (edges->count == 1 && edges->items->start == 0 && edges->items->items == all));
}

/* Types change so often that remembering the last one does not help. */
static uint32_t type_index(const struct gcd_heap *h, uint64_t id)
{
    uint32_t type = heap_recent_type(h, h->chosen, id);
    return type != GCD_IDMAP_NONE ? type : gcd_idmap_get(&h->type_by_id, id);
}

static gcd_status decode_nodes(struct gcd_objects *o, struct gcd_object *ret, uint32_t n,
                               bool *ret_null, struct gcd_error *err)
{
    const struct gcd_dump *d = o->dump;
    *ret_null = false;
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_clr_node node = gcd_clr_node_at(&o->nodes.bulk, o->nodes.at++);
        uint32_t type = type_index(d->heap, node.type);
        bool known = type < d->type_number_count && d->type_number[type] != GCD_TYPE_NONE;
        if (!known || node.edge_count > d->summary.edges - o->edges_at)
            return changed(err);
        ret[i] = (struct gcd_object){ .address = node.address,
                                      .size_bytes = node.size,
                                      .edges = node.edge_count,
                                      .type = d->type_number[type] };
        *ret_null |= node.address == 0;
        o->edges_at += node.edge_count;
    }
    return GCD_OK;
}

gcd_status gcd_objects_block(struct gcd_objects *o, struct gcd_object *ret, uint32_t *n,
                             bool *ret_null, struct gcd_error *err)
{
    struct feed *f = &o->nodes;
    while (f->at >= f->bulk.count) {
        gcd_status st = feed_next(o->dump, f, err);
        if (st == GCD_END)
            return o->objects_seen == o->dump->summary.objects &&
                           o->edges_at == o->dump->summary.edges
                       ? GCD_END
                       : changed(err);
        if (st != GCD_OK)
            return st;
    }
    uint32_t left = f->bulk.count - f->at;
    *n = *n < left ? *n : left;
    o->objects_seen += *n;
    return o->objects_seen <= o->dump->summary.objects ? decode_nodes(o, ret, *n, ret_null, err)
                                                       : changed(err);
}

/* The places of the references that the current event has, if it has any. */
static gcd_status decode_places(struct gcd_objects *o, struct gcd_error *err)
{
    uint32_t n = o->edges.bulk.count;
    if (!o->dump->summary.image.with_places)
        return GCD_OK;
    if (n > o->places_cap && !gcd_vec_reserve(&o->dump->alloc, &o->places, &o->places_cap, n,
                                              sizeof *o->places, UINT32_MAX))
        return gcd_fail_nomem(err, "reading references");
    for (uint32_t i = 0; i < n; i++)
        o->places[i] = gcd_clr_edge_place(&o->edges.bulk, i);
    return GCD_OK;
}

const uint32_t *gcd_objects_edge_places(const struct gcd_objects *o)
{
    return o->places;
}

gcd_status gcd_objects_edge_block(struct gcd_objects *o, const uint64_t **ret_targets,
                                  size_t *ret_n, bool *ret_null, struct gcd_error *err)
{
    struct feed *f = &o->edges;
    if (f->trace == NULL)
        GCD_TRY(feed_open(o->dump, f, GCD_EV_BULK_EDGE, err));
    gcd_status st = feed_next(o->dump, f, err);
    if (st == GCD_END)
        return f->items == o->dump->summary.edges ? GCD_END : changed(err);
    if (st != GCD_OK)
        return st;
    uint32_t n = f->bulk.count;
    if (n > o->targets_cap && !gcd_vec_reserve(&o->dump->alloc, &o->targets, &o->targets_cap, n,
                                               sizeof *o->targets, SIZE_MAX / sizeof *o->targets))
        return gcd_fail_nomem(err, "reading references");
    *ret_null = false;
    for (uint32_t i = 0; i < n; i++) {
        o->targets[i] = gcd_clr_edge_at(&f->bulk, i);
        *ret_null |= o->targets[i] == 0;
    }
    GCD_TRY(decode_places(o, err));
    *ret_targets = o->targets;
    *ret_n = n;
    return f->items <= o->dump->summary.edges ? GCD_OK : changed(err);
}

uint64_t gcd_objects_position(const struct gcd_objects *o)
{
    const struct gcd_trace *t = o->nodes.trace != NULL ? o->nodes.trace : o->edges.trace;
    return t != NULL ? gcd_trace_position(t) : 0;
}
