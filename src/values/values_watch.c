#include <gcdumpc/unstable/values_watch.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "clr/clr_gc.h"
#include "values/values.h"
#include "values/watched_maps.h"
#include "values/watched_rows.h"

/* A read, which should stay in the cache while it is hashed, and what it may cost to read on over
 * memory that nobody asked for. */
#define READ_BYTES ((size_t)1 << 18)
#define GAP_BYTES  4096u
#define BATCH_MOST (READ_BYTES / STRING_BASE)
/* More than any recording has while memory is read; beyond it nothing is certain. */
#define MARKS_MAX ((size_t)1 << 20)

/* A string: method table u64, length u32, UTF-16, a zero. */
#define STRING_BASE   22u
#define STRING_TEXT   12u
#define STRING_LENGTH 8u
/* In the flags of a method table: objects have components, and how large they are. */
#define HAS_COMPONENTS   UINT32_C(0x80000000)
#define COMPONENT_BYTES  0xffffu
#define COMPONENTS_PLAIN 4u

#define FROZEN 3u /* a generation that no collection touches */
#define OLDEST 2u
/* What objects of a type are, instead of the number of its kind. */
#define IS_NOTHING (GCD_IDMAP_NONE - 1)
#define IS_STRING  (GCD_IDMAP_NONE - 2)
#define REASON_GC  1u /* of a suspension; the other is for a background collection */
#define REASON_GC2 6u

/* An event of a collection.  Its time, from the smallest on, comes first: gcd_sort_by_u64. */
struct watched_mark {
    uint64_t at;
    uint32_t depth; /* of the collection */
    enum { MARK_PAUSE, MARK_GC_PAUSE, MARK_COLLECTION } kind;
};
/* What one call read. */
struct watched_batch {
    uint64_t end_ns;
    uint32_t generation;
};
struct watched_object {
    uint64_t address, size; /* the size of an array, or of others that want a map */
    uint32_t kind;          /* or IS_STRING */
    uint32_t units;         /* of a string */
    uint32_t bytes;         /* to read */
    uint32_t edges;         /* of the walk, if it wants a map; else 0 */
    uint8_t generation;
    bool row;  /* its fields are read */
    bool wide; /* it is read twice */
    /* of an array, or of a piece of one: the elements that are read, and bytes before them */
    uint32_t elements, before;
    bool last; /* they are its last ones */
};
/* What is read of the objects of a type that has no texts. */
struct watched_kind {
    uint64_t table;
    uint32_t row, map; /* its numbers there; WATCHED_NO_ROWS, WATCHED_NO_MAPS */
    bool array;        /* of what may be structs */
};
#define WATCHED_NO_ROWS UINT32_MAX
/* Elements that are read of an array of keys: the walk did not say how many there are. */
#define KEYS_MOST UINT32_C(4000000)

struct gcd_values_watch {
    struct gcd_alloc alloc;
    struct gcd_values_watch_options options;
    struct gcd_trace *trace;
    struct gcd_idmap types; /* IS_STRING, IS_NOTHING, or the number of a kind */
    struct watched_kind *kinds;
    size_t kind_count, kind_cap;
    uint64_t string_type; /* 0 = none yet */
    /* the walk: its objects in the order of their events, each with its address as the difference
     * to the one before, and length * 2 of a string, or kind * 2 + 1; if null maps are wanted, then
     * its references, 0 if it wants no map; the size of an array of that kind, and of what wants a
     * map; numbers have seven bits a byte */
    uint8_t *list;
    size_t list_bytes, list_cap;
    uint64_t last, strings, nodes;
    struct gcd_range *ranges; /* [range_count] by address once objects are read, */
    size_t range_count, range_cap;
    bool overlapping; /* unless this is true */
    uint64_t thread;
    uint32_t gc_number;
    int64_t end_ns; /* of the walk, since the start of the recording */
    bool whole;
    struct gcd_clr_gc_start latest; /* collection */
    /* the collections, before the walk, too: their events come in any order */
    struct watched_mark *marks;
    size_t mark_count, mark_cap;
    /* what was read */
    struct gcd_values *values;
    struct watched_batch *batches;
    size_t batch_count, batch_cap;
    struct watched_rows rows;
    struct watched_maps maps;
    uint64_t *key_arrays; /* [key_count] to which collections refer */
    size_t key_count, key_cap;
    size_t range_of_target;         /* where the last reference of a map leads to */
    struct watched_object *pending; /* [BATCH_MOST] to read at once */
    size_t pending_count;
    uint8_t *buffer;             /* [READ_BYTES] */
    uint8_t *again;              /* [READ_BYTES] if there are rows: what was read a second time, */
    size_t again_from, again_to; /* this part of the buffer */
    char *text;                  /* [VALUES_TEXT_BYTES] */
    uint64_t deadline_ns, read_ns;
    uint64_t changed; /* of the strings read: not what the walk saw */
    bool too_many;    /* marks */
    bool several;     /* types that look like that of strings */
    bool read;
};

/* ---- the walk ---- */

static gcd_status add_kind(struct gcd_values_watch *w, const struct watched_kind *kind,
                           uint32_t *ret, struct gcd_error *err)
{
    if (kind->row == WATCHED_NO_ROWS && kind->map == WATCHED_NO_MAPS)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->kinds, &w->kind_cap, w->kind_count + 1, sizeof *w->kinds,
                         IS_STRING))
        return gcd_fail_nomem(err, "reading values");
    *ret = (uint32_t)w->kind_count;
    w->kinds[w->kind_count++] = *kind;
    return GCD_OK;
}

/* May objects with these flags have fields, or elements that do?  Those of small ones are numbers.
 */
static bool may_have_rows(uint32_t flags)
{
    return (flags & HAS_COMPONENTS) == 0 || (flags & COMPONENT_BYTES) > COMPONENTS_PLAIN;
}

