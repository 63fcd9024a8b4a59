#include "image/clr/clr_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "clr/clr_gc.h"
#include "clr/clr_ids.h"
#include "recorded/recorded_names.h"

/* One thread writes all events: as in the runtime, their order is then certain. */
#define THREAD_ID 1u
#define GC_NUMBER 1u
#define WALK      1u
#define ENOUGH    2048u /* room for a name or so: an event with less left is sent */

#define HEAD_BYTES      10u /* index, count, instance of the runtime */
#define NODE_BYTES      32u
#define EDGE_BYTES      12u
#define ROOT_BYTES      21u
#define DEPENDENT_BYTES 24u

enum phase {
    PROCESS,
    RUNTIME,
    MODULES,
    SUSPEND,
    BEGIN,
    HEAPS,
    ROOTS,
    DEPENDENTS,
    STATICS,
    OBJECTS,
    TYPES,
    RANGES,
    END,
    RESTART,
    NAMES_BEGIN,
    NAMES_MODULES,
    NAMES_TYPES,
    NAMES_STATICS,
    NAMES_THREADS,
    IMAGE,
    VALUES_BEGIN,
    VALUES_PARTS,
    VALUES_END,
    DONE
};

gcd_status clr_events_init(struct clr_events *e, struct clr *c, struct gcd_error *err)
{
    *e = (struct clr_events){ .c = c };
    e->payload = gcd_mem_new_uncleared(&c->alloc, CLR_EVENT_BYTES, 1);
    e->nodes = gcd_mem_new_uncleared(&c->alloc, CLR_EVENT_BYTES, 1);
    e->edges = gcd_mem_new_uncleared(&c->alloc, CLR_EVENT_BYTES, 1);
    return e->payload != NULL && e->nodes != NULL && e->edges != NULL
               ? GCD_OK
               : gcd_fail_nomem(err, "reading a heap");
}

void clr_events_done(struct clr_events *e)
{
    if (e->c == NULL)
        return;
    if (e->phase == OBJECTS)
        image_expect(e->c->image, IMAGE_ANYWHERE);
    gcd_mem_free(&e->c->alloc, e->payload, CLR_EVENT_BYTES);
    gcd_mem_free(&e->c->alloc, e->nodes, CLR_EVENT_BYTES);
    gcd_mem_free(&e->c->alloc, e->edges, CLR_EVENT_BYTES);
    gcd_mem_free(&e->c->alloc, e->values.units, CLR_VALUE_BYTES);
    gcd_mem_free(&e->c->alloc, e->values.text, VALUES_TEXT_BYTES);
}

unsigned clr_events_progress(const struct clr_events *e)
{
    if (e->phase < OBJECTS || e->c->region_count == 0)
        return 0;
    return e->phase > OBJECTS ? 1000 : (unsigned)(e->next * 1000 / e->c->region_count);
}

/* ---- payloads ---- */

struct payload {
    const uint8_t *p;
    size_t n;
};

static struct payload done(const struct gcd_put *w)
{
    return (struct payload){ .p = w->begin, .n = gcd_put_bytes_done(w) };
}

static gcd_status give(struct clr_events *e, enum gcd_provider provider, uint32_t id,
                       uint32_t version, struct payload payload, struct gcd_event *ret)
{
    *ret = (struct gcd_event){ .provider = provider,
                               .id = id,
                               .version = version,
                               .provider_name = gcd_provider_name(provider),
                               .process = e->c->image->process,
                               .thread = THREAD_ID,
                               .time_ns = e->phase >= RESTART ? (int64_t)e->c->stop_ns : 0,
                               .ptr_bytes = 8,
                               .payload = payload.p,
                               .payload_bytes = payload.n,
                               .off = e->off };
    e->off += payload.n + 1;
    return GCD_OK;
}