/* What objects of a type are, by its method table. */
static gcd_status look_at_type(struct gcd_values_watch *w, uint64_t type, uint32_t *ret,
                               struct gcd_error *err)
{
    uint8_t head[8];
    bool there = w->options.read(w->options.ctx, type, head, sizeof head) == sizeof head;
    uint32_t flags = there ? gcd_le32(head) : 0;
    *ret = IS_NOTHING;
    if (there && (flags & (HAS_COMPONENTS | COMPONENT_BYTES)) == (HAS_COMPONENTS | 2) &&
        gcd_le32(head + 4) == STRING_BASE) {
        *ret = IS_STRING;
        w->several = w->string_type != 0;
        w->string_type = type;
    } else if (there) {
        struct watched_kind kind = { .table = type, .row = WATCHED_NO_ROWS };
        kind.array = (flags & HAS_COMPONENTS) != 0;
        if (w->rows.source != NULL && may_have_rows(flags))
            GCD_TRY(watched_rows_add_type(&w->rows, type, &kind.row, err));
        GCD_TRY(watched_maps_type(&w->maps, type, gcd_le64(head), &kind.map, err));
        GCD_TRY(add_kind(w, &kind, ret, err));
    }
    return gcd_idmap_put(&w->types, type, *ret) ? GCD_OK : gcd_fail_nomem(err, "reading values");
}

/* Does the object want a map, and how many references has it? */
static uint64_t edges_for_map(const struct gcd_values_watch *w, const struct gcd_clr_node *node,
                              uint32_t type)
{
    bool wants = type != IS_STRING && node->edge_count < UINT32_MAX &&
                 watched_maps_wants(&w->maps, w->kinds[type].map, node->size, node->edge_count);
    return wants ? node->edge_count : 0;
}

static gcd_status add_object(struct gcd_values_watch *w, const struct gcd_clr_node *node,
                             uint32_t type, struct gcd_error *err)
{
    enum { MOST = 40 };
    bool string = type == IS_STRING;
    uint64_t edges = w->maps.maps != NULL ? edges_for_map(w, node, type) : 0;
    bool row = !string && w->kinds[type].row != WATCHED_NO_ROWS;
    if (string ? w->options.values.kind == GCD_VALUES_NONE : !row && edges == 0)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->list, &w->list_cap, w->list_bytes + MOST, 1, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    struct gcd_put p = gcd_put_make(w->list + w->list_bytes, MOST);
    gcd_put_varuint(&p, node->address - w->last);
    gcd_put_varuint(&p, string ? (node->size - STRING_BASE) / 2 * 2 : (uint64_t)type * 2 + 1);
    if (!string && w->maps.maps != NULL)
        gcd_put_varuint(&p, edges);
    if (edges > 0 || (!string && w->kinds[type].array))
        gcd_put_varuint(&p, node->size);
    w->list_bytes += gcd_put_bytes_done(&p);
    w->last = node->address;
    w->strings += string;
    w->rows.listed += row;
    w->maps.listed += edges > 0;
    return GCD_OK;
}

static void begin_walk(struct gcd_values_watch *w, uint64_t thread)
{
    w->list_bytes = w->range_count = 0;
    w->last = w->strings = w->rows.listed = w->maps.listed = w->nodes = 0;
    w->thread = thread;
}

static gcd_status take_nodes(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_node(ev, &b);
    if (st != GCD_OK || w->whole)
        return GCD_OK; /* the verdict says it */
    if (b.index == 0 || ev->thread != w->thread)
        begin_walk(w, ev->thread);
    for (uint32_t i = 0; i < b.count; i++) {
        struct gcd_clr_node node = gcd_clr_node_at(&b, i);
        uint32_t type = gcd_idmap_get(&w->types, node.type);
        if (type == GCD_IDMAP_NONE)
            GCD_TRY(look_at_type(w, node.type, &type, err));
        if (type != IS_STRING ? type != IS_NOTHING
                              : node.size >= STRING_BASE && node.size <= UINT32_MAX)
            GCD_TRY(add_object(w, &node, type, err));
    }
    w->nodes += b.count;
    return GCD_OK;
}

static gcd_status take_range(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_range r;
    if (w->whole || w->nodes == 0 || ev->thread != w->thread || gcd_clr_range(ev, &r) != GCD_OK)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->ranges, &w->range_cap, w->range_count + 1,
                         sizeof *w->ranges, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->ranges[w->range_count++] = (struct gcd_range){ .start = r.start,
                                                      .reserved_bytes = r.reserved_bytes,
                                                      .used_bytes = r.used_bytes,
                                                      .generation = r.generation };
    return GCD_OK;
}

/* ---- the collections ---- */

static gcd_status add_mark(struct gcd_values_watch *w, struct watched_mark mark,
                           struct gcd_error *err)
{
    w->too_many = w->too_many || w->mark_count == MARKS_MAX;
    if (w->too_many)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->marks, &w->mark_cap, w->mark_count + 1, sizeof *w->marks,
                         MARKS_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->marks[w->mark_count++] = mark;
    return GCD_OK;
}

static gcd_status take_start(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_gc_start gc;
    uint32_t depth = OLDEST;
    if (gcd_clr_gc_start(ev, &gc) == GCD_OK) {
        depth = gc.depth;
        w->latest = gc;
    }
    return add_mark(w, (struct watched_mark){ gcd_sort_key(ev->time_ns), depth, MARK_COLLECTION },
                    err);
}

static gcd_status take_pause(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    uint32_t reason = gcd_cur_u32(&c);
    bool is_gc = c.err != GCD_OK || reason == REASON_GC || reason == REASON_GC2;
    struct watched_mark mark = { .at = gcd_sort_key(ev->time_ns),
                                 .kind = is_gc ? MARK_GC_PAUSE : MARK_PAUSE };
    return add_mark(w, mark, err);
}

/* The end of a collection says its depth once more: it may have gone deeper. */
static gcd_status take_other_end(struct gcd_values_watch *w, const struct gcd_event *ev,
                                 struct gcd_error *err)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    gcd_cur_skip(&c, 4);
    uint32_t depth = gcd_cur_u32(&c);
    if (c.err != GCD_OK)
        depth = OLDEST;
    return add_mark(w, (struct watched_mark){ gcd_sort_key(ev->time_ns), depth, MARK_COLLECTION },
                    err);
}

static gcd_status take_end(struct gcd_values_watch *w, const struct gcd_event *ev,
                           struct gcd_error *err)
{
    if (w->whole || w->nodes == 0 || ev->thread != w->thread ||
        gcd_clr_gc_end(ev, &w->gc_number) != GCD_OK)
        return take_other_end(w, ev, err);
    if (w->gc_number == w->latest.number && !gcd_clr_gc_is_full(&w->latest)) {
        begin_walk(w, ev->thread); /* the dump is of a later one */
        return take_other_end(w, ev, err);
    }
    w->whole = true;
    w->end_ns = ev->time_ns;
    return GCD_OK;
}

static gcd_status take_event(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    if (ev->provider != GCD_PROVIDER_RUNTIME)
        return GCD_OK;
    switch (ev->id) {
    case GCD_EV_BULK_NODE:
        return take_nodes(w, ev, err);
    case GCD_EV_GENERATION_RANGE:
        return take_range(w, ev, err);
    case GCD_EV_GC_START:
        return take_start(w, ev, err);
    case GCD_EV_SUSPEND_EE_BEGIN:
        return take_pause(w, ev, err);
    case GCD_EV_GC_END:
        return take_end(w, ev, err);
    default:
        return GCD_OK;
    }
}

static uint8_t generation_in(const struct gcd_range *r)
{
    return (uint8_t)(r->generation < OLDEST ? r->generation : OLDEST);
}

/* Of an object at ADDRESS; *LAST: the range of the object before. */
static uint8_t generation_of(const struct gcd_values_watch *w, uint64_t address, size_t *last)
{
    if (w->range_count == 0)
        return 0; /* unknown: every collection counts */
    const struct gcd_range *r = &w->ranges[*last];
    if (address - r->start < r->reserved_bytes)
        return generation_in(r);
    for (size_t i = 0; i < w->range_count && w->overlapping; i++)
        if (address - w->ranges[i].start < w->ranges[i].reserved_bytes)
            return generation_in(&w->ranges[i]);
    size_t n = gcd_count_up_to(w->ranges, w->range_count, sizeof *w->ranges, address);
    if (n == 0 || address - w->ranges[n - 1].start >= w->ranges[n - 1].reserved_bytes)
        return FROZEN;
    *last = n - 1;
    return generation_in(&w->ranges[n - 1]);
}

/* [watched_maps.generation] */
static uint8_t generation_of_target(void *ctx, uint64_t address)
{
    struct gcd_values_watch *w = ctx;
    return generation_of(w, address, &w->range_of_target);
}

gcd_status gcd_values_watch_new(const struct gcd_values_watch_options *options,
                                struct gcd_values_watch **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    if (options->read == NULL || options->now_ns == NULL ||
        (options->values.kind == GCD_VALUES_ALL && options->source == NULL))
        return gcd_fail(err, GCD_E_ARG, "values need memory and a clock, those of objects types");
    bool all = options->values.kind == GCD_VALUES_ALL;
    struct gcd_values_watch *w = gcd_mem_new(&a, sizeof *w);
    if (w == NULL)
        return gcd_fail_nomem(err, "reading values");
    w->alloc = a;
    w->options = *options;
    gcd_idmap_init(&w->types, &w->alloc);
    watched_rows_init(&w->rows, &w->alloc, all ? options->source : NULL);
    w->maps = (struct watched_maps){ .alloc = a,
                                     .read = options->read,
                                     .ctx = options->ctx,
                                     .generation = generation_of_target,
                                     .generation_ctx = w };
    w->again = all ? gcd_mem_new_uncleared(&a, READ_BYTES, 1) : NULL;
    w->pending = gcd_mem_new_uncleared(&a, BATCH_MOST, sizeof *w->pending);
    w->buffer = gcd_mem_new_uncleared(&a, READ_BYTES, 1);
    w->text = gcd_mem_new_uncleared(&a, VALUES_TEXT_BYTES, 1);
    gcd_status st =
        w->pending != NULL && w->buffer != NULL && w->text != NULL && (w->again != NULL || !all)
            ? gcd_trace_new(&options->context, &w->trace, err)
            : gcd_fail_nomem(err, "reading values");
    if (st == GCD_OK)
        st = values_new(&a, options->context.limits, &options->values, &w->values, err);
    if (st == GCD_OK && options->null_maps)
        st = null_maps_new(&a, options->context.limits, &w->maps.maps, err);
    if (st == GCD_OK)
        *ret = w;
    else
        gcd_values_watch_free(w);
    return st;
}

void gcd_values_watch_free(struct gcd_values_watch *w)
{
    if (w == NULL)
        return;
    const struct gcd_alloc a = w->alloc;
    gcd_trace_free(w->trace);
    gcd_idmap_done(&w->types);
    watched_rows_done(&w->rows);
    watched_maps_done(&w->maps);
    gcd_mem_free(&a, w->kinds, w->kind_cap * sizeof *w->kinds);
    gcd_mem_free(&a, w->key_arrays, w->key_cap * sizeof *w->key_arrays);
    values_free(w->values);
    gcd_mem_free(&a, w->again, READ_BYTES);
    gcd_mem_free(&a, w->list, w->list_cap);
    gcd_mem_free(&a, w->ranges, w->range_cap * sizeof *w->ranges);
    gcd_mem_free(&a, w->marks, w->mark_cap * sizeof *w->marks);
    gcd_mem_free(&a, w->batches, w->batch_cap * sizeof *w->batches);
    gcd_mem_free(&a, w->pending, BATCH_MOST * sizeof *w->pending);
    gcd_mem_free(&a, w->buffer, READ_BYTES);
    gcd_mem_free(&a, w->text, VALUES_TEXT_BYTES);
    gcd_mem_free(&a, w, sizeof *w);
}