static gcd_status give_put(struct clr_events *e, uint32_t id, uint32_t version,
                           const struct gcd_put *w, struct gcd_event *ret)
{
    return give(e, GCD_PROVIDER_RUNTIME, id, version, done(w), ret);
}

static void put_text(struct gcd_put *w, const char *s)
{
    gcd_put_utf16z(w, s, strlen(s));
}

static gcd_status next_phase(struct clr_events *e)
{
    e->phase++;
    e->next = 0;
    e->index = 0;
    if (e->phase == OBJECTS || e->phase == OBJECTS + 1)
        image_expect(e->c->image, e->phase == OBJECTS ? IMAGE_ASCENDING : IMAGE_ANYWHERE);
    if (e->phase == TYPES && e->c->told_types == 0) /* another reader tells of the same */
        e->c->told_types = e->c->type_count;
    return GCD_OK;
}

/* Fills in the head of a bulk event. */
static void put_head(uint8_t *payload, uint32_t index, uint32_t count)
{
    struct gcd_put w = gcd_put_make(payload, HEAD_BYTES);
    gcd_put_le(&w, index, 4);
    gcd_put_le(&w, count, 4);
    gcd_put_le(&w, 0, 2);
}

/* ---- what comes before and after the walk ---- */

static gcd_status give_process(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    put_text(&w, e->c->image->command_line);
    put_text(&w, "Linux");
    put_text(&w, "x64");
    (void)next_phase(e);
    return give(e, GCD_PROVIDER_EVENTPIPE, GCD_EP_PROCESS_INFO, 1, done(&w), ret);
}

/* "…/Microsoft.NETCore.App/10.0.12/libcoreclr.so"; a program that brings its runtime does not tell
 * the last numbers. */
static void version_of(const struct clr *c, unsigned ret[3])
{
    const char *p = strstr(c->runtime_path, "/Microsoft.NETCore.App/");
    ret[0] = c->layout.major;
    ret[1] = ret[2] = 0;
    if (p != NULL && sscanf(p + sizeof "/Microsoft.NETCore.App/" - 1, "%3u.%3u.%5u", &ret[0],
                            &ret[1], &ret[2]) != 3)
        ret[0] = c->layout.major, ret[1] = ret[2] = 0;
}

static gcd_status give_runtime(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    unsigned v[3];
    version_of(e->c, v);
    gcd_put_le(&w, 0, 2);
    gcd_put_le(&w, 2, 2); /* CoreCLR */
    for (unsigned copy = 0; copy < 2; copy++) {
        for (unsigned i = 0; i < 3; i++)
            gcd_put_le(&w, v[i], 2);
        gcd_put_le(&w, 0, 2);
    }
    gcd_put_le(&w, 0, 4);
    gcd_put_le(&w, 0, 1);
    put_text(&w, e->c->image->command_line);
    (void)next_phase(e);
    return give_put(e, GCD_EV_RUNTIME_INFO, 0, &w, ret);
}

#define MODULE_DYNAMIC 4u /* ModuleFlags */

static gcd_status give_module(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr_module *m = &e->c->modules[e->next++];
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, m->id, 8);
    gcd_put_le(&w, m->id, 8); /* the assembly: one a module */
    gcd_put_le(&w, m->is_dynamic ? MODULE_DYNAMIC : 0, 8);
    put_text(&w, m->path);
    put_text(&w, "");
    gcd_put_le(&w, 0, 2);
    return give_put(e, GCD_EV_MODULE_LOAD, 1, &w, ret);
}

/* The runtime's words for the stop: a living process was stopped as long as this. */
static gcd_status give_stop(struct clr_events *e, uint32_t id, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    bool stopped = e->c->stop_ns > 0;
    if (id == GCD_EV_SUSPEND_EE_BEGIN) {
        gcd_put_le(&w, 0, 4); /* reason */
        gcd_put_le(&w, GC_NUMBER, 4);
    }
    gcd_put_le(&w, 0, 2);
    gcd_status st = stopped ? give_put(e, id, 1, &w, ret) : GCD_NEED_MORE;
    (void)next_phase(e);
    return st;
}

static gcd_status give_begin(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, GC_NUMBER, 4);
    gcd_put_le(&w, 2, 4);
    gcd_put_le(&w, GCD_GC_REASON_INDUCED, 4);
    gcd_put_le(&w, GCD_GC_BLOCKING, 4);
    gcd_put_le(&w, 0, 2);
    (void)next_phase(e);
    return give_put(e, GCD_EV_GC_START, 1, &w, ret);
}

static gcd_status give_heaps(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, 0, 8);
    gcd_put_le(&w, e->c->server ? e->c->heaps : 1, 4);
    for (unsigned i = 0; i < 3; i++)
        gcd_put_le(&w, 0, 8);
    gcd_put_le(&w, 0, 2);
    (void)next_phase(e);
    return give_put(e, GCD_EV_GLOBAL_HEAP_HISTORY, 1, &w, ret);
}

static gcd_status give_end(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, GC_NUMBER, 4);
    gcd_put_le(&w, 2, 4);
    gcd_put_le(&w, 0, 2);
    (void)next_phase(e);
    return give_put(e, GCD_EV_GC_END, 1, &w, ret);
}

/* ---- roots ---- */

static gcd_status give_roots(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload + HEAD_BYTES, GCD_CLR_BULK_BYTES);
    uint32_t count = 0;
    for (; e->next < e->c->root_count && count < GCD_CLR_BULK_BYTES / ROOT_BYTES; count++) {
        const struct clr_root *r = &e->c->roots[e->next++];
        gcd_put_le(&w, r->object, 8);
        gcd_put_le(&w, r->kind, 1);
        gcd_put_le(&w, r->flags, 4);
        gcd_put_le(&w, r->id, 8);
    }
    put_head(e->payload, e->index++, count);
    return give(e, GCD_PROVIDER_RUNTIME, GCD_EV_BULK_ROOT_EDGE, 0,
                (struct payload){ e->payload, HEAD_BYTES + (size_t)count * ROOT_BYTES }, ret);
}

static gcd_status give_dependents(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload + HEAD_BYTES, GCD_CLR_BULK_BYTES);
    uint32_t count = 0;
    for (; e->next < e->c->dependent_count && count < GCD_CLR_BULK_BYTES / DEPENDENT_BYTES;
         count++) {
        const struct clr_dependent *d = &e->c->dependents[e->next++];
        gcd_put_le(&w, d->key, 8);
        gcd_put_le(&w, d->value, 8);
        gcd_put_le(&w, d->id, 8);
    }
    put_head(e->payload, e->index++, count);
    return give(e, GCD_PROVIDER_RUNTIME, GCD_EV_BULK_DEPENDENT, 0,
                (struct payload){ e->payload, HEAD_BYTES + (size_t)count * DEPENDENT_BYTES }, ret);
}

static uint64_t type_at(struct clr *c, uint64_t object)
{
    return image_u64(c->image, object) & ~UINT64_C(7);
}

/* Records of variable size: count u32, application domain u64, instance u16, then {slot, object,
 * type u64; flags u32; field z}. */
static gcd_status give_statics(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    uint32_t count = 0;
    gcd_put_le(&w, 0, 8);
    gcd_put_le(&w, 0, 6);
    for (; e->next < e->c->static_count && gcd_put_bytes_done(&w) + ENOUGH < GCD_CLR_BULK_BYTES;
         count++) {
        const struct clr_static *s = &e->c->statics[e->next++];
        gcd_put_le(&w, s->address, 8);
        gcd_put_le(&w, s->object, 8);
        gcd_put_le(&w, type_at(e->c, s->object), 8);
        gcd_put_le(&w, 0, 4);
        gcd_put_utf16z(&w, s->field, strnlen(s->field, 255));
    }
    struct gcd_put head = gcd_put_make(e->payload, 4);
    gcd_put_le(&head, count, 4);
    return give_put(e, GCD_EV_BULK_ROOT_STATIC_VAR, 0, &w, ret);
}