gcd_status gcd_values_watch_feed(struct gcd_values_watch *w, const void *bytes, size_t n,
                                 struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st = gcd_trace_feed(w->trace, bytes, n, err);
    while (st == GCD_OK && (st = gcd_trace_next(w->trace, &ev, err)) == GCD_OK)
        st = take_event(w, &ev, err);
    if (st == GCD_E_NOMEM)
        return st;
    return w->whole ? GCD_END : GCD_OK;
}

/* ---- reading ---- */

static gcd_status sort_ranges(struct gcd_values_watch *w, struct gcd_error *err)
{
    if (!gcd_sort_by_u64(&w->alloc, w->ranges, w->range_count, sizeof *w->ranges))
        return gcd_fail_nomem(err, "reading values");
    for (size_t i = 1; i < w->range_count; i++) {
        const struct gcd_range *r = &w->ranges[i - 1];
        w->overlapping = w->overlapping || r->reserved_bytes > w->ranges[i].start - r->start;
    }
    return GCD_OK;
}

static uint64_t read_end_of(const struct watched_object *o)
{
    return o->address + o->bytes;
}

static bool is_head(const struct gcd_values_watch *w, const struct watched_object *s,
                    const uint8_t *head)
{
    return (gcd_le64(head) & ~UINT64_C(7)) == w->string_type &&
           gcd_le32(head + STRING_LENGTH) == s->units;
}

static gcd_status add_value(struct gcd_values_watch *w, const struct watched_object *s,
                            uint64_t hash, const uint8_t *units, struct gcd_error *err)
{
    struct values_content c = { .hash = hash, .length = s->units };
    if (w->options.values.kind != GCD_VALUES_HASHES) {
        c.bytes = values_characters(&w->options.values, units,
                                    s->units < READ_BYTES / 2 ? s->units : READ_BYTES / 2, w->text);
        c.utf8 = w->text;
    }
    return values_add(w->values, s->address, (uint32_t)w->batch_count, &c, err);
}

/* Hashes in this number are computed before the place of the first is fetched: a fetch between two
 * hashes makes the second wait for memory. */
#define GROUP ((size_t)64)

/* The elements of O, an array or a piece of one. */
static gcd_status take_elements(struct gcd_values_watch *w, const struct watched_object *o,
                                size_t off, struct gcd_error *err)
{
    const struct watched_kind *kind = &w->kinds[o->kind];
    uint32_t stride = w->rows.types[kind->row].shape.stride;
    bool there = o->before == 0 || (gcd_le64(w->buffer + off) & ~UINT64_C(7)) == kind->table;
    w->rows.changed += !there;
    w->rows.arrays += there && o->last;
    for (uint32_t i = 0; i < o->elements && there && value_rows_has_room(w->rows.rows); i++) {
        size_t at = o->before + (size_t)i * stride;
        struct watched_copy copy = { .address = o->address + at,
                                     .number = kind->row,
                                     .batch = (uint32_t)w->batch_count,
                                     .object = w->buffer + off + at,
                                     .again = w->again + off + at,
                                     .element = true };
        GCD_TRY(watched_rows_take(&w->rows, &copy, err));
    }
    return GCD_OK;
}

/* Where the object O, whose bytes are at P, has the keys of its entries. */
static gcd_status note_keys(struct gcd_values_watch *w, const struct watched_object *o,
                            const uint8_t *p, struct gcd_error *err)
{
    uint32_t at = w->rows.types[w->kinds[o->kind].row].shape.keys;
    uint64_t array = at != 0 ? gcd_le64(p + at) : 0;
    if (array == 0)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->key_arrays, &w->key_cap, w->key_count + 1,
                         sizeof *w->key_arrays, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->key_arrays[w->key_count++] = array;
    return GCD_OK;
}

/* The object O, whose bytes are in the buffer from OFF on. */
static gcd_status take_row(struct gcd_values_watch *w, const struct watched_object *o, size_t off,
                           struct gcd_error *err)
{
    struct watched_copy copy = { .address = o->address,
                                 .number = w->kinds[o->kind].row,
                                 .batch = (uint32_t)w->batch_count,
                                 .object = w->buffer + off,
                                 .again = w->again + off };
    bool all = !o->wide || (w->again_from <= off && off + o->bytes <= w->again_to);
    if (!all)
        return GCD_OK;
    if (w->kinds[o->kind].array)
        return take_elements(w, o, off, err);
    GCD_TRY(watched_rows_take(&w->rows, &copy, err));
    return note_keys(w, o, copy.object, err);
}

static struct watched_map_object map_object(const struct gcd_values_watch *w,
                                            const struct watched_object *o)
{
    const struct watched_kind *kind = &w->kinds[o->kind];
    return (struct watched_map_object){ o->address, o->size, kind->table, kind->map, o->edges };
}

static gcd_status take_map(struct gcd_values_watch *w, const struct watched_object *o, size_t off,
                           struct gcd_error *err)
{
    struct watched_map_object of = map_object(w, o);
    struct watched_map_taking t;
    GCD_TRY(watched_map_begin(&w->maps, &of, &t, err));
    watched_map_take(&t, w->buffer + off, 0, o->bytes);
    return watched_map_end_taking(&t, (uint32_t)w->batch_count, err);
}

static gcd_status take_object(struct gcd_values_watch *w, const struct watched_object *o,
                              size_t off, struct gcd_error *err)
{
    if (o->row)
        GCD_TRY(take_row(w, o, off, err));
    return o->edges > 0 ? take_map(w, o, off, err) : GCD_OK;
}