/* ---- types ---- */

#define TYPE_RANK_SHIFT 8
#define FLAG_FINALIZER  UINT32_C(0x00100000)

static bool is_delegate(const struct clr *c, const struct clr_type *t)
{
    uint32_t i = gcd_idmap_get(&c->type_by_id, t->parent);
    return i != GCD_IDMAP_NONE && strcmp(c->types[i].raw_name, "System.MulticastDelegate") == 0;
}

static uint32_t type_flags(const struct clr *c, const struct clr_type *t)
{
    uint32_t flags = (t->flags & FLAG_FINALIZER) != 0 ? GCD_TYPE_FINALIZABLE : 0;
    if (t->rank > 0) {
        bool vector = (t->flags & UINT32_C(0x20000)) != 0;
        return GCD_TYPE_ARRAY | (vector ? 0 : (t->rank & 0x3f) << TYPE_RANK_SHIFT);
    }
    return flags | (is_delegate(c, t) ? GCD_TYPE_DELEGATE : 0);
}

static void put_type(struct clr_events *e, struct gcd_put *w, const struct clr_type *t)
{
    struct clr *c = e->c;
    gcd_put_le(w, t->id, 8);
    gcd_put_le(w, t->module, 8);
    gcd_put_le(w, UINT32_C(0x02000000) | t->token, 4);
    gcd_put_le(w, type_flags(c, t), 4);
    gcd_put_le(w, t->element_type, 1);
    put_text(w, t->raw_name);
    if (t->rank > 0) {
        gcd_put_le(w, 1, 4);
        gcd_put_le(w, t->element, 8);
        return;
    }
    gcd_put_le(w, t->arg_count, 4);
    for (uint32_t i = 0; i < t->arg_count; i++)
        gcd_put_le(w, c->args[t->args + i], 8);
}

static gcd_status give_types(struct clr_events *e, struct gcd_event *ret)
{
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    uint32_t count = 0;
    gcd_put_le(&w, 0, 6);
    while (e->next < e->c->told_types) {
        const struct clr_type *t = &e->c->types[e->next];
        size_t need = 33 + 2 * (strlen(t->raw_name) + 1) + 8 * (size_t)t->arg_count;
        if (count > 0 && gcd_put_bytes_done(&w) + need > GCD_CLR_BULK_BYTES)
            break;
        e->next++;
        if (!t->known || t->is_free || need > GCD_CLR_BULK_BYTES)
            continue;
        put_type(e, &w, t);
        count++;
    }
    struct gcd_put head = gcd_put_make(e->payload, 4);
    gcd_put_le(&head, count, 4);
    return give_put(e, GCD_EV_BULK_TYPE, 0, &w, ret);
}

/* ---- objects ---- */

static gcd_status flush_nodes(struct clr_events *e, struct gcd_event *ret)
{
    put_head(e->nodes, e->node_index++, e->node_count);
    size_t n = HEAD_BYTES + (size_t)e->node_count * NODE_BYTES;
    e->node_count = 0;
    return give(e, GCD_PROVIDER_RUNTIME, GCD_EV_BULK_NODE, 0, (struct payload){ e->nodes, n }, ret);
}

static gcd_status flush_edges(struct clr_events *e, struct gcd_event *ret)
{
    put_head(e->edges, e->edge_index++, e->edge_count);
    size_t n = HEAD_BYTES + (size_t)e->edge_count * EDGE_BYTES;
    e->edge_count = 0;
    return give(e, GCD_PROVIDER_RUNTIME, GCD_EV_BULK_EDGE, 0, (struct payload){ e->edges, n }, ret);
}

static void put_le64(uint8_t *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void put_le32(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static inline void put_node(struct clr_events *e, const struct clr_object *o, uint64_t edges)
{
    uint8_t *p = e->nodes + HEAD_BYTES + (size_t)e->node_count++ * NODE_BYTES;
    if (e->skip_nodes)
        return;
    put_le64(p, o->address);
    put_le64(p + 8, o->bytes);
    put_le64(p + 16, e->c->types[o->type].id);
    put_le64(p + 24, edges);
}

bool clr_events_object(struct clr_events *e, struct clr_scan *scan, size_t *next,
                       struct clr_lost *lost, struct clr_object *ret)
{
    struct clr *c = e->c;
    for (;;) {
        if (scan->c == NULL) {
            if (*next == c->region_count)
                return false;
            clr_scan_begin(scan, c, &c->regions[*next], lost);
        }
        bool by_marks = !c->with_dead && clr_is_intact(c) && scan->region->generation != CLR_FROZEN;
        if (by_marks && clr_scan_next_live(scan, ret))
            return true;
        while (!by_marks && clr_scan_next(scan, ret))
            if (c->with_dead || clr_is_marked(c, scan->region, ret->address))
                return true;
        if (scan->st != GCD_OK)
            return false;
        scan->c = NULL;
        ++*next;
    }
}

#define EDGES_MOST (GCD_CLR_BULK_BYTES / EDGE_BYTES)

/* The place of the reference at hand, which is then the last one. */
static inline uint32_t edge_place(struct clr_events *e)
{
    uint64_t place = e->slots.place, follows = e->follows;
    bool unplaced = place == 0 || place >= GCD_CLR_EDGE_UNPLACED;
    e->follows = unplaced ? 0 : place + 1;
    if (unplaced)
        return GCD_CLR_EDGE_UNPLACED;
    return place == follows ? GCD_CLR_EDGE_FOLLOWS : (uint32_t)place;
}

static void begin_edges(struct clr_events *e, const struct clr_object *o)
{
    clr_slots_begin(&e->slots, e->c, o);
    e->follows = 1;
}

/* Puts references of the object at hand; false when the buffer is full. */
static bool put_edges(struct clr_events *e)
{
    uint64_t target, slot;
    uint8_t *p = e->edges + HEAD_BYTES + (size_t)e->edge_count * EDGE_BYTES;
    for (; e->edge_count < EDGES_MOST; p += EDGE_BYTES, e->edge_count++) {
        if (!clr_slots_next(&e->slots, &target, &slot)) {
            e->has_object = false;
            return true;
        }
        put_le64(p, target);
        put_le32(p + 8, edge_place(e));
    }
    clr_slots_resume(&e->slots);
    return false;
}

/* The same for references that only count. */
static bool skip_edges(struct clr_events *e)
{
    uint64_t room = EDGES_MOST - e->edge_count;
    uint64_t some = e->edges_left < room ? e->edges_left : room;
    e->edges_left -= some;
    e->edge_count += (uint32_t)some;
    e->has_object = some == room;
    return !e->has_object;
}

/* Puts the object at hand, and its references if there is room for all that it can have; otherwise
 * they are counted first. */
static void put_object(struct clr_events *e, const struct clr_object *o)
{
    uint32_t before = e->edge_count;
    if (o->is_leaf) {
        put_node(e, o, 0);
        return;
    }
    begin_edges(e, o);
    if (!e->skip_edges && o->bytes / 8 < EDGES_MOST - before) {
        (void)put_edges(e);
        put_node(e, o, e->edge_count - before);
        return;
    }
    e->edges_left = clr_slots_count(&e->slots);
    put_node(e, o, e->edges_left);
    if (e->skip_edges && e->edges_left < EDGES_MOST - before) {
        e->edge_count += (uint32_t)e->edges_left;
        return;
    }
    begin_edges(e, o);
    e->has_object = true;
}

/* Instead of objects only their number, and that of their references. */
static gcd_status begin_sums(struct clr_events *e, struct gcd_error *err)
{
    GCD_TRY(clr_sum(e->c, &e->nodes_left, err));
    e->summed = e->nodes_left > 0;
    e->edges_left = 0;
    for (size_t i = 0; i < e->c->type_count && e->summed; i++)
        e->edges_left += e->c->types[i].sum.edges;
    return GCD_OK;
}

static gcd_status give_sums(struct clr_events *e, struct gcd_event *ret)
{
    const uint32_t most = GCD_CLR_BULK_BYTES / NODE_BYTES;
    e->next = e->c->region_count;
    if (e->nodes_left > 0) {
        e->node_count = e->nodes_left < most ? (uint32_t)e->nodes_left : most;
        e->nodes_left -= e->node_count;
        return flush_nodes(e, ret);
    }
    (void)skip_edges(e);
    if (e->edge_count > 0)
        return flush_edges(e, ret);
    (void)next_phase(e);
    return GCD_NEED_MORE;
}

static gcd_status give_objects(struct clr_events *e, struct gcd_event *ret, struct gcd_error *err)
{
    GCD_TRY(gcd_check_canceled(e->c->context->cancel, err));
    if (e->next == 0 && e->sums_wanted)
        GCD_TRY(begin_sums(e, err));
    if (e->summed)
        return give_sums(e, ret);
    for (;;) {
        if (e->has_object && !(e->skip_edges ? skip_edges(e) : put_edges(e)))
            return flush_edges(e, ret);
        if (e->node_count == GCD_CLR_BULK_BYTES / NODE_BYTES)
            return flush_nodes(e, ret);
        if (!clr_events_object(e, &e->scan, &e->next, &e->lost, &e->object))
            break;
        put_object(e, &e->object);
    }
    if (e->scan.st != GCD_OK)
        return gcd_fail_nomem(err, "reading a heap");
    if (e->node_count > 0)
        return flush_nodes(e, ret);
    if (e->edge_count > 0)
        return flush_edges(e, ret);
    (void)next_phase(e);
    return GCD_NEED_MORE;
}

static gcd_status give_range(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr_region *r = &e->c->regions[e->next++];
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    if (r->generation == CLR_FROZEN)
        return GCD_NEED_MORE; /* the runtime gives them no range */
    gcd_put_le(&w, r->generation, 1);
    gcd_put_le(&w, r->start, 8);
    gcd_put_le(&w, r->end - r->start, 8);
    gcd_put_le(&w, r->reserved_end - r->start, 8);
    gcd_put_le(&w, 0, 2);
    return give_put(e, GCD_EV_GENERATION_RANGE, 0, &w, ret);
}

/* ---- names, as in a recording with names (src/recorded) ---- */

static bool module_has_names(const struct clr_module *m)
{
    return m->named;
}

static bool type_has_names(const struct clr_type *t)
{
    return t->outer[0] != '\0' || t->noted[0] != '\0';
}

static gcd_status give_names_begin(struct clr_events *e, struct gcd_event *ret)
{
    struct recorded_start s = { .gc_number = GC_NUMBER, .walk_number = WALK };
    for (size_t i = 0; i < e->c->module_count; i++)
        s.counts[RECORDED_MODULES] += module_has_names(&e->c->modules[i]);
    for (size_t i = 0; i < e->c->told_types; i++)
        s.counts[RECORDED_TYPES] += type_has_names(&e->c->types[i]);
    s.counts[RECORDED_STATICS] = (uint32_t)e->c->static_count;
    s.counts[RECORDED_THREADS] =
        (uint32_t)(e->c->thread_count + e->c->frame_count + e->c->thread_statics);
    (void)next_phase(e);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_START, 1,
                (struct payload){ e->payload, recorded_put_start(e->payload, &s) }, ret);
}

static gcd_status give_names_module(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr_module *m = &e->c->modules[e->next++];
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    char token[17] = "";
    if (!module_has_names(m))
        return GCD_NEED_MORE;
    for (size_t i = 0; i < 16 && m->has_token; i++)
        token[i] = "0123456789abcdef"[m->token[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    gcd_put_le(&w, m->id, 8);
    gcd_put_bytes(&w, m->mvid, sizeof m->mvid);
    put_text(&w, m->assembly);
    put_text(&w, token);
    put_text(&w, m->path);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_MODULE, 1, done(&w), ret);
}

static gcd_status give_names_type(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr_type *t = &e->c->types[e->next++];
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    if (!type_has_names(t))
        return GCD_NEED_MORE;
    gcd_put_le(&w, t->id, 8);
    put_text(&w, t->outer);
    put_text(&w, t->noted);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_TYPE, 2, done(&w), ret);
}

static gcd_status give_names_static(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr_static *s = &e->c->statics[e->next++];
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    char label[2048];
    (void)snprintf(label, sizeof label, "%s.%.255s", s->spelled, s->field);
    gcd_put_le(&w, s->address, 8);
    gcd_put_utf16z(&w, s->field, strnlen(s->field, 255));
    put_text(&w, s->class_name);
    put_text(&w, label);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_STATIC, 1, done(&w), ret);
}