/* The N pending objects from number I on, whose bytes are in the buffer from BEGIN on. */
static gcd_status take_group(struct gcd_values_watch *w, size_t i, size_t n, uint64_t begin,
                             struct gcd_error *err)
{
    uint64_t hashes[GROUP];
    for (size_t k = 0; k < n; k++) {
        const struct watched_object *s = &w->pending[i + k];
        if (s->kind != IS_STRING)
            continue;
        hashes[k] =
            values_hash_of(w->options.values.key, w->buffer + (s->address - begin) + STRING_TEXT,
                           2 * (size_t)s->units);
    }
    for (size_t k = 0; k < n; k++)
        if (w->pending[i + k].kind == IS_STRING)
            values_fetch(w->values, hashes[k]);
    for (size_t k = 0; k < n; k++) {
        const struct watched_object *s = &w->pending[i + k];
        size_t off = (size_t)(s->address - begin);
        if (s->kind != IS_STRING)
            GCD_TRY(take_object(w, s, off, err));
        else if (is_head(w, s, w->buffer + off))
            GCD_TRY(add_value(w, s, hashes[k], w->buffer + off + STRING_TEXT, err));
        else
            w->changed++;
    }
    return GCD_OK;
}

/* Reads once more from the first of N pending objects that is wide up to the last one. */
static void read_again(struct gcd_values_watch *w, size_t n)
{
    uint64_t begin = w->pending[0].address;
    size_t from = 0, to = n;
    while (from < n && !w->pending[from].wide)
        from++;
    while (to > from && !w->pending[to - 1].wide)
        to--;
    w->again_from = w->again_to = 0;
    if (to == from)
        return;
    w->again_from = (size_t)(w->pending[from].address - begin);
    size_t bytes = (size_t)(read_end_of(&w->pending[to - 1]) - begin) - w->again_from;
    w->again_to = w->again_from + w->options.read(w->options.ctx, begin + w->again_from,
                                                  w->again + w->again_from, bytes);
}

/* The N bytes from the first pending object on are in the buffer.  Takes the objects that are whole
 * there; *RET becomes their number. */
static gcd_status take_read(struct gcd_values_watch *w, size_t n, size_t *ret,
                            struct gcd_error *err)
{
    uint64_t begin = w->pending[0].address;
    size_t whole = 0;
    while (whole < w->pending_count && read_end_of(&w->pending[whole]) - begin <= n)
        whole++;
    read_again(w, whole);
    for (size_t i = 0; i < whole; i += GROUP)
        GCD_TRY(take_group(w, i, whole - i < GROUP ? whole - i : GROUP, begin, err));
    *ret = whole;
    return GCD_OK;
}

/* A string that is larger than the buffer, piece by piece. */
static gcd_status read_large(struct gcd_values_watch *w, const struct watched_object *s,
                             struct gcd_error *err)
{
    void *ctx = w->options.ctx;
    uint8_t head[STRING_TEXT];
    struct values_hash h;
    uint64_t at = s->address + STRING_TEXT, left = 2 * (uint64_t)s->units;
    values_hash_init(&h, w->options.values.key);
    if (w->options.read(ctx, s->address, head, sizeof head) != sizeof head)
        return GCD_OK;
    for (; left > READ_BYTES; left -= READ_BYTES, at += READ_BYTES) {
        if (w->options.read(ctx, at, w->buffer, READ_BYTES) != READ_BYTES)
            return GCD_OK;
        values_hash_words(&h, w->buffer, READ_BYTES);
    }
    bool all = w->options.read(ctx, at, w->buffer, (size_t)left) == left;
    uint64_t hash = values_hash_end(&h, w->buffer, (size_t)left);
    all =
        all && w->options.read(ctx, s->address + STRING_TEXT, w->buffer, READ_BYTES) == READ_BYTES;
    w->changed += all && !is_head(w, s, head);
    return all && is_head(w, s, head) ? add_value(w, s, hash, w->buffer, err) : GCD_OK;
}

/* The same of an array that wants a map. */
static gcd_status read_large_array(struct gcd_values_watch *w, const struct watched_object *o,
                                   struct gcd_error *err)
{
    struct watched_map_object of = map_object(w, o);
    struct watched_map_taking t;
    GCD_TRY(watched_map_begin(&w->maps, &of, &t, err));
    for (uint64_t from = 0; from < o->bytes && !t.wrong; from += READ_BYTES) {
        uint64_t left = o->bytes - from;
        size_t n = left < READ_BYTES ? (size_t)left : READ_BYTES;
        GCD_TRY(gcd_check_canceled(w->options.context.cancel, err));
        if (w->options.read(w->options.ctx, o->address + from, w->buffer, n) != n)
            break; /* then it is not whole */
        watched_map_take(&t, w->buffer, from, n);
    }
    return watched_map_end_taking(&t, (uint32_t)w->batch_count, err);
}