static void put_thread_label(struct gcd_put *w, const struct clr_thread *t, const char *prefix,
                             const char *what)
{
    char label[2048 + CLR_METHOD_BYTES];
    clr_thread_label(t, prefix, what, label, sizeof label);
    put_text(w, label);
}

/* Threads, then frames, then the thread-static variables of threads. */
static gcd_status give_names_thread(struct clr_events *e, struct gcd_event *ret)
{
    size_t i = e->next++, threads = e->c->thread_count, frames = e->c->frame_count;
    const struct clr_frame *f =
        i >= threads && i - threads < frames ? &e->c->frames[i - threads] : NULL;
    bool statics = i >= threads + frames;
    const struct clr_thread *t = &e->c->threads[f != NULL ? f->thread
                                                : statics ? i - threads - frames
                                                          : i];
    if (statics && t->statics == 0)
        return GCD_NEED_MORE;
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, f != NULL ? f->slot : statics ? t->statics : t->thread, 8);
    put_text(&w, t->name);
    put_thread_label(&w, t,
                     f != NULL ? " in "
                     : statics ? ", "
                               : "",
                     f != NULL ? f->name
                     : statics ? "thread-static variables"
                               : "");
    return give(e, GCD_PROVIDER_NAMES, RECORDED_THREAD, 1, done(&w), ret);
}

static gcd_status give_image(struct clr_events *e, struct gcd_event *ret)
{
    const struct clr *c = e->c;
    struct gcd_put w = gcd_put_make(e->payload, CLR_EVENT_BYTES);
    gcd_put_le(&w, GC_NUMBER, 4);
    gcd_put_le(&w, WALK, 4);
    gcd_put_le(&w, RECORDED_WITH_PLACES | (c->with_dead ? RECORDED_WITH_DEAD : 0), 4);
    put_text(&w, c->stop_ns > 0 ? "process" : "core");
    put_text(&w, c->ended_by);
    put_text(&w, c->gap_text);
    put_text(&w, c->blocked_text);
    (void)next_phase(e);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_IMAGE, 2, done(&w), ret);
}

/* ---- values, as in a recording with values (src/values) ---- */

static gcd_status give_values_begin(struct clr_events *e, struct gcd_event *ret)
{
    const struct gcd_values_options *o = &e->c->values;
    struct recorded_values v = { .gc_number = GC_NUMBER,
                                 .walk_number = WALK,
                                 .kind = o->kind,
                                 .max_string = values_max_string(o) };
    (void)next_phase(e);
    if (o->kind == GCD_VALUES_NONE) {
        e->phase = DONE;
        return GCD_NEED_MORE;
    }
    return give(e, GCD_PROVIDER_NAMES, RECORDED_VALUES, 1,
                (struct payload){ e->payload, recorded_put_values(e->payload, &v) }, ret);
}