static gcd_status end_batch(struct gcd_values_watch *w, uint32_t generation, struct gcd_error *err)
{
    w->read_ns = w->options.now_ns(w->options.ctx);
    if (!gcd_vec_reserve(&w->alloc, &w->batches, &w->batch_cap, w->batch_count + 1,
                         sizeof *w->batches, UINT32_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->batches[w->batch_count++] = (struct watched_batch){ w->read_ns, generation };
    return GCD_OK;
}

static void drop_pending(struct gcd_values_watch *w, size_t n)
{
    w->pending_count -= n;
    memmove(w->pending, w->pending + n, w->pending_count * sizeof *w->pending);
}

/* Reads the pending objects; a hole between them ends a call early. */
static gcd_status read_pending(struct gcd_values_watch *w, struct gcd_error *err)
{
    while (w->pending_count > 0) {
        const struct watched_object *first = &w->pending[0];
        uint64_t n = read_end_of(&w->pending[w->pending_count - 1]) - first->address;
        uint32_t generation = first->generation;
        size_t taken = 1;
        GCD_TRY(gcd_check_canceled(w->options.context.cancel, err));
        if (w->read_ns > w->deadline_ns) {
            w->pending_count = 0;
            return GCD_OK;
        }
        for (size_t i = 1; i < w->pending_count; i++)
            generation =
                w->pending[i].generation < generation ? w->pending[i].generation : generation;
        if (n > READ_BYTES) { /* only one that is alone is so large */
            GCD_TRY(first->kind == IS_STRING ? read_large(w, first, err)
                                             : read_large_array(w, first, err));
        } else {
            size_t got = w->options.read(w->options.ctx, first->address, w->buffer, (size_t)n);
            GCD_TRY(take_read(w, got, &taken, err));
            taken += taken == 0; /* the first cannot be read */
        }
        GCD_TRY(end_batch(w, generation, err));
        drop_pending(w, taken);
    }
    return GCD_OK;
}

static gcd_status add_pending(struct gcd_values_watch *w, const struct watched_object *s,
                              struct gcd_error *err)
{
    if (w->pending_count > 0) {
        const struct watched_object *first = &w->pending[0],
                                    *last = &w->pending[w->pending_count - 1];
        if (s->address < read_end_of(last) || s->address - read_end_of(last) > GAP_BYTES ||
            read_end_of(s) - first->address > READ_BYTES || w->pending_count == BATCH_MOST)
            GCD_TRY(read_pending(w, err));
    }
    w->pending[w->pending_count++] = *s;
    return GCD_OK;
}

/* Begins to learn types, or learns one.  On a busy machine that can take longer than all the rest:
 * it is not what the time is for. */
static gcd_status learn(struct gcd_values_watch *w, uint32_t row, bool of_keys,
                        struct gcd_error *err)
{
    uint64_t start = w->options.now_ns(w->options.ctx);
    GCD_TRY(row == WATCHED_NO_ROWS ? watched_rows_begin(&w->rows, w->values->rows, err)
                                   : watched_rows_ask(&w->rows, row, of_keys, err));
    w->deadline_ns += w->options.now_ns(w->options.ctx) - start;
    return GCD_OK;
}

/* Sets how many bytes of the fields of an object to read; 0 = none. */
static gcd_status find_row(struct gcd_values_watch *w, struct watched_object *o,
                           struct gcd_error *err)
{
    uint32_t row = w->kinds[o->kind].row;
    if (row == WATCHED_NO_ROWS)
        return GCD_OK;
    if (!w->rows.types[row].asked)
        GCD_TRY(learn(w, row, false, err));
    const struct value_shape *shape = &w->rows.types[row].shape;
    if (shape->unknown)
        return GCD_OK;
    w->rows.without += shape->type == VALUE_NO_TYPE;
    if (shape->type == VALUE_NO_TYPE || shape->bytes > READ_BYTES)
        return GCD_OK;
    o->row = true;
    if (shape->stride > 0) {
        uint64_t n =
            o->size > GCD_ARRAY_BASE_BYTES ? (o->size - GCD_ARRAY_BASE_BYTES) / shape->stride : 0;
        o->elements = (uint32_t)(n < shape->most ? n : shape->most);
        o->before = VALUE_ELEMENTS_AT;
        o->last = true;
        n = VALUE_ELEMENTS_AT + (uint64_t)o->elements * shape->stride;
        o->bytes = (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX);
    } else {
        o->bytes = shape->bytes;
    }
    o->wide = shape->wide;
    return GCD_OK;
}

/* The same for its map. */
static void find_map(const struct gcd_values_watch *w, struct watched_object *o)
{
    if (o->edges == 0)
        return;
    struct watched_map_object of = map_object(w, o);
    uint64_t end = watched_map_end(&w->maps, &of);
    if (end > UINT32_MAX || end > of.size)
        o->edges = 0;
    else if (end > o->bytes)
        o->bytes = (uint32_t)end;
}

/* The elements of O, an array that is too large to be read at once, piece by piece; then O has
 * none.  A collection that moves it between two of them leaves out those behind. */
static gcd_status add_pieces(struct gcd_values_watch *w, struct watched_object *o,
                             struct gcd_error *err)
{
    uint32_t stride = w->rows.types[w->kinds[o->kind].row].shape.stride, most = READ_BYTES / stride;
    struct watched_object piece = *o;
    piece.address += VALUE_ELEMENTS_AT;
    piece.before = piece.edges = 0;
    for (uint32_t left = o->elements; left > 0 && value_rows_has_room(w->rows.rows);) {
        piece.elements = left < most ? left : most;
        piece.bytes = piece.elements * stride;
        piece.last = o->before != 0 && left == piece.elements;
        GCD_TRY(add_pending(w, &piece, err));
        piece.address += piece.bytes;
        left -= piece.elements;
    }
    o->row = o->wide = false;
    o->bytes = 0;
    return GCD_OK;
}

/* The kind of the arrays with this method table that have keys; IS_NOTHING: they have none, or the
 * walk met no such array. */
static gcd_status kind_of_keys(struct gcd_values_watch *w, uint64_t table, uint32_t *ret,
                               struct gcd_error *err)
{
    struct watched_kind kind = { .table = table, .map = WATCHED_NO_MAPS, .array = true };
    uint32_t known = gcd_idmap_get(&w->types, table);
    *ret = IS_NOTHING;
    if (known == IS_NOTHING) { /* numbers so small that they may be texts, or of four bytes */
        GCD_TRY(watched_rows_add_type(&w->rows, table, &kind.row, err));
        GCD_TRY(add_kind(w, &kind, &known, err));
        if (!gcd_idmap_put(&w->types, table, known))
            return gcd_fail_nomem(err, "reading values");
    }
    if (known >= w->kind_count || !w->kinds[known].array || w->kinds[known].row == WATCHED_NO_ROWS)
        return GCD_OK;
    const struct watched_type *t = &w->rows.types[w->kinds[known].row];
    if (!t->asked_as_keys)
        GCD_TRY(learn(w, w->kinds[known].row, true, err));
    if (t->shape.type != VALUE_NO_TYPE && t->shape.stride > 0)
        *ret = known;
    return GCD_OK;
}

/* Reads the keys in the array at ADDRESS that were not read with it. */
static gcd_status read_key_array(struct gcd_values_watch *w, uint64_t address, size_t *range,
                                 struct gcd_error *err)
{
    uint8_t head[VALUE_ELEMENTS_AT];
    struct watched_object o = { .address = address, .row = true };
    if (w->options.read(w->options.ctx, address, head, sizeof head) != sizeof head)
        return GCD_OK;
    GCD_TRY(kind_of_keys(w, gcd_le64(head) & ~UINT64_C(7), &o.kind, err));
    if (o.kind == IS_NOTHING)
        return GCD_OK;
    const struct value_shape *shape = &w->rows.types[w->kinds[o.kind].row].shape;
    uint32_t n = gcd_le32(head + 8);
    n = n < KEYS_MOST ? n : KEYS_MOST;
    o.elements = n > shape->most ? n - shape->most : 0;
    o.address += (uint64_t)(n - o.elements) * shape->stride;
    o.wide = shape->wide;
    o.generation = generation_of(w, address, range);
    return add_pieces(w, &o, err);
}

/* Numbers that are keys: an array of numbers is read only if a collection has its keys in it. */
static gcd_status read_keys(struct gcd_values_watch *w, struct gcd_error *err)
{
    size_t range = 0;
    if (!gcd_sort_by_u64(&w->alloc, w->key_arrays, w->key_count, sizeof *w->key_arrays))
        return gcd_fail_nomem(err, "reading values");
    for (size_t i = 0; i < w->key_count; i++)
        if (i == 0 || w->key_arrays[i] != w->key_arrays[i - 1])
            GCD_TRY(read_key_array(w, w->key_arrays[i], &range, err));
    return read_pending(w, err);
}

enum part { PART_TEXTS, PART_ROWS };

/* This part of the objects whose generation is FROM to TO. */
static gcd_status read_generations(struct gcd_values_watch *w, uint32_t from, uint32_t to,
                                   enum part wanted, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(w->list, w->list_bytes, 0);
    struct watched_object o = { .address = 0 };
    size_t range = 0;
    while (gcd_cur_left(&c) > 0) {
        o.address += gcd_cur_varuint64(&c);
        uint64_t what = gcd_cur_varuint64(&c);
        o.edges = (what & 1) != 0 && w->maps.maps != NULL ? gcd_cur_varuint32(&c) : 0;
        bool sized = o.edges > 0 || ((what & 1) != 0 && w->kinds[what >> 1].array);
        o.size = sized ? gcd_cur_varuint64(&c) : 0;
        o.generation = generation_of(w, o.address, &range);
        enum part part = (what & 1) != 0 ? PART_ROWS : PART_TEXTS;
        if (o.generation < from || o.generation > to || part != wanted)
            continue;
        o.wide = o.row = false;
        if (part == PART_ROWS) {
            o.kind = (uint32_t)(what >> 1);
            o.bytes = 0;
            o.elements = o.before = 0;
            GCD_TRY(find_row(w, &o, err));
            if (o.bytes > READ_BYTES)
                GCD_TRY(add_pieces(w, &o, err));
            find_map(w, &o);
        } else {
            o.kind = IS_STRING;
            o.units = (uint32_t)(what >> 1);
            o.bytes = STRING_TEXT + 2 * o.units;
        }
        if (o.bytes > 0)
            GCD_TRY(add_pending(w, &o, err));
    }
    return read_pending(w, err);
}

/* The youngest generation first. */
static gcd_status read_part(struct gcd_values_watch *w, enum part part, struct gcd_error *err)
{
    GCD_TRY(read_generations(w, 0, 1, part, err));
    GCD_TRY(read_generations(w, OLDEST, OLDEST, part, err));
    return read_generations(w, FROZEN, FROZEN, part, err);
}

gcd_status gcd_values_watch_read(struct gcd_values_watch *w, uint64_t budget_ns,
                                 struct gcd_error *err)
{
    if (!w->whole || w->read)
        return gcd_fail(err, GCD_E_STATE, "the heap walk is not over, or its objects were read");
    w->read = true;
    w->read_ns = w->options.now_ns(w->options.ctx);
    w->deadline_ns = w->read_ns + budget_ns;
    GCD_TRY(sort_ranges(w, err));
    GCD_TRY(values_expect(w->values, w->strings, err));
    GCD_TRY(read_part(w, PART_TEXTS, err));
    if (w->rows.source != NULL)
        GCD_TRY(learn(w, WATCHED_NO_ROWS, false, err));
    if (w->rows.source != NULL || w->maps.maps != NULL)
        GCD_TRY(read_part(w, PART_ROWS, err));
    return read_keys(w, err);
}

/* ---- judging ---- */

static void lower(int64_t limits[OLDEST + 1], uint32_t depth, uint64_t at)
{
    int64_t ns = gcd_sort_number(at);
    for (uint32_t g = 0; g <= OLDEST && g <= depth; g++)
        limits[g] = ns < limits[g] ? ns : limits[g];
}

/*
 * When the first collection after the walk began that can touch objects of each generation.  It
 * begins with its suspension, or at an unknown time after the walk if that is missing; one of which
 * only the suspension is there may be of any depth.
 */
static void find_limits(const struct gcd_values_watch *w, int64_t limits[OLDEST + 1])
{
    uint64_t end = gcd_sort_key(w->end_ns), begin = end;
    bool open = false; /* a suspension for a collection that has not begun */
    for (uint32_t g = 0; g <= OLDEST; g++)
        limits[g] = INT64_MAX;
    for (size_t i = 0; i < w->mark_count; i++) {
        const struct watched_mark *m = &w->marks[i];
        if (m->at <= end)
            continue;
        if (m->kind == MARK_COLLECTION) {
            lower(limits, m->depth, begin);
            open = false;
            continue;
        }
        if (open)
            lower(limits, OLDEST, begin);
        open = m->kind == MARK_GC_PAUSE;
        begin = m->at;
    }
    if (open)
        lower(limits, OLDEST, begin);
}

/* Why nothing that was read is certain; NULL = much is. */
static const char *problem_of(const struct gcd_values_watch *w, const struct gcd_summary *s,
                              const struct gcd_trace_info *t)
{
    if (!w->read)
        return "the heap walk did not reach its end";
    if (t->end != GCD_TRACE_CLOSED || !t->loss_verified || t->lost_events > 0 ||
        t->unknown_events > 0 || w->too_many)
        return "events were lost, or may have been";
    if (s->gc_number != w->gc_number || s->gc_end_ns != w->end_ns)
        return "the dump is of another heap walk";
    if (t->ptr_bytes != 8 || t->ticks_per_second != UINT64_C(1000000000))
        return "the runtime is not of 64 bits, or has another clock";
    if (w->several && w->options.values.kind != GCD_VALUES_NONE)
        return "several types look like that of strings";
    return NULL;
}

struct judgment {
    const struct gcd_values_watch *w;
    uint64_t start_ticks;
    int64_t limits[OLDEST + 1];
    size_t range; /* of the last reference */
};

/* Was an object of GENERATION still there when BATCH had been read? */
static bool was_there(const struct judgment *j, uint32_t batch, uint32_t generation)
{
    const struct watched_batch *b = &j->w->batches[batch];
    uint64_t end = j->start_ticks + (uint64_t)j->w->end_ns;
    if (b->end_ns < end) /* another clock: nobody reads before the walk is over */
        return false;
    return generation >= FROZEN || b->end_ns - j->start_ticks < (uint64_t)j->limits[generation];
}

static bool is_certain(const struct judgment *j, uint32_t batch)
{
    return was_there(j, batch, j->w->batches[batch].generation);
}

/* [value_rows_keep] A reference may lead to what was moved, to an address where the walk met
 * another object. */
static bool is_row_certain(void *ctx, size_t i)
{
    struct judgment *j = ctx;
    const struct value_rows *r = j->w->values->rows;
    const struct value_object *o = &r->objects[i];
    const struct value_type *t = &r->types[o->type];
    const uint8_t *row = value_rows_of(r, o);
    uint32_t batch = j->w->rows.batches[i];
    if (was_there(j, batch, 0)) /* the usual case: no collection at all */
        return true;
    bool certain = is_certain(j, batch);
    for (uint32_t k = 0; k < t->count && certain && row != NULL; k++) {
        const struct value_column *c = &r->columns[t->first + k];
        uint64_t to = c->form == FORM_REFERENCE ? gcd_le64(row + c->at) : 0;
        certain = to == 0 || was_there(j, batch, generation_of(j->w, to, &j->range));
    }
    return certain;
}

/* [null_maps_keep] Its references may lead to what was moved, too. */
static bool is_map_certain(void *ctx, size_t i)
{
    const struct judgment *j = ctx;
    const struct watched_map_time *t = &j->w->maps.times[i];
    return is_certain(j, t->batch) && was_there(j, t->batch, t->generation);
}

static uint64_t after_ms(const struct gcd_values_watch *w, uint64_t end)
{
    uint64_t ms = w->read_ns > end ? (w->read_ns - end) / 1000000 : 0;
    return ms + (ms == 0); /* 0 is only of an image */
}

static void judge_maps(struct gcd_values_watch *w, struct judgment *j)
{
    struct gcd_null_maps *m = w->maps.maps;
    if (m == NULL)
        return;
    size_t read = m->count;
    null_maps_keep(m, is_map_certain, j);
    m->facts = (struct gcd_null_maps_facts){ .known = true,
                                             .objects = m->count,
                                             .collected = read - m->count,
                                             .changed = w->maps.changed,
                                             .unread = w->maps.listed - w->maps.changed - read };
    m->facts.after_ms = after_ms(w, j->start_ticks + (uint64_t)w->end_ns);
}

/* Keeps the objects of batches that are certain. */
static void judge(struct gcd_values_watch *w, const struct gcd_trace_info *t)
{
    struct gcd_values *v = w->values;
    struct gcd_values_facts *f = &v->facts;
    struct judgment j = { .w = w, .start_ticks = t->start_ticks };
    size_t kept = 0, rows = v->rows->object_count - v->rows->element_count;
    find_limits(w, j.limits);
    for (size_t i = 0; i < v->object_count; i++)
        if (is_certain(&j, v->objects[i].batch))
            v->objects[kept++] = v->objects[i];
    value_rows_keep(v->rows, is_row_certain, &j);
    f->numbers = v->rows->object_count - v->rows->element_count;
    f->collected = v->object_count - kept + rows - f->numbers;
    f->changed = w->changed + w->rows.changed;
    f->unread = w->strings + w->rows.listed - w->rows.without - w->rows.arrays - f->changed -
                v->object_count - rows;
    f->objects = v->object_count = kept;
    f->after_ms = after_ms(w, t->start_ticks + (uint64_t)w->end_ns);
    judge_maps(w, &j);
}

static gcd_status give_maps(struct gcd_values_watch *w, struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_null_maps *m = w->maps.maps;
    if (m == NULL)
        return GCD_OK;
    GCD_TRY(null_maps_sort(m, err));
    GCD_TRY(gcd_dump_set_null_maps(d, m, err));
    w->maps.maps = NULL;
    return GCD_OK;
}

gcd_status gcd_values_watch_finish(struct gcd_values_watch *w, struct gcd_dump *d,
                                   struct gcd_error *err)
{
    struct gcd_trace_info t;
    gcd_trace_get_info(w->trace, &t);
    const char *problem = problem_of(w, gcd_dump_summary(d), &t);
    if (problem != NULL)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "%s", problem);
    if (!gcd_sort_by_u64(&w->alloc, w->marks, w->mark_count, sizeof *w->marks))
        return gcd_fail_nomem(err, "reading values");
    judge(w, &t);
    GCD_TRY(give_maps(w, d, err));
    if (w->options.values.kind == GCD_VALUES_NONE)
        return GCD_OK;
    struct gcd_values *v = w->values;
    w->values = NULL;
    gcd_status st = values_sort(v, err);
    if (st == GCD_OK)
        st = gcd_dump_set_values(d, v, err);
    if (st != GCD_OK)
        values_free(v);
    return st;
}