static gcd_status give_values_part(struct clr_events *e, struct gcd_event *ret,
                                   struct gcd_error *err)
{
    size_t n;
    GCD_TRY(gcd_check_canceled(e->c->context->cancel, err));
    GCD_TRY(clr_values_next(e, &n, err));
    if (n == 0) {
        (void)next_phase(e);
        return GCD_NEED_MORE;
    }
    return give(e, GCD_PROVIDER_NAMES, RECORDED_VALUES_PART, 1, (struct payload){ e->payload, n },
                ret);
}

static gcd_status give_values_end(struct clr_events *e, struct gcd_event *ret)
{
    struct recorded_values_end v = { .parts = e->values.parts,
                                     .objects = e->values.objects,
                                     .unread = e->values.unread };
    (void)next_phase(e);
    return give(e, GCD_PROVIDER_NAMES, RECORDED_VALUES_END, 1,
                (struct payload){ e->payload, recorded_put_values_end(e->payload, &v) }, ret);
}

/* ---- all of them ---- */

/* The number of items of a phase that has one event or more for them; events without items count
 * as one. */
static size_t items_of(const struct clr_events *e)
{
    const struct clr *c = e->c;
    switch ((enum phase)e->phase) {
    case MODULES:
    case NAMES_MODULES:
        return c->module_count;
    case ROOTS:
        return c->root_count;
    case DEPENDENTS:
        return c->dependent_count;
    case STATICS:
    case NAMES_STATICS:
        return c->static_count;
    case NAMES_THREADS:
        return 2 * c->thread_count + c->frame_count;
    case TYPES:
    case NAMES_TYPES:
        return c->told_types;
    case RANGES:
        return c->region_count;
    default:
        return SIZE_MAX;
    }
}

static gcd_status give_next(struct clr_events *e, struct gcd_event *ret, struct gcd_error *err)
{
    switch ((enum phase)e->phase) {
    case PROCESS:
        return give_process(e, ret);
    case RUNTIME:
        return give_runtime(e, ret);
    case MODULES:
        return give_module(e, ret);
    case SUSPEND:
        return give_stop(e, GCD_EV_SUSPEND_EE_BEGIN, ret);
    case RESTART:
        return give_stop(e, GCD_EV_RESTART_EE_END, ret);
    case BEGIN:
        return give_begin(e, ret);
    case HEAPS:
        return give_heaps(e, ret);
    case ROOTS:
        return give_roots(e, ret);
    case DEPENDENTS:
        return give_dependents(e, ret);
    case STATICS:
        return give_statics(e, ret);
    case OBJECTS:
        return give_objects(e, ret, err);
    case TYPES:
        return give_types(e, ret);
    case RANGES:
        return give_range(e, ret);
    case END:
        return give_end(e, ret);
    case NAMES_BEGIN:
        return give_names_begin(e, ret);
    case NAMES_MODULES:
        return give_names_module(e, ret);
    case NAMES_TYPES:
        return give_names_type(e, ret);
    case NAMES_STATICS:
        return give_names_static(e, ret);
    case NAMES_THREADS:
        return give_names_thread(e, ret);
    case IMAGE:
        return give_image(e, ret);
    case VALUES_BEGIN:
        return give_values_begin(e, ret);
    case VALUES_PARTS:
        return give_values_part(e, ret, err);
    case VALUES_END:
        return give_values_end(e, ret);
    case DONE:
        break;
    }
    return GCD_END;
}

gcd_status clr_events_next(struct clr_events *e, struct gcd_event *ret, struct gcd_error *err)
{
    gcd_status st;
    do {
        if (e->next >= items_of(e))
            (void)next_phase(e);
        else if ((st = give_next(e, ret, err)) != GCD_NEED_MORE)
            return st;
    } while (e->phase <= DONE);
    return GCD_END;
}
